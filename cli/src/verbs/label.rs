//! A person answers on a page of this machine.

use std::path::Path;

use mustlink::DataKind;
use mustlink_label::{Objects, Server, Session, Shown, serve};

use crate::failure::Failure;
use crate::files::check_outputs;
use crate::job::{Job, JobArgs};
use crate::options::in_pool;
use crate::term;

/// Answer "same or different?" on a local page; every answer is kept in --ledger as it is given
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  mustlink label --data my.csv --id name --selector cobras --ledger answers.jsonl --out labels.csv
  mustlink label --data texts.csv --id name --display text --k 4 --budget 60 --ledger answers.jsonl")]
pub(crate) struct Args {
    #[command(flatten)]
    job: JobArgs,
    /// CSV id,label to write at the end, one row per object
    #[arg(long, value_name = "FILE")]
    out: Option<String>,
    /// Port of the page on 127.0.0.1; 0: one that is free
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    let Some(path) = args.job.ledger.as_deref() else {
        return Err(Failure::usage("--ledger is needed: the file that keeps the answers"));
    };
    if args.job.oracle.is_some() {
        return Err(Failure::usage(
            "--oracle: here you answer; \"mustlink select\" asks an oracle",
        ));
    }
    check_outputs(&[("--out", args.out.as_deref())], &args.job.inputs())?;
    let job = Job::open(&JobArgs { answered_by_hand: true, ..args.job.clone() }, false)?;
    let made = in_pool(args.job.threads, || answered(args, &job, path))?;
    job.finish(&args.job);
    let counts = made.map_err(|e| job.named(&e))?;
    if !args.job.quiet {
        term::tell(&format!(
            "{} answers in {}; the same command goes on where this one stopped",
            counts,
            path.display()
        ));
    }
    Ok(0)
}

/// Runs the session and writes the labels; gives the number of answers.
fn answered(args: &Args, job: &Job, path: &Path) -> mustlink::Result<usize> {
    let seen = job.seen()?;
    let (session, work) = Session::new(&seen.problem, args.job.budget);
    let server = Server::bind(args.port)?;
    let objects =
        Objects { id: &|object| job.id(object as usize), shown: &|object| shown(job, object) };
    let selection = std::thread::scope(|scope| {
        scope.spawn(|| serve(&server, &session, &objects));
        term::tell(&format!("answer at {} (Ctrl-C ends; nothing is lost)", server.address()));
        let done = work.run(job, &seen.problem, path);
        server.end();
        done
    })?;
    if let Some(out) = &args.out {
        let clustered = job.cluster(&seen, Some(&selection))?;
        let labels = job.labels(&clustered.run.clustering.labels);
        mustlink_datasets::write_labels(out, &job.original, &labels)?;
    }
    Ok(selection.asked())
}

/// An object as it was read: its text, where there is a column of it, else its features.
fn shown(job: &Job, object: u32) -> Shown {
    let set = &job.original;
    let row = job.row(object) as usize;
    let text = set.display.as_ref().and_then(|texts| texts.get(row).cloned());
    let dense = set.data.kind() == DataKind::Dense && text.is_none();
    let cells = (0..if dense { set.d() } else { 0 }).map(|feature| {
        let value = set.data.as_array().map_or(f64::NAN, |x| x[[row, feature]]);
        let name = set.feature_names.get(feature).cloned();
        (name.unwrap_or_else(|| format!("#{}", feature + 1)), value.to_string())
    });
    Shown { id: set.id(row), cells: cells.collect(), text }
}
