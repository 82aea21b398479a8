//! Files of data and of what belongs to it.

use std::io::Write;
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;
use mustlink::ndarray::Array2;
use mustlink::prelude::*;
use mustlink::roles::QuerySelector;
use mustlink_datasets::{
    Dataset, OpenOptions, open, read_answers, read_constraints, read_labels, read_partitions,
};
use mustlink_kernels::npy::{NpyRows, integers};
use serde_json::json;
use tempfile::TempDir;

use super::harness::Harness;

pub(super) const WORDS: &[&str] = &[
    "id",
    "class",
    "label",
    "i",
    "j",
    "type",
    "weight",
    "strength",
    "must_link",
    "cannot_link",
    "apart",
    "hard",
    "soft",
    "answer",
    "same",
    "different",
    "unsure",
    "o1",
    "o19",
    "name",
    "path",
    "n",
    "d",
    "k",
    "class_sizes",
    "sha256",
    "a.csv",
    "a:3 b:2",
    "NaN",
    "-1",
    "1,5",
    "\"\"\"",
    "known",
    "group",
];
pub(super) const MATRIX: &[&str] = &[
    "%%MatrixMarket",
    "matrix",
    "coordinate",
    "array",
    "real",
    "integer",
    "pattern",
    "general",
    "symmetric",
    "complex",
    "%",
    "1 1 1\n",
    "0 ",
    "\n----\n",
];
pub(super) const NPY: &[&str] = &[
    "'descr': '<f8'",
    "'<f4'",
    "'<i8'",
    "'|u1'",
    "'fortran_order': False",
    "True",
    "'shape': (",
    "(3, 2)",
    "(6,)",
    ")",
    "\u{1}\0",
    "\u{2}\0",
];

/// A folder, and a file of it that every input is written to.
struct Spot {
    folder: TempDir,
    path: PathBuf,
}

impl Spot {
    fn new(name: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(name);
        Spot { folder, path }
    }

    /// The name of the file, which now holds these bytes.
    fn with(&self, bytes: &[u8]) -> &str {
        std::fs::write(&self.path, bytes).expect("a file that can be written");
        self.path.to_str().expect("UTF-8")
    }
}

/// Another way of opening for inputs of other lengths.
fn ways(bytes: &[u8]) -> OpenOptions {
    let usual = OpenOptions::default();
    let some = |name: &str| Some(name.to_string());
    match bytes.len() % 4 {
        0 => OpenOptions { no_header: true, separator: Some(';'), decimal: Some(','), ..usual },
        1 => OpenOptions {
            class_column: some("class"),
            known_column: some("known"),
            id_column: some("id"),
            apart_column: some("group"),
            weights_column: some("#3").filter(|_| bytes.len() % 8 == 1),
            display_column: some("#2"),
            features: vec!["all".into()],
            ..usual
        },
        _ => usual,
    }
}

fn look_at(opened: Result<Dataset>) {
    if let Ok(set) = opened {
        let _ = (set.summary(), set.digest(), set.class_sizes(), set.known_constraints(1000));
        let _ = (set.partly_known(), set.require_numbers());
    }
}

pub(super) fn table() -> Harness {
    let spot = Spot::new("a.csv");
    Box::new(move |bytes| look_at(open(spot.with(bytes), &ways(bytes))))
}

/// Gzip as it is; all else is packed first, so that what was changed is not found by a checksum.
pub(super) fn packed() -> Harness {
    let spot = Spot::new("a.csv.gz");
    Box::new(move |bytes| {
        let packed = if bytes.starts_with(&[0x1f, 0x8b]) {
            bytes.to_vec()
        } else {
            let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
            packer.write_all(bytes).and_then(|()| packer.finish()).expect("memory")
        };
        look_at(open(spot.with(&packed), &ways(bytes)));
    })
}

/// Between lines `----`: the matrix, its labels, its terms.
pub(super) fn matrix() -> Harness {
    let spot = Spot::new("matrix.mtx");
    let folder = spot.folder.path().to_path_buf();
    Box::new(move |bytes| {
        let mut parts = super::results::parts(bytes);
        spot.with(parts.next().unwrap_or_default());
        for name in ["labels.txt", "terms.txt"] {
            match parts.next() {
                Some(part) => std::fs::write(folder.join(name), part).expect("a file"),
                None => drop(std::fs::remove_file(folder.join(name))),
            }
        }
        look_at(open(folder.to_str().expect("UTF-8"), &OpenOptions::default()));
    })
}

pub(super) fn npy() -> Harness {
    let spot = Spot::new("a.npy");
    Box::new(move |bytes| {
        let _ = integers(bytes);
        spot.with(bytes);
        if let Ok(mut rows) = NpyRows::open(&spot.path) {
            let _ = rows.all();
            let _ = rows.rows(&[rows.n() - 1, 0]);
        }
        look_at(open(spot.path.to_str().expect("UTF-8"), &OpenOptions::default()));
    })
}

/// A manifest next to `a.csv`, whose first name is opened too.
pub(super) fn manifest() -> Harness {
    let spot = Spot::new("manifest.csv");
    let folder = spot.folder.path().to_path_buf();
    std::fs::write(folder.join("a.csv"), "x,y,class\n0,1,a\n1,1,a\n2,1,b\n").expect("a file");
    Box::new(move |bytes| {
        spot.with(bytes);
        let options = OpenOptions { data_dirs: vec![folder.clone()], ..OpenOptions::default() };
        let Ok(all) = mustlink_datasets::available(&options) else { return };
        // Paths that lead out of the folder are the owner's to choose, and not for chance to follow.
        let plain = !bytes.contains(&b'/') && !bytes.contains(&b'\\');
        for listing in all.iter().take(3).filter(|_| plain) {
            look_at(open(&listing.name, &options));
        }
    })
}

/// Twenty objects, o0 to o19.
fn objects() -> Dataset {
    let data = Data::dense(Array2::from_shape_fn((20, 2), |(i, j)| (i * 3 + j) as f64));
    let ids: Vec<String> = (0..20).map(|i| format!("o{i}")).collect();
    Dataset { ids: Some(ids.into()), ..Dataset::new("objects", data.expect("numbers")) }
}

pub(super) fn constraints() -> Harness {
    let (spot, objects) = (Spot::new("c.csv"), objects());
    Box::new(move |bytes| {
        let path = spot.with(bytes);
        for by_id in [true, false] {
            if let Ok(all) = read_constraints(path, &objects, by_id) {
                let problem = Problem::new(objects.data.clone()).with_constraints(all);
                let _ = problem.closure(OnConflict::Error).is_ok();
            }
        }
    })
}

pub(super) fn answers() -> Harness {
    let (spot, objects) = (Spot::new("a.csv"), objects());
    Box::new(move |bytes| {
        let path = spot.with(bytes);
        let _ = (read_answers(path, &objects, true), read_answers(path, &objects, false));
    })
}

/// A file with the pairs of a selection of another day.
pub(super) fn listed() -> Harness {
    let spot = Spot::new("pairs.csv");
    let options = json!({ "type": "fixed_list", "file": spot.path });
    let selector = <dyn QuerySelector>::from_value(options).expect("a selector");
    let problem = Problem::new(objects().data);
    Box::new(move |bytes| {
        spot.with(bytes);
        let Ok(mut inquiry) = selector.start(&problem, &Context::new(1)) else { return };
        for _ in 0..200 {
            let Ok(Step::Ask { id, .. }) = inquiry.step() else { return };
            inquiry.tell(id, Reply::DontKnow).expect("the open question");
        }
    })
}

pub(super) fn partitions() -> Harness {
    let spot = Spot::new("p.csv");
    Box::new(move |bytes| {
        let path = spot.with(bytes);
        if let Ok(read) = read_partitions(path, None, None, &[], None) {
            let _ = (read.objects.summary(), read.ensemble.members().len());
        }
        let _ = read_partitions(path, Some("#1"), Some("class"), &["#2".into()], None);
    })
}

pub(super) fn labels() -> Harness {
    let spot = Spot::new("l.csv");
    Box::new(move |bytes| {
        let path = spot.with(bytes);
        if let Ok(read) = read_labels(path, None, None) {
            let _ = (read.truth().map(drop), read.clone().in_order_of(&read));
        }
        let _ = read_labels(path, Some("class"), Some("id"));
    })
}
