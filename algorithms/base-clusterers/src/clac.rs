//! CLAC: locally adaptive clustering that keeps chunklets of must-links together.

mod exact;

use mustlink_core::AutoOr;
use mustlink_core::prelude::*;
use mustlink_core::soft_marks::obeying;
use mustlink_core::text::count;
use mustlink_kernels::constrained::colouring::{
    Colouring, colour, connected_parts, induced, lower_cost,
};
use mustlink_kernels::constrained::must_link_units::{MustLinkUnits, UnitOrder};
use mustlink_kernels::constrained::neighbourhood_seeding::{
    FewerThanK, MoreThanK, Rules, chunklet_start, neighbourhood_start,
};
use mustlink_kernels::constrained::penalised_kmeans::ConstrainedInit;
use mustlink_kernels::distance::points::{Distortion, Points};
use mustlink_kernels::kmeans::lloyd::Empty;
use mustlink_kernels::kmeans::nearest::weighted::Weighted;
use mustlink_kernels::kmeans::seeding::{Perturb, start};
use ndarray::Array2;

use crate::lac::memory_of_rounds;
use crate::lac::rounds::{AssignRule, Free, Placement, Rounds};
use crate::parts::incentive::mean_spread;
use exact::{MOST_VERTICES, cheapest_colouring};

/// Nodes after which the search for a placement of linked chunklets ends undecided.
const NODE_LIMIT: u64 = 1_000_000;

/// Distance from a chunklet to a centre.
#[options]
pub enum ChunkletDistance {
    /// The sum of the weighted distances of its objects, as published.
    #[default]
    SumOfDistances,
    /// The sum of the squares of these distances.
    SumOfSquares,
}

/// Treatment of a chunklet when every cluster holds something it must be apart from.
#[options]
pub enum WhenInfeasible {
    /// It goes to the cluster where the broken cannot-links weigh least; ties go to the nearest cluster.
    #[default]
    LeastViolation,
    /// The chunklets linked with it are placed again, all together. If that is impossible, or if the search reaches
    /// its limit, the run ends with an error.
    Error,
    /// Up to 12 linked chunklets are always placed together, with the smallest total distance. Larger sets are placed
    /// one by one, and together only if one of them finds no cluster. If the search reaches its limit, cannot-links
    /// are broken as under `least_violation`, with a warning.
    Exact,
}

/// Selection of the chunklets that start clusters when more than k have cannot-links.
#[options]
pub enum MoreChunklets {
    /// The largest, then repeatedly the one farthest from those chosen, weighted by size.
    #[default]
    WeightedFarthestFirst,
    /// The k largest.
    Largest,
    /// The k that must be apart from the largest number of others.
    Degree,
}

/// Locally adaptive clustering under constraints: chunklets, the components of must-links, stay whole.
///
/// # Method
/// Works as `lac`, but each assignment places the chunklets first, one after the other. A chunklet goes to the nearest
/// cluster that holds nothing it must be apart from. Free objects then choose their clusters independently. Without
/// constraints the result is the same as with `lac`.
/// # Input and output
/// n × d, dense or sparse, constraints (weights matter only to `least_violation`). One label per object in `0..k`,
/// centres and weights (k × d). No must-link is ever broken. No cannot-link is broken if each chunklet must be apart
/// from fewer than k others.
/// # Errors
/// Returns the errors of `lac`; `InconsistentConstraints` with the chain of must-links; `InfeasibleConstraints` if
/// `infeasible` is not `least_violation`.
/// # Cost and randomness
/// O(rounds · (n·k·d + chunklets · k + cannot-linked chunklets)); random: the first centre if no chunklet has
/// cannot-links, and the order if `chunklet_order` asks for it.
/// # References
/// [DomeniconiAlRazgan2008] §3. Differs: chunklets are placed again at each assignment; the published listing does
/// this only for the first one. The paper does not give the order of chunklets, although the result depends on it
/// (see the table in the manual's page on readings); `exact` removes this influence.
#[options]
pub struct Clac {
    /// Number of clusters, at most n. If absent, the k of the problem.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Incentive to use more features, in units of squared distance. A large value gives k-means, a small one a
    /// single feature per cluster. "auto": the mean squared distance of an object to the nearest first centre,
    /// divided by the number of features.
    #[option(default = AutoOr::Auto, above = 0.0, units = 2)]
    pub h: AutoOr<f64>,
    /// Method of choosing the first centres. `neighbourhood`: the means of the chunklets with cannot-links, then the
    /// objects farthest from them.
    pub init: ConstrainedInit,
    /// Selection of the first chunklets when more than k have cannot-links.
    pub when_more_chunklets: MoreChunklets,
    /// Cost that an object compares when it chooses a cluster.
    pub assign_rule: AssignRule,
    /// Order in which chunklets are placed.
    #[option(default = UnitOrder::DegreeDesc)]
    pub chunklet_order: UnitOrder,
    /// Distance from a chunklet to a centre. Under the `entropy` rule, the costs of its objects are added.
    pub chunklet_distance: ChunkletDistance,
    /// Treatment of a chunklet when it must be apart from something in every cluster.
    pub infeasible: WhenInfeasible,
    /// Treatment of a cluster that has no objects; `reseed` moves whole chunklets.
    #[option(default = Empty::Keep)]
    pub empty: Empty,
    /// Maximum number of rounds.
    #[option(default = 100, min = 1)]
    pub max_iterations: usize,
}

#[plugin("clac", cites = ["DomeniconiAlRazgan2008", "Domeniconi2007"])]
impl BaseClusterer for Clac {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        obeying("clac", problem, ctx, |problem| self.obey(problem, ctx))
    }

    fn properties(&self) -> Properties {
        Properties {
            accepts: vec![DataKind::Dense, DataKind::Csr],
            needs_k: self.k.is_none(),
            reads_constraints: true,
            hard_must: true,
            hard_cannot: self.infeasible == WhenInfeasible::Error,
            gives_centers: true,
            learns_weights: true,
            ..Properties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let k = self.k.unwrap_or(shape.k);
        let held = (2 * shape.constraints).min(shape.n);
        let chunklets = 60 * shape.n + 100 * shape.constraints + 16 * held * k;
        memory_of_rounds(shape.n, shape.d, k) + chunklets as u64
    }
}

impl Clac {
    /// The outcome under constraints that are all obeyed.
    fn obey(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let k = problem.require_k(self.k, "clac")?;
        let closure = problem.closure(OnConflict::Error)?;
        if self.infeasible != WhenInfeasible::LeastViolation {
            closure.require_feasible(k)?;
        }
        let points = Points::new(&problem.data, Distortion::SquaredEuclidean)?;
        let centres = match self.init {
            ConstrainedInit::Plain(init) => start(&points, k, init, problem, ctx)?,
            ConstrainedInit::Neighbourhood => {
                ctx.check()?;
                self.chunklet_start(&points, k, &closure, ctx)?
            }
        };
        let rounds = Rounds {
            data: &problem.data,
            h: self.h.or_find(|| mean_spread(&points, &centres)),
            assign_rule: self.assign_rule,
            empty: self.empty,
            max_iterations: self.max_iterations,
        };
        let units = MustLinkUnits::new(&closure);
        if units.is_empty() {
            rounds.run(centres, &Free, ctx)
        } else {
            rounds.run(centres, &Chunklets::new(self, k, problem, &closure, &units, ctx), ctx)
        }
    }
}

impl Clac {
    fn chunklet_start(
        &self,
        points: &Points,
        k: usize,
        closure: &Closure,
        ctx: &Context,
    ) -> Result<Array2<f64>> {
        let mut linked: Vec<usize> =
            (0..closure.components()).filter(|&p| !closure.apart(p).is_empty()).collect();
        let more = match self.when_more_chunklets {
            MoreChunklets::Degree if linked.len() > k => {
                linked.sort_by_key(|&p| (std::cmp::Reverse(closure.apart(p).len()), p));
                linked.truncate(k);
                linked.sort_unstable();
                let sets: Vec<Vec<u32>> =
                    linked.iter().map(|&p| closure.members(p).to_vec()).collect();
                let rules = Rules {
                    more: MoreThanK::Largest,
                    fewer: FewerThanK::FarthestFirst,
                    perturb: Perturb::Additive,
                    rho: 0.7,
                };
                return Ok(neighbourhood_start(points, k, closure, &sets, rules, ctx)?.0);
            }
            MoreChunklets::Largest => MoreThanK::Largest,
            _ => MoreThanK::WeightedFarthestFirst,
        };
        chunklet_start(points, k, closure, more, ctx)
    }
}

/// The chunklets of a problem and how they are placed.
struct Chunklets<'a> {
    clac: &'a Clac,
    k: usize,
    problem: &'a Problem,
    units: &'a MustLinkUnits<'a>,
    /// Objects of all chunklets, one chunklet after the other.
    objects: Vec<u32>,
    /// Chunklets that each chunklet must be apart from, with the weight of the cannot-links between them.
    neighbours: Vec<Vec<(usize, f64)>>,
    /// The same without weights.
    edges: Vec<Vec<u32>>,
    /// Connected component of each chunklet in that graph, and how many there are.
    component: Vec<usize>,
    components: usize,
    ctx: &'a Context,
}

impl<'a> Chunklets<'a> {
    fn new(
        clac: &'a Clac,
        k: usize,
        problem: &'a Problem,
        closure: &Closure,
        units: &'a MustLinkUnits<'a>,
        ctx: &'a Context,
    ) -> Self {
        let m = units.len();
        let mut unit_of = vec![usize::MAX; closure.components()];
        (0..m).for_each(|u| unit_of[closure.component(units.members(u)[0] as usize)] = u);
        let of = |i: u32| unit_of[closure.component(i as usize)];
        let mut links: Vec<(usize, usize, f64)> = Vec::new();
        let cannot = problem.constraints.pairs().iter().filter(|c| c.kind == Kind::CannotLink);
        for c in cannot {
            links.extend([(of(c.i), of(c.j), c.weight), (of(c.j), of(c.i), c.weight)]);
        }
        // Sums in one order, however the constraints were given.
        links.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
        let mut neighbours: Vec<Vec<(usize, f64)>> = vec![Vec::new(); m];
        for (u, v, weight) in links {
            match neighbours[u].last_mut() {
                Some((last, sum)) if *last == v => *sum += weight,
                _ => neighbours[u].push((v, weight)),
            }
        }
        let edges: Vec<Vec<u32>> =
            neighbours.iter().map(|all| all.iter().map(|&(v, _)| v as u32).collect()).collect();
        let parts = connected_parts(&edges);
        let components = parts.len();
        let mut component = vec![0; m];
        for (at, part) in parts.iter().enumerate() {
            part.iter().for_each(|&u| component[u as usize] = at);
        }
        let objects = (0..m).flat_map(|u| units.members(u).iter().copied()).collect();
        Chunklets {
            clac,
            k,
            problem,
            units,
            objects,
            neighbours,
            edges,
            component,
            components,
            ctx,
        }
    }

    /// Cost of each chunklet in each cluster, row by row.
    fn costs(&self, weighted: &Weighted) -> Vec<f64> {
        let k = self.k;
        let distances = self.clac.chunklet_distance == ChunkletDistance::SumOfDistances
            && self.clac.assign_rule == AssignRule::Printed;
        let each = weighted.costs(&self.problem.data, &self.objects);
        let mut rows = each.chunks_exact(k);
        let mut out = vec![0.0; self.units.len() * k];
        for (u, to) in out.chunks_exact_mut(k).enumerate() {
            for row in rows.by_ref().take(self.units.members(u).len()) {
                let part = |c: f64| if distances { c.sqrt() } else { c };
                to.iter_mut().zip(row).for_each(|(to, &c)| *to += part(c));
            }
        }
        out
    }

    /// Places the chunklets of one component in this order; false when one finds every cluster taken
    /// and may not break cannot-links.
    fn greedy(
        &self,
        order: &[usize],
        costs: &[f64],
        before: &[u32],
        placed: &mut [u32],
        may_break: bool,
    ) -> bool {
        for &u in order {
            let mut broken = vec![0.0; self.k];
            let mut taken = vec![false; self.k];
            for &(v, weight) in &self.neighbours[u] {
                if placed[v] != NONE {
                    broken[placed[v] as usize] += weight;
                    taken[placed[v] as usize] = true;
                }
            }
            if taken.iter().all(|&t| t) {
                if !may_break {
                    return false;
                }
                let least = broken.iter().copied().fold(f64::INFINITY, f64::min);
                (0..self.k).for_each(|h| taken[h] = broken[h] > least);
            }
            placed[u] = nearest(&costs[u * self.k..][..self.k], &taken, before[u]);
        }
        true
    }

    /// Places the chunklets of one component where they are nearest in all; false if they cannot be.
    fn together(
        &self,
        order: &[usize],
        costs: &[f64],
        before: &[u32],
        placed: &mut [u32],
    ) -> Result<bool> {
        let place = |v: usize| order.iter().position(|&u| u == v).expect("of the same component");
        let neighbours: Vec<Vec<usize>> = order
            .iter()
            .map(|&u| self.neighbours[u].iter().map(|&(v, _)| place(v)).collect())
            .collect();
        let own: Vec<f64> =
            order.iter().flat_map(|&u| costs[u * self.k..][..self.k].to_vec()).collect();
        let current: Vec<u32> = order.iter().map(|&u| before[u]).collect();
        let found = cheapest_colouring(&own, self.k, &neighbours, &current, self.ctx)?;
        for (&u, &h) in order.iter().zip(found.iter().flatten()) {
            placed[u] = h;
        }
        Ok(found.is_some())
    }

    /// Places the chunklets of one component so that nothing is broken, cheap clusters first, and then
    /// exchanges clusters while that costs less; false where the search came to no end.
    fn searched(&self, order: &[usize], costs: &[f64], placed: &mut [u32]) -> Result<bool> {
        let mut vertices: Vec<u32> = order.iter().map(|&u| u as u32).collect();
        vertices.sort_unstable();
        let edges = induced(&self.edges, &vertices);
        let cost = |at: u32, h: u32| costs[vertices[at as usize] as usize * self.k + h as usize];
        match colour(&edges, self.k, &cost, NODE_LIMIT, self.ctx)? {
            Colouring::Found(mut clusters) => {
                lower_cost(&edges, self.k, &cost, &mut clusters, self.ctx)?;
                vertices.iter().zip(clusters).for_each(|(&u, h)| placed[u as usize] = h);
                Ok(true)
            }
            Colouring::Impossible(few) => {
                let few: Vec<u32> = few.iter().map(|&at| vertices[at as usize]).collect();
                Err(self.units.impossible(&few, &self.edges, self.k))
            }
            Colouring::Undecided => Ok(false),
        }
    }

    /// Places the chunklets of one component without breaking anything: one by one, and together where
    /// one finds every cluster taken. False where no way was found.
    fn whole(
        &self,
        order: &[usize],
        costs: &[f64],
        before: &[u32],
        placed: &mut [u32],
    ) -> Result<bool> {
        if self.greedy(order, costs, before, placed, false) {
            return Ok(true);
        }
        order.iter().for_each(|&u| placed[u] = NONE);
        if order.len() <= MOST_VERTICES && self.together(order, costs, before, placed)? {
            return Ok(true);
        }
        self.searched(order, costs, placed)
    }
}

impl Placement for Chunklets<'_> {
    fn held(&self) -> Option<&[bool]> {
        Some(self.units.held())
    }

    fn place(&self, weighted: &Weighted, pass: usize, labels: &mut [u32]) -> Result<()> {
        let m = self.units.len();
        let costs = self.costs(weighted);
        let before: Vec<u32> = (0..m).map(|u| labels[self.units.members(u)[0] as usize]).collect();
        let mut placed = vec![NONE; m];
        // What is not linked, over whatever steps, has no influence on each other.
        let mut orders: Vec<Vec<usize>> = vec![Vec::new(); self.components];
        for (u, _) in self.units.order(self.clac.chunklet_order, pass, self.ctx) {
            orders[self.component[u]].push(u);
        }
        for order in &orders {
            let small = (2..=MOST_VERTICES).contains(&order.len());
            let done = match self.clac.infeasible {
                WhenInfeasible::LeastViolation => false,
                WhenInfeasible::Exact if small => {
                    self.together(order, &costs, &before, &mut placed)?
                        || self.searched(order, &costs, &mut placed)?
                }
                _ => self.whole(order, &costs, &before, &mut placed)?,
            };
            if done {
                continue;
            }
            match self.clac.infeasible {
                WhenInfeasible::Error => {
                    return Err(Error::UndecidedConstraints { k: self.k, node_limit: NODE_LIMIT });
                }
                WhenInfeasible::Exact => self.ctx.warn(format!(
                    "whether {} can satisfy the cannot-links is not known; some may be violated",
                    count(self.k, "cluster")
                )),
                WhenInfeasible::LeastViolation => {}
            }
            order.iter().for_each(|&u| placed[u] = NONE);
            self.greedy(order, &costs, &before, &mut placed, true);
        }
        (0..m).for_each(|u| self.units.put(u, placed[u], labels));
        Ok(())
    }

    fn groups(&self) -> Vec<&[u32]> {
        (0..self.units.len()).map(|u| self.units.members(u)).collect()
    }

    fn violations(&self, labels: &[u32]) -> Option<usize> {
        Some(self.problem.constraints.violations(labels).total() as usize)
    }
}

/// The cluster of least cost that is not taken: `current` if it attains the minimum, else the lowest.
fn nearest(costs: &[f64], taken: &[bool], current: u32) -> u32 {
    let mut best = (f64::INFINITY, NONE);
    for (h, &c) in costs.iter().enumerate().filter(|(h, _)| !taken[*h]) {
        if c < best.0 || (c == best.0 && h as u32 == current) || best.1 == NONE {
            best = (c, h as u32);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lac::Lac;
    use mustlink_kernels::kmeans::seeding::Init;
    use mustlink_laws::fixtures;
    use ndarray::array;
    use proptest::prelude::*;

    fn run(clac: &Clac, problem: &Problem) -> Clustering {
        clac.cluster(problem, &Context::new(3)).unwrap()
    }

    fn line(x: &[f64], k: usize, pairs: &[Constraint]) -> Problem {
        let data = Data::dense(Array2::from_shape_vec((x.len(), 1), x.to_vec()).unwrap()).unwrap();
        Problem::new(data)
            .with_k(k)
            .with_constraints(Constraints::new(x.len(), pairs.iter().copied()).unwrap())
    }

    /// Objects in k groups that overlap, and true constraints between some of them.
    fn random(seed: u64, n: usize, d: usize, k: usize, pairs: usize) -> Problem {
        let mut s = SeedPath::new(seed).stream("clac");
        let classes: Vec<u32> = (0..n).map(|_| s.below(k) as u32).collect();
        let x = Array2::from_shape_fn((n, d), |(i, _)| 2.0 * f64::from(classes[i]) + s.normal());
        let constraints = fixtures::true_constraints(&classes, pairs, seed);
        Problem::new(Data::dense(x).unwrap()).with_k(k).with_constraints(constraints)
    }

    #[test]
    fn worked_example() {
        // One feature: every weight is 1. The chunklets {0} and {1, 11} start at 0 and 6. {0} comes
        // first and stays at 0; the other would pay 1 + 11 = 12 there, which is taken, and pays
        // 5 + 5 = 10 at 6. The free object 10 is nearer to 6. Means 0 and 22/3 change nothing:
        // F = (19/3)² + (8/3)² + (11/3)² = 546/9.
        let pairs = [Constraint::must(1, 3), Constraint::cannot(0, 1)];
        let c = run(&Clac::default(), &line(&[0.0, 1.0, 10.0, 11.0], 2, &pairs));
        assert_eq!(c.labels, [0, 1, 1, 1]);
        assert_eq!((c.status, c.history.len()), (Status::Converged, 2));
        assert!((c.objective.unwrap() - 546.0 / 9.0).abs() < 1e-9);
        assert_eq!(c.history[1].violations, Some(0));
        assert_eq!(c.extras.weights.unwrap(), array![[1.0], [1.0]]);
    }

    #[test]
    fn a_chunklet_that_finds_all_clusters_taken_follows_the_rule() {
        // A path of cannot-links 0-2-3-1. By index 0 and 1 join the centre at 0 and 2 that at 9: the
        // last, at 4, breaks a link to either, and the centre at 0 is nearer. Together, 0 and 4 at 0
        // with 8 and 0.5 at 9 pay 0 + 4 + 1 + 8.5; the other way round 22.5.
        let pairs = [Constraint::cannot(0, 2), Constraint::cannot(2, 3), Constraint::cannot(1, 3)];
        let p = line(&[0.0, 0.5, 8.0, 4.0], 2, &pairs);
        let p = p.with_start(Start::Centroids(array![[0.0], [9.0]]));
        let with = |infeasible| Clac {
            infeasible,
            chunklet_order: UnitOrder::Index,
            init: ConstrainedInit::Plain(Init::Given),
            max_iterations: 1,
            ..Clac::default()
        };
        let least = run(&with(WhenInfeasible::LeastViolation), &p);
        assert_eq!(least.labels, [0, 0, 1, 0]);
        assert_eq!(least.history[0].violations, Some(1));
        for rule in [WhenInfeasible::Exact, WhenInfeasible::Error] {
            assert_eq!(run(&with(rule), &p).labels, [0, 1, 1, 0], "{rule:?}");
        }
        // A heavier link decides otherwise.
        let pairs = [pairs[0], pairs[1], pairs[2].weighing(2.0)];
        let p = p.with_constraints(Constraints::new(4, pairs).unwrap());
        assert_eq!(run(&with(WhenInfeasible::LeastViolation), &p).labels, [0, 0, 1, 1]);
    }

    #[test]
    fn what_no_placement_satisfies_is_an_error_or_broken_least() {
        // A wheel of five around 5: four clusters are needed, and no four are in a clique.
        let rim = (0..5).map(|i| Constraint::cannot(i, (i + 1) % 5));
        let pairs: Vec<Constraint> = rim.chain((0..5).map(|i| Constraint::cannot(i, 5))).collect();
        let p = line(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], 3, &pairs);
        for infeasible in [WhenInfeasible::Exact, WhenInfeasible::Error] {
            let clac = Clac { infeasible, ..Clac::default() };
            let error = clac.cluster(&p, &Context::new(1)).unwrap_err();
            assert!(matches!(error, Error::InfeasibleConstraints { k: 3, .. }), "{error}");
        }
        let c = run(&Clac::default(), &p);
        assert!(p.constraints.violations(&c.labels).total() >= 1);
    }

    #[test]
    fn many_linked_chunklets_are_placed_together_where_one_finds_no_cluster() {
        // Crowns: i on one side must be apart from all on the other but its partner. In the order 0, 0',
        // 1, 1', … each pair takes a new cluster, although the two sides need two.
        let m = 20;
        let apart = (0..m).flat_map(|i| (0..m).filter(move |&j| j != i).map(move |j| (i, j)));
        let pairs: Vec<Constraint> =
            apart.map(|(i, j)| Constraint::cannot(2 * i, 2 * j + 1)).collect();
        let x: Vec<f64> = (0..2 * m).map(|i| (i / 2) as f64).collect();
        let start = Start::Centroids(array![[0.0], [9.0], [18.0]]);
        let p = line(&x, 3, &pairs).with_start(start);
        let with = |infeasible| Clac {
            infeasible,
            chunklet_order: UnitOrder::Index,
            init: ConstrainedInit::Plain(Init::Given),
            ..Clac::default()
        };
        let broken = |rule| p.constraints.violations(&run(&with(rule), &p).labels).total();
        assert!(broken(WhenInfeasible::LeastViolation) > 0);
        assert_eq!(broken(WhenInfeasible::Exact), 0);
        assert_eq!(broken(WhenInfeasible::Error), 0);
    }

    #[test]
    fn contradictions_are_named() {
        let pairs = [Constraint::must(0, 1), Constraint::must(1, 2), Constraint::cannot(0, 2)];
        let error = Clac::default().cluster(&line(&[0.0, 1.0, 2.0], 2, &pairs), &Context::new(1));
        assert!(matches!(error, Err(Error::InconsistentConstraints(_))));
    }

    #[test]
    fn chunklets_with_the_most_links_start_clusters_where_asked_for() {
        // 2 must be apart from three others, 0 and 5 from two: they start, not the largest.
        let links = [(2, 0), (2, 1), (2, 5), (0, 5)];
        let pairs: Vec<Constraint> = links
            .iter()
            .map(|&(i, j)| Constraint::cannot(i, j))
            .chain([Constraint::must(1, 3)])
            .collect();
        let p = line(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], 2, &pairs);
        let closure = Closure::new(&p.constraints, 6, OnConflict::Error).unwrap();
        let points = Points::new(&p.data, Distortion::SquaredEuclidean).unwrap();
        let start = |when_more_chunklets| {
            let clac = Clac { when_more_chunklets, ..Clac::default() };
            clac.chunklet_start(&points, 2, &closure, &Context::new(1)).unwrap()
        };
        // Of 0 and 5, with as many links, the first.
        assert_eq!(start(MoreChunklets::Degree), array![[0.0], [2.0]]);
        assert!(start(MoreChunklets::Largest).iter().any(|&v| v == 2.0));
        assert_ne!(start(MoreChunklets::Degree), start(MoreChunklets::WeightedFarthestFirst));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn without_constraints_it_is_lac(
            seed: u64,
            n in 5usize..40,
            d in 1usize..4,
            k in 1usize..5,
            entropy: bool,
        ) {
            let p = random(seed, n, d, k, 0);
            let assign_rule = if entropy { AssignRule::Entropy } else { AssignRule::Printed };
            let clac = Clac { assign_rule, ..Clac::default() };
            let lac = Lac { assign_rule, ..Lac::default() };
            let (a, b) = (clac.cluster(&p, &Context::new(seed)), lac.cluster(&p, &Context::new(seed)));
            prop_assert_eq!(a.unwrap(), b.unwrap());
        }

        #[test]
        fn chunklets_stay_whole_and_apart_where_that_can_be_promised(
            seed: u64,
            n in 6usize..30,
            d in 1usize..4,
            k in 2usize..5,
            pairs in 0usize..25,
            squares: bool,
            reseed: bool,
            order in prop::sample::select(vec![
                UnitOrder::DegreeDesc,
                UnitOrder::Index,
                UnitOrder::Random,
            ]),
            infeasible in prop::sample::select(vec![
                WhenInfeasible::LeastViolation,
                WhenInfeasible::Exact,
                WhenInfeasible::Error,
            ]),
        ) {
            let p = random(seed, n, d, k, pairs);
            let clac = Clac {
                chunklet_order: order,
                chunklet_distance: if squares {
                    ChunkletDistance::SumOfSquares
                } else {
                    ChunkletDistance::SumOfDistances
                },
                empty: if reseed { Empty::Reseed } else { Empty::Keep },
                infeasible,
                ..Clac::default()
            };
            let c = clac.cluster(&p, &Context::new(seed)).unwrap();
            let closure = Closure::new(&p.constraints, n, OnConflict::Error).unwrap();
            let broken = p.constraints.violations(&c.labels);
            prop_assert_eq!(broken.must, 0);
            for u in 0..closure.components() {
                let members = closure.members(u);
                prop_assert!(members.iter().all(|&i| c.labels[i as usize] == c.labels[members[0] as usize]));
            }
            let few = (0..closure.components()).all(|u| closure.apart(u).len() < k);
            if few || infeasible != WhenInfeasible::LeastViolation {
                prop_assert_eq!(broken.cannot, 0);
            }
        }

        #[test]
        fn the_order_of_constraints_changes_nothing(seed: u64, n in 6usize..30, k in 2usize..5, index: bool) {
            let p = random(seed, n, 2, k, 15);
            let mut pairs = p.constraints.pairs().to_vec();
            SeedPath::new(seed).stream("order").shuffle(&mut pairs);
            let shuffled = p.clone().with_constraints(Constraints::new(n, pairs).unwrap());
            let chunklet_order = if index { UnitOrder::Index } else { UnitOrder::DegreeDesc };
            let clac = Clac { chunklet_order, ..Clac::default() };
            prop_assert_eq!(run(&clac, &p), run(&clac, &shuffled));
        }
    }
}
