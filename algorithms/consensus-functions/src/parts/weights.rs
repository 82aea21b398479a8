//! Weights of the members of an ensemble.

use mustlink_core::prelude::*;
use mustlink_core::registry;

use crate::parts::agreement::{self, mean_nmi};
use crate::parts::satisfaction;

/// Weights of the members; they multiply the weights that members already have.
#[options]
pub enum Weights {
    /// A rule.
    Scheme(Scheme),
    /// Given weights, one >= 0 per member, not all 0.
    Given(Vec<f64>),
}

/// Rules for the weights of members.
#[options]
pub enum Scheme {
    /// The same weight for all members.
    Uniform,
    /// Mean normalised mutual information with the other members.
    Anmi,
    /// Half the mean of silhouette, Calinski–Harabasz and Davies–Bouldin, half the mean distance from the other
    /// members; each is scaled to [0, 1] over the members. O(τ n²) for the silhouettes.
    ValidityPlusDiversity,
    /// Satisfaction of the constraints compared with chance: the share of satisfied must-links plus the share of
    /// satisfied cannot-links, minus 1, not below 0. Without constraints, the same weight for all.
    Constraints,
}

impl Default for Weights {
    fn default() -> Self {
        Weights::Scheme(Scheme::Uniform)
    }
}

impl Weights {
    /// They look at the constraints of the problem.
    pub(crate) fn read_constraints(&self) -> bool {
        matches!(self, Weights::Scheme(Scheme::Constraints))
    }

    /// The needs of a function with these weights that otherwise has these.
    pub(crate) fn needs(&self, other: Needs) -> Needs {
        Needs { reads_constraints: other.reads_constraints || self.read_constraints(), ..other }
    }

    /// Operations of [`Weights::of`] for so many members.
    pub(crate) fn operations(&self, shape: &Shape, members: usize) -> f64 {
        let agreement = agreement::operations(shape.n, members);
        match self {
            Weights::Scheme(Scheme::Anmi) => agreement,
            // Three indices, of which the silhouette looks at all pairs of objects.
            Weights::Scheme(Scheme::ValidityPlusDiversity) => {
                agreement + members as f64 * shape.n as f64 * shape.entries as f64
            }
            Weights::Scheme(Scheme::Constraints) => members as f64 * shape.constraints as f64,
            Weights::Scheme(Scheme::Uniform) | Weights::Given(_) => 0.0,
        }
    }

    /// One weight per member, mean 1, those they have of their own left out.
    ///
    /// # Errors
    /// `BadParam` for a list of another length, a weight that is negative or not finite, or all 0; cancellation.
    pub fn of(&self, ensemble: &Ensemble, problem: &Problem, ctx: &Context) -> Result<Vec<f64>> {
        let tau = ensemble.len();
        let mut weights = match self {
            Weights::Scheme(Scheme::Uniform) => return Ok(vec![1.0; tau]),
            Weights::Scheme(Scheme::Anmi) => mean_nmi(ensemble, ctx)?,
            Weights::Scheme(Scheme::ValidityPlusDiversity) => {
                validity_plus_diversity(ensemble, problem, ctx)?
            }
            // Not 1 by rounding, but 1.
            Weights::Scheme(Scheme::Constraints) if problem.constraints.pairs().is_empty() => {
                return Ok(vec![1.0; tau]);
            }
            Weights::Scheme(Scheme::Constraints) => {
                satisfaction::of_members(ensemble, &problem.constraints)
            }
            Weights::Given(given) => {
                let legal = format!("{tau} weights >= 0, not all 0");
                if given.len() != tau {
                    return Err(Error::bad_param(
                        "weights",
                        format!("{} weights", given.len()),
                        legal,
                    ));
                }
                if let Some(bad) = given.iter().find(|w| !w.is_finite() || **w < 0.0) {
                    return Err(Error::bad_param("weights", bad, legal));
                }
                given.clone()
            }
        };
        let mean = weights.iter().sum::<f64>() / tau as f64;
        if mean <= 0.0 {
            if let Weights::Given(_) = self {
                return Err(Error::bad_param("weights", "only 0", "not all 0"));
            }
            // Members that agree in nothing agree equally little.
            return Ok(vec![1.0; tau]);
        }
        weights.iter_mut().for_each(|w| *w /= mean);
        Ok(weights)
    }

    /// The members that count, and how much: these weights times those they have of their own; 1
    /// where all count the same.
    ///
    /// # Errors
    /// Returns the errors of [`Weights::of`]; `BadParam` when no member is left.
    pub(crate) fn counting<'a>(
        &self,
        ensemble: &'a Ensemble,
        problem: &Problem,
        ctx: &Context,
    ) -> Result<Vec<(&'a Member, f64)>> {
        let weights = self.of(ensemble, problem, ctx)?;
        let weighed = ensemble.members().iter().zip(weights).map(|(m, w)| (m, m.weight * w));
        let mut counting: Vec<(&Member, f64)> = weighed.filter(|(_, w)| *w > 0.0).collect();
        if counting.is_empty() {
            let legal = "above 0 for some member that has a weight above 0 of its own";
            return Err(Error::bad_param("weights", "only 0", legal));
        }
        if counting.windows(2).all(|w| w[0].1 == w[1].1) {
            counting.iter_mut().for_each(|(_, w)| *w = 1.0);
        }
        Ok(counting)
    }
}

/// Values scaled to [0, 1]; undefined ones become 0, equal ones all 1.
fn scaled(values: &[Option<f64>]) -> Vec<f64> {
    let known = values.iter().flatten();
    let (low, high) =
        known.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)));
    let of = |v: &Option<f64>| match v {
        Some(v) if high > low => (v - low) / (high - low),
        Some(_) => 1.0,
        None => 0.0,
    };
    values.iter().map(of).collect()
}

fn validity_plus_diversity(
    ensemble: &Ensemble,
    problem: &Problem,
    ctx: &Context,
) -> Result<Vec<f64>> {
    let (tau, data) = (ensemble.len(), &problem.data);
    // As where partitions are combined without the objects themselves.
    if data.kind().is_rows() && data.n() > 1 {
        let first = data.row(0);
        if (1..data.n()).all(|i| data.row(i).squared_distance(&first) == 0.0) {
            let message = "all objects are equal, so validity_plus_diversity cannot compare members; give the data \
                           that were clustered (--data), or choose another rule";
            return Err(Error::Data { place: "data".into(), message: message.into() });
        }
    }
    let indices = ["silhouette", "calinski_harabasz", "davies_bouldin"];
    let mut validity = vec![0.0; tau];
    for tag in indices {
        let metric: Box<dyn Metric> = registry::build_default(tag)?;
        let sign = if metric.properties().higher_is_better { 1.0 } else { -1.0 };
        let values = ensemble
            .members()
            .iter()
            .map(|m| {
                ctx.check()?;
                let scope: Vec<bool> = m.labels.iter().map(|&l| l != NONE).collect();
                let labels: Vec<u32> =
                    m.labels.iter().map(|&l| if l == NONE { 0 } else { l }).collect();
                let input = MetricInput {
                    labels: &labels,
                    scope: scope.contains(&false).then_some(&scope[..]),
                    data: Some(data),
                    ctx: Some(ctx),
                    ..MetricInput::default()
                };
                Ok(metric.score(&input)?.filter(|_| m.weight > 0.0).map(|v| sign * v))
            })
            .collect::<Result<Vec<_>>>()?;
        validity.iter_mut().zip(scaled(&values)).for_each(|(v, s)| *v += s / indices.len() as f64);
    }
    // Members of weight 0 are no measure for the others.
    let apart = mean_nmi(ensemble, ctx)?.into_iter().zip(ensemble.members());
    let distance: Vec<Option<f64>> =
        apart.map(|(v, m)| (m.weight > 0.0).then_some(1.0 - v)).collect();
    Ok(validity.iter().zip(scaled(&distance)).map(|(v, d)| (v + d) / 2.0).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::e12::e12;

    #[test]
    fn weights_have_mean_one_or_are_refused() {
        let (ensemble, problem) = e12();
        let of = |w: Weights| w.of(&ensemble, &problem, &Context::new(1));
        assert_eq!(
            of(Weights::Given(vec![1.0, 0.0, 3.0, 4.0, 2.0])).unwrap(),
            [0.5, 0.0, 1.5, 2.0, 1.0]
        );
        for bad in [vec![1.0; 4], vec![0.0; 5], vec![1.0, 1.0, 1.0, 1.0, -1.0], vec![f64::NAN; 5]] {
            assert!(of(Weights::Given(bad)).is_err());
        }
        let anmi = of(Weights::Scheme(Scheme::Anmi)).unwrap();
        assert!((anmi.iter().sum::<f64>() - 5.0).abs() < 1e-12);
    }

    #[test]
    fn validity_and_diversity_are_scaled_and_averaged() {
        use mustlink_metrics as _;
        // Two tight pairs far apart: the first member is right, the second mixes them.
        let x = ndarray::array![[0.0], [1.0], [10.0], [11.0]];
        let problem = Problem::new(Data::dense(x).unwrap()).with_k(2);
        let members = [[0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 1, 1]];
        let members = members.iter().map(|m| Member::from_labels(m)).collect();
        let ensemble = Ensemble::new(4, members).unwrap();
        let rule = Weights::Scheme(Scheme::ValidityPlusDiversity);
        let w = rule.of(&ensemble, &problem, &Context::new(1)).unwrap();
        // Validity 1, 0, 1; diversity: 1 - NMI = 1/2, 1, 1/2, scaled 0, 1, 0.
        assert_eq!(w, [1.0, 1.0, 1.0]);
        // Without the objects there is no validity.
        let data = Data::dense(ndarray::Array2::zeros((4, 1))).unwrap();
        let none = Problem { data, ..problem };
        let none = rule.of(&ensemble, &none, &Context::new(1));
        assert!(none.unwrap_err().to_string().contains("--data"));
    }
}
