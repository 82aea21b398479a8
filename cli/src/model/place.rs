//! The positions of the clusters among the objects as a method saw them.

use mustlink::ndarray::{Array2, Axis};
use mustlink::prelude::*;
use mustlink::run::within_memory;
use mustlink::text::count;
use mustlink_kernels::distance::kd_tree::KdTree;
use mustlink_kernels::kmeans::nearest::centres::Centres;

/// The fitted transform of a step, if its result on `data` fits into the memory limit.
///
/// # Errors
/// `Memory`; the errors of [`SavedStep::restored`].
pub fn fitted_of(step: &SavedStep, data: &Data, ctx: &Context) -> Result<Box<dyn Fitted>> {
    let shape = step.transform.shape_of_result(&Problem::new(data.clone()).shape());
    within_memory(8 * shape.entries as u64, data, ctx)?;
    step.restored()
}

/// The places of the clusters.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    pub centres: Centres,
    /// The objects with their clusters, if the method does not take the nearest centre: a new object goes where the
    /// nearest of them is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neighbours: Option<Neighbours>,
    /// Distance of the farthest object to the centre or object that decides its cluster.
    #[serde(default)]
    pub reach: f64,
    /// For each cluster the distance that at most 1 % of its objects exceed. With `neighbours`, that of noise is last.
    /// Empty in old models, and if the members of a consensus vote.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<f64>,
}

/// Objects whose clusters are known, as the method saw them.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Neighbours {
    /// n × d.
    pub rows: Array2<f64>,
    /// -1: noise.
    pub labels: Vec<i64>,
}

impl Neighbours {
    /// The neighbours that are in clusters.
    fn without_noise(&self) -> Neighbours {
        let kept: Vec<usize> = (0..self.labels.len()).filter(|&i| self.labels[i] >= 0).collect();
        let labels = kept.iter().map(|&i| self.labels[i]).collect();
        Neighbours { rows: self.rows.select(Axis(0), &kept), labels }
    }
}

impl Place {
    /// Why its objects cannot have been saved.
    pub fn broken(&self) -> Option<String> {
        let (limits, expected) = (self.limits.len(), self.centres.k() + self.of_noise());
        if limits > 0 && limits != expected {
            let limits = count(limits, "limit");
            return Some(format!("{limits} of clusters, expected {expected}"));
        }
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
        Some(format!("an object of cluster {label}, expected 0 to {}", k.saturating_sub(1)))
    }

    /// The place of the clusters of `clustering` among the objects `data`. The nearest object decides if the method has
    /// no centres, or if more than one in a hundred of the objects that `constraints` do not name are not at their
    /// nearest centre. Sparse objects have no such rule: the nearest mean decides, or the result is `None`.
    ///
    /// # Errors
    /// Clusters without centres and means.
    pub fn new(
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
        let is_central = clustering.extras.centers.is_some() || data.kind() != DataKind::Dense;
        if is_central && 100 * elsewhere <= n && !noise {
            let distance = |i: usize| centres.distance(&row(i), nearest[i] as usize);
            let distances: Vec<f64> = (0..n).map(distance).collect();
            return Ok(Some(Place::of_distances(centres, None, &nearest, &distances)));
        }
        if data.kind() != DataKind::Dense {
            return Ok(None);
        }
        let all: Vec<f64> = (0..n).flat_map(row).collect();
        let rows = Array2::from_shape_vec((n, data.d()), all).expect("n times d values");
        let tree = KdTree::new(rows.view());
        let distance = |i: usize| {
            let near = tree.nearest(&row(i), 1, Some(i as u32));
            near.first().map_or(0.0, |(squared, _)| squared.sqrt())
        };
        let distances: Vec<f64> = (0..n).map(distance).collect();
        let known = |&label: &u32| if label == NONE { -1 } else { i64::from(label) };
        let neighbours = Neighbours { rows, labels: labels.iter().map(known).collect() };
        Ok(Some(Place::of_distances(centres, Some(neighbours), labels, &distances)))
    }

    /// The place of clusters whose objects have these labels, and these distances to what decides their cluster.
    fn of_distances(
        centres: Centres,
        neighbours: Option<Neighbours>,
        labels: &[u32],
        distances: &[f64],
    ) -> Self {
        let reach = distances.iter().copied().fold(0.0, f64::max);
        let mut place = Place { centres, neighbours, reach, limits: Vec::new() };
        let mut of_clusters = vec![Vec::new(); place.centres.k() + place.of_noise()];
        for (&label, &distance) in labels.iter().zip(distances) {
            of_clusters[place.at(label)].push(distance);
        }
        place.limits = of_clusters.into_iter().map(limit).collect();
        place
    }

    /// The number of limits in addition to those of the clusters.
    fn of_noise(&self) -> usize {
        usize::from(self.neighbours.is_some())
    }

    /// The place of the limit of a cluster or of noise.
    fn at(&self, label: u32) -> usize {
        if label == NONE { self.centres.k() } else { label as usize }
    }

    /// The objects that are farther away than the limit of their cluster.
    pub fn outside(&self, labels: &[u32], distances: &[f64]) -> Vec<usize> {
        let is_outside = |i: &usize| exceeds(distances[*i], self.limits[self.at(labels[*i])]);
        (0..labels.len()).filter(is_outside).collect()
    }

    /// The cluster of every object, and how far it is from the centre or the nearest known object.
    pub fn assign(&self, data: &Data, assign_noise: bool) -> Result<(Vec<u32>, Vec<f64>)> {
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

    /// True if this distance is larger than any in the data that the model was made of.
    pub fn is_far(&self, distance: f64) -> bool {
        self.reach > 0.0 && exceeds(distance, self.reach)
    }
}

/// True if a distance is larger than `limit`, and not only by rounding: a known object is never far.
fn exceeds(distance: f64, limit: f64) -> bool {
    distance > limit * (1.0 + 1e-9)
}

/// One in this number of objects of a cluster may exceed its limit.
const EXCEEDING: usize = 100;

/// The distance that at most 1 % of these distances exceed; 0 without distances.
fn limit(mut distances: Vec<f64>) -> f64 {
    distances.sort_unstable_by(f64::total_cmp);
    let at = distances.len().checked_sub(1 + distances.len() / EXCEEDING);
    at.map_or(0.0, |at| distances[at])
}

/// The clusters of new objects.
#[derive(Default)]
pub struct Predicted {
    /// [`NONE`] for noise.
    pub labels: Vec<u32>,
    /// To the centre, or to the nearest object of the model. Empty if the members of a consensus vote.
    pub distances: Vec<f64>,
    /// Probability of the own cluster by the posterior of a mixture; `None` if the model is not a mixture.
    pub probabilities: Option<Vec<f64>>,
    /// Objects that are farther than any object the model was made of.
    pub far: usize,
    /// Number of new clusters, numbered after those of the model.
    pub founded: usize,
    /// Words that the model has never seen, each after its feature.
    pub unseen: Vec<String>,
    /// Number of missing values that were filled in.
    pub filled: usize,
}

/// Row `i` with all its values.
pub fn dense(data: &Data, i: usize) -> Vec<f64> {
    let mut x = vec![0.0; data.d()];
    data.row(i).add_to(&mut x, 1.0);
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_in_a_hundred_exceeds_the_limit() {
        let of = |n: usize| limit((1..=n).rev().map(|v| v as f64).collect());
        assert_eq!(
            [0, 1, 99, 100, 199, 200, 1000].map(of),
            [0.0, 1.0, 99.0, 99.0, 198.0, 198.0, 990.0]
        );
    }
}
