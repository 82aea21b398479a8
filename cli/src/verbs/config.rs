//! The command `config`: a file with every default.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use mustlink::config;
use mustlink_experiments::Experiment;

use crate::failure::Failure;
use crate::file_kind::{self, File};
use crate::term;
use crate::toml_text::as_toml;

/// Show a configuration with all defaults
#[derive(Debug, clap::Args)]
#[command(before_help = "Example: mustlink config show method.toml")]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Print an experiment or method file with every default written out
    #[command(before_help = "Example: mustlink config show method.toml")]
    Show {
        /// The file
        file: PathBuf,
        /// Change a value first: experiment.seed=7 (repeatable)
        #[arg(long = "set", value_name = "A.B=VALUE")]
        sets: Vec<String>,
        /// Print the source of each value: file and line, or "default"
        #[arg(long)]
        origin: bool,
    },
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    let What::Show { file, sets, origin } = &args.what;
    if *origin {
        term::print(&origins(file, sets)?)?;
        return Ok(0);
    }
    let text = match file_kind::read(file, sets)? {
        File::Experiment(experiment) => experiment.resolved_toml(),
        File::Method { resolved, .. } => as_toml(&resolved),
    };
    term::print_data(&text)?;
    Ok(0)
}

/// A line for each value: its path, what it is, where it comes from.
fn origins(file: &Path, sets: &[String]) -> Result<String, Failure> {
    let list = match file_kind::read(file, sets)? {
        File::Experiment(_) => Experiment::origins(file, sets)?,
        File::Method { document, resolved, .. } => {
            let mut out = Vec::new();
            config::origins(&resolved, Some(document.root()), "", &mut out);
            out
        }
    };
    let lines: Vec<(String, String)> = list
        .into_iter()
        .filter(|o| !o.value.is_null())
        .map(|o| {
            let place = o.place.unwrap_or_else(|| "default".into());
            (format!("{} = {}", o.path, o.value), place)
        })
        .collect();
    // Long values do not push the places of all others aside.
    let width = lines.iter().map(|(l, _)| l.chars().count()).filter(|w| *w <= 72).max();
    let width = width.unwrap_or_default();
    Ok(lines.iter().map(|(line, place)| format!("{line:width$}  # {place}\n")).collect())
}
