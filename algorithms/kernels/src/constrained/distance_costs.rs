//! Costs of broken constraints that depend on distances.
//!
//! A broken must-link costs w·½(‖x_i − x_j‖² under the metrics of both clusters), a broken
//! cannot-link w̄·(R − ‖x_i − x_j‖²) with R the squared length of the cluster's largest difference.
//! The closure is never expanded where weights are equal: for each component and cluster the
//! number of members, Σx and Σ xᵀAx are kept (a *cell*), also for each group whose members must all be
//! apart, from which
//! Σ_j ‖x_i − x_j‖² = n·x_iᵀAx_i − 2·(Ax_i)ᵀΣx_j + Σ x_jᵀAx_j. The gradient by A needs the same
//! sums and no loop over pairs. Other weights, and contradicting cannot-links, use lists of
//! partners. Positions are taken relative to the mean of the coupled objects, so that large
//! offsets of features do not cancel digits.
//!
//! Sources: [Bilenko2004] eq. 3–6; [Eaton2005] §2.6, which has all formulas.

use std::sync::Arc;

use ndarray::Array2;

use mustlink_core::clustering::NONE;
use mustlink_core::constraints::Kind;
use mustlink_core::data::Data;

use crate::constrained::constraint_groups::ConstraintGroups;
use crate::constrained::icm::PairwiseCosts;
use crate::constrained::mahalanobis::{Metric, Scatter};
use crate::distance::points::{inner_product, row};

/// Members of a component (or of all components apart from it) in one cluster.
#[derive(Clone)]
struct Cell {
    label: u32,
    count: f64,
    /// Σ x.
    sum: Vec<f64>,
    /// Σ xᵀAx, for each metric.
    norms: Vec<f64>,
}

impl Cell {
    fn add(&mut self, times: f64, other: &Cell) {
        self.count += times * other.count;
        self.sum.iter_mut().zip(&other.sum).for_each(|(s, v)| *s += times * v);
        self.norms.iter_mut().zip(&other.norms).for_each(|(s, v)| *s += times * v);
    }

    fn scale(&mut self, by: f64) {
        self.count *= by;
        self.sum.iter_mut().chain(&mut self.norms).for_each(|v| *v *= by);
    }
}

/// The cell of cluster `label`, if it exists.
fn of_label(cells: &[Cell], label: u32) -> Option<&Cell> {
    cells.iter().find(|cell| cell.label == label)
}

/// Violation costs under the current labels and metrics.
pub struct MetricPenalties {
    links: Arc<ConstraintGroups>,
    /// Row of each coupled object in `positions`, else `NONE`.
    place: Vec<u32>,
    positions: Array2<f64>,
    /// One metric for all clusters, or one each.
    metrics: Vec<Metric>,
    /// A·x of every coupled object, for each metric.
    applied: Vec<Array2<f64>>,
    /// xᵀAx of every coupled object, for each metric.
    norms: Vec<Vec<f64>>,
    /// The largest difference, for each metric, and its squared length.
    spans: Vec<Vec<f64>>,
    reach: Vec<f64>,
    cells: Vec<Vec<Cell>>,
    /// Cells over all components apart from one, for components with many of those.
    near: Vec<Option<Vec<Cell>>>,
    /// The components of those that each component is apart from.
    told: Vec<Vec<u32>>,
    /// Cells over all components of each clique.
    cliques: Vec<Vec<Cell>>,
    scratch: (Vec<f64>, Vec<f64>),
}

impl MetricPenalties {
    /// Costs of `links` for k clusters over dense or sparse objects. Nothing is labelled before the
    /// first [`MetricPenalties::set`].
    pub fn new(links: &Arc<ConstraintGroups>, data: &Data, k: usize) -> Self {
        let objects = links.objects();
        let mut place = vec![NONE; data.n()];
        let mut positions = Array2::zeros((objects.len(), data.d()));
        for (at, &i) in objects.iter().enumerate() {
            place[i as usize] = at as u32;
            let mut to = positions.row_mut(at);
            data.row(i as usize).add_to(to.as_slice_mut().expect("standard layout"), 1.0);
        }
        if let Some(mean) = positions.mean_axis(ndarray::Axis(0)) {
            positions -= &mean;
        }
        let many = |p: usize| links.apart[p].len() > 2 * k;
        let near = (0..links.apart.len()).map(|p| many(p).then(Vec::new)).collect();
        let told = |apart: &Vec<u32>| apart.iter().copied().filter(|&q| many(q as usize)).collect();
        let told = links.apart.iter().map(told).collect();
        MetricPenalties {
            links: links.clone(),
            place,
            positions,
            metrics: Vec::new(),
            applied: Vec::new(),
            norms: Vec::new(),
            spans: Vec::new(),
            reach: Vec::new(),
            cells: vec![Vec::new(); links.apart.len()],
            near,
            told,
            cliques: vec![Vec::new(); links.cliques.len()],
            scratch: Default::default(),
        }
    }

    /// Changes to these metrics (one, or one per cluster) with the largest difference under each,
    /// and counts `labels` again, which also removes the rounding errors of running sums.
    pub fn set(&mut self, metrics: &[Metric], spans: &[Vec<f64>], labels: &[u32]) {
        self.metrics = metrics.to_vec();
        self.spans = spans.to_vec();
        self.reach = metrics.iter().zip(spans).map(|(a, r)| a.square(r)).collect();
        self.applied = metrics.iter().map(|a| a.applied(&self.positions)).collect();
        let x = &self.positions;
        let square = |applied: &Array2<f64>, at: usize| inner_product(row(applied, at), row(x, at));
        let norms = |applied| (0..x.nrows()).map(|at| square(applied, at)).collect();
        self.norms = self.applied.iter().map(norms).collect();
        self.cells.iter_mut().for_each(Vec::clear);
        self.near.iter_mut().flatten().for_each(Vec::clear);
        self.cliques.iter_mut().for_each(Vec::clear);
        for at in 0..self.links.objects().len() {
            let i = self.links.objects()[at] as usize;
            self.moved(i, NONE, labels[i]);
        }
    }

    /// The metric of cluster `h`.
    fn of(&self, h: u32) -> usize {
        if self.metrics.len() == 1 { 0 } else { h as usize }
    }

    /// Σ over the objects of a cell of their squared distance to object `at`, under metric `m`.
    fn spread(&self, cell: &Cell, at: usize, m: usize) -> f64 {
        self.spread_without(cell, None, at, m)
    }

    /// The same for the objects of a cell that are not in another, which is a part of it.
    fn spread_without(&self, cell: &Cell, part: Option<&Cell>, at: usize, m: usize) -> f64 {
        let x = row(&self.applied[m], at);
        let (mut count, mut norm) = (cell.count, cell.norms[m]);
        let mut cross = inner_product(x, &cell.sum);
        if let Some(part) = part {
            count -= part.count;
            norm -= part.norms[m];
            cross -= inner_product(x, &part.sum);
        }
        (count * self.norms[m][at] - 2.0 * cross + norm).max(0.0)
    }

    fn between(&self, at: usize, to: usize, m: usize) -> f64 {
        let cross = inner_product(row(&self.applied[m], at), row(&self.positions, to));
        (self.norms[m][at] + self.norms[m][to] - 2.0 * cross).max(0.0)
    }

    fn shift(
        cells: &mut Vec<Cell>,
        label: u32,
        sign: f64,
        x: &[f64],
        norms: &[Vec<f64>],
        at: usize,
    ) {
        let found = cells.iter().position(|c| c.label == label);
        let cell = match found {
            Some(c) => &mut cells[c],
            None => {
                let (sum, norms) = (vec![0.0; x.len()], vec![0.0; norms.len()]);
                // Most components have one.
                cells.reserve_exact(1);
                cells.push(Cell { label, count: 0.0, sum, norms });
                cells.last_mut().expect("just pushed")
            }
        };
        cell.count += sign;
        cell.sum.iter_mut().zip(x).for_each(|(s, v)| *s += sign * v);
        cell.norms.iter_mut().zip(norms).for_each(|(s, v)| *s += sign * v[at]);
        if cell.count == 0.0 {
            let c = found.expect("a cell that empties was there");
            cells.remove(c);
        }
    }

    /// Adds the must-link and cannot-link costs of object `at` of component `p`.
    fn add_component(&self, p: usize, at: usize, must: &mut [f64], cannot: &mut [f64]) {
        let k = must.len();
        let cells = &self.cells[p];
        if self.metrics.len() == 1 {
            let mut all = 0.0;
            for cell in cells {
                let spread = self.spread(cell, at, 0);
                all += spread;
                must[cell.label as usize] -= spread;
            }
            must.iter_mut().for_each(|m| *m += all);
        } else if !cells.is_empty() {
            let mut total = Cell {
                label: NONE,
                count: 0.0,
                sum: vec![0.0; self.positions.ncols()],
                norms: vec![0.0; k],
            };
            let mut own = 0.0;
            for cell in cells {
                total.add(1.0, cell);
                let h = cell.label as usize;
                let spread = self.spread(cell, at, h);
                own += spread;
                // ½ under the metric of the cluster chosen, ½ under that of the partner.
                must[h] -= spread;
            }
            for h in 0..k {
                must[h] += 0.5 * (self.spread(&total, at, h) + own);
            }
        }
        let apart = |cell: &Cell| {
            let m = self.of(cell.label);
            self.reach[m] * cell.count - self.spread(cell, at, m)
        };
        let near: &mut dyn Iterator<Item = &Cell> = match &self.near[p] {
            Some(near) => &mut near.iter(),
            None => &mut self.links.apart[p].iter().flat_map(|&q| &self.cells[q as usize]),
        };
        for cell in near {
            cannot[cell.label as usize] += apart(cell);
        }
        for &clique in self.links.cliques_of.of(p) {
            let weight = self.links.clique_weights[clique as usize];
            for cell in &self.cliques[clique as usize] {
                let own = of_label(cells, cell.label);
                let others = cell.count - own.map_or(0.0, |own| own.count);
                if others > 0.0 {
                    let m = self.of(cell.label);
                    let spread = self.spread_without(cell, own, at, m);
                    cannot[cell.label as usize] += weight * (self.reach[m] * others - spread);
                }
            }
        }
    }

    /// Adds the costs of the explicit pairs of object `i`.
    fn add_partners(&self, i: usize, labels: &[u32], must: &mut [f64], cannot: &mut [f64]) {
        let Some(partners) = self.links.partners.get(&(i as u32)) else { return };
        let at = self.place[i] as usize;
        for &(j, w, kind) in partners {
            let l = labels[j as usize];
            if l == NONE {
                continue;
            }
            let to = self.place[j as usize] as usize;
            let there = self.between(at, to, self.of(l));
            match kind {
                Kind::CannotLink => {
                    cannot[l as usize] += w * (self.reach[self.of(l)] - there);
                }
                Kind::MustLink => {
                    for h in (0..must.len()).filter(|&h| h != l as usize) {
                        let here = match self.metrics.len() {
                            1 => there,
                            _ => self.between(at, to, h),
                        };
                        must[h] += w * 0.5 * (here + there);
                    }
                }
            }
        }
    }

    /// The violations as a scatter for each metric, such that their cost is Σ tr(A·scatter), and
    /// their number.
    pub fn scatter(&self, labels: &[u32]) -> (Vec<Scatter>, usize) {
        let (d, links) = (self.positions.ncols(), &*self.links);
        let full = matches!(self.metrics[0], Metric::Full { .. });
        let mut out = vec![Scatter::zero(full, d); self.metrics.len()];
        let mut number = 0.0;
        let position = |i: u32| row(&self.positions, self.place[i as usize] as usize);
        for p in 0..links.apart.len() {
            let cells = &self.cells[p];
            if cells.len() > 1 {
                self.must_scatter(p, labels, &mut out);
                let all: f64 = cells.iter().map(|c| c.count).sum();
                number += 0.5 * cells.iter().map(|c| c.count * (all - c.count)).sum::<f64>();
            }
            for (cell, near, pairs) in self.met(p) {
                let m = self.of(cell.label);
                // Every separated pair is met from both ends.
                number += 0.5 * pairs;
                let weighed = 0.5 * cell.count * near.count;
                out[m].add_square(links.cannot * weighed, &self.spans[m]);
                out[m].add_product(links.cannot, &cell.sum, &near.sum);
                for &i in links.members[p].iter().filter(|&&i| labels[i as usize] == cell.label) {
                    out[m].add_square(-links.cannot * near.count, position(i));
                }
            }
        }
        for c in links.explicit.iter().filter(|c| c.is_violated(labels)) {
            number += 1.0;
            let difference: Vec<f64> =
                position(c.i).iter().zip(position(c.j)).map(|(a, b)| a - b).collect();
            let (a, b) = (self.of(labels[c.i as usize]), self.of(labels[c.j as usize]));
            match c.kind {
                Kind::MustLink => {
                    out[a].add_square(0.5 * links.must * c.weight, &difference);
                    out[b].add_square(0.5 * links.must * c.weight, &difference);
                }
                Kind::CannotLink => {
                    out[a].add_square(links.cannot * c.weight, &self.spans[a]);
                    out[a].add_square(-links.cannot * c.weight, &difference);
                }
            }
        }
        (out, number as usize)
    }

    /// Σ over pairs of component `p` in different clusters of w·½(x_i − x_j)(x_i − x_j)ᵀ, once for
    /// the metric of each end: Σ_i (partners of i) x_i x_iᵀ less the products of the sums.
    fn must_scatter(&self, p: usize, labels: &[u32], out: &mut [Scatter]) {
        let (cells, w) = (&self.cells[p], self.links.must);
        let all: f64 = cells.iter().map(|c| c.count).sum();
        let mut total = vec![0.0; self.positions.ncols()];
        cells.iter().for_each(|c| total.iter_mut().zip(&c.sum).for_each(|(t, s)| *t += s));
        for cell in cells {
            let m = self.of(cell.label);
            let rest: Vec<f64> = total.iter().zip(&cell.sum).map(|(t, s)| t - s).collect();
            out[m].add_product(-w, &cell.sum, &rest);
            for &i in &self.links.members[p] {
                let there =
                    if labels[i as usize] == cell.label { all - cell.count } else { cell.count };
                let x = row(&self.positions, self.place[i as usize] as usize);
                out[m].add_square(0.5 * w * there, x);
            }
        }
    }

    /// The cells of component `p` with, in the same cluster, all objects it must be apart from, those of a clique
    /// times its weight, and the number of pairs between both.
    fn met(&self, p: usize) -> Vec<(&Cell, Cell, f64)> {
        let mut met: Vec<(&Cell, Cell, f64)> = Vec::new();
        for cell in &self.cells[p] {
            let near: Vec<&Cell> = match &self.near[p] {
                Some(near) => of_label(near, cell.label).into_iter().collect(),
                None => {
                    let apart = self.links.apart[p].iter();
                    apart.filter_map(|&q| of_label(&self.cells[q as usize], cell.label)).collect()
                }
            };
            let around = self.links.cliques_of.of(p).iter().map(|&clique| {
                let mut rest = of_label(&self.cliques[clique as usize], cell.label)
                    .expect("a clique counts its components")
                    .clone();
                rest.add(-1.0, cell);
                (rest, self.links.clique_weights[clique as usize])
            });
            let rest = around.filter(|(rest, _)| rest.count > 0.0);
            let mut near = near.into_iter().map(|near| (near.clone(), 1.0)).chain(rest);
            let Some((mut sum, weight)) = near.next() else { continue };
            let mut count = sum.count;
            sum.scale(weight);
            near.for_each(|(more, weight)| {
                count += more.count;
                sum.add(weight, &more);
            });
            met.push((cell, sum, cell.count * count));
        }
        met
    }
}

impl PairwiseCosts for MetricPenalties {
    fn links(&self) -> &ConstraintGroups {
        &self.links
    }

    fn add(&mut self, i: usize, labels: &[u32], cost: &mut [f64]) {
        let (mut must, mut cannot) = std::mem::take(&mut self.scratch);
        must.clear();
        must.resize(cost.len(), 0.0);
        cannot.clear();
        cannot.resize(cost.len(), 0.0);
        let p = self.links.component[i];
        if p != NONE {
            self.add_component(p as usize, self.place[i] as usize, &mut must, &mut cannot);
        }
        self.add_partners(i, labels, &mut must, &mut cannot);
        for (h, c) in cost.iter_mut().enumerate() {
            *c += self.links.must * must[h] + self.links.cannot * cannot[h];
        }
        self.scratch = (must, cannot);
    }

    fn moved(&mut self, i: usize, from: u32, to: u32) {
        let p = self.links.component[i];
        if p == NONE || from == to {
            return;
        }
        let at = self.place[i] as usize;
        let x = row(&self.positions, at);
        for (label, sign) in [(from, -1.0), (to, 1.0)] {
            if label == NONE {
                continue;
            }
            Self::shift(&mut self.cells[p as usize], label, sign, x, &self.norms, at);
            for &clique in self.links.cliques_of.of(p as usize) {
                let cells = &mut self.cliques[clique as usize];
                Self::shift(cells, label, sign, x, &self.norms, at);
            }
            for &q in &self.told[p as usize] {
                if let Some(near) = &mut self.near[q as usize] {
                    Self::shift(near, label, sign, x, &self.norms, at);
                }
            }
        }
    }
}
