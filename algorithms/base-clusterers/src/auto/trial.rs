//! The trial of a candidate: its clusterings, and the held-out pairs that they satisfy.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use mustlink_core::clustering;
use mustlink_core::features::Lineage;
use mustlink_core::prelude::*;
use mustlink_core::run::{self, Steps};
use mustlink_kernels::agreement::contingency::adjusted_rand;
use mustlink_kernels::constrained::pair_folds::Fold;

use super::choice::{Score, agreement, balanced, best, error_of_difference};
use super::clock::Clock;
use super::portfolio::Candidate;
use super::prepared::{Prepared, place};

/// Folds after which candidates that cannot be among the best any more are left out.
const FIRST: usize = 2;

/// A candidate with a number of clusters, and what is known of it.
#[derive(Debug, Clone)]
pub struct Trial<'a> {
    /// The candidate.
    pub candidate: &'a Candidate,
    /// Its name and place among the candidates.
    pub name: &'a str,
    /// Names its random numbers.
    pub place: usize,
    /// Number of clusters it is asked for, or found.
    pub k: usize,
    /// True if it does not get a number of clusters, because it finds it.
    pub finds_k: bool,
    /// Its clustering under all constraints.
    pub labels: Option<Vec<u32>>,
    /// Reason why it has no clustering.
    pub failed: Option<String>,
    /// For each held-out pair, the number of clusterings that satisfy it, and the number of clusterings.
    pub met: Vec<(f64, f64)>,
    /// Folds that were held back from it; absent: it reads no constraints, and none need be.
    pub folds: Option<usize>,
    /// Wall time of all its runs.
    pub seconds: f64,
    /// True if one of its runs did not begin or did not end because time was over.
    pub late: bool,
    /// Reason why it is not tried.
    pub left_out: Option<String>,
    /// Operations of its runs, by estimate.
    pub operations: f64,
    /// Rule that places new objects, if it has a clustering.
    pub rule: Option<Rule>,
}

impl<'a> Trial<'a> {
    /// Before it is tried.
    pub fn new(
        (candidate, name): (&'a Candidate, &'a str),
        place: usize,
        k: usize,
        pairs: usize,
    ) -> Self {
        let folds = candidate.reads_constraints().then_some(0);
        let met = vec![(0.0, 0.0); pairs];
        Trial {
            candidate,
            name,
            place,
            k,
            finds_k: false,
            labels: None,
            failed: None,
            met,
            folds,
            seconds: 0.0,
            late: false,
            left_out: None,
            operations: 0.0,
            rule: None,
        }
    }

    /// `problem` as it is put to the candidate: with the number of clusters, but where that is to be found.
    pub fn put(&self, problem: Problem) -> Problem {
        Problem { k: (!self.finds_k).then_some(self.k), ..problem }
    }

    /// True if it was left out of the result because the time ran out before it.
    pub fn is_left_out_for_time(&self) -> bool {
        self.late && self.labels.is_none() && self.failed.is_none()
    }

    /// Takes the number of clusters that the candidate found, where it finds one.
    pub fn take_found_k(&mut self) {
        if let Some(labels) = self.labels.as_ref().filter(|_| self.finds_k) {
            self.k = labels.iter().max().map_or(1, |&l| l as usize + 1);
        }
    }

    /// For each pair, the share of the clusterings that satisfy it without knowing it, if there are any.
    pub fn shares(&self) -> Vec<Option<f64>> {
        self.met.iter().map(|&(met, of)| (of > 0.0).then(|| met / of)).collect()
    }

    /// Score on pairs that were held out.
    pub fn score(&self, pairs: &[Constraint]) -> Option<Score> {
        balanced(pairs, &self.shares()).filter(|_| self.failed.is_none())
    }
}

/// Agreement of the clustering of each trial with those of the other trials that have as many clusters.
pub fn stabilities(trials: &[Trial<'_>]) -> Vec<Option<Score>> {
    let score = |(at, own): (usize, &Trial<'_>)| {
        let labels = own.labels.as_ref()?;
        let others = trials.iter().enumerate().filter(|(t, other)| *t != at && other.k == own.k);
        let others = others.filter_map(|(_, other)| other.labels.as_ref());
        agreement(&others.map(|other| adjusted_rand(labels, other)).collect::<Vec<_>>())
    };
    trials.iter().enumerate().map(score).collect()
}

/// Tries all. Those that read constraints are first tried on some folds. A candidate goes no further if it
/// is then below the best by more than `ties` standard errors of the difference and two of its own. When `clock` runs
/// out, nothing begins any more and what has begun is given up, but the best so far is fitted under all constraints.
/// If the run is cancelled and is to end with the best so far, only finished runs count.
///
/// # Errors
/// `Cancelled`, `TimedOut`; what ends a candidate is kept with it.
pub fn race(
    trials: &mut [Trial<'_>],
    tests: &Tests<'_>,
    ties: f64,
    clock: &Clock,
    ctx: &Context,
) -> Result<()> {
    let (pairs, folds) = (tests.problem.constraints.pairs(), tests.folds);
    let all = 0..trials.len();
    let first = FIRST.min(folds.len());
    let some = |t: usize| match trials[t].folds {
        _ if trials[t].failed.is_some() || trials[t].left_out.is_some() => Vec::new(),
        None => vec![None],
        Some(_) => (0..first).map(Some).collect(),
    };
    let jobs: Vec<Job> =
        all.clone().flat_map(|t| some(t).into_iter().map(move |f| (t, f))).collect();
    run_all(trials, &jobs, tests, clock, ctx)?;
    let scores: Vec<Option<Score>> = trials.iter().map(|t| t.score(pairs)).collect();
    let Some(best) = best(&scores) else { return Ok(()) };
    let at = scores.iter().position(|s| *s == Some(best));
    let stopped = ctx.keeps_best() && ctx.is_cancelled();
    if let Some(t) = at.filter(|&t| clock.can_run_out() && !stopped && trials[t].labels.is_none()) {
        run_all(trials, &[(t, None)], tests, &Clock::new(None), ctx)?;
    }
    let goes_on = |&t: &usize| {
        let reads = trials[t].folds.is_some();
        let reach = |s: Score| ties * error_of_difference(best, s) + 2.0 * s.error;
        reads && scores[t].is_some_and(|s| best.value - s.value <= reach(s))
    };
    let rest = |t: usize| {
        let fit = trials[t].labels.is_none().then_some(None);
        (first..folds.len()).map(Some).chain(fit).map(move |f| (t, f))
    };
    let jobs: Vec<Job> = all.filter(goes_on).flat_map(rest).collect();
    run_all(trials, &jobs, tests, clock, ctx)
}

/// A trial, and the fold that is held back from it; absent: none is.
type Job = (usize, Option<usize>);

/// Tests on which candidates are tried.
pub struct Tests<'a> {
    /// The objects, with all constraints.
    pub problem: &'a Problem,
    /// The same as each candidate sees them, by its place.
    pub prepared: &'a [Prepared],
    /// Constraints that are held back.
    pub folds: &'a [Fold],
}

/// Runs jobs one after the other or all at once. If time can run out, jobs of no fold come first, then fold by fold, so
/// that every candidate is tried on one before any is tried on two; in each round the cheapest come first.
fn run_all(
    trials: &mut [Trial<'_>],
    jobs: &[Job],
    tests: &Tests<'_>,
    clock: &Clock,
    ctx: &Context,
) -> Result<()> {
    let standing = Standing {
        done: AtomicU64::new(0),
        of: jobs.len() as u64,
        met: Mutex::new(vec![(0, 0); trials.len()]),
    };
    let mut ordered = jobs.to_vec();
    if clock.can_run_out() {
        // No fold is before the first.
        let cost = |t: usize| trials[t].operations;
        ordered.sort_by(|a, b| a.1.cmp(&b.1).then(cost(a.0).total_cmp(&cost(b.0))));
    }
    let same_round = |a: &Job, b: &Job| !clock.can_run_out() || a.1 == b.1;
    for round in ordered.chunk_by(same_round) {
        run_round(trials, round, tests, clock, &standing, ctx)?;
    }
    Ok(())
}

/// How far the jobs of a run are.
struct Standing {
    /// Jobs that are over.
    done: AtomicU64,
    /// All jobs.
    of: u64,
    /// Held-back pairs that each trial satisfies, and those that it was tested on.
    met: Mutex<Vec<(usize, usize)>>,
}

impl Standing {
    /// Counts a job of `trials[t]` and reports it with the best trial so far. `met` are the held-back pairs that the
    /// job satisfies, and all of them.
    fn report(&self, trials: &[Trial<'_>], t: usize, met: (usize, usize), ctx: &Context) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let mut all = self.met.lock().unwrap_or_else(PoisonError::into_inner);
        all[t] = (all[t].0 + met.0, all[t].1 + met.1);
        let tested = all.iter().enumerate().filter(|(_, m)| m.1 > 0);
        let best = tested.max_by(|(_, a), (_, b)| (a.0 * b.1).cmp(&(b.0 * a.1)));
        let place = match best {
            Some((t, (met, of))) => {
                let name = trials[t].name;
                format!("methods, best so far {name} ({met} of {of} held-back pairs satisfied)")
            }
            None => "methods".to_string(),
        };
        drop(all);
        ctx.child(&place).progress(done, Some(self.of));
    }
}

fn run_round(
    trials: &mut [Trial<'_>],
    jobs: &[Job],
    Tests { problem, prepared, folds }: &Tests<'_>,
    clock: &Clock,
    standing: &Standing,
    ctx: &Context,
) -> Result<()> {
    let pairs = problem.constraints.pairs();
    let stopped = || ctx.keeps_best() && ctx.is_cancelled();
    let run = |&(t, fold): &Job| {
        if clock.is_over() || stopped() {
            return Ok(None);
        }
        ctx.check()?;
        let start = Instant::now();
        let trial = &trials[t];
        let mut seen = Problem::clone(problem);
        if let Some(f) = fold {
            let kept = folds[f].kept.iter().map(|&p| pairs[p]);
            seen = seen.with_constraints(Constraints::new(problem.n(), kept)?);
        }
        let limited = clock.limited(&place(ctx, trial.place));
        let made = fit(trial.candidate, &prepared[trial.place], &trial.put(seen), &limited);
        let tested = fold.map_or(&[][..], |f| &folds[f].tested[..]);
        let is_met =
            |labels: &[u32]| tested.iter().filter(|p| !pairs[**p].is_violated(labels)).count();
        let met = made.as_ref().map_or((0, 0), |(labels, _)| (is_met(labels), tested.len()));
        standing.report(trials, t, met, ctx);
        match made {
            Err(Error::Cancelled) if stopped() => Ok(None),
            Err(Error::TimedOut { .. }) if ctx.check().is_ok() => Ok(None),
            Err(e @ (Error::Cancelled | Error::TimedOut { .. })) => Err(e),
            made => Ok(Some((made.map_err(|e| e.to_string()), start.elapsed().as_secs_f64()))),
        }
    };
    let made = reduce::try_map(jobs.len(), |at| run(&jobs[at]))?;
    for (&(t, fold), made) in jobs.iter().zip(made) {
        let trial = &mut trials[t];
        let Some((made, seconds)) = made else {
            trial.late = true;
            continue;
        };
        trial.seconds += seconds;
        let (labels, rule) = match made {
            Ok(made) => made,
            Err(why) => {
                trial.failed.get_or_insert(why);
                continue;
            }
        };
        let tested: Vec<usize> = match fold {
            Some(f) => folds[f].tested.clone(),
            None if trial.folds.is_none() => (0..pairs.len()).collect(),
            None => Vec::new(),
        };
        for p in tested {
            trial.met[p].0 += f64::from(u8::from(!pairs[p].is_violated(&labels)));
            trial.met[p].1 += 1.0;
        }
        match fold {
            Some(_) => trial.folds = trial.folds.map(|f| f + 1),
            None => (trial.labels, trial.rule) = (Some(labels), Some(rule)),
        }
    }
    Ok(())
}

/// Rule by which a candidate places new objects.
#[derive(Debug, Clone, Default)]
pub struct Rule {
    steps: Steps,
    extras: Extras,
    lineage: Lineage,
}

impl Rule {
    /// Objects as the candidate sees them.
    ///
    /// # Errors
    /// The errors of its transforms.
    pub fn apply(&self, data: &Data) -> Result<Data> {
        self.steps.0.iter().try_fold(data.clone(), |data, (_, fitted)| fitted.apply(&data))
    }

    /// The rule as it is kept.
    pub fn kept(self) -> clustering::Rule {
        let steps = self.steps.0.iter().map(|(transform, fitted)| {
            let tagged = serde_json::to_value(transform).unwrap_or_default();
            (tagged, fitted.saved())
        });
        clustering::Rule { steps: steps.collect(), extras: self.extras, lineage: self.lineage }
    }
}

/// The labels that a candidate gives, and how it places new objects. `prepared`: the objects of `problem` as its first
/// transforms make them.
///
/// # Errors
/// The errors of its plugins.
pub fn fit(
    candidate: &Candidate,
    prepared: &Prepared,
    problem: &Problem,
    ctx: &Context,
) -> Result<(Vec<u32>, Rule)> {
    let clusterer = candidate.clusterer()?;
    let before = prepared.made.as_ref().map_err(Error::clone)?;
    let problem = Problem { data: before.problem.data.clone(), ..problem.clone() };
    let rest = &candidate.transforms[prepared.steps..];
    let seen = run::transform_from(prepared.steps, rest, &problem, ctx)
        .map_err(|e| before.lineage.features.error_before(e))?;
    let lineage = before.lineage.then(&seen.lineage);
    let made = run::cluster(&**clusterer, &seen.problem, &ctx.child("clusterer"))
        .map_err(|e| lineage.features.error_before(e))?;
    let Clustering { labels, extras, .. } = made.clustering;
    // Tables of objects by clusters are large, and no rule for new objects.
    let extras = Extras { memberships: None, distances: None, tried: Vec::new(), ..extras };
    let mut steps = before.steps.clone();
    steps.0.extend(seen.steps.0);
    Ok((labels, Rule { steps, extras, lineage }))
}
