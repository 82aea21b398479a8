//! To which cluster does a new object belong? To that with the nearest centre, as the method that found
//! the clusters takes distances.

use mustlink_core::clustering::{Extras, Geometry, NONE};
use mustlink_core::{Data, Error, Result, reduce};
use ndarray::{Array1, Array2};
use serde::{Deserialize, Serialize};

use super::assign::assign;
use crate::distance::points::{Distortion, Points};
use crate::kmeans::means::means;

/// Centres of clusters and how distances to them are taken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Centres {
    /// k × d.
    centres: Array2<f64>,
    geometry: Geometry,
    /// k × d, for weighted distances.
    weights: Option<Array2<f64>>,
    /// One or k matrices d × d, for Mahalanobis distances.
    metrics: Option<Vec<Array2<f64>>>,
}

impl Centres {
    /// The centres in `extras`, with their geometry; where a method has none, the means of its clusters
    /// under squared Euclidean distances. `labels` in 0..k, one per row of `sample`.
    ///
    /// # Errors
    /// `UnsupportedData` for data that is not rows of features.
    pub fn of(sample: &Data, labels: &[u32], k: usize, extras: &Extras) -> Result<Self> {
        let d = sample.d();
        let fits = |x: &Array2<f64>| x.dim() == (k, d);
        let squared = |m: &Array2<f64>| m.dim() == (d, d);
        let weights = extras.weights.clone().filter(fits);
        let metrics = extras.metrics.clone().filter(|metrics| {
            (metrics.len() == 1 || metrics.len() == k) && metrics.iter().all(squared)
        });
        let complete = match extras.geometry {
            Geometry::Weighted => weights.is_some(),
            Geometry::Mahalanobis => metrics.is_some(),
            Geometry::SquaredEuclidean | Geometry::Cosine => true,
        };
        if let Some(centres) = extras.centers.clone().filter(|c| fits(c) && complete) {
            let geometry = extras.geometry;
            let weights = weights.filter(|_| geometry == Geometry::Weighted);
            let metrics = metrics.filter(|_| geometry == Geometry::Mahalanobis);
            return Ok(Centres { centres, geometry, weights, metrics });
        }
        let points = Points::new(sample, Distortion::SquaredEuclidean)?;
        let (centres, _) = means(&points, labels, Array2::zeros((k, d)));
        let geometry = Geometry::SquaredEuclidean;
        Ok(Centres { centres, geometry, weights: None, metrics: None })
    }

    /// Number of features.
    pub fn d(&self) -> usize {
        self.centres.ncols()
    }

    /// Number of clusters.
    pub fn k(&self) -> usize {
        self.centres.nrows()
    }

    /// How far the row `x` is from the centre of cluster `h`: the root of what the method takes for a
    /// squared distance, 1 − cosine for directions.
    pub fn distance(&self, x: &[f64], h: usize) -> f64 {
        let c = self.centres.row(h);
        let difference: Array1<f64> = x.iter().zip(&c).map(|(x, c)| x - c).collect();
        let squared = match (self.geometry, &self.weights, &self.metrics) {
            (Geometry::Weighted, Some(w), _) => (&difference * &difference * w.row(h)).sum(),
            (Geometry::Mahalanobis, _, Some(metrics)) => {
                let metric = &metrics[if metrics.len() == 1 { 0 } else { h }];
                difference.dot(&metric.dot(&difference))
            }
            (Geometry::Cosine, ..) => {
                let x = Array1::from(x.to_vec());
                let lengths = (x.dot(&x) * c.dot(&c)).sqrt();
                return if lengths > 0.0 { 1.0 - x.dot(&c) / lengths } else { 1.0 };
            }
            _ => difference.dot(&difference),
        };
        squared.max(0.0).sqrt()
    }

    /// The nearest centre of each row of `data`, the first of equals.
    ///
    /// # Errors
    /// `UnsupportedData` for data that is not rows of features; `Plugin` for another number of features.
    pub fn assign(&self, data: &Data, out: &mut [u32]) -> Result<()> {
        let (k, d) = self.centres.dim();
        if data.d() != d {
            let message = format!("the centres have {d} features, the data {}", data.d());
            return Err(Error::Plugin { tag: "centres".into(), message });
        }
        let c = &self.centres;
        match (self.geometry, &self.weights, &self.metrics) {
            (Geometry::Weighted, Some(w), _) => by_distance(data, k, out, |x, h| {
                let (c, w) = (c.row(h), w.row(h));
                (0..d).map(|s| w[s] * (x[s] - c[s]) * (x[s] - c[s])).sum()
            }),
            (Geometry::Mahalanobis, _, Some(metrics)) => by_distance(data, k, out, |x, h| {
                let difference: Array1<f64> = (0..d).map(|s| x[s] - c[[h, s]]).collect();
                let metric = &metrics[if metrics.len() == 1 { 0 } else { h }];
                difference.dot(&metric.dot(&difference))
            }),
            (Geometry::Cosine, ..) => {
                assign(&Points::new(data, Distortion::Cosine)?, c, out, None);
            }
            _ => {
                assign(&Points::new(data, Distortion::SquaredEuclidean)?, c, out, None);
            }
        }
        Ok(())
    }
}

fn by_distance(data: &Data, k: usize, out: &mut [u32], far: impl Fn(&[f64], usize) -> f64 + Sync) {
    reduce::fill(out, |at| {
        let mut x = vec![0.0; data.d()];
        data.row(at).add_to(&mut x, 1.0);
        let keyed = (0..k).map(|h| (far(&x, h), h as u32));
        keyed.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(NONE, |c| c.1)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn nearest(extras: Extras) -> Vec<u32> {
        let sample = Data::dense(array![[0.0, 0.0], [0.0, 2.0], [6.0, 0.0], [6.0, 2.0]]).unwrap();
        let centres = Centres::of(&sample, &[0, 0, 1, 1], 2, &extras).unwrap();
        let text = serde_json::to_string(&centres).unwrap();
        assert_eq!(serde_json::from_str::<Centres>(&text).unwrap(), centres);
        let mut out = vec![0; 2];
        centres.assign(&Data::dense(array![[2.0, 9.0], [4.0, -9.0]]).unwrap(), &mut out).unwrap();
        out
    }

    #[test]
    fn as_the_method_takes_distances() {
        assert_eq!(nearest(Extras::default()), [0, 1]);
        let centers = Some(array![[0.0, -9.0], [6.0, 9.0]]);
        let own = || Extras { centers: centers.clone(), ..Extras::default() };
        // The second feature decides, then the first, then neither length.
        assert_eq!(nearest(own()), [1, 0]);
        let weights = Some(array![[1.0, 0.0], [1.0, 0.0]]);
        assert_eq!(nearest(Extras { geometry: Geometry::Weighted, weights, ..own() }), [0, 1]);
        let metrics = Some(vec![array![[1.0, 0.0], [0.0, 0.0]]]);
        assert_eq!(nearest(Extras { geometry: Geometry::Mahalanobis, metrics, ..own() }), [0, 1]);
        assert_eq!(nearest(Extras { geometry: Geometry::Cosine, ..own() }), [1, 0]);
        // Without its weights a geometry cannot be followed.
        assert_eq!(nearest(Extras { geometry: Geometry::Weighted, ..own() }), [0, 1]);
    }

    #[test]
    fn other_features_are_refused() {
        let sample = Data::dense(array![[0.0], [1.0]]).unwrap();
        let centres = Centres::of(&sample, &[0, 1], 2, &Extras::default()).unwrap();
        assert!(centres.assign(&Data::dense(array![[0.0, 1.0]]).unwrap(), &mut [0]).is_err());
    }
}
