//! Which rows on disk are of an asked-for cell, but made by another build?

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use mustlink::Result;

use crate::build::{self, Build};
use crate::grid::Grid;
use crate::journal;

/// Which finished cells a run keeps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Keep {
    /// Those that this build made, or one whose code is the same.
    #[default]
    Current,
    /// Those of other builds too.
    Stale,
    /// None: all are made again.
    Nothing,
}

/// A file that another build wrote.
#[derive(Debug, Clone)]
pub(crate) struct StaleFile {
    pub identity: String,
    /// The code that made its rows.
    pub build: Build,
    /// The names of the code that is another now.
    pub changed: BTreeSet<String>,
}

/// The files of other builds in a results directory.
#[derive(Debug, Default)]
pub(crate) struct Stale {
    /// The latest one of each cell that has no file of this build, by what every build calls it.
    pub latest: BTreeMap<String, StaleFile>,
    /// All files of the cells of an experiment that other builds wrote.
    pub files: BTreeSet<String>,
}

impl Stale {
    /// Those in `dir`, of whose `files` none is damaged or of another experiment.
    ///
    /// # Errors
    /// A directory that cannot be read.
    pub fn find(grid: &Grid, files: &BTreeSet<String>, dir: &Path) -> Result<Stale> {
        let here: BTreeSet<&String> = grid.cells.iter().map(|c| &c.identity).collect();
        let cells: BTreeMap<&String, usize> =
            grid.cells.iter().enumerate().map(|(at, c)| (&c.of_any_build, at)).collect();
        let mut stale = Stale::default();
        let mut times = BTreeMap::new();
        for identity in files.iter().filter(|f| !here.contains(f)) {
            let Ok(Some(file)) = journal::read_cell(dir, identity) else { continue };
            // What did not name its build is called as every build calls it.
            let name = if file.build.is_empty() { identity } else { &file.of_any_build };
            let Some(cell) = cells.get(name).map(|&at| &grid.cells[at]) else { continue };
            stale.files.insert(identity.clone());
            if files.contains(&cell.identity) {
                continue;
            }
            let time = journal::modified(dir, identity);
            if times.get(name).is_some_and(|earlier| *earlier > time) {
                continue;
            }
            times.insert(name.clone(), time);
            let changed = build::changed(&file.build, &cell.build);
            let found = StaleFile { identity: identity.clone(), build: file.build, changed };
            stale.latest.insert(name.clone(), found);
        }
        Ok(stale)
    }

    /// The file of a cell that has none of this build.
    pub fn of_cell(&self, grid: &Grid, cell: usize) -> Option<&StaleFile> {
        self.latest.get(&grid.cells[cell].of_any_build)
    }
}
