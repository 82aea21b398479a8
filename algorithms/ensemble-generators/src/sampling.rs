//! What can a member be shown of the data?
//!
//! Some objects, some features, or mixtures of features: the views behind `subsample`, `bootstrap`,
//! `feature_subspace`, `random_projection`, and those that `compose` puts around any generator.

use mustlink_core::prelude::*;
use ndarray::Array2;

use crate::member_input::{MemberInput, OutOfSample, Space};

/// The entries of a random projection.
#[options]
pub enum Projection {
    /// Normal, of variance 1/m.
    #[default]
    Gaussian,
    /// ±√(3/m), each with probability 1/6, else 0.
    Sparse,
}

fn rate() -> f64 {
    0.8
}

fn fraction() -> f64 {
    0.5
}

/// What a member sees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Sampling {
    /// A share of the objects, without replacement.
    Subsample {
        /// The share.
        #[serde(default = "rate")]
        #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
        rate: f64,
        /// What happens to the others.
        #[serde(default)]
        out_of_sample: OutOfSample,
    },
    /// As many objects as there are, drawn with replacement.
    Bootstrap {
        /// What happens to those never drawn.
        #[serde(default)]
        out_of_sample: OutOfSample,
    },
    /// A share of the features.
    FeatureSubspace {
        /// The share.
        #[serde(default = "fraction")]
        #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
        fraction: f64,
    },
    /// Random mixtures of the features.
    RandomProjection {
        /// Their entries.
        #[serde(default)]
        kind: Projection,
        /// How many; absent: twice the logarithm of n rounded up, at least 2, at most d.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1, max = 1_000_000_000))]
        dimensions: Option<usize>,
    },
}

fn rows_only(problem: &Problem, plugin: &str) -> Result<()> {
    match problem.data.kind() {
        DataKind::Dense | DataKind::Csr => Ok(()),
        kind => Err(Error::UnsupportedData {
            plugin: plugin.into(),
            kind: kind.name(),
            accepts: "dense or csr".into(),
        }),
    }
}

impl Sampling {
    /// What a member with `k` clusters sees of `problem`.
    ///
    /// # Errors
    /// `BadParam` for more dimensions than features; `UnsupportedData` where
    /// features are needed.
    pub fn draw(&self, problem: &Problem, k: usize, ctx: &Context) -> Result<MemberInput> {
        let (n, d) = (problem.n(), problem.d());
        match self {
            Sampling::Subsample { rate, out_of_sample } => {
                let m = ((rate * n as f64).round() as usize).clamp(k.clamp(1, n), n);
                let mut rows = ctx.stream("sample").sample(n, m);
                rows.sort_unstable();
                Ok(MemberInput {
                    problem: subset(problem, &rows),
                    note: format!("{m} of {n} objects"),
                    rows: Some(rows),
                    space: Space::Whole,
                    out_of_sample: *out_of_sample,
                })
            }
            Sampling::Bootstrap { out_of_sample } => {
                let mut draw = ctx.stream("sample");
                let mut rows: Vec<usize> = (0..n).map(|_| draw.below(n)).collect();
                rows.sort_unstable();
                Ok(MemberInput {
                    problem: subset(problem, &rows),
                    note: format!("{n} objects drawn with replacement"),
                    rows: Some(rows),
                    space: Space::Whole,
                    out_of_sample: *out_of_sample,
                })
            }
            Sampling::FeatureSubspace { fraction } => {
                rows_only(problem, "feature_subspace")?;
                let m = ((fraction * d as f64).round() as usize).max(1);
                let mut features = ctx.stream("features").sample(d, m);
                features.sort_unstable();
                let data = select(&problem.data, &features)?;
                Ok(MemberInput {
                    problem: Problem { data, start: None, ..problem.clone() },
                    rows: None,
                    note: format!("{m} of {d} features"),
                    space: Space::Features(features),
                    out_of_sample: OutOfSample::default(),
                })
            }
            Sampling::RandomProjection { kind, dimensions } => {
                rows_only(problem, "random_projection")?;
                let usual = d.min(((2.0 * (n as f64).ln()).ceil() as usize).max(2));
                let m = dimensions.unwrap_or(usual);
                if !(1..=d).contains(&m) {
                    return Err(Error::bad_param("dimensions", m, format!("in 1..={d}")));
                }
                let data = project(&problem.data, *kind, m, &mut ctx.stream("projection"))?;
                Ok(MemberInput {
                    problem: Problem { data, start: None, ..problem.clone() },
                    rows: None,
                    note: format!("{d} features in {m} mixtures"),
                    space: Space::Mixtures,
                    out_of_sample: OutOfSample::default(),
                })
            }
        }
    }

    /// The kinds of data that can be seen so, given those the member takes.
    pub fn accepts(&self, inner: Vec<DataKind>) -> Vec<DataKind> {
        let rows = [DataKind::Dense, DataKind::Csr];
        match self {
            Sampling::Subsample { .. } | Sampling::Bootstrap { .. } => inner,
            Sampling::FeatureSubspace { .. } => {
                inner.into_iter().filter(|kind| rows.contains(kind)).collect()
            }
            // What comes out is dense.
            Sampling::RandomProjection { .. } if inner.contains(&DataKind::Dense) => rows.to_vec(),
            Sampling::RandomProjection { .. } => Vec::new(),
        }
    }

    /// Bytes of what one member sees, beyond the data.
    pub fn memory(&self, shape: &Shape) -> u64 {
        let bytes = match self {
            // The list of rows, and those of them that are copied.
            Sampling::Subsample { .. } | Sampling::Bootstrap { .. } => {
                let dense = 8 * shape.n * shape.d;
                16 * shape.n
                    + if dense == 8 * shape.entries { Data::MOST_COPIED.min(dense) } else { 0 }
            }
            Sampling::FeatureSubspace { fraction } => {
                (12.0 * fraction.clamp(0.0, 1.0) * shape.entries as f64) as usize
            }
            Sampling::RandomProjection { dimensions, .. } => {
                let m = dimensions.unwrap_or((2.0 * (shape.n as f64).ln()).ceil() as usize);
                8 * m.min(shape.d) * (shape.n + shape.d)
            }
        };
        bytes as u64
    }
}

/// Some objects of a problem: a member reads each of them many times.
fn subset(problem: &Problem, rows: &[usize]) -> Problem {
    let mut some = problem.subset(rows);
    some.data = some.data.contiguous();
    some
}

/// The objects with only the features `columns`, sorted.
fn select(data: &Data, columns: &[usize]) -> Result<Data> {
    if data.kind() == DataKind::Dense {
        let x = Array2::from_shape_fn((data.n(), columns.len()), |(i, s)| match data.row(i) {
            Row::Dense(x) => x[columns[s]],
            Row::Sparse(..) => 0.0,
        });
        return Data::dense(x);
    }
    let mut place = vec![u32::MAX; data.d()];
    columns.iter().enumerate().for_each(|(to, &from)| place[from] = to as u32);
    let mut out =
        Csr { indptr: vec![0], indices: Vec::new(), values: Vec::new(), columns: columns.len() };
    for i in 0..data.n() {
        if let Row::Sparse(from, values) = data.row(i) {
            for (&c, &v) in from.iter().zip(values) {
                if place[c as usize] != u32::MAX {
                    out.indices.push(place[c as usize]);
                    out.values.push(v);
                }
            }
        }
        out.indptr.push(out.indices.len());
    }
    Data::csr(out)
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
