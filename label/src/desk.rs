//! The desk, at which the driver's questions meet a person's answers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant, SystemTime};

use mustlink_core::knowledge::{ENTAILED, Knowledge};
use mustlink_core::roles::{Answer, Outcome, QueryId, Question, Refusal, Reply, Respondent};
use mustlink_core::{Context, Result};
use mustlink_ledger::utc;

use crate::sorting::Statement;
use crate::state::{LATER, Shared};
use crate::view::Open;

/// A command to a session.
#[derive(Debug)]
pub(crate) enum Command {
    /// The answer to the open question.
    Reply(Said),
    /// The answer to the open question, if there is one, and further changes of the ledger.
    Rewrite { reply: Option<Said>, change: Change },
    /// Everything is saved; no more questions.
    Quit,
}

/// The answer to the open question.
#[derive(Debug)]
pub(crate) struct Said {
    pub reply: Reply,
    pub note: Option<String>,
    /// It is to be asked once more.
    pub later: bool,
}

/// Answers taken back, and new ones without a question. Earlier answers about the pairs of the new ones are taken
/// back too.
#[derive(Debug, Default)]
pub(crate) struct Change {
    pub back: Vec<QueryId>,
    pub purpose: &'static str,
    pub new: Vec<Statement>,
    pub note: Option<String>,
    /// Answers by pair that another ledger recorded, whose annotators and times stay.
    pub recorded: BTreeMap<(u32, u32), Answer>,
    /// In the place of what was paid for already.
    pub free: bool,
    /// The answer to the open question that was given with them.
    pub with: Option<QueryId>,
}

/// The respondent that waits for a person.
pub(crate) struct Desk<'a> {
    pub shared: Arc<Shared>,
    pub commands: &'a mut Receiver<Command>,
    pub ctx: &'a Context,
    pub knowledge: Knowledge,
    /// True if pairs that follow from answers are asked too, to test the answers.
    pub evidence: bool,
    pub paid: usize,
    pub budget: Option<usize>,
    /// The command that ended the run, if one did.
    pub then: Option<Command>,
}

/// The next command. An interrupt counts as a quit, and so does a session that was dropped.
pub(crate) fn next(commands: &Receiver<Command>, ctx: &Context) -> Command {
    loop {
        match commands.recv_timeout(LOOK) {
            Ok(command) => return command,
            Err(RecvTimeoutError::Timeout) if ctx.check().is_ok() => {}
            Err(_) => return Command::Quit,
        }
    }
}

/// Between two looks for an interrupt.
const LOOK: Duration = Duration::from_millis(100);

/// Now, as ledgers have it.
pub(crate) fn now() -> Option<String> {
    Some(utc(SystemTime::now()))
}

impl Desk<'_> {
    fn take(&mut self, question: &Question, said: Said, start: Instant) -> Outcome {
        let Said { reply, note, later } = said;
        let (cost, annotator) = if later { (0.0, Some(LATER.to_string())) } else { (1.0, None) };
        // The annotator cannot have read the question before the page was opened.
        let start = self.shared.lock().begun.map_or(start, |begun| begun.max(start));
        let elapsed_ms = u64::try_from(start.elapsed().as_millis()).ok();
        let answer = Answer { cost, annotator, note, elapsed_ms, at: now(), ..Answer::of(reply) };
        self.knowledge.tell(question.i, question.j, reply);
        self.paid += usize::from(!later);
        self.shared.answered(question, &answer);
        Outcome::Answered(answer)
    }
}

impl Respondent for Desk<'_> {
    fn ask(&mut self, question: &Question) -> Result<Outcome> {
        let Question { i, j, .. } = *question;
        // Asking what is known would only invite a slip. It costs nothing.
        if let Some(kind) = self.knowledge.relation(i, j).filter(|_| !self.evidence) {
            let annotator = Some(ENTAILED.to_string());
            let answer = Answer { cost: 0.0, annotator, ..Answer::of(kind.into()) };
            return Ok(Outcome::Answered(answer));
        }
        if self.then.is_some() {
            return Ok(Outcome::Pending);
        }
        if self.budget.is_some_and(|budget| self.paid >= budget) {
            return Ok(Outcome::Refused(Refusal::BudgetExhausted));
        }
        let (subject, reference) = (question.subject, question.reference);
        self.shared.open(Open { id: question.id, subject, reference, purpose: question.purpose });
        let start = Instant::now();
        match next(self.commands, self.ctx) {
            Command::Reply(said) => Ok(self.take(question, said, start)),
            Command::Rewrite { reply: Some(said), mut change } => {
                change.with = Some(question.id);
                self.then = Some(Command::Rewrite { reply: None, change });
                Ok(self.take(question, said, start))
            }
            other => {
                self.then = Some(other);
                Ok(Outcome::Pending)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use mustlink_core::Constraints;

    use super::*;

    #[test]
    fn a_question_takes_no_time_before_somebody_looks() {
        let shared: Arc<Shared> = Arc::default();
        // An hour from now is later than the question, however slow this machine is.
        shared.lock().begun = Some(Instant::now() + Duration::from_secs(3600));
        let (_send, mut commands) = std::sync::mpsc::channel();
        let mut desk = Desk {
            shared,
            commands: &mut commands,
            ctx: &Context::new(0),
            knowledge: Knowledge::new(2, &Constraints::default()),
            evidence: false,
            paid: 0,
            budget: None,
            then: None,
        };
        let question = Question { id: 0, i: 0, j: 1, subject: 0, reference: 1, purpose: "test" };
        let said = Said { reply: Reply::MustLink, note: None, later: false };
        let taken = desk.take(&question, said, Instant::now());
        assert!(
            matches!(taken, Outcome::Answered(Answer { elapsed_ms: Some(0), .. })),
            "{taken:?}"
        );
    }
}
