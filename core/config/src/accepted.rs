//! The values that a place in a configuration accepts, as the tables of options describe them.

use mustlink_core::kind::{Choice, Content, Kind, Opt, Table, Variant, defaults, flat};
use mustlink_core::options::{self, Range};
use mustlink_core::registry::Catalogue;
use mustlink_core::role::Role;
use serde_json::{Map, Value};

use crate::document::{Node, NodeKind};

/// The values that a place accepts: their kind, and the range that is declared there.
#[derive(Debug, Clone, Copy)]
pub struct Accepted {
    /// Their kind.
    pub kind: &'static Kind,
    /// The range of a number.
    pub range: Range,
}

impl From<&'static Kind> for Accepted {
    fn from(kind: &'static Kind) -> Self {
        Accepted { kind, range: Range::ANY }
    }
}

impl From<Opt> for Accepted {
    fn from(option: Opt) -> Self {
        Accepted { kind: option.kind, range: option.range }
    }
}

/// A form that a value may have.
#[derive(Debug, Clone, Copy)]
pub enum Form {
    /// This word.
    Word(&'static str),
    /// Null.
    Nothing,
    /// A value of one kind, which is neither a choice nor may be absent.
    Value(Accepted),
    /// A variant that is a table.
    Variant(&'static Choice, &'static Variant),
}

/// The options that a table may have.
pub struct Options {
    /// The options, in the order of the source.
    pub all: Vec<Opt>,
    /// The option that names the variant.
    pub tag: Option<&'static str>,
    /// True if unknown options are an error.
    pub closed: bool,
    table: Option<&'static Table>,
}

impl Options {
    /// The options of a struct.
    pub fn of_table(table: &'static Table) -> Self {
        let all = flat(table.options).into_iter().copied().collect();
        Options { all, tag: None, closed: table.closed, table: Some(table) }
    }

    /// The option of this name, or of this alias.
    pub fn find(&self, key: &str) -> Option<&Opt> {
        let named = self.all.iter().find(|option| option.name == key);
        named.or_else(|| self.all.iter().find(|option| option.alias == Some(key)))
    }

    /// All names, sorted.
    pub fn names(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.all.iter().map(|option| option.name).chain(self.tag).collect();
        names.sort_unstable();
        names
    }

    /// The options by name.
    fn sorted(&self) -> Vec<&Opt> {
        let mut sorted: Vec<&Opt> = self.all.iter().collect();
        sorted.sort_by_key(|option| option.name);
        sorted
    }

    /// The defaults of those that have one.
    pub fn defaults(&self) -> Map<String, Value> {
        match self.table {
            Some(table) => defaults(table.options, table.default),
            None => {
                let own = |option: &Opt| Some((option.name.to_string(), option.default?()?));
                self.all.iter().filter_map(own).collect()
            }
        }
    }

    /// The options called `key` one step below these, as paths: `split.repeats`.
    pub fn one_step_below(&self, key: &str) -> Vec<String> {
        let has = |form: Form| {
            form.options().is_some_and(|below| below.all.iter().any(|option| option.name == key))
        };
        let leads = |option: &&Opt| {
            let accepted = Accepted::from(**option);
            key != "type" && accepted.role().is_none() && accepted.forms().into_iter().any(has)
        };
        let found = self.sorted().into_iter().filter(leads);
        found.map(|option| format!("{}.{key}", option.name)).collect()
    }

    /// The option called `key` of a plugin in a slot of `table`, as a path: `clusterer.restarts` for an option
    /// written a level too high.
    pub fn of_a_plugin(&self, table: &Node, key: &str) -> Option<String> {
        let is_slot = |option: &Opt| {
            let slot = |form: &Form| matches!(form, Form::Value(value) if value.role().is_some());
            Accepted::from(*option).forms().iter().any(slot)
        };
        let has = |option: &Opt| {
            let tag = match table.get(option.name) {
                Some(node) => node.as_str().or_else(|| node.get("type")?.as_str())?,
                None => option.slot?,
            };
            Catalogue::get().ok()?.find(tag)?.option(key)?;
            Some(format!("{}.{key}", option.name))
        };
        let mut slots = self.sorted().into_iter().filter(|o| key != "type" && is_slot(o));
        slots.find_map(has)
    }
}

impl Accepted {
    /// The role of the plugins that are accepted, if it is a slot.
    pub fn role(self) -> Option<Role> {
        match self.kind {
            Kind::Slot(role) | Kind::Maybe(Kind::Slot(role)) => Some(*role),
            _ => None,
        }
    }

    /// The forms that a value may have.
    pub fn forms(self) -> Vec<Form> {
        let mut forms = Vec::new();
        self.collect(&mut forms);
        forms
    }

    fn collect(self, out: &mut Vec<Form>) {
        match self.kind {
            Kind::Auto(kind) => {
                Accepted { kind, ..self }.collect(out);
                out.push(Form::Word("auto"));
            }
            Kind::Maybe(kind) => {
                Accepted { kind, ..self }.collect(out);
                out.extend(self.role().is_none().then_some(Form::Nothing));
            }
            Kind::Choice(choice) => {
                for variant in choice.variants {
                    match &variant.content {
                        Content::Nothing if variant.untagged => out.push(Form::Nothing),
                        Content::Nothing if choice.tag.is_none() => {
                            out.push(Form::Word(variant.name));
                        }
                        Content::One(value) if variant.untagged => {
                            let range = self.range.over(&value.range);
                            Accepted { kind: value.kind, range }.collect(out);
                        }
                        _ => out.push(Form::Variant(choice, variant)),
                    }
                }
            }
            _ => out.push(Form::Value(self)),
        }
    }

    /// The forms that a value has; of several tables, those that know all its keys.
    pub(super) fn fitting(self, node: &Node) -> Vec<Form> {
        let fitting: Vec<Form> = self.forms().into_iter().filter(|form| form.fits(node)).collect();
        let knows = |form: &&Form| {
            let all = |known: Options| {
                let known = |key: &str| known.find(key).is_some() || known.tag == Some(key);
                node.entries().iter().all(|entry| known(&entry.key))
            };
            matches!(node.kind, NodeKind::Table(_)) && form.options().is_some_and(all)
        };
        let knowing: Vec<Form> = fitting.iter().filter(knows).copied().collect();
        if knowing.is_empty() { fitting } else { knowing }
    }

    /// The form that a value means: that of its `type`, otherwise the first that it fits.
    pub(super) fn chosen(self, value: &Value) -> Option<Form> {
        let forms = self.forms();
        if let [one] = forms[..] {
            return Some(one);
        }
        let of_type = forms.iter().find(|form| {
            form.word().is_some_and(|(tag, word)| value.get(tag).is_some_and(|v| v == word))
        });
        of_type.copied().or_else(|| self.fitting(&Node::synthetic(value)).into_iter().next())
    }

    /// True if a value has one of the forms.
    pub(super) fn fits(self, node: &Node) -> bool {
        self.forms().into_iter().any(|form| form.fits(node))
    }

    /// True if it takes numbers, whole ones or others.
    pub(super) fn takes_numbers(self) -> bool {
        let number = |form: &Form| match form {
            Form::Value(value) => {
                matches!(value.kind, Kind::Whole(_) | Kind::Real | Kind::Listed { .. })
            }
            _ => false,
        };
        self.forms().iter().any(number)
    }

    /// The words that are accepted.
    pub(super) fn words(self) -> Vec<&'static str> {
        let word = |form: Form| match form {
            Form::Word(word) => Some(word),
            _ => None,
        };
        self.forms().into_iter().filter_map(word).collect()
    }

    /// The range of a number. Without a sign it begins at 0.
    pub fn declared(self) -> Range {
        match self.kind {
            Kind::Whole(format) if format.starts_with('u') => {
                let most = match *format {
                    "uint8" => Some(f64::from(u8::MAX)),
                    "uint16" => Some(f64::from(u16::MAX)),
                    _ => None,
                };
                let Range { min, max, .. } = self.range;
                Range { min: min.or(Some(0.0)), max: max.or(most), ..self.range }
            }
            _ => self.range,
        }
    }

    /// Description of the accepted values.
    pub fn expected(self) -> String {
        if let Some(role) = self.role() {
            return article(role.name());
        }
        let mut parts: Vec<String> = self.words().iter().map(|w| format!("\"{w}\"")).collect();
        for form in self.forms() {
            let text = match form {
                Form::Word(_) | Form::Nothing => continue,
                Form::Variant(..) => "a table".into(),
                Form::Value(value) => match value.kind {
                    Kind::Whole(_) => value.declared().number("an integer"),
                    Kind::Real => value.declared().number("a number"),
                    Kind::Text | Kind::Character => "a string".into(),
                    Kind::Flag => "true or false".into(),
                    Kind::List(_) | Kind::Tuple(_) => "a list".into(),
                    Kind::Table(_) | Kind::Map(_) => "a table".into(),
                    Kind::Listed { numbers, .. } => {
                        parts.extend(numbers.iter().map(|x| options::plain(*x)));
                        continue;
                    }
                    _ => continue,
                },
            };
            if !parts.contains(&text) {
                parts.push(text);
            }
        }
        match parts.len() {
            0 => "another value".into(),
            1 => parts.remove(0),
            _ => {
                let last = parts.pop().expect("at least two");
                format!("{} or {last}", parts.join(", "))
            }
        }
    }
}

impl Form {
    /// The option that distinguishes tables, with its word for this one: `type = "kfold"`.
    pub fn word(self) -> Option<(&'static str, &'static str)> {
        match self {
            Form::Variant(choice, variant) => Some((choice.tag?, variant.name)),
            _ => None,
        }
    }

    /// The options of a table with this form.
    pub fn options(self) -> Option<Options> {
        match self {
            Form::Value(Accepted { kind: Kind::Table(table), .. }) => {
                Some(Options::of_table(table))
            }
            Form::Variant(choice, variant) => {
                let (all, closed) = match &variant.content {
                    Content::Nothing => (Vec::new(), choice.closed),
                    Content::One(value) => {
                        (vec![Opt { name: variant.name, required: true, ..*value }], true)
                    }
                    Content::Options(options) => (options.to_vec(), choice.closed),
                };
                Some(Options { all, tag: choice.tag, closed, table: None })
            }
            _ => None,
        }
    }

    fn fits(self, node: &Node) -> bool {
        let accepted = match self {
            Form::Word(word) => return node.as_str() == Some(word),
            Form::Nothing => return matches!(node.kind, NodeKind::Value(Value::Null)),
            Form::Variant(..) => return matches!(node.kind, NodeKind::Table(_)),
            Form::Value(accepted) => accepted,
        };
        let whole = |v: &Value| v.is_i64() || v.is_u64();
        match (accepted.kind, &node.kind) {
            (Kind::Any, _) => true,
            (Kind::Table(_) | Kind::Map(_) | Kind::Slot(_), NodeKind::Table(_)) => true,
            (Kind::List(_) | Kind::Tuple(_), NodeKind::Array(_)) => true,
            (Kind::Slot(_) | Kind::Text | Kind::Character, NodeKind::Value(v)) => v.is_string(),
            (Kind::Flag, NodeKind::Value(v)) => v.is_boolean(),
            (Kind::Whole(_), NodeKind::Value(v)) => whole(v),
            (Kind::Real, NodeKind::Value(v)) => v.is_number(),
            (Kind::Listed { whole: is_whole, numbers }, NodeKind::Value(v)) => {
                let number = v.as_f64().filter(|_| !is_whole || whole(v));
                number.is_some_and(|x| numbers.contains(&x))
            }
            _ => false,
        }
    }
}

pub(super) fn article(name: &str) -> String {
    let vowel = name.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {name}", if vowel { "an" } else { "a" })
}

/// Distance of `k = "classes"`, `"classes+1"`, `"classes-2"`, … from the number of classes; `None` for
/// other words, and for a distance larger than any number of clusters.
pub fn classes_offset(word: &str) -> Option<i64> {
    let rest = word.strip_prefix("classes")?;
    match rest.as_bytes() {
        [] => Some(0),
        [b'+' | b'-', digits @ ..] if digits.iter().all(u8::is_ascii_digit) => {
            rest.parse::<i32>().ok().map(i64::from)
        }
        _ => None,
    }
}
