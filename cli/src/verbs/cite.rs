//! The command `cite`: BibTeX of the methods that were used.

use std::path::{Path, PathBuf};

use biblatex::Bibliography;
use clap_complete::ArgValueCompleter;
use mustlink::config;
use mustlink::registry::{Catalogue, suggestion};
use mustlink_datasets::data_error;
use mustlink_experiments::{Experiment, io};
use mustlink_report::citation::{REFERENCES, Used, entry, own_entry};
use serde_json::Value;

use crate::failure::Failure;
use crate::file_kind::{self, File};
use crate::{complete, term};

/// Print BibTeX and a sentence for the methods of results or files
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  mustlink cite mustlink-results/quickstart > methods.bib
  mustlink cite pck_means explore_consolidate")]
pub(crate) struct Args {
    /// Results directories, experiment files, method files, names of plugins
    #[arg(required = true, num_args = 1.., add = ArgValueCompleter::new(complete::cited))]
    what: Vec<PathBuf>,
    /// BibTeX file with papers of your own plugins (repeatable)
    #[arg(long, value_name = "FILE")]
    bib: Vec<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    let mut used = Used::default();
    for path in &args.what {
        for tree in trees(path)? {
            used.add(&tree)?;
        }
    }
    let mut known = vec![REFERENCES.to_string()];
    for file in &args.bib {
        let text = std::fs::read_to_string(file).map_err(io(file))?;
        check(file, &text)?;
        known.push(text);
    }
    let mut entries = own_entry();
    for key in used.keys() {
        // As it stands there: a library that writes entries anew turns -- and accents into what LaTeX lacks.
        match known.iter().find_map(|b| entry(b, key)) {
            Some(entry) => entries += &format!("\n{entry}\n"),
            None => {
                term::tell(&format!(
                    "warning: no BibTeX entry for {key}, which {} cites; --bib FILE gives one",
                    used.citing(key).join(", ")
                ));
            }
        }
    }
    term::print_data(&format!("% {}\n\n{entries}", used.sentence()))?;
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
    let name = path.to_string_lossy();
    if !path.exists() && !name.contains(['/', '.']) {
        let catalogue = Catalogue::get()?;
        return match catalogue.find(&name) {
            Some(plugin) => Ok(vec![config::resolve_plugin(&plugin.default_config())?]),
            None => {
                let near = suggestion(&name, catalogue.all().iter().map(|d| d.tag));
                let message = format!("no such file or plugin{near}");
                Err(data_error(path.display(), message).into())
            }
        };
    }
    Ok(match file_kind::read(path, &[])? {
        File::Experiment(experiment) => of(&experiment),
        File::Method { resolved, .. } => vec![resolved],
    })
}

fn check(file: &Path, text: &str) -> mustlink::Result<()> {
    // Text between entries is a remark in BibTeX, so any file without an @ is read.
    let why = match Bibliography::parse(text) {
        Ok(read) if read.is_empty() => "no entry in it, such as @article{key, title = {…}}".into(),
        Ok(_) => return Ok(()),
        Err(e) => e.kind.to_string(),
    };
    Err(data_error(file.display(), format!("not BibTeX: {why}")))
}
