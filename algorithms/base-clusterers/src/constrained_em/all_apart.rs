//! Probabilities of labels if all nodes of a part are apart from one another.
//!
//! Their labellings are the ways to give the nodes different labels. Which labels are taken says all about
//! the nodes before, so that sums over 2^k sets of labels stand for the k!/(k − g)! labellings of g nodes.

use mustlink_kernels::agreement::linear_assignment::{Potentials, maximise_with_potentials};
use ndarray::Array2;

use super::belief_propagation::{Belief, NoLabels};

/// Nodes that are all neighbours of one another.
#[derive(Debug, Clone)]
pub(super) struct AllApart {
    nodes: Vec<u32>,
}

impl AllApart {
    /// The part of these nodes; nothing where two of them are not neighbours, or where going through the sets of
    /// labels takes more than `most` steps.
    pub(super) fn new(k: usize, nodes: &[u32], near: &[Vec<usize>], most: usize) -> Option<Self> {
        let all = near.iter().all(|near| near.len() + 1 == nodes.len());
        let sets = u32::try_from(k).ok().and_then(|k| 1usize.checked_shl(k))?;
        let fits = sets.checked_mul(k).is_some_and(|steps| steps <= most);
        (all && fits).then(|| AllApart { nodes: nodes.to_vec() })
    }

    /// The likeliest labelling, with the potentials under which no other weighs more than 1.
    fn assignment(
        &self,
        k: usize,
        theta: &Array2<f64>,
    ) -> Result<(Vec<f64>, Potentials), NoLabels> {
        if self.nodes.len() > k {
            return Err(NoLabels::Impossible(self.nodes.clone()));
        }
        let values: Vec<f64> =
            self.nodes.iter().flat_map(|&p| theta.row(p as usize)).copied().collect();
        let found = maximise_with_potentials(&values, self.nodes.len(), k)?;
        Ok((values, found))
    }

    /// Log-partition and the marginals of the nodes.
    pub(super) fn marginals(
        &self,
        k: usize,
        theta: &Array2<f64>,
    ) -> Result<(f64, Vec<Belief>), NoLabels> {
        let (values, best) = self.assignment(k, theta)?;
        let count = self.nodes.len();
        // With the potentials the best labelling weighs 1 and each other at most 1: what underflows is nothing.
        let weight: Vec<f64> = values
            .iter()
            .enumerate()
            .map(|(at, v)| (v + best.rows[at / k] + best.columns[at % k]).exp().min(1.0))
            .collect();
        let taken = |set: usize| set.count_ones() as usize;
        let bits = |set: usize| (0..k).filter(move |h| set >> h & 1 == 1);
        // Σ over labellings of the first nodes with the labels of a set, and over those of the others with
        // labels outside it. A column that is free has its potential taken back.
        let mut before = vec![0.0; 1 << k];
        before[0] = 1.0;
        for set in (1..1 << k).filter(|&set| taken(set) <= count) {
            let row = (taken(set) - 1) * k;
            before[set] = bits(set).map(|h| before[set ^ 1 << h] * weight[row + h]).sum();
        }
        let all = (1 << k) - 1;
        let mut after = vec![0.0; 1 << k];
        let mut beliefs = vec![0.0; count * k];
        for set in (0..1 << k).rev().filter(|&set| taken(set) <= count) {
            let row = taken(set) * k;
            after[set] = if taken(set) == count {
                bits(all ^ set).map(|h| best.columns[h]).sum::<f64>().exp()
            } else {
                let mut sum = 0.0;
                for h in bits(all ^ set) {
                    let rest = weight[row + h] * after[set | 1 << h];
                    beliefs[row + h] += before[set] * rest;
                    sum += rest;
                }
                sum
            };
        }
        let potentials: f64 = best.rows.iter().chain(&best.columns).sum();
        let belief = |(&p, row): (&u32, &[f64])| {
            let all: f64 = row.iter().sum();
            (p, row.iter().map(|b| b / all).collect())
        };
        let rows = self.nodes.iter().zip(beliefs.chunks_exact(k)).map(belief).collect();
        Ok((after[0].ln() - potentials, rows))
    }

    /// The likeliest labels, all different.
    pub(super) fn best(&self, k: usize, theta: &Array2<f64>) -> Result<Vec<(u32, u32)>, NoLabels> {
        let (_, best) = self.assignment(k, theta)?;
        Ok(self.nodes.iter().zip(best.column_of).map(|(&p, h)| (p, h as u32)).collect())
    }
}
