//! The driver that passes questions to an oracle and answers to a selector.
//!
//! One driver moves messages between an inquiry and a respondent and writes the log.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::answers::answered;
pub use crate::answers::{ConstraintView, Contradicting, Counts, Selection};
use crate::clustering::{Clustering, Status, partition_hash};
use crate::constraints::Constraints;
use crate::context::Context;
use crate::data::DataKind;
use crate::error::{Error, Result};
use crate::far_origin::FarOrigin;
use crate::knowledge::{Knowledge, Learned};
use crate::problem::Problem;
use crate::roles::{
    Answer, Event, Inquiry, Outcome, QueryId, QuerySelector, Question, Refusal, Reply, Respondent,
    Step,
};
use crate::run;

/// Makes the clusterings an inquiry asks for.
pub type ClusteringProvider<'a> = dyn Fn(&Constraints, u64) -> Result<Clustering> + 'a;

/// Settings of a selection, in addition to selector, problem and oracle.
#[derive(Default)]
pub struct Asking<'a> {
    /// Most queries. Absent: until the selector is done.
    pub budget: Option<usize>,
    /// Numbers of replies at which an inherently active method is looked at.
    pub points: &'a [usize],
    /// Makes the clusterings that the selector asks for.
    pub provide: Option<&'a ClusteringProvider<'a>>,
    /// Ledger in which questions and answers are recorded, and from which earlier ones are read.
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

/// Records a selection as it happens, so that it can be resumed: a ledger. Resuming means
/// replaying: recorded answers are served again, and a course that differs from the record is an error.
pub trait Record {
    /// The answers so far, in the order of their queries.
    fn answers(&self) -> Vec<Recorded>;

    /// The replay starts again.
    fn rewind(&mut self);

    /// True if anything recorded is left to serve.
    fn has_more(&self) -> bool;

    /// True if the question that comes now will be served from the record.
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

/// A selection being written down.
struct Log<'a> {
    selection: Selection,
    ledger: Option<&'a mut dyn Record>,
    /// Number of a query in the log by its number in the inquiry.
    ids: HashMap<u64, u64>,
    /// The given constraints.
    given: Arc<Constraints>,
    /// Knowledge from the given constraints and the answers so far.
    knowledge: Knowledge,
}

/// Result of a question: an answer with the number of the query, or the reason why it has no answer.
enum Reached {
    /// The ledger has the answer.
    Ledger(QueryId, Answer),
    /// The oracle gave it.
    Oracle(QueryId, Answer),
    /// Reason that ends the selection.
    Nobody(&'static str),
}

impl Log<'_> {
    /// The oracle learns of the answers in the ledger, whose replay begins; gives their number.
    fn recall(&mut self, oracle: &mut dyn Respondent) -> usize {
        let Some(ledger) = &mut self.ledger else { return 0 };
        ledger.rewind();
        let answers = ledger.answers();
        for recorded in &answers {
            oracle.recall(&recorded.question(), &recorded.answer);
        }
        answers.len()
    }

    /// Puts a question of the inquiry, to the ledger first.
    fn ask(&mut self, oracle: &mut dyn Respondent, mut question: Question) -> Result<Reached> {
        if let Some(ledger) = &mut self.ledger {
            let Question { subject, reference, purpose, .. } = question;
            let (query, recorded) = ledger.ask(subject, reference, purpose)?;
            if let Some(answer) = recorded {
                return Ok(Reached::Ledger(query, answer));
            }
            question.id = query;
        }
        let answer = match oracle.ask(&question)? {
            Outcome::Answered(answer) => answer,
            Outcome::Refused(Refusal::BudgetExhausted) => return Ok(Reached::Nobody("budget")),
            Outcome::Refused(Refusal::Closed) => return Ok(Reached::Nobody("closed")),
            Outcome::Refused(Refusal::OutOfScope) => return Ok(Reached::Nobody("out_of_scope")),
            Outcome::Pending => return Ok(Reached::Nobody("pending")),
        };
        if let Some(ledger) = &mut self.ledger {
            ledger.tell(question.id, &answer)?;
        }
        Ok(Reached::Oracle(question.id, answer))
    }

    fn events(&mut self, events: Vec<Event>) -> Result<()> {
        for mut event in events {
            if let Some(ledger) = &mut self.ledger {
                if let Event::Conflict { id }
                | Event::Corrected { id, .. }
                | Event::Retracted { id } = &mut event
                {
                    *id = self.ids.get(id).copied().unwrap_or(*id);
                }
                ledger.event(&event)?;
            }
            self.selection.events.push(event);
        }
        Ok(())
    }

    /// Conclusions of the selector from the reply to its query `id`. A contradiction to given constraints and
    /// answers is reported here if the selector does not report it.
    fn learned(
        &mut self,
        id: u64,
        pair: (u32, u32),
        reply: Reply,
        mut new: Vec<Event>,
    ) -> Result<()> {
        if new.iter().any(|e| matches!(e, Event::Corrected { .. })) {
            self.events(new)?;
            return self.known_anew();
        }
        let said = new.iter().any(|e| matches!(e, Event::Conflict { id: about } if *about == id));
        if self.knowledge.tell(pair.0, pair.1, reply) == Learned::Conflict && !said {
            new.push(Event::Conflict { id });
        }
        self.events(new)
    }

    /// Knowledge after answers were corrected, and the answers that still contradict it.
    fn known_anew(&mut self) -> Result<()> {
        self.knowledge = Knowledge::new(self.selection.n, &self.given);
        let answered = answered(&self.selection.events);
        let mut contradicting = Vec::new();
        for event in &self.selection.events {
            let Event::Asked { id, subject, reference, .. } = event else { continue };
            let reply = answered.get(id).map_or(Reply::DontKnow, |c| c.kind.into());
            if self.knowledge.tell(*subject, *reference, reply) == Learned::Conflict {
                contradicting.push(Event::Conflict { id: *id });
            }
        }
        for event in contradicting {
            if let Some(ledger) = &mut self.ledger {
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
            let (i, j) = (recorded.subject, recorded.reference);
            if recorded.retracted {
                self.selection.events.push(Event::Retracted { id });
            } else if self.knowledge.tell(i, j, answer.reply) == Learned::Conflict {
                self.selection.events.push(Event::Conflict { id });
            }
        }
    }
}

/// Checks that `selector` can run on `problem` within the limits, before anything is asked.
fn admit(selector: &dyn QuerySelector, problem: &Problem, ctx: &Context) -> Result<()> {
    problem.check()?;
    let tag = selector.typetag_name();
    let properties = selector.properties();
    if properties.needs_k {
        problem.require_k(None, tag)?;
    }
    let kind = problem.data.kind();
    if kind == DataKind::Table || (kind == DataKind::Csr && !properties.accepts_sparse) {
        let accepts = if properties.accepts_sparse { "dense or csr" } else { "dense" };
        let (kind, accepts) = (kind.name(), accepts.into());
        return Err(Error::UnsupportedData { plugin: tag.into(), kind, accepts });
    }
    run::check_magnitude(&problem.data)?;
    run::within_memory(selector.memory(&problem.shape()), &problem.data, ctx)
}

/// The error of a selector that asks for clusterings where nothing clusters.
pub(crate) fn without_clusterer(selector: &str) -> Error {
    Error::Usage(format!(
        "{selector} asks a clusterer between questions, and the method has none; add one, for example pck_means"
    ))
}

/// Error in asking about this pair, if any.
fn illegal(problem: &Problem, subject: u32, reference: u32) -> Option<String> {
    let n = problem.n();
    if subject == reference || subject as usize >= n || reference as usize >= n {
        return Some(format!("asked the pair ({subject}, {reference}) of {n} objects"));
    }
    let left_out = |end: &u32| !problem.is_eligible(*end as usize);
    let end = [subject, reference].into_iter().find(left_out)?;
    Some(format!("asked about object {end}, which is not eligible"))
}

/// Runs a selection: asks until the selector is done or the budget is spent.
///
/// No question reaches the oracle after the budget, about an object that is not eligible, about an
/// object and itself, or twice, and none is waited for without end. With a ledger, every event is
/// written before it has an effect; what the ledger has already is replayed at no cost before anything
/// is asked, and whatever the ledger knows is answered from it even when the budget is spent. An oracle
/// that gives no answer yet, or refuses, ends the selection with what there is.
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
    admit(selector, problem, ctx)?;
    let selection = Selection { n: problem.n(), ..Selection::default() };
    let knowledge = Knowledge::new(problem.n(), &problem.constraints);
    let given = problem.constraints.clone();
    let mut log = Log { selection, ledger, ids: HashMap::new(), given, knowledge };
    let mut paid = log.recall(oracle);
    let far = FarOrigin::of(&problem.data, selector);
    // A question is about two objects, however often they count.
    let mut read = problem.in_pairs(tag)?.into_owned();
    read.data = read.data.unweighted();
    let mut inquiry = match &far {
        Some(origin) => selector.start(&origin.problem(&read)?, ctx)?,
        None => selector.start(&read, ctx)?,
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
    let mut clusterings = 0usize;
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
                let provide = provide.ok_or_else(|| without_clusterer(tag))?;
                clusterings += 1;
                // Whoever asks for more without a question in between never ends.
                if clusterings > 2 * problem.n() + 1 {
                    return Err(broken(format!(
                        "asked for {clusterings} clusterings without a question in between"
                    )));
                }
                let clustering = provide(&constraints, request)?;
                let digest =
                    partition_hash(&clustering.labels).iter().map(|b| format!("{b:02x}")).collect();
                let seen = far.as_ref().map(|origin| origin.seen(&clustering));
                inquiry.provide(request, seen.as_ref().unwrap_or(&clustering))?;
                log.events(vec![Event::Clustered { request, digest }])?;
                log.events(inquiry.drain())?;
            }
            Step::Ask { id, subject, reference, purpose } => {
                if let Some(what) = illegal(problem, subject, reference) {
                    return Err(broken(what));
                }
                let (i, j) = (subject.min(reference), subject.max(reference));
                if !answered.insert((i, j)) {
                    return Err(broken(format!("asked the pair ({i}, {j}) twice")));
                }
                if over && !log.ledger.as_ref().is_some_and(|l| l.knows(subject, reference)) {
                    break Some("budget");
                }
                let question = Question { id, i, j, subject, reference, purpose };
                let (query, answer) = match log.ask(oracle, question)? {
                    Reached::Ledger(query, answer) => (query, answer),
                    Reached::Oracle(query, answer) => {
                        paid += 1;
                        (query, answer)
                    }
                    Reached::Nobody(why) => break Some(why),
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
                clusterings = 0;
                log.learned(id, (subject, reference), reply, inquiry.drain())?;
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
