//! Spectral clustering among the vectors that satisfy enough of the constraints.

mod pencil;

use mustlink_core::clustering::canonical;
use mustlink_core::prelude::*;
use mustlink_kernels::distance::points::{Distortion, DistortionOption};
use mustlink_kernels::graph::eigen::{laplacian, symmetric_until};
use ndarray::{Array1, Array2, Axis};

use crate::parts::embedding::kmeans_of;
use crate::parts::neighbour_graph::neighbour_graph;
use pencil::{BASIS, Links, PARTS, failure, feasible, smooth, touched};

/// Constrained spectral clustering: eigenvectors of the graph that satisfy the constraints well enough.
///
/// # Method
/// L̄ is the normalised Laplacian; Q̄ is the matrix of constraints (must-links +w, cannot-links −w), normalised in the
/// same way. Minimise vᵀL̄v subject to vᵀQ̄v ≥ β'·vᵀv. The stationary points are the generalised eigenvectors L̄v =
/// λ(Q̄ − β'I)v with λ > 0. Two clusters: the sign of the smoothest eigenvector. More clusters: k-means on the k − 1
/// smoothest that have entries of both signs, each scaled by 1 − its cost. An eigenvector of one sign splits nothing.
/// Without constraints: k-means on the eigenvectors of the Laplacian.
/// # Input and output
/// Dense or sparse rows (turned into a symmetric neighbour graph with locally scaled Gaussian weights), distances
/// (the same), or affinities (the graph itself); constraints of any weight. One label per object in `0..k`;
/// constraints may be broken. The objective is the sum of the costs vᵀL̄v/vᵀv.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `NumericalFailure` for objects without any neighbour, and if no vector
/// satisfies the constraints well enough; `BadParam` for `beta` at or above its limit; `HardNotSupported` for
/// constraints marked hard.
/// # Cost and randomness
/// O(n³) time and O(n²) memory up to `dense_limit` objects. Above, an iteration finds the `CANDIDATES` vectors of
/// largest 1/λ (block Davidson, equations in L̄ solved with conjugate gradients). It takes O(edges + n · candidates)
/// per step and O(n · candidates) memory, plus O(m³) time and O(m²) memory for the m objects in constraints. The
/// iteration may miss a vector that is smoother than one it keeps. Such a vector satisfies the constraints by less
/// than its cost times the smallest 1/λ found. Random: the starts of k-means and of the iteration.
/// # References
/// [WangDavidson2010]; [WangQianDavidson2014]. Differs: the null space of L̄ is eliminated exactly instead of with a
/// ridge, and its vectors other than the constant one are candidates. For more than two clusters β' is loose, unless
/// the printed rule is chosen.
#[options]
pub struct ConstrainedSpectral {
    /// Number of clusters, at most n. If absent, the k of the problem.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Distance between objects in the neighbour graph. "auto": cosine for sparse rows, otherwise squared Euclidean.
    pub distortion: AutoOr<Distortion>,
    /// Number of neighbours of each object in the graph (fewer in small data).
    #[option(default = 10, min = 1)]
    pub knn: usize,
    /// Factor in the weight exp(−scale · distance² / r²) of a neighbour; r is the distance to the farthest one.
    #[option(default = 1.0, above = 0.0)]
    pub scale: f64,
    /// Required degree to which constraints are satisfied (β'): a number below the largest eigenvalue of Q̄, or a
    /// rule.
    #[option(default = Beta::Rule(BetaRule::Auto))]
    pub beta: Beta,
    /// Number of starts of k-means; the best result is kept.
    #[option(default = 10, min = 1)]
    pub restarts: usize,
    /// Largest number of objects for which the matrices are decomposed as a whole.
    #[option(default = 1000, min = 0)]
    pub dense_limit: usize,
    /// Weight of constraints marked hard. If absent, they are rejected.
    #[option(min = 0.0)]
    pub hard_as_soft: Option<f64>,
}

/// A number, or a rule that finds one.
#[options]
#[derive(Copy)]
pub enum Beta {
    /// β' itself.
    Number(f64),
    /// A rule based on the eigenvalues of Q̄.
    Rule(BetaRule),
}

/// Rules that derive β' from the eigenvalues of Q̄.
#[options]
pub enum BetaRule {
    /// `printed` for two clusters; `loose` for more clusters, or if no vector satisfies the constraints as printed.
    Auto,
    /// Minus 1 % of the largest eigenvalue. With few constraints, vectors that satisfy them better are concentrated on
    /// a handful of objects and split nothing.
    Loose,
    /// The rule of the papers: half the largest eigenvalue for two clusters; for more, between the singular values k
    /// and k + 1.
    Printed,
}

#[plugin("constrained_spectral", cites = ["WangDavidson2010", "WangQianDavidson2014"], version = 2, waives = ["numbers_have_ranges" => "the constraints say how large beta may be, and it may be below 0"])]
impl BaseClusterer for ConstrainedSpectral {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let k = problem.require_k(self.k, "constrained_spectral")?;
        ctx.check()?;
        let n = problem.n();
        if k == 1 || n == 1 {
            return Ok(Clustering { labels: vec![0; n], k, ..Clustering::default() });
        }
        let graph = neighbour_graph(&problem.data, self.distortion, self.knn, self.scale, ctx)?;
        let degrees = graph.degrees();
        if let Some(i) = degrees.iter().position(|&d| !(d > 0.0 && d.is_finite())) {
            return Err(failure(format!("object {i} has weight {} in the graph", degrees[i])));
        }
        let q = self.links(&problem.constraints, &degrees)?;
        let mut stream = ctx.stream("eigenvectors");
        let whole = n <= self.dense_limit;
        let volume: f64 = degrees.iter().sum();
        let null = graph.components().1;
        let root = Array1::from_iter(degrees.iter().map(|d| (volume / d).sqrt()));
        if q.is_empty() {
            ctx.warn("no constraint: plain spectral clustering");
            // A connected graph has one trivial vector; the null vectors of others tell parts apart.
            let first = usize::from(null == 1);
            let count = if whole { n } else { n.min(first + k) };
            let spectrum = laplacian(&graph, &degrees, count, &mut stream, ctx)?;
            let vectors: Vec<(f64, Array1<f64>)> = (first..n.min(first + k))
                .map(|at| (spectrum.values[at], spectrum.vectors.column(at).to_owned()))
                .take(k - first)
                .collect();
            return self.in_space(&vectors, &root, k, ctx);
        }
        ctx.check()?;
        let mut beta = self.beta_for(&q, k, ctx)?;
        let spectrum =
            whole.then(|| laplacian(&graph, &degrees, n, &mut stream, ctx)).transpose()?;
        let mut vectors = |beta: f64| match &spectrum {
            Some(spectrum) => feasible(spectrum, null, &degrees, &q, beta, ctx),
            None => smooth(&graph, &degrees, &q, beta, CANDIDATES.max(4 * k), &mut stream, ctx),
        };
        let mut found = vectors(beta)?;
        if found.is_empty() && self.beta == Beta::Rule(BetaRule::Auto) {
            // The papers' beta asks too much of few constraints.
            let loose = Beta::Rule(BetaRule::Loose);
            beta = ConstrainedSpectral { beta: loose, ..self.clone() }.beta_for(&q, k, ctx)?;
            found = vectors(beta)?;
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        if k > 2 {
            // A vector of one sign names no split; keep it only where there is nothing else.
            let split = |v: &Array1<f64>| v.iter().any(|&x| x > 0.0) && v.iter().any(|&x| x < 0.0);
            if found.iter().any(|(_, v)| split(v)) {
                found.retain(|(_, v)| split(v));
            }
        }
        found.truncate(k - 1);
        let Some((cost, v)) = found.first() else {
            return Err(failure("no vector satisfies the constraints enough; lower beta".into()));
        };
        let mut clustering = if k == 2 {
            let labels: Vec<u32> = v.iter().map(|&x| u32::from(x >= 0.0)).collect();
            Clustering {
                labels: canonical(&labels),
                k,
                objective: Some(*cost),
                ..Clustering::default()
            }
        } else {
            self.in_space(&found, &root, k, ctx)?
        };
        let diagnostics = &mut clustering.extras.diagnostics;
        diagnostics.insert("beta".into(), beta);
        diagnostics.insert("vectors".into(), found.len() as f64);
        Ok(clustering)
    }

    fn properties(&self) -> Properties {
        Properties {
            accepts: vec![DataKind::Dense, DataKind::Csr, DataKind::Distances, DataKind::Affinity],
            needs_k: self.k.is_none(),
            reads_constraints: true,
            soft_weights: true,
            hard_as_soft: self.hard_as_soft.is_some(),
            ..Properties::default()
        }
    }

    fn operations(&self, shape: &Shape) -> Option<f64> {
        // Two decompositions and their products; or a hundred steps of the block, its basis made orthogonal in each,
        // with two decompositions among the objects in constraints.
        let n = shape.n as f64;
        let block = CANDIDATES.max(4 * self.k.unwrap_or(shape.k)) as f64;
        let dense = |n: f64| 12.0 * n.powi(3);
        let joined = n.min(2.0 * shape.constraints as f64);
        let whole = shape.n <= self.dense_limit;
        Some(if whole { dense(n) } else { 100.0 * n * block * block + dense(joined) })
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let shape = &Shape { k: self.k.unwrap_or(shape.k), ..*shape };
        let n = shape.n as u64;
        let copy = self.distortion.copy_bytes(shape) as u64;
        let joined = n.min(2 * shape.constraints as u64);
        let solver = if shape.n <= self.dense_limit {
            8 * 8 * n * n
        } else {
            let block = CANDIDATES.max(4 * shape.k) as u64;
            8 * n * (3 * BASIS as u64 * block + 8 * block + 2 * PARTS as u64)
                + 8 * 5 * joined * joined
        };
        copy + solver + 160 * n * self.knn.min(shape.n) as u64
    }
}

/// Vectors iterated where the matrices are too large to decompose; more for many clusters.
const CANDIDATES: usize = 30;

impl ConstrainedSpectral {
    /// Q̄ in order of pairs; a must-link and a cannot-link of one pair cancel.
    fn links(&self, constraints: &Constraints, degrees: &[f64]) -> Result<Links> {
        let mut links: Links = Vec::with_capacity(constraints.len());
        for c in constraints.pairs() {
            let weight = match (c.strength, self.hard_as_soft) {
                (Some(Strength::Hard), Some(weight)) => weight,
                _ => c.weight,
            };
            let sign = if c.kind == Kind::MustLink { 1.0 } else { -1.0 };
            let scale = (degrees[c.i as usize] * degrees[c.j as usize]).sqrt();
            links.push((c.i, c.j, sign * weight / scale));
        }
        links.sort_by_key(|&(i, j, _)| (i, j));
        links.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 += next.2;
            }
            same
        });
        links.retain(|l| l.2 != 0.0);
        Ok(links)
    }

    fn beta_for(&self, q: &Links, k: usize, ctx: &Context) -> Result<f64> {
        let values = symmetric_until(&touched(q).1, ctx)?.values;
        let largest = values[values.len() - 1];
        match self.beta {
            Beta::Number(beta) if beta < largest => Ok(beta),
            Beta::Number(beta) => {
                Err(Error::bad_param("beta", beta, format!("< {largest} (of these constraints)")))
            }
            Beta::Rule(BetaRule::Auto | BetaRule::Printed) if k == 2 => Ok(largest / 2.0),
            Beta::Rule(BetaRule::Auto | BetaRule::Loose) => Ok(-0.01 * largest),
            Beta::Rule(BetaRule::Printed) => {
                // Objects without constraints have 0.
                let mut singular: Vec<f64> = values.iter().map(|v| v.abs()).collect();
                singular.sort_by(|a, b| b.total_cmp(a));
                singular.resize(values.len().max(k + 1), 0.0);
                Ok(f64::midpoint(singular[k - 1], singular[k]) - 1e-6)
            }
        }
    }

    /// K-means on D^(−1/2) √vol (1 − cost) v.
    fn in_space(
        &self,
        vectors: &[(f64, Array1<f64>)],
        root: &Array1<f64>,
        k: usize,
        ctx: &Context,
    ) -> Result<Clustering> {
        let mut u = Array2::zeros((root.len(), vectors.len()));
        for (mut column, (cost, v)) in u.axis_iter_mut(Axis(1)).zip(vectors) {
            column.assign(&(v * root * (1.0 - cost)));
        }
        let best = kmeans_of(u, k, self.restarts, ctx)?;
        Ok(Clustering {
            labels: canonical(&best.labels),
            k,
            objective: Some(vectors.iter().map(|v| v.0).sum()),
            status: best.status,
            ..Clustering::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_kernels::graph::adjacency::Graph;
    use mustlink_laws::fixtures;
    use proptest::prelude::*;

    fn affinity(n: usize, edges: &[(usize, usize, f64)]) -> Problem {
        let mut w = Array2::zeros((n, n));
        for &(i, j, weight) in edges {
            w[[i, j]] = weight;
            w[[j, i]] = weight;
        }
        Problem::new(Data::affinity(w).unwrap()).with_k(2)
    }

    fn linked(problem: &Problem, pairs: &[Constraint]) -> Problem {
        let constraints = Constraints::new(problem.n(), pairs.iter().copied()).unwrap();
        problem.clone().with_constraints(constraints)
    }

    fn run(method: &ConstrainedSpectral, problem: &Problem) -> Result<Clustering> {
        method.cluster(problem, &Context::new(5))
    }

    /// A square 0–1–2–3 with strong sides 0–1 and 2–3.
    fn square() -> Problem {
        affinity(4, &[(0, 1, 1.0), (2, 3, 1.0), (1, 2, 0.5), (0, 3, 0.5)])
    }

    #[test]
    fn worked_example() {
        let csp = ConstrainedSpectral::default();
        // The weak sides are cut, unless the constraints say otherwise.
        let c = run(&csp, &linked(&square(), &[Constraint::must(0, 1)])).unwrap();
        assert_eq!(c.labels, [0, 0, 1, 1]);
        let across = [
            Constraint::cannot(0, 1),
            Constraint::cannot(2, 3),
            Constraint::must(0, 3),
            Constraint::must(1, 2),
        ];
        let c = run(&csp, &linked(&square(), &across)).unwrap();
        assert_eq!(c.labels, [0, 1, 1, 0]);
        // Degrees 1.5, v = (1, −1, −1, 1)/2: cost 1 − vᵀWv/1.5 = 1 + 0.5/1.5.
        assert!((c.objective.unwrap() - 4.0 / 3.0).abs() < 1e-9, "{:?}", c.objective);
        assert_eq!(run(&csp, &square()).unwrap().labels, [0, 0, 1, 1]);
    }

    #[test]
    fn three_groups_of_rows() {
        let (problem, classes) = fixtures::dense(3);
        let problem = problem.with_constraints(fixtures::true_constraints(&classes, 40, 2));
        let iterated = ConstrainedSpectral { dense_limit: 500, ..ConstrainedSpectral::default() };
        let c = run(&iterated, &problem).unwrap();
        let wrong = fixtures::true_constraints(&classes, 300, 1).violations(&c.labels).total();
        assert!(wrong < 30, "{wrong} of 300 pairs wrong");
    }

    #[test]
    fn iterated_equals_decomposed() {
        for seed in 0..4 {
            for k in [2, 3] {
                for rule in [BetaRule::Loose, BetaRule::Printed] {
                    let mut s = SeedPath::new(seed).stream("case");
                    let n = 150;
                    let classes: Vec<u32> = (0..n).map(|i| (i % k) as u32).collect();
                    let rows = Array2::from_shape_fn((n, 2), |(i, j)| {
                        s.normal() + 3.5 * f64::from(u8::from(i % k == j))
                    });
                    let problem = Problem::new(Data::dense(rows).unwrap())
                        .with_k(k)
                        .with_constraints(fixtures::true_constraints(&classes, 30, seed));
                    let whole = ConstrainedSpectral {
                        beta: Beta::Rule(rule),
                        ..ConstrainedSpectral::default()
                    };
                    let few = ConstrainedSpectral { dense_limit: 0, ..whole.clone() };
                    let (a, b) = (run(&whole, &problem), run(&few, &problem));
                    let (Ok(a), Ok(b)) = (&a, &b) else {
                        assert_eq!(a.is_err(), b.is_err(), "{a:?} {b:?}");
                        continue;
                    };
                    assert_eq!(a.labels, b.labels, "seed {seed}, k {k}, {rule:?}");
                    let (a, b) = (a.objective.unwrap(), b.objective.unwrap());
                    assert!((a - b).abs() < 1e-6 * a.max(1e-3), "{a} {b}");
                }
            }
        }
    }

    #[test]
    fn many_objects_need_no_square() {
        let n = 900;
        let mut s = SeedPath::new(7).stream("case");
        let classes: Vec<u32> = (0..n).map(|i| (i % 2) as u32).collect();
        let rows = Array2::from_shape_fn((n, 2), |(i, j)| {
            s.normal() + 6.0 * f64::from(u8::from(i % 2 == j))
        });
        let problem = Problem::new(Data::dense(rows).unwrap())
            .with_k(2)
            .with_constraints(fixtures::true_constraints(&classes, 60, 1));
        let iterated = ConstrainedSpectral { dense_limit: 500, ..ConstrainedSpectral::default() };
        let c = run(&iterated, &problem).unwrap();
        let wrong = fixtures::true_constraints(&classes, 300, 2).violations(&c.labels).total();
        assert!(wrong < 15, "{wrong} of 300 pairs wrong");
        let shape = |n| Shape { n, d: 2, k: 2, entries: 2 * n, constraints: 60 };
        let csp = ConstrainedSpectral::default();
        assert!(csp.memory(&shape(40_000)) < 11 * csp.memory(&shape(4001)));
        let whole = csp.dense_limit;
        assert!(csp.memory(&shape(whole)) > 64 * (whole * whole) as u64);
    }

    #[test]
    fn beta_and_hard_constraints_have_limits() {
        let pairs = [Constraint::must(0, 1)];
        let problem = linked(&square(), &pairs);
        // Q̄ has the eigenvalues ±1/1.5.
        let high =
            ConstrainedSpectral { beta: Beta::Number(0.7), ..ConstrainedSpectral::default() };
        assert!(matches!(run(&high, &problem), Err(Error::BadParam { .. })));
        let low =
            ConstrainedSpectral { beta: Beta::Number(-0.1), ..ConstrainedSpectral::default() };
        assert!(run(&low, &problem).is_ok());
        let hard = Constraint { strength: Some(Strength::Hard), ..pairs[0] };
        let softened =
            ConstrainedSpectral { hard_as_soft: Some(1.0), ..ConstrainedSpectral::default() };
        assert!(run(&softened, &linked(&square(), &[hard])).is_ok());
        let isolated = affinity(3, &[(0, 1, 1.0)]);
        let e = run(&ConstrainedSpectral::default(), &isolated);
        assert!(matches!(e, Err(Error::NumericalFailure { .. })));
    }

    #[test]
    fn singular_values_may_ask_too_much() {
        // Four cliques of four that are all apart: eigenvalues of Q̄ 1, 1, 1, −3 each (times 1/d),
        // singular values 3, 3, 3, 3, 1, …: between the third and fourth nothing can be satisfied.
        let n = 16;
        let edges: Vec<_> = (0..n).map(|i| (i, (i + 1) % n, 1.0)).collect();
        let mut pairs = Vec::new();
        for g in 0..4 {
            for a in 0..4 {
                for b in a + 1..4 {
                    pairs.push(Constraint::cannot(4 * g + a, 4 * g + b));
                }
            }
        }
        let problem = linked(&affinity(n, &edges).with_k(3), &pairs);
        let beta = Beta::Rule(BetaRule::Printed);
        let printed = ConstrainedSpectral { beta, ..ConstrainedSpectral::default() };
        assert!(matches!(run(&printed, &problem), Err(Error::NumericalFailure { .. })));
        assert!(run(&ConstrainedSpectral::default(), &problem).is_ok());
    }

    #[test]
    fn decompositions_hear_cancelling() {
        let (p, classes) = fixtures::dense(1);
        let p = p.with_constraints(fixtures::true_constraints(&classes, 30, 1));
        let counted = Context::builder(SeedPath::new(1)).count_looks().build();
        ConstrainedSpectral::default().cluster(&p, &counted).unwrap();
        // Row by row, in that of the graph and in that of the vectors.
        assert!(counted.looks() > 200, "{}", counted.looks());
    }

    #[test]
    fn parts_without_an_edge_between_them() {
        let edges = [(0, 1, 1.0), (1, 2, 1.0), (3, 4, 1.0), (4, 5, 1.0)];
        let problem = affinity(6, &edges);
        assert_eq!(
            run(&ConstrainedSpectral::default(), &problem).unwrap().labels,
            [0, 0, 0, 1, 1, 1]
        );
        let pairs = [Constraint::must(0, 2), Constraint::cannot(1, 4)];
        let c = run(&ConstrainedSpectral::default(), &linked(&problem, &pairs)).unwrap();
        assert_eq!(c.labels, [0, 0, 0, 1, 1, 1]);
        assert_eq!(c.objective, Some(0.0));
    }

    proptest! {
        #[test]
        fn vectors_are_stationary_and_feasible(
            seed: u64,
            n in 4usize..14,
            count in 1usize..8,
            factor in 0.1f64..10.0,
        ) {
            let mut s = SeedPath::new(seed).stream("case");
            let mut edges = Vec::new();
            for i in 0..n {
                for j in i + 1..n {
                    if j == i + 1 || s.unit() < 0.3 {
                        edges.push((i as u32, j as u32, 0.1 + s.unit()));
                    }
                }
            }
            let graph = Graph::from_edges(n, edges, f64::max);
            let degrees = graph.degrees();
            let pairs = (0..count).filter_map(|_| {
                let (i, j) = (s.below(n), s.below(n));
                let kind = if s.unit() < 0.5 { Kind::MustLink } else { Kind::CannotLink };
                (i != j).then(|| Constraint::new(i, j, kind))
            });
            let constraints = Constraints::new(n, pairs.collect::<Vec<_>>()).unwrap();
            let beta = Beta::Rule(BetaRule::Loose);
            let method = ConstrainedSpectral { beta, ..ConstrainedSpectral::default() };
            let q = method.links(&constraints, &degrees).unwrap();
            prop_assume!(!q.is_empty());
            let ctx = Context::new(1);
            let spectrum = laplacian(&graph, &degrees, n, &mut ctx.stream("e"), &ctx).unwrap();
            let beta = method.beta_for(&q, 2, &ctx).unwrap();
            let found = feasible(&spectrum, 1, &degrees, &q, beta, &ctx).unwrap();
            prop_assert!(!found.is_empty());
            for (cost, v) in &found {
                prop_assert!((v.dot(v) - 1.0).abs() < 1e-9);
                let mut lv = v.clone();
                for (i, j, w) in graph.edges() {
                    let (i, j) = (i as usize, j as usize);
                    let w = w / (degrees[i] * degrees[j]).sqrt();
                    lv[i] -= w * v[j];
                    lv[j] -= w * v[i];
                }
                let mut nv = v * -beta;
                for &(i, j, w) in &q {
                    nv[i as usize] += w * v[j as usize];
                    nv[j as usize] += w * v[i as usize];
                }
                prop_assert!((v.dot(&lv) - cost).abs() < 1e-8);
                // vᵀQ̄v ≥ β', and L̄v = λ(Q̄ − β'I)v with λ = cost / (vᵀQ̄v − β').
                let surplus = v.dot(&nv);
                prop_assert!(surplus > -1e-9, "{surplus}");
                let off = (&lv * surplus - &nv * *cost).mapv(f64::abs).sum();
                prop_assert!(off < 1e-6, "{off}");
            }
            // Scaling Q scales β' and nothing else.
            let scaled: Links = q.iter().map(|&(i, j, w)| (i, j, w * factor)).collect();
            let beta_scaled = method.beta_for(&scaled, 2, &ctx).unwrap();
            // (The margin of 1e-6 is absolute.)
            prop_assert!((beta_scaled - factor * beta).abs() < 2e-6 * factor.max(1.0));
        }
    }
}
