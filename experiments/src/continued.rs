//! Cluster numbers that continue from one partition to the next.

use std::collections::{BTreeMap, HashMap};

use mustlink_core::closure::UnionFind;
use mustlink_core::clustering::NONE;
use mustlink_core::text::count;
use mustlink_core::{Context, Error, Result};
use mustlink_datasets::{Dataset, column_names, read_labels};
use mustlink_kernels::agreement::sparse_matching::{Worth, first_of_largest};
use serde::Serialize;

use crate::judged_pairs::threshold_column;

/// Largest number of a cluster.
const LARGEST: u32 = 1_000_000_000;

/// The labels of an earlier run.
#[derive(Clone)]
pub struct Previous {
    /// The old number of each object of today.
    of_objects: Vec<Option<u32>>,
    /// The old numbers of other objects.
    of_others: Vec<Option<u32>>,
}

impl Previous {
    /// Reads the labels in a file: of `objects` by id if they have ids, otherwise row by row. Noise is in no cluster.
    ///
    /// # Errors
    /// `Data` for a file that cannot be read, labels that are not numbers, and a file about other objects.
    pub fn read(path: &str, objects: &Dataset) -> Result<Self> {
        Previous::of_column(path, objects, None)
    }

    /// The labels for each threshold: those columns of a file with several thresholds, otherwise the same labels for
    /// all.
    ///
    /// # Errors
    /// Returns the errors of [`Previous::read`].
    pub fn of_thresholds(path: &str, objects: &Dataset, thresholds: &[f64]) -> Result<Vec<Self>> {
        let names = column_names(path)?.unwrap_or_default();
        let columns: Vec<String> = thresholds.iter().map(|at| threshold_column(*at)).collect();
        if columns.iter().all(|column| names.contains(column)) {
            let of = |column: &String| Previous::of_column(path, objects, Some(column));
            return columns.iter().map(of).collect();
        }
        Ok(vec![Previous::read(path, objects)?; thresholds.len()])
    }

    fn of_column(path: &str, objects: &Dataset, column: Option<&str>) -> Result<Self> {
        let id = objects.reading.id.as_deref();
        let before = read_labels(path, column, id)?;
        let bad = |message: String| Error::Data { place: path.into(), message };
        let number = |name: &String| {
            let number = name.parse().ok().filter(|number| *number <= LARGEST);
            let wrong =
                || bad(format!("labels must be whole numbers up to {LARGEST}, got \"{name}\""));
            number.ok_or_else(wrong)
        };
        let numbers = before.labels.names.iter().map(number).collect::<Result<Vec<u32>>>()?;
        let old = before.labels.labels.iter().map(|label| Some(numbers[(*label)? as usize]));
        let n = objects.n();
        let Some(ids) = &before.ids else {
            if before.n() == n && objects.ids.is_none() {
                return Ok(Previous { of_objects: old.collect(), of_others: Vec::new() });
            }
            let (labels, now) = (count(before.n(), "label"), count(n, "object"));
            return Err(bad(format!("{labels} without ids, for {now}. Add a column id")));
        };
        let mut by_id: HashMap<&str, Option<u32>> =
            ids.iter().map(String::as_str).zip(old).collect();
        let size = by_id.len();
        let of_objects = (0..n).map(|i| by_id.remove(objects.id(i).as_str()).flatten()).collect();
        if by_id.len() == size {
            return Err(bad("has no id of these data. Use labels of the same objects".into()));
        }
        Ok(Previous { of_objects, of_others: by_id.into_values().collect() })
    }

    /// The numbers of the clusters that `labels` of the same objects make.
    ///
    /// # Errors
    /// `Cancelled`.
    pub fn continued(&self, labels: &[Option<u32>], ctx: &Context) -> Result<Continued> {
        let cluster = |label: &Option<u32>| label.filter(|label| *label != NONE);
        let k = labels.iter().filter_map(cluster).max().map_or(0, |last| last as usize + 1);
        let today = self.of_objects.iter().copied().zip(labels.iter().map(cluster));
        let others = self.of_others.iter().map(|&old| (old, None));
        Continued::new(&today.chain(others).collect::<Vec<_>>(), k, ctx)
    }
}

/// The numbers of new clusters, and what became of the old ones.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Continued {
    /// The number of each new cluster.
    #[serde(skip)]
    pub numbers: Vec<u32>,
    /// The numbers that continue.
    pub kept: Vec<u32>,
    /// Clusters with a new number, each with the old cluster that more than half of its objects were in.
    pub split: Vec<(u32, u32)>,
    /// Old clusters that ended, each with the cluster that more than half of its objects are in.
    pub joined: Vec<(u32, u32)>,
    /// Other clusters with a new number.
    pub new: Vec<u32>,
    /// Other old clusters that ended.
    pub gone: Vec<u32>,
}

impl Continued {
    /// Gives the old numbers to clusters so that as many objects as possible keep theirs. Other clusters have the
    /// numbers after the largest old one; after [`LARGEST`], the smallest that no old one has. `objects`: old number
    /// and new cluster (below `k`) of each object in either.
    ///
    /// # Errors
    /// `Cancelled`.
    pub fn new(objects: &[(Option<u32>, Option<u32>)], k: usize, ctx: &Context) -> Result<Self> {
        let mut old_sizes: BTreeMap<u32, u64> = BTreeMap::new();
        let (mut new_sizes, mut common) = (vec![0u64; k], BTreeMap::<(u32, u32), u64>::new());
        for &(old, new) in objects {
            old.into_iter().for_each(|old| *old_sizes.entry(old).or_default() += 1);
            new.into_iter().for_each(|new| new_sizes[new as usize] += 1);
            if let (Some(old), Some(new)) = (old, new) {
                *common.entry((old, new)).or_default() += 1;
            }
        }
        let old: Vec<u32> = old_sizes.keys().copied().collect();
        let place: HashMap<u32, u32> = old.iter().copied().zip(0..).collect();
        let common: Vec<Worth> =
            common.into_iter().map(|((old, new), objects)| (place[&old], new, objects)).collect();
        let cluster_of = assigned(&common, old.len(), k, ctx)?;
        let mut numbers = vec![NONE; k];
        let continues = |(&number, cluster): (&u32, &Option<u32>)| Some((number, (*cluster)?));
        let kept: Vec<(u32, u32)> = old.iter().zip(&cluster_of).filter_map(continues).collect();
        kept.iter().for_each(|&(number, cluster)| numbers[cluster as usize] = number);
        let begun: Vec<usize> = (0..k).filter(|&cluster| numbers[cluster] == NONE).collect();
        let next = old.last().map_or(0, |last| last + 1);
        let free = (0..next).filter(|number| !place.contains_key(number));
        for (number, &cluster) in (next..=LARGEST).chain(free).zip(&begun) {
            numbers[cluster] = number;
        }
        // The old cluster that holds more than half of a new one, and the other way around.
        let (mut from, mut into) = (vec![None; k], vec![None; old.len()]);
        for &(at, cluster, objects) in &common {
            if 2 * objects > new_sizes[cluster as usize] {
                from[cluster as usize] = Some(old[at as usize]);
            }
            if 2 * objects > old_sizes[&old[at as usize]] {
                into[at as usize] = Some(numbers[cluster as usize]);
            }
        }
        let kept = kept.into_iter().map(|(number, _)| number).collect();
        let mut found = Continued { numbers, kept, ..Continued::default() };
        for cluster in begun {
            let number = found.numbers[cluster];
            match from[cluster] {
                Some(old) => found.split.push((number, old)),
                None => found.new.push(number),
            }
        }
        for (at, _) in cluster_of.iter().enumerate().filter(|(_, cluster)| cluster.is_none()) {
            match into[at] {
                Some(number) => found.joined.push((old[at], number)),
                None => found.gone.push(old[at]),
            }
        }
        Ok(found)
    }

    /// The number of a new cluster. Noise stays noise.
    pub fn number(&self, cluster: u32) -> u32 {
        self.numbers.get(cluster as usize).copied().unwrap_or(cluster)
    }

    /// A line for people: how many clusters continue, were split, joined, are new or gone.
    pub fn text(&self) -> String {
        let moved = |all: &[(u32, u32)], word: &str| -> Vec<String> {
            all.iter().map(|(number, other)| format!("{number} {word} {other}")).collect()
        };
        let alone = |all: &[u32]| all.iter().map(u32::to_string).collect();
        let part = |what: &str, named: Vec<String>| match named.len() {
            0 => format!("0 {what}"),
            all => {
                let more = if all > SHOWN { ", …" } else { "" };
                format!("{all} {what} ({}{more})", named[..all.min(SHOWN)].join(", "))
            }
        };
        let parts = [
            format!("{} kept", self.kept.len()),
            part("split", moved(&self.split, "from")),
            part("joined", moved(&self.joined, "into")),
            part("new", alone(&self.new)),
            part("gone", alone(&self.gone)),
        ];
        parts.join(", ")
    }
}

/// Most clusters listed for each kind.
const SHOWN: usize = 5;

/// The cluster that continues each old one. It maximises the number of common objects. Parts of the problem
/// without common objects are solved separately.
fn assigned(common: &[Worth], old: usize, k: usize, ctx: &Context) -> Result<Vec<Option<u32>>> {
    let mut parts = UnionFind::new(old + k);
    common.iter().for_each(|&(at, cluster, _)| _ = parts.union(at, old as u32 + cluster));
    let mut by_part: BTreeMap<u32, Vec<Worth>> = BTreeMap::new();
    common.iter().for_each(|pair| by_part.entry(parts.find(pair.0)).or_default().push(*pair));
    let mut cluster_of = vec![None; old];
    for mut pairs in by_part.into_values() {
        let numbered = |of: fn(&Worth) -> u32| -> Vec<u32> {
            let mut all: Vec<u32> = pairs.iter().map(of).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        let (rows, columns) = (numbered(|pair| pair.0), numbered(|pair| pair.1));
        let place = |all: &[u32], at: u32| all.partition_point(|&other| other < at) as u32;
        for pair in &mut pairs {
            *pair = (place(&rows, pair.0), place(&columns, pair.1), pair.2);
        }
        let found = first_of_largest(&pairs, rows.len(), columns.len(), ctx)?;
        for (row, column) in found.into_iter().enumerate() {
            // A pair without an object in common is not a continuation.
            let is_common = |column: usize| {
                pairs
                    .binary_search_by_key(&(row as u32, column as u32), |pair| (pair.0, pair.1))
                    .is_ok()
            };
            cluster_of[rows[row] as usize] = column.filter(|&c| is_common(c)).map(|c| columns[c]);
        }
    }
    Ok(cluster_of)
}
