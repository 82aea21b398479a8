//! Method files: a method with what it needs to run alone, or a consensus function.

use mustlink::config::{self, Document, Node};
use mustlink::error::Diagnostic;
use mustlink::method::Method;
use mustlink::prelude::*;
use mustlink::{DataKind, scripts};
use mustlink_datasets::{Dataset, OpenOptions};
use serde_json::json;

use crate::failure::Failure;
use crate::job_args::{JobArgs, TimeLimit};
use crate::toml_text::as_toml;

/// The transforms of texts if the method names none.
const OF_TEXTS: [&str; 3] = ["count_words", "tf_idf", "l2_rows"];

/// A method file: what changes the data, what selects constraints, what clusters.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Described)]
#[serde(default, deny_unknown_fields)]
pub struct MethodFile {
    /// Plugins in other languages, known by their own names: `["my_method.py"]`. Paths start at this
    /// file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub plugins: Vec<scripts::Source>,
    /// Number of clusters; --k overrides it.
    #[option(min = 1)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<usize>,
    /// Seed of every random number; --seed overrides it, experiments ignore it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The parts of the method.
    #[serde(flatten)]
    pub method: Method,
}

/// A method file of `mustlink consensus`.
#[options]
pub(crate) struct ConsensusFile {
    /// Number of clusters; --k overrides it.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Seed of every random number; --seed overrides it.
    #[option(min = 0)]
    pub seed: Option<u64>,
    /// The consensus function that combines the partitions.
    #[option(slot = "voting")]
    pub consensus: Option<Box<dyn ConsensusFunction>>,
}

/// The method file after the options of the command line, with defaults filled in.
pub(crate) fn method_file(
    args: &JobArgs,
    document: Option<Document>,
    set: &Dataset,
    constrained: bool,
    selecting: bool,
) -> std::result::Result<(MethodFile, Vec<String>), Failure> {
    let own = document.is_some();
    let asks = args.selector.is_some()
        || args.oracle.is_some()
        || args.budget.is_some()
        || args.ledger.is_some()
        || !own && args.sets.iter().any(|set| sets(set, "selector") || sets(set, "oracle"));
    let mut document = match document {
        Some(document) => document,
        None => Document::parse("the default method", "")?,
    };
    let mut notes = Vec::new();
    take_transforms(&mut document, args.transforms.as_ref());
    if args.text.is_some() && document.root().get("transforms").is_none() {
        document.root_mut().insert("transforms", Node::synthetic(&json!(OF_TEXTS)));
        if !args.sets.iter().any(|set| sets(set, "transforms")) {
            notes.push(format!("transforms = {OF_TEXTS:?}; --set transforms=… chooses others"));
        }
    }
    let mut default_clusterer = None;
    if !own && args.clusterer.is_none() {
        let clusterer = default_clusterer_for(
            set,
            constrained || asks || selecting,
            selecting || args.one_method,
        );
        document.root_mut().insert("clusterer", Node::synthetic(&clusterer));
        default_clusterer = Some(note_of(&clusterer));
    }
    let none = args.clusterer.as_deref() == Some("none");
    let shortcuts = [
        ("clusterer", args.clusterer.as_deref().filter(|_| !none)),
        ("selector", args.selector.as_deref()),
        ("oracle", args.oracle.as_deref()),
    ];
    let mut complaints = set_options(&mut document, &shortcuts, &args.sets);
    if document.root().get("selector").is_none() && (asks || selecting) {
        if own {
            return Err(Failure::usage(
                "the method has no selector and asks no questions; name one with --selector (run \"mustlink \
                 list query-selectors\")",
            ));
        }
        notes.push("selector = \"explore_consolidate\"; --selector chooses another".into());
        let node = Node::synthetic(&json!("explore_consolidate"));
        document.root_mut().insert("selector", node);
    }
    config::validate::<MethodFile>(document.root(), "", config::Check::default(), &mut complaints);
    if !complaints.is_empty() {
        as_written(&mut complaints, &shortcuts);
        return Err(Error::Config(complaints).into());
    }
    let mut file: MethodFile = config::build(document.root(), "")?;
    if none {
        file.method.clusterer = None;
    }
    if let Some(note) = default_clusterer {
        fit_default(args, set, selecting, note, &mut file.method, &mut notes)?;
    }
    if let Some(time) = args.time {
        file.method.clusterer = Some(limited(file.method.clusterer.as_deref(), time)?);
    }
    Ok((file, notes))
}

/// `clusterer` with a time limit.
///
/// # Errors
/// `Usage` for a clusterer that has no such option.
fn limited(
    clusterer: Option<&(dyn BaseClusterer + 'static)>,
    time: TimeLimit,
) -> Result<Box<dyn BaseClusterer>> {
    let Some(auto) = clusterer.filter(|c| c.typetag_name() == "auto") else {
        let tag = clusterer.map_or("none", |c| c.typetag_name());
        return Err(Error::Usage(format!(
            "--time limits auto, which tries many methods, and the clusterer is {tag}"
        )));
    };
    let mut config = auto.to_value();
    let (option, value) = match time {
        // The largest effort that the option takes.
        TimeLimit::None => ("effort", 1e12),
        TimeLimit::Seconds(seconds) => ("time_budget_seconds", seconds),
    };
    config["type"] = "auto".into();
    config[option] = value.into();
    <dyn BaseClusterer as RoleObject>::from_value(config).map_err(Error::Usage)
}

/// Sets the parts of a method that the command line gives: plugins by their slots, then the values of --set.
/// Gives all complaints.
pub(crate) fn set_options(
    document: &mut Document,
    plugins: &[(&str, Option<&str>)],
    sets: &[String],
) -> Vec<Diagnostic> {
    let plugins = plugins.iter().filter_map(|(slot, value)| Some(format!("{slot}={}", (*value)?)));
    let mut complaints = Vec::new();
    for set in plugins.chain(sets.iter().cloned()) {
        match document.set(&set) {
            Ok(()) => {}
            Err(Error::Config(list)) => complaints.extend(list),
            Err(e) => complaints.push(Node::synthetic(&Value::Null).diagnostic("", e.to_string())),
        }
    }
    complaints
}

/// Names the options of the command line in complaints: the user wrote --clusterer x, not --set clusterer=x.
pub(crate) fn as_written(complaints: &mut [Diagnostic], plugins: &[(&str, Option<&str>)]) {
    for (slot, value) in plugins.iter().filter_map(|(slot, value)| Some((slot, (*value)?))) {
        let set = format!("--set {slot}={value}");
        for complaint in complaints.iter_mut().filter(|c| c.source == set) {
            complaint.source = format!("--{slot} {value}");
        }
    }
}

/// Gives a method without transforms those of the data set.
fn take_transforms(document: &mut Document, of_data: Option<&Value>) {
    if let (None, Some(transforms)) = (document.root().get("transforms"), of_data) {
        document.root_mut().insert("transforms", Node::synthetic(transforms));
    }
}

/// The columns that a method declares to be categories, with the changes of `--set` applied.
/// `of_data`: the transforms of the data set.
pub(crate) fn categories(
    document: Option<&Document>,
    of_data: Option<&Value>,
    sets: &[String],
) -> Vec<String> {
    let Some(mut document) = document.cloned().or_else(|| Document::parse("", "").ok()) else {
        return Vec::new();
    };
    take_transforms(&mut document, of_data);
    // Errors in options are reported when the method is built.
    sets.iter().for_each(|set| drop(document.set(set)));
    let transforms = document.root().get("transforms").map(Node::to_value).unwrap_or_default();
    OpenOptions::declared_categories(&transforms)
}

/// Fits the default clusterer, which `note` names, to what the selector needs of one.
fn fit_default(
    args: &JobArgs,
    set: &Dataset,
    selecting: bool,
    mut note: String,
    method: &mut Method,
    notes: &mut Vec<String>,
) -> Result<()> {
    let selector = method.selector.as_ref().map(|s| (s.typetag_name(), s.properties()));
    let Some((tag, facts)) = selector else {
        if !selecting {
            notes.push(note);
        }
        return Ok(());
    };
    let changed = args.sets.iter().any(|set| sets(set, "clusterer"));
    if facts.self_clustering && !changed && !selecting {
        notes.push(format!("{tag} makes the clusters itself; --clusterer chooses another method"));
        method.clusterer = None;
        return Ok(());
    }
    // One that asks by what its last answers made of the clusters clusters again for each question.
    if facts.needs_clustering && !changed && !selecting {
        let clusterer = default_clusterer_for(set, true, true);
        note = note_of(&clusterer);
        method.clusterer = Some(config::instantiate(clusterer).map_err(Error::Usage)?);
    }
    if facts.needs_candidates && !changed {
        // Auto is no default here: it clusters for minutes where there are many objects, and a person waits.
        notes.push(format!(
            "{tag} asks about random pairs, because the clusterer below tries no candidates; --clusterer auto tries \
             candidates again after every batch of answers"
        ));
    }
    if facts.needs_clustering || !selecting {
        notes.push(note);
    }
    Ok(())
}

/// True if an option `--set` is about this part of a method.
fn sets(set: &str, slot: &str) -> bool {
    set.trim_start().starts_with(slot)
}

fn note_of(clusterer: &Value) -> String {
    let shown = as_toml(clusterer).trim().replace('\n', ", ");
    format!("clusterer = {{ {shown} }}; --clusterer or --method chooses another")
}

/// The clusterer where none is named. `one`: one method, because it is run many times or has to say
/// what it learned.
fn default_clusterer_for(set: &Dataset, constrained: bool, one: bool) -> Value {
    // Nor does auto take objects that count more than once.
    let one = one || set.data.weights().is_some();
    match set.data.kind() {
        DataKind::Distances if !constrained => return json!({ "type": "hierarchical" }),
        DataKind::Distances => return json!({ "type": "constrained_complete_link" }),
        DataKind::Affinity if !constrained => return json!({ "type": "spectral" }),
        DataKind::Affinity => return json!({ "type": "cosc" }),
        _ => {}
    }
    match (constrained, one) {
        (true, false) => json!({ "type": "auto" }),
        (true, true) => json!({ "type": "pck_means", "weight": "auto" }),
        (false, _) => json!({ "type": "kmeans" }),
    }
}
