//! The figures of an experiment.

use mustlink_core::Result;

use crate::columns::{Made, directions, find, range};
use crate::curves::CurveSummary;
use crate::figure::Figure;
use crate::learning_curve::{ALONE, Curves, Room, SMALL, grid};
use crate::page::{CurveFigures, Figures};
use crate::significance::Significance;
use crate::{heat_map, ranks, samples, scatter};
use mustlink_experiments::results::CellRows;
use mustlink_experiments::statistics::one_sided_confidence;
use mustlink_experiments::{Experiment, MethodSpec};

/// All of them, in the order of the page.
pub(crate) fn draw(
    experiment: &Experiment,
    made: &Made<'_>,
    significance: &[Significance],
    cells: &[CellRows],
) -> Result<Figures> {
    let scatters = [
        scatter::times(experiment, made.results),
        scatter::bounds(experiment, made.results),
        scatter::propagated(experiment, made.results),
    ];
    let weights = heat_map::learned(cells).into_iter().map(|learned| {
        let name = [learned.dataset, learned.method, "weights"];
        // Of all features, those that are not drawn included.
        let numbers = mustlink_datasets::weights_csv(learned.weights)?;
        let caption = heat_map::caption(learned.weights);
        Ok(Figure::new(&name, caption, heat_map::heat_map(&learned), numbers))
    });
    Ok(Figures {
        curves: learning_curves(experiment, made),
        ranks: significance.iter().flat_map(|s| [ranks::diagram(s), ranks::matrix(s)]).collect(),
        costs: scatters.into_iter().flatten().collect(),
        weights: weights.collect::<Result<_>>()?,
    })
}

/// One figure per data set and metric, and one of all data sets.
fn learning_curves(experiment: &Experiment, made: &Made<'_>) -> Vec<CurveFigures> {
    let measured = experiment.measured();
    let alone = experiment.plot.size.map_or(ALONE, Room::wide);
    let mut out = Vec::new();
    for (metric, direction) in measured.iter().zip(directions(experiment)) {
        let range = range(experiment, metric);
        let y_name = match direction {
            None => metric.clone(),
            Some(true) => format!("{metric} (more is better)"),
            Some(false) => format!("{metric} (less is better)"),
        };
        let panels: Vec<Curves> = experiment
            .datasets
            .iter()
            .map(|dataset| {
                let of = |(at, m): (usize, &MethodSpec)| {
                    Some((at, find(made.curves, &dataset.id, &m.id, metric)?))
                };
                let series: Vec<_> = experiment.methods.iter().enumerate().filter_map(of).collect();
                let against = confidence(experiment, made, &dataset.id, metric, &series);
                Curves { title: &dataset.id, y_name: &y_name, range, series, against }
            })
            .collect();
        let draw = |panel: &Curves| {
            let large =
                Figure::new(&[panel.title, metric], "", panel.figure(alone)?, panel.numbers());
            Some((large, panel.figure(SMALL)?))
        };
        let differences = panels.iter().filter_map(|panel| panel.differences(SMALL)).collect();
        let drawn: Vec<(Figure, String)> = panels.iter().filter_map(draw).collect();
        if drawn.is_empty() {
            continue;
        }
        let methods: Vec<&str> = experiment.methods.iter().map(|m| m.id.as_str()).collect();
        let grid = (drawn.len() > 1).then(|| {
            let mut numbers = Vec::new();
            for (large, _) in &drawn {
                // One head for all.
                let lines = large.numbers.split_inclusive(|b| *b == b'\n');
                let skip = usize::from(!numbers.is_empty());
                lines.skip(skip).for_each(|l| numbers.extend_from_slice(l));
            }
            let caption = "Each data set has axes of its own.";
            let svg = grid(&y_name, &panels, &methods)?;
            Some(Figure::new(&["all", metric], caption, svg, numbers))
        });
        let (large, small) = drawn.into_iter().unzip();
        out.push(CurveFigures {
            metric: metric.clone(),
            large,
            small,
            differences,
            grid: grid.flatten(),
        });
    }
    out
}

/// Confidence, by one-sided t tests at each point, that a method's number is higher than
/// the baseline's (above 0) or lower (below 0).
fn confidence<'a>(
    experiment: &'a Experiment,
    made: &Made<'_>,
    dataset: &str,
    metric: &str,
    series: &[(usize, &CurveSummary)],
) -> Option<(&'a str, Vec<Vec<Option<f64>>>)> {
    let baseline = experiment.plot.baseline.as_deref()?;
    let curve = |method: &str| samples::curve(made.results, dataset, metric, method);
    let base = curve(baseline)?;
    let levels = series.iter().map(|(_, c)| {
        let Some(own) = curve(&c.method).filter(|_| c.method != baseline) else {
            return Vec::new();
        };
        let level = |((_, own), (_, base)): (&(f64, _), &(f64, _))| {
            let up = samples::differences(own, base);
            let down: Vec<f64> = up.iter().map(|d| -d).collect();
            let of = |d: &[f64]| one_sided_confidence(d, made.correction);
            // Without any spread, as of methods that draw nothing, repeats show nothing.
            let varies = up.windows(2).any(|d| d[0] != d[1]);
            varies.then(|| of(&up) - of(&down))
        };
        own.iter().zip(base).map(level).collect()
    });
    Some((baseline, levels.collect()))
}
