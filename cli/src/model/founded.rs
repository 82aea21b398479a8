//! New clusters of objects that fit no cluster of a model.
//!
//! As in the data descriptions of Tax (One-class classification, 2001), an object fits its cluster if it is not farther
//! away than 99 % of the objects that the cluster was made of. DBSCAN clusters the others. Its radius is the largest of
//! these distances.

use mustlink::prelude::*;
use mustlink::run::{cluster, within_memory};
use serde_json::json;

use super::place::{Place, Predicted};

/// Gives the numbers after those of the model to new clusters of objects that fit none. All others stay.
///
/// # Errors
/// `Memory`; the errors of DBSCAN.
pub(super) fn found(
    place: &Place,
    data: &Data,
    predicted: &mut Predicted,
    ctx: &Context,
) -> Result<()> {
    let outside = place.outside(&predicted.labels, &predicted.distances);
    if outside.is_empty() {
        return Ok(());
    }
    within_memory((8 * outside.len() * data.d()) as u64, data, ctx)?;
    let (k, mut x) = (place.centres.k(), data.subset(&outside).to_dense());
    let mut radius = place.limits[..k].iter().copied().fold(0.0, f64::max);
    if place.neighbours.is_none() && place.centres.common_geometry() == Some(Geometry::Cosine) {
        for mut row in x.rows_mut() {
            let length = row.dot(&row).sqrt();
            row.mapv_inplace(|value| if length > 0.0 { value / length } else { value });
        }
        // Between vectors of length 1 whose cosine is 1 − radius.
        radius = (2.0 * radius).sqrt();
    }
    let dbscan = json!({ "type": "dbscan", "radius": radius.max(f64::MIN_POSITIVE) });
    let dbscan = <dyn BaseClusterer as RoleObject>::from_value(dbscan).map_err(Error::Usage)?;
    let found = cluster(&*dbscan, &Problem::new(Data::dense(x)?), ctx)?.clustering.shown(None);
    let clustered = outside.iter().zip(&found.labels).filter(|(_, label)| **label != NONE);
    clustered.for_each(|(&i, &label)| predicted.labels[i] = k as u32 + label);
    predicted.founded = found.k;
    Ok(())
}
