//! The command `score`: the agreement of two columns of labels.

use mustlink::registry::{self, Catalogue, Role, suggestion};
use mustlink::roles::{Metric, MetricInput, MetricProperties};
use mustlink::run::guarded;
use mustlink::text::{count, form};
use mustlink::{Error, Result};
use mustlink_datasets::{Classes, LabelColumn, RENAME, data_error, read_labels};
use serde::Serialize;
use serde::ser::SerializeMap;

use crate::complete;
use crate::failure::Failure;
use crate::options::{DataDir, Format};
use crate::term;

/// The agreement metrics, in the order they are printed.
const AGREEMENT: &str = "ari nmi_arith nmi_geo nmi_min nmi_max nmi_joint ami rand pair_precision \
                         pair_recall pair_f error_rate purity homogeneity completeness v_measure vi";

/// Score labels against classes
#[derive(Debug, clap::Args)]
#[command(before_help = "Example: mustlink score --truth iris --labels labels.csv")]
pub(crate) struct Args {
    /// Classes: a CSV, a named data set, or - for standard input
    ///
    /// The classes are the column "label" or "class", or the only one. Rows are matched by a column "id" or
    /// --id, or by their order if neither file has ids.
    #[arg(long, value_name = "FILE")]
    truth: String,
    /// Labels: a CSV as "mustlink cluster --out" writes it, or -
    #[arg(long, value_name = "FILE")]
    labels: String,
    /// Column of --truth that holds the classes
    #[arg(long, value_name = "COLUMN")]
    truth_column: Option<String>,
    /// Column of --labels that holds the labels
    #[arg(long, value_name = "COLUMN")]
    labels_column: Option<String>,
    /// Column that holds ids in one file or both [default: one named "id"]
    #[arg(long, value_name = "COLUMN")]
    id: Option<String>,
    /// Metric to print (repeatable) [default: all that compare with classes]
    #[arg(long = "metric", value_name = "NAME", value_delimiter = ',')]
    #[arg(add = complete::plugins(Role::Metric))]
    metrics: Vec<String>,
    /// Format of the scores
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    data: DataDir,
}

/// Scores by metric, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scores(Vec<(String, Option<f64>)>);

/// The JSON of `score`: one entry for each metric, and the warnings.
#[derive(Debug, Serialize)]
struct Summary {
    #[serde(flatten)]
    scores: Scores,
    warnings: Vec<String>,
}

impl Scores {
    pub fn push(&mut self, tag: &str, score: Option<f64>) {
        self.0.push((tag.into(), score.filter(|s| s.is_finite())));
    }

    pub fn get(&self, tag: &str) -> Option<Option<f64>> {
        self.0.iter().find(|(t, _)| t == tag).map(|(_, score)| *score)
    }

    /// The usual ones among them, for people; `held_out` is the ARI of so many rows without an answer.
    pub fn usual(&self, held_out: Option<(Option<f64>, usize)>) -> Vec<(&'static str, String)> {
        let more = held_out.map(|(ari, rows)| {
            format!(" ({} on the {} without an answer)", shown(ari), count(rows, "row"))
        });
        let more = more.unwrap_or_default();
        let usual =
            [("ari", "ARI", &*more), ("nmi_arith", "NMI", ""), ("error_rate", "error rate", "")];
        let line = |(tag, name, more): (&str, &'static str, &str)| {
            Some((name, shown(self.get(tag)?) + more))
        };
        usual.into_iter().filter_map(line).collect()
    }
}

impl Serialize for Scores {
    fn serialize<S: serde::Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(Some(self.0.len()))?;
        for (tag, score) in &self.0 {
            map.serialize_entry(tag, score)?;
        }
        map.end()
    }
}

/// A number for people: four digits after the point, more of small ones. JSON has all.
pub(crate) fn shown(value: Option<f64>) -> String {
    match value {
        None => "undefined".into(),
        Some(v) if v == v.round() && v.abs() < 1e15 => v.to_string(),
        Some(v) if v.abs() >= 1e-3 && v.abs() < 1e15 => format!("{v:.4}"),
        Some(v) => format!("{v:.4e}"),
    }
}

/// Every agreement with the classes, the usual ones first; of the objects in `scope` alone, if it is given.
pub(crate) fn agreement(
    labels: &[u32],
    classes: &Classes,
    scope: Option<&[bool]>,
) -> Result<Scores> {
    let truth = Some(&*classes.labels);
    let input = MetricInput { labels, truth, scope, ..MetricInput::default() };
    let all = Catalogue::get()?.role(Role::Metric).map(|d| d.tag);
    let others = all.filter(|tag| AGREEMENT.split(' ').all(|agreement| agreement != *tag));
    let mut scores = Scores::default();
    for tag in AGREEMENT.split(' ').chain(others) {
        let metric: Box<dyn Metric> = registry::build_default(tag)?;
        let facts = metric.properties();
        if facts.needs_truth && beyond_labels(&facts).is_none() {
            let score = guarded(tag, || metric.score(&input)).map_err(|e| e.at("scores"))?;
            scores.push(tag, score);
        }
    }
    Ok(scores)
}

pub(crate) fn run(args: &Args) -> std::result::Result<u8, Failure> {
    if args.truth == "-" && args.labels == "-" {
        return Err(Failure::usage("--truth and --labels cannot both be -"));
    }
    let metrics = metrics(&args.metrics)?;
    let truth = truth(args)?;
    let column = ("--labels-column", args.labels_column.as_deref());
    let (labels, how) = read(&args.labels, column, args.id.as_deref())?.in_order_of(&truth)?;
    let (n, of, class) = (labels.n(), &labels.column, &truth.column);
    term::tell(&format!("{}, {how}: labels {of}, classes {class}", count(n, "object")));
    let (found, classes) = (&labels.labels, truth.truth()?);
    let mut warnings = Vec::new();
    let mut warn = |text: String| {
        term::tell(&format!("warning: {text}"));
        warnings.push(text);
    };
    [found, classes].into_iter().filter_map(|c| c.measurements()).for_each(&mut warn);
    let labels = &found.labels;
    let unlabelled = labels.iter().filter(|l| l.is_none()).count();
    if unlabelled > 0 {
        warn(format!(
            "left out: {} without a label (empty, or -1 for noise)",
            count(unlabelled, "object")
        ));
    }
    let scope: Vec<bool> = labels.iter().map(Option::is_some).collect();
    let labels: Vec<u32> = labels.iter().map(|l| l.unwrap_or_default()).collect();
    let unknown = classes.labels.iter().filter(|l| l.is_none()).count();
    if unknown > 0 {
        let (known, all) = (n - unknown, count(n, "object"));
        let have = form(known, "has", "have");
        term::tell(&format!("{known} of {all} {have} a class; the others are left out"));
    }
    let input = MetricInput {
        labels: &labels,
        truth: Some(&classes.labels),
        scope: (unlabelled > 0).then_some(&scope[..]),
        ..MetricInput::default()
    };
    let mut scores = Scores::default();
    for metric in &metrics {
        let tag = metric.typetag_name();
        scores.push(tag, guarded(tag, || metric.score(&input))?);
    }
    match args.format {
        Format::Json => term::print_json(&Summary { scores, warnings })?,
        Format::Text => {
            let width = scores.0.iter().map(|(tag, _)| tag.len()).max().unwrap_or(0);
            let line =
                |(tag, score): &(String, Option<f64>)| format!("{tag:<width$} {}\n", shown(*score));
            term::print(&scores.0.iter().map(line).collect::<String>())?;
        }
    }
    Ok(0)
}

/// The input that a metric needs in addition to labels and classes.
fn beyond_labels(facts: &MetricProperties) -> Option<&'static str> {
    let needs = [
        (facts.needs_data, "the data"),
        (facts.needs_constraints, "constraints"),
        (facts.needs_heldout, "constraints that were held back"),
        (facts.needs_unconstrained, "a clustering without constraints"),
        (facts.needs_ensemble, "an ensemble"),
    ];
    needs.into_iter().find(|(needed, _)| *needed).map(|(_, what)| what)
}

/// The metrics asked for, each of which must be content with labels and classes.
fn metrics(asked: &[String]) -> Result<Vec<Box<dyn Metric>>> {
    let catalogue = Catalogue::get()?;
    let tags: Vec<&str> = match asked {
        [] => AGREEMENT.split(' ').collect(),
        asked => asked.iter().map(String::as_str).collect(),
    };
    let build = |tag: &str| -> Result<Box<dyn Metric>> {
        let Some(d) = catalogue.find(tag).filter(|d| d.role == Role::Metric) else {
            let near = suggestion(tag, catalogue.role(Role::Metric).map(|d| d.tag));
            let help = "run \"mustlink list metrics\"";
            return Err(Error::Usage(format!("no metric \"{tag}\"; {help}{near}")));
        };
        let tag = d.tag;
        let metric: Box<dyn Metric> = registry::build_default(tag)?;
        match beyond_labels(&metric.properties()) {
            Some(what) => Err(Error::Usage(format!(
                "the metric {tag} needs {what}, and score has only labels"
            ))),
            None => Ok(metric),
        }
    };
    let mut built: Vec<Box<dyn Metric>> = Vec::new();
    for tag in tags {
        let metric = build(tag)?;
        // Twice, or by another of its names, it is still one number.
        if built.iter().all(|other| other.typetag_name() != metric.typetag_name()) {
            built.push(metric);
        }
    }
    Ok(built)
}

/// Reads a column of labels, which an option may name.
fn read(
    path: &str,
    (option, column): (&str, Option<&str>),
    id: Option<&str>,
) -> Result<LabelColumn> {
    read_labels(path, column, id).map_err(|e| match e {
        Error::Data { place, message } => {
            let message = message.replacen(RENAME, &format!("name one with {option}"), 1);
            Error::Data { place, message }
        }
        other => other,
    })
}

/// The classes of a file or of a named data set.
fn truth(args: &Args) -> Result<LabelColumn> {
    if args.truth == "-" || mustlink_datasets::is_path(&args.truth) {
        let column = ("--truth-column", args.truth_column.as_deref());
        return read(&args.truth, column, args.id.as_deref());
    }
    let mut options = args.data.open_options();
    options.class_column = args.truth_column.clone();
    let set = mustlink_datasets::open(&args.truth, &options)?;
    let message = "no classes are known; name their column with --truth-column";
    set.label_column().ok_or_else(|| data_error(&set.name, message))
}
