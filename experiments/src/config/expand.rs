//! The methods of a file: those in files of their own read in, `"same:<method id>"` copied, what an
//! experiment assumes filled in.

use std::path::Path;

use mustlink::Error;
use mustlink::error::Diagnostic;
use mustlink::registry;
use mustlink_config::{Document, Node, NodeKind};
use serde_json::{Value, json};

/// Takes the methods out of the tree and reads in those that stand in files of their own.
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
                }
                for entry in whole.entries() {
                    underlay(node, &entry.key, &entry.node);
                }
            }
            Err(e) => collect(e, out),
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

/// Commands in a method file name files from the folder of that file; here they are named from that
/// of the experiment, which is `folder` above it.
fn from_here(node: &mut Node, folder: &Path, base: &Path) {
    if folder.as_os_str().is_empty() {
        return;
    }
    let tag = node.get("type").and_then(Node::as_str).unwrap_or_default();
    let schema =
        registry::Catalogue::get().ok().and_then(|c| c.find(tag)).map(|d| d.schema_value());
    let is_program = |key: &str| schema.is_some_and(|s| s["properties"][key]["x-program"] == true);
    match &mut node.kind {
        NodeKind::Table(entries) => {
            for entry in entries {
                match is_program(&entry.key) {
                    true => move_words(&mut entry.node, folder, base),
                    false => from_here(&mut entry.node, folder, base),
                }
            }
        }
        NodeKind::Array(items) => items.iter_mut().for_each(|n| from_here(n, folder, base)),
        NodeKind::Value(_) => {}
    }
}

/// The words of a command that name a file.
fn move_words(command: &mut Node, folder: &Path, base: &Path) {
    let is_file =
        |word: &&mut Node| word.as_str().is_some_and(|name| base.join(folder).join(name).is_file());
    let words = command.items_mut().into_iter().flatten();
    words.filter(is_file).for_each(|word| moved(word, folder));
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
        other => out.push(Diagnostic {
            source: String::new(),
            position: None,
            span: None,
            path: String::new(),
            message: other.to_string(),
        }),
    }
}
