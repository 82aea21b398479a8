//! One clustering, and what is known of it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use mustlink::constraints::Constraints;
use mustlink::run::{Run, Transformed};
use mustlink::selection::{Counts, Selection};
use mustlink::{AutoOr, DataKind, Error, Result};
use mustlink_datasets::FeatureWeights;
use mustlink_kernels::distance::points::{Distortion, DistortionOption};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;

use crate::data::{Matrix, Pairs, classes, constraints, kind, table};
use crate::errors::{of_given, read, with_text};
use crate::interrupt::interruptible;
use crate::job::{Broken, Job, Known, Request};
use crate::model::Model;
use crate::oracle::selection;

/// A clustering with the record of its run.
#[pyclass(frozen, module = "mustlink._mustlink")]
pub(crate) struct Found {
    ended: Ended,
    model: Option<Py<Model>>,
    core_seconds: f64,
}

/// Result of a job that has ended.
pub(crate) struct Ended {
    pub labels: Vec<i64>,
    pub run: Run,
    pub weights: Option<FeatureWeights>,
    pub model: Option<Model>,
    pub constraints: Constraints,
    /// Constraints that the labels break.
    pub broken: Vec<Broken>,
    pub counts: Option<Counts>,
    pub warnings: Vec<String>,
    /// Kind of the data that were clustered.
    pub kind: DataKind,
}

impl Found {
    pub fn new(py: Python<'_>, mut ended: Ended) -> PyResult<Self> {
        let model = ended.model.take().map(|model| Py::new(py, model)).transpose()?;
        let core_seconds = ended.run.seconds;
        Ok(Found { ended, model, core_seconds })
    }
}

/// Clusters after a selection, if there was one, and keeps the parts of the result that Python shows.
pub(crate) fn conclude(
    job: &Job,
    seen: &Transformed,
    selection: Option<&Selection>,
) -> Result<Ended> {
    let clustered = job.cluster(seen, selection)?;
    let clustering = &clustered.run.clustering;
    let model = match &job.method.clusterer {
        Some(clusterer) => {
            Model::of(&**clusterer, &clustered.steps, &clustered.input.problem.data, clustering)?
        }
        None => None,
    };
    let constraints = job.of_rows(&clustered.constraints)?;
    let broken = job.broken(&clustered);
    let label = |l: Option<u32>| l.map_or(-1, i64::from);
    Ok(Ended {
        labels: job.labels(&clustering.labels).into_iter().map(label).collect(),
        weights: clustered.weights,
        model,
        constraints,
        broken,
        counts: selection.map(|s| s.counts(s.asked())),
        warnings: job.warnings(),
        kind: clustered.input.problem.data.kind(),
        run: clustered.run,
    })
}

/// Reads a request.
pub(crate) fn request(py: Python<'_>, text: &str) -> PyResult<Request> {
    read(py, text, "request")
}

/// Knowledge in addition to the data, from arrays.
pub(crate) fn known(
    n: usize,
    pairs: Option<&Pairs<'_>>,
    y: Option<&PyReadonlyArray1<'_, i64>>,
    y_true: Option<&PyReadonlyArray1<'_, i64>>,
) -> Result<Known> {
    Ok(Known { constraints: constraints(pairs, n)?, known: classes(y), classes: classes(y_true) })
}

/// Clusters the rows of a matrix as configured in `text`; `x` may contain the weights of the rows. `pairs` are
/// constraints, `y` classes that the method may use, `y_true` classes that only an oracle uses, `oracle` a callable
/// that answers.
#[pyfunction]
#[pyo3(signature = (text, x, pairs=None, y=None, y_true=None, oracle=None))]
pub(crate) fn cluster<'py>(
    py: Python<'py>,
    text: &str,
    x: (Matrix<'py>, Option<PyReadonlyArray1<'py, f64>>),
    pairs: Option<Pairs<'py>>,
    y: Option<PyReadonlyArray1<'py, i64>>,
    y_true: Option<PyReadonlyArray1<'py, i64>>,
    oracle: Option<Py<PyAny>>,
) -> PyResult<Found> {
    let request = request(py, text)?;
    let (x, weights) = x;
    let id = |i: usize| match &request.ids {
        Some(ids) => ids.get(i).cloned().unwrap_or_else(|| i.to_string()),
        None => i.to_string(),
    };
    let of_rows = |e: Error| with_text(py, &e, e.render(&id));
    let of_data = |e: Error| of_given(py, &e, e.render(&id), &request.features);
    let data =
        kind(request.kind.as_deref()).and_then(|kind| x.borrowed(py, kind)).map_err(of_data)?;
    drop(x);
    let data = match &weights {
        Some(weights) => data.with_weights(weights.as_array().to_vec()).map_err(of_rows)?,
        None => data,
    };
    let known = known(data.n(), pairs.as_ref(), y.as_ref(), y_true.as_ref()).map_err(of_rows)?;
    let flag: Arc<AtomicBool> = Arc::default();
    let (start, threads) = (Instant::now(), request.threads);
    let job = interruptible(py, threads, &flag, || Job::new(&request, data, known, &flag))?;
    let job = job.map_err(of_rows)?;
    let raised = |e: Error| job.raised(py, &e);
    let seen = interruptible(py, threads, &flag, || job.admitted())?.map_err(raised)?;
    let selection = selection(py, &job, &seen, oracle.as_ref(), threads, &flag)?;
    let ended = interruptible(py, threads, &flag, || conclude(&job, &seen, selection.as_ref()))?;
    let core_seconds = start.elapsed().as_secs_f64();
    Ok(Found { core_seconds, ..Found::new(py, ended.map_err(raised)?)? })
}

/// Names of features, and the weight of each.
type Weights<'py> = (Vec<String>, Bound<'py, PyArray2<f64>>);

#[pymethods]
impl Found {
    /// One label per row, −1 for noise and for rows that a transform dropped.
    #[getter]
    fn labels<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        self.ended.labels.to_pyarray(py)
    }

    /// Number of clusters, empty ones included.
    #[getter]
    fn k(&self) -> usize {
        self.ended.run.clustering.k
    }

    /// Value of the method's objective.
    #[getter]
    fn objective(&self) -> Option<f64> {
        self.ended.run.clustering.objective
    }

    /// The objective after every sweep.
    #[getter]
    fn history<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let history: Vec<f64> =
            self.ended.run.clustering.history.iter().map(|sweep| sweep.objective).collect();
        history.to_pyarray(py)
    }

    /// Status at the end of the run.
    #[getter]
    fn status(&self) -> &'static str {
        self.ended.run.clustering.status.name()
    }

    /// Violated must-links and cannot-links.
    #[getter]
    fn violations(&self) -> (u64, u64) {
        (self.ended.run.violations.must, self.ended.run.violations.cannot)
    }

    /// Number of pairs that the clusterer got as constraints.
    #[getter]
    fn n_constraints(&self) -> usize {
        self.ended.constraints.len()
    }

    /// The violated constraints one by one: two rows, the type, the weight and the source.
    #[getter]
    fn broken(&self) -> Vec<Broken> {
        self.ended.broken.clone()
    }

    /// The distortion that "auto" is on the data.
    #[getter]
    fn distortion(&self) -> &'static str {
        AutoOr::<Distortion>::Auto.on(self.ended.kind).name()
    }

    /// Centres, a row per cluster.
    #[getter]
    fn centers<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray2<f64>>> {
        self.ended.run.clustering.extras.centers.as_ref().map(|x| x.to_pyarray(py))
    }

    /// Memberships, a row per object that was clustered.
    #[getter]
    fn memberships<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray2<f64>>> {
        self.ended.run.clustering.extras.memberships.as_ref().map(|x| x.to_pyarray(py))
    }

    /// Weights of features: their names, and a row per cluster or one for all.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Option<Weights<'py>>> {
        let Some(weights) = &self.ended.weights else { return Ok(None) };
        let rows = PyArray2::from_vec2(py, &weights.rows)?;
        Ok(Some((weights.features.clone(), rows)))
    }

    /// Named numbers of the method.
    #[getter]
    fn diagnostics(&self) -> BTreeMap<String, f64> {
        self.ended.run.clustering.extras.diagnostics.clone()
    }

    /// Methods that a method such as `auto` tried: name, k, score, weight, outcome, seconds.
    #[getter]
    fn tried(&self) -> Vec<(String, usize, Option<f64>, f64, String, f64)> {
        let all = self.ended.run.clustering.extras.tried.iter();
        all.map(|t| (t.name.clone(), t.k, t.score, t.weight, t.outcome.clone(), t.seconds))
            .collect()
    }

    /// The constraints that the clusterer got.
    #[getter]
    fn constraints<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        table(py, &self.ended.constraints)
    }

    /// Number of questions, and of must-links and cannot-links among the answers.
    #[getter]
    fn queries(&self) -> Option<(usize, usize, usize)> {
        self.ended.counts.as_ref().map(|c| (c.queries, c.must, c.cannot))
    }

    /// Model that puts new objects into the clusters, if the method has one.
    #[getter]
    fn model(&self, py: Python<'_>) -> Option<Py<Model>> {
        self.model.as_ref().map(|model| model.clone_ref(py))
    }

    /// Seconds that the method took.
    #[getter]
    fn seconds(&self) -> f64 {
        self.ended.run.seconds
    }

    /// Seconds from the data to the result, including the time to draw seeds from the data.
    #[getter]
    fn core_seconds(&self) -> f64 {
        self.core_seconds
    }

    /// Warnings of the run.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.ended.warnings.clone()
    }
}
