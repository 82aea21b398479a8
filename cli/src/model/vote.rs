//! The model of a consensus: new objects go where the methods that made it put them.

use mustlink::clustering::Rule;
use mustlink::ndarray::{Array2, ArrayView1};
use mustlink::prelude::*;

use super::place::{Place, Predicted, fitted_of};

/// A member of a consensus: how it places objects, and what its clusters have to do with those of the result.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Voter {
    name: String,
    weight: f64,
    steps: Vec<SavedStep>,
    place: Place,
    /// For each of its clusters the share of objects in each cluster of the result.
    shares: Array2<f64>,
}

impl Voter {
    /// The members of `clustering`, a consensus of methods that were tried on the objects `data`. Empty for other
    /// clusterings. A member that has no rule for new objects has no vote.
    ///
    /// # Errors
    /// `Usage` if no member has a rule.
    pub fn of(
        data: &Data,
        clustering: &Clustering,
        constraints: &Constraints,
    ) -> Result<Vec<Self>> {
        let tried = clustering.extras.tried.iter().filter(|t| t.weight > 0.0);
        let combined: Vec<_> =
            tried.filter_map(|t| Some((t, t.labels.as_ref()?, t.rule.as_ref()?))).collect();
        let mut voters = Vec::new();
        for (tried, labels, rule) in &combined {
            let Some(steps) = steps_of(rule)? else { continue };
            let seen = applied(&steps, data, &Context::new(0))?;
            let k = labels.iter().max().map_or(1, |&l| l as usize + 1);
            let own = Clustering {
                labels: labels.to_vec(),
                k,
                extras: rule.extras.clone(),
                ..Clustering::default()
            };
            let Some(place) = Place::new(&seen, &own, constraints)? else { continue };
            let mut shares = Array2::<f64>::zeros((k, clustering.k));
            for (&own, &result) in labels.iter().zip(&clustering.labels) {
                shares[[own as usize, result as usize]] += 1.0;
            }
            for mut row in shares.rows_mut() {
                let all = row.sum();
                row.mapv_inplace(|count| if all > 0.0 { count / all } else { 0.0 });
            }
            let (name, weight) = (tried.name.clone(), tried.weight);
            voters.push(Voter { name, weight, steps, place, shares });
        }
        if voters.is_empty() && !combined.is_empty() {
            return Err(Error::Usage(format!(
                "--save-model: none of the combined methods has a rule for new objects: {}; --clusterer kmeans, \
                 pck_means or lac has one",
                combined.iter().map(|(t, ..)| t.name.as_str()).collect::<Vec<_>>().join(", ")
            )));
        }
        Ok(voters)
    }

    /// Why it cannot have been saved with a model of `k` clusters.
    pub fn broken(&self, k: usize) -> Option<String> {
        let own = self.place.centres.k();
        let shape = (self.shares.dim() != (own, k)).then(|| {
            format!("{} has shares of {:?}, expected ({own}, {k})", self.name, self.shares.dim())
        });
        shape.or_else(|| self.place.broken())
    }
}

/// Steps as they were kept; `None` if one cannot be kept.
fn steps_of(rule: &Rule) -> Result<Option<Vec<SavedStep>>> {
    let step = |(transform, fitted): &(Value, Option<Value>)| {
        let transform = <dyn Transform as RoleObject>::from_value(transform.clone());
        let transform = transform.map_err(Error::Usage);
        fitted.clone().map(|fitted| Ok(SavedStep { transform: transform?, fitted }))
    };
    rule.steps.iter().map(step).collect::<Option<Result<Vec<_>>>>().transpose()
}

fn applied(steps: &[SavedStep], data: &Data, ctx: &Context) -> Result<Data> {
    steps.iter().try_fold(data.clone(), |seen, step| {
        fitted_of(step, &seen, &ctx.beside(data, &seen))?.apply(&seen)
    })
}

/// The cluster of each object by the weighted vote of `voters`. An object is far if more than half of the weight is
/// with voters for which it is farther away than any object of the model.
pub(super) fn predict(voters: &[Voter], k: usize, data: &Data, ctx: &Context) -> Result<Predicted> {
    let mut votes = Array2::<f64>::zeros((data.n(), k));
    let mut far_for = vec![0.0; data.n()];
    let all: f64 = voters.iter().map(|v| v.weight).sum();
    for voter in voters {
        let (labels, distances) = voter.place.assign(&applied(&voter.steps, data, ctx)?, true)?;
        for (i, (&label, &distance)) in labels.iter().zip(&distances).enumerate() {
            votes.row_mut(i).scaled_add(voter.weight / all, &voter.shares.row(label as usize));
            far_for[i] += voter.weight / all * f64::from(u8::from(voter.place.is_far(distance)));
        }
    }
    // The first of equal ones.
    let most = |votes: ArrayView1<f64>| {
        let best = votes
            .iter()
            .enumerate()
            .fold((0, f64::NEG_INFINITY), |best, (h, &v)| if v > best.1 { (h, v) } else { best });
        best.0 as u32
    };
    let labels = votes.rows().into_iter().map(most).collect();
    let far = far_for.iter().filter(|&&share| share > 0.5).count();
    Ok(Predicted { labels, far, ..Predicted::default() })
}
