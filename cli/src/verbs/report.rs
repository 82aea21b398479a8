//! Tables and figures from results that are there.

use std::path::PathBuf;

use crate::failure::Failure;
use crate::term;

/// Make tables, figures and the report of a results directory anew
#[derive(Debug, clap::Args)]
#[command(before_help = "Example: mustlink report mustlink-results/quickstart")]
pub(crate) struct Args {
    /// The results directory
    dir: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    let report = mustlink_experiments::report(&args.dir)?;
    term::print(&report.table)?;
    term::tell(&format!(
        "{} of {} cells finished, {} failed",
        report.finished, report.cells, report.failed
    ));
    term::tell(&format!("report: {}", report.page.display()));
    Ok(0)
}
