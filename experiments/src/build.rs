//! Which code made a result, and is it still the same?
//!
//! Code has names: `mustlink` is what every cell passes through, a plugin is named by its tag, a file of
//! a plugin in another language by its path. Each has a digest; packages of ours that come from a
//! release have none, because there `version` of a plugin says that results changed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use mustlink::programs;
use mustlink::registry::{Catalogue, Descriptor};
use mustlink::tree::visit_plugins;
use serde_json::Value;

use crate::hash::digest;

/// Digests of code, by name.
pub(crate) type Build = BTreeMap<String, String>;

/// The name of what every cell passes through: the framework and the runner.
const FRAMEWORK: &str = "mustlink";

fn framework() -> String {
    match [mustlink::SOURCES, mustlink::crate_sources!()] {
        ["", ""] => String::new(),
        sources => digest(sources.concat().as_bytes()),
    }
}

/// The options of a plugin that are commands: its results depend on what their files hold.
fn programs_of(d: &'static Descriptor) -> impl Iterator<Item = &'static String> {
    let options = d.schema_value()["properties"].as_object().into_iter().flatten();
    options.filter(|(_, option)| option["x-program"] == true).map(|(name, _)| name)
}

/// Adds the code that the plugins in a tree consist of; relative paths start at `base`.
pub(crate) fn add_plugins(tree: &Value, base: &Path, build: &mut Build) {
    visit_plugins(tree, &mut |d, table| {
        let sources = (d.sources)();
        if !sources.is_empty() {
            build.insert(d.tag.into(), sources.into());
        }
        if let Some(script) = &d.script {
            build.extend(programs::digests(&script.command, &script.base));
        }
        for words in programs_of(d).filter_map(|name| table.get(name)?.as_array()) {
            let words = words.iter().filter_map(Value::as_str).map(str::to_string);
            build.extend(programs::digests(&words.collect::<Vec<_>>(), base));
        }
        true
    });
}

/// Whether a tree holds a plugin in another language, of whose time nothing is known beforehand.
pub(crate) fn has_program(tree: &Value) -> bool {
    let mut found = false;
    visit_plugins(tree, &mut |d, _| {
        found |= d.script.is_some() || programs_of(d).next().is_some();
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

/// What differs between two builds: the names of what changed, came or went.
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
    known: BTreeMap<String, Option<String>>,
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
            let digest = self.known.entry(name.to_string()).or_insert_with(look);
            here.extend(digest.clone().map(|digest| (name.to_string(), digest)));
        }
        changed(there, &here)
    }
}

fn now(name: &str, base: &Path) -> Option<String> {
    if name == FRAMEWORK {
        return Some(framework()).filter(|f| !f.is_empty());
    }
    if let Some(d) = Catalogue::get().ok().and_then(|c| c.find(name)) {
        return Some((d.sources)()).filter(|s| !s.is_empty()).map(str::to_string);
    }
    let path = base.join(name);
    let path = if path.is_file() { Some(path) } else { programs::program(name, base) };
    path.and_then(|path| programs::digest(&path))
}
