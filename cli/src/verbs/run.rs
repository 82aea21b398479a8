//! An experiment, from the start or from where it stopped.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use mustlink::text::{count, form};
use mustlink_datasets::shell_word;
use mustlink_experiments::slurm::{self, SlurmOptions};
use mustlink_experiments::{
    self as experiments, Experiment, Keep, Outcome, RunOptions, Shard, Source, io,
};
use mustlink_report::{Report, check_formats};

use crate::failure::Failure;
use crate::file_kind;
use crate::job_args::check_set_once;
use crate::options::{self, DataDir};
use crate::progress::{duration, watched};
use crate::verbs::report::stale;
use crate::{interrupt, program, term, trust};

/// Run an experiment, or continue it
///
/// Prints a table and writes everything to --out. Exits with 1 if cells failed.
#[derive(Debug, clap::Args)]
#[command(before_help = "Example: mustlink run experiments/quickstart.toml --out results")]
pub(crate) struct Args {
    /// The experiment file
    file: PathBuf,
    /// Results directory [default: mustlink-results/NAME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Change a value first: experiment.seed=7 (repeatable)
    #[arg(long = "set", value_name = "A.B=VALUE")]
    sets: Vec<String>,
    /// Seconds after which a cell fails
    ///
    /// The same as --set run.cell_timeout_s=SECONDS.
    #[arg(long, value_name = "SECONDS", value_parser = options::seconds)]
    cell_timeout: Option<f64>,
    /// Largest memory that one cell may need, data included
    ///
    /// The same as --set run.cell_memory_bytes=BYTES. A cell that needs more fails.
    #[arg(long, value_name = "2GiB", value_parser = options::bytes)]
    cell_memory: Option<u64>,
    /// Run part i of N
    ///
    /// Parts share --out and do not depend on each other.
    #[arg(long, value_name = "i/N")]
    shard: Option<Shard>,
    /// Keep finished cells that another build computed
    #[arg(long, conflicts_with = "force")]
    keep_stale: bool,
    /// Compute all cells again
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    how: How,
    // Last, or its heading stands above what concerns every run.
    #[command(flatten)]
    cluster: Cluster,
}

/// How the work is done. Nothing here changes a score.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct How {
    /// Number of threads [default: that of the experiment, or one per core]
    #[arg(long, value_name = "N", value_parser = options::threads)]
    pub(crate) threads: Option<usize>,
    /// Memory for data sets and running methods [default: 80 %]
    ///
    /// The default is 80 % of what the machine, its control groups and ulimit -v allow.
    #[arg(long, value_name = "4GiB", value_parser = options::bytes)]
    pub(crate) memory_limit: Option<u64>,
    /// Stop after this number of failed cells
    ///
    /// Cells that are running finish, and the same command continues.
    #[arg(long, value_name = "N", value_parser = options::threads)]
    max_fails: Option<usize>,
    /// Stop at the first failed cell, like --max-fails 1
    #[arg(long, conflicts_with = "max_fails")]
    fail_fast: bool,
    /// On Ctrl-C, wait for the cells that are running
    #[arg(long)]
    finish: bool,
    #[command(flatten)]
    pub(crate) data: DataDir,
    /// No progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// The machines that run the cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Executor {
    /// In this process
    Local,
    /// In tasks of one array of a Slurm cluster
    Slurm,
}

/// The cluster.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Cluster")]
struct Cluster {
    /// Machine that runs the cells
    ///
    /// slurm needs an --out that all machines share.
    #[arg(long, value_enum, default_value = "local")]
    executor: Executor,
    /// Partition [default: that of the cluster]
    #[arg(long, value_name = "NAME")]
    partition: Option<String>,
    /// Time limit of a task [default: that of the partition]
    ///
    /// In the format of Slurm: 30 (minutes), 2:00:00, 1-12:00:00.
    #[arg(long, value_name = "TIME", value_parser = slurm_time)]
    time: Option<String>,
    /// Cells per task: a number, or auto [default: auto]
    ///
    /// auto: tasks of half a minute to ten minutes by their estimated time.
    #[arg(long, value_name = "N", value_parser = cells_per_task)]
    cells_per_task: Option<CellsPerTask>,
}

/// Cells per task; absent within: by their estimated time.
#[derive(Debug, Clone, Copy)]
struct CellsPerTask(Option<usize>);

fn cells_per_task(text: &str) -> Result<CellsPerTask, String> {
    match (text, text.parse()) {
        ("auto", _) => Ok(CellsPerTask(None)),
        (_, Ok(cells @ 1..)) => Ok(CellsPerTask(Some(cells))),
        _ => Err(format!("must be auto or a whole number of at least 1, got {text}")),
    }
}

fn slurm_time(text: &str) -> Result<String, String> {
    slurm::time_limit(text).map(|_| text.to_string())
}

/// Options of the jobs on a Slurm cluster; `None` for runs on this machine.
fn slurm(args: &Args, out: &Path) -> Result<Option<SlurmOptions>, Failure> {
    let Cluster { executor, partition, time, cells_per_task } = &args.cluster;
    if *executor == Executor::Local {
        let given = [
            ("--partition", partition.is_some()),
            ("--time", time.is_some()),
            ("--cells-per-task", cells_per_task.is_some()),
        ];
        return match given.iter().find(|(_, given)| *given) {
            Some((name, _)) => Err(Failure::usage(format!("{name} needs --executor slurm"))),
            None => Ok(None),
        };
    }
    for (name, given) in [("--shard", args.shard.is_some()), ("--force", args.force)] {
        if given {
            return Err(Failure::usage(format!(
                "{name} cannot be used with --executor slurm; leave it out"
            )));
        }
    }
    let program = program::path().map_err(io(Path::new("this program")))?;
    let whole = |p: &Path| std::path::absolute(p).map_err(io(p));
    let word = |p: PathBuf| p.display().to_string();
    // A task has one processor unless more are asked for: its cells share nothing but selections.
    let threads = args.how.threads.unwrap_or(1);
    // The user who runs the experiment has allowed its programs, here and on the cluster's machines.
    let mut command = vec![word(program), "work".into(), "--trust".into()];
    command.extend(["--out".into(), word(whole(out)?)]);
    command.extend(["--threads".into(), threads.to_string()]);
    if let Some(bytes) = args.how.memory_limit {
        command.extend(["--memory-limit".into(), bytes.to_string()]);
    }
    for dir in &args.how.data.data_dir {
        command.extend(["--data-dir".into(), word(whole(dir)?)]);
    }
    if args.keep_stale {
        command.push("--keep-stale".into());
    }
    Ok(Some(SlurmOptions {
        request: slurm::Request {
            partition: partition.clone(),
            time: time.clone(),
            cpus: threads,
            memory: args.how.memory_limit,
        },
        cells_per_task: cells_per_task.and_then(|c| c.0),
        command,
    }))
}

/// The default folder of results, named after the experiment.
pub(crate) fn default_out(experiment: &Experiment) -> PathBuf {
    Path::new("mustlink-results").join(folder_of(experiment))
}

/// The folder of an experiment among others: its name, without what leads elsewhere.
fn folder_of(experiment: &Experiment) -> String {
    let keep = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let name: String = experiment.head.name.chars().map(keep).collect();
    if name.trim_matches('.').is_empty() { "unnamed".into() } else { name }
}

/// The experiment in a file, checked.
pub(crate) fn experiment(file: &Path, sets: &[String]) -> Result<Experiment, Failure> {
    file_kind::reject_method(file)?;
    let experiment = Experiment::load(file, sets)?;
    check_formats(&experiment.plot.formats).map_err(|e| e.at("plot.formats"))?;
    Ok(experiment)
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    let options = [
        ("--cell-timeout", "run.cell_timeout_s", args.cell_timeout.is_some()),
        ("--cell-memory", "run.cell_memory_bytes", args.cell_memory.is_some()),
        ("--threads", "run.threads", args.how.threads.is_some()),
    ];
    check_set_once(&options, &args.sets)?;
    let limits = limits(args.cell_timeout, args.cell_memory);
    let sets: Vec<String> = args.sets.iter().cloned().chain(limits).collect();
    let experiment = experiment(&args.file, &sets)?;
    trust::run(&experiment);
    let out = args.out.clone().unwrap_or_else(|| default_out(&experiment));
    let keep = match (args.keep_stale, args.force) {
        (true, _) => Keep::Stale,
        (_, true) => Keep::Nothing,
        _ => Keep::Current,
    };
    let cluster = slurm(args, &out)?;
    carry_out(&args.how, &out, args.shard, |options| {
        let options = RunOptions { keep, ..options.clone() };
        match &cluster {
            None => experiments::run(&experiment, &options),
            Some(cluster) => slurm::run(&experiment, &options, cluster),
        }
    })
}

/// The assignments for the limits of a cell.
pub(crate) fn limits(seconds: Option<f64>, bytes: Option<u64>) -> Vec<String> {
    let time = seconds.map(|s| format!("run.cell_timeout_s={s:?}"));
    time.into_iter().chain(bytes.map(|b| format!("run.cell_memory_bytes={b}"))).collect()
}

/// Runs with a progress display, shows the outcome, and gives the exit status.
pub(crate) fn carry_out(
    how: &How,
    out: &Path,
    shard: Option<Shard>,
    work: impl FnOnce(&RunOptions) -> mustlink::Result<Outcome>,
) -> Result<u8, Failure> {
    let memory_limit = how.memory_limit.or_else(crate::memory::default_limit);
    let options = RunOptions {
        threads: how.threads,
        memory_limit,
        max_fails: how.max_fails.or(how.fail_fast.then_some(1)),
        finish: how.finish,
        shard,
        source: Source { memory_limit, ..how.data.source() },
        ..RunOptions::to(out)
    };
    let outcome = watched(how.quiet, options, work)?;
    let report = if outcome.part { None } else { Some(mustlink_report::report(out)?) };
    if outcome.stopped && interrupt::flag().load(Ordering::Relaxed) {
        let finished = outcome.skipped + outcome.done;
        let (total, out) = (outcome.total, out.display());
        let then = if outcome.forced > 0 { "starts over" } else { "continues from there" };
        term::tell(&format!(
            "interrupted: {finished} of {total} cells are finished in {out}; the same command {then}"
        ));
        return Ok(130);
    }
    if let Some(report) = &report {
        stale(report);
        term::print(&report.table)?;
    }
    tell_outcome(how, out, &outcome, report.as_ref());
    Ok(u8::from(!outcome.failed.is_empty() || !outcome.lost.is_empty()))
}

/// Prints what is done, what failed and what is left of a run that was not interrupted.
fn tell_outcome(how: &How, out: &Path, outcome: &Outcome, report: Option<&Report>) {
    let finished = outcome.skipped + outcome.done;
    if !how.quiet {
        term::tell(&if outcome.total == 0 && outcome.part {
            format!("nothing to do in {}: this part has no cells", out.display())
        } else if outcome.total == 0 {
            format!("nothing to do in {}: no cell has failed or is missing", out.display())
        } else {
            format!(
                "{finished} of {} cells finished ({} before), in {}",
                outcome.total,
                outcome.skipped,
                duration(outcome.seconds)
            )
        });
        match report {
            Some(report) => term::tell(&format!("report: {}", report.page.display())),
            None => term::tell(&format!(
                "when all parts are finished: mustlink report {}",
                shell_word(&out.display().to_string())
            )),
        }
    }
    for (what, cells) in [("failed", &outcome.failed), ("lost", &outcome.lost)] {
        let mut left: Vec<_> = cells.iter().collect();
        for _ in 0..5 {
            let Some(cell) = left.first().copied() else { break };
            let before = left.len();
            left.retain(|other| other.message != cell.message);
            let more = match before - left.len() {
                1 => String::new(),
                same => format!(" (same error in {})", count(same - 1, "more cell")),
            };
            term::tell(&format!(
                "{what}: {}, {}, repeat {}, fold {}: {}{more}",
                cell.dataset, cell.method, cell.repeat, cell.fold, cell.message
            ));
        }
    }
    if finished < outcome.total {
        let missing = outcome.total - finished;
        let (cells, are) = (count(missing, "cell"), form(missing, "is", "are"));
        let them = form(missing, "it", "them");
        term::tell(&match (outcome.stopped, outcome.forced) {
            (false, _) => format!("{cells} {are} missing; the same command tries {them} again"),
            (true, 0) => format!("{cells} {are} left; the same command continues with {them}"),
            (true, _) => format!("{cells} {are} left; the same command starts over"),
        });
    }
    let failed = outcome.failed.len();
    if failed == 0 {
        return;
    }
    let stopped = if outcome.stopped { "; stopped there" } else { "" };
    let late = outcome.failed.iter().any(|cell| cell.message.contains("the time limit of"));
    let more = if late { ", with --cell-timeout SECONDS for longer" } else { "" };
    term::tell(&format!(
        "{} failed{stopped}; mustlink retry {}{} runs {} again{more}",
        count(failed, "cell"),
        shell_word(&out.display().to_string()),
        program::data_dirs(),
        form(failed, "it", "them")
    ));
}
