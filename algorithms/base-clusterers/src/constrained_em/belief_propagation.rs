//! Loopy belief propagation: probabilities of labels if exact tables would be too large.

use mustlink_core::{Context, Error, order};
use mustlink_kernels::constrained::colouring::{Colouring, colour};
use ndarray::Array2;
use rayon::prelude::*;

/// Sweeps of belief propagation, and the share of the old message kept.
const SWEEPS: usize = 200;
const DAMPING: f64 = 0.5;
/// Change of all log-messages below which belief propagation has settled.
const SETTLED: f64 = 1e-10;
/// Messages that are worth another thread.
const AT_ONCE: usize = 512;
/// Labels tried while looking for an admissible labelling of an approximated part, and nodes of the
/// complete search after that.
const TRIES: u64 = 200_000;
const NODE_LIMIT: u64 = 1_000_000;
/// Labels tried between two looks at the flag.
const TRIES_PER_CHECK: u64 = 1024;

/// Reason why labels are missing.
#[derive(Debug, Clone, PartialEq)]
pub enum NoLabels {
    /// These nodes have no admissible ones.
    Impossible(Vec<u32>),
    /// The search for them, or the run, has ended.
    Ended(Error),
}

impl From<Error> for NoLabels {
    fn from(error: Error) -> Self {
        NoLabels::Ended(error)
    }
}

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
        ctx: &Context,
    ) -> Result<(f64, Vec<Belief>), NoLabels> {
        if k == 1 {
            return Err(NoLabels::Impossible(self.nodes.clone()));
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
        let mut fresh = vec![0.0; messages.len()];
        for _ in 0..SWEEPS {
            ctx.check()?;
            let sent = fresh.par_chunks_mut(k).zip(&senders).with_min_len(AT_ONCE);
            sent.for_each_init(Vec::new, |belief, (new, &(u, s))| {
                without(&messages, u, s, belief);
                all_but_one(belief, new);
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
    /// ends in a dead end, a search that always takes the node with the fewest free labels; where that
    /// tries too many, the complete search.
    pub(super) fn choose(
        &self,
        k: usize,
        beliefs: &[Belief],
        ctx: &Context,
    ) -> Result<Vec<(u32, u32)>, NoLabels> {
        let ranked: Vec<Vec<usize>> = beliefs.iter().map(|(_, b)| order::descending(b)).collect();
        let confidences: Vec<f64> =
            beliefs.iter().zip(&ranked).map(|((_, b), r)| b[r[0]]).collect();
        let order = order::descending(&confidences);
        let labels = match self.greedily(&order, &ranked) {
            Some(labels) => labels,
            None => match self.search(k, &order, &ranked, ctx)? {
                Some(labels) => labels,
                None => self.completely(k, beliefs, ctx)?,
            },
        };
        Ok(self.nodes.iter().zip(labels).map(|(&p, h)| (p, h as u32)).collect())
    }

    fn greedily(&self, order: &[usize], ranked: &[Vec<usize>]) -> Option<Vec<usize>> {
        let mut labels = vec![usize::MAX; self.nodes.len()];
        let free =
            |v: usize, h: usize, labels: &[usize]| self.near[v].iter().all(|&u| labels[u] != h);
        for &v in order {
            labels[v] = *ranked[v].iter().find(|&&h| free(v, h, &labels))?;
        }
        Some(labels)
    }

    fn search(
        &self,
        k: usize,
        order: &[usize],
        ranked: &[Vec<usize>],
        ctx: &Context,
    ) -> Result<Option<Vec<usize>>, NoLabels> {
        let mut state = Labelled {
            near: &self.near,
            labels: vec![usize::MAX; self.nodes.len()],
            taken: vec![vec![0; k]; self.nodes.len()],
            free: vec![k; self.nodes.len()],
        };
        // The nodes labelled so far, each with the rank of the label to try next.
        let mut path: Vec<(usize, usize)> = state.next(order).map(|v| (v, 0)).into_iter().collect();
        for tried in 0..TRIES {
            if tried.is_multiple_of(TRIES_PER_CHECK) {
                ctx.check()?;
            }
            let Some((v, rank)) = path.pop() else { break };
            state.take_back(v);
            let Some(rank) = (rank..k).find(|&r| state.taken[v][ranked[v][r]] == 0) else {
                continue;
            };
            state.put(v, ranked[v][rank]);
            path.push((v, rank + 1));
            match state.next(order) {
                Some(u) => path.push((u, 0)),
                None => return Ok(Some(state.labels)),
            }
        }
        Ok(None)
    }

    fn completely(
        &self,
        k: usize,
        beliefs: &[Belief],
        ctx: &Context,
    ) -> Result<Vec<usize>, NoLabels> {
        let edges: Vec<Vec<u32>> =
            self.near.iter().map(|near| near.iter().map(|&u| u as u32).collect()).collect();
        let cost = |v: u32, h: u32| -beliefs[v as usize].1[h as usize];
        match colour(&edges, k, &cost, NODE_LIMIT, ctx)? {
            Colouring::Found(labels) => Ok(labels.into_iter().map(|h| h as usize).collect()),
            Colouring::Impossible(few) => {
                Err(NoLabels::Impossible(few.into_iter().map(|v| self.nodes[v as usize]).collect()))
            }
            Colouring::Undecided => {
                Err(Error::UndecidedConstraints { k, node_limit: NODE_LIMIT }.into())
            }
        }
    }
}

/// Labels in the making.
struct Labelled<'a> {
    near: &'a [Vec<usize>],
    labels: Vec<usize>,
    /// Neighbours of each node that have each label.
    taken: Vec<Vec<u32>>,
    /// Labels that no neighbour of a node has.
    free: Vec<usize>,
}

impl Labelled<'_> {
    /// The node with the fewest free labels of those without one; of several the first in `order`.
    fn next(&self, order: &[usize]) -> Option<usize> {
        let open = order.iter().copied().filter(|&v| self.labels[v] == usize::MAX);
        open.min_by_key(|&v| self.free[v])
    }

    fn put(&mut self, v: usize, h: usize) {
        self.labels[v] = h;
        for &u in &self.near[v] {
            self.taken[u][h] += 1;
            self.free[u] -= usize::from(self.taken[u][h] == 1);
        }
    }

    /// Undoes `put`, if there is anything to undo.
    fn take_back(&mut self, v: usize) {
        let h = std::mem::replace(&mut self.labels[v], usize::MAX);
        if h == usize::MAX {
            return;
        }
        for &u in &self.near[v] {
            self.taken[u][h] -= 1;
            self.free[u] += usize::from(self.taken[u][h] == 0);
        }
    }
}

/// For each label log Σ exp b over all the other labels.
fn all_but_one(belief: &[f64], to: &mut [f64]) {
    let top = (1..belief.len()).fold(0, |top, h| if belief[h] > belief[top] { h } else { top });
    // The likeliest label weighs 1: what is left without any other is 1 at least, and nothing cancels.
    let mut all = 0.0;
    for (to, b) in to.iter_mut().zip(belief) {
        *to = (b - belief[top]).exp();
        all += *to;
    }
    to.iter_mut().for_each(|to| *to = belief[top] + (all - *to).ln());
    // Without it the others may weigh next to nothing.
    let others = belief.iter().enumerate().filter(|(h, _)| *h != top).map(|(_, b)| *b);
    to[top] = log_sum_exp(others);
}

/// log Σ exp v.
pub(super) fn log_sum_exp(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let top = values.clone().fold(f64::NEG_INFINITY, f64::max);
    if top == f64::NEG_INFINITY {
        return top;
    }
    top + values.map(|v| (v - top).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// One sum for all labels equals one for each, however far apart they are.
        #[test]
        fn all_but_one_is_the_sum_of_the_others(
            belief in proptest::collection::vec(-1.0f64..1.0, 2..9),
            scale in prop_oneof![Just(1.0), Just(50.0), Just(1e5)],
        ) {
            let belief: Vec<f64> = belief.iter().map(|b| scale * b).collect();
            let mut found = vec![0.0; belief.len()];
            all_but_one(&belief, &mut found);
            for (h, found) in found.iter().enumerate() {
                let others = belief.iter().enumerate().filter(|(g, _)| *g != h).map(|(_, b)| *b);
                let plain = log_sum_exp(others);
                prop_assert!((found - plain).abs() <= 1e-14 * (10.0 + scale), "{found} {plain}");
            }
        }
    }
}
