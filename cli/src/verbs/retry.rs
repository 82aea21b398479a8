//! Only what failed, once more.

use std::path::PathBuf;

use mustlink_experiments as experiments;

use crate::failure::Failure;
use crate::verbs::run::{How, carry_out, limits};
use crate::{options, term, trust};

/// Run the failed cells of a results directory again
///
/// Exits with 1 if cells fail again.
#[derive(Debug, clap::Args)]
#[command(before_help = "Example: mustlink retry mustlink-results/quickstart")]
pub(crate) struct Args {
    /// The results directory
    dir: PathBuf,
    /// Only the failed cell with this identity
    ///
    /// The report and cells.csv show the identities.
    #[arg(long, value_name = "IDENTITY")]
    cell: Option<String>,
    /// Seconds after which a cell fails [default: as in the run]
    #[arg(long, value_name = "SECONDS", value_parser = options::seconds)]
    cell_timeout: Option<f64>,
    /// Largest memory that one cell may need [default: as in the run]
    #[arg(long, value_name = "2GiB", value_parser = options::bytes)]
    cell_memory: Option<u64>,
    #[command(flatten)]
    how: How,
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    trust::require_results(&args.dir)?;
    let sets = limits(args.cell_timeout, args.cell_memory);
    if let Some(cell) = &args.cell {
        return carry_out(&args.how, &args.dir, None, |options| {
            experiments::retry_cell(&args.dir, cell, &sets, options)
        });
    }
    // A list that cannot be read is made again by the run below.
    let failed = experiments::failures(&args.dir).unwrap_or_default();
    let seeded = failed.iter().filter(|c| c.seeded).count();
    if seeded > 0 {
        term::tell(&format!(
            "{seeded} of {} failed cells will fail again unless the program has changed, because data, settings and \
             seed are the same; change the method, and give it a new id",
            failed.len()
        ));
    }
    carry_out(&args.how, &args.dir, None, |options| experiments::retry(&args.dir, &sets, options))
}
