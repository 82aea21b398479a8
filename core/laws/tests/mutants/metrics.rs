//! The share of pairs that clusters and classes agree about, sound but for one flaw.

use std::collections::BTreeMap;

use mustlink_core::prelude::*;
use serde_json::json;

use crate::shared::{Caught, checked, clock, flaws, tried};

/// Agreement about pairs, those in one class counted apart.
#[options]
pub struct FlawedMetric {
    /// Name of the flaw.
    pub flaw: String,
    /// Weight of pairs in one class or cluster compared with the others.
    #[option(default = 1.0, above = 0.0, max = 100.0)]
    pub together: f64,
    /// Power of the result.
    #[option(default = 1.0, above = 0.0, max = 10.0)]
    pub power: f64,
}

const FLAWS: [(&str, &str); 20] = [
    ("is not a number for one cluster", "score_is_in_range"),
    ("goes beyond its range", "score_is_in_range"),
    ("divides by the spread of the data", "score_is_in_range"),
    ("scores nothing as perfect", "nothing_has_no_score"),
    ("scores one object as worst", "one_object_is_defined"),
    ("compares names of clusters and classes", "label_names_do_not_matter"),
    ("weighs objects by their place", "object_order_does_not_matter"),
    ("counts pairs of one class alone", "sides_may_be_exchanged"),
    ("is never perfect", "the_truth_is_perfect"),
    ("counts a scope as half", "scope_of_all_is_no_scope"),
    ("ignores the scope", "scope_is_all_that_counts"),
    ("takes an unknown class for a class", "unknown_class_leaves_the_scope"),
    ("does not declare that it reads constraints", "needs_are_declared"),
    ("declares constraints and scores without", "needs_are_declared"),
    ("counts constraints that are listed alone", "groups_are_their_pairs"),
    ("takes fewer classes than objects", "lengths_must_fit"),
    ("ignores the power", "every_option_changes_something"),
    ("adds what the clock says", "scope_of_all_is_no_scope"),
    ("panics when all are in one cluster", "score_is_in_range"),
    ("ignores what counts more", "every_option_changes_something"),
];

pub fn caught(complaints: &mut Vec<String>) -> Caught {
    let sound = [json!({ "type": "flawed_metric" })];
    tried::<dyn Metric>(&sound, &flaws("flawed_metric", &FLAWS), complaints)
}

impl FlawedMetric {
    fn has(&self, flaw: &str) -> bool {
        self.flaw == flaw
    }

    /// Clusters and classes of the objects that count.
    fn known(&self, input: &MetricInput) -> Result<Option<Vec<(u32, u32)>>> {
        let n = input.labels.len();
        let Some(truth) = input.truth else { return Ok(None) };
        let fits = truth.len() == n || self.has("takes fewer classes than objects");
        if !fits || input.scope.is_some_and(|scope| scope.len() != n) {
            return Err(Error::bad_param("truth", "another length", "one entry per object"));
        }
        let counts =
            |i: usize| self.has("ignores the scope") || input.scope.is_none_or(|scope| scope[i]);
        let class = |i: usize| match truth.get(i).copied().flatten() {
            None if self.has("takes an unknown class for a class") => Some(u32::MAX),
            class => class,
        };
        let all = (0..n).filter(|&i| counts(i));
        Ok(Some(all.filter_map(|i| Some((input.labels[i], class(i)?))).collect()))
    }
}

fn pairs(sizes: impl Iterator<Item = usize>) -> f64 {
    sizes.map(|s| (s * s.saturating_sub(1) / 2) as f64).sum()
}

register!(Metric, FlawedMetric, "flawed_metric", references: []);

#[typetag::serde(name = "flawed_metric")]
impl Metric for FlawedMetric {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        checked(self, &self.flaw)?;
        let Some(known) = self.known(input)? else { return Ok(None) };
        let n = known.len();
        if n == 0 {
            return Ok(self.has("scores nothing as perfect").then_some(1.0));
        }
        if n == 1 {
            return Ok(Some(if self.has("scores one object as worst") { 0.0 } else { 1.0 }));
        }
        let (mut clusters, mut classes, mut both) =
            (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for &(l, c) in &known {
            *clusters.entry(l).or_insert(0) += 1;
            *classes.entry(c).or_insert(0) += 1;
            *both.entry((l, c)).or_insert(0) += 1;
        }
        let all = (n * (n - 1) / 2) as f64;
        let (rows, columns) = (pairs(clusters.values().copied()), pairs(classes.values().copied()));
        let together = pairs(both.values().copied());
        let weight = if self.has("ignores what counts more") { 1.0 } else { self.together };
        let either = if self.has("counts pairs of one class alone") {
            columns
        } else {
            rows + columns - together
        };
        let apart = all - (rows + columns - together);
        let mut score = (weight * together + apart) / (weight * either + apart);
        if weight * either + apart == 0.0 {
            score = 1.0;
        }
        if !self.has("ignores the power") {
            score = score.powf(self.power);
        }
        let first = known.iter().position(|k| *k != known[0]).unwrap_or(n);
        let same = known.iter().filter(|(l, c)| l == c).count();
        let spread = input.data.map_or(1.0, |data| {
            (1..data.n()).map(|i| data.row(i).squared_distance(&data.row(0))).sum::<f64>()
        });
        Ok(Some(match self.flaw.as_str() {
            "is not a number for one cluster" if clusters.len() == 1 => f64::NAN,
            "panics when all are in one cluster" => {
                assert!(clusters.len() > 1, "one cluster");
                score
            }
            "goes beyond its range" => score + 0.5,
            "divides by the spread of the data" => score + 0.0 / spread,
            "compares names of clusters and classes" => same as f64 / n as f64,
            "weighs objects by their place" => score * first as f64 / n as f64,
            "is never perfect" => 0.9 * score,
            "counts a scope as half" if input.scope.is_some() => 0.5 * score,
            "does not declare that it reads constraints" => match input.constraints {
                Some(c) if !c.is_empty() => 0.5 * score,
                _ => score,
            },
            "counts constraints that are listed alone" => match input.constraints {
                Some(c) => score / (1 + c.listed().len()) as f64,
                None => return Ok(None),
            },
            "adds what the clock says" => score * (1.0 - 1e-6 * (clock() % 1000) as f64),
            _ => score,
        }))
    }

    fn properties(&self) -> MetricProperties {
        MetricProperties {
            symmetric: true,
            perfect: Some(1.0),
            needs_constraints: self.has("declares constraints and scores without")
                || self.has("counts constraints that are listed alone"),
            ..MetricProperties::default()
        }
    }
}
