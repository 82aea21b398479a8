//! The Davies–Bouldin index: the sizes of clusters over their distance.

use mustlink_core::prelude::*;
use mustlink_kernels::distance::points::Distortion;

use crate::parts::geometry::{Clusters, finite};

/// Davies–Bouldin index: spread of each cluster and its worst neighbour, divided by the distance of their means.
///
/// (1/k) Σ_h max_g (s_h + s_g) / ‖µ_h − µ_g‖ with s the mean distance of the objects to their mean. Undefined for
/// fewer than two clusters and if two means coincide. Dense or sparse data.
/// # References
/// [DaviesBouldin1979].
#[options]
pub struct DaviesBouldin {}

#[plugin("davies_bouldin", cites = ["DaviesBouldin1979"])]
impl Metric for DaviesBouldin {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        let Some(c) = Clusters::new(self.typetag_name(), input, Distortion::SquaredEuclidean)?
        else {
            return Ok(None);
        };
        let k = c.k();
        if k < 2 {
            return Ok(None);
        }
        let centres = c.centres();
        let spread: Vec<f64> = c
            .groups
            .members
            .iter()
            .map(|m| {
                let sum = reduce::sum(m.len(), |at| c.distortion(m[at] as usize, &centres).sqrt());
                sum / m.len() as f64
            })
            .collect();
        let mut worst = vec![0.0f64; k];
        for h in 0..k {
            // Of singletons there are as many as objects.
            input.check()?;
            for g in h + 1..k {
                let apart = centres[h].squared_distance(&centres[g]).sqrt();
                let ratio = (spread[h] + spread[g]) / apart;
                if apart == 0.0 || !ratio.is_finite() {
                    return Ok(None);
                }
                worst[h] = worst[h].max(ratio);
                worst[g] = worst[g].max(ratio);
            }
        }
        Ok(finite(reduce::sum(k, |h| worst[h]) / k as f64))
    }

    fn properties(&self) -> MetricProperties {
        MetricProperties {
            max: f64::INFINITY,
            higher_is_better: false,
            needs_truth: false,
            needs_data: true,
            perfect: None,
            ..MetricProperties::default()
        }
    }
}
