//! The record of a selection: its questions and answers, kept so that it can be resumed.

use crate::error::Result;
use crate::roles::{Answer, Event, QueryId, Question};

/// Records a selection, for example in a ledger, so that it can be resumed. Resuming
/// replays the recorded answers. If the selection differs from the record, this is an error.
pub trait Record {
    /// The answers so far, in the order of their queries.
    fn answers(&self) -> Vec<Recorded>;

    /// Restarts the replay.
    fn rewind(&mut self);

    /// True if anything recorded is left to serve.
    fn has_more(&self) -> bool;

    /// True if the question that comes now will be served from the record.
    fn knows(&self, subject: u32, reference: u32) -> bool;

    /// Records a question. Returns the query's number and its answer, if recorded.
    ///
    /// # Errors
    /// `Data` if writing fails, or if another question is recorded here.
    fn ask(
        &mut self,
        subject: u32,
        reference: u32,
        purpose: &str,
    ) -> Result<(QueryId, Option<Answer>)>;

    /// Records the answer of the oracle.
    ///
    /// # Errors
    /// Returns the errors of [`Record::ask`].
    fn tell(&mut self, id: QueryId, answer: &Answer) -> Result<()>;

    /// The selector concluded something, asked for a clustering, or is done.
    ///
    /// # Errors
    /// Returns the errors of [`Record::ask`].
    fn event(&mut self, event: &Event) -> Result<()>;

    /// The query of the selector that was answered last.
    fn last(&self) -> Option<QueryId>;

    /// Records that an answer was retracted.
    ///
    /// # Errors
    /// Returns the errors of [`Record::ask`]; `Oracle` if that query has no answer.
    fn retract(&mut self, id: QueryId) -> Result<()>;

    /// The replies that a replay skips, except those that were taken back.
    fn unmet(&self) -> Vec<Recorded>;

    /// Records the end of a session, unless it last ended for the same reason.
    ///
    /// # Errors
    /// Returns the errors of [`Record::ask`].
    fn close(&mut self, reason: Option<&str>) -> Result<()>;

    /// Checks that its numbers add up.
    ///
    /// # Errors
    /// `Contract` when they do not, which would be a defect of the program.
    fn verify(&self) -> Result<()>;
}

/// One answer of a record.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// Number of the query.
    pub id: QueryId,
    /// The object the question was about.
    pub subject: u32,
    /// The object it was compared with.
    pub reference: u32,
    /// The answer.
    pub answer: Answer,
    /// It was taken back.
    pub retracted: bool,
    /// The first of the answers given together with it, if it was not asked itself.
    pub with: Option<QueryId>,
    /// Line of the answer: of two answers the later one has the larger number.
    pub line: usize,
}

impl Recorded {
    /// The question.
    pub fn question(&self) -> Question {
        let (subject, reference) = (self.subject, self.reference);
        let (i, j) = (subject.min(reference), subject.max(reference));
        Question { id: self.id, i, j, subject, reference, purpose: "recorded" }
    }
}
