//! The content of a results directory.

use std::collections::BTreeSet;
use std::path::Path;

use mustlink_core::Result;

use crate::cell_file::Wanted;
use crate::config::Experiment;
use crate::config::stored;
use crate::data::Facts;
use crate::identity::{self, Here};
use crate::journal::{self, write_whole};
use crate::row::{self, Row};

/// The rows of one finished cell, under the ids of the plan.
#[derive(Debug, Clone)]
pub struct CellRows {
    /// Data set.
    pub dataset: String,
    /// Method.
    pub method: String,
    /// Identity of the cell.
    pub identity: String,
    /// Repeat, from 0.
    pub repeat: usize,
    /// One for each curve point.
    pub rows: Vec<Row>,
    /// The code that is another now than when they were made.
    pub changed: BTreeSet<String>,
}

/// Finished part of an experiment in a results directory.
#[derive(Debug)]
pub struct Finished {
    /// The experiment, as it was run.
    pub experiment: Experiment,
    /// Cells that it has.
    pub planned: usize,
    /// Those that have all that the experiment asks for.
    pub cells: Vec<CellRows>,
    /// The data sets as they were read; empty where that is not stored.
    pub data: Vec<Facts>,
}

impl Finished {
    /// Writes every row into `results.csv` of the directory `dir`.
    ///
    /// # Errors
    /// `Data` when it cannot be written.
    pub fn write_csv(&self, dir: &Path) -> Result<()> {
        let table = row::to_csv(&self.rows(), self.experiment.columns())?;
        write_whole(&dir.join("results.csv"), ".part", &table)
    }

    /// Every row, in the order of the cells.
    pub fn rows(&self) -> Vec<Row> {
        self.cells.iter().flat_map(|c| c.rows.iter().cloned()).collect()
    }
}

/// The rows of all finished cells of the results directory `dir`.
///
/// # Errors
/// `Data` when it is not a results directory, with the file that was changed.
pub fn finished(dir: &Path) -> Result<Finished> {
    let experiment = Experiment::from_directory(dir)?;
    let stored = stored::read(dir)?;
    let plan = journal::read_plan(dir, &stored)?;
    let wanted = Wanted {
        points: experiment.points.numbers().ok(),
        metrics: stored.metrics.clone(),
        any_build: true,
    };
    let mut here = Here::at(experiment.base());
    let metrics = identity::of_metrics(&experiment)?;
    let mut cells = Vec::new();
    for line in &plan {
        let Some(file) = journal::read_cell(dir, &line.identity)? else { continue };
        let (rows, missing) = file.select(&wanted);
        if rows.is_empty() || !missing.is_empty() {
            continue;
        }
        let mut changed = here.changed(&file.build);
        let other = wanted.metrics.keys().filter(|c| file.metrics.get(*c) != metrics.get(*c));
        changed.extend(other.cloned());
        let mut rows: Vec<Row> = rows.into_iter().cloned().collect();
        for row in &mut rows {
            // Cells with equal settings share a file, whatever they are called.
            row.experiment.clone_from(&experiment.head.name);
            row.dataset.clone_from(&line.dataset);
            row.method.clone_from(&line.method);
            row.options = experiment.varied_options(&line.method);
        }
        let (dataset, method) = (line.dataset.clone(), line.method.clone());
        let identity = line.identity.clone();
        cells.push(CellRows { dataset, method, identity, repeat: line.repeat, rows, changed });
    }
    Ok(Finished { planned: plan.len(), cells, data: journal::read_data(dir), experiment })
}
