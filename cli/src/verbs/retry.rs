//! Only what failed, once more.

use std::path::PathBuf;

use mustlink_experiments as experiments;

use crate::failure::Failure;
use crate::verbs::run::{How, carry_out};

/// Run the failed cells of a results directory again
#[derive(Debug, clap::Args)]
#[command(before_help = "Example: mustlink retry mustlink-results/quickstart")]
pub(crate) struct Args {
    /// The results directory
    dir: PathBuf,
    #[command(flatten)]
    how: How,
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    carry_out(&args.how, &args.dir, None, |options| experiments::retry(&args.dir, options))
}
