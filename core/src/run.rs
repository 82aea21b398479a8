//! Runs a clusterer or a consensus function, and checks its result.
//!
//! The framework checks what a plugin declares about itself before the run and what it returns after:
//! labels, hard promises, violations. It counts; the method does not.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use crate::closure::OnConflict;
use crate::clustering::Clustering;
use crate::constraints::{Constraint, Constraints, Strength, Violations};
use crate::context::Context;
use crate::data::weights::gathered;
use crate::data::{Data, DataKind};
use crate::ensemble::Ensemble;
use crate::error::{Error, Result};
use crate::far_origin::FarOrigin;
pub use crate::far_origin::origin_matters;
use crate::features::{Features, Lineage};
use crate::needs::check_needs;
use crate::problem::{Problem, Shape};
use crate::registry::Catalogue;
use crate::role::Role;
use crate::roles::{
    BaseClusterer, ConsensusFunction, ConstraintPropagator, Fitted, Propagated, Properties,
    Transform,
};
use crate::text::count;

/// Bytes of stack of a thread that runs plugins: as many as a thread of Python has, since a plugin may call a library
/// for linear algebra that needs more than the 2 MiB of Rust.
pub const STACK: usize = 8 << 20;

/// A clustering with its violated constraints, empty clusters and running time.
#[derive(Debug, Clone)]
pub struct Run {
    /// The result of the method.
    pub clustering: Clustering,
    /// Violations of the given constraints.
    pub violations: Violations,
    /// Violations of their closure: (must-links, cannot-links).
    pub violations_closed: (u64, u64),
    /// Clusters without an object.
    pub empty_clusters: usize,
    /// Wall time of the method.
    pub seconds: f64,
}

fn kinds(accepts: &[DataKind]) -> String {
    accepts.iter().map(|k| k.name()).collect::<Vec<_>>().join(" or ")
}

/// The largest size of the values that methods take, and the inverse of the smallest: squares of
/// squares of these are numbers.
const LARGEST: f64 = 1e100;

/// Checks that the values of data have a size that methods can compute with.
///
/// # Errors
/// `Magnitude` for data whose largest absolute value is neither 0 nor between 1e−100 and 1e100.
pub fn check_magnitude(data: &Data) -> Result<()> {
    let size = |r: &(f64, f64)| if r.1.abs() >= r.0.abs() { r.1 } else { r.0 };
    let sizes = data.ranges().iter().map(size).enumerate();
    let largest = sizes.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
    let Some((column, value)) = largest else { return Ok(()) };
    if value == 0.0 || (1.0 / LARGEST..=LARGEST).contains(&value.abs()) {
        return Ok(());
    }
    let column = (data.kind() == DataKind::Dense).then_some(column);
    Err(Error::Magnitude { column, value })
}

fn accepted(plugin: &str, accepts: &[DataKind], data: &Data) -> Result<()> {
    if accepts.contains(&data.kind()) {
        return Ok(());
    }
    Err(Error::UnsupportedData {
        plugin: plugin.into(),
        kind: data.kind().name(),
        accepts: kinds(accepts),
    })
}

/// Checks that no object has a weight, because `plugin` counts each once.
///
/// # Errors
/// `UnsupportedWeights`.
pub(crate) fn unweighted(plugin: &str, data: &Data) -> Result<()> {
    if data.weights().is_none() {
        return Ok(());
    }
    let clusterers = Catalogue::get()?.role(Role::BaseClusterer);
    let others = clusterers.filter(|c| c.facts()["object_weights"] == true).map(|c| c.tag);
    Err(Error::UnsupportedWeights { plugin: plugin.into(), others: others.collect() })
}

/// Runs `work`; a panic of the plugin becomes an error, and an error about values says whose they are.
///
/// # Errors
/// `Contract` for a panic; otherwise what `work` returns.
pub fn guarded<T>(plugin: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let done = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = crate::panic::message(&*panic);
        Err(Error::Contract { plugin: plugin.into(), broken: format!("panicked: {text}") })
    });
    done.map_err(|error| match error {
        // The data that it was given is checked where it is read.
        Error::NonFinite { .. } | Error::NotSymmetric { .. } | Error::MalformedCsr { .. } => {
            error.at(&format!("data that {plugin} made"))
        }
        other => other,
    })
}

/// Checks that `clusterer` can run on `problem` within the limits, before anything is allocated.
///
/// # Errors
/// Returns the errors of [`Problem::check`]; `UnsupportedData`, `MissingK`, `BadK`, `TooManyClusters`,
/// `HardNotSupported`, `Memory`.
pub fn admit(clusterer: &dyn BaseClusterer, problem: &Problem, ctx: &Context) -> Result<()> {
    problem.check()?;
    let tag = clusterer.typetag_name();
    let properties = clusterer.properties();
    accepted(tag, &properties.accepts, &problem.data)?;
    if !properties.object_weights {
        unweighted(tag, &problem.data)?;
    }
    check_magnitude(&problem.data)?;
    if properties.needs_k || problem.k.is_some() {
        problem.require_k(None, tag)?;
    }
    if properties.reads_constraints {
        admit_hard(Role::BaseClusterer, tag, &properties, &problem.constraints)?;
    }
    let mut shape = problem.shape();
    if properties.reads_groups {
        let groups = problem.constraints.groups().iter();
        let members: usize = groups.map(|group| group.members.len()).sum();
        shape.constraints = problem.constraints.listed().len() + members;
    }
    within_memory(clusterer.memory(&shape), &problem.data, ctx)
}

/// The problem with its groups as pairs, where the plugin looks at constraints and not at groups.
fn as_read<'a>(
    tag: &str,
    properties: &Properties,
    problem: &'a Problem,
) -> Result<Cow<'a, Problem>> {
    if !properties.reads_constraints || properties.reads_groups {
        return Ok(Cow::Borrowed(problem));
    }
    problem.in_pairs(tag)
}

/// Checks that constraints marked hard will hold: only a method that promises this gets such constraints.
///
/// # Errors
/// `HardNotSupported`, with the first constraint that `plugin` does not promise.
pub(crate) fn admit_hard(
    role: Role,
    plugin: &str,
    properties: &Properties,
    constraints: &Constraints,
) -> Result<()> {
    let unsure = |c: &&Constraint| {
        c.strength == Some(Strength::Hard) && !properties.hard_as_soft && !properties.promise(c)
    };
    // A group is as binding as any of its pairs.
    let grouped = constraints.groups().iter().filter_map(|group| group.pairs().next());
    match constraints.listed().iter().copied().chain(grouped).find(|c| unsure(&c)) {
        Some(c) => Err(Error::HardNotSupported {
            plugin: plugin.into(),
            role,
            kind: c.kind.hyphenated(),
            i: c.i as usize,
            j: c.j as usize,
        }),
        None => Ok(()),
    }
}

/// Checks that the data, a step that needs `beyond` more bytes, and what the run holds fit into the memory limit.
///
/// # Errors
/// `Memory`, with both figures.
pub fn within_memory(beyond: u64, data: &Data, ctx: &Context) -> Result<()> {
    let (limit, held) = ctx.memory_of_run();
    let needed = beyond.saturating_add(data.bytes()).saturating_add(held);
    match limit {
        Some(limit) if needed > limit => Err(Error::Memory { needed, limit }),
        _ => Ok(()),
    }
}

/// Runs a clusterer and checks what it promised.
///
/// # Errors
/// Returns the errors of [`admit`]; the errors of the plugin; `Contract` when it breaks a promise or panics.
pub fn cluster(clusterer: &dyn BaseClusterer, problem: &Problem, ctx: &Context) -> Result<Run> {
    admit(clusterer, problem, ctx)?;
    let tag = clusterer.typetag_name();
    let promises = clusterer.properties();
    let read = as_read(tag, &promises, problem)?;
    let start = Instant::now();
    let clustering = guarded(tag, || around_its_origin(clusterer, &read, ctx))?;
    judge(tag, clustering, &promises, problem, start.elapsed().as_secs_f64())
}

/// Runs a consensus function and checks what it promised.
///
/// # Errors
/// Returns the errors of [`Problem::check`] and [`check_needs`]; `BadParam` for an ensemble of other objects;
/// `HardNotSupported`, `Memory`; the errors of the plugin; `Contract` when it breaks a promise or panics.
pub fn combine(
    consensus: &dyn ConsensusFunction,
    ensemble: &Ensemble,
    problem: &Problem,
    ctx: &Context,
) -> Result<Run> {
    let tag = consensus.typetag_name();
    problem.check()?;
    if ensemble.n() != problem.n() {
        let legal = format!("one of as many objects as the problem has, {}", problem.n());
        return Err(Error::bad_param("ensemble", ensemble.n(), legal));
    }
    check_needs(ensemble, consensus)?;
    let promises = consensus.needs().promises();
    // What looks at no constraint cannot promise one either, wherever it stands.
    admit_hard(Role::ConsensusFunction, tag, &promises, &problem.constraints)?;
    if !promises.reads_constraints && !problem.constraints.is_empty() {
        ctx.warn(format!("{tag} ignores constraints; they are counted, but change nothing"));
    }
    let ctx = &ctx.holding(ensemble.bytes());
    // Members may have more clusters than are wanted.
    let widest = ensemble.members().iter().map(|m| m.k).max().unwrap_or(1);
    let shape = Shape { k: problem.k.unwrap_or(1).max(widest), ..problem.shape() };
    within_memory(consensus.memory(&shape, ensemble.len()), &problem.data, ctx)?;
    let read = as_read(tag, &promises, problem)?;
    let start = Instant::now();
    let clustering = guarded(tag, || consensus.combine(ensemble, &read, ctx))?;
    let run = judge(tag, clustering, &promises, problem, start.elapsed().as_secs_f64())?;
    let found = run.clustering.k - run.clustering.empty_clusters();
    // If every member has k clusters, another number is unexpected from any function.
    let expected = |&k: &usize| consensus.needs().fixed_k || ensemble.has_k(k);
    if let Some(k) = problem.k.filter(expected).filter(|&k| found != k) {
        let found = if found < k { format!("only {found} of them") } else { found.to_string() };
        ctx.warn(format!("k = {k} was requested, but {tag} found {found}"));
    }
    Ok(run)
}

/// Runs a propagator: what it makes of `constraints`, given `clustering` where it needs one.
///
/// # Errors
/// `UnsupportedData` for a kind that it does not declare; the errors of the plugin; `Contract` for a panic.
pub fn propagate(
    propagator: &dyn ConstraintPropagator,
    constraints: &Constraints,
    clustering: Option<&Clustering>,
    problem: &Problem,
    ctx: &Context,
) -> Result<Propagated> {
    let tag = propagator.typetag_name();
    accepted(tag, &propagator.properties().accepts, &problem.data)?;
    if constraints.groups().is_empty() {
        return guarded(tag, || propagator.propagate(constraints, clustering, problem, ctx));
    }
    let constraints = constraints.in_pairs(tag)?;
    guarded(tag, || propagator.propagate(&constraints, clustering, problem, ctx))
}

/// Result of the clusterer on the problem, around the user's origin.
fn around_its_origin(
    clusterer: &dyn BaseClusterer,
    problem: &Problem,
    ctx: &Context,
) -> Result<Clustering> {
    match FarOrigin::of(&problem.data, clusterer) {
        Some(origin) => {
            // The moved data are a copy.
            let copy = 8 * (problem.n() * problem.data.d()) as u64;
            within_memory(clusterer.memory(&problem.shape()) + copy, &problem.data, ctx)?;
            Ok(origin.shown(clusterer.cluster(&origin.problem(problem)?, ctx)?))
        }
        None => clusterer.cluster(problem, ctx),
    }
}

fn judge(
    tag: &str,
    clustering: Clustering,
    properties: &Properties,
    problem: &Problem,
    seconds: f64,
) -> Result<Run> {
    let run = check_and_count(tag, clustering, problem, seconds)?;
    if properties.hard_must || properties.hard_cannot || properties.hard_if_marked {
        let labels = &run.clustering.labels;
        let given = &problem.constraints;
        // Pairs of a group are looked at where one is broken.
        let grouped = given.groups().iter().filter(|group| group.violated(labels) > 0);
        let mut pairs = given.listed().iter().copied().chain(grouped.flat_map(|g| g.pairs()));
        let broken = pairs.find(|c| properties.promise(c) && c.is_violated(labels));
        if let Some(c) = broken {
            return Err(Error::Contract {
                plugin: tag.into(),
                broken: format!(
                    "it promises {} {} and violates ({}, {})",
                    if properties.hard(c.kind) { "every" } else { "a hard" },
                    c.kind.hyphenated(),
                    c.i,
                    c.j
                ),
            });
        }
    }
    Ok(run)
}

/// Checks the shape of a clustering and counts what it violates.
///
/// # Errors
/// `Contract` for a wrong number of labels or a label out of range.
pub fn check_and_count(
    tag: &str,
    clustering: Clustering,
    problem: &Problem,
    seconds: f64,
) -> Result<Run> {
    let broken = |what: String| Error::Contract { plugin: tag.into(), broken: what };
    let n = problem.n();
    if clustering.labels.len() != n {
        return Err(broken(format!("{} labels for {n} objects", clustering.labels.len())));
    }
    if let Some(at) = clustering.labels.iter().position(|&l| l as usize >= clustering.k) {
        let (label, k) = (clustering.labels[at], clustering.k);
        return Err(broken(format!("label {label} of object {at} is not below k = {k}")));
    }
    if clustering.objective.is_some_and(f64::is_nan) {
        return Err(broken("the objective is NaN".into()));
    }
    not_infinite(tag, &clustering)?;
    let n_of_marks = clustering.extras.noise.len();
    if n_of_marks > 0 && n_of_marks != n {
        return Err(broken(format!("{n_of_marks} marks of noise for {n} objects")));
    }
    if let Some(wrong) = clustering.extras.misshapen(n, clustering.k) {
        return Err(broken(wrong));
    }
    let apart = clustering.apart();
    let violations = problem.constraints.violations(&apart);
    let violations_closed = if problem.constraints.is_empty() {
        (0, 0)
    } else {
        let closure = problem.closure(OnConflict::Keep)?;
        closure.violation_counts(&apart)
    };
    drop(apart);
    let empty_clusters = clustering.empty_clusters();
    Ok(Run { clustering, violations, violations_closed, empty_clusters, seconds })
}

/// Fitted transforms in the order in which they were applied, each with the transform it is of.
#[derive(Clone, Default)]
pub struct Steps(pub Vec<(Box<dyn Transform>, Arc<dyn Fitted>)>);

impl std::fmt::Debug for Steps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(t, _)| t.typetag_name())).finish()
    }
}

/// Rejects labels that were compared by infinite numbers.
fn not_infinite(tag: &str, clustering: &Clustering) -> Result<()> {
    let overflow = |what: &str, value: f64| {
        let place = format!(
            "{tag}: {what} is {value}; options or weights of this size exceed the range of numbers; make them smaller"
        );
        Err(Error::NumericalFailure { place })
    };
    if let Some(objective) = clustering.objective.filter(|o| !o.is_finite()) {
        return overflow("the objective", objective);
    }
    let mut centres = clustering.extras.centers.iter().flatten();
    centres.find(|x| !x.is_finite()).map_or(Ok(()), |&x| overflow("a value of a centre", x))
}

/// A problem after transforms.
#[derive(Debug, Clone)]
pub struct Transformed {
    /// The problem after all of them.
    pub problem: Problem,
    /// The new row of each old one (`None` = dropped), where rows were dropped or merged.
    pub rows: Option<Vec<Option<u32>>>,
    /// Origin of its features.
    pub lineage: Lineage,
    /// The transforms as they were fitted.
    pub steps: Steps,
}

impl Transformed {
    /// A problem that nothing was done to.
    pub fn unchanged(problem: Problem) -> Self {
        let (lineage, steps) = Default::default();
        Transformed { problem, rows: None, lineage, steps }
    }
}

/// Fits `transforms` one after the other.
///
/// # Errors
/// Returns the errors of a transform, with its place; features by their numbers in `problem`. Constraints that merged
/// rows contradict.
pub fn transform(
    transforms: &[Box<dyn Transform>],
    problem: &Problem,
    ctx: &Context,
) -> Result<Transformed> {
    transform_from(0, transforms, problem, ctx)
}

/// As [`transform`], for steps of which the first is number `first` of a longer list: places and
/// seeds are those of the whole list.
///
/// # Errors
/// Returns the errors of [`transform`].
pub fn transform_from(
    first: usize,
    transforms: &[Box<dyn Transform>],
    problem: &Problem,
    ctx: &Context,
) -> Result<Transformed> {
    let mut made = Transformed::unchanged(problem.clone());
    for (at, t) in transforms.iter().enumerate() {
        let at = first + at;
        let place = format!("transforms[{at}]");
        let ctx = ctx.child("transforms").index(at).beside(&problem.data, &made.problem.data);
        let next = apply(&**t, &made.problem, &ctx)
            .map_err(|e| made.lineage.features.error_before(e).at(&place))?;
        let rows = match (made.rows, next.rows) {
            (Some(old), Some(rows)) => {
                Some(old.iter().map(|r| r.and_then(|r| rows[r as usize])).collect())
            }
            (old, rows) => rows.or(old),
        };
        let lineage = made.lineage.then(&next.lineage);
        let mut steps = made.steps;
        steps.0.extend(next.steps.0);
        made = Transformed { problem: next.problem, rows, lineage, steps };
    }
    Ok(made)
}

fn apply(t: &(dyn Transform + 'static), problem: &Problem, ctx: &Context) -> Result<Transformed> {
    let tag = t.typetag_name();
    let broken = |broken: String| Error::Contract { plugin: tag.into(), broken };
    let properties = t.properties();
    accepted(tag, &properties.accepts, &problem.data)?;
    if !properties.any_magnitude {
        check_magnitude(&problem.data)?;
    }
    let read =
        if properties.reads_constraints { problem.in_pairs(tag)? } else { Cow::Borrowed(problem) };
    within_memory(t.memory(&read.shape()), &problem.data, ctx)?;
    let fitted: Box<dyn Fitted> = guarded(tag, || t.fit(&read, ctx))?;
    let data = guarded(tag, || fitted.apply(&problem.data))?;
    let (before, after) = (problem.data.d(), data.d());
    let features = fitted.features();
    let right = match &features {
        Features::Same => after == before,
        Features::Chosen(of) => of.len() == after && of.iter().all(|&s| s < before),
        Features::Parts(of) => of.len() == after && of.iter().all(|(s, _)| *s < before),
        Features::New => true,
    };
    if !right {
        return Err(broken(format!(
            "it made {after} features of {before} and declares that they are {features:?}"
        )));
    }
    let metric = fitted.weights().map(|weights| (Features::Same, weights));
    let rows = fitted.row_map().map(<[_]>::to_vec);
    let mut next = Problem { data, ..problem.clone() };
    if let Some(map) = &rows {
        let n = next.data.n();
        if map.len() != problem.n() || map.iter().flatten().any(|&r| r as usize >= n) {
            let n_before = problem.n();
            return Err(broken(format!("its row map does not lead from {n_before} rows to {n}")));
        }
        let (constraints, dropped) = problem.constraints.renumbered(n, map)?;
        if dropped > 0 {
            let dropped = count(dropped, "constraint");
            ctx.warn(format!("{dropped} lost an object that was dropped"));
        }
        next.constraints = Arc::new(constraints);
        next.eligible = problem.eligible.as_ref().map(|old| {
            let mut eligible = vec![false; n];
            map.iter().zip(old.iter()).for_each(|(to, &e)| {
                if let Some(to) = to {
                    eligible[*to as usize] |= e;
                }
            });
            eligible.into()
        });
        if let Some(weights) = problem.data.weights() {
            next.data = next.data.with_weights(gathered(weights, map, n))?;
        }
        next.start = None;
    } else if next.data.n() != problem.n() {
        return Err(broken("rows changed without a row map".into()));
    } else {
        next.data = next.data.weighted_as(&problem.data);
    }
    let steps = Steps(vec![(dyn_clone::clone_box(t), fitted.into())]);
    Ok(Transformed { problem: next, rows, lineage: Lineage { features, metric }, steps })
}
