//! The rounds of LAC, in which centres and feature weights follow from each other.

use std::collections::HashMap;

use mustlink_core::clustering::{canonical, partition_hash};
use mustlink_core::prelude::*;
use mustlink_kernels::kmeans::lloyd::Empty;
use mustlink_kernels::kmeans::nearest::weighted::{
    Moments, Weighted, weighted_distance, write_row,
};
use ndarray::{Array2, ArrayView1};

/// Cost that an object compares when it chooses a cluster.
#[options]
pub enum AssignRule {
    /// The weighted distance to its centre, as published; the objective may rise.
    #[default]
    Printed,
    /// The weighted squared distance plus h times the negative entropy of the weights. No step raises the objective.
    Entropy,
}

/// Objects that do not choose their cluster by themselves.
pub(crate) trait Placement {
    /// For every object, true if [`Placement::place`] places it.
    fn held(&self) -> Option<&[bool]>;
    /// Places what is held. `pass` counts the assignments of a run.
    fn place(&self, weighted: &Weighted, pass: usize, labels: &mut [u32]) -> Result<()>;
    /// Objects that are never parted.
    fn groups(&self) -> Vec<&[u32]>;
    /// Constraints that `labels` break.
    fn violations(&self, labels: &[u32]) -> Option<usize>;
}

/// Every object chooses by itself.
pub(crate) struct Free;

impl Placement for Free {
    fn held(&self) -> Option<&[bool]> {
        None
    }
    fn place(&self, _: &Weighted, _: usize, _: &mut [u32]) -> Result<()> {
        Ok(())
    }
    fn groups(&self) -> Vec<&[u32]> {
        vec![]
    }
    fn violations(&self, _: &[u32]) -> Option<usize> {
        None
    }
}

/// The rules of a run.
pub(crate) struct Rounds<'a> {
    pub data: &'a Data,
    pub h: f64,
    pub assign_rule: AssignRule,
    pub empty: Empty,
    pub max_iterations: usize,
}

/// State of a run.
#[derive(Clone)]
struct State {
    labels: Vec<u32>,
    centres: Array2<f64>,
    weights: Array2<f64>,
}

impl State {
    fn new(n: usize, centres: Array2<f64>) -> Self {
        let weights = Array2::from_elem(centres.dim(), 1.0 / centres.ncols() as f64);
        State { labels: vec![NONE; n], centres, weights }
    }
}

impl Rounds<'_> {
    /// Runs from `start`, k × d. A partition that comes back after others ends the run with the one
    /// since then that has the smallest objective.
    pub(crate) fn run(
        &self,
        start: Array2<f64>,
        placement: &impl Placement,
        ctx: &Context,
    ) -> Result<Clustering> {
        let n = self.data.n();
        let mut now = State::new(n, start.clone());
        let mut history: Vec<IterStat> = Vec::new();
        let mut previous: Vec<u32> = Vec::new();
        let mut seen: HashMap<[u8; 16], usize> = HashMap::new();
        let mut status = Status::MaxIter;
        for round in 0..self.max_iterations {
            ctx.check()?;
            history.push(self.round(round, &mut now, placement)?);
            let partition = canonical(&now.labels);
            if partition == previous {
                status = Status::Converged;
                break;
            }
            previous = partition;
            if let Some(before) = seen.insert(partition_hash(&now.labels), round) {
                status = Status::Cycle;
                let objective = |r: usize| history[r].objective;
                let best = (before + 1..=round)
                    .fold(round, |b, r| if objective(r) < objective(b) { r } else { b });
                history.truncate(best + 1);
                if best < round {
                    // One more run takes less than to keep the labels of all rounds.
                    now = State::new(n, start);
                    for round in 0..=best {
                        ctx.check()?;
                        self.round(round, &mut now, placement)?;
                    }
                }
                break;
            }
        }
        Ok(Clustering {
            labels: now.labels,
            k: now.centres.nrows(),
            objective: history.last().map(|s| s.objective),
            history,
            status,
            extras: Extras {
                centers: Some(now.centres),
                weights: Some(now.weights),
                geometry: Geometry::Weighted,
                ..Extras::default()
            },
        })
    }

    /// Two passes over the data: objects choose and weights follow; objects choose again and centres follow.
    fn round(&self, round: usize, now: &mut State, placement: &impl Placement) -> Result<IterStat> {
        let before = now.labels.clone();
        let moments = self.assign(2 * round, now, placement)?;
        for (h, &size) in moments.sizes.iter().enumerate() {
            if size > 0 {
                let variances: Vec<f64> =
                    moments.squares.row(h).iter().map(|q| q / size as f64).collect();
                now.weights.row_mut(h).assign(&ArrayView1::from(&self.weights(&variances)));
            }
        }
        let mut moments = self.assign(2 * round + 1, now, placement)?;
        // About the new means: Σ (x − m)² = Σ (x − µ)² − (Σ (x − µ))² / size.
        for (h, &size) in moments.sizes.iter().enumerate() {
            let size = size as f64;
            for s in 0..now.centres.ncols() {
                let sum = moments.sums[[h, s]];
                if size > 0.0 {
                    now.centres[[h, s]] += sum / size;
                    let square = &mut moments.squares[[h, s]];
                    *square = (*square - sum * sum / size).max(0.0);
                }
            }
        }
        if moments.sizes.contains(&0) && self.refill(now, &mut moments.sizes, placement)? {
            let all = vec![true; before.len()];
            let weighted = Weighted::new(&now.centres, &now.weights, &[]);
            moments = weighted.sweep(self.data, &mut now.labels, Some(&all));
        }
        let moved = now.labels.iter().zip(&before).filter(|(a, b)| a != b).count();
        let objective = self.objective(&moments, &now.weights);
        Ok(IterStat { objective, moved, violations: placement.violations(&now.labels) })
    }

    fn assign(&self, pass: usize, now: &mut State, placement: &impl Placement) -> Result<Moments> {
        let constants: Vec<f64> = match self.assign_rule {
            AssignRule::Printed => vec![],
            AssignRule::Entropy => {
                now.weights.outer_iter().map(|w| self.h * negative_entropy(w)).collect()
            }
        };
        let weighted = Weighted::new(&now.centres, &now.weights, &constants);
        placement.place(&weighted, pass, &mut now.labels)?;
        Ok(weighted.sweep(self.data, &mut now.labels, placement.held()))
    }

    /// exp(−V / h) over their sum. The smallest variance is subtracted: on raw data V / h can be so
    /// large that every exponential would be 0.
    fn weights(&self, variances: &[f64]) -> Vec<f64> {
        let least = variances.iter().copied().fold(f64::INFINITY, f64::min);
        let shifted = |v: f64| if v == least { 1.0 } else { (-(v - least) / self.h).exp() };
        let mut weights: Vec<f64> = variances.iter().map(|&v| shifted(v)).collect();
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|w| *w /= total);
        weights
    }

    /// Σ over objects of Σ w (x − µ)² + h Σ w ln w.
    fn objective(&self, about: &Moments, weights: &Array2<f64>) -> f64 {
        let cluster = |h: usize| {
            let spread: f64 =
                weights.row(h).iter().zip(about.squares.row(h)).map(|(w, q)| w * q).sum();
            spread + self.h * about.sizes[h] as f64 * negative_entropy(weights.row(h))
        };
        (0..weights.nrows()).filter(|&h| about.sizes[h] > 0).map(cluster).sum()
    }

    /// Fills empty clusters by the `empty` rule, with the groups or objects that are farthest, in
    /// all, from a centre that keeps others; the objective does not rise. Whether any moved.
    fn refill(
        &self,
        now: &mut State,
        sizes: &mut [usize],
        placement: &impl Placement,
    ) -> Result<bool> {
        let mut any = false;
        let singles: Vec<u32> = (0..now.labels.len() as u32).collect();
        let held = placement.held();
        let mut units = placement.groups();
        units.extend(singles.chunks(1).filter(|i| !held.is_some_and(|h| h[i[0] as usize])));
        units.sort_by_key(|u| u[0]);
        for h in 0..sizes.len() {
            if sizes[h] > 0 {
                continue;
            }
            match self.empty {
                Empty::Keep => continue,
                Empty::Error => {
                    let place = format!("cluster {h} is empty (empty = \"error\")");
                    return Err(Error::NumericalFailure { place });
                }
                Empty::Reseed => {}
            }
            let mut best: Option<(f64, &[u32])> = None;
            for unit in &units {
                let own = now.labels[unit[0] as usize] as usize;
                if sizes[own] > unit.len() {
                    let total = self.spread(unit, now.centres.row(own), now.weights.row(own));
                    if best.is_none_or(|b| total > b.0) {
                        best = Some((total, unit));
                    }
                }
            }
            // What the other empty clusters could take is no better.
            let Some((total, unit)) = best else { break };
            let own = now.labels[unit[0] as usize] as usize;
            let (centre, variances) = self.about_mean(unit);
            let weights = self.weights(&variances);
            let alone = self.spread(unit, ArrayView1::from(&centre), ArrayView1::from(&weights));
            let size: f64 = unit.iter().map(|&i| self.data.norm2(i as usize)).sum();
            // An object on its centre stays there, with its duplicates.
            if total - alone <= 64.0 * f64::EPSILON * (size + 1e-300) {
                break;
            }
            let price = |w| self.h * unit.len() as f64 * negative_entropy(w);
            let before = total + price(now.weights.row(own));
            if alone + price(ArrayView1::from(&weights)) > before {
                break;
            }
            unit.iter().for_each(|&i| now.labels[i as usize] = h as u32);
            sizes[h] = unit.len();
            sizes[own] -= unit.len();
            now.centres.row_mut(h).assign(&ArrayView1::from(&centre));
            now.weights.row_mut(h).assign(&ArrayView1::from(&weights));
            let of_own = |&i: &u32| now.labels[i as usize] as usize == own;
            let left: Vec<u32> = singles.iter().copied().filter(of_own).collect();
            now.centres.row_mut(own).assign(&ArrayView1::from(&self.about_mean(&left).0));
            any = true;
        }
        Ok(any)
    }

    fn spread(&self, unit: &[u32], centre: ArrayView1<f64>, weights: ArrayView1<f64>) -> f64 {
        let (centre, weights) =
            (centre.to_slice().expect("a row"), weights.to_slice().expect("a row"));
        let mut x = vec![0.0; centre.len()];
        let each = unit.iter().map(|&i| {
            write_row(self.data, i as usize, &mut x);
            weighted_distance(&x, centre, weights)
        });
        each.sum()
    }

    /// Mean and variances of some objects, at least one.
    fn about_mean(&self, unit: &[u32]) -> (Vec<f64>, Vec<f64>) {
        let (size, d) = (unit.len() as f64, self.data.d());
        let (mut mean, mut variances, mut x) = (vec![0.0; d], vec![0.0; d], vec![0.0; d]);
        unit.iter().for_each(|&i| self.data.row(i as usize).add_to(&mut mean, 1.0));
        mean.iter_mut().for_each(|m| *m /= size);
        for &i in unit {
            write_row(self.data, i as usize, &mut x);
            for ((v, x), m) in variances.iter_mut().zip(&x).zip(&mean) {
                *v += (x - m) * (x - m) / size;
            }
        }
        (mean, variances)
    }
}

/// Σ w ln w, with 0 ln 0 = 0.
fn negative_entropy(weights: ArrayView1<f64>) -> f64 {
    weights.iter().filter(|&&w| w > 0.0).map(|w| w * w.ln()).sum()
}
