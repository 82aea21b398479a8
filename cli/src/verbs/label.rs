//! The command `label`: an annotator answers in the terminal or on a local page.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use mustlink::roles::{Answer, Event};
use mustlink::run::Transformed;
use mustlink::selection::{Recorded, Selection};
use mustlink::text::count;
use mustlink_datasets::{FileAnswer, shell_word};
use mustlink_experiments::io;
use mustlink_label::{
    Imported, Keys, Looks, Objects, Server, Session, Statement, Work, Written, annotator, called,
    converse, find, is_later, is_own, is_there, serve, shown,
};

use crate::broken;
use crate::failure::Failure;
use crate::files::check_outputs;
use crate::job::{Job, JobArgs};
use crate::options::in_pool;
use crate::{interrupt, program, term};

/// Answer "same or different?" in the terminal, or on a local page with --web
///
/// Every answer is kept in --ledger immediately.
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  mustlink label --data my.csv --id name --selector cobras --ledger answers.jsonl --out labels.csv
  mustlink label --data texts.csv --id name --text body --k 4 --budget 60 --ledger answers.jsonl --web
  mustlink label --data my.csv --id name --import answered.csv --ledger answers.jsonl --out labels.csv")]
pub(crate) struct Args {
    #[command(flatten)]
    job: JobArgs,
    /// Answer on a local web page, at the address that is printed
    #[arg(long)]
    web: bool,
    /// Port of the page on 127.0.0.1; 0: any free port
    #[arg(long, value_name = "PORT", default_value_t = 0, requires = "web")]
    port: u16,
    /// Columns to show of an object [default: its features]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    show: Vec<String>,
    /// Column with running text to show, not used as a feature
    #[arg(long, value_name = "COLUMN", conflicts_with = "display")]
    text: Option<String>,
    /// Column with image files to show, not used as a feature
    ///
    /// Files are in the folder of the data, or below it.
    #[arg(long, value_name = "COLUMN")]
    image: Option<String>,
    /// Show the features of an object as one curve
    #[arg(long)]
    series: bool,
    /// Show the method's guess before each answer; agreement is not counted then
    #[arg(long)]
    show_guess: bool,
    /// CSV of answers from elsewhere, or another ledger
    ///
    /// Columns i,j,answer with same, different or unsure, as "mustlink select --questions" writes them.
    /// Objects of a ledger are found by id if there are ids. All answers are taken before the first question,
    /// or none.
    #[arg(long, value_name = "FILE")]
    import: Option<String>,
    /// TOML file with other keys: same = "j"
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
    /// CSV id,label to write at the end, one row per object
    #[arg(long, value_name = "FILE")]
    out: Option<String>,
    /// CSV of each constraint that is violated or overruled, with its source
    #[arg(long, value_name = "FILE", requires = "out")]
    violations: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    let Some(path) = args.job.ledger.as_deref() else {
        return Err(Failure::usage("--ledger is needed: the file that keeps the answers"));
    };
    if args.job.oracle.is_some() {
        return Err(Failure::usage(
            "--oracle: in a session you answer yourself; run \"mustlink select\" to ask an oracle",
        ));
    }
    // A session that only imports answers needs no terminal.
    if !args.web && !is_there() && args.import.is_none() {
        return Err(Failure::usage(
            "standard input or output is not a terminal; --web shows a page, and --import takes answers from a \
             file",
        ));
    }
    let mut named = args.job.inputs().to_vec();
    named.push(("--import", args.import.as_deref()));
    named.push(("--keys", args.keys.as_deref().and_then(Path::to_str)));
    let outputs = [("--out", args.out.as_deref()), ("--violations", args.violations.as_deref())];
    check_outputs(&outputs, &named)?;
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
            "{} in {}; run the same command again to continue",
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
    session.show_guess(args.show_guess);
    let (columns, image) = (!args.show.is_empty(), args.image.is_some());
    let looks = Looks { columns, image, series: args.series };
    let folder = Path::new(&args.job.data).parent().filter(|p| !p.as_os_str().is_empty());
    let objects = Objects {
        id: &|object| called(job, object, &looks),
        find: &|text| find(job, text, &looks),
        shown: &|object| shown(job, object, &looks),
        folder: folder.unwrap_or(Path::new(".")),
    };
    let run = |work: Work| {
        let done = work.run(job, &seen.problem, path, &imported);
        done.map_err(|e| job.about_features(&seen, e))
    };
    let finish = |selection: Selection| {
        // Ctrl-C ends the session like "save and quit". It must not also stop the writing of the labels.
        interrupt::flag().store(false, Ordering::Relaxed);
        write(args, job, &seen, &selection).map(|()| selection)
    };
    let selection = if args.web {
        let server = Server::bind(args.port, keys)?;
        std::thread::scope(|scope| {
            scope.spawn(|| serve(&server, &session, &objects));
            let address = server.address();
            term::tell(&format!("answer at {address} (Ctrl-C ends; nothing is lost)"));
            let done = run(work).and_then(finish);
            if done.is_ok() {
                server.tell(&session, written(args, path));
            }
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
        })
        .and_then(finish)?
    };
    // What followed from the answers was asked of nobody.
    let paid = |e: &&Event| matches!(e, Event::Told { cost, .. } if *cost > 0.0);
    Ok(selection.events.iter().filter(paid).count())
}

/// Writes the labels.
fn write(
    args: &Args,
    job: &Job,
    seen: &Transformed,
    selection: &Selection,
) -> mustlink::Result<()> {
    let Some(out) = &args.out else { return Ok(()) };
    let given = &seen.problem.constraints;
    let clustered = job.cluster(seen, Some(selection))?;
    if let Some(clash) = job.clash(selection, given)? {
        job.context().warn(clash);
    }
    if let Some(path) = &args.violations {
        let overruled = job.overruled(selection, given)?;
        broken::write(Some(path.as_str()), job.broken(&clustered, &overruled))?;
    }
    let violated = clustered.run.violations.total();
    if violated > 0 {
        let list = args.violations.as_deref().unwrap_or("--violations FILE");
        job.context().warn(format!(
            "the labels in {out} violate {violated} of {}; {list} lists them",
            count(clustered.constraints.len(), "constraint")
        ));
    }
    let labels = job.labels_and_noise(&clustered.run.clustering.labels);
    mustlink_datasets::write_labels(out, &job.original, &labels)
}

/// The files of the session, and a command that uses the answers.
fn written(args: &Args, path: &Path) -> Written {
    let file = |what: &str, path: &str| (what.to_string(), path.to_string());
    let ledger = path.display().to_string();
    let mut files = vec![file("Answers", &ledger)];
    files.extend(args.out.iter().filter(|out| *out != "-").map(|out| file("Labels", out)));
    files.extend(args.violations.iter().map(|list| file("Violated constraints", list)));
    let (ledger, data) = (shell_word(&ledger), program::about_data());
    let next = format!("mustlink ledger merge {ledger}{data} --out pairs.csv");
    Written { files, next }
}

/// The answers of a file, about objects as they stand after the first transforms.
fn imported(args: &Args, job: &Job) -> mustlink::Result<Vec<Imported>> {
    let Some(file) = &args.import else { return Ok(Vec::new()) };
    let read = if mustlink_ledger::is_ledger(Path::new(file)) {
        of_ledger(file, job)?
    } else {
        let by_id = args.job.columns.id.is_some();
        let read = mustlink_datasets::read_answers(file, &job.original, by_id)?;
        read.into_iter().map(|answer| (answer, None)).collect()
    };
    let of = |(a, answer): (FileAnswer, _)| match (job.object(a.i), job.object(a.j)) {
        (Some(i), Some(j)) if i != j => Some((a.place, Statement { i, j, reply: a.reply }, answer)),
        // Rows that the first transforms dropped, or made one object of.
        _ => {
            let why = "ignored, because its objects were removed or are now the same object";
            job.context().warn(format!("{}: {why}", a.place));
            None
        }
    };
    Ok(read.into_iter().filter_map(of).collect())
}

/// The answers of a person in another ledger, by the rows that were read.
fn of_ledger(file: &str, job: &Job) -> mustlink::Result<Vec<(FileAnswer, Option<Answer>)>> {
    let (by_id, ctx) = (job.original.ids.is_some(), job.context().clone());
    // Without ids, objects are known by their numbers after the first transforms.
    let scene = if by_id { job.original.scene(ctx) } else { job.scene(&job.set.data, ctx) };
    let row = |object: u32| if by_id { object as usize } else { job.row(object) as usize };
    let (said, notices) = mustlink_ledger::answers(Path::new(file), &scene)?;
    notices.into_iter().for_each(|text| job.context().warn(text));
    let said = said.into_iter().filter(|r| is_own(&r.answer) && !is_later(&r.answer));
    let answer = |r: Recorded| {
        let place = format!("{file}, line {}", r.line);
        let (i, j, reply) = (row(r.subject), row(r.reference), r.answer.reply);
        let annotator = Some(annotator(&r.answer, Path::new(file)));
        (FileAnswer { place, i, j, reply }, Some(Answer { annotator, ..r.answer }))
    };
    Ok(said.map(answer).collect())
}
