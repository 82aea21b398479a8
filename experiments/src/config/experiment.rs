//! A checked experiment: what a run, a plan and a report work on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use mustlink_config::tree::own_name;
use mustlink_config::{self as config, without_null};
use mustlink_core::registry::Catalogue;
use mustlink_core::roles::{Metric, MetricInput, Transform};
use mustlink_core::run::guarded;
use serde_json::Value;

use super::criterion::Criterion;
use super::file::{DatasetEntry, Exclude, Head, Plot, Points, RunSection, Scope, Scoring, Stats};
use super::method::MethodSpec;
use crate::hash::canonical;
use crate::marked::missing_files;
use crate::row::{self, is_fixed_column};
use crate::split::Split;
use crate::verdict::Formula;

/// A checked experiment.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// Name, seed, description.
    pub head: Head,
    /// The data sets, in order; their transforms are built per data set.
    pub datasets: Vec<DatasetEntry>,
    /// The methods, in order, axes expanded.
    pub methods: Vec<MethodSpec>,
    /// Objects that are held out.
    pub split: Split,
    /// At which numbers of queries the methods are scored.
    pub points: Points,
    /// Options for scoring results.
    pub scoring: Scoring,
    /// Options for summarising scores.
    pub stats: Stats,
    /// Options for drawing figures.
    pub plot: Plot,
    /// Options for running the work.
    pub run: RunSection,
    /// The claims that the report judges.
    pub criteria: Vec<Criterion>,
    pub(super) columns: Vec<String>,
    /// Paths of the options that lists, ranges and presets vary.
    pub(crate) varied: BTreeSet<String>,
    pub(super) resolved: Value,
    pub(super) base: PathBuf,
}

impl Experiment {
    /// The experiment as plain values with every default written out.
    pub fn resolved(&self) -> &Value {
        &self.resolved
    }

    /// The same experiment with labels instead of the ids of methods, metrics and data sets, for a report.
    #[must_use]
    pub fn labelled(mut self) -> Experiment {
        let ids = self.methods.iter_mut().map(|m| &mut m.id);
        let ids = ids.chain(self.datasets.iter_mut().map(|d| &mut d.id)).chain(&mut self.columns);
        // The names of methods in options.
        let plot = self.plot.clone();
        let ids = ids.chain(&mut self.plot.baseline).chain(&mut self.stats.control);
        ids.for_each(|id| plot.label(id));
        self
    }

    /// The experiment as TOML with every default written out.
    pub fn resolved_toml(&self) -> String {
        toml::to_string(&without_null(&self.resolved)).unwrap_or_default()
    }

    /// Folder at which relative paths start.
    pub fn base(&self) -> &Path {
        &self.base
    }

    /// Column names of the metrics, in order: the tag; with an option where a tag comes twice.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// True if only objects are scored that the method gets no constraints about.
    pub fn scores_test_objects(&self) -> bool {
        self.scoring.scope == Scope::Test && self.split.has_test()
    }

    /// Reason why no held-out constraint is scored; `None` if some may be.
    pub fn no_constraint_held_out(&self) -> Option<&'static str> {
        if !self.split.has_test() {
            return Some(
                "nothing is held out; split.type = \"kfold\" or \"holdout\" holds out objects",
            );
        }
        (self.scoring.scope == Scope::Train).then_some(
            "constraints that are held out touch test objects; scoring.scope = \"test\" counts those between \
             two of them, \"all\" each",
        )
    }

    /// Warnings about parts without effect: questions or constraints of methods that use none, metrics that never have
    /// a value, one method under several names, or methods that read a file which does not exist.
    pub fn unread(&self) -> Vec<String> {
        let given: Vec<&str> = self
            .datasets
            .iter()
            .filter(|d| d.constraints.is_some() || d.labels.is_some())
            .map(|d| &*d.id)
            .collect();
        let unread = self.methods.iter().filter(|m| !m.reads_constraints());
        let (asking, silent): (Vec<&MethodSpec>, _) = unread.partition(|m| m.asks());
        let named = |methods: &[&MethodSpec]| {
            methods.iter().map(|m| m.id.as_str()).collect::<Vec<_>>().join(", ")
        };
        let mut out = Vec::new();
        if !asking.is_empty() {
            let who = named(&asking);
            out.push(format!(
                "{who}: asks questions, but ignores constraints, so the answers change nothing"
            ));
        }
        if !given.is_empty() && !silent.is_empty() {
            let (who, sets) = (named(&silent), given.join(", "));
            out.push(format!("{who}: ignores constraints, including those of {sets}"));
        }
        let counting = self.columns.iter().zip(&self.scoring.metrics);
        let counting = counting.filter(|(_, metric)| metric.properties().needs_constraints);
        let counting: Vec<&str> = counting.map(|(column, _)| column.as_str()).collect();
        if !counting.is_empty() && self.scores_test_objects() {
            out.push(format!(
                "{}: without a value, because no constraint touches a test object; scoring.scope = \"train\" \
                 or \"all\" counts those that the method was given",
                counting.join(", ")
            ));
        }
        let held_out = self.columns.iter().zip(&self.scoring.metrics);
        let held_out = held_out.filter(|(_, metric)| metric.properties().needs_heldout);
        let held_out: Vec<&str> = held_out.map(|(column, _)| column.as_str()).collect();
        if let (false, Some(lacks)) = (held_out.is_empty(), self.no_constraint_held_out()) {
            out.push(format!("{}: without a value, because {lacks}", held_out.join(", ")));
        }
        if self.scoring.exclude_constrained == Exclude::Explicit && self.leaving_out().is_empty() {
            out.push(
                "scoring.exclude_constrained: changes nothing, as no metric here leaves pairs out; pair_f, \
                 pair_precision, pair_recall and jaccard_pairs do"
                    .into(),
            );
        }
        out.extend(self.points_that_are_none());
        out.extend(self.files_that_are_none());
        let mut same: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for method in &self.methods {
            let mut settings = method.config.clone();
            if let Some(map) = settings.as_object_mut() {
                map.remove("id");
            }
            same.entry(canonical(&settings)).or_default().push(&method.id);
        }
        let several = same.values().filter(|ids| ids.len() > 1);
        out.extend(several.map(|ids| {
            format!("{}: the same settings, so their rows are the same", ids.join(", "))
        }));
        out
    }

    /// A line for each missing file that an option names, with the methods that fail without it.
    fn files_that_are_none(&self) -> Vec<String> {
        let mut without: BTreeMap<(&str, String), Vec<&str>> = BTreeMap::new();
        for method in &self.methods {
            for missing in missing_files(&method.config, &self.base) {
                without.entry(missing).or_default().push(&method.id);
            }
        }
        let lines = without.into_iter().map(|((tag, file), ids)| {
            format!("{}: no file {file}, which {tag} reads: the cells will fail", ids.join(", "))
        });
        lines.collect()
    }

    /// A line for each claim that names a point which the curve has not.
    fn points_that_are_none(&self) -> Vec<String> {
        let Ok(points) = self.points.numbers() else { return Vec::new() };
        let apart = |p: f64, point: &usize| (*point as f64 - p).abs();
        let mut out = Vec::new();
        for criterion in &self.criteria {
            let formulas = criterion.check.iter().chain(&criterion.value).map(String::as_str);
            let parsed = formulas.chain(criterion.shows()).filter_map(|f| Formula::parse(f).ok());
            let named: Vec<f64> = parsed.flat_map(|formula| formula.points()).collect();
            let none =
                named.into_iter().find(|p| points.iter().all(|point| apart(*p, point) > 0.0));
            let Some(p) = none else { continue };
            let near = points.iter().min_by(|a, b| apart(p, a).total_cmp(&apart(p, b)));
            let near = near.map(|near| format!(", but at {near}")).unwrap_or_default();
            out.push(format!(
                "criterion {}: the curve has no point at {p}{near}: the claim will have no data",
                criterion.id
            ));
        }
        out
    }

    /// The columns of metrics that leave pairs out of their counts if the option asks for it.
    pub fn leaving_out(&self) -> Vec<&str> {
        let all = self.columns.iter().zip(&self.scoring.metrics);
        all.filter(|(_, metric)| leaves_out(&***metric))
            .map(|(column, _)| column.as_str())
            .collect()
    }

    /// Columns of the metrics, then of the other numbers that are summarised.
    pub fn measured(&self) -> Vec<String> {
        self.columns.iter().chain(&self.stats.records).cloned().collect()
    }

    /// Every column that a formula may name: those measured, and the counts of a row.
    pub fn number_columns(&self) -> Vec<String> {
        self.measured().into_iter().chain(row::counted().map(str::to_string)).collect()
    }
}

/// True if a metric leaves pairs out: tested by leaving out a pair of four objects.
fn leaves_out(metric: &dyn Metric) -> bool {
    let truth = [Some(0), Some(1), Some(1), Some(1)];
    let score = |exclude| {
        let input = MetricInput {
            labels: &[0, 0, 1, 1],
            truth: Some(&truth),
            exclude,
            ..MetricInput::default()
        };
        guarded(metric.typetag_name(), || metric.score(&input)).ok().flatten()
    };
    score(None) != score(Some(&[(2, 3)][..]))
}

/// Column names of metrics: the tag; with the options that differ where a tag comes twice.
pub(super) fn metric_columns(metrics: &[Box<dyn Metric>]) -> Vec<String> {
    let configs: Vec<Value> =
        metrics.iter().map(|m| serde_json::to_value(m).unwrap_or_default()).collect();
    let mut names: Vec<String> = Vec::new();
    let tags: Vec<&str> = configs.iter().map(|c| own_name(c).unwrap_or_default()).collect();
    for (config, &tag) in configs.iter().zip(&tags) {
        let twice = tags.iter().filter(|other| **other == tag).count() > 1;
        let default = Catalogue::get().ok().and_then(|c| c.find(tag)).map(|d| d.default_config());
        let mut name = if is_fixed_column(tag) { format!("score_{tag}") } else { tag.into() };
        if let (true, Some(default), Some(map)) = (twice, default, config.as_object()) {
            let differs = map.iter().filter(|(k, v)| default.get(*k) != Some(v));
            let text = |v: &Value| v.as_str().map_or_else(|| v.to_string(), Into::into);
            let parts: Vec<String> = differs.map(|(k, v)| format!("{k}={}", text(v))).collect();
            if !parts.is_empty() {
                name = format!("{name}[{}]", parts.join(","));
            }
        }
        names.push(name);
    }
    names
}

impl DatasetEntry {
    /// Its transforms, on data of `classes` classes.
    ///
    /// # Errors
    /// The message of the deserialiser.
    pub(crate) fn build_transforms(
        &self,
        classes: Option<usize>,
    ) -> Result<Vec<Box<dyn Transform>>, String> {
        let mut transforms = self.transforms.clone();
        config::substitute_k(&mut transforms, classes);
        config::instantiate(transforms)
    }
}
