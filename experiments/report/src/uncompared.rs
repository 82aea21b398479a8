//! The reasons why methods are not compared over the data sets.

use crate::columns::{directions, find};
use crate::curves::{CurveSummary, PointSummary};
use crate::significance::Significance;
use mustlink_experiments::Experiment;

/// A sentence for each metric by which some methods could be compared over the data sets and all together cannot,
/// because others have no score in some cell: who, and where.
pub(crate) fn sentences(
    experiment: &Experiment,
    curves: &[CurveSummary],
    found: &[Significance],
) -> Vec<String> {
    let ranked = experiment.columns().iter().zip(directions(experiment)).filter(|c| c.1.is_some());
    let absent = ranked.map(|c| c.0).filter(|c| found.iter().all(|s| s.metric != **c));
    absent.filter_map(|metric| sentence(experiment, curves, metric)).collect()
}

fn sentence(experiment: &Experiment, curves: &[CurveSummary], metric: &str) -> Option<String> {
    let mine = || curves.iter().filter(|c| c.metric == metric);
    let area = mine().any(|c| c.area.is_some());
    let cells = |set: &str| {
        let points = mine().filter(|c| c.dataset == set).flat_map(|c| &c.points);
        points.map(|p| p.scored + p.undefined + p.failed).max().unwrap_or(0)
    };
    let sets = experiment.datasets.iter().map(|d| (d.id.as_str(), cells(&d.id)));
    let sets: Vec<(&str, usize)> = sets.filter(|s| s.1 > 0).collect();
    let parted = |method: &str| {
        let has_all = |&(set, cells): &(&str, usize)| {
            let whole = |p: &PointSummary| p.scored == cells;
            find(curves, set, method, metric).is_some_and(|c| {
                if area { c.points.iter().all(whole) } else { c.points.last().is_some_and(whole) }
            })
        };
        let (whole, lacking): (Vec<_>, Vec<_>) = sets.iter().copied().partition(has_all);
        let lacking: Vec<&str> = lacking.iter().map(|s| s.0).collect();
        (whole.len(), lacking.join(", "))
    };
    // Each method, the number of sets on which it has all its scores, and the names of the others.
    let methods = experiment.methods.iter().map(|m| (m.id.as_str(), parted(&m.id)));
    let methods: Vec<(&str, (usize, String))> = methods.collect();
    if methods.iter().filter(|(_, (whole, _))| *whole > 1).count() < 2 {
        return None;
    }
    let lacking = methods.iter().filter(|(_, (_, others))| !others.is_empty());
    let lacking = lacking.map(|(method, (whole, others))| match whole {
        0 => format!("{method} (on all)"),
        _ => format!("{method} ({others})"),
    });
    Some(format!(
        "By {metric} methods are not compared over the data sets: on no two of them has each method a score in \
         every cell. Without one: {}.",
        lacking.collect::<Vec<_>>().join("; ")
    ))
}
