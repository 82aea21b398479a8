//! Results of several machines, put together.

use std::path::PathBuf;

use mustlink_datasets::shell_word;

use crate::failure::Failure;
use crate::term;

/// Combine results directories of shards, or of parts of a study
///
/// Cells that are in several directories must be equal bit for bit, except for times.
#[derive(Debug, clap::Args)]
#[command(before_help = "Example: mustlink merge results-a results-b --out results")]
pub(crate) struct Args {
    /// The results directories
    #[arg(required = true, num_args = 1..)]
    parts: Vec<PathBuf>,
    /// The new results directory
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    let place = |path: &PathBuf| path.canonicalize().ok();
    let out = place(&args.out);
    if let Some(part) = args.parts.iter().find(|part| out.is_some() && place(part) == out) {
        let why = format!("--out {}: is one of the parts; name a new directory", part.display());
        return Err(Failure::usage(why));
    }
    let merged = mustlink_experiments::merge(&args.parts, &args.out)?;
    let report = mustlink_report::report(&args.out)?;
    term::print(&report.table)?;
    let mended = term::counted(&[(merged.mended, "that failed in one part taken from another")]);
    term::tell(&format!(
        "{} of {} cells finished, {} failed; {} in more than one part, with the same bits{mended}",
        report.finished, report.cells, report.failed, merged.shared
    ));
    merged.not_taken.iter().for_each(|line| term::tell(&format!("note: {line}")));
    if !merged.not_taken.is_empty() {
        term::tell(&format!(
            "mustlink run FILE --out {} writes the report with the settings of FILE",
            shell_word(&args.out.display().to_string())
        ));
    }
    term::tell(&format!("report: {}", report.page.display()));
    Ok(if report.failed > 0 { 1 } else { 0 })
}
