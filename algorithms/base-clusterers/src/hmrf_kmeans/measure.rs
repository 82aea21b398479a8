//! Which distance is learned: its values and its gradients by the weights of features.

use mustlink_core::prelude::*;

/// Distance whose feature weights are learned.
#[options]
pub enum Measure {
    /// Σ a (x − µ)².
    #[default]
    Mahalanobis,
    /// 1 − Σ a x µ / (‖x‖ ‖µ‖); the lengths are weighted with a too.
    #[option(origin = true)]
    Cosine,
    /// Σ a (x log(x/µ) − x + µ), for non-negative values.
    #[option(origin = true)]
    IDivergence,
}

impl Measure {
    /// D_A(x, µ).
    pub(super) fn distance(self, a: &[f64], x: &[f64], m: &[f64]) -> f64 {
        match self {
            Measure::Mahalanobis => sum(a, x, m, square),
            Measure::IDivergence => sum(a, x, m, |a, x, m| a * divergence(x, m)),
            Measure::Cosine => {
                let (dot, xx, mm) = products(a, x, m);
                if xx * mm > 0.0 { 1.0 - dot / (xx * mm).sqrt() } else { 1.0 }
            }
        }
    }

    /// φ_A(x, y), symmetric: for divergences from both to the point between.
    pub(super) fn pair(self, a: &[f64], x: &[f64], y: &[f64]) -> f64 {
        match self {
            Measure::IDivergence => sum(a, x, y, |a, x, y| a * between(x, y)),
            _ => self.distance(a, x, y),
        }
    }

    /// True if φ_A of a pair is a sum of weights, each times something that is not negative.
    pub(super) fn is_linear(self) -> bool {
        self != Measure::Cosine
    }

    /// Adds `scale` times the gradient of D_A(x, µ) by A.
    pub(super) fn gradient(self, a: &[f64], x: &[f64], m: &[f64], scale: f64, to: &mut [f64]) {
        match self {
            Measure::Mahalanobis => add(scale, x, m, to, square),
            Measure::IDivergence => add(scale, x, m, to, |scale, x, m| scale * divergence(x, m)),
            Measure::Cosine => {
                let (dot, xx, mm) = products(a, x, m);
                if xx * mm > 0.0 {
                    let length = (xx * mm).sqrt();
                    add(-scale, x, m, to, |scale, x, m| {
                        let turn = x * m - 0.5 * dot * (x * x / xx + m * m / mm);
                        scale * turn / length
                    });
                }
            }
        }
    }

    /// Adds `scale` times the gradient of φ_A(x, y) by A.
    pub(super) fn pair_gradient(self, a: &[f64], x: &[f64], y: &[f64], scale: f64, to: &mut [f64]) {
        match self {
            Measure::IDivergence => add(scale, x, y, to, |scale, x, y| scale * between(x, y)),
            _ => self.gradient(a, x, y, scale, to),
        }
    }
}

#[inline(always)]
fn square(a: f64, x: f64, m: f64) -> f64 {
    a * (x - m) * (x - m)
}

/// Σ of(a, x, m). By places: iterators over three slices are calls where a crate is compiled in parts.
#[inline(always)]
fn sum(a: &[f64], x: &[f64], m: &[f64], of: impl Fn(f64, f64, f64) -> f64) -> f64 {
    let (x, m) = (&x[..a.len()], &m[..a.len()]);
    let mut total = 0.0;
    for s in 0..a.len() {
        total += of(a[s], x[s], m[s]);
    }
    total
}

/// Adds of(scale, x, m).
#[inline(always)]
fn add(scale: f64, x: &[f64], m: &[f64], to: &mut [f64], of: impl Fn(f64, f64, f64) -> f64) {
    let (x, m) = (&x[..to.len()], &m[..to.len()]);
    for s in 0..to.len() {
        to[s] += of(scale, x[s], m[s]);
    }
}

/// x log(x/m) − x + m, with 0 log 0 = 0.
fn divergence(x: f64, m: f64) -> f64 {
    if x > 0.0 { x * (x / m).ln() - x + m } else { m }
}

/// Divergence of two values from their mean.
fn between(x: f64, y: f64) -> f64 {
    let m = 0.5 * (x + y);
    if m > 0.0 { divergence(x, m) + divergence(y, m) } else { 0.0 }
}

/// Σ a x m, Σ a x², Σ a m².
pub(super) fn products(a: &[f64], x: &[f64], m: &[f64]) -> (f64, f64, f64) {
    let (x, m) = (&x[..a.len()], &m[..a.len()]);
    let (mut dot, mut xx, mut mm) = (0.0, 0.0, 0.0);
    for s in 0..a.len() {
        dot += a[s] * x[s] * m[s];
        xx += a[s] * x[s] * x[s];
        mm += a[s] * m[s] * m[s];
    }
    (dot, xx, mm)
}
