//! Do clusters hold one class each?

use mustlink_core::prelude::*;

use crate::agreement::score;

/// Share of objects in the largest class of their cluster.
///
/// (1/N) Σ_j max_i c_ij. Perfect for singletons: it does not choose k.
/// # References
/// [ZhaoKarypis2004].
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Purity {}

register!(Metric, Purity, "purity", references: ["ZhaoKarypis2004"]);

#[typetag::serde(name = "purity")]
impl Metric for Purity {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        score(self.typetag_name(), input, |t| t.majority() as f64 / t.n() as f64)
    }
}
