//! The places of the objects of each cluster.
//!
//! The objects of the scope, grouped by cluster, with the centres of the groups. Nothing outside the
//! scope moves a centre.

use std::collections::HashMap;

use mustlink_core::prelude::*;
use mustlink_kernels::distance::points::{Distortion, Points, inner_product, squared_distance};

use crate::parts::agreement::{check_scope, in_scope};

/// A squared length below this share of the squared lengths it came from is rounding: it is 0. A mean is
/// good to some fifteen units of the last digit, whose square this is; times in microseconds, which
/// are far from 0 and differ by parts of 10⁻¹³, are still distinguished.
const ROUNDING: f64 = 1e-29;

/// A squared length, 0 where it is only the rounding of the squared lengths it came from.
fn beyond_rounding(squared: f64, of: f64) -> f64 {
    if squared <= ROUNDING * of && of.is_finite() { 0.0 } else { squared }
}

/// The data, one row per object.
///
/// # Errors
/// `Usage` without data; `BadParam` where lengths differ; `UnsupportedData` for another kind.
pub fn data<'a>(tag: &str, input: &MetricInput<'a>, accepts: &[DataKind]) -> Result<&'a Data> {
    check_scope(input)?;
    let n = input.labels.len();
    let data = input
        .data
        .ok_or_else(|| Error::Usage(format!("{tag} needs the data, but none were given")))?;
    if data.n() != n {
        let rows = format!("{} rows", data.n());
        return Err(Error::bad_param("data", rows, format!("one row per object ({n})")));
    }
    if !accepts.contains(&data.kind()) {
        let accepts: Vec<&str> = accepts.iter().map(|k| k.name()).collect();
        return Err(Error::UnsupportedData {
            plugin: tag.into(),
            kind: data.kind().name(),
            accepts: accepts.join(" or "),
        });
    }
    Ok(data)
}

/// A score, unless squares of very large values left the numbers: then it is not defined.
pub fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// Kinds of data that have coordinates.
pub const COORDINATES: [DataKind; 2] = [DataKind::Dense, DataKind::Csr];

/// Objects by cluster: places in the list of objects that count.
pub struct Groups {
    /// Cluster of each object, `0..k` in order of first appearance.
    pub labels: Vec<u32>,
    /// Objects of each cluster, ascending; none is empty.
    pub members: Vec<Vec<u32>>,
}

impl Groups {
    /// Groups by label; label names do not matter.
    pub fn new(labels: impl Iterator<Item = u32>) -> Self {
        let mut place: HashMap<u32, u32> = HashMap::new();
        let mut members: Vec<Vec<u32>> = Vec::new();
        let mut compact = Vec::new();
        for (i, label) in labels.enumerate() {
            let h = *place.entry(label).or_insert_with(|| {
                members.push(Vec::new());
                members.len() as u32 - 1
            });
            members[h as usize].push(i as u32);
            compact.push(h);
        }
        Groups { labels: compact, members }
    }
}

/// The rows that count, in order.
pub fn rows(input: &MetricInput) -> Vec<usize> {
    (0..input.labels.len()).filter(|&i| in_scope(input, i)).collect()
}

/// The objects that count, prepared for one distortion and grouped by cluster.
pub struct Clusters {
    /// The objects.
    pub points: Points,
    /// Their clusters.
    pub groups: Groups,
}

impl Clusters {
    /// The clusters inside the scope; `None` when no object counts.
    ///
    /// # Errors
    /// Returns the errors of [`data`].
    pub fn new(tag: &str, input: &MetricInput, distortion: Distortion) -> Result<Option<Self>> {
        let data = data(tag, input, &COORDINATES)?;
        let rows = rows(input);
        if rows.is_empty() {
            return Ok(None);
        }
        let groups = Groups::new(rows.iter().map(|&i| input.labels[i]));
        // Each object counts once, whatever a method makes of its weight.
        let points = if rows.len() == data.n() {
            Points::new(&data.unweighted(), distortion)?
        } else {
            Points::new(&data.subset(&rows).unweighted(), distortion)?
        };
        Ok(Some(Clusters { points, groups }))
    }

    /// Number of objects.
    pub fn n(&self) -> usize {
        self.points.n()
    }

    /// Number of clusters.
    pub fn k(&self) -> usize {
        self.groups.members.len()
    }

    /// The mean of each cluster.
    pub fn centres(&self) -> Vec<Centre> {
        let mean = |members: &Vec<u32>| {
            let at = self.points.mean(members).unwrap_or_else(|| vec![0.0; self.points.d()]);
            let norm = inner_product(&at, &at);
            Centre { at, norm }
        };
        self.groups.members.iter().map(mean).collect()
    }

    /// Distortion of object `i` to the centre of its cluster.
    pub fn distortion(&self, i: usize, centres: &[Centre]) -> f64 {
        let centre = &centres[self.groups.labels[i] as usize];
        self.points.distance(i, &centre.at, centre.norm)
    }

    /// Σ of the distortions of all objects to their centres; 0 where only rounding is left of
    /// squared lengths.
    pub fn within(&self, centres: &[Centre]) -> f64 {
        let sum = reduce::sum(self.n(), |i| self.distortion(i, centres));
        let lengths = reduce::sum(self.n(), |i| self.points.norm(i));
        beyond_rounding(sum, lengths)
    }
}

/// A centre of squared length `norm`.
pub struct Centre {
    /// Coordinates.
    pub at: Vec<f64>,
    /// Squared length.
    pub norm: f64,
}

impl Centre {
    /// Squared distance to another centre; 0 where only rounding is left.
    pub fn squared_distance(&self, other: &Centre) -> f64 {
        beyond_rounding(squared_distance(&self.at, &other.at), self.norm + other.norm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rounding_leaves_of_large_lengths_is_nothing() {
        assert_eq!(beyond_rounding(1e-25, 1e6), 0.0);
        assert_eq!(beyond_rounding(1e-25, 1e-6), 1e-25);
        assert_eq!(beyond_rounding(1e-25, f64::INFINITY), 1e-25);
        let centre = |x: f64| Centre { at: vec![x], norm: x * x };
        assert_eq!(centre(1e8).squared_distance(&centre(1e8 + 1e-7)), 0.0);
        assert_eq!(centre(1.0).squared_distance(&centre(3.0)), 4.0);
    }
}
