//! The result: the consensus of the best candidates, and a report of what was tried.

use mustlink_core::clustering::Tried;
use mustlink_core::prelude::*;

use super::choice::{Score, best, best_k, undecided, weights};
use super::consensus::{MOST_DIFFERENT, consensus, together};
use super::corrected::corrected;
use super::prepared::place;
use super::sample::Sample;
use super::trial::{self, Rule, Tests, Trial};

/// Constraints of each kind from which on the constraints that a clustering breaks count against it.
const ENOUGH: usize = 20;
/// Share of the constraints that a consensus may break in addition to those that its best member breaks. A member that
/// obeys wrong answers breaks fewer, so that the share is larger than that of wrong answers usually is.
const MORE: f64 = 0.2;
/// Share of the constraints that a consensus may break to be made again obeying all, if none contradict others.
const TRUST: f64 = 0.05;
/// The same, if some do.
const TRUST_IN_DOUBT: f64 = 0.03;

/// The constraints that candidates are given.
pub(super) struct Told {
    /// The problem without constraints that contradict others, and without marks.
    pub all: Problem,
    /// True if no constraint was left out.
    pub is_all: bool,
}

/// True if there are enough constraints to judge by, and `labels` breaks many more of them than `other`.
fn breaks_many_more(constraints: &Constraints, labels: &[u32], other: &[u32]) -> bool {
    let enough = |kind| constraints.count(kind) >= ENOUGH;
    let broken = |labels| constraints.violations(labels).total() as f64;
    enough(Kind::MustLink)
        && enough(Kind::CannotLink)
        && broken(labels) - broken(other) > MORE * constraints.len() as f64
}

/// True if random constraints of this number connect most of `n` objects: above n / 2 edges, a random graph has a
/// giant component. Then the constraints that are held out settle most pairs, and candidates are scored without them.
fn connects_most(constraints: usize, n: usize) -> bool {
    2 * constraints > n
}

/// The options that decide what is combined, and how.
pub(super) struct Rules<'a> {
    pub ties: f64,
    pub sharpness: f64,
    pub trust: Option<f64>,
    /// Number of folds that each candidate is tried on, at most.
    pub folds: usize,
    /// True if there is a time limit.
    pub is_limited: bool,
    /// The user's consensus function.
    pub consensus: Option<&'a dyn ConsensusFunction>,
}

impl Rules<'_> {
    /// The consensus of the best candidates, with what was tried.
    pub(super) fn conclude(
        &self,
        mut trials: Vec<Trial<'_>>,
        problem: &Problem,
        told: &Told,
        sample: &Sample,
        tests: &Tests<'_>,
        ctx: &Context,
    ) -> Result<Clustering> {
        let pairs = tests.problem.constraints.pairs();
        let scores: Vec<Option<Score>> = match pairs {
            [] => trial::stabilities(&trials),
            _ => trials.iter().map(|t| t.score(pairs)).collect(),
        };
        // Without a clustering of its own nothing can be combined.
        let ready: Vec<Option<Score>> =
            trials.iter().zip(&scores).map(|(t, s)| s.filter(|_| t.labels.is_some())).collect();
        let best_score = best(&ready);
        let is_best = |t: &usize| ready[*t].is_some() && ready[*t] == best_score;
        let mut chosen = (0..trials.len()).find(is_best);
        let mut weights = weights(&ready, self.ties, self.sharpness);
        let of: Vec<usize> = trials.iter().map(|t| t.k).collect();
        let mut k = best_k(&of, &weights).unwrap_or_else(|| of.first().copied().unwrap_or(1));
        if chosen.is_none() {
            let fallback = self.fallback(&mut trials, tests, ctx)?;
            weights = (0..trials.len()).map(|t| f64::from(u8::from(t == fallback))).collect();
            k = trials[fallback].k;
        } else if let Some(warning) = undecided(k, &of, &weights) {
            ctx.warn(warning);
        }
        trials.iter().zip(&mut weights).filter(|(t, _)| t.k != k).for_each(|(_, w)| *w = 0.0);
        // The best candidate may have another number of clusters.
        chosen = chosen.filter(|&t| weights[t] > 0.0);
        let scored = trials.iter().zip(&ready).filter(|(_, score)| score.is_some());
        let met: Vec<Vec<Option<f64>>> = scored.map(|(t, _)| t.shares()).collect();
        let corrected = corrected(pairs, &met, &mut ctx.stream("corrected"));
        let members = self.members(&mut trials, &mut weights, &told.all, sample, ctx)?;
        let mut clustering = self.consensus_of(members, k, problem, told, ctx)?;
        if let Some(t) = chosen
            && self.consensus.is_none()
            && let Some(labels) = &trials[t].labels
            && breaks_many_more(&told.all.constraints, &clustering.labels, labels)
        {
            let alone = vec![Member::from_labels(labels)];
            clustering = self.consensus_of(alone, k, problem, told, ctx)?;
            weights.iter_mut().enumerate().filter(|(at, _)| *at != t).for_each(|(_, w)| *w = 0.0);
        }
        let counting = weights.iter().filter(|w| **w > 0.0).count();
        let mut diagnostics =
            vec![("candidates", trials.len() as f64), ("combined", counting as f64)];
        if let Some(best) = best_score {
            let shown = corrected.unwrap_or(best);
            diagnostics.push(("best_score", best.value));
            diagnostics.extend([("score", shown.value), ("score_error", shown.error)]);
            if connects_most(pairs.len(), problem.n()) {
                let least = (shown.value - 2.0 * shown.error).max(0.0);
                diagnostics.push(("score_at_least", least));
            }
        }
        if self.is_limited {
            let late = trials.iter().filter(|t| t.is_left_out_for_time()).count();
            diagnostics.push(("left_out_for_time", late as f64));
        }
        let diagnostics = diagnostics.into_iter().map(|(name, value)| (name.to_string(), value));
        clustering.extras.diagnostics.extend(diagnostics);
        let alone = counting == 1;
        clustering.extras.tried = trials
            .into_iter()
            .zip(&scores)
            .zip(weights)
            .map(|((trial, score), weight)| tried(trial, *score, weight, alone, self.folds))
            .collect();
        Ok(clustering)
    }

    /// The result if no candidate has a score: the first candidate that gives a clustering, beginning with k-means on
    /// standardised features.
    fn fallback(
        &self,
        trials: &mut [Trial<'_>],
        tests: &Tests<'_>,
        ctx: &Context,
    ) -> Result<usize> {
        let mut order: Vec<usize> = (0..trials.len()).collect();
        order.sort_by_key(|&t| {
            let trial = &trials[t];
            let is_expensive = trial.left_out.is_some();
            (is_expensive, trial.folds.is_some(), trial.name != "z_score + kmeans", t)
        });
        let mut why = None;
        for t in order {
            let trial = &mut trials[t];
            if trial.labels.is_some() {
                return Ok(t);
            }
            let at = place(ctx, trial.place);
            let seen = trial.put(tests.problem.clone());
            match trial::fit(trial.candidate, &tests.prepared[trial.place], &seen, &at) {
                Ok((labels, rule)) => {
                    (trial.labels, trial.rule) = (Some(labels), Some(rule));
                    trial.take_found_k();
                    return Ok(t);
                }
                Err(e @ (Error::Cancelled | Error::TimedOut { .. })) => return Err(e),
                Err(e) => {
                    trial.failed.get_or_insert(e.to_string());
                    why.get_or_insert(e);
                }
            }
        }
        Err(why.unwrap_or_else(|| Error::bad_param("candidates", "none", "one that runs")))
    }

    /// The partitions that count, of all objects; the weights of those left out become 0.
    fn members(
        &self,
        trials: &mut [Trial<'_>],
        weights: &mut [f64],
        all: &Problem,
        sample: &Sample,
        ctx: &Context,
    ) -> Result<Vec<Member>> {
        let mut order = order::descending(weights);
        order.retain(|&t| weights[t] > 0.0);
        let mut members: Vec<Member> = Vec::new();
        let mut rows: Vec<u32> = vec![0; all.n()];
        for t in order {
            ctx.check()?;
            let trial = &mut trials[t];
            if let Some(labels) = trial.labels.take() {
                trial.labels = Some(sample.on_all(trial, labels, all)?);
            }
            let labels = trial.labels.as_deref().unwrap_or_default();
            // The table of a consensus grows with the square of the rows that differ.
            let next = together(&rows, labels);
            let different = next.iter().max().map_or(0, |&m| m as usize + 1);
            if !sample.is_all() && !members.is_empty() && different > MOST_DIFFERENT {
                weights[t] = 0.0;
                continue;
            }
            rows = next;
            members.push(Member { weight: weights[t], ..Member::from_labels(labels) });
        }
        Ok(members)
    }

    /// The consensus of `members` in k clusters.
    fn consensus_of(
        &self,
        members: Vec<Member>,
        k: usize,
        problem: &Problem,
        told: &Told,
        ctx: &Context,
    ) -> Result<Clustering> {
        let ensemble = Ensemble::new(problem.n(), members)?;
        let ctx = ctx.child("consensus");
        match self.consensus {
            Some(own) => own
                .combine(&ensemble, &problem.clone().with_k(k), &ctx)
                .map_err(|e| e.at("consensus")),
            None => {
                let usual = if told.is_all { TRUST } else { TRUST_IN_DOUBT };
                let trust = self.trust.unwrap_or(usual);
                consensus(&ensemble, k, problem, &told.all.constraints, trust, &ctx)
            }
        }
    }
}

/// The report of a trial.
fn tried(trial: Trial<'_>, score: Option<Score>, weight: f64, alone: bool, folds: usize) -> Tried {
    let outcome = match (&trial.failed, trial.folds) {
        _ if trial.left_out.is_some() => {
            format!("not tried: {}", trial.left_out.as_deref().unwrap_or_default())
        }
        (Some(why), _) => format!("failed: {why}"),
        (None, _) if weight > 0.0 && alone => "the result".into(),
        (None, _) if weight > 0.0 => "part of the consensus".into(),
        (None, Some(tried)) if trial.labels.is_none() && score.is_some() => {
            let why = if trial.late { ": no time left" } else { "" };
            format!("left out after {tried} of {folds} folds{why}")
        }
        (None, _) if score.is_some() => "below the best".into(),
        _ if trial.late => "not tried: no time left".into(),
        _ => "not tried: nothing to be scored by".into(),
    };
    Tried {
        name: trial.name.into(),
        method: serde_json::to_value(trial.candidate).unwrap_or_default(),
        k: trial.k,
        score: score.map(|s| s.value),
        error: score.map(|s| s.error),
        weight,
        outcome,
        labels: trial.labels,
        seconds: trial.seconds,
        rule: trial.rule.filter(|_| weight > 0.0).map(Rule::kept),
    }
}
