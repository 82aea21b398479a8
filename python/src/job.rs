//! How does one method meet one data set? As on the command line, where the same seed gives the same.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use mustlink::clustering::Clustering;
use mustlink::constraints::Constraints;
use mustlink::context::EnsembleStore;
use mustlink::datasets::{Classes, Dataset};
use mustlink::ensemble::Ensemble;
use mustlink::ledger::{Durability, Header, Ledger};
use mustlink::method::Method;
use mustlink::prelude::{Data, EnsembleGenerator, Oracle, Respondent};
use mustlink::registry;
use mustlink::run::{self, Run, Steps, Transformed, guarded};
use mustlink::selection::{self, Asking, Record, Selection};
use mustlink::{Context, Error, Problem, Result};
use mustlink_cli::notices;
use mustlink_datasets::{FeatureWeights, RowMap};
use serde::Deserialize;
use serde_json::Value;

use crate::catalogue;

/// Most constraints made of known classes one by one.
pub(crate) const MOST_OF_CLASSES: usize = 100_000;

/// What is asked for, beside arrays.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
pub(crate) struct Request {
    /// Transforms, clusterer, selector, oracle.
    pub method: Value,
    /// What the data is: dense rows where nothing is said.
    pub kind: Option<String>,
    pub k: Option<usize>,
    pub seed: u64,
    pub threads: Option<usize>,
    pub memory_limit: Option<u64>,
    pub budget: Option<usize>,
    pub ledger: Option<PathBuf>,
    pub features: Vec<String>,
    pub ids: Option<Vec<String>>,
    /// Ask although nothing reads the answers.
    pub selection_only: bool,
    /// Known classes say nothing to a method that reads no constraints, and that is no news.
    pub quiet_unread: bool,
}

/// What is known beside the data.
#[derive(Default)]
pub(crate) struct Known {
    pub constraints: Constraints,
    /// Classes of some objects, which the method sees.
    pub known: Option<Classes>,
    /// Classes that only oracles see.
    pub classes: Option<Classes>,
}

/// Who answers, where the method does not say so.
pub(crate) type Asked = Box<dyn Respondent>;

/// One method on one data set.
pub(crate) struct Job {
    original: Dataset,
    set: Dataset,
    rows: Option<RowMap>,
    method: Method,
    problem: Problem,
    /// Number of row-changing steps in front.
    steps: usize,
    front: Steps,
    budget: Option<usize>,
    ledger: Option<PathBuf>,
    ctx: Context,
    warnings: Mutex<Vec<String>>,
}

/// A result that the framework has looked at.
pub(crate) struct Clustered {
    pub run: Run,
    pub constraints: Arc<Constraints>,
    pub weights: Option<FeatureWeights>,
    pub steps: Steps,
    pub input: Transformed,
}

impl Job {
    pub fn new(
        request: &Request,
        data: Data,
        known: Known,
        flag: &Arc<AtomicBool>,
    ) -> Result<Self> {
        let mut original = Dataset::new("data", data);
        let Known { constraints: given, known, classes } = known;
        (original.known, original.classes) = (known, classes);
        original.feature_names = request.features.clone();
        original.ids = request.ids.clone().map(Into::into);
        let made = original.known_constraints(MOST_OF_CLASSES)?;
        let told = given.len();
        let mut constraints = given.union(&made, original.n())?;
        let mut method = catalogue::method(&request.method)?;
        // As in an experiment with this seed, in its first repeat and fold.
        let root = original.seed_path(request.seed, &original.name);
        let ctx = Context::builder(root.index(0).index(0))
            .cancel(flag.clone())
            .memory_limit(request.memory_limit.or_else(mustlink_cli::default_limit))
            .ensembles(EnsembleStore::default(), root)
            .build();
        let steps = row_steps(&method)?;
        let rest = method.transforms.split_off(steps);
        let in_front = std::mem::replace(&mut method.transforms, rest);
        let (set, rows, front) = original.transformed(&in_front, &ctx)?;
        if let Some(rows) = &rows {
            let (moved, dropped) = constraints.renumbered(set.n(), &rows.map)?;
            if dropped > 0 {
                ctx.warn(format!("{dropped} constraints lost an object that was dropped"));
            }
            constraints = moved;
        }
        let problem = Problem {
            k: request.k,
            ..Problem::new(set.data.clone()).with_constraints(constraints)
        };
        let (budget, ledger) = (request.budget, request.ledger.clone());
        let mut warnings = Vec::new();
        if told > 0 || !request.quiet_unread {
            warnings.extend(notices::unread(&method, problem.constraints.len()));
        }
        let mut job = Job {
            original,
            set,
            rows,
            method,
            problem,
            steps,
            front,
            budget,
            ledger,
            ctx,
            warnings: Mutex::default(),
        };
        job.choose_k();
        job.judge(request)?;
        // What nobody reads cannot be in the way either.
        if warnings.is_empty() && job.method.reads_constraints() {
            warnings = notices::contradictions(&job.problem, &|i| job.id(i))?;
        }
        job.warnings = Mutex::new(warnings);
        Ok(job)
    }

    /// Chooses k where the method needs one and classes say how many there are.
    fn choose_k(&mut self) {
        let (clusterer, selector) = (self.method.clusterer.as_ref(), self.method.selector.as_ref());
        let needed = clusterer.is_some_and(|c| c.properties().needs_k)
            || selector.is_some_and(|s| s.properties().needs_k);
        let known = self.set.known.as_ref().map(Classes::k);
        if self.problem.k.is_none() && needed {
            self.problem.k = self.set.k().or(known);
        }
    }

    /// What can be checked before anything runs.
    fn judge(&self, request: &Request) -> Result<()> {
        if self.problem.k.is_some() {
            self.problem.require_k(None, "k")?;
        }
        let Method { clusterer, selector, .. } = &self.method;
        match (clusterer, selector) {
            (None, None) => Err(Error::Usage(
                "the method has neither a clusterer nor a selector; add one, for example \
                 clusterer = \"pck_means\""
                    .into(),
            )),
            (None, Some(s)) if !request.selection_only && !s.properties().self_clustering => {
                Err(Error::Usage(format!(
                    "the method has no clusterer, and the selector {} does not cluster by itself; \
                     add one, for example clusterer = \"pck_means\"",
                    s.typetag_name()
                )))
            }
            (Some(_), Some(_)) if !request.selection_only => match self.method.unread_by() {
                Some(unread) => Err(Error::Usage(format!(
                    "{unread} reads no constraints: answers would change nothing; choose one that \
                     does, for example clusterer = \"pck_means\""
                ))),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// The user's name of object `i`.
    pub fn id(&self, i: usize) -> String {
        match &self.rows {
            Some(rows) => self.original.id(rows.kept[i]),
            None => self.original.id(i),
        }
    }

    /// The row of object `i` as it was given.
    pub fn row(&self, i: u32) -> u32 {
        self.rows.as_ref().map_or(i, |rows| rows.kept[i as usize] as u32)
    }

    /// Labels of all rows that were given; −1 of those that were dropped.
    pub fn labels(&self, clustering: &Clustering) -> Vec<i64> {
        match &self.rows {
            Some(rows) => {
                let all = rows.expand(&clustering.labels);
                all.into_iter().map(|l| l.map_or(-1, i64::from)).collect()
            }
            None => clustering.labels.iter().map(|&l| i64::from(l)).collect(),
        }
    }

    /// Number of rows that were given.
    pub fn n(&self) -> usize {
        self.original.n()
    }

    pub fn context(&self) -> &Context {
        &self.ctx
    }

    pub fn method(&self) -> &Method {
        &self.method
    }

    /// The objects after the transforms that read no constraints: what selectors see.
    pub fn seen(&self) -> Result<Transformed> {
        run::transform_from(self.steps, self.method.prefix(), &self.problem, &self.ctx)
    }

    /// The ensemble that `generator` makes of what selectors see.
    pub fn ensemble(&self, generator: &dyn EnsembleGenerator) -> Result<Arc<Ensemble>> {
        let seen = self.seen()?.problem;
        self.ctx.ensemble_labels(generator, &seen).map_err(|e| e.at("generator"))
    }

    /// Asks, `asked` where that is given; `None` when the method has no selector.
    pub fn select(&self, seen: &Problem, asked: Option<Asked>) -> Result<Option<Selection>> {
        let Some(selector) = &self.method.selector else { return Ok(None) };
        let tag = selector.typetag_name();
        let oracle: Box<dyn Oracle> = match (&asked, &self.method.oracle) {
            (Some(_), _) => registry::build_default("none")?,
            (None, Some(oracle)) => oracle.clone(),
            (None, None) if self.set.classes.is_some() => registry::build_default("truth")?,
            (None, None) => {
                return Err(Error::Usage(format!(
                    "the selector {tag} needs somebody who answers, and no classes are known; give \
                     y_true, or an oracle"
                )));
            }
        };
        let by_classes = asked.is_none() && self.method.is_answered_by_classes();
        let known = self.set.answerable().filter(|_| by_classes);
        let seen = &match &known {
            Some(known) => seen.clone().asking_about(known),
            None => seen.clone(),
        };
        if let Some(partly) = self.set.partly_known().filter(|_| known.is_some()) {
            self.ctx.warn(partly);
        }
        let mut scene = self.set.scene(self.ctx.child("oracle"));
        scene.data = Some(seen.data.clone());
        let selector_ctx = self.ctx.child("selector");
        let open = |path: &PathBuf| {
            let header = Header::new(&scene, &**selector, &*oracle, &selector_ctx);
            // Somebody may be waited for: no answer is lost.
            let every = asked.is_some() || oracle.properties().interactive;
            Ledger::open(
                path,
                header,
                if every { Durability::Every } else { Durability::Batch(64) },
            )
        };
        let mut ledger = self.ledger.as_ref().map(open).transpose()?;
        for notice in ledger.iter().flat_map(Ledger::notices) {
            self.ctx.warn(notice);
        }
        let mut respondent = match asked {
            Some(asked) => asked,
            None => oracle.open(&scene).map_err(|e| e.at("oracle"))?,
        };
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
        let clusterer = self.method.clusterer.as_ref().map(|c| c.typetag_name());
        let name = clusterer.or(self.method.selector.as_ref().map(|s| s.typetag_name()));
        let other = notices::other_k(
            &self.method,
            name.unwrap_or_default(),
            self.problem.k,
            &run.clustering,
        );
        other.into_iter().for_each(|warning| self.ctx.warn(warning));
        Ok(Clustered { run, constraints, weights, steps, input })
    }

    /// Everything worth knowing, so far.
    pub fn warnings(&self) -> Vec<String> {
        let own = self.warnings.lock().unwrap_or_else(|e| e.into_inner()).clone();
        own.into_iter().chain(self.ctx.warnings()).collect()
    }
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
