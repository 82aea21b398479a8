//! K-means that satisfies every constraint.

use std::collections::HashSet;

use mustlink_core::clustering::partition_hash;
use mustlink_core::prelude::*;
use mustlink_core::soft_marks::obeying;
use mustlink_kernels::constrained::icm::cheapest;
use mustlink_kernels::constrained::must_link_units::{MustLinkUnits, UnitOrder, best_attempt};
use mustlink_kernels::constrained::penalised_kmeans::{ConstrainedInit, distances};
use mustlink_kernels::distance::points::{Distortion, DistortionOption, Points};
use mustlink_kernels::kmeans::lloyd::{Empty, Stop, clustering, lloyd, total_distortion};
use mustlink_kernels::kmeans::means::means;
use mustlink_kernels::kmeans::nearest::assign::assign;
use mustlink_kernels::kmeans::seeding::Init;
use ndarray::Array2;

use crate::parts::attempts::Attempts;
use crate::parts::complete_search::{CompleteSearch, total_distances};
use crate::parts::matched_groups::MatchedGroups;

/// Unit that is placed in one step.
#[options]
pub enum Unit {
    /// An object. Its whole must-link component goes to the cluster that suits this object.
    #[default]
    Object,
    /// A must-link component, which goes to the cluster that suits its objects together.
    Component,
}

/// Action if a component must be apart from something in every cluster.
#[options]
pub enum Search {
    /// A complete search places all components that cannot-links connect with it.
    #[default]
    Complete,
    /// The attempt fails, as published.
    Greedy,
}

/// K-means in which an object joins the nearest centre that its constraints allow.
///
/// # Method
/// Each sweep places the must-link components again, one after the other. A component goes to the nearest cluster that
/// holds nothing it must be apart from; free objects take their nearest centre. If no cluster is left for a component,
/// a graph colouring (DSATUR with backtracking, cheap clusters first) places all components that cannot-links connect
/// with it. From then on these keep their clusters. Those that cannot-links connect within two clusters exchange them
/// (a Kempe chain) as long as the distortion falls. If a labelling repeats, the run stops. A run that does not converge
/// returns its best labelling. A group whose members must all be apart is placed as a whole in each sweep, if no other
/// constraint touches its objects. Each cluster gets one object, by the linear assignment of smallest total distance.
/// # Input and output
/// n × d, dense or sparse, objects of any weight, constraints (whose weights are not used). One label per object in
/// `0..k`, k centres; no must-link or cannot-link is ever broken.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `InconsistentConstraints` with the chain of must-links;
/// `InfeasibleConstraints` when k clusters provably cannot hold the cannot-links, with objects that show it;
/// `UndecidedConstraints` when the search ends at `node_limit` and no placement is known. With `search = "greedy"` also
/// `InfeasibleConstraints` when every attempt ended with a component for which no cluster was left.
/// # Cost and randomness
/// O(sweeps · (n·k·d + components · k + cannot-linked components + g²·k for a group of g)); if components exchange
/// clusters, also their pairs of clusters. The search has `node_limit` nodes for each part that cannot-links connect.
/// Random: first centres and order.
/// # References
/// [Wagstaff2001] Table 1. Differs: when the published method fails, a search continues, so that constraints hold
/// if they can be. Several attempts are made and the best one counts. `search = "greedy"` with `restarts = 1` is the
/// published method.
#[options]
pub struct CopKMeans {
    /// Number of clusters, at most n. If absent, the k of the problem.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Distance from an object to a centre. "auto": cosine for sparse rows, otherwise squared Euclidean.
    pub distortion: AutoOr<Distortion>,
    /// Unit that is placed in one step; `object` as published, or `component`.
    pub unit: Unit,
    /// Order in which units are placed.
    pub order: UnitOrder,
    /// Action if no cluster is left for a component; `greedy`: the attempt fails.
    pub search: Search,
    /// Maximum number of nodes of the complete search. If it is reached and no placement is known, the run ends with an
    /// error, because it is undecided whether k clusters can hold the cannot-links.
    #[option(default = 1_000_000, min = 1, inert = "a limit that small problems do not reach")]
    pub node_limit: u64,
    /// Method of choosing the first centres. `neighbourhood`: the means of the must-link components with cannot-links
    /// (seeded COP-KMeans).
    #[option(default = ConstrainedInit::Plain(Init::default()))]
    pub init: ConstrainedInit,
    /// Options for starts from neighbourhoods and for the number and end of attempts.
    #[option(flatten)]
    pub attempts: Attempts,
    /// Treatment of a cluster that has no objects; `reseed` moves whole components.
    #[option(default = Empty::Reseed)]
    pub empty: Empty,
}

#[plugin("cop_kmeans", aliases = ["cop", "copkmeans"], cites = ["Wagstaff2001"], version = 2)]
impl BaseClusterer for CopKMeans {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        obeying("cop_kmeans", problem, ctx, |problem| self.obey(problem, ctx))
    }

    fn properties(&self) -> Properties {
        Properties {
            accepts: vec![DataKind::Dense, DataKind::Csr],
            needs_k: self.k.is_none(),
            reads_constraints: true,
            reads_groups: self.search == Search::Complete,
            hard_must: true,
            hard_cannot: true,
            object_weights: true,
            gives_centers: true,
            ..Properties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let copy = self.distortion.copy_bytes(shape);
        let constrained = (2 * shape.constraints).min(shape.n);
        let k = self.k.unwrap_or(shape.k);
        let mut attempt = 32 * shape.n + 8 * constrained * k + 24 * k * shape.d;
        if self.search == Search::Complete {
            // Distances of whole components; neighbours by colour, for at most 2 · constraints.
            attempt += 8 * constrained * k + 80 * constrained + 32 * shape.constraints;
        }
        (copy
            + 60 * shape.n
            + 140 * shape.constraints
            + self.attempts.restarts.min(reduce::WAVE) * attempt) as u64
    }
}

impl CopKMeans {
    /// The outcome under constraints that are all obeyed.
    fn obey(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let k = problem.require_k(self.k, "cop_kmeans")?;
        let stop = self.attempts.stop();
        let closure = problem.closure(OnConflict::Error)?;
        let (units, groups) = match self.search {
            Search::Complete => {
                (MustLinkUnits::beside_lone_groups(&closure), MatchedGroups::new(&closure))
            }
            Search::Greedy => (MustLinkUnits::new(&closure), MatchedGroups::none()),
        };
        let mut held = units.held().to_vec();
        groups.objects().for_each(|i| held[i as usize] = true);
        let complete = match self.search {
            Search::Complete => Some(CompleteSearch::new(&units, k, self.node_limit, ctx)?),
            Search::Greedy => {
                closure.require_feasible(k)?;
                None
            }
        };
        let points = Points::new(&problem.data, self.distortion)?;
        let attempt = |r: usize| {
            let ctx = ctx.index(r);
            let centres = self.attempts.centres(self.init, &points, k, &closure, problem, &ctx)?;
            if units.is_empty() && groups.is_empty() {
                return lloyd(&points, centres, stop, self.empty, &ctx);
            }
            let run = Run {
                method: self,
                points: &points,
                units: &units,
                groups: &groups,
                held: &held,
                stuck: vec![false; complete.as_ref().map_or(0, CompleteSearch::parts)],
                complete: complete.as_ref(),
                ctx: &ctx,
            };
            run.sweeps(centres, stop)
        };
        // One start with one order is one attempt, however often it is made.
        let random = self.order == UnitOrder::Random && !units.is_empty();
        let given = self.init == ConstrainedInit::Plain(Init::Given);
        let restarts = if given && !random { 1 } else { self.attempts.restarts };
        best_attempt(restarts, attempt)
    }
}

/// The best labelling on the way.
#[derive(Default)]
struct Best {
    labels: Vec<u32>,
    centres: Array2<f64>,
    objective: Option<f64>,
}

impl Best {
    fn keep(&mut self, labels: &[u32], centres: &Array2<f64>, objective: f64) {
        if self.objective.is_none_or(|best| objective < best) {
            let (labels, centres) = (labels.to_vec(), centres.clone());
            *self = Best { labels, centres, objective: Some(objective) };
        }
    }

    /// It ends the history.
    fn end(self, history: &mut Vec<IterStat>) -> (Vec<u32>, Array2<f64>) {
        let at = history.iter().position(|s| Some(s.objective) == self.objective);
        history.truncate(at.map_or(history.len(), |at| at + 1));
        (self.labels, self.centres)
    }
}

/// One attempt.
struct Run<'a> {
    method: &'a CopKMeans,
    points: &'a Points,
    units: &'a MustLinkUnits<'a>,
    groups: &'a MatchedGroups,
    /// Objects of units and groups; the others are free.
    held: &'a [bool],
    complete: Option<&'a CompleteSearch<'a>>,
    ctx: &'a Context,
    /// Parts of the complete search in which a component has found every cluster taken.
    stuck: Vec<bool>,
}

impl Run<'_> {
    /// COP-KMeans from first centres, [Wagstaff2001] Table 1.
    fn sweeps(mut self, mut centres: Array2<f64>, stop: Stop) -> Result<Clustering> {
        let (points, units) = (self.points, self.units);
        let mut labels = vec![NONE; points.n()];
        let mut history: Vec<IterStat> = Vec::new();
        let mut seen = HashSet::new();
        let mut best = Best::default();
        let mut status = Status::MaxIter;
        // 4: until convergence.
        for sweep in 0..stop.max_iterations {
            self.ctx.check()?;
            let before = labels.clone();
            // 2: objects in no constraint, then the others in turn.
            assign(points, &centres, &mut labels, Some(self.held));
            self.groups.place(points, &centres, &mut labels)?;
            self.place(&centres, sweep, &mut labels)?;
            self.search(&centres, &before, &mut labels)?;
            // 3: each centre to the mean of its objects.
            let sizes;
            (centres, sizes) = means(points, &labels, centres);
            if sizes.contains(&0) {
                units.refill(points, &mut labels, &mut centres, self.method.empty, &mut ())?;
            }
            let objective = total_distortion(points, &labels, &centres);
            let moved = labels.iter().zip(&before).filter(|(a, b)| a != b).count();
            let last = history.last().map(|s| s.objective);
            history.push(IterStat { objective, moved, violations: Some(0) });
            best.keep(&labels, &centres, objective);
            if moved == 0 || last.is_some_and(|b| stop.is_over(b, objective)) {
                status = Status::Converged;
                break;
            }
            if !seen.insert(partition_hash(&labels)) {
                status = Status::Cycle;
                break;
            }
        }
        if status != Status::Converged {
            // Greedy placing does not always lower the objective: the best labelling counts.
            (labels, centres) = best.end(&mut history);
        }
        Ok(clustering(labels, centres, history, status, points.distortion()))
    }

    /// Places every unit again.
    fn place(&mut self, centres: &Array2<f64>, sweep: usize, labels: &mut [u32]) -> Result<()> {
        let (units, k) = (self.units, centres.nrows());
        let order = self.order(centres, sweep);
        (0..units.len()).for_each(|u| units.put(u, NONE, labels));
        for (u, mut cost) in order {
            if self.is_stuck(u) {
                continue;
            }
            // 2: to the nearest cluster in which no constraint breaks; where there is none, fail, or search.
            units.forbid(u, labels, &mut cost);
            match (cheapest(&cost, NONE), self.complete) {
                (NONE, None) => return Err(units.blocked(u, k, labels)),
                (NONE, Some(search)) => self.stuck[search.part_of(u)] = true,
                (h, _) => units.put(u, h, labels),
            }
        }
        Ok(())
    }

    /// The units that are placed one by one, in order, with what each cluster costs them.
    fn order(&self, centres: &Array2<f64>, sweep: usize) -> Vec<(usize, Vec<f64>)> {
        let (units, points) = (self.units, self.points);
        let mut order = units.order(self.method.order, sweep, self.ctx);
        order.retain(|&(u, _)| !self.is_stuck(u));
        let costs = |&(u, first): &(usize, u32)| match self.method.unit {
            Unit::Object => distances(points, centres, &[first], 1.0),
            Unit::Component => total_distances(points, centres, units.members(u)),
        };
        reduce::map(order.len(), |at| (order[at].0, costs(&order[at])))
    }

    /// Places, all together, the parts in which a unit found every cluster taken; `before` are the labels
    /// of the sweep before.
    fn search(&self, centres: &Array2<f64>, before: &[u32], labels: &mut [u32]) -> Result<()> {
        let Some(search) = self.complete else { return Ok(()) };
        (0..self.stuck.len())
            .filter(|&part| self.stuck[part])
            .try_for_each(|part| search.place(part, self.points, centres, before, labels, self.ctx))
    }

    /// True if the complete search places unit `u`.
    fn is_stuck(&self, u: usize) -> bool {
        self.complete.is_some_and(|search| self.stuck[search.part_of(u)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kmeans::KMeans;
    use mustlink_core::Group;
    use mustlink_core::closure::Feasibility;
    use mustlink_core::error::Infeasible;
    use mustlink_laws::fixtures;
    use ndarray::array;
    use proptest::prelude::*;
    use proptest::test_runner::{Config, TestRunner};

    fn few(restarts: usize, max_iterations: usize) -> Attempts {
        Attempts { restarts, max_iterations, ..Attempts::default() }
    }

    fn run(method: &CopKMeans, problem: &Problem, seed: u64) -> Clustering {
        method.cluster(problem, &Context::new(seed)).unwrap()
    }

    fn line(x: &[f64], k: usize, pairs: &[Constraint]) -> Problem {
        let data = Data::dense(Array2::from_shape_vec((x.len(), 1), x.to_vec()).unwrap()).unwrap();
        Problem::new(data)
            .with_k(k)
            .with_constraints(Constraints::new(x.len(), pairs.iter().copied()).unwrap())
    }

    #[test]
    fn worked_example() {
        // 1 is nearest to 0, but must be apart from it and together with 11.
        let p =
            line(&[0.0, 1.0, 10.0, 11.0], 2, &[Constraint::cannot(0, 1), Constraint::must(1, 3)]);
        for unit in [Unit::Object, Unit::Component] {
            let c = run(&CopKMeans { unit, ..CopKMeans::default() }, &p, 1);
            assert_eq!(mustlink_core::clustering::canonical(&c.labels), [0, 1, 1, 1]);
            // {1, 10, 11} about 22/3.
            assert!((c.objective.unwrap() - 182.0 / 3.0).abs() < 1e-9);
        }
    }

    #[test]
    fn a_group_is_placed_at_once() {
        // 4 is nearest to the centre at 5, which 5 takes; both orders of visiting would do as well as
        // their luck, the assignment always finds 4 at 0 and 5 at 5.
        let p = line(&[4.0, 5.0, 0.0, 5.0], 2, &[]);
        let groups = [Group::new("photo", vec![0, 1])];
        let apart = Constraints::default().with_groups(4, groups).unwrap();
        let p = p.with_constraints(apart).with_start(Start::Centroids(array![[0.0], [5.0]]));
        let init = ConstrainedInit::Plain(Init::Given);
        let c = run(&CopKMeans { init, attempts: few(1, 1), ..CopKMeans::default() }, &p, 1);
        assert_eq!(c.labels, [0, 1, 0, 1]);
        let crowded = p.with_k(1);
        let refused = CopKMeans::default().cluster(&crowded, &Context::new(1)).unwrap_err();
        assert!(refused.to_string().contains("2 members of the group \"photo\""), "{refused}");
    }

    #[test]
    fn a_group_of_which_more_is_said_is_held_as_well() {
        // 0, 1 and 2 apart and nearest to the same centre; 1 is with 3, which nothing else holds.
        let p = line(&[0.0, 0.1, 0.2, 5.0, 9.0, 9.1], 3, &[Constraint::must(1, 3)]);
        let group = [Group::new("photo", vec![0, 1, 2])];
        let all = (*p.constraints).clone().with_groups(6, group).unwrap();
        for seed in 0..9 {
            let c = run(&CopKMeans::default(), &p.clone().with_constraints(all.clone()), seed);
            assert_eq!(all.violations(&c.labels).total(), 0, "{:?}", c.labels);
        }
    }

    #[test]
    fn the_first_object_decides_for_its_component_or_all_do() {
        // 0 and 9 together: 0 is nearer to the centre at 1, both together to that at 8.
        let p = line(&[0.0, 9.0], 2, &[Constraint::must(0, 1)]);
        let p = p.with_start(Start::Centroids(array![[1.0], [7.0]]));
        let init = ConstrainedInit::Plain(Init::Given);
        let once = |unit| CopKMeans {
            unit,
            init,
            order: UnitOrder::Index,
            attempts: few(10, 1),
            empty: Empty::Keep,
            ..CopKMeans::default()
        };
        assert_eq!(run(&once(Unit::Object), &p, 1).labels, [0, 0]);
        // Distortions 1 + 64 and 49 + 4.
        assert_eq!(run(&once(Unit::Component), &p, 1).labels, [1, 1]);
    }

    #[test]
    fn cluster_zero_counts_as_taken() {
        // Public code that tests `label > 0` puts both into cluster 0.
        let p = line(&[0.0, 0.5, 9.0], 2, &[Constraint::cannot(0, 1)]);
        let p = p.with_start(Start::Centroids(array![[0.0], [9.0]]));
        let init = ConstrainedInit::Plain(Init::Given);
        let c = run(&CopKMeans { init, order: UnitOrder::Index, ..CopKMeans::default() }, &p, 1);
        assert_ne!(c.labels[0], c.labels[1]);
    }

    #[test]
    fn a_clique_larger_than_k_is_infeasible() {
        let clique = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
        let pairs: Vec<Constraint> =
            clique.iter().map(|&(i, j)| Constraint::cannot(i, j)).collect();
        let p = line(&[0.0, 1.0, 2.0, 3.0, 4.0], 3, &pairs);
        match CopKMeans::default().cluster(&p, &Context::new(1)) {
            Err(Error::InfeasibleConstraints { k: 3, witness: Infeasible::Clique(c) }) => {
                assert_eq!(c, [0, 1, 2, 3]);
            }
            other => panic!("{other:?}"),
        }
        let p = line(&[0.0, 1.0, 2.0], 1, &[Constraint::cannot(0, 2)]);
        let one = CopKMeans::default().cluster(&p, &Context::new(1)).unwrap_err();
        assert!(matches!(one, Error::InfeasibleConstraints { k: 1, .. }));
    }

    #[test]
    fn contradictions_and_too_many_clusters_are_named() {
        let pairs = [Constraint::must(0, 1), Constraint::must(1, 2), Constraint::cannot(0, 2)];
        let p = line(&[0.0, 1.0, 2.0], 2, &pairs);
        match CopKMeans::default().cluster(&p, &Context::new(1)) {
            Err(Error::InconsistentConstraints(w)) => assert_eq!(w.shown[0].path, [0, 1, 2]),
            other => panic!("{other:?}"),
        }
        let p = line(&[0.0, 1.0, 2.0], 4, &[]);
        let many = CopKMeans::default().cluster(&p, &Context::new(1)).unwrap_err();
        assert_eq!(many, Error::TooManyClusters { k: 4, n: 3 });
    }

    #[test]
    fn an_attempt_that_fails_names_what_stood_in_the_way() {
        // A path of cannot-links 0-2-3-1 takes two clusters, but greedy placing by index puts 0 and 1
        // into different ones, and 3 (apart from 1 and 2) finds both taken.
        let pairs = [Constraint::cannot(0, 2), Constraint::cannot(2, 3), Constraint::cannot(1, 3)];
        let p = line(&[0.0, 9.0, 8.0, 4.0], 2, &pairs);
        let p = p.with_start(Start::Centroids(array![[0.0], [9.0]]));
        let init = ConstrainedInit::Plain(Init::Given);
        let method = CopKMeans { init, order: UnitOrder::Index, ..CopKMeans::default() };
        // 0 → 0, 1 → 1, 2 → 1, 3 is apart from 1 and 2, both in 1: cluster 0 is free.
        assert_eq!(run(&method, &p, 1).labels, [0, 1, 1, 0]);
        let p = line(&[0.0, 0.5, 8.0, 4.0], 2, &pairs);
        let p = p.with_start(Start::Centroids(array![[0.0], [9.0]]));
        // 0 → 0, 1 → 0, 2 → 1, and 3 is apart from both.
        let method = CopKMeans { search: Search::Greedy, ..method };
        let error = method.cluster(&p, &Context::new(1)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "constraints: no attempt found an admissible cluster among 2 for 3, apart from 1 in 0, \
             2 in 1; more restarts may"
        );
        // {0, 4} and {0.5, 8} is the only partition; their sums of squares are 8 and 28.125.
        let method = CopKMeans { search: Search::Complete, ..method };
        let found = run(&method, &p, 1);
        assert_eq!(found.labels, [0, 1, 1, 0]);
        assert_eq!(found.objective, Some(36.125));
    }

    #[test]
    fn chains_stars_and_cycles_that_fit_are_placed() {
        let n = 2_000;
        let x: Vec<f64> = (0..n).map(|i| f64::from(i * 37 % 101)).collect();
        let n = n as usize;
        let chain = (1..n).map(|i| (i - 1, i)).collect::<Vec<_>>();
        let star = (1..n).map(|i| (0, i)).collect();
        let even = (0..n).map(|i| (i, (i + 1) % n)).collect();
        let odd = (0..n - 1).map(|i| (i, (i + 1) % (n - 1))).collect();
        let cliques = (0..n)
            .flat_map(|i| (1..3 - i % 3).map(move |j| (i, i + j)))
            .filter(|p| p.1 < n)
            .collect();
        for (pairs, least) in [(chain, 2), (star, 2), (even, 2), (odd, 3), (cliques, 3)] {
            let pairs: Vec<Constraint> =
                pairs.iter().map(|&(i, j)| Constraint::cannot(i, j)).collect();
            for k in [least, least + 1] {
                let p = line(&x, k, &pairs);
                let c = run(&CopKMeans { attempts: few(2, 100), ..CopKMeans::default() }, &p, 1);
                assert_eq!(p.constraints.violations(&c.labels).total(), 0);
            }
            let p = line(&x, least - 1, &pairs);
            let error = CopKMeans::default().cluster(&p, &Context::new(1)).unwrap_err();
            let Error::InfeasibleConstraints { witness, .. } = error else { panic!("{error}") };
            assert!(matches!(witness, Infeasible::Clique(_) | Infeasible::OddCycle(_)));
        }
    }

    #[test]
    fn what_no_clique_shows_a_complete_search_does() {
        // A cycle of five and a hub need four clusters, though no four of them are all apart; 7 must
        // be together with the hub, and 8 and 9 are apart from nothing that matters.
        let rim = (0..5).map(|i| Constraint::cannot(i, (i + 1) % 5));
        let spokes = (0..5).map(|i| Constraint::cannot(i, 5 + 2 * (i % 2)));
        let rest = [Constraint::must(5, 7), Constraint::cannot(8, 9), Constraint::cannot(8, 5)];
        let pairs: Vec<Constraint> = rim.chain(spokes).chain(rest).collect();
        let x: Vec<f64> = (0..10).map(f64::from).collect();
        let error = |method: &CopKMeans| {
            method.cluster(&line(&x, 3, &pairs), &Context::new(1)).unwrap_err().to_string()
        };
        assert_eq!(
            error(&CopKMeans::default()),
            "constraints: 3 clusters cannot hold the cannot-links among 6 objects, as a complete \
             search shows: 0, 1, 2, 3, 4, 5"
        );
        assert_eq!(
            error(&CopKMeans { node_limit: 2, ..CopKMeans::default() }),
            "constraints: whether 3 clusters can satisfy them is not known after node_limit = 2 nodes; \
             raise node_limit or choose a method that weighs constraints"
        );
        let c = run(&CopKMeans::default(), &line(&x, 4, &pairs), 1);
        assert_eq!(line(&x, 4, &pairs).constraints.violations(&c.labels).total(), 0);
    }

    /// One sweep of Table 1, object by object.
    fn published(p: &Problem, centres: &Array2<f64>) -> Option<Vec<u32>> {
        let (x, n) = (p.data.to_dense(), p.n());
        let closure = Closure::new(&p.constraints, n, OnConflict::Error).unwrap();
        let mut labels = vec![NONE; n];
        for i in 0..n {
            if labels[i] != NONE {
                continue;
            }
            let distance = |h: usize| (&x.row(i) - &centres.row(h)).mapv(|v| v * v).sum();
            let mut near: Vec<usize> = (0..centres.nrows()).collect();
            near.sort_by(|&a, &b| distance(a).total_cmp(&distance(b)));
            let other = |&q: &u32| labels[closure.members(q as usize)[0] as usize];
            let c = closure.component(i);
            let allowed = |h: &usize| closure.apart(c).iter().all(|q| other(q) != *h as u32);
            let h = near.into_iter().find(allowed)?;
            closure.members(c).iter().for_each(|&j| labels[j as usize] = h as u32);
        }
        Some(labels)
    }

    #[test]
    fn one_component_of_all_objects_uses_one_cluster() {
        // A chain deep enough to exhaust the stack of a recursive closure.
        let n = 100_000;
        let x: Vec<f64> = (0..n).map(|i| f64::from(i % 7)).collect();
        let chain: Vec<Constraint> = (1..n as usize).map(|i| Constraint::must(i - 1, i)).collect();
        let p = line(&x, 3, &chain);
        let method = CopKMeans { attempts: few(1, 3), ..CopKMeans::default() };
        let c = run(&method, &p, 1);
        assert_eq!(c.sizes().iter().filter(|&&s| s > 0).count(), 1);
    }

    #[test]
    fn soft_marks_are_enforced_with_a_warning() {
        let soft = Constraint { strength: Some(Strength::Soft), ..Constraint::must(0, 3) };
        let p = line(&[0.0, 1.0, 10.0, 11.0], 2, &[soft]);
        let ctx = Context::new(1);
        let c = CopKMeans::default().cluster(&p, &ctx).unwrap();
        assert_eq!(c.labels[0], c.labels[3]);
        assert_eq!(ctx.warnings(), ["cop_kmeans: 1 constraint marked soft is enforced as if hard"]);
    }

    /// Random positions, and pairs drawn from a hidden partition into k, so that k clusters can hold
    /// them.
    fn feasible(seed: u64, n: usize, k: usize, pairs: usize) -> Problem {
        let mut s = SeedPath::new(seed).stream("feasible");
        let hidden: Vec<usize> = (0..n).map(|_| s.below(k)).collect();
        let x = Array2::from_shape_fn((n, 2), |_| s.below(20) as f64);
        let drawn: Vec<Constraint> = (0..pairs)
            .filter_map(|_| {
                let (i, j) = (s.below(n), s.below(n));
                let kind = if hidden[i] == hidden[j] { Kind::MustLink } else { Kind::CannotLink };
                (i != j).then(|| Constraint::new(i, j, kind))
            })
            .collect();
        let constraints = Constraints::new(n, drawn).unwrap();
        Problem::new(Data::dense(x).unwrap()).with_k(k).with_constraints(constraints)
    }

    /// 2 000 cases; 100 000 with `MUSTLINK_NIGHTLY=1`.
    #[test]
    fn no_constraint_is_ever_broken() {
        let nightly = std::env::var("MUSTLINK_NIGHTLY").is_ok_and(|v| v == "1");
        let cases = if nightly { 100_000 } else { 2_000 };
        let mut runner = TestRunner::new(Config { cases, ..Config::default() });
        let order = prop_oneof![
            Just(UnitOrder::Random),
            Just(UnitOrder::Index),
            Just(UnitOrder::DegreeDesc)
        ];
        let init = prop_oneof![
            Just(ConstrainedInit::Neighbourhood),
            Just(ConstrainedInit::Plain(Init::Random)),
            Just(ConstrainedInit::Plain(Init::KmeansPlusPlus)),
        ];
        let empty = prop_oneof![Just(Empty::Reseed), Just(Empty::Keep)];
        let shape = (any::<u64>(), 4usize..30, 1usize..5, 0usize..60);
        let cases = (shape, order, init, empty, any::<(bool, bool)>());
        runner
            .run(&cases, |((seed, n, k, pairs), order, init, empty, (component, greedy))| {
                let p = feasible(seed, n, k, pairs);
                let unit = if component { Unit::Component } else { Unit::Object };
                let search = if greedy { Search::Greedy } else { Search::Complete };
                let method = CopKMeans {
                    order,
                    init,
                    empty,
                    unit,
                    search,
                    attempts: few(3, 10),
                    ..CopKMeans::default()
                };
                match method.cluster(&p, &Context::new(seed)) {
                    Ok(c) => {
                        prop_assert_eq!(p.constraints.violations(&c.labels).total(), 0);
                        prop_assert!(c.labels.iter().all(|&l| (l as usize) < k));
                    }
                    Err(Error::InfeasibleConstraints { .. }) if greedy => {
                        // Greedy placing may fail, but never where every component has a free cluster.
                        let closure = Closure::new(&p.constraints, n, OnConflict::Error).unwrap();
                        let crowded =
                            (0..closure.components()).any(|c| closure.apart(c).len() >= k);
                        prop_assert!(crowded);
                        prop_assert!(!matches!(closure.feasibility(k), Feasibility::Infeasible(_)));
                    }
                    Err(e) => prop_assert!(false, "{}", e),
                }
                Ok(())
            })
            .unwrap();
    }

    proptest! {
        #[test]
        fn without_constraints_it_is_kmeans(seed: u64, cosine: bool) {
            let (p, _) = fixtures::dense(seed);
            let distortion = if cosine { Distortion::Cosine } else { Distortion::SquaredEuclidean };
            let kmeans = KMeans { distortion: distortion.into(), max_iterations: 100, ..KMeans::default() };
            let cop = CopKMeans { distortion: distortion.into(), ..CopKMeans::default() };
            let (a, b) = (run(&cop, &p, seed), kmeans.cluster(&p, &Context::new(seed)).unwrap());
            prop_assert_eq!(a.labels, b.labels);
            prop_assert_eq!(a.objective, b.objective);
        }

        #[test]
        fn the_objective_is_the_distortion_to_the_means(seed: u64, pairs in 0usize..40) {
            let p = feasible(seed, 30, 4, pairs);
            let c = run(&CopKMeans::default(), &p, seed);
            let x = p.data.to_dense();
            let centres = c.extras.centers.unwrap();
            let slow: f64 = (0..30).map(|i| {
                (&x.row(i) - &centres.row(c.labels[i] as usize)).mapv(|v| v * v).sum()
            }).sum();
            prop_assert!((slow - c.objective.unwrap()).abs() <= 1e-9 * slow.max(1.0));
            for h in 0..4u32 {
                let of: Vec<usize> = (0..30).filter(|&i| c.labels[i] == h).collect();
                if !of.is_empty() {
                    let mean = x.select(ndarray::Axis(0), &of).mean_axis(ndarray::Axis(0)).unwrap();
                    prop_assert!((&mean - &centres.row(h as usize)).iter().all(|v| v.abs() < 1e-9));
                }
            }
        }

        #[test]
        fn greedy_is_the_published_sweep(seed: u64, k in 2usize..5, pairs in 0usize..40) {
            let p = feasible(seed, 30, k, pairs);
            let centres = p.data.to_dense().select(ndarray::Axis(0), &Vec::from_iter(0..k));
            let expected = published(&p, &centres);
            let p = p.with_start(Start::Centroids(centres));
            let method = CopKMeans {
                init: ConstrainedInit::Plain(Init::Given),
                order: UnitOrder::Index,
                search: Search::Greedy,
                empty: Empty::Keep,
                attempts: few(1, 1),
                ..CopKMeans::default()
            };
            let made = method.cluster(&p, &Context::new(seed)).map(|c| c.labels).ok();
            prop_assert_eq!(&made, &expected);
            // Where greedy placing succeeds, nothing is searched.
            if expected.is_some() {
                let complete = CopKMeans { search: Search::Complete, ..method };
                prop_assert_eq!(run(&complete, &p, seed).labels, expected.unwrap());
            }
        }
    }
}
