//! The smallest sum of squares among all clusterings that satisfy the constraints.

use std::sync::Arc;

use mustlink_core::closure::Closure;
use mustlink_core::prelude::*;
use mustlink_core::run;
use mustlink_core::soft_marks::obeying;
use mustlink_kernels::distance::points::{Distortion, Points, squared_distance};
use mustlink_kernels::kmeans::lloyd::total_distortion;
use mustlink_kernels::kmeans::means::means;
use ndarray::Array2;

/// The minimum of the within-cluster sum of squares under hard constraints, by branch and bound.
///
/// # Method
/// Objects that must-links join are treated as one, with their mean and number. The objects are ordered so that the
/// last m of them are spread over the data, for every m. The method solves the problem for the last object, then for
/// the last two, and so on. Each time, a depth-first search places these objects in order. A branch ends if its cost
/// so far, plus the least cost of the objects not yet placed, is at least the best cost known. The first known
/// solution comes from `cop_kmeans`. If `node_limit` ends the search, the best clusters known are returned with a
/// warning. The diagnostics show how far they can be from the optimum (`gap`, `lower_bound` and `nodes`; the gap is 0
/// if the optimum is proved). Use it to measure how close other methods get to the optimum. It can solve one or two
/// hundred objects with few features if the clusters are well separated (iris takes a second), and fewer objects
/// otherwise.
/// # Input and output
/// n × d, dense, squared Euclidean; all constraints count as hard. One label per object in `0..k`, k centres.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `InconsistentConstraints`, `InfeasibleConstraints`.
/// # Cost and randomness
/// Exponential in n in the worst case, O(k·d) for each node; random only in the clusters it starts from.
/// # References
/// [Brusco2006]; must-links are collapsed and cannot-links forbid branches.
#[options]
pub struct Exact {
    /// Number of clusters, at most n. If absent, the k of the problem.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Maximum number of branches; the search then ends without a proof.
    #[option(
        default = 50_000_000,
        min = 1,
        laws = 2000,
        inert = "if the optimum is proved within it, more branches change nothing"
    )]
    pub node_limit: u64,
}

#[plugin("exact", cites = ["Brusco2006"])]
impl BaseClusterer for Exact {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        obeying("exact", problem, ctx, |problem| self.obey(problem, ctx))
    }

    fn properties(&self) -> Properties {
        Properties {
            needs_k: self.k.is_none(),
            reads_constraints: true,
            hard_must: true,
            hard_cannot: true,
            gives_centers: true,
            ..Properties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let shape = &Shape { k: self.k.unwrap_or(shape.k), ..*shape };
        let Shape { n, d, k, constraints, .. } = *shape;
        heuristic().map_or(0, |s| s.memory(shape))
            // A frame of the search for each object at most.
            + (32 * n * d + 32 * n * k + 160 * n + 96 * constraints + 24 * k * d) as u64
    }

    fn operations(&self, shape: &Shape) -> Option<f64> {
        let k = self.k.unwrap_or(shape.k);
        let starts = 20.0 * STARTS as f64 * shape.sweep(k);
        // At most: the values decide how many branches end early. Each looks at all clusters and copies one.
        let (n, k) = (shape.n as f64, k as f64);
        let branches = (n * k.powf(n)).min(self.node_limit as f64);
        Some(starts + branches * k * (shape.d as f64 + 50.0))
    }
}

impl Exact {
    /// The outcome under constraints that are all obeyed.
    fn obey(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let k = problem.require_k(self.k, "exact")?;
        let closure = problem.closure(OnConflict::Error)?;
        let heuristic = heuristic()?;
        let start = Problem { k: Some(k), start: None, ..problem.clone() };
        let start = run::cluster(&*heuristic, &start, &ctx.child("start"))?.clustering.labels;
        let mut search = Search::new(&problem.data, &closure, k, self.node_limit);
        let given: Vec<u32> =
            search.order.iter().map(|&p| start[closure.members(p)[0] as usize]).collect();
        let (labels, proved) = search.run(&given, ctx)?;
        let mut all = vec![0; problem.n()];
        for (at, &p) in search.order.iter().enumerate() {
            closure.members(p).iter().for_each(|&i| all[i as usize] = labels[at]);
        }
        let points = Points::new(&problem.data, Distortion::SquaredEuclidean)?;
        let (centres, _) = means(&points, &all, Array2::zeros((k, problem.d())));
        let objective = total_distortion(&points, &all, &centres);
        let lower = if proved { objective } else { (search.inner + search.proved).min(objective) };
        let gap = if objective > 0.0 { (objective - lower) / objective } else { 0.0 };
        if !proved {
            ctx.warn(format!(
                "exact: not proved within {} branches; the optimum is at most {:.1} % lower",
                self.node_limit,
                100.0 * gap
            ));
        }
        let mut extras = Extras { centers: Some(centres), ..Extras::default() };
        let nodes = search.nodes as f64;
        for (name, value) in [("gap", gap), ("lower_bound", lower), ("nodes", nodes)] {
            extras.diagnostics.insert(name.into(), value);
        }
        let status = if proved { Status::Converged } else { Status::MaxIter };
        Ok(Clustering {
            labels: all,
            k,
            objective: Some(objective),
            status,
            extras,
            ..Clustering::default()
        })
    }
}

/// Starts of the clusterer that gives the first clusters.
const STARTS: usize = 100;

/// Clusterer that gives the first clusters. The better they are, the more branches end immediately.
fn heuristic() -> Result<Box<dyn BaseClusterer>> {
    let config = serde_json::json!({ "type": "cop_kmeans", "restarts": STARTS });
    <dyn BaseClusterer as RoleObject>::from_value(config)
        .map_err(|message| Error::Plugin { tag: "cop_kmeans".into(), message })
}

/// Objects joined by must-links, and the cannot-links between them.
struct Search {
    k: usize,
    /// Components of the closure in the order in which they are placed.
    order: Vec<usize>,
    /// Mean and number of objects of each, in this order.
    means: Vec<Vec<f64>>,
    sizes: Vec<f64>,
    /// Which others each must not be with, by places in the order.
    apart: Vec<Vec<u32>>,
    /// Sum of squares within the components, which no clustering changes.
    inner: f64,
    /// For each place the least cost of it and all after it, as far as it is known.
    rest: Vec<f64>,
    /// A bound for all of them: the largest that is proved.
    proved: f64,
    nodes: u64,
    limit: u64,
}

/// State of the search.
struct State {
    labels: Vec<u32>,
    /// Number of objects and mean of each cluster.
    weights: Vec<f64>,
    centres: Vec<Vec<f64>>,
    /// For each place and cluster how many of the cluster it must not be with.
    barred: Vec<u32>,
    used: usize,
}

impl Search {
    fn new(data: &Data, closure: &Arc<Closure>, k: usize, limit: u64) -> Search {
        let (units, d) = (closure.components(), data.d());
        let mut inner = 0.0;
        let mut all = Vec::with_capacity(units);
        for p in 0..units {
            let members = closure.members(p);
            let mut mean = vec![0.0; d];
            members.iter().for_each(|&i| {
                data.row(i as usize).add_to(&mut mean, 1.0 / members.len() as f64);
            });
            let to_mean = |&i: &u32| data.row(i as usize).squared_distance(&Row::Dense(&mean));
            inner += members.iter().map(to_mean).sum::<f64>();
            all.push((mean, members.len() as f64));
        }
        let order = spread(&all);
        let mut place = vec![0; units];
        order.iter().enumerate().for_each(|(at, &p)| place[p] = at as u32);
        let others = |&p: &usize| closure.apart(p).iter().map(|&q| place[q as usize]).collect();
        let apart = order.iter().map(others).collect();
        let means = order.iter().map(|&p| all[p].0.clone()).collect();
        let sizes = order.iter().map(|&p| all[p].1).collect();
        let rest = vec![0.0; units + 1];
        Search { k, order, means, sizes, apart, inner, rest, proved: 0.0, nodes: 0, limit }
    }

    /// The best labels of all, and whether they are proved to be; `given` are labels that meet the
    /// constraints.
    fn run(&mut self, given: &[u32], ctx: &Context) -> Result<(Vec<u32>, bool)> {
        let units = self.order.len();
        let mut known: Vec<u32> = Vec::new();
        for first in (0..units).rev() {
            // The best of those after it with this one put where it costs least, and what was given.
            let mut best: Option<(f64, Vec<u32>)> = None;
            let mut try_out = |labels: Vec<u32>, search: &Search| {
                if let Some(cost) = search.cost(first, &labels)
                    && best.as_ref().is_none_or(|(least, _)| cost < *least)
                {
                    best = Some((cost, labels));
                }
            };
            for h in 0..self.k as u32 {
                try_out([h].into_iter().chain(known.iter().copied()).collect(), self);
            }
            try_out(given[first..].to_vec(), self);
            let (upper, labels) = best.expect("what was given meets the constraints");
            let mut state = State {
                labels: vec![NONE; units],
                weights: vec![0.0; self.k],
                centres: vec![vec![0.0; self.means[0].len()]; self.k],
                barred: vec![0; units * self.k],
                used: 0,
            };
            let mut best = (upper, labels);
            if !self.place(first, &mut state, &mut best, ctx)? {
                // What is known of the part is worth as much for the whole.
                let labels = if first == 0 { best.1 } else { given.to_vec() };
                return Ok((labels, false));
            }
            self.rest[first] = best.0;
            self.proved = best.0;
            known = best.1;
        }
        Ok((known, true))
    }

    /// Cost of `labels` of the places from `first` on; `None` where they break a cannot-link.
    fn cost(&self, first: usize, labels: &[u32]) -> Option<f64> {
        let label = |at: u32| (at as usize).checked_sub(first).map(|at| labels[at]);
        for (at, &own) in labels.iter().enumerate() {
            if self.apart[first + at].iter().any(|&q| label(q) == Some(own)) {
                return None;
            }
        }
        let mut weights = vec![0.0; self.k];
        let mut centres = vec![vec![0.0; self.means[0].len()]; self.k];
        let mut cost = 0.0;
        for (at, &h) in labels.iter().enumerate() {
            let h = h as usize;
            cost += self.join(first + at, &mut weights[h], &mut centres[h]);
        }
        Some(cost)
    }

    /// Puts a place into a cluster; gives by how much its sum of squares rises.
    fn join(&self, at: usize, weight: &mut f64, centre: &mut [f64]) -> f64 {
        let size = self.sizes[at];
        let rise = self.rise(at, *weight, centre);
        *weight += size;
        let share = size / *weight;
        for (c, x) in centre.iter_mut().zip(&self.means[at]) {
            *c += share * (x - *c);
        }
        rise
    }

    fn rise(&self, at: usize, weight: f64, centre: &[f64]) -> f64 {
        let size = self.sizes[at];
        if weight == 0.0 {
            0.0
        } else {
            size * weight / (size + weight) * squared_distance(&self.means[at], centre)
        }
    }

    /// Places `first` and all after it in every way that may be better than the best; `false` where the limit
    /// ends this.
    fn place(
        &mut self,
        first: usize,
        state: &mut State,
        best: &mut (f64, Vec<u32>),
        ctx: &Context,
    ) -> Result<bool> {
        let mut frames: Vec<Frame> = Vec::new();
        let mut next = Some((first, 0.0));
        loop {
            if let Some((at, cost)) = next.take() {
                if at < self.order.len() {
                    self.nodes += 1;
                    if self.nodes > self.limit {
                        return Ok(false);
                    }
                    if self.nodes.is_multiple_of(1024) {
                        ctx.check()?;
                    }
                    let ways = self.ways(at, state);
                    frames.push(Frame { at, cost, ways: ways.into_iter(), before: None });
                } else if cost < best.0 {
                    *best = (cost, state.labels[first..].to_vec());
                }
            }
            let Some(frame) = frames.last_mut() else { return Ok(true) };
            if let Some((h, weight, centre, used)) = frame.before.take() {
                self.bar(frame.at, h, -1, state);
                (state.weights[h], state.centres[h], state.used) = (weight, centre, used);
            }
            // Less by rounding alone is not less.
            let bound = |rise: f64| frame.cost + rise + self.rest[frame.at + 1];
            let way = frame.ways.next().filter(|&(rise, _)| bound(rise) < best.0 - 1e-12 * best.0);
            let Some((rise, h)) = way else {
                frames.pop();
                continue;
            };
            let at = frame.at;
            frame.before = Some((h, state.weights[h], state.centres[h].clone(), state.used));
            state.used = state.used.max(h + 1);
            state.labels[at] = h as u32;
            self.join(at, &mut state.weights[h], &mut state.centres[h]);
            self.bar(at, h, 1, state);
            next = Some((at + 1, frame.cost + rise));
        }
    }

    /// The clusters that a place may go to, each with what that costs, cheapest first.
    fn ways(&self, at: usize, state: &State) -> Vec<(f64, usize)> {
        // A cluster without objects stands for all of them.
        let open = (state.used + 1).min(self.k);
        let mut ways: Vec<(f64, usize)> = (0..open)
            .filter(|h| state.barred[at * self.k + h] == 0)
            .map(|h| (self.rise(at, state.weights[h], &state.centres[h]), h))
            .collect();
        ways.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        ways
    }

    /// Counts for all that must not be with a place that it is in cluster `h`, or no more.
    fn bar(&self, at: usize, h: usize, by: i32, state: &mut State) {
        for &q in &self.apart[at] {
            let count = &mut state.barred[q as usize * self.k + h];
            *count = count.wrapping_add_signed(by);
        }
    }
}

/// A place on the way to a clustering of all.
struct Frame {
    at: usize,
    /// Cost of those before it.
    cost: f64,
    /// The clusters that were not tried yet, each with what it costs.
    ways: std::vec::IntoIter<(f64, usize)>,
    /// Previous position of the object: its cluster, the weight and centre of that cluster, and the number of
    /// clusters in use.
    before: Option<(usize, f64, Vec<f64>, usize)>,
}

/// An order in which every end is spread over the data: each is the farthest from those after it.
fn spread(units: &[(Vec<f64>, f64)]) -> Vec<usize> {
    let n = units.len();
    let mut far = vec![f64::INFINITY; n];
    let mut taken = vec![false; n];
    let mut order = Vec::with_capacity(n);
    // The heaviest first, of equals the first.
    let mut next = (0..n).rev().max_by(|&a, &b| units[a].1.total_cmp(&units[b].1));
    while let Some(p) = next {
        taken[p] = true;
        order.push(p);
        for q in (0..n).filter(|&q| !taken[q]) {
            far[q] = far[q].min(squared_distance(&units[p].0, &units[q].0));
        }
        let left = (0..n).rev().filter(|&q| !taken[q]);
        next = left.max_by(|&a, &b| far[a].total_cmp(&far[b]));
    }
    order.reverse();
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::registry::{self, Catalogue, Role};
    use mustlink_laws::fixtures;
    use ndarray::array;
    use proptest::prelude::*;

    fn run(problem: &Problem) -> Clustering {
        Exact::default().cluster(problem, &Context::new(1)).unwrap()
    }

    fn sum_of_squares(problem: &Problem, labels: &[u32]) -> f64 {
        let k = labels.iter().max().map_or(0, |&l| l as usize + 1);
        let points = Points::new(&problem.data, Distortion::SquaredEuclidean).unwrap();
        let (centres, _) = means(&points, labels, Array2::zeros((k, problem.d())));
        total_distortion(&points, labels, &centres)
    }

    /// The least sum of squares over all labellings that break nothing.
    fn enumerated(problem: &Problem, k: usize) -> Option<f64> {
        let n = problem.n();
        let all = (0..k.pow(n as u32)).filter_map(|number| {
            let labels: Vec<u32> = (0..n).map(|i| (number / k.pow(i as u32) % k) as u32).collect();
            let meets = problem.constraints.violations(&labels).total() == 0;
            meets.then(|| sum_of_squares(problem, &labels))
        });
        all.min_by(f64::total_cmp)
    }

    #[test]
    fn worked_example() {
        // 0 1 5 6 in two: 01|56 costs ½ + ½. With 0 and 6 together: 06|15 costs 18 + 8, and 016|5, around
        // 7/3, 62/3, as much as 056|1.
        let x = array![[0.0], [1.0], [5.0], [6.0]];
        let p = Problem::new(Data::dense(x).unwrap()).with_k(2);
        assert_eq!(run(&p).objective, Some(1.0));
        let joined = p.with_constraints(Constraints::new(4, [Constraint::must(0, 3)]).unwrap());
        let c = run(&joined);
        assert!((c.objective.unwrap() - 62.0 / 3.0).abs() < 1e-12, "{c:?}");
        assert_eq!((c.status, c.extras.diagnostics["gap"]), (Status::Converged, 0.0));
    }

    #[test]
    fn golden_iris() {
        // The least sum of squares known of three clusters in this copy of iris.
        let iris = mustlink_datasets::open("iris", &Default::default()).unwrap();
        let c = run(&Problem::new(iris.data).with_k(3));
        assert!((c.objective.unwrap() - 78.940841).abs() < 1e-6, "{:?}", c.objective);
        assert_eq!(c.status, Status::Converged);
    }

    /// The plan counted twenty sweeps.
    #[test]
    fn time_is_estimated_from_the_branches() {
        let of = |n: usize, node_limit: u64| {
            let shape = Shape { n, d: 4, k: 3, entries: 4 * n, constraints: 0 };
            Exact { node_limit, ..Exact::default() }.operations(&shape).unwrap()
        };
        assert!(of(150, 50_000_000) > 9.0 * of(150, 5_000_000));
        assert_eq!(of(6, 50_000_000), of(6, 5_000_000));
    }

    #[test]
    fn a_search_that_ends_says_how_far_it_may_be() {
        let (p, _) = fixtures::dense(3);
        let p = p.subset(&(0..30).collect::<Vec<_>>());
        let p = p.with_constraints(Constraints::new(30, []).unwrap()).with_k(5);
        let best = run(&p).objective.unwrap();
        let short = Exact { node_limit: 300, ..Exact::default() };
        let ctx = Context::new(1);
        let c = short.cluster(&p, &ctx).unwrap();
        let (lower, gap) = (c.extras.diagnostics["lower_bound"], c.extras.diagnostics["gap"]);
        assert_eq!(c.status, Status::MaxIter);
        assert!(lower <= best && best <= c.objective.unwrap() && gap > 0.0);
        assert!(ctx.warnings()[0].contains("not proved within 300 branches"));
    }

    proptest! {
        #[test]
        fn it_is_the_least_of_all(
            x in proptest::collection::vec(0.0..9.0f64, 14),
            k in 1..4usize,
            pairs in proptest::collection::vec((0..7usize, 0..7usize, any::<bool>()), 0..5),
        ) {
            let x = Array2::from_shape_vec((7, 2), x).unwrap();
            let pairs = pairs.into_iter().filter(|(i, j, _)| i != j).map(|(i, j, must)| {
                if must { Constraint::must(i, j) } else { Constraint::cannot(i, j) }
            });
            let p = Problem::new(Data::dense(x).unwrap()).with_k(k);
            let p = p.with_constraints(Constraints::new(7, pairs).unwrap());
            match (Exact::default().cluster(&p, &Context::new(1)), enumerated(&p, k)) {
                (Ok(c), Some(least)) => {
                    prop_assert_eq!(p.constraints.violations(&c.labels).total(), 0);
                    prop_assert!((c.objective.unwrap() - least).abs() <= 1e-9 * (1.0 + least));
                }
                (found, least) => prop_assert!(found.is_err() && least.is_none(), "{found:?} {least:?}"),
            }
        }

        /// No method that promises the constraints finds less.
        #[test]
        fn nobody_is_below_it(seed: u64) {
            let (p, classes) = fixtures::dense(seed);
            let p = p.subset(&(0..30).collect::<Vec<_>>()).with_k(3);
            let p = p.with_constraints(fixtures::true_constraints(&classes[..30], 12, seed));
            let best = run(&p).objective.unwrap();
            for d in Catalogue::get().unwrap().role(Role::BaseClusterer) {
                let method: Box<dyn BaseClusterer> = registry::build_default(d.tag).unwrap();
                let facts = method.properties();
                if !(facts.hard_must && facts.hard_cannot) || facts.needs_setup || d.tag == "auto" {
                    continue;
                }
                if let Ok(found) = run::cluster(&*method, &p, &Context::new(seed)) {
                    let theirs = sum_of_squares(&p, &found.clustering.labels);
                    prop_assert!(found.clustering.k > 3 || theirs >= best * (1.0 - 1e-9), "{}", d.tag);
                }
            }
        }
    }
}
