//! What would a run do, and what would it take?

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::time::Instant;

use mustlink_core::Result;
use mustlink_core::error::bytes;

use crate::config::{EnsemblePer, Experiment};
use crate::costs::{ASSUMED_QUERIES, seconds_per_operation};
use crate::data::{self, Source};
use crate::grid::{Grid, left_out};
use crate::identity::has_program;
use crate::journal;
use crate::standing::{Keep, Left, Standing};
use crate::trial::{Group, Trial};

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
    /// Those of them that failed.
    pub failed: usize,
    /// What that directory holds beside them.
    pub standing: Standing,
    /// Rows.
    pub rows: usize,
    /// Selections that cells share.
    pub selections: usize,
    /// Seconds on one thread for what is left: counted from the configuration, which is rough, or
    /// from cells that were timed.
    pub seconds: f64,
    /// How that is known.
    pub timing: Timing,
    /// Methods with plugins in other languages of which no cell is finished: nobody knows their time.
    pub unmeasured: Vec<String>,
    /// Bytes of the largest cell, as its plugins declare.
    pub memory: u64,
    /// The method and the data set of that cell.
    pub largest: String,
    /// What a reader of the results should know before anything runs.
    pub notes: Vec<String>,
}

/// How a plan knows its seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Timing {
    /// Operations were counted.
    Counted,
    /// Cells were run.
    Timed {
        /// Methods and data sets of which a cell was run to its end.
        groups: usize,
        /// Of so many.
        of: usize,
        /// Seconds that took.
        seconds: f64,
    },
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
    lay_out(experiment, source, out, None)
}

/// The same, and runs one cell of each method and data set for as long as `seconds` last, short ones
/// first; the rest is estimated from these. Nothing is written.
///
/// # Errors
/// As [`plan`].
pub fn plan_timed(
    experiment: &Experiment,
    source: &Source,
    out: Option<&Path>,
    seconds: f64,
) -> Result<Plan> {
    lay_out(experiment, source, out, Some(seconds))
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
        finished: 0,
        failed: 0,
        standing: Standing::default(),
        rows: per_set * there * points,
        selections: 0,
        seconds: 0.0,
        timing: Timing::Counted,
        unmeasured: Vec::new(),
        memory: 0,
        largest: String::new(),
        notes: experiment.unread(),
        datasets,
    }
}

/// The most bytes that a method takes with its data, and which does.
fn largest(grid: &Grid) -> (u64, String) {
    let mut most = (0, String::new());
    for (row, set) in grid.methods.iter().zip(&grid.datasets) {
        for method in row {
            let memory = method.costs.memory.saturating_add(set.set.data.bytes());
            if memory > most.0 {
                let who = format!("method \"{}\" on data set \"{}\"", method.resolved.id, set.id);
                most = (memory, who);
            }
        }
    }
    most
}

fn lay_out(
    experiment: &Experiment,
    source: &Source,
    out: Option<&Path>,
    try_for: Option<f64>,
) -> Result<Plan> {
    let mut plan = size(experiment, source);
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
    let numbers = experiment.points.numbers();
    let queries = numbers.as_ref().map_or(ASSUMED_QUERIES, |p| p.last().copied().unwrap_or(0));
    let points = numbers.as_ref().map_or(1, Vec::len);
    let lacks = |c: usize| {
        let lacks = left.as_ref().and_then(|l| l.todo.get(&c)?.as_ref());
        lacks.map_or(points, Vec::len)
    };
    let unfinished: Vec<usize> = (0..grid.cells.len()).filter(|&c| is_left(c)).collect();
    let start = Instant::now();
    let trial = match try_for {
        Some(seconds) => Trial::run(experiment, &grid, &unfinished, seconds)?,
        None => Trial::default(),
    };
    if try_for.is_some() {
        let groups: BTreeSet<Group> =
            unfinished.iter().map(|&c| (grid.cells[c].dataset, grid.cells[c].method)).collect();
        plan.timing = Timing::Timed {
            groups: trial.cells.len(),
            of: groups.len(),
            seconds: start.elapsed().as_secs_f64(),
        };
    }
    let times = match experiment.head.ensemble_per {
        EnsemblePer::Dataset => 1,
        EnsemblePer::Repeat => experiment.split.repeats(),
    };
    let mut cells = Parts::default();
    let mut programs = 0.0;
    for &c in &unfinished {
        let group = (grid.cells[c].dataset, grid.cells[c].method);
        let resolved = &grid.method_of_cell(c).resolved;
        if !has_program(&resolved.config) {
            cells.add(group.1, grid.cell_effort(c, lacks(c)), trial.cells.get(&group));
            continue;
        }
        match left.as_ref().and_then(|l| l.seconds.get(&group)) {
            Some((sum, count)) => programs += sum / *count as f64,
            None if plan.unmeasured.contains(&resolved.id) => {}
            None => plan.unmeasured.push(resolved.id.clone()),
        }
    }
    let needed: BTreeSet<usize> = unfinished.iter().filter_map(|&c| grid.selection_of[c]).collect();
    let mut selections = Parts::default();
    for &s in &needed {
        let group = (grid.selections[s].dataset, grid.selections[s].method);
        selections.add(group.1, grid.selection_effort(s, queries), trial.selections.get(&group));
    }
    let mut ensembles = Parts::default();
    if !unfinished.is_empty() {
        for (key, effort) in grid.ensemble_efforts() {
            (0..times).for_each(|_| ensembles.add(0, effort, trial.ensembles.get(key)));
        }
    }
    plan.finished = grid.cells.len() - unfinished.len();
    let identity = |c: usize| grid.cells[c].identity.as_str();
    let failed: BTreeSet<&str> =
        left.iter().flat_map(|l| &l.failed).map(|&c| identity(c)).collect();
    plan.failed = (0..grid.cells.len()).filter(|&c| failed.contains(identity(c))).count();
    plan.selections = grid.selections.len();
    plan.notes = grid.notes(experiment);
    if let (Err(id), None, false) = (&numbers, try_for, unfinished.is_empty()) {
        plan.notes.push(format!(
            "how many questions \"{id}\" asks shows when it runs; the time is estimated for {ASSUMED_QUERIES} \
             (--measure lets it ask)"
        ));
    }
    let operation = seconds_per_operation();
    plan.seconds = cells.seconds(operation)
        + selections.seconds(operation)
        + ensembles.seconds(operation)
        + programs;
    if let Some((group, took)) = trial.unfinished {
        // It took at least that long, and so will the others of its kind.
        let same =
            unfinished.iter().filter(|&&c| (grid.cells[c].dataset, grid.cells[c].method) == group);
        plan.seconds = plan.seconds.max(took * same.count() as f64);
    }
    plan.standing = left.map(|l| l.standing).unwrap_or_default();
    (plan.memory, plan.largest) = largest(&grid);
    Ok(plan)
}

/// Parts of a run of one kind: what each takes in operations, and in seconds where one was timed.
#[derive(Default)]
struct Parts {
    /// The method of each, its operations, its seconds.
    parts: Vec<(usize, f64, Option<f64>)>,
}

impl Parts {
    fn add(&mut self, method: usize, operations: f64, seconds: Option<&f64>) {
        self.parts.push((method, operations, seconds.copied()));
    }

    /// Seconds of all. Where none was timed, an operation takes as long as in the same method on other
    /// data, else as in the other methods, else `operation`.
    fn seconds(&self, operation: f64) -> f64 {
        let rate = |of: &dyn Fn(usize) -> bool| {
            let timed = self.parts.iter().filter(|(m, ..)| of(*m));
            let timed = timed.filter_map(|(_, o, s)| s.map(|s| (*o, s)));
            let (o, s) = timed.fold((0.0, 0.0), |sum, (o, s)| (sum.0 + o, sum.1 + s));
            (o > 0.0).then_some(s / o)
        };
        let methods: BTreeSet<usize> = self.parts.iter().map(|p| p.0).collect();
        let of: BTreeMap<usize, Option<f64>> =
            methods.into_iter().map(|m| (m, rate(&|other| other == m))).collect();
        let any = rate(&|_| true).unwrap_or(operation);
        let each = |(m, o, s): &(usize, f64, Option<f64>)| s.unwrap_or(o * of[m].unwrap_or(any));
        self.parts.iter().map(each).sum()
    }
}

fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => "a second or less".into(),
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.0} h", s / 3600.0),
    }
}

impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Timing::Counted => {
                write!(f, ", roughly (--measure 20 runs cells for 20 s to know better)")
            }
            Timing::Timed { groups, of, seconds } => {
                write!(
                    f,
                    " (from one cell each of {groups} of {of} methods on data sets, in {seconds:.1} s)"
                )
            }
        }
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
        write!(f, "{} cells ({there} data sets × {} methods), ", self.cells, self.methods)?;
        if self.missing().next().is_some() {
            return write!(
                f,
                "{} rows; what is finished and what the rest takes shows once all data sets can be read",
                self.rows
            );
        }
        writeln!(
            f,
            "{} finished{}; {} rows; {} selections",
            self.finished,
            if self.failed > 0 {
                format!(", {} of them failed", self.failed)
            } else {
                String::new()
            },
            self.rows,
            self.selections
        )?;
        write!(f, "{}", self.standing)?;
        if self.finished == self.cells {
            write!(f, "nothing is left to do")?;
        } else {
            write!(f, "about {} on one thread{}", duration(self.seconds), self.timing)?;
        }
        write!(f, "; up to {} per cell, its data among it", bytes(self.memory))?;
        if !self.unmeasured.is_empty() {
            write!(
                f,
                "\nnot counted: the programs of {}, whose time shows with the first cell",
                self.unmeasured.join(", ")
            )?;
        }
        Ok(())
    }
}
