//! Layers of a method: a file of its own, sections copied from another method by `"same:<method id>"`, presets.

use std::collections::BTreeSet;
use std::path::Path;

use mustlink_config::{Document, Node, NodeKind, axis_values};
use mustlink_core::error::Diagnostic;
use mustlink_core::options::below;
use mustlink_core::{Error, registry};
use mustlink_external::parts::scripts;
use serde_json::{Value, json};

/// The table of named settings of a method.
pub(super) const PRESETS: &str = "presets";

/// The axes that a method was taken from, each with the text of its value.
pub(super) type Labels = Vec<(String, String)>;

/// Puts methods that are in files of their own under their entries; the plugins that these files name are declared
/// in `root`.
pub(super) fn read_files(
    methods: &mut [Node],
    root: &mut Node,
    base: &Path,
    out: &mut Vec<Diagnostic>,
) {
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
                    // Their mistakes are reported later, once, when all are declared.
                    scripts::declare(&known, base, &mut Vec::new());
                }
                for entry in whole.entries() {
                    underlay(node, &entry.key, &entry.node);
                }
            }
            Err(e) => {
                leave_additions(node);
                match e {
                    // A file that cannot be read has no line to point at.
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
    for (at, method) in methods.iter_mut().enumerate() {
        let path = format!("method[{at}]");
        let mut trail = Vec::new();
        same_inside(method, "", &path, &snapshot, &mut trail, out);
    }
}

/// Carries out the copies inside a node; false where one cannot be made, which is complained of and
/// leaves nothing to judge.
fn same_inside(
    node: &mut Node,
    key: &str,
    path: &str,
    methods: &[Node],
    trail: &mut Vec<(usize, String)>,
    out: &mut Vec<Diagnostic>,
) -> bool {
    if let Some(id) = node.as_str().and_then(|s| s.strip_prefix("same:")).map(str::to_string) {
        let mut fail = |message: String| {
            out.push(node.diagnostic(path, message));
            false
        };
        let ids = || methods.iter().map(|m| m.get("id").and_then(Node::as_str).unwrap_or_default());
        let Some(at) = ids().position(|i| i == id) else {
            let near = registry::suggestion(&id, ids());
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
        let good = same_inside(&mut copy, key, path, methods, trail, out);
        trail.pop();
        *node = copy;
        return good;
    }
    match &mut node.kind {
        NodeKind::Table(entries) => entries.retain_mut(|entry| {
            let here = format!("{path}.{}", entry.key);
            let key = entry.key.clone();
            key == "id" || same_inside(&mut entry.node, &key, &here, methods, trail, out)
        }),
        NodeKind::Array(items) => {
            let mut at = 0;
            items.retain_mut(|item| {
                at += 1;
                same_inside(item, key, &format!("{path}[{}]", at - 1), methods, trail, out)
            });
        }
        NodeKind::Value(_) => {}
    }
    true
}

/// The method once with each preset, the last first; unchanged without presets. `None` when `presets` is not a table of
/// presets. Invalid parts of a preset are reported and left out, so that the rest is checked, too.
pub(super) fn with_presets(
    node: Node,
    presets: Option<&Node>,
    path: &str,
    varied: &mut BTreeSet<String>,
    out: &mut Vec<Diagnostic>,
) -> Option<Vec<(Labels, Node)>> {
    let Some(presets) = presets else { return Some(vec![(Vec::new(), node)]) };
    let path = format!("{path}.{PRESETS}");
    if presets.entries().is_empty() {
        let message = "must be a table of named tables of options: \
                       presets = { quick = { \"clusterer.restarts\" = 1 } }";
        out.push(presets.diagnostic(&path, message));
        return None;
    }
    let mut methods = Vec::new();
    for preset in presets.entries() {
        let path = format!("{path}.{}", preset.key);
        if preset.node.entries().is_empty() {
            let message = "must be a table of options: { \"clusterer.restarts\" = 1 }";
            out.push(preset.node.diagnostic(&path, message));
        }
        let mut method = node.clone();
        overlay(&mut method, &preset.node, "", &path, varied, out);
        methods.push((vec![(PRESETS.to_string(), preset.key.clone())], method));
    }
    methods.reverse();
    Some(methods)
}

/// Puts what a preset says into a method: tables that name no plugin are joined, everything else
/// replaces the existing value.
fn overlay(
    method: &mut Node,
    preset: &Node,
    at: &str,
    path: &str,
    varied: &mut BTreeSet<String>,
    out: &mut Vec<Diagnostic>,
) {
    for entry in preset.entries() {
        let at = below(at, &entry.key);
        let range = axis_values(&entry.node).is_some();
        if at == "id" || at.split('.').next() == Some(PRESETS) {
            out.push(
                entry.node.diagnostic(&format!("{path}.{at}"), "is not an option of a preset"),
            );
        } else if matches!(entry.node.kind, NodeKind::Table(_))
            && entry.node.get("type").is_none()
            && !range
        {
            overlay(method, &entry.node, &at, path, varied, out);
        } else if let Err(message) = method.set_at(&at, entry.node.clone()) {
            out.push(entry.node.diagnostic(&format!("{path}.{at}"), message));
        } else {
            options_of(&entry.node, &at, varied);
        }
    }
}

/// The options that one value of an axis gives: the one at `path`; of a plugin, those in its table too.
pub(super) fn options_of(value: &Node, path: &str, varied: &mut BTreeSet<String>) {
    varied.insert(path.to_string());
    if value.get("type").is_some() {
        for entry in value.entries().iter().filter(|e| e.key != "type") {
            options_of(&entry.node, &format!("{path}.{}", entry.key), varied);
        }
    }
}

/// The complaints in an error.
pub(super) fn collect(error: Error, out: &mut Vec<Diagnostic>) {
    match error {
        Error::Config(list) => out.extend(list),
        other => out.push(Diagnostic::new("", "", other.to_string())),
    }
}
