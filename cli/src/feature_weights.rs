//! Learned weights of features, and the error for methods that learn none.

use mustlink::roles::Transform;

use crate::failure::Failure;
use crate::job::Job;

/// Refuses before the work a method without weights. A transform that reads constraints may learn a metric, and `gower`
/// weighs columns.
pub(crate) fn check(job: &Job) -> Result<(), Failure> {
    let weighs =
        |t: &dyn Transform| t.properties().reads_constraints || t.typetag_name() == "gower";
    let metric = job.method.transforms.iter().any(|t| weighs(&**t));
    let learns = job.method.clusterer.as_ref().is_some_and(|c| c.properties().learns_weights);
    if metric || learns { Ok(()) } else { Err(none(job, None)) }
}

/// The error about a method without feature weights. `labels`: the file with its labels, if it has run already.
pub(crate) fn none(job: &Job, labels: Option<&str>) -> Failure {
    let (learns, saved) = match labels {
        Some("-") => ("learned", String::new()),
        Some(file) => ("learned", format!(" (the labels are in {file})")),
        None => ("learns", String::new()),
    };
    Failure::usage(format!(
        "--weights: {} {learns} no feature weights{saved}; lac, clac, mpck_means and hmrf_kmeans do, and \
         the transforms gower and, from constraints, itml, mmc and rca",
        job.clusterer()
    ))
}
