//! The profile of a cluster: its classes, its most typical objects, and the features that distinguish it
//! from the others.

use std::path::Path;

use mustlink::clustering::NONE;
use mustlink::prelude::*;
use mustlink::text::form;
use mustlink_datasets::{Classes, Dataset, write_rows};
use mustlink_kernels::kmeans::nearest::centres::Centres;
use serde::Serialize;

use crate::files::make_folder;

/// Typical objects named for each cluster.
const TYPICAL: usize = 3;
/// Features written for each cluster at most: for texts the most informative ones, not thousands.
const FEATURES: usize = 100;

/// Clusters against classes.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Crosstab {
    /// Names of the classes.
    classes: Vec<String>,
    /// For each cluster the objects of each class; objects without one are not counted.
    counts: Vec<Vec<usize>>,
}

impl Crosstab {
    /// Counts the rows of the file: each merged row counts; dropped rows, which have no label, do not.
    pub fn new(labels: &[Option<u32>], k: usize, classes: &Classes) -> Self {
        let mut counts = vec![vec![0; classes.k()]; k];
        for (label, class) in labels.iter().zip(classes.labels.iter()) {
            if let (Some(label), Some(class)) = (label, class) {
                counts[*label as usize][*class as usize] += 1;
            }
        }
        Crosstab { classes: classes.names.clone(), counts }
    }

    /// The classes in cluster `h` with their objects, the most frequent first.
    fn of(&self, h: usize) -> Vec<(&str, usize)> {
        let named = self.classes.iter().map(String::as_str).zip(self.counts[h].iter().copied());
        let mut found: Vec<(&str, usize)> = named.filter(|(_, count)| *count > 0).collect();
        // Stable: classes of one size stay in their order.
        found.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        found
    }

    /// The class that most objects of cluster `h` have, with its share of those that have one; `None`
    /// where none has or two lead.
    pub fn name(&self, h: usize) -> Option<(&str, f64)> {
        let found = self.of(h);
        let (name, most) = *found.first()?;
        let total: usize = found.iter().map(|(_, count)| count).sum();
        let leads = found.get(1).is_none_or(|(_, second)| *second < most);
        leads.then(|| (name, most as f64 / total as f64))
    }

    /// For people: a line per cluster with its `number`.
    pub fn lines(&self, number: impl Fn(u32) -> u32) -> Vec<(String, String)> {
        let (clusters, classes) = (20, 4);
        let line = |h: usize| {
            let found = self.of(h);
            let named: Vec<String> =
                found.iter().take(classes).map(|(name, count)| format!("{name} {count}")).collect();
            let more = match found.len().saturating_sub(classes) {
                0 => String::new(),
                more => format!(", {more} more {}", form(more, "class", "classes")),
            };
            let text = if found.is_empty() { "no class is known".into() } else { named.join(", ") };
            // A cell of a spreadsheet may have several lines.
            (format!("cluster {}", number(h as u32)), text.replace(char::is_control, " ") + &more)
        };
        self.counts.iter().enumerate().take(clusters).map(|(h, _)| line(h)).collect()
    }
}

/// Sum of weights, mean and sum of squared deviations of some values. A value of weight 2 counts twice.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Moments {
    n: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, value: f64, weight: f64) {
        if weight == 0.0 {
            return;
        }
        self.n += weight;
        let off = value - self.mean;
        self.mean += off * weight / self.n;
        self.squares += weight * off * (value - self.mean);
    }

    fn and(self, other: Moments) -> Moments {
        let n = self.n + other.n;
        if n == 0.0 {
            return self;
        }
        let off = other.mean - self.mean;
        Moments {
            n,
            mean: self.mean + off * other.n / n,
            squares: self.squares + other.squares + off * off * self.n * other.n / n,
        }
    }

    fn deviation(&self) -> Option<f64> {
        (self.n > 1.0).then(|| (self.squares / (self.n - 1.0)).sqrt())
    }
}

/// F of one-way analysis of variance: variance between groups over variance within them; infinite where
/// groups differ and nothing varies within them, absent where nothing varies at all.
fn f_ratio(groups: &[Moments]) -> Option<f64> {
    let groups: Vec<&Moments> = groups.iter().filter(|m| m.n > 0.0).collect();
    let all = groups.iter().fold(Moments::default(), |all, m| all.and(**m));
    let within: f64 = groups.iter().map(|m| m.squares).sum();
    let between: f64 = groups.iter().map(|m| m.n * (m.mean - all.mean).powi(2)).sum();
    let (a, b) = (groups.len() as f64 - 1.0, all.n - groups.len() as f64);
    let usable = a > 0.0 && b > 0.0 && between + within > 0.0;
    usable.then(|| (between / a) / (within / b))
}

/// Figures of a feature in one cluster, or in all.
struct Line {
    cluster: String,
    feature: String,
    here: Moments,
    others: Option<f64>,
    frequent: Option<(String, f64)>,
    f: Option<f64>,
}

/// The files that [`write`] writes.
pub(crate) const FILES: [&str; 2] = ["clusters.csv", "features.csv"];

/// Writes `clusters.csv` and `features.csv` into `folder`. `set` is the file as it was read, `labels` those of its
/// rows; `seen` are the objects as the method saw them, `name` says what they are called.
///
/// # Errors
/// `Data` for what cannot be written, and for objects that have no features.
pub(crate) fn write(
    folder: &Path,
    set: &Dataset,
    name: &dyn Fn(usize) -> String,
    seen: &Data,
    clustering: &Clustering,
    labels: &[Option<u32>],
    crosstab: Option<&Crosstab>,
) -> Result<()> {
    if matches!(set.data.kind(), DataKind::Distances | DataKind::Affinity) {
        let message = "objects without features have no profile; --out writes their labels";
        return Err(Error::Data { place: "--profile".into(), message: message.into() });
    }
    make_folder(folder)?;
    let put = |name: &str, rows: &[Vec<String>]| {
        write_rows(&folder.join(name).display().to_string(), rows)
    };
    put(FILES[0], &clusters(name, seen, clustering, labels, crosstab)?)?;
    put(FILES[1], &features(&set.data, &set.feature_names, labels, clustering.k))
}

fn clusters(
    name: &dyn Fn(usize) -> String,
    seen: &Data,
    clustering: &Clustering,
    labels: &[Option<u32>],
    crosstab: Option<&Crosstab>,
) -> Result<Vec<Vec<String>>> {
    let mut objects = vec![0_usize; clustering.k];
    labels.iter().flatten().for_each(|&label| objects[label as usize] += 1);
    let centres = Centres::of(seen, &clustering.labels, clustering.k, &clustering.extras)?;
    let mut near: Vec<Vec<(f64, usize)>> = vec![Vec::new(); clustering.k];
    let mut x = vec![0.0; seen.d()];
    let is_typical = |(i, label): &(usize, &u32)| **label != NONE && weight(seen, *i) > 0.0;
    let in_clusters = clustering.labels.iter().enumerate().filter(is_typical);
    for (i, &label) in in_clusters {
        x.fill(0.0);
        seen.row(i).add_to(&mut x, 1.0);
        near[label as usize].push((centres.distance(&x, label as usize), i));
    }
    let head = ["cluster", "objects", "known", "class", "share_of_known", "typical"]
        .map(String::from)
        .to_vec();
    let rows = near.into_iter().enumerate().map(|(h, mut near)| {
        near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let typical: Vec<String> = near.iter().take(TYPICAL).map(|(_, i)| name(*i)).collect();
        let (class, share) = match crosstab.and_then(|c| c.name(h)) {
            Some((name, share)) => (name.to_string(), share.to_string()),
            None => Default::default(),
        };
        let known = crosstab.map(|c| c.counts[h].iter().sum::<usize>().to_string());
        let known = known.unwrap_or_default();
        vec![h.to_string(), objects[h].to_string(), known, class, share, typical.join("; ")]
    });
    Ok(std::iter::once(head).chain(rows).collect())
}

fn features(data: &Data, names: &[String], labels: &[Option<u32>], k: usize) -> Vec<Vec<String>> {
    let name = |f: usize| names.get(f).cloned().unwrap_or_else(|| f.to_string());
    let moments = moments(data, labels, k);
    let mut lines: Vec<Vec<Line>> = (0..=k).map(|_| Vec::new()).collect();
    for (f, of) in moments.iter().enumerate() {
        let words = data.words(f).map(|words| (&words[..], frequencies(data, f, labels, k)));
        let frequent = |counts: &[f64], names: &[String]| {
            let total: f64 = counts.iter().sum();
            let words = (0..counts.len()).rev();
            let most = words.max_by(|&a, &b| counts[a].total_cmp(&counts[b]))?;
            (total > 0.0).then(|| (names[most].clone(), counts[most] / total))
        };
        // Of what comes before and after each cluster: the others, without taking differences.
        let mut after = vec![Moments::default(); k + 1];
        (0..k).rev().for_each(|h| after[h] = after[h + 1].and(of[h]));
        let mut before = Moments::default();
        for h in 0..=k {
            let (cluster, here, rest) = match of.get(h) {
                Some(here) => (h.to_string(), *here, Some(before.and(after[h + 1]))),
                None => ("all".into(), before, None),
            };
            let f_of = match &rest {
                // What stands for a word is its place among the words, which has no variance.
                _ if words.is_some() => None,
                Some(rest) => f_ratio(&[here, *rest]),
                None => f_ratio(of),
            };
            let counted = words.as_ref().and_then(|(names, counts)| match counts.get(h) {
                Some(counts) => frequent(counts, names),
                None => {
                    let sum = |w: usize| counts.iter().map(|c| c[w]).sum();
                    frequent(&(0..names.len()).map(sum).collect::<Vec<_>>(), names)
                }
            });
            before = before.and(here);
            lines[h].push(Line {
                cluster,
                feature: name(f),
                here,
                others: rest.filter(|r| r.n > 0.0).map(|r| r.mean),
                frequent: counted,
                f: f_of,
            });
        }
    }
    let head =
        ["cluster", "feature", "mean", "deviation", "others", "most_frequent", "share", "f_ratio"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for mut lines in lines {
        // What tells most comes first; words have no F and come last.
        lines.sort_by(|a, b| b.f.unwrap_or(-1.0).total_cmp(&a.f.unwrap_or(-1.0)));
        rows.extend(lines.into_iter().take(FEATURES).map(|line| {
            let number = |x: Option<f64>| x.map(|x| x.to_string()).unwrap_or_default();
            let is_number = line.here.n > 0.0 && line.frequent.is_none();
            let (frequent, share) = match line.frequent {
                Some((word, share)) => (word, share.to_string()),
                None => Default::default(),
            };
            vec![
                line.cluster,
                line.feature,
                number(Some(line.here.mean).filter(|_| is_number)),
                number(line.here.deviation().filter(|_| is_number)),
                number(line.others.filter(|_| is_number)),
                frequent,
                share,
                number(line.f.filter(|_| is_number)),
            ]
        }));
    }
    rows
}

/// For each feature the moments of each cluster; values that are missing or words are left out.
fn moments(data: &Data, labels: &[Option<u32>], k: usize) -> Vec<Vec<Moments>> {
    let mut out = vec![vec![Moments::default(); k]; data.d()];
    let mut sizes = vec![0.0; k];
    for (i, label) in labels.iter().enumerate() {
        let Some(label) = label else { continue };
        let h = *label as usize;
        let weight = weight(data, i);
        sizes[h] += weight;
        match data.row(i) {
            Row::Dense(x) => {
                let known = x.iter().enumerate().filter(|(_, v)| v.is_finite());
                known.for_each(|(f, &v)| out[f][h].add(v, weight));
            }
            Row::Sparse(columns, values) => {
                columns.iter().zip(values).for_each(|(&f, &v)| out[f as usize][h].add(v, weight));
            }
        }
    }
    if data.kind() == DataKind::Csr {
        for of in &mut out {
            for (m, &size) in of.iter_mut().zip(&sizes) {
                *m = m.and(Moments { n: size - m.n, ..Moments::default() });
            }
        }
    }
    out
}

/// How much object `i` counts.
fn weight(data: &Data, i: usize) -> f64 {
    data.weights().map_or(1.0, |weights| weights[i])
}

/// How often each word of a column occurs in each cluster.
fn frequencies(data: &Data, column: usize, labels: &[Option<u32>], k: usize) -> Vec<Vec<f64>> {
    let words = data.words(column).map_or(0, |w| w.len());
    let mut counts = vec![vec![0.0; words]; k];
    for (i, label) in labels.iter().enumerate() {
        if let (Some(label), Row::Dense(x)) = (label, data.row(i))
            && x[column].is_finite()
        {
            counts[*label as usize][x[column] as usize] += weight(data, i);
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink::ndarray::array;
    use proptest::prelude::*;

    #[test]
    fn worked_example() {
        // Values 1 2 3 and 7 8 9: F = (54 / 1) / (4 / 4).
        let data = Data::dense(array![[1.0], [2.0], [3.0], [7.0], [8.0], [9.0]]).unwrap();
        let rows = features(&data, &["size".into()], &[0, 0, 0, 1, 1, 1].map(Some), 2);
        assert_eq!(rows[1], ["0", "size", "2", "1", "8", "", "", "54"]);
        assert_eq!(rows[3][..5], ["all", "size", "5", &11.6f64.sqrt().to_string()[..], ""]);
        assert_eq!(rows[3][7], "54");
    }

    #[test]
    fn an_object_of_weight_three_counts_three_times() {
        let words = || Some(["blue", "red"].map(String::from).into());
        let names = ["size", "colour"].map(String::from);
        let x = array![[1.0, 0.0], [5.0, 1.0], [7.0, 1.0], [100.0, 0.0], [9.0, 1.0]];
        let weighted = Data::table(x, vec![None, words()]).unwrap();
        let weighted = weighted.with_weights(vec![3.0, 1.0, 1.0, 0.0, 1.0]).unwrap();
        let x = array![[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [5.0, 1.0], [7.0, 1.0], [9.0, 1.0]];
        let repeated = Data::table(x, vec![None, words()]).unwrap();
        let rows = features(&weighted, &names, &[0, 0, 1, 1, 1].map(Some), 2);
        assert_eq!(rows[1][..5], ["0", "size", "2", "2", "8"]);
        assert_eq!(rows[2][5..7], ["blue", "0.75"]);
        assert_eq!(rows, features(&repeated, &names, &[0, 0, 0, 0, 1, 1].map(Some), 2));
    }

    #[test]
    fn words_come_last() {
        let x = array![[0.0, 1.0], [0.0, 9.0], [1.0, 2.0], [1.0, 8.0]];
        let words = Some(["blue", "red"].map(String::from).into());
        let data = Data::table(x, vec![words, None]).unwrap();
        let rows = features(&data, &["colour".into(), "size".into()], &[0, 0, 1, 1].map(Some), 2);
        let order: Vec<&str> = rows[1..].iter().map(|row| row[1].as_str()).collect();
        assert_eq!(order, ["size", "colour"].repeat(3));
        assert_eq!(rows[2][5..], ["blue", "1", ""]);
    }

    #[test]
    fn what_cannot_be_said_is_left_empty() {
        // One group alone, nothing that varies, nothing that varies within.
        let of = |values: &[f64]| {
            let mut m = Moments::default();
            values.iter().for_each(|&v| m.add(v, 1.0));
            m
        };
        assert_eq!(f_ratio(&[of(&[1.0, 2.0])]), None);
        assert_eq!(f_ratio(&[of(&[1.0, 1.0]), of(&[1.0])]), None);
        assert_eq!(f_ratio(&[of(&[1.0, 1.0]), of(&[2.0, 2.0])]), Some(f64::INFINITY));
        let classes = Classes::from_values([Some("a"), Some("b"), None, Some("b"), None]);
        let crosstab = Crosstab::new(&[0, 0, 0, 1, 2].map(Some), 3, &classes);
        assert_eq!(crosstab.name(0), None, "two lead");
        assert_eq!(crosstab.name(1), Some(("b", 1.0)));
        assert_eq!(crosstab.name(2), None);
        assert_eq!(crosstab.lines(|h| h)[0], ("cluster 0".into(), "a 1, b 1".into()));
        assert_eq!(crosstab.lines(|h| h)[2].1, "no class is known");
    }

    proptest! {
        /// Sparse rows say what dense ones say, and moments of parts those of the whole.
        #[test]
        fn two_roads(
            x in proptest::collection::vec(prop_oneof![Just(0.0), -9.0..9.0f64], 24),
            labels in proptest::collection::vec(proptest::option::of(0..3u32), 8),
        ) {
            let dense = ndarray::Array2::from_shape_vec((8, 3), x.clone()).unwrap();
            let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
            for row in dense.rows() {
                for (f, &v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                    indices.push(f as u32);
                    values.push(v);
                }
                indptr.push(values.len());
            }
            let csr = Csr { indptr, indices, values, columns: 3 };
            let (a, b) = (
                moments(&Data::dense(dense.clone()).unwrap(), &labels, 3),
                moments(&Data::csr(csr).unwrap(), &labels, 3),
            );
            for f in 0..3 {
                for h in 0..3 {
                    let here = |i: &usize| labels[*i] == Some(h as u32);
                    let of: Vec<f64> = (0..8).filter(here).map(|i| dense[[i, f]]).collect();
                    let mean = of.iter().sum::<f64>() / of.len().max(1) as f64;
                    let squares: f64 = of.iter().map(|v| (v - mean).powi(2)).sum();
                    for m in [a[f][h], b[f][h]] {
                        prop_assert_eq!(m.n, of.len() as f64);
                        prop_assert!((m.mean - mean).abs() < 1e-12);
                        prop_assert!((m.squares - squares).abs() < 1e-9);
                    }
                }
            }
        }
    }
}
