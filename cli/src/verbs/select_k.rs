//! The command `select-k`: compares numbers of clusters.

mod partitions;

use std::collections::BTreeMap;
use std::time::Instant;

use mustlink::Result;
use mustlink::run::guarded;
use mustlink::text::{self, form};
use mustlink_experiments::{Criteria, Selected, Tries, select_k};
use serde::Serialize;

use crate::failure::Failure;
use crate::files::check_outputs;
use crate::job::{Job, JobArgs};
use crate::job_args::replaceable;
use crate::options::{Format, as_given, count, in_pool};
use crate::progress::duration;
use crate::{program, term};
use partitions::PartitionsArgs;

/// Compare numbers of clusters by four criteria
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  mustlink select-k --data iris
  mustlink select-k --data my.csv --set 'transforms=[\"z_score\"]' --out k.csv
  mustlink select-k --data my.csv --clusterer gaussian_mixture --to 6
  mustlink select-k --partitions partitions.csv --plot figures

Each criterion has its own idea of a cluster: silhouette (objects nearer to their own than to the next), \
gap (tighter than in data without clusters; chooses 1 for such data), stability (the same on other \
subsamples), consensus (few pairs that some subsamples part and some do not). With answers about pairs, \
cluster --clusterer auto without --k takes the number with which most methods meet them, and warns if \
several numbers fit equally well; cobras finds the number by asking. With --partitions, nothing is \
clustered: existing partitions are compared by how clearly they put pairs together.")]
#[command(mut_arg("data", |data| replaceable(data, "partitions")))]
#[command(
    override_usage = "mustlink select-k [OPTIONS] --data <DATA>\n       mustlink select-k [OPTIONS] --partitions <FILE>"
)]
pub(crate) struct Args {
    #[command(flatten)]
    job: JobArgs,
    #[command(flatten)]
    partitions: PartitionsArgs,
    /// Smallest number to try
    #[arg(long, value_name = "K", default_value_t = 2)]
    #[arg(value_parser = count, allow_negative_numbers = true)]
    from: usize,
    /// Largest number to try [default: 8 more than --from]
    ///
    /// At most the number of objects of a subsample. For partitions with different numbers of clusters, the default is
    /// the largest of these.
    #[arg(long, value_name = "K", value_parser = count, allow_negative_numbers = true)]
    to: Option<usize>,
    /// Number of subsamples, and of data sets without clusters to compare with
    #[arg(long, value_name = "N", default_value_t = 20)]
    #[arg(value_parser = count, allow_negative_numbers = true)]
    draws: usize,
    /// Largest number of objects; of more, a sample is drawn
    #[arg(long, value_name = "N", default_value_t = 3000)]
    #[arg(value_parser = count, allow_negative_numbers = true)]
    objects: usize,
    /// CSV of all numbers to write, one row per k
    ///
    /// -: standard output.
    #[arg(long, value_name = "FILE")]
    out: Option<String>,
    /// Format of the summary
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Options that `cluster` does not have, and the file of the table.
const OWN: [&str; 5] = ["--from", "--to", "--draws", "--objects", "--out"];

#[derive(Debug, Serialize)]
struct Summary<'a> {
    data: &'a str,
    clusterer: &'a str,
    seed: u64,
    #[serde(flatten)]
    selected: &'a Selected,
    seconds: f64,
    warnings: Vec<String>,
}

pub(crate) fn run(args: &Args) -> std::result::Result<u8, Failure> {
    if let Some(file) = &args.partitions.partitions {
        let tried = ((args.from, args.to), args.objects);
        let written = (args.out.as_deref(), args.format);
        return args.partitions.run(file, &args.job, tried, written);
    }
    check_outputs(&[("--out", args.out.as_deref())], &args.job.inputs())?;
    let refused =
        "--k --constraints --labels --apart --object-weights --selector --oracle --budget --ledger";
    if let Some(option) = args.job.given(refused) {
        return Err(Failure::usage(format!(
            "{option}: select-k looks at the data alone, each object once, from --from to --to; with answers, \
             \"mustlink cluster --clusterer auto\" without --k compares numbers by them"
        )));
    }
    // Chosen by nobody: k is what is looked for. All data have one cluster; the range is judged by itself.
    let job = Job::open(&JobArgs { k: Some(1), ..args.job.clone() }, false)?;
    let Some(clusterer) = &job.method.clusterer else {
        return Err(Failure::usage("select-k needs a clusterer; --clusterer names one"));
    };
    let name = clusterer.typetag_name();
    if !clusterer.properties().needs_k {
        return Err(Failure::usage(format!(
            "{name} finds the number of clusters itself; cluster with it"
        )));
    }
    if !job.config["clusterer"]["k"].is_null() {
        return Err(Failure::usage("clusterer.k is what select-k looks for; leave it out"));
    }
    let start = Instant::now();
    let tries = Tries {
        from: args.from,
        to: args.to,
        draws: args.draws,
        objects: args.objects,
        ..Tries::default()
    };
    let work = || -> Result<(Selected, f64)> {
        let seen = job.seen()?;
        let ctx = job.context().child("select_k");
        let selected = guarded(name, || select_k(&**clusterer, &seen.problem, &tries, &ctx))
            .map_err(|e| job.about_features(&seen, as_given(e, &["from", "to", "draws"])))?;
        Ok((selected, start.elapsed().as_secs_f64()))
    };
    let made = in_pool(args.job.threads, work)?;
    let warnings = job.finish(&args.job);
    let (selected, seconds) = made.map_err(|e| job.named(&e))?;
    if let Some(out) = &args.out {
        mustlink_datasets::write_rows(out, rows(&selected.found, |v| v.to_string()))?;
    }
    let summary = Summary {
        data: &job.original.name,
        clusterer: name,
        seed: job.seed,
        selected: &selected,
        seconds,
        warnings,
    };
    let is_taken = args.out.as_deref() == Some("-");
    let text = || text(args, &job, name, &selected, seconds);
    term::print_summary(&summary, args.format, is_taken, text)?;
    Ok(0)
}

/// A header and a row for each number.
fn rows(found: &[Criteria], number: impl Fn(f64) -> String) -> Vec<Vec<String>> {
    let head = ["k", "within", "silhouette", "gap", "gap_error", "stability", "ambiguous"];
    let mut rows = vec![head.map(String::from).to_vec()];
    rows.extend(found.iter().map(|f| {
        let numbers = [f.within, f.silhouette, f.gap, f.gap_error, f.stability, f.ambiguous];
        let cells = numbers.map(|v| v.map(&number).unwrap_or_default());
        std::iter::once(f.k.to_string()).chain(cells).collect()
    }));
    rows
}

/// The number that most criteria choose, if there is one, and a sentence about it.
fn result(s: &Selected) -> (Option<usize>, String) {
    let chosen = [s.silhouette, s.gap, s.stability, s.consensus].into_iter().flatten();
    let mut votes: BTreeMap<usize, usize> = BTreeMap::new();
    chosen.for_each(|k| *votes.entry(k).or_default() += 1);
    let most = votes.values().max().copied().unwrap_or(0);
    let mut best = votes.iter().filter(|(_, v)| **v == most).map(|(k, _)| *k);
    if s.found.iter().filter(|f| f.k > 1).count() < 2 {
        return (None, "Only one number of clusters was tried.".into());
    }
    match (best.next(), best.next()) {
        (Some(k), None) => {
            let (choose, clusters) = (form(most, "chooses", "choose"), text::count(k, "cluster"));
            (Some(k), format!("{most} of 4 criteria {choose} {clusters}."))
        }
        (None, _) => (None, "No criterion chooses a number of clusters.".into()),
        _ => (None, "The criteria do not agree; answers about pairs can decide.".into()),
    }
}

fn text(args: &Args, job: &Job, clusterer: &str, s: &Selected, seconds: f64) -> String {
    let short = |v: f64| if v.abs() >= 1000.0 { format!("{v:.0}") } else { format!("{v:.3}") };
    let all = rows(&s.found, short);
    let head: Vec<&str> = all[0].iter().map(String::as_str).collect();
    let mut table = term::table(&head);
    for row in &all[1..] {
        table.add_row(row);
    }
    let mut read = vec![("data", format!("{}: {}", job.original.name, job.original.summary()))];
    if s.objects < job.set.n() {
        let n = job.set.n();
        let sample = format!(
            "a sample of {} of {n} objects; clusters of fewer than {} objects have on average fewer than 10 in it, and \
             may be missed",
            s.objects,
            (10 * n).div_ceil(s.objects)
        );
        read.push(("seen", sample));
    }
    let done = vec![("method", clusterer.to_string()), ("time", duration(seconds))];
    let has_gap = s.found.iter().any(|f| f.gap.is_some());
    let shown = |(criterion, k): (&'static str, Option<usize>)| {
        let k = match (criterion, k) {
            ("gap", Some(1)) => "1: no tighter than data without clusters".into(),
            ("gap", None) if has_gap => "none of these is enough".into(),
            (_, Some(k)) => k.to_string(),
            (_, None) => "undefined".into(),
        };
        (criterion, k)
    };
    let criteria = [
        ("silhouette", s.silhouette),
        ("gap", s.gap),
        ("stability", s.stability),
        ("consensus", s.consensus),
    ];
    let (k, sentence) = result(s);
    let next = k.filter(|k| *k > 1 && args.job.data != "-").map(|k| {
        let again = program::again(&OWN, &format!(" --k {k}"));
        again.replacen(" select-k", " cluster", 1)
    });
    let found: Vec<_> = criteria.map(shown).into_iter().chain([("result", sentence)]).collect();
    term::summary(&[read, done], None) + &format!("\n{table}\n\n") + &term::summary(&[found], next)
}
