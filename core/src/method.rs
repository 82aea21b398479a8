//! What is a method? A small tree of plugins.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::roles::{BaseClusterer, Oracle, QuerySelector, Transform};
use crate::selection::View;

/// A method: what changes the data, what selects constraints, what clusters.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Method {
    /// Steps that change the data, in order.
    pub transforms: Vec<Box<dyn Transform>>,
    /// What groups the objects. Absent: the selector's own clustering.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusterer: Option<Box<dyn BaseClusterer>>,
    /// What decides which pairs are asked. Absent: nothing is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<Box<dyn QuerySelector>>,
    /// Who answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oracle: Option<Box<dyn Oracle>>,
    /// Which constraints of the selection reach the clusterer.
    pub view: View,
}

impl Method {
    /// The transforms that do not read constraints, up to the first that does: what selectors see.
    pub fn prefix(&self) -> &[Box<dyn Transform>] {
        &self.transforms[..self.prefix_len()]
    }

    /// The transforms from the first that reads constraints on: refitted whenever those change.
    pub fn suffix(&self) -> &[Box<dyn Transform>] {
        &self.transforms[self.prefix_len()..]
    }

    fn prefix_len(&self) -> usize {
        let reads = self.transforms.iter().position(|t| t.properties().reads_constraints);
        reads.unwrap_or(self.transforms.len())
    }
}
