//! RCA: scaling that shrinks directions in which chunklets vary.

use mustlink_core::prelude::*;
use mustlink_core::soft_marks::obeying_must_links;
use ndarray::{Array2, Axis, Slice};

use crate::parts::linear_map::{LinearMap, covariance, eigen, mean, rank, recompose, spread};
use crate::pca::Components;

/// Objects that define the total spread, which `dim` compares with the spread inside chunklets.
#[options]
pub enum Total {
    /// The members of chunklets.
    #[default]
    Chunklets,
    /// All objects.
    All,
}

/// Relevant component analysis: shrinks the directions in which must-linked objects differ.
///
/// # Method
/// Chunklets are the components of at least two objects that must-links join; cannot-links are not used. The matrix Ĉ
/// is the mean over their N members of (x − m)(x − m)ᵀ with m the mean of the chunklet. Objects become T·x with T =
/// Ĉ^(−1/2), the symmetric root: inside chunklets the covariance is then the identity. With `dim` < d the directions
/// of largest total spread relative to Ĉ are kept, each scaled to unit spread inside chunklets.
/// # Input and output
/// n × d dense; n × d, or n × `dim`. Without a chunklet, and if no chunklet has any spread, the data stay as they
/// are, with a warning. Contradicting constraints are allowed. Must-links marked soft count like the others, or are
/// left out if they contradict the others; both with a warning.
/// # Errors
/// `BadParam`; `NumericalFailure` when Ĉ is singular and `ridge` does not help.
/// # Cost and randomness
/// O(N·d² + d³ + n·d·dim); not random. Fitted again whenever constraints change.
/// # References
/// [Shental2002]; [BarHillel2005]. [Eaton2005] eq. 2.10 prints Ĉ as the metric, which is its inverse. Differs: a
/// small ridge by default, so that few constraints do not fail.
#[options]
pub struct Rca {
    /// Number of features to keep, at most the rank of the total spread. If absent, all d are kept.
    #[option(min = 1)]
    pub dim: Option<usize>,
    /// Amount added to the diagonal of Ĉ, relative to its mean entry. For a feature on a far smaller scale, it is
    /// relative to 10⁴ times its own entry.
    #[option(default = 1e-8, min = 0.0)]
    pub ridge: f64,
    /// Principal components of all objects to use first: their number, or the share of the variance that they explain.
    /// If absent, the features are used.
    pub pca_first: Option<Components>,
    /// Objects that define the total spread, if `dim` is given.
    pub total: Total,
}

#[plugin("rca", cites = ["Shental2002", "BarHillel2005", "Eaton2005"], version = 2)]
impl Transform for Rca {
    fn fit(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Fitted>> {
        self.check(problem.d())?;
        obeying_must_links("rca", problem, ctx, |problem| self.whitened(problem, ctx))
    }

    fn properties(&self) -> TransformProperties {
        TransformProperties {
            accepts: vec![DataKind::Dense],
            reads_constraints: true,
            ..TransformProperties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        8 * (shape.n as u64 * shape.d as u64 + 6 * (shape.d as u64).pow(2))
    }

    fn operations(&self, shape: &Shape) -> f64 {
        2.0 * shape.entries as f64 * shape.d as f64 + 10.0 * (shape.d as f64).powi(3)
    }

    fn restore(&self, saved: &Value) -> Result<Box<dyn Fitted>> {
        LinearMap::restored("rca", saved)
    }
}

impl Rca {
    /// The map after which the covariance inside chunklets is the identity.
    fn whitened(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Fitted>> {
        let data = &problem.data;
        let closure = problem.closure(OnConflict::Keep)?;
        let chunklets: Vec<&[u32]> =
            (0..closure.components()).map(|p| closure.members(p)).filter(|c| c.len() > 1).collect();
        if chunklets.is_empty() {
            ctx.warn("no must-link: the data stays as it is");
            return Ok(Box::new(LinearMap::identity("rca")));
        }
        let members: Vec<(u32, u32)> = chunklets
            .iter()
            .enumerate()
            .flat_map(|(c, members)| members.iter().map(move |&i| (i, c as u32)))
            .collect();
        let means: Vec<Vec<f64>> = chunklets.iter().map(|c| mean(data, c)).collect();
        let within = covariance("rca", data, members.len(), |at| {
            (members[at].0, means[members[at].1 as usize].as_slice())
        })?;
        let mut basis = None;
        if let Some(components) = self.pca_first {
            let (_, values, vectors) = spread("rca", data, ctx)?;
            let kept = components.of(&values);
            basis = Some(vectors.slice_axis(Axis(1), Slice::from(..kept)).to_owned());
        }
        let within = reduced(within, basis.as_ref());
        let p = within.nrows();
        // Beside a feature in much larger units the mean alone would be all that is left of another.
        let even = self.ridge * within.diag().sum() / p as f64;
        let ridge =
            within.diag().mapv(|v| if v > 0.0 { even.min(self.ridge * 1e4 * v) } else { even });
        if within.diag().iter().all(|&v| v == 0.0) {
            if self.ridge == 0.0 {
                return Err(singular());
            }
            ctx.warn("must-linked objects do not differ: the data stays as it is");
            return Ok(Box::new(LinearMap::identity("rca")));
        }
        let whiten = inverse_root(&(within + Array2::from_diag(&ridge)), ctx)?;
        let t = match self.dim {
            Some(dim) if dim > p => {
                return Err(Error::bad_param(
                    "dim",
                    dim,
                    format!("between 1 and {p} (after pca_first)"),
                ));
            }
            Some(dim) if dim < p => {
                let objects: Vec<u32> = match self.total {
                    Total::Chunklets => members.iter().map(|&(i, _)| i).collect(),
                    Total::All => (0..data.n() as u32).collect(),
                };
                let centre = mean(data, &objects);
                let total = covariance("rca", data, objects.len(), |at| (objects[at], &centre))?;
                // Symmetric form of the generalised problem S_t a = ρ Ĉ a: a = Ĉ^(−1/2) u. Then
                // aᵀĈa = uᵀu = 1, and the outer root of the specification is the identity.
                let total = reduced(total, basis.as_ref());
                let (values, u) = eigen("rca", &whiten.dot(&total).dot(&whiten), ctx)?;
                let rank = rank(&values);
                if dim > rank {
                    let legal = format!("between 1 and {rank} (the rank of the total spread)");
                    return Err(Error::bad_param("dim", dim, legal));
                }
                u.slice_axis(Axis(1), Slice::from(..dim)).t().dot(&whiten)
            }
            _ => whiten,
        };
        let t = match basis {
            Some(basis) => t.dot(&basis.t()),
            None => t,
        };
        Ok(Box::new(LinearMap::new("rca", t)))
    }

    fn check(&self, d: usize) -> Result<()> {
        if let Some(dim) = self.dim.filter(|&dim| dim > d) {
            return Err(Error::bad_param("dim", dim, format!("between 1 and {d}")));
        }
        if let Some(Components::Count(c)) = self.pca_first
            && c > d
        {
            return Err(Error::bad_param("pca_first", c, format!("a count between 1 and {d}")));
        }
        Ok(())
    }
}

fn singular() -> Error {
    Error::NumericalFailure {
        place: "rca: the covariance inside chunklets is singular; raise ridge, add must-links, \
                or reduce the features by pca_first"
            .into(),
    }
}

/// BᵀCB, or C without a basis.
fn reduced(c: Array2<f64>, basis: Option<&Array2<f64>>) -> Array2<f64> {
    match basis {
        Some(b) => {
            let c = b.t().dot(&c).dot(b);
            (&c + &c.t()) / 2.0
        }
        None => c,
    }
}

/// C^(−1/2), symmetric.
fn inverse_root(c: &Array2<f64>, ctx: &Context) -> Result<Array2<f64>> {
    let (values, vectors) = eigen("rca", c, ctx)?;
    if rank(&values) < values.len() {
        return Err(singular());
    }
    Ok(recompose(&values, &vectors, |v| 1.0 / v.sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_laws::fixtures;
    use ndarray::array;
    use proptest::prelude::*;

    #[test]
    fn the_decomposition_looks_at_the_flag() {
        let x = Array2::from_shape_fn((50, 40), |(i, j)| ((7 * i + 13 * j + i * j) % 11) as f64);
        let links = (0..49).map(|i| Constraint::must(i, i + 1));
        let given = Constraints::new(50, links).unwrap();
        let problem = Problem::new(Data::dense(x).unwrap()).with_constraints(given);
        let ctx = Context::builder(SeedPath::new(1)).cancel_after(20).build();
        assert_eq!(Rca::default().fit(&problem, &ctx).err(), Some(Error::Cancelled));
    }

    fn exact() -> Rca {
        Rca { ridge: 0.0, ..Rca::default() }
    }

    fn mapped(rca: &Rca, x: &Array2<f64>, links: &[(usize, usize)]) -> Result<Array2<f64>> {
        let links = links.iter().map(|&(i, j)| Constraint::must(i, j));
        let problem = Problem::new(Data::dense(x.clone())?)
            .with_constraints(Constraints::new(x.nrows(), links)?);
        let fitted = rca.fit(&problem, &Context::new(1))?;
        Ok(fitted.apply(&problem.data)?.to_dense())
    }

    /// Two chunklets, Ĉ = diag(1/2, 2).
    fn worked() -> (Array2<f64>, [(usize, usize); 2]) {
        (array![[0.0, 0.0], [2.0, 0.0], [5.0, 5.0], [5.0, 9.0], [7.0, 1.0]], [(0, 1), (2, 3)])
    }

    #[test]
    fn by_hand() {
        let (x, links) = worked();
        let y = mapped(&exact(), &x, &links).unwrap();
        let expected = &x * &array![2f64.sqrt(), 0.5f64.sqrt()];
        assert!((&y - &expected).iter().all(|v| v.abs() < 1e-12), "{y}");
    }

    /// They joined chunklets without a warning, even against the other constraints.
    #[test]
    fn must_links_marked_soft_are_warned_of_or_give_way() {
        let (x, links) = worked();
        let expected = mapped(&exact(), &x, &links).unwrap();
        let soft = |c: Constraint| Constraint { strength: Some(Strength::Soft), ..c };
        let [one, other] = links.map(|(i, j)| Constraint::must(i, j));
        let cases = [
            (vec![soft(one), other], "rca: 1 constraint marked soft is enforced as if hard"),
            (
                vec![one, other, Constraint::cannot(1, 3), soft(Constraint::must(0, 2))],
                "rca: 1 constraint marked soft is left out, because the other constraints cannot be satisfied with \
                 them",
            ),
        ];
        for (pairs, warning) in cases {
            let problem = Problem::new(Data::dense(x.clone()).unwrap())
                .with_constraints(Constraints::new(5, pairs).unwrap());
            let ctx = Context::new(1);
            let fitted = exact().fit(&problem, &ctx).unwrap();
            assert_eq!(fitted.apply(&problem.data).unwrap().to_dense(), expected);
            assert_eq!(ctx.warnings(), [warning]);
        }
    }

    #[test]
    fn one_direction_by_hand() {
        // S_t = [9/2, 7; 7, 57/4]; whitened [9, 7; 7, 57/8], largest eigenvalue 121/8 with vector
        // (8, 7)/√113.
        let (x, links) = worked();
        let rca = Rca { dim: Some(1), ..exact() };
        let y = mapped(&rca, &x, &links).unwrap();
        let a = [8.0 * 2f64.sqrt() / 113f64.sqrt(), 7.0 * 0.5f64.sqrt() / 113f64.sqrt()];
        for i in 0..5 {
            assert!((y[[i, 0]] - a[0] * x[[i, 0]] - a[1] * x[[i, 1]]).abs() < 1e-12);
        }
        let members = y.slice_axis(Axis(0), Slice::from(..4));
        let total = members.var(0.0);
        assert!((total - 121.0 / 8.0).abs() < 1e-10, "{total}");
        // All five objects spread differently, so another direction wins.
        let all = Rca { total: Total::All, ..rca };
        assert_ne!(mapped(&all, &x, &links).unwrap(), y);
    }

    #[test]
    fn nothing_known_changes_nothing_and_warns() {
        let (x, _) = worked();
        for (links, warning) in [
            (vec![Constraint::cannot(0, 1)], "no must-link: the data stays as it is"),
            (
                vec![Constraint::must(0, 5)],
                "must-linked objects do not differ: the data stays as it is",
            ),
        ] {
            let mut rows = x.clone();
            rows.push_row(x.row(0)).unwrap();
            let problem = Problem::new(Data::dense(rows.clone()).unwrap())
                .with_constraints(Constraints::new(6, links).unwrap());
            let ctx = Context::new(1);
            let fitted = Rca::default().fit(&problem, &ctx).unwrap();
            assert_eq!(fitted.apply(&problem.data).unwrap().to_dense(), rows);
            assert_eq!(ctx.warnings(), [warning]);
        }
    }

    #[test]
    fn a_singular_covariance_needs_the_ridge() {
        let (x, _) = worked();
        let message = mapped(&exact(), &x, &[(0, 1)]).unwrap_err().to_string();
        assert_eq!(
            message,
            "numerical failure in rca: the covariance inside chunklets is singular; raise ridge, \
             add must-links, or reduce the features by pca_first"
        );
        assert!(mapped(&Rca::default(), &x, &[(0, 1)]).is_ok());
    }

    #[test]
    fn options_out_of_range_are_named() {
        let (x, links) = worked();
        let message = |rca: Rca| mapped(&rca, &x, &links).unwrap_err().to_string();
        let of = Rca::default;
        assert_eq!(message(Rca { dim: Some(3), ..of() }), "dim: must be between 1 and 2, got 3");
        assert_eq!(message(Rca { dim: Some(0), ..of() }), "dim: must be at least 1, got 0");
        assert_eq!(
            message(Rca { ridge: f64::NAN, ..of() }),
            "ridge: must be at least 0, got NaN or an infinity"
        );
        let pca = |c| Rca { pca_first: Some(c), ..of() };
        assert_eq!(
            message(pca(Components::Count(3))),
            "pca_first: must be a count between 1 and 2, got 3"
        );
        assert_eq!(
            message(pca(Components::Share(1.5))),
            "pca_first: must be above 0 and at most 1, got 1.5"
        );
        let two = Rca { dim: Some(2), ..pca(Components::Count(1)) };
        assert_eq!(message(two), "dim: must be between 1 and 1 (after pca_first), got 2");
    }

    #[test]
    fn a_count_and_a_share_are_told_apart() {
        let parse = |text| serde_json_of(text).pca_first;
        assert_eq!(parse("1"), Some(Components::Count(1)));
        assert_eq!(parse("1.0"), Some(Components::Share(1.0)));
        assert_eq!(parse("null"), None);
    }

    fn serde_json_of(pca: &str) -> Rca {
        let text = format!("{{\"pca_first\": {pca}}}");
        mustlink_core::serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn principal_components_come_first() {
        // Spread 100 times larger along (1, 1) than along (1, −1); a share of 0.9 keeps the first.
        let x = Array2::from_shape_fn((8, 2), |(i, j)| {
            let (a, b) = (i as f64, if i % 2 == 0 { 0.01 } else { -0.01 });
            if j == 0 { a + b } else { a - b }
        });
        let rca = Rca { pca_first: Some(Components::Share(0.9)), ..exact() };
        let y = mapped(&rca, &x, &[(0, 1), (4, 6)]).unwrap();
        assert_eq!(y.ncols(), 1);
        // Both chunklets together: (2·0.5² + 2·1²)/4 = 0.625 in steps of i.
        let step = (y[[2, 0]] - y[[0, 0]]).abs() / 2.0;
        assert!((step - 1.0 / 0.625f64.sqrt()).abs() < 1e-3, "{step}");
        let both = Rca { pca_first: Some(Components::Count(2)), ..exact() };
        let full = mapped(&both, &x, &[(0, 1), (1, 2), (4, 6)]).unwrap();
        let plain = mapped(&exact(), &x, &[(0, 1), (1, 2), (4, 6)]).unwrap();
        assert!((distances(&full) - distances(&plain)).iter().all(|v| v.abs() < 1e-6));
    }

    fn distances(y: &Array2<f64>) -> Array2<f64> {
        let n = y.nrows();
        Array2::from_shape_fn((n, n), |(i, j)| (&y.row(i) - &y.row(j)).mapv(|v| v * v).sum())
    }

    /// Mean of (y − m)(y − m)ᵀ, the slow road.
    fn within(y: &Array2<f64>, chunklets: &[Vec<usize>]) -> Array2<f64> {
        let d = y.ncols();
        let mut c = Array2::zeros((d, d));
        let mut count = 0.0;
        for members in chunklets {
            let m = y.select(Axis(0), members).mean_axis(Axis(0)).unwrap();
            for &i in members {
                let z = &y.row(i) - &m;
                c = c + Array2::from_shape_fn((d, d), |(a, b)| z[a] * z[b]);
                count += 1.0;
            }
        }
        c / count
    }

    type Links = Vec<(usize, usize)>;

    /// Objects, must-links, and the chunklets these make.
    fn draw(seed: u64) -> (Array2<f64>, Links, Vec<Vec<usize>>) {
        let (x, _) = fixtures::groups(7, 3, 1.0, seed);
        let chunklets = vec![vec![0, 3, 6, 9], vec![1, 4, 7], vec![2, 5, 8, 11, 14]];
        let links = chunklets
            .iter()
            .flat_map(|c: &Vec<usize>| c.windows(2).map(|w| (w[0], w[1])).collect::<Vec<_>>());
        (x, links.collect(), chunklets.clone())
    }

    #[test]
    fn the_ridge_knows_no_units() {
        let (mut x, links, chunklets) = draw(1);
        x.column_mut(0).mapv_inplace(|v| 1e6 * v);
        let off = within(&mapped(&Rca::default(), &x, &links).unwrap(), &chunklets);
        assert!((&off - &Array2::<f64>::eye(3)).iter().all(|v| v.abs() < 1e-3), "{off}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Inside chunklets the covariance is the identity, in every number of dimensions.
        #[test]
        fn white_inside(seed in 0u64..10_000, dim in 1usize..4) {
            let (x, links, chunklets) = draw(seed);
            let y = mapped(&Rca { dim: Some(dim), ..exact() }, &x, &links).unwrap();
            prop_assert_eq!(y.ncols(), dim);
            let off = within(&y, &chunklets) - Array2::<f64>::eye(dim);
            prop_assert!(off.iter().all(|v| v.abs() < 1e-8), "{}", off);
        }

        /// Distances afterwards do not change under an invertible linear map of the features.
        #[test]
        fn linear_maps_change_nothing(
            seed in 0u64..10_000,
            map in proptest::collection::vec(-1f64..1.0, 9),
        ) {
            let (x, links, _) = draw(seed);
            // Diagonally dominant, so invertible.
            let map = Array2::from_shape_vec((3, 3), map).unwrap() + Array2::<f64>::eye(3) * 3.5;
            let one = distances(&mapped(&exact(), &x, &links).unwrap());
            let two = distances(&mapped(&exact(), &x.dot(&map), &links).unwrap());
            prop_assert!((&one - &two).iter().zip(&one).all(|(v, d)| v.abs() < 1e-7 * (1.0 + d)));
        }

        /// Moving a whole chunklet changes T not at all.
        #[test]
        fn chunklets_may_move(seed in 0u64..10_000, shift in -20f64..20.0) {
            let (x, links, chunklets) = draw(seed);
            let mut moved = x.clone();
            for &i in &chunklets[1] {
                moved.row_mut(i).mapv_inplace(|v| v + shift);
            }
            let (one, two) = (mapped(&exact(), &x, &links), mapped(&exact(), &moved, &links));
            let (one, two) = (one.unwrap(), two.unwrap());
            for &i in &chunklets[0] {
                prop_assert!((&one.row(i) - &two.row(i)).iter().all(|v| v.abs() < 1e-8));
            }
        }

        /// A chunklet of equal rows only enlarges N: everything grows by √(N′/N).
        #[test]
        fn equal_rows_only_count(seed in 0u64..10_000) {
            let (mut x, mut links, chunklets) = draw(seed);
            let copy = x.row(17).to_owned();
            x.row_mut(20).assign(&copy);
            let one = mapped(&exact(), &x, &links).unwrap();
            links.push((17, 20));
            let two = mapped(&exact(), &x, &links).unwrap();
            let n: usize = chunklets.iter().map(Vec::len).sum();
            let factor = ((n + 2) as f64 / n as f64).sqrt();
            prop_assert!((one * factor - two).iter().all(|v| v.abs() < 1e-8));
        }

        /// The decomposition holds for matrices of any rank.
        #[test]
        fn eigen_pairs(x in proptest::collection::vec(-1f64..1.0, 36), rank in 0usize..7) {
            let x = Array2::from_shape_vec((6, 6), x).unwrap();
            let x = x.slice_axis(Axis(1), Slice::from(..rank));
            let c = x.dot(&x.t());
            let (values, vectors) = eigen("rca", &c, &Context::new(1)).unwrap();
            let back = (&vectors * &values).dot(&vectors.t());
            prop_assert!((back - &c).iter().all(|v| v.abs() < 1e-10));
            let unit = vectors.t().dot(&vectors) - Array2::<f64>::eye(6);
            prop_assert!(unit.iter().all(|v| v.abs() < 1e-10));
        }
    }
}
