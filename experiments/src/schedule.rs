//! The next task of a run, and the threads that it gets.
//!
//! A task that makes an ensemble for others comes first, a selection before the cells that use it, longer
//! tasks before shorter ones. Each task has a pool to itself. In one pool for all, a thread that waits for
//! a part of its task would begin another whole task: the first would then last as long as both, and
//! could exceed its time limit because of the second.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use mustlink_core::Result;
use rayon::ThreadPool;

use crate::config::{ASSUMED_QUERIES, EnsemblePer, Experiment};
use crate::grid::{Budget, Grid};
use crate::threads::thread_pool;

/// A task of a run. Cells come before selections: what a cell needs is in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Task {
    Cell(usize),
    Select(usize),
}

/// Kinds of tasks, by priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Maker,
    Cell,
    Select,
}

/// The tasks of a run that are left, and what each waits for.
pub(crate) struct Schedule {
    /// Tasks that wait for nothing, in the order they are taken: by kind, then by rank.
    ready: BTreeSet<(Kind, usize, Task)>,
    /// Tasks that make an ensemble others wait for.
    makers: BTreeSet<Task>,
    /// Tasks that wait for each task, and the number of tasks that each waits for.
    after: BTreeMap<Task, Vec<Task>>,
    pending: BTreeMap<Task, usize>,
    /// Longer first.
    rank: BTreeMap<Task, usize>,
    /// Cells and selections that still need each selection.
    users: BTreeMap<usize, usize>,
}

impl Schedule {
    /// Orders the cells `todo` and the selections they need; `points` are the curve points, absent
    /// when another method decides. Also estimates the operations of each task; a task that makes an
    /// ensemble for others includes those of the ensemble.
    pub fn new(
        experiment: &Experiment,
        grid: &Grid,
        todo: &[usize],
        points: Option<&[usize]>,
    ) -> (Self, BTreeMap<Task, f64>) {
        let queries = points.map_or(ASSUMED_QUERIES, |p| p.last().copied().unwrap_or(0));
        let count = points.map_or(1, <[usize]>::len);
        let mut needed: BTreeSet<usize> = BTreeSet::new();
        let mut after: BTreeMap<Task, Vec<Task>> = BTreeMap::new();
        let mut users: BTreeMap<usize, usize> = BTreeMap::new();
        for &c in todo {
            if let Some(s) = grid.selection_of[c] {
                needed.insert(s);
                *users.entry(s).or_default() += 1;
                after.entry(Task::Select(s)).or_default().push(Task::Cell(c));
            }
        }
        for s in needed.clone() {
            if let Budget::Follow(first) = grid.selections[s].budget {
                needed.insert(first);
                *users.entry(first).or_default() += 1;
                after.entry(Task::Select(first)).or_default().push(Task::Select(s));
            }
        }
        let Makers { tasks, awaited, made } =
            makers_first(experiment, grid, &needed, todo, &mut after);
        let mut pending: BTreeMap<Task, usize> = BTreeMap::new();
        after.values().flatten().for_each(|t| *pending.entry(*t).or_default() += 1);
        let own = |task: &Task| match *task {
            Task::Cell(c) => grid.cell_effort(c, count),
            Task::Select(s) => grid.selection_effort(s, queries),
        };
        let effort: BTreeMap<Task, f64> =
            tasks.iter().map(|t| (*t, own(t) + made.get(t).unwrap_or(&0.0))).collect();
        let mut by_effort: Vec<(f64, Task)> = tasks
            .iter()
            .map(|task| {
                let below: f64 = match task {
                    Task::Cell(_) => 0.0,
                    Task::Select(_) => {
                        after.get(task).into_iter().flatten().map(|t| effort[t]).sum()
                    }
                };
                (effort[task] + below, *task)
            })
            .collect();
        by_effort.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let rank = by_effort.iter().enumerate().map(|(at, (_, t))| (*t, at)).collect();
        let ready: Vec<Task> = tasks.into_iter().filter(|t| !pending.contains_key(t)).collect();
        let mut schedule =
            Schedule { ready: BTreeSet::new(), makers: awaited, after, pending, rank, users };
        ready.into_iter().for_each(|t| schedule.make_ready(t));
        (schedule, effort)
    }

    /// Number of tasks that can begin.
    pub fn ready(&self) -> usize {
        self.ready.len()
    }

    /// Number of tasks among which free threads are shared out: those that make ensembles, or all that
    /// can begin where none of these does.
    pub fn sharing(&self) -> usize {
        let makers = self.ready.iter().take_while(|(kind, ..)| *kind == Kind::Maker).count();
        if makers > 0 { makers } else { self.ready.len() }
    }

    /// Takes the first ready task that `fits`.
    pub fn take(&mut self, fits: impl Fn(Task) -> bool) -> Option<Task> {
        let entry = self.ready.iter().copied().find(|(.., task)| fits(*task))?;
        self.ready.remove(&entry);
        Some(entry.2)
    }

    /// Marks a task as over: whatever waited for it waits for one fewer.
    pub fn finish(&mut self, task: Task) {
        for next in self.after.remove(&task).unwrap_or_default() {
            let pending = self.pending.entry(next).or_insert(1);
            *pending -= 1;
            if *pending == 0 {
                self.make_ready(next);
            }
        }
    }

    /// Counts one user of a selection fewer; true when it was the last.
    pub fn release(&mut self, selection: usize) -> bool {
        self.users.get_mut(&selection).is_some_and(|users| {
            *users -= 1;
            *users == 0
        })
    }

    fn make_ready(&mut self, task: Task) {
        let rank = self.rank.get(&task).copied().unwrap_or(usize::MAX);
        let kind = match task {
            _ if self.makers.contains(&task) => Kind::Maker,
            Task::Cell(_) => Kind::Cell,
            Task::Select(_) => Kind::Select,
        };
        self.ready.insert((kind, rank, task));
    }
}

/// Result of [`makers_first`].
struct Makers {
    /// Every task.
    tasks: Vec<Task>,
    /// Those that make an ensemble others wait for.
    awaited: BTreeSet<Task>,
    /// Operations of the ensembles each makes.
    made: BTreeMap<Task, f64>,
}

/// The first of the tasks that need one ensemble makes it, and the others come after. Tasks that wait for
/// nothing else come first, so that no two wait for each other.
fn makers_first(
    experiment: &Experiment,
    grid: &Grid,
    needed: &BTreeSet<usize>,
    todo: &[usize],
    after: &mut BTreeMap<Task, Vec<Task>>,
) -> Makers {
    let follows = |s: &usize| matches!(grid.selections[*s].budget, Budget::Follow(_));
    let (later, free): (Vec<usize>, Vec<usize>) = needed.iter().copied().partition(follows);
    let selections = free.into_iter().chain(later).map(Task::Select);
    let mut makers: BTreeMap<(&str, Option<usize>), Task> = BTreeMap::new();
    let tasks: Vec<Task> = selections.chain(todo.iter().copied().map(Task::Cell)).collect();
    let (mut awaited, mut made) = (BTreeSet::new(), BTreeMap::new());
    for &task in &tasks {
        let (ensembles, repeat) = match task {
            Task::Cell(c) => {
                (&grid.method_of_cell(c).costs.clusterer_ensembles, grid.cells[c].repeat)
            }
            Task::Select(s) => {
                (&grid.method_of_selection(s).costs.selector_ensembles, grid.selections[s].repeat)
            }
        };
        let repeat = (experiment.head.ensemble_per == EnsemblePer::Repeat).then_some(repeat);
        for ensemble in ensembles {
            let maker = *makers.entry((&ensemble.key, repeat)).or_insert_with(|| {
                *made.entry(task).or_default() += ensemble.effort;
                task
            });
            if maker != task {
                after.entry(maker).or_default().push(task);
                awaited.insert(maker);
            }
        }
    }
    Makers { tasks, awaited, made }
}

/// Pools that no task has at the moment.
#[derive(Default)]
pub(crate) struct Pools {
    idle: Mutex<Vec<ThreadPool>>,
}

impl Pools {
    /// Does `work` on `threads` threads that do nothing else.
    ///
    /// # Errors
    /// `Usage` where the threads cannot be started.
    pub fn install<T: Send>(&self, threads: usize, work: impl FnOnce() -> T + Send) -> Result<T> {
        let idle = || self.idle.lock().unwrap_or_else(|e| e.into_inner());
        let there = {
            let mut idle = idle();
            let at = idle.iter().position(|p| p.current_num_threads() == threads);
            at.map(|at| idle.swap_remove(at))
        };
        let pool = match there {
            Some(pool) => pool,
            None => thread_pool(Some(threads))?,
        };
        let made = pool.install(work);
        idle().push(pool);
        Ok(made)
    }
}

/// Number of the `free` threads that the first of `ready` tasks gets: its share, at least one.
pub(crate) fn share(free: usize, ready: usize) -> usize {
    (free / ready.max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use rayon::prelude::*;

    use super::*;

    #[test]
    fn tasks_share_what_is_free() {
        assert_eq!((share(8, 1), share(8, 20), share(8, 0), share(1, 1)), (8, 1, 8, 1));
        let mut free = 8;
        let shares: Vec<usize> = (1..=5)
            .rev()
            .map(|ready| {
                let mine = share(free, ready);
                free -= mine;
                mine
            })
            .collect();
        assert_eq!((shares, free), (vec![1, 1, 2, 2, 2], 0));
    }

    #[test]
    fn no_task_waits_for_another() {
        let pools = Pools::default();
        let (over, begun) = (AtomicBool::new(false), AtomicBool::new(false));
        std::thread::scope(|scope| {
            // A long task, which ends only after a short one with parts of its own is over.
            scope.spawn(|| {
                let wait = || {
                    begun.store(true, Ordering::SeqCst);
                    while !over.load(Ordering::SeqCst) {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                };
                pools.install(1, wait).unwrap();
            });
            while !begun.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            let sum: u64 = pools
                .install(2, || (0..1000u32).into_par_iter().with_max_len(1).map(u64::from).sum())
                .unwrap();
            assert_eq!(sum, 499_500);
            over.store(true, Ordering::SeqCst);
        });
        // Both pools are free again, and used again.
        assert_eq!(pools.install(2, rayon::current_num_threads).unwrap(), 2);
        assert_eq!(pools.idle.lock().unwrap().len(), 2);
    }
}
