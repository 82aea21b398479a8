//! Normalised mutual information, by what it is divided by.
//!
//! Papers that write "NMI" mean different ones of these; none is called plainly `nmi` here. All favour
//! many small clusters: they do not choose k.

use mustlink_core::prelude::*;
use mustlink_kernels::agreement::contingency::Average;

use crate::parts::agreement::{score, within};

fn normalised(tag: &'static str, input: &MetricInput, by: Average) -> Result<Option<f64>> {
    score(tag, input, |t| within(t.normalised_mutual_information(by), 0.0, 1.0))
}

/// Mutual information over the mean of the two entropies.
///
/// Equal to `v_measure` at beta = 1. [Basu2004] reports this form. Identical partitions score 1; 0/0 is 0.
/// # References
/// [Basu2004], [RosenbergHirschberg2007].
#[options]
pub struct NmiArith {}

#[plugin(
    "nmi_arith",
    aliases = ["nmi", "normalized_mutual_info"],
    cites = ["Basu2004", "RosenbergHirschberg2007"]
)]
impl Metric for NmiArith {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        normalised(self.typetag_name(), input, Average::Arithmetic)
    }

    fn properties(&self) -> MetricProperties {
        MetricProperties { symmetric: true, ..MetricProperties::default() }
    }
}

/// Mutual information over the geometric mean of the two entropies.
///
/// The form of [StrehlGhosh2002], which [Greene2007] uses. Identical partitions score 1; 0/0 is 0.
/// # References
/// [StrehlGhosh2002], [Greene2007].
#[options]
pub struct NmiGeo {}

#[plugin("nmi_geo", cites = ["StrehlGhosh2002", "Greene2007"])]
impl Metric for NmiGeo {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        normalised(self.typetag_name(), input, Average::Geometric)
    }

    fn properties(&self) -> MetricProperties {
        MetricProperties { symmetric: true, ..MetricProperties::default() }
    }
}

/// Mutual information over the smaller of the two entropies.
///
/// 1 for every refinement of the classes. Identical partitions score 1; 0/0 is 0.
/// # References
/// [VinhEppsBailey2010].
#[options]
pub struct NmiMin {}

#[plugin("nmi_min", cites = ["VinhEppsBailey2010"])]
impl Metric for NmiMin {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        normalised(self.typetag_name(), input, Average::Min)
    }

    fn properties(&self) -> MetricProperties {
        MetricProperties { symmetric: true, ..MetricProperties::default() }
    }
}

/// Mutual information over the larger of the two entropies.
///
/// One minus a distance between partitions. Identical partitions score 1; 0/0 is 0.
/// # References
/// [VinhEppsBailey2010].
#[options]
pub struct NmiMax {}

#[plugin("nmi_max", cites = ["VinhEppsBailey2010"])]
impl Metric for NmiMax {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        normalised(self.typetag_name(), input, Average::Max)
    }

    fn properties(&self) -> MetricProperties {
        MetricProperties { symmetric: true, ..MetricProperties::default() }
    }
}

/// Mutual information over the entropy of class and cluster together.
///
/// The smallest of the normalised forms. Identical partitions score 1; 0/0 is 0.
/// # References
/// [VinhEppsBailey2010].
#[options]
pub struct NmiJoint {}

#[plugin("nmi_joint", cites = ["VinhEppsBailey2010"])]
impl Metric for NmiJoint {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        score(self.typetag_name(), input, |t| {
            if t.is_identical() {
                return 1.0;
            }
            // Partitions that differ are not both one group: the joint entropy is positive.
            within(t.mutual_information() / t.joint_entropy(), 0.0, 1.0)
        })
    }

    fn properties(&self) -> MetricProperties {
        MetricProperties { symmetric: true, ..MetricProperties::default() }
    }
}
