//! Whom does a work cite that used these methods?

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use biblatex::Bibliography;
use mustlink::Error;
use mustlink::config;
use mustlink::registry::{Catalogue, Descriptor, Role};
use mustlink_experiments::Experiment;
use serde_json::Value;

use crate::failure::Failure;
use crate::file_kind::{self, File};
use crate::method_file::MethodFile;
use crate::term;

/// Papers of the plugins that come with the program.
const REFERENCES: &str = include_str!("../../../book/references.bib");

/// Print BibTeX and one sentence for exactly the methods of results, experiments or method files
#[derive(Debug, clap::Args)]
#[command(before_help = "Example: mustlink cite mustlink-results/quickstart > methods.bib")]
pub(crate) struct Args {
    /// Results directories, experiment files, method files
    #[arg(required = true, num_args = 1..)]
    what: Vec<PathBuf>,
    /// BibTeX file with the papers of plugins of your own (may be repeated)
    #[arg(long, value_name = "FILE")]
    bib: Vec<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    let mut used: BTreeMap<(Role, &str), &Descriptor> = BTreeMap::new();
    for path in &args.what {
        for tree in trees(path)? {
            plugins(&tree, Catalogue::get()?, &mut used);
        }
    }
    let mut known = vec![parse(Path::new("references.bib"), REFERENCES)?];
    for file in &args.bib {
        let text = std::fs::read_to_string(file).map_err(|e| data(file, &e.to_string()))?;
        known.push(parse(file, &text)?);
    }
    let keys: BTreeSet<&str> = used.values().flat_map(|d| d.references).copied().collect();
    let mut entries = own_entry();
    for key in &keys {
        match known.iter().find_map(|b| b.get(key)) {
            Some(entry) => {
                let text = entry.to_bibtex_string().unwrap_or_else(|_| entry.to_biblatex_string());
                entries += &format!("\n{}\n", text.trim());
            }
            None => {
                let by = used.values().filter(|d| d.references.contains(key)).map(|d| d.tag);
                let by: Vec<&str> = by.collect();
                term::tell(&format!(
                    "warning: no BibTeX entry for {key}, which {} cites; --bib FILE gives one",
                    by.join(", ")
                ));
            }
        }
    }
    term::print(&format!("% {}\n\n{entries}", sentence(&used)))?;
    Ok(0)
}

/// The configurations of a results directory or file, every default written out.
fn trees(path: &Path) -> Result<Vec<Value>, Failure> {
    let of = |experiment: &Experiment| {
        let all = experiment.resolved();
        vec![all["method"].clone(), all["dataset"].clone(), all["scoring"].clone()]
    };
    if path.is_dir() {
        return Ok(of(&Experiment::from_directory(path)?));
    }
    Ok(match file_kind::read(path, &[])? {
        File::Experiment(experiment) => of(&experiment),
        File::Method(document) => vec![config::resolve::<MethodFile>(document.root())?],
    })
}

/// The plugins in a tree.
fn plugins<'a>(
    tree: &Value,
    catalogue: &'a Catalogue,
    out: &mut BTreeMap<(Role, &'a str), &'a Descriptor>,
) {
    match tree {
        Value::Object(map) => {
            let tag = map.get("type").and_then(Value::as_str);
            if let Some(d) = tag.and_then(|t| catalogue.find(t)) {
                out.insert((d.role, d.tag), d);
            }
            map.values().for_each(|v| plugins(v, catalogue, out));
        }
        Value::Array(items) => items.iter().for_each(|v| plugins(v, catalogue, out)),
        _ => {}
    }
}

/// One sentence with every plugin, role by role.
fn sentence(used: &BTreeMap<(Role, &str), &Descriptor>) -> String {
    let mut parts = Vec::new();
    for role in Role::ALL {
        let mine = used.values().filter(|d| d.role == role);
        let named: Vec<String> = mine
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

/// The entry of the program itself.
fn own_entry() -> String {
    format!(
        "@misc{{mustlink,\n  author = {{{{The mustlink maintainers}}}},\n  title = {{mustlink: \
         semi-supervised clustering ensembles as trees of named plugins}},\n  note = {{Version {}}}\n}}\n",
        env!("CARGO_PKG_VERSION")
    )
}

fn parse(file: &Path, text: &str) -> Result<Bibliography, Failure> {
    Bibliography::parse(text).map_err(|e| data(file, &format!("not BibTeX: {}", e.kind)))
}

fn data(file: &Path, message: &str) -> Failure {
    Failure::Error(Error::Data { place: file.display().to_string(), message: message.into() })
}
