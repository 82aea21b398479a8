//! File locks: taken at once or not at all, released by the system when their process ends.

use std::fs::{File, TryLockError};
use std::path::Path;

use mustlink_core::error::{Error, Result};

/// Mode of a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// No other process may hold it.
    Exclusive,
    /// Others who also share it.
    Shared,
}

/// Opens `path` for reading and writing, created if it is absent and never truncated, and tries to
/// lock it without waiting.
/// Gives the file and whether the lock was taken. If it was not, another process holds it, and the
/// file serves to read what that holder wrote there. The lock lasts until the file is dropped.
///
/// ```
/// use mustlink_ledger::lock::{Sharing, try_lock};
///
/// # let dir = tempfile::tempdir().unwrap();
/// let path = dir.path().join("run.lock");
/// let (_held, taken) = try_lock(&path, Sharing::Exclusive)?;
/// assert!(taken);
/// assert!(!try_lock(&path, Sharing::Shared)?.1);
/// # Ok::<(), mustlink_core::Error>(())
/// ```
///
/// # Errors
/// `Data` when the file cannot be opened, or where files cannot be locked.
pub fn try_lock(path: &Path, sharing: Sharing) -> Result<(File, bool)> {
    let fail = |e: std::io::Error| Error::Data {
        place: path.display().to_string(),
        message: e.to_string(),
    };
    let open = File::options().read(true).write(true).create(true).truncate(false).open(path);
    let file = open.map_err(fail)?;
    let tried = match sharing {
        Sharing::Exclusive => file.try_lock(),
        Sharing::Shared => file.try_lock_shared(),
    };
    match tried {
        Ok(()) => Ok((file, true)),
        Err(TryLockError::WouldBlock) => Ok((file, false)),
        Err(TryLockError::Error(e)) => Err(fail(e)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_lock_keeps_out_only_those_who_want_it_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        std::fs::write(&path, "who holds it").unwrap();
        let (first, taken) = try_lock(&path, Sharing::Shared).unwrap();
        assert!(taken && try_lock(&path, Sharing::Shared).unwrap().1);
        assert!(!try_lock(&path, Sharing::Exclusive).unwrap().1);
        drop(first);
        assert!(try_lock(&path, Sharing::Exclusive).unwrap().1);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "who holds it");
        assert!(try_lock(dir.path(), Sharing::Exclusive).is_err());
    }
}
