//! The sources of mustlink on which a new crate depends.

use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// The sources that a new crate depends on.
#[derive(Debug, PartialEq)]
pub(super) enum Source {
    /// The sources in this folder.
    Checkout(PathBuf),
    /// The published version of this program.
    Published,
}

impl Source {
    /// The folder that the user names, else the one around the working directory, else the one this
    /// program was built from.
    pub fn find(named: Option<&Path>) -> Result<Source, Failure> {
        let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let here = std::env::current_dir().unwrap_or_default();
        Source::among(named, &here, Some(&built), mustlink::SOURCES.is_empty())
    }

    /// The checkout to write into: the one that the user names, otherwise the one around the working directory. It is
    /// never the one that this program was built from, in which no user looks for a new file.
    pub fn around(named: Option<&Path>) -> Result<PathBuf, Failure> {
        let here = std::env::current_dir().unwrap_or_default();
        match Source::among(named, &here, None, true)? {
            Source::Checkout(folder) => Ok(folder),
            Source::Published => Err(Failure::usage(
                "--in-tree: the working directory is not in a checkout of mustlink; name its folder: --path DIR",
            )),
        }
    }

    fn among(
        named: Option<&Path>,
        here: &Path,
        built: Option<&Path>,
        released: bool,
    ) -> Result<Source, Failure> {
        if let Some(path) = named {
            let wrong = |why: &str| {
                let shown = path.display();
                Failure::usage(format!("--path: must be a checkout of mustlink, {shown} {why}"))
            };
            let found = path.canonicalize().map_err(|_| wrong("is not there"))?;
            return if is_checkout(&found) {
                Ok(Source::Checkout(found))
            } else {
                Err(wrong("holds no cli/Cargo.toml"))
            };
        }
        let mut candidates = here.ancestors().chain(built);
        match candidates.find(|folder| is_checkout(folder)).map(Path::canonicalize) {
            Some(Ok(found)) => Ok(Source::Checkout(found)),
            _ if released => Ok(Source::Published),
            _ => Err(Failure::usage(
                "--path: the working directory is not in a checkout of mustlink, and the one that this \
                 program was built from is gone; name the folder of its sources: --path DIR",
            )),
        }
    }
}

fn is_checkout(folder: &Path) -> bool {
    ["cli/Cargo.toml", "core/Cargo.toml", "src/lib.rs"].iter().all(|f| folder.join(f).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkout_is_found_or_asked_for() {
        let nowhere = tempfile::tempdir().expect("a folder");
        let nowhere = nowhere.path();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("it is");
        let found = |here: &Path, built: &Path| Source::among(None, here, Some(built), false);
        let expected = Source::Checkout(root.clone());
        assert_eq!(found(&root.join("book/src"), nowhere).ok(), Some(expected));
        assert_eq!(found(nowhere, &root).ok(), Some(Source::Checkout(root)));
        assert!(found(nowhere, nowhere).is_err());
        let published = Source::among(None, nowhere, Some(nowhere), true);
        assert_eq!(published.ok(), Some(Source::Published));
    }
}
