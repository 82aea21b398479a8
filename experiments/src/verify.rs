//! Finished cells computed again and compared.

use std::path::Path;

use mustlink_core::Result;
use mustlink_core::random::SeedPath;
use mustlink_core::text::count;
use mustlink_datasets::data_error;

use crate::cell_file::is_cut_off;
use crate::config::{Experiment, stored};
use crate::folder::io;
use crate::grid::Grid;
use crate::journal::{self, Who};
use crate::outcome::RunOptions;
use crate::row::{Row, RowStatus, differences};
use crate::run::run_some;
use crate::standing::{Keep, Left, Stale};

/// Result of a verification.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verified {
    /// Finished cells of this build, without those that time or memory cut off: they need not come out the same.
    pub finished: usize,
    /// Cells whose rows another build made: they are not tried, since they need not come out the same.
    pub stale: usize,
    /// The code that is another now than theirs.
    pub changed: Vec<String>,
    /// Data sets that are others now than in the finished cells, or are not there: in a sentence each, and
    /// not tried.
    pub strayed: Vec<String>,
    /// Cells that were made again.
    pub tried: usize,
    /// The user stopped it.
    pub stopped: bool,
    /// Differences, a line for each cell.
    pub differing: Vec<String>,
}

/// Makes a share of the finished cells of a results directory again, drawn by `seed` (at least one), and
/// compares every column except the times, bit for bit. The limits of time and memory that the run had for a cell
/// do not apply. The directory is not changed: the cells are made in a folder with the other temporary files
/// of the system.
///
/// # Errors
/// `Data` when it is not a results directory, when no cell in it is finished, or when a file was changed; the errors of
/// [`run`](crate::run) for the cells.
pub fn verify(dir: &Path, share: f64, seed: u64, options: &RunOptions) -> Result<Verified> {
    let mut experiment = Experiment::from_directory(dir)?;
    (experiment.run.cell_timeout_s, experiment.run.cell_memory_bytes) = (None, None);
    let stored = stored::read(dir)?;
    let grid = Grid::new(&experiment, &options.source).map_err(|e| stored.at_base(e))?;
    let files = journal::files(dir)?;
    let strayed =
        Stale::find(&grid, &files, dir)?.strayed(&grid, &journal::read_plan(dir, &stored)?, &files);
    let all = grid.distinct(&(0..grid.cells.len()).collect::<Vec<_>>());
    let left = Left::of(&experiment, &grid, &all, dir, Keep::Current)?;
    if !left.standing.damaged.is_empty() {
        all.iter().try_for_each(|&c| journal::read_cell(dir, &grid.cells[c].identity).map(drop))?;
    }
    let whole = |c: &usize| {
        let file = journal::read_cell(dir, &grid.cells[*c].identity).ok().flatten();
        file.is_none_or(|f| f.at_points(&left.wanted).all(|row| !is_cut_off(row)))
    };
    let finished = all.into_iter().filter(|c| !left.todo.contains_key(c));
    let finished: Vec<usize> = finished.filter(whole).collect();
    let mut out = Verified {
        finished: finished.len(),
        stale: left.standing.stale,
        changed: left.standing.changed.iter().cloned().collect(),
        strayed: strayed.into_iter().collect(),
        ..Verified::default()
    };
    if finished.is_empty() {
        if out.stale > 0 || !out.strayed.is_empty() {
            return Ok(out);
        }
        return Err(data_error(dir.display(), "has no finished cell to make again"));
    }
    let wanted = (share * finished.len() as f64).ceil().max(1.0) as usize;
    let mut drawn =
        SeedPath::new(seed).stream("verify").sample(finished.len(), wanted.min(finished.len()));
    drawn.sort_unstable();
    let drawn: Vec<usize> = drawn.into_iter().map(|at| finished[at]).collect();
    let aside = tempfile::Builder::new().prefix("mustlink-verify-").tempdir();
    let aside = aside.map_err(io(&std::env::temp_dir()))?;
    let again = RunOptions { keep: Keep::Nothing, out: aside.path().into(), ..options.clone() };
    let outcome = run_some(&experiment, &again, Who::Alone, &|_| drawn.clone())?;
    out.stopped = outcome.stopped;
    let lines = grid.plan_lines();
    for &c in &drawn {
        let identity = &grid.cells[c].identity;
        let Some(new) = journal::read_cell(aside.path(), identity)? else {
            // Only a run that was stopped leaves cells out.
            out.stopped = true;
            continue;
        };
        out.tried += 1;
        let old = journal::read_cell(dir, identity)?;
        let old = old.as_ref().map_or(Vec::new(), |file| file.select(&left.wanted).0);
        if let Some(what) = first_difference(&old, &new.select(&left.wanted).0) {
            out.differing.push(format!("{}{what}", lines[c]));
        }
    }
    Ok(out)
}

/// First difference of two versions of a cell, apart from times.
fn first_difference(old: &[&Row], new: &[&Row]) -> Option<String> {
    if old.len() != new.len() {
        return Some(format!(": had {} and has {}", count(old.len(), "row"), new.len()));
    }
    old.iter().zip(new).find_map(|(was, is)| {
        let at = was.p_requested.map_or(String::new(), |p| format!(", {p} questions"));
        if was.p_requested != is.p_requested {
            return Some(format!("{at}: has other points"));
        }
        if was.status != is.status {
            return Some(format!("{at}: {} and now {}", ended(was), ended(is)));
        }
        let (column, was, is) = differences(was, is).into_iter().next()?;
        Some(format!("{at}: {column} was {was} and is {is}"))
    })
}

/// Status at the end of a row.
fn ended(row: &Row) -> String {
    match row.status {
        RowStatus::Ok => "had a result".into(),
        _ => format!("failed ({})", row.message.as_deref().unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_only_one_has_are_a_difference() {
        let row = |p| Row { p_requested: Some(p), ..Row::default() };
        let (a, b) = (row(0), row(5));
        assert_eq!(first_difference(&[&a, &b], &[&a, &b]), None);
        assert_eq!(first_difference(&[&a, &b], &[&a]).unwrap(), ": had 2 rows and has 1");
        assert_eq!(first_difference(&[&a], &[&a, &b]).unwrap(), ": had 1 row and has 2");
        assert_eq!(first_difference(&[&a], &[&b]).unwrap(), ", 0 questions: has other points");
        let other = Row { k: Some(3), ..row(0) };
        let found = first_difference(&[&a], &[&other]).unwrap();
        assert_eq!(found, ", 0 questions: k was null and is 3");
        // Why a row has no values any more comes before these.
        let failed = Row { status: RowStatus::Error, message: Some("why".into()), ..other };
        let found = first_difference(&[&a], &[&failed]).unwrap();
        assert_eq!(found, ", 0 questions: had a result and now failed (why)");
    }
}
