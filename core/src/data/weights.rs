//! Weights of objects.

use std::sync::Arc;

use super::Data;
use crate::error::{Error, Result};

/// Weights between which sums of weighted squares stay numbers.
const RANGE: std::ops::RangeInclusive<f64> = 1e-30..=1e30;

impl Data {
    /// The same objects with weights: n weights, 0 or in 1e-30..=1e30, not all 0. An object of
    /// weight 2 counts like two of weight 1 in the same place. One of weight 0 gets a label and moves no
    /// centre except that of a cluster in which all objects weigh 0. Clusterers that do not declare `object_weights`
    /// reject them. Weights that are all 1 are dropped.
    ///
    /// # Errors
    /// `BadParam`.
    ///
    /// ```
    /// use mustlink_core::Data;
    /// use ndarray::array;
    ///
    /// # fn main() -> mustlink_core::Result<()> {
    /// let data = Data::dense(array![[0.0], [4.0]])?.with_weights(vec![3.0, 1.0])?;
    /// assert_eq!(data.subset(&[1]).weights(), Some(&[1.0][..]));
    /// assert!(data.clone().with_weights(vec![1.0]).is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_weights(mut self, weights: Vec<f64>) -> Result<Self> {
        let n = self.n();
        if weights.len() != n {
            let legal = format!("{n}, one for each object");
            return Err(Error::bad_param("weights", weights.len(), legal));
        }
        let legal = |&w: &f64| w == 0.0 || RANGE.contains(&w);
        if let Some(i) = weights.iter().position(|w| !legal(w)) {
            let w = weights[i];
            // Hundreds of zeros would hide the object.
            let long = w.is_finite() && !RANGE.contains(&w.abs());
            let value =
                if long { format!("{w:e} (object {i})") } else { format!("{w} (object {i})") };
            return Err(Error::bad_param("weights", value, "0 or between 1e-30 and 1e30"));
        }
        if weights.iter().all(|&w| w == 0.0) {
            return Err(Error::bad_param(
                "weights",
                "0 for all objects",
                "above 0 for one of them",
            ));
        }
        let once = weights.iter().all(|&w| w == 1.0);
        self.weights = (!once).then(|| weights.into());
        Ok(self)
    }

    /// Weight of each object; absent: 1.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// The same objects, each counted once.
    pub fn unweighted(&self) -> Self {
        Data { weights: None, ..self.clone() }
    }

    /// These objects, counted as those of `other`, which they stand for one by one.
    pub fn weighted_as(mut self, other: &Data) -> Self {
        self.weights = other.weights.clone();
        self
    }

    pub(super) fn weights_of(&self, rows: &[usize]) -> Option<Arc<[f64]>> {
        self.weights().map(|weights| rows.iter().map(|&r| weights[r]).collect())
    }
}

/// The weights of new rows, each the sum of those of the rows that `map` leads to it.
pub(crate) fn gathered(weights: &[f64], map: &[Option<u32>], rows: usize) -> Vec<f64> {
    let mut sums = vec![0.0; rows];
    for (weight, to) in weights.iter().zip(map) {
        if let Some(to) = to {
            sums[*to as usize] += weight;
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn three() -> Data {
        Data::dense(array![[0.0], [1.0], [2.0]]).unwrap()
    }

    #[test]
    fn weights_follow_their_rows() {
        let data = three().with_weights(vec![1.0, 0.0, 2.5]).unwrap();
        let some = data.subset(&[2, 0, 2]);
        assert_eq!(some.weights(), Some(&[2.5, 1.0, 2.5][..]));
        assert_eq!(some.subset(&[1]).contiguous().weights(), Some(&[1.0][..]));
        assert_eq!(some.unweighted().weights(), None);
        assert_ne!(data.digest(), three().digest());
        assert_ne!(data.digest(), three().with_weights(vec![1.0, 0.0, 2.0]).unwrap().digest());
        assert_eq!(gathered(&[1.0, 2.0, 4.0], &[Some(1), None, Some(1)], 2), [0.0, 5.0]);
    }

    #[test]
    fn what_is_no_weight_is_refused_by_its_object() {
        for (weights, says) in [
            (vec![1.0, 1.0], "weights: must be 3, one for each object, got 2"),
            (
                vec![1.0, -1.0, 1.0],
                "weights: must be 0 or between 1e-30 and 1e30, got -1 (object 1)",
            ),
            (
                vec![1.0, 1.0, f64::NAN],
                "weights: must be 0 or between 1e-30 and 1e30, got NaN (object 2)",
            ),
            (vec![1e31, 1.0, 1.0], "got 1e31 (object 0)"),
            (vec![1.0, 2.5e-300, 1.0], "got 2.5e-300 (object 1)"),
            (vec![0.0; 3], "weights: must be above 0 for one of them, got 0 for all objects"),
        ] {
            let refused = three().with_weights(weights).unwrap_err().to_string();
            assert!(refused.ends_with(says), "{refused}");
        }
    }
}
