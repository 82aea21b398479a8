//! What is kept of a clustering, so that new objects can be put into its clusters?
//!
//! The centres with their metric, the components of a mixture, the transforms as they were fitted, and the
//! features they saw.

use std::path::Path;

use mustlink::data::Words;
use mustlink::ndarray::{Array2, Axis};
use mustlink::prelude::*;
use mustlink::run::{Steps, Transformed, check_magnitude};
use mustlink_datasets::{Dataset, NotNumbers, Way};
use mustlink_kernels::distance::kd_tree::KdTree;
use mustlink_kernels::kmeans::nearest::centres::Centres;

use crate::profile::Crosstab;

mod vote;

use vote::Voter;

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
    place: Place,
    /// The methods whose consensus the clusters are. If there are any, a new object goes where they put it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    members: Vec<Voter>,
    /// For each cluster the class that most of its objects of known class had.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<Option<String>>,
}

/// Where the clusters are.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    centres: Centres,
    /// The objects with their clusters, if the method does not take the nearest centre: a new object goes where the
    /// nearest of them is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    neighbours: Option<Neighbours>,
    /// How far the farthest object is from what it is assigned by.
    #[serde(default)]
    reach: f64,
}

/// Objects whose clusters are known, as the method saw them.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Neighbours {
    /// n × d.
    rows: Array2<f64>,
    /// -1: noise.
    labels: Vec<i64>,
}

impl Neighbours {
    /// The neighbours that are in clusters.
    fn without_noise(&self) -> Neighbours {
        let kept: Vec<usize> = (0..self.labels.len()).filter(|&i| self.labels[i] >= 0).collect();
        let labels = kept.iter().map(|&i| self.labels[i]).collect();
        Neighbours { rows: self.rows.select(Axis(0), &kept), labels }
    }
}

/// Where new objects belong.
#[derive(Default)]
pub(crate) struct Predicted {
    /// [`NONE`] for noise.
    pub labels: Vec<u32>,
    /// To the centre, or to the nearest object that the model knows.
    pub distances: Vec<f64>,
    /// Probability of the own cluster by the posterior of a mixture; `None` where the model is none.
    pub probabilities: Option<Vec<f64>>,
    /// Objects that are farther than any object the model was made of.
    pub far: usize,
    /// Words that the model has never seen, each after its feature.
    pub unseen: Vec<String>,
}

impl Model {
    /// The model of a clustering of `set`: `steps` were applied to it and made `seen`, which was put into
    /// `k` clusters. Objects that `constraints` do not name and that are not at their nearest centre, more
    /// than one in a hundred, say that the method has another rule: then the nearest object decides.
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
        if clustering.k == 0 {
            let why = "--save-model: every object is noise, so new ones have no cluster to go to";
            return Err(Error::Usage(why.into()));
        }
        let data = &seen.problem.data;
        let members = Voter::of(data, clustering, constraints)?;
        let place = match Place::new(data, clustering, constraints)? {
            Some(place) => place,
            // The members place new objects.
            None if !members.is_empty() => Place {
                centres: Centres::of(data, &clustering.labels, clustering.k, &Extras::default())?,
                neighbours: None,
                reach: 0.0,
            },
            None => {
                let named = method.pointer("/clusterer/type").and_then(Value::as_str);
                return Err(Error::Usage(format!(
                    "--save-model: {} does not put objects to the nearest centre, and sparse objects have no \
                     other rule; kmeans, pck_means and lac are among those that do",
                    named.unwrap_or("the method")
                )));
            }
        };
        Ok(Model {
            mustlink_model: VERSION,
            method,
            seed,
            data: set.name.clone(),
            digest: set.digest(),
            features: set.feature_names.clone(),
            d: set.d(),
            steps: kept,
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
        match (model.mustlink_model, model.broken()) {
            (VERSION, None) => Ok(model),
            (VERSION, Some(why)) => Err(bad(format!("is no model as it was saved: {why}"))),
            (other, _) => {
                Err(bad(format!("is a model of format {other}; this program reads {VERSION}")))
            }
        }
    }

    /// Why its objects are none that it could have been saved with.
    fn broken(&self) -> Option<String> {
        if let Some(why) = self.members.iter().find_map(|m| m.broken(self.place.centres.k())) {
            return Some(why);
        }
        self.place.broken()
    }
}

impl Place {
    /// Why its objects cannot have been saved.
    fn broken(&self) -> Option<String> {
        let Neighbours { rows, labels } = self.neighbours.as_ref()?;
        let (n, k) = (labels.len(), self.centres.k());
        let shape = (n, self.centres.d());
        if n == 0 || rows.dim() != shape {
            let (held, d) = rows.dim();
            return Some(format!(
                "{held} × {d} values of objects, expected {} × {}, and one at least",
                shape.0, shape.1
            ));
        }
        if labels.iter().all(|&label| label == -1) {
            return Some("noise alone".into());
        }
        let label = labels.iter().find(|label| !(-1..k as i64).contains(label))?;
        Some(format!("an object of cluster {label}, expected 0..{k}"))
    }

    /// The place of the clusters of `clustering` among the objects `data`. Objects that `constraints` do not name and
    /// that are not at their nearest centre, more than one in a hundred, show that the method has another rule: then
    /// the nearest object decides. `None` for sparse objects, which have no such rule.
    ///
    /// # Errors
    /// Clusters without centres and means.
    fn new(
        data: &Data,
        clustering: &Clustering,
        constraints: &Constraints,
    ) -> Result<Option<Self>> {
        let (labels, n) = (&clustering.labels, clustering.labels.len());
        let centres = Centres::of(data, labels, clustering.k, &clustering.extras)
            .map_err(|e| e.at("--save-model"))?;
        let mut told = vec![false; n];
        constraints.objects().into_iter().for_each(|i| told[i] = true);
        let mut nearest = vec![0; n];
        centres.assign(data, &mut nearest)?;
        let noise = labels.contains(&NONE);
        let elsewhere = (0..n).filter(|&i| !told[i] && nearest[i] != labels[i]).count();
        let row = |i: usize| dense(data, i);
        if 100 * elsewhere <= n && !noise {
            let distance = |i: usize| centres.distance(&row(i), nearest[i] as usize);
            let reach = (0..n).map(distance).fold(0.0, f64::max);
            return Ok(Some(Place { centres, neighbours: None, reach }));
        }
        if data.kind() != DataKind::Dense {
            return Ok(None);
        }
        let all: Vec<f64> = (0..n).flat_map(row).collect();
        let rows = Array2::from_shape_vec((n, data.d()), all).expect("n times d values");
        let tree = KdTree::new(rows.view());
        let reach = (0..n).map(|i| {
            let near = tree.nearest(&row(i), 1, Some(i as u32));
            near.first().map_or(0.0, |(squared, _)| squared.sqrt())
        });
        let reach = reach.fold(0.0, f64::max);
        let label = |&label: &u32| if label == NONE { -1 } else { i64::from(label) };
        let labels = labels.iter().map(label).collect();
        Ok(Some(Place { centres, neighbours: Some(Neighbours { rows, labels }), reach }))
    }

    /// The cluster of every object, and how far it is from the centre or the nearest known object.
    fn assign(&self, data: &Data, assign_noise: bool) -> Result<(Vec<u32>, Vec<f64>)> {
        let mut labels = vec![0; data.n()];
        self.centres.assign(data, &mut labels)?;
        let Some(all) = &self.neighbours else {
            let distance =
                |(i, &h): (usize, &u32)| self.centres.distance(&dense(data, i), h as usize);
            let distances = labels.iter().enumerate().map(distance).collect();
            return Ok((labels, distances));
        };
        let clustered;
        let Neighbours { rows, labels: known } = if assign_noise {
            clustered = all.without_noise();
            &clustered
        } else {
            all
        };
        let tree = KdTree::new(rows.view());
        let mut distances: Vec<f64> = Vec::with_capacity(data.n());
        for (i, label) in labels.iter_mut().enumerate() {
            let near = tree.nearest(&dense(data, i), 1, None);
            let &(squared, object) = near.first().expect("a model has objects");
            *label = u32::try_from(known[object as usize]).unwrap_or(NONE);
            distances.push(squared.sqrt());
        }
        Ok((labels, distances))
    }

    /// Whether this distance is larger than any in the data that the model was made of.
    fn is_far(&self, distance: f64) -> bool {
        // A known object is not far because of rounding.
        self.reach > 0.0 && distance > self.reach * (1.0 + 1e-9)
    }
}

impl Model {
    /// The cluster of every object of `set`. With `assign_noise`, an object nearest to noise gets a cluster, too.
    ///
    /// # Errors
    /// `Data` for other features than those of the model; what a transform returns.
    pub fn predict(&self, set: &Dataset, assign_noise: bool) -> Result<Predicted> {
        if set.d() != self.d {
            let message = format!("{} features, and the model has {}", set.d(), self.d);
            return Err(Error::Data { place: set.name.clone(), message });
        }
        let (mut data, mut unseen) = (set.data.clone(), Vec::new());
        for (at, step) in self.steps.iter().enumerate() {
            let placed = |e: Error| e.at(&format!("steps[{at}]"));
            let fitted = step.transform.restore(&step.fitted).map_err(placed)?;
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
        if !self.members.is_empty() {
            let k = self.place.centres.k();
            return Ok(Predicted { unseen, ..vote::predict(&self.members, k, &data)? });
        }
        let (labels, distances) = self.place.assign(&data, assign_noise)?;
        let far = distances.iter().filter(|&&d| self.place.is_far(d)).count();
        let probabilities = self.is_mixture().then(|| {
            let of = |(i, &h): (usize, &u32)| {
                self.place.centres.posterior(&dense(&data, i)).map_or(0.0, |p| p[h as usize])
            };
            labels.iter().enumerate().map(of).collect()
        });
        Ok(Predicted { labels, distances, probabilities, far, unseen })
    }

    /// True if some of its objects are noise.
    pub fn knows_noise(&self) -> bool {
        self.place.neighbours.as_ref().is_some_and(|known| known.labels.contains(&-1))
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

    /// Whether new objects have probabilities.
    pub fn is_mixture(&self) -> bool {
        self.members.is_empty()
            && self.place.neighbours.is_none()
            && self.place.centres.is_mixture()
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
        format!("{} clusters found by {method} on {}", self.k(), self.data)
    }
}

/// Refuses objects that are no numbers. The steps are those of the model, and none can be added: of the ways out
/// those are left that read the cells as numbers.
///
/// # Errors
/// `Data` with the places of missing values and words.
pub(crate) fn require_numbers(set: &Dataset) -> Result<()> {
    let Some(found) = set.not_numbers() else { return Ok(()) };
    let NotNumbers { place, ways, .. } = found;
    let told = found.told();
    let mut said = vec![told.as_str()];
    said.extend(ways.iter().filter_map(|way| match way {
        Way::Read(text) => Some(text.as_str()),
        _ => None,
    }));
    if ways.iter().any(|way| !matches!(way, Way::Read(_))) {
        said.push(WITHOUT);
    }
    Err(Error::Data { place: place.clone(), message: said.join("; ") })
}

const WITHOUT: &str = "the model was made without a transform that takes this: drop the rows, or cluster again with \
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
            let other = step.transform.restore(&step.fitted)?.of_other_kind(&set.data);
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
    let missing = set.not_numbers().and_then(|found| Some((found, found.missing.as_ref()?)));
    let Some((found, missing)) = missing else { return set.require_numbers() };
    Err(Error::Data { place: found.place.clone(), message: format!("{missing}; {WITHOUT}") })
}

/// A feature holds words, or numbers, and the other in the data of the model.
fn other_kind(set: &Dataset, feature: usize, words: bool) -> Error {
    let name = set.feature_names.get(feature).map_or("", String::as_str);
    let (here, there) = if words { ("words", "numbers") } else { ("numbers", "words") };
    let message = format!(
        "column \"{name}\" holds {here}, and {there} in the data that the model was made of"
    );
    Error::Data { place: set.name.clone(), message }
}

/// Row `i` with all its values.
fn dense(data: &Data, i: usize) -> Vec<f64> {
    let mut x = vec![0.0; data.d()];
    data.row(i).add_to(&mut x, 1.0);
    x
}
