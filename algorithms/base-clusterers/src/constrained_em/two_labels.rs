//! Probabilities of labels if there are two labels.
//!
//! A connected part then has two labellings, whatever its edges: the label of one node decides all
//! others.

use ndarray::Array2;

use super::belief_propagation::{Belief, log_sum_exp};

/// A connected part under two labels.
#[derive(Debug, Clone)]
pub(super) struct TwoLabels {
    nodes: Vec<u32>,
    /// Label of each node where the first has label 0.
    side: Vec<usize>,
}

impl TwoLabels {
    /// The part of these nodes, with the neighbours of each as positions in `nodes`; nothing where there
    /// are not two labels or where an odd cycle leaves no labelling.
    pub(super) fn new(k: usize, nodes: &[u32], near: &[Vec<usize>]) -> Option<Self> {
        if k != 2 {
            return None;
        }
        let mut side = vec![usize::MAX; nodes.len()];
        side[0] = 0;
        let mut open = vec![0];
        while let Some(v) = open.pop() {
            for &u in &near[v] {
                if side[u] == side[v] {
                    return None;
                }
                if side[u] == usize::MAX {
                    side[u] = 1 - side[v];
                    open.push(u);
                }
            }
        }
        Some(TwoLabels { nodes: nodes.to_vec(), side })
    }

    /// Log-weight of the labelling that gives the first node label 0, and of the other one.
    fn weights(&self, theta: &Array2<f64>) -> [f64; 2] {
        let own = |(&p, &side): (&u32, &usize), first: usize| theta[[p as usize, side ^ first]];
        [0, 1].map(|first| self.nodes.iter().zip(&self.side).map(|v| own(v, first)).sum())
    }

    /// Log-partition and the marginals of the nodes.
    pub(super) fn marginals(&self, theta: &Array2<f64>) -> (f64, Vec<Belief>) {
        let weights = self.weights(theta);
        let log_partition = log_sum_exp(weights.into_iter());
        let share = weights.map(|w| (w - log_partition).exp());
        let belief = |(&p, &side): (&u32, &usize)| (p, vec![share[side], share[1 - side]]);
        (log_partition, self.nodes.iter().zip(&self.side).map(belief).collect())
    }

    /// The likelier of the two labellings; of two alike that which gives the first node label 0.
    pub(super) fn best(&self, theta: &Array2<f64>) -> Vec<(u32, u32)> {
        let weights = self.weights(theta);
        let first = usize::from(weights[1] > weights[0]);
        self.nodes.iter().zip(&self.side).map(|(&p, side)| (p, (side ^ first) as u32)).collect()
    }
}
