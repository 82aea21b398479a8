//! Experiment files and method files, and how to distinguish them.

use std::path::Path;

use mustlink::config::{self, Document};
use mustlink::error::Diagnostic;
use mustlink::kind::{self, Described};
use mustlink::{Error, scripts};
use mustlink_datasets::{data_error, shell_word};
use mustlink_experiments::Experiment;
use serde_json::Value;

use crate::failure::Failure;
use crate::method_file::{ConsensusFile, MethodFile};
use crate::trust;

/// The content of a file.
pub(crate) enum File {
    Experiment(Box<Experiment>),
    /// A method, or what combines partitions.
    Method {
        document: Document,
        /// Every default written out.
        resolved: Value,
        /// For people.
        kind: &'static str,
    },
}

/// Reads a file, and makes the plugins that it names known.
pub(crate) fn document(file: &Path) -> mustlink::Result<Document> {
    let document = Document::read(file)?;
    declare(&document, file.parent().unwrap_or(Path::new("")))?;
    Ok(document)
}

/// Makes the plugins known that a document names.
fn declare(document: &Document, base: &Path) -> mustlink::Result<()> {
    let mut out = Vec::new();
    scripts::declare(document.root(), base, &mut out);
    if out.is_empty() { Ok(()) } else { Err(Error::Config(out)) }
}

/// Makes the plugins known that `--set plugins=…` names; relative paths start at `base`.
pub(crate) fn declare_set(
    document: Option<&Document>,
    sets: &[String],
    base: &Path,
) -> mustlink::Result<()> {
    let mut named = sets.iter().filter(|set| set.trim_start().starts_with("plugins")).peekable();
    if named.peek().is_none() {
        return Ok(());
    }
    let mut document = document.cloned().map_or_else(|| Document::parse("--set", ""), Ok)?;
    named.try_for_each(|set| document.set(set))?;
    declare(&document, base)
}

/// Registers the plugins of the file `mustlink.toml` in the working directory, if there is one. Returns the
/// diagnostics that a command that starts no plugins can continue with.
pub(crate) fn own_plugins(starts: bool) -> Result<Vec<Diagnostic>, Failure> {
    let (file, mut out) = (Path::new("mustlink.toml"), Vec::new());
    if !file.is_file() {
        return Ok(out);
    }
    let document = Document::read(file)?;
    let root = document.root();
    config::validate::<OwnPlugins>(root, "", config::Check::default(), &mut out);
    if out.is_empty() {
        if starts {
            trust::require_folder(&scripts::commands(root, Path::new("")))?;
        }
        scripts::declare(root, Path::new(""), &mut out);
        if !starts {
            return Ok(out);
        }
    }
    if out.is_empty() { Ok(out) } else { Err(Error::Config(out).into()) }
}

/// The content of `mustlink.toml`.
#[derive(serde::Deserialize, Described)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)] // Its schema is all there is to it.
struct OwnPlugins {
    /// Plugins in other languages.
    #[serde(default)]
    plugins: Vec<scripts::Source>,
}

/// No method file has one of these.
const EXPERIMENT: [&str; 3] = ["experiment", "dataset", "method"];

/// Reads a file of either kind, checked.
pub(crate) fn read(file: &Path, sets: &[String]) -> Result<File, Failure> {
    let mut document = Document::read(file)?;
    if EXPERIMENT.iter().any(|s| document.root().get(s).is_some()) {
        return Ok(File::Experiment(Box::new(Experiment::load(file, sets)?)));
    }
    self::document(file)?;
    declare_set(Some(&document), sets, file.parent().unwrap_or(Path::new("")))?;
    for set in sets {
        document.set(set)?;
    }
    let root = document.root();
    if root.to_value().as_object().is_some_and(|table| table.is_empty()) {
        let message = "is empty; mustlink init writes a file to start from";
        return Err(data_error(file.display(), message).into());
    }
    let (resolved, kind) = if root.get("consensus").is_some() {
        config::build::<ConsensusFile>(root, "")?;
        (config::resolve::<ConsensusFile>(root)?, "a method of consensus")
    } else {
        config::build::<MethodFile>(root, "")?;
        let named = ["clusterer", "selector"].iter().any(|slot| root.get(slot).is_some());
        let kind =
            if named { "a method" } else { "a part of a method, without a clusterer or selector" };
        (config::resolve::<MethodFile>(root)?, kind)
    };
    Ok(File::Method { document, resolved, kind })
}

/// Reads a method file; of an experiment file it says what that is, and what takes it.
pub(crate) fn method(file: &Path) -> Result<Document, Failure> {
    let document = document(file)?;
    if EXPERIMENT.iter().any(|s| document.root().get(s).is_some()) {
        let (word, file) = (shell_word(&file.display().to_string()), file.display());
        return Err(Failure::usage(format!(
            "{file}: this is an experiment file; mustlink run {word} runs it. --method takes a method file: the \
             keys of one [[method]], without its id"
        )));
    }
    Ok(document)
}

/// Rejects a method file where an experiment file is needed.
pub(crate) fn reject_method(file: &Path) -> Result<(), Failure> {
    let document = Document::read(file)?;
    let has = |keys: &[&str]| keys.iter().any(|k| document.root().get(k).is_some());
    if !has(&EXPERIMENT) && has(&["clusterer", "selector", "oracle", "transforms", "view", "k"]) {
        let (word, file) = (shell_word(&file.display().to_string()), file.display());
        return Err(Failure::usage(format!(
            "{file}: this is a method file; mustlink cluster --data DATA --method {word} runs it, and an \
             experiment takes it as [[method]] id = \"mine\", file = \"{file}\""
        )));
    }
    Ok(())
}
