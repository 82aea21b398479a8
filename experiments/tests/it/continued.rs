//! Numbers of clusters, by size and against all assignments of those that continue.

use std::collections::BTreeSet;

use mustlink_core::{Clustering, Context, Data};
use mustlink_datasets::Dataset;
use mustlink_experiments::continued::{Continued, Previous};
use proptest::prelude::*;

/// An object's old number and new cluster.
type Both = (Option<u32>, Option<u32>);

/// Numbers of old clusters are not consecutive.
const OLD: [u32; 5] = [0, 2, 3, 7, 40];

/// The most objects that keep their number, by trying each new cluster, or none, for each old one.
fn most_kept(objects: &[Both], old: &[u32], k: u32, taken: &mut Vec<u32>) -> usize {
    let Some((&number, others)) = old.split_first() else { return 0 };
    let mut most = most_kept(objects, others, k, taken);
    for cluster in 0..k {
        if !taken.contains(&cluster) {
            let pair = (Some(number), Some(cluster));
            let common = objects.iter().filter(|both| **both == pair).count();
            taken.push(cluster);
            most = most.max(common + most_kept(objects, others, k, taken));
            taken.pop();
        }
    }
    most
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_number_of_a_cluster_is_that_of_the_clusters_before_it(
        objects in prop::collection::vec((0..5u32, 1..4u32), 1..30),
    ) {
        let (labels, rows): (Vec<u32>, Vec<u32>) = objects.iter().copied().unzip();
        let size = |h: u32| objects.iter().filter(|object| object.0 == h).map(|object| object.1).sum::<u32>();
        let first = |h: u32| labels.iter().position(|&label| label == h).unwrap_or(labels.len());
        let is_before = |g: u32, h: u32| size(g) > size(h) || size(g) == size(h) && (first(g), g) < (first(h), h);
        let number = |&h: &u32| (0..5).filter(|&g| is_before(g, h)).count() as u32;
        let expected: Vec<u32> = labels.iter().map(number).collect();
        let found = Clustering { labels, k: 5, ..Clustering::default() };
        prop_assert_eq!(found.shown(Some(&rows)).labels, expected);
    }

    #[test]
    fn as_many_objects_as_possible_keep_their_numbers(
        objects in prop::collection::vec((prop::option::of(0..5usize), prop::option::of(0..5u32)), 0..40),
    ) {
        let objects: Vec<Both> = objects.into_iter().map(|(old, new)| (old.map(|at| OLD[at]), new)).collect();
        let k = objects.iter().filter_map(|both| both.1).max().map_or(0, |last| last + 1);
        let found = Continued::new(&objects, k as usize, &Context::new(1)).unwrap();
        let number = |new: Option<u32>| new.map(|new| found.numbers[new as usize]);
        let is_kept = |(old, new): &&Both| old.is_some() && *old == number(*new);
        let old: BTreeSet<u32> = objects.iter().filter_map(|both| both.0).collect();
        let numbers: Vec<u32> = old.iter().copied().collect();
        let most = most_kept(&objects, &numbers, k, &mut Vec::new());
        prop_assert_eq!(objects.iter().filter(is_kept).count(), most);
        // Each cluster has a number of its own and is in one list, and so is each old number.
        let distinct: BTreeSet<u32> = found.numbers.iter().copied().collect();
        prop_assert_eq!(distinct.len(), k as usize);
        let split = found.split.iter().map(|pair| pair.0);
        let now: Vec<u32> = found.kept.iter().chain(&found.new).copied().chain(split).collect();
        prop_assert_eq!((now.len(), now.into_iter().collect()), (k as usize, distinct));
        let joined = found.joined.iter().map(|pair| pair.0);
        let before: Vec<u32> = found.kept.iter().chain(&found.gone).copied().chain(joined).collect();
        prop_assert_eq!((before.len(), before.into_iter().collect()), (old.len(), old.clone()));
        // A kept number has an object in common; the others are above all old ones.
        let above = old.last().map_or(0, |last| last + 1);
        let begun = found.new.iter().copied().chain(found.split.iter().map(|pair| pair.0));
        prop_assert!(begun.into_iter().all(|number| number >= above));
        let mut common = objects.iter().filter(is_kept).filter_map(|both| both.0).collect::<Vec<_>>();
        common.sort_unstable();
        common.dedup();
        let mut kept = found.kept.clone();
        kept.sort_unstable();
        prop_assert_eq!(common, kept);
    }
}

/// Objects `a`, `b`, … with these labels.
fn set(n: usize) -> Dataset {
    let data = Data::dense(ndarray::Array2::zeros((n, 1))).unwrap();
    let ids = (0..n).map(|i| char::from(b'a' + i as u8).to_string()).collect();
    Dataset { ids: Some(ids), ..Dataset::new("set", data) }
}

#[test]
fn clusters_are_kept_split_joined_new_and_gone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.csv").display().to_string();
    let of_file = |text: &str, labels: &[u32]| {
        std::fs::write(&path, text).unwrap();
        let labels: Vec<Option<u32>> = labels.iter().copied().map(Some).collect();
        Previous::read(&path, &set(labels.len()))?.continued(&labels, &Context::new(1))
    };
    // 3 goes on without a and b, which are a cluster of their own; 5 goes into 9; f is new, and 7 is gone.
    let text = "id,label\na,3\nb,3\nx,3\nc,3\nd,3\ng,9\nh,9\ni,9\ne,5\nz,7\nj,-1\n";
    let found = of_file(text, &[1, 1, 0, 0, 2, 3, 2, 2, 2, 3]).unwrap();
    assert_eq!(found.numbers, [3, 10, 9, 11]);
    assert_eq!(
        found.text(),
        "2 kept, 1 split (10 from 3), 1 joined (5 into 9), 1 new (11), 1 gone (7)"
    );
    // Regression test: a number after the largest was not accepted by the next run.
    let found = of_file("id,label\na,1000000000\nb,999999999\nx,0\n", &[0, 1, 2, 3]).unwrap();
    assert_eq!(found.numbers, [1_000_000_000, 999_999_999, 1, 2]);
    let refused = |text: &str| of_file(text, &[0, 0]).unwrap_err().to_string();
    assert!(
        refused("id,label\na,x\n")
            .ends_with("labels must be whole numbers up to 1000000000, got \"x\"")
    );
    assert!(
        refused("id,label\nu,1\n")
            .ends_with("has no id of these data. Use labels of the same objects")
    );
    assert!(
        refused("label\n1\n1\n").ends_with("2 labels without ids, for 2 objects. Add a column id")
    );
}

#[test]
fn earlier_labels_are_found_by_the_column_of_ids() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.csv").display().to_string();
    let numbers = |objects: &Dataset, text: &str| -> mustlink_core::Result<Vec<u32>> {
        std::fs::write(&path, text).unwrap();
        let labels = [Some(0), Some(1)];
        Ok(Previous::read(&path, objects)?.continued(&labels, &Context::new(1))?.numbers)
    };
    let mut objects = set(2);
    objects.reading.id = Some("name".into());
    for text in ["name,label\nb,4\na,9\n", "label,id\n4,b\n9,a\n"] {
        assert_eq!(numbers(&objects, text).unwrap(), [9, 4]);
    }
    assert!(numbers(&objects, "label\n4\n9\n").is_err());
    // Data without ids have labels row by row.
    let rows = Dataset::new("set", objects.data);
    assert_eq!(numbers(&rows, "label\n4\n9\n").unwrap(), [4, 9]);
    let refused = numbers(&rows, "label\n4\n").unwrap_err().to_string();
    assert!(refused.ends_with("1 label without ids, for 2 objects. Add a column id"), "{refused}");
}
