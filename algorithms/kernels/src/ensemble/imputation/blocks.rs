//! Must-links by blocks of members: a pair that at most r members part agrees in all members of one of
//! r + 1 blocks.

use std::ops::Range;

use mustlink_core::{Context, Kind, Result, reduce};

use super::tally::pairs;
use super::thresholds::Thresholds;
use crate::ensemble::signatures::{Signatures, with_rows};

/// The blocks of members of which one at least is without a dissent on any pair of imputed
/// must-links: contiguous, of nearly equal length, one more than the members that may part a pair.
pub(super) fn blocks(s: &Signatures, thresholds: &Thresholds) -> Vec<Range<usize>> {
    let tau = s.members();
    let theta = thresholds.must(tau as u32) as usize;
    let blocks = (tau - theta.min(tau) + 1).min(tau);
    let start = |b: usize| (b * tau).div_ceil(blocks);
    (0..blocks).map(|b| start(b)..start(b + 1)).collect()
}

/// Groups that agree in all members of a block, where there are several.
pub(super) fn buckets(s: &Signatures, block: &Range<usize>) -> Vec<Vec<u32>> {
    let tau = s.members();
    let mut order: Vec<u32> = (0..s.len() as u32).collect();
    with_rows!(&s.rows, rows => {
        let key = |a: u32| &rows[a as usize * tau..][block.clone()];
        order.sort_unstable_by(|&a, &b| key(a).cmp(key(b)).then(a.cmp(&b)));
        order.chunk_by(|&a, &b| key(a) == key(b)).filter(|c| c.len() > 1).map(<[u32]>::to_vec).collect()
    })
}

/// True if two groups agree in all members of a block.
fn agree(s: &Signatures, a: u32, b: u32, block: &Range<usize>) -> bool {
    let tau = s.members();
    with_rows!(&s.rows, rows => {
        let key = |a: u32| &rows[a as usize * tau..][block.clone()];
        key(a) == key(b)
    })
}

/// Imputed must-links found by blocks of members.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct VerifiedLinks {
    /// Pairs of groups that they join, at most as many as wanted.
    pub(super) groups: Vec<(u32, u32)>,
    /// Pairs of objects that agree in all members of some block, those within groups among them.
    pub(super) candidates: u64,
    /// Number of these pairs that are imputed must-links.
    pub(super) verified: u64,
}

/// All imputed must-links: each pair that agrees in all members of a block is verified once, in the
/// first such block. `None` where that would not be much less work than all pairs.
pub(super) fn must_links_by_blocks(
    s: &Signatures,
    thresholds: &Thresholds,
    max_pairs: u64,
    ctx: &Context,
) -> Result<Option<VerifiedLinks>> {
    if !s.is_complete() {
        return Ok(None);
    }
    let tau = s.members() as u32;
    let within = (0..s.len()).map(|a| pairs(s.size(a) as u64)).sum();
    let mut found = VerifiedLinks { groups: Vec::new(), candidates: within, verified: within };
    let blocks = blocks(s, thresholds);
    // Without a dissent allowed there is one block, and the groups are its buckets.
    if blocks.len() == 1 {
        return Ok(Some(found));
    }
    let mut effort = 0;
    for (at, block) in blocks.iter().enumerate() {
        ctx.check()?;
        let buckets = buckets(s, block);
        // Comparing thirty earlier blocks takes about as long as verifying a pair.
        let each = 1 + at as u64 / 30;
        effort += each * buckets.iter().map(|b| pairs(b.len() as u64)).sum::<u64>();
        if effort > pairs(s.len() as u64) / 4 {
            return Ok(None);
        }
        let room = max_pairs.saturating_sub(found.verified);
        let parts = reduce::try_map(buckets.len(), |at_bucket| -> Result<VerifiedLinks> {
            let bucket = &buckets[at_bucket];
            let mut part = VerifiedLinks::default();
            for (nth, &b) in bucket.iter().enumerate() {
                ctx.check()?;
                for &a in &bucket[..nth] {
                    if blocks[..at].iter().any(|earlier| agree(s, a, b, earlier)) {
                        continue;
                    }
                    let (a, b) = (a.min(b), a.max(b));
                    let objects = (s.size(a as usize) * s.size(b as usize)) as u64;
                    part.candidates += objects;
                    let count = s.count(a as usize, b as usize);
                    if thresholds.judge(count, tau) == Some(Kind::MustLink) {
                        part.verified += objects;
                        if part.groups.len() as u64 <= room {
                            part.groups.push((a, b));
                        }
                    }
                }
            }
            Ok(part)
        })?;
        for part in parts {
            found.candidates += part.candidates;
            found.verified += part.verified;
            found.groups.extend(part.groups);
        }
    }
    Ok(Some(found))
}
