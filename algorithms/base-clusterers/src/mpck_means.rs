//! MPCK-means: costs of constraints, and a metric that is learned with the clusters.

mod learner;

use std::collections::HashSet;

use mustlink_core::clustering::partition_hash;
use mustlink_core::prelude::*;
use mustlink_kernels::constrained::constraint_groups::Entail;
use mustlink_kernels::constrained::distance_costs::MetricPenalties;
use mustlink_kernels::constrained::icm::visit;
use mustlink_kernels::constrained::mahalanobis::{Metric, Singular};
use mustlink_kernels::constrained::penalised_kmeans::{
    PenalisedKMeans, PenaltyOptions, SoftInit, SoftOptions, SoftRules, auto_weight, fitted_weight,
};
use mustlink_kernels::distance::points::{Distortion, Points};
use mustlink_kernels::kmeans::lloyd::{Empty, lloyd};
use mustlink_kernels::kmeans::means::means;
use mustlink_kernels::kmeans::seeding::Init;
use ndarray::Array2;

use learner::{Learner, MetricOptions, sizes_of};

use crate::pck_means::sweeps;

pub use learner::MaxPair;

/// Form of the metrics that are learned.
#[options]
pub enum MetricForm {
    /// One weight per feature, the same for all clusters.
    #[default]
    SingleDiag,
    /// One weight per feature and cluster.
    MultiDiag,
    /// One full matrix for all clusters.
    SingleFull,
    /// One full matrix per cluster.
    MultiFull,
    /// No metric: broken constraints cost their weight, as in pairwise-constrained k-means.
    None,
}

/// Metric pairwise-constrained k-means: learns from objects and constraints how features count.
///
/// # Method
/// Minimises Σ (‖x − µ‖²_A − log det A) plus the cost of broken constraints. A broken must-link costs w times the
/// squared length of its difference (the mean under both clusters' metrics). A broken cannot-link costs w̄ times the
/// amount by which the squared length of its difference is below that of the largest difference. Each round visits
/// the constrained objects one by one, then updates the means, then the metrics A = n·B⁻¹ from the scatter B of
/// members and violations. With `max_pair = "box"` the objective never rises after the first round; otherwise the
/// best round counts.
/// # Input and output
/// n × d dense (`metric = "none"` also sparse), constraints of any weight. One label per object in `0..k`, k centres,
/// feature weights (diagonal) or matrices (full).
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `BadParam` for `max_pair = "box"` with full metrics;
/// `InconsistentConstraints` only if `on_conflict = "error"`; `HardNotSupported` for constraints marked hard;
/// `ClosureTooLarge` for unequal weights whose closure must be expanded, `Memory` if that exceeds the memory limit;
/// `NumericalFailure` for a scatter without eigenvalues.
/// # Cost and randomness
/// A round is O(n·k·d) diagonal, O(n·d² + n·k·d + d³) with one matrix, O(n·k·d² + k·d³) with k. Constraints add
/// O(k·d) per constrained object. As long as all constraints of a kind weigh the same, pairs of the closure are never
/// listed; otherwise each pair takes 130 bytes. `exact` adds O(n²·d) per metric. Random: as in
/// pairwise-constrained k-means.
/// # References
/// [Bilenko2004] eq. 3–6, figure 1; [Eaton2005] §2.6. Differs: by default the largest difference is that of the box
/// around the data, as in the authors' program; this keeps the objective falling.
#[options]
pub struct MpckMeans {
    /// Number of clusters, at most n. If absent, the k of the problem.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Form of the metrics that are learned.
    pub metric: MetricForm,
    /// Cost of a broken must-link of weight 1 (w), per squared distance. "auto": ½ for must-links; for cannot-links
    /// the mean distortion that k-means reaches, divided by the square of the largest difference. A broken constraint
    /// then costs about as much as one object.
    #[option(default = AutoOr::Auto, min = 0.0)]
    pub weight: AutoOr<f64>,
    /// Cost of a broken cannot-link of weight 1 (w̄). If absent, the same as `weight`.
    #[option(min = 0.0)]
    pub weight_cannot: Option<AutoOr<f64>>,
    /// Learn the metrics. If false, broken constraints still cost by distance, under the Euclidean metric.
    #[option(default = true)]
    pub learn_metric: bool,
    /// Learn the metrics also without constraints (metric-learning k-means).
    #[option(default = true)]
    pub learn_without_constraints: bool,
    /// Difference that counts as the largest. If absent, `box` for diagonal metrics and `farthest_cl` for full ones.
    pub max_pair: Option<MaxPair>,
    /// Extend the box to contain the origin too, as the authors' program does.
    // Data that lie far out are seen around their middle, and it is that of the box already.
    pub box_includes_origin: bool,
    /// Factor of log det A. With diagonal metrics it changes no label after the first round.
    #[option(default = 1.0, above = 0.0, max = 1e100)]
    pub log_weight: f64,
    /// Smallest scatter that counts: of a feature relative to the mean variance, of a direction relative to the
    /// largest.
    #[option(default = 1e-9, above = 0.0, max = 0.01)]
    pub floor_relative: f64,
    /// Treatment of a scatter that is smaller.
    pub singular: Singular,
    /// Options for the cost of constraints and the start of clusters.
    #[option(flatten)]
    pub rules: SoftRules,
    /// Options shared by all methods that penalise broken constraints.
    #[option(flatten)]
    pub shared: PenaltyOptions,
}

#[plugin("mpck_means", aliases = ["mpck", "mpckmeans"], cites = ["Bilenko2004", "Eaton2005"], version = 3)]
impl BaseClusterer for MpckMeans {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let k = problem.require_k(self.k, "mpck_means")?;
        self.check()?;
        let soft = PenalisedKMeans::new(self.soft(), problem, sweeps, ctx)?;
        let points = Points::new(&problem.data, Distortion::SquaredEuclidean)?;
        let start = |ctx: &Context| soft.start(&points, k, problem, ctx);
        if self.metric == MetricForm::None {
            let links = soft.links(k, || fitted_weight(&points, k, ctx).map(|w| (w, w)))?;
            return soft.best(|ctx| sweeps(&soft, &points, &links, 1.0, start(ctx)?, ctx), ctx);
        }
        let links = soft.links(k, || self.auto(&points, k, &soft, ctx))?;
        let free = links.objects().is_empty();
        let learn = self.learn_metric && (self.learn_without_constraints || !free);
        if free && !learn {
            let (stop, empty) = (self.shared.stop(), self.rules.empty);
            return soft.best(|ctx| lloyd(&points, start(ctx)?.0, stop, empty, ctx), ctx);
        }
        let learner = Learner::new(self.metric_options(learn), &points, &soft, links);
        let metrics = self.first_metrics(problem, k);
        soft.best(|ctx| learner.run(start(ctx)?, metrics.clone(), ctx), ctx)
    }

    fn properties(&self) -> Properties {
        let accepts = match self.metric {
            MetricForm::None => vec![DataKind::Dense, DataKind::Csr],
            _ => vec![DataKind::Dense],
        };
        Properties {
            accepts,
            needs_k: self.k.is_none(),
            reads_constraints: true,
            reads_groups: matches!(self.rules.entail, Entail::Full | Entail::Off)
                && self.max_pair() != MaxPair::FarthestCl,
            soft_weights: true,
            hard_as_soft: self.shared.hard_as_soft.is_some(),
            gives_centers: true,
            learns_weights: true,
            ..Properties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let shape = &Shape { k: self.k.unwrap_or(shape.k), ..*shape };
        let Shape { n, d, k, constraints, .. } = *shape;
        let constrained = (2 * constraints).min(n);
        let metrics = if self.is_multi() { k } else { 1 };
        let of_metric = if self.is_full() { d * d } else { d };
        // Labels, centres and metrics.
        let learned = if self.is_full() { metrics * of_metric } else { k * d };
        let result = 4 * n + 8 * (k * d + learned);
        // Centres, and as each metric sees them; distances, positions under each metric; at most two sums for each
        // object, its own and its group's.
        let working = 24 * k * d
            + 8 * metrics * k * d
            + 8 * constrained * (k + (5 + metrics) * d + 2 * metrics)
            + 350 * constrained
            + 32 * metrics * of_metric;
        let starts = self.soft().memory_of_starts((constrained, k, d), result, working);
        (60 * n + 100 * constraints + starts) as u64
    }
}

impl MpckMeans {
    fn is_full(&self) -> bool {
        matches!(self.metric, MetricForm::SingleFull | MetricForm::MultiFull)
    }

    fn is_multi(&self) -> bool {
        matches!(self.metric, MetricForm::MultiDiag | MetricForm::MultiFull)
    }

    fn max_pair(&self) -> MaxPair {
        self.max_pair.unwrap_or(if self.is_full() { MaxPair::FarthestCl } else { MaxPair::Box })
    }

    /// Weights with which a broken constraint of either kind costs about what an object pays on
    /// average by itself. Objects of one cluster are on average twice that apart: ½ for must-links.
    fn auto(
        &self,
        points: &Points,
        k: usize,
        soft: &PenalisedKMeans,
        ctx: &Context,
    ) -> Result<(f64, f64)> {
        let own = auto_weight(points, k, ctx)?;
        let euclidean = Metric::identity(false, points.d());
        let links = soft.links(k, || Ok((0.0, 0.0)))?;
        let span = Learner::new(self.metric_options(true), points, soft, links)
            .spans(std::slice::from_ref(&euclidean), None, ctx)?
            .swap_remove(0);
        let reach = euclidean.square(&span);
        Ok((0.5, if reach > 0.0 { own / reach } else { 0.5 }))
    }

    /// The metrics of an earlier clustering that is the start, where it has those learned here; else
    /// Euclidean ones.
    fn first_metrics(&self, problem: &Problem, k: usize) -> Vec<Metric> {
        let (full, d) = (self.is_full(), problem.d());
        let count = if self.is_multi() { k } else { 1 };
        let euclidean = || vec![Metric::identity(full, d); count];
        let extras = match problem.start.as_deref() {
            Some(Start::Clustering(c)) if self.rules.init == Some(SoftInit::Plain(Init::Given)) => {
                &c.extras
            }
            _ => return euclidean(),
        };
        let found: Option<Vec<Metric>> = match (full, &extras.weights, &extras.metrics) {
            (false, Some(w), _) if w.dim() == (k, d) => {
                Some((0..count).map(|h| Metric::Diagonal(w.row(h).to_vec())).collect())
            }
            (true, _, Some(all)) if all.len() == count => {
                all.iter().map(|matrix| Metric::from_matrix(matrix.clone())).collect()
            }
            _ => None,
        };
        found.unwrap_or_else(euclidean)
    }

    fn check(&self) -> Result<()> {
        let legal = "\"exact\" or \"farthest_cl\" with a full metric";
        match self.max_pair {
            Some(MaxPair::Box) if self.is_full() => {
                Err(Error::bad_param("max_pair", "\"box\"", legal))
            }
            Some(MaxPair::Cluster) if self.is_full() => {
                Err(Error::bad_param("max_pair", "\"cluster\"", legal))
            }
            _ => Ok(()),
        }
    }

    fn metric_options(&self, learn: bool) -> MetricOptions {
        MetricOptions {
            full: self.is_full(),
            max_pair: self.max_pair(),
            box_includes_origin: self.box_includes_origin,
            log_weight: self.log_weight,
            floor_relative: self.floor_relative,
            singular: self.singular,
            learn,
        }
    }

    fn soft(&self) -> SoftOptions {
        SoftOptions {
            weight: self.weight,
            weight_cannot: self.weight_cannot,
            rules: self.rules,
            shared: self.shared,
        }
    }
}

/// A round that may turn out to be the best.
type Round = (f64, Vec<u32>, Array2<f64>, Vec<Metric>);

impl Learner<'_> {
    /// MPCK-means from one start, [Bilenko2004] fig. 1: from centres, labels and metrics.
    ///
    /// # Errors
    /// `NumericalFailure` for a scatter without eigenvalues; cancellation.
    fn run(
        &self,
        start: (Array2<f64>, Vec<u32>),
        mut metrics: Vec<Metric>,
        ctx: &Context,
    ) -> Result<Clustering> {
        let SoftOptions { rules, shared, .. } = self.soft.options;
        let empty = rules.empty;
        let (stop, order) = (shared.stop(), shared.order);
        // 1: centres from the neighbourhoods, no feature weighs more than another.
        let (mut centres, mut labels) = start;
        let k = centres.nrows();
        let mut spans = self.spans(&metrics, None, ctx)?;
        let mut penalties = MetricPenalties::new(&self.links, self.points.data(), k);
        let monotone = self.options.max_pair == MaxPair::Box;
        let mut best: Option<Round> = None;
        let mut seen = HashSet::new();
        let mut history: Vec<IterStat> = Vec::new();
        let mut status = Status::MaxIter;
        // 2: until convergence.
        for round in 0..stop.max_iterations {
            ctx.check()?;
            // 2a, assign_cluster: those in no constraint at once, the others one by one.
            penalties.set(&metrics, &spans, &labels);
            let (mut moved, own) = self.assign(&centres, &metrics, &mut labels);
            moved += visit(&mut penalties, &own, k, &mut labels, order, round, ctx);
            // 2b, estimate_means.
            let sizes;
            (centres, sizes) = means(self.points, &labels, centres);
            if sizes.contains(&0) && empty != Empty::Keep {
                moved += self.refill(&mut centres, &metrics, &mut labels, &mut penalties)?;
            }
            // 2c, update_metrics: from the scatter of clusters and of broken constraints.
            let (violated, violations) = penalties.scatter(&labels);
            let scatter = self.scatter(&labels, &centres, violated);
            let sizes = sizes_of(&labels, k);
            if self.options.learn {
                metrics = self.update(&scatter, &sizes, &metrics)?;
            }
            // The objective, and whether it still falls.
            let objective = self.objective(&metrics, &scatter, &sizes);
            let before = history.last().map(|s| s.objective);
            history.push(IterStat { objective, moved, violations: Some(violations) });
            let rises = before.is_some_and(|b| objective > b);
            if !monotone && best.as_ref().is_none_or(|b| objective < b.0) {
                best = Some((objective, labels.clone(), centres.clone(), metrics.clone()));
            }
            let stands = before.is_some_and(|b| stop.is_over(b, objective));
            if moved == 0 || (stands && (monotone || !rises)) {
                status = Status::Converged;
                break;
            }
            if !monotone && !seen.insert(partition_hash(&labels)) && rises {
                status = Status::Cycle;
                break;
            }
            spans = self.spans(&metrics, Some(&labels), ctx)?;
        }
        if let Some(round) = best {
            ends_at_best(round, &mut labels, &mut centres, &mut metrics, &mut history);
        }
        Ok(self.made(labels, centres, metrics, history, status))
    }
}

/// If the objective may rise, the result may be an earlier round: it ends the history.
fn ends_at_best(
    (objective, found, at, under): Round,
    labels: &mut Vec<u32>,
    centres: &mut Array2<f64>,
    metrics: &mut Vec<Metric>,
    history: &mut Vec<IterStat>,
) {
    if history.last().is_none_or(|last| last.objective <= objective) {
        return;
    }
    let round = history.iter().position(|s| s.objective == objective);
    history.truncate(round.map_or(history.len(), |r| r + 1));
    (*labels, *centres, *metrics) = (found, at, under);
}

#[cfg(test)]
mod tests {
    use super::learner::dense;
    use super::*;
    use crate::kmeans::KMeans;
    use crate::pck_means::PckMeans;
    use mustlink_core::closure::EntailedWeight;
    use mustlink_kernels::constrained::icm::Order;
    use mustlink_kernels::kmeans::lloyd::Empty;
    use mustlink_laws::fixtures;
    use ndarray::{Array2, Axis, array};
    use proptest::prelude::*;

    /// With the weight of the papers' examples, 1.
    fn from(init: Init) -> SoftRules {
        SoftRules { init: Some(SoftInit::Plain(init)), ..SoftRules::default() }
    }

    fn plain() -> MpckMeans {
        MpckMeans { weight: AutoOr::Value(1.0), ..MpckMeans::default() }
    }

    fn run(method: &impl BaseClusterer, problem: &Problem, seed: u64) -> Clustering {
        method.cluster(problem, &Context::new(seed)).unwrap()
    }

    /// True constraints, of which the first `wrong` are turned round.
    fn random_problem(seed: u64, pairs: usize, wrong: usize) -> Problem {
        let (p, classes) = fixtures::dense(seed);
        let mut all = fixtures::true_constraints(&classes, pairs, seed).pairs().to_vec();
        for c in all.iter_mut().take(wrong) {
            c.kind = if c.kind == Kind::MustLink { Kind::CannotLink } else { Kind::MustLink };
        }
        p.with_constraints(Constraints::new(45, all).unwrap())
    }

    fn expanded(problem: &Problem) -> Problem {
        let n = problem.n();
        let closure = Closure::new(&problem.constraints, n, OnConflict::Keep).unwrap();
        let pairs = closure.pairs(EntailedWeight::Bottleneck, 1_000_000).unwrap();
        problem.clone().with_constraints(Constraints::new(n, pairs).unwrap())
    }

    /// The matrix of every cluster.
    fn matrices(c: &Clustering) -> Vec<Array2<f64>> {
        match (&c.extras.weights, &c.extras.metrics) {
            (Some(w), _) => w.rows().into_iter().map(|r| Array2::from_diag(&r)).collect(),
            (_, Some(m)) if m.len() == 1 => vec![m[0].clone(); c.k],
            (_, Some(m)) => m.clone(),
            _ => panic!("a metric"),
        }
    }

    /// J as printed, pair by pair, under the box.
    fn slow_objective(method: &MpckMeans, problem: &Problem, c: &Clustering) -> f64 {
        let x = problem.data.to_dense();
        let a = matrices(c);
        let centres = c.extras.centers.as_ref().unwrap();
        let square = |d: &ndarray::Array1<f64>, h: u32| d.dot(&a[h as usize].dot(d));
        let log_det = |h: u32| a[h as usize].diag().iter().map(|v| v.ln()).sum::<f64>();
        let low = x.fold_axis(Axis(0), f64::INFINITY, |a, b| a.min(*b));
        let high = x.fold_axis(Axis(0), f64::NEG_INFINITY, |a, b| a.max(*b));
        let r = &high - &low;
        let mut j = 0.0;
        for (i, &h) in c.labels.iter().enumerate() {
            let d = &x.row(i) - &centres.row(h as usize);
            j += square(&d, h) - method.log_weight * log_det(h);
        }
        let AutoOr::Value(w) = method.weight else { panic!("tests name their weight") };
        for p in expanded(problem).constraints.pairs().iter().filter(|p| p.is_violated(&c.labels)) {
            let d = &x.row(p.i as usize) - &x.row(p.j as usize);
            let (g, h) = (c.labels[p.i as usize], c.labels[p.j as usize]);
            j += w
                * p.weight
                * match p.kind {
                    Kind::MustLink => 0.5 * square(&d, g) + 0.5 * square(&d, h),
                    Kind::CannotLink => square(&r, h) - square(&d, h),
                };
        }
        j
    }

    #[test]
    fn worked_example() {
        // Two groups along the first feature; the second is noise of the same width. Without
        // constraints A is n over the scatter inside the clusters, feature by feature.
        let x = array![[0.0, 0.0], [0.2, 4.0], [5.0, 4.0], [5.2, 0.0]];
        let p = Problem::new(Data::dense(x).unwrap()).with_k(2);
        let p = p.with_start(Start::Labels(vec![0, 0, 1, 1]));
        let rules = from(Init::Given);
        let c = run(&MpckMeans { rules, ..plain() }, &p, 1);
        assert_eq!(c.labels, [0, 0, 1, 1]);
        // Scatter: 4 · 0.1² and 4 · 2².
        let a = c.extras.weights.unwrap();
        assert!((a[[0, 0]] - 4.0 / 0.04).abs() < 1e-9 && (a[[0, 1]] - 4.0 / 16.0).abs() < 1e-12);
        // tr(AB) = n·d, log det A = ln 25: J = 8 − 4 ln 25.
        assert!((c.objective.unwrap() - (8.0 - 4.0 * 25.0f64.ln())).abs() < 1e-9);
        assert_eq!(c.extras.geometry, Geometry::Weighted);
    }

    #[test]
    fn illegal_options_are_named() {
        let (p, _) = fixtures::dense(1);
        let fails = |m: MpckMeans| m.cluster(&p, &Context::new(1)).unwrap_err().to_string();
        let full =
            MpckMeans { metric: MetricForm::SingleFull, max_pair: Some(MaxPair::Box), ..plain() };
        assert_eq!(
            fails(full),
            "max_pair: must be \"exact\" or \"farthest_cl\" with a full metric, got \"box\""
        );
        let log = MpckMeans { log_weight: 0.0, ..plain() };
        assert_eq!(fails(log), "log_weight: must be above 0, got 0");
        let floor = MpckMeans { floor_relative: 0.02, ..plain() };
        assert_eq!(fails(floor), "floor_relative: must be above 0 and at most 0.01, got 0.02");
        let weight = MpckMeans { weight: AutoOr::Value(-1.0), ..plain() };
        assert_eq!(fails(weight), "weight: must be at least 0, got -1");
    }

    #[test]
    fn contradictions_are_kept_or_named() {
        let (p, _) = fixtures::dense(1);
        let pairs = [Constraint::must(0, 3), Constraint::must(3, 6), Constraint::cannot(0, 6)];
        let p = p.with_constraints(Constraints::new(45, pairs).unwrap());
        let kept = run(&plain(), &p, 1);
        assert_eq!(kept.extras.diagnostics["conflicts"], 1.0);
        let strict = MpckMeans {
            shared: PenaltyOptions { on_conflict: OnConflict::Error, ..PenaltyOptions::default() },
            ..plain()
        };
        match strict.cluster(&p, &Context::new(1)) {
            Err(Error::InconsistentConstraints(w)) => assert_eq!(w.shown[0].path, [0, 3, 6]),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_search_for_the_farthest_hears_cancelling() {
        let x = fixtures::dense(1).0.data.to_dense();
        let counted = Context::builder(SeedPath::new(1)).count_looks().build();
        learner::farthest(&x, &counted).unwrap();
        assert!(counted.looks() >= 45, "{}", counted.looks());
        let ended = Context::builder(SeedPath::new(1)).cancel_after(7).build();
        assert_eq!(learner::farthest(&x, &ended), Err(Error::Cancelled));
    }

    #[test]
    fn features_without_spread_are_legal() {
        let (p, classes) = fixtures::dense(3);
        let mut x = p.data.to_dense();
        x.column_mut(2).fill(0.1);
        let constraints = fixtures::true_constraints(&classes, 20, 3);
        let constant = Problem { data: Data::dense(x).unwrap(), ..p.clone() };
        let equal = Problem { data: Data::dense(Array2::from_elem((45, 4), 0.1)).unwrap(), ..p };
        for metric in FORMS {
            for singular in [Singular::Ridge, Singular::KeepPrevious, Singular::Identity] {
                for p in [&constant, &equal] {
                    let p = p.clone().with_constraints(constraints.clone());
                    let c = run(&MpckMeans { metric, singular, ..plain() }, &p, 1);
                    let finite = matrices(&c).iter().all(|a| a.iter().all(|v| v.is_finite()));
                    assert!(finite && c.objective.unwrap().is_finite(), "{metric:?} {singular:?}");
                }
            }
        }
    }

    #[test]
    fn clusters_of_one_object_keep_their_metric() {
        let (p, _) = fixtures::dense(5);
        let p = p.with_k(45).with_constraints(Constraints::default());
        let rules = from(Init::FarthestFirst);
        for metric in [MetricForm::MultiDiag, MetricForm::MultiFull] {
            let c = run(&MpckMeans { metric, rules, ..plain() }, &p, 1);
            assert!(c.objective.unwrap().abs() < 1e-9, "{:?}", c.objective);
            assert!(matrices(&c).iter().all(|a| a == Array2::<f64>::eye(4)));
        }
    }

    #[test]
    fn permuted_features_permute_the_metric() {
        let p = random_problem(7, 30, 0);
        let order = [2, 0, 3, 1];
        let x = p.data.to_dense().select(Axis(1), &order);
        let permuted = Problem { data: Data::dense(x).unwrap(), ..p.clone() };
        for metric in FORMS {
            let method = MpckMeans { metric, ..plain() };
            let (a, b) = (run(&method, &p, 1), run(&method, &permuted, 1));
            assert_eq!(a.labels, b.labels);
            for (a, b) in matrices(&a).iter().zip(matrices(&b)) {
                let a = a.select(Axis(0), &order).select(Axis(1), &order);
                assert!((&a - &b).iter().all(|v| v.abs() < 1e-6 * a[[0, 0]].abs().max(1.0)));
            }
        }
    }

    #[test]
    fn scaled_features_scale_the_metric() {
        // The start labels everything, so that both runs agree after the first round.
        let (p, classes) = fixtures::dense(11);
        let constraints = fixtures::true_constraints(&classes, 20, 11);
        let p = p.with_constraints(constraints).with_start(Start::Labels(classes));
        let scale = array![1.0, 2.0, 0.5, 1.0];
        let scaled = Data::dense(p.data.to_dense() * &scale).unwrap();
        let scaled = Problem { data: scaled, ..p.clone() };
        let rules = from(Init::Given);
        for metric in [MetricForm::SingleDiag, MetricForm::MultiDiag] {
            let method = MpckMeans { metric, rules, ..plain() };
            let (a, b) = (run(&method, &p, 1), run(&method, &scaled, 1));
            assert_eq!(a.labels, b.labels);
            let (a, b) = (a.extras.weights.unwrap(), b.extras.weights.unwrap() * &scale * &scale);
            assert!((&a - &b).iter().all(|v| v.abs() < 1e-6), "{a} {b}");
        }
    }

    const FORMS: [MetricForm; 4] = [
        MetricForm::SingleDiag,
        MetricForm::MultiDiag,
        MetricForm::SingleFull,
        MetricForm::MultiFull,
    ];

    fn diagonal() -> impl Strategy<Value = MpckMeans> {
        (
            prop_oneof![Just(MetricForm::SingleDiag), Just(MetricForm::MultiDiag)],
            prop_oneof![Just(0.0), Just(0.3), Just(1.0), Just(5.0)],
            prop_oneof![Just(1.0), Just(0.01)],
            prop_oneof![Just(Empty::Keep), Just(Empty::Reseed)],
            prop_oneof![Just(Order::Random), Just(Order::Index), Just(Order::Sorted)],
        )
            .prop_map(|(metric, w, log_weight, empty, order)| MpckMeans {
                metric,
                weight: AutoOr::Value(w),
                log_weight,
                rules: SoftRules { empty, ..SoftRules::default() },
                shared: PenaltyOptions { order, tolerance: 0.0, ..PenaltyOptions::default() },
                ..plain()
            })
    }

    proptest! {
        #[test]
        fn objective_falls_and_is_what_it_says(method in diagonal(), seed in 0u64..500, pairs in 0usize..60, wrong in 0usize..4) {
            let p = random_problem(seed, pairs, wrong);
            let c = run(&method, &p, seed);
            for w in c.history.windows(2) {
                let scale = w[0].objective.abs().max(1.0);
                prop_assert!(w[1].objective <= w[0].objective + 1e-9 * scale, "{:?}", c.history);
            }
            let slow = slow_objective(&method, &p, &c);
            let found = c.objective.unwrap();
            prop_assert!((slow - found).abs() <= 1e-8 * slow.abs().max(1.0), "{slow} {found}");
        }

        #[test]
        fn implicit_and_expanded_closure_agree(which in 0usize..4, max in 0usize..2, seed in 0u64..500, pairs in 1usize..60, wrong in 0usize..4) {
            let p = random_problem(seed, pairs, wrong);
            let max_pair = [None, Some(MaxPair::Exact)][max];
            // The high floor keeps rounding from being magnified through nearly singular matrices.
            let fast = MpckMeans { metric: FORMS[which], max_pair, floor_relative: 0.01, shared: PenaltyOptions { max_iterations: 4, ..PenaltyOptions::default() }, ..plain() };
            let rules = SoftRules { entail: Entail::Off, ..fast.rules };
            let slow = MpckMeans { rules, ..fast.clone() };
            // The farthest cannot-link is looked for among those given.
            let full = expanded(&p);
            let fast_on = if max == 0 && which >= 2 { full.clone() } else { p };
            let (a, b) = (run(&fast, &fast_on, seed), run(&slow, &full, seed));
            // Starts that end in the same partition differ by rounding, and with them which one counts.
            let same = mustlink_core::clustering::canonical;
            prop_assert_eq!(same(&a.labels), same(&b.labels));
            let (a, b) = (a.objective.unwrap(), b.objective.unwrap());
            prop_assert!((a - b).abs() <= 1e-7 * a.abs().max(1.0), "{} {}", a, b);
        }

        #[test]
        fn without_metric_it_is_pck_means(seed in 0u64..500, pairs in 0usize..60, wrong in 0usize..4) {
            let p = random_problem(seed, pairs, wrong);
            let none = MpckMeans { metric: MetricForm::None, ..plain() };
            prop_assert_eq!(run(&none, &p, seed), run(&PckMeans { weight: AutoOr::Value(1.0), ..PckMeans::default() }, &p, seed));
        }

        #[test]
        fn without_learning_and_constraints_it_is_kmeans(seed: u64, learn_metric: bool) {
            let (p, _) = fixtures::dense(seed);
            let method = MpckMeans { learn_metric, learn_without_constraints: false, ..plain() };
            let kmeans = KMeans { max_iterations: 100, empty: Empty::Keep, ..KMeans::default() };
            let (a, b) = (run(&method, &p, seed), run(&kmeans, &p, seed));
            prop_assert_eq!(a.labels, b.labels);
            prop_assert_eq!(a.objective, b.objective);
        }

        #[test]
        fn weights_are_inverse_to_the_scatter_inside_clusters(seed: u64) {
            let (p, _) = fixtures::dense(seed);
            let c = run(&plain(), &p, seed);
            let (x, a) = (p.data.to_dense(), c.extras.weights.unwrap());
            let centres = c.extras.centers.unwrap();
            for s in 0..4 {
                let b: f64 = (0..45).map(|i| (x[[i, s]] - centres[[c.labels[i] as usize, s]]).powi(2)).sum();
                prop_assert!((a[[0, s]] * b / 45.0 - 1.0).abs() < 1e-9);
            }
        }

        #[test]
        fn the_factor_of_log_det_changes_no_label(seed in 0u64..500, pairs in 0usize..40, multi: bool) {
            let p = random_problem(seed, pairs, 0);
            let metric = if multi { MetricForm::MultiDiag } else { MetricForm::SingleDiag };
            // One start: which of several equally good ones is kept, rounding may decide. The metric of a cluster
            // that is empty in a round is kept as it was, without the factor.
            let rules = SoftRules { empty: Empty::Reseed, ..SoftRules::default() };
            let by = |log_weight| MpckMeans { metric, log_weight, rules, shared: PenaltyOptions { tolerance: 0.0, restarts: Some(1), ..PenaltyOptions::default() }, ..plain() };
            prop_assert_eq!(run(&by(1.0), &p, seed).labels, run(&by(0.25), &p, seed).labels);
        }

        #[test]
        fn broken_cannot_links_never_pay(seed: u64, exact: bool, a in prop::collection::vec(0.01f64..10.0, 4)) {
            let p = random_problem(seed, 10, 0);
            let max_pair = Some(if exact { MaxPair::Exact } else { MaxPair::Box });
            let method = MpckMeans { max_pair, ..plain() };
            let points = Points::new(&p.data, Distortion::SquaredEuclidean).unwrap();
            let soft = PenalisedKMeans::new(method.soft(), &p, sweeps, &Context::new(1)).unwrap();
            let links = soft.links(3, || Ok((1.0, 1.0))).unwrap();
            let metric = Metric::Diagonal(a);
            let span = Learner::new(method.metric_options(true), &points, &soft, links).spans(std::slice::from_ref(&metric), None, &Context::new(1)).unwrap();
            let reach = metric.square(&span[0]);
            for i in 0..45 {
                for j in 0..i {
                    let d: Vec<f64> = dense(&points, i).iter().zip(dense(&points, j)).map(|(a, b)| a - b).collect();
                    prop_assert!(metric.square(&d) <= reach * (1.0 + 1e-12));
                }
            }
        }

        #[test]
        fn other_largest_pairs_return_their_best_round(seed in 0u64..500, pairs in 1usize..60, which in 0usize..4, exact: bool) {
            let p = random_problem(seed, pairs, 0);
            let max_pair = Some(if exact { MaxPair::Exact } else { MaxPair::FarthestCl });
            let c = run(&MpckMeans { metric: FORMS[which], max_pair, ..plain() }, &p, seed);
            let least = c.history.iter().map(|s| s.objective).fold(f64::INFINITY, f64::min);
            prop_assert_eq!(c.objective, Some(least));
        }
    }
}
