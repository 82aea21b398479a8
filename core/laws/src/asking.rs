//! The questions of an inquiry, asked by hand or by the driver.

use std::collections::HashSet;

use super::fixtures;
use super::law::Verdict;
use crate::ensure;
use mustlink_core::clustering::{Clustering, NONE};
use mustlink_core::constraints::Constraints;
use mustlink_core::context::Context;
use mustlink_core::error::{Error, Result as Fallible};
use mustlink_core::problem::Problem;
use mustlink_core::random::SeedPath;
use mustlink_core::roles::{
    Answer, Inquiry, Outcome, QueryId, QuerySelector, Question, Reply, Respondent, Step,
};
use mustlink_core::selection::{self, Selection};

/// Replies by class; "don't know" where one is missing, or to everything.
#[derive(Clone)]
pub(super) struct Replies(pub Option<Vec<u32>>);

impl Replies {
    pub(super) fn to(&self, i: u32, j: u32) -> Reply {
        match &self.0 {
            None => Reply::DontKnow,
            Some(classes) if [i, j].iter().any(|&o| classes[o as usize] == NONE) => Reply::DontKnow,
            Some(classes) if classes[i as usize] == classes[j as usize] => Reply::MustLink,
            Some(_) => Reply::CannotLink,
        }
    }
}

impl Respondent for Replies {
    fn ask(&mut self, question: &Question) -> Fallible<Outcome> {
        Ok(Outcome::Answered(Answer::of(self.to(question.i, question.j))))
    }
}

/// Labels by the nearest of three fixed random objects, whatever the constraints.
pub(super) fn nearest_of_three(problem: &Problem) -> Clustering {
    let mut s = SeedPath::new(99).stream("provider");
    let centres = s.sample(problem.n(), problem.n().min(3));
    let data = &problem.data;
    let label = |i: usize| {
        let to = |c: usize| data.row(i).squared_distance(&data.row(centres[c]));
        (0..centres.len() as u32)
            .min_by(|&a, &b| to(a as usize).total_cmp(&to(b as usize)))
            .unwrap_or(0)
    };
    Clustering { k: 3, ..Clustering::from_labels((0..problem.n()).map(label).collect()) }
}

/// One question and its reply.
pub(super) type Exchange = (QueryId, u32, u32, Reply);

pub(super) fn text(e: Error) -> String {
    e.to_string()
}

/// Goes on until the next question, giving clusterings on the way; `None` when done.
pub(super) fn next_question(
    inquiry: &mut dyn Inquiry,
    problem: &Problem,
) -> Result<Option<(QueryId, u32, u32)>, String> {
    // More clusterings than objects without a question in between would never end.
    for _ in 0..=2 * problem.n() {
        match inquiry.step().map_err(text)? {
            Step::Done(_) => return Ok(None),
            Step::Ask { id, subject, reference, .. } => return Ok(Some((id, subject, reference))),
            Step::NeedClustering { request, .. } => {
                inquiry.provide(request, &nearest_of_three(problem)).map_err(text)?;
            }
        }
    }
    Err("asks for clusterings without end".into())
}

/// Starts an inquiry about a problem that is remembered.
pub(super) fn begin(
    selector: &dyn QuerySelector,
    problem: &Problem,
    ctx: &Context,
) -> Fallible<Box<dyn Inquiry>> {
    fixtures::tried(problem);
    selector.start(problem, ctx)
}

/// Drives an inquiry by hand to its end, or to `most` replies.
pub(super) fn drive(
    selector: &dyn QuerySelector,
    problem: &Problem,
    replies: &Replies,
    seed: u64,
    most: usize,
) -> Result<Vec<Exchange>, String> {
    let inquiry = begin(selector, problem, &fixtures::context(seed)).map_err(text)?;
    drive_on(inquiry, problem, replies, most)
}

/// As [`drive`], from an inquiry that has begun.
pub(super) fn drive_on(
    mut inquiry: Box<dyn Inquiry>,
    problem: &Problem,
    replies: &Replies,
    most: usize,
) -> Result<Vec<Exchange>, String> {
    let mut log = Vec::new();
    while log.len() < most {
        let Some((id, i, j)) = next_question(&mut *inquiry, problem)? else { break };
        let reply = replies.to(i, j);
        inquiry.tell(id, reply).map_err(text)?;
        log.push((id, i, j, reply));
    }
    Ok(log)
}

/// A run of the driver.
pub(super) fn select(
    selector: &dyn QuerySelector,
    problem: &Problem,
    replies: &Replies,
    budget: Option<usize>,
    points: &[usize],
) -> Result<Selection, String> {
    let provide = |_: &Constraints, _: u64| Ok(nearest_of_three(problem));
    let mut oracle = replies.clone();
    fixtures::tried(problem);
    let ctx = fixtures::context(5);
    selection::run(selector, problem, &mut oracle, budget, points, Some(&provide), &ctx)
        .map_err(text)
}

/// 45 objects of three classes of which 36 are eligible, and truth.
pub(super) fn some_eligible(seed: u64) -> (Problem, Replies) {
    let (problem, classes) = fixtures::dense(seed);
    let eligible = (0..problem.n()).map(|i| i % 5 != 2).collect();
    (problem.with_eligible(eligible), Replies(Some(classes)))
}

pub(super) fn pairs_of(eligible: usize) -> usize {
    eligible * eligible.saturating_sub(1) / 2
}

pub(super) fn check_pairs(problem: &Problem, log: &[Exchange]) -> Verdict {
    let mut seen = HashSet::new();
    for &(id, i, j, _) in log {
        let n = problem.n() as u32;
        ensure!(i < n && j < n, "query {id} asks ({i}, {j}) of {n} objects");
        ensure!(i != j, "query {id} asks object {i} against itself");
        for end in [i, j] {
            ensure!(problem.is_eligible(end as usize), "query {id} asks about {end}, not eligible");
        }
        ensure!(seen.insert((i.min(j), i.max(j))), "query {id} repeats the pair ({i}, {j})");
    }
    Ok(())
}
