//! How do questions reach an oracle, and what is left of the answers?
//!
//! One driver moves messages between an inquiry and a respondent and writes the log. The log is
//! the truth about what was asked: constraints at any point of a learning curve are a replay of it.

use std::collections::{HashMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::closure::{Closure, EntailedWeight, MAX_CLOSURE_PAIRS, OnConflict};
use crate::clustering::{Clustering, Status, partition_hash};
use crate::constraints::{Constraint, Constraints, Kind, Origin};
use crate::context::Context;
use crate::data::DataKind;
use crate::error::{Error, Result};
use crate::far_origin::FarOrigin;
use crate::knowledge::LAST_NEIGHBOURHOOD;
use crate::problem::Problem;
use crate::roles::{
    Answer, Event, Inquiry, Outcome, QueryId, QuerySelector, Question, Refusal, Reply, Respondent,
    Step,
};
use crate::run;

/// Which constraints a selection hands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConstraintView {
    /// The replies alone.
    Queried,
    /// The replies, what the last-neighbourhood rule inferred, and a must-link from each object to
    /// the representative of its neighbourhood.
    #[default]
    Neighbourhood,
    /// Everything the replies entail, as pairs.
    Closure,
}

impl ConstraintView {
    /// The word used in results.
    pub fn name(self) -> &'static str {
        match self {
            ConstraintView::Queried => "queried",
            ConstraintView::Neighbourhood => "neighbourhood",
            ConstraintView::Closure => "closure",
        }
    }
}

/// Makes the clusterings an inquiry asks for.
pub type ClusteringProvider<'a> = dyn Fn(&Constraints, u64) -> Result<Clustering> + 'a;

/// A finished selection.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    n: usize,
    /// Everything that happened, in order.
    pub events: Vec<Event>,
    /// What an inherently active method stood at when this many replies had come, for each point asked for.
    pub snapshots: Vec<(usize, Clustering)>,
    /// Whether the budget (and not the selector) ended it.
    pub budget_ended: bool,
    /// What ended it if not the selector: `budget`, `pending` (an answer is still to come), `closed`
    /// or `out_of_scope` (the oracle refused).
    pub closed: Option<&'static str>,
}

/// Counts over the first p replies of a selection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Counts {
    /// Replies.
    pub queries: usize,
    /// Must-link replies.
    pub must: usize,
    /// Cannot-link replies.
    pub cannot: usize,
    /// "Don't know" replies.
    pub dont_know: usize,
    /// Replies taken back: they are queries and none of the three above.
    pub retracted: usize,
    /// Conclusions that cost nothing.
    pub inferred: usize,
    /// Replies that contradicted what was known.
    pub conflicts: usize,
    /// Total cost.
    pub cost: f64,
}

impl Counts {
    fn of(&mut self, reply: Reply) -> &mut usize {
        match reply {
            Reply::MustLink => &mut self.must,
            Reply::CannotLink => &mut self.cannot,
            Reply::DontKnow => &mut self.dont_know,
        }
    }
}

impl Selection {
    /// A selection over `n` objects from its log.
    pub fn from_events(n: usize, events: Vec<Event>) -> Self {
        Selection { n, events, ..Selection::default() }
    }

    /// Number of replies.
    pub fn asked(&self) -> usize {
        self.events.iter().filter(|e| matches!(e, Event::Told { .. })).count()
    }

    /// Whether the selection has fewer than `p` replies because nothing was left to ask.
    pub fn saturated(&self, p: usize) -> bool {
        p > self.asked()
    }

    /// The log up to and with what followed the p-th reply: all before the next question.
    pub fn prefix(&self, p: usize) -> &[Event] {
        let mut told = 0;
        let end = self.events.iter().position(|e| {
            told += usize::from(matches!(e, Event::Told { .. }));
            told >= p && matches!(e, Event::Asked { .. })
        });
        &self.events[..end.unwrap_or(self.events.len())]
    }

    /// Counts over the first `p` replies.
    pub fn counts(&self, p: usize) -> Counts {
        let mut c = Counts::default();
        let mut told: HashMap<u64, Reply> = HashMap::new();
        for event in self.prefix(p) {
            match event {
                Event::Told { id, reply, cost } => {
                    c.queries += 1;
                    c.cost += cost;
                    told.insert(*id, *reply);
                    *c.of(*reply) += 1;
                }
                Event::Retracted { id } => {
                    if let Some(reply) = told.remove(id) {
                        *c.of(reply) -= 1;
                        c.retracted += 1;
                    }
                }
                Event::Inferred { .. } => c.inferred += 1,
                Event::Conflict { .. } => c.conflicts += 1,
                _ => {}
            }
        }
        c
    }

    /// The constraints after the first `p` replies, with the neighbourhoods by name.
    ///
    /// # Errors
    /// `ClosureTooLarge` for the closure view.
    pub fn at(&self, p: usize, view: ConstraintView) -> Result<Constraints> {
        let mut asked: HashMap<u64, (u32, u32)> = HashMap::new();
        let mut pairs: Vec<Constraint> = Vec::new();
        let mut named: Vec<Vec<u32>> = Vec::new();
        let mut replied: HashMap<u64, usize> = HashMap::new();
        let mut inferred: HashSet<u32> = HashSet::new();
        for event in self.prefix(p) {
            match event {
                Event::Asked { id, subject, reference, .. } => {
                    asked.insert(*id, (*subject, *reference));
                }
                Event::Told { id, reply, .. } => {
                    let (i, j) = asked[id];
                    let kind = match reply {
                        Reply::MustLink => Kind::MustLink,
                        Reply::CannotLink => Kind::CannotLink,
                        Reply::DontKnow => continue,
                    };
                    replied.insert(*id, pairs.len());
                    let c = Constraint::new(i as usize, j as usize, kind);
                    pairs.push(c.from(Origin::Queried));
                }
                // The first statement stays; a contradicting reply is kept in the log only, and so
                // is one that was taken back.
                Event::Conflict { id } | Event::Retracted { id } => {
                    if let Some(&at) = replied.get(id) {
                        pairs[at].weight = 0.0;
                    }
                }
                // What the replies entail is left to the closure; what was assumed is no constraint.
                Event::Inferred { i, j, kind, rule } if rule == LAST_NEIGHBOURHOOD => {
                    inferred.insert(*i);
                    if view != ConstraintView::Queried {
                        let c = Constraint::new(*i as usize, *j as usize, *kind);
                        pairs.push(c.from(Origin::Entailed));
                    }
                }
                // The replies alone do not say where an inferred member belongs.
                Event::Joined { object, .. }
                    if view == ConstraintView::Queried && inferred.contains(object) => {}
                Event::Joined { object, neighbourhood, representative } => {
                    let at = *neighbourhood as usize;
                    if named.len() <= at {
                        named.resize(at + 1, Vec::new());
                    }
                    named[at].push(*object);
                    if view != ConstraintView::Queried && object != representative {
                        let c = Constraint::must(*object as usize, *representative as usize);
                        pairs.push(c.from(Origin::Entailed));
                    }
                }
                _ => {}
            }
        }
        named.retain(|set| !set.is_empty());
        let constraints = Constraints::new(self.n, pairs)?.with_neighbourhoods(named);
        if view != ConstraintView::Closure {
            return Ok(constraints);
        }
        let closure = Closure::new(&constraints, self.n, OnConflict::Keep)?;
        let all = closure.pairs(EntailedWeight::Bottleneck, MAX_CLOSURE_PAIRS)?;
        Ok(Constraints::new(self.n, all)?
            .with_neighbourhoods(constraints.neighbourhoods().to_vec()))
    }

    /// What an inherently active method stood at after `p` replies.
    pub fn snapshot(&self, p: usize) -> Option<&Clustering> {
        self.snapshots.iter().rev().find(|(at, _)| *at <= p).map(|(_, c)| c)
    }
}

/// What a selection is run with, besides selector, problem and oracle.
#[derive(Default)]
pub struct Asking<'a> {
    /// Most queries. Absent: until the selector is done.
    pub budget: Option<usize>,
    /// Numbers of replies at which an inherently active method is looked at.
    pub points: &'a [usize],
    /// Makes the clusterings that the selector asks for.
    pub provide: Option<&'a ClusteringProvider<'a>>,
    /// Where questions and answers are written down, and where those of before are found.
    pub ledger: Option<&'a mut dyn Record>,
}

/// Runs a selection: asks until the selector is done or `budget` replies have come.
///
/// As [`run_with`], without a ledger.
///
/// # Errors
/// As [`run_with`].
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

/// What writes a selection down as it happens, so that it can be resumed: a ledger. Resuming is
/// replaying: what is recorded is served again, and another course than the recorded one is an error.
pub trait Record {
    /// The answers so far, in the order of their queries.
    fn answers(&self) -> Vec<Recorded>;

    /// The replay begins anew.
    fn rewind(&mut self);

    /// Whether anything recorded is left to serve.
    fn has_more(&self) -> bool;

    /// Whether the question that comes now will be served from the record.
    fn knows(&self, subject: u32, reference: u32) -> bool;

    /// The selector asks: the number of the query, and the answer where the record has it.
    ///
    /// # Errors
    /// `Data` when it cannot be written, or where another question is recorded here.
    fn ask(
        &mut self,
        subject: u32,
        reference: u32,
        purpose: &str,
    ) -> Result<(QueryId, Option<Answer>)>;

    /// The oracle answered the open question.
    ///
    /// # Errors
    /// As [`Record::ask`].
    fn tell(&mut self, id: QueryId, answer: &Answer) -> Result<()>;

    /// The selector concluded something, asked for a clustering, or is done.
    ///
    /// # Errors
    /// As [`Record::ask`].
    fn event(&mut self, event: &Event) -> Result<()>;

    /// The replies a replay does not meet: taken back, or answered after one that was.
    fn unmet(&self) -> Vec<Recorded>;

    /// A session ends. Nothing is written when it ended for the same reason before.
    ///
    /// # Errors
    /// As [`Record::ask`].
    fn close(&mut self, reason: Option<&str>) -> Result<()>;

    /// Whether its numbers add up.
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
}

impl Recorded {
    /// The question.
    pub fn question(&self) -> Question {
        let (subject, reference) = (self.subject, self.reference);
        let (i, j) = (subject.min(reference), subject.max(reference));
        Question { id: self.id, i, j, subject, reference, purpose: "recorded" }
    }
}

/// A selection being written down.
struct Log<'a> {
    selection: Selection,
    ledger: Option<&'a mut dyn Record>,
    /// Number of a query in the log by its number in the inquiry.
    ids: HashMap<u64, u64>,
}

impl Log<'_> {
    fn events(&mut self, events: Vec<Event>) -> Result<()> {
        for mut event in events {
            if let Some(ledger) = &mut self.ledger {
                if let Event::Conflict { id } = &mut event {
                    *id = self.ids.get(id).copied().unwrap_or(*id);
                }
                ledger.event(&event)?;
            }
            self.selection.events.push(event);
        }
        Ok(())
    }

    /// Replies of the ledger that the selector did not ask for again: the constraints in them stay,
    /// what was taken back is counted.
    fn rest(&mut self) {
        for recorded in self.ledger.iter().flat_map(|ledger| ledger.unmet()) {
            let id = recorded.id;
            let answer = recorded.answer;
            self.selection.events.extend([
                Event::Asked {
                    id,
                    subject: recorded.subject,
                    reference: recorded.reference,
                    purpose: "recorded".into(),
                },
                Event::Told { id, reply: answer.reply, cost: answer.cost },
            ]);
            if recorded.retracted {
                self.selection.events.push(Event::Retracted { id });
            }
        }
    }
}

/// Runs a selection: asks until the selector is done or the budget is spent.
///
/// No question reaches the oracle after the budget, about an object that is not eligible, about an
/// object and itself, or twice. With a ledger, every event is written before it has an effect; what
/// the ledger has already is replayed at no cost before anything is asked, and whatever the ledger
/// knows is answered from it even when the budget is spent. An oracle that gives no answer yet, or
/// refuses, ends the selection with what there is.
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
    let tag = selector.typetag_name();
    let broken = |what: String| Error::Contract { plugin: tag.into(), broken: what };
    let properties = selector.properties();
    if properties.needs_k {
        problem.require_k(None, tag)?;
    }
    let kind = problem.data.kind();
    if kind == DataKind::Table || (kind == DataKind::Csr && !properties.accepts_sparse) {
        let kind = kind.name();
        return Err(Error::UnsupportedData { plugin: tag.into(), kind, accepts: "dense".into() });
    }
    run::check_magnitude(&problem.data)?;
    run::within_memory(selector.memory(&problem.shape()), &problem.data, ctx)?;
    let selection = Selection { n: problem.n(), ..Selection::default() };
    let mut log = Log { selection, ledger, ids: HashMap::new() };
    let mut paid = 0usize;
    if let Some(ledger) = &mut log.ledger {
        ledger.rewind();
        for recorded in ledger.answers() {
            oracle.recall(&recorded.question(), &recorded.answer);
            paid += 1;
        }
    }
    let far = FarOrigin::of(&problem.data, selector);
    let mut inquiry = match &far {
        Some(origin) => selector.start(&origin.problem(problem)?, ctx)?,
        None => selector.start(problem, ctx)?,
    };
    let standing = |inquiry: &dyn Inquiry| {
        let found = inquiry.clustering()?;
        Some(match &far {
            Some(origin) => origin.shown(found),
            None => found,
        })
    };
    log.events(inquiry.drain())?;
    let mut points: Vec<usize> = points.to_vec();
    points.sort_unstable();
    points.dedup();
    let mut next_point = 0;
    let mut told = 0usize;
    let mut answered: HashSet<(u32, u32)> = HashSet::new();
    let closed = loop {
        ctx.check()?;
        let over = budget.is_some_and(|b| paid >= b);
        while points.get(next_point).is_some_and(|&p| p == told) {
            if let Some(mut c) = standing(&*inquiry) {
                // As if the budget were this point; replaced below where the inquiry ends here.
                c.status = Status::BudgetExhausted;
                log.selection.snapshots.push((told, c));
            }
            next_point += 1;
        }
        if over && !log.ledger.as_ref().is_some_and(|ledger| ledger.has_more()) {
            break Some("budget");
        }
        match inquiry.step()? {
            Step::Done(reason) => {
                log.events(inquiry.drain())?;
                log.events(vec![Event::Done { reason }])?;
                break None;
            }
            Step::NeedClustering { request, constraints } => {
                let provide = provide.ok_or_else(|| {
                    Error::bad_param(
                        "selector",
                        tag,
                        "used with a clusterer, which it asks between questions",
                    )
                })?;
                let clustering = provide(&constraints, request)?;
                let digest =
                    partition_hash(&clustering.labels).iter().map(|b| format!("{b:02x}")).collect();
                let seen = far.as_ref().map(|origin| origin.seen(&clustering));
                inquiry.provide(request, seen.as_ref().unwrap_or(&clustering))?;
                log.events(vec![Event::Clustered { request, digest }])?;
                log.events(inquiry.drain())?;
            }
            Step::Ask { id, subject, reference, purpose } => {
                let n = problem.n();
                if subject == reference || subject as usize >= n || reference as usize >= n {
                    return Err(broken(format!(
                        "asked the pair ({subject}, {reference}) of {n} objects"
                    )));
                }
                for end in [subject, reference] {
                    if !problem.is_eligible(end as usize) {
                        return Err(broken(format!(
                            "asked about object {end}, which is not eligible"
                        )));
                    }
                }
                let (i, j) = (subject.min(reference), subject.max(reference));
                if !answered.insert((i, j)) {
                    return Err(broken(format!("asked the pair ({i}, {j}) twice")));
                }
                if over && !log.ledger.as_ref().is_some_and(|l| l.knows(subject, reference)) {
                    break Some("budget");
                }
                let (query, recorded) = match &mut log.ledger {
                    Some(ledger) => ledger.ask(subject, reference, purpose)?,
                    None => (id, None),
                };
                let answer = match recorded {
                    Some(answer) => answer,
                    None => {
                        let question = Question { id: query, i, j, subject, reference, purpose };
                        let answer = match oracle.ask(&question)? {
                            Outcome::Answered(answer) => answer,
                            Outcome::Refused(Refusal::BudgetExhausted) => {
                                break Some("budget");
                            }
                            Outcome::Refused(Refusal::Closed) => break Some("closed"),
                            Outcome::Refused(Refusal::OutOfScope) => break Some("out_of_scope"),
                            Outcome::Pending => break Some("pending"),
                        };
                        if let Some(ledger) = &mut log.ledger {
                            ledger.tell(query, &answer)?;
                        }
                        paid += 1;
                        answer
                    }
                };
                log.ids.insert(id, query);
                let (reply, cost) = (answer.reply, answer.cost);
                let purpose = purpose.into();
                log.selection.events.extend([
                    Event::Asked { id: query, subject, reference, purpose },
                    Event::Told { id: query, reply, cost },
                ]);
                inquiry.tell(id, reply)?;
                told += 1;
                log.events(inquiry.drain())?;
                ctx.progress(told as u64, budget.map(|b| b as u64));
            }
        }
    };
    if let Some(ledger) = &mut log.ledger {
        ledger.close(closed)?;
        ledger.verify()?;
    }
    log.rest();
    let mut selection = log.selection;
    selection.budget_ended = closed == Some("budget");
    selection.closed = closed;
    if let Some(mut c) = standing(&*inquiry) {
        if selection.budget_ended {
            c.status = Status::BudgetExhausted;
        }
        selection.snapshots.retain(|(at, _)| *at < told);
        selection.snapshots.push((told, c));
    }
    Ok(selection)
}
