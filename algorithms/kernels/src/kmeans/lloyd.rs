//! Lloyd's algorithm: assign, take means, until nothing moves.
//!
//! Sources: [Lloyd1982]; for cosine [DhillonModha2001].

use ndarray::{Array2, ArrayView1};
use rayon::prelude::*;

use mustlink_core::clustering::{Clustering, Extras, IterStat, NONE, Status};
use mustlink_core::data::DataKind;
use mustlink_core::prelude::{__mustlink, options};
use mustlink_core::{Context, Error, Result, reduce};

use crate::distance::points::{Distortion, Distortions, Points, row, row_norms};
use crate::distance::precision::MAX_BLOCKED_CLUSTERS;
use crate::distance::rows_by_label::by_label;
use crate::kmeans::means::update_means;
use crate::kmeans::nearest::assign::assign;
use crate::kmeans::nearest::sparse;
use crate::kmeans::single_pass::pass;
use crate::kmeans::yinyang::Bounds;
use crate::simd::dispatch::dispatch;

/// Centres in a group of Yinyang's bounds.
const GROUP: usize = 16;
/// More groups than this cost more than they save.
const MOST_GROUPS: usize = 256;
/// Group bounds are faster than all distances (`cargo bench -p mustlink-kernels --bench kmeans`) from
/// this many clusters, operations per object, and objects per cluster on; with fewer objects there are
/// few sweeps. The overhead of a score equals `SCORE` products.
const AUTO_CLUSTERS: usize = 64;
const AUTO_OPERATIONS: usize = 8000;
const AUTO_OBJECTS: usize = 32;
const SCORE: usize = 8;

/// True if bounds pay.
fn bounds_pay(n: usize, d: usize, k: usize) -> bool {
    k >= AUTO_CLUSTERS && k * (d + SCORE) >= AUTO_OPERATIONS && n / k >= AUTO_OBJECTS
}

/// Bytes that bounds for this many groups take.
fn bounds_memory(n: usize, groups: usize) -> u64 {
    (n * (8 + 4 * groups)) as u64
}

/// Treatment of a cluster that lost its last object.
#[options]
pub enum Empty {
    /// Its centre stays where it was.
    Keep,
    /// It takes the object farthest from its centre, if the objective does not rise.
    #[default]
    Reseed,
    /// An error is returned.
    Error,
}

/// Unit of `tolerance`.
#[options]
pub enum ToleranceKind {
    /// The change of the objective is divided by the objective, so it has no unit.
    #[default]
    Relative,
    /// The change itself is compared.
    Absolute,
}

/// Conditions that end Lloyd's algorithm.
#[derive(Debug, Clone, Copy)]
pub struct Stop {
    /// Sweeps, at least 1.
    pub max_iterations: usize,
    /// Smallest change of the objective for which another sweep is made.
    pub tolerance: f64,
    /// How it is compared.
    pub kind: ToleranceKind,
}

impl Stop {
    /// True if a step from `before` to `after` ends the run.
    pub fn is_over(&self, before: f64, after: f64) -> bool {
        let change = (after - before).abs();
        match self.kind {
            ToleranceKind::Relative => change <= self.tolerance * before.abs(),
            ToleranceKind::Absolute => change <= self.tolerance,
        }
    }

    /// The options every iterative method has: at least one sweep, a tolerance of at least 0.
    pub fn new(max_iterations: usize, tolerance: f64, kind: ToleranceKind) -> Self {
        Stop { max_iterations, tolerance, kind }
    }
}

/// Method of finding the nearest centres. All methods give the same labels, sweep by sweep.
#[options]
pub enum Algorithm {
    /// The fastest method for the number of objects, features and clusters, within the memory limit.
    #[default]
    Auto,
    /// All distances in every sweep.
    Lloyd,
    /// One bound per object shows which objects may have moved (dense data).
    Hamerly,
    /// One bound per object and group of centres shows which groups to check (dense data).
    Yinyang,
}

impl Algorithm {
    /// Into how many groups the centres of dense data are gathered; 0 = no bounds.
    fn groups(self, n: usize, d: usize, k: usize, limit: Option<u64>) -> usize {
        let groups = (k / GROUP).clamp(1, MOST_GROUPS);
        match self {
            Algorithm::Hamerly if k > 1 => 1,
            Algorithm::Yinyang if k > 1 => groups,
            // Half of the limit is left for everything else.
            Algorithm::Auto if bounds_pay(n, d, k) => {
                let fits = limit.is_none_or(|limit| bounds_memory(n, groups) <= limit / 2);
                if fits { groups } else { 0 }
            }
            _ => 0,
        }
    }

    /// Bytes that [`lloyd_by`] needs for n objects in d features and k clusters, the objects and
    /// their preparation not counted.
    pub fn memory(self, n: usize, d: usize, k: usize, dense: bool) -> u64 {
        let groups = if dense { self.groups(n, d, k, None) } else { 0 };
        // Labels before and after; objects by cluster; distortions, where one pass does not sum them.
        // Sparse rows have their objects by cluster when their distortions are gone.
        let by_cluster = if dense && k > MAX_BLOCKED_CLUSTERS { 4 } else { 0 };
        let own = if groups > 0 || !dense { 8 } else { 0 };
        // Centres before and after, fresh ones, and packed ones.
        let centres = 8 * k * (4 * d + 4);
        let bounds = if groups > 0 { bounds_memory(n, groups) } else { 0 };
        ((8 + by_cluster + own) * n + centres) as u64 + bounds
    }
}

/// Runs Lloyd's algorithm from `centres`. The objective is the total distortion to the centres
/// returned; it never rises.
///
/// # Errors
/// `NumericalFailure` for an empty cluster under `Empty::Error`; cancellation.
pub fn lloyd(
    points: &Points,
    centres: Array2<f64>,
    stop: Stop,
    empty: Empty,
    ctx: &Context,
) -> Result<Clustering> {
    lloyd_by(Algorithm::Auto, points, centres, stop, empty, ctx)
}

/// [`lloyd`], with nearest centres found in a given way.
///
/// # Errors
/// Returns the errors of [`lloyd`].
pub fn lloyd_by(
    algorithm: Algorithm,
    points: &Points,
    centres: Array2<f64>,
    stop: Stop,
    empty: Empty,
    ctx: &Context,
) -> Result<Clustering> {
    // One block of objects leaves nothing to share out: no thread has to be woken for it.
    let dense = points.data().kind() == DataKind::Dense;
    let plain = matches!(algorithm, Algorithm::Auto | Algorithm::Lloyd);
    let few = points.n() <= reduce::BLOCK && centres.nrows() <= MAX_BLOCKED_CLUSTERS;
    if dense && plain && few {
        return sweeps(algorithm, points, centres, stop, empty, ctx);
    }
    // On a thread of the pool from here on: from outside it, every parallel loop of every sweep would
    // be handed over and waited for.
    rayon::scope(|_| sweeps(algorithm, points, centres, stop, empty, ctx))
}

fn sweeps(
    algorithm: Algorithm,
    points: &Points,
    mut centres: Array2<f64>,
    stop: Stop,
    empty: Empty,
    ctx: &Context,
) -> Result<Clustering> {
    let (n, k) = (points.n(), centres.nrows());
    let dense = points.data().kind() == DataKind::Dense;
    let groups = if dense { algorithm.groups(n, points.d(), k, ctx.memory_limit()) } else { 0 };
    if groups == 0 {
        return fused(points, centres, stop, empty, ctx);
    }
    let mut labels = vec![NONE; n];
    let mut history: Vec<IterStat> = Vec::new();
    let mut status = Status::MaxIter;
    let mut bounds = Bounds::new(points, &centres, groups);
    // The distortion of each object to its centre.
    let mut own = vec![0.0; n];
    for _ in 0..stop.max_iterations {
        ctx.check()?;
        let before = labels.clone();
        let norms = row_norms(&centres);
        let mut moved = if points.fits_bounds(&norms) {
            bounds.sweep(points, &centres, &norms, &mut labels, &own)
        } else {
            bounds.forget();
            assign(points, &centres, &mut labels, None)
        };
        let mut changed = changes(&before, &labels, k);
        let previous = centres.clone();
        let sizes = update_means(points, &labels, Some(&changed), &mut centres);
        if sizes.contains(&0) {
            let refilled = refill(points, &mut labels, &mut centres, empty, &mut ())?;
            if refilled > 0 {
                changed.fill(true);
            }
            moved += refilled;
        }
        bounds.follow(&previous, &centres);
        renew_own(points, &labels, &changed, &centres, &mut own);
        let objective = reduce::sum(n, |i| points.weight(i) * own[i]);
        let last = history.last().map(|s| s.objective);
        history.push(IterStat { objective, moved, violations: None });
        if moved == 0 || last.is_some_and(|b| stop.is_over(b, objective)) {
            status = Status::Converged;
            break;
        }
    }
    Ok(clustering(labels, centres, history, status, points.distortion()))
}

/// Which clusters lost or won objects. The mean of a cluster is that of its members in order: where
/// they are the same, so is it.
fn changes(before: &[u32], after: &[u32], k: usize) -> Vec<bool> {
    let mut changed = vec![false; k];
    for (&old, &new) in before.iter().zip(after).filter(|(old, new)| old != new) {
        changed[new as usize] = true;
        if old != NONE {
            changed[old as usize] = true;
        }
    }
    changed
}

/// A clustering by centres; its objective is the last of its history.
pub fn clustering(
    labels: Vec<u32>,
    centres: Array2<f64>,
    history: Vec<IterStat>,
    status: Status,
    distortion: Distortion,
) -> Clustering {
    Clustering {
        labels,
        k: centres.nrows(),
        objective: history.last().map(|s| s.objective),
        history,
        status,
        extras: Extras {
            centers: Some(centres),
            geometry: distortion.geometry(),
            ..Extras::default()
        },
    }
}

/// Lloyd's algorithm with one pass over the data per sweep. The objective of a sweep is known in the
/// pass after it; if that ends the run, the labels found in the meantime are left unused.
fn fused(
    points: &Points,
    mut centres: Array2<f64>,
    stop: Stop,
    empty: Empty,
    ctx: &Context,
) -> Result<Clustering> {
    let mut labels = vec![NONE; points.n()];
    let mut next = labels.clone();
    let mut history: Vec<IterStat> = Vec::new();
    let mut status = Status::MaxIter;
    let mut pending = None;
    let mut table = None;
    for sweep in 1.. {
        ctx.check()?;
        let found = pass(points, &centres, &labels, &mut next, &mut table);
        if let Some(moved) = pending {
            let last = history.last().map(|s: &IterStat| s.objective);
            history.push(IterStat { objective: found.objective, moved, violations: None });
            if last.is_some_and(|b| stop.is_over(b, found.objective)) {
                status = Status::Converged;
                break;
            }
        }
        std::mem::swap(&mut labels, &mut next);
        let mut moved = found.moved;
        let sizes = match found.sums {
            Some(sums) => sums.into_means(points.distortion(), None, &mut centres),
            None => {
                // What a refill did to the labels before is among the changes.
                let changed = changes(&next, &labels, centres.nrows());
                update_means(points, &labels, Some(&changed), &mut centres)
            }
        };
        if sizes.contains(&0) {
            moved += refill(points, &mut labels, &mut centres, empty, &mut ())?;
        }
        if moved == 0 || sweep == stop.max_iterations {
            let last = history.last().map(|s| s.objective);
            let objective = total_distortion(points, &labels, &centres);
            history.push(IterStat { objective, moved, violations: None });
            if moved == 0 || last.is_some_and(|b| stop.is_over(b, objective)) {
                status = Status::Converged;
            }
            break;
        }
        pending = Some(moved);
    }
    Ok(clustering(labels, centres, history, status, points.distortion()))
}

/// Takes the distortions to the centres that changed.
fn renew_own(
    points: &Points,
    labels: &[u32],
    changed: &[bool],
    centres: &Array2<f64>,
    own: &mut [f64],
) {
    let chunks = own.par_chunks_mut(reduce::BLOCK).zip(labels.par_chunks(reduce::BLOCK));
    chunks.enumerate().for_each(|(b, (out, labels))| {
        let (first, wanted) = (b * reduce::BLOCK, Some(changed));
        dispatch(Distortions { points, first, labels, centres, wanted, out });
    });
}

/// Σ w D(x, µ) over all objects of weight w, the same bits for any number of threads.
pub fn total_distortion(points: &Points, labels: &[u32], centres: &Array2<f64>) -> f64 {
    let norms = row_norms(centres);
    if points.data().kind() == DataKind::Csr {
        return sparse::total_distortion(points, labels, centres, &norms);
    }
    let sum_of = |rows: std::ops::Range<usize>| {
        let (first, labels) = (rows.start, &labels[rows]);
        let mut values = [0.0; reduce::BLOCK];
        let out = &mut values[..labels.len()];
        dispatch(Distortions { points, first, labels, centres, wanted: None, out });
        match points.data().weights() {
            None => out.iter().sum::<f64>(),
            Some(weights) => out.iter().zip(&weights[first..]).map(|(d, w)| w * d).sum(),
        }
    };
    reduce::reduce(points.n(), sum_of, |a, b| a + b).unwrap_or(0.0)
}

/// The part of an objective that is not distortion.
pub trait PenaltyTerm {
    /// How much it rises, in units of distortion, when object `i` goes to cluster `to`.
    fn rise(&mut self, i: usize, to: u32, labels: &[u32]) -> f64;
    /// Notes that object `i` went from cluster `from` to cluster `to`.
    fn moved(&mut self, i: usize, from: u32, to: u32);
}

impl PenaltyTerm for () {
    fn rise(&mut self, _: usize, _: u32, _: &[u32]) -> f64 {
        0.0
    }
    fn moved(&mut self, _: usize, _: u32, _: u32) {}
}

/// Fills empty clusters by the `empty` rule; gives the number of objects moved.
///
/// `penalty` is the part of the objective that is not distortion.
/// An object that already lies on its centre is never moved: that would gain nothing and part it
/// from its duplicates.
///
/// # Errors
/// `NumericalFailure` under `Empty::Error`.
pub fn refill(
    points: &Points,
    labels: &mut [u32],
    centres: &mut Array2<f64>,
    empty: Empty,
    penalty: &mut impl PenaltyTerm,
) -> Result<usize> {
    let k = centres.nrows();
    let (offsets, _) = by_label(labels, k);
    let mut sizes: Vec<usize> = offsets.windows(2).map(|w| w[1] - w[0]).collect();
    let mut moved = 0;
    // How far each object is from its centre, and the farthest of them, until one is moved.
    let mut known: Option<(Vec<f64>, usize)> = None;
    for h in 0..k {
        if sizes[h] > 0 {
            continue;
        }
        match empty {
            Empty::Keep => continue,
            Empty::Error => {
                return Err(Error::NumericalFailure {
                    place: format!("cluster {h} is empty (empty = \"error\")"),
                });
            }
            Empty::Reseed => {}
        }
        let (far, object) = known.get_or_insert_with(|| {
            let norms = row_norms(centres);
            let mut far = vec![0.0; labels.len()];
            reduce::fill(&mut far, |i| {
                let own = labels[i] as usize;
                let distance = || points.distance(i, row(centres, own), norms[own]);
                if sizes[own] < 2 { 0.0 } else { points.weight(i) * distance() }
            });
            let mut object = 0;
            for (i, &d) in far.iter().enumerate() {
                if d > far[object] {
                    object = i;
                }
            }
            (far, object)
        });
        let object = *object;
        // What the other empty clusters could take is no better.
        let Some(centre) = points.centre_at(object) else { break };
        let norm = centre.iter().map(|v| v * v).sum();
        let weight = points.weight(object);
        let gain = far[object] - weight * points.distance(object, &centre, norm);
        // Distances below the rounding error of the data are not distances.
        let noise = 64.0 * f64::EPSILON * weight * (points.norm(object) + 1e-300);
        if gain <= noise {
            break;
        }
        if penalty.rise(object, h as u32, labels) > gain {
            continue;
        }
        known = None;
        let own = labels[object] as usize;
        labels[object] = h as u32;
        penalty.moved(object, own as u32, h as u32);
        centres.row_mut(h).assign(&ArrayView1::from(&centre));
        let left: Vec<u32> =
            (0..labels.len() as u32).filter(|&i| labels[i as usize] as usize == own).collect();
        if let Some(mean) = points.mean(&left) {
            centres.row_mut(own).assign(&ArrayView1::from(&mean));
        }
        sizes[own] -= 1;
        sizes[h] = 1;
        moved += 1;
    }
    Ok(moved)
}

/// The best of several runs in parallel: smallest objective, ties by the smallest number.
///
/// # Errors
/// The first error in order, if no run succeeded before it.
pub fn best_of(
    restarts: usize,
    run: impl Fn(usize) -> Result<Clustering> + Send + Sync,
) -> Result<Clustering> {
    let mut best = None;
    reduce::in_waves(restarts, run, |made| {
        keep_better(&mut best, made);
        Ok(())
    })?;
    best.ok_or_else(|| Error::bad_param("restarts", 0, ">= 1"))
}

/// [`best_of`] with one run after the other: for runs that fill all threads by themselves, where
/// several at once would only need more memory.
///
/// # Errors
/// Returns the errors of [`best_of`].
pub fn best_in_turn(
    restarts: usize,
    run: impl Fn(usize) -> Result<Clustering>,
) -> Result<Clustering> {
    let mut best = None;
    (0..restarts).try_for_each(|r| run(r).map(|made| keep_better(&mut best, made)))?;
    best.ok_or_else(|| Error::bad_param("restarts", 0, ">= 1"))
}

/// Keeps `made` if its objective is smaller than that of what there is.
fn keep_better(best: &mut Option<Clustering>, made: Clustering) {
    let value = |c: &Clustering| c.objective.unwrap_or(f64::INFINITY);
    if best.as_ref().is_none_or(|b| value(&made) < value(b)) {
        *best = Some(made);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distance::precision::Precision;
    use crate::kmeans::seeding::{Init, start};
    use mustlink_core::random::SeedPath;
    use mustlink_core::{Data, Problem};
    use mustlink_laws::fixtures;

    /// Groups that overlap, rounded so that ties occur, with duplicates and a zero row.
    fn data(n: usize, d: usize, seed: u64) -> Data {
        let (mut x, _) = fixtures::groups(n / 8, 8, 3.0, seed);
        let mut s = SeedPath::new(seed).stream("more features");
        let base = x.clone();
        x = Array2::from_shape_fn((base.nrows(), d), |(i, f)| {
            ((base[[i, f % base.ncols()]] + s.normal()) * 4.0).round() / 4.0
        });
        let first = x.row(0).to_owned();
        x.row_mut(1).assign(&first);
        x.row_mut(2).fill(0.0);
        Data::dense(x).unwrap()
    }

    /// Every sweep, with all that can differ: labels are in the means, means in the objective.
    fn same(a: &Clustering, b: &Clustering) -> bool {
        a == b
    }

    #[test]
    fn empty_clusters_that_nothing_can_fill_take_one_pass() {
        // 200 000 objects at one place, and as many centres: a look at all objects for each takes hours.
        let n = 200_000;
        let points =
            Points::new(&Data::dense(Array2::ones((n, 2))).unwrap(), Distortion::default());
        let points = points.unwrap();
        let (mut labels, mut centres) = (vec![0u32; n], Array2::ones((n, 2)));
        let begun = std::time::Instant::now();
        let moved = refill(&points, &mut labels, &mut centres, Empty::Reseed, &mut ()).unwrap();
        assert_eq!((moved, &labels[..]), (0, &vec![0; n][..]));
        assert!(begun.elapsed().as_secs_f64() < 120.0, "{:?}", begun.elapsed());
    }

    #[test]
    fn every_algorithm_and_precision_visits_the_same_labels() {
        let inits = [
            Init::KmeansPlusPlus,
            Init::Random,
            Init::RandomPartition,
            Init::FarthestFirst,
            Init::Perturb,
        ];
        // The last has more than one block of rows.
        for (n, d, k) in [(400, 2, 5), (700, 9, 40), (600, 33, 150), (2600, 5, 12)] {
            let data = data(n, d, n as u64);
            for distortion in [Distortion::SquaredEuclidean, Distortion::Cosine] {
                for init in inits {
                    let ctx = Context::new(7);
                    let points = Points::new(&data, distortion).unwrap();
                    let problem = Problem::new(data.clone()).with_k(k);
                    let centres = start(&points, k, init, &problem, &ctx).unwrap();
                    let single = Points::new(&data, distortion).unwrap();
                    let single = single.with_precision(Precision::F32, usize::MAX);
                    let stop = Stop::new(40, 0.0, ToleranceKind::Relative);
                    for empty in [Empty::Keep, Empty::Reseed] {
                        let run = |algorithm, points: &Points| {
                            lloyd_by(algorithm, points, centres.clone(), stop, empty, &ctx).unwrap()
                        };
                        let plain = run(Algorithm::Lloyd, &points);
                        for algorithm in [
                            Algorithm::Auto,
                            Algorithm::Lloyd,
                            Algorithm::Hamerly,
                            Algorithm::Yinyang,
                        ] {
                            for points in [&points, &single] {
                                let case = format!(
                                    "n {n} d {d} k {k} {distortion:?} {init:?} {empty:?} \
                                     {algorithm:?} single {}",
                                    points.single_copy().is_some()
                                );
                                assert!(same(&plain, &run(algorithm, points)), "{case}");
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_view_of_rows_is_clustered_as_a_copy_of_them() {
        let whole = data(2600, 5, 4);
        let rows: Vec<usize> = (0..whole.n()).filter(|i| i % 3 > 0).rev().collect();
        let view = whole.subset(&rows);
        let copy = Data::dense(view.to_dense()).unwrap();
        let stop = Stop::new(10, 0.0, ToleranceKind::Relative);
        for k in [9, 140] {
            for algorithm in [Algorithm::Lloyd, Algorithm::Yinyang] {
                let run = |data: &Data| {
                    let ctx = Context::new(1);
                    let points = Points::new(data, Distortion::SquaredEuclidean).unwrap();
                    let problem = Problem::new(data.clone()).with_k(k);
                    let centres = start(&points, k, Init::Random, &problem, &ctx).unwrap();
                    lloyd_by(algorithm, &points, centres, stop, Empty::Reseed, &ctx).unwrap()
                };
                assert_eq!(run(&view), run(&copy), "k {k} {algorithm:?}");
            }
        }
    }

    #[test]
    fn auto_takes_bounds_where_they_were_faster_and_fit() {
        let groups = |n, d, k, limit| Algorithm::Auto.groups(n, d, k, limit);
        for (n, d, k) in
            [(100_000, 2, 100), (100_000, 16, 300), (100_000, 64, 100), (10_000, 16, 1000)]
        {
            assert_eq!(groups(n, d, k, None), 0, "{n} {d} {k}");
        }
        for (n, d, k) in [(100_000, 2, 1000), (100_000, 16, 1000), (100_000, 64, 300)] {
            let all = groups(n, d, k, None);
            assert_eq!(all, k / GROUP, "{n} {d} {k}");
            assert_eq!(groups(n, d, k, Some(bounds_memory(n, all))), 0);
        }
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        let data = data(3000, 7, 3);
        let points = Points::new(&data, Distortion::SquaredEuclidean).unwrap();
        let problem = Problem::new(data).with_k(90);
        let stop = Stop::new(30, 0.0, ToleranceKind::Relative);
        for algorithm in [Algorithm::Lloyd, Algorithm::Hamerly, Algorithm::Yinyang] {
            let at = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| {
                    let ctx = Context::new(1);
                    let centres = start(&points, 90, Init::Random, &problem, &ctx).unwrap();
                    lloyd_by(algorithm, &points, centres, stop, Empty::Reseed, &ctx).unwrap()
                })
            };
            let one = at(1);
            assert!(one.history.len() > 2);
            assert_eq!(one, at(2));
            assert_eq!(one, at(7));
        }
    }
}
