//! How far do the members of an ensemble agree?

use mustlink_core::prelude::*;
use mustlink_kernels::agreement::contingency::nmi_geometric;
use rayon::prelude::*;

/// The two labels of every object that both members saw.
pub(crate) fn shared(a: &[u32], b: &[u32]) -> (Vec<u32>, Vec<u32>) {
    a.iter().zip(b).filter(|(x, y)| **x != NONE && **y != NONE).map(|(x, y)| (*x, *y)).unzip()
}

/// At most `most` elements of `all`, evenly spaced.
pub(crate) fn some_of(all: &[usize], most: usize) -> Vec<usize> {
    let count = all.len().min(most);
    (0..count).map(|at| all[at * all.len() / count]).collect()
}

/// Normalised mutual information of two members on the objects both saw; `None` where these are fewer than
/// two, of which nothing can be said.
pub(crate) fn nmi(a: &[u32], b: &[u32]) -> Option<f64> {
    if a.contains(&NONE) || b.contains(&NONE) {
        let (a, b) = shared(a, b);
        return (a.len() > 1).then(|| nmi_geometric(&a, &b));
    }
    Some(nmi_geometric(a, b))
}

/// The mean of `values`, each as often as its weight says; `None` of nothing. Sorted first, so that
/// the order of the members leaves no trace in the sums.
pub(crate) fn weighted_mean(mut values: Vec<(f64, f64)>) -> Option<f64> {
    values.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let sum: f64 = values.iter().map(|(v, w)| w * v).sum();
    let total: f64 = values.iter().map(|(_, w)| w).sum();
    (total > 0.0).then(|| sum / total)
}

/// For every member the mean normalised mutual information with the others that saw two objects which it
/// saw, each of these counting as much as it weighs; 0 without such, 1 for all where no two can be compared.
///
/// # Errors
/// Cancellation.
pub fn mean_nmi(ensemble: &Ensemble, ctx: &Context) -> Result<Vec<f64>> {
    let members = ensemble.members();
    let tau = members.len();
    let pairs: Vec<(usize, usize)> = (0..tau).flat_map(|s| (0..s).map(move |t| (s, t))).collect();
    let values = pairs.par_iter().map(|&(s, t)| -> Result<Option<f64>> {
        ctx.check()?;
        Ok(nmi(&members[s].labels, &members[t].labels))
    });
    let values: Vec<Option<f64>> = values.collect::<Result<_>>()?;
    let mut all = vec![Vec::with_capacity(tau); tau];
    for (&(s, t), v) in pairs.iter().zip(values) {
        let Some(v) = v else { continue };
        all[s].push((v, members[t].weight));
        all[t].push((v, members[s].weight));
    }
    let alone = if all.iter().all(Vec::is_empty) { 1.0 } else { 0.0 };
    Ok(all.into_iter().map(|values| weighted_mean(values).unwrap_or(alone)).collect())
}

/// Members that are compared with each other; of more an even choice is taken.
const COMPARED: usize = 20;

/// Warns if `labels` agree less with the members than these do with each other, by their mean normalised mutual
/// information: a consensus that contradicts its members.
///
/// # Errors
/// Cancellation.
pub fn warn_of_contradiction(ensemble: &Ensemble, labels: &[u32], ctx: &Context) -> Result<()> {
    let members = ensemble.members();
    let counting: Vec<usize> = (0..members.len()).filter(|&t| members[t].weight > 0.0).collect();
    let some = some_of(&counting, COMPARED);
    let pairs: Vec<(usize, usize)> =
        (0..some.len()).flat_map(|s| (0..=s).map(move |t| (s, t))).collect();
    let values = pairs.into_par_iter().map(|(s, t)| {
        ctx.check()?;
        let own = &members[some[s]].labels;
        // A member and itself stand for the member and the result.
        let other = if s == t { labels } else { &members[some[t]].labels[..] };
        Ok(nmi(own, other).map(|v| (s == t, v)))
    });
    let values: Vec<Option<(bool, f64)>> = values.collect::<Result<_>>()?;
    let mean = |of_result: bool| {
        let values = values.iter().flatten().filter(|v| v.0 == of_result).map(|v| (v.1, 1.0));
        weighted_mean(values.collect())
    };
    if let (Some(result), Some(between)) = (mean(true), mean(false))
        && result < between - 1e-9
        && labels.iter().any(|&l| l != labels[0])
    {
        ctx.warn(format!(
            "the result agrees less with the partitions than they do with each other (mean NMI {result:.3} and \
             {between:.3}); try another consensus function or another k"
        ));
    }
    Ok(())
}

/// Operations of that for `members` members of `n` objects.
pub(crate) fn operations(n: usize, members: usize) -> f64 {
    8.0 * n as f64 * (members as f64).powi(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::e12::{E12_CLASSES, e12};
    use mustlink_kernels::agreement::contingency::adjusted_rand;

    #[test]
    fn agreement_of_e12() {
        let (ensemble, _) = e12();
        let anmi = mean_nmi(&ensemble, &Context::new(1)).unwrap();
        assert!((anmi.iter().sum::<f64>() / 5.0 - 0.655795).abs() < 1e-6);
        let to_classes = ensemble.members().iter().filter_map(|m| nmi(&m.labels, &E12_CLASSES));
        assert!((to_classes.sum::<f64>() / 5.0 - 0.774125).abs() < 1e-6);
        let members = ensemble.members();
        let mut ari = Vec::new();
        for s in 0..5 {
            for t in 0..s {
                let (a, b) = (&members[s].labels, &members[t].labels);
                ari.push(adjusted_rand(a, b));
            }
        }
        assert!((ari.iter().sum::<f64>() / 10.0 - 0.478804).abs() < 1e-6);
    }

    #[test]
    fn every_pair_of_members_looks_at_the_flag() {
        let (ensemble, _) = e12();
        let ctx = Context::builder(SeedPath::new(1)).count_looks().build();
        mean_nmi(&ensemble, &ctx).unwrap();
        assert_eq!(ctx.looks(), 10);
        let ctx = Context::builder(SeedPath::new(1)).cancel_after(5).build();
        assert_eq!(mean_nmi(&ensemble, &ctx), Err(Error::Cancelled));
    }

    #[test]
    fn members_that_share_too_little_are_not_compared() {
        let member = |labels: &[u32]| Member::from_labels(labels);
        let members =
            vec![member(&[0, 0, 1, NONE]), member(&[0, 1, 1, NONE]), member(&[NONE, NONE, 0, 1])];
        let ensemble = Ensemble::new(4, members).unwrap();
        let found = mean_nmi(&ensemble, &Context::new(1)).unwrap();
        assert_eq!(found[0], nmi_geometric(&[0, 0, 1], &[0, 1, 1]));
        assert_eq!((found[1], found[2]), (found[0], 0.0));
    }
}
