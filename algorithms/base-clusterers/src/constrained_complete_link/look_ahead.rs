//! An order of merges that never leads to a dead end.

use mustlink_kernels::constrained::colouring::{Colouring, colour, decide, impossible};
use ndarray::Array2;

use mustlink_core::{Context, Error, Result};

use crate::parts::linkage::Merge;

/// Nodes of the search for clusters to begin with.
const NODE_LIMIT: u64 = 1_000_000;
/// Nodes for the question whether two clusters may merge.
const NODES_PER_MERGE: u64 = 10_000;
/// Searches that may end undecided before there are no more.
const UNDECIDED: usize = 100;

/// Complete linkage down to k clusters: the two nearest clusters merge (ties: smallest names) among those
/// after whose merge k clusters can still keep apart what must be. Distances above `top` are those of
/// clusters that must be apart; `object` is one object of each cluster.
///
/// A next merge is always known, because clusters to merge into are known at all times. If these keep the two nearest
/// clusters apart, exchanges look for others that join the two, otherwise a search does. If the search is undecided,
/// the two clusters do not merge; after a hundred such searches, no more are started. If greedy complete linkage
/// reaches k clusters, its merges are these.
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
    // Those that each must be apart from, or may not merge with, ascending.
    let mut apart: Vec<Vec<usize>> = active
        .iter()
        .map(|&a| active.iter().copied().filter(|&b| a != b && distances[[a, b]] > top).collect())
        .collect();
    let edges = edges(&active, |a| apart[a].iter().copied());
    // The cluster that each will be part of, as far as is known.
    let mut goal = match colour(&edges, k, &|_, _| 0.0, NODE_LIMIT, ctx)? {
        Colouring::Found(goal) => goal,
        Colouring::Impossible(few) => return Err(impossible(&few, &edges, k, object)),
        Colouring::Undecided => {
            return Err(Error::UndecidedConstraints { k, node_limit: NODE_LIMIT });
        }
    };
    // Height of the nearest of those after each, and which it is.
    let mut nearest: Vec<(f64, usize)> =
        active.iter().map(|&p| nearest_after(&distances, &active, p)).collect();
    let mut merges = Vec::new();
    let mut searches = UNDECIDED;
    while active.len() > k {
        ctx.check()?;
        let least = |m: usize, &p: &usize| if nearest[p].0 < nearest[m].0 { p } else { m };
        let a = active.iter().fold(active[0], least);
        let (height, b) = nearest[a];
        if goal[a] != goal[b] && !exchange(&apart, &mut goal, (a, b), k) {
            let search = match searches {
                0 => Colouring::Undecided,
                _ => if_merged(&apart, &active, (a, b), k, ctx)?,
            };
            if search == Colouring::Undecided {
                searches = searches.saturating_sub(1);
            }
            let Colouring::Found(found) = search else {
                // Nor may what they become part of.
                for (p, q) in [(a, b), (b, a)] {
                    distances[[p, q]] = f64::INFINITY;
                    insert(&mut apart[p], q);
                }
                nearest[a] = nearest_after(&distances, &active, a);
                continue;
            };
            active.iter().zip(found).for_each(|(&p, h)| goal[p] = h);
        }
        merges.push(Merge { into: a, from: b, height });
        active.retain(|&p| p != b);
        for q in std::mem::take(&mut apart[b]).into_iter().filter(|&q| q != a) {
            apart[q].retain(|&p| p != b);
            insert(&mut apart[q], a);
            insert(&mut apart[a], q);
        }
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

/// Puts `p` where it belongs in an ascending list, once.
fn insert(list: &mut Vec<usize>, p: usize) {
    if let Err(at) = list.binary_search(&p) {
        list.insert(at, p);
    }
}

/// For each cluster those that it must be apart from, by their places in `active`.
fn edges<I: Iterator<Item = usize>>(active: &[usize], apart: impl Fn(usize) -> I) -> Vec<Vec<u32>> {
    let mut place = vec![0; active.last().map_or(0, |last| last + 1)];
    (0..).zip(active).for_each(|(at, &p)| place[p] = at);
    active.iter().map(|&a| apart(a).map(|b| place[b]).collect()).collect()
}

/// Gives `a` and `b` one goal by exchanging two goals among the clusters that are apart from one another in a
/// chain (Kempe's), whose others stay apart; false, and nothing changes, where no such exchange does.
fn exchange(apart: &[Vec<usize>], goal: &mut [u32], (a, b): (usize, usize), k: usize) -> bool {
    let before = [goal[a], goal[b]];
    if move_chain(apart, goal, b, before[0], a) {
        return true;
    }
    for third in (0..k as u32).filter(|h| !before.contains(h)) {
        let kept = goal.to_vec();
        if move_chain(apart, goal, a, third, b) && move_chain(apart, goal, b, third, a) {
            return true;
        }
        goal.copy_from_slice(&kept);
    }
    false
}

/// Exchanges the goal of `from` and `to` in the chain that begins there, unless `fixed` is in it.
fn move_chain(apart: &[Vec<usize>], goal: &mut [u32], from: usize, to: u32, fixed: usize) -> bool {
    let goals = [goal[from], to];
    let mut chain = vec![from];
    let mut met = vec![false; goal.len()];
    met[from] = true;
    let mut at = 0;
    while let Some(&p) = chain.get(at) {
        for &q in apart[p].iter().filter(|&&q| goals.contains(&goal[q])) {
            if q == fixed {
                return false;
            }
            if !std::mem::replace(&mut met[q], true) {
                chain.push(q);
            }
        }
        at += 1;
    }
    chain.into_iter().for_each(|p| goal[p] = if goal[p] == to { goals[0] } else { to });
    true
}

/// A goal of each cluster that is the same for `a` and `b`, if the search finds one.
fn if_merged(
    apart: &[Vec<usize>],
    active: &[usize],
    (a, b): (usize, usize),
    k: usize,
    ctx: &Context,
) -> Result<Colouring> {
    let left: Vec<usize> = active.iter().copied().filter(|&p| p != b).collect();
    // As if they had merged.
    let of = |p: usize| {
        let mut others: Vec<usize> = apart[p].iter().copied().filter(|&q| q != b).collect();
        if p == a {
            apart[b].iter().filter(|&&q| q != a).for_each(|&q| insert(&mut others, q));
        } else if apart[b].binary_search(&p).is_ok() {
            insert(&mut others, a);
        }
        others.into_iter()
    };
    let edges = edges(&left, of);
    let goal = match decide(&edges, k, &|_, _| 0.0, NODES_PER_MERGE, ctx)? {
        Colouring::Found(goal) => goal,
        other => return Ok(other),
    };
    let place = |p: usize| left.binary_search(&if p == b { a } else { p }).expect("it is left");
    Ok(Colouring::Found(active.iter().map(|&p| goal[place(p)]).collect()))
}
