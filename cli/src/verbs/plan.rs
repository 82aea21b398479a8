//! The command `plan`: the cells, time and memory of a run.

use std::path::PathBuf;

use mustlink::Error;
use mustlink_experiments::{Plan, plan};

use crate::failure::Failure;
use crate::options::{DataDir, bytes};
use crate::term;
use crate::verbs::run::{default_out, experiment};

/// Show data sets, cells, time and memory of an experiment
#[derive(Debug, clap::Args)]
#[command(before_help = "Example: mustlink plan experiments/quickstart.toml")]
pub(crate) struct Args {
    /// The experiment file
    file: PathBuf,
    /// Results directory, to see what is finished [default: mustlink-results/NAME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Change a value first: experiment.seed=7 (repeatable)
    #[arg(long = "set", value_name = "A.B=VALUE")]
    sets: Vec<String>,
    /// Reject methods that need more memory
    #[arg(long, value_name = "4GiB", value_parser = bytes)]
    memory_limit: Option<u64>,
    #[command(flatten)]
    data: DataDir,
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    let experiment = experiment(&args.file, &args.sets)?;
    let out = args.out.clone().unwrap_or_else(|| default_out(&experiment));
    let plan = plan(&experiment, &args.data.source(), Some(&out))?;
    term::print(&plan.to_string())?;
    if let Some(limit) = args.memory_limit {
        within(&plan, limit)?;
    }
    // A run would end the same way.
    Ok(if plan.missing().next().is_some() { 3 } else { 0 })
}

/// Refuses what declares more than `limit` bytes.
pub(crate) fn within(plan: &Plan, limit: u64) -> Result<(), Failure> {
    if plan.memory > limit {
        let e = Error::Memory { needed: plan.memory, limit };
        return Err(Failure::usage(format!("{}: {e}", plan.largest)));
    }
    Ok(())
}
