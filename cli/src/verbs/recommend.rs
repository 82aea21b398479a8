//! Which method would do well on these data with these answers?

use mustlink::{DataKind, Error, Shape};
use mustlink_datasets::shell_word;
use mustlink_experiments::{MOST_OF_CLASSES, Recommendation, Recommended, Wanted, recommend};
use serde::Serialize;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::files::{check_new, check_outputs};
use crate::job::{Job, JobArgs};
use crate::options::{Format, count};
use crate::progress::duration;
use crate::term;
use crate::toml_text::as_toml;

/// Which method? What methods reached elsewhere with as many answers, and a method file to start from
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  mustlink recommend --data my.csv --constraints pairs.csv --k 4
  mustlink recommend --data my.csv --answers 50 --out method.toml
  mustlink recommend --data my.csv --answers 100 --doubtful

The evidence is the study behind the manual's page \"Which method should I use?\": 38 methods and auto on
twelve data sets whose classes are known. It says what is likely, not what will be: \"mustlink cluster\"
without a method lets your own answers choose, and \"mustlink init\" begins an experiment that compares.")]
pub(crate) struct Args {
    #[command(flatten)]
    job: JobArgs,
    /// Number of answers about pairs there will be (default: the constraints that are given)
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    answers: Option<usize>,
    /// Some answers may be wrong: go by the part of the study in which a tenth is
    #[arg(long)]
    doubtful: bool,
    /// The answers must hold: only methods that promise it, or auto where they are marked hard
    #[arg(long)]
    hard: bool,
    /// How many methods to show; JSON has all
    #[arg(long, value_name = "N", default_value_t = 8)]
    #[arg(value_parser = count, allow_negative_numbers = true)]
    top: usize,
    /// Method file to write, with the first of them
    #[arg(long, value_name = "FILE")]
    out: Option<String>,
    /// How to show them
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Serialize)]
struct Summary<'a> {
    data: &'a str,
    answers: usize,
    doubtful: bool,
    #[serde(flatten)]
    recommendation: &'a Recommendation,
    notes: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    check_outputs(&[("--out", args.out.as_deref())], &args.job.inputs())?;
    args.out.as_deref().map_or(Ok(()), check_new)?;
    let refused = ["--method", "--clusterer", "--selector", "--oracle", "--budget", "--ledger"];
    // What makes numbers of a table says nothing of the method.
    let sets = &args.job.sets;
    let other = sets.iter().any(|set| !set.trim_start().starts_with("transforms"));
    if let Some(option) = args.job.given(&refused).or(other.then_some("--set")) {
        return Err(Failure::usage(format!(
            "{option}: recommend looks for a method and asks nothing; --answers says how many answers there \
             will be"
        )));
    }
    // Any method will do to read data and constraints by.
    let reading = JobArgs { clusterer: Some("auto".into()), ..args.job.clone() };
    let job = Job::open(&reading, false)?;
    let given = &job.problem.constraints;
    // A block of labels makes very many pairs, and is worth about an answer for each object.
    let blocks = job.original.known.as_ref().map_or(Ok((0, 0)), |known| {
        let pairs = job.original.known_constraints(MOST_OF_CLASSES)?.len();
        Ok::<_, Error>((pairs, known.sizes().iter().sum()))
    })?;
    let told = given.len().saturating_sub(blocks.0) + blocks.1;
    let answers = args.answers.unwrap_or(told);
    let marked = given.any_hard();
    let k = job.problem.k.or(job.classes());
    let seen = if sets.is_empty() {
        job.problem.shape()
    } else {
        job.seen().map_err(|e| job.named(&e))?.problem.shape()
    };
    // No more are given than there are pairs.
    let constraints = answers.min(seen.n * seen.n.saturating_sub(1) / 2);
    let shape = Shape { k: k.unwrap_or(8), constraints, ..seen };
    let wanted = Wanted {
        answers,
        doubtful: args.doubtful,
        hard: args.hard || marked,
        weighted: job.problem.data.weights().is_some(),
        leave_out: job.original.name.clone(),
    };
    let mut found = recommend(&wanted, &shape)?;
    let notes = notes(&job, &wanted, &found, k);
    if job.problem.data.kind() == DataKind::Csr {
        // None of the sets is sparse: only what chooses by the answers is worth naming.
        found.methods.retain(|m| m.name == "auto");
    }
    job.finish(&args.job);
    let Some(first) = found.methods.first() else {
        if job.problem.data.kind() == DataKind::Csr && answers == 0 {
            return Err(Failure::usage(
                "the study has no sparse data, and without answers auto has nothing to choose by; --answers 50 says \
                 how many there will be, and \"Which method should I use?\" in the manual where to start with term \
                 vectors",
            ));
        }
        return Err(Failure::usage(
            "no method of the study does that; \"mustlink list base-clusterers\" shows all there are",
        ));
    };
    if let Some(out) = &args.out {
        let mut file = first.method.clone();
        if !sets.is_empty() {
            // A bare name among tables would be a list of two kinds.
            let table = |step: &Value| match step.as_str() {
                Some(name) => json!({ "type": name }),
                None => step.clone(),
            };
            let steps = [&job.config, &file].map(|of| of["transforms"].as_array().cloned());
            let steps: Vec<Value> = steps.iter().flatten().flatten().map(table).collect();
            file["transforms"] = json!(steps);
        }
        if let Some(k) = k {
            file["k"] = json!(k);
        }
        mustlink_datasets::write_text(out, &as_toml(&file))?;
    }
    let summary = Summary {
        data: &job.original.name,
        answers,
        doubtful: args.doubtful,
        recommendation: &found,
        notes,
    };
    let is_taken = args.out.as_deref() == Some("-");
    let text = || text(&job, args, answers, &found, &summary.notes);
    term::print_summary(&summary, args.format, is_taken, text)?;
    Ok(0)
}

/// What the numbers rest on, and what they do not say.
fn notes(job: &Job, wanted: &Wanted, found: &Recommendation, k: Option<usize>) -> Vec<String> {
    let mut notes = Vec::new();
    let counts: Vec<String> = found.read_at.iter().map(usize::to_string).collect();
    let wrong = if wanted.doubtful { ", a tenth of them wrong" } else { "" };
    // The name of a file says nothing of what is in it.
    let left_out = if job.original.is_listed() {
        "this set is not one of them".to_string()
    } else {
        format!("none of them is called \"{}\"", job.original.name)
    };
    notes.push(format!(
        "mean ARI on {} data sets with {} random answers{wrong}, k known; {left_out}",
        found.sets,
        counts.join(" to ")
    ));
    if wanted.answers == 0 {
        notes.push(
            "without answers: methods that read none; answers are worth more than the choice \
                    among these (--answers 50 shows how much)"
                .into(),
        );
    } else if !(found.read_at[0]..=found.read_at[found.read_at.len() - 1]).contains(&wanted.answers)
    {
        notes.push(format!(
            "the study has no cells with {} answers: these are the nearest",
            wanted.answers
        ));
    }
    let unmarked = wanted.hard && !job.problem.constraints.any_hard();
    if unmarked && found.methods.iter().any(|m| m.name == "auto") {
        notes.push(
            "auto holds answers that are marked hard (strength in a file of constraints) and may break \
                    others; the methods beside it hold all"
                .into(),
        );
    }
    if job.problem.data.kind() == DataKind::Csr {
        notes.push("the study has no sparse data: auto brings methods for term vectors and lets the answers \
                    choose".into());
    }
    if k.is_none() {
        notes.push(
            "k is not known: auto without k chooses it by the answers, cobras finds it by asking, \
                    \"mustlink select-k\" by the data alone"
                .into(),
        );
    }
    if wanted.answers < 200 && !wanted.doubtful {
        notes.push("somebody who can still be asked? which pairs are asked matters as much as the method: \
                    see \"Which method should I use?\" in the manual".into());
    }
    notes
}

fn text(
    job: &Job,
    args: &Args,
    answers: usize,
    found: &Recommendation,
    notes: &[String],
) -> String {
    let mut table =
        term::table(&["method", "ARI", "worst", "best", "near the best", "memory", "time, about"]);
    let short = |v: f64| format!("{v:.3}");
    for m in found.methods.iter().take(args.top) {
        table.add_row(vec![
            steps(m),
            short(m.ari),
            format!("{} {}", short(m.least.1), m.least.0),
            format!("{} {}", short(m.most.1), m.most.0),
            format!("{} of {}", m.near_best, found.sets),
            mustlink::error::bytes(m.bytes),
            duration(m.seconds),
        ]);
    }
    let mut out = format!("{}: {}\n", job.original.name, job.original.summary());
    out += &format!("{}\n\n{table}\n\n", mustlink::text::count(answers, "answer"));
    for note in notes {
        out += &format!("{note}\n");
    }
    let how = match &args.out {
        Some(file) => {
            let data = shell_word(&args.job.data);
            let mut how = format!("mustlink cluster --data {data}{}", args.job.columns.shown());
            let given = [
                ("--constraints", &args.job.constraints),
                ("--apart", &args.job.apart),
                ("--object-weights", &args.job.object_weights),
            ];
            for (option, value) in given {
                let word = |v: &String| format!(" {option} {}", shell_word(v));
                how += &value.as_ref().map(word).unwrap_or_default();
            }
            // What went to standard output has no name yet.
            let file = if file == "-" { "FILE".into() } else { shell_word(file) };
            format!("{how} --method {file}{}", args.job.data_dir.shown())
        }
        None => "--out method.toml writes the first as a method file".into(),
    };
    out + &how
}

/// The plugins of a method in order.
fn steps(m: &Recommended) -> String {
    let tag = |v: &Value| {
        let own = v.as_str().or(v["type"].as_str()).unwrap_or_default();
        let option = |(key, value): (&String, &Value)| match (key.as_str(), value) {
            ("linkage" | "covariance" | "metric", value) => Some(format!(" {}", value.as_str()?)),
            _ => None,
        };
        let options: String = v.as_object().into_iter().flatten().filter_map(option).collect();
        format!("{own}{options}")
    };
    let transforms = m.method["transforms"].as_array().into_iter().flatten();
    transforms.chain([&m.method["clusterer"]]).map(tag).collect::<Vec<_>>().join(" + ")
}
