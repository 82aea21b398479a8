//! The command `select`: the questions and constraints of a selector, without clustering.

use mustlink::Error;
use mustlink::method::Method;
use mustlink::roles::{Answer, Outcome, Question, Reply, Respondent};
use mustlink::text::count;

use crate::failure::Failure;
use crate::files::check_outputs;
use crate::job::{Job, JobArgs};
use crate::options::in_pool;
use crate::term;

/// Ask questions without clustering, and write the constraints
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Example: mustlink select --data iris --selector random_pairs --budget 50 --out pairs.csv"
)]
pub(crate) struct Args {
    #[command(flatten)]
    job: JobArgs,
    /// File to write [default: standard output]
    ///
    /// Objects are row numbers from 0, or ids with --id.
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: String,
    /// Write the questions without asking
    ///
    /// Fill in the column "answer" in a spreadsheet; "mustlink label --import" reads it. A selector that
    /// learns from answers continues as if each answer were unsure.
    #[arg(long, conflicts_with_all = ["oracle", "ledger"], requires = "budget")]
    questions: bool,
    /// Columns to write next to each question, with --questions
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', requires = "questions")]
    show: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    check_outputs(&[("--out", Some(&args.out))], &args.job.inputs())?;
    let mut own = args.job.clone();
    own.columns.shown.clone_from(&args.show);
    let job = Job::open(&own, true)?;
    if args.questions {
        return questions(args, &job);
    }
    let made = in_pool(args.job.threads, || {
        let seen = job.seen()?;
        let selection = job
            .select(&seen.problem)
            .map_err(|e| job.about_features(&seen, e))?
            .unwrap_or_default();
        let given = &seen.problem.constraints;
        if let Some(clash) = job.clash(&selection, given)? {
            job.context().warn(clash);
        }
        let Method { view, on_conflict, .. } = job.method;
        let selected = selection.constraints(selection.asked(), view, on_conflict, given)?;
        Ok((selection, selected))
    })?;
    job.finish(&args.job);
    let (selection, selected) = made.map_err(|e| job.named(&e))?;
    let selected = job.of_rows(&selected)?;
    mustlink_datasets::write_constraints(
        &args.out,
        &selected,
        &job.original,
        job.original.ids.is_some(),
    )?;
    if !args.job.quiet {
        let c = selection.counts(selection.asked());
        let ended = match selection.closed {
            None => "nothing is left to ask",
            Some("budget") if args.job.budget.is_some_and(|budget| budget < c.queries) => {
                "more than --budget: the ledger had them"
            }
            Some("budget") => "the budget is spent",
            Some("pending") => "an answer is still to come",
            Some(_) => "the oracle answers no more",
        };
        let (asked, must, cannot) = (c.queries, c.must, c.cannot);
        let asked = count(asked, "query");
        let others = term::counted(&[
            (c.dont_know, "without an answer"),
            (c.conflicts, "contradicting"),
            (c.corrected, "corrected by the selector"),
            (c.retracted, "taken back"),
        ]);
        let (inferred, pairs) = (c.inferred, count(selected.len(), "constraint"));
        term::tell(&format!("{}: {}", job.original.name, job.original.summary()));
        term::tell(&format!(
            "{asked}: {must} must-link, {cannot} cannot-link{others}; {inferred} inferred; {pairs}; {ended}"
        ));
    }
    Ok(0)
}

/// Answers no question, and records the questions.
#[derive(Default)]
struct Unsure(Vec<(u32, u32)>);

impl Respondent for Unsure {
    fn ask(&mut self, question: &Question) -> mustlink::Result<Outcome> {
        self.0.push((question.subject, question.reference));
        Ok(Outcome::Answered(Answer::of(Reply::DontKnow)))
    }
}

fn questions(args: &Args, job: &Job) -> Result<u8, Failure> {
    let made = in_pool(args.job.threads, || {
        let seen = job.seen()?;
        let mut nobody = Unsure::default();
        let none = || Error::Usage("the method has no selector; name one with --selector".into());
        job.ask(&seen.problem, &mut nobody, args.job.budget, None)
            .map_err(|e| job.about_features(&seen, e))?
            .ok_or_else(none)?;
        Ok(nobody.0)
    })?;
    job.finish(&args.job);
    let asked = made.map_err(|e| job.named(&e))?;
    let rows: Vec<(u32, u32)> = asked.iter().map(|&(i, j)| (job.row(i), job.row(j))).collect();
    let by_id = job.original.ids.is_some();
    mustlink_datasets::write_questions(&args.out, &rows, &job.original, by_id)?;
    if !args.job.quiet {
        let asked = count(rows.len(), "question");
        term::tell(&format!("{asked}; answers go into \"mustlink label --import\""));
    }
    Ok(0)
}
