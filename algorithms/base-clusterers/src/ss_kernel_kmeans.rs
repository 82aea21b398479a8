//! Semi-supervised kernel k-means: constraints are part of the kernel.

mod shift;
mod space;
mod starts;

use mustlink_core::clustering::canonical;
use mustlink_core::prelude::*;
use mustlink_kernels::distance::points::{Distortion, DistortionOption, Points};
use mustlink_kernels::kmeans::lloyd::best_in_turn;
use ndarray::Array2;

use shift::{STEPS, least_shift};
use space::{Links, Space};
use starts::Starts;

/// Semi-supervised kernel k-means: constraints raise and lower the entries of a kernel, on which k-means runs.
///
/// # Method
/// S is the kernel, and W holds +w for each must-link and −w for each cannot-link. φ(x) is the image of an object in
/// the space of S. Cluster h has n_h objects, and their images have the mean m_h. The method minimises Σ_h (Σ ‖φ(x) −
/// m_h‖² − (2 / n_h)·(Σ w of must-links inside h − Σ w of cannot-links inside h)). Kernel k-means on K = S + W has this
/// objective.
///
/// The shift σ is added to the diagonal of K. It makes K positive semidefinite on vectors whose entries sum to 0, and
/// kernel k-means uses no other vectors. It changes the objective of k clusters only by a constant, which is left out.
///
/// The first start uses the neighbourhoods of the must-links. It takes the largest neighbourhood, and then again and
/// again the one whose mean is farthest from the means taken before, in the space of S. If there are fewer than k
/// neighbourhoods, it takes single objects in the same way. Later starts draw neighbourhoods and single objects as
/// k-means++ does. All others join the nearest mean; must-linked objects stay together.
///
/// In a sweep, all objects move at the same time, each to the nearest mean. The squared distance of object i to the
/// mean of cluster h is K_ii − (2 / n_h) Σ_j K_ij + (1 / n_h²) Σ_jl K_jl, with j and l in h and with σ on the diagonal.
/// An empty cluster takes the object that lowers the objective most, if there is one. A large σ holds objects where
/// they are. If a sweep would not lower the objective, it is undone, and objects move one by one instead, each to the
/// cluster that lowers the objective most. A start ends if this does not lower it either, so the objective never
/// rises.
/// # Input and output
/// Dense or sparse rows, distances, or affinities (the kernel S itself, with its diagonal); constraints of any weight,
/// which are not closed. One label per object in `0..k`; constraints may be broken. With distances, `kernel` uses
/// them as if they were Euclidean. With affinities, `kernel`, `distortion` and `width` are ignored. Diagnostics:
/// `sigma`; `weight` with constraints; `width` with `rbf`.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `HardNotSupported` for constraints marked hard; `Memory` if n × n numbers do
/// not fit; `NumericalFailure` for a weight or shift above 10^100 times the spread of the kernel.
/// # Cost and randomness
/// O(n²·d) time for the kernel, then O(n·(n + moves)) for each sweep and O(n²) for each of at most 200 steps that find
/// the shift. 8·n² bytes of memory. Random: the starts, but for the first one with must-links, and the first step
/// towards the shift.
/// # References
/// [Kulis2005]; [Kulis2009]; kernel k-means: [DhillonGuanKulis2004]. Every object has the weight 1, as for the
/// vectors of the papers. Differs: later starts; empty clusters are filled; moves one by
/// one; the shift is the smallest that is enough, up to 1 %; `weight` has the scale of the kernel. Not checked
/// against the texts of the papers: the weight n / (k · constraints), and the first start.
#[options]
pub struct SsKernelKMeans {
    /// Number of clusters, at most n. If absent, the k of the problem.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Kernel of rows and distances (S).
    pub kernel: Kernel,
    /// Distance between rows. "auto": cosine for sparse rows, otherwise squared Euclidean.
    pub distortion: AutoOr<Distortion>,
    /// Width of the kernel `rbf`, in the unit of the data. "auto": 2·width² is the median squared distance of two
    /// objects, among at most 500.
    #[option(default = AutoOr::Auto, above = 0.0)]
    pub width: AutoOr<f64>,
    /// Entry of a must-link of weight 1 in the kernel (w). "auto": n / (k · constraints), times half the mean squared
    /// distance of two objects in the space of the kernel.
    #[option(default = AutoOr::Auto, min = 0.0)]
    pub weight: AutoOr<f64>,
    /// Shift of the diagonal of the kernel (σ). "auto": the smallest that makes it positive semidefinite. A larger one
    /// keeps more objects where they are.
    #[option(default = AutoOr::Auto, min = 0.0)]
    pub sigma: AutoOr<f64>,
    /// Number of starts; the best result is kept.
    #[option(default = 10, min = 1)]
    pub restarts: usize,
    /// Maximum number of sweeps in one start, the first of which assigns objects to the start.
    #[option(default = 100, min = 1)]
    pub max_iterations: usize,
}

/// Kernel of two objects at distance d.
#[options]
pub enum Kernel {
    /// −d²/2: k-means in the space of the data, as with inner products.
    Linear,
    /// exp(−d² / (2·width²)), the Gaussian: clusters need not be convex.
    #[default]
    Rbf,
}

/// Objects whose distances show the width of a kernel.
const SAMPLE: usize = 500;
/// Largest constraint weight and shift, in units of the spread of the kernel.
const LARGEST: f64 = 1e100;

#[plugin("ss_kernel_kmeans", cites = ["Kulis2005", "Kulis2009", "DhillonGuanKulis2004"])]
impl BaseClusterer for SsKernelKMeans {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let k = problem.require_k(self.k, "ss_kernel_kmeans")?;
        ctx.check()?;
        let (space, diagnostics) = self.space(problem, k, ctx)?;
        let closure = problem.closure(OnConflict::Keep)?;
        let starts = Starts::new(&closure, &space.kernel);
        let constraints = problem.constraints.pairs();
        // Every sweep uses all threads.
        let mut best = best_in_turn(self.restarts, |r| {
            let ctx = ctx.index(r);
            let labels = starts.labels(k, r == 0, &ctx)?;
            space.sweeps(labels, k, self.max_iterations, constraints, &ctx)
        })?;
        best.labels = canonical(&best.labels);
        let named = diagnostics.into_iter().map(|(name, value)| (name.to_string(), value));
        best.extras.diagnostics = named.collect();
        Ok(best)
    }

    fn properties(&self) -> Properties {
        Properties {
            accepts: vec![DataKind::Dense, DataKind::Csr, DataKind::Distances, DataKind::Affinity],
            needs_k: self.k.is_none(),
            reads_constraints: true,
            soft_weights: true,
            ..Properties::default()
        }
    }

    fn operations(&self, shape: &Shape) -> Option<f64> {
        let n = shape.n as f64;
        let pairwise = shape.d == shape.n && shape.entries == shape.n * shape.n;
        let features = if pairwise { 2.0 } else { shape.entries as f64 / n };
        // About sixty steps towards the shift; in each start the first labels and twenty sweeps.
        let steps = if pairwise || shape.constraints > 0 { 60.0 } else { 0.0 };
        let sweeps = self.restarts as f64 * (2 + self.max_iterations.min(20)) as f64;
        Some(n * n * (0.5 * features + steps + sweeps))
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let n = shape.n as u64;
        let k = n.min(self.k.unwrap_or(shape.k) as u64);
        let (sample, steps) = (n.min(SAMPLE as u64), n.min(STEPS as u64));
        // The distances of a sample; the vectors of the steps and their matrix, which is decomposed.
        let found = 4 * sample * sample + 8 * n * steps + 48 * steps * steps;
        // The sums of a sweep and of the one before.
        let sums = 16 * n * k + 64 * k;
        let copy = self.distortion.copy_bytes(shape) as u64;
        copy + 8 * n * n + found + sums + 180 * n + 200 * shape.constraints as u64
    }
}

impl SsKernelKMeans {
    /// The kernel with the constraints in it and its shift, and numbers to report.
    fn space(
        &self,
        problem: &Problem,
        k: usize,
        ctx: &Context,
    ) -> Result<(Space, Vec<(&'static str, f64)>)> {
        let (mut kernel, width) = self.similarities(&problem.data, ctx)?;
        let spread = spread(&kernel);
        // Squares of the largest values would overflow. Division by a power of two rounds nothing.
        let unit = spread.log2().ceil().exp2();
        kernel /= unit;
        let constraints: Vec<&Constraint> =
            problem.constraints.pairs().iter().filter(|c| c.weight > 0.0).collect();
        let share = problem.n() as f64 / (k * constraints.len().max(1)) as f64;
        let weight = self.weight.value().map_or(spread / unit * share, |weight| weight / unit);
        let sigma = self.sigma.value().map(|sigma| sigma / unit);
        let heaviest = constraints.iter().map(|c| weight * c.weight).fold(0.0, f64::max);
        let largest = heaviest.max(sigma.unwrap_or(0.0));
        if largest > LARGEST {
            let what =
                format!("a constraint weight or the shift is {largest:.0e} times the spread");
            let place = format!("ss_kernel_kmeans: {what} of the kernel; use a smaller one");
            return Err(Error::NumericalFailure { place });
        }
        let entries = constraints.iter().map(|c| {
            let sign = if c.kind == Kind::MustLink { 1.0 } else { -1.0 };
            (c.i, c.j, sign * weight * c.weight)
        });
        let links = Links::new(problem.n(), entries);
        let mut space = Space { kernel, links, sigma: sigma.unwrap_or(0.0), unit };
        // Kernels of rows are positive semidefinite as they are.
        let is_definite = constraints.is_empty() && problem.data.kind().is_rows();
        if sigma.is_none() && !is_definite {
            space.sigma = least_shift(problem.n(), |i, vector| space.times(i, vector), ctx)?;
        }
        let mut diagnostics = vec![("sigma", space.sigma * unit)];
        diagnostics.extend((!constraints.is_empty()).then_some(("weight", weight * unit)));
        diagnostics.extend(width.map(|width| ("width", width)));
        Ok((space, diagnostics))
    }

    /// The kernel without constraints, and the width of the Gaussian.
    fn similarities(&self, data: &Data, ctx: &Context) -> Result<(Array2<f64>, Option<f64>)> {
        let n = data.n();
        let points = data.kind().is_rows().then(|| Points::new(data, self.distortion));
        let points = points.transpose()?;
        let is_kernel = data.kind() == DataKind::Affinity;
        let value = |i: usize, j: usize| match &points {
            // Twice 1 − cos is the squared distance of rows of length 1.
            Some(points) if points.distortion() == Distortion::Cosine => {
                (2.0 * points.between(i, j)).max(0.0)
            }
            Some(points) => points.between(i, j),
            None if is_kernel => data.pair(i, j),
            None => data.pair(i, j).powi(2),
        };
        let mut kernel = Array2::<f64>::zeros((n, n));
        let rows = kernel.as_slice_mut().expect("standard layout").chunks_mut(n);
        let filled = reduce::over(rows, |i, entries| {
            ctx.check()?;
            // An object is at distance 0 from itself.
            let below = if is_kernel { i + 1 } else { i };
            for (j, entry) in entries[..below].iter_mut().enumerate() {
                *entry = value(i, j);
            }
            Ok(())
        });
        filled.into_iter().collect::<Result<()>>()?;
        for i in 0..n {
            for j in 0..i {
                kernel[[j, i]] = kernel[[i, j]];
            }
        }
        let width = (!is_kernel && self.kernel == Kernel::Rbf)
            .then(|| self.width.or_find(|| median_width(&kernel)));
        let entries = kernel.as_slice_mut().expect("standard layout");
        match width {
            _ if is_kernel => {}
            None => entries.iter_mut().for_each(|entry| *entry *= -0.5),
            // The square of a very small or very large width is 0 or infinite.
            Some(width) => reduce::rows(entries, n, |_, row| {
                for entry in row {
                    let length = entry.sqrt() / width;
                    *entry = (-0.5 * length * length).exp();
                }
            }),
        }
        Ok((kernel, width))
    }
}

/// The width with 2·width² the median of the squared distances above 0; 1 if all are 0.
fn median_width(squared: &Array2<f64>) -> f64 {
    let n = squared.nrows();
    let sample: Vec<usize> = (0..n.min(SAMPLE)).map(|at| at * n / n.min(SAMPLE)).collect();
    let pairs = sample.iter().flat_map(|&i| sample.iter().map(move |&j| (i, j)));
    let below = pairs.filter(|(i, j)| j < i).map(|(i, j)| squared[[i, j]]);
    let mut distances: Vec<f64> = below.filter(|&d| d > 0.0).collect();
    if distances.is_empty() {
        return 1.0;
    }
    let middle = distances.len() / 2;
    let (_, median, _) = distances.select_nth_unstable_by(middle, f64::total_cmp);
    (*median / 2.0).sqrt()
}

/// Half the mean squared distance of two objects in the space of the kernel; 1 if that is 0.
fn spread(kernel: &Array2<f64>) -> f64 {
    let n = kernel.nrows();
    let half = |i: usize, j: usize| {
        let mean = 0.5 * kernel[[i, i]] + 0.5 * kernel[[j, j]];
        (mean - kernel[[i, j]]).abs()
    };
    let total = reduce::sum(n, |i| (0..i).map(|j| half(i, j)).sum::<f64>());
    let mean = total / (n * (n - 1) / 2) as f64;
    if mean.is_normal() { mean } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_kernels::agreement::contingency::adjusted_rand;
    use mustlink_laws::fixtures;
    use proptest::prelude::*;

    fn run(method: &SsKernelKMeans, problem: &Problem) -> Clustering {
        method.cluster(problem, &Context::new(5)).unwrap()
    }

    fn linear(weight: f64) -> SsKernelKMeans {
        let weight = AutoOr::Value(weight);
        SsKernelKMeans { kernel: Kernel::Linear, weight, ..SsKernelKMeans::default() }
    }

    fn line(x: &[f64], k: usize, pairs: &[Constraint]) -> Problem {
        let rows = Array2::from_shape_fn((x.len(), 1), |(i, _)| x[i]);
        let constraints = Constraints::new(x.len(), pairs.iter().copied()).unwrap();
        Problem::new(Data::dense(rows).unwrap()).with_k(k).with_constraints(constraints)
    }

    #[test]
    fn worked_example_of_a_must_link() {
        // {0, 2} and {10} cost 1 + 1. {0} and {2, 10} cost 16 + 16, less 2/2 times the weight.
        let must = [Constraint::must(1, 2)];
        let c = run(&linear(10.0), &line(&[0.0, 2.0, 10.0], 2, &must));
        assert_eq!(c.labels, [0, 0, 1]);
        assert!((c.objective.unwrap() - 2.0).abs() < 1e-9);
        let c = run(&linear(40.0), &line(&[0.0, 2.0, 10.0], 2, &must));
        assert_eq!(c.labels, [0, 1, 1]);
        assert!((c.objective.unwrap() + 8.0).abs() < 1e-9);
        // In the basis (−2, 1, 1)/√6 and (0, 1, −1)/√2, K is [[24 + 40/3, −48/√3], [−48/√3, 32 − 40]]. Its smaller
        // eigenvalue is −21.135.
        assert!((c.extras.diagnostics["sigma"] - 21.135).abs() < 0.03);
        assert_eq!(c.extras.diagnostics["weight"], 40.0);
    }

    #[test]
    fn worked_example_of_a_cannot_link() {
        // {0, 1} and {10} cost 1/4 + 1/4 and 2/2 times the weight. {0} and {1, 10} cost 81/2.
        let cannot = [Constraint::cannot(0, 1)];
        for (weight, labels, objective) in [(3.0, [0, 0, 1], 3.5), (50.0, [0, 1, 1], 40.5)] {
            let c = run(&linear(weight), &line(&[0.0, 1.0, 10.0], 2, &cannot));
            assert_eq!(c.labels, labels);
            assert!((c.objective.unwrap() - objective).abs() < 1e-9, "{:?}", c.objective);
        }
    }

    #[test]
    fn automatic_numbers_have_the_scale_of_the_kernel() {
        // Squared distances 1, 9 and 16: the median 9, half the mean 13/3. n / (k · constraints) is 3/2.
        let problem = line(&[0.0, 1.0, 4.0], 2, &[Constraint::must(0, 1)]);
        let auto = SsKernelKMeans { kernel: Kernel::Linear, ..SsKernelKMeans::default() };
        let weight = run(&auto, &problem).extras.diagnostics["weight"];
        assert!((weight - 6.5).abs() < 1e-9, "{weight}");
        let found = run(&SsKernelKMeans::default(), &problem).extras.diagnostics;
        assert!((found["width"] - 4.5f64.sqrt()).abs() < 1e-12);
        let kernel = [1.0, 9.0, 16.0].map(|d: f64| 1.0 - (-d / 9.0).exp());
        assert!((found["weight"] - 1.5 * kernel.iter().sum::<f64>() / 3.0).abs() < 1e-9);
        // A kernel of rows without constraints is shifted by nothing.
        let free = run(&auto, &line(&[0.0, 1.0, 4.0], 2, &[])).extras.diagnostics;
        assert_eq!((free.len(), free["sigma"]), (1, 0.0));
    }

    #[test]
    fn rows_distances_and_affinities_give_the_same() {
        let (rows, classes) = fixtures::dense(3);
        let rows = rows.with_constraints(fixtures::true_constraints(&classes, 30, 3));
        let distances = fixtures::pairwise(&rows, DataKind::Distances);
        // exp(−0.1·d²).
        let affinities = fixtures::pairwise(&rows, DataKind::Affinity);
        let rbf = SsKernelKMeans { width: AutoOr::Value(5f64.sqrt()), ..SsKernelKMeans::default() };
        let cases = [
            (linear(2.0), vec![&distances]),
            (SsKernelKMeans::default(), vec![&distances]),
            (rbf, vec![&distances, &affinities]),
        ];
        for (method, others) in cases {
            let expected = run(&method, &rows);
            for other in others {
                let c = run(&method, other);
                assert_eq!(c.labels, expected.labels, "{method:?}");
                let (a, b) = (c.objective.unwrap(), expected.objective.unwrap());
                assert!((a - b).abs() < 1e-6 * b.abs().max(1.0), "{a} {b}");
            }
        }
    }

    #[test]
    fn constraints_decide_between_two_splits() {
        // Four groups at the corners of a square: both pairs of sides are equally compact.
        let corners = [[0.0, 0.0], [0.0, 9.0], [9.0, 0.0], [9.0, 9.0]];
        let mut s = SeedPath::new(4).stream("case");
        let x = Array2::from_shape_fn((80, 2), |(i, f)| corners[i % 4][f] + 0.3 * s.normal());
        for side in [0, 1] {
            let truth: Vec<u32> = (0..80).map(|i| u32::from(corners[i % 4][side] > 0.0)).collect();
            let problem = Problem::new(Data::dense(x.clone()).unwrap())
                .with_k(2)
                .with_constraints(fixtures::true_constraints(&truth, 60, 1));
            let c = run(&linear(200.0), &problem);
            assert!(adjusted_rand(&truth, &c.labels) > 0.9, "side {side}: {:?}", c.labels);
        }
    }

    #[test]
    fn degenerate_problems_have_an_outcome() {
        let x = [3.0, 1.0, 4.0, 1.0, 5.0];
        for kernel in [Kernel::Linear, Kernel::Rbf] {
            let method = SsKernelKMeans { kernel, ..SsKernelKMeans::default() };
            assert_eq!(run(&method, &line(&x, 1, &[])).labels, [0; 5]);
            let alone = run(&method, &line(&x, 5, &[]));
            assert_eq!((alone.labels, alone.objective), (vec![0, 1, 2, 3, 4], Some(0.0)));
            assert_eq!(run(&method, &line(&x[..1], 1, &[])).labels, [0]);
            let equal = run(&method, &line(&[2.0; 6], 3, &[Constraint::cannot(0, 1)]));
            assert_ne!(equal.labels[0], equal.labels[1]);
            let contradiction =
                [Constraint::must(0, 1), Constraint::must(1, 2), Constraint::cannot(0, 2)];
            assert!(run(&method, &line(&x, 2, &contradiction)).objective.unwrap().is_finite());
            let all: Vec<Constraint> = (1..5).map(|i| Constraint::must(0, i)).collect();
            let one = SsKernelKMeans { weight: AutoOr::Value(1e6), ..method };
            assert_eq!(run(&one, &line(&x, 3, &all)).labels, [0; 5]);
        }
    }

    #[test]
    fn what_is_too_large_is_refused() {
        let (x, _) = fixtures::groups(100, 2, 1.0, 1);
        let problem = Problem::new(Data::dense(x).unwrap()).with_k(3);
        let limited = |bytes| Context::builder(SeedPath::new(1)).memory_limit(Some(bytes)).build();
        let method = SsKernelKMeans::default();
        let run_within =
            |bytes| mustlink_core::run::cluster(&method, &problem, &limited(bytes)).map(drop);
        let refused = run_within(8 * 300 * 300).unwrap_err();
        assert!(matches!(refused, Error::Memory { needed: 720_000.., .. }), "{refused}");
        assert_eq!(run_within(1 << 23), Ok(()));
        let heavy = line(&[0.0, 1.0, 4.0], 2, &[Constraint::must(0, 1).weighing(1e200)]);
        let large_shift = SsKernelKMeans { sigma: AutoOr::Value(1e200), ..linear(1.0) };
        let light = line(&[0.0, 1.0, 4.0], 2, &[]);
        for (method, problem) in [(linear(1.0), &heavy), (large_shift, &light)] {
            let e = method.cluster(problem, &Context::new(1));
            assert!(matches!(e, Err(Error::NumericalFailure { .. })), "{e:?}");
        }
    }

    proptest! {
        /// The objective as it is defined: from distances of pairs, without a matrix of constraints.
        #[test]
        fn the_objective_is_that_of_the_definition(
            seed: u64,
            n in 3usize..16,
            k in 1usize..5,
            count in 0usize..12,
            weight in 0.0f64..20.0,
            is_linear: bool,
        ) {
            let k = k.min(n);
            let mut s = SeedPath::new(seed).stream("case");
            let x = Array2::from_shape_fn((n, 2), |_| 2.0 * s.normal());
            let pairs: Vec<Constraint> = (0..count)
                .filter_map(|_| {
                    let (i, j) = (s.below(n), s.below(n));
                    let kind = if s.unit() < 0.5 { Kind::MustLink } else { Kind::CannotLink };
                    (i != j).then(|| Constraint::new(i, j, kind).weighing(0.1 + s.unit()))
                })
                .collect();
            let data = Data::dense(x).unwrap();
            let constraints = Constraints::new(n, pairs).unwrap();
            let problem = Problem::new(data.clone()).with_k(k).with_constraints(constraints);
            let kernel = if is_linear { Kernel::Linear } else { Kernel::Rbf };
            let width = AutoOr::Value(1.5);
            let c = run(&SsKernelKMeans { kernel, width, ..linear(weight) }, &problem);
            prop_assert!(c.history.windows(2).all(|w| w[1].objective < w[0].objective));
            let squared = |i: usize, j: usize| {
                let d = data.row(i).squared_distance(&data.row(j));
                if is_linear { d } else { 2.0 - 2.0 * (-d / 4.5).exp() }
            };
            let mut slow = 0.0;
            for h in 0..k as u32 {
                let members: Vec<usize> = (0..n).filter(|&i| c.labels[i] == h).collect();
                let size = members.len().max(1) as f64;
                for (at, &i) in members.iter().enumerate() {
                    slow += members[..at].iter().map(|&j| squared(i, j)).sum::<f64>() / size;
                }
                for c in problem.constraints.pairs() {
                    let both = [c.i, c.j].iter().all(|&i| members.contains(&(i as usize)));
                    let sign = if c.kind == Kind::MustLink { -2.0 } else { 2.0 };
                    slow += if both { sign * weight * c.weight / size } else { 0.0 };
                }
            }
            let found = c.objective.unwrap();
            prop_assert!((found - slow).abs() < 1e-9 * (1.0 + slow.abs()), "{found} {slow}");
        }
    }
}
