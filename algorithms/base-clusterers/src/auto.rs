//! Which method suits these objects and these answers?

mod choice;
mod clock;
mod conclusion;
mod consensus;
mod corrected;
mod effort;
mod folds;
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

use clock::Clock;
use conclusion::{Rules, Told};
use consensus::takes_partitions;
use folds::{folds, folds_of_objects};
pub use portfolio::{Candidate, For, portfolio};
use prepared::prepared;
use sample::Sample;
use trial::{Tests, Trial, race};

/// Tries many methods, keeps those that the constraints cannot tell from the best, and combines them.
///
/// # Method
/// Each candidate is scored by pairs it was not told: the mean of the share of must-links and the share of
/// cannot-links that it meets. Candidates that read no constraints are scored by all pairs; the others by pairs held
/// out in folds, so that no pair follows from those that are kept: must-links on a common cycle are held out
/// together, as are cannot-links between the same two components. After two folds, candidates that cannot be among
/// the best go no further. Candidates within `ties` standard errors of the difference to the best then cluster under
/// all constraints, and the consensus of their partitions is the result: average linkage of the co-association,
/// members weighted by (score / best score)^`sharpness`, constraints as evidence.
///
/// If the consensus breaks at most the share `trust` of the constraints (5 % if no constraint contradicts others), it
/// is made again and obeys all of them. If there are 20 constraints of each kind and it breaks 20 % more of them than
/// the best candidate, the best candidate is the result. Constraints marked hard always hold. If constraints
/// contradict one another, candidates are not told the weakest.
///
/// Without constraints the score of a candidate is its stability, the mean adjusted Rand index of its partition and
/// those of the other candidates. If there are more than `sample` objects, candidates cluster that many: first
/// objects with a constraint, and of these whole chains of constraints if not all fit. Each other object joins the
/// nearest centre or, if a candidate does not go by centres, the nearest object. The consensus knows all constraints;
/// if more than 4096 objects have one, it is made without them, and objects then move to obey.
///
/// The portfolio has k-means, mixtures and linkage under several scalings, and their constrained relatives under
/// these scalings and under learned metrics; data of more than 100 features are reduced to 50 principal components;
/// term vectors have methods that compare angles. `mustlink describe auto` and the manual list it.
/// # Input and output
/// n × d, dense or sparse. k clusters; if no k is given, the number in `k_min..=k_max` that has the largest sum of
/// weights; candidates that find k themselves count for the number they found. What was tried, with scores, comes with
/// the result. The diagnostic `score` is the score to expect of the best candidate on other pairs: the mean over
/// bootstrap samples in which the best is chosen again and scored by pairs that were not drawn.
/// # Errors
/// `BadK`, `TooManyClusters`; `BadParam` for a candidate that drops or merges rows, for a consensus that needs
/// more than labels, for more clusters than `sample`, and if no candidate gives a clustering;
/// `InconsistentConstraints`, `InfeasibleConstraints` of those marked hard; with `hold_out = "objects"` also
/// `ClosureTooLarge`.
/// # Cost and randomness
/// Up to folds + 1 runs of each candidate on at most `sample` objects, for those that fit into `effort` or
/// `time_budget_seconds`; then O(n · sample · d) for each of those that count. Random as the candidates are, in the
/// folds, in the sample and in the bootstrap.
/// # References
/// [VanCraenendonckBlockeel2017] for unconstrained candidates chosen by all pairs; [Pourrajabi2014] for
/// folds of constraints; [FredJain2005] for the consensus; [Tsamardinos2018] for the corrected score. Differs: the best
/// are combined, not one chosen; bridges of the must-link graph are held out alone.
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
    /// How many standard errors of the difference below the best score a candidate still counts.
    #[option(default = 1.0, min = 0.0, max = 100.0)]
    pub ties: f64,
    /// Power of the score in the weight of a candidate.
    #[option(default = 8.0, min = 0.0, max = 1000.0)]
    pub sharpness: f64,
    /// Share of the constraints that the consensus may break to be made again obeying all of them; at least 5 % if no
    /// constraint contradicts others. A `consensus` of one's own is not made again.
    #[option(default = 0.03, min = 0.0, max = 1.0)]
    pub trust: f64,
    /// Objects that candidates are tried on, where there are more.
    #[option(default = 3000, min = 10, inert = "more objects than small problems have")]
    pub sample: usize,
    /// Seconds of processor time that the candidates may take by estimate. The most expensive are left out, and a
    /// warning names them; the result does not depend on the clock.
    #[option(default = 30.0, min = 0.0, max = 1e12, inert = "only with expensive candidates")]
    pub effort: f64,
    /// Seconds after which no candidate is tried any more, in place of `effort`; absent: no limit. The best
    /// candidate so far is fitted in any case, which may take longer. With a time limit, the same seed may give a
    /// different result.
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
        if self.time_budget_seconds.is_none()
            && let Some(warning) = effort::leave_out(&mut trials, self.effort)
        {
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
        let folds = match self.hold_out {
            HoldOut::Pairs => folds(&seen.constraints, seen.n(), known, self.folds, &mut stream)?,
            HoldOut::Objects => folds_of_objects(seen.constraints.pairs(), self.folds, &mut stream),
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
        // All numbers of clusters are tried if none is given.
        let ks = if self.says_k(shape) { sampled.k..=sampled.k } else { self.k_min..=sampled.k };
        let cost = |c: &Candidate| -> f64 {
            ks.clone().map(|k| c.operations(&Shape { k, ..sampled })).sum()
        };
        let mut costs: Vec<f64> = candidates.iter().map(cost).collect();
        costs.sort_by(f64::total_cmp);
        let all: f64 = costs[..effort::affordable(&costs, self.effort)].iter().sum();
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

    /// What is tried on data of this shape, which is sparse unless all of its entries are stored.
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
                format!("<= k_max = {}", self.k_max),
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
                    "none that drops or merges rows: those stand before auto",
                ));
            }
        }
        Ok(candidates)
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
            trial.left_out = Some(why);
        }
    }
    Ok(())
}
