//! Is a file in order?

use std::path::PathBuf;

use mustlink::config::{self, Document};
use mustlink_experiments::Experiment;

use crate::failure::Failure;
use crate::method_file::MethodFile;
use crate::term;

/// Check an experiment or method file; every mistake is shown, with its place
#[derive(Debug, clap::Args)]
#[command(before_help = "Example: mustlink check experiments/quickstart.toml")]
pub(crate) struct Args {
    /// The file
    file: PathBuf,
    /// Change a value first: experiment.seed=7 (may be repeated)
    #[arg(long = "set", value_name = "A.B=VALUE")]
    sets: Vec<String>,
}

/// What a file describes.
pub(crate) enum File {
    Experiment(Box<Experiment>),
    Method(Document),
}

/// Reads a file of either kind, checked.
pub(crate) fn read(file: &std::path::Path, sets: &[String]) -> Result<File, Failure> {
    let mut document = Document::read(file)?;
    // No method file has one of these.
    let sections = ["experiment", "dataset", "method"];
    if sections.iter().any(|s| document.root().get(s).is_some()) {
        return Ok(File::Experiment(Box::new(Experiment::load(file, sets)?)));
    }
    for set in sets {
        document.set(set)?;
    }
    config::build::<MethodFile>(document.root(), "")?;
    Ok(File::Method(document))
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    let name = args.file.display();
    let text = match read(&args.file, &args.sets)? {
        File::Experiment(e) => format!(
            "{name}: in order; experiment \"{}\" with {} data sets and {} methods",
            e.head.name,
            e.datasets.len(),
            e.methods.len()
        ),
        File::Method(_) => format!("{name}: in order; a method"),
    };
    term::print(&text)?;
    Ok(0)
}
