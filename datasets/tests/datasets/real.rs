//! The real data sets, where they are at hand: `MUSTLINK_DATA`, or `../shared/data` beside the
//! workspace.

use std::io::Write;
use std::path::PathBuf;

use mustlink_core::Context;
use mustlink_core::roles::Transform;
use mustlink_datasets::{OpenOptions, available, open};
use mustlink_transforms::deduplicate::Deduplicate;

fn data(test: &str) -> Option<OpenOptions> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let mut options = OpenOptions::from_env();
    if options.data_dirs.is_empty() && beside.is_dir() {
        options.data_dirs = vec![beside];
    }
    if options.data_dirs.is_empty() {
        let note = format!("skipped: {test} needs a data directory (MUSTLINK_DATA)\n");
        std::io::stderr().write_all(note.as_bytes()).unwrap();
        return None;
    }
    Some(options)
}

/// Every entry opens, which asserts n, d, k, class sizes and hash, and has classes for all rows.
#[test]
fn every_entry_of_the_manifest_opens() {
    let Some(options) = data("every_entry_of_the_manifest_opens") else { return };
    let all = available(&options).unwrap();
    assert!(all.len() > 20);
    for listing in all {
        let set = open(&listing.name, &options).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((Some(set.n()), Some(set.d()), set.k()), (listing.n, listing.d, listing.k));
        assert!(set.classes.unwrap().labels.iter().all(Option::is_some), "{}", set.name);
    }
}

/// The built-in sets are, to the bit, those of the directory.
#[test]
fn built_in_sets_are_the_real_ones() {
    let Some(options) = data("built_in_sets_are_the_real_ones") else { return };
    for name in ["iris", "wdbc"] {
        let real = open(name, &options).unwrap();
        let built_in = open(&format!("builtin:{name}"), &options).unwrap();
        assert_eq!(built_in.digest(), real.digest(), "{name}");
        assert_eq!(built_in.feature_names, real.feature_names);
    }
    // UCI's test part is the end of the whole.
    let whole = open("optdigits", &options).unwrap();
    let part = whole.with_rows(&(3823..5620).collect::<Vec<_>>()).unwrap();
    let built_in = open("digits", &options).unwrap();
    assert_eq!(part.data.to_dense(), built_in.data.to_dense());
    assert_eq!(part.classes, built_in.classes);
}

/// Distinct rows as the manifest counts them, dense and sparse; two groups of 3-news-similar have
/// documents of more than one class.
#[test]
fn distinct_rows() {
    let Some(options) = data("distinct_rows") else { return };
    let steps: [Box<dyn Transform>; 1] = [Box::new(Deduplicate {})];
    for (name, distinct, mixed) in [
        ("iris", 147, 0),
        ("glass", 213, 0),
        ("breast_wisconsin", 449, 0),
        ("3-news-similar", 2918, 2),
    ] {
        let set = open(name, &options).unwrap();
        let (after, rows, _) = set.transformed(&steps, &Context::new(1)).unwrap();
        assert_eq!((after.n(), rows.unwrap().mixed), (distinct, mixed), "{name}");
    }
}
