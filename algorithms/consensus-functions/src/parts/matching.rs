//! Clusters of a member that correspond to clusters of a reference partition.

use std::cmp::Reverse;

use mustlink_core::prelude::*;
use mustlink_kernels::agreement::sparse_matching::{Worth, first_of_largest};

/// The number of objects that each of the `rows` clusters of a member shares with each of the `columns` clusters of the
/// reference. Sorted; pairs of clusters that share no object are left out.
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

/// For each of the `rows` clusters of a member, the corresponding one of the `columns` clusters of the reference. The
/// matching is one to one with the largest total overlap; each surplus cluster goes to the one it overlaps most with.
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
