//! Scatter plots of a method against another, a bound, or its input.

use crate::axis::{Axis, width_of};
use crate::chart::{Chart, Panel as Plot};
use crate::figure::{Figure, csv};
use crate::legend::Legend;
use crate::marks::{At, Mark};
use crate::palette::{GREY, Pen};
use crate::samples;
use crate::scale::span;
use mustlink_experiments::Experiment;
use mustlink_experiments::verdict::{Results, Sample};

/// Pixels of each side of a plot.
const PLOT: f64 = 200.0;

/// A point: where it is, which series it belongs to, what it is.
struct Point {
    x: f64,
    y: f64,
    series: usize,
    name: String,
}

/// One panel.
struct Panel {
    title: String,
    points: Vec<Point>,
    /// The series that all of it is of.
    series: Option<usize>,
}

/// Panels that share their axes; those of joined points have heights of their own.
struct Scatter<'a> {
    title: &'a str,
    x_name: &'a str,
    y_name: &'a str,
    /// Both axes logarithmic, from the same least to the same largest number.
    logarithmic: bool,
    /// A line where both numbers are the same.
    identity: bool,
    /// Points of one series are joined.
    joined: bool,
    /// Series in the legend.
    legend: Vec<(usize, &'a str)>,
    panels: Vec<Panel>,
}

impl Scatter<'_> {
    fn svg(&self) -> String {
        let of = |panels: &[Panel], pick: fn(&Point) -> f64| {
            span(panels.iter().flat_map(|p| &p.points).map(pick))
        };
        let mut x_span = of(&self.panels, |p| p.x);
        let mut y_span = of(&self.panels, |p| p.y);
        if self.identity {
            x_span = (x_span.0.min(y_span.0), x_span.1.max(y_span.1));
            y_span = x_span;
        }
        let axis = |name: &str, (low, high): (f64, f64)| {
            if self.logarithmic {
                Axis::decades(name, (low, high))
            } else {
                Axis::round(name, (low.min(0.0), high), 4)
            }
        };
        let plot = |panel: &Panel| {
            let y = if self.joined { of(std::slice::from_ref(panel), |p| p.y) } else { y_span };
            let (x, y) = (axis(self.x_name, x_span), axis(self.y_name, y));
            let marks = self.marks(panel, (x.scale.low, x.scale.high));
            // Names of powers of ten stand side by side only as long as there is room.
            let plot = Plot::new(x.at_most(6), y, PLOT, marks).titled(&panel.title);
            Plot { series: panel.series, ..plot }
        };
        let description = format!(
            "{} panels: {} upwards, {} to the right{}.",
            self.panels.len(),
            self.y_name,
            self.x_name,
            if self.logarithmic { ", both logarithmic" } else { "" }
        );
        let panels = self.panels.iter().map(plot).collect();
        let mut chart = Chart::new(self.title, &description, PLOT, 4, panels);
        if self.legend.len() > 1 {
            chart.legend = Legend::of_series(self.legend.iter().copied());
        }
        chart.svg()
    }

    /// The line of equal numbers, then series by series lines and points.
    fn marks(&self, panel: &Panel, (low, high): (f64, f64)) -> Vec<Mark> {
        let pen = Pen::new(GREY, 1.0).dashed("4 4");
        let identity = Mark::Line { points: vec![(low, low), (high, high)], pen };
        let mut series: Vec<usize> = panel.points.iter().map(|p| p.series).collect();
        series.sort_unstable();
        series.dedup();
        let groups = series.into_iter().map(|number| {
            let mine = || panel.points.iter().filter(|p| p.series == number);
            let points: Vec<At> = mine().map(|p| (p.x, p.y)).collect();
            let joined = self.joined && points.len() > 1;
            let line = joined.then(|| Mark::Line { points, pen: Pen::series(number) });
            let markers = mine().map(|p| Mark::marker(number, (p.x, p.y), Some(p.name.clone())));
            Mark::Group { series: Some(number), marks: line.into_iter().chain(markers).collect() }
        });
        self.identity.then_some(identity).into_iter().chain(groups).collect()
    }

    fn numbers(&self, x: &str, y: &str) -> Vec<u8> {
        let lines = self.panels.iter().flat_map(|panel| {
            panel.points.iter().map(|p| {
                vec![panel.title.clone(), p.name.clone(), p.x.to_string(), p.y.to_string()]
            })
        });
        csv(&format!("panel,point,{x},{y}"), lines)
    }
}

/// The mean of the cells of `sample` that `other` has, too.
fn mean_of_shared(sample: &Sample, other: &Sample) -> Option<f64> {
    let shared = sample.iter().filter(|(key, _)| other.contains_key(*key));
    samples::mean(&shared.map(|(key, value)| (*key, *value)).collect())
}

/// Seconds of every other method against those of the reference, data set by data set; `None` without
/// two methods that have times.
pub(crate) fn times(experiment: &Experiment, results: &Results) -> Option<Figure> {
    const COLUMN: &str = "time_total_s";
    let named = experiment.plot.baseline.as_deref();
    let reference = named.unwrap_or(experiment.methods.first()?.id.as_str());
    let last =
        |set: &str, method: &str| Some(&samples::curve(results, set, COLUMN, method)?.last()?.1);
    // Clocks do not count below a microsecond. Cells that one of both did not finish, often the longest, would
    // make it look faster.
    let seconds = |of: &Sample, other: &Sample| Some(mean_of_shared(of, other)?.max(1e-6));
    let others = experiment.methods.iter().enumerate().filter(|(_, m)| m.id != reference);
    let panels = others.filter_map(|(series, m)| {
        let points = experiment.datasets.iter().filter_map(|d| {
            let (one, other) = (last(&d.id, reference)?, last(&d.id, &m.id)?);
            let (x, y) = (seconds(one, other)?, seconds(other, one)?);
            Some(Point { x, y, series, name: d.id.clone() })
        });
        let points: Vec<Point> = points.collect();
        (!points.is_empty()).then(|| Panel { title: m.id.clone(), points, series: Some(series) })
    });
    let panels: Vec<Panel> = panels.collect();
    if panels.is_empty() {
        return None;
    }
    // A name longer than the plot would run into the next one; the caption has it.
    let whole = format!("seconds, {reference}");
    let scatter = Scatter {
        title: "Time",
        x_name: if width_of(&whole) <= PLOT { &whole } else { "seconds, reference" },
        y_name: "seconds",
        logarithmic: true,
        identity: true,
        joined: false,
        legend: Vec::new(),
        panels,
    };
    let caption = format!(
        "Mean seconds of a cell at its last point, selection included, against those of the reference {reference}; \
         a point for each data set, over the cells that both finished. Above the dashed line: slower."
    );
    Some(Figure::new(
        &["times"],
        caption,
        scatter.svg(),
        scatter.numbers("reference_s", "method_s"),
    ))
}

/// Questions asked against the fewest that lead to the same clusters, for methods that report this bound;
/// a point for each unit of each data set.
pub(crate) fn bounds(experiment: &Experiment, results: &Results) -> Option<Figure> {
    let mut points = Vec::new();
    let mut legend = Vec::new();
    for (series, method) in experiment.methods.iter().enumerate() {
        for dataset in &experiment.datasets {
            let curve = |column| samples::curve(results, &dataset.id, column, &method.id);
            let last = |column| Some(&curve(column)?.last()?.1);
            let (Some(bound), Some(asked)) = (last("lower_bound"), last("queries")) else {
                continue;
            };
            for (key, x) in bound {
                let Some(y) = asked.get(key) else { continue };
                let name = format!("{}, {}, repeat {}", method.id, dataset.id, key.0);
                points.push(Point { x: *x, y: *y, series, name });
                if !legend.contains(&(series, method.id.as_str())) {
                    legend.push((series, method.id.as_str()));
                }
            }
        }
    }
    if points.is_empty() {
        return None;
    }
    let panel = Panel {
        title: legend.iter().map(|l| l.1).collect::<Vec<_>>().join(", "),
        points,
        series: None,
    };
    let scatter = Scatter {
        title: "Queries and their lower bound",
        x_name: "lower bound",
        y_name: "queries used",
        logarithmic: false,
        identity: true,
        joined: false,
        legend,
        panels: vec![panel],
    };
    let caption = "Queries used against the fewest that lead to the same clusters (super-instances less \
                   clusters, and one for each pair of clusters); dashed: as many as needed.";
    let numbers = scatter.numbers("lower_bound", "queries");
    Some(Figure::new(&["query-bounds"], caption, scatter.svg(), numbers))
}

/// Constraints that propagation inferred against those it started from, a line per method; `None` where
/// no method propagates.
pub(crate) fn propagated(experiment: &Experiment, results: &Results) -> Option<Figure> {
    let mut legend = Vec::new();
    let panels = experiment.datasets.iter().filter_map(|dataset| {
        let mut points = Vec::new();
        for (series, method) in experiment.methods.iter().enumerate() {
            let curve = |column| samples::curve(results, &dataset.id, column, &method.id);
            let (Some(made), Some(must), Some(cannot)) =
                (curve("propagated"), curve("constraints_must"), curve("constraints_cannot"))
            else {
                continue;
            };
            for (((p, made), (_, must)), (_, cannot)) in made.iter().zip(must).zip(cannot) {
                let means = (samples::mean(made), samples::mean(must), samples::mean(cannot));
                let (Some(y), Some(must), Some(cannot)) = means else {
                    continue;
                };
                let name = format!("{} at {p}", method.id);
                points.push(Point { x: must + cannot, y, series, name });
                if !legend.contains(&(series, method.id.as_str())) {
                    legend.push((series, method.id.as_str()));
                }
            }
        }
        (!points.is_empty()).then(|| Panel { title: dataset.id.clone(), points, series: None })
    });
    let panels: Vec<Panel> = panels.collect();
    if panels.is_empty() {
        return None;
    }
    let scatter = Scatter {
        title: "Propagated constraints",
        x_name: "source constraints",
        y_name: "propagated",
        logarithmic: false,
        identity: false,
        joined: true,
        legend,
        panels,
    };
    let caption = "Mean number of constraints that propagation inferred against the number it started from. Each panel \
         has heights of its own.";
    Some(Figure::new(
        &["propagated"],
        caption,
        scatter.svg(),
        scatter.numbers("source_constraints", "propagated"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_of_cells_that_both_finished() {
        let of = |list: &[(usize, f64)]| list.iter().map(|&(r, v)| ((r, 0), v)).collect::<Sample>();
        // The slow cells of the first came to no end.
        let (first, second) = (of(&[(0, 1.0), (2, 3.0)]), of(&[(0, 2.0), (1, 90.0), (2, 4.0)]));
        assert_eq!(mean_of_shared(&first, &second), Some(2.0));
        assert_eq!(mean_of_shared(&second, &first), Some(3.0));
        assert_eq!(mean_of_shared(&first, &Sample::new()), None);
    }

    #[test]
    fn points_lie_where_their_numbers_say() {
        let point = |x, y| Point { x, y, series: 0, name: "a<b".into() };
        let scatter = Scatter {
            title: "t",
            x_name: "x",
            y_name: "y",
            logarithmic: true,
            identity: true,
            joined: false,
            legend: Vec::new(),
            panels: vec![Panel {
                title: "p".into(),
                points: vec![point(0.01, 0.1), point(0.1, 1.0)],
                series: Some(3),
            }],
        };
        let svg = scatter.svg();
        let circles: Vec<(f64, f64)> = svg
            .split("<circle cx=\"")
            .skip(1)
            .map(|c| {
                let parts: Vec<&str> = c.split('"').collect();
                (parts[0].parse().unwrap(), parts[2].parse().unwrap())
            })
            .collect();
        // From .01 to 1 over 200 pixels: a decade is 100, upwards as to the right.
        assert!((circles[1].0 - circles[0].0 - 100.0).abs() < 0.2, "{circles:?}");
        assert!((circles[0].1 - circles[1].1 - 100.0).abs() < 0.2, "{circles:?}");
        assert!(svg.contains("a&lt;b") && !svg.contains("NaN"));
        // A panel is hidden along with its method.
        assert!(svg.contains("<g data-m=\"3\"><text"), "{svg}");
        let numbers = String::from_utf8(scatter.numbers("x", "y")).unwrap();
        assert_eq!(numbers, "panel,point,x,y\np,a<b,0.01,0.1\np,a<b,0.1,1\n");
    }
}
