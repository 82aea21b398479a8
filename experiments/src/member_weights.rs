//! Feature weights of a result that combines methods.

use std::collections::HashMap;

use mustlink_core::clustering::{Clustering, Extras, NONE, Rule, Tried};
use mustlink_core::features::Lineage;
use mustlink_datasets::FeatureWeights;

/// The feature weights of the combined method that counts most among those that learned some, and its name. Weights
/// of each cluster are those of a method with the clusters of the result, in the order of the result.
pub(crate) fn weights_of_member(
    result: &Clustering,
    before: &Lineage,
    names: &[String],
) -> Option<(FeatureWeights, String)> {
    let tried = result.extras.tried.iter().filter(|t| t.weight > 0.0);
    let mut members: Vec<&Tried> = tried.collect();
    members.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    members.into_iter().find_map(|member| {
        let Rule { extras, lineage, .. } = member.rule.as_ref()?;
        // The precisions of a mixture are not weights of features.
        let none = Extras::default();
        let extras = if extras.mixing.is_some() { &none } else { extras };
        let mut weights = FeatureWeights::learned(extras, &before.then(lineage), names)?;
        if weights.rows.len() > 1 {
            let own = own_numbers(&result.labels, result.k, member.labels.as_ref()?)?;
            weights.rows = own
                .into_iter()
                .map(|own| weights.rows.get(own as usize).cloned())
                .collect::<Option<_>>()?;
        }
        Some((weights, member.name.clone()))
    })
}

/// The number that each of the `k` clusters of `labels` has in `own`. `None` if these are other clusters.
fn own_numbers(labels: &[u32], k: usize, own: &[u32]) -> Option<Vec<u32>> {
    let (mut numbers, mut taken) = (vec![NONE; k], HashMap::new());
    for (&label, &own) in labels.iter().zip(own).filter(|(label, _)| **label != NONE) {
        let number = &mut numbers[label as usize];
        if *number == NONE {
            *number = own;
        }
        if *number != own || *taken.entry(own).or_insert(label) != label {
            return None;
        }
    }
    (!numbers.contains(&NONE)).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_of_a_member_are_numbered_as_in_the_result() {
        let result = [0, 0, 1, 2, 1];
        assert_eq!(own_numbers(&result, 3, &[2, 2, 0, 1, 0]), Some(vec![2, 0, 1]));
        // An object is elsewhere, a cluster is divided, two are one.
        for own in [[2, 0, 0, 1, 0], [2, 3, 0, 1, 0], [2, 2, 0, 0, 0]] {
            assert_eq!(own_numbers(&result, 3, &own), None);
        }
        assert_eq!(own_numbers(&result, 4, &[2, 2, 0, 1, 0]), None);
    }
}
