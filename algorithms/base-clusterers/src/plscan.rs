//! PLSCAN: the leaf clusters of HDBSCAN* at all minimum cluster sizes, and the choice of one size.

use mustlink_core::prelude::*;
use mustlink_core::union_find::UnionFind;
use mustlink_kernels::graph::reachability::{Join, ascending, mutual_reachability};
use mustlink_kernels::noise::{Noise, with_noise};

/// PLSCAN: the leaf clusters of HDBSCAN* at the minimum cluster size with the largest total persistence.
///
/// # Method
/// The reachability distance of two objects is the largest of their distance and their distances to their
/// `min_samples`-th nearest objects. Objects joined up to some distance form a dense region. For a size t, only regions
/// of more than t objects count; smaller ones are ignored. A leaf cluster is a region that joins another region as the
/// distance grows, but in which no two regions have joined before. As t grows, a leaf cluster is born when the regions
/// inside it stop counting. It dies when the region itself or the one that it joins stops counting. It is a leaf
/// cluster if birth ≤ t < death, and its persistence is death − birth. The method takes the t at which the leaf
/// clusters have the largest total persistence (ties: the smallest t). Objects outside these leaf clusters are noise.
/// # Input and output
/// n × d, dense or sparse, Euclidean distances, or a matrix of distances. The method finds the number of clusters; k is
/// not used. Every object has a label (see `noise`). Diagnostics: `noise_objects`; `persistence`, the total, 0 without
/// leaf clusters; `min_cluster_size`, the t taken, only with leaf clusters. All objects are noise if no two regions of
/// more than `min_cluster_size` objects join: for example if there is one object, if all distances are equal, or if
/// `min_cluster_size` is at least n / 2. Objects that are all equal are one cluster. In all other results there are at
/// least two clusters. A `min_samples` above n counts as n: the distance to the farthest object.
/// # Errors
/// `BadParam`, also for `max_cluster_size` below `min_cluster_size`; `NumericalFailure` for distances whose squares
/// are too large.
/// # Cost and randomness
/// With up to 16 features a k-d tree and Borůvka's method, about n·log²n; otherwise O(n²·d) time. All sizes together
/// add O(n·log n) time. O(n) memory, with more features O(n · (`min_samples` + d)). Not random.
/// # References
/// [Bot2025], persistence of sizes; reachability distance and leaf clusters: [Campello2013]; tree: [March2010].
/// Differs from the authors' package fast-plscan: joins at equal distances happen together, as in `hdbscan`. The
/// package makes them one after the other, so an object between two clusters can belong to either of them, and sizes
/// can differ by such objects. `min_samples` counts the object itself; in the package it does not. The other measures
/// of persistence, by distances or densities, are not available. Objects that are all equal are noise in the package.
#[options]
pub struct Plscan {
    /// Number of neighbours, including itself, that make an object a core. It is one more than in fast-plscan, which
    /// does not count the object itself.
    #[option(default = 5, min = 1)]
    pub min_samples: usize,
    /// Smallest size that is tried; every cluster has more objects. If absent, `min_samples`.
    #[option(min = 1)]
    pub min_cluster_size: Option<usize>,
    /// Largest size that is tried; clusters may have more objects. If absent, all sizes are tried.
    #[option(min = 1)]
    pub max_cluster_size: Option<usize>,
    /// Treatment of objects outside all clusters in ensembles and studies. In files and in Python they are noise, -1.
    pub noise: Noise,
}

#[plugin("plscan", cites = ["Bot2025", "Campello2013", "March2010"])]
impl BaseClusterer for Plscan {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let least = self.min_cluster_size.unwrap_or(self.min_samples);
        let most = self.max_cluster_size.unwrap_or(usize::MAX);
        if most < least {
            let legal = format!("at least {least}, the smallest size that is tried");
            return Err(Error::bad_param("max_cluster_size", most, legal));
        }
        let n = problem.n();
        let joins = mutual_reachability(&problem.data, self.min_samples, ctx)?;
        ctx.check()?;
        let all_equal = n > 1 && joins.iter().all(|j| j.height == 0.0);
        let regions = regions(n, joins, least.min(n) as u32);
        ctx.check()?;
        let best = most_persistent(&regions, n, most);
        let groups = match best {
            Some((size, _)) => leaf_clusters(&regions, n, size),
            None => vec![all_equal.then_some(0); n],
        };
        let mut clustering = with_noise(&groups, self.noise);
        let diagnostics = &mut clustering.extras.diagnostics;
        diagnostics.insert("persistence".into(), best.map_or(0.0, |(_, total)| total as f64));
        if let Some((size, _)) = best {
            diagnostics.insert("min_cluster_size".into(), f64::from(size));
        }
        Ok(clustering)
    }

    fn properties(&self) -> Properties {
        Properties {
            accepts: vec![DataKind::Dense, DataKind::Csr, DataKind::Distances],
            needs_k: false,
            index_keyed: false,
            ..Properties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        // As `hdbscan`: the search for the tree holds more than the regions.
        let (neighbours, rows) = match shape.d <= 16 {
            true => (16 * shape.d, 0),
            false => (24 * self.min_samples.min(shape.n), 8 * shape.entries),
        };
        ((240 + neighbours) * shape.n + rows) as u64
    }

    fn operations(&self, shape: &Shape) -> Option<f64> {
        let n = shape.n as f64;
        // As `hdbscan`: about log n rounds of Borůvka's method, each with a search for every object.
        let searched = if shape.d <= 16 { 16.0 * n.log2().max(1.0).powi(2) } else { 2.0 * n };
        Some(n * searched * shape.d as f64)
    }
}

/// Objects that are joined up to some distance.
#[derive(Clone, Copy)]
struct Region {
    /// Region that this one becomes a part of; [`NONE`] if it has all objects.
    parent: u32,
    /// Number of objects.
    size: u32,
    /// Smallest size at which no two regions that count have joined in it.
    birth: u32,
    /// Smallest size at which it does not count, or at which no region that it joins counts.
    death: u32,
}

/// The regions that `joins` make of `n` objects. The objects come first, and every region comes after its parts.
///
/// A region that grows by smaller ones becomes a new region each time. At any size from `least` on, at most one of the
/// regions around an object is born and has not died: its leaf cluster. No condensed tree is needed.
fn regions(n: usize, mut joins: Vec<Join>, least: u32) -> Vec<Region> {
    ascending(&mut joins);
    let mut regions = Vec::with_capacity(2 * n);
    regions.resize(n, Region { parent: NONE, size: 1, birth: least, death: 0 });
    let mut sets = UnionFind::new(n);
    // The region of each set, at the root of the set.
    let mut region: Vec<u32> = (0..n as u32).collect();
    for level in joins.chunk_by(|a, b| a.height == b.height) {
        let mut roots: Vec<u32> =
            level.iter().flat_map(|j| [sets.find(j.a), sets.find(j.b)]).collect();
        roots.sort_unstable();
        roots.dedup();
        for j in level {
            sets.union(j.a, j.b);
        }
        let mut parts: Vec<(u32, u32)> =
            roots.iter().map(|&root| (sets.find(root), region[root as usize])).collect();
        parts.sort_unstable();
        for parts in parts.chunk_by(|a, b| a.0 == b.0) {
            region[parts[0].0 as usize] = regions.len() as u32;
            unite(&mut regions, parts);
        }
    }
    regions
}

/// Adds the union of regions, each given after the root of its set.
fn unite(regions: &mut Vec<Region>, parts: &[(u32, u32)]) {
    let parent = regions.len() as u32;
    let (mut size, mut birth): (u32, u32) = (0, 0);
    let (mut largest, mut second): (u32, u32) = (0, 0);
    for &(_, part) in parts {
        let part = regions[part as usize];
        size += part.size;
        birth = birth.max(part.birth);
        second = second.max(part.size.min(largest));
        largest = largest.max(part.size);
    }
    // From the second largest size on, at most one part counts. It continues as the union.
    for &(_, part) in parts {
        let part = &mut regions[part as usize];
        part.parent = parent;
        part.death = part.size.min(second);
    }
    regions.push(Region { parent: NONE, size, birth: birth.max(second), death: 0 });
}

/// The smallest size up to `most` at which the total persistence is largest, and this total; nothing if no size has
/// leaf clusters.
fn most_persistent(regions: &[Region], n: usize, most: usize) -> Option<(u32, i64)> {
    // The change of the total at each size.
    let mut changes = vec![0i64; n + 1];
    for leaf in regions.iter().filter(|region| region.birth < region.death) {
        let persistence = i64::from(leaf.death - leaf.birth);
        changes[leaf.birth as usize] += persistence;
        changes[leaf.death as usize] -= persistence;
    }
    let mut total = 0;
    let mut best: Option<(u32, i64)> = None;
    for (size, change) in changes.into_iter().enumerate().take_while(|(size, _)| *size <= most) {
        total += change;
        if total > best.map_or(0, |(_, largest)| largest) {
            best = Some((size as u32, total));
        }
    }
    best
}

/// The leaf cluster of each object at a size, if any.
fn leaf_clusters(regions: &[Region], n: usize, size: u32) -> Vec<Option<usize>> {
    let mut cluster = vec![NONE; regions.len()];
    for (at, region) in regions.iter().enumerate().rev() {
        if region.birth <= size && size < region.death {
            cluster[at] = at as u32;
        } else if region.parent != NONE {
            cluster[at] = cluster[region.parent as usize];
        }
    }
    cluster[..n].iter().map(|&leaf| (leaf != NONE).then_some(leaf as usize)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::hdbscan::Hdbscan;
    use crate::parts::extraction::{ClusterSelection, Extraction};
    use mustlink_core::clustering::canonical;
    use mustlink_laws::strategies::grid;
    use ndarray::Array2;
    use proptest::prelude::*;

    fn plscan(min_samples: usize, least: usize, most: Option<usize>) -> Plscan {
        let (min_cluster_size, max_cluster_size) = (Some(least), most);
        Plscan { min_samples, min_cluster_size, max_cluster_size, noise: Noise::OneCluster }
    }

    fn run(method: &dyn BaseClusterer, x: Array2<f64>) -> Clustering {
        let problem = Problem::new(Data::dense(x).unwrap());
        mustlink_core::run::cluster(method, &problem, &Context::new(1)).unwrap().clustering
    }

    fn on_a_line(x: &[f64]) -> Array2<f64> {
        Array2::from_shape_vec((x.len(), 1), x.to_vec()).unwrap()
    }

    /// The cluster of each object as a letter, in order of first appearance; noise is a dot.
    fn letters(c: &Clustering) -> String {
        let shown = c.clone().shown(None).labels;
        let letter = |&label: &u32| if label == NONE { '.' } else { (b'a' + label as u8) as char };
        canonical(&shown).iter().map(letter).collect()
    }

    fn diagnostic(c: &Clustering, name: &str) -> Option<f64> {
        c.extras.diagnostics.get(name).copied()
    }

    #[test]
    fn worked_example() {
        // Groups A and B of 3 join at 2 to AB; AB and C of 4 join at 15, and the last object at 37.
        let x = on_a_line(&[0.0, 1.0, 2.0, 4.0, 4.5, 5.0, 20.0, 21.0, 22.0, 23.0, 60.0]);
        // From size 2 on, A and B are leaves until they die at 3, the size of both. Then AB is born, and dies with C at
        // 4, the smaller of their sizes 6 and 4. C is a leaf from 2 on. Total at 2: 1 + 1 + 2; at 3: 1 + 2.
        let c = run(&plscan(1, 2, None), x.clone());
        assert_eq!(letters(&c), "aaabbbcccc.");
        assert_eq!(diagnostic(&c, "min_cluster_size"), Some(2.0));
        assert_eq!(diagnostic(&c, "persistence"), Some(4.0));
        assert_eq!(diagnostic(&c, "noise_objects"), Some(1.0));
        // From size 3 on, AB and C are leaves until both die at 4: 1 + 1.
        let c = run(&plscan(1, 3, None), x.clone());
        assert_eq!(
            (letters(&c).as_str(), diagnostic(&c, "persistence")),
            ("aaaaaabbbb.", Some(2.0))
        );
        // At size 4, the objects of C do not count any more.
        let c = run(&plscan(1, 4, None), x);
        assert_eq!(
            (letters(&c).as_str(), diagnostic(&c, "persistence")),
            ("...........", Some(0.0))
        );
        assert_eq!(diagnostic(&c, "min_cluster_size"), None);
    }

    #[test]
    fn equal_totals_go_to_the_smallest_size() {
        // Two pairs that join to a group of 4, and another group of 4. From size 1 on: 1 + 1 + 3 for the pairs and the
        // group; from size 2 on: 2 + 3 for the two groups.
        let x = on_a_line(&[0.0, 1.0, 3.0, 4.0, 20.0, 21.0, 22.0, 23.0]);
        let c = run(&plscan(1, 1, None), x.clone());
        assert_eq!((letters(&c).as_str(), diagnostic(&c, "persistence")), ("aabbcccc", Some(5.0)));
        assert_eq!(letters(&run(&plscan(1, 2, None), x)), "aaaabbbb");
    }

    #[test]
    fn degenerate_cases_are_noise_and_equal_rows_one_cluster() {
        let all_noise = |c: &Clustering| letters(c).bytes().all(|letter| letter == b'.');
        assert!(all_noise(&run(&plscan(1, 1, None), on_a_line(&[3.0]))));
        assert!(all_noise(&run(&plscan(1, 1, None), on_a_line(&[3.0, 4.0]))));
        assert_eq!(letters(&run(&Plscan::default(), on_a_line(&[3.0, 3.0]))), "aa");
        assert_eq!(letters(&run(&Plscan::default(), on_a_line(&[3.0; 12]))), "aaaaaaaaaaaa");
        // Rows of a unit matrix are all equally far from each other.
        assert!(all_noise(&run(&plscan(2, 1, None), Array2::eye(9))));
        // Two triples. If the farthest object counts as the neighbour, the objects in the middle join first.
        let triples = on_a_line(&[0.0, 1.0, 2.0, 9.0, 10.0, 11.0]);
        assert_eq!(letters(&run(&plscan(2, 2, None), triples.clone())), "aaabbb");
        for min_samples in [6, 7, 100] {
            let c = run(&plscan(min_samples, 2, None), triples.clone());
            assert!(all_noise(&c), "{min_samples}: {}", letters(&c));
        }
        // Three objects are as many as half of all: no cluster has more.
        assert!(all_noise(&run(&plscan(2, 3, None), triples)));
    }

    #[test]
    fn sizes_in_the_wrong_order_are_rejected() {
        let problem = Problem::new(Data::dense(on_a_line(&[0.0, 1.0, 2.0])).unwrap());
        let error = plscan(1, 4, Some(3)).cluster(&problem, &Context::new(1)).unwrap_err();
        let expected =
            "max_cluster_size: must be at least 4, the smallest size that is tried, got 3";
        assert_eq!(error.to_string(), expected);
    }

    /// Four groups about different centres, as wide as 1, 2, ½ and 6, of sums of three numbers of Knuth's
    /// congruential generator.
    fn drawn(n: usize, d: usize, seed: u64) -> Array2<f64> {
        let mut state = seed;
        let mut draw = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / 2_147_483_648.0
        };
        let mut x = Array2::zeros((n, d));
        for ((i, f), to) in x.indexed_iter_mut() {
            let w = draw() + draw() + draw() - 1.5;
            let centre = if f % 3 == i % 4 { 5.0 } else { 0.0 };
            *to = centre + [1.0, 2.0, 0.5, 6.0][i % 4] * w;
        }
        x
    }

    /// Results of `fast_plscan.PLSCAN` 0.2.1, which are the same in 40 orders of the objects; its `min_samples` is one
    /// less. Each case has the number of features and the seed; the options, the size taken and its total persistence;
    /// and the labels.
    #[test]
    fn labels_are_those_of_fast_plscan() {
        let cases = [
            (
                (2, 9),
                (3, 3, None, 6.0, 40.0),
                "abcbabc.abcaabcbabc.abc.abccabc.abccabccabccabc.abccabccabcc",
            ),
            (
                (2, 9),
                (3, 4, Some(5), 5.0, 33.0),
                "abcbabc.abc.abcbdbc.dbc..bccabc.dbccdbccdbcc.bc.dbcc.bccabcc",
            ),
            (
                (2, 9),
                (4, 3, None, 4.0, 42.0),
                "abcbabc.abcaabcbabc.abc.abccabc.abc.abccabccabc.abccabccabcc",
            ),
            (
                (20, 6),
                (4, 4, None, 4.0, 37.0),
                "abccabcbabc.abccabc.abccabc.abc.abcbabc.abc.abc.abccabc.abcc",
            ),
            (
                (20, 6),
                (3, 3, None, 3.0, 38.0),
                "abccabccabc.abccabc.abccabccabc.abcbabc.abc.abc.abccabc.abcc",
            ),
        ];
        for ((d, seed), (min_samples, least, most, size, total), expected) in cases {
            let c = run(&plscan(min_samples, least, most), drawn(60, d, seed));
            assert_eq!(letters(&c), expected, "{d} features, {min_samples}, {least}, {most:?}");
            assert_eq!(diagnostic(&c, "min_cluster_size"), Some(size));
            assert_eq!(diagnostic(&c, "persistence"), Some(total));
        }
    }

    /// The members of each cluster.
    fn members(c: &Clustering) -> Vec<Vec<usize>> {
        let mut members: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        let shown = c.clone().shown(None).labels;
        for (i, &label) in shown.iter().enumerate().filter(|(_, label)| **label != NONE) {
            members.entry(label).or_default().push(i);
        }
        members.into_values().collect()
    }

    proptest! {
        /// The clusters are the leaf clusters of `hdbscan` at one size. The persistence of a set of objects is the
        /// number of sizes at which `hdbscan` has it as a leaf cluster.
        #[test]
        fn as_hdbscan_at_every_size(
            x in grid(5..=30, 1..=2),
            min_samples in 1usize..6,
            least in 1usize..5,
            noise in 0u8..2,
        ) {
            let x = Array2::from_shape_fn(x.dim(), |(i, f)| {
                x[[i, f]] + f64::from(noise) * ((31 * i + 17 * f) % 101) as f64 / 128.0
            });
            let c = run(&plscan(min_samples, least, None), x.clone());
            prop_assume!(c.k > 1 || !c.extras.noise.is_empty());
            let leaves = |size: usize| {
                let extraction = Extraction {
                    min_cluster_size: size + 1,
                    selection: ClusterSelection::Leaf,
                    ..Extraction::default()
                };
                members(&run(&Hdbscan { min_samples: Some(min_samples), extraction }, x.clone()))
            };
            let of_size: Vec<Vec<Vec<usize>>> = (least..=x.nrows()).map(leaves).collect();
            let mut persistence: BTreeMap<&Vec<usize>, usize> = BTreeMap::new();
            for leaf in of_size.iter().flatten() {
                *persistence.entry(leaf).or_default() += 1;
            }
            let total = |leaves: &Vec<Vec<usize>>| {
                leaves.iter().map(|leaf| persistence[leaf]).sum::<usize>()
            };
            let totals: Vec<usize> = of_size.iter().map(total).collect();
            let largest = totals.iter().copied().max().unwrap_or(0);
            prop_assert_eq!(diagnostic(&c, "persistence"), Some(largest as f64));
            let first = totals.iter().position(|&total| total == largest).unwrap_or(0);
            let mut expected = of_size[first].clone();
            let mut clusters = members(&c);
            expected.sort();
            clusters.sort();
            prop_assert_eq!(clusters, expected);
            // The size that was taken, alone, gives the same clusters.
            if let Some(size) = diagnostic(&c, "min_cluster_size") {
                prop_assert_eq!(size, (least + first) as f64);
                let again = run(&plscan(min_samples, size as usize, Some(size as usize)), x);
                prop_assert_eq!(again.labels, c.labels);
            }
        }
    }
}
