//! The directions of the largest singular values of a large sparse matrix.

use linfa_linalg::qr::QR;
use mustlink_core::prelude::*;
use ndarray::{Array2, Axis, Slice};

use crate::parts::linear_map::{eigen, fix_signs, rank};
use crate::parts::projection::{Projection, dense_rows, onto};

/// Components kept where none are asked for: as many as the literature on COBRA keeps of text.
const COMPONENTS: usize = 10;

/// Latent semantic indexing: coordinates along the leading singular directions, not centred.
///
/// # Method
/// A truncated singular value decomposition A ≈ U·Σ·Vᵀ; objects become A·V = U·Σ. The decomposition is randomised. A
/// block of `components` + `oversampling` random directions is multiplied by AᵀA and made orthonormal again,
/// `iterations` times. The decomposition is then computed inside the space that the block spans. The largest entry of
/// each direction is positive.
/// # Input and output
/// n × d, dense or sparse; n × `components` dense. Sparse data stay sparse internally. The mean is not subtracted,
/// because that would fill the zeros; `pca` subtracts it. Usually used after `tf_idf` and `l2_rows`.
/// # Errors
/// `BadParam` for more components than the rank of the data; `Data` when all values are 0. Singular values below
/// about 1e-7 of the largest count as 0.
/// # Cost and randomness
/// O(iterations · entries · c + iterations · d · c²), c = `components` + `oversampling`; random only in the first
/// directions.
/// # References
/// [Deerwester1990]; algorithm of [Halko2011], with AᵀA instead of A and Aᵀ in turn.
#[options]
pub struct Lsi {
    /// Number of components, at most the rank of the data. If absent, 10, or the rank if that is smaller.
    #[option(min = 1)]
    pub components: Option<usize>,
    /// Number of additional directions to compute. More directions make the last components kept more exact.
    #[option(default = 10, min = 0)]
    pub oversampling: usize,
    /// Number of multiplications by AᵀA. More make all components more exact if singular values fall slowly.
    #[option(default = 10, min = 1)]
    pub iterations: usize,
}

#[plugin("lsi", cites = ["Deerwester1990", "Halko2011"])]
impl Transform for Lsi {
    fn fit(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Fitted>> {
        let data = &problem.data;
        let most = data.n().min(data.d());
        if let Some(c) = self.components.filter(|&c| c > most) {
            let legal = format!("between 1 and {most} (the smaller of n and d)");
            return Err(Error::bad_param("components", c, legal));
        }
        let scale = largest(data);
        if scale == 0.0 {
            let message = "all values are 0, so no direction can be kept".into();
            return Err(Error::Data { place: "lsi".into(), message });
        }
        let asked = self.components.unwrap_or(COMPONENTS);
        let width = asked.saturating_add(self.oversampling).min(most);
        let mut stream = ctx.stream("start");
        let start = Array2::from_shape_simple_fn((data.d(), width), || stream.normal());
        let mut basis = orthonormal(&start)?;
        for _ in 0..self.iterations {
            ctx.check()?;
            basis = orthonormal(&twice(data, scale, &basis))?;
        }
        let (values, inside) = eigen("lsi", &squares(data, scale, &basis), ctx)?;
        let rank = rank(&values);
        if let Some(c) = self.components.filter(|&c| c > rank) {
            let legal = format!("between 1 and {rank} (the rank of the data)");
            return Err(Error::bad_param("components", c, legal));
        }
        let kept = inside.slice_axis(Axis(1), Slice::from(..asked.min(rank)));
        let mut directions = basis.dot(&kept);
        fix_signs(&mut directions);
        Ok(Box::new(Projection { tag: "lsi", mean: None, directions }))
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let c = self.components.unwrap_or(COMPONENTS);
        let width = c.saturating_add(self.oversampling).min(shape.n).min(shape.d);
        // The block of directions, its products on every thread, and dense rows being read.
        let blocks = (4 + 2 * rayon::current_num_threads()) * shape.d * width;
        8 * (shape.n * c.min(width) + blocks + reduce::BLOCK * shape.d) as u64
    }

    fn operations(&self, shape: &Shape) -> f64 {
        let c = self.components.unwrap_or(COMPONENTS);
        let width = c.saturating_add(self.oversampling).min(shape.n).min(shape.d) as f64;
        let rounds = 2.0 * self.iterations as f64 + 2.0;
        rounds * width * (shape.entries as f64 + (shape.n + shape.d) as f64 * width)
    }

    fn shape_of_result(&self, shape: &Shape) -> Shape {
        let d = self.components.unwrap_or(COMPONENTS).min(shape.n).min(shape.d);
        Shape { d, entries: shape.n * d, ..*shape }
    }

    fn restore(&self, saved: &Value) -> Result<Box<dyn Fitted>> {
        Projection::restored("lsi", saved)
    }
}

/// The largest |value|: by it all is divided, so that no square is too large or too small.
fn largest(data: &Data) -> f64 {
    let most = |rows: std::ops::Range<usize>| {
        rows.fold(0.0f64, |m, i| match data.row(i) {
            Row::Dense(x) | Row::Sparse(_, x) => x.iter().fold(m, |m, v| m.max(v.abs())),
        })
    };
    reduce::reduce(data.n(), most, f64::max).unwrap_or(0.0)
}

/// Orthonormal columns that span those of `a`.
fn orthonormal(a: &Array2<f64>) -> Result<Array2<f64>> {
    let failure = |e| Error::NumericalFailure { place: format!("lsi: {e}") };
    Ok(a.qr().map_err(failure)?.generate_q())
}

/// AᵀA·B with A the data over `scale`.
fn twice(data: &Data, scale: f64, b: &Array2<f64>) -> Array2<f64> {
    let part = |rows: std::ops::Range<usize>| {
        if data.kind() == DataKind::Dense {
            let x = dense_rows(data, rows, None);
            return x.t().dot(&(x.dot(b) / scale)) / scale;
        }
        let y = onto(data, rows.clone(), b) / scale;
        let mut z = Array2::zeros(b.dim());
        for (i, y) in rows.zip(y.axis_iter(Axis(0))) {
            if let Row::Sparse(columns, values) = data.row(i) {
                for (&s, &v) in columns.iter().zip(values) {
                    z.row_mut(s as usize).scaled_add(v / scale, &y);
                }
            }
        }
        z
    };
    reduce::reduce(data.n(), part, |a, b| a + b).expect("data has rows")
}

/// (A·B)ᵀ(A·B) with A the data over `scale`.
fn squares(data: &Data, scale: f64, b: &Array2<f64>) -> Array2<f64> {
    let part = |rows| {
        let y = onto(data, rows, b) / scale;
        y.t().dot(&y)
    };
    let c = reduce::reduce(data.n(), part, |a, b| a + b).expect("data has rows");
    (&c + &c.t()) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_laws::fixtures::{self, to_csr};
    use ndarray::array;
    use proptest::prelude::*;

    fn indexed(lsi: &Lsi, data: Data) -> Result<Array2<f64>> {
        let problem = Problem::new(data);
        let fitted = lsi.fit(&problem, &Context::new(7))?;
        assert_eq!(fitted.features(), Features::New);
        Ok(fitted.apply(&problem.data)?.to_dense())
    }

    fn of(components: usize) -> Lsi {
        Lsi { components: Some(components), ..Lsi::default() }
    }

    fn both(x: &Array2<f64>) -> [Data; 2] {
        [Data::dense(x.clone()).unwrap(), Data::csr(to_csr(x)).unwrap()]
    }

    #[test]
    fn by_hand() {
        // Rows are multiples of (3, 4, 0)/5 and (0, 0, 1): singular values √125 and √5.
        let x = array![[3.0, 4.0, 0.0], [-6.0, -8.0, 0.0], [0.0, 0.0, -2.0], [0.0, 0.0, 1.0]];
        for data in both(&x) {
            let y = indexed(&of(1), data.clone()).unwrap();
            assert!((y - array![[5.0], [-10.0], [0.0], [0.0]]).iter().all(|v| v.abs() < 1e-12));
            // As many as there are where none are asked for.
            let y = indexed(&Lsi::default(), data).unwrap();
            let expected = array![[5.0, 0.0], [-10.0, 0.0], [0.0, -2.0], [0.0, 1.0]];
            assert!((&y - &expected).iter().all(|v| v.abs() < 1e-12), "{y}");
        }
    }

    /// TruncatedSVD of scikit-learn 1.9.1 on the counts of the test below:
    ///
    /// ```python
    /// a = np.zeros((40, 30))
    /// for i in range(40):
    ///     for j in range(30):
    ///         if (i * 3 + j * 5) % 4 == 0: a[i, j] = (i * 7 + j * 13 + i * j) % 5
    ///         if j // 10 == i % 3: a[i, j] += (j % 10 + 2) * (1 + i % 2)
    /// svd = TruncatedSVD(3, algorithm="arpack", tol=0).fit(scipy.sparse.csr_matrix(a))
    /// y = svd.transform(scipy.sparse.csr_matrix(a))
    /// print(svd.singular_values_, (y @ y.T)[:4, :4])
    /// ```
    const SINGULAR: [f64; 3] = [149.47012498558092, 132.5141213652735, 126.85799429468602];
    const PRODUCTS: [[f64; 4]; 4] = [
        [619.5254075661394, 109.62479589321389, 108.04178911334027, 1175.711721007791],
        [109.62479589321389, 2119.1175276603176, 204.71405240228404, 138.60454189512924],
        [108.04178911334027, 204.71405240228404, 618.7980972637216, 148.49907470251375],
        [1175.711721007791, 138.60454189512924, 148.49907470251375, 2237.8702834941305],
    ];

    #[test]
    fn as_scikit_learn() {
        let counts = Array2::from_shape_fn((40, 30), |(i, j)| {
            let other = if (i * 3 + j * 5) % 4 == 0 { (i * 7 + j * 13 + i * j) % 5 } else { 0 };
            let topic = if j / 10 == i % 3 { (j % 10 + 2) * (1 + i % 2) } else { 0 };
            (other + topic) as f64
        });
        for data in both(&counts) {
            let y = indexed(&of(3), data).unwrap();
            for (column, expected) in y.axis_iter(Axis(1)).zip(SINGULAR) {
                let value = column.dot(&column).sqrt();
                assert!((value - expected).abs() < 1e-9, "{value}");
            }
            let products = y.dot(&y.t());
            for (i, row) in PRODUCTS.iter().enumerate() {
                for (j, expected) in row.iter().enumerate() {
                    assert!((products[[i, j]] - expected).abs() < 1e-8, "{i} {j}");
                }
            }
        }
    }

    #[test]
    fn more_than_the_data_has_is_an_error() {
        let x = array![[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 0.0], [3.0, 6.0, 0.0]];
        let message = |lsi: &Lsi, x: &Array2<f64>| {
            let [dense, sparse] = both(x).map(|data| indexed(lsi, data).unwrap_err());
            assert_eq!(dense, sparse);
            dense.to_string()
        };
        assert_eq!(
            message(&of(4), &x),
            "components: must be between 1 and 3 (the smaller of n and d), got 4"
        );
        assert_eq!(
            message(&of(2), &x),
            "components: must be between 1 and 1 (the rank of the data), got 2"
        );
        assert_eq!(
            message(&Lsi::default(), &Array2::zeros((2, 2))),
            "lsi: all values are 0, so no direction can be kept"
        );
    }

    #[test]
    fn values_too_large_to_square_are_no_trouble() {
        for scale in [1e300, 1e-300] {
            let x = array![[3.0, 4.0], [-6.0, -8.0]] * scale;
            let y = indexed(&of(1), Data::dense(x).unwrap()).unwrap() / scale;
            assert!((y - array![[5.0], [-10.0]]).iter().all(|v| v.abs() < 1e-12));
        }
    }

    #[test]
    fn the_result_has_as_many_features_as_components() {
        let words = Shape { n: 300, d: 5000, k: 3, entries: 9000, constraints: 0 };
        let seen = of(7).shape_of_result(&words);
        assert_eq!(seen, Shape { d: 7, entries: 2100, ..words });
        assert_eq!(of(400).shape_of_result(&words).d, 300);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// All components keep all inner products; fewer give the first of them, in falling order.
        #[test]
        fn inner_products_stay(seed in 0u64..10_000, components in 1usize..6) {
            let (x, _) = fixtures::groups(8, 6, 1.0, seed);
            let all = indexed(&of(6), Data::dense(x.clone()).unwrap()).unwrap();
            prop_assert!((all.dot(&all.t()) - x.dot(&x.t())).iter().all(|v| v.abs() < 1e-8));
            let lengths: Vec<f64> = all.axis_iter(Axis(1)).map(|c| c.dot(&c)).collect();
            prop_assert!(lengths.windows(2).all(|w| w[0] >= w[1]));
            let some = indexed(&of(components), Data::csr(to_csr(&x)).unwrap()).unwrap();
            let first = all.slice_axis(Axis(1), Slice::from(..components));
            let apart = (some.dot(&some.t()) - first.dot(&first.t())).iter().any(|v| v.abs() > 1e-8);
            prop_assert!(!apart);
        }
    }
}
