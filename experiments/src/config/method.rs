//! A method of a study: its plugins, built once; what it is on one data set; its mistakes.

use mustlink_config::tree::{plugin, visit_tables};
use mustlink_config::{self as config, Node};
use mustlink_core::Shape;
use mustlink_core::error::Diagnostic;
use mustlink_core::method::Method;
use mustlink_core::needs::check_size;
use mustlink_core::registry::Role;
use mustlink_core::roles::{ConsensusFunction, EnsembleGenerator, Layer, Oracle};
use serde_json::Value;

use crate::costs::{Costs, first_generator};

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
    /// Its plugins, on data of [`SOME_CLASSES`] classes. The check of the study reports an error.
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
    /// Its sections, `k` among them, as plain values without the name: what results depend on.
    pub config: Value,
    /// The first generator in its configuration.
    pub generator: Option<Box<dyn EnsembleGenerator>>,
    /// What it takes.
    pub costs: Costs,
}

/// A number of classes for checks that do not depend on it: `"classes-3"` is a number of clusters with it.
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

    /// Error if k counts down from the classes to below 1.
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

    /// The method on a data set of this shape and with so many classes, asked each of `numbers` of questions if it
    /// asks.
    pub(crate) fn on(
        &self,
        dataset: &str,
        shape: Shape,
        classes: Option<usize>,
        numbers: &[usize],
    ) -> Result<ResolvedMethod, Diagnostic> {
        let place = format!("method \"{}\" on data set \"{dataset}\"", self.id);
        let complaint = |message: String| Diagnostic::new("", &place, message);
        if classes.is_none() && self.mentions_classes() {
            let message = "k = \"classes\" needs a class column; name it by target under [[dataset]], or give a \
                           number or \"unknown\"";
            return Err(complaint(message.into()));
        }
        let (config, k) = self.sections(classes).map_err(complaint)?;
        let options = self.config.as_object().into_iter().flat_map(|map| map.values());
        let method = match options.into_iter().any(mentions_classes) {
            true => build(config.clone()),
            false => self.plugins.clone(),
        };
        let method = method.map_err(complaint)?;
        if let Some(oracle) = &method.oracle
            && oracle.properties().needs_labels
            && classes.is_none()
        {
            return Err(complaint(format!(
                "the oracle {} needs a class column; name it by target under [[dataset]], or take an oracle that \
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

    /// True if it reads the number of classes anywhere.
    pub(crate) fn mentions_classes(&self) -> bool {
        mentions_classes(&self.config)
    }

    /// The option at a path (`selector.super_instances`), with the path by its own name where an alias was
    /// given; `None` where the method has no such option.
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

/// True if `k` is said by the number of classes in a table of a tree.
fn mentions_classes(tree: &Value) -> bool {
    let mut found = false;
    visit_tables(tree, &mut |table| {
        let word = table.get("k").and_then(Value::as_str);
        found |= word.and_then(config::classes_offset).is_some();
        !found
    });
    found
}

/// An oracle around one that may not stand inside it: it cannot be opened, and every cell would fail.
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
            // The methods of one entry have one oracle.
            if !out.contains(&complaint) {
                out.push(complaint);
            }
        }
        outer = source;
    }
}
