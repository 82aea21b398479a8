//! What is kept of a clustering, so that new objects can be put into its clusters?
//!
//! The centres with their metric, the transforms as they were fitted, and the features they saw.

use std::path::Path;

use mustlink::prelude::*;
use mustlink::run::{Steps, Transformed};
use mustlink_datasets::Dataset;
use mustlink_kernels::kmeans::nearest::centres::Centres;

/// Version of the format.
const VERSION: u32 = 1;

/// A transform as it was fitted.
#[derive(Serialize, Deserialize)]
struct Step {
    transform: Box<dyn Transform>,
    fitted: Value,
}

/// A model file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Model {
    /// Version of the format.
    mustlink_model: u32,
    /// The method that found the clusters, as a configuration.
    method: Value,
    seed: u64,
    /// The data it was found on, and a hash of it.
    data: String,
    digest: String,
    /// Names of the features, in order; empty where they have none.
    pub features: Vec<String>,
    /// Number of features.
    d: usize,
    steps: Vec<Step>,
    pub centres: Centres,
}

impl Model {
    /// The model of a clustering of `set`: `steps` were applied to it and made `seen`, which was put into
    /// `k` clusters.
    ///
    /// # Errors
    /// `Usage` for a transform that cannot be kept, or clusters without centres and means.
    pub fn new(
        set: &Dataset,
        method: Value,
        seed: u64,
        steps: &Steps,
        seen: &Transformed,
        clustering: &Clustering,
    ) -> Result<Self> {
        let mut kept = Vec::new();
        for (transform, fitted) in &steps.0 {
            // Rows are dropped or merged where clusters are found, not where new objects come.
            if transform.properties().changes_rows {
                continue;
            }
            let tag = transform.typetag_name();
            let fitted = fitted.saved().ok_or_else(|| {
                Error::Usage(format!("--save-model: the transform {tag} cannot be kept in a model"))
            })?;
            kept.push(Step { transform: transform.clone(), fitted });
        }
        let data = &seen.problem.data;
        let centres = Centres::of(data, &clustering.labels, clustering.k, &clustering.extras);
        Ok(Model {
            mustlink_model: VERSION,
            method,
            seed,
            data: set.name.clone(),
            digest: set.digest().iter().map(|b| format!("{b:02x}")).collect(),
            features: set.feature_names.clone(),
            d: set.d(),
            steps: kept,
            centres: centres.map_err(|e| e.at("--save-model"))?,
        })
    }

    /// The model as text.
    ///
    /// # Errors
    /// `Data` for numbers that JSON has not.
    pub fn text(&self) -> Result<String> {
        let fail =
            |e: serde_json::Error| Error::Data { place: "model".into(), message: e.to_string() };
        serde_json::to_string(self).map_err(fail)
    }

    /// Reads a model.
    ///
    /// # Errors
    /// `Data` for a file that is none.
    pub fn read(path: &Path) -> Result<Self> {
        let place = path.display().to_string();
        let bad = |message: String| Error::Data { place: place.clone(), message };
        let text = std::fs::read_to_string(path).map_err(|e| bad(e.to_string()))?;
        let model: Model = serde_json::from_str(&text).map_err(|e| {
            bad(format!("is no model ({e}); `mustlink cluster --save-model` writes one"))
        })?;
        match model.mustlink_model {
            VERSION => Ok(model),
            other => {
                Err(bad(format!("is a model of format {other}; this program reads {VERSION}")))
            }
        }
    }

    /// The cluster of every object of `set`.
    ///
    /// # Errors
    /// `Data` for other features than those of the model; what a transform returns.
    pub fn predict(&self, set: &Dataset) -> Result<Vec<u32>> {
        if set.d() != self.d {
            let message = format!("{} features, and the model has {}", set.d(), self.d);
            return Err(Error::Data { place: set.name.clone(), message });
        }
        let mut data = set.data.clone();
        for (at, step) in self.steps.iter().enumerate() {
            let fitted = step.transform.restore(&step.fitted);
            let applied = fitted.and_then(|fitted| fitted.apply(&data));
            data = applied.map_err(|e| e.at(&format!("steps[{at}]")))?;
        }
        if data.kind() == DataKind::Table {
            set.require_numbers()?;
        }
        let mut labels = vec![0; data.n()];
        self.centres.assign(&data, &mut labels)?;
        Ok(labels)
    }

    /// Whether the data must be numbers, all there: no step begins with less.
    pub fn needs_numbers(&self) -> bool {
        let takes_table = |s: &Step| s.transform.properties().accepts.contains(&DataKind::Table);
        !self.steps.first().is_some_and(takes_table)
    }

    /// What it is, in one line.
    pub fn summary(&self) -> String {
        let method =
            self.method.pointer("/clusterer/type").or(self.method.pointer("/selector/type"));
        let method = method.and_then(Value::as_str).unwrap_or("a method");
        format!("{} clusters found by {method} on {}", self.centres.k(), self.data)
    }
}
