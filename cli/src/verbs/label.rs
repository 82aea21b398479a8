//! The command `label`: an annotator answers in the terminal or on a local page.

mod next;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::thread::ScopedJoinHandle;
use std::time::Duration;

use mustlink::roles::{Answer, Event, Reply};
use mustlink::run::Transformed;
use mustlink::selection::{Recorded, Selection};
use mustlink::text::count;
use mustlink::{Error, Kind};
use mustlink_datasets::FileAnswer;
use mustlink_experiments::{LedgerDriver, Single, io};
use mustlink_label::{
    Entry, Imported, Keys, Looks, Objects, Server, Session, Share, Statement, Work, Written,
    annotator, called, converse, find, is_later, is_own, is_there, open_driver, serve, shown,
};

use crate::broken;
use crate::failure::Failure;
use crate::files::check_outputs;
use crate::job::{Job, JobArgs};
use crate::options::in_pool;
use crate::verbs::ledger::agreement;
use crate::{interrupt, term};

/// Answer "same or different?" in the terminal, or on a local page with --web
///
/// Every answer is kept in --ledger immediately.
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  mustlink label --data my.csv --id name --selector cobras \\
      --ledger answers.jsonl --out labels.csv
  mustlink label --data texts.csv --id name --show-text body --k 4 \\
      --budget 60 --ledger answers.jsonl --web
  mustlink label --data my.csv --id name --import answered.csv \\
      --ledger answers.jsonl --out labels.csv
  mustlink label --data my.csv --id name --selector random_pairs \\
      --ledger answers.jsonl --web --annotators anna,ben")]
pub(crate) struct Args {
    #[command(flatten)]
    job: JobArgs,
    /// Answer on a local web page, at the address that is printed
    #[arg(long)]
    web: bool,
    /// Port of the page on 127.0.0.1; 0: any free port
    #[arg(long, value_name = "PORT", default_value_t = 0, requires = "web")]
    port: u16,
    /// Names of several annotators, each with a page and a ledger
    ///
    /// With --ledger answers.jsonl, the answers of anna are in answers-anna.jsonl. Every fourth question is asked
    /// of all annotators, the others of one alone. --budget limits the answers of each annotator. When all have
    /// finished, Cohen's κ shows how well they agree. "mustlink ledger merge" combines the ledgers.
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        requires = "web",
        conflicts_with_all = ["import", "out"]
    )]
    annotators: Vec<String>,
    /// Columns to show of an object [default: its features]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    show: Vec<String>,
    /// Column with running text to show, not used as a feature
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["display", "text"])]
    show_text: Option<String>,
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
    /// Objects of a ledger are found by id if there are ids. Either all answers are imported
    /// before the first question, or none.
    #[arg(long, value_name = "FILE")]
    import: Option<String>,
    /// TOML file with other keys: same = "j"
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
    /// CSV id,label to write at the end, one row per object
    ///
    /// Without answers, an existing file stays as it is.
    #[arg(long, value_name = "FILE")]
    out: Option<String>,
    /// CSV of each constraint that is violated or overruled, with its source
    #[arg(long, value_name = "FILE", requires = "out")]
    violations: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    let Some(path) = args.job.ledger.as_deref() else {
        return Err(Failure::usage(
            "--ledger is missing; add a file that keeps the answers: --ledger answers.jsonl",
        ));
    };
    if args.job.oracle.is_some() {
        return Err(Failure::usage(
            "--oracle: in a session you answer yourself; run \"mustlink select\" to ask an oracle",
        ));
    }
    check_names(&args.annotators)?;
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
    if args.show_text.is_some() {
        own.columns.display.clone_from(&args.show_text);
    }
    let job = Job::open(&own, false)?;
    let made = in_pool(args.job.threads, || answered(args, &job, path, keys))?;
    job.finish(&args.job);
    let lines = made.map_err(|e| job.named(&e))?;
    if !args.job.quiet {
        lines.iter().for_each(|line| term::tell(line));
    }
    Ok(0)
}

/// Refuses names of annotators that cannot be part of an address and of the name of a file.
fn check_names(names: &[String]) -> Result<(), Failure> {
    let refused = |what: String| Err(Failure::usage(format!("--annotators: {what}")));
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if let Some(name) = names.iter().find(|name| name.is_empty() || !name.chars().all(is_plain)) {
        return refused(format!("a name has letters a to z, digits, - and _, got \"{name}\""));
    }
    for (at, name) in names.iter().enumerate() {
        // Some systems do not tell apart files by the case of letters.
        if names[..at].iter().any(|before| before.eq_ignore_ascii_case(name)) {
            return refused(format!("{name} is given twice"));
        }
    }
    match names {
        [one] => refused(format!("at least two names are needed, got {one}")),
        _ => Ok(()),
    }
}

/// The method of an annotator, with the ledger.
type Part<'a> = (Cow<'a, Single>, PathBuf);

/// The job and the ledger of each annotator; one annotator without a name, unless several are named.
fn parts<'a>(args: &Args, job: &'a Job, path: &Path) -> mustlink::Result<Vec<Part<'a>>> {
    let names = &args.annotators;
    if names.is_empty() {
        return Ok(vec![(Cow::Borrowed(&**job), path.to_path_buf())]);
    }
    let (Some(selector), Some(_)) = (&job.method.selector, &job.method.clusterer) else {
        return Err(Error::Usage(
            "--annotators needs a selector and a clusterer; add them, for example --selector random_pairs \
             --clusterer pck_means"
                .into(),
        ));
    };
    let part = |name: &String| {
        let mut single = Single::clone(job);
        // A share must not depend on the order of names.
        let own = names.iter().filter(|other| *other < name).count() as u64;
        let annotators = names.len() as u64;
        single.method.selector =
            Some(Box::new(Share { selector: selector.clone(), annotators, own }));
        let mut file = path.file_stem().unwrap_or_default().to_os_string();
        file.push(format!("-{name}"));
        if let Some(ending) = path.extension() {
            file.push(".");
            file.push(ending);
        }
        (Cow::Owned(single), path.with_file_name(file))
    };
    Ok(names.iter().map(part).collect())
}

/// Runs each session on a thread of its own, until all have ended.
fn carry_out(
    args: &Args,
    parts: &[Part<'_>],
    works: Vec<(Work, LedgerDriver)>,
    seen: &Transformed,
) -> mustlink::Result<Vec<Selection>> {
    let one = |(single, _): &Part<'_>, (work, driver): (Work, LedgerDriver)| {
        let done = in_pool(args.job.threads, || work.run(single, seen, driver)).flatten();
        if done.is_err() {
            // Ends the other sessions as Ctrl-C does, which loses nothing.
            interrupt::flag().store(true, Ordering::Relaxed);
        }
        done
    };
    let one = &one;
    let mut done: Vec<mustlink::Result<Selection>> = std::thread::scope(|scope| {
        let started =
            parts.iter().zip(works).map(|(part, work)| scope.spawn(move || one(part, work)));
        let started: Vec<_> = started.collect();
        let ended = |thread: ScopedJoinHandle<'_, mustlink::Result<Selection>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        started.into_iter().map(ended).collect()
    });
    // An error that ended the other sessions comes first.
    done.sort_by_key(|done| matches!(done, Err(Error::Cancelled)));
    done.into_iter().collect()
}

/// How well each two annotators agree.
fn agreements(names: &[String], sessions: &[Session]) -> Vec<String> {
    let votes = |session: &Session| -> BTreeMap<(u32, u32), bool> {
        let entries = session.view(None, Duration::ZERO).entries;
        let vote = |e: &Entry| {
            let pair = (e.subject.min(e.reference), e.subject.max(e.reference));
            Some((pair, e.reply.kind()? == Kind::MustLink))
        };
        entries.iter().filter_map(vote).collect()
    };
    let all: Vec<_> = names.iter().zip(sessions.iter().map(votes)).collect();
    let mut lines = Vec::new();
    for (at, (name, own)) in all.iter().enumerate() {
        for (other, before) in &all[..at] {
            let both = before.iter().filter_map(|(pair, &vote)| Some((vote, *own.get(pair)?)));
            lines.push(agreement([other, name], &both.collect::<Vec<_>>()));
        }
    }
    lines
}

/// Runs the sessions and writes the labels; gives the lines that sum it up.
fn answered(args: &Args, job: &Job, path: &Path, keys: Keys) -> mustlink::Result<Vec<String>> {
    let seen = job.seen()?;
    let imported = imported(args, job)?;
    let parts = parts(args, job, path)?;
    let new = |_| Session::new(&seen.problem, args.job.budget);
    let (sessions, works): (Vec<Session>, Vec<Work>) = parts.iter().map(new).unzip();
    sessions.iter().for_each(|session| session.show_guess(args.show_guess));
    let (columns, image) = (!args.show.is_empty(), args.image.is_some());
    let looks = Looks { columns, image, series: args.series };
    let folder = Path::new(&args.job.data).parent().filter(|p| !p.as_os_str().is_empty());
    let objects = Objects {
        id: &|object| called(job, object, &looks),
        find: &|text| find(job, text, &looks),
        shown: &|object| shown(job, object, &looks),
        folder: folder.unwrap_or(Path::new(".")),
    };
    // Every ledger is open before the first question is shown.
    let drivers = || -> mustlink::Result<Vec<LedgerDriver>> {
        let open = |(single, path): &Part<'_>| open_driver(single, &seen.problem, path, &imported);
        parts.iter().map(|part| open(part).map_err(|e| job.about_features(&seen, e))).collect()
    };
    let run = |drivers: Vec<LedgerDriver>| {
        let works = works.into_iter().zip(drivers).collect();
        let done = carry_out(args, &parts, works, &seen);
        done.map_err(|e| job.about_features(&seen, e))
    };
    let finish = |selections: Vec<Selection>| -> mustlink::Result<Ended> {
        // Ctrl-C ends the session like "save and quit". It must not also stop the writing of the labels.
        let is_stopped = interrupt::flag().swap(false, Ordering::Relaxed);
        let labels = write(args, job, &seen, &selections[0])?;
        let is_pending = |selection: &Selection| selection.closed == Some("pending");
        let is_complete = !(is_stopped && selections.iter().any(is_pending));
        Ok(Ended { selections, is_complete, labels })
    };
    let (ended, written) = if args.web {
        let server = Server::bind(args.port, keys, &args.annotators)?;
        let drivers = drivers()?;
        std::thread::scope(|scope| {
            scope.spawn(|| serve(&server, &sessions, &objects));
            for (at, address) in server.addresses().iter().enumerate() {
                let name = args.annotators.get(at).map(|name| format!(" as {name}"));
                let name = name.unwrap_or_default();
                term::tell(&format!("answer at {address}{name} (Ctrl-C ends; nothing is lost)"));
            }
            let done = run(drivers).and_then(finish).map(|ended| {
                let mut written = written(args, &parts, &ended);
                if ended.is_complete {
                    written.agreement = agreements(&args.annotators, &sessions);
                }
                if let Some(labels) = &ended.labels {
                    sessions[0].labelled(labels.clone());
                }
                server.tell(&sessions, &written);
                (ended, written)
            });
            server.end();
            done
        })?
    } else {
        let drivers = drivers()?;
        let ended = std::thread::scope(|scope| {
            // The session is dropped where the terminal fails or nobody is there, which ends the work.
            let face = scope.spawn(|| {
                let sessions = sessions;
                if is_there() { converse(&sessions[0], &objects, &keys) } else { Ok(()) }
            });
            let done = run(drivers);
            face.join().unwrap_or(Ok(())).and(done)
        });
        let ended = ended.and_then(finish)?;
        let written = written(args, &parts, &ended);
        (ended, written)
    };
    let line = |((_, path), selection): (&Part<'_>, &Selection)| {
        let (unsure, sure): (Vec<Reply>, Vec<Reply>) =
            answers(selection).partition(|reply| *reply == Reply::DontKnow);
        let unsure = match unsure.len() {
            0 => String::new(),
            unsure => format!(" and {unsure} \"don't know\""),
        };
        format!("{}{unsure} in {}", count(sure.len(), "answer"), path.display())
    };
    let mut lines: Vec<String> = parts.iter().zip(&ended.selections).map(line).collect();
    if let (Some(out), None) = (&args.out, &ended.labels) {
        lines.push(format!("{out} was not changed, because no pair was answered"));
    }
    if args.annotators.is_empty() {
        lines[0] += &format!("; {}", written.again);
    } else {
        if written.agreement.is_empty() {
            lines.push("agreement is shown when all have finished".into());
        }
        lines.extend(written.agreement);
        lines.push(written.again);
    }
    if !written.next.is_empty() {
        lines.push("to use the answers with other methods:".into());
        lines.extend(written.next.iter().map(|command| format!("  {command}")));
    }
    Ok(lines)
}

/// Result of the sessions.
struct Ended {
    /// The selection of each annotator.
    selections: Vec<Selection>,
    /// False if Ctrl-C ended a session that had a question left.
    is_complete: bool,
    /// The labels of the objects, if they were written.
    labels: Option<Vec<u32>>,
}

/// How to go on. The same command asks no question if the budget is spent or nothing was left to ask.
fn again(selections: &[Selection]) -> &'static str {
    let all = |reason| selections.iter().all(|selection| selection.closed == reason);
    match (all(Some("budget")), all(None)) {
        (true, _) => "run the same command again with a larger --budget to continue",
        (_, true) => "run the same command again to change answers",
        _ => "run the same command again to continue",
    }
}

/// The annotator's answers, without answers that follow from others.
fn answers(selection: &Selection) -> impl Iterator<Item = Reply> {
    selection.events.iter().filter_map(|event| match event {
        Event::Told { reply, cost, .. } if *cost > 0.0 => Some(*reply),
        _ => None,
    })
}

/// Writes the labels and returns those of the objects. Keeps an existing file if no answer says more than "don't know".
fn write(
    args: &Args,
    job: &Job,
    seen: &Transformed,
    selection: &Selection,
) -> mustlink::Result<Option<Vec<u32>>> {
    let Some(out) = &args.out else { return Ok(None) };
    if answers(selection).all(|reply| reply == Reply::DontKnow) && Path::new(out).exists() {
        return Ok(None);
    }
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
    let labels = clustered.run.clustering.labels;
    mustlink_datasets::write_labels(out, &job.original, &job.labels_and_noise(&labels))?;
    Ok(Some(labels))
}

/// The files that the session has written, and commands that use the answers.
fn written(args: &Args, parts: &[Part<'_>], ended: &Ended) -> Written {
    let file = |what: &str, path: &str| (what.to_string(), path.to_string());
    let mut files = Vec::new();
    for (at, (_, path)) in parts.iter().enumerate() {
        let name = args.annotators.get(at).map(|name| format!("Answers of {name}"));
        let path = path.display().to_string();
        files.push((name.unwrap_or_else(|| "Answers".into()), path));
    }
    if ended.labels.is_some() {
        files.extend(args.out.iter().filter(|out| *out != "-").map(|out| file("Labels", out)));
        files.extend(args.violations.iter().map(|list| file("Violated constraints", list)));
    }
    let has_answers = ended.selections.iter().flat_map(answers).any(|r| r != Reply::DontKnow);
    let ledgers = parts.iter().map(|(_, path)| &**path);
    let columns = (args.show_text.as_ref(), args.image.as_ref());
    let next = if has_answers { next::commands(&args.job, ledgers, columns) } else { Vec::new() };
    let again = again(&ended.selections).to_string();
    Written { files, again, next, ..Written::default() }
}

/// The answers of a file, about objects as they stand after the first transforms.
fn imported(args: &Args, job: &Job) -> mustlink::Result<Vec<Imported>> {
    let Some(file) = &args.import else { return Ok(Vec::new()) };
    let read = if mustlink_ledger::is_ledger(Path::new(file)) {
        of_ledger(file, job)?
    } else {
        let by_id = job.original.ids.is_some();
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
