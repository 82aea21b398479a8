//! K-means that balances the shape of clusters against constraints of different strength.

use std::sync::Arc;

use mustlink_core::constraints::Group;
use mustlink_core::prelude::*;
use mustlink_kernels::constrained::constraint_groups::{ConstraintGroups, Entail};
use mustlink_kernels::constrained::icm::{Order, PairwiseTerm, visit_groups};
use mustlink_kernels::constrained::must_link_units::{MustLinkUnits, best_attempt};
use mustlink_kernels::constrained::penalised_kmeans::{ConstrainedInit, distances};
use mustlink_kernels::constrained::violation_costs::Penalties;
use mustlink_kernels::distance::points::{Distortion, DistortionOption, Points};
use mustlink_kernels::kmeans::lloyd::{Empty, Stop, clustering, lloyd, total_distortion};
use mustlink_kernels::kmeans::means::means;
use mustlink_kernels::kmeans::nearest::assign::assign;
use mustlink_kernels::kmeans::seeding::Init;
use ndarray::Array2;

use crate::parts::attempts::Attempts;
use crate::parts::complete_search::CompleteSearch;
use crate::parts::matched_groups::MatchedGroups;

/// Nodes after which the search for a placement of hard components ends undecided.
const NODE_LIMIT: u64 = 1_000_000;

/// K-means with soft constraints: variance and violations are weighed on one scale.
///
/// # Method
/// Minimises (1 − ω)·Σ D / V + ω·Σ s² [broken] / Σ s², with V the distortion to the common centre and s the strength
/// of a constraint, its weight. Constrained objects choose one by one, given the current labels. Constraints marked
/// hard are never broken. Objects they join move as one, into clusters that hold nothing they must be apart from. If
/// no attempt finds such clusters one by one, a complete search places them first. A group marked hard is placed as a
/// whole, at the smallest total distance, if no other constraint touches it. The objective never rises after the
/// first sweep.
/// # Input and output
/// n × d, dense or sparse, constraints of weight at most 1, not extended. One label per object in `0..k`, k centres.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `BadParam` for weights above 1; `InconsistentConstraints` and
/// `InfeasibleConstraints` for constraints marked hard, `UndecidedConstraints` if the search for a placement reaches
/// its limit; `TooManyGroupPairs` for groups with objects that hard must-links join.
/// # Cost and randomness
/// O(sweeps · (n·k·d + constraints + constrained objects · k)); random: first centres and order.
/// # References
/// [Wagstaff2002] chapter 5; [Wagstaff2004].
#[options]
pub struct ScopKMeans {
    /// Number of clusters, at most n. If absent, the k of the problem.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Distance from an object to a centre. "auto": cosine for sparse rows, otherwise squared Euclidean.
    pub distortion: AutoOr<Distortion>,
    /// Share of the constraints in the objective (ω); 0 is k-means.
    #[option(default = 0.5, min = 0.0, max = 1.0)]
    pub omega: f64,
    /// Order in which objects are visited.
    pub order: Order,
    /// Method of choosing the first centres. `neighbourhood`: the means of the must-link components with
    /// cannot-links.
    #[option(default = ConstrainedInit::Plain(Init::default()))]
    pub init: ConstrainedInit,
    /// Options for starts from neighbourhoods and for the number and end of attempts.
    #[option(flatten)]
    pub attempts: Attempts,
    /// Treatment of a cluster that has no objects.
    #[option(default = Empty::Reseed)]
    pub empty: Empty,
}

#[plugin("scop_kmeans", cites = ["Wagstaff2002", "Wagstaff2004"], version = 2)]
impl BaseClusterer for ScopKMeans {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let k = problem.require_k(self.k, "scop_kmeans")?;
        let stop = self.attempts.stop();
        let points = Points::new(&problem.data, self.distortion)?;
        let split = Split::new(problem, k)?;
        let closure = problem.closure(OnConflict::Keep)?;
        let units = MustLinkUnits::beside_lone_groups(&split.hard);
        let matched = MatchedGroups::new(&split.hard);
        let scales = self.scales(&points, &split);
        let links = Arc::new(ConstraintGroups::new(
            &split.soft,
            scales.violation,
            scales.violation,
            Entail::Off,
            k,
        )?);
        let attempt = |r: usize, search: Option<&CompleteSearch>| {
            let ctx = ctx.index(r);
            let centres = self.attempts.centres(self.init, &points, k, &closure, problem, &ctx)?;
            let idle = links.objects().is_empty() || self.omega == 0.0;
            let free = units.is_empty() && matched.is_empty() && idle;
            if free && scales.distortion > 0.0 {
                return self.lloyd(&points, centres, &scales, stop, &ctx);
            }
            self.run(&points, (&units, &matched), search, &links, &scales, centres, stop, &ctx)
        };
        match best_attempt(self.attempts.restarts, |r| attempt(r, None)) {
            // Placed one by one, hard components block each other; placed together, they need not.
            Err(Error::InfeasibleConstraints { .. }) => {
                let search = CompleteSearch::new(&units, k, NODE_LIMIT, ctx)?;
                best_attempt(self.attempts.restarts, |r| attempt(r, Some(&search)))
            }
            made => made,
        }
    }

    fn properties(&self) -> Properties {
        Properties {
            accepts: vec![DataKind::Dense, DataKind::Csr],
            needs_k: self.k.is_none(),
            reads_constraints: true,
            reads_groups: true,
            soft_weights: true,
            hard_if_marked: true,
            gives_centers: true,
            ..Properties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let copy = self.distortion.copy_bytes(shape);
        let constrained = (2 * shape.constraints).min(shape.n);
        let k = self.k.unwrap_or(shape.k);
        let attempt = 28 * shape.n + 16 * constrained * k + 24 * k * shape.d;
        (copy
            + 60 * shape.n
            + 200 * shape.constraints
            + self.attempts.restarts.min(reduce::WAVE) * attempt) as u64
    }
}

/// Constraints that must hold, and those with a price.
struct Split {
    hard: Closure,
    /// Soft constraints, of weight s²; those inside a hard component are left out.
    soft: Closure,
    /// Σ s² of soft cannot-links inside hard components, which every labelling breaks.
    always: f64,
    /// Σ s² over all constraints.
    largest: f64,
}

impl Split {
    fn new(problem: &Problem, k: usize) -> Result<Self> {
        let (n, given) = (problem.n(), &problem.constraints);
        // A group is as strong as any of its pairs.
        let grouped = given.groups().iter().filter_map(|group| group.pairs().next());
        if let Some(c) = given.listed().iter().copied().chain(grouped).find(|c| c.weight > 1.0) {
            let value = format!("weight {} of ({}, {})", c.weight, c.i, c.j);
            return Err(Error::bad_param("constraints", value, "of strength at most 1"));
        }
        let marked = Some(Strength::Hard);
        let (hard, soft): (Vec<Constraint>, Vec<Constraint>) =
            given.listed().iter().partition(|c| c.strength == marked);
        let (hard_groups, soft_groups): (Vec<Group>, Vec<Group>) =
            given.groups().iter().cloned().partition(|group| group.strength == marked);
        let square = |weight: f64| weight * weight;
        let of_group = |group: &Group| group.pair_count() as f64 * square(group.weight);
        let largest = given.listed().iter().map(|c| square(c.weight)).sum::<f64>()
            + given.groups().iter().map(of_group).sum::<f64>();
        let all = Constraints::new(n, hard)?.with_groups(n, hard_groups)?;
        let hard = Closure::new(&all, n, OnConflict::Error)?;
        hard.require_feasible(k)?;

        // Groups of which hard constraints join objects break some of their pairs everywhere.
        let together = |group: &Group| {
            let parts = group.members.iter().map(|&i| hard.component(i as usize));
            let mut parts: Vec<usize> = parts.collect();
            parts.sort_unstable();
            parts.windows(2).any(|two| two[0] == two[1])
        };
        let (torn, whole): (Vec<Group>, Vec<Group>) = soft_groups.into_iter().partition(together);
        let torn = Constraints::default().with_groups(n, torn)?;
        torn.check_group_pairs("scop_kmeans, in groups of which hard must-links join objects,")?;
        let soft: Vec<&Constraint> = soft.iter().chain(torn.pairs()).collect();
        let joined =
            |c: &Constraint| hard.relation(c.i as usize, c.j as usize) == Some(Kind::MustLink);
        let inside = soft.iter().filter(|c| joined(c) && c.kind == Kind::CannotLink);
        let always = inside.map(|c| square(c.weight)).sum();
        let free = soft.iter().filter(|c| !joined(c)).map(|c| c.weighing(square(c.weight)));
        let whole = whole.into_iter().map(|g| Group { weight: square(g.weight), ..g });
        let soft = Constraints::new(n, free)?.with_groups(n, whole)?;
        let soft = Closure::new(&soft, n, OnConflict::Keep)?;
        let hard = if all.groups().is_empty() { hard } else { beside(&all, &soft, n)? };
        Ok(Split { hard, soft, always, largest })
    }
}

/// The closure of hard constraints in which a group is held whole only where no object of it has a price: such
/// groups are matched to clusters by distance alone, the others placed object by object.
fn beside(hard: &Constraints, soft: &Closure, n: usize) -> Result<Closure> {
    let mut priced = vec![false; n];
    soft.constraints().objects().into_iter().for_each(|i| priced[i] = true);
    let pays = |group: &&Group| group.members.iter().any(|&i| priced[i as usize]);
    let (paying, whole): (Vec<&Group>, Vec<&Group>) = hard.groups().iter().partition(pays);
    // k clusters hold them: they are small.
    let pairs = paying.into_iter().flat_map(Group::pairs).chain(hard.listed().iter().copied());
    let hard = Constraints::new(n, pairs)?.with_groups(n, whole.into_iter().cloned())?;
    Closure::new(&hard, n, OnConflict::Error)
}

/// Weight of one unit of each part in the objective.
struct Scales {
    distortion: f64,
    violation: f64,
    /// Cost that every labelling has.
    constant: f64,
}

impl ScopKMeans {
    fn scales(&self, points: &Points, split: &Split) -> Scales {
        let all: Vec<u32> = (0..points.n() as u32).collect();
        let centre = points.mean(&all).unwrap_or_else(|| vec![0.0; points.d()]);
        let norm = centre.iter().map(|v| v * v).sum();
        let total = reduce::sum(points.n(), |i| points.distance(i, &centre, norm));
        // A part that cannot vary does not count.
        let share = |share: f64, of: f64| if of > 0.0 { share / of } else { 0.0 };
        let violation = share(self.omega, split.largest);
        Scales {
            distortion: share(1.0 - self.omega, total),
            violation,
            constant: violation * split.always,
        }
    }

    /// Nothing concerns any other object: k-means, with this objective.
    fn lloyd(
        &self,
        points: &Points,
        centres: Array2<f64>,
        scales: &Scales,
        stop: Stop,
        ctx: &Context,
    ) -> Result<Clustering> {
        let mut made = lloyd(points, centres, stop, self.empty, ctx)?;
        made.history.iter_mut().for_each(|s| s.objective *= scales.distortion);
        made.objective = made.history.last().map(|s| s.objective);
        Ok(made)
    }

    #[allow(clippy::too_many_arguments)] // the parts of one run; a struct for them would say less
    fn run(
        &self,
        points: &Points,
        (units, matched): (&MustLinkUnits, &MatchedGroups),
        search: Option<&CompleteSearch>,
        links: &Arc<ConstraintGroups>,
        scales: &Scales,
        mut centres: Array2<f64>,
        stop: Stop,
        ctx: &Context,
    ) -> Result<Clustering> {
        let (n, k) = (points.n(), centres.nrows());
        // Hard components as groups, other constrained objects by themselves, in order of first object.
        let single: Vec<u32> = (0..n as u32).collect();
        let alone = |i: u32| links.constrained()[i as usize] && !units.held()[i as usize];
        let mut groups: Vec<(&[u32], Option<usize>)> =
            (0..units.len()).map(|u| (units.members(u), Some(u))).collect();
        groups.extend(single.chunks(1).filter(|i| alone(i[0])).map(|i| (i, None)));
        groups.sort_by_key(|g| g.0[0]);
        let (groups, unit_of): (Vec<&[u32]>, Vec<Option<usize>>) = groups.into_iter().unzip();
        let mut busy = vec![false; n];
        groups.iter().for_each(|g| g.iter().for_each(|&i| busy[i as usize] = true));
        matched.objects().for_each(|i| busy[i as usize] = true);
        let visited: Vec<u32> = groups.iter().flat_map(|g| g.iter().copied()).collect();
        let mut labels = vec![NONE; n];
        if let Some(search) = search {
            search.place_all(points, &centres, &mut labels, ctx)?;
        }
        let mut placed = labels.iter().filter(|&&label| label != NONE).count();
        let mut penalties = Penalties::new(links, k, &labels);
        let mut history: Vec<IterStat> = Vec::new();
        let mut status = Status::MaxIter;
        for sweep in 0..stop.max_iterations {
            ctx.check()?;
            let mut moved = assign(points, &centres, &mut labels, Some(&busy));
            moved += std::mem::take(&mut placed);
            moved += matched.place(points, &centres, &mut labels)?;
            let each = distances(points, &centres, &visited, scales.distortion);
            let own = sums(&each, &groups, k);
            let forbid = |at: usize, labels: &[u32], cost: &mut [f64]| {
                if let Some(u) = unit_of[at] {
                    units.forbid(u, labels, cost);
                }
            };
            let order = self.order;
            moved += visit_groups(
                &mut penalties,
                &groups,
                &own,
                k,
                &mut labels,
                order,
                sweep,
                ctx,
                forbid,
            )
            .map_err(|at| {
                units.blocked(unit_of[at].expect("only units are forbidden anything"), k, &labels)
            })?;
            let sizes;
            (centres, sizes) = means(points, &labels, centres);
            if sizes.contains(&0) {
                let mut rest = PairwiseTerm::new(&mut penalties, k, scales.distortion);
                moved += units.refill(points, &mut labels, &mut centres, self.empty, &mut rest)?;
            }
            let (cost, violations) = penalties.total(&labels);
            let spread = scales.distortion * total_distortion(points, &labels, &centres);
            let objective = spread + cost + scales.constant;
            let before = history.last().map(|s| s.objective);
            history.push(IterStat { objective, moved, violations: Some(violations) });
            if moved == 0 || before.is_some_and(|b| stop.is_over(b, objective)) {
                status = Status::Converged;
                break;
            }
        }
        Ok(clustering(labels, centres, history, status, points.distortion()))
    }
}

/// For each group and cluster the sum over its objects, whose k values stand row by row in `each`.
fn sums(each: &[f64], groups: &[&[u32]], k: usize) -> Vec<f64> {
    let mut own = vec![0.0; groups.len() * k];
    let mut rows = each.chunks(k);
    for (to, group) in own.chunks_mut(k).zip(groups) {
        for row in rows.by_ref().take(group.len()) {
            to.iter_mut().zip(row).for_each(|(to, d)| *to += d);
        }
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kmeans::KMeans;
    use mustlink_laws::fixtures;
    use ndarray::array;
    use proptest::prelude::*;

    fn run(method: &ScopKMeans, problem: &Problem, seed: u64) -> Clustering {
        method.cluster(problem, &Context::new(seed)).unwrap()
    }

    fn hard(c: Constraint) -> Constraint {
        Constraint { strength: Some(Strength::Hard), ..c }
    }

    #[test]
    fn worked_example() {
        // V = 101: 0, 1, 10, 11 about 5.5. Joining 0 and 10 against their places costs more than
        // the broken link where ω is small, less where it is large.
        let x = array![[0.0], [1.0], [10.0], [11.0]];
        let pairs = [Constraint::must(0, 2).weighing(0.5)];
        let p = Problem::new(Data::dense(x).unwrap()).with_k(2);
        let p = p.with_constraints(Constraints::new(4, pairs).unwrap());
        let weak = run(&ScopKMeans { omega: 0.25, ..ScopKMeans::default() }, &p, 1);
        assert_ne!(weak.labels[0], weak.labels[2]);
        // ΣD = 1; the strength cancels against its own sum.
        assert!((weak.objective.unwrap() - (0.75 / 101.0 + 0.25)).abs() < 1e-12);
        let strong = run(&ScopKMeans { omega: 0.9, ..ScopKMeans::default() }, &p, 1);
        assert_eq!(strong.labels[0], strong.labels[2]);
    }

    #[test]
    fn strengths_above_one_are_refused() {
        let (p, _) = fixtures::dense(1);
        let p = p.with_constraints(
            Constraints::new(45, [Constraint::must(0, 1).weighing(2.0)]).unwrap(),
        );
        let error = ScopKMeans::default().cluster(&p, &Context::new(1)).unwrap_err().to_string();
        assert_eq!(error, "constraints: must be of strength at most 1, got weight 2 of (0, 1)");
    }

    #[test]
    fn hard_contradictions_and_cliques_are_named() {
        let (p, _) = fixtures::dense(1);
        let pairs =
            [Constraint::must(0, 1), Constraint::must(1, 2), Constraint::cannot(0, 2)].map(hard);
        let p = p.with_constraints(Constraints::new(45, pairs).unwrap());
        let error = ScopKMeans::default().cluster(&p, &Context::new(1)).unwrap_err();
        assert!(matches!(error, Error::InconsistentConstraints(_)));
        let pairs = [Constraint::cannot(0, 1), Constraint::cannot(1, 2), Constraint::cannot(0, 2)]
            .map(hard);
        let p = p.with_k(2).with_constraints(Constraints::new(45, pairs).unwrap());
        let error = ScopKMeans::default().cluster(&p, &Context::new(1)).unwrap_err();
        assert!(matches!(error, Error::InfeasibleConstraints { .. }));
    }

    /// Shares of distortion and of violations, pair by pair.
    fn slow_objective(p: &Problem, c: &Clustering, omega: f64) -> f64 {
        let x = p.data.to_dense();
        let mean = x.mean_axis(ndarray::Axis(0)).unwrap();
        let total = (&x - &mean).mapv(|v| v * v).sum();
        let centres = c.extras.centers.as_ref().unwrap();
        let spread: f64 = (0..p.n())
            .map(|i| (&x.row(i) - &centres.row(c.labels[i] as usize)).mapv(|v| v * v).sum())
            .sum();
        let square = |c: &Constraint| c.weight * c.weight;
        let pairs = p.constraints.pairs();
        let all: f64 = pairs.iter().map(square).sum();
        let broken: f64 = pairs.iter().filter(|p| p.is_violated(&c.labels)).map(square).sum();
        (1.0 - omega) * spread / total + if all > 0.0 { omega * broken / all } else { 0.0 }
    }

    /// Constraints of several strengths, `count` of which are hard and true.
    fn random_problem(seed: u64, pairs: usize, count: usize) -> Problem {
        let (p, classes) = fixtures::dense(seed);
        let all = fixtures::true_constraints(&classes, pairs, seed).pairs().to_vec();
        let marked = all.iter().enumerate().map(|(at, c)| match at {
            _ if at < count => hard(*c),
            _ if at % 5 == 0 => Constraint::new(
                c.i as usize,
                c.j as usize,
                match c.kind {
                    Kind::MustLink => Kind::CannotLink,
                    Kind::CannotLink => Kind::MustLink,
                },
            )
            .weighing(0.5),
            _ => c.weighing([1.0, 0.5, 0.25][at % 3]),
        });
        p.with_constraints(Constraints::new(45, marked).unwrap())
    }

    proptest! {
        #[test]
        fn groups_hold_where_marked_and_cost_what_their_pairs_cost(seed in 0u64..500, pairs in 0usize..20, count in 0usize..6, weight in 0.1f64..1.0) {
            let (p, classes) = fixtures::dense(seed);
            let given = (*random_problem(seed, pairs, count).constraints).clone();
            let first = |class: u32| classes.iter().position(|&c| c == class).unwrap() as u32;
            let every = |step: usize| (0..45).step_by(step).collect::<Vec<u32>>();
            let group = |members: Vec<u32>| Group { weight, ..Group::new("photo", members) };
            let marked = |g: Group| Group { strength: Some(Strength::Hard), ..g };
            let some = [marked(group(vec![first(0), first(1), first(2)])), group(every(9)), group(every(7))];
            let grouped = given.with_groups(45, some).unwrap();
            let listed = grouped.in_pairs("this test").unwrap();
            let attempts = Attempts { tolerance: 0.0, ..Attempts::default() };
            let method = ScopKMeans { attempts, ..ScopKMeans::default() };
            let Ok(c) = method.cluster(&p.clone().with_constraints(grouped), &Context::new(seed)) else { return Ok(()) };
            for w in c.history.windows(2) {
                prop_assert!(w[1].objective <= w[0].objective + 1e-12, "{:?}", c.history);
            }
            let slow = slow_objective(&p.with_constraints(listed.clone()), &c, 0.5);
            prop_assert!((slow - c.objective.unwrap()).abs() < 1e-9, "{} {:?}", slow, c.objective);
            let mut hard = listed.pairs().iter().filter(|c| c.strength == Some(Strength::Hard));
            prop_assert!(!hard.any(|m| m.is_violated(&c.labels)));
        }

        #[test]
        fn objective_falls_and_is_what_it_says(seed in 0u64..500, pairs in 0usize..50, count in 0usize..12, omega in 0.0f64..1.0) {
            let p = random_problem(seed, pairs, count);
            let attempts = Attempts { tolerance: 0.0, ..Attempts::default() };
            let method = ScopKMeans { omega, attempts, ..ScopKMeans::default() };
            let Ok(c) = method.cluster(&p, &Context::new(seed)) else { return Ok(()) };
            for w in c.history.windows(2) {
                prop_assert!(w[1].objective <= w[0].objective + 1e-12, "{:?}", c.history);
            }
            let slow = slow_objective(&p, &c, omega);
            prop_assert!((slow - c.objective.unwrap()).abs() < 1e-9, "{} {:?}", slow, c.objective);
        }

        #[test]
        fn hard_constraints_hold(seed in 0u64..500, pairs in 1usize..50, count in 1usize..20) {
            let p = random_problem(seed, pairs, count);
            match ScopKMeans::default().cluster(&p, &Context::new(seed)) {
                Ok(c) => {
                    let mut marked = p.constraints.pairs().iter().filter(|c| c.strength == Some(Strength::Hard));
                    prop_assert!(!marked.any(|m| m.is_violated(&c.labels)));
                }
                Err(e) => prop_assert!(matches!(e, Error::InfeasibleConstraints { .. }), "{}", e),
            }
        }

        #[test]
        fn no_share_and_no_constraints_are_kmeans(seed: u64, pairs in 0usize..40) {
            let p = random_problem(seed, pairs, 0);
            let kmeans = KMeans { max_iterations: 100, ..KMeans::default() };
            let expected = kmeans.cluster(&p, &Context::new(seed)).unwrap().labels;
            prop_assert_eq!(&run(&ScopKMeans { omega: 0.0, ..ScopKMeans::default() }, &p, seed).labels, &expected);
            let free = p.with_constraints(Constraints::default());
            prop_assert_eq!(&run(&ScopKMeans::default(), &free, seed).labels, &expected);
        }
    }
}
