//! The files that a target is attacked with.

use std::path::{Path, PathBuf};

/// The kept inputs of a target: small real files, and inputs that once broke it.
#[derive(Debug, Clone, Default)]
pub struct Kept {
    /// Real files, by name.
    pub corpus: Vec<(PathBuf, Vec<u8>)>,
    /// Inputs that once broke it, by name.
    pub regressions: Vec<(PathBuf, Vec<u8>)>,
}

/// The files of the target of this name.
///
/// # Errors
/// Returns the errors of reading; a missing folder counts as empty.
pub fn kept(target: &str) -> std::io::Result<Kept> {
    Ok(Kept {
        corpus: files(&folder("corpora").join(target))?,
        regressions: files(&folder("regressions").join(target))?,
    })
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Sorted: the inputs made of them are the same everywhere.
fn files(folder: &Path) -> std::io::Result<Vec<(PathBuf, Vec<u8>)>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.sort();
    paths.into_iter().map(|path| std::fs::read(&path).map(|bytes| (path, bytes))).collect()
}
