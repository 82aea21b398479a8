//! A selection without input and output: questions come out, answers go in.
//!
//! A driver owns the inquiry of a selector, the record of its questions and answers, the knowledge from them, and the
//! budget. The caller obtains answers from an oracle, or from a person (on a page, in a terminal or in Python).

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::DerefMut;

use crate::answers::{Selection, answered};
use crate::clustering::{Clustering, Status, partition_hash};
use crate::constraints::Constraints;
use crate::context::Context;
use crate::data::DataKind;
use crate::error::{Error, Result};
use crate::far_origin::FarOrigin;
use crate::knowledge::{Knowledge, Learned};
use crate::problem::Problem;
use crate::record::{Record, Recorded};
use crate::roles::{
    Answer, Event, Inquiry, QueryId, QuerySelector, Question, Reply, RequestId, Step,
};
use crate::run;

/// The next thing that a driver needs.
#[derive(Debug, Clone)]
pub enum Next {
    /// The answer to this question, for [`Driver::tell`].
    Question(Question),
    /// A clustering of the problem under these constraints, for [`Driver::provide`].
    Cluster {
        /// Number of the request.
        request: RequestId,
        /// The constraints to cluster under.
        constraints: Constraints,
    },
    /// Nothing: the selection has ended.
    Done,
}

/// A selection under way. `R` points to its record, if it has one.
///
/// It asks no question twice, after the budget is spent, about an ineligible object, or about an object and itself.
/// Every event is in the record before it has an effect. Recorded answers are served at no cost before
/// anything is asked, even when the budget is spent.
///
/// After an error or a retracted answer, the inquiry starts again and receives the recorded answers.
pub struct Driver<'a, R> {
    selector: Box<dyn QuerySelector + 'a>,
    problem: Problem,
    far: Option<FarOrigin>,
    budget: Option<usize>,
    /// Ascending numbers of replies at which the clustering so far is kept.
    points: Vec<usize>,
    record: Option<R>,
    /// Answers by pair, without a record.
    kept: HashMap<(u32, u32), Recorded>,
    ctx: Context,
    course: Option<Course>,
}

/// The state that a replay rebuilds.
struct Course {
    inquiry: Box<dyn Inquiry>,
    selection: Selection,
    /// Number of a query in the log by its number in the inquiry.
    ids: HashMap<QueryId, QueryId>,
    /// Knowledge from the given constraints and the answers so far.
    knowledge: Knowledge,
    /// The pairs that were asked.
    asked: HashSet<(u32, u32)>,
    /// The open question, with its number in the inquiry.
    open: Option<(QueryId, Question)>,
    /// Replies so far.
    told: usize,
    /// Replies that the budget counts, including earlier ones in the record that were not retracted.
    paid: usize,
    /// Requests for clusterings since the last question.
    clusterings: usize,
    /// Points that were reached.
    passed: usize,
    is_over: bool,
}

impl<'a, R: DerefMut<Target: Record>> Driver<'a, R> {
    /// Creates a selection that has not started. `budget` limits the replies. At these `points`, which are numbers
    /// of replies, the clusterings of an inherently active method are kept.
    ///
    /// # Errors
    /// If the selector cannot run on the problem within the limits.
    pub fn new(
        selector: &(dyn QuerySelector + 'a),
        problem: &Problem,
        budget: Option<usize>,
        points: &[usize],
        record: Option<R>,
        ctx: &Context,
    ) -> Result<Self> {
        admit(selector, problem, ctx)?;
        let points = BTreeSet::from_iter(points).into_iter().copied().collect();
        Ok(Driver {
            selector: dyn_clone::clone_box(selector),
            problem: problem.clone(),
            far: FarOrigin::of(&problem.data, selector),
            budget,
            points,
            record,
            kept: HashMap::new(),
            ctx: ctx.clone(),
            course: None,
        })
    }

    /// The problem that it is about.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The answers so far, in the order of their queries.
    pub fn answers(&self) -> Vec<Recorded> {
        if let Some(record) = &self.record {
            return record.answers();
        }
        let mut answers: Vec<Recorded> = self.kept.values().cloned().collect();
        answers.sort_by_key(|recorded| recorded.id);
        answers
    }

    /// The next need. It stays the same until it is satisfied.
    ///
    /// # Errors
    /// `Contract` when the selector breaks the rules; errors of the selector and of the record.
    #[expect(clippy::should_implement_trait, reason = "an answer comes between two calls")]
    pub fn next(&mut self) -> Result<Next> {
        let mut course = self.course.take().map_or_else(|| self.start(), Ok)?;
        let next = self.advance(&mut course)?;
        self.course = Some(course);
        Ok(next)
    }

    /// The open question, if there is one.
    pub fn open(&self) -> Option<&Question> {
        self.course.as_ref()?.open.as_ref().map(|(_, question)| question)
    }

    /// Takes the answer to the open question.
    ///
    /// # Errors
    /// `Oracle` if no question is open; the errors of the selector and of the record.
    pub fn tell(&mut self, answer: &Answer) -> Result<()> {
        let nothing = || Error::Oracle("no question is open".into());
        let open = self.course.as_mut().and_then(|course| course.open.take());
        let (id, question) = open.ok_or_else(nothing)?;
        let mut course = self.course.take().ok_or_else(nothing)?;
        match &mut self.record {
            Some(record) => record.tell(question.id, answer)?,
            None => {
                let Question { id, i, j, subject, reference, .. } = question;
                let (answer, line) = (answer.clone(), self.kept.len());
                let (retracted, with) = (false, None);
                let recorded = Recorded { id, subject, reference, answer, retracted, with, line };
                self.kept.insert((i, j), recorded);
            }
        }
        course.paid += 1;
        self.learn(&mut course, id, &question, answer)?;
        self.course = Some(course);
        Ok(())
    }

    /// Takes the clustering for a request.
    ///
    /// # Errors
    /// `Oracle` if no clustering was asked for; the errors of the selector and of the record.
    pub fn provide(&mut self, request: RequestId, clustering: &Clustering) -> Result<()> {
        let Some(mut course) = self.course.take() else {
            return Err(Error::Oracle(format!("clustering {request} was not asked for")));
        };
        let digest =
            partition_hash(&clustering.labels).iter().map(|b| format!("{b:02x}")).collect();
        let seen = self.far.as_ref().map(|origin| origin.seen(clustering));
        course.inquiry.provide(request, seen.as_ref().unwrap_or(clustering))?;
        let mut events = vec![Event::Clustered { request, digest }];
        events.extend(course.inquiry.drain());
        self.note(&mut course, events)?;
        self.course = Some(course);
        Ok(())
    }

    /// Ends the selection for this reason, unless it has ended. Its open question stays unanswered.
    ///
    /// # Errors
    /// Returns the errors of the record.
    pub fn end(&mut self, reason: &'static str) -> Result<()> {
        let Some(mut course) = self.course.take_if(|course| !course.is_over) else { return Ok(()) };
        self.close(&mut course, Some(reason))?;
        self.course = Some(course);
        Ok(())
    }

    /// Retracts the last answer, so that its question comes again. Returns false without an answer.
    ///
    /// # Errors
    /// Returns the errors of the record.
    pub fn undo(&mut self) -> Result<bool> {
        let last = match &self.record {
            Some(record) => record.last(),
            None => self.kept.values().max_by_key(|r| r.line).map(|r| r.id),
        };
        let Some(id) = last else { return Ok(false) };
        self.end("closed")?;
        match &mut self.record {
            Some(record) => record.retract(id)?,
            None => self.kept.retain(|_, recorded| recorded.id != id),
        }
        self.course = None;
        Ok(true)
    }

    /// Changes answers in the record, with which the selection goes on.
    ///
    /// # Errors
    /// Returns the errors of `change`.
    pub fn rewrite(&mut self, change: impl FnOnce(&mut R::Target) -> Result<()>) -> Result<()> {
        self.course = None;
        self.record.as_deref_mut().map_or(Ok(()), change)
    }

    /// The reason for the end, if it was not the selector.
    pub fn closed(&self) -> Option<&'static str> {
        self.course.as_ref()?.selection.closed
    }

    /// The clustering so far of an inherently active method.
    pub fn clustering(&self) -> Option<Clustering> {
        self.shown(&*self.course.as_ref()?.inquiry)
    }

    /// The selection so far. If it has not ended, the open question is a missing answer.
    ///
    /// Recorded replies that the selector did not request again are at the end of its log. Their constraints stay.
    /// Retracted replies are not in it.
    pub fn selection(&self) -> Selection {
        let Some(course) = &self.course else {
            return Selection::from_events(self.problem.n(), vec![]);
        };
        let mut selection = course.selection.clone();
        let unmet = self.record.as_ref().map(|record| record.unmet()).unwrap_or_default();
        let mut knowledge = None;
        for Recorded { id, subject, reference, answer, .. } in unmet {
            let purpose = "recorded".into();
            selection.events.extend([
                Event::Asked { id, subject, reference, purpose },
                Event::Told { id, reply: answer.reply, cost: answer.cost },
            ]);
            let knowledge = knowledge.get_or_insert_with(|| course.knowledge.clone());
            if knowledge.tell(subject, reference, answer.reply) == Learned::Conflict {
                selection.events.push(Event::Conflict { id });
            }
        }
        if !course.is_over {
            selection.closed = Some("pending");
        }
        selection.budget_ended = selection.closed == Some("budget");
        if let Some(mut clustering) = self.clustering() {
            if selection.budget_ended {
                clustering.status = Status::BudgetExhausted;
            }
            selection.snapshots.retain(|(at, _)| *at < course.told);
            selection.snapshots.push((course.told, clustering));
        }
        selection
    }

    fn start(&mut self) -> Result<Course> {
        if let Some(record) = &mut self.record {
            record.rewind();
        }
        // A question is about two objects, whatever they weigh.
        let mut read = self.problem.in_pairs(self.selector.typetag_name())?.into_owned();
        read.data = read.data.unweighted();
        let inquiry = match &self.far {
            Some(origin) => self.selector.start(&origin.problem(&read)?, &self.ctx)?,
            None => self.selector.start(&read, &self.ctx)?,
        };
        let n = self.problem.n();
        let mut course = Course {
            inquiry,
            selection: Selection::from_events(n, Vec::new()),
            ids: HashMap::new(),
            knowledge: Knowledge::new(n, &self.problem.constraints),
            asked: HashSet::new(),
            open: None,
            told: 0,
            paid: self.answers().iter().filter(|recorded| !recorded.retracted).count(),
            clusterings: 0,
            passed: 0,
            is_over: false,
        };
        let events = course.inquiry.drain();
        self.note(&mut course, events)?;
        Ok(course)
    }

    fn advance(&mut self, course: &mut Course) -> Result<Next> {
        loop {
            if let Some((_, question)) = &course.open {
                return Ok(Next::Question(question.clone()));
            }
            if course.is_over {
                return Ok(Next::Done);
            }
            self.ctx.check()?;
            self.look(course);
            let is_spent = self.budget.is_some_and(|budget| course.paid >= budget);
            let has_more = || match &self.record {
                Some(record) => record.has_more(),
                None => course.told < self.kept.len(),
            };
            if is_spent && !has_more() {
                self.close(course, Some("budget"))?;
                continue;
            }
            match course.inquiry.step()? {
                Step::Done(reason) => {
                    let mut events = course.inquiry.drain();
                    events.push(Event::Done { reason });
                    self.note(course, events)?;
                    self.close(course, None)?;
                }
                Step::NeedClustering { request, constraints } => {
                    course.clusterings += 1;
                    // A selector that asks for more without a question in between never ends.
                    if course.clusterings > 2 * self.problem.n() + 1 {
                        return Err(self.broken(format!(
                            "asked for {} clusterings without a question in between",
                            course.clusterings
                        )));
                    }
                    return Ok(Next::Cluster { request, constraints });
                }
                Step::Ask { id, subject, reference, purpose } => {
                    if let Some(wrong) = self.problem.illegal(subject, reference) {
                        return Err(self.broken(wrong));
                    }
                    let (i, j) = (subject.min(reference), subject.max(reference));
                    if !course.asked.insert((i, j)) {
                        return Err(self.broken(format!("asked the pair ({i}, {j}) twice")));
                    }
                    let knows = || match &self.record {
                        Some(record) => record.knows(subject, reference),
                        None => self.kept.contains_key(&(i, j)),
                    };
                    if is_spent && !knows() {
                        self.close(course, Some("budget"))?;
                        continue;
                    }
                    let (query, answer) = match &mut self.record {
                        Some(record) => record.ask(subject, reference, purpose)?,
                        None => (id, self.kept.get(&(i, j)).map(|r| r.answer.clone())),
                    };
                    let question = Question { id: query, i, j, subject, reference, purpose };
                    match answer {
                        Some(answer) => self.learn(course, id, &question, &answer)?,
                        None => course.open = Some((id, question)),
                    }
                }
            }
        }
    }

    fn broken(&self, broken: String) -> Error {
        Error::Contract { plugin: self.selector.typetag_name().into(), broken }
    }

    /// Keeps the clustering at this number of replies, if it is one of the points.
    fn look(&self, course: &mut Course) {
        if self.points.get(course.passed) != Some(&course.told) {
            return;
        }
        course.passed += 1;
        if let Some(mut clustering) = self.shown(&*course.inquiry) {
            // As if the budget were this point; replaced if the inquiry ends here.
            clustering.status = Status::BudgetExhausted;
            course.selection.snapshots.push((course.told, clustering));
        }
    }

    fn shown(&self, inquiry: &dyn Inquiry) -> Option<Clustering> {
        let clustering = inquiry.clustering()?;
        Some(match &self.far {
            Some(origin) => origin.shown(clustering),
            None => clustering,
        })
    }

    fn close(&mut self, course: &mut Course, reason: Option<&'static str>) -> Result<()> {
        course.open = None;
        course.is_over = true;
        course.selection.closed = reason;
        if let Some(record) = &mut self.record {
            record.close(reason)?;
            record.verify()?;
        }
        Ok(())
    }

    /// Records events, with the query numbers of the log.
    fn note(&mut self, course: &mut Course, events: Vec<Event>) -> Result<()> {
        for mut event in events {
            if let Some(record) = &mut self.record {
                if let Event::Conflict { id }
                | Event::Corrected { id, .. }
                | Event::Retracted { id } = &mut event
                {
                    *id = course.ids.get(id).copied().unwrap_or(*id);
                }
                record.event(&event)?;
            }
            course.selection.events.push(event);
        }
        Ok(())
    }

    /// Passes an answer to the selector. A contradiction to given constraints and answers is reported here if the
    /// selector does not report it.
    fn learn(
        &mut self,
        course: &mut Course,
        id: QueryId,
        question: &Question,
        answer: &Answer,
    ) -> Result<()> {
        let Question { id: query, subject, reference, purpose, .. } = *question;
        let Answer { reply, cost, .. } = *answer;
        course.ids.insert(id, query);
        course.selection.events.extend([
            Event::Asked { id: query, subject, reference, purpose: purpose.into() },
            Event::Told { id: query, reply, cost },
        ]);
        course.inquiry.tell(id, reply)?;
        course.told += 1;
        course.clusterings = 0;
        let mut events = course.inquiry.drain();
        let are_corrected = events.iter().any(|event| matches!(event, Event::Corrected { .. }));
        if !are_corrected
            && course.knowledge.tell(subject, reference, reply) == Learned::Conflict
            && !events.contains(&Event::Conflict { id })
        {
            events.push(Event::Conflict { id });
        }
        self.note(course, events)?;
        if are_corrected {
            self.know_again(course)?;
        }
        self.ctx.progress(course.told as u64, self.budget.map(|b| b as u64));
        Ok(())
    }

    /// Rebuilds the knowledge after corrections, and reports answers that still contradict it.
    fn know_again(&mut self, course: &mut Course) -> Result<()> {
        course.knowledge = Knowledge::new(self.problem.n(), &self.problem.constraints);
        let answered = answered(&course.selection.events);
        let mut contradicting = Vec::new();
        for event in &course.selection.events {
            let Event::Asked { id, subject, reference, .. } = event else { continue };
            let reply = answered.get(id).map_or(Reply::DontKnow, |c| c.kind.into());
            if course.knowledge.tell(*subject, *reference, reply) == Learned::Conflict {
                contradicting.push(Event::Conflict { id: *id });
            }
        }
        for event in contradicting {
            if let Some(record) = &mut self.record {
                record.event(&event)?;
            }
            course.selection.events.push(event);
        }
        Ok(())
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
