//! How does one method meet one data set?
//!
//! [`Job::open`] reads everything and carries out the steps that change rows; [`Job::select`] asks;
//! [`Job::cluster`] clusters. Objects are numbered as they stand after the row-changing steps;
//! [`Job::id`] gives the user's name of each.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap_complete::ArgValueCompleter;
use mustlink::closure::{Closure, Feasibility, OnConflict};
use mustlink::config::{self, Document, Node};
use mustlink::constraints::Constraints;
use mustlink::context::EnsembleStore;
use mustlink::ensemble::Ensemble;
use mustlink::features::FeatureWeights;
use mustlink::ledger::{Durability, Header, Ledger};
use mustlink::method::Method;
use mustlink::random::SeedPath;
use mustlink::registry;
use mustlink::roles::{EnsembleGenerator, Oracle};
use mustlink::run::{self, Run, Transformed, guarded};
use mustlink::selection::{self, Asking, Selection};
use mustlink::{Context, DataKind, Error, Problem, Result};
use mustlink_datasets::{Dataset, OpenOptions, RowMap};
use serde_json::{Value, json};

use crate::complete;
use crate::failure::Failure;
use crate::method_file::MethodFile;
use crate::options::{self, DataDir};
use crate::progress::Spinner;
use crate::toml_text::as_toml;
use crate::{interrupt, term};

/// What `cluster` and `select` have in common.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct JobArgs {
    /// Data set: a built-in name, a name in the data directory, a path (.csv, .mtx, also with .gz),
    /// or - for a CSV on standard input
    #[arg(long, value_name = "DATA", add = ArgValueCompleter::new(complete::data))]
    pub data: String,
    /// Method file. Absent: pck_means with weight = "auto" where anything constrains, else kmeans;
    /// for sparse data with distortion = "cosine"
    #[arg(long, value_name = "FILE")]
    pub method: Option<PathBuf>,
    /// Clusterer, in place of that of the method: a name or { type = "…", … }
    #[arg(long, value_name = "NAME", add = ArgValueCompleter::new(complete::clusterers))]
    pub clusterer: Option<String>,
    /// Query selector, in place of that of the method: a name or { type = "…", … }
    #[arg(long, value_name = "NAME", add = ArgValueCompleter::new(complete::selectors))]
    pub selector: Option<String>,
    /// Who answers, in place of that of the method: a name or { type = "…", … }; absent: the classes
    #[arg(long, value_name = "NAME", add = ArgValueCompleter::new(complete::oracles))]
    pub oracle: Option<String>,
    /// Set an option of the method: clusterer.restarts=20 (may be repeated)
    #[arg(long = "set", value_name = "A.B=VALUE")]
    pub sets: Vec<String>,
    /// Number of clusters. Absent: that of the method file, else the number of classes where they
    /// are known and the method needs k
    #[arg(long, value_name = "K")]
    pub k: Option<usize>,
    /// CSV of constraints i,j,type,weight; objects by row number from 0, or by id with --id
    #[arg(long, value_name = "FILE")]
    pub constraints: Option<String>,
    /// Column of a CSV that holds ids
    #[arg(long, value_name = "COLUMN")]
    pub id: Option<String>,
    /// Column of a CSV that holds classes (default: a last column named "class")
    #[arg(long, value_name = "COLUMN")]
    pub class: Option<String>,
    /// Most questions asked. Absent: until the selector is done
    #[arg(long, value_name = "Q")]
    pub budget: Option<usize>,
    /// File that keeps every question and answer as they come; given again, the selection goes on
    /// where it stopped and asks nothing twice
    #[arg(long, value_name = "FILE")]
    pub ledger: Option<PathBuf>,
    /// Seed of every random number. Absent: that of the method file, else 0
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// Threads (default: one per core); changes no result
    #[arg(long, value_name = "N", value_parser = options::threads)]
    pub threads: Option<usize>,
    /// Refuse data and methods that take more memory than this (default: 80 % of what the machine, its
    /// control groups and ulimit -v allow)
    #[arg(long, value_name = "4GiB", value_parser = options::bytes)]
    pub memory_limit: Option<u64>,
    #[command(flatten)]
    pub data_dir: DataDir,
    /// No notes, warnings and progress
    #[arg(long, short)]
    pub quiet: bool,
}

impl JobArgs {
    /// Notes what the program chose by itself.
    fn note(&self, text: &str) {
        if !self.quiet {
            term::tell(&format!("note: {text}"));
        }
    }

    fn warn(&self, text: &str) {
        if !self.quiet {
            term::tell(&format!("warning: {text}"));
        }
    }
}

/// One method on one data set.
pub(crate) struct Job {
    /// The data set as it was read.
    pub original: Dataset,
    /// The data set after the steps that change rows.
    pub set: Dataset,
    /// Where its rows went, if they did.
    pub rows: Option<RowMap>,
    /// The method, without those steps.
    pub method: Method,
    /// The problem before the other steps: given constraints, k.
    pub problem: Problem,
    /// Number of row-changing steps in front.
    steps: usize,
    budget: Option<usize>,
    ledger: Option<PathBuf>,
    ctx: Context,
    spinner: Arc<Spinner>,
    warnings: Vec<String>,
}

/// A result that the framework has looked at, with the constraints it was to respect.
pub(crate) struct Clustered {
    pub run: Run,
    pub constraints: Constraints,
    /// How much each feature counts, where the method learns it.
    pub weights: Option<FeatureWeights>,
}

impl Job {
    /// Reads data set, method and constraints.
    pub fn open(args: &JobArgs, selecting: bool) -> std::result::Result<Self, Failure> {
        if args.data == "-" && args.constraints.as_deref() == Some("-") {
            return Err(Failure::usage("--data and --constraints cannot both be -"));
        }
        let open = OpenOptions {
            class_column: args.class.clone(),
            id_column: args.id.clone(),
            ..args.data_dir.open_options()
        };
        // A slip in the method file is found before a large data set is read.
        let document = args.method.as_deref().map(Document::read).transpose()?;
        let original = mustlink_datasets::open(&args.data, &open)?;
        let given = match &args.constraints {
            Some(file) => mustlink_datasets::read_constraints(file, &original, args.id.is_some())
                .map_err(|e| Failure::named(&e, &|i| original.id(i)))?,
            None => Constraints::default(),
        };
        let (file, notes) = method_file(args, document, &original, !given.is_empty(), selecting)?;
        notes.iter().for_each(|note| args.note(note));
        let (k, seed) = (args.k.or(file.k), args.seed.or(file.seed).unwrap_or(0));
        let mut method = file.into_method();
        let spinner = Spinner::start(args.quiet);
        // As in an experiment with this seed, in its first repeat and fold.
        let root = SeedPath::new(seed).child(&original.name);
        let ctx = Context::builder(root.index(0).index(0))
            .cancel(interrupt::flag())
            .progress(spinner.clone())
            .memory_limit(args.memory_limit.or_else(mustlink::memory::default_limit))
            .ensembles(EnsembleStore::default(), root)
            .build();
        let steps = row_steps(&method)?;
        let rest = method.transforms.split_off(steps);
        let front = std::mem::replace(&mut method.transforms, rest);
        let (set, rows) = original
            .transformed(&front, &ctx)
            .map_err(|e| Failure::named(&e, &|i| original.id(i)))?;
        let mut constraints = given;
        if let Some(rows) = &rows {
            let (n, left) = (original.n(), set.n());
            args.note(&format!("the first transforms made {left} rows of {n}"));
            let (moved, dropped) = constraints
                .renumbered(set.n(), &rows.map)
                .map_err(|e| Failure::named(&e, &|i| original.id(i)))?;
            if dropped > 0 {
                ctx.warn(format!("{dropped} constraints lost an object that was dropped"));
            }
            constraints = moved;
        }
        let problem = Problem { k, ..Problem::new(set.data.clone()).with_constraints(constraints) };
        let warnings = Vec::new();
        let (budget, ledger) = (args.budget, args.ledger.clone());
        let mut job = Job {
            original,
            set,
            rows,
            method,
            problem,
            steps,
            budget,
            ledger,
            ctx,
            spinner,
            warnings,
        };
        job.choose_k(args, selecting);
        job.judge(args, selecting).map_err(|e| job.named(&e))?;
        Ok(job)
    }

    /// Chooses k where the method needs one and none is given. A run that only selects constraints
    /// needs a clusterer, and so its k, only where the selector needs clusterings.
    fn choose_k(&mut self, args: &JobArgs, selecting: bool) {
        let clusterer = self.method.clusterer.as_ref();
        let selector = self.method.selector.as_ref().map(|s| s.properties());
        let clusters = !selecting || selector.as_ref().is_some_and(|s| s.needs_clustering);
        let needed = clusterer.is_some_and(|c| clusters && c.properties().needs_k)
            || selector.is_some_and(|s| s.needs_k);
        if let (None, true, Some(k)) = (self.problem.k, needed, self.set.k()) {
            args.note(&format!("k = {k}, the number of classes; --k chooses another"));
            self.problem.k = Some(k);
        }
    }

    /// What can be checked before anything runs.
    fn judge(&mut self, args: &JobArgs, selecting: bool) -> Result<()> {
        if self.problem.k.is_some() {
            self.problem.require_k(None, "k")?;
        }
        let Method { clusterer, selector, .. } = &self.method;
        match (clusterer, selector) {
            (None, None) => {
                return Err(Error::Usage(
                    "the method has neither a clusterer nor a selector; add one, for example \
                     --clusterer pck_means"
                        .into(),
                ));
            }
            (None, Some(s)) if !selecting && !s.properties().self_clustering => {
                return Err(Error::Usage(format!(
                    "the method has no clusterer, and the selector {} does not cluster by itself; \
                     add one, for example --clusterer pck_means",
                    s.typetag_name()
                )));
            }
            _ => {}
        }
        if self.budget == Some(0) {
            self.warnings.push("--budget 0: nothing is asked".into());
        }
        self.warnings.extend(self.contradictions()?);
        for warning in &self.warnings {
            args.warn(warning);
        }
        Ok(())
    }

    /// What is wrong with the given constraints, for methods that live with it.
    fn contradictions(&self) -> Result<Vec<String>> {
        let constraints = &self.problem.constraints;
        if constraints.is_empty() {
            return Ok(Vec::new());
        }
        let closure = Closure::new(constraints, self.problem.n(), OnConflict::Keep)?;
        let conflicts = closure.conflicts().len();
        // Each chain is a search of its own: long lists of them are no help.
        if conflicts > 1000 {
            return Ok(vec![format!(
                "constraints: {conflicts} cannot-links contradict must-links"
            )]);
        }
        if conflicts > 0 {
            let error = Error::InconsistentConstraints(closure.witnesses());
            return Ok(vec![error.render(&|i| self.id(i))]);
        }
        // Looking for cliques in large sets may take longer than clustering.
        match self.problem.k {
            Some(k) if k <= 2 || constraints.len() <= 10_000 => match closure.feasibility(k) {
                Feasibility::Infeasible(witness) => {
                    let error = Error::InfeasibleConstraints { k, witness };
                    Ok(vec![error.render(&|i| self.id(i))])
                }
                _ => Ok(Vec::new()),
            },
            _ => Ok(Vec::new()),
        }
    }

    /// The user's name of object `i`.
    pub fn id(&self, i: usize) -> String {
        match &self.rows {
            Some(rows) => self.original.id(rows.kept[i]),
            None => self.original.id(i),
        }
    }

    /// An error in the user's names.
    pub fn named(&self, error: &Error) -> Failure {
        Failure::named(error, &|i| self.id(i))
    }

    /// The row of object `i` in the data set as it was read.
    pub fn original_row(&self, i: u32) -> u32 {
        match &self.rows {
            Some(rows) => rows.kept[i as usize] as u32,
            None => i,
        }
    }

    /// The objects after the transforms that read no constraints: what selectors see.
    pub fn seen(&self) -> Result<Transformed> {
        run::transform_from(self.steps, self.method.prefix(), &self.problem, &self.ctx)
    }

    /// The ensemble that `generator` makes of what selectors see.
    pub fn ensemble(&self, generator: &dyn EnsembleGenerator) -> Result<Arc<Ensemble>> {
        self.ctx.ensemble_labels(generator, &self.seen()?.problem).map_err(|e| e.at("generator"))
    }

    /// The run around this job.
    pub fn context(&self) -> &Context {
        &self.ctx
    }

    /// Asks; `None` when the method has no selector.
    pub fn select(&self, seen: &Problem) -> Result<Option<Selection>> {
        let Some(selector) = &self.method.selector else { return Ok(None) };
        let tag = selector.typetag_name();
        let oracle: Box<dyn Oracle> = match &self.method.oracle {
            Some(oracle) => oracle.clone(),
            None if self.set.classes.is_some() => registry::build_default("truth")?,
            None => {
                return Err(Error::Usage(format!(
                    "the selector {tag} needs somebody who answers, and no classes are known; name \
                     their column by --class, or an oracle by --oracle"
                )));
            }
        };
        let mut scene = self.set.scene(self.ctx.child("oracle"));
        scene.data = Some(seen.data.clone());
        let selector_ctx = self.ctx.child("selector");
        let open = |path: &PathBuf| {
            let header = Header::new(&scene, &**selector, &*oracle, &selector_ctx);
            let durability = match oracle.properties().interactive {
                true => Durability::Every,
                false => Durability::Batch(64),
            };
            Ledger::open(path, header, durability)
        };
        let mut ledger = self.ledger.as_ref().map(open).transpose()?;
        for notice in ledger.iter().flat_map(Ledger::notices) {
            self.ctx.warn(notice);
        }
        let mut respondent = oracle.open(&scene).map_err(|e| e.at("oracle"))?;
        let provide = |so_far: &Constraints, _request: u64| {
            self.method.between_questions(seen, so_far, self.steps, &self.ctx)
        };
        let ask = || {
            let (budget, provide) = (self.budget, Some(&provide as &_));
            let asking = Asking { budget, provide, ledger: ledger.as_mut(), ..Asking::default() };
            selection::run_with(&**selector, seen, &mut *respondent, asking, &selector_ctx)
        };
        guarded(tag, ask).map(Some).map_err(|e| e.at("selector"))
    }

    /// Clusters under the given and the selected constraints.
    pub fn cluster(&self, seen: &Transformed, selection: Option<&Selection>) -> Result<Clustered> {
        let lineage = &seen.lineage;
        let seen = &seen.problem;
        let constraints = match selection {
            Some(s) => {
                let selected = s.at(s.asked(), self.method.view)?;
                seen.constraints.union(&selected, seen.n())?
            }
            None => (*seen.constraints).clone(),
        };
        let under = Problem { constraints: Arc::new(constraints.clone()), ..seen.clone() };
        let asked = selection.map_or(0, Selection::asked);
        let (input, run) =
            self.method.clustering_at(&under, selection, asked, self.steps, &self.ctx)?;
        let lineage = lineage.then(&input.lineage);
        let weights = FeatureWeights::learned(&run.clustering, &lineage, &self.set.feature_names);
        Ok(Clustered { run, constraints, weights })
    }

    /// The name of what groups the objects.
    pub fn clusterer(&self) -> &'static str {
        let own = self.method.selector.as_ref().map_or("", |s| s.typetag_name());
        self.method.clusterer.as_ref().map_or(own, |c| c.typetag_name())
    }

    /// Ends the progress display, shows the warnings of the plugins, and gives them all.
    pub fn finish(&self, args: &JobArgs) -> Vec<String> {
        self.spinner.finish();
        let new = self.ctx.warnings();
        new.iter().for_each(|w| args.warn(w));
        self.warnings.iter().cloned().chain(new).collect()
    }
}

/// An output whose folder does not exist is found before the work, not after it.
pub(crate) fn check_out(option: &str, out: Option<&str>) -> std::result::Result<(), Failure> {
    let Some(out) = out.filter(|o| *o != "-").map(Path::new) else { return Ok(()) };
    let message = match out.parent().filter(|p| !p.as_os_str().is_empty()) {
        Some(folder) if !folder.is_dir() => "its folder does not exist",
        _ if out.is_dir() => "is a folder; name a file",
        _ => return Ok(()),
    };
    let place = format!("{option} {}", out.display());
    Err(Failure::usage(format!("{place}: {message}")))
}

/// The number of transforms in front of which the last changes rows.
fn row_steps(method: &Method) -> Result<usize> {
    let steps = &method.transforms;
    let Some(last) = steps.iter().rposition(|t| t.properties().changes_rows) else { return Ok(0) };
    if let Some(at) = steps[..last].iter().position(|t| t.properties().reads_constraints) {
        let (changes, reads) = (steps[last].typetag_name(), steps[at].typetag_name());
        return Err(Error::Usage(format!(
            "transforms[{last}]: {changes} changes rows and must stand before {reads}, which reads \
             constraints"
        )));
    }
    Ok(last + 1)
}

/// The method file after the options of the command line, with defaults filled in.
fn method_file(
    args: &JobArgs,
    document: Option<Document>,
    set: &Dataset,
    constrained: bool,
    selecting: bool,
) -> std::result::Result<(MethodFile, Vec<String>), Failure> {
    let asks = args.selector.is_some()
        || args.oracle.is_some()
        || args.budget.is_some()
        || args.ledger.is_some();
    let own = document.is_some();
    let mut document = match document {
        Some(document) => document,
        None => Document::parse("the default method", "")?,
    };
    let mut notes = Vec::new();
    let mut default_clusterer = None;
    if !own && args.clusterer.is_none() {
        let clusterer = default_clusterer_for(set, constrained || asks || selecting);
        document.root_mut().insert("clusterer", Node::synthetic(&clusterer));
        let shown = as_toml(&clusterer).trim().replace('\n', ", ");
        default_clusterer =
            Some(format!("clusterer = {{ {shown} }}; --clusterer or --method chooses another"));
    }
    let shortcuts =
        [("clusterer", &args.clusterer), ("selector", &args.selector), ("oracle", &args.oracle)];
    let mut complaints = Vec::new();
    let mut collect = |e: Error| match e {
        Error::Config(list) => complaints.extend(list),
        other => complaints.push(Node::synthetic(&Value::Null).diagnostic("", other.to_string())),
    };
    for (slot, value) in shortcuts {
        if let Some(value) = value {
            document.set(&format!("{slot}={value}")).unwrap_or_else(&mut collect);
        }
    }
    for set in &args.sets {
        document.set(set).unwrap_or_else(&mut collect);
    }
    if document.root().get("selector").is_none() && (asks || selecting) {
        if own {
            return Err(Failure::usage(
                "nothing asks: the method has no selector; name one by --selector (run \"mustlink \
                 list query-selectors\")",
            ));
        }
        notes.push("selector = \"explore_consolidate\"; --selector chooses another".into());
        let node = Node::synthetic(&json!("explore_consolidate"));
        document.root_mut().insert("selector", node);
    }
    config::validate::<MethodFile>(document.root(), "", config::Check::default(), &mut complaints);
    if !complaints.is_empty() {
        // The person wrote --clusterer x, not --set clusterer=x.
        for complaint in &mut complaints {
            for (slot, value) in shortcuts {
                if let Some(value) = value
                    && complaint.source == format!("--set {slot}={value}")
                    && !args.sets.contains(&format!("{slot}={value}"))
                {
                    complaint.source = format!("--{slot} {value}");
                }
            }
        }
        return Err(Error::Config(complaints).into());
    }
    let file: MethodFile = config::build(document.root(), "")?;
    let used =
        !selecting || file.selector.as_ref().is_some_and(|s| s.properties().needs_clustering);
    notes.extend(default_clusterer.filter(|_| used));
    Ok((file, notes))
}

/// The clusterer where none is named.
fn default_clusterer_for(set: &Dataset, constrained: bool) -> Value {
    let mut clusterer = match constrained {
        true => json!({ "type": "pck_means", "weight": "auto" }),
        false => json!({ "type": "kmeans" }),
    };
    if set.data.kind() == DataKind::Csr {
        clusterer["distortion"] = "cosine".into();
    }
    clusterer
}
