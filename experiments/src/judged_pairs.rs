//! Clusters of objects of which only judged pairs are known, for the command line and Python.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use mustlink_core::constraints::{Strength, Violations};
use mustlink_core::overruled::{self, Doubt, Overruled};
use mustlink_core::selection::Recorded;
use mustlink_core::text::count;
use mustlink_core::{Clustering, Constraint, Constraints, Context, Error, Kind, Result};
use mustlink_datasets::{
    Dataset, JudgedPairs, Verdict, column_names, read_known_answers, read_known_constraints,
};
use mustlink_kernels::agreement::annotators::{BEFORE, Cast, error_rates, log_odds};
use mustlink_kernels::constrained::judged_pairs::{self, Found, Odds, summed};

/// Answers about pairs. They win over verdicts.
#[derive(Debug, Clone, Default)]
pub struct Answers {
    /// Must-links and cannot-links.
    pub stated: Constraints,
    /// Pairs, the smaller object first, that were answered "unsure".
    pub unsure: HashSet<(u32, u32)>,
}

impl From<Constraints> for Answers {
    fn from(stated: Constraints) -> Self {
        Answers { stated, unsure: HashSet::new() }
    }
}

/// The answers in a file of constraints or an answered sheet, and in a ledger. Answers about objects that no pair has
/// are ignored with a warning.
///
/// # Errors
/// Returns the errors of reading; `Data` for a ledger that refers to rows by number.
pub fn answers(
    objects: &Dataset,
    file: Option<&str>,
    ledger: Option<&Path>,
    ctx: &Context,
) -> Result<Answers> {
    let n = objects.n();
    let mut all = Answers::default();
    let warn_of_unknown = |file: &str, unknown: Vec<String>, what: &str| {
        if let Some(id) = unknown.first() {
            let unknown = count(unknown.len(), what);
            ctx.warn(format!(
                "{file}: ignored {unknown} about ids that no pair has, such as {id:?}"
            ));
        }
    };
    let mut replies: Vec<(usize, usize, Option<Kind>)> = Vec::new();
    if let Some(file) = file {
        if column_names(file)?.is_some_and(|names| names.contains(&"answer".into())) {
            let (answers, unknown) = read_known_answers(file, objects)?;
            warn_of_unknown(file, unknown, "answer");
            replies.extend(answers.into_iter().map(|a| (a.i, a.j, a.reply.kind())));
        } else {
            let (stated, unknown) = read_known_constraints(file, objects)?;
            warn_of_unknown(file, unknown, "constraint");
            all.stated = stated;
        }
    }
    if let Some(ledger) = ledger {
        let scene = objects.scene(ctx.clone());
        let (answers, unknown, notices) = mustlink_ledger::known_answers(ledger, &scene)?;
        notices.into_iter().for_each(|text| ctx.warn(text));
        warn_of_unknown(&ledger.to_string_lossy(), unknown, "answer");
        let reply = |a: Recorded| (a.subject as usize, a.reference as usize, a.answer.reply.kind());
        replies.extend(answers.into_iter().map(reply));
    }
    let mut pairs = Vec::new();
    for (i, j, kind) in replies {
        match kind {
            Some(kind) => pairs.push(Constraint::new(i, j, kind)),
            None => _ = all.unsure.insert((i.min(j) as u32, i.max(j) as u32)),
        }
    }
    all.stated = all.stated.union(&Constraints::new(n, pairs)?, n)?;
    Ok(all)
}

/// Evidence about each pair, as log-odds.
pub struct Evidence<'a> {
    objects: &'a Dataset,
    /// The pairs in ascending order, with the log-odds that both objects are the same.
    odds: Vec<Odds>,
    answers: Answers,
    /// Log of the cost of a wrong join.
    cost: f64,
    /// Cost of joining a pair without a verdict.
    unjudged: f64,
}

impl<'a> Evidence<'a> {
    /// The evidence of verdicts and answers. `prior`: the probability that the objects of a judged pair are the same,
    /// before its verdicts. `join_cost`: the cost of joining two different objects, if separating two that are the
    /// same costs 1. `unjudged`: the probability that the objects of a pair without a verdict are the same, at most
    /// 0.5. By default 0.4 for scores, because a matcher scores most pairs that may be the same, and 0.5 for verdicts.
    ///
    /// Several verdicts about a pair add up. An annotator is as reliable as the annotators' agreement on common pairs
    /// shows, otherwise correct in three of four cases. An answer of weight w below 1 that is marked soft is a verdict
    /// with the probability (1 + w) / 2.
    ///
    /// # Errors
    /// `Usage` for a number out of range.
    pub fn new(
        judged: &'a JudgedPairs,
        answers: impl Into<Answers>,
        prior: f64,
        join_cost: f64,
        unjudged: Option<f64>,
    ) -> Result<Self> {
        let mut answers = answers.into();
        check_probability("prior", prior)?;
        let is_score =
            |(_, _, verdict): &(u32, u32, Verdict)| matches!(verdict, Verdict::Probability(_));
        let default = if judged.verdicts.iter().any(is_score) { 0.4 } else { 0.5 };
        let unjudged = unjudged.unwrap_or(default);
        if !(unjudged > 0.0 && unjudged <= 0.5) {
            let message = format!("unjudged: must be above 0 and at most 0.5, got {unjudged}");
            return Err(Error::Usage(message));
        }
        if !(join_cost > 0.0 && join_cost.is_finite()) {
            let message = format!("join_cost: must be a number above 0, got {join_cost}");
            return Err(Error::Usage(message));
        }
        let errors = errors_of(judged);
        let sign = |same: bool, odds: f64| if same { odds } else { -odds };
        let verdict = |&(i, j, verdict): &(u32, u32, Verdict)| match verdict {
            Verdict::Probability(p) => Some((i, j, logit(p))),
            Verdict::Answer { annotator, same } => {
                Some((i, j, sign(same, log_odds(errors[annotator as usize]))))
            }
            Verdict::Unsure => None,
        };
        let is_soft = |c: &&Constraint| c.strength == Some(Strength::Soft);
        let soft = answers.stated.listed().iter().filter(is_soft).map(|c| {
            let odds = logit((1.0 + c.weight.min(1.0)) / 2.0);
            (c.i, c.j, sign(c.kind == Kind::MustLink, odds))
        });
        let verdicts = judged.verdicts.iter().filter_map(verdict).chain(soft).collect();
        let odds = summed(verdicts, logit(prior));
        answers.stated = answers.stated.facts().into_owned();
        let (objects, cost) = (&judged.objects, join_cost.ln());
        Ok(Evidence { objects, odds, answers, cost, unjudged: (-logit(unjudged)).max(0.0) })
    }

    /// Number of pairs with an opinion.
    pub fn pairs(&self) -> usize {
        self.odds.len()
    }

    /// Number of answers.
    pub fn answers(&self) -> usize {
        self.answers.stated.len()
    }

    /// Clusters that overrule verdicts of little weight, if a pair is the same from the probability `threshold` on.
    ///
    /// # Errors
    /// `Usage` for a threshold out of range; `InconsistentConstraints` if answers contradict each other;
    /// `TooManyGroupPairs` for large groups; `Cancelled`.
    pub fn cluster(&self, threshold: f64, ctx: &Context) -> Result<PairClusters> {
        check_probability("threshold", threshold)?;
        let Evidence { objects, odds, answers, unjudged, .. } = self;
        let (n, unjudged, apart) = (objects.n(), *unjudged, &*objects.apart);
        let judged =
            judged_pairs::JudgedPairs { n, odds, answers: &answers.stated, apart, unjudged };
        let found = judged.clusters(logit(threshold) + self.cost, ctx).map_err(|source| {
            let message = source.render(&|i| objects.id(i));
            Error::Named { message, source: Box::new(source) }
        })?;
        let Found { labels, k, violations, objective, bound, evidence } = found;
        let Clustering { labels, .. } = Clustering::from_labels(labels).shown(None);
        let unsure = answers.unsure.clone();
        Ok(PairClusters {
            threshold,
            labels,
            k,
            violations,
            objective,
            bound,
            unjudged,
            unsure,
            evidence,
        })
    }
}

/// The rate of error of each annotator, estimated from the pairs that several answered.
fn errors_of(judged: &JudgedPairs) -> Vec<f64> {
    let people = judged.annotators.len();
    let mut votes: BTreeMap<(u32, u32), Vec<Cast>> = BTreeMap::new();
    for &(i, j, verdict) in judged.verdicts.iter().filter(|_| people > 1) {
        if let Verdict::Answer { annotator, same } = verdict {
            votes.entry((i, j)).or_default().push((annotator as usize, same));
        }
    }
    let shared: Vec<Vec<Cast>> = votes.into_values().filter(|votes| votes.len() > 1).collect();
    if shared.is_empty() { vec![BEFORE; people] } else { error_rates(&shared, people, None) }
}

fn check_probability(name: &str, value: f64) -> Result<()> {
    if value > 0.0 && value < 1.0 {
        return Ok(());
    }
    Err(Error::Usage(format!("{name}: must be above 0 and below 1, got {value}")))
}

/// Log-odds of a probability; those of 0 and 1 are finite.
fn logit(p: f64) -> f64 {
    let p = p.clamp(1e-9, 1.0 - 1e-9);
    (p / (1.0 - p)).ln()
}

/// Clusters that judged pairs make at one threshold.
pub struct PairClusters {
    /// The threshold.
    pub threshold: f64,
    /// The cluster of each object.
    pub labels: Vec<u32>,
    /// Number of clusters.
    pub k: usize,
    /// The overruled verdicts.
    pub violations: Violations,
    /// Their total weight, and the costs of joined pairs without a verdict.
    pub objective: f64,
    /// Weight that every partition overrules. Equal to the objective if no partition is better.
    pub bound: f64,
    /// Cost of joining a pair without a verdict.
    unjudged: f64,
    /// Pairs that are not asked about again.
    unsure: HashSet<(u32, u32)>,
    /// The weighted verdicts, and the answers and groups with weights that no verdicts reach.
    evidence: Constraints,
}

impl PairClusters {
    /// The overruled verdicts, each with the chain that overrules it.
    ///
    /// # Errors
    /// `Cancelled`.
    pub fn overruled(&self, ctx: &Context) -> Result<Vec<Overruled>> {
        let cases = overruled::overruled(&self.evidence, &self.labels);
        cases.map(|case| ctx.check().map(|()| case)).collect()
    }

    /// The questions that may change the clusters, the one with the largest expected change first.
    pub fn questions(&self, most: usize) -> Vec<Doubt> {
        let mut all = overruled::doubts(&self.evidence, &self.labels, self.unjudged, &self.unsure);
        all.truncate(most);
        all
    }

    /// The bound in words.
    pub fn about_bound(&self) -> String {
        let gap = self.objective - self.bound;
        if gap <= 1e-9 * (1.0 + self.objective) {
            return "the optimum".into();
        }
        let share = 100.0 * gap / self.objective;
        format!("at least {:.4} is unavoidable, gap {share:.1} %", self.bound)
    }
}

/// The name of the column of labels at one of several thresholds.
pub fn threshold_column(threshold: f64) -> String {
    format!("threshold_{threshold}")
}

/// A chain in words: `a = b != c`. Empty if only pairs without a verdict speak against the overruled one.
pub fn chain(case: &Overruled, objects: &Dataset) -> String {
    let mut text = String::new();
    for (at, &object) in case.path.iter().enumerate() {
        let is_apart = at > 0 && case.apart == Some(at - 1);
        text += if at == 0 {
            ""
        } else if is_apart {
            " != "
        } else {
            " = "
        };
        text += &objects.id(object as usize);
    }
    match &case.group {
        Some(group) => format!("{text} (both {group})"),
        None => text,
    }
}

/// The pairs and what is known of them, in words.
pub fn summary(judged: &JudgedPairs, evidence: &Evidence<'_>) -> String {
    let (objects, rows) =
        (count(judged.objects.n(), "object"), count(judged.verdicts.len(), "row"));
    let mut text = format!("{objects}, {} judged in {rows}", count(evidence.pairs(), "pair"));
    if evidence.answers() > 0 {
        text += &format!(", {} in addition", count(evidence.answers(), "answer"));
    }
    text
}
