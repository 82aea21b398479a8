//! The exact nearest neighbours of each object.
//!
//! Blocks of inner products give rounded distances; whatever lies within the rounding bound of the
//! farthest neighbour so far is measured exactly by [`Points::between`]. So the lists are those of
//! the plain loop over all pairs, with ties broken by index, for any number of threads.
//!
//! Sources of local scaling: [ZelnikManorPerona2004]; [RangapuramHein2012], whose form it has.

use ndarray::{Array2, Axis, CowArray, Ix2, Slice};
use rayon::prelude::*;

use mustlink_core::data::{Data, DataKind, Row};
use mustlink_core::{Context, Result};

use crate::distance::points::{Distortion, Points};
use crate::graph::adjacency::Graph;

/// Objects whose neighbours are sought together.
const ROWS: usize = 128;
/// Objects they are compared with at a time.
const COLUMNS: usize = 1024;

/// The nearest other objects of every object, nearest first, ties by index.
#[derive(Debug, Clone, PartialEq)]
pub struct Neighbours {
    knn: usize,
    objects: Vec<u32>,
    distances: Vec<f64>,
}

/// The nearest so far, ascending by (distance, object).
struct Nearest {
    knn: usize,
    list: Vec<(f64, u32)>,
}

impl Nearest {
    fn new(knn: usize) -> Self {
        Nearest { knn, list: Vec::with_capacity(knn + 1) }
    }

    /// Nothing at this distance or beyond enters any more, whatever its index.
    fn reach(&self) -> f64 {
        if self.list.len() < self.knn { f64::INFINITY } else { self.list[self.knn - 1].0 }
    }

    /// Objects must be offered in ascending order.
    fn offer(&mut self, distance: f64, object: u32) {
        if self.list.len() == self.knn {
            if distance >= self.reach() {
                return;
            }
            self.list.pop();
        }
        let at = self.list.partition_point(|&(d, _)| d <= distance);
        self.list.insert(at, (distance, object));
    }
}

impl Neighbours {
    /// The `knn` nearest other objects of each object (all others where there are fewer), by the
    /// distortion of `points`. O(n²·d) time in blocks, O(n·knn) memory.
    ///
    /// # Errors
    /// Cancellation.
    pub fn search(points: &Points, knn: usize, ctx: &Context) -> Result<Self> {
        let n = points.n();
        let knn = knn.min(n - 1);
        let sparse = points.data().kind() == DataKind::Csr;
        Neighbours::by_blocks(n, knn, ctx, |rows, found| {
            if sparse {
                sparse_block(points, rows.start, found);
            } else {
                dense_block(points, rows.start, found);
            }
        })
    }

    /// The same for a matrix of distances. Distances are squared, so that they compare with the
    /// squared Euclidean distortion.
    ///
    /// # Errors
    /// Cancellation.
    pub fn among(distances: &Data, knn: usize, ctx: &Context) -> Result<Self> {
        let n = distances.n();
        let knn = knn.min(n - 1);
        Neighbours::by_blocks(n, knn, ctx, |rows, found| {
            for (i, nearest) in rows.zip(found) {
                for j in (0..n).filter(|&j| j != i) {
                    nearest.offer(distances.pair(i, j).powi(2), j as u32);
                }
            }
        })
    }

    fn by_blocks(
        n: usize,
        knn: usize,
        ctx: &Context,
        search: impl Fn(std::ops::Range<usize>, &mut [Nearest]) + Sync,
    ) -> Result<Self> {
        let mut out = Neighbours { knn, objects: vec![0; n * knn], distances: vec![0.0; n * knn] };
        if knn == 0 {
            return Ok(out);
        }
        let objects = out.objects.par_chunks_mut(ROWS * knn);
        let distances = out.distances.par_chunks_mut(ROWS * knn);
        objects.zip(distances).enumerate().try_for_each(|(b, (objects, distances))| {
            ctx.check()?;
            let rows = b * ROWS..((b + 1) * ROWS).min(n);
            let mut found: Vec<Nearest> = rows.clone().map(|_| Nearest::new(knn)).collect();
            search(rows, &mut found);
            for (at, nearest) in found.iter().enumerate() {
                for (s, &(distance, object)) in nearest.list.iter().enumerate() {
                    objects[at * knn + s] = object;
                    distances[at * knn + s] = distance;
                }
            }
            Ok(())
        })?;
        Ok(out)
    }

    /// Number of objects. (0 when there is a single object, which has no neighbour.)
    pub fn n(&self) -> usize {
        self.objects.len().checked_div(self.knn).unwrap_or(0)
    }

    /// Neighbours per object.
    pub fn knn(&self) -> usize {
        self.knn
    }

    /// Neighbours of object `i` and their distortions, ascending.
    pub fn of(&self, i: usize) -> (&[u32], &[f64]) {
        let span = i * self.knn..(i + 1) * self.knn;
        (&self.objects[span.clone()], &self.distances[span])
    }

    /// Distortion of object `i` to the farthest of its neighbours.
    pub fn radius(&self, i: usize) -> f64 {
        self.of(i).1.last().copied().unwrap_or(0.0)
    }

    /// The symmetric graph over `n` objects: i–j is an edge if either is among the neighbours of the
    /// other, with the larger of the weights `weight(i, j, distortion)` of the directions present.
    pub fn graph(&self, n: usize, weight: impl Fn(usize, usize, f64) -> f64) -> Graph {
        let mut edges = Vec::with_capacity(self.objects.len());
        for i in 0..self.n() {
            let (objects, distances) = self.of(i);
            for (&j, &distance) in objects.iter().zip(distances) {
                edges.push((i as u32, j, weight(i, j as usize, distance)));
            }
        }
        Graph::from_edges(n, edges, f64::max)
    }

    /// The symmetric graph of locally scaled Gaussian weights exp(−scale · distortion / r²), r² the
    /// distortion of an object to the farthest of its neighbours. If that is 0 (duplicates), the
    /// smallest positive one of all objects replaces it.
    pub fn local_graph(&self, n: usize, scale: f64) -> Graph {
        let positive = |&r: &f64| r > 0.0;
        let smallest =
            (0..self.n()).map(|i| self.radius(i)).filter(positive).fold(f64::INFINITY, f64::min);
        let smallest = if smallest.is_finite() { smallest } else { 1.0 };
        self.graph(n, |i, _, distance| {
            let radius = self.radius(i);
            (-scale * (distance / if radius > 0.0 { radius } else { smallest })).exp()
        })
    }
}

/// Rows `range` as one matrix.
fn gathered(data: &Data, range: std::ops::Range<usize>) -> Array2<f64> {
    let mut out = Array2::zeros((range.len(), data.d()));
    for (i, mut to) in range.zip(out.axis_iter_mut(Axis(0))) {
        if let Row::Dense(x) = data.row(i) {
            to.iter_mut().zip(x).for_each(|(t, v)| *t = *v);
        }
    }
    out
}

fn dense_block(points: &Points, first: usize, found: &mut [Nearest]) {
    let (n, data) = (points.n(), points.data());
    let block = gathered(data, first..first + found.len());
    for start in (0..n).step_by(COLUMNS) {
        let columns = start..(start + COLUMNS).min(n);
        let all = data.as_array();
        let other: CowArray<'_, f64, Ix2> = match &all {
            Some(all) => all.slice_axis(Axis(0), Slice::from(columns.clone())).into(),
            None => gathered(data, columns.clone()).into(),
        };
        let dots = block.dot(&other.t());
        for (at, nearest) in found.iter_mut().enumerate() {
            let dots = dots.row(at);
            for (dot, j) in dots.iter().zip(columns.clone()) {
                consider(points, first + at, j, *dot, nearest);
            }
        }
    }
}

fn sparse_block(points: &Points, first: usize, found: &mut [Nearest]) {
    let data = points.data();
    let mut x = vec![0.0; points.d()];
    for (at, nearest) in found.iter_mut().enumerate() {
        let i = first + at;
        data.row(i).add_to(&mut x, 1.0);
        for j in 0..points.n() {
            consider(points, i, j, data.row(j).dot(&x), nearest);
        }
        if let Row::Sparse(columns, _) = data.row(i) {
            columns.iter().for_each(|&c| x[c as usize] = 0.0);
        }
    }
}

/// Offers j as a neighbour of i unless the rounded distance shows that it is too far.
fn consider(points: &Points, i: usize, j: usize, dot: f64, nearest: &mut Nearest) {
    if i == j {
        return;
    }
    let sum = points.norm(i) + points.norm(j);
    // Twice the classical bound d·ε·Σ|x||y| of an inner product, with room for the norms.
    let slack = 4.0 * (points.d() + 8) as f64 * f64::EPSILON * sum;
    let rounded = match points.distortion() {
        Distortion::SquaredEuclidean => sum - 2.0 * dot,
        Distortion::Cosine => 1.0 - dot,
    };
    // NaN, from norms that overflow, is not far.
    let far = rounded - slack > nearest.reach();
    if !far {
        nearest.offer(points.between(i, j).max(0.0), j as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_laws::fixtures::to_csr;
    use ndarray::array;
    use proptest::prelude::*;

    fn ctx() -> Context {
        Context::new(1)
    }

    fn plain(points: &Points, knn: usize) -> Vec<Vec<(f64, u32)>> {
        (0..points.n())
            .map(|i| {
                let mut all: Vec<(f64, u32)> = (0..points.n())
                    .filter(|&j| j != i)
                    .map(|j| (points.between(i, j).max(0.0), j as u32))
                    .collect();
                all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                all.truncate(knn);
                all
            })
            .collect()
    }

    fn lists(found: &Neighbours, n: usize) -> Vec<Vec<(f64, u32)>> {
        (0..n)
            .map(|i| {
                let (o, d) = found.of(i);
                d.iter().copied().zip(o.iter().copied()).collect()
            })
            .collect()
    }

    #[test]
    fn worked_example() {
        // On a line 0, 1, 3, 7: the ties of 1 (to 0: 1, to 3: 4) and the symmetric closure.
        let data = Data::dense(array![[0.0], [1.0], [3.0], [7.0]]).unwrap();
        let points = Points::new(&data, Distortion::SquaredEuclidean).unwrap();
        let found = Neighbours::search(&points, 1, &ctx()).unwrap();
        assert_eq!(lists(&found, 4), [[(1.0, 1)], [(1.0, 0)], [(4.0, 1)], [(16.0, 2)]]);
        let graph = found.graph(4, |_, _, d| 1.0 / d);
        let edges: Vec<_> = graph.edges().collect();
        assert_eq!(edges, [(0, 1, 1.0), (1, 2, 0.25), (2, 3, 0.0625)]);
    }

    #[test]
    fn far_from_the_origin_is_exact_too() {
        // The rounded distances are all noise here.
        let x = Array2::from_shape_fn((300, 3), |(i, s)| 1e9 + ((i * 37 + s * 11) % 101) as f64);
        let points = Points::new(&Data::dense(x).unwrap(), Distortion::SquaredEuclidean).unwrap();
        let found = Neighbours::search(&points, 5, &ctx()).unwrap();
        assert_eq!(lists(&found, 300), plain(&points, 5));
        let huge = Array2::from_shape_fn((5, 1), |(i, _)| 1e200 * i as f64);
        let points =
            Points::new(&Data::dense(huge).unwrap(), Distortion::SquaredEuclidean).unwrap();
        let found = Neighbours::search(&points, 2, &ctx()).unwrap();
        assert_eq!(lists(&found, 5), plain(&points, 2));
    }

    #[test]
    fn any_number_of_threads_and_a_cancelled_run() {
        let x = Array2::from_shape_fn((700, 4), |(i, s)| ((i * 7919 + s * 104_729) % 1009) as f64);
        let points = Points::new(&Data::dense(x).unwrap(), Distortion::Cosine).unwrap();
        let at = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Neighbours::search(&points, 7, &ctx()).unwrap())
        };
        assert_eq!(at(1), at(2));
        assert_eq!(at(1), at(7));
        let flag = std::sync::Arc::new(true.into());
        let path = mustlink_core::random::SeedPath::new(1);
        let cancelled = Context::builder(path).cancel(flag).build();
        assert_eq!(
            Neighbours::search(&points, 7, &cancelled),
            Err(mustlink_core::Error::Cancelled)
        );
    }

    #[test]
    fn duplicates_and_single_objects() {
        let data = Data::dense(array![[1.0], [1.0], [1.0], [4.0]]).unwrap();
        let points = Points::new(&data, Distortion::SquaredEuclidean).unwrap();
        let found = Neighbours::search(&points, 2, &ctx()).unwrap();
        assert_eq!(found.of(3).0, [0, 1]);
        // Radius 0 of the duplicates: that of object 3 stands in; equal objects weigh 1.
        let graph = found.local_graph(4, 4.0);
        assert_eq!(graph.neighbours(0), (&[1, 2, 3][..], &[1.0, 1.0, (-4.0f64).exp()][..]));
        let one = Data::dense(array![[1.0]]).unwrap();
        let points = Points::new(&one, Distortion::SquaredEuclidean).unwrap();
        let found = Neighbours::search(&points, 10, &ctx()).unwrap();
        assert_eq!((found.knn(), found.local_graph(1, 4.0).n()), (0, 1));
    }

    proptest! {
        #[test]
        fn equals_the_plain_loop(
            cells in proptest::collection::vec(-3i8..4, 2..120),
            d in 1usize..4,
            knn in 1usize..8,
            cosine: bool,
        ) {
            // Small integers: many ties, exact arithmetic in every order of summation.
            let n = cells.len() / d;
            prop_assume!(n > 0);
            let x = Array2::from_shape_fn((n, d), |(i, s)| f64::from(cells[i * d + s]));
            let distortion =
                if cosine { Distortion::Cosine } else { Distortion::SquaredEuclidean };
            let dense = Data::dense(x.clone()).unwrap();
            let points = Points::new(&dense, distortion).unwrap();
            let found = Neighbours::search(&points, knn, &ctx()).unwrap();
            prop_assert_eq!(lists(&found, n), plain(&points, knn.min(n - 1)));
            if !cosine {
                let sparse = Data::csr(to_csr(&x)).unwrap();
                let points = Points::new(&sparse, distortion).unwrap();
                prop_assert_eq!(&found, &Neighbours::search(&points, knn, &ctx()).unwrap());
                let rows = Array2::from_shape_fn((n, n), |(i, j)| {
                    dense.row(i).squared_distance(&dense.row(j))
                });
                // Distances whose squares are small integers: the squares themselves.
                let squares = Data::distances(rows.mapv(|v| v * v)).unwrap();
                let by_matrix = Neighbours::among(&squares, knn, &ctx()).unwrap();
                for i in 0..n {
                    prop_assert_eq!(found.of(i).0, by_matrix.of(i).0);
                }
                let order: Vec<usize> = (0..n).collect();
                let listed = Points::new(&dense.subset(&order), distortion).unwrap();
                prop_assert_eq!(&found, &Neighbours::search(&listed, knn, &ctx()).unwrap());
            }
        }
    }
}
