//! The view of a session for the page and the terminal.

use mustlink_core::roles::{QueryId, Reply};
use serde::Serialize;

use crate::found::Cluster;
use crate::sorting::pair;

/// The open question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Open {
    /// Number of the query.
    pub id: QueryId,
    /// The object it is about.
    pub subject: u32,
    /// The object it is compared with.
    pub reference: u32,
    /// The purpose of the question, in the selector's word. It is not sent to the page: "consolidate" would give away
    /// that "same" is expected.
    #[serde(skip)]
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
    /// The reply.
    pub reply: Reply,
    /// It is to be asked once more.
    pub later: bool,
    /// A remark.
    pub note: Option<String>,
    /// How long it took, in milliseconds.
    pub elapsed_ms: Option<u64>,
    /// When it was given, UTC.
    pub at: Option<String>,
    /// The first of the answers that were given at once: undone together.
    pub with: Option<QueryId>,
    /// The guess of the method, true for "same". Absent unless the answer was given without sight of the guess.
    pub guess: Option<bool>,
}

/// Counts of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Counts {
    /// Answers of a person, without those taken back and questions set aside: what the budget counts.
    pub answered: usize,
    /// Questions left of the budget.
    pub left: Option<usize>,
    /// Must-links, without those taken back.
    pub same: usize,
    /// Cannot-links, without those taken back.
    pub different: usize,
    /// Answers "don't know", without those taken back.
    pub unsure: usize,
    /// Set aside, to be asked once more.
    pub later: usize,
    /// Pairs that follow from known ones and were not asked.
    pub free: u64,
    /// Median time of the last answers, in milliseconds.
    pub pace_ms: Option<u64>,
}

/// The result of the method with the answers so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Standing {
    /// Number of clusters.
    pub clusters: usize,
    /// Number of answers it rests on.
    pub answers: usize,
    /// True if the method puts the two objects of the open question together. Absent unless guesses are shown.
    pub says: Option<bool>,
    /// Number of the last answers that agree with the guess, and how many were compared. Only answers that were given
    /// without sight of the guess count.
    pub agreed: (usize, usize),
    /// Adjusted Rand index of the last two clusterings.
    pub similarity: Option<f64>,
    /// Number of objects that the last clustering moved to another cluster, and how many answers it has more than
    /// the clustering before.
    pub moved: Option<(usize, usize)>,
    /// Why one may stop now.
    pub advice: Option<String>,
}

/// The state of the clusters that rest on all answers so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Freshness {
    /// The method runs, or will run when the next question is shown.
    #[default]
    Computing,
    /// They are the clusters that are shown.
    Current,
    /// The method found no clusters, or the session ended before it did.
    Missing,
}

/// One answer: its pair, the smaller object first, and the reply.
pub(crate) type Said = ((u32, u32), Reply);

/// A session as it stands.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct View {
    /// Rises with every change of question or answers: a command names the one it was given under.
    pub turn: u64,
    /// Rises with every change, also of the result of the method.
    pub beat: u64,
    /// The open question; absent while the next is worked out, and at the end.
    pub open: Option<Open>,
    /// Why there are no more questions.
    pub ended: Option<String>,
    /// Counts.
    pub counts: Counts,
    /// Seconds since the session began.
    pub seconds: u64,
    /// The result of the method, once it was run.
    pub standing: Option<Standing>,
    /// Tells whether the clusters that are shown rest on all answers.
    pub freshness: Freshness,
    /// Answers without those taken back, the last one last.
    pub entries: Vec<Entry>,
    /// The files of the session, once all are written.
    pub written: Option<Written>,
}

impl View {
    /// The content of the answers: only these can change the clusters.
    pub(crate) fn said(&self) -> Vec<Said> {
        self.entries.iter().map(|e| (pair(e.subject, e.reference), e.reply)).collect()
    }
}

/// The files of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Written {
    /// The content and the path of each.
    pub files: Vec<(String, String)>,
    /// How to go on, as a clause.
    pub again: String,
    /// Commands that use the answers with other methods.
    pub next: Vec<String>,
    /// A sentence about how well each two annotators agree, if there are several.
    pub agreement: Vec<String>,
}

/// The clusters as they stand.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Clusters {
    /// The clusters, in the order of their numbers: the largest first.
    pub clusters: Vec<Cluster>,
    /// Number of objects in none.
    pub noise: usize,
}
