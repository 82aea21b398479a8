//! How are claims about methods made repeatable? (feature `experiments`, on by default)

#[doc(hidden)]
pub use mustlink_experiments::*;

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
pub use mustlink_experiments::{Experiment, Outcome, RunOptions, run};

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
pub use mustlink_experiments::{Plan, Source, plan};

/// ```
/// use mustlink::experiments::{Experiment, Report, RunOptions, diff, report, run};
///
/// # fn main() -> mustlink::Result<()> {
/// let text = "experiment.name = \"one\"\ndataset = [{ id = \"iris\" }]\n\
///             method = [{ id = \"plain\", clusterer = \"kmeans\" }]";
/// let experiment = Experiment::parse("one.toml", text, ".".as_ref(), &[])?;
/// let both = std::env::temp_dir().join(format!("diff-{}", std::process::id()));
/// let folder = |name: &str| both.join(name);
/// for name in ["first", "second"] {
///     run(&experiment, &RunOptions::to(folder(name)))?;
/// }
/// let made: Report = report(&folder("first"))?;
/// assert_eq!((made.cells, made.finished), (1, 1));
/// // The same file and the same seed gave the same rows.
/// assert!(diff(&folder("first"), &folder("second"))?.is_same());
/// std::fs::remove_dir_all(&both).expect("it is there");
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_experiments::{Diff, Report, diff, report};
