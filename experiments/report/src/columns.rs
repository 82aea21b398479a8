//! The numbers that summarise a curve in a table.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::curves::{CurveSummary, PointSummary};
use crate::learning_curve::{mean_with, point_text};
use crate::samples;
use crate::statistics::multiple::holm;
use crate::statistics::paired::{Side, paired_t};
use mustlink_core::roles::MetricProperties;
use mustlink_experiments::Experiment;
use mustlink_experiments::statistics::{Summary, Unit};
use mustlink_experiments::verdict::{CurveValues, Results, Sample};

/// For each metric, true if more is better; absent if neither end is, and for other numbers.
pub(crate) fn directions(experiment: &Experiment) -> impl Iterator<Item = Option<bool>> + '_ {
    let metrics = experiment.scoring.metrics.iter();
    let better = |facts: MetricProperties| facts.ranked.then_some(facts.higher_is_better);
    metrics.map(move |m| better(m.properties())).chain(std::iter::repeat(None))
}

/// The values that a metric can have; other numbers can have any.
pub(crate) fn range(experiment: &Experiment, metric: &str) -> (f64, f64) {
    let at = experiment.columns().iter().position(|c| c == metric);
    let facts = at.map(|at| experiment.scoring.metrics[at].properties());
    facts.map_or((f64::NEG_INFINITY, f64::INFINITY), |f| (f.min, f.max))
}

/// Decimals of the numbers of a metric on each data set: three, and more where it can grow without end and even the
/// largest is small, as sums of squares of small values and times are.
fn decimals(
    experiment: &Experiment,
    curves: &[CurveSummary],
    metric: &str,
) -> BTreeMap<String, usize> {
    let (_, most_possible) = range(experiment, metric);
    let mut most: BTreeMap<String, f64> = BTreeMap::new();
    for curve in curves.iter().filter(|c| c.metric == metric && !most_possible.is_finite()) {
        let largest = most.entry(curve.dataset.clone()).or_default();
        for score in curve.points.iter().filter_map(|p| p.score.as_ref()) {
            *largest = largest.max(score.mean.abs());
        }
    }
    most.retain(|_, largest| *largest > 0.0);
    let of = |largest: f64| (2.0 - largest.log10().floor()).clamp(3.0, 12.0) as usize;
    most.into_iter().map(|(dataset, largest)| (dataset, of(largest))).collect()
}

/// A number that summarises a whole curve.
pub(crate) struct Column {
    /// Its heading.
    pub head: String,
    /// The column of the rows it summarises.
    pub metric: String,
    /// True if more is better, if that is known.
    pub higher: Option<bool>,
    /// Decimals of its numbers in a table by data set, where these are not three.
    decimals: BTreeMap<String, usize>,
    pick: Pick,
}

#[derive(Clone, Copy)]
enum Pick {
    /// The point with this number; the last for the largest.
    Point(usize),
    Area,
}

impl Column {
    /// The number of one curve.
    pub fn of<'a>(&self, curve: &'a CurveSummary) -> Option<&'a Summary> {
        match self.pick {
            Pick::Area => curve.area.as_ref(),
            Pick::Point(at) => point(curve, at)?.score.as_ref(),
        }
    }

    /// Text of one curve in a table: its number, and the cells that it does not include.
    pub fn text(&self, curve: Option<&CurveSummary>) -> String {
        let Some(curve) = curve else { return "–".into() };
        let cells = cells(curve);
        let failed = self.failed(curve);
        let decimals = self.decimals.get(&curve.dataset).copied().unwrap_or(3);
        let number = self.of(curve).map(|s| mean_with(s.mean, s.half_width, decimals));
        let undefined = self.undefined(curve);
        match (number, failed, undefined) {
            (None, 0, 0) => "–".into(),
            (None, 0, _) => "undefined".into(),
            (None, failed, _) if failed == cells => format!("{failed} failed"),
            (None, failed, _) => format!("–, {failed} of {cells} failed"),
            (Some(number), 0, 0) => number,
            (Some(number), 0, n) => format!("{number}, {n} of {cells} undefined"),
            (Some(number), failed, 0) => format!("{number}, {failed} of {cells} failed"),
            (Some(number), failed, n) => {
                format!("{number}, {failed} of {cells} failed, {n} undefined")
            }
        }
    }

    /// The cells of one curve that failed where its number is taken.
    pub fn failed(&self, curve: &CurveSummary) -> usize {
        match self.pick {
            Pick::Area => curve.area_failed,
            Pick::Point(at) => point(curve, at).map_or(0, |p| p.failed),
        }
    }

    /// The cells of one curve that are undefined where its number is taken.
    fn undefined(&self, curve: &CurveSummary) -> usize {
        match self.pick {
            Pick::Area => curve.area_undefined,
            Pick::Point(at) => point(curve, at).map_or(0, |p| p.undefined),
        }
    }

    /// One value per cell of one curve.
    pub fn sample(&self, curve: &CurveValues) -> Sample {
        match self.pick {
            Pick::Area => samples::areas(curve),
            Pick::Point(at) => {
                let at = at.min(curve.len().wrapping_sub(1));
                curve.get(at).map_or_else(Sample::new, |(_, sample)| sample.clone())
            }
        }
    }

    /// True if it is of the whole curve.
    pub fn is_area(&self) -> bool {
        matches!(self.pick, Pick::Area)
    }

    /// True if tests over all data sets compare this number.
    pub fn is_compared(&self, curves: &[CurveSummary]) -> bool {
        let area = curves.iter().any(|c| c.metric == self.metric && c.area.is_some());
        self.is_area() == area
    }

    /// The methods with the best two means on a data set, and whether the difference is significant at 5 %. The best
    /// is compared with all others by paired t tests over cells, with Holm's adjustment over these tests.
    ///
    /// A method takes part only if it has all cells, none of them failed, and each has a value where the number is
    /// taken. Elsewhere a value may be undefined: metrics that need constraints have none at 0 questions.
    pub fn leaders(&self, made: &Made<'_>, dataset: &str) -> Option<Leaders> {
        let sign = if self.higher? { 1.0 } else { -1.0 };
        let mine = || {
            let of = |c: &&CurveSummary| c.dataset == dataset && c.metric == self.metric;
            made.curves.iter().filter(of)
        };
        let most = mine().map(cells).max()?;
        let whole = |p: &PointSummary| p.scored + p.undefined == most;
        let mut rivals: Vec<(f64, &str, Sample)> = mine()
            .filter(|c| c.points.iter().all(whole) && self.undefined(c) == 0)
            .filter_map(|c| {
                let curve = samples::curve(made.results, dataset, &self.metric, &c.method)?;
                Some((sign * self.of(c)?.mean, c.method.as_str(), self.sample(curve)))
            })
            .collect();
        rivals.sort_by(|a, b| b.0.total_cmp(&a.0));
        let (best, others) = rivals.split_first()?;
        // The next is the first of the others.
        let next = others.first()?;
        let p: Vec<f64> = others
            .iter()
            .map(|o| {
                let differences = samples::differences(&best.2, &o.2);
                let test = paired_t(&differences, Side::Two, made.correction);
                // Without any spread, as of methods that draw nothing, repeats show nothing.
                test.filter(|t| !t.degenerate).map_or(1.0, |t| t.p)
            })
            .collect();
        // A score of 0 in every cell, for example from a single cluster, never counts as significantly better: other
        // methods are below it by chance.
        let praised = best.2.values().any(|v| *v != 0.0) || self.higher != Some(true);
        Some(Leaders {
            best: (best.1.to_string(), sign * best.0),
            next: (next.1.to_string(), sign * next.0),
            significant: praised && *holm(&p).first()? < 0.05,
        })
    }

    /// The method of the best mean on a data set, if it is significantly better than the next.
    pub fn best(&self, made: &Made<'_>, dataset: &str) -> Option<String> {
        self.leaders(made, dataset).filter(|l| l.significant).map(|l| l.best.0)
    }
}

/// The methods of the best two means on a data set.
pub(crate) struct Leaders {
    /// The best and its mean.
    pub best: (String, f64),
    pub next: (String, f64),
    /// True if their difference is significant.
    pub significant: bool,
}

/// The point with this number, or the last.
fn point(curve: &CurveSummary, at: usize) -> Option<&PointSummary> {
    curve.points.get(at).or(curve.points.last())
}

/// Input of tables.
pub(crate) struct Made<'a> {
    pub curves: &'a [CurveSummary],
    pub results: &'a Results,
    /// Added to the variance factor of paired tests, see [`samples::correction`].
    pub correction: f64,
}

/// The numbers that represent the curves; they include the first point only `with_start`.
pub(crate) fn columns(
    experiment: &Experiment,
    curves: &[CurveSummary],
    with_start: bool,
) -> Vec<Column> {
    let length = curves.iter().map(|c| c.points.len()).max().unwrap_or(0);
    let longest = curves.iter().find(|c| c.points.len() == length);
    let at = |i: usize| longest.and_then(|c| c.points.get(i)).map_or(0.0, |p| p.p);
    let mut out = Vec::new();
    for (metric, higher) in experiment.measured().iter().zip(directions(experiment)) {
        let decimals = decimals(experiment, curves, metric);
        let mut push = |head: String, pick| {
            let (metric, decimals) = (metric.clone(), decimals.clone());
            out.push(Column { head, metric, higher, decimals, pick });
        };
        if length <= 1 {
            push(metric.clone(), Pick::Point(0));
            continue;
        }
        if with_start {
            push(format!("{metric} at {}", point_text(at(0))), Pick::Point(0));
        }
        push(format!("{metric} at {}", point_text(at(length - 1))), Pick::Point(length - 1));
        push(format!("{metric} area"), Pick::Area);
    }
    out
}

/// Cells behind a curve, those that failed among them.
pub(crate) fn cells(curve: &CurveSummary) -> usize {
    curve.points.iter().map(|p| p.scored + p.undefined + p.failed).max().unwrap_or(0)
}

/// The curve of a method on a data set.
pub(crate) fn find<'a>(
    curves: &'a [CurveSummary],
    dataset: &str,
    method: &str,
    metric: &str,
) -> Option<&'a CurveSummary> {
    curves.iter().find(|c| c.dataset == dataset && c.method == method && c.metric == metric)
}

/// A share in percent, without what binary fractions add.
pub(crate) fn percent(share: f64) -> f64 {
    (1e6 * 100.0 * share).round() / 1e6
}

/// Observations that a mean has where no cell lacks a value: an interval needs two.
pub(crate) fn observations(experiment: &Experiment) -> usize {
    let split = &experiment.split;
    match experiment.stats.unit {
        Unit::Repeat => split.repeats(),
        Unit::Fold => split.repeats() * split.folds(),
    }
}

/// Explanation of the intervals, and of scores without a value.
pub(crate) fn legend<'a>(
    experiment: &Experiment,
    curves: impl Iterator<Item = &'a CurveSummary> + Clone,
) -> String {
    let unit = match experiment.stats.unit {
        Unit::Fold if experiment.split.folds() > 1 => "folds",
        _ => "repeats",
    };
    let level = percent(experiment.stats.level);
    let mut text = match (observations(experiment), experiment.split.folds()) {
        (1, 1) => "the score of one run".to_string(),
        (1, _) => "mean over the folds of one repeat".to_string(),
        _ => format!("mean ± half width of the {level} % interval over {unit}"),
    };
    let metrics = experiment.columns().iter().zip(&experiment.scoring.metrics);
    for (column, metric) in metrics {
        let mine = curves.clone().filter(|c| c.metric == *column);
        let points: Vec<&PointSummary> =
            mine.flat_map(|c| &c.points).filter(|p| p.undefined > 0).collect();
        if points.is_empty() {
            continue;
        }
        // What a metric needs is there for all cells of a point, or for none.
        let lacks = points.iter().all(|p| p.scored == 0);
        let facts = metric.properties();
        let counted = if experiment.scores_test_objects() {
            "constraints that touch a test object (scoring.scope = \"train\" or \"all\" counts others)"
        } else {
            "constraints"
        };
        let held_out = match experiment.no_constraint_held_out() {
            Some(why) => format!("given constraints among what is scored: {why}"),
            None if experiment.scores_test_objects() => {
                "given constraints between test objects (scoring.scope = \"all\" counts those that touch \
                 one)"
                    .into()
            }
            None => "given constraints that touch the test objects".into(),
        };
        let why = [
            (facts.needs_truth, "classes"),
            (facts.needs_heldout, held_out.as_str()),
            (facts.needs_unconstrained, "constraints"),
            (facts.needs_constraints, counted),
            (facts.needs_ensemble, "an ensemble"),
        ];
        let needs = why.iter().find(|(needs, _)| lacks && *needs);
        let needs = needs
            .map_or("has no value for some of these clusterings".into(), |(_, what)| {
                format!("has no value without {what}")
            });
        let _ = write!(text, "; undefined: {column} {needs}");
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use mustlink_experiments::results::CellRows;
    use mustlink_experiments::row::{Row, RowStatus};

    use super::*;
    use crate::curves::summarise;

    #[test]
    fn a_cell_that_failed_anywhere_has_no_area_and_is_counted_once() {
        let text = "[experiment]\nname = \"t\"\n[[dataset]]\nid = \"iris\"\n[split]\ntype = \"all\"\nrepeats = 3\n\
                    [curve]\npoints = [0, 5]\n[scoring]\nmetrics = [\"ari\"]\n\
                    [[method]]\nid = \"a\"\nclusterer = \"kmeans\"\n";
        let experiment = Experiment::parse("t.toml", text, Path::new("."), &[]).unwrap();
        let row = |p: usize, good: bool| Row {
            p_requested: Some(p),
            status: if good { RowStatus::Ok } else { RowStatus::Error },
            scores: good.then(|| ("ari".to_string(), Some(0.5))).into_iter().collect(),
            ..Row::default()
        };
        let cell = |repeat: usize, good: [bool; 2]| CellRows {
            dataset: "iris".into(),
            method: "a".into(),
            identity: String::new(),
            repeat,
            rows: vec![row(0, good[0]), row(5, good[1])],
            changed: BTreeSet::new(),
        };
        let cells = [cell(0, [true, false]), cell(1, [false, true]), cell(2, [true, true])];
        let curve = summarise(&experiment, &cells).remove(0);
        assert_eq!(curve.points.iter().map(|p| p.failed).collect::<Vec<_>>(), [1, 1]);
        assert_eq!((curve.area.as_ref().map(|s| s.n), curve.area_failed), (Some(1), 2));
        let columns = columns(&experiment, std::slice::from_ref(&curve), false);
        let shown: Vec<String> = columns.iter().map(|c| c.text(Some(&curve))).collect();
        assert_eq!(shown, ["0.500 ± 0.000, 1 of 3 failed", "0.500, 2 of 3 failed"]);
        // So is one without a score somewhere.
        let mut cells = cells;
        for (cell, at) in cells.iter_mut().zip([0, 1]) {
            cell.rows = vec![row(0, true), row(5, true)];
            cell.rows[at].scores.insert("ari".into(), None);
        }
        let curve = summarise(&experiment, &cells).remove(0);
        let shown: Vec<String> = columns.iter().map(|c| c.text(Some(&curve))).collect();
        assert_eq!(shown, ["0.500 ± 0.000, 1 of 3 undefined", "0.500, 2 of 3 undefined"]);
    }

    #[test]
    fn what_has_no_value_at_another_point_can_be_the_best() {
        let text = "[experiment]\nname = \"t\"\n[[dataset]]\nid = \"iris\"\n[split]\ntype = \"all\"\nrepeats = 4\n\
                    [curve]\npoints = [0, 5]\n[scoring]\nmetrics = [\"violation_rate\"]\n\
                    [[method]]\nid = \"a\"\nclusterer = \"kmeans\"\n[[method]]\nid = \"b\"\nclusterer = \"kmeans\"\n\
                    k = 2\n";
        let experiment = Experiment::parse("t.toml", text, Path::new("."), &[]).unwrap();
        let row = |p: usize, repeat: usize, score: Option<f64>| Row {
            p_requested: Some(p),
            repeat,
            scores: [("violation_rate".to_string(), score)].into_iter().collect(),
            ..Row::default()
        };
        // Of nearly the same difference in each cell.
        let cell = |method: &str, repeat: usize, score: f64| CellRows {
            dataset: "iris".into(),
            method: method.into(),
            identity: String::new(),
            repeat,
            rows: vec![row(0, repeat, None), row(5, repeat, Some(score))],
            changed: BTreeSet::new(),
        };
        let of = |repeat: usize| {
            let more = repeat as f64 / 100.0;
            [cell("a", repeat, 0.5), cell("b", repeat, 0.1 + more)]
        };
        let cells: Vec<CellRows> = (0..4).flat_map(of).collect();
        let curves = summarise(&experiment, &cells);
        let results = samples::results(&experiment, &cells);
        let made = Made { curves: &curves, results: &results, correction: 0.0 };
        let best: Vec<(String, Option<String>)> = columns(&experiment, &curves, true)
            .into_iter()
            .map(|c| (c.head.clone(), c.best(&made, "iris")))
            .collect();
        let expected = [("at 0", None), ("at 5", Some("b")), ("area", None)];
        let expected =
            expected.map(|(at, best)| (format!("violation_rate {at}"), best.map(str::to_string)));
        assert_eq!(best, expected);
    }
}
