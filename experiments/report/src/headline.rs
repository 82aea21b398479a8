//! The summary at the top of the page: the best method and by how much, whether chance may explain it, what failed,
//! and where answers hurt. It repeats what the tests found, in plain words.

use std::collections::{BTreeMap, BTreeSet};

use mustlink_core::text::count;
use mustlink_experiments::Experiment;
use mustlink_experiments::row::Row;

use crate::columns::{Made, columns, directions, percent};
use crate::learning_curve::mean_text;
use crate::sheet::{difference, few};
use crate::significance::{LEVEL, Significance, TIE, shown_p};
use crate::statistics::effect::effect_in;
use crate::supervision::Supervision;

/// A fact of the summary: its name, its text, and the id of the section with the details. The first fact has no name.
pub(crate) type Fact = (String, String, Option<&'static str>);

/// The summary of a study with `finished` cells; `failed` are the first rows of those that failed.
pub(crate) fn headline(
    experiment: &Experiment,
    made: &Made<'_>,
    significance: &[Significance],
    supervision: &Supervision,
    failed: &[(&str, &Row)],
    finished: usize,
) -> Vec<Fact> {
    let ranked = experiment.columns().iter().zip(directions(experiment)).filter(|c| c.1.is_some());
    let mut out: Vec<Fact> = Vec::new();
    let mut others: Vec<Fact> = Vec::new();
    for (metric, _) in ranked {
        let [lead, facts @ ..] = lead(experiment, made, significance, metric);
        if !out.is_empty() {
            others.push((format!("By {metric}"), lead, None));
            continue;
        }
        let by = if experiment.columns().len() > 1 { format!("By {metric}: ") } else { "".into() };
        out.push((String::new(), by + &lead, None));
        let names = ["By how much", "Tests", "Each data set alone"].map(String::from);
        let facts = names.into_iter().zip(facts).filter(|fact| !fact.1.is_empty());
        out.extend(facts.map(|(name, text)| (name, text, None)));
    }
    let target = (!failed.is_empty()).then_some("failed");
    out.push(("Failed".into(), failures(failed, finished), target));
    let hurt = supervision.finding();
    out.extend(hurt.map(|hurt| ("Answers hurt".into(), hurt, Some("supervision"))));
    out.extend(others);
    out
}

/// Four texts about one metric: the best method, how far it leads, what the tests show, and each data set alone.
fn lead(
    experiment: &Experiment,
    made: &Made<'_>,
    significance: &[Significance],
    metric: &str,
) -> [String; 4] {
    let mut all = columns(experiment, made.curves, true).into_iter();
    let column = all.find(|c| c.metric == metric && c.is_compared(made.curves));
    let sets = experiment.datasets.iter().map(|d| d.id.as_str());
    let leaders = sets.filter_map(|set| Some((set, column.as_ref()?.leaders(made, set)?)));
    let leaders: Vec<_> = leaders.collect();
    let mut winners: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (set, l) in leaders.iter().filter(|(_, l)| l.significant) {
        winners.entry(&l.best.0).or_default().push(set);
    }
    let rest = leaders.len() - winners.values().map(Vec::len).sum::<usize>();
    let named = winners.iter().map(|(who, sets)| format!("{who} ({}); ", few(sets)));
    let named = named.collect::<String>();
    let named = if named.is_empty() { named } else { format!("significant leads: {named}") };
    let sets = count(leaders.len(), "data set");
    let alone = match leaders.is_empty() {
        true => String::new(),
        false => format!("{named}on {rest} of {sets} the lead may be chance."),
    };
    match (significance.iter().find(|s| s.metric == metric), &leaders[..]) {
        (Some(found), _) => {
            let [lead, tests] = found.finding();
            [lead, found.lead(), tests, alone]
        }
        (None, [(set, l)]) => {
            let (best, next) = (few(&[&l.best.0]), few(&[&l.next.0]));
            let means = [l.best.1, l.next.1].map(|mean| mean_text(mean, None));
            let lead = if l.significant {
                format!("{best} is significantly better than the next, {next}, on {set}.")
            } else {
                format!(
                    "{best} has the best mean on {set}, but its lead over {next} may be chance."
                )
            };
            let by = format!("mean {} and {}.", means[0], means[1]);
            [lead, by, String::new(), String::new()]
        }
        _ if experiment.methods.len() == 1 => {
            ["There is one method, so nothing is compared.", "", "", ""].map(String::from)
        }
        _ => {
            let lead = "No method can be called the best, because too few scores are complete.";
            [lead.into(), String::new(), String::new(), alone]
        }
    }
}

/// Which cells failed, by method.
fn failures(failed: &[(&str, &Row)], finished: usize) -> String {
    let mut sets: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    failed.iter().for_each(|(_, row)| {
        sets.entry(&row.method).or_default().insert(&row.dataset);
    });
    let named = sets
        .into_iter()
        .map(|(method, sets)| format!("{method} ({})", few(&sets.into_iter().collect::<Vec<_>>())));
    let cells = count(finished, "cell");
    match failed.len() {
        0 => format!("none of {cells}."),
        n => format!("{n} of {cells}: {}.", named.collect::<Vec<_>>().join("; ")),
    }
}

impl Significance {
    /// Two texts in plain words: the method with the best mean rank and whether its lead may be chance, then
    /// what the tests show.
    pub(crate) fn finding(&self) -> [String; 2] {
        let best = &self.methods[0];
        let first = self.methods.iter().filter(|m| m.rank - best.rank < TIE);
        let first: Vec<&str> = first.map(|m| m.method.as_str()).collect();
        let verb = if first.len() > 1 { "share" } else { "has" };
        let first = format!("{} {verb} the best mean rank", few(&first));
        let p = shown_p(self.aligned.p);
        if self.aligned.p >= LEVEL {
            return [
                format!("{first}, but this may be chance."),
                format!("by aligned ranks the methods do not differ significantly (p {p})."),
            ];
        }
        let control = self.methods.iter().find(|m| m.against_best.is_none()).unwrap_or(best);
        // The difference of aligned ranks, `by`, is above 0 if the method is worse than the control.
        let of = |keep: &dyn Fn(bool, f64) -> bool| {
            let kept = self.methods.iter().filter(|m| {
                let by = m.aligned_rank - control.aligned_rank;
                m.against_best.is_some_and(|a| keep(a.2 < LEVEL, by))
            });
            kept.map(|m| m.method.as_str()).collect::<Vec<_>>()
        };
        let worse = of(&|shown, by| shown && by > 0.0);
        let better = of(&|shown, by| shown && by <= 0.0);
        let same = of(&|shown, _| !shown);
        let name = few(&[&control.method]);
        let part = |what: &str, names: &[&str]| {
            (!names.is_empty()).then(|| format!("{what}: {}", few(names)))
        };
        let parts = [
            part("significantly better", &better),
            part("significantly worse", &worse),
            part("not significantly different", &same),
        ];
        let parts = parts.into_iter().flatten().collect::<Vec<_>>().join("; ");
        let others = match &same[..] {
            [one] => few(&[one]),
            all if all.len() + 1 == self.methods.len() => format!("all {} others", all.len()),
            some => format!("{} of the {} others", some.len(), self.methods.len() - 1),
        };
        let lead = match best.against_best {
            Some((_, _, p)) if p < LEVEL && better.contains(&best.method.as_str()) => {
                format!("{first} and is significantly better than the control, {name}.")
            }
            Some(_) => format!("{first}, but its lead over the control, {name}, may be chance."),
            None if !same.is_empty() => {
                format!("{first}, but its lead over {others} may be chance.")
            }
            None if better.is_empty() => {
                format!("{name} is the best method: significantly better than {}.", few(&worse))
            }
            None => format!("{first}."),
        };
        [
            lead,
            format!(
                "by aligned ranks the methods differ significantly (p {p}). Compared with {name}, {parts}."
            ),
        ]
    }

    /// How far the method with the best mean rank is ahead of the next: the typical difference, with its interval if
    /// there are enough data sets, and the means.
    pub(crate) fn lead(&self) -> String {
        let [best, next, ..] = &self.methods[..] else { return String::new() };
        let means: Vec<f64> = (0..self.methods.len()).map(|at| self.mean(at)).collect();
        let (better, _, worse) = self.record(0, 1);
        let sign = if self.higher_is_better { 1.0 } else { -1.0 };
        let pairs = self.scores[0].iter().zip(&self.scores[1]);
        let differences: Vec<f64> = pairs.map(|(a, b)| sign * (a - b)).collect();
        let effect = effect_in(self.unit(), &differences, self.level);
        let ahead = effect.map_or(0.0, |e| e.shift);
        let interval = effect.and_then(|e| e.interval).map(|(low, high)| {
            let level = percent(self.level);
            format!(" ({level} % interval {} to {})", difference(low), difference(high))
        });
        let mut text = format!(
            "{} is typically {} the next, {}{}: mean {}{} {} and {}; better on {better} and worse on {worse} of {}",
            few(&[&best.method]),
            if ahead > TIE {
                format!("{} ahead of", difference(ahead))
            } else {
                "not ahead of".into()
            },
            few(&[&next.method]),
            interval.unwrap_or_default(),
            self.metric,
            if self.area { " over the whole curve" } else { "" },
            mean_text(means[0], None),
            mean_text(means[1], None),
            count(self.sets.len(), "data set"),
        );
        let most =
            (0..means.len()).max_by(|a, b| (sign * means[*a]).total_cmp(&(sign * means[*b])));
        if let Some(most) = most.filter(|most| sign * (means[*most] - means[0]) > TIE) {
            let (name, mean) = (few(&[&self.methods[most].method]), mean_text(means[most], None));
            text += &format!(". {name} has the best mean, {mean}, but not the best ranks");
        }
        if !self.left_out.is_empty() {
            text += &format!(
                ". Data sets left out because a method has no score on them: {}",
                few(&self.left_out)
            );
        }
        text + "."
    }
}
