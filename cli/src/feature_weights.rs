//! Which methods learn how much each feature counts, and what is said of those that do not?

use crate::failure::Failure;
use crate::job::Job;

/// Clusterers of this program that learn weights of features, or a metric.
const LEARNING: [&str; 7] =
    ["clac", "constrained_em", "gaussian_mixture", "gpk_means", "hmrf_kmeans", "lac", "mpck_means"];

/// Refuses before the work a method that certainly learns no weights: what `auto` tries may, and so may a
/// transform that reads constraints and clusterers of others.
pub(crate) fn check(job: &Job) -> Result<(), Failure> {
    let metric = job.method.transforms.iter().any(|t| t.properties().reads_constraints);
    let may = |tags: &[&str]| tags.iter().any(|tag| *tag == "auto" || LEARNING.contains(tag));
    match job.clusterers() {
        Some(tags) if !metric && !may(&tags) => Err(none(job, None)),
        _ => Ok(()),
    }
}

/// What is said of a method that learned none, with the file in which its labels are.
pub(crate) fn none(job: &Job, labels: Option<&str>) -> Failure {
    let (learns, saved) = match labels {
        Some("-") => ("learned", String::new()),
        Some(file) => ("learned", format!(" (the labels are in {file})")),
        None => ("learns", String::new()),
    };
    Failure::usage(format!(
        "--weights: {} {learns} no feature weights{saved}; lac, clac, mpck_means and hmrf_kmeans do, and \
         the transforms itml, mmc and rca from constraints",
        job.clusterer()
    ))
}
