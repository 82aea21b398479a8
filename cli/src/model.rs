//! Saved models, which assign new objects to the clusters.
//!
//! The centres with their metric, the components of a mixture, the transforms as they were fitted, and the
//! features they saw.

use std::path::Path;

use mustlink::data::Words;
use mustlink::ndarray::Axis;
use mustlink::prelude::*;
use mustlink::run::{Steps, Transformed, check_magnitude, within_memory};
use mustlink::text::count;
use mustlink_datasets::{Dataset, NotNumbers, Way, data_error};
use mustlink_kernels::kmeans::nearest::centres::Centres;

use crate::profile::Crosstab;

mod founded;
mod place;
mod vote;

pub(crate) use place::Predicted;
use place::{Place, dense, fitted_of};
use vote::Voter;

/// Version of the format.
const VERSION: u32 = 1;

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
    steps: Vec<SavedStep>,
    place: Place,
    /// The methods whose consensus the clusters are. If there are any, a new object goes where they put it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    members: Vec<Voter>,
    /// For each cluster the class that most of its objects of known class had.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<Option<String>>,
}

impl Model {
    /// The model of a clustering of `set`: `steps` were applied to it and made `seen`, which was put into
    /// `k` clusters under `constraints`. [`Place::new`] says which rule places new objects.
    ///
    /// # Errors
    /// `Usage` for a transform that cannot be kept, clusters without centres and means, and sparse data
    /// where no centre decides.
    pub fn new(
        set: &Dataset,
        method: Value,
        seed: u64,
        steps: &Steps,
        seen: &Transformed,
        clustering: &Clustering,
        constraints: &Constraints,
    ) -> Result<Self> {
        let steps = SavedStep::of_all(&steps.0).map_err(|tag| {
            Error::Usage(format!("--save-model: the transform {tag} cannot be kept in a model"))
        })?;
        if clustering.k == 0 {
            let why = "--save-model: every object is noise, so new ones have no cluster to go to";
            return Err(Error::Usage(why.into()));
        }
        let data = &seen.problem.data;
        let members = Voter::of(data, clustering, constraints)?;
        let place = if members.is_empty() {
            Place::new(data, clustering, constraints)?.ok_or_else(|| {
                let named = method.pointer("/clusterer/type").and_then(Value::as_str);
                Error::Usage(format!(
                    "--save-model: {} does not put objects to the nearest centre, and sparse objects have no \
                     other rule; kmeans, pck_means and lac are among those that do",
                    named.unwrap_or("the method")
                ))
            })?
        } else {
            // The members place new objects.
            let centres = Centres::of(data, &clustering.labels, clustering.k, &Extras::default())?;
            Place { centres, neighbours: None, reach: 0.0, limits: Vec::new() }
        };
        Ok(Model {
            mustlink_model: VERSION,
            method,
            seed,
            data: set.name.clone(),
            digest: set.digest(),
            features: set.feature_names.clone(),
            d: set.d(),
            steps,
            place,
            members,
            names: Vec::new(),
        })
    }

    /// With the names that classes give its clusters.
    pub fn named(self, crosstab: Option<&Crosstab>) -> Self {
        let name = |c: &Crosstab, h| c.name(h).map(|(name, _)| name.to_string());
        let names = crosstab.map(|c| (0..self.place.centres.k()).map(|h| name(c, h)).collect());
        Model { names: names.unwrap_or_default(), ..self }
    }

    /// The model as text.
    ///
    /// # Errors
    /// `Data` for numbers that JSON has not.
    pub fn text(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|e| data_error("model", e.to_string()))
    }

    /// Reads a model.
    ///
    /// # Errors
    /// `Data` for a file that is not a saved model.
    pub fn read(path: &Path) -> Result<Self> {
        let place = path.display().to_string();
        let bad = |message: String| Error::Data { place: place.clone(), message };
        let text = std::fs::read_to_string(path).map_err(|e| bad(e.to_string()))?;
        let model: Model = serde_json::from_str(&text).map_err(|e| {
            bad(format!(
                "is not a saved model ({e}). Create one with `mustlink cluster --save-model`"
            ))
        })?;
        match (model.mustlink_model, model.broken()) {
            (VERSION, None) => Ok(model),
            (VERSION, Some(why)) => Err(bad(format!("is not a valid model: {why}"))),
            (other, _) => {
                Err(bad(format!("is a model of format {other}; this program reads {VERSION}")))
            }
        }
    }

    /// Why this cannot be a model as it was saved; `None` if it can.
    fn broken(&self) -> Option<String> {
        if let Some(why) = self.members.iter().find_map(|m| m.broken(self.place.centres.k())) {
            return Some(why);
        }
        self.place.broken()
    }
}

/// The treatment of objects that a model cannot simply place.
#[derive(Clone, Copy)]
pub(crate) struct Placing {
    /// An object nearest to noise gets a cluster, too.
    pub assign_noise: bool,
    /// Objects that fit no cluster may found new ones.
    pub open: bool,
}

impl Model {
    /// The cluster of every object of `set`.
    ///
    /// # Errors
    /// `Data` for other features than those of the model; `Memory`; the errors of transforms and of [`founded`].
    pub fn predict(&self, set: &Dataset, placing: Placing, ctx: &Context) -> Result<Predicted> {
        if set.d() != self.d {
            let message = format!("{} features, and the model has {}", set.d(), self.d);
            return Err(Error::Data { place: set.name.clone(), message });
        }
        let k = self.place.centres.k();
        // A label, a distance and a probability, or votes for all clusters.
        let bytes_per_object = if self.members.is_empty() { 20 } else { 8 * k + 24 };
        let ctx = ctx.holding((bytes_per_object * set.n()) as u64);
        let (mut data, mut unseen, mut filled) = (set.data.clone(), Vec::new(), 0);
        for (at, step) in self.steps.iter().enumerate() {
            let placed = |e: Error| e.at(&format!("steps[{at}]"));
            let beside = ctx.beside(&set.data, &data);
            let fitted = fitted_of(step, &data, &beside).map_err(placed)?;
            let takes_table = step.transform.properties().accepts.contains(&DataKind::Table);
            if data.kind() == DataKind::Table && !takes_table {
                require_values(set)?;
            }
            if let Some(&feature) = fitted.of_other_kind(&data).first() {
                if let Some(found) = set.not_numbers().filter(|_| at == 0) {
                    found.refuse_as_words()?;
                }
                return Err(other_kind(set, feature, data.words(feature).is_some()));
            }
            for (feature, word) in fitted.unseen(&data) {
                let name = set.feature_names.get(feature).map_or("", String::as_str);
                unseen.push(format!("{name} {word}"));
            }
            if step.transform.tag() == "impute_missing" {
                let missing = |i: usize| dense(&data, i).iter().filter(|v| v.is_nan()).count();
                filled += (0..data.n()).map(missing).sum::<usize>();
            }
            data = fitted.apply(&data).map_err(placed)?;
        }
        if data.kind() == DataKind::Table {
            require_values(set)?;
        }
        // Smaller ones than methods take are near the centres of others, and their squares are numbers.
        match check_magnitude(&data) {
            Err(Error::Magnitude { value, .. }) if value.abs() < 1.0 => {}
            checked => checked?,
        }
        let ctx = ctx.beside(&set.data, &data);
        within_memory(0, &data, &ctx)?;
        if !self.members.is_empty() {
            let found = vote::predict(&self.members, k, &data, &ctx)?;
            return Ok(Predicted { unseen, filled, ..found });
        }
        let (labels, distances) = self.place.assign(&data, placing.assign_noise)?;
        let far = distances.iter().filter(|&&d| self.place.is_far(d)).count();
        let probabilities = self.is_mixture().then(|| {
            let probability = |(i, &h): (usize, &u32)| {
                self.place.centres.posterior(&dense(&data, i)).map_or(0.0, |p| p[h as usize])
            };
            labels.iter().enumerate().map(probability).collect()
        });
        let mut found =
            Predicted { labels, distances, probabilities, far, founded: 0, unseen, filled };
        if placing.open {
            founded::found(&self.place, &data, &mut found, &ctx)?;
        }
        Ok(found)
    }

    /// Why objects cannot found clusters, with the remedy; `None` if they can.
    pub fn founds_nothing(&self) -> Option<String> {
        let (summary, rule) = (self.summary(), self.rule());
        let is_common =
            self.place.neighbours.is_some() || self.place.centres.common_geometry().is_some();
        if !self.members.is_empty() || !is_common {
            let what = if is_common { "method" } else { "cluster" };
            return Some(format!(
                "{summary} use {rule}, and each {what} measures distances in its own way; cluster again with \
                 --clusterer kmeans and --save-model"
            ));
        }
        self.place.limits.is_empty().then(|| {
            "the model does not contain the limits of its clusters; mustlink cluster --save-model writes them"
                .into()
        })
    }

    /// By what a new object is assigned.
    pub fn rule(&self) -> &'static str {
        match self.place.neighbours {
            _ if !self.members.is_empty() => "the weighted vote of the combined methods",
            None if self.is_mixture() => "the largest posterior probability",
            None => "the nearest centre",
            Some(_) => "the nearest object of the model",
        }
    }

    /// Number of clusters.
    pub fn k(&self) -> usize {
        self.place.centres.k()
    }

    /// False if the members of a consensus vote, each with its own distance.
    pub fn has_distances(&self) -> bool {
        self.members.is_empty()
    }

    /// True if new objects have probabilities.
    pub fn is_mixture(&self) -> bool {
        self.members.is_empty()
            && self.place.neighbours.is_none()
            && self.place.centres.is_mixture()
    }

    /// True if the data must be numbers without gaps, because no step accepts less.
    pub fn needs_numbers(&self) -> bool {
        let takes_table =
            |s: &SavedStep| s.transform.properties().accepts.contains(&DataKind::Table);
        !self.steps.first().is_some_and(takes_table)
    }

    /// The model in one line.
    pub fn summary(&self) -> String {
        let method =
            self.method.pointer("/clusterer/type").or(self.method.pointer("/selector/type"));
        let method = method.and_then(Value::as_str).unwrap_or("a method");
        format!("{} found by {method} on {}", count(self.k(), "cluster"), self.data)
    }
}

/// Refuses objects with cells that are not numbers. The steps of a model are fixed, so that only remedies that read
/// the cells as numbers are left.
///
/// # Errors
/// `Data` with the places of missing values and words.
pub(crate) fn require_numbers(set: &Dataset) -> Result<()> {
    let Some(odd) = set.not_numbers() else { return Ok(()) };
    let NotNumbers { place, ways, .. } = odd;
    let cells = odd.told();
    let mut parts = vec![cells.as_str()];
    parts.extend(ways.iter().filter_map(|way| match way {
        Way::Read(text) => Some(text.as_str()),
        _ => None,
    }));
    if ways.iter().any(|way| !matches!(way, Way::Read(_))) {
        parts.push(WITHOUT);
    }
    Err(Error::Data { place: place.clone(), message: parts.join("; ") })
}

const WITHOUT: &str = "the model has no transform that accepts this: drop the rows, or cluster again with \
                       transforms = [\"impute_missing\", …] and --save-model";

/// The rows of `set` that `model` can place, as a data set, and the row numbers of the bad ones, in which the model
/// needs a number and finds none. `None` if all rows are bad.
///
/// # Errors
/// The errors of a transform of the model.
pub(crate) fn sorted_out(model: &Model, set: Dataset) -> Result<(Option<Dataset>, Vec<usize>)> {
    let (n, d) = (set.n(), set.d());
    let needs_all = model.needs_numbers();
    let numeric: Vec<usize> = match model.steps.first() {
        _ if needs_all => (0..d).collect(),
        Some(step) if d == model.d => {
            let other = step.restored()?.of_other_kind(&set.data);
            other.into_iter().filter(|&s| set.data.words(s).is_some()).collect()
        }
        _ => Vec::new(),
    };
    if set.data.kind() != DataKind::Table || numeric.is_empty() {
        return Ok((Some(set), Vec::new()));
    }
    let mut x = set.data.to_dense();
    let mut words: Vec<_> = (0..d).map(|s| set.data.words(s).cloned()).collect();
    let mut is_bad = vec![false; n];
    for s in numeric {
        // If a column contains a word, its numbers were read as words, too.
        let list = words[s].take();
        for (v, is_bad) in x.column_mut(s).iter_mut().zip(&mut is_bad) {
            let number = |list: &Words| list[*v as usize].parse::<f64>().ok();
            match list.as_ref().filter(|_| !v.is_nan()).map(number) {
                Some(Some(number)) => *v = number,
                Some(None) => *is_bad = true,
                None => *is_bad |= needs_all && v.is_nan(),
            }
        }
    }
    let (bad, good): (Vec<usize>, Vec<usize>) = (0..n).partition(|&i| is_bad[i]);
    if good.is_empty() {
        return Ok((None, bad));
    }
    // The other rows keep their numbers, which are the ids of a table without an id column.
    let ids = set.ids.clone().unwrap_or_else(|| (0..n).map(|i| i.to_string()).collect());
    let left = Dataset { ids: Some(ids), ..set }.with_rows(&good)?;
    let data = Data::table(x.select(Axis(0), &good), words)?;
    Ok((Some(Dataset { data, ..left }), bad))
}

/// Refuses missing values among numbers, once the steps have made numbers of words.
fn require_values(set: &Dataset) -> Result<()> {
    let missing = set.not_numbers().and_then(|odd| Some((odd, odd.missing.as_ref()?)));
    let Some((odd, missing)) = missing else { return set.require_numbers() };
    Err(Error::Data { place: odd.place.clone(), message: format!("{missing}; {WITHOUT}") })
}

/// A feature holds words, or numbers, and the other in the data of the model.
fn other_kind(set: &Dataset, feature: usize, words: bool) -> Error {
    let name = set.feature_names.get(feature).map_or("", String::as_str);
    let (kind, kind_of_model) = if words { ("words", "numbers") } else { ("numbers", "words") };
    let message = format!(
        "column \"{name}\" holds {kind}, and {kind_of_model} in the data that the model was made of"
    );
    Error::Data { place: set.name.clone(), message }
}
