//! The hidden command `work`: one task of a Slurm array, started by `run --executor slurm`.

use std::path::PathBuf;

use mustlink_experiments::{Keep, RunOptions, slurm};

use crate::failure::Failure;
use crate::trust;
use crate::verbs::run::{How, carry_out};

/// Run one task of an array that run --executor slurm submitted
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub(crate) struct Args {
    /// File with the cells of each task
    list: PathBuf,
    /// The number of the task
    #[arg(long)]
    task: usize,
    /// Results directory
    #[arg(long)]
    out: PathBuf,
    /// Keep finished cells that another build made
    #[arg(long)]
    keep_stale: bool,
    #[command(flatten)]
    how: How,
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    trust::require_results(&args.out)?;
    let keep = if args.keep_stale { Keep::Stale } else { Keep::Current };
    let status = carry_out(&args.how, &args.out, None, |options| {
        slurm::task(&args.list, args.task, &RunOptions { keep, ..options.clone() })
    })?;
    // Cells that fail are rows: the task has done what it was to do.
    Ok(if status == 1 { 0 } else { status })
}
