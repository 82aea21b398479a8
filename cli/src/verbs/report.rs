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
    if report.unchecked {
        term::tell(&format!(
            "warning: {} holds results of an earlier form, whose files cannot be checked; mustlink run with \
             its experiment file makes its cells again",
            args.dir.display()
        ));
    }
    term::print(&report.table)?;
    term::tell(&format!(
        "{} of {} cells finished, {} failed",
        report.finished, report.cells, report.failed
    ));
    term::tell(&format!("report: {}", report.page.display()));
    Ok(0)
}
