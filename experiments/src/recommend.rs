//! What did methods reach elsewhere with as many answers?
//!
//! The evidence is the rows of the studies in `atlas/`, which hold every candidate of `auto` and `auto`
//! itself on sets whose classes are known. What is read off them is a mean over sets: weighting the sets by
//! their likeness in size, features and clusters chose no better on sets left out.

use std::collections::BTreeMap;

use mustlink_config::{self as config, Node};
use mustlink_core::method::Method;
use mustlink_core::roles::Properties;
use mustlink_core::{Error, Result, Shape};
use serde::Serialize;
use serde_json::Value;

use crate::config::ResolvedMethod;
use crate::costs::{Costs, seconds_per_operation};
use crate::threads::thread_pool;

/// Methods of the studies that stand for a way of choosing, not for a method to use.
const WAYS: [&str; 3] = ["best-score-alone", "cvcp-folds", "cobs"];
const METHODS: &str = include_str!("../atlas/answers.toml");
const TRUE_ANSWERS: &str = include_str!("../atlas/answers.csv");
const DOUBTFUL_ANSWERS: &str = include_str!("../atlas/wrong-answers.csv");
/// An ARI so far below that of the best on a set is nearly the best.
const NEAR: f64 = 0.02;

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Answers about pairs; 0: methods that read none.
    pub answers: usize,
    /// Whether some answers may be wrong: a tenth of those of the study are.
    pub doubtful: bool,
    /// Whether the answers must hold: methods that promise it.
    pub hard: bool,
    /// Whether objects have weights: methods that take them.
    pub weighted: bool,
    /// Name of a set that is no evidence: the one that is asked about.
    pub leave_out: String,
}

/// What speaks for a method.
#[derive(Debug, Clone, Serialize)]
pub struct Recommended {
    /// Its name in the study.
    pub name: String,
    /// Its `transforms` and `clusterer`.
    pub method: Value,
    /// Mean ARI over the sets; one on which it never gave a result counts 0.
    pub ari: f64,
    /// The set on which it was worst, and the ARI there.
    pub least: (String, f64),
    /// The set on which it was best, and the ARI there.
    pub most: (String, f64),
    /// Sets on which at most .02 are missing to the best method.
    pub near_best: usize,
    /// Seconds of one run here on one thread, roughly.
    pub seconds: f64,
    /// Bytes of one run here on one thread, as the method declares.
    pub bytes: u64,
}

/// Methods by what they reached, the best first.
#[derive(Debug, Clone, Serialize)]
pub struct Recommendation {
    /// Number of answers in the study that the numbers are of: those nearest below and above.
    pub read_at: Vec<usize>,
    /// Sets the means are over.
    pub sets: usize,
    /// The methods.
    pub methods: Vec<Recommended>,
}

/// What the studies say of methods for data of this shape.
///
/// # Errors
/// `Data` for a study that cannot be read; `Plugin` for a method of it whose plugins are not linked; `Usage`
/// where no thread can be started.
pub fn recommend(wanted: &Wanted, shape: &Shape) -> Result<Recommendation> {
    let rows = if wanted.doubtful { DOUBTFUL_ANSWERS } else { TRUE_ANSWERS };
    let study = Study::read(rows, &wanted.leave_out)?;
    let (low, high) = study.around(wanted.answers);
    let share = if low == high {
        0.0
    } else {
        // ARI grows with the logarithm of their number, nearly.
        (wanted.answers as f64 / low as f64).ln() / (high as f64 / low as f64).ln()
    };
    let mut read_at = vec![low, high];
    read_at.dedup();
    let found: BTreeMap<&str, BTreeMap<&str, f64>> =
        study.methods().map(|m| (m, study.between(m, (low, high), share))).collect();
    let second = seconds_per_operation();
    // Where several threads hold something each, what is declared hangs on their number.
    let one_thread = thread_pool(Some(1))?;
    let mut methods = Vec::new();
    for (name, method) in methods_of_the_study()? {
        let Some(own) = found.get(&*name) else { continue };
        let resolved = resolve(&name, &method)?;
        if !suits(&resolved.method, wanted) {
            continue;
        }
        let costs = one_thread.install(|| Costs::new("data", shape, &resolved));
        let end = |worst: bool| {
            let by = |a: &(&&str, &f64), b: &(&&str, &f64)| a.1.total_cmp(b.1);
            let found = if worst { own.iter().min_by(by) } else { own.iter().max_by(by) };
            found.map_or((String::new(), 0.0), |(set, ari)| (set.to_string(), *ari))
        };
        let best = |set: &str| {
            found
                .values()
                .filter_map(|of| of.get(set))
                .fold(f64::NEG_INFINITY, |a: f64, &b| a.max(b))
        };
        methods.push(Recommended {
            ari: own.values().sum::<f64>() / own.len() as f64,
            least: end(true),
            most: end(false),
            near_best: own.iter().filter(|(set, ari)| **ari >= best(set) - NEAR).count(),
            seconds: costs.clusterer * second,
            bytes: costs.memory,
            name,
            method,
        });
    }
    methods.sort_by(|a, b| b.ari.total_cmp(&a.ari).then_with(|| a.name.cmp(&b.name)));
    Ok(Recommendation { read_at, sets: study.sets(), methods })
}

/// Whether a method does what is wanted.
fn suits(method: &Method, wanted: &Wanted) -> bool {
    let is = |fact: fn(&Properties) -> bool| {
        method.clusterer.as_ref().is_some_and(|c| fact(&c.properties()))
    };
    let promises = |p: &Properties| p.hard_if_marked || p.hard_must && p.hard_cannot;
    (wanted.answers > 0 || !method.reads_constraints())
        && (!wanted.hard || is(promises))
        && (!wanted.weighted || is(|p| p.object_weights))
}

fn resolve(name: &str, method: &Value) -> Result<ResolvedMethod> {
    let config = config::resolve::<Method>(&Node::synthetic(method))?;
    let built = config::instantiate(config.clone())
        .map_err(|message| Error::Plugin { tag: name.into(), message })?;
    Ok(ResolvedMethod { id: name.into(), method: built, k: None, config })
}

/// Name, transforms and clusterer of each method of the study.
fn methods_of_the_study() -> Result<Vec<(String, Value)>> {
    let broken = |message: String| Error::Data { place: "atlas/answers.toml".into(), message };
    let whole: Value = toml::from_str(METHODS).map_err(|e| broken(e.to_string()))?;
    let all = whole["method"].as_array().ok_or_else(|| broken("no methods".into()))?;
    let method = |m: &Value| {
        let name = m["id"].as_str().unwrap_or_default().to_string();
        let mut own = serde_json::Map::new();
        for key in ["transforms", "clusterer"] {
            m.get(key).map(|value| own.insert(key.into(), value.clone()));
        }
        (name, Value::Object(own))
    };
    Ok(all.iter().map(method).filter(|(name, _)| !WAYS.contains(&&**name)).collect())
}

/// Mean ARI by method, set and number of answers.
struct Study<'a> {
    means: BTreeMap<(&'a str, &'a str, usize), f64>,
}

impl<'a> Study<'a> {
    /// Rows of method, dataset, repeat, questions, ari, without those of a set.
    fn read(text: &'a str, leave_out: &str) -> Result<Self> {
        let mut sums: BTreeMap<(&str, &str, usize), (f64, f64)> = BTreeMap::new();
        for (at, line) in text.lines().enumerate().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            let read = match cells[..] {
                [method, set, _, questions, ari] => questions
                    .parse()
                    .ok()
                    .map(|q: usize| ((method, set, q), ari.parse::<f64>().ok())),
                _ => None,
            };
            let Some((key, ari)) = read else {
                let place = format!("the rows of the study, line {}", at + 1);
                return Err(Error::Data { place, message: format!("{line:?} is no row") });
            };
            if key.1 != leave_out && !WAYS.contains(&key.0) {
                // Without a result it is as good as chance; a mean of the rest would praise who refuses what is hard.
                let sum = sums.entry(key).or_default();
                *sum = (sum.0 + ari.unwrap_or(0.0), sum.1 + 1.0);
            }
        }
        let means = sums.into_iter().map(|(key, (sum, count))| (key, sum / count));
        Ok(Study { means: means.collect() })
    }

    fn methods(&self) -> impl Iterator<Item = &'a str> {
        let mut all: Vec<&str> = self.means.keys().map(|key| key.0).collect();
        all.dedup();
        all.into_iter()
    }

    fn sets(&self) -> usize {
        let all: std::collections::BTreeSet<&str> = self.means.keys().map(|key| key.1).collect();
        all.len()
    }

    /// The numbers of answers of the study that are nearest below and above; beyond its range one of them.
    fn around(&self, answers: usize) -> (usize, usize) {
        let mut all: Vec<usize> = self.means.keys().map(|key| key.2).collect();
        all.sort_unstable();
        all.dedup();
        let below = all.iter().rev().find(|&&q| q <= answers).or(all.first());
        let above = all.iter().find(|&&q| q >= answers).or(all.last());
        (below.copied().unwrap_or(0), above.copied().unwrap_or(0))
    }

    /// ARI of a method on each set, the share of the way from one number of answers to the other.
    fn between(
        &self,
        method: &'a str,
        (low, high): (usize, usize),
        share: f64,
    ) -> BTreeMap<&'a str, f64> {
        let of = |q: usize| self.means.iter().filter(move |(key, _)| key.0 == method && key.2 == q);
        let highs: BTreeMap<&str, f64> = of(high).map(|(key, ari)| (key.1, *ari)).collect();
        let both = |(key, ari): (&(&'a str, &'a str, usize), &f64)| {
            let high = highs.get(key.1).copied().unwrap_or(*ari);
            (key.1, ari + share * (high - ari))
        };
        of(low).map(both).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: &str = "method,dataset,repeat,questions,ari\n\
        a,one,0,20,0.2\na,one,1,20,0.7\na,one,2,20,\na,one,0,50,0.6\na,two,0,20,\na,two,0,50,0.5\n\
        b,one,0,20,0.1\nb,one,0,50,0.9\nb,two,0,20,0.3\nb,two,0,50,0.3\n";

    #[test]
    fn means_are_those_of_the_rows() {
        let study = Study::read(ROWS, "").unwrap();
        assert_eq!((study.sets(), study.methods().collect::<Vec<_>>()), (2, vec!["a", "b"]));
        // .2, .7 and no result on one set, on the other none at all.
        let found = study.between("a", (20, 20), 0.0);
        assert!((found["one"] - 0.3).abs() < 1e-12 && found["two"] == 0.0);
        // Half way to .6 and .5.
        let found = study.between("a", (20, 50), 0.5);
        assert!((found["one"] - 0.45).abs() < 1e-12 && (found["two"] - 0.25).abs() < 1e-12);
        for (answers, around) in [(0, (20, 20)), (20, (20, 20)), (30, (20, 50)), (99, (50, 50))] {
            assert_eq!(study.around(answers), around);
        }
        assert_eq!(Study::read(ROWS, "one").unwrap().sets(), 1);
        let error = Study::read("head\na,b\n", "").err().unwrap().to_string();
        assert!(error.contains("line 2"), "{error}");
    }

    #[test]
    fn every_method_of_the_study_has_its_rows() {
        for rows in [TRUE_ANSWERS, DOUBTFUL_ANSWERS] {
            let study = Study::read(rows, "").unwrap();
            let named: Vec<String> =
                methods_of_the_study().unwrap().into_iter().map(|(name, _)| name).collect();
            for method in study.methods() {
                assert!(named.iter().any(|name| name == method), "{method}");
            }
        }
    }
}
