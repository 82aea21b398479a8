//! Which k centres and which metric explain objects and constraints best?

use std::sync::Arc;

use mustlink_core::clustering::partition_hash;
use mustlink_core::closure::OnConflict;
use mustlink_core::prelude::*;
use mustlink_core::reduce;
use mustlink_kernels::lloyd::{Empty, Stop, ToleranceKind, lloyd};
use mustlink_kernels::metric::{Floors, Metric, Scatter, Singular};
use mustlink_kernels::metric_penalties::MetricPenalties;
use mustlink_kernels::neighbourhood_start::{FewerThanK, MoreThanK, Rules};
use mustlink_kernels::penalties::{Entail, Links};
use mustlink_kernels::points::{Distortion, Points, row, squared_distance};
use mustlink_kernels::seeding::{Init, Perturb, by_label, means};
use mustlink_kernels::soft::{
    SoftInit, Soft, SoftOptions, Weight, auto_weight, clustering, fitted_weight,
};
use mustlink_kernels::sweep::{Coupling, Order, cheapest, visit};
use ndarray::Array2;
use rayon::prelude::*;

/// Which metrics are learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MetricForm {
    /// One weight per feature, the same for all clusters.
    #[default]
    SingleDiag,
    /// One weight per feature and cluster.
    MultiDiag,
    /// One matrix.
    SingleFull,
    /// One matrix per cluster.
    MultiFull,
    /// None: broken constraints cost their weight, as in pairwise-constrained k-means.
    None,
}

/// Which difference counts as the largest, for the cost of broken cannot-links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MaxPair {
    /// Between opposite corners of the box around all objects (diagonal metrics only).
    Box,
    /// Between the two objects farthest apart under the metric.
    Exact,
    /// Between the two cannot-linked objects farthest apart under the metric.
    FarthestCl,
}

/// Metric pairwise-constrained k-means: learns from objects and constraints how features count.
///
/// # Method
/// Minimises Σ (‖x − µ‖²_A − log det A) plus, for each broken must-link, w times the squared length
/// of its difference (the mean under both clusters' metrics), for each broken cannot-link w̄ times
/// what it lacks to the largest difference. Each round visits the constrained objects one by one,
/// takes means, then metrics A = n·B⁻¹ of the scatter B of members and violations. With
/// `max_pair = "box"` the objective never rises after the first round; else the best round counts.
/// # Input and output
/// n × d dense (`metric = "none"` also sparse), constraints of any weight. One label per object in
/// `0..k`, k centres, feature weights (diagonal) or matrices (full).
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `BadParam` for `max_pair = "box"` with full metrics;
/// `InconsistentConstraints` only where `on_conflict` asks; `HardNotSupported` for constraints
/// marked hard; `ClosureTooLarge` for unequal weights whose closure must be expanded;
/// `NumericalFailure` for a scatter without eigenvalues.
/// # Cost and randomness
/// A round is O(n·k·d) diagonal, O(n·d² + n·k·d + d³) with one matrix, O(n·k·d² + k·d³) with k;
/// constraints add O(k·d) per constrained object and never a loop over pairs of the closure while all
/// of a kind weigh the same. `exact` adds O(n²·d) per metric. Random: as in pairwise-constrained k-means.
/// # References
/// [Bilenko2004] eq. 3–6, figure 1; [Eaton2005] §2.6. Differs: the largest difference is by default
/// that of the box around the data, as in the authors' program, which keeps the objective falling.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MpckMeans {
    /// Number of clusters, at most n; absent: that of the problem.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<usize>,
    /// Which metrics are learned.
    pub metric: MetricForm,
    /// Learn them; if not, broken constraints still cost by distance, under the Euclidean metric.
    pub learn_metric: bool,
    /// Learn them also when nothing is constrained (metric-learning k-means).
    pub learn_without_constraints: bool,
    /// The largest difference; absent: `box` for diagonal metrics, `farthest_cl` for full ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_pair: Option<MaxPair>,
    /// Let the box hold the origin too, as the authors' program does.
    pub box_includes_origin: bool,
    /// Factor of log det A; changes no label of diagonal metrics after the first round.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub log_weight: f64,
    /// Smallest scatter that counts: of a feature against the mean variance, of a direction
    /// against the largest.
    #[schemars(range(max = 0.01), extend("exclusiveMinimum" = 0.0))]
    pub floor_relative: f64,
    /// What happens where the scatter is smaller.
    pub singular: Singular,
    /// Cost of a broken must-link of weight 1 (w), per squared distance; or "auto": ½, and for
    /// cannot-links the mean distortion that k-means reaches over the square of the largest
    /// difference, so that a broken constraint costs about what an object pays by itself.
    pub weight: Weight,
    /// Cost of a broken cannot-link of weight 1 (w̄); absent: as `weight`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight_cannot: Option<Weight>,
    /// Weight of constraints marked hard; absent: they are refused.
    #[schemars(range(min = 0.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hard_as_soft: Option<f64>,
    /// How far constraints are extended before they cost anything.
    pub entail: Entail,
    /// How the first centres are chosen; absent: `neighbourhood`, or with weight = "auto"
    /// `constrained_objects`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub init: Option<SoftInit>,
    /// How they are chosen when no neighbourhood is known.
    pub init_without_constraints: Init,
    /// Which neighbourhoods start clusters when there are more than k (λ > k).
    pub lambda_gt_k: MoreThanK,
    /// Where the other clusters start when there are fewer than k (λ < k).
    pub lambda_lt_k: FewerThanK,
    /// How a global mean is perturbed.
    pub perturb: Perturb,
    /// By how much a global mean is perturbed (ρ).
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub perturb_rho: f64,
    /// In which order objects are visited.
    pub order: Order,
    /// What to do with cannot-links inside must-link components.
    pub on_conflict: OnConflict,
    /// Starts, of which the best result is kept; absent: 10 for random starts, 1 from neighbourhoods.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restarts: Option<usize>,
    /// Rounds of one start.
    #[schemars(range(min = 1))]
    pub max_iterations: usize,
    /// Smallest change of the objective worth another round.
    #[schemars(range(min = 0.0))]
    pub tolerance: f64,
    /// How the change is compared with the tolerance.
    pub tolerance_kind: ToleranceKind,
    /// What happens to a cluster without objects.
    pub empty: Empty,
}

impl Default for MpckMeans {
    fn default() -> Self {
        MpckMeans {
            k: None,
            metric: MetricForm::default(),
            learn_metric: true,
            learn_without_constraints: true,
            max_pair: None,
            box_includes_origin: false,
            log_weight: 1.0,
            floor_relative: 1e-9,
            singular: Singular::default(),
            weight: Weight::Number(1.0),
            weight_cannot: None,
            hard_as_soft: None,
            entail: Entail::default(),
            init: None,
            init_without_constraints: Init::default(),
            lambda_gt_k: MoreThanK::default(),
            lambda_lt_k: FewerThanK::default(),
            perturb: Perturb::default(),
            perturb_rho: 0.7,
            order: Order::default(),
            on_conflict: OnConflict::Keep,
            restarts: None,
            max_iterations: 100,
            tolerance: 1e-6,
            tolerance_kind: ToleranceKind::default(),
            empty: Empty::Keep,
        }
    }
}

register!(BaseClusterer, MpckMeans, "mpck_means", references: ["Bilenko2004", "Eaton2005"]);

#[typetag::serde(name = "mpck_means")]
impl BaseClusterer for MpckMeans {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let k = problem.require_k(self.k, "mpck_means")?;
        self.check()?;
        let soft = Soft::new(self.soft()?, problem)?;
        let points = Points::new(&problem.data, Distortion::SquaredEuclidean)?;
        let start = |ctx: &Context| soft.start(&points, k, problem, ctx);
        if self.metric == MetricForm::None {
            let links = soft.links(|| fitted_weight(&points, k, ctx).map(|w| (w, w)))?;
            return soft.best(|ctx| soft.descend(&points, &links, 1.0, start(ctx)?, ctx), ctx);
        }
        let links = soft.links(|| self.auto(&points, k, &soft, ctx))?;
        let free = links.objects().is_empty();
        let learn = self.learn_metric && (self.learn_without_constraints || !free);
        if free && !learn {
            let SoftOptions { stop, empty, .. } = soft.options;
            return soft.best(|ctx| lloyd(&points, start(ctx)?.0, stop, empty, ctx), ctx);
        }
        let learner = Learner::new(self, &points, &soft, links, learn);
        soft.best(|ctx| learner.run(start(ctx)?, ctx), ctx)
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
            soft_weights: true,
            gives_centers: true,
            ..Properties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let constrained = (2 * shape.constraints).min(shape.n);
        let metrics = if self.is_multi() { shape.k } else { 1 };
        let scatter = if self.is_full() { 4 * shape.d * shape.d } else { 4 * shape.d };
        (64 * shape.n + 100 * shape.constraints + 24 * shape.k * shape.d
            + 8 * constrained * (shape.k + (3 + metrics) * shape.d)
            + 8 * metrics * scatter) as u64
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
    fn auto(&self, points: &Points, k: usize, soft: &Soft, ctx: &Context) -> Result<(f64, f64)> {
        let own = auto_weight(points, k, ctx)?;
        let euclidean = Metric::identity(false, points.d());
        let links = soft.links(|| Ok((0.0, 0.0)))?;
        let span = Learner::new(self, points, soft, links, true)
            .spans(std::slice::from_ref(&euclidean))
            .swap_remove(0);
        let reach = euclidean.square(&span);
        Ok((0.5, if reach > 0.0 { own / reach } else { 0.5 }))
    }

    fn check(&self) -> Result<()> {
        if self.is_full() && self.max_pair == Some(MaxPair::Box) {
            let legal = "\"exact\" or \"farthest_cl\" with a full metric";
            return Err(Error::bad_param("max_pair", "\"box\"", legal));
        }
        if !(self.log_weight.is_finite() && self.log_weight > 0.0) {
            return Err(Error::bad_param("log_weight", self.log_weight, "finite and > 0"));
        }
        if !(self.floor_relative > 0.0 && self.floor_relative <= 0.01) {
            return Err(Error::bad_param("floor_relative", self.floor_relative, "> 0 and <= 0.01"));
        }
        Ok(())
    }

    fn soft(&self) -> Result<SoftOptions> {
        Ok(SoftOptions {
            weight: self.weight,
            weight_cannot: self.weight_cannot,
            hard_as_soft: self.hard_as_soft,
            entail: self.entail,
            init: self.init,
            init_without_constraints: self.init_without_constraints,
            rules: Rules {
                more: self.lambda_gt_k,
                fewer: self.lambda_lt_k,
                perturb: self.perturb,
                rho: self.perturb_rho,
            },
            order: self.order,
            on_conflict: self.on_conflict,
            restarts: self.restarts,
            stop: Stop::new(self.max_iterations, self.tolerance, self.tolerance_kind)?,
            empty: self.empty,
        })
    }
}

/// Rows per block of an assignment.
const ROWS: usize = 256;

/// What does not change from start to start.
struct Learner<'a> {
    method: &'a MpckMeans,
    points: &'a Points,
    soft: &'a Soft,
    links: Arc<Links>,
    floors: Floors,
    /// Largest less smallest value of each feature.
    sides: Vec<f64>,
    learn: bool,
}

/// A round that may turn out to be the best.
type Round = (f64, Vec<u32>, Array2<f64>, Vec<Metric>);

impl<'a> Learner<'a> {
    fn new(
        method: &'a MpckMeans,
        points: &'a Points,
        soft: &'a Soft,
        links: Arc<Links>,
        learn: bool,
    ) -> Self {
        let (n, d) = (points.n(), points.d());
        let first = if method.box_includes_origin { vec![0.0; d] } else { dense(points, 0).to_vec() };
        let (mut low, mut high) = (first.clone(), first);
        for i in 0..n {
            for (s, &v) in dense(points, i).iter().enumerate() {
                low[s] = low[s].min(v);
                high[s] = high[s].max(v);
            }
        }
        let all: Vec<u32> = (0..n as u32).collect();
        let mean = points.mean(&all).expect("data is not empty");
        let variance = reduce::sum(n, |i| squared_distance(dense(points, i), &mean)) / n as f64;
        let magnitude: Vec<f64> = low.iter().zip(&high).map(|(l, h)| l.abs().max(h.abs())).collect();
        // Equal rows may miss their mean by a rounding error.
        let largest = magnitude.iter().copied().fold(0.0, f64::max);
        let rounding = 4.0 * f64::EPSILON * largest;
        let mean_variance = variance / d as f64;
        let floors = Floors {
            singular: method.singular,
            relative: method.floor_relative,
            mean_variance: if mean_variance > rounding * rounding { mean_variance } else { 0.0 },
            magnitude,
        };
        let sides = high.iter().zip(&low).map(|(h, l)| h - l).collect();
        Learner { method, points, soft, links, floors, sides, learn }
    }

    fn run(&self, start: (Array2<f64>, Vec<u32>), ctx: &Context) -> Result<Clustering> {
        let SoftOptions { stop, empty, order, .. } = self.soft.options;
        let (mut centres, mut labels) = start;
        let k = centres.nrows();
        let count = if self.method.is_multi() { k } else { 1 };
        let mut metrics = vec![Metric::identity(self.method.is_full(), self.points.d()); count];
        let mut spans = self.spans(&metrics);
        let mut penalties = MetricPenalties::new(&self.links, self.points.data(), k);
        let monotone = self.method.max_pair() == MaxPair::Box;
        let mut best: Option<Round> = None;
        let mut seen = std::collections::HashSet::new();
        let mut history: Vec<IterStat> = Vec::new();
        let mut status = Status::MaxIter;
        for round in 0..stop.max_iterations {
            ctx.check()?;
            penalties.set(&metrics, &spans, &labels);
            let (mut moved, own) = self.assign(&centres, &metrics, &mut labels);
            moved += visit(&mut penalties, &own, k, &mut labels, order, round, ctx);
            let sizes;
            (centres, sizes) = means(self.points, &labels, centres);
            if sizes.contains(&0) && empty != Empty::Keep {
                moved += self.refill(&mut centres, &metrics, &mut labels, &mut penalties)?;
            }
            let (violated, violations) = penalties.scatter(&labels);
            let scatter = self.scatter(&labels, &centres, violated);
            let sizes = sizes_of(&labels, k);
            if self.learn {
                metrics = self.update(&scatter, &sizes, &metrics)?;
            }
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
            spans = self.spans(&metrics);
        }
        if let Some((objective, found, at, under)) = best
            && history.last().is_some_and(|last| last.objective > objective)
        {
            // What is returned is an earlier round: it ends the history.
            let round = history.iter().position(|s| s.objective == objective);
            history.truncate(round.map_or(history.len(), |r| r + 1));
            (labels, centres, metrics) = (found, at, under);
        }
        Ok(self.made(labels, centres, metrics, history, status))
    }

    fn made(
        &self,
        labels: Vec<u32>,
        centres: Array2<f64>,
        metrics: Vec<Metric>,
        history: Vec<IterStat>,
        status: Status,
    ) -> Clustering {
        let (k, d) = centres.dim();
        let mut made = clustering(labels, centres, history, status, Distortion::SquaredEuclidean);
        let of = |h: usize| if metrics.len() == 1 { &metrics[0] } else { &metrics[h] };
        if self.method.is_full() {
            made.extras.geometry = Geometry::Mahalanobis;
            let matrices = metrics.iter().map(|m| match m {
                Metric::Full { matrix, .. } => matrix.clone(),
                Metric::Diagonal(a) => Array2::from_diag(&ndarray::arr1(a)),
            });
            made.extras.metrics = Some(matrices.collect());
        } else {
            made.extras.geometry = Geometry::Weighted;
            made.extras.weights = Some(Array2::from_shape_fn((k, d), |(h, s)| match of(h) {
                Metric::Diagonal(a) => a[s],
                Metric::Full { matrix, .. } => matrix[[s, s]],
            }));
        }
        made
    }

    /// What each object of a block pays in each cluster by itself.
    fn costs(
        &self,
        objects: &[u32],
        centres: &[Array2<f64>],
        metrics: &[Metric],
        k: usize,
    ) -> Vec<f64> {
        let d = self.points.d();
        let mut rows = Array2::zeros((objects.len(), d));
        for (mut to, &i) in rows.rows_mut().into_iter().zip(objects) {
            to.as_slice_mut().expect("standard layout").copy_from_slice(dense(self.points, i as usize));
        }
        let mut out = vec![0.0; objects.len() * k];
        for (m, metric) in metrics.iter().enumerate() {
            let images = metric.image(rows.clone());
            let log = self.method.log_weight * metric.log_det();
            let clusters = if metrics.len() == 1 { 0..k } else { m..m + 1 };
            for h in clusters {
                let centre = row(&centres[m], h);
                for at in 0..objects.len() {
                    out[at * k + h] = squared_distance(row(&images, at), centre) - log;
                }
            }
        }
        out
    }

    /// Centres as each metric sees them.
    fn images(&self, centres: &Array2<f64>, metrics: &[Metric]) -> Vec<Array2<f64>> {
        metrics.iter().map(|m| m.image(centres.clone())).collect()
    }

    /// Gives every free object its cheapest cluster; returns how many moved, and what the
    /// constrained ones pay by themselves, row by row.
    fn assign(
        &self,
        centres: &Array2<f64>,
        metrics: &[Metric],
        labels: &mut [u32],
    ) -> (usize, Vec<f64>) {
        let k = centres.nrows();
        let images = self.images(centres, metrics);
        let constrained = self.links.constrained();
        let blocks: Vec<(usize, Vec<f64>)> = labels
            .par_chunks_mut(ROWS)
            .enumerate()
            .map(|(b, chunk)| {
                let first = b * ROWS;
                let objects: Vec<u32> = (first as u32..(first + chunk.len()) as u32).collect();
                let costs = self.costs(&objects, &images, metrics, k);
                let (mut moved, mut own) = (0, Vec::new());
                for (at, label) in chunk.iter_mut().enumerate() {
                    let cost = &costs[at * k..(at + 1) * k];
                    if constrained[first + at] {
                        own.extend_from_slice(cost);
                    } else {
                        let new = cheapest(cost, *label);
                        moved += usize::from(new != *label);
                        *label = new;
                    }
                }
                (moved, own)
            })
            .collect();
        let moved = blocks.iter().map(|b| b.0).sum();
        (moved, blocks.into_iter().flat_map(|b| b.1).collect())
    }

    /// Fills empty clusters with the object that pays most for its own, where that lowers the
    /// objective; gives the number of objects moved.
    fn refill(
        &self,
        centres: &mut Array2<f64>,
        metrics: &[Metric],
        labels: &mut [u32],
        penalties: &mut MetricPenalties,
    ) -> Result<usize> {
        let (n, k) = (self.points.n(), centres.nrows());
        let mut moved = 0;
        for h in 0..k {
            let sizes = sizes_of(labels, k);
            if sizes[h] > 0 {
                continue;
            }
            if self.method.empty == Empty::Error {
                let place = format!("cluster {h} is empty (empty = \"error\")");
                return Err(Error::NumericalFailure { place });
            }
            let images = self.images(centres, metrics);
            let of = |l: u32| if metrics.len() == 1 { 0 } else { l as usize };
            let mut far = vec![0.0; n];
            reduce::fill(&mut far, |i| {
                let l = labels[i];
                let x = dense(self.points, i).to_vec();
                let here = Array2::from_shape_vec((1, x.len()), x).expect("one row");
                let here = metrics[of(l)].image(here);
                let centre = row(&images[of(l)], l as usize);
                if sizes[l as usize] < 2 { 0.0 } else { squared_distance(row(&here, 0), centre) }
            });
            let object = (0..n).fold(0, |best, i| if far[i] > far[best] { i } else { best });
            let l = labels[object];
            let log = |c: u32| self.method.log_weight * metrics[of(c)].log_det();
            let mut cost = vec![0.0; k];
            penalties.add(object, labels, &mut cost);
            cost[l as usize] += far[object] - log(l);
            cost[h] -= log(h as u32);
            let noise = 64.0 * f64::EPSILON * self.points.norm(object);
            if far[object] > noise && cost[h] <= cost[l as usize] {
                penalties.moved(object, l, h as u32);
                labels[object] = h as u32;
                *centres = means(self.points, labels, std::mem::take(centres)).0;
                moved += 1;
            }
        }
        Ok(moved)
    }

    /// The scatter of members about their centres, added to that of the violations.
    fn scatter(&self, labels: &[u32], centres: &Array2<f64>, violated: Vec<Scatter>) -> Vec<Scatter> {
        let (k, d) = centres.dim();
        let count = violated.len();
        let full = self.method.is_full();
        let of_block = |range: std::ops::Range<usize>| {
            let (offsets, order) = by_label(&labels[range.clone()], k);
            (0..count)
                .map(|m| {
                    let members = if count == 1 { &order[..] } else { &order[offsets[m]..offsets[m + 1]] };
                    let mut rows = Array2::zeros((members.len(), d));
                    for (mut to, &at) in rows.rows_mut().into_iter().zip(members) {
                        let i = range.start + at as usize;
                        let centre = row(centres, labels[i] as usize);
                        let x = dense(self.points, i).iter().zip(centre);
                        to.iter_mut().zip(x).for_each(|(t, (v, c))| *t = v - c);
                    }
                    let mut sum = Scatter::zero(full, d);
                    sum.add_rows(&rows);
                    sum
                })
                .collect::<Vec<_>>()
        };
        let add = |mut a: Vec<Scatter>, b: Vec<Scatter>| {
            a.iter_mut().zip(&b).for_each(|(a, b)| a.add(b));
            a
        };
        let within = reduce::reduce(self.points.n(), of_block, add).expect("data is not empty");
        add(within, violated)
    }

    fn update(&self, scatter: &[Scatter], sizes: &[usize], old: &[Metric]) -> Result<Vec<Metric>> {
        let log = self.method.log_weight;
        let n = self.points.n() as f64;
        if scatter.len() == 1 {
            return Ok(vec![self.floors.invert(&scatter[0], log * n, n, &old[0])?]);
        }
        let each = (0..scatter.len()).into_par_iter().map(|h| match sizes[h] {
            // One object has no scatter: its metric would grow without bound.
            0 | 1 => Ok(old[h].clone()),
            size => {
                let size = size as f64;
                self.floors.invert(&scatter[h], log * size, size, &old[h])
            }
        });
        each.collect()
    }

    fn objective(&self, metrics: &[Metric], scatter: &[Scatter], sizes: &[usize]) -> f64 {
        let spread: f64 = metrics.iter().zip(scatter).map(|(a, b)| a.trace_with(b)).sum();
        let log: f64 = match metrics {
            [one] => self.points.n() as f64 * one.log_det(),
            _ => metrics.iter().zip(sizes).map(|(a, &size)| size as f64 * a.log_det()).sum(),
        };
        spread - self.method.log_weight * log
    }

    /// The largest difference under each metric.
    fn spans(&self, metrics: &[Metric]) -> Vec<Vec<f64>> {
        let difference = |i: usize, j: usize| -> Vec<f64> {
            dense(self.points, i).iter().zip(dense(self.points, j)).map(|(a, b)| a - b).collect()
        };
        match self.method.max_pair() {
            MaxPair::Box => vec![self.sides.clone(); metrics.len()],
            MaxPair::Exact => metrics
                .iter()
                .map(|metric| {
                    let images = metric.image(self.points.data().to_dense());
                    let (i, j) = farthest(&images);
                    difference(i, j)
                })
                .collect(),
            MaxPair::FarthestCl => {
                let pairs = self.soft.closure.constraints().pairs().iter();
                let apart: Vec<Vec<f64>> = pairs
                    .filter(|c| c.kind == Kind::CannotLink)
                    .map(|c| difference(c.i as usize, c.j as usize))
                    .collect();
                let largest = |metric: &Metric| {
                    let squares: Vec<f64> = apart.par_iter().map(|r| metric.square(r)).collect();
                    let best = (0..squares.len())
                        .fold(None, |best: Option<usize>, at| match best {
                            Some(b) if squares[at] <= squares[b] => best,
                            _ => Some(at),
                        });
                    best.map_or_else(|| vec![0.0; self.points.d()], |at| apart[at].clone())
                };
                metrics.iter().map(largest).collect()
            }
        }
    }
}

/// The two rows farthest apart; ties: the lowest indexes.
fn farthest(rows: &Array2<f64>) -> (usize, usize) {
    let n = rows.nrows();
    let of_row = |i: usize| {
        (i + 1..n).fold((-1.0, i, i), |best: (f64, usize, usize), j| {
            let length = squared_distance(row(rows, i), row(rows, j));
            if length > best.0 { (length, i, j) } else { best }
        })
    };
    let each: Vec<(f64, usize, usize)> = (0..n).into_par_iter().map(of_row).collect();
    let (_, i, j) = each.into_iter().fold((-1.0, 0, 0), |a, b| if b.0 > a.0 { b } else { a });
    (i, j)
}

fn sizes_of(labels: &[u32], k: usize) -> Vec<usize> {
    by_label(labels, k).0.windows(2).map(|w| w[1] - w[0]).collect()
}

/// Row `i` of dense data.
fn dense(points: &Points, i: usize) -> &[f64] {
    match points.data().row(i) {
        Row::Dense(x) => x,
        // Other kinds are refused before a run.
        Row::Sparse(_, x) => x,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kmeans::KMeans;
    use crate::pck_means::PckMeans;
    use mustlink_core::closure::{Closure, EntailedWeight};
    use mustlink_core::contract::fixtures;
    use ndarray::{Axis, array};
    use proptest::prelude::*;

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
        let Weight::Number(w) = method.weight else { panic!("tests name their weight") };
        for p in expanded(problem).constraints.pairs().iter().filter(|p| p.is_violated(&c.labels)) {
            let d = &x.row(p.i as usize) - &x.row(p.j as usize);
            let (g, h) = (c.labels[p.i as usize], c.labels[p.j as usize]);
            j += w * p.weight * match p.kind {
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
        let init = Some(SoftInit::Plain(Init::Given));
        let c = run(&MpckMeans { init, ..MpckMeans::default() }, &p, 1);
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
        let full = MpckMeans {
            metric: MetricForm::SingleFull,
            max_pair: Some(MaxPair::Box),
            ..MpckMeans::default()
        };
        assert_eq!(
            fails(full),
            "max_pair: must be \"exact\" or \"farthest_cl\" with a full metric, got \"box\""
        );
        let log = MpckMeans { log_weight: 0.0, ..MpckMeans::default() };
        assert_eq!(fails(log), "log_weight: must be finite and > 0, got 0");
        let floor = MpckMeans { floor_relative: 0.02, ..MpckMeans::default() };
        assert_eq!(fails(floor), "floor_relative: must be > 0 and <= 0.01, got 0.02");
        let weight = MpckMeans { weight: Weight::Number(-1.0), ..MpckMeans::default() };
        assert_eq!(fails(weight), "weight: must be finite and >= 0, or \"auto\", got -1");
    }

    #[test]
    fn contradictions_are_kept_or_named() {
        let (p, _) = fixtures::dense(1);
        let pairs = [Constraint::must(0, 3), Constraint::must(3, 6), Constraint::cannot(0, 6)];
        let p = p.with_constraints(Constraints::new(45, pairs).unwrap());
        let kept = run(&MpckMeans::default(), &p, 1);
        assert_eq!(kept.extras.diagnostics["conflicts"], 1.0);
        let strict = MpckMeans { on_conflict: OnConflict::Error, ..MpckMeans::default() };
        match strict.cluster(&p, &Context::new(1)) {
            Err(Error::InconsistentConstraints(w)) => assert_eq!(w[0].path, [0, 3, 6]),
            other => panic!("{other:?}"),
        }
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
                    let c = run(&MpckMeans { metric, singular, ..MpckMeans::default() }, &p, 1);
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
        let init = Some(SoftInit::Plain(Init::FarthestFirst));
        for metric in [MetricForm::MultiDiag, MetricForm::MultiFull] {
            let c = run(&MpckMeans { metric, init, ..MpckMeans::default() }, &p, 1);
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
            let method = MpckMeans { metric, ..MpckMeans::default() };
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
        let init = Some(SoftInit::Plain(Init::Given));
        for metric in [MetricForm::SingleDiag, MetricForm::MultiDiag] {
            let method = MpckMeans { metric, init, ..MpckMeans::default() };
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
                weight: Weight::Number(w),
                log_weight,
                empty,
                order,
                tolerance: 0.0,
                ..MpckMeans::default()
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
            let fast = MpckMeans { metric: FORMS[which], max_pair, floor_relative: 0.01, max_iterations: 4, ..MpckMeans::default() };
            let slow = MpckMeans { entail: Entail::Off, ..fast.clone() };
            // The farthest cannot-link is looked for among those given.
            let full = expanded(&p);
            let fast_on = if max == 0 && which >= 2 { full.clone() } else { p };
            let (a, b) = (run(&fast, &fast_on, seed), run(&slow, &full, seed));
            prop_assert_eq!(a.labels, b.labels);
            let (a, b) = (a.objective.unwrap(), b.objective.unwrap());
            prop_assert!((a - b).abs() <= 1e-7 * a.abs().max(1.0), "{} {}", a, b);
        }

        #[test]
        fn without_metric_it_is_pck_means(seed in 0u64..500, pairs in 0usize..60, wrong in 0usize..4) {
            let p = random_problem(seed, pairs, wrong);
            let none = MpckMeans { metric: MetricForm::None, ..MpckMeans::default() };
            prop_assert_eq!(run(&none, &p, seed), run(&PckMeans::default(), &p, seed));
        }

        #[test]
        fn without_learning_and_constraints_it_is_kmeans(seed: u64, learn_metric: bool) {
            let (p, _) = fixtures::dense(seed);
            let method = MpckMeans { learn_metric, learn_without_constraints: false, ..MpckMeans::default() };
            let kmeans = KMeans { max_iterations: 100, empty: Empty::Keep, ..KMeans::default() };
            let (a, b) = (run(&method, &p, seed), run(&kmeans, &p, seed));
            prop_assert_eq!(a.labels, b.labels);
            prop_assert_eq!(a.objective, b.objective);
        }

        #[test]
        fn weights_are_inverse_to_the_scatter_inside_clusters(seed: u64) {
            let (p, _) = fixtures::dense(seed);
            let c = run(&MpckMeans::default(), &p, seed);
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
            // One start: which of several equally good ones is kept, rounding may decide.
            let by = |log_weight| MpckMeans { metric, log_weight, tolerance: 0.0, restarts: Some(1), ..MpckMeans::default() };
            prop_assert_eq!(run(&by(1.0), &p, seed).labels, run(&by(0.25), &p, seed).labels);
        }

        #[test]
        fn broken_cannot_links_never_pay(seed: u64, exact: bool, a in prop::collection::vec(0.01f64..10.0, 4)) {
            let p = random_problem(seed, 10, 0);
            let max_pair = Some(if exact { MaxPair::Exact } else { MaxPair::Box });
            let method = MpckMeans { max_pair, ..MpckMeans::default() };
            let points = Points::new(&p.data, Distortion::SquaredEuclidean).unwrap();
            let soft = Soft::new(method.soft().unwrap(), &p).unwrap();
            let links = soft.links(|| Ok((1.0, 1.0))).unwrap();
            let metric = Metric::Diagonal(a);
            let span = Learner::new(&method, &points, &soft, links, true).spans(std::slice::from_ref(&metric));
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
            let c = run(&MpckMeans { metric: FORMS[which], max_pair, ..MpckMeans::default() }, &p, seed);
            let least = c.history.iter().map(|s| s.objective).fold(f64::INFINITY, f64::min);
            prop_assert_eq!(c.objective, Some(least));
        }
    }
}
