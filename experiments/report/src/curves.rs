//! Curves of means over cells.
//!
//! For every data set, method and metric a curve of means with intervals, and with each mean the
//! numbers of cells that it contains and of cells that failed.

use std::collections::BTreeMap;

use mustlink_core::Result;

use crate::figure::Value::{Count, Number, Text};
use crate::figure::{cell, csv, named_csv};
use mustlink_experiments::Experiment;
use mustlink_experiments::results::CellRows;
use mustlink_experiments::row::RowStatus;
use mustlink_experiments::statistics::{Summary, Unit, mean_height};

/// One point of a summarised curve.
#[derive(Debug, Clone, PartialEq)]
pub struct PointSummary {
    /// The number of queries: the curve point, or the mean where a method decides.
    pub p: f64,
    /// The scores; `None` when no cell has one.
    pub score: Option<Summary>,
    /// Cells with a score.
    pub scored: usize,
    /// Cells where the score is undefined.
    pub undefined: usize,
    /// Cells that failed here.
    pub failed: usize,
}

/// One method on one data set under one metric.
#[derive(Debug, Clone, PartialEq)]
pub struct CurveSummary {
    /// Data set.
    pub dataset: String,
    /// Method.
    pub method: String,
    /// Column of the metric.
    pub metric: String,
    /// The points in order.
    pub points: Vec<PointSummary>,
    /// Mean height over the whole curve, for curves of more than one point.
    pub area: Option<Summary>,
    /// Cells without an area, because they failed at some point.
    pub area_failed: usize,
    /// Cells without an area, because they have no score at some point.
    pub area_undefined: usize,
    /// The mean number of queries after which the selector had no further question, where every cell
    /// came to that before the last point; the curve is flat from there on.
    pub end: Option<f64>,
}

/// Values of one point or area, gathered by unit.
#[derive(Default)]
struct Gathered {
    by_repeat: BTreeMap<usize, Vec<f64>>,
    undefined: usize,
    failed: usize,
    p: Vec<f64>,
    /// Queries of the cells whose selector had fewer questions than asked for.
    ended: Vec<f64>,
}

impl Gathered {
    fn scored(&self) -> usize {
        self.by_repeat.values().map(Vec::len).sum()
    }

    fn summary(&self, unit: Unit, level: f64) -> Option<Summary> {
        let values: Vec<f64> = match unit {
            Unit::Fold => self.by_repeat.values().flatten().copied().collect(),
            Unit::Repeat => {
                self.by_repeat.values().map(|v| v.iter().sum::<f64>() / v.len() as f64).collect()
            }
        };
        Summary::of(&values, level)
    }
}

/// Summarises rows in the order of data sets, methods and metrics.
pub(crate) fn summarise(experiment: &Experiment, cells: &[CellRows]) -> Vec<CurveSummary> {
    let mut by_pair: BTreeMap<(&str, &str), Vec<&CellRows>> = BTreeMap::new();
    for cell in cells {
        by_pair.entry((&cell.dataset, &cell.method)).or_default().push(cell);
    }
    let (unit, level) = (experiment.stats.unit, experiment.stats.level);
    let measured = experiment.measured();
    let mut out = Vec::new();
    for dataset in &experiment.datasets {
        for method in &experiment.methods {
            let Some(cells) = by_pair.get(&(dataset.id.as_str(), method.id.as_str())) else {
                continue;
            };
            for metric in &measured {
                let length = cells.iter().map(|c| c.rows.len()).max().unwrap_or(0);
                let mut points: Vec<Gathered> = (0..length).map(|_| Gathered::default()).collect();
                let mut areas = Gathered::default();
                for cell in cells {
                    let mut curve = Vec::new();
                    for (row, at) in cell.rows.iter().zip(&mut points) {
                        if row.saturated == Some(true) && row.status == RowStatus::Ok {
                            at.ended.extend(row.queries.map(|q| q as f64));
                        }
                        at.p.extend(row.p_requested.map(|p| p as f64));
                        match (row.status, row.number(metric)) {
                            (RowStatus::Ok, Some(score)) => {
                                at.by_repeat.entry(cell.repeat).or_default().push(score);
                                curve.push((row.p_requested.unwrap_or(0) as f64, score));
                            }
                            (RowStatus::Ok, None) => at.undefined += 1,
                            _ => at.failed += 1,
                        }
                    }
                    let failed = cell.rows.iter().any(|row| row.status != RowStatus::Ok);
                    areas.failed += usize::from(failed);
                    let undefined = cell.rows.iter().any(|row| row.number(metric).is_none());
                    areas.undefined += usize::from(undefined && !failed);
                    // The area of a curve with holes would be that of another curve.
                    if curve.len() == length
                        && let Some(area) = mean_height(&curve)
                    {
                        areas.by_repeat.entry(cell.repeat).or_default().push(area);
                    }
                }
                let ended = points.iter().find(|g| {
                    let ran = g.scored() + g.undefined;
                    ran > 0 && g.ended.len() == ran
                });
                let end = ended.map(|g| g.ended.iter().sum::<f64>() / g.ended.len() as f64);
                out.push(CurveSummary {
                    end,
                    dataset: dataset.id.clone(),
                    method: method.id.clone(),
                    metric: metric.clone(),
                    points: points
                        .iter()
                        .map(|g| PointSummary {
                            p: g.p.iter().sum::<f64>() / g.p.len().max(1) as f64,
                            score: g.summary(unit, level),
                            scored: g.scored(),
                            undefined: g.undefined,
                            failed: g.failed,
                        })
                        .collect(),
                    area: areas.summary(unit, level),
                    area_failed: areas.failed,
                    area_undefined: areas.undefined,
                });
            }
        }
    }
    out
}

/// The numbers of curves as CSV, one line per point.
pub(crate) fn to_csv<'a>(curves: impl IntoIterator<Item = &'a CurveSummary>) -> Result<Vec<u8>> {
    let of_curve = |curve: &'a CurveSummary| {
        curve.points.iter().map(move |point| {
            let s = point.score.as_ref();
            let ends = s.and_then(Summary::interval);
            vec![
                ("dataset", Text(&curve.dataset)),
                ("metric", Text(&curve.metric)),
                ("method", Text(&curve.method)),
                ("p", Number(Some(point.p))),
                ("mean", Number(s.map(|s| s.mean))),
                ("low", Number(ends.map(|e| e.0))),
                ("high", Number(ends.map(|e| e.1))),
                ("sd", Number(s.and_then(|s| s.sd))),
                ("se", Number(s.and_then(|s| s.se))),
                ("median", Number(s.map(|s| s.median))),
                ("min", Number(s.map(|s| s.min))),
                ("max", Number(s.map(|s| s.max))),
                ("units", Count(s.map_or(0, |s| s.n))),
                ("cells", Count(point.scored)),
                ("undefined", Count(point.undefined)),
                ("failed", Count(point.failed)),
            ]
        })
    };
    named_csv("summary.csv", curves.into_iter().flat_map(of_curve))
}

/// Mean heights of curves of more than one point as CSV, a line per curve: what is compared over data sets.
pub(crate) fn areas_to_csv(curves: &[CurveSummary]) -> Vec<u8> {
    let lines = curves.iter().filter(|curve| curve.points.len() > 1).map(|curve| {
        let s = curve.area.as_ref();
        let ends = s.and_then(Summary::interval);
        vec![
            curve.dataset.clone(),
            curve.metric.clone(),
            curve.method.clone(),
            cell(s.map(|s| s.mean)),
            cell(ends.map(|e| e.0)),
            cell(ends.map(|e| e.1)),
            cell(s.and_then(|s| s.sd)),
            cell(s.and_then(|s| s.se)),
            cell(s.map(|s| s.median)),
            cell(s.map(|s| s.min)),
            cell(s.map(|s| s.max)),
            s.map_or(0, |s| s.n).to_string(),
        ]
    });
    csv("dataset,metric,method,mean,low,high,sd,se,median,min,max,units", lines)
}
