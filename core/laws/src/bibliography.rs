//! The works that plugins may cite.

use std::path::PathBuf;

const OURS: &str = include_str!("references.bib");

/// The bibliography of the package whose laws are run: `references.bib` next to its manifest.
fn of_the_package() -> Option<PathBuf> {
    let folder = std::env::var_os("CARGO_MANIFEST_DIR")?;
    Some(PathBuf::from(folder).join("references.bib"))
}

fn is_ours(package: &str) -> bool {
    package == "mustlink" || package.starts_with("mustlink-")
}

/// The keys that a plugin of `package` may cite.
pub(crate) fn keys(package: &str) -> Vec<String> {
    let mut keys = keys_of(OURS);
    if !is_ours(package)
        && let Some(text) = of_the_package().and_then(|file| std::fs::read_to_string(file).ok())
    {
        keys.extend(keys_of(&text));
    }
    keys
}

/// The file in which a plugin of `package` describes a work.
pub(crate) fn place(package: &str) -> String {
    if is_ours(package) {
        return "book/references.bib".into();
    }
    let file = of_the_package().map(|file| file.display().to_string());
    file.unwrap_or_else(|| "references.bib next to Cargo.toml".into())
}

/// The keys of a text in BibTeX: `@article{KEY, …}`.
fn keys_of(text: &str) -> Vec<String> {
    let entries = text.lines().filter_map(|line| {
        let (kind, rest) = line.trim_start().strip_prefix('@')?.split_once('{')?;
        let is_entry =
            !["comment", "string", "preamble"].iter().any(|k| kind.eq_ignore_ascii_case(k));
        is_entry.then(|| rest.split(',').next().unwrap_or_default().trim().to_string())
    });
    entries.filter(|key| !key.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_entries() {
        let text = "@string{acm, \"ACM\"}\n@Article{A2000,\n title = {B, C}}\n @book{ D1999 , year = 1999}\n";
        assert_eq!(keys_of(text), ["A2000", "D1999"]);
        assert!(keys("mustlink-metrics").iter().any(|key| key == "Basu2004"));
    }
}
