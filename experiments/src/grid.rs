//! The cells (data set, method, repeat, fold), and the selections that they share.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use mustlink_core::error::Diagnostic;
use mustlink_core::method::Method;
use mustlink_core::{Constraints, Context, Error, Result};
use serde::{Deserialize, Serialize};

use crate::config::{ASSUMED_QUERIES, Experiment, ResolvedMethod, mentions_classes};
use crate::data::{self, Facts, Prepared, in_file_words};
use crate::identity::{self, Build, Common, selection_key};
use crate::notices;
use crate::single::Single;

/// One cell.
pub(crate) struct Cell {
    pub dataset: usize,
    pub method: usize,
    pub repeat: usize,
    pub fold: usize,
    /// The name of its file.
    pub identity: String,
    /// Identity of the cell in every build.
    pub of_any_build: String,
    /// The code that makes its rows.
    pub build: Arc<Build>,
}

/// Number of queries of a selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Budget {
    /// The number of the largest curve point.
    Points,
    /// Until its selector is done: others follow it.
    Open,
    /// The number of questions in that selection.
    Follow(usize),
}

/// A selection that cells share.
pub(crate) struct SelectionTask {
    pub dataset: usize,
    /// The first method that needs it; all that share it agree in what it reads.
    pub method: usize,
    pub repeat: usize,
    pub fold: usize,
    pub budget: Budget,
}

/// Which cell a file belongs to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PlanLine {
    pub dataset: String,
    pub method: String,
    pub repeat: usize,
    pub fold: usize,
    pub identity: String,
}

impl fmt::Display for PlanLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PlanLine { dataset, method, repeat, fold, .. } = self;
        write!(f, "{dataset}, {method}, repeat {repeat}, fold {fold}")
    }
}

/// All cells and selections of an experiment.
pub(crate) struct Grid {
    /// The data sets that exist.
    pub datasets: Vec<Prepared>,
    /// A line for each optional data set that is not.
    pub left_out: Vec<String>,
    /// By data set, then method.
    pub methods: Vec<Vec<ResolvedMethod>>,
    /// In config order: data set, method, repeat, fold.
    pub cells: Vec<Cell>,
    /// The selection of each cell.
    pub selection_of: Vec<Option<usize>>,
    pub selections: Vec<SelectionTask>,
    /// Test objects by data set, repeat, fold.
    tests: Vec<Vec<Vec<Mask>>>,
}

/// Test objects of a fold; absent when nothing is held back.
type Mask = Option<Arc<[bool]>>;

impl Grid {
    /// Opens the data sets, builds the methods, lays out the cells.
    ///
    /// # Errors
    /// Data sets that cannot be read, all of them; methods that do not fit a data set.
    pub fn new(experiment: &Experiment, source: &data::Source) -> Result<Grid> {
        let (datasets, specs, left_out) = open(experiment, source)?;
        let mut out = Vec::new();
        let mut methods = Vec::new();
        let numbers = experiment.points.numbers().unwrap_or_else(|_| vec![ASSUMED_QUERIES]);
        for set in &datasets {
            let mut row = Vec::new();
            for spec in &experiment.methods {
                match spec.on(&set.id, set.shape(), set.set.k(), &numbers) {
                    Ok(method) => row.push(method),
                    Err(d) => out.push(d),
                }
            }
            methods.push(row);
        }
        let mut tests = Vec::new();
        for set in &datasets {
            let masks = |repeat: usize| -> Result<Vec<Mask>> {
                let n = set.set.n();
                let masks = experiment.split.tests(n, set.labels(), &set.path, repeat)?;
                Ok(masks.into_iter().map(|mask| mask.map(Arc::from)).collect())
            };
            match (0..experiment.split.repeats()).map(masks).collect::<Result<_>>() {
                Ok(masks) => tests.push(masks),
                Err(e) => {
                    out.push(Diagnostic::new("", format!("dataset {}", set.id), e.to_string()));
                }
            }
        }
        if !out.is_empty() {
            return Err(Error::Config(out));
        }
        let mut grid = Grid {
            datasets,
            left_out,
            methods,
            cells: Vec::new(),
            selection_of: Vec::new(),
            selections: Vec::new(),
            tests,
        };
        grid.lay_out(experiment, &specs)?;
        Ok(grid)
    }

    /// The test objects of a fold; `None` when nothing is held back.
    pub fn test(&self, dataset: usize, repeat: usize, fold: usize) -> Option<&Arc<[bool]>> {
        self.tests[dataset][repeat][fold].as_ref()
    }

    /// Notes for readers of the results, before anything runs.
    pub fn notes(&self, experiment: &Experiment) -> Vec<String> {
        let mut notes = experiment.unread();
        let last = experiment.points.numbers().ok().and_then(|points| points.last().copied());
        for (at, (set, methods)) in self.datasets.iter().zip(&self.methods).enumerate() {
            let read = set.set.reading.notes.iter();
            notes.extend(read.map(|note| format!("{}: {}", set.id, in_file_words(note))));
            // What the steps under [[dataset]] warned of, which also stands in the rows.
            let own = format!("{}: ", set.set.name);
            let bare = |note: &String| note.strip_prefix(&own).unwrap_or(note).to_string();
            notes.extend(set.notes.iter().map(|note| format!("{}: {}", set.id, bare(note))));
            let asked = methods.iter().any(|m| m.method.is_answered_by_classes());
            let partly = set.set.partly_known().filter(|_| asked);
            notes.extend(partly.map(|partly| format!("{}: {partly}", set.id)));
            let takes_k = experiment.methods.iter().any(|m| mentions_classes(&m.config));
            let part = set.set.part_of_classes().filter(|_| takes_k && set.set.classes.is_some());
            let way = "k under [[method]] sets their number";
            notes.extend(part.map(|part| format!("{}: {part}: {way}", set.id)));
            let scored = experiment.columns().iter().zip(&experiment.scoring.metrics);
            let lacking = scored.filter(|(_, metric)| metric.properties().needs_truth);
            let lacking: Vec<&str> = lacking.map(|(column, _)| column.as_str()).collect();
            if set.set.classes.is_none() && !lacking.is_empty() {
                notes.push(format!(
                    "{}: no classes, without which {} never has a value: name their column with target under \
                     [[dataset]], or choose metrics that need none, such as silhouette and sse",
                    set.id,
                    lacking.join(", ")
                ));
            }
            let mut tests = self.tests[at].iter().flatten().flatten();
            let scored = |i: usize| set.labels().is_none_or(|labels| labels[i].is_some());
            let alone =
                |test: &Arc<[bool]>| (0..test.len()).filter(|&i| test[i] && scored(i)).count() < 2;
            if experiment.scores_test_objects() && tests.any(alone) {
                notes.push(format!(
                    "{}: test sets with fewer than 2 objects to score, whose scores do not depend on the clusters: \
                     choose fewer folds or a larger test_fraction",
                    set.id
                ));
            }
            notes.extend(last.and_then(|last| self.beyond_all_pairs(at, last)));
            notes.extend(self.beyond_all_objects(at));
            notes.extend(self.scales(at));
        }
        notes
    }

    /// Notes about distances that may not be what the reader expects, with the methods that take them as they are.
    fn scales(&self, dataset: usize) -> Vec<String> {
        let (set, methods) = (&self.datasets[dataset], &self.methods[dataset]);
        let key = |list: &str| format!("transforms = {list}");
        let warning_of = |ResolvedMethod { method, k, .. }: &ResolvedMethod| {
            let (ctx, given) = (Context::builder(set.path.clone()).build(), Constraints::default());
            let single = Single::new(set.set.clone(), method.clone(), *k, given, ctx).ok()?;
            notices::scales(&single, &key)
        };
        let (mut known, mut ids) = (BTreeMap::new(), BTreeMap::<String, Vec<&str>>::new());
        for m in methods {
            let Method { transforms, clusterer, .. } = &m.method;
            // Of methods with the same steps one is looked at.
            let steps: Vec<_> = transforms.iter().map(|t| t.typetag_name()).collect();
            let is_auto = clusterer.as_ref().is_some_and(|c| c.typetag_name() == "auto");
            let warning = known.entry((steps, is_auto)).or_insert_with(|| warning_of(m));
            if let Some(warning) = warning {
                ids.entry(warning.clone()).or_default().push(&m.id);
            }
        }
        let note = |(warning, ids): (String, Vec<&str>)| match ids.len() == methods.len() {
            true => format!("{}: {warning}", set.id),
            false => format!("{}: {}: {warning}", set.id, ids.join(", ")),
        };
        ids.into_iter().map(note).collect()
    }

    /// Note about a curve with `last` questions if the data set has fewer pairs.
    fn beyond_all_pairs(&self, dataset: usize, last: usize) -> Option<String> {
        let set = &self.datasets[dataset];
        let methods = self.methods[dataset].iter().map(|m| &m.method);
        let asking: Vec<&Method> = methods.filter(|m| m.selector.is_some()).collect();
        // Classes answer about some objects, another oracle may answer about all.
        let by_classes = asking.iter().all(|m| m.is_answered_by_classes());
        let known = set.set.answerable().filter(|_| by_classes);
        let known = known.unwrap_or_else(|| vec![true; set.set.n()]);
        let is_kept = |test: &Mask, i: usize| known[i] && test.as_ref().is_none_or(|test| !test[i]);
        let kept = |test: &Mask| (0..known.len()).filter(|&i| is_kept(test, i)).count();
        let objects = self.tests[dataset].iter().flatten().map(kept).max()?;
        let pairs = objects * objects.saturating_sub(1) / 2;
        (!asking.is_empty() && last > pairs).then(|| {
            format!(
                "{}: the curve continues to {last} questions, but {objects} objects to ask about make {pairs} pairs: \
                 from there on it is flat",
                set.id
            )
        })
    }

    /// Note about methods that want more clusters than a data set has objects.
    fn beyond_all_objects(&self, dataset: usize) -> Option<String> {
        let set = &self.datasets[dataset];
        let n = set.set.n();
        let too_many = |ResolvedMethod { method, k, config, .. }: &&ResolvedMethod| {
            let wanted = method.clusterer.is_some()
                || method.selector.as_ref().is_some_and(|s| s.properties().needs_k);
            let of_clusterer = config["clusterer"]["k"].as_u64().map(|k| k as usize);
            k.filter(|_| wanted).max(of_clusterer).is_some_and(|k| k > n)
        };
        let methods = self.methods[dataset].iter().filter(too_many);
        let ids: Vec<&str> = methods.map(|m| m.id.as_str()).collect();
        (!ids.is_empty()).then(|| {
            format!(
                "{}: {}: more clusters than the {n} objects, so that every cell of them fails: choose another k",
                set.id,
                ids.join(", ")
            )
        })
    }

    /// The method of a cell.
    pub fn method_of_cell(&self, cell: usize) -> &ResolvedMethod {
        let c = &self.cells[cell];
        &self.methods[c.dataset][c.method]
    }

    /// The method of a selection.
    pub fn method_of_selection(&self, selection: usize) -> &ResolvedMethod {
        let s = &self.selections[selection];
        &self.methods[s.dataset][s.method]
    }

    /// Lays out cells and selections; `specs` are the positions of the data sets in the experiment.
    fn lay_out(&mut self, experiment: &Experiment, specs: &[usize]) -> Result<()> {
        let reference = match experiment.points.numbers() {
            Ok(_) => None,
            Err(id) => experiment.methods.iter().position(|m| m.id == id),
        };
        let mut by_key: HashMap<String, usize> = HashMap::new();
        for dataset in 0..self.datasets.len() {
            let methods = &self.methods[dataset];
            let keys: Vec<Option<String>> = methods.iter().map(selection_key).collect();
            let identity = |m: &ResolvedMethod| {
                let spec = &experiment.datasets[specs[dataset]];
                let reference = reference.map(|r| &methods[r]);
                let set = &self.datasets[dataset];
                identity::of_method(experiment, spec, set, m, reference)
            };
            let identities: Vec<Common> = methods.iter().map(identity).collect::<Result<_>>()?;
            let builds: Vec<Arc<Build>> =
                identities.iter().map(|i| Arc::new(i.build.clone())).collect();
            for method in 0..experiment.methods.len() {
                for repeat in 0..experiment.split.repeats() {
                    for fold in 0..experiment.split.folds() {
                        let place = [dataset, repeat, fold];
                        let mut task = |method: usize, key: &str, budget: Budget| {
                            share(&mut self.selections, &mut by_key, key, place, method, budget)
                        };
                        let selection = match (&keys[method], reference) {
                            (Some(key), None) => Some(task(method, key, Budget::Points)),
                            (Some(key), Some(r)) if keys[r].as_ref() == Some(key) => {
                                Some(task(method, key, Budget::Open))
                            }
                            (Some(key), Some(r)) => {
                                let leading = keys[r].as_deref().unwrap_or_default();
                                let first = task(r, leading, Budget::Open);
                                Some(task(method, key, Budget::Follow(first)))
                            }
                            // A method without queries still waits for the number that the
                            // reference makes.
                            (None, Some(r)) => {
                                keys[r].as_deref().map(|key| task(r, key, Budget::Open))
                            }
                            (None, None) => None,
                        };
                        self.selection_of.push(selection);
                        let (identity, of_any_build) =
                            identity::of_cell(&identities[method], repeat, fold);
                        let build = builds[method].clone();
                        let cell =
                            Cell { dataset, method, repeat, fold, identity, of_any_build, build };
                        self.cells.push(cell);
                    }
                }
            }
        }
        Ok(())
    }

    /// One cell per identity: methods with equal settings have equal rows.
    pub fn distinct(&self, cells: &[usize]) -> Vec<usize> {
        let mut seen = BTreeSet::new();
        cells.iter().copied().filter(|&c| seen.insert(&self.cells[c].identity)).collect()
    }

    /// Takes what another build wrote for the rows of a cell, and of those with equal settings.
    pub fn adopt(&mut self, cell: usize, identity: &str, build: &Build) {
        let name = self.cells[cell].of_any_build.clone();
        let build = Arc::new(build.clone());
        for cell in self.cells.iter_mut().filter(|c| c.of_any_build == name) {
            cell.identity = identity.into();
            cell.build = build.clone();
        }
    }

    /// Which file belongs to which cell.
    pub fn plan_lines(&self) -> Vec<PlanLine> {
        let line = |c: &Cell| PlanLine {
            dataset: self.datasets[c.dataset].id.clone(),
            method: self.methods[c.dataset][c.method].id.clone(),
            repeat: c.repeat,
            fold: c.fold,
            identity: c.identity.clone(),
        };
        self.cells.iter().map(line).collect()
    }

    /// The data sets as they are written down.
    pub fn facts(&self) -> Vec<Facts> {
        self.datasets.iter().map(Prepared::facts).collect()
    }

    /// Operations of one cell, roughly.
    pub fn cell_effort(&self, cell: usize, points: usize) -> f64 {
        let ResolvedMethod { method, costs, .. } = self.method_of_cell(cell);
        // Without questions every point of the curve is the same run.
        let runs = match method.selector {
            Some(_) if method.clusterer.is_some() => points,
            _ => 1,
        };
        costs.clusterer * runs.max(1) as f64
    }

    /// Operations of one selection, roughly.
    pub fn selection_effort(&self, selection: usize, queries: usize) -> f64 {
        let ResolvedMethod { method, costs, config, .. } = self.method_of_selection(selection);
        let data = &self.datasets[self.selections[selection].dataset].set.data;
        // No more questions than there are pairs.
        let queries = queries.clamp(1, data.n().saturating_mul(data.n()) / 2 + 1);
        let asks = (queries * data.entries()) as f64;
        let selector = method.selector.as_ref();
        let between = selector.is_some_and(|s| s.properties().needs_clustering);
        // Where it asks several questions between two clusterings.
        let batch = config["selector"]["batch"].as_u64().map_or(1, |b| b.max(1) as usize);
        let runs = queries.div_ceil(batch) as f64;
        // A selector that looks at clusterings learns from them as well, forests for instance.
        let between = if between { runs * costs.clusterer + 100.0 * asks } else { 0.0 };
        asks + costs.selector + between
    }
}

/// The existing data sets of an experiment, their places in it, and a line for each optional one that is not.
fn open(
    experiment: &Experiment,
    source: &data::Source,
) -> Result<(Vec<Prepared>, Vec<usize>, Vec<String>)> {
    let (mut datasets, mut places) = (Vec::new(), Vec::new());
    let (mut missing, mut failed) = (Vec::new(), Vec::new());
    for (at, spec) in experiment.datasets.iter().enumerate() {
        match data::prepare(experiment, spec, source) {
            Ok(prepared) => {
                datasets.push(prepared);
                places.push(at);
            }
            Err(e) if spec.optional => missing.push(left_out(&spec.id, &e.to_string())),
            Err(e) => failed.push(e),
        }
    }
    match failed.len() {
        0 => Ok((datasets, places, missing)),
        1 => Err(failed.remove(0)),
        _ => {
            let lines: Vec<String> = failed.iter().map(ToString::to_string).collect();
            Err(Error::Data { place: "data sets".into(), message: lines.join("\n") })
        }
    }
}

/// Note about an optional data set that is missing. It may be missing on purpose, so the list of known names
/// is not shown.
pub(crate) fn left_out(id: &str, message: &str) -> String {
    format!("{id}: left out: {}", message.split("; ").next().unwrap_or(message))
}

/// The selection with this key at this place: the existing one, or a new one for `method`.
fn share(
    selections: &mut Vec<SelectionTask>,
    by_key: &mut HashMap<String, usize>,
    key: &str,
    [dataset, repeat, fold]: [usize; 3],
    method: usize,
    budget: Budget,
) -> usize {
    *by_key.entry(format!("{dataset}/{repeat}/{fold}/{key}")).or_insert_with(|| {
        selections.push(SelectionTask { dataset, method, repeat, fold, budget });
        selections.len() - 1
    })
}
