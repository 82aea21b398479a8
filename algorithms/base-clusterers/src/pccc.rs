//! K-means under constraints of which some must hold and others have a cost.

mod branch;
mod moves;
mod step;
mod ties;

use mustlink_core::prelude::*;
use mustlink_kernels::constrained::must_link_units::{MustLinkUnits, best_attempt};
use mustlink_kernels::distance::points::{Distortion, DistortionOption, Points, row, row_norms};
use mustlink_kernels::kmeans::lloyd::{Empty, clustering, lloyd, total_distortion};
use mustlink_kernels::kmeans::means::means;
use mustlink_kernels::kmeans::nearest::assign::assign;
use mustlink_kernels::kmeans::seeding::start;
use ndarray::Array2;

use crate::parts::complete_search::CompleteSearch;
use crate::parts::starts::Starts;
use step::Step;
use ties::{Prices, Ties};

/// Nodes after which the search for any placement that breaks no hard constraint ends undecided.
const PLACEMENT_LIMIT: u64 = 1_000_000;

/// Meaning of constraints marked neither hard nor soft.
#[options]
pub enum Unmarked {
    /// They hold; their weights are not used.
    #[default]
    Hard,
    /// They may be broken at the price of their weights.
    Soft,
}

/// PCCC: k-means whose assignment is optimal under hard constraints and soft ones with a confidence.
///
/// # Method
/// Objects that hard must-links join are assigned together. An assignment minimises Σ D(x, c) + P Σ w over broken soft
/// constraints of weight (confidence) w, for all objects together. No hard constraint is broken. Objects without
/// constraints take their nearest centre. The search by branch and bound covers only objects whose nearest centres
/// break a constraint, and those that then have to move, part by part. If the search reaches `node_limit`, the
/// assignment found so far is repaired. If it cannot be repaired, or is not cheaper, the labels of the previous sweep
/// replace it. Moves in which an object pushes others out of its way then lower the cost. A warning and the diagnostics
/// report how often this happened (`unproved` of `assignments`; `nodes`). A centre is the mean of its objects; an empty
/// cluster takes the object, or joined objects, farthest from its centre. The objective never rises. Once nothing
/// moves, the cheapest cluster moves to an object of the most expensive one. The sweeps then begin again, until such a
/// move no longer lowers the objective. Soft constraints are used as given: they are not closed.
/// # Input and output
/// n × d, dense or sparse, constraints marked hard or soft; `unmarked` decides about the others. One label per object
/// in `0..k`, k centres. The diagnostic `price` is P.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; for hard constraints `InconsistentConstraints` with the chain of
/// must-links, `InfeasibleConstraints` when k clusters provably cannot hold them, `UndecidedConstraints` if the
/// search for that reaches its limit.
/// # Cost and randomness
/// O(sweeps · (n·k·d + constraints + constrained objects · k)) and the search, at worst `node_limit` nodes a sweep,
/// each with a cost of O(k); random in the first centres, and in the object that a cluster moves to.
/// # References
/// [Baumann2025]. Differs: a search of our own replaces a solver for integer programmes. Several starts are made and
/// the best one counts. P is computed once for all of them, so that objectives can be compared. A cluster that is
/// moved goes to an object, not onto the other centre.
#[options]
pub struct Pccc {
    /// Number of clusters, at most n. If absent, the k of the problem.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Distance from an object to a centre. "auto": cosine for sparse rows, otherwise squared Euclidean.
    pub distortion: AutoOr<Distortion>,
    /// Meaning of constraints marked neither hard nor soft.
    pub unmarked: Unmarked,
    /// Cost of a broken soft constraint of weight 1 (P). "auto": the mean distance of an object to the centres of the
    /// first start.
    #[option(default = AutoOr::Auto, min = 0.0, units = 2)]
    pub weight: AutoOr<f64>,
    /// Number of nearest centres that constrained objects may join (q). Their distances also count for
    /// `weight = "auto"`. If absent, all. An object may always join one more centre than it has hard cannot-links, so
    /// that one is always left.
    #[option(min = 1)]
    pub nearest: Option<usize>,
    /// Maximum number of nodes of the search in one assignment. In a part with thousands of objects and constraints,
    /// a node counts once for each thousand.
    #[option(default = 20_000, min = 0)]
    pub node_limit: u64,
    /// Number of failed moves of a cluster in a row that end a start. The cheapest cluster is moved first, then the
    /// next. 0: no cluster is moved; 1: as published.
    #[option(default = 1, min = 0)]
    pub repositions: usize,
    /// Options shared by methods that take Lloyd's steps.
    #[option(flatten)]
    pub starts: Starts,
    /// Treatment of a cluster that has no objects; `reseed` moves joined objects together.
    #[option(default = Empty::Reseed)]
    pub empty: Empty,
}

#[plugin("pccc", cites = ["Baumann2025"])]
impl BaseClusterer for Pccc {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let (n, k) = (problem.n(), problem.require_k(self.k, "pccc")?);
        let is_hard = |c: &&Constraint| match c.strength {
            Some(strength) => strength == Strength::Hard,
            None => self.unmarked == Unmarked::Hard,
        };
        let pairs = problem.constraints.pairs();
        let (hard, soft): (Vec<&Constraint>, Vec<&Constraint>) = pairs.iter().partition(is_hard);
        let hard = Constraints::new(n, hard.into_iter().copied())?;
        let hard = Closure::new(&hard, n, OnConflict::Error)?;
        let units = MustLinkUnits::new(&hard);
        let search = CompleteSearch::new(&units, k, PLACEMENT_LIMIT, ctx)?;
        let points = Points::new(&problem.data, self.distortion)?;
        let price = if soft.is_empty() { 0.0 } else { self.price(&points, k, problem, ctx)? };
        let soft: Vec<Constraint> = soft.iter().map(|c| c.weighing(price * c.weight)).collect();
        let ties = Ties::new(&hard, &soft);
        let run = Run {
            method: self,
            points: &points,
            ties: &ties,
            units: &units,
            search: &search,
            given: &problem.constraints,
        };
        let restarts = if self.starts.init.is_random() { self.starts.restarts } else { 1 };
        let mut best = best_attempt(restarts, |r| {
            let ctx = ctx.index(r);
            run.from(start(&points, k, self.starts.init, problem, &ctx)?, &ctx)
        })?;
        let diagnostics = &mut best.extras.diagnostics;
        if !soft.is_empty() {
            diagnostics.insert("price".into(), price);
        }
        if let (Some(unproved), Some(all)) =
            (diagnostics.get("unproved"), diagnostics.get("assignments"))
            && *unproved > 0.0
        {
            let limit = self.node_limit;
            ctx.warn(format!(
                "pccc: {unproved} of {all} assignments of the best start reached node_limit = {limit} and were \
                 finished by local moves; all hard constraints hold, but a cheaper result may exist"
            ));
        }
        Ok(best)
    }

    fn properties(&self) -> Properties {
        let hard = self.unmarked == Unmarked::Hard;
        Properties {
            accepts: vec![DataKind::Dense, DataKind::Csr],
            needs_k: self.k.is_none(),
            reads_constraints: true,
            hard_must: hard,
            hard_cannot: hard,
            hard_if_marked: true,
            soft_weights: true,
            gives_centers: true,
            ..Properties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let Shape { n, d, constraints, .. } = *shape;
        let k = self.k.unwrap_or(shape.k);
        let copy = self.distortion.copy_bytes(shape);
        let items = (2 * constraints).min(n);
        // Costs, a copy of those that are searched, what is barred and what soft ties cost.
        let start = 40 * n + 32 * items * k + 80 * constraints + 24 * k * d;
        let at_once = self.starts.restarts.min(reduce::WAVE);
        (copy + 100 * n + 300 * constraints + at_once * start) as u64
    }

    fn operations(&self, shape: &Shape) -> Option<f64> {
        let sweep = shape.sweep(self.k.unwrap_or(shape.k)) + 4.0 * shape.constraints as f64;
        Some(20.0 * self.starts.restarts as f64 * sweep)
    }
}

impl Pccc {
    /// Cost of a broken soft constraint of weight 1.
    fn price(&self, points: &Points, k: usize, problem: &Problem, ctx: &Context) -> Result<f64> {
        if let Some(weight) = self.weight.value() {
            return Ok(weight);
        }
        let centres = start(points, k, self.starts.init, problem, &ctx.index(0))?;
        let norms = row_norms(&centres);
        let nearest = self.nearest.map_or(k, |q| q.min(k));
        let of = |i: usize| {
            let each = (0..k).map(|h| points.distance(i, row(&centres, h), norms[h]));
            let mut each: Vec<f64> = each.collect();
            order::sort_values(&mut each);
            each[..nearest].iter().sum::<f64>() / nearest as f64
        };
        // 1 − cos of an object in its own direction may be a rounding error below 0.
        Ok((reduce::sum(points.n(), of) / points.n() as f64).max(0.0))
    }
}

/// The starts of one problem.
struct Run<'a> {
    method: &'a Pccc,
    points: &'a Points,
    ties: &'a Ties,
    units: &'a MustLinkUnits<'a>,
    search: &'a CompleteSearch<'a>,
    given: &'a Constraints,
}

impl Run<'_> {
    /// One start: sweeps until nothing moves, then again with one cluster elsewhere while that lowers the
    /// objective.
    fn from(&self, centres: Array2<f64>, ctx: &Context) -> Result<Clustering> {
        let method = self.method;
        if self.ties.is_empty() {
            return lloyd(self.points, centres, method.starts.stop(), method.empty, ctx);
        }
        let mut best = self.sweeps(centres, None, ctx)?;
        let mut stream = ctx.stream("reposition");
        let mut in_vain = 0;
        while in_vain < method.repositions.min(best.k - 1) {
            let Some(centres) = self.elsewhere(&best, in_vain, &mut stream) else { break };
            let items = self.ties.of_objects(&best.labels);
            let made = self.sweeps(centres, Some(items), ctx)?;
            let (now, then) = (best.objective, made.objective);
            let falls = matches!((now, then), (Some(a), Some(b)) if a - b > 1e-10 * a.abs());
            let (mut kept, other) = if falls { (made, best) } else { (best, made) };
            in_vain = if falls { 0 } else { in_vain + 1 };
            for (name, value) in other.extras.diagnostics {
                *kept.extras.diagnostics.entry(name).or_default() += value;
            }
            if falls {
                // Its first sweeps may have cost more than what came before.
                let last = other.history.last().map_or(f64::INFINITY, |s| s.objective);
                kept.history.retain(|s| s.objective < last);
                kept.history.splice(0..0, other.history);
            }
            best = kept;
        }
        Ok(best)
    }

    /// The centres, after one cluster has moved to an object of the most expensive cluster. The cluster that moves is
    /// the cheapest one after `passed` others. The cost of a cluster is its distortion plus the cost of what its
    /// objects break.
    fn elsewhere(&self, c: &Clustering, passed: usize, stream: &mut Stream) -> Option<Array2<f64>> {
        let mut centres = c.extras.centers.clone()?;
        let norms = row_norms(&centres);
        let mut costs = vec![0.0; c.k];
        for (i, &h) in c.labels.iter().enumerate() {
            let h = h as usize;
            costs[h] += self.points.distance(i, row(&centres, h), norms[h]);
        }
        self.ties.add_costs(&self.ties.of_objects(&c.labels), &mut costs);
        let order = order::ascending(&costs);
        let (from, to) = (*order.get(passed)?, *order.last()?);
        if costs[to] <= 0.0 {
            return None;
        }
        let there: Vec<usize> =
            (0..c.labels.len()).filter(|&i| c.labels[i] as usize == to).collect();
        let object = there[stream.below(there.len())];
        centres.row_mut(from).assign(&ndarray::ArrayView1::from(&self.points.centre_at(object)?));
        Some(centres)
    }

    /// Assignments and means from centres, until neither changes anything; `items` are labels that break no hard
    /// constraint, if any are known.
    fn sweeps(
        &self,
        mut centres: Array2<f64>,
        mut items: Option<Vec<u32>>,
        ctx: &Context,
    ) -> Result<Clustering> {
        let (method, points, ties) = (self.method, self.points, self.ties);
        let stop = method.starts.stop();
        let mut labels = vec![NONE; points.n()];
        let mut history: Vec<IterStat> = Vec::new();
        let mut status = Status::MaxIter;
        let (mut unproved, mut nodes) = (0.0, 0.0);
        for _ in 0..stop.max_iterations {
            ctx.check()?;
            let mut moved = assign(points, &centres, &mut labels, Some(ties.held()));
            let mut step = Step::new(ties, points, &centres, method.node_limit);
            if let Some(nearest) = method.nearest {
                step = step.within(nearest, items.as_deref());
            }
            let found = step.solve(items.as_deref(), || self.first(&centres, ctx), ctx)?;
            unproved += f64::from(u8::from(!found.proved));
            nodes += found.nodes as f64;
            moved += ties.put(&found.labels, &mut labels);
            let sizes;
            (centres, sizes) = means(points, &labels, centres);
            if sizes.contains(&0) {
                let (units, empty) = (self.units, method.empty);
                moved +=
                    units.refill(points, &mut labels, &mut centres, empty, &mut Prices(ties))?;
            }
            let own = ties.of_objects(&labels);
            let objective = total_distortion(points, &labels, &centres) + ties.cost(&own);
            items = Some(own);
            let violations = Some(self.given.violations(&labels).total() as usize);
            let before = history.last().map(|s| s.objective);
            history.push(IterStat { objective, moved, violations });
            if moved == 0 || before.is_some_and(|b| stop.is_over(b, objective)) {
                status = Status::Converged;
                break;
            }
        }
        let assignments = history.len() as f64;
        let mut made = clustering(labels, centres, history, status, points.distortion());
        let all = [("assignments", assignments), ("unproved", unproved), ("nodes", nodes)];
        made.extras.diagnostics.extend(all.map(|(name, value)| (name.into(), value)));
        Ok(made)
    }

    /// Labels of the items that break no hard constraint.
    fn first(&self, centres: &Array2<f64>, ctx: &Context) -> Result<Vec<u32>> {
        let mut labels = vec![0; self.points.n()];
        assign(self.points, centres, &mut labels, None);
        self.search.place_all(self.points, centres, &mut labels, ctx)?;
        Ok(self.ties.of_objects(&labels))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cop_kmeans::CopKMeans;
    use crate::kmeans::KMeans;
    use mustlink_kernels::distance::points::squared_distance;
    use mustlink_kernels::kmeans::seeding::Init;
    use mustlink_laws::fixtures;
    use ndarray::array;
    use proptest::prelude::*;

    fn run(method: &Pccc, problem: &Problem, seed: u64) -> Clustering {
        method.cluster(problem, &Context::new(seed)).unwrap()
    }

    fn marked(strength: Strength, c: Constraint) -> Constraint {
        Constraint { strength: Some(strength), ..c }
    }

    fn line(x: &[f64], pairs: &[Constraint], centres: &[f64]) -> Problem {
        let column = |v: &[f64]| Array2::from_shape_vec((v.len(), 1), v.to_vec()).unwrap();
        Problem::new(Data::dense(column(x)).unwrap())
            .with_k(centres.len())
            .with_constraints(Constraints::new(x.len(), pairs.iter().copied()).unwrap())
            .with_start(Start::Centroids(column(centres)))
    }

    /// One sweep from the given centres; a soft constraint of weight 1 costs 50.
    fn once() -> Pccc {
        let starts = Starts { init: Init::Given, max_iterations: 1, ..Starts::default() };
        Pccc { starts, weight: AutoOr::Value(50.0), repositions: 0, ..Pccc::default() }
    }

    #[test]
    fn worked_example() {
        let (x, centres) = ([0.0, 1.0, 10.0], [0.0, 10.0]);
        let labels = |c: Constraint| run(&once(), &line(&x, &[c], &centres), 1).labels;
        // Together 0 + 1, apart 0 + 81: apart if they must, and where breaking it costs more than 80.
        assert_eq!(labels(Constraint::cannot(0, 1)), [0, 1, 1]);
        let soft = |weight: f64| marked(Strength::Soft, Constraint::cannot(0, 1).weighing(weight));
        assert_eq!(labels(soft(1.0)), [0, 0, 1]);
        assert_eq!(labels(soft(1.7)), [0, 1, 1]);
        // 1 and 10 together: 1 + 100 with the first centre, 81 + 0 with the second; apart 1 + 0.
        assert_eq!(labels(Constraint::must(1, 2)), [0, 1, 1]);
        let soft = |weight: f64| marked(Strength::Soft, Constraint::must(1, 2).weighing(weight));
        assert_eq!(labels(soft(1.5)), [0, 0, 1]);
        assert_eq!(labels(soft(1.7)), [0, 1, 1]);
        // At 50 the broken one stays: the mean of 0 and 1, and ½ + 50.
        let c = run(
            &once(),
            &line(&x, &[marked(Strength::Soft, Constraint::cannot(0, 1))], &centres),
            1,
        );
        assert_eq!((c.objective, c.extras.diagnostics["price"]), (Some(50.5), 50.0));
        assert_eq!(c.extras.centers, Some(array![[0.5], [10.0]]));
    }

    /// Three objects that must all part, where the nearest centres would have two of them together twice.
    #[test]
    fn all_are_assigned_at_once() {
        let x = [0.0, 1.0, 4.0];
        let pairs = [Constraint::cannot(0, 1), Constraint::cannot(1, 2), Constraint::cannot(0, 2)];
        let c = run(&once(), &line(&x, &pairs, &[0.0, 3.0, 100.0]), 1);
        // One of them goes to 100: 96² + 0 + 4 is the least, though 4 is nearest to 3.
        assert_eq!(c.labels, [0, 1, 2]);
    }

    #[test]
    fn hard_constraints_that_cannot_be_met_are_refused_as_elsewhere() {
        let (p, _) = fixtures::dense(1);
        for pairs in [
            vec![Constraint::must(0, 1), Constraint::must(1, 2), Constraint::cannot(0, 2)],
            (0..4).flat_map(|i| (0..i).map(move |j| Constraint::cannot(i, j))).collect(),
        ] {
            let p = p.clone().with_constraints(Constraints::new(45, pairs.clone()).unwrap());
            let ours = Pccc::default().cluster(&p, &Context::new(1)).unwrap_err();
            assert_eq!(ours, CopKMeans::default().cluster(&p, &Context::new(1)).unwrap_err());
            // With a price they only cost.
            let soft = pairs.into_iter().map(|c| marked(Strength::Soft, c));
            run(&Pccc::default(), &p.with_constraints(Constraints::new(45, soft).unwrap()), 1);
        }
    }

    #[test]
    fn where_the_search_ends_early_a_warning_says_so() {
        // What the classes of other objects say.
        let (p, mut classes) = fixtures::dense(4);
        SeedPath::new(4).stream("classes").shuffle(&mut classes);
        let p = p.with_constraints(fixtures::true_constraints(&classes, 30, 4));
        let ctx = Context::new(1);
        let c = Pccc { node_limit: 0, ..Pccc::default() }.cluster(&p, &ctx).unwrap();
        assert_eq!(p.constraints.violations(&c.labels).total(), 0);
        let unproved = c.extras.diagnostics["unproved"];
        assert!(unproved > 0.0 && c.extras.diagnostics["nodes"] == 0.0);
        assert!(ctx.warnings()[0].contains("node_limit = 0"), "{:?}", ctx.warnings());
        let ctx = Context::new(1);
        Pccc::default().cluster(&p, &ctx).unwrap();
        assert!(ctx.warnings().is_empty());
    }

    /// Constraints of random objects: of every third the classes decide and it is hard, others are soft.
    fn mixed(classes: &[u32], seed: u64) -> Constraints {
        let mut s = SeedPath::new(seed).stream("mixed");
        let n = classes.len();
        let pairs = (0..80).filter_map(|at| {
            let (i, j, weight) = (s.below(n), s.below(n), 0.1 + s.unit());
            let same = if at % 3 == 0 { classes[i] == classes[j] } else { s.below(2) == 0 };
            let c = if same { Constraint::must(i, j) } else { Constraint::cannot(i, j) };
            let strength = if at % 3 == 0 { Strength::Hard } else { Strength::Soft };
            (i != j).then(|| marked(strength, c.weighing(weight)))
        });
        Constraints::new(n, pairs).unwrap()
    }

    proptest! {
        #[test]
        fn the_objective_never_rises_and_nothing_hard_breaks(
            seed in 0u64..1000, cosine: bool, weight in 0.0..20.0, limit in 0usize..3, nearest in 0usize..4,
        ) {
            let (p, classes) = fixtures::dense(seed);
            let p = p.with_constraints(mixed(&classes, seed));
            let distortion = if cosine { Distortion::Cosine } else { Distortion::SquaredEuclidean };
            let starts = Starts { restarts: 2, tolerance: 0.0, ..Starts::default() };
            let node_limit = [0, 30, 20_000][limit];
            let nearest = (nearest > 0).then_some(nearest);
            let weight = AutoOr::Value(weight);
            let method = Pccc { distortion: distortion.into(), weight, starts, node_limit, nearest, ..Pccc::default() };
            let c = run(&method, &p, seed);
            let hard = |c: &&Constraint| c.strength == Some(Strength::Hard);
            let broken = |x: &&Constraint| x.is_violated(&c.labels);
            prop_assert_eq!(p.constraints.pairs().iter().filter(hard).find(broken), None);
            for w in c.history.windows(2) {
                prop_assert!(w[1].objective <= w[0].objective * (1.0 + 1e-12) + 1e-12);
            }
            // Pair by pair, object by object.
            let soft: f64 = p.constraints.pairs().iter().filter(broken).map(|c| c.weight).sum();
            let price = c.extras.diagnostics["price"];
            let centres = c.extras.centers.clone().unwrap();
            let (x, unit) = (p.data.to_dense(), |v: ndarray::ArrayView1<f64>| {
                let norm = v.dot(&v).sqrt();
                if cosine && norm > 0.0 { &v / norm } else { v.to_owned() }
            });
            let plain: f64 = (0..p.n()).map(|i| {
                let (a, m) = (unit(x.row(i)).to_vec(), centres.row(c.labels[i] as usize).to_vec());
                let dot: f64 = a.iter().zip(&m).map(|(a, b)| a * b).sum();
                if cosine { 1.0 - dot } else { squared_distance(&a, &m) }
            }).sum();
            let slow = plain + price * soft;
            prop_assert!((slow - c.objective.unwrap()).abs() <= 1e-9 * slow.max(1.0));
            let still = run(&Pccc { repositions: 0, ..method }, &p, seed);
            prop_assert!(c.objective <= still.objective);
        }

        #[test]
        fn without_constraints_it_is_kmeans(seed: u64) {
            let (p, _) = fixtures::dense(seed);
            let p = p.with_constraints(Constraints::new(45, []).unwrap());
            let kmeans = KMeans { max_iterations: 100, ..KMeans::default() };
            let plain = kmeans.cluster(&p, &Context::new(seed)).unwrap();
            let found = run(&Pccc::default(), &p, seed);
            prop_assert_eq!(&found.labels, &plain.labels);
            prop_assert_eq!(found.objective, plain.objective);
        }

        /// Statements without a price do not count.
        #[test]
        fn soft_constraints_without_a_price_change_nothing(seed: u64) {
            let (p, classes) = fixtures::dense(seed);
            let soft = fixtures::true_constraints(&classes, 30, seed);
            let p = p.with_constraints(soft);
            let free = Pccc { unmarked: Unmarked::Soft, weight: AutoOr::Value(0.0), ..Pccc::default() };
            let found = run(&free, &p, seed);
            let plain = run(&free, &p.with_constraints(Constraints::new(45, []).unwrap()), seed);
            prop_assert_eq!(found.labels, plain.labels);
        }
    }
}
