//! The execution of an experiment.
//!
//! Selections and cells are tasks. The threads are shared out among the tasks that can begin, and a task
//! begins only while its declared memory fits the limit. No result depends on the order.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use mustlink_core::context::EnsembleStore;
use mustlink_core::run::STACK;
use mustlink_core::{Error, Result};
use mustlink_datasets::data_error;

use crate::best::Scores;
use crate::cell;
use crate::cell_file::{CellFile, Wanted, has_failed};
use crate::config::{Experiment, stored};
use crate::data::Prepared;
use crate::grid::{Budget, Grid, PlanLine};
use crate::journal::{self, Journal, Who};
use crate::outcome::{Outcome, ProgressSnapshot, RunOptions, Work, failed_of};
use crate::results::finished;
use crate::row::Row;
use crate::run_env::{RunEnv, Selected, select};
use crate::schedule::{Pools, Schedule, Task, share};
use crate::shard::cells_of_shard;
use crate::standing::{Keep, Left, Stale};

/// Runs an experiment, or what is left of it.
///
/// # Errors
/// Data sets that cannot be read, a directory that is locked or holds another experiment, a disk
/// that takes no more. Cells that fail are rows, not errors.
pub fn run(experiment: &Experiment, options: &RunOptions) -> Result<Outcome> {
    let who = options.shard.map_or(Who::Alone, Who::Shard);
    run_some(experiment, options, who, &|grid| cells_of_shard(grid, options.shard))
}

/// Runs the cells that `choose` gives, as far as they are not there.
pub(crate) fn run_some(
    experiment: &Experiment,
    options: &RunOptions,
    who: Who,
    choose: &dyn Fn(&Grid) -> Vec<usize>,
) -> Result<Outcome> {
    let mut grid = Grid::new(experiment, &options.source)?;
    let journal = Journal::open(&options.out, experiment, who)?;
    let cells = choose(&grid);
    let left = Left::of(experiment, &grid, &grid.distinct(&cells), &options.out, options.keep)?;
    left.adopted.iter().for_each(|(cell, other)| grid.adopt(*cell, &other.identity, &other.build));
    // Tasks of an array find the study written; it may have grown since they were submitted.
    if !matches!(who, Who::Task) {
        let lines = grid.plan_lines();
        stored::write(&journal.folder, experiment, &left.wanted.metrics, &lines)?;
        journal.write_data(&grid.facts())?;
    }
    carry_out(experiment, &grid, &journal, &cells, left, options)
}

/// Runs again the cells of a results directory that failed with an error or ran out of time, and those
/// whose files are damaged, after carrying out `sets` (`run.cell_timeout_s=60`).
///
/// # Errors
/// Returns the errors of [`run`]; `Data` if the data of finished cells have changed or are missing.
pub fn retry(dir: &Path, sets: &[String], options: &RunOptions) -> Result<Outcome> {
    retry_some(dir, sets, options, &|_| true)
}

/// Runs again one cell of a results directory that failed with an error or ran out of time. The report and cells.csv
/// contain its identity.
///
/// # Errors
/// Returns the errors of [`retry`]; `Data` when no cell has this identity, or the one that has did not fail.
pub fn retry_cell(
    dir: &Path,
    identity: &str,
    sets: &[String],
    options: &RunOptions,
) -> Result<Outcome> {
    let lines = journal::read_plan(dir, &stored::read(dir)?)?;
    let wrong = |what: &str| {
        let way = "cells.csv names the cells, report.html those that failed";
        data_error(dir.display(), format!("{what} {identity}; {way}"))
    };
    if lines.iter().all(|l| l.identity != identity) {
        return Err(wrong("has no cell"));
    }
    let wanted = Wanted::by(&Experiment::from_directory(dir)?)?;
    let file = journal::read_cell(dir, identity);
    if file.is_ok_and(|f| f.is_none_or(|f| !has_failed(f.at_points(&wanted)))) {
        return Err(wrong("has no failure in cell"));
    }
    // Its identity is another now when its code has changed since.
    let key = |l: &PlanLine| (l.dataset.clone(), l.method.clone(), l.repeat, l.fold);
    retry_some(dir, sets, options, &|line| {
        lines.iter().any(|l| l.identity == identity && key(l) == key(line))
    })
}

fn retry_some(
    dir: &Path,
    sets: &[String],
    options: &RunOptions,
    chosen: &dyn Fn(&PlanLine) -> bool,
) -> Result<Outcome> {
    let experiment = Experiment::from_directory_with(dir, sets)?;
    let stored = stored::read(dir)?;
    let options = RunOptions { out: dir.to_path_buf(), ..options.clone() };
    let grid = Grid::new(&experiment, &options.source);
    let mut grid = grid.map_err(|e| stored.at_base(e))?;
    let journal = Journal::open(dir, &experiment, options.shard.map_or(Who::Alone, Who::Shard))?;
    let files = journal::files(dir)?;
    let stale = Stale::find(&grid, &files, dir)?;
    // The list is written anew below: rows of what is not in it any more would be in no report. One that is
    // damaged names nothing.
    let before = journal::read_plan(dir, &stored).unwrap_or_default();
    if let Some(why) = stale.strayed(&grid, &before, &files).into_iter().next() {
        let way = "mustlink run with the experiment file computes its cells again";
        return Err(data_error(dir.display(), format!("{why}; {way}")));
    }
    let wanted = Wanted::by(&experiment)?;
    let failed_rows = |file: &CellFile| has_failed(file.at_points(&wanted));
    let cells = grid.distinct(&cells_of_shard(&grid, options.shard));
    // What did not fail stays, whoever made it.
    for cell in grid.distinct(&(0..grid.cells.len()).collect::<Vec<_>>()) {
        let Some(other) = stale.of_cell(&grid, cell) else { continue };
        let file = journal::read_cell(dir, &other.identity)?;
        if file.is_some_and(|f| !failed_rows(&f)) {
            grid.adopt(cell, &other.identity, &other.build);
        }
    }
    let mut failed = Vec::new();
    let lines = grid.plan_lines();
    for cell in cells.into_iter().filter(|c| chosen(&lines[*c])) {
        let failed_before = stale.of_cell(&grid, cell).map(|other| &other.identity);
        let identity = failed_before.unwrap_or(&grid.cells[cell].identity);
        let again = match journal::read_cell(dir, identity) {
            Ok(file) => file.is_some_and(|f| failed_rows(&f)),
            Err(_) => true,
        };
        if again {
            failed.push(cell);
        }
    }
    let mut left = Left::of(&experiment, &grid, &failed, dir, Keep::Current)?;
    left.adopted.clear();
    left.standing.finished = 0;
    left.todo = failed.iter().map(|&c| (c, None)).collect();
    stored::write(&journal.folder, &experiment, &left.wanted.metrics, &lines)?;
    journal.write_data(&grid.facts())?;
    carry_out(&experiment, &grid, &journal, &failed, left, &options)
}

/// State that the threads of a run share, under one lock.
struct Board {
    schedule: Schedule,
    /// The selections that are over and still needed.
    selected: BTreeMap<usize, Arc<Selected>>,
    /// The threads of each task that is under way, and its start.
    running: BTreeMap<Task, (usize, Instant)>,
    /// Threads that no task has.
    free: usize,
    memory: u64,
    done: usize,
    failed: usize,
    /// Operations of each task that is not over, roughly, and of all that are, with the seconds of a thread.
    to_do: BTreeMap<Task, f64>,
    over: f64,
    spent: f64,
    scores: Option<Scores>,
    fatal: Option<Error>,
    stopped: bool,
}

impl Board {
    fn work(&self) -> Work {
        let under_way: f64 = self.running.keys().filter_map(|task| self.to_do.get(task)).sum();
        let busy =
            |(threads, since): &(usize, Instant)| *threads as f64 * since.elapsed().as_secs_f64();
        Work {
            over: self.over,
            under_way,
            waiting: self.to_do.values().sum::<f64>() - under_way,
            spent: self.spent,
            busy: self.running.values().map(busy).sum(),
        }
    }

    /// Takes a task as over.
    fn end(&mut self, task: Task) {
        self.over += self.to_do.remove(&task).unwrap_or(0.0);
        if let Some((threads, since)) = self.running.remove(&task) {
            self.spent += threads as f64 * since.elapsed().as_secs_f64();
            self.free += threads;
        }
    }
}

/// A task with what it was given.
struct Taken {
    task: Task,
    threads: usize,
    memory: u64,
}

struct Runner<'a> {
    experiment: &'a Experiment,
    grid: &'a Grid,
    journal: &'a Journal,
    options: &'a RunOptions,
    left: &'a Left,
    points: Option<Vec<usize>>,
    ensembles: EnsembleStore,
    pools: Pools,
    board: Mutex<Board>,
    change: Condvar,
    total: usize,
    skipped: usize,
    threads: usize,
    start: Instant,
}

fn carry_out(
    experiment: &Experiment,
    grid: &Grid,
    journal: &Journal,
    cells: &[usize],
    mut left: Left,
    options: &RunOptions,
) -> Result<Outcome> {
    let start = Instant::now();
    let scores = left.scores.take();
    options.announce(experiment, grid, !left.todo.is_empty());
    options.progress.start(&left.standing);
    let todo: Vec<usize> = left.todo.keys().copied().collect();
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = options.threads.or(experiment.run.threads).unwrap_or_else(cores).max(1);
    let points = experiment.points.numbers().ok();
    let (schedule, to_do) = Schedule::new(experiment, grid, &todo, points.as_deref());
    let all = grid.distinct(cells);
    let runner = Runner {
        experiment,
        grid,
        journal,
        options,
        left: &left,
        points,
        ensembles: EnsembleStore::default(),
        pools: Pools::default(),
        board: Mutex::new(Board {
            schedule,
            selected: BTreeMap::new(),
            running: BTreeMap::new(),
            free: threads,
            memory: 0,
            done: 0,
            failed: 0,
            to_do,
            over: 0.0,
            spent: 0.0,
            scores,
            fatal: None,
            stopped: false,
        }),
        change: Condvar::new(),
        total: all.len(),
        skipped: all.len() - todo.len(),
        threads,
        start,
    };
    runner.show_progress(&runner.lock());
    std::thread::scope(|scope| {
        for at in 0..threads.min(todo.len()) {
            // Fewer threads than asked for are no reason to give up.
            let worker = std::thread::Builder::new().stack_size(STACK);
            if let Err(e) = worker.spawn_scoped(scope, || runner.run_tasks()) {
                if at == 0 {
                    let message = format!("cannot start a thread: {e}");
                    runner.lock().fatal.get_or_insert(Error::Usage(message));
                }
                break;
            }
        }
    });
    let board = runner.board.into_inner().unwrap_or_else(|e| e.into_inner());
    if let Some(error) = board.fatal {
        return Err(error);
    }
    let failed = failed_of(grid, cells, &options.out, &left.wanted)?;
    if options.shard.is_none() {
        finished(&options.out)?.write_csv(&options.out)?;
    }
    Ok(Outcome {
        out: options.out.clone(),
        total: runner.total,
        skipped: runner.skipped,
        done: board.done,
        forced: left.standing.forced,
        failed,
        lost: Vec::new(),
        stopped: board.stopped,
        part: options.shard.is_some(),
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// Ends the run for all threads if this one panics: they would wait for its task for ever.
struct EndsOnPanic<'a>(&'a Runner<'a>);

impl Drop for EndsOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lock().stopped = true;
            self.0.change.notify_all();
        }
    }
}

impl Runner<'_> {
    fn lock(&self) -> std::sync::MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn show_progress(&self, board: &Board) {
        self.options.progress.update(&ProgressSnapshot {
            done: self.skipped + board.done,
            total: self.total,
            failed: board.failed,
            // A run that stops has no time left.
            seconds_left: board
                .work()
                .seconds_left(self.threads, self.start.elapsed().as_secs_f64())
                .filter(|_| !self.options.cancel.load(Ordering::Relaxed)),
            best: board.scores.as_ref().and_then(Scores::best),
        });
    }

    /// Bytes of all data sets and their constraints.
    fn data(&self) -> u64 {
        self.grid.datasets.iter().map(Prepared::bytes).sum()
    }

    fn memory_of(&self, task: Task) -> u64 {
        match task {
            Task::Cell(c) => self.grid.method_of_cell(c).costs.memory,
            Task::Select(s) => self.grid.method_of_selection(s).costs.memory,
        }
    }

    /// The loop that takes tasks until none is left and runs each on threads of its own.
    fn run_tasks(&self) {
        let _ends = EndsOnPanic(self);
        while let Some(Taken { task, threads, memory }) = self.take() {
            match task {
                Task::Select(s) => {
                    let first = match self.grid.selections[s].budget {
                        Budget::Follow(first) => self.lock().selected.get(&first).cloned(),
                        _ => None,
                    };
                    let work = || select(&self.env(), s, first.as_deref());
                    match self.pools.install(threads, work) {
                        Ok(made) => self.selected(s, made),
                        Err(e) => {
                            self.lock().fatal.get_or_insert(e);
                        }
                    }
                }
                Task::Cell(c) => {
                    let selected = self.grid.selection_of[c]
                        .and_then(|s| self.lock().selected.get(&s).cloned());
                    let rows = self.pools.install(threads, || {
                        let only = self.left.todo.get(&c).and_then(|p| p.as_deref());
                        cell::run(&self.env(), c, selected.as_deref(), only)
                    });
                    self.finished(c, rows.and_then(|rows| rows));
                }
            }
            let mut board = self.lock();
            board.end(task);
            self.show_progress(&board);
            board.memory -= memory;
            self.change.notify_all();
        }
    }

    /// The next task that fits into memory; `None` when nothing is left or the run stops.
    fn take(&self) -> Option<Taken> {
        let data = self.data();
        let mut board = self.lock();
        loop {
            if self.options.cancel.load(Ordering::Relaxed) {
                board.stopped |= board.schedule.ready() > 0 || !board.running.is_empty();
            }
            if board.stopped || board.fatal.is_some() {
                return None;
            }
            let (idle, used) = (board.running.is_empty(), board.memory);
            let limit = self.options.memory_limit.map(|limit| limit.saturating_sub(data));
            // A task too large for the limit runs alone, to be refused by its own admission.
            let fits = |t| idle || limit.is_none_or(|l| used + self.memory_of(t) <= l);
            let threads = share(board.free, board.schedule.sharing());
            if threads <= board.free
                && let Some(task) = board.schedule.take(fits)
            {
                let memory = self.memory_of(task);
                board.running.insert(task, (threads, Instant::now()));
                board.free -= threads;
                board.memory += memory;
                return Some(Taken { task, threads, memory });
            }
            if idle {
                return None;
            }
            // Woken when a task finishes; the time-out is for the cancel flag.
            let waited = self.change.wait_timeout(board, Duration::from_millis(100));
            board = waited.unwrap_or_else(|e| e.into_inner()).0;
        }
    }

    fn cancel_flag(&self) -> Arc<AtomicBool> {
        if self.options.finish { Arc::default() } else { self.options.cancel.clone() }
    }

    fn env(&self) -> RunEnv<'_> {
        RunEnv {
            experiment: self.experiment,
            grid: self.grid,
            points: self.points.as_deref(),
            ensembles: &self.ensembles,
            cancel: self.cancel_flag(),
            memory_limit: self.options.memory_limit,
            data: self.data(),
        }
    }

    fn selected(&self, s: usize, made: Selected) {
        let mut board = self.lock();
        board.selected.insert(s, Arc::new(made));
        board.schedule.finish(Task::Select(s));
        if let Budget::Follow(first) = self.grid.selections[s].budget {
            release(&mut board, first);
        }
    }

    fn finished(&self, c: usize, rows: Result<Vec<Row>>) {
        // Written before the lock is taken: only this thread has this cell.
        let cell = &self.grid.cells[c];
        let rows = rows
            .and_then(|rows| self.journal.finish(cell, &rows, &self.left.wanted).map(|()| rows));
        let mut board = self.lock();
        board.schedule.finish(Task::Cell(c));
        if let Some(s) = self.grid.selection_of[c] {
            release(&mut board, s);
        }
        match rows {
            Ok(rows) => {
                board.done += 1;
                if let Some(scores) = &mut board.scores {
                    scores.add(self.grid, c, &rows);
                }
                if has_failed(&rows) {
                    board.failed += 1;
                    board.stopped |=
                        self.options.max_fails.is_some_and(|most| board.failed >= most);
                }
            }
            Err(Error::Cancelled) => board.stopped = true,
            Err(e) => {
                board.fatal.get_or_insert(e);
            }
        }
    }
}

/// Frees a selection when its last user is over.
fn release(board: &mut Board, s: usize) {
    if board.schedule.release(s) {
        board.selected.remove(&s);
    }
}
