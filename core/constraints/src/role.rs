//! The roles of plugins.

use serde::Serialize;

/// Role of a plugin in a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Groups objects.
    BaseClusterer,
    /// Makes many base clusterings.
    EnsembleGenerator,
    /// Combines partitions.
    ConsensusFunction,
    /// Spreads constraints.
    ConstraintPropagator,
    /// Decides what to ask.
    QuerySelector,
    /// Answers.
    Oracle,
    /// Scores.
    Metric,
    /// Changes data.
    Transform,
}

impl Role {
    /// All roles in listing order.
    pub const ALL: [Role; 8] = [
        Role::BaseClusterer,
        Role::EnsembleGenerator,
        Role::ConsensusFunction,
        Role::ConstraintPropagator,
        Role::QuerySelector,
        Role::Oracle,
        Role::Metric,
        Role::Transform,
    ];

    /// The word in prose: `base clusterer`.
    pub fn name(self) -> &'static str {
        match self {
            Role::BaseClusterer => "base clusterer",
            Role::EnsembleGenerator => "ensemble generator",
            Role::ConsensusFunction => "consensus function",
            Role::ConstraintPropagator => "constraint propagator",
            Role::QuerySelector => "query selector",
            Role::Oracle => "oracle",
            Role::Metric => "metric",
            Role::Transform => "transform",
        }
    }

    /// The word on the command line and the folder: `base-clusterers`.
    pub fn plural(self) -> String {
        format!("{}s", self.name().replace(' ', "-"))
    }

    /// The crate of its plugins: `mustlink_base_clusterers`.
    pub fn crate_name(self) -> String {
        format!("mustlink_{}s", self.name().replace(' ', "_"))
    }

    /// The usual key in configs: `clusterer`.
    pub fn key(self) -> &'static str {
        match self {
            Role::BaseClusterer => "clusterer",
            Role::EnsembleGenerator => "generator",
            Role::ConsensusFunction => "consensus",
            Role::ConstraintPropagator => "propagator",
            Role::QuerySelector => "selector",
            Role::Oracle => "oracle",
            Role::Metric => "metrics",
            Role::Transform => "transforms",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_told_apart_by_each_of_their_words() {
        let keys = Role::ALL.map(Role::key);
        let expected = ["clusterer", "generator", "consensus", "propagator", "selector", "oracle"];
        assert_eq!(keys[..6], expected);
        assert_eq!(keys[6..], ["metrics", "transforms"]);
        assert_eq!(Role::BaseClusterer.plural(), "base-clusterers");
        assert_eq!(Role::QuerySelector.name(), "query selector");
    }
}
