//! Clusters of objects of which only judged pairs are known, for the command line and Python.

use std::collections::BTreeMap;
use std::path::Path;

use mustlink_core::closure::{Closure, OnConflict};
use mustlink_core::clustering::{NONE, compact};
use mustlink_core::constraints::{Duplicates, Strength, Violations};
use mustlink_core::overruled::{self, Doubt, Overruled};
use mustlink_core::roles::{BaseClusterer, RoleObject};
use mustlink_core::{Constraint, Constraints, Context, Data, Error, Group, Kind, Problem, Result};
use mustlink_core::{run, text::count};
use mustlink_datasets::{
    Dataset, JudgedPairs, Verdict, column_names, read_answers, read_constraints,
};
use mustlink_kernels::agreement::annotators::{BEFORE, Cast, error_rates, log_odds};
use ndarray::Array2;
use serde_json::json;

/// Largest number of objects in a part that is solved exactly.
const EXACT: usize = 12;

/// Log-odds that no verdict can have; the weight of answers is larger.
const CERTAIN: f64 = 1000.0;

/// The answers in a file of constraints or an answered sheet, and in a ledger. They win over verdicts.
///
/// # Errors
/// Those of reading; `Data` for ids that no pair has.
pub fn answers(
    objects: &Dataset,
    file: Option<&str>,
    ledger: Option<&Path>,
    ctx: &Context,
) -> Result<Constraints> {
    let n = objects.n();
    let mut all = match file {
        None => Constraints::default(),
        Some(file) if column_names(file)?.is_some_and(|names| names.contains(&"answer".into())) => {
            let answers = read_answers(file, objects, true)?.into_iter();
            let pairs = answers.filter_map(|a| Some(Constraint::new(a.i, a.j, a.reply.kind()?)));
            Constraints::new(n, pairs)?
        }
        Some(file) => read_constraints(file, objects, true)?,
    };
    if let Some(ledger) = ledger {
        let (answers, notices) = mustlink_ledger::answers(ledger, &objects.scene(ctx.clone()))?;
        notices.into_iter().for_each(|text| ctx.warn(text));
        let pairs = answers.into_iter().filter_map(|a| {
            let (i, j) = (a.subject as usize, a.reference as usize);
            Some(Constraint::new(i, j, a.answer.reply.kind()?))
        });
        all = all.union(&Constraints::new(n, pairs)?, n)?;
    }
    Ok(all)
}

/// Evidence about each pair, as log-odds.
pub struct Evidence<'a> {
    objects: &'a Dataset,
    /// The pairs in ascending order, with the log-odds that both objects are the same.
    odds: Vec<((u32, u32), f64)>,
    /// Answers, which win.
    answers: Constraints,
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
    /// With answers it is 0.5, because answers join objects whose pairs without a verdict would not be counted.
    ///
    /// Several verdicts about a pair add up. An annotator is as reliable as the annotators' agreement on common pairs
    /// shows, otherwise right in three of four cases. An answer of weight w below 1 that is marked soft is a verdict
    /// with the probability (1 + w) / 2.
    ///
    /// # Errors
    /// `Usage` for a number out of range.
    pub fn new(
        judged: &'a JudgedPairs,
        answers: Constraints,
        prior: f64,
        join_cost: f64,
        unjudged: Option<f64>,
    ) -> Result<Self> {
        check_probability("prior", prior)?;
        let is_score =
            |(_, _, verdict): &(u32, u32, Verdict)| matches!(verdict, Verdict::Probability(_));
        let no_answers = answers.is_empty();
        let default = if no_answers && judged.verdicts.iter().any(is_score) { 0.4 } else { 0.5 };
        let unjudged = unjudged.unwrap_or(default);
        if unjudged < 0.5 && !no_answers {
            let message = format!("unjudged: must be 0.5 if there are answers, got {unjudged}");
            return Err(Error::Usage(message));
        }
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
            Verdict::Probability(p) => Some(((i, j), logit(p))),
            Verdict::Answer { annotator, same } => {
                Some(((i, j), sign(same, log_odds(errors[annotator as usize]))))
            }
            Verdict::Unsure => None,
        };
        let is_soft = |c: &&Constraint| c.strength == Some(Strength::Soft);
        let soft = answers.listed().iter().filter(is_soft).map(|c| {
            let odds = logit((1.0 + c.weight.min(1.0)) / 2.0);
            ((c.i, c.j), sign(c.kind == Kind::MustLink, odds))
        });
        let mut rows: Vec<((u32, u32), f64)> =
            judged.verdicts.iter().filter_map(verdict).chain(soft).collect();
        rows.sort_by_key(|row| row.0);
        let sum = |of_pair: &[((u32, u32), f64)]| {
            let verdicts: f64 = of_pair.iter().map(|row| row.1).sum();
            (of_pair[0].0, verdicts + logit(prior))
        };
        let odds = rows.chunk_by(|a, b| a.0 == b.0).map(sum).collect();
        let answers = answers.facts().into_owned();
        let (objects, cost) = (&judged.objects, join_cost.ln());
        Ok(Evidence { objects, odds, answers, cost, unjudged: (-logit(unjudged)).max(0.0) })
    }

    /// Number of pairs with an opinion.
    pub fn pairs(&self) -> usize {
        self.odds.len()
    }

    /// Number of answers.
    pub fn answers(&self) -> usize {
        self.answers.len()
    }

    /// Clusters that overrule verdicts of little weight, if a pair is the same from the probability `threshold` on.
    ///
    /// # Errors
    /// `Usage` for a threshold out of range; `InconsistentConstraints` if answers contradict each other;
    /// `TooManyGroupPairs` for large groups; those of the clusterer.
    pub fn cluster(&self, threshold: f64, ctx: &Context) -> Result<PairClusters> {
        check_probability("threshold", threshold)?;
        let n = self.objects.n();
        let verdict = |&((i, j), odds): &((u32, u32), f64)| {
            let weight = odds - logit(threshold) - self.cost;
            let kind = if weight > 0.0 { Kind::MustLink } else { Kind::CannotLink };
            Constraint::new(i as usize, j as usize, kind).weighing(weight.abs())
        };
        let verdicts: Vec<Constraint> = self.odds.iter().map(verdict).collect();
        let certain = CERTAIN + verdicts.iter().map(|c| c.weight).sum::<f64>();
        let answers = self.answers.listed().iter().map(|c| c.weighing(certain));
        let listed = Constraints::new(n, verdicts.iter().copied().chain(answers.clone()))?;
        let parts = Closure::new(&listed, n, OnConflict::Keep)?;
        let mut apart = self.apart(&parts, certain);
        let given = self.answers.groups().iter();
        apart.extend(given.map(|group| Group { weight: certain, ..group.clone() }));
        let all = listed.with_groups(n, apart.iter().cloned())?;
        all.check_group_pairs("apart")?;
        let given = Constraints::new(n, answers)?.with_groups(n, apart)?;
        let units = Closure::new(&given, n, OnConflict::Error).map_err(|source| {
            let message = source.render(&|i| self.objects.id(i));
            Error::Named { message, source: Box::new(source) }
        })?;
        let problem = of_units(&all, &units)?;
        let tag = "correlation_clustering";
        let method = json!({ "type": tag, "exact_size": EXACT, "unjudged": self.unjudged });
        let method = <dyn BaseClusterer as RoleObject>::from_value(method).map_err(Error::Usage)?;
        let found = run::cluster(&*method, &problem, ctx)?.clustering.labels;
        let found = overruled::settled(&problem.constraints, &found, self.unjudged);
        let of_objects: Vec<u32> = (0..n).map(|i| found[units.component(i)]).collect();
        let (labels, k) = compact(&of_objects);
        let silent = |labels: &[u32]| match self.unjudged {
            0.0 => 0.0,
            cost => cost * overruled::joined_unjudged(&problem.constraints, labels) as f64,
        };
        // Small parts have their optimum; in the others, only the bound cannot be avoided.
        let closure = problem.closure(OnConflict::Keep)?;
        let is_large = |part: usize| closure.members(part).len() > EXACT;
        let is_open = |unit: usize| is_large(closure.component(unit));
        let open: Vec<u32> =
            (0..problem.n()).map(|u| if is_open(u) { found[u] } else { NONE }).collect();
        let violated = problem.constraints.violated(&found).filter(|c| is_open(c.i as usize));
        let above_zero = violated.fold(silent(&open), |sum, c| sum + c.weight);
        let avoidable = (above_zero - overruled::least_violated(&closure, is_large)).max(0.0);
        let violations = all.violations(&labels);
        let objective = violations.must_weight + violations.cannot_weight + silent(&found);
        let bound = (objective - avoidable).max(0.0);
        let unjudged = self.unjudged;
        Ok(PairClusters {
            threshold,
            labels,
            k,
            violations,
            objective,
            bound,
            unjudged,
            evidence: all,
        })
    }

    /// The groups of the objects, within the parts that must-links join: others are apart anyway.
    fn apart(&self, parts: &Closure, weight: f64) -> Vec<Group> {
        let mut members: BTreeMap<(usize, usize), Vec<u32>> = BTreeMap::new();
        for (at, group) in self.objects.apart.iter().enumerate() {
            for &i in &group.members {
                members.entry((at, parts.component(i as usize))).or_default().push(i);
            }
        }
        let several = members.into_iter().filter(|(_, members)| members.len() > 1);
        let name = |at: usize| self.objects.apart[at].name.clone();
        several.map(|((at, _), i)| Group { weight, ..Group::new(name(at), i) }).collect()
    }
}

/// The problem in which the objects of a component of `units` are one.
fn of_units(all: &Constraints, units: &Closure) -> Result<Problem> {
    let k = units.components();
    let moved = all.listed().iter().map(|c| {
        let [i, j] = [c.i, c.j].map(|i| units.component(i as usize));
        Constraint::new(i, j, c.kind).weighing(c.weight)
    });
    let between = Constraints::with_duplicates(k, moved.filter(|c| c.i != c.j), Duplicates::Sum)?;
    let groups = all.groups().iter().map(|group| {
        let members = group.members.iter().map(|&i| units.component(i as usize) as u32);
        Group { weight: group.weight, ..Group::new(group.name.clone(), members.collect()) }
    });
    let between = between.with_groups(k, groups)?;
    Ok(Problem::new(Data::dense(Array2::zeros((k, 1)))?).with_constraints(between))
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
    /// The cluster of each object, in order of their first objects.
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
    /// The weighted verdicts, and the answers and groups with weights that no verdicts reach.
    evidence: Constraints,
}

impl PairClusters {
    /// The overruled verdicts, each with the chain that overrules it.
    pub fn overruled(&self) -> Vec<Overruled> {
        overruled::overruled(&self.evidence, &self.labels)
    }

    /// The questions that may change the clusters, the one with the largest expected change first.
    pub fn questions(&self, most: usize) -> Vec<Doubt> {
        let mut all = overruled::doubts(&self.evidence, &self.labels, self.unjudged);
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
