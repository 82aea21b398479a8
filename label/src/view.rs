//! What does a face show of a session?

use mustlink_core::roles::{QueryId, Reply};
use serde::Serialize;

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
    /// What was remarked.
    pub note: Option<String>,
    /// How long it took, in milliseconds.
    pub elapsed_ms: Option<u64>,
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
    /// Answers taken back.
    pub retracted: usize,
    /// Pairs that follow from what is known and that nobody was asked.
    pub free: u64,
}

/// A session as it stands.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct View {
    /// Rises with every change: a command names the one it was given under.
    pub turn: u64,
    /// The open question; absent while the next is worked out, and at the end.
    pub open: Option<Open>,
    /// Why there are no more questions.
    pub ended: Option<String>,
    /// Counts.
    pub counts: Counts,
    /// Answers that stand, the last one last.
    pub entries: Vec<Entry>,
}
