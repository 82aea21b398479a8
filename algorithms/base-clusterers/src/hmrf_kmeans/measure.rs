//! Which distance is learned: its values and its gradients by the weights of features.

use mustlink_core::prelude::*;

/// What is learned.
#[options]
pub enum Measure {
    /// Σ a (x − µ)².
    #[default]
    Mahalanobis,
    /// 1 − Σ a x µ / (‖x‖ ‖µ‖), lengths weighted by a too.
    #[option(origin = true)]
    Cosine,
    /// Σ a (x log(x/µ) − x + µ), for values that are not negative.
    #[option(origin = true)]
    IDivergence,
}

impl Measure {
    /// D_A(x, µ).
    pub(super) fn distance(self, a: &[f64], x: &[f64], m: &[f64]) -> f64 {
        let each = a.iter().zip(x.iter().zip(m));
        match self {
            Measure::Mahalanobis => each.map(|(a, (x, m))| a * (x - m) * (x - m)).sum(),
            Measure::IDivergence => each.map(|(a, (x, m))| a * divergence(*x, *m)).sum(),
            Measure::Cosine => {
                let (dot, xx, mm) = products(a, x, m);
                if xx * mm > 0.0 { 1.0 - dot / (xx * mm).sqrt() } else { 1.0 }
            }
        }
    }

    /// φ_A(x, y), symmetric: for divergences from both to the point between.
    pub(super) fn pair(self, a: &[f64], x: &[f64], y: &[f64]) -> f64 {
        match self {
            Measure::IDivergence => {
                let each = a.iter().zip(x.iter().zip(y));
                each.map(|(a, (x, y))| a * between(*x, *y)).sum()
            }
            _ => self.distance(a, x, y),
        }
    }

    /// Adds `scale` times the gradient of D_A(x, µ) by A.
    pub(super) fn gradient(self, a: &[f64], x: &[f64], m: &[f64], scale: f64, to: &mut [f64]) {
        let each = to.iter_mut().zip(x.iter().zip(m));
        match self {
            Measure::Mahalanobis => each.for_each(|(g, (x, m))| *g += scale * (x - m) * (x - m)),
            Measure::IDivergence => each.for_each(|(g, (x, m))| *g += scale * divergence(*x, *m)),
            Measure::Cosine => {
                let (dot, xx, mm) = products(a, x, m);
                if xx * mm > 0.0 {
                    let length = (xx * mm).sqrt();
                    each.for_each(|(g, (x, m))| {
                        let turn = x * m - 0.5 * dot * (x * x / xx + m * m / mm);
                        *g -= scale * turn / length;
                    });
                }
            }
        }
    }

    /// Adds `scale` times the gradient of φ_A(x, y) by A.
    pub(super) fn pair_gradient(self, a: &[f64], x: &[f64], y: &[f64], scale: f64, to: &mut [f64]) {
        match self {
            Measure::IDivergence => {
                let each = to.iter_mut().zip(x.iter().zip(y));
                each.for_each(|(g, (x, y))| *g += scale * between(*x, *y));
            }
            _ => self.gradient(a, x, y, scale, to),
        }
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
    let each = a.iter().zip(x.iter().zip(m));
    each.fold((0.0, 0.0, 0.0), |(p, q, r), (a, (x, m))| {
        (p + a * x * m, q + a * x * x, r + a * m * m)
    })
}
