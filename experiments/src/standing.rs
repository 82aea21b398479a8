//! The part of an experiment that a results directory already contains.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use mustlink_core::Result;
use mustlink_core::text::{count, form};

use crate::best::Scores;
use crate::cell_file::{CellFile, Wanted, has_failed};
use crate::config::Experiment;
use crate::grid::{Grid, PlanLine};
use crate::identity::{self, Build};
use crate::journal;
use crate::row::Row;

/// Finished cells that a run keeps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Keep {
    /// Cells of this build, or of one with the same code.
    #[default]
    Current,
    /// Cells of other builds too.
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
            let changed = identity::changed(&file.build, &cell.build);
            let found = StaleFile { identity: identity.clone(), build: file.build, changed };
            stale.latest.insert(name.clone(), found);
        }
        Ok(stale)
    }

    /// The data sets with cells among the `lines` of a results directory, finished by its `files`, that the grid
    /// has not: what is in the way of each, in a sentence.
    pub fn strayed(
        &self,
        grid: &Grid,
        lines: &[PlanLine],
        files: &BTreeSet<String>,
    ) -> BTreeSet<String> {
        let here: BTreeSet<&String> = grid.cells.iter().map(|c| &c.identity).collect();
        let known = |identity: &String| here.contains(identity) || self.files.contains(identity);
        let finished = lines.iter().filter(|line| files.contains(&line.identity));
        let strayed = finished.filter(|line| !known(&line.identity));
        let why = |PlanLine { dataset, .. }: &PlanLine| {
            if grid.datasets.iter().any(|d| d.id == *dataset) {
                format!("the data of \"{dataset}\" have changed since, or the version of a plugin")
            } else {
                format!("the data set \"{dataset}\" is missing")
            }
        };
        strayed.map(why).collect()
    }

    /// The file of a cell that has none of this build.
    pub fn of_cell(&self, grid: &Grid, cell: usize) -> Option<&StaleFile> {
        self.latest.get(&grid.cells[cell].of_any_build)
    }
}

/// Part of an experiment that a results directory already holds. `plan` and `run` report it alike.
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
    /// Cells whose rows another build made.
    pub stale: usize,
    /// Data sets and methods of these cells.
    pub stale_of: BTreeSet<(String, String)>,
    /// The names of the code that has changed: plugins by their crates, files by path, `mustlink` for the framework.
    pub changed: BTreeSet<String>,
    /// Cells of other builds are taken as finished.
    pub stale_kept: bool,
    /// Finished cells that are made again because the user said so.
    pub forced: usize,
    /// Files of cells that the experiment does not ask for: they stay, and are in no report.
    pub kept: usize,
}

/// Remaining work.
#[derive(Default)]
pub(crate) struct Left {
    pub standing: Standing,
    /// Rows that every cell should have.
    pub wanted: Wanted,
    /// The cells to do, each with the points it lacks; absent: all.
    pub todo: BTreeMap<usize, Option<Vec<usize>>>,
    /// Seconds of the cells on disk, by data set and method, and how many these are.
    pub seconds: BTreeMap<(usize, usize), (f64, usize)>,
    /// The cells whose rows of another build are kept.
    pub adopted: Vec<(usize, StaleFile)>,
    /// The finished cells that failed.
    pub failed: Vec<usize>,
    /// The scores of the finished cells.
    pub scores: Option<Scores>,
}

impl Left {
    /// The content for the cells `cells` in the directory `dir`.
    ///
    /// # Errors
    /// A directory that cannot be read.
    pub fn of(
        experiment: &Experiment,
        grid: &Grid,
        cells: &[usize],
        dir: &Path,
        keep: Keep,
    ) -> Result<Left> {
        let wanted = Wanted { any_build: keep == Keep::Stale, ..Wanted::by(experiment)? };
        let all: BTreeSet<&String> = grid.cells.iter().map(|c| &c.identity).collect();
        let files = journal::files(dir)?;
        let stale = Stale::find(grid, &files, dir)?;
        let mut standing = Standing {
            cells: cells.len(),
            stale_kept: keep == Keep::Stale,
            kept: files.iter().filter(|f| !all.contains(f) && !stale.files.contains(*f)).count(),
            ..Standing::default()
        };
        let (mut todo, mut adopted) = (BTreeMap::new(), Vec::new());
        let mut failed = Vec::new();
        let mut scores = Scores::new(experiment, grid);
        let mut add = |c: usize, rows: Vec<&Row>| {
            if let Some(scores) = &mut scores {
                scores.add(grid, c, rows);
            }
        };
        let mut seconds = BTreeMap::new();
        let mut note_time = |c: usize, file: &CellFile| {
            let (sum, count) =
                seconds.entry((grid.cells[c].dataset, grid.cells[c].method)).or_insert((0.0, 0));
            *sum += file.seconds();
            *count += 1;
        };
        for &c in cells {
            let identity = &grid.cells[c].identity;
            let file = match journal::read_cell(dir, identity) {
                Ok(None) => {
                    let other = stale.of_cell(grid, c);
                    let mut whole = None;
                    if let Some(other) = other {
                        standing.note_stale(grid, c, other);
                        if let Ok(Some(file)) = journal::read_cell(dir, &other.identity) {
                            note_time(c, &file);
                            // Rows that are added would be of two builds.
                            let is_whole = keep == Keep::Stale && file.has_all(&wanted);
                            whole = is_whole.then_some((other, file));
                        }
                    }
                    match whole {
                        Some((other, file)) => {
                            standing.finished += 1;
                            add(c, file.select(&wanted).0);
                            adopted.push((c, other.clone()));
                        }
                        None => drop(todo.insert(c, None)),
                    }
                    continue;
                }
                Err(e) => {
                    let said = e.to_string();
                    let said = said.strip_suffix(journal::AGAIN).unwrap_or(&said);
                    standing.damaged.push(format!("{said}; its cell is run again"));
                    todo.insert(c, None);
                    continue;
                }
                Ok(Some(file)) => file,
            };
            note_time(c, &file);
            if keep == Keep::Nothing {
                standing.forced += 1;
                todo.insert(c, None);
                continue;
            }
            let (rows, missing) = file.select(&wanted);
            if file.has_all(&wanted) {
                standing.finished += 1;
                add(c, rows.clone());
                if has_failed(rows) {
                    failed.push(c);
                }
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
        Ok(Left { standing, wanted, todo, seconds, adopted, failed, scores })
    }
}

impl Standing {
    fn note_stale(&mut self, grid: &Grid, cell: usize, other: &StaleFile) {
        self.stale += 1;
        let line = &grid.cells[cell];
        let method = &grid.method_of_cell(cell).id;
        self.stale_of.insert((grid.datasets[line.dataset].id.clone(), method.clone()));
        self.changed.extend(other.changed.iter().cloned());
    }
}

impl fmt::Display for Standing {
    /// Content other than finished cells and new ones; empty without such content.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |items: Vec<String>| match items.len() {
            0..=6 => items.join(", "),
            n => format!("{} and {} more", items[..5].join(", "), n - 5),
        };
        if self.partial > 0 {
            let are = form(self.partial, "is", "are");
            write!(f, "{} {are} there in part", count(self.partial, "cell"))?;
            if !self.points.is_empty() {
                let points = list(self.points.iter().map(usize::to_string).collect());
                let word = form(self.points.len(), "point", "points");
                write!(f, "; rows of {word} {points} are added")?;
            }
            if !self.metrics.is_empty() {
                let metrics = list(self.metrics.iter().cloned().collect());
                write!(
                    f,
                    "; for {metrics} {} run again, because labels are scored where they are made",
                    form(self.partial, "it is", "they are")
                )?;
            }
            writeln!(f)?;
        }
        if self.stale > 0 {
            let cells = self.stale_of.iter().map(|(set, method)| format!("{set} × {method}"));
            let way = if self.stale_kept {
                "whole ones are kept as they are (--keep-stale)"
            } else {
                form(
                    self.stale,
                    "it is made again (--keep-stale keeps it)",
                    "they are made again (--keep-stale keeps them)",
                )
            };
            writeln!(
                f,
                "{} {} made by another build (changed: {}): {}; {way}",
                count(self.stale, "cell"),
                form(self.stale, "was", "were"),
                list(self.changed.iter().cloned().collect()),
                list(cells.collect()),
            )?;
        }
        if self.forced > 0 {
            let are = form(self.forced, "is", "are");
            writeln!(f, "{} {are} made again (--force)", count(self.forced, "finished cell"))?;
        }
        for damaged in self.damaged.iter().take(5) {
            writeln!(f, "{damaged}")?;
        }
        if self.damaged.len() > 5 {
            writeln!(f, "and {} more damaged files", self.damaged.len() - 5)?;
        }
        if self.kept > 0 {
            writeln!(
                f,
                "{} on disk {} to nothing in this file: {} in no report",
                count(self.kept, "cell"),
                form(self.kept, "belongs", "belong"),
                form(self.kept, "it stays, and is", "they stay, and are")
            )?;
        }
        Ok(())
    }
}
