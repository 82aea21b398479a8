//! An experiment, from the start or from where it stopped.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use mustlink_experiments::{self as experiments, Experiment, Keep, Outcome, RunOptions, Shard};

use crate::failure::Failure;
use crate::file_kind;
use crate::options::{self, DataDir};
use crate::progress::{Cells, duration};
use crate::verbs::report::stale;
use crate::{interrupt, term};

/// Run an experiment, or go on where it stopped: a table to standard output, everything to --out; ends
/// with 1 when cells failed
#[derive(Debug, clap::Args)]
#[command(before_help = "Example: mustlink run experiments/quickstart.toml --out results")]
pub(crate) struct Args {
    /// The experiment file
    file: PathBuf,
    /// Results directory (default: mustlink-results/NAME)
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Change a value first: experiment.seed=7 (may be repeated)
    #[arg(long = "set", value_name = "A.B=VALUE")]
    sets: Vec<String>,
    /// Only the i-th of N parts; parts share --out and know nothing of each other
    #[arg(long, value_name = "i/N")]
    shard: Option<Shard>,
    /// Keep finished cells that another build made, instead of making them again
    #[arg(long, conflicts_with = "force")]
    keep_stale: bool,
    /// Make all cells again
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    how: How,
}

/// How the work is done. Nothing here changes a score.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct How {
    /// Threads (default: what the experiment says, else one per core)
    #[arg(long, value_name = "N", value_parser = options::threads)]
    threads: Option<usize>,
    /// Memory for the data sets and the methods under way (default: 80 % of what the machine, its
    /// control groups and ulimit -v allow)
    #[arg(long, value_name = "4GiB", value_parser = options::bytes)]
    memory_limit: Option<u64>,
    /// Stop at the first cell that fails
    #[arg(long)]
    fail_fast: bool,
    /// On Ctrl-C let the cells under way finish
    #[arg(long)]
    finish: bool,
    #[command(flatten)]
    data: DataDir,
    /// No progress
    #[arg(long, short)]
    quiet: bool,
}

/// Where results go by default: a folder under the name of the experiment.
pub(crate) fn default_out(experiment: &Experiment) -> PathBuf {
    let keep = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let name: String = experiment.head.name.chars().map(keep).collect();
    let name = if name.trim_matches('.').is_empty() { "unnamed".into() } else { name };
    Path::new("mustlink-results").join(name)
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    let experiment = file_kind::experiment(&args.file, &args.sets)?;
    let out = args.out.clone().unwrap_or_else(|| default_out(&experiment));
    let keep = match (args.keep_stale, args.force) {
        (true, _) => Keep::Stale,
        (_, true) => Keep::Nothing,
        _ => Keep::Current,
    };
    carry_out(&args.how, &out, args.shard, |options| {
        experiments::run(&experiment, &RunOptions { keep, ..options.clone() })
    })
}

/// Runs with a progress display, shows the outcome, and gives the exit status.
pub(crate) fn carry_out(
    how: &How,
    out: &Path,
    shard: Option<Shard>,
    work: impl FnOnce(&RunOptions) -> mustlink::Result<Outcome>,
) -> Result<u8, Failure> {
    let cells = Cells::start(how.quiet);
    let cancel = interrupt::flag();
    let options = RunOptions {
        threads: how.threads,
        memory_limit: how.memory_limit.or_else(mustlink::memory::default_limit),
        fail_fast: how.fail_fast,
        finish: how.finish,
        shard,
        source: how.data.source(),
        progress: cells.clone(),
        cancel: cancel.clone(),
        ..RunOptions::to(out)
    };
    let outcome = work(&options);
    cells.finish();
    let outcome = outcome?;
    let finished = outcome.skipped + outcome.done;
    if outcome.stopped && cancel.load(Ordering::Relaxed) {
        term::tell(&format!(
            "interrupted: {finished} of {} cells are finished in {}; the same command goes on from there",
            outcome.total,
            out.display()
        ));
        return Ok(130);
    }
    if let Some(report) = &outcome.report {
        stale(report);
        term::print(&report.table)?;
    }
    if outcome.total == 0 && !how.quiet {
        term::tell(&format!("no cell to do in {}", out.display()));
    } else if !how.quiet {
        term::tell(&format!(
            "{finished} of {} cells finished ({} before), in {}",
            outcome.total,
            outcome.skipped,
            duration(outcome.seconds)
        ));
    }
    if !how.quiet {
        match &outcome.report {
            Some(report) => term::tell(&format!("report: {}", report.page.display())),
            None => term::tell(&format!(
                "when all parts are finished: mustlink report {}",
                out.display()
            )),
        }
    }
    for cell in outcome.failed.iter().take(5) {
        term::tell(&format!(
            "failed: {}, {}, repeat {}, fold {}: {}",
            cell.dataset, cell.method, cell.repeat, cell.fold, cell.message
        ));
    }
    match outcome.failed.len() {
        0 => Ok(0),
        failed => {
            let stopped = if outcome.stopped { "; stopped at the first" } else { "" };
            term::tell(&format!(
                "{failed} cells failed{stopped}; mustlink retry {} runs them again",
                out.display()
            ));
            Ok(1)
        }
    }
}
