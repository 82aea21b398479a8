//! The costs of an object's constraints in each cluster, without expanding the closure.
//!
//! Where the constraints of a kind have one weight, members per cluster are counted for each
//! must-link component: the must-link penalty of an object in cluster h is the number of labelled
//! members elsewhere, the cannot-link penalty the number of labelled members of separated
//! components in h. A move costs O(1 + separated components), where a group whose members must all be
//! apart counts as one: it is counted as a whole, less the component itself. A component with far more
//! neighbours than another does not tell it of moves and is asked instead, so that a move and a visit cost
//! at most the root of the number of separated pairs. Other weights, and contradicting
//! cannot-links, use lists of partners. Counts (or sums of multipliers) are multiplied by the weight
//! last, so that the implicit and the expanded form give the same bits.
//!
//! Sources: [Basu2004] §3, the two sums of penalties; [Greene2007] Eq. 1.

use std::sync::Arc;

use mustlink_core::clustering::NONE;
use mustlink_core::constraints::Kind;

use crate::constrained::constraint_groups::ConstraintGroups;
use crate::constrained::icm::PairwiseCosts;

/// Violation costs under the current labels.
#[derive(Clone)]
pub struct Penalties {
    k: usize,
    links: Arc<ConstraintGroups>,
    /// Labelled members of component p in cluster h.
    count: Vec<u32>,
    /// Labelled members of component p.
    labelled: Vec<u32>,
    /// Labelled members of components apart from p, in cluster h, but for those that p asks.
    apart_count: Vec<u32>,
    /// Labelled members of all components of clique c, in cluster h.
    clique_count: Vec<u32>,
    scratch: Scratch,
}

impl Penalties {
    /// Costs of `links` for k clusters, with the objects of `labels` where they are
    /// ([`NONE`] = unlabelled).
    pub fn new(links: &Arc<ConstraintGroups>, k: usize, labels: &[u32]) -> Self {
        let m = links.apart.len();
        let mut made = Penalties {
            k,
            links: links.clone(),
            count: vec![0; m * k],
            labelled: vec![0; m],
            apart_count: vec![0; m * k],
            clique_count: vec![0; links.cliques.len() * k],
            scratch: Scratch::default(),
        };
        for &i in links.objects() {
            made.moved(i as usize, NONE, labels[i as usize]);
        }
        made
    }

    /// Total cost of the violations under `labels`, and their number (of explicit and entailed pairs).
    pub fn total(&self, labels: &[u32]) -> (f64, usize) {
        let k = self.k;
        let (mut must_pairs, mut cannot_pairs) = (0u64, 0u64);
        for p in 0..self.links.apart.len() {
            let count = &self.count[p * k..(p + 1) * k];
            if self.links.implicit_must {
                let all = u64::from(self.labelled[p]);
                let together: u64 = count.iter().map(|&c| u64::from(c) * u64::from(c)).sum();
                must_pairs += (all * all - together) / 2;
            }
            let apart = &self.apart_count[p * k..(p + 1) * k];
            let hubs = self.links.asked_by(p).map(|hub| &self.count[hub * k..][..k]);
            for apart in std::iter::once(apart).chain(hubs) {
                let pairs = count.iter().zip(apart).map(|(&a, &b)| u64::from(a) * u64::from(b));
                cannot_pairs += pairs.sum::<u64>();
            }
        }
        // Every separated pair of components was met from both ends.
        cannot_pairs /= 2;
        let (mut must, mut cannot) = (must_pairs as f64, cannot_pairs as f64);
        let mut number = must_pairs + cannot_pairs;
        for (c, clique) in self.links.cliques.iter().enumerate() {
            let all = &self.clique_count[c * k..(c + 1) * k];
            let square = |&c: &u32| u64::from(c) * u64::from(c);
            let own = |&p: &u32| self.count[p as usize * k..][..k].iter().map(square).sum::<u64>();
            let twice = all.iter().map(square).sum::<u64>() - clique.iter().map(own).sum::<u64>();
            cannot += self.links.clique_weights[c] * (twice / 2) as f64;
            number += twice / 2;
        }
        for c in self.links.explicit.iter().filter(|c| {
            labels[c.i as usize] != NONE && labels[c.j as usize] != NONE && c.is_violated(labels)
        }) {
            number += 1;
            match c.kind {
                Kind::MustLink => must += c.weight,
                Kind::CannotLink => cannot += c.weight,
            }
        }
        (self.links.must * must + self.links.cannot * cannot, number as usize)
    }
}

impl PairwiseCosts for Penalties {
    fn links(&self) -> &ConstraintGroups {
        &self.links
    }

    fn moved(&mut self, i: usize, from: u32, to: u32) {
        let p = self.links.component[i];
        if p == NONE || from == to {
            return;
        }
        let p = p as usize;
        let k = self.k;
        if from != NONE {
            self.count[p * k + from as usize] -= 1;
            self.labelled[p] -= 1;
            for &q in self.links.told_by(p) {
                self.apart_count[q as usize * k + from as usize] -= 1;
            }
            for &c in self.links.cliques_of.of(p) {
                self.clique_count[c as usize * k + from as usize] -= 1;
            }
        }
        if to != NONE {
            self.count[p * k + to as usize] += 1;
            self.labelled[p] += 1;
            for &q in self.links.told_by(p) {
                self.apart_count[q as usize * k + to as usize] += 1;
            }
            for &c in self.links.cliques_of.of(p) {
                self.clique_count[c as usize * k + to as usize] += 1;
            }
        }
    }

    fn add(&mut self, i: usize, labels: &[u32], cost: &mut [f64]) {
        let k = self.k;
        let (must, cannot) = (&mut self.scratch.must, &mut self.scratch.cannot);
        must.clear();
        must.resize(k, 0.0);
        cannot.clear();
        cannot.resize(k, 0.0);
        let mut all_must = 0.0;
        if self.links.component[i] != NONE {
            let p = self.links.component[i] as usize;
            if self.links.implicit_must {
                let own = labels[i];
                let others = self.labelled[p] - u32::from(own != NONE);
                all_must += f64::from(others);
                for (h, m) in must.iter_mut().enumerate() {
                    let here = self.count[p * k + h] - u32::from(own == h as u32);
                    *m += f64::from(here);
                }
            }
            if self.links.implicit_cannot {
                for (h, c) in cannot.iter_mut().enumerate() {
                    *c += f64::from(self.apart_count[p * k + h]);
                }
                for hub in self.links.asked_by(p) {
                    let count = &self.count[hub * k..][..k];
                    cannot.iter_mut().zip(count).for_each(|(c, &more)| *c += f64::from(more));
                }
            }
            for &set in self.links.cliques_of.of(p) {
                let all = &self.clique_count[set as usize * k..];
                let weight = self.links.clique_weights[set as usize];
                for (h, c) in cannot.iter_mut().enumerate() {
                    *c += weight * f64::from(all[h] - self.count[p * k + h]);
                }
            }
        }
        if let Some(partners) = self.links.partners.get(&(i as u32)) {
            for &(j, w, kind) in partners {
                let l = labels[j as usize];
                if l != NONE {
                    match kind {
                        Kind::MustLink => {
                            all_must += w;
                            must[l as usize] += w;
                        }
                        Kind::CannotLink => cannot[l as usize] += w,
                    }
                }
            }
        }
        for h in 0..k {
            cost[h] += self.links.must * (all_must - must[h]) + self.links.cannot * cannot[h];
        }
    }
}

/// Working memory of one visit.
#[derive(Clone, Default)]
struct Scratch {
    must: Vec<f64>,
    cannot: Vec<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constrained::constraint_groups::Entail;
    use mustlink_core::closure::{Closure, OnConflict};
    use mustlink_core::constraints::{Constraint, Constraints};

    /// A component of many next to many others told each of them of every move.
    #[test]
    fn a_hub_is_asked_and_counts_the_same() {
        let (n, k) = (60, 3);
        let spokes = (4..50).map(|j| Constraint::cannot(j % 4, j));
        let joined = (1..4).map(|j| Constraint::must(0, j));
        let more = [Constraint::cannot(4, 5), Constraint::must(50, 51), Constraint::cannot(50, 0)];
        let all = Constraints::new(n, spokes.chain(joined).chain(more)).unwrap();
        let closure = Closure::new(&all, n, OnConflict::Keep).unwrap();
        let links = Arc::new(ConstraintGroups::new(&closure, 1.0, 1.0, Entail::Full, k).unwrap());
        let of = |i: usize| links.component[i] as usize;
        assert!(links.told_by(of(0)).is_empty());
        assert_eq!(links.asked_by(of(4)).collect::<Vec<_>>(), [of(0)]);
        assert_eq!(links.told_by(of(4)).len(), 2);
        let mut labels: Vec<u32> = (0..n as u32).map(|i| (i * i) % k as u32).collect();
        let mut penalties = Penalties::new(&links, k, &labels);
        let apart = |i: usize, j: usize| {
            let (p, q) = (closure.component(i), closure.component(j));
            closure.apart(p).contains(&(q as u32))
        };
        for (i, label) in [(0, 2), (7, NONE), (4, 1), (50, 0), (2, 2), (7, 0)] {
            penalties.moved(i, labels[i], label);
            labels[i] = label;
            let is_broken = |i: usize, j: usize, at: u32| {
                let together = closure.component(i) == closure.component(j);
                labels[j] != NONE && if labels[j] == at { apart(i, j) } else { together }
            };
            let broken =
                |i: usize, at: u32| (0..n).filter(|&j| j != i && is_broken(i, j, at)).count();
            let of_all = (0..n).filter(|&i| labels[i] != NONE).map(|i| broken(i, labels[i]));
            assert_eq!(penalties.total(&labels).1, of_all.sum::<usize>() / 2);
            for i in (0..n).filter(|&i| links.component[i] != NONE) {
                let mut cost = vec![0.0; k];
                penalties.add(i, &labels, &mut cost);
                let slow: Vec<f64> = (0..k as u32).map(|h| broken(i, h) as f64).collect();
                assert_eq!(cost, slow, "object {i}");
            }
        }
    }
}
