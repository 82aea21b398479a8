//! Steps that change data, fitted to some rows and applied to others.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use mustlink::datasets::Dataset;
use mustlink::features::Features;
use mustlink::prelude::{Data, Transform};
use mustlink::roles::{Fitted, SavedStep};
use mustlink::run;
use mustlink::{Context, DataKind, Error, Problem, Result};
use mustlink_experiments::MOST_OF_CLASSES;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

use crate::callables::matrix_of;
use crate::catalogue;
use crate::cluster::request;
use crate::data::{Matrix, Pairs, classes, constraints};
use crate::errors::{of_given, raised};
use crate::interrupt::interruptible;

/// Fitted transforms, with the number of features after them.
#[derive(Serialize, Deserialize)]
struct Kept {
    steps: Vec<SavedStep>,
    width: usize,
}

/// Fitted transforms, one after the other.
#[pyclass(frozen, module = "mustlink._mustlink")]
pub(crate) struct FittedSteps {
    steps: Vec<(Box<dyn Transform>, Arc<dyn Fitted>)>,
    /// Number of features after them.
    width: usize,
    warnings: Vec<String>,
}

/// Fits the transforms of a request to the rows of `x`.
#[pyfunction]
#[pyo3(signature = (text, x, pairs=None, y=None))]
pub(crate) fn fit_steps<'py>(
    py: Python<'py>,
    text: &str,
    x: Matrix<'py>,
    pairs: Option<Pairs<'py>>,
    y: Option<PyReadonlyArray1<'py, i64>>,
) -> PyResult<FittedSteps> {
    let request = request(py, text)?;
    let of = |e: Error| raised(py, &e);
    let of_data = |e: Error| of_given(py, &e, e.to_string(), &request.features);
    let data = x.borrowed(py, DataKind::Dense).map_err(of_data)?;
    let given = constraints(pairs.as_ref(), data.n()).map_err(of)?;
    let known = classes(y.as_ref());
    let method = catalogue::method(&request.method).map_err(of)?;
    if let Some(rows) = method.transforms.iter().find(|t| t.properties().changes_rows) {
        let tag = rows.typetag_name();
        return Err(of(Error::Usage(format!(
            "{tag} changes rows, which a transformer cannot; put it among the transforms of a Method"
        ))));
    }
    drop((x, pairs));
    let flag: Arc<AtomicBool> = Arc::default();
    let made = interruptible(py, request.threads, &flag, || -> Result<_> {
        let set = Dataset { known, ..Dataset::new("data", data) };
        let given = given.union(&set.known_constraints(MOST_OF_CLASSES)?, set.n())?;
        let root = set.seed_path(request.seed, &set.name);
        let ctx = Context::builder(root.index(0).index(0))
            .cancel(flag.clone())
            .memory_limit(request.memory_limit.or_else(mustlink_cli::default_limit))
            .build();
        let problem = Problem { k: request.k, ..Problem::new(set.data).with_constraints(given) };
        let made = run::transform(&method.transforms, &problem, &ctx)
            .map_err(|e| e.with_feature_names(&request.features))?;
        let width = made.problem.d();
        Ok(FittedSteps { steps: made.steps.0, width, warnings: ctx.warnings() })
    })?;
    made.map_err(of)
}

impl FittedSteps {
    fn applied(&self, mut data: Data) -> Result<Data> {
        for (at, (_, fitted)) in self.steps.iter().enumerate() {
            data = fitted.apply(&data).map_err(|e| e.at(&format!("transforms[{at}]")))?;
        }
        Ok(data)
    }
}

#[pymethods]
impl FittedSteps {
    /// The rows of `x` after the steps: a matrix, or the parts of a sparse one.
    fn apply<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'py>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let of = |e: Error| raised(py, &e);
        let data = x.borrowed(py, DataKind::Dense).map_err(of)?;
        let made = interruptible(py, threads, &Default::default(), || self.applied(data))?;
        let made = made.map_err(of)?;
        matrix_of(py, &made)
    }

    /// Names of the features after the steps, given those before.
    fn names(&self, before: Vec<String>) -> Vec<String> {
        let each = self.steps.iter().map(|(_, fitted)| fitted.features());
        each.fold(Features::Same, |all, next| all.then(&next)).names(&before, self.width)
    }

    /// Warnings of the fit.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// The steps as text.
    fn dumps(&self, py: Python<'_>) -> PyResult<String> {
        let steps = SavedStep::of_all(&self.steps)
            .map_err(|tag| Error::Usage(format!("the transform {tag} cannot be kept")));
        let fail = |e: serde_json::Error| Error::Usage(format!("the steps cannot be kept: {e}"));
        let kept = steps.map(|steps| Kept { steps, width: self.width });
        let text = kept.and_then(|kept| serde_json::to_string(&kept).map_err(fail));
        text.map_err(|e| raised(py, &e))
    }

    /// Reads steps that `dumps` wrote.
    #[staticmethod]
    fn loads(py: Python<'_>, text: &str) -> PyResult<Self> {
        let fail = |e: serde_json::Error| Error::Usage(format!("are not steps: {e}"));
        let read = || -> Result<_> {
            let Kept { steps, width } = serde_json::from_str(text).map_err(fail)?;
            let restore = |s: SavedStep| {
                let fitted: Arc<dyn Fitted> = s.restored()?.into();
                Ok((s.transform, fitted))
            };
            let steps: Result<Vec<_>> = steps.into_iter().map(restore).collect();
            Ok(FittedSteps { steps: steps?, width, warnings: Vec::new() })
        };
        read().map_err(|e| raised(py, &e))
    }

    fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<(Py<PyAny>, (String,))> {
        let loads = slf.get_type().getattr("loads")?.unbind();
        Ok((loads, (slf.get().dumps(slf.py())?,)))
    }
}
