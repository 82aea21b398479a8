//! Values put into a configuration from outside its file.

use serde_json::{Value, json};

use crate::document::{Document, Entry, Node, NodeKind};
use mustlink_core::error::{Diagnostic, Error, Result};
use mustlink_core::registry::{Catalogue, suggestion};

impl Document {
    /// Carries out `--set a.b[0].c=value`: the value is TOML, or else a string. Items of a list may be
    /// referred to by their id: `method.cobra.k=3`.
    ///
    /// # Errors
    /// `Config` when the `=` is missing or the path leads into a value.
    pub fn set(&mut self, assignment: &str) -> Result<()> {
        let name = format!("--set {assignment}");
        let fail = |message: String| Error::Config(vec![Diagnostic::new(&name, "", message)]);
        let (path, text) = path_and_value(assignment)
            .ok_or_else(|| fail("expected path=value, for example experiment.seed=7".into()))?;
        let wrapped = format!("x = {text}");
        let is_toml = toml::de::DeTable::parse(&wrapped).is_ok();
        let value = match Document::parse("the value", &wrapped) {
            Ok(read) => read.root().get("x").map(Node::to_value).unwrap_or_default(),
            // Nobody calls anything so: brackets are meant as TOML.
            Err(Error::Config(wrong)) if is_toml || text.trim_start().starts_with(['{', '[']) => {
                let said: Vec<&str> = wrong.iter().map(|d| d.message.as_str()).collect();
                return Err(fail(said.join("; ")));
            }
            Err(_) => Value::String(text.into()),
        };
        self.root_mut().set_at(path.trim(), Node::given(&value, &name)).map_err(fail)
    }
}

/// More steps of a path are rejected, because functions that walk a tree are recursive; no configuration is as deep.
const MOST_STEPS: usize = 64;

impl Node {
    /// Puts `node` at a dotted path below this one. On the way, a plugin given by its name alone, or the default
    /// plugin of an empty slot, is written out as a table.
    ///
    /// # Errors
    /// A description of the fault in the path.
    pub fn set_at(&mut self, path: &str, node: Node) -> std::result::Result<(), String> {
        let steps = path_steps(path);
        if steps.len() > MOST_STEPS {
            return Err(format!("a path of {} steps; at most {MOST_STEPS}", steps.len()));
        }
        let Some((last, way)) = steps.split_last() else { return Err("an empty path".into()) };
        let mut at = self;
        for (depth, step) in way.iter().enumerate() {
            let fresh = default_plugin(at, step).unwrap_or_else(|| json!({}));
            let fresh = node.replaced(Node::synthetic(&fresh).kind);
            let written = as_written(at, step);
            at.may_hold(step, &steps[..depth], path)?;
            at = at.child(&written, &steps[..depth], fresh)?;
            if step != "type" {
                at.name_to_table();
            }
        }
        let written = as_written(at, last);
        at.may_hold(last, way, path)?;
        let there = at.child(&written, way, node.clone())?;
        *there = node;
        Ok(())
    }

    /// Refuses a step in brackets below a table, whose items have no places.
    fn may_hold(
        &self,
        step: &str,
        before: &[String],
        path: &str,
    ) -> std::result::Result<(), String> {
        let NodeKind::Table(entries) = &self.kind else { return Ok(()) };
        let place = format!("[{step}]");
        if step.parse::<usize>().is_err() || !path.contains(&place) || self.get(step).is_some() {
            return Ok(());
        }
        let here = shown(before);
        Err(if entries.is_empty() {
            format!("{here} is not a list yet; write all of it: {here}=[…]")
        } else {
            format!("{here} is a table, it has no {place}")
        })
    }

    /// The node one step below; in a table, `fresh` if the key is missing.
    fn child(
        &mut self,
        step: &str,
        before: &[String],
        fresh: Node,
    ) -> std::result::Result<&mut Node, String> {
        let here = shown(before);
        if matches!(self.kind, NodeKind::Table(_)) {
            if self.get(step).is_none() {
                self.insert(step, fresh);
            }
            return Ok(self.get_mut(step).expect("it was put there"));
        }
        let Some(items) = self.items_mut() else {
            return Err(format!("{here} is a value, it has no \"{step}\""));
        };
        let n = items.len();
        let ids: Vec<String> =
            items.iter().filter_map(|i| Some(i.get("id")?.as_str()?.into())).collect();
        let index = match step.parse::<usize>() {
            Ok(index) => Some(index),
            Err(_) => items.iter().position(|i| i.get("id").and_then(Node::as_str) == Some(step)),
        };
        let Some(index) = index else {
            let dotted = |id: &&String| id.contains(['.', '[', ']']) && id.starts_with(step);
            if let Some(id) = ids.iter().find(dotted) {
                return Err(format!("{here} has no \"{step}\"; write {here}.\"{id}\", in quotes"));
            }
            let near = suggestion(step, ids.iter().map(String::as_str));
            let known = match (near.is_empty(), ids.is_empty()) {
                (false, _) => near,
                (true, false) => format!("; it has {}", ids.join(", ")),
                (true, true) => format!("; write {here}[0]"),
            };
            return Err(format!("{here} is a list, it has no \"{step}\"{known}"));
        };
        items
            .get_mut(index)
            .ok_or_else(|| format!("{here} has no item [{index}]; its length is {n}"))
    }

    /// A bare name in a plugin slot stands for a table with that type.
    pub fn name_to_table(&mut self) {
        let Some(tag) = self.as_str() else { return };
        if Catalogue::get().is_ok_and(|c| c.find(tag).is_some()) {
            let name = self.clone();
            self.kind = NodeKind::Table(Vec::new());
            self.insert("type", name);
        }
    }
}

/// The default plugin of the slot `key` of the plugin in `table`.
fn default_plugin(table: &Node, key: &str) -> Option<Value> {
    let d = Catalogue::get().ok()?.find(table.get("type")?.as_str()?)?;
    Some(json!({ "type": d.option(key)?.slot? }))
}

/// The name of the option `step` in the table of a plugin: an alias, if the file uses one.
fn as_written(table: &Node, step: &str) -> String {
    let written = || {
        let d = Catalogue::get().ok()?.find(table.get("type")?.as_str()?)?;
        let option = d.option(step)?;
        let same = |e: &&Entry| e.key == option.name || option.alias == Some(e.key.as_str());
        table.entries().iter().find(same).map(|e| e.key.clone())
    };
    written().unwrap_or_else(|| step.into())
}

/// Both sides of `a.b=value`, split at the first `=` that is not in quotes.
fn path_and_value(assignment: &str) -> Option<(&str, &str)> {
    let mut quoted = false;
    let (at, _) = assignment.char_indices().find(|&(_, c)| {
        quoted ^= c == '"';
        c == '=' && !quoted
    })?;
    Some((&assignment[..at], &assignment[at + 1..]))
}

/// Steps as a path is written: `a.b[0].c`.
fn shown(steps: &[String]) -> String {
    let mut path = String::new();
    for step in steps {
        if step.parse::<usize>().is_ok() {
            path += &format!("[{step}]");
            continue;
        }
        if !path.is_empty() {
            path.push('.');
        }
        let quoted = step.contains(['.', '[', ']']);
        path += &if quoted { format!("\"{step}\"") } else { step.clone() };
    }
    path
}

/// The steps of a dotted path: `a.b[0].c` is a, b, 0, c; a step in quotes may hold dots and brackets.
pub fn path_steps(path: &str) -> Vec<String> {
    let (mut steps, mut quoted) = (vec![String::new()], false);
    for c in path.chars() {
        match c {
            '"' => quoted = !quoted,
            '.' | '[' if !quoted => steps.push(String::new()),
            ']' if !quoted => {}
            c => steps.last_mut().expect("there is a first").push(c),
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_mean_what_they_mean_in_a_file() {
        let set = |assignment: &str| {
            let mut document = Document::parse("m.toml", "[[method]]\nid = \"a=b\"\n").unwrap();
            document.set(assignment).map(|()| document.root().to_value())
        };
        assert_eq!(set("name=2020-01-01").unwrap()["name"], json!("2020-01-01"));
        assert_eq!(set("name=a b").unwrap()["name"], json!("a b"));
        assert_eq!(set("seed=18446744073709551615").unwrap()["seed"], json!(u64::MAX));
        assert_eq!(set("method.\"a=b\".k=3").unwrap()["method"][0]["k"], json!(3));
        for (wrong, said) in [
            ("k=nan", "must be a finite number, got nan"),
            ("k=[1, -inf]", "must be a finite number, got -inf"),
            ("k=99999999999999999999", "99999999999999999999 is not a 64-bit integer"),
            ("k=[1", "not TOML"),
            ("\"k=3", "expected path=value"),
        ] {
            let error = set(wrong).unwrap_err().to_string();
            assert!(error.contains(said), "{wrong}: {error}");
        }
    }

    #[test]
    fn steps_in_quotes_hold_dots() {
        assert_eq!(path_steps("a.b[0].c"), ["a", "b", "0", "c"]);
        assert_eq!(path_steps("method.\"x.k\".k"), ["method", "x.k", "k"]);
        assert_eq!(path_steps("method.\"a[1]\".k"), ["method", "a[1]", "k"]);
    }

    #[test]
    fn places_in_lists_keep_their_brackets() {
        let set = |assignment: &str| {
            let text =
                "transforms = [{ type = \"z_score\", deviation = \"sample\" }]\n[clusterer]\n";
            let mut document = Document::parse("m.toml", text).unwrap();
            document.set(assignment).unwrap_err().to_string()
        };
        for (assignment, said) in [
            ("transforms[0].deviation.x=1", "transforms[0].deviation is a value, it has no \"x\""),
            ("transforms[1]=pca", "transforms has no item [1]; its length is 1"),
            (
                "transforms[0].deviation[0].x=1",
                "transforms[0].deviation is a value, it has no \"0\"",
            ),
            ("selector[0]=pca", "selector is not a list yet; write all of it: selector=[…]"),
            ("a.b[0].c=3", "a.b is not a list yet; write all of it: a.b=[…]"),
            ("transforms[0][1]=3", "transforms[0] is a table, it has no [1]"),
        ] {
            let message = set(assignment);
            assert!(message.ends_with(said), "{assignment}: {message}");
        }
    }

    #[test]
    fn an_item_whose_id_has_a_dot_is_named_in_quotes() {
        let items = json!({ "method": [{ "id": "pck 0.5", "k": 2 }] });
        let mut node = Node::given(&items, "");
        let three = || Node::given(&json!(3), "");
        let said = node.set_at("method.pck 0.5.k", three()).unwrap_err();
        assert!(said.contains("write method.\"pck 0.5\", in quotes"), "{said}");
        node.set_at("method.\"pck 0.5\".k", three()).unwrap();
        assert_eq!(node.get("method").unwrap().items()[0].get("k").unwrap().to_value(), json!(3));
    }
}
