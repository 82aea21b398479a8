//! The command `check`: validates an experiment or method file.

use std::path::PathBuf;

use mustlink::text::count;
use mustlink_experiments::{Experiment, check_heads, plan};
use mustlink_report::check_formats;

use crate::failure::Failure;
use crate::file_kind::{File, read};
use crate::options::{DataDir, bytes};
use crate::verbs::plan::within;
use crate::{complaint, term};

/// Check an experiment or method file, and show all mistakes
#[derive(Debug, clap::Args)]
#[command(before_help = "Example: mustlink check experiments/quickstart.toml")]
pub(crate) struct Args {
    /// The file
    file: PathBuf,
    /// Change a value first: experiment.seed=7 (repeatable)
    #[arg(long = "set", value_name = "A.B=VALUE")]
    sets: Vec<String>,
    /// Reject methods that need more memory; reads the data sets
    #[arg(long, value_name = "4GiB", value_parser = bytes)]
    memory_limit: Option<u64>,
    #[command(flatten)]
    data: DataDir,
}

/// Refuses what `plan` refuses, and gives what the largest cell takes.
fn memory(experiment: &Experiment, limit: u64, data: &DataDir) -> Result<String, Failure> {
    let plan = plan(experiment, &data.source(), None)?;
    if let Some(missing) = plan.missing().next() {
        let why = missing.read.as_ref().err().map_or("", |e| e.as_str());
        let message = format!("--memory-limit: the needed memory depends on the data sets; {why}");
        return Err(Failure::Message { message, status: 3 });
    }
    within(&plan, limit)?;
    Ok(format!("; up to {} per cell", mustlink::error::bytes(plan.memory)))
}

/// Rejects formats of figures that this build cannot write.
fn with_formats(file: File) -> Result<File, Failure> {
    if let File::Experiment(experiment) = &file {
        check_formats(&experiment.plot.formats).map_err(|e| e.at("plot.formats"))?;
    }
    Ok(file)
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    let name = args.file.display();
    let mut mistakes = Vec::new();
    let file = read(&args.file, &args.sets).and_then(with_formats);
    let file = file.map_err(|failure| mistakes.push(failure)).ok();
    let wrong = check_heads(&args.file, &args.sets, &args.data.source());
    mistakes.extend(wrong.into_iter().map(Failure::from));
    let Some(file) = file.filter(|_| mistakes.is_empty()) else {
        let statuses: Vec<u8> = mistakes.iter().map(complaint::tell).collect();
        return Ok(statuses[0]);
    };
    if let File::Experiment(experiment) = &file {
        experiment.unread().iter().for_each(|note| term::tell(&format!("note: {note}")));
    }
    let text = match (file, args.memory_limit) {
        (File::Experiment(e), limit) => format!(
            "{name}: valid; experiment \"{}\" with {} and {}{}",
            e.head.name,
            count(e.datasets.len(), "data set"),
            count(e.methods.len(), "method"),
            limit.map_or_else(|| Ok(String::new()), |limit| memory(&e, limit, &args.data))?
        ),
        (File::Method { kind, .. }, None) => format!("{name}: valid; {kind}"),
        (File::Method { .. }, Some(_)) => {
            let message = "--memory-limit is for experiment files: without data the memory of a method \
                           is unknown; give it to cluster or select";
            return Err(Failure::usage(message));
        }
    };
    term::print(&text)?;
    Ok(0)
}
