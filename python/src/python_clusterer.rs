//! A clusterer that is a function of Python.

use std::collections::BTreeMap;

use mustlink::exchange::PlainValue;
use mustlink::prelude::*;
use mustlink_kernels::noise::{Noise, with_noise};

use crate::callables::{Callable, Facts, called, told};

/// A clusterer that is a function of Python, registered in this process.
///
/// # Method
/// The function is called with the objects and returns one label for each.
/// # Input and output
/// The kinds of data that it was registered with. One label per object, −1 for noise; empty clusters are allowed.
/// # Errors
/// `BadParam` for a name that is not registered; `Plugin` for exceptions and for invalid labels.
/// # Cost and randomness
/// A copy of the data; the function gets a seed below 2³².
#[options]
pub struct PythonClusterer {
    /// Name under which the function is registered.
    pub name: String,
    /// File that contains the function; results depend on its content.
    #[option(program = true)]
    pub source: Vec<String>,
    /// Options of the function itself.
    #[option(kind = <BTreeMap<String, PlainValue> as Described>::KIND)]
    pub options: BTreeMap<String, Value>,
}

impl PythonClusterer {
    fn facts(&self) -> Facts {
        Callable::find(&self.name).map(|c| c.facts.clone()).unwrap_or_default()
    }
}

#[plugin("python_clusterer")]
impl BaseClusterer for PythonClusterer {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        ctx.check()?;
        let callable = Callable::named(&self.name)?;
        if callable.facts.needs_k {
            problem.require_k(None, &self.name)?;
        }
        if callable.facts.hard_must || callable.facts.hard_cannot {
            // Found here, so that every function names contradictions alike.
            problem.closure(OnConflict::Error)?;
        }
        let seed = ctx.stream("seed").next_u64() >> 32;
        let labels: Vec<i64> = called(&callable, |py| {
            let given = told(py, problem, seed, &self.options)?;
            callable.function.call1(py, given)?.extract(py)
        })?;
        let broken = |message: String| Error::Plugin { tag: self.name.clone(), message };
        if labels.len() != problem.n() {
            return Err(broken(format!("{} labels for {} objects", labels.len(), problem.n())));
        }
        let last = problem.n().saturating_sub(1);
        let group = |(i, label): (usize, i64)| match usize::try_from(label) {
            Ok(group) if group <= last => Ok(Some(group)),
            Err(_) if label == -1 => Ok(None),
            _ => Err(broken(format!(
                "label of object {i}: must be between 0 and {last}, or -1 for noise, got {label}"
            ))),
        };
        let groups = labels.into_iter().enumerate().map(group).collect::<Result<Vec<_>>>()?;
        let found = if groups.contains(&None) {
            with_noise(&groups, Noise::default())
        } else {
            Clustering::from_labels(
                groups.into_iter().flatten().map(|group| group as u32).collect(),
            )
        };
        Ok(Clustering { k: problem.k.unwrap_or(0).max(found.k), ..found })
    }

    fn properties(&self) -> Properties {
        let facts = self.facts();
        Properties {
            accepts: facts.accepts.clone(),
            needs_k: facts.needs_k,
            reads_constraints: facts.reads_constraints || facts.hard_must || facts.hard_cannot,
            hard_must: facts.hard_must,
            hard_cannot: facts.hard_cannot,
            soft_weights: facts.soft_weights,
            needs_setup: self.name.is_empty(),
            ..Properties::default()
        }
    }
}
