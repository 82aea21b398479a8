//! Which method suits these objects and these answers?

mod choice;
mod clock;
mod consensus;
mod folds;
mod portfolio;
mod sample;
#[cfg(test)]
mod tests;
mod told;
mod trial;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use mustlink_core::closure::Feasibility;
use mustlink_core::clustering::Tried;
use mustlink_core::prelude::*;
use mustlink_core::roles::cost_of_steps;

use choice::{Score, best, best_k, weights};
use clock::Clock;
use consensus::{MOST_DIFFERENT, consensus, takes_partitions, together};
use folds::{folds, folds_of_objects};
pub use portfolio::{Candidate, portfolio};
use sample::Sample;
use trial::{Trial, race};

/// Tries many methods, keeps those that the constraints cannot tell from the best, and combines them.
///
/// # Method
/// Each candidate is scored by pairs it was not told: the mean of the share of must-links and the share
/// of cannot-links it meets. Candidates that read no constraints are scored by all pairs; the others by
/// pairs held back in folds, so that none follows from those that are kept: must-links on a common cycle
/// are held back together, as are cannot-links between the same two components. After two folds those
/// that cannot be among the best go no further. Those within `ties` standard errors of the best then
/// cluster under all constraints, and the consensus of their partitions is the result: average linkage
/// of the co-association, members weighing (score / best score)^`sharpness`, constraints as evidence.
/// Where that breaks at most the share `trust` of the constraints, it is made again obeying all. What is
/// marked hard always holds. Where constraints contradict one another, candidates are not told the
/// weakest.
///
/// Without constraints the score of a candidate is its stability, the mean adjusted Rand index of its
/// partition and those of the other candidates. Of more than `sample` objects candidates cluster as many: those
/// that have a constraint first, and of these whole chains of constraints where not all fit. Each further object
/// joins the nearest centre or, where a candidate does not go by centres, the nearest object. The consensus knows
/// all constraints; where over 4096 objects have one, it is made without them, and objects then move to obey.
///
/// The portfolio: k-means, mixtures and linkage under several scalings, and their constrained relatives under
/// these and under learned metrics; for term vectors those that go by angles. `mustlink describe auto` and the
/// manual write it out, to be taken into a file and changed.
/// # Input and output
/// n × d, dense or sparse. k clusters; without k anywhere as many in `k_min..=k_max` as the candidates
/// that cannot be told from the best speak for, those that find k themselves for what they found. What was
/// tried, with scores, comes with the result.
/// # Errors
/// `BadK`, `TooManyClusters`; `BadParam` for a candidate that drops or merges rows, for a consensus that needs
/// more than labels, for more clusters than `sample`, and where none gives a clustering;
/// `InconsistentConstraints`, `InfeasibleConstraints` of those marked hard; with `hold_out = "objects"` also
/// `ClosureTooLarge`.
/// # Cost and randomness
/// Up to folds + 1 runs of each candidate on at most `sample` objects, fewer with `time_budget_seconds`; then
/// O(n · sample · d) for each of those that count. Random as the candidates are, in the folds and in the sample.
/// # References
/// [VanCraenendonckBlockeel2017] for unconstrained candidates chosen by all pairs; [Pourrajabi2014] for
/// folds of constraints; [FredJain2005] for the consensus. Differs: the best are combined, not one chosen;
/// bridges of the must-link graph are held back alone.
#[options]
#[schemars(extend("x-laws" = { "candidates": [
    { "clusterer": { "type": "kmeans" } },
    { "clusterer": { "type": "pck_means" } },
    { "clusterer": { "type": "cop_kmeans" } },
] }))]
pub struct Auto {
    /// Number of clusters; absent: that of the problem, and where that has none, one between the next two.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Smallest number of clusters tried where none is given.
    #[option(
        default = 2,
        min = 1,
        max = 1000,
        inert = "only where no number of clusters is given"
    )]
    pub k_min: usize,
    /// Largest number of clusters tried where none is given; at most n.
    #[option(
        default = 8,
        min = 1,
        max = 1000,
        inert = "only where no number of clusters is given"
    )]
    pub k_max: usize,
    /// What is tried, `{ transforms, clusterer }` each; absent: the portfolio above.
    #[schemars(extend("x-absent" = portfolio::written_out()))]
    pub candidates: Option<Vec<Candidate>>,
    /// What combines those that cannot be told apart; absent: evidence accumulation as above.
    #[schemars(extend("x-absent" = { "": { "type": "evidence_accumulation" } }))]
    pub consensus: Option<Box<dyn ConsensusFunction>>,
    /// Parts of the constraints that are held back one after the other.
    #[option(default = 5, min = 2, max = 1000)]
    pub folds: usize,
    /// What is dealt to the parts.
    pub hold_out: HoldOut,
    /// How many standard errors below the best score a candidate still counts.
    #[option(default = 1.0, min = 0.0, max = 100.0)]
    pub ties: f64,
    /// Power of the score in the weight of a candidate.
    #[option(default = 8.0, min = 0.0, max = 1000.0)]
    pub sharpness: f64,
    /// Share of the constraints that the consensus may break to be made again obeying all of them. One that is
    /// named by `consensus` is not made again.
    #[option(default = 0.03, min = 0.0, max = 1.0)]
    pub trust: f64,
    /// Objects that candidates are tried on, where there are more.
    #[option(default = 3000, min = 10, inert = "more objects than small problems have")]
    pub sample: usize,
    /// Seconds after which no further candidate is tried; absent: all are. What has begun ends, and the best
    /// of those tried is fitted in any case, so that a run takes longer. A result that hangs on the clock
    /// need not be the same bits for the same seed; the candidates say which of them were left out for
    /// time.
    #[option(min = 0.0)]
    pub time_budget_seconds: Option<f64>,
}

/// How constraints are held back to judge candidates by.
#[options]
pub enum HoldOut {
    /// Pairs, those that follow from one another together.
    #[default]
    Pairs,
    /// Objects, as CVCP does [Pourrajabi2014]: of the closure of all constraints those between two held
    /// objects judge, and those without one are told. A fifth of the objects has a twenty-fifth of random
    /// pairs between them.
    Objects,
}

#[plugin(
    "auto",
    cites = ["VanCraenendonckBlockeel2017", "Pourrajabi2014", "FredJain2005"]
)]
impl BaseClusterer for Auto {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let clock = Clock::new(self.time_budget_seconds);
        let ks = self.numbers_of_clusters(problem)?;
        let candidates = self.candidates_for(&problem.data)?;
        // What is refused for what it needs is refused before anything is tried.
        self.consensus.as_deref().map_or(Ok(()), |own| takes_partitions(own, problem.n()))?;
        let names = portfolio::names(&candidates);
        let known = (ks.start() == ks.end()).then_some(*ks.start());
        if known.is_some_and(|k| self.sample < k.min(problem.n())) {
            let legal = format!("at least the number of clusters, {}", ks.start());
            return Err(Error::bad_param("sample", self.sample, legal));
        }
        let ks = told::that_may_hold(&problem.constraints, problem.n(), ks)?;
        let mut told = told::told(&problem.constraints, problem.n(), known)?;
        if self.hold_out == HoldOut::Objects {
            told = told::closed(&told, problem.n())?;
        }
        if let Some(warning) = told::one_sided(&told, known) {
            ctx.warn(warning);
        }
        let all = problem.clone().with_constraints(told);
        let sample = Sample::new(&all, self.sample, &mut ctx.stream("sample"));
        let seen = &sample.problem;
        let count = seen.constraints.len();
        let first = *ks.start();
        let mut trials: Vec<Trial> = ks
            .flat_map(|k| (0..candidates.len()).map(move |c| (k, c)))
            .filter(|&(k, c)| k == first || !candidates[c].finds_k())
            .map(|(k, c)| Trial {
                finds_k: known.is_none() && candidates[c].finds_k(),
                ..Trial::new((&candidates[c], &names[c]), c, k, count)
            })
            .collect();
        leave_out_what_cannot_hold(&mut trials, &all)?;
        if count == 0 && trials.iter().any(|t| t.folds.is_none()) {
            // What reads constraints has nothing to read.
            trials.retain(|t| t.folds.is_none());
        } else if count == 0 {
            // Where all do, nothing is held back from them.
            trials.iter_mut().for_each(|t| t.folds = None);
        }
        let mut stream = ctx.stream("folds");
        let folds = match self.hold_out {
            HoldOut::Pairs => folds(&seen.constraints, seen.n(), known, self.folds, &mut stream)?,
            HoldOut::Objects => folds_of_objects(seen.constraints.pairs(), self.folds, &mut stream),
        };
        race(&mut trials, seen, &folds, self.ties, &clock, ctx)?;
        trials.iter_mut().for_each(Trial::take_found_k);
        let late = trials.iter().filter(|t| t.is_left_out_for_time()).count();
        if late > 0 {
            ctx.warn(format!(
                "{late} of {} candidates were left out for time: the same seed may give another result",
                trials.len()
            ));
        }
        self.conclude(trials, problem, &all, &sample, ctx)
    }

    fn properties(&self) -> Properties {
        Properties {
            accepts: vec![DataKind::Dense, DataKind::Csr],
            needs_k: false,
            reads_constraints: true,
            hard_if_marked: self.consensus.as_ref().is_none_or(|c| {
                let promises = c.needs().promises();
                promises.hard_if_marked || promises.hard_must && promises.hard_cannot
            }),
            soft_weights: true,
            learns_weights: true,
            tries_others: true,
            ..Properties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let sampled = self.sampled(shape);
        let of = |c: &Candidate| {
            let steps = cost_of_steps(&c.transforms, &sampled);
            steps.memory.max(c.clusterer().map_or(0, |c| c.memory(&steps.result)))
        };
        let candidates = self.candidates_of(shape).unwrap_or_default();
        // As many at a time as there are threads: of one as many as there are folds and numbers of clusters.
        let threads = rayon::current_num_threads().max(2);
        let runs = |c: &Candidate| {
            let ks = if self.says_k(shape) || c.finds_k() { 1 } else { sampled.k };
            let folds = if c.reads_constraints() { self.folds } else { 1 };
            std::iter::repeat_n(of(c), folds.saturating_mul(ks).min(threads))
        };
        let mut dear: Vec<u64> = candidates.iter().flat_map(runs).collect();
        dear.sort_unstable_by(|a, b| b.cmp(a));
        let trying = dear.into_iter().take(threads).fold(0, u64::saturating_add);
        let (own, combined) = (self.consensus.as_deref(), Shape { k: sampled.k, ..*shape });
        let combining = consensus::memory(own, &combined, self.sample, candidates.len());
        // The labels and transformed data of one on all objects beside either.
        let beside = (8 * shape.entries + 4 * shape.n * (candidates.len() + 8)) as u64;
        trying.max(combining).saturating_add(beside)
    }

    fn operations(&self, shape: &Shape) -> Option<f64> {
        let sampled = self.sampled(shape);
        let candidates = self.candidates_of(shape).ok()?;
        let of = |c: &Candidate, k: usize| {
            let steps = cost_of_steps(&c.transforms, &Shape { k, ..sampled });
            // Twenty sweeps from each of ten starts where nobody says, and those of folds.
            let sweeps = 320.0 * steps.result.sweep(k);
            let one =
                c.clusterer().ok()?.operations(&steps.result).unwrap_or(sweeps) + steps.operations;
            // Most that read constraints go no further than two folds.
            Some(one * if c.reads_constraints() { 3.0 } else { 1.0 })
        };
        // All numbers of clusters are tried where nobody says one.
        let ks = if self.says_k(shape) { sampled.k..=sampled.k } else { self.k_min..=sampled.k };
        let all: f64 = ks.flat_map(|k| candidates.iter().filter_map(move |c| of(c, k))).sum();
        let consensus = self.consensus.as_ref();
        let all = all + consensus.map_or(0.0, |c| c.operations(&sampled, candidates.len()));
        Some(all + (shape.entries * self.sample) as f64 * f64::from(u8::from(shape.n > sampled.n)))
    }
}

impl Auto {
    /// What a candidate is tried on.
    fn sampled(&self, shape: &Shape) -> Shape {
        let n = shape.n.min(self.sample);
        let k =
            if self.says_k(shape) { self.k.unwrap_or(shape.k) } else { self.k_max.min(shape.n) };
        Shape { n, k, entries: shape.entries * n / shape.n.max(1), ..*shape }
    }

    /// Whether the number of clusters is known: a problem that has none says 1.
    fn says_k(&self, shape: &Shape) -> bool {
        self.k.is_some() || shape.k > 1
    }

    /// What is tried on data of this shape: sparse where not all of its entries are stored.
    fn candidates_of(&self, shape: &Shape) -> Result<Vec<Candidate>> {
        match &self.candidates {
            Some(candidates) => Ok(candidates.clone()),
            None => portfolio(shape.entries < shape.n * shape.d),
        }
    }

    fn numbers_of_clusters(&self, problem: &Problem) -> Result<RangeInclusive<usize>> {
        if self.k.or(problem.k).is_some() {
            let k = problem.require_k(self.k, "auto")?;
            return Ok(k..=k);
        }
        if self.k_min > self.k_max {
            return Err(Error::bad_param(
                "k_min",
                self.k_min,
                format!("<= k_max = {}", self.k_max),
            ));
        }
        let most = self.k_max.min(problem.n());
        Ok(self.k_min.min(most)..=most)
    }

    fn candidates_for(&self, data: &Data) -> Result<Vec<Candidate>> {
        let candidates = match &self.candidates {
            Some(candidates) => candidates.clone(),
            None => portfolio(data.kind() == DataKind::Csr)?,
        };
        if candidates.is_empty() {
            return Err(Error::bad_param("candidates", "an empty list", "at least one candidate"));
        }
        for (at, candidate) in candidates.iter().enumerate() {
            if let Some(t) = candidate.transforms.iter().find(|t| t.properties().changes_rows) {
                return Err(Error::bad_param(
                    &format!("candidates[{at}].transforms"),
                    t.typetag_name(),
                    "none that drops or merges rows: those stand before auto",
                ));
            }
        }
        Ok(candidates)
    }

    /// The consensus of the best, and what was tried.
    fn conclude(
        &self,
        mut trials: Vec<Trial<'_>>,
        problem: &Problem,
        all: &Problem,
        sample: &Sample,
        ctx: &Context,
    ) -> Result<Clustering> {
        let pairs = sample.problem.constraints.pairs();
        let scores: Vec<Option<Score>> = match pairs {
            [] => trial::stabilities(&trials),
            _ => trials.iter().map(|t| t.score(pairs)).collect(),
        };
        // Without a clustering of its own nothing can be combined.
        let ready: Vec<Option<Score>> =
            trials.iter().zip(&scores).map(|(t, s)| s.filter(|_| t.labels.is_some())).collect();
        let mut weights = weights(&ready, self.ties, self.sharpness);
        let of: Vec<usize> = trials.iter().map(|t| t.k).collect();
        let mut k = best_k(&of, &weights).unwrap_or_else(|| of.first().copied().unwrap_or(1));
        if best(&ready).is_none() {
            let fallback = self.fallback(&mut trials, &sample.problem, ctx)?;
            weights = (0..trials.len()).map(|t| f64::from(u8::from(t == fallback))).collect();
            k = trials[fallback].k;
        }
        trials.iter().zip(&mut weights).filter(|(t, _)| t.k != k).for_each(|(_, w)| *w = 0.0);
        let members = self.members(&mut trials, &mut weights, all, sample, ctx)?;
        let mut clustering = self.consensus_of(members, k, problem, all, ctx)?;
        clustering.extras.diagnostics.insert("candidates".into(), trials.len() as f64);
        let counting = weights.iter().filter(|w| **w > 0.0).count();
        clustering.extras.diagnostics.insert("combined".into(), counting as f64);
        if let Some(best) = best(&ready) {
            clustering.extras.diagnostics.insert("best_score".into(), best.value);
            clustering.extras.diagnostics.insert("score_error".into(), best.error);
        }
        if self.time_budget_seconds.is_some() {
            let late = trials.iter().filter(|t| t.is_left_out_for_time()).count();
            clustering.extras.diagnostics.insert("left_out_for_time".into(), late as f64);
        }
        let alone = counting == 1;
        clustering.extras.tried = trials
            .into_iter()
            .zip(&scores)
            .zip(weights)
            .map(|((trial, score), weight)| tried(trial, *score, weight, alone, self.folds))
            .collect();
        Ok(clustering)
    }

    /// What stands in where nothing is scored: the first candidate that gives a clustering, and first of
    /// all k-means on standardised features.
    fn fallback(&self, trials: &mut [Trial<'_>], seen: &Problem, ctx: &Context) -> Result<usize> {
        let mut order: Vec<usize> = (0..trials.len()).collect();
        order
            .sort_by_key(|&t| (trials[t].folds.is_some(), trials[t].name != "z_score + kmeans", t));
        let mut why = None;
        for t in order {
            let trial = &mut trials[t];
            if trial.labels.is_some() {
                return Ok(t);
            }
            let at = trial::place(ctx, trial.place);
            match trial::fit(trial.candidate, &trial.put(seen.clone()), &at) {
                Ok(labels) => {
                    trial.labels = Some(labels);
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
        let mut order: Vec<usize> = (0..trials.len()).filter(|&t| weights[t] > 0.0).collect();
        order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]).then(a.cmp(&b)));
        let mut members: Vec<Member> = Vec::new();
        let mut rows: Vec<u32> = vec![0; all.n()];
        for t in order {
            ctx.check()?;
            let trial = &mut trials[t];
            if let Some(labels) = trial.labels.take() {
                trial.labels = Some(sample.on_all(trial, labels, all, ctx)?);
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
        all: &Problem,
        ctx: &Context,
    ) -> Result<Clustering> {
        let ensemble = Ensemble::new(problem.n(), members)?;
        let ctx = ctx.child("consensus");
        match &self.consensus {
            Some(own) => own
                .combine(&ensemble, &problem.clone().with_k(k), &ctx)
                .map_err(|e| e.at("consensus")),
            None => consensus(&ensemble, k, problem, &all.constraints, self.trust, &ctx),
        }
    }
}

/// Candidates that promise constraints are not tried where k clusters are not known to hold all: they
/// would search for a clustering that may not be there, for every fold anew.
fn leave_out_what_cannot_hold(trials: &mut [Trial<'_>], all: &Problem) -> Result<()> {
    let closure = all.closure(OnConflict::Keep)?;
    let mut holds: BTreeMap<usize, bool> = BTreeMap::new();
    for trial in trials {
        let promises = trial.candidate.clusterer()?.properties();
        let k = trial.k;
        let feasible = |k: usize| matches!(closure.feasibility(k), Feasibility::Feasible(_));
        if (promises.hard_must || promises.hard_cannot)
            && !trial.finds_k
            && !*holds.entry(k).or_insert_with(|| feasible(k))
        {
            let why =
                format!("it promises constraints, and {k} clusters are not known to hold all");
            trial.failed = Some(why);
        }
    }
    Ok(())
}

/// A trial as it is shown.
fn tried(trial: Trial<'_>, score: Option<Score>, weight: f64, alone: bool, folds: usize) -> Tried {
    let outcome = match (&trial.failed, trial.folds) {
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
    }
}
