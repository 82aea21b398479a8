//! ITML: a metric close to a given one that satisfies bounds on constrained pairs.

use linfa_linalg::cholesky::CholeskyInplace;
use mustlink_core::prelude::*;
use ndarray::{Array1, Array2, ArrayView1, Axis};

use crate::parts::linear_map::{LinearMap, eigen, rank, recompose, spread, too_large};

/// Metric that the learned one stays close to.
#[options]
pub enum Prior {
    /// The original distance of the data.
    #[default]
    Identity,
    /// The inverse covariance of all objects. Directions without spread count as much as the mean
    /// direction.
    InverseCovariance,
}

/// Information-theoretic metric learning: must-linked objects move together, and cannot-linked ones apart.
///
/// # Method
/// The learned metric A is the one nearest to a prior metric A₀. The method minimises the LogDet divergence of A from
/// A₀ under (x − y)ᵀA(x − y) ≤ u for must-links and ≥ ℓ for cannot-links, with slack. It projects on one constraint
/// after the other (Bregman projections; must-links first, each kind by object) until their multipliers no longer
/// change. Objects become A^(1/2)·x, the symmetric root. u and ℓ are percentiles of the squared distances of all
/// pairs of objects, or of a sample of them, under A₀.
/// # Input and output
/// n × d, dense, before and after. The weight of a constraint multiplies `gamma`; hard and soft marks are ignored, and
/// contradictions are allowed. Constraints between equal objects are skipped. Without any constraint the metric is
/// the prior.
/// # Errors
/// `BadParam`; `NumericalFailure` for features too large to square.
/// # Cost and randomness
/// O(m·r² + r³) per sweep over m constraints with r = min(m, d): only directions in which a constrained pair differs
/// can change. Memory O(d²). Random only in the sample of pairs.
/// # References
/// [Davis2007], Algorithm 1. Differs: the step is γ/(γ + 1)·(1/p − 1/ξ), as in the authors' program, which is the
/// projection; the printed (1/p − γ/ξ)/2 equals it only for γ = 1.
#[options]
pub struct Itml {
    /// Metric to stay close to (A₀).
    pub prior: Prior,
    /// Cost of slack (γ): the larger, the more closely the bounds are kept.
    #[option(default = 1.0, above = 0.0)]
    pub gamma: f64,
    /// Largest squared distance of must-linked objects (u). If absent, a percentile.
    #[option(above = 0.0)]
    pub must_bound: Option<f64>,
    /// Smallest squared distance of cannot-linked objects (ℓ). If absent, a percentile.
    #[option(above = 0.0)]
    pub cannot_bound: Option<f64>,
    /// Percentile of the squared distances that gives u. If it is 0, the smallest distance above 0 is used.
    #[option(default = 5.0, min = 0.0, max = 100.0)]
    pub must_percentile: f64,
    /// Percentile of the squared distances that gives ℓ.
    #[option(default = 95.0, min = 0.0, max = 100.0)]
    pub cannot_percentile: f64,
    /// Number of pairs of objects whose distances are used, or all pairs if there are fewer.
    #[option(default = 10_000, min = 1)]
    pub sampled_pairs: usize,
    /// Maximum number of sweeps over all constraints.
    #[option(default = 1000, min = 1)]
    pub max_iterations: usize,
    /// Smallest change of the multipliers, relative to their size, for which another sweep is made.
    #[option(default = 1e-3, min = 0.0)]
    pub tolerance: f64,
}

#[plugin("itml", cites = ["Davis2007"])]
impl Transform for Itml {
    fn fit(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Fitted>> {
        let prior = match self.prior {
            Prior::Identity => None,
            Prior::InverseCovariance => whitening(&problem.data, ctx)?,
        };
        // Under A₀ = WᵀW objects are Wx, and the rest is the same with the identity as prior.
        let data = match &prior {
            None => problem.data.clone(),
            Some(w) => LinearMap::new("itml", w.clone()).apply(&problem.data)?,
        };
        let learned = self.learn(&data, &problem.constraints, ctx)?;
        Ok(Box::new(match (learned, prior) {
            (None, None) => LinearMap::identity("itml"),
            (Some(t), None) => LinearMap::new("itml", t),
            (None, Some(w)) => LinearMap::new("itml", w),
            (Some(t), Some(w)) => LinearMap::new("itml", t.dot(&w)),
        }))
    }

    fn properties(&self) -> TransformProperties {
        TransformProperties {
            accepts: vec![DataKind::Dense],
            reads_constraints: true,
            ..TransformProperties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let (n, d, m) = (shape.n as u64, shape.d as u64, shape.constraints as u64);
        8 * (2 * n * d + 6 * d * d + 2 * m * d + self.sampled_pairs as u64)
    }

    fn operations(&self, shape: &Shape) -> f64 {
        // Some twenty sweeps, each of which updates a square matrix once for each constraint.
        let (d, m) = (shape.d as f64, shape.constraints as f64);
        let r = d.min(m);
        let sweeps = (self.max_iterations as f64).min(20.0);
        shape.entries as f64 * d + 20.0 * d.powi(3) + sweeps * (4.0 * m * r * r + r.powi(3))
    }

    fn restore(&self, saved: &Value) -> Result<Box<dyn Fitted>> {
        LinearMap::restored("itml", saved)
    }
}

/// One constraint as the projections see it.
struct Bound {
    /// +1 for a must-link, −1 for a cannot-link (δ).
    sign: f64,
    /// Cost of its slack (γ times its weight).
    gamma: f64,
    /// The bound with its slack so far (ξ).
    slack: f64,
    /// Its multiplier (λ).
    lambda: f64,
}

impl Itml {
    /// T with A = TᵀT, or nothing where A is the identity.
    fn learn(
        &self,
        data: &Data,
        constraints: &Constraints,
        ctx: &Context,
    ) -> Result<Option<Array2<f64>>> {
        if constraints.pairs().is_empty() {
            ctx.warn("no constraint: the metric is the prior");
            return Ok(None);
        }
        let Some((u, l)) = self.bounds(data, ctx)? else {
            ctx.warn("the objects are equal: the metric is the prior");
            return Ok(None);
        };
        // The order of the list must not matter.
        let mut pairs = constraints.pairs().to_vec();
        pairs.sort_by_key(|c| (c.kind, c.i, c.j));
        let mut differences = Array2::zeros((pairs.len(), data.d()));
        for (c, mut to) in pairs.iter().zip(differences.rows_mut()) {
            data.row(c.i as usize).add_to(slice(&mut to), 1.0);
            data.row(c.j as usize).add_to(slice(&mut to), -1.0);
        }
        let bounds = pairs.iter().map(|c| Bound {
            sign: if c.kind == Kind::MustLink { 1.0 } else { -1.0 },
            gamma: self.gamma * c.weight,
            slack: if c.kind == Kind::MustLink { u } else { l },
            lambda: 0.0,
        });
        let mut bounds: Vec<Bound> = bounds.collect();
        if pairs.len() >= data.d() {
            return self.root(&differences, &mut bounds, ctx).map(Some);
        }
        // A differs from the identity only inside the span of the differences.
        let basis = basis(&differences);
        if basis.is_empty() {
            ctx.warn("all constraints are of equal objects: the metric is the prior");
            return Ok(None);
        }
        let inside = self.root(&differences.dot(&basis.t()), &mut bounds, ctx)?;
        let change = inside - Array2::<f64>::eye(basis.nrows());
        Ok(Some(basis.t().dot(&change).dot(&basis) + Array2::<f64>::eye(data.d())))
    }

    /// u and ℓ; nothing where all objects are equal.
    fn bounds(&self, data: &Data, ctx: &Context) -> Result<Option<(f64, f64)>> {
        if let (Some(u), Some(l)) = (self.must_bound, self.cannot_bound) {
            return Ok(Some((u, l)));
        }
        let n = data.n();
        let mut distances: Vec<f64> = if n * (n - 1) / 2 <= self.sampled_pairs {
            (0..n)
                .flat_map(|j| (0..j).map(move |i| (i, j)))
                .map(|(i, j)| data.row(i).squared_distance(&data.row(j)))
                .collect()
        } else {
            let mut stream = ctx.stream("itml");
            let mut draw = || {
                let i = stream.below(n);
                let j = stream.below(n - 1);
                (i, if j < i { j } else { j + 1 })
            };
            let pairs = (0..self.sampled_pairs).map(|_| draw());
            pairs.map(|(i, j)| data.row(i).squared_distance(&data.row(j))).collect()
        };
        order::sort_values(&mut distances);
        if distances.last().is_some_and(|v| !v.is_finite()) {
            return Err(too_large("itml"));
        }
        let Some(&smallest) = distances.iter().find(|v| v.is_normal()) else {
            return Ok(None);
        };
        let at = |percent: f64| percentile(&distances, percent).max(smallest);
        let u = self.must_bound.unwrap_or_else(|| at(self.must_percentile));
        let l = self.cannot_bound.unwrap_or_else(|| at(self.cannot_percentile));
        Ok(Some((u, l)))
    }

    /// The symmetric root of A after projections on every constraint in turn.
    fn root(
        &self,
        differences: &Array2<f64>,
        bounds: &mut [Bound],
        ctx: &Context,
    ) -> Result<Array2<f64>> {
        let mut a = Array2::<f64>::eye(differences.ncols());
        let mut converged = false;
        for _ in 0..self.max_iterations {
            ctx.check()?;
            let (mut change, mut before, mut after) = (0.0, 0.0, 0.0);
            for (c, v) in bounds.iter_mut().zip(differences.rows()) {
                // Each updates a square matrix.
                ctx.check()?;
                let old = c.lambda;
                project(&mut a, c, v)?;
                change += (c.lambda - old).abs();
                before += old * old;
                after += c.lambda * c.lambda;
            }
            a.clone().cholesky_inplace_dirty().map_err(|_| lost())?;
            let size = f64::sqrt(before) + f64::sqrt(after);
            if size == 0.0 || change / size < self.tolerance {
                converged = true;
                break;
            }
        }
        if !converged {
            ctx.warn(format!("not converged after {} sweeps", self.max_iterations));
        }
        let (values, vectors) = eigen("itml", &a, ctx)?;
        if values.iter().all(|v| v.is_finite() && *v > 0.0) {
            Ok(recompose(&values, &vectors, f64::sqrt))
        } else {
            Err(lost())
        }
    }
}

/// Bregman projection of A on one constraint with slack.
fn project(a: &mut Array2<f64>, c: &mut Bound, v: ArrayView1<f64>) -> Result<()> {
    let mut av: Array1<f64> = a.dot(&v);
    let p = av.dot(&v);
    if !p.is_finite() {
        return Err(too_large("itml"));
    }
    if !p.is_normal() || p < 0.0 {
        return Ok(());
    }
    // Such that afterwards p = ξ, unless the multiplier would fall below 0.
    let step = c.sign * c.gamma / (c.gamma + 1.0) * (1.0 / p - 1.0 / c.slack);
    let alpha = c.lambda.min(step);
    if alpha == 0.0 {
        return Ok(());
    }
    let beta = c.sign * alpha / (1.0 - c.sign * alpha * p);
    c.slack = c.gamma * c.slack / (c.gamma + c.sign * alpha * c.slack);
    c.lambda -= alpha;
    // Scaled before it is squared, so that A stays exactly symmetric.
    av *= beta.abs().sqrt();
    for (mut row, &s) in a.rows_mut().into_iter().zip(&av) {
        row.scaled_add(beta.signum() * s, &av);
    }
    Ok(())
}

fn lost() -> Error {
    Error::NumericalFailure {
        place:
            "itml: the metric is no longer positive definite; lower gamma, or scale the features"
                .into(),
    }
}

fn slice<'a>(row: &'a mut ndarray::ArrayViewMut1<f64>) -> &'a mut [f64] {
    row.as_slice_mut().expect("rows of standard-layout matrices are contiguous")
}

/// The value below which `percent` of the sorted values lie, interpolated.
fn percentile(sorted: &[f64], percent: f64) -> f64 {
    let at = percent / 100.0 * (sorted.len() - 1) as f64;
    let below = at.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (at - below as f64) * (sorted[above] - sorted[below])
}

/// An orthonormal basis of the span of the rows, as rows.
fn basis(rows: &Array2<f64>) -> Array2<f64> {
    let mut basis: Vec<Array1<f64>> = Vec::new();
    for row in rows.rows() {
        let norm = row.dot(&row).sqrt();
        let mut rest = row.to_owned();
        // Twice is enough for orthogonality to rounding.
        for _ in 0..2 {
            for b in &basis {
                rest.scaled_add(-b.dot(&rest), b);
            }
        }
        let left = rest.dot(&rest).sqrt();
        if left > 1e-10 * norm {
            basis.push(rest / left);
        }
    }
    let mut out = Array2::zeros((basis.len(), rows.ncols()));
    out.rows_mut().into_iter().zip(&basis).for_each(|(mut to, b)| to.assign(b));
    out
}

/// The symmetric root of the inverse covariance of all objects; directions without spread count as
/// much as the mean direction. Nothing where no direction has any.
fn whitening(data: &Data, ctx: &Context) -> Result<Option<Array2<f64>>> {
    let (_, mut values, vectors) = spread("itml", data, ctx)?;
    let (rank, all) = (rank(&values), values.len());
    if rank == 0 {
        return Ok(None);
    }
    let average = values.iter().take(rank).sum::<f64>() / all as f64;
    values.slice_axis_mut(Axis(0), (rank..all).into()).fill(average);
    Ok(Some(recompose(&values, &vectors, |v| 1.0 / v.sqrt())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_laws::fixtures;
    use ndarray::array;
    use proptest::prelude::*;

    fn problem(x: &Array2<f64>, constraints: &[Constraint]) -> Problem {
        Problem::new(Data::dense(x.clone()).unwrap())
            .with_constraints(Constraints::new(x.nrows(), constraints.iter().copied()).unwrap())
    }

    /// The metric A = TᵀT, read off what the map makes of the unit vectors.
    fn metric(itml: &Itml, problem: &Problem) -> Array2<f64> {
        let fitted = itml.fit(problem, &Context::new(1)).unwrap();
        let unit = Data::dense(Array2::eye(problem.d())).unwrap();
        let t = fitted.apply(&unit).unwrap().to_dense();
        t.dot(&t.t())
    }

    fn close(a: &Array2<f64>, b: &Array2<f64>, within: f64) -> bool {
        a.dim() == b.dim() && (a - b).iter().all(|v| v.abs() <= within)
    }

    #[test]
    fn by_hand() {
        // p = 4, u = 1: α = (1/4 − 1)/2 = −3/8, A = 1 − 0.15 · 4 = 0.4, ξ = 1/(1 − 3/8) = 1.6 = p.
        let p = problem(&array![[0.0], [2.0], [5.0]], &[Constraint::must(0, 1)]);
        let itml = Itml { must_bound: Some(1.0), cannot_bound: Some(9.0), ..Itml::default() };
        assert!(close(&metric(&itml, &p), &array![[0.4]], 1e-12));
        // A cannot-link that is far enough already changes nothing.
        let p = problem(&array![[0.0], [2.0], [5.0]], &[Constraint::cannot(0, 2)]);
        assert!(close(&metric(&itml, &p), &array![[1.0]], 1e-12));
    }

    /// metric-learn 0.7: `ITML(gamma=g, max_iter=200, tol=1e-3)`, `_fit(pairs, y, bounds=[2, 30])`,
    /// pairs in this order, `get_mahalanobis_matrix()`.
    #[test]
    fn equals_metric_learn() {
        let x = Array2::from_shape_fn((10, 3), |(i, j)| {
            ((7 * i * i + 3 * i * j + 5 * j) % 23) as f64 / 4.0
        });
        let must = [(0, 3), (1, 4), (2, 8)].map(|(i, j)| Constraint::must(i, j));
        let cannot = [(0, 1), (2, 5), (3, 7), (6, 9)].map(|(i, j)| Constraint::cannot(i, j));
        let p = problem(&x, &[&must[..], &cannot[..]].concat());
        for (gamma, [a, b, c, d, e, f]) in [
            (
                1.0,
                [
                    0.420317817380,
                    -0.232691029117,
                    -0.384653942163,
                    1.713987244652,
                    -0.084067908866,
                    0.724656284356,
                ],
            ),
            (
                0.25,
                [
                    0.495731619550,
                    -0.103530483421,
                    -0.347919290818,
                    1.138079934689,
                    -0.064941901758,
                    0.777205206619,
                ],
            ),
        ] {
            let itml = Itml {
                gamma,
                must_bound: Some(2.0),
                cannot_bound: Some(30.0),
                max_iterations: 200,
                ..Itml::default()
            };
            let expected = array![[a, b, c], [b, d, e], [c, e, f]];
            let learned = metric(&itml, &p);
            assert!(close(&learned, &expected, 1e-9), "{gamma}: {learned}");
        }
    }

    #[test]
    fn a_step_ends_on_the_bound_whatever_gamma() {
        for gamma in [0.1, 1.0, 7.0] {
            for (sign, slack) in [(1.0, 0.5), (-1.0, 40.0)] {
                let mut a = array![[2.0, 0.3], [0.3, 1.0]];
                let v = array![1.5, -2.0];
                let mut c = Bound { sign, gamma, slack, lambda: 0.0 };
                project(&mut a, &mut c, v.view()).unwrap();
                let p = a.dot(&v).dot(&v);
                assert!((p - c.slack).abs() < 1e-12 * p, "gamma {gamma}: {p} against {}", c.slack);
            }
        }
    }

    #[test]
    fn nothing_known_leaves_the_prior() {
        let (x, _) = fixtures::groups(10, 3, 1.0, 1);
        let p = problem(&x, &[]);
        let ctx = Context::new(1);
        let same = Itml::default().fit(&p, &ctx).unwrap().apply(&p.data).unwrap();
        assert_eq!(same.to_dense(), x);
        assert_eq!(ctx.warnings(), ["no constraint: the metric is the prior"]);
        let itml = Itml { prior: Prior::InverseCovariance, ..Itml::default() };
        let y = itml.fit(&p, &ctx).unwrap().apply(&p.data).unwrap().to_dense();
        let centred = &y - &y.mean_axis(Axis(0)).unwrap();
        let spread = centred.t().dot(&centred) / x.nrows() as f64;
        assert!(close(&spread, &Array2::eye(3), 1e-10), "{spread}");
    }

    #[test]
    fn a_constant_feature_is_legal_under_every_prior() {
        let x =
            Array2::from_shape_fn((8, 3), |(i, j)| if j == 1 { 4.0 } else { (i * (j + 1)) as f64 });
        for prior in [Prior::Identity, Prior::InverseCovariance] {
            let p = problem(&x, &[Constraint::must(0, 1), Constraint::cannot(2, 7)]);
            let a = metric(&Itml { prior, ..Itml::default() }, &p);
            assert!(a.iter().all(|v| v.is_finite()));
        }
    }

    #[test]
    fn equal_objects_teach_nothing() {
        let x = array![[1.0, 2.0], [1.0, 2.0], [3.0, 0.0], [4.0, 4.0]];
        let p = problem(&x, &[Constraint::must(0, 1), Constraint::cannot(0, 1)]);
        assert!(close(&metric(&Itml::default(), &p), &Array2::eye(2), 0.0));
        let same = Array2::from_elem((4, 2), 3.0);
        let p = problem(&same, &[Constraint::must(0, 1)]);
        let ctx = Context::new(1);
        Itml::default().fit(&p, &ctx).unwrap();
        assert_eq!(ctx.warnings(), ["the objects are equal: the metric is the prior"]);
    }

    #[test]
    fn percentiles_are_interpolated() {
        let sorted = [0.0, 1.0, 2.0, 10.0];
        assert_eq!(percentile(&sorted, 0.0), 0.0);
        assert_eq!(percentile(&sorted, 50.0), 1.5);
        assert_eq!(percentile(&sorted, 100.0), 10.0);
        // Many equal objects: u is the smallest distance above 0.
        let mut x = Array2::zeros((30, 1));
        x[[29, 0]] = 3.0;
        let p = problem(&x, &[Constraint::must(0, 29)]);
        let bounds = Itml::default().bounds(&p.data, &Context::new(1)).unwrap();
        assert_eq!(bounds, Some((9.0, 9.0)));
    }

    #[test]
    fn more_pairs_than_asked_for_are_sampled() {
        let (x, _) = fixtures::groups(30, 3, 1.0, 4);
        let p = problem(&x, &[]);
        let of = |sampled_pairs| Itml { sampled_pairs, ..Itml::default() };
        let bounds =
            |itml: &Itml, seed| itml.bounds(&p.data, &Context::new(seed)).unwrap().unwrap();
        assert_eq!(bounds(&of(10_000), 1), bounds(&of(10_000), 2));
        assert_ne!(bounds(&of(500), 1), bounds(&of(500), 2));
        let ((u, l), (su, sl)) = (bounds(&of(10_000), 1), bounds(&of(2000), 1));
        assert!((u - su).abs() < 0.2 * u && (l - sl).abs() < 0.2 * l, "{u} {su} {l} {sl}");
    }

    #[test]
    fn options_out_of_range_are_named() {
        let (x, _) = fixtures::groups(3, 2, 1.0, 1);
        let p = problem(&x, &[Constraint::must(0, 3)]);
        let message = |itml: Itml| {
            let refused = itml.fit(&p, &Context::new(1)).err().expect("an illegal option");
            refused.to_string()
        };
        let of = Itml::default;
        assert_eq!(message(Itml { gamma: 0.0, ..of() }), "gamma: must be above 0, got 0");
        assert_eq!(
            message(Itml { must_bound: Some(-1.0), ..of() }),
            "must_bound: must be above 0, got -1"
        );
        assert_eq!(
            message(Itml { must_percentile: 101.0, ..of() }),
            "must_percentile: must be between 0 and 100, got 101"
        );
        assert_eq!(
            message(Itml { sampled_pairs: 0, ..of() }),
            "sampled_pairs: must be at least 1, got 0"
        );
        assert_eq!(
            message(Itml { max_iterations: 0, ..of() }),
            "max_iterations: must be at least 1, got 0"
        );
        assert_eq!(
            message(Itml { tolerance: -1.0, ..of() }),
            "tolerance: must be at least 0, got -1"
        );
    }

    #[test]
    fn features_too_large_to_square_are_named() {
        let x = array![[0.0, 1e200], [1.0, -1e200], [2.0, 0.0]];
        let p = problem(&x, &[Constraint::must(0, 1)]);
        let refused = Itml::default().fit(&p, &Context::new(1)).err().unwrap();
        assert_eq!(
            refused.to_string(),
            "numerical failure in itml: the features are too large to square"
        );
    }

    /// True constraints, a few of them turned round.
    fn draw(seed: u64, pairs: usize, wrong: usize) -> Problem {
        let (x, classes) = fixtures::groups(10, 4, 1.0, seed);
        let mut all = fixtures::true_constraints(&classes, pairs, seed).pairs().to_vec();
        for c in all.iter_mut().take(wrong) {
            c.kind = if c.kind == Kind::MustLink { Kind::CannotLink } else { Kind::MustLink };
        }
        problem(&x, &all)
    }

    fn setup(p: &Problem, itml: &Itml) -> (Array2<f64>, Vec<Bound>) {
        let (u, l) = itml.bounds(&p.data, &Context::new(1)).unwrap().unwrap();
        let x = p.data.to_dense();
        let pairs = p.constraints.pairs();
        let v = Array2::from_shape_fn((pairs.len(), p.d()), |(c, s)| {
            x[[pairs[c].i as usize, s]] - x[[pairs[c].j as usize, s]]
        });
        let bound = |c: &Constraint| {
            let must = c.kind == Kind::MustLink;
            let (sign, slack) = if must { (1.0, u) } else { (-1.0, l) };
            Bound { sign, gamma: itml.gamma * c.weight, slack, lambda: 0.0 }
        };
        (v, pairs.iter().map(bound).collect())
    }

    proptest! {
        /// At the optimum every bound holds with its slack, multipliers of loose bounds are 0, and
        /// A⁻¹ = I + Σ δ λ v vᵀ.
        #[test]
        fn optimal(seed in 0u64..10_000, pairs in 1usize..25, wrong in 0usize..3, gamma in 0.1f64..5.0) {
            let p = draw(seed, pairs, wrong);
            let itml = Itml { gamma, tolerance: 1e-11, max_iterations: 100_000, ..Itml::default() };
            let (v, mut bounds) = setup(&p, &itml);
            let root = itml.root(&v, &mut bounds, &Context::new(1)).unwrap();
            let a = root.dot(&root);
            let mut inverse = Array2::<f64>::eye(p.d());
            for (c, v) in bounds.iter().zip(v.rows()) {
                let p = a.dot(&v).dot(&v);
                prop_assert!(c.lambda >= 0.0);
                prop_assert!(c.sign * (p - c.slack) <= 1e-5 * c.slack, "{} {p}", c.slack);
                if c.lambda > 1e-6 {
                    prop_assert!((p - c.slack).abs() <= 1e-4 * c.slack, "{} {p} {}", c.slack, c.lambda);
                }
                for (s, mut row) in inverse.rows_mut().into_iter().enumerate() {
                    row.scaled_add(c.sign * c.lambda * v[s], &v);
                }
            }
            prop_assert!(close(&a.dot(&inverse), &Array2::eye(p.d()), 1e-6));
        }

        /// Learning inside the span of the differences gives what learning in all features gives.
        #[test]
        fn few_pairs_need_few_directions(seed in 0u64..10_000, pairs in 1usize..12) {
            let (x, classes) = fixtures::groups(10, 14, 1.0, seed);
            let all = fixtures::true_constraints(&classes, pairs, seed).pairs().to_vec();
            let mut p = problem(&x, &all);
            // In the order the transform takes them.
            let mut sorted = p.constraints.pairs().to_vec();
            sorted.sort_by_key(|c| (c.kind, c.i, c.j));
            p = problem(&x, &sorted);
            let itml = Itml::default();
            let (v, mut bounds) = setup(&p, &itml);
            let root = itml.root(&v, &mut bounds, &Context::new(1)).unwrap();
            let small = metric(&itml, &p);
            prop_assert!(close(&small, &root.dot(&root), 1e-7 * (1.0 + small.diag().sum())));
        }

        /// Neither the order of the list nor the unit of the data matters.
        #[test]
        fn order_and_unit_change_nothing(seed in 0u64..10_000, pairs in 1usize..25) {
            let p = draw(seed, pairs, 1);
            let a = metric(&Itml::default(), &p);
            let backwards: Vec<Constraint> = p.constraints.pairs().iter().rev().copied().collect();
            let x = p.data.to_dense();
            prop_assert_eq!(&a, &metric(&Itml::default(), &problem(&x, &backwards)));
            let larger = problem(&x.mapv(|v| 4.0 * v), p.constraints.pairs());
            prop_assert!(close(&a, &metric(&Itml::default(), &larger), 1e-9 * (1.0 + a.diag().sum())));
        }

        /// A weight is a factor of gamma.
        #[test]
        fn weights_multiply_gamma(seed in 0u64..10_000, pairs in 1usize..25, weight in 0.2f64..4.0) {
            let p = draw(seed, pairs, 1);
            let weighted: Vec<Constraint> =
                p.constraints.pairs().iter().map(|c| c.weighing(weight)).collect();
            let one = metric(&Itml::default(), &problem(&p.data.to_dense(), &weighted));
            let two = metric(&Itml { gamma: weight, ..Itml::default() }, &p);
            prop_assert!(close(&one, &two, 1e-9 * (1.0 + one.diag().sum())));
        }
    }
}
