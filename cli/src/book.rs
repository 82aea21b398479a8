//! How does the catalogue become the reference pages of the manual?
//!
//! One page per role with everything a plugin declares about itself, one page that finds plugins by the
//! paper they come from, and the bibliography. Nothing is written by hand there, so nothing there
//! can be out of date without a test noticing it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use biblatex::{Bibliography, ChunksExt, Entry, Person};
use mustlink::registry::{Catalogue, Descriptor, Role, suggestion};
use mustlink::{Error, Result};

use crate::verbs::describe::{self, Description};

/// First line of every page.
const MARK: &str = "<!-- Written by \"mustlink book\" from the catalogue; edit the plugins or references.bib instead. -->\n\n";

/// The reference pages by file name.
pub(crate) fn pages(
    catalogue: &Catalogue,
    bibliography: &Bibliography,
) -> Result<BTreeMap<String, String>> {
    let complaints = unknown_citations(catalogue, bibliography);
    if !complaints.is_empty() {
        return Err(Error::Usage(complaints.join("; ")));
    }
    let mut pages = BTreeMap::new();
    for role in Role::ALL {
        pages.insert(file(role), role_page(catalogue, role)?);
    }
    pages.insert("methods-by-paper.md".into(), by_paper(catalogue, bibliography));
    pages.insert("bibliography.md".into(), references(bibliography));
    Ok(pages)
}

/// The page of a role.
fn file(role: Role) -> String {
    format!("{}.md", role.plural())
}

fn about(role: Role) -> &'static str {
    match role {
        Role::BaseClusterer => {
            "A base clusterer groups objects. It is given data, constraints and, where it needs one, \
             the number of clusters k."
        }
        Role::EnsembleGenerator => {
            "An ensemble generator makes many partitions of the same objects, the members of an \
             ensemble."
        }
        Role::ConsensusFunction => {
            "A consensus function makes one partition of the many in an ensemble."
        }
        Role::ConstraintPropagator => {
            "A constraint propagator spreads constraints to objects nobody was asked about. It keeps \
             every given constraint."
        }
        Role::QuerySelector => {
            "A query selector decides which pairs of objects are asked about. Most never ask what \
             already follows from the answers: `skips_entailed` says which."
        }
        Role::Oracle => {
            "An oracle answers: must-link, cannot-link, or not at all. Oracles that hold another one \
             wrap it."
        }
        Role::Metric => "A metric scores a partition. Its range and its better end are properties.",
        Role::Transform => "A transform changes the data before they are clustered.",
    }
}

fn role_page(catalogue: &Catalogue, role: Role) -> Result<String> {
    let mut title = role.plural().replace('-', " ");
    title[..1].make_ascii_uppercase();
    let mut out = format!("{MARK}# {title}\n\n{}\n\n", about(role));
    out += &format!("In configurations: `{}`.\n", role.key());
    if catalogue.role(role).next().is_none() {
        out += "\nThere is none yet.\n";
        return Ok(out);
    }
    out += "\n| name | what it is |\n|---|---|\n";
    for d in catalogue.role(role) {
        out += &format!("| [`{0}`](#{0}) | {1} |\n", d.tag, cell(&cited(&d.summary())));
    }
    for d in catalogue.role(role) {
        out += &plugin(d, &describe::description(d)?);
    }
    Ok(out)
}

/// Everything about one plugin.
fn plugin(d: &Descriptor, description: &Description) -> String {
    let mut out = format!("\n## {}\n\n{}\n", d.tag, prose(&d.documentation()));
    if description.options.is_empty() {
        out += "\nNo options.\n";
    } else {
        out += "\n| option | accepts | default | what it is |\n|---|---|---|---|\n";
    }
    for o in &description.options {
        let row = [&o.accepts, &o.shown_default(), &cited(&o.description)].map(|t| cell(t));
        out += &format!("| `{}` | {} | {} | {} |\n", o.name, row[0], row[1], row[2]);
    }
    let facts = description.properties.as_object().filter(|facts| !facts.is_empty());
    if let Some(facts) = facts {
        out += "\n| property, at the defaults | |\n|---|---|\n";
        for (name, fact) in facts {
            out += &format!("| `{name}` | {} |\n", cell(&describe::plain(fact)));
        }
    }
    out += &format!("\n```toml\n{}```\n", description.example);
    for w in &description.written_out {
        out += &format!("\n{}:\n\n```toml\n{}```\n", w.title(), w.example);
    }
    // Most plugins say in their documentation what they take from which paper.
    let documentation = d.documentation();
    let cited = |key: &str| citations(&documentation).iter().any(|(_, known)| *known == key);
    let others: Vec<String> =
        d.references.iter().filter(|key| !cited(key)).map(|key| link(key)).collect();
    if !others.is_empty() {
        out += &format!("\nReferences: {}.\n", others.join(", "));
    }
    for (law, reason) in d.waivers {
        out += &format!("\nExcused from the law `{law}`: {reason}.\n");
    }
    for (option, reason) in d.inert() {
        out +=
            &format!("\n`{option}` changes nothing on the small problems of the laws: {reason}.\n");
    }
    out += &format!("\nSource: `{}` in `{}`, version {}.\n", d.file, d.package, d.version);
    out
}

/// Documentation as it stands in a page: headings run in, citations are links.
fn prose(documentation: &str) -> String {
    let mut out = String::new();
    let mut heading = String::new();
    let mut code = false;
    for line in documentation.lines() {
        code ^= line.starts_with("```");
        match line.strip_prefix("# ") {
            Some(title) if !code => {
                let gap = if out.ends_with("\n\n") { "" } else { "\n" };
                heading = format!("{gap}**{}.** ", title.trim());
            }
            _ if line.trim().is_empty() && !heading.is_empty() => {}
            _ if code => out += &format!("{line}\n"),
            _ => out += &format!("{}{}\n", std::mem::take(&mut heading), cited(line)),
        }
    }
    out.trim_end().to_string()
}

/// A table cell: one line, and no bar that would end it.
pub(crate) fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

/// The citation keys in brackets, with where they stand: `[Basu2004]`.
fn citations(text: &str) -> Vec<(std::ops::Range<usize>, &str)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(open) = text[from..].find('[').map(|at| from + at) {
        from = open + 1;
        let Some(close) = text[from..].find(']').map(|at| from + at) else { break };
        let key = &text[from..close];
        let letters = key.trim_end_matches(|c: char| c.is_ascii_lowercase());
        let name = letters.trim_end_matches(|c: char| c.is_ascii_digit());
        let is_key = letters.len() == name.len() + 4
            && key.len() <= letters.len() + 1
            && name.starts_with(|c: char| c.is_ascii_uppercase())
            && name.chars().all(|c| c.is_ascii_alphabetic());
        if is_key && !text[close..].starts_with("](") {
            found.push((open..close + 1, key));
        }
    }
    found
}

/// The text with its citations as links.
fn cited(text: &str) -> String {
    let mut out = text.to_string();
    for (place, key) in citations(text).into_iter().rev() {
        out.replace_range(place, &link(key));
    }
    out
}

fn link(key: &str) -> String {
    format!("[{key}](bibliography.md#{})", key.to_lowercase())
}

fn unknown_citations(catalogue: &Catalogue, bibliography: &Bibliography) -> Vec<String> {
    let mut out = Vec::new();
    for d in catalogue.all() {
        let documentation = d.documentation();
        let in_text = citations(&documentation).into_iter().map(|(_, key)| key);
        let keys: BTreeSet<&str> = d.references.iter().copied().chain(in_text).collect();
        for key in keys.into_iter().filter(|key| bibliography.get(key).is_none()) {
            let near = suggestion(key, bibliography.keys());
            let file = d.file;
            out.push(format!(
                "{file}: {} cites {key}, which references.bib does not have{near}",
                d.tag
            ));
        }
    }
    out
}

fn by_paper(catalogue: &Catalogue, bibliography: &Bibliography) -> String {
    let mut out = format!(
        "{MARK}# Methods by paper\n\nEvery paper with the plugins that implement it or rest on it.\n"
    );
    for entry in sorted(bibliography) {
        let mut plugins = catalogue
            .all()
            .iter()
            .filter(|d| d.references.contains(&entry.key.as_str()))
            .peekable();
        if plugins.peek().is_none() {
            continue;
        }
        let _ = write!(out, "\n## {}\n\n{}\n\n", entry.key, citation(entry));
        for d in plugins {
            let role = d.role.name();
            let _ =
                writeln!(out, "- [`{0}`]({1}#{0}), {role}: {2}", d.tag, file(d.role), d.summary());
        }
    }
    out
}

fn references(bibliography: &Bibliography) -> String {
    let mut out = format!("{MARK}# Bibliography\n");
    for entry in sorted(bibliography) {
        let _ = write!(out, "\n## {}\n\n{}\n", entry.key, citation(entry));
    }
    out
}

fn sorted(bibliography: &Bibliography) -> Vec<&Entry> {
    let mut entries: Vec<&Entry> = bibliography.iter().collect();
    entries.sort_by_key(|e| e.key.to_lowercase());
    entries
}

/// A field as plain text.
fn field(entry: &Entry, name: &str) -> Option<String> {
    let text = entry.get(name)?.format_verbatim();
    Some(text.replace("--", "–").split_whitespace().collect::<Vec<_>>().join(" "))
}

fn person(p: &Person) -> String {
    [&p.given_name, &p.prefix, &p.name, &p.suffix]
        .into_iter()
        .filter(|part| !part.is_empty())
        .cloned()
        .collect::<Vec<_>>()
        .join(" ")
}

/// The entry as it is printed under the word: who, what, where, when.
fn citation(entry: &Entry) -> String {
    let authors: Vec<String> = entry.author().unwrap_or_default().iter().map(person).collect();
    let mut place: Vec<String> = Vec::new();
    if let Some(journal) = field(entry, "journal").or_else(|| field(entry, "journaltitle")) {
        let volume = field(entry, "volume").map(|v| format!(" {v}")).unwrap_or_default();
        let number = field(entry, "number").map(|n| format!("({n})")).unwrap_or_default();
        place.push(format!("{journal}{volume}{number}"));
    }
    place.extend(field(entry, "booktitle").map(|b| format!("In {b}")));
    place.extend(
        ["school", "institution", "publisher", "howpublished"]
            .map(|f| field(entry, f))
            .into_iter()
            .flatten(),
    );
    place.extend(field(entry, "pages").map(|p| format!("pp. {p}")));
    place.extend(field(entry, "year").or_else(|| field(entry, "date")));
    let mut out = format!(
        "{}. *{}.* {}.",
        authors.join(", "),
        field(entry, "title").unwrap_or_default(),
        place.join(", ")
    );
    if let Some(doi) = field(entry, "doi") {
        let _ = write!(out, " [doi:{doi}](https://doi.org/{doi})");
    }
    out
}

/// What is missing in an entry that a reader needs.
pub(crate) fn incomplete(bibliography: &Bibliography) -> Vec<String> {
    let mut out = Vec::new();
    for entry in sorted(bibliography) {
        let wants =
            [("author", &["author"][..]), ("title", &["title"]), ("year", &["year", "date"])];
        let lacks =
            wants.iter().filter(|(_, names)| names.iter().all(|n| field(entry, n).is_none()));
        out.extend(lacks.map(|(what, _)| format!("references.bib: {} has no {what}", entry.key)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn citations_are_found() {
        let keys = |text| citations(text).into_iter().map(|(_, key)| key).collect::<Vec<_>>();
        assert_eq!(
            keys("[Basu2004] §3; [VinhEppsBailey2010a]"),
            ["Basu2004", "VinhEppsBailey2010a"]
        );
        assert!(
            keys("w [must-link broken] in [0, 1], x[i], [Basu2004](x), [Basu04], [").is_empty()
        );
        assert_eq!(cited("see [Basu2004]."), "see [Basu2004](bibliography.md#basu2004).");
    }

    #[test]
    fn headings_run_in() {
        let text =
            "It is.\n\n# Method\nLloyd's.\n```text\n# no heading\n```\n# References\n[Basu2004].";
        let expected = "It is.\n\n**Method.** Lloyd's.\n```text\n# no heading\n```\n\n\
                        **References.** [Basu2004](bibliography.md#basu2004).";
        assert_eq!(prose(text), expected);
    }

    #[test]
    fn an_entry_is_printed() {
        let text = "@article{A2000, author = {Ada Lovelace and Mooney, Raymond J.}, \
                    title = {On {K}-Means}, journal = {J}, volume = 3, number = 1, pages = {1--9}, \
                    year = 2000, doi = {10.1/x}}\n@misc{B2001, title = {Nobody's}}";
        let bibliography = Bibliography::parse(text).unwrap();
        assert_eq!(
            citation(bibliography.get("A2000").unwrap()),
            "Ada Lovelace, Raymond J. Mooney. *On K-Means.* J 3(1), pp. 1–9, 2000. \
             [doi:10.1/x](https://doi.org/10.1/x)"
        );
        let complaints =
            ["references.bib: B2001 has no author", "references.bib: B2001 has no year"];
        assert_eq!(incomplete(&bibliography), complaints);
    }

    #[test]
    fn an_unknown_citation_is_named() {
        let catalogue = Catalogue::get().unwrap();
        let message = pages(catalogue, &Bibliography::new()).unwrap_err().to_string();
        let expected = "pck_means cites Basu2004, which references.bib does not have";
        assert!(message.split("; ").any(|c| c.ends_with(expected)), "{message}");
    }
}
