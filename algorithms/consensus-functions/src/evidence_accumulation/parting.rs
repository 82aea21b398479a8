//! Which objects change their clusters so that cannot-links hold, when the clusters are made?

use mustlink_core::prelude::*;
use mustlink_kernels::constrained::colouring::{
    Colouring, colour, connected_parts, induced, lower_cost,
};
use mustlink_kernels::constrained::must_link_units::MustLinkUnits;

use super::leaves::Leaves;

/// Parts what `labels` in `0..k` leave together: the must-linked objects of each chain of cannot-links of
/// which one is broken go to clusters anew. Cheap is a cluster with whose objects, as `labels` have them,
/// they have much in common on average.
///
/// # Errors
/// `InfeasibleConstraints`; `UndecidedConstraints`, when no placement is found after `node_limit` nodes;
/// `Cancelled`, `TimedOut`.
pub(super) fn part(
    labels: &mut [u32],
    leaves: &Leaves,
    closure: &Closure,
    k: usize,
    node_limit: u64,
    ctx: &Context,
) -> Result<()> {
    let units = MustLinkUnits::new(closure);
    let Some(proper) = units.any_placement(k, node_limit, ctx)? else {
        return Err(Error::UndecidedConstraints { k, node_limit });
    };
    let apart = units.apart();
    let first = |u: u32| units.members(u as usize)[0] as usize;
    let before = labels.to_vec();
    let mut sizes = vec![0.0; k];
    before.iter().for_each(|&l| sizes[l as usize] += 1.0);
    for connected in connected_parts(&apart) {
        let label = |u: u32| before[first(u)];
        let broken = |&u: &u32| apart[u as usize].iter().any(|&v| label(u) == label(v));
        if !connected.iter().any(broken) {
            continue;
        }
        ctx.check()?;
        let rows: Vec<Vec<f64>> = connected
            .iter()
            .map(|&u| {
                let mut cost = vec![0.0; k];
                for &i in units.members(u as usize) {
                    // Similarities to leaves are those to all of their objects.
                    let row = leaves.row(leaves.of[i as usize] as usize);
                    let mut sums = vec![0.0; k];
                    for (&l, &leaf) in before.iter().zip(&leaves.of) {
                        sums[l as usize] += row[leaf as usize] / leaves.scale;
                    }
                    // No object is like an empty cluster.
                    let mean = |h: usize| if sizes[h] > 0.0 { sums[h] / sizes[h] } else { 0.0 };
                    cost.iter_mut().enumerate().for_each(|(h, c)| *c += 1.0 - mean(h));
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
