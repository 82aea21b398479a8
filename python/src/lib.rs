//! The part of the Python package that computes.
//!
//! Python checks shapes and holds the classes that people see; here arrays become data, configurations
//! become methods, and everything runs without the interpreter's lock. All arguments of a function except
//! arrays come as one JSON text, so that they are written down in one place.

mod callables;
mod catalogue;
mod cluster;
mod constraints;
mod data;
mod ensembles;
mod errors;
mod experiment;
mod interrupt;
mod job;
mod judged_pairs;
mod lent;
mod metrics;
mod model;
mod oracle;
mod python_clusterer;
mod python_metric;
mod python_selector;
mod session;
mod transforms;

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command line: `arguments` begin with the name of the program. Returns the exit status.
#[pyfunction]
fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| mustlink_cli::run(arguments))
}

/// The native module of `mustlink`.
#[pymodule]
mod _mustlink {
    #[pymodule_export]
    use super::callables::{check_laws, register};
    #[pymodule_export]
    use super::catalogue::{catalogue, check, read_method, version};
    #[pymodule_export]
    use super::cluster::{Found, cluster};
    #[pymodule_export]
    use super::command;
    #[pymodule_export]
    use super::constraints::{read_constraints, violated, write_constraints};
    #[pymodule_export]
    use super::data::{typing_error, unknown_class};
    #[pymodule_export]
    use super::ensembles::{consensus, generate, impute, item_consensus, select_k};
    #[pymodule_export]
    use super::experiment::{read_experiment, run_experiment};
    #[pymodule_export]
    use super::judged_pairs::cluster_pairs;
    #[pymodule_export]
    use super::metrics::score;
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::session::{Selected, Session, select};
    #[pymodule_export]
    use super::transforms::{FittedSteps, fit_steps};
}
