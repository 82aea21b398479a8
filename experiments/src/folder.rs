//! Files that are either whole or not there.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use mustlink_core::{Error, Result};
use mustlink_datasets::{csv_text, data_error};
use mustlink_ledger::sync_folder_of;
use serde::Serialize;

/// A folder of files that are written whole.
#[derive(Debug)]
pub(crate) struct Folder {
    /// Its path.
    pub dir: PathBuf,
    /// The ending of files that are being written. Processes that share the folder have different ones.
    pub part: String,
}

impl Folder {
    /// Writes the file of this name.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<()> {
        write_whole(&self.dir.join(name), &self.part, content)
    }

    /// Content of a CSV of this name.
    pub fn table<T: Serialize>(&self, name: &str, lines: &[T]) -> Result<Vec<u8>> {
        csv_text(self.dir.join(name).display(), |out| {
            lines.iter().try_for_each(|line| out.serialize(line))
        })
    }
}

/// Converts an error of reading or writing at `place`.
pub fn io(place: &Path) -> impl Fn(std::io::Error) -> Error + '_ {
    move |e| data_error(place.display(), e.to_string())
}

/// Writes a file so that it is either whole or not there.
pub fn write_whole(path: &Path, part: &str, content: &[u8]) -> Result<()> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(part);
    let aside = PathBuf::from(aside);
    let write_aside = || {
        let mut file = File::create(&aside)?;
        file.write_all(content)?;
        file.sync_all()
    };
    let written = write_aside().map_err(io(&aside));
    let written = written.and_then(|()| fs::rename(&aside, path).map_err(io(path)));
    if written.is_err() {
        // Half a file would take room on a disk that may be full. Its own error would hide the first one.
        let _ = fs::remove_file(&aside);
    }
    written.and_then(|()| sync_folder_of(path))
}

/// Removes a file, if it exists.
///
/// # Errors
/// `Data` when it cannot be removed.
pub fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(io(path)(e)),
        _ => Ok(()),
    }
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
