//! Figures of learning curves.
//!
//! Lines of means with bands for their intervals, both within the range of the metric; dashes and
//! markers distinguish methods without colour. Where a selector had no further question, a bar ends the
//! line, and what follows is faint. Below, on request, how confident one can be that a method differs
//! from a baseline.

use crate::axis::Axis;
use crate::chart::{Chart, Panel};
use crate::curves::{CurveSummary, PointSummary};
use crate::figure::{cell, csv};
use crate::legend::{Key, Legend};
use crate::marks::{At, Mark};
use crate::palette::{COLOURS, Filling, Pen, colour};
use crate::scale::{Scale, span, ticks};
use mustlink_core::text::count;

/// Room for one figure, in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Room {
    /// Width and height of the plot within its axes.
    plot: (f64, f64),
    /// True if it has a legend of its own.
    alone: bool,
}

/// A figure by itself.
pub(crate) const ALONE: Room = Room { plot: (568.0, 300.0), alone: true };
/// One of many that share a legend.
pub(crate) const SMALL: Room = Room { plot: (228.0, 170.0), alone: false };

impl Room {
    /// A figure by itself whose plot has this width.
    pub fn wide(width: u32) -> Room {
        let width = f64::from(width);
        Room { plot: (width, width * ALONE.plot.1 / ALONE.plot.0), ..ALONE }
    }
}

/// Values from which on an interval is drawn: the t interval of two values is 13 times as wide as their spread.
pub(crate) const FEWEST: usize = 3;
/// Most series of a figure with bands: the bands of more would cover each other, and the lines.
pub(crate) const MOST_BANDS: usize = 6;

/// Levels of confidence, with their sign, from below to above.
const LEVELS: [f64; 9] = [-99.0, -97.5, -95.0, -90.0, 0.0, 90.0, 95.0, 97.5, 99.0];
/// Pixels between two of them.
const STEP: f64 = 15.0;

/// One method of a figure: its number among the methods of the experiment, which decides how it is
/// drawn, and its curve.
pub(crate) type Series<'a> = (usize, &'a CurveSummary);

/// Content of the figure.
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

/// The ends of an interval within the range; absent with too few values for an interval.
fn band(p: &PointSummary, (min, max): (f64, f64)) -> Option<(f64, f64)> {
    let (low, high) = p.score.as_ref().filter(|score| score.n >= FEWEST)?.interval()?;
    Some((low.clamp(min, max), high.clamp(min, max)))
}

impl Curves<'_> {
    /// The figure; `None` without two points to join.
    pub fn figure(&self, room: Room) -> Option<String> {
        let names: Vec<&str> = self.series.iter().map(|(_, c)| c.method.as_str()).collect();
        let description = format!(
            "Learning curves of {}: mean {} against the number of queries{}.",
            // Small figures of a page have one legend, above all of them.
            if room.alone { names.join(", ") } else { count(names.len(), "method") },
            self.y_name,
            match self.against {
                Some(_) if room.alone => ", and below the confidence in differences",
                _ => "",
            }
        );
        let panel = self.panel(room)?;
        let below = self.confidence(panel.x.clone()).filter(|_| room.alone);
        let panels = std::iter::once(panel).chain(below).collect();
        let mut chart = Chart::new(self.title, &description, room.plot.0, 1, panels);
        if room.alone {
            let series = self.series.iter().map(|(at, c)| (*at, c.method.as_str()));
            chart.legend = Legend::of_series(series);
            chart.legend.entries.extend(hollow(self.series.iter().map(|s| s.1)));
        }
        Some(chart.svg())
    }

    /// Confidence in the differences from the baseline, without the curves; `None` without a baseline.
    pub fn differences(&self, room: Room) -> Option<String> {
        let (baseline, _) = self.against.as_ref()?;
        let panel = self.confidence(self.panel(room)?.x)?.titled("");
        let description = format!(
            "Confidence, in percent, that each method differs from {baseline}, against the number of queries."
        );
        Some(Chart::new(self.title, &description, room.plot.0, 1, vec![panel]).svg())
    }

    /// The curves.
    fn panel(&self, room: Room) -> Option<Panel> {
        let scored = || {
            let points = self.series.iter().flat_map(|(_, c)| &c.points);
            points.filter_map(|p| Some((p, p.score.as_ref()?.mean)))
        };
        let ends = span(scored().map(|(p, _)| p.p));
        if !ends.1.is_finite() || ends.1 <= ends.0 {
            return None;
        }
        let has_bands = self.series.len() <= MOST_BANDS;
        let (low, high) = span(scored().flat_map(|(p, mean)| {
            let band = band(p, self.range).filter(|_| has_bands);
            let (low, high) = band.unwrap_or((mean, mean));
            [low, mean, high]
        }));
        // Equal values have an axis around them, as far as the metric has values there.
        let around = if high > low { 0.0 } else { 0.1 * high.abs().max(1.0) };
        let (low, high) = ((low - around).max(self.range.0), (high + around).min(self.range.1));
        // Round marks may lie beyond what the metric can be; the axis does not.
        let mut marks = ticks(low, high, if room.alone { 6 } else { 4 });
        marks.retain(|t| *t >= self.range.0 - 1e-9 && *t <= self.range.1 + 1e-9);
        let (low, high) = span(marks.iter().copied().chain([low, high]));
        let scale = Scale::linear(low, if high > low { high } else { low + 1.0 });
        // All bands lie below all lines.
        let bands = self.series.iter().filter(|_| has_bands);
        let bands = bands.filter_map(|(at, c)| self.band(*at, c, ends.0));
        let lines = self.series.iter().map(|(at, c)| line(*at, c));
        let wanted = (room.plot.0 / 50.0).round().clamp(3.0, 10.0);
        let x = Axis::exact("queries", ends, wanted as usize);
        let y = Axis::numbers(self.y_name, scale, &marks).of_amounts();
        Some(Panel::new(x, y, room.plot.1, bands.chain(lines).collect()))
    }

    /// The intervals of one method; `None` where fewer than two are drawn.
    fn band(&self, series: usize, curve: &CurveSummary, first: f64) -> Option<Mark> {
        let mut points = Vec::new();
        let mut end = curve.end;
        for p in &curve.points {
            let Some((low, high)) = band(p, self.range) else {
                continue;
            };
            // The clustering after the last question has its band from there on.
            if let Some(end) = end.take_if(|e| *e < p.p) {
                points.push((end.max(first), low, high));
            }
            points.push((p.p, low, high));
        }
        (points.len() > 1).then_some(Mark::Band { series, points })
    }

    /// Confidence in a difference from the baseline, level by level.
    fn confidence(&self, x: Axis) -> Option<Panel> {
        let (baseline, levels) = self.against.as_ref()?;
        // Levels stand at one distance, whatever lies between them.
        let place = |level: f64| LEVELS.iter().position(|l| *l == level).unwrap_or(4) as f64;
        let mut y = Axis::hidden(0.0, (LEVELS.len() - 1) as f64);
        y.ticks = LEVELS.iter().map(|l| (place(*l), l.to_string())).collect();
        y = y.marked(x.marked);
        y.name = "confidence, %".into();
        let lines = self.series.iter().zip(levels).filter_map(|((at, curve), levels)| {
            let levels = curve.points.iter().zip(levels);
            let levels = levels.filter_map(|(p, level)| {
                let (level, here) = ((*level)?, (p.p, place((*level)?)));
                let said = match level {
                    l if l > 0.0 => format!("higher, {l} %"),
                    l if l < 0.0 => format!("lower, {} %", -l),
                    _ => "below 90 %".into(),
                };
                let tip = format!("{}: {said} at {} queries", curve.method, point_text(p.p));
                Some((here, Mark::marker(*at, here, Some(tip))))
            });
            let (points, markers): (Vec<At>, Vec<Mark>) = levels.unzip();
            let line = Mark::Line { points, pen: Pen::series(*at) };
            let marks = std::iter::once(line).chain(markers).collect::<Vec<_>>();
            (marks.len() > 1).then_some(Mark::Group { series: Some(*at), marks })
        });
        let height = STEP * (LEVELS.len() - 1) as f64;
        let title = format!("above 0: higher than {baseline}");
        Some(Panel::new(x, y, height, lines.collect()).titled(&title))
    }

    /// The numbers drawn: as in summary.csv, then the band within the range, where the selector ended,
    /// and the confidence in a difference from the baseline.
    pub fn numbers(&self) -> Vec<u8> {
        let head = "dataset,metric,method,p,mean,low,high,band_low,band_high,units,cells,\
                    undefined,failed,selector_end,confidence";
        let lines = self.series.iter().enumerate().flat_map(|(at, (_, c))| {
            c.points.iter().enumerate().map(move |(point, p)| {
                let score = p.score.as_ref();
                let ends = score.and_then(|s| s.interval());
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
        csv(head, lines)
    }
}

/// True if a point is the mean of the cells that did not fail: of another sample than its neighbours.
fn survivors(point: &PointSummary) -> bool {
    point.failed > 0 && point.scored > 0
}

/// Legend of hollow points; absent without such points.
fn hollow<'a>(curves: impl IntoIterator<Item = &'a CurveSummary>) -> Option<(Key, String)> {
    let any = curves.into_iter().flat_map(|c| &c.points).any(survivors);
    let key = Key::Shape(0, COLOURS[6], Filling::Hollow);
    any.then(|| (key, "hollow: without cells that failed".to_string()))
}

/// The line of one method with its markers.
fn line(at: usize, curve: &CurveSummary) -> Mark {
    let means: Vec<(At, &PointSummary)> =
        curve.points.iter().filter_map(|p| Some(((p.p, p.score.as_ref()?.mean), p))).collect();
    let places = |part: &[(At, &PointSummary)]| part.iter().map(|(at, _)| *at).collect::<Vec<At>>();
    // The points from the end on are one clustering, that after the last question.
    let end = curve.end.filter(|_| means.len() > 1);
    let after = end.and_then(|e| means.iter().position(|((p, _), _)| *p > e));
    let (before, rest) = means.split_at(after.unwrap_or(means.len()));
    let mut path = places(before);
    let mut marks = Vec::new();
    if let (Some(end), Some(((_, v), _))) = (end, rest.first()) {
        let here = (end.max(means[0].0.0), *v);
        path.push(here);
        let points = [vec![here], places(rest)].concat();
        marks.push(Mark::Line { points, pen: Pen { opacity: 0.3, ..Pen::series(at) } });
        let tip = format!("{}: no further question after {}", curve.method, point_text(end));
        marks.push(Mark::Stop { at: here, pen: Pen::new(colour(at), 2.5), tip });
    }
    if !path.is_empty() {
        marks.push(Mark::Line { points: path, pen: Pen::series(at) });
    }
    marks.extend(before.iter().map(|(place, point)| {
        let some = survivors(point);
        let tip = point.score.as_ref().map(|score| {
            let mean = mean_text(score.mean, score.half_width);
            let of = if some {
                format!(
                    ", {} of {} cells, the others failed",
                    point.scored,
                    point.scored + point.failed
                )
            } else {
                String::new()
            };
            format!("{}: {mean} at {} queries{of}", curve.method, point_text(place.0))
        });
        let filling = if some { Filling::Hollow } else { Filling::Full };
        Mark::Point { at: *place, shape: at, colour: colour(at), filling, opacity: 1.0, tip }
    }));
    Mark::Group { series: Some(at), marks }
}

/// Small figures side by side under one legend, as one figure; `None` without one that has curves.
pub(crate) fn grid(title: &str, panels: &[Curves<'_>], methods: &[&str]) -> Option<String> {
    let drawn = panels.iter().filter_map(|p| Some(p.panel(SMALL)?.titled(p.title)));
    let hollow = hollow(panels.iter().flat_map(|p| &p.series).map(|s| s.1));
    let panels: Vec<Panel> = drawn.collect();
    if panels.is_empty() {
        return None;
    }
    let description = format!(
        "Learning curves of {} on {} data sets, one each.",
        methods.join(", "),
        panels.len()
    );
    let mut chart = Chart::new(title, &description, SMALL.plot.0, 3, panels);
    chart.legend = Legend::of_series(methods.iter().copied().enumerate());
    chart.legend.entries.extend(hollow);
    Some(chart.svg())
}

/// A number of queries: whole where a file names it, a mean where methods decide.
pub(crate) fn point_text(p: f64) -> String {
    if p.fract() == 0.0 { p.to_string() } else { format!("{p:.1}") }
}

/// `0.812 ± 0.013`.
pub(crate) fn mean_text(mean: f64, half_width: Option<f64>) -> String {
    mean_with(mean, half_width, 3)
}

/// The same with so many decimals, where the numbers are not large.
pub(crate) fn mean_with(mean: f64, half_width: Option<f64>, decimals: usize) -> String {
    match half_width {
        Some(h) => format!("{} ± {}", short(mean, decimals), short(h, decimals)),
        None => short(mean, decimals),
    }
}

fn short(v: f64, decimals: usize) -> String {
    match v.abs() {
        a if a < 1e3 => {
            let text = format!("{v:.decimals$}");
            // What is rounded to 0 has no sign.
            let is_0 = text.bytes().all(|letter| b"-0.".contains(&letter));
            if is_0 { text.replace('-', "") } else { text }
        }
        a if a < 1e7 => format!("{v:.0}"),
        _ => format!("{v:.2e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_experiments::statistics::Summary;

    #[test]
    fn numbers_are_rounded_not_cut() {
        assert_eq!(mean_text(0.0007, Some(0.0004)), "0.001 ± 0.000");
        assert_eq!(
            (mean_text(-0.0002, None), mean_text(-0.0007, None)),
            ("0.000".into(), "-0.001".into())
        );
        assert_eq!(mean_with(0.0000412, Some(1e-6), 7), "0.0000412 ± 0.0000010");
        assert_eq!(
            (mean_text(1234.5, None), mean_text(2e7, None)),
            ("1234".into(), "2.00e7".into())
        );
    }

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
            area_failed: 0,
            area_undefined: 0,
            end: None,
        }
    }

    fn curves<'a>(title: &'a str, all: &'a [CurveSummary]) -> Curves<'a> {
        let series = all.iter().enumerate().collect();
        Curves { title, y_name: "ari", range: (-1.0, 1.0), series, against: None }
    }

    #[test]
    fn a_figure_can_be_small() {
        assert_eq!(Room::wide(568), ALONE);
        let both = [curve("a", &[&[0.5], &[0.7], &[0.6]]), curve("b", &[&[0.5], &[0.4], &[0.4]])];
        let drawn = curves("iris", &both).figure(Room::wide(284)).unwrap();
        // Half of 300 pixels, and half the numbers below.
        let axes = drawn.split("<path d=\"M").find(|p| p.contains("fill=\"none\" stroke=\"#555\""));
        let (top, bottom) = axes.unwrap().split_once('V').unwrap();
        let top: f64 = top.split(' ').nth(1).unwrap().parse().unwrap();
        let bottom: f64 = bottom.split('H').next().unwrap().parse().unwrap();
        assert!((bottom - top - 150.0).abs() < 0.2, "{drawn}");
    }

    /// The numbers after `key` up to a quote.
    fn path_of(svg: &str, method: usize) -> Vec<f64> {
        let group = svg.split(&format!("<g data-m=\"{method}\">")).nth(1).unwrap();
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
            curve("a<b>", &[&[0.5, 0.6, 0.7], &[0.6, 0.6, 0.65], &[], &[0.8, 0.8, 0.9]]),
            curve("b", &[&[0.5, 0.1], &[0.4, 0.2], &[0.4, 0.3], &[0.3, 0.1]]),
        ];
        let svg = curves("iris & co", &both).figure(ALONE).unwrap();
        assert!(svg.contains("a&lt;b&gt;") && svg.contains("iris &amp; co"));
        assert!(svg.contains("<desc>Learning curves of a&lt;b&gt;, b: mean ari"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        // Two values are too few for a band; the other curve has one.
        assert_eq!(svg.matches("<polygon").count(), 1);
        assert_eq!(svg.matches("stroke-dasharray").count(), 2);
    }

    #[test]
    fn an_axis_without_0_is_shown_as_broken() {
        let drawn = |low: f64| {
            let one = [curve("a", &[&[low], &[0.95]])];
            curves("iris", &one).figure(ALONE).unwrap().matches("l8-4m0-4l-8 4").count()
        };
        assert_eq!((drawn(0.8), drawn(0.0), drawn(-0.5)), (1, 0, 0));
    }

    #[test]
    fn equal_values_have_an_axis_within_the_metric() {
        let one = [curve("a", &[&[1.0, 1.0, 1.0], &[1.0, 1.0, 1.0]])];
        let svg = curves("iris", &one).figure(ALONE).unwrap();
        assert!(svg.contains(">0.90</text>") && svg.contains(">1.00</text>"), "{svg}");
        assert!(!svg.contains(">1.02</text>"), "{svg}");
    }

    #[test]
    fn many_methods_have_no_bands() {
        let bands = |methods: usize| {
            let all: Vec<CurveSummary> = (0..methods)
                .map(|at| curve(&at.to_string(), &[&[0.1, 0.2, 0.3], &[0.6, 0.7, 0.8]]))
                .collect();
            curves("iris", &all).figure(ALONE).unwrap().matches("<polygon").count()
        };
        assert_eq!((bands(MOST_BANDS), bands(MOST_BANDS + 1)), (MOST_BANDS, 0));
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
        let wide = [curve("a", &[&[0.1, 0.1, 0.99], &[0.2, 0.2, 0.98]])];
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
    fn points_of_survivors_are_hollow() {
        let mut some = curve("a", &[&[0.1], &[0.5], &[0.6]]);
        (some.points[2].scored, some.points[2].failed) = (2, 8);
        let svg = curves("iris", std::slice::from_ref(&some)).figure(ALONE).unwrap();
        // The point, and what the legend says of it.
        assert_eq!(svg.matches("fill=\"#fff\" stroke=").count(), 2, "{svg}");
        assert!(svg.contains("2 of 10 cells, the others failed"));
        assert!(svg.contains("hollow: without cells that failed"));
        let all = grid("ari", &[curves("iris", std::slice::from_ref(&some))], &["a"]).unwrap();
        assert_eq!(all.matches("fill=\"#fff\" stroke=").count(), 2, "{all}");
        let whole = [curve("a", &[&[0.1], &[0.5]])];
        assert!(!curves("iris", &whole).figure(ALONE).unwrap().contains("hollow"));
    }

    #[test]
    fn a_band_turns_where_the_line_does() {
        let mut ended = curve("a", &[&[0.1, 0.2, 0.3], &[0.6, 0.7, 0.8], &[0.6, 0.7, 0.8]]);
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
        let alone = drawn.differences(SMALL).unwrap();
        assert!(alone.contains(">-97.5</text>") && !alone.contains("mean ari"), "{alone}");
        // Its marks tell their values, as those of the curves do.
        for drawn in [&svg, &alone] {
            assert!(drawn.contains("<title>other: higher, 97.5 % at 0 queries</title>"));
            assert!(drawn.contains("<title>other: lower, 90 % at 10 queries</title>"));
        }
        assert_eq!(curves("iris", &both).differences(SMALL), None);
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
