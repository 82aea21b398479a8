//! Spectral clustering: k-means on the leading eigenvectors of a graph.

use std::collections::BTreeMap;

use mustlink_core::clustering::canonical;
use mustlink_core::prelude::*;
use mustlink_kernels::distance::points::{Distortion, DistortionOption};
use mustlink_kernels::graph::adjacency::Graph;
use mustlink_kernels::graph::eigen::laplacian;

use crate::parts::embedding::kmeans_of;
use crate::parts::neighbour_graph::neighbour_graph;

/// Spectral clustering: k-means on the rows of the leading eigenvectors of a graph.
///
/// # Method
/// W holds the affinities of a graph without loops, D its degrees. The k largest eigenvectors of D^(−½)·W·D^(−½) are
/// the columns of an n × k matrix. Its rows are scaled to length 1 and clustered with k-means. With
/// `form = "spectral_learning"` the affinity of must-linked objects is 1 and that of cannot-linked objects 0. The
/// eigenvectors are then those of (W + d·I − D) / d, with d the largest degree. If the graph falls into more than k
/// parts, the rows still distinguish all of them.
/// # Input and output
/// Dense or sparse rows (turned into a symmetric graph of the `knn` nearest neighbours with locally scaled Gaussian
/// weights), distances (the same), or affinities (the graph itself, without its diagonal). One label per object in
/// `0..k`. Only `spectral_learning` uses constraints; it ignores their weights and may break them. The objective is
/// the distortion of k-means.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `NumericalFailure` for objects without a neighbour (form `ng`); `BadParam`
/// for negative affinities and, with `spectral_learning`, for affinities above 1.
/// # Cost and randomness
/// O(n²·d) time for the graph, then O(edges · k) for a step of the iteration; O(n · (knn + k)) memory. Up to 200
/// objects, and if k is more than a fifth of them, O(n³) time and O(n²) memory. Random: the starts of k-means and of
/// the iteration.
/// # References
/// [NgJordanWeiss2002] §2; [KamvarKleinManning2003] for `spectral_learning`. The graph: [ZelnikManorPerona2004].
/// Differs: only neighbours are joined, with a width for each object.
#[options]
pub struct Spectral {
    /// Number of clusters, at most n. If absent, the k of the problem.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Matrix whose eigenvectors are used.
    pub form: Form,
    /// Distance between objects in the neighbour graph. "auto": cosine for sparse rows, otherwise squared Euclidean.
    pub distortion: AutoOr<Distortion>,
    /// Number of neighbours of each object in the graph (fewer in small data).
    #[option(default = 20, min = 1)]
    pub knn: usize,
    /// Factor in the weight exp(−scale · distance² / r²) of a neighbour; r is the distance to the farthest one.
    #[option(default = 1.0, above = 0.0)]
    pub scale: f64,
    /// Number of starts of k-means; the best result is kept.
    #[option(default = 10, min = 1)]
    pub restarts: usize,
}

/// Matrix whose eigenvectors are used.
#[options]
pub enum Form {
    /// The normalised affinities [NgJordanWeiss2002]; constraints are not used.
    #[default]
    Ng,
    /// Affinities that include the constraints, normalised additively [KamvarKleinManning2003].
    SpectralLearning,
}

#[plugin(
    "spectral",
    cites = [
        "NgJordanWeiss2002",
        "ZelnikManorPerona2004",
        "KamvarKleinManning2003" if form = "spectral_learning",
    ]
)]
impl BaseClusterer for Spectral {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let k = problem.require_k(self.k, "spectral")?;
        ctx.check()?;
        let n = problem.n();
        if k == 1 || n == 1 {
            return Ok(Clustering { labels: vec![0; n], k, ..Clustering::default() });
        }
        let graph = neighbour_graph(&problem.data, self.distortion, self.knn, self.scale, ctx)?;
        // The largest eigenvectors of D^(−½)WD^(−½) are the smallest of the normalised Laplacian; those of
        // (W + dI − D) / d the smallest of D − W, whose objects all have the mass 1.
        let (graph, mass) = match self.form {
            Form::Ng => {
                let degrees = graph.degrees();
                (graph, degrees)
            }
            Form::SpectralLearning => (linked(&graph, &problem.constraints)?, vec![1.0; n]),
        };
        if let Some(i) = mass.iter().position(|&d| !(d > 0.0 && d.is_finite())) {
            let place = format!("spectral: object {i} has weight {} in the graph", mass[i]);
            return Err(Error::NumericalFailure { place });
        }
        // Each part of the graph has a vector of eigenvalue 0. If there are more than k, all are needed.
        let count = k.max(graph.components().1);
        let mut stream = ctx.stream("eigenvectors");
        let mut rows = laplacian(&graph, &mass, count, &mut stream, ctx)?.vectors;
        for mut row in rows.rows_mut() {
            let length = row.dot(&row).sqrt();
            if length > 0.0 {
                row.mapv_inplace(|v| v / length);
            }
        }
        let mut best = kmeans_of(rows, k, self.restarts, ctx)?;
        best.labels = canonical(&best.labels);
        // Centres of eigenvectors say nothing about the features.
        Ok(Clustering { extras: Extras::default(), ..best })
    }

    fn properties(&self) -> Properties {
        Properties {
            accepts: vec![DataKind::Dense, DataKind::Csr, DataKind::Distances, DataKind::Affinity],
            needs_k: self.k.is_none(),
            reads_constraints: self.form == Form::SpectralLearning,
            ..Properties::default()
        }
    }

    fn operations(&self, shape: &Shape) -> Option<f64> {
        let (n, k) = (shape.n as f64, self.k.unwrap_or(shape.k) as f64);
        let graph = n * n * shape.d.max(1) as f64;
        let edges = n * self.knn.min(shape.n) as f64;
        // A hundred steps of the block, preconditioned by eight products each; or a decomposition.
        let block = k + 3.0;
        let solved = if whole(shape.n, k as usize) {
            12.0 * n.powi(3)
        } else {
            1800.0 * block * (edges + n * block)
        };
        Some(graph + solved + 100.0 * self.restarts as f64 * n * k * k)
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let k = self.k.unwrap_or(shape.k);
        let n = shape.n as u64;
        let copy = self.distortion.copy_bytes(shape) as u64;
        let solver = if whole(shape.n, k) { 64 * n * n } else { 8 * 16 * n * (k as u64 + 3) };
        // The graph of affinities has all of them.
        let edges = (n * self.knn.min(shape.n) as u64).max(shape.entries as u64 / 2);
        copy + solver + 160 * edges + 100 * n
    }
}

/// True if the Laplacian of n objects is decomposed whole for k vectors.
fn whole(n: usize, k: usize) -> bool {
    n <= 200 || 5 * (k + 3) >= n
}

/// The graph with affinity 1 for must-links and 0 for cannot-links; a pair with both keeps its own.
///
/// # Errors
/// `BadParam` for an affinity above 1.
fn linked(graph: &Graph, constraints: &Constraints) -> Result<Graph> {
    if let Some((i, j, w)) = graph.edges().find(|e| e.2 > 1.0) {
        return Err(Error::bad_param("data", format!("{w} at ({i}, {j})"), "affinities in [0, 1]"));
    }
    let mut said: BTreeMap<(u32, u32), Option<Kind>> = BTreeMap::new();
    for c in constraints.pairs() {
        said.entry((c.i, c.j)).and_modify(|kind| *kind = None).or_insert(Some(c.kind));
    }
    let is_apart = |e: &(u32, u32, f64)| said.get(&(e.0, e.1)) == Some(&Some(Kind::CannotLink));
    let kept = graph.edges().filter(|e| !is_apart(e));
    let together =
        said.iter().filter(|s| *s.1 == Some(Kind::MustLink)).map(|s| (s.0.0, s.0.1, 1.0));
    Ok(Graph::from_edges(graph.n(), kept.chain(together).collect::<Vec<_>>(), f64::max))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_kernels::agreement::contingency::adjusted_rand;
    use mustlink_laws::fixtures;
    use ndarray::Array2;

    fn affinity(n: usize, edges: &[(usize, usize, f64)]) -> Problem {
        let mut w = Array2::zeros((n, n));
        for &(i, j, weight) in edges {
            w[[i, j]] = weight;
            w[[j, i]] = weight;
        }
        Problem::new(Data::affinity(w).unwrap()).with_k(2)
    }

    fn linked_by(problem: &Problem, pairs: &[Constraint]) -> Problem {
        let constraints = Constraints::new(problem.n(), pairs.iter().copied()).unwrap();
        problem.clone().with_constraints(constraints)
    }

    fn run(method: &Spectral, problem: &Problem) -> Result<Clustering> {
        method.cluster(problem, &Context::new(5))
    }

    fn learning() -> Spectral {
        Spectral { form: Form::SpectralLearning, ..Spectral::default() }
    }

    /// A square 0–1–2–3 with strong sides 0–1 and 2–3.
    fn square() -> Problem {
        affinity(4, &[(0, 1, 0.9), (2, 3, 0.9), (1, 2, 0.3), (0, 3, 0.3)])
    }

    #[test]
    fn worked_example() {
        // All degrees are 1.2: W / 1.2 has the vectors (1, 1, 1, 1)/2 of value 1 and (1, 1, −1, −1)/2 of value
        // (0.9 − 0.3)/1.2 = ½, the others below 0. The rows are (1, 1)/√2 and (1, −1)/√2: no distortion.
        let c = run(&Spectral::default(), &square()).unwrap();
        assert_eq!(c.labels, [0, 0, 1, 1]);
        assert!(c.objective.unwrap() < 1e-12);
    }

    #[test]
    fn spectral_learning_writes_constraints_into_the_graph() {
        // Must-links 0–3 and 1–2 weigh 1, the cannot-link takes 0–1 away; 2–3 keeps its 0.9. The path 3–0, 1–2 of
        // weight 1 is held together by 2–3 alone, which is cut.
        let across = [Constraint::must(0, 3), Constraint::must(1, 2), Constraint::cannot(0, 1)];
        let problem = linked_by(&square(), &across);
        assert_eq!(run(&learning(), &problem).unwrap().labels, [0, 1, 1, 0]);
        // The plain form reads no constraint.
        assert_eq!(run(&Spectral::default(), &problem).unwrap().labels, [0, 0, 1, 1]);
        // A pair with both kinds keeps its affinity.
        let both = [Constraint::must(0, 1), Constraint::cannot(0, 1)];
        let graph = Graph::from_affinity(&square().data).unwrap();
        let constraints = Constraints::new(4, both).unwrap();
        assert_eq!(linked(&graph, &constraints).unwrap(), graph);
    }

    #[test]
    fn more_parts_than_clusters_are_told_apart() {
        // Three parts for two clusters: no part is divided.
        let edges = [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0), (4, 5, 1.0), (6, 7, 1.0)];
        for method in [Spectral::default(), learning()] {
            let c = run(&method, &affinity(8, &edges)).unwrap();
            assert!(c.labels[..4].iter().all(|&l| l == c.labels[0]), "{:?}", c.labels);
            assert_eq!((c.labels[4], c.labels[6]), (c.labels[5], c.labels[7]));
            assert!(c.labels.iter().any(|&l| l != c.labels[0]), "{:?}", c.labels);
        }
    }

    #[test]
    fn affinities_have_limits() {
        let isolated = affinity(3, &[(0, 1, 1.0)]);
        let e = run(&Spectral::default(), &isolated);
        assert!(matches!(e, Err(Error::NumericalFailure { .. })), "{e:?}");
        // Without a division by the degree such an object is a part of its own.
        assert_eq!(run(&learning(), &isolated).unwrap().labels, [0, 0, 1]);
        let e = run(&learning(), &affinity(2, &[(0, 1, 1.5)])).unwrap_err().to_string();
        assert!(e.contains("[0, 1]"), "{e}");
        let negative = affinity(3, &[(0, 1, 1.0), (1, 2, -0.1)]);
        assert!(matches!(run(&Spectral::default(), &negative), Err(Error::BadParam { .. })));
    }

    #[test]
    fn groups_of_rows_are_found_iterated_and_whole() {
        for n in [90, 600] {
            let mut s = SeedPath::new(7).stream("case");
            let classes: Vec<u32> = (0..n).map(|i| (i % 3) as u32).collect();
            let rows = Array2::from_shape_fn((n, 3), |(i, j)| {
                s.normal() + 6.0 * f64::from(u8::from(i % 3 == j))
            });
            let problem = Problem::new(Data::dense(rows).unwrap())
                .with_k(3)
                .with_constraints(fixtures::true_constraints(&classes, 20, 1));
            for method in [Spectral::default(), learning()] {
                let c = run(&method, &problem).unwrap();
                assert!(adjusted_rand(&classes, &c.labels) > 0.95, "{n} {:?}", method.form);
            }
        }
    }

    #[test]
    fn every_object_alone_and_all_in_one() {
        let problem = square();
        let alone = Spectral { k: Some(4), ..Spectral::default() };
        assert_eq!(run(&alone, &problem).unwrap().labels, [0, 1, 2, 3]);
        let one = Spectral { k: Some(1), ..Spectral::default() };
        assert_eq!(run(&one, &problem).unwrap().labels, [0; 4]);
    }
}
