//! What became of the claims of several experiments, and which of them say nothing.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use mustlink_experiments::{Experiment, RunOptions, io, write_whole};
use mustlink_report::{Judgement, Verdict, kept_verdicts, report, verdicts_page};

use crate::book::cell;
use crate::failure::Failure;
use crate::file_kind;
use crate::options::{self, DataDir};
use crate::progress::watched;
use crate::term;
use crate::verbs::run::folder_of;

/// Put the verdicts of finished experiments into one table of Markdown; with --null, name the claims that hold
/// for k-means with random constraints too, and end with 1 when one of them gives no reason
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Example: mustlink verdicts mustlink-results/eaton2005-full mustlink-results/greene2007-fig2
         mustlink verdicts mustlink-results/* --save experiments/papers
         mustlink verdicts --null experiments/papers/eaton2005-full.toml --set split.repeats=2"
)]
pub(crate) struct Args {
    /// Results directories; with --null, experiment files
    #[arg(required = true, num_args = 1.., value_name = "WHAT")]
    what: Vec<PathBuf>,
    /// Run the files with k-means and random pairs in place of their methods
    #[arg(long)]
    pub(crate) null: bool,
    /// Keep the verdicts as DIR/verdicts/NAME.csv, and write DIR/README.md with a table of all that are
    /// kept there; the experiment file must stand there as DIR/NAME.toml
    #[arg(long, value_name = "DIR", conflicts_with = "null")]
    save: Option<PathBuf>,
    /// Change a value of the files first: split.repeats=2 (may be repeated)
    #[arg(long = "set", value_name = "A.B=VALUE", requires = "null")]
    sets: Vec<String>,
    /// Directory of the results of --null, one folder for each file
    #[arg(long, value_name = "DIR", default_value = "mustlink-results", requires = "null")]
    out: PathBuf,
    /// Threads (default: one per core)
    #[arg(long, value_name = "N", value_parser = options::threads)]
    threads: Option<usize>,
    #[command(flatten)]
    data: DataDir,
    /// No progress
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    let mut text = String::from(if args.null {
        "| experiment | claim that holds without the method | on | because |\n|---|---|---|---|\n"
    } else {
        "| experiment | claim | verdict | numbers |\n|---|---|---|---|\n"
    });
    let (mut held, mut empty) = (0, 0);
    for what in &args.what {
        if args.null {
            let (all, without_reason) = null(args, what, &mut text)?;
            (held, empty) = (held + all, empty + without_reason);
        } else {
            finished(what, &mut text)?
        }
    }
    term::print(&text)?;
    if let Some(dir) = &args.save {
        save(&args.what, dir)?;
    }
    if args.null {
        term::tell(&format!(
            "{held} claims hold without their methods, {empty} of them without a reason"
        ));
    }
    Ok(u8::from(empty > 0))
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

/// Keeps the verdicts of results directories in `dir`, and writes the table of all that are there.
fn save(results: &[PathBuf], dir: &Path) -> Result<(), Failure> {
    let page = dir.join("README.md");
    if std::fs::read(&page).is_ok_and(|there| !there.starts_with(b"# Verdicts")) {
        return Err(Failure::usage(format!(
            "--save {}: holds a README.md of something else, which the page of verdicts would overwrite; name \
             the folder of the experiment files alone",
            dir.display()
        )));
    }
    // Nothing is written before all of it is there.
    let mut kept = Vec::new();
    for from in results {
        kept.push((Experiment::from_directory(from)?.head.name, kept_verdicts(from, dir)?));
    }
    let folder = dir.join("verdicts");
    std::fs::create_dir_all(&folder).map_err(io(&folder))?;
    for (name, verdicts) in &kept {
        write_whole(&folder.join(format!("{name}.csv")), ".part", verdicts)?;
    }
    write_whole(&page, ".part", verdicts_page(dir)?.as_bytes())?;
    term::tell(&format!("written: {}", page.display()));
    Ok(())
}

/// How many claims of a file hold for k-means with random constraints, and how many of them without
/// a reason.
fn null(args: &Args, file: &Path, text: &mut String) -> Result<(usize, usize), Failure> {
    let experiment = file_kind::experiment(file, &args.sets)?;
    let about = experiment.about_methods();
    let null = experiment.null();
    let out = args.out.join(folder_of(&null));
    let options = RunOptions {
        threads: args.threads,
        memory_limit: crate::memory::default_limit(),
        source: args.data.source(),
        ..RunOptions::to(&out)
    };
    watched(args.quiet, options, |options| mustlink_experiments::run(&null, options))?;
    let report = report(&out)?;
    let holds = |v: &&Verdict| matches!(v.judgement, Judgement::Reproduced | Judgement::Partly);
    let held = report.verdicts.iter().filter(|v| about.contains(&v.criterion.id.as_str()));
    let held: Vec<&Verdict> = held.filter(holds).collect();
    for verdict in &held {
        let on = verdict.findings.iter().filter(|f| f.holds == Some(true));
        let on: Vec<&str> = on.map(|f| f.dataset.as_str()).collect();
        let claim = cell(&format!("{}: {}", verdict.criterion.id, verdict.criterion.statement));
        let reason = cell(verdict.criterion.null.as_deref().unwrap_or_default());
        let name = &experiment.head.name;
        let _ = writeln!(text, "| {name} | {claim} | {} | {reason} |", on.join(", "));
    }
    Ok((held.len(), held.iter().filter(|v| v.criterion.null.is_none()).count()))
}
