//! Runs of one clusterer on random mixtures of the features.

use mustlink_core::prelude::*;
use ndarray::Array2;

use crate::parts::member_input::{MemberInput, OutOfSample, Space};
use crate::parts::recipe::{Recipe, by_recipe};
use crate::parts::view::View;

/// Many runs of one clusterer, each on random mixtures of the features.
///
/// # Method
/// Each member multiplies the data by a random d × m matrix and clusters the result.
/// # Input and output
/// Dense or sparse rows; the clusterer must accept dense ones. `members` partitions, without centres.
/// # Errors
/// `BadParam` for `members`, `dimensions` and `k`. A member that fails is made again, `max_failures` times in all;
/// then its error is returned.
/// # Cost and randomness
/// `members` runs, in parallel, and O(entries · m) each.
/// # References
/// [FernBrodley2003]; `sparse`: [Achlioptas2003].
#[options]
pub struct RandomProjection {
    /// Options shared by generators that run one clusterer.
    #[option(flatten)]
    pub recipe: Recipe,
    /// Distribution of the mixtures.
    pub kind: Projection,
    /// Number of mixtures (m), at most d. If absent, twice the logarithm of n rounded up, at least 2.
    #[option(min = 1)]
    pub dimensions: Option<usize>,
}

/// The entries of a random projection.
#[options]
pub enum Projection {
    /// Normal, of variance 1/m.
    #[default]
    Gaussian,
    /// ±√(3/m), each with probability 1/6, otherwise 0.
    Sparse,
}

by_recipe!(
    RandomProjection,
    "random_projection",
    cites = ["FernBrodley2003", "Achlioptas2003"],
    version = 2
);

impl View for RandomProjection {
    fn draw(&self, problem: &Problem, _: usize, ctx: &Context) -> Result<MemberInput> {
        problem.data.require_rows("random_projection")?;
        let (n, d) = (problem.n(), problem.d());
        let m = self.dimensions.unwrap_or_else(|| usual(n).min(d));
        if !(1..=d).contains(&m) {
            return Err(Error::bad_param("dimensions", m, format!("between 1 and {d}")));
        }
        let data = project(&problem.data, self.kind, m, &mut ctx.stream("projection"))?;
        Ok(MemberInput {
            problem: Problem { data, start: None, ..problem.clone() },
            rows: None,
            note: format!("{d} features in {m} mixtures"),
            space: Space::Mixtures,
            out_of_sample: OutOfSample::default(),
        })
    }

    fn accepts(&self, inner: Vec<DataKind>) -> Vec<DataKind> {
        // What comes out is dense.
        let dense = inner.contains(&DataKind::Dense);
        if dense { vec![DataKind::Dense, DataKind::Csr] } else { Vec::new() }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let m = self.dimensions.unwrap_or_else(|| usual(shape.n));
        (8 * m.min(shape.d) * (shape.n + shape.d)) as u64
    }
}

/// Default number of mixtures for `n` objects.
fn usual(n: usize) -> usize {
    ((2.0 * (n as f64).ln()).ceil() as usize).max(2)
}

/// X R, with R of size d × m drawn feature by feature.
fn project(data: &Data, kind: Projection, m: usize, stream: &mut Stream) -> Result<Data> {
    let unit = 1.0 / (m as f64).sqrt();
    let entry = |_| match kind {
        Projection::Gaussian => unit * stream.normal(),
        Projection::Sparse => match stream.below(6) {
            0 => 3f64.sqrt() * unit,
            1 => -(3f64.sqrt()) * unit,
            _ => 0.0,
        },
    };
    let r: Vec<f64> = (0..data.d() * m).map(entry).collect();
    let mut out = vec![0.0; data.n() * m];
    let mix = |to: &mut [f64], feature: usize, value: f64| {
        let mixture = &r[feature * m..(feature + 1) * m];
        to.iter_mut().zip(mixture).for_each(|(t, r)| *t += value * r);
    };
    for (i, to) in out.chunks_exact_mut(m).enumerate() {
        match data.row(i) {
            Row::Dense(x) => x.iter().enumerate().for_each(|(s, &v)| mix(to, s, v)),
            Row::Sparse(columns, values) => {
                columns.iter().zip(values).for_each(|(&c, &v)| mix(to, c as usize, v));
            }
        }
    }
    let shaped = Array2::from_shape_vec((data.n(), m), out).expect("n × m values");
    Data::dense(shaped)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_base_clusterers as _;
    use mustlink_laws::fixtures;

    #[test]
    fn lengths_are_kept_on_average() {
        let (p, _) = fixtures::dense(1);
        for kind in [Projection::Gaussian, Projection::Sparse] {
            let dimensions = Some(4);
            let view = RandomProjection { kind, dimensions, ..RandomProjection::default() };
            let mut ratio = 0.0;
            for t in 0..400 {
                let ctx = Context::builder(SeedPath::new(t)).build();
                let seen = view.draw(&p, 3, &ctx).unwrap().problem;
                ratio += seen.data.row(0).norm2() / p.data.row(0).norm2() / 400.0;
            }
            assert!((ratio - 1.0).abs() < 0.15, "{kind:?}: {ratio}");
        }
    }

    #[test]
    fn one_object_has_two_mixtures() {
        let shape = Shape { n: 1, d: 5, k: 1, entries: 5, constraints: 0 };
        // Two numbers of the object, and two for each feature.
        assert_eq!(View::memory(&RandomProjection::default(), &shape), 8 * 2 * 6);
    }

    #[test]
    fn sparse_rows_are_mixed_alike() {
        let (dense, sparse) = (fixtures::dense(1).0, fixtures::sparse(1).0);
        let g = RandomProjection {
            recipe: Recipe { members: 4, ..Recipe::default() },
            ..RandomProjection::default()
        };
        let labels = |p: &Problem| -> Vec<Vec<u32>> {
            let e = g.generate(p, &Context::new(3)).unwrap();
            e.members().iter().map(|m| m.labels.clone()).collect()
        };
        assert_eq!(labels(&dense), labels(&sparse));
        let five = RandomProjection { dimensions: Some(5), ..g }.generate(&dense, &Context::new(1));
        let text = "dimensions: must be between 1 and 4, got 5";
        assert_eq!(five.unwrap_err().root().to_string(), text);
    }
}
