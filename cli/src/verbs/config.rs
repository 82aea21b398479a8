//! What does a file mean, with every default written out?

use std::path::PathBuf;

use clap::Subcommand;
use mustlink::config;

use crate::failure::Failure;
use crate::file_kind::{self, File};
use crate::method_file::MethodFile;
use crate::term;
use crate::toml_text::as_toml;

/// Show what a configuration means
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
        /// Change a value first: experiment.seed=7 (may be repeated)
        #[arg(long = "set", value_name = "A.B=VALUE")]
        sets: Vec<String>,
    },
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    let What::Show { file, sets } = &args.what;
    let text = match file_kind::read(file, sets)? {
        File::Experiment(experiment) => experiment.resolved_toml(),
        File::Method(document) => as_toml(&config::resolve::<MethodFile>(document.root())?),
    };
    term::print(&text)?;
    Ok(0)
}
