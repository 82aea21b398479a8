//! The cheapest labels of a few tied items, found by branch and bound.
//!
//! Branch and bound over costs: every item stands where it is cheapest, which is a lower bound; of a tie that this
//! breaks one end is either fixed where it stands, which its other ends then pay for, or banned from there. Each
//! branch raises the bound by what the tie costs at least; ties that share no end raise it together.

use mustlink_core::{Context, Result};

use super::ties::due;

/// Items and ties that a node may look at and still count as one.
const ONE_NODE: usize = 1000;

/// Nodes between two looks at the flag.
const LOOK: u64 = 256;

/// Smallest gain relative to what is gained on: less is a rounding error.
const SMALLEST_GAIN: f64 = 1e-12;

/// Step that can be undone.
enum Undo {
    Cell(usize, f64),
    Lowest(usize, Lowest),
    Fixed(usize),
}

/// The cheapest cluster of an item, of equals the first, and what it costs.
#[derive(Clone, Copy)]
struct Lowest {
    cluster: u32,
    cost: f64,
    /// Additional cost of the second cheapest cluster.
    regret: f64,
}

/// A tie that the cheapest clusters break.
struct Broken {
    /// Least cost of repairing or accepting it.
    gain: f64,
    ends: (u32, u32),
}

/// A decision: `item` is fixed where it is cheapest, or banned from there.
struct Frame {
    mark: usize,
    item: usize,
    cluster: u32,
    fix: bool,
    last: bool,
}

/// The search for the labels of least cost.
pub(super) struct Branch<'a> {
    k: usize,
    /// Ties of each item to others of these.
    ties: &'a [Vec<(u32, f64)>],
    /// Cost of each item in each cluster given what is fixed so far, row by row.
    costs: Vec<f64>,
    fixed: Vec<bool>,
    lowest: Vec<Lowest>,
    trail: Vec<Undo>,
    weight: u64,
    best: Option<(f64, Vec<u32>)>,
}

impl<'a> Branch<'a> {
    /// Items with these costs, row by row, and ties.
    pub(super) fn new(k: usize, costs: Vec<f64>, ties: &'a [Vec<(u32, f64)>]) -> Self {
        let m = ties.len();
        let size = m + ties.iter().map(Vec::len).sum::<usize>() / 2;
        let mut branch = Branch {
            k,
            ties,
            costs,
            fixed: vec![false; m],
            lowest: Vec::with_capacity(m),
            trail: Vec::new(),
            weight: 1 + (size / ONE_NODE) as u64,
            best: None,
        };
        branch.lowest = (0..m).map(|u| branch.lowest_of(u)).collect();
        branch
    }

    /// Offers labels that are known.
    pub(super) fn offer(&mut self, labels: &[u32]) {
        let own = |(u, &h): (usize, &u32)| self.costs[u * self.k + h as usize];
        let cost: f64 = labels.iter().enumerate().map(own).sum();
        let tied = |(u, &h): (usize, &u32)| -> f64 {
            let later = self.ties[u].iter().filter(|t| t.0 as usize > u);
            later.map(|&(v, w)| due(w, h == labels[v as usize])).sum()
        };
        let cost = cost + labels.iter().enumerate().map(tied).sum::<f64>();
        self.keep(cost, |_| labels.to_vec());
    }

    fn keep(&mut self, cost: f64, labels: impl FnOnce(&Self) -> Vec<u32>) {
        if cost.is_finite() && !self.ends(cost) {
            self.best = Some((cost, labels(self)));
        }
    }

    /// True if nothing that costs at least so much is worth a look.
    fn ends(&self, bound: f64) -> bool {
        let limit = self.best.as_ref().map(|(cost, _)| cost - SMALLEST_GAIN * cost.abs());
        limit.is_some_and(|limit| bound >= limit)
    }

    /// The best labels found, and whether none cost less. Takes its nodes from `left`.
    ///
    /// # Errors
    /// `Cancelled` and its like.
    pub(super) fn run(mut self, left: &mut u64, ctx: &Context) -> Result<(Option<Vec<u32>>, bool)> {
        let mut path: Vec<Frame> = Vec::new();
        let mut looks = 0;
        let proved = loop {
            if *left < self.weight {
                *left = 0;
                break false;
            }
            *left -= self.weight;
            looks += 1;
            if looks % LOOK == 0 {
                ctx.check()?;
            }
            if let Some((item, fix)) = self.decide() {
                let (mark, cluster) = (self.trail.len(), self.lowest[item].cluster);
                path.push(Frame { mark, item, cluster, fix, last: false });
                self.branch(item, cluster, fix);
                continue;
            }
            let open = loop {
                let Some(mut frame) = path.pop() else { break None };
                self.take_back(frame.mark);
                if !frame.last {
                    (frame.fix, frame.last) = (!frame.fix, true);
                    break Some(frame);
                }
            };
            let Some(frame) = open else { break true };
            self.branch(frame.item, frame.cluster, frame.fix);
            path.push(frame);
        };
        Ok((self.best.map(|best| best.1), proved))
    }

    /// The item to decide on next, and whether to fix it first; nothing where this node ends.
    fn decide(&mut self) -> Option<(usize, bool)> {
        let bound: f64 = self.lowest.iter().map(|low| low.cost).sum();
        if bound == f64::INFINITY || self.ends(bound) {
            return None;
        }
        let (mut broken, price) = self.broken();
        let here = |of: &Self| of.lowest.iter().map(|low| low.cluster).collect();
        self.keep(bound + price, here);
        if broken.is_empty() {
            return None;
        }
        broken.sort_by(|a, b| b.gain.total_cmp(&a.gain).then(a.ends.cmp(&b.ends)));
        let mut met = vec![false; self.ties.len()];
        let mut count = vec![0u32; self.ties.len()];
        let mut raised = bound;
        for Broken { gain, ends: (u, v) } in &broken {
            let (u, v) = (*u as usize, *v as usize);
            (count[u], count[v]) = (count[u] + 1, count[v] + 1);
            if !met[u] && !met[v] {
                (met[u], met[v]) = (true, true);
                raised += gain;
            }
        }
        if self.ends(raised) {
            return None;
        }
        let (u, v) = (broken[0].ends.0 as usize, broken[0].ends.1 as usize);
        let (a, b) = (self.lowest[u].regret, self.lowest[v].regret);
        // The end with more broken ties decides more; what hates to leave is fixed first.
        let first = count[u] > count[v] || (count[u] == count[v] && a >= b);
        if first { Some((u, a >= b)) } else { Some((v, b >= a)) }
    }

    /// The ties between open items that their cheapest clusters break, and what all of them cost.
    fn broken(&self) -> (Vec<Broken>, f64) {
        let mut broken = Vec::new();
        let mut price = 0.0;
        for (u, ties) in self.ties.iter().enumerate().filter(|(u, _)| !self.fixed[*u]) {
            for &(v, w) in ties {
                let at = v as usize;
                if at < u || self.fixed[at] {
                    continue;
                }
                let (a, b) = (self.lowest[u], self.lowest[at]);
                let due = due(w, a.cluster == b.cluster);
                if due > 0.0 {
                    price += due;
                    let mended =
                        if w > 0.0 { a.regret.min(b.regret) } else { self.together(u, at) };
                    broken.push(Broken { gain: due.min(mended), ends: (u as u32, v) });
                }
            }
        }
        (broken, price)
    }

    fn row(&self, u: usize) -> &[f64] {
        &self.costs[u * self.k..][..self.k]
    }

    fn lowest_of(&self, u: usize) -> Lowest {
        let (mut cluster, mut cost, mut second) = (0, f64::INFINITY, f64::INFINITY);
        for (h, &next) in (0..).zip(self.row(u)) {
            if next < cost {
                (cluster, cost, second) = (h, next, cost);
            } else if next < second {
                second = next;
            }
        }
        Lowest { cluster, cost, regret: second - cost }
    }

    /// Lower bound of the additional cost of putting two items together.
    fn together(&self, u: usize, v: usize) -> f64 {
        let both = self.row(u).iter().zip(self.row(v)).map(|(a, b)| a + b);
        both.fold(f64::INFINITY, f64::min) - self.lowest[u].cost - self.lowest[v].cost
    }

    fn branch(&mut self, u: usize, h: u32, fix: bool) {
        if !fix {
            self.set(u, h as usize, f64::INFINITY);
            self.renew(u);
            return;
        }
        self.trail.push(Undo::Fixed(u));
        self.fixed[u] = true;
        let ties = self.ties;
        for &(v, w) in &ties[u] {
            let v = v as usize;
            if self.fixed[v] {
                continue;
            }
            if w > 0.0 {
                let cost = self.costs[v * self.k + h as usize];
                self.set(v, h as usize, cost + w);
            } else {
                for g in (0..self.k).filter(|&g| g != h as usize) {
                    let cost = self.costs[v * self.k + g];
                    self.set(v, g, cost - w);
                }
            }
            self.renew(v);
        }
    }

    fn set(&mut self, u: usize, h: usize, cost: f64) {
        let at = u * self.k + h;
        self.trail.push(Undo::Cell(at, self.costs[at]));
        self.costs[at] = cost;
    }

    fn renew(&mut self, u: usize) {
        self.trail.push(Undo::Lowest(u, self.lowest[u]));
        self.lowest[u] = self.lowest_of(u);
    }

    fn take_back(&mut self, mark: usize) {
        for undo in self.trail.drain(mark..).rev() {
            match undo {
                Undo::Cell(at, cost) => self.costs[at] = cost,
                Undo::Lowest(u, lowest) => self.lowest[u] = lowest,
                Undo::Fixed(u) => self.fixed[u] = false,
            }
        }
    }
}
