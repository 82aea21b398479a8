//! `select-k --partitions`: the number of clusters that existing partitions support.

use std::path::PathBuf;
use std::time::Instant;

use mustlink::text::count;
use mustlink::{Context, Result};
use mustlink_datasets::{Partitions, read_partitions, write_rows};
use mustlink_experiments::partition_support::{Reading, Support, Supported, joined, supported_k};
use serde::Serialize;

use crate::failure::Failure;
use crate::files::{Folder, check_folders, check_outputs, drawn};
use crate::job_args::JobArgs;
use crate::options::{Format, PlotFormats, as_given, in_pool};
use crate::progress::{Meter, duration};
use crate::verbs::consensus::columns_text;
use crate::{interrupt, program, term};

/// Options that partitions leave without a meaning.
const WITHOUT_MEANING: &str = "data distance_matrix affinity_matrix transpose method clusterer selector oracle sets \
                               k constraints labels display features no_header sep decimal na text apart \
                               object_weights budget ledger selection_only data_dir draws";

/// The figures, after the name of the command.
const FIGURES: [&str; 4] = ["distribution", "co-association", "counts", "members"];

/// The options of partitions.
#[derive(Debug, clap::Args)]
pub(crate) struct PartitionsArgs {
    /// CSV of partitions, instead of data: one column per partition
    ///
    /// As for "mustlink consensus". If at least two numbers of clusters have two partitions each, the partitions with k
    /// clusters are compared with each other, for each k. Otherwise all partitions make one consensus matrix, whose
    /// hierarchy is cut at each k. A pair of objects counts in the partitions that label both.
    #[arg(long, value_name = "FILE", conflicts_with_all = WITHOUT_MEANING.split(' '))]
    pub partitions: Option<String>,
    /// Folder for figures of the partitions, with their numbers
    ///
    /// The cumulative distribution of the consensus matrix for each k. Co-association (a heat map in the order of the
    /// consensus), counts and members for the best k.
    #[arg(long, value_name = "FOLDER", conflicts_with = "data")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    formats: PlotFormats,
}

#[derive(Debug, Serialize)]
struct Summary<'a> {
    partitions: &'a str,
    seed: u64,
    #[serde(flatten)]
    supported: &'a Supported,
    seconds: f64,
    warnings: Vec<String>,
}

impl PartitionsArgs {
    /// Compares the partitions in `file` for numbers of clusters in `range`, with at most `objects` objects.
    pub fn run(
        &self,
        file: &str,
        job: &JobArgs,
        (range, objects): ((usize, Option<usize>), usize),
        (out, format): (Option<&str>, Format),
    ) -> std::result::Result<u8, Failure> {
        let (outputs, inputs) = ([("--out", out)], [("--partitions", Some(file))]);
        check_outputs(&outputs, &inputs)?;
        let drawn = drawn(&FIGURES.map(|name| format!("select-k-{name}")), &self.formats);
        let files: Vec<&str> = drawn.iter().map(String::as_str).collect();
        let folder = Folder { option: "--plot", path: self.plot.as_deref(), files: &files };
        check_folders(&[folder], &outputs, &inputs)?;
        let start = Instant::now();
        let limit = job.memory_limit.or_else(crate::memory::default_limit);
        let (id, class) = (job.columns.id.as_deref(), job.columns.class.as_deref());
        let read = read_partitions(file, id, class, &job.columns.ignore, limit)?;
        let Partitions { objects: set, ensemble } = &read;
        set.reading.notes.iter().for_each(|text| job.note(text));
        let seed = job.seed.unwrap_or(0);
        let meter = Meter::start(!job.quiet);
        let ctx = Context::builder(set.seed_path(seed, &set.name))
            .cancel(interrupt::flag())
            .progress(meter.clone())
            .memory_limit(limit)
            .build()
            .holding(ensemble.bytes());
        let work = || -> Result<Supported> {
            let ctx = ctx.child("select_k");
            let supported = supported_k(ensemble, range, objects, &ctx)?;
            self.draw(&supported, &ctx)?;
            Ok(supported)
        };
        let supported = in_pool(job.threads, work)?;
        meter.finish();
        let warnings = ctx.warnings();
        warnings.iter().for_each(|text| job.warn(text));
        let supported =
            supported.map_err(|e| as_given(e, &["from", "to", "objects", "partitions"]))?;
        if let Some(out) = out {
            write_rows(out, rows(&supported, &COLUMNS, |v| v.to_string()))?;
        }
        let seconds = start.elapsed().as_secs_f64();
        let summary = Summary { partitions: file, seed, supported: &supported, seconds, warnings };
        let text = || text(file, &read, &supported, seconds);
        term::print_summary(&summary, format, out == Some("-"), text)?;
        Ok(0)
    }

    /// Draws the distributions, and the partitions with the best number of clusters.
    fn draw(&self, supported: &Supported, ctx: &Context) -> Result<()> {
        let Some(folder) = &self.plot else { return Ok(()) };
        let figures = (folder.as_path(), "select-k", &self.formats.plot_formats[..]);
        mustlink_report::save_distributions(figures, supported)?;
        let Some(best) = supported.best() else { return Ok(()) };
        mustlink_report::save_ensemble(figures, &best.ensemble, &best.labels, None, ctx)
    }
}

/// Columns of the file.
const COLUMNS: [&str; 9] =
    ["k", "partitions", "within", "between", "area", "change", "pac", "agreement", "lifetime"];
/// Columns that people see if the partitions with k clusters are compared.
const OF_EACH: [&str; 8] =
    ["k", "partitions", "within", "between", "area", "change", "pac", "agreement"];
/// Columns that people see of one matrix.
const OF_ONE: [&str; 4] = ["k", "within", "between", "lifetime"];

/// A header and a row for each number of clusters.
fn rows(s: &Supported, columns: &[&str], number: impl Fn(f64) -> String) -> Vec<Vec<String>> {
    let cell = |f: &Support, column: &str| {
        let value = match column {
            "k" => return f.k.to_string(),
            "partitions" => return f.partitions.to_string(),
            "within" => f.within,
            "between" => f.between,
            "area" => f.area,
            "change" => f.change,
            "pac" => f.pac,
            "agreement" => f.agreement,
            _ => f.lifetime,
        };
        value.map(&number).unwrap_or_default()
    };
    let head = columns.iter().map(|column| column.to_string()).collect();
    let row = |f| columns.iter().map(|column| cell(f, column)).collect();
    std::iter::once(head).chain(s.found.iter().map(row)).collect()
}

fn text(file: &str, read: &Partitions, s: &Supported, seconds: f64) -> String {
    let Partitions { objects: set, ensemble } = read;
    let columns: &[&str] = if s.reading == Reading::EachNumber { &OF_EACH } else { &OF_ONE };
    let all = rows(s, columns, |v| format!("{v:.3}"));
    let mut table = term::table(&all[0].iter().map(String::as_str).collect::<Vec<_>>());
    all[1..].iter().for_each(|row| {
        table.add_row(row);
    });
    let (members, n) = (ensemble.len(), set.n());
    let mut about = vec![(
        "partitions",
        format!("{members} of {}; {}", count(n, "object"), columns_text(set, ensemble)),
    )];
    if s.objects < n {
        about.push(("seen", format!("a sample of {} of {n} objects", s.objects)));
    }
    let compared = match s.reading {
        Reading::EachNumber => "the partitions with k clusters, for each k",
        Reading::OneMatrix => {
            "all partitions in one consensus matrix, cut at each k, because fewer than two numbers of clusters have \
             two partitions"
        }
    };
    about.push(("compared", compared.into()));
    if !s.left_out.is_empty() {
        let numbers: Vec<String> = s.left_out.iter().map(usize::to_string).collect();
        let text = format!("{} clusters, because only one partition has them", joined(&numbers));
        about.push(("left out", text));
    }
    let done = vec![("time", duration(seconds))];
    let mut found = Vec::new();
    if let (Reading::OneMatrix, Some(one)) = (s.reading, s.found.first()) {
        let shown = |v: Option<f64>| v.map_or("undefined".into(), |v| format!("{v:.3}"));
        let [area, pac, agreement] = [one.area, one.pac, one.agreement].map(shown);
        found.push(("matrix", format!("area {area}, pac {pac}, agreement {agreement}")));
    }
    found.push(("result", s.result.clone()));
    let next = s.k.filter(|_| file != "-").map(|k| {
        let kept = ["--id", "--class", "--ignore", "--seed", "--threads", "--memory-limit"];
        let kept = program::options(|option| kept.contains(&option));
        let file = mustlink_datasets::shell_word(file);
        format!("mustlink consensus {file}{kept} --k {k} --out labels.csv")
    });
    term::summary(&[about, done], None) + &format!("\n{table}\n\n") + &term::summary(&[found], next)
}
