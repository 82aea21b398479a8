//! Items that are assigned as one, and the ties between them.

use mustlink_core::closure::Closure;
use mustlink_core::constraints::{Constraint, Kind};
use mustlink_kernels::kmeans::lloyd::PenaltyTerm;

/// Objects of which constraints say anything, must-link components as one (an item), and the ties between them.
pub(super) struct Ties {
    /// Objects of each item, ascending; items in order of their first.
    members: Vec<Vec<u32>>,
    held: Vec<bool>,
    /// Item of each object; meaningless for those that are not held.
    item: Vec<u32>,
    /// Index of the first tie of each item.
    offsets: Vec<usize>,
    /// The other end, and what it costs to be together; below 0, apart. Infinite: never together.
    ties: Vec<(u32, f64)>,
    /// Cost that every labelling has.
    constant: f64,
}

impl Ties {
    /// The components of `hard`, and what each of the `soft` constraints costs by its weight.
    pub(super) fn new(hard: &Closure, soft: &[Constraint]) -> Self {
        let n = hard.n();
        let mut constant = 0.0;
        let mut signed: Vec<(u32, u32, f64)> = Vec::with_capacity(soft.len());
        for c in soft {
            let (p, q) = (hard.component(c.i as usize) as u32, hard.component(c.j as usize) as u32);
            match c.kind {
                Kind::MustLink if p != q => signed.push((p.min(q), p.max(q), -c.weight)),
                Kind::CannotLink if p != q => signed.push((p.min(q), p.max(q), c.weight)),
                Kind::MustLink => {}
                Kind::CannotLink => constant += c.weight,
            }
        }
        // By weight too, so that sums do not depend on the order of the constraints.
        let order = |a: &(u32, u32, f64), b: &(u32, u32, f64)| {
            (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2))
        };
        signed.sort_by(order);
        let mut both: Vec<(u32, u32, f64)> = Vec::new();
        for same in signed.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (p, q, _) = same[0];
            let apart: f64 = same.iter().map(|t| t.2.max(0.0)).sum();
            let together: f64 = same.iter().map(|t| (-t.2).max(0.0)).sum();
            if hard.apart(p as usize).binary_search(&q).is_ok() {
                constant += together;
            } else {
                // Whatever the labels are, one of two opposite statements is broken.
                constant += apart.min(together);
                if apart != together {
                    both.extend([(p, q, apart - together), (q, p, apart - together)]);
                }
            }
        }
        for p in 0..hard.components() as u32 {
            both.extend(hard.apart(p as usize).iter().map(|&q| (p, q, f64::INFINITY)));
        }
        both.sort_by(order);
        let mut tied = vec![false; hard.components()];
        both.iter().for_each(|t| tied[t.0 as usize] = true);
        let bound = |&p: &usize| tied[p] || hard.members(p).len() > 1;
        let components: Vec<usize> = (0..hard.components()).filter(bound).collect();
        let mut item_of = vec![0; hard.components()];
        (0..).zip(&components).for_each(|(at, &p)| item_of[p] = at);
        let mut offsets = vec![0; components.len() + 1];
        both.iter().for_each(|t| offsets[item_of[t.0 as usize] as usize + 1] += 1);
        (1..offsets.len()).for_each(|at| offsets[at] += offsets[at - 1]);
        let mut held = vec![false; n];
        let members: Vec<Vec<u32>> = components.iter().map(|&p| hard.members(p).to_vec()).collect();
        members.iter().flatten().for_each(|&i| held[i as usize] = true);
        Ties {
            item: (0..n).map(|i| item_of[hard.component(i)]).collect(),
            ties: both.iter().map(|t| (item_of[t.1 as usize], t.2)).collect(),
            members,
            held,
            offsets,
            constant,
        }
    }

    /// Number of items.
    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    /// True if no constraint touches any object.
    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Objects of item `u`, ascending.
    pub(super) fn members(&self, u: usize) -> &[u32] {
        &self.members[u]
    }

    /// For every object, true if it belongs to an item.
    pub(super) fn held(&self) -> &[bool] {
        &self.held
    }

    /// The ties of item `u` and what each costs: above 0 when both are together, below 0 when apart.
    pub(super) fn of(&self, u: usize) -> &[(u32, f64)] {
        &self.ties[self.offsets[u]..self.offsets[u + 1]]
    }

    /// Label of each item.
    pub(super) fn of_objects(&self, labels: &[u32]) -> Vec<u32> {
        self.members.iter().map(|m| labels[m[0] as usize]).collect()
    }

    /// Gives the objects of every item its label; how many are new.
    pub(super) fn put(&self, items: &[u32], labels: &mut [u32]) -> usize {
        let mut moved = 0;
        for (members, &h) in self.members.iter().zip(items) {
            for &i in members {
                moved += usize::from(std::mem::replace(&mut labels[i as usize], h) != h);
            }
        }
        moved
    }

    /// Cost of broken soft constraints; infinite if items are together that must not be.
    pub(super) fn cost(&self, items: &[u32]) -> f64 {
        let of = |(u, &own): (usize, &u32)| -> f64 {
            let later = self.of(u).iter().filter(|t| t.0 as usize > u);
            later.map(|&(v, w)| due(w, own == items[v as usize])).sum()
        };
        self.constant + items.iter().enumerate().map(of).sum::<f64>()
    }

    /// Adds to each cluster what ties of its items break: half of what each costs to either end.
    pub(super) fn add_costs(&self, items: &[u32], costs: &mut [f64]) {
        for (u, &own) in items.iter().enumerate() {
            let broken = self.of(u).iter().map(|&(v, w)| due(w, own == items[v as usize]));
            costs[own as usize] += broken.sum::<f64>() / 2.0;
        }
    }

    /// Rise of the cost when object `i`, together with its item, goes to cluster `to`. The rise of an item is counted
    /// at its first object; for its other objects it is 0.
    fn rise(&self, i: usize, to: u32, labels: &[u32]) -> f64 {
        if !self.held[i] || self.members[self.item[i] as usize][0] as usize != i {
            return 0.0;
        }
        let label = |v: u32| labels[self.members[v as usize][0] as usize];
        let change =
            |&(v, w): &(u32, f64)| match (due(w, label(v) == to), due(w, label(v) == labels[i])) {
                (then, now) if then == now => 0.0,
                (then, now) => then - now,
            };
        self.of(self.item[i] as usize).iter().map(change).sum()
    }
}

/// Costs of broken soft constraints, used when empty clusters are filled.
pub(super) struct Prices<'a>(pub(super) &'a Ties);

impl PenaltyTerm for Prices<'_> {
    fn rise(&mut self, i: usize, to: u32, labels: &[u32]) -> f64 {
        self.0.rise(i, to, labels)
    }
    fn moved(&mut self, _: usize, _: u32, _: u32) {}
}

/// Cost of a tie of weight `w`.
pub(super) fn due(w: f64, together: bool) -> f64 {
    match (w > 0.0, together) {
        (true, true) => w,
        (false, false) => -w,
        _ => 0.0,
    }
}
