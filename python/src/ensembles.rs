//! Many partitions: made, combined, and what they decide by themselves.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use mustlink::clustering::NONE;
use mustlink::config::{self, Node};
use mustlink::constraints::{Constraints, Kind};
use mustlink::datasets::Dataset;
use mustlink::ensemble::{Ensemble, Member};
use mustlink::kind::{self, Described};
use mustlink::ndarray::Array2;
use mustlink::needs::check_needs;
use mustlink::prelude::{ConsensusFunction, Data, EnsembleGenerator};
use mustlink::run::combine;
use mustlink::{Context, Error, Problem, Result};
use mustlink_experiments::notices;
use mustlink_experiments::partition_support::supported_k;
use mustlink_kernels::agreement::members::warn_of_contradiction;
use mustlink_kernels::ensemble::co_association::{self, CoAssociation, Representation};
use mustlink_kernels::ensemble::consensus_matrix::ItemConsensus;
use mustlink_kernels::ensemble::imputation::{
    MAX_CANDIDATES, Thresholds, imputed_constraints, neighbourhoods,
};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::json;

use crate::cluster::{Ended, Found, known, request};
use crate::data::{Matrix, Pairs, constraints, kind, table};
use crate::errors::{raised, read};
use crate::interrupt::{detached, interruptible};
use crate::job::{Job, Request};

/// Position of a consensus function in the configuration.
#[derive(Deserialize, Described)]
#[serde(deny_unknown_fields)]
struct Combining {
    /// Consensus function that combines the partitions.
    consensus: Box<dyn ConsensusFunction>,
}

/// The ensemble of a request, and the job in which it was made.
fn ensemble(
    request: &Request,
    data: Data,
    given: Constraints,
    flag: &Arc<AtomicBool>,
) -> Result<(Job, Arc<Ensemble>)> {
    let mut method = request.method.clone();
    let generator = method.as_object_mut().and_then(|map| map.remove("generator"));
    let generator = Node::synthetic(&generator.unwrap_or_default());
    let generator: Box<dyn EnsembleGenerator> = config::build(&generator, "generator")?;
    // Nothing is clustered by it: its steps matter, and that it reads constraints where the members do.
    if method.get("clusterer").is_none() {
        let reads = generator.properties().reads_constraints;
        method["clusterer"] = json!({ "type": if reads { "pck_means" } else { "kmeans" } });
    }
    let request = Request {
        method,
        kind: request.kind.clone(),
        features: request.features.clone(),
        ids: request.ids.clone(),
        quiet_unread: true,
        ledger: None,
        ..*request
    };
    let known = crate::job::Known { constraints: given, ..Default::default() };
    let job = Job::new(&request, data, known, flag)?;
    let ensemble = job.ensemble(&*generator)?;
    Ok((job, ensemble))
}

/// Labels of every member, a row per member; −1 for an object that it did not see.
type Partitions<'py> = Bound<'py, PyArray2<i64>>;

/// The partitions of an ensemble, a row per member.
#[pyfunction]
#[pyo3(signature = (text, x, pairs=None))]
pub(crate) fn generate<'py>(
    py: Python<'py>,
    text: &str,
    x: Matrix<'py>,
    pairs: Option<Pairs<'py>>,
) -> PyResult<(Partitions<'py>, Vec<String>)> {
    let request = request(py, text)?;
    let of = |e: Error| raised(py, &e);
    let data = kind(request.kind.as_deref()).and_then(|kind| x.borrowed(py, kind)).map_err(of)?;
    let given = constraints(pairs.as_ref(), data.n()).map_err(of)?;
    drop((x, pairs));
    let flag: Arc<AtomicBool> = Arc::default();
    let made = interruptible(py, request.threads, &flag, || {
        let (job, ensemble) = ensemble(&request, data, given, &flag)?;
        let labels = ensemble.members().iter().flat_map(|m| job.labels(&m.labels));
        let all = labels.map(|l| l.map_or(-1, i64::from)).collect();
        let rows = Array2::from_shape_vec((ensemble.len(), job.original.n()), all);
        Ok((rows.expect("n labels of each member"), job.warnings()))
    })?;
    let (labels, warnings) = made.map_err(of)?;
    Ok((labels.into_pyarray(py), warnings))
}

/// Options for imputing constraints.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Impute {
    kappa_must: f64,
    kappa_cannot: f64,
    co_presence: bool,
    min_presence: usize,
    max_matrix: u64,
    max_pairs: u64,
    must_link: bool,
    cannot_link: bool,
}

/// Imputed constraints, the sets that imputed must-links join, and the warnings.
type Imputed<'py> = (Bound<'py, PyAny>, Vec<Vec<u32>>, Vec<String>);

/// Imputes constraints from an ensemble; `how` contains options in addition to a request.
#[pyfunction]
#[pyo3(signature = (text, how, x, pairs=None))]
pub(crate) fn impute<'py>(
    py: Python<'py>,
    text: &str,
    how: &str,
    x: Matrix<'py>,
    pairs: Option<Pairs<'py>>,
) -> PyResult<Imputed<'py>> {
    let request = request(py, text)?;
    let of = |e: Error| raised(py, &e);
    let how: Impute = read(py, how, "request")?;
    let data = kind(request.kind.as_deref()).and_then(|kind| x.borrowed(py, kind)).map_err(of)?;
    let given = constraints(pairs.as_ref(), data.n()).map_err(of)?;
    drop((x, pairs));
    let flag: Arc<AtomicBool> = Arc::default();
    let made = interruptible(py, request.threads, &flag, || {
        let (job, ensemble) = ensemble(&request, data, given, &flag)?;
        let ctx = job.context();
        let normalise = if how.co_presence {
            co_association::Normalise::CoPresence
        } else {
            co_association::Normalise::Members
        };
        let thresholds = Thresholds::new(how.kappa_must, how.kappa_cannot, ensemble.len())?
            .normalised(normalise, how.min_presence);
        let co = CoAssociation::new(&ensemble, Representation::Auto, how.max_matrix, ctx)?;
        let sets = neighbourhoods(&co, &thresholds, MAX_CANDIDATES, ctx)?;
        let wanted = [(Kind::MustLink, how.must_link), (Kind::CannotLink, how.cannot_link)];
        let kinds: Vec<Kind> = wanted.iter().filter(|(_, is)| *is).map(|(k, _)| *k).collect();
        let pairs = imputed_constraints(&co, &thresholds, &kinds, how.max_pairs, ctx)?;
        let pairs = job.of_rows(&pairs)?;
        let sets: Vec<Vec<u32>> =
            sets.into_iter().map(|set| set.into_iter().map(|i| job.row(i)).collect()).collect();
        Ok((pairs, sets, job.warnings()))
    })?;
    let (pairs, sets, warnings) = made.map_err(of)?;
    Ok((table(py, &pairs)?, sets, warnings))
}

/// The partition on which `partitions` agree, a row per member, −1 for a missing label. `x` are the rows, for functions
/// that use them.
#[pyfunction]
#[pyo3(signature = (text, partitions, x=None, pairs=None))]
pub(crate) fn consensus<'py>(
    py: Python<'py>,
    text: &str,
    partitions: PyReadonlyArray2<'py, i64>,
    x: Option<Matrix<'py>>,
    pairs: Option<Pairs<'py>>,
) -> PyResult<Found> {
    let request = request(py, text)?;
    let of = |e: Error| raised(py, &e);
    let n = partitions.as_array().ncols();
    let data = match &x {
        Some(x) => x.borrowed(py, kind(request.kind.as_deref()).map_err(of)?),
        None => detached(py, || Data::dense(Array2::zeros((n, 1)))),
    };
    let data = data.map_err(of)?;
    if data.n() != n {
        let message = format!("{} objects, but the partitions have {n}", data.n());
        return Err(of(Error::Data { place: "X".into(), message }));
    }
    let given = known(n, pairs.as_ref(), None, None).map_err(of)?.constraints;
    let members = members(&partitions);
    let flag: Arc<AtomicBool> = Arc::default();
    let made = interruptible(py, request.threads, &flag, || {
        combined(&request, Ensemble::new(n, members)?, data, given, &flag)
    })?;
    Found::new(py, made.map_err(of)?)
}

/// How numbers of clusters are compared.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Numbers {
    k_min: usize,
    k_max: Option<usize>,
    max_samples: usize,
    seed: u64,
    threads: Option<usize>,
}

/// The number of clusters that `partitions` support, a row per member, −1 for a missing label: as JSON, and warnings.
#[pyfunction]
pub(crate) fn select_k(
    py: Python<'_>,
    text: &str,
    partitions: PyReadonlyArray2<'_, i64>,
) -> PyResult<(String, Vec<String>)> {
    let how: Numbers = read(py, text, "request")?;
    let (n, members) = (partitions.as_array().ncols(), members(&partitions));
    let flag: Arc<AtomicBool> = Arc::default();
    let made = interruptible(py, how.threads, &flag, || {
        let objects = Dataset::new("partitions", Data::dense(Array2::zeros((n, 1)))?);
        let ctx = Context::builder(objects.seed_path(how.seed, &objects.name))
            .cancel(flag.clone())
            .memory_limit(mustlink_cli::default_limit())
            .build();
        let ensemble = Ensemble::new(n, members)?;
        let range = (how.k_min, how.k_max);
        let found = supported_k(&ensemble, range, how.max_samples, &ctx.child("select_k"))?;
        Ok((json!(found).to_string(), ctx.warnings()))
    })?;
    let named = |error: Error| match error {
        Error::BadParam { name, value, legal } => {
            let names = [("from", "k_min"), ("to", "k_max"), ("objects", "max_samples")];
            let own = names.iter().find(|(other, _)| *other == name).map(|(_, own)| *own);
            Error::BadParam { name: own.map_or(name, String::from), value, legal }
        }
        other => other,
    };
    made.map_err(|e| raised(py, &named(e)))
}

/// The item consensus of each object in the clusters `labels`; NaN for an object without one.
#[pyfunction]
pub(crate) fn item_consensus<'py>(
    py: Python<'py>,
    partitions: PyReadonlyArray2<'py, i64>,
    labels: PyReadonlyArray1<'py, i64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (n, members) = (partitions.as_array().ncols(), members(&partitions));
    let number = |&label: &i64| u32::try_from(label).unwrap_or(NONE);
    let labels: Vec<u32> = labels.as_array().iter().map(number).collect();
    let made =
        detached(py, || Ok(ItemConsensus::new(&Ensemble::new(n, members)?, &labels).items()));
    let items = made.map_err(|e| raised(py, &e))?;
    let items: Vec<f64> = items.into_iter().map(|item| item.unwrap_or(f64::NAN)).collect();
    Ok(items.into_pyarray(py))
}

/// The members of an ensemble, a row per member, −1 for a missing label.
pub(crate) fn members(partitions: &PyReadonlyArray2<'_, i64>) -> Vec<Member> {
    let member = |(t, labels): (usize, mustlink::ndarray::ArrayView1<'_, i64>)| {
        let labels: Vec<u32> = labels.iter().map(|&l| u32::try_from(l).unwrap_or(NONE)).collect();
        Member { provenance: t.to_string(), ..Member::from_labels(&labels) }
    };
    partitions.as_array().rows().into_iter().enumerate().map(member).collect()
}

fn combined(
    request: &Request,
    ensemble: Ensemble,
    data: Data,
    given: Constraints,
    flag: &Arc<AtomicBool>,
) -> Result<Ended> {
    let combining = config::build::<Combining>(&Node::synthetic(&request.method), "")?;
    let consensus = combining.consensus;
    let tag = consensus.typetag_name();
    let needs = consensus.needs();
    if let Some(k) = request.k.filter(|&k| !needs.fixed_k && !ensemble.has_k(k)) {
        return Err(Error::Usage(format!(
            "k = {k}: {tag} does not accept a number of clusters, because the members determine it; leave k out, or \
             choose another consensus function"
        )));
    }
    let objects = Dataset::new("partitions", data);
    let problem = Problem {
        k: request.k,
        ..Problem::new(objects.data.clone()).with_constraints(given.clone())
    };
    if problem.k.is_some() || needs.fixed_k {
        problem.require_k(None, tag)?;
    }
    let ctx = Context::builder(objects.seed_path(request.seed, &objects.name))
        .cancel(flag.clone())
        .memory_limit(request.memory_limit.or_else(mustlink_cli::default_limit))
        .build();
    let said = notices::in_no_partition(&ensemble, &|i| i.to_string());
    said.into_iter().for_each(|said| ctx.warn(said));
    // It names the place itself.
    check_needs(&ensemble, &*consensus)?;
    let mut run = combine(&*consensus, &ensemble, &problem, &ctx.child("consensus"))
        .map_err(|e| e.at("consensus"))?;
    run.clustering = run.clustering.shown(None);
    warn_of_contradiction(&ensemble, &run.clustering, problem.k, &ctx)?;
    let broken = given.violated(&run.clustering.labels);
    let broken =
        broken.map(|c| (c.i, c.j, c.kind.name(), c.weight, "constraints".into())).collect();
    Ok(Ended {
        labels: run.clustering.labels.iter().map(|&l| i64::from(l)).collect(),
        weights: None,
        model: None,
        broken,
        constraints: given,
        counts: None,
        warnings: ctx.warnings(),
        kind: problem.data.kind(),
        run,
    })
}
