//! From text to an experiment: everything is checked at once, and every default is written out. Methods in
//! files of their own are read in, `"same:<method id>"` is copied, what an experiment assumes filled in.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use mustlink_config::{self as config, Check, Document, Node, NodeKind, Origin};
use mustlink_core::error::Diagnostic;
use mustlink_core::{Error, Result, registry};
use mustlink_external::parts::scripts;
use serde::Deserialize;
use serde_json::{Value, json};

use super::axes::expand;
use super::experiment::{Experiment, metric_columns};
use super::file::{Curve, DatasetEntry, ExperimentFile, MethodEntry, Scoring};
use super::method::MethodSpec;
use super::{check, stored};

/// Single methods, each with the number of the entry that it was taken from, and the paths of the options
/// that were varied.
type Methods = (Vec<(usize, Node)>, BTreeSet<String>);

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
    /// As [`Experiment::load`].
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
    /// `Data` when it is not a results directory; otherwise as [`Experiment::load`].
    pub fn from_directory(dir: &Path) -> Result<Experiment> {
        Experiment::from_directory_with(dir, &[])
    }

    /// The same after carrying out `sets`.
    ///
    /// # Errors
    /// As [`Experiment::from_directory`].
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
    /// As [`Experiment::load`].
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
        let mut methods = take_methods(root, base, &mut out);
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
        for (_, node) in methods {
            specs.push(MethodSpec::new(config::resolve::<MethodEntry>(node)?));
        }
        // Under their own names, whatever alias a list was given by.
        let own = |path: &String| specs.iter().filter_map(|m| Some(m.option(path)?.0)).collect();
        let varied: BTreeSet<String> = varied.iter().flat_map::<Vec<String>, _>(own).collect();
        let list = specs.iter().map(|m| m.config.clone()).collect();
        resolved["method"] = Value::Array(list);
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
        let out = check::complaints(&experiment, root, methods);
        if out.is_empty() {
            Ok(Experiment { resolved, ..experiment })
        } else {
            Err(Error::Config(out))
        }
    }
}

/// Takes the methods out of the tree and reads those that are in files of their own.
pub(super) fn take_methods(root: &mut Node, base: &Path, out: &mut Vec<Diagnostic>) -> Vec<Node> {
    let Some(list) = root.remove("method") else { return Vec::new() };
    if !matches!(list.kind, NodeKind::Array(_)) {
        out.push(list.diagnostic("method", "must be a list of tables; write [[method]]"));
        return Vec::new();
    }
    let mut methods = list.items().to_vec();
    let mut plugins = Vec::new();
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
                let folder = Path::new(name).parent().unwrap_or(Path::new(""));
                from_here(&mut whole, folder, base);
                // A seed in a method file is for running it alone.
                whole.remove("seed");
                // Declared for all methods, once.
                if let Some(mut declared) = whole.remove("plugins") {
                    for plugin in declared.items_mut().into_iter().flatten() {
                        move_words(plugin, folder, base);
                        moved(plugin, folder);
                    }
                    plugins.extend(declared.items().to_vec());
                    let mut known = Node::synthetic(&json!({}));
                    known.insert("plugins", declared);
                    // What is wrong with them is said once, when all are declared.
                    scripts::declare(&known, base, &mut Vec::new());
                }
                for entry in whole.entries() {
                    underlay(node, &entry.key, &entry.node);
                }
            }
            Err(e) => {
                leave_additions(node);
                match e {
                    // What cannot be read has no line of its own.
                    Error::Config(wrong) if wrong.iter().all(|d| d.position.is_none()) => {
                        let said = |d: &Diagnostic| format!("{}: {}", d.source, d.message);
                        out.extend(wrong.iter().map(|d| file.diagnostic(&path, said(d))));
                    }
                    e => collect(e, out),
                }
            }
        }
    }
    if !plugins.is_empty() {
        if root.get("plugins").is_none() {
            root.insert("plugins", Node::synthetic(&json!([])));
        }
        if let Some(items) = root.get_mut("plugins").and_then(Node::items_mut) {
            for plugin in plugins {
                if !items.iter().any(|i| i.to_value() == plugin.to_value()) {
                    items.push(plugin);
                }
            }
        }
    }
    methods
}

/// Leaves out what only changes the method of a file, which cannot be read: tables of options without the plugin
/// that they are of, and what goes through their lists.
fn leave_additions(method: &mut Node) {
    let adds = |node: &Node| matches!(node.kind, NodeKind::Table(_)) && node.get("type").is_none();
    let added = method.entries().iter().filter(|e| adds(&e.node)).map(|e| e.key.clone());
    let mut keys: Vec<String> = added.collect();
    keys.extend(["zip".to_string(), "exclude".to_string()]);
    for key in keys {
        method.remove(&key);
    }
}

/// Names files in a method file, those of commands among them, from `base`: there they are named from the folder of
/// that file, which is `folder` seen from `base`.
pub fn from_here(node: &mut Node, folder: &Path, base: &Path) {
    if folder.as_os_str().is_empty() {
        return;
    }
    let tag = node.get("type").and_then(Node::as_str).unwrap_or_default();
    let plugin = registry::Catalogue::get().ok().and_then(|c| c.find(tag));
    match &mut node.kind {
        NodeKind::Table(entries) => {
            for entry in entries {
                let option = plugin.and_then(|d| d.option(&entry.key));
                if option.is_some_and(|option| option.program) {
                    move_words(&mut entry.node, folder, base)
                } else if option.is_some_and(|option| option.file) {
                    moved(&mut entry.node, folder)
                } else {
                    from_here(&mut entry.node, folder, base)
                }
            }
        }
        NodeKind::Array(items) => items.iter_mut().for_each(|n| from_here(n, folder, base)),
        NodeKind::Value(_) => {}
    }
}

/// The words of a command that name a file.
fn move_words(command: &mut Node, folder: &Path, base: &Path) {
    let is_file = |(at, word): &(usize, &mut Node)| {
        // A program named alone is looked for along PATH.
        let here = |name: &str| *at > 0 || Path::new(name).components().count() > 1;
        word.as_str().is_some_and(|name| here(name) && base.join(folder).join(name).is_file())
    };
    let words = command.items_mut().into_iter().flatten().enumerate();
    words.filter(is_file).for_each(|(_, word)| moved(word, folder));
}

/// A relative path as seen from above `folder`.
fn moved(node: &mut Node, folder: &Path) {
    if let NodeKind::Value(Value::String(text)) = &mut node.kind {
        *text = folder.join(&*text).display().to_string();
    }
}

/// Merges a section of a method file into that of the experiment: the experiment wins, tables are
/// joined unless the experiment names another plugin.
fn underlay(over: &mut Node, key: &str, under: &Node) {
    let Some(there) = over.get_mut(key) else {
        over.insert(key, under.clone());
        return;
    };
    // Options alone are those of the plugin that the file names.
    let mut whole = under.clone();
    if there.get("type").is_none() {
        whole.name_to_table();
    }
    let under = &whole;
    let tables = matches!((&there.kind, &under.kind), (NodeKind::Table(_), NodeKind::Table(_)));
    let kind = |n: &Node| n.get("type").and_then(Node::as_str).map(str::to_string);
    if tables && (kind(there).is_none() || kind(there) == kind(under)) {
        for entry in under.entries() {
            underlay(there, &entry.key, &entry.node);
        }
    }
}

/// Replaces `"same:<method id>"` by that method's section of the same name.
pub(super) fn copy_same(methods: &mut [Node], out: &mut Vec<Diagnostic>) {
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

/// Fills in what an experiment assumes of a method: k = "classes", and the truth as oracle.
pub(super) fn fill(node: &mut Node) {
    if node.get("k").is_none() {
        node.insert("k", Node::synthetic(&json!("classes")));
    }
    if node.get("selector").is_some() && node.get("oracle").is_none() {
        node.insert("oracle", Node::synthetic(&json!("truth")));
    }
}

/// The complaints in an error.
pub(super) fn collect(error: Error, out: &mut Vec<Diagnostic>) {
    match error {
        Error::Config(list) => out.extend(list),
        other => out.push(Diagnostic::new("", "", other.to_string())),
    }
}
