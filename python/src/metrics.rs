//! Scores of clusterings.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use mustlink::config::{self, Node};
use mustlink::ensemble::Ensemble;
use mustlink::kind::{self, Described};
use mustlink::prelude::Metric;
use mustlink::random::SeedPath;
use mustlink::roles::MetricInput;
use mustlink::run::guarded;
use mustlink::{Context, Error, Result};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::Value;

use crate::data::{Matrix, Pairs, constraints, kind};
use crate::ensembles::members;
use crate::errors::{raised, read};
use crate::interrupt::interruptible;

/// Position of a metric in the configuration.
#[derive(Deserialize, Described)]
#[serde(deny_unknown_fields)]
struct Scoring {
    /// Metric that scores.
    metric: Box<dyn Metric>,
}

/// Inputs of a metric in addition to labels and classes.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Inputs<'py> {
    x: Option<Matrix<'py>>,
    kind: Option<String>,
    constraints: Option<Pairs<'py>>,
    heldout: Option<Pairs<'py>>,
    unconstrained: Option<PyReadonlyArray1<'py, i64>>,
    partitions: Option<PyReadonlyArray2<'py, i64>>,
}

/// The score of `labels` with the metric `config`; nothing if it is not defined. −1 among `classes` is
/// an unknown class. −1 among `labels`, or among those without constraints, is an object that does not count.
#[pyfunction]
pub(crate) fn score<'py>(
    py: Python<'py>,
    config: &str,
    labels: PyReadonlyArray1<'py, i64>,
    classes: Option<PyReadonlyArray1<'py, i64>>,
    inputs: Inputs<'py>,
) -> PyResult<Option<f64>> {
    let of = |e: Error| raised(py, &e);
    let config: Value = read(py, config, "configuration")?;
    let metric = config::build::<Scoring>(&Node::synthetic(&config), "").map_err(of)?.metric;
    let mut scope: Vec<bool> = labels.as_array().iter().map(|&l| l >= 0).collect();
    if let Some(others) = &inputs.unconstrained {
        scope.iter_mut().zip(others.as_array()).for_each(|(counts, &l)| *counts &= l >= 0);
    }
    let labels = numbers(&labels);
    let n = labels.len();
    let truth: Option<Vec<Option<u32>>> =
        classes.map(|c| c.as_array().iter().map(|&c| u32::try_from(c).ok()).collect());
    let data = match &inputs.x {
        Some(x) => Some(x.borrowed(py, kind(inputs.kind.as_deref()).map_err(of)?).map_err(of)?),
        None => None,
    };
    let pairs = |given: &Option<Pairs<'py>>| -> Result<_> {
        given.as_ref().map(|given| constraints(Some(given), n)).transpose()
    };
    let (known, heldout) =
        (pairs(&inputs.constraints).map_err(of)?, pairs(&inputs.heldout).map_err(of)?);
    let unconstrained = inputs.unconstrained.as_ref().map(numbers);
    let ensemble = match &inputs.partitions {
        Some(rows) => Some(Ensemble::new(n, members(rows)).map_err(of)?),
        None => None,
    };
    let flag: Arc<AtomicBool> = Arc::default();
    let ctx = Context::builder(SeedPath::new(0)).cancel(flag.clone()).build();
    let input = MetricInput {
        labels: &labels,
        truth: truth.as_deref(),
        scope: scope.contains(&false).then_some(&scope[..]),
        data: data.as_ref(),
        constraints: known.as_ref(),
        heldout: heldout.as_ref(),
        unconstrained: unconstrained.as_deref(),
        exclude: None,
        ensemble: ensemble.as_ref(),
        ctx: Some(&ctx),
    };
    needed(&*metric, &input).map_err(of)?;
    let tag = metric.typetag_name();
    interruptible(py, None, &flag, || guarded(tag, || metric.score(&input)))?.map_err(of)
}

fn numbers(labels: &PyReadonlyArray1<'_, i64>) -> Vec<u32> {
    labels.as_array().iter().map(|&l| u32::try_from(l).unwrap_or_default()).collect()
}

/// Returns an error if an input that the metric needs is missing.
fn needed(metric: &dyn Metric, input: &MetricInput) -> Result<()> {
    let facts = metric.properties();
    let needs = [
        (facts.needs_truth && input.truth.is_none(), "labels_true"),
        (facts.needs_data && input.data.is_none(), "X"),
        (facts.needs_constraints && input.constraints.is_none(), "constraints"),
        (facts.needs_heldout && input.heldout.is_none(), "heldout"),
        (facts.needs_unconstrained && input.unconstrained.is_none(), "unconstrained"),
        (facts.needs_ensemble && input.ensemble.is_none(), "partitions"),
    ];
    match needs.into_iter().find(|(missing, _)| *missing) {
        Some((_, what)) => {
            Err(Error::bad_param(what, "nothing", format!("given for {}", metric.typetag_name())))
        }
        None => Ok(()),
    }
}
