//! Is a file in order?

use std::path::{Path, PathBuf};

use mustlink::config::{self, Document};
use mustlink_experiments::{Experiment, plan};

use crate::failure::Failure;
use crate::method_file::MethodFile;
use crate::options::{DataDir, bytes};
use crate::term;
use crate::verbs::plan::within;

/// Check an experiment or method file; every mistake is shown, with its place
#[derive(Debug, clap::Args)]
#[command(before_help = "Example: mustlink check experiments/quickstart.toml")]
pub(crate) struct Args {
    /// The file
    file: PathBuf,
    /// Change a value first: experiment.seed=7 (may be repeated)
    #[arg(long = "set", value_name = "A.B=VALUE")]
    sets: Vec<String>,
    /// Refuse methods of an experiment that declare more memory than this; reads its data sets, which
    /// a check without it leaves alone
    #[arg(long, value_name = "4GiB", value_parser = bytes)]
    memory_limit: Option<u64>,
    #[command(flatten)]
    data: DataDir,
}

/// What a file describes.
pub(crate) enum File {
    Experiment(Box<Experiment>),
    Method(Document),
}

/// No method file has one of these.
const EXPERIMENT: [&str; 3] = ["experiment", "dataset", "method"];

/// Reads a file of either kind, checked.
pub(crate) fn read(file: &Path, sets: &[String]) -> Result<File, Failure> {
    let mut document = Document::read(file)?;
    if EXPERIMENT.iter().any(|s| document.root().get(s).is_some()) {
        return Ok(File::Experiment(Box::new(Experiment::load(file, sets)?)));
    }
    for set in sets {
        document.set(set)?;
    }
    config::build::<MethodFile>(document.root(), "")?;
    Ok(File::Method(document))
}

/// Reads an experiment file; of a method file it says what that is, and what takes it.
pub(crate) fn experiment(file: &Path, sets: &[String]) -> Result<Experiment, Failure> {
    let document = Document::read(file)?;
    let has = |keys: &[&str]| keys.iter().any(|k| document.root().get(k).is_some());
    if !has(&EXPERIMENT) && has(&["clusterer", "selector", "oracle", "transforms", "view", "k"]) {
        let file = file.display();
        return Err(Failure::usage(format!(
            "{file}: this is a method file; mustlink cluster --data DATA --method {file} runs it, and an \
             experiment takes it as [[method]] id = \"mine\", file = \"{file}\""
        )));
    }
    Ok(Experiment::load(file, sets)?)
}

/// Refuses what `plan` refuses, and gives what the largest cell takes.
fn memory(experiment: &Experiment, limit: u64, data: &DataDir) -> Result<String, Failure> {
    let plan = plan(experiment, &data.source(), None)?;
    if let Some(missing) = plan.missing().next() {
        let why = missing.size.as_ref().err().map_or("", |e| e.as_str());
        let message = format!("--memory-limit: the data sets say how much is needed; {why}");
        return Err(Failure::Message { message, status: 3 });
    }
    within(&plan, limit)?;
    Ok(format!("; up to {} per cell", mustlink::error::bytes(plan.memory)))
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    let name = args.file.display();
    let text = match (read(&args.file, &args.sets)?, args.memory_limit) {
        (File::Experiment(e), limit) => format!(
            "{name}: in order; experiment \"{}\" with {} data sets and {} methods{}",
            e.head.name,
            e.datasets.len(),
            e.methods.len(),
            limit.map_or_else(|| Ok(String::new()), |limit| memory(&e, limit, &args.data))?
        ),
        (File::Method(_), None) => format!("{name}: in order; a method"),
        (File::Method(_), Some(_)) => {
            let message = "--memory-limit is for experiment files: without data nobody knows what a \
                           method takes; give it to cluster or select";
            return Err(Failure::usage(message));
        }
    };
    term::print(&text)?;
    Ok(0)
}
