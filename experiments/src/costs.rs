//! The estimated cost of a method, and the ensembles that it shares with others.
//!
//! Rough counts of operations, read off the configuration: good enough to start long cells first.

use mustlink_config as config;
use mustlink_config::tree::{plugin, visit_plugins};
use mustlink_core::Shape;
use mustlink_core::method::Method;
use mustlink_core::registry::Role;
use mustlink_core::roles::{BaseClusterer, EnsembleGenerator, cost_of_steps};
use serde_json::Value;

use crate::hash::canonical;

/// Questions that are counted where another method decides how many, and has not run.
pub(crate) const ASSUMED_QUERIES: usize = 100;

/// An ensemble that others may need as well.
#[derive(Debug, Clone)]
pub(crate) struct SharedEnsemble {
    /// Equal for equal ensembles.
    pub key: String,
    /// Operations of making it.
    pub effort: f64,
}

/// Cost of a method on a data set.
#[derive(Debug, Clone)]
pub(crate) struct Costs {
    /// Operations of one clustering, without the ensembles it shares.
    pub clusterer: f64,
    /// The same for what the selector does besides asking.
    pub selector: f64,
    /// Bytes of one clustering and its selection, as the plugins declare.
    pub memory: u64,
    /// The ensembles that its clusterer shares.
    pub clusterer_ensembles: Vec<SharedEnsemble>,
    /// The ensembles that its selector shares.
    pub selector_ensembles: Vec<SharedEnsemble>,
}

impl Costs {
    /// Those of a method, configured so, on data of this shape: its memory is that after as many of `answers` as
    /// take most. `dataset` is the name of the data.
    pub fn new(
        dataset: &str,
        shape: &Shape,
        method: &Method,
        config: &Value,
        answers: &[usize],
    ) -> Self {
        let before = cost_of_steps(method.prefix(), shape);
        let after = cost_of_steps(method.suffix(), &before.result);
        // No more are answered than there are pairs.
        let pairs = shape.n * shape.n.saturating_sub(1) / 2;
        let answered = answers.iter().map(|p| Shape { constraints: *p.min(&pairs), ..*shape });
        let memory = answered.map(|shape| memory(method, &shape));
        let memory = memory.fold(self::memory(method, shape), u64::max);
        let shape = &after.result;
        let ensembles = |slot: &str| {
            let shared = |g: &&Value| SharedEnsemble {
                key: format!("{dataset}/{}", canonical(g)),
                effort: effort(g, shape),
            };
            shared_generators(&config[slot]).iter().map(shared).collect::<Vec<_>>()
        };
        // What is shared is made once, whoever needs it.
        let own = |slot: &str, shared: &[SharedEnsemble]| {
            let shared: f64 = shared.iter().map(|s| s.effort).sum();
            (effort(&config[slot], shape) - shared).max(0.0)
        };
        let (selector_ensembles, clusterer_ensembles) =
            (ensembles("selector"), ensembles("clusterer"));
        Costs {
            clusterer: own("clusterer", &clusterer_ensembles)
                + before.operations
                + after.operations,
            selector: own("selector", &selector_ensembles),
            memory,
            clusterer_ensembles,
            selector_ensembles,
        }
    }

    /// Every ensemble that it shares.
    pub fn ensembles(&self) -> impl Iterator<Item = &SharedEnsemble> {
        self.selector_ensembles.iter().chain(&self.clusterer_ensembles)
    }
}

/// Operations and bytes of one clustering by `method` with this configuration, its questions included.
#[must_use]
pub fn estimate(method: &Method, config: &Value, shape: &Shape) -> (f64, u64) {
    let costs = Costs::new("", shape, method, config, &[]);
    let shared: f64 = costs.ensembles().map(|e| e.effort).sum();
    (costs.clusterer + costs.selector + shared, costs.memory)
}

/// Bytes that a method takes in addition to data of this shape.
fn memory(method: &Method, shape: &Shape) -> u64 {
    let before = cost_of_steps(method.prefix(), shape);
    let after = cost_of_steps(method.suffix(), &before.result);
    method.clusterer.as_ref().map_or(0, |c| c.memory(&after.result))
        + method.selector.as_ref().map_or(0, |s| s.memory(&before.result))
        + before.memory.max(after.memory)
}

/// The generators in a tree that read no constraints: what they make is the same in every fold.
fn shared_generators(tree: &Value) -> Vec<&Value> {
    let mut found = Vec::new();
    visit_plugins(tree, &mut |d, table| {
        if d.role != Role::EnsembleGenerator {
            return true;
        }
        let made = config::instantiate::<Box<dyn EnsembleGenerator>>(table.clone());
        if made.is_ok_and(|g| !g.properties().reads_constraints) {
            found.push(table);
        }
        false
    });
    found
}

/// The configuration of the first ensemble generator in a tree of plugins.
pub fn first_generator(tree: &Value) -> Option<&Value> {
    let mut first = None;
    visit_plugins(tree, &mut |d, table| {
        if d.role == Role::EnsembleGenerator {
            first = first.or(Some(table));
        }
        first.is_none()
    });
    first
}

/// The operations that a base clusterer declares.
fn declared(value: &Value, shape: &Shape) -> Option<f64> {
    config::instantiate::<Box<dyn BaseClusterer>>(value.clone()).ok()?.operations(shape)
}

/// Operations of running a tree once: what clusterers declare, else twenty sweeps for whatever clusters, times
/// restarts and members on the way down. Good enough to start long cells first.
fn effort(value: &Value, shape: &Shape) -> f64 {
    const SWEEPS: f64 = 20.0;
    /// Making and scoring one clustering of however few objects.
    const AT_LEAST: f64 = 3e5;
    /// Per pair of objects: what is propagated grows with these, and is read in every sweep.
    const PROPAGATED: f64 = 500.0;
    /// Limit of this estimate, because of many pairs only those near a constraint are propagated.
    const MOST_PROPAGATED: f64 = 1e9;
    let count = |key: &str| value.get(key).and_then(Value::as_u64).map_or(1.0, |v| v.max(1) as f64);
    let inner: f64 = match value {
        Value::Object(map) => map.values().map(|v| effort(v, shape)).sum(),
        Value::Array(items) => items.iter().map(|v| effort(v, shape)).sum(),
        _ => 0.0,
    };
    let Some(d) = plugin(value) else { return inner };
    let (entries, n) = (shape.entries as f64, shape.n as f64);
    // Where nobody says how many clusters, it is as many as there are objects.
    let k = (shape.k as f64).min(n.sqrt()) as usize;
    let own = match d.role {
        Role::BaseClusterer => match (declared(value, shape), inner == 0.0) {
            // It counts its starts itself.
            (Some(operations), _) => return (AT_LEAST + operations + inner) * count("members"),
            (None, true) => AT_LEAST + SWEEPS * shape.sweep(k),
            (None, false) => entries,
        },
        Role::ConstraintPropagator => (n * n * PROPAGATED).min(MOST_PROPAGATED),
        Role::Oracle | Role::Metric => 0.0,
        // What holds one declares it, as it knows how many members there are.
        Role::ConsensusFunction => return 0.0,
        _ => entries,
    };
    (own + inner) * count("restarts") * count("members")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_consensus_counts_by_its_members_and_the_pairs_it_looks_at() {
        let of = |n: usize, members: usize, consensus: &str| {
            let shape = Shape { n, d: 4, k: 3, entries: 4 * n, constraints: 0 };
            let generator = json!({ "type": "random_init", "members": members });
            let consensus = json!({ "type": consensus });
            let config =
                json!({ "type": "ensemble", "generator": generator, "consensus": consensus });
            effort(&config, &shape) - effort(&generator, &shape)
        };
        for pairs in ["cspa", "evidence_accumulation"] {
            assert!(of(4000, 20, pairs) > 3.0 * of(2000, 20, pairs), "{pairs}");
        }
        assert!(of(2000, 200, "kcc") > 1.9 * of(2000, 100, "kcc"));
        // Two hundred members are compared with each other.
        assert!(of(2000, 200, "voting") > 3.0 * of(2000, 100, "voting"));
    }
}
