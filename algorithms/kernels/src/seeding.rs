//! Where do centres start?

use ndarray::{Array2, ArrayView1};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use mustlink_core::random::Stream;
use mustlink_core::{Context, Error, Problem, Result, Start, reduce};

use crate::points::{Distortion, Points, normalise};

/// How the first centres are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Init {
    /// Greedy k-means++: each step draws 2 + ⌊ln k⌋ candidates by distortion and keeps the best.
    #[default]
    KmeansPlusPlus,
    /// k distinct objects (Forgy).
    Random,
    /// Each object to a random cluster, then means.
    RandomPartition,
    /// A random object, then always the object farthest from those chosen.
    FarthestFirst,
    /// Perturbed global means.
    Perturb,
    /// The start given with the problem.
    Given,
}

impl Init {
    /// Whether another restart would start elsewhere.
    pub fn is_random(self) -> bool {
        self != Init::Given
    }
}

/// How a global mean is perturbed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Perturb {
    /// g + ρ (u − ½) σ, per feature.
    #[default]
    Additive,
    /// g (1 + ρ (u − ½)), per feature; degenerate on centred data.
    Multiplicative,
}

/// The first k centres, k × d, and how far apart they say the objects are.
///
/// # Errors
/// `BadParam` when `init = "given"` and the problem holds no fitting start; `Cancelled`.
pub fn start(
    points: &Points,
    k: usize,
    init: Init,
    problem: &Problem,
    ctx: &Context,
) -> Result<Array2<f64>> {
    // Many restarts on small data spend their time here, out of reach of the check of each sweep.
    ctx.check()?;
    let n = points.n();
    let mut stream = ctx.stream("start");
    Ok(match init {
        Init::KmeansPlusPlus => plus_plus(points, k, &mut stream),
        Init::Random => rows_as_centres(points, &stream.sample(n, k)),
        Init::RandomPartition => {
            let labels: Vec<u32> = (0..n).map(|_| stream.below(k) as u32).collect();
            let fallback = rows_as_centres(points, &stream.sample(n, k));
            means(points, &labels, fallback).0
        }
        Init::FarthestFirst => {
            let first = stream.below(n);
            farthest_first(points, k, vec![first])
        }
        Init::Perturb => {
            let mut centres = Vec::with_capacity(k * points.d());
            let spread = Spread::of(points);
            for _ in 0..k {
                centres.extend(spread.perturbed(points, Perturb::Additive, 0.7, &mut stream));
            }
            Array2::from_shape_vec((k, points.d()), centres).expect("k × d values")
        }
        Init::Given => given(points, k, problem)?,
    })
}

fn given(points: &Points, k: usize, problem: &Problem) -> Result<Array2<f64>> {
    match problem.start.as_deref() {
        None => Err(Error::bad_param("init", "\"given\" without a start", "used with a start")),
        Some(Start::Centroids(c)) if c.dim() == (k, points.d()) => {
            let mut centres = c.as_standard_layout().into_owned();
            if points.distortion() == Distortion::Cosine {
                for mut row in centres.rows_mut() {
                    normalise(row.as_slice_mut().expect("standard layout"));
                }
            }
            Ok(centres)
        }
        Some(Start::Centroids(c)) => Err(Error::bad_param(
            "start",
            format!("{} × {} centroids", c.nrows(), c.ncols()),
            format!("{k} × {} centroids", points.d()),
        )),
        Some(Start::Labels(l)) if l.len() == points.n() && l.iter().all(|&h| (h as usize) < k) => {
            let fallback = Array2::zeros((k, points.d()));
            Ok(means(points, l, fallback).0)
        }
        Some(Start::Labels(l)) => Err(Error::bad_param(
            "start",
            format!("{} labels", l.len()),
            format!("{} labels in 0..{k}", points.n()),
        )),
    }
}

/// Objects as centres; a zero row under cosine stays the zero vector.
pub fn rows_as_centres(points: &Points, objects: &[usize]) -> Array2<f64> {
    let mut centres = Array2::zeros((objects.len(), points.d()));
    for (h, &i) in objects.iter().enumerate() {
        if let Some(c) = points.centre_at(i) {
            centres.row_mut(h).assign(&ArrayView1::from(&c));
        }
    }
    centres
}

fn distances_to(points: &Points, object: usize) -> Vec<f64> {
    let centre = points.centre_at(object).unwrap_or_else(|| vec![0.0; points.d()]);
    let norm = centre.iter().map(|v| v * v).sum();
    let mut out = vec![0.0; points.n()];
    // Cosine of unit rows can miss 0 by a rounding error.
    reduce::fill(&mut out, |i| points.distance(i, &centre, norm).max(0.0));
    out
}

fn plus_plus(points: &Points, k: usize, stream: &mut Stream) -> Array2<f64> {
    let n = points.n();
    let mut chosen = vec![stream.below(n)];
    let mut nearest = distances_to(points, chosen[0]);
    let candidates = 2 + (k as f64).ln() as usize;
    while chosen.len() < k {
        let mut best: Option<(f64, usize, Vec<f64>)> = None;
        for _ in 0..candidates {
            let object = stream.weighted(&nearest);
            let mut with = distances_to(points, object);
            with.iter_mut().zip(&nearest).for_each(|(d, &old)| *d = d.min(old));
            let potential = reduce::sum(n, |i| with[i]);
            if best.as_ref().is_none_or(|(least, ..)| potential < *least) {
                best = Some((potential, object, with));
            }
        }
        let (_, object, with) = best.expect("at least two candidates");
        chosen.push(object);
        nearest = with;
    }
    rows_as_centres(points, &chosen)
}

/// Farthest-first traversal from the objects in `chosen` until there are k; ties: lowest index.
pub fn farthest_first(points: &Points, k: usize, mut chosen: Vec<usize>) -> Array2<f64> {
    let mut nearest = vec![f64::INFINITY; points.n()];
    let mut seen = 0;
    while chosen.len() < k {
        for &object in &chosen[seen..] {
            let with = distances_to(points, object);
            nearest.iter_mut().zip(with).for_each(|(d, new)| *d = d.min(new));
        }
        seen = chosen.len();
        let mut far = 0;
        for (i, &d) in nearest.iter().enumerate() {
            if d > nearest[far] {
                far = i;
            }
        }
        chosen.push(far);
    }
    rows_as_centres(points, &chosen)
}

/// Mean and standard deviation of every feature over all (prepared) objects.
pub struct Spread {
    mean: Vec<f64>,
    deviation: Vec<f64>,
}

impl Spread {
    /// Of all objects.
    pub fn of(points: &Points) -> Self {
        let n = points.n();
        let d = points.d();
        let moments = |rows: std::ops::Range<usize>| {
            let mut sums = vec![0.0; 2 * d];
            for i in rows {
                use mustlink_core::Row;
                match points.data().row(i) {
                    Row::Dense(x) => x.iter().enumerate().for_each(|(s, v)| {
                        sums[s] += v;
                        sums[d + s] += v * v;
                    }),
                    Row::Sparse(columns, values) => {
                        columns.iter().zip(values).for_each(|(&c, v)| {
                            sums[c as usize] += v;
                            sums[d + c as usize] += v * v;
                        });
                    }
                }
            }
            sums
        };
        let add = |mut a: Vec<f64>, b: Vec<f64>| {
            a.iter_mut().zip(&b).for_each(|(x, y)| *x += y);
            a
        };
        let sums = reduce::reduce(n, moments, add).expect("data is not empty");
        let mean: Vec<f64> = sums[..d].iter().map(|s| s / n as f64).collect();
        let deviation =
            (0..d).map(|s| (sums[d + s] / n as f64 - mean[s] * mean[s]).max(0.0).sqrt()).collect();
        Spread { mean, deviation }
    }

    /// The mean, perturbed; of unit length for cosine.
    pub fn perturbed(
        &self,
        points: &Points,
        how: Perturb,
        rho: f64,
        stream: &mut Stream,
    ) -> Vec<f64> {
        let mut centre: Vec<f64> = self
            .mean
            .iter()
            .zip(&self.deviation)
            .map(|(g, sigma)| {
                let u = stream.unit() - 0.5;
                match how {
                    Perturb::Additive => g + rho * u * sigma,
                    Perturb::Multiplicative => g * (1.0 + rho * u),
                }
            })
            .collect();
        if points.distortion() == Distortion::Cosine {
            normalise(&mut centre);
        }
        centre
    }
}

/// The centre of every cluster; those without members (or, for cosine, whose members sum to zero)
/// keep the row of `previous`. Also gives the number of members of each cluster.
///
/// Members of a cluster are summed in index order, in blocks, whatever the number of threads.
pub fn means(points: &Points, labels: &[u32], previous: Array2<f64>) -> (Array2<f64>, Vec<usize>) {
    use rayon::prelude::*;
    let k = previous.nrows();
    let (offsets, order) = by_label(labels, k);
    let fresh: Vec<Option<Vec<f64>>> =
        (0..k).into_par_iter().map(|h| points.mean(&order[offsets[h]..offsets[h + 1]])).collect();
    let mut centres = previous;
    for (h, centre) in fresh.into_iter().enumerate() {
        if let Some(centre) = centre {
            centres.row_mut(h).assign(&ArrayView1::from(&centre));
        }
    }
    (centres, offsets.windows(2).map(|w| w[1] - w[0]).collect())
}

/// Objects grouped by label, in index order: offsets (k + 1) and the objects. Objects with a label
/// outside `0..k` are left out.
pub fn by_label(labels: &[u32], k: usize) -> (Vec<usize>, Vec<u32>) {
    let mut offsets = vec![0usize; k + 1];
    for &l in labels.iter().filter(|&&l| (l as usize) < k) {
        offsets[l as usize + 1] += 1;
    }
    for h in 0..k {
        offsets[h + 1] += offsets[h];
    }
    let mut next = offsets.clone();
    let mut order = vec![0u32; offsets[k]];
    for (i, &l) in labels.iter().enumerate().filter(|(_, l)| (**l as usize) < k) {
        order[next[l as usize]] = i as u32;
        next[l as usize] += 1;
    }
    (offsets, order)
}
