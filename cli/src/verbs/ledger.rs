//! The command `ledger`: combines the answers of several people.

use mustlink::text::count;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use clap::{Subcommand, ValueEnum};
use mustlink::constraints::{Constraints, Strength};
use mustlink::roles::{Answer, QueryId, Reply};
use mustlink::selection::Recorded;
use mustlink::{Constraint, Context, Kind, Problem};
use mustlink_datasets::Dataset;
use mustlink_kernels::agreement::annotators::{Cast, error_rates, kappa, log_odds};
use mustlink_label::{annotator, is_own};

use crate::failure::Failure;
use crate::files::{ColumnArgs, check_outputs, same};
use crate::options::DataDir;
use crate::{data_file, term};

/// Combine the answers of several annotators
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Example: mustlink ledger merge ann.jsonl bob.jsonl --data my.csv --out pairs.csv"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Merge(Merge),
}

/// Write constraints from the ledgers of one or more annotators
#[derive(Debug, clap::Args)]
struct Merge {
    /// The ledgers, one per annotator
    #[arg(required = true, num_args = 1..)]
    ledgers: Vec<PathBuf>,
    /// Data set of the answers
    #[arg(long, value_name = "DATA")]
    data: String,
    #[command(flatten)]
    columns: ColumnArgs,
    #[command(flatten)]
    data_dir: DataDir,
    /// Rule that decides the answer of a pair
    #[arg(long, value_enum, default_value = "majority")]
    rule: Rule,
    /// File of constraints i,j,type,weight,strength to write
    ///
    /// The weight is the lead of the winner as a share of the votes; with --rule weighted it is 2p − 1, where
    /// p is the probability of the answer. A weight below 1 is marked soft.
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: String,
    /// CSV of the pairs with different answers
    #[arg(long, value_name = "FILE")]
    disagreements: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Rule {
    /// The answer of most annotators; none if they are divided equally
    Majority,
    /// Votes weighted by each annotator's estimated accuracy
    Weighted,
}

impl Rule {
    /// True if these votes make a must-link, with its weight: 0 if the votes are equal. Reversed votes have exactly
    /// the same weight, so that rounding never decides which of two constraints is the weaker.
    fn decided(self, votes: &[Cast], errors: &[f64]) -> (bool, f64) {
        match self {
            Rule::Majority => {
                let must = votes.iter().filter(|(_, must)| *must).count();
                let ahead = (2 * must).abs_diff(votes.len());
                (2 * must > votes.len(), ahead as f64 / votes.len() as f64)
            }
            Rule::Weighted => {
                let odds = |&(person, must): &Cast| {
                    let odds = log_odds(errors[person]);
                    if must { odds } else { -odds }
                };
                let odds: f64 = votes.iter().map(odds).sum();
                // 2 p − 1 for the p of these odds.
                (odds > 0.0, (odds.abs() / 2.0).tanh())
            }
        }
    }
}

/// The answers about each pair: person and whether it was a must-link, in the order of the ledgers.
type Votes = BTreeMap<(u32, u32), Vec<Cast>>;

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    let What::Merge(args) = &args.what;
    let ledgers: Vec<_> = args.ledgers.iter().map(|l| ("a ledger", l.to_str())).collect();
    let outputs = [("--out", Some(&*args.out)), ("--disagreements", args.disagreements.as_deref())];
    check_outputs(&outputs, &[&[("--data", Some(args.data.as_str()))], &ledgers[..]].concat())?;
    for (at, ledger) in args.ledgers.iter().enumerate() {
        if args.ledgers[..at].iter().any(|before| same(before, ledger)) {
            let ledger = ledger.display();
            return Err(Failure::usage(format!(
                "{ledger} is given twice, so its answers would count twice; leave one out"
            )));
        }
    }
    let completed = data_file::completed(&args.columns, &args.data, &[], "transforms")?;
    completed.note.iter().for_each(|note| term::tell(&format!("note: {note}")));
    let options = completed.columns.open_options(&args.data_dir);
    let set = mustlink_datasets::open(&args.data, &options)?;
    let (people, scene) = (names(&args.ledgers), set.scene(Context::new(0)));
    let (mut votes, mut given, mut cast) = (Votes::new(), vec![0; people.len()], Vec::new());
    let mut sessions: BTreeMap<Moment, &PathBuf> = BTreeMap::new();
    for (person, ledger) in args.ledgers.iter().enumerate() {
        let (answers, notices) = mustlink_ledger::answers(ledger, &scene)?;
        notices.iter().for_each(|text| term::tell(&format!("warning: {text}")));
        let head = first_line(ledger);
        for moment in answers.iter().filter_map(|r| moment(&head, r)) {
            let before = *sessions.entry(moment).or_insert(ledger);
            if before != ledger {
                return Err(Failure::usage(format!(
                    "{} is a copy of {}, so its answers would count twice; leave one out",
                    ledger.display(),
                    before.display()
                )));
            }
        }
        // An answer that follows from other answers is not a vote.
        let is_vote = |r: &Recorded| is_own(&r.answer) && r.answer.reply != Reply::DontKnow;
        cast.extend(answers.into_iter().filter(is_vote).map(|r| (person, r)));
    }
    // An answer that several ledgers imported counts once. If its own ledger is given, that one decides, because the
    // answer may have been taken back there.
    let owner = |ledger: &PathBuf| annotator(&Answer::of(Reply::DontKnow), ledger);
    let owners: Vec<String> = args.ledgers.iter().map(owner).collect();
    let mut seen = BTreeSet::new();
    for (person, Recorded { subject, reference, answer, .. }) in cast {
        let (pair, must) =
            ((subject.min(reference), subject.max(reference)), answer.reply == Reply::MustLink);
        let counts = match &answer.annotator {
            Some(by) if by != &owners[person] && owners.contains(by) => false,
            Some(by) if answer.at.is_some() => {
                seen.insert((by.clone(), pair, answer.at.clone(), must))
            }
            _ => true,
        };
        if counts {
            votes.entry(pair).or_default().push((person, must));
            given[person] += 1;
        }
    }
    votes.values_mut().for_each(|votes| votes.sort_unstable());
    let all: Vec<Vec<Cast>> = votes.values().cloned().collect();
    let errors = error_rates(&all, people.len(), None);
    let pairs = votes.iter().filter_map(|(&(i, j), votes)| {
        let (must, weight) = args.rule.decided(votes, &errors);
        let kind = if must { Kind::MustLink } else { Kind::CannotLink };
        let pair = Constraint::new(i as usize, j as usize, kind).weighing(weight);
        // Nothing may follow from an answer that can be wrong.
        let strength = (weight < 1.0).then_some(Strength::Soft);
        (weight > 0.0).then_some(Constraint { strength, ..pair })
    });
    let constraints = Constraints::new(set.n(), pairs)?;
    mustlink_datasets::write_constraints(&args.out, &constraints, &set, set.ids.is_some())?;
    if let Some(file) = &args.disagreements {
        mustlink_datasets::write_rows(file, disagreements(&votes, &people, &set))?;
    }
    if people.len() == 1 && votes.values().all(|votes| votes.len() == 1) {
        let place = match &*args.out {
            "-" => "standard output",
            file => file,
        };
        term::tell(&format!("{} written to {place}", count(constraints.len(), "constraint")));
    } else {
        say(&people, &given, &votes, &errors, &constraints);
    }
    let problem = Problem::new(set.data.clone()).with_constraints(constraints);
    if let Some(clash) = problem.contradiction()? {
        term::tell(&format!("warning: {}", clash.render(&|i| set.called(i))));
    }
    Ok(0)
}

/// When an answer was given in a session: the first line of its ledger, the query, the moment, and the time taken in
/// milliseconds.
type Moment = (String, QueryId, String, u64);

/// The moment of an answer in the ledger that begins with `head`. `None` without a measured time, as for answers of a
/// program or from a file: these may be equal in the ledgers of several people.
fn moment(head: &str, recorded: &Recorded) -> Option<Moment> {
    let Answer { at, elapsed_ms, .. } = &recorded.answer;
    Some((head.into(), recorded.id, at.clone()?, (*elapsed_ms)?))
}

/// The first line of a file, without the byte-order mark of an editor. Empty if it cannot be read.
fn first_line(path: &Path) -> String {
    let read = File::open(path).map(|file| BufReader::new(file).lines().next());
    let line = read.ok().flatten().and_then(Result::ok).unwrap_or_default();
    line.trim_start_matches('\u{feff}').into()
}

/// The name of each person: that of the ledger, with its folder if two ledgers have one name.
fn names(ledgers: &[PathBuf]) -> Vec<String> {
    let stem = |l: &Path| l.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let twice = |name: &String| ledgers.iter().filter(|l| stem(l) == *name).count() > 1;
    let name = |l: &PathBuf| Some(stem(l)).filter(|n| !twice(n));
    ledgers.iter().map(|l| name(l).unwrap_or_else(|| l.display().to_string())).collect()
}

/// True if the votes are not all the same.
fn differ(votes: &[Cast]) -> bool {
    votes.iter().any(|(_, must)| *must != votes[0].1)
}

fn disagreements(votes: &Votes, people: &[String], set: &Dataset) -> Vec<Vec<String>> {
    let shown = set.display.as_deref();
    let texts =
        |i, j| shown.into_iter().flat_map(move |cells| [i, j].map(|o: usize| cells[o].clone()));
    let row = |(&(i, j), votes): (&(u32, u32), &Vec<Cast>)| {
        let (i, j) = (i as usize, j as usize);
        let answer = |person| match votes.iter().find(|(p, _)| *p == person) {
            Some((_, true)) => "same".to_string(),
            Some((_, false)) => "different".into(),
            None => String::new(),
        };
        let answers = (0..people.len()).map(answer);
        [set.id(i), set.id(j)].into_iter().chain(answers).chain(texts(i, j)).collect()
    };
    let mut header: Vec<String> = ["i", "j"].map(String::from).to_vec();
    header.extend(people.iter().cloned());
    header.extend(shown.iter().flat_map(|_| ["text of i", "text of j"].map(String::from)));
    let differing = votes.iter().filter(|(_, votes)| differ(votes));
    std::iter::once(header).chain(differing.map(row)).collect()
}

/// A sentence about how well two annotators agree, from their votes on the same pairs.
pub(crate) fn agreement([one, other]: [&str; 2], votes: &[(bool, bool)]) -> String {
    if votes.is_empty() {
        return format!("no pair was answered by both {one} and {other}");
    }
    let alike = votes.iter().filter(|(a, b)| a == b).count();
    let kappa = match kappa(votes.iter().copied()) {
        Some(kappa) => format!("Cohen's κ is {kappa:.2}"),
        None => "Cohen's κ is not defined, because all answers are the same".into(),
    };
    format!(
        "{one} and {other} agree on {alike} of {} that both answered; {kappa}",
        count(votes.len(), "pair")
    )
}

fn say(
    people: &[String],
    given: &[usize],
    votes: &Votes,
    errors: &[f64],
    constraints: &Constraints,
) {
    let mut table = term::table(&["annotator", "answers", "shared", "with most", "error rate"]);
    for (person, name) in people.iter().enumerate() {
        let is_shared =
            |votes: &&Vec<Cast>| votes.len() > 1 && votes.iter().any(|(p, _)| *p == person);
        let shared: Vec<&Vec<Cast>> = votes.values().filter(is_shared).collect();
        let with_most = |votes: &&&Vec<Cast>| {
            let yes = votes.iter().filter(|(_, must)| *must).count();
            let answer = votes.contains(&(person, true));
            2 * yes != votes.len() && answer == (2 * yes > votes.len())
        };
        let agreed = shared.iter().filter(with_most).count();
        let error = match shared.len() {
            0 => "not known: no shared pair".into(),
            _ => format!("{:.2}", errors[person]),
        };
        let counts = [given[person], shared.len(), agreed].map(|count| count.to_string());
        table.add_row([std::slice::from_ref(name), &counts[..], &[error]].concat());
    }
    term::tell(&table.to_string());
    for (person, name) in people.iter().enumerate() {
        for (earlier, other) in people[..person].iter().enumerate() {
            let vote = |votes: &[Cast], of: usize| votes.iter().find(|v| v.0 == of).map(|v| v.1);
            let both = votes.values().filter_map(|v| vote(v, earlier).zip(vote(v, person)));
            let both: Vec<(bool, bool)> = both.collect();
            if !both.is_empty() {
                term::tell(&agreement([other, name], &both));
            }
        }
    }
    let differing = votes.values().filter(|votes| differ(votes)).count();
    let shared = votes.values().filter(|votes| votes.len() > 1).count();
    term::tell(&format!(
        "{}, {shared} answered by several people, who differ on {differing}; {}, {} \
         left out because their votes are equal",
        count(votes.len(), "pair"),
        count(constraints.len(), "constraint"),
        count(votes.len() - constraints.len(), "pair")
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn votes_turned_round_weigh_the_same() {
        let errors = [0.01, 0.07, 0.2, 0.11, 0.32];
        for said in 0..32_u32 {
            let votes: Vec<Cast> =
                (0..5).map(|person| (person, (said >> person) & 1 == 1)).collect();
            let turned: Vec<Cast> = votes.iter().map(|&(person, must)| (person, !must)).collect();
            for rule in [Rule::Majority, Rule::Weighted] {
                for most in 1..=5 {
                    let (must, weight) = rule.decided(&votes[..most], &errors);
                    let (other, same) = rule.decided(&turned[..most], &errors);
                    assert_eq!(weight.to_bits(), same.to_bits(), "{rule:?} {votes:?} {most}");
                    assert!(must != other || weight == 0.0, "{rule:?} {votes:?} {most}");
                }
            }
        }
        let two_of_three = [(0, true), (1, false), (2, true)];
        assert_eq!(Rule::Majority.decided(&two_of_three, &errors), (true, 1.0 / 3.0));
        assert_eq!(Rule::Majority.decided(&two_of_three[..2], &errors).1, 0.0);
        // One vote of somebody who errs in one of five: p = 0.8.
        let (must, weight) = Rule::Weighted.decided(&[(2, false)], &errors);
        assert!(!must && (weight - 0.6).abs() < 1e-12, "{weight}");
    }
}
