//! Starts of the descents: eigenvectors, points that obey the cannot-links, random points.

use mustlink_core::prelude::*;
use mustlink_kernels::graph::adjacency::Graph;
use mustlink_kernels::graph::eigen::laplacian;

use super::two_way::{TwoWay, dot, norm};

/// The second eigenvector of the graph, mapped back to vertices; a random point where it cannot
/// be had: it is only a start.
pub(super) fn eigenvector(graph: &Graph, mass: &[f64], ctx: &Context) -> Result<Vec<f64>> {
    let mut stream = ctx.stream("eigenvector");
    match laplacian(graph, mass, 2, &mut stream, ctx) {
        Ok(pairs) if pairs.values.len() == 2 => {
            let mut f = pairs.vector(1);
            f.iter_mut().zip(mass).for_each(|(v, b)| *v /= b.sqrt());
            Ok(f)
        }
        Ok(_) | Err(Error::NumericalFailure { .. }) => Ok(random(graph.n(), &mut stream)),
        Err(e) => Err(e),
    }
}

/// A random point.
pub(super) fn random(n: usize, stream: &mut Stream) -> Vec<f64> {
    (0..n).map(|_| stream.normal()).collect()
}

/// A set that parts every cannot-link (no vertex has two): of a pair the end with the larger value,
/// of the other vertices those with positive values.
pub(super) fn keeping(two: &TwoWay, f: &[f64]) -> Vec<bool> {
    let mut inside: Vec<bool> = f.iter().map(|&v| v > 0.0).collect();
    for &(i, j, _) in two.apart() {
        let (i, j) = (i as usize, j as usize);
        inside[i] = f[i] > f[j];
        inside[j] = !inside[i];
    }
    inside
}

/// Steps of the power iteration of [`obeying`].
const POWER: usize = 300;

/// The vector of smallest Rayleigh quotient among those with opposite values at the ends of every
/// cannot-link (no vertex has two) and mean 0, by projected power iteration.
pub(super) fn obeying(
    two: &TwoWay,
    graph: &Graph,
    mass: &[f64],
    start: Vec<f64>,
    ctx: &Context,
) -> Result<Vec<f64>> {
    let root: Vec<f64> = mass.iter().map(|b| b.sqrt()).collect();
    let degrees = graph.degrees();
    let bound = degrees.iter().zip(mass).map(|(d, b)| 2.0 * d / b).fold(0.0, f64::max);
    // Over w = √b·v: v_i + v_j = 0 for each pair, and ⟨√b, w⟩ = 0. Pairs are disjoint, so these
    // directions are orthogonal once the last is made so.
    let part = |w: &mut [f64]| {
        for &(i, j, _) in two.apart() {
            let (i, j) = (i as usize, j as usize);
            let (a, b) = (1.0 / root[i], 1.0 / root[j]);
            let along = (a * w[i] + b * w[j]) / (a * a + b * b);
            w[i] -= a * along;
            w[j] -= b * along;
        }
    };
    let mut mean = root.clone();
    part(&mut mean);
    let length = dot(&mean, &mean);
    let project = |w: &mut [f64]| {
        part(w);
        if length > 0.0 {
            let along = dot(w, &mean) / length;
            w.iter_mut().zip(&mean).for_each(|(w, m)| *w -= along * m);
        }
    };
    let mut w = start.clone();
    project(&mut w);
    for _ in 0..POWER {
        ctx.check()?;
        // w ← (bound − L) w
        let mut next: Vec<f64> = (0..w.len())
            .map(|i| {
                let (targets, weights) = graph.neighbours(i);
                let sum =
                    targets.iter().zip(weights).map(|(&j, e)| e * w[j as usize] / root[j as usize]);
                (bound - degrees[i] / mass[i]) * w[i] + sum.sum::<f64>() / root[i]
            })
            .collect();
        project(&mut next);
        let length = norm(&next);
        if !(length > 0.0 && length.is_finite()) {
            // The conditions leave nothing: a random start does as well.
            return Ok(start);
        }
        next.iter_mut().for_each(|v| *v /= length);
        w = next;
    }
    w.iter_mut().zip(&root).for_each(|(w, r)| *w /= r);
    Ok(w)
}
