//! Any selector, with wrong answers found and corrected.

use std::collections::HashMap;

use mustlink_core::prelude::*;

use crate::parts::checks::not_open;
use crate::parts::doubting::Doubting;
use crate::parts::worlds::{Verdict, Worlds};

/// Questions of another selector, with additional ones that find the wrong answers.
///
/// # Method
/// Each answer is wrong with probability `noise`. If answers contradict each other, the likeliest set of wrong
/// answers is searched for. If several sets are equally likely, questions decide, each time the one that separates
/// them best. Wrong answers then count as their opposite. Answers that no question can decide count as not given. The
/// selector then starts again; questions that it repeats already have their answer. Each answer is confirmed by
/// questions whose answers follow from it, until it is correct with probability `certainty`, as far as such questions
/// exist.
/// # Input and output
/// As the selector. The constraints passed on are the corrected answers at the end. Given constraints are assumed to
/// be correct.
/// # Errors
/// Returns the errors of the selector.
/// # Cost and randomness
/// As the selector, which starts again each time that answers are corrected. Each additional question takes O(a²·r)
/// for r answers, a of them on a common cycle, and O(r·v²) for the v objects asked about.
/// # References
/// [Soenen2020]: the part of it that corrects answers, without COBRAS; blocks: [HopcroftTarjan1973].
#[options]
pub struct Repair {
    /// Selector that asks the questions.
    #[option(slot = "random_pairs")]
    pub selector: Option<Box<dyn QuerySelector>>,
    /// Options for doubting answers; each answer must be certain before the next question.
    #[option(flatten)]
    pub doubting: Doubting,
}

#[plugin("repair", cites = ["Soenen2020", "HopcroftTarjan1973"], version = 2)]
impl QuerySelector for Repair {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        let selector = self.selector()?.into_owned();
        let ctx = ctx.child("selector");
        let inner = selector.start(problem, &ctx)?;
        let mut repairing = Repairing {
            skips_entailed: selector.properties().skips_entailed,
            selector,
            problem: problem.clone(),
            ctx,
            inner,
            worlds: Worlds::new(problem, self.doubting.noise, self.doubting.order),
            certainty: self.doubting.certainty,
            outer: HashMap::new(),
            newest: None,
            restart: false,
            next_id: 0,
            open: None,
            events: Vec::new(),
        };
        repairing.advance()?;
        Ok(Box::new(repairing))
    }

    fn properties(&self) -> SelectorProperties {
        let facts = self.selector().map(|selector| selector.properties()).unwrap_or_default();
        SelectorProperties { skips_entailed: false, asks_for_evidence: true, ..facts }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        // A default that is not linked is reported by `start`.
        (80 * shape.n) as u64 + self.selector().map_or(0, |selector| 2 * selector.memory(shape))
    }
}

/// Question that is open.
enum Open {
    Ask { id: QueryId, subject: u32, reference: u32, purpose: &'static str, inner: Option<QueryId> },
    NeedClustering { request: RequestId, constraints: Constraints },
    Done(Done),
}

struct Repairing {
    selector: Box<dyn QuerySelector>,
    skips_entailed: bool,
    problem: Problem,
    ctx: Context,
    inner: Box<dyn Inquiry>,
    worlds: Worlds,
    certainty: f64,
    /// Number of a query by its number in the selector's inquiry.
    outer: HashMap<QueryId, QueryId>,
    /// The pair answered last for the selector.
    newest: Option<(u32, u32)>,
    /// Answers that the selector already has were corrected.
    restart: bool,
    next_id: QueryId,
    open: Option<Open>,
    events: Vec<Event>,
}

impl Repairing {
    /// From one question to the next.
    fn advance(&mut self) -> Result<()> {
        self.open = None;
        while self.open.is_none() {
            self.ctx.check()?;
            let newest = self.newest;
            let sure = |i: u32, j: u32| newest == Some((i.min(j), i.max(j)));
            match self.worlds.judge(|_, _| true, sure, self.certainty, &self.ctx)? {
                Verdict::Ask(i, j) => self.ask(i, j, "confirm", None),
                Verdict::Corrected(answers) => self.correct(answers),
                Verdict::Settled if std::mem::take(&mut self.restart) => {
                    self.inner = self.selector.start(&self.problem, &self.ctx)?;
                    self.outer.clear();
                    self.pass_on();
                }
                Verdict::Settled => self.step()?,
            }
        }
        Ok(())
    }

    /// Takes these answers; the selector starts again with them, and concludes again.
    fn correct(&mut self, answers: impl IntoIterator<Item = (QueryId, Reply)>) {
        let corrected = |(id, reply)| Event::Corrected { id, reply };
        self.events.extend(answers.into_iter().map(corrected));
        self.restart = true;
    }

    fn ask(&mut self, subject: u32, reference: u32, purpose: &'static str, inner: Option<QueryId>) {
        self.open = Some(Open::Ask { id: self.next_id, subject, reference, purpose, inner });
        self.next_id += 1;
    }

    /// Next step of the selector; a question whose answer is known is answered immediately.
    fn step(&mut self) -> Result<()> {
        match self.inner.step()? {
            Step::Ask { id, subject, reference, purpose } => {
                let mut known = self.worlds.reply(subject, reference);
                if known.is_none() && self.skips_entailed {
                    let follows = self.worlds.knowledge().relation(subject, reference);
                    known = follows.map(Reply::from);
                }
                match known {
                    Some(reply) => {
                        self.inner.tell(id, reply)?;
                        self.pass_on();
                    }
                    None => self.ask(subject, reference, purpose, Some(id)),
                }
            }
            Step::NeedClustering { request, constraints } => {
                self.open = Some(Open::NeedClustering { request, constraints });
            }
            Step::Done(reason) => {
                self.pass_on();
                self.open = Some(Open::Done(reason));
            }
        }
        Ok(())
    }

    /// Passes on the conclusions of the selector. Contradictions are found here and by the driver.
    fn pass_on(&mut self) {
        for event in self.inner.drain() {
            match event {
                Event::Conflict { .. } => {}
                Event::Retracted { id } => {
                    let id = self.outer.get(&id).copied();
                    self.events.extend(id.map(|id| Event::Retracted { id }));
                }
                other => self.events.push(other),
            }
        }
    }
}

impl Inquiry for Repairing {
    fn step(&mut self) -> Result<Step> {
        Ok(match &self.open {
            Some(Open::Ask { id, subject, reference, purpose, .. }) => {
                Step::Ask { id: *id, subject: *subject, reference: *reference, purpose }
            }
            Some(Open::NeedClustering { request, constraints }) => {
                Step::NeedClustering { request: *request, constraints: constraints.clone() }
            }
            Some(Open::Done(reason)) => Step::Done(*reason),
            None => Step::Done(Done::Exhausted),
        })
    }

    fn tell(&mut self, id: QueryId, reply: Reply) -> Result<()> {
        let Some(&Open::Ask { id: open, subject, reference, inner, .. }) = self.open.as_ref()
        else {
            return Err(not_open(id));
        };
        if id != open {
            return Err(not_open(id));
        }
        if let Some(right) = self.worlds.tell(id, subject, reference, reply) {
            self.correct([(id, right)]);
        } else if let Some(inner) = inner {
            self.newest = Some((subject.min(reference), subject.max(reference)));
            self.outer.insert(inner, id);
            self.inner.tell(inner, reply)?;
            self.pass_on();
        }
        self.advance()
    }

    fn provide(&mut self, request: RequestId, clustering: &Clustering) -> Result<()> {
        self.inner.provide(request, clustering)?;
        self.pass_on();
        self.advance()
    }

    fn drain(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    fn clustering(&self) -> Option<Clustering> {
        self.inner.clustering()
    }
}
