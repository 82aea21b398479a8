//! Balanced parts that leave most hyperedges whole.
//!
//! Large hyperedges are cut by almost every start, and single moves change nothing about that. So
//! moves also count, after the hyperedges kept whole, how far the others lie in one part.

use mustlink_core::random::Stream;
use mustlink_core::{Context, Error, Result, reduce};

use crate::graph::Apart;
use crate::task::Bounds;
use crate::task::{Cut, Guide};

/// Vertices and sets of them.
#[derive(Debug, Clone)]
pub struct Hypergraph {
    sizes: Vec<u32>,
    pins: Vec<Vec<u32>>,
    weights: Vec<u32>,
    around: Vec<Vec<u32>>,
}

impl Hypergraph {
    /// Vertices of these sizes and hyperedges of these vertices and weights.
    ///
    /// # Errors
    /// `BadParam` for a vertex that does not exist or as many weights as hyperedges.
    pub fn new(sizes: Vec<u32>, pins: Vec<Vec<u32>>, weights: Vec<u32>) -> Result<Self> {
        if pins.len() != weights.len() {
            return Err(Error::bad_param("weights", weights.len(), format!("{}", pins.len())));
        }
        let mut around = vec![Vec::new(); sizes.len()];
        for (e, set) in pins.iter().enumerate() {
            for &v in set {
                let Some(list) = around.get_mut(v as usize) else {
                    return Err(Error::bad_param("pins", v, format!("below {}", sizes.len())));
                };
                list.push(e as u32);
            }
        }
        Ok(Hypergraph { sizes, pins, weights, around })
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// No vertex.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// Weight of the hyperedges with vertices in more than one part.
    pub fn cut(&self, parts: &[u32]) -> u64 {
        let is_cut =
            |set: &Vec<u32>| set.iter().any(|&v| parts[v as usize] != parts[set[0] as usize]);
        let cut = self.pins.iter().zip(&self.weights).filter(|(set, _)| is_cut(set));
        cut.map(|(_, &w)| u64::from(w)).sum()
    }
}

/// A hypergraph to be cut.
pub struct HyperTask<'a> {
    /// The hypergraph.
    pub hypergraph: &'a Hypergraph,
    /// Number of parts.
    pub k: usize,
    /// No part is heavier than 1 + this times its share.
    pub imbalance: f64,
    /// The share of the total weight for each part; absent: equal shares.
    pub shares: Option<&'a [f64]>,
    /// Starts; the first is `first` where given, the others are random.
    pub starts: usize,
    /// Parts to start from.
    pub first: Option<&'a [u32]>,
    /// Vertices that may not share a part.
    pub apart: Option<&'a Apart>,
}

/// A hypergraph cut into parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HyperPartition {
    /// Part of each vertex.
    pub parts: Vec<u32>,
    /// Weight of the hyperedges that are cut.
    pub cut: u64,
    /// Weight above the bound, over all parts.
    pub excess: u64,
}

/// Sweeps over all vertices.
const SWEEPS: usize = 50;
/// Up to so many vertices are swapped where a part is full.
const SWAPS_UP_TO: usize = 2000;
/// A hyperedge that lies in one part, in units of concentration.
const WHOLE: i64 = 1 << 20;

impl HyperTask<'_> {
    /// The best parts of several starts: least excess, least cut, then the first.
    ///
    /// # Errors
    /// `BadParam` for no start; cancellation.
    pub fn run(&self, ctx: &Context) -> Result<HyperPartition> {
        if self.starts == 0 {
            return Err(Error::bad_param("starts", 0, "at least 1"));
        }
        let n = self.hypergraph.len();
        if self.k == 0 || self.k > n {
            return Err(Error::TooManyClusters { k: self.k, n });
        }
        let guide =
            self.shares.map(|shares| Guide { shares, parts: &[], settled: false, follow: false });
        let cut = Cut { k: self.k, imbalance: self.imbalance, trials: None, guide };
        let bounds = Bounds::new(&self.hypergraph.sizes, &cut);
        let shares = cut.shares();
        let start = |t: usize| {
            let mut stream = ctx.child("hypergraph").index(t).stream("start");
            let parts = match self.first.filter(|_| t == 0) {
                Some(parts) => parts.to_vec(),
                None => self.random(&shares, &mut stream),
            };
            let mut run = Run::new(self, parts, &bounds);
            run.level_out();
            for _ in 0..SWEEPS {
                ctx.check()?;
                if !run.sweep(&stream.permutation(n)) {
                    break;
                }
            }
            let excess = bounds.excess(&run.sizes);
            let cut = self.hypergraph.cut(&run.parts);
            Ok(HyperPartition { cut, excess, parts: run.parts })
        };
        let mut best: Option<HyperPartition> = None;
        reduce::in_waves(self.starts, start, |run| {
            if best.as_ref().is_none_or(|b| (run.excess, run.cut) < (b.excess, b.cut)) {
                best = Some(run);
            }
            Ok(())
        })?;
        Ok(best.expect("at least one start"))
    }

    /// Multiplications and additions of cutting a hypergraph of so many vertices, roughly; `ends` are the
    /// vertices of all hyperedges.
    pub fn operations(vertices: usize, ends: usize, k: usize, starts: usize) -> f64 {
        /// Cost of a vertex in a hyperedge, for each part that it may move to.
        const MOVES: f64 = 20.0;
        /// The same for each vertex it may be swapped with: without structure it takes twenty times as much.
        const SWAPS: f64 = 0.3;
        let swapped = if vertices <= SWAPS_UP_TO { vertices as f64 } else { 0.0 };
        starts as f64 * ends as f64 * (MOVES * k as f64 + SWAPS * swapped)
    }

    /// Random parts of about these shares: the part that is lightest relative to its share takes the next vertex.
    fn random(&self, shares: &[f64], stream: &mut Stream) -> Vec<u32> {
        let mut parts = vec![0; self.hypergraph.len()];
        let mut sizes = vec![0u64; self.k];
        for v in stream.permutation(self.hypergraph.len()) {
            let filled = |p: usize| sizes[p] as f64 / shares[p];
            let p = (0..self.k).min_by(|&p, &q| filled(p).total_cmp(&filled(q))).unwrap_or(0);
            parts[v as usize] = p as u32;
            sizes[p] += u64::from(self.hypergraph.sizes[v as usize]);
        }
        parts
    }
}

struct Run<'a> {
    task: &'a HyperTask<'a>,
    parts: Vec<u32>,
    sizes: Vec<u64>,
    members: Vec<usize>,
    /// Vertices of each hyperedge in each part.
    counts: Vec<u32>,
    bounds: &'a Bounds,
}

impl<'a> Run<'a> {
    fn new(task: &'a HyperTask<'a>, parts: Vec<u32>, bounds: &'a Bounds) -> Self {
        let (h, k) = (task.hypergraph, task.k);
        let mut counts = vec![0; h.pins.len() * k];
        for (e, set) in h.pins.iter().enumerate() {
            set.iter().for_each(|&v| counts[e * k + parts[v as usize] as usize] += 1);
        }
        let (mut sizes, mut members) = (vec![0; k], vec![0; k]);
        for (&p, &s) in parts.iter().zip(&h.sizes) {
            sizes[p as usize] += u64::from(s);
            members[p as usize] += 1;
        }
        Run { task, parts, sizes, members, counts, bounds }
    }

    /// The gain of moving `v` to `p`: weight of hyperedges made whole, then concentration.
    fn gain(&self, v: usize, p: usize) -> (i64, i64) {
        let (h, k) = (self.task.hypergraph, self.task.k);
        let from = self.parts[v] as usize;
        let mut gain = (0, 0);
        for &e in &h.around[v] {
            let e = e as usize;
            let (all, w) = (h.pins[e].len() as u32, i64::from(h.weights[e]));
            let (here, there) = (self.counts[e * k + from], self.counts[e * k + p]);
            gain.0 += w * (i64::from(there + 1 == all) - i64::from(here == all));
            let change = i64::from(there) - i64::from(here) + 1;
            gain.1 += w * change * WHOLE / i64::from(all) / i64::from(all);
        }
        gain
    }

    fn move_to(&mut self, v: usize, p: usize) {
        let (h, k) = (self.task.hypergraph, self.task.k);
        let from = self.parts[v] as usize;
        for &e in &h.around[v] {
            self.counts[e as usize * k + from] -= 1;
            self.counts[e as usize * k + p] += 1;
        }
        let size = u64::from(h.sizes[v]);
        self.sizes[from] -= size;
        self.sizes[p] += size;
        self.members[from] -= 1;
        self.members[p] += 1;
        self.parts[v] = p as u32;
    }

    fn is_forbidden(&self, v: usize, p: usize) -> bool {
        crate::refine::is_forbidden(self.task.apart, &self.parts, v, p)
    }

    fn room(&self, v: usize, p: usize) -> bool {
        self.sizes[p] + u64::from(self.task.hypergraph.sizes[v]) <= self.bounds.0[p]
    }

    /// Moves vertices out of parts that are too heavy.
    fn level_out(&mut self) {
        let k = self.task.k;
        for p in 0..k {
            while self.sizes[p] > self.bounds.0[p] {
                let candidates = (0..self.parts.len()).filter(|&v| self.parts[v] as usize == p);
                let moves =
                    candidates.flat_map(|v| (0..k).map(move |q| (v, q))).filter(|&(v, q)| {
                        q != p
                            && self.room(v, q)
                            && !self.is_forbidden(v, q)
                            && self.task.hypergraph.sizes[v] > 0
                    });
                let best = moves.max_by_key(|&(v, q)| (self.gain(v, q), std::cmp::Reverse((v, q))));
                let Some((v, q)) = best else { break };
                self.move_to(v, q);
            }
        }
    }

    fn sweep(&mut self, order: &[u32]) -> bool {
        let k = self.task.k;
        let mut moved = false;
        for &v in order {
            let v = v as usize;
            let from = self.parts[v] as usize;
            let mut best = ((0, 0), None);
            for p in (0..k).filter(|&p| p != from) {
                let gain = self.gain(v, p);
                if gain > best.0 && !self.is_forbidden(v, p) {
                    best = (gain, Some(p));
                }
            }
            let (gain, Some(p)) = best else { continue };
            if self.room(v, p) && self.members[from] > 1 {
                self.move_to(v, p);
                moved = true;
            } else if self.parts.len() <= SWAPS_UP_TO {
                moved |= self.swap(v, p, gain);
            }
        }
        moved
    }

    /// Exchanges `v` with the vertex of part `p` that wins most; undone when nothing is won.
    fn swap(&mut self, v: usize, p: usize, gain: (i64, i64)) -> bool {
        let from = self.parts[v] as usize;
        self.move_to(v, p);
        let h = self.task.hypergraph;
        let fits = |u: usize| {
            let (give, take) = (u64::from(h.sizes[u]), self.sizes[from]);
            self.sizes[p] - give <= self.bounds.0[p] && take + give <= self.bounds.0[from]
        };
        let best = (0..self.parts.len())
            .filter(|&u| self.parts[u] as usize == p && u != v && fits(u))
            .filter(|&u| !self.is_forbidden(u, from))
            .max_by_key(|&u| (self.gain(u, from), std::cmp::Reverse(u)));
        if let Some(u) = best {
            let back = self.gain(u, from);
            if (gain.0 + back.0, gain.1 + back.1) > (0, 0) {
                self.move_to(u, from);
                return true;
            }
        }
        self.move_to(v, from);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(h: &Hypergraph, k: usize) -> HyperTask<'_> {
        HyperTask {
            hypergraph: h,
            k,
            imbalance: 0.05,
            shares: None,
            starts: 20,
            first: None,
            apart: None,
        }
    }

    #[test]
    fn whole_hyperedges_are_found() {
        // Three classes of five; four members say so, a fifth splits across.
        let class = |c: u32| (0..15).filter(|v| v % 3 == c).collect::<Vec<u32>>();
        let mut pins: Vec<Vec<u32>> = (0..12).map(|e| class(e % 3)).collect();
        pins.extend((0..3).map(|c| (5 * c..5 * c + 5).collect()));
        let h = Hypergraph::new(vec![1; 15], pins, vec![1; 15]).unwrap();
        let p = task(&h, 3).run(&Context::new(1)).unwrap();
        assert_eq!((p.cut, p.excess), (3, 0));
        assert_eq!(
            mustlink_core::clustering::canonical(&p.parts),
            (0..15).map(|v| v % 3).collect::<Vec<u32>>()
        );
    }

    #[test]
    fn swaps_are_counted_where_they_are_made() {
        let of = |n: usize| HyperTask::operations(n, 10 * n, 2, 1);
        assert!(of(2000) > 3.0 * of(1000));
        assert!(of(2001) < of(2000));
    }

    #[test]
    fn balance_holds_and_forbidden_pairs_are_not_made() {
        let mut s = mustlink_core::random::SeedPath::new(2).stream("pins");
        let pins: Vec<Vec<u32>> =
            (0..30).map(|_| s.sample(40, 6).into_iter().map(|v| v as u32).collect()).collect();
        let h = Hypergraph::new(vec![1; 40], pins, vec![1; 30]).unwrap();
        let p = task(&h, 4).run(&Context::new(1)).unwrap();
        assert_eq!(p.excess, 0);
        assert_eq!(p.cut, h.cut(&p.parts));
        for c in 0..4 {
            assert!(p.parts.iter().filter(|&&q| q == c).count() <= 10);
        }
        assert!(task(&h, 41).run(&Context::new(1)).is_err());
        assert!(HyperTask { starts: 0, ..task(&h, 2) }.run(&Context::new(1)).is_err());
        assert!(Hypergraph::new(vec![1; 2], vec![vec![2]], vec![1]).is_err());
    }
}
