//! Whole methods: transforms, a selector of questions, an oracle and a clusterer.

/// A whole method, as a method file describes it.
///
/// ```
/// use mustlink::method::Method;
/// use mustlink::ndarray::array;
/// use mustlink::plugins::base_clusterers::kmeans::KMeans;
/// use mustlink::plugins::transforms::min_max::MinMax;
/// use mustlink::prelude::*;
/// use mustlink::run;
///
/// # fn main() -> Result<()> {
/// let method = Method {
///     transforms: vec![Box::new(MinMax::default())],
///     clusterer: Some(Box::new(KMeans { k: Some(2), ..KMeans::default() })),
///     ..Method::default()
/// };
/// let data = Data::dense(array![[0.0, 5e6], [1.0, 4e6], [8.0, 5e6], [9.0, 4e6]])?;
/// let (problem, ctx) = (Problem::new(data), Context::new(1));
/// let seen = run::transform(method.prefix(), &problem, &ctx)?.problem;
/// let (_, found) = method.cluster(&seen, 0, &ctx)?;
/// assert_eq!(found.clustering.labels.len(), 4);
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_core::method::Method;
