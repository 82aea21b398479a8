//! The consensus of the better members of an ensemble.

use mustlink_core::needs::check_needs;
use mustlink_core::prelude::*;
use mustlink_kernels::agreement::members::nmi;

use crate::parts::agreement::mean_nmi;
use crate::parts::canonical_ensemble::CanonicalEnsemble;
use crate::parts::weights::{Scheme, Weights};

/// Another consensus function, applied to some of the members only.
///
/// # Method
/// Members are ranked by a score, and the best share is kept. Alternatively they are taken one by one, each the best
/// compromise between its score and its distance from those taken before.
/// # Input and output
/// The input of the other function. The diagnostics contain the number of members kept.
/// # Errors
/// `BadParam`; the errors of the other function.
/// # Cost and randomness
/// O(τ²n) and the other function. The selection itself is not random.
/// # References
/// [FernLin2008].
#[options]
pub struct SelectedMembers {
    /// Share of the members to keep; at least one member is kept.
    #[option(default = 0.5, above = 0.0, max = 1.0)]
    pub fraction: f64,
    /// The score of a member.
    pub score: Score,
    /// Strategy that chooses members by their score.
    pub strategy: Strategy,
    /// Consensus function that combines the members kept.
    #[option(slot = "voting")]
    pub consensus: Option<Box<dyn ConsensusFunction>>,
}

/// The score of a member.
#[options]
pub enum Score {
    /// Mean normalised mutual information with the other members.
    #[default]
    Anmi,
    /// Validity and diversity, as in the weights of this name.
    ValidityPlusDiversity,
}

/// Strategies that choose members.
#[options]
pub enum Strategy {
    /// The members with the best scores.
    #[default]
    Best,
    /// Greedy: the mean score of the members kept plus their mean distance (1 - NMI) from each other.
    JointDiversity,
}

impl SelectedMembers {
    /// Number of the `members` to keep.
    fn count(&self, members: usize) -> usize {
        ((self.fraction * members as f64).round() as usize).clamp(1, members.max(1))
    }

    /// The members kept, in the order of the view.
    fn kept(
        &self,
        view: &CanonicalEnsemble,
        ensemble: &Ensemble,
        problem: &Problem,
        ctx: &Context,
    ) -> Result<Vec<usize>> {
        let tau = ensemble.len();
        let count = self.count(tau);
        let scores = match self.score {
            Score::Anmi => mean_nmi(ensemble, ctx)?,
            Score::ValidityPlusDiversity => {
                Weights::Scheme(Scheme::ValidityPlusDiversity).of(ensemble, problem, ctx)?
            }
        };
        let mut kept: Vec<usize> = match self.strategy {
            Strategy::Best => {
                let mut order = order::descending(&scores);
                order.truncate(count);
                order
            }
            Strategy::JointDiversity => {
                let mut kept: Vec<usize> = Vec::with_capacity(count);
                // Distance of each member from those kept, in all.
                let mut away = vec![0.0; tau];
                while kept.len() < count {
                    ctx.check()?;
                    let of = |t: usize| {
                        let distance =
                            if kept.is_empty() { 0.0 } else { away[t] / kept.len() as f64 };
                        scores[t] + distance
                    };
                    let free = (0..tau).filter(|t| !kept.contains(t));
                    let best = free.fold(None, |best: Option<usize>, t| match best {
                        Some(b) if of(t) <= of(b) => Some(b),
                        _ => Some(t),
                    });
                    let best = best.expect("fewer are kept than there are");
                    for t in 0..tau {
                        let agreement = nmi(&view.labels[t], &view.labels[best]);
                        away[t] += agreement.map_or(0.0, |v| 1.0 - v);
                    }
                    kept.push(best);
                }
                kept
            }
        };
        kept.sort_unstable();
        Ok(kept)
    }
}

#[plugin("selected_members", cites = ["FernLin2008"], version = 2)]
impl ConsensusFunction for SelectedMembers {
    fn combine(&self, ensemble: &Ensemble, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let consensus = self.consensus()?;
        let read = Problem { k: problem.k.or(Some(1)), ..problem.clone() };
        let view =
            CanonicalEnsemble::new(ensemble, &read, &Weights::default(), "selected_members", ctx)?;
        let kept = self.kept(&view, &view.ensemble(), problem, ctx)?;
        let members = kept.iter().map(|&t| view.members[t].clone()).collect();
        let some = Ensemble::new(ensemble.n(), members)?;
        check_needs(&some, &**consensus)?;
        let mut c = consensus
            .combine(&some, problem, &ctx.child("consensus"))
            .map_err(|e| e.at("consensus"))?;
        c.extras.diagnostics.insert("members_kept".into(), kept.len() as f64);
        Ok(c)
    }

    fn needs(&self) -> Needs {
        let consensus = self.consensus();
        consensus.map_or_else(|_| Needs::default(), |c| c.needs())
    }

    fn memory(&self, shape: &Shape, members: usize) -> u64 {
        let consensus = self.consensus();
        let kept = self.count(members);
        let own = 8 * shape.n * (members + kept) + 8 * members * members;
        own as u64 + consensus.map_or(0, |c| c.memory(shape, kept))
    }

    fn operations(&self, shape: &Shape, members: usize) -> f64 {
        let scheme = match self.score {
            Score::Anmi => Scheme::Anmi,
            Score::ValidityPlusDiversity => Scheme::ValidityPlusDiversity,
        };
        let own = Weights::Scheme(scheme).operations(shape, members);
        own + self.consensus().map_or(0.0, |c| c.operations(shape, self.count(members)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::best_member::BestMember;
    use crate::parts::e12::blank;

    fn ensemble() -> Ensemble {
        // Three members agree, two more agree in something else, one says nothing of either.
        let one = [0, 0, 0, 0, 1, 1, 1, 1];
        let two = [0, 0, 1, 1, 0, 0, 1, 1];
        let members = [one, one, one, two, two, [0, 1, 0, 1, 0, 1, 0, 1]];
        let members = members.iter().map(|m| Member::from_labels(m)).collect();
        Ensemble::new(8, members).unwrap()
    }

    #[test]
    fn the_best_are_kept_and_the_joint_choice_is_diverse() {
        let ensemble = ensemble();
        let problem = blank(8, 2);
        let view = CanonicalEnsemble::new(
            &ensemble,
            &problem,
            &Weights::default(),
            "selected_members",
            &Context::new(1),
        )
        .unwrap();
        let names = |kept: Vec<usize>| -> Vec<Vec<u32>> {
            kept.into_iter().map(|t| view.labels[t].clone()).collect()
        };
        let best = SelectedMembers::default();
        let kept = names(best.kept(&view, &view.ensemble(), &problem, &Context::new(1)).unwrap());
        assert_eq!(kept, vec![vec![0, 0, 0, 0, 1, 1, 1, 1]; 3]);
        let joint = SelectedMembers { strategy: Strategy::JointDiversity, ..best };
        let mut kept =
            names(joint.kept(&view, &view.ensemble(), &problem, &Context::new(1)).unwrap());
        kept.dedup();
        assert_eq!(kept.len(), 3);
    }

    #[test]
    fn the_other_function_sees_those_kept() {
        let consensus: Option<Box<dyn ConsensusFunction>> = Some(Box::new(BestMember::default()));
        let selected = SelectedMembers { consensus, ..SelectedMembers::default() };
        let c = selected.combine(&ensemble(), &blank(8, 2), &Context::new(1)).unwrap();
        assert_eq!(c.labels, [0, 0, 0, 0, 1, 1, 1, 1]);
        assert_eq!((c.objective, c.extras.diagnostics["members_kept"]), (Some(1.0), 3.0));
        for fraction in [0.0, 1.5, f64::NAN] {
            let bad = SelectedMembers { fraction, ..selected.clone() };
            assert!(bad.combine(&ensemble(), &blank(8, 2), &Context::new(1)).is_err());
        }
    }
}
