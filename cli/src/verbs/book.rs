//! How do the reference pages of a manual come to be, and are they current?

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use biblatex::Bibliography;
use mustlink::Error;
use mustlink::registry::Catalogue;
use mustlink_experiments::io;

use crate::book;
use crate::failure::Failure;
use crate::term;

/// Write the reference pages of the manual from the catalogue
///
/// Reads references.bib of the directory and writes the pages to src/reference there: one per role,
/// methods by paper, bibliography. The names of the pages that changed go to standard output.
#[derive(Debug, clap::Args)]
#[command(before_help = "Example: mustlink book --dir book")]
pub(crate) struct Args {
    /// Directory of the manual
    #[arg(long, value_name = "DIR", default_value = "book")]
    dir: PathBuf,
    /// Write nothing; fail where a page is not as it would be written
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    let pages = pages(&args.dir)?;
    let folder = args.dir.join("src").join("reference");
    let is_current = |name: &str, page: &str| {
        std::fs::read_to_string(folder.join(name)).is_ok_and(|there| there == page)
    };
    let stale: Vec<PathBuf> = pages
        .iter()
        .filter(|(name, page)| !is_current(name, page))
        .map(|(name, _)| folder.join(name))
        .collect();
    let names = stale.iter().map(|p| format!("{}\n", p.display())).collect::<String>();
    if !args.check {
        std::fs::create_dir_all(&folder).map_err(io(&folder))?;
        for path in &stale {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            std::fs::write(path, &pages[name.as_ref()]).map_err(io(path))?;
        }
        term::print(&names)?;
        return Ok(0);
    }
    if stale.is_empty() {
        return Ok(0);
    }
    let dir = args.dir.display();
    let names = names.trim_end().replace('\n', ", ");
    Err(Failure::usage(format!("stale: {names}; run \"mustlink book --dir {dir}\"")))
}

fn pages(dir: &Path) -> Result<BTreeMap<String, String>, Failure> {
    let file = dir.join("references.bib");
    let text = std::fs::read_to_string(&file).map_err(io(&file))?;
    let bibliography = Bibliography::parse(&text).map_err(|e| {
        let line = text[..e.span.start.min(text.len())].matches('\n').count() + 1;
        let place = format!("{}:{line}", file.display());
        Failure::Error(Error::Data { place, message: format!("not BibTeX: {}", e.kind) })
    })?;
    let incomplete = book::incomplete(&bibliography);
    if !incomplete.is_empty() {
        return Err(Failure::usage(incomplete.join("; ")));
    }
    Ok(book::pages(Catalogue::get()?, &bibliography)?)
}
