//! The closure: all pairs that follow from the constraints by logic alone.

use mustlink_core::closure::{Closure as Closed, EntailedWeight};
use mustlink_core::prelude::*;

/// Transitive closure: must-links chain, and a cannot-link holds between all members of two chains.
///
/// # Method
/// Must-link is an equivalence; must-link(a, b) and cannot-link(b, c) give cannot-link(a, c).
/// # Input and output
/// Any data; features are not used. Every pair of the closure; the given ones keep their own weights. Named
/// neighbourhoods stay.
/// # Errors
/// `InconsistentConstraints` only if `on_conflict = "error"`; `ClosureTooLarge` above `max_pairs`.
/// # Cost and randomness
/// O(n + constraints + pairs of the closure); not random.
/// # References
/// [Wagstaff2001] §3; [Basu2004] §3.
#[options]
pub struct Closure {
    /// Weights of the pairs that are not given.
    pub weight: EntailedWeight,
    /// Treatment of cannot-links inside must-link components; those kept are not extended.
    #[option(default = OnConflict::Keep)]
    pub on_conflict: OnConflict,
    /// Maximum number of pairs to make.
    #[option(default = mustlink_core::closure::MAX_CLOSURE_PAIRS, min = 1)]
    pub max_pairs: u64,
}

#[plugin("closure", cites = ["Wagstaff2001", "Basu2004"])]
impl ConstraintPropagator for Closure {
    fn propagate(
        &self,
        constraints: &Constraints,
        _: Option<&Clustering>,
        problem: &Problem,
        ctx: &Context,
    ) -> Result<Propagated> {
        ctx.check()?;
        let n = problem.n();
        let closed = Closed::new(constraints, n, self.on_conflict)?;
        let pairs = closed.pairs(self.weight, self.max_pairs)?;
        let all = Constraints::new(n, pairs)?;
        Ok(Propagated::Constraints(all.with_neighbourhoods(constraints.neighbourhoods().to_vec())))
    }

    fn properties(&self) -> PropagatorProperties {
        PropagatorProperties {
            accepts: vec![DataKind::Dense, DataKind::Csr, DataKind::Distances, DataKind::Affinity],
            ..PropagatorProperties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let (n, m) = (shape.n as u64, shape.constraints as u64);
        32 * n + 96 * m.saturating_mul(m + 1).min(self.max_pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;
    use proptest::prelude::*;

    fn closed(n: usize, given: &Constraints) -> Result<Constraints> {
        let problem = Problem::new(Data::dense(Array2::zeros((n, 1))).unwrap());
        match Closure::default().propagate(given, None, &problem, &Context::new(1))? {
            Propagated::Constraints(all) => Ok(all),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_chain_and_what_must_be_apart_from_it() {
        let given = Constraints::new(
            5,
            [
                Constraint::must(0, 1).weighing(3.0),
                Constraint::must(1, 2).weighing(2.0),
                Constraint::cannot(2, 4).weighing(5.0),
            ],
        );
        let all = closed(5, &given.unwrap()).unwrap();
        let found: Vec<_> = all.pairs().iter().map(|c| (c.i, c.j, c.kind, c.weight)).collect();
        let (must, cannot) = (Kind::MustLink, Kind::CannotLink);
        let expected = [
            (0, 1, must, 3.0),
            (0, 2, must, 2.0),
            (1, 2, must, 2.0),
            (0, 4, cannot, 2.0),
            (1, 4, cannot, 2.0),
            (2, 4, cannot, 5.0),
        ];
        assert_eq!(found, expected);
    }

    proptest! {
        #[test]
        fn closing_twice_adds_nothing(
            pairs in proptest::collection::vec((0usize..12, 0usize..12, any::<bool>()), 0..15),
        ) {
            let drawn = pairs.into_iter().filter(|(i, j, _)| i != j).map(|(i, j, must)| {
                if must { Constraint::must(i, j) } else { Constraint::cannot(i, j) }
            });
            let given = Constraints::new(12, drawn).unwrap();
            let once = closed(12, &given).unwrap();
            let keys = |c: &Constraints| {
                let mut all: Vec<_> = c.pairs().iter().map(|c| (c.i, c.j, c.kind)).collect();
                all.sort_unstable();
                all
            };
            prop_assert_eq!(keys(&closed(12, &once).unwrap()), keys(&once));
            prop_assert!(keys(&given).iter().all(|k| keys(&once).binary_search(k).is_ok()));
        }
    }
}
