//! The split of a feature that separates the classes best.

use super::columns::{Column, Ranks};

/// An object in the bag of a tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Drawn {
    pub object: u32,
    pub class: u32,
    /// Number of times it was drawn.
    pub times: u32,
}

/// A cut between two ranks that follow one another in a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cut {
    /// Σ L² / |L| + Σ R² / |R| over the classes: the larger, the purer in the sense of Gini.
    pub purity: f64,
    pub low: u32,
    pub high: u32,
}

/// A node: some of the objects of the bag.
#[derive(Clone, Copy)]
pub(super) struct Node<'a> {
    pub drawn: &'a [Drawn],
    /// Position of each object in the bag, and the beginning of the node in it. Used for sparse
    /// features only.
    pub place: &'a [u32],
    pub first: usize,
    /// Number of draws of each class, their sum, and the sum of their squares.
    pub totals: &'a [f64],
    pub all: f64,
    pub squares: f64,
}

impl Node<'_> {
    /// Position of `object` in the node, if it is in it.
    fn position(&self, object: u32) -> Option<usize> {
        let at = (self.place[object as usize] as usize).wrapping_sub(self.first);
        (at < self.drawn.len()).then_some(at)
    }
}

/// Finds cuts; holds what the work of one tree needs.
pub(super) struct Splitter {
    /// For the objects whose value is stored: the rank, the class and the number of draws. Nothing
    /// has to be looked up once they are in order.
    keys: Vec<u64>,
    sorted: Vec<u64>,
    starts: Vec<u32>,
    /// Number of draws of each rank and class.
    tally: Vec<u64>,
    left: Vec<f64>,
    right: Vec<f64>,
    /// Classes of the objects whose value is not held, and how often they were drawn.
    zeros: Vec<(u32, f64)>,
}

/// Bits of a key for how often an object was drawn, and for its class: ranks have the others.
const TIMES: u32 = 12;
const CLASS: u32 = 26;
/// Ranks and classes are below this.
pub(super) const MOST: usize = 1 << CLASS;

fn rank_of(key: u64) -> u32 {
    (key >> (CLASS + TIMES)) as u32
}

fn class_of(key: u64) -> u32 {
    (key >> TIMES) as u32 & ((1 << CLASS) - 1)
}

fn times_of(key: u64) -> u32 {
    key as u32 & ((1 << TIMES) - 1)
}

/// Adds a key; as several where it was drawn more often than one can say.
fn push(keys: &mut Vec<u64>, rank: u32, class: u32, mut times: u64) {
    let key = u64::from(rank) << (CLASS + TIMES) | u64::from(class) << TIMES;
    let most = (1 << TIMES) - 1;
    while times > most {
        keys.push(key | most);
        times -= most;
    }
    keys.push(key | times);
}

/// Ranks that spread over at most this many times the objects are sorted by counting.
const COUNTED: usize = 4;

/// Other ranks are sorted by counting twice, by comparisons where keys are fewer than this or spread
/// over more than this.
const FEW: usize = 48;
const MOST_IN_TWO: usize = 1 << 16;

impl Splitter {
    pub(super) fn new(classes: usize) -> Self {
        Splitter {
            keys: Vec::new(),
            sorted: Vec::new(),
            starts: Vec::new(),
            tally: Vec::new(),
            left: vec![0.0; classes],
            right: vec![0.0; classes],
            zeros: Vec::new(),
        }
    }

    /// The best cut of a node by one feature, the lowest of equally good ones; `None` when all
    /// its objects have the same value.
    pub(super) fn best(&mut self, column: &Column, node: Node<'_>) -> Option<Cut> {
        let (mut lowest, mut highest) = (u32::MAX, 0);
        self.keys.clear();
        let mut objects_held = 0;
        let mut hold = |rank: u32, d: &Drawn| {
            lowest = lowest.min(rank);
            highest = highest.max(rank);
            objects_held += 1;
            push(&mut self.keys, rank, d.class, u64::from(d.times));
        };
        let mut zero = None;
        match column.ranks() {
            Ranks::All(ranks) => {
                node.drawn.iter().for_each(|d| hold(ranks[d.object as usize], d));
            }
            Ranks::Stored { objects, ranks, zero: rank } => {
                // Whichever is the shorter way: through the column, or looking up each object.
                if objects.len() <= 8 * node.drawn.len() {
                    for (&object, &rank) in objects.iter().zip(ranks) {
                        if let Some(at) = node.position(object) {
                            hold(rank, &node.drawn[at]);
                        }
                    }
                } else {
                    for d in node.drawn {
                        if let Ok(found) = objects.binary_search(&d.object) {
                            hold(ranks[found], d);
                        }
                    }
                }
                if objects_held < node.drawn.len() {
                    zero = Some(*rank);
                    (lowest, highest) = (lowest.min(*rank), highest.max(*rank));
                }
            }
        }
        if lowest >= highest {
            return None;
        }
        self.sort(lowest, highest, node.totals.len());
        self.sweep(node, zero)
    }

    /// Brings the keys into the order of their ranks; those of one rank and class become one where
    /// there are few of both.
    fn sort(&mut self, lowest: u32, highest: u32, classes: usize) {
        let span = (highest - lowest) as usize + 1;
        let slot = |key: u64| (rank_of(key) - lowest) as usize;
        if span * classes <= self.keys.len() {
            self.tally.clear();
            self.tally.resize(span * classes, 0);
            for &key in &self.keys {
                self.tally[slot(key) * classes + class_of(key) as usize] +=
                    u64::from(times_of(key));
            }
            self.keys.clear();
            for (rank, tally) in (lowest..).zip(self.tally.chunks_exact(classes)) {
                for (class, &times) in (0..).zip(tally).filter(|(_, times)| **times > 0) {
                    push(&mut self.keys, rank, class, times);
                }
            }
            return;
        }
        if span <= COUNTED * self.keys.len() {
            self.count(span, slot);
        } else if self.keys.len() < FEW || span > MOST_IN_TWO {
            self.keys.sort_unstable();
        } else {
            // By the lower half of the bits, then by the upper one.
            let half = ((span - 1).ilog2() + 1).div_ceil(2);
            let low = (1 << half) - 1;
            self.count(1 << half, |key| slot(key) & low);
            self.count(((span - 1) >> half) + 1, |key| slot(key) >> half);
        }
    }

    /// Brings the keys into the order of what `slot` says, below `slots`; equal ones stay in order.
    #[inline]
    fn count(&mut self, slots: usize, slot: impl Fn(u64) -> usize) {
        self.starts.clear();
        self.starts.resize(slots + 1, 0);
        self.keys.iter().for_each(|&key| self.starts[slot(key) + 1] += 1);
        for s in 1..=slots {
            self.starts[s] += self.starts[s - 1];
        }
        self.sorted.resize(self.keys.len(), 0);
        for &key in &self.keys {
            let start = &mut self.starts[slot(key)];
            self.sorted[*start as usize] = key;
            *start += 1;
        }
        std::mem::swap(&mut self.keys, &mut self.sorted);
    }

    /// Moves the objects from right to left in the order of the feature.
    fn sweep(&mut self, node: Node<'_>, zero: Option<u32>) -> Option<Cut> {
        let Splitter { keys, left, right, zeros, .. } = self;
        if node.totals.len() <= node.drawn.len() {
            left.fill(0.0);
            right.copy_from_slice(node.totals);
        } else {
            for class in node.drawn.iter().map(|d| d.class as usize) {
                (left[class], right[class]) = (0.0, node.totals[class]);
            }
        }
        zeros.clear();
        if zero.is_some() {
            keys.iter().for_each(|&key| left[class_of(key) as usize] += f64::from(times_of(key)));
            for class in node.drawn.iter().map(|d| d.class) {
                let (held, all) = (left[class as usize], right[class as usize]);
                if held < all {
                    zeros.push((class, all - held));
                    left[class as usize] = all;
                }
            }
            node.drawn.iter().for_each(|d| left[d.class as usize] = 0.0);
        }
        let mut sweep = Sweep::new(left, right, node);
        let mut pending = zero;
        for &key in keys.iter() {
            let rank = rank_of(key);
            if let Some(at) = pending.filter(|&at| at < rank) {
                sweep.enter(at);
                zeros.iter().for_each(|&(class, times)| sweep.take(class, times));
                pending = None;
            }
            sweep.enter(rank);
            sweep.take(class_of(key), f64::from(times_of(key)));
        }
        // Zeros that come last are only cut off; what takes them all is no cut.
        if let Some(at) = pending {
            sweep.enter(at);
        }
        sweep.best
    }
}

/// Objects to the left and to the right of a place in the order of a feature. All numbers are
/// integers below 2⁵³, so that sums of them are exact.
struct Sweep<'a> {
    left: &'a mut [f64],
    right: &'a mut [f64],
    /// Sums over the classes, and of their squares.
    on_left: f64,
    on_right: f64,
    left_squares: f64,
    right_squares: f64,
    /// The rank being taken.
    rank: u32,
    best: Option<Cut>,
}

/// Before the first rank.
const NOWHERE: u32 = u32::MAX;

impl<'a> Sweep<'a> {
    fn new(left: &'a mut [f64], right: &'a mut [f64], node: Node<'_>) -> Self {
        Sweep {
            left,
            right,
            on_left: 0.0,
            on_right: node.all,
            left_squares: 0.0,
            right_squares: node.squares,
            rank: NOWHERE,
            best: None,
        }
    }

    /// Sets the rank of the following objects: a cut may be made below it.
    #[inline]
    fn enter(&mut self, rank: u32) {
        if rank == self.rank {
            return;
        }
        if self.rank != NOWHERE {
            let (l, r) = (self.on_left, self.on_right);
            // As one fraction. It is never the largest inside a run of one class; to leave it out
            // there was hardly faster with two features and slower with 64.
            let purity = (self.left_squares * r + self.right_squares * l) / (l * r);
            if self.best.is_none_or(|best| purity > best.purity) {
                self.best = Some(Cut { purity, low: self.rank, high: rank });
            }
        }
        self.rank = rank;
    }

    #[inline]
    fn take(&mut self, class: u32, times: f64) {
        let (l, r) = (&mut self.left[class as usize], &mut self.right[class as usize]);
        self.left_squares += times * (2.0 * *l + times);
        self.right_squares -= times * (2.0 * *r - times);
        *l += times;
        *r -= times;
        self.on_left += times;
        self.on_right -= times;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::npu::columns::Columns;
    use mustlink_core::data::Data;
    use ndarray::array;

    #[test]
    fn a_worked_cut() {
        // Classes 0 0 1 1 1 in the order of the feature.
        let data = Data::dense(array![[0.0], [1.0], [2.0], [3.0], [4.0]]).unwrap();
        let columns = Columns::new(&data);
        // Drawn once each, and ten thousand times each, which is more than a key can say.
        for times in [1, 10_000] {
            let drawn: Vec<Drawn> = (0..5)
                .map(|object| Drawn { object, class: u32::from(object > 1), times })
                .collect();
            let t = f64::from(times);
            let node = Node {
                drawn: &drawn,
                place: &[0, 1, 2, 3, 4],
                first: 0,
                totals: &[2.0 * t, 3.0 * t],
                all: 5.0 * t,
                squares: 13.0 * t * t,
            };
            let cut = Splitter::new(2).best(columns.column(0), node).unwrap();
            // 2²/2 + 3²/3 = 5 of each that was drawn, as pure as can be.
            assert_eq!(cut, Cut { purity: 5.0 * t, low: 1, high: 2 });
        }
    }
}
