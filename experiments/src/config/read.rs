//! From text to an experiment: everything is checked in one pass, and every default is written out. A list or range
//! of values becomes one method for each value.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use mustlink_config::{self as config, Check, Document, Node, NodeKind, Origin, axis_values};
use mustlink_core::error::Diagnostic;
use mustlink_core::options::below;
use mustlink_core::{Error, Result};
use mustlink_external::parts::scripts;
use serde::Deserialize;
use serde_json::{Value, json};

use super::experiment::{Experiment, metric_columns};
use super::file::{Curve, DatasetEntry, ExperimentFile, MethodEntry, Scoring};
use super::layers::{Labels, PRESETS, collect, copy_same, options_of, read_files, with_presets};
use super::method::MethodSpec;
use super::{check, stored};

/// Single methods, each with the number of the entry that it was taken from, and the paths of the options
/// that were varied.
type Methods = (Vec<(usize, Node)>, BTreeSet<String>);

/// More methods than this from the lists of one entry are taken for a slip.
const MAX_EXPANDED: usize = 10_000;

/// Axes are expanded before methods are checked.
const CHECK: Check = Check { classes: true, axes: false };

impl Experiment {
    /// Reads and checks an experiment file after carrying out `sets` (`a.b[0].c=value`).
    ///
    /// # Errors
    /// `Config` with every complaint, each with its place.
    pub fn load(path: &Path, sets: &[String]) -> Result<Experiment> {
        let document = Document::read(path)?;
        let base = stored::base_of(path, &document);
        Experiment::from_document(document, &base, sets)
    }

    /// Checks an experiment given as text; relative paths start at `base`.
    ///
    /// # Errors
    /// Returns the errors of [`Experiment::load`].
    pub fn parse(name: &str, text: &str, base: &Path, sets: &[String]) -> Result<Experiment> {
        Experiment::from_document(Document::parse(name, text)?, base, sets)
    }

    /// The data sets of a file that may have other mistakes, without malformed entries, and the folder at which
    /// relative paths start.
    pub(crate) fn datasets_of(
        path: &Path,
        sets: &[String],
    ) -> Result<(Vec<DatasetEntry>, PathBuf)> {
        let mut document = Document::read(path)?;
        let base = stored::base_of(path, &document);
        for set in sets {
            // An assignment that fails is a mistake that [`Experiment::load`] reports.
            let _ = document.set(set);
        }
        let entries = document.root().get("dataset").map(Node::items).unwrap_or_default();
        let entry = |node: &Node| serde_json::from_value(node.to_value()).ok();
        Ok((entries.iter().filter_map(entry).collect(), base))
    }

    /// The experiment a results directory belongs to.
    ///
    /// # Errors
    /// `Data` when it is not a results directory; otherwise the errors of [`Experiment::load`].
    pub fn from_directory(dir: &Path) -> Result<Experiment> {
        Experiment::from_directory_with(dir, &[])
    }

    /// The same after carrying out `sets`.
    ///
    /// # Errors
    /// Returns the errors of [`Experiment::from_directory`].
    pub(crate) fn from_directory_with(dir: &Path, sets: &[String]) -> Result<Experiment> {
        let stored = stored::read(dir)?;
        // Results may be somebody else's: looking at them starts nothing.
        let _still = scripts::Still::start();
        stored.declare_scripts();
        let name = dir.join(stored::FILE).display().to_string();
        let parsed = Experiment::parse(&name, &stored.config.to_string(), &stored.base, sets)?;
        Ok(Experiment { varied: stored.varied, ..parsed })
    }

    /// Every value of an experiment, defaults among them, with the place that it comes from.
    ///
    /// # Errors
    /// Returns the errors of [`Experiment::load`].
    pub fn origins(path: &Path, sets: &[String]) -> Result<Vec<Origin>> {
        let document = Document::read(path)?;
        let base = stored::base_of(path, &document);
        let (root, methods) = Experiment::tree(document, &base, sets)?;
        let mut resolved = Experiment::build(&root, &methods, &base)?.resolved;
        let list = resolved.as_object_mut().and_then(|map| map.remove("method"));
        let mut out = Vec::new();
        config::origins(&resolved, Some(&root), "", &mut out);
        let values = list.as_ref().and_then(Value::as_array).into_iter().flatten();
        for (at, (value, (_, node))) in values.zip(&methods.0).enumerate() {
            config::origins(value, Some(node), &format!("method[{at}]"), &mut out);
        }
        Ok(out)
    }

    fn from_document(document: Document, base: &Path, sets: &[String]) -> Result<Experiment> {
        let (root, methods) = Experiment::tree(document, base, sets)?;
        Experiment::build(&root, &methods, base)
    }

    /// The checked tree without its methods, and these one by one, each with the number of its entry.
    fn tree(mut document: Document, base: &Path, sets: &[String]) -> Result<(Node, Methods)> {
        let (mut out, mut early) = (Vec::new(), Vec::new());
        // Before anything is put into them: a bare name is only then known to be a plugin.
        let first = document.root().get("plugins").map(Node::to_value);
        scripts::declare(document.root(), base, &mut early);
        for set in sets {
            if let Err(e) = document.set(set) {
                collect(e, &mut out);
            }
        }
        let root = document.root_mut();
        let mut methods = match root.remove("method") {
            Some(Node { kind: NodeKind::Array(list), .. }) => list,
            Some(other) => {
                let message = "must be a list of tables; write [[method]]";
                out.push(other.diagnostic("method", message));
                Vec::new()
            }
            None => Vec::new(),
        };
        read_files(&mut methods, root, base, &mut out);
        if root.get("plugins").map(Node::to_value) == first {
            out.append(&mut early);
        } else {
            scripts::declare(root, base, &mut out);
        }
        config::validate::<ExperimentFile>(root, "", CHECK, &mut out);
        copy_same(&mut methods, &mut out);
        let (mut expanded, mut varied) = (Vec::new(), BTreeSet::new());
        for (at, node) in methods.into_iter().enumerate() {
            expand(node, at, &mut expanded, &mut varied, &mut out);
        }
        for (at, node) in &mut expanded {
            fill(node);
            let path = format!("method[{at}]");
            config::validate::<MethodEntry>(node, &path, CHECK, &mut out);
        }
        if out.is_empty() {
            return Ok((root.clone(), (expanded, varied)));
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

    fn build(root: &Node, (methods, varied): &Methods, base: &Path) -> Result<Experiment> {
        let mut resolved = config::resolve::<ExperimentFile>(root)?;
        let mut specs = Vec::with_capacity(methods.len());
        let (mut ids, mut about_methods) = (BTreeSet::new(), Vec::new());
        for (at, node) in methods {
            let spec = MethodSpec::new(config::resolve::<MethodEntry>(node)?);
            let path = format!("method[{at}].id");
            check::unique(&spec.id, node, &path, &mut ids, &mut about_methods);
            spec.judge(*at, node, &mut about_methods);
            specs.push(spec);
        }
        // Under their own names, whatever alias a list was given by.
        let own = |path: &String| specs.iter().filter_map(|m| Some(m.option(path)?.0)).collect();
        let varied: BTreeSet<String> = varied.iter().flat_map::<Vec<String>, _>(own).collect();
        resolved["method"] = specs.iter().map(|m| m.config.clone()).collect();
        let section = |name: &str| resolved.get(name).cloned().unwrap_or_else(|| json!({}));
        fn read<T: for<'a> Deserialize<'a>>(root: &Node, name: &str, value: Value) -> Result<T> {
            config::instantiate(value).map_err(|e| {
                Error::Config(vec![root.get(name).unwrap_or(root).diagnostic(name, e)])
            })
        }
        let entries = section("dataset");
        let entries = entries.as_array().into_iter().flatten().enumerate();
        let datasets = entries
            .map(|(at, value)| read(root, &format!("dataset[{at}]"), value.clone()))
            .collect::<Result<Vec<DatasetEntry>>>()?;
        let scoring: Scoring = read(root, "scoring", section("scoring"))?;
        let experiment = Experiment {
            columns: metric_columns(&scoring.metrics),
            head: read(root, "experiment", section("experiment"))?,
            datasets,
            methods: specs,
            split: read(root, "split", section("split"))?,
            points: read::<Curve>(root, "curve", section("curve"))?.points,
            scoring,
            stats: read(root, "stats", section("stats"))?,
            plot: read(root, "plot", section("plot"))?,
            run: read(root, "run", section("run"))?,
            criteria: match resolved.get("criterion") {
                Some(list) => read(root, "criterion", list.clone())?,
                None => Vec::new(),
            },
            varied,
            resolved: Value::Null,
            base: base.to_path_buf(),
        };
        let out = check::complaints(&experiment, root, about_methods);
        if out.is_empty() {
            Ok(Experiment { resolved, ..experiment })
        } else {
            Err(Error::Config(out))
        }
    }
}

/// Fills in what an experiment assumes of a method: k = "classes", and the truth as oracle.
fn fill(node: &mut Node) {
    if node.get("k").is_none() {
        node.insert("k", Node::synthetic(&json!("classes")));
    }
    if node.get("selector").is_some() && node.get("oracle").is_none() {
        node.insert("oracle", Node::synthetic(&json!("truth")));
    }
}

/// Turns one entry into one method per combination of its presets and the values that its lists and
/// ranges name: all of them, but lists under `zip` go together, and what `exclude` names is left out. The
/// paths of the options that this varies are added to `varied`.
fn expand(
    mut node: Node,
    at: usize,
    expanded: &mut Vec<(usize, Node)>,
    varied: &mut BTreeSet<String>,
    out: &mut Vec<Diagnostic>,
) {
    let path = format!("method[{at}]");
    let id = node.get("id").and_then(Node::as_str).map(str::to_string);
    let (zip, exclude) = (node.remove("zip"), node.remove("exclude"));
    let complaints = out.len();
    wrong_ranges(&node, &path, out);
    if out.len() > complaints {
        return;
    }
    let Some(mut groups) = groups(zip.as_ref(), &path, out) else { return };
    let mut done: Vec<(Labels, Node)> = Vec::new();
    let presets = node.remove(PRESETS);
    let Some(mut open) = with_presets(node, presets.as_ref(), &path, varied, out) else { return };
    // Depth first, the last pushed first: the first axis varies slowest.
    while let Some((labels, node)) = open.pop() {
        let axis = config::axes::<MethodEntry>(&node).into_iter().next();
        let values = axis.as_deref().and_then(|p| values_at(&node, p));
        let (Some(axis), Some(values)) = (axis, values) else {
            done.push((labels, node));
            continue;
        };
        if done.len() + open.len() + values.len() > MAX_EXPANDED {
            let message = format!("its lists stand for more than {MAX_EXPANDED} methods");
            return out.push(node.diagnostic(&path, message));
        }
        let mut together = vec![(axis.clone(), values)];
        let group = groups.iter_mut().find(|g| g.axes.contains(&axis));
        // Beside another list a value may well come again.
        if group.is_none()
            && let Some(again) = repeated(&together[0].1)
        {
            let message = format!("{} comes twice in the list", value_text(again));
            return out.push(again.diagnostic(&format!("{path}.{axis}"), message));
        }
        if let Some(group) = group {
            group.used = true;
            for other in group.axes.iter().filter(|a| **a != axis) {
                match values_at(&node, other) {
                    Some(values) if values.len() == together[0].1.len() => {
                        together.push((other.clone(), values));
                    }
                    found => {
                        let found = found.map_or(0, |v| v.len());
                        let message = format!(
                            "{other} must have a list of {} values, as {axis} has; got {found}",
                            together[0].1.len()
                        );
                        return out.push(group.node.diagnostic(&format!("{path}.zip"), message));
                    }
                }
            }
        }
        for (axis, values) in &together {
            values.iter().for_each(|value| options_of(value, axis, varied));
        }
        let texts: Vec<Vec<String>> = together.iter().map(|(_, v)| value_texts(v)).collect();
        for value in (0..together[0].1.len()).rev() {
            let mut labels = labels.clone();
            let mut one = node.clone();
            for ((axis, values), texts) in together.iter().zip(&texts) {
                labels.push((axis.clone(), texts[value].clone()));
                // The list is at this path, so the path exists.
                let _ = one.set_at(axis, values[value].clone());
            }
            open.push((labels, one));
        }
    }
    if let Some(group) = groups.iter().find(|g| !g.used) {
        let message = format!("none of {} has a list here", group.axes.join(", "));
        return out.push(group.node.diagnostic(&format!("{path}.zip"), message));
    }
    if let Some(exclude) = exclude
        && !leave_out(&mut done, &exclude, &path, out)
    {
        return;
    }
    for (labels, mut node) in done {
        if let (Some(id), false) = (&id, labels.is_empty()) {
            let axes: Vec<&str> = labels.iter().map(|(a, _)| a.as_str()).collect();
            let part = |(axis, value): &(String, String)| match axis.as_str() {
                PRESETS => value.clone(),
                axis => format!("{}={value}", short(axis, &axes)),
            };
            let parts: Vec<String> = labels.iter().map(part).collect();
            let name = format!("{id}[{}]", parts.join(","));
            if let Some(slot) = node.get_mut("id") {
                slot.kind = NodeKind::Value(name.into());
            }
        }
        expanded.push((at, node));
    }
}

/// Reports tables that look like ranges but are malformed.
fn wrong_ranges(node: &Node, path: &str, out: &mut Vec<Diagnostic>) {
    if let Some(Err(message)) = axis_values(node) {
        out.push(node.diagnostic(path, message));
    }
    // The options of a script are its own affair.
    for entry in node.entries().iter().filter(|e| e.key != "options") {
        wrong_ranges(&entry.node, &format!("{path}.{}", entry.key), out);
    }
    for (at, item) in node.items().iter().enumerate() {
        wrong_ranges(item, &format!("{path}[{at}]"), out);
    }
}

/// The values of the list or range at a path.
fn values_at(node: &Node, path: &str) -> Option<Vec<Node>> {
    axis_values(at_path(node, path)?)?.ok()
}

/// Lists that go together.
struct Group {
    axes: Vec<String>,
    node: Node,
    used: bool,
}

/// The groups under `zip`; `None` when they are invalid, which is reported.
fn groups(zip: Option<&Node>, path: &str, out: &mut Vec<Diagnostic>) -> Option<Vec<Group>> {
    let Some(zip) = zip else { return Some(Vec::new()) };
    let mut groups = Vec::new();
    for node in zip.items() {
        let axes: Option<Vec<String>> =
            node.items().iter().map(|n| n.as_str().map(str::to_string)).collect();
        match axes {
            Some(axes) if axes.len() > 1 => {
                groups.push(Group { axes, node: node.clone(), used: false });
            }
            _ => break,
        }
    }
    if groups.is_empty() || groups.len() < zip.items().len() {
        let message =
            "must be a list of lists of options: zip = [[\"clusterer.h\", \"selector.rate\"]]";
        out.push(zip.diagnostic(&format!("{path}.zip"), message));
        return None;
    }
    Some(groups)
}

/// Leaves out the methods that a table of `exclude` describes; false when one describes none.
fn leave_out(
    done: &mut Vec<(Labels, Node)>,
    exclude: &Node,
    path: &str,
    out: &mut Vec<Diagnostic>,
) -> bool {
    let before = out.len();
    let path = format!("{path}.exclude");
    if exclude.items().is_empty() {
        let message = "must be a list of tables of options: exclude = [{ \"clusterer.h\" = 5 }]";
        out.push(exclude.diagnostic(&path, message));
    }
    for table in exclude.items() {
        let mut wanted = Vec::new();
        leaves(table, "", &mut wanted);
        let count = done.len();
        done.retain(|(labels, node)| !wanted.iter().all(|(p, v)| has(labels, node, p, v)));
        if wanted.is_empty() || done.len() == count {
            let of: Vec<&str> =
                done.first().map_or(Vec::new(), |(l, _)| l.iter().map(|(a, _)| &**a).collect());
            let near = format!("leaves nothing out; the lists are those of {}", of.join(", "));
            out.push(table.diagnostic(&path, near));
        }
    }
    if done.is_empty() && out.len() == before {
        out.push(exclude.diagnostic(&path, "leaves nothing"));
    }
    out.len() == before
}

/// The values in nested tables, each with its path.
fn leaves(node: &Node, path: &str, out: &mut Vec<(String, Value)>) {
    for entry in node.entries() {
        let path = below(path, &entry.key);
        match &entry.node.kind {
            NodeKind::Table(_) => leaves(&entry.node, &path, out),
            _ => out.push((path, entry.node.to_value())),
        }
    }
}

/// True if a method has this value: as the text of an axis, or as it stands.
fn has(labels: &Labels, node: &Node, path: &str, value: &Value) -> bool {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
    labels.iter().any(|(axis, of)| axis == path && *of == text)
        || at_path(node, path).is_some_and(|n| {
            same(&n.to_value(), value) || n.get("type").and_then(Node::as_str) == Some(&text)
        })
}

/// True if two values are one: 5 and 5.0 are, as a range of numbers with decimals has 5.0.
fn same(a: &Value, b: &Value) -> bool {
    let decimal = a.is_f64() || b.is_f64();
    a == b || decimal && a.as_f64().zip(b.as_f64()).is_some_and(|(a, b)| a == b)
}

/// The first value that stands before it already.
fn repeated(values: &[Node]) -> Option<&Node> {
    let all: Vec<Value> = values.iter().map(Node::to_value).collect();
    let again = |at: &usize| all[..*at].iter().any(|before| same(before, &all[*at]));
    (1..all.len()).find(again).map(|at| &values[at])
}

/// A value of an axis in a word: a number or a word as it is, a plugin by its tag.
fn value_text(value: &Node) -> String {
    match &value.kind {
        NodeKind::Value(Value::String(s)) => s.clone(),
        NodeKind::Value(v) => v.to_string(),
        _ => value.get("type").and_then(Node::as_str).unwrap_or("option").to_string(),
    }
}

/// The values of an axis in a few words: numbers and words as they are, plugins by their tag.
fn value_texts(values: &[Node]) -> Vec<String> {
    let plain: Vec<String> = values.iter().map(value_text).collect();
    plain
        .iter()
        .enumerate()
        .map(|(at, t)| match plain.iter().filter(|o| *o == t).count() {
            1 => t.clone(),
            _ => format!("{t}#{}", plain[..=at].iter().filter(|o| *o == t).count()),
        })
        .collect()
}

/// The shortest end of a path that no other axis ends with.
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

fn at_path<'a>(node: &'a Node, path: &str) -> Option<&'a Node> {
    config::path_steps(path).iter().try_fold(node, |n, step| match step.parse::<usize>() {
        Ok(index) => n.items().get(index),
        Err(_) => n.get(step),
    })
}
