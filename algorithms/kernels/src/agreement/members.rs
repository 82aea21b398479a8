//! The agreement of partitions of the same objects, some of which lack objects.

use mustlink_core::prelude::*;

use crate::agreement::contingency::nmi_geometric;

/// The two labels of every object that both members saw.
pub fn shared(a: &[u32], b: &[u32]) -> (Vec<u32>, Vec<u32>) {
    a.iter().zip(b).filter(|(x, y)| **x != NONE && **y != NONE).map(|(x, y)| (*x, *y)).unzip()
}

/// At most `most` elements of `all`, evenly spaced.
pub fn some_of(all: &[usize], most: usize) -> Vec<usize> {
    let count = all.len().min(most);
    (0..count).map(|at| all[at * all.len() / count]).collect()
}

/// Normalised mutual information of two members on the objects both saw; `None` for fewer than
/// two such objects, when it is undefined.
pub fn nmi(a: &[u32], b: &[u32]) -> Option<f64> {
    if a.contains(&NONE) || b.contains(&NONE) {
        let (a, b) = shared(a, b);
        return (a.len() > 1).then(|| nmi_geometric(&a, &b));
    }
    Some(nmi_geometric(a, b))
}

/// The mean of `values`, each as often as its weight says; `None` of nothing. Sorted first, so that
/// the order of the members leaves no trace in the sums.
pub fn weighted_mean(mut values: Vec<(f64, f64)>) -> Option<f64> {
    values.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let sum: f64 = values.iter().map(|(v, w)| w * v).sum();
    let total: f64 = values.iter().map(|(_, w)| w).sum();
    (total > 0.0).then(|| sum / total)
}

/// Members that are compared with each other; of more an even choice is taken.
const COMPARED: usize = 20;

/// Warns if a result agrees less with the members than these do with each other, by their mean normalised mutual
/// information: a consensus that contradicts its members. Members of more clusters than `k`, the number asked for, and
/// than the result are finer on purpose and agree more with each other; then there is no warning.
///
/// # Errors
/// Cancellation.
pub fn warn_of_contradiction(
    ensemble: &Ensemble,
    made: &Clustering,
    k: Option<usize>,
    ctx: &Context,
) -> Result<()> {
    let (members, labels) = (ensemble.members(), &made.labels[..]);
    let counting: Vec<usize> = (0..members.len()).filter(|&t| members[t].weight > 0.0).collect();
    if counting.iter().any(|&t| members[t].k > made.k.max(k.unwrap_or(0))) {
        return Ok(());
    }
    let some = some_of(&counting, COMPARED);
    let pairs: Vec<(usize, usize)> =
        (0..some.len()).flat_map(|s| (0..=s).map(move |t| (s, t))).collect();
    let values = reduce::try_map(pairs.len(), |at| {
        ctx.check()?;
        let (s, t) = pairs[at];
        let own = &members[some[s]].labels;
        // A member and itself stand for the member and the result.
        let other = if s == t { labels } else { &members[some[t]].labels[..] };
        Ok(nmi(own, other).map(|v| (s == t, v)))
    })?;
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
