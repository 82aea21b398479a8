//! The options of a plugin that name files and programs.

use std::collections::BTreeSet;
use std::path::Path;

use mustlink_config::tree::visit_plugins;
use mustlink_core::kind::Opt;
use mustlink_core::registry::Descriptor;
use serde_json::Value;

/// The options of a plugin with a mark, that of commands or that of files: its results depend on what these hold.
pub(crate) fn marked(d: &Descriptor, mark: fn(&Opt) -> bool) -> impl Iterator<Item = &'static str> {
    d.options().into_iter().filter(move |option| mark(option)).map(|option| option.name)
}

/// The files that options in a tree name and that are not there, each with the tag of its plugin; relative paths
/// start at `base`.
pub(crate) fn missing_files(tree: &Value, base: &Path) -> BTreeSet<(&'static str, String)> {
    let mut missing = BTreeSet::new();
    visit_plugins(tree, &mut |d, table| {
        let files = marked(d, |option| option.file).filter_map(|name| table.get(name)?.as_str());
        let gone = files.filter(|file| !base.join(file).exists());
        missing.extend(gone.map(|file| (d.tag, file.to_string())));
        true
    });
    missing
}
