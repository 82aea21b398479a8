//! Mutual information, adjusted for chance.

use mustlink_core::prelude::*;
use mustlink_kernels::agreement::contingency::{Average, Contingency};

use crate::parts::agreement::{score, within};

/// Mutual information, adjusted for chance: 0 on average for unrelated partitions, 1 for equal ones.
///
/// `(MI − E[MI]) / (mean(H) − E[MI])`, with the expectation over all partitions with the same group sizes. If this is
/// 0/0 (one side is one group or all singletons), the score is 0.
/// # Cost and randomness
/// O(classes · clusters · mean overlap), groups of one size together; not random.
/// # References
/// [VinhEppsBailey2010] §3.
#[options]
pub struct Ami {
    /// Average of the two entropies.
    pub average: Average,
}

#[plugin("ami", cites = ["VinhEppsBailey2010"])]
impl Metric for Ami {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        score(self.typetag_name(), input, |t| {
            within(adjusted(t, self.average), f64::NEG_INFINITY, 1.0)
        })
    }

    fn properties(&self) -> MetricProperties {
        MetricProperties { min: f64::NEG_INFINITY, symmetric: true, ..MetricProperties::default() }
    }
}

fn adjusted(t: &Contingency, average: Average) -> f64 {
    if t.is_identical() {
        return 1.0;
    }
    let fixed = |groups: &[u64]| groups.len() == 1 || groups.len() as u64 == t.n();
    if fixed(t.classes()) || fixed(t.clusters()) {
        // Any other clustering with these sizes has the same mutual information: 0/0, or 0.
        return 0.0;
    }
    let information = t.mutual_information();
    let (y, c) = (t.class_entropy_given_clusters(), t.cluster_entropy_given_classes());
    // mean(H) − MI without cancellation, from H(Y) = MI + H(Y|C) and H(C) = MI + H(C|Y): the score
    // is then 1 minus something that is not negative, and keeps its digits near 1.
    let mean = average.of(information + y, information + c);
    let missing = match average {
        Average::Geometric => (information * (y + c) + y * c) / (mean + information),
        other => other.of(y, c),
    };
    1.0 - missing / (mean - t.expected_mutual_information())
}
