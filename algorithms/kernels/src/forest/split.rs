//! Where does a feature part the classes best?

use super::columns::{Column, Ranks};

/// An object in the bag of a tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Drawn {
    pub object: u32,
    pub class: u32,
    /// How often it was drawn.
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
    /// Where each object stands in the bag, and where in it the node begins. Read for sparse
    /// features alone.
    pub place: &'a [u32],
    pub first: usize,
    /// How often each class was drawn.
    pub totals: &'a [u64],
}

impl Node<'_> {
    /// Where `object` stands in the node, if it is there.
    fn position(&self, object: u32) -> Option<usize> {
        let at = (self.place[object as usize] as usize).wrapping_sub(self.first);
        (at < self.drawn.len()).then_some(at)
    }
}

/// Finds cuts; holds what the work of one tree needs.
pub(super) struct Splitter {
    /// Rank and position in the node of those objects whose value is held.
    keys: Vec<u64>,
    sorted: Vec<u64>,
    starts: Vec<u32>,
    left: Vec<u64>,
    right: Vec<u64>,
    /// Classes of the objects whose value is not held, and how often they were drawn.
    zeros: Vec<(u32, u64)>,
}

/// Ranks that spread over at most this many times the objects are sorted by counting.
const COUNTED: usize = 4;

impl Splitter {
    pub(super) fn new(classes: usize) -> Self {
        Splitter {
            keys: Vec::new(),
            sorted: Vec::new(),
            starts: Vec::new(),
            left: vec![0; classes],
            right: vec![0; classes],
            zeros: Vec::new(),
        }
    }

    /// The best cut of a node by one feature, the lowest of equally good ones; `None` when all
    /// its objects have the same value.
    pub(super) fn best(&mut self, column: &Column, node: Node<'_>) -> Option<Cut> {
        let (mut lowest, mut highest) = (u32::MAX, 0);
        self.keys.clear();
        let mut hold = |rank: u32, at: usize| {
            lowest = lowest.min(rank);
            highest = highest.max(rank);
            self.keys.push(u64::from(rank) << 32 | at as u64);
        };
        let mut zero = None;
        match column.ranks() {
            Ranks::All(ranks) => {
                for (at, d) in node.drawn.iter().enumerate() {
                    hold(ranks[d.object as usize], at);
                }
            }
            Ranks::Stored { objects, ranks, zero: rank } => {
                // Whichever is the shorter way: through the column, or looking up each object.
                if objects.len() <= 8 * node.drawn.len() {
                    for (&object, &rank) in objects.iter().zip(ranks) {
                        if let Some(at) = node.position(object) {
                            hold(rank, at);
                        }
                    }
                } else {
                    for (at, d) in node.drawn.iter().enumerate() {
                        if let Ok(found) = objects.binary_search(&d.object) {
                            hold(ranks[found], at);
                        }
                    }
                }
                if self.keys.len() < node.drawn.len() {
                    zero = Some(*rank);
                    (lowest, highest) = (lowest.min(*rank), highest.max(*rank));
                }
            }
        }
        if lowest >= highest {
            return None;
        }
        self.sort(lowest, highest);
        self.sweep(node, zero)
    }

    fn sort(&mut self, lowest: u32, highest: u32) {
        let span = (highest - lowest) as usize + 1;
        if span > COUNTED * self.keys.len() {
            self.keys.sort_unstable();
            return;
        }
        let slot = |key: u64| ((key >> 32) as u32 - lowest) as usize;
        self.starts.clear();
        self.starts.resize(span + 1, 0);
        self.keys.iter().for_each(|&key| self.starts[slot(key) + 1] += 1);
        for s in 1..=span {
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
        let drawn = |key: u64| node.drawn[key as u32 as usize];
        for class in node.drawn.iter().map(|d| d.class as usize) {
            (left[class], right[class]) = (0, node.totals[class]);
        }
        zeros.clear();
        if zero.is_some() {
            for d in keys.iter().map(|&key| drawn(key)) {
                left[d.class as usize] += u64::from(d.times);
            }
            for class in node.drawn.iter().map(|d| d.class) {
                let (held, all) = (left[class as usize], right[class as usize]);
                if held < all {
                    zeros.push((class, all - held));
                    left[class as usize] = all;
                }
            }
            node.drawn.iter().for_each(|d| left[d.class as usize] = 0);
        }
        let mut sweep = Sweep::new(left, right, node.drawn);
        let mut pending = zero;
        for &key in keys.iter() {
            let rank = (key >> 32) as u32;
            if let Some(at) = pending.filter(|&at| at < rank) {
                sweep.enter(at);
                zeros.iter().for_each(|&(class, times)| sweep.take(class, times));
                pending = None;
            }
            let d = drawn(key);
            sweep.enter(rank);
            sweep.take(d.class, u64::from(d.times));
        }
        if let Some(at) = pending {
            sweep.enter(at);
            zeros.iter().for_each(|&(class, times)| sweep.take(class, times));
        }
        sweep.end()
    }
}

/// Objects to the left and to the right of a place in the order of a feature.
struct Sweep<'a> {
    left: &'a mut [u64],
    right: &'a mut [u64],
    now: Sides,
    /// The rank being taken, and the class of its objects.
    rank: u32,
    class: u32,
    /// The class of the rank before it, and what stood where when that was complete.
    before: u32,
    met: Option<(Sides, u32)>,
    best: Option<Cut>,
}

/// The class of no object, and of objects of several classes.
const NOBODY: u32 = u32::MAX;
const SEVERAL: u32 = u32::MAX - 1;

/// Numbers of objects, and the sums over the classes of their squares.
#[derive(Clone, Copy)]
struct Sides {
    left: u64,
    right: u64,
    left_squares: u64,
    right_squares: u64,
}

impl Sides {
    /// Σ L² / |L| + Σ R² / |R|, as one fraction.
    fn purity(self) -> f64 {
        let (l, r) = (self.left as f64, self.right as f64);
        (self.left_squares as f64 * r + self.right_squares as f64 * l) / (l * r)
    }
}

impl<'a> Sweep<'a> {
    fn new(left: &'a mut [u64], right: &'a mut [u64], drawn: &[Drawn]) -> Self {
        let all = drawn.iter().map(|d| u64::from(d.times)).sum();
        // Σ t² over the classes is Σ t over what was drawn.
        let squares = drawn.iter().map(|d| u64::from(d.times) * right[d.class as usize]).sum();
        let now = Sides { left: 0, right: all, left_squares: 0, right_squares: squares };
        let (class, before) = (NOBODY, NOBODY);
        Sweep { left, right, now, rank: 0, class, before, met: None, best: None }
    }

    /// What is taken from now on has this rank.
    #[inline]
    fn enter(&mut self, rank: u32) {
        if self.class == NOBODY {
            self.rank = rank;
        } else if self.rank != rank {
            self.judge();
            self.met = Some((self.now, self.rank));
            self.before = self.class;
            self.class = NOBODY;
            self.rank = rank;
        }
    }

    #[inline]
    fn take(&mut self, class: u32, times: u64) {
        self.class = match self.class {
            NOBODY => class,
            same if same == class => same,
            _ => SEVERAL,
        };
        let (l, r) = (&mut self.left[class as usize], &mut self.right[class as usize]);
        self.now.left_squares += times * (2 * *l + times);
        self.now.right_squares -= times * (2 * *r - times);
        *l += times;
        *r -= times;
        self.now.left += times;
        self.now.right -= times;
    }

    /// Judges the last cut met, now that the rank above it is complete. While one class alone
    /// moves, purity is a convex function of how many did: inside such a run there is no best cut,
    /// and none is computed.
    #[inline]
    fn judge(&mut self) {
        let Some((sides, low)) = self.met else { return };
        if self.before == self.class && self.class != SEVERAL {
            return;
        }
        let purity = sides.purity();
        if self.best.is_none_or(|best| purity > best.purity) {
            self.best = Some(Cut { purity, low, high: self.rank });
        }
    }

    fn end(mut self) -> Option<Cut> {
        self.judge();
        self.best
    }
}
