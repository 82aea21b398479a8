//! The comparison of two methods on a next data set, from their folds.

use mustlink_experiments::verdict::{Results, Sample};
use rayon::prelude::*;

use crate::samples;
use crate::statistics::hierarchical::{Next, hierarchical};

/// Methods up to which every two are compared; of more, each with the control alone: a pair takes some
/// hundredths of a second.
const ALL_PAIRS: usize = 12;

/// The numbers of one metric by fold, method after method and set after set.
pub(crate) struct Folds(Vec<Vec<Sample>>);

impl Folds {
    /// The areas of curves, or their last points. A fold without a number is left out, a set without rows empty.
    pub fn of(
        results: &Results,
        metric: &str,
        area: bool,
        methods: &[&str],
        sets: &[String],
    ) -> Folds {
        let sample = |method: &str, set: &str| {
            let curve = samples::curve(results, set, metric, method)?;
            Some(if area { samples::areas(curve) } else { curve.last()?.1.clone() })
        };
        let of = |method: &&str| {
            sets.iter().map(|set| sample(method, set).unwrap_or_default()).collect()
        };
        Folds(methods.iter().map(of).collect())
    }

    /// Results of the hierarchical model for every two methods, as a table of first and second; `None` if they
    /// were not compared. Differences are multiplied by `sign`, so that more is better.
    pub fn compared(
        &self,
        control: usize,
        (sign, rope): (f64, f64),
        correlation: f64,
        seed: u64,
    ) -> Vec<Vec<Option<Next>>> {
        let k = self.0.len();
        let all = k <= ALL_PAIRS;
        let pairs: Vec<(usize, usize)> = (0..k)
            .flat_map(|a| (a + 1..k).map(move |b| (a, b)))
            .filter(|(a, b)| all || [*a, *b].contains(&control))
            .collect();
        let found: Vec<Option<Next>> = pairs
            .par_iter()
            .map(|(a, b)| {
                let both = self.0[*a].iter().zip(&self.0[*b]);
                let differences: Vec<Vec<f64>> = both
                    .map(|(a, b)| samples::differences(a, b).iter().map(|d| sign * d).collect())
                    .collect();
                hierarchical(&differences, correlation, rope, seed)
            })
            .collect();
        let mut table = vec![vec![None; k]; k];
        for ((a, b), next) in pairs.into_iter().zip(found) {
            table[a][b] = next;
            table[b][a] = next.map(Next::swapped);
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Method by method a little better in each of four folds of three sets.
    fn rising(methods: usize) -> Folds {
        let value = |method: usize, set: usize, fold: usize| {
            0.1 * method as f64 + 0.001 * ((3 * method + 5 * set + 7 * fold) % 11) as f64
        };
        let sample = |method: usize, set: usize| {
            (0..4).map(|fold| ((0, fold), value(method, set, fold))).collect()
        };
        Folds((0..methods).map(|m| (0..3).map(|set| sample(m, set)).collect()).collect())
    }

    #[test]
    fn pairs_know_the_direction_and_turn() {
        let table = rising(3).compared(0, (1.0, 0.01), 0.25, 1);
        let next = table[2][0].unwrap();
        assert!(next.decided.first > 0.9 && next.probabilities.first > 0.8, "{next:?}");
        assert_eq!(table[0][2], Some(next.swapped()));
        let turned = rising(3).compared(0, (-1.0, 0.01), 0.25, 1);
        assert_eq!(turned[0][2], Some(next));
        assert!((0..3).all(|m| table[m][m].is_none()));
    }

    #[test]
    fn of_many_methods_the_control_alone_is_compared() {
        let table = rising(13).compared(4, (1.0, 0.01), 0.25, 1);
        assert!(table[4][12].is_some() && table[0][4].is_some() && table[0][1].is_none());
        let compared = table.iter().flatten().filter(|n| n.is_some()).count();
        assert_eq!(compared, 2 * 12);
    }

    #[test]
    fn a_set_without_folds_is_no_comparison() {
        let mut folds = rising(2);
        folds.0[1][2].clear();
        assert_eq!(folds.compared(0, (1.0, 0.01), 0.25, 1), vec![vec![None; 2]; 2]);
    }
}
