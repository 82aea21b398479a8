//! The identity of a cell, the key of a selection that cells share, and the code that made a
//! result.
//!
//! The identity of a cell is a hash of everything its rows depend on; a selection key is everything a
//! selection reads. Neither decides what is drawn: seeds have paths of their own. Which rows are asked
//! for (points, metrics, repeats) is not part of an identity, so that a finished study can grow.
//!
//! Code has names. `mustlink` is the code that every cell runs through. A crate of plugins has the name of its
//! package. A file, of a plugin in another language or in an option, has its path as its name. Each name has a
//! digest, except released packages of mustlink: there, the `version` of a plugin shows that results changed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use mustlink_config::tree::{plugin, visit_plugins, visit_tables_mut};
use mustlink_core::registry::{Catalogue, Descriptor};
use mustlink_core::{Error, Result};
use mustlink_external::parts::programs;
use serde_json::{Value, json};

use crate::config::{DatasetEntry, EnsemblePer, Experiment, ResolvedMethod};
use crate::data::Prepared;
use crate::hash::{canonical, digest};
use crate::marked::marked;

/// Schema of identities; raised when rows change their meaning.
const SCHEMA: u32 = 2;

/// Part of the identity that all cells of a method on a data set share.
#[derive(Debug, Clone)]
pub(crate) struct Common {
    /// Settings by the user: data, settings, seed, and the versions of plugins.
    said: Value,
    /// The code that makes the rows.
    pub build: Build,
}

/// Part of the identity that all cells of a method on a data set share; `reference` is the method that decides
/// the curve points, if there is one.
///
/// # Errors
/// `Data` for scores that cannot be stored.
pub(crate) fn of_method(
    experiment: &Experiment,
    spec: &DatasetEntry,
    set: &Prepared,
    method: &ResolvedMethod,
    reference: Option<&ResolvedMethod>,
) -> Result<Common> {
    let curve = match reference {
        None => json!("points"),
        Some(r) => json!({ "from_run": r.config }),
    };
    let plain = |value: serde_json::Result<Value>, place: &str| {
        value.map_err(|e| Error::Data { place: place.into(), message: e.to_string() })
    };
    let mut scoring = plain(serde_json::to_value(&experiment.scoring), "scoring")?;
    let mut split = plain(serde_json::to_value(&experiment.split), "split")?;
    for (section, key) in [(&mut scoring, "metrics"), (&mut split, "repeats")] {
        if let Some(map) = section.as_object_mut() {
            map.remove(key);
        }
    }
    let trees = [&method.config, &spec.transforms, &curve];
    let mut identity = json!({
        "schema": SCHEMA,
        "dataset": {
            "id": set.id, "digest": set.digest, "target": set.target,
            "class_sizes": spec.class_sizes, "transforms": spec.transforms,
            "constraints": set.given.digest(),
        },
        "split": split,
        "method": method.config,
        "curve": curve,
        "scoring": scoring,
        "seed": experiment.head.seed,
        "versions": versions(trees),
    });
    if let Some(known) = &set.set.known {
        let known = canonical(&json!([known.names, known.labels.to_vec()]));
        identity["dataset"]["known"] = json!(digest(known.as_bytes()));
    }
    if !set.set.reading.listed {
        identity["dataset"]["drawn_from"] = json!("values");
    }
    if experiment.head.ensemble_per == EnsemblePer::Repeat {
        identity["ensemble_per"] = json!("repeat");
    }
    let build = of_trees(trees, experiment.base());
    Ok(Common { said: first_names(&identity), build })
}

/// Dependencies of each column of scores, by column: a hash of its metric, options and versions, and
/// after a point one of the metric's code, unless it is that of a release.
///
/// # Errors
/// `Data` for metrics that cannot be stored.
pub(crate) fn of_metrics(experiment: &Experiment) -> Result<BTreeMap<String, String>> {
    let metrics = experiment.columns().iter().zip(&experiment.scoring.metrics);
    metrics
        .map(|(column, metric)| {
            let config = serde_json::to_value(metric)
                .map_err(|e| Error::Data { place: "scoring".into(), message: e.to_string() })?;
            let whole = json!({ "metric": first_names(&config), "versions": versions([&config]) });
            let said = digest(canonical(&whole).as_bytes());
            let mut build = Build::new();
            add_plugins(&config, Path::new(""), &mut build);
            let made = if build.is_empty() {
                String::new()
            } else {
                format!(".{}", digest(canonical(&json!(build)).as_bytes()))
            };
            Ok((column.clone(), said + &made))
        })
        .collect()
}

/// Options under the names they had first: renaming one leaves finished cells what they are.
fn first_names(value: &Value) -> Value {
    let mut named = value.clone();
    visit_tables_mut(&mut named, &mut |table| {
        if let (Some(d), Value::Object(table)) = (plugin(table), table) {
            let alias = |key: &str| Some(d.option(key)?.alias?.to_string());
            let first = |(key, value): (String, Value)| (alias(&key).unwrap_or(key), value);
            *table = std::mem::take(table).into_iter().map(first).collect();
        }
        true
    });
    named
}

/// The names of one cell, each of 16 hexadecimal digits: first its identity, under which its rows are
/// kept; then what all builds call it, which is the same for released ones.
pub(crate) fn of_cell(method: &Common, repeat: usize, fold: usize) -> (String, String) {
    let mut identity = method.said.clone();
    identity["repeat"] = repeat.into();
    identity["fold"] = fold.into();
    let of_any_build = digest(canonical(&identity).as_bytes());
    if method.build.is_empty() {
        return (of_any_build.clone(), of_any_build);
    }
    identity["build"] = json!(method.build);
    (digest(canonical(&identity).as_bytes()), of_any_build)
}

/// Everything a selection reads, apart from data set, repeat and fold; `None` without a selector.
pub(crate) fn selection_key(resolved: &ResolvedMethod) -> Option<String> {
    let selector = resolved.method.selector.as_ref()?;
    let prefix = resolved.method.prefix().len();
    let transforms = resolved.config["transforms"].as_array().cloned().unwrap_or_default();
    let mut key = json!({
        "transforms": transforms[..prefix.min(transforms.len())],
        "k": resolved.k,
        "selector": resolved.config["selector"],
        "oracle": resolved.config["oracle"],
    });
    if selector.properties().needs_clustering {
        key["clusterer"] = resolved.config["clusterer"].clone();
        key["suffix"] = json!(transforms[prefix.min(transforms.len())..]);
    }
    Some(canonical(&key))
}

/// The versions of the plugins in these trees, by tag.
fn versions<'a>(trees: impl IntoIterator<Item = &'a Value>) -> BTreeMap<&'static str, u32> {
    let mut versions = BTreeMap::new();
    for tree in trees {
        visit_plugins(tree, &mut |d, table| {
            versions.insert(d.tag, d.version);
            versions.extend(implied(d, table).iter().map(|d| (d.tag, d.version)));
            true
        });
    }
    versions
}

/// The plugins that replace absent options, which do not appear in tables.
fn implied(d: &'static Descriptor, table: &Value) -> Vec<&'static Descriptor> {
    let mut implied = Vec::new();
    for option in d.options() {
        let is_absent = table.get(option.name).is_none_or(Value::is_null);
        if let Some(absent) = option.absent.filter(|_| is_absent) {
            visit_plugins(&absent(), &mut |d, _| {
                implied.push(d);
                true
            });
        }
    }
    implied
}

/// Digests of code, by name.
pub(crate) type Build = BTreeMap<String, String>;

/// The name of what every cell passes through: the framework and the runner.
const FRAMEWORK: &str = "mustlink";

fn framework() -> String {
    match [mustlink_core::SOURCES, mustlink_core::crate_sources!()] {
        ["", ""] => String::new(),
        sources => digest(sources.concat().as_bytes()),
    }
}

/// Adds the code of the plugins in a tree; for a plugin in Rust, this is its crate. Relative paths start at `base`.
pub(crate) fn add_plugins(tree: &Value, base: &Path, build: &mut Build) {
    visit_plugins(tree, &mut |d, table| {
        for d in std::iter::once(d).chain(implied(d, table)) {
            let sources = (d.sources)();
            if !sources.is_empty() {
                build.insert(d.package.into(), sources.into());
            }
        }
        if let Some(script) = &d.script {
            build.extend(programs::digests(&script.command, &Value::Null, &script.base));
            build.extend(programs::digests(&[], table, base));
        }
        for words in commands(d, table) {
            build.extend(programs::digests(&words, &table["options"], base));
        }
        for file in marked(d, |option| option.file).filter_map(|name| table.get(name)?.as_str()) {
            let digest = programs::digest(&base.join(file));
            build.extend(digest.map(|digest| (file.to_string(), digest)));
        }
        true
    });
}

/// The commands among the options of a plugin.
fn commands(d: &'static Descriptor, table: &Value) -> impl Iterator<Item = Vec<String>> {
    let lists = marked(d, |option| option.program).filter_map(|name| table.get(name)?.as_array());
    lists.map(|words| words.iter().filter_map(Value::as_str).map(str::to_string).collect())
}

/// The commands of the programs that a run of this experiment starts.
pub fn programs(experiment: &Experiment) -> BTreeSet<Vec<String>> {
    let mut found = BTreeSet::new();
    visit_plugins(experiment.resolved(), &mut |d, table| {
        found.extend(d.script.iter().map(|script| script.command.clone()));
        found.extend(commands(d, table).filter(|words| !words.is_empty()));
        true
    });
    found
}

/// True if a tree holds a plugin in another language, of whose time nothing is known beforehand.
pub(crate) fn has_program(tree: &Value) -> bool {
    let mut found = false;
    visit_plugins(tree, &mut |d, _| {
        found |= d.script.is_some() || marked(d, |option| option.program).next().is_some();
        !found
    });
    found
}

/// The code of a cell that passes through these trees.
pub(crate) fn of_trees<'a>(trees: impl IntoIterator<Item = &'a Value>, base: &Path) -> Build {
    let mut build = Build::new();
    for tree in trees {
        add_plugins(tree, base, &mut build);
    }
    let framework = framework();
    if !framework.is_empty() {
        build.insert(FRAMEWORK.into(), framework);
    }
    build
}

/// Differences between two builds: the names of changed, new and missing parts.
pub(crate) fn changed(there: &Build, here: &Build) -> BTreeSet<String> {
    // Made before results said what code they are from.
    if there.is_empty() && !here.is_empty() {
        return BTreeSet::from([FRAMEWORK.to_string()]);
    }
    let names = there.keys().chain(here.keys());
    names.filter(|name| there.get(*name) != here.get(*name)).cloned().collect()
}

/// The digests that code has here, looked up once.
pub(crate) struct Here<'a> {
    base: &'a Path,
    known: BTreeMap<String, Vec<String>>,
}

impl<'a> Here<'a> {
    /// Relative paths start at `base`.
    pub fn at(base: &'a Path) -> Self {
        Here { base, known: BTreeMap::new() }
    }

    /// The names of the code in `there` that is another here; that of the framework where rows do not
    /// say what made them.
    pub fn changed(&mut self, there: &Build) -> BTreeSet<String> {
        let mut here = Build::new();
        let names = there.keys().map(String::as_str).chain([FRAMEWORK]);
        for name in names.collect::<BTreeSet<_>>() {
            let look = || now(name, self.base);
            let digests = self.known.entry(name.to_string()).or_insert_with(look);
            let same = digests.iter().find(|digest| there.get(name) == Some(*digest));
            let digest = same.or(digests.first());
            here.extend(digest.map(|digest| (name.to_string(), digest.clone())));
        }
        changed(there, &here)
    }
}

/// The digests of what a name may stand for. A plain name is that of a program of the system where a command
/// begins with it, and that of a file in its folder where it comes later: a build does not say which.
fn now(name: &str, base: &Path) -> Vec<String> {
    if name == FRAMEWORK {
        return Some(framework()).filter(|f| !f.is_empty()).into_iter().collect();
    }
    let plugins = Catalogue::get().map(Catalogue::all).unwrap_or_default();
    let crates = plugins.iter().filter(|d| d.package == name).map(|d| (d.sources)());
    let crates: BTreeSet<&str> = crates.filter(|sources| !sources.is_empty()).collect();
    let file = Some(base.join(name)).filter(|path| path.is_file());
    let program = programs::program(name, base).filter(|path| Some(path) != file.as_ref());
    let files = file.into_iter().chain(program).filter_map(|path| programs::digest(&path));
    crates.into_iter().map(str::to_string).chain(files).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_for_an_absent_option_counts() {
        let auto = json!({ "clusterer": { "type": "auto" } });
        let of = versions([&auto]);
        assert!(of.contains_key("auto") && of.contains_key("pck_means") && of.contains_key("itml"));
        let own = json!({ "clusterer": {
            "type": "auto", "candidates": [{ "clusterer": { "type": "kmeans" } }],
        } });
        let of = versions([&own]);
        assert!(of.contains_key("kmeans") && !of.contains_key("pck_means"));
    }

    #[test]
    fn renamed_options_do_not_change_identities() {
        let config = json!({ "clusterer": { "type": "pck_means", "when_more_neighbourhoods": "largest", "weight": 1.0 } });
        let first = json!({ "clusterer": { "type": "pck_means", "lambda_gt_k": "largest", "weight": 1.0 } });
        assert_eq!(first_names(&config), first);
        assert_eq!(first_names(&first), first);
    }

    #[test]
    fn the_code_of_plugins_is_that_of_their_crates() {
        let config = json!({
            "transforms": [{ "type": "z_score" }], "clusterer": { "type": "kmeans" },
        });
        let build = of_trees([&config], Path::new(""));
        let crates = ["mustlink", "mustlink-base-clusterers", "mustlink-transforms"];
        assert!(build.keys().eq(crates), "{build:?}");
        let changed = |there: &Build| Here::at(Path::new("")).changed(there);
        assert!(changed(&build).is_empty());
        // Earlier builds named each plugin.
        let earlier = Build::from([("kmeans".to_string(), "0123456789abcdef".to_string())]);
        assert!(changed(&earlier).contains("kmeans"));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_called_like_the_interpreter_is_not_taken_for_it() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("sh"), "notes\n").unwrap();
        let of = |text: &str| Build::from([("sh".to_string(), text.to_string())]);
        let program = programs::digests(&["sh".to_string()], &Value::Null, dir.path());
        let changed = |there: &Build| Here::at(dir.path()).changed(there).contains("sh");
        assert!(!changed(&program));
        // As an argument the same name is the file.
        assert!(!changed(&of(&programs::digest(&dir.path().join("sh")).unwrap())));
        assert!(changed(&of("0123456789abcdef")));
    }
}
