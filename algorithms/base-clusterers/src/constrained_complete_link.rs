//! Complete linkage in a space that the constraints have changed.

mod look_ahead;

use mustlink_core::closure::UnionFind;
use mustlink_core::clustering::canonical;
use mustlink_core::prelude::*;
use mustlink_core::run;
use mustlink_core::soft_marks::obeying;
use ndarray::Array2;

use crate::parts::linkage::{Linkage, linkage};
use look_ahead::complete_link_ahead;

/// Condition that ends merging.
#[options]
#[derive(Copy)]
pub enum Stop {
    /// A rule.
    Rule(StopRule),
    /// Merging ends before the first merge above this height.
    Height(#[option(min = 0.0, units = 1)] f64),
}

/// Rules that end merging.
#[options]
pub enum StopRule {
    /// Merging ends at k clusters.
    K,
    /// Merging ends when cannot-links separate all remaining clusters.
    Auto,
}

/// Action if k clusters cannot be reached without breaking a cannot-link.
#[options]
pub enum OnInfeasible {
    /// Return an error.
    #[default]
    Error,
    /// Break cannot-links.
    Merge,
}

/// Constrained complete link: complete linkage on distances that constraints have changed.
///
/// # Method
/// The propagator pulls must-linked objects together, and their surroundings with them. It puts cannot-linked objects
/// farther apart than all others. Then the two clusters whose farthest members are nearest are merged, again and
/// again (ties: smallest members); so cannot-links reach clusters through the linkage. If this ends before k clusters
/// are reached, it starts again. It then leaves out merges after which k clusters could no longer keep the
/// cannot-links, and merges for which a search cannot decide this in time.
/// # Input and output
/// n × d dense or sparse, or distances. One label per object, clusters in order of their smallest members; with fewer
/// must-link components than k, some stay empty. The history contains the height of every merge between must-link
/// components; the objective is the last height. Every constraint holds unless `merge` or `soft_ml` allows otherwise.
/// Weights are not used.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `InconsistentConstraints`; `InfeasibleConstraints` if k clusters cannot
/// keep the cannot-links, `UndecidedConstraints` if the search reaches its limit; `BadParam` for a propagator without
/// distances.
/// # Cost and randomness
/// O(n²) after the propagator, O(n³) if merges are left out; 16·n² bytes of memory in addition to the propagator. Not
/// random.
/// # References
/// [Klein2002]. Differs: merges that lead to a dead end are left out.
#[options]
pub struct ConstrainedCompleteLink {
    /// Number of clusters, at most n. If absent, the k of the problem.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Condition that ends merging: "k", "auto" (only cannot-linked clusters are left), or a height.
    #[option(default = Stop::Rule(StopRule::K))]
    pub stop: Stop,
    /// Propagator that changes the distances.
    #[option(slot = "shortest_path")]
    pub propagator: Option<Box<dyn ConstraintPropagator>>,
    /// Action if k clusters cannot be reached without breaking a cannot-link.
    pub on_infeasible: OnInfeasible,
    /// Let distances decide whether must-links hold. Contradictions are then allowed.
    pub soft_ml: bool,
    /// Maximum number of objects; the method stores a number for every pair.
    #[option(default = 20_000, min = 1)]
    pub max_objects: usize,
}

#[plugin("constrained_complete_link", cites = ["Klein2002"], version = 2)]
impl BaseClusterer for ConstrainedCompleteLink {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        obeying("constrained_complete_link", problem, ctx, |problem| self.obey(problem, ctx))
    }

    fn properties(&self) -> Properties {
        Properties {
            accepts: vec![DataKind::Dense, DataKind::Csr, DataKind::Distances],
            needs_k: self.k.is_none() && self.stop == Stop::Rule(StopRule::K),
            reads_constraints: true,
            hard_must: !self.soft_ml,
            hard_cannot: self.on_infeasible == OnInfeasible::Error,
            index_keyed: false,
            ..Properties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let n = shape.n.min(self.max_objects) as u64;
        let propagator = self.propagator();
        16 * n * n + propagator.map_or(0, |p| p.memory(shape))
    }
}

impl ConstrainedCompleteLink {
    /// The outcome under constraints that are all obeyed.
    fn obey(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let k = match self.stop {
            Stop::Rule(StopRule::K) => {
                Some(problem.require_k(self.k, "constrained_complete_link")?)
            }
            Stop::Rule(StopRule::Auto) | Stop::Height(_) => None,
        };
        problem.require_at_most(self.max_objects)?;
        ctx.check()?;
        let conflict = if self.soft_ml { OnConflict::Keep } else { OnConflict::Error };
        let closure = problem.closure(conflict)?;
        if let (Some(k), OnInfeasible::Error, false) = (k, self.on_infeasible, self.soft_ml) {
            closure.require_feasible(k)?;
        }
        let space = Space::new(self, problem, &closure, ctx)?;
        self.cut(space, k, ctx)
    }
}

/// Units that are merged: must-link components (single objects with `soft_ml`), in order of their smallest
/// members.
struct Space {
    /// The node of each object.
    node: Vec<usize>,
    /// The first object of each node.
    first: Vec<u32>,
    /// Largest distances between members, cannot-linked nodes above all others.
    distances: Array2<f64>,
    /// Largest distance of nodes that may merge.
    top: f64,
}

impl Space {
    fn new(
        options: &ConstrainedCompleteLink,
        problem: &Problem,
        closure: &Closure,
        ctx: &Context,
    ) -> Result<Self> {
        let n = problem.n();
        let given = propagated(options, problem, closure, ctx)?;
        let node: Vec<usize> = if options.soft_ml {
            (0..n).collect()
        } else {
            (0..n).map(|i| closure.component(i)).collect()
        };
        let nodes = node.iter().max().map_or(0, |m| m + 1);
        let mut first = vec![u32::MAX; nodes];
        for i in (0..n).rev() {
            first[node[i]] = i as u32;
        }
        let mut distances = if nodes == n {
            given
        } else {
            let mut between = Array2::<f64>::zeros((nodes, nodes));
            for (given, &p) in given.rows().into_iter().zip(&node) {
                let mut between = between.row_mut(p);
                let between = between.as_slice_mut().expect("standard layout");
                for (&d, &q) in given.iter().zip(&node).filter(|(_, q)| **q != p) {
                    between[q] = between[q].max(d);
                }
            }
            between
        };
        // Whatever the propagator makes of a cannot-link, it lies above all that may merge.
        let mut apart: Vec<(usize, usize)> = (0..closure.components())
            .flat_map(|p| closure.apart(p).iter().map(move |&q| (p, q as usize)))
            .flat_map(|(p, q)| {
                if options.soft_ml {
                    let (p, q) = (closure.members(p).iter(), closure.members(q));
                    p.flat_map(|&i| q.iter().map(move |&j| (i as usize, j as usize))).collect()
                } else {
                    vec![(p, q)]
                }
            })
            .collect();
        for &at in closure.conflicts() {
            let c = closure.constraints().pairs()[at];
            let (i, j) = (node[c.i as usize], node[c.j as usize]);
            apart.extend([(i, j), (j, i)]);
        }
        let put: Vec<f64> = apart.iter().map(|&at| distances[at]).collect();
        apart.iter().for_each(|&at| distances[at] = 0.0);
        let top = distances.iter().copied().fold(0.0, f64::max);
        // One more than the largest, where numbers are not too large for that to be more.
        let above = (top + 1.0).max(top.next_up());
        if !above.is_finite() {
            let place = "constrained_complete_link: distances are too large".into();
            return Err(Error::NumericalFailure { place });
        }
        apart.iter().zip(put).for_each(|(&at, d)| distances[at] = d.max(above));
        Ok(Space { node, first, distances, top })
    }
}

/// The distances that the propagator makes, checked.
fn propagated(
    options: &ConstrainedCompleteLink,
    problem: &Problem,
    closure: &Closure,
    ctx: &Context,
) -> Result<Array2<f64>> {
    let propagator = options.propagator()?;
    let tag = propagator.typetag_name();
    let unfit =
        || Error::bad_param("propagator", tag, "one that gives distances of the data alone");
    let facts = propagator.properties();
    if facts.needs_clustering || facts.gives != Some(DataKind::Distances) {
        return Err(unfit());
    }
    // Contradictions are for the distances to settle: the propagator does not see them.
    let conflicts = closure.conflicts();
    let pairs = closure.constraints().pairs().iter().enumerate();
    let pairs = pairs.filter(|(at, _)| conflicts.binary_search(at).is_err()).map(|(_, c)| *c);
    let consistent = Constraints::new(problem.n(), pairs)?;
    let ctx = ctx.child("propagator");
    let made = run::propagate(&**propagator, &consistent, None, problem, &ctx);
    let made = made.map_err(|e| e.at("propagator"))?;
    match made {
        Propagated::Distances(d) if d.dim() == (problem.n(), problem.n()) => {
            if d.iter().all(|v| v.is_finite()) {
                Ok(d)
            } else {
                Err(Error::NumericalFailure {
                    place: "constrained_complete_link: distances are too large".into(),
                })
            }
        }
        _ => Err(unfit()),
    }
}

impl ConstrainedCompleteLink {
    /// Merges until the end, and names the clusters.
    fn cut(&self, space: Space, k: Option<usize>, ctx: &Context) -> Result<Clustering> {
        let Space { node, first, distances, top } = space;
        let nodes = first.len();
        let mut left = nodes;
        let mut clusters = UnionFind::new(nodes);
        let mut history = Vec::new();
        // Merges needed where no cannot-link may be broken.
        let needed = k.filter(|_| self.on_infeasible == OnInfeasible::Error);
        let needed = needed.map_or(0, |k| nodes.saturating_sub(k));
        let kept = (needed > 0).then(|| distances.clone());
        let mut merges = linkage(distances, Linkage::Complete, ctx)?;
        if let (Some(k), Some(distances)) = (k, kept)
            && merges[needed - 1].height > top
        {
            merges = complete_link_ahead(distances, top, k, |p| first[p], ctx)?;
        }
        for merge in merges {
            let over = match (self.stop, k) {
                (Stop::Height(height), _) => merge.height > height,
                (_, Some(k)) => left <= k,
                (_, None) => merge.height > top,
            };
            if over || (merge.height > top && self.on_infeasible == OnInfeasible::Error) {
                break;
            }
            let moved = clusters.size(merge.from as u32);
            clusters.union(merge.into as u32, merge.from as u32);
            left -= 1;
            history.push(IterStat { objective: merge.height, moved, violations: None });
        }
        let roots: Vec<u32> = (0..nodes as u32).map(|p| clusters.find(p)).collect();
        let by_node = canonical(&roots);
        Ok(Clustering {
            labels: node.iter().map(|&p| by_node[p]).collect(),
            k: k.unwrap_or(left),
            objective: Some(history.last().map_or(0.0, |s: &IterStat| s.objective)),
            history,
            status: Status::Converged,
            extras: Extras::default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::clustering::canonical;
    use mustlink_core::error::Infeasible;
    use mustlink_laws::fixtures;
    use proptest::prelude::*;

    /// The procedure as it is written, over objects: links are bridges, cannot-links far.
    #[derive(Debug, Clone, Default, Serialize, Deserialize, Described)]
    struct Plainly {
        /// Cannot-links are only as far as the farthest pair.
        max: bool,
    }

    impl mustlink_core::options::Options for Plainly {}
    impl Registered for Plainly {}

    #[typetag::serde(name = "plain_shortest_path")]
    impl ConstraintPropagator for Plainly {
        fn propagate(
            &self,
            constraints: &Constraints,
            _: Option<&Clustering>,
            problem: &Problem,
            _: &Context,
        ) -> Result<Propagated> {
            let n = problem.n();
            let closure = Closure::new(constraints, n, OnConflict::Error)?;
            let mut d = match problem.data.kind() {
                DataKind::Distances => problem.data.to_dense(),
                _ => Array2::from_shape_fn((n, n), |(i, j)| {
                    problem.data.row(i).squared_distance(&problem.data.row(j)).sqrt()
                }),
            };
            let linked = |i: usize, j: usize| closure.component(i) == closure.component(j);
            for i in 0..n {
                for j in (0..n).filter(|&j| linked(i, j)) {
                    d[[i, j]] = 0.0;
                }
            }
            for m in (0..n).filter(|&m| closure.members(closure.component(m)).len() > 1) {
                for i in 0..n {
                    for j in 0..n {
                        d[[i, j]] = d[[i, j]].min(d[[i, m]] + d[[m, j]]);
                    }
                }
            }
            let far = d.iter().copied().fold(0.0, f64::max) + if self.max { 0.0 } else { 1.0 };
            for i in 0..n {
                for j in 0..n {
                    if closure.relation(i, j) == Some(Kind::CannotLink) {
                        d[[i, j]] = far;
                    }
                }
            }
            Ok(Propagated::Distances(d))
        }

        fn properties(&self) -> PropagatorProperties {
            let gives = Some(DataKind::Distances);
            let accepts = vec![DataKind::Dense, DataKind::Csr, DataKind::Distances];
            PropagatorProperties { gives, accepts, ..PropagatorProperties::default() }
        }
    }

    fn ccl() -> ConstrainedCompleteLink {
        ConstrainedCompleteLink {
            propagator: Some(Box::new(Plainly::default())),
            ..ConstrainedCompleteLink::default()
        }
    }

    fn problem(x: &[f64], k: usize, constraints: &[Constraint]) -> Problem {
        let x = Array2::from_shape_fn((x.len(), 1), |(i, _)| x[i]);
        let constraints = Constraints::new(x.nrows(), constraints.iter().copied()).unwrap();
        Problem::new(Data::dense(x).unwrap()).with_k(k).with_constraints(constraints)
    }

    fn run_of(method: &ConstrainedCompleteLink, p: &Problem) -> Clustering {
        run::cluster(method, p, &Context::new(1)).unwrap().clustering
    }

    fn heights(c: &Clustering) -> Vec<f64> {
        c.history.iter().map(|s| s.objective).collect()
    }

    #[test]
    fn worked_example() {
        let x = [0.0, 1.0, 8.0, 9.5, 4.0];
        // Plain: {0, 1} at 1, {8, 9.5} at 1.5, then 4 goes left at 4.
        let plain = run_of(&ccl(), &problem(&x, 2, &[]));
        assert_eq!(
            (plain.labels.as_slice(), heights(&plain)),
            (&[0, 0, 1, 1, 0][..], vec![1.0, 1.5, 4.0])
        );
        // Apart from 1, 4 goes right, though {0, 1} is nearer.
        let apart = run_of(&ccl(), &problem(&x, 2, &[Constraint::cannot(1, 4)]));
        assert_eq!(
            (apart.labels.as_slice(), heights(&apart)),
            (&[0, 0, 1, 1, 1][..], vec![1.0, 1.5, 5.5])
        );
        // A bridge from 1 to 8: the link merges by itself, 0 and 9.5 follow.
        let bridge = run_of(&ccl(), &problem(&x, 2, &[Constraint::must(1, 2)]));
        assert_eq!(bridge.labels, [0, 0, 0, 0, 1]);
        assert_eq!(heights(&bridge), [1.0, 2.5]);
    }

    #[test]
    fn merging_ends_where_it_should() {
        let x = [0.0, 1.0, 5.0, 6.0, 20.0];
        let p = problem(&x, 2, &[Constraint::cannot(0, 2), Constraint::cannot(2, 4)]);
        let auto = ConstrainedCompleteLink { stop: Stop::Rule(StopRule::Auto), ..ccl() };
        let c = run_of(&auto, &p);
        assert_eq!((c.k, canonical(&c.labels)), (2, vec![0, 0, 1, 1, 0]));
        let free = run_of(&auto, &problem(&x, 2, &[]));
        assert_eq!(free.k, 1);
        let low = ConstrainedCompleteLink { stop: Stop::Height(1.0), ..ccl() };
        assert_eq!(run_of(&low, &p).labels, [0, 0, 1, 1, 2]);
        let high = ConstrainedCompleteLink { stop: Stop::Height(1e9), ..ccl() };
        assert_eq!(run_of(&high, &p).k, 2);
        let below = ConstrainedCompleteLink { stop: Stop::Height(-1.0), ..ccl() };
        let refused = below.cluster(&p, &Context::new(1)).unwrap_err();
        assert_eq!(refused.to_string(), "stop: must be at least 0, got -1");
        // One component, three clusters: two stay empty.
        let one = problem(&[0.0, 1.0, 2.0], 3, &[Constraint::must(0, 1), Constraint::must(1, 2)]);
        let c = run_of(&ccl(), &one);
        assert_eq!((c.labels, c.k), (vec![0, 0, 0], 3));
        let text = |stop: &str| {
            let text = format!("{{\"stop\": {stop}}}");
            serde_json::from_str::<ConstrainedCompleteLink>(&text).unwrap().stop
        };
        assert_eq!(text("\"auto\""), Stop::Rule(StopRule::Auto));
        assert_eq!(text("2.5"), Stop::Height(2.5));
    }

    #[test]
    fn a_dead_end_is_left_out_or_broken() {
        // Feasible by {0, 3}, {1, 2} alone; greedy complete link takes {0, 1} first.
        let x = [0.0, 1.0, 3.0, 4.5];
        let cannot = [(0, 2), (1, 3)].map(|(i, j)| Constraint::cannot(i, j));
        let more = [Constraint::cannot(2, 3)];
        let p = problem(&x, 2, &[&cannot[..], &more[..]].concat());
        assert_eq!(run_of(&ccl(), &p).labels, [0, 1, 1, 0]);
        let merge = ConstrainedCompleteLink { on_infeasible: OnInfeasible::Merge, ..ccl() };
        assert!(!merge.properties().hard_cannot);
        let run = run::cluster(&merge, &p, &Context::new(1)).unwrap();
        assert_eq!((run.violations.must, run.clustering.empty_clusters()), (0, 0));
        assert!(run.violations.cannot > 0);
        // What no method could satisfy is named before anything is computed.
        let triangle = [(0, 1), (1, 2), (0, 2)].map(|(i, j)| Constraint::cannot(i, j));
        let refused = ccl().cluster(&problem(&x, 2, &triangle), &Context::new(1)).unwrap_err();
        assert!(matches!(
            refused,
            Error::InfeasibleConstraints { witness: Infeasible::OddCycle(_), .. }
        ));
    }

    #[test]
    fn soft_links_leave_contradictions_to_the_distances() {
        let x = [0.0, 1.0, 2.0, 9.0];
        let chain = [Constraint::must(0, 1), Constraint::must(1, 2), Constraint::cannot(0, 2)];
        let p = problem(&x, 2, &chain);
        let refused = ccl().cluster(&p, &Context::new(1)).unwrap_err();
        assert!(matches!(refused, Error::InconsistentConstraints(_)));
        let soft = ConstrainedCompleteLink { soft_ml: true, ..ccl() };
        assert!(!soft.properties().hard_must);
        let c = run_of(&soft, &p);
        assert_ne!(c.labels[0], c.labels[2]);
    }

    #[test]
    fn sizes_and_slots_are_checked() {
        let p = problem(&[0.0, 1.0, 2.0], 2, &[]);
        let small = ConstrainedCompleteLink { max_objects: 2, ..ccl() };
        let legal = "at least the number of objects, 3";
        assert_eq!(
            small.cluster(&p, &Context::new(1)).unwrap_err(),
            Error::bad_param("max_objects", 2, legal)
        );
        let n = 1000u64;
        let shape = Shape { n: n as usize, d: 2, k: 2, entries: 2000, constraints: 0 };
        assert!(ccl().memory(&shape) >= 16 * n * n);
        let limited = Context::builder(SeedPath::new(1)).memory_limit(Some(100));
        let refused = run::cluster(&ccl(), &p, &limited.build()).unwrap_err();
        assert!(matches!(refused, Error::Memory { .. }));
    }

    #[test]
    fn the_default_propagator_is_that_of_the_paper() {
        for seed in 0..5 {
            let p = draw(seed, 8);
            let default = ConstrainedCompleteLink::default();
            let (one, two) =
                (default.cluster(&p, &Context::new(1)), ccl().cluster(&p, &Context::new(1)));
            assert_eq!(one.map(|c| c.labels), two.map(|c| c.labels));
        }
        let p = problem(&[0.0, 1.0, 2.0], 2, &[]);
        let closure = mustlink_constraint_propagators::closure::Closure::default();
        let unfit = ConstrainedCompleteLink { propagator: Some(Box::new(closure)), ..ccl() };
        assert_eq!(
            unfit.cluster(&p, &Context::new(1)).unwrap_err().to_string(),
            "propagator: must be one that gives distances of the data alone, got closure"
        );
    }

    #[test]
    fn very_large_distances_still_keep_cannot_links() {
        let x = [0.0, 5e99, 1e100];
        let c = run_of(&ccl(), &problem(&x, 2, &[Constraint::cannot(0, 1)]));
        assert_ne!(c.labels[0], c.labels[1]);
    }

    /// Greedy complete linkage on the propagated distances over objects, without contraction.
    fn slowly(p: &Problem, k: usize) -> (Vec<u32>, f64) {
        let Ok(Propagated::Distances(d)) =
            Plainly::default().propagate(&p.constraints, None, p, &Context::new(1))
        else {
            panic!("no distances")
        };
        let mut clusters: Vec<Vec<usize>> = (0..p.n()).map(|i| vec![i]).collect();
        let mut last = 0.0;
        while clusters.len() > k {
            let mut best: Option<(f64, usize, usize)> = None;
            for a in 0..clusters.len() {
                for b in a + 1..clusters.len() {
                    let pairs =
                        clusters[a].iter().flat_map(|&i| clusters[b].iter().map(move |&j| (i, j)));
                    let height = pairs.map(|at| d[at]).fold(0.0, f64::max);
                    if best.is_none_or(|(least, ..)| height < least) {
                        best = Some((height, a, b));
                    }
                }
            }
            let (height, a, b) = best.unwrap();
            last = height;
            let moved = clusters.remove(b);
            clusters[a].extend(moved);
        }
        let mut labels = vec![0; p.n()];
        for (h, members) in clusters.iter().enumerate() {
            members.iter().for_each(|&i| labels[i] = h as u32);
        }
        (canonical(&labels), last)
    }

    fn draw(seed: u64, pairs: usize) -> Problem {
        let (x, classes) = fixtures::groups(8, 2, 1.5, seed);
        let constraints = fixtures::true_constraints(&classes, pairs, seed);
        Problem::new(Data::dense(x).unwrap()).with_k(3).with_constraints(constraints)
    }

    proptest! {
        /// The same as the procedure as it is written; heights never fall; every constraint holds.
        #[test]
        fn as_written(seed in 0u64..10_000, pairs in 0usize..40) {
            let p = draw(seed, pairs);
            match run::cluster(&ccl(), &p, &Context::new(1)) {
                Ok(run) => {
                    let c = run.clustering;
                    let (labels, height) = slowly(&p, 3);
                    // Where the procedure breaks a cannot-link, another result is right.
                    if p.constraints.violations(&labels).cannot == 0 {
                        prop_assert_eq!(canonical(&c.labels), labels);
                        let zero = c.history.is_empty();
                        prop_assert!(zero || (c.objective.unwrap() - height).abs() < 1e-12);
                    }
                    prop_assert!(c.history.windows(2).all(|w| w[0].objective <= w[1].objective));
                    prop_assert_eq!(run.violations.total(), 0);
                }
                Err(e) => return Err(TestCaseError::fail(e.to_string())),
            }
        }

        /// The unit of the data matters to heights only; a farthest distance of its own does not
        /// weaken cannot-links.
        #[test]
        fn the_unit_changes_no_label(seed in 0u64..10_000, pairs in 0usize..20) {
            let p = draw(seed, pairs);
            let Ok(one) = run::cluster(&ccl(), &p, &Context::new(1)) else { return Ok(()) };
            let x = p.data.to_dense().mapv(|v| 4.0 * v);
            let larger = Problem { data: Data::dense(x).unwrap(), ..p.clone() };
            let two = run_of(&ccl(), &larger);
            prop_assert_eq!(&one.clustering.labels, &two.labels);
            for (a, b) in one.clustering.history.iter().zip(&two.history) {
                prop_assert_eq!(4.0 * a.objective, b.objective);
            }
            let max = Plainly { max: true };
            let near = ConstrainedCompleteLink { propagator: Some(Box::new(max)), ..ccl() };
            prop_assert_eq!(&one.clustering.labels, &run_of(&near, &p).labels);
        }

        /// Rows in another order give the same clusters.
        #[test]
        fn the_order_of_rows_is_nothing(seed in 0u64..10_000, pairs in 0usize..20) {
            let p = draw(seed, pairs);
            let Ok(one) = run::cluster(&ccl(), &p, &Context::new(1)) else { return Ok(()) };
            let order: Vec<usize> = (0..p.n()).rev().collect();
            let two = run_of(&ccl(), &p.subset(&order));
            let back: Vec<u32> = (0..p.n()).map(|i| two.labels[p.n() - 1 - i]).collect();
            prop_assert_eq!(canonical(&one.clustering.labels), canonical(&back));
        }
    }

    #[test]
    fn distances_are_taken_as_they_are() {
        let x = [0.0, 1.0, 8.0, 9.5, 4.0];
        let p = problem(&x, 2, &[Constraint::cannot(1, 4)]);
        let d = Array2::from_shape_fn((5, 5), |(i, j)| f64::abs(x[i] - x[j]));
        let given = Problem { data: Data::distances(d).unwrap(), ..p.clone() };
        assert_eq!(run_of(&ccl(), &p), run_of(&ccl(), &given));
    }
}
