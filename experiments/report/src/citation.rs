//! Whom does a work cite that used these methods?

use std::collections::{BTreeMap, BTreeSet};

use mustlink_config::tree::visit_plugins;
use mustlink_core::Result;
use mustlink_core::registry::{Catalogue, Descriptor, Role};
use serde_json::Value;

use mustlink_experiments::Experiment;

/// Papers of the plugins that come with the program, as BibTeX.
pub const REFERENCES: &str = include_str!("../../../book/references.bib");

/// Plugins by role and tag.
#[derive(Default)]
pub struct Used(BTreeMap<(Role, &'static str), &'static Descriptor>);

impl Used {
    /// Adds the plugins in a tree of configuration.
    ///
    /// # Errors
    /// A registry that is empty or holds a tag twice.
    pub fn add(&mut self, tree: &Value) -> Result<()> {
        Catalogue::get()?;
        visit_plugins(tree, &mut |d, _| {
            self.0.insert((d.role, d.tag), d);
            true
        });
        Ok(())
    }

    /// The plugins of an experiment: its methods, data sets and scores.
    ///
    /// # Errors
    /// As [`Used::add`].
    pub fn of(experiment: &Experiment) -> Result<Used> {
        let mut used = Used::default();
        for section in ["method", "dataset", "scoring"] {
            used.add(&experiment.resolved()[section])?;
        }
        Ok(used)
    }

    /// The keys of what they cite, each once.
    pub fn keys(&self) -> BTreeSet<&'static str> {
        self.0.values().flat_map(|d| d.references).copied().collect()
    }

    /// The tags of those that cite `key`.
    pub fn citing(&self, key: &str) -> Vec<&'static str> {
        self.0.values().filter(|d| d.references.contains(&key)).map(|d| d.tag).collect()
    }

    /// The plugins of a role, in the order of their tags.
    pub fn role(&self, role: Role) -> impl Iterator<Item = &'static Descriptor> + '_ {
        self.0.values().filter(move |d| d.role == role).copied()
    }

    /// One sentence with every plugin, role by role, for LaTeX.
    pub fn sentence(&self) -> String {
        let mut parts = Vec::new();
        for role in Role::ALL {
            let named: Vec<String> = self
                .role(role)
                .map(|d| match d.references {
                    [] => d.tag.to_string(),
                    keys => format!("{}~\\cite{{{}}}", d.tag, keys.join(",")),
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

/// The entry of the program itself.
pub fn own_entry() -> String {
    format!(
        "@misc{{mustlink,\n  author = {{{{The mustlink maintainers}}}},\n  title = {{mustlink: \
         semi-supervised clustering ensembles as trees of named plugins}},\n  note = {{Version {}}}\n}}\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// The entry of a key in a text of BibTeX, as it stands there.
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

/// BibTeX of the program and of everything that `used` cites, and the keys that have no entry.
pub(crate) fn bibtex(used: &Used) -> (String, Vec<&'static str>) {
    let (mut text, mut missing) = (own_entry(), Vec::new());
    for key in used.keys() {
        match entry(REFERENCES, key) {
            Some(entry) => text += &format!("\n{entry}\n"),
            None => missing.push(key),
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
    fn exactly_the_plugins_of_a_tree_are_cited() {
        let mut used = Used::default();
        used.add(&json!([{ "clusterer": { "type": "pck_means" } }, { "type": "no_plugin" }]))
            .unwrap();
        let (text, missing) = bibtex(&used);
        assert!(text.contains("@misc{mustlink,") && missing.is_empty());
        assert_eq!(text.matches("\n@").count(), used.keys().len());
        assert!(used.keys().contains("Basu2004") && used.citing("Basu2004") == ["pck_means"]);
        assert!(
            used.sentence().contains("the base clusterer pck_means~\\cite{"),
            "{}",
            used.sentence()
        );
    }
}
