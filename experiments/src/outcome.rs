//! The options of a run, its progress and its outcome.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use mustlink_core::Result;
use mustlink_core::roles::OPERATIONS_PER_SECOND;

use crate::best::Best;
use crate::cell_file::Wanted;
use crate::config::{Experiment, stored};
use crate::data::Source;
use crate::grid::{Grid, PlanLine};
use crate::journal;
use crate::row::{Row, RowStatus};
use crate::shard::Shard;
use crate::standing::{Keep, Standing};

/// The progress of a run at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgressSnapshot {
    /// Cells of this run that are over, those found finished included.
    pub done: usize,
    /// Cells of this run.
    pub total: usize,
    /// Cells with an error or out of time.
    pub failed: usize,
    /// Seconds to go, from the work left; absent before the first work is over, and when the run stops.
    pub seconds_left: Option<f64>,
    /// The best method so far; absent before all methods have finished the same cell.
    pub best: Option<Best>,
}

/// The work of a run in operations, and the time that it took.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Work {
    pub over: f64,
    pub under_way: f64,
    pub waiting: f64,
    /// Seconds of a thread for the work that is over.
    pub spent: f64,
    /// Seconds of a thread since the work under way began.
    pub busy: f64,
}

/// Share of the work that is taken to have had the usual speed.
const USUAL: f64 = 0.05;

impl Work {
    /// Seconds to go, `elapsed` seconds after the start. `None` before the first work is over.
    ///
    /// The first tasks to end are often tiny, and their time is not that of their operations. So the usual speed counts
    /// as well, less and less. A long task that is under way counts by its own time.
    pub fn seconds_left(&self, threads: usize, elapsed: f64) -> Option<f64> {
        let usual = USUAL * (self.over + self.under_way + self.waiting);
        let each = (self.spent + usual / OPERATIONS_PER_SECOND) / (self.over + usual);
        let rest = each * self.waiting + (each * self.under_way - self.busy).max(0.0);
        // Memory may leave threads idle.
        let at_work = ((self.spent + self.busy) / elapsed).min(threads as f64).max(1.0);
        (self.over > 0.0).then_some(rest / at_work)
    }
}

/// Seconds to go at the rate since `start`, from the finished work and the work to do. `None` before the first of it
/// is over.
pub(crate) fn seconds_left(start: Instant, over: f64, to_do: f64) -> Option<f64> {
    (over > 0.0).then(|| start.elapsed().as_secs_f64() * to_do / over)
}

/// Watches a run. Calls may come from any thread; the watcher decides how often to show something.
pub trait RunProgress: Send + Sync {
    /// A data set was read: its name, and what it is in one line.
    fn read(&self, _id: &str, _summary: &str) {}
    /// Work begins on the missing cells.
    fn start(&self, _standing: &Standing) {}
    /// Something worth a line.
    fn note(&self, _text: &str) {}
    /// Something is over.
    fn update(&self, snapshot: &ProgressSnapshot);
}

/// Watches nothing.
struct Silent;
impl RunProgress for Silent {
    fn update(&self, _: &ProgressSnapshot) {}
}

/// Options of a run. Nothing here changes a row, except for the columns of times.
#[derive(Clone)]
pub struct RunOptions {
    /// Directory of the results.
    pub out: PathBuf,
    /// Threads; absent: those of the experiment file, otherwise one per core.
    pub threads: Option<usize>,
    /// Bytes of the data sets and what the methods under way declare, together.
    pub memory_limit: Option<u64>,
    /// Stop when this many cells of the run have failed; running ones finish.
    pub max_fails: Option<usize>,
    /// Only this part of the cells.
    pub shard: Option<Shard>,
    /// Which finished cells are kept.
    pub keep: Keep,
    /// When cancelled, let the running cells finish.
    pub finish: bool,
    /// Source of data sets.
    pub source: Source,
    /// Receiver of progress reports.
    pub progress: Arc<dyn RunProgress>,
    /// Set it to stop the run.
    pub cancel: Arc<AtomicBool>,
}

impl RunOptions {
    /// Results to `out`, everything else at its default.
    pub fn to(out: impl Into<PathBuf>) -> Self {
        RunOptions {
            out: out.into(),
            threads: None,
            memory_limit: None,
            max_fails: None,
            shard: None,
            keep: Keep::Current,
            finish: false,
            source: Source::default(),
            progress: Arc::new(Silent),
            cancel: Arc::default(),
        }
    }

    /// Says which data sets are read and which are not there, and what else a reader of the results should
    /// know; only the data sets that are not there where nothing is `to_do`.
    pub(crate) fn announce(&self, experiment: &Experiment, grid: &Grid, to_do: bool) {
        if to_do {
            grid.datasets.iter().for_each(|d| self.progress.read(&d.id, &d.set.summary()));
        }
        grid.left_out.iter().for_each(|line| self.progress.note(line));
        if to_do {
            let notes = grid.notes(experiment);
            notes.iter().for_each(|note| self.progress.note(&format!("note: {note}")));
        }
    }
}

/// A cell that failed.
#[derive(Debug, Clone, PartialEq)]
pub struct FailedCell {
    /// Its identity.
    pub identity: String,
    /// Data set.
    pub dataset: String,
    /// Method.
    pub method: String,
    /// Repeat.
    pub repeat: usize,
    /// Fold.
    pub fold: usize,
    /// The first error.
    pub message: String,
    /// It follows from data, settings and seed alone, so that it will come again.
    pub seeded: bool,
}

impl FailedCell {
    /// A cell that failed with this message, for reasons outside it.
    pub(crate) fn new(line: &PlanLine, message: String) -> FailedCell {
        FailedCell {
            identity: line.identity.clone(),
            dataset: line.dataset.clone(),
            method: line.method.clone(),
            repeat: line.repeat,
            fold: line.fold,
            message,
            seeded: false,
        }
    }

    /// Failure in the rows of a cell, if any.
    pub(crate) fn of<'a>(
        line: &PlanLine,
        rows: impl IntoIterator<Item = &'a Row>,
    ) -> Option<FailedCell> {
        let row = rows.into_iter().find(|r| r.status != RowStatus::Ok)?;
        let message = row.message.clone().unwrap_or_default();
        Some(FailedCell { seeded: row.seeded == Some(true), ..FailedCell::new(line, message) })
    }
}

/// Result of a run.
#[derive(Debug)]
pub struct Outcome {
    /// Folder of the results.
    pub out: PathBuf,
    /// Cells of this run (of the shard, or to be retried).
    pub total: usize,
    /// Cells found finished.
    pub skipped: usize,
    /// Cells done now.
    pub done: usize,
    /// Finished cells that the user asked to compute again.
    pub forced: usize,
    /// Cells that failed, those found finished included, in config order.
    pub failed: Vec<FailedCell>,
    /// Cells of a cluster whose tasks ended without them, again and again; the message says how.
    pub lost: Vec<FailedCell>,
    /// It was cancelled, or stopped at the first failure.
    pub stopped: bool,
    /// It did the cells of a shard or of a task alone: the whole is reported when all are done.
    pub part: bool,
    /// Seconds it took.
    pub seconds: f64,
}

/// The cells of a results directory that failed with an error or ran out of time.
///
/// # Errors
/// `Data` when it is not a results directory.
pub fn failures(dir: &Path) -> Result<Vec<FailedCell>> {
    let stored = stored::read(dir)?;
    let wanted = Wanted::by(&Experiment::from_directory(dir)?)?;
    let mut failed = Vec::new();
    for line in journal::read_plan(dir, &stored)? {
        let Ok(Some(file)) = journal::read_cell(dir, &line.identity) else { continue };
        failed.extend(FailedCell::of(&line, file.at_points(&wanted)));
    }
    Ok(failed)
}

/// The failed cells among `cells`, according to their files.
pub(crate) fn failed_of(
    grid: &Grid,
    cells: &[usize],
    dir: &Path,
    wanted: &Wanted,
) -> Result<Vec<FailedCell>> {
    let plan = grid.plan_lines();
    let mut failed = Vec::new();
    for &c in cells {
        let Some(file) = journal::read_cell(dir, &plan[c].identity)? else { continue };
        failed.extend(FailedCell::of(&plan[c], file.select(wanted).0));
    }
    Ok(failed)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn tiny_tasks_at_the_start_do_not_decide_the_time_left() {
        let second = OPERATIONS_PER_SECOND;
        let left = |work: Work, elapsed| work.seconds_left(2, elapsed);
        let start = Work { under_way: 20.0 * second, waiting: 60.0 * second, ..Work::default() };
        assert_eq!(left(start, 0.0), None, "nothing is over yet");
        // They took a hundred times as long as their operations. At this rate it would be an hour.
        let tiny = Work { over: 0.001 * second, spent: 0.1, busy: 0.1, ..start };
        assert!(left(tiny, 0.1).is_some_and(|left| (39.0..43.0).contains(&left)));
        // The first of four equal tasks is over, and so is nearly the second.
        let (over, waiting) = (10.0 * second, 20.0 * second);
        let equal = Work { over, under_way: over, waiting, spent: 10.0, busy: 10.0 };
        assert!(left(equal, 10.0).is_some_and(|left| (left - 10.0).abs() < 1e-9));
        // Four times as long as usual: with half of the work over, the usual speed hardly counts.
        let slow = Work { over: waiting, under_way: 0.0, waiting, spent: 80.0, busy: 0.0 };
        assert!(left(slow, 40.0).is_some_and(|left| (36.0..40.0).contains(&left)));
        // One thread was at work, because the memory was full.
        assert!(left(slow, 80.0).is_some_and(|left| (72.0..80.0).contains(&left)));
    }

    #[test]
    fn time_is_left_at_the_rate_so_far() {
        let start = Instant::now();
        assert_eq!(seconds_left(start, 0.0, 6.0), None, "nothing is over yet");
        let start = start - Duration::from_secs(10);
        assert!(seconds_left(start, 2.0, 6.0).is_some_and(|left| left >= 30.0));
        assert_eq!(seconds_left(start, 8.0, 0.0), Some(0.0));
    }
}
