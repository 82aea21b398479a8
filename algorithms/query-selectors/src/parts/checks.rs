//! Checks of the options and problems that selectors reject.

use mustlink_core::prelude::*;

/// The number of clusters a selector works with, if known: its own option, else the problem's.
///
/// # Errors
/// `BadK`; `BadParam` when it exceeds the number of eligible objects.
pub fn known_k(own: Option<usize>, problem: &Problem, eligible: usize) -> Result<Option<usize>> {
    match own.or(problem.k) {
        Some(0) => Err(Error::BadK),
        Some(k) if k > eligible => Err(Error::bad_param(
            "k",
            k,
            format!("between 1 and {eligible} (the eligible objects)"),
        )),
        k => Ok(k),
    }
}

/// An error for a reply to a question that is not open.
pub fn not_open(id: QueryId) -> Error {
    Error::Oracle(format!("a reply to query {id}, which is not the open one"))
}

/// Refuses a clustering that does not label the objects of the problem.
///
/// # Errors
/// `Contract`.
pub fn labels_all(clustering: &Clustering, problem: &Problem) -> Result<()> {
    let Clustering { labels, k, .. } = clustering;
    if labels.len() == problem.n() && labels.iter().all(|&l| (l as usize) < *k) {
        return Ok(());
    }
    let broken = "the clustering provided does not label the objects of the problem".into();
    Err(Error::Contract { plugin: "clusterer".into(), broken })
}
