//! The agreement of two labelings of the same objects.
//!
//! A contingency table counts the objects in each class and cluster; pair counts, entropies and
//! every score of agreement are sums over it. Classes are rows, clusters are columns; both are
//! numbered by first appearance, so that the names of labels change no bit of a result. Only cells
//! that are not empty are kept: memory is O(N), whatever the number of groups.
//!
//! Sources: [HubertArabie1985] (adjusted Rand index); [VinhEppsBailey2010] §2–3 (mutual information and its mean).

use std::collections::{BTreeMap, HashMap};

use mustlink_core::clustering::compact;
use mustlink_core::prelude::{__mustlink, options};

use crate::agreement::sparse_matching::{Worth, largest_total};

/// Average of two entropies.
#[options]
pub enum Average {
    /// Half the sum.
    #[default]
    Arithmetic,
    /// The root of the product.
    Geometric,
    /// The smaller.
    Min,
    /// The larger.
    Max,
}

impl Average {
    /// The average of two numbers >= 0.
    pub fn of(self, x: f64, y: f64) -> f64 {
        match self {
            Average::Arithmetic => 0.5 * (x + y),
            Average::Geometric => (x * y).sqrt(),
            Average::Min => x.min(y),
            Average::Max => x.max(y),
        }
    }
}

/// The objects in one class and one cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// Class, by first appearance.
    pub class: u32,
    /// Cluster, by first appearance.
    pub cluster: u32,
    /// Number of objects, >= 1.
    pub count: u64,
}

/// Pairs of objects by where the two labelings put them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PairCounts {
    /// One class, one cluster.
    pub true_positives: u64,
    /// Two classes, one cluster.
    pub false_positives: u64,
    /// One class, two clusters.
    pub false_negatives: u64,
    /// Two classes, two clusters.
    pub true_negatives: u64,
}

impl PairCounts {
    /// Number of pairs.
    pub fn total(&self) -> u64 {
        self.together() + self.false_negatives + self.true_negatives
    }

    /// Pairs in one cluster.
    pub fn together(&self) -> u64 {
        self.true_positives + self.false_positives
    }

    /// Pairs in one class.
    pub fn same_class(&self) -> u64 {
        self.true_positives + self.false_negatives
    }

    /// The count of pairs that are, or are not, in one class and in one cluster.
    pub fn of(&mut self, same_class: bool, same_cluster: bool) -> &mut u64 {
        match (same_class, same_cluster) {
            (true, true) => &mut self.true_positives,
            (false, true) => &mut self.false_positives,
            (true, false) => &mut self.false_negatives,
            (false, false) => &mut self.true_negatives,
        }
    }
}

/// Number of objects of each class in each cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contingency {
    n: u64,
    classes: Vec<u64>,
    clusters: Vec<u64>,
    cells: Vec<Cell>,
}

impl Contingency {
    /// The table of (class, cluster) of each object.
    pub fn new(objects: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let (classes, clusters): (Vec<u32>, Vec<u32>) = objects.into_iter().unzip();
        let (classes, rows) = compact(&classes);
        let (clusters, columns) = compact(&clusters);
        let n = classes.len();
        let pairs = classes.iter().zip(&clusters);
        let mut cells: Vec<Cell> = if rows * columns > 4 * n {
            let mut counts: HashMap<(u32, u32), u64> = HashMap::with_capacity(n);
            pairs.for_each(|(&r, &c)| *counts.entry((r, c)).or_default() += 1);
            counts
                .into_iter()
                .map(|((class, cluster), count)| Cell { class, cluster, count })
                .collect()
        } else {
            let mut counts = vec![0u64; rows * columns];
            pairs.for_each(|(&r, &c)| counts[r as usize * columns + c as usize] += 1);
            let filled = counts.iter().enumerate().filter(|(_, count)| **count > 0);
            filled
                .map(|(at, &count)| Cell {
                    class: (at / columns) as u32,
                    cluster: (at % columns) as u32,
                    count,
                })
                .collect()
        };
        // Sums run over the cells in this order, however they were counted.
        cells.sort_unstable_by_key(|cell| (cell.class, cell.cluster));
        let (mut class_sizes, mut cluster_sizes) = (vec![0; rows], vec![0; columns]);
        for cell in &cells {
            class_sizes[cell.class as usize] += cell.count;
            cluster_sizes[cell.cluster as usize] += cell.count;
        }
        Contingency { n: n as u64, classes: class_sizes, clusters: cluster_sizes, cells }
    }

    /// Number of objects.
    pub fn n(&self) -> u64 {
        self.n
    }

    /// Objects per class, by first appearance.
    pub fn classes(&self) -> &[u64] {
        &self.classes
    }

    /// Objects per cluster, by first appearance.
    pub fn clusters(&self) -> &[u64] {
        &self.clusters
    }

    /// The cells that are not empty, by class, then cluster.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The two labelings are one partition under two sets of names.
    pub fn is_identical(&self) -> bool {
        self.cells.len() == self.classes.len() && self.cells.len() == self.clusters.len()
    }

    /// Pairs by where the two labelings put them.
    pub fn pair_counts(&self) -> PairCounts {
        let pairs = |m: u64| m * m.saturating_sub(1) / 2;
        let sum = |sizes: &[u64]| sizes.iter().map(|&m| pairs(m)).sum::<u64>();
        let true_positives = self.cells.iter().map(|cell| pairs(cell.count)).sum::<u64>();
        let false_positives = sum(&self.clusters) - true_positives;
        let false_negatives = sum(&self.classes) - true_positives;
        let true_negatives = pairs(self.n) - true_positives - false_positives - false_negatives;
        PairCounts { true_positives, false_positives, false_negatives, true_negatives }
    }

    fn share(&self, count: u64) -> f64 {
        count as f64 / self.n as f64
    }

    fn entropy(&self, sizes: impl Iterator<Item = u64>) -> f64 {
        sizes.map(|m| self.share(m) * ln_ratio(self.n.into(), m.into())).sum()
    }

    /// Entropy of the classes in nats.
    pub fn class_entropy(&self) -> f64 {
        self.entropy(self.classes.iter().copied())
    }

    /// Entropy of the clusters in nats.
    pub fn cluster_entropy(&self) -> f64 {
        self.entropy(self.clusters.iter().copied())
    }

    /// Entropy of class and cluster together in nats.
    pub fn joint_entropy(&self) -> f64 {
        self.entropy(self.cells.iter().map(|cell| cell.count))
    }

    /// H(class | cluster) in nats; exactly 0 where the cluster determines the class.
    pub fn class_entropy_given_clusters(&self) -> f64 {
        let size = |cell: &Cell| self.clusters[cell.cluster as usize];
        let term = |c: &Cell| self.share(c.count) * ln_ratio(size(c).into(), c.count.into());
        self.cells.iter().map(term).sum()
    }

    /// H(cluster | class) in nats; exactly 0 where the class determines the cluster.
    pub fn cluster_entropy_given_classes(&self) -> f64 {
        let size = |cell: &Cell| self.classes[cell.class as usize];
        let term = |c: &Cell| self.share(c.count) * ln_ratio(size(c).into(), c.count.into());
        self.cells.iter().map(term).sum()
    }

    /// Mutual information in nats.
    pub fn mutual_information(&self) -> f64 {
        self.cells
            .iter()
            .map(|cell| {
                let (a, b) =
                    (self.classes[cell.class as usize], self.clusters[cell.cluster as usize]);
                self.information(cell.count, a, b)
            })
            .sum()
    }

    /// (m/N) · ln(N m / (a b)).
    fn information(&self, m: u64, a: u64, b: u64) -> f64 {
        let wide = u128::from;
        self.share(m) * ln_ratio(wide(self.n) * wide(m), wide(a) * wide(b))
    }

    /// Mean mutual information over all ways to hand out the same class and cluster sizes.
    ///
    /// The overlap of a class and a cluster is then hypergeometric. Its probabilities are taken
    /// from the ratios of neighbouring ones, outwards from the most likely overlap, and divided by
    /// their sum: log factorials of a large N would leave few digits.
    pub fn expected_mutual_information(&self) -> f64 {
        // Groups of one size have one term.
        let tally = |sizes: &[u64]| {
            let mut tally: BTreeMap<u64, u64> = BTreeMap::new();
            sizes.iter().for_each(|&m| *tally.entry(m).or_default() += 1);
            tally
        };
        let clusters = tally(&self.clusters);
        let mut total = 0.0;
        for (&a, &classes) in &tally(&self.classes) {
            for (&b, &times) in &clusters {
                total += classes as f64 * times as f64 * self.expected_information(a, b);
            }
        }
        total
    }

    /// Mean of [`Self::information`] of the overlap of a class of `a` and a cluster of `b` objects.
    fn expected_information(&self, a: u64, b: u64) -> f64 {
        // Beyond this share of the largest probability nothing reaches the last digit.
        const NEGLIGIBLE: f64 = 1e-40;
        let n = self.n;
        let (low, high) = ((a + b).saturating_sub(n), a.min(b));
        let wide = u128::from;
        let mode = wide(a + 1) * wide(b + 1) / wide(n + 2);
        let mode = u64::try_from(mode).expect("at most min(a, b)").clamp(low, high);
        // P(m + 1) / P(m)
        let ratio = |m: u64| {
            ((a - m) as f64 * (b - m) as f64) / ((m + 1) as f64 * (n + m + 1 - a - b) as f64)
        };
        let information = |m: u64| if m == 0 { 0.0 } else { self.information(m, a, b) };
        let (mut mass, mut mean) = (1.0, information(mode));
        let mut weight = 1.0;
        for m in mode..high {
            weight *= ratio(m);
            if weight < NEGLIGIBLE {
                break;
            }
            mass += weight;
            mean += weight * information(m + 1);
        }
        weight = 1.0;
        for m in (low..mode).rev() {
            weight /= ratio(m);
            if weight < NEGLIGIBLE {
                break;
            }
            mass += weight;
            mean += weight * information(m);
        }
        mean / mass
    }

    /// Mutual information over an average of the two entropies: 1 for one partition, else 0/0 = 0.
    pub fn normalised_mutual_information(&self, average: Average) -> f64 {
        if self.is_identical() {
            return 1.0;
        }
        let mean = average.of(self.class_entropy(), self.cluster_entropy());
        if mean == 0.0 { 0.0 } else { self.mutual_information() / mean }
    }

    /// Adjusted Rand index: 1 for one partition, 0 on average for unrelated ones.
    ///
    /// From the pair counts, `2(TP·TN − FN·FP) / ((TP+FN)(FN+TN) + (TP+FP)(FP+TN))`, in whole
    /// numbers up to the last division.
    pub fn adjusted_rand(&self) -> f64 {
        if self.is_identical() {
            return 1.0;
        }
        let pairs = self.pair_counts();
        let [tp, fp, fn_, tn] = [
            pairs.true_positives,
            pairs.false_positives,
            pairs.false_negatives,
            pairs.true_negatives,
        ]
        .map(i128::from);
        let above = 2 * (tp * tn - fn_ * fp);
        // Up to 2¹²⁷, one bit too many for i128.
        let [same, other] =
            [(tp + fn_) * (fn_ + tn), (tp + fp) * (fp + tn)].map(i128::unsigned_abs);
        above as f64 / (same + other) as f64
    }

    /// Objects in the largest class of their cluster.
    pub fn majority(&self) -> u64 {
        let mut largest = vec![0; self.clusters.len()];
        for cell in &self.cells {
            let best = &mut largest[cell.cluster as usize];
            *best = cell.count.max(*best);
        }
        largest.iter().sum()
    }

    /// Objects in the class of their cluster under the best one-to-one matching of the two.
    pub fn matching(&self) -> u64 {
        // A class and a cluster without a common object never gain by being matched.
        let worth = |cell: &Cell| (cell.class, cell.cluster, cell.count);
        let pairs: Vec<Worth> = self.cells.iter().map(worth).collect();
        largest_total(&pairs, self.classes.len(), self.clusters.len())
    }
}

/// ln(above / below), with all digits when the two are close.
fn ln_ratio(above: u128, below: u128) -> f64 {
    let difference = if above >= below {
        (above - below) as f64 / below as f64
    } else {
        -((below - above) as f64 / below as f64)
    };
    if difference.abs() < 0.5 { difference.ln_1p() } else { (above as f64 / below as f64).ln() }
}

fn table(classes: &[u32], clusters: &[u32]) -> Contingency {
    Contingency::new(classes.iter().copied().zip(clusters.iter().copied()))
}

/// Adjusted Rand index of two labelings of the same objects; 1 without objects.
pub fn adjusted_rand(a: &[u32], b: &[u32]) -> f64 {
    table(a, b).adjusted_rand()
}

/// Normalised mutual information, geometric mean, of two labelings of the same objects; 1 without
/// objects.
pub fn nmi_geometric(a: &[u32], b: &[u32]) -> f64 {
    table(a, b).normalised_mutual_information(Average::Geometric)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::linear_assignment::maximise_counts;
    use mustlink_laws::strategies::labelings;
    use proptest::prelude::*;

    #[test]
    fn t7_of_the_specification() {
        let y = [0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2];
        let c = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 0];
        let t = table(&y, &c);
        let cell = |class, cluster, count| Cell { class, cluster, count };
        let filled = [
            cell(0, 0, 4),
            cell(0, 1, 1),
            cell(1, 1, 3),
            cell(1, 2, 1),
            cell(2, 0, 1),
            cell(2, 2, 2),
        ];
        assert_eq!(t.cells(), filled);
        assert_eq!((t.classes(), t.clusters()), (&[5, 4, 3][..], &[5, 4, 3][..]));
        let [tp, fp, fn_, tn] = [10, 9, 9, 38];
        assert_eq!(
            t.pair_counts(),
            PairCounts {
                true_positives: tp,
                false_positives: fp,
                false_negatives: fn_,
                true_negatives: tn
            }
        );
        assert_eq!((t.majority(), t.matching()), (9, 9));
        assert!((adjusted_rand(&y, &c) - 0.334826427772).abs() < 1e-9);
        assert!((nmi_geometric(&y, &c) - 0.484876487526).abs() < 1e-9);
    }

    #[test]
    fn no_objects_are_one_partition() {
        assert_eq!((adjusted_rand(&[], &[]), nmi_geometric(&[], &[])), (1.0, 1.0));
    }

    #[test]
    fn the_sparse_table_is_the_dense_one() {
        // 60 × 60 possible cells over 60 objects are counted in a map, the rest densely; the names
        // of the labels decide between map and list when they are renamed.
        let y: Vec<u32> = (0..60).collect();
        let c: Vec<u32> = (0..60).map(|i| (i * 7 + 3) % 60).collect();
        let named: Vec<u32> = c.iter().map(|&l| u32::MAX - 1 - 50_000 * l).collect();
        assert_eq!(table(&y, &c), table(&y, &named));
        assert!(table(&y, &c).is_identical());
        assert_eq!(table(&y, &c).cells().len(), 60);
        assert!(table(&y, &c).cells().windows(2).all(|w| w[0].class < w[1].class));
    }

    #[test]
    fn many_groups_need_no_large_table() {
        // 200 000 singletons against 100 000 pairs: the whole table would have 2·10¹⁰ cells.
        let t = Contingency::new((0..200_000).map(|i| (i / 2, i)));
        assert_eq!(t.matching(), 100_000);
        assert_eq!(t.majority(), 200_000);
    }

    #[test]
    fn many_groups_that_are_mixed_need_no_large_table() {
        // A table of 10¹⁰ cells, all of it connected.
        let n = 200_000u32;
        let t = Contingency::new((0..n).map(|i| (i / 2, (i + 1) % n / 2)));
        assert_eq!((t.classes().len(), t.clusters().len()), (100_000, 100_000));
        assert_eq!(t.matching(), 100_000);
    }

    #[test]
    fn the_largest_tables_do_not_overflow() {
        let half = (u64::from(u32::MAX) - 1) / 2;
        let cell = |class, cluster| Cell { class, cluster, count: half };
        for cells in [vec![cell(0, 0), cell(1, 1)], vec![cell(0, 0), cell(0, 1)]] {
            let classes = cells.iter().map(|c| c.class).max().unwrap() as usize + 1;
            let t = Contingency {
                n: 2 * half,
                classes: vec![2 * half / classes as u64; classes],
                clusters: vec![half; 2],
                cells,
            };
            let expected = if classes == 2 { 1.0 } else { 0.0 };
            assert_eq!(t.adjusted_rand(), expected);
            assert!(t.mutual_information().is_finite());
            assert!(t.expected_mutual_information() < 1e-6);
        }
    }

    #[test]
    fn information_keeps_its_digits_in_large_tables() {
        // One object of a million stands apart from both: a refinement, so MI = H(class).
        let n = 1_000_000u32;
        let t =
            Contingency::new((0..n).map(|i| (u32::from(i == 0), if i == 0 { 2 } else { i % 2 })));
        let (mi, h) = (t.mutual_information(), t.class_entropy());
        assert!((mi / h - 1.0).abs() < 1e-13, "{}", mi / h - 1.0);
        assert_eq!(t.class_entropy_given_clusters(), 0.0);
    }

    /// E[MI] as the specification writes it, with log factorials.
    fn expected_by_factorials(t: &Contingency) -> f64 {
        let n = t.n() as usize;
        let mut ln_factorial = vec![0.0; n + 1];
        for m in 1..=n {
            ln_factorial[m] = ln_factorial[m - 1] + (m as f64).ln();
        }
        let f = |m: usize| ln_factorial[m];
        let mut total = 0.0;
        for &a in t.classes() {
            for &b in t.clusters() {
                let (a, b) = (a as usize, b as usize);
                for m in 1.max((a + b).saturating_sub(n))..=a.min(b) {
                    let ln_p = f(a) + f(b) + f(n - a) + f(n - b)
                        - f(n)
                        - f(m)
                        - f(a - m)
                        - f(b - m)
                        - f(n + m - a - b);
                    let (m, n) = (m as f64, n as f64);
                    total += m / n * (n * m / (a * b) as f64).ln() * ln_p.exp();
                }
            }
        }
        total
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn pairs_as_counted_one_by_one([y, c] in labelings(1..=39, 7)) {
            let mut slow = PairCounts::default();
            for j in 0..y.len() {
                for i in 0..j {
                    *slow.of(y[i] == y[j], c[i] == c[j]) += 1;
                }
            }
            let fast = table(&y, &c).pair_counts();
            prop_assert_eq!(fast, slow);
            prop_assert_eq!(fast.total(), (y.len() * (y.len() - 1) / 2) as u64);
        }

        #[test]
        fn expected_information_by_two_roads([y, c] in labelings(1..=39, 7)) {
            let t = table(&y, &c);
            let (fast, slow) = (t.expected_mutual_information(), expected_by_factorials(&t));
            prop_assert!((fast - slow).abs() < 1e-12, "{fast} {slow}");
        }

        #[test]
        fn entropies_fit_together([y, c] in labelings(1..=39, 7)) {
            let t = table(&y, &c);
            let mi = t.mutual_information();
            let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
            prop_assert!(near(t.class_entropy() - mi, t.class_entropy_given_clusters()));
            prop_assert!(near(t.cluster_entropy() - mi, t.cluster_entropy_given_classes()));
            prop_assert!(near(t.class_entropy() + t.cluster_entropy() - mi, t.joint_entropy()));
        }

        #[test]
        fn names_change_no_bit([y, c] in labelings(1..=39, 7)) {
            let renamed: Vec<u32> = c.iter().map(|&l| 1_000_003 * (9 - l)).collect();
            prop_assert_eq!(table(&y, &c), table(&y, &renamed));
        }

        #[test]
        fn matching_as_in_one_large_table([y, c] in labelings(1..=39, 7)) {
            let t = table(&y, &c);
            let (rows, columns) = (t.classes().len(), t.clusters().len());
            let mut whole = vec![0; rows * columns];
            for cell in t.cells() {
                whole[cell.class as usize * columns + cell.cluster as usize] = cell.count;
            }
            let chosen = maximise_counts(&whole, rows, columns).unwrap();
            let total: u64 = chosen
                .iter()
                .enumerate()
                .filter_map(|(row, column)| column.map(|column| whole[row * columns + column]))
                .sum();
            prop_assert_eq!(t.matching(), total);
        }
    }
}
