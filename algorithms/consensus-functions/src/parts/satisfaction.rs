//! The share of the constraints that a partition satisfies.

use mustlink_core::prelude::*;

/// Degree to which `labels` satisfy the constraints between objects with labels better than chance. This is the share
/// of the must-links that hold plus the share of the cannot-links, minus 1, by weight; 0 if that is negative. All
/// objects in one cluster, and each in its own, get 0. If only one kind is present, the share of that kind. `None`
/// without such constraints.
///
/// That is Youden's index of the statement "together"; a plain share of all constraints would choose the
/// number of clusters by how many of the constraints are cannot-links.
pub(crate) fn met(labels: &[u32], constraints: &Constraints) -> Option<f64> {
    let share = |kind: Kind| {
        let (mut met, mut seen) = (0.0, 0.0);
        for c in constraints.pairs().iter().filter(|c| c.kind == kind) {
            if labels[c.i as usize] != NONE && labels[c.j as usize] != NONE {
                seen += c.weight;
                met += if c.is_violated(labels) { 0.0 } else { c.weight };
            }
        }
        (seen > 0.0).then(|| met / seen)
    };
    match (share(Kind::MustLink), share(Kind::CannotLink)) {
        (Some(must), Some(cannot)) => Some((must + cannot - 1.0).max(0.0)),
        (must, cannot) => must.or(cannot),
    }
}

/// Satisfaction of every member; a member without constraints gets the mean of the others. All are 1 if
/// no member satisfies any constraint, and without constraints.
pub(crate) fn of_members(ensemble: &Ensemble, constraints: &Constraints) -> Vec<f64> {
    let all: Vec<Option<f64>> =
        ensemble.members().iter().map(|m| met(&m.labels, constraints)).collect();
    let mut seen: Vec<f64> = all.iter().flatten().copied().collect();
    // The order of the members leaves no trace in the sum.
    order::sort_values(&mut seen);
    let mean = seen.iter().sum::<f64>() / seen.len().max(1) as f64;
    if mean == 0.0 {
        return vec![1.0; all.len()];
    }
    all.into_iter().map(|met| met.unwrap_or(mean)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_by_hand() {
        let pairs = [
            Constraint::must(0, 1).weighing(3.0),
            Constraint::must(2, 3),
            Constraint::cannot(0, 2),
            Constraint::cannot(1, 4),
        ];
        let given = Constraints::new(5, pairs).unwrap();
        // 3 of 4 by weight and 1 of 2.
        assert_eq!(met(&[0, 0, 1, 0, 0], &given), Some(0.25));
        // One cluster, and five, say nothing about any pair.
        assert_eq!(met(&[0; 5], &given), Some(0.0));
        assert_eq!(met(&[0, 1, 2, 3, 4], &given), Some(0.0));
        // The cannot-links are not seen; then nothing is.
        assert_eq!(met(&[0, 0, NONE, NONE, NONE], &given), Some(1.0));
        assert_eq!(met(&[0, NONE, NONE, 0, NONE], &given), None);
        let member = |labels: &[u32]| Member::from_labels(labels);
        let members = vec![member(&[0, 0, 1, 0, 0]), member(&[0, NONE, NONE, 0, NONE])];
        let ensemble = Ensemble::new(5, members).unwrap();
        assert_eq!(of_members(&ensemble, &given), [0.25, 0.25]);
        assert_eq!(of_members(&ensemble, &Constraints::default()), [1.0, 1.0]);
    }
}
