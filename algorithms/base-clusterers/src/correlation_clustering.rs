//! Clusters that agree most with the constraints, without any data.

use mustlink_core::clustering::compact;
use mustlink_core::overruled::joined_unjudged;
use mustlink_core::prelude::*;
use mustlink_kernels::constrained::correlation::{Effort, SignedPairs};

/// Correlation clustering: breaks constraints of the least total weight, with as many clusters as that takes.
///
/// # Method
/// Must-links are edges of weight w, cannot-links edges of weight −w. The method looks for the partition with the
/// largest sum of edges inside clusters, which breaks constraints of the least weight. No optimum joins objects that no
/// chain of must-links joins, so each such part is solved separately. Parts of up to `exact_size` objects are solved
/// exactly, with a table of all subsets. Larger parts are improved by moves of single objects for as long as a move
/// helps. The moves start from the whole part and, `restarts` times, from pivots (a random object takes its free
/// must-linked neighbours). If constraints do not contradict each other, all are satisfied. With `unjudged` above 0, a
/// pair without a constraint is a weak cannot-link, and a few must-links do not join large groups.
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
        let weight = |c: &Constraint| if c.kind == Kind::MustLink { c.weight } else { -c.weight };
        let pairs = problem.constraints.pairs().iter().map(|c| (c.i, c.j, weight(c)));
        let pairs = SignedPairs::new(pairs, vec![1.0; problem.n()], self.unjudged);
        let effort = Effort { exact_size: self.exact_size, restarts: self.restarts };
        let labels = pairs.partition(effort, ctx)?;
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

        /// Answers without an error are all satisfied.
        #[test]
        fn what_agrees_is_met(classes in proptest::collection::vec(0..3u32, 30), seed: u64) {
            let pairs = mustlink_laws::fixtures::true_constraints(&classes, 60, seed);
            let p = problem(30, pairs.pairs().iter().copied());
            prop_assert_eq!(run(&CorrelationClustering::default(), &p).objective, Some(0.0));
        }
    }
}
