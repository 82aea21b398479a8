//! One method on one data set.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use mustlink::clustering::{Geometry, NONE, Status};
use mustlink::constraints::{Constraint, Constraints, Kind};
use mustlink::selection::Selection;
use mustlink::text::count;
use mustlink::{Context, Error, Result};
use mustlink_datasets::Dataset;
use serde::Serialize;
use serde_json::Value;

use crate::broken::Broken;
use crate::failure::Failure;
use crate::files::{Folder, Named, check_folders, check_outputs, drawn};
use crate::job::{Job, JobArgs, known_of};
use crate::job_args::{PAIRS, TimeLimit, replaceable};
use crate::judged_pairs::PairsArgs;
use crate::model::Model;
use crate::options::{Format, PlotFormats, in_pool};
use crate::plot::PlotLook;
use crate::profile::{self, Crosstab};
use crate::progress::duration;
use crate::validation::Validation;
use crate::verbs::score::{Scores, agreement, shown};
use crate::{broken, candidates, dry_run, feature_weights, interrupt, program, term};
use mustlink_experiments::Clustered;
use mustlink_experiments::continued::{Continued, Previous};

/// Cluster a data set. Writes labels to --out and prints a summary
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  mustlink cluster --data iris --k 3 --out labels.csv
  mustlink cluster --data my.csv --id name --constraints pairs.csv \\
      --method method.toml --out labels.csv
  mustlink cluster --data iris --selector random_pairs --budget 50 --format json
  mustlink cluster --pairs scored.csv --out labels.csv --violations broken.csv")]
#[command(mut_arg("data", |data| replaceable(data, "pairs")))]
#[command(
    override_usage = "mustlink cluster [OPTIONS] --data <DATA>\n       mustlink cluster [OPTIONS] --pairs <FILE>"
)]
pub(crate) struct Args {
    #[command(flatten)]
    job: JobArgs,
    #[command(flatten)]
    pairs: PairsArgs,
    /// CSV id,label to write, one row per object
    ///
    /// Clusters are numbered by size, 0 is the largest; -1 is noise.
    /// -: standard output; the summary then goes to standard error.
    #[arg(long, value_name = "FILE")]
    out: Option<String>,
    /// CSV of feature weights that the method learned
    ///
    /// One row per cluster, or one for all; one column per feature. For lac, clac, mpck_means, hmrf_kmeans,
    /// k_prototypes and the transforms gower, itml, mmc, rca. For auto, the weights of the best such method in the
    /// result.
    #[arg(long, value_name = "FILE")]
    weights: Option<String>,
    /// CSV of each constraint that is violated or overruled, with its source
    ///
    /// With --pairs: each overruled verdict, with the chain of verdicts and answers that overrules it.
    #[arg(long, value_name = "FILE")]
    violations: Option<String>,
    /// Model to write for "mustlink predict"
    ///
    /// Holds centres, metric and the fitted transforms.
    #[arg(long, value_name = "FILE", conflicts_with_all = PAIRS)]
    save_model: Option<String>,
    /// Folder for a figure of the objects in two dimensions
    ///
    /// projection.svg with clusters, classes and constraints, and projection.csv with its numbers. For auto
    /// also candidate-scores.svg.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = PAIRS)]
    plot: Option<PathBuf>,
    /// Folder for a description of the clusters
    ///
    /// clusters.csv: class and most typical objects of each; features.csv: mean, deviation and F ratio, the
    /// most different features first.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = PAIRS)]
    profile: Option<PathBuf>,
    /// Folder for the methods that auto tried
    ///
    /// candidates.csv: scores; labels.csv: the clustering of each; method.toml: the chosen ones as a method.
    #[arg(long, value_name = "FOLDER")]
    out_candidates: Option<PathBuf>,
    /// Labels of an earlier run: clusters that continue keep their numbers
    ///
    /// A CSV id,label. As many objects as possible keep their number; other clusters have new numbers. Not with
    /// --profile, --plot, --weights, --save-model or --out-candidates, which number the clusters from 0.
    #[arg(long, value_name = "FILE", conflicts_with_all = NUMBERED.split(' '))]
    previous: Option<String>,
    /// Seconds that auto may take, or none [default: see --help]
    ///
    /// By default auto leaves out methods that are estimated to be too expensive, and lists them. none: no
    /// limit.
    #[arg(long, value_name = "SECONDS")]
    time: Option<TimeLimit>,
    /// Print estimated time and memory, and do not cluster
    ///
    /// For auto also the methods that it would try.
    #[arg(long)]
    dry_run: bool,
    /// Measure whether the pairs or the --labels help
    ///
    /// Holds out a fifth of the pairs, or of the objects with known classes, and judges by them. Clusters 30 more
    /// times.
    #[arg(long)]
    validate: bool,
    #[command(flatten)]
    formats: PlotFormats,
    #[command(flatten)]
    look: PlotLook,
    /// Format of the summary
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Options whose files number the clusters from 0.
const NUMBERED: &str = "save_model plot profile out_candidates weights";

/// The summary of a clustering.
#[derive(Debug, Serialize)]
struct Summary {
    data: DataSummary,
    method: Value,
    seed: u64,
    k: usize,
    n: usize,
    d: usize,
    /// Objects in no cluster.
    noise: usize,
    objective: Option<f64>,
    status: &'static str,
    iterations: usize,
    queries: usize,
    unanswered: usize,
    answers_contradicting: usize,
    answers_corrected: usize,
    inferred: usize,
    constraints: usize,
    constraints_read: bool,
    violations: Violations,
    /// The first violated constraints and overruled answers.
    broken: Vec<Broken>,
    /// The number of the others.
    broken_left_out: usize,
    scores: Scores,
    scored: Scored,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous: Option<Continued>,
    #[serde(skip_serializing_if = "Option::is_none")]
    crosstab: Option<Crosstab>,
    #[serde(skip_serializing_if = "Option::is_none")]
    validation: Option<Validation>,
    seconds: f64,
    /// Numbers that the method gives of its work.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    diagnostics: BTreeMap<String, f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    candidates: Vec<candidates::Row>,
    warnings: Vec<String>,
}

/// Which objects the scores are of.
#[derive(Debug, Clone, Default, Serialize)]
struct Scored {
    /// Objects with a class.
    with_class: usize,
    /// Number of these objects in a constraint, a known class or a question: they are not held out.
    constrained: usize,
    /// The scores of the others alone.
    others: Scores,
    /// Objects that are noise, which every score leaves out.
    noise: usize,
    /// Rows of the data but for those that were dropped.
    #[serde(skip)]
    n: usize,
}

impl Scored {
    /// The scores of `labels`, too. Rows that were merged have one label and count one by one, as in the file
    /// of labels.
    fn new(job: &Job, labels: &[u32], constraints: &Constraints) -> Result<(Scores, Scored)> {
        let Some(classes) = &job.original.classes else { return Ok(Default::default()) };
        let mut told = vec![false; labels.len()];
        let named = constraints.neighbourhoods().iter().flatten().map(|&i| i as usize);
        constraints.objects().into_iter().chain(named).for_each(|i| told[i] = true);
        let each: Vec<u32> = (0..labels.len() as u32).collect();
        let objects = job.labels(&each);
        let of_row = |o: &Option<u32>| o.map_or(NONE, |o| labels[o as usize]);
        let labels: Vec<u32> = objects.iter().map(of_row).collect();
        let is_left = |i: &usize| objects[*i].is_some();
        let kept = |i: &usize| labels[*i] != NONE;
        let told = |i: &usize| objects[*i].is_some_and(|o| told[o as usize]);
        let n = (0..objects.len()).filter(is_left).count();
        let rows = || (0..objects.len()).filter(kept);
        let known = |i: &usize| classes.labels[*i].is_some();
        let with_class = rows().filter(known).count();
        let constrained = rows().filter(known).filter(told).count();
        let among = |counts: &dyn Fn(&usize) -> bool| -> Vec<bool> {
            (0..objects.len()).map(|i| counts(&i)).collect()
        };
        let clustered = rows().count();
        let noise = n - clustered;
        let scope = (clustered < objects.len()).then(|| among(&kept));
        let scores = agreement(&labels, classes, scope.as_deref())?;
        let others = match constrained {
            0 => Scores::default(),
            all if all == with_class => Scores::default(),
            _ => agreement(&labels, classes, Some(&among(&|i| kept(i) && !told(i))))?,
        };
        Ok((scores, Scored { with_class, constrained, others, noise, n }))
    }

    /// For people; `None` if every object has a class, and some objects have no constraint.
    fn text(&self) -> Option<String> {
        let Scored { with_class, constrained, noise, n, .. } = self;
        if with_class == n && constrained < n || *with_class + noise == 0 {
            return None;
        }
        let mut text = format!("{with_class} of {n} objects, {constrained} of them constrained");
        if *noise > 0 {
            text += &format!("; noise is left out, {}", count(*noise, "object"));
        }
        if constrained == with_class {
            text += ": the scores only show whether the method obeyed its constraints";
        }
        Some(text)
    }
}

/// The facts about a data set that was read.
#[derive(Debug, Serialize)]
pub(crate) struct DataSummary {
    name: String,
    objects: usize,
    features: Vec<String>,
    id: Option<String>,
    class: Option<String>,
    ignored: Vec<String>,
    missing: usize,
}

impl DataSummary {
    pub fn of(set: &Dataset) -> Self {
        let reading = set.reading.clone();
        DataSummary {
            name: set.name.clone(),
            objects: set.n(),
            features: set.feature_names.clone(),
            id: reading.id,
            class: reading.class,
            ignored: reading.ignored,
            missing: reading.missing,
        }
    }
}

/// Violated constraints.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Violations {
    pub must: u64,
    pub cannot: u64,
}

/// The questions, the clustering and its scores.
struct Made {
    selection: Option<Selection>,
    clustered: Clustered,
    overruled: Option<Vec<Constraint>>,
    scores: Scores,
    scored: Scored,
    validation: Option<Validation>,
    seconds: f64,
}

impl Made {
    fn new(args: &Args, job: &Job) -> Result<Self> {
        let start = Instant::now();
        let seen = job.admitted()?;
        let selection = job.select(&seen.problem).map_err(|e| job.about_features(&seen, e))?;
        if let Some(selection) = &selection
            && let Some(clash) = job.clash(selection, &seen.problem.constraints)?
        {
            job.context().warn(clash);
        }
        let clustered = job.cluster(&seen, selection.as_ref())?;
        let given = &clustered.constraints;
        let validation =
            match args.validate.then(|| Validation::new(job, &seen, given, job.context())) {
                // The answers do not suffice, and the clusters are there.
                Some(Err(Error::Usage(why))) if selection.is_some() => {
                    job.context().warn(why);
                    None
                }
                other => other.transpose()?,
            };
        if let Some(wrong) = job.other_k(&clustered.run.clustering) {
            job.context().warn(wrong);
        }
        if let Some(apart) = job.broken_apart(&clustered.run.clustering) {
            job.context().warn(apart);
        }
        let seconds = start.elapsed().as_secs_f64();
        let labels = &clustered.run.clustering.labels;
        let (scores, scored) = Scored::new(job, labels, &clustered.constraints)?;
        let given = &seen.problem.constraints;
        let overruled = selection.as_ref().map(|s| job.overruled(s, given)).transpose()?;
        Ok(Made { selection, clustered, overruled, scores, scored, validation, seconds })
    }
}

/// The files that the options name.
fn outputs(args: &Args) -> [Named<'_>; 4] {
    [
        ("--out", args.out.as_deref()),
        ("--violations", args.violations.as_deref()),
        ("--weights", args.weights.as_deref()),
        ("--save-model", args.save_model.as_deref()),
    ]
}

/// Refuses files and folders that cannot be written, or that are read.
fn check_written(args: &Args) -> std::result::Result<(), Failure> {
    let previous = ("--previous", args.previous.as_deref());
    let (outputs, inputs) = (outputs(args), [&args.job.inputs()[..], &[previous]].concat());
    check_outputs(&outputs, &inputs)?;
    let folder = |option, path, files| Folder { option, path, files };
    let drawn = drawn(&["projection", "candidate-scores"], &args.formats);
    let drawn: Vec<&str> = drawn.iter().map(String::as_str).collect();
    let folders = [
        folder("--plot", args.plot.as_deref(), &drawn[..]),
        folder("--profile", args.profile.as_deref(), &profile::FILES[..]),
        folder("--out-candidates", args.out_candidates.as_deref(), &candidates::FILES[..]),
    ];
    check_folders(&folders, &outputs, &inputs)
}

pub(crate) fn run(args: &Args) -> std::result::Result<u8, Failure> {
    if let Some(file) = &args.pairs.pairs {
        let outputs = [args.out.as_deref(), args.violations.as_deref()];
        let previous = args.previous.as_deref();
        return args.pairs.run(file, &args.job, previous, outputs, args.format);
    }
    check_written(args)?;
    // A choice among methods that see the data differently has no weights of features.
    let one_method = args.weights.is_some();
    let options = JobArgs { one_method, time: args.time, keep_best: true, ..args.job.clone() };
    let job = Job::open(&options, false)?;
    if args.validate {
        Validation::check(&job)?;
    }
    if args.weights.is_some() {
        feature_weights::check(&job)?;
    }
    if args.out_candidates.is_some() {
        candidates::check(&job)?;
    }
    let read = |file: &String| Previous::read(file, &job.original);
    let before = args.previous.as_ref().map(read).transpose()?;
    if args.dry_run {
        return dry_run::show(&job, &args.job, args.format);
    }
    let made = in_pool(args.job.threads, || Made::new(args, &job))?;
    let warnings = job.finish(&args.job);
    let Made { selection, clustered, overruled, scores, scored, validation, seconds } =
        made.map_err(|e| job.named(&e))?;
    let clustering = &clustered.run.clustering;
    // What is known to the method says more than what it is judged by.
    let classes = job.original.known.as_ref().or(job.original.classes.as_ref());
    let of_rows = job.labels(&clustering.labels);
    let crosstab = classes.map(|c| Crosstab::new(&of_rows, clustering.k, c));
    // Ctrl-C may have ended the method with its best result, which is still written.
    let ctx = Context::new(0);
    let continued =
        |before: Previous| before.continued(&job.labels_and_noise(&clustering.labels), &ctx);
    let previous = before.map(continued).transpose()?;
    write(args, &job, &clustered, previous.as_ref(), crosstab.as_ref())?;
    let wanted = args.violations.is_some() || args.format == Format::Json;
    let all = wanted.then(|| job.broken(&clustered, overruled.as_deref().unwrap_or_default()));
    let (broken, broken_left_out) =
        broken::write(args.violations.as_deref(), all.into_iter().flatten())?;
    let counts = selection.as_ref().map(|s| s.counts(s.asked())).unwrap_or_default();
    let summary = Summary {
        data: DataSummary::of(&job.original),
        method: clustered.named(&job.config),
        seed: job.seed,
        k: clustering.k,
        n: job.set.n(),
        d: job.set.d(),
        noise: clustering.labels.iter().filter(|&&label| label == NONE).count(),
        objective: clustering.objective,
        status: clustering.status.name(),
        iterations: clustering.history.len(),
        queries: counts.queries,
        unanswered: counts.dont_know,
        answers_contradicting: counts.conflicts,
        answers_corrected: counts.corrected,
        inferred: counts.inferred,
        constraints: clustered.constraints.len(),
        constraints_read: job.method.reads_constraints(),
        violations: Violations {
            must: clustered.run.violations.must,
            cannot: clustered.run.violations.cannot,
        },
        broken,
        broken_left_out,
        scores,
        scored,
        previous,
        crosstab,
        validation,
        seconds,
        diagnostics: clustering.extras.diagnostics.clone(),
        candidates: candidates::rows(&clustering.extras.tried),
        warnings,
    };
    let is_taken = outputs(args).iter().any(|(_, path)| *path == Some("-"));
    let text = || text(&job, &clustered, &summary, args);
    term::print_summary(&summary, args.format, is_taken, text)?;
    // A method may also end with this status of its own accord.
    if clustering.status == Status::Stopped && job.context().is_cancelled() {
        term::tell(
            "warning: stopped before all methods were tried; this is the best result so far",
        );
        return Ok(interrupt::INTERRUPTED as u8);
    }
    Ok(0)
}

/// Writes the files that the options name.
fn write(
    args: &Args,
    job: &Job,
    clustered: &Clustered,
    previous: Option<&Continued>,
    crosstab: Option<&Crosstab>,
) -> std::result::Result<(), Failure> {
    let clustering = &clustered.run.clustering;
    // Rows that the method itself merged stand apart again: so do those it began with.
    let input = &clustered.input.problem.data;
    let seen = if input.n() == clustering.labels.len() { input } else { &job.problem.data };
    if let Some(out) = &args.out {
        let mut labels = job.labels_and_noise(&clustering.labels);
        if let Some(previous) = previous {
            labels.iter_mut().flatten().for_each(|label| *label = previous.number(*label));
        }
        mustlink_datasets::write_labels(out, &job.original, &labels)?;
    }
    if let Some(path) = &args.save_model {
        let model = Model::new(
            &job.original,
            clustered.named(&job.config),
            job.seed,
            &clustered.steps,
            &clustered.input,
            clustering,
            &clustered.constraints,
        )?;
        let model = model.named(crosstab);
        mustlink_datasets::write_text(path, &model.text()?)?;
    }
    if let Some(folder) = &args.plot {
        let formats = &args.formats.plot_formats;
        args.look.draw(folder, formats, job, seen, clustered, crosstab)?;
        let tried = &clustering.extras.tried;
        mustlink_report::save_candidates(folder, formats, tried)?;
    }
    if let Some(folder) = &args.profile {
        let labels = job.labels(&clustering.labels);
        let name = |i: usize| job.called(i);
        profile::write(folder, &job.original, &name, seen, clustering, &labels, crosstab)?;
    }
    if let Some(folder) = &args.out_candidates {
        let tried = &clustering.extras.tried;
        if tried.is_empty() {
            return Err(candidates::none(job));
        }
        candidates::write(folder, tried, job, clustering.k)?;
    }
    // Last: of some methods nobody knows beforehand whether they learn weights, and what else was made is kept.
    if let Some(path) = &args.weights {
        let weights = clustered.weights.as_ref().ok_or_else(|| {
            let labels = args.out.as_deref().unwrap_or("-");
            feature_weights::none(job, Some(labels))
        })?;
        mustlink_datasets::write_weights(path, weights)?;
        if let Some(member) = &clustered.weights_of {
            term::tell(&format!(
                "note: --weights: those that {member} learned, a part of the result"
            ));
        }
        let constant = mustlink_report::near_constant_features(weights);
        if !constant.is_empty() {
            term::tell(&format!(
                "warning: --weights: {} hardly varies where it weighs most: the weight is that of the \
                 smallest variance allowed; --set 'transforms=[\"drop_constant\"]' leaves constant features out",
                constant.join(", ")
            ));
        }
    }
    Ok(())
}

/// How many clusters there are, and how large the first ones.
pub(crate) fn listed_sizes(sizes: &[usize]) -> String {
    if sizes.is_empty() { "0 (every object is noise)".into() } else { term::listed(sizes) }
}

/// How many questions were put, and what became of their answers.
fn queries(s: &Summary, budget: Option<usize>) -> String {
    let mut text = s.queries.to_string();
    match budget {
        Some(budget) if s.queries < budget => text += &format!(" of at most {budget}"),
        Some(budget) if s.queries > budget => {
            text += &format!(" (more than --budget {budget}: the ledger had them)");
        }
        _ => {}
    }
    text += &term::counted(&[
        (s.unanswered, "of them without an answer"),
        (s.answers_contradicting, "of them contradicting"),
        (s.answers_corrected, "of them corrected by the selector"),
    ]);
    text + &format!(", plus {} inferred", s.inferred)
}

/// The files that were written.
fn written(args: &Args) -> Vec<(&'static str, String)> {
    let file = |path: &Option<String>| path.clone().filter(|path| path != "-");
    let inside = |folder: &Option<PathBuf>, name: &str| {
        folder.as_ref().map(|folder| folder.join(name).display().to_string())
    };
    let all = [
        ("labels", file(&args.out)),
        ("model", file(&args.save_model)),
        ("violations", file(&args.violations)),
        ("weights", file(&args.weights)),
        ("profile", inside(&args.profile, "clusters.csv")),
        ("candidates", inside(&args.out_candidates, "candidates.csv")),
        ("figure", inside(&args.plot, "projection.svg")),
    ];
    all.into_iter().filter_map(|(name, path)| Some((name, path?))).collect()
}

/// The command that also writes the labels, or describes the clusters by their features. Data from standard input,
/// and answers that nothing keeps, are not there a second time.
fn next(args: &Args) -> Option<String> {
    let is_read = args.job.data == "-" || args.job.constraints.as_deref() == Some("-");
    let is_lost = is_read || args.job.oracle.is_some() && args.job.ledger.is_none();
    match (&args.out, &args.profile) {
        _ if is_lost => None,
        (None, _) => Some(program::again(&[], " --out labels.csv")),
        // Objects without features have no profile.
        _ if args.job.kind_of_pairs().is_some() => None,
        (_, None) if args.previous.is_none() => Some(program::again(&[], " --profile clusters")),
        _ => None,
    }
}

fn text(job: &Job, clustered: &Clustered, s: &Summary, args: &Args) -> String {
    let clustering = &clustered.run.clustering;
    let number = |h: u32| s.previous.as_ref().map_or(h, |previous| previous.number(h));
    let clusters = s.crosstab.as_ref().map(|crosstab| crosstab.lines(number)).unwrap_or_default();
    let mut read = vec![("data", format!("{}: {}", job.original.name, job.original.summary()))];
    if (s.n, s.d) != (job.original.n(), job.original.d()) {
        let (objects, features) = (count(s.n, "object"), count(s.d, "feature"));
        read.push(("seen", format!("{objects}, {features} after the first transforms")));
    }
    read.extend(job.original.known.as_ref().map(|known| ("known", known_of(known))));
    let is_cosine = clustering.extras.geometry == Geometry::Cosine
        || s.method["clusterer"]["distortion"] == "cosine";
    let distances = if is_cosine { " (cosine distances)" } else { "" };
    let mut done = vec![("method", format!("{}{distances}", job.clusterer()))];
    done.extend(candidates::lines(clustering, s.constraints));
    if job.method.selector.is_some() {
        done.push(("queries", queries(s, args.job.budget)));
    }
    done.extend(s.objective.map(|objective| ("objective", shown(Some(objective)))));
    let status = match s.iterations {
        0 => s.status.to_string(),
        i => format!("{} after {}", s.status, count(i, "iteration")),
    };
    done.push(("status", status));
    done.push(("time", duration(s.seconds)));
    done.extend(written(args));
    // Rows that were merged count each, as in the labels.
    let mut sizes = vec![0; clustering.k];
    job.labels(&clustering.labels).iter().flatten().for_each(|&h| sizes[h as usize] += 1);
    let mut found = vec![("clusters", listed_sizes(&sizes))];
    found.extend(s.previous.as_ref().map(|previous| ("previous", previous.text())));
    if s.noise > 0 {
        found.push(("noise", format!("{}, -1 in the labels", count(s.noise, "object"))));
    }
    found.extend(clusters.iter().map(|(cluster, text)| (cluster.as_str(), text.clone())));
    if s.constraints > 0 {
        let of = |kind: Kind, violated: u64| {
            let given = clustered.constraints.count(kind);
            format!("{} ({violated} violated)", count(given, kind.hyphenated()))
        };
        let must = of(Kind::MustLink, s.violations.must);
        let cannot = of(Kind::CannotLink, s.violations.cannot);
        let read = if s.constraints_read { "" } else { "; none was read" };
        found.push(("constraints", format!("{must}, {cannot}{read}")));
    }
    let held_out = s.scored.with_class - s.scored.constrained;
    found.extend(s.scores.usual(s.scored.others.get("ari").map(|ari| (ari, held_out))));
    found.extend(s.scored.text().map(|scored| ("scored", scored)));
    found.extend(s.validation.as_ref().map(|v| ("validation", v.text())));
    term::summary(&[read, done, found], next(args))
}
