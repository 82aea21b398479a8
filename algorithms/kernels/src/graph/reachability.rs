//! The levels at which density joins objects.
//!
//! The core distance of an object is that to its `min_samples`-th nearest object, itself counted. Two objects
//! reach each other at the largest of their distance and their core distances: single linkage on that is the
//! hierarchy of HDBSCAN* ([Campello2013] §3), which is that of plain distances at `min_samples` = 1. A
//! spanning tree of least weight holds all of it. OPTICS ([Ankerst1999]) reaches an object at the larger of
//! the distance and the core distance of the one before alone.

use rayon::prelude::*;

use mustlink_core::clustering::NONE;
use mustlink_core::data::{Data, DataKind};
use mustlink_core::error::Error;
use mustlink_core::{Context, Result, reduce};

use crate::distance::kd_tree::KdTree;
use crate::distance::points::{Distortion, Points, SquaredDistances};
use crate::graph::boruvka;
use crate::graph::knn::Neighbours;
use crate::simd::dispatch::dispatch;

/// Most features with which boxes still rule out most objects.
const LOW: usize = 16;

/// Operations below which a sweep over the objects is not worth a second thread.
const WORTH_A_THREAD: usize = 1 << 15;

/// Two clusters become one: that of object `a` and that of object `b`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Join {
    /// An object of the one.
    pub a: u32,
    /// An object of the other.
    pub b: u32,
    /// At this distance.
    pub height: f64,
}

/// Sorts joins by height, those of one height as they are given.
pub fn ascending(joins: &mut [Join]) {
    joins.sort_by(|a, b| a.height.total_cmp(&b.height));
}

/// Core distances, squared, and how far objects are from each other.
struct Space<'a> {
    data: &'a Data,
    points: Option<Points>,
    cores: Vec<f64>,
}

impl<'a> Space<'a> {
    fn new(data: &'a Data, min_samples: usize, ctx: &Context) -> Result<Self> {
        let n = data.n();
        let points = match data.kind() {
            DataKind::Distances => None,
            _ => Some(Points::new(data, Distortion::SquaredEuclidean)?),
        };
        let others = min_samples.saturating_sub(1);
        let cores = if others == 0 || n < 2 {
            vec![0.0; n]
        } else {
            let near = match &points {
                Some(points) => Neighbours::search(points, others, ctx)?,
                None => Neighbours::among(data, others, ctx)?,
            };
            (0..n).map(|i| near.radius(i)).collect()
        };
        Ok(Space { data, points, cores })
    }

    /// The squared distance.
    fn between(&self, i: usize, j: usize) -> f64 {
        match &self.points {
            Some(points) => points.between(i, j),
            None => self.data.pair(i, j).powi(2),
        }
    }
}

/// True if the least spanning tree is sought in a k-d tree.
fn is_low(data: &Data) -> bool {
    data.kind() != DataKind::Distances && data.d() <= LOW
}

/// The n − 1 joins of single linkage on mutual reachability distances: the edges of a spanning tree of least
/// weight. In up to 16 features about n log n searches in a k-d tree, otherwise O(n²·d) time; O(n) memory plus
/// a list of `min_samples` neighbours of each object. The choice between equal edges may change with the
/// number of threads; the objects joined up to any height do not.
///
/// # Errors
/// `NumericalFailure` for distances whose squares are too large; cancellation.
pub fn mutual_reachability(data: &Data, min_samples: usize, ctx: &Context) -> Result<Vec<Join>> {
    let n = data.n();
    ctx.check()?;
    let edges = if is_low(data) {
        let tree = KdTree::new(data.matrix().view());
        let cores = if min_samples < 2 {
            vec![0.0; n]
        } else {
            boruvka::core_distances(&tree, min_samples.min(n), ctx)?
        };
        boruvka::spanning_tree(&tree, &cores, ctx)?
    } else {
        let space = Space::new(data, min_samples, ctx)?;
        space.grow(|between, i, j| between.max(space.cores[i]).max(space.cores[j]), ctx)?
    };
    joins(n, edges)
}

/// The n − 1 joins of single linkage on plain distances: the edges of a spanning tree of least weight, in the order in
/// which it grows from object 0 (ties: the smallest object). O(n²·d) time, O(n·d) memory.
///
/// # Errors
/// Returns the errors of [`mutual_reachability`].
pub fn single_linkage(data: &Data, ctx: &Context) -> Result<Vec<Join>> {
    ctx.check()?;
    joins(data.n(), Space::new(data, 1, ctx)?.grow(|between, _, _| between, ctx)?)
}

/// The n − 1 joins in the order of OPTICS from object 0 on, with no limit of the radius: each object and the
/// one before, at the distance at which it is reached. O(n²·d) time.
///
/// # Errors
/// Returns the errors of [`mutual_reachability`].
pub fn optics(data: &Data, min_samples: usize, ctx: &Context) -> Result<Vec<Join>> {
    let n = data.n();
    ctx.check()?;
    let space = Space::new(data, min_samples, ctx)?;
    let mut edges = space.grow(|between, from, _| between.max(space.cores[from]), ctx)?;
    let mut before = 0;
    for edge in &mut edges {
        edge.0 = before;
        before = edge.1;
    }
    joins(n, edges)
}

/// Distances of squares.
fn joins(n: usize, edges: Vec<boruvka::Edge>) -> Result<Vec<Join>> {
    if edges.len() + 1 < n || edges.iter().any(|e| !e.2.is_finite()) {
        let place = "distances: their squares are too large; scale the data".into();
        return Err(Error::NumericalFailure { place });
    }
    Ok(edges.into_iter().map(|(a, b, weight)| Join { a, b, height: weight.sqrt() }).collect())
}

/// An object that is not yet reached, and the lightest edge to it.
#[derive(Clone, Copy)]
struct Outside {
    object: u32,
    from: u32,
    weight: f64,
}

impl Space<'_> {
    /// Reaches one object after the other from object 0 on, always by the lightest edge from those reached (ties:
    /// the smallest object): Prim 1957. `weight` is that of an edge of a squared length from an object to another.
    fn grow(
        &self,
        weight: impl Fn(f64, usize, usize) -> f64 + Sync,
        ctx: &Context,
    ) -> Result<Vec<boruvka::Edge>> {
        let (n, d) = (self.data.n(), self.data.d());
        let unreached = |object| Outside { object, from: NONE, weight: f64::INFINITY };
        let mut outside: Vec<Outside> = (1..n as u32).map(unreached).collect();
        // Rows of objects that are not yet reached, next to each other as these are.
        let mut rows = self.dense_rows();
        let mut edges = Vec::with_capacity(outside.len());
        let mut from = 0;
        while !outside.is_empty() {
            ctx.check()?;
            let relax = |first: usize, part: &mut [Outside]| {
                let mut lengths = [0.0; reduce::BLOCK];
                let lengths = &mut lengths[..part.len()];
                self.lengths(from as usize, part, &rows[first * self.width()..], lengths);
                let mut least = (f64::INFINITY, NONE, 0);
                for (at, (to, length)) in part.iter_mut().zip(lengths).enumerate() {
                    let weight = weight(*length, from as usize, to.object as usize);
                    if weight < to.weight || to.from == NONE {
                        (to.from, to.weight) = (from, weight);
                    }
                    least = lighter(least, (to.weight, to.object, first + at));
                }
                least
            };
            let none = (f64::INFINITY, NONE, 0);
            let (_, _, at) = if outside.len() * d.max(1) < WORTH_A_THREAD {
                let chunks = outside.chunks_mut(reduce::BLOCK).enumerate();
                chunks.map(|(c, part)| relax(c * reduce::BLOCK, part)).fold(none, lighter)
            } else {
                let chunks = outside.par_chunks_mut(reduce::BLOCK).enumerate();
                chunks.map(|(c, part)| relax(c * reduce::BLOCK, part)).reduce(|| none, lighter)
            };
            let next = outside.swap_remove(at);
            let last = outside.len() * self.width();
            rows.copy_within(last..last + self.width(), at * self.width());
            edges.push((next.from, next.object, next.weight));
            from = next.object;
            if edges.len() % reduce::BLOCK == 0 {
                ctx.progress(edges.len() as u64, Some(n as u64 - 1));
            }
        }
        Ok(edges)
    }

    /// Numbers of a row that [`Self::dense_rows`] has.
    fn width(&self) -> usize {
        if self.data.kind() == DataKind::Dense { self.data.d() } else { 0 }
    }

    /// The rows of all objects but the first, if they are dense.
    fn dense_rows(&self) -> Vec<f64> {
        match &self.points {
            Some(points) if self.width() > 0 => {
                (1..points.n()).flat_map(|i| points.dense_row(i)).copied().collect()
            }
            _ => Vec::new(),
        }
    }

    /// Squared distances of an object to others, whose rows follow each other if they are dense.
    fn lengths(&self, from: usize, to: &[Outside], rows: &[f64], out: &mut [f64]) {
        match &self.points {
            Some(points) if self.width() > 0 => {
                dispatch(SquaredDistances { row: points.dense_row(from), rows, out });
            }
            _ => {
                let between = |o: &Outside| self.between(from, o.object as usize);
                out.iter_mut().zip(to).for_each(|(out, to)| *out = between(to));
            }
        }
    }
}

/// The lighter of two edges to objects, ties by object; each has its place besides.
fn lighter(a: (f64, u32, usize), b: (f64, u32, usize)) -> (f64, u32, usize) {
    if (a.0, a.1) <= (b.0, b.1) { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::union_find::UnionFind;
    use mustlink_laws::strategies::grid;
    use ndarray::{Array2, array};
    use proptest::prelude::*;

    fn heights(joins: &[Join]) -> Vec<f64> {
        let mut heights: Vec<f64> = joins.iter().map(|j| j.height).collect();
        heights.sort_by(f64::total_cmp);
        heights
    }

    /// The components up to each height, by their first objects.
    fn levels(n: usize, joins: &[Join]) -> Vec<Vec<u32>> {
        let mut sorted = joins.to_vec();
        ascending(&mut sorted);
        let mut sets = UnionFind::new(n);
        let level = |part: &[Join]| {
            for j in part {
                sets.union(j.a, j.b);
            }
            let roots: Vec<u32> = (0..n as u32).map(|i| sets.find(i)).collect();
            mustlink_core::clustering::canonical(&roots)
        };
        sorted.chunk_by(|a, b| a.height == b.height).map(level).collect()
    }

    fn plainly(x: &Array2<f64>, min_samples: usize) -> Vec<Join> {
        let data = Data::dense(x.clone()).unwrap();
        let space = Space::new(&data, min_samples, &Context::new(1)).unwrap();
        let weight = |_, i, j| space.between(i, j).max(space.cores[i]).max(space.cores[j]);
        joins(x.nrows(), space.grow(weight, &Context::new(1)).unwrap()).unwrap()
    }

    #[test]
    fn worked_example() {
        // Second nearest, itself counted: 1, 1, 2, 5; third: 3, 2, 3, 7.
        let data = Data::dense(array![[0.0], [1.0], [3.0], [8.0]]).unwrap();
        let ctx = Context::new(1);
        let of = |min_samples| heights(&mutual_reachability(&data, min_samples, &ctx).unwrap());
        assert_eq!(of(1), [1.0, 2.0, 5.0]);
        assert_eq!(of(2), [1.0, 2.0, 5.0]);
        assert_eq!(of(3), [3.0, 3.0, 7.0]);
        assert_eq!(of(9), [7.0, 8.0, 8.0]);
        // OPTICS looks at the core distance of the one before alone: 0, at 3 from it 1, then 3, 8.
        let ordered = optics(&data, 3, &ctx).unwrap();
        let ends: Vec<(u32, u32)> = ordered.iter().map(|j| (j.a, j.b)).collect();
        assert_eq!(ends, [(0, 1), (1, 2), (2, 3)]);
        assert_eq!(ordered.iter().map(|j| j.height).collect::<Vec<_>>(), [3.0, 2.0, 5.0]);
    }

    proptest! {
        /// In a k-d tree as by looking at all pairs: the same components up to every height.
        #[test]
        fn two_roads(x in grid(1..=150, 1..=4), min_samples in 1usize..9, noise in 0u8..2) {
            let x = Array2::from_shape_fn(x.dim(), |(i, f)| {
                x[[i, f]] + f64::from(noise) * ((31 * i + 17 * f) % 101) as f64 / 128.0
            });
            let data = Data::dense(x.clone()).unwrap();
            let fast = mutual_reachability(&data, min_samples, &Context::new(1)).unwrap();
            let plain = plainly(&x, min_samples);
            prop_assert_eq!(levels(x.nrows(), &fast), levels(x.nrows(), &plain));
            prop_assert_eq!(heights(&fast), heights(&plain));
        }
    }

    #[test]
    fn many_objects_on_several_threads() {
        let x = Array2::from_shape_fn((4000, 3), |(i, f)| ((i * (7919 + 13 * f)) % 4001) as f64);
        let data = Data::dense(x.clone()).unwrap();
        let plain = heights(&plainly(&x, 5));
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let fast = pool.install(|| mutual_reachability(&data, 5, &Context::new(1)).unwrap());
            assert_eq!(heights(&fast), plain, "{threads} threads");
        }
    }

    #[test]
    fn many_equal_rows_are_joined_at_once() {
        let data = Data::dense(Array2::from_elem((50_000, 2), 1.5)).unwrap();
        let joins = mutual_reachability(&data, 5, &Context::new(1)).unwrap();
        assert_eq!(joins.len(), 49_999);
        assert!(joins.iter().all(|j| j.height == 0.0));
    }

    #[test]
    fn squares_that_overflow_are_named() {
        let data = Data::distances(array![[0.0, 1e200], [1e200, 0.0]]).unwrap();
        let error = mutual_reachability(&data, 1, &Context::new(1)).unwrap_err().to_string();
        assert!(error.contains("scale the data"), "{error}");
    }
}
