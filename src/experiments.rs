//! Experiments: methods compared on data sets, with reports and repeatable claims (feature `experiments`).

#[doc(hidden)]
pub use mustlink_experiments::*;
#[doc(hidden)]
pub use mustlink_report::*;

/// Means and intervals of a sample, and tests of differences between methods.
pub mod statistics {
    #[doc(hidden)]
    pub use mustlink_experiments::statistics::*;
    #[doc(hidden)]
    pub use mustlink_report::statistics::*;
}

/// An experiment file: data sets, methods, and how the results are scored.
///
/// ```
/// use mustlink::experiments::{Experiment, Outcome, RunOptions, run};
///
/// # fn main() -> mustlink::Result<()> {
/// let text = r#"
///     experiment.name = "two-ways"
///     [[dataset]]
///     id = "iris"
///     [[method]]
///     id = "plain"
///     clusterer = "kmeans"
///     [[method]]
///     id = "mini"
///     clusterer = "mini_batch_kmeans"
/// "#;
/// let experiment = Experiment::parse("two-ways.toml", text, ".".as_ref(), &[])?;
/// let out = std::env::temp_dir().join(format!("two-ways-{}", std::process::id()));
/// let outcome: Outcome = run(&experiment, &RunOptions::to(&out))?;
/// assert!(outcome.failed.is_empty());
/// assert_eq!(outcome.done, 2);
/// std::fs::remove_dir_all(&out).expect("it is there");
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_experiments::Experiment;
#[doc(inline)]
pub use mustlink_experiments::{Outcome, RunOptions, run};

/// Estimates the work of an experiment without running it.
///
/// ```
/// use mustlink::experiments::{Experiment, Plan, Source, plan};
///
/// # fn main() -> mustlink::Result<()> {
/// let text = "experiment.name = \"one\"\ndataset = [{ id = \"iris\" }]\n\
///             method = [{ id = \"plain\", clusterer = \"kmeans\" }]";
/// let experiment = Experiment::parse("one.toml", text, ".".as_ref(), &[])?;
/// let plan: Plan = plan(&experiment, &Source::default(), None)?;
/// assert_eq!(plan.missing().count(), 0);
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_experiments::plan;
#[doc(inline)]
pub use mustlink_experiments::{Plan, Source};

#[doc(inline)]
pub use mustlink_experiments::Diff;
/// Compares two directories of results.
///
/// ```
/// use mustlink::experiments::{Diff, Experiment, RunOptions, diff, run};
///
/// # fn main() -> mustlink::Result<()> {
/// let text = "experiment.name = \"one\"\ndataset = [{ id = \"iris\" }]\n\
///             method = [{ id = \"plain\", clusterer = \"kmeans\" }]";
/// let experiment = Experiment::parse("one.toml", text, ".".as_ref(), &[])?;
/// let both = std::env::temp_dir().join(format!("diff-{}", std::process::id()));
/// for name in ["first", "second"] {
///     run(&experiment, &RunOptions::to(both.join(name)))?;
/// }
/// // The same file and the same seed gave the same rows.
/// let found: Diff = diff(&both.join("first"), &both.join("second"))?;
/// assert!(found.is_same());
/// std::fs::remove_dir_all(&both).expect("it is there");
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_experiments::diff;

#[doc(inline)]
pub use mustlink_report::Report;
/// Makes the report of a directory of results.
///
/// ```
/// use mustlink::experiments::{Experiment, Report, RunOptions, report, run};
///
/// # fn main() -> mustlink::Result<()> {
/// let text = "experiment.name = \"one\"\ndataset = [{ id = \"iris\" }]\n\
///             method = [{ id = \"plain\", clusterer = \"kmeans\" }]";
/// let experiment = Experiment::parse("one.toml", text, ".".as_ref(), &[])?;
/// let out = std::env::temp_dir().join(format!("report-{}", std::process::id()));
/// run(&experiment, &RunOptions::to(&out))?;
/// let made: Report = report(&out)?;
/// assert_eq!((made.cells, made.finished), (1, 1));
/// std::fs::remove_dir_all(&out).expect("it is there");
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_report::report;

/// Looks for the number of clusters with four criteria.
///
/// ```
/// use mustlink::experiments::{Selected, Tries, select_k};
/// use mustlink::ndarray::Array2;
/// use mustlink::plugins::base_clusterers::kmeans::KMeans;
/// use mustlink::prelude::*;
///
/// # fn main() -> Result<()> {
/// // Three groups on a line.
/// let x = Array2::from_shape_fn((60, 1), |(i, _)| 10.0 * (i % 3) as f64 + 0.05 * i as f64);
/// let tries = Tries { to: Some(6), ..Tries::default() };
/// let problem = Problem::new(Data::dense(x)?);
/// let Selected { silhouette, stability, .. } = select_k(&KMeans::default(), &problem, &tries, &Context::new(1))?;
/// assert_eq!((silhouette, stability), (Some(3), Some(3)));
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_experiments::select_k;
#[doc(inline)]
pub use mustlink_experiments::{Criteria, Selected, Tries};
