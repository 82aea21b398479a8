//! The cells of a run, with the time and memory that they take.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use mustlink_core::Result;
use mustlink_core::error::bytes;
use mustlink_core::roles::OPERATIONS_PER_SECOND;
use mustlink_core::text::count;

use crate::config::{ASSUMED_QUERIES, EnsemblePer, Experiment};
use crate::data::{self, Source};
use crate::grid::{Grid, left_out};
use crate::identity::has_program;
use crate::journal;
use crate::standing::{Keep, Left, Standing};

/// One data set of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedDataset {
    /// Its name.
    pub id: String,
    /// Description of the data in one line, or the reason why they cannot be read.
    pub read: std::result::Result<String, String>,
    /// The run goes on without it.
    pub optional: bool,
}

/// Work of a run before it starts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// The data sets.
    pub datasets: Vec<PlannedDataset>,
    /// Methods, axes expanded.
    pub methods: usize,
    /// Cells.
    pub cells: usize,
    /// Cells that are finished in the results directory given.
    pub finished: usize,
    /// Number of these cells that failed.
    pub failed: usize,
    /// Other content of this directory.
    pub standing: Standing,
    /// Rows.
    pub rows: usize,
    /// Selections that cells share.
    pub selections: usize,
    /// Seconds on one thread for the rest, roughly: operations counted from the configuration, and the mean time of
    /// finished cells for plugins in other languages.
    pub seconds: f64,
    /// Methods with plugins in other languages without a finished cell: their time is unknown.
    pub unmeasured: Vec<String>,
    /// Bytes of the largest cell, as its plugins declare.
    pub memory: u64,
    /// The method and the data set of that cell.
    pub largest: String,
    /// Notes for readers of the results, before anything runs.
    pub notes: Vec<String>,
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
    let mut plan = size(experiment, source);
    if plan.missing().next().is_some() {
        return Ok(plan);
    }
    let grid = Grid::new(experiment, source)?;
    let all: Vec<usize> = grid.distinct(&(0..grid.cells.len()).collect::<Vec<_>>());
    let left = match out {
        Some(dir) => {
            journal::check(dir, experiment)?;
            Left::of(experiment, &grid, &all, dir, Keep::Current)?
        }
        None => Left { todo: all.into_iter().map(|c| (c, None)).collect(), ..Left::default() },
    };
    let costs = costs(experiment, &grid, &left);
    plan.seconds = seconds(costs.iter().filter(|cost| !cost.unknown));
    for cost in costs.iter().filter(|cost| cost.unknown) {
        let id = &grid.method_of_cell(cost.cell).id;
        if !plan.unmeasured.contains(id) {
            plan.unmeasured.push(id.clone());
        }
    }
    let among = |cells: BTreeSet<&str>| {
        grid.cells.iter().filter(|cell| cells.contains(&*cell.identity)).count()
    };
    let identity = |c: &usize| grid.cells[*c].identity.as_str();
    let to_do = among(left.todo.keys().map(identity).collect());
    plan.finished = grid.cells.len() - to_do;
    plan.failed = among(left.failed.iter().map(identity).collect());
    plan.selections = grid.selections.len();
    plan.notes = grid.notes(experiment);
    if let (Err(id), true) = (experiment.points.numbers(), to_do > 0) {
        plan.notes.push(format!(
            "the number of questions of \"{id}\" is known only when it runs; the time is estimated for \
             {ASSUMED_QUERIES}"
        ));
    }
    plan.standing = left.standing;
    (plan.memory, plan.largest) = largest(&grid);
    Ok(plan)
}

/// Time of a cell by itself, and of what it shares with other cells.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Cost {
    pub cell: usize,
    /// Seconds of its own.
    pub seconds: f64,
    /// Seconds of the selections and ensembles it needs, by name: made once in a process, for
    /// all cells that need them.
    pub shared: Vec<(String, f64)>,
    /// True if its time is unknown, because a program in another language takes part.
    pub unknown: bool,
}

/// The costs of the cells of `left`, those of one fold side by side: they share selections.
pub(crate) fn costs(experiment: &Experiment, grid: &Grid, left: &Left) -> Vec<Cost> {
    let each = 1.0 / OPERATIONS_PER_SECOND;
    let numbers = experiment.points.numbers().ok();
    let queries = numbers.as_ref().map_or(ASSUMED_QUERIES, |p| p.last().copied().unwrap_or(0));
    let mut cells: Vec<usize> = left.todo.keys().copied().collect();
    cells.sort_by_key(|&c| {
        let cell = &grid.cells[c];
        (cell.dataset, cell.repeat, cell.fold, cell.method)
    });
    let cost = |c: usize| {
        let (cell, method) = (&grid.cells[c], grid.method_of_cell(c));
        let lacks = left.todo[&c].as_ref().or(numbers.as_ref()).map_or(1, Vec::len);
        let before = left.seconds.get(&(cell.dataset, cell.method));
        let program = has_program(&method.config);
        let seconds = match before {
            Some((sum, count)) if program => sum / *count as f64,
            _ => grid.cell_effort(c, lacks) * each,
        };
        let selection = grid.selection_of[c]
            .map(|s| (format!("selection {s}"), grid.selection_effort(s, queries) * each));
        let ensembles = method.costs.ensembles().map(|e| {
            let name = match experiment.head.ensemble_per {
                EnsemblePer::Dataset => e.key.clone(),
                EnsemblePer::Repeat => format!("{} {}", e.key, cell.repeat),
            };
            (name, e.effort * each)
        });
        Cost {
            cell: c,
            seconds,
            shared: selection.into_iter().chain(ensembles).collect(),
            unknown: program && before.is_none(),
        }
    };
    cells.into_iter().map(cost).collect()
}

/// Seconds of these cells and of everything that they share.
pub(crate) fn seconds<'a>(costs: impl IntoIterator<Item = &'a Cost>) -> f64 {
    let (mut own, mut shared) = (0.0, BTreeMap::new());
    for cost in costs {
        own += cost.seconds;
        shared.extend(cost.shared.iter().map(|(name, seconds)| (name, *seconds)));
    }
    own + shared.values().sum::<f64>()
}

/// The size of an experiment, with its data sets as far as they can be read.
fn size(experiment: &Experiment, source: &Source) -> Plan {
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
    Plan {
        methods: experiment.methods.len(),
        cells: per_set * there,
        rows: per_set * there * points,
        notes: experiment.unread(),
        datasets,
        ..Plan::default()
    }
}

/// The most bytes that a method takes with its data, and which does.
fn largest(grid: &Grid) -> (u64, String) {
    let mut most = (0, String::new());
    for (row, set) in grid.methods.iter().zip(&grid.datasets) {
        for method in row {
            let memory = method.costs.memory.saturating_add(set.bytes());
            if memory > most.0 {
                let who = format!("method \"{}\" on data set \"{}\"", method.id, set.id);
                most = (memory, who);
            }
        }
    }
    most
}

/// A duration for people.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 10.0 => format!("{s:.1} s"),
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
                Err(message) if d.optional => writeln!(f, "{}", left_out(&d.id, message))?,
                Err(message) => writeln!(f, "{}: MISSING: {message}", d.id)?,
            }
        }
        for note in &self.notes {
            writeln!(f, "note: {note}")?;
        }
        let there = self.datasets.iter().filter(|d| d.read.is_ok() || !d.optional).count();
        let [sets, methods] =
            [(there, "data set"), (self.methods, "method")].map(|(n, word)| count(n, word));
        write!(f, "{} ({sets} × {methods}), ", count(self.cells, "cell"))?;
        if self.missing().next().is_some() {
            return write!(
                f,
                "{}; finished cells and the remaining time are shown once all data sets can be read",
                count(self.rows, "row")
            );
        }
        writeln!(
            f,
            "{} finished{}; {}; {}",
            self.finished,
            if self.failed > 0 {
                format!(", {} of them failed", self.failed)
            } else {
                String::new()
            },
            count(self.rows, "row"),
            count(self.selections, "selection")
        )?;
        write!(f, "{}", self.standing)?;
        if self.finished == self.cells {
            write!(f, "nothing is left to do")?;
        } else {
            write!(f, "about {} on one thread, roughly", duration(self.seconds))?;
        }
        write!(f, "; up to {} per cell, including its data", bytes(self.memory))?;
        if !self.unmeasured.is_empty() {
            write!(
                f,
                "\nnot counted: the programs of {}, whose time is known after the first cell",
                self.unmeasured.join(", ")
            )?;
        }
        Ok(())
    }
}
