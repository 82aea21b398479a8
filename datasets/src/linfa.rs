//! Conversions between our data sets and linfa's.

use linfa::DatasetBase;
use mustlink_core::{Data, DataKind, Error, Result};
use ndarray::{Array1, Array2, CowArray, Ix2};

use crate::dataset::{Classes, Dataset};

/// A data set as linfa sees it: objects, and the number of the class of each where it is known.
pub type LinfaView<'a> = DatasetBase<CowArray<'a, f64, Ix2>, Array1<Option<usize>>>;

impl Dataset {
    /// This data set for linfa. Nothing is copied where the data is a whole dense matrix.
    ///
    /// # Errors
    /// `UnsupportedData` for distances and affinities; sparse data must be made dense first.
    pub fn to_linfa(&self) -> Result<LinfaView<'_>> {
        if self.data.kind() != DataKind::Dense {
            return Err(Error::UnsupportedData {
                plugin: "linfa".into(),
                kind: self.data.kind().name(),
                accepts: DataKind::Dense.name().into(),
            });
        }
        let records = self.data.matrix();
        let classes = match &self.classes {
            Some(classes) => classes.labels.iter().map(|l| l.map(|c| c as usize)).collect(),
            None => Array1::from_elem(self.n(), None),
        };
        let set = DatasetBase::new(records, classes);
        Ok(if self.feature_names.len() == self.d() {
            set.with_feature_names(self.feature_names.clone())
        } else {
            set
        })
    }

    /// A data set of linfa's, with its targets as classes by their text. Objects in standard layout
    /// are moved, not copied.
    ///
    /// # Errors
    /// `EmptyData`, `NonFinite`, `TooLarge`.
    pub fn from_linfa<L: ToString>(
        name: impl Into<String>,
        set: DatasetBase<Array2<f64>, Array1<L>>,
    ) -> Result<Self> {
        let feature_names = set.feature_names().to_vec();
        let classes: Vec<String> = set.targets().iter().map(ToString::to_string).collect();
        let mut ours = Dataset::new(name, Data::dense(set.records)?);
        ours.classes = Some(Classes::from_values(classes.iter().map(|c| Some(c.as_str()))));
        ours.feature_names = feature_names;
        ours.provenance = "linfa".into();
        Ok(ours)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn there_and_back_again() {
        let theirs = DatasetBase::new(array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], array![7, 3, 7])
            .with_feature_names(vec!["a", "b"]);
        let address = theirs.records().as_ptr();
        let ours = Dataset::from_linfa("small", theirs).unwrap();
        assert_eq!(ours.data.as_array().unwrap().as_ptr(), address, "moved");
        assert_eq!(ours.class_sizes(), [("3".to_string(), 1), ("7".to_string(), 2)]);
        let view = ours.to_linfa().unwrap();
        assert_eq!(view.records().as_ptr(), address, "viewed");
        assert_eq!(view.targets(), &array![Some(1), Some(0), Some(1)]);
        assert_eq!(view.feature_names(), ["a", "b"]);
    }

    #[test]
    fn what_linfa_cannot_take_is_refused_and_rows_are_gathered() {
        let affinity = Data::affinity(array![[1.0, 0.5], [0.5, 1.0]]).unwrap();
        let refused = Dataset::new("pairs", affinity).to_linfa().map(|_| ()).unwrap_err();
        assert_eq!(refused.to_string(), "linfa takes dense data, got affinity");
        let data = Data::dense(array![[1.0], [2.0], [3.0]]).unwrap().subset(&[2, 0]);
        let set = Dataset::new("some", data);
        let view = set.to_linfa().unwrap();
        assert_eq!(view.records(), array![[3.0], [1.0]]);
        assert_eq!(view.targets(), &array![None, None]);
        let bad = DatasetBase::new(array![[f64::NAN]], array![0]);
        assert!(matches!(Dataset::from_linfa("bad", bad), Err(Error::NonFinite { .. })));
    }
}
