//! In which order do clusters merge so that no merge leads to a dead end?

use mustlink_kernels::constrained::colouring::{Colouring, colour, decide, impossible};
use ndarray::Array2;

use mustlink_core::{Context, Error, Result};

use crate::parts::linkage::Merge;

/// Nodes of the search for clusters to begin with.
const NODE_LIMIT: u64 = 1_000_000;
/// Nodes for the question whether two clusters may merge.
const NODES_PER_MERGE: u64 = 10_000;

/// Complete linkage down to k clusters: always the two nearest merge (ties: smallest names) among those
/// after whose merge k clusters can still keep apart what must be. Distances above `top` are those of
/// clusters that must be apart, `object` is one of each.
///
/// Clusters to merge into are known at all times, so that there always is a next merge; where the search
/// for others ends undecided, two clusters do not merge. Where greedy complete linkage reaches k clusters,
/// its merges are these.
///
/// # Errors
/// `InfeasibleConstraints`, `UndecidedConstraints`; cancellation.
pub fn complete_link_ahead(
    mut distances: Array2<f64>,
    top: f64,
    k: usize,
    object: impl Fn(usize) -> u32,
    ctx: &Context,
) -> Result<Vec<Merge>> {
    let mut active: Vec<usize> = (0..distances.nrows()).collect();
    let apart = edges(&active, |a, b| distances[[a, b]] > top);
    // The cluster that each will be part of, as far as is known.
    let mut goal = match colour(&apart, k, &|_, _| 0.0, NODE_LIMIT, ctx)? {
        Colouring::Found(goal) => goal,
        Colouring::Impossible(few) => return Err(impossible(&few, &apart, k, object)),
        Colouring::Undecided => {
            return Err(Error::UndecidedConstraints { k, node_limit: NODE_LIMIT });
        }
    };
    // Height of the nearest of those after each, and which it is.
    let mut nearest: Vec<(f64, usize)> =
        active.iter().map(|&p| nearest_after(&distances, &active, p)).collect();
    let mut merges = Vec::new();
    while active.len() > k {
        ctx.check()?;
        let least = |m: usize, &p: &usize| if nearest[p].0 < nearest[m].0 { p } else { m };
        let a = active.iter().fold(active[0], least);
        let (height, b) = nearest[a];
        if goal[a] != goal[b] {
            let Some(found) = if_merged(&distances, top, &active, (a, b), k, ctx)? else {
                // Nor may what they become part of.
                distances[[a, b]] = f64::INFINITY;
                distances[[b, a]] = f64::INFINITY;
                nearest[a] = nearest_after(&distances, &active, a);
                continue;
            };
            active.iter().zip(found).for_each(|(&p, h)| goal[p] = h);
        }
        merges.push(Merge { into: a, from: b, height });
        active.retain(|&p| p != b);
        for &p in &active {
            let farthest = distances[[a, p]].max(distances[[b, p]]);
            distances[[a, p]] = farthest;
            distances[[p, a]] = farthest;
        }
        for &p in &active {
            // No cluster has come nearer: all others keep theirs.
            if p == a || nearest[p].1 == a || nearest[p].1 == b {
                nearest[p] = nearest_after(&distances, &active, p);
            }
        }
    }
    Ok(merges)
}

/// The nearest of the clusters after `a`, and how far it is.
fn nearest_after(distances: &Array2<f64>, active: &[usize], a: usize) -> (f64, usize) {
    let after = active.iter().filter(|&&b| b > a).map(|&b| (distances[[a, b]], b));
    after.fold((f64::INFINITY, usize::MAX), |best, next| if next.0 < best.0 { next } else { best })
}

/// For each cluster those, by their places in `active`, that it must be apart from.
fn edges(active: &[usize], apart: impl Fn(usize, usize) -> bool) -> Vec<Vec<u32>> {
    let of = |a: usize| {
        let others = (0..).zip(active).filter(|&(_, &b)| a != b && apart(a, b));
        others.map(|(at, _)| at).collect()
    };
    active.iter().map(|&a| of(a)).collect()
}

/// A goal of each cluster that is the same for `a` and `b`, if the search finds one.
fn if_merged(
    distances: &Array2<f64>,
    top: f64,
    active: &[usize],
    (a, b): (usize, usize),
    k: usize,
    ctx: &Context,
) -> Result<Option<Vec<u32>>> {
    let left: Vec<usize> = active.iter().copied().filter(|&p| p != b).collect();
    let apart = |p: usize, q: usize| {
        let of_b = (p == a && distances[[b, q]] > top) || (q == a && distances[[p, b]] > top);
        of_b || distances[[p, q]] > top
    };
    let edges = edges(&left, apart);
    let Colouring::Found(goal) = decide(&edges, k, &|_, _| 0.0, NODES_PER_MERGE, ctx)? else {
        return Ok(None);
    };
    let place = |p: usize| left.binary_search(&if p == b { a } else { p }).expect("it is left");
    Ok(Some(active.iter().map(|&p| goal[place(p)]).collect()))
}
