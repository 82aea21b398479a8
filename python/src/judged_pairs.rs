//! Clusters of objects from judged pairs alone.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use mustlink::{Context, Result};
use mustlink_datasets::{PairOptions, pairs_of_text, read_pairs};
use mustlink_experiments::continued::Previous;
use mustlink_experiments::judged_pairs::{Evidence, answers, chain};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::json;

use crate::errors::{raised, read};
use crate::interrupt::interruptible;

/// A request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    score_range: Option<(f64, f64)>,
    apart: Option<String>,
    thresholds: Vec<f64>,
    prior: f64,
    join_cost: f64,
    unjudged: Option<f64>,
    constraints: Option<String>,
    ledger: Option<PathBuf>,
    previous: Option<String>,
    questions: usize,
    seed: u64,
    threads: Option<usize>,
    memory_limit: Option<u64>,
}

/// An overruled verdict: ids, kind, weight and chain.
type Overruled = (String, String, &'static str, f64, String);

/// A question: ids and the expected change.
type Asked = (String, String, f64);

/// The result at a threshold: labels, number of clusters, objective, bound, overruled verdicts, questions, and what
/// became of previous clusters as JSON.
type Made = (Vec<i64>, usize, f64, f64, Vec<Overruled>, Vec<Asked>, Option<String>);

/// The same with the labels as an array.
type Given<'py> =
    (Bound<'py, PyArray1<i64>>, usize, f64, f64, Vec<Overruled>, Vec<Asked>, Option<String>);

/// Clusters the judged pairs in a file, or in the text of one: the ids, the result at each threshold, and warnings.
#[pyfunction]
pub(crate) fn cluster_pairs<'py>(
    py: Python<'py>,
    text: &str,
    pairs: String,
    is_file: bool,
) -> PyResult<(Vec<String>, Vec<Given<'py>>, Vec<String>)> {
    let request: Request = read(py, text, "request")?;
    let flag: Arc<AtomicBool> = Arc::default();
    let made = interruptible(py, request.threads, &flag, || made(&request, &pairs, is_file, &flag));
    let (ids, found, warnings) = made?.map_err(|e| raised(py, &e))?;
    let given = |(labels, k, objective, bound, overruled, asked, previous): Made| {
        (labels.into_pyarray(py), k, objective, bound, overruled, asked, previous)
    };
    Ok((ids, found.into_iter().map(given).collect(), warnings))
}

fn made(
    request: &Request,
    pairs: &str,
    is_file: bool,
    flag: &Arc<AtomicBool>,
) -> Result<(Vec<String>, Vec<Made>, Vec<String>)> {
    let memory_limit = request.memory_limit.or_else(mustlink_cli::default_limit);
    let (score_range, apart) = (request.score_range, request.apart.clone());
    let options = PairOptions { score_range, apart, memory_limit };
    let judged =
        if is_file { read_pairs(pairs, &options) } else { pairs_of_text(pairs, &options) }?;
    let objects = &judged.objects;
    let ctx = Context::builder(objects.seed_path(request.seed, &objects.name))
        .cancel(flag.clone())
        .memory_limit(memory_limit)
        .build();
    let ledger = request.ledger.as_deref();
    let answers = answers(objects, request.constraints.as_deref(), ledger, &ctx)?;
    let read = |file| Previous::of_thresholds(file, objects, &request.thresholds);
    let before = request.previous.as_deref().map(read).transpose()?;
    let Request { prior, join_cost, unjudged, .. } = *request;
    let evidence = Evidence::new(&judged, answers, prior, join_cost, unjudged)?;
    let ids = |i: u32, j: u32| (objects.id(i as usize), objects.id(j as usize));
    let mut all = Vec::new();
    for (at, &threshold) in request.thresholds.iter().enumerate() {
        let found = evidence.cluster(threshold, &ctx)?;
        ctx.check()?;
        let overruled = found.overruled(&ctx)?.into_iter().map(|case| {
            let (c, chain) = (case.constraint, chain(&case, objects));
            let (i, j) = ids(c.i, c.j);
            (i, j, c.kind.name(), c.weight, chain)
        });
        let asked = found.questions(request.questions).into_iter().map(|question| {
            let (i, j) = ids(question.pair.0, question.pair.1);
            (i, j, question.expected)
        });
        let (overruled, asked) = (overruled.collect(), asked.collect());
        let labels: Vec<Option<u32>> = found.labels.iter().copied().map(Some).collect();
        let continued = |before: &Vec<Previous>| before[at].continued(&labels, &ctx);
        let previous = before.as_ref().map(continued).transpose()?;
        let number = |label: u32| previous.as_ref().map_or(label, |all| all.number(label));
        let labels = found.labels.iter().map(|&label| i64::from(number(label))).collect();
        let previous = previous.map(|all| json!(all).to_string());
        all.push((labels, found.k, found.objective, found.bound, overruled, asked, previous));
    }
    let ids = (0..objects.n()).map(|i| objects.id(i)).collect();
    Ok((ids, all, ctx.warnings()))
}
