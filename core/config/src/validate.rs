//! The validation of a tree against the options of its types and plugins.

use serde_json::Value;

use crate::accepted::{Accepted, Form, Options, article, classes_offset};
use crate::axis::axis_values;
use crate::document::{Entry, Node, NodeKind};
use mustlink_core::error::Diagnostic;
use mustlink_core::kind::{Described, Kind, Opt};
use mustlink_core::options::{self, below};
use mustlink_core::registry::{Catalogue, suggestion};
use mustlink_core::role::Role;

/// Settings of a check.
#[derive(Debug, Clone, Copy, Default)]
pub struct Check {
    /// `k = "classes"`, `"classes+1"`, … and `k = "unknown"` are legal (experiments).
    pub classes: bool,
    /// A list, or a range of numbers, is legal where a single value is wanted: an axis of methods
    /// (experiments).
    pub axes: bool,
}

/// Checks a tree against the options of `T` and of every plugin named in it; appends all complaints.
pub fn validate<T: Described>(node: &Node, path: &str, check: Check, out: &mut Vec<Diagnostic>) {
    let mut walk = Walk { check, out, axes: Vec::new() };
    walk.value(node, T::KIND.into(), path, "the configuration");
}

/// Errors of a value that should be one of those that are accepted.
pub fn complaints(value: &Value, accepted: impl Into<Accepted>) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    let mut walk = Walk { check: Check::default(), out: &mut out, axes: Vec::new() };
    walk.value(&Node::synthetic(value), accepted.into(), "", "the configuration");
    out
}

/// The paths of lists and ranges at which `T` has a single value.
pub fn axes<T: Described>(node: &Node) -> Vec<String> {
    let mut out = Vec::new();
    let check = Check { classes: true, axes: true };
    let mut walk = Walk { check, out: &mut out, axes: Vec::new() };
    walk.value(node, T::KIND.into(), "", "");
    walk.axes
}

struct Walk<'a> {
    check: Check,
    out: &'a mut Vec<Diagnostic>,
    axes: Vec<String>,
}

impl Walk<'_> {
    fn complain(&mut self, node: &Node, path: &str, message: String) {
        self.out.push(node.diagnostic(path, message));
    }

    fn value(&mut self, node: &Node, accepted: Accepted, path: &str, owner: &str) {
        if let Some(role) = accepted.role() {
            return self.plugin(node, role, path);
        }
        let forms = accepted.forms();
        // Tables told apart by a word: `type = "kfold"`.
        let words: Vec<(&str, &str)> = forms.iter().filter_map(|form| form.word()).collect();
        if let (NodeKind::Table(_), Some((tag, _))) = (&node.kind, words.first()) {
            let words: Vec<&str> = words.iter().map(|(_, word)| *word).collect();
            let quoted = words.iter().map(|t| format!("\"{t}\"")).collect::<Vec<_>>().join(", ");
            let Some(given) = node.get(tag) else {
                return self.complain(node, path, format!("needs a {tag}, one of {quoted}"));
            };
            let word = given.as_str().unwrap_or_default();
            let chosen = forms.iter().find(|form| form.word().is_some_and(|(_, own)| own == word));
            return match chosen {
                Some(chosen) => self.form(node, *chosen, path, word),
                None => {
                    let near = suggestion(word, words);
                    let message =
                        format!("must be one of {quoted}, got {}{near}", given.describe());
                    self.complain(given, &below(path, tag), message);
                }
            };
        }
        match accepted.fitting(node).as_slice() {
            [] => {
                let values = self.axis(node, accepted, path).unwrap_or_default();
                values.iter().for_each(|item| self.value(item, accepted, path, owner));
            }
            [one] => self.form(node, *one, path, owner),
            several => {
                // The first that has nothing to complain about, else the complaints of the first.
                let mut first: Option<Vec<Diagnostic>> = None;
                for form in several {
                    let mut out = Vec::new();
                    let mut walk = Walk { check: self.check, out: &mut out, axes: Vec::new() };
                    walk.form(node, *form, path, owner);
                    let found = walk.axes;
                    if out.is_empty() {
                        self.axes.extend(found);
                        return;
                    }
                    first.get_or_insert(out);
                }
                self.out.extend(first.unwrap_or_default());
            }
        }
    }

    /// Checks a value that has one of the accepted forms.
    fn form(&mut self, node: &Node, form: Form, path: &str, owner: &str) {
        if let (NodeKind::Table(entries), Some(options)) = (&node.kind, form.options()) {
            return self.table(node, entries, &options, path, owner);
        }
        let Form::Value(accepted) = form else { return };
        match (accepted.kind, &node.kind) {
            (Kind::Slot(role), _) => self.plugin(node, *role, path),
            (Kind::Map(each), NodeKind::Table(entries)) => {
                for entry in entries {
                    self.value(&entry.node, (*each).into(), &below(path, &entry.key), owner);
                }
            }
            (Kind::List(each), NodeKind::Array(items)) => {
                for (at, item) in items.iter().enumerate() {
                    self.value(item, (*each).into(), &format!("{path}[{at}]"), owner);
                }
            }
            // As the two objects of a pair.
            (Kind::Tuple(places), NodeKind::Array(items)) => {
                let (wanted, got) = (places.len(), items.len());
                if got != wanted {
                    let message = format!("must be a list of {wanted} values, got {got}");
                    return self.complain(node, path, message);
                }
                for (at, (item, place)) in items.iter().zip(*places).enumerate() {
                    self.value(item, (*place).into(), &format!("{path}[{at}]"), owner);
                }
            }
            (_, NodeKind::Value(v)) => {
                if let Some(legal) = v.as_f64().and_then(|x| accepted.declared().refusal(x)) {
                    self.complain(node, path, format!("must be {legal}, got {}", plain(v)));
                }
            }
            _ => {}
        }
    }

    /// The values of a list or range in place of one value, which is then an axis. `None` for any other
    /// value, and for an axis that is not allowed here, which is reported.
    fn axis(&mut self, node: &Node, accepted: Accepted, path: &str) -> Option<Vec<Node>> {
        let is_range = matches!(node.kind, NodeKind::Table(_));
        let values = axis_values(node).filter(|_| self.check.axes);
        match values.filter(|_| !is_range || accepted.takes_numbers()) {
            Some(Ok(values)) => {
                self.axes.push(path.into());
                return Some(values);
            }
            Some(Err(message)) => self.complain(node, path, message),
            None => self.mismatch(node, accepted, path),
        }
        None
    }

    fn mismatch(&mut self, node: &Node, accepted: Accepted, path: &str) {
        let near = match &node.kind {
            NodeKind::Value(Value::String(text)) => suggestion(text, accepted.words()),
            _ => String::new(),
        };
        let message = format!("must be {}, got {}{near}", accepted.expected(), node.describe());
        self.complain(node, path, message);
    }

    /// Checks the command of a program: one list of words. True if it is one.
    fn is_command(&mut self, node: &Node, path: &str) -> bool {
        let list = |item: &Node| matches!(item.kind, NodeKind::Array(_));
        let Some(at) = node.items().iter().position(list) else { return true };
        let message = "must be a word, got a list: a command is one list of words; what varies goes into \
                       options = { … }, another program into a method of its own";
        self.complain(&node.items()[at], &format!("{path}[{at}]"), message.into());
        false
    }

    fn table(
        &mut self,
        node: &Node,
        entries: &[Entry],
        options: &Options,
        path: &str,
        owner: &str,
    ) {
        for entry in entries {
            let here = below(path, &entry.key);
            match options.find(&entry.key) {
                Some(Opt { name, .. })
                    if *name != entry.key && entries.iter().any(|e| e.key == *name) =>
                {
                    self.complain(&entry.node, &here, format!("is the same option as {name}"));
                }
                Some(option) => {
                    let accepted = Accepted::from(*option);
                    let word = entry.node.as_str();
                    let classes = entry.key == "k"
                        && word.is_some_and(|w| w == "unknown" || classes_offset(w).is_some());
                    if self.check.classes
                        && entry.key == "k"
                        && let Some(word) = word.filter(|_| !classes)
                        && !accepted.fits(&entry.node)
                    {
                        let near = suggestion(word, ["classes", "unknown"]);
                        let message = format!(
                            "must be an integer, at least 1, \"classes\", \"classes+1\" (or any other \
                             number more or fewer) or \"unknown\", got \"{word}\"{near}"
                        );
                        self.complain(&entry.node, &here, message);
                    } else if !(self.check.classes && classes)
                        && (!option.program || self.is_command(&entry.node, &here))
                    {
                        self.value(&entry.node, accepted, &here, owner);
                    }
                }
                None if options.tag == Some(entry.key.as_str()) => {}
                None if options.closed => {
                    let names = options.names();
                    let near = suggestion(&entry.key, names.iter().copied());
                    let mut deeper = options.one_step_below(&entry.key);
                    deeper.extend(options.of_a_plugin(node, &entry.key));
                    let help = match (deeper.as_slice(), near.is_empty(), names.is_empty()) {
                        ([path, ..], _, _) => format!("; did you mean \"{path}\"?"),
                        (_, false, _) => near,
                        (_, true, true) => "; it has no options".into(),
                        (_, true, false) => format!("; accepted: {}", names.join(", ")),
                    };
                    let message = format!("unknown option of {owner}{help}");
                    self.out.push(entry.diagnostic(&here, message));
                }
                None => {}
            }
        }
        for option in options.all.iter().filter(|option| option.required) {
            if !entries.iter().any(|e| e.key == option.name) {
                self.complain(
                    node,
                    &below(path, option.name),
                    format!("missing option of {owner}"),
                );
            }
        }
    }

    fn plugin(&mut self, node: &Node, role: Role, path: &str) {
        let list = format!("run \"mustlink list {}\"", role.plural());
        let (tag, at) = match &node.kind {
            NodeKind::Value(Value::String(tag)) => (tag.as_str(), node),
            NodeKind::Table(_) => match node.get("type") {
                Some(t) => match t.as_str() {
                    Some(tag) => (tag, t),
                    None => {
                        let message = format!(
                            "must be the name of {}, got {}; {list}",
                            article(role.name()),
                            t.describe()
                        );
                        return self.complain(t, &below(path, "type"), message);
                    }
                },
                None => {
                    let message =
                        format!("needs a type, the name of {}; {list}", article(role.name()));
                    return self.complain(node, path, message);
                }
            },
            NodeKind::Array(items) if self.check.axes && !items.is_empty() => {
                self.axes.push(path.into());
                for item in items {
                    self.plugin(item, role, path);
                }
                return;
            }
            _ => {
                let message =
                    format!("must be {}, got {}; {list}", article(role.name()), node.describe());
                return self.complain(node, path, message);
            }
        };
        let catalogue = match Catalogue::get() {
            Ok(catalogue) => catalogue,
            Err(e) => return self.complain(at, path, e.to_string()),
        };
        match catalogue.find(tag) {
            None => {
                let near = suggestion(tag, catalogue.role(role).map(|d| d.tag));
                let sep = if near.is_empty() { ";" } else { "" };
                self.complain(at, path, format!("no {} \"{tag}\"{near}{sep} {list}", role.name()));
            }
            Some(d) if d.role != role => {
                let message = format!(
                    "\"{tag}\" is {}, not {}; {list}",
                    article(d.role.name()),
                    article(role.name())
                );
                self.complain(at, path, message);
            }
            Some(d) => {
                if let (NodeKind::Table(entries), Kind::Table(table)) = (&node.kind, d.kind) {
                    let entries: Vec<Entry> =
                        entries.iter().filter(|e| e.key != "type").cloned().collect();
                    self.table(node, &entries, &Options::of_table(table), path, tag);
                }
            }
        }
    }
}

/// A number as people write it: 3 for 3.0.
fn plain(v: &Value) -> String {
    v.as_f64().map_or_else(|| v.to_string(), options::plain)
}

#[cfg(test)]
mod tests {
    use mustlink_core::kind::Kind;
    use mustlink_core::options::check;
    use mustlink_core::prelude::*;
    use serde_json::json;

    use super::complaints;
    use crate::accepted::Accepted;
    use crate::from_schema;

    #[options]
    struct Options {
        #[option(default = AutoOr::Auto, above = 0.0, max = 9.0)]
        width: AutoOr<f64>,
        #[option(min = 1)]
        count: Option<AutoOr<usize>>,
    }

    #[test]
    fn the_range_at_the_option_is_that_of_the_value() {
        let wrong = [
            (json!({"width": 0.0}), "width: must be above 0 and at most 9, got 0"),
            (json!({"width": 9.5}), "width: must be above 0 and at most 9, got 9.5"),
            (json!({"count": 0}), "count: must be at least 1, got 0"),
        ];
        for (options, said) in wrong {
            let found = complaints(&options, Options::KIND);
            assert_eq!(format!("{}: {}", found[0].path, found[0].message), said);
            // Built in Rust it is refused in the same words.
            let built: Options = serde_json::from_value(options).unwrap();
            assert_eq!(check(&built).unwrap_err().to_string(), said);
        }
        let nan = Options { width: f64::NAN.into(), ..Options::default() };
        let said = check(&nan).unwrap_err().to_string();
        assert!(
            said.starts_with("width: must be \"auto\" or a number above 0 and at most 9, got NaN"),
            "{said}"
        );
        for legal in [json!({"width": "auto", "count": "auto"}), json!({"width": 9.0, "count": 1})]
        {
            assert!(complaints(&legal, Options::KIND).is_empty());
            let built: Options = serde_json::from_value(legal).unwrap();
            assert_eq!(check(&built), Ok(()));
        }
        let Kind::Table(table) = Options::KIND else { panic!("a struct") };
        let count = Accepted::from(table.options[1]).expected();
        assert_eq!(count, "\"auto\" or an integer, at least 1");
    }

    #[options]
    struct Pairs {
        pairs: Vec<(u32, u32)>,
    }

    #[test]
    fn each_place_of_a_pair_is_looked_at() {
        for (pairs, said) in [
            (json!([[0, 1], [2]]), "pairs[1]: must be a list of 2 values, got 1"),
            (json!([[0, 1, 2]]), "pairs[0]: must be a list of 2 values, got 3"),
            (json!([[0, -1]]), "pairs[0][1]: must be at least 0, got -1"),
            (json!([[0.5, 1]]), "pairs[0][0]: must be an integer, at least 0, got 0.5"),
            (json!([["a", 1]]), "pairs[0][0]: must be an integer, at least 0, got string \"a\""),
        ] {
            let found = complaints(&json!({ "pairs": pairs }), Pairs::KIND);
            assert_eq!(format!("{}: {}", found[0].path, found[0].message), said);
        }
        assert!(complaints(&json!({ "pairs": [[0, 1], [2, 3]] }), Pairs::KIND).is_empty());
    }

    #[test]
    fn numbers_that_a_schema_lists_are_all() {
        let whole = json!({ "type": "integer", "enum": [1, 2, 50] });
        let any = json!({ "type": "number", "enum": [0.5, 1.0] });
        for (value, schema, said) in [
            (json!(7), &whole, "must be 1, 2 or 50, got 7"),
            (json!(0.7), &any, "must be 0.5 or 1, got 0.7"),
        ] {
            assert_eq!(complaints(&value, from_schema("", schema))[0].message, said);
        }
        assert!(complaints(&json!(50), from_schema("", &whole)).is_empty());
        assert!(complaints(&json!(1), from_schema("", &any)).is_empty());
    }
}
