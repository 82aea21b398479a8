//! Shared code of methods that penalise violated constraints.
//!
//! [`SoftOptions`] are their options; [`PenalisedKMeans`] is what those make of one problem: closed
//! constraints, neighbourhoods, starts, weights. The loop from one start is that of a method.
//!
//! Sources: [Basu2004] §3–4; [Greene2007] Eq. 1.

use std::sync::Arc;

use mustlink_core::kind::{self, Described};
use ndarray::{Array2, ArrayView1, Axis};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use mustlink_core::closure::{Closure, OnConflict};
use mustlink_core::clustering::{Clustering, NONE};
use mustlink_core::constraints::{Constraint, Constraints, Group, Kind, Strength};
use mustlink_core::prelude::{__mustlink, options};
use mustlink_core::{AutoOr, Context, Error, Problem, Result, Start};

use crate::constrained::constraint_groups::{ConstraintGroups, Entail, LISTED, pairs_fit};
use crate::constrained::icm::Order;
use crate::constrained::neighbourhood_seeding::{
    FewerThanK, MoreThanK, Rules, neighbourhood_start,
};
use crate::distance::points::{Points, row, row_norms};
use crate::kmeans::lloyd::{Empty, Stop, ToleranceKind, best_of, lloyd, total_distortion};
use crate::kmeans::seeding::{self, GlobalMoments, Init, Perturb};

/// Method of choosing the first centres, for methods that may start from constraints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Described)]
#[serde(rename_all = "snake_case")]
pub enum ConstrainedInit {
    /// From the neighbourhoods of the constraints.
    #[default]
    Neighbourhood,
    /// As in k-means.
    #[serde(untagged)]
    Plain(Init),
}

/// Method of choosing the first centres, for methods that penalise broken constraints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Described)]
#[serde(rename_all = "snake_case")]
pub enum SoftInit {
    /// From the neighbourhoods of the constraints.
    Neighbourhood,
    /// From one object of each neighbourhood: the one with most must-links, because this is the object that questions
    /// compared with the others. Ties go to the lower index.
    Representatives,
    /// By penalised k-means on the constrained objects alone. There constraints decide which of many starts is best;
    /// they cannot do so when most objects are free.
    ConstrainedObjects,
    /// As in k-means.
    #[serde(untagged)]
    Plain(Init),
}

/// Options shared by all methods that penalise broken constraints.
#[options]
#[derive(Copy)]
pub struct PenaltyOptions {
    /// Weight of constraints marked hard. If absent, they are rejected.
    #[option(min = 0.0)]
    pub hard_as_soft: Option<f64>,
    /// Method of choosing the first centres when no neighbourhood is known.
    pub init_without_constraints: Init,
    /// Selection of the neighbourhoods that start clusters when there are more than k (λ > k).
    #[option(alias = "lambda_gt_k")]
    pub when_more_neighbourhoods: MoreThanK,
    /// Start of the other clusters when there are fewer than k neighbourhoods (λ < k).
    #[option(alias = "lambda_lt_k")]
    pub when_fewer_neighbourhoods: FewerThanK,
    /// Order in which objects are visited.
    pub order: Order,
    /// Treatment of cannot-links inside must-link components.
    #[option(default = OnConflict::Keep)]
    pub on_conflict: OnConflict,
    /// Number of starts; the best result is kept. If absent, 10 for random starts and otherwise 1.
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
}

impl PenaltyOptions {
    /// When to stop.
    pub fn stop(&self) -> Stop {
        Stop::new(self.max_iterations, self.tolerance, self.tolerance_kind)
    }

    /// The rules of a start from neighbourhoods.
    fn rules(&self, soft: SoftRules) -> Rules {
        Rules {
            more: self.when_more_neighbourhoods,
            fewer: self.when_fewer_neighbourhoods,
            perturb: soft.perturb,
            rho: soft.perturb_rho,
        }
    }
}

/// Options for the cost of weighted constraints and the start of clusters.
#[options]
#[derive(Copy)]
pub struct SoftRules {
    /// Extension of the constraints before costs are computed.
    pub entail: Entail,
    /// Method of choosing the first centres. If absent, `neighbourhood`, or `constrained_objects` with
    /// `weight = "auto"`.
    pub init: Option<SoftInit>,
    /// Formula that perturbs a global mean.
    pub perturb: Perturb,
    /// Strength of the perturbation of a global mean (ρ).
    #[option(default = 0.7, above = 0.0)]
    pub perturb_rho: f64,
    /// Treatment of a cluster that has no objects.
    #[option(default = Empty::Keep)]
    pub empty: Empty,
}

/// The options that methods derive from their own.
#[derive(Debug, Clone, Copy)]
pub struct SoftOptions {
    /// Cost of a broken must-link of weight 1.
    pub weight: AutoOr<f64>,
    /// Cost of a broken cannot-link of weight 1; absent: as `weight`.
    pub weight_cannot: Option<AutoOr<f64>>,
    /// Options for the cost of constraints and the start of clusters.
    pub rules: SoftRules,
    /// The rest.
    pub shared: PenaltyOptions,
}

/// Penalised k-means from one start: centres, and labels where they are known. Distortions count so many
/// times.
pub type Descent = fn(
    &PenalisedKMeans,
    &Points,
    &Arc<ConstraintGroups>,
    f64,
    (Array2<f64>, Vec<u32>),
    &Context,
) -> Result<Clustering>;

/// The options of a method on one problem.
pub struct PenalisedKMeans {
    /// The options.
    pub options: SoftOptions,
    /// The constraints, closed; those marked hard have the weight the user gave them.
    pub closure: Arc<Closure>,
    neighbourhoods: Vec<Vec<u32>>,
    /// The source of starts, after the choice that the constraints leave.
    init: SoftInit,
    /// The search for a start on the constrained objects alone.
    descend: Descent,
}

/// The object with most must-links in each of `sets`, ties to the lowest.
fn representatives(closure: &Closure, sets: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let mut links = vec![0usize; closure.n()];
    for c in closure.constraints().listed().iter().filter(|c| c.kind == Kind::MustLink) {
        links[c.i as usize] += 1;
        links[c.j as usize] += 1;
    }
    let more =
        |best: u32, &i: &u32| if links[i as usize] > links[best as usize] { i } else { best };
    sets.iter().map(|set| vec![set.iter().fold(set[0], more)]).collect()
}

/// Starts of penalised k-means on this many constrained objects alone: the fewer there are, the less
/// a start costs; with half a million, one costs as much as all else.
pub(super) fn starts(objects: usize) -> usize {
    match objects {
        ..=50_000 => (50_000 / objects).clamp(10, 50),
        _ => (500_000 / objects).max(1),
    }
}

/// Constrained objects for each cluster from which on they alone show where clusters lie.
const MIN_CONSTRAINED_PER_CLUSTER: usize = 5;

/// The labels of a clustering that is the start, where they are of these objects and clusters.
///
/// # Errors
/// `BadParam`.
fn carried(labels: &[u32], n: usize, k: usize) -> Result<&[u32]> {
    if labels.len() != n {
        let legal = format!("a clustering of these {n} objects");
        return Err(Error::bad_param("start", format!("{} labels", labels.len()), legal));
    }
    match labels.iter().find(|&&l| l != NONE && l as usize >= k) {
        None => Ok(labels),
        Some(l) => {
            let legal = format!("a clustering with labels below k = {k}, or {NONE} for unknown");
            Err(Error::bad_param("start", format!("the label {l}"), legal))
        }
    }
}

impl PenalisedKMeans {
    /// Checks the options and closes the constraints.
    ///
    /// # Errors
    /// `InconsistentConstraints`; `Memory` where pairs that must be listed do not fit.
    pub fn new(
        options: SoftOptions,
        problem: &Problem,
        descend: Descent,
        ctx: &Context,
    ) -> Result<Self> {
        let closure =
            match softened(&problem.constraints, problem.n(), options.shared.hard_as_soft)? {
                None => problem.closure(options.shared.on_conflict)?,
                Some(soft) => {
                    Arc::new(Closure::new(&soft, problem.n(), options.shared.on_conflict)?)
                }
            };
        if ConstraintGroups::lists_pairs(&closure, options.rules.entail) {
            pairs_fit(&closure, LISTED, &problem.data, ctx)?;
        }
        let mut neighbourhoods = closure.neighbourhoods();
        let init = match (options.rules.init, options.weight) {
            (Some(init), _) => init,
            (None, AutoOr::Auto) => SoftInit::ConstrainedObjects,
            (None, AutoOr::Value(_)) => SoftInit::Neighbourhood,
        };
        let given = closure.constraints();
        let any = !given.listed().is_empty() || !given.groups().is_empty();
        let init = match init {
            SoftInit::ConstrainedObjects if any => init,
            SoftInit::Plain(_) => init,
            _ if neighbourhoods.is_empty() => {
                SoftInit::Plain(options.shared.init_without_constraints)
            }
            SoftInit::Representatives => {
                neighbourhoods = representatives(&closure, &neighbourhoods);
                SoftInit::Neighbourhood
            }
            _ => SoftInit::Neighbourhood,
        };
        Ok(PenalisedKMeans { options, closure, neighbourhoods, init, descend })
    }

    /// The pairs that cost something; `auto` finds the weights of both kinds, where the user leaves
    /// them to the data.
    ///
    /// # Errors
    /// `ClosureTooLarge`; `NumericalFailure` if all constraints together cost more than the range of numbers; the
    /// errors of `auto`.
    pub fn links(
        &self,
        k: usize,
        auto: impl Fn() -> Result<(f64, f64)>,
    ) -> Result<Arc<ConstraintGroups>> {
        let must = self.options.weight.value();
        let cannot = self.options.weight_cannot.map_or(must, AutoOr::value);
        let (must, cannot) = match (must, cannot) {
            (Some(must), Some(cannot)) => (must, cannot),
            _ => {
                let found = auto()?;
                (must.unwrap_or(found.0), cannot.unwrap_or(found.1))
            }
        };
        let given = self.closure.constraints();
        let listed: f64 = given.listed().iter().map(|c| c.weight).sum();
        let grouped: f64 = given.groups().iter().map(|g| g.weight * g.pair_count() as f64).sum();
        // One constraint entails others about each object.
        let cost = must.max(cannot) * (listed + grouped) * self.closure.n() as f64;
        if !cost.is_finite() {
            let place = "the cost of all constraints: options or weights of this size exceed the range of numbers; \
                         make them smaller";
            return Err(Error::NumericalFailure { place: place.into() });
        }
        let entail = self.options.rules.entail;
        Ok(Arc::new(ConstraintGroups::new(&self.closure, must, cannot, entail, k)?))
    }

    /// Centres and first labels ([`NONE`] outside the neighbourhoods that start clusters).
    ///
    /// # Errors
    /// Returns the errors of [`seeding::start`].
    pub fn start(
        &self,
        points: &Points,
        k: usize,
        problem: &Problem,
        ctx: &Context,
    ) -> Result<(Array2<f64>, Vec<u32>)> {
        let SoftRules { perturb, perturb_rho: rho, .. } = self.options.rules;
        let labels = || vec![NONE; points.n()];
        match self.init {
            SoftInit::Plain(Init::Perturb) => {
                ctx.check()?;
                let mut stream = ctx.stream("start");
                let spread = GlobalMoments::of(points);
                let mut centres = Array2::zeros((k, points.d()));
                for h in 0..k {
                    let centre = spread.perturbed(points, perturb, rho, &mut stream);
                    centres.row_mut(h).assign(&ArrayView1::from(&centre));
                }
                Ok((centres, labels()))
            }
            SoftInit::Plain(init) => {
                let centres = self.plain_start(points, k, init, problem, ctx)?;
                let known = match (init, problem.start.as_deref()) {
                    (Init::Given, Some(Start::Clustering(c))) => {
                        carried(&c.labels, points.n(), k)?.to_vec()
                    }
                    _ => labels(),
                };
                Ok((centres, known))
            }
            SoftInit::ConstrainedObjects => {
                if let Some(start) = self.constrained_first(points, k, problem, ctx)? {
                    return Ok(start);
                }
                if self.neighbourhoods.is_empty() {
                    let init = self.options.shared.init_without_constraints;
                    return Ok((self.plain_start(points, k, init, problem, ctx)?, labels()));
                }
                self.neighbourhood_start(points, k, ctx)
            }
            SoftInit::Neighbourhood | SoftInit::Representatives => {
                self.neighbourhood_start(points, k, ctx)
            }
        }
    }

    /// The first centres of k-means; an error names the option that they come from.
    fn plain_start(
        &self,
        points: &Points,
        k: usize,
        init: Init,
        problem: &Problem,
        ctx: &Context,
    ) -> Result<Array2<f64>> {
        let own = matches!(self.options.rules.init, Some(SoftInit::Plain(_)));
        seeding::start(points, k, init, problem, ctx).map_err(|e| match e {
            Error::BadParam { name, value, legal } if name == "init" && !own => {
                Error::BadParam { name: "init_without_constraints".into(), value, legal }
            }
            e => e,
        })
    }

    fn neighbourhood_start(
        &self,
        points: &Points,
        k: usize,
        ctx: &Context,
    ) -> Result<(Array2<f64>, Vec<u32>)> {
        let sets = &self.neighbourhoods;
        let rules = self.options.shared.rules(self.options.rules);
        neighbourhood_start(points, k, &self.closure, sets, rules, ctx)
    }

    /// Centres, and labels of the constrained objects, of the best of many runs on these objects alone,
    /// from random starts; `None` if they are too few to show where k clusters lie. Without the labels,
    /// whichever member of a must-link group is visited first would decide for its whole group.
    fn constrained_first(
        &self,
        points: &Points,
        k: usize,
        problem: &Problem,
        ctx: &Context,
    ) -> Result<Option<(Array2<f64>, Vec<u32>)>> {
        let given = self.closure.constraints();
        let rows = given.objects();
        if rows.len() < MIN_CONSTRAINED_PER_CLUSTER * k {
            return Ok(None);
        }
        let part = Problem::new(problem.data.subset(&rows))
            .with_constraints(given.subset(&rows, problem.n()));
        let options = SoftOptions {
            weight: AutoOr::Auto,
            weight_cannot: None,
            rules: SoftRules {
                init: Some(SoftInit::Plain(Init::KmeansPlusPlus)),
                empty: Empty::Keep,
                ..self.options.rules
            },
            shared: PenaltyOptions {
                on_conflict: OnConflict::Keep,
                restarts: Some(starts(rows.len())),
                ..self.options.shared
            },
        };
        let ctx = ctx.child("constrained");
        let soft = PenalisedKMeans::new(options, &part, self.descend, &ctx)?;
        let of_part = Points::new(&part.data, points.distortion())?;
        let weight = auto_weight(&of_part, k, &ctx)?;
        let links = soft.links(k, || Ok((weight, weight)))?;
        let start = |ctx: &Context| soft.start(&of_part, k, &part, ctx);
        let descend =
            |ctx: &Context| (soft.descend)(&soft, &of_part, &links, 1.0, start(ctx)?, ctx);
        let best = soft.best(descend, &ctx)?;
        let mut labels = vec![NONE; points.n()];
        rows.iter().zip(&best.labels).for_each(|(&i, &label)| labels[i] = label);
        Ok(best.extras.centers.map(|centres| (centres, labels)))
    }

    /// Runs `run` from every start and keeps the best, with warnings and diagnostics about the
    /// constraints.
    ///
    /// # Errors
    /// Returns the errors of `run`.
    pub fn best(
        &self,
        run: impl Fn(&Context) -> Result<Clustering> + Send + Sync,
        ctx: &Context,
    ) -> Result<Clustering> {
        let random = matches!(self.init, SoftInit::Plain(init) if init.is_random());
        let restarts = self.options.shared.restarts.unwrap_or(if random { 10 } else { 1 });
        let mut best = best_of(restarts, |r| run(&ctx.index(r)))?;
        let diagnostics = &mut best.extras.diagnostics;
        diagnostics.insert("neighbourhoods".into(), self.neighbourhoods.len() as f64);
        let placed = self.closure.neighbourhoods().iter().map(Vec::len).sum::<usize>();
        diagnostics.insert("objects_in_neighbourhoods".into(), placed as f64);
        diagnostics.insert("conflicts".into(), self.closure.conflicts().len() as f64);
        Ok(best)
    }
}

/// The penalty that fits the scale of the data: between what an object pays in clusters found without
/// constraints, where a broken pair would cost too little to move anything that lies well, and what it
/// pays around the common centre, where constraints would outweigh the data; the geometric mean of
/// both.
///
/// # Errors
/// Cancellation.
pub fn fitted_weight(points: &Points, k: usize, ctx: &Context) -> Result<f64> {
    let inside = auto_weight(points, k, ctx)?;
    let all: Vec<u32> = (0..points.n() as u32).collect();
    // Directions that cancel out have no common centre.
    let Some(centre) = points.mean(&all) else { return Ok(inside) };
    let centre = ArrayView1::from(&centre).insert_axis(Axis(0)).to_owned();
    let all = total_distortion(points, &vec![0; points.n()], &centre);
    let around = all / points.total_weight();
    let around = around.max(0.0);
    let product = inside * around;
    // Of the largest and the smallest values that methods take, it is none.
    if product.is_normal() { Ok(product.sqrt()) } else { Ok(inside.sqrt() * around.sqrt()) }
}

/// The average cost of an object that no constraint binds: the mean distortion that
/// k-means reaches. A broken constraint of this weight costs as much.
///
/// # Errors
/// Cancellation.
pub fn auto_weight(points: &Points, k: usize, ctx: &Context) -> Result<f64> {
    let ctx = ctx.child("auto");
    let chosen = seeding::plus_plus(points, k, None, &mut ctx.stream("start"), &ctx)?;
    let centres = seeding::rows_as_centres(points, &chosen);
    // The scale is known long before the last object stops moving.
    let stop = Stop { max_iterations: 10, tolerance: 1e-3, kind: ToleranceKind::Relative };
    let free = lloyd(points, centres, stop, Empty::Keep, &ctx)?;
    // 1 − cos of an object in its own direction may be a rounding error below 0.
    Ok((free.objective.unwrap_or(0.0) / points.total_weight()).max(0.0))
}

/// Weight of an object of weight 0 when clusters are compared: negligible compared with any other, but positive, so
/// that the object goes to the nearest cluster if it has a choice.
const WEIGHTLESS: f64 = 1e-150;

/// `scale` times the distortion of each of `objects` to each centre, row by row, in parallel.
pub fn distances(points: &Points, centres: &Array2<f64>, objects: &[u32], scale: f64) -> Vec<f64> {
    let k = centres.nrows();
    let norms = row_norms(centres);
    let mut out = vec![0.0; objects.len() * k];
    out.par_chunks_mut(k).zip(objects).for_each(|(to, &i)| {
        let scale = scale * points.weight(i as usize).max(WEIGHTLESS);
        for (h, d) in to.iter_mut().enumerate() {
            *d = scale * points.distance(i as usize, row(centres, h), norms[h]);
        }
    });
    out
}

/// Hard constraints as soft ones of the weight the user set; `None` where nothing changes. Without a weight
/// the framework lets no hard constraint through.
fn softened(given: &Constraints, n: usize, weight: Option<f64>) -> Result<Option<Constraints>> {
    let hard = Some(Strength::Hard);
    let Some(weight) = weight.filter(|_| given.any_hard()) else {
        return Ok(None);
    };
    let soft = |c: &Constraint| if c.strength == hard { c.weighing(weight) } else { *c };
    let groups = given.groups().iter().map(|group| match group.strength {
        Some(Strength::Hard) => Group { weight, ..group.clone() },
        _ => group.clone(),
    });
    let soft = Constraints::new(n, given.listed().iter().map(soft))?.with_groups(n, groups)?;
    Ok(Some(soft.with_neighbourhoods(given.neighbourhoods().to_vec())))
}
