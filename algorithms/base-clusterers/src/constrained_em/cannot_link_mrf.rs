//! Probabilities of labels if nodes joined by an edge have different labels.
//!
//! A Markov field: Pr(y) ∝ Π exp θ(node, y) Π [y ≠ y′] over edges. Connected parts are independent. A
//! part whose elimination needs only small tables is solved exactly, by elimination along a junction
//! tree. So is any part under two labels, which leave it two labellings, one whose nodes are all apart, by
//! the sets of labels they take, and one of few nodes that may share labels, by the sets of those that do.
//! Any other part is solved by loopy belief propagation, and is counted as approximate.
//!
//! Source: [Shental2003] §3.

use std::collections::BTreeSet;

use ndarray::{Array2, ArrayView1};

use mustlink_core::{Context, reduce};
use mustlink_kernels::constrained::colouring::connected_parts;

use super::all_apart::AllApart;
use super::belief_propagation::{Belief, Loopy, NoLabels, log_sum_exp};
use super::node_sets::NodeSets;
use super::two_labels::TwoLabels;

/// Entries all tables of one part may have together; above, it is not eliminated.
pub const MAX_ENTRIES: usize = 1 << 22;
/// Steps through the sets of labels or nodes of one part; above, sums are not over these.
const MAX_STEPS: usize = 1 << 20;

/// A field over nodes with k labels each.
#[derive(Debug, Clone)]
pub struct CannotLinkMrf {
    k: usize,
    nodes: usize,
    /// Nodes without edges.
    free: Vec<u32>,
    parts: Vec<Part>,
}

/// Log of the partition function, and the probability of every label of every node.
#[derive(Debug, Clone)]
pub struct Inference {
    /// log Σ_y exp Σ θ over admissible y; Bethe's approximation where parts are approximated.
    pub log_partition: f64,
    /// nodes × k, rows sum to 1.
    pub marginals: Array2<f64>,
}

#[derive(Debug, Clone)]
enum Part {
    Tables(Vec<Clique>),
    TwoLabels(TwoLabels),
    AllApart(AllApart),
    NodeSets(NodeSets),
    Loopy(Loopy),
}

/// A node with those of its neighbours, given or filled in, that are eliminated later.
#[derive(Debug, Clone)]
struct Clique {
    node: u32,
    /// Positions in the order of elimination, ascending; the first is the parent.
    later: Vec<usize>,
    /// Which of them must differ from the node.
    differs: Vec<bool>,
}

impl Part {
    /// The nodes of a part, with the neighbours of each as positions among them.
    fn new(k: usize, nodes: Vec<u32>, near: Vec<Vec<usize>>, max_width: usize) -> Self {
        let tables = eliminate(&nodes, &near, k, max_width);
        // Sums over sets where tables are too large, or not small.
        let most = tables.as_ref().map_or(MAX_STEPS, |(_, entries)| MAX_STEPS.min(entries / 4));
        if let Some(all) = AllApart::new(k, &nodes, &near, most) {
            return Part::AllApart(all);
        }
        if let Some(two) = TwoLabels::new(k, &nodes, &near).filter(|_| tables.is_none()) {
            return Part::TwoLabels(two);
        }
        match (NodeSets::new(k, &nodes, &near, most), tables) {
            (Some(sets), _) => Part::NodeSets(sets),
            (None, Some((cliques, _))) => Part::Tables(cliques),
            (None, None) => Part::Loopy(Loopy { nodes, near }),
        }
    }
}

impl CannotLinkMrf {
    /// A field with these neighbours of every node (symmetric, ascending). Parts are
    /// eliminated while no node has more than `max_width` neighbours then.
    pub fn new<'a>(
        nodes: usize,
        k: usize,
        max_width: usize,
        apart: impl Fn(usize) -> &'a [u32],
    ) -> Self {
        let edges: Vec<Vec<u32>> = (0..nodes).map(|p| apart(p).to_vec()).collect();
        let mut place = vec![0; nodes];
        let (mut free, mut parts) = (Vec::new(), Vec::new());
        for members in connected_parts(&edges) {
            if members.len() == 1 {
                free.extend(members);
                continue;
            }
            members.iter().enumerate().for_each(|(at, &p)| place[p as usize] = at);
            let near: Vec<Vec<usize>> = members
                .iter()
                .map(|&p| edges[p as usize].iter().map(|&q| place[q as usize]).collect())
                .collect();
            parts.push(Part::new(k, members, near, max_width));
        }
        CannotLinkMrf { k, nodes, free, parts }
    }

    /// The same nodes without edges.
    pub fn without_edges(&self) -> Self {
        let free = (0..self.nodes as u32).collect();
        CannotLinkMrf { k: self.k, nodes: self.nodes, free, parts: Vec::new() }
    }

    /// True if no node has an edge.
    pub fn is_free(&self) -> bool {
        self.parts.is_empty()
    }

    /// Number of nodes in parts that are approximated.
    pub fn approximate(&self) -> usize {
        let of = |part: &Part| match part {
            Part::Tables(_) | Part::TwoLabels(_) | Part::AllApart(_) | Part::NodeSets(_) => 0,
            Part::Loopy(l) => l.nodes.len(),
        };
        self.parts.iter().map(of).sum()
    }

    /// Log-partition and marginals under finite `theta` (nodes × k).
    ///
    /// # Errors
    /// The nodes of the first part that has no admissible labels; cancellation.
    pub fn infer(&self, theta: &Array2<f64>, ctx: &Context) -> Result<Inference, NoLabels> {
        ctx.check()?;
        let k = self.k;
        let mut marginals = Array2::zeros((self.nodes, k));
        let mut alone = vec![0.0; self.nodes];
        let (rows, flat) = (theta.as_slice(), marginals.as_slice_mut());
        let width = reduce::BLOCK * k.max(1);
        let rows = rows.expect("standard layout").chunks(width);
        let flat = flat.expect("standard layout").chunks_mut(width);
        let blocks = flat.zip(rows).zip(alone.chunks_mut(reduce::BLOCK));
        reduce::over(blocks, |_, ((to, rows), alone)| {
            let rows = to.chunks_mut(k.max(1)).zip(rows.chunks(k.max(1)));
            rows.zip(alone).for_each(|((to, row), alone)| *alone = softmax(row, to));
        });
        let mut log_partition = reduce::sum(self.free.len(), |at| alone[self.free[at] as usize]);
        let solved: Vec<(f64, Vec<Belief>)> =
            reduce::try_map(self.parts.len(), |part| -> Result<_, NoLabels> {
                ctx.check()?;
                match &self.parts[part] {
                    Part::Tables(cliques) => marginals_by_tables(cliques, k, theta, ctx),
                    Part::TwoLabels(two) => Ok(two.marginals(theta)),
                    Part::AllApart(all) => all.marginals(k, theta),
                    Part::NodeSets(sets) => sets.marginals(k, theta),
                    Part::Loopy(l) => l.propagate(k, theta, ctx),
                }
            })?;
        for (part, rows) in solved {
            log_partition += part;
            for (p, row) in rows {
                marginals.row_mut(p as usize).assign(&ArrayView1::from(&row));
            }
        }
        Ok(Inference { log_partition, marginals })
    }

    /// The likeliest admissible labels under finite `theta`: jointly in exact parts; in others nodes
    /// choose in order of their confidence. Ties go to the lowest label, where not all nodes are apart.
    ///
    /// # Errors
    /// The nodes of the first part that has no admissible labels, or that the search for them came to no
    /// end; cancellation.
    pub fn best(&self, theta: &Array2<f64>, ctx: &Context) -> Result<Vec<u32>, NoLabels> {
        let mut labels: Vec<u32> =
            theta.rows().into_iter().map(|row| largest(row.iter().copied()) as u32).collect();
        let chosen: Vec<Vec<(u32, u32)>> =
            reduce::try_map(self.parts.len(), |part| -> Result<_, NoLabels> {
                ctx.check()?;
                match &self.parts[part] {
                    Part::Tables(cliques) => best_by_tables(cliques, self.k, theta, ctx),
                    Part::TwoLabels(two) => Ok(two.best(theta)),
                    Part::AllApart(all) => all.best(self.k, theta),
                    Part::NodeSets(sets) => sets.best(self.k, theta),
                    Part::Loopy(l) => l.choose(self.k, &l.propagate(self.k, theta, ctx)?.1, ctx),
                }
            })?;
        for (p, h) in chosen.into_iter().flatten() {
            labels[p as usize] = h;
        }
        Ok(labels)
    }
}

/// Puts exp(v) / Σ exp(v) into `to`; returns log Σ exp(v).
fn softmax(from: &[f64], to: &mut [f64]) -> f64 {
    let all = log_sum_exp(from.iter().copied());
    to.iter_mut().zip(from).for_each(|(to, v)| *to = (v - all).exp());
    all
}

/// Index of the largest value, the lowest of several.
fn largest(values: impl Iterator<Item = f64>) -> usize {
    let best = values
        .enumerate()
        .fold((0, f64::NEG_INFINITY), |best, (at, v)| if v > best.1 { (at, v) } else { best });
    best.0
}

/// Cliques in order of elimination, fewest neighbours first (ties: lowest node), and the entries of their
/// tables; nothing when one is too wide.
fn eliminate(
    members: &[u32],
    near: &[Vec<usize>],
    k: usize,
    max_width: usize,
) -> Option<(Vec<Clique>, usize)> {
    let mut left: Vec<BTreeSet<usize>> = near.iter().map(|n| n.iter().copied().collect()).collect();
    let mut queue: BTreeSet<(usize, usize)> =
        left.iter().enumerate().map(|(p, n)| (n.len(), p)).collect();
    let mut order: Vec<(usize, Vec<usize>)> = Vec::with_capacity(members.len());
    let mut entries = 0usize;
    while let Some((width, p)) = queue.pop_first() {
        let table = k.checked_pow(width as u32 + 1).filter(|_| width <= max_width)?;
        entries = entries.checked_add(table).filter(|&e| e <= MAX_ENTRIES)?;
        let around: Vec<usize> = std::mem::take(&mut left[p]).into_iter().collect();
        for &q in &around {
            queue.remove(&(left[q].len(), q));
            left[q].remove(&p);
            left[q].extend(around.iter().copied().filter(|&r| r != q));
            queue.insert((left[q].len(), q));
        }
        order.push((p, around));
    }
    let mut position = vec![0; members.len()];
    order.iter().enumerate().for_each(|(at, (p, _))| position[*p] = at);
    let cliques = order.into_iter().map(|(p, around)| {
        let mut later: Vec<(usize, bool)> =
            around.into_iter().map(|q| (position[q], near[p].binary_search(&q).is_ok())).collect();
        later.sort_unstable();
        let (later, differs) = later.into_iter().unzip();
        Clique { node: members[p], later, differs }
    });
    Some((cliques.collect(), entries))
}

/// Calls `visit(index, labels)` for every labelling of `count` variables, the first fastest.
fn labellings(k: usize, count: usize, mut visit: impl FnMut(usize, &[usize])) {
    let mut labels = vec![0; count];
    for index in 0..k.pow(count as u32) {
        visit(index, &labels);
        for l in &mut labels {
            *l += 1;
            if *l < k {
                break;
            }
            *l = 0;
        }
    }
}

/// For each variable of the clique at `parent` (itself first): by how much it moves the index into
/// the message of the clique at `child`.
fn strides(cliques: &[Clique], parent: usize, child: usize, k: usize) -> Vec<usize> {
    let of = |position: usize| {
        let at = cliques[child].later.iter().position(|&q| q == position);
        at.map_or(0, |at| k.pow(at as u32))
    };
    std::iter::once(parent).chain(cliques[parent].later.iter().copied()).map(of).collect()
}

fn index(strides: &[usize], labels: &[usize]) -> usize {
    strides.iter().zip(labels).map(|(s, l)| s * l).sum()
}

/// Tables over each clique (its own label first) and the message each sends to its parent, where
/// the clique's own label is taken out by `reduce`. Children are in order of elimination.
struct Upward {
    tables: Vec<Vec<f64>>,
    messages: Vec<Vec<f64>>,
    children: Vec<Vec<usize>>,
}

fn upward(
    cliques: &[Clique],
    k: usize,
    theta: &Array2<f64>,
    reduce: impl Fn(&[f64]) -> f64,
    ctx: &Context,
) -> Result<Upward, NoLabels> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); cliques.len()];
    for (t, clique) in cliques.iter().enumerate() {
        if let Some(&parent) = clique.later.first() {
            children[parent].push(t);
        }
    }
    let mut tables: Vec<Vec<f64>> = Vec::with_capacity(cliques.len());
    let mut messages: Vec<Vec<f64>> = Vec::with_capacity(cliques.len());
    for (t, clique) in cliques.iter().enumerate() {
        // A table may have millions of entries.
        ctx.check()?;
        let count = clique.later.len() + 1;
        let own = theta.row(clique.node as usize);
        let from: Vec<(&Vec<f64>, Vec<usize>)> =
            children[t].iter().map(|&c| (&messages[c], strides(cliques, t, c, k))).collect();
        let mut table = vec![f64::NEG_INFINITY; k.pow(count as u32)];
        let mut taken = vec![false; k];
        let mut starts = vec![0; from.len()];
        labellings(k, count - 1, |at, others| {
            taken.fill(false);
            let differing = others.iter().zip(&clique.differs).filter(|(_, differs)| **differs);
            differing.for_each(|(l, _)| taken[*l] = true);
            for (start, (_, s)) in starts.iter_mut().zip(&from) {
                *start = index(&s[1..], others);
            }
            let to = &mut table[at * k..][..k];
            for h in (0..k).filter(|&h| !taken[h]) {
                let heard = from.iter().zip(&starts).map(|((m, s), start)| m[start + h * s[0]]);
                to[h] = own[h] + heard.sum::<f64>();
            }
        });
        messages.push(table.chunks(k).map(&reduce).collect());
        tables.push(table);
    }
    Ok(Upward { tables, messages, children })
}

fn blocked(cliques: &[Clique]) -> NoLabels {
    let mut nodes: Vec<u32> = cliques.iter().map(|c| c.node).collect();
    nodes.sort_unstable();
    NoLabels::Impossible(nodes)
}

/// Log-partition of a part and the marginals of its nodes.
fn marginals_by_tables(
    cliques: &[Clique],
    k: usize,
    theta: &Array2<f64>,
    ctx: &Context,
) -> Result<(f64, Vec<Belief>), NoLabels> {
    let Upward { mut tables, messages, children } =
        upward(cliques, k, theta, |v| log_sum_exp(v.iter().copied()), ctx)?;
    // A part is connected: the last clique is the only root, its message one number.
    let root = cliques.len() - 1;
    let log_partition = messages[root][0];
    if log_partition == f64::NEG_INFINITY {
        return Err(blocked(cliques));
    }
    tables[root].iter_mut().for_each(|v| *v -= log_partition);
    let mut rows = Vec::with_capacity(cliques.len());
    // Tables become beliefs from the root on: a child receives the belief of its parent without its
    // own message.
    for t in (0..cliques.len()).rev() {
        ctx.check()?;
        let count = cliques[t].later.len() + 1;
        let to: Vec<Vec<usize>> = children[t].iter().map(|&c| strides(cliques, t, c, k)).collect();
        let mut sums: Vec<Vec<f64>> =
            children[t].iter().map(|&c| vec![0.0; messages[c].len()]).collect();
        let mut row = vec![0.0; k];
        let mut starts = vec![0; to.len()];
        labellings(k, count - 1, |at, others| {
            for (start, s) in starts.iter_mut().zip(&to) {
                *start = index(&s[1..], others);
            }
            let own = tables[t][at * k..][..k].iter().enumerate();
            for (h, &log) in own.filter(|(_, log)| **log != f64::NEG_INFINITY) {
                let p = log.exp();
                row[h] += p;
                for ((sum, s), start) in sums.iter_mut().zip(&to).zip(&starts) {
                    sum[start + h * s[0]] += p;
                }
            }
        });
        for (&c, sums) in children[t].iter().zip(sums) {
            for ((table, sum), message) in tables[c].chunks_mut(k).zip(sums).zip(&messages[c]) {
                // Labels that cannot be go on as such.
                let rest = if sum > 0.0 { sum.ln() - message } else { f64::NEG_INFINITY };
                table.iter_mut().for_each(|v| *v += rest);
            }
        }
        let all: f64 = row.iter().sum();
        row.iter_mut().for_each(|v| *v /= all);
        rows.push((cliques[t].node, row));
    }
    Ok((log_partition, rows))
}

/// The likeliest admissible labels of a part.
fn best_by_tables(
    cliques: &[Clique],
    k: usize,
    theta: &Array2<f64>,
    ctx: &Context,
) -> Result<Vec<(u32, u32)>, NoLabels> {
    let highest = |v: &[f64]| v.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let Upward { tables, messages, .. } = upward(cliques, k, theta, highest, ctx)?;
    if messages[cliques.len() - 1][0] == f64::NEG_INFINITY {
        return Err(blocked(cliques));
    }
    let mut labels = vec![0; cliques.len()];
    for t in (0..cliques.len()).rev() {
        let later = cliques[t].later.iter().rev();
        let start = later.fold(0, |at, &q| at * k + labels[q]) * k;
        labels[t] = largest(tables[t][start..start + k].iter().copied());
    }
    Ok(cliques.iter().zip(labels).map(|(c, h)| (c.node, h as u32)).collect())
}

#[cfg(test)]
mod tests;
