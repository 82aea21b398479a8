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
use crate::knowledge::LAST_NEIGHBOURHOOD;
use crate::problem::Problem;
use crate::roles::{
    Answer, Event, Outcome, QuerySelector, Question, Refusal, Reply, Respondent, Step,
};

/// Which constraints a selection hands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum View {
    /// The replies alone.
    Queried,
    /// The replies, what the last-neighbourhood rule inferred, and a must-link from each object to
    /// the representative of its neighbourhood.
    #[default]
    Neighbourhood,
    /// Everything the replies entail, as pairs.
    Closure,
}

impl View {
    /// The word used in results.
    pub fn name(self) -> &'static str {
        match self {
            View::Queried => "queried",
            View::Neighbourhood => "neighbourhood",
            View::Closure => "closure",
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
    /// Conclusions that cost nothing.
    pub inferred: usize,
    /// Replies that contradicted what was known.
    pub conflicts: usize,
    /// Total cost.
    pub cost: f64,
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
        for event in self.prefix(p) {
            match event {
                Event::Told { reply, cost, .. } => {
                    c.queries += 1;
                    c.cost += cost;
                    match reply {
                        Reply::MustLink => c.must += 1,
                        Reply::CannotLink => c.cannot += 1,
                        Reply::DontKnow => c.dont_know += 1,
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
    pub fn at(&self, p: usize, view: View) -> Result<Constraints> {
        let mut asked: HashMap<u64, (u32, u32)> = HashMap::new();
        let mut pairs: Vec<Constraint> = Vec::new();
        let mut named: Vec<Vec<u32>> = Vec::new();
        let mut rejected: HashMap<u64, usize> = HashMap::new();
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
                    rejected.insert(*id, pairs.len());
                    let c = Constraint::new(i as usize, j as usize, kind);
                    pairs.push(c.from(Origin::Queried));
                }
                Event::Conflict { id } => {
                    // The first statement stays; the contradicting reply is kept in the log only.
                    if let Some(&at) = rejected.get(id) {
                        pairs[at].weight = 0.0;
                    }
                }
                // What the replies entail is left to the closure; what was assumed is no constraint.
                Event::Inferred { i, j, kind, rule } if rule == LAST_NEIGHBOURHOOD => {
                    inferred.insert(*i);
                    if view != View::Queried {
                        let c = Constraint::new(*i as usize, *j as usize, *kind);
                        pairs.push(c.from(Origin::Entailed));
                    }
                }
                // The replies alone do not say where an inferred member belongs.
                Event::Joined { object, .. }
                    if view == View::Queried && inferred.contains(object) => {}
                Event::Joined { object, neighbourhood, representative } => {
                    let at = *neighbourhood as usize;
                    if named.len() <= at {
                        named.resize(at + 1, Vec::new());
                    }
                    named[at].push(*object);
                    if view != View::Queried && object != representative {
                        let c = Constraint::must(*object as usize, *representative as usize);
                        pairs.push(c.from(Origin::Entailed));
                    }
                }
                _ => {}
            }
        }
        named.retain(|set| !set.is_empty());
        let constraints = Constraints::new(self.n, pairs)?.with_neighbourhoods(named);
        if view != View::Closure {
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

/// Runs a selection: asks until the selector is done or `budget` replies have come.
///
/// `points` are the numbers of replies at which an inherently active method is looked at.
/// No question reaches the oracle after the budget, about an object that is not eligible, about an
/// object and itself, or twice.
///
/// # Errors
/// `Contract` when the selector breaks these rules; errors of selector and oracle.
pub fn run(
    selector: &dyn QuerySelector,
    problem: &Problem,
    oracle: &mut dyn Respondent,
    budget: Option<usize>,
    points: &[usize],
    provide: Option<&ClusteringProvider>,
    ctx: &Context,
) -> Result<Selection> {
    let tag = selector.typetag_name();
    let broken = |what: String| Error::Contract { plugin: tag.into(), broken: what };
    let properties = selector.properties();
    if properties.needs_k {
        problem.require_k(None, tag)?;
    }
    if problem.data.kind() == DataKind::Csr && !properties.accepts_sparse {
        let kind = problem.data.kind().name();
        return Err(Error::UnsupportedData { plugin: tag.into(), kind, accepts: "dense".into() });
    }
    let needed = selector.memory(&problem.shape());
    if let Some(limit) = ctx.memory_limit().filter(|&limit| needed > limit) {
        return Err(Error::Memory { needed, limit });
    }
    let mut inquiry = selector.start(problem, ctx)?;
    let mut selection = Selection { n: problem.n(), ..Selection::default() };
    selection.events.extend(inquiry.drain());
    let mut points: Vec<usize> = points.to_vec();
    points.sort_unstable();
    points.dedup();
    let mut next_point = 0;
    let mut told = 0usize;
    let mut answered: HashMap<(u32, u32), Answer> = HashMap::new();
    loop {
        ctx.check()?;
        let over = budget.is_some_and(|b| told >= b);
        while points.get(next_point).is_some_and(|&p| p == told) {
            if let Some(mut c) = inquiry.clustering() {
                // As if the budget were this point; replaced below where the inquiry ends here.
                c.status = Status::BudgetExhausted;
                selection.snapshots.push((told, c));
            }
            next_point += 1;
        }
        if over {
            selection.budget_ended = true;
            break;
        }
        match inquiry.step()? {
            Step::Done(reason) => {
                selection.events.extend(inquiry.drain());
                selection.events.push(Event::Done { reason });
                break;
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
                inquiry.provide(request, &clustering)?;
                selection.events.push(Event::Clustered { request, digest });
                selection.events.extend(inquiry.drain());
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
                if answered.contains_key(&(i, j)) {
                    return Err(broken(format!("asked the pair ({i}, {j}) twice")));
                }
                let question = Question { id, i, j, subject, reference, purpose };
                let answer = match oracle.ask(&question)? {
                    Outcome::Answered(answer) => answer,
                    Outcome::Refused(Refusal::BudgetExhausted) => {
                        selection.budget_ended = true;
                        break;
                    }
                    Outcome::Refused(Refusal::Closed) | Outcome::Pending => break,
                    Outcome::Refused(Refusal::OutOfScope) => {
                        return Err(Error::Oracle(format!("will not speak about ({i}, {j})")));
                    }
                };
                selection.events.push(Event::Asked {
                    id,
                    subject,
                    reference,
                    purpose: purpose.into(),
                });
                selection.events.push(Event::Told { id, reply: answer.reply, cost: answer.cost });
                inquiry.tell(id, answer.reply)?;
                answered.insert((i, j), answer);
                told += 1;
                selection.events.extend(inquiry.drain());
                ctx.progress(told as u64, budget.map(|b| b as u64));
            }
        }
    }
    if let Some(mut c) = inquiry.clustering() {
        if selection.budget_ended {
            c.status = Status::BudgetExhausted;
        }
        selection.snapshots.retain(|(at, _)| *at < told);
        selection.snapshots.push((told, c));
    }
    Ok(selection)
}
