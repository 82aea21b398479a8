//! The command `init`: a first experiment or method file for a data set.

use clap_complete::ArgValueCompleter;
use mustlink::DataKind;
use mustlink_datasets::{Dataset, OpenOptions, shell_word};
use serde_json::Value;

use crate::failure::Failure;
use crate::files::{ColumnArgs, check_new, check_outputs};
use crate::options::DataDir;
use crate::{complete, data_file, program, term};

/// Write an experiment file or a method file to start from
#[derive(Debug, Clone, clap::Args)]
#[command(before_help = "Examples:
  mustlink init --data my.csv --class kind --out my.toml
  mustlink run my.toml
  mustlink init --data iris --method --out method.toml
  mustlink cluster --data iris --method method.toml")]
pub(crate) struct Args {
    /// Data set: a built-in name, or a path
    ///
    /// The data directory adds names.
    #[arg(long, value_name = "DATA", add = ArgValueCompleter::new(complete::data))]
    data: String,
    #[command(flatten)]
    columns: ColumnArgs,
    #[command(flatten)]
    data_dir: DataDir,
    /// Write a method file instead of an experiment file
    #[arg(long)]
    method: bool,
    /// File to write, which must not exist [default: standard output]
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: String,
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    check_outputs(&[("--out", Some(&args.out))], &[("--data", Some(&args.data))])?;
    check_new(&args.out)?;
    if args.data == "-" && !args.method {
        return Err(Failure::usage(
            "--data -: an experiment file contains the name of its data, but standard input has no name; give a file",
        ));
    }
    let completed = data_file::completed(&args.columns, &args.data, &[], "")?;
    completed.note.iter().for_each(|note| term::tell(&format!("note: {note}")));
    let (columns, of_data) = (completed.columns, completed.transforms);
    let args = &Args { columns, ..args.clone() };
    let categories = of_data.as_ref().map(OpenOptions::declared_categories).unwrap_or_default();
    let options = OpenOptions { categories, ..args.columns.open_options(&args.data_dir) };
    let set = mustlink_datasets::open(&args.data, &options)?;
    let chosen = !args.columns.features.is_empty();
    // The file would make words of them, one column for each number or day.
    if let Some(found) = set.not_numbers().filter(|_| !chosen) {
        found.refuse_as_words()?;
    }
    if let Some(column) = ids_among_features(&set).filter(|_| !chosen) {
        let word = shell_word(column);
        return Err(Failure::usage(format!(
            "{}: column \"{column}\" looks like ids, because every row has a different word; give --id {word}, or \
             --features all to use it as a feature",
            set.name
        )));
    }
    let steps = of_data.map_or_else(|| shown(&transforms(&set)), |steps| line_of(&steps));
    let text = if args.method { method(&set, &steps) } else { experiment(args, &set, &steps) };
    mustlink_datasets::write_text(&args.out, &text)?;
    if args.out != "-" {
        term::tell(&format!("{}: {}", set.name, set.summary()));
        let out = shell_word(&args.out);
        let next = if args.method {
            format!("mustlink cluster{} --method {out}", program::about_data())
        } else {
            format!("mustlink run {out}{}", program::data_dirs())
        };
        term::tell(&format!("{} written; next: {next}", args.out));
    }
    Ok(0)
}

/// A string of TOML.
fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// A list of strings of TOML.
fn list(names: &[String]) -> String {
    toml::Value::from(names.to_vec()).to_string()
}

/// A feature of words that are all different, unless the data set is built in or in a manifest.
fn ids_among_features(set: &Dataset) -> Option<&str> {
    let all_differ = |s: &usize| set.data.words(*s).is_some_and(|words| words.len() == set.n());
    let column = (0..set.d()).filter(|_| set.n() > 2 && !set.reading.listed).find(all_differ)?;
    set.feature_names.get(column).map(String::as_str)
}

/// The transforms without which no method takes the data.
fn transforms(set: &Dataset) -> Vec<&'static str> {
    let words = (0..set.d()).any(|s| set.data.words(s).is_some());
    match set.data.kind() {
        DataKind::Table if words => vec!["impute_missing", "one_hot"],
        DataKind::Table => vec!["impute_missing"],
        DataKind::Csr => vec!["l2_rows"],
        _ => Vec::new(),
    }
}

fn shown(transforms: &[&str]) -> String {
    let quoted: Vec<String> = transforms.iter().map(|t| format!("\"{t}\"")).collect();
    if quoted.is_empty() {
        "# transforms = [\"z_score\"]  # features on very different scales\n".into()
    } else {
        format!("transforms = [{}]\n", quoted.join(", "))
    }
}

/// The transforms of a file next to the data.
fn line_of(transforms: &Value) -> String {
    let value = toml::Value::try_from(transforms).map(|value| value.to_string());
    format!("transforms = {}\n", value.unwrap_or_default())
}

fn method(set: &Dataset, steps: &str) -> String {
    let k = set.k().unwrap_or(3);
    let k_note = if set.k().is_some() { "the number of classes" } else { "how many clusters?" };
    format!(
        "# A method for {name}: {summary}.
# mustlink describe NAME shows what a part does and its options; mustlink list shows all parts.

k = {k}  # {k_note}
seed = 0
{transforms}
clusterer = \"pck_means\"

# Selector of the pairs to ask about, and oracle that answers (absent: the classes of the data, if known):
# selector = \"explore_consolidate\"
# oracle = {{ type = \"subprocess\", command = [\"python3\", \"oracle.py\"] }}
",
        name = set.name,
        summary = set.summary(),
        transforms = steps,
    )
}

/// The path of the data as the file at --out sees it.
fn seen_from_out(args: &Args) -> String {
    let folder = std::path::Path::new(&args.out).parent().filter(|p| !p.as_os_str().is_empty());
    match folder.map(|_| std::fs::canonicalize(&args.data)) {
        Some(Ok(path)) => path.display().to_string(),
        _ => args.data.clone(),
    }
}

/// The section of an experiment about the data.
fn dataset(args: &Args, set: &Dataset, steps: &str) -> String {
    let columns = &args.columns;
    let mut dataset = format!("id = {}\n", quoted(&set.name));
    if mustlink_datasets::is_path(&args.data) {
        dataset += &format!("path = {}  # relative to this file\n", quoted(&seen_from_out(args)));
    }
    let text = |value: &Option<String>| value.as_ref().map(|v| quoted(v));
    let names = |all: &[String]| (!all.is_empty()).then(|| list(all));
    let keys = [
        // What is known is also what is scored, each fold by what the others do not tell.
        ("target", text(&columns.class).or_else(|| text(&columns.labels))),
        ("labels", text(&columns.labels)),
        ("id_column", text(&columns.id)),
        ("features", names(&columns.features)),
        ("ignore", names(&columns.ignore)),
        ("no_header", columns.no_header.then(|| "true".to_string())),
        ("transpose", columns.transpose.then(|| "true".to_string())),
        ("sep", columns.sep.map(|c| quoted(&c.to_string()))),
        ("decimal", columns.decimal.map(|c| quoted(&c.to_string()))),
        ("na", names(&columns.na)),
    ];
    for (name, value) in keys.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        dataset += &format!("{name} = {value}\n");
    }
    dataset + steps
}

/// The sections about scored objects and numbers of questions: `asks` if the classes answer them.
fn split(set: &Dataset, known: bool, asks: bool) -> String {
    if !known {
        return "# Every object is clustered and scored; without classes questions cannot be answered.
[split]
type = \"all\"
repeats = 5

"
        .into();
    }
    let folds = set.n().clamp(2, 5);
    let curve = if asks {
        "# Scores after these numbers of questions.
[curve]
points = { from = 0, to = 100, step = 20 }

"
    } else {
        ""
    };
    format!(
        "# Each of {folds} folds is scored in turn; constraints come from the others. Repeated five times.
[split]
type = \"kfold\"
folds = {folds}
repeats = 5

{curve}"
    )
}

/// The methods to compare with k-means.
fn others(known: bool, asks: bool) -> &'static str {
    match (known, asks) {
        (false, _) => {
            "
[[method]]
id = \"hierarchical\"
k = 3
clusterer = \"hierarchical\"
"
        }
        (true, false) => {
            "
# The same with must-links and cannot-links from the known classes: do they help?
[[method]]
id = \"PCK-means, known classes\"
clusterer = \"pck_means\"
"
        }
        (true, true) => {
            "
[[method]]
id = \"PCK-means, random pairs\"
clusterer = \"pck_means\"
selector = \"random_pairs\"

[[method]]
id = \"PCK-means, Explore & Consolidate\"
clusterer = \"pck_means\"
selector = \"explore_consolidate\"

# The paper's comparison of the two: does choosing pairs pay?
# [[criterion]] sections state such claims, and the report judges them.
"
        }
    }
}

fn experiment(args: &Args, set: &Dataset, steps: &str) -> String {
    let labels = args.columns.labels.is_some();
    let known = set.classes.is_some() || labels;
    let (k, scored) = if known {
        ("", "metrics = [\"ari\", \"nmi_arith\"]  # against the classes\n")
    } else {
        ("k = 3  # how many clusters?\n", "metrics = [\"silhouette\", \"davies_bouldin\"]\n")
    };
    format!(
        "# {name}: {summary}.
#
#   mustlink check FILE    validates this file
#   mustlink plan FILE     counts the cells and estimates the time
#   mustlink run FILE      runs the cells that are missing, and writes report.html

[experiment]
name = {quoted}
seed = 1  # of every random number

[[dataset]]
{dataset}
{split}[scoring]
{scored}
[[method]]
id = \"k-means\"
{k}clusterer = \"kmeans\"
{others}",
        name = set.name,
        summary = set.summary(),
        quoted = quoted(&set.name),
        dataset = dataset(args, set, steps),
        split = split(set, known, !labels),
        others = others(known, !labels),
    )
}
