//! How does one method meet one data set? As on the command line, where the same seed gives the same.

use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use mustlink::constraints::Constraints;
use mustlink::datasets::{Classes, Dataset};
use mustlink::method::Method;
use mustlink::prelude::{Data, Respondent};
use mustlink::registry;
use mustlink::roles::{Outcome, Question, Reply};
use mustlink::run::Transformed;
use mustlink::selection::{Recorded, Selection};
use mustlink::{Error, Problem, Result};
use mustlink_experiments::{Asked, Clustered, MOST_OF_CLASSES, Single, notices};
use mustlink_ledger::Durability;
use serde::Deserialize;
use serde_json::Value;

use crate::catalogue;

/// What is asked for, beside arrays.
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
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
pub(crate) type Asking = Box<dyn Respondent>;

/// Puts questions about objects as questions about the rows that they were.
struct OfRows {
    asking: Asking,
    rows: Vec<u32>,
}

impl OfRows {
    fn asking(asking: Asking, kept: &[usize]) -> Asking {
        Box::new(OfRows { asking, rows: kept.iter().map(|&row| row as u32).collect() })
    }
}

impl Respondent for OfRows {
    fn ask(&mut self, question: &Question) -> Result<Outcome> {
        let row = |i: u32| self.rows[i as usize];
        let Question { i, j, subject, reference, .. } = *question;
        let (i, j, subject, reference) = (row(i), row(j), row(subject), row(reference));
        self.asking.ask(&Question { i, j, subject, reference, ..question.clone() })
    }
}

/// One method on one data set.
pub(crate) struct Job {
    single: Single,
    budget: Option<usize>,
    ledger: Option<PathBuf>,
    warnings: Vec<String>,
}

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
        let given = given.union(&made, original.n())?;
        let method = catalogue::method(&request.method)?;
        let ctx = Single::context_of(&original, request.seed)
            .cancel(flag.clone())
            .memory_limit(request.memory_limit.or_else(mustlink_cli::default_limit))
            .build();
        let mut single = Single::new(original, method, request.k, given, ctx)?;
        let mut warnings = Vec::new();
        if single.problem.k.is_none() && single.needs_k() {
            single.problem.k = single.classes();
        }
        judge(&single, request)?;
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
        Ok(Job { single, budget, ledger, warnings })
    }

    /// Asks, `asked` where that is given; `None` when the method has no selector.
    pub fn select(&self, seen: &Problem, asked: Option<Asking>) -> Result<Option<Selection>> {
        let Some(selector) = &self.method.selector else { return Ok(None) };
        let tag = selector.typetag_name();
        let oracle = match &asked {
            Some(_) => registry::build_default("none")?,
            None => self.oracle()?.ok_or_else(|| {
                Error::Usage(format!(
                    "the selector {tag} needs somebody who answers, and no classes are known; give \
                     y_true, or an oracle"
                ))
            })?,
        };
        // Whoever is asked knows the rows as they were given.
        let asked = match &self.rows {
            Some(rows) => asked.map(|asked| OfRows::asking(asked, &rows.kept)),
            None => asked,
        };
        let (ctx, budget) = (self.context().child("oracle"), self.budget);
        let ledger = self.ledger.as_deref();
        self.single.select(seen, Asked { oracle, respondent: asked, ctx, budget, ledger })
    }

    /// The answers in the ledger that were not taken back: two rows and the reply.
    pub fn answers(&self) -> Result<Vec<(u32, u32, Reply)>> {
        let Some(path) = self.ledger.as_deref().filter(|path| path.exists()) else {
            return Ok(Vec::new());
        };
        let ids = self.original.ids.as_ref().map(|_| self.ids());
        let all = mustlink_ledger::answers(path, self.set.n(), ids.as_deref())?;
        let standing = all.into_iter().filter(|recorded| !recorded.retracted);
        let of_rows = |r: Recorded| (self.row(r.subject), self.row(r.reference), r.answer.reply);
        Ok(standing.map(of_rows).collect())
    }

    /// Takes the last answer in the ledger back, where there is a ledger.
    pub fn take_back(&self) -> Result<()> {
        let Some(path) = &self.ledger else { return Ok(()) };
        let mut scene = self.set.scene(self.context().child("oracle"));
        scene.data = Some(self.seen()?.problem.data.clone());
        let nobody = registry::build_default("none")?;
        let mut ledger = self.keep(&scene, &*nobody, path, Durability::Every)?;
        let last = ledger
            .last()
            .ok_or_else(|| Error::Oracle("no question has been answered yet".into()))?;
        ledger.retract(last, None)
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

    /// Everything worth knowing, so far.
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.iter().cloned().chain(self.context().warnings()).collect()
    }
}

/// What can be checked before anything runs.
fn judge(single: &Single, request: &Request) -> Result<()> {
    if single.problem.k.is_some() {
        single.problem.require_k(None, "k")?;
    }
    let Method { clusterer, selector, .. } = &single.method;
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
        (Some(_), Some(_)) if !request.selection_only => match single.method.unread_by() {
            Some(unread) => Err(Error::Usage(format!(
                "{unread} reads no constraints: answers would change nothing; choose one that \
                 does, for example clusterer = \"pck_means\""
            ))),
            None => Ok(()),
        },
        _ => Ok(()),
    }
}
