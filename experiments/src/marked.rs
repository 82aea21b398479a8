//! The options of a plugin that name files and programs.

use std::collections::BTreeSet;
use std::path::Path;

use mustlink_config::tree::visit_plugins;
use mustlink_core::registry::Descriptor;
use serde_json::Value;

/// The options of a plugin that are marked as commands (`x-program`) or files (`x-file`): its results
/// depend on what these hold.
pub(crate) fn marked(d: &'static Descriptor, mark: &str) -> impl Iterator<Item = &'static String> {
    let options = d.schema_value()["properties"].as_object().into_iter().flatten();
    options.filter(move |(_, option)| option[mark] == true).map(|(name, _)| name)
}

/// The files that options in a tree name and that are not there, each with the tag of its plugin; relative paths
/// start at `base`.
pub(crate) fn missing_files(tree: &Value, base: &Path) -> BTreeSet<(&'static str, String)> {
    let mut missing = BTreeSet::new();
    visit_plugins(tree, &mut |d, table| {
        let files = marked(d, "x-file").filter_map(|name| table.get(name)?.as_str());
        let gone = files.filter(|file| !base.join(file).exists());
        missing.extend(gone.map(|file| (d.tag, file.to_string())));
        true
    });
    missing
}
