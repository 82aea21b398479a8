//! Starts of centres.
//!
//! Sources: [ArthurVassilvitskii2007] (k-means++); [Bahmani2012] (k-means||); [Basu2004] §4 (perturbed means);
//! [EfraimidisSpirakis2006] (weighted samples).

use ndarray::{Array2, ArrayView1};

use mustlink_core::clustering::NONE;
use mustlink_core::prelude::{__mustlink, options};
use mustlink_core::random::Stream;
use mustlink_core::{Context, Error, Problem, Result, Start, order, reduce};

use crate::distance::points::{Distortion, Points, normalise, row, row_norms};
use crate::kmeans::means::means;
use crate::kmeans::nearest::assign::assign;

/// Method of choosing the first centres.
#[options]
pub enum Init {
    /// Greedy k-means++: each step draws 2 + ⌊ln k⌋ candidates by distortion and keeps the best.
    #[default]
    KmeansPlusPlus,
    /// k-means|| [Bahmani2012]: five rounds that each take about 2k objects by distortion, then
    /// greedy k-means++ among those. For large k.
    KmeansParallel,
    /// k distinct objects (Forgy).
    Random,
    /// Random clusters; the means of their objects are the centres.
    RandomPartition,
    /// A random object, then repeatedly the object farthest from those chosen.
    FarthestFirst,
    /// Perturbed global means.
    Perturb,
    /// The start given with the problem.
    Given,
}

impl Init {
    /// True if another restart would start elsewhere.
    pub fn is_random(self) -> bool {
        self != Init::Given
    }
}

/// Formula that perturbs a global mean.
#[options]
pub enum Perturb {
    /// g + ρ (u − ½) σ, per feature.
    #[default]
    Additive,
    /// g (1 + ρ (u − ½)), per feature; degenerate on centred data.
    Multiplicative,
}

/// The first k centres, k × d, chosen as `init` says.
///
/// # Errors
/// `BadParam` when `init = "given"` and the problem holds no fitting start; `Cancelled`.
pub fn start(
    points: &Points,
    k: usize,
    init: Init,
    problem: &Problem,
    ctx: &Context,
) -> Result<Array2<f64>> {
    // Many restarts on small data spend their time here, where no sweep checks for cancellation.
    ctx.check()?;
    let n = points.n();
    let mut stream = ctx.stream("start");
    Ok(match init {
        Init::KmeansPlusPlus => {
            rows_as_centres(points, &plus_plus(points, k, None, &mut stream, ctx)?)
        }
        Init::KmeansParallel => rows_as_centres(points, &parallel(points, k, &mut stream, ctx)?),
        Init::Random => rows_as_centres(points, &sample(points, k, &mut stream)),
        Init::RandomPartition => {
            let labels: Vec<u32> = (0..n).map(|_| stream.below(k) as u32).collect();
            let fallback = rows_as_centres(points, &sample(points, k, &mut stream));
            means(points, &labels, fallback).0
        }
        Init::FarthestFirst => {
            let first = any_object(points, &mut stream);
            farthest_first(points, k, vec![first], ctx)?
        }
        Init::Perturb => {
            let mut centres = Vec::with_capacity(k * points.d());
            let spread = GlobalMoments::of(points);
            for _ in 0..k {
                centres.extend(spread.perturbed(points, Perturb::Additive, 0.7, &mut stream));
            }
            Array2::from_shape_vec((k, points.d()), centres).expect("k × d values")
        }
        Init::Given => given(points, k, problem)?,
    })
}

fn given(points: &Points, k: usize, problem: &Problem) -> Result<Array2<f64>> {
    let start = problem.start.as_deref();
    let centroids = match start {
        Some(Start::Centroids(c)) => Some(c),
        Some(Start::Clustering(c)) => c.extras.centers.as_ref(),
        Some(Start::Labels(_)) | None => None,
    };
    match (start, centroids) {
        (_, Some(c)) if c.dim() == (k, points.d()) => {
            let mut centres = c.as_standard_layout().into_owned();
            if points.distortion() == Distortion::Cosine {
                for mut row in centres.rows_mut() {
                    normalise(row.as_slice_mut().expect("standard layout"));
                }
            }
            Ok(centres)
        }
        (_, Some(c)) => Err(Error::bad_param(
            "start",
            format!("{} × {} centroids", c.nrows(), c.ncols()),
            format!("{k} × {} centroids", points.d()),
        )),
        (Some(Start::Labels(l)), None)
            if l.len() == points.n() && l.iter().all(|&h| (h as usize) < k) =>
        {
            let fallback = Array2::zeros((k, points.d()));
            Ok(means(points, l, fallback).0)
        }
        (Some(Start::Labels(l)), None) => Err(Error::bad_param(
            "start",
            format!("{} labels", l.len()),
            format!("{} labels below k = {k}", points.n()),
        )),
        (Some(_), None) => {
            Err(Error::bad_param("start", "a clustering without centroids", "one with centroids"))
        }
        (None, None) => {
            Err(Error::bad_param("init", "\"given\" without a start", "used with a start"))
        }
    }
}

/// Objects as centres; a zero row under cosine stays the zero vector.
pub fn rows_as_centres(points: &Points, objects: &[usize]) -> Array2<f64> {
    let mut centres = Array2::zeros((objects.len(), points.d()));
    for (h, &i) in objects.iter().enumerate() {
        if let Some(c) = points.centre_at(i) {
            centres.row_mut(h).assign(&ArrayView1::from(&c));
        }
    }
    centres
}

fn distances_to(points: &Points, object: usize) -> Vec<f64> {
    let (centre, norm) = centre_of(points, object);
    let mut out = vec![0.0; points.n()];
    // Cosine of unit rows can miss 0 by a rounding error.
    reduce::fill(&mut out, |i| points.distance(i, &centre, norm).max(0.0));
    out
}

/// The centre an object makes, with its squared norm.
fn centre_of(points: &Points, object: usize) -> (Vec<f64>, f64) {
    let centre = points.centre_at(object).unwrap_or_else(|| vec![0.0; points.d()]);
    let norm = centre.iter().map(|v| v * v).sum();
    (centre, norm)
}

/// How far each object is from the nearest of the objects chosen, and from which.
struct Nearest {
    distance: Vec<f64>,
    own: Vec<u32>,
}

impl Nearest {
    fn of(points: &Points, object: usize) -> Self {
        Nearest { distance: distances_to(points, object), own: vec![0; points.n()] }
    }

    /// Replaces whatever `closer(i, distance, own)` knows to be closer.
    fn update(&mut self, closer: impl Fn(usize, f64, u32) -> Option<(f64, u32)> + Sync) {
        use rayon::prelude::*;
        let distances = self.distance.par_chunks_mut(reduce::BLOCK);
        distances.zip(self.own.par_chunks_mut(reduce::BLOCK)).enumerate().for_each(
            |(b, (distances, owns))| {
                for (at, (distance, own)) in distances.iter_mut().zip(owns).enumerate() {
                    if let Some(new) = closer(b * reduce::BLOCK + at, *distance, *own) {
                        (*distance, *own) = new;
                    }
                }
            },
        );
    }
}

/// An object that may be chosen next.
struct Candidate {
    object: usize,
    centre: Vec<f64>,
    norm: f64,
    /// Its distance to each object chosen.
    reach: Vec<f64>,
}

impl Candidate {
    /// Its distance to object `i`, unless the triangle inequality shows that it is not below
    /// `distance`, that of `i` to the object `own`. The slack covers every rounding error, and what
    /// rows taken for unit length lack of it.
    fn below(&self, points: &Points, i: usize, distance: f64, own: u32) -> Option<f64> {
        let slack = match points.distortion() {
            Distortion::Cosine => 1e-10,
            Distortion::SquaredEuclidean => 0.0,
        };
        if self.reach[own as usize] > 4.001 * distance + slack {
            return None;
        }
        let new = points.distance(i, &self.centre, self.norm).max(0.0);
        (new < distance).then_some(new)
    }
}

/// A random object, as likely as it counts.
fn any_object(points: &Points, stream: &mut Stream) -> usize {
    match points.data().weights() {
        None => stream.below(points.n()),
        Some(weights) => stream.weighted(weights),
    }
}

/// k distinct objects, drawn one after the other, each as likely as it counts.
pub(crate) fn sample(points: &Points, k: usize, stream: &mut Stream) -> Vec<usize> {
    let n = points.n();
    let Some(weights) = points.data().weights() else { return stream.sample(n, k) };
    // Those whose exponential waiting times, of rate w, end first [EfraimidisSpirakis2006].
    let ends: Vec<f64> = weights.iter().map(|w| -(1.0 - stream.unit()).ln() / w).collect();
    let mut objects = order::ascending(&ends);
    objects.truncate(k);
    objects
}

/// The object farthest from what is chosen, among those that count; ties: lowest index.
pub(crate) fn farthest(points: &Points, nearest: &[f64]) -> usize {
    let counts = (0..points.n()).filter(|&i| points.weight(i) > 0.0);
    counts.reduce(|far, i| if nearest[i] > nearest[far] { i } else { far }).unwrap_or(0)
}

/// Greedy k-means++ over objects of the given weights (absent: those of `points`): the objects chosen.
pub(crate) fn plus_plus(
    points: &Points,
    k: usize,
    weights: Option<&[f64]>,
    stream: &mut Stream,
    ctx: &Context,
) -> Result<Vec<usize>> {
    let n = points.n();
    let weights = weights.or(points.data().weights());
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let mut chosen = match weights {
        None => vec![stream.below(n)],
        Some(weights) => vec![stream.weighted(weights)],
    };
    let mut nearest = Nearest::of(points, chosen[0]);
    let mut mass = vec![0.0; n];
    let trials = 2 + (k as f64).ln() as usize;
    while chosen.len() < k {
        ctx.check()?;
        reduce::fill(&mut mass, |i| weight(i) * nearest.distance[i]);
        let draws = Draws::new(&mass);
        let mut candidates: Vec<Candidate> = Vec::with_capacity(trials);
        for _ in 0..trials {
            let object = draws.draw(stream);
            // An object drawn twice is as good as the first time.
            if candidates.iter().all(|c| c.object != object) {
                let (centre, norm) = centre_of(points, object);
                let to = |&c: &usize| points.distance(c, &centre, norm);
                let reach = chosen.iter().map(to).collect();
                candidates.push(Candidate { object, centre, norm, reach });
            }
        }
        // One pass over the rows for all candidates.
        let sums = |rows: std::ops::Range<usize>| {
            let mut sums = vec![0.0; candidates.len()];
            for i in rows {
                let (distance, own) = (nearest.distance[i], nearest.own[i]);
                for (sum, candidate) in sums.iter_mut().zip(&candidates) {
                    let new = candidate.below(points, i, distance, own).unwrap_or(distance);
                    *sum += weight(i) * new;
                }
            }
            sums
        };
        let add = |mut a: Vec<f64>, b: Vec<f64>| {
            a.iter_mut().zip(b).for_each(|(x, y)| *x += y);
            a
        };
        let potentials = reduce::reduce(n, sums, add).expect("data is not empty");
        let mut best = 0;
        for (c, &potential) in potentials.iter().enumerate() {
            if potential < potentials[best] {
                best = c;
            }
        }
        let (candidate, name) = (&candidates[best], chosen.len() as u32);
        nearest.update(|i, distance, own| {
            candidate.below(points, i, distance, own).map(|new| (new, name))
        });
        chosen.push(candidate.object);
    }
    Ok(chosen)
}

/// Many weighted draws from the same weights: as [`Stream::weighted`], bit for bit, with the
/// running sum taken once.
struct Draws<'a> {
    weights: &'a [f64],
    running: Vec<f64>,
}

impl<'a> Draws<'a> {
    fn new(weights: &'a [f64]) -> Self {
        let mut sum = 0.0;
        let running = weights.iter().map(|w| {
            sum += w;
            sum
        });
        Draws { running: running.collect(), weights }
    }

    fn draw(&self, stream: &mut Stream) -> usize {
        let total = self.running.last().copied().unwrap_or(0.0);
        if total <= 0.0 || !total.is_finite() {
            return stream.below(self.weights.len());
        }
        let target = stream.unit() * total;
        let found = self.running.partition_point(|&sum| sum <= target);
        if found < self.weights.len() {
            found
        } else {
            self.weights.iter().rposition(|&w| w > 0.0).unwrap_or(0)
        }
    }
}

/// Rounds of k-means||, and how many objects a round takes for each of the k centres.
const ROUNDS: usize = 5;
const OVERSAMPLING: f64 = 2.0;
/// Entries of the candidates that are compared with all objects at once.
const CANDIDATE_ENTRIES: usize = 1 << 21;

/// k-means||: the objects chosen.
fn parallel(points: &Points, k: usize, stream: &mut Stream, ctx: &Context) -> Result<Vec<usize>> {
    let n = points.n();
    let mut chosen = vec![any_object(points, stream)];
    let mut nearest = Nearest::of(points, chosen[0]);
    for _ in 0..ROUNDS {
        let potential = reduce::sum(n, |i| points.weight(i) * nearest.distance[i]);
        if potential <= 0.0 {
            break;
        }
        let rate = OVERSAMPLING * k as f64 / potential;
        // One number for each object, so that no draw depends on another's outcome.
        let share = |i: usize| rate * points.weight(i) * nearest.distance[i];
        let fresh: Vec<usize> = (0..n).filter(|&i| stream.unit() < share(i)).collect();
        for some in fresh.chunks((CANDIDATE_ENTRIES / points.d()).max(1)) {
            ctx.check()?;
            let centres = rows_as_centres(points, some);
            let norms = row_norms(&centres);
            let mut closest = vec![NONE; n];
            assign(points, &centres, &mut closest, None);
            let before = chosen.len() as u32;
            nearest.update(|i, distance, _| {
                let h = closest[i] as usize;
                let new = points.distance(i, row(&centres, h), norms[h]).max(0.0);
                (new < distance).then_some((new, before + h as u32))
            });
            chosen.extend_from_slice(some);
        }
    }
    // Fewer than k after all rounds: as k-means++ goes on, one draw at a time.
    while chosen.len() < k {
        ctx.check()?;
        let mass: Vec<f64> = (0..n).map(|i| points.weight(i) * nearest.distance[i]).collect();
        let object = stream.weighted(&mass);
        let (centre, norm) = centre_of(points, object);
        let name = chosen.len() as u32;
        nearest.update(|i, distance, _| {
            let new = points.distance(i, &centre, norm).max(0.0);
            (new < distance).then_some((new, name))
        });
        chosen.push(object);
    }
    let mut weights = vec![0.0; chosen.len()];
    nearest.own.iter().enumerate().for_each(|(i, &c)| weights[c as usize] += points.weight(i));
    let candidates = Points::new(&points.data().subset(&chosen), points.distortion())?;
    let kept = plus_plus(&candidates, k, Some(&weights), stream, ctx)?;
    Ok(kept.into_iter().map(|c| chosen[c]).collect())
}

/// Farthest-first traversal from the objects in `chosen` until there are k; ties: lowest index.
///
/// # Errors
/// Cancellation.
pub fn farthest_first(
    points: &Points,
    k: usize,
    mut chosen: Vec<usize>,
    ctx: &Context,
) -> Result<Array2<f64>> {
    let mut nearest = vec![f64::INFINITY; points.n()];
    let mut seen = 0;
    while chosen.len() < k {
        ctx.check()?;
        for &object in &chosen[seen..] {
            let with = distances_to(points, object);
            nearest.iter_mut().zip(with).for_each(|(d, new)| *d = d.min(new));
        }
        seen = chosen.len();
        chosen.push(farthest(points, &nearest));
    }
    Ok(rows_as_centres(points, &chosen))
}

/// Mean and standard deviation of every feature over all (prepared) objects.
pub struct GlobalMoments {
    mean: Vec<f64>,
    deviation: Vec<f64>,
}

impl GlobalMoments {
    /// Moments of all objects.
    pub fn of(points: &Points) -> Self {
        let n = points.n();
        let d = points.d();
        let moments = |rows: std::ops::Range<usize>| {
            let mut sums = vec![0.0; 2 * d];
            for i in rows {
                use mustlink_core::Row;
                let weight = points.weight(i);
                match points.data().row(i) {
                    Row::Dense(x) => x.iter().enumerate().for_each(|(s, v)| {
                        sums[s] += weight * v;
                        sums[d + s] += weight * (v * v);
                    }),
                    Row::Sparse(columns, values) => {
                        columns.iter().zip(values).for_each(|(&c, v)| {
                            sums[c as usize] += weight * v;
                            sums[d + c as usize] += weight * (v * v);
                        });
                    }
                }
            }
            sums
        };
        let add = |mut a: Vec<f64>, b: Vec<f64>| {
            a.iter_mut().zip(&b).for_each(|(x, y)| *x += y);
            a
        };
        let sums = reduce::reduce(n, moments, add).expect("data is not empty");
        let total = points.total_weight();
        let mean: Vec<f64> = sums[..d].iter().map(|s| s / total).collect();
        let deviation =
            (0..d).map(|s| (sums[d + s] / total - mean[s] * mean[s]).max(0.0).sqrt()).collect();
        GlobalMoments { mean, deviation }
    }

    /// The mean, perturbed; of unit length for cosine.
    pub fn perturbed(
        &self,
        points: &Points,
        how: Perturb,
        rho: f64,
        stream: &mut Stream,
    ) -> Vec<f64> {
        let mut centre: Vec<f64> = self
            .mean
            .iter()
            .zip(&self.deviation)
            .map(|(g, sigma)| {
                let u = stream.unit() - 0.5;
                match how {
                    Perturb::Additive => g + rho * u * sigma,
                    Perturb::Multiplicative => g * (1.0 + rho * u),
                }
            })
            .collect();
        if points.distortion() == Distortion::Cosine {
            normalise(&mut centre);
        }
        centre
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::data::Data;
    use mustlink_core::random::SeedPath;
    use mustlink_laws::fixtures;
    use proptest::prelude::*;

    #[test]
    fn every_object_of_farthest_first_looks_at_the_flag() {
        let (problem, _) = fixtures::dense(1);
        let points = Points::new(&problem.data, Distortion::SquaredEuclidean).unwrap();
        let ctx = Context::builder(SeedPath::new(1)).count_looks().build();
        let centres = farthest_first(&points, 9, vec![0], &ctx).unwrap();
        assert_eq!((centres.nrows(), ctx.looks()), (9, 8));
        let ctx = Context::builder(SeedPath::new(1)).cancel_after(3).build();
        assert_eq!(farthest_first(&points, 9, vec![0], &ctx), Err(Error::Cancelled));
    }

    /// Greedy k-means++ as it is written down: every distance taken, every draw by itself.
    fn plain(points: &Points, k: usize, stream: &mut Stream) -> Vec<usize> {
        let n = points.n();
        let mut chosen = vec![stream.below(n)];
        let mut nearest = distances_to(points, chosen[0]);
        while chosen.len() < k {
            let mut best: Option<(f64, usize, Vec<f64>)> = None;
            for _ in 0..2 + (k as f64).ln() as usize {
                let object = stream.weighted(&nearest);
                let mut with = distances_to(points, object);
                with.iter_mut().zip(&nearest).for_each(|(d, &old)| *d = d.min(old));
                let potential = reduce::sum(n, |i| with[i]);
                if best.as_ref().is_none_or(|(least, ..)| potential < *least) {
                    best = Some((potential, object, with));
                }
            }
            let (_, object, with) = best.unwrap();
            chosen.push(object);
            nearest = with;
        }
        chosen
    }

    proptest! {
        /// Left-out distances, shared sums and one pass for all candidates change nothing: ties,
        /// duplicates and zero rows included.
        #[test]
        fn k_means_plus_plus_is_that_of_the_plain_loop(
            seed: u64,
            n in 1usize..200,
            d in 1usize..6,
            cosine: bool,
            sparse: bool,
            coarse: bool,
        ) {
            let mut s = SeedPath::new(seed).stream("data");
            let x = Array2::from_shape_fn((n, d), |(i, _)| match coarse {
                true => s.below(3) as f64,
                false => (i % 5) as f64 * 10.0 + s.normal(),
            });
            let data = match sparse {
                true => Data::csr(fixtures::to_csr(&x)).unwrap(),
                false => Data::dense(x).unwrap(),
            };
            let distortion =
                if cosine { Distortion::Cosine } else { Distortion::SquaredEuclidean };
            let points = Points::new(&data, distortion).unwrap();
            let k = 1 + s.below(n);
            let path = SeedPath::new(seed);
            let fast = plus_plus(&points, k, None, &mut path.stream("a"), &Context::new(1)).unwrap();
            prop_assert_eq!(fast, plain(&points, k, &mut path.stream("a")));
        }

        #[test]
        fn draws_are_those_of_the_stream(seed: u64, weights in prop::collection::vec(0u8..4, 1..30)) {
            let weights: Vec<f64> = weights.into_iter().map(|w| f64::from(w) * 0.3).collect();
            let draws = Draws::new(&weights);
            let (mut a, mut b) = (SeedPath::new(seed).stream("a"), SeedPath::new(seed).stream("a"));
            for _ in 0..20 {
                prop_assert_eq!(draws.draw(&mut a), b.weighted(&weights));
            }
        }
    }

    fn blobs(n: usize, d: usize, groups: usize) -> Points {
        let mut s = SeedPath::new(8).stream("blobs");
        let x = Array2::from_shape_fn((n, d), |(i, f)| {
            100.0 * (((i % groups) * (f + 3)) % groups) as f64 + s.normal()
        });
        Points::new(&Data::dense(x).unwrap(), Distortion::SquaredEuclidean).unwrap()
    }

    #[test]
    fn k_means_parallel_finds_separated_groups() {
        let points = blobs(600, 3, 12);
        let ctx = Context::new(2);
        let chosen = parallel(&points, 12, &mut ctx.stream("start"), &ctx).unwrap();
        let mut groups: Vec<usize> = chosen.iter().map(|i| i % 12).collect();
        groups.sort_unstable();
        assert_eq!(groups, (0..12).collect::<Vec<_>>());
    }

    #[test]
    fn k_means_parallel_chooses_k_objects_whatever_the_data() {
        for (x, k) in [
            (Array2::from_elem((9, 2), 1.0), 4),
            (Array2::from_shape_fn((9, 1), |(i, _)| (i % 2) as f64), 5),
            (Array2::from_shape_fn((7, 2), |(i, f)| (i * (f + 1)) as f64), 7),
            (Array2::zeros((3, 2)), 1),
        ] {
            for distortion in [Distortion::SquaredEuclidean, Distortion::Cosine] {
                let points = Points::new(&Data::dense(x.clone()).unwrap(), distortion).unwrap();
                let ctx = Context::new(5);
                let chosen = parallel(&points, k, &mut ctx.stream("start"), &ctx).unwrap();
                assert_eq!(chosen.len(), k);
            }
        }
    }

    #[test]
    fn starts_are_the_same_for_any_number_of_threads() {
        let points = blobs(5000, 4, 30);
        let made = |threads: usize, init: Init| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let problem = Problem::new(points.data().clone());
            pool.install(|| start(&points, 40, init, &problem, &Context::new(9)).unwrap())
        };
        for init in [Init::KmeansPlusPlus, Init::KmeansParallel] {
            let one = made(1, init);
            assert_eq!(one, made(2, init));
            assert_eq!(one, made(7, init));
        }
    }
}
