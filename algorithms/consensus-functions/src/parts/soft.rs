//! How probable is each cluster of a member for each object?

use mustlink_core::clustering::Geometry;
use mustlink_core::prelude::*;
use ndarray::{Array1, Array2, Axis};
use rayon::prelude::*;

use crate::parts::canonical_ensemble::CanonicalEnsemble;

/// What distances are divided by before they become probabilities.
#[options]
pub enum DistanceUnit {
    /// Nothing, as printed: on data in [0, 1] all clusters of a member become almost equally probable.
    #[default]
    Raw,
    /// The mean distance of the member.
    Mean,
}

/// (D − d + 1) / (k·D + k − Σ d) for each distance d, D the largest: positive, and 1 in all.
pub(crate) fn probabilities(distances: &[f64]) -> Vec<f64> {
    let k = distances.len() as f64;
    let largest = distances.iter().copied().fold(0.0, f64::max);
    // Σ(D − d + 1), term by term: the printed form k·D + k − Σd cancels where distances are large.
    let total: f64 = distances.iter().map(|d| largest - d + 1.0).sum();
    debug_assert!(total >= 1.0 && k >= 1.0);
    distances.iter().map(|d| (largest - d + 1.0) / total).collect()
}

/// The probabilities of all clusters of all members for every object, n × clusters, member by member.
/// Distances are taken as the member gives them, else from its centres in its own geometry; members
/// with memberships alone give those.
///
/// # Errors
/// `BadParam` naming what the members lack; `NumericalFailure` for values that are not finite.
pub(crate) fn rows(
    view: &CanonicalEnsemble,
    problem: &Problem,
    unit: DistanceUnit,
    tag: &str,
    ctx: &Context,
) -> Result<Array2<f32>> {
    let lacking: Vec<String> = (0..view.len())
        .filter(|&t| {
            let e = &view.members[t].extras;
            e.distances.is_none() && e.centers.is_none() && e.memberships.is_none()
        })
        .map(|t| view.members[t].provenance.clone())
        .collect();
    if !lacking.is_empty() {
        let count = lacking.len();
        let legal = format!(
            "used with members that have distances, centres or memberships; {count} of {} have none",
            view.len()
        );
        return Err(Error::bad_param("consensus", tag, legal));
    }
    if !view.is_complete() {
        let legal = "used with members that label every object; hbgf takes missing labels";
        return Err(Error::bad_param("consensus", tag, legal));
    }
    let mut out = Array2::zeros((view.n, view.clusters()));
    for t in 0..view.len() {
        ctx.check()?;
        let columns = view.first[t]..view.first[t + 1];
        let table = member(view, t, problem, unit)?;
        let failure = || Error::NumericalFailure { place: format!("the distances of member {t}") };
        if table.dim() != (view.n, columns.len()) {
            let got = format!("a table of {} × {} in a member", table.nrows(), table.ncols());
            return Err(Error::bad_param(
                "consensus",
                tag,
                format!("used with one column per cluster, got {got}"),
            ));
        }
        if table.iter().any(|v| !v.is_finite() || *v < 0.0) {
            return Err(failure());
        }
        for (at, c) in columns.enumerate() {
            out.column_mut(c).zip_mut_with(&table.column(at), |o, &v| *o = v as f32);
        }
    }
    Ok(out)
}

/// The probabilities of one member, n × its clusters, clusters in the order of the view.
fn member(
    view: &CanonicalEnsemble,
    t: usize,
    problem: &Problem,
    unit: DistanceUnit,
) -> Result<Array2<f64>> {
    let m = view.members[t];
    let distances = match (&m.extras.distances, &m.extras.centers) {
        (Some(d), _) => d.clone(),
        (None, Some(_)) => distances_to_centres(m, problem)?,
        (None, None) => {
            let table = m.extras.memberships.clone().expect("checked before");
            return Ok(in_order(table, m));
        }
    };
    let mut distances = in_order(distances, m);
    if unit == DistanceUnit::Mean {
        let mean = distances.mean().unwrap_or(0.0);
        if mean > 0.0 {
            distances.mapv_inplace(|d| d / mean);
        }
    }
    let rows: Vec<Vec<f64>> =
        distances.outer_iter().into_par_iter().map(|row| probabilities(&row.to_vec())).collect();
    for (mut to, row) in distances.rows_mut().into_iter().zip(rows) {
        to.assign(&Array1::from(row));
    }
    Ok(distances)
}

/// Columns by first appearance of the labels, as the view names clusters; those of clusters without
/// an object are left out.
fn in_order(table: Array2<f64>, m: &Member) -> Array2<f64> {
    table.select(Axis(1), &order(m, table.ncols()))
}

/// The clusters of a member by first appearance.
pub(crate) fn order(m: &Member, columns: usize) -> Vec<usize> {
    let mut seen = vec![false; columns];
    let mut order = Vec::new();
    for &l in &m.labels {
        if (l as usize) < columns && !std::mem::replace(&mut seen[l as usize], true) {
            order.push(l as usize);
        }
    }
    order
}

/// Distances of all objects to the centres of a member: weighted by its feature weights, in its own
/// metric, else with the weight 1/d for every feature.
fn distances_to_centres(m: &Member, problem: &Problem) -> Result<Array2<f64>> {
    let centers = m.extras.centers.as_ref().expect("checked before");
    let (n, d) = (problem.n(), problem.d());
    if centers.ncols() != d {
        let got = format!("centres of {} features", centers.ncols());
        return Err(Error::bad_param(
            "consensus",
            got,
            format!("used with the {d} features of the data"),
        ));
    }
    let even = 1.0 / d as f64;
    let mut out = Array2::zeros((n, centers.nrows()));
    let rows: Vec<Vec<f64>> = (0..n)
        .into_par_iter()
        .map(|i| {
            let mut x = vec![0.0; d];
            let row = problem.data.row(i);
            row.add_to(&mut x, 1.0);
            if m.extras.geometry == Geometry::Cosine {
                mustlink_kernels::distance::points::normalise(&mut x);
            }
            let distance = |h: usize| {
                let difference: Vec<f64> =
                    x.iter().zip(centers.row(h)).map(|(a, b)| a - b).collect();
                let square: f64 = match (&m.extras.metrics, &m.extras.weights) {
                    (Some(metrics), _) if !metrics.is_empty() => {
                        let a = &metrics[h.min(metrics.len() - 1)];
                        let v = Array1::from(difference);
                        v.dot(&a.dot(&v))
                    }
                    (_, Some(w)) => difference.iter().zip(w.row(h)).map(|(v, w)| w * v * v).sum(),
                    _ => even * difference.iter().map(|v| v * v).sum::<f64>(),
                };
                square.max(0.0).sqrt()
            };
            (0..centers.nrows()).map(distance).collect()
        })
        .collect();
    for (mut to, row) in out.rows_mut().into_iter().zip(rows) {
        to.assign(&Array1::from(row));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn printed_vectors() {
        let near = |distances: &[f64], printed: &[f64]| {
            let rows = probabilities(distances);
            assert!(rows.iter().zip(printed).all(|(a, b)| (a - b).abs() < 1e-12), "{rows:?}");
        };
        near(&[1.0, 3.0], &[0.75, 0.25]);
        near(&[2.0, 2.0], &[0.5, 0.5]);
        near(&[4.0, 0.5], &[2.0 / 11.0, 9.0 / 11.0]);
        near(&[0.0, 2.0, 5.0], &[6.0 / 11.0, 4.0 / 11.0, 1.0 / 11.0]);
    }

    proptest! {
        #[test]
        fn probabilities_are_positive_sum_to_one_and_fall_with_distance(
            distances in prop::collection::vec(0.0f64..1e6, 1..12),
        ) {
            let p = probabilities(&distances);
            prop_assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            prop_assert!(p.iter().all(|&p| p > 0.0));
            for (a, pa) in distances.iter().zip(&p) {
                for (b, pb) in distances.iter().zip(&p) {
                    prop_assert!((a < b) <= (pa >= pb));
                    prop_assert!(a != b || pa == pb);
                }
            }
        }
    }
}
