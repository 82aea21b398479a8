//! Which numbers stand for a curve in a table?

use super::curves::CurveSummary;
use crate::config::Experiment;
use crate::statistics::{Summary, Unit};

/// Whether more is better, per metric; unknown for other numbers.
pub(super) fn directions(experiment: &Experiment) -> impl Iterator<Item = Option<bool>> + '_ {
    let metrics = experiment.scoring.metrics.iter();
    metrics.map(|m| Some(m.properties().higher_is_better)).chain(std::iter::repeat(None))
}

/// A number that summarises a whole curve.
pub(super) struct Column {
    /// Its heading.
    pub head: String,
    /// The column of the rows it summarises.
    pub metric: String,
    /// Whether more is better, where that is known.
    pub higher: Option<bool>,
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
            Pick::Point(at) => {
                curve.points.get(at.min(curve.points.len().wrapping_sub(1)))?.score.as_ref()
            }
        }
    }
}

/// The numbers that stand for the curves; the first point among them only `with_start`.
pub(super) fn columns(
    experiment: &Experiment,
    curves: &[CurveSummary],
    with_start: bool,
) -> Vec<Column> {
    let length = curves.iter().map(|c| c.points.len()).max().unwrap_or(0);
    let longest = curves.iter().find(|c| c.points.len() == length);
    let at = |i: usize| longest.and_then(|c| c.points.get(i)).map_or(0.0, |p| p.p);
    let mut out = Vec::new();
    for (metric, higher) in experiment.measured().iter().zip(directions(experiment)) {
        let mut push = |head: String, pick| {
            out.push(Column { head, metric: metric.clone(), higher, pick });
        };
        if length <= 1 {
            push(metric.clone(), Pick::Point(0));
            continue;
        }
        if with_start {
            push(format!("{metric} at {}", at(0)), Pick::Point(0));
        }
        push(format!("{metric} at {}", at(length - 1)), Pick::Point(length - 1));
        push(format!("{metric} area"), Pick::Area);
    }
    out
}

/// Cells behind a curve: how many ran, how many failed at any point.
pub(super) fn counts(curve: &CurveSummary) -> (usize, usize) {
    let cells = curve.points.iter().map(|p| p.scored + p.undefined + p.failed).max().unwrap_or(0);
    (cells, curve.points.iter().map(|p| p.failed).max().unwrap_or(0))
}

/// The curve of a method on a data set.
pub(super) fn find<'a>(
    curves: &'a [CurveSummary],
    dataset: &str,
    method: &str,
    metric: &str,
) -> Option<&'a CurveSummary> {
    curves.iter().find(|c| c.dataset == dataset && c.method == method && c.metric == metric)
}

/// What the intervals are.
pub(super) fn legend(experiment: &Experiment) -> String {
    let unit = match experiment.stats.unit {
        Unit::Repeat => "repeats",
        Unit::Fold => "folds",
    };
    format!("mean ± half width of the {} % interval over {unit}", experiment.stats.level * 100.0)
}
