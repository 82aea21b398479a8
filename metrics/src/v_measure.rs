//! The V-measure: one class in each cluster, and one cluster for each class.

use mustlink_core::prelude::*;
use mustlink_kernels::agreement::contingency::Contingency;

use crate::parts::agreement::{score, within};

/// 1 − H(Y|C)/H(Y): the share of the information about the class that the clusters give.
fn homogeneity(t: &Contingency) -> f64 {
    informed(t.class_entropy_given_clusters(), t.class_entropy())
}

/// 1 − H(C|Y)/H(C): the share of the information about the cluster that the classes give.
fn completeness(t: &Contingency) -> f64 {
    informed(t.cluster_entropy_given_classes(), t.cluster_entropy())
}

fn informed(open: f64, entropy: f64) -> f64 {
    if entropy == 0.0 { 1.0 } else { within(1.0 - open / entropy, 0.0, 1.0) }
}

/// Degree to which each cluster holds objects of one class: 1 − H(class given cluster) / H(class).
///
/// 1 when there is one class. Perfect for singletons: do not use it to choose k.
/// # References
/// [RosenbergHirschberg2007].
#[options]
pub struct Homogeneity {}

#[plugin("homogeneity", cites = ["RosenbergHirschberg2007"])]
impl Metric for Homogeneity {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        score(self.typetag_name(), input, homogeneity)
    }
}

/// Degree to which each class lies in one cluster: 1 − H(cluster given class) / H(cluster).
///
/// 1 when there is one cluster.
/// # References
/// [RosenbergHirschberg2007].
#[options]
pub struct Completeness {}

#[plugin("completeness", cites = ["RosenbergHirschberg2007"])]
impl Metric for Completeness {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        score(self.typetag_name(), input, completeness)
    }
}

/// Weighted harmonic mean of homogeneity and completeness.
///
/// (1 + β) h c / (β h + c); at β = 1 equal to `nmi_arith`. Identical partitions score 1; 0/0 is 0.
/// # Errors
/// `BadParam` for a negative or infinite beta.
/// # References
/// [RosenbergHirschberg2007].
#[options]
pub struct VMeasure {
    /// Weight of completeness compared with homogeneity (β), at least 0.
    #[option(default = 1.0, min = 0.0)]
    pub beta: f64,
}

#[plugin("v_measure", cites = ["RosenbergHirschberg2007"])]
impl Metric for VMeasure {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        let beta = self.beta;
        score(self.typetag_name(), input, |t| {
            let (h, c) = (homogeneity(t), completeness(t));
            let below = beta * h + c;
            if below == 0.0 { 0.0 } else { within((1.0 + beta) * h * c / below, 0.0, 1.0) }
        })
    }

    fn properties(&self) -> MetricProperties {
        MetricProperties { symmetric: self.beta == 1.0, ..MetricProperties::default() }
    }
}
