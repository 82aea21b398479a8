//! How is an experiment carried out?
//!
//! Selections and cells are tasks; a selection comes before the cells that use it, longer tasks
//! before shorter ones. As many tasks as there are threads are under way at a time, all in one
//! thread pool, and only while their declared memory fits the limit. No result depends on the order.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use mustlink::context::EnsembleStore;
use mustlink::{Error, Result};

use crate::cell::{self, Selected};
use crate::config::{EnsemblePer, Experiment};
use crate::data::Source;
use crate::journal::{self, Journal};
use crate::report::{self, Report};
use crate::row::{Row, RowStatus};
use crate::work::{Budget, Work};

/// One of several parts of a run that know nothing of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which part, from 1.
    pub number: usize,
    /// Of how many.
    pub of: usize,
}

impl std::str::FromStr for Shard {
    type Err = String;

    /// Reads `2/5`.
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let wrong = || format!("must be i/N with 1 <= i <= N, for example 2/5, got {text}");
        let (number, of) = text.split_once('/').ok_or_else(wrong)?;
        let parse = |s: &str| s.trim().parse::<usize>().map_err(|_| wrong());
        let shard = Shard { number: parse(number)?, of: parse(of)? };
        if shard.number >= 1 && shard.number <= shard.of { Ok(shard) } else { Err(wrong()) }
    }
}

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// Cells of this run that are over, those found finished included.
    pub done: usize,
    /// Cells of this run.
    pub total: usize,
    /// Cells with an error or out of time.
    pub failed: usize,
    /// Seconds to go, from the work left; unknown at first.
    pub seconds_left: Option<f64>,
}

/// Watches a run. Calls may come from any thread; the watcher decides how often to show something.
pub trait RunProgress: Send + Sync {
    /// Something is over.
    fn update(&self, standing: &Standing);
}

struct Silent;
impl RunProgress for Silent {
    fn update(&self, _: &Standing) {}
}

/// How a run is done. Nothing here changes a row, time columns aside.
#[derive(Clone)]
pub struct RunOptions {
    /// Directory of the results.
    pub out: PathBuf,
    /// Threads; absent: what the experiment says, else one per core.
    pub threads: Option<usize>,
    /// Bytes the methods under way may declare together.
    pub memory_limit: Option<u64>,
    /// Stop at the first cell that fails.
    pub fail_fast: bool,
    /// Only this part of the cells.
    pub shard: Option<Shard>,
    /// When told to stop, let the cells under way finish.
    pub finish: bool,
    /// Where data sets come from.
    pub source: Source,
    /// Who watches.
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
            fail_fast: false,
            shard: None,
            finish: false,
            source: Source::default(),
            progress: Arc::new(Silent),
            cancel: Arc::default(),
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
}

/// What came of a run.
#[derive(Debug)]
pub struct Outcome {
    /// Where the results are.
    pub out: PathBuf,
    /// Cells of this run (of the shard, or to be retried).
    pub total: usize,
    /// Cells found finished.
    pub skipped: usize,
    /// Cells done now.
    pub done: usize,
    /// Cells that failed, those found finished included, in config order.
    pub failed: Vec<FailedCell>,
    /// It was told to stop, or stopped at the first failure.
    pub stopped: bool,
    /// Seconds it took.
    pub seconds: f64,
    /// The results; absent after a shard, which leaves that to `report`.
    pub report: Option<Report>,
}

/// Runs an experiment, or what is left of it.
///
/// # Errors
/// Data sets that cannot be read, a directory that is locked or holds another experiment, a disk
/// that takes no more. Cells that fail are rows, not errors.
pub fn run(experiment: &Experiment, options: &RunOptions) -> Result<Outcome> {
    let work = Work::new(experiment, &options.source)?;
    let journal = Journal::open(&options.out, experiment, options.shard)?;
    let finished = journal.finished()?;
    let mine = mine(&work, options.shard);
    let todo: Vec<usize> = distinct(&work, &mine)
        .into_iter()
        .filter(|&c| !finished.contains(&work.cells[c].identity))
        .collect();
    carry_out(experiment, &work, &journal, &mine, todo, options)
}

/// Runs again the cells of a results directory that came to an error or ran out of time.
///
/// # Errors
/// As [`run`].
pub fn retry(dir: &Path, options: &RunOptions) -> Result<Outcome> {
    let experiment = Experiment::from_directory(dir)?;
    let options = RunOptions { out: dir.to_path_buf(), ..options.clone() };
    let work = Work::new(&experiment, &options.source)?;
    let journal = Journal::open(dir, &experiment, options.shard)?;
    let mut failed = Vec::new();
    for cell in distinct(&work, &mine(&work, options.shard)) {
        if journal::read_cell(dir, &work.cells[cell].identity)?
            .is_some_and(|r| journal::has_failed(&r))
        {
            failed.push(cell);
        }
    }
    carry_out(&experiment, &work, &journal, &failed.clone(), failed, &options)
}

/// The cells of a shard: all methods of one fold go together, because they share selections.
fn mine(work: &Work, shard: Option<Shard>) -> Vec<usize> {
    let mut folds: BTreeMap<(usize, usize, usize), usize> = BTreeMap::new();
    for c in &work.cells {
        let next = folds.len();
        folds.entry((c.dataset, c.repeat, c.fold)).or_insert(next);
    }
    (0..work.cells.len())
        .filter(|&at| {
            let c = &work.cells[at];
            shard.is_none_or(|s| folds[&(c.dataset, c.repeat, c.fold)] % s.of == s.number - 1)
        })
        .collect()
}

/// One cell per identity: methods with equal settings have equal rows.
fn distinct(work: &Work, cells: &[usize]) -> Vec<usize> {
    let mut seen = BTreeSet::new();
    cells.iter().copied().filter(|&c| seen.insert(&work.cells[c].identity)).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Task {
    Cell(usize),
    Select(usize),
}

struct Board {
    /// Ready tasks: cells before selections (their selection is in memory), longer before shorter.
    ready: BTreeSet<(Task, usize)>,
    /// What waits for each task, and for how many each waits.
    after: BTreeMap<Task, Vec<Task>>,
    pending: BTreeMap<Task, usize>,
    selected: BTreeMap<usize, Arc<Selected>>,
    /// Cells and selections that still need each selection.
    users: BTreeMap<usize, usize>,
    running: usize,
    memory: u64,
    done: usize,
    failed: usize,
    effort_done: f64,
    fatal: Option<Error>,
    stopped: bool,
}

struct Runner<'a> {
    experiment: &'a Experiment,
    work: &'a Work,
    journal: &'a Journal,
    options: &'a RunOptions,
    points: Option<Vec<usize>>,
    ensembles: EnsembleStore,
    pool: &'a rayon::ThreadPool,
    board: Mutex<Board>,
    change: Condvar,
    /// Longer first, per kind of task.
    rank: BTreeMap<Task, usize>,
    effort: BTreeMap<usize, f64>,
    effort_total: f64,
    total: usize,
    skipped: usize,
    start: Instant,
}

fn carry_out(
    experiment: &Experiment,
    work: &Work,
    journal: &Journal,
    mine: &[usize],
    todo: Vec<usize>,
    options: &RunOptions,
) -> Result<Outcome> {
    let start = Instant::now();
    journal.write_plan(&work.plan_lines(experiment))?;
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = options.threads.or(experiment.run.threads).unwrap_or_else(cores).max(1);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|e| Error::Usage(format!("cannot start {threads} threads: {e}")))?;
    let points = experiment.points.numbers().ok();
    let queries = points.as_ref().map_or(100, |p| p.last().copied().unwrap_or(0));
    let count = points.as_ref().map_or(1, Vec::len);

    let mut needed: BTreeSet<usize> = BTreeSet::new();
    let mut after: BTreeMap<Task, Vec<Task>> = BTreeMap::new();
    let mut users: BTreeMap<usize, usize> = BTreeMap::new();
    for &c in &todo {
        if let Some(s) = work.selection_of[c] {
            needed.insert(s);
            *users.entry(s).or_default() += 1;
            after.entry(Task::Select(s)).or_default().push(Task::Cell(c));
        }
    }
    for s in needed.clone() {
        if let Budget::Follow(first) = work.selections[s].budget {
            needed.insert(first);
            *users.entry(first).or_default() += 1;
            after.entry(Task::Select(first)).or_default().push(Task::Select(s));
        }
    }
    // Of the tasks that need one ensemble, the first makes it and the others come after. Those that
    // wait for nothing else stand first, so that no two wait for each other.
    let follows = |s: &usize| matches!(work.selections[*s].budget, Budget::Follow(_));
    let (later, free): (Vec<usize>, Vec<usize>) = needed.iter().copied().partition(follows);
    let selections = free.into_iter().chain(later).map(Task::Select);
    let mut makers: BTreeMap<(&str, Option<usize>), Task> = BTreeMap::new();
    let tasks: Vec<Task> = selections.chain(todo.iter().copied().map(Task::Cell)).collect();
    for &task in &tasks {
        let (keys, repeat) = match task {
            Task::Cell(c) => (work.ensembles_of_cell(c), work.cells[c].repeat),
            Task::Select(s) => (work.ensembles_of_selection(s), work.selections[s].repeat),
        };
        let repeat = (experiment.head.ensemble_per == EnsemblePer::Repeat).then_some(repeat);
        for key in keys {
            let maker = *makers.entry((&key.key, repeat)).or_insert(task);
            if maker != task {
                after.entry(maker).or_default().push(task);
            }
        }
    }
    let mut pending: BTreeMap<Task, usize> = BTreeMap::new();
    after.values().flatten().for_each(|t| *pending.entry(*t).or_default() += 1);
    let ready: Vec<Task> = tasks.into_iter().filter(|t| !pending.contains_key(t)).collect();
    let effort: BTreeMap<usize, f64> =
        todo.iter().map(|&c| (c, work.cell_effort(c, count))).collect();
    let mut rank = BTreeMap::new();
    let mut by_effort: Vec<(f64, Task)> = effort
        .iter()
        .map(|(&c, &e)| (e, Task::Cell(c)))
        .chain(needed.iter().map(|&s| {
            let dependents = after.get(&Task::Select(s)).into_iter().flatten();
            let below: f64 =
                dependents.map(|t| if let Task::Cell(c) = t { effort[c] } else { 0.0 }).sum();
            (work.selection_effort(s, queries) + below, Task::Select(s))
        }))
        .collect();
    by_effort.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    by_effort.iter().enumerate().for_each(|(at, (_, t))| {
        rank.insert(*t, at);
    });

    let all = distinct(work, mine);
    let runner = Runner {
        experiment,
        work,
        journal,
        options,
        points,
        ensembles: EnsembleStore::default(),
        pool: &pool,
        board: Mutex::new(Board {
            ready: BTreeSet::new(),
            after,
            pending,
            selected: BTreeMap::new(),
            users,
            running: 0,
            memory: 0,
            done: 0,
            failed: 0,
            effort_done: 0.0,
            fatal: None,
            stopped: false,
        }),
        change: Condvar::new(),
        rank,
        effort_total: effort.values().sum(),
        effort,
        total: all.len(),
        skipped: all.len() - todo.len(),
        start,
    };
    {
        let mut board = runner.lock();
        ready.into_iter().for_each(|t| {
            board.ready.insert(runner.keyed(t));
        });
        runner.tell(&board);
    }
    std::thread::scope(|scope| {
        for _ in 0..threads.min(todo.len()) {
            scope.spawn(|| runner.work_off());
        }
    });
    let board = runner.board.into_inner().unwrap_or_else(|e| e.into_inner());
    if let Some(error) = board.fatal {
        return Err(error);
    }
    let mut failed = Vec::new();
    for &c in mine {
        let cell = &work.cells[c];
        let Some(rows) = journal::read_cell(&options.out, &cell.identity)? else { continue };
        if let Some(row) = rows.iter().find(|r| r.status != RowStatus::Ok) {
            failed.push(FailedCell {
                identity: cell.identity.clone(),
                dataset: work.datasets[cell.dataset].id.clone(),
                method: experiment.methods[cell.method].id.clone(),
                repeat: cell.repeat,
                fold: cell.fold,
                message: row.message.clone().unwrap_or_default(),
            });
        }
    }
    let report = if options.shard.is_none() { Some(report::report(&options.out)?) } else { None };
    Ok(Outcome {
        out: options.out.clone(),
        total: runner.total,
        skipped: runner.skipped,
        done: board.done,
        failed,
        stopped: board.stopped,
        seconds: start.elapsed().as_secs_f64(),
        report,
    })
}

impl Runner<'_> {
    fn lock(&self) -> std::sync::MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Tasks in the order they are taken: the kind, then the rank.
    fn keyed(&self, task: Task) -> (Task, usize) {
        let rank = self.rank.get(&task).copied().unwrap_or(usize::MAX);
        match task {
            Task::Cell(c) => (Task::Cell(rank), c),
            Task::Select(s) => (Task::Select(rank), s),
        }
    }

    fn tell(&self, board: &Board) {
        let left = self.effort_total - board.effort_done;
        let rate = board.effort_done / self.start.elapsed().as_secs_f64().max(1e-9);
        self.options.progress.update(&Standing {
            done: self.skipped + board.done,
            total: self.total,
            failed: board.failed,
            seconds_left: (board.effort_done > 0.0).then(|| left.max(0.0) / rate),
        });
    }

    fn memory_of(&self, task: Task) -> u64 {
        let (dataset, method) = match task {
            Task::Cell(c) => (self.work.cells[c].dataset, self.work.cells[c].method),
            Task::Select(s) => (self.work.selections[s].dataset, self.work.selections[s].method),
        };
        self.work.bound[dataset][method].memory
    }

    /// What one thread does until nothing is left: it takes tasks, and lends itself to the pool.
    fn work_off(&self) {
        while let Some((task, memory)) = self.take() {
            match task {
                Task::Select(s) => {
                    let first = match self.work.selections[s].budget {
                        Budget::Follow(first) => self.lock().selected.get(&first).cloned(),
                        _ => None,
                    };
                    let made = self.pool.install(|| self.select(s, first.as_deref()));
                    self.selected(s, made);
                }
                Task::Cell(c) => {
                    let selected = self.work.selection_of[c]
                        .and_then(|s| self.lock().selected.get(&s).cloned());
                    let rows = self.pool.install(|| self.cell(c, selected.as_deref()));
                    self.finished(c, rows);
                }
            }
            let mut board = self.lock();
            board.running -= 1;
            board.memory -= memory;
            self.change.notify_all();
        }
    }

    /// The next task that fits into memory; `None` when nothing is left or the run stops.
    fn take(&self) -> Option<(Task, u64)> {
        let mut board = self.lock();
        loop {
            if self.options.cancel.load(Ordering::Relaxed) {
                board.stopped |= !board.ready.is_empty() || board.running > 0;
            }
            if board.stopped || board.fatal.is_some() {
                return None;
            }
            let fits = |t: &Task| {
                let limit = self.options.memory_limit;
                // A task too large for the limit goes alone, to be refused by its own admission.
                board.running == 0 || limit.is_none_or(|l| board.memory + self.memory_of(*t) <= l)
            };
            let plain = |&(t, at): &(Task, usize)| match t {
                Task::Cell(_) => Task::Cell(at),
                Task::Select(_) => Task::Select(at),
            };
            let found = board.ready.iter().copied().find(|entry| fits(&plain(entry)));
            if let Some(entry) = found {
                board.ready.remove(&entry);
                let task = plain(&entry);
                let memory = self.memory_of(task);
                board.running += 1;
                board.memory += memory;
                return Some((task, memory));
            }
            if board.running == 0 {
                return None;
            }
            // Woken by whoever finishes; looks up now and then for the cancel flag.
            let waited = self.change.wait_timeout(board, Duration::from_millis(100));
            board = waited.unwrap_or_else(|e| e.into_inner()).0;
        }
    }

    fn cancel_flag(&self) -> Arc<AtomicBool> {
        if self.options.finish { Arc::default() } else { self.options.cancel.clone() }
    }

    fn place(&self) -> cell::Place<'_> {
        cell::Place {
            experiment: self.experiment,
            work: self.work,
            points: self.points.as_deref(),
            ensembles: &self.ensembles,
            cancel: self.cancel_flag(),
            memory_limit: self.options.memory_limit,
        }
    }

    fn select(&self, s: usize, first: Option<&Selected>) -> Selected {
        cell::select(&self.place(), s, first)
    }

    fn cell(&self, c: usize, selected: Option<&Selected>) -> Result<Vec<Row>> {
        cell::run(&self.place(), c, selected)
    }

    /// Whoever waited for `task` waits for one fewer.
    fn over(&self, board: &mut Board, task: Task) {
        for next in board.after.remove(&task).unwrap_or_default() {
            let pending = board.pending.entry(next).or_insert(1);
            *pending -= 1;
            if *pending == 0 {
                board.ready.insert(self.keyed(next));
            }
        }
    }

    fn selected(&self, s: usize, made: Selected) {
        let mut board = self.lock();
        board.selected.insert(s, Arc::new(made));
        self.over(&mut board, Task::Select(s));
        if let Budget::Follow(first) = self.work.selections[s].budget {
            release(&mut board, first);
        }
    }

    fn finished(&self, c: usize, rows: Result<Vec<Row>>) {
        // Written before the lock is taken: only this thread has this cell.
        let identity = &self.work.cells[c].identity;
        let rows = rows.and_then(|rows| self.journal.finish(identity, &rows).map(|()| rows));
        let mut board = self.lock();
        self.over(&mut board, Task::Cell(c));
        if let Some(s) = self.work.selection_of[c] {
            release(&mut board, s);
        }
        match rows {
            Ok(rows) => {
                board.done += 1;
                board.effort_done += self.effort[&c];
                if journal::has_failed(&rows) {
                    board.failed += 1;
                    board.stopped |= self.options.fail_fast;
                }
                self.tell(&board);
            }
            Err(Error::Cancelled) => board.stopped = true,
            Err(e) => {
                board.fatal.get_or_insert(e);
            }
        }
    }
}

/// One user fewer; the last one lets the selection go.
fn release(board: &mut Board, s: usize) {
    if let Some(users) = board.users.get_mut(&s) {
        *users -= 1;
        if *users == 0 {
            board.selected.remove(&s);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_parse() {
        assert_eq!("2/5".parse(), Ok(Shard { number: 2, of: 5 }));
        for wrong in ["0/5", "6/5", "2", "a/b", "1/0"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
