//! How does a learning curve look?
//!
//! Lines of means with bands for their intervals; dashes and markers tell methods apart without
//! colour.

use std::fmt::Write;

use super::curves::{CurveSummary, PointSummary};
use crate::svg::{self, COLOURS, Frame, Mark, Marks, escape, number, ticks};

const WIDTH: f64 = 660.0;
const RIGHT: f64 = 24.0;
const PLOT: f64 = 300.0;
const LINE: f64 = 18.0;

const DASHES: [&str; 5] = ["", "7 4", "2 3", "9 3 2 3", "12 5"];

/// A finished figure.
pub(super) struct Figure {
    /// Its file name without an ending.
    pub name: String,
    /// Its text.
    pub svg: String,
}

/// Draws the mean of each curve with a band for its interval, cut off where the metric has no values;
/// `None` without two points to join.
pub(super) fn learning_curve(
    title: &str,
    y_name: &str,
    range: (f64, f64),
    curves: &[&CurveSummary],
) -> Option<String> {
    let within = |(low, high): (f64, f64)| (low.max(range.0), high.min(range.1));
    let points = curves.iter().flat_map(|c| &c.points);
    let drawn: Vec<(f64, f64, f64)> = points
        .filter_map(|p| {
            let (low, high) = within(p.score.as_ref()?.interval());
            Some((p.p, low, high))
        })
        .collect();
    let fold = |start: f64, pick: fn(f64, f64) -> f64, values: &mut dyn Iterator<Item = f64>| {
        values.fold(start, pick)
    };
    let x_min = fold(f64::INFINITY, f64::min, &mut drawn.iter().map(|d| d.0));
    let x_max = fold(f64::NEG_INFINITY, f64::max, &mut drawn.iter().map(|d| d.0));
    if !x_max.is_finite() || x_max <= x_min {
        return None;
    }
    let low = fold(f64::INFINITY, f64::min, &mut drawn.iter().map(|d| d.1));
    let high = fold(f64::NEG_INFINITY, f64::max, &mut drawn.iter().map(|d| d.2));
    let y_ticks = ticks(low, high, 6);
    let x_ticks: Vec<f64> =
        ticks(x_min, x_max, 10).into_iter().filter(|t| (x_min..=x_max).contains(t)).collect();
    let (y_min, y_max) = (y_ticks[0].min(low), y_ticks[y_ticks.len() - 1].max(high));

    // The name of the axis stands left of the widest number.
    let digits = y_ticks.iter().map(|t| number(*t, &y_ticks).chars().count()).max().unwrap_or(0);
    let left = 38.0 + 7.6 * digits as f64;
    let legend = legend_lines(curves, WIDTH - left);
    let top = 34.0 + legend.len() as f64 * LINE + 8.0;
    let bottom = top + PLOT;
    let height = bottom + 48.0;
    let x = |v: f64| left + (v - x_min) / (x_max - x_min) * (WIDTH - left - RIGHT);
    let y = |v: f64| bottom - (v - y_min) / (y_max - y_min) * PLOT;

    let frame = Frame { left, top, right: WIDTH - RIGHT, bottom, marks: Marks::Across };
    let mut s = svg::head(title, WIDTH, height, left);
    for (row, line) in legend.iter().enumerate() {
        let at = 34.0 + row as f64 * LINE + 8.0;
        for (offset, number) in line {
            let _ = writeln!(
                s,
                "<g transform=\"translate({:.1} {at:.1})\"><path d=\"M0 0H30\" {}/>{}<text x=\"37\" y=\"4\">{}</text></g>",
                left + offset,
                stroke(*number),
                marker(*number, 15.0, 0.0),
                escape(&curves[*number].method)
            );
        }
    }
    let marks = |ticks: &[f64], at: &dyn Fn(f64) -> f64| -> Vec<Mark> {
        ticks.iter().map(|t| (at(*t), number(*t, ticks))).collect()
    };
    frame.y_marks(&mut s, &marks(&y_ticks, &y));
    frame.x_marks(&mut s, &marks(&x_ticks, &x));
    frame.axes(&mut s, "queries", &escape(y_name));
    // All bands lie below all lines.
    for (at, curve) in curves.iter().enumerate() {
        let ends: Vec<(f64, f64, f64)> = curve
            .points
            .iter()
            .filter_map(|p| {
                let score = p.score.as_ref().filter(|s| s.half_width.is_some())?;
                let (low, high) = within(score.interval());
                Some((x(p.p), y(low), y(high)))
            })
            .collect();
        if ends.len() > 1 {
            let up = ends.iter().map(|(x, _, high)| format!("{x:.1},{high:.1}"));
            let back = ends.iter().rev().map(|(x, low, _)| format!("{x:.1},{low:.1}"));
            let outline: Vec<String> = up.chain(back).collect();
            let colour = COLOURS[at % COLOURS.len()];
            let _ = writeln!(
                s,
                "<polygon points=\"{}\" fill=\"{colour}\" opacity=\"0.14\"/>",
                outline.join(" ")
            );
        }
    }
    for (at, curve) in curves.iter().enumerate() {
        let means: Vec<(f64, f64, &PointSummary)> = curve
            .points
            .iter()
            .filter_map(|p| Some((x(p.p), y(p.score.as_ref()?.mean), p)))
            .collect();
        let path: Vec<String> = means.iter().map(|(x, y, _)| format!("{x:.1} {y:.1}")).collect();
        let _ = writeln!(s, "<path d=\"M{}\" {}/>", path.join("L"), stroke(at));
        for (px, py, p) in &means {
            let tip = p.score.as_ref().map_or_else(String::new, |v| {
                format!(
                    "{}: {} at {} queries",
                    curve.method,
                    mean_text(v.mean, v.half_width),
                    point_text(p.p)
                )
            });
            let _ = writeln!(s, "<g>{}<title>{}</title></g>", marker(at, *px, *py), escape(&tip));
        }
    }
    s.push_str("</svg>\n");
    Some(s)
}

/// A number of queries: whole where a file names it, a mean where methods decide.
pub(super) fn point_text(p: f64) -> String {
    if p.fract() == 0.0 { p.to_string() } else { format!("{p:.1}") }
}

/// `0.812 ± 0.013`.
pub(super) fn mean_text(mean: f64, half_width: Option<f64>) -> String {
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

fn stroke(at: usize) -> String {
    let dash = DASHES[at % DASHES.len()];
    let dash =
        if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dash}\"") };
    format!("fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{dash}", COLOURS[at % COLOURS.len()])
}

fn marker(at: usize, x: f64, y: f64) -> String {
    let colour = COLOURS[at % COLOURS.len()];
    let path = |d: &str| {
        format!("<path transform=\"translate({x:.1} {y:.1})\" d=\"{d}\" fill=\"{colour}\"/>")
    };
    match at % 6 {
        0 => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.6\" fill=\"{colour}\"/>"),
        1 => path("M-3.4-3.4H3.4V3.4H-3.4Z"),
        2 => path("M0-4.6L4.3 3H-4.3Z"),
        3 => path("M0-4.8L4.8 0L0 4.8L-4.8 0Z"),
        4 => path("M0 4.6L4.3-3H-4.3Z"),
        _ => path("M-1.2-4.4H1.2V-1.2H4.4V1.2H1.2V4.4H-1.2V1.2H-4.4V-1.2H-1.2Z"),
    }
}

/// Which legend entries stand in which line, with their distance from the left.
fn legend_lines(curves: &[&CurveSummary], room: f64) -> Vec<Vec<(f64, usize)>> {
    let mut lines: Vec<Vec<(f64, usize)>> = Vec::new();
    let mut at = 0.0;
    for (number, curve) in curves.iter().enumerate() {
        // Wider than most fonts: an estimate that errs must err here.
        let width = 37.0 + 7.4 * curve.method.chars().count() as f64 + 22.0;
        if lines.is_empty() || at + width > room {
            lines.push(Vec::new());
            at = 0.0;
        }
        if let Some(line) = lines.last_mut() {
            line.push((at, number));
        }
        at += width;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::Summary;

    fn curve(method: &str, scores: &[&[f64]]) -> CurveSummary {
        let points = scores.iter().enumerate().map(|(at, v)| PointSummary {
            p: at as f64 * 10.0,
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
        }
    }

    const ANY: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

    #[test]
    fn larger_values_are_higher_and_bands_end_where_values_do() {
        let up = curve("a", &[&[0.2, 0.3], &[0.9, 1.0]]);
        let svg = learning_curve("t", "ari", (-1.0, 1.0), &[&up]).unwrap();
        let path = svg.split("<path d=\"M").find(|p| p.contains('L')).unwrap();
        let line = path.split('"').next().unwrap();
        let heights: Vec<f64> =
            line.split('L').map(|p| p.split(' ').nth(1).unwrap().parse().unwrap()).collect();
        assert!(heights[1] < heights[0], "pixels count from the top: {line}");
        // The interval of two values .1 apart reaches beyond 1.
        let highest = |svg: &str| -> f64 {
            let marks = svg.split("text-anchor=\"end\">").skip(1);
            let marks = marks.map(|m| m.split('<').next().unwrap().parse::<f64>().unwrap());
            marks.fold(f64::NEG_INFINITY, f64::max)
        };
        assert_eq!(highest(&svg), 1.0);
        let free = learning_curve("t", "loss", ANY, &[&up]).unwrap();
        assert!(highest(&free) > 1.0);
    }

    #[test]
    fn a_curve_needs_two_points() {
        let one = curve("a", &[&[0.5, 0.6]]);
        assert_eq!(learning_curve("t", "ari", ANY, &[&one]), None);
        let empty = curve("a", &[&[], &[]]);
        assert_eq!(learning_curve("t", "ari", ANY, &[&empty]), None);
    }

    #[test]
    fn curves_stay_inside_and_names_are_escaped() {
        let a = curve("a<b>", &[&[0.5, 0.7], &[0.6, 0.65], &[], &[0.8, 0.9]]);
        let b = curve("b", &[&[0.5], &[0.4], &[0.4], &[0.3]]);
        let svg = learning_curve("iris & co", "ari", ANY, &[&a, &b]).unwrap();
        assert!(svg.contains("a&lt;b&gt;") && svg.contains("iris &amp; co"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        // A single observation has no band; the other curve has one.
        assert_eq!(svg.matches("<polygon").count(), 1);
        assert_eq!(svg.matches("stroke-dasharray").count(), 2);
    }

    #[test]
    fn long_legends_wrap() {
        let curves: Vec<CurveSummary> =
            (0..9).map(|i| curve(&format!("method-number-{i}"), &[&[0.1], &[0.2]])).collect();
        let refs: Vec<&CurveSummary> = curves.iter().collect();
        let lines = legend_lines(&refs, 600.0);
        assert_eq!(lines.iter().map(Vec::len).sum::<usize>(), 9);
        assert!(lines.len() >= 3);
    }
}
