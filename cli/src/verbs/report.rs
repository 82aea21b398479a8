//! Tables and figures from existing results.

use std::path::PathBuf;

use mustlink_report::Report;

use crate::failure::Failure;
use crate::term;

/// Write tables, figures and the report of a results directory again
#[derive(Debug, clap::Args)]
#[command(before_help = "Example: mustlink report mustlink-results/quickstart")]
pub(crate) struct Args {
    /// The results directory
    dir: PathBuf,
}

/// Says when rows were made by another build.
pub(crate) fn stale(report: &Report) {
    if report.stale > 0 {
        let changed: Vec<&str> = report.changed.iter().map(String::as_str).collect();
        term::tell(&format!(
            "{} of {} finished cells were made by another build (changed: {}); mustlink run makes them again",
            report.stale,
            report.finished,
            changed.join(", ")
        ));
    }
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    let report = mustlink_report::report(&args.dir)?;
    stale(&report);
    term::print(&report.table)?;
    term::tell(&format!(
        "{} of {} cells finished, {} failed",
        report.finished, report.cells, report.failed
    ));
    term::tell(&format!("report: {}", report.page.display()));
    Ok(0)
}
