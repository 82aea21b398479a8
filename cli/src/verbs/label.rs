//! A person answers, in this terminal or on a page of this machine.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use mustlink::roles::Event;
use mustlink::selection::Recorded;
use mustlink::text::count;
use mustlink::{Data, Row};
use mustlink_datasets::FileAnswer;
use mustlink_experiments::io;
use mustlink_label::{
    Imported, Keys, Objects, Server, Session, Shown, Statement, Work, converse, is_later, is_own,
    is_there, serve,
};

use crate::failure::Failure;
use crate::files::check_outputs;
use crate::interrupt;
use crate::job::{Job, JobArgs};
use crate::options::in_pool;
use crate::term;

/// Answer "same or different?" in the terminal, or on a local page with --web; every answer is kept in --ledger
/// as it is given
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  mustlink label --data my.csv --id name --selector cobras --ledger answers.jsonl --out labels.csv
  mustlink label --data texts.csv --id name --text body --k 4 --budget 60 --ledger answers.jsonl --web
  mustlink label --data my.csv --id name --import answered.csv --ledger answers.jsonl --out labels.csv")]
pub(crate) struct Args {
    #[command(flatten)]
    job: JobArgs,
    /// Answer on a page of this machine, at the address that is printed
    #[arg(long)]
    web: bool,
    /// Port of the page on 127.0.0.1; 0: one that is free
    #[arg(long, value_name = "PORT", default_value_t = 0, requires = "web")]
    port: u16,
    /// Columns of a CSV that are shown of an object; absent: its features
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    show: Vec<String>,
    /// Column of a CSV with running text that is shown; it is no feature
    #[arg(long, value_name = "COLUMN", conflicts_with = "display")]
    text: Option<String>,
    /// Column of a CSV with files of images that are shown on the page, from the folder of the data or below; it
    /// is no feature
    #[arg(long, value_name = "COLUMN")]
    image: Option<String>,
    /// Show the features of an object as one curve
    #[arg(long)]
    series: bool,
    /// CSV i,j,answer of pairs that were answered elsewhere (same, different, unsure), as "mustlink select
    /// --questions" writes them, or another ledger, whose objects are found by id where there are ids; taken
    /// first, all or none
    #[arg(long, value_name = "FILE")]
    import: Option<String>,
    /// TOML file of keys in place of the usual ones: same = "j"
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
    /// CSV id,label to write at the end, one row per object
    #[arg(long, value_name = "FILE")]
    out: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    let Some(path) = args.job.ledger.as_deref() else {
        return Err(Failure::usage("--ledger is needed: the file that keeps the answers"));
    };
    if args.job.oracle.is_some() {
        return Err(Failure::usage(
            "--oracle: here you answer; \"mustlink select\" asks an oracle",
        ));
    }
    // Who only imports needs nobody at the keys.
    if !args.web && !is_there() && args.import.is_none() {
        return Err(Failure::usage(
            "nobody sits at this terminal: standard input or output is redirected; --web shows a page, and \
             --import takes answers from a file",
        ));
    }
    let mut named = args.job.inputs().to_vec();
    named.push(("--import", args.import.as_deref()));
    named.push(("--keys", args.keys.as_deref().and_then(Path::to_str)));
    check_outputs(&[("--out", args.out.as_deref())], &named)?;
    let keys = match &args.keys {
        None => Keys::default(),
        Some(file) => {
            let toml = std::fs::read_to_string(file).map_err(io(file))?;
            Keys::read(&toml, &file.display().to_string())?
        }
    };
    let mut own = JobArgs { answered_by_hand: true, ..args.job.clone() };
    own.columns.shown.clone_from(&args.show);
    own.columns.image.clone_from(&args.image);
    if let Some(text) = &args.text {
        own.columns.display = Some(text.clone());
    }
    let job = Job::open(&own, false)?;
    let made = in_pool(args.job.threads, || answered(args, &job, path, keys))?;
    job.finish(&args.job);
    let answers = made.map_err(|e| job.named(&e))?;
    if !args.job.quiet {
        term::tell(&format!(
            "{} in {}; the same command goes on where this one stopped",
            count(answers, "answer"),
            path.display()
        ));
    }
    Ok(0)
}

/// Runs the session and writes the labels; gives the number of answers.
fn answered(args: &Args, job: &Job, path: &Path, keys: Keys) -> mustlink::Result<usize> {
    let seen = job.seen()?;
    let imported = imported(args, job)?;
    let (session, work) = Session::new(&seen.problem, args.job.budget);
    let folder = Path::new(&args.job.data).parent().filter(|p| !p.as_os_str().is_empty());
    let objects = Objects {
        id: &|object| job.called(object as usize),
        find: &|text| find(job, text),
        shown: &|object| shown(args, job, object),
        folder: folder.unwrap_or(Path::new(".")),
    };
    let run = |work: Work| {
        let done = work.run(job, &seen.problem, path, &imported);
        done.map_err(|e| job.about_features(&seen, e))
    };
    let selection = if args.web {
        let server = Server::bind(args.port, keys)?;
        std::thread::scope(|scope| {
            scope.spawn(|| serve(&server, &session, &objects));
            let address = server.address();
            term::tell(&format!("answer at {address} (Ctrl-C ends; nothing is lost)"));
            let done = run(work);
            server.end();
            done
        })?
    } else {
        std::thread::scope(|scope| {
            // The session is dropped where the terminal fails or nobody is there, which ends the work.
            let face = scope.spawn(|| {
                let session = session;
                if is_there() { converse(&session, &objects, &keys) } else { Ok(()) }
            });
            let done = run(work);
            face.join().unwrap_or(Ok(())).and(done)
        })?
    };
    // Ctrl-C has ended the session as "save and quit" does, and not what follows.
    interrupt::flag().store(false, Ordering::Relaxed);
    if let Some(out) = &args.out {
        let clustered = job.cluster(&seen, Some(&selection))?;
        if let Some(clash) = job.clash(&selection, &seen.problem.constraints)? {
            job.context().warn(clash);
        }
        let broken = clustered.run.violations.total();
        if broken > 0 {
            job.context().warn(format!(
                "the labels in {out} break {broken} of the {} constraints that the answers make; a method that \
                 promises them, as cop_kmeans, breaks none that can hold",
                clustered.constraints.len()
            ));
        }
        let labels = job.labels_and_noise(&clustered.run.clustering.labels);
        mustlink_datasets::write_labels(out, &job.original, &labels)?;
    }
    // What followed from the answers was asked of nobody.
    let paid = |e: &&Event| matches!(e, Event::Told { cost, .. } if *cost > 0.0);
    Ok(selection.events.iter().filter(paid).count())
}

/// The object with this id, or the only one that is called so.
fn find(job: &Job, text: &str) -> Option<u32> {
    let objects = 0..job.set.n();
    let by_id = objects.clone().find(|&o| job.id(o) == text);
    let called = |&o: &usize| job.original.is_called(job.row(o as u32) as usize, text);
    let mut called = objects.filter(called);
    let only = || called.next().filter(|_| called.next().is_none());
    by_id.or_else(only).map(|o| o as u32)
}

/// The answers of a file, about objects as they stand after the first transforms.
fn imported(args: &Args, job: &Job) -> mustlink::Result<Vec<Imported>> {
    let Some(file) = &args.import else { return Ok(Vec::new()) };
    let read = if mustlink_ledger::is_ledger(Path::new(file)) {
        of_ledger(file, job)?
    } else {
        let by_id = args.job.columns.id.is_some();
        mustlink_datasets::read_answers(file, &job.original, by_id)?
    };
    let of = |a: FileAnswer| match (job.object(a.i), job.object(a.j)) {
        (Some(i), Some(j)) if i != j => Some((a.place, Statement { i, j, reply: a.reply })),
        // Rows that the first transforms dropped, or made one object of.
        _ => {
            job.context().warn(format!("{}: says nothing of the objects that are left", a.place));
            None
        }
    };
    Ok(read.into_iter().filter_map(of).collect())
}

/// What a person said in another ledger, by the rows that were read.
fn of_ledger(file: &str, job: &Job) -> mustlink::Result<Vec<FileAnswer>> {
    let ids = job.original.ids.as_deref();
    // Without ids objects are known by their numbers after the first transforms; rows may have been appended.
    let n = match mustlink_ledger::Header::read(Path::new(file))? {
        _ if ids.is_some() => job.original.n(),
        then if job.begins_with(&then, job.seed) => then.n,
        _ => job.set.n(),
    };
    let row = |object: u32| ids.map_or_else(|| job.row(object), |_| object) as usize;
    let path = Path::new(file);
    let said = mustlink_ledger::answers(path, n, ids)?.into_iter();
    if let Some(cut) = mustlink_ledger::cut_off(path)? {
        job.context().warn(cut);
    }
    let said = said.filter(|r| !r.retracted && is_own(&r.answer) && !is_later(&r.answer));
    let answer = |r: Recorded| FileAnswer {
        place: format!("{file}, line {}", r.line),
        i: row(r.subject),
        j: row(r.reference),
        reply: r.answer.reply,
    };
    Ok(said.map(answer).collect())
}

/// Features that are shown of a sparse object, the largest first.
const LARGEST: usize = 40;

/// An object as it was read: its image and its text, where there are columns of them; what --show names, else,
/// where nothing else is shown, its features, of a sparse object as text.
fn shown(args: &Args, job: &Job, object: u32) -> Shown {
    let set = &job.original;
    let row = job.row(object) as usize;
    let mut text = set.display.as_ref().and_then(|texts| texts.get(row).cloned());
    let mut cells: Vec<(String, String)> =
        set.shown.iter().map(|(name, cells)| (name.clone(), cells[row].clone())).collect();
    let image = args.image.is_some().then(|| cells.pop()).flatten().map(|(_, file)| file);
    let series = args.series.then(|| match set.data.row(row) {
        Row::Dense(values) => values.to_vec(),
        Row::Sparse(..) => Vec::new(),
    });
    if args.show.is_empty() && text.is_none() && image.is_none() && series.is_none() {
        let name = |feature: usize| {
            let name = set.feature_names.get(feature).cloned();
            name.unwrap_or_else(|| format!("#{}", feature + 1))
        };
        match set.data.row(row) {
            Row::Dense(values) => {
                let named = values.iter().enumerate();
                cells = named.map(|(s, &value)| (name(s), cell(&set.data, s, value))).collect();
            }
            Row::Sparse(columns, values) => {
                let mut terms: Vec<(u32, f64)> =
                    columns.iter().copied().zip(values.iter().copied()).collect();
                terms.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
                let term = |&(s, value): &(u32, f64)| format!("{} {value}", name(s as usize));
                let terms: Vec<String> = terms.iter().take(LARGEST).map(term).collect();
                text = Some(terms.join(", "));
            }
        }
    }
    Shown { id: set.id(row), cells, text, image, series }
}

/// A value as it was read: a word of a table; nothing where one is missing.
fn cell(data: &Data, feature: usize, value: f64) -> String {
    match data.words(feature) {
        _ if value.is_nan() => String::new(),
        Some(words) => words[value as usize].clone(),
        None => value.to_string(),
    }
}
