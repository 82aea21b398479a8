//! In which order, under which names and with which weight do the members of an ensemble count?

use mustlink_core::clustering::compact;
use mustlink_core::prelude::*;
use mustlink_core::registry;
use mustlink_kernels::agreement::contingency::nmi_geometric;
use rayon::prelude::*;

/// How much each member counts, times the weight it has of its own.
#[options]
pub enum Weights {
    /// By a rule.
    Scheme(Scheme),
    /// As given, one weight >= 0 per member, not all 0.
    Given(Vec<f64>),
}

/// A rule for the weights of members.
#[options]
pub enum Scheme {
    /// All the same.
    Uniform,
    /// Mean normalised mutual information with the other members.
    Anmi,
    /// Half the mean of silhouette, Calinski–Harabasz and Davies–Bouldin, half the mean distance from
    /// the other members, each scaled to [0, 1] over the members. O(τ n²) for the silhouettes.
    ValidityPlusDiversity,
}

impl Default for Weights {
    fn default() -> Self {
        Weights::Scheme(Scheme::Uniform)
    }
}

impl Weights {
    /// One weight per member, mean 1, those they have of their own left out.
    ///
    /// # Errors
    /// `BadParam` for a list of another length, a weight that is negative or not finite, or all 0.
    pub fn of(&self, ensemble: &Ensemble, problem: &Problem) -> Result<Vec<f64>> {
        let tau = ensemble.len();
        let mut weights = match self {
            Weights::Scheme(Scheme::Uniform) => return Ok(vec![1.0; tau]),
            Weights::Scheme(Scheme::Anmi) => mean_nmi(ensemble),
            Weights::Scheme(Scheme::ValidityPlusDiversity) => {
                validity_plus_diversity(ensemble, problem)?
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
    /// As [`Weights::of`]; `BadParam` when no member is left.
    pub(crate) fn counting<'a>(
        &self,
        ensemble: &'a Ensemble,
        problem: &Problem,
    ) -> Result<Vec<(&'a Member, f64)>> {
        let weights = self.of(ensemble, problem)?;
        let weighed = ensemble.members().iter().zip(weights).map(|(m, w)| (m, m.weight * w));
        let mut counting: Vec<(&Member, f64)> = weighed.filter(|(_, w)| *w > 0.0).collect();
        if counting.is_empty() {
            let legal = "> 0 for some member that has a weight > 0 of its own";
            return Err(Error::bad_param("weights", "only 0", legal));
        }
        if counting.windows(2).all(|w| w[0].1 == w[1].1) {
            counting.iter_mut().for_each(|(_, w)| *w = 1.0);
        }
        Ok(counting)
    }
}

/// The two labels of every object that both members saw.
pub(crate) fn shared(a: &[u32], b: &[u32]) -> (Vec<u32>, Vec<u32>) {
    a.iter().zip(b).filter(|(x, y)| **x != NONE && **y != NONE).map(|(x, y)| (*x, *y)).unzip()
}

/// Normalised mutual information of two members on the objects both saw.
pub(crate) fn nmi(a: &[u32], b: &[u32]) -> f64 {
    if a.contains(&NONE) || b.contains(&NONE) {
        let (a, b) = shared(a, b);
        return nmi_geometric(&a, &b);
    }
    nmi_geometric(a, b)
}

/// The mean of `values`, each as often as its weight says; `None` of nothing. Sorted first, so that
/// the order of the members leaves no trace in the sums.
pub(crate) fn weighted_mean(mut values: Vec<(f64, f64)>) -> Option<f64> {
    values.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let sum: f64 = values.iter().map(|(v, w)| w * v).sum();
    let total: f64 = values.iter().map(|(_, w)| w).sum();
    (total > 0.0).then(|| sum / total)
}

/// For every member the mean normalised mutual information with the others, each of these counting
/// as much as it weighs; 1 for a single member.
pub fn mean_nmi(ensemble: &Ensemble) -> Vec<f64> {
    let members = ensemble.members();
    let tau = members.len();
    let pairs: Vec<(usize, usize)> = (0..tau).flat_map(|s| (0..s).map(move |t| (s, t))).collect();
    let values: Vec<f64> =
        pairs.par_iter().map(|&(s, t)| nmi(&members[s].labels, &members[t].labels)).collect();
    let mut all = vec![Vec::with_capacity(tau); tau];
    for (&(s, t), v) in pairs.iter().zip(values) {
        all[s].push((v, members[t].weight));
        all[t].push((v, members[s].weight));
    }
    all.into_iter().map(|values| weighted_mean(values).unwrap_or(1.0)).collect()
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

fn validity_plus_diversity(ensemble: &Ensemble, problem: &Problem) -> Result<Vec<f64>> {
    let tau = ensemble.len();
    let indices = ["silhouette", "calinski_harabasz", "davies_bouldin"];
    let mut validity = vec![0.0; tau];
    for tag in indices {
        let metric: Box<dyn Metric> = registry::build_default(tag)?;
        let sign = if metric.properties().higher_is_better { 1.0 } else { -1.0 };
        let values = ensemble
            .members()
            .iter()
            .map(|m| {
                let scope: Vec<bool> = m.labels.iter().map(|&l| l != NONE).collect();
                let labels: Vec<u32> =
                    m.labels.iter().map(|&l| if l == NONE { 0 } else { l }).collect();
                let input = MetricInput {
                    labels: &labels,
                    scope: scope.contains(&false).then_some(&scope[..]),
                    data: Some(&problem.data),
                    ..MetricInput::default()
                };
                Ok(metric.score(&input)?.filter(|_| m.weight > 0.0).map(|v| sign * v))
            })
            .collect::<Result<Vec<_>>>()?;
        validity.iter_mut().zip(scaled(&values)).for_each(|(v, s)| *v += s / indices.len() as f64);
    }
    // Members of weight 0 are no measure for the others.
    let apart = mean_nmi(ensemble).into_iter().zip(ensemble.members());
    let distance: Vec<Option<f64>> =
        apart.map(|(v, m)| (m.weight > 0.0).then_some(1.0 - v)).collect();
    Ok(validity.iter().zip(scaled(&distance)).map(|(v, d)| (v + d) / 2.0).collect())
}

/// An ensemble as consensus functions read it: without members of weight 0, clusters named by first
/// appearance, members in an order of their own. So neither names nor order leave a trace in a result.
pub(crate) struct CanonicalEnsemble<'a> {
    /// Number of objects.
    pub n: usize,
    /// Number of clusters wanted.
    pub k: usize,
    /// Labels of each member, in `0..clusters` or [`NONE`].
    pub labels: Vec<Vec<u32>>,
    /// The members themselves.
    pub members: Vec<&'a Member>,
    /// Weight of each member, mean 1.
    pub weights: Vec<f64>,
    /// The same as they were given, whole numbers if they were: where only ratios count, sums of
    /// these are exact. 1 where all members count the same.
    pub given: Vec<f64>,
    /// Where the clusters of each member begin when those of all are counted through.
    pub first: Vec<usize>,
}

impl<'a> CanonicalEnsemble<'a> {
    /// The ensemble as the plugin `tag` reads it.
    ///
    /// # Errors
    /// `MissingK`, `BadK`, `TooManyClusters`; those of the weights.
    pub fn new(
        ensemble: &'a Ensemble,
        problem: &Problem,
        weights: &Weights,
        tag: &str,
    ) -> Result<Self> {
        let k = problem.require_k(None, tag)?;
        let counting = weights.counting(ensemble, problem)?;
        let mut all: Vec<(Vec<u32>, usize, f64, &Member)> = counting
            .into_par_iter()
            .map(|(m, w)| {
                let (labels, clusters) = compact(&m.labels);
                (labels, clusters, w, m)
            })
            .collect();
        all.sort_by(|a, b| {
            a.0.cmp(&b.0).then(a.2.total_cmp(&b.2)).then_with(|| by_extras(a.3, b.3))
        });
        let mut view = CanonicalEnsemble {
            n: ensemble.n(),
            k,
            labels: Vec::with_capacity(all.len()),
            members: Vec::with_capacity(all.len()),
            weights: Vec::new(),
            given: Vec::with_capacity(all.len()),
            first: vec![0],
        };
        for (labels, clusters, weight, member) in all {
            view.first.push(view.first[view.first.len() - 1] + clusters);
            view.labels.push(labels);
            view.given.push(weight);
            view.members.push(member);
        }
        let mean = view.given.iter().sum::<f64>() / view.len() as f64;
        // Weights by a rule have this mean already, up to rounding.
        let mean = if (mean - 1.0).abs() < 1e-9 { 1.0 } else { mean };
        view.weights = view.given.iter().map(|w| w / mean).collect();
        Ok(view)
    }

    /// The ensemble as `tag` reads it, which counts all members the same: a warning says so where
    /// they weigh differently.
    ///
    /// # Errors
    /// As [`CanonicalEnsemble::new`].
    pub fn unweighted(
        ensemble: &'a Ensemble,
        problem: &Problem,
        tag: &str,
        ctx: &Context,
    ) -> Result<Self> {
        let view = CanonicalEnsemble::new(ensemble, problem, &Weights::default(), tag)?;
        if !view.is_uniform() {
            ctx.warn(format!("{tag} counts all members the same, whatever they weigh"));
        }
        Ok(view)
    }

    /// The outcome of k = 1 and k = n, for which nothing need be done.
    pub fn trivial(&self) -> Option<Clustering> {
        match self.k {
            1 => Some(Clustering { k: 1, ..Clustering::from_labels(vec![0; self.n]) }),
            k if k == self.n => Some(Clustering::from_labels((0..k as u32).collect())),
            _ => None,
        }
    }

    /// Number of members.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Clusters of all members.
    pub fn clusters(&self) -> usize {
        self.first[self.len()]
    }

    /// All members count the same.
    pub fn is_uniform(&self) -> bool {
        self.weights.iter().all(|&w| w == 1.0)
    }

    /// No label is missing.
    pub fn is_complete(&self) -> bool {
        self.labels.par_iter().all(|l| !l.contains(&NONE))
    }

    /// The members as an ensemble of labels and weights.
    pub fn ensemble(&self) -> Ensemble {
        let member = |t: usize| Member {
            labels: self.labels[t].clone(),
            k: self.first[t + 1] - self.first[t],
            weight: self.given[t],
            ..Member::default()
        };
        let members = (0..self.len()).map(member).collect();
        Ensemble::new(self.n, members).expect("members of one ensemble fit together")
    }

    /// The cluster of object `i` in member `t`, counted through all members.
    pub fn cluster(&self, i: usize, t: usize) -> Option<usize> {
        let l = self.labels[t][i];
        (l != NONE).then(|| self.first[t] + l as usize)
    }
}

/// An order of members with the same labels.
fn by_extras(a: &Member, b: &Member) -> std::cmp::Ordering {
    let of = |m: &Member| {
        let e = &m.extras;
        let tables = [&e.distances, &e.memberships, &e.weights, &e.centers];
        tables.map(|t| t.as_ref().map(|t| t.iter().map(|v| v.to_bits()).collect::<Vec<u64>>()))
    };
    of(a).cmp(&of(b))
}

/// Labels of all objects: one that has none goes where its mean co-association is largest, ties to
/// the lower label; an object no member saw goes to label 0.
pub(crate) fn without_missing(labels: &[u32], ensemble: &Ensemble) -> Vec<u32> {
    if !labels.contains(&NONE) {
        return labels.to_vec();
    }
    let k = labels.iter().filter(|&&l| l != NONE).max().map_or(1, |&l| l as usize + 1);
    let mut sizes = vec![0.0f64; k];
    labels.iter().filter(|&&l| l != NONE).for_each(|&l| sizes[l as usize] += 1.0);
    let mut sums = vec![0u64; labels.len() * k];
    for m in ensemble.members() {
        let clusters = m.labels.iter().filter(|&&l| l != NONE).max().map_or(0, |&l| l as usize + 1);
        let mut table = vec![0u64; clusters * k];
        for (&l, &own) in m.labels.iter().zip(labels) {
            if l != NONE && own != NONE {
                table[l as usize * k + own as usize] += 1;
            }
        }
        for (i, &l) in m.labels.iter().enumerate().filter(|(i, _)| labels[*i] == NONE) {
            if l != NONE {
                let row = &table[l as usize * k..(l as usize + 1) * k];
                sums[i * k..(i + 1) * k].iter_mut().zip(row).for_each(|(s, r)| *s += r);
            }
        }
    }
    let of = |i: usize, l: u32| {
        if l != NONE {
            return l;
        }
        let mean = |c: usize| if sizes[c] > 0.0 { sums[i * k + c] as f64 / sizes[c] } else { 0.0 };
        (1..k).fold(0, |best, c| if mean(c) > mean(best) { c } else { best }) as u32
    };
    labels.iter().enumerate().map(|(i, &l)| of(i, l)).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use ndarray::Array2;

    /// The worked example E12: 12 objects, 5 members; and its classes.
    pub fn e12() -> (Ensemble, Problem) {
        let members = [
            [0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2],
            [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2],
            [0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2],
            [0, 0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 2],
            [0, 0, 0, 0, 3, 1, 1, 1, 1, 2, 2, 2],
        ];
        let members = members.iter().map(|m| Member::from_labels(m)).collect();
        (Ensemble::new(12, members).unwrap(), blank(12, 3))
    }

    pub const E12_CLASSES: [u32; 12] = [0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2];

    /// A problem of which only the size matters.
    pub fn blank(n: usize, k: usize) -> Problem {
        Problem::new(Data::dense(Array2::zeros((n, 1))).unwrap()).with_k(k)
    }

    #[test]
    fn agreement_of_e12() {
        let (ensemble, _) = e12();
        let anmi = mean_nmi(&ensemble);
        assert!((anmi.iter().sum::<f64>() / 5.0 - 0.655795).abs() < 1e-6);
        let to_classes = ensemble.members().iter().map(|m| nmi(&m.labels, &E12_CLASSES));
        assert!((to_classes.sum::<f64>() / 5.0 - 0.774125).abs() < 1e-6);
        let members = ensemble.members();
        let mut ari = Vec::new();
        for s in 0..5 {
            for t in 0..s {
                let (a, b) = (&members[s].labels, &members[t].labels);
                ari.push(mustlink_kernels::agreement::contingency::adjusted_rand(a, b));
            }
        }
        assert!((ari.iter().sum::<f64>() / 10.0 - 0.478804).abs() < 1e-6);
    }

    #[test]
    fn weights_have_mean_one_or_are_refused() {
        let (ensemble, problem) = e12();
        let of = |w: Weights| w.of(&ensemble, &problem);
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
        let w = Weights::Scheme(Scheme::ValidityPlusDiversity).of(&ensemble, &problem).unwrap();
        // Validity 1, 0, 1; diversity: 1 - NMI = 1/2, 1, 1/2, scaled 0, 1, 0.
        assert_eq!(w, [1.0, 1.0, 1.0]);
    }

    #[test]
    fn an_object_without_a_label_joins_those_it_meets() {
        let labels = [[0, 0, NONE, 1], [0, 0, 1, 1], [0, 0, 1, 1]];
        let members: Vec<Member> = labels.iter().map(|l| Member::from_labels(l)).collect();
        let ensemble = Ensemble::new(4, members).unwrap();
        assert_eq!(without_missing(&labels[0], &ensemble), [0, 0, 1, 1]);
    }
}
