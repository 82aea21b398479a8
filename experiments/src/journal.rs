//! Files that survive a run being killed.
//!
//! Every finished cell is a file of its own under `cells/`, written aside, flushed to disk and then
//! renamed: a file under a final name is whole. Whether a cell is done depends on nothing else. A
//! lock keeps two runs out of one directory; shards of one run may share it.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use mustlink::lock::{Sharing, try_lock};
use mustlink::{Error, Result};

use crate::config::{Experiment, stored};
use crate::grid::PlanLine;
use crate::row::{Row, RowStatus};
use crate::shard::Shard;

/// A directory with the results of one experiment.
#[derive(Debug)]
pub(crate) struct Journal {
    dir: PathBuf,
    /// Ends the name of files being written, so that shards do not meet.
    part: String,
    _locks: Vec<File>,
}

pub(crate) fn io(place: &Path) -> impl Fn(std::io::Error) -> Error + '_ {
    move |e| Error::Data { place: place.display().to_string(), message: e.to_string() }
}

/// Writes a file so that it is either whole or not there.
pub(crate) fn write_whole(path: &Path, part: &str, content: &[u8]) -> Result<()> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(part);
    let aside = PathBuf::from(aside);
    let mut file = File::create(&aside).map_err(io(&aside))?;
    file.write_all(content).map_err(io(&aside))?;
    file.sync_all().map_err(io(&aside))?;
    drop(file);
    fs::rename(&aside, path).map_err(io(path))?;
    sync_directory(path.parent().unwrap_or(Path::new(".")))
}

/// Makes a rename last. Where directories cannot be opened (Windows), renaming is all there is.
fn sync_directory(dir: &Path) -> Result<()> {
    if cfg!(unix) {
        File::open(dir).and_then(|d| d.sync_all()).map_err(io(dir))?;
    }
    Ok(())
}

fn lock(path: &Path, sharing: Sharing) -> Result<File> {
    let (file, taken) = try_lock(path, sharing)?;
    if taken {
        return Ok(file);
    }
    let dir = path.parent().unwrap_or(Path::new("."));
    Err(Error::Data {
        place: dir.display().to_string(),
        message: "another run is at work in this directory; wait for it, or choose another --out"
            .into(),
    })
}

impl Journal {
    /// Opens or starts the directory of an experiment: takes the lock, checks that it holds no
    /// other experiment, removes what was left half written.
    pub fn open(dir: &Path, experiment: &Experiment, shard: Option<Shard>) -> Result<Journal> {
        let cells = dir.join("cells");
        fs::create_dir_all(&cells).map_err(io(&cells))?;
        // Shards of one run share the directory; each is at work once.
        let sharing = if shard.is_some() { Sharing::Shared } else { Sharing::Exclusive };
        let mut locks = vec![lock(&dir.join("run.lock"), sharing)?];
        let part = match shard {
            None => ".part".to_string(),
            Some(Shard { number, of }) => {
                locks.push(lock(
                    &dir.join(format!("shard-{number}-of-{of}.lock")),
                    Sharing::Exclusive,
                )?);
                format!(".part-{number}-of-{of}")
            }
        };
        stored::check_same(dir, experiment.resolved())?;
        let content = stored::content(experiment.base(), experiment.resolved());
        write_whole(&dir.join(stored::FILE), &part, content.as_bytes())?;
        write_whole(&dir.join("config.toml"), &part, experiment.resolved_toml().as_bytes())?;
        let journal = Journal { dir: dir.to_path_buf(), part, _locks: locks };
        for entry in fs::read_dir(&cells).map_err(io(&cells))? {
            let path = entry.map_err(io(&cells))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let left_over = match shard {
                None => name.contains(".part"),
                Some(_) => name.ends_with(&journal.part),
            };
            if left_over {
                fs::remove_file(&path).map_err(io(&path))?;
            }
        }
        Ok(journal)
    }

    /// Writes which file belongs to which cell.
    pub fn write_plan(&self, lines: &[PlanLine]) -> Result<()> {
        let path = self.dir.join("cells.csv");
        let mut writer = csv::Writer::from_writer(Vec::new());
        let fail = |e: csv::Error| Error::Data {
            place: path.display().to_string(),
            message: e.to_string(),
        };
        lines.iter().try_for_each(|l| writer.serialize(l)).map_err(fail)?;
        let content = writer.into_inner().map_err(|e| fail(e.into_error().into()))?;
        write_whole(&path, &self.part, &content)
    }

    /// The finished cells.
    pub fn finished(&self) -> Result<BTreeSet<String>> {
        finished(&self.dir)
    }

    /// Writes a finished cell.
    pub fn finish(&self, identity: &str, rows: &[Row]) -> Result<()> {
        let path = cell_path(&self.dir, identity);
        let mut text = Vec::new();
        for row in rows {
            serde_json::to_writer(&mut text, row).map_err(|e| Error::Data {
                place: path.display().to_string(),
                message: e.to_string(),
            })?;
            text.push(b'\n');
        }
        write_whole(&path, &self.part, &text)
    }
}

fn cell_path(dir: &Path, identity: &str) -> PathBuf {
    dir.join("cells").join(format!("{identity}.jsonl"))
}

/// The finished cells of a directory; none when it does not exist.
pub(crate) fn finished(dir: &Path) -> Result<BTreeSet<String>> {
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

/// The rows of a finished cell; `None` when it is not finished.
pub(crate) fn read_cell(dir: &Path, identity: &str) -> Result<Option<Vec<Row>>> {
    let path = cell_path(dir, identity);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(io(&path)(e)),
    };
    let rows: std::result::Result<Vec<Row>, _> = text.lines().map(serde_json::from_str).collect();
    match rows {
        Ok(rows) if !rows.is_empty() => Ok(Some(rows)),
        Ok(_) => Err(damaged(&path, "it is empty")),
        Err(e) => Err(damaged(&path, &e.to_string())),
    }
}

fn damaged(path: &Path, why: &str) -> Error {
    Error::Data {
        place: path.display().to_string(),
        message: format!("damaged: {why}; remove it and run again"),
    }
}

/// Whether a cell came to an error or ran out of time.
pub(crate) fn has_failed(rows: &[Row]) -> bool {
    rows.iter().any(|r| r.status != RowStatus::Ok)
}

/// The plan stored in a directory.
pub(crate) fn read_plan(dir: &Path) -> Result<Vec<PlanLine>> {
    let path = dir.join("cells.csv");
    let bad = |e: &dyn std::fmt::Display| Error::Data {
        place: path.display().to_string(),
        message: format!("{e}; is this a results directory?"),
    };
    let mut reader = csv::Reader::from_path(&path).map_err(|e| bad(&e))?;
    reader.deserialize().collect::<std::result::Result<_, _>>().map_err(|e| bad(&e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_whole_or_absent() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        write_whole(&path, ".part", b"abc").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"abc");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
