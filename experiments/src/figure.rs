//! How does a learning curve look?
//!
//! Plain SVG, written here: text stays text, dashes and markers tell methods apart without colour,
//! and the numbers drawn are those of the CSV beside the figure. A plotting library draws dashes as
//! hundreds of strokes and places a legend only on top of the curves.

use std::fmt::Write;

use crate::summary::CurveSummary;

const WIDTH: f64 = 660.0;
const RIGHT: f64 = 24.0;
const PLOT: f64 = 300.0;
const LINE: f64 = 18.0;

/// Okabe and Ito's colours, told apart with any colour vision; yellow left out on white.
const COLOURS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#333333"];
const DASHES: [&str; 5] = ["", "7 4", "2 3", "9 3 2 3", "12 5"];

/// Draws the mean of each curve with a band for its interval; `None` without two points to join.
pub(crate) fn learning_curve(
    title: &str,
    y_name: &str,
    curves: &[&CurveSummary],
) -> Option<String> {
    let points = curves.iter().flat_map(|c| &c.points);
    let drawn: Vec<(f64, f64, f64)> = points
        .filter_map(|p| {
            let (low, high) = p.score.as_ref()?.interval();
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

    let mut s = String::new();
    let _ = write!(
        s,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" role=\"img\" font-family=\"system-ui, sans-serif\" font-size=\"12\" fill=\"#222\">\n\
         <title>{t}</title>\n<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#fff\"/>\n\
         <text x=\"{left}\" y=\"22\" font-size=\"15\" font-weight=\"600\">{t}</text>\n",
        t = escape(title)
    );
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
    for t in &y_ticks {
        let _ = writeln!(
            s,
            "<path d=\"M{left} {y:.1}H{:.1}\" stroke=\"#e4e4e4\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - RIGHT,
            left - 8.0,
            y(*t) + 4.0,
            number(*t, &y_ticks),
            y = y(*t)
        );
    }
    for t in &x_ticks {
        let _ = writeln!(
            s,
            "<path d=\"M{x:.1} {bottom}v5\" stroke=\"#555\"/><text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            bottom + 19.0,
            number(*t, &x_ticks),
            x = x(*t)
        );
    }
    let _ = writeln!(
        s,
        "<path d=\"M{left} {top}V{bottom}H{:.1}\" fill=\"none\" stroke=\"#555\"/>\n\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">queries</text>\n\
         <text transform=\"translate(17 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
        WIDTH - RIGHT,
        (left + WIDTH - RIGHT) / 2.0,
        bottom + 39.0,
        (top + bottom) / 2.0,
        escape(y_name)
    );
    // All bands lie below all lines.
    for (at, curve) in curves.iter().enumerate() {
        let ends: Vec<(f64, f64, f64)> = curve
            .points
            .iter()
            .filter_map(|p| {
                let score = p.score.as_ref().filter(|s| s.half_width.is_some())?;
                let (low, high) = score.interval();
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
        let means: Vec<(f64, f64, &crate::summary::PointSummary)> = curve
            .points
            .iter()
            .filter_map(|p| Some((x(p.p), y(p.score.as_ref()?.mean), p)))
            .collect();
        let path: Vec<String> = means.iter().map(|(x, y, _)| format!("{x:.1} {y:.1}")).collect();
        let _ = writeln!(s, "<path d=\"M{}\" {}/>", path.join("L"), stroke(at));
        for (px, py, p) in &means {
            let tip = p.score.as_ref().map_or_else(String::new, |v| {
                format!("{}: {} at {} queries", curve.method, mean_text(v.mean, v.half_width), p.p)
            });
            let _ = writeln!(s, "<g>{}<title>{}</title></g>", marker(at, *px, *py), escape(&tip));
        }
    }
    s.push_str("</svg>\n");
    Some(s)
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

/// About `wanted` round numbers that enclose both ends.
pub fn ticks(low: f64, high: f64, wanted: usize) -> Vec<f64> {
    let span = if high > low { high - low } else { low.abs().max(1.0) * 0.1 };
    let raw = span / wanted as f64;
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|f| f * power)
        .find(|s| *s >= raw * 0.999)
        .unwrap_or(power * 10.0);
    let first = (low / step + 1e-9).floor() as i64;
    let last = (high / step - 1e-9).ceil().max(first as f64 + 1.0) as i64;
    (first..=last).map(|i| i as f64 * step).collect()
}

/// A tick with as many decimals as the distance to its neighbour needs.
pub fn number(v: f64, all: &[f64]) -> String {
    let step = all.windows(2).map(|w| w[1] - w[0]).fold(f64::INFINITY, f64::min);
    let decimals = (0..6).find(|&d| {
        let scaled = step * 10f64.powi(d);
        (scaled - scaled.round()).abs() < 1e-6 && scaled.round() >= 1.0
    });
    let text = format!("{v:.*}", decimals.unwrap_or(0) as usize);
    if text.starts_with('-') && v == 0.0 { text[1..].into() } else { text }
}

/// Text for XML and HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Summary;
    use crate::summary::PointSummary;

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

    #[test]
    fn ticks_are_round_and_enclose() {
        assert_eq!(ticks(0.0, 100.0, 10).len(), 11);
        let t = ticks(0.613, 0.944, 6);
        assert!(t[0] <= 0.613 && *t.last().unwrap() >= 0.944 && t.len() <= 9, "{t:?}");
        assert_eq!(number(0.65, &[0.6, 0.65]), "0.65");
        assert_eq!(number(20.0, &[0.0, 20.0]), "20");
        assert!(ticks(0.5, 0.5, 6).len() >= 2);
    }

    #[test]
    fn a_curve_needs_two_points() {
        let one = curve("a", &[&[0.5, 0.6]]);
        assert_eq!(learning_curve("t", "ari", &[&one]), None);
        let empty = curve("a", &[&[], &[]]);
        assert_eq!(learning_curve("t", "ari", &[&empty]), None);
    }

    #[test]
    fn curves_stay_inside_and_names_are_escaped() {
        let a = curve("a<b>", &[&[0.5, 0.7], &[0.6, 0.65], &[], &[0.8, 0.9]]);
        let b = curve("b", &[&[0.5], &[0.4], &[0.4], &[0.3]]);
        let svg = learning_curve("iris & co", "ari", &[&a, &b]).unwrap();
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
