//! Distances of objects to the clusters of a member.

use mustlink_core::clustering::Geometry;
use mustlink_core::prelude::*;
use ndarray::{Array1, Array2, Axis};

use crate::parts::canonical_ensemble::{CanonicalEnsemble, order};

/// The results of `table` for all members, n × the clusters of each, as one table.
///
/// # Errors
/// `BadParam` with the quantity that the members lack, for the plugin `tag`; `NumericalFailure` for values that are not
/// finite; the errors of `table`.
pub(super) fn of_all_clusters(
    view: &CanonicalEnsemble,
    tag: &str,
    ctx: &Context,
    table: impl Fn(&Member) -> Result<Array2<f64>>,
) -> Result<Array2<f32>> {
    check(view, tag)?;
    let mut out = Array2::zeros((view.n, view.clusters()));
    for (t, member) in view.members.iter().enumerate() {
        ctx.check()?;
        let table = table(member)?;
        if table.dim() != (view.n, view.columns(t).len()) {
            let (rows, columns) = table.dim();
            let got = format!("a table of {rows} × {columns} in a member");
            let legal = format!("used with one column per cluster, got {got}");
            return Err(Error::bad_param("consensus", tag, legal));
        }
        if table.iter().any(|v| !v.is_finite() || *v < 0.0) {
            return Err(Error::NumericalFailure { place: format!("the distances of member {t}") });
        }
        for (from, to) in table.columns().into_iter().zip(view.columns(t)) {
            out.column_mut(to).zip_mut_with(&from, |to, &v| *to = v as f32);
        }
    }
    Ok(out)
}

/// Operations of that where members have centres.
pub(crate) fn operations(shape: &Shape, members: usize) -> f64 {
    (members * shape.k) as f64 * shape.n as f64 * shape.d as f64
}

fn check(view: &CanonicalEnsemble, tag: &str) -> Result<()> {
    let lacks = |m: &&&Member| {
        let e = &m.extras;
        e.distances.is_none() && e.centers.is_none() && e.memberships.is_none()
    };
    let (count, all) = (view.members.iter().filter(lacks).count(), view.len());
    if count > 0 {
        let legal = format!(
            "used with members that have distances, centres or memberships; {count} of {all} have none"
        );
        return Err(Error::bad_param("consensus", tag, legal));
    }
    if !view.is_complete() {
        let legal = "used with members that label every object; hbgf takes missing labels";
        return Err(Error::bad_param("consensus", tag, legal));
    }
    Ok(())
}

/// Distances of all objects to all clusters of a member, as the member gives them, else to its centres
/// in its own geometry; `None` for a member with memberships alone.
///
/// # Errors
/// `BadParam` for centres of other features than the data.
pub(super) fn of_member(m: &Member, problem: &Problem) -> Result<Option<Array2<f64>>> {
    match (&m.extras.distances, &m.extras.centers) {
        (Some(d), _) => Ok(Some(in_order(d, m))),
        (None, Some(centers)) => Ok(Some(in_order(&to_centres(m, centers, problem)?, m))),
        (None, None) => Ok(None),
    }
}

/// The memberships of all objects in all clusters of a member that has them.
pub(super) fn memberships(m: &Member) -> Array2<f64> {
    in_order(m.extras.memberships.as_ref().expect("checked before"), m)
}

/// Columns by first appearance of the labels, as the view names clusters; those of clusters without
/// an object are left out.
fn in_order(table: &Array2<f64>, m: &Member) -> Array2<f64> {
    table.select(Axis(1), &order(m, table.ncols()))
}

/// Distances of all objects to the centres of a member: weighted by its feature weights, in its own
/// metric, else with the weight 1/d for every feature.
fn to_centres(m: &Member, centers: &Array2<f64>, problem: &Problem) -> Result<Array2<f64>> {
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
    let mut out: Array2<f64> = Array2::zeros((n, centers.nrows()));
    reduce::over(out.axis_iter_mut(Axis(0)), |i, mut to| {
        let mut x = vec![0.0; d];
        problem.data.row(i).add_to(&mut x, 1.0);
        if m.extras.geometry == Geometry::Cosine {
            mustlink_kernels::distance::points::normalise(&mut x);
        }
        for (h, to) in to.iter_mut().enumerate() {
            let difference: Vec<f64> = x.iter().zip(centers.row(h)).map(|(a, b)| a - b).collect();
            let square: f64 = match (&m.extras.metrics, &m.extras.weights) {
                (Some(metrics), _) if !metrics.is_empty() => {
                    let a = &metrics[h.min(metrics.len() - 1)];
                    let v = Array1::from(difference);
                    v.dot(&a.dot(&v))
                }
                (_, Some(w)) => difference.iter().zip(w.row(h)).map(|(v, w)| w * v * v).sum(),
                _ => even * difference.iter().map(|v| v * v).sum::<f64>(),
            };
            *to = square.max(0.0).sqrt();
        }
    });
    Ok(out)
}
