//! The directions along which the objects differ most.

use mustlink_core::prelude::*;
use ndarray::{Array1, Array2, Axis, Slice};

use crate::parts::linear_map::{certain_rank, eigen, fix_signs, mean, spread, too_large};
use crate::parts::projection::{Projection, dense_rows};

/// Number of principal components: a count, or a share of the variance to explain.
#[options]
#[derive(Copy)]
pub enum Components {
    /// This many (an integer).
    Count(#[option(min = 1)] usize),
    /// The fewest that explain at least this share of the variance (a float).
    Share(#[option(above = 0.0, max = 1.0)] f64),
}

impl Components {
    /// Number of directions to keep, from their variances (descending).
    pub(crate) fn of(self, variances: &Array1<f64>) -> usize {
        match self {
            Components::Count(count) => count,
            Components::Share(share) => {
                let all: f64 = variances.iter().map(|v| v.max(0.0)).sum();
                let mut sum = 0.0;
                let enough = variances.iter().position(|v| {
                    sum += v.max(0.0);
                    sum >= share * all
                });
                enough.map_or(variances.len(), |at| at + 1)
            }
        }
    }
}

/// Principal component analysis: coordinates along the directions of largest variance, centred.
///
/// # Method
/// Eigenvectors of the covariance of all rows, in the order of their eigenvalues. With fewer objects than features,
/// those of the n × n inner products of the centred rows, which give the same directions. Objects become (x −
/// mean)·V. The largest entry of each direction is positive. Features are not scaled: add `z_score` before it if
/// features have different units, or after it for components of equal spread.
/// # Input and output
/// n × d dense; n × `components`. Sparse data are rejected, because centring would fill their zeros: use `lsi`, or
/// add `densify` first.
/// # Errors
/// `BadParam` for more components than directions in which the objects differ; `Data` when they do not differ;
/// `NumericalFailure` when the squares exceed the largest number.
/// # Cost and randomness
/// O(n·d·m + m³), m the smaller of n and d; not random.
/// # References
/// [Jolliffe2002].
#[options]
pub struct Pca {
    /// Number of components, or the share of the variance that they must at least explain. If absent, all directions in
    /// which the objects differ are kept.
    pub components: Option<Components>,
    /// Largest number of components. Unlike `components`, it may be larger than the number of directions in which the
    /// objects differ.
    #[option(min = 1)]
    pub max_components: Option<usize>,
}

#[plugin("pca", cites = ["Jolliffe2002"])]
impl Transform for Pca {
    fn fit(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Fitted>> {
        let data = &problem.data;
        let wide = data.n() < data.d();
        let (mean, variances, vectors) =
            if wide { inner_products(data, ctx)? } else { spread("pca", data, ctx)? };
        let rank = certain_rank(&variances);
        if rank == 0 {
            let message = "the objects do not differ, so no direction can be kept".into();
            return Err(Error::Data { place: "pca".into(), message });
        }
        let count = self.components.map_or(rank, |c| c.of(&variances));
        let count = count.min(self.max_components.unwrap_or(usize::MAX));
        if let Some(Components::Count(count)) = self.components
            && count > rank
        {
            let legal =
                format!("a count between 1 and {rank} (directions in which the objects differ)");
            return Err(Error::bad_param("components", count, legal));
        }
        let kept = vectors.slice_axis(Axis(1), Slice::from(..count.min(rank)));
        let directions =
            if wide { onto_features(data, &mean, kept.to_owned()) } else { kept.to_owned() };
        Ok(Box::new(Projection { tag: "pca", mean: Some(mean), directions }))
    }

    fn properties(&self) -> TransformProperties {
        TransformProperties { accepts: vec![DataKind::Dense], ..TransformProperties::default() }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let (n, d, m) = (shape.n as u64, shape.d as u64, shape.n.min(shape.d) as u64);
        // The result, a centred copy of wide data, and what the decomposition works on.
        8 * (n * m + if n < d { n * d } else { 0 } + 6 * m * m)
    }

    fn operations(&self, shape: &Shape) -> f64 {
        let smaller = shape.n.min(shape.d) as f64;
        2.0 * shape.entries as f64 * smaller + 10.0 * smaller.powi(3)
    }

    fn shape_of_result(&self, shape: &Shape) -> Shape {
        let most = match self.components {
            Some(Components::Count(count)) => count,
            _ => usize::MAX,
        };
        let most = most.min(self.max_components.unwrap_or(usize::MAX));
        let d = most.min(shape.n).min(shape.d);
        Shape { d, entries: shape.n * d, ..*shape }
    }

    fn restore(&self, saved: &Value) -> Result<Box<dyn Fitted>> {
        Projection::restored("pca", saved)
    }
}

/// As [`spread`], by the eigenvectors of the inner products of the centred rows, over their number.
fn inner_products(data: &Data, ctx: &Context) -> Result<(Vec<f64>, Array1<f64>, Array2<f64>)> {
    let n = data.n();
    let objects: Vec<u32> = (0..n as u32).collect();
    let centre = mean(data, &objects);
    let z = dense_rows(data, 0..n, Some(&centre));
    let c = z.dot(&z.t()) / n as f64;
    if c.iter().any(|v| !v.is_finite()) {
        return Err(too_large("pca"));
    }
    let (values, vectors) = eigen("pca", &((&c + &c.t()) / 2.0), ctx)?;
    Ok((centre, values, vectors))
}

/// Directions among the features, of length 1, from those among the objects.
fn onto_features(data: &Data, mean: &[f64], u: Array2<f64>) -> Array2<f64> {
    let mut directions = dense_rows(data, 0..data.n(), Some(mean)).t().dot(&u);
    for mut v in directions.axis_iter_mut(Axis(1)) {
        let length = v.dot(&v).sqrt();
        v /= length;
    }
    fix_signs(&mut directions);
    directions
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_laws::fixtures;
    use ndarray::array;
    use proptest::prelude::*;

    fn mapped(components: Option<Components>, x: &Array2<f64>) -> Result<Array2<f64>> {
        let problem = Problem::new(Data::dense(x.clone())?);
        let fitted = Pca { components, ..Pca::default() }.fit(&problem, &Context::new(1))?;
        assert_eq!(fitted.features(), Features::New);
        Ok(fitted.apply(&problem.data)?.to_dense())
    }

    fn count(c: usize) -> Option<Components> {
        Some(Components::Count(c))
    }

    #[test]
    fn the_decomposition_looks_at_the_flag() {
        for (n, d) in [(50, 40), (40, 50)] {
            let x = Array2::from_shape_fn((n, d), |(i, j)| ((7 * i + 13 * j + i * j) % 11) as f64);
            let problem = Problem::new(Data::dense(x).unwrap());
            let ctx = Context::builder(SeedPath::new(1)).count_looks().build();
            Pca::default().fit(&problem, &ctx).unwrap();
            assert!(ctx.looks() > 40, "{}", ctx.looks());
            let ctx = Context::builder(SeedPath::new(1)).cancel_after(20).build();
            assert_eq!(Pca::default().fit(&problem, &ctx).err(), Some(Error::Cancelled));
        }
    }

    #[test]
    fn by_hand() {
        // The mean is (1, 1); (3, 4)/5 times −10, 0, 0, 10 and (4, −3)/5 times 0, −5, 5, 0 around it:
        // variances 50 and 12.5.
        let x = array![[-5.0, -7.0], [-3.0, 4.0], [5.0, -2.0], [7.0, 9.0]];
        let y = mapped(None, &x).unwrap();
        let expected = array![[-10.0, 0.0], [0.0, -5.0], [0.0, 5.0], [10.0, 0.0]];
        assert!((&y - &expected).iter().all(|v| v.abs() < 1e-12), "{y}");
        let first = expected.slice_axis(Axis(1), Slice::from(..1));
        for one in [count(1), Some(Components::Share(0.8))] {
            let y = mapped(one, &x).unwrap();
            assert!((&y - &first).iter().all(|v| v.abs() < 1e-12), "{y}");
        }
        assert_eq!(mapped(Some(Components::Share(0.81)), &x).unwrap().ncols(), 2);
    }

    #[test]
    fn more_than_the_objects_differ_in_is_an_error() {
        let x = array![[0.0, 5.0, 1.0], [1.0, 5.0, 2.0], [2.0, 5.0, 3.0], [4.0, 5.0, 5.0]];
        assert_eq!(mapped(None, &x).unwrap().ncols(), 1);
        assert_eq!(
            mapped(count(2), &x).unwrap_err().to_string(),
            "components: must be a count between 1 and 1 (directions in which the objects differ), got 2"
        );
        assert_eq!(
            mapped(None, &array![[0.1, 2.0], [0.1, 2.0], [0.1, 2.0]]).unwrap_err().to_string(),
            "pca: the objects do not differ, so no direction can be kept"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// All components keep all distances; variances fall and components do not go together; fewer
        /// objects than features take the other road to the same place.
        #[test]
        fn distances_stay(seed in 0u64..10_000, per in 1usize..7) {
            let (x, _) = fixtures::groups(per, 8, 1.0, seed);
            let n = x.nrows();
            let y = mapped(None, &x).unwrap();
            prop_assert_eq!(y.ncols(), (n - 1).min(8));
            for i in 0..n {
                for j in 0..i {
                    let squares = |x: &Array2<f64>| {
                        (&x.row(i) - &x.row(j)).iter().map(|v| v * v).sum::<f64>()
                    };
                    prop_assert!((squares(&x) - squares(&y)).abs() < 1e-8);
                }
            }
            let c = y.t().dot(&y);
            for (a, b) in (0..y.ncols()).flat_map(|a| (0..a).map(move |b| (a, b))) {
                prop_assert!(c[[a, b]].abs() < 1e-8 && c[[b, b]] >= c[[a, a]] - 1e-8);
            }
        }
    }
}
