//! What is there to do?
//!
//! An experiment on its data sets, laid out as cells (data set, method, repeat, fold) and the
//! selections they share. Which cells share a selection is decided by a key, which results belong
//! to a cell by its identity; neither decides what is drawn.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use mustlink::config;
use mustlink::context::Context;
use mustlink::ensemble::check_size;
use mustlink::error::Diagnostic;
use mustlink::method::Method;
use mustlink::random::SeedPath;
use mustlink::registry::{Catalogue, Role};
use mustlink::roles::{ConsensusFunction, EnsembleGenerator, RoleObject, Transform};
use mustlink::{Error, Problem, Result, Shape};
use serde_json::{Value, json};

use crate::config::{EnsemblePer, Experiment, MethodEntry};
use crate::data::{self, Prepared};
use crate::journal::PlanLine;

/// Schema of identities; raised when rows change their meaning.
const SCHEMA: u32 = 1;

/// A method made for one data set.
pub(crate) struct Bound {
    pub method: Method,
    pub k: Option<usize>,
    /// The resolved sections after k was put in, without the id.
    pub config: Value,
    pub ensemble: Option<String>,
    /// What tells apart the ensembles that its selector and its clusterer share with others.
    selector_ensembles: Vec<Shared>,
    clusterer_ensembles: Vec<Shared>,
    /// Operations of one clustering, roughly, without the ensembles it shares.
    pub effort: f64,
    /// The same for what the selector does besides asking.
    selector_effort: f64,
    /// Bytes of one clustering and its selection.
    pub memory: u64,
}

/// An ensemble that others may need as well.
pub(crate) struct Shared {
    /// What tells it apart.
    pub key: String,
    /// Operations of making it, roughly.
    pub effort: f64,
}

/// One cell.
pub(crate) struct Cell {
    pub dataset: usize,
    pub method: usize,
    pub repeat: usize,
    pub fold: usize,
    pub identity: String,
}

/// How many questions a selection puts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Budget {
    /// This many.
    Points,
    /// As many as it likes: others follow it.
    Open,
    /// As many as that selection put.
    Follow(usize),
}

/// A selection that cells share.
pub(crate) struct Node {
    pub dataset: usize,
    /// The first method that needs it; all that share it agree in what it reads.
    pub method: usize,
    pub repeat: usize,
    pub fold: usize,
    pub budget: Budget,
}

/// Everything there is to do.
pub(crate) struct Work {
    /// The data sets that are there.
    pub datasets: Vec<Prepared>,
    /// The place of each in the experiment.
    specs: Vec<usize>,
    /// By data set, then method.
    pub bound: Vec<Vec<Bound>>,
    /// In config order: data set, method, repeat, fold.
    pub cells: Vec<Cell>,
    /// The selection of each cell.
    pub selection_of: Vec<Option<usize>>,
    pub selections: Vec<Node>,
    /// Test objects by data set, repeat, fold.
    tests: Vec<Vec<Vec<Mask>>>,
}

/// Test objects of a fold; absent when nothing is held back.
type Mask = Option<Arc<[bool]>>;

/// The seed path of a data set.
pub(crate) fn dataset_path(experiment: &Experiment, dataset: &str) -> SeedPath {
    SeedPath::new(experiment.head.seed).child(dataset)
}

impl Work {
    /// Opens the data sets, builds the methods, lays out the cells.
    ///
    /// # Errors
    /// Data sets that cannot be read, all of them; methods that do not fit a data set.
    pub fn new(experiment: &Experiment, source: &data::Source) -> Result<Work> {
        let mut datasets = Vec::new();
        let mut specs = Vec::new();
        let mut failed = Vec::new();
        for (at, spec) in experiment.datasets.iter().enumerate() {
            match data::prepare(experiment, spec, source) {
                Ok(prepared) => {
                    datasets.push(prepared);
                    specs.push(at);
                }
                Err(_) if spec.optional => {}
                Err(e) => failed.push(e),
            }
        }
        match failed.len() {
            0 => {}
            1 => return Err(failed.remove(0)),
            _ => {
                let lines: Vec<String> = failed.iter().map(ToString::to_string).collect();
                return Err(Error::Data { place: "data sets".into(), message: lines.join("\n") });
            }
        }
        let mut out = Vec::new();
        let mut bound = Vec::new();
        for set in &datasets {
            let mut row = Vec::new();
            for at in 0..experiment.methods.len() {
                match bind(experiment, set, at) {
                    Ok(b) => row.push(b),
                    Err(d) => out.push(d),
                }
            }
            bound.push(row);
        }
        let mut tests = Vec::new();
        for set in &datasets {
            let path = dataset_path(experiment, &set.id);
            let mut repeats = Vec::new();
            for repeat in 0..experiment.split.repeats() {
                match experiment.split.tests(set.set.n(), set.labels(), &path, repeat) {
                    Ok(masks) => {
                        repeats
                            .push(masks.into_iter().map(|m| m.map(Arc::from)).collect::<Vec<_>>());
                    }
                    Err(e) => {
                        out.push(plain(&format!("dataset {}", set.id), e.to_string()));
                        break;
                    }
                }
            }
            tests.push(repeats);
        }
        if !out.is_empty() {
            return Err(Error::Config(out));
        }
        let mut work = Work {
            datasets,
            specs,
            bound,
            cells: Vec::new(),
            selection_of: Vec::new(),
            selections: Vec::new(),
            tests,
        };
        work.lay_out(experiment)?;
        Ok(work)
    }

    /// The test objects of a fold; `None` when nothing is held back.
    pub fn test(&self, dataset: usize, repeat: usize, fold: usize) -> Option<&Arc<[bool]>> {
        self.tests[dataset][repeat][fold].as_ref()
    }

    fn lay_out(&mut self, experiment: &Experiment) -> Result<()> {
        let reference = match experiment.points.numbers() {
            Ok(_) => None,
            Err(id) => experiment.methods.iter().position(|m| m.id == id),
        };
        let mut by_key: HashMap<String, usize> = HashMap::new();
        for dataset in 0..self.datasets.len() {
            let keys: Vec<Option<String>> = self.bound[dataset].iter().map(selection_key).collect();
            let identities: Vec<Value> = (0..experiment.methods.len())
                .map(|m| self.identity(experiment, dataset, m, reference))
                .collect::<Result<_>>()?;
            for method in 0..experiment.methods.len() {
                for repeat in 0..experiment.split.repeats() {
                    for fold in 0..experiment.split.folds() {
                        let mut identity = identities[method].clone();
                        identity["repeat"] = repeat.into();
                        identity["fold"] = fold.into();
                        let hash = blake3::hash(canonical(&identity).as_bytes()).to_hex();
                        let place = [dataset, repeat, fold];
                        let selection = keys[method].as_ref().map(|key| {
                            let leads = reference.is_some_and(|r| keys[r].as_ref() == Some(key));
                            let budget = match reference {
                                None => Budget::Points,
                                Some(_) if leads => Budget::Open,
                                Some(r) => Budget::Follow(self.select(
                                    &mut by_key,
                                    keys[r].as_deref().unwrap_or_default(),
                                    place,
                                    r,
                                    Budget::Open,
                                )),
                            };
                            self.select(&mut by_key, key, place, method, budget)
                        });
                        // Without a question of its own, a method still waits to hear how many
                        // the reference asked.
                        let selection = selection.or_else(|| {
                            let r = reference?;
                            let key = keys[r].clone()?;
                            Some(self.select(&mut by_key, &key, place, r, Budget::Open))
                        });
                        self.selection_of.push(selection);
                        self.cells.push(Cell {
                            dataset,
                            method,
                            repeat,
                            fold,
                            identity: hash[..16].to_string(),
                        });
                    }
                }
            }
        }
        Ok(())
    }

    fn select(
        &mut self,
        by_key: &mut HashMap<String, usize>,
        key: &str,
        [dataset, repeat, fold]: [usize; 3],
        method: usize,
        budget: Budget,
    ) -> usize {
        let selections = &mut self.selections;
        *by_key.entry(format!("{dataset}/{repeat}/{fold}/{key}")).or_insert_with(|| {
            selections.push(Node { dataset, method, repeat, fold, budget });
            selections.len() - 1
        })
    }

    fn identity(
        &self,
        experiment: &Experiment,
        dataset: usize,
        method: usize,
        reference: Option<usize>,
    ) -> Result<Value> {
        let set = &self.datasets[dataset];
        let spec = &experiment.datasets[self.specs[dataset]];
        let bound = &self.bound[dataset][method];
        let curve = match reference {
            None => json!(experiment.points.numbers().unwrap_or_default()),
            Some(r) => json!({ "from_run": self.bound[dataset][r].config }),
        };
        let scoring = serde_json::to_value(&experiment.scoring)
            .map_err(|e| Error::Data { place: "scoring".into(), message: e.to_string() })?;
        let mut versions = BTreeMap::new();
        for tree in [&bound.config, &scoring, &spec.transforms, &curve] {
            collect_versions(tree, &mut versions)?;
        }
        let mut identity = json!({
            "schema": SCHEMA,
            "dataset": {
                "id": set.id, "digest": set.digest, "target": set.target,
                "class_sizes": spec.class_sizes, "transforms": spec.transforms,
                "constraints": set.given.digest(),
            },
            "split": experiment.split,
            "method": bound.config,
            "curve": curve,
            "scoring": scoring,
            "seed": experiment.head.seed,
            "versions": versions,
        });
        if experiment.head.ensemble_per == EnsemblePer::Repeat {
            identity["ensemble_per"] = json!("repeat");
        }
        Ok(identity)
    }

    /// Which file belongs to which cell.
    pub fn plan_lines(&self, experiment: &Experiment) -> Vec<PlanLine> {
        let line = |c: &Cell| PlanLine {
            dataset: self.datasets[c.dataset].id.clone(),
            method: experiment.methods[c.method].id.clone(),
            repeat: c.repeat,
            fold: c.fold,
            identity: c.identity.clone(),
        };
        self.cells.iter().map(line).collect()
    }

    /// The ensembles that a cell needs and others may need as well.
    pub fn ensembles_of_cell(&self, cell: usize) -> &[Shared] {
        let c = &self.cells[cell];
        &self.bound[c.dataset][c.method].clusterer_ensembles
    }

    /// The ensembles that a selection needs and others may need as well.
    pub fn ensembles_of_selection(&self, selection: usize) -> &[Shared] {
        let s = &self.selections[selection];
        &self.bound[s.dataset][s.method].selector_ensembles
    }

    /// Operations of one cell, roughly.
    pub fn cell_effort(&self, cell: usize, points: usize) -> f64 {
        let c = &self.cells[cell];
        let bound = &self.bound[c.dataset][c.method];
        // Without questions every point of the curve is the same run.
        let runs = match bound.method.selector {
            Some(_) if bound.method.clusterer.is_some() => points,
            _ => 1,
        };
        bound.effort * runs.max(1) as f64
    }

    /// Operations of making every shared ensemble once, roughly.
    pub fn ensemble_effort(&self) -> f64 {
        let all = self.bound.iter().flatten();
        let shared = all.flat_map(|b| b.selector_ensembles.iter().chain(&b.clusterer_ensembles));
        shared.map(|s| (&s.key, s.effort)).collect::<BTreeMap<_, _>>().values().sum()
    }

    /// Operations of one selection, roughly.
    pub fn selection_effort(&self, selection: usize, queries: usize) -> f64 {
        let node = &self.selections[selection];
        let bound = &self.bound[node.dataset][node.method];
        let data = &self.datasets[node.dataset].set.data;
        let asks = (queries.max(1) * data.entries()) as f64;
        let between =
            bound.method.selector.as_ref().is_some_and(|s| s.properties().needs_clustering);
        asks + bound.selector_effort
            + if between { bound.effort * queries as f64 / 10.0 } else { 0.0 }
    }
}

fn plain(path: &str, message: String) -> Diagnostic {
    Diagnostic { source: String::new(), position: None, span: None, path: path.into(), message }
}

fn bind(experiment: &Experiment, set: &Prepared, at: usize) -> Result<Bound, Diagnostic> {
    let spec = &experiment.methods[at];
    let place = format!("method \"{}\" on data set \"{}\"", spec.id, set.id);
    let mut config = spec.config.clone();
    if set.set.classes.is_none() && mentions_classes(&config) {
        let message = "k = \"classes\" needs a class column; give a number or \"unknown\"";
        return Err(plain(&place, message.into()));
    }
    config::substitute_k(&mut config, set.set.k());
    let entry: MethodEntry =
        config::instantiate(config.clone()).map_err(|message| plain(&place, message))?;
    if let Some(map) = config.as_object_mut() {
        map.remove("id");
    }
    let (k, method) = (entry.k, entry.into_method());
    if let Some(oracle) = &method.oracle
        && oracle.properties().needs_labels
        && set.set.classes.is_none()
    {
        let message = format!("the oracle {} needs a class column", oracle.typetag_name());
        return Err(plain(&place, message));
    }
    let shape = Shape {
        n: set.set.n(),
        d: set.set.d(),
        k: k.unwrap_or(1),
        entries: set.set.data.entries(),
        constraints: 0,
    };
    let transforms =
        |t: &[Box<dyn Transform>]| t.iter().map(|t| t.memory(&shape)).max().unwrap_or(0);
    let memory = method.clusterer.as_ref().map_or(0, |c| c.memory(&shape))
        + method.selector.as_ref().map_or(0, |s| s.memory(&shape))
        + transforms(&method.transforms);
    let clusterer = serde_json::to_value(&method.clusterer).unwrap_or_default();
    let consensus = &clusterer["consensus"];
    if descriptor(consensus).is_some_and(|d| d.role == Role::ConsensusFunction)
        && let Ok(consensus) = <dyn ConsensusFunction as RoleObject>::from_value(consensus.clone())
    {
        // Before any member is made.
        check_size(shape.n, &*consensus).map_err(|e| plain(&place, e.to_string()))?;
    }
    let ensembles = |slot: &str| {
        let mut found = Vec::new();
        shared_generators(&config[slot], &mut found);
        let shared = |g: &&Value| Shared {
            key: format!("{}/{}", set.id, canonical(g)),
            effort: effort(g, &shape),
        };
        found.iter().map(shared).collect::<Vec<_>>()
    };
    // What is shared is made once, whoever needs it.
    let own = |slot: &str, shared: &[Shared]| {
        let shared: f64 = shared.iter().map(|s| s.effort).sum();
        (effort(&config[slot], &shape) - shared).max(0.0)
    };
    let (selector_ensembles, clusterer_ensembles) = (ensembles("selector"), ensembles("clusterer"));
    let ensemble = first_generator(&config).and_then(descriptor).map(|d| d.tag.to_string());
    Ok(Bound {
        effort: own("clusterer", &clusterer_ensembles) + effort(&config["transforms"], &shape),
        selector_effort: own("selector", &selector_ensembles),
        selector_ensembles,
        clusterer_ensembles,
        k,
        ensemble,
        memory,
        method,
        config,
    })
}

fn mentions_classes(value: &Value) -> bool {
    match value {
        Value::Object(map) => {
            map.get("k").and_then(Value::as_str) == Some("classes")
                || map.values().any(mentions_classes)
        }
        Value::Array(items) => items.iter().any(mentions_classes),
        _ => false,
    }
}

/// Everything a selection reads, apart from data set, repeat and fold.
fn selection_key(bound: &Bound) -> Option<String> {
    let selector = bound.method.selector.as_ref()?;
    let prefix = bound.method.prefix().len();
    let transforms = bound.config["transforms"].as_array().cloned().unwrap_or_default();
    let mut key = json!({
        "transforms": transforms[..prefix.min(transforms.len())],
        "k": bound.k,
        "selector": bound.config["selector"],
        "oracle": bound.config["oracle"],
    });
    if selector.properties().needs_clustering {
        key["clusterer"] = bound.config["clusterer"].clone();
        key["suffix"] = json!(transforms[prefix.min(transforms.len())..]);
    }
    Some(canonical(&key))
}

fn descriptor(value: &Value) -> Option<&'static mustlink::registry::Descriptor> {
    let tag = value.get("type").and_then(Value::as_str)?;
    Catalogue::get().ok()?.find(tag)
}

fn collect_versions(value: &Value, out: &mut BTreeMap<String, u32>) -> Result<()> {
    if let Some(d) = descriptor(value) {
        out.insert(d.tag.into(), d.version);
    }
    match value {
        Value::Object(map) => map.values().try_for_each(|v| collect_versions(v, out)),
        Value::Array(items) => items.iter().try_for_each(|v| collect_versions(v, out)),
        _ => Ok(()),
    }
}

/// The generators in a tree that read no constraints: what they make is the same in every fold.
fn shared_generators<'a>(value: &'a Value, out: &mut Vec<&'a Value>) {
    if descriptor(value).is_some_and(|d| d.role == Role::EnsembleGenerator) {
        let made = config::instantiate::<Box<dyn EnsembleGenerator>>(value.clone());
        if made.is_ok_and(|g| !g.properties().reads_constraints) {
            out.push(value);
        }
        return;
    }
    match value {
        Value::Object(map) => map.values().for_each(|v| shared_generators(v, out)),
        Value::Array(items) => items.iter().for_each(|v| shared_generators(v, out)),
        _ => {}
    }
}

/// The first ensemble generator in a configuration.
pub(crate) fn first_generator(value: &Value) -> Option<&Value> {
    if descriptor(value).is_some_and(|d| d.role == Role::EnsembleGenerator) {
        return Some(value);
    }
    match value {
        Value::Object(map) => map.values().find_map(first_generator),
        Value::Array(items) => items.iter().find_map(first_generator),
        _ => None,
    }
}

/// Operations of running a tree once: twenty sweeps for whatever clusters, times restarts and
/// members on the way down. Good enough to start long cells first.
fn effort(value: &Value, shape: &Shape) -> f64 {
    const SWEEPS: f64 = 20.0;
    let count = |key: &str| value.get(key).and_then(Value::as_u64).map_or(1.0, |v| v.max(1) as f64);
    let inner: f64 = match value {
        Value::Object(map) => map.values().map(|v| effort(v, shape)).sum(),
        Value::Array(items) => items.iter().map(|v| effort(v, shape)).sum(),
        _ => 0.0,
    };
    let Some(d) = descriptor(value) else { return inner };
    let own = match d.role {
        Role::BaseClusterer if inner == 0.0 => shape.entries as f64 * shape.k as f64 * SWEEPS,
        Role::Oracle | Role::Metric => 0.0,
        _ => shape.entries as f64,
    };
    (own + inner) * count("restarts") * count("members")
}

/// JSON with sorted keys and no spaces; integers as integers, floats by shortest round trip.
pub(crate) fn canonical(value: &Value) -> String {
    fn write(value: &Value, out: &mut String) {
        match value {
            Value::Object(map) => {
                let sorted: BTreeMap<&String, &Value> = map.iter().collect();
                out.push('{');
                for (at, (key, v)) in sorted.into_iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    out.push_str(&Value::from(key.as_str()).to_string());
                    out.push(':');
                    write(v, out);
                }
                out.push('}');
            }
            Value::Array(items) => {
                out.push('[');
                for (at, v) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    write(v, out);
                }
                out.push(']');
            }
            other => out.push_str(&other.to_string()),
        }
    }
    let mut out = String::new();
    write(value, &mut out);
    out
}

/// The problem of a fold as every method gets it: all objects, training objects eligible, given
/// constraints that touch a test object left out (their number comes second).
pub(crate) fn problem(
    set: &Prepared,
    k: Option<usize>,
    test: Option<&Arc<[bool]>>,
) -> (Problem, usize) {
    let mut problem =
        Problem { k, constraints: set.given.clone(), ..Problem::new(set.set.data.clone()) };
    let Some(test) = test else { return (problem, 0) };
    problem.eligible = Some(test.iter().map(|t| !t).collect());
    let (inside, left_out) = set.given.within(|i| !test[i]);
    if left_out > 0 {
        problem.constraints = Arc::new(inside);
    }
    (problem, left_out)
}

/// A context at a place of a run.
pub(crate) fn context(
    experiment: &Experiment,
    dataset: &str,
    repeat: usize,
    fold: usize,
) -> mustlink::context::ContextBuilder {
    Context::builder(dataset_path(experiment, dataset).index(repeat).index(fold))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_json_sorts_and_keeps_kinds() {
        let value = json!({ "b": [1, 1.0, 0.1, null, true], "a": { "z": "\"q\"", "y": {} } });
        assert_eq!(canonical(&value), r#"{"a":{"y":{},"z":"\"q\""},"b":[1,1.0,0.1,null,true]}"#);
    }
}
