//! The methods paragraph of a paper, in plain English, from the resolved configuration.

use std::collections::BTreeSet;
use std::fmt::Write;

use mustlink_config::resolve_plugin;
use mustlink_core::registry::Catalogue;
use serde_json::Value;

use crate::citation::references;
use crate::columns::{observations, percent};
use crate::significance::Significance;
use mustlink_experiments::Facts;
use mustlink_experiments::Split;
use mustlink_experiments::statistics::Unit;
use mustlink_experiments::{DatasetEntry, Exclude, Experiment, Points, Scope};

/// `a, b and c`.
fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

fn count(n: usize, word: &str) -> String {
    if n == 1 { format!("one {word}") } else { format!("{n} {word}s") }
}

/// Options that are named at their defaults, too: readers ask for them.
const NAMED: [&str; 3] = ["weight", "weighting", "weights"];

/// A plugin with what it cites, the plugins it holds, and its options that are not at their defaults.
fn plugin(value: &Value) -> Option<String> {
    let tag = value.get("type").and_then(Value::as_str)?;
    let Some(d) = Catalogue::get().ok()?.find(tag) else { return Some(tag.into()) };
    let default = resolve_plugin(&d.default_config()).unwrap_or_default();
    let option = |(key, v): (&String, &Value)| {
        let held = match v {
            Value::Array(items) if !items.is_empty() => items.iter().map(plugin).collect(),
            other => plugin(other).map(|one| vec![one]),
        };
        match held {
            Some(held) => Some(format!("{key} {}", held.join(", "))),
            None if key == "type" || v.is_null() => None,
            None if default.get(key) == Some(v) && !NAMED.contains(&key.as_str()) => None,
            None => Some(format!("{key} = {}", v.as_str().map_or(v.to_string(), str::to_string))),
        }
    };
    let options: Vec<String> = value.as_object()?.iter().filter_map(option).collect();
    let with =
        if options.is_empty() { String::new() } else { format!(" ({})", options.join(", ")) };
    Some(match references(d, value).as_slice() {
        [] => format!("{tag}{with}"),
        keys => format!("{tag} [{}]{with}", keys.join(", ")),
    })
}

/// `, transforms z_score`, after what they are of; nothing without any.
fn transforms(value: &Value) -> String {
    let all: Vec<String> = value.as_array().into_iter().flatten().filter_map(plugin).collect();
    if all.is_empty() { String::new() } else { format!(", transforms {}", list(&all)) }
}

/// Description of the held-out objects; `told` if there are questions or constraints.
fn split(split: &Split, told: bool) -> String {
    let times = |repeats: usize| match repeats {
        1 => String::new(),
        n => format!(", {n} times with other random numbers"),
    };
    let from_training =
        if told { " Questions and constraints came from the training objects alone." } else { "" };
    match split {
        Split::All { repeats } => {
            format!("No objects were held back{}.", times(*repeats))
        }
        Split::Holdout { test_fraction, repeats, stratified } => format!(
            "{}{} test set of {} % of the objects was drawn at random.{from_training}",
            if *repeats == 1 { "A".to_string() } else { format!("In each of {repeats} repeats a") },
            if *stratified { " stratified" } else { "" },
            percent(*test_fraction)
        ),
        Split::Kfold { folds, repeats, stratified } => format!(
            "Methods were evaluated by {}{folds}-fold cross-validation{}.{from_training}",
            if *stratified { "stratified " } else { "" },
            times(*repeats)
        ),
    }
}

/// The paragraph; `data` are the data sets as they were read.
pub(crate) fn paragraph(
    experiment: &Experiment,
    data: &[Facts],
    significance: &[Significance],
    cells: (usize, usize),
) -> String {
    let mut out = String::new();
    let sets: Vec<String> = experiment
        .datasets
        .iter()
        .filter(|d| data.is_empty() || data.iter().any(|f| f.dataset == d.id))
        .map(|d| match data.iter().find(|f| f.dataset == d.id) {
            Some(f) => {
                let classes = f.classes.map_or(String::new(), |c| format!(", {c} classes"));
                let transforms = transforms(&d.transforms);
                format!("{} ({} objects, {} features{classes}{transforms})", d.id, f.n, f.d)
            }
            None => d.id.clone(),
        })
        .collect();
    let _ = write!(
        out,
        "We compared {} on {}: {}. ",
        count(experiment.methods.len(), "method"),
        count(sets.len(), "data set"),
        list(&sets)
    );
    let methods: Vec<String> = experiment
        .methods
        .iter()
        .map(|m| {
            let parts: Vec<String> =
                [("clusterer", "clusterer"), ("selector", "questions chosen by")]
                    .into_iter()
                    .filter_map(|(key, word)| Some(format!("{word} {}", plugin(&m.config[key])?)))
                    .collect();
            let mut text = parts.join("; ") + &transforms(&m.config["transforms"]);
            if m.asks() {
                for key in ["on_conflict", "view"] {
                    if let Some(value) = m.config[key].as_str() {
                        text += &format!("; {key} {value}");
                    }
                }
            }
            format!("{} ({text})", m.id)
        })
        .collect();
    let _ = write!(out, "The methods were {}. ", list(&methods));
    let ks: BTreeSet<String> = experiment
        .methods
        .iter()
        .map(|m| {
            // What a clusterer names itself holds for it.
            let own = &m.config["clusterer"]["k"];
            match if own.is_null() { &m.config["k"] } else { own } {
                Value::String(s) if s == "classes" => "the number of classes".to_string(),
                Value::String(s) if s == "unknown" => "left to the method".to_string(),
                Value::String(s) => format!("the number of {s}"),
                other => other.to_string(),
            }
        })
        .collect();
    let _ = write!(
        out,
        "The number of clusters was {}. ",
        ks.into_iter().collect::<Vec<_>>().join(" or ")
    );
    let given = |d: &DatasetEntry| d.constraints.is_some() || d.labels.is_some();
    let told = experiment.methods.iter().any(|m| m.asks()) || experiment.datasets.iter().any(given);
    out += &split(&experiment.split, told);
    out.push(' ');
    let asking: Vec<&Value> = experiment
        .methods
        .iter()
        .map(|m| &m.config)
        .filter(|c| c.get("selector").is_some_and(|s| !s.is_null()))
        .collect();
    if !asking.is_empty() {
        let oracles: BTreeSet<String> = asking
            .iter()
            .filter_map(|c| match c["oracle"]["type"].as_str()? {
                "truth" => Some("from the classes of the data".to_string()),
                _ => Some(format!("by the oracle {}", plugin(&c["oracle"])?)),
            })
            .collect();
        let points = match (&experiment.points, experiment.points.numbers()) {
            (_, Err(_)) => "as many questions as one of them asked".to_string(),
            (Points::Range(_), Ok(p)) if p.len() > 4 => {
                format!("{}, {}, …, {} questions", p[0], p[1], p[p.len() - 1])
            }
            (_, Ok(points)) => {
                let texts: Vec<String> = points.iter().map(usize::to_string).collect();
                format!("{} questions", list(&texts))
            }
        };
        let _ = write!(
            out,
            "Methods that ask were scored after {points}; questions were answered {}. ",
            list(&oracles.into_iter().collect::<Vec<_>>())
        );
    }
    let metrics: Vec<String> = experiment
        .columns()
        .iter()
        .zip(&experiment.scoring.metrics)
        .map(|(column, metric)| {
            let config = serde_json::to_value(metric).unwrap_or_default();
            let named = plugin(&config).unwrap_or_else(|| column.clone());
            let facts = metric.properties();
            match (facts.ranked, facts.higher_is_better) {
                (false, _) => named,
                (true, true) => format!("{named} (more is better)"),
                (true, false) => format!("{named} (less is better)"),
            }
        })
        .collect();
    let scope = match (experiment.scoring.scope, experiment.split.has_test()) {
        (Scope::Test, true) => "the test objects",
        (Scope::Train, true) => "the training objects",
        _ => "all objects",
    };
    let leaving: Vec<String> = match experiment.scoring.exclude_constrained {
        Exclude::Explicit => experiment.leaving_out().into_iter().map(str::to_string).collect(),
        Exclude::None => Vec::new(),
    };
    let without = match &leaving[..] {
        [] => String::new(),
        some => format!(", pairs that were given or asked left out of {}", list(some)),
    };
    let _ = write!(out, "We report {} of {scope}{without}. ", list(&metrics));
    let unit = match experiment.stats.unit {
        Unit::Repeat if experiment.split.folds() > 1 => {
            "repeats, the folds of a repeat averaged first"
        }
        Unit::Fold if experiment.split.folds() > 1 => "folds",
        _ => "repeats",
    };
    if observations(experiment) > 1 {
        let level = percent(experiment.stats.level);
        let _ = write!(out, "Intervals are {level} % t intervals over {unit}. ");
    }
    if experiment.methods.len() > 1 && experiment.split.repeats() * experiment.split.folds() > 1 {
        let _ = write!(
            out,
            "A best mean is marked if a paired t test against the next best rejects at 5 % after Holm's \
             adjustment over all other methods{}. ",
            match &experiment.split {
                Split::All { .. } => "",
                _ =>
                    ", with the variance corrected for overlapping training sets [NadeauBengio2003]",
            }
        );
    }
    if let Some(first) = significance.first() {
        let value =
            if first.area { "the area under each curve" } else { "the score at the last point" };
        let _ = write!(
            out,
            "Over the data sets, methods were compared by {value}, with Friedman's test, that of Iman and \
             Davenport and that on aligned ranks with Holm's adjustment {} [Garcia2010], Nemenyi's \
             critical difference [Demsar2006], Wilcoxon's signed-rank test with Holm's adjustment over all \
             pairs, and its Bayesian form [Benavoli2017]; the chance of each to be the best is that of the \
             Plackett–Luce model on their ranks [RojasDelgado2022, CaronDoucet2012]. ",
            match &first.control {
                Some(control) => format!("over the comparisons with {control}"),
                None => "over all pairs".into(),
            }
        );
        if first.has_next() {
            let folds = experiment.split.folds();
            let _ = write!(
                out,
                "For a next data set, differences of folds, correlated by 1/{folds}, were compared by a hierarchical \
                 Bayesian model [Corani2017]. "
            );
        }
    }
    let _ = write!(
        out,
        "All random numbers derive from the seed {}. Results were made with mustlink {} [mustlink]",
        experiment.head.seed,
        env!("CARGO_PKG_VERSION")
    );
    let (finished, all) = cells;
    if finished < all {
        let _ = write!(out, "; {finished} of {all} cells are finished.");
    } else {
        out.push('.')
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn shares_are_round_and_one_repeat_is_no_each() {
        let text = "[experiment]\nname = \"t\"\n[[dataset]]\nid = \"iris\"\n[stats]\nlevel = 0.683\n\
                    [scoring]\nmetrics = [\"ari\", \"pair_f\"]\nexclude_constrained = \"explicit\"\n\
                    [split]\ntype = \"holdout\"\ntest_fraction = 0.07\n\
                    [[method]]\nid = \"plain\"\nclusterer = \"kmeans\"\n";
        let experiment = Experiment::parse("t.toml", text, Path::new("."), &[]).unwrap();
        let said = paragraph(&experiment, &[], &[], (1, 1));
        let alone = " A test set of 7 % of the objects was drawn at random. We report";
        assert!(said.contains(alone), "{said}");
        assert!(!said.contains("Intervals") && !said.contains("A best mean"), "{said}");
        // A holdout has no folds, whatever is counted.
        let more = text
            .replace("test_fraction", "repeats = 3\ntest_fraction")
            .replace("[stats]", "[stats]\nunit = \"fold\"")
            + "[[method]]\nid = \"two\"\nclusterer = { type = \"kmeans\", k = 2 }\n";
        let experiment = Experiment::parse("t.toml", &more, Path::new("."), &[]).unwrap();
        let said_more = paragraph(&experiment, &[], &[], (6, 6));
        for part in [
            "The number of clusters was 2 or the number of classes. ",
            "Intervals are 68.3 % t intervals over repeats. A best mean is marked if",
        ] {
            assert!(said_more.contains(part), "{part:?} is not in: {said_more}");
        }
        assert!(
            said.contains("objects, pairs that were given or asked left out of pair_f. "),
            "{said}"
        );
    }

    #[test]
    fn the_paragraph_says_what_was_done() {
        let text = "[experiment]\nname = \"t\"\nseed = 7\n[[dataset]]\nid = \"iris\"\ntransforms = [\"z_score\"]\n[curve]\npoints = [0, 10, 20]\n\
                    [split]\ntype = \"kfold\"\nfolds = 5\nrepeats = 3\nstratified = true\n\
                    [scoring]\nmetrics = [\"ari\", \"vi\"]\n\
                    [[method]]\nid = \"plain\"\nclusterer = { type = \"ensemble\", generator = { type = \"random_init\", members = 7 } }\n\
                    [[method]]\nid = \"asked\"\nclusterer = \"pck_means\"\nselector = \"random_pairs\"\n\
                    oracle = { type = \"noisy\", flip = 0.1 }\n";
        let text = text.replace(", flip = 0.1", "");
        let experiment = Experiment::parse("t.toml", &text, Path::new("."), &[]).unwrap();
        let facts =
            Facts { dataset: "iris".into(), n: 150, d: 4, classes: Some(3), digest: String::new() };
        let said = paragraph(&experiment, &[facts], &[], (6, 30));
        for part in [
            "We compared 2 methods on one data set: iris (150 objects, 4 features, 3 classes, transforms z_score).",
            "plain (clusterer ensemble [StrehlGhosh2002] (consensus voting [DudoitFridlyand2003, Zhang2022] (weights = constraints)",
            "generator random_init [StrehlGhosh2002, FredJain2005] (clusterer kmeans",
            "ArthurVassilvitskii2007], members = 7))",
            "Greene2007] (weight = auto); questions",
            "random_pairs [Basu2004]; on_conflict keep_first; view neighbourhood)",
            "asked (clusterer pck_means [Basu2004",
            "stratified 5-fold cross-validation, 3 times with other random numbers. Questions and constraints",
            "after 0, 10 and 20 questions; questions were answered",
            "by the oracle noisy",
            "ari [HubertArabie1985",
            "(less is better) of the test objects",
            "95 % t intervals over repeats, the folds of a repeat averaged first.",
            "derive from the seed 7.",
            "6 of 30 cells are finished.",
        ] {
            assert!(said.contains(part), "{part:?} is not in: {said}");
        }
    }
}
