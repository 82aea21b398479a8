//! Locally weighted evidence accumulation: co-associations in which reliable clusters count more.

use mustlink_core::prelude::*;

use crate::evidence_accumulation::Alike;
use crate::parts::average_linkage::AverageLinkage;
use crate::parts::canonical_ensemble::CanonicalEnsemble;
use crate::parts::reliability;

/// LWEA: average linkage of co-associations that give more weight to clusters on which the members agree.
///
/// # Method
/// H(C), the uncertainty of a cluster, is the sum over all M members of the entropy (in bits) of their labels within C.
/// Its index is exp(−H / (θ·M)), which is 1 if no member divides the cluster. The co-association of two objects is the
/// mean over the members of the index of the cluster that holds both, or 0 if no cluster does. Average linkage of these
/// merges the objects until there are k clusters. Objects that all members label alike are joined from the start.
/// Constraints are treated as in `evidence_accumulation`: they are obeyed, except that constraints marked soft are
/// evidence.
/// # Input and output
/// Any ensemble; a member that misses an object does not count for it. k clusters; fewer if must-links leave fewer.
/// The diagnostics contain the height of the first merge not made, and the lifetime of the partition.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `BadParam` above `max_n`; `InconsistentConstraints`,
/// `InfeasibleConstraints`, `UndecidedConstraints` for constraints to obey.
/// # Cost and randomness
/// With M members O(n·M²) time for the index. With g different rows of labels, O(g²·M) time and 4 g² bytes. Not
/// random.
/// # References
/// [HuangWangLai2018], ensemble-driven cluster index and LWEA; θ = 0.4 is their value. Differs: objects that all
/// members label alike are joined first; weights of members count in both sums.
#[options]
pub struct Lwea {
    /// Weight of uncertain clusters (θ); with a large number all clusters count the same.
    #[option(default = 0.4, above = 0.0)]
    pub theta: f64,
    /// Options of average linkage.
    #[option(flatten)]
    pub linkage: AverageLinkage,
}

#[plugin("lwea", cites = ["HuangWangLai2018", "FredJain2005", "DavidsonRavi2005"])]
impl ConsensusFunction for Lwea {
    fn combine(&self, ensemble: &Ensemble, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        // Equal to itself as far as it is reliable, and to no other cluster.
        let alike = |view: &CanonicalEnsemble| {
            let (index, first) =
                (reliability::of_clusters(view, self.theta, ctx)?, view.first.clone());
            let alike: Alike = Box::new(move |t, own, to_own| {
                to_own[own as usize] = index[first[t] + own as usize];
            });
            Ok(Some(alike))
        };
        self.linkage.accumulation().accumulate("lwea", alike, ensemble, problem, ctx)
    }

    fn needs(&self) -> Needs {
        self.linkage.accumulation().needs()
    }

    fn memory(&self, shape: &Shape, members: usize) -> u64 {
        self.linkage.accumulation().memory(shape, members) + (8 * shape.n * members) as u64
    }

    fn operations(&self, shape: &Shape, members: usize) -> f64 {
        let index = reliability::operations(shape.n, members);
        // Labels are compared one by one.
        let pairs = 4.0 * members as f64 * (shape.n as f64).powi(2);
        self.linkage.accumulation().operations(shape, members) + index + pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence_accumulation::EvidenceAccumulation;
    use crate::parts::e12::{blank, e12};
    use proptest::prelude::*;

    fn run(method: &Lwea, ensemble: &Ensemble, problem: &Problem) -> Clustering {
        method.combine(ensemble, problem, &Context::new(1)).unwrap()
    }

    #[test]
    fn worked_example() {
        // A: {0, 1, 2, 3} {4, 5}; B: {0, 1, 2} {3, 4, 5}; θ·M = 1. The index of {0, 1, 2, 3}, which B parts 3 : 1, is
        // exp(−0.811278) = .444290; of {3, 4, 5}, which A parts 1 : 2, exp(−0.918296) = .399199; of the others 1.
        // Object 3 with 0, 1, 2: .444290/2 = .222145; with 4, 5: .399199/2 = .199599; 0–1–2: (.444290 + 1)/2 =
        // .722145; 4–5: (1 + .399199)/2 = .699599. Plain co-associations of 3 are ½ either way.
        let members = vec![
            Member::from_labels(&[0, 0, 0, 0, 1, 1]),
            Member::from_labels(&[0, 0, 0, 1, 1, 1]),
        ];
        let ensemble = Ensemble::new(6, members).unwrap();
        let lwea = Lwea { theta: 0.5, ..Lwea::default() };
        let c = run(&lwea, &ensemble, &blank(6, 2));
        assert_eq!(c.labels, [0, 0, 0, 0, 1, 1]);
        // Only two of the eight pairs between the clusters, 3–4 and 3–5, are together in a member.
        let (last, next) = (1.0 - 0.222145, 1.0 - 2.0 * 0.199599 / 8.0);
        let found = &c.extras.diagnostics;
        assert!((found["next_height"] - next).abs() < 1e-6, "{found:?}");
        assert!((found["lifetime"] - (next - last)).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn if_all_clusters_count_the_same_it_is_evidence_accumulation() {
        let (ensemble, _) = e12();
        let plain = Lwea { theta: 1e300, ..Lwea::default() };
        let average = EvidenceAccumulation::default();
        for k in 1..=12 {
            let by_average = average.combine(&ensemble, &blank(12, k), &Context::new(1)).unwrap();
            assert_eq!(run(&plain, &ensemble, &blank(12, k)).labels, by_average.labels, "k {k}");
        }
    }

    #[test]
    fn constraints_are_obeyed() {
        let (ensemble, problem) = e12();
        let pairs = [Constraint::must(0, 11), Constraint::cannot(0, 1)];
        let problem = problem.with_constraints(Constraints::new(12, pairs).unwrap());
        let c = run(&Lwea::default(), &ensemble, &problem);
        assert_eq!((c.labels[0], c.k), (c.labels[11], 3));
        assert_ne!(c.labels[0], c.labels[1]);
    }

    proptest! {
        /// Merge after merge over the co-associations of the formula, objects of like labels joined first.
        #[test]
        fn it_is_the_hierarchy_of_the_formula(seed: u64, n in 3usize..12, tau in 1usize..6) {
            let mut s = SeedPath::new(seed).stream("members");
            let members: Vec<Member> = (0..tau).map(|_| {
                let labels: Vec<u32> = (0..n).map(|_| s.below(3) as u32).collect();
                Member::from_labels(&labels)
            }).collect();
            let same = |m: &Member, i: usize, j: usize| m.labels[i] == m.labels[j];
            let index = |m: &Member, i: usize| {
                let inside: Vec<usize> = (0..n).filter(|&j| same(m, i, j)).collect();
                let h: f64 = members.iter().map(|other| {
                    let share = |&j: &usize| {
                        let with = inside.iter().filter(|&&l| same(other, j, l)).count();
                        with as f64 / inside.len() as f64
                    };
                    // Each object of a part of share p adds −log p / |C|.
                    inside.iter().map(|j| -share(j).log2()).sum::<f64>() / inside.len() as f64
                }).sum();
                (-h / (0.4 * tau as f64)).exp()
            };
            let near = |i: usize, j: usize| {
                members.iter().filter(|m| same(m, i, j)).map(|m| index(m, i)).sum::<f64>() / tau as f64
            };
            let mut clusters: Vec<Vec<usize>> = Vec::new();
            for i in 0..n {
                let like = clusters.iter().position(|c| members.iter().all(|m| same(m, c[0], i)));
                match like {
                    Some(at) => clusters[at].push(i),
                    None => clusters.push(vec![i]),
                }
            }
            prop_assume!(clusters.len() > 2);
            let mut gap = f64::INFINITY;
            while clusters.len() > 2 {
                let mut all = Vec::new();
                for a in 0..clusters.len() {
                    for b in a + 1..clusters.len() {
                        let pairs = clusters[a].iter().flat_map(|&i| clusters[b].iter().map(move |&j| (i, j)));
                        let sum: f64 = pairs.map(|(i, j)| near(i, j)).sum();
                        all.push((sum / (clusters[a].len() * clusters[b].len()) as f64, a, b));
                    }
                }
                all.sort_by(|x, y| y.0.total_cmp(&x.0));
                if all.len() > 1 {
                    gap = gap.min(all[0].0 - all[1].0);
                }
                let moved = clusters.remove(all[0].2);
                clusters[all[0].1].extend(moved);
            }
            // Ties may be decided by rounding.
            prop_assume!(gap > 1e-9);
            let mut labels = vec![0; n];
            clusters.iter().enumerate().for_each(|(c, set)| {
                set.iter().for_each(|&i| labels[i] = c as u32);
            });
            let ensemble = Ensemble::new(n, members.clone()).unwrap();
            let c = run(&Lwea::default(), &ensemble, &blank(n, 2));
            prop_assert_eq!(c.labels, mustlink_core::clustering::canonical(&labels));
        }
    }
}
