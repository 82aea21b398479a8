//! The command `consensus`: combines existing partitions into one.

use std::path::{Path, PathBuf};

use clap_complete::ArgValueCompleter;
use mustlink::config::{self, Document, Node};
use mustlink::needs::check_needs;
use mustlink::prelude::*;
use mustlink::registry::Role;
use mustlink::roles::MetricInput;
use mustlink::run::{Run, combine};
use mustlink::text::count;
use mustlink_datasets::{Dataset, OpenOptions, Partitions};
use mustlink_experiments::{LABEL, notices};
use mustlink_kernels::agreement::members::warn_of_contradiction;
use mustlink_kernels::ensemble::consensus_matrix::ItemConsensus;
use serde_json::Value;

use crate::broken::{self, Broken, Sources, broken};
use crate::failure::Failure;
use crate::file_kind;
use crate::files::check_outputs_and_plot;
use crate::job::{nothing_said, read_constraints};
use crate::job_args::check_set_once;
use crate::method_file::{ConsensusFile, as_written, set_options};
use crate::options::{self, DataDir, Format, PlotFormats, in_pool};
use crate::progress::{Meter, duration};
use crate::verbs::cluster::{Violations, listed_sizes};
use crate::verbs::score::{Scores, agreement, shown};
use crate::{complete, interrupt, program, term};

/// Combine partitions into one
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  mustlink consensus partitions.csv --k 3 --out labels.csv
  mustlink consensus partitions.csv --k 5 --constraints pairs.csv
  mustlink consensus partitions.csv --method consensus.toml --format json")]
pub(crate) struct Args {
    /// CSV with one row per object and one column per partition
    ///
    /// -: standard input.
    /// Cells with ?, NA, -1 or nothing are missing labels. A column named id holds ids.
    #[arg(value_name = "PARTITIONS.csv")]
    partitions: String,
    /// File with consensus = { type = "…", … } [default: see --help]
    ///
    /// The file may also hold k and seed. The default is voting, or mcla if a partition has another number of
    /// clusters than k. With k and --constraints, the default is evidence_accumulation. With more than 20 000
    /// objects, it is hbgf if a constraint is marked hard, otherwise as without constraints.
    #[arg(long, value_name = "FILE")]
    method: Option<PathBuf>,
    /// Consensus function: a name, or { type = "…", … }
    #[arg(long, value_name = "NAME", add = complete::plugins(Role::ConsensusFunction))]
    consensus: Option<String>,
    /// Set an option of the method: consensus.imbalance=0.1 (repeatable)
    #[arg(long = "set", value_name = "A.B=VALUE")]
    sets: Vec<String>,
    /// Number of clusters [default: see --help]
    ///
    /// The default is the number in the method file, otherwise the number of classes if these are known and
    /// the function needs k.
    #[arg(long, value_name = "K", value_parser = options::count, allow_negative_numbers = true)]
    k: Option<usize>,
    /// CSV of constraints: i,j,type,weight
    ///
    /// For functions that respect them, and to count violations. Objects are row numbers from 0, or ids with
    /// --id.
    #[arg(long, value_name = "FILE")]
    constraints: Option<String>,
    /// The objects themselves: a data set with the same rows
    ///
    /// For functions and metrics that need the data. Columns of --id, --ignore and --class may be in this
    /// file, in the file of partitions, or in both.
    #[arg(long, value_name = "DATA", add = ArgValueCompleter::new(complete::data))]
    data: Option<String>,
    /// Column that holds ids [default: one named "id"]
    ///
    /// Columns are named as in the header, or #1, #2 …
    #[arg(long, value_name = "COLUMN")]
    id: Option<String>,
    /// Columns to leave out
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    ignore: Vec<String>,
    /// Column that holds true classes, used only to score [default: a last column "class"]
    #[arg(long, value_name = "COLUMN")]
    class: Option<String>,
    /// Seed of all random numbers [default: that of the method file, or 0]
    #[arg(long, value_name = "S", value_parser = options::seed, allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Number of threads [default: one per core]; never changes a result
    #[arg(long, value_name = "N", value_parser = options::threads)]
    threads: Option<usize>,
    /// Reject partitions and functions that take more memory [default: 80 %]
    #[arg(long, value_name = "4GiB", value_parser = options::bytes)]
    memory_limit: Option<u64>,
    #[command(flatten)]
    data_dir: DataDir,
    /// CSV id,label,item_consensus to write, one row per object
    ///
    /// -: standard output; the summary then goes to standard error.
    /// The item consensus tells how sure a label is: the share of comparisons with the other objects of the cluster in
    /// which a partition puts both together. Partitions without a label of one of the two do not count.
    #[arg(long, value_name = "FILE")]
    out: Option<String>,
    /// CSV of each constraint that is violated, with its source
    #[arg(long, value_name = "FILE", requires = "constraints")]
    violations: Option<String>,
    /// Folder for figures of the partitions, with their numbers
    ///
    /// Co-association, counts and members.
    #[arg(long, value_name = "FOLDER")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    formats: PlotFormats,
    /// Format of the summary
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// No notes, warnings or progress
    #[arg(long, short)]
    quiet: bool,
}

/// The summary of a run.
#[derive(Debug, Serialize)]
struct Summary {
    /// The file of the partitions.
    partitions: String,
    /// The consensus function with its options.
    consensus: Value,
    seed: u64,
    k: usize,
    n: usize,
    members: usize,
    /// How the columns of the file were read.
    #[serde(skip)]
    columns: String,
    missing: usize,
    objective: Option<f64>,
    mean_nmi: f64,
    /// Mean item consensus of the objects that have one.
    item_consensus: Option<f64>,
    /// The number of these objects, and of those whose item consensus is below .5.
    #[serde(skip)]
    unsure: (usize, usize),
    constraints: usize,
    violations: Violations,
    /// The first violated constraints.
    broken: Vec<Broken>,
    /// The number of the others.
    broken_left_out: usize,
    scores: Scores,
    seconds: f64,
    warnings: Vec<String>,
}

pub(crate) fn run(args: &Args) -> std::result::Result<u8, Failure> {
    let inputs = [
        ("the partitions", Some(args.partitions.as_str())),
        ("--method", args.method.as_deref().and_then(Path::to_str)),
        ("--constraints", args.constraints.as_deref()),
        ("--data", args.data.as_deref()),
    ];
    let plot = (args.plot.as_deref(), &args.formats);
    let outputs = [("--out", args.out.as_deref()), ("--violations", args.violations.as_deref())];
    check_outputs_and_plot(&outputs, plot, "consensus", &inputs)?;
    let options = [
        ("--consensus", "consensus", args.consensus.is_some()),
        ("--k", "k", args.k.is_some()),
        ("--seed", "seed", args.seed.is_some()),
    ];
    check_set_once(&options, &args.sets)?;
    let (columns, of_data, header) = columns_of(args)?;
    let limit = args.memory_limit.or_else(crate::memory::default_limit);
    let Partitions { mut objects, ensemble } = mustlink_datasets::read_partitions(
        &args.partitions,
        columns.id_column.as_deref(),
        columns.class_column.as_deref(),
        &columns.ignore,
        limit,
    )?;
    objects.reading.notes.iter().for_each(|text| note(args, text));
    if let Some(name) = &args.data {
        let limit = limit.map(|limit| limit.saturating_sub(ensemble.bytes()));
        take_data(args, name, (of_data, &header), &mut objects, limit)?;
    }
    let named = |e: &Error| Failure::named(e, &|i| objects.id(i));
    let constraints = constraints(args, &objects)?;
    let file = method(args, &ensemble, &constraints)?;
    let consensus = file.consensus()?;
    let tag = consensus.typetag_name();
    let (k, part) =
        number_of_clusters(args, args.k.or(file.k), &**consensus, (&ensemble, &objects))?;
    let problem = Problem { k, ..Problem::new(objects.data.clone()).with_constraints(constraints) };
    if consensus.needs().fixed_k {
        problem.require_k(None, tag)?;
    }
    // It names the place itself.
    check_needs(&ensemble, &**consensus).map_err(|e| named(&e))?;
    let meter = Meter::start(!args.quiet);
    let seed = args.seed.or(file.seed).unwrap_or(0);
    let ctx = Context::builder(objects.seed_path(seed, &objects.name))
        .cancel(interrupt::flag())
        .progress(meter.clone())
        .base(args.method.as_deref().and_then(Path::parent).unwrap_or(Path::new("")))
        .memory_limit(limit)
        .build()
        .holding(LABEL * ensemble.n() as u64);
    if let Some(file) = args.constraints.as_ref().filter(|_| problem.constraints.is_empty()) {
        ctx.warn(nothing_said(file));
    }
    if let Some(clash) = problem.contradiction()? {
        ctx.warn(clash.render(&|i| objects.id(i)));
    }
    if let Some(part) = part {
        ctx.warn(part + ": --k sets their number");
    }
    if let Some(warning) = notices::in_no_partition(&ensemble, &|i| objects.id(i)) {
        ctx.warn(warning);
    }
    let work = || combined(args, &**consensus, (&ensemble, &objects), &problem, &ctx);
    let combined = in_pool(args.threads, work)?;
    meter.finish();
    let warnings = ctx.warnings();
    if !args.quiet {
        warnings.iter().for_each(|w| term::tell(&format!("warning: {w}")));
    }
    let run = combined.map_err(|e| named(&e.at("consensus")))?;
    let labels = &run.clustering.labels;
    let items = ItemConsensus::new(&ensemble, labels).items();
    if let Some(out) = &args.out {
        let labels: Vec<Option<u32>> = labels.iter().copied().map(Some).collect();
        let column = ("item_consensus", &items[..]);
        mustlink_datasets::write_labels_with(out, &objects, &labels, column)?;
    }
    let items: Vec<f64> = items.into_iter().flatten().collect();
    let mean = items.iter().sum::<f64>() / items.len() as f64;
    let all = (args.violations.is_some() || args.format == Format::Json).then(|| {
        let (file, given) = (args.constraints.as_deref(), &problem.constraints);
        let sources = Sources::default().of_file(file, given, &Some);
        broken(given, labels, &[], sources, &objects)
    });
    let (broken, broken_left_out) =
        broken::write(args.violations.as_deref(), all.into_iter().flatten())?;
    let scores = match &objects.classes {
        Some(classes) => agreement(labels, classes, None)?,
        None => Scores::default(),
    };
    let summary = Summary {
        partitions: args.partitions.clone(),
        consensus: consensus.to_value(),
        seed,
        k: run.clustering.k,
        n: ensemble.n(),
        members: ensemble.len(),
        columns: columns_text(&objects, &ensemble),
        missing: ensemble.members().iter().flat_map(|m| &m.labels).filter(|&&l| l == NONE).count(),
        objective: run.clustering.objective,
        mean_nmi: mean_nmi(&ensemble, labels)?,
        item_consensus: (!items.is_empty()).then_some(mean),
        unsure: (items.len(), items.iter().filter(|&&v| v < 0.5).count()),
        constraints: problem.constraints.len(),
        violations: Violations { must: run.violations.must, cannot: run.violations.cannot },
        broken,
        broken_left_out,
        scores,
        seconds: run.seconds,
        warnings,
    };
    let out = args.out.as_deref();
    let text = || text(tag, &run.clustering, &summary, out);
    term::print_summary(&summary, args.format, out == Some("-"), text)?;
    Ok(0)
}

/// Agreement of the members, with figures if they are asked for.
fn combined(
    args: &Args,
    consensus: &dyn ConsensusFunction,
    (ensemble, objects): (&Ensemble, &Dataset),
    problem: &Problem,
    ctx: &Context,
) -> Result<Run> {
    let mut run = combine(consensus, ensemble, problem, &ctx.child("consensus"))?;
    run.clustering = run.clustering.shown(None);
    warn_of_contradiction(ensemble, &run.clustering, problem.k, ctx)?;
    if let Some(folder) = &args.plot {
        let figures = (folder.as_path(), "consensus", &args.formats.plot_formats[..]);
        let classes = objects.classes.as_ref().map(|c| &c.labels[..]);
        mustlink_report::save_ensemble(figures, ensemble, &run.clustering.labels, classes, ctx)?;
    }
    Ok(run)
}

/// The constraints on the objects of the partitions.
fn constraints(args: &Args, objects: &Dataset) -> std::result::Result<Constraints, Failure> {
    let Some(path) = &args.constraints else { return Ok(Constraints::default()) };
    let limit = args.memory_limit.or_else(crate::memory::default_limit);
    read_constraints(path, objects, objects.ids.is_some(), limit, &|text| note(args, text))
}

/// The given number of clusters, else that of the classes where the function needs one, with a warning if only some
/// objects have a class.
fn number_of_clusters(
    args: &Args,
    given: Option<usize>,
    consensus: &dyn ConsensusFunction,
    (ensemble, objects): (&Ensemble, &Dataset),
) -> std::result::Result<(Option<usize>, Option<String>), Failure> {
    let needed = consensus.needs().fixed_k;
    match (given, objects.k()) {
        (Some(k), _) if !needed && !ensemble.has_k(k) => {
            let tag = consensus.typetag_name();
            Err(Failure::usage(format!(
                "k = {k}: with these options, {tag} does not accept a number of clusters; leave k out, or give \
                 --consensus mcla"
            )))
        }
        (None, Some(classes)) if needed => {
            let part = objects.part_of_classes();
            if part.is_none() {
                note(args, &format!("k = {classes}, the number of classes; --k chooses another"));
            }
            Ok((Some(classes), part))
        }
        _ => Ok((given, None)),
    }
}

/// How the columns of the file were read.
pub(crate) fn columns_text(objects: &Dataset, ensemble: &Ensemble) -> String {
    let mut names: Vec<&str> =
        ensemble.members().iter().take(6).map(|m| m.provenance.as_str()).collect();
    if ensemble.len() > 6 {
        names.push("…");
    }
    let part = |what: &str, column: &Option<String>| match column {
        Some(column) => format!("{what} {column}"),
        None => format!("no {what}"),
    };
    let (ids, classes) = (&objects.reading.id, &objects.reading.class);
    let text = format!("{}; {}; {}", names.join(", "), part("ids", ids), part("classes", classes));
    text.replace(char::is_control, " ")
}

fn note(args: &Args, text: &str) {
    if !args.quiet {
        term::tell(&format!("note: {text}"));
    }
}

/// Most objects of which the default looks at pairs.
const MOST_PAIRWISE: usize = 20_000;

/// The method file, changed by the options of the command line. The default consensus function depends on the
/// partitions and the constraints.
fn method(
    args: &Args,
    ensemble: &Ensemble,
    constraints: &Constraints,
) -> std::result::Result<ConsensusFile, Failure> {
    let mut document = match &args.method {
        Some(path) => file_kind::method(path)?,
        None => Document::parse("the default method", "")?,
    };
    let plugins = [("consensus", args.consensus.as_deref())];
    let mut complaints = set_options(&mut document, &plugins, &args.sets);
    let in_file = document.root().get("k").and_then(|k| k.to_value().as_u64());
    let k = args.k.or(in_file.map(|k| k as usize));
    if let Some(k) = k.filter(|_| document.root().get("consensus").is_none()) {
        let chosen = match &args.constraints {
            // It satisfies constraints, and keeps a table of pairs.
            Some(_) if ensemble.n() <= MOST_PAIRWISE => "evidence_accumulation",
            // It satisfies constraints, but it can lose small groups.
            Some(_) if constraints.any_hard() => "hbgf",
            // It keeps groups of any size, but cannot find another number of clusters.
            _ if ensemble.has_k(k) => "voting",
            _ => "mcla",
        };
        let why = if chosen == "voting" { "all partitions have k clusters" } else { "k is given" };
        let more = match (chosen, &args.constraints) {
            ("mcla", Some(_)) => "it does not use the constraints, but --consensus hbgf does",
            ("mcla", None) => "it can lose small groups; --consensus chooses another",
            _ => "--consensus chooses another",
        };
        note(args, &format!("consensus = \"{chosen}\", since {why}; {more}"));
        document.root_mut().insert("consensus", Node::synthetic(&chosen.into()));
    }
    let check = config::Check::default();
    config::validate::<ConsensusFile>(document.root(), "", check, &mut complaints);
    if !complaints.is_empty() {
        as_written(&mut complaints, &plugins);
        return Err(Error::Config(complaints).into());
    }
    Ok(config::build(document.root(), "")?)
}

/// Columns that the options name in the partitions and in the file of the data, and all columns of that file.
fn columns_of(args: &Args) -> Result<(OpenOptions, OpenOptions, Vec<String>)> {
    let table = args.data.as_deref().filter(|name| mustlink_datasets::is_table(name));
    let header = table.map(mustlink_datasets::column_names).transpose()?.flatten();
    let header = header.unwrap_or_default();
    // What only the data have is not looked for in the partitions; what nobody has is, and is not found.
    let partitions =
        if header.is_empty() { None } else { mustlink_datasets::column_names(&args.partitions)? };
    let of_data = |name: &&String| header.iter().any(|column| column == name.trim());
    let only_data = |name: &&String| {
        let has_it = |columns: &Vec<String>| columns.iter().any(|column| column == name.trim());
        of_data(name) && partitions.as_ref().is_some_and(|columns| !has_it(columns))
    };
    let named = |keep: &dyn Fn(&&String) -> bool| OpenOptions {
        id_column: args.id.as_ref().filter(keep).cloned(),
        class_column: args.class.as_ref().filter(keep).cloned(),
        ignore: args.ignore.iter().filter(keep).cloned().collect(),
        ..args.data_dir.open_options()
    };
    let (partitions, data) = (named(&|name| !only_data(name)), named(&of_data));
    Ok((partitions, data, header))
}

/// Gives `objects` the values of a data set, whose rows must be those of the partitions.
fn take_data(
    args: &Args,
    name: &str,
    (columns, header): (OpenOptions, &[String]),
    objects: &mut Dataset,
    limit: Option<u64>,
) -> Result<()> {
    // The ids of the partitions have one name in both files, unless somebody says otherwise.
    let same = || objects.reading.id.clone().filter(|id| header.contains(id));
    let id = columns.id_column.clone().or_else(same).filter(|id| !columns.ignore.contains(id));
    let options = OpenOptions { id_column: id, memory_limit: limit, ..columns };
    let set = mustlink_datasets::open(name, &options)?;
    if let Some(odd) = set.not_numbers() {
        // What `cluster` says of such cells names options that are not here.
        let way = "consensus does not apply transforms; leave the columns out with --ignore";
        let message = format!("{}; {way}", odd.told());
        return Err(Error::Data { place: odd.place.clone(), message });
    }
    let n = objects.n();
    let refused = |message: String| Error::Data { place: set.name.clone(), message };
    if set.n() != n {
        return Err(refused(format!("{} objects, but {} has {n}", set.n(), args.partitions)));
    }
    if objects.ids.is_none() {
        objects.ids = set.ids.clone();
        objects.reading.id = set.reading.id.clone();
    } else if set.ids.is_some()
        && let Some(i) = (0..n).find(|&i| set.id(i) != objects.id(i))
    {
        return Err(refused(format!(
            "row {i} is {}, and {} in {}; the rows of both must be in the same order",
            set.id(i),
            objects.id(i),
            args.partitions
        )));
    }
    objects.data = set.data;
    Ok(())
}

/// Mean normalised mutual information (geometric) of the labels with the members, each on the objects
/// it labels.
fn mean_nmi(ensemble: &Ensemble, labels: &[u32]) -> Result<f64> {
    let metric: Box<dyn Metric> = mustlink::registry::build_default("nmi_geo")?;
    let mut sum = 0.0;
    for m in ensemble.members() {
        let truth: Vec<Option<u32>> = m.labels.iter().map(|&l| (l != NONE).then_some(l)).collect();
        let input = MetricInput { labels, truth: Some(&truth), ..MetricInput::default() };
        sum += metric.score(&input)?.unwrap_or(0.0);
    }
    Ok(sum / ensemble.len() as f64)
}

fn text(tag: &str, clustering: &Clustering, s: &Summary, out: Option<&str>) -> String {
    let missing = match s.missing {
        0 => String::new(),
        missing => format!(", {} missing", count(missing, "label")),
    };
    let read = format!("{} of {} objects{missing}; {}", s.members, s.n, s.columns);
    let mut done = vec![("method", tag.to_string()), ("time", duration(s.seconds))];
    done.extend(out.filter(|o| *o != "-").map(|out| ("labels", out.to_string())));
    let mut results = vec![("clusters", listed_sizes(&clustering.sizes()))];
    results.extend(s.objective.map(|objective| ("objective", shown(Some(objective)))));
    results.push(("mean NMI", format!("{} with the partitions", shown(Some(s.mean_nmi)))));
    if let (Some(mean), (all, unsure)) = (s.item_consensus, s.unsure) {
        let mean = shown(Some(mean));
        results
            .push(("objects", format!("mean item consensus {mean}; {unsure} of {all} below 0.5")));
    }
    if s.constraints > 0 {
        let Violations { must, cannot } = s.violations;
        let broken = [(must, "must-link"), (cannot, "cannot-link")];
        let broken = broken.map(|(n, kind)| count(n as usize, kind)).join(" and ") + " violated";
        results.push(("constraints", format!("{}: {broken}", s.constraints)));
    }
    results.extend(s.scores.usual(None));
    let next =
        (out.is_none() && s.partitions != "-").then(|| program::again(&[], " --out labels.csv"));
    term::summary(&[vec![("partitions", read)], done, results], next)
}
