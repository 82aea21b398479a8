//! What of an experiment does a results directory hold already?

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use mustlink::Result;

use crate::cell_file::Wanted;
use crate::config::{Experiment, stored};
use crate::grid::Grid;
use crate::{identity, journal};

/// What of an experiment a results directory holds already. `plan` and `run` say the same of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Standing {
    /// Cells, each counted once however many methods share it.
    pub cells: usize,
    /// Cells with every row that is asked for.
    pub finished: usize,
    /// Cells that lack points of the curve or metrics.
    pub partial: usize,
    /// The points that rows lack.
    pub points: BTreeSet<usize>,
    /// The metrics that rows lack. Labels are scored where they are made, so that these cells are
    /// run again at every point.
    pub metrics: BTreeSet<String>,
    /// Files that are not as they were written, each with what is wrong; these cells are run again.
    pub damaged: Vec<String>,
    /// Files of cells that the experiment does not ask for: they stay, and are in no report.
    pub kept: usize,
    /// They were written by a form of the program whose files cannot be checked.
    pub earlier: bool,
}

/// What is left to do.
pub(crate) struct Left {
    pub standing: Standing,
    /// What every cell is to have.
    pub wanted: Wanted,
    /// The cells to do, each with the points it lacks; absent: all.
    pub todo: BTreeMap<usize, Option<Vec<usize>>>,
}

impl Left {
    /// That of the cells `cells` in the directory `dir`.
    ///
    /// # Errors
    /// A directory that cannot be read.
    pub fn of(experiment: &Experiment, grid: &Grid, cells: &[usize], dir: &Path) -> Result<Left> {
        let wanted = Wanted {
            points: experiment.points.numbers().ok(),
            metrics: identity::of_metrics(experiment)?,
        };
        let all: BTreeSet<&String> = grid.cells.iter().map(|c| &c.identity).collect();
        let files = journal::files(dir)?;
        let stored = stored::read(dir).ok();
        let mut standing = Standing {
            cells: cells.len(),
            kept: files.iter().filter(|f| !all.contains(f)).count(),
            earlier: stored.is_some_and(|s| s.plan.is_none()),
            ..Standing::default()
        };
        let mut todo = BTreeMap::new();
        for &c in cells {
            let identity = &grid.cells[c].identity;
            let file = match journal::read_cell(dir, identity) {
                Ok(None) => {
                    todo.insert(c, None);
                    continue;
                }
                Err(e) => {
                    standing.damaged.push(e.to_string());
                    todo.insert(c, None);
                    continue;
                }
                Ok(Some(file)) => file,
            };
            let (rows, missing) = file.select(&wanted);
            if !rows.is_empty() && missing.is_empty() {
                standing.finished += 1;
                continue;
            }
            standing.partial += 1;
            let lacking: Vec<&String> = file.lacking(&wanted).collect();
            standing.metrics.extend(lacking.iter().map(|m| (*m).clone()));
            if lacking.is_empty() {
                standing.points.extend(&missing);
            }
            todo.insert(c, wanted.points.is_some().then_some(missing));
        }
        Ok(Left { standing, wanted, todo })
    }
}

impl fmt::Display for Standing {
    /// What is there beside finished cells and new ones; nothing where there is nothing to say.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |items: Vec<String>| match items.len() {
            0..=6 => items.join(", "),
            n => format!("{} and {} more", items[..5].join(", "), n - 5),
        };
        if self.partial > 0 {
            write!(f, "{} cells are there in part", self.partial)?;
            if !self.points.is_empty() {
                let points = list(self.points.iter().map(usize::to_string).collect());
                write!(f, "; points {points} are added to their rows")?;
            }
            if !self.metrics.is_empty() {
                let metrics = list(self.metrics.iter().cloned().collect());
                write!(
                    f,
                    "; for {metrics} they are run again, because labels are scored where they are made"
                )?;
            }
            writeln!(f)?;
        }
        for damaged in self.damaged.iter().take(5) {
            writeln!(f, "{damaged}")?;
        }
        if self.damaged.len() > 5 {
            writeln!(f, "and {} more damaged files", self.damaged.len() - 5)?;
        }
        if self.kept > 0 && self.earlier {
            writeln!(
                f,
                "{} files are of an earlier form that cannot be checked: they stay, and their cells are \
                 run again",
                self.kept
            )?;
        } else if self.kept > 0 {
            writeln!(
                f,
                "{} cells on disk belong to nothing in this file: they stay, and are in no report",
                self.kept
            )?;
        }
        Ok(())
    }
}
