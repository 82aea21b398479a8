//! Which real data sets are part of the program?
//!
//! Small ones from UCI that a crate ships, so that the first command on a fresh machine has real
//! data. The crate stores 32-bit floats; each becomes the decimal it prints, which is the one in
//! the original file.

use mustlink_core::{Data, Error, Result};
use ndarray::Array2;
use smartcore::dataset;

use crate::bytes::bad;
use crate::dataset::{Classes, Dataset};
use crate::open::{Listing, Origin};

struct BuiltIn {
    name: &'static str,
    n: usize,
    d: usize,
    /// By the number of the class.
    classes: &'static [&'static str],
    notes: &'static str,
    provenance: &'static str,
    load: fn() -> Raw,
}

struct Raw {
    values: Vec<f32>,
    target: Vec<usize>,
    features: Vec<String>,
}

const ALL: [BuiltIn; 3] = [
    BuiltIn {
        name: "digits",
        n: 1797,
        d: 64,
        classes: &["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"],
        notes: "8 × 8 counts 0..=16 of handwritten digits, the test part of UCI's",
        provenance: "Alpaydin and Kaynak (1998), Optical Recognition of Handwritten Digits, UCI \
                     Machine Learning Repository, doi:10.24432/C50P49, CC BY 4.0; test part (1797 \
                     of 5620), as shipped in the crate smartcore 0.7",
        load: || {
            let set = dataset::digits::load_dataset();
            Raw {
                values: set.data,
                // Whole numbers 0..=9, stored as floats.
                target: set.target.into_iter().map(|t| t as usize).collect(),
                features: (0..64).map(|p| format!("pixel_{}_{}", p / 8, p % 8)).collect(),
            }
        },
    },
    BuiltIn {
        name: "iris",
        n: 150,
        d: 4,
        classes: &["Iris-setosa", "Iris-versicolor", "Iris-virginica"],
        notes: "UCI's file, 147 distinct rows: its rows 35 and 38 differ from Fisher's paper",
        provenance: "Fisher (1936), Iris, UCI Machine Learning Repository, doi:10.24432/C56C76, \
                     CC BY 4.0; UCI's file with 147 distinct rows (Fisher's own table has 149), as \
                     shipped in the crate smartcore 0.7",
        load: || {
            let set = dataset::iris::load_dataset();
            Raw {
                values: set.data,
                target: set.target.into_iter().map(|t| t as usize).collect(),
                features: ["sepal_length", "sepal_width", "petal_length", "petal_width"]
                    .map(String::from)
                    .to_vec(),
            }
        },
    },
    BuiltIn {
        name: "wdbc",
        n: 569,
        d: 30,
        classes: &["malignant", "benign"],
        notes: "Wisconsin diagnostic breast cancer",
        provenance: "Wolberg, Mangasarian, Street and Street (1993), Breast Cancer Wisconsin \
                     (Diagnostic), UCI Machine Learning Repository, doi:10.24432/C5DW2B, CC BY \
                     4.0; as shipped in the crate smartcore 0.7",
        load: || {
            let set = dataset::breast_cancer::load_dataset();
            Raw {
                values: set.data,
                target: set.target.into_iter().map(|t| t as usize).collect(),
                features: set.feature_names.iter().map(|f| f.replace(' ', "_")).collect(),
            }
        },
    },
];

/// Names of the data sets that are part of the program, sorted.
pub fn builtin_names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|b| b.name)
}

pub(crate) fn listings() -> Vec<Listing> {
    ALL.iter()
        .map(|b| Listing {
            name: b.name.into(),
            origin: Origin::BuiltIn,
            kind: "dense".into(),
            n: Some(b.n),
            d: Some(b.d),
            k: Some(b.classes.len()),
            notes: b.notes.into(),
        })
        .collect()
}

pub(crate) fn open(name: &str) -> Result<Option<Dataset>> {
    let Some(set) = ALL.iter().find(|b| b.name == name) else { return Ok(None) };
    let raw = (set.load)();
    let wrong = |what: String| -> Error { bad(format!("built-in {name}"), what) };
    let values: Option<Vec<f64>> = raw.values.iter().map(|v| format!("{v}").parse().ok()).collect();
    let values = values.ok_or_else(|| wrong("a value is not a number".into()))?;
    let x = Array2::from_shape_vec((set.n, set.d), values)
        .map_err(|e| wrong(format!("expected {} × {}: {e}", set.n, set.d)))?;
    let classes: Option<Vec<&str>> =
        raw.target.iter().map(|&t| set.classes.get(t).copied()).collect();
    let classes =
        classes.filter(|c| c.len() == set.n).ok_or_else(|| wrong("a class is not known".into()))?;
    Ok(Some(Dataset {
        classes: Some(Classes::from_values(classes.into_iter().map(Some))),
        feature_names: raw.features,
        provenance: set.provenance.into(),
        ..Dataset::new(name, Data::dense(x)?)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn sizes(name: &str) -> Vec<(String, usize)> {
        open(name).unwrap().unwrap().class_sizes()
    }

    #[test]
    fn shapes_and_classes() {
        for set in ALL {
            let opened = open(set.name).unwrap().unwrap();
            assert_eq!((opened.n(), opened.d()), (set.n, set.d));
            assert_eq!(opened.feature_names.len(), set.d);
            assert!(opened.provenance.contains("CC BY 4.0"));
        }
        let of = |all: &[(&str, usize)]| -> Vec<(String, usize)> {
            all.iter().map(|(c, s)| (c.to_string(), *s)).collect()
        };
        assert_eq!(
            sizes("iris"),
            of(&[("Iris-setosa", 50), ("Iris-versicolor", 50), ("Iris-virginica", 50)])
        );
        assert_eq!(sizes("wdbc"), of(&[("benign", 357), ("malignant", 212)]));
        let digits = [178, 182, 177, 183, 181, 182, 181, 179, 174, 180];
        assert_eq!(sizes("digits").iter().map(|s| s.1).collect::<Vec<_>>(), digits);
        assert!(builtin_names().is_sorted());
        assert!(open("nothing").unwrap().is_none());
    }

    #[test]
    fn iris_is_the_file_of_uci() {
        let iris = open("iris").unwrap().unwrap();
        let x = iris.data.to_dense();
        let rows: BTreeSet<Vec<u64>> =
            x.rows().into_iter().map(|r| r.iter().map(|v| v.to_bits()).collect()).collect();
        assert_eq!(rows.len(), 147);
        // Fisher has 0.2 and (4.9, 3.6, 1.4, 0.1) here.
        assert_eq!(x.row(34).to_vec(), [4.9, 3.1, 1.5, 0.1]);
        assert_eq!(x.row(37).to_vec(), [4.9, 3.1, 1.5, 0.1]);
    }
}
