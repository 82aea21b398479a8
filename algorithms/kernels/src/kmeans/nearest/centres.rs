//! The cluster of a new object: the nearest centre, under the distance of the method that found the
//! clusters, or the likeliest component of a Gaussian mixture.

use mustlink_core::clustering::{Extras, Geometry, NONE};
use mustlink_core::{Data, Error, Result, reduce};
use ndarray::{Array1, Array2};
use serde::{Deserialize, Serialize};

use super::assign::assign;
use crate::constrained::mahalanobis::Metric;
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
    /// For the components of a mixture log π + ½ log |Σ⁻¹|: the log-density of each at its centre, up to
    /// what all share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    log_peaks: Option<Vec<f64>>,
}

impl Centres {
    /// The centres in `extras`, with their geometry; where a method has none, the means of its clusters
    /// under squared Euclidean distances. `labels` in 0..k, one per row of `sample`, or [`NONE`] for one that is in no
    /// cluster.
    ///
    /// # Errors
    /// `UnsupportedData` for data that is not rows of features.
    pub fn of(sample: &Data, labels: &[u32], k: usize, extras: &Extras) -> Result<Self> {
        if labels.contains(&NONE) {
            let rows: Vec<usize> = (0..labels.len()).filter(|&i| labels[i] != NONE).collect();
            let labels: Vec<u32> = rows.iter().map(|&i| labels[i]).collect();
            return Centres::of(&sample.subset(&rows), &labels, k, extras);
        }
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
            let mut found = Centres { centres, geometry, weights, metrics, log_peaks: None };
            found.log_peaks = extras.mixing.as_ref().and_then(|mixing| found.log_peaks(mixing));
            return Ok(found);
        }
        let points = Points::new(sample, Distortion::SquaredEuclidean)?;
        let (centres, _) = means(&points, labels, Array2::zeros((k, d)));
        let geometry = Geometry::SquaredEuclidean;
        Ok(Centres { centres, geometry, weights: None, metrics: None, log_peaks: None })
    }

    /// Number of features.
    pub fn d(&self) -> usize {
        self.centres.ncols()
    }

    /// Number of clusters.
    pub fn k(&self) -> usize {
        self.centres.nrows()
    }

    /// The geometry, if distances to all centres are taken in the same way.
    pub fn common_geometry(&self) -> Option<Geometry> {
        let is_common = matches!(self.geometry, Geometry::SquaredEuclidean | Geometry::Cosine);
        is_common.then_some(self.geometry)
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

    /// `None` where a share is 0 or a precision is not positive definite, as over features that a component
    /// did not see.
    fn log_peaks(&self, mixing: &[f64]) -> Option<Vec<f64>> {
        let log_det = |h: usize| match (&self.weights, &self.metrics) {
            (Some(weights), _) => Some(weights.row(h).iter().map(|v| v.ln()).sum()),
            (_, Some(all)) => {
                let precision = all[if all.len() == 1 { 0 } else { h }].clone();
                Metric::from_matrix(precision).map(|m| m.log_det())
            }
            _ => None,
        };
        if mixing.len() != self.k() {
            return None;
        }
        let peak = |(h, share): (usize, &f64)| Some(share.ln() + 0.5 * log_det(h)?);
        let peaks: Vec<f64> = mixing.iter().enumerate().map(peak).collect::<Option<_>>()?;
        peaks.iter().all(|v| v.is_finite()).then_some(peaks)
    }

    /// Probability of each component of a Gaussian mixture for the row `x`; `None` where the clusters are
    /// none.
    pub fn posterior(&self, x: &[f64]) -> Option<Vec<f64>> {
        let peaks = self.log_peaks.as_ref()?;
        let log_density = |(h, peak): (usize, &f64)| peak - 0.5 * self.distance(x, h).powi(2);
        let logs: Vec<f64> = peaks.iter().enumerate().map(log_density).collect();
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = logs.iter().map(|l| (l - most).exp()).sum();
        Some(logs.iter().map(|l| (l - most).exp() / total).collect())
    }

    /// True if new objects go by their posterior probabilities.
    pub fn is_mixture(&self) -> bool {
        self.log_peaks.is_some()
    }

    /// The nearest centre of each row of `data`, or its likeliest component; the first of equals.
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
        if let Some(peaks) = &self.log_peaks {
            by_distance(data, k, out, |x, h| self.distance(x, h).powi(2) - 2.0 * peaks[h]);
            return Ok(());
        }
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
    fn a_mixture_takes_the_likeliest_component() {
        // Two components of one dimension: N(0, 1) with share .9, N(4, 4) with share .1.
        let sample = Data::dense(array![[0.0], [4.0]]).unwrap();
        let extras = |share: f64| Extras {
            centers: Some(array![[0.0], [4.0]]),
            weights: Some(array![[1.0], [0.25]]),
            geometry: Geometry::Weighted,
            mixing: Some(vec![1.0 - share, share]),
            ..Extras::default()
        };
        let centres = Centres::of(&sample, &[0, 1], 2, &extras(0.1)).unwrap();
        // At 2: .9 φ(2) against .1 φ(1) / 2, worked by hand.
        let (near, far) = (0.9 * (-2.0f64).exp(), 0.05 * (-0.5f64).exp());
        let posterior = centres.posterior(&[2.0]).unwrap();
        assert!((posterior[0] - near / (near + far)).abs() < 1e-12, "{posterior:?}");
        // By distance alone it would be the second, whose standard deviation is 2.
        let mut out = [9];
        centres.assign(&Data::dense(array![[2.0]]).unwrap(), &mut out).unwrap();
        assert_eq!(out, [0]);
        // In a whole matrix the same; a share of 0 leaves distances.
        let whole = Extras {
            metrics: Some(vec![array![[1.0]], array![[0.25]]]),
            geometry: Geometry::Mahalanobis,
            weights: None,
            ..extras(0.1)
        };
        let whole = Centres::of(&sample, &[0, 1], 2, &whole).unwrap();
        assert!((whole.posterior(&[2.0]).unwrap()[0] - posterior[0]).abs() < 1e-12);
        let dead = Centres::of(&sample, &[0, 1], 2, &extras(1.0)).unwrap();
        assert!(!dead.is_mixture() && dead.posterior(&[2.0]).is_none());
    }

    #[test]
    fn other_features_are_refused() {
        let sample = Data::dense(array![[0.0], [1.0]]).unwrap();
        let centres = Centres::of(&sample, &[0, 1], 2, &Extras::default()).unwrap();
        assert!(centres.assign(&Data::dense(array![[0.0, 1.0]]).unwrap(), &mut [0]).is_err());
    }
}
