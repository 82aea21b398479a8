//! Arithmetic that methods share: neighbours, graphs, eigenvectors, k-means, assignment.
//!
//! This module has a [`VERSION`] of its own, and a test fixes every signature. A change that would break a caller
//! raises the version, and the changelog shows what to write instead. Results do not depend on the number of threads.
//! Functions that take a context can be cancelled, and all functions on data take dense and sparse rows.
//!
//! For example, spectral clustering takes a few lines:
//!
//! ```
//! use mustlink::kernels::{Distortion, Neighbours, Points, laplacian};
//! use mustlink::ndarray::Array2;
//! use mustlink::{Context, Data};
//!
//! # fn main() -> mustlink::Result<()> {
//! let x = Array2::from_shape_fn((20, 1), |(i, _)| (i + 50 * (i / 10)) as f64);
//! let (data, ctx) = (Data::dense(x)?, Context::new(1));
//! let points = Points::new(&data, Distortion::SquaredEuclidean)?;
//! let graph = Neighbours::search(&points, 3, &ctx)?.graph(20, |_, _, d| (-d).exp());
//! let spectrum = laplacian(&graph, &graph.degrees(), 2, &mut ctx.stream("eigenvectors"), &ctx)?;
//! // Two groups: two eigenvalues of 0, and vectors that are constant on each.
//! assert!(spectrum.values.iter().all(|v| v.abs() < 1e-6));
//! # Ok(())
//! # }
//! ```

/// Version of this module, raised by changes that break callers.
///
/// ```
/// assert_eq!(mustlink::kernels::VERSION, 1);
/// ```
pub const VERSION: u32 = 1;

/// Objects prepared for computing distances.
///
/// ```
/// use mustlink::kernels::{Distortion, Points};
/// use mustlink::{Data, ndarray::array};
///
/// # fn main() -> mustlink::Result<()> {
/// let data = Data::dense(array![[3.0, 0.0], [0.0, 4.0]])?;
/// let plain = Points::new(&data, Distortion::SquaredEuclidean)?;
/// assert_eq!(plain.between(0, 1), 25.0);
/// // Under cosine, rows have unit length.
/// assert_eq!(Points::new(&data, Distortion::Cosine)?.between(0, 1), 1.0);
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_kernels::distance::points::Distortion;
#[doc(inline)]
pub use mustlink_kernels::distance::points::Points;

#[doc(inline)]
pub use mustlink_kernels::graph::adjacency::Graph;
/// The nearest neighbours of every object, and the graph that joins them.
///
/// ```
/// use mustlink::kernels::{Distortion, Graph, Neighbours, Points};
/// use mustlink::{Context, Data, ndarray::array};
///
/// # fn main() -> mustlink::Result<()> {
/// let data = Data::dense(array![[0.0], [1.0], [3.0], [9.0]])?;
/// let points = Points::new(&data, Distortion::SquaredEuclidean)?;
/// let near = Neighbours::search(&points, 1, &Context::new(1))?;
/// assert_eq!(near.of(2), (&[1][..], &[4.0][..]));
/// let graph: Graph = near.graph(4, |_, _, _| 1.0);
/// assert_eq!((graph.edge_count(), graph.components().1), (3, 1));
/// assert_eq!(graph.degrees(), [1.0, 2.0, 2.0, 1.0]);
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_kernels::graph::knn::Neighbours;

#[doc(inline)]
pub use mustlink_kernels::graph::eigen::Eigen;
/// All eigenvalues and eigenvectors of a symmetric matrix.
///
/// ```
/// use mustlink::kernels::{Eigen, symmetric};
/// use mustlink::ndarray::array;
///
/// # fn main() -> mustlink::Result<()> {
/// let Eigen { values, vectors } = symmetric(&array![[2.0, 1.0], [1.0, 2.0]])?;
/// assert!((values[0] - 1.0).abs() < 1e-12 && (values[1] - 3.0).abs() < 1e-12);
/// assert!((vectors[[0, 1]] - 0.5f64.sqrt()).abs() < 1e-12);
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_kernels::graph::eigen::symmetric;

/// The smallest eigenvalues of the Laplacian of a graph, with their eigenvectors.
///
/// ```
/// use mustlink::Context;
/// use mustlink::kernels::{Graph, laplacian};
///
/// # fn main() -> mustlink::Result<()> {
/// // A path of three vertices; mass 1 gives the plain Laplacian with eigenvalues 0, 1, 3.
/// let path = Graph::from_edges(3, vec![(0, 1, 1.0), (1, 2, 1.0)], f64::max);
/// let ctx = Context::new(1);
/// let found = laplacian(&path, &[1.0; 3], 3, &mut ctx.stream("eigenvectors"), &ctx)?;
/// assert!((found.values[1] - 1.0).abs() < 1e-9 && (found.values[2] - 3.0).abs() < 1e-9);
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_kernels::graph::eigen::laplacian;

/// The smallest eigenvalues of a matrix that is given as a function, with their eigenvectors.
///
/// ```
/// use mustlink::Context;
/// use mustlink::kernels::smallest;
/// use mustlink::ndarray::{Array2, array};
///
/// # fn main() -> mustlink::Result<()> {
/// // The matrix is known by what it does to a block of columns: here diag(1, 2, 3).
/// let times = array![[1.0], [2.0], [3.0]];
/// let ctx = Context::new(1);
/// let mut stream = ctx.stream("eigenvectors");
/// let found = smallest(3, 2, 3.0, |x| &x * &times, None::<&Array2<f64>>, &mut stream, &ctx)?;
/// assert!((found.values[0] - 1.0).abs() < 1e-9 && (found.values[1] - 2.0).abs() < 1e-9);
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_kernels::graph::eigen::smallest;

/// Disjoint sets of objects that can be united.
///
/// ```
/// use mustlink::kernels::UnionFind;
///
/// let mut sets = UnionFind::new(4);
/// assert!(sets.union(0, 3).is_some() && sets.union(3, 0).is_none());
/// assert_eq!((sets.find(0) == sets.find(3), sets.size(3)), (true, 2));
/// ```
#[doc(inline)]
pub use mustlink_core::union_find::UnionFind;

/// K-means from given centres, by Lloyd's algorithm.
///
/// ```
/// use mustlink::kernels::{
///     Distortion, Empty, Init, Points, Stop, ToleranceKind, best_of, lloyd, start,
/// };
/// use mustlink::{Context, Data, Problem, ndarray::array};
///
/// # fn main() -> mustlink::Result<()> {
/// let problem = Problem::new(Data::dense(array![[0.0], [1.0], [8.0], [9.0]])?).with_k(2);
/// let points = Points::new(&problem.data, Distortion::SquaredEuclidean)?;
/// let (ctx, stop) = (Context::new(1), Stop::new(100, 1e-6, ToleranceKind::Relative));
/// let found = best_of(5, |restart| {
///     let ctx = ctx.index(restart);
///     let centres = start(&points, 2, Init::KmeansPlusPlus, &problem, &ctx)?;
///     lloyd(&points, centres, stop, Empty::Reseed, &ctx)
/// })?;
/// assert_eq!(found.objective, Some(1.0));
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_kernels::kmeans::lloyd::lloyd;
#[doc(inline)]
pub use mustlink_kernels::kmeans::{
    lloyd::{Empty, Stop, ToleranceKind, best_of},
    seeding::{Init, start},
};

/// Assigns each object to its nearest centre.
///
/// ```
/// use mustlink::kernels::{Distortion, Points, assign};
/// use mustlink::{Data, ndarray::array};
///
/// # fn main() -> mustlink::Result<()> {
/// let data = Data::dense(array![[0.0], [1.0], [8.0]])?;
/// let points = Points::new(&data, Distortion::SquaredEuclidean)?;
/// let mut labels = [0; 3];
/// assert_eq!(assign(&points, &array![[0.0], [9.0]], &mut labels, None), 1);
/// assert_eq!(labels, [0, 0, 1]);
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_kernels::kmeans::nearest::assign::assign;

/// Assigns rows to columns, one to one, so that the total value is largest.
///
/// ```
/// use mustlink::kernels::{maximise, maximise_counts};
///
/// # fn main() -> mustlink::Result<()> {
/// // Rows to columns, one to one, so that the sum is largest.
/// assert_eq!(maximise(&[1.0, 5.0, 2.0, 9.0], 2, 2)?, [Some(0), Some(1)]);
/// assert_eq!(maximise_counts(&[7, 1, 0, 3, 9, 2], 2, 3)?, [Some(0), Some(1)]);
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_kernels::agreement::linear_assignment::maximise;
#[doc(inline)]
pub use mustlink_kernels::agreement::linear_assignment::maximise_counts;
