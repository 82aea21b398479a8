//! The oracle that never answers.

use mustlink_core::prelude::*;

/// Refuses every question: an unsupervised run with the same steps.
#[options]
pub struct None {}

#[plugin("none")]
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
