//! What do the cells of an experiment really take? One of each method and data set, timed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use mustlink_core::context::EnsembleStore;
use mustlink_core::{Error, Result};

use crate::cell;
use crate::config::Experiment;
use crate::costs::{ASSUMED_QUERIES, SharedEnsemble};
use crate::grid::{Budget, Grid};
use crate::identity::has_program;
use crate::run_env::{RunEnv, Selected, select};
use crate::threads::thread_pool;

/// A data set and a method.
pub(crate) type Group = (usize, usize);

/// What one cell of each group took.
#[derive(Default)]
pub(crate) struct Trial {
    /// Seconds of a cell, without its selection and the ensembles it shares.
    pub cells: BTreeMap<Group, f64>,
    /// Seconds of a selection, without the ensembles it shares; by the first method that needs it.
    pub selections: BTreeMap<Group, f64>,
    /// Seconds of making each shared ensemble once.
    pub ensembles: BTreeMap<String, f64>,
    /// Whose cell was stopped unfinished at the end, and after how many seconds: it takes longer.
    pub unfinished: Option<(Group, f64)>,
}

impl Trial {
    /// Runs the first of the cells `todo` of each group, those that seem short first, on one thread,
    /// until `seconds` are over. Methods with programs outside are left out: what they do when they
    /// are called is not ours to try.
    ///
    /// # Errors
    /// No thread can be started. Cells that fail took as long as they took.
    pub fn run(
        experiment: &Experiment,
        grid: &Grid,
        todo: &[usize],
        seconds: f64,
    ) -> Result<Trial> {
        let mut first: BTreeMap<Group, usize> = BTreeMap::new();
        for &c in todo {
            first.entry((grid.cells[c].dataset, grid.cells[c].method)).or_insert(c);
        }
        let points = experiment.points.numbers().ok();
        let count = points.as_ref().map_or(1, Vec::len);
        let mut order: Vec<(f64, usize)> = first
            .values()
            .filter(|&&c| !has_program(&grid.method_of_cell(c).resolved.config))
            .map(|&c| (effort(grid, c, points.as_deref(), count), c))
            .collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let pool = thread_pool(Some(1))?;
        let cancel = Arc::new(AtomicBool::new(false));
        let ensembles = EnsembleStore::default();
        let trying = Trying {
            env: RunEnv {
                experiment,
                grid,
                points: points.as_deref(),
                ensembles: &ensembles,
                cancel: cancel.clone(),
                memory_limit: None,
                data: grid.datasets.iter().map(|d| d.set.data.bytes()).sum(),
            },
            trial: Trial::default(),
            made: BTreeSet::new(),
            selected: BTreeMap::new(),
        };
        let (over, waits) = channel::<()>();
        let limit = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                if waits.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                    cancel.store(true, Ordering::Relaxed);
                }
            });
            let cells: Vec<usize> = order.into_iter().map(|(_, c)| c).collect();
            let trial = pool.install(|| trying.all(&cells));
            drop(over);
            Ok(trial)
        })
    }
}

/// Operations of a cell and of the selection it needs, roughly.
fn effort(grid: &Grid, c: usize, points: Option<&[usize]>, count: usize) -> f64 {
    let queries = points.map_or(ASSUMED_QUERIES, |p| p.last().copied().unwrap_or(0));
    let selection = grid.selection_of[c].map_or(0.0, |s| grid.selection_effort(s, queries));
    let costs = &grid.method_of_cell(c).costs;
    let shared: f64 = costs.ensembles().map(|e| e.effort).sum();
    grid.cell_effort(c, count) + selection + shared
}

struct Trying<'a> {
    env: RunEnv<'a>,
    trial: Trial,
    /// The ensembles that are in the store.
    made: BTreeSet<String>,
    selected: BTreeMap<usize, Arc<Selected>>,
}

impl Trying<'_> {
    fn all(mut self, cells: &[usize]) -> Trial {
        for &c in cells {
            let group = (self.env.grid.cells[c].dataset, self.env.grid.cells[c].method);
            let start = Instant::now();
            let costs = &self.env.grid.method_of_cell(c).costs;
            let making = costs.ensembles().any(|e| !self.made.contains(&e.key));
            if !self.cell(c, group) {
                // Others of its kind need not make the ensembles again.
                let took = if making { 0.0 } else { start.elapsed().as_secs_f64() };
                self.trial.unfinished = Some((group, took));
                break;
            }
        }
        self.trial
    }

    /// False when the time was over before it was.
    fn cell(&mut self, c: usize, group: Group) -> bool {
        let selected = match self.env.grid.selection_of[c] {
            None => None,
            Some(s) => match self.selection(s) {
                None => return false,
                made => made,
            },
        };
        let grid = self.env.grid;
        let ensembles = &grid.method_of_cell(c).costs.clusterer_ensembles;
        let run = |env: &RunEnv| {
            let start = Instant::now();
            cell::run(env, c, selected.as_deref(), None).ok()?;
            Some(start.elapsed().as_secs_f64())
        };
        let Some(seconds) = self.own(ensembles, run) else { return false };
        self.trial.cells.insert(group, seconds);
        true
    }

    /// The selection `s`, and those it follows.
    fn selection(&mut self, s: usize) -> Option<Arc<Selected>> {
        if let Some(there) = self.selected.get(&s) {
            return Some(there.clone());
        }
        let grid = self.env.grid;
        let task = &grid.selections[s];
        let first = match task.budget {
            Budget::Follow(first) => Some(self.selection(first)?),
            _ => None,
        };
        let mut last = None;
        let ensembles = &grid.method_of_selection(s).costs.selector_ensembles;
        let run = |env: &RunEnv| {
            let made = select(env, s, first.as_deref());
            let stopped = matches!(made.selection, Err(Error::Cancelled));
            let seconds = made.seconds;
            last = Some(Arc::new(made));
            (!stopped).then_some(seconds)
        };
        let seconds = self.own(ensembles, run)?;
        let made = last?;
        self.trial.selections.insert((task.dataset, task.method), seconds);
        self.selected.insert(s, made.clone());
        Some(made)
    }

    /// Seconds of `run` where the ensembles it shares are there. What it takes longer when they are
    /// not is theirs.
    fn own(
        &mut self,
        ensembles: &[SharedEnsemble],
        mut run: impl FnMut(&RunEnv) -> Option<f64>,
    ) -> Option<f64> {
        let first = run(&self.env)?;
        let new: Vec<&String> =
            ensembles.iter().map(|e| &e.key).filter(|&k| !self.made.contains(k)).collect();
        if new.is_empty() {
            return Some(first);
        }
        let own = run(&self.env)?;
        for key in &new {
            let seconds = (first - own).max(0.0) / new.len() as f64;
            self.trial.ensembles.insert((*key).clone(), seconds);
            self.made.insert((*key).clone());
        }
        Some(own)
    }
}
