//! What runs the selector of a session.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;

use mustlink_core::constraints::{Constraints, Kind};
use mustlink_core::knowledge::Knowledge;
use mustlink_core::registry::Catalogue;
use mustlink_core::roles::{Answer, Oracle, QueryId};
use mustlink_core::selection::{Record, Recorded, Selection};
use mustlink_core::{Context, Error, Problem, Result};
use mustlink_experiments::Single;
use mustlink_ledger::{Durability, Ledger};

use crate::chain::{Link, Statements};
use crate::desk::{Change, Command, Desk, next, now};
use crate::sorting::{self, Statement};
use crate::standing;
use crate::state::{ENTAILED, Shared, is_own, kind};

/// The other end of a session: what runs the selector.
pub struct Work {
    pub(crate) shared: Arc<Shared>,
    pub(crate) commands: Receiver<Command>,
    pub(crate) budget: Option<usize>,
}

/// Ends what runs beside a session, however that ends.
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

/// Statements of a file, each with its place there.
pub type Imported = Vec<(String, Statement)>;

impl Work {
    /// Runs the selector of `single` until the person quits, and gives what was selected. Every answer is on
    /// disk before the next question. Statements `imported` from a file are taken first.
    ///
    /// # Errors
    /// Those of the selector and of the ledger; one that another process holds names it. `Data` for an
    /// imported statement that contradicts earlier ones.
    pub fn run(
        mut self,
        single: &Single,
        seen: &Problem,
        path: &Path,
        imported: &Imported,
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
            scope.spawn(|| standing::follow(&shared, &beside, seen));
            self.carry_out(single, seen, path, imported)
        });
        if let Err(e) = &done {
            self.shared.ended(e.render(&|i| single.id(i)));
        }
        done
    }

    fn carry_out(
        &mut self,
        single: &Single,
        seen: &Problem,
        path: &Path,
        imported: &Imported,
    ) -> Result<Selection> {
        self.shared.lock().view.asks = asks(single);
        let mut scene = single.set.scene(single.context().child("oracle"));
        scene.data = Some(seen.data.clone());
        let nobody: Box<dyn Oracle> = mustlink_core::registry::build_default("none")?;
        let mut ledger = single.keep(&scene, &*nobody, path, Durability::Every)?;
        let given = &seen.constraints;
        import(&mut ledger, given, imported, &|o| single.id(o as usize))?;
        loop {
            let answers = ledger.answers();
            self.shared.begin(&answers);
            let ctx = single.context();
            let mut desk = self.desk(seen, &answers, ctx);
            let selection = single.ask(seen, &mut desk, None, Some(&mut ledger))?;
            let selection = selection.unwrap_or_default();
            let then = match desk.then.take() {
                Some(command) => command,
                None => {
                    self.shared.ended(ending(selection.closed).into());
                    next(&self.commands, ctx)
                }
            };
            match then {
                Command::Quit => {
                    self.shared.ended("saved".into());
                    return Ok(selection);
                }
                Command::Rewrite { change, .. } => rewrite(&mut ledger, given, &change)?,
                // Nothing is open any more: it was for a question before the end.
                Command::Reply(_) => {}
            }
        }
    }

    fn desk<'a>(&'a mut self, seen: &Problem, answers: &[Recorded], ctx: &'a Context) -> Desk<'a> {
        Desk {
            shared: self.shared.clone(),
            commands: &mut self.commands,
            ctx,
            statements: standing_statements(seen.n(), &seen.constraints, answers),
            paid: answers.iter().filter(|r| r.answer.cost > 0.0).count(),
            budget: self.budget,
            then: None,
        }
    }
}

/// The selector, with what it is.
fn asks(single: &Single) -> String {
    let tag = single.method.selector.as_ref().map_or("", |s| s.typetag_name());
    let known = Catalogue::get().ok().and_then(|all| all.find(tag));
    known.map_or(tag.into(), |d| format!("{tag}: {}", d.summary()))
}

fn standing_statements(n: usize, given: &Constraints, answers: &[Recorded]) -> Statements {
    let mut statements = Statements::new(n, given);
    for r in answers.iter().filter(|r| !r.retracted && is_own(&r.answer)) {
        if let Some(kind) = kind(r.answer.reply) {
            statements.add(r.subject, r.reference, kind, Some(r.id));
        }
    }
    statements
}

fn ending(closed: Option<&str>) -> &'static str {
    match closed {
        None => "nothing is left to ask",
        Some("budget") => "the budget is spent",
        Some(_) => "there are no more questions",
    }
}

/// Takes the statements of a file, all or none.
fn import(
    ledger: &mut Ledger,
    given: &Constraints,
    imported: &Imported,
    name: &dyn Fn(u32) -> String,
) -> Result<()> {
    let answers = ledger.answers();
    let known = &mut standing_statements(ledger.header().n, given, &answers);
    let said: Vec<Statement> = imported.iter().map(|(_, statement)| *statement).collect();
    let mut new =
        sorting::fresh(known, &said).map_err(|(at, chain)| clash(&imported[at].0, &chain, name))?;
    let is = |s: &Statement, r: &Recorded| {
        (s.i.min(s.j), s.i.max(s.j)) == (r.subject.min(r.reference), r.subject.max(r.reference))
    };
    // Imported twice, "don't know" is no news.
    let standing = |s: &Statement| answers.iter().filter(|r| !r.retracted).find(|r| is(s, r));
    new.retain(|s| standing(s).is_none_or(|r| r.answer.reply != s.reply));
    let back = new.iter().filter_map(|s| standing(s).map(|r| r.id)).collect();
    let mut seen = std::collections::BTreeSet::new();
    new.retain(|s| seen.insert((s.i.min(s.j), s.i.max(s.j))));
    rewrite(ledger, given, &Change { back, purpose: "import", new, ..Change::default() })
}

/// Takes answers back, and before them every reply that followed from them and follows no more; then writes
/// down what is new.
fn rewrite(ledger: &mut Ledger, given: &Constraints, change: &Change) -> Result<()> {
    let Change { back, purpose, new, note, free, with } = change;
    let answers = ledger.answers();
    let standing = |r: &&Recorded| !r.retracted && !back.contains(&r.id);
    let mut left = Knowledge::new(ledger.header().n, given);
    for r in answers.iter().filter(standing).filter(|r| is_own(&r.answer)) {
        left.tell(r.subject, r.reference, r.answer.reply);
    }
    for r in answers.iter().filter(standing).filter(|r| !is_own(&r.answer)) {
        if left.relation(r.subject, r.reference) != kind(r.answer.reply) {
            ledger.retract(r.id, Some(ENTAILED))?;
        }
    }
    let mut back: Vec<QueryId> = back.clone();
    back.sort_unstable();
    for &id in back.iter().rev() {
        ledger.retract(id, None)?;
    }
    let cost = if *free { 0.0 } else { 1.0 };
    let answer = |s: &Statement| {
        let answer = Answer { cost, note: note.clone(), at: now(), ..Answer::of(s.reply) };
        ((s.i, s.j), answer)
    };
    let statements: Vec<_> = new.iter().map(answer).collect();
    ledger.state(purpose, *with, &statements)
}

/// What of a file's statements contradicts earlier ones: refused as a whole, with its place.
fn clash(place: &str, chain: &[Link], name: &dyn Fn(u32) -> String) -> Error {
    let link = |l: &Link| {
        let sign = if l.kind == Kind::MustLink { "=" } else { "≠" };
        let by = l.answer.map_or("given, or above in the file".into(), |id| format!("q{id}"));
        format!("{} {sign} {} ({by})", name(l.i), name(l.j))
    };
    let chain: Vec<String> = chain.iter().map(link).collect();
    Error::Data {
        place: place.into(),
        message: format!("contradicts {}; nothing of the file is taken", chain.join(", ")),
    }
}
