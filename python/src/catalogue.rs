//! The catalogue of the plugins for Python.

use std::path::{Path, PathBuf};

use mustlink::config::{self, Accepted, Document, Node};
use mustlink::method::Method;
use mustlink::registry::{Catalogue, Descriptor};
use mustlink::{Error, Result, scripts};
use mustlink_cli::MethodFile;
use mustlink_experiments::from_here;
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::errors::raised;

fn described(d: &'static Descriptor) -> Result<Value> {
    let default = config::resolve_plugin(&d.default_config())?;
    let mut options = d.options();
    options.sort_by_key(|option| option.name);
    let options = options.into_iter().map(|option| {
        json!({
            "name": option.name,
            "accepts": Accepted::from(*option).expected(),
            "default": default.get(option.name),
            "description": option.doc.trim().replace('\n', " "),
        })
    });
    Ok(json!({
        "name": d.tag,
        "aliases": d.aliases,
        "role": d.role,
        "key": d.role.key(),
        "type": d.type_name,
        "summary": d.summary(),
        "documentation": d.documentation(),
        "options": options.collect::<Vec<_>>(),
        "properties": d.facts(),
        "references": d.references,
        "version": d.version,
    }))
}

/// All plugins with their options, as JSON.
#[pyfunction]
pub(crate) fn catalogue(py: Python<'_>) -> PyResult<String> {
    let all = Catalogue::get()
        .and_then(|c| c.all().iter().map(|d| described(d)).collect::<Result<Vec<_>>>());
    all.map(|all| Value::from(all).to_string()).map_err(|e| raised(py, &e))
}

/// The method of a configuration.
pub(crate) fn method(config: &Value) -> Result<Method> {
    config::build(&Node::synthetic(config), "")
}

/// Checks a method given as JSON and returns it with every default written out.
#[pyfunction]
pub(crate) fn check(py: Python<'_>, config: &str) -> PyResult<String> {
    let wrong = |e: serde_json::Error| Error::Usage(format!("is not a configuration: {e}"));
    let checked = serde_json::from_str::<Value>(config).map_err(wrong).and_then(|config| {
        let method = method(&config)?;
        serde_json::to_value(method).map_err(wrong)
    });
    checked.map(|value| value.to_string()).map_err(|e| raised(py, &e))
}

/// A method file as JSON, checked. Its plugins in other languages are known from then on; relative paths start at the
/// working directory.
#[pyfunction]
pub(crate) fn read_method(py: Python<'_>, file: PathBuf) -> PyResult<String> {
    let read = || {
        let mut document = Document::read(&file)?;
        let mut complaints = Vec::new();
        let folder = file.parent().unwrap_or(Path::new(""));
        scripts::declare(document.root(), folder, &mut complaints);
        config::validate::<MethodFile>(
            document.root(),
            "",
            config::Check::default(),
            &mut complaints,
        );
        if complaints.is_empty() {
            from_here(document.root_mut(), folder, Path::new(""));
            Ok(document.root().to_value().to_string())
        } else {
            Err(Error::Config(complaints))
        }
    };
    py.detach(read).map_err(|e| raised(py, &e))
}

/// The version of the package.
#[pyfunction]
pub(crate) fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
