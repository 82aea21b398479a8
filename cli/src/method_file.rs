//! What does a method file say? A method, and what it takes to run it alone.

use mustlink::method::Method;
use mustlink::prelude::*;
use mustlink::scripts;
use mustlink::selection::{ConstraintView, Contradicting};

/// A method file: what changes the data, what selects constraints, what clusters.
// The text form of a `Method`, with what belongs to a run of it alone. The fields of `Method` stand
// here again because their descriptions are others here. No doc comment: those are the descriptions
// of the schema.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct MethodFile {
    /// Plugins in other languages, known by their own names: `["my_method.py"]`. Paths start at this
    /// file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub plugins: Vec<scripts::Source>,
    /// Number of clusters; --k overrides it.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<usize>,
    /// Seed of every random number; --seed overrides it, experiments ignore it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Steps that change the data, in order. Those that drop or merge rows come first.
    pub transforms: Vec<Box<dyn Transform>>,
    /// What groups the objects. Absent: the selector's own clustering.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusterer: Option<Box<dyn BaseClusterer>>,
    /// What decides which pairs are asked. Absent: nothing is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<Box<dyn QuerySelector>>,
    /// Who answers; the classes, where a selector asks and nobody is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oracle: Option<Box<dyn Oracle>>,
    /// Which constraints of the selection reach the clusterer.
    pub view: ConstraintView,
    /// What becomes of answers that contradict what was known when they came. Files of constraints are
    /// the clusterer's: `clusterer.on_conflict`.
    pub on_conflict: Contradicting,
}

impl MethodFile {
    /// The method alone.
    pub fn into_method(self) -> Method {
        let MethodFile { transforms, clusterer, selector, oracle, view, on_conflict, .. } = self;
        Method { transforms, clusterer, selector, oracle, view, on_conflict }
    }
}
