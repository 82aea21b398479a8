//! One method on one data set, as set on the command line.
//!
//! [`Job::open`] reads everything and carries out the steps that change rows; what is done then is that of
//! [`Single`], which the Python package does too.

use mustlink::text::{count, form};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mustlink::clustering::{Clustering, NONE};
use mustlink::config;
use mustlink::constraints::{Constraint, Constraints, Group};
use mustlink::method::Method;
use mustlink::roles::Transform;
use mustlink::selection::{Contradicting, Selection};
use mustlink::{DataKind, Error, Problem, Result};
use mustlink_datasets::{Classes, Dataset, OpenOptions, shell_word};
use mustlink_experiments::{Asked, Clustered, MOST_OF_CLASSES, Single, notices};
use serde_json::Value;

use crate::broken::{Broken, Sources, broken};
use crate::failure::Failure;
use crate::file_kind;
use crate::interrupt;
pub(crate) use crate::job_args::JobArgs;
use crate::method_file::{categories, method_file};
use crate::progress::Meter;

/// One method on one data set, as set on the command line.
pub(crate) struct Job {
    single: Single,
    /// Seed of every random number.
    pub seed: u64,
    /// The method as a configuration.
    pub config: Value,
    budget: Option<usize>,
    ledger: Option<PathBuf>,
    /// True if the command line names the oracle.
    own_oracle: bool,
    meter: Arc<Meter>,
    warnings: Vec<String>,
    /// The name of the constraints file, and its constraints.
    file: Option<(String, Constraints)>,
    /// The names of the columns of known classes and of groups.
    columns: [Option<String>; 2],
}

impl Deref for Job {
    type Target = Single;

    fn deref(&self) -> &Single {
        &self.single
    }
}

impl Job {
    /// Reads data set, method and constraints.
    pub fn open(args: &JobArgs, selecting: bool) -> std::result::Result<Self, Failure> {
        args.check_set_once()?;
        let args = &args.completed()?;
        if args.data == "-" && args.constraints.as_deref() == Some("-") {
            return Err(Failure::usage("--data and --constraints cannot both be -"));
        }
        if args.ledger.as_deref() == Some(Path::new("-")) {
            return Err(Failure::usage("--ledger -: a ledger is read and written; name a file"));
        }
        let columns = args.columns.open_options(&args.data_dir);
        // A slip in the method file is found before a large data set is read.
        let document = args.method.as_deref().map(file_kind::method).transpose()?;
        file_kind::declare_set(document.as_ref(), &args.sets, args.base())?;
        let mut open = OpenOptions {
            apart_column: args.apart.clone(),
            weights_column: args.object_weights.clone(),
            categories: categories(document.as_ref(), args.transforms.as_ref(), &args.sets),
            pairs: args.kind_of_pairs(),
            memory_limit: args.memory_limit.or_else(crate::memory::default_limit),
            ..columns
        };
        if let Some(text) = &args.text {
            if !args.columns.features.is_empty() {
                return Err(Failure::usage(
                    "--text and --features both name what is clustered; leave one of them out",
                ));
            }
            open.features = vec![text.clone()];
            // A text that is a number is a text, too.
            open.categories.push(text.clone());
        }
        let mut original = mustlink_datasets::open(&args.data, &open)?;
        original.reading.described_by.clone_from(&args.described_by);
        args.text.as_ref().map_or(Ok(()), |text| check_texts(&original, text))?;
        let (by_id, limit) = (original.ids.is_some(), open.memory_limit);
        let given = match &args.constraints {
            Some(file) => read_constraints(file, &original, by_id, limit, &|text| args.note(text))?,
            None => Constraints::default(),
        };
        let mut warnings = Vec::new();
        if let Some(file) = args.constraints.as_ref().filter(|_| given.is_empty()) {
            warnings.push(nothing_said(file));
        }
        let ignored = &original.reading.ignored;
        if args.constraints.is_some() && original.ids.is_none() && !ignored.is_empty() {
            args.note(&format!(
                "objects of --constraints are row numbers from 0; --id {} would make them ids, if one of \
                 the columns left out holds them",
                shell_word(&ignored[0])
            ));
        }
        let file_given = args.constraints.clone().map(|file| (file, given.clone()));
        let given = with_known(args, &original, given)?;
        let given = given.with_groups(original.n(), original.apart.iter().cloned())?;
        let (file, notes) = method_file(args, document, &original, !given.is_empty(), selecting)?;
        let takes_table = |t: &dyn Transform| t.properties().accepts.contains(&DataKind::Table);
        if !file.method.transforms.first().is_some_and(|t| takes_table(&**t)) {
            original.require_numbers()?;
        } else if let Some(found) = original.not_numbers() {
            found.refuse_as_words()?;
        }
        notes.iter().for_each(|note| args.note(note));
        let (k, seed) = (args.k.or(file.k), args.seed.or(file.seed).unwrap_or(0));
        let mut config = serde_json::to_value(&file).unwrap_or_default();
        config::own_names(&mut config);
        let method = file.method;
        let person = args.answered_by_hand || asks_a_person(&method);
        let meter = Meter::start(!args.quiet && !person);
        let ctx = Single::context_of(&original, seed)
            .cancel(interrupt::flag())
            .progress(meter.clone())
            .memory_limit(open.memory_limit)
            .base(args.base());
        let ctx = if args.keep_best { ctx.keep_best() } else { ctx }.build();
        let told = given.len();
        let single = Single::new(original.clone(), method, k, given, ctx)
            .map_err(|e| Failure::named(&e, &|i| original.id(i)))?;
        if single.rows.is_some() {
            let (n, left) = (original.n(), single.set.n());
            let mut text = format!("the first transforms made {left} rows of {n}");
            let left = single.problem.constraints.len();
            if left < told {
                text += &format!(", and {} of {told}", count(left, "constraint"));
            }
            args.note(&text);
        }
        let (budget, ledger) = (args.budget, args.ledger.clone());
        let own_oracle = args.oracle.is_some();
        let (file, columns) = (file_given, [args.columns.labels.clone(), args.apart.clone()]);
        let mut job = Job {
            single,
            seed,
            config,
            budget,
            ledger,
            own_oracle,
            meter,
            warnings,
            file,
            columns,
        };
        job.original.reading.notes.iter().for_each(|note| args.note(note));
        for classes in [&job.original.known, &job.original.classes].into_iter().flatten() {
            if let Some(measured) = classes.measurements() {
                args.warn(&measured);
            }
        }
        std::mem::take(&mut job.warnings).into_iter().for_each(|text| job.warn(args, text));
        let option = |list: &str| format!("--set 'transforms={list}'");
        if let Some(text) = notices::scales(&job.single, &option) {
            job.warn(args, text);
        }
        if let Some(said) = notices::never_unsure(&job.method) {
            args.note(&said);
        }
        job.choose_k(args);
        job.judge(args, selecting).map_err(|e| job.named(&e))?;
        Ok(job)
    }

    /// Chooses k where the method needs one and none is given: the same for a run that only selects
    /// constraints, so that the same questions are asked.
    fn choose_k(&mut self, args: &JobArgs) {
        let by_default = args.clusterer.is_none() && args.method.is_none();
        if self.needs_k() || by_default && self.method.clusterer.is_some() {
            self.take_k_of_classes(args);
        }
    }

    /// As many clusters as classes, where these are known and no number is given.
    pub fn take_k_of_classes(&mut self, args: &JobArgs) {
        match self.single.take_k_of_classes() {
            Some((k, Some(part))) => {
                let found = if self.original.known.is_some() && self.clusterer() == "auto" {
                    found_by_auto(k + 1)
                } else {
                    String::new()
                };
                self.warn(args, format!("{part}: --k sets their number{found}"));
            }
            Some((k, None)) => {
                args.note(&format!("k = {k}, the number of classes; --k chooses another"));
            }
            None => {}
        }
    }

    /// The checks before anything runs.
    fn judge(&mut self, args: &JobArgs, selecting: bool) -> Result<()> {
        self.check(selecting, "--clusterer pck_means")?;
        if let (Some(unread), false) = (self.method.unread_by(), selecting) {
            if self.method.selector.is_some() && !args.selection_only {
                return Err(Error::Usage(unread_answers(unread)));
            }
            let unread = notices::unread(&self.method, self.problem.constraints.len());
            unread.into_iter().for_each(|text| self.warn(args, text));
        }
        if self.budget == Some(0) {
            self.warn(args, "--budget 0: nothing is asked".into());
        }
        let found = self.problem.contradiction()?.map(|error| self.rendered(&error));
        found.into_iter().for_each(|text| self.warn(args, text));
        Ok(())
    }

    /// Shows a warning and keeps it for the summary.
    fn warn(&mut self, args: &JobArgs, text: String) {
        args.warn(&text);
        self.warnings.push(text);
    }

    /// The sources of the constraints.
    pub fn sources(&self) -> Sources<'_> {
        let [known, apart] = &self.columns;
        let known = known.as_ref().map(|column| format!("column {column}"));
        let sources = Sources::default().of_run(&self.single, known, apart.as_deref());
        match &self.file {
            Some((name, given)) => {
                sources.of_file(Some(name), given, &|row| self.object(row as usize))
            }
            None => sources,
        }
    }

    /// An error message with the user's names, and the sources of constraints that contradict each other.
    fn rendered(&self, error: &Error) -> String {
        // If there is only one source, naming it does not help.
        if self.columns.iter().all(Option::is_none) && self.method.selector.is_none() {
            return error.render(&|i| self.called(i));
        }
        let sources = self.sources();
        error.render_with_sources(&|i| self.called(i), &|c| sources.of(c).0)
    }

    /// The answers that were left out because other answers contradict them.
    pub fn overruled(&self, selection: &Selection, given: &Constraints) -> Result<Vec<Constraint>> {
        let asked = selection.asked();
        let answered = selection.answered(asked);
        let out = selection.left_out(asked, self.method.on_conflict, given)?;
        let mut out: Vec<_> = out.into_iter().collect();
        out.sort_unstable();
        Ok(out.iter().filter_map(|id| answered.get(id)).copied().collect())
    }

    /// The constraints that `clustered` violates, and the answers that were overruled.
    pub fn broken<'a>(
        &'a self,
        clustered: &'a Clustered,
        overruled: &'a [Constraint],
    ) -> impl Iterator<Item = Broken> + 'a {
        let labels = &clustered.run.clustering.labels;
        broken(&clustered.constraints, labels, overruled, self.sources(), &self.original)
    }

    /// An error in the user's names.
    pub fn named(&self, error: &Error) -> Failure {
        let mut failure = Failure::named(error, &|i| self.called(i));
        if let Failure::Message { message, .. } = &mut failure {
            match error.root() {
                Error::InconsistentConstraints(_) => *message = self.rendered(error),
                Error::MissingK { .. } => {
                    *message += "; mustlink select-k compares numbers of clusters";
                }
                _ => {}
            }
        }
        failure
    }

    /// Asks; `None` when the method has no selector.
    pub fn select(&self, seen: &Problem) -> Result<Option<Selection>> {
        let Some(selector) = &self.method.selector else { return Ok(None) };
        let tag = selector.typetag_name();
        let oracle = self.oracle()?.ok_or_else(|| {
            let (why, column) = match &self.set.known {
                None => ("no classes are known", "their column"),
                Some(_) => (
                    "the classes of --labels are given to the method",
                    "another column of classes",
                ),
            };
            Error::Usage(format!(
                "the selector {tag} needs answers, and {why}; name {column} with --class, or answer yourself with \
                 \"mustlink label\""
            ))
        })?;
        // What the command line names starts where the program does, not at the method file.
        let ctx = match self.context().child("oracle") {
            ctx if self.own_oracle => ctx.based(Path::new("")),
            ctx => ctx,
        };
        let (budget, ledger) = (self.budget, self.ledger.as_deref());
        self.single.select(seen, Asked { oracle, ctx, budget, ledger })
    }

    /// Number of questions to ask, if it is limited.
    pub fn budget(&self) -> Option<usize> {
        self.budget
    }

    /// The name of what groups the objects.
    pub fn clusterer(&self) -> &str {
        let named = |slot: &str| self.config[slot]["type"].as_str();
        named("clusterer").or_else(|| named("selector")).unwrap_or_default()
    }

    /// The message about a result with another number of clusters than the requested one.
    pub fn other_k(&self, clustering: &Clustering) -> Option<String> {
        notices::other_k(&self.method, self.clusterer(), self.problem.k, clustering)
    }

    /// The warning about cannot-links of `--apart` that `clustering` breaks, because many methods only weigh them.
    pub fn broken_apart(&self, clustering: &Clustering) -> Option<String> {
        let column = self.columns[1].as_ref()?;
        let labels = &clustering.labels;
        let (mut pairs, mut broken, mut k) = (0, 0, clustering.k);
        for group in self.original.apart.iter() {
            let objects = group.members.iter().filter_map(|&row| self.object(row as usize));
            let mut objects = Group::new(group.name.clone(), objects.collect());
            pairs += objects.pair_count();
            k = k.max(objects.members.len());
            // Noise is apart from everything.
            objects.members.retain(|&i| labels[i as usize] != NONE);
            broken += objects.violated(labels);
        }
        (broken > 0).then(|| {
            format!(
                "{broken} of {} of --apart {} {} broken; --clusterer cop_kmeans --k {k} keeps all of them, or \
                 reports why it cannot",
                count(pairs as usize, "cannot-link"),
                shell_word(column),
                form(broken as usize, "is", "are")
            )
        })
    }

    /// The message about answers that contradict each other or the given constraints: how many, what becomes
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
            _ => format!("{out} are left out, including those on the chains"),
        };
        let mut text = format!(
            "{found} of {} contradict what was known before; {fate} (on_conflict = \"{}\")",
            count(asked, "answer"),
            rule.name()
        );
        let witnesses = selection.witnesses(asked, given, MOST_CHAINS)?;
        if !witnesses.is_empty() {
            let chains = self.rendered(&Error::InconsistentConstraints(witnesses.into()));
            text += &format!("; {}", chains.trim_start_matches("constraints: "));
        }
        if found > MOST_CHAINS {
            text += &format!("; and {} more", found - MOST_CHAINS);
        }
        Ok(Some(text))
    }

    /// Ends the progress display, shows the warnings of the plugins, and gives them all.
    pub fn finish(&self, args: &JobArgs) -> Vec<String> {
        self.meter.finish();
        let new = self.context().warnings();
        new.iter().for_each(|w| args.warn(w));
        self.warnings.iter().cloned().chain(new).collect()
    }
}

/// Most contradicting answers of which the chain is shown.
const MOST_CHAINS: usize = 5;

/// The message about a file of constraints that contains none.
pub(crate) fn nothing_said(file: &str) -> String {
    format!(
        "{file} contains no constraints (it is empty, or has only weights of 0 or one-member groups)"
    )
}

/// Reads a file of constraints, with a note about rows of weight 0 among others.
pub(crate) fn read_constraints(
    file: &str,
    set: &Dataset,
    by_id: bool,
    limit: Option<u64>,
    note: &dyn Fn(&str),
) -> std::result::Result<Constraints, Failure> {
    let read = mustlink_datasets::read_constraints_and_unused(file, set, by_id, limit);
    let (constraints, unused) = read.map_err(|e| Failure::named(&e, &|i| set.id(i)))?;
    if unused > 0 && !constraints.is_empty() {
        let (rows, are) = (count(unused, "row"), form(unused, "is", "are"));
        note(&format!("{file}: {rows} of weight 0 {are} ignored"));
    }
    Ok(constraints)
}

/// Refuses a column of `--text` without texts.
fn check_texts(set: &Dataset, column: &str) -> std::result::Result<(), Failure> {
    let is_text = |text: &String| text.parse::<f64>().is_err();
    if set.data.words(0).is_some_and(|texts| texts.iter().any(is_text)) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "--text {}: the column contains only numbers or missing values; name a column of texts",
        shell_word(column)
    )))
}

/// The given constraints and those that follow from the classes known of some objects.
fn with_known(args: &JobArgs, set: &Dataset, given: Constraints) -> Result<Constraints> {
    let Some(known) = &set.known else { return Ok(given) };
    let made = set.known_constraints(MOST_OF_CLASSES)?;
    let follow = form(made.len(), "follows", "follow");
    args.note(&format!("{}; {} {follow}", known_of(known), count(made.len(), "constraint")));
    given.union(&made, set.n())
}

/// The numbers of objects with a known class and of classes. The user gave these; the pairs only follow from them.
pub(crate) fn known_of(known: &Classes) -> String {
    let (objects, k) = (known.sizes().iter().sum(), known.k());
    format!("{} of {k} known {}", count(objects, "object"), form(k, "class", "classes"))
}

/// The options with which `auto` looks for at least `least` clusters, in a sentence about their number.
fn found_by_auto(least: usize) -> String {
    // By default, k_max is 8.
    let most = match least + 3 {
        ..=8 => String::new(),
        most => format!(" --set clusterer.k_max={most}"),
    };
    format!(", --clusterer auto --set clusterer.k_min={least}{most} finds it")
}

/// The error about questions to which the method would not read the answers.
fn unread_answers(unread: &str) -> String {
    format!(
        "{unread} ignores constraints, so answers would change nothing. Choose a method that uses them, for example \
         --clusterer pck_means; or ask anyway with --selection-only"
    )
}

/// True if the user may be asked at the terminal; a moving line would overwrite the prompts.
fn asks_a_person(method: &Method) -> bool {
    method.oracle.as_ref().is_some_and(|o| o.properties().interactive)
}
