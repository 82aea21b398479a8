//! A k-d tree: the objects near a place, without looking at all of them.
//!
//! A k-d tree over dense rows with tight boxes. The caller defines "near": a search skips every box
//! that the caller rules out and yields the objects of the others. A lower bound that
//! the caller computes from the gaps to a box, with the same operations in the same order as its
//! distance, never rules out a wanted object: rounding is monotone.
//!
//! Source: Bentley 1975.

use ndarray::ArrayView2;

use crate::distance::points::squared_distance;

/// Most objects of a box that is not divided further.
const LEAF: usize = 16;

/// Nested boxes around the rows of a matrix.
pub struct KdTree {
    d: usize,
    /// Rows in the order of the leaves.
    rows: Vec<f64>,
    /// The object of each such row.
    pub(crate) objects: Vec<u32>,
    /// Each before its halves.
    pub(crate) nodes: Vec<Node>,
    /// Lowest and highest corner of each node.
    corners: Vec<f64>,
}

/// A box and the rows in it, by their places.
pub(crate) struct Node {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// The two halves; absent in a leaf.
    pub(crate) halves: Option<(usize, usize)>,
}

impl KdTree {
    /// The tree of the rows of `x` (n × d).
    pub fn new(x: ArrayView2<'_, f64>) -> Self {
        let (n, d) = x.dim();
        let mut objects: Vec<u32> = (0..n as u32).collect();
        let mut tree =
            KdTree { d, rows: Vec::new(), objects: Vec::new(), nodes: vec![], corners: vec![] };
        tree.divide(x, &mut objects, 0, n);
        tree.rows = objects.iter().flat_map(|&i| x.row(i as usize).to_vec()).collect();
        tree.objects = objects;
        tree
    }

    /// Number of features.
    pub fn d(&self) -> usize {
        self.d
    }

    /// Halves at the median of the widest feature, so that the depth is at most log2 n.
    fn divide(
        &mut self,
        x: ArrayView2<'_, f64>,
        objects: &mut [u32],
        from: usize,
        to: usize,
    ) -> usize {
        let d = self.d;
        let mut low = vec![f64::INFINITY; d];
        let mut high = vec![f64::NEG_INFINITY; d];
        for &i in &objects[from..to] {
            for (s, &v) in x.row(i as usize).iter().enumerate() {
                low[s] = low[s].min(v);
                high[s] = high[s].max(v);
            }
        }
        let width = |s: usize| high[s] - low[s];
        let widest = (0..d).fold(0, |best, s| if width(s) > width(best) { s } else { best });
        let node = self.nodes.len();
        let flat = d == 0 || width(widest) <= 0.0;
        self.corners.extend(&low);
        self.corners.extend(&high);
        self.nodes.push(Node { from, to, halves: None });
        if to - from > LEAF && !flat {
            let middle = (to - from) / 2;
            objects[from..to].select_nth_unstable_by(middle, |&a, &b| {
                let (va, vb) = (x[[a as usize, widest]], x[[b as usize, widest]]);
                va.total_cmp(&vb).then(a.cmp(&b))
            });
            let left = self.divide(x, objects, from, from + middle);
            let right = self.divide(x, objects, from + middle, to);
            self.nodes[node].halves = Some((left, right));
        }
        node
    }

    /// The row at a place in the order of the leaves.
    pub(crate) fn row(&self, at: usize) -> &[f64] {
        &self.rows[at * self.d..(at + 1) * self.d]
    }

    /// All rows of a node, one after the other.
    pub(crate) fn rows_of(&self, node: &Node) -> &[f64] {
        &self.rows[node.from * self.d..node.to * self.d]
    }

    /// The lowest and the highest corner of a node.
    pub(crate) fn corners_of(&self, node: usize) -> (&[f64], &[f64]) {
        let at = 2 * node * self.d;
        self.corners[at..at + 2 * self.d].split_at(self.d)
    }

    /// Calls `found` with every object and its row, except those in boxes (lowest and highest corner)
    /// that `possible` rules out. The order is that of the tree.
    pub fn search(
        &self,
        mut possible: impl FnMut(&[f64], &[f64]) -> bool,
        mut found: impl FnMut(u32, &[f64]),
    ) {
        let mut open = if self.objects.is_empty() { vec![] } else { vec![0] };
        while let Some(node) = open.pop() {
            let (low, high) = self.corners_of(node);
            if !possible(low, high) {
                continue;
            }
            let Node { from, to, halves } = self.nodes[node];
            match halves {
                Some((left, right)) => open.extend([right, left]),
                None => (from..to).for_each(|at| {
                    found(self.objects[at], &self.rows[at * self.d..(at + 1) * self.d]);
                }),
            }
        }
    }

    /// The `count` objects nearest to `centre` by squared Euclidean distance, nearest first, ties
    /// by index; `except` is left out.
    pub fn nearest(&self, centre: &[f64], count: usize, except: Option<u32>) -> Vec<(f64, u32)> {
        let zero = vec![0.0; self.d];
        let mut gap = vec![0.0; self.d];
        let mut best: Vec<(f64, u32)> = Vec::with_capacity(count + 1);
        if count == 0 || self.objects.is_empty() {
            return best;
        }
        let mut bound = |node: usize| {
            let (low, high) = self.corners_of(node);
            gaps(centre, low, high, &mut gap);
            squared_distance(&gap, &zero)
        };
        let mut open = vec![(bound(0), 0)];
        while let Some((least, node)) = open.pop() {
            if best.len() == count && least > best[count - 1].0 {
                continue;
            }
            let Node { from, to, halves } = self.nodes[node];
            if let Some((left, right)) = halves {
                let (a, b) = ((bound(left), left), (bound(right), right));
                // The nearer half is looked at first.
                open.extend(if a.0 <= b.0 { [b, a] } else { [a, b] });
                continue;
            }
            for at in from..to {
                let object = self.objects[at];
                let entry =
                    (squared_distance(&self.rows[at * self.d..(at + 1) * self.d], centre), object);
                let before =
                    |e: &(f64, u32)| e.0.total_cmp(&entry.0).then(e.1.cmp(&object)).is_lt();
                let place = best.partition_point(before);
                if Some(object) != except && place < count {
                    best.insert(place, entry);
                    best.truncate(count);
                }
            }
        }
        best
    }
}

/// How far `centre` is outside the box, per feature; 0 inside. `x − centre` of a row `x` in the box
/// is never smaller in size, rounded or not.
pub fn gaps(centre: &[f64], low: &[f64], high: &[f64], out: &mut [f64]) {
    for (s, gap) in out.iter_mut().enumerate() {
        *gap = (low[s] - centre[s]).max(centre[s] - high[s]).max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_laws::strategies::grid;
    use ndarray::Array2;
    use proptest::prelude::*;

    fn by_looking_at_all(x: &Array2<f64>, centre: &[f64]) -> Vec<(f64, u32)> {
        let mut all: Vec<(f64, u32)> = (0..x.nrows())
            .map(|i| (squared_distance(&x.row(i).to_vec(), centre), i as u32))
            .collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        all
    }

    proptest! {
        #[test]
        fn the_tree_finds_what_looking_at_all_finds(
            x in grid(1..=89, 1..=4), at in 0usize..1000, count in 1usize..12,
        ) {
            let tree = KdTree::new(x.view());
            let centre = x.row(at % x.nrows()).to_vec();
            let all = by_looking_at_all(&x, &centre);
            let first: Vec<_> = all.iter().copied().take(count).collect();
            prop_assert_eq!(tree.nearest(&centre, count, None), first);
            let own = (at % x.nrows()) as u32;
            let others: Vec<_> = all.iter().copied().filter(|e| e.1 != own).take(count).collect();
            prop_assert_eq!(tree.nearest(&centre, count, Some(own)), others);
        }
    }

    #[test]
    fn a_search_passes_over_boxes() {
        let x = Array2::from_shape_fn((1000, 2), |(i, s)| ((i * (7 + s)) % 1000) as f64);
        let tree = KdTree::new(x.view());
        let mut seen = 0;
        tree.search(|_, high| high[0] >= 990.0, |_, _| seen += 1);
        assert!((10..500).contains(&seen), "{seen} objects looked at");
        assert_eq!(tree.d(), 2);
    }

    #[test]
    fn equal_rows_make_one_leaf() {
        let tree = KdTree::new(Array2::from_elem((100, 3), 2.5).view());
        let mut seen = 0;
        tree.search(|low, _| low == [2.5; 3], |_, _| seen += 1);
        assert_eq!(seen, 100);
        assert_eq!(
            tree.nearest(&[0.0; 3], 2, None).iter().map(|e| e.1).collect::<Vec<_>>(),
            [0, 1]
        );
    }
}
