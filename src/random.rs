//! Random numbers that depend only on the seed and on the place in the run where they are drawn.

/// A place in a run, named by a path that starts at the seed.
///
/// ```
/// use mustlink::random::{SeedPath, Stream};
///
/// let path = SeedPath::new(7).child("clusterer").index(2);
/// let mut stream: Stream = path.stream("start");
/// let chosen = stream.sample(10, 3);
/// assert_eq!(chosen.len(), 3);
/// assert!(stream.unit() < 1.0 && stream.below(5) < 5);
/// // The same path gives the same numbers again.
/// assert_eq!(path.stream("start").sample(10, 3), chosen);
/// ```
#[doc(inline)]
pub use mustlink_core::random::SeedPath;
#[doc(inline)]
pub use mustlink_core::random::Stream;
