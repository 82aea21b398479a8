//! `cluster --pairs`: clusters of objects from judged pairs alone.

use std::time::Instant;

use mustlink::Context;
use mustlink::text::count;
use mustlink_datasets::{PairOptions, read_pairs, write_questions, write_rows};
use mustlink_experiments::continued::{Continued, Previous};
use mustlink_experiments::judged_pairs::{
    Evidence, PairClusters, answers, chain, summary, threshold_column,
};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::files::check_outputs;
use crate::job_args::JobArgs;
use crate::options::{Format, in_pool};
use crate::progress::duration;
use crate::verbs::score::shown;
use crate::{interrupt, program, term};

/// Options that judged pairs leave without a meaning.
const WITHOUT_MEANING: &str = "data distance_matrix affinity_matrix transpose method clusterer selector oracle sets \
                               k id class labels display features text ignore no_header sep decimal na \
                               object_weights selection_only data_dir weights save_model plot plot_formats \
                               plot_title plot_size plot_names plot_no_constraints profile out_candidates time \
                               dry_run validate";

/// Most questions on a sheet, unless there is a budget.
const QUESTIONS: usize = 50;

/// The options of judged pairs.
#[derive(Debug, clap::Args)]
pub(crate) struct PairsArgs {
    /// CSV of judged pairs, instead of data: the objects are their ids
    ///
    /// Two columns of ids (i,j, left,right, id_l,id_r or source,target), and a column probability, score or
    /// verdict (same, different, unsure). A column annotator is used with verdicts. Answers in --constraints and
    /// --ledger win; the ledger must refer to the same ids. --apart NAME puts at most one object of each value of
    /// NAME_l and NAME_r into a cluster.
    #[arg(long, value_name = "FILE", conflicts_with_all = WITHOUT_MEANING.split(' '))]
    pub pairs: Option<String>,
    /// Scores of certainly different and certainly same pairs [default: 0,1]
    #[arg(long, value_name = "LOW,HIGH", value_parser = range, conflicts_with = "data", allow_hyphen_values = true)]
    score_range: Option<(f64, f64)>,
    /// Lowest probability that counts as "same" [default: 0.5]
    ///
    /// Each threshold makes a column of labels; the other files are about the first one.
    #[arg(long, value_name = "P", value_delimiter = ',', conflicts_with = "data")]
    threshold: Vec<f64>,
    /// Probability of "same" before any verdict [default: 0.5]
    #[arg(long, value_name = "P", conflicts_with = "data")]
    prior: Option<f64>,
    /// Cost of a wrong join, compared with a wrong separation [default: 1]
    #[arg(long, value_name = "COST", conflicts_with = "data")]
    join_cost: Option<f64>,
    /// Probability of "same" for pairs without a verdict [default: 0.4 for scores, 0.5 for verdicts]
    ///
    /// At most 0.5. Below 0.5, one wrong verdict between two clusters is overruled even if no other pair of them was
    /// judged.
    #[arg(long, value_name = "P", conflicts_with = "data")]
    unjudged: Option<f64>,
    /// CSV of the pairs to ask next, at most --budget [default: 50]
    ///
    /// Fill in the column "answer" and pass the sheet to --constraints.
    #[arg(long, value_name = "FILE", conflicts_with = "data")]
    questions: Option<String>,
}

/// Reads the two ends of a range, of which the first may be the larger one.
fn range(text: &str) -> Result<(f64, f64), String> {
    let ends = text.split_once(',').and_then(|(low, high)| {
        let number = |end: &str| end.trim().parse::<f64>().ok().filter(|v| v.is_finite());
        Some((number(low)?, number(high)?))
    });
    let wrong = || format!("must be two different numbers such as 0,100, got {text}");
    ends.filter(|(low, high)| low != high).ok_or_else(wrong)
}

impl PairsArgs {
    /// Clusters the pairs in `file`.
    pub fn run(
        &self,
        file: &str,
        job: &JobArgs,
        previous: Option<&str>,
        [out, violations]: [Option<&str>; 2],
        format: Format,
    ) -> Result<u8, Failure> {
        let questions = self.questions.as_deref();
        let outputs = [("--out", out), ("--violations", violations), ("--questions", questions)];
        let inputs = [("--pairs", Some(file)), ("--previous", previous)];
        check_outputs(&outputs, &[&job.inputs()[..], &inputs].concat())?;
        let start = Instant::now();
        // A repeated threshold would make two columns with one name.
        let mut thresholds: Vec<f64> = Vec::new();
        let given = if self.threshold.is_empty() { &[0.5][..] } else { &self.threshold[..] };
        for &threshold in given {
            if !thresholds.contains(&threshold) {
                thresholds.push(threshold);
            }
        }
        let memory_limit = job.memory_limit.or_else(crate::memory::default_limit);
        let (score_range, apart) = (self.score_range, job.apart.clone());
        let judged = read_pairs(file, &PairOptions { score_range, apart, memory_limit })?;
        let objects = &judged.objects;
        let ctx = Context::builder(objects.seed_path(job.seed.unwrap_or(0), &objects.name))
            .cancel(interrupt::flag())
            .memory_limit(memory_limit)
            .build();
        let before = previous.map(|file| Previous::of_thresholds(file, objects, &thresholds));
        let before = before.transpose()?;
        let work = || -> mustlink::Result<(String, Vec<PairClusters>)> {
            let (given, ledger) = (job.constraints.as_deref(), job.ledger.as_deref());
            let answers = answers(objects, given, ledger, &ctx)?;
            let (prior, cost) = (self.prior.unwrap_or(0.5), self.join_cost.unwrap_or(1.0));
            let evidence = Evidence::new(&judged, answers, prior, cost, self.unjudged)?;
            let found = thresholds.iter().map(|&threshold| evidence.cluster(threshold, &ctx));
            Ok((summary(&judged, &evidence), found.collect::<mustlink::Result<_>>()?))
        };
        let (read, found) = in_pool(job.threads, work)??;
        let warnings = ctx.warnings();
        warnings.iter().for_each(|text| job.warn(text));
        let first = &found[0];
        let continued = |(at, found): (usize, &PairClusters)| {
            let labels: Vec<Option<u32>> = found.labels.iter().copied().map(Some).collect();
            before.as_ref().map(|before| before[at].continued(&labels, &ctx)).transpose()
        };
        let continued = found.iter().enumerate().map(continued);
        let continued = continued.collect::<mustlink::Result<Vec<_>>>()?;
        let both = || found.iter().zip(&continued);
        if let Some(out) = out {
            let name = |found: &PairClusters| -> String {
                match thresholds.len() {
                    1 => "label".into(),
                    _ => threshold_column(found.threshold),
                }
            };
            let head: Vec<String> =
                std::iter::once("id".into()).chain(found.iter().map(name)).collect();
            let row = |i: usize| -> Vec<String> {
                let number = |label: u32, continued: &Option<Continued>| {
                    continued.as_ref().map_or(label, |continued| continued.number(label))
                };
                let label = |found: &PairClusters, continued| number(found.labels[i], continued);
                let labels = both().map(|(found, continued)| label(found, continued).to_string());
                std::iter::once(objects.id(i)).chain(labels).collect()
            };
            write_rows(out, std::iter::once(head).chain((0..objects.n()).map(row)))?;
        }
        ctx.check()?;
        if let Some(path) = violations {
            let head = ["i", "j", "type", "weight", "chain"].map(String::from);
            let cases = first.overruled(&ctx)?;
            let rows = cases.iter().map(|case| {
                let c = &case.constraint;
                let [i, j] = [c.i, c.j].map(|object| objects.id(object as usize));
                [i, j, c.kind.name().into(), c.weight.to_string(), chain(case, objects)]
            });
            write_rows(path, std::iter::once(head).chain(rows))?;
        }
        ctx.check()?;
        if let Some(path) = questions {
            let asked = first.questions(job.budget.unwrap_or(QUESTIONS));
            let pairs: Vec<(u32, u32)> = asked.iter().map(|question| question.pair).collect();
            write_questions(path, &pairs, objects, true)?;
        }
        let seconds = start.elapsed().as_secs_f64();
        let of_thresholds: Vec<Value> = both().map(numbers).collect();
        let json = json!({
            "pairs": file,
            "objects": objects.n(),
            "verdicts": judged.verdicts.len(),
            "thresholds": of_thresholds,
            "seconds": seconds,
            "warnings": warnings,
        });
        let text = || {
            let mut blocks = vec![vec![("pairs", format!("{}: {read}", objects.name))]];
            blocks.extend(both().map(|both| lines(both, thresholds.len() > 1)));
            let mut done = vec![("time", duration(seconds))];
            for (name, path) in
                [("labels", out), ("violations", violations), ("questions", questions)]
            {
                done.extend(path.filter(|path| *path != "-").map(|path| (name, path.to_string())));
            }
            blocks.push(done);
            let more = match (out, violations, questions) {
                (None, _, _) => Some(" --out labels.csv"),
                (_, None, _) => Some(" --violations overruled.csv"),
                (_, _, None) => Some(" --questions sheet.csv"),
                _ => None,
            };
            // Standard input cannot be read a second time.
            let is_gone = [Some(file), job.constraints.as_deref()].contains(&Some("-"));
            let next = more.filter(|_| !is_gone).map(|more| program::again(&[], more));
            term::summary(&blocks, next)
        };
        let is_taken = outputs.iter().any(|(_, path)| *path == Some("-"));
        term::print_summary(&json, format, is_taken, text)?;
        Ok(0)
    }
}

/// The result at one threshold for programs.
fn numbers((found, continued): (&PairClusters, &Option<Continued>)) -> Value {
    let PairClusters { threshold, k, objective, bound, violations, .. } = found;
    let overruled = json!({ "must": violations.must, "cannot": violations.cannot });
    let mut all = json!({
        "threshold": threshold,
        "k": k,
        "objective": objective,
        "bound": bound,
        "overruled": overruled,
    });
    if let Some(continued) = continued {
        all["previous"] = json!(continued);
    }
    all
}

/// The result at one threshold for people.
fn lines(
    (found, continued): (&PairClusters, &Option<Continued>),
    is_one_of_several: bool,
) -> Vec<(&'static str, String)> {
    let mut sizes = vec![0; found.k];
    found.labels.iter().for_each(|&label| sizes[label as usize] += 1);
    let mut lines = Vec::new();
    if is_one_of_several {
        lines.push(("threshold", found.threshold.to_string()));
    }
    lines.push(("clusters", term::listed(&sizes)));
    lines.extend(continued.as_ref().map(|continued| ("previous", continued.text())));
    let objective = shown(Some(found.objective));
    lines.push(("objective", format!("{objective}, {}", found.about_bound())));
    let [same, different] =
        [found.violations.must, found.violations.cannot].map(|all| count(all as usize, "verdict"));
    lines.push(("overruled", format!("{same} for \"same\", {different} for \"different\"")));
    lines
}
