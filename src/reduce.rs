//! Parallel sums and loops whose results are the same on any number of threads.

#[doc(hidden)]
pub use mustlink_core::reduce::*;

/// Maps blocks of rows in parallel and combines the results in a fixed order.
///
/// ```
/// use mustlink::reduce;
///
/// let largest = reduce::reduce(3000, |rows| rows.max().unwrap_or(0), usize::max);
/// assert_eq!(largest, Some(2999));
/// ```
#[doc(inline)]
pub use mustlink_core::reduce::reduce;

/// Adds up the values of a function in parallel.
///
/// ```
/// assert_eq!(mustlink::reduce::sum(5, |i| i as f64), 10.0);
/// ```
#[doc(inline)]
pub use mustlink_core::reduce::sum;

/// Fills a slice with the values of a function in parallel.
///
/// ```
/// let mut squares = vec![0; 4];
/// mustlink::reduce::fill(&mut squares, |i| i * i);
/// assert_eq!(squares, [0, 1, 4, 9]);
/// ```
#[doc(inline)]
pub use mustlink_core::reduce::fill;

/// Makes many results in parallel, with only a few in memory at a time.
///
/// ```
/// let mut found = Vec::new();
/// let made = mustlink::reduce::in_waves(
///     1000,
///     |i| Ok::<_, mustlink::Error>(i * 2),
///     |double| {
///         found.push(double);
///         Ok(())
///     },
/// );
/// assert!(made.is_ok());
/// assert_eq!(found[..3], [0, 2, 4]);
/// ```
#[doc(inline)]
pub use mustlink_core::reduce::in_waves;

/// Inner product of two vectors.
///
/// ```
/// use mustlink::reduce::{inner_product, squared_distance};
/// assert_eq!(inner_product(&[1.0, 2.0], &[3.0, 4.0]), 11.0);
/// assert_eq!(squared_distance(&[1.0, 2.0], &[3.0, 4.0]), 8.0);
/// ```
#[doc(inline)]
pub use mustlink_core::reduce::inner_product;
#[doc(inline)]
pub use mustlink_core::reduce::squared_distance;
