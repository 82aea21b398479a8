//! Which split of a graph is smooth, among the vectors that satisfy enough of the constraints?

use mustlink_core::clustering::canonical;
use mustlink_core::constraints::Strength;
use mustlink_core::prelude::*;
use mustlink_core::random::Stream;
use mustlink_kernels::eigen::{Eigen, laplacian, symmetric};
use mustlink_kernels::graph::Graph;
use mustlink_kernels::knn_graph::Neighbours;
use mustlink_kernels::lloyd::{Empty, Stop, ToleranceKind, best_of, lloyd};
use mustlink_kernels::points::{Distortion, Points};
use mustlink_kernels::seeding::{Init, start};
use ndarray::{Array1, Array2, ArrayView2, Axis, Slice, concatenate};

/// Constrained spectral clustering: eigenvectors of the graph that satisfy the constraints enough.
///
/// # Method
/// With L̄ the normalised Laplacian and Q̄ the matrix of constraints (must-links +w, cannot-links −w),
/// normalised likewise: minimise vᵀL̄v subject to vᵀQ̄v ≥ β'·vᵀv. The stationary points are the
/// generalised eigenvectors L̄v = λ(Q̄ − β'I)v with λ > 0. Two clusters: the sign of the smoothest one;
/// more: k-means on the k − 1 smoothest, each scaled by 1 − its cost. Without constraints: k-means on
/// the eigenvectors of the Laplacian.
/// # Input and output
/// Dense or sparse rows (a symmetric neighbour graph of locally scaled Gaussian weights is made),
/// distances (the same), or affinities (the graph itself); constraints of any weight. One label per
/// object in `0..k`; constraints may be broken. The objective is the sum of the costs vᵀL̄v/vᵀv.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `NumericalFailure` for objects without any neighbour, and
/// where no vector satisfies the constraints enough; `BadParam` for `beta` at or above its limit;
/// `HardNotSupported` for constraints marked hard.
/// # Cost and randomness
/// O(n³) time and O(n²) memory up to `dense_limit` objects. Above, the `CANDIDATES` vectors of largest
/// 1/λ are iterated (block Davidson, equations in L̄ by conjugate gradients): O(edges + n · candidates)
/// per step and O(n · candidates) memory, besides the square of the objects that constraints join. A
/// vector that is missed, though smoother than one kept, satisfies the constraints by less than its
/// cost times the smallest 1/λ iterated. Random: the starts of k-means and of the iteration.
/// # References
/// [WangDavidson2010]; [WangQianDavidson2014]. Differs: the null space of L̄ is eliminated exactly
/// instead of by a ridge, and its vectors other than the constant one are candidates; β' is loose unless
/// asked for as printed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ConstrainedSpectral {
    /// Number of clusters, at most n; absent: that of the problem.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<usize>,
    /// How far objects are apart, for the neighbour graph.
    pub distortion: Distortion,
    /// Neighbours of an object in the graph; all others where there are fewer.
    #[schemars(range(min = 1))]
    pub knn: usize,
    /// Factor in the weight exp(−scale · distance² / r²) of a neighbour, r the distance to the last.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub scale: f64,
    /// How much the constraints must be satisfied (β'): a number below the largest eigenvalue of Q̄,
    /// or a rule.
    pub beta: Beta,
    /// Starts of k-means, of which the best result is kept.
    #[schemars(range(min = 1))]
    pub restarts: usize,
    /// Objects up to which the matrices are decomposed whole.
    pub dense_limit: usize,
    /// Weight of constraints marked hard; absent: they are refused.
    #[schemars(range(min = 0.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hard_as_soft: Option<f64>,
}

/// A number, or a rule that finds one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Beta {
    /// β' itself.
    Number(f64),
    /// From the eigenvalues of Q̄.
    Rule(BetaRule),
}

/// How β' follows from the eigenvalues of Q̄.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BetaRule {
    /// 1 % of the largest eigenvalue below 0: with few constraints the vectors that satisfy more live
    /// on a handful of objects and split nothing.
    Loose,
    /// The papers': half the largest eigenvalue for two clusters, between the singular values k and
    /// k + 1 for more.
    Printed,
}

impl Default for ConstrainedSpectral {
    fn default() -> Self {
        ConstrainedSpectral {
            k: None,
            distortion: Distortion::default(),
            knn: 10,
            scale: 4.0,
            beta: Beta::Rule(BetaRule::Loose),
            restarts: 10,
            dense_limit: 4000,
            hard_as_soft: None,
        }
    }
}

register!(BaseClusterer, ConstrainedSpectral, "constrained_spectral",
    references: ["WangDavidson2010", "WangQianDavidson2014"]);

#[typetag::serde(name = "constrained_spectral")]
impl BaseClusterer for ConstrainedSpectral {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let k = problem.require_k(self.k, "constrained_spectral")?;
        self.check()?;
        ctx.check()?;
        let n = problem.n();
        if k == 1 || n == 1 {
            return Ok(Clustering { labels: vec![0; n], k, ..Clustering::default() });
        }
        let graph = self.graph(&problem.data, ctx)?;
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
        let beta = self.beta_for(&q, k)?;
        let mut found = if whole {
            let spectrum = laplacian(&graph, &degrees, n, &mut stream, ctx)?;
            feasible(&spectrum, null, &degrees, &q, beta)?
        } else {
            smooth(&graph, &degrees, &q, beta, CANDIDATES.max(4 * k), &mut stream, ctx)?
        };
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
            accepts: vec![
                DataKind::Dense,
                DataKind::Csr,
                DataKind::Distances,
                DataKind::Affinity,
            ],
            needs_k: self.k.is_none(),
            reads_constraints: true,
            soft_weights: true,
            ..Properties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let n = shape.n as u64;
        let copy = if self.distortion == Distortion::Cosine { 12 * shape.entries as u64 } else { 0 };
        let joined = n.min(2 * shape.constraints as u64);
        let solver = if shape.n <= self.dense_limit {
            8 * 8 * n * n
        } else {
            let block = CANDIDATES.max(4 * shape.k) as u64;
            8 * n * (3 * BASIS as u64 * block + 8 * block + 2 * PARTS as u64) + 8 * 5 * joined * joined
        };
        copy + solver + 160 * n * self.knn.min(shape.n) as u64
    }
}

fn failure(what: String) -> Error {
    Error::NumericalFailure { place: format!("constrained_spectral: {what}") }
}

/// Vectors iterated where the matrices are too large to decompose; more for many clusters.
const CANDIDATES: usize = 30;
/// Size of the subspace at which it is cut back, in such blocks.
const BASIS: usize = 6;
/// Connected components of a graph that is not decomposed whole, at most.
const PARTS: usize = 100;
/// Steps of the iteration, at most.
const STEPS: usize = 300;
/// Residual that counts as zero, relative to the sides of the equation.
const RESIDUAL: f64 = 1e-7;

/// Entries of Q̄ above the diagonal.
type Links = Vec<(u32, u32, f64)>;

impl ConstrainedSpectral {
    fn check(&self) -> Result<()> {
        if self.knn == 0 {
            return Err(Error::bad_param("knn", 0, ">= 1"));
        }
        if self.restarts == 0 {
            return Err(Error::bad_param("restarts", 0, ">= 1"));
        }
        if !(self.scale > 0.0 && self.scale.is_finite()) {
            return Err(Error::bad_param("scale", self.scale, "finite and > 0"));
        }
        match self.hard_as_soft.filter(|w| !w.is_finite() || *w < 0.0) {
            Some(weight) => Err(Error::bad_param("hard_as_soft", weight, "finite and >= 0")),
            None => Ok(()),
        }
    }

    fn graph(&self, data: &Data, ctx: &Context) -> Result<Graph> {
        let neighbours = match data.kind() {
            DataKind::Affinity => return Graph::from_affinity(data),
            DataKind::Distances => Neighbours::among(data, self.knn, ctx)?,
            DataKind::Dense | DataKind::Csr => {
                Neighbours::search(&Points::new(data, self.distortion)?, self.knn, ctx)?
            }
        };
        Ok(neighbours.local_graph(data.n(), self.scale))
    }

    /// Q̄ in order of pairs; a must-link and a cannot-link of one pair cancel.
    fn links(&self, constraints: &Constraints, degrees: &[f64]) -> Result<Links> {
        let mut links: Links = Vec::with_capacity(constraints.len());
        for c in constraints.pairs() {
            let weight = match (c.strength, self.hard_as_soft) {
                (Some(Strength::Hard), Some(weight)) => weight,
                (Some(Strength::Hard), None) => {
                    return Err(Error::HardNotSupported { i: c.i as usize, j: c.j as usize });
                }
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

    fn beta_for(&self, q: &Links, k: usize) -> Result<f64> {
        let values = symmetric(&touched(q).1)?.values;
        let largest = values[values.len() - 1];
        match self.beta {
            Beta::Number(beta) if beta < largest => Ok(beta),
            Beta::Number(beta) => {
                Err(Error::bad_param("beta", beta, format!("< {largest} (of these constraints)")))
            }
            Beta::Rule(BetaRule::Loose) => Ok(-0.01 * largest),
            Beta::Rule(BetaRule::Printed) if k == 2 => Ok(largest / 2.0),
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
        let points = Points::new(&Data::dense(u)?, Distortion::SquaredEuclidean)?;
        let stop = Stop::new(300, 1e-9, ToleranceKind::Relative)?;
        let problem = Problem::new(points.data().clone());
        let best = best_of(self.restarts, |r| {
            let ctx = ctx.index(r);
            let centres = start(&points, k, Init::KmeansPlusPlus, &problem, &ctx)?;
            lloyd(&points, centres, stop, Empty::Reseed, &ctx)
        })?;
        Ok(Clustering {
            labels: canonical(&best.labels),
            k,
            objective: Some(vectors.iter().map(|v| v.0).sum()),
            status: best.status,
            ..Clustering::default()
        })
    }
}

/// The objects that occur in constraints, and Q̄ among them.
fn touched(q: &Links) -> (Vec<u32>, Array2<f64>) {
    let mut objects: Vec<u32> = q.iter().flat_map(|l| [l.0, l.1]).collect();
    objects.sort_unstable();
    objects.dedup();
    let place = |i: u32| objects.partition_point(|&o| o < i);
    let mut dense = Array2::zeros((objects.len(), objects.len()));
    for &(i, j, w) in q {
        dense[[place(i), place(j)]] = w;
        dense[[place(j), place(i)]] = w;
    }
    (objects, dense)
}

/// All v of unit length with L̄v = λ(Q̄ − βI)v, λ > 0, each with its cost vᵀL̄v.
///
/// In the basis of eigenvectors of L̄, of which the first `null` have the value 0: the equations of
/// those give their coordinates from the others (λ ≠ 0), which leaves Λb = λSb with S the Schur
/// complement of Q̄ − βI, a symmetric problem in Λ^(−1/2) S Λ^(−1/2) of value 1/λ.
fn feasible(
    spectrum: &Eigen,
    null: usize,
    degrees: &[f64],
    q: &Links,
    beta: f64,
) -> Result<Vec<(f64, Array1<f64>)>> {
    let n = spectrum.values.len();
    if null == n {
        return Ok(Vec::new());
    }
    let (objects, dense) = touched(q);
    let rows: Vec<usize> = objects.iter().map(|&o| o as usize).collect();
    let basis = spectrum.vectors.select(Axis(0), &rows);
    let p = basis.t().dot(&dense.dot(&basis)) - Array2::<f64>::eye(n) * beta;
    let part = |a: &Array2<f64>, axis: usize, first: bool| {
        let range = if first { Slice::from(..null) } else { Slice::from(null..) };
        a.slice_axis(Axis(axis), range).to_owned()
    };
    let (top, bottom) = (part(&p, 0, true), part(&p, 0, false));
    let inner = symmetric(&part(&top, 1, true))?;
    // A value of exactly 0 leaves a coordinate undetermined; a rounding error decides as well.
    let floor = 1e-12 * p.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let values = inner.values.iter().map(|v| v.abs().max(floor).copysign(*v));
    let weighted = &inner.vectors / &Array1::from_iter(values);
    // Coordinates in the null space from the others: a = −P₀₀⁻¹ P₀₁ b.
    let lift = -weighted.dot(&inner.vectors.t()).dot(&part(&top, 1, false));
    let s = part(&bottom, 1, false) + part(&bottom, 1, true).dot(&lift);
    let root = Array1::from_iter(spectrum.values[null..].iter().map(|v| 1.0 / v.sqrt()));
    let mut m = &s * &root;
    m.axis_iter_mut(Axis(0)).zip(&root).for_each(|(mut row, r)| row.mapv_inplace(|v| v * r));
    let m = (&m + &m.t()) / 2.0;
    let solved = symmetric(&m)?;
    let scale = solved.values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let mut found = Vec::new();
    if null > 1 {
        let vectors = part(&spectrum.vectors, 1, true);
        found.extend(between_parts(&vectors, &part(&top, 1, true), degrees)?);
    }
    for (at, &theta) in solved.values.iter().enumerate() {
        if theta <= 1e-12 * scale {
            continue;
        }
        let b = &solved.vectors.column(at) * &root;
        let a = lift.dot(&b);
        let all = concatenate(Axis(0), &[a.view(), b.view()]).expect("vectors");
        let length = all.dot(&all).sqrt();
        let cost: f64 = b.iter().zip(&spectrum.values[null..]).map(|(b, l)| l * b * b).sum();
        found.push((cost / (length * length), spectrum.vectors.dot(&all) / length));
    }
    Ok(found)
}

/// Parts without an edge between them: λ = 0, and what is feasible there costs nothing. `inside` is
/// Q̄ − βI among the null vectors.
fn between_parts(
    null: &Array2<f64>,
    inside: &Array2<f64>,
    degrees: &[f64],
) -> Result<Vec<(f64, Array1<f64>)>> {
    // The constant vector is moved below everything.
    let constant = Array1::from_iter(degrees.iter().map(|d| d.sqrt()));
    let column = null.t().dot(&constant).insert_axis(Axis(1));
    let square = column.iter().map(|v| v * v).sum::<f64>();
    let weight = 1.0 + inside.iter().map(|v| v.abs()).sum::<f64>();
    let projector = Array2::<f64>::eye(null.ncols()) - column.dot(&column.t()) / square;
    let inside =
        projector.dot(inside).dot(&projector) - column.dot(&column.t()) * (weight / square);
    let parts = symmetric(&((&inside + &inside.t()) / 2.0))?;
    let feasible = parts.values.iter().zip(parts.vectors.axis_iter(Axis(1)));
    Ok(feasible.filter(|(value, _)| **value >= 0.0).map(|(_, v)| (0.0, null.dot(&v))).collect())
}

/// The matrices of L̄v = λ(Q̄ − βI)v as they act on blocks of columns, the null space of L̄ eliminated.
struct Pencil<'a> {
    graph: &'a Graph,
    root: Vec<f64>,
    q: &'a Links,
    beta: f64,
    /// Null vectors of L̄ and their images under Q̄ − βI.
    null: Array2<f64>,
    image: Array2<f64>,
    /// Coordinates in the null space from imageᵀ·b.
    inverse: Array2<f64>,
}

impl Pencil<'_> {
    fn smoothness(&self, x: &Array2<f64>) -> Array2<f64> {
        let scaled = |mut y: Array2<f64>| {
            y.axis_iter_mut(Axis(0)).zip(&self.root).for_each(|(mut row, r)| row *= *r);
            y
        };
        x - &scaled(self.graph.multiply(&scaled(x.clone()).view()))
    }

    fn surplus(&self, x: &ArrayView2<f64>) -> Array2<f64> {
        let mut y = x * -self.beta;
        for &(i, j, w) in self.q {
            y.row_mut(i as usize).scaled_add(w, &x.row(j as usize));
            y.row_mut(j as usize).scaled_add(w, &x.row(i as usize));
        }
        y
    }

    /// The Schur complement.
    fn schur(&self, x: &Array2<f64>) -> Array2<f64> {
        let lifted = self.inverse.dot(&self.image.t().dot(x));
        let y = self.surplus(&x.view()) - self.image.dot(&lifted);
        self.aside(y)
    }

    /// What is left beside the null space.
    fn aside(&self, x: Array2<f64>) -> Array2<f64> {
        let inside = self.null.dot(&self.null.t().dot(&x));
        x - inside
    }

    /// Roughly L̄⁻¹·r, column by column, by conjugate gradients.
    fn solve(&self, r: &Array2<f64>) -> Array2<f64> {
        let squares = |a: &Array2<f64>, b: &Array2<f64>| (a * b).sum_axis(Axis(0));
        let (mut x, mut residual) = (Array2::zeros(r.dim()), r.clone());
        let mut direction = r.clone();
        let mut squared = squares(&residual, &residual);
        let enough = &squared * 1e-6;
        for _ in 0..400 {
            if squared.iter().zip(&enough).all(|(s, e)| s <= e) {
                break;
            }
            let image = self.smoothness(&direction);
            let curve = squares(&direction, &image);
            let ratio = |a: f64, b: f64| if b > 0.0 { a / b } else { 0.0 };
            let step = Array1::from_iter(squared.iter().zip(&curve).map(|(&s, &c)| ratio(s, c)));
            x += &(&direction * &step);
            residual -= &(&image * &step);
            let next = squares(&residual, &residual);
            let turn = Array1::from_iter(next.iter().zip(&squared).map(|(&a, &b)| ratio(a, b)));
            squared = next;
            direction = &residual + &(&direction * &turn);
        }
        self.aside(x)
    }

    /// The part of `block` that is new to `basis`, orthonormal with respect to L̄.
    fn fresh(&self, block: Array2<f64>, basis: &Array2<f64>, images: &Array2<f64>) -> Result<Array2<f64>> {
        let mut block = self.aside(block);
        for _ in 0..2 {
            for mut column in block.axis_iter_mut(Axis(1)) {
                let length = column.dot(&column).sqrt();
                if length > 0.0 {
                    column /= length;
                }
            }
            let known = basis.dot(&images.t().dot(&block));
            block -= &known;
            let gram = block.t().dot(&self.smoothness(&block));
            let gram = symmetric(&((&gram + &gram.t()) / 2.0))?;
            let largest = gram.values.last().copied().unwrap_or(0.0);
            let kept: Vec<usize> =
                (0..gram.values.len()).filter(|&at| gram.values[at] > 1e-13 * largest.max(1e-6)).collect();
            let scale = Array1::from_iter(kept.iter().map(|&at| 1.0 / gram.values[at].sqrt()));
            block = block.dot(&(gram.vectors.select(Axis(1), &kept) * &scale));
        }
        Ok(block)
    }
}

/// As [`feasible`], but only the `count` vectors of largest 1/λ, and nothing of size n × n.
///
/// Block Davidson: the best vectors of a subspace, which grows by L̄⁻¹ times their residuals.
fn smooth(
    graph: &Graph,
    degrees: &[f64],
    q: &Links,
    beta: f64,
    count: usize,
    stream: &mut Stream,
    ctx: &Context,
) -> Result<Vec<(f64, Array1<f64>)>> {
    let n = graph.n();
    let (_, parts) = graph.components();
    if parts > PARTS {
        return Err(failure(format!("the graph falls into {parts} parts; at most {PARTS} above dense_limit")));
    }
    let null = laplacian(graph, degrees, parts, stream, ctx)?.vectors;
    let mut pencil = Pencil {
        graph,
        root: degrees.iter().map(|d| 1.0 / d.sqrt()).collect(),
        q,
        beta,
        image: Array2::zeros((n, parts)),
        inverse: Array2::zeros((parts, parts)),
        null,
    };
    pencil.image = pencil.surplus(&pencil.null.view());
    let inside = pencil.null.t().dot(&pencil.image);
    let inner = symmetric(&((&inside + &inside.t()) / 2.0))?;
    let floor = 1e-12 * inner.values.iter().fold(beta.abs(), |m, v| m.max(v.abs()));
    let values = inner.values.iter().map(|v| v.abs().max(floor).copysign(*v));
    pencil.inverse = (&inner.vectors / &Array1::from_iter(values)).dot(&inner.vectors.t());
    // Sylvester's law: how many values are positive is known before any of them is.
    let (objects, dense) = touched(q);
    let linked = symmetric(&dense)?.values;
    let above = linked.iter().filter(|&&v| v > beta).count()
        + if beta < 0.0 { n - objects.len() } else { 0 };
    let positive = above.saturating_sub(inner.values.iter().filter(|&&v| v > 0.0).count());
    let count = count.min(positive).min(n - parts);
    let mut found = Vec::new();
    if count == 0 {
        return Ok(found);
    }
    let block = count.min(30);
    let random = Array2::from_shape_simple_fn((n, block), || stream.normal());
    // Constraints pull at few objects; the block starts where they do.
    let mut start = pencil.surplus(&random.view()) + &(&random * beta);
    start = concatenate(Axis(1), &[start.view(), random.view()]).expect("rows");
    let start = pencil.solve(&pencil.aside(start));
    let empty = Array2::zeros((n, 0));
    let mut basis = pencil.fresh(start, &empty, &empty)?;
    let mut images = pencil.smoothness(&basis);
    let mut forms = pencil.schur(&basis);
    for step in 0.. {
        ctx.check()?;
        let h = basis.t().dot(&forms);
        let ritz = symmetric(&((&h + &h.t()) / 2.0))?;
        let size = ritz.values.len();
        let order: Vec<usize> = (0..size).rev().take(count.max(1)).collect();
        let turn = ritz.vectors.select(Axis(1), &order);
        let theta = Array1::from_iter(order.iter().map(|&at| ritz.values[at]));
        let (x, lx, sx) = (basis.dot(&turn), images.dot(&turn), forms.dot(&turn));
        let residual = &sx - &(&lx * &theta);
        let norm = |a: &Array2<f64>, at: usize| a.column(at).dot(&a.column(at)).sqrt();
        let open: Vec<usize> = (0..order.len())
            .filter(|&at| {
                let sides = norm(&sx, at) + theta[at].abs() * norm(&lx, at);
                norm(&residual, at) > RESIDUAL * sides
            })
            .take(block)
            .collect();
        let full = size >= n - parts;
        if step == STEPS && !open.is_empty() && !full {
            return Err(failure("the iteration does not converge".into()));
        }
        if full || (open.is_empty() && order.len() == count) {
            let coordinates = pencil.inverse.dot(&pencil.image.t().dot(&x));
            let all = &x - &pencil.null.dot(&coordinates);
            for (at, v) in all.axis_iter(Axis(1)).enumerate() {
                if theta[at] > 0.0 {
                    let length = v.dot(&v);
                    let cost = x.column(at).dot(&lx.column(at)) / length;
                    found.push((cost, &v / length.sqrt()));
                }
            }
            break;
        }
        if size + open.len() > BASIS * count.max(30) {
            (basis, images, forms) = (x.clone(), lx.clone(), sx.clone());
        }
        let wanted = if open.is_empty() {
            Array2::from_shape_simple_fn((n, block), || stream.normal())
        } else {
            pencil.solve(&residual.select(Axis(1), &open))
        };
        let fresh = pencil.fresh(wanted, &basis, &images)?;
        let join = |a: &Array2<f64>, b: &Array2<f64>| {
            concatenate(Axis(1), &[a.view(), b.view()]).expect("rows")
        };
        images = join(&images, &pencil.smoothness(&fresh));
        forms = join(&forms, &pencil.schur(&fresh));
        basis = join(&basis, &fresh);
    }
    if parts > 1 {
        found.extend(between_parts(&pencil.null, &inside, degrees)?);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::contract::fixtures;
    use mustlink_core::random::SeedPath;
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
        assert!(csp.memory(&shape(4000)) > 64 * 4000 * 4000);
    }

    #[test]
    fn beta_and_hard_constraints_have_limits() {
        let pairs = [Constraint::must(0, 1)];
        let problem = linked(&square(), &pairs);
        // Q̄ has the eigenvalues ±1/1.5.
        let high = ConstrainedSpectral { beta: Beta::Number(0.7), ..ConstrainedSpectral::default() };
        assert!(matches!(run(&high, &problem), Err(Error::BadParam { .. })));
        let low = ConstrainedSpectral { beta: Beta::Number(-0.1), ..ConstrainedSpectral::default() };
        assert!(run(&low, &problem).is_ok());
        let hard = Constraint { strength: Some(Strength::Hard), ..pairs[0] };
        let refused = run(&ConstrainedSpectral::default(), &linked(&square(), &[hard]));
        assert_eq!(refused, Err(Error::HardNotSupported { i: 0, j: 1 }));
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
    fn parts_without_an_edge_between_them() {
        let edges = [(0, 1, 1.0), (1, 2, 1.0), (3, 4, 1.0), (4, 5, 1.0)];
        let problem = affinity(6, &edges);
        assert_eq!(run(&ConstrainedSpectral::default(), &problem).unwrap().labels, [0, 0, 0, 1, 1, 1]);
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
            let method = ConstrainedSpectral::default();
            let q = method.links(&constraints, &degrees).unwrap();
            prop_assume!(!q.is_empty());
            let ctx = Context::new(1);
            let spectrum = laplacian(&graph, &degrees, n, &mut ctx.stream("e"), &ctx).unwrap();
            let beta = method.beta_for(&q, 2).unwrap();
            let found = feasible(&spectrum, 1, &degrees, &q, beta).unwrap();
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
            let beta_scaled = method.beta_for(&scaled, 2).unwrap();
            // (The margin of 1e-6 is absolute.)
            prop_assert!((beta_scaled - factor * beta).abs() < 2e-6 * factor.max(1.0));
        }
    }
}
