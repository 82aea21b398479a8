//! Where the driver's questions meet a person's answers.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use mustlink_core::constraints::Kind;
use mustlink_core::roles::{Answer, Outcome, QueryId, Question, Refusal, Reply, Respondent};
use mustlink_core::{Context, Result};

use crate::chain::Statements;
use crate::state::{ENTAILED, Shared, kind};
use crate::view::Open;

/// What a session is told.
pub(crate) enum Command {
    /// The answer to the open question.
    Reply { reply: Reply, note: Option<String> },
    /// An answer is taken back; with another in its place, or to be asked again.
    TakeBack { id: QueryId, instead: Option<Answer> },
    /// Everything is saved; no more questions.
    Quit,
}

/// The respondent that waits for a person.
pub(crate) struct Desk<'a> {
    pub shared: Arc<Shared>,
    pub commands: &'a mut Receiver<Command>,
    pub ctx: &'a Context,
    pub statements: Statements,
    /// Answers that stand ready for their pairs.
    pub ready: Vec<((u32, u32), Answer)>,
    pub paid: usize,
    pub budget: Option<usize>,
    /// What ended the run, where a command did.
    pub then: Option<Command>,
}

/// The next command; an interrupt, or that nobody holds the session any more, is a quit.
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

impl Desk<'_> {
    fn take(&mut self, question: &Question, answer: Answer) -> Outcome {
        if let Some(kind) = kind(answer.reply) {
            self.statements.add(question.i, question.j, kind, Some(question.id));
        }
        self.paid += usize::from(answer.cost > 0.0);
        self.shared.answered(question, &answer);
        Outcome::Answered(answer)
    }
}

impl Respondent for Desk<'_> {
    fn ask(&mut self, question: &Question) -> Result<Outcome> {
        let Question { i, j, .. } = *question;
        // Asking what is known would only invite a slip. It costs nothing.
        if let Some((kind, _)) = self.statements.why(i, j) {
            let reply = match kind {
                Kind::MustLink => Reply::MustLink,
                Kind::CannotLink => Reply::CannotLink,
            };
            let annotator = Some(ENTAILED.to_string());
            let answer = Answer { cost: 0.0, annotator, ..Answer::of(reply) };
            return Ok(Outcome::Answered(answer));
        }
        if let Some(at) = self.ready.iter().position(|(pair, _)| *pair == (i, j)) {
            let (_, answer) = self.ready.remove(at);
            return Ok(self.take(question, answer));
        }
        if self.budget.is_some_and(|budget| self.paid >= budget) {
            return Ok(Outcome::Refused(Refusal::BudgetExhausted));
        }
        let (subject, reference) = (question.subject, question.reference);
        self.shared.open(Open { id: question.id, subject, reference, purpose: question.purpose });
        let start = Instant::now();
        match next(self.commands, self.ctx) {
            Command::Reply { reply, note } => {
                let elapsed_ms = u64::try_from(start.elapsed().as_millis()).ok();
                let answer = Answer { note, elapsed_ms, ..Answer::of(reply) };
                Ok(self.take(question, answer))
            }
            other => {
                self.then = Some(other);
                Ok(Outcome::Pending)
            }
        }
    }
}
