//! To which clusters of an earlier run do new objects belong?

use std::path::PathBuf;

use clap_complete::ArgValueCompleter;
use mustlink::Error;
use mustlink_datasets::Dataset;

use crate::failure::Failure;
use crate::files::{ColumnArgs, check_outputs};
use crate::model::{Model, Predicted, require_numbers};
use crate::options::DataDir;
use crate::{complete, term};

/// Put new objects into the clusters of a saved model, by the rule of its method: labels to --out
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  mustlink cluster --data old.csv --k 3 --save-model model.json
  mustlink predict --model model.json --data new.csv --out labels.csv")]
pub(crate) struct Args {
    /// Model that `mustlink cluster --save-model` wrote
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// Data set with the features of the model, of a CSV by name
    #[arg(long, value_name = "DATA", add = ArgValueCompleter::new(complete::data))]
    data: String,
    #[command(flatten)]
    columns: ColumnArgs,
    #[command(flatten)]
    data_dir: DataDir,
    /// CSV id,label to write, one row per object; - is standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: String,
    /// A column distance: to the centre, or to the nearest object of the model where that decides
    #[arg(long)]
    distances: bool,
    /// A column probability: of the cluster, where the model is a Gaussian mixture
    #[arg(long)]
    probabilities: bool,
    /// A column class: the class that most objects of the cluster had, where the model knows any
    #[arg(long)]
    classes: bool,
    /// No notes
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    let inputs = [("--model", args.model.to_str()), ("--data", Some(args.data.as_str()))];
    check_outputs(&[("--out", Some(&args.out))], &inputs)?;
    let model = Model::read(&args.model)?;
    if args.probabilities && !model.is_mixture() {
        return Err(Failure::usage(format!(
            "--probabilities: {} go by {}, which has none; gaussian_mixture and constrained_em have",
            model.summary(),
            model.rule()
        )));
    }
    if args.classes && model.names.is_empty() {
        return Err(Failure::usage(format!(
            "--classes: {} without a class; cluster again with --class or --labels and --save-model",
            model.summary()
        )));
    }
    let set = objects(args, &model)?;
    if model.needs_numbers() {
        require_numbers(&set)?;
    }
    let Predicted { labels, distances, probabilities, far, unseen } = model.predict(&set)?;
    if !unseen.is_empty() && !args.quiet {
        let more = if unseen.len() > 5 { ", …" } else { "" };
        term::tell(&format!(
            "warning: words that the model has never seen count as none: {}{more}",
            unseen[..unseen.len().min(5)].join(", ")
        ));
    }
    if set.feature_names.is_empty() != model.features.is_empty() && !args.quiet {
        let nameless = if model.features.is_empty() { "the model" } else { set.name.as_str() };
        term::tell(&format!(
            "warning: features are taken by their places, not by name: {nameless} has no names of features"
        ));
    }
    let mut sizes = vec![0usize; model.centres.k()];
    labels.iter().for_each(|&l| sizes[l as usize] += 1);
    let name = |h: usize| model.names.get(h).cloned().flatten();
    let numbers = |all: &[f64]| all.iter().map(f64::to_string).collect::<Vec<_>>();
    let mut columns = Vec::new();
    if args.classes {
        let class = |l: &u32| name(*l as usize).unwrap_or_default();
        columns.push(("class", labels.iter().map(class).collect()));
    }
    if args.distances {
        columns.push(("distance", numbers(&distances)));
    }
    if let Some(probabilities) = probabilities.filter(|_| args.probabilities) {
        columns.push(("probability", numbers(&probabilities)));
    }
    let labels: Vec<Option<u32>> = labels.into_iter().map(Some).collect();
    mustlink_datasets::write_labels_with(&args.out, &set, &labels, &columns)?;
    if !args.quiet {
        let of = |(h, size): (usize, &usize)| match name(h) {
            Some(name) => format!("{size} ({name})"),
            None => size.to_string(),
        };
        let sizes: Vec<String> = sizes.iter().enumerate().map(of).collect();
        term::tell(&format!("{}: {}", set.name, set.summary()));
        let (what, rule) = (model.summary(), model.rule());
        term::tell(&format!("{what}; new objects, by {rule}: {}", sizes.join(", ")));
        if far > 0 {
            term::tell(&format!(
                "warning: {far} of {} objects are farther off than any object that the model was made of",
                set.n()
            ));
        }
    }
    Ok(0)
}

/// The data set, with the features of the model in its order as far as their names say.
fn objects(args: &Args, model: &Model) -> Result<Dataset, Failure> {
    let mut open = args.columns.open_options(&args.data_dir);
    let sorted = |names: &[String]| {
        let mut names = names.to_vec();
        names.sort();
        names
    };
    let own = sorted(&open.features) == sorted(&model.features);
    if own || (open.features.is_empty() && mustlink_datasets::is_table(&args.data)) {
        // In the order of the model, whatever else the file holds.
        open.features = model.features.clone();
    }
    let set = mustlink_datasets::open(&args.data, &open)?;
    let names = &set.feature_names;
    if names.is_empty() || *names == model.features {
        return Ok(set);
    }
    if sorted(names) == sorted(&model.features) {
        let message = "has the features of the model in another order; given as a file (--data ./x.csv) they \
                       are taken by name";
        return Err(Error::Data { place: set.name, message: message.into() }.into());
    }
    if set.d() == model.features.len() && !args.quiet {
        let pairs = model.features.iter().zip(names).filter(|(of, here)| of != here);
        let mut pairs: Vec<String> =
            pairs.take(4).map(|(of, here)| format!("{here} for {of}")).collect();
        if pairs.len() == 4 {
            pairs[3] = "…".into();
        }
        term::tell(&format!(
            "warning: features are taken by their places, not by name: {}",
            pairs.join(", ")
        ));
    }
    Ok(set)
}
