//! The command `describe`: a plugin with its options, or a data set.

use std::fmt::Write;

use clap_complete::ArgValueCompleter;
use mustlink::config::{self, Accepted};
use mustlink::kind::Opt;
use mustlink::registry::{Catalogue, Descriptor, Role, suggestion};
use mustlink_datasets::Dataset;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::complete;
use crate::failure::Failure;
use crate::options::{DataDir, Listing};
use crate::term;
use crate::toml_text::{as_toml, by_lines};

/// Describe a plugin or a named data set
#[derive(Debug, clap::Args)]
#[command(before_help = "Example: mustlink describe pck_means")]
pub(crate) struct Args {
    /// Name of the plugin or data set
    #[arg(add = ArgValueCompleter::new(complete::described))]
    name: String,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = Listing::Table)]
    format: Listing,
    #[command(flatten)]
    data: DataDir,
}

/// Everything the catalogue knows about a plugin.
#[derive(Debug, Serialize)]
pub struct Description {
    name: &'static str,
    /// Other names that are accepted for it.
    aliases: &'static [&'static str],
    role: &'static str,
    summary: String,
    /// Its documentation, with plain words for the errors.
    pub documentation: String,
    /// Its options, in the order of the source.
    pub options: Vec<PlugOption>,
    /// Its properties at the defaults.
    pub properties: Value,
    references: &'static [&'static str],
    version: u32,
    package: &'static str,
    source: String,
    /// A configuration with every default, as TOML.
    pub example: String,
    /// Values that absent options have, written out.
    pub written_out: Vec<WrittenOut>,
}

/// The value that an absent option has, written out as part of a file.
#[derive(Debug, Serialize)]
pub struct WrittenOut {
    option: String,
    /// On what data; empty for all.
    on: String,
    /// The table, as TOML.
    pub example: String,
}

impl WrittenOut {
    /// The heading of a description.
    pub fn title(&self) -> String {
        let on = if self.on.is_empty() { String::new() } else { format!(", on {}", self.on) };
        format!("Default of {}{on}", self.option)
    }
}

/// One option of a plugin.
#[derive(Debug, Serialize)]
pub struct PlugOption {
    /// Its name.
    pub name: String,
    /// The values that it accepts, in words.
    pub accepts: String,
    default: Value,
    /// Its documentation.
    pub description: String,
}

impl PlugOption {
    /// The default in a word or two: of a plugin its name.
    pub fn shown_default(&self) -> String {
        match &self.default {
            Value::Null => "absent".into(),
            Value::Array(items) if items.is_empty() => "an empty list".into(),
            Value::Array(items) if items.iter().any(Value::is_object) => "a list of tables".into(),
            Value::Object(map) if map.is_empty() => "an empty table".into(),
            Value::Object(map) => map.get("type").map_or("a table".into(), plain),
            other => plain(other),
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    let catalogue = Catalogue::get()?;
    if let Some(d) = catalogue.find(&args.name) {
        let description = description(d)?;
        match args.format {
            Listing::Json => term::print_json(&description)?,
            Listing::Table => term::print(&text(&description))?,
        }
        return Ok(0);
    }
    let listings = mustlink_datasets::available(&args.data.open_options())?;
    if listings.iter().any(|l| l.name == args.name) {
        let set = mustlink_datasets::open(&args.name, &args.data.open_options())?;
        return dataset(&set, args.format);
    }
    let tags = catalogue.all().iter().map(|d| d.tag);
    let near = suggestion(&args.name, tags.chain(listings.iter().map(|l| l.name.as_str())));
    Err(Failure::usage(format!(
        "no plugin or data set \"{}\"; run \"mustlink list\" or \"mustlink list datasets\"{near}",
        args.name
    )))
}

fn dataset(set: &Dataset, format: Listing) -> Result<u8, Failure> {
    let sizes = set.class_sizes();
    if format == Listing::Json {
        let classes: Map<String, Value> =
            sizes.into_iter().map(|(name, size)| (name, size.into())).collect();
        term::print_json(&json!({
            "name": set.name,
            "n": set.n(),
            "d": set.d(),
            "k": set.k(),
            "kind": set.data.kind().name(),
            "class_sizes": classes,
            "features": set.feature_names,
            "provenance": set.provenance,
        }))?;
        return Ok(0);
    }
    let data = format!("{}: {}", set.name, set.summary());
    let mut lines = vec![("data", data), ("kind", set.data.kind().name().into())];
    if !sizes.is_empty() {
        let sizes: Vec<String> = sizes.iter().map(|(name, n)| format!("{name} {n}")).collect();
        lines.push(("classes", sizes.join(", ")));
    }
    lines.push(("from", set.provenance.clone()));
    term::print_styled(&term::summary(&[lines], None))?;
    Ok(0)
}

/// Errors in the documentation of plugins, in plain words.
const ERRORS: [(&str, &str); 22] = [
    ("`BadK`", "*invalid k*"),
    ("`BadParam`", "*invalid value*"),
    ("`ClosureTooLarge`", "*closure too large*"),
    ("`Data`", "*invalid data*"),
    ("`Feature`", "*invalid feature*"),
    ("`HardNotSupported`", "*hard rows not supported*"),
    ("`IndexOutOfRange`", "*unknown object*"),
    ("`InconsistentConstraints`", "*contradiction*"),
    ("`InfeasibleConstraints`", "*infeasible constraints*"),
    ("`Memory`", "*memory limit*"),
    ("`MissingK`", "*missing k*"),
    ("`NonFinite`", "*NaN or infinity*"),
    ("`NumericalFailure`", "*numerical failure*"),
    ("`Oracle`", "*oracle error*"),
    ("`Plugin`", "*plugin error*"),
    ("`TimedOut`", "*time limit*"),
    ("`TooManyClusters`", "*more clusters than objects*"),
    ("`TooManyGroupPairs`", "*too many pairs of groups*"),
    ("`TooManyPropagated`", "*too many pairs*"),
    ("`UndecidedConstraints`", "*undecided constraints*"),
    ("`UnsupportedData`", "*unsupported data*"),
    ("`Usage`", "*wrong usage*"),
];

/// The documentation of a plugin, with plain words for the errors.
fn documentation(d: &Descriptor) -> String {
    let text = d.documentation();
    ERRORS.iter().fold(text, |text, (error, words)| text.replace(error, words))
}

/// The description of a plugin.
///
/// # Errors
/// The default configuration does not resolve.
pub fn description(d: &'static Descriptor) -> mustlink::Result<Description> {
    let default = config::resolve_plugin(&d.default_config())?;
    Ok(Description {
        name: d.tag,
        aliases: d.aliases,
        role: d.role.name(),
        summary: d.summary(),
        documentation: documentation(d),
        options: options(d, &default),
        properties: d.facts(),
        references: d.references,
        version: d.version,
        package: d.package,
        source: format!("{}:{}", d.file, d.line),
        example: example(d.role, &default),
        written_out: written_out(d),
    })
}

/// The options in the order of the source, or by name for a plugin in another language.
fn options(d: &Descriptor, default: &Value) -> Vec<PlugOption> {
    let described = |option: &Opt| PlugOption {
        name: option.name.into(),
        accepts: Accepted::from(*option).expected(),
        default: default.get(option.name).cloned().unwrap_or_default(),
        description: option.doc.trim().replace('\n', " "),
    };
    d.options().into_iter().map(described).collect()
}

/// The value of each absent option that declares one: a list whose items are meant to be taken into a file and
/// changed.
fn written_out(d: &Descriptor) -> Vec<WrittenOut> {
    let table = match d.role {
        Role::Metric => "[[scoring.metrics]]".to_string(),
        Role::Transform => "[[transforms]]".to_string(),
        role => format!("[{}]", role.key()),
    };
    let mut written_out = Vec::new();
    for option in d.options() {
        let cases = option.absent.map(|absent| absent()).unwrap_or_default();
        for (on, value) in cases.as_object().into_iter().flatten() {
            let (Some(items), option, on) = (value.as_array(), option.name.to_string(), on.clone())
            else {
                continue;
            };
            let example =
                format!("{table}\ntype = \"{}\"\n{option} = {}\n", d.tag, by_lines(items));
            written_out.push(WrittenOut { option, on, example });
        }
    }
    written_out
}

/// The plugin as part of a file, every option at its default.
fn example(role: Role, plugin: &Value) -> String {
    let value = match role {
        Role::Metric => json!({ "scoring": { "metrics": [plugin] } }),
        Role::Transform => json!({ "transforms": [plugin] }),
        // These stand inside a clusterer.
        Role::EnsembleGenerator => {
            json!({ "clusterer": { "type": "ensemble", "generator": plugin } })
        }
        Role::ConstraintPropagator => {
            json!({ "clusterer": { "type": "gpk_means", "propagator": plugin } })
        }
        role => json!({ role.key(): plugin }),
    };
    as_toml(&value)
}

fn text(d: &Description) -> String {
    let mut out = format!("{}: {}\n\n{}\n", d.name, d.role, d.documentation);
    // Writing to a string cannot fail.
    let _ = writeln!(out, "\nOptions{}", if d.options.is_empty() { ": none" } else { "" });
    for o in &d.options {
        let _ = writeln!(out, "  {} = {}", o.name, o.shown_default());
        let _ = writeln!(out, "      {}", o.description);
        let _ = writeln!(out, "      accepts {}", o.accepts);
    }
    if let Some(facts) = d.properties.as_object().filter(|f| !f.is_empty()) {
        let _ = writeln!(out, "\nProperties, with these options");
        for (name, fact) in facts {
            let _ = writeln!(out, "  {name} = {}", plain(fact));
        }
    }
    if !d.aliases.is_empty() {
        let _ = writeln!(out, "\nAlso found as: {}", d.aliases.join(", "));
    }
    if !d.references.is_empty() {
        let _ = writeln!(out, "\nReferences: {}", d.references.join(", "));
    }
    let _ = writeln!(out, "Source: {} ({})", d.source, d.package);
    let _ = write!(out, "\nExample\n{}", d.example);
    for w in &d.written_out {
        let _ = write!(out, "\n{}\n{}", w.title(), w.example);
    }
    out
}

/// A value as part of a text.
pub fn plain(value: &Value) -> String {
    match value {
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method_file::ConsensusFile;
    use mustlink::config::Document;
    use mustlink::method::Method;

    #[test]
    fn options_are_in_the_order_of_the_source() {
        let d = Catalogue::get().unwrap().find("pck_means").unwrap();
        let described = description(d).unwrap();
        let names: Vec<&str> = described.options.iter().map(|o| o.name.as_str()).collect();
        assert_eq!(names[..5], ["k", "distortion", "weight", "weight_cannot", "entail"]);
        assert_eq!(names.last(), Some(&"half_distortion"));
    }

    #[test]
    fn errors_are_in_plain_words() {
        let is_type = |span: &&str| {
            span.starts_with(|c: char| c.is_ascii_uppercase())
                && span.contains(|c: char| c.is_ascii_lowercase())
                && span.chars().all(|c| c.is_ascii_alphanumeric())
        };
        for d in Catalogue::get().unwrap().all() {
            let text = documentation(d);
            let named: Vec<&str> = text.split('`').skip(1).step_by(2).filter(is_type).collect();
            assert!(named.is_empty(), "{}: {named:?}", d.tag);
        }
    }

    #[test]
    fn examples_are_legal() {
        for d in Catalogue::get().unwrap().all() {
            let described = description(d).unwrap();
            let written_out = described.written_out.iter().map(|w| &w.example);
            for text in written_out.chain([&described.example]) {
                let document = Document::parse("example", text).unwrap();
                let built = match d.role {
                    // Of an experiment.
                    Role::Metric => continue,
                    Role::ConsensusFunction => {
                        config::build::<ConsensusFile>(document.root(), "").map(drop)
                    }
                    _ => config::build::<Method>(document.root(), "").map(drop),
                };
                assert!(built.is_ok(), "{text}: {built:?}");
            }
        }
    }
}
