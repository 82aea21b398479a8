//! One method on one data set, as on the command line: the same seed gives the same result.

use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use mustlink::constraints::{Constraint, Constraints};
use mustlink::datasets::{Classes, Dataset};
use mustlink::method::Method;
use mustlink::prelude::Data;
use mustlink::roles::{Answer, Question, Reply};
use mustlink::run::Transformed;
use mustlink::selection::Selection;
use mustlink::{Error, Result};
use mustlink_cli::Sources;
use mustlink_experiments::{Asked, Clustered, LedgerDriver, MOST_OF_CLASSES, Single, notices};
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::Value;

use crate::catalogue;
use crate::errors::with_text;

/// A request, in addition to arrays.
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Request {
    /// Transforms, clusterer, selector, oracle.
    pub method: Value,
    /// Kind of the data; by default dense rows.
    pub kind: Option<String>,
    pub k: Option<usize>,
    pub seed: u64,
    pub threads: Option<usize>,
    pub memory_limit: Option<u64>,
    pub budget: Option<usize>,
    pub ledger: Option<PathBuf>,
    pub features: Vec<String>,
    pub ids: Option<Vec<String>>,
    /// Ask even if no part of the method uses the answers.
    pub selection_only: bool,
    /// Do not warn if known classes are not used because the method takes no constraints.
    pub quiet_unread: bool,
}

/// Knowledge in addition to the data.
#[derive(Default)]
pub(crate) struct Known {
    pub constraints: Constraints,
    /// Classes of some objects, which the method may use.
    pub known: Option<Classes>,
    /// Classes that only oracles use.
    pub classes: Option<Classes>,
}

/// A clusterer that reads constraints, in the words of Python.
const EXAMPLE: &str = "clusterer = \"pck_means\"";

/// One method on one data set.
#[derive(Clone)]
pub(crate) struct Job {
    single: Single,
    budget: Option<usize>,
    ledger: Option<PathBuf>,
    warnings: Vec<String>,
    /// Constraints that were given, by rows.
    given: Constraints,
}

/// A violated constraint: two rows, type, weight, source.
pub(crate) type Broken = (u32, u32, &'static str, f64, String);

impl Deref for Job {
    type Target = Single;

    fn deref(&self) -> &Single {
        &self.single
    }
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
        let all = given.union(&made, original.n())?;
        let method = catalogue::method(&request.method)?;
        let ctx = Single::context_of(&original, request.seed)
            .cancel(flag.clone())
            .memory_limit(request.memory_limit.or_else(mustlink_cli::default_limit))
            .build();
        let mut single = Single::new(original, method, request.k, all, ctx)?;
        let mut warnings = Vec::new();
        if single.needs_k()
            && let Some((_, Some(part))) = single.take_k_of_classes()
        {
            warnings.push(part + ": n_clusters sets their number");
        }
        single.check(request.selection_only, EXAMPLE)?;
        if let (Some(unread), Some(_)) = (single.method.unread_by(), &single.method.selector)
            && !request.selection_only
        {
            return Err(Error::Usage(format!(
                "{unread} reads no constraints: answers would change nothing; choose one that does, for example \
                 {EXAMPLE}"
            )));
        }
        warnings.extend(notices::scales(&single, &in_python));
        if told > 0 || !request.quiet_unread {
            let given = single.problem.constraints.len();
            warnings.extend(notices::unread(&single.method, given));
        }
        // What nobody reads cannot be in the way either.
        if single.method.reads_constraints() {
            let found = single.problem.contradiction()?;
            warnings.extend(found.map(|error| error.render(&|i| single.id(i))));
        }
        let (budget, ledger) = (request.budget, request.ledger.clone());
        Ok(Job { single, budget, ledger, warnings, given })
    }

    /// Asks the oracle of the method, or the classes; `None` when the method has no selector.
    pub fn select(&self, seen: &Transformed) -> Result<Option<Selection>> {
        let Some(selector) = &self.method.selector else { return Ok(None) };
        let tag = selector.typetag_name();
        let oracle = self.oracle()?.ok_or_else(|| {
            Error::Usage(format!(
                "the selector {tag} needs answers, and no classes are known; give y_true, or an oracle"
            ))
        })?;
        let (ctx, budget) = (self.context().child("oracle"), self.budget);
        let ledger = self.ledger.as_deref();
        self.single
            .select(&seen.problem, Asked { oracle, ctx, budget, ledger })
            .map_err(|e| self.about_features(seen, e))
    }

    /// The next question of a driver, if any is left.
    pub fn question(
        &self,
        seen: &Transformed,
        driver: &mut LedgerDriver,
    ) -> Result<Option<Question>> {
        self.single.question(driver).map_err(|e| self.about_features(seen, e))
    }

    /// Answers its open question.
    pub fn tell(&self, seen: &Transformed, driver: &mut LedgerDriver, reply: Reply) -> Result<()> {
        let told = self.single.tell(driver, &Answer::of(reply));
        told.map_err(|e| self.about_features(seen, e))
    }

    /// The two rows of a question.
    pub fn rows_of(&self, question: &Question) -> (u32, u32) {
        (self.row(question.subject), self.row(question.reference))
    }

    /// An error in the words of Python.
    pub fn raised(&self, py: Python<'_>, error: &Error) -> PyErr {
        with_text(py, error, error.render(&|i| self.id(i)))
    }

    /// The driver of a session about `seen`, with the ledger.
    pub fn driver(&self, seen: &Transformed) -> Result<LedgerDriver> {
        let driver = self.single.driver(&seen.problem, self.budget, self.ledger.as_deref());
        driver.map_err(|e| self.about_features(seen, e))
    }

    /// True if a ledger keeps the answers.
    pub fn has_ledger(&self) -> bool {
        self.ledger.is_some()
    }

    /// This job without warnings.
    pub fn unheard(&self) -> Self {
        Job { single: self.single.in_context(self.context().for_trial()), ..self.clone() }
    }

    /// Clusters under the given and the selected constraints.
    pub fn cluster(&self, seen: &Transformed, selection: Option<&Selection>) -> Result<Clustered> {
        let clustered = self.single.cluster(seen, selection)?;
        let Method { clusterer, selector, .. } = &self.method;
        let name = clusterer.as_ref().map(|c| c.typetag_name());
        let name = name.or(selector.as_ref().map(|s| s.typetag_name())).unwrap_or_default();
        let clustering = &clustered.run.clustering;
        let other = notices::other_k(&self.method, name, self.problem.k, clustering);
        other.into_iter().for_each(|warning| self.context().warn(warning));
        Ok(clustered)
    }

    /// The constraints that `clustered` violates.
    pub fn broken(&self, clustered: &Clustered) -> Vec<Broken> {
        let labels = &clustered.run.clustering.labels;
        let mut violated = clustered.constraints.violated(labels).peekable();
        // The sources of all constraints take memory.
        if violated.peek().is_none() {
            return Vec::new();
        }
        let object = |row: u32| self.object(row as usize);
        let sources = Sources::default().of_run(&self.single, Some("y".into()), None);
        let sources = sources.of_file(Some("constraints"), &self.given, &object);
        let of_rows = |c: Constraint| {
            let (source, [i, j]) = sources.of(&c);
            (i, j, c.kind.name(), c.weight, source)
        };
        violated.map(of_rows).collect()
    }

    /// All warnings so far.
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.iter().cloned().chain(self.context().warnings()).collect()
    }
}

/// A list of transforms, as in a method file, in the words of Python.
fn in_python(transforms: &str) -> String {
    let list =
        transforms.replace("{type=", "{\"type\": ").replace("components=", " \"components\": ");
    format!("the transforms {list} of a Method, or in a pipeline")
}
