//! K-means that looks at a few objects in each step.

use std::path::{Path, PathBuf};

use mustlink_core::prelude::*;
use mustlink_kernels::distance::points::{Distortion, Points, normalise};
use mustlink_kernels::distance::rows_by_label::by_label;
use mustlink_kernels::kmeans::lloyd::{best_of, total_distortion};
use mustlink_kernels::kmeans::nearest::assign::assign;
use mustlink_kernels::kmeans::seeding::{Init, start};
use mustlink_kernels::npy::{self, NpyRows};
use ndarray::{Array2, ArrayView1};

/// K-means that moves its centres after every small batch of random objects.
///
/// # Method
/// Each batch joins its nearest centres; a centre becomes the mean of all objects it has ever received. The first
/// centres come from a sample. The batches end when their smoothed distortion has not fallen for `patience` batches;
/// one pass over all objects then gives the labels.
/// # Input and output
/// n × d, dense or sparse; or, with `rows`, an NPY file that is mapped into memory and never held there as a whole.
/// The data of the problem then only give the number of objects. One label per object, k centres; the objective is
/// the total distortion to them.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`, `BadParam`; `Data` and `NonFinite` for the file.
/// # Cost and randomness
/// O(batches · batch_size · k · d + n·k·d); random in the sample and the batches.
/// # References
/// [Sculley2010]. Differs: a batch moves each centre once, by the mean of the objects it assigns to it.
#[options]
pub struct MiniBatchKMeans {
    /// Number of clusters, at most n. If absent, the k of the problem.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Distance from an object to a centre. "auto": cosine for sparse rows, otherwise squared Euclidean.
    pub distortion: AutoOr<Distortion>,
    /// Method of choosing the first centres, from a sample of three batches or of 3k objects.
    pub init: Init,
    /// Number of starts; the best result is kept. A given start is run once.
    #[option(default = 3, min = 1)]
    pub restarts: usize,
    /// Number of objects in a batch, drawn with replacement.
    #[option(default = 1024, min = 1)]
    pub batch_size: usize,
    /// Maximum number of passes over as many objects as the data have.
    #[option(default = 100, min = 1)]
    pub max_iterations: usize,
    /// Number of batches in a row without a new least smoothed distortion before stopping.
    #[option(default = 10, min = 1)]
    pub patience: usize,
    /// NPY file with one row per object, of little-endian f8 or f4 in C order. Its rows are clustered instead of the
    /// data of the problem.
    #[option(file = true)]
    pub rows: Option<PathBuf>,
}

/// Entries of the rows that the last pass holds at a time.
const BLOCK_ENTRIES: usize = 1 << 20;

/// Source of rows.
enum Source<'a> {
    Memory(&'a Data),
    File(NpyRows),
}

impl Source<'_> {
    fn open<'a>(problem: &'a Problem, file: Option<&Path>, base: &Path) -> Result<Source<'a>> {
        let Some(path) = file else { return Ok(Source::Memory(&problem.data)) };
        let rows = NpyRows::open(&base.join(path))?;
        if rows.n() != problem.n() {
            let legal = format!("a file with {} rows, one per object", problem.n());
            return Err(Error::bad_param("rows", format!("{} rows", rows.n()), legal));
        }
        Ok(Source::File(rows))
    }

    fn d(&self) -> usize {
        match self {
            Source::Memory(data) => data.d(),
            Source::File(file) => file.d(),
        }
    }

    /// These rows.
    fn rows(&mut self, rows: &[usize]) -> Result<Data> {
        match self {
            Source::Memory(data) => Ok(data.subset(rows)),
            Source::File(file) => Data::dense(file.rows(rows)?),
        }
    }
}

/// Centres and what they have been given.
struct Centres {
    /// Means of all objects given; not of unit length.
    means: Array2<f64>,
    counts: Vec<f64>,
    distortion: Distortion,
}

impl Centres {
    fn new(first: Array2<f64>, distortion: Distortion) -> Self {
        Centres { counts: vec![0.0; first.nrows()], means: first, distortion }
    }

    /// The centres objects are compared with.
    fn places(&self) -> Array2<f64> {
        let mut places = self.means.clone();
        if self.distortion == Distortion::Cosine {
            for mut place in places.rows_mut() {
                normalise(place.as_slice_mut().expect("standard layout"));
            }
        }
        places
    }

    /// Moves each centre towards the mean of its objects of a batch, the less the more it has.
    fn take(&mut self, batch: &Points, labels: &[u32]) {
        let (offsets, order) = by_label(labels, self.counts.len());
        let sum = |h: usize| {
            let members = &order[offsets[h]..offsets[h + 1]];
            if members.is_empty() {
                return None;
            }
            let mut sum = vec![0.0; batch.d()];
            members.iter().for_each(|&i| batch.data().row(i as usize).add_to(&mut sum, 1.0));
            Some((members.len() as f64, sum))
        };
        let sums = reduce::map(self.counts.len(), sum);
        for (h, given) in sums.into_iter().enumerate() {
            let Some((members, sum)) = given else { continue };
            self.counts[h] += members;
            let mut mean = self.means.row_mut(h);
            mean *= 1.0 - members / self.counts[h];
            mean.scaled_add(1.0 / self.counts[h], &ArrayView1::from(&sum));
        }
    }
}

impl MiniBatchKMeans {
    fn run(&self, problem: &Problem, k: usize, ctx: &Context) -> Result<Clustering> {
        let mut source = Source::open(problem, self.rows.as_deref(), ctx.base())?;
        let n = problem.n();
        let batch_size = self.batch_size.min(n);
        let wanted = (3 * batch_size).max(3 * k).min(n);
        let sample: Vec<usize> = match (self.init, &source) {
            // Labels are given for all objects.
            (Init::Given, Source::Memory(_)) => (0..n).collect(),
            (Init::Given, Source::File(_)) => vec![0],
            _ if wanted == n => (0..n).collect(),
            _ => distinct(n, wanted, ctx),
        };
        let sample = Points::new(&source.rows(&sample)?, self.distortion)?;
        let first = start(&sample, k, self.init, problem, ctx)?;
        let mut centres = Centres::new(first, sample.distortion());
        let mut stream = ctx.stream("batches");
        let smoothing = (2.0 * batch_size as f64 / (n as f64 + 1.0)).min(1.0);
        let (mut smoothed, mut least, mut since) = (None, f64::INFINITY, 0);
        let mut status = Status::MaxIter;
        let batches = self.max_iterations.saturating_mul(n.div_ceil(batch_size));
        for batch in 0..batches {
            ctx.check()?;
            let mut rows: Vec<usize> = (0..batch_size).map(|_| stream.below(n)).collect();
            // In the order of the file.
            rows.sort_unstable();
            let points = Points::new(&source.rows(&rows)?, self.distortion)?;
            let places = centres.places();
            let mut labels = vec![NONE; batch_size];
            assign(&points, &places, &mut labels, None);
            let mean = total_distortion(&points, &labels, &places) / batch_size as f64;
            centres.take(&points, &labels);
            // The first batch still tells of the start.
            if batch == 0 {
                continue;
            }
            let now = smoothed.map_or(mean, |old: f64| old + smoothing * (mean - old));
            smoothed = Some(now);
            since = if now < least { 0 } else { since + 1 };
            least = least.min(now);
            if since >= self.patience {
                status = Status::Converged;
                break;
            }
        }
        self.label(&mut source, n, centres.places(), status, ctx)
    }

    /// One pass over all objects.
    fn label(
        &self,
        source: &mut Source,
        n: usize,
        centres: Array2<f64>,
        status: Status,
        ctx: &Context,
    ) -> Result<Clustering> {
        let mut labels = vec![NONE; n];
        let (mut objective, mut zero_rows) = (0.0, 0);
        let mut geometry = Geometry::default();
        let block = (BLOCK_ENTRIES / source.d()).max(1024);
        for (b, chunk) in labels.chunks_mut(block).enumerate() {
            ctx.check()?;
            let rows: Vec<usize> = (b * block..b * block + chunk.len()).collect();
            let points = Points::new(&source.rows(&rows)?, self.distortion)?;
            assign(&points, &centres, chunk, None);
            objective += total_distortion(&points, chunk, &centres);
            zero_rows += points.zero_rows();
            geometry = points.distortion().geometry();
        }
        let mut extras = Extras { centers: Some(centres), geometry, ..Extras::default() };
        if zero_rows > 0 {
            extras.diagnostics.insert("zero_rows".into(), zero_rows as f64);
        }
        let k = extras.centers.as_ref().map_or(0, Array2::nrows);
        Ok(Clustering {
            labels,
            k,
            objective: Some(objective),
            status,
            extras,
            ..Default::default()
        })
    }
}

/// `m` different objects of `0..n` in order, without a list of all.
fn distinct(n: usize, m: usize, ctx: &Context) -> Vec<usize> {
    let mut stream = ctx.stream("sample");
    let mut chosen = std::collections::BTreeSet::new();
    // Floyd's sampling: each of the last m numbers, or what is drawn below it.
    for last in n - m..n {
        let drawn = stream.below(last + 1);
        if !chosen.insert(drawn) {
            chosen.insert(last);
        }
    }
    chosen.into_iter().collect()
}

#[plugin("mini_batch_kmeans", cites = ["Sculley2010"])]
impl BaseClusterer for MiniBatchKMeans {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let k = problem.require_k(self.k, "mini_batch_kmeans")?;
        let restarts = if self.init.is_random() { self.restarts } else { 1 };
        best_of(restarts, |r| self.run(problem, k, &ctx.index(r)))
    }

    fn properties(&self) -> Properties {
        Properties {
            accepts: vec![DataKind::Dense, DataKind::Csr],
            needs_k: self.k.is_none(),
            // Centres of a file lie in another space than the data of the problem.
            gives_centers: self.rows.is_none(),
            ..Properties::default()
        }
    }

    fn operations(&self, shape: &Shape) -> Option<f64> {
        let k = self.k.unwrap_or(shape.k);
        let batches = (self.max_iterations * shape.n / self.batch_size).clamp(1, 100);
        let batch = Shape { entries: self.batch_size * shape.d, ..*shape };
        Some(self.restarts as f64 * batches as f64 * batch.sweep(k) + shape.sweep(k))
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let Shape { n, d, k, .. } = *shape;
        let k = self.k.unwrap_or(k);
        let block = BLOCK_ENTRIES.max(3 * self.batch_size.max(k).min(n) * d).min(3 * n * d);
        let mapped = if self.rows.is_some() { npy::RESIDENT } else { 0 };
        (self.restarts.min(reduce::WAVE) * (8 * (2 * block + 4 * k * d) + 12 * n + mapped)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kmeans::KMeans;
    use mustlink_core::clustering::canonical;
    use mustlink_laws::fixtures;
    use ndarray::array;

    fn problem(x: Array2<f64>, k: usize) -> Problem {
        Problem::new(Data::dense(x).unwrap()).with_k(k)
    }

    fn run(plugin: &MiniBatchKMeans, problem: &Problem) -> Clustering {
        mustlink_core::run::cluster(plugin, problem, &Context::new(3)).unwrap().clustering
    }

    /// Rows in a file that is removed with the handle.
    fn npy(x: &Array2<f64>) -> tempfile::NamedTempFile {
        let (n, d) = x.dim();
        let text = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({n}, {d}), }}");
        let header = format!("{text:<117}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        x.iter().for_each(|v| bytes.extend(v.to_le_bytes()));
        let file = tempfile::Builder::new().suffix(".npy").tempfile().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        file
    }

    #[test]
    fn worked_example() {
        let x = array![[0.0], [1.0], [10.0], [11.0]];
        let c = run(&MiniBatchKMeans::default(), &problem(x, 2));
        assert_eq!(canonical(&c.labels), [0, 0, 1, 1]);
        // Batches are drawn: centres lie near 0.5 and 10.5.
        let centres = c.extras.centers.unwrap();
        assert!((centres[[c.labels[0] as usize, 0]] - 0.5).abs() < 0.3, "{centres}");
    }

    #[test]
    fn centres_are_the_means_of_all_they_were_given() {
        let mut s = SeedPath::new(1).stream("x");
        let mut centres = Centres::new(array![[0.0], [100.0]], Distortion::SquaredEuclidean);
        let (mut given, mut sums) = ([0.0; 2], [0.0; 2]);
        for _ in 0..5 {
            let x = Array2::from_shape_fn((20, 1), |(i, _)| 100.0 * (i % 2) as f64 + s.normal());
            let labels: Vec<u32> = (0..20).map(|i| i % 2).collect();
            for (i, &l) in labels.iter().enumerate() {
                given[l as usize] += 1.0;
                sums[l as usize] += x[[i, 0]];
            }
            let batch = Points::new(&Data::dense(x).unwrap(), Distortion::SquaredEuclidean);
            centres.take(&batch.unwrap(), &labels);
        }
        for h in 0..2 {
            assert!((centres.means[[h, 0]] - sums[h] / given[h]).abs() < 1e-9);
        }
    }

    #[test]
    fn a_file_gives_what_the_same_rows_give_in_memory() {
        let (x, _) = fixtures::groups(500, 4, 1.0, 2);
        let file = npy(&x);
        let path = file.path().to_path_buf();
        let inside = problem(x.clone(), 3);
        let outside = problem(Array2::zeros((1500, 1)), 3);
        for distortion in [Distortion::SquaredEuclidean, Distortion::Cosine] {
            let memory = MiniBatchKMeans {
                distortion: distortion.into(),
                batch_size: 64,
                ..MiniBatchKMeans::default()
            };
            let file = MiniBatchKMeans { rows: Some(path.clone()), ..memory.clone() };
            assert_eq!(run(&memory, &inside), run(&file, &outside));
        }
        let file = MiniBatchKMeans { rows: Some(path), ..MiniBatchKMeans::default() };
        let few = file.cluster(&problem(Array2::zeros((7, 1)), 3), &Context::new(1)).unwrap_err();
        assert_eq!(
            few.to_string(),
            "rows: must be a file with 7 rows, one per object, got 1500 rows"
        );
    }

    #[test]
    fn comes_near_to_kmeans() {
        let (x, _) = fixtures::groups(1000, 5, 1.5, 4);
        let p = problem(x, 3);
        let few = MiniBatchKMeans { batch_size: 100, ..MiniBatchKMeans::default() };
        let all = KMeans::default().cluster(&p, &Context::new(3)).unwrap();
        let (few, all) = (run(&few, &p).objective.unwrap(), all.objective.unwrap());
        assert!(few >= all * (1.0 - 1e-9) && few < 1.05 * all, "{few} {all}");
    }

    #[test]
    fn samples_are_different_objects() {
        for (n, m) in [(10, 10), (10, 1), (1000, 30)] {
            let sample = distinct(n, m, &Context::new(4));
            assert_eq!(sample.len(), m);
            assert!(sample.windows(2).all(|w| w[0] < w[1]) && *sample.last().unwrap() < n);
        }
    }
}
