//! Clusters that agree most with the constraints, without any data.

use std::collections::HashSet;

use mustlink_core::clustering::compact;
use mustlink_core::overruled::joined_unjudged;
use mustlink_core::prelude::*;

/// Correlation clustering: breaks constraints of the least total weight, with as many clusters as that takes.
///
/// # Method
/// Must-links are edges of weight w, cannot-links edges of weight −w. The method looks for the partition with the
/// largest sum of edges inside clusters, which breaks constraints of the least weight. No optimum joins objects that
/// no chain of must-links joins, so each such part is solved separately. Parts of up to `exact_size` objects are
/// solved exactly, with a table of all subsets. Larger parts are improved by moves of single objects for as long as a
/// move helps. The moves start from the whole part and, `restarts` times, from pivots (a random object takes its free
/// must-linked neighbours). If constraints do not contradict each other, all are met. With `unjudged` above 0, a pair
/// without a constraint is a weak cannot-link, and a few must-links do not join large groups.
/// # Input and output
/// Constraints with weights, for example from a crowd or from record matching; the method ignores features. One label
/// per object; an object in no must-link is a cluster of its own. k is not needed and not used.
/// # Errors
/// `HardNotSupported` for constraints marked hard.
/// # Cost and randomness
/// O(3^s) for a part of s ≤ `exact_size` objects, otherwise O(restarts · sweeps · constraints); random in the pivots
/// of large parts.
/// # References
/// [Bansal2004]; pivots: [Ailon2008] §3.
#[options]
pub struct CorrelationClustering {
    /// Largest number of objects in a part that is solved exactly.
    #[option(
        default = 12,
        min = 1,
        max = 16,
        inert = "moves from the whole part find the optimum if answers agree"
    )]
    pub exact_size: usize,
    /// Number of random pivot orders tried for a larger part.
    #[option(
        default = 10,
        min = 1,
        inert = "it matters only for parts of more than `exact_size` objects"
    )]
    pub restarts: usize,
    /// Cost of joining a pair about which no constraint says anything, in the units of the weights.
    #[option(default = 0.0, min = 0.0, max = 1e12)]
    pub unjudged: f64,
}

#[plugin("correlation_clustering", cites = ["Bansal2004", "Ailon2008"], waives = ["cannot_links_change_something" => "without must-links every object is alone already"])]
impl BaseClusterer for CorrelationClustering {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let n = problem.n();
        let edges = Edges::new(n, problem.constraints.pairs());
        let mut labels: Vec<u32> = (0..n as u32).collect();
        let mut place = vec![NONE; n];
        for (number, part) in edges.parts().into_iter().enumerate() {
            ctx.check()?;
            if part.len() == 1 {
                continue;
            }
            let ctx = ctx.child("part").index(number);
            let inside = edges.within(&part, &mut place, self.unjudged);
            let found = if part.len() <= self.exact_size {
                inside.exactly()
            } else {
                self.by_moves(&inside, &ctx)?
            };
            // Clusters are named by their first object until all are known.
            let mut name = vec![NONE; part.len()];
            for (&i, &l) in part.iter().zip(&found) {
                let name = &mut name[l as usize];
                *name = if *name == NONE { i } else { *name };
                labels[i as usize] = *name;
            }
        }
        let (labels, k) = compact(&labels);
        let broken = problem.constraints.pairs().iter().filter(|c| c.is_violated(&labels));
        // The sum of none would be −0.
        let mut objective = broken.fold(0.0, |sum, c| sum + c.weight);
        if self.unjudged > 0.0 {
            objective += self.unjudged * joined_unjudged(&problem.constraints, &labels) as f64;
        }
        Ok(Clustering { labels, k, objective: Some(objective), ..Clustering::default() })
    }

    fn properties(&self) -> Properties {
        Properties {
            accepts: vec![DataKind::Dense, DataKind::Csr, DataKind::Distances, DataKind::Affinity],
            needs_k: false,
            reads_constraints: true,
            soft_weights: true,
            ..Properties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let table = 20u64 << self.exact_size.min(shape.n).min(16);
        (80 * shape.n + 64 * shape.constraints) as u64 + table
    }

    fn operations(&self, shape: &Shape) -> Option<f64> {
        Some((self.restarts * 20 * shape.constraints + shape.n) as f64)
    }
}

/// Signed weights between objects, and the cost of any pair of them in one cluster.
struct Edges(Vec<Vec<(u32, f64)>>, f64);

impl Edges {
    fn new(n: usize, constraints: &[Constraint]) -> Edges {
        let mut of = vec![Vec::new(); n];
        for c in constraints {
            let w = if c.kind == Kind::MustLink { c.weight } else { -c.weight };
            of[c.i as usize].push((c.j, w));
            of[c.j as usize].push((c.i, w));
        }
        Edges(of, 0.0)
    }

    /// Objects that chains of must-links join, in order.
    fn parts(&self) -> Vec<Vec<u32>> {
        let mut seen = vec![false; self.0.len()];
        let mut parts = Vec::new();
        for first in 0..self.0.len() as u32 {
            if std::mem::replace(&mut seen[first as usize], true) {
                continue;
            }
            let mut part = vec![first];
            let mut at = 0;
            while at < part.len() {
                for &(j, w) in &self.0[part[at] as usize] {
                    if w > 0.0 && !std::mem::replace(&mut seen[j as usize], true) {
                        part.push(j);
                    }
                }
                at += 1;
            }
            part.sort_unstable();
            parts.push(part);
        }
        parts
    }

    /// Edges inside a part, whose objects are numbered by their position in it; `place` is scratch space. Every pair
    /// costs `unjudged`, which a pair with an edge gets back.
    fn within(&self, part: &[u32], place: &mut [u32], unjudged: f64) -> Edges {
        (0..).zip(part).for_each(|(at, &i)| place[i as usize] = at);
        let of = |&i: &u32| {
            let inside = self.0[i as usize].iter().filter(|(j, _)| place[*j as usize] != NONE);
            let mut judged = HashSet::new();
            let edge = |&(j, w): &(u32, f64)| {
                let is_first = unjudged > 0.0 && judged.insert(j);
                (place[j as usize], if is_first { w + unjudged } else { w })
            };
            inside.map(edge).collect()
        };
        let inside = Edges(part.iter().map(of).collect(), unjudged);
        part.iter().for_each(|&i| place[i as usize] = NONE);
        inside
    }

    /// The best labels by dynamic programming over all subsets: the best partition of a set is a cluster
    /// with its first object and the best partition of the rest.
    fn exactly(&self) -> Vec<u32> {
        let s = self.0.len();
        let all = (1usize << s) - 1;
        // Sum of the edges inside each set: that without its first object, and the edges of this one.
        let mut inside = vec![0.0f64; all + 1];
        let mut between = vec![0.0f64; s * s];
        for (a, of) in self.0.iter().enumerate() {
            of.iter().for_each(|&(b, w)| between[a * s + b as usize] += w);
        }
        for set in 1..=all {
            let first = set.trailing_zeros() as usize;
            let rest = set & (set - 1);
            let mut sum = inside[rest];
            let mut left = rest;
            while left != 0 {
                sum += between[first * s + left.trailing_zeros() as usize];
                left &= left - 1;
            }
            inside[set] = sum - self.1 * f64::from(rest.count_ones());
        }
        let mut best = vec![(0.0f64, 0usize); all + 1];
        for set in 1..=all {
            let first = set & set.wrapping_neg();
            let rest = set ^ first;
            let mut most = (f64::NEG_INFINITY, 0);
            // All subsets of the rest, the largest first: of equal sums the larger cluster.
            let mut sub = rest;
            loop {
                let cluster = sub | first;
                let sum = inside[cluster] + best[set ^ cluster].0;
                if sum > most.0 {
                    most = (sum, cluster);
                }
                if sub == 0 {
                    break;
                }
                sub = (sub - 1) & rest;
            }
            best[set] = most;
        }
        let mut labels = vec![0; s];
        let (mut set, mut label) = (all, 0);
        while set != 0 {
            let cluster = best[set].1;
            (0..s).filter(|a| cluster >> a & 1 == 1).for_each(|a| labels[a] = label);
            set ^= cluster;
            label += 1;
        }
        labels
    }

    /// Sum of the edges inside clusters.
    fn agreement(&self, labels: &[u32]) -> f64 {
        let inside = |(i, of): (usize, &Vec<(u32, f64)>)| {
            let mine =
                of.iter().filter(|(j, _)| *j as usize > i && labels[*j as usize] == labels[i]);
            mine.map(|(_, w)| w).sum::<f64>()
        };
        let edges: f64 = self.0.iter().enumerate().map(inside).sum();
        if self.1 == 0.0 {
            return edges;
        }
        let mut sizes = vec![0.0; labels.len()];
        labels.iter().for_each(|&l| sizes[l as usize] += 1.0);
        edges - self.1 * sizes.iter().map(|size| size * (size - 1.0) / 2.0).sum::<f64>()
    }
}

impl CorrelationClustering {
    /// Labels by pivots and moves; the best of the restarts, of equals the first.
    fn by_moves(&self, edges: &Edges, ctx: &Context) -> Result<Vec<u32>> {
        let n = edges.0.len();
        let mut best: Option<(f64, Vec<u32>)> = None;
        for r in 0..=self.restarts {
            let mut order: Vec<u32> = (0..n as u32).collect();
            ctx.index(r).stream("pivots").shuffle(&mut order);
            // Of answers that agree the whole part is the optimum: that is tried first.
            let mut labels = vec![if r == 0 { 0 } else { NONE }; n];
            for &pivot in &order {
                if labels[pivot as usize] != NONE {
                    continue;
                }
                labels[pivot as usize] = pivot;
                for &(j, w) in &edges.0[pivot as usize] {
                    if w > 0.0 && labels[j as usize] == NONE {
                        labels[j as usize] = pivot;
                    }
                }
            }
            settle(edges, &order, &mut labels, ctx)?;
            let agreement = edges.agreement(&labels);
            if best.as_ref().is_none_or(|(most, _)| agreement > *most) {
                best = Some((agreement, labels));
            }
        }
        Ok(compact(&best.expect("at least one restart").1).0)
    }
}

/// Moves single objects, in order, to the cluster their edges agree with most, or to one of their own, while
/// that helps.
fn settle(edges: &Edges, order: &[u32], labels: &mut [u32], ctx: &Context) -> Result<()> {
    // Clusters are named by objects, so that there is always a free name for one more.
    let mut sizes = vec![0u32; labels.len()];
    order.iter().for_each(|&i| sizes[labels[i as usize] as usize] += 1);
    let mut free: Vec<u32> = order.iter().copied().filter(|&i| sizes[i as usize] == 0).collect();
    loop {
        ctx.check()?;
        let mut moved = false;
        for &i in order {
            let own = labels[i as usize];
            let mut near: Vec<(u32, f64)> =
                edges.0[i as usize].iter().map(|&(j, w)| (labels[j as usize], w)).collect();
            near.sort_unstable_by_key(|(l, _)| *l);
            let mut sums: Vec<(u32, f64)> = Vec::new();
            for (l, w) in near {
                match sums.last_mut() {
                    Some(last) if last.0 == l => last.1 += w,
                    _ => sums.push((l, w)),
                }
            }
            // Every other object of a cluster costs something.
            sums.iter_mut().for_each(|s| s.1 -= edges.1 * f64::from(sizes[s.0 as usize]));
            let alone = -edges.1 * f64::from(sizes[own as usize]);
            let here = sums.iter().find(|s| s.0 == own).map_or(alone, |s| s.1) + edges.1;
            let best = sums
                .iter()
                .filter(|s| s.0 != own)
                .fold((NONE, 0.0), |best, s| if s.1 > best.1 { *s } else { best });
            // A gain by rounding alone could go on for ever.
            if best.1 <= here + 1e-12 * (1.0 + here.abs()) {
                continue;
            }
            let to = match best.0 {
                NONE if sizes[own as usize] == 1 => continue,
                NONE => free.pop().expect("fewer clusters than objects"),
                other => other,
            };
            sizes[own as usize] -= 1;
            if sizes[own as usize] == 0 {
                free.push(own);
            }
            sizes[to as usize] += 1;
            labels[i as usize] = to;
            moved = true;
        }
        if !moved {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;
    use proptest::prelude::*;

    fn problem(n: usize, pairs: impl IntoIterator<Item = Constraint>) -> Problem {
        let data = Data::dense(Array2::zeros((n, 1))).unwrap();
        Problem::new(data).with_constraints(Constraints::new(n, pairs).unwrap())
    }

    fn run(method: &CorrelationClustering, p: &Problem) -> Clustering {
        method.cluster(p, &Context::new(1)).unwrap()
    }

    #[test]
    fn worked_example() {
        // A triangle with one wrong answer, and a fourth object that is with nobody.
        let pairs = [
            Constraint::must(0, 1),
            Constraint::must(1, 2),
            Constraint::cannot(0, 2).weighing(0.5),
        ];
        let c = run(&CorrelationClustering::default(), &problem(4, pairs));
        assert_eq!((c.labels, c.k, c.objective), (vec![0, 0, 0, 1], 2, Some(0.5)));
        // Believed twice as much, it parts them; which of the two links breaks is a tie.
        let pairs = [
            Constraint::must(0, 1),
            Constraint::must(1, 2),
            Constraint::cannot(0, 2).weighing(2.0),
        ];
        let c = run(&CorrelationClustering::default(), &problem(3, pairs));
        assert_eq!((c.k, c.objective), (2, Some(1.0)));
    }

    #[test]
    fn unjudged_pairs_are_weak_cannot_links() {
        // Joining the path costs the pair 0, 2 alone, cutting it a must-link.
        let path = || problem(3, [Constraint::must(0, 1), Constraint::must(1, 2)]);
        for exact_size in [1, 12] {
            let of = |unjudged| {
                let method = CorrelationClustering { unjudged, exact_size, ..Default::default() };
                let c = run(&method, &path());
                (c.k, c.objective)
            };
            assert_eq!(of(0.5), (1, Some(0.5)));
            assert_eq!(of(2.0), (2, Some(1.0)));
        }
    }

    #[test]
    fn nothing_said_is_nothing_joined() {
        assert_eq!(run(&CorrelationClustering::default(), &problem(3, [])).labels, [0, 1, 2]);
    }

    proptest! {
        /// The table finds what enumeration finds, and moves never end above it.
        #[test]
        fn small_parts_are_solved(
            pairs in proptest::collection::vec((0..7usize, 0..7usize, any::<bool>(), 0.1..2.0f64), 0..20),
            unjudged in prop_oneof![Just(0.0), 0.0..1.0f64],
        ) {
            let pairs = pairs.into_iter().filter(|(i, j, ..)| i != j).map(|(i, j, must, w)| {
                if must { Constraint::must(i, j).weighing(w) } else { Constraint::cannot(i, j).weighing(w) }
            });
            let p = problem(7, pairs);
            // All partitions as restricted growth strings.
            let mut least = f64::INFINITY;
            let mut labels = vec![0u32; 7];
            fn visit(at: usize, labels: &mut Vec<u32>, (p, u): (&Problem, f64), least: &mut f64) {
                if at == labels.len() {
                    let broken = p.constraints.pairs().iter().filter(|c| c.is_violated(labels));
                    let silent = joined_unjudged(&p.constraints, labels) as f64;
                    *least = least.min(broken.map(|c| c.weight).sum::<f64>() + u * silent);
                    return;
                }
                let open = labels[..at].iter().max().map_or(0, |m| m + 1);
                for l in 0..=open {
                    labels[at] = l;
                    visit(at + 1, labels, (p, u), least);
                }
            }
            visit(0, &mut labels, (&p, unjudged), &mut least);
            let method = CorrelationClustering { unjudged, ..CorrelationClustering::default() };
            let exact = run(&method, &p);
            prop_assert!((exact.objective.unwrap() - least).abs() < 1e-9);
            let moves = CorrelationClustering { exact_size: 1, ..method };
            prop_assert!(run(&moves, &p).objective.unwrap() >= least - 1e-9);
        }

        /// Answers without an error are all met.
        #[test]
        fn what_agrees_is_met(classes in proptest::collection::vec(0..3u32, 30), seed: u64) {
            let pairs = mustlink_laws::fixtures::true_constraints(&classes, 60, seed);
            let p = problem(30, pairs.pairs().iter().copied());
            prop_assert_eq!(run(&CorrelationClustering::default(), &p).objective, Some(0.0));
        }
    }
}
