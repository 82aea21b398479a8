//! The command `verdicts`: the verdicts on the claims of several experiments.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use mustlink_experiments::Experiment;
use mustlink_report::report;

use crate::failure::Failure;
use crate::term;

/// Print the verdicts on the claims of finished experiments
#[derive(Debug, clap::Args)]
#[command(before_help = "Example: mustlink verdicts mustlink-results/eaton2005-full")]
pub(crate) struct Args {
    /// Results directories
    #[arg(required = true, num_args = 1.., value_name = "DIR")]
    results: Vec<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    let mut text = String::from("| experiment | claim | verdict | numbers |\n|---|---|---|---|\n");
    args.results.iter().try_for_each(|dir| finished(dir, &mut text))?;
    term::print(&text)?;
    Ok(0)
}

/// The verdicts of a results directory.
fn finished(dir: &Path, text: &mut String) -> Result<(), Failure> {
    let report = report(dir)?;
    let name = cell(&Experiment::from_directory(dir)?.head.name);
    if report.finished < report.cells {
        term::tell(&format!(
            "warning: {}: {} of {} cells are finished, and the verdicts are of these; \"mustlink run\" with the \
             experiment file makes the others",
            dir.display(),
            report.finished,
            report.cells
        ));
    }
    for verdict in &report.verdicts {
        let numbers = verdict.findings.iter().map(|f| match f.dataset.as_str() {
            "" => f.numbers.clone(),
            set => format!("{set}: {}", f.numbers),
        });
        let numbers = cell(&numbers.collect::<Vec<_>>().join("; "));
        let claim = cell(&format!("{}: {}", verdict.criterion.id, verdict.criterion.statement));
        let _ = writeln!(text, "| {name} | {claim} | {} | {numbers} |", verdict.judgement.name());
    }
    if report.verdicts.is_empty() {
        term::tell(&format!("{}: the experiment has no criteria", dir.display()));
    }
    Ok(())
}

/// The text as one cell of a table in Markdown.
fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}
