//! Probabilities of labels if few nodes of a part can share a label.
//!
//! Nodes of one label are an independent set of the part. Labels take their sets one after the other, and
//! which nodes are left says all about the labels before, so that sums over sets of nodes stand for all
//! labellings.

use ndarray::Array2;

use super::belief_propagation::{Belief, NoLabels};

/// Plain numbers are used if all labellings together weigh more than this, in units of the weight of the likeliest
/// labels of the nodes, each alone. Terms that underflow are then negligible.
const UNDERFLOW: f64 = 1e-200;
/// Terms this far below the largest, as logs, are left out of a sum.
const NOTHING: f64 = -60.0;

/// A part with its independent sets.
#[derive(Debug, Clone)]
pub(super) struct NodeSets {
    nodes: Vec<u32>,
    /// Sets of positions in `nodes`, as bits; the empty one is first.
    independent: Vec<usize>,
}

impl NodeSets {
    /// The part of these nodes, with the neighbours of each as positions in `nodes`; nothing where going
    /// through it takes more than `most` steps.
    pub(super) fn new(k: usize, nodes: &[u32], near: &[Vec<usize>], most: usize) -> Option<Self> {
        let count = u32::try_from(nodes.len()).ok()?;
        let sets = 1usize.checked_shl(count).filter(|sets| sets.saturating_mul(k) <= most)?;
        let near: Vec<usize> =
            near.iter().map(|near| near.iter().fold(0, |set, u| set | 1 << u)).collect();
        let mut independent = vec![0];
        let mut steps = k * sets;
        for v in 0..nodes.len() {
            for at in 0..independent.len() {
                let set = independent[at];
                if near[v] & set == 0 {
                    let more = set | 1 << v;
                    independent.push(more);
                    steps += k * (sets >> more.count_ones());
                    if steps > most {
                        return None;
                    }
                }
            }
        }
        Some(NodeSets { nodes: nodes.to_vec(), independent })
    }

    fn sets(&self) -> usize {
        1 << self.nodes.len()
    }

    /// Positions of the nodes of a set.
    fn members(&self, set: usize) -> impl Iterator<Item = usize> {
        (0..self.nodes.len()).filter(move |v| set >> v & 1 == 1)
    }

    /// Calls `visit(set, rest, run)` for every independent set, as its place, and all sets of other nodes: those
    /// from `rest` on, as many as `run`, which go with those from `rest` and the independent set on.
    fn steps(&self, mut visit: impl FnMut(usize, usize, usize)) {
        for (at, &set) in self.independent.iter().enumerate() {
            // Below its lowest node all sets are sets of others.
            let run = if set == 0 { self.sets() } else { set & set.wrapping_neg() };
            let others = (self.sets() - run) & !set;
            let mut rest = 0;
            loop {
                visit(at, rest, run);
                if rest == others {
                    break;
                }
                // The next set among the others, in ascending order.
                rest = rest.wrapping_sub(others) & others;
            }
        }
    }

    /// Log-weight of each independent set under each label.
    fn weights(&self, k: usize, theta: &Array2<f64>) -> Vec<Vec<f64>> {
        let theta = |v: usize, h: usize| theta[[self.nodes[v] as usize, h]];
        let weight = |h: usize| {
            self.independent.iter().map(move |&set| self.members(set).map(|v| theta(v, h)).sum())
        };
        (0..k).map(|h| weight(h).collect()).collect()
    }

    /// For every number of first labels and every set of nodes the largest log-weight with which those labels
    /// take that set.
    fn largest(&self, weights: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let mut none = vec![f64::NEG_INFINITY; self.sets()];
        none[0] = 0.0;
        let mut largest = vec![none];
        for (h, weights) in weights.iter().enumerate() {
            let mut next = vec![f64::NEG_INFINITY; self.sets()];
            let before = &largest[h];
            self.steps(|at, rest, run| {
                let to = &mut next[rest | self.independent[at]..][..run];
                for (to, before) in to.iter_mut().zip(&before[rest..][..run]) {
                    *to = to.max(before + weights[at]);
                }
            });
            largest.push(next);
        }
        largest
    }

    /// Log-partition and the marginals of the nodes.
    pub(super) fn marginals(
        &self,
        k: usize,
        theta: &Array2<f64>,
    ) -> Result<(f64, Vec<Belief>), NoLabels> {
        let weights = self.weights(k, theta);
        let (log_partition, shares) = match self.plainly(&weights, theta) {
            Some(found) => found,
            None => self.in_logs(&weights)?,
        };
        let mut beliefs = vec![vec![0.0; k]; self.nodes.len()];
        for (h, shares) in shares.iter().enumerate() {
            for (&set, share) in self.independent.iter().zip(shares) {
                self.members(set).for_each(|v| beliefs[v][h] += share);
            }
        }
        for belief in &mut beliefs {
            let all: f64 = belief.iter().sum();
            belief.iter_mut().for_each(|b| *b /= all);
        }
        Ok((log_partition, self.nodes.iter().copied().zip(beliefs).collect()))
    }

    /// Log-partition, and for each label in what share of the labellings it takes each independent set; nothing
    /// where all of them weigh too little for plain numbers.
    fn plainly(&self, weights: &[Vec<f64>], theta: &Array2<f64>) -> Option<(f64, Vec<Vec<f64>>)> {
        // The likeliest label of a node alone weighs 1.
        let row = |&p: &u32| theta.row(p as usize).fold(f64::NEG_INFINITY, |top, &v| top.max(v));
        let highest: Vec<f64> = self.nodes.iter().map(row).collect();
        let unit = |set: usize| self.members(set).map(|v| highest[v]).sum::<f64>();
        let units: Vec<f64> = self.independent.iter().map(|&set| unit(set)).collect();
        let plain = |weights: &Vec<f64>| -> Vec<f64> {
            weights.iter().zip(&units).map(|(w, unit)| (w - unit).exp()).collect()
        };
        let weights: Vec<Vec<f64>> = weights.iter().map(plain).collect();
        let mut none = vec![0.0; self.sets()];
        none[0] = 1.0;
        let mut before = vec![none];
        for (h, weights) in weights.iter().enumerate() {
            let mut next = vec![0.0; self.sets()];
            let taken = &before[h];
            self.steps(|at, rest, run| {
                let to = &mut next[rest | self.independent[at]..][..run];
                add_scaled(to, &taken[rest..][..run], weights[at]);
            });
            before.push(next);
        }
        let all = before[weights.len()][self.sets() - 1];
        if all < UNDERFLOW {
            return None;
        }
        let mut after = vec![0.0; self.sets()];
        after[self.sets() - 1] = 1.0 / all;
        let mut shares = vec![vec![0.0; self.independent.len()]; weights.len()];
        for (h, shares) in shares.iter_mut().enumerate().rev() {
            let mut next = vec![0.0; self.sets()];
            self.steps(|at, rest, run| {
                let (weight, to) = (weights[h][at], &mut next[rest..][..run]);
                let (before, after) =
                    (&before[h][rest..][..run], &after[rest | self.independent[at]..][..run]);
                add_scaled(to, after, weight);
                shares[at] += weight * dot(before, after);
            });
            after = next;
        }
        Some((all.ln() + highest.iter().sum::<f64>(), shares))
    }

    /// The same as logs, however little all weigh.
    fn in_logs(&self, weights: &[Vec<f64>]) -> Result<(f64, Vec<Vec<f64>>), NoLabels> {
        let (k, all) = (weights.len(), self.sets() - 1);
        let top = self.largest(weights);
        if top[k][all] == f64::NEG_INFINITY {
            return Err(NoLabels::Impossible(self.nodes.clone()));
        }
        let below = |h: usize, at: usize, rest: usize| {
            top[h][rest] + weights[h][at] - top[h + 1][rest | self.independent[at]]
        };
        // What the first labels weigh on a set is exp(top) · factor, with 1 ≤ factor.
        let mut factor = vec![vec![0.0; self.sets()]; k + 1];
        factor[0][0] = 1.0;
        for h in 0..k {
            let (before, after) = factor.split_at_mut(h + 1);
            self.steps(|at, first, run| {
                for rest in first..first + run {
                    let below = below(h, at, rest);
                    if below > NOTHING {
                        after[0][rest | self.independent[at]] += before[h][rest] * below.exp();
                    }
                }
            });
        }
        // From the last label on: the share of each set among all labellings.
        let mut left = vec![0.0; self.sets()];
        left[all] = 1.0;
        let mut shares = vec![vec![0.0; self.independent.len()]; k];
        for (h, shares) in shares.iter_mut().enumerate().rev() {
            let mut next = vec![0.0; self.sets()];
            self.steps(|at, first, run| {
                for rest in first..first + run {
                    let set = rest | self.independent[at];
                    let below = below(h, at, rest);
                    if left[set] > 0.0 && below > NOTHING {
                        let share = left[set] * factor[h][rest] / factor[h + 1][set] * below.exp();
                        next[rest] += share;
                        shares[at] += share;
                    }
                }
            });
            left = next;
        }
        Ok((top[k][all] + factor[k][all].ln(), shares))
    }

    /// The likeliest labels.
    pub(super) fn best(&self, k: usize, theta: &Array2<f64>) -> Result<Vec<(u32, u32)>, NoLabels> {
        let weights = self.weights(k, theta);
        let top = self.largest(&weights);
        let mut left = self.sets() - 1;
        if top[k][left] == f64::NEG_INFINITY {
            return Err(NoLabels::Impossible(self.nodes.clone()));
        }
        let mut labels = vec![0; self.nodes.len()];
        for h in (0..k).rev() {
            let fits = |&at: &usize| {
                let set = self.independent[at];
                set & left == set && top[h][left ^ set] + weights[h][at] == top[h + 1][left]
            };
            let at = (0..self.independent.len()).find(fits).expect("what gave the largest weight");
            let set = self.independent[at];
            self.members(set).for_each(|v| labels[v] = h as u32);
            left ^= set;
        }
        Ok(self.nodes.iter().copied().zip(labels).collect())
    }
}

/// to += scale · from.
fn add_scaled(to: &mut [f64], from: &[f64], scale: f64) {
    // By index: short loops, of which there are many.
    for at in 0..to.len().min(from.len()) {
        to[at] += scale * from[at];
    }
}

/// Σ a·b in four sums, which need not wait for one another.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let len = a.len().min(b.len());
    let fours = len - len % 4;
    for at in (0..fours).step_by(4) {
        for (lane, sum) in sums.iter_mut().enumerate() {
            *sum += a[at + lane] * b[at + lane];
        }
    }
    let mut rest = 0.0;
    for at in fours..len {
        rest += a[at] * b[at];
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}
