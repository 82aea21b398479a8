//! The command `impute`: constraints that an ensemble implies, and their precision.

use std::path::PathBuf;
use std::time::Instant;

use mustlink::config::{self, Document};
use mustlink::constraints::{Constraints, Kind};
use mustlink::registry::Role;
use mustlink::roles::{EnsembleGenerator, RoleObject};
use mustlink::{Error, Member, Result};
use mustlink_experiments::first_generator;
use mustlink_kernels::agreement::contingency::nmi_geometric;
use mustlink_kernels::ensemble::co_association::{CoAssociation, Normalise, Representation};
use mustlink_kernels::ensemble::imputation::{
    Imputed, MAX_CANDIDATES, Tally, Thresholds, impute, imputed_constraints, neighbourhoods,
};
use serde::Serialize;
use serde_json::Value;

use crate::failure::Failure;
use crate::file_kind;
use crate::files::check_outputs_and_plot;
use crate::job::{Job, JobArgs};
use crate::method_file::as_written;
use crate::options::{Format, PlotFormats, bytes, in_pool};
use crate::progress::duration;
use crate::verbs::cluster::DataSummary;
use crate::{complete, term};

/// Which pairs go to --out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kinds {
    /// Pairs that nearly all members put together.
    MustLink,
    /// Pairs that nearly no member puts together.
    CannotLink,
    /// Both.
    Both,
}

/// Derive constraints from an ensemble
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  mustlink impute --data digits --generator subsample
  mustlink impute --data bbc --method method.toml --kappa-must 0.98 --out m.csv")]
pub(crate) struct Args {
    #[command(flatten)]
    job: JobArgs,
    /// Ensemble generator: a name, or { type = "…", … }
    ///
    /// The default is the first generator of the method.
    #[arg(long, value_name = "NAME", add = complete::plugins(Role::EnsembleGenerator))]
    generator: Option<String>,
    /// Smallest share of members for a must-link
    #[arg(long, value_name = "SHARE", default_value_t = 0.98)]
    kappa_must: f64,
    /// Largest share of members for a cannot-link
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    kappa_cannot: f64,
    /// Count only members that saw both objects
    #[arg(long)]
    co_presence: bool,
    /// Smallest number of members that saw both, with --co-presence
    #[arg(long, value_name = "N", default_value_t = 1, requires = "co_presence")]
    min_presence: usize,
    /// Largest matrix of counts to hold in memory
    #[arg(long, value_name = "2GiB", value_parser = bytes, default_value = "2GiB")]
    max_matrix: u64,
    /// CSV of constraints to write
    ///
    /// Objects are row numbers from 0, or ids with --id.
    #[arg(long, value_name = "FILE")]
    out: Option<String>,
    /// Kinds of pairs to write
    #[arg(long, value_enum, default_value_t = Kinds::MustLink, requires = "out")]
    kinds: Kinds,
    /// Largest number of pairs to write
    #[arg(long, value_name = "N", default_value_t = 50_000_000, requires = "out")]
    max_pairs: u64,
    /// Folder for figures of the ensemble, with their numbers
    ///
    /// Co-association, counts and members.
    #[arg(long, value_name = "FOLDER")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    formats: PlotFormats,
    /// Format of the summary
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// One kind of constraint.
#[derive(Debug, Serialize)]
struct Row {
    imputed: u64,
    /// Number of these pairs of which both classes are known; precision is about these.
    judged: Option<u64>,
    correct: Option<u64>,
    precision: Option<f64>,
    recall: Option<f64>,
}

impl Row {
    fn new(tally: &Tally, classes: bool) -> Row {
        Row {
            imputed: tally.selected,
            judged: classes.then_some(tally.judged),
            correct: classes.then_some(tally.correct),
            precision: tally.precision().filter(|_| classes),
            recall: tally.recall().filter(|_| classes),
        }
    }
}

/// The summary of an imputation.
#[derive(Debug, Serialize)]
struct Summary {
    data: DataSummary,
    /// The generator of the ensemble, with its options.
    generator: Value,
    seed: u64,
    k: Option<usize>,
    n: usize,
    members: usize,
    base_nmi: Option<f64>,
    must_link: Row,
    cannot_link: Row,
    /// Sizes of the sets that imputed must-links hold together, largest first.
    neighbourhoods: Vec<usize>,
    seconds: f64,
    warnings: Vec<String>,
}

pub(crate) fn run(args: &Args) -> std::result::Result<u8, Failure> {
    let plot = (args.plot.as_deref(), &args.formats);
    check_outputs_and_plot(&[("--out", args.out.as_deref())], plot, "impute", &args.job.inputs())?;
    let (must, cannot) = (args.kappa_must, args.kappa_cannot);
    if Thresholds::new(must, cannot, 1).is_err() {
        return Err(Failure::usage(format!(
            "--kappa-must {must} and --kappa-cannot {cannot}: must be 0 <= kappa-cannot < kappa-must <= 1"
        )));
    }
    let refused = match args.generator {
        Some(_) => "--budget --ledger --clusterer --selector --oracle",
        None => "--budget --ledger",
    };
    if let Some(option) = args.job.given(refused) {
        return Err(Failure::usage(format!(
            "{option} has no effect: impute asks no questions, and makes its ensemble with --generator, or otherwise \
             with the first generator of the method; leave it out"
        )));
    }
    // Beside a generator any clusterer will do to read data and constraints by.
    let job_args = JobArgs {
        clusterer: args.job.clusterer.clone().or(args.generator.as_ref().map(|_| "auto".into())),
        ..args.job.clone()
    };
    let mut job = Job::open(&job_args, asks(&args.job)?)?;
    let generator = generator(args, &job)?;
    // It stands beside the method, which alone was asked whether it needs k.
    if generator.properties().needs_k {
        job.take_k_of_classes(&args.job);
    }
    if !job.problem.constraints.is_empty() && !generator.properties().reads_constraints {
        let tag = generator.typetag_name();
        args.job.warn(&format!("{tag} ignores constraints, so the given ones change nothing"));
    }
    let start = Instant::now();
    let work =
        || -> Result<_> { Ok((imputed(args, &job, &*generator)?, start.elapsed().as_secs_f64())) };
    let imputed = in_pool(args.job.threads, work)?;
    let warnings = job.finish(&args.job);
    let (imputed, seconds) = imputed.map_err(|e| job.named(&e))?;
    if let (Some(out), Some(pairs)) = (&args.out, imputed.pairs) {
        let pairs = job.of_rows(&pairs)?;
        let by_id = job.original.ids.is_some();
        mustlink_datasets::write_constraints(out, &pairs, &job.original, by_id)?;
    }
    let classes = job.set.classes.is_some();
    let summary = Summary {
        data: DataSummary::of(&job.original),
        generator: generator.to_value(),
        seed: job.seed,
        k: job.problem.k,
        n: job.set.n(),
        members: imputed.members,
        base_nmi: imputed.base_nmi,
        must_link: Row::new(&imputed.imputed.must, classes),
        cannot_link: Row::new(&imputed.imputed.cannot, classes),
        neighbourhoods: imputed.sets.iter().map(Vec::len).collect(),
        seconds,
        warnings,
    };
    let is_taken = args.out.as_deref() == Some("-");
    term::print_summary(&summary, args.format, is_taken, || text(&job, &summary))?;
    Ok(0)
}

/// The imputed pairs of an ensemble.
struct Made {
    members: usize,
    imputed: Imputed,
    /// The sets of objects that imputed must-links join.
    sets: Vec<Vec<u32>>,
    /// Those that go to --out.
    pairs: Option<Constraints>,
    base_nmi: Option<f64>,
}

/// Makes the ensemble, and imputes from it; draws it where that is asked for.
fn imputed(args: &Args, job: &Job, generator: &dyn EnsembleGenerator) -> Result<Made> {
    let ensemble = job.ensemble(generator)?;
    let ctx = job.context();
    let classes = job.set.classes.as_ref().map(|c| &c.labels[..]);
    let normalise = if args.co_presence { Normalise::CoPresence } else { Normalise::Members };
    let thresholds = Thresholds::new(args.kappa_must, args.kappa_cannot, ensemble.len())?
        .normalised(normalise, args.min_presence);
    let co = CoAssociation::new(&ensemble, Representation::Auto, args.max_matrix, ctx)?;
    let imputed = impute(&co, &thresholds, classes, ctx)?;
    let kinds: &[Kind] = match args.kinds {
        Kinds::MustLink => &[Kind::MustLink],
        Kinds::CannotLink => &[Kind::CannotLink],
        Kinds::Both => &[Kind::MustLink, Kind::CannotLink],
    };
    let count = |kind: &Kind| match kind {
        Kind::MustLink => imputed.must.selected,
        Kind::CannotLink => imputed.cannot.selected,
    };
    let wanted: u64 = kinds.iter().map(count).sum();
    // Before the pairs are listed, which takes long where there are many.
    if args.out.is_some() && wanted > args.max_pairs {
        let legal = format!("at least {wanted}, the number of imputed pairs");
        return Err(Error::bad_param("--max-pairs", args.max_pairs, legal));
    }
    let sets = neighbourhoods(&co, &thresholds, MAX_CANDIDATES, ctx)?;
    let pairs = match &args.out {
        Some(_) => Some(imputed_constraints(&co, &thresholds, kinds, args.max_pairs, ctx)?),
        None => None,
    };
    if let Some(folder) = &args.plot {
        let mut group = vec![sets.len() as u32; ensemble.n()];
        for (s, set) in sets.iter().enumerate() {
            set.iter().for_each(|&i| group[i as usize] = s as u32);
        }
        let figures = (folder.as_path(), "impute", &args.formats.plot_formats[..]);
        mustlink_report::save_ensemble(figures, &ensemble, &group, classes, ctx)?;
    }
    // Of members that leave objects out there is no such mean. Objects without a class are left out, as in scores.
    let base_nmi = classes.filter(|_| co.is_complete()).and_then(|classes| {
        let known: Vec<usize> = (0..classes.len()).filter(|&i| classes[i].is_some()).collect();
        let truth: Vec<u32> = classes.iter().flatten().copied().collect();
        let nmi = |m: &Member| {
            let labels: Vec<u32> = known.iter().map(|&i| m.labels[i]).collect();
            nmi_geometric(&labels, &truth)
        };
        let sum = || ensemble.members().iter().map(nmi).sum::<f64>();
        (!truth.is_empty()).then(|| sum() / ensemble.len() as f64)
    });
    Ok(Made { members: ensemble.len(), imputed, sets, pairs, base_nmi })
}

/// True if the method selects constraints: a method that does nothing else needs no clusterer here.
fn asks(args: &JobArgs) -> Result<bool> {
    let in_file = match &args.method {
        Some(file) => file_kind::document(file)?.root().get("selector").is_some(),
        None => false,
    };
    Ok(in_file || args.selector.is_some())
}

/// The generator of the command line, otherwise the first one of the method.
fn generator(args: &Args, job: &Job) -> Result<Box<dyn EnsembleGenerator>> {
    if let Some(text) = &args.generator {
        let mut document = Document::parse("--generator", "")?;
        let made = document.set(&format!("generator={text}")).and_then(|()| {
            let root = document.root();
            config::build(root.get("generator").unwrap_or(root), "generator")
        });
        return made.map_err(|error| match error {
            Error::Config(mut complaints) => {
                as_written(&mut complaints, &[("generator", Some(text.as_str()))]);
                Error::Config(complaints)
            }
            other => other,
        });
    }
    let method = serde_json::to_value(&job.method).unwrap_or_default();
    let first = config::resolve_plugin(&method).ok().and_then(|m| first_generator(&m).cloned());
    match first.or_else(|| first_generator(&method).cloned()) {
        Some(config) => <dyn EnsembleGenerator as RoleObject>::from_value(config)
            .map_err(|message| Error::Plugin { tag: "generator".into(), message }),
        None => {
            // Beside --generator these are refused.
            let instead = match args.job.given("--selector --clusterer --oracle") {
                Some(option) => format!(", in place of {option}"),
                None => String::new(),
            };
            Err(Error::Usage(format!(
                "the method has no ensemble generator; name one{instead}, for example --generator subsample"
            )))
        }
    }
}

fn text(job: &Job, s: &Summary) -> String {
    let share = |v: Option<f64>| v.map_or("–".into(), |v| format!("{v:.4}"));
    let row = |r: &Row| {
        let mut line = r.imputed.to_string();
        if r.correct.is_some() {
            line += &format!(", precision {}, recall {}", share(r.precision), share(r.recall));
        }
        if let Some(judged) = r.judged.filter(|&judged| judged < r.imputed) {
            line += &format!("; the classes of {judged} are known");
        }
        line
    };
    let sets = &s.neighbourhoods;
    let sets = if sets.is_empty() { "none".into() } else { term::listed(sets) };
    let mut read = vec![("data", format!("{}: {}", job.original.name, job.original.summary()))];
    if s.n != job.original.n() {
        let objects = mustlink::text::count(s.n, "object");
        read.push(("seen", format!("{objects} after the first transforms")));
    }
    let mut done = vec![("members", s.members.to_string())];
    done.extend(s.base_nmi.map(|nmi| ("base NMI", format!("{nmi:.4}"))));
    done.push(("time", duration(s.seconds)));
    let (must, cannot) = (row(&s.must_link), row(&s.cannot_link));
    let results = vec![("must-links", must), ("cannot-links", cannot), ("neighbourhoods", sets)];
    term::summary(&[read, done, results], None)
}
