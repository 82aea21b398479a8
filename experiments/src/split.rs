//! The objects that are held out for scoring.
//!
//! A split is a list of (repeat, fold) with a set of test objects each. The clusterer always gets
//! all objects; only training objects may appear in queries and constraints.

use mustlink_core::kind::{self, Described};
use mustlink_core::random::SeedPath;
use mustlink_core::{Error, Result};
use serde::{Deserialize, Serialize};

/// Rule for holding out objects for scoring.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Described)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Split {
    /// No test set: every object may be asked about and every object is scored.
    All {
        /// Number of repeats, each with other random numbers.
        #[serde(default = "one")]
        #[option(min = 1, max = 1_000_000)]
        repeats: usize,
    },
    /// Each repeat draws a fresh random test set.
    Holdout {
        /// Share of the objects in the test set, rounded to whole objects, at least one.
        #[serde(default = "tenth")]
        #[option(above = 0.0, below = 1.0)]
        test_fraction: f64,
        /// Number of test sets.
        #[serde(default = "one")]
        #[option(min = 1, max = 1_000_000)]
        repeats: usize,
        /// Draw from each class in proportion to its size.
        #[serde(default)]
        stratified: bool,
    },
    /// Each repeat shuffles the objects and deals them to folds; every object is tested once per repeat.
    Kfold {
        /// Number of folds; their sizes differ by at most one.
        #[serde(default = "five")]
        #[option(min = 2, max = 1_000_000)]
        folds: usize,
        /// Number of shuffles.
        #[serde(default = "one")]
        #[option(min = 1, max = 1_000_000)]
        repeats: usize,
        /// Deal class by class, so that each fold has about the same classes.
        #[serde(default)]
        stratified: bool,
    },
}

fn one() -> usize {
    1
}
fn five() -> usize {
    5
}
fn tenth() -> f64 {
    0.1
}

impl Default for Split {
    fn default() -> Self {
        Split::All { repeats: 1 }
    }
}

impl Split {
    /// Number of repeats of the whole work.
    pub fn repeats(&self) -> usize {
        match self {
            Split::All { repeats }
            | Split::Holdout { repeats, .. }
            | Split::Kfold { repeats, .. } => *repeats,
        }
    }

    /// Test sets per repeat.
    pub fn folds(&self) -> usize {
        match self {
            Split::Kfold { folds, .. } => *folds,
            _ => 1,
        }
    }

    /// True if objects are held back at all.
    pub fn has_test(&self) -> bool {
        !matches!(self, Split::All { .. })
    }

    /// The test objects of every fold of one repeat, as masks over `n` objects; `None` for `all`.
    ///
    /// `path` is that of the data set (seed, data set id). Classes are read only when stratified;
    /// objects without a class form a class of their own then.
    ///
    /// # Errors
    /// `BadParam` when there are fewer objects than folds, or nothing is left to train on.
    pub fn tests(
        &self,
        n: usize,
        classes: Option<&[Option<u32>]>,
        path: &SeedPath,
        repeat: usize,
    ) -> Result<Vec<Option<Vec<bool>>>> {
        // The fold is decided here, so the path ends with the repeat.
        let mut stream = path.index(repeat).child("split").stream("shuffle");
        let mut shuffled = |stratified: bool| -> Vec<Vec<u32>> {
            if !stratified {
                return vec![stream.permutation(n)];
            }
            let class = |i: usize| classes.and_then(|c| c[i]).map_or(u32::MAX, |c| c);
            let mut names: Vec<u32> = (0..n).map(class).collect();
            names.sort_unstable();
            names.dedup();
            names
                .into_iter()
                .map(|name| {
                    let mut members: Vec<u32> =
                        (0..n as u32).filter(|&i| class(i as usize) == name).collect();
                    stream.shuffle(&mut members);
                    members
                })
                .collect()
        };
        match *self {
            Split::All { .. } => Ok(vec![None]),
            Split::Holdout { test_fraction, stratified, .. } => {
                let size = ((test_fraction * n as f64).round() as usize).max(1);
                if size >= n {
                    let legal = format!("small enough to leave one of {n} objects for training");
                    return Err(Error::bad_param("split.test_fraction", test_fraction, legal));
                }
                let groups = shuffled(stratified);
                let mut mask = vec![false; n];
                for (group, take) in groups.iter().zip(shares(&groups, size, n)) {
                    group[..take].iter().for_each(|&i| mask[i as usize] = true);
                }
                Ok(vec![Some(mask)])
            }
            Split::Kfold { folds, stratified, .. } => {
                if folds < 2 || folds > n {
                    let legal = format!("between 2 and {n} (the number of objects)");
                    return Err(Error::bad_param("split.folds", folds, legal));
                }
                let mut masks = vec![vec![false; n]; folds];
                // One deal round the table, going on from class to class: sizes stay within one.
                for (at, i) in shuffled(stratified).into_iter().flatten().enumerate() {
                    masks[at % folds][i as usize] = true;
                }
                Ok(masks.into_iter().map(Some).collect())
            }
        }
    }
}

/// `size` objects shared among groups in proportion to their sizes: whole parts first, then the
/// largest remainders, the first group on ties.
fn shares(groups: &[Vec<u32>], size: usize, n: usize) -> Vec<usize> {
    let mut take: Vec<usize> = groups.iter().map(|g| g.len() * size / n).collect();
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by_key(|&g| std::cmp::Reverse(groups[g].len() * size % n));
    let missing = size - take.iter().sum::<usize>();
    order.iter().take(missing).for_each(|&g| take[g] += 1);
    take
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn path() -> SeedPath {
        SeedPath::new(3).child("iris")
    }

    fn classes(n: usize, k: usize) -> Vec<Option<u32>> {
        (0..n).map(|i| (i % 7 != 6).then_some((i * i % k) as u32)).collect()
    }

    proptest! {
        #[test]
        fn folds_partition(
            n in 2usize..80, folds in 2usize..12, repeat in 0usize..3, stratified: bool, k in 1usize..5,
        ) {
            let folds = folds.min(n);
            let split = Split::Kfold { folds, repeats: 3, stratified };
            let classes = classes(n, k);
            let masks = split.tests(n, Some(&classes), &path(), repeat).unwrap();
            prop_assert_eq!(masks.len(), folds);
            let masks: Vec<Vec<bool>> = masks.into_iter().flatten().collect();
            for i in 0..n {
                prop_assert_eq!(masks.iter().filter(|m| m[i]).count(), 1);
            }
            let size = |m: &Vec<bool>| m.iter().filter(|t| **t).count();
            let sizes: Vec<usize> = masks.iter().map(size).collect();
            prop_assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
            if stratified {
                for c in (0..k as u32).map(Some).chain([None]) {
                    let of = |m: &Vec<bool>| (0..n).filter(|&i| m[i] && classes[i] == c).count();
                    let counts: Vec<usize> = masks.iter().map(of).collect();
                    prop_assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1);
                }
            }
        }

        #[test]
        fn holdout_has_the_size_asked_for(n in 2usize..90, f in 0.01f64..0.9, stratified: bool) {
            let split = Split::Holdout { test_fraction: f, repeats: 1, stratified };
            let size = ((f * n as f64).round() as usize).max(1);
            match split.tests(n, Some(&classes(n, 3)), &path(), 0) {
                Ok(masks) => {
                    let mask = masks[0].as_ref().unwrap();
                    prop_assert_eq!(mask.iter().filter(|t| **t).count(), size);
                }
                Err(_) => prop_assert!(size >= n),
            }
        }
    }

    #[test]
    fn repeats_differ_and_come_back() {
        let split = Split::Kfold { folds: 5, repeats: 2, stratified: false };
        let at = |r| split.tests(40, None, &path(), r).unwrap();
        assert_eq!(at(0), at(0));
        assert_ne!(at(0), at(1));
    }

    #[test]
    fn too_many_folds_are_refused() {
        let split = Split::Kfold { folds: 9, repeats: 1, stratified: false };
        let message = split.tests(8, None, &path(), 0).unwrap_err().to_string();
        assert_eq!(message, "split.folds: must be between 2 and 8 (the number of objects), got 9");
    }
}
