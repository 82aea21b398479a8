//! Methods of a study: their plugins, mistakes in their options, and their costs on each data set.

use std::collections::{BTreeMap, BTreeSet};

use mustlink_config::tree::{plugin, visit_plugins, visit_tables};
use mustlink_config::{self as config, Node};
use mustlink_core::Shape;
use mustlink_core::error::Diagnostic;
use mustlink_core::method::Method;
use mustlink_core::needs::check_size;
use mustlink_core::registry::Role;
use mustlink_core::roles::{
    BaseClusterer, ConsensusFunction, EnsembleGenerator, Layer, Oracle, cost_of_steps,
};
use serde_json::Value;

use crate::hash::canonical;

/// One method, checked.
///
/// Its plugins are built once. They are the same on every data set, unless `k = "classes"` is an option of one of
/// them.
#[derive(Debug, Clone)]
pub struct MethodSpec {
    /// Its name.
    pub id: String,
    /// Its sections as plain values, every default written out; `k` may still be `"classes"` or `"unknown"`.
    pub config: Value,
    /// Its plugins for [`SOME_CLASSES`] classes, or an error for the check of the study.
    plugins: Result<Method, String>,
    /// Its k, on the same data.
    k: Option<usize>,
}

/// A method on one data set.
#[derive(Debug, Clone)]
pub(crate) struct ResolvedMethod {
    /// Its name.
    pub id: String,
    /// Its plugins.
    pub method: Method,
    /// Number of clusters, if it is given.
    pub k: Option<usize>,
    /// Its sections as plain values, with `k`, without the name. Results depend on them.
    pub config: Value,
    /// The first generator in its configuration.
    pub generator: Option<Box<dyn EnsembleGenerator>>,
    /// Its time and memory.
    pub costs: Costs,
}

/// The number of classes that checks assume, so that `"classes-3"` has a value. No check depends on it.
pub(crate) const SOME_CLASSES: usize = 1000;

impl MethodSpec {
    /// The method with these sections.
    pub(super) fn new(config: Value) -> Self {
        let id = config["id"].as_str().unwrap_or_default().to_string();
        let mut spec = MethodSpec { id, config, plugins: Ok(Method::default()), k: None };
        let sections = spec.sections(Some(SOME_CLASSES));
        spec.plugins = sections.and_then(|(config, k)| {
            spec.k = k;
            build(config)
        });
        spec
    }

    /// The sections on data of `classes` classes, and their k.
    fn sections(&self, classes: Option<usize>) -> Result<(Value, Option<usize>), String> {
        if let Some(message) = classes.and_then(|classes| self.too_few(classes)) {
            return Err(message);
        }
        let mut config = self.config.clone();
        config::substitute_k(&mut config, classes);
        if let Some(map) = config.as_object_mut() {
            map.remove("id");
        }
        let k = config.get("k").cloned().map(config::instantiate).transpose()?;
        Ok((config, k))
    }

    /// Error if a k such as "classes-3" is below 1.
    fn too_few(&self, classes: usize) -> Option<String> {
        let mut found = None;
        visit_tables(&self.config, &mut |table| {
            if let Some(word) = table.get("k").and_then(Value::as_str)
                && let Some(k) = config::classes_offset(word).map(|by| classes as i64 + by)
                && k < 1
            {
                found
                    .get_or_insert_with(|| format!("k = \"{word}\" is {k} with {classes} classes"));
            }
            true
        });
        found
    }

    /// The method on a data set of this shape with `classes` classes. If it asks, its memory is the maximum
    /// for these `numbers` of questions.
    ///
    /// # Errors
    /// A message that names the method and the data set, if they do not go together.
    pub(crate) fn on(
        &self,
        dataset: &str,
        shape: Shape,
        classes: Option<usize>,
        numbers: &[usize],
    ) -> Result<ResolvedMethod, Diagnostic> {
        let place = format!("method \"{}\" on data set \"{dataset}\"", self.id);
        let complaint = |message: String| Diagnostic::new("", &place, message);
        if classes.is_none() && mentions_classes(&self.config) {
            let message = "k = \"classes\" needs a class column; name it with target under [[dataset]], or give a \
                           number or \"unknown\"";
            return Err(complaint(message.into()));
        }
        let (config, k) = self.sections(classes).map_err(complaint)?;
        let mut options = self.config.as_object().into_iter().flat_map(|map| map.values());
        let method = match options.any(mentions_classes) {
            true => build(config.clone()),
            false => self.plugins.clone(),
        };
        let method = method.map_err(complaint)?;
        if let Some(oracle) = &method.oracle
            && oracle.properties().needs_labels
            && classes.is_none()
        {
            return Err(complaint(format!(
                "the oracle {} needs a class column; name it with target under [[dataset]], or take an oracle that \
                 needs none (replay, scripted)",
                oracle.typetag_name()
            )));
        }
        // More than there are objects fail before anything is allocated.
        let shape = Shape { k: k.unwrap_or(1).min(shape.n), ..shape };
        let consensus = &config["clusterer"]["consensus"];
        if plugin(consensus).is_some_and(|d| d.role == Role::ConsensusFunction)
            && let Ok(consensus) =
                config::instantiate::<Box<dyn ConsensusFunction>>(consensus.clone())
        {
            // Before any member is made.
            check_size(shape.n, &*consensus).map_err(|e| complaint(e.to_string()))?;
        }
        let generator = first_generator(&config).cloned();
        let generator = generator.map(config::instantiate).transpose().map_err(complaint)?;
        let numbers = method.selector.as_ref().map_or(&[][..], |_| numbers);
        let costs = Costs::new(dataset, &shape, &method, &config, numbers);
        Ok(ResolvedMethod { id: self.id.clone(), method, k, config, generator, costs })
    }

    /// True if constraints, given or asked for, make a difference to the method.
    pub fn reads_constraints(&self) -> bool {
        self.plugins.as_ref().is_ok_and(Method::reads_constraints)
    }

    /// True if it asks.
    pub fn asks(&self) -> bool {
        self.plugins.as_ref().is_ok_and(|method| method.selector.is_some())
    }

    /// The option at a path (`selector.super_instances`), with aliases in the path replaced by names; `None` if the
    /// method has no such option.
    pub(crate) fn option(&self, path: &str) -> Option<(String, &Value)> {
        let (mut own, mut here) = (String::new(), &self.config);
        for step in config::path_steps(path) {
            if let Value::Array(items) = here {
                here = items.get(step.parse::<usize>().ok()?)?;
                own += &format!("[{step}]");
                continue;
            }
            let aliased = || Some(plugin(here)?.option(&step)?.name.to_string());
            let name = if here.get(&step).is_some() { step } else { aliased()? };
            here = here.get(&name)?;
            own += if own.is_empty() { "" } else { "." };
            own += &name;
        }
        Some((own, here))
    }

    /// The value of each of these options, by column: null if the method does not have it.
    pub(crate) fn columns(&self, varied: &BTreeSet<String>) -> BTreeMap<String, Value> {
        fn named(value: &Value) -> Value {
            match value {
                Value::Object(table) if table.contains_key("type") => table["type"].clone(),
                Value::Array(items) => items.iter().map(named).collect(),
                other => other.clone(),
            }
        }
        let value = |path: &String| match self.option(path).map(|(_, value)| named(value)) {
            Some(nested @ (Value::Object(_) | Value::Array(_))) => nested.to_string().into(),
            plain => plain.unwrap_or_default(),
        };
        varied.iter().map(|path| (format!("option.{path}"), value(path))).collect()
    }

    /// Adds the mistakes that no table of options can express; `node` is the method in the entry number `at`.
    pub(super) fn judge(&self, at: usize, node: &Node, out: &mut Vec<Diagnostic>) {
        let method = match &self.plugins {
            Ok(method) => method,
            Err(e) => return out.push(node.diagnostic(&format!("method[{at}]"), e.clone())),
        };
        let mut complain = |key: &str, message: String| {
            let node = node.get(key).unwrap_or(node);
            out.push(node.diagnostic(&format!("method[{at}].{key}"), message));
        };
        let steps = method.transforms.iter().enumerate();
        for (t, step) in steps.filter(|(_, s)| s.properties().changes_rows) {
            let tag = step.typetag_name();
            let message = format!("[{t}] {tag} drops or merges rows; put it under [[dataset]]");
            complain("transforms", message);
        }
        match (&method.clusterer, &method.selector) {
            (None, None) => complain("clusterer", "a method needs a clusterer".into()),
            (None, Some(s)) if !s.properties().self_clustering => {
                let tag = s.typetag_name();
                complain("clusterer", format!("{tag} only selects; a clusterer is needed"));
            }
            _ => {}
        }
        if let Some(clusterer) = method.clusterer.as_ref().filter(|c| c.properties().needs_k)
            && self.k.is_none()
        {
            let tag = clusterer.typetag_name();
            let message = format!(
                "is \"unknown\", and {tag} needs the number of clusters: a number, \"classes\", or a clusterer \
                 that finds it"
            );
            complain("k", message);
        }
        let Some(oracle) = &method.oracle else { return };
        let tag = oracle.typetag_name();
        if method.selector.is_none() {
            complain("oracle", format!("{tag} is never asked: the method has no selector"));
        }
        if oracle.properties().interactive {
            let message = format!("{tag} needs a person; experiments ask simulated oracles only");
            complain("oracle", message);
        }
        judge_wrapping(&**oracle, at, node, out);
    }
}

/// The plugins in sections whose k is a number.
fn build(mut sections: Value) -> Result<Method, String> {
    if let Some(map) = sections.as_object_mut() {
        map.remove("k");
    }
    config::instantiate(sections)
}

/// True if a table of a tree gives `k` by the number of classes.
pub(crate) fn mentions_classes(tree: &Value) -> bool {
    let mut found = false;
    visit_tables(tree, &mut |table| {
        let word = table.get("k").and_then(Value::as_str);
        found |= word.and_then(config::classes_offset).is_some();
        !found
    });
    found
}

/// Reports an oracle that wraps one it must not wrap, because every cell would then fail.
fn judge_wrapping(oracle: &dyn Oracle, at: usize, node: &Node, out: &mut Vec<Diagnostic>) {
    let (mut outer, mut path, mut place) = (oracle, format!("method[{at}].oracle"), node);
    let mut entry = node.get("oracle");
    while let Some(source) = outer.source() {
        entry = entry.and_then(|table| table.get("source"));
        place = entry.unwrap_or(place);
        path += ".source";
        let layer = outer.properties().layer;
        // What does not say that it wraps decides for itself.
        if layer != Layer::Source && source.properties().layer <= layer {
            let message = format!(
                "must be an oracle that is further inside than {} in budget → cost → crowd → dont_know → \
                 noise → source, got {}",
                outer.typetag_name(),
                source.typetag_name()
            );
            let complaint = place.diagnostic(&path, message);
            // Methods of one entry share their oracle.
            if !out.contains(&complaint) {
                out.push(complaint);
            }
        }
        outer = source;
    }
}

/// Assumed number of questions if it depends on a method that has not run.
pub(crate) const ASSUMED_QUERIES: usize = 100;

/// An ensemble that methods may share.
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
    /// The same for the selector, without its questions.
    pub selector: f64,
    /// Bytes of one clustering and its selection, as the plugins declare.
    pub memory: u64,
    /// The ensembles that its clusterer shares.
    pub clusterer_ensembles: Vec<SharedEnsemble>,
    /// The ensembles that its selector shares.
    pub selector_ensembles: Vec<SharedEnsemble>,
}

impl Costs {
    /// Costs of a method with these sections on data of this shape. The memory is the maximum over these numbers of
    /// answers. `dataset` is the name of the data.
    pub fn new(
        dataset: &str,
        shape: &Shape,
        method: &Method,
        sections: &Value,
        answers: &[usize],
    ) -> Self {
        let before = cost_of_steps(method.prefix(), shape);
        let after = cost_of_steps(method.suffix(), &before.result);
        // There are no more answers than pairs.
        let pairs = shape.n * shape.n.saturating_sub(1) / 2;
        let answered = answers.iter().map(|p| Shape { constraints: *p.min(&pairs), ..*shape });
        let memory = answered.chain([*shape]).map(|shape| memory(method, &shape)).max();
        let shape = &after.result;
        // A generator that ignores constraints makes the same ensemble in every fold.
        let ensembles = |slot: &str| {
            let mut shared = Vec::new();
            visit_plugins(&sections[slot], &mut |d, table| {
                if d.role != Role::EnsembleGenerator {
                    return true;
                }
                let made = config::instantiate::<Box<dyn EnsembleGenerator>>(table.clone());
                if made.is_ok_and(|g| !g.properties().reads_constraints) {
                    let key = format!("{dataset}/{}", canonical(table));
                    shared.push(SharedEnsemble { key, effort: effort(table, None, shape) });
                }
                false
            });
            shared
        };
        // A shared ensemble is made once for all that need it.
        let own = |slot: &str, clusterer: Option<&dyn BaseClusterer>, shared: &[SharedEnsemble]| {
            let shared: f64 = shared.iter().map(|s| s.effort).sum();
            (effort(&sections[slot], clusterer, shape) - shared).max(0.0)
        };
        let (selector_ensembles, clusterer_ensembles) =
            (ensembles("selector"), ensembles("clusterer"));
        Costs {
            clusterer: own("clusterer", method.clusterer.as_deref(), &clusterer_ensembles)
                + before.operations
                + after.operations,
            selector: own("selector", None, &selector_ensembles),
            memory: memory.unwrap_or_default(),
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
fn declared(value: &Value, built: Option<&dyn BaseClusterer>, shape: &Shape) -> Option<f64> {
    match built {
        Some(clusterer) => clusterer.operations(shape),
        None => {
            config::instantiate::<Box<dyn BaseClusterer>>(value.clone()).ok()?.operations(shape)
        }
    }
}

/// Operations of one run of a tree of plugins. `built` is its root, if that is a clusterer. A clusterer counts as it
/// declares, otherwise as twenty sweeps. Restarts and members above multiply this. Good enough to start long
/// cells first.
fn effort(value: &Value, built: Option<&dyn BaseClusterer>, shape: &Shape) -> f64 {
    const SWEEPS: f64 = 20.0;
    /// Making and scoring one clustering, even a tiny one.
    const AT_LEAST: f64 = 3e5;
    /// Per pair of objects, as propagated constraints are read in every sweep.
    const PROPAGATED: f64 = 500.0;
    /// Limit of this estimate, because of many pairs only those near a constraint are propagated.
    const MOST_PROPAGATED: f64 = 1e9;
    let count = |key: &str| value.get(key).and_then(Value::as_u64).map_or(1.0, |v| v.max(1) as f64);
    let inner: f64 = match value {
        Value::Object(map) => map.values().map(|v| effort(v, None, shape)).sum(),
        Value::Array(items) => items.iter().map(|v| effort(v, None, shape)).sum(),
        _ => 0.0,
    };
    let Some(d) = plugin(value) else { return inner };
    let (entries, n) = (shape.entries as f64, shape.n as f64);
    // Without a given k, the shape has n.
    let k = (shape.k as f64).min(n.sqrt()) as usize;
    let own = match d.role {
        Role::BaseClusterer => match (declared(value, built, shape), inner == 0.0) {
            // This includes its starts.
            (Some(operations), _) => return (AT_LEAST + operations + inner) * count("members"),
            (None, true) => AT_LEAST + SWEEPS * shape.sweep(k),
            (None, false) => entries,
        },
        Role::ConstraintPropagator => (n * n * PROPAGATED).min(MOST_PROPAGATED),
        Role::Oracle | Role::Metric => 0.0,
        // The plugin that holds one declares its cost, because it knows the number of members.
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
            effort(&config, None, &shape) - effort(&generator, None, &shape)
        };
        for pairs in ["cspa", "evidence_accumulation"] {
            assert!(of(4000, 20, pairs) > 3.0 * of(2000, 20, pairs), "{pairs}");
        }
        assert!(of(2000, 200, "kcc") > 1.9 * of(2000, 100, "kcc"));
        // Two hundred members are compared with each other.
        assert!(of(2000, 200, "voting") > 3.0 * of(2000, 100, "voting"));
    }
}
