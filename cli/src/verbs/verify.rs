//! Do results come out again as they stand?

use std::path::PathBuf;

use mustlink_experiments::{RunOptions, verify};

use crate::failure::Failure;
use crate::options::{self, DataDir};
use crate::progress::watched;
use crate::{term, trust};

/// Make some finished cells of a results directory again and compare them bit for bit, times aside; ends
/// with 1 when one differs or none could be compared
#[derive(Debug, clap::Args)]
#[command(before_help = "Example: mustlink verify mustlink-results/quickstart
         mustlink verify results --share 1")]
pub(crate) struct Args {
    /// The results directory
    dir: PathBuf,
    /// Which share of the finished cells, in (0, 1]; at least one cell
    #[arg(long, value_name = "SHARE", default_value_t = 0.01, value_parser = share)]
    share: f64,
    /// Which cells are drawn
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Threads (default: one per core)
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
            "{} cells were made by another build (changed: {}) and are not tried; mustlink run makes them again",
            verified.stale,
            verified.changed.join(", ")
        ));
    }
    for why in &verified.strayed {
        term::tell(&format!("{why}: its cells are not tried; mustlink run makes them anew"));
    }
    verified.differing.iter().try_for_each(|line| term::print(line))?;
    if verified.stopped {
        term::tell(&format!("interrupted after {} cells", verified.tried));
        return Ok(130);
    }
    if verified.tried == 0 {
        let data = if verified.strayed.is_empty() { "" } else { " and of the data as they are" };
        term::print(&format!("nothing is verified: no finished cell is of this build{data}"))?;
        return Ok(1);
    }
    let found = match verified.differing.len() {
        0 => "every bit is the same".to_string(),
        differ => format!("{differ} differ"),
    };
    let (tried, finished) = (verified.tried, verified.finished);
    term::print(&format!("{tried} of {finished} finished cells made again: {found}"))?;
    Ok(u8::from(!verified.differing.is_empty() || !verified.strayed.is_empty()))
}
