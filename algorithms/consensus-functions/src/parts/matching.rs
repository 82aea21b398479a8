//! Which clusters of a member and of a reference mean the same?

use std::cmp::Reverse;

use mustlink_core::prelude::*;
use mustlink_kernels::agreement::sparse_matching::{Worth, first_of_largest};

/// How many objects each cluster of a member, of `rows`, shares with each of the reference, of `columns`: where
/// they share some, sorted.
fn overlap(labels: &[u32], reference: &[u32], rows: usize, columns: usize) -> Vec<Worth> {
    let both = labels.iter().copied().zip(reference.iter().copied());
    let both = both.filter(|&(l, c)| l != NONE && c != NONE);
    if rows.saturating_mul(columns) <= 4 * labels.len() {
        let mut table = vec![0u64; rows * columns];
        both.for_each(|(l, c)| table[l as usize * columns + c as usize] += 1);
        let filled = table.into_iter().enumerate().filter(|(_, count)| *count > 0);
        return filled
            .map(|(at, count)| ((at / columns) as u32, (at % columns) as u32, count))
            .collect();
    }
    let mut pairs: Vec<(u32, u32)> = both.collect();
    pairs.sort_unstable();
    let cell = |same: &[(u32, u32)]| (same[0].0, same[0].1, same.len() as u64);
    pairs.chunk_by(|a, b| a == b).map(cell).collect()
}

/// The cluster of the reference, of `columns`, that each cluster of a member, of `rows`, means: one to one with the
/// largest overlap in all; surplus clusters go where they overlap most.
///
/// # Errors
/// Cancellation.
pub(crate) fn matched(
    labels: &[u32],
    reference: &[u32],
    (rows, columns): (usize, usize),
    ctx: &Context,
) -> Result<Vec<usize>> {
    let overlap = overlap(labels, reference, rows, columns);
    let matched = first_of_largest(&overlap, rows, columns, ctx)?;
    let mut largest = vec![(0, Reverse(0)); rows];
    for &(l, c, count) in &overlap {
        let known = &mut largest[l as usize];
        *known = (count, Reverse(c)).max(*known);
    }
    let target = |(partner, largest): (Option<usize>, (u64, Reverse<u32>))| {
        partner.unwrap_or(largest.1.0 as usize)
    };
    Ok(matched.into_iter().zip(largest).map(target).collect())
}
