//! The keys and what they do.

use std::collections::BTreeMap;

use mustlink_core::{Error, Result};
use serde::{Deserialize, Serialize};

/// The keys of a session, on the page and in the terminal. A key is a character, `space` or `backspace`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Keys {
    /// The two objects belong together.
    pub same: String,
    /// They do not.
    pub different: String,
    /// Don't know.
    pub unsure: String,
    /// Takes the last answer back.
    pub undo: String,
    /// Sets the question aside.
    pub later: String,
    /// A remark on the answer.
    pub note: String,
    /// Sorts several objects into groups.
    pub sort: String,
    /// The clusters so far.
    pub clusters: String,
    /// The nearest objects.
    pub neighbours: String,
    /// Why two objects belong together or not.
    pub why: String,
    /// All answers.
    pub list: String,
    /// The description of the keys.
    pub help: String,
    /// Saves and quits.
    pub quit: String,
}

impl Default for Keys {
    fn default() -> Self {
        let key = str::to_string;
        Keys {
            same: key("y"),
            different: key("n"),
            unsure: key("space"),
            undo: key("backspace"),
            later: key("s"),
            note: key("m"),
            sort: key("g"),
            clusters: key("c"),
            neighbours: key("b"),
            why: key("w"),
            list: key("l"),
            help: key("?"),
            quit: key("q"),
        }
    }
}

impl Keys {
    /// The keys of a TOML file: those that it does not name stay.
    ///
    /// # Errors
    /// `Data` with `place` for an unknown name, an invalid key, and one key for two actions.
    pub fn read(toml: &str, place: &str) -> Result<Self> {
        let bad = |message: String| Error::Data { place: place.into(), message };
        let keys: Keys = toml::from_str(toml).map_err(|e| {
            let line = |at: usize| 1 + toml.bytes().take(at).filter(|&b| b == b'\n').count();
            let line =
                e.span().map_or(String::new(), |span| format!(", line {}", line(span.start)));
            Error::Data { place: format!("{place}{line}"), message: e.message().into() }
        })?;
        let mut taken: BTreeMap<&str, &str> = BTreeMap::new();
        for (what, key) in keys.all() {
            let is_key = matches!(key, "space" | "backspace")
                || key.chars().count() == 1 && !key.contains(|c: char| c.is_control() || c == ' ');
            if !is_key {
                let legal = "a key is one character, \"space\" or \"backspace\"";
                return Err(bad(format!("{what} = \"{key}\": {legal}")));
            }
            if let Some(other) = taken.insert(key, what) {
                return Err(bad(format!("the key \"{key}\" does two things: {other} and {what}")));
            }
        }
        Ok(keys)
    }

    /// The action of each key, in the order of the legend.
    pub fn all(&self) -> [(&'static str, &str); 13] {
        [
            ("same", &self.same),
            ("different", &self.different),
            ("unsure", &self.unsure),
            ("undo", &self.undo),
            ("later", &self.later),
            ("note", &self.note),
            ("sort", &self.sort),
            ("clusters", &self.clusters),
            ("neighbours", &self.neighbours),
            ("why", &self.why),
            ("list", &self.list),
            ("help", &self.help),
            ("quit", &self.quit),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_does_one_thing() {
        let keys = Keys::read("same = \"j\"\nundo = \"u\"", "keys.toml").unwrap();
        assert_eq!((&*keys.same, &*keys.undo, &*keys.quit), ("j", "u", "q"));
        let refused = |toml| Keys::read(toml, "keys.toml").unwrap_err().to_string();
        assert!(refused("same = \"n\"").contains("two things: same and different"));
        assert!(refused("same = \"enter\"").contains("one character"));
        assert!(refused("undo = \"u\"\nsam = \"j\"").contains("sam"));
        let said = refused("undo = \"u\"\nsame = j\n");
        assert!(said.starts_with("keys.toml, line 2: "), "{said}");
    }
}
