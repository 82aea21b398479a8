//! Runs of single plugins: clusterers, transforms and propagators, with checks of input and result.

#[doc(hidden)]
pub use mustlink_core::run::*;

#[doc(inline)]
pub use mustlink_core::run::Run;
/// Runs a clusterer, checks its result, and counts violated constraints.
///
/// ```
/// use mustlink::ndarray::array;
/// use mustlink::plugins::base_clusterers::kmeans::KMeans;
/// use mustlink::prelude::*;
/// use mustlink::run::{self, Run};
///
/// # fn main() -> Result<()> {
/// let problem = Problem::new(Data::dense(array![[0.0], [1.0], [8.0], [9.0]])?)
///     .with_k(2)
///     .with_constraints(Constraints::new(4, [Constraint::must(0, 3)])?);
/// // k-means does not read constraints; what it breaks is counted.
/// let found: Run = run::cluster(&KMeans::default(), &problem, &Context::new(1))?;
/// assert_eq!((found.violations.total(), found.empty_clusters), (1, 0));
///
/// let of_others = problem.with_constraints(Constraints::new(9, [Constraint::must(0, 8)])?);
/// let refused = run::cluster(&KMeans::default(), &of_others, &Context::new(1)).unwrap_err();
/// assert_eq!(refused, Error::IndexOutOfRange { index: 8, n: 4 });
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_core::run::cluster;

/// Fits transforms to a problem and applies them, one after the other.
///
/// ```
/// use mustlink::ndarray::array;
/// use mustlink::prelude::*;
/// use mustlink::run::{self, Steps, Transformed};
///
/// # fn main() -> Result<()> {
/// let steps = [mustlink::registry::build_default::<dyn Transform>("min_max")?];
/// let problem = Problem::new(Data::dense(array![[0.0], [5.0], [10.0]])?);
/// let Transformed { problem, steps, .. } = run::transform(&steps, &problem, &Context::new(1))?;
/// assert_eq!(problem.data.to_dense(), array![[0.0], [0.5], [1.0]]);
/// // What was fitted can be applied to other objects.
/// let Steps(fitted) = steps;
/// let other = fitted[0].1.apply(&Data::dense(array![[20.0]])?)?;
/// assert_eq!(other.to_dense(), array![[2.0]]);
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_core::run::transform;
#[doc(inline)]
pub use mustlink_core::run::{Steps, Transformed};

/// Runs a constraint propagator.
///
/// ```
/// use mustlink::ndarray::array;
/// use mustlink::prelude::*;
/// use mustlink::run;
///
/// # fn main() -> Result<()> {
/// let propagator = mustlink::registry::build_default::<dyn ConstraintPropagator>("closure")?;
/// let known = Constraints::new(3, [Constraint::must(0, 1), Constraint::must(1, 2)])?;
/// let problem = Problem::new(Data::dense(array![[0.0], [1.0], [2.0]])?);
/// let more = run::propagate(&*propagator, &known, None, &problem, &Context::new(1))?;
/// assert!(matches!(more, Propagated::Constraints(all) if all.len() == 3));
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_core::run::propagate;

/// Clusters without a choice of method: tries many methods and combines the best.
/// The best are those that the constraints cannot distinguish from the first, as
/// [`Auto`](crate::plugins::base_clusterers::auto::Auto) describes. The `extras` of the clustering list the methods
/// that were tried. If the problem has no number of clusters, it is chosen too.
///
/// ```
/// use mustlink::ndarray::Array2;
/// use mustlink::prelude::*;
/// use mustlink::run;
///
/// # fn main() -> Result<()> {
/// // Two groups along the first feature; the second is larger, and has nothing to do with them.
/// let x = Array2::from_shape_fn((40, 2), |(i, c)| match c {
///     0 => (i % 2) as f64 + 0.01 * i as f64,
///     _ => ((i * 7) % 40) as f64,
/// });
/// let pairs = (0..12).map(|i| Constraint::must(i, i + 2)).chain((0..12).map(|i| Constraint::cannot(i, i + 1)));
/// let problem = Problem::new(Data::dense(x)?).with_k(2).with_constraints(Constraints::new(40, pairs)?);
/// let found = run::auto(&problem, &Context::new(1))?;
/// assert!((0..40).all(|i| found.clustering.labels[i] == found.clustering.labels[i % 2]));
/// assert!(found.clustering.extras.tried.iter().any(|t| t.weight > 0.0));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The errors of `Auto` and of [`cluster`].
pub fn auto(problem: &crate::Problem, ctx: &crate::Context) -> crate::Result<Run> {
    cluster(&crate::plugins::base_clusterers::auto::Auto::default(), problem, ctx)
}
