//! Super-instances: small groups of objects, each with one that stands for it in questions.
//!
//! No selector, but what `cobra` and `cobras` share: how objects are grouped, and who represents a
//! group.
//!
//! Several starts of k-means guard against a poor optimum, and which of them is best shows on some thousand
//! objects as well as on a million. So the starts compete on a sample, each to its end, and the centres
//! of the best are moved by a few sweeps over all objects ([BradleyFayyad1998], with one sample). Up to
//! the size of the sample this is k-means with restarts, to the bit.

use crate::parts::ascending::least;
use mustlink_core::clustering::canonical;
use mustlink_core::prelude::*;
use mustlink_core::run;
use mustlink_kernels::distance::points::{Distortion, Points};
use mustlink_kernels::distance::rows_by_label::by_label;
use mustlink_kernels::kmeans::lloyd::{
    Algorithm, Empty, Stop, ToleranceKind, best_in_turn, best_of, lloyd, lloyd_by,
};
use mustlink_kernels::kmeans::seeding::{Init, start};

/// Distance whose sum the representative minimises.
#[options]
pub enum Medoid {
    /// Squared Euclidean: the member nearest to the mean.
    #[default]
    SquaredEuclidean,
    /// The Euclidean distance.
    Euclidean,
}

/// Objects that the representative has to be central to.
#[options]
pub enum Reference {
    /// The eligible members.
    #[default]
    Queryable,
    /// All members.
    All,
}

/// Up to this many reference objects their distances are summed one by one.
const SUMMED_UP_TO: usize = 16;
/// Numbers up to which groups, or the products in a sweep of one start, are too few to be worth waking another thread.
const SHORT: usize = 1 << 15;
/// Starts, where a sweep of one takes at most `DISTANCES`; fewer in proportion beyond: with many
/// clusters the optima of different starts are equally good.
const STARTS: usize = 10;
const DISTANCES: usize = 1 << 22;
/// Objects of the sample for each cluster, at least.
const PER_CLUSTER: usize = 20;
/// Products in a sweep from which on a start fills all threads by itself.
const LONG: usize = 1 << 22;
/// As k-means has them by default.
const ITERATIONS: usize = 300;
const TOLERANCE: f64 = 1e-6;
/// The change of the objective, relative, that is worth another sweep over all objects.
const LAST_TOLERANCE: f64 = 1e-4;

/// Groups of objects and the one that stands for each.
pub(crate) struct Groups {
    /// The object that stands for each group, in ascending order of their smallest members (before
    /// groups without an eligible member joined others).
    pub representatives: Vec<u32>,
    /// The group of each object, in the order the objects were given.
    pub of: Vec<u32>,
}

/// Grouping of objects into super-instances.
pub(crate) struct Grouping<'a> {
    pub problem: &'a Problem,
    /// Clusterer that groups them; if absent, k-means whose starts compete on `sample` objects.
    pub clusterer: Option<&'a dyn BaseClusterer>,
    pub sample: usize,
    pub medoid: Medoid,
    pub reference: Reference,
}

/// True if what groups the objects takes sparse rows.
pub(crate) fn accepts_sparse(clusterer: Option<&dyn BaseClusterer>) -> bool {
    clusterer.is_none_or(|c| c.properties().accepts.contains(&DataKind::Csr))
}

/// Bytes needed to group objects; `shape.k` is the number of groups.
pub(crate) fn memory(clusterer: Option<&dyn BaseClusterer>, sample: usize, shape: &Shape) -> u64 {
    match clusterer {
        Some(clusterer) => clusterer.memory(shape),
        None => SampledStarts { k: shape.k, sample }.memory(shape.n, shape.d),
    }
}

impl Grouping<'_> {
    /// At most k groups of `objects`, ascending; `ctx` is that of the slot `clusterer`.
    ///
    /// # Errors
    /// Errors of the clusterer; `BadParam` for `queryable` when no object is eligible.
    pub fn groups(&self, objects: &[u32], k: usize, ctx: &Context) -> Result<Groups> {
        let labels = if k < objects.len() {
            self.labels(objects, k, ctx)?
        } else {
            (0..objects.len() as u32).collect()
        };
        self.represented(objects, &labels)
    }

    fn labels(&self, objects: &[u32], k: usize, ctx: &Context) -> Result<Vec<u32>> {
        let whole = objects.len() == self.problem.n();
        let rows = || objects.iter().map(|&i| i as usize).collect::<Vec<_>>();
        let Some(clusterer) = self.clusterer else {
            let made = SampledStarts { k, sample: self.sample };
            let data = &self.problem.data;
            let labels = if whole {
                made.labels(data, ctx)
            } else {
                made.labels(&data.subset(&rows()).contiguous(), ctx)
            };
            return labels.map(|labels| canonical(&labels)).map_err(|e| e.at("clusterer"));
        };
        let free = Problem {
            constraints: Default::default(),
            start: None,
            ..self.problem.clone().with_k(k)
        };
        let part = if whole { free } else { free.subset(&rows()) };
        let made = run::cluster(clusterer, &part, ctx).map_err(|e| e.at("clusterer"))?;
        Ok(canonical(&made.clustering.labels))
    }

    /// Representatives, and the group of every object after those without an eligible member joined
    /// the nearest one that has some. `labels` are canonical.
    fn represented(&self, objects: &[u32], labels: &[u32]) -> Result<Groups> {
        let count = labels.iter().max().map_or(0, |&m| m as usize + 1);
        let (offsets, mut members) = by_label(labels, count);
        members.iter_mut().for_each(|at| *at = objects[*at as usize]);
        let members = |s: usize| &members[offsets[s]..offsets[s + 1]];
        let alone = objects.len().saturating_mul(self.problem.d()) <= SHORT;
        let found: Vec<Option<u32>> = if alone {
            (0..count).map(|s| self.representative(members(s))).collect()
        } else {
            reduce::map(count, |s| self.representative(members(s)))
        };
        let mut place: Vec<u32> = vec![NONE; count];
        let mut representatives: Vec<u32> = Vec::new();
        for (s, representative) in found.iter().enumerate() {
            if let Some(representative) = representative {
                place[s] = representatives.len() as u32;
                representatives.push(*representative);
            }
        }
        if representatives.is_empty() {
            return Err(Error::bad_param("queryable", "no object", "at least one eligible object"));
        }
        let nearest = |s: usize| match place[s] {
            NONE => self.nearest(&representatives, members(s)),
            own => own,
        };
        let joined: Vec<u32> =
            if alone { (0..count).map(nearest).collect() } else { reduce::map(count, nearest) };
        let of = labels.iter().map(|&l| joined[l as usize]).collect();
        Ok(Groups { representatives, of })
    }

    /// The representative nearest to the mean of `members`, ties to the first.
    fn nearest(&self, representatives: &[u32], members: &[u32]) -> u32 {
        let data = &self.problem.data;
        let mean = mean(data, members);
        let distance = |&r: &u32| data.row(r as usize).squared_distance(&Row::Dense(&mean));
        let keyed = (0..).zip(representatives).map(|(a, r)| (distance(r), a));
        least(keyed).unwrap_or(0)
    }

    /// The eligible member that is most central, if any is eligible.
    fn representative(&self, members: &[u32]) -> Option<u32> {
        let eligible = |i: &u32| self.problem.is_eligible(*i as usize);
        let queryable: Vec<u32> = members.iter().copied().filter(eligible).collect();
        let reference = match self.reference {
            Reference::Queryable => &queryable,
            Reference::All => members,
        };
        medoid(&self.problem.data, &queryable, reference, self.medoid)
    }
}

fn mean(data: &Data, objects: &[u32]) -> Vec<f64> {
    let mut mean = vec![0.0; data.d()];
    objects.iter().for_each(|&i| data.row(i as usize).add_to(&mut mean, 1.0));
    mean.iter_mut().for_each(|v| *v /= objects.len() as f64);
    mean
}

/// The candidate with the smallest sum of distances to `reference`, ties to the lowest index.
fn medoid(data: &Data, candidates: &[u32], reference: &[u32], by: Medoid) -> Option<u32> {
    let to = |y: u32, x: u32| data.row(x as usize).squared_distance(&data.row(y as usize));
    let total = |f: fn(f64) -> f64| {
        let sum = |&y: &u32| reference.iter().map(|&x| f(to(y, x))).sum::<f64>();
        candidates.iter().map(sum).collect()
    };
    let sums: Vec<f64> = match by {
        Medoid::Euclidean => total(f64::sqrt),
        // Two members are a tie, which the mean would blur.
        Medoid::SquaredEuclidean if reference.len() <= SUMMED_UP_TO => total(|x| x),
        Medoid::SquaredEuclidean => {
            // Σ‖x − y‖² = m‖y − c‖² + constant, c the mean of the m reference objects.
            let centre = mean(data, reference);
            let to = |&y: &u32| data.row(y as usize).squared_distance(&Row::Dense(&centre));
            candidates.iter().map(to).collect()
        }
    };
    // Sums that differ by rounding alone are ties.
    let smallest = sums.iter().copied().fold(f64::INFINITY, f64::min);
    let limit = smallest * (1.0 + 1e-12);
    candidates.iter().zip(&sums).find(|&(_, &s)| s <= limit).map(|(&y, _)| y)
}

/// K-means under squared Euclidean distance for callers that need many small clusters rather than the
/// best possible ones.
struct SampledStarts {
    /// Clusters, `1..=n`.
    k: usize,
    /// Objects among which the starts compete, at least 20 for each cluster.
    sample: usize,
}

impl SampledStarts {
    /// Number of the n objects that the starts use.
    fn seen(&self, n: usize) -> usize {
        self.sample.max(self.k.saturating_mul(PER_CLUSTER)).min(n)
    }

    fn starts(&self, seen: usize) -> usize {
        (STARTS * DISTANCES / self.k.saturating_mul(seen).max(1)).clamp(1, STARTS)
    }

    /// One label in `0..k` per object; some clusters may be empty where rows are equal.
    ///
    /// # Errors
    /// Cancellation.
    fn labels(&self, data: &Data, ctx: &Context) -> Result<Vec<u32>> {
        let (n, k) = (data.n(), self.k);
        let seen = self.seen(n);
        let some = if seen < n {
            let mut rows = ctx.stream("sample").sample(n, seen);
            rows.sort_unstable();
            contiguous(&data.subset(&rows))?
        } else {
            contiguous(data)?
        };
        let points = Points::new(&some, Distortion::SquaredEuclidean)?;
        let problem = Problem::new(some);
        let stop = Stop::new(ITERATIONS, TOLERANCE, ToleranceKind::Relative);
        let run = |r: usize| {
            let ctx = ctx.index(r);
            let centres = start(&points, k, Init::KmeansPlusPlus, &problem, &ctx)?;
            lloyd_by(Algorithm::Auto, &points, centres, stop, Empty::Reseed, &ctx)
        };
        let products = seen.saturating_mul(k).saturating_mul(data.d());
        let best = if (SHORT..LONG).contains(&products) {
            best_of(self.starts(seen), run)?
        } else {
            best_in_turn(self.starts(seen), run)?
        };
        if seen == n {
            return Ok(best.labels);
        }
        let centres = best.extras.centers.expect("k-means gives its centres");
        let stop = Stop { tolerance: LAST_TOLERANCE, ..stop };
        let all = Points::new(data, Distortion::SquaredEuclidean)?;
        Ok(lloyd(&all, centres, stop, Empty::Reseed, ctx)?.labels)
    }

    /// Bytes needed for n objects in d features beyond them.
    fn memory(&self, n: usize, d: usize) -> u64 {
        let (seen, threads) = (self.seen(n), rayon::current_num_threads());
        let at_once = self.starts(seen).min(threads) as u64;
        let start = Algorithm::Auto.memory(seen, d, self.k, true) + (32 * seen) as u64;
        let results = (self.starts(seen) * (4 * seen + 8 * self.k * d)) as u64;
        let copy = (8 * seen * (d + 1)) as u64;
        let last = if seen < n { Algorithm::Auto.memory(n, d, self.k, true) } else { 0 };
        copy + at_once * start + results + last + (12 * n) as u64
    }
}

/// The same rows one after the other: starts and sweeps read them many times.
fn contiguous(data: &Data) -> Result<Data> {
    match data.kind() {
        DataKind::Dense if data.dense_slice().is_none() => Data::dense(data.to_dense()),
        _ => Ok(data.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::random::SeedPath;
    use mustlink_kernels::kmeans::lloyd::total_distortion;
    use ndarray::Array2;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn nearest_to_the_mean_is_the_medoid(
            x in prop::collection::vec(-1e3f64..1e3, 3 * 60),
            count in 17usize..60,
        ) {
            let data = Data::dense(Array2::from_shape_vec((60, 3), x).unwrap()).unwrap();
            let members: Vec<u32> = (0..count as u32).collect();
            let to = |i: u32, j: u32| data.row(i as usize).squared_distance(&data.row(j as usize));
            let sum = |y: u32| members.iter().map(|&x| to(x, y)).sum::<f64>();
            let by_mean = medoid(&data, &members, &members, Medoid::SquaredEuclidean).unwrap();
            let smallest = members.iter().map(|&y| sum(y)).fold(f64::INFINITY, f64::min);
            prop_assert!(sum(by_mean) <= smallest * (1.0 + 1e-9));
        }
    }

    #[test]
    fn two_members_are_a_tie() {
        let x = Array2::from_shape_vec((2, 2), vec![1e6 + 0.1, 0.3, 1e6 + 0.7, 0.1]).unwrap();
        let data = Data::dense(x).unwrap();
        for by in [Medoid::SquaredEuclidean, Medoid::Euclidean] {
            assert_eq!(medoid(&data, &[0, 1], &[0, 1], by), Some(0));
        }
        assert_eq!(medoid(&data, &[], &[0, 1], Medoid::SquaredEuclidean), None);
        assert_eq!(medoid(&data, &[1], &[0, 1], Medoid::SquaredEuclidean), Some(1));
    }

    fn blobs(n: usize, groups: usize, seed: u64) -> Data {
        let mut s = SeedPath::new(seed).stream("blobs");
        let x = Array2::from_shape_fn((n, 3), |(i, f)| {
            30.0 * (((i % groups) * (f + 2)) % groups) as f64 + s.normal()
        });
        Data::dense(x).unwrap()
    }

    fn objective(data: &Data, labels: &[u32], k: usize) -> f64 {
        let points = Points::new(data, Distortion::SquaredEuclidean).unwrap();
        let (centres, _) =
            mustlink_kernels::kmeans::means::means(&points, labels, Array2::zeros((k, data.d())));
        total_distortion(&points, labels, &centres)
    }

    proptest! {
        /// Separated groups are found whichever objects the starts see, and so is their optimum.
        #[test]
        fn a_sample_loses_nothing_that_is_plain(seed: u64, groups in 2usize..7) {
            let data = blobs(3000, groups, seed);
            let of = |sample: usize| {
                let made = SampledStarts { k: groups, sample };
                let labels = made.labels(&data, &Context::new(seed)).unwrap();
                assert!(labels.iter().all(|&l| (l as usize) < groups));
                objective(&data, &labels, groups)
            };
            prop_assert!(of(300) <= of(3000) * 1.001);
        }
    }

    #[test]
    fn a_list_of_rows_is_as_good_as_a_copy_of_them() {
        let data = blobs(900, 5, 3);
        let rows: Vec<usize> = (0..900).filter(|i| i % 3 != 1).collect();
        for sample in [50, 1000] {
            let made = SampledStarts { k: 4, sample };
            let listed = made.labels(&data.subset(&rows), &Context::new(3)).unwrap();
            let copy = Data::dense(data.subset(&rows).to_dense()).unwrap();
            assert_eq!(listed, made.labels(&copy, &Context::new(3)).unwrap());
        }
    }

    #[test]
    fn any_number_of_threads_gives_the_same_labels() {
        let data = blobs(5000, 8, 1);
        for sample in [400, 2500, 5000] {
            let at = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let made = SampledStarts { k: 20, sample };
                pool.install(|| made.labels(&data, &Context::new(1)).unwrap())
            };
            assert_eq!(at(1), at(2));
            assert_eq!(at(1), at(7));
        }
    }

    #[test]
    fn starts_are_fewer_where_each_is_long() {
        let starts = |n: usize, k: usize| {
            let made = SampledStarts { k, sample: 16_384 };
            (made.seen(n), made.starts(made.seen(n)))
        };
        assert_eq!(starts(1000, 25), (1000, 10));
        assert_eq!(starts(1_000_000, 100), (16_384, 10));
        assert_eq!(starts(1_000_000, 1000), (20_000, 2));
        assert_eq!(starts(100_000, 5000), (100_000, 1));
    }
}
