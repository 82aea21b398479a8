//! Changes of finished clusters that make constraints hold.

use mustlink_core::closure::Closure;
use mustlink_core::{Context, Error, Result};

use crate::constrained::colouring::{Colouring, colour, connected_parts, induced, lower_cost};
use crate::constrained::must_link_units::MustLinkUnits;

/// Makes `labels` in `0..k` hold all constraints. If something is broken in a chain of cannot-links, its must-linked
/// objects are placed again, whole components together; all others stay. `costs` gives the cost of an object in
/// each cluster, for the labels at the start and the sizes of their clusters.
///
/// # Errors
/// `InfeasibleConstraints`; `UndecidedConstraints`, when no placement is found after `node_limit` nodes;
/// `Cancelled`, `TimedOut`.
pub fn part(
    labels: &mut [u32],
    closure: &Closure,
    k: usize,
    node_limit: u64,
    costs: impl Fn(usize, &[u32], &[f64]) -> Vec<f64>,
    ctx: &Context,
) -> Result<()> {
    let units = MustLinkUnits::new(closure);
    let Some(proper) = units.any_placement(k, node_limit, ctx)? else {
        return Err(Error::UndecidedConstraints { k, node_limit });
    };
    let apart = units.apart();
    let members = |u: u32| units.members(u as usize).iter().map(|&i| i as usize);
    let before = labels.to_vec();
    let mut sizes = vec![0.0; k];
    before.iter().for_each(|&l| sizes[l as usize] += 1.0);
    for connected in connected_parts(&apart) {
        let label = |u: u32| before[units.members(u as usize)[0] as usize];
        let broken = |&u: &u32| {
            members(u).any(|i| before[i] != label(u))
                || apart[u as usize].iter().any(|&v| label(u) == label(v))
        };
        if !connected.iter().any(broken) {
            continue;
        }
        ctx.check()?;
        let rows: Vec<Vec<f64>> = connected
            .iter()
            .map(|&u| {
                let mut cost = vec![0.0; k];
                for i in members(u) {
                    let own = costs(i, &before, &sizes);
                    cost.iter_mut().zip(own).for_each(|(c, own)| *c += own);
                }
                cost
            })
            .collect();
        let cost = |at: u32, h: u32| rows[at as usize][h as usize];
        let edges = induced(&apart, &connected);
        let mut found = match colour(&edges, k, &cost, node_limit, ctx)? {
            Colouring::Found(found) => found,
            // Cheap clusters first may take longer than any.
            _ => connected.iter().map(|&u| proper[u as usize]).collect(),
        };
        lower_cost(&edges, k, &cost, &mut found, ctx)?;
        connected.iter().zip(found).for_each(|(&u, h)| units.put(u as usize, h, labels));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::closure::OnConflict;
    use mustlink_core::constraints::{Constraint, Constraints};
    use proptest::prelude::*;

    proptest! {
        /// The result holds every constraint of a set that k clusters can hold. Objects that are in no chain with
        /// a broken constraint stay.
        #[test]
        fn constraints_hold(
            classes in proptest::collection::vec(0u32..3, 12),
            labels in proptest::collection::vec(0u32..3, 12),
            pairs in proptest::collection::vec((0usize..12, 0usize..12), 0..12),
        ) {
            let said = |&(i, j): &(usize, usize)| match classes[i] == classes[j] {
                true => Constraint::must(i, j),
                false => Constraint::cannot(i, j),
            };
            let given = pairs.iter().filter(|(i, j)| i != j).map(said);
            let constraints = Constraints::new(12, given).unwrap();
            let closure = Closure::new(&constraints, 12, OnConflict::Error).unwrap();
            let stay = |i: usize, before: &[u32], _: &[f64]| {
                (0..3).map(|h| f64::from(u8::from(before[i] != h))).collect()
            };
            let mut parted = labels.clone();
            let ctx = Context::new(1);
            part(&mut parted, &closure, 3, 1_000_000, stay, &ctx).unwrap();
            prop_assert_eq!(constraints.violations(&parted).total(), 0);
            if constraints.violations(&labels).total() == 0 {
                prop_assert_eq!(&parted, &labels);
            }
            for i in 0..12 {
                prop_assert!(pairs.iter().any(|p| p.0 == i || p.1 == i)
                    || parted[i] == labels[i]);
            }
        }
    }
}
