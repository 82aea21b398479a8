//! One method on one data set, outside a study.
//!
//! The command line and the Python package both come here, so that the same seed gives both the same.
//! Objects are numbered as they stand after the transforms that change rows; [`Single::row`] gives the place
//! of each as it was read.

use std::path::Path;
use std::sync::Arc;

use mustlink_core::clustering::NONE;
use mustlink_core::context::{ContextBuilder, EnsembleStore};
use mustlink_core::ensemble::Ensemble;
use mustlink_core::method::Method;
use mustlink_core::roles::{Answer, EnsembleGenerator, Oracle, Question, Respondent, Scene};
use mustlink_core::run::{self, Run, Steps, Transformed, guarded};
use mustlink_core::selection::{self, Asking, Driver, Next, Record, Selection};
use mustlink_core::text::count;
use mustlink_core::{
    AutoOr, Clustering, Constraint, Constraints, Context, Data, DataKind, Error, Group, Problem,
    Result, registry,
};
use mustlink_datasets::{Classes, Dataset, FeatureWeights, RowMap};
use mustlink_kernels::distance::points::{Distortion, DistortionOption};
use mustlink_ledger::{Durability, Header, Ledger};
use serde_json::{Value, json};

use crate::member_weights::weights_of_member;

/// Bytes of the labels of an object: as they are found, and as they are written.
pub const LABEL: u64 = 12;

/// One method on one data set.
#[derive(Clone)]
pub struct Single {
    /// The data set as it was read.
    pub original: Dataset,
    /// The data set after the steps that change rows.
    pub set: Dataset,
    /// New positions of its rows, if they changed.
    pub rows: Option<RowMap>,
    /// The method, without those steps.
    pub method: Method,
    /// The problem before the other steps: given constraints, k.
    pub problem: Problem,
    /// Number of row-changing steps in front.
    pub steps: usize,
    /// Those steps as they were fitted.
    front: Steps,
    ctx: Context,
}

/// A result that the framework has checked, with the constraints that it had to respect.
pub struct Clustered {
    /// The clustering and what is known of its run.
    pub run: Run,
    /// Constraints under which it was made.
    pub constraints: Arc<Constraints>,
    /// Weight of each feature, if the method learns it.
    pub weights: Option<FeatureWeights>,
    /// The combined method that learned the weights, if the result combines methods.
    pub weights_of: Option<String>,
    /// The transforms as they were fitted, those before `input` included.
    pub steps: Steps,
    /// Input of the method.
    pub input: Transformed,
    /// Kind of the data that selectors saw.
    pub seen: DataKind,
}

impl Clustered {
    /// The configuration of the method, with the distortions that "auto" chose.
    pub fn named(&self, config: &Value) -> Value {
        let mut config = config.clone();
        for (slot, kind) in [("clusterer", self.input.problem.data.kind()), ("selector", self.seen)]
        {
            config.get_mut(slot).into_iter().for_each(|plugin| name_distortions(plugin, kind));
        }
        config
    }
}

/// Names the distortion in place of "auto" in a plugin on data of this kind, and in those that it holds.
fn name_distortions(plugin: &mut Value, kind: DataKind) {
    // Mixtures of sparse rows are dense.
    let mixes = |generator: &Value| generator["type"] == "random_projection";
    let kind = if mixes(plugin) || mixes(&plugin["view"]) { DataKind::Dense } else { kind };
    match plugin {
        // Steps of its own may give it data of another kind.
        Value::Object(options) if options.get("transforms").is_some_and(|t| *t != json!([])) => {}
        Value::Object(options) => {
            for (name, value) in options {
                if name == "distortion" && value == "auto" {
                    *value = AutoOr::<Distortion>::Auto.on(kind).name().into();
                }
                name_distortions(value, kind);
            }
        }
        Value::Array(all) => all.iter_mut().for_each(|held| name_distortions(held, kind)),
        _ => {}
    }
}

/// A selection whose questions people answer, with its ledger.
pub type LedgerDriver = Driver<'static, Box<Ledger>>;

/// Oracle, number of questions, and ledger.
pub struct Asked<'a> {
    /// Oracle that answers; the head of the ledger contains it.
    pub oracle: Box<dyn Oracle>,
    /// The context in which the oracle is opened.
    pub ctx: Context,
    /// Most questions.
    pub budget: Option<usize>,
    /// File of questions and answers.
    pub ledger: Option<&'a Path>,
}

impl Single {
    /// The context of a run on `set`: as in an experiment with this seed, in its first repeat and fold.
    pub fn context_of(set: &Dataset, seed: u64) -> ContextBuilder {
        let root = set.seed_path(seed, &set.name);
        Context::builder(root.index(0).index(0)).ensembles(EnsembleStore::default(), root)
    }

    /// Carries out the steps that change rows; `given` constraints follow their objects.
    ///
    /// # Errors
    /// `Usage` where a step that reads constraints stands before one that changes rows; the errors of the steps.
    pub fn new(
        original: Dataset,
        mut method: Method,
        k: Option<usize>,
        given: Constraints,
        ctx: Context,
    ) -> Result<Self> {
        let steps = row_steps(&method)?;
        let rest = method.transforms.split_off(steps);
        let in_front = std::mem::replace(&mut method.transforms, rest);
        let (set, rows, front) = original.transformed(&in_front, &ctx)?;
        let mut constraints = given;
        if let Some(rows) = &rows {
            let (moved, dropped) = constraints.renumbered(set.n(), &rows.map)?;
            if dropped > 0 {
                let dropped = count(dropped, "constraint");
                ctx.warn(format!("{dropped} lost an object that was dropped"));
            }
            constraints = moved;
        }
        let problem = Problem { k, ..Problem::new(set.data.clone()).with_constraints(constraints) };
        let ctx = ctx.beside(&original.data, &set.data).holding(LABEL * original.n() as u64);
        Ok(Single { original, set, rows, method, problem, steps, front, ctx })
    }

    /// Checks that are possible before anything runs. `example` is a clusterer in the caller's words.
    ///
    /// # Errors
    /// Returns the errors of [`Problem::require_k`]; `Usage` for a method that makes no clusters, unless the answers
    /// are all that is wanted.
    pub fn check(&self, answers_alone: bool, example: &str) -> Result<()> {
        if self.problem.k.is_some() {
            self.problem.require_k(None, "k")?;
        }
        let lacking = match (&self.method.clusterer, &self.method.selector) {
            (None, None) => "neither a clusterer nor a selector".to_string(),
            (None, Some(s)) if !answers_alone && !s.properties().self_clustering => format!(
                "no clusterer, and the selector {} does not cluster by itself",
                s.typetag_name()
            ),
            _ => return Ok(()),
        };
        Err(Error::Usage(format!("the method has {lacking}; add one, for example {example}")))
    }

    /// True if the method cannot do without k.
    pub fn needs_k(&self) -> bool {
        self.method.clusterer.as_ref().is_some_and(|c| c.properties().needs_k)
            || self.method.selector.as_ref().is_some_and(|s| s.properties().needs_k)
    }

    /// The number of classes, or of those that are known of some objects.
    pub fn classes(&self) -> Option<usize> {
        self.set.k().or(self.set.known.as_ref().map(Classes::k))
    }

    /// Takes the number of classes as k if none is given. Returns that number, and a warning if only some objects have
    /// a class.
    pub fn take_k_of_classes(&mut self) -> Option<(usize, Option<String>)> {
        let k = self.classes().filter(|_| self.problem.k.is_none())?;
        self.problem.k = Some(k);
        Some((k, self.set.part_of_classes()))
    }

    /// The user's name of object `i`.
    pub fn id(&self, i: usize) -> String {
        self.original.id(self.row(i as u32) as usize)
    }

    /// The name of object `i` in messages.
    pub fn called(&self, i: usize) -> String {
        self.original.called(self.row(i as u32) as usize)
    }

    /// The user's names of all objects.
    pub fn ids(&self) -> Vec<String> {
        (0..self.set.n()).map(|i| self.id(i)).collect()
    }

    /// The row of object `i` in the data set as it was read.
    pub fn row(&self, i: u32) -> u32 {
        self.rows.as_ref().map_or(i, |rows| rows.kept[i as usize] as u32)
    }

    /// The object that a row which was read became, if it is left.
    pub fn object(&self, row: usize) -> Option<u32> {
        self.rows.as_ref().map_or(Some(row as u32), |rows| rows.map[row])
    }

    /// Constraints of objects as those of the rows that were read.
    ///
    /// # Errors
    /// No errors are known: every object was a row.
    pub fn of_rows(&self, constraints: &Constraints) -> Result<Constraints> {
        let pair = |c: &Constraint| Constraint { i: self.row(c.i), j: self.row(c.j), ..*c };
        let pairs = constraints.listed().iter().map(pair);
        let group = |g: &Group| {
            let members = g.members.iter().map(|&i| self.row(i)).collect();
            Group { members: Group::new("", members).members, ..g.clone() }
        };
        let groups = constraints.groups().iter().map(group);
        let named = constraints.neighbourhoods().iter();
        let named = named.map(|set| set.iter().map(|&i| self.row(i)).collect()).collect();
        let n = self.original.n();
        Ok(Constraints::new(n, pairs)?.with_groups(n, groups)?.with_neighbourhoods(named))
    }

    /// A clustering of the objects as people are shown it. Clusters are numbered by the rows that were read.
    pub fn shown(&self, clustering: Clustering) -> Clustering {
        let rows_of = |rows: &RowMap| {
            let mut counts = vec![0; self.set.n()];
            rows.map.iter().flatten().for_each(|&object| counts[object as usize] += 1);
            counts
        };
        clustering.shown(self.rows.as_ref().map(rows_of).as_deref())
    }

    /// The label of every row that was read, from those of the objects; `None` for rows that were dropped and
    /// objects without one.
    pub fn labels(&self, labels: &[u32]) -> Vec<Option<u32>> {
        let all = self.labels_and_noise(labels);
        all.into_iter().map(|label| label.filter(|&l| l != NONE)).collect()
    }

    /// The same labels, but noise objects have the label [`NONE`].
    pub fn labels_and_noise(&self, labels: &[u32]) -> Vec<Option<u32>> {
        match &self.rows {
            Some(rows) => rows.expand(labels),
            None => labels.iter().copied().map(Some).collect(),
        }
    }

    /// The objects after the transforms that read no constraints: what selectors see.
    ///
    /// # Errors
    /// Returns the errors of the transforms.
    pub fn seen(&self) -> Result<Transformed> {
        self.seen_after(self.method.prefix().len())
    }

    /// The data after the first `steps` of the method.
    pub(crate) fn seen_after(&self, steps: usize) -> Result<Transformed> {
        run::transform_from(self.steps, &self.method.transforms[..steps], &self.problem, &self.ctx)
            .map_err(|e| e.with_feature_names(&self.set.feature_names))
    }

    /// An error about the features of `seen`, which are called by their names where they have some.
    pub fn about_features(&self, seen: &Transformed, error: Error) -> Error {
        let error = seen.lineage.features.error_before(error);
        error.with_feature_names(&self.set.feature_names)
    }

    /// The same, where what is marked hard will hold in a clustering: that is worth knowing before the first
    /// question.
    ///
    /// # Errors
    /// Returns the errors of the transforms and of [`Method::admit_hard`].
    pub fn admitted(&self) -> Result<Transformed> {
        let seen = self.seen()?;
        self.method.admit_hard(&seen.problem.constraints)?;
        Ok(seen)
    }

    /// The ensemble that `generator` makes of what selectors see.
    ///
    /// # Errors
    /// Returns the errors of transforms and generator.
    pub fn ensemble(&self, generator: &dyn EnsembleGenerator) -> Result<Arc<Ensemble>> {
        let seen = self.seen()?;
        let made = self.ctx.ensemble_labels(generator, &seen.problem);
        made.map_err(|e| self.about_features(&seen, e).at("generator"))
    }

    /// The same in another run.
    pub fn in_context(&self, ctx: Context) -> Self {
        Single { ctx, ..self.clone() }
    }

    /// The run around it.
    pub fn context(&self) -> &Context {
        &self.ctx
    }

    /// Oracle of the method, or the classes as oracle; `None` without either.
    ///
    /// # Errors
    /// A registry without `truth`.
    pub fn oracle(&self) -> Result<Option<Box<dyn Oracle>>> {
        match &self.method.oracle {
            Some(oracle) => Ok(Some(oracle.clone())),
            None if self.set.classes.is_some() => registry::build_default("truth").map(Some),
            None => Ok(None),
        }
    }

    /// The objects for oracles and ledgers; selectors see them as `data`.
    pub fn scene(&self, data: &Data, ctx: Context) -> Scene {
        let read = &self.original.data;
        let read = self.rows.as_ref().map_or_else(|| read.clone(), |rows| read.subset(&rows.kept));
        Scene { data: Some(data.clone()), read: Some(read), ..self.set.scene(ctx) }
    }

    /// Asks; `None` when the method has no selector.
    ///
    /// # Errors
    /// Returns the errors of selector, oracle and ledger.
    pub fn select(&self, seen: &Problem, asked: Asked<'_>) -> Result<Option<Selection>> {
        if self.method.selector.is_none() {
            return Ok(None);
        }
        let Asked { oracle, ctx, budget, ledger } = asked;
        let by_classes = self.method.is_answered_by_classes();
        let known = self.set.answerable().filter(|_| by_classes);
        let seen = &match &known {
            Some(known) => seen.clone().asking_about(known),
            None => seen.clone(),
        };
        if let Some(partly) = self.set.partly_known().filter(|_| by_classes) {
            self.ctx.warn(partly);
        }
        // No answer of a person is lost.
        let every = oracle.properties().interactive;
        let durability = if every { Durability::Every } else { Durability::Batch(64) };
        let scene = self.scene(&seen.data, ctx);
        let keep = |path| self.keep(&scene, &*oracle, path, durability);
        let mut ledger = ledger.map(keep).transpose()?;
        let mut respondent = oracle.open(&scene).map_err(|e| e.at("oracle"))?;
        self.ask(seen, &mut *respondent, budget, ledger.as_mut())
    }

    /// The ledger at `path` of a selection that asks `oracle` about `scene`; what happened on opening it is
    /// warned of.
    ///
    /// # Errors
    /// Returns the errors of [`Ledger::open`]; `Usage` for a method without a selector.
    fn keep(
        &self,
        scene: &Scene,
        oracle: &(dyn Oracle + 'static),
        path: &Path,
        durability: Durability,
    ) -> Result<Ledger> {
        let Some(selector) = &self.method.selector else { return Err(without_selector()) };
        let header = Header::new(scene, &**selector, oracle, &self.ctx.child("selector"));
        let begins = |then: &Header| then.is_about(scene) == Some(true);
        let ledger = Ledger::open_grown(path, header, durability, &begins)?;
        ledger.notices().iter().for_each(|notice| self.ctx.warn(notice));
        Ok(ledger)
    }

    /// A selection about `seen` whose questions people answer. Every answer is in the ledger at `path` before the next
    /// question.
    ///
    /// # Errors
    /// Returns the errors of the selector and of the ledger; `Usage` for a method without a selector.
    pub fn driver(
        &self,
        seen: &Problem,
        budget: Option<usize>,
        path: Option<&Path>,
    ) -> Result<LedgerDriver> {
        let Some(selector) = &self.method.selector else { return Err(without_selector()) };
        let scene = self.scene(&seen.data, self.ctx.child("oracle"));
        let nobody: Box<dyn Oracle> = registry::build_default("none")?;
        let keep = |path| self.keep(&scene, &*nobody, path, Durability::Every).map(Box::new);
        let ledger = path.map(keep).transpose()?;
        let ctx = self.ctx.child("selector").beside(&self.set.data, &seen.data);
        self.asking(|| Driver::new(&**selector, seen, budget, &[], ledger, &ctx))
    }

    /// The next question of such a selection; `None` if it has ended.
    ///
    /// # Errors
    /// Returns the errors of the selector, of the clusterer that it asks, and of the ledger.
    pub fn question(&self, driver: &mut LedgerDriver) -> Result<Option<Question>> {
        self.asking(|| {
            loop {
                match driver.next()? {
                    Next::Question(question) => return Ok(Some(question)),
                    Next::Done => return Ok(None),
                    Next::Cluster { request, constraints } => {
                        let (seen, steps) = (driver.problem(), self.steps);
                        let clustering =
                            self.method.between_questions(seen, &constraints, steps, &self.ctx)?;
                        driver.provide(request, &clustering)?;
                    }
                }
            }
        })
    }

    /// Answers the open question of a driver.
    ///
    /// # Errors
    /// Returns the errors of the selector and of the ledger.
    pub fn tell(&self, driver: &mut LedgerDriver, answer: &Answer) -> Result<()> {
        self.asking(|| driver.tell(answer))
    }

    /// Does work of the selector, and says whose its errors are.
    fn asking<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let selector = self.method.selector.as_ref();
        let tag = selector.map_or("selector", |selector| selector.typetag_name());
        guarded(tag, work).map_err(|e| e.at("selector"))
    }

    /// Asks `respondent` about `seen`; `None` when the method has no selector.
    ///
    /// # Errors
    /// Returns the errors of selector, respondent and ledger.
    pub fn ask(
        &self,
        seen: &Problem,
        respondent: &mut dyn Respondent,
        budget: Option<usize>,
        ledger: Option<&mut Ledger>,
    ) -> Result<Option<Selection>> {
        let Some(selector) = &self.method.selector else { return Ok(None) };
        let provide = |so_far: &Constraints, _request: u64| {
            self.method.between_questions(seen, so_far, self.steps, &self.ctx)
        };
        let ledger = ledger.map(|ledger| ledger as &mut dyn Record);
        let asking = Asking { budget, provide: Some(&provide as &_), ledger, ..Asking::default() };
        let ctx = self.ctx.child("selector").beside(&self.set.data, &seen.data);
        self.asking(|| selection::run_with(&**selector, seen, respondent, asking, &ctx)).map(Some)
    }

    /// Clusters under the given and the selected constraints; the clustering is as people are shown it.
    ///
    /// # Errors
    /// Returns the errors of the method.
    pub fn cluster(&self, seen: &Transformed, selection: Option<&Selection>) -> Result<Clustered> {
        let (lineage, before, all) = (&seen.lineage, &seen.steps, seen);
        let seen = &seen.problem;
        let constraints = match selection {
            Some(s) => Arc::new(self.method.constraints_at(seen, s, s.asked())?),
            None => seen.constraints.clone(),
        };
        let under = Problem { constraints: constraints.clone(), ..seen.clone() };
        let asked = selection.map_or(0, Selection::asked);
        let ctx = self.ctx.beside(&self.set.data, &seen.data);
        let (input, mut run) = self
            .method
            .clustering_at(&under, selection, asked, self.steps, &ctx)
            .map_err(|e| self.about_features(all, e))?;
        run.clustering = self.shown(run.clustering);
        let lineage = lineage.then(&input.lineage);
        let names = &self.set.feature_names;
        let extras = &run.clustering.extras;
        let (weights, weights_of) = match FeatureWeights::learned(extras, &lineage, names) {
            Some(weights) => (Some(weights), None),
            None => weights_of_member(&run.clustering, &lineage, names).unzip(),
        };
        let all = [&self.front, before, &input.steps];
        let steps = Steps(all.into_iter().flat_map(|steps| steps.0.iter().cloned()).collect());
        Ok(Clustered {
            run,
            constraints,
            weights,
            weights_of,
            steps,
            input,
            seen: seen.data.kind(),
        })
    }
}

fn without_selector() -> Error {
    Error::Usage("the method has no selector; name one with --selector".into())
}

/// The number of transforms in front of which the last changes rows.
fn row_steps(method: &Method) -> Result<usize> {
    let steps = &method.transforms;
    let Some(last) = steps.iter().rposition(|t| t.properties().changes_rows) else { return Ok(0) };
    if let Some(at) = steps[..last].iter().position(|t| t.properties().reads_constraints) {
        let (changes, reads) = (steps[last].typetag_name(), steps[at].typetag_name());
        return Err(Error::Usage(format!(
            "transforms[{last}]: {changes} changes rows and must come before {reads}, which reads \
             constraints"
        )));
    }
    Ok(last + 1)
}
