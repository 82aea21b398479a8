//! The work of a session: it runs the selector.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use mustlink_core::constraints::{Constraints, Kind};
use mustlink_core::knowledge::ENTAILED;
use mustlink_core::roles::{Answer, QueryId, Question};
use mustlink_core::run::Transformed;
use mustlink_core::selection::{Record, Recorded, Selection};
use mustlink_core::{Context, Error, Problem, Result};
use mustlink_experiments::{LedgerDriver, Single};
use mustlink_ledger::{Ledger, utc};

use crate::chain::{Link, statements};
use crate::sorting::{self, Statement, pair};
use crate::standing::follow;
use crate::state::{Change, Command, Judgement, LATER, Shared, is_later, is_own, standing};
use crate::view::Open;

/// The other end of a session: what runs the selector.
pub struct Work {
    pub(crate) shared: Arc<Shared>,
}

/// Ends the threads that run together with a session, however the session ends.
struct Closes<'a> {
    shared: &'a Shared,
    stop: &'a AtomicBool,
}

impl Drop for Closes<'_> {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.shared.close();
    }
}

/// A statement of a file, with its place there, and with the answer if the file is a ledger.
pub type Imported = (String, Statement, Option<Answer>);

/// Opens or creates the ledger of a session about `seen`, and resumes its selection. Statements `imported` from a
/// file are added first.
///
/// # Errors
/// Returns the errors of the selector and of the ledger; for a locked ledger, with the other process. `Data` for an
/// imported statement that contradicts earlier ones.
pub fn open_driver(
    single: &Single,
    seen: &Problem,
    path: &Path,
    imported: &[Imported],
) -> Result<LedgerDriver> {
    let mut driver = single.driver(seen, None, Some(path))?;
    let name = |object| single.called(object as usize);
    driver.rewrite(|ledger| import(ledger, &seen.constraints, imported, &name))?;
    Ok(driver)
}

impl Work {
    /// Asks the questions of `driver` until the person quits. Returns the selection. Every answer is on disk
    /// before the next question.
    ///
    /// # Errors
    /// Returns the errors of the selector and of the ledger.
    pub fn run(
        self,
        single: &Single,
        seen: &Transformed,
        driver: LedgerDriver,
    ) -> Result<Selection> {
        // Whoever quits waits for no clustering.
        let stop = Arc::new(AtomicBool::new(false));
        let limit = single.context().memory_limit();
        let beside = Context::builder(single.context().path().clone());
        let beside = beside.cancel(stop.clone()).memory_limit(limit);
        let beside = single.in_context(beside.base(single.context().base()).build());
        let shared = self.shared.clone();
        let done = std::thread::scope(|scope| {
            let _closes = Closes { shared: &shared, stop: &stop };
            scope.spawn(|| follow(&shared, &beside, seen));
            Running { shared: &shared, single, driver }.carry_out(&seen.problem.constraints)
        });
        if let Err(e) = &done {
            self.shared.ended(e.render(&|i| single.called(i)), None);
        }
        done
    }
}

/// A running session.
struct Running<'a> {
    shared: &'a Shared,
    single: &'a Single,
    driver: LedgerDriver,
}

impl Running<'_> {
    fn carry_out(mut self, given: &Constraints) -> Result<Selection> {
        self.shared.answers(&self.driver.answers());
        // A change that was given together with an answer waits for the question after that.
        let mut waiting: Option<Change> = None;
        loop {
            let mut question = self.question()?;
            let command = match waiting.take() {
                Some(change) => Command::Rewrite { reply: None, change },
                None => {
                    if question.is_some() && self.shared.lock().is_spent() {
                        self.driver.end("budget")?;
                        question = None;
                    }
                    self.show(question.as_ref());
                    self.shared.command(self.single.context())
                }
            };
            match (command, question) {
                (Command::Quit, _) => {
                    self.driver.end("pending")?;
                    self.shared.ended("saved".into(), None);
                    return Ok(self.driver.selection());
                }
                (Command::Reply(judgement), Some(question)) => self.take(&question, judgement)?,
                (Command::Rewrite { reply: Some(judgement), change }, Some(question)) => {
                    self.take(&question, judgement)?;
                    waiting = Some(Change { with: Some(question.id), ..change });
                }
                (Command::Rewrite { change, .. }, _) => {
                    self.driver.end("pending")?;
                    self.driver.rewrite(|ledger| rewrite(ledger, given, &change))?;
                    self.shared.answers(&self.driver.answers());
                }
                (Command::Reply(_), None) => {}
            }
        }
    }

    /// The next question for the person. If the answer follows from others, asking would only invite mistakes. It is
    /// given here at no cost, unless the selector tests answers.
    fn question(&mut self) -> Result<Option<Question>> {
        let selector = self.single.method.selector.as_ref();
        let tests_answers = selector.is_some_and(|s| s.properties().asks_for_evidence);
        while let Some(question) = self.single.question(&mut self.driver)? {
            let known = self.shared.lock().known.relation(question.i, question.j);
            let Some(kind) = known.filter(|_| !tests_answers) else { return Ok(Some(question)) };
            let annotator = Some(ENTAILED.to_string());
            let answer = Answer { cost: 0.0, annotator, ..Answer::of(kind.into()) };
            self.single.tell(&mut self.driver, &answer)?;
        }
        Ok(None)
    }

    /// Shows the question, or the reason for the end.
    fn show(&self, question: Option<&Question>) {
        let selection = Some(self.driver.selection());
        match question {
            Some(&Question { id, subject, reference, purpose, .. }) => {
                self.shared.open(Open { id, subject, reference, purpose }, selection);
            }
            None => {
                let is_spent = self.driver.closed().is_some();
                let why = if is_spent { "the budget is spent" } else { "nothing is left to ask" };
                self.shared.ended(why.into(), selection);
            }
        }
    }

    fn take(&mut self, question: &Question, judgement: Judgement) -> Result<()> {
        let Judgement { reply, note, later } = judgement;
        let (cost, annotator) = if later { (0.0, Some(LATER.to_string())) } else { (1.0, None) };
        let elapsed_ms = self.shared.lock().elapsed_ms();
        let answer = Answer { cost, annotator, note, elapsed_ms, at: now(), ..Answer::of(reply) };
        self.single.tell(&mut self.driver, &answer)?;
        self.shared.judged(question, &answer);
        self.shared.answers(&self.driver.answers());
        Ok(())
    }
}

/// Now, in ledger format.
fn now() -> Option<String> {
    Some(utc(SystemTime::now()))
}

/// Takes the statements of a file, all or none.
fn import(
    ledger: &mut Ledger,
    given: &Constraints,
    imported: &[Imported],
    name: &dyn Fn(u32) -> String,
) -> Result<()> {
    let answers = ledger.answers();
    let mut known = statements(ledger.header().n, given, standing(&answers));
    // An answer is taken back where it was given, not by another that says nothing. What a file says of a pair
    // twice it says once surely.
    let answered: BTreeMap<(u32, u32), Kind> = standing(&answers)
        .filter_map(|r| Some((pair(r.subject, r.reference), r.answer.reply.kind()?)))
        .collect();
    let sure: BTreeSet<(u32, u32)> = imported
        .iter()
        .filter(|(_, s, _)| s.reply.kind().is_some())
        .map(|(_, s, _)| pair(s.i, s.j))
        .collect();
    let unsure = |s: &Statement| {
        let of = pair(s.i, s.j);
        let silent = s.reply.kind().is_none() && !sure.contains(&of);
        silent.then(|| answered.get(&of).copied()).flatten()
    };
    if let Some((place, kind)) = imported.iter().find_map(|(at, s, _)| Some((at, unsure(s)?))) {
        let message = format!(
            "unsure of a pair that was answered ({}); take that answer back first: \"mustlink label\", undo",
            kind.name()
        );
        return Err(Error::Data { place: place.clone(), message });
    }
    let said: Vec<Statement> = imported.iter().map(|(_, statement, _)| *statement).collect();
    let mut new = sorting::fresh(&mut known, &said)
        .map_err(|(at, chain)| clash(&imported[at].0, &chain, name))?;
    // An answer that follows from others is one as well: together with answers of other people it counts as a vote.
    let mut stated: BTreeSet<(u32, u32)> = new.iter().map(|s| pair(s.i, s.j)).collect();
    new.extend(said.iter().filter(|s| s.reply.kind().is_some() && stated.insert(pair(s.i, s.j))));
    let recorded = |(_, s, answer): &Imported| Some((pair(s.i, s.j), answer.clone()?));
    let recorded = imported.iter().filter_map(recorded).collect();
    rewrite(ledger, given, &Change { purpose: "import", new, recorded, ..Change::default() })
}

/// Takes answers back, and before them every reply that followed from them and no longer follows. Then writes the
/// new statements. A statement that repeats an earlier answer is not written again.
fn rewrite(ledger: &mut Ledger, given: &Constraints, change: &Change) -> Result<()> {
    let answers = ledger.answers();
    let before: BTreeMap<(u32, u32), &Recorded> =
        standing(&answers).map(|r| (pair(r.subject, r.reference), r)).collect();
    let mut back: BTreeSet<QueryId> = change.back.iter().copied().collect();
    let mut new = Vec::new();
    for s in &change.new {
        let old = before.get(&pair(s.i, s.j));
        // To a question set aside "don't know" is an answer.
        let is_same = |r: &&&Recorded| r.answer.reply == s.reply && is_own(&r.answer);
        if old.filter(is_same).is_some_and(|r| !is_later(&r.answer)) {
            continue;
        }
        back.extend(old.map(|r| r.id));
        let note = change.note.clone();
        let recorded = change.recorded.get(&pair(s.i, s.j)).filter(|a| a.reply == s.reply);
        let (annotator, at) =
            recorded.map_or((None, now()), |a| (a.annotator.clone(), a.at.clone()));
        new.push(((s.i, s.j), Answer { note, annotator, at, ..Answer::of(s.reply) }));
    }
    let left = standing(&answers).filter(|r| !back.contains(&r.id));
    let mut left = statements(ledger.header().n, given, left);
    ledger.at_once(|ledger| {
        let entailed = |r: &&Recorded| !r.retracted && !is_own(&r.answer) && !back.contains(&r.id);
        for r in answers.iter().filter(entailed) {
            if left.relation(r.subject, r.reference) != r.answer.reply.kind() {
                ledger.retract(r.id, Some(ENTAILED))?;
            }
        }
        for &id in back.iter().rev() {
            ledger.retract(id, None)?;
        }
        ledger.state(change.purpose, change.with, &new)
    })
}

/// The error about a statement of a file that contradicts earlier ones: the whole file is rejected.
fn clash(place: &str, chain: &[Link], name: &dyn Fn(u32) -> String) -> Error {
    let link = |l: &Link| {
        let sign = if l.kind == Kind::MustLink { "=" } else { "≠" };
        let by = l.answer.map_or("given, or above in the file".into(), |id| format!("q{id}"));
        format!("{} {sign} {} ({by})", name(l.i), name(l.j))
    };
    let chain: Vec<String> = chain.iter().map(link).collect();
    Error::Data {
        place: place.into(),
        message: format!("contradicts {}; no answer of the file was imported", chain.join(", ")),
    }
}
