//! Whatever is asked, told, stated and taken back, closed, reopened and cut off after any byte: the ledger says what
//! a plain list of its lines says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mustlink_core::Context;
use mustlink_core::roles::{Answer, QueryId, Reply, Scene};
use mustlink_core::selection::Record;
use mustlink_ledger::{Durability, Ledger, answers};
use proptest::prelude::*;

use crate::header;

const N: u32 = 6;

/// Operations on a ledger. Numbers choose among the possible ones.
#[derive(Debug, Clone)]
enum Op {
    Ask(u32, u32),
    Tell(Reply),
    Retract(usize),
    State(Vec<(u32, u32, Reply)>),
    Close(bool),
    Reopen,
    /// The file ends after this share of its bytes, in 65536ths.
    Cut(u16),
}

/// Content of a line of the file.
#[derive(Debug, Clone, PartialEq)]
enum Said {
    Asked(QueryId, u32, u32),
    Told(QueryId, Reply, bool),
    Stated(QueryId, u32, u32, Reply, QueryId),
    Retracted(QueryId),
    Closed(bool),
}

#[derive(Debug, Clone, PartialEq)]
struct Query {
    pair: (u32, u32),
    reply: Option<Reply>,
    retracted: bool,
    with: Option<QueryId>,
}

/// Content of all lines.
#[derive(Debug, Default)]
struct Model {
    queries: BTreeMap<QueryId, Query>,
    /// Course that a selector repeats: its questions, and their replies except the last.
    course: Vec<(QueryId, u32, u32, Option<Reply>)>,
    cached: usize,
    closed: Option<bool>,
}

impl Model {
    fn of(lines: &[Said]) -> Model {
        let mut m = Model::default();
        for line in lines {
            m.closed = None;
            match *line {
                Said::Asked(id, s, r) => {
                    let new = Query { pair: (s, r), reply: None, retracted: false, with: None };
                    m.queries.entry(id).or_insert(new);
                    m.course.push((id, s, r, None));
                }
                Said::Told(id, reply, cached) => {
                    m.course.last_mut().unwrap().3 = Some(reply);
                    m.queries.get_mut(&id).unwrap().reply = Some(reply);
                    m.cached += usize::from(cached);
                }
                Said::Stated(id, s, r, reply, with) => {
                    // It takes the place of the question that is open about its pair.
                    let about = |open: &QueryId| m.queries[open].pair;
                    let same = |open: &QueryId| [(s, r), (r, s)].contains(&about(open));
                    if let Some(open) = m.open().filter(same) {
                        m.queries.remove(&open);
                        m.course.pop();
                    }
                    let (pair, reply, with) = ((s, r), Some(reply), Some(with));
                    m.queries.insert(id, Query { pair, reply, retracted: false, with });
                }
                Said::Retracted(id) => {
                    m.queries.get_mut(&id).unwrap().retracted = true;
                    let first = m.course.iter().position(|c| c.0 == id);
                    m.course.truncate(first.unwrap_or(m.course.len()));
                }
                Said::Closed(why) => m.closed = Some(why),
            }
        }
        m
    }

    fn next_id(&self) -> QueryId {
        self.queries.keys().next_back().map_or(0, |id| id + 1)
    }

    fn open(&self) -> Option<QueryId> {
        self.course.last().filter(|c| c.3.is_none()).map(|c| c.0)
    }

    /// The query whose reply stands for a pair.
    fn live(&self, s: u32, r: u32) -> Option<QueryId> {
        let same = |q: &Query| q.pair == (s, r) || q.pair == (r, s);
        let live = |q: &Query| same(q) && q.reply.is_some() && !q.retracted;
        self.queries.iter().find(|(_, q)| live(q)).map(|(&id, _)| id)
    }

    fn answered(&self) -> Vec<(QueryId, u32, u32, Reply, bool, Option<QueryId>)> {
        let all = self.queries.iter();
        all.filter_map(|(&id, q)| Some((id, q.pair.0, q.pair.1, q.reply?, q.retracted, q.with)))
            .collect()
    }
}

/// A ledger together with the list of its lines.
struct Both {
    path: PathBuf,
    ledger: Option<Ledger>,
    lines: Vec<Said>,
}

impl Both {
    fn open(&mut self) {
        self.ledger = Some(
            Ledger::open(&self.path, header(N as usize, "random_pairs"), Durability::None).unwrap(),
        );
    }

    fn ledger(&mut self) -> &mut Ledger {
        self.ledger.as_mut().unwrap()
    }

    /// A selector goes its course again: every reply comes from the file.
    fn replay(&mut self) {
        let model = Model::of(&self.lines);
        self.ledger().rewind();
        for (id, s, r, reply) in model.course {
            let (served, answer) = self.ledger().ask(s, r, "test").unwrap();
            // Cut off between a question put once more and its reply, that line is written again.
            let known = reply.or(model.queries[&id].reply);
            assert_eq!((served, answer.map(|a| a.reply)), (id, known));
            if let (None, Some(known)) = (reply, known) {
                self.lines.push(Said::Told(id, known, true));
            }
        }
    }

    fn take(&mut self, op: &Op) {
        let model = Model::of(&self.lines);
        match op {
            Op::Ask(s, r) if s != r && model.open().is_none() => {
                let (id, answer) = self.ledger().ask(*s, *r, "test").unwrap();
                let live = model.live(*s, *r);
                let reply = live.and_then(|id| model.queries[&id].reply);
                assert_eq!(id, live.unwrap_or(model.next_id()));
                assert_eq!(answer.map(|a| a.reply), reply);
                self.lines.push(Said::Asked(id, *s, *r));
                self.lines.extend(reply.map(|reply| Said::Told(id, reply, true)));
            }
            Op::Ask(s, r) => {
                assert!(s == r || model.open().is_some());
            }
            Op::Tell(reply) => match model.open() {
                Some(id) => {
                    self.ledger().tell(id, &Answer::of(*reply)).unwrap();
                    self.lines.push(Said::Told(id, *reply, false));
                }
                None => {
                    let next = model.next_id();
                    self.ledger().tell(next, &Answer::of(*reply)).unwrap_err();
                }
            },
            Op::Retract(which) => {
                let ids: Vec<QueryId> = model.queries.keys().copied().collect();
                let Some(&id) = ids.get(which % ids.len().max(1)) else { return };
                let query = &model.queries[&id];
                let done = self.ledger().retract(id, None);
                assert_eq!(done.is_ok(), query.reply.is_some() && !query.retracted);
                if done.is_ok() {
                    self.lines.push(Said::Retracted(id));
                }
                self.replay();
            }
            Op::State(all) => {
                let statements: Vec<_> =
                    all.iter().map(|&(s, r, reply)| ((s, r), Answer::of(reply))).collect();
                let done = self.ledger().state("test", None, &statements);
                let (with, before, mut fresh) = (model.next_id(), self.lines.len(), true);
                for (id, &(s, r, reply)) in (with..).zip(all) {
                    let now = Model::of(&self.lines);
                    fresh &= s != r && now.live(s, r).is_none();
                    self.lines.push(Said::Stated(id, s, r, reply, with));
                }
                assert_eq!(done.is_ok(), fresh);
                // All or none.
                if !fresh {
                    self.lines.truncate(before);
                }
                self.replay();
            }
            Op::Close(why) => {
                self.ledger().close(Some(if *why { "budget" } else { "quit" })).unwrap();
                if model.closed != Some(*why) {
                    self.lines.push(Said::Closed(*why));
                }
            }
            Op::Reopen => {
                self.ledger = None;
                self.open();
                assert!(self.ledger().notices().is_empty());
                self.replay();
            }
            Op::Cut(share) => {
                self.ledger = None;
                let mut bytes = std::fs::read(&self.path).unwrap();
                bytes.truncate(bytes.len() * usize::from(*share) / 65536);
                std::fs::write(&self.path, &bytes).unwrap();
                let whole = bytes.iter().filter(|b| **b == b'\n').count();
                self.lines.truncate(whole.saturating_sub(1));
                self.open();
                let cut = bytes.last().is_some_and(|b| *b != b'\n');
                assert_eq!(self.ledger().notices().len(), usize::from(cut));
                self.replay();
            }
        }
    }

    /// Ledger, file and list say the same.
    fn agree(&mut self) {
        let model = Model::of(&self.lines);
        let plain = |all: Vec<mustlink_core::selection::Recorded>| -> Vec<_> {
            let of = |r: mustlink_core::selection::Recorded| {
                (r.id, r.subject, r.reference, r.answer.reply, r.retracted, r.with)
            };
            all.into_iter().map(of).collect()
        };
        let path = self.path.clone();
        let ledger = self.ledger();
        assert_eq!(plain(ledger.answers()), model.answered());
        let mut standing = model.answered();
        standing.retain(|answer| !answer.4);
        let scene = Scene::with_labels(vec![None; N as usize], Context::new(0));
        assert_eq!(plain(answers(&path, &scene).unwrap().0), standing);
        let last = model.course.iter().rev().find(|c| c.3.is_some()).map(|c| c.0);
        assert_eq!(ledger.last(), last);
        let report = ledger.report().unwrap();
        let count = |reply| model.answered().iter().filter(|a| a.3 == reply && !a.4).count();
        assert_eq!(report.must_link, count(Reply::MustLink));
        assert_eq!(report.cannot_link, count(Reply::CannotLink));
        assert_eq!(report.dont_know, count(Reply::DontKnow));
        assert_eq!(report.asked, model.answered().len());
        assert_eq!(report.retracted, model.answered().iter().filter(|a| a.4).count());
        assert_eq!(report.cached, model.cached);
        let lines = std::fs::read(&path).unwrap().iter().filter(|b| **b == b'\n').count();
        assert_eq!(lines, self.lines.len() + 1);
    }
}

fn check(folder: &Path, ops: &[Op]) {
    let path = folder.join("asked.jsonl");
    let mut both = Both { path, ledger: None, lines: Vec::new() };
    both.open();
    for op in ops {
        both.take(op);
        both.agree();
    }
}

fn reply() -> impl Strategy<Value = Reply> {
    prop::sample::select(vec![Reply::MustLink, Reply::CannotLink, Reply::DontKnow])
}

fn op() -> impl Strategy<Value = Op> {
    let statement = (0..N, 0..N, reply());
    prop_oneof![
        6 => (0..N, 0..N).prop_map(|(s, r)| Op::Ask(s, r)),
        6 => reply().prop_map(Op::Tell),
        2 => any::<usize>().prop_map(Op::Retract),
        2 => prop::collection::vec(statement, 1..4).prop_map(Op::State),
        1 => any::<bool>().prop_map(Op::Close),
        1 => Just(Op::Reopen),
        1 => any::<u16>().prop_map(Op::Cut),
    ]
}

/// A question put once more, and the file cut off before its reply was served.
#[test]
fn a_question_put_once_more_is_served_after_a_cut() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("asked.jsonl");
    let mut both = Both { path, ledger: None, lines: Vec::new() };
    both.open();
    for op in [Op::Ask(0, 1), Op::Tell(Reply::MustLink), Op::Ask(1, 0)] {
        both.take(&op);
    }
    let bytes = std::fs::read(&both.path).unwrap();
    let end = bytes[..bytes.len() - 1].iter().rposition(|b| *b == b'\n').unwrap() + 1;
    both.ledger = None;
    std::fs::write(&both.path, &bytes[..end]).unwrap();
    both.lines.pop();
    both.open();
    both.replay();
    both.agree();
}

proptest! {
    #[test]
    fn a_ledger_says_what_its_lines_say(ops in prop::collection::vec(op(), 1..60)) {
        let folder = tempfile::tempdir().unwrap();
        check(folder.path(), &ops);
    }
}
