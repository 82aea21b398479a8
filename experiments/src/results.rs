//! The content of a results directory, and its rows as a table.

use std::collections::BTreeSet;
use std::path::Path;

use mustlink_core::Result;
use mustlink_datasets::csv_text;
use serde_json::Value;

use crate::cell_file::Wanted;
use crate::config::Experiment;
use crate::config::stored;
use crate::data::Facts;
use crate::folder::write_whole;
use crate::identity::{self, Here};
use crate::journal;
use crate::row::Kind::{Flag, Real, Whole};
use crate::row::Place::{After, Before, Last};
use crate::row::{FIELDS, Kind, Row};

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
        let table = to_csv(&self.rows(), self.experiment.columns())?;
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
        let method = experiment.methods.iter().find(|m| m.id == line.method);
        let options = method.map(|m| m.columns(&experiment.varied)).unwrap_or_default();
        for row in &mut rows {
            // Cells with equal settings share a file, whatever they are called.
            row.experiment.clone_from(&experiment.head.name);
            row.dataset.clone_from(&line.dataset);
            row.method.clone_from(&line.method);
            row.options.clone_from(&options);
        }
        let (dataset, method) = (line.dataset.clone(), line.method.clone());
        let identity = line.identity.clone();
        cells.push(CellRows { dataset, method, identity, repeat: line.repeat, rows, changed });
    }
    Ok(Finished { planned: plan.len(), cells, data: journal::read_data(dir), experiment })
}

/// Every column of a table with its value.
pub fn cells(row: &Row) -> serde_json::Result<Value> {
    let mut cells = serde_json::to_value(row)?;
    if let Value::Object(cells) = &mut cells {
        cells.extend(row.options.clone());
    }
    Ok(cells)
}

/// Common type of the values of an option that an experiment varies.
fn kind_of_option(name: &str, rows: &[Row]) -> Kind {
    let values = || rows.iter().filter_map(|r| r.options.get(name)).filter(|v| !v.is_null());
    [
        (Whole, Value::is_i64 as fn(&Value) -> bool),
        (Real, Value::is_number),
        (Flag, Value::is_boolean),
    ]
    .into_iter()
    .find(|(_, holds)| values().all(holds))
    .map_or(Kind::Text, |(kind, _)| kind)
}

/// The columns of a table of rows, with what they hold: scores in the middle, then the options that the
/// experiment varies, times last.
pub fn columns<'a>(rows: &'a [Row], metrics: &'a [String]) -> Vec<(&'a str, Kind)> {
    let at = |place| FIELDS.iter().filter(move |f| f.place == place).map(|f| (f.name, f.kind));
    let metrics = metrics.iter().map(|m| (m.as_str(), Real));
    let options: BTreeSet<&String> = rows.iter().flat_map(|row| row.options.keys()).collect();
    let options = options.into_iter().map(|o| (o.as_str(), kind_of_option(o, rows)));
    at(Before).chain(metrics).chain(at(After)).chain(options).chain(at(Last)).collect()
}

/// Rows as CSV, in the order given.
pub fn to_csv(rows: &[Row], metrics: &[String]) -> Result<Vec<u8>> {
    let columns: Vec<&str> = columns(rows, metrics).into_iter().map(|(name, _)| name).collect();
    csv_text("results.csv", |out| {
        out.write_record(&columns)?;
        for row in rows {
            let value = cells(row).map_err(std::io::Error::from)?;
            let cells = columns.iter().map(|c| match value.get(*c) {
                None | Some(Value::Null) => String::new(),
                Some(Value::String(s)) => s.clone(),
                Some(other) => other.to_string(),
            });
            out.write_record(cells)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn json_and_csv_keep_every_digit() {
        let scores =
            BTreeMap::from([("ari".to_string(), Some(0.1 + 0.2)), ("vi".to_string(), None)]);
        let row = Row {
            dataset: "a, \"b\"".into(),
            cost: Some(3.0),
            scores,
            seeded: Some(true),
            labels: Some(vec![0, 1]),
            ..Row::default()
        };
        let line = serde_json::to_string(&row).unwrap();
        assert_eq!(serde_json::from_str::<Row>(&line).unwrap(), row);
        let csv = to_csv(&[row], &["ari".into(), "vi".into()]).unwrap();
        let mut reader = csv::Reader::from_reader(&csv[..]);
        let names = reader.headers().unwrap().clone();
        let record = reader.records().next().unwrap().unwrap();
        let get = |name: &str| &record[names.iter().position(|n| n == name).unwrap()];
        assert_eq!((get("ari"), get("vi"), get("cost")), ("0.30000000000000004", "", "3.0"));
        assert_eq!(get("dataset"), "a, \"b\"");
    }
}
