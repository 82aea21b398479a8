//! The consensus function, out of several, that agrees best with the members.

use mustlink_core::needs::check_needs;
use mustlink_core::prelude::*;
use mustlink_kernels::agreement::members::{nmi, weighted_mean};

use crate::cspa::Cspa;
use crate::hgpa::Hgpa;
use crate::mcla::Mcla;

/// Supra-consensus: several consensus functions, and the result that agrees best with the members.
///
/// # Method
/// Agreement is the mean normalised mutual information (geometric) with all members, weighted by the weights of the
/// members. A function that cannot take the ensemble is left out with a warning; ties go to the first.
/// # Input and output
/// The input of the functions.
/// # Errors
/// The error of the first function, if no function can take the ensemble.
/// # Cost and randomness
/// The sum of all functions.
/// # References
/// [StrehlGhosh2002].
#[options]
pub struct Supra {
    /// The functions to try, in order.
    #[option(default = vec![ Box::new(Cspa::default()), Box::new(Hgpa::default()), Box::new(Mcla::default()), ])]
    pub functions: Vec<Box<dyn ConsensusFunction>>,
}

#[plugin("supra", cites = ["StrehlGhosh2002"], version = 4)]
impl ConsensusFunction for Supra {
    fn combine(&self, ensemble: &Ensemble, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        if self.functions.is_empty() {
            return Err(Error::bad_param("functions", "none", "at least one consensus function"));
        }
        let mut best: Option<(f64, usize, Clustering)> = None;
        let mut refused = None;
        for (at, function) in self.functions.iter().enumerate() {
            let place = format!("functions[{at}]");
            let made = check_needs(ensemble, &**function).and_then(|()| {
                function.combine(ensemble, problem, &ctx.child("functions").index(at))
            });
            let clustering = match made {
                Ok(clustering) => clustering,
                Err(e @ (Error::Cancelled | Error::TimedOut { .. })) => return Err(e),
                Err(e) => {
                    let e = e.at(&place);
                    ctx.warn(format!("left out: {e}"));
                    refused.get_or_insert(e);
                    continue;
                }
            };
            let agree = |m: &Member| Some((nmi(&m.labels, &clustering.labels)?, m.weight));
            let agreement = reduce::map(ensemble.len(), |t| agree(&ensemble.members()[t]));
            let agreement = weighted_mean(agreement.into_iter().flatten().collect()).unwrap_or(0.0);
            if best.as_ref().is_none_or(|(most, ..)| agreement > *most) {
                best = Some((agreement, at, clustering));
            }
        }
        match (best, refused) {
            (Some((agreement, at, mut clustering)), _) => {
                clustering.objective = Some(agreement);
                clustering.extras.diagnostics.insert("mean_nmi".into(), agreement);
                clustering.extras.diagnostics.insert("function".into(), at as f64);
                Ok(clustering)
            }
            (None, e) => Err(e.expect("a function that gives nothing says why")),
        }
    }

    fn needs(&self) -> Needs {
        let all: Vec<Needs> = self.functions.iter().map(|f| f.needs()).collect();
        Needs {
            labels_only: all.iter().all(|n| n.labels_only),
            fixed_k: all.iter().any(|n| n.fixed_k),
            balanced: all.iter().any(|n| n.balanced),
            reads_constraints: all.iter().any(|n| n.reads_constraints),
            hard_must: all.iter().all(|n| n.hard_must),
            hard_cannot: all.iter().all(|n| n.hard_cannot),
            hard_if_marked: all.iter().all(|n| n.hard_if_marked),
            ..Needs::default()
        }
    }

    fn memory(&self, shape: &Shape, members: usize) -> u64 {
        // One after the other.
        let taking = self.functions.iter().filter(|f| takes(&***f, shape));
        taking.map(|f| f.memory(shape, members)).max().unwrap_or(0)
    }

    fn operations(&self, shape: &Shape, members: usize) -> f64 {
        let taking = self.functions.iter().filter(|f| takes(&***f, shape));
        let agreement = shape.n as f64 * members as f64;
        taking.map(|f| f.operations(shape, members) + agreement).sum()
    }
}

/// True if a function accepts this number of objects: above its own limit it never starts.
fn takes(function: &dyn ConsensusFunction, shape: &Shape) -> bool {
    function.needs().max_n.is_none_or(|most| shape.n <= most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::best_member::BestMember;
    use crate::parts::e12::e12;

    #[test]
    fn the_best_of_three_is_kept() {
        let (ensemble, problem) = e12();
        let ctx = Context::new(1);
        let c = Supra::default().combine(&ensemble, &problem, &ctx).unwrap();
        let each: Vec<f64> = Supra::default()
            .functions
            .iter()
            .enumerate()
            .map(|(at, f)| {
                let c = f.combine(&ensemble, &problem, &ctx.child("functions").index(at)).unwrap();
                ensemble.members().iter().filter_map(|m| nmi(&m.labels, &c.labels)).sum::<f64>()
                    / 5.0
            })
            .collect();
        let most = each.iter().copied().fold(0.0, f64::max);
        assert!((c.objective.unwrap() - most).abs() < 1e-12);
    }

    #[test]
    fn functions_that_cannot_are_left_out() {
        let (ensemble, problem) = e12();
        let small: Box<dyn ConsensusFunction> = Box::new(Cspa { max_n: 3, ..Cspa::default() });
        let ctx = Context::new(1);
        let both = Supra { functions: vec![small.clone(), Box::new(BestMember::default())] };
        assert!(both.combine(&ensemble, &problem, &ctx).is_ok());
        assert_eq!(ctx.warnings().len(), 1);
        assert!(Supra { functions: vec![small] }.combine(&ensemble, &problem, &ctx).is_err());
        assert!(Supra { functions: vec![] }.combine(&ensemble, &problem, &ctx).is_err());
    }
}
