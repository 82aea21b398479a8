//! Files that survive a run being killed.
//!
//! Every finished cell is a file of its own under `cells/`, written aside, flushed to disk and then
//! renamed: a file under a final name is complete, and its first line shows if it was changed later. Only this
//! decides if a cell is finished. A lock prevents two runs in one directory; shards of one run may share it.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use mustlink_core::{Error, Result};
use mustlink_datasets::data_error;
use mustlink_ledger::lock::{Sharing, try_lock};

use crate::cell_file::{CellFile, Wanted};
use crate::config::Experiment;
use crate::config::stored::{self, PLAN, Stored};
use crate::data::Facts;
use crate::folder::{Folder, io, remove, write_whole};
use crate::grid::{Cell, PlanLine};
use crate::hash::digest;
use crate::row::Row;
use crate::shard::Shard;

/// The data sets that were read.
const DATA: &str = "data.csv";
/// Files that a task of an array writes end in this and its numbers until they are complete.
const TASK_PART: &str = ".part-task-";

/// Kind of process that opens a directory, and others that may work in it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Who {
    /// Only this process.
    Alone,
    /// A shard; other shards may work too, but each only once.
    Shard(Shard),
    /// The follower of an array of a cluster; its tasks may work too, but only one follower.
    Follower,
    /// A task of an array. A lost node's task may be at work still when the cluster starts it again
    /// elsewhere: both write the same bytes.
    Task,
}

/// A directory with the results of one experiment.
#[derive(Debug)]
pub(crate) struct Journal {
    /// Its files.
    pub folder: Folder,
    _locks: Vec<File>,
}

/// The lock at `path`.
fn lock(path: &Path, sharing: Sharing) -> Result<File> {
    let (file, taken) = try_lock(path, sharing)?;
    if taken {
        return Ok(file);
    }
    let dir = path.parent().unwrap_or(Path::new("."));
    Err(data_error(dir.display(), "another run is at work in this directory; wait for it"))
}

/// Refuses a folder in which no run was begun and which holds a file of the name of one that a run writes.
fn refuse_what_is_no_run(dir: &Path) -> Result<()> {
    // A config.json alone may be anybody's.
    let begun =
        dir.join("run.lock").exists() || stored::read(dir).is_ok() || !files(dir)?.is_empty();
    let of_report = "results.csv results.parquet summary.csv areas.csv statistics.csv \
                     supervision.csv verdicts.csv moved.csv tables.tex tables.md report.html";
    let mut ours = [stored::TOML, stored::FILE, DATA, PLAN].into_iter().chain(of_report.split(' '));
    match ours.find(|name| dir.join(name).exists()) {
        Some(name) if !begun => Err(Error::Usage(format!(
            "--out {}: holds {name}, which no run has written and this one would overwrite; name another folder",
            dir.display()
        ))),
        _ => Ok(()),
    }
}

impl Journal {
    /// Opens or starts the directory of an experiment: takes the lock, checks that it holds no
    /// other experiment, removes what was left half written.
    pub fn open(dir: &Path, experiment: &Experiment, who: Who) -> Result<Journal> {
        refuse_what_is_no_run(dir)?;
        let cells = dir.join("cells");
        fs::create_dir_all(&cells).map_err(io(&cells))?;
        let sharing = if matches!(who, Who::Alone) { Sharing::Exclusive } else { Sharing::Shared };
        let mut locks = vec![lock(&dir.join("run.lock"), sharing)?];
        let part = match who {
            Who::Alone => ".part".to_string(),
            Who::Shard(Shard { number, of }) => {
                let own = dir.join(format!("shard-{number}-of-{of}.lock"));
                locks.push(lock(&own, Sharing::Exclusive)?);
                format!(".part-{number}-of-{of}")
            }
            Who::Follower => {
                locks.push(lock(&dir.join("follower.lock"), Sharing::Exclusive)?);
                ".part-follower".to_string()
            }
            // Processes of several machines may have the same number.
            Who::Task => {
                let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
                let since = since.map_or(0, |d| d.as_nanos());
                format!("{TASK_PART}{}-{since}", std::process::id())
            }
        };
        check(dir, experiment)?;
        let journal = Journal { folder: Folder { dir: dir.to_path_buf(), part }, _locks: locks };
        journal.clean(|name| match who {
            Who::Alone => name.contains(".part"),
            _ => name.ends_with(&journal.folder.part),
        })?;
        Ok(journal)
    }

    /// Removes what tasks of an array left half written that is over.
    pub fn clean_after_tasks(&self) -> Result<()> {
        self.clean(|name| name.contains(TASK_PART))
    }

    /// Removes incomplete files next to the cells, by their names.
    fn clean(&self, left_over: impl Fn(&str) -> bool) -> Result<()> {
        let cells = self.folder.dir.join("cells");
        for entry in fs::read_dir(&cells).map_err(io(&cells))? {
            let path = entry.map_err(io(&cells))?.path();
            if left_over(&path.file_name().unwrap_or_default().to_string_lossy()) {
                // Another follower may have been quicker.
                remove(&path)?;
            }
        }
        Ok(())
    }

    /// Writes down what was read.
    pub fn write_data(&self, sets: &[Facts]) -> Result<()> {
        self.folder.write(DATA, &self.folder.table(DATA, sets)?)
    }

    /// Writes the file of a cell as it is.
    pub fn put(&self, identity: &str, file: &CellFile) -> Result<()> {
        let path = cell_path(&self.folder.dir, identity);
        let text = file.encode(identity).map_err(|e| data_error(path.display(), e.to_string()))?;
        write_whole(&path, &self.folder.part, text.as_bytes())
    }

    /// Writes the rows of a finished cell; other content of its file stays.
    pub fn finish(&self, cell: &Cell, rows: &[Row], wanted: &Wanted) -> Result<()> {
        let identity = &cell.identity;
        let mut file = CellFile {
            of_any_build: cell.of_any_build.clone(),
            build: (*cell.build).clone(),
            metrics: wanted.metrics.clone(),
            rows: rows.to_vec(),
        };
        // A damaged file has nothing to keep.
        if wanted.points.is_some()
            && let Ok(Some(earlier)) = read_cell(&self.folder.dir, identity)
        {
            file.keep(earlier);
        }
        self.put(identity, &file)
    }
}

/// Checks that a directory may take the results of an experiment; a directory without a finished cell may.
///
/// # Errors
/// `Data` when existing rows would change their meaning.
pub(crate) fn check(dir: &Path, experiment: &Experiment) -> Result<()> {
    if files(dir)?.is_empty() { Ok(()) } else { stored::check_same(dir, experiment.resolved()) }
}

fn cell_path(dir: &Path, identity: &str) -> PathBuf {
    dir.join("cells").join(format!("{identity}.jsonl"))
}

/// The cells that have a file in a directory; none when it does not exist.
pub(crate) fn files(dir: &Path) -> Result<BTreeSet<String>> {
    let cells = dir.join("cells");
    let Ok(entries) = fs::read_dir(&cells) else { return Ok(BTreeSet::new()) };
    let mut out = BTreeSet::new();
    for entry in entries {
        let name = entry.map_err(io(&cells))?.file_name().to_string_lossy().into_owned();
        if let Some(identity) = name.strip_suffix(".jsonl") {
            out.insert(identity.to_string());
        }
    }
    Ok(out)
}

/// When the file of a cell was written.
pub(crate) fn modified(dir: &Path, identity: &str) -> Option<SystemTime> {
    fs::metadata(cell_path(dir, identity)).and_then(|m| m.modified()).ok()
}

/// The file of a finished cell; `None` when it is not finished.
///
/// # Errors
/// `Data` with the file and the way out when it is not as it was written.
pub(crate) fn read_cell(dir: &Path, identity: &str) -> Result<Option<CellFile>> {
    let path = cell_path(dir, identity);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(io(&path)(e)),
    };
    let text = String::from_utf8(bytes).map_err(|_| damaged(&path, "it is not text"))?;
    CellFile::decode(&text, identity).map(Some).map_err(|why| damaged(&path, &why))
}

/// Advice for a reader of a damaged file. A run that repairs it reports only the rest of the error.
pub(crate) const AGAIN: &str = "; mustlink run with the same file and --out makes it again";

fn damaged(path: &Path, why: &str) -> Error {
    data_error(path.display(), format!("damaged: {why}{AGAIN}"))
}

/// The data sets that were read; none in directories that were written before this was kept.
pub(crate) fn read_data(dir: &Path) -> Vec<Facts> {
    let Ok(mut reader) = csv::Reader::from_path(dir.join(DATA)) else { return Vec::new() };
    reader.deserialize().flatten().collect()
}

/// The list of cells stored in a directory.
///
/// # Errors
/// `Data` with a remedy if it is missing or was changed.
pub(crate) fn read_plan(dir: &Path, stored: &Stored) -> Result<Vec<PlanLine>> {
    let path = dir.join(PLAN);
    let bad = |e: &dyn std::fmt::Display| damaged(&path, &e.to_string());
    let content = fs::read(&path).map_err(|e| bad(&e))?;
    if stored.plan != digest(&content) {
        return Err(bad(&"its checksum does not fit: something in it was changed"));
    }
    let mut reader = csv::Reader::from_reader(content.as_slice());
    reader.deserialize().collect::<std::result::Result<_, _>>().map_err(|e| bad(&e))
}
