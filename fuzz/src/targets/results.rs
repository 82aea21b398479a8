//! The files that a run leaves behind.

use mustlink_experiments::{RunOptions, failures, results, slurm};

use super::harness::Harness;

pub(super) const WORDS: &[&str] = &[
    "\"format\":1",
    "\"format\":2",
    "\"base\":\".\"",
    "\"config\":",
    "\"checksum\":",
    "\"cells\":",
    "\"metrics\":",
    "\"rows\":",
    "\"identity\":",
    "\"ari\":",
    "\"point\":",
    "\"status\":\"ok\"",
    "\"failed\"",
    "\"error\":",
    "null",
    "\"points\":",
    "\n----\n",
    "iris",
    "identity",
    "\"name\":\"mustlink-0\"",
    "\"tasks\":[[\"",
    "]]",
];

/// The pieces between lines `----`.
pub(super) fn parts(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    const LINE: &[u8] = b"\n----\n";
    let mut rest = Some(bytes);
    std::iter::from_fn(move || {
        let piece = rest?;
        match piece.windows(LINE.len()).position(|w| w == LINE) {
            Some(at) => {
                rest = Some(&piece[at + LINE.len()..]);
                // The end of the line before belongs to the piece.
                Some(&piece[..=at])
            }
            None => rest.take(),
        }
    })
}

/// Between lines `----`: config.json, cells.csv, data.csv, and the file of the cell `one`.
pub(super) fn results() -> Harness {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path().to_path_buf();
    std::fs::create_dir(dir.join("cells")).expect("a folder");
    Box::new(move |bytes| {
        let _ = folder.path();
        // The key that starts programs: what chance makes of it is not run.
        if bytes.windows(7).any(|w| w == b"plugins") {
            return;
        }
        let mut parts = parts(bytes);
        for name in ["config.json", "cells.csv", "data.csv", "cells/one.jsonl"] {
            let part = parts.next().unwrap_or_default();
            std::fs::write(dir.join(name), part).expect("a file");
        }
        let _ = (results::finished(&dir), failures(&dir));
    })
}

/// The list of an array whose results are not there, so that none of its tasks is done.
pub(super) fn array() -> Harness {
    let folder = tempfile::tempdir().expect("a folder");
    let list = folder.path().join("current.json");
    let options = RunOptions::to(folder.path().join("out"));
    Box::new(move |bytes| {
        let _ = folder.path();
        std::fs::write(&list, bytes).expect("a file");
        let _ = (slurm::task(&list, 0, &options), slurm::task(&list, 1, &options));
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn pieces() {
        let all: Vec<&[u8]> = super::parts(b"a\n----\n\n----\nb").collect();
        assert_eq!(all, [&b"a\n"[..], b"\n", b"b"]);
        assert_eq!(super::parts(b"").count(), 1);
    }
}
