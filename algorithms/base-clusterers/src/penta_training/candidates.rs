//! The pairs that all other components see differently, the best of them first.
//!
//! Only the best pairs are held, however many candidates there are; what is skipped cannot be among
//! them, so that the result is that of a scan of all pairs, ties included.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};

use mustlink_core::prelude::*;
use mustlink_kernels::distance::kd_tree::{KdTree, gaps};
use mustlink_kernels::distance::points::row;
use mustlink_kernels::distance::rows_by_label::by_label;
use mustlink_kernels::kmeans::nearest::weighted::{weighted_distance, write_row};
use ndarray::Array2;

use super::links::Links;

/// Objects of a group up to which all its pairs are looked at.
const SCANNED: usize = 2000;
/// Relative allowance for rounding in a bound.
const SLACK: f64 = 1e-9;

/// Distance between the objects of a candidate for a cannot-link.
#[options]
pub enum CannotLinkDistance {
    /// The plain distance: two clusters have no common weights.
    #[default]
    Euclidean,
    /// The mean weighted distance, over both clusters of all components that separate them.
    MeanWeighted,
}

/// A partition with the feature weights of its clusters.
pub(super) struct View<'a> {
    pub labels: &'a [u32],
    /// k × d.
    pub weights: &'a Array2<f64>,
}

/// A pair and how good it is: small is good.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ranked {
    pub rank: f64,
    pub a: u32,
    pub b: u32,
}

impl Eq for Ranked {}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank.total_cmp(&other.rank).then((self.a, self.b).cmp(&(other.a, other.b)))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The best pairs so far.
struct Best {
    count: usize,
    heap: BinaryHeap<Ranked>,
}

impl Best {
    /// The rank from which on nothing is taken any more.
    fn worst(&self) -> f64 {
        match self.heap.peek() {
            Some(last) if self.heap.len() == self.count => last.rank,
            _ => f64::INFINITY,
        }
    }

    fn offer(&mut self, pair: Ranked) {
        if self.heap.len() < self.count {
            self.heap.push(pair);
        } else if let Some(mut last) = self.heap.peek_mut()
            && pair < *last
        {
            *last = pair;
        }
    }
}

/// The candidates of one component.
pub(super) struct Search<'a> {
    pub data: &'a Data,
    pub views: &'a [View<'a>],
    /// The component that is to learn.
    pub own: usize,
    /// Smallest number of other components that must differ from this one about a pair.
    pub agree: usize,
    /// Links that it knows.
    pub links: Links,
    pub cl_distance: CannotLinkDistance,
}

impl Search<'_> {
    /// The `count` best candidates, best first.
    pub(super) fn best(&self, kind: Kind, count: usize, ctx: &Context) -> Result<Vec<Ranked>> {
        let mut best = Best { count, heap: BinaryHeap::new() };
        if count > 0 {
            match kind {
                Kind::MustLink if self.agree + 1 == self.views.len() => {
                    for group in self.groups() {
                        ctx.check()?;
                        if group.len() > SCANNED {
                            self.near_in(&group, &mut best, ctx)?;
                        } else {
                            self.scan(kind, &group, &mut best, ctx)?;
                        }
                    }
                }
                Kind::MustLink => {
                    let all: Vec<u32> = (0..self.data.n() as u32).collect();
                    self.scan(kind, &all, &mut best, ctx)?;
                }
                Kind::CannotLink => {
                    let labels = self.views[self.own].labels;
                    let k = labels.iter().max().map_or(0, |&l| l as usize + 1);
                    let (offsets, order) = by_label(labels, k);
                    for of in offsets.windows(2) {
                        ctx.check()?;
                        self.far_in(&order[of[0]..of[1]], &mut best, ctx)?;
                    }
                }
            }
        }
        Ok(best.heap.into_sorted_vec())
    }

    /// The number of candidates.
    pub(super) fn count(&self, kind: Kind, ctx: &Context) -> Result<usize> {
        let mut count = 0;
        for a in 0..self.data.n() as u32 {
            ctx.check()?;
            count +=
                (a + 1..self.data.n() as u32).filter(|&b| self.is_candidate(kind, a, b)).count();
        }
        Ok(count)
    }

    /// True if at least `agree` other components are of this kind about a pair, this one is not, and no constraint
    /// settles it.
    fn is_candidate(&self, kind: Kind, a: u32, b: u32) -> bool {
        let must = kind == Kind::MustLink;
        let joins = |v: &View| v.labels[a as usize] == v.labels[b as usize];
        joins(&self.views[self.own]) != must
            && self.others().filter(|v| joins(v) == must).count() >= self.agree
            && self.links.relation(a, b).is_none()
    }

    fn others(&self) -> impl Iterator<Item = &View<'_>> {
        let own = self.own;
        self.views.iter().enumerate().filter(move |(i, _)| *i != own).map(|(_, v)| v)
    }

    /// The rank of a candidate with these rows: the mean distance of near must-links, or minus the
    /// distance of far cannot-links.
    fn rank(&self, kind: Kind, (a, x): (u32, &[f64]), (b, y): (u32, &[f64])) -> f64 {
        let distance = |v: &View, i: u32| {
            weighted_distance(x, y, row(v.weights, v.labels[i as usize] as usize)).sqrt()
        };
        let joins = |v: &View| v.labels[a as usize] == v.labels[b as usize];
        let mean = |joined: bool, of: &dyn Fn(&View) -> f64| {
            let (mut sum, mut count) = (0.0, 0);
            for v in self.others().filter(|v| joins(v) == joined) {
                sum += of(v);
                count += 1;
            }
            sum / f64::from(count)
        };
        match (kind, self.cl_distance) {
            (Kind::MustLink, _) => mean(true, &|v| distance(v, a)),
            (Kind::CannotLink, CannotLinkDistance::Euclidean) => {
                -reduce::squared_distance(x, y).sqrt()
            }
            (Kind::CannotLink, CannotLinkDistance::MeanWeighted) => {
                -mean(false, &|v| 0.5 * (distance(v, a) + distance(v, b)))
            }
        }
    }

    /// Looks at all pairs of some objects.
    fn scan(&self, kind: Kind, objects: &[u32], best: &mut Best, ctx: &Context) -> Result<()> {
        let d = self.data.d();
        let (mut x, mut y) = (vec![0.0; d], vec![0.0; d]);
        for (at, &a) in objects.iter().enumerate() {
            ctx.check()?;
            write_row(self.data, a as usize, &mut x);
            for &b in &objects[at + 1..] {
                if self.is_candidate(kind, a, b) {
                    write_row(self.data, b as usize, &mut y);
                    best.offer(Ranked { rank: self.rank(kind, (a, &x), (b, &y)), a, b });
                }
            }
        }
        Ok(())
    }

    /// Objects that all other components have in the same cluster, where this one parts them.
    fn groups(&self) -> Vec<Vec<u32>> {
        let mut groups: BTreeMap<Vec<u32>, Vec<u32>> = BTreeMap::new();
        for i in 0..self.data.n() {
            let key = self.others().map(|v| v.labels[i]).collect();
            groups.entry(key).or_default().push(i as u32);
        }
        let own = self.views[self.own].labels;
        let parted = |g: &Vec<u32>| g.iter().any(|&i| own[i as usize] != own[g[0] as usize]);
        groups.into_values().filter(parted).collect()
    }

    /// Near pairs of one group, by a tree in coordinates in which no distance is larger than in any
    /// component.
    fn near_in(&self, group: &[u32], best: &mut Best, ctx: &Context) -> Result<()> {
        let d = self.data.d();
        let scale: Vec<f64> = (0..d)
            .map(|s| {
                let weight = |v: &View| v.weights[[v.labels[group[0] as usize] as usize, s]];
                self.others().map(weight).fold(f64::INFINITY, f64::min).sqrt()
            })
            .collect();
        let mut rows = Array2::zeros((group.len(), d));
        for (&i, mut to) in group.iter().zip(rows.rows_mut()) {
            let to = to.as_slice_mut().expect("standard layout");
            write_row(self.data, i as usize, to);
            to.iter_mut().zip(&scale).for_each(|(v, s)| *v *= s);
        }
        let tree = KdTree::new(rows.view());
        // Scaled coordinates are rounded, by this much in all.
        let largest = rows.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        let rounding = 4.0 * f64::EPSILON * largest * d as f64;
        let (mut x, mut y, mut gap) = (vec![0.0; d], vec![0.0; d], vec![0.0; d]);
        let zero = vec![0.0; d];
        for (at, &a) in group.iter().enumerate() {
            ctx.check()?;
            write_row(self.data, a as usize, &mut x);
            let centre = row(&rows, at);
            // Both closures look at the best pairs so far.
            let shared = std::cell::RefCell::new(&mut *best);
            let near =
                |square: f64| square.sqrt() * (1.0 - SLACK) - rounding <= shared.borrow().worst();
            tree.search(
                |low, high| {
                    gaps(centre, low, high, &mut gap);
                    near(reduce::squared_distance(&gap, &zero))
                },
                |other, place| {
                    let b = group[other as usize];
                    let square = reduce::squared_distance(centre, place);
                    if a < b && near(square) && self.is_candidate(Kind::MustLink, a, b) {
                        write_row(self.data, b as usize, &mut y);
                        let rank = self.rank(Kind::MustLink, (a, &x), (b, &y));
                        shared.borrow_mut().offer(Ranked { rank, a, b });
                    }
                },
            );
        }
        Ok(())
    }

    /// Far pairs of one cluster. No two objects are farther apart than both from the mean, and
    /// weights are at most 1.
    fn far_in(&self, cluster: &[u32], best: &mut Best, ctx: &Context) -> Result<()> {
        let d = self.data.d();
        let mut mean = vec![0.0; d];
        for &i in cluster {
            self.data.row(i as usize).add_to(&mut mean, 1.0 / cluster.len() as f64);
        }
        let (mut x, mut y) = (vec![0.0; d], vec![0.0; d]);
        let mut reach: Vec<(f64, u32)> = cluster
            .iter()
            .map(|&i| {
                write_row(self.data, i as usize, &mut x);
                (reduce::squared_distance(&x, &mean).sqrt(), i)
            })
            .collect();
        reach.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let too_near = |best: &Best, reach: f64| reach * (1.0 + SLACK) < -best.worst();
        for (at, &(far, i)) in reach.iter().enumerate() {
            if too_near(best, 2.0 * far) {
                break;
            }
            ctx.check()?;
            write_row(self.data, i as usize, &mut x);
            for &(near, j) in &reach[at + 1..] {
                if too_near(best, far + near) {
                    break;
                }
                if self.is_candidate(Kind::CannotLink, i, j) {
                    write_row(self.data, j as usize, &mut y);
                    // By index, so that sums are those of a plain scan.
                    let (a, b) = (i.min(j), i.max(j));
                    let (first, second) = if a == i { (&x, &y) } else { (&y, &x) };
                    let rank = self.rank(Kind::CannotLink, (a, first), (b, second));
                    best.offer(Ranked { rank, a, b });
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_laws::fixtures;
    use proptest::prelude::*;

    /// Every pair, by the definition of candidates and ranks.
    fn naive(search: &Search, x: &Array2<f64>, kind: Kind, count: usize) -> Vec<Ranked> {
        let mut all = Vec::new();
        for a in 0..x.nrows() {
            for b in a + 1..x.nrows() {
                let together: Vec<bool> =
                    search.views.iter().map(|v| v.labels[a] == v.labels[b]).collect();
                let must = kind == Kind::MustLink;
                let agreeing: Vec<usize> = (0..together.len())
                    .filter(|&i| i != search.own && together[i] == must)
                    .collect();
                let known = search.links.relation(a as u32, b as u32);
                if together[search.own] == must || agreeing.len() < search.agree || known.is_some()
                {
                    continue;
                }
                let (x, y) = (x.row(a).to_vec(), x.row(b).to_vec());
                let weighted = |i: usize, object: usize| {
                    let v = &search.views[i];
                    let w = v.weights.row(v.labels[object] as usize).to_vec();
                    weighted_distance(&x, &y, &w).sqrt()
                };
                let count = agreeing.len() as f64;
                let rank = match (kind, search.cl_distance) {
                    (Kind::MustLink, _) => {
                        agreeing.iter().map(|&i| weighted(i, a)).sum::<f64>() / count
                    }
                    (_, CannotLinkDistance::Euclidean) => -reduce::squared_distance(&x, &y).sqrt(),
                    (_, CannotLinkDistance::MeanWeighted) => {
                        let half = |i: usize| 0.5 * (weighted(i, a) + weighted(i, b));
                        -(agreeing.iter().map(|&i| half(i)).sum::<f64>() / count)
                    }
                };
                all.push(Ranked { rank, a: a as u32, b: b as u32 });
            }
        }
        all.sort();
        all.truncate(count);
        all
    }

    /// Labels, and weights of the clusters.
    type Partition = (Vec<u32>, Array2<f64>);

    /// m partitions of n objects that mostly agree, with weights, and some constraints.
    fn scene(
        seed: u64,
        (n, d, m, k): (usize, usize, usize, usize),
    ) -> (Array2<f64>, Vec<Partition>, Links) {
        let mut s = SeedPath::new(seed).stream("scene");
        // Small whole numbers: many distances are equal.
        let x = Array2::from_shape_fn((n, d), |_| s.below(6) as f64);
        let truth: Vec<u32> = (0..n).map(|_| s.below(k) as u32).collect();
        let members = (0..m).map(|_| {
            let other = |&l: &u32| if s.below(6) == 0 { s.below(k) as u32 } else { l };
            let labels = truth.iter().map(other).collect();
            let mut weights = Array2::from_shape_fn((k, d), |_| 1.0 + s.below(4) as f64);
            for mut row in weights.rows_mut() {
                let total = row.sum();
                row.mapv_inplace(|v| v / total);
            }
            (labels, weights)
        });
        let members = members.collect();
        let mut links = Links::new(n, k, &Constraints::default());
        for _ in 0..n / 4 {
            let (a, b) = (s.below(n) as u32, s.below(n) as u32);
            let kind = if s.below(2) == 0 { Kind::MustLink } else { Kind::CannotLink };
            links.add(a, b, kind);
        }
        (x, members, links)
    }

    fn check(seed: u64, sizes: (usize, usize, usize, usize), agree: usize, count: usize) {
        let (x, members, links) = scene(seed, sizes);
        let views: Vec<View> =
            members.iter().map(|(labels, weights)| View { labels, weights }).collect();
        for data in [Data::dense(x.clone()).unwrap(), Data::csr(fixtures::to_csr(&x)).unwrap()] {
            for cl_distance in [CannotLinkDistance::Euclidean, CannotLinkDistance::MeanWeighted] {
                let search = Search {
                    data: &data,
                    views: &views,
                    own: 1,
                    agree,
                    links: links.clone(),
                    cl_distance,
                };
                for kind in [Kind::MustLink, Kind::CannotLink] {
                    let ctx = Context::new(1);
                    let plain = naive(&search, &x, kind, count);
                    assert_eq!(search.best(kind, count, &ctx).unwrap(), plain);
                    let all = naive(&search, &x, kind, usize::MAX).len();
                    assert_eq!(search.count(kind, &ctx).unwrap(), all);
                    if kind == Kind::MustLink && agree + 1 == views.len() {
                        // The tree, whatever the size of the groups.
                        let mut best = Best { count, heap: BinaryHeap::new() };
                        for group in search.groups() {
                            search.near_in(&group, &mut best, &ctx).unwrap();
                        }
                        assert_eq!(best.heap.into_sorted_vec(), plain);
                    }
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn the_best_are_those_of_a_scan_of_all_pairs(
            seed: u64,
            n in 2usize..60,
            d in 1usize..4,
            m in 3usize..6,
            k in 2usize..4,
            fewer: bool,
            count in 1usize..12,
        ) {
            check(seed, (n, d, m, k), if fewer { 2 } else { m - 1 }, count);
        }
    }

    #[test]
    fn every_search_hears_cancelling() {
        let (x, members, links) = scene(5, (60, 2, 4, 2));
        let data = Data::dense(x).unwrap();
        let views: Vec<View> =
            members.iter().map(|(labels, weights)| View { labels, weights }).collect();
        let search = |agree: usize| Search {
            data: &data,
            views: &views,
            own: 1,
            agree,
            links: links.clone(),
            cl_distance: CannotLinkDistance::Euclidean,
        };
        // So many that no bound ends it early: one look for each object.
        for (agree, kind) in [(2, Kind::MustLink), (3, Kind::CannotLink)] {
            let counted = Context::builder(SeedPath::new(1)).count_looks().build();
            search(agree).best(kind, 5000, &counted).unwrap();
            assert!(counted.looks() >= 60, "{}", counted.looks());
        }
        let ended = Context::builder(SeedPath::new(1)).cancel_after(9).build();
        let all: Vec<u32> = (0..60).collect();
        let mut best = Best { count: 5000, heap: BinaryHeap::new() };
        assert_eq!(search(3).near_in(&all, &mut best, &ended), Err(Error::Cancelled));
    }

    #[test]
    fn large_groups_give_the_same() {
        check(3, (500, 3, 3, 2), 2, 7);
        check(4, (500, 2, 4, 2), 3, 40);
    }
}
