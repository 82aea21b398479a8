//! The sets of objects that imputed must-links join.
//!
//! Source: [Greene2007] Fig. 3 (the components of M′).

use mustlink_core::closure::UnionFind;
use mustlink_core::{Context, Error, Kind, Result};

use super::blocks::{blocks, buckets};
use super::thresholds::Thresholds;
use crate::ensemble::co_association::CoAssociation;
use crate::ensemble::signatures::Signatures;

/// Pairs that are compared to find neighbourhoods without a matrix, at most, by default.
pub const MAX_CANDIDATES: u64 = 200_000_000;

/// Sets of at least two objects that imputed must-links hold together: the largest first, ties by
/// the smallest object; objects sorted.
///
/// Without a matrix, pairs are found by blocks of members: a pair that at most r members part agrees
/// in all members of one of r + 1 blocks, so only objects with equal labels in a block are compared,
/// and of these none that already belong together.
///
/// # Errors
/// `BadParam` beyond `max_candidates` comparisons, and for missing labels without a matrix; cancellation.
pub fn neighbourhoods(
    co: &CoAssociation,
    thresholds: &Thresholds,
    max_candidates: u64,
    ctx: &Context,
) -> Result<Vec<Vec<u32>>> {
    let mut uf = UnionFind::new(co.n());
    match co.signatures() {
        Some(s) => by_blocks(s, thresholds, max_candidates, &mut uf, ctx)?,
        None => {
            let members = co.members() as u32;
            // Each stripe keeps a forest of its own, so that only its edges are left to unite.
            type Forest = (Option<UnionFind>, Vec<(u32, u32)>);
            let forests = co.fold(
                || (None, Vec::new()),
                |(uf, edges): &mut Forest, a, first, counts, joints| {
                    let uf = uf.get_or_insert_with(|| UnionFind::new(co.n()));
                    for (at, &count) in counts.iter().enumerate() {
                        let joint = joints.map_or(members, |j| j[at]);
                        let b = (first + at) as u32;
                        if thresholds.judge(count, joint) == Some(Kind::MustLink)
                            && uf.union(a as u32, b).is_some()
                        {
                            edges.push((a as u32, b));
                        }
                    }
                },
                ctx,
            )?;
            for (a, b) in forests.into_iter().flat_map(|f| f.1) {
                uf.union(a, b);
            }
        }
    }
    let mut sets: Vec<Vec<u32>> = vec![Vec::new(); co.n()];
    for i in 0..co.n() as u32 {
        sets[uf.find(i) as usize].push(i);
    }
    sets.retain(|s| s.len() > 1);
    sets.sort_by_key(|s| (std::cmp::Reverse(s.len()), s[0]));
    Ok(sets)
}

fn by_blocks(
    s: &Signatures,
    thresholds: &Thresholds,
    max_candidates: u64,
    uf: &mut UnionFind,
    ctx: &Context,
) -> Result<()> {
    if !s.is_complete() {
        return Err(Error::bad_param(
            "representation",
            "implicit",
            "dense where members leave objects out",
        ));
    }
    let tau = s.members();
    let theta = thresholds.must(tau as u32) as usize;
    for a in 0..s.len() {
        s.objects(a).windows(2).for_each(|w| {
            uf.union(w[0], w[1]);
        });
    }
    let blocks = blocks(s, thresholds);
    if blocks.len() == 1 {
        return Ok(());
    }
    let representative = |a: u32| s.objects(a as usize)[0];
    let mut candidates = 0u64;
    for (at, block) in blocks.iter().enumerate() {
        ctx.check()?;
        ctx.progress(at as u64, Some(blocks.len() as u64));
        for bucket in buckets(s, block) {
            // Groups of the bucket seen so far, by the set they belong to.
            let mut sets: Vec<Vec<u32>> = Vec::new();
            for &a in &bucket {
                // A bucket may hold all objects.
                ctx.check()?;
                for set in &sets {
                    if uf.find(representative(a)) == uf.find(representative(set[0])) {
                        continue;
                    }
                    for &b in set {
                        candidates += 1;
                        if s.count(a as usize, b as usize) as usize >= theta {
                            uf.union(representative(a), representative(b));
                            break;
                        }
                    }
                }
                if candidates > max_candidates {
                    return Err(Error::bad_param(
                        "max_candidates",
                        max_candidates,
                        "larger here, or kappa_must larger, or fewer members",
                    ));
                }
                let root = uf.find(representative(a));
                let mut own = vec![a];
                sets.retain_mut(|set| {
                    let same = uf.find(representative(set[0])) == root;
                    if same {
                        own.append(set);
                    }
                    !same
                });
                sets.push(own);
            }
        }
    }
    Ok(())
}
