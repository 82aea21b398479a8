//! Whatever is asked, answered, contradicted, taken back and stated, and wherever budget or patience end: a
//! selection says what a plain list of answers says, closed by looking along its links. So it does where the
//! selector takes answers to be others than they came.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mustlink_core::knowledge::{Knowledge, Learned};
use mustlink_core::prelude::*;
use mustlink_core::selection::{
    Asking, ConstraintView, Contradicting, Counts, Driver, Next, Record, Selection, run_with,
};
use mustlink_ledger::{Durability, Ledger};
use ndarray::Array2;
use proptest::prelude::*;

use crate::header;

const N: u32 = 6;

type Pair = (u32, u32);

/// All pairs in random order; what is known is passed over.
#[options]
pub struct Passing {
    /// Pairs whose answer follows from others are not asked.
    #[option(default = true)]
    pub passes: bool,
    /// An answer that contradicts is believed, and the first that says something is not.
    pub corrects: bool,
}

register!(QuerySelector, Passing, "passing", references: []);

#[typetag::serde(name = "passing")]
impl QuerySelector for Passing {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        let known = Knowledge::new(problem.n(), &problem.constraints);
        let Passing { passes, corrects } = *self;
        let (given, order) = (problem.constraints.clone(), order(ctx));
        Ok(Box::new(Pass {
            passes,
            corrects,
            order,
            given,
            known,
            at: 0,
            told: vec![],
            new: vec![],
        }))
    }
}

fn order(ctx: &Context) -> Vec<Pair> {
    let mut pairs: Vec<Pair> = (0..N).flat_map(|i| (i + 1..N).map(move |j| (j, i))).collect();
    ctx.stream("pairs").shuffle(&mut pairs);
    pairs
}

struct Pass {
    passes: bool,
    corrects: bool,
    order: Vec<Pair>,
    given: Arc<Constraints>,
    known: Knowledge,
    at: usize,
    /// Answers as they are taken.
    told: Vec<(Pair, Reply)>,
    new: Vec<Event>,
}

impl Inquiry for Pass {
    fn step(&mut self) -> Result<Step> {
        while let Some(&(subject, reference)) = self.order.get(self.at) {
            if !self.passes || self.known.relation(subject, reference).is_none() {
                return Ok(Step::Ask {
                    id: self.told.len() as u64,
                    subject,
                    reference,
                    purpose: "test",
                });
            }
            self.at += 1;
        }
        Ok(Step::Done(Done::Exhausted))
    }

    fn tell(&mut self, _: QueryId, reply: Reply) -> Result<()> {
        let (i, j) = self.order[self.at];
        self.at += 1;
        self.told.push(((i, j), reply));
        if self.known.tell(i, j, reply) == Learned::Conflict && self.corrects {
            let last = self.told.len() - 1;
            let first = self.told.iter().position(|t| t.1 != Reply::DontKnow).unwrap_or(last);
            if first < last {
                self.told[first].1 = Reply::DontKnow;
            }
            let anew = |id: usize| Event::Corrected { id: id as u64, reply: self.told[id].1 };
            self.new.extend([anew(first), anew(last)]);
            self.known = Knowledge::new(N as usize, &self.given);
            for &((i, j), reply) in &self.told {
                self.known.tell(i, j, reply);
            }
        }
        Ok(())
    }

    fn drain(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.new)
    }
}

/// Links and what they say of a pair, by looking along all of them.
#[derive(Clone, Default)]
struct Links(Vec<(Pair, Kind)>);

impl Links {
    fn together(&self, i: u32) -> BTreeSet<u32> {
        let mut found = BTreeSet::from([i]);
        loop {
            let before = found.len();
            for ((a, b), _) in self.0.iter().filter(|l| l.1 == Kind::MustLink) {
                if found.contains(a) || found.contains(b) {
                    found.extend([a, b]);
                }
            }
            if found.len() == before {
                return found;
            }
        }
    }

    fn relation(&self, (i, j): Pair) -> Option<Kind> {
        let (here, there) = (self.together(i), self.together(j));
        if here.contains(&j) {
            return Some(Kind::MustLink);
        }
        let apart = |&((a, b), kind): &(Pair, Kind)| {
            let across = here.contains(&a) && there.contains(&b);
            kind == Kind::CannotLink && (across || here.contains(&b) && there.contains(&a))
        };
        self.0.iter().any(apart).then_some(Kind::CannotLink)
    }

    /// Takes a reply; `false` if it contradicts an earlier one.
    fn take(&mut self, pair: Pair, reply: Reply) -> bool {
        let Some(kind) = reply.kind() else { return true };
        match self.relation(pair) {
            Some(known) => known == kind,
            None => {
                self.0.push((pair, kind));
                true
            }
        }
    }
}

/// An answer in the file.
#[derive(Debug, Clone, Copy)]
struct Said {
    pair: Pair,
    reply: Reply,
    retracted: bool,
}

/// One answer of a selection.
struct Taken {
    id: QueryId,
    said: Said,
    /// Replies as corrected after it has come.
    as_taken: Vec<Reply>,
    /// Which of them contradict then.
    contradicting: Vec<QueryId>,
    /// Events that report it.
    new: Vec<Event>,
}

/// Answers as they are taken, and what follows from them.
struct Known<'a> {
    given: &'a Links,
    links: Links,
    answers: Vec<(QueryId, Pair, Reply)>,
    contradicting: Vec<QueryId>,
}

impl Known<'_> {
    /// Takes an answer; `corrects` as the selector does.
    fn take(&mut self, id: QueryId, said: Said, corrects: bool) -> Taken {
        self.answers.push((id, said.pair, said.reply));
        let mut new = Vec::new();
        let fits = self.links.take(said.pair, said.reply);
        if !fits && corrects {
            let last = self.answers.len() - 1;
            let first = self.answers.iter().position(|a| a.2 != Reply::DontKnow).unwrap();
            if first < last {
                self.answers[first].2 = Reply::DontKnow;
            }
            let corrected = [first, last].map(|at| self.answers[at]);
            new.extend(corrected.map(|(id, _, reply)| Event::Corrected { id, reply }));
            (self.links, self.contradicting) = (self.given.clone(), Vec::new());
            for &(id, pair, reply) in &self.answers {
                if !self.links.take(pair, reply) {
                    self.contradicting.push(id);
                }
            }
            new.extend(self.contradicting.iter().map(|&id| Event::Conflict { id }));
        } else if !fits {
            self.contradicting.push(id);
            new.push(Event::Conflict { id });
        }
        let as_taken = self.answers.iter().map(|a| a.2).collect();
        Taken { id, said, as_taken, contradicting: self.contradicting.clone(), new }
    }
}

/// The file as a list.
#[derive(Default)]
struct Model {
    given: Links,
    order: Vec<Pair>,
    passes: bool,
    corrects: bool,
    answers: BTreeMap<QueryId, Said>,
    /// The questions that a selection goes through again.
    course: Vec<(QueryId, Pair)>,
    /// The course ends because nothing is left to ask.
    finished: bool,
    next: QueryId,
}

impl Model {
    fn live(&self, (i, j): Pair) -> Option<QueryId> {
        let same = |s: &Said| !s.retracted && (s.pair == (i, j) || s.pair == (j, i));
        self.answers.iter().find(|(_, s)| same(s)).map(|(&id, _)| id)
    }

    fn open(&self) -> Option<Pair> {
        let (id, pair) = self.course.last()?;
        (!self.answers.contains_key(id)).then_some(*pair)
    }

    fn new_id(&mut self) -> QueryId {
        self.next += 1;
        self.next - 1
    }

    fn retract(&mut self, id: QueryId) {
        self.answers.get_mut(&id).unwrap().retracted = true;
        if let Some(at) = self.course.iter().position(|c| c.0 == id) {
            self.course.truncate(at);
            self.finished = false;
        }
    }

    /// True if it may be stated; then it is, in the place of the open question where that is about the pair.
    fn state(&mut self, pair: Pair, reply: Reply) -> bool {
        let turned = (pair.1, pair.0);
        let may = pair.0 != pair.1 && self.live(pair).is_none();
        if may {
            if self.open().is_some_and(|open| open == pair || open == turned) {
                self.course.pop();
            }
            let id = self.new_id();
            self.answers.insert(id, Said { pair, reply, retracted: false });
        }
        may
    }

    /// A selection whose oracle answers so many questions with these replies. Gives its answers, what
    /// the oracle was asked, and why it ended.
    fn select(
        &mut self,
        budget: Option<usize>,
        replies: &[Reply],
    ) -> (Vec<Taken>, Vec<(QueryId, Pair)>, Option<&'static str>) {
        let given = self.given.clone();
        let (links, answers, contradicting) = (given.clone(), Vec::new(), Vec::new());
        let mut known = Known { given: &given, links, answers, contradicting };
        let mut taken: Vec<Taken> = Vec::new();
        let mut asked = Vec::new();
        let mut paid = self.answers.values().filter(|s| !s.retracted).count();
        let mut left = self.order.clone().into_iter();
        let mut replies = replies.iter();
        let closed = loop {
            let over = budget.is_some_and(|most| paid >= most);
            let on_course = |id| self.course.iter().any(|c| c.0 == id);
            let unmet = self.answers.iter().any(|(id, s)| !s.retracted && !on_course(*id));
            let recorded = self.course.len() > taken.len() || self.finished;
            if over && !recorded && !unmet {
                break Some("budget");
            }
            let Some(pair) = left.find(|p| !self.passes || known.links.relation(*p).is_none())
            else {
                self.finished = true;
                break None;
            };
            let there = self.course.get(taken.len()).copied();
            if over && self.live(pair).is_none() {
                break Some("budget");
            }
            let id = there.map(|c| c.0).or(self.live(pair)).unwrap_or_else(|| self.new_id());
            assert!(there.is_none_or(|c| c.1 == pair), "the course is another one");
            if there.is_none() {
                self.course.push((id, pair));
            }
            if let Entry::Vacant(new) = self.answers.entry(id) {
                asked.push((id, pair));
                let Some(&reply) = replies.next() else { break Some("pending") };
                new.insert(Said { pair, reply, retracted: false });
                paid += 1;
            }
            let said = self.answers[&id];
            // An answer that was stated may name the objects the other way round.
            taken.push(known.take(id, Said { pair, ..said }, self.corrects));
        };
        for (&id, &said) in &self.answers {
            if !said.retracted && self.course.iter().all(|c| c.0 != id) {
                taken.push(known.take(id, said, false));
            }
        }
        (taken, asked, closed)
    }
}

/// Answers from a list, then not yet; knows what it may be asked.
struct Listed {
    replies: Vec<Reply>,
    asked: Vec<(QueryId, Pair)>,
    recalled: Vec<QueryId>,
}

impl Respondent for Listed {
    fn ask(&mut self, q: &Question) -> Result<Outcome> {
        self.asked.push((q.id, (q.subject, q.reference)));
        let reply = self.replies.get(self.asked.len() - 1);
        Ok(reply.map_or(Outcome::Pending, |reply| Outcome::Answered(Answer::of(*reply))))
    }

    fn recall(&mut self, q: &Question, _: &Answer) {
        self.recalled.push(q.id);
    }
}

/// The events of a selection with these answers.
fn events(taken: &[Taken], met: usize, finished: bool) -> Vec<Event> {
    let mut out = Vec::new();
    for (at, Taken { id, said, new, .. }) in taken.iter().enumerate() {
        let (id, (subject, reference)) = (*id, said.pair);
        let purpose = if at < met { "test" } else { "recorded" }.to_string();
        out.push(Event::Asked { id, subject, reference, purpose });
        out.push(Event::Told { id, reply: said.reply, cost: 1.0 });
        out.extend(new.iter().cloned());
        // The selector is through with its pairs before what it did not ask for is added.
        if at + 1 == met && finished {
            out.push(Event::Done { reason: Done::Exhausted });
        }
    }
    if met == 0 && finished {
        out.insert(0, Event::Done { reason: Done::Exhausted });
    }
    out
}

fn sorted<'a>(of: impl IntoIterator<Item = &'a Constraint>) -> BTreeSet<(u32, u32, bool)> {
    of.into_iter().map(|c| (c.i, c.j, c.kind == Kind::MustLink)).collect()
}

/// Every number and every constraint of a selection, at each number of replies.
fn says_the_same(selection: &Selection, taken: &[Taken], given: &Links, constraints: &Constraints) {
    assert_eq!(selection.asked(), taken.len());
    for p in 0..=taken.len() + 1 {
        let first = &taken[..p.min(taken.len())];
        let (as_taken, contradicting) =
            first.last().map_or((&[][..], &[][..]), |t| (&t.as_taken, &t.contradicting));
        let count = |reply| first.iter().filter(|t| t.said.reply == reply).count();
        let live = || first.iter().zip(as_taken);
        let expected = Counts {
            queries: first.len(),
            must: count(Reply::MustLink),
            cannot: count(Reply::CannotLink),
            dont_know: count(Reply::DontKnow),
            conflicts: contradicting.len(),
            corrected: live().filter(|(t, reply)| t.said.reply != **reply).count(),
            cost: first.len() as f64,
            ..Counts::default()
        };
        assert_eq!(selection.counts(p), expected);
        let links = |wanted: &dyn Fn(&Taken) -> bool| {
            let mut links = Links::default();
            let of = live().filter(|(t, _)| wanted(t));
            let of = of.filter_map(|(t, reply)| Some((t.said.pair, reply.kind()?)));
            links.0.extend(of.map(|((i, j), kind)| ((i.min(j), i.max(j)), kind)));
            links
        };
        let plain = |links: &Links| -> BTreeSet<(u32, u32, bool)> {
            links.0.iter().map(|&((i, j), kind)| (i, j, kind == Kind::MustLink)).collect()
        };
        let (kept, all) = (links(&|t| !contradicting.contains(&t.id)), links(&|_| true));
        let queried = ConstraintView::Queried;
        assert_eq!(sorted(selection.at(p, queried).unwrap().pairs()), plain(&kept));
        let ruled = |rule| selection.constraints(p, queried, rule, constraints);
        let handed = |rule| sorted(ruled(rule).unwrap().pairs());
        assert_eq!(handed(Contradicting::KeepFirst), plain(&kept));
        assert_eq!(handed(Contradicting::KeepAll), plain(&all));
        let cut = handed(Contradicting::DropAllInvolved);
        assert!(cut.is_subset(&plain(&kept)));
        match ruled(Contradicting::Error) {
            Ok(_) => assert_eq!((expected.conflicts, &cut), (0, &plain(&kept))),
            Err(Error::InconsistentConstraints(all)) => assert_eq!(all.count, expected.conflicts),
            Err(e) => panic!("{e}"),
        }
        // What follows from the answers, pair by pair; where nothing given has a part in it.
        if given.0.is_empty() {
            let closed = selection.at(p, ConstraintView::Closure).unwrap();
            let pairs = (0..N).flat_map(|i| (i + 1..N).map(move |j| (i, j)));
            let follows = |(i, j)| kept.relation((i, j)).map(|k| (i, j, k == Kind::MustLink));
            assert_eq!(sorted(closed.pairs()), pairs.filter_map(follows).collect());
        }
    }
}

/// Operations on a file of answers. Numbers choose among the possible ones.
#[derive(Debug, Clone)]
enum Op {
    /// A selection with this budget, whose oracle has these replies.
    Select(Option<usize>, Vec<Reply>),
    Retract(usize),
    State(u32, u32, Reply),
    Reopen,
}

struct Both {
    path: PathBuf,
    ledger: Option<Ledger>,
    problem: Problem,
    model: Model,
}

fn opened(path: &Path) -> Ledger {
    Ledger::open(path, header(N as usize, "passing"), Durability::None).unwrap()
}

impl Both {
    fn open(&mut self) {
        // The ledger before lets go of its lock first.
        self.ledger = None;
        self.ledger = Some(opened(&self.path));
    }

    fn take(&mut self, op: &Op, ctx: &Context) {
        let ledger = self.ledger.as_mut().unwrap();
        match op {
            Op::Select(budget, replies) => {
                let standing = self.model.answers.iter().filter(|(_, said)| !said.retracted);
                let recalled: Vec<QueryId> = standing.map(|(id, _)| *id).collect();
                let (taken, asked, closed) = self.model.select(*budget, replies);
                let mut oracle =
                    Listed { replies: replies.clone(), asked: Vec::new(), recalled: Vec::new() };
                let record = Some(ledger as &mut dyn Record);
                let asking = Asking { budget: *budget, ledger: record, ..Asking::default() };
                let selector = Passing { passes: self.model.passes, corrects: self.model.corrects };
                let selection =
                    run_with(&selector, &self.problem, &mut oracle, asking, ctx).unwrap();
                assert_eq!((oracle.asked, oracle.recalled), (asked, recalled));
                assert_eq!(
                    (selection.closed, selection.budget_ended),
                    (closed, closed == Some("budget"))
                );
                let open = usize::from(self.model.open().is_some());
                let met = self.model.course.len() - open;
                assert_eq!(selection.events, events(&taken, met, closed.is_none()));
                says_the_same(&selection, &taken, &self.model.given, &self.problem.constraints);
            }
            Op::Retract(which) => {
                let ids: Vec<QueryId> = self.model.answers.keys().copied().collect();
                let Some(&id) = ids.get(which % ids.len().max(1)) else { return };
                let may = !self.model.answers[&id].retracted;
                assert_eq!(ledger.retract(id, None).is_ok(), may);
                if may {
                    self.model.retract(id);
                }
            }
            Op::State(s, r, reply) => {
                let stated = ledger.state("test", None, &[((*s, *r), Answer::of(*reply))]);
                assert_eq!(stated.is_ok(), self.model.state((*s, *r), *reply));
            }
            Op::Reopen => self.open(),
        }
    }
}

fn check(seed: u64, (passes, corrects): (bool, bool), given: &[(u32, u32, Reply)], ops: &[Op]) {
    let ctx = Context::new(seed);
    let folder = tempfile::tempdir().unwrap();
    // Must-links first, as everything that closes them does; what contradicts them is not given.
    let mut links = Links::default();
    for kind in [Reply::MustLink, Reply::CannotLink] {
        for &(i, j, reply) in given.iter().filter(|g| g.0 != g.1 && g.2 == kind) {
            links.take((i, j), reply);
        }
    }
    let constraint = |&((i, j), kind): &(Pair, Kind)| Constraint::new(i as usize, j as usize, kind);
    let constraints = Constraints::new(N as usize, links.0.iter().map(constraint)).unwrap();
    let data = Data::dense(Array2::zeros((N as usize, 1))).unwrap();
    let problem = Problem::new(data).with_constraints(constraints);
    let model = Model { given: links, order: order(&ctx), passes, corrects, ..Model::default() };
    let path = folder.path().join("asked.jsonl");
    let mut both = Both { path, ledger: None, problem, model };
    both.open();
    for op in ops {
        both.take(op, &ctx);
    }
}

fn reply() -> impl Strategy<Value = Reply> {
    use Reply::{CannotLink, DontKnow, MustLink};
    prop::sample::select(vec![MustLink, MustLink, CannotLink, CannotLink, DontKnow])
}

fn op() -> impl Strategy<Value = Op> {
    let budget = prop::option::of(0..16usize);
    prop_oneof![
        4 => (budget, prop::collection::vec(reply(), 0..16)).prop_map(|(b, r)| Op::Select(b, r)),
        3 => any::<usize>().prop_map(Op::Retract),
        2 => (0..N, 0..N, reply()).prop_map(|(s, r, reply)| Op::State(s, r, reply)),
        1 => Just(Op::Reopen),
    ]
}

/// Answers or, for `None`, takes the last answer back, as far as there is something to do it to.
fn drive(mut driver: Driver<'_, Box<Ledger>>, acts: &[Option<Reply>]) -> (Selection, Vec<Reply>) {
    let mut replies = Vec::new();
    for act in acts {
        match (act, driver.next().unwrap()) {
            (None, _) => assert_eq!(driver.undo().unwrap(), replies.pop().is_some()),
            (Some(reply), Next::Question(question)) => {
                assert_eq!(driver.open(), Some(&question));
                driver.tell(&Answer::of(*reply)).unwrap();
                replies.push(*reply);
            }
            _ => assert!(driver.tell(&Answer::of(Reply::DontKnow)).is_err()),
        }
    }
    driver.next().unwrap();
    let so_far = driver.selection();
    driver.end("pending").unwrap();
    let selection = driver.selection();
    assert_eq!((&so_far.events, so_far.closed), (&selection.events, selection.closed));
    (selection, replies)
}

proptest! {
    #[test]
    fn answers_taken_back_leave_no_trace(
        seed in any::<u64>(),
        (passes, corrects) in any::<(bool, bool)>(),
        acts in prop::collection::vec(prop::option::weighted(0.7, reply()), 1..30),
    ) {
        let (selector, ctx) = (Passing { passes, corrects }, Context::new(seed));
        let data = Data::dense(Array2::zeros((N as usize, 1))).unwrap();
        let problem = Problem::new(data);
        let plain = |replies: Vec<Reply>, budget| {
            let mut oracle = Listed { replies, asked: Vec::new(), recalled: Vec::new() };
            let asking = Asking { budget, ..Asking::default() };
            run_with(&selector, &problem, &mut oracle, asking, &ctx).unwrap()
        };
        let driver = Driver::new(&selector, &problem, Some(9), &[], None, &ctx).unwrap();
        let (selection, replies) = drive(driver, &acts);
        let expected = plain(replies, Some(9));
        prop_assert_eq!(selection.events, expected.events);
        prop_assert_eq!(selection.closed, expected.closed);
        // With a ledger, only the numbers of queries differ.
        let folder = tempfile::tempdir().unwrap();
        let ledger = Box::new(opened(&folder.path().join("asked.jsonl")));
        let driver = Driver::new(&selector, &problem, Some(9), &[], Some(ledger), &ctx).unwrap();
        let (selection, replies) = drive(driver, &acts);
        let asked = selection.asked();
        let expected = plain(replies, Some(9));
        let pairs = |s: &Selection| sorted(s.at(s.asked(), ConstraintView::Queried).unwrap().pairs());
        prop_assert_eq!(selection.counts(asked), expected.counts(asked));
        prop_assert_eq!(pairs(&selection), pairs(&expected));
        prop_assert_eq!(selection.closed, expected.closed);
    }

    #[test]
    fn a_selection_says_what_its_answers_say(
        seed in any::<u64>(),
        how in any::<(bool, bool)>(),
        given in prop::collection::vec((0..N, 0..N, reply()), 0..4),
        ops in prop::collection::vec(op(), 1..16),
    ) {
        // None given more often than its length says, for what is compared then alone.
        let given = if seed % 2 == 0 { given } else { Vec::new() };
        check(seed, how, &given, &ops);
    }
}
