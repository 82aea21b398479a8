//! From an entry to single methods: presets, lists and ranges that stand for one value after the other.

use std::collections::BTreeSet;

use mustlink_config::{self as config, Node, NodeKind, axis_values};
use mustlink_core::error::Diagnostic;
use mustlink_core::options::below;
use serde_json::Value;

use super::file::MethodEntry;

/// More methods than this from the lists of one entry are taken for a slip.
const MAX_EXPANDED: usize = 10_000;
/// The table of named settings of a method.
const PRESETS: &str = "presets";

/// Turns one entry into one method per combination of its presets and the values that its lists and
/// ranges name: all of them, but lists under `zip` go together, and what `exclude` names is left out. The
/// paths of the options that this varies are added to `varied`.
pub(super) fn expand(
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
    let presets = node.remove("presets");
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

/// The axes that a method was taken from, each with the text of its value.
type Labels = Vec<(String, String)>;

/// The method once with each preset, the last first; unchanged without presets. `None` when `presets` is not a table of
/// presets. Invalid parts of a preset are reported and left out, so that the rest is checked, too.
fn with_presets(
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
/// replaces what is there.
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
fn options_of(value: &Node, path: &str, varied: &mut BTreeSet<String>) {
    varied.insert(path.to_string());
    if value.get("type").is_some() {
        for entry in value.entries().iter().filter(|e| e.key != "type") {
            options_of(&entry.node, &format!("{path}.{}", entry.key), varied);
        }
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

fn at_path_mut<'a>(node: &'a mut Node, path: &str) -> Option<&'a mut Node> {
    config::path_steps(path).iter().try_fold(node, |n, step| match step.parse::<usize>() {
        Ok(index) => n.items_mut()?.get_mut(index),
        Err(_) => n.get_mut(step),
    })
}
