//! A metric that is a function of Python.

use mustlink::prelude::*;
use numpy::IntoPyArray;

use crate::callables::{Callable, called};

/// A metric that is a function of Python, registered in this process.
///
/// The function is called with the classes and the labels of the objects whose class is known.
///
/// # Cost and randomness
/// As the function.
#[options]
pub struct PythonMetric {
    /// Name under which the function is registered.
    pub name: String,
    /// File that contains the function; results depend on its content.
    #[option(program = true)]
    pub source: Vec<String>,
}

#[plugin("python_metric")]
impl Metric for PythonMetric {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        let callable = Callable::named(&self.name)?;
        let n = input.labels.len();
        let truth = input.truth.ok_or_else(|| {
            Error::Usage(format!("{} needs the classes, and none are known", self.name))
        })?;
        let flags = input.scope.map_or(n, <[bool]>::len);
        for (what, length) in [("scope", flags), ("labels_true", truth.len())] {
            if length != n {
                return Err(Error::bad_param(what, length, format!("one for each of {n} objects")));
            }
        }
        let counts = |i: &usize| input.scope.is_none_or(|scope| scope[*i]);
        let both: (Vec<i64>, Vec<i64>) = (0..n)
            .filter(counts)
            .filter_map(|i| Some((i64::from(truth[i]?), i64::from(input.labels[i]))))
            .unzip();
        if both.0.is_empty() {
            return Ok(None);
        }
        called(&callable, |py| {
            let (classes, labels) = (both.0.into_pyarray(py), both.1.into_pyarray(py));
            callable.function.call1(py, (classes, labels))?.extract(py)
        })
    }

    fn properties(&self) -> MetricProperties {
        let facts = Callable::find(&self.name).map(|c| c.facts.clone()).unwrap_or_default();
        MetricProperties {
            min: facts.min.unwrap_or(f64::NEG_INFINITY),
            max: facts.max.unwrap_or(f64::INFINITY),
            higher_is_better: facts.higher_is_better,
            perfect: None,
            // Without a name it is none that whoever scores by all metrics could call.
            needs_data: self.name.is_empty(),
            ..MetricProperties::default()
        }
    }
}
