//! Link-based similarity: objects in different clusters are alike if these clusters share neighbours.

use std::collections::BTreeMap;

use mustlink_core::prelude::*;

use crate::evidence_accumulation::Alike;
use crate::parts::average_linkage::AverageLinkage;
use crate::parts::canonical_ensemble::CanonicalEnsemble;

/// CTS: average linkage of co-associations in which clusters that overlap the same others are alike.
///
/// # Method
/// Two clusters of any members are linked by the share of their objects that they have in common (Jaccard). Two
/// clusters of one member share a triple with every cluster that both are linked to; it is worth the smaller of the two
/// links. The similarity of the two clusters is the sum of their triples, divided by the largest such sum, times
/// `decay`. The similarity of two objects is a mean over the members: 1 if they are in one cluster, otherwise the
/// similarity of their clusters. Average linkage of these similarities merges the objects until there are k clusters.
/// Constraints are treated as in `evidence_accumulation`: they are obeyed, except that constraints marked soft are
/// evidence.
/// # Input and output
/// Any ensemble; a member that misses an object does not count for it. k clusters; fewer if must-links leave fewer.
/// The diagnostics contain the height of the first merge not made, and the lifetime of the partition.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `BadParam` above `max_n`; `InconsistentConstraints`,
/// `InfeasibleConstraints`, `UndecidedConstraints` for constraints to obey.
/// # Cost and randomness
/// With M members of k clusters, O(n·M²) time for the links and O(M²·k³) for the triples. With g different rows of
/// labels, O(g²·M) time and 4 g² bytes. Not random.
/// # References
/// [IamOnBoongoenGarrettPrice2011], weighted connected triples; [IamOnGarrett2010] for the similarity of objects.
/// Differs: weights of members count for centres of triples and in the mean.
#[options]
pub struct ConnectedTriples {
    /// Similarity of the two most similar clusters of one member (DC); 0 gives evidence accumulation.
    #[option(default = 0.8, min = 0.0, max = 1.0)]
    pub decay: f64,
    /// Options of average linkage.
    #[option(flatten)]
    pub linkage: AverageLinkage,
}

#[plugin(
    "connected_triples",
    aliases = ["cts"],
    cites = ["IamOnBoongoenGarrettPrice2011", "IamOnGarrett2010", "FredJain2005", "DavidsonRavi2005"]
)]
impl ConsensusFunction for ConnectedTriples {
    fn combine(&self, ensemble: &Ensemble, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let alike = |view: &CanonicalEnsemble| {
            let (triples, first) = (triples(view, ctx)?, view.first.clone());
            let decay = self.decay;
            let alike: Alike = Box::new(move |t, own, to_own| {
                for &(other, share) in &triples[first[t] + own as usize] {
                    to_own[other as usize] = decay * share;
                }
                to_own[own as usize] = 1.0;
            });
            Ok(Some(alike))
        };
        self.linkage.accumulation().accumulate("connected_triples", alike, ensemble, problem, ctx)
    }

    fn needs(&self) -> Needs {
        self.linkage.accumulation().needs()
    }

    fn memory(&self, shape: &Shape, members: usize) -> u64 {
        let clusters = members * shape.k;
        // Links and triples; each link has an object in common.
        let links = (clusters * clusters).min(shape.n * members * members);
        let triples = clusters * shape.k;
        let objects = 8 * shape.n * members;
        self.linkage.accumulation().memory(shape, members)
            + (64 * links + 16 * triples + objects) as u64
    }

    fn operations(&self, shape: &Shape, members: usize) -> f64 {
        let (n, m, k) = (shape.n as f64, members as f64, shape.k as f64);
        // Labels are compared one by one.
        let pairs = 4.0 * m * n * n;
        self.linkage.accumulation().operations(shape, members)
            + 10.0 * n * m * m
            + m * m * k.powi(3)
            + pairs
    }
}

/// For each cluster, these counted through all members, how alike it is to the others of its member, the largest of
/// all 1; those to which it is not are left out.
fn triples(view: &CanonicalEnsemble, ctx: &Context) -> Result<Vec<Vec<(u32, f64)>>> {
    let links = links(view, ctx)?;
    let of_member = |t: usize| -> Result<Vec<Vec<(u32, f64)>>> {
        let own = view.columns(t);
        let sums = own.clone().map(|a| {
            ctx.check()?;
            let others = own.clone().filter(|&b| b != a).map(|b| {
                let shared = common(&links[a], &links[b], |centre| view.weights[centre]);
                ((b - own.start) as u32, shared)
            });
            Ok(others.filter(|s| s.1 > 0.0).collect())
        });
        sums.collect()
    };
    let all: Vec<Vec<Vec<(u32, f64)>>> = reduce::try_map(view.len(), of_member)?;
    let mut all: Vec<Vec<(u32, f64)>> = all.into_iter().flatten().collect();
    let largest = all.iter().flatten().map(|s| s.1).fold(0.0, f64::max);
    all.iter_mut().flatten().for_each(|s| s.1 /= largest);
    Ok(all)
}

/// A cluster that another is linked to: its number through all members, its member, and the share.
type Link = (usize, usize, f64);

/// The sum over the clusters in both lists, which are in order, of the smaller share times the weight of the member.
fn common(a: &[Link], b: &[Link], weight: impl Fn(usize) -> f64) -> f64 {
    let (mut at, mut sum) = (0, 0.0);
    for &(centre, member, share) in a {
        while b.get(at).is_some_and(|other| other.0 < centre) {
            at += 1;
        }
        if let Some(other) = b.get(at).filter(|other| other.0 == centre) {
            sum += weight(member) * share.min(other.2);
        }
    }
    sum
}

/// The clusters of other members that each cluster has objects in common with, in order.
fn links(view: &CanonicalEnsemble, ctx: &Context) -> Result<Vec<Vec<Link>>> {
    let mut inside = vec![Vec::new(); view.clusters()];
    for i in 0..view.n {
        view.clusters_of(i).for_each(|(_, c)| inside[c].push(i));
    }
    let of_cluster = |(c, objects): (usize, &Vec<usize>)| {
        ctx.check()?;
        let mut shared: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for &i in objects {
            for (t, other) in view.clusters_of(i).filter(|&(_, other)| other != c) {
                *shared.entry((other, t)).or_default() += 1;
            }
        }
        let jaccard = |((other, t), both): ((usize, usize), usize)| {
            let either = objects.len() + inside[other].len() - both;
            (other, t, both as f64 / either as f64)
        };
        Ok(shared.into_iter().map(jaccard).collect())
    };
    reduce::try_map(inside.len(), |c| of_cluster((c, &inside[c])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence_accumulation::EvidenceAccumulation;
    use crate::parts::e12::{blank, e12};
    use crate::parts::weights::Weights;
    use proptest::prelude::*;

    fn run(method: &ConnectedTriples, ensemble: &Ensemble, problem: &Problem) -> Clustering {
        method.combine(ensemble, problem, &Context::new(1)).unwrap()
    }

    /// A: {0, 1} {2, 3} {4, 5}; B: {0, 1, 2, 3} {4, 5}.
    fn two() -> Ensemble {
        let members = vec![
            Member::from_labels(&[0, 0, 1, 1, 2, 2]),
            Member::from_labels(&[0, 0, 0, 0, 1, 1]),
        ];
        Ensemble::new(6, members).unwrap()
    }

    #[test]
    fn worked_example() {
        // {0, 1} and {2, 3} of A are each linked to {0, 1, 2, 3} of B by 2/4: one triple of ½, the largest. {4, 5} of A
        // is linked to {4, 5} of B alone, by 1. The two clusters of B are linked to no cluster of A together.
        let ensemble = two();
        let ctx = Context::new(1);
        let view = CanonicalEnsemble::new(&ensemble, &blank(6, 2), &Weights::default(), "c", &ctx)
            .unwrap();
        let found = triples(&view, &ctx).unwrap();
        let pairs: Vec<f64> = found.iter().flatten().map(|s| s.1).collect();
        assert_eq!(pairs, [1.0, 1.0]);
        // Similarity of 0 and 2: (.8 + 1)/2 = .9; nothing joins 4 to any of them.
        let c = run(&ConnectedTriples::default(), &ensemble, &blank(6, 3));
        assert_eq!(c.labels, [0, 0, 1, 1, 2, 2]);
        assert!((c.extras.diagnostics["next_height"] - 0.1).abs() < 1e-12, "{:?}", c.extras);
        let c = run(&ConnectedTriples::default(), &ensemble, &blank(6, 2));
        assert_eq!(c.labels, [0, 0, 0, 0, 1, 1]);
        assert_eq!(c.extras.diagnostics["next_height"], 1.0);
    }

    #[test]
    fn without_decay_it_is_evidence_accumulation() {
        let (ensemble, _) = e12();
        let plain = ConnectedTriples { decay: 0.0, ..ConnectedTriples::default() };
        let average = EvidenceAccumulation::default();
        for k in 1..=12 {
            let by_average = average.combine(&ensemble, &blank(12, k), &Context::new(1)).unwrap();
            assert_eq!(run(&plain, &ensemble, &blank(12, k)).labels, by_average.labels, "k {k}");
        }
    }

    #[test]
    fn one_member_has_no_triples() {
        let ensemble = Ensemble::new(4, vec![Member::from_labels(&[0, 0, 1, 2])]).unwrap();
        let c = run(&ConnectedTriples::default(), &ensemble, &blank(4, 3));
        assert_eq!(c.labels, [0, 0, 1, 2]);
    }

    #[test]
    fn constraints_are_obeyed() {
        let (ensemble, problem) = e12();
        let pairs = [Constraint::must(0, 11), Constraint::cannot(0, 1)];
        let problem = problem.with_constraints(Constraints::new(12, pairs).unwrap());
        let c = run(&ConnectedTriples::default(), &ensemble, &problem);
        assert_eq!((c.labels[0], c.k), (c.labels[11], 3));
        assert_ne!(c.labels[0], c.labels[1]);
    }

    proptest! {
        #[test]
        fn triples_are_those_of_the_full_table(seed: u64, n in 2usize..15, tau in 1usize..5) {
            let mut s = SeedPath::new(seed).stream("members");
            let members: Vec<Member> = (0..tau).map(|_| {
                let label = |s: &mut Stream| if s.unit() < 0.1 { NONE } else { s.below(4) as u32 };
                Member::from_labels(&(0..n).map(|_| label(&mut s)).collect::<Vec<_>>())
            }).collect();
            let ensemble = Ensemble::new(n, members).unwrap();
            let ctx = Context::new(1);
            let view = CanonicalEnsemble::new(&ensemble, &blank(n, 1), &Weights::default(), "c", &ctx).unwrap();
            let all = view.clusters();
            let has = |c: usize, i: usize| view.clusters_of(i).any(|(_, own)| own == c);
            let mut w = vec![vec![0.0; all]; all];
            for a in 0..all {
                for b in (0..all).filter(|&b| b != a) {
                    let both = (0..n).filter(|&i| has(a, i) && has(b, i)).count();
                    let either = (0..n).filter(|&i| has(a, i) || has(b, i)).count();
                    w[a][b] = if either > 0 { both as f64 / either as f64 } else { 0.0 };
                }
            }
            let sum = |a: usize, b: usize| (0..all).map(|c| f64::min(w[a][c], w[b][c])).sum::<f64>();
            let mut largest = 0.0f64;
            for t in 0..view.len() {
                for a in view.columns(t) {
                    view.columns(t).filter(|&b| b != a).for_each(|b| largest = largest.max(sum(a, b)));
                }
            }
            let found = triples(&view, &ctx).unwrap();
            for t in 0..view.len() {
                for a in view.columns(t) {
                    for b in view.columns(t).filter(|&b| b != a) {
                        let own = found[a].iter().find(|s| s.0 as usize == b - view.first[t]);
                        let expected = if largest > 0.0 { sum(a, b) / largest } else { 0.0 };
                        prop_assert!((own.map_or(0.0, |s| s.1) - expected).abs() < 1e-12);
                    }
                }
            }
        }
    }
}
