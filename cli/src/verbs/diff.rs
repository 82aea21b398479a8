//! The command `diff`: the differences between two results directories.

use std::path::PathBuf;

use mustlink_experiments::diff;

use crate::failure::Failure;
use crate::options::Format;
use crate::term;

/// Compare two results directories row by row, without times
#[derive(Debug, clap::Args)]
#[command(before_help = "Example: mustlink diff results-before results-after --exit-code")]
pub(crate) struct Args {
    /// The first results directory
    first: PathBuf,
    /// The second results directory
    second: PathBuf,
    /// Exit with 1 if they differ
    #[arg(long)]
    exit_code: bool,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    let found = diff(&args.first, &args.second)?;
    match args.format {
        Format::Text => term::print(&found.to_string())?,
        Format::Json => term::print_json(&found)?,
    }
    Ok(u8::from(args.exit_code && !found.is_same()))
}
