//! The laws of [`QuerySelector`](mustlink_core::roles::QuerySelector).
//!
//! Most laws drive the inquiry by hand, not through the driver, which would stop a wrong question
//! before a law could see it.

use super::asking::{
    Replies, begin, check_pairs, drive, nearest_of_three, next_question, pairs_of, select,
    some_eligible, text,
};
use super::law::{Law, MISSING_SETUP, Verdict, in_threads};
use super::{fixtures, hard, hard_questions};
use crate::ensure;
use mustlink_core::constraints::{Constraints, Kind};
use mustlink_core::data::Row;
use mustlink_core::error::{Error, Result as Fallible};
use mustlink_core::knowledge::Knowledge;
use mustlink_core::problem::Problem;
use mustlink_core::roles::{QuerySelector, Reply, Step};
use mustlink_core::selection::{self, ConstraintView, Selection};

pub(super) fn laws() -> Vec<Law<dyn QuerySelector>> {
    let clusters = |s: &dyn QuerySelector| s.properties().self_clustering;
    let skips = |s: &dyn QuerySelector| s.properties().skips_entailed;
    let sparse = |s: &dyn QuerySelector| s.properties().accepts_sparse;
    let mut laws: Vec<Law<dyn QuerySelector>> = vec![
        Law::when(MISSING_SETUP, |s| s.properties().needs_setup, missing_setup_is_named),
        Law::always("ends_in_time", ends_in_time),
        Law::always("asks_eligible_pairs_once", asks_eligible_pairs_once),
        Law::when("never_asks_what_is_entailed", skips, never_asks_entailed),
        Law::always("step_is_idempotent", step_is_idempotent),
        Law::always("groups_are_their_pairs", groups_are_their_pairs),
        Law::always("same_seed_same_questions", same_seed),
        Law::always("same_questions_on_any_threads", any_threads),
        Law::when(
            "same_questions_on_several_blocks",
            |s| fixtures::is_linear(|shape| s.memory(shape)),
            same_questions_on_several_blocks,
        ),
        Law::always("resumes_where_it_stopped", resumes),
        Law::always("smaller_budget_is_a_prefix", budget_prefix),
        Law::always("true_replies_give_true_constraints", true_constraints),
        Law::when(
            "concludes_only_if_declared",
            |s| !s.properties().infers,
            concludes_only_if_declared,
        ),
        Law::always("queried_view_grows", queried_view_grows),
        Law::always("dont_know_yields_nothing", dont_know_yields_nothing),
        Law::always("too_few_eligible_is_done", too_few_eligible),
        Law::always("budget_zero_is_empty", budget_zero),
        Law::always("wrong_id_is_an_error", wrong_id),
        Law::when("clustering_is_always_valid", clusters, always_clustered),
        Law::when("clustering_keeps_answers", clusters, keeps_answers),
        Law::when("takes_sparse_rows", sparse, takes_sparse),
        Law::always("legal_values_are_harmless", legal_values),
    ];
    laws.extend(hard_questions::laws());
    laws
}

fn legal_values(s: &(dyn QuerySelector + 'static)) -> Verdict {
    let (problem, replies) = some_eligible(1);
    let provide = |_: &Constraints, _: u64| Ok(nearest_of_three(&problem));
    super::ceilings::are_harmless(s, |s, ctx| {
        selection::run(s, &problem, &mut replies.clone(), Some(3), &[], Some(&provide), ctx)
    })
}

fn missing_setup_is_named(selector: &dyn QuerySelector) -> Verdict {
    let (problem, _) = some_eligible(1);
    let refused = begin(selector, &problem, &fixtures::context(1)).err();
    ensure!(matches!(refused, Some(Error::BadParam { .. })), "without its setup: {refused:?}");
    Ok(())
}

/// The first questions come in good time.
fn ends_in_time(selector: &dyn QuerySelector) -> Verdict {
    let (problem, truth) = some_eligible(1);
    let start = std::time::Instant::now();
    let ask = || -> Fallible<()> {
        let mut inquiry = begin(selector, &problem, &fixtures::context(1))?;
        for _ in 0..3 {
            match inquiry.step()? {
                Step::Done(_) => break,
                Step::Ask { id, subject, reference, .. } => {
                    inquiry.tell(id, truth.to(subject, reference))?;
                }
                Step::NeedClustering { request, .. } => {
                    inquiry.provide(request, &nearest_of_three(&problem))?;
                }
            }
        }
        Ok(())
    };
    match ask() {
        Err(e) if matches!(e.root(), Error::TimedOut { .. }) => return Err(e.to_string()),
        // What else may be wrong is the business of other laws.
        _ => {}
    }
    let seconds = start.elapsed().as_secs_f64();
    ensure!(seconds <= fixtures::PATIENCE, "took {seconds} s for 3 questions");
    Ok(())
}

fn asks_eligible_pairs_once(selector: &dyn QuerySelector) -> Verdict {
    for seed in 1..4 {
        let (problem, truth) = some_eligible(seed);
        // To the end once, because late questions are the most expensive.
        let most = if seed == 1 { pairs_of(problem.eligible_objects().len()) } else { 100 };
        let log = drive(selector, &problem, &truth, seed, most + 1)?;
        ensure!(!log.is_empty(), "asks nothing");
        check_pairs(&problem, &log)?;
    }
    Ok(())
}

fn never_asks_entailed(selector: &dyn QuerySelector) -> Verdict {
    for seed in 1..4 {
        let (problem, classes) = fixtures::dense(seed);
        let given = fixtures::true_constraints(&classes, 12, seed);
        let mut known = Knowledge::new(problem.n(), &given);
        let problem = problem.with_constraints(given);
        let truth = Replies(Some(classes));
        for (id, i, j, reply) in drive(selector, &problem, &truth, seed, 2000)? {
            if let Some(kind) = known.relation(i, j) {
                return Err(format!(
                    "query {id} asks ({i}, {j}), a {} that is known already",
                    kind.name()
                ));
            }
            known.tell(i, j, reply);
        }
    }
    Ok(())
}

/// Given groups lead to the same questions as their pairs.
fn groups_are_their_pairs(selector: &dyn QuerySelector) -> Verdict {
    let (problem, classes) = fixtures::dense(2);
    let given = fixtures::true_constraints(&classes, 12, 2);
    let grouped = fixtures::with_groups(&given, &classes);
    let listed = grouped.in_pairs("this law").map_err(text)?;
    let truth = Replies(Some(classes));
    let ask = |given: Constraints| {
        let problem = problem.clone().with_constraints(given);
        let provide = |_: &Constraints, _: u64| Ok(nearest_of_three(&problem));
        let ctx = fixtures::context(2);
        let mut replies = truth.clone();
        selection::run(selector, &problem, &mut replies, Some(20), &[], Some(&provide), &ctx)
            .map(|selection| selection.events)
            .map_err(text)
    };
    ensure!(ask(grouped)? == ask(listed)?, "groups lead to other questions than their pairs");
    Ok(())
}

fn step_is_idempotent(selector: &dyn QuerySelector) -> Verdict {
    let (problem, truth) = some_eligible(1);
    let mut inquiry = begin(selector, &problem, &fixtures::context(1)).map_err(text)?;
    let plain = |step: Step| match step {
        Step::Done(reason) => format!("{reason:?}"),
        Step::Ask { id, subject, reference, purpose } => {
            format!("{id}: {subject}, {reference} for {purpose}")
        }
        Step::NeedClustering { request, constraints } => format!("{request}: {constraints:?}"),
    };
    for _ in 0..60 {
        let step = inquiry.step().map_err(text)?;
        let (once, again) = (plain(step.clone()), plain(inquiry.step().map_err(text)?));
        ensure!(once == again, "two steps without a reply differ: {once} and {again}");
        match step {
            Step::Done(_) => break,
            Step::Ask { id, subject, reference, .. } => {
                inquiry.tell(id, truth.to(subject, reference)).map_err(text)?;
            }
            Step::NeedClustering { request, .. } => {
                inquiry.provide(request, &nearest_of_three(&problem)).map_err(text)?;
            }
        }
    }
    Ok(())
}

fn same_seed(selector: &dyn QuerySelector) -> Verdict {
    let (noise, classes) = hard::unstructured(2);
    for (problem, truth) in [some_eligible(2), (noise, Replies(Some(classes)))] {
        let once = drive(selector, &problem, &truth, 7, 100)?;
        let again = drive(selector, &problem, &truth, 7, 100)?;
        ensure!(once == again, "the same seed asked other questions");
    }
    Ok(())
}

fn any_threads(selector: &dyn QuerySelector) -> Verdict {
    let (problem, truth) = some_eligible(3);
    let with = |threads| in_threads(threads, || drive(selector, &problem, &truth, 7, 100));
    ensure!(with(1)? == with(3)?, "1 and 3 threads asked other questions");
    Ok(())
}

fn same_questions_on_several_blocks(selector: &(dyn QuerySelector + 'static)) -> Verdict {
    let selector = &*hard_questions::with_few_members(selector)?;
    let (problem, classes) = fixtures::several_blocks(3);
    let replies = Replies(Some(classes));
    let ctx = fixtures::short_context(7);
    if let Err(e) = in_threads(1, || begin(selector, &problem, &ctx).map(drop))
        && matches!(e.root(), Error::TimedOut { .. })
    {
        return Ok(());
    }
    let with = |threads: usize| in_threads(threads, || drive(selector, &problem, &replies, 7, 10));
    ensure!(with(1)? == with(3)?, "1 and 3 threads asked other questions");
    Ok(())
}

fn resumes(selector: &dyn QuerySelector) -> Verdict {
    let (problem, truth) = some_eligible(4);
    let whole = drive(selector, &problem, &truth, 7, 40)?;
    for stop in [1, whole.len() / 2] {
        let mut inquiry = begin(selector, &problem, &fixtures::context(7)).map_err(text)?;
        for &(id, i, j, reply) in whole.iter().take(stop) {
            let asked = next_question(&mut *inquiry, &problem)?;
            ensure!(asked == Some((id, i, j)), "replayed to {asked:?} instead of query {id}");
            inquiry.tell(id, reply).map_err(text)?;
        }
        for &(id, i, j, _) in whole.iter().skip(stop) {
            let asked = next_question(&mut *inquiry, &problem)?;
            ensure!(asked == Some((id, i, j)), "went on with {asked:?} instead of query {id}");
            inquiry.tell(id, truth.to(i, j)).map_err(text)?;
        }
    }
    Ok(())
}

fn budget_prefix(selector: &dyn QuerySelector) -> Verdict {
    let (problem, truth) = some_eligible(1);
    let whole = select(selector, &problem, &truth, Some(40), &[])?;
    ensure!(whole.asked() <= 40, "{} replies in a budget of 40", whole.asked());
    for budget in [0, 1, 2, 5, 13, 39, whole.asked()] {
        let part = select(selector, &problem, &truth, Some(budget), &[])?;
        ensure!(part.asked() <= budget, "{} replies in a budget of {budget}", part.asked());
        let messages = |s: &Selection| {
            let done = |e: &&mustlink_core::roles::Event| {
                !matches!(
                    e,
                    mustlink_core::roles::Event::Done { .. }
                        | mustlink_core::roles::Event::Clustered { .. }
                )
            };
            s.prefix(budget).iter().filter(done).cloned().collect::<Vec<_>>()
        };
        let (some, all) = (messages(&part), messages(&whole));
        ensure!(some == all, "a budget of {budget} gives {some:?}, the prefix of 40 is {all:?}");
    }
    Ok(())
}

fn true_constraints(selector: &dyn QuerySelector) -> Verdict {
    (1..4).map(some_eligible).try_for_each(|(problem, truth)| all_true(selector, &problem, &truth))
}

/// Memberships are concluded from k only if this is declared.
fn concludes_only_if_declared(selector: &dyn QuerySelector) -> Verdict {
    // There are three classes.
    (1..4).map(some_eligible).try_for_each(|(problem, truth)| {
        let verdict = all_true(selector, &problem.with_k(2), &truth);
        verdict.map_err(|e| format!("with k = 2 of 3 classes: {e}; declare infers"))
    })
}

/// True replies give no constraint that is false, in any view.
fn all_true(selector: &dyn QuerySelector, problem: &Problem, truth: &Replies) -> Verdict {
    let classes = truth.0.clone().unwrap_or_default();
    let selection = select(selector, problem, truth, Some(200), &[])?;
    let asked = selection.asked();
    for p in (0..=asked.min(30)).chain([asked]) {
        for view in
            [ConstraintView::Queried, ConstraintView::Neighbourhood, ConstraintView::Closure]
        {
            let constraints = selection.at(p, view).map_err(text)?;
            let wrong = constraints.pairs().iter().find(|c| c.is_violated(&classes));
            ensure!(wrong.is_none(), "{} view after {p}: {wrong:?} is false", view.name());
            for set in constraints.neighbourhoods() {
                let class = classes[set[0] as usize];
                let pure = set.iter().all(|&i| classes[i as usize] == class);
                ensure!(pure, "{} view after {p}: {set:?} mixes classes", view.name());
            }
        }
    }
    Ok(())
}

fn queried_view_grows(selector: &dyn QuerySelector) -> Verdict {
    let (problem, truth) = some_eligible(2);
    let selection = select(selector, &problem, &truth, Some(60), &[])?;
    let mut before: Vec<(u32, u32, Kind)> = Vec::new();
    for p in 0..=selection.asked() {
        let constraints = selection.at(p, ConstraintView::Queried).map_err(text)?;
        let now: Vec<_> = constraints.pairs().iter().map(|c| (c.i, c.j, c.kind)).collect();
        ensure!(now.len() == p, "{} constraints after {p} replies", now.len());
        ensure!(now.starts_with(&before), "constraints after {p} replies lost some: {now:?}");
        before = now;
    }
    Ok(())
}

fn dont_know_yields_nothing(selector: &dyn QuerySelector) -> Verdict {
    let (problem, _) = some_eligible(1);
    let never = Replies(None);
    let most = pairs_of(problem.eligible_objects().len());
    let log = drive(selector, &problem, &never, 3, most + 1)?;
    ensure!(log.len() <= most, "goes on after all {most} pairs");
    check_pairs(&problem, &log)?;
    let selection = select(selector, &problem, &never, None, &[])?;
    for view in [ConstraintView::Queried, ConstraintView::Neighbourhood, ConstraintView::Closure] {
        let constraints = selection.at(usize::MAX, view).map_err(text)?;
        ensure!(constraints.pairs().is_empty(), "{:?} from no knowledge", constraints.pairs());
        let shared = constraints.neighbourhoods().iter().find(|set| set.len() > 1);
        ensure!(shared.is_none(), "neighbourhood {shared:?} from no knowledge");
    }
    Ok(())
}

fn too_few_eligible(selector: &dyn QuerySelector) -> Verdict {
    let (problem, _) = fixtures::dense(1);
    let last = problem.n().min(18) - 1;
    let one = problem.clone().with_eligible((0..problem.n()).map(|i| i == last).collect());
    let mut inquiry = begin(selector, &one, &fixtures::context(1)).map_err(text)?;
    let step = inquiry.step().map_err(text)?;
    ensure!(matches!(step, Step::Done(_)), "one eligible object gives {step:?}");
    if selector.properties().self_clustering {
        ensure!(inquiry.clustering().is_some(), "no clustering with one eligible object");
    }
    // Without any it is done too, or says that it cannot work.
    let none = problem.clone().with_eligible(vec![false; problem.n()]);
    if let Ok(mut inquiry) = begin(selector, &none, &fixtures::context(1)) {
        let step = inquiry.step().map_err(text)?;
        ensure!(matches!(step, Step::Done(_)), "no eligible object gives {step:?}");
    }
    Ok(())
}

fn budget_zero(selector: &dyn QuerySelector) -> Verdict {
    let (problem, truth) = some_eligible(1);
    let selection = select(selector, &problem, &truth, Some(0), &[0])?;
    ensure!(selection.asked() == 0, "{} replies in a budget of 0", selection.asked());
    for view in [ConstraintView::Queried, ConstraintView::Neighbourhood, ConstraintView::Closure] {
        let constraints = selection.at(0, view).map_err(text)?;
        ensure!(constraints.is_empty(), "a budget of 0 gives {constraints:?}");
    }
    if selector.properties().self_clustering {
        let labels = selection.snapshot(0).map_or(0, |c| c.labels.len());
        ensure!(labels == problem.n(), "{labels} labels for {} objects", problem.n());
    }
    Ok(())
}

fn wrong_id(selector: &dyn QuerySelector) -> Verdict {
    let (problem, truth) = some_eligible(1);
    let mut inquiry = begin(selector, &problem, &fixtures::context(1)).map_err(text)?;
    if let Step::NeedClustering { request, .. } = inquiry.step().map_err(text)? {
        let refused = inquiry.provide(request + 1, &nearest_of_three(&problem));
        ensure!(refused.is_err(), "takes a clustering it did not ask for");
        ensure!(inquiry.tell(0, Reply::MustLink).is_err(), "takes a reply it did not ask for");
    }
    let mut last = None;
    for _ in 0..20 {
        let Some((id, i, j)) = next_question(&mut *inquiry, &problem)? else { break };
        for wrong in [Some(id + 1), last].into_iter().flatten() {
            ensure!(inquiry.tell(wrong, Reply::MustLink).is_err(), "takes a reply to {wrong}");
            let asked = next_question(&mut *inquiry, &problem)?;
            ensure!(asked == Some((id, i, j)), "a wrong id changed query {id} to {asked:?}");
        }
        inquiry.tell(id, truth.to(i, j)).map_err(text)?;
        last = Some(id);
    }
    Ok(())
}

fn always_clustered(selector: &dyn QuerySelector) -> Verdict {
    let (problem, truth) = some_eligible(1);
    for replies in [truth, Replies(None)] {
        let mut inquiry = begin(selector, &problem, &fixtures::context(2)).map_err(text)?;
        for _ in 0..400 {
            let clustering = inquiry.clustering().ok_or("no clustering")?;
            mustlink_core::run::check_and_count("selector", clustering, &problem, 0.0)
                .map_err(text)?;
            let Some((id, i, j)) = next_question(&mut *inquiry, &problem)? else { break };
            inquiry.tell(id, replies.to(i, j)).map_err(text)?;
        }
        ensure!(inquiry.clustering().is_some(), "no clustering at the end");
    }
    Ok(())
}

/// Whatever was answered so far holds in the clustering, between any two questions.
fn keeps_answers(selector: &dyn QuerySelector) -> Verdict {
    let (problem, truth) = some_eligible(1);
    let mut inquiry = begin(selector, &problem, &fixtures::context(2)).map_err(text)?;
    let mut answered: Vec<(u32, u32, Reply)> = Vec::new();
    while answered.len() < 200 {
        let Some((id, i, j)) = next_question(&mut *inquiry, &problem)? else { break };
        inquiry.tell(id, truth.to(i, j)).map_err(text)?;
        answered.push((i, j, truth.to(i, j)));
        let labels = inquiry.clustering().ok_or("no clustering")?.labels;
        for &(i, j, reply) in &answered {
            let together = labels[i as usize] == labels[j as usize];
            let kept = reply.kind().is_none_or(|kind| together == (kind == Kind::MustLink));
            let count = answered.len();
            ensure!(kept, "after {count} replies the clustering breaks {reply:?} of {i} and {j}");
        }
    }
    Ok(())
}

fn takes_sparse(selector: &dyn QuerySelector) -> Verdict {
    let (problem, classes) = fixtures::sparse(1);
    ensure!(matches!(problem.data.row(0), Row::Sparse(..)), "the fixture is not sparse");
    let log = drive(selector, &problem, &Replies(Some(classes)), 1, 60)?;
    ensure!(!log.is_empty(), "asks nothing about sparse rows");
    check_pairs(&problem, &log)
}
