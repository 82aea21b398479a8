//! K-means with costs of constraints under a distance that is learned with the clusters.

mod farthest;
mod field;
mod measure;
mod pairs;

use std::sync::Arc;

use crate::pck_means::sweeps;
use mustlink_core::closure::{EntailedWeight, MAX_CLOSURE_PAIRS};
use mustlink_core::prelude::*;
use mustlink_kernels::constrained::constraint_groups::{ConstraintGroups, Entail, pairs_fit};
use mustlink_kernels::constrained::icm::{cheapest, visit};
use mustlink_kernels::constrained::penalised_kmeans::{
    PenalisedKMeans, PenaltyOptions, SoftInit, SoftOptions, SoftRules,
};
use mustlink_kernels::distance::points::{Distortion, Points, row};
use mustlink_kernels::distance::rows_by_label::by_label;
use mustlink_kernels::kmeans::lloyd::clustering;
use ndarray::Array2;

use farthest::Farthest;
use field::Field;
use measure::products;
use pairs::Partners;

pub use measure::Measure;

/// K-means on a hidden Markov random field: constraints and a learned distance in one objective.
///
/// # Method
/// Minimises Σ D_A(x, µ) + Σ w φ_A [must-link broken] + Σ w̄ (φ_max − φ_A) [cannot-link broken], with φ_A the distance
/// of the pair and φ_max the largest among cannot-linked pairs. Each round updates the labels, those of constrained
/// objects one by one, then the centres. Then it takes one gradient step of the weights A, halved until the objective
/// falls. The objective never rises after the first round. A Mahalanobis distance includes its log-determinant: A is
/// compared at the scale at which its determinant is 1, so weights cannot gather on features in which objects hardly
/// differ.
/// # Input and output
/// n × d dense, constraints of any weight. One label per object in `0..k`, k centres, feature weights that sum to d.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `BadParam`, also for negative values under `i_divergence`;
/// `HardNotSupported` for constraints marked hard; `ClosureTooLarge` and `Memory`, because the closure is listed.
/// # Cost and randomness
/// O(rounds · (n·k·d + pairs of the closure · d)) time, 190 bytes for each of these pairs; random as in
/// pairwise-constrained k-means.
/// # References
/// [BasuBilenkoMooney2004]. Differs: only `mahalanobis` has the log-partition term, which is its log-determinant; the
/// authors recommend leaving out the others, which are intractable. The rate is relative to the objective, so that it
/// does not depend on the units of the data. Cosine centres are sums of rows of length 1, which minimise the
/// objective.
#[options]
pub struct HmrfKMeans {
    /// Number of clusters, at most n. If absent, the k of the problem.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Distance whose feature weights are learned.
    pub measure: Measure,
    /// Include the log-determinant of `mahalanobis` in the objective; otherwise weights only have to sum to d.
    #[option(default = true)]
    pub log_determinant: bool,
    /// First rate of a gradient step (η): the share by which a feature of average cost changes.
    #[option(default = 0.01, above = 0.0)]
    pub rate: f64,
    /// Cost of a broken must-link of weight 1 (w), times the distance of its pair.
    #[option(default = 1.0, min = 0.0)]
    pub weight: f64,
    /// Cost of a broken cannot-link of weight 1 (w̄). If absent, the same as `weight`.
    #[option(min = 0.0)]
    pub weight_cannot: Option<f64>,
    /// Method of choosing the first centres.
    #[option(default = SoftInit::Neighbourhood)]
    pub init: SoftInit,
    /// Options shared by all methods that penalise broken constraints.
    #[option(flatten)]
    pub shared: PenaltyOptions,
}

#[plugin("hmrf_kmeans", cites = ["BasuBilenkoMooney2004"], version = 3)]
impl BaseClusterer for HmrfKMeans {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let k = problem.require_k(self.k, "hmrf_kmeans")?;
        let soft = PenalisedKMeans::new(self.soft(problem.n()), problem, sweeps, ctx)?;
        pairs_fit(&soft.closure, OF_A_PAIR, &problem.data, ctx)?;
        let distortion = match self.measure {
            Measure::Cosine => Distortion::Cosine,
            _ => Distortion::SquaredEuclidean,
        };
        // Starts follow the geometry; the loop sees the objects as they are given.
        let points = Points::new(&problem.data, distortion)?;
        let field = Field::new(self, problem, &soft)?;
        let start = |ctx: &Context| soft.start(&points, k, problem, ctx);
        soft.best(|ctx| field.run(start(ctx)?, self.shared, ctx), ctx)
    }

    fn properties(&self) -> Properties {
        Properties {
            needs_k: self.k.is_none(),
            reads_constraints: true,
            soft_weights: true,
            hard_as_soft: self.shared.hard_as_soft.is_some(),
            gives_centers: true,
            learns_weights: true,
            ..Properties::default()
        }
    }

    fn operations(&self, shape: &Shape) -> Option<f64> {
        // Weighted distances feature by feature, and the halvings of the rate, each of which measures all anew.
        const PER_ROUND: f64 = 16.0;
        let starts = self.restarts(shape.n) as f64;
        let rounds = self.shared.max_iterations as f64;
        Some(starts * rounds * PER_ROUND * shape.sweep(self.k.unwrap_or(shape.k)))
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let shape = &Shape { k: self.k.unwrap_or(shape.k), ..*shape };
        let Shape { n, d, k, entries, constraints } = *shape;
        let constrained = (2 * constraints).min(n);
        // Labels, centres and weights; distances of all objects, once more of those in constraints, and centres.
        let (result, working) = (4 * n + 16 * k * d, 8 * (n + constrained) * k + 32 * k * d);
        (8 * entries
            + 60 * n
            + self.soft(n).memory_of_starts((constrained, k, d), result, working)
            // The closure is refused where it has more pairs, or where those it has do not fit.
            + 40 * (constrained * constrained).min(MAX_CLOSURE_PAIRS as usize)) as u64
    }
}

impl HmrfKMeans {
    fn soft(&self, n: usize) -> SoftOptions {
        SoftOptions {
            weight: AutoOr::Value(self.weight),
            weight_cannot: self.weight_cannot.map(AutoOr::Value),
            rules: SoftRules { init: Some(self.init), ..SoftRules::default() },
            shared: PenaltyOptions { restarts: Some(self.restarts(n)), ..self.shared },
        }
    }

    /// The order of visits decides where one start ends: of 2000 runs on ten data sets, 5 % ended more than a
    /// fifth above the best objective seen. Ten starts are cheap on few objects.
    fn restarts(&self, n: usize) -> usize {
        self.shared.restarts.unwrap_or((20_000 / n.max(1)).clamp(1, 10))
    }
}

/// Bytes for each pair of the closure, listed and with its prices.
const OF_A_PAIR: u64 = 190;
/// Halvings of the rate before the weights stay as they are.
const HALVINGS: usize = 20;
/// Smallest weight of a feature before rescaling.
const LEAST: f64 = 1e-6;

/// Quantities that stay fixed while the weights are learned.
struct Labelled<'a> {
    labels: &'a [u32],
    centres: &'a Array2<f64>,
    broken: Vec<&'a Constraint>,
}

impl Field {
    fn new(method: &HmrfKMeans, problem: &Problem, soft: &PenalisedKMeans) -> Result<Self> {
        let (n, d) = (problem.n(), problem.d());
        let x = problem.data.to_dense();
        if method.measure == Measure::IDivergence
            && let Some(((i, s), v)) = x.indexed_iter().find(|(_, v)| **v < 0.0)
        {
            let value = format!("\"i_divergence\" with {v} in row {i}, column {s}");
            return Err(Error::bad_param("measure", value, "another one for negative values"));
        }
        // Distances differ from pair to pair, so the closure is written out.
        let pairs = soft.closure.pairs(EntailedWeight::Bottleneck, MAX_CLOSURE_PAIRS)?;
        let listed = Closure::new(&Constraints::new(n, pairs)?, n, OnConflict::Keep)?;
        let must = method.weight;
        let cannot = method.weight_cannot.unwrap_or(must);
        let links = Arc::new(ConstraintGroups::new(&listed, must, cannot, Entail::Off, 0)?);
        let partners = Partners::new(n, links.explicit());
        let listed = links.explicit().iter();
        let apart = listed.filter(|c| c.kind == Kind::CannotLink).map(|c| (c.i, c.j)).collect();
        let least = (0..d).map(|s| 1e-9 * x.column(s).sum() / n as f64).collect();
        let counts = method.measure == Measure::Mahalanobis && method.log_determinant;
        let varies = |&s: &usize| x.column(s).iter().any(|v| *v != x[[0, s]]);
        let varying = (0..d).filter(|_| counts).filter(varies).collect();
        let (measure, rate) = (method.measure, method.rate);
        Ok(Field { measure, rate, x, varying, links, partners, least, apart })
    }

    /// HMRF-KMeans from one start, the listing of [BasuBilenkoMooney2004].
    fn run(
        &self,
        start: (Array2<f64>, Vec<u32>),
        options: PenaltyOptions,
        ctx: &Context,
    ) -> Result<Clustering> {
        // 1: centres from the neighbourhoods.
        let (mut centres, mut labels) = start;
        let (k, d) = centres.dim();
        if self.measure == Measure::IDivergence {
            // An object that starts a cluster may lack what others have: they are not infinitely far from it.
            for mut centre in centres.rows_mut() {
                centre.iter_mut().zip(&self.least).for_each(|(c, &least)| *c = c.max(least));
            }
        }
        let mut a = vec![1.0; d];
        let mut farthest = Farthest::new(self);
        let mut history: Vec<IterStat> = Vec::new();
        let mut status = Status::MaxIter;
        for round in 0..options.max_iterations {
            ctx.check()?;
            // E: labels, those in constraints one by one.
            let mut pairs = self.prices(&a, farthest.under(&a).1);
            let (mut moved, own) = self.assign(&centres, &a, &mut labels);
            moved += visit(&mut pairs, &own, k, &mut labels, options.order, round, ctx);
            // M (A): centres.
            self.move_centres(&mut centres, &a, &labels);
            // M (B): a step of the distortion measure along its gradient.
            let given = self.links.explicit().iter();
            let broken: Vec<&Constraint> = given.filter(|c| c.is_violated(&labels)).collect();
            let violations = broken.len();
            let now = Labelled { labels: &labels, centres: &centres, broken };
            let mut objective = self.objective(&now, &a, &mut farthest);
            if let Some((better, value)) = self.step(&now, &a, objective, &mut farthest) {
                (a, objective) = (better, value);
            }
            let before = history.last().map(|s| s.objective);
            history.push(IterStat { objective, moved, violations: Some(violations) });
            let stands = before.is_some_and(|b| options.stop().is_over(b, objective));
            if stands || (moved == 0 && before == Some(objective)) {
                status = Status::Converged;
                break;
            }
        }
        let mut made = clustering(labels, centres, history, status, Distortion::SquaredEuclidean);
        made.extras.geometry = match self.measure {
            Measure::Cosine => Geometry::Cosine,
            _ => Geometry::Weighted,
        };
        made.extras.weights = Some(Array2::from_shape_fn((k, d), |(_, s)| a[s]));
        Ok(made)
    }

    /// As in metric learning k-means: free objects at once, what the others pay by themselves.
    fn assign(&self, centres: &Array2<f64>, a: &[f64], labels: &mut [u32]) -> (usize, Vec<f64>) {
        let k = centres.nrows();
        let constrained = self.links.constrained();
        let mut costs = vec![0.0; labels.len() * k];
        reduce::rows(&mut costs, k, |i, to| {
            for (h, to) in to.iter_mut().enumerate() {
                *to = self.measure.distance(a, row(&self.x, i), row(centres, h));
            }
        });
        let (mut moved, mut own) = (0, Vec::new());
        for (i, label) in labels.iter_mut().enumerate() {
            let cost = &costs[i * k..(i + 1) * k];
            if constrained[i] {
                own.extend_from_slice(cost);
            } else {
                let new = cheapest(cost, *label);
                moved += usize::from(new != *label);
                *label = new;
            }
        }
        (moved, own)
    }

    /// The centres that minimise the objective; an empty cluster keeps its own.
    fn move_centres(&self, centres: &mut Array2<f64>, a: &[f64], labels: &[u32]) {
        let (k, d) = centres.dim();
        let (offsets, order) = by_label(labels, k);
        for h in 0..k {
            let members = &order[offsets[h]..offsets[h + 1]];
            let mut sum = vec![0.0; d];
            for &i in members {
                let x = self.row(i);
                let scale = match self.measure {
                    Measure::Cosine => {
                        let length = products(a, x, x).1.sqrt();
                        if length > 0.0 { 1.0 / length } else { 0.0 }
                    }
                    _ => 1.0 / members.len() as f64,
                };
                sum.iter_mut().zip(x).for_each(|(s, v)| *s += scale * v);
            }
            match self.measure {
                Measure::Cosine => {
                    let length = products(a, &sum, &sum).1.sqrt();
                    if length == 0.0 {
                        continue;
                    }
                    sum.iter_mut().for_each(|s| *s /= length);
                }
                Measure::IDivergence => {
                    sum.iter_mut().zip(&self.least).for_each(|(s, &least)| *s = s.max(least));
                }
                Measure::Mahalanobis => {}
            }
            if !members.is_empty() {
                centres.row_mut(h).assign(&ndarray::ArrayView1::from(&sum));
            }
        }
    }

    /// J.
    fn objective(&self, now: &Labelled, a: &[f64], farthest: &mut Farthest) -> f64 {
        let spread = reduce::sum(now.labels.len(), |i| {
            let centre = row(now.centres, now.labels[i] as usize);
            self.measure.distance(a, row(&self.x, i), centre)
        });
        let (must, cannot) = self.links.factors();
        let largest = farthest.under(a).1;
        let mut cost = 0.0;
        for c in &now.broken {
            let far = self.measure.pair(a, self.row(c.i), self.row(c.j));
            cost += c.weight
                * match c.kind {
                    Kind::MustLink => must * far,
                    Kind::CannotLink => cannot * (largest - far),
                };
        }
        (spread + cost) * self.to_determinant_one(a)
    }

    /// Factor for a metric and all its distances that gives determinant 1. With the scale c of the
    /// metric that fits best, d log J − log det A is the likelihood; J becomes its exponential.
    fn to_determinant_one(&self, a: &[f64]) -> f64 {
        let logs: f64 = self.varying.iter().map(|&s| a[s].ln()).sum();
        (-logs / self.varying.len().max(1) as f64).exp()
    }

    /// Weights that lower the objective from `now`, by one gradient step, and its new value.
    fn step(
        &self,
        at: &Labelled,
        a: &[f64],
        now: f64,
        farthest: &mut Farthest,
    ) -> Option<(Vec<f64>, f64)> {
        let d = a.len();
        let of_block = |rows: std::ops::Range<usize>| {
            let mut g = vec![0.0; d];
            for i in rows {
                let centre = row(at.centres, at.labels[i] as usize);
                self.measure.gradient(a, row(&self.x, i), centre, 1.0, &mut g);
            }
            g
        };
        let add = |mut a: Vec<f64>, b: Vec<f64>| {
            a.iter_mut().zip(b).for_each(|(x, y)| *x += y);
            a
        };
        let mut g = reduce::reduce(at.labels.len(), of_block, add)?;
        let (must, cannot) = self.links.factors();
        let widest = farthest.under(a).0;
        for c in &at.broken {
            let scale = match c.kind {
                Kind::MustLink => must * c.weight,
                Kind::CannotLink => -cannot * c.weight,
            };
            self.measure.pair_gradient(a, self.row(c.i), self.row(c.j), scale, &mut g);
            if let (Kind::CannotLink, Some((i, j))) = (c.kind, widest) {
                self.measure.pair_gradient(a, self.row(i), self.row(j), -scale, &mut g);
            }
        }
        if now <= 0.0 {
            return None;
        }
        let varying = self.varying.len();
        let mut rate = self.rate * d as f64 / now;
        if varying > 0 {
            // The gradient of log J − 1/d' Σ log a by log a: the share of a feature in J beyond the mean share.
            let mean = now / (self.to_determinant_one(a) * varying as f64);
            let mut relative = vec![0.0; d];
            self.varying.iter().for_each(|&s| relative[s] = a[s] * (a[s] * g[s] / mean - 1.0));
            g = relative;
            rate = self.rate;
        }
        for _ in 0..=HALVINGS {
            let mut next: Vec<f64> =
                a.iter().zip(&g).map(|(a, g)| (a - rate * g).max(LEAST)).collect();
            let total: f64 = next.iter().sum();
            next.iter_mut().for_each(|v| *v *= d as f64 / total);
            let value = self.objective(at, &next, farthest);
            if value < now {
                return Some((next, value));
            }
            rate *= 0.5;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kmeans::KMeans;
    use mustlink_core::constraints::Group;
    use mustlink_kernels::kmeans::lloyd::Empty;
    use mustlink_kernels::kmeans::seeding::Init;
    use mustlink_laws::fixtures;
    use ndarray::array;
    use proptest::prelude::*;

    const MEASURES: [Measure; 3] = [Measure::Mahalanobis, Measure::Cosine, Measure::IDivergence];

    fn run(method: &HmrfKMeans, problem: &Problem, seed: u64) -> Clustering {
        method.cluster(problem, &Context::new(seed)).unwrap()
    }

    #[test]
    fn objects_that_lack_features_may_start_clusters_of_divergence() {
        // Counts, as of words: whatever object is a centre, others have what it has not.
        let x = array![[0.0, 3.0], [2.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]];
        let apart = Constraints::new(5, [Constraint::cannot(0, 1)]).unwrap();
        let p = Problem::new(Data::dense(x).unwrap());
        for init in [Init::Random, Init::KmeansPlusPlus, Init::FarthestFirst, Init::Perturb] {
            for (k, given) in [(1, apart.clone()), (2, apart.clone()), (1, Constraints::default())]
            {
                let p = p.clone().with_k(k).with_constraints(given);
                let (measure, init) = (Measure::IDivergence, SoftInit::Plain(init));
                let method = HmrfKMeans { measure, init, ..HmrfKMeans::default() };
                for seed in 0..6 {
                    let c = run(&method, &p, seed);
                    assert!(c.labels.iter().all(|&l| (l as usize) < k), "{:?}", c.labels);
                    assert!(c.objective.unwrap().is_finite(), "{:?}", c.objective);
                }
            }
        }
    }

    #[test]
    fn all_pairs_of_the_closure_must_fit() {
        // A chain of 200 entails 19 900 pairs, whatever the links weigh.
        let (x, _) = fixtures::groups(70, 2, 1.0, 1);
        let links = (0..199).map(|i| Constraint::must(i, i + 1));
        let p = Problem::new(Data::dense(x).unwrap()).with_k(3);
        let p = p.with_constraints(Constraints::new(210, links).unwrap());
        let limited = |bytes| Context::builder(SeedPath::new(1)).memory_limit(Some(bytes)).build();
        let method = HmrfKMeans::default();
        let refused = method.cluster(&p, &limited(3_000_000)).unwrap_err();
        assert!(matches!(refused, Error::Memory { needed: 3_700_000.., .. }), "{refused}");
        assert!(method.cluster(&p, &limited(4_000_000)).is_ok());
    }

    #[test]
    fn worked_example() {
        // The second feature parts objects that belong together: its weight falls.
        let x = array![[0.0, 0.0], [0.1, 4.0], [5.0, 4.0], [5.1, 0.0]];
        let pairs = [Constraint::must(0, 1), Constraint::must(2, 3), Constraint::cannot(0, 3)];
        let p = Problem::new(Data::dense(x).unwrap()).with_k(2);
        let p = p.with_constraints(Constraints::new(4, pairs).unwrap());
        let c = run(&HmrfKMeans::default(), &p, 1);
        assert_eq!(c.labels, [0, 0, 1, 1]);
        let a = c.extras.weights.unwrap();
        assert!(a[[0, 0]] > 1.0 && a[[0, 1]] < 1.0 && (a.row(0).sum() - 2.0).abs() < 1e-12);
    }

    #[test]
    fn illegal_options_are_named() {
        let (p, _) = fixtures::dense(1);
        let fails =
            |m: HmrfKMeans, p: &Problem| m.cluster(p, &Context::new(1)).unwrap_err().to_string();
        let rate = HmrfKMeans { rate: 0.0, ..HmrfKMeans::default() };
        assert_eq!(fails(rate, &p), "rate: must be above 0, got 0");
        let p = Problem::new(Data::dense(array![[1.0, 2.0], [1.0, -2.0]]).unwrap()).with_k(1);
        let negative = HmrfKMeans { measure: Measure::IDivergence, ..HmrfKMeans::default() };
        assert_eq!(
            fails(negative, &p),
            "measure: must be another one for negative values, got \"i_divergence\" with -2 in row 1, \
             column 1"
        );
    }

    #[test]
    fn gradients_are_differences() {
        let (x, m) = ([1.0, 0.5, 3.0], [2.0, 1.0, 0.7]);
        let a = [0.8, 1.3, 0.9];
        for measure in MEASURES {
            let (mut d, mut p) = ([0.0; 3], [0.0; 3]);
            measure.gradient(&a, &x, &m, 1.0, &mut d);
            measure.pair_gradient(&a, &x, &m, 1.0, &mut p);
            for s in 0..3 {
                let (mut more, mut less) = (a, a);
                more[s] += 1e-6;
                less[s] -= 1e-6;
                let slope = |f: &dyn Fn(&[f64]) -> f64| (f(&more) - f(&less)) / 2e-6;
                assert!((slope(&|a| measure.distance(a, &x, &m)) - d[s]).abs() < 1e-6);
                assert!((slope(&|a| measure.pair(a, &x, &m)) - p[s]).abs() < 1e-6);
            }
            assert!((measure.pair(&a, &x, &m) - measure.pair(&a, &m, &x)).abs() < 1e-12);
            assert!(measure.distance(&a, &x, &x).abs() < 1e-12);
        }
    }

    proptest! {
        /// The result is the same as by a search of all pairs, while weights change by small and by large steps.
        #[test]
        fn the_first_of_the_farthest(
            seed in 0u64..500,
            steps in prop::collection::vec(prop::collection::vec(0.1f64..3.0, 4), 1..6),
            cosine: bool,
        ) {
            let (p, _) = fixtures::dense(seed);
            let all = Group::new("all", (0..45).collect());
            let p = p.with_constraints(Constraints::default().with_groups(45, [all]).unwrap());
            let measure = if cosine { Measure::Cosine } else { Measure::Mahalanobis };
            let method = HmrfKMeans { measure, ..HmrfKMeans::default() };
            let soft = PenalisedKMeans::new(method.soft(p.n()), &p, sweeps, &Context::new(1)).unwrap();
            let field = Field::new(&method, &p, &soft).unwrap();
            prop_assert!(field.apart.len() > farthest::KEPT);
            let mut farthest = Farthest::new(&field);
            let mut a = vec![1.0; 4];
            for step in steps {
                for exponent in [0.01, 1.0] {
                    a.iter_mut().zip(&step).for_each(|(a, step)| *a *= step.powf(exponent));
                    let mut best = (None, 0.0);
                    for &(i, j) in &field.apart {
                        let far = measure.pair(&a, field.row(i), field.row(j));
                        if far > best.1 {
                            best = (Some((i, j)), far);
                        }
                    }
                    prop_assert_eq!(farthest.under(&a), best);
                }
            }
        }

        #[test]
        fn objective_falls(seed in 0u64..500, pairs in 0usize..50, wrong in 0usize..4, which in 0usize..3) {
            let (p, classes) = fixtures::dense(seed);
            let mut all = fixtures::true_constraints(&classes, pairs, seed).pairs().to_vec();
            for c in all.iter_mut().take(wrong) {
                c.kind = if c.kind == Kind::MustLink { Kind::CannotLink } else { Kind::MustLink };
            }
            let p = p.with_constraints(Constraints::new(45, all).unwrap());
            let method = HmrfKMeans { measure: MEASURES[which], shared: PenaltyOptions { tolerance: 0.0, max_iterations: 30, ..PenaltyOptions::default() }, ..HmrfKMeans::default() };
            let c = run(&method, &p, seed);
            for w in c.history.windows(2) {
                // The farthest cannot-linked pair may change with the weights; J counts it as it is.
                prop_assert!(w[1].objective <= w[0].objective * (1.0 + 1e-9), "{:?}", c.history);
            }
            let total: f64 = c.extras.weights.unwrap().row(0).sum();
            prop_assert!((total - 4.0).abs() < 1e-9);
        }

        #[test]
        fn the_first_round_without_constraints_is_that_of_kmeans(seed: u64) {
            let (p, _) = fixtures::dense(seed);
            let once = HmrfKMeans { shared: PenaltyOptions { max_iterations: 1, restarts: Some(1), ..PenaltyOptions::default() }, ..HmrfKMeans::default() };
            let kmeans = KMeans { max_iterations: 1, restarts: 1, empty: Empty::Keep, ..KMeans::default() };
            let expected = kmeans.cluster(&p, &Context::new(seed)).unwrap().labels;
            prop_assert_eq!(run(&once, &p, seed).labels, expected);
        }
    }
}
