//! Functions of Python that are plugins for the life of the process.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use mustlink::config::tree::own_name;
use mustlink::config::{self, Node};
use mustlink::constraints::Constraints;
use mustlink::contract::{Law, Lawful, laws_for, shrink};
use mustlink::prelude::{BaseClusterer, Data, Described, Metric, QuerySelector};
use mustlink::registry::Catalogue;
use mustlink::{DataKind, Error, Problem, Result, Row};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::data::table;
use crate::errors::{keep, raised, read};
use crate::interrupt::interruptible;

/// Properties that a function declares.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Facts {
    pub accepts: Vec<DataKind>,
    pub needs_k: bool,
    pub reads_constraints: bool,
    pub hard_must: bool,
    pub hard_cannot: bool,
    pub soft_weights: bool,
    pub skips_entailed: bool,
    pub higher_is_better: bool,
    pub min: Option<f64>,
    pub max: Option<f64>,
    /// Laws that cannot hold for it, each with the reason.
    pub waives: BTreeMap<String, String>,
    /// True if it has a parameter for the objects that may be asked about.
    pub takes_eligible: bool,
}

impl Default for Facts {
    fn default() -> Self {
        Facts {
            accepts: vec![DataKind::Dense],
            needs_k: true,
            reads_constraints: false,
            hard_must: false,
            hard_cannot: false,
            soft_weights: false,
            skips_entailed: false,
            higher_is_better: true,
            min: None,
            max: None,
            waives: BTreeMap::new(),
            takes_eligible: false,
        }
    }
}

/// A function that is a plugin.
pub(crate) struct Callable {
    pub name: String,
    pub function: Py<PyAny>,
    pub facts: Facts,
}

static ALL: Mutex<BTreeMap<String, Arc<Callable>>> = Mutex::new(BTreeMap::new());

impl Callable {
    /// The function with this name.
    pub fn find(name: &str) -> Option<Arc<Callable>> {
        ALL.lock().unwrap_or_else(|e| e.into_inner()).get(name).cloned()
    }

    /// The function with this name, or an error.
    pub fn named(name: &str) -> Result<Arc<Callable>> {
        let legal = "the name of a function that is registered in this process";
        Callable::find(name).ok_or_else(|| Error::bad_param("name", format!("\"{name}\""), legal))
    }
}

/// Runs `work` with the interpreter; an exception becomes an error of the plugin.
pub(crate) fn called<T>(
    callable: &Callable,
    work: impl FnOnce(Python<'_>) -> PyResult<T>,
) -> Result<T> {
    Python::attach(|py| {
        work(py).map_err(|e| {
            let (tag, message) = (callable.name.clone(), e.to_string());
            keep(&tag, &message, e);
            Error::Plugin { tag, message }
        })
    })
}

/// The arguments of a function: the objects, k, the constraints, a seed, for each object if it may be asked about, and
/// the options as text.
pub(crate) fn told<'py>(
    py: Python<'py>,
    problem: &Problem,
    seed: u64,
    options: &BTreeMap<String, Value>,
) -> PyResult<Bound<'py, PyTuple>> {
    let n = problem.n();
    let eligible: Vec<bool> = (0..n).map(|i| problem.is_eligible(i)).collect();
    let x = matrix_of(py, &problem.data)?;
    let constraints = constraints_of(py, &problem.constraints, n)?;
    let options = json!(options).to_string();
    (x, problem.k, constraints, seed, eligible.into_pyarray(py), options).into_pyobject(py)
}

/// Data in the form for Python: a matrix, the parts of a sparse one, or the numbers and words of a table.
pub(crate) fn matrix_of<'py>(py: Python<'py>, data: &Data) -> PyResult<Bound<'py, PyAny>> {
    if data.kind() == DataKind::Csr {
        // Row by row: of some of the objects there is no whole matrix.
        let (mut offsets, mut columns, mut values) = (vec![0_i64], Vec::new(), Vec::new());
        for i in 0..data.n() {
            if let Row::Sparse(own, entries) = data.row(i) {
                columns.extend_from_slice(own);
                values.extend_from_slice(entries);
            }
            offsets.push(columns.len() as i64);
        }
        let parts =
            (offsets.into_pyarray(py), columns.into_pyarray(py), values.into_pyarray(py), data.d());
        return Ok(parts.into_pyobject(py)?.into_any());
    }
    let rows = data.to_dense().into_pyarray(py);
    let lists = (0..data.d()).map(|at| data.words(at).map(|words| words.to_vec()));
    let lists: Vec<Option<Vec<String>>> = lists.collect();
    if lists.iter().all(Option::is_none) {
        return Ok(rows.into_any());
    }
    Ok((rows, lists).into_pyobject(py)?.into_any())
}

/// Constraints in the form for Python.
fn constraints_of<'py>(
    py: Python<'py>,
    all: &Constraints,
    n: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let class = py.import("mustlink.constraints")?.getattr("Constraints")?;
    class.call_method1("_of", (table(py, all)?, n, py.None()))
}

/// Registers `function` under `name`, and replaces a function with the same name.
#[pyfunction]
pub(crate) fn register(
    py: Python<'_>,
    name: String,
    facts: &str,
    function: Py<PyAny>,
) -> PyResult<()> {
    let wrong = |message: String| raised(py, &Error::Usage(message));
    let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(legal) {
        return Err(wrong(format!("a name must be snake_case, such as my_method, got \"{name}\"")));
    }
    let taken = Catalogue::get().map_err(|e| raised(py, &e))?.find(&name);
    if let Some(d) = taken {
        return Err(wrong(format!("the name \"{name}\" is taken by a {}", d.role.name())));
    }
    let facts: Facts =
        serde_json::from_str(facts).map_err(|e| wrong(format!("{name}: its facts: {e}")))?;
    let callable = Arc::new(Callable { name: name.clone(), function, facts });
    ALL.lock().unwrap_or_else(|e| e.into_inner()).insert(name, callable);
    Ok(())
}

/// For each law its name, a violation if there is one, and the reason why the plugin is excused from it.
type Verdicts = Vec<(String, Option<String>, Option<String>)>;

/// Checks every law of its role on a plugin, which is given by its configuration.
#[pyfunction]
pub(crate) fn check_laws(py: Python<'_>, role: &str, config: &str) -> PyResult<Verdicts> {
    let of = |e: Error| raised(py, &e);
    let config: Value = read(py, config, "configuration")?;
    let flag = AtomicBool::new(false);
    let done = interruptible(py, None, &flag, || match role {
        "base_clusterer" => verdicts::<dyn BaseClusterer>(&config, &flag),
        "query_selector" => verdicts::<dyn QuerySelector>(&config, &flag),
        "metric" => verdicts::<dyn Metric>(&config, &flag),
        other => Err(Error::Usage(format!(
            "role: must be base_clusterer, query_selector or metric, got {other}"
        ))),
    })?;
    done.map_err(of)
}

fn verdicts<R: Lawful + ?Sized>(config: &Value, flag: &AtomicBool) -> Result<Verdicts>
where
    Box<R>: DeserializeOwned + Described,
{
    let plugin: Box<R> = config::build(&Node::synthetic(config), "")?;
    // What is broken is shown on the smallest problem that breaks it.
    let tried = |law: &Law<R>| {
        if flag.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        let broken = shrink(law, &*plugin).map(|small| small.to_string());
        Ok((law.name.to_string(), broken, waived(config, law.name)))
    };
    laws_for(&*plugin).iter().map(tried).collect()
}

/// Reason why a plugin is excused from a law, if it is.
fn waived(config: &Value, law: &str) -> Option<String> {
    if let Some(callable) = own_name(config).and_then(Callable::find) {
        return callable.facts.waives.get(law).cloned();
    }
    let waivers = config::tree::plugin(config)?.waivers.iter();
    waivers.filter(|(name, _)| *name == law).map(|(_, reason)| reason.to_string()).next()
}
