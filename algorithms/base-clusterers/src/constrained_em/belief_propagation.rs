//! Loopy belief propagation: how likely is each label where exact tables would be too large?

use ndarray::Array2;
use rayon::prelude::*;

/// Sweeps of belief propagation, and the share of the old message kept.
const SWEEPS: usize = 200;
const DAMPING: f64 = 0.5;
/// Change of all log-messages below which belief propagation has settled.
const SETTLED: f64 = 1e-10;
/// Messages that are worth another thread.
const AT_ONCE: usize = 512;
/// Labels tried while looking for an admissible labelling of an approximated part.
const TRIES: usize = 200_000;

/// Nodes of one connected part that found no admissible labels.
pub(super) type Blocked = Vec<u32>;

/// A node with the probabilities of its labels.
pub(super) type Belief = (u32, Vec<f64>);

/// A connected part.
#[derive(Debug, Clone)]
pub(super) struct Loopy {
    pub(super) nodes: Vec<u32>,
    /// Neighbours of each node, as positions in `nodes`, ascending.
    pub(super) near: Vec<Vec<usize>>,
}

impl Loopy {
    /// Belief propagation: Bethe's log-partition and the beliefs of the nodes.
    pub(super) fn propagate(
        &self,
        k: usize,
        theta: &Array2<f64>,
    ) -> Result<(f64, Vec<Belief>), Blocked> {
        if k == 1 {
            return Err(self.nodes.clone());
        }
        let own = |v: usize| theta.row(self.nodes[v] as usize);
        // The messages to node v lie one after the other, from its first neighbour on.
        let mut first = vec![0];
        for near in &self.near {
            first.push(first[first.len() - 1] + near.len());
        }
        let place =
            |v: usize, u: usize| self.near[v].binary_search(&u).expect("neighbours of each other");
        // For each message who sends it, and as which neighbour the receiver stands there.
        let senders: Vec<(usize, usize)> = (0..self.nodes.len())
            .flat_map(|v| self.near[v].iter().map(move |&u| (u, place(u, v))))
            .collect();
        let mut messages = vec![0.0; senders.len() * k];
        let to = |v: usize| first[v] * k..first[v + 1] * k;
        // What v believes without its s-th neighbour, as logs of probabilities.
        let without = |messages: &[f64], v: usize, s: usize, belief: &mut Vec<f64>| {
            belief.clear();
            belief.extend(own(v));
            let others = messages[to(v)].chunks_exact(k).enumerate().filter(|(r, _)| *r != s);
            others.for_each(|(_, m)| belief.iter_mut().zip(m).for_each(|(b, m)| *b += m));
            let all = log_sum_exp(belief.iter().copied());
            belief.iter_mut().for_each(|b| *b -= all);
        };
        let others = |belief: &[f64], h: usize| {
            log_sum_exp(belief.iter().enumerate().filter(|(g, _)| *g != h).map(|(_, b)| *b))
        };
        let mut fresh = vec![0.0; messages.len()];
        for _ in 0..SWEEPS {
            let sent = fresh.par_chunks_mut(k).zip(&senders).with_min_len(AT_ONCE);
            sent.for_each_init(Vec::new, |belief, (new, &(u, s))| {
                without(&messages, u, s, belief);
                new.iter_mut().enumerate().for_each(|(h, new)| *new = others(belief, h));
            });
            let mut change = 0.0f64;
            for (old, new) in messages.iter_mut().zip(&fresh) {
                change = change.max((new - *old).abs());
                *old = DAMPING * *old + (1.0 - DAMPING) * new;
            }
            if change < SETTLED {
                break;
            }
        }
        let mut log_partition = 0.0;
        let mut rows = Vec::with_capacity(self.nodes.len());
        let mut seen = Vec::new();
        for v in 0..self.nodes.len() {
            let mut belief: Vec<f64> = own(v).to_vec();
            let received = || messages[to(v)].chunks_exact(k);
            received().for_each(|m| belief.iter_mut().zip(m).for_each(|(b, m)| *b += m));
            let all = log_sum_exp(belief.iter().copied());
            log_partition += all;
            for (s, m) in received().enumerate().filter(|(s, _)| self.near[v][*s] > v) {
                without(&messages, v, s, &mut seen);
                log_partition -= log_sum_exp(seen.iter().zip(m).map(|(b, m)| b + m));
            }
            belief.iter_mut().for_each(|b| *b = (*b - all).exp());
            rows.push((self.nodes[v], belief));
        }
        Ok((log_partition, rows))
    }

    /// Admissible labels: nodes in order of confidence take their likeliest free label; where that
    /// ends in a dead end, a search that always takes the node with the fewest free labels.
    pub(super) fn choose(&self, k: usize, beliefs: &[Belief]) -> Result<Vec<(u32, u32)>, Blocked> {
        let ranked: Vec<Vec<usize>> = beliefs
            .iter()
            .map(|(_, b)| {
                let mut order: Vec<usize> = (0..k).collect();
                order.sort_by(|&g, &h| b[h].total_cmp(&b[g]).then(g.cmp(&h)));
                order
            })
            .collect();
        let confidence = |v: usize| beliefs[v].1[ranked[v][0]];
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        order.sort_by(|&v, &u| confidence(u).total_cmp(&confidence(v)).then(v.cmp(&u)));
        let labels = self.greedily(&order, &ranked).or_else(|| self.search(k, &order, &ranked));
        let labels = labels.ok_or_else(|| self.nodes.clone())?;
        Ok(self.nodes.iter().zip(labels).map(|(&p, h)| (p, h as u32)).collect())
    }

    fn free(&self, v: usize, h: usize, labels: &[usize]) -> bool {
        self.near[v].iter().all(|&u| labels[u] != h)
    }

    fn greedily(&self, order: &[usize], ranked: &[Vec<usize>]) -> Option<Vec<usize>> {
        let mut labels = vec![usize::MAX; self.nodes.len()];
        for &v in order {
            labels[v] = *ranked[v].iter().find(|&&h| self.free(v, h, &labels))?;
        }
        Some(labels)
    }

    fn search(&self, k: usize, order: &[usize], ranked: &[Vec<usize>]) -> Option<Vec<usize>> {
        let mut labels = vec![usize::MAX; self.nodes.len()];
        let next = |labels: &[usize]| {
            let open = order.iter().copied().filter(|&v| labels[v] == usize::MAX);
            open.min_by_key(|&v| (0..k).filter(|&h| self.free(v, h, labels)).count())
        };
        // The nodes labelled so far, each with the rank of the label to try next.
        let mut path = vec![(next(&labels)?, 0)];
        for _ in 0..TRIES {
            let (v, rank) = path.pop()?;
            labels[v] = usize::MAX;
            let free = (rank..k).find(|&r| self.free(v, ranked[v][r], &labels));
            let Some(rank) = free else { continue };
            labels[v] = ranked[v][rank];
            path.push((v, rank + 1));
            match next(&labels) {
                Some(u) => path.push((u, 0)),
                None => return Some(labels),
            }
        }
        None
    }
}

/// log Σ exp v.
pub(super) fn log_sum_exp(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let top = values.clone().fold(f64::NEG_INFINITY, f64::max);
    if top == f64::NEG_INFINITY {
        return top;
    }
    top + values.map(|v| (v - top).exp()).sum::<f64>().ln()
}
