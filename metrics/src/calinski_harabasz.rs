//! The Calinski–Harabasz index: scatter between clusters over scatter within.

use mustlink_core::prelude::*;
use mustlink_kernels::distance::points::{Distortion, squared_distance};

use crate::parts::geometry::{Clusters, finite};

/// Calinski–Harabasz index: scatter between clusters over scatter within, each per degree of freedom.
///
/// (Σ_h n_h ‖µ_h − µ‖² / (k − 1)) / (Σ‖x − µ_h‖² / (N − k)). Undefined for fewer than two clusters and without scatter
/// within clusters, for example if all are singletons. Dense or sparse data.
/// # References
/// [CalinskiHarabasz1974].
#[options]
pub struct CalinskiHarabasz {}

#[plugin("calinski_harabasz", cites = ["CalinskiHarabasz1974"])]
impl Metric for CalinskiHarabasz {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        let Some(c) = Clusters::new(self.typetag_name(), input, Distortion::SquaredEuclidean)?
        else {
            return Ok(None);
        };
        let (n, k) = (c.n(), c.k());
        if k < 2 || k == n {
            return Ok(None);
        }
        let centres = c.centres();
        let inside = c.within(&centres);
        if inside == 0.0 {
            return Ok(None);
        }
        let everyone: Vec<u32> = (0..n as u32).collect();
        let mean = c.points.mean(&everyone).expect("there are objects");
        let between = reduce::sum(k, |h| {
            c.groups.members[h].len() as f64 * squared_distance(&centres[h].at, &mean)
        });
        Ok(finite((between / (k - 1) as f64) / (inside / (n - k) as f64)))
    }

    fn properties(&self) -> MetricProperties {
        MetricProperties {
            max: f64::INFINITY,
            needs_truth: false,
            needs_data: true,
            perfect: None,
            ..MetricProperties::default()
        }
    }
}
