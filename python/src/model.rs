//! The cluster of a new object.

use mustlink::clustering::Clustering;
use mustlink::prelude::{BaseClusterer, Data};
use mustlink::roles::SavedStep;
use mustlink::run::Steps;
use mustlink::{DataKind, Error, Result};
use mustlink_kernels::kmeans::nearest::centres::Centres;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

use crate::data::Matrix;
use crate::errors::raised;
use crate::interrupt::interruptible;

/// The centres of clusters with the transforms in front of them.
#[pyclass(frozen, module = "mustlink._mustlink")]
#[derive(Serialize, Deserialize)]
pub(crate) struct Model {
    steps: Vec<SavedStep>,
    centres: Centres,
}

impl Model {
    /// The model of a clustering by `clusterer` after `steps`. None if the method does not assign objects
    /// to centres, or if a transform cannot be kept.
    pub fn of(
        clusterer: &dyn BaseClusterer,
        steps: &Steps,
        data: &Data,
        clustering: &Clustering,
    ) -> Result<Option<Self>> {
        if !clusterer.properties().gives_centers || !data.kind().is_rows() {
            return Ok(None);
        }
        let Ok(steps) = SavedStep::of_all(&steps.0) else { return Ok(None) };
        let centres = Centres::of(data, &clustering.labels, clustering.k, &clustering.extras)?;
        Ok(Some(Model { steps, centres }))
    }

    fn assign(&self, mut data: Data) -> Result<Vec<i64>> {
        for (at, step) in self.steps.iter().enumerate() {
            let applied = step.restored().and_then(|fitted| fitted.apply(&data));
            data = applied.map_err(|e| e.at(&format!("transforms[{at}]")))?;
        }
        let mut labels = vec![0; data.n()];
        self.centres.assign(&data, &mut labels)?;
        Ok(labels.into_iter().map(i64::from).collect())
    }
}

#[pymethods]
impl Model {
    /// The cluster of every row of `x`: the one with the nearest centre, or the likeliest component of a mixture.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'py>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let data = x.borrowed(py, DataKind::Dense).map_err(|e| raised(py, &e))?;
        let labels = interruptible(py, threads, &Default::default(), || self.assign(data))?;
        Ok(labels.map_err(|e| raised(py, &e))?.into_pyarray(py))
    }

    /// The model as text.
    fn dumps(&self, py: Python<'_>) -> PyResult<String> {
        let fail = |e: serde_json::Error| Error::Usage(format!("the model cannot be kept: {e}"));
        serde_json::to_string(self).map_err(|e| raised(py, &fail(e)))
    }

    /// Reads a model that `dumps` wrote.
    #[staticmethod]
    fn loads(py: Python<'_>, text: &str) -> PyResult<Self> {
        let fail = |e: serde_json::Error| Error::Usage(format!("is not a model: {e}"));
        serde_json::from_str(text).map_err(|e| raised(py, &fail(e)))
    }

    fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<(Py<PyAny>, (String,))> {
        let loads = slf.get_type().getattr("loads")?.unbind();
        Ok((loads, (slf.get().dumps(slf.py())?,)))
    }
}
