//! Which claims held when the experiments of a folder were run? Verdicts that are kept beside their files.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use mustlink_core::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::report::report;
use crate::verdicts::Judgement;
use mustlink_experiments::Experiment;
use mustlink_experiments::io;

/// One claim on one data set, as it is kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Line {
    criterion: String,
    verdict: String,
    /// Empty where the claim is about all together.
    dataset: String,
    /// yes, no, or empty without results.
    holds: String,
    numbers: String,
    statement: String,
    /// What the run changed of its file.
    changed: String,
}

fn fail(place: &Path) -> impl Fn(csv::Error) -> Error + '_ {
    |e| Error::Data { place: place.display().to_string(), message: e.to_string() }
}

/// The verdicts of a results directory as CSV, with what its run changed of the file of the same name in
/// `folder`.
///
/// # Errors
/// As [`report`]; the file is not there or cannot be read.
pub fn kept_verdicts(dir: &Path, folder: &Path) -> Result<Vec<u8>> {
    let report = report(dir)?;
    let ran = Experiment::from_directory(dir)?;
    let file = Experiment::load(&folder.join(format!("{}.toml", ran.head.name)), &[])?;
    let mut changed = file.differences(&ran);
    let repeats = (file.split.repeats(), ran.split.repeats());
    if repeats.0 != repeats.1 {
        changed.push(format!("split.repeats {} → {}", repeats.0, repeats.1));
    }
    if let Some(limit) = ran.run.cell_timeout_s {
        changed.push(format!("cells end after {limit} s"));
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    for verdict in &report.verdicts {
        for f in &verdict.findings {
            let line = Line {
                criterion: verdict.criterion.id.clone(),
                verdict: verdict.judgement.name().into(),
                dataset: f.dataset.clone(),
                holds: f.holds.map_or("", |h| if h { "yes" } else { "no" }).into(),
                numbers: f.numbers.clone(),
                statement: verdict.criterion.statement.clone(),
                changed: changed.join("; "),
            };
            writer.serialize(line).map_err(fail(dir))?;
        }
    }
    writer
        .into_inner()
        .map_err(|e| Error::Data { place: dir.display().to_string(), message: e.to_string() })
}

/// The page of a folder of experiments: a line for each, then its claims, from the verdicts kept in its
/// folder `verdicts`.
///
/// # Errors
/// `Data` for a file that cannot be read.
pub fn verdicts_page(folder: &Path) -> Result<String> {
    let names = |dir: &Path, ending: &str| -> Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(dir).map_err(io(dir))? {
            let name = entry.map_err(io(dir))?.file_name().to_string_lossy().into_owned();
            names.extend(name.strip_suffix(ending).map(str::to_string));
        }
        names.sort();
        Ok(names)
    };
    let kept = folder.join("verdicts");
    let (mut rows, mut claims) = (String::new(), String::new());
    let mut totals = [0; 6];
    let mut met_by_k_means = 0;
    let with_verdicts = names(&kept, ".csv")?;
    for name in names(folder, ".toml")? {
        let file = Experiment::load(&folder.join(format!("{name}.toml")), &[])?;
        let about = cell(&file.head.description);
        if !with_verdicts.contains(&name) {
            let _ = writeln!(
                rows,
                "| [{name}]({name}.toml) | {about} | – | – | – | – | – | – | not run in full yet |"
            );
            continue;
        }
        let of = |id: &str| file.criteria.iter().find(|c| c.id == id);
        let why = |id: &str| of(id).and_then(|c| c.why.as_deref()).unwrap_or_default();
        let path = kept.join(format!("{name}.csv"));
        let mut reader = csv::Reader::from_path(&path).map_err(fail(&path))?;
        let lines: Vec<Line> =
            reader.deserialize().collect::<std::result::Result<_, _>>().map_err(fail(&path))?;
        let mut order: Vec<&str> = Vec::new();
        let mut by: BTreeMap<&str, Vec<&Line>> = BTreeMap::new();
        for line in &lines {
            if !by.contains_key(&*line.criterion) {
                order.push(&line.criterion);
            }
            by.entry(&line.criterion).or_default().push(line);
        }
        let changed = lines.first().map_or("", |l| &*l.changed);
        let mut counts = [0; 6];
        let _ = writeln!(
            claims,
            "\n## {name}\n\n{about} [The file]({name}.toml), [all numbers](verdicts/{name}.csv).\n\n\
             | claim | verdict | numbers | why not |\n|---|---|---|---|"
        );
        for id in order {
            let (first, missing) = (by[id][0], missing(&by[id]));
            let verdict = match missing {
                0 => first.verdict.clone(),
                1 => "holds (1 set missing)".into(),
                n => format!("holds ({n} sets missing)"),
            };
            counts[0] += 1;
            counts[kind(&first.verdict, missing)] += 1;
            met_by_k_means += usize::from(of(id).is_some_and(|c| c.null.is_some()));
            let fails = first.verdict == Judgement::NotReproduced.name();
            let _ = writeln!(
                claims,
                "| {}: {} | {verdict} | {} | {} |",
                cell(id),
                cell(&first.statement),
                cell(&numbers(&by[id])),
                cell(if fails { why(id) } else { "" })
            );
        }
        let _ = writeln!(
            rows,
            "| [{name}](#{name}) ([file]({name}.toml)) | {about} | {} | {} |",
            columns(counts),
            cell(changed)
        );
        totals.iter_mut().zip(counts).for_each(|(all, one)| *all += one);
    }
    Ok(format!(
        "# Verdicts\n\nEach experiment of this folder runs with `mustlink run NAME.toml`; its claims are in the \
         file. This page is written by `mustlink verdicts RESULTS... --save FOLDER` from the results of runs, kept \
         under `verdicts/`.\n\nBelow, numbers are ours, with the printed ones in brackets; **bold** is what does not \
         hold. Where they are many, those that decided stand here, the others in the CSV. *Sets missing*: it holds \
         on every data set that is here. For {met_by_k_means} claims the file gives a reason why k-means with random \
         constraints may meet them, too.\n\n\
         | experiment | what it is | claims | reproduced | sets missing | partly | not reproduced | no data | changed \
         for this run |\n|---|---|---|---|---|---|---|---|---|\n| **all** | | {} | |\n{rows}{claims}",
        columns(totals)
    ))
}

/// Claims in all, then as [`kind`] counts them.
fn columns(counts: [usize; 6]) -> String {
    counts.map(|n| n.to_string()).join(" | ")
}

/// How many data sets are missing of a claim that holds on all others; 0 where one fails.
fn missing(findings: &[&Line]) -> usize {
    let is = |holds: &str| findings.iter().filter(|l| l.holds == holds).count();
    let partly = findings[0].verdict == Judgement::Partly.name();
    if partly && is("no") == 0 { is("") } else { 0 }
}

/// The column of a verdict.
fn kind(verdict: &str, missing: usize) -> usize {
    let is = |judgement: Judgement| verdict == judgement.name();
    match () {
        () if is(Judgement::Reproduced) => 1,
        () if missing > 0 => 2,
        () if is(Judgement::Partly) => 3,
        () if is(Judgement::NotReproduced) => 4,
        () => 5,
    }
}

/// At most so many letters of numbers.
const LETTERS: usize = 200;

/// The numbers of a claim, short: ours with the printed ones in brackets, what fails in bold.
fn numbers(findings: &[&Line]) -> String {
    let of_set = |l: &&&Line| !l.dataset.is_empty();
    let known = findings.iter().filter(of_set).filter(|l| !l.holds.is_empty());
    let (known, absent): (Vec<_>, Vec<_>) = (
        known.collect(),
        findings
            .iter()
            .filter(of_set)
            .filter(|l| l.holds.is_empty())
            .map(|l| &*l.dataset)
            .collect(),
    );
    let mark = |l: &Line, text: String| if l.holds == "no" { format!("**{text}**") } else { text };
    let mut parts: Vec<String> = findings
        .iter()
        .filter(|l| l.dataset.is_empty())
        .map(|l| {
            let all = short(&l.numbers);
            let long = all.chars().count() > LETTERS;
            // What decided stands last.
            let last = all.rsplit("; ").next().unwrap_or_default();
            mark(l, if long { last.chars().take(LETTERS).collect() } else { all })
        })
        .collect();
    let whole: Vec<String> =
        known.iter().map(|l| mark(l, format!("{} {}", l.dataset, short(&l.numbers)))).collect();
    let whole = whole.join("; ");
    if whole.chars().count() <= LETTERS {
        parts.extend((!whole.is_empty()).then_some(whole));
    } else {
        let fails: Vec<String> = known
            .iter()
            .filter(|l| l.holds == "no")
            .map(|l| format!("**{}**", l.dataset))
            .collect();
        let not =
            if fails.is_empty() { String::new() } else { format!("; not on {}", fails.join(", ")) };
        parts.push(format!("holds on {} of {}{not}", known.len() - fails.len(), known.len()));
    }
    if !absent.is_empty() {
        parts.push(format!("not here: {}", absent.join(", ")));
    }
    parts.join("; ")
}

/// Numbers with three digits; of a comparison with a printed number ours and, in brackets, that one.
fn short(numbers: &str) -> String {
    if let Some((ours, rest)) =
        numbers.strip_prefix("ours ").and_then(|n| n.split_once(", printed "))
    {
        let first = |text: &str| digits(text.split(' ').next().unwrap_or_default());
        return format!("{} ({})", first(ours), first(rest));
    }
    numbers.split(' ').map(digits).collect::<Vec<_>>().join(" ")
}

/// A word as it is, a number with three digits or as many as it has before the point.
fn digits(word: &str) -> String {
    let bare = word.trim_end_matches([';', ',']);
    let Ok(v) = bare.parse::<f64>() else { return word.into() };
    let decimals = match v.abs() {
        // Margins of rounding errors.
        a if a < 1e-6 => return format!("0{}", &word[bare.len()..]),
        _ if v.fract() == 0.0 => 0,
        a => (2.0 - a.log10().floor()).clamp(0.0, 4.0) as usize,
    };
    format!("{v:.decimals$}{}", &word[bare.len()..])
}

/// A cell of a table of Markdown.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(dataset: &str, holds: &str, numbers: &str) -> Line {
        let text = |t: &str| t.to_string();
        Line {
            criterion: text("1"),
            verdict: text("partly"),
            dataset: text(dataset),
            holds: text(holds),
            numbers: text(numbers),
            statement: text("s"),
            changed: String::new(),
        }
    }

    #[test]
    fn claims_are_one_short_line() {
        let iris = line("iris", "no", "ours 10.8000 [10.8, 10.8], printed 14.1300 ± 3.2700");
        let wine = line("wine", "yes", "0.0293 > -1.000e-9; 99 >= 95");
        let none = line("sonar", "", "not here");
        let said = numbers(&[&iris, &wine, &none]);
        let expected = "**iris 10.8 (14.1)**; wine 0.0293 > 0; 99 >= 95; not here: sonar";
        assert_eq!(said, expected);
        assert_eq!((missing(&[&wine, &none]), missing(&[&iris, &none])), (1, 0));
        assert_eq!((kind("partly", 1), kind("partly", 0), kind("no data", 0)), (2, 3, 5));
        // Of many the failing ones are named, and of a long list of operands the answer.
        let many: Vec<Line> = (0..40).map(|at| line(&format!("set{at}"), "yes", "1 > 0")).collect();
        let all: Vec<&Line> = many.iter().chain([&iris]).collect();
        assert_eq!(numbers(&all), "holds on 40 of 41; not on **iris**");
        let operands = "iris: 0.0166; ".repeat(30) + "8 > 8";
        assert_eq!(numbers(&[&line("", "no", &operands)]), "**8 > 8**");
    }
}
