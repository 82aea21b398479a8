//! Cells that were lost with their tasks, counted on disk, where the next follower finds them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use mustlink_core::Result;
use mustlink_datasets::data_error;
use serde::{Deserialize, Serialize};

use super::array::{FOLDER, PART};
use crate::folder::{io, remove, write_whole};

/// Number of times a cell was lost, and the last reason.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Loss {
    pub times: usize,
    pub last: String,
}

/// The losses of a run by the identity of the cell.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Losses(BTreeMap<String, Loss>);

fn file(dir: &Path) -> PathBuf {
    dir.join(FOLDER).join("losses.json")
}

impl Losses {
    /// Counts of an earlier follower; empty without one.
    pub fn read(dir: &Path) -> Result<Losses> {
        let path = file(dir);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Losses::default()),
            Err(e) => return Err(io(&path)(e)),
        };
        serde_json::from_str(&text).map_err(|e| {
            let message = "does not contain the number of lost cells";
            data_error(path.display(), format!("{message}: {e}; remove it to count again"))
        })
    }

    /// Writes the counts to the results directory `dir`.
    ///
    /// # Errors
    /// `Data` if the file cannot be written.
    pub fn write(&self, dir: &Path) -> Result<()> {
        let path = file(dir);
        let text =
            serde_json::to_string(self).map_err(|e| data_error(path.display(), e.to_string()))?;
        write_whole(&path, PART, text.as_bytes())
    }

    /// Forgets them all.
    pub fn forget(dir: &Path) -> Result<()> {
        remove(&file(dir))
    }

    /// The cell was lost once more.
    pub fn count(&mut self, cell: &str, last: String) {
        let loss = self.0.entry(cell.into()).or_default();
        loss.times += 1;
        loss.last = last;
    }

    /// The losses of a cell; `None` if it was never lost.
    pub fn of(&self, cell: &str) -> Option<&Loss> {
        self.0.get(cell)
    }

    /// The number of times that a cell was lost.
    pub fn times(&self, cell: &str) -> usize {
        self.of(cell).map_or(0, |l| l.times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_outlive_who_counted_them() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(FOLDER)).unwrap();
        let mut losses = Losses::read(dir.path()).unwrap();
        assert_eq!(losses, Losses::default());
        losses.count("a", "the first".into());
        losses.count("a", "the second".into());
        losses.write(dir.path()).unwrap();
        let again = Losses::read(dir.path()).unwrap();
        assert_eq!((again.times("a"), again.times("b")), (2, 0));
        assert_eq!(again.of("a").unwrap().last, "the second");
        Losses::forget(dir.path()).unwrap();
        assert_eq!(Losses::read(dir.path()).unwrap(), Losses::default());
        fs::write(file(dir.path()), "nonsense").unwrap();
        assert!(Losses::read(dir.path()).unwrap_err().to_string().contains("count again"));
    }
}
