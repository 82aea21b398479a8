//! The run of an experiment on a Slurm cluster.
//!
//! The cells that are missing are packed into the tasks of one array, which write them where every run
//! does. The process that follows the array only checks which cells exist. It uses only one report of the
//! cluster: an array without tasks is over. The cells that are then missing make the next array.

mod array;
mod losses;
mod pack;
mod queue;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use mustlink_core::{Error, Result};
use mustlink_datasets::shell_word;

pub use self::queue::{Request, time_limit};

use self::array::Array;
use self::losses::Losses;
use self::pack::Size;
use self::queue::State;
use crate::cell_file::has_failed;
use crate::config::{Experiment, stored};
use crate::folder::io;
use crate::grid::Grid;
use crate::journal::{self, Journal, Who};
use crate::outcome::{FailedCell, Outcome, ProgressSnapshot, RunOptions, failed_of, seconds_left};
use crate::plan::{Cost, costs};
use crate::results::finished;
use crate::run::run_some;
use crate::shard::Shard;
use crate::standing::Left;

/// Number of losses with a shared task after which a cell gets a task of its own.
const SHARED_LOSSES: usize = 2;
/// Largest number of losses of a cell.
const LOSSES: usize = 3;
/// Tasks of an array that tries whether anything comes back at all.
const PROBES: usize = 8;
/// Between two looks at the directory: short at first, for short runs, then long, for the cluster's sake.
const FIRST_LOOK: Duration = Duration::from_millis(300);
const LAST_LOOK: Duration = Duration::from_secs(10);

/// Options for using the cluster.
#[derive(Debug, Clone, Default)]
pub struct SlurmOptions {
    /// Resources of each task.
    pub request: Request,
    /// Cells per task; absent: by their estimated time.
    pub cells_per_task: Option<usize>,
    /// The command of a task, up to the file that says what it does; the file, `--task` and the number
    /// of the task are added.
    pub command: Vec<String>,
}

/// Runs an experiment, or what is left of it, on a cluster.
///
/// # Errors
/// Returns the errors of `run`; `Usage` with what the cluster says when it refuses.
pub fn run(experiment: &Experiment, options: &RunOptions, slurm: &SlurmOptions) -> Result<Outcome> {
    let start = Instant::now();
    let most = queue::check(&slurm.request)?;
    let mut grid = Grid::new(experiment, &options.source)?;
    let journal = Journal::open(&options.out, experiment, Who::Follower)?;
    let cells: Vec<usize> = (0..grid.cells.len()).collect();
    let all = grid.distinct(&cells);
    let left = Left::of(experiment, &grid, &all, &options.out, options.keep)?;
    left.adopted.iter().for_each(|(cell, other)| grid.adopt(*cell, &other.identity, &other.build));
    stored::write(&journal.folder, experiment, &left.wanted.metrics, &grid.plan_lines())?;
    journal.write_data(&grid.facts())?;
    options.announce(experiment, &grid, !left.todo.is_empty());
    options.progress.start(&left.standing);
    let losses = Losses::read(&options.out)?;
    let mut follower = Follower {
        journal: &journal,
        costs: costs(experiment, &grid, &left),
        missing: left.todo.keys().copied().collect(),
        total: all.len(),
        grid: &grid,
        left: &left,
        options,
        slurm,
        most,
        lost: losses,
        failed: 0,
        stopped: false,
        start,
    };
    follower.work()?;
    let Follower { missing, lost, stopped, .. } = follower;
    finished(&options.out)?.write_csv(&options.out)?;
    let plan = grid.plan_lines();
    let lost = missing.iter().filter_map(|&c| {
        let loss = lost.of(&grid.cells[c].of_any_build)?;
        let message = format!("lost with its task {} times; {}", loss.times, loss.last);
        Some(FailedCell::new(&plan[c], message))
    });
    Ok(Outcome {
        out: options.out.clone(),
        total: all.len(),
        skipped: all.len() - left.todo.len(),
        done: left.todo.len() - missing.len(),
        forced: 0,
        failed: failed_of(&grid, &cells, &options.out, &left.wanted)?,
        lost: if stopped { Vec::new() } else { lost.collect() },
        stopped,
        part: false,
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// Does the cells of one task of an array, in the directory `options.out`.
///
/// # Errors
/// Returns the errors of `run`; `Data` when the file lists no such task, or cells that this build does not have.
pub fn task(list: &Path, number: usize, options: &RunOptions) -> Result<Outcome> {
    let fail = |message: String| Error::Data { place: list.display().to_string(), message };
    let array = Array::read(list)?;
    let count = array.tasks.len();
    let cells =
        array.tasks.get(number).ok_or_else(|| fail(format!("has {count} tasks, no {number}")))?;
    let wanted: BTreeSet<&String> = cells.iter().collect();
    let experiment = Experiment::from_directory(&options.out)?;
    let choose = |grid: &Grid| -> Vec<usize> {
        (0..grid.cells.len()).filter(|&c| wanted.contains(&grid.cells[c].of_any_build)).collect()
    };
    // Whoever follows the array makes the report.
    let shard = Some(Shard { number: number + 1, of: count });
    let options = RunOptions { shard, ..options.clone() };
    let outcome = run_some(&experiment, &options, Who::Task, &choose)?;
    match outcome.total {
        0 => Err(fail("lists no cell of the study any more; run it again".into())),
        _ => Ok(outcome),
    }
}

struct Follower<'a> {
    journal: &'a Journal,
    grid: &'a Grid,
    left: &'a Left,
    options: &'a RunOptions,
    slurm: &'a SlurmOptions,
    /// Tasks an array may have.
    most: usize,
    costs: Vec<Cost>,
    total: usize,
    missing: BTreeSet<usize>,
    lost: Losses,
    failed: usize,
    stopped: bool,
    start: Instant,
}

impl Follower<'_> {
    /// One array after another until no cell is missing that may be tried.
    fn work(&mut self) -> Result<()> {
        self.look()?;
        if let Some(array) = Array::current(&self.options.out)? {
            let state = queue::state(&array.name);
            if let State::Queued { tasks, .. } = &state {
                let name = &array.name;
                self.note(&format!(
                    "{name} is still in the queue with {tasks} tasks: it is followed"
                ));
            }
            match state {
                // Its follower died before it was in the queue.
                State::Over if !array.has_begun(&self.options.out) => {
                    Array::forget(&self.options.out)?;
                }
                // One that is over by now has its losses to be counted.
                _ => self.follow(&array)?,
            }
        }
        let mut round = 1;
        while !self.stopped && !self.cancelled() {
            let tasks = self.tasks();
            if tasks.is_empty() {
                break;
            }
            let array = self.submit(round, &tasks)?;
            self.follow(&array)?;
            round += 1;
        }
        // A run that comes to its end tries everything anew the next time; one that is stopped goes on.
        if self.stopped { Ok(()) } else { Losses::forget(&self.options.out) }
    }

    fn note(&self, text: &str) {
        self.options.progress.note(text);
    }

    /// True if the follower is to end. It leaves the array in the queue.
    fn cancelled(&mut self) -> bool {
        let cancelled = self.options.cancel.load(Ordering::Relaxed) && !self.missing.is_empty();
        self.stopped |= cancelled;
        cancelled
    }

    /// Waits, though not when the run is to end.
    fn sleep(&self, wait: Duration) {
        const SLICE: Duration = Duration::from_millis(100);
        let until = Instant::now() + wait;
        while Instant::now() < until && !self.options.cancel.load(Ordering::Relaxed) {
            std::thread::sleep(SLICE.min(wait));
        }
    }

    /// The cells of the tasks of the next array; none when nothing is left to try.
    fn tasks(&self) -> Vec<Vec<usize>> {
        let losses = |c: usize| self.lost.times(&self.grid.cells[c].of_any_build);
        let open = |low: usize, high: usize| -> Vec<Cost> {
            let in_range =
                |c: &&Cost| self.missing.contains(&c.cell) && (low..high).contains(&losses(c.cell));
            self.costs.iter().filter(in_range).cloned().collect()
        };
        let (together, alone) = (open(0, SHARED_LOSSES), open(SHARED_LOSSES, LOSSES));
        let nothing_came = self.missing.len() == self.left.todo.len();
        if nothing_came && self.missing.iter().any(|&c| losses(c) >= LOSSES) {
            return Vec::new();
        }
        let limit = self.slurm.request.time.as_deref().and_then(|t| time_limit(t).ok());
        let size = match self.slurm.cells_per_task {
            Some(cells) => Size::Cells(cells),
            None => Size::Seconds(pack::target(&together, limit)),
        };
        let mut tasks = pack::pack(&together, size, self.most);
        tasks.extend(pack::pack(&alone, Size::Cells(1), self.most));
        let probes = nothing_came && together.is_empty();
        // What an array does not take comes with the next.
        tasks.truncate(if probes { PROBES.min(self.most) } else { self.most });
        tasks
    }

    fn submit(&self, round: usize, tasks: &[Vec<usize>]) -> Result<Array> {
        let out = absolute(&self.options.out)?;
        // What every build calls a cell: rows of another build may be kept under another name.
        let name = |c: &usize| self.grid.cells[*c].of_any_build.clone();
        let lists = tasks.iter().map(|t| t.iter().map(name).collect()).collect();
        let array = Array::new(&out, round, lists);
        // Written first: between the two a follower that dies leaves an array that is in no queue,
        // which is one that is over.
        array.write(&out)?;
        let mut words = self.slurm.command.clone();
        words.extend([array.list(&out).display().to_string(), "--task".into()]);
        let words: Vec<String> = words.iter().map(|w| shell_word(w)).collect();
        let script = format!("#!/bin/sh\nexec {} \"$SLURM_ARRAY_TASK_ID\"\n", words.join(" "));
        let job = queue::submit(
            &array.name,
            tasks.len(),
            &script,
            &array.log(&out),
            &self.slurm.request,
        )?;
        let cells: usize = tasks.iter().map(Vec::len).sum();
        let again = if round > 1 { " that are missing" } else { "" };
        self.note(&format!(
            "array {job} ({}): {cells} cells{again} in {} tasks",
            array.name,
            tasks.len()
        ));
        Ok(array)
    }

    /// Watches until the array is over or all of its cells exist.
    fn follow(&mut self, array: &Array) -> Result<()> {
        let names: BTreeMap<&String, usize> =
            self.left.todo.keys().map(|&c| (&self.grid.cells[c].of_any_build, c)).collect();
        let cells: BTreeMap<usize, usize> = array
            .tasks
            .iter()
            .enumerate()
            .flat_map(|(task, cells)| cells.iter().map(move |c| (task, c)))
            .filter_map(|(task, c)| names.get(c).map(|&c| (c, task)))
            .collect();
        let mut wait = FIRST_LOOK;
        let mut told = None;
        loop {
            // The queue is asked first: what the last task wrote is there when it is over.
            let state = queue::state(&array.name);
            self.look()?;
            if !cells.keys().any(|c| self.missing.contains(c)) {
                return Array::forget(&self.options.out);
            }
            if self.options.max_fails.is_some_and(|most| self.failed >= most) {
                self.stopped = true;
                queue::cancel(&array.name)?;
                return Array::forget(&self.options.out);
            }
            if self.cancelled() {
                let name = &array.name;
                self.note(&format!(
                    "{name} continues in the queue; the same command follows it again, scancel --name {name} \
                     ends it"
                ));
                return Ok(());
            }
            let news = match state {
                State::Over => break,
                State::Queued { reason, .. } => reason.map(|r| queue::waits(&array.name, &r)),
                State::Unknown(why) => Some(format!("the cluster does not answer: {why}")),
            };
            if news != told {
                news.iter().for_each(|n| self.note(n));
                told = news;
            }
            self.sleep(wait);
            wait = wait.mul_f64(1.3).min(LAST_LOOK);
        }
        for (c, task) in cells {
            if self.missing.contains(&c) {
                let (log, words) = array.last_words(&self.options.out, task);
                let words = if words.is_empty() { "nothing".into() } else { words };
                let last = format!("{} says last: {words}", log.display());
                self.lost.count(&self.grid.cells[c].of_any_build, last);
            }
        }
        self.journal.clean_after_tasks()?;
        // A follower that dies between the two counts this array twice, not never.
        self.lost.write(&self.options.out)?;
        Array::forget(&self.options.out)
    }

    /// Finds the missing cells that exist by now.
    fn look(&mut self) -> Result<()> {
        let there = journal::files(&self.options.out)?;
        let mut found = BTreeSet::new();
        for &c in &self.missing {
            let identity = &self.grid.cells[c].identity;
            // A damaged file is a missing one: its cell is among those to do.
            if there.contains(identity)
                && let Ok(Some(file)) = journal::read_cell(&self.options.out, identity)
                && file.has_all(&self.left.wanted)
            {
                self.failed += usize::from(has_failed(file.select(&self.left.wanted).0));
                found.insert(c);
            }
        }
        self.missing = &self.missing - &found;
        let (mut to_do, mut over) = (0.0, 0.0);
        for cost in &self.costs {
            let part = if self.missing.contains(&cost.cell) { &mut to_do } else { &mut over };
            *part += cost.seconds;
        }
        self.options.progress.update(&ProgressSnapshot {
            done: self.total - self.missing.len(),
            total: self.total,
            failed: self.failed,
            seconds_left: seconds_left(self.start, over, to_do),
            best: None,
        });
        Ok(())
    }
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(io(path))
}
