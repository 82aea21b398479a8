//! What would a run do, and what would it take?

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::time::Instant;

use mustlink::Result;
use mustlink::error::bytes;

use crate::build::has_program;
use crate::config::{EnsemblePer, Experiment};
use crate::data::{self, Source};
use crate::grid::Grid;
use crate::journal;
use crate::stale::Keep;
use crate::standing::{Left, Standing};

/// One data set of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedDataset {
    /// Its name.
    pub id: String,
    /// What was read, in one line; or why it cannot be read.
    pub read: std::result::Result<String, String>,
    /// The run goes on without it.
    pub optional: bool,
}

/// What a run would do.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The data sets.
    pub datasets: Vec<PlannedDataset>,
    /// Methods, axes expanded.
    pub methods: usize,
    /// Cells.
    pub cells: usize,
    /// Cells that are finished in the results directory given.
    pub finished: usize,
    /// What that directory holds beside them.
    pub standing: Standing,
    /// Rows.
    pub rows: usize,
    /// Selections that cells share.
    pub selections: usize,
    /// Seconds on one thread, roughly, for what is left.
    pub seconds: f64,
    /// Methods with plugins in other languages of which no cell is finished: nobody knows their time.
    pub unmeasured: Vec<String>,
    /// Bytes of the largest cell, as its plugins declare.
    pub memory: u64,
    /// The method and the data set of that cell.
    pub largest: String,
}

impl Plan {
    /// Data sets that cannot be read and without which nothing runs.
    pub fn missing(&self) -> impl Iterator<Item = &PlannedDataset> {
        self.datasets.iter().filter(|d| d.read.is_err() && !d.optional)
    }
}

/// Lays out an experiment without running it; `out` is the results directory whose
/// finished cells are counted.
///
/// A data set that cannot be read is part of the plan, not an error; then nothing else is known.
///
/// # Errors
/// Methods that do not fit a data set; a results directory whose rows would change their meaning.
pub fn plan(experiment: &Experiment, source: &Source, out: Option<&Path>) -> Result<Plan> {
    let datasets: Vec<PlannedDataset> = experiment
        .datasets
        .iter()
        .map(|spec| PlannedDataset {
            id: spec.id.clone(),
            optional: spec.optional,
            read: data::prepare(experiment, spec, source)
                .map(|p| p.set.summary())
                .map_err(|e| e.to_string()),
        })
        .collect();
    let points = experiment.points.numbers().map_or(1, |p| p.len());
    let per_set = experiment.methods.len() * experiment.split.repeats() * experiment.split.folds();
    let there = datasets.iter().filter(|d| d.read.is_ok() || !d.optional).count();
    let mut plan = Plan {
        methods: experiment.methods.len(),
        cells: per_set * there,
        finished: 0,
        standing: Standing::default(),
        rows: per_set * there * points,
        selections: 0,
        seconds: 0.0,
        unmeasured: Vec::new(),
        memory: 0,
        largest: String::new(),
        datasets,
    };
    if plan.missing().next().is_some() {
        return Ok(plan);
    }
    let grid = Grid::new(experiment, source)?;
    let all: Vec<usize> = grid.distinct(&(0..grid.cells.len()).collect::<Vec<_>>());
    let left = match out {
        Some(dir) => {
            journal::check(dir, experiment)?;
            Some(Left::of(experiment, &grid, &all, dir, Keep::Current)?)
        }
        None => None,
    };
    let todo: Option<BTreeSet<&str>> =
        left.as_ref().map(|l| l.todo.keys().map(|&c| grid.cells[c].identity.as_str()).collect());
    let is_left = |c: usize| todo.as_ref().is_none_or(|t| t.contains(&*grid.cells[c].identity));
    let queries = experiment.points.numbers().map_or(100, |p| p.last().copied().unwrap_or(0));
    let lacks = |c: usize| {
        let lacks = left.as_ref().and_then(|l| l.todo.get(&c)?.as_ref());
        lacks.map_or(points, Vec::len)
    };
    let (mut cells, mut measured) = (0.0, 0.0);
    for c in (0..grid.cells.len()).filter(|&c| is_left(c)) {
        let (set, method) = (grid.cells[c].dataset, grid.cells[c].method);
        let resolved = &grid.method_of_cell(c).resolved;
        if !has_program(&resolved.config) {
            cells += grid.cell_effort(c, lacks(c));
            continue;
        }
        match left.as_ref().and_then(|l| l.seconds.get(&(set, method))) {
            Some((sum, count)) => measured += sum / *count as f64,
            None if plan.unmeasured.contains(&resolved.id) => {}
            None => plan.unmeasured.push(resolved.id.clone()),
        }
    }
    let selections: f64 =
        (0..grid.selections.len()).map(|s| grid.selection_effort(s, queries)).sum();
    plan.finished = (0..grid.cells.len()).filter(|&c| !is_left(c)).count();
    plan.selections = grid.selections.len();
    let selections = if plan.finished == plan.cells { 0.0 } else { selections };
    let ensembles = if plan.finished == plan.cells {
        0.0
    } else {
        match experiment.head.ensemble_per {
            EnsemblePer::Dataset => grid.ensemble_effort(),
            EnsemblePer::Repeat => grid.ensemble_effort() * experiment.split.repeats() as f64,
        }
    };
    plan.seconds = (cells + selections + ensembles) * seconds_per_operation() + measured;
    plan.standing = left.map(|l| l.standing).unwrap_or_default();
    for (row, set) in grid.methods.iter().zip(&grid.datasets) {
        for method in row {
            let memory = method.costs.memory.saturating_add(set.set.data.bytes());
            if memory > plan.memory {
                plan.memory = memory;
                plan.largest =
                    format!("method \"{}\" on data set \"{}\"", method.resolved.id, set.id);
            }
        }
    }
    Ok(plan)
}

/// Time of one multiply and add here and now, from a short run of distances to centres.
pub(crate) fn seconds_per_operation() -> f64 {
    const D: usize = 16;
    let rows: Vec<f64> = (0..1024 * D).map(|i| (i % 97) as f64).collect();
    let centre: Vec<f64> = (0..D).map(|i| i as f64).collect();
    let start = Instant::now();
    let (mut operations, mut sum) = (0usize, 0.0);
    while start.elapsed().as_secs_f64() < 0.05 {
        for row in std::hint::black_box(&rows).chunks_exact(D) {
            sum += row.iter().zip(&centre).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        }
        operations += rows.len();
    }
    std::hint::black_box(sum);
    start.elapsed().as_secs_f64() / operations as f64
}

fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => "under a second".into(),
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.0} h", s / 3600.0),
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for d in &self.datasets {
            match &d.read {
                Ok(summary) => writeln!(f, "{}: {summary}", d.id)?,
                Err(message) if d.optional => writeln!(f, "{}: left out: {message}", d.id)?,
                Err(message) => writeln!(f, "{}: MISSING: {message}", d.id)?,
            }
        }
        writeln!(
            f,
            "{} cells ({} data sets × {} methods), {} finished; {} rows; {} selections",
            self.cells,
            self.datasets.iter().filter(|d| d.read.is_ok() || !d.optional).count(),
            self.methods,
            self.finished,
            self.rows,
            self.selections
        )?;
        write!(f, "{}", self.standing)?;
        if self.missing().next().is_none() {
            write!(
                f,
                "about {} on one thread; up to {} per cell beyond the shared data",
                duration(self.seconds),
                bytes(self.memory)
            )?;
            if !self.unmeasured.is_empty() {
                write!(
                    f,
                    "\nnot counted: the programs of {}, whose time shows with the first cell",
                    self.unmeasured.join(", ")
                )?;
            }
        }
        Ok(())
    }
}
