//! The command `verify`: computes some finished cells again and compares them.

use std::path::PathBuf;

use mustlink::text::{count, form};
use mustlink_experiments::{RunOptions, verify};

use crate::failure::Failure;
use crate::options::{self, DataDir};
use crate::progress::watched;
use crate::{term, trust};

/// Recompute some finished cells, and compare them bit for bit
///
/// Times are not compared. Exits with 1 if a cell differs or none could be compared.
#[derive(Debug, clap::Args)]
#[command(before_help = "Example: mustlink verify mustlink-results/quickstart
         mustlink verify results --share 1")]
pub(crate) struct Args {
    /// The results directory
    dir: PathBuf,
    /// Share of the finished cells, above 0 and at most 1
    ///
    /// At least one cell is computed.
    #[arg(long, value_name = "SHARE", default_value_t = 0.01, value_parser = share)]
    share: f64,
    /// Seed that draws the cells
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Number of threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = options::threads)]
    threads: Option<usize>,
    #[command(flatten)]
    data: DataDir,
    /// No progress
    #[arg(long, short)]
    quiet: bool,
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(s) if s > 0.0 && s <= 1.0 => Ok(s),
        _ => Err(format!("must be a number above 0 and at most 1, got {text}")),
    }
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    trust::require_results(&args.dir)?;
    let options = RunOptions {
        threads: args.threads,
        memory_limit: crate::memory::default_limit(),
        source: args.data.source(),
        ..RunOptions::to(&args.dir)
    };
    let work = |options: &RunOptions| verify(&args.dir, args.share, args.seed, options);
    let verified = watched(args.quiet, options, work)?;
    if verified.stale > 0 {
        term::tell(&format!(
            "{} {} made by another build (changed: {}) and not tried; mustlink run makes {} again",
            count(verified.stale, "cell"),
            form(verified.stale, "was", "were"),
            verified.changed.join(", "),
            form(verified.stale, "it", "them")
        ));
    }
    for why in &verified.strayed {
        term::tell(&format!("{why}: its cells are skipped; mustlink run computes them again"));
    }
    verified.differing.iter().try_for_each(|line| term::print(line))?;
    if verified.stopped {
        term::tell(&format!("interrupted after {}", count(verified.tried, "cell")));
        return Ok(130);
    }
    if verified.tried == 0 {
        let data = if verified.strayed.is_empty() { "" } else { " and of the data as they are" };
        term::print(&format!(
            "nothing was verified, because this build computed none of the finished cells{data}"
        ))?;
        return Ok(1);
    }
    let found = match verified.differing.len() {
        0 => "every bit is the same".to_string(),
        differ => format!("{differ} differ"),
    };
    let (tried, finished) = (verified.tried, verified.finished);
    term::print(&format!("{tried} of {finished} finished cells computed again: {found}"))?;
    Ok(u8::from(!verified.differing.is_empty() || !verified.strayed.is_empty()))
}
