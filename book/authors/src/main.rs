//! The command line of the authors' tools.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use mustlink::Result;
use mustlink_experiments::io;

/// Write pages of the manual, and keep verdicts
#[derive(Parser)]
#[command(name = "authors")]
enum Tool {
    /// Write the reference pages of a manual to src/reference, and list them in src/SUMMARY.md
    ///
    /// The pages are written from the catalogue and references.bib.
    Pages {
        /// Directory of the manual
        #[arg(default_value = "book")]
        dir: PathBuf,
    },
    /// Draw the schematic figures of the manual to src/figures
    Figures {
        /// Directory of the manual
        #[arg(default_value = "book")]
        dir: PathBuf,
    },
    /// Keep the verdicts of results in the folder of the experiment files, and write its README.md
    Keep {
        /// Folder of the experiment files
        dir: PathBuf,
        /// Results directories
        #[arg(required = true)]
        results: Vec<PathBuf>,
    },
    /// List the claims of experiment files that also hold for k-means with random pairs
    ///
    /// Exits with 1 if one of them has no reason (`null`) in its file.
    Null {
        /// Experiment files
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Change a value of the files first: split.repeats=2 (repeatable)
        #[arg(long = "set", value_name = "A.B=VALUE")]
        sets: Vec<String>,
        /// Directory for results
        #[arg(long, value_name = "DIR", default_value = "mustlink-results")]
        out: PathBuf,
    },
}

fn main() -> ExitCode {
    match run(Tool::parse()) {
        Ok((text, code)) => {
            let _ = std::io::stdout().write_all(text.as_bytes());
            ExitCode::from(code)
        }
        Err(e) => {
            let _ = writeln!(std::io::stderr(), "error: {e}");
            ExitCode::from(2)
        }
    }
}

/// The output of a tool, and the exit code.
fn run(tool: Tool) -> Result<(String, u8)> {
    match tool {
        Tool::Pages { dir } => {
            for (path, page) in mustlink_authors::reference_pages(&dir)? {
                write(&dir.join("src").join(path), &page)?;
            }
        }
        Tool::Figures { dir } => {
            for name in mustlink_authors::FIGURES {
                write(&dir.join("src/figures").join(name), &mustlink_authors::draw(name))?;
            }
        }
        Tool::Keep { dir, results } => mustlink_authors::keep_verdicts(&results, &dir)?,
        Tool::Null { files, sets, out } => {
            let (table, without_reason) = mustlink_authors::null(&files, &sets, &out)?;
            return Ok((table, u8::from(without_reason > 0)));
        }
    }
    Ok((String::new(), 0))
}

fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(io(folder))?;
    }
    std::fs::write(path, text).map_err(io(path))
}
