//! How does one method meet one data set?
//!
//! [`Job::open`] reads everything and carries out the steps that change rows; [`Job::select`] asks;
//! [`Job::cluster`] clusters. Objects are numbered as they stand after the row-changing steps;
//! [`Job::id`] gives the user's name of each.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mustlink::clustering::Clustering;
use mustlink::config;
use mustlink::constraints::Constraints;
use mustlink::context::EnsembleStore;
use mustlink::ensemble::Ensemble;
use mustlink::ledger::{Durability, Header, Ledger};
use mustlink::method::Method;
use mustlink::registry;
use mustlink::roles::{EnsembleGenerator, Oracle, Transform};
use mustlink::run::{self, Run, Steps, Transformed, guarded};
use mustlink::selection::{self, Asking, Contradicting, Record, Selection};
use mustlink::{Context, DataKind, Error, Problem, Result};
use mustlink_datasets::{Dataset, FeatureWeights, RowMap};
use serde_json::Value;

use crate::failure::Failure;
use crate::file_kind;
use crate::interrupt;
pub(crate) use crate::job_args::JobArgs;
use crate::method_file::method_file;
use crate::notices;
use crate::progress::Spinner;

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
    pub steps: usize,
    /// Those steps as they were fitted.
    front: Steps,
    /// Seed of every random number.
    pub seed: u64,
    /// The method as a configuration.
    pub config: Value,
    budget: Option<usize>,
    ledger: Option<PathBuf>,
    /// The oracle stands on the command line.
    own_oracle: bool,
    ctx: Context,
    spinner: Arc<Spinner>,
    warnings: Vec<String>,
}

/// A result that the framework has looked at, with the constraints it was to respect.
pub(crate) struct Clustered {
    pub run: Run,
    pub constraints: Arc<Constraints>,
    /// How much each feature counts, where the method learns it.
    pub weights: Option<FeatureWeights>,
    /// The transforms as they were fitted, those before `input` included.
    pub steps: Steps,
    /// What the method saw.
    pub input: Transformed,
}

impl Job {
    /// Reads data set, method and constraints.
    pub fn open(args: &JobArgs, selecting: bool) -> std::result::Result<Self, Failure> {
        if args.data == "-" && args.constraints.as_deref() == Some("-") {
            return Err(Failure::usage("--data and --constraints cannot both be -"));
        }
        let open = args.columns.open_options(&args.data_dir);
        // A slip in the method file is found before a large data set is read.
        let document = args.method.as_deref().map(file_kind::document).transpose()?;
        let original = mustlink_datasets::open(&args.data, &open)?;
        let given = match &args.constraints {
            Some(file) => {
                mustlink_datasets::read_constraints(file, &original, args.columns.id.is_some())
                    .map_err(|e| Failure::named(&e, &|i| original.id(i)))?
            }
            None => Constraints::default(),
        };
        let ignored = &original.reading.ignored;
        if args.constraints.is_some() && original.ids.is_none() && !ignored.is_empty() {
            args.note(&format!(
                "objects of --constraints are row numbers from 0; --id {} would make them ids, if one of \
                 the columns left out holds them",
                ignored[0]
            ));
        }
        let given = with_known(args, &original, given)?;
        let (file, notes) = method_file(args, document, &original, !given.is_empty(), selecting)?;
        let takes_table = |t: &dyn Transform| t.properties().accepts.contains(&DataKind::Table);
        if !file.transforms.first().is_some_and(|t| takes_table(&**t)) {
            original.require_numbers()?;
        }
        notes.iter().for_each(|note| args.note(note));
        let (k, seed) = (args.k.or(file.k), args.seed.or(file.seed).unwrap_or(0));
        let mut config = serde_json::to_value(&file).unwrap_or_default();
        config::own_names(&mut config);
        let mut method = file.into_method();
        let person = asks_a_person(&method);
        let spinner = Spinner::start(!args.quiet && !person);
        // As in an experiment with this seed, in its first repeat and fold.
        let root = original.seed_path(seed, &original.name);
        let ctx = Context::builder(root.index(0).index(0))
            .cancel(interrupt::flag())
            .progress(spinner.clone())
            .memory_limit(args.memory_limit.or_else(crate::memory::default_limit))
            .base(args.base())
            .ensembles(EnsembleStore::default(), root)
            .build();
        let steps = row_steps(&method)?;
        let rest = method.transforms.split_off(steps);
        let in_front = std::mem::replace(&mut method.transforms, rest);
        let (set, rows, front) = original
            .transformed(&in_front, &ctx)
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
            front,
            seed,
            config,
            budget,
            ledger,
            own_oracle: args.oracle.is_some(),
            ctx,
            spinner,
            warnings,
        };
        job.original.reading.notes.iter().for_each(|note| args.note(note));
        for classes in [&job.original.known, &job.original.classes].into_iter().flatten() {
            if let Some(measured) = classes.measurements() {
                args.warn(&measured);
            }
        }
        let names = &job.set.feature_names;
        if let Some(said) = notices::one_feature(&job.method, &job.problem.data, names) {
            args.note(&said);
        }
        job.choose_k(args);
        job.judge(args, selecting).map_err(|e| job.named(&e))?;
        Ok(job)
    }

    /// Chooses k where the method needs one and none is given: the same for a run that only selects
    /// constraints, so that the same questions are asked.
    fn choose_k(&mut self, args: &JobArgs) {
        let clusterer = self.method.clusterer.as_ref();
        let selector = self.method.selector.as_ref();
        let by_default = args.clusterer.is_none() && args.method.is_none();
        let needed = clusterer.is_some_and(|c| by_default || c.properties().needs_k)
            || selector.is_some_and(|s| s.properties().needs_k);
        let known = self.set.known.as_ref().map(|c| c.k());
        if let (None, true, Some(k)) = (self.problem.k, needed, self.set.k().or(known)) {
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
        if let (Some(unread), false) = (self.method.unread_by(), selecting) {
            if self.method.selector.is_some() && !args.selection_only {
                return Err(Error::Usage(unread_answers(unread)));
            }
            self.warnings.extend(notices::unread(&self.method, self.problem.constraints.len()));
        }
        if self.budget == Some(0) {
            self.warnings.push("--budget 0: nothing is asked".into());
        }
        let found = notices::contradictions(&self.problem, &|i| self.id(i))?;
        self.warnings.extend(found);
        for warning in &self.warnings {
            args.warn(warning);
        }
        Ok(())
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
        let known = self.set.answerable().filter(|_| self.method.is_answered_by_classes());
        let seen = &match &known {
            Some(known) => seen.clone().asking_about(known),
            None => seen.clone(),
        };
        if let Some(partly) = self.set.partly_known().filter(|_| known.is_some()) {
            self.ctx.warn(partly);
        }
        // What the command line names starts where the program does, not at the method file.
        let oracle_ctx = self.ctx.child("oracle");
        let mut scene = self.set.scene(match self.own_oracle {
            true => oracle_ctx.based(Path::new("")),
            false => oracle_ctx,
        });
        scene.data = Some(seen.data.clone());
        let selector_ctx = self.ctx.child("selector");
        let open = |path: &PathBuf| {
            let header = Header::new(&scene, &**selector, &*oracle, &selector_ctx);
            let durability = if oracle.properties().interactive {
                Durability::Every
            } else {
                Durability::Batch(64)
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
            let ledger = ledger.as_mut().map(|ledger| ledger as &mut dyn Record);
            let asking = Asking { budget, provide, ledger, ..Asking::default() };
            selection::run_with(&**selector, seen, &mut *respondent, asking, &selector_ctx)
        };
        guarded(tag, ask).map(Some).map_err(|e| e.at("selector"))
    }

    /// Clusters under the given and the selected constraints.
    pub fn cluster(&self, seen: &Transformed, selection: Option<&Selection>) -> Result<Clustered> {
        let (lineage, before) = (&seen.lineage, &seen.steps);
        let seen = &seen.problem;
        let constraints = match selection {
            Some(s) => Arc::new(self.method.constraints_at(seen, s, s.asked())?),
            None => seen.constraints.clone(),
        };
        let under = Problem { constraints: constraints.clone(), ..seen.clone() };
        let asked = selection.map_or(0, Selection::asked);
        let (input, run) =
            self.method.clustering_at(&under, selection, asked, self.steps, &self.ctx)?;
        let lineage = lineage.then(&input.lineage);
        let weights = FeatureWeights::learned(&run.clustering, &lineage, &self.set.feature_names);
        let all = [&self.front, before, &input.steps];
        let steps = Steps(all.into_iter().flat_map(|steps| steps.0.iter().cloned()).collect());
        Ok(Clustered { run, constraints, weights, steps, input })
    }

    /// The name of what groups the objects.
    pub fn clusterer(&self) -> &str {
        let named = |slot: &str| self.config[slot]["type"].as_str();
        named("clusterer").or_else(|| named("selector")).unwrap_or_default()
    }

    /// What is said where the result has not as many clusters as were asked for.
    pub fn other_k(&self, clustering: &Clustering) -> Option<String> {
        notices::other_k(&self.method, self.clusterer(), self.problem.k, clustering)
    }

    /// What is said of answers that contradict each other or the given constraints: how many, what becomes
    /// of them, the shortest chain of the first few.
    pub fn clash(&self, selection: &Selection, given: &Constraints) -> Result<Option<String>> {
        let asked = selection.asked();
        let found = selection.contradicting(asked).len();
        if found == 0 {
            return Ok(None);
        }
        let rule = self.method.on_conflict;
        let out = selection.left_out(asked, rule, given)?.len();
        let fate = match rule {
            Contradicting::KeepAll => "all are used".to_string(),
            Contradicting::KeepFirst => "they are left out".into(),
            _ => format!("{out} are left out, those on the chains included"),
        };
        let mut text = format!(
            "{found} of {asked} answers contradict what was known before; {fate} (on_conflict = \"{}\")",
            rule.name()
        );
        let witnesses = selection.witnesses(asked, given, MOST_CHAINS)?;
        if !witnesses.is_empty() {
            let chains = Error::InconsistentConstraints(witnesses).render(&|i| self.id(i));
            text += &format!("; {}", chains.trim_start_matches("constraints: "));
        }
        if found > MOST_CHAINS {
            text += &format!("; and {} more", found - MOST_CHAINS);
        }
        Ok(Some(text))
    }

    /// Ends the progress display, shows the warnings of the plugins, and gives them all.
    pub fn finish(&self, args: &JobArgs) -> Vec<String> {
        self.spinner.finish();
        let new = self.ctx.warnings();
        new.iter().for_each(|w| args.warn(w));
        self.warnings.iter().cloned().chain(new).collect()
    }
}

/// Most contradicting answers of which the chain is shown.
const MOST_CHAINS: usize = 5;

/// Most constraints made of known classes one by one.
pub(crate) const MOST_OF_CLASSES: usize = 100_000;

/// The given constraints and those that follow from the classes known of some objects.
fn with_known(args: &JobArgs, set: &Dataset, given: Constraints) -> Result<Constraints> {
    let Some(known) = &set.known else { return Ok(given) };
    let made = set.known_constraints(MOST_OF_CLASSES)?;
    let (objects, k) = (known.sizes().iter().sum::<usize>(), known.k());
    args.note(&format!("{objects} objects of {k} known classes make {} constraints", made.len()));
    given.union(&made, set.n())
}

/// Why nothing is asked where nobody reads the answers.
fn unread_answers(unread: &str) -> String {
    format!(
        "{unread} reads no constraints: answers would change nothing. Choose one that does, for example \
         --clusterer pck_means; ask without clustering by \"mustlink select\"; or ask all the same by \
         --selection-only"
    )
}

/// Whether somebody may be asked at the terminal, whose prompts a moving line would overwrite.
fn asks_a_person(method: &Method) -> bool {
    method.oracle.as_ref().is_some_and(|o| o.properties().interactive)
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
