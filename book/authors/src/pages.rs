//! Writes the reference pages of the manual from the catalogue.
//!
//! There is a page for each role, which lists its plugins, a page for each plugin with everything that it declares
//! about itself, a page that finds plugins by the paper they come from, and the bibliography. In SUMMARY.md the
//! plugins follow the page of their role; the other chapters stay as they are. A test notices if any of this is out
//! of date.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use std::path::Path;

use biblatex::{Bibliography, ChunksExt, Entry, Person};
use mustlink::registry::{Catalogue, Descriptor, Role, suggestion};
use mustlink::{Error, Result};
use mustlink_cli::describe::{self, Description};
use mustlink_experiments::io;

use crate::facts::sentences;
use crate::markdown::cell;

/// First line of every page.
const MARK: &str =
    "<!-- Written from the catalogue; edit the plugins or references.bib instead. -->\n\n";

/// Number of options of a plugin that its page shows first.
const FIRST_OPTIONS: usize = 6;

/// The reference pages and SUMMARY.md by their paths in `src`, from the catalogue and from references.bib and
/// src/SUMMARY.md of `dir`.
///
/// # Errors
/// `Data` if one of these files cannot be read; `Usage` if an entry is incomplete, or if a plugin cites one that is
/// not there.
pub fn reference_pages(dir: &Path) -> Result<BTreeMap<String, String>> {
    let place = dir.join("references.bib");
    let text = std::fs::read_to_string(&place).map_err(io(&place))?;
    let bibliography = Bibliography::parse(&text).map_err(|e| {
        let line = text[..e.span.start.min(text.len())].matches('\n').count() + 1;
        let place = format!("{}:{line}", place.display());
        Error::Data { place, message: format!("not BibTeX: {}", e.kind) }
    })?;
    let catalogue = Catalogue::get()?;
    let complaints =
        [incomplete(&bibliography), unknown_citations(catalogue, &bibliography)].concat();
    if !complaints.is_empty() {
        return Err(Error::Usage(complaints.join("; ")));
    }
    let bibliography = &bibliography;
    let place = dir.join("src/SUMMARY.md");
    let chapters = std::fs::read_to_string(&place).map_err(io(&place))?;
    let mut pages = BTreeMap::from([
        ("SUMMARY.md".to_string(), summary(catalogue, &chapters)),
        ("reference/methods-by-paper.md".into(), by_paper(catalogue, bibliography)),
        ("reference/bibliography.md".into(), references(bibliography)),
    ]);
    for role in Role::ALL {
        pages.insert(format!("reference/{}.md", role.plural()), role_page(catalogue, role));
    }
    for d in catalogue.all() {
        pages.insert(format!("reference/{}", file(d)), plugin(d, &describe::description(d)?));
    }
    Ok(pages)
}

/// The page of a plugin.
fn file(d: &Descriptor) -> String {
    format!("{}/{}.md", d.role.plural(), d.tag)
}

/// SUMMARY.md with the plugins of each role below the page of the role.
fn summary(catalogue: &Catalogue, chapters: &str) -> String {
    let mut out = String::new();
    for line in chapters.lines() {
        let links_to =
            |role: Role, end: &str| line.contains(&format!("](reference/{}{end}", role.plural()));
        if Role::ALL.into_iter().any(|role| links_to(role, "/")) {
            continue;
        }
        out += &format!("{line}\n");
        let role = Role::ALL.into_iter().find(|role| links_to(*role, ".md)"));
        for d in role.into_iter().flat_map(|role| catalogue.role(role)) {
            out += &format!("  - [{}](reference/{})\n", d.tag, file(d));
        }
    }
    out
}

fn about(role: Role) -> &'static str {
    match role {
        Role::BaseClusterer => {
            "A base clusterer groups objects. It gets data, constraints and, if it needs it, the \
             number of clusters k."
        }
        Role::EnsembleGenerator => {
            "An ensemble generator makes many partitions of the same objects, the members of an \
             ensemble."
        }
        Role::ConsensusFunction => {
            "A consensus function combines the partitions of an ensemble into one."
        }
        Role::ConstraintPropagator => {
            "A constraint propagator spreads constraints to objects about which no question was \
             asked. It keeps every given constraint."
        }
        Role::QuerySelector => {
            "A query selector decides which pairs of objects are asked about. Most do not ask about \
             pairs that already follow from the answers; the properties of each selector show this."
        }
        Role::Oracle => {
            "An oracle answers must-link, cannot-link, or not at all. Some oracles wrap another oracle."
        }
        Role::Metric => {
            "A metric scores a partition. Its properties show its range, and which end is better."
        }
        Role::Transform => "A transform changes the data before they are clustered.",
    }
}

fn role_page(catalogue: &Catalogue, role: Role) -> String {
    let mut title = role.plural().replace('-', " ");
    title[..1].make_ascii_uppercase();
    let mut out = format!("{MARK}# {title}\n\n{}\n\n", about(role));
    out += &format!("In configurations: `{}`.\n", role.key());
    if catalogue.role(role).next().is_none() {
        out += "\nNo plugin yet.\n";
        return out;
    }
    out += "\n| name | what it is |\n|---|---|\n";
    for d in catalogue.role(role) {
        let summary = cell(&cited(&d.summary(), ""));
        out += &format!("| [`{}`]({}) | {summary} |\n", d.tag, file(d));
    }
    out
}

/// Everything about one plugin.
fn plugin(d: &Descriptor, description: &Description) -> String {
    let mut out = format!("{MARK}# {}\n\n", d.tag);
    out += &format!("Role: [{}](../{}.md).\n\n", d.role.name(), d.role.plural());
    out += &format!("{}\n\n## Options\n", prose(&description.documentation));
    if description.options.is_empty() {
        out += "\nNo options.\n";
    }
    for (at, o) in description.options.iter().enumerate() {
        if at == FIRST_OPTIONS {
            out += "\n## More options\n";
        }
        let (default, text) = (o.shown_default(), cited(&o.description, UP));
        out += &format!("\n**`{}`** — {}; {default} by default\n\n{text}\n", o.name, o.accepts);
    }
    let facts = sentences(d.role, &description.properties);
    if !facts.is_empty() {
        let note =
            if description.options.is_empty() { "" } else { "With the default options:\n\n" };
        out += &format!("\n## Properties\n\n{note}- {}\n", facts.join("\n- "));
    }
    out += &format!("\n## Example\n\n```toml\n{}```\n", description.example);
    for w in &description.written_out {
        out += &format!("\n{}:\n\n```toml\n{}```\n", w.title(), w.example);
    }
    // Most plugins say in their documentation what they take from which paper.
    let documentation = d.documentation();
    let cited = |key: &str| citations(&documentation).iter().any(|(_, known)| *known == key);
    let others: Vec<String> =
        d.references.iter().filter(|key| !cited(key)).map(|key| link(key, UP)).collect();
    if !others.is_empty() {
        out += &format!("\nReferences: {}.\n", others.join(", "));
    }
    for (law, reason) in d.waivers {
        out += &format!("\nExcused from the law `{law}`: {reason}.\n");
    }
    for (option, reason) in d.inert() {
        out +=
            &format!("\n`{option}` has no effect on the small problems of the laws: {reason}.\n");
    }
    out += &format!("\nSource: `{}` in `{}`, version {}.\n", d.file, d.package, d.version);
    out
}

/// Documentation in the form of a page: headings run in, citations are links.
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
            _ => out += &format!("{}{}\n", std::mem::take(&mut heading), cited(line, UP)),
        }
    }
    out.trim_end().to_string()
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

/// The way from the page of a plugin to the folder of the bibliography.
const UP: &str = "../";

/// The text with its citations as links to the bibliography in `folder`.
fn cited(text: &str, folder: &str) -> String {
    let mut out = text.to_string();
    for (place, key) in citations(text).into_iter().rev() {
        out.replace_range(place, &link(key, folder));
    }
    out
}

fn link(key: &str, folder: &str) -> String {
    format!("[{key}]({folder}bibliography.md#{})", key.to_lowercase())
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
            let (role, summary) = (d.role.name(), d.summary());
            let _ = writeln!(out, "- [`{}`]({}), {role}: {summary}", d.tag, file(d));
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

/// The fields that an entry lacks and a reader needs.
fn incomplete(bibliography: &Bibliography) -> Vec<String> {
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
        assert_eq!(cited("see [Basu2004].", ""), "see [Basu2004](bibliography.md#basu2004).");
    }

    #[test]
    fn headings_run_in() {
        let text =
            "It is.\n\n# Method\nLloyd's.\n```text\n# no heading\n```\n# References\n[Basu2004].";
        let expected = "It is.\n\n**Method.** Lloyd's.\n```text\n# no heading\n```\n\n\
                        **References.** [Basu2004](../bibliography.md#basu2004).";
        assert_eq!(prose(text), expected);
    }

    #[test]
    fn the_summary_lists_the_plugins_of_a_role() {
        let catalogue = Catalogue::get().unwrap();
        let chapters = "# Reference\n\n- [Oracles](reference/oracles.md)\n\
                        \x20 - [gone](reference/oracles/gone.md)\n- [Types](reference/plugin-types.md)\n";
        let written = summary(catalogue, chapters);
        assert!(
            written.contains("oracles.md)\n  - [budget](reference/oracles/budget.md)\n"),
            "{written}"
        );
        assert!(!written.contains("gone"), "{written}");
        assert!(written.ends_with(".md)\n- [Types](reference/plugin-types.md)\n"), "{written}");
        assert_eq!(summary(catalogue, &written), written);
    }

    #[test]
    fn the_first_options_of_a_plugin_come_first() {
        let d = Catalogue::get().unwrap().find("pck_means").unwrap();
        let page = plugin(d, &describe::description(d).unwrap());
        let (first, more) = page.split_once("\n## More options\n").unwrap();
        assert_eq!(first.matches("\n**`").count(), FIRST_OPTIONS);
        assert!(
            first.contains("\n**`k`** — an integer, at least 1; absent by default\n\n"),
            "{first}"
        );
        assert!(more.contains("\n**`max_iterations`** — "), "{more}");
        assert!(page.contains("\n- Uses constraints.\n"), "{page}");
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
        let found = unknown_citations(catalogue, &Bibliography::new());
        let expected = "pck_means cites Basu2004, which references.bib does not have";
        assert!(found.iter().any(|c| c.ends_with(expected)), "{found:?}");
    }
}
