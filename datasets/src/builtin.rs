//! The real data sets that are part of the program.
//!
//! Small ones from UCI, so that the first command on a fresh machine has real data: the files in
//! `data/`, which say where they are from.

use mustlink_core::Result;

use crate::bytes::Input;
use crate::dataset::Dataset;
use crate::listing::{Listing, Origin};
use crate::options::OpenOptions;
use crate::table;

struct BuiltIn {
    name: &'static str,
    n: usize,
    d: usize,
    k: usize,
    notes: &'static str,
    provenance: &'static str,
    /// A CSV with a header and, as its last column, the class.
    content: &'static str,
}

const ALL: [BuiltIn; 3] = [
    BuiltIn {
        name: "digits",
        n: 1797,
        d: 64,
        k: 10,
        notes: "8 × 8 counts from 0 to 16 of handwritten digits, the test part of UCI's set",
        provenance: "Alpaydin and Kaynak (1998), Optical Recognition of Handwritten Digits, UCI \
                     Machine Learning Repository, doi:10.24432/C50P49, CC BY 4.0; test part (1797 \
                     of 5620), as shipped in the crate smartcore 0.7",
        content: include_str!("../data/digits.csv"),
    },
    BuiltIn {
        name: "iris",
        n: 150,
        d: 4,
        k: 3,
        notes: "UCI's file, 147 distinct rows: its rows 35 and 38 differ from Fisher's paper",
        provenance: "Fisher (1936), Iris, UCI Machine Learning Repository, doi:10.24432/C56C76, \
                     CC BY 4.0; UCI's file with 147 distinct rows (Fisher's own table has 149), as \
                     shipped in the crate smartcore 0.7",
        content: include_str!("../data/iris.csv"),
    },
    BuiltIn {
        name: "wdbc",
        n: 569,
        d: 30,
        k: 2,
        notes: "Wisconsin diagnostic breast cancer",
        provenance: "Wolberg, Mangasarian, Street and Street (1993), Breast Cancer Wisconsin \
                     (Diagnostic), UCI Machine Learning Repository, doi:10.24432/C5DW2B, CC BY \
                     4.0; as shipped in the crate smartcore 0.7",
        content: include_str!("../data/wdbc.csv"),
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
            k: Some(b.k),
            notes: b.notes.into(),
        })
        .collect()
}

pub(crate) fn open(name: &str) -> Result<Option<Dataset>> {
    let Some(set) = ALL.iter().find(|b| b.name == name) else { return Ok(None) };
    let place = format!("built-in {name}");
    let input = Input::of(set.content.as_bytes(), &place);
    let read = table::read(input, name, &OpenOptions::default(), true)?;
    let mut set = Dataset { provenance: set.provenance.into(), ..read };
    set.reading.listed = true;
    Ok(Some(set))
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
            assert_eq!((opened.n(), opened.d(), opened.k()), (set.n, set.d, Some(set.k)));
            assert_eq!(opened.feature_names.len(), set.d);
            assert!(opened.reading.listed);
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

    /// Every bit of the values, the class of every object and the names of features.
    fn hash(name: &str) -> String {
        let set = open(name).unwrap().unwrap();
        let classes = set.classes.as_ref().unwrap();
        let mut hash = blake3::Hasher::new();
        set.data.to_dense().iter().for_each(|v| _ = hash.update(&v.to_bits().to_le_bytes()));
        for i in 0..set.n() {
            hash.update(format!("{}\n", classes.of(i).unwrap()).as_bytes());
        }
        hash.update(set.feature_names.join("\n").as_bytes());
        hash.finalize().to_string()
    }

    #[test]
    fn values_classes_and_names_never_change() {
        let hashes = [
            "c5bdc8c1117de7f872975c662fc7652ea85fbe49051cf74831732c31287f94e4",
            "e3a3a5ef9d8f81ab446b709dcfa0947e9d776f50e82d7acc995f5ef457ece3ea",
            "8192245ae19a170bab727c12f4995cfc4f1fa1aed1e9c487395320776cbba491",
        ];
        assert_eq!(ALL.map(|set| hash(set.name)), hashes);
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
