//! Solutions of L̄v = λ(Q̄ − βI)v, by a complete decomposition or by iteration.

use mustlink_core::prelude::*;
use mustlink_kernels::graph::adjacency::Graph;
use mustlink_kernels::graph::eigen::{Eigen, laplacian, symmetric, symmetric_until};
use ndarray::{Array1, Array2, ArrayView2, Axis, Slice, concatenate};

pub(super) fn failure(what: String) -> Error {
    Error::NumericalFailure { place: format!("constrained_spectral: {what}") }
}

/// Size of the subspace at which it is cut back, in such blocks.
pub(super) const BASIS: usize = 6;
/// Connected components of a graph that is not decomposed whole, at most.
pub(super) const PARTS: usize = 100;
/// Steps of the iteration, at most.
const STEPS: usize = 300;
/// Residual that counts as zero, relative to the sides of the equation.
const RESIDUAL: f64 = 1e-7;

/// Entries of Q̄ above the diagonal.
pub(super) type Links = Vec<(u32, u32, f64)>;

/// The objects that occur in constraints, and Q̄ among them.
pub(super) fn touched(q: &Links) -> (Vec<u32>, Array2<f64>) {
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
pub(super) fn feasible(
    spectrum: &Eigen,
    null: usize,
    degrees: &[f64],
    q: &Links,
    beta: f64,
    ctx: &Context,
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
    let inner = symmetric_until(&part(&top, 1, true), ctx)?;
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
    let solved = symmetric_until(&m, ctx)?;
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

    /// The part of `x` outside the null space.
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
    fn fresh(
        &self,
        block: Array2<f64>,
        basis: &Array2<f64>,
        images: &Array2<f64>,
    ) -> Result<Array2<f64>> {
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
            let kept: Vec<usize> = (0..gram.values.len())
                .filter(|&at| gram.values[at] > 1e-13 * largest.max(1e-6))
                .collect();
            let scale = Array1::from_iter(kept.iter().map(|&at| 1.0 / gram.values[at].sqrt()));
            block = block.dot(&(gram.vectors.select(Axis(1), &kept) * &scale));
        }
        Ok(block)
    }
}

/// As [`feasible`], but only the `count` vectors of largest 1/λ, and nothing of size n × n.
///
/// Block Davidson: the best vectors of a subspace, which grows by L̄⁻¹ times their residuals.
pub(super) fn smooth(
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
        return Err(failure(format!(
            "the graph falls into {parts} parts; at most {PARTS} above dense_limit, which can be raised"
        )));
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
    let linked = symmetric_until(&dense, ctx)?.values;
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
        let ritz = symmetric_until(&((&h + &h.t()) / 2.0), ctx)?;
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
