//! Lloyd's algorithm: assign, take means, until nothing moves.

use ndarray::{Array2, ArrayView1};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use mustlink_core::clustering::{Clustering, Extras, IterStat, NONE, Status};
use mustlink_core::{Context, Error, Result, reduce};

use crate::assign::assign;
use crate::points::{Points, row, row_norms};
use crate::seeding::{by_label, means};

/// What to do with a cluster that lost its last object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Empty {
    /// Its centre stays where it was.
    Keep,
    /// It takes the object farthest from its centre, if the objective does not rise.
    #[default]
    Reseed,
    /// Refuse.
    Error,
}

/// How `tolerance` is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToleranceKind {
    /// With the change of the objective over max(1, |objective|).
    #[default]
    Relative,
    /// With the change itself.
    Absolute,
}

/// When to stop.
#[derive(Debug, Clone, Copy)]
pub struct Stop {
    /// Sweeps, at least 1.
    pub max_iterations: usize,
    /// Smallest change of the objective worth another sweep.
    pub tolerance: f64,
    /// How it is compared.
    pub kind: ToleranceKind,
}

impl Stop {
    /// Whether a step from `before` to `after` ends the run.
    pub fn is_over(&self, before: f64, after: f64) -> bool {
        let change = (after - before).abs();
        match self.kind {
            ToleranceKind::Relative => change <= self.tolerance * before.abs().max(1.0),
            ToleranceKind::Absolute => change <= self.tolerance,
        }
    }

    /// The options every iterative method has, checked.
    ///
    /// # Errors
    /// `BadParam` for 0 sweeps or a negative tolerance.
    pub fn new(max_iterations: usize, tolerance: f64, kind: ToleranceKind) -> Result<Self> {
        if max_iterations == 0 {
            return Err(Error::bad_param("max_iterations", 0, ">= 1"));
        }
        if tolerance.is_nan() || tolerance < 0.0 {
            return Err(Error::bad_param("tolerance", tolerance, ">= 0"));
        }
        Ok(Stop { max_iterations, tolerance, kind })
    }
}

/// Runs Lloyd's algorithm from `centres`. The objective is the total distortion to the centres
/// returned; it never rises.
///
/// # Errors
/// `NumericalFailure` for an empty cluster under `Empty::Error`; cancellation.
pub fn lloyd(
    points: &Points,
    mut centres: Array2<f64>,
    stop: Stop,
    empty: Empty,
    ctx: &Context,
) -> Result<Clustering> {
    let k = centres.nrows();
    let mut labels = vec![NONE; points.n()];
    let mut history: Vec<IterStat> = Vec::new();
    let mut status = Status::MaxIter;
    for _ in 0..stop.max_iterations {
        ctx.check()?;
        let mut moved = assign(points, &centres, &mut labels, None);
        let sizes;
        (centres, sizes) = means(points, &labels, centres);
        if sizes.contains(&0) {
            moved += refill(points, &mut labels, &mut centres, empty, &mut ())?;
        }
        let objective = total_distortion(points, &labels, &centres);
        let before = history.last().map(|s| s.objective);
        history.push(IterStat { objective, moved, violations: None });
        if moved == 0 || before.is_some_and(|b| stop.is_over(b, objective)) {
            status = Status::Converged;
            break;
        }
    }
    Ok(Clustering {
        labels,
        k,
        objective: history.last().map(|s| s.objective),
        history,
        status,
        extras: Extras {
            centers: Some(centres),
            geometry: points.distortion().geometry(),
            ..Extras::default()
        },
    })
}

/// Σ D(x, µ) over all objects, the same bits for any number of threads.
pub fn total_distortion(points: &Points, labels: &[u32], centres: &Array2<f64>) -> f64 {
    let norms = row_norms(centres);
    reduce::sum(points.n(), |i| {
        let h = labels[i] as usize;
        points.distance(i, row(centres, h), norms[h])
    })
}

/// The part of an objective that is not distortion.
pub trait Rest {
    /// How much it rises, in units of distortion, when object `i` goes to cluster `to`.
    fn rise(&self, i: usize, to: u32, labels: &[u32]) -> f64;
    /// Notes that object `i` went from cluster `from` to cluster `to`.
    fn moved(&mut self, i: usize, from: u32, to: u32);
}

impl Rest for () {
    fn rise(&self, _: usize, _: u32, _: &[u32]) -> f64 {
        0.0
    }
    fn moved(&mut self, _: usize, _: u32, _: u32) {}
}

/// Fills empty clusters by the `empty` rule; gives the number of objects moved.
///
/// `rest` is the part of the objective that is not distortion.
/// An object that already lies on its centre is never moved: that would gain nothing and part it
/// from its duplicates.
///
/// # Errors
/// `NumericalFailure` under `Empty::Error`.
pub fn refill(
    points: &Points,
    labels: &mut [u32],
    centres: &mut Array2<f64>,
    empty: Empty,
    rest: &mut impl Rest,
) -> Result<usize> {
    let k = centres.nrows();
    let (offsets, _) = by_label(labels, k);
    let mut sizes: Vec<usize> = offsets.windows(2).map(|w| w[1] - w[0]).collect();
    let mut moved = 0;
    for h in 0..k {
        if sizes[h] > 0 {
            continue;
        }
        match empty {
            Empty::Keep => continue,
            Empty::Error => {
                return Err(Error::NumericalFailure {
                    place: format!("cluster {h} is empty (empty = \"error\")"),
                });
            }
            Empty::Reseed => {}
        }
        let norms = row_norms(centres);
        let mut far = vec![0.0; labels.len()];
        reduce::fill(&mut far, |i| {
            let own = labels[i] as usize;
            if sizes[own] < 2 { 0.0 } else { points.distance(i, row(centres, own), norms[own]) }
        });
        let mut object = 0;
        for (i, &d) in far.iter().enumerate() {
            if d > far[object] {
                object = i;
            }
        }
        let Some(centre) = points.centre_at(object) else { continue };
        let norm = centre.iter().map(|v| v * v).sum();
        let gain = far[object] - points.distance(object, &centre, norm);
        // Distances below the rounding error of the data are not distances.
        let noise = 64.0 * f64::EPSILON * (points.norm(object) + 1e-300);
        if gain <= noise || rest.rise(object, h as u32, labels) > gain {
            continue;
        }
        let own = labels[object] as usize;
        labels[object] = h as u32;
        rest.moved(object, own as u32, h as u32);
        centres.row_mut(h).assign(&ArrayView1::from(&centre));
        let left: Vec<u32> =
            (0..labels.len() as u32).filter(|&i| labels[i as usize] as usize == own).collect();
        if let Some(mean) = points.mean(&left) {
            centres.row_mut(own).assign(&ArrayView1::from(&mean));
        }
        sizes[own] -= 1;
        sizes[h] = 1;
        moved += 1;
    }
    Ok(moved)
}

/// The best of several runs: smallest objective, ties by the smallest number.
///
/// # Errors
/// The first error in order, if no run succeeded before it.
pub fn best_of(
    restarts: usize,
    run: impl Fn(usize) -> Result<Clustering> + Send + Sync,
) -> Result<Clustering> {
    use rayon::prelude::*;
    if restarts == 0 {
        return Err(Error::bad_param("restarts", 0, ">= 1"));
    }
    let runs: Vec<Result<Clustering>> = (0..restarts).into_par_iter().map(run).collect();
    let mut best: Option<Clustering> = None;
    for run in runs {
        let run = run?;
        let value = |c: &Clustering| c.objective.unwrap_or(f64::INFINITY);
        if best.as_ref().is_none_or(|b| value(&run) < value(b)) {
            best = Some(run);
        }
    }
    Ok(best.expect("at least one run"))
}
