//! What does a face show of a session?

use mustlink_core::roles::{QueryId, Reply};
use serde::Serialize;

use crate::found::Cluster;

/// The open question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Open {
    /// Number of the query.
    pub id: QueryId,
    /// The object it is about.
    pub subject: u32,
    /// The object it is compared with.
    pub reference: u32,
    /// What it serves, in the selector's word.
    pub purpose: &'static str,
}

/// One answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// Number of the query.
    pub id: QueryId,
    /// The object it was about.
    pub subject: u32,
    /// The object it was compared with.
    pub reference: u32,
    /// What was said.
    pub reply: Reply,
    /// It is to be asked once more.
    pub later: bool,
    /// What was remarked.
    pub note: Option<String>,
    /// How long it took, in milliseconds.
    pub elapsed_ms: Option<u64>,
    /// When it was given, UTC.
    pub at: Option<String>,
    /// The first of the answers that were given at once: undone together.
    pub with: Option<QueryId>,
}

/// Counts of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Counts {
    /// Answers of a person, those taken back included: what the budget counts.
    pub answered: usize,
    /// Questions left of the budget.
    pub left: Option<usize>,
    /// Must-links that stand.
    pub same: usize,
    /// Cannot-links that stand.
    pub different: usize,
    /// "Don't know" that stand.
    pub unsure: usize,
    /// Set aside, to be asked once more.
    pub later: usize,
    /// Answers taken back.
    pub retracted: usize,
    /// Pairs that follow from what is known and that nobody was asked.
    pub free: u64,
    /// Median time of the last answers, in milliseconds.
    pub pace_ms: Option<u64>,
}

/// What the method makes of the answers so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Standing {
    /// Number of clusters.
    pub clusters: usize,
    /// Number of answers it rests on.
    pub answers: usize,
    /// Whether it puts the two objects of the open question together.
    pub says: Option<bool>,
    /// Of the last answers, how many agreed with what it said before them, and of how many.
    pub agreed: (usize, usize),
    /// Adjusted Rand index of the last two clusterings.
    pub similarity: Option<f64>,
    /// Why one may stop now.
    pub advice: Option<String>,
}

/// A session as it stands.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct View {
    /// Rises with every change of question or answers: a command names the one it was given under.
    pub turn: u64,
    /// Rises with every change, also of what the method says.
    pub beat: u64,
    /// What asks, and in which order.
    pub asks: String,
    /// The open question; absent while the next is worked out, and at the end.
    pub open: Option<Open>,
    /// Why there are no more questions.
    pub ended: Option<String>,
    /// Counts.
    pub counts: Counts,
    /// Seconds since the session began.
    pub seconds: u64,
    /// What the method says, once it was run.
    pub standing: Option<Standing>,
    /// Answers that stand, the last one last.
    pub entries: Vec<Entry>,
}

/// The clusters as they stand.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Clusters {
    /// The clusters, the largest first.
    pub clusters: Vec<Cluster>,
    /// Number of objects in none.
    pub noise: usize,
}
