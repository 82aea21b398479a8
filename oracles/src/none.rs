//! The oracle that says nothing.

use mustlink_core::prelude::*;

/// Refuses every question: an unsupervised run along the same way.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct None {}

register!(Oracle, None, "none", references: []);

#[typetag::serde(name = "none")]
impl Oracle for None {
    fn open(&self, _: &Scene) -> Result<Box<dyn Respondent>> {
        Ok(Box::new(Silent))
    }

    fn properties(&self) -> OracleProperties {
        OracleProperties { needs_labels: false, ..OracleProperties::default() }
    }
}

struct Silent;

impl Respondent for Silent {
    fn ask(&mut self, _: &Question) -> Result<Outcome> {
        Ok(Outcome::Refused(Refusal::Closed))
    }

    fn cost(&self, _: &Question) -> f64 {
        0.0
    }
}
