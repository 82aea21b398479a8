//! The cheapest assignment to clusters that have a smallest and a largest size.
//!
//! A flow of least cost ([Bradley2000] §3): an object gives one unit to a cluster, a cluster between its least and
//! its most units to a sink. Nearest clusters are the start; units that do not fit then take shortest paths over
//! clusters, one after the other, with potentials that keep all lengths at 0 or above. Between two clusters the
//! object that moves most cheaply is the path.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use mustlink_core::prelude::*;

/// Units between two looks at the flag.
const LOOK: usize = 256;

/// A move of an object, the cheapest first, ties by index.
#[derive(PartialEq)]
struct Move(f64, u32);

impl Eq for Move {}

impl PartialOrd for Move {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Move {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.total_cmp(&self.0).then(other.1.cmp(&self.1))
    }
}

/// The smallest and the largest number of objects of each cluster.
pub(crate) struct Bounds {
    pub(crate) least: Vec<usize>,
    pub(crate) most: Vec<usize>,
}

impl Bounds {
    /// True if `n` objects can have sizes within these bounds.
    pub(crate) fn allows(&self, n: usize) -> bool {
        let (least, most): (usize, usize) = (self.least.iter().sum(), self.most.iter().sum());
        (least..=most).contains(&n)
    }

    fn hold(&self, sizes: &[usize]) -> bool {
        let mut all = sizes.iter().zip(&self.least).zip(&self.most);
        all.all(|((size, least), most)| (least..=most).contains(&size))
    }
}

/// The cheapest assignment.
pub(crate) struct Assigned {
    /// The cluster of each object.
    pub(crate) labels: Vec<u32>,
    /// A price of each cluster: with it, no other cluster would cost an object less.
    pub(crate) prices: Vec<f64>,
}

/// The cluster of each object, by costs n × k, so that every cluster has a number of objects within `bounds` and the
/// costs have the smallest sum. Takes O(n·k) memory, O(n·k) time, and O(k²) time for each object that is not with its
/// nearest cluster.
///
/// # Errors
/// `Cancelled` and its like.
pub(crate) fn assign(costs: &[f64], k: usize, bounds: &Bounds, ctx: &Context) -> Result<Assigned> {
    let nearest =
        |row: &[f64]| (0..k).min_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap_or_default() as u32;
    let labels: Vec<u32> = costs.chunks_exact(k).map(nearest).collect();
    let mut sizes = vec![0; k];
    labels.iter().for_each(|&h| sizes[h as usize] += 1);
    if bounds.hold(&sizes) {
        return Ok(Assigned { labels, prices: vec![0.0; k] });
    }
    let mut flow = Flow::new(costs, labels, &sizes, bounds);
    let mut units = 0;
    while let Some(from) = flow.excess.iter().position(|&e| e > 0) {
        if units % LOOK == 0 {
            ctx.check()?;
        }
        units += 1;
        flow.send(from);
    }
    let prices = flow.potential[..k].iter().map(|potential| -potential).collect();
    Ok(Assigned { labels: flow.labels, prices })
}

struct Flow<'a> {
    costs: &'a [f64],
    k: usize,
    bounds: &'a Bounds,
    labels: Vec<u32>,
    /// Moves from cluster a to cluster b at a · k + b; those of objects that left a are passed over.
    moves: Vec<BinaryHeap<Move>>,
    /// Units from each cluster to the sink.
    out: Vec<usize>,
    /// Units too many at each cluster and, last, at the sink; below 0, too few.
    excess: Vec<i64>,
    potential: Vec<f64>,
}

impl<'a> Flow<'a> {
    fn new(costs: &'a [f64], labels: Vec<u32>, sizes: &[usize], bounds: &'a Bounds) -> Self {
        let k = sizes.len();
        let within = |h: usize| sizes[h].clamp(bounds.least[h], bounds.most[h]);
        let out: Vec<usize> = (0..k).map(within).collect();
        let mut excess: Vec<i64> =
            sizes.iter().zip(&out).map(|(&size, &out)| size as i64 - out as i64).collect();
        excess.push(-excess.iter().sum::<i64>());
        let mut moves: Vec<Vec<Move>> = (0..k * k).map(|_| Vec::new()).collect();
        for (o, (row, &a)) in costs.chunks_exact(k).zip(&labels).enumerate() {
            let a = a as usize;
            for b in (0..k).filter(|&b| b != a) {
                moves[a * k + b].push(Move(row[b] - row[a], o as u32));
            }
        }
        let moves = moves.into_iter().map(BinaryHeap::from).collect();
        let potential = vec![0.0; k + 1];
        Flow { costs, k, bounds, labels, moves, out, excess, potential }
    }

    /// The cheapest move from one cluster to another.
    fn cheapest(&mut self, a: usize, b: usize) -> Option<(f64, u32)> {
        let heap = &mut self.moves[a * self.k + b];
        while let Some(&Move(cost, o)) = heap.peek() {
            if self.labels[o as usize] as usize == a {
                return Some((cost, o));
            }
            heap.pop();
        }
        None
    }

    /// Length of the way from one node to another, the sink being node k.
    fn length(&mut self, a: usize, b: usize) -> Option<f64> {
        let k = self.k;
        let cost = match (a == k, b == k) {
            (false, true) => (self.out[a] < self.bounds.most[a]).then_some(0.0),
            (true, false) => (self.out[b] > self.bounds.least[b]).then_some(0.0),
            _ => self.cheapest(a, b).map(|(cost, _)| cost),
        };
        // A rounding error below 0 is none.
        cost.map(|c| (c + self.potential[a] - self.potential[b]).max(0.0))
    }

    /// Sends one unit from a node with too many to the nearest with too few.
    fn send(&mut self, from: usize) {
        let nodes = self.k + 1;
        let mut distance = vec![f64::INFINITY; nodes];
        let mut before = vec![from; nodes];
        let mut done = vec![false; nodes];
        distance[from] = 0.0;
        let to = loop {
            let open = (0..nodes).filter(|&v| !done[v] && distance[v].is_finite());
            let Some(here) = open.min_by(|&a, &b| distance[a].total_cmp(&distance[b])) else {
                unreachable!("bounds that n fits into leave a way");
            };
            done[here] = true;
            if self.excess[here] < 0 {
                break here;
            }
            for next in (0..nodes).filter(|&v| v != here) {
                if done[next] {
                    continue;
                }
                let Some(length) = self.length(here, next) else { continue };
                if distance[here] + length < distance[next] {
                    distance[next] = distance[here] + length;
                    before[next] = here;
                }
            }
        };
        for v in 0..nodes {
            self.potential[v] += distance[v].min(distance[to]);
        }
        self.excess[from] -= 1;
        self.excess[to] += 1;
        let mut at = to;
        while at != from {
            let step = (before[at], at);
            at = step.0;
            self.take(step.0, step.1);
        }
    }

    /// One unit goes from one node to its neighbour.
    fn take(&mut self, a: usize, b: usize) {
        let k = self.k;
        if b == k {
            self.out[a] += 1;
        } else if a == k {
            self.out[b] -= 1;
        } else if let Some((_, o)) = self.cheapest(a, b) {
            self.labels[o as usize] = b as u32;
            let row = &self.costs[o as usize * k..][..k];
            for c in (0..k).filter(|&c| c != b) {
                self.moves[b * k + c].push(Move(row[c] - row[b], o));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn total(costs: &[f64], k: usize, labels: &[u32]) -> f64 {
        labels.iter().enumerate().map(|(o, &h)| costs[o * k + h as usize]).sum()
    }

    fn sizes(labels: &[u32], k: usize) -> Vec<usize> {
        (0..k as u32).map(|h| labels.iter().filter(|&&l| l == h).count()).collect()
    }

    proptest! {
        /// As cheap as the cheapest of all assignments with these sizes; with its prices, every object is where it
        /// costs least.
        #[test]
        fn the_cheapest_of_all(
            k in 1usize..4,
            n in 1usize..8,
            draws in prop::collection::vec(0u8..20, 24),
            least in prop::collection::vec(0usize..3, 3),
            more in prop::collection::vec(0usize..6, 3),
        ) {
            let costs: Vec<f64> = draws[..n * k].iter().map(|&c| f64::from(c)).collect();
            let least = least[..k].to_vec();
            let most: Vec<usize> = least.iter().zip(&more).map(|(least, more)| least + more).collect();
            let bounds = Bounds { least, most };
            prop_assume!(bounds.allows(n));
            let Assigned { labels, prices } = assign(&costs, k, &bounds, &Context::new(1)).unwrap();
            prop_assert!(bounds.hold(&sizes(&labels, k)));
            let best = (0..(k as u32).pow(n as u32))
                .map(|code| (0..n as u32).map(|o| code / (k as u32).pow(o) % k as u32).collect::<Vec<u32>>())
                .filter(|labels| bounds.hold(&sizes(labels, k)))
                .map(|labels| total(&costs, k, &labels))
                .fold(f64::INFINITY, f64::min);
            prop_assert_eq!(total(&costs, k, &labels), best);
            for (row, &own) in costs.chunks_exact(k).zip(&labels) {
                let priced = |h: usize| row[h] + prices[h];
                prop_assert!((0..k).all(|h| priced(own as usize) <= priced(h) + 1e-9));
            }
        }
    }
}
