//! From the methods of a file to single methods: files of their own read in, `"same:<method id>"`
//! copied, lists that stand for single values expanded.

use std::path::Path;

use mustlink::Error;
use mustlink::config::{self, Document, Node, NodeKind};
use mustlink::error::Diagnostic;
use mustlink::registry;
use serde_json::{Value, json};

use super::file::MethodEntry;

/// More methods than this from the lists of one entry are taken for a slip.
const MAX_EXPANDED: usize = 10_000;

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

/// Turns one entry into one method per combination of the values its lists name: all of them, but lists
/// under `zip` go together, and what `exclude` names is left out.
pub(super) fn expand(
    mut node: Node,
    at: usize,
    expanded: &mut Vec<(usize, Node)>,
    out: &mut Vec<Diagnostic>,
) {
    let path = format!("method[{at}]");
    let id = node.get("id").and_then(Node::as_str).map(str::to_string);
    let (zip, exclude) = (node.remove("zip"), node.remove("exclude"));
    let Some(mut groups) = groups(zip.as_ref(), &path, out) else { return };
    let mut done: Vec<(Labels, Node)> = Vec::new();
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
            return out.push(node.diagnostic(&path, message));
        }
        let mut together = vec![(axis.clone(), values)];
        if let Some(group) = groups.iter_mut().find(|g| g.axes.contains(&axis)) {
            group.used = true;
            for other in group.axes.iter().filter(|a| **a != axis) {
                match at_path(&node, other).map(|n| n.items().to_vec()) {
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
        let texts: Vec<Vec<String>> = together.iter().map(|(_, v)| value_texts(v)).collect();
        for value in (0..together[0].1.len()).rev() {
            let mut labels = labels.clone();
            let mut one = node.clone();
            for ((axis, values), texts) in together.iter().zip(&texts) {
                labels.push((axis.clone(), texts[value].clone()));
                if let Some(slot) = at_path_mut(&mut one, axis) {
                    *slot = values[value].clone();
                }
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

/// The axes that a method was taken from, each with the text of its value.
type Labels = Vec<(String, String)>;

/// Lists that go together.
struct Group {
    axes: Vec<String>,
    node: Node,
    used: bool,
}

/// The groups under `zip`; `None` when they are none, which is complained of.
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
        let path = match path {
            "" => entry.key.clone(),
            path => format!("{path}.{}", entry.key),
        };
        match &entry.node.kind {
            NodeKind::Table(_) => leaves(&entry.node, &path, out),
            _ => out.push((path, entry.node.to_value())),
        }
    }
}

/// Whether a method has this value: as the text of an axis, or as it stands.
fn has(labels: &Labels, node: &Node, path: &str, value: &Value) -> bool {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
    labels.iter().any(|(axis, of)| axis == path && *of == text)
        || at_path(node, path).is_some_and(|n| {
            n.to_value() == *value || n.get("type").and_then(Node::as_str) == Some(&text)
        })
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

fn at_path_mut<'a>(node: &'a mut Node, path: &str) -> Option<&'a mut Node> {
    config::path_steps(path).iter().try_fold(node, |n, step| match step.parse::<usize>() {
        Ok(index) => n.items_mut()?.get_mut(index),
        Err(_) => n.get_mut(step),
    })
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
