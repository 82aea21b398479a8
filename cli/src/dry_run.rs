//! The output of `cluster --dry-run`: estimated time and memory of a method, and the methods that it would try.

use mustlink::error::bytes;
use mustlink::roles::{Attempt, OPERATIONS_PER_SECOND, cost_of_steps};
use mustlink::{Shape, text::count, text::visible};
use mustlink_experiments::estimate;
use serde::Serialize;

use crate::failure::Failure;
use crate::job::{Job, JobArgs};
use crate::options::{Format, in_pool};
use crate::progress::duration;
use crate::term;

#[derive(Serialize)]
struct Estimate<'a> {
    clusterer: &'a str,
    /// Processor seconds.
    seconds: f64,
    bytes: u64,
    /// The methods that it would try, the cheapest first.
    attempts: Vec<Row>,
}

/// A method that would be tried.
#[derive(Serialize)]
struct Row {
    method: String,
    seconds: f64,
    bytes: u64,
    left_out: bool,
}

/// Prints the estimate. Questions that would be asked count as constraints.
pub(crate) fn show(job: &Job, args: &JobArgs, format: Format) -> Result<u8, Failure> {
    let given = job.problem.shape();
    let constraints = given.constraints + job.budget().unwrap_or(0);
    let shape = Shape { k: job.problem.k.unwrap_or(1), constraints, ..given };
    let (operations, memory) =
        in_pool(args.threads, || estimate(&job.method, &job.config, &shape))?;
    let seen = cost_of_steps(&job.method.transforms, &shape).result;
    let attempts = job.method.clusterer.as_ref().map(|c| c.attempts(&seen)).unwrap_or_default();
    let row = |a: Attempt| Row {
        method: a.name,
        seconds: a.operations / OPERATIONS_PER_SECOND,
        bytes: a.memory,
        left_out: a.left_out,
    };
    let estimated = Estimate {
        clusterer: job.clusterer(),
        seconds: operations / OPERATIONS_PER_SECOND,
        bytes: memory,
        attempts: attempts.into_iter().map(row).collect(),
    };
    job.finish(args);
    term::print_summary(&estimated, format, false, || visible(&text(&estimated)))?;
    Ok(0)
}

fn text(estimate: &Estimate<'_>) -> String {
    let Estimate { clusterer, seconds, bytes: memory, attempts } = estimate;
    let mut text = format!(
        "{clusterer}: about {} of processor time, at most {} of memory\n",
        duration(*seconds),
        bytes(*memory)
    );
    if attempts.is_empty() {
        return text;
    }
    let mut table = term::table(&["method", "time, about", "memory"]);
    for a in attempts.iter().filter(|a| !a.left_out) {
        table.add_row(vec![a.method.clone(), duration(a.seconds), bytes(a.bytes)]);
    }
    text += &format!("\n{table}\n");
    let left_out: Vec<&str> = attempts.iter().filter(|a| a.left_out).map(|a| &*a.method).collect();
    if !left_out.is_empty() {
        let names = left_out.join(", ");
        let methods = count(left_out.len(), "method");
        text += &format!("\nnot tried because of the estimated time, {methods}: {names}\n");
        text += "--time none tries all";
    }
    text
}
