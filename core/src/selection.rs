//! The run of a selection: a loop that passes the questions of a driver to an oracle, and its answers back.

pub use crate::answers::{ConstraintView, Contradicting, Counts, Selection};
use crate::clustering::Clustering;
use crate::constraints::Constraints;
use crate::context::Context;
pub use crate::driver::{Driver, Next};
use crate::error::{Error, Result};
use crate::problem::Problem;
pub use crate::record::{Record, Recorded};
use crate::roles::{Outcome, QuerySelector, Refusal, Respondent};

/// Makes the clusterings an inquiry asks for.
pub type ClusteringProvider<'a> = dyn Fn(&Constraints, u64) -> Result<Clustering> + 'a;

/// Settings of a selection, in addition to selector, problem and oracle.
#[derive(Default)]
pub struct Asking<'a> {
    /// Most queries. Absent: until the selector is done.
    pub budget: Option<usize>,
    /// Numbers of replies at which the clustering of an inherently active method is recorded.
    pub points: &'a [usize],
    /// Makes the clusterings that the selector asks for.
    pub provide: Option<&'a ClusteringProvider<'a>>,
    /// Ledger in which questions and answers are recorded, and from which earlier ones are read.
    pub ledger: Option<&'a mut dyn Record>,
}

/// Runs a selection: asks until the selector is done or `budget` replies have come.
///
/// As [`run_with`], without a ledger.
///
/// # Errors
/// Returns the errors of [`run_with`].
pub fn run(
    selector: &dyn QuerySelector,
    problem: &Problem,
    oracle: &mut dyn Respondent,
    budget: Option<usize>,
    points: &[usize],
    provide: Option<&ClusteringProvider>,
    ctx: &Context,
) -> Result<Selection> {
    run_with(selector, problem, oracle, Asking { budget, points, provide, ledger: None }, ctx)
}

/// The error of a selector that asks for clusterings where nothing clusters.
pub(crate) fn without_clusterer(selector: &str) -> Error {
    Error::Usage(format!(
        "{selector} asks a clusterer between questions, and the method has none; add one, for example pck_means"
    ))
}

/// Runs a selection: asks until the selector is done or the budget is spent.
///
/// No question reaches the oracle after the budget, about an object that is not eligible, about an
/// object and itself, or twice, and none is waited for without end. With a ledger, every event is
/// written before it has an effect; what the ledger has already is replayed at no cost before anything
/// is asked, and whatever the ledger knows is answered from it even when the budget is spent. An oracle
/// that gives no answer yet, or refuses, ends the selection with the answers so far.
///
/// # Errors
/// `Contract` when the selector breaks these rules; errors of selector, oracle and ledger.
pub fn run_with(
    selector: &dyn QuerySelector,
    problem: &Problem,
    oracle: &mut dyn Respondent,
    asking: Asking<'_>,
    ctx: &Context,
) -> Result<Selection> {
    let Asking { budget, points, provide, ledger } = asking;
    let mut driver = Driver::new(selector, problem, budget, points, ledger, ctx)?;
    for recorded in driver.answers().into_iter().filter(|recorded| !recorded.retracted) {
        oracle.recall(&recorded.question(), &recorded.answer);
    }
    loop {
        match driver.next()? {
            Next::Question(question) => match oracle.ask(&question)? {
                Outcome::Answered(answer) => driver.tell(&answer)?,
                Outcome::Refused(Refusal::BudgetExhausted) => driver.end("budget")?,
                Outcome::Refused(Refusal::Closed) => driver.end("closed")?,
                Outcome::Refused(Refusal::OutOfScope) => driver.end("out_of_scope")?,
                Outcome::Pending => driver.end("pending")?,
            },
            Next::Cluster { request, constraints } => {
                let tag = selector.typetag_name();
                let provide = provide.ok_or_else(|| without_clusterer(tag))?;
                driver.provide(request, &provide(&constraints, request)?)?;
            }
            Next::Done => return Ok(driver.selection()),
        }
    }
}
