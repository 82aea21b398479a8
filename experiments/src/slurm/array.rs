//! The files of an array: the cells of its tasks, and the reports of the tasks.

use std::fs;
use std::path::{Path, PathBuf};

use mustlink_core::Result;
use mustlink_datasets::data_error;
use serde::{Deserialize, Serialize};

use crate::folder::{io, remove, write_whole};
use crate::hash::digest;

/// The folder in a results directory that holds all of it.
pub(super) const FOLDER: &str = "slurm";
/// The array that was submitted last.
const CURRENT: &str = "current.json";
pub(super) const PART: &str = ".part-follower";

/// An array and the cells of each of its tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Array {
    /// Its name in the queue, which no other array has.
    pub name: String,
    /// The identities of the cells of each task.
    pub tasks: Vec<Vec<String>>,
}

impl Array {
    /// An array with these tasks, submitted from now on.
    pub fn new(dir: &Path, round: usize, tasks: Vec<Vec<String>>) -> Array {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let unique = format!("{}/{}/{round}/{since:?}", dir.display(), std::process::id());
        Array { name: format!("mustlink-{}", digest(unique.as_bytes())), tasks }
    }

    /// Writes it down: from then on a follower that comes later finds it in the queue by its name.
    pub fn write(&self, dir: &Path) -> Result<()> {
        let folder = dir.join(FOLDER);
        fs::create_dir_all(&folder).map_err(io(&folder))?;
        let path = folder.join(CURRENT);
        let text =
            serde_json::to_string(self).map_err(|e| data_error(path.display(), e.to_string()))?;
        // The tasks read a file of their own: the next array does not take it from them.
        write_whole(&self.list(dir), PART, text.as_bytes())?;
        write_whole(&path, PART, text.as_bytes())
    }

    /// The file that describes its tasks.
    pub fn list(&self, dir: &Path) -> PathBuf {
        dir.join(FOLDER).join(format!("{}.json", self.name))
    }

    /// Path of the log files of its tasks, in the form for Slurm, which replaces `%a` with the number of the task.
    /// A `%` in the folder is doubled.
    pub fn log(&self, dir: &Path) -> String {
        let folder = dir.join(FOLDER).display().to_string().replace('%', "%%");
        format!("{folder}/{}-%a.log", self.name)
    }

    /// True if one of its tasks has begun.
    pub fn has_begun(&self, dir: &Path) -> bool {
        let log = |task| dir.join(FOLDER).join(format!("{}-{task}.log", self.name));
        (0..self.tasks.len()).any(|task| log(task).exists())
    }

    /// The file of a task, and its content at the end.
    pub fn last_words(&self, dir: &Path, task: usize) -> (PathBuf, String) {
        let path = dir.join(FOLDER).join(format!("{}-{task}.log", self.name));
        let bytes = fs::read(&path).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
        (path, lines[lines.len().saturating_sub(2)..].join("; "))
    }

    /// The array that was submitted last; `None` when nothing was, or when it is over and done with.
    pub fn current(dir: &Path) -> Result<Option<Array>> {
        let path = dir.join(FOLDER).join(CURRENT);
        if path.exists() { Array::read(&path).map(Some) } else { Ok(None) }
    }

    /// Reads the file of an array.
    pub fn read(path: &Path) -> Result<Array> {
        let text = fs::read_to_string(path).map_err(io(path))?;
        serde_json::from_str(&text).map_err(|e| {
            data_error(path.display(), format!("does not say what the tasks of an array do: {e}"))
        })
    }

    /// Forgets the current array: it is over.
    pub fn forget(dir: &Path) -> Result<()> {
        remove(&dir.join(FOLDER).join(CURRENT))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_is_found_again_until_it_is_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Array::current(dir.path()).unwrap(), None);
        let odd = Array { name: "x".into(), tasks: Vec::new() }.log(Path::new("/40%a"));
        assert_eq!(odd, "/40%%a/slurm/x-%a.log");
        let array = Array::new(dir.path(), 1, vec![vec!["a".into(), "b".into()], vec!["c".into()]]);
        array.write(dir.path()).unwrap();
        assert_eq!(Array::current(dir.path()).unwrap().as_ref(), Some(&array));
        assert!(!array.has_begun(dir.path()));
        fs::write(dir.path().join(FOLDER).join(format!("{}-1.log", array.name)), "a\n\nb\nc\n")
            .unwrap();
        assert!(array.has_begun(dir.path()));
        assert_eq!(array.last_words(dir.path(), 1).1, "b; c");
        assert_eq!(array.last_words(dir.path(), 0).1, "");
        Array::forget(dir.path()).unwrap();
        assert_eq!(Array::current(dir.path()).unwrap(), None);
        assert_eq!(Array::read(&array.list(dir.path())).unwrap(), array);
    }
}
