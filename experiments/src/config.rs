//! What does an experiment file say?
//!
//! The sections of the file as types, and the way from text to an [`Experiment`]: method files are
//! read in, `"same:<method id>"` is copied, lists that stand for single values are expanded into
//! methods of their own, everything is checked at once, and every default is written out.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use mustlink::config::{self, Check, Document, Node, NodeKind, without_null};
use mustlink::error::Diagnostic;
use mustlink::method::Method;
use mustlink::registry::{self, Catalogue};
use mustlink::roles::{BaseClusterer, Metric, Oracle, QuerySelector, Transform};
use mustlink::selection::View;
use mustlink::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::split::Split;
use crate::stats::Unit;
use crate::verdict::{self, Criterion};

/// An experiment file.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExperimentFile {
    /// Name, seed, description.
    pub experiment: Head,
    /// The data sets.
    pub dataset: Vec<DatasetEntry>,
    /// What is held back for scoring.
    #[serde(default)]
    pub split: Split,
    /// The methods. A list where an option wants one value stands for one method per value.
    #[serde(default)]
    pub method: Vec<MethodEntry>,
    /// Where on the way the methods are looked at.
    #[serde(default)]
    pub curve: Curve,
    /// How results are scored.
    #[serde(default)]
    pub scoring: Scoring,
    /// How scores are summarised.
    #[serde(default)]
    pub stats: Stats,
    /// How the work is done; changes no score.
    #[serde(default)]
    pub run: RunSection,
    /// The claims that the report judges.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criterion: Vec<Criterion>,
}

/// What an experiment is called and where its random numbers start.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// Name, shown in tables and figures.
    pub name: String,
    /// Seed of every random number.
    #[serde(default)]
    pub seed: u64,
    /// What the experiment is about.
    #[serde(default)]
    pub description: String,
    /// How often an ensemble is made.
    #[serde(default)]
    pub ensemble_per: EnsemblePer,
}

/// How often an ensemble that reads no constraints is made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EnsemblePer {
    /// Once for a data set: all repeats and folds share it.
    #[default]
    Dataset,
    /// Once for each repeat.
    Repeat,
}

/// One data set of an experiment.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DatasetEntry {
    /// A built-in set, a set in the data directory; or any name, when `path` says where it is.
    pub id: String,
    /// A file, relative to the experiment file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The built-in set or the set in the data directory that this is a version of; absent: `id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Leave it out where it cannot be read; the report says that it is missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
    /// Which of several class columns is the truth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Objects to keep per class, drawn at random: `{ benign = 239 }`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class_sizes: Option<std::collections::BTreeMap<String, usize>>,
    /// A file of constraints `i,j,type,weight`, relative to the experiment file; ids where the data
    /// set has them, else row numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraints: Option<String>,
    /// Steps before everything else; those that drop or merge rows stand only here.
    #[serde(default)]
    pub transforms: Vec<Box<dyn Transform>>,
}

/// One method of an experiment.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MethodEntry {
    /// Name in tables and figures, unique.
    pub id: String,
    /// Number of clusters; `"classes"`: the number of classes; `"unknown"`: not given.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub k: Option<usize>,
    /// Steps that change the data, in order.
    #[serde(default)]
    pub transforms: Vec<Box<dyn Transform>>,
    /// What groups the objects. Absent: the selector's own clustering.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clusterer: Option<Box<dyn BaseClusterer>>,
    /// What decides which pairs are asked. Absent: nothing is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<Box<dyn QuerySelector>>,
    /// Who answers; `truth` where a selector asks and nobody is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oracle: Option<Box<dyn Oracle>>,
    /// Which constraints of the selection reach the clusterer.
    #[serde(default)]
    pub view: View,
}

impl MethodEntry {
    /// The method without its name and k.
    pub fn into_method(self) -> Method {
        let MethodEntry { transforms, clusterer, selector, oracle, view, .. } = self;
        Method { transforms, clusterer, selector, oracle, view }
    }
}

/// Where on the way a method is looked at.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Curve {
    /// Numbers of answered queries, ascending.
    pub points: Points,
}

/// Numbers of answered queries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Points {
    /// These.
    List(Vec<usize>),
    /// From, to (included where the step meets it), step.
    Range(Range),
    /// `from_run(<method id>)`: as many as that method asked in the same repeat and fold.
    FromRun(String),
}

/// Evenly spaced numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// The first.
    #[serde(default)]
    pub from: usize,
    /// The last, if a step meets it.
    pub to: usize,
    /// The distance.
    #[schemars(range(min = 1))]
    pub step: usize,
}

impl Default for Points {
    fn default() -> Self {
        Points::List(vec![0])
    }
}

impl Points {
    /// The numbers, or the id of the method that decides.
    pub fn numbers(&self) -> std::result::Result<Vec<usize>, &str> {
        match self {
            Points::List(list) => Ok(list.clone()),
            Points::Range(r) => Ok((r.from..=r.to).step_by(r.step.max(1)).collect()),
            Points::FromRun(text) => {
                let id = text.strip_prefix("from_run(").and_then(|t| t.strip_suffix(')'));
                Err(id.unwrap_or(text).trim())
            }
        }
    }
}

/// Which objects are scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The objects held back (all, when none are).
    #[default]
    Test,
    /// The objects that may be asked about.
    Train,
    /// Every object.
    All,
}

/// Which pairs are left out of pair counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Exclude {
    /// The pairs given or asked.
    Explicit,
    /// None.
    #[default]
    None,
}

/// How results are scored.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Scoring {
    /// The scores, in the order of the columns.
    pub metrics: Vec<Box<dyn Metric>>,
    /// Which objects are scored.
    pub scope: Scope,
    /// Which pairs are left out of pair counts.
    pub exclude_constrained: Exclude,
}

impl Default for Scoring {
    /// `ari` and `nmi_arith`, where they are linked.
    fn default() -> Self {
        let build = |tag| registry::build_default::<dyn Metric>(tag).ok();
        let metrics = ["ari", "nmi_arith"].into_iter().filter_map(build).collect();
        Scoring { metrics, scope: Scope::default(), exclude_constrained: Exclude::default() }
    }
}

/// How scores are summarised.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Stats {
    /// Confidence of intervals.
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub level: f64,
    /// What counts as one observation.
    pub unit: Unit,
    /// Numbers of a row to summarise beside the metrics: what a clusterer tells of itself
    /// (`propagated`), or a column of results.csv (`time_cluster_s`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<String>,
}

impl Default for Stats {
    fn default() -> Self {
        Stats { level: 0.95, unit: Unit::default(), records: Vec::new() }
    }
}

/// How the work is done. Nothing here changes a score.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RunSection {
    /// Threads; absent: one per core.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub threads: Option<usize>,
    /// Seconds after which a cell is given up.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub cell_timeout_s: Option<f64>,
    /// Store the labels of every curve point beside its scores.
    pub keep_labels: bool,
}

/// One method, checked, with every default written out.
#[derive(Debug, Clone)]
pub struct MethodSpec {
    /// Its name.
    pub id: String,
    /// Its sections as plain values; `k` may still be `"classes"` or `"unknown"`.
    pub config: Value,
}

/// A checked experiment.
#[derive(Debug)]
pub struct Experiment {
    /// Name, seed, description.
    pub head: Head,
    /// The data sets, in order; their transforms are built per data set.
    pub datasets: Vec<DatasetSpec>,
    /// The methods, in order, axes expanded.
    pub methods: Vec<MethodSpec>,
    /// What is held back.
    pub split: Split,
    /// Where on the way the methods are looked at.
    pub points: Points,
    /// How results are scored.
    pub scoring: Scoring,
    /// How scores are summarised.
    pub stats: Stats,
    /// How the work is done.
    pub run: RunSection,
    /// The claims that the report judges.
    pub criteria: Vec<Criterion>,
    columns: Vec<String>,
    resolved: Value,
    base: PathBuf,
}

/// One data set, checked.
#[derive(Debug, Clone)]
pub struct DatasetSpec {
    /// Its name.
    pub id: String,
    /// Where it is, if not found by name.
    pub path: Option<String>,
    /// The name it is found by, if not its own.
    pub source: Option<String>,
    /// Whether the experiment goes on without it.
    pub optional: bool,
    /// Which class column is the truth.
    pub target: Option<String>,
    /// Objects to keep per class.
    pub class_sizes: Option<std::collections::BTreeMap<String, usize>>,
    /// File of given constraints.
    pub constraints: Option<String>,
    /// Its transforms as plain values.
    pub transforms: Value,
}

/// More methods than this from the lists of one entry are taken for a slip.
const MAX_EXPANDED: usize = 10_000;

impl Experiment {
    /// Reads and checks an experiment file after carrying out `sets` (`a.b[0].c=value`).
    ///
    /// # Errors
    /// `Config` with every complaint, each with its place.
    pub fn load(path: &Path, sets: &[String]) -> Result<Experiment> {
        let base = path.parent().map(Path::to_path_buf).unwrap_or_default();
        Experiment::from_document(Document::read(path)?, &base, sets)
    }

    /// Checks an experiment given as text; relative paths start at `base`.
    ///
    /// # Errors
    /// As [`Experiment::load`].
    pub fn parse(name: &str, text: &str, base: &Path, sets: &[String]) -> Result<Experiment> {
        Experiment::from_document(Document::parse(name, text)?, base, sets)
    }

    /// The experiment as plain values with every default written out.
    pub fn resolved(&self) -> &Value {
        &self.resolved
    }

    /// The experiment as TOML with every default written out.
    pub fn resolved_toml(&self) -> String {
        toml::to_string(&without_null(&self.resolved)).unwrap_or_default()
    }

    /// Where relative paths start.
    pub fn base(&self) -> &Path {
        &self.base
    }

    /// Column names of the metrics, in order: the tag; with an option where a tag comes twice.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Columns of the metrics, then the numbers summarised beside them.
    pub fn measured(&self) -> Vec<String> {
        self.columns.iter().chain(&self.stats.records).cloned().collect()
    }

    /// The experiment a results directory belongs to.
    ///
    /// # Errors
    /// `Data` when it is no results directory; otherwise as [`Experiment::load`].
    pub fn from_directory(dir: &Path) -> Result<Experiment> {
        let (base, resolved) = crate::journal::read_config(dir)?;
        let name = dir.join("config.json").display().to_string();
        Experiment::parse(&name, &resolved.to_string(), &base, &[])
    }

    fn from_document(mut document: Document, base: &Path, sets: &[String]) -> Result<Experiment> {
        let mut out = Vec::new();
        for set in sets {
            if let Err(e) = document.set(set) {
                collect(e, &mut out);
            }
        }
        let root = document.root_mut();
        let mut methods = take_methods(root, base, &mut out);
        config::validate::<ExperimentFile>(
            root,
            "",
            Check { classes: true, axes: false },
            &mut out,
        );
        copy_same(&mut methods, &mut out);
        let mut expanded = Vec::new();
        for (at, node) in methods.into_iter().enumerate() {
            expand(node, at, &mut expanded, &mut out);
        }
        for (at, node) in &mut expanded {
            fill(node);
            let path = format!("method[{at}]");
            config::validate::<MethodEntry>(
                node,
                &path,
                Check { classes: true, axes: false },
                &mut out,
            );
        }
        if out.is_empty() {
            return Experiment::build(root, &expanded, base);
        }
        // One slip in a copied section is one complaint.
        let mut seen = BTreeSet::new();
        out.retain(|d| {
            let place =
                d.position.map(|p| (d.source.clone(), p)).unwrap_or((d.path.clone(), (0, 0)));
            seen.insert((place, d.message.clone()))
        });
        Err(Error::Config(out))
    }

    fn build(root: &Node, methods: &[(usize, Node)], base: &Path) -> Result<Experiment> {
        let mut resolved = config::resolve::<ExperimentFile>(root)?;
        let mut specs = Vec::with_capacity(methods.len());
        for (_, node) in methods {
            let mut config = config::resolve::<MethodEntry>(node)?;
            let map = config.as_object_mut().expect("a validated method is a table");
            let id = map.get("id").and_then(Value::as_str).unwrap_or_default().to_string();
            specs.push(MethodSpec { id, config });
        }
        let list = specs.iter().map(|m| m.config.clone()).collect();
        resolved["method"] = Value::Array(list);
        let section = |name: &str| resolved.get(name).cloned().unwrap_or_else(|| json!({}));
        fn read<T: for<'a> Deserialize<'a>>(root: &Node, name: &str, value: Value) -> Result<T> {
            config::instantiate(value).map_err(|e| {
                Error::Config(vec![root.get(name).unwrap_or(root).diagnostic(name, e)])
            })
        }
        let datasets = section("dataset")
            .as_array()
            .into_iter()
            .flatten()
            .enumerate()
            .map(|(at, value)| {
                let mut value = value.clone();
                let transforms = value["transforms"].take();
                let place = format!("dataset[{at}]");
                let entry: DatasetEntry = read(root, &place, {
                    value["transforms"] = json!([]);
                    value
                })?;
                let DatasetEntry {
                    id,
                    path,
                    source,
                    optional,
                    target,
                    class_sizes,
                    constraints,
                    ..
                } = entry;
                Ok(DatasetSpec {
                    id,
                    path,
                    source,
                    optional,
                    target,
                    class_sizes,
                    constraints,
                    transforms,
                })
            })
            .collect::<Result<Vec<_>>>()?;
        let mut curve = section("curve");
        if root.get("curve").is_none() {
            curve = json!({});
        }
        let scoring: Scoring = read(root, "scoring", section("scoring"))?;
        let experiment = Experiment {
            columns: metric_columns(&scoring.metrics),
            head: read(root, "experiment", section("experiment"))?,
            datasets,
            methods: specs,
            split: read(root, "split", section("split"))?,
            points: read::<Curve>(root, "curve", curve)?.points,
            scoring,
            stats: read(root, "stats", section("stats"))?,
            run: read(root, "run", section("run"))?,
            criteria: match resolved.get("criterion") {
                Some(list) => read(root, "criterion", list.clone())?,
                None => Vec::new(),
            },
            resolved: Value::Null,
            base: base.to_path_buf(),
        };
        let mut out = Vec::new();
        experiment.judge(root, methods, &mut out);
        match out.is_empty() {
            true => Ok(Experiment { resolved, ..experiment }),
            false => Err(Error::Config(out)),
        }
    }

    /// What no schema can say.
    fn judge(&self, root: &Node, methods: &[(usize, Node)], out: &mut Vec<Diagnostic>) {
        if self.datasets.is_empty() {
            out.push(root.diagnostic("dataset", "needs at least one data set"));
        }
        let entries = root.get("dataset").map_or(&[][..], Node::items);
        let mut seen = BTreeSet::new();
        for (at, (dataset, node)) in self.datasets.iter().zip(entries).enumerate() {
            let path = format!("dataset[{at}].id");
            unique(&dataset.id, node, &path, &mut seen, out);
            let mut steps = dataset.transforms.clone();
            config::substitute_k(&mut steps, Some(2));
            match config::instantiate::<Vec<Box<dyn Transform>>>(steps) {
                Ok(steps) => {
                    for (t, step) in
                        steps.iter().enumerate().filter(|(_, s)| s.properties().reads_constraints)
                    {
                        let tag = step.typetag_name();
                        let path = format!("dataset[{at}].transforms[{t}]");
                        let message = format!("{tag} reads constraints; put it under [[method]]");
                        out.push(node.diagnostic(&path, message));
                    }
                }
                Err(e) => out.push(node.diagnostic(&format!("dataset[{at}].transforms"), e)),
            }
        }
        if self.methods.is_empty() {
            out.push(root.diagnostic("method", "needs at least one method"));
        }
        let mut seen = BTreeSet::new();
        let mut asks = false;
        for (spec, (at, node)) in self.methods.iter().zip(methods) {
            unique(&spec.id, node, &format!("method[{at}].id"), &mut seen, out);
            let mut config = spec.config.clone();
            // Any number will do here: only properties are read.
            config::substitute_k(&mut config, Some(2));
            match config::instantiate::<MethodEntry>(config) {
                Ok(entry) => {
                    asks |= entry.selector.is_some();
                    judge_method(&entry.into_method(), *at, node, out);
                }
                Err(e) => out.push(node.diagnostic(&format!("method[{at}]"), e)),
            }
        }
        if self.scoring.metrics.is_empty() {
            let node = root.get("scoring").unwrap_or(root);
            out.push(node.diagnostic("scoring.metrics", "needs at least one metric"));
        }
        for (at, name) in self.stats.records.iter().enumerate() {
            if self.columns.contains(name) || self.stats.records[..at].contains(name) {
                let node = root.get("stats").unwrap_or(root);
                out.push(node.diagnostic("stats.records", format!("\"{name}\" comes twice")));
            }
        }
        let criteria = root.get("criterion").map_or(&[][..], Node::items);
        out.extend(verdict::complaints(self, |at, key, message| {
            let node = criteria.get(at).unwrap_or(root);
            let path = format!("criterion[{at}].{key}");
            node.get(key).unwrap_or(node).diagnostic(&path, message)
        }));
        let curve = root.get("curve").unwrap_or(root);
        let complain = |message: String| curve.diagnostic("curve.points", message);
        match self.points.numbers() {
            Ok(points) if points.is_empty() => {
                out.push(complain("needs at least one point".into()))
            }
            Ok(points) if points.windows(2).any(|w| w[0] >= w[1]) => {
                out.push(complain("must ascend, each point once".into()));
            }
            Ok(_) if asks && root.get("curve").is_none() => {
                out.push(complain(
                    "missing, but methods ask; for example points = [0, 10, 20]".into(),
                ));
            }
            Ok(_) => {}
            Err(id) => match self.methods.iter().find(|m| m.id == id) {
                Some(m) if m.config.get("selector").is_none() => {
                    out.push(complain(format!("from_run({id}): that method asks nothing")));
                }
                Some(_) => {}
                None => {
                    let near = registry::suggestion(id, self.methods.iter().map(|m| m.id.as_str()));
                    let message = format!(
                        "must be a list, a table {{ from, to, step }} or \"from_run(<method id>)\", got \"{id}\"{near}"
                    );
                    out.push(complain(message));
                }
            },
        }
    }
}

fn judge_method(method: &Method, at: usize, node: &Node, out: &mut Vec<Diagnostic>) {
    let mut complain = |key: &str, message: String| {
        out.push(node.get(key).unwrap_or(node).diagnostic(&format!("method[{at}].{key}"), message));
    };
    for (t, step) in
        method.transforms.iter().enumerate().filter(|(_, s)| s.properties().changes_rows)
    {
        let tag = step.typetag_name();
        complain(
            "transforms",
            format!("[{t}] {tag} drops or merges rows; put it under [[dataset]]"),
        );
    }
    match (&method.clusterer, &method.selector) {
        (None, None) => complain("clusterer", "a method needs a clusterer".into()),
        (None, Some(s)) if !s.properties().self_clustering => {
            complain(
                "clusterer",
                format!("{} only selects; a clusterer is needed", s.typetag_name()),
            );
        }
        _ => {}
    }
    if let (None, Some(oracle)) = (&method.selector, &method.oracle) {
        complain(
            "oracle",
            format!("{} is never asked: the method has no selector", oracle.typetag_name()),
        );
    }
    if let Some(oracle) = method.oracle.as_ref().filter(|o| o.properties().interactive) {
        let tag = oracle.typetag_name();
        complain("oracle", format!("{tag} needs a person; experiments ask simulated oracles only"));
    }
}

fn unique(
    id: &str,
    node: &Node,
    path: &str,
    seen: &mut BTreeSet<String>,
    out: &mut Vec<Diagnostic>,
) {
    if id.trim().is_empty() {
        out.push(node.diagnostic(path, "must not be empty"));
    } else if !seen.insert(id.to_string()) {
        out.push(node.diagnostic(path, format!("\"{id}\" comes twice; ids are unique")));
    }
}

fn collect(error: Error, out: &mut Vec<Diagnostic>) {
    match error {
        Error::Config(list) => out.extend(list),
        other => out.push(Diagnostic {
            source: String::new(),
            position: None,
            span: None,
            path: String::new(),
            message: other.to_string(),
        }),
    }
}

/// Takes the methods out of the tree and reads in those that stand in files of their own.
fn take_methods(root: &mut Node, base: &Path, out: &mut Vec<Diagnostic>) -> Vec<Node> {
    let Some(list) = root.remove("method") else { return Vec::new() };
    if !matches!(list.kind, NodeKind::Array(_)) {
        out.push(list.diagnostic("method", "must be a list of tables; write [[method]]"));
        return Vec::new();
    }
    let mut methods = list.items().to_vec();
    for (at, node) in methods.iter_mut().enumerate() {
        let Some(file) = node.remove("file") else { continue };
        let path = format!("method[{at}].file");
        let Some(name) = file.as_str() else {
            out.push(file.diagnostic(&path, "must be the name of a method file"));
            continue;
        };
        match Document::read(&base.join(name)) {
            Ok(document) => {
                let mut whole = document.root().clone();
                // A seed in a method file is for running it alone.
                whole.remove("seed");
                for entry in whole.entries() {
                    underlay(node, &entry.key, &entry.node);
                }
            }
            Err(e) => collect(e, out),
        }
    }
    methods
}

/// Puts what a method file says under what the experiment says: the experiment wins, tables are
/// joined unless the experiment names another plugin.
fn underlay(over: &mut Node, key: &str, under: &Node) {
    let Some(there) = over.get_mut(key) else {
        over.insert(key, under.clone());
        return;
    };
    let tables = matches!((&there.kind, &under.kind), (NodeKind::Table(_), NodeKind::Table(_)));
    let kind = |n: &Node| n.get("type").and_then(Node::as_str).map(str::to_string);
    if tables && (kind(there).is_none() || kind(there) == kind(under)) {
        for entry in under.entries() {
            underlay(there, &entry.key, &entry.node);
        }
    }
}

/// Replaces `"same:<method id>"` by that method's section of the same name.
fn copy_same(methods: &mut [Node], out: &mut Vec<Diagnostic>) {
    let snapshot: Vec<Node> = methods.to_vec();
    let ids: Vec<String> = snapshot
        .iter()
        .map(|m| m.get("id").and_then(Node::as_str).unwrap_or_default().to_string())
        .collect();
    for (at, method) in methods.iter_mut().enumerate() {
        let path = format!("method[{at}]");
        let mut trail = Vec::new();
        same_inside(method, "", &path, &snapshot, &ids, &mut trail, out);
    }
}

/// Carries out the copies inside a node; false where one cannot be made, which is complained of and
/// leaves nothing to judge.
fn same_inside(
    node: &mut Node,
    key: &str,
    path: &str,
    methods: &[Node],
    ids: &[String],
    trail: &mut Vec<(usize, String)>,
    out: &mut Vec<Diagnostic>,
) -> bool {
    if let Some(id) = node.as_str().and_then(|s| s.strip_prefix("same:")).map(str::to_string) {
        let mut fail = |message: String| {
            out.push(node.diagnostic(path, message));
            false
        };
        let Some(at) = ids.iter().position(|i| *i == id) else {
            let near = registry::suggestion(&id, ids.iter().map(String::as_str));
            return fail(format!("same:{id}: no method has this id{near}"));
        };
        let Some(section) = methods[at].get(key) else {
            return fail(format!("same:{id}: that method has no {key}"));
        };
        let step = (at, key.to_string());
        if trail.contains(&step) {
            return fail(format!("same:{id} leads back to itself"));
        }
        let mut copy = section.clone();
        trail.push(step);
        let good = same_inside(&mut copy, key, path, methods, ids, trail, out);
        trail.pop();
        *node = copy;
        return good;
    }
    match &mut node.kind {
        NodeKind::Table(entries) => entries.retain_mut(|entry| {
            let here = format!("{path}.{}", entry.key);
            let key = entry.key.clone();
            key == "id" || same_inside(&mut entry.node, &key, &here, methods, ids, trail, out)
        }),
        NodeKind::Array(items) => {
            let mut at = 0;
            items.retain_mut(|item| {
                at += 1;
                same_inside(item, key, &format!("{path}[{}]", at - 1), methods, ids, trail, out)
            });
        }
        NodeKind::Value(_) => {}
    }
    true
}

/// Turns one entry into one method per combination of the values its lists name.
fn expand(node: Node, at: usize, expanded: &mut Vec<(usize, Node)>, out: &mut Vec<Diagnostic>) {
    let id = node.get("id").and_then(Node::as_str).map(str::to_string);
    let mut done: Vec<(Vec<(String, String)>, Node)> = Vec::new();
    let mut open = vec![(Vec::new(), node)];
    // Depth first, the last pushed first: the first axis varies slowest.
    while let Some((labels, node)) = open.pop() {
        let axis = config::axes::<MethodEntry>(&node).into_iter().next();
        let values = axis.as_deref().and_then(|p| Some(at_path(&node, p)?.items().to_vec()));
        let (Some(axis), Some(values)) = (axis, values) else {
            done.push((labels, node));
            continue;
        };
        if done.len() + open.len() + values.len() > MAX_EXPANDED {
            let message = format!("its lists stand for more than {MAX_EXPANDED} methods");
            return out.push(node.diagnostic(&format!("method[{at}]"), message));
        }
        let texts = value_texts(&values);
        for (value, text) in values.into_iter().zip(texts).rev() {
            let mut labels = labels.clone();
            labels.push((axis.clone(), text));
            let mut one = node.clone();
            if let Some(slot) = at_path_mut(&mut one, &axis) {
                *slot = value;
            }
            open.push((labels, one));
        }
    }
    for (labels, mut node) in done {
        if let (Some(id), false) = (&id, labels.is_empty()) {
            let axes: Vec<&str> = labels.iter().map(|(a, _)| a.as_str()).collect();
            let parts: Vec<String> =
                labels.iter().map(|(a, v)| format!("{}={v}", short(a, &axes))).collect();
            let name = format!("{id}[{}]", parts.join(","));
            if let Some(slot) = node.get_mut("id") {
                slot.kind = NodeKind::Value(name.into());
            }
        }
        expanded.push((at, node));
    }
}

/// The values of an axis in a few words: numbers and words as they are, plugins by their tag.
fn value_texts(values: &[Node]) -> Vec<String> {
    let text = |v: &Node| match &v.kind {
        NodeKind::Value(Value::String(s)) => s.clone(),
        NodeKind::Value(v) => v.to_string(),
        _ => v.get("type").and_then(Node::as_str).unwrap_or("option").to_string(),
    };
    let plain: Vec<String> = values.iter().map(text).collect();
    plain
        .iter()
        .enumerate()
        .map(|(at, t)| match plain.iter().filter(|o| *o == t).count() {
            1 => t.clone(),
            _ => format!("{t}#{}", plain[..=at].iter().filter(|o| *o == t).count()),
        })
        .collect()
}

/// The shortest end of a path that tells it from the other axes.
fn short<'a>(path: &'a str, axes: &[&str]) -> &'a str {
    let starts = path.rmatch_indices('.').map(|(i, _)| i + 1).chain([0]);
    starts
        .map(|s| &path[s..])
        .find(|end| {
            let same = |o: &&&str| **o != path && (**o == *end || o.ends_with(&format!(".{end}")));
            axes.iter().find(same).is_none()
        })
        .unwrap_or(path)
}

fn steps(path: &str) -> Vec<String> {
    path.replace('[', ".").replace(']', "").split('.').map(str::to_string).collect()
}

fn at_path<'a>(node: &'a Node, path: &str) -> Option<&'a Node> {
    steps(path).iter().try_fold(node, |n, step| match step.parse::<usize>() {
        Ok(index) => n.items().get(index),
        Err(_) => n.get(step),
    })
}

fn at_path_mut<'a>(node: &'a mut Node, path: &str) -> Option<&'a mut Node> {
    steps(path).iter().try_fold(node, |n, step| match step.parse::<usize>() {
        Ok(index) => n.items_mut()?.get_mut(index),
        Err(_) => n.get_mut(step),
    })
}

/// What a method means when it does not say: k = "classes", and the truth answers.
fn fill(node: &mut Node) {
    if node.get("k").is_none() {
        node.insert("k", Node::synthetic(&json!("classes")));
    }
    if node.get("selector").is_some() && node.get("oracle").is_none() {
        node.insert("oracle", Node::synthetic(&json!("truth")));
    }
}

/// Column names of metrics: the tag; with the options that differ where a tag comes twice.
fn metric_columns(metrics: &[Box<dyn Metric>]) -> Vec<String> {
    let configs: Vec<Value> =
        metrics.iter().map(|m| serde_json::to_value(m).unwrap_or_default()).collect();
    let mut names: Vec<String> = Vec::new();
    for (at, metric) in metrics.iter().enumerate() {
        let tag = metric.typetag_name();
        let twice = metrics.iter().filter(|m| m.typetag_name() == tag).count() > 1;
        let default = Catalogue::get().ok().and_then(|c| c.find(tag)).map(|d| d.default_config());
        let mut name =
            if crate::row::FIXED.contains(&tag) { format!("score_{tag}") } else { tag.into() };
        if let (true, Some(default), Some(map)) = (twice, default, configs[at].as_object()) {
            let differs = map.iter().filter(|(k, v)| default.get(*k) != Some(v));
            let parts: Vec<String> = differs
                .map(|(k, v)| {
                    format!("{k}={}", v.as_str().map_or_else(|| v.to_string(), Into::into))
                })
                .collect();
            if !parts.is_empty() {
                name = format!("{name}[{}]", parts.join(","));
            }
        }
        let before = names.iter().filter(|n| **n == name).count();
        names.push(if before > 0 { format!("{name}#{}", before + 1) } else { name });
    }
    names
}
