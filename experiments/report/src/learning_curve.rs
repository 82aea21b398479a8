//! How does a learning curve look?
//!
//! Lines of means with bands for their intervals, both within the range of the metric; dashes and
//! markers tell methods apart without colour. Where a selector had no further question, a bar ends the
//! line, and what follows is faint. Below, on request, how confident one can be that a method differs
//! from a baseline.

use std::fmt::Write;

use crate::curves::{CurveSummary, PointSummary};
use crate::figure::{cell, csv};
use crate::svg::{self, Frame, Mark, Marks, colour, escape, marker, number, stroke, ticks};

/// Room for one figure, in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Room {
    width: f64,
    /// Height of the plot within its frame.
    plot: f64,
    /// Whether it has a legend of its own and tells each point.
    alone: bool,
}

/// A figure by itself.
pub(crate) const ALONE: Room = Room { width: 660.0, plot: 300.0, alone: true };
/// One of many that share a legend.
pub(crate) const SMALL: Room = Room { width: 320.0, plot: 170.0, alone: false };

const RIGHT: f64 = 24.0;
/// Levels of confidence, with their sign, from below to above.
const LEVELS: [f64; 9] = [-99.0, -97.5, -95.0, -90.0, 0.0, 90.0, 95.0, 97.5, 99.0];
/// Distance between two of them.
const STEP: f64 = 15.0;

/// One method of a figure: its number among the methods of the experiment, which decides how it is
/// drawn, and its curve.
pub(crate) type Series<'a> = (usize, &'a CurveSummary);

/// What is drawn.
pub(crate) struct Curves<'a> {
    pub title: &'a str,
    /// Name of the axis, with the better direction.
    pub y_name: &'a str,
    /// The smallest and the largest value the metric can have.
    pub range: (f64, f64),
    pub series: Vec<Series<'a>>,
    /// Confidence that each series differs from a baseline, point by point, in the order of `series`;
    /// nothing of the baseline itself.
    pub against: Option<(&'a str, Vec<Vec<Option<f64>>>)>,
}

/// A drawing without its head.
pub(crate) struct Drawn {
    pub body: String,
    pub height: f64,
    pub left: f64,
}

/// The ends of an interval within the range; absent where there is no interval.
fn band(p: &PointSummary, (min, max): (f64, f64)) -> Option<(f64, f64)> {
    let score = p.score.as_ref().filter(|s| s.half_width.is_some())?;
    let (low, high) = score.interval();
    Some((low.clamp(min, max), high.clamp(min, max)))
}

impl Curves<'_> {
    /// The figure; `None` without two points to join.
    pub fn figure(&self, room: Room) -> Option<String> {
        let drawn = self.draw(room)?;
        let names: Vec<&str> = self.series.iter().map(|(_, c)| c.method.as_str()).collect();
        let description = format!(
            "Learning curves of {}: mean {} against the number of queries{}.",
            names.join(", "),
            self.y_name,
            if self.against.is_some() { ", and below the confidence in differences" } else { "" }
        );
        let mut s = svg::head(self.title, &description, room.width, drawn.height, drawn.left);
        s += &drawn.body;
        s.push_str("</svg>\n");
        Some(s)
    }

    /// The figure below its title.
    pub fn draw(&self, room: Room) -> Option<Drawn> {
        let points = || self.series.iter().flat_map(|(_, c)| &c.points);
        let drawn = points().filter_map(|p| {
            let mean = p.score.as_ref()?.mean;
            let (low, high) = band(p, self.range).unwrap_or((mean, mean));
            Some((p.p, low.min(mean), high.max(mean)))
        });
        let (mut x_min, mut x_max) = (f64::INFINITY, f64::NEG_INFINITY);
        let (mut low, mut high) = (x_min, x_max);
        for (p, l, h) in drawn {
            (x_min, x_max) = (x_min.min(p), x_max.max(p));
            (low, high) = (low.min(l), high.max(h));
        }
        if !x_max.is_finite() || x_max <= x_min {
            return None;
        }
        let y_ticks = ticks(low, high, if room.alone { 6 } else { 4 });
        // Round marks may lie beyond what the metric can be; the axis does not.
        let y_ticks: Vec<f64> = y_ticks
            .into_iter()
            .filter(|t| *t >= self.range.0 - 1e-9 && *t <= self.range.1 + 1e-9)
            .collect();
        let (first, last) = (y_ticks.first().copied(), y_ticks.last().copied());
        let (y_min, y_max) = (first.unwrap_or(low).min(low), last.unwrap_or(high).max(high));
        let y_max = if y_max > y_min { y_max } else { y_min + 1.0 };
        let wanted = if room.alone { 10 } else { 5 };
        let x_ticks: Vec<f64> = ticks(x_min, x_max, wanted)
            .into_iter()
            .filter(|t| (x_min..=x_max).contains(t))
            .collect();

        // The name of the axis stands left of the widest number.
        let text = |t: &f64| number(*t, &y_ticks).chars().count();
        let digits = y_ticks.iter().map(text).max().unwrap_or(0);
        let digits = if self.against.is_some() { digits.max(5) } else { digits };
        let left = 38.0 + 7.6 * digits as f64;
        let mut s = String::new();
        let mut top = 34.0;
        if room.alone {
            let names: Vec<(usize, &str)> =
                self.series.iter().map(|(n, c)| (*n, c.method.as_str())).collect();
            top += 8.0 + svg::legend(&mut s, &names, left, 42.0, room.width - left);
        }
        let bottom = top + room.plot;
        let right = room.width - RIGHT;
        let x = |v: f64| left + (v - x_min) / (x_max - x_min) * (right - left);
        let y = |v: f64| bottom - (v - y_min) / (y_max - y_min) * room.plot;

        let frame = Frame { left, top, right, bottom, marks: Marks::Across };
        let marks = |ticks: &[f64], at: &dyn Fn(f64) -> f64| -> Vec<Mark> {
            ticks.iter().map(|t| (at(*t), number(*t, ticks))).collect()
        };
        frame.y_marks(&mut s, &marks(&y_ticks, &y));
        let x_marks = marks(&x_ticks, &x);
        frame.x_marks(&mut s, &x_marks);
        frame.axes(&mut s, "queries", &escape(self.y_name));
        // All bands lie below all lines.
        for (at, curve) in &self.series {
            let mut ends: Vec<(f64, f64, f64)> = Vec::new();
            let mut end = curve.end;
            for (p, (low, high)) in
                curve.points.iter().filter_map(|p| Some((p.p, band(p, self.range)?)))
            {
                // The clustering after the last question has its band from there on.
                if let Some(end) = end.take_if(|e| *e < p) {
                    ends.push((x(end.max(x_min)), y(low), y(high)));
                }
                ends.push((x(p), y(low), y(high)));
            }
            if ends.len() > 1 {
                let up = ends.iter().map(|(x, _, high)| format!("{x:.1},{high:.1}"));
                let back = ends.iter().rev().map(|(x, low, _)| format!("{x:.1},{low:.1}"));
                let outline: Vec<String> = up.chain(back).collect();
                let _ = writeln!(
                    s,
                    "<polygon data-m=\"{at}\" points=\"{}\" fill=\"{}\" opacity=\"0.14\"/>",
                    outline.join(" "),
                    colour(*at)
                );
            }
        }
        for (at, curve) in &self.series {
            line(&mut s, *at, curve, room.alone, &x, &y);
        }
        let mut height = bottom + 48.0;
        if let Some((baseline, levels)) = &self.against {
            let top = bottom + 62.0;
            let bottom = top + STEP * (LEVELS.len() - 1) as f64;
            let frame = Frame { left, top, right, bottom, marks: Marks::Across };
            let y = |level: f64| {
                let at = LEVELS.iter().position(|l| *l == level).unwrap_or(4);
                bottom - STEP * at as f64
            };
            let marks: Vec<Mark> = LEVELS.iter().map(|l| (y(*l), format!("{l}"))).collect();
            frame.y_marks(&mut s, &marks);
            frame.x_marks(&mut s, &x_marks);
            frame.axes(&mut s, "queries", "confidence, %");
            let _ = writeln!(
                s,
                "<text x=\"{left}\" y=\"{:.1}\">above 0: higher than {}</text>",
                top - 8.0,
                escape(baseline)
            );
            for ((at, curve), levels) in self.series.iter().zip(levels) {
                let points: Vec<(f64, f64)> = curve
                    .points
                    .iter()
                    .zip(levels)
                    .filter_map(|(p, level)| Some((x(p.p), y((*level)?))))
                    .collect();
                joined(&mut s, *at, &points);
            }
            height = bottom + 48.0;
        }
        Some(Drawn { body: s, height, left })
    }

    /// The numbers drawn: as in summary.csv, then the band within the range, where the selector ended,
    /// and the confidence in a difference from the baseline.
    pub fn numbers(&self) -> Vec<u8> {
        let head = [
            "dataset",
            "metric",
            "method",
            "p",
            "mean",
            "low",
            "high",
            "band_low",
            "band_high",
            "units",
            "cells",
            "undefined",
            "failed",
            "selector_end",
            "confidence",
        ];
        let lines = self.series.iter().enumerate().flat_map(|(at, (_, c))| {
            c.points.iter().enumerate().map(move |(point, p)| {
                let score = p.score.as_ref();
                let ends = score.filter(|s| s.half_width.is_some()).map(|s| s.interval());
                let band = band(p, self.range);
                let level = self.against.as_ref().and_then(|(_, l)| *l.get(at)?.get(point)?);
                vec![
                    c.dataset.clone(),
                    c.metric.clone(),
                    c.method.clone(),
                    p.p.to_string(),
                    cell(score.map(|s| s.mean)),
                    cell(ends.map(|e| e.0)),
                    cell(ends.map(|e| e.1)),
                    cell(band.map(|e| e.0)),
                    cell(band.map(|e| e.1)),
                    score.map_or(0, |s| s.n).to_string(),
                    p.scored.to_string(),
                    p.undefined.to_string(),
                    p.failed.to_string(),
                    cell(c.end),
                    cell(level),
                ]
            })
        });
        csv(&head, lines)
    }
}

/// The line of one method with its markers.
fn line(
    s: &mut String,
    at: usize,
    curve: &CurveSummary,
    tell: bool,
    x: &dyn Fn(f64) -> f64,
    y: &dyn Fn(f64) -> f64,
) {
    let means: Vec<(f64, f64, &PointSummary)> =
        curve.points.iter().filter_map(|p| Some((p.p, p.score.as_ref()?.mean, p))).collect();
    // The points from the end on are one clustering, that after the last question.
    let end = curve.end.filter(|_| means.len() > 1);
    let after = end
        .map_or(means.len(), |e| means.iter().position(|(p, _, _)| *p > e).unwrap_or(means.len()));
    let place = |p: f64, v: f64| format!("{:.1} {:.1}", x(p), y(v));
    let mut path: Vec<String> = means[..after].iter().map(|(p, v, _)| place(*p, *v)).collect();
    let _ = writeln!(s, "<g data-m=\"{at}\">");
    if let (Some(end), Some(&(_, v, _))) = (end, means.get(after)) {
        let here = place(end.max(means[0].0), v);
        path.push(here.clone());
        let rest: Vec<String> = means[after..].iter().map(|(p, v, _)| place(*p, *v)).collect();
        let _ = writeln!(
            s,
            "<path d=\"M{here}L{}\" {} opacity=\"0.3\"/><path d=\"M{here}m0-7v14\" stroke=\"{}\" \
             stroke-width=\"2.5\"><title>{}: no further question after {}</title></path>",
            rest.join("L"),
            stroke(at),
            colour(at),
            escape(&curve.method),
            point_text(end),
        );
    }
    if !path.is_empty() {
        let _ = writeln!(s, "<path d=\"M{}\" {}/>", path.join("L"), stroke(at));
    }
    for (p, v, point) in &means[..after] {
        let mark = marker(at, x(*p), y(*v));
        let score = point.score.as_ref().filter(|_| tell);
        let _ = match score {
            Some(score) => writeln!(
                s,
                "<g>{mark}<title>{}: {} at {} queries</title></g>",
                escape(&curve.method),
                mean_text(score.mean, score.half_width),
                point_text(*p)
            ),
            None => writeln!(s, "{mark}"),
        };
    }
    s.push_str("</g>\n");
}

/// A thin line through points, with markers.
fn joined(s: &mut String, at: usize, points: &[(f64, f64)]) {
    if points.is_empty() {
        return;
    }
    let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
    let _ = write!(s, "<g data-m=\"{at}\"><path d=\"M{}\" {}/>", path.join("L"), stroke(at));
    points.iter().for_each(|(x, y)| s.push_str(&marker(at, *x, *y)));
    s.push_str("</g>\n");
}

/// Small figures side by side under one legend, as one figure; `None` without one that has curves.
pub(crate) fn grid(title: &str, panels: &[Curves<'_>], methods: &[&str]) -> Option<String> {
    let drawn: Vec<(&Curves<'_>, Drawn)> =
        panels.iter().filter_map(|p| Some((p, p.draw(SMALL)?))).collect();
    let columns = drawn.len().min(3);
    let tallest = drawn.iter().map(|(_, d)| d.height).reduce(f64::max)?;
    let width = SMALL.width * columns as f64;
    let names: Vec<(usize, &str)> = methods.iter().copied().enumerate().collect();
    let mut legend = String::new();
    let top = 42.0 + svg::legend(&mut legend, &names, 20.0, 42.0, width - 20.0);
    let height = top + tallest * drawn.len().div_ceil(columns) as f64;
    let description = format!(
        "Learning curves of {} on {} data sets, one each.",
        methods.join(", "),
        drawn.len()
    );
    let mut s = svg::head(title, &description, width, height, 20.0) + &legend;
    for (at, (panel, d)) in drawn.iter().enumerate() {
        let (column, row) = (at % columns, at / columns);
        let _ = writeln!(
            s,
            "<g transform=\"translate({:.1} {:.1})\"><text x=\"{}\" y=\"22\" font-size=\"14\" \
             font-weight=\"600\">{}</text>\n{}</g>",
            SMALL.width * column as f64,
            top + tallest * row as f64,
            d.left,
            escape(panel.title),
            d.body
        );
    }
    s.push_str("</svg>\n");
    Some(s)
}

/// A number of queries: whole where a file names it, a mean where methods decide.
pub(crate) fn point_text(p: f64) -> String {
    if p.fract() == 0.0 { p.to_string() } else { format!("{p:.1}") }
}

/// `0.812 ± 0.013`.
pub(crate) fn mean_text(mean: f64, half_width: Option<f64>) -> String {
    match half_width {
        Some(h) => format!("{} ± {}", short(mean), short(h)),
        None => short(mean),
    }
}

fn short(v: f64) -> String {
    match v.abs() {
        a if a == 0.0 || (1e-3..1e3).contains(&a) => format!("{v:.3}"),
        a if a < 1e-3 => "0.000".into(),
        a if a < 1e7 => format!("{v:.0}"),
        _ => format!("{v:.2e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_experiments::statistics::Summary;

    fn curve(method: &str, scores: &[&[f64]]) -> CurveSummary {
        let points = scores.iter().enumerate().map(|(at, v)| PointSummary {
            p: 10.0 * at as f64,
            score: Summary::of(v, 0.95),
            scored: v.len(),
            undefined: 0,
            failed: 0,
        });
        CurveSummary {
            dataset: "iris".into(),
            method: method.into(),
            metric: "ari".into(),
            points: points.collect(),
            area: None,
            end: None,
        }
    }

    fn curves<'a>(title: &'a str, all: &'a [CurveSummary]) -> Curves<'a> {
        let series = all.iter().enumerate().collect();
        Curves { title, y_name: "ari", range: (-1.0, 1.0), series, against: None }
    }

    /// The numbers after `key` up to a quote.
    fn path_of(svg: &str, method: usize) -> Vec<f64> {
        let group = svg.split(&format!("<g data-m=\"{method}\">\n")).nth(1).unwrap();
        let path = group.split("<path d=\"M").nth(1).unwrap().split('"').next().unwrap();
        path.split('L').map(|at| at.split(' ').nth(1).unwrap().parse().unwrap()).collect()
    }

    #[test]
    fn a_curve_needs_two_points() {
        let one = [curve("a", &[&[0.5, 0.6]])];
        assert_eq!(curves("t", &one).figure(ALONE), None);
        let empty = [curve("a", &[&[], &[]])];
        assert_eq!(curves("t", &empty).figure(ALONE), None);
        assert_eq!(grid("t", &[curves("t", &empty)], &["a"]), None);
    }

    #[test]
    fn curves_stay_inside_and_names_are_escaped() {
        let both = [
            curve("a<b>", &[&[0.5, 0.7], &[0.6, 0.65], &[], &[0.8, 0.9]]),
            curve("b", &[&[0.5], &[0.4], &[0.4], &[0.3]]),
        ];
        let svg = curves("iris & co", &both).figure(ALONE).unwrap();
        assert!(svg.contains("a&lt;b&gt;") && svg.contains("iris &amp; co"));
        assert!(svg.contains("<desc>Learning curves of a&lt;b&gt;, b: mean ari"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        // A single observation has no band; the other curve has one.
        assert_eq!(svg.matches("<polygon").count(), 1);
        assert_eq!(svg.matches("stroke-dasharray").count(), 2);
    }

    #[test]
    fn larger_values_are_drawn_higher() {
        let both = [curve("good", &[&[0.9], &[0.95]]), curve("bad", &[&[0.2], &[0.1]])];
        let svg = curves("iris", &both).figure(ALONE).unwrap();
        let (good, bad) = (path_of(&svg, 0), path_of(&svg, 1));
        // Pixels count from above.
        assert!(good[1] < good[0] && good[0] < bad[0] && bad[0] < bad[1], "{good:?} {bad:?}");
    }

    #[test]
    fn bands_end_where_the_metric_does() {
        let wide = [curve("a", &[&[0.1, 0.99], &[0.2, 0.98]])];
        let drawn = curves("iris", &wide);
        let svg = drawn.figure(ALONE).unwrap();
        assert!(svg.contains(">1.0</text>") && !svg.contains(">2.0</text>"), "{svg}");
        let numbers = String::from_utf8(drawn.numbers()).unwrap();
        let line: Vec<&str> = numbers.lines().nth(1).unwrap().split(',').collect();
        assert!(line[6].parse::<f64>().unwrap() > 1.0 && line[8] == "1", "{line:?}");
    }

    #[test]
    fn a_curve_ends_where_its_selector_does() {
        let mut ended = curve("a", &[&[0.1], &[0.5], &[0.6], &[0.6]]);
        ended.end = Some(14.0);
        let svg = curves("iris", std::slice::from_ref(&ended)).figure(ALONE).unwrap();
        assert!(svg.contains("a: no further question after 14"), "{svg}");
        assert!(svg.contains("opacity=\"0.3\""));
        // Markers of the points before the end alone, and one in the legend.
        assert_eq!(svg.matches("<circle").count(), 3);
    }

    #[test]
    fn a_band_turns_where_the_line_does() {
        let mut ended = curve("a", &[&[0.1, 0.2], &[0.6, 0.8], &[0.6, 0.8]]);
        ended.end = Some(4.0);
        let svg = curves("iris", std::slice::from_ref(&ended)).figure(ALONE).unwrap();
        let end = svg.split("<path d=\"M").find(|p| p.contains("m0-7v14")).unwrap();
        let end: f64 = end.split(' ').next().unwrap().parse().unwrap();
        let band = svg.split("<polygon").nth(1).unwrap().split("points=\"").nth(1).unwrap();
        let band = band.split('"').next().unwrap();
        let at = |corner: &str| corner.split(',').next().unwrap().parse::<f64>().unwrap();
        let corners: Vec<f64> = band.split(' ').map(at).collect();
        // There and back: 0, the end, 10, 20.
        assert_eq!(corners.len(), 8, "{band}");
        assert!((corners[1] - end).abs() < 0.11 && corners[6] == corners[1], "{band} {end}");
    }

    #[test]
    fn the_lower_panel_shows_confidence_with_its_sign() {
        let both = [curve("base", &[&[0.5], &[0.5]]), curve("other", &[&[0.6], &[0.4]])];
        let levels = vec![vec![None, None], vec![Some(97.5), Some(-90.0)]];
        let drawn = Curves { against: Some(("base", levels)), ..curves("iris", &both) };
        let svg = drawn.figure(ALONE).unwrap();
        assert!(svg.contains("above 0: higher than base") && svg.contains(">-97.5</text>"));
        let numbers = String::from_utf8(drawn.numbers()).unwrap();
        let last: Vec<&str> = numbers.lines().map(|l| l.rsplit(',').next().unwrap()).collect();
        assert_eq!(last, ["confidence", "", "", "97.5", "-90"]);
    }

    #[test]
    fn a_grid_has_one_legend() {
        let all = [curve("a", &[&[0.5], &[0.6]]), curve("b", &[&[0.5], &[0.4]])];
        let panels: Vec<Curves> = ["one", "two", "three", "four"].map(|t| curves(t, &all)).into();
        let svg = grid("ari", &panels, &["a", "b"]).unwrap();
        assert_eq!(
            (svg.matches(">a</text>").count(), svg.matches(">queries</text>").count()),
            (1, 4)
        );
        assert!(svg.contains(">four</text>"));
    }
}
