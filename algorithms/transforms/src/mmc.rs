//! MMC: a metric that separates cannot-linked objects and keeps must-linked objects together.

use mustlink_core::prelude::*;
use ndarray::{Array1, Array2, Axis, Zip};

use crate::parts::linear_map::{LinearMap, eigen, recompose, too_large, values};

/// Action if no cannot-link is given.
#[options]
pub enum NoCl {
    /// Return an error.
    #[default]
    Error,
    /// Spread all pairs that must-links do not join, as in the paper. This is usually wrong, because most pairs of a
    /// class are among them [Eaton2005].
    AllNonMl,
}

/// Metric learning that spreads cannot-linked objects while must-linked ones stay together (Xing's MMC).
///
/// # Method
/// Maximises g(A), the sum of the distances of cannot-linked objects, under f(A) ≤ 1, the sum of the squared
/// distances of must-linked ones, over positive semi-definite A. Full: steps along the gradient of g orthogonal to
/// that of f, each followed by alternating projections on both sets. g never falls, but the steps can end below the
/// optimum when a distance gets near 0, and well below it with few pairs. Diagonal: Newton's method on f(A) − log
/// g(A) with A ≥ 0. Objects become A^(1/2)·x.
/// # Input and output
/// n × d, dense, before and after. Weights of constraints are ignored, and contradictions are allowed. Without any
/// constraint, the data do not change. Pairs of equal objects do not count.
/// # Errors
/// `BadParam`, also without a cannot-link unless `no_cl = "all_non_ml"`; `NumericalFailure` when no must-linked
/// objects differ, so that nothing bounds A.
/// # Cost and randomness
/// O(m·d² + d³) per step over m pairs; not random. Memory O(d²), and 8 bytes for each pair.
/// # References
/// [Xing2002]. Differs: `ridge`, without which g is unbounded as soon as must-links leave a direction free.
#[options]
pub struct Mmc {
    /// Learn one weight per feature instead of a full matrix.
    pub diagonal: bool,
    /// Action if no cannot-link is given.
    pub no_cl: NoCl,
    /// Amount added to the squared differences of must-linked objects in every direction. It is relative to their
    /// mean over the features.
    #[option(default = 0.01, min = 0.0)]
    pub ridge: f64,
    /// Maximum number of steps.
    #[option(default = 1000, min = 1)]
    pub max_iterations: usize,
    /// Size of a step below which steps end: relative to A (full), in log g (diagonal).
    #[option(default = 1e-3, min = 0.0)]
    pub tolerance: f64,
}

/// Most objects for which all pairs are listed.
const MOST_OBJECTS: usize = 10_000;
/// Rounds of alternating projections, and how far f may miss its bound after them.
const ROUNDS: usize = 100;
const MISSED: f64 = 1e-4;

#[plugin("mmc", cites = ["Xing2002", "Eaton2005"])]
impl Transform for Mmc {
    fn fit(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Fitted>> {
        let data = &problem.data;
        if problem.constraints.pairs().is_empty() {
            ctx.warn("no constraint: the data stays as it is");
            return Ok(Box::new(LinearMap::identity("mmc")));
        }
        let mut near = pairs(&problem.constraints, Kind::MustLink);
        let mut far = pairs(&problem.constraints, Kind::CannotLink);
        if far.is_empty() {
            far = self.all_others(problem)?;
        }
        let differ = |&(i, j): &(u32, u32)| values(data, i) != values(data, j);
        near.retain(differ);
        far.retain(differ);
        if far.is_empty() {
            ctx.warn("the objects to spread are equal: the data stays as it is");
            return Ok(Box::new(LinearMap::identity("mmc")));
        }
        let spread = Spread { data, pairs: &far };
        let within = self.within(data, &near)?;
        let t = if self.diagonal {
            let a = self.newton(&within.diag().to_owned(), &spread, ctx)?;
            Array2::from_diag(&a.mapv(f64::sqrt))
        } else {
            let a = self.ascend(&within, &spread, ctx, |_, _| ())?;
            let (values, vectors) = eigen("mmc", &a, ctx)?;
            recompose(&values, &vectors, |v| v.max(0.0).sqrt())
        };
        Ok(Box::new(LinearMap::new("mmc", t)))
    }

    fn properties(&self) -> TransformProperties {
        TransformProperties {
            accepts: vec![DataKind::Dense],
            reads_constraints: true,
            ..TransformProperties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let (n, d) = (shape.n as u64, shape.d as u64);
        let pairs = match self.no_cl {
            NoCl::Error => shape.constraints as u64,
            NoCl::AllNonMl => n.min(MOST_OBJECTS as u64).pow(2) / 2,
        };
        8 * (n * d + 10 * d * d + 2 * reduce::BLOCK as u64 * d + pairs)
    }

    fn operations(&self, shape: &Shape) -> f64 {
        // A decomposition takes about 10·d³. Full: some fifteen for each step, of which most are taken; diagonal:
        // some ten steps of one each.
        const DECOMPOSITIONS: f64 = 15.0;
        let (d, most) = (shape.d as f64, self.max_iterations as f64);
        let pairs = match self.no_cl {
            NoCl::Error => shape.constraints as f64,
            NoCl::AllNonMl => (shape.n as f64).powi(2) / 2.0,
        };
        let steps = if self.diagonal { most.min(10.0) } else { most };
        let each = if self.diagonal { 1.0 } else { DECOMPOSITIONS };
        shape.entries as f64 * d + steps * (each * 10.0 * d.powi(3) + 4.0 * pairs * d * d)
    }

    fn restore(&self, saved: &Value) -> Result<Box<dyn Fitted>> {
        LinearMap::restored("mmc", saved)
    }
}

/// The given pairs of one kind, in order of their objects: the order of the list must not matter.
fn pairs(constraints: &Constraints, kind: Kind) -> Vec<(u32, u32)> {
    let of = constraints.pairs().iter().filter(|c| c.kind == kind);
    let mut pairs: Vec<(u32, u32)> = of.map(|c| (c.i, c.j)).collect();
    pairs.sort_unstable();
    pairs
}

impl Mmc {
    /// All pairs that must-links do not join, where that is asked for.
    fn all_others(&self, problem: &Problem) -> Result<Vec<(u32, u32)>> {
        let n = problem.n();
        if self.no_cl == NoCl::Error {
            let legal = "used with at least one cannot-link, or \"all_non_ml\"";
            return Err(Error::bad_param("no_cl", "\"error\"", legal));
        }
        if n > MOST_OBJECTS {
            let legal = format!("\"error\" above {MOST_OBJECTS} objects ({n} given)");
            return Err(Error::bad_param("no_cl", "\"all_non_ml\"", legal));
        }
        let closure = problem.closure(OnConflict::Keep)?;
        let all = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
        let apart = all.filter(|&(i, j)| closure.component(i) != closure.component(j));
        Ok(apart.map(|(i, j)| (i as u32, j as u32)).collect())
    }

    /// W with f(A) = tr(WA).
    fn within(&self, data: &Data, near: &[(u32, u32)]) -> Result<Array2<f64>> {
        let d = data.d();
        let (spread, unit) = (Spread { data, pairs: near }, Array2::eye(d));
        let w = spread.sum(&unit, |_, z| z.t().dot(z)).unwrap_or_else(|| Array2::zeros((d, d)));
        let trace = w.diag().sum();
        if !trace.is_finite() {
            return Err(too_large("mmc"));
        }
        if trace == 0.0 {
            let place =
                "mmc: no must-linked objects differ, so nothing bounds the metric; add must-links";
            return Err(Error::NumericalFailure { place: place.into() });
        }
        Ok((&w + &w.t()) / 2.0 + Array2::<f64>::eye(d) * (self.ridge * trace / d as f64))
    }

    /// The full A. `accepted` sees every accepted A with its g.
    fn ascend(
        &self,
        within: &Array2<f64>,
        spread: &Spread,
        ctx: &Context,
        mut accepted: impl FnMut(&Array2<f64>, f64),
    ) -> Result<Array2<f64>> {
        let d = within.nrows();
        let square = within.iter().map(|v| v * v).sum::<f64>();
        let mut a = Array2::<f64>::eye(d) / within.diag().sum();
        let (mut g, gradient) = spread.distances(&a)?;
        let mut way = direction(&gradient, within, square);
        let mut step = 0.1 * norm(&a);
        for _ in 0..self.max_iterations {
            ctx.check()?;
            let Some(along) = &way else { break };
            if step < self.tolerance * norm(&a) {
                break;
            }
            let next = project(&a + &(along * step), within, square, ctx)?;
            let found = match next {
                Some(next) => Some((spread.distances(&next)?, next)),
                None => None,
            };
            match found {
                Some(((value, gradient), next)) if value > g => {
                    (a, g) = (next, value);
                    accepted(&a, g);
                    way = direction(&gradient, within, square);
                    step *= 1.05;
                }
                _ => step /= 2.0,
            }
        }
        Ok(a)
    }

    /// The diagonal of A.
    fn newton(&self, within: &Array1<f64>, spread: &Spread, ctx: &Context) -> Result<Array1<f64>> {
        let d = within.len();
        // Every feature has its share in f, whatever its unit.
        let even = 1.0 / within.sum();
        let mut a = within.mapv(|w| if w > 0.0 { 1.0 / (d as f64 * w) } else { even });
        let mut now = spread.logarithm(&a)?;
        for _ in 0..self.max_iterations {
            ctx.check()?;
            let value = within.dot(&a) - now.value;
            let slope = within - &now.gradient;
            // Features at 0 that the slope keeps there take no part in the step.
            let open: Vec<usize> = (0..d).filter(|&s| a[s] > 0.0 || slope[s] < 0.0).collect();
            let hessian = now.hessian.select(Axis(0), &open).select(Axis(1), &open).mapv(|v| -v);
            let (values, vectors) = eigen("mmc", &hessian, ctx)?;
            let least = 1e-10 * values[0].max(f64::MIN_POSITIVE);
            let inverse = recompose(&values, &vectors, |v| 1.0 / v.max(least));
            let newton = inverse.dot(&slope.select(Axis(0), &open));
            let mut step = 1.0;
            let mut better = None;
            for _ in 0..60 {
                let mut next = a.clone();
                for (&s, v) in open.iter().zip(&newton) {
                    next[s] = (a[s] - step * v).max(0.0);
                }
                let promised = slope.dot(&(&next - &a));
                if let Ok(then) = spread.logarithm(&next) {
                    let fall = value - (within.dot(&next) - then.value);
                    if promised < 0.0 && fall >= -1e-4 * promised {
                        better = Some((next, then, fall));
                        break;
                    }
                }
                step /= 2.0;
            }
            let Some((next, then, fall)) = better else { break };
            (a, now) = (next, then);
            // A step cut short falls little and says nothing about what is left.
            if step == 1.0 && fall <= self.tolerance {
                break;
            }
        }
        Ok(a)
    }
}

fn norm(a: &Array2<f64>) -> f64 {
    a.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// The part of the gradient orthogonal to that of f, of length 1; nothing where none is left.
fn direction(gradient: &Array2<f64>, within: &Array2<f64>, square: f64) -> Option<Array2<f64>> {
    let along = Zip::from(gradient).and(within).fold(0.0, |sum, g, w| sum + g * w) / square;
    let rest = gradient - &(within * along);
    let length = norm(&rest);
    (length > 1e-12 * norm(gradient)).then(|| rest / length)
}

/// The nearest positive semi-definite A with f(A) ≤ 1, by alternating projections, scaled to f = 1;
/// nothing where they do not meet.
fn project(
    mut a: Array2<f64>,
    within: &Array2<f64>,
    square: f64,
    ctx: &Context,
) -> Result<Option<Array2<f64>>> {
    let f = |a: &Array2<f64>| Zip::from(a).and(within).fold(0.0, |sum, a, w| sum + a * w);
    for _ in 0..ROUNDS {
        let over = f(&a) - 1.0;
        if over > 0.0 {
            a = a - within * (over / square);
        }
        let (values, vectors) = eigen("mmc", &a, ctx)?;
        if values.iter().any(|v| *v < 0.0) {
            a = recompose(&values, &vectors, |v| v.max(0.0));
        }
        let size = f(&a);
        if size <= 1.0 + MISSED {
            // g grows with A: the bound is met at the optimum.
            return Ok((size > 0.0).then(|| a / size));
        }
    }
    Ok(None)
}

/// Pairs of objects whose distances are summed.
struct Spread<'a> {
    data: &'a Data,
    pairs: &'a [(u32, u32)],
}

/// log g and its derivatives by the diagonal of A.
struct Logarithm {
    value: f64,
    gradient: Array1<f64>,
    hessian: Array2<f64>,
}

impl Spread<'_> {
    /// Sums over pairs in blocks, of the squared distances under A and the differences.
    fn sum<T: Send + std::ops::Add<Output = T>>(
        &self,
        a: &Array2<f64>,
        map: impl Fn(Vec<f64>, &Array2<f64>) -> T + Sync,
    ) -> Option<T> {
        reduce::reduce(
            self.pairs.len(),
            |range| {
                let mut z = Array2::zeros((range.len(), self.data.d()));
                for (&(i, j), mut to) in self.pairs[range].iter().zip(z.axis_iter_mut(Axis(0))) {
                    let (x, y) = (values(self.data, i), values(self.data, j));
                    to.iter_mut().zip(x.iter().zip(y)).for_each(|(to, (x, y))| *to = x - y);
                }
                let squares = (&z.dot(a) * &z).sum_axis(Axis(1)).to_vec();
                map(squares, &z)
            },
            |a, b| a + b,
        )
    }

    /// g and its gradient.
    fn distances(&self, a: &Array2<f64>) -> Result<(f64, Array2<f64>)> {
        let d = self.data.d();
        // One row more than the gradient, for g.
        let sums = self.sum(a, |squares, z| {
            let mut out = Array2::zeros((d + 1, d));
            let mut scaled = z.clone();
            for (s, mut row) in squares.iter().zip(scaled.rows_mut()) {
                let distance = s.max(0.0).sqrt();
                out[[d, 0]] += distance;
                row *= if distance > 0.0 { (0.5 / distance).sqrt() } else { 0.0 };
            }
            out.slice_axis_mut(Axis(0), (..d).into()).assign(&scaled.t().dot(&scaled));
            out
        });
        let sums = sums.expect("at least one pair");
        if !sums.iter().all(|v| v.is_finite()) {
            return Err(too_large("mmc"));
        }
        Ok((sums[[d, 0]], sums.slice_axis(Axis(0), (..d).into()).to_owned()))
    }

    /// log g and its derivatives for A = diag(a).
    fn logarithm(&self, a: &Array1<f64>) -> Result<Logarithm> {
        let d = self.data.d();
        // Two rows more than the second derivatives: the first ones, and g.
        let sums = self.sum(&Array2::from_diag(a), |squares, z| {
            let mut out = Array2::zeros((d + 2, d));
            let mut second = z.mapv(|v| v * v);
            for (s, mut row) in squares.iter().zip(second.rows_mut()) {
                let distance = s.max(0.0).sqrt();
                out[[d + 1, 0]] += distance;
                let inverse = if distance > 0.0 { 1.0 / distance } else { 0.0 };
                out.row_mut(d).scaled_add(0.5 * inverse, &row);
                row *= 0.5 * inverse * inverse.sqrt();
            }
            out.slice_axis_mut(Axis(0), (..d).into()).assign(&second.t().dot(&second));
            out
        });
        let sums = sums.expect("at least one pair");
        let g = sums[[d + 1, 0]];
        if !(sums.iter().all(|v| v.is_finite()) && g > 0.0) {
            return Err(too_large("mmc"));
        }
        let gradient = &sums.row(d) / g;
        let mut hessian = sums.slice_axis(Axis(0), (..d).into()).mapv(|v| -v / g);
        for (s, mut row) in hessian.rows_mut().into_iter().enumerate() {
            row.scaled_add(-gradient[s], &gradient);
        }
        Ok(Logarithm { value: g.ln(), gradient, hessian })
    }
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
    fn metric(mmc: &Mmc, problem: &Problem) -> Array2<f64> {
        let fitted = mmc.fit(problem, &Context::new(1)).unwrap();
        let unit = Data::dense(Array2::eye(problem.d())).unwrap();
        let t = fitted.apply(&unit).unwrap().to_dense();
        t.dot(&t.t())
    }

    fn exact() -> Mmc {
        Mmc { ridge: 0.0, tolerance: 1e-9, ..Mmc::default() }
    }

    /// Must-links differ by (1, 0) and (0, 2), the cannot-link by (3, 4).
    fn worked() -> Problem {
        let x = array![[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [3.0, 4.0]];
        problem(&x, &[Constraint::must(0, 1), Constraint::must(0, 2), Constraint::cannot(0, 3)])
    }

    #[test]
    fn by_hand() {
        // W = diag(1, 4). Full: max vᵀAv under tr(WA) ≤ 1 is A = W⁻¹v vᵀW⁻¹ / (vᵀW⁻¹v), v = (3, 4):
        // W⁻¹v = (3, 1), vᵀW⁻¹v = 13.
        let a = metric(&exact(), &worked());
        let expected = array![[9.0, 3.0], [3.0, 1.0]] / 13.0;
        assert!((&a - &expected).iter().all(|v| v.abs() < 1e-4), "{a}");
        // Diagonal: all weight on the feature of largest v²/W: 9 against 4. Then f = c/2 = 1/2.
        let a = metric(&Mmc { diagonal: true, ..exact() }, &worked());
        assert!((&a - &array![[0.5, 0.0], [0.0, 0.0]]).iter().all(|v| v.abs() < 1e-6), "{a}");
    }

    #[test]
    fn too_little_to_learn_from_is_named() {
        let x = array![[0.0, 1.0], [1.0, 1.0], [0.0, 1.0], [5.0, 0.0]];
        let message = |mmc: &Mmc, constraints: &[Constraint]| {
            let refused = mmc.fit(&problem(&x, constraints), &Context::new(1)).err();
            refused.expect("refused").to_string()
        };
        let (must, cannot) = (Constraint::must(0, 1), Constraint::cannot(0, 3));
        assert_eq!(
            message(&Mmc::default(), &[must]),
            "no_cl: must be used with at least one cannot-link, or \"all_non_ml\", got \"error\""
        );
        let unbounded = "numerical failure in mmc: no must-linked objects differ, so nothing bounds \
                         the metric; add must-links";
        assert_eq!(message(&Mmc::default(), &[cannot]), unbounded);
        assert_eq!(message(&Mmc::default(), &[cannot, Constraint::must(0, 2)]), unbounded);
        let ctx = Context::new(1);
        let equal = problem(&x, &[must, Constraint::cannot(0, 2)]);
        let same = Mmc::default().fit(&equal, &ctx).unwrap().apply(&equal.data).unwrap();
        assert_eq!(same.to_dense(), x);
        assert_eq!(ctx.warnings(), ["the objects to spread are equal: the data stays as it is"]);
        assert_eq!(
            message(&Mmc { ridge: -1.0, ..Mmc::default() }, &[must]),
            "ridge: must be at least 0, got -1"
        );
        assert_eq!(
            message(&Mmc { max_iterations: 0, ..Mmc::default() }, &[must]),
            "max_iterations: must be at least 1, got 0"
        );
    }

    #[test]
    fn all_other_pairs_can_be_spread() {
        let x = array![[0.0, 0.0], [1.0, 0.1], [0.0, 5.0], [1.0, 5.1]];
        let mmc = Mmc { no_cl: NoCl::AllNonMl, diagonal: true, ..Mmc::default() };
        let implied = metric(&mmc, &problem(&x, &[Constraint::must(0, 1)]));
        let others = [(0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
        let mut written: Vec<Constraint> =
            others.iter().map(|&(i, j)| Constraint::cannot(i, j)).collect();
        written.push(Constraint::must(0, 1));
        assert_eq!(implied, metric(&mmc, &problem(&x, &written)));
        assert!(implied[[1, 1]] > implied[[0, 0]]);
    }

    #[test]
    fn a_constant_feature_is_legal() {
        let x = Array2::from_shape_fn(
            (9, 3),
            |(i, j)| if j == 1 { 4.0 } else { (i * i % 7 + j) as f64 },
        );
        let p = problem(
            &x,
            &[Constraint::must(0, 1), Constraint::must(2, 5), Constraint::cannot(2, 7)],
        );
        for diagonal in [false, true] {
            for ridge in [0.0, 0.01] {
                let a = metric(&Mmc { diagonal, ridge, ..Mmc::default() }, &p);
                assert!(a.iter().all(|v| v.is_finite()), "{a}");
            }
        }
    }

    fn draw(seed: u64, d: usize) -> Problem {
        let (x, classes) = fixtures::groups(10, d, 1.0, seed);
        let mut all = fixtures::true_constraints(&classes, 25, seed).pairs().to_vec();
        all.extend([Constraint::must(0, 3), Constraint::cannot(0, 1)]);
        problem(&x, &all)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        /// g never falls, and every accepted A is positive semi-definite with f = 1.
        #[test]
        fn climbs(seed in 0u64..10_000) {
            let p = draw(seed, 3);
            let near = pairs(&p.constraints, Kind::MustLink);
            let far = pairs(&p.constraints, Kind::CannotLink);
            let mmc = Mmc { tolerance: 1e-4, max_iterations: 200, ..Mmc::default() };
            let within = mmc.within(&p.data, &near).unwrap();
            let spread = Spread { data: &p.data, pairs: &far };
            let mut steps: Vec<(Array2<f64>, f64)> = Vec::new();
            let seen = |a: &Array2<f64>, g: f64| steps.push((a.clone(), g));
            let a = mmc.ascend(&within, &spread, &Context::new(1), seen).unwrap();
            for pair in steps.windows(2) {
                prop_assert!(pair[1].1 > pair[0].1);
            }
            for (a, _) in &steps {
                let (values, _) = eigen("mmc", a, &Context::new(1)).unwrap();
                prop_assert!(values.iter().all(|v| *v >= -1e-12 * values[0]));
                prop_assert!(((a * &within).sum() - 1.0).abs() < 1e-9);
            }
            let (last, _) = spread.distances(&a).unwrap();
            prop_assert!(steps.last().is_none_or(|(_, g)| *g == last));
        }

        /// The diagonal satisfies the conditions of an optimum: slope 0 where a weight is above 0, none
        /// below 0 elsewhere; and then f = 1/2.
        #[test]
        fn diagonal_is_optimal(seed in 0u64..10_000) {
            let p = draw(seed, 4);
            let near = pairs(&p.constraints, Kind::MustLink);
            let far = pairs(&p.constraints, Kind::CannotLink);
            let mmc = Mmc { tolerance: 1e-13, ..Mmc::default() };
            let within = mmc.within(&p.data, &near).unwrap().diag().to_owned();
            let spread = Spread { data: &p.data, pairs: &far };
            let a = mmc.newton(&within, &spread, &Context::new(1)).unwrap();
            let slope = &within - &spread.logarithm(&a).unwrap().gradient;
            for (s, (&a, &w)) in a.iter().zip(&within).enumerate() {
                prop_assert!(slope[s] >= -1e-5 * w, "{slope} {a}");
                if a * w > 1e-6 {
                    prop_assert!(slope[s] <= 1e-5 * w, "{slope} {a}");
                }
            }
            prop_assert!((within.dot(&a) - 0.5).abs() < 1e-5);
        }

        /// Derivatives are those of differences.
        #[test]
        fn derivatives(seed in 0u64..10_000) {
            let p = draw(seed, 3);
            let far = pairs(&p.constraints, Kind::CannotLink);
            let spread = Spread { data: &p.data, pairs: &far };
            let a = array![0.7, 0.2, 1.3];
            let at = spread.logarithm(&a).unwrap();
            for s in 0..3 {
                let h = 1e-5;
                let (mut up, mut down) = (a.clone(), a.clone());
                (up[s], down[s]) = (a[s] + h, a[s] - h);
                let (up, down) = (spread.logarithm(&up).unwrap(), spread.logarithm(&down).unwrap());
                prop_assert!(((up.value - down.value) / (2.0 * h) - at.gradient[s]).abs() < 1e-6);
                let second = (&up.gradient - &down.gradient) / (2.0 * h);
                prop_assert!((second - at.hessian.row(s)).iter().all(|v| v.abs() < 1e-5));
            }
            let full = Array2::from_diag(&a);
            let (g, gradient) = spread.distances(&full).unwrap();
            prop_assert!((g.ln() - at.value).abs() < 1e-12);
            prop_assert!((&gradient.diag() / g - &at.gradient).iter().all(|v| v.abs() < 1e-10));
        }

        /// Neither the order of the list nor the unit of the data matters to the shape of A.
        #[test]
        fn order_and_unit_change_nothing(seed in 0u64..10_000, diagonal: bool) {
            let p = draw(seed, 3);
            let mmc = Mmc { diagonal, ..Mmc::default() };
            let a = metric(&mmc, &p);
            let backwards: Vec<Constraint> = p.constraints.pairs().iter().rev().copied().collect();
            let x = p.data.to_dense();
            prop_assert_eq!(&a, &metric(&mmc, &problem(&x, &backwards)));
            let larger = metric(&mmc, &problem(&x.mapv(|v| 4.0 * v), p.constraints.pairs()));
            prop_assert!((&a - &(larger * 16.0)).iter().all(|v| v.abs() < 1e-6 * a.diag().sum()));
        }
    }
}
