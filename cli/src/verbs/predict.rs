//! The command `predict`: assigns new objects to the clusters of a saved model.

use std::path::PathBuf;

use clap_complete::ArgValueCompleter;
use mustlink::Error;
use mustlink::clustering::NONE;
use mustlink::prelude::{Context, SeedPath};
use mustlink::text::{count, form};
use mustlink_datasets::{Dataset, OpenOptions};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::files::{ColumnArgs, check_outputs};
use crate::model::{Model, Placing, Predicted, require_numbers, sorted_out};
use crate::options::{self, DataDir, Format};
use crate::{complete, data_file, program, term};

/// Assign new objects to the clusters of a saved model
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  mustlink cluster --data old.csv --k 3 --save-model model.json
  mustlink predict --model model.json --data new.csv --out labels.csv")]
pub(crate) struct Args {
    /// Model that "mustlink cluster --save-model" wrote
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// Data set with the features of the model
    ///
    /// Features of a CSV are matched by name.
    #[arg(long, value_name = "DATA", add = ArgValueCompleter::new(complete::data))]
    data: String,
    #[command(flatten)]
    columns: ColumnArgs,
    #[command(flatten)]
    data_dir: DataDir,
    /// CSV id,label to write, one row per object [default: -]
    ///
    /// With --format json the default is to write no file.
    #[arg(long, value_name = "FILE")]
    out: Option<String>,
    /// Assign objects that are nearest to noise to the nearest cluster
    #[arg(long)]
    assign_noise: bool,
    /// Let objects that fit no cluster start new clusters
    ///
    /// An object fits if it is not farther away than 99 % of the model's objects in its cluster. dbscan clusters the
    /// others: groups of at least 5 get the numbers after those of the model. The model's clusters do not change. Not
    /// for auto, mixtures, and methods with a metric for each cluster.
    #[arg(long)]
    open: bool,
    /// Leave out rows without needed numbers, and write them to this CSV
    #[arg(long, value_name = "FILE")]
    skip_bad: Option<String>,
    /// Exit with 5 if a larger share of objects is far
    ///
    /// An object is far if its distance is larger than that of all objects of the model.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    max_far: Option<f64>,
    /// Add a column distance, to the centre or the nearest object
    ///
    /// If the method has no centres, it is the distance to the nearest object. Not for auto.
    #[arg(long)]
    distances: bool,
    /// Add a column probability, for Gaussian mixtures
    #[arg(long)]
    probabilities: bool,
    /// Add a column class: the most frequent class of the cluster
    #[arg(long)]
    classes: bool,
    /// Format of the summary; JSON includes the objects without --out
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Reject data that take more memory [default: 80 %]
    #[arg(long, value_name = "4GiB", value_parser = options::bytes)]
    memory_limit: Option<u64>,
    /// No notes
    #[arg(long, short)]
    quiet: bool,
}

/// Status of a run in which more objects are far than `--max-far` allows.
const TOO_FAR: u8 = 5;

/// The result of a prediction.
#[derive(Serialize)]
struct Summary {
    data: String,
    model: String,
    rule: &'static str,
    n: usize,
    /// Objects of each cluster.
    sizes: Vec<usize>,
    /// For each cluster the class that most of its objects had.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    classes: Vec<Option<String>>,
    noise: usize,
    far: usize,
    /// Clusters that are not in the model.
    new_clusters: usize,
    /// Rows that were left out.
    bad: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    objects: Option<Vec<Map<String, Value>>>,
    warnings: Vec<String>,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| format!("must be between 0 and 1, got \"{text}\""))
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    let inputs = [("--model", args.model.to_str()), ("--data", Some(args.data.as_str()))];
    let outputs = [("--out", args.out.as_deref()), ("--skip-bad", args.skip_bad.as_deref())];
    check_outputs(&outputs, &inputs)?;
    let model = Model::read(&args.model)?;
    if args.probabilities && !model.is_mixture() {
        return Err(Failure::usage(format!(
            "--probabilities: {} use {}, which gives no probabilities; gaussian_mixture and constrained_em give them",
            model.summary(),
            model.rule()
        )));
    }
    if args.distances && !model.has_distances() {
        return Err(Failure::usage(format!(
            "--distances: {} use {}, and each method measures distances in its own way; leave the option out",
            model.summary(),
            model.rule()
        )));
    }
    if let Some(why) = args.open.then(|| model.founds_nothing()).flatten() {
        return Err(Failure::usage(format!("--open: {why}")));
    }
    if args.classes && model.names.is_empty() {
        return Err(Failure::usage(format!(
            "--classes: {} without a class; cluster again with --class or --labels and --save-model",
            model.summary()
        )));
    }
    let mut warnings = Vec::new();
    let limit = args.memory_limit.or_else(crate::memory::default_limit);
    let set = match objects(args, &model, limit, &mut warnings) {
        Ok(set) => Some(set),
        // A scheduled run may find nothing new, which is not an error.
        Err(Error::Data { message, .. }) if message == mustlink_datasets::NO_ROWS => None,
        Err(e) => return Err(e.into()),
    };
    let read = set.as_ref().map(|set| format!("{}: {}", set.name, set.summary()));
    let (set, bad) = without_bad(args, &model, set)?;
    let found = match &set {
        Some(set) => {
            if model.needs_numbers() {
                require_numbers(set)?;
            }
            if set.feature_names.is_empty() != model.features.is_empty() {
                let nameless =
                    if model.features.is_empty() { "the model" } else { set.name.as_str() };
                warnings.push(format!(
                    "features are matched by position, because {nameless} has no names of features"
                ));
            }
            let ctx = Context::builder(SeedPath::new(0)).memory_limit(limit).build();
            let placing = Placing { assign_noise: args.assign_noise, open: args.open };
            model.predict(set, placing, &ctx)?
        }
        None => Predicted::default(),
    };
    if !found.unseen.is_empty() {
        let more = if found.unseen.len() > 5 { ", …" } else { "" };
        warnings.push(format!(
            "words that the model has never seen are ignored: {}{more}",
            found.unseen[..found.unseen.len().min(5)].join(", ")
        ));
    }
    let n = found.labels.len();
    if found.filled > 0 {
        let (values, were) =
            (count(found.filled, "missing value"), form(found.filled, "was", "were"));
        let cells = set.as_ref().map_or(0, |set| set.n() * set.d());
        warnings.push(format!("{values} of {cells} {were} filled in"));
    }
    if found.far > 0 {
        warnings.push(format!(
            "{} of {} are farther from the clusters than any object of the model",
            found.far,
            count(n, "object")
        ));
    }
    let columns = columns(args, &model, &found);
    let out = match (&args.out, args.format) {
        (Some(out), _) => Some(out.as_str()),
        (None, Format::Json) => None,
        (None, Format::Text) => Some("-"),
    };
    let id = |i: usize| set.as_ref().map_or_else(String::new, |set| set.id(i));
    if let Some(out) = out {
        let head = ["id"].into_iter().chain(columns.iter().map(|(name, _)| *name));
        let head = head.map(String::from).collect();
        let row = |i: usize| -> Vec<String> {
            std::iter::once(id(i)).chain(columns.iter().map(|(_, cell)| cell(i))).collect()
        };
        mustlink_datasets::write_rows(out, std::iter::once(head).chain((0..n).map(row)))?;
    }
    let mut sizes = vec![0usize; model.k() + found.founded];
    found.labels.iter().filter(|&&l| l != NONE).for_each(|&l| sizes[l as usize] += 1);
    let noise = n - sizes.iter().sum::<usize>();
    if !args.quiet {
        read.iter().filter(|_| args.format == Format::Json).for_each(|text| term::tell(text));
        warnings.iter().for_each(|warning| term::tell(&format!("warning: {warning}")));
    }
    if args.format == Format::Json {
        let object = |i: usize| {
            let cells = columns.iter().map(|(name, cell)| ((*name).into(), value(name, &cell(i))));
            std::iter::once(("id".into(), id(i).into())).chain(cells).collect()
        };
        let mut classes = model.names.clone();
        if !classes.is_empty() {
            classes.resize(sizes.len(), None);
        }
        let summary = Summary {
            data: args.data.clone(),
            model: model.summary(),
            rule: model.rule(),
            n,
            sizes,
            classes,
            noise,
            far: found.far,
            new_clusters: found.founded,
            bad,
            objects: out.is_none().then(|| (0..n).map(object).collect()),
            warnings,
        };
        term::print_summary(&summary, args.format, out == Some("-"), String::new)?;
    } else if !args.quiet {
        let named = |(h, size): (usize, &usize)| match model.names.get(h).cloned().flatten() {
            Some(name) => format!("{size} ({name})"),
            None if h >= model.k() => format!("{size} (new)"),
            None => size.to_string(),
        };
        let clusters = match (model.names.iter().all(Option::is_none), found.founded) {
            (true, 0) => term::listed(&sizes),
            (true, new) => format!("{}, {new} new", term::listed(&sizes)),
            _ => sizes.iter().enumerate().map(named).collect::<Vec<_>>().join(", "),
        };
        let read = read.map(|read| ("data", read)).into_iter().chain([("model", model.summary())]);
        let mut done = vec![("method", model.rule().to_string())];
        done.extend(args.out.iter().filter(|out| *out != "-").map(|out| ("labels", out.clone())));
        let mut results = vec![("new", count(n, "object")), ("clusters", clusters)];
        if noise > 0 {
            results.push(("noise", format!("{}, -1 in the labels", count(noise, "object"))));
        }
        let next = (args.out.is_none() && args.data != "-")
            .then(|| program::again(&[], " --out labels.csv"));
        term::tell_styled(term::summary(&[read.collect(), done, results], next).trim_end());
    }
    let too_far = args.max_far.is_some_and(|most| found.far as f64 > most * n as f64);
    Ok(if too_far { TOO_FAR } else { 0 })
}

/// Writes the rows that the model cannot place to `--skip-bad`. Returns the other rows, and the number of bad ones.
fn without_bad(
    args: &Args,
    model: &Model,
    set: Option<Dataset>,
) -> Result<(Option<Dataset>, usize), Failure> {
    let (Some(file), Some(set)) = (&args.skip_bad, &set) else { return Ok((set, 0)) };
    let (left, bad) = sorted_out(model, set.clone())?;
    let id = set.reading.id.clone().unwrap_or_else(|| "id".into());
    let head = std::iter::once(id).chain(set.feature_names.iter().cloned()).collect();
    let row = |&i: &usize| -> Vec<String> {
        let cell = |(s, v): (usize, &f64)| match set.data.words(s) {
            _ if v.is_nan() => String::new(),
            Some(words) => words[*v as usize].clone(),
            None => v.to_string(),
        };
        let mut x = vec![0.0; set.d()];
        set.data.row(i).add_to(&mut x, 1.0);
        std::iter::once(set.id(i)).chain(x.iter().enumerate().map(cell)).collect()
    };
    mustlink_datasets::write_rows(file, std::iter::once(head).chain(bad.iter().map(row)))?;
    if !bad.is_empty() && !args.quiet {
        term::tell(&format!("warning: {} left out, see {file}", count(bad.len(), "row")));
    }
    Ok((left, bad.len()))
}

/// The cell of each object in a column, made when it is written.
type Cell<'a> = Box<dyn Fn(usize) -> String + 'a>;

/// The columns of the output after the ids.
fn columns<'a>(
    args: &Args,
    model: &'a Model,
    found: &'a Predicted,
) -> Vec<(&'static str, Cell<'a>)> {
    let label = move |i: usize| match found.labels[i] {
        NONE => "-1".into(),
        label => label.to_string(),
    };
    let mut columns: Vec<(&str, Cell<'a>)> = vec![("label", Box::new(label))];
    if args.classes {
        let class = move |i: usize| match found.labels[i] {
            NONE => "noise".into(),
            label => model.names.get(label as usize).cloned().flatten().unwrap_or_default(),
        };
        columns.push(("class", Box::new(class)));
    }
    if args.distances {
        columns.push(("distance", Box::new(move |i| found.distances[i].to_string())));
    }
    if let Some(probabilities) = found.probabilities.as_ref().filter(|_| args.probabilities) {
        columns.push(("probability", Box::new(move |i| probabilities[i].to_string())));
    }
    columns
}

/// A cell of a column as JSON has it.
fn value(column: &str, cell: &str) -> Value {
    let number = || serde_json::from_str(cell).unwrap_or(Value::Null);
    if column == "class" { cell.into() } else { number() }
}

/// The data set, with the features of the model in its order as far as their names say.
fn objects(
    args: &Args,
    model: &Model,
    limit: Option<u64>,
    warnings: &mut Vec<String>,
) -> mustlink::Result<Dataset> {
    let unused = data_file::OF_KNOWN_DATA;
    let completed = data_file::completed(&args.columns, &args.data, &[], unused)?;
    let note = completed.note.iter().filter(|_| !args.quiet);
    note.for_each(|note| term::tell(&format!("note: {note}")));
    let open = completed.columns.open_options(&args.data_dir);
    let mut open = OpenOptions { memory_limit: limit, ..open };
    let sorted = |names: &[String]| {
        let mut names = names.to_vec();
        names.sort();
        names
    };
    let are_equal = sorted(&open.features) == sorted(&model.features);
    if are_equal || (open.features.is_empty() && mustlink_datasets::is_table(&args.data)) {
        // In the order of the model, whatever else the file holds.
        open.features = model.features.clone();
    }
    let set = mustlink_datasets::open(&args.data, &open)?;
    let names = &set.feature_names;
    if names.is_empty() || *names == model.features {
        return Ok(set);
    }
    if sorted(names) == sorted(&model.features) {
        let message = "has the features of the model in another order; give a file (--data ./x.csv), whose features \
                       are matched by name";
        return Err(Error::Data { place: set.name, message: message.into() });
    }
    if set.d() == model.features.len() {
        let pairs = model.features.iter().zip(names).filter(|(expected, name)| expected != name);
        let mut pairs: Vec<String> =
            pairs.take(4).map(|(expected, name)| format!("{name} for {expected}")).collect();
        if pairs.len() == 4 {
            pairs[3] = "…".into();
        }
        warnings
            .push(format!("features are matched by position, not by name: {}", pairs.join(", ")));
    }
    Ok(set)
}
