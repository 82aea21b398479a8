//! The member that satisfies the constraints best and agrees best with all others.

use mustlink_core::clustering::compact;
use mustlink_core::prelude::*;

use crate::parts::agreement::{self, mean_nmi};
use crate::parts::canonical_ensemble::CanonicalEnsemble;
use crate::parts::satisfaction;
use crate::parts::weights::Weights;

/// A baseline: the member that satisfies the constraints best or, without constraints, agrees best with the others.
///
/// # Method
/// Members are not combined. Constraints are soft. A member's score is how much better than chance it satisfies them:
/// the share of satisfied must-links plus the share of satisfied cannot-links, minus 1, by weight. Members with equal
/// scores, and all members without constraints, are compared by mean normalised mutual information with the others.
/// Ties go to the member whose labels come first in lexicographic order.
/// # Input and output
/// Any ensemble; objects the member misses join the cluster with which they are most often put together. As many
/// clusters as the member has, whatever k is, except for k = 1 and k = n.
/// # Errors
/// No errors of its own.
/// # Cost and randomness
/// O(τ²n). Not random.
/// # References
/// [StrehlGhosh2002].
#[options]
pub struct BestMember {
    /// Criterion for the best member.
    pub by: Best,
}

/// Criterion for the best member.
#[options]
pub enum Best {
    /// The constraints that it satisfies, then agreement.
    #[default]
    Constraints,
    /// Agreement with the others; constraints are ignored.
    Agreement,
}

#[plugin("best_member", cites = ["StrehlGhosh2002"], version = 3)]
impl ConsensusFunction for BestMember {
    fn combine(&self, ensemble: &Ensemble, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        ctx.check()?;
        // Without k the member decides; any legal k lets the ensemble be read.
        let read = Problem { k: problem.k.or(Some(1)), ..problem.clone() };
        let view =
            CanonicalEnsemble::new(ensemble, &read, &Weights::default(), "best_member", ctx)?;
        if let Some(trivial) = view.trivial().filter(|_| problem.k.is_some()) {
            return Ok(trivial);
        }
        let none = Constraints::default();
        best(&view.ensemble(), if self.reads() { &problem.constraints } else { &none }, ctx)
    }

    fn needs(&self) -> Needs {
        Needs { labels_only: true, reads_constraints: self.reads(), ..Needs::default() }
    }

    fn memory(&self, shape: &Shape, members: usize) -> u64 {
        (8 * shape.n * members + 8 * members * members) as u64
    }

    fn operations(&self, shape: &Shape, members: usize) -> f64 {
        agreement::operations(shape.n, members) + members as f64 * shape.constraints as f64
    }
}

impl BestMember {
    fn reads(&self) -> bool {
        self.by == Best::Constraints
    }
}

fn best(ensemble: &Ensemble, constraints: &Constraints, ctx: &Context) -> Result<Clustering> {
    let agreement = mean_nmi(ensemble, ctx)?;
    let met = satisfaction::of_members(ensemble, constraints);
    let rank = |t: usize| (met[t], agreement[t]);
    let best = (0..ensemble.len()).fold(0, |b, t| if rank(t) > rank(b) { t } else { b });
    let (labels, k) = compact(&without_missing(&ensemble.members()[best].labels, ensemble));
    let mut c = Clustering { labels, k, objective: Some(agreement[best]), ..Clustering::default() };
    c.extras.diagnostics.insert("mean_nmi".into(), agreement[best]);
    if !constraints.pairs().is_empty() {
        let met = satisfaction::met(&ensemble.members()[best].labels, constraints);
        c.extras.diagnostics.extend(met.map(|met| ("constraints_met".into(), met)));
    }
    Ok(c)
}

/// Labels of all objects: one that has none goes where its mean co-association is largest, ties to
/// the lower label; an object no member saw goes to label 0.
fn without_missing(labels: &[u32], ensemble: &Ensemble) -> Vec<u32> {
    if !labels.contains(&NONE) {
        return labels.to_vec();
    }
    let k = labels.iter().filter(|&&l| l != NONE).max().map_or(1, |&l| l as usize + 1);
    let mut sizes = vec![0.0f64; k];
    labels.iter().filter(|&&l| l != NONE).for_each(|&l| sizes[l as usize] += 1.0);
    let mut sums = vec![0u64; labels.len() * k];
    for m in ensemble.members() {
        let clusters = m.labels.iter().filter(|&&l| l != NONE).max().map_or(0, |&l| l as usize + 1);
        let mut table = vec![0u64; clusters * k];
        for (&l, &own) in m.labels.iter().zip(labels) {
            if l != NONE && own != NONE {
                table[l as usize * k + own as usize] += 1;
            }
        }
        for (i, &l) in m.labels.iter().enumerate().filter(|(i, _)| labels[*i] == NONE) {
            if l != NONE {
                let row = &table[l as usize * k..(l as usize + 1) * k];
                sums[i * k..(i + 1) * k].iter_mut().zip(row).for_each(|(s, r)| *s += r);
            }
        }
    }
    let of = |i: usize, l: u32| {
        if l != NONE {
            return l;
        }
        let mean = |c: usize| if sizes[c] > 0.0 { sums[i * k + c] as f64 / sizes[c] } else { 0.0 };
        (1..k).fold(0, |best, c| if mean(c) > mean(best) { c } else { best }) as u32
    };
    labels.iter().enumerate().map(|(i, &l)| of(i, l)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::e12::{blank, e12};

    #[test]
    fn worked_example() {
        let (ensemble, problem) = e12();
        let c = BestMember::default().combine(&ensemble, &problem, &Context::new(1)).unwrap();
        let agreement = mean_nmi(&ensemble, &Context::new(1)).unwrap();
        let best = (0..5).max_by(|&a, &b| agreement[a].total_cmp(&agreement[b])).unwrap();
        assert_eq!(c.labels, ensemble.members()[best].labels);
        assert_eq!(c.objective, Some(agreement[best]));
    }

    #[test]
    fn constraints_come_before_agreement() {
        let (ensemble, problem) = e12();
        // Only the second member meets all three.
        let pairs = [Constraint::must(8, 9), Constraint::must(0, 4), Constraint::cannot(9, 10)];
        let with = problem.clone().with_constraints(Constraints::new(12, pairs).unwrap());
        let of = |by, problem: &Problem| {
            BestMember { by }.combine(&ensemble, problem, &Context::new(1)).unwrap()
        };
        let c = of(Best::Constraints, &with);
        assert_eq!(c.labels, ensemble.members()[1].labels);
        assert_eq!(c.extras.diagnostics["constraints_met"], 1.0);
        assert_eq!(of(Best::Agreement, &with), of(Best::Constraints, &problem));
    }

    #[test]
    fn k_is_not_needed() {
        let (ensemble, problem) = e12();
        let without = Problem { k: None, ..problem };
        let c = BestMember::default().combine(&ensemble, &without, &Context::new(1)).unwrap();
        assert!(c.k >= 3);
        let one =
            BestMember::default().combine(&ensemble, &blank(12, 1), &Context::new(1)).unwrap();
        assert_eq!(one.k, 1);
    }

    #[test]
    fn an_object_without_a_label_joins_those_it_meets() {
        let labels = [[0, 0, NONE, 1], [0, 0, 1, 1], [0, 0, 1, 1]];
        let members: Vec<Member> = labels.iter().map(|l| Member::from_labels(l)).collect();
        let ensemble = Ensemble::new(4, members).unwrap();
        assert_eq!(without_missing(&labels[0], &ensemble), [0, 0, 1, 1]);
    }
}
