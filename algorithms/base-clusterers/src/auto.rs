//! The method that tries many others and combines those that suit the data and the constraints.

mod choice;
mod clock;
mod conclusion;
mod consensus;
mod corrected;
mod effort;
mod portfolio;
mod prepared;
mod sample;
#[cfg(test)]
mod tests;
mod told;
mod trial;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use mustlink_core::closure::Feasibility;
use mustlink_core::prelude::*;
use mustlink_core::roles::cost_of_steps;
use mustlink_kernels::constrained::pair_folds::{folds, folds_of_objects};

use clock::Clock;
use conclusion::{Rules, Told};
use consensus::takes_partitions;
pub use portfolio::{Candidate, For, portfolio};
use prepared::prepared;
use sample::Sample;
use trial::{Tests, Trial, race};

/// Tries many methods, keeps those that the constraints cannot distinguish from the best, and combines them.
///
/// # Method
/// Each candidate is scored on held-out pairs: the mean of the share of must-links and the share of cannot-links that
/// it satisfies. Candidates that use no constraints are scored on all pairs. The others are scored on pairs held out in
/// folds, in which no held-out pair follows from those that are kept. Must-links on a common cycle are therefore held
/// out together, as are cannot-links between the same two components. After two folds, candidates that cannot be
/// among the best are dropped. Candidates within `ties` standard errors of the difference to the best then cluster
/// under all constraints. The result is the consensus of their partitions: average linkage of the co-association,
/// with members weighted by (score / best score)^`sharpness`, and constraints as evidence.
///
/// If the consensus breaks at most the share `trust` of the constraints (5 %, or 3 % if some contradict others), it is
/// made again and obeys all of them, if k clusters can hold them. If there are at least 20 constraints of each kind,
/// and it breaks more than the best candidate by over 20 % of all constraints, the best candidate is the result.
/// Constraints marked hard always hold. If constraints contradict each other, candidates do not get the weakest one.
///
/// Without constraints the score of a candidate is its stability, the mean adjusted Rand index of its partition and
/// those of the other candidates. If there are more than `sample` objects, candidates cluster a sample of this size. It
/// contains objects with a constraint first; if not all of these fit, it follows chains of constraints one after the
/// other. Each other object joins the nearest centre or, if a candidate does not use centres, the nearest object. The
/// consensus uses all constraints. If more than 4096 objects have one, it is made without them, and objects then move
/// to obey.
///
/// The portfolio has k-means, mixtures and linkage under several scalings, and their constrained relatives under
/// these scalings and under learned metrics. Data of more than 100 features are reduced to 50 principal components.
/// For term vectors there are methods that compare angles. `mustlink describe auto` and the manual list it.
/// # Input and output
/// n × d, dense or sparse. k clusters; if no k is given, the number from `k_min` to `k_max` that has the largest sum of
/// weights; candidates that find k themselves count for the number they found. A warning lists the numbers that fit
/// equally well. The result lists the candidates with their scores. The diagnostic `score` is the expected score of
/// the best candidate on other pairs. It is the mean over bootstrap samples in which the best is chosen again and
/// scored on pairs that were not drawn. With more constraints than half the objects, a result under all of them is
/// better than the parts of it that can be scored. A lower bound is then `score_at_least`, two standard errors below
/// `score`.
/// # Errors
/// `BadK`, `TooManyClusters`; `BadParam` for a candidate that drops or merges rows, for a consensus that needs more
/// than labels, for more clusters than `sample`, and if no candidate gives a clustering; `InconsistentConstraints`,
/// `InfeasibleConstraints` for constraints marked hard; with `hold_out = "objects"` also `ClosureTooLarge`.
/// # Cost and randomness
/// Up to folds + 1 runs of each candidate on at most `sample` objects, for those that fit into `effort` or
/// `time_budget_seconds`; then O(n · sample · d) for each candidate in the result. Random as the candidates are, in
/// the folds, in the sample and in the bootstrap.
/// # References
/// [VanCraenendonckBlockeel2017] for unconstrained candidates chosen by all pairs; [Pourrajabi2014] for folds of
/// constraints; [FredJain2005] for the consensus; [Tsamardinos2018] for the corrected score. Differs: the best
/// candidates are combined instead of choosing one; bridges of the must-link graph are held out alone.
#[options]
pub struct Auto {
    /// Number of clusters. If absent, the k of the problem, otherwise a number between the next two.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Smallest number of clusters tried if k is not given.
    #[option(
        default = 2,
        min = 1,
        max = 1000,
        inert = "it matters only if no number of clusters is given"
    )]
    pub k_min: usize,
    /// Largest number of clusters tried if k is not given; at most n.
    #[option(
        default = 8,
        min = 1,
        max = 1000,
        inert = "it matters only if no number of clusters is given"
    )]
    pub k_max: usize,
    /// Candidates to try, each as `{ transforms, clusterer }`. If absent, the portfolio above.
    #[option(absent = portfolio::written_out(), laws = portfolio::of_laws())]
    pub candidates: Option<Vec<Candidate>>,
    /// Estimated processor time that the candidates may take, in seconds. The most expensive ones are left out, with
    /// a warning; the result does not depend on the clock.
    #[option(
        default = 30.0,
        min = 0.0,
        max = 1e12,
        inert = "it matters only with expensive candidates"
    )]
    pub effort: f64,
    /// Seconds after which no further candidate is tried, instead of `effort`. If absent, no limit. The best
    /// candidate so far is fitted in any case, which may take longer. With a time limit, the same seed may give a
    /// different result.
    #[option(min = 0.0)]
    pub time_budget_seconds: Option<f64>,
    /// Consensus function that combines the tied candidates. If absent, evidence accumulation as above.
    #[option(absent = portfolio::own_consensus())]
    pub consensus: Option<Box<dyn ConsensusFunction>>,
    /// Number of parts of the constraints that are held out in turn.
    #[option(default = 5, min = 2, max = 1000)]
    pub folds: usize,
    /// Units that are distributed over the parts.
    pub hold_out: HoldOut,
    /// Largest distance of a tied candidate from the best score, in standard errors of the difference.
    #[option(default = 1.0, min = 0.0, max = 100.0)]
    pub ties: f64,
    /// Power of the score in the weight of a candidate.
    #[option(default = 8.0, min = 0.0, max = 1000.0)]
    pub sharpness: f64,
    /// Largest share of broken constraints with which the consensus is made again to obey all of them. If absent, 0.05,
    /// or 0.03 if some constraints contradict others. A `consensus` given by the user is not made again.
    #[option(min = 0.0, max = 1.0)]
    pub trust: Option<f64>,
    /// Number of objects on which candidates are tried, if there are more.
    #[option(default = 3000, min = 10, inert = "more objects than small problems have")]
    pub sample: usize,
}

/// Units of constraints that are held out to judge candidates.
#[options]
pub enum HoldOut {
    /// Pairs; those that follow from each other are held out together.
    #[default]
    Pairs,
    /// Objects, as in CVCP [Pourrajabi2014]. The closure of all constraints is split: candidates are judged on pairs of
    /// two held-out objects, and get the pairs without a held-out object; the other pairs are not used. A fifth of the
    /// objects has a twenty-fifth of random pairs between them.
    Objects,
}

#[plugin(
    "auto",
    cites = ["VanCraenendonckBlockeel2017", "Pourrajabi2014", "FredJain2005", "Tsamardinos2018"],
    version = 2
)]
impl BaseClusterer for Auto {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let clock = Clock::new(self.time_budget_seconds);
        let ks = self.numbers_of_clusters(problem)?;
        // What is refused for what it needs is refused before anything is tried.
        self.candidates_for(&problem.data)?;
        self.consensus.as_deref().map_or(Ok(()), |own| takes_partitions(own, problem.n()))?;
        let known = (ks.start() == ks.end()).then_some(*ks.start());
        if known.is_some_and(|k| self.sample < k.min(problem.n())) {
            let legal = format!("at least the number of clusters, {}", ks.start());
            return Err(Error::bad_param("sample", self.sample, legal));
        }
        let ks = told::that_may_hold(&problem.constraints, problem.n(), ks)?;
        let mut told = told::told(&problem.constraints, problem.n(), known)?;
        let is_all = told.len() == problem.constraints.len();
        if self.hold_out == HoldOut::Objects {
            told = told::closed(&told, problem.n())?;
        }
        if let Some(warning) = told::one_sided(&told, known) {
            ctx.warn(warning);
        }
        let told = Told { all: problem.clone().with_constraints(told), is_all };
        let all = &told.all;
        let sample = Sample::new(all, self.sample, &mut ctx.stream("sample"));
        let seen = &sample.problem;
        let candidates = self.candidates_for(&seen.data)?;
        let names = portfolio::names(&candidates);
        let count = seen.constraints.len();
        let (first, last) = (*ks.start(), *ks.end());
        let attempts = self.attempts_of(&candidates, ks.clone(), &seen.shape());
        let mut trials: Vec<Trial> = ks
            .flat_map(|k| (0..candidates.len()).map(move |c| (k, c)))
            .filter(|&(k, c)| k == first || !candidates[c].finds_k())
            .map(|(k, c)| Trial {
                finds_k: known.is_none() && candidates[c].finds_k(),
                operations: candidates[c].operations(&Shape { k, ..seen.shape() }),
                ..Trial::new((&candidates[c], &names[c]), c, k, count)
            })
            .collect();
        leave_out_what_cannot_hold(&mut trials, all)?;
        if let Some(warning) = effort::leave_out(&mut trials, &attempts) {
            ctx.warn(warning);
        }
        if count == 0 && trials.iter().any(|t| t.folds.is_none()) {
            // What reads constraints has nothing to read.
            trials.retain(|t| t.folds.is_none());
        } else if count == 0 {
            // Where all do, nothing is held back from them.
            trials.iter_mut().for_each(|t| t.folds = None);
        }
        let mut stream = ctx.stream("folds");
        let pairs = seen.constraints.pairs();
        let folds = match self.hold_out {
            HoldOut::Pairs => folds(pairs, &[], seen.n(), known, self.folds, &mut stream)?,
            HoldOut::Objects => folds_of_objects(pairs, self.folds, &mut stream),
        };
        let prepared = prepared(&candidates, seen, ctx)?;
        let tests = Tests { problem: seen, prepared: &prepared, folds: &folds };
        race(&mut trials, &tests, self.ties, &clock, ctx)?;
        trials.iter_mut().for_each(Trial::take_found_k);
        let late = trials.iter().filter(|t| t.is_left_out_for_time()).count();
        if late > 0 {
            ctx.warn(format!(
                "{late} of {} candidates were left out because time ran out; the same seed may give a different result",
                trials.len()
            ));
        }
        let stopped = ctx.keeps_best() && ctx.is_cancelled();
        if stopped && trials.iter().all(|t| t.labels.is_none()) {
            return Err(Error::Cancelled);
        }
        let ctx = &if stopped { ctx.finishing() } else { ctx.clone() };
        let rules = Rules {
            ties: self.ties,
            sharpness: self.sharpness,
            trust: self.trust,
            folds: self.folds,
            is_limited: self.time_budget_seconds.is_some(),
            consensus: self.consensus.as_deref(),
        };
        let mut made = rules.conclude(trials, problem, &told, &sample, &tests, ctx)?;
        if stopped {
            made.status = Status::Stopped;
        }
        if known.is_none() && made.k == last && last < problem.n() {
            ctx.warn(format!(
                "the largest number of clusters tried, {last}, fits best; set k_max = {} to try more",
                2 * last
            ));
        }
        Ok(made)
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
            ..Properties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let sampled = self.sampled(shape);
        let candidates = self.candidates_of(shape).unwrap_or_default();
        // As many at a time as there are threads: of one as many as there are folds and numbers of clusters.
        let threads = rayon::current_num_threads().max(2);
        let runs = |c: &Candidate| {
            let ks = if self.says_k(shape) || c.finds_k() { 1 } else { sampled.k };
            let folds = if c.reads_constraints() { self.folds } else { 1 };
            std::iter::repeat_n(memory_of(c, &sampled), folds.saturating_mul(ks).min(threads))
        };
        let mut dear: Vec<u64> = candidates.iter().flat_map(runs).collect();
        dear.sort_unstable_by(|a, b| b.cmp(a));
        let trying = dear.into_iter().take(threads).fold(0, u64::saturating_add);
        let (own, combined) = (self.consensus.as_deref(), Shape { k: sampled.k, ..*shape });
        let combining = consensus::memory(own, &combined, self.sample, candidates.len());
        // Also the labels and transformed data of one on all objects, and the copies of the sample that were prepared.
        let labels = 4 * shape.n * (candidates.len() + 8);
        let more = (8 * shape.entries + labels + 40 * sampled.entries) as u64;
        trying.max(combining).saturating_add(more)
    }

    fn operations(&self, shape: &Shape) -> Option<f64> {
        let sampled = self.sampled(shape);
        let attempts = self.attempts(shape);
        let tried = attempts.iter().filter(|a| !a.left_out).map(|a| a.operations);
        let consensus = self.consensus.as_ref();
        let combining = consensus.map_or(0.0, |c| c.operations(&sampled, attempts.len()));
        let placing = if shape.n > sampled.n { (shape.entries * self.sample) as f64 } else { 0.0 };
        Some(tried.sum::<f64>() + combining + placing)
    }

    fn attempts(&self, shape: &Shape) -> Vec<Attempt> {
        let sampled = self.sampled(shape);
        // All numbers of clusters are tried if none is given.
        let ks = if self.says_k(shape) { sampled.k..=sampled.k } else { self.k_min..=sampled.k };
        self.attempts_of(&self.candidates_of(shape).unwrap_or_default(), ks, &sampled)
    }
}

impl Auto {
    /// The candidates with their costs on data of this shape, the cheapest first. The most expensive are left out.
    fn attempts_of(
        &self,
        candidates: &[Candidate],
        ks: RangeInclusive<usize>,
        shape: &Shape,
    ) -> Vec<Attempt> {
        let operations = |c: &Candidate| -> f64 {
            let ks = if c.finds_k() { *ks.start()..=*ks.start() } else { ks.clone() };
            ks.map(|k| c.operations(&Shape { k, ..*shape })).sum()
        };
        let names = portfolio::names(candidates);
        let attempt = |(candidate, name): (&Candidate, String)| Attempt {
            name,
            operations: operations(candidate),
            memory: memory_of(candidate, &Shape { k: *ks.end(), ..*shape }),
            left_out: false,
        };
        let mut attempts: Vec<Attempt> = candidates.iter().zip(names).map(attempt).collect();
        attempts.sort_by(|a, b| a.operations.total_cmp(&b.operations));
        if self.time_budget_seconds.is_none() {
            let costs: Vec<f64> = attempts.iter().map(|a| a.operations).collect();
            let expensive = &mut attempts[effort::affordable(&costs, self.effort)..];
            expensive.iter_mut().for_each(|a| a.left_out = true);
        }
        attempts
    }

    /// Shape of the sample on which candidates are tried.
    fn sampled(&self, shape: &Shape) -> Shape {
        let n = shape.n.min(self.sample);
        let k =
            if self.says_k(shape) { self.k.unwrap_or(shape.k) } else { self.k_max.min(shape.n) };
        Shape { n, k, entries: shape.entries * n / shape.n.max(1), ..*shape }
    }

    /// True if the number of clusters is known; a problem without one has the shape of k = 1.
    fn says_k(&self, shape: &Shape) -> bool {
        self.k.is_some() || shape.k > 1
    }

    /// Candidates for data of this shape, which is sparse unless all of its entries are stored.
    fn candidates_of(&self, shape: &Shape) -> Result<Vec<Candidate>> {
        match &self.candidates {
            Some(candidates) => Ok(candidates.clone()),
            None => portfolio(if shape.entries < shape.n * shape.d {
                For::Sparse
            } else {
                For::dense(shape.d)
            }),
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
                format!("at most k_max = {}", self.k_max),
            ));
        }
        let most = self.k_max.min(problem.n());
        Ok(self.k_min.min(most)..=most)
    }

    fn candidates_for(&self, data: &Data) -> Result<Vec<Candidate>> {
        let candidates = match &self.candidates {
            Some(candidates) => candidates.clone(),
            None => portfolio(match data.kind() {
                DataKind::Csr => For::Sparse,
                _ => For::dense(data.d()),
            })?,
        };
        if candidates.is_empty() {
            return Err(Error::bad_param("candidates", "an empty list", "at least one candidate"));
        }
        for (at, candidate) in candidates.iter().enumerate() {
            if let Some(t) = candidate.transforms.iter().find(|t| t.properties().changes_rows) {
                return Err(Error::bad_param(
                    &format!("candidates[{at}].transforms"),
                    t.typetag_name(),
                    "without those that drop or merge rows; put these before auto",
                ));
            }
        }
        Ok(candidates)
    }
}

/// Bytes of one run of a candidate on data of this shape.
fn memory_of(candidate: &Candidate, shape: &Shape) -> u64 {
    let steps = cost_of_steps(&candidate.transforms, shape);
    steps.memory.max(candidate.clusterer().map_or(0, |c| c.memory(&steps.result)))
}

/// Leaves out candidates that promise constraints if k clusters are not known to hold all of them: they would search
/// in every fold for a clustering that may not exist.
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
            trial.left_out = Some(why);
        }
    }
    Ok(())
}
