//! Which member agrees best with all others?

use mustlink_core::clustering::compact;
use mustlink_core::prelude::*;

use crate::members::{CanonicalEnsemble, Weights, mean_nmi, without_missing};

/// The member with the highest mean normalised mutual information with the others: a baseline.
///
/// # Method
/// Nothing is combined. Ties go to the member whose labels come first in lexicographic order.
/// # Input and output
/// Any ensemble; objects the member misses join the cluster with which they are most often put
/// together. As many clusters as the member has, whatever k is, but for k = 1 and k = n.
/// # Errors
/// None of its own.
/// # Cost and randomness
/// O(τ²n). Nothing random.
/// # References
/// [StrehlGhosh2002].
#[options]
pub struct BestMember {}

#[plugin("best_member", cites = ["StrehlGhosh2002"])]
impl ConsensusFunction for BestMember {
    fn combine(&self, ensemble: &Ensemble, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        ctx.check()?;
        // Without k the member decides; any legal k lets the ensemble be read.
        let read = Problem { k: problem.k.or(Some(1)), ..problem.clone() };
        let view = CanonicalEnsemble::new(ensemble, &read, &Weights::default(), "best_member")?;
        if let Some(trivial) = view.trivial().filter(|_| problem.k.is_some()) {
            return Ok(trivial);
        }
        best(&view.ensemble())
    }

    fn needs(&self) -> Needs {
        Needs { labels_only: true, ..Needs::default() }
    }

    fn memory(&self, shape: &Shape, members: usize) -> u64 {
        (8 * shape.n * members + 8 * members * members) as u64
    }
}

fn best(ensemble: &Ensemble) -> Result<Clustering> {
    let agreement = mean_nmi(ensemble);
    let best = (0..ensemble.len()).fold(0, |b, t| if agreement[t] > agreement[b] { t } else { b });
    let (labels, k) = compact(&without_missing(&ensemble.members()[best].labels, ensemble));
    let mut c = Clustering { labels, k, objective: Some(agreement[best]), ..Clustering::default() };
    c.extras.diagnostics.insert("mean_nmi".into(), agreement[best]);
    Ok(c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::members::tests::{blank, e12};

    #[test]
    fn worked_example() {
        let (ensemble, problem) = e12();
        let c = BestMember {}.combine(&ensemble, &problem, &Context::new(1)).unwrap();
        let agreement = mean_nmi(&ensemble);
        let best = (0..5).max_by(|&a, &b| agreement[a].total_cmp(&agreement[b])).unwrap();
        assert_eq!(c.labels, ensemble.members()[best].labels);
        assert_eq!(c.objective, Some(agreement[best]));
    }

    #[test]
    fn k_is_not_needed() {
        let (ensemble, problem) = e12();
        let without = Problem { k: None, ..problem };
        let c = BestMember {}.combine(&ensemble, &without, &Context::new(1)).unwrap();
        assert!(c.k >= 3);
        let one = BestMember {}.combine(&ensemble, &blank(12, 1), &Context::new(1)).unwrap();
        assert_eq!(one.k, 1);
    }
}
