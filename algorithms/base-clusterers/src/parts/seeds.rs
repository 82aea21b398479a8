//! Shared code of methods that start from objects of known cluster.

use mustlink_core::prelude::*;
use mustlink_kernels::constrained::neighbourhood_seeding::{
    FewerThanK, MoreThanK, Rules, complete,
};
use mustlink_kernels::distance::points::{Distortion, DistortionOption, Points};
use mustlink_kernels::distance::rows_by_label::by_label;
use mustlink_kernels::kmeans::lloyd::{Empty, Stop, ToleranceKind, best_of};
use mustlink_kernels::kmeans::means::means;
use mustlink_kernels::kmeans::seeding::{self, Init, Perturb};
use ndarray::Array2;

/// Start of clusters that have no seed.
#[options]
pub enum Unseeded {
    /// At perturbed global means.
    #[default]
    Perturb,
    /// At the objects farthest from the centres so far.
    FarthestFirst,
    /// Return an error.
    Error,
}

/// The options of k-means that starts from objects whose cluster is known.
#[options]
#[derive(Copy)]
pub struct SeedOptions {
    /// Number of clusters, at most n. If absent, the k of the problem.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Distance from an object to a centre. "auto": cosine for sparse rows, otherwise squared Euclidean.
    pub distortion: AutoOr<Distortion>,
    /// Start of clusters that have no seed.
    pub unseeded: Unseeded,
    /// Formula that perturbs a global mean.
    pub perturb: Perturb,
    /// Strength of the perturbation of a global mean (ρ).
    #[option(default = 0.7, above = 0.0)]
    pub perturb_rho: f64,
    /// Number of starts; the best result is kept. If absent, 1 with seeds and 10 without.
    #[option(min = 1)]
    pub restarts: Option<usize>,
    /// Maximum number of sweeps in one start.
    #[option(default = 100, min = 1)]
    pub max_iterations: usize,
    /// Smallest change of the objective for which another sweep is made.
    #[option(default = 1e-6, min = 0.0)]
    pub tolerance: f64,
    /// Unit of the tolerance: relative to the objective, or absolute.
    pub tolerance_kind: ToleranceKind,
    /// Treatment of a cluster that has no objects.
    #[option(default = Empty::Reseed)]
    pub empty: Empty,
}

/// The known cluster of each object ([`NONE`] = unknown): the labels of a given start, else the
/// neighbourhoods of the constraints, at most the k largest.
///
/// # Errors
/// `BadParam` for a start that is not partial labels of this problem.
pub(crate) fn seeds(problem: &Problem, k: usize) -> Result<Vec<u32>> {
    let n = problem.n();
    if let Some(Start::Labels(given)) = problem.start.as_deref() {
        let legal = |&l: &u32| l == NONE || (l as usize) < k;
        return if given.len() == n && given.iter().all(legal) {
            Ok(given.clone())
        } else {
            let found = format!("{} labels", given.len());
            let legal = format!("{n} labels, each below k = {k}, or {NONE} for unknown");
            Err(Error::bad_param("start", found, legal))
        };
    }
    let closure = problem.closure(OnConflict::Keep)?;
    let mut sets = closure.neighbourhoods();
    if sets.len() > k {
        // A stable sort: ties by smallest object.
        sets.sort_by_key(|set| std::cmp::Reverse(set.len()));
        sets.truncate(k);
    }
    let mut labels = vec![NONE; n];
    for (h, set) in sets.iter().enumerate() {
        set.iter().for_each(|&i| labels[i as usize] = h as u32);
    }
    Ok(labels)
}

impl SeedOptions {
    /// When to stop.
    pub(crate) fn stop(&self) -> Stop {
        Stop::new(self.max_iterations, self.tolerance, self.tolerance_kind)
    }

    /// Properties of a method with these options.
    pub(crate) fn properties(&self) -> Properties {
        Properties {
            accepts: vec![DataKind::Dense, DataKind::Csr],
            needs_k: self.k.is_none(),
            reads_constraints: true,
            object_weights: true,
            gives_centers: true,
            ..Properties::default()
        }
    }

    /// Bytes for the copy of a cosine distortion, for seeds, and for starts that run side by side.
    pub(crate) fn memory(&self, shape: &Shape) -> u64 {
        let copy = self.distortion.copy_bytes(shape);
        let restarts = self.restarts.unwrap_or(10).min(reduce::WAVE);
        let k = self.k.unwrap_or(shape.k);
        (copy + 40 * shape.n + restarts * (8 * shape.n + 24 * k * shape.d)) as u64
    }

    /// The best of the starts: `run` makes one from its centres.
    ///
    /// # Errors
    /// Returns the errors of [`SeedOptions::centres`] and `run`.
    pub(crate) fn best(
        &self,
        points: &Points,
        k: usize,
        seeds: &[u32],
        problem: &Problem,
        ctx: &Context,
        run: impl Fn(Array2<f64>, &Context) -> Result<Clustering> + Sync,
    ) -> Result<Clustering> {
        let given = |kind| problem.constraints.count(kind) > 0;
        let unread = given(Kind::CannotLink) && !given(Kind::MustLink);
        if unread && seeds.iter().all(|&l| l == NONE) {
            ctx.warn(
                "cannot-links start no cluster and nothing is must-linked: they change nothing",
            );
        }
        best_of(self.starts(seeds), |r| {
            let ctx = ctx.index(r);
            run(self.centres(points, k, seeds, problem, &ctx)?, &ctx)
        })
    }

    /// Starts worth trying: 10 without a seed, else 1.
    fn starts(&self, seeds: &[u32]) -> usize {
        let seeded = seeds.iter().any(|&l| l != NONE);
        self.restarts.unwrap_or(if seeded { 1 } else { 10 })
    }

    /// Centres at the means of the seeds; those without by the rule.
    ///
    /// # Errors
    /// `BadParam` where the rule refuses; the errors of [`seeding::start`].
    fn centres(
        &self,
        points: &Points,
        k: usize,
        seeds: &[u32],
        problem: &Problem,
        ctx: &Context,
    ) -> Result<Array2<f64>> {
        ctx.check()?;
        let (offsets, _) = by_label(seeds, k);
        let have: Vec<bool> = offsets.windows(2).map(|w| w[1] > w[0]).collect();
        let missing = have.iter().filter(|&&h| !h).count();
        let fewer = match self.unseeded {
            Unseeded::Error if missing > 0 => {
                let value = format!("\"error\" with {missing} of {k} clusters without a seed");
                let legal = "\"perturb\" or \"farthest_first\" where a cluster has no seed";
                return Err(Error::bad_param("unseeded", value, legal));
            }
            // Without any centre there is nothing to be far from: the start of k-means.
            Unseeded::FarthestFirst if missing == k => {
                return seeding::start(points, k, Init::FarthestFirst, problem, ctx);
            }
            Unseeded::FarthestFirst => FewerThanK::FarthestFirst,
            Unseeded::Perturb | Unseeded::Error => FewerThanK::Perturb,
        };
        let rules =
            Rules { more: MoreThanK::Largest, fewer, perturb: self.perturb, rho: self.perturb_rho };
        let mut centres = means(points, seeds, Array2::zeros((k, points.d()))).0;
        complete(points, &mut centres, &have, rules, ctx)?;
        Ok(centres)
    }
}
