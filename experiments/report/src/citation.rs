//! The references of the methods that a study used.

use std::collections::{BTreeMap, BTreeSet};

use mustlink_config::tree::visit_plugins;
use mustlink_core::Result;
use mustlink_core::registry::{Catalogue, Descriptor, Role};
use serde_json::Value;

use mustlink_experiments::Experiment;

/// Papers of the plugins that come with the program, as BibTeX.
pub const REFERENCES: &str = include_str!("references.bib");

// Files of other folders that a package needs are symbolic links; `cargo package` replaces them by the files. Git for
// Windows may check out a link as a text file that contains only the path.
const _: () = assert!(
    REFERENCES.len() > 1000,
    "references.bib is not a symbolic link: run `git config core.symlinks true` and check it out again"
);

/// Papers on statistics that the paragraph for a paper cites.
const STATISTICS: &str = include_str!("statistics.bib");

/// References that a plugin cites with these options. Options that change no label are cited if they were set
/// by name.
pub(crate) fn references(d: &Descriptor, options: &Value) -> Vec<&'static str> {
    let default = (d.default)();
    let value = |option: &str| options.get(option).or(default.get(option));
    let ran = |key: &&str| {
        let mut rules = d.cited_if.iter().filter(|rule| rule.0 == *key);
        rules.all(|(_, option, wanted)| value(option).is_none_or(|v| v == wanted))
    };
    d.references.iter().copied().filter(ran).collect()
}

/// Plugins by role and tag, with the keys of what they cite as they were run.
#[derive(Default)]
pub struct Used(BTreeMap<(Role, &'static str), (&'static Descriptor, BTreeSet<&'static str>)>);

impl Used {
    /// Adds the plugins in a tree of configuration.
    ///
    /// # Errors
    /// A registry that is empty or holds a tag twice.
    pub fn add(&mut self, tree: &Value) -> Result<()> {
        Catalogue::get()?;
        visit_plugins(tree, &mut |d, options| {
            let (_, keys) = self.0.entry((d.role, d.tag)).or_insert((d, BTreeSet::new()));
            keys.extend(references(d, options));
            true
        });
        Ok(())
    }

    /// The plugins of an experiment: its methods, data sets and scores.
    ///
    /// # Errors
    /// Returns the errors of [`Used::add`].
    pub fn of(experiment: &Experiment) -> Result<Used> {
        let mut used = Used::default();
        for section in ["method", "dataset", "scoring"] {
            used.add(&experiment.resolved()[section])?;
        }
        Ok(used)
    }

    /// The keys of what they cite, each once.
    pub fn keys(&self) -> BTreeSet<&'static str> {
        self.0.values().flat_map(|used| &used.1).copied().collect()
    }

    /// The tags of those that cite `key`.
    pub fn citing(&self, key: &str) -> Vec<&'static str> {
        self.0.values().filter(|used| used.1.contains(key)).map(|used| used.0.tag).collect()
    }

    /// One sentence with every plugin, role by role, for LaTeX.
    pub fn sentence(&self) -> String {
        let mut parts = Vec::new();
        for role in Role::ALL {
            let mine = self.0.values().filter(|used| used.0.role == role);
            let named: Vec<String> = mine
                .map(|(d, keys)| {
                    let tag = d.tag.replace('_', "\\_");
                    // In the order of the plugin: what it is comes first.
                    let keys = d.references.iter().copied().filter(|key| keys.contains(key));
                    match keys.collect::<Vec<_>>() {
                        keys if keys.is_empty() => tag,
                        keys => format!("{tag}~\\cite{{{}}}", keys.join(",")),
                    }
                })
                .collect();
            if !named.is_empty() {
                let role = if named.len() == 1 { role.name().to_string() } else { role.plural() };
                parts.push(format!("{} {}", role.replace('-', " "), named.join(", ")));
            }
        }
        let version = env!("CARGO_PKG_VERSION");
        format!("We used mustlink {version}~\\cite{{mustlink}} with the {}.", parts.join("; the "))
    }
}

/// The year of this version.
const YEAR: u32 = 2026;

/// The entry of the program itself.
pub fn own_entry() -> String {
    let url = match env!("CARGO_PKG_REPOSITORY") {
        "" => String::new(),
        url => format!(",\n  url = {{{url}}}"),
    };
    format!(
        "@misc{{mustlink,\n  author = {{{{The mustlink maintainers}}}},\n  title = {{mustlink: \
         semi-supervised clustering ensembles as trees of named plugins}},\n  year = {{{YEAR}}},\n  note = \
         {{Version {}}}{url}\n}}\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// The entry of a key in a text of BibTeX, unchanged.
pub fn entry<'a>(bibliography: &'a str, key: &str) -> Option<&'a str> {
    let head = format!("{{{key},");
    let brace = bibliography.find(&head)?;
    let start = bibliography[..brace].rfind('@')?;
    let mut depth = 0;
    for (at, letter) in bibliography[brace..].char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&bibliography[start..=brace + at]);
        }
    }
    None
}

/// BibTeX of the program, of everything that `used` cites and of further references in `paragraph`, and the
/// keys without an entry.
pub(crate) fn bibtex(used: &Used, paragraph: &str) -> (String, Vec<&'static str>) {
    let (mut text, mut missing) = (own_entry(), Vec::new());
    for key in used.keys() {
        match entry(REFERENCES, key) {
            Some(entry) => text += &format!("\n{entry}\n"),
            None => missing.push(key),
        }
    }
    let of_tests = "Benavoli2017 CaronDoucet2012 Corani2017 Demsar2006 Garcia2010 NadeauBengio2003 \
                    RojasDelgado2022";
    for key in of_tests.split(' ') {
        if let Some(entry) = entry(STATISTICS, key).filter(|_| paragraph.contains(key)) {
            text += &format!("\n{entry}\n");
        }
    }
    (text, missing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn entries_end_where_their_braces_do() {
        let text = "@a{One,\n t = {x {y} z}\n}\n\n@b{OneMore,\n t = 1\n}\n@c{Open,\n t = {";
        assert_eq!(entry(text, "One"), Some("@a{One,\n t = {x {y} z}\n}"));
        assert_eq!(entry(text, "OneMore"), Some("@b{OneMore,\n t = 1\n}"));
        assert_eq!((entry(text, "Open"), entry(text, "None")), (None, None));
    }

    #[test]
    fn options_decide_what_is_cited() {
        let mut used = Used::default();
        used.add(&json!({ "type": "kmeans" })).unwrap();
        let plain = ["ArthurVassilvitskii2007", "Lloyd1982"];
        assert_eq!(used.keys().into_iter().collect::<Vec<_>>(), plain);
        assert!(used.sentence().contains("{Lloyd1982,ArthurVassilvitskii2007}"));
        used.add(&json!({ "type": "kmeans", "init": "random", "distortion": "cosine" })).unwrap();
        assert!(used.keys().contains("DhillonModha2001") && !used.keys().contains("Bahmani2012"));
        // A rule about an option that is no more would cite nothing, or all, in silence.
        for d in Catalogue::get().unwrap().all() {
            for (key, option, value) in d.cited_if {
                assert!((d.default)().get(option).is_some(), "{key}: {} has no {option}", d.tag);
                assert!(format!("{:?}", d.kind).contains(&format!("\"{value}\"")), "{value}");
            }
        }
    }

    #[test]
    fn exactly_the_plugins_of_a_tree_are_cited() {
        let mut used = Used::default();
        used.add(&json!([{ "clusterer": { "type": "pck_means" } }, { "type": "no_plugin" }]))
            .unwrap();
        let (text, missing) = bibtex(&used, "as [Demsar2006] has it");
        assert!(text.contains("@article{Demsar2006,") && !text.contains("Garcia2010"), "{text}");
        assert!(text.contains("  year = {2026},"), "{text}");
        let (text, _) = bibtex(&used, "");
        assert!(text.contains("@misc{mustlink,") && missing.is_empty());
        assert_eq!(text.matches("\n@").count(), used.keys().len());
        assert!(used.keys().contains("Basu2004") && used.citing("Basu2004") == ["pck_means"]);
        assert!(
            used.sentence().contains("the base clusterer pck\\_means~\\cite{"),
            "{}",
            used.sentence()
        );
    }
}
