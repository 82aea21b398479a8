//! Which k centres explain the objects best when breaking a constraint costs something?

use mustlink_core::closure::{Closure, OnConflict};
use mustlink_core::constraints::Strength;
use mustlink_core::prelude::*;
use mustlink_core::reduce;
use mustlink_kernels::assign::assign;
use mustlink_kernels::lloyd::{
    Empty, Rest, Stop, ToleranceKind, best_of, lloyd, refill, total_distortion,
};
use mustlink_kernels::neighbourhood_start::{FewerThanK, MoreThanK, Rules, neighbourhood_start};
use mustlink_kernels::penalties::{Entail, Penalties, Scratch};
use mustlink_kernels::points::{Distortion, Points, row, row_norms};
use mustlink_kernels::seeding::{self, Perturb, means};
use ndarray::Array2;
use rayon::prelude::*;

/// Pairwise-constrained k-means: broken constraints cost their weight, neighbourhoods start clusters.
///
/// # Method
/// Minimises Σ D(x, µ) + Σ w [must-link broken] + Σ w̄ [cannot-link broken] over closed constraints.
/// Each sweep visits the constrained objects one by one, in order, with the labels as they are now;
/// the others choose their nearest centre. The objective never rises after the first sweep.
/// # Input and output
/// n × d, dense or sparse, constraints of any weight. One label per object in `0..k`, k centres.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `InconsistentConstraints` only where `on_conflict` asks;
/// `HardNotSupported` for constraints marked hard; `ClosureTooLarge` for unequal weights whose
/// closure must be expanded.
/// # Cost and randomness
/// O(sweeps · (n·k·d + constrained objects · k + moves · separated components)); the closure is never
/// expanded while all constraints of a kind weigh the same. Random: the order of visits, and the
/// start where neighbourhoods do not settle it.
/// # References
/// [Basu2004] §3–4; [Greene2007] Eq. 1. Differs: more than k neighbourhoods start by weighted
/// farthest-first, the later rule; `largest` is the paper's.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PckMeans {
    /// Number of clusters, at most n; absent: that of the problem.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<usize>,
    /// How far an object is from a centre.
    pub distortion: Distortion,
    /// Cost of a broken must-link of weight 1 (w), or "auto": the mean distortion of the objects to
    /// their common centre, so that penalties are of the scale of the data.
    pub weight: Weight,
    /// Cost of a broken cannot-link of weight 1 (w̄); absent: as `weight`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight_cannot: Option<Weight>,
    /// Halve the squared Euclidean distortion, as the SDM paper's objective does.
    pub half_distortion: bool,
    /// Weight of constraints marked hard; absent: they are refused.
    #[schemars(range(min = 0.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hard_as_soft: Option<f64>,
    /// How far constraints are extended before they cost anything.
    pub entail: Entail,
    /// How the first centres are chosen.
    pub init: PckInit,
    /// How they are chosen when no neighbourhood is known.
    pub init_without_constraints: seeding::Init,
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
    /// Sweeps of one start.
    #[schemars(range(min = 1))]
    pub max_iterations: usize,
    /// Smallest change of the objective worth another sweep.
    #[schemars(range(min = 0.0))]
    pub tolerance: f64,
    /// How the change is compared with the tolerance.
    pub tolerance_kind: ToleranceKind,
    /// What happens to a cluster without objects.
    pub empty: Empty,
}

/// A number, or a rule that finds one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Weight {
    /// The weight itself.
    Number(#[schemars(range(min = 0.0))] f64),
    /// Fitted to the scale of the data.
    Auto(Auto),
}

/// The word "auto".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Auto {
    /// Fitted to the scale of the data.
    Auto,
}

/// How the first centres are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PckInit {
    /// From the neighbourhoods of the constraints.
    #[default]
    Neighbourhood,
    /// As in k-means.
    #[serde(untagged)]
    Plain(seeding::Init),
}

/// In which order objects are visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// A fresh random order each sweep.
    #[default]
    Random,
    /// One random order for all sweeps.
    RandomFixed,
    /// By index.
    Index,
    /// By ascending smallest cost at the start of the sweep.
    Sorted,
}

impl Default for PckMeans {
    fn default() -> Self {
        PckMeans {
            k: None,
            distortion: Distortion::default(),
            weight: Weight::Number(1.0),
            weight_cannot: None,
            half_distortion: false,
            hard_as_soft: None,
            entail: Entail::default(),
            init: PckInit::default(),
            init_without_constraints: seeding::Init::default(),
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

register!(BaseClusterer, PckMeans, "pck_means", references: ["Basu2004", "Greene2007"]);

#[typetag::serde(name = "pck_means")]
impl BaseClusterer for PckMeans {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let k = problem.require_k(self.k, "pck_means")?;
        let stop = Stop::new(self.max_iterations, self.tolerance, self.tolerance_kind)?;
        if self.perturb_rho.is_nan() || self.perturb_rho <= 0.0 {
            return Err(Error::bad_param("perturb_rho", self.perturb_rho, "> 0"));
        }
        if let Some(weight) = self.hard_as_soft.filter(|w| !w.is_finite() || *w < 0.0) {
            return Err(Error::bad_param("hard_as_soft", weight, "finite and >= 0"));
        }
        let constraints = self.softened(&problem.constraints, problem.n())?;
        let closure = Closure::new(&constraints, problem.n(), self.on_conflict)?;
        let neighbourhoods = closure.neighbourhoods();
        let points = Points::new(&problem.data, self.distortion)?;
        let init = match self.init {
            PckInit::Neighbourhood if neighbourhoods.is_empty() => {
                Some(self.init_without_constraints)
            }
            PckInit::Neighbourhood => None,
            PckInit::Plain(init) => Some(init),
        };
        let random = init.is_some_and(seeding::Init::is_random);
        let restarts = self.restarts.unwrap_or(if random { 10 } else { 1 });
        let (weight, weight_cannot) = self.weights(&points)?;
        let fresh = Penalties::new(&closure, k, weight, weight_cannot, self.entail)?;
        let mut best = best_of(restarts, |r| {
            let ctx = ctx.index(r);
            let (centres, labels) = match init {
                Some(init) => {
                    (seeding::start(&points, k, init, problem, &ctx)?, vec![NONE; points.n()])
                }
                None => {
                    let rules = Rules {
                        more: self.lambda_gt_k,
                        fewer: self.lambda_lt_k,
                        perturb: self.perturb,
                        rho: self.perturb_rho,
                    };
                    let mut stream = ctx.stream("start");
                    neighbourhood_start(&points, k, &closure, &neighbourhoods, rules, &mut stream)
                }
            };
            if !fresh.constrained().contains(&true) && !self.half_distortion {
                return lloyd(&points, centres, stop, self.empty, &ctx);
            }
            self.descend(&points, fresh.clone(), centres, labels, stop, &ctx)
        })?;
        let diagnostics = &mut best.extras.diagnostics;
        diagnostics.insert("neighbourhoods".into(), neighbourhoods.len() as f64);
        diagnostics.insert("conflicts".into(), closure.conflicts().len() as f64);
        diagnostics.insert("weight".into(), weight);
        Ok(best)
    }

    fn properties(&self) -> Properties {
        Properties {
            accepts: vec![DataKind::Dense, DataKind::Csr],
            needs_k: self.k.is_none(),
            reads_constraints: true,
            soft_weights: true,
            gives_centers: true,
            ..Properties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let copy = if self.distortion == Distortion::Cosine { 12 * shape.entries } else { 0 };
        let constrained = (2 * shape.constraints).min(shape.n);
        (copy + 64 * shape.n + 100 * shape.constraints + 24 * constrained * shape.k
            + 24 * shape.k * shape.d) as u64
    }
}

impl PckMeans {
    /// Hard constraints as soft ones of the weight the user set, if the user did.
    fn softened(&self, given: &Constraints, n: usize) -> Result<Constraints> {
        let is_hard = |c: &&Constraint| c.strength == Some(Strength::Hard);
        let Some(hard) = given.pairs().iter().find(is_hard) else { return Ok(given.clone()) };
        let Some(weight) = self.hard_as_soft else {
            return Err(Error::HardNotSupported { i: hard.i as usize, j: hard.j as usize });
        };
        let soft = given.pairs().iter().map(|c| match is_hard(&c) {
            true => c.weighing(weight),
            false => *c,
        });
        Ok(Constraints::new(n, soft)?.with_neighbourhoods(given.neighbourhoods().to_vec()))
    }

    /// The costs of a broken must-link and cannot-link of weight 1.
    fn weights(&self, points: &Points) -> Result<(f64, f64)> {
        let number = |weight: Weight, name: &str| match weight {
            Weight::Number(w) if w.is_finite() && w >= 0.0 => Ok(w),
            Weight::Number(w) => Err(Error::bad_param(name, w, "finite and >= 0, or \"auto\"")),
            Weight::Auto(_) => {
                let all: Vec<u32> = (0..points.n() as u32).collect();
                let centre = points.mean(&all).unwrap_or_else(|| vec![0.0; points.d()]);
                let norm = centre.iter().map(|v| v * v).sum();
                let total = reduce::sum(points.n(), |i| points.distance(i, &centre, norm));
                Ok(self.scale() * total / points.n() as f64)
            }
        };
        let must = number(self.weight, "weight")?;
        let cannot = self.weight_cannot.map_or(Ok(must), |w| number(w, "weight_cannot"))?;
        Ok((must, cannot))
    }

    /// The factor of the distortion in the objective.
    fn scale(&self) -> f64 {
        if self.half_distortion && self.distortion == Distortion::SquaredEuclidean { 0.5 } else { 1.0 }
    }

    fn descend(
        &self,
        points: &Points,
        mut penalties: Penalties,
        mut centres: Array2<f64>,
        mut labels: Vec<u32>,
        stop: Stop,
        ctx: &Context,
    ) -> Result<Clustering> {
        let (n, k) = (points.n(), centres.nrows());
        let constrained = penalties.constrained().to_vec();
        let objects: Vec<u32> = (0..n as u32).filter(|&i| constrained[i as usize]).collect();
        for &i in &objects {
            penalties.moved(i as usize, NONE, labels[i as usize]);
        }
        let mut history: Vec<IterStat> = Vec::new();
        let mut status = Status::MaxIter;
        for sweep in 0..stop.max_iterations {
            ctx.check()?;
            let mut moved = assign(points, &centres, &mut labels, Some(&constrained));
            moved += self.visit(points, &mut penalties, &centres, &objects, &mut labels, sweep, ctx);
            let sizes;
            (centres, sizes) = means(points, &labels, centres);
            if sizes.contains(&0) {
                let mut rest = Scaled { penalties: &mut penalties, k, scale: self.scale() };
                moved += refill(points, &mut labels, &mut centres, self.empty, &mut rest)?;
            }
            let (cost, violations) = penalties.total(&labels);
            let objective = self.scale() * total_distortion(points, &labels, &centres) + cost;
            let before = history.last().map(|s| s.objective);
            history.push(IterStat { objective, moved, violations: Some(violations) });
            if moved == 0 || before.is_some_and(|b| stop.is_over(b, objective)) {
                status = Status::Converged;
                break;
            }
        }
        Ok(Clustering {
            labels,
            k,
            objective: history.last().map(|s| s.objective),
            history,
            status,
            extras: Extras {
                centers: Some(centres),
                geometry: self.distortion.geometry(),
                ..Extras::default()
            },
        })
    }

    /// One pass over the constrained objects, in order, with labels as they are now.
    #[allow(clippy::too_many_arguments)] // the state of one run; a struct for it would say less
    fn visit(
        &self,
        points: &Points,
        penalties: &mut Penalties,
        centres: &Array2<f64>,
        objects: &[u32],
        labels: &mut [u32],
        sweep: usize,
        ctx: &Context,
    ) -> usize {
        let k = centres.nrows();
        let norms = row_norms(centres);
        // Distances do not depend on labels: computed ahead, in parallel.
        let mut distances = vec![0.0; objects.len() * k];
        distances.par_chunks_mut(k.max(1)).zip(objects).for_each(|(to, &i)| {
            for (h, d) in to.iter_mut().enumerate() {
                *d = self.scale() * points.distance(i as usize, row(centres, h), norms[h]);
            }
        });
        let order = self.order_of(objects, points.n(), sweep, ctx, |at| {
            let mut cost = distances[at * k..(at + 1) * k].to_vec();
            penalties.add(objects[at] as usize, labels, &mut cost, &mut Scratch::default());
            cost.into_iter().fold(f64::INFINITY, f64::min)
        });
        let mut scratch = Scratch::default();
        let mut cost = vec![0.0; k];
        let mut moved = 0;
        for at in order {
            let i = objects[at] as usize;
            cost.copy_from_slice(&distances[at * k..(at + 1) * k]);
            penalties.add(i, labels, &mut cost, &mut scratch);
            let current = labels[i];
            let mut best = (f64::INFINITY, NONE);
            for (h, &c) in cost.iter().enumerate() {
                if c < best.0 || (c == best.0 && h as u32 == current) {
                    best = (c, h as u32);
                }
            }
            if best.1 != current {
                penalties.moved(i, current, best.1);
                labels[i] = best.1;
                moved += 1;
            }
        }
        moved
    }

    /// Positions in `objects` in the order of visits: the order of all objects, restricted to these.
    fn order_of(
        &self,
        objects: &[u32],
        n: usize,
        sweep: usize,
        ctx: &Context,
        smallest_cost: impl Fn(usize) -> f64,
    ) -> Vec<usize> {
        let sweep = if self.order == Order::RandomFixed { 0 } else { sweep };
        match self.order {
            Order::Index => (0..objects.len()).collect(),
            Order::Sorted => {
                let costs: Vec<f64> = (0..objects.len()).map(smallest_cost).collect();
                let mut order: Vec<usize> = (0..objects.len()).collect();
                order.sort_by(|&a, &b| costs[a].total_cmp(&costs[b]).then(a.cmp(&b)));
                order
            }
            Order::Random | Order::RandomFixed => {
                let mut place = vec![NONE; n];
                objects.iter().enumerate().for_each(|(at, &i)| place[i as usize] = at as u32);
                let all = ctx.index(sweep).stream("order").permutation(n);
                all.into_iter()
                    .filter(|&i| place[i as usize] != NONE)
                    .map(|i| place[i as usize] as usize)
                    .collect()
            }
        }
    }
}

/// Penalties as the part of the objective that is not distortion.
struct Scaled<'a> {
    penalties: &'a mut Penalties,
    k: usize,
    scale: f64,
}

impl Rest for Scaled<'_> {
    fn rise(&self, i: usize, to: u32, labels: &[u32]) -> f64 {
        let mut cost = vec![0.0; self.k];
        self.penalties.add(i, labels, &mut cost, &mut Scratch::default());
        (cost[to as usize] - cost[labels[i] as usize]) / self.scale
    }

    fn moved(&mut self, i: usize, from: u32, to: u32) {
        self.penalties.moved(i, from, to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kmeans::KMeans;
    use mustlink_core::closure::EntailedWeight;
    use mustlink_core::contract::fixtures;
    use mustlink_kernels::points::squared_distance;
    use ndarray::array;
    use proptest::prelude::*;

    fn run(method: &PckMeans, problem: &Problem, seed: u64) -> Clustering {
        method.cluster(problem, &Context::new(seed)).unwrap()
    }

    /// The same problem with every entailed pair written out.
    fn expanded(problem: &Problem, entail: Entail) -> Problem {
        let n = problem.n();
        let closure = Closure::new(&problem.constraints, n, OnConflict::Keep).unwrap();
        let pairs = closure.pairs(EntailedWeight::Bottleneck, 1_000_000).unwrap();
        let large = |i: u32| closure.members(closure.component(i as usize)).len() >= 2;
        let given: Vec<(u32, u32)> = problem.constraints.pairs().iter().map(|c| (c.i, c.j)).collect();
        let kept = pairs.into_iter().filter(|c| {
            entail == Entail::Full
                || c.kind == Kind::MustLink
                || (large(c.i) && large(c.j))
                || given.contains(&(c.i, c.j))
        });
        problem.clone().with_constraints(Constraints::new(n, kept).unwrap())
    }

    fn slow_objective(method: &PckMeans, problem: &Problem, c: &Clustering) -> f64 {
        let (w, scale) = match method.weight {
            Weight::Number(w) => (w, method.scale()),
            Weight::Auto(_) => panic!("tests name their weight"),
        };
        let centres = c.extras.centers.as_ref().unwrap();
        let x = problem.data.to_dense();
        let distortion: f64 = (0..problem.n())
            .map(|i| {
                let m = centres.row(c.labels[i] as usize);
                squared_distance(x.row(i).as_slice().unwrap(), &m.to_vec())
            })
            .sum();
        let v = expanded(problem, method.entail).constraints.violations(&c.labels);
        scale * distortion + w * (v.must_weight + v.cannot_weight)
    }

    #[test]
    fn worked_example() {
        // On a line, 0 and 10 must be together and 1 apart from both: two clusters, {0, 10} pay
        // distortion 50 unless breaking the link is cheaper.
        let x = array![[0.0], [10.0], [1.0]];
        let constraints =
            Constraints::new(3, [Constraint::must(0, 1), Constraint::cannot(0, 2)]).unwrap();
        let p = Problem::new(Data::dense(x).unwrap()).with_k(2).with_constraints(constraints);
        let strong = run(&PckMeans { weight: Weight::Number(1000.0), ..PckMeans::default() }, &p, 1);
        assert_eq!(strong.labels[0], strong.labels[1]);
        assert_ne!(strong.labels[0], strong.labels[2]);
        assert_eq!(strong.objective, Some(50.0));
        let weak = PckMeans { weight: Weight::Number(0.1), init: PckInit::Plain(seeding::Init::FarthestFirst), ..PckMeans::default() };
        let weak = run(&weak, &p, 1);
        assert_eq!(weak.labels[0], weak.labels[2]);
        assert!((weak.objective.unwrap() - 0.7).abs() < 1e-12, "two broken cannot-links would be .2, one must-link .1");
    }

    #[test]
    fn hard_constraints_need_an_opt_in() {
        let (p, _) = fixtures::dense(1);
        let hard = Constraint { strength: Some(Strength::Hard), ..Constraint::must(0, 1) };
        let p = p.with_constraints(Constraints::new(45, [hard]).unwrap());
        let refused = PckMeans::default().cluster(&p, &Context::new(1)).unwrap_err();
        assert_eq!(refused, Error::HardNotSupported { i: 0, j: 1 });
        run(&PckMeans { hard_as_soft: Some(5.0), ..PckMeans::default() }, &p, 1);
    }

    #[test]
    fn options_are_read_and_written() {
        let text = r#"{"type":"pck_means","weight":"auto","init":"farthest_first","weight_cannot":2}"#;
        let plugin: Box<dyn BaseClusterer> = serde_json_from(text);
        assert!(format!("{plugin:?}").contains("Plain(FarthestFirst)"));
        fn serde_json_from(text: &str) -> Box<dyn BaseClusterer> {
            mustlink_core::serde_json::from_str(text).unwrap()
        }
    }

    /// A problem with true constraints, and a part of them turned round so that some conflict.
    fn random_problem(seed: u64, pairs: usize, wrong: usize) -> Problem {
        let (p, classes) = fixtures::dense(seed);
        let mut all = fixtures::true_constraints(&classes, pairs, seed).pairs().to_vec();
        for c in all.iter_mut().take(wrong) {
            c.kind = if c.kind == Kind::MustLink { Kind::CannotLink } else { Kind::MustLink };
        }
        p.with_constraints(Constraints::new(45, all).unwrap())
    }

    fn methods() -> impl Strategy<Value = PckMeans> {
        (
            prop_oneof![Just(0.0), Just(0.3), Just(2.0), Just(50.0)],
            prop_oneof![Just(Entail::Full), Just(Entail::NeighbourhoodsOnly)],
            prop_oneof![Just(Order::Random), Just(Order::RandomFixed), Just(Order::Index), Just(Order::Sorted)],
            prop_oneof![Just(MoreThanK::WeightedFarthestFirst), Just(MoreThanK::Largest)],
            prop_oneof![Just(FewerThanK::ClPointThenPerturb), Just(FewerThanK::Perturb), Just(FewerThanK::FarthestFirst), Just(FewerThanK::Random)],
            prop_oneof![Just(Empty::Keep), Just(Empty::Reseed)],
            any::<bool>(),
        )
            .prop_map(|(w, entail, order, lambda_gt_k, lambda_lt_k, empty, half_distortion)| PckMeans {
                weight: Weight::Number(w),
                entail,
                order,
                lambda_gt_k,
                lambda_lt_k,
                empty,
                half_distortion,
                tolerance: 0.0,
                ..PckMeans::default()
            })
    }

    proptest! {
        #[test]
        fn objective_falls_and_is_what_it_says(method in methods(), seed in 0u64..500, pairs in 1usize..60, wrong in 0usize..4) {
            let p = random_problem(seed, pairs, wrong);
            let c = run(&method, &p, seed);
            for w in c.history.windows(2) {
                prop_assert!(w[1].objective <= w[0].objective * (1.0 + 1e-12) + 1e-12, "{:?}", c.history);
            }
            let slow = slow_objective(&method, &p, &c);
            prop_assert!((slow - c.objective.unwrap()).abs() <= 1e-9 * slow.max(1.0), "{slow} {:?}", c.objective);
        }

        #[test]
        fn implicit_and_expanded_closure_give_the_same_bits(method in methods(), seed in 0u64..500, pairs in 1usize..60, wrong in 0usize..4, weight in prop_oneof![Just(1.0), Just(0.1)]) {
            let p = random_problem(seed, pairs, wrong);
            let weighted = p.constraints.pairs().iter().map(|c| c.weighing(weight));
            let p = p.clone().with_constraints(Constraints::new(45, weighted).unwrap());
            let slow = PckMeans { entail: Entail::Off, ..method.clone() };
            let a = run(&method, &p, seed);
            let b = run(&slow, &expanded(&p, method.entail), seed);
            prop_assert_eq!(a.labels, b.labels);
            prop_assert_eq!(a.objective.unwrap().to_bits(), b.objective.unwrap().to_bits());
        }

        #[test]
        fn unequal_weights_follow_the_same_objective(seed in 0u64..500, pairs in 1usize..60) {
            let p = random_problem(seed, pairs, 0);
            let weighted: Vec<Constraint> = p.constraints.pairs().iter().enumerate()
                .map(|(at, c)| c.weighing(1.0 + (at % 4) as f64)).collect();
            let p = p.clone().with_constraints(Constraints::new(45, weighted).unwrap());
            let method = PckMeans { tolerance: 0.0, ..PckMeans::default() };
            let c = run(&method, &p, seed);
            let slow = slow_objective(&method, &p, &c);
            prop_assert!((slow - c.objective.unwrap()).abs() <= 1e-9 * slow.max(1.0));
        }

        #[test]
        fn without_constraints_it_is_kmeans(seed: u64, cosine: bool) {
            let (p, _) = fixtures::dense(seed);
            let distortion = if cosine { Distortion::Cosine } else { Distortion::SquaredEuclidean };
            let pck = PckMeans { distortion, ..PckMeans::default() };
            let kmeans = KMeans { distortion, max_iterations: 100, empty: Empty::Keep, ..KMeans::default() };
            let (a, b) = (run(&pck, &p, seed), kmeans.cluster(&p, &Context::new(seed)).unwrap());
            prop_assert_eq!(a.labels, b.labels);
            prop_assert_eq!(a.objective, b.objective);
        }

        #[test]
        fn weight_zero_from_given_centres_is_kmeans(seed: u64) {
            let p = random_problem(seed, 30, 0);
            let centres = p.data.to_dense().select(ndarray::Axis(0), &[0, 1, 2]);
            let p = p.with_start(Start::Centroids(centres));
            let init = seeding::Init::Given;
            let pck = PckMeans { weight: Weight::Number(0.0), init: PckInit::Plain(init), ..PckMeans::default() };
            let kmeans = KMeans { init, max_iterations: 100, empty: Empty::Keep, ..KMeans::default() };
            let (a, b) = (run(&pck, &p, seed), kmeans.cluster(&p, &Context::new(seed)).unwrap());
            prop_assert_eq!(a.labels, b.labels);
            prop_assert_eq!(a.objective, b.objective);
        }

        #[test]
        fn great_weight_breaks_nothing_that_neighbourhoods_cover(seed: u64) {
            // A spanning set of true must-links per class and one cannot-link between each two.
            let (p, classes) = fixtures::dense(seed);
            let mut pairs: Vec<Constraint> = (3..45).map(|i| Constraint::must(i, classes[i] as usize)).collect();
            pairs.extend([Constraint::cannot(0, 1), Constraint::cannot(0, 2), Constraint::cannot(1, 2)]);
            let p = p.with_constraints(Constraints::new(45, pairs).unwrap());
            let c = run(&PckMeans { weight: Weight::Number(1e9), ..PckMeans::default() }, &p, seed);
            prop_assert_eq!(p.constraints.violations(&c.labels).total(), 0);
        }

        #[test]
        fn what_is_implied_changes_nothing(seed in 0u64..500, pairs in 1usize..40) {
            let p = random_problem(seed, pairs, 0);
            let full = expanded(&p, Entail::Full);
            let (a, b) = (run(&PckMeans::default(), &p, seed), run(&PckMeans::default(), &full, seed));
            prop_assert_eq!(&a.labels, &b.labels);
            let doubled = p.constraints.pairs().iter().chain(p.constraints.pairs()).copied();
            let twice = p.clone().with_constraints(Constraints::new(45, doubled).unwrap());
            prop_assert_eq!(&a.labels, &run(&PckMeans::default(), &twice, seed).labels);
        }

        #[test]
        fn scaling_data_and_weight_keeps_labels(seed in 0u64..500, pairs in 1usize..40) {
            let p = random_problem(seed, pairs, 1);
            let larger = Problem { data: Data::dense(p.data.to_dense().mapv(|v| 2.0 * v)).unwrap(), ..p.clone() };
            let method = |w: f64| PckMeans { weight: Weight::Number(w), tolerance: 0.0, ..PckMeans::default() };
            prop_assert_eq!(run(&method(1.5), &p, seed).labels, run(&method(6.0), &larger, seed).labels);
        }

        #[test]
        fn sparse_gives_the_labels_of_dense(seed in 0u64..500, pairs in 0usize..40) {
            let p = random_problem(seed, pairs, 0);
            let csr = Data::csr(fixtures::to_csr(&p.data.to_dense())).unwrap();
            let sparse = Problem { data: csr, ..p.clone() };
            prop_assert_eq!(run(&PckMeans::default(), &p, seed).labels, run(&PckMeans::default(), &sparse, seed).labels);
        }
    }
}
