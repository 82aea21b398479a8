//! The figure of clusters, classes and constraints in two dimensions.
//!
//! The objects along their first two principal components, or as they are with two features; one unit is equally
//! long on both axes. Colours are clusters, shapes are classes, constraints are lines. A CSV has what is drawn.

use std::path::Path;

use mustlink_core::prelude::*;
use mustlink_datasets::{Classes, Dataset};
use mustlink_experiments::Format;
use serde_json::json;

use crate::axis::{Axis, Marked};
use crate::chart::{Chart, Panel};
use crate::figure::csv;
use crate::legend::{Key, Legend};
use crate::marks::{At, Mark};
use crate::palette::{
    CANNOT_LINK, COLOURS, Filling, LOOKS, MUST_LINK, NO_SHAPE, Pen, SHAPES, colour,
};
use crate::render::save_figure;
use crate::scale::span;

/// Objects drawn at most.
const OBJECTS: usize = 5000;
/// Constraints drawn at most.
const CONSTRAINTS: usize = 300;
/// Columns of the numbers.
const HEAD: &str = "what,object,other,x,y,cluster,class,violated";
/// Least and largest height of the plot for its width: whatever the objects, there is room for marks and legend.
const HEIGHTS: (f64, f64) = (0.4, 1.25);
/// The colour of objects in no cluster.
const NOISE: &str = "#bbb";

/// Content of the figure.
#[derive(Debug, Clone, Copy)]
pub struct Projection<'a> {
    /// Data that the method got.
    pub data: &'a Data,
    /// The cluster of each object.
    pub labels: &'a [u32],
    /// Constraints to draw.
    pub constraints: &'a Constraints,
    /// Name of each object.
    pub ids: &'a [String],
    /// Classes of the objects.
    pub set: &'a Dataset,
    /// Names of the clusters.
    pub names: &'a [String],
    /// Title of the figure.
    pub title: &'a str,
    /// Width of the plot in pixels.
    pub width: f64,
}

impl Projection<'_> {
    /// Writes projection.svg and projection.csv into `folder`, and the figure in these formats in addition to SVG.
    ///
    /// # Errors
    /// `Data` for objects without features; a file that cannot be written.
    pub fn write(&self, folder: &Path, formats: &[Format], ctx: &Context) -> Result<()> {
        let ctx = ctx.child("plot");
        let (places, names) = self.places(&ctx)?;
        let (chart, rows) = self.draw(&places, names, &ctx);
        save_figure(folder, "projection", &chart.svg(), &csv(HEAD, rows), formats)
    }

    /// Two coordinates of each object, and what they are called.
    fn places(&self, ctx: &Context) -> Result<(Vec<At>, [String; 2])> {
        let tag = match self.data.kind() {
            DataKind::Dense => "pca",
            DataKind::Csr => "lsi",
            other => {
                let message = format!("only objects with features are drawn; these are {other:?}");
                return Err(Error::Data { place: "--plot".into(), message });
            }
        };
        let as_they_are = self.data.d() == 2 && self.data.kind() == DataKind::Dense;
        let mapped = if as_they_are { None } else { Some(mapped(tag, self.data, ctx)?) };
        let data = mapped.as_ref().unwrap_or(self.data);
        let rows = data.to_dense();
        // Objects on a line have one coordinate.
        let place = |i: usize| (rows[[i, 0]], if data.d() > 1 { rows[[i, 1]] } else { 0.0 });
        let names = match (as_they_are, tag) {
            (true, _) => ["first feature".into(), "second feature".into()],
            (false, "pca") => {
                let seen = self.data.to_dense();
                let squares = |at| squares_about_mean(&seen.column(at).to_vec());
                let all: f64 = (0..self.data.d()).map(squares).sum();
                let name = |at: usize, name: &str| {
                    if at >= data.d() || all <= 0.0 {
                        return name.to_string();
                    }
                    let share = 100.0 * squares_about_mean(&rows.column(at).to_vec()) / all;
                    format!("{name} ({share:.0} % of variance)")
                };
                [name(0, "component 1"), name(1, "component 2")]
            }
            (false, _) => ["first singular direction".into(), "second singular direction".into()],
        };
        Ok(((0..data.n()).map(place).collect(), names))
    }

    fn draw(&self, places: &[At], names: [String; 2], ctx: &Context) -> (Chart, Vec<Vec<String>>) {
        let n = places.len();
        let pairs = self.constraints.len();
        let some = |stream: &str, all: usize, most: usize| {
            let mut some =
                if all > most { ctx.stream(stream).sample(all, most) } else { (0..all).collect() };
            some.sort_unstable();
            some
        };
        let shown = some("objects", n, OBJECTS);
        let drawn = some("constraints", pairs, CONSTRAINTS);
        let mut note = format!("{} of {n} objects", shown.len());
        if pairs > 0 {
            note += &format!(", {} of {pairs} constraints", drawn.len());
        }
        let none = String::new;
        let (mut marks, mut rows) = (Vec::new(), Vec::new());
        let drawn: Vec<Constraint> =
            drawn.into_iter().map(|at| self.constraints.pair(at)).collect();
        for c in &drawn {
            let (i, j) = (c.i as usize, c.j as usize);
            let broken = c.is_violated(self.labels);
            marks.push(Mark::Line { points: vec![places[i], places[j]], pen: pen(c.kind, broken) });
            let (what, a, b) =
                (c.kind.name().to_string(), self.ids[i].clone(), self.ids[j].clone());
            rows.push(vec![what, a, b, none(), none(), none(), none(), broken.to_string()]);
        }
        let shapes = self.classes().map(shapes).unwrap_or_default();
        for i in shown {
            let (label, class) = (self.labels[i], self.class(i));
            marks.push(Mark::Point {
                at: places[i],
                shape: match (self.classes(), class) {
                    (None, _) => 0,
                    (_, None) => NO_SHAPE,
                    (_, Some(class)) => shapes[class as usize],
                },
                colour: if label == NONE { NOISE } else { colour(look(label)) },
                filling: if label == NONE { Filling::Full } else { Filling::of_round(look(label)) },
                opacity: 1.0,
                tip: None,
            });
            let cluster = if label == NONE { none() } else { label.to_string() };
            let class = match (self.classes(), class) {
                (Some(classes), Some(c)) => classes.names[c as usize].clone(),
                _ => none(),
            };
            let (x, y) = (places[i].0.to_string(), places[i].1.to_string());
            let id = self.ids[i].clone();
            rows.push(vec!["object".into(), id, none(), x, y, cluster, class, none()]);
        }
        let shapes = if self.classes().is_some() { ", shapes are classes" } else { "" };
        let lines = match drawn.is_empty() {
            true => "",
            false => " Must-links are solid lines, cannot-links dashed; violated ones are thick.",
        };
        let description = format!("{note}; colours and fillings are clusters{shapes}.{lines}");
        let spans = [span(places.iter().map(|p| p.0)), span(places.iter().map(|p| p.1))];
        let ([across, upwards], height) = with_one_unit(spans, self.width);
        let marks_upwards = (6.0 * height / self.width).round().max(4.0) as usize;
        let axis =
            |at: usize, ends, wanted| Axis::exact(&names[at], ends, wanted).marked(Marked::Outside);
        let (x, y) = (axis(0, across, 6), axis(1, upwards, marks_upwards));
        let panels = vec![Panel::new(x, y, height, marks)];
        let chart = Chart::new(self.title, &description, self.width, 1, panels);
        (Chart { note, legend: self.legend(&drawn), ..chart }, rows)
    }

    fn class(&self, i: usize) -> Option<u32> {
        self.classes().and_then(|classes| classes.labels[i])
    }

    /// All classes, or those that are known to the method.
    fn classes(&self) -> Option<&Classes> {
        self.set.classes.as_ref().or(self.set.known.as_ref())
    }

    /// Colours of clusters, shapes of classes, lines of the constraints that are drawn.
    fn legend(&self, drawn: &[Constraint]) -> Legend {
        let mut entries = vec![(Key::Heading, "cluster".to_string())];
        let clusters =
            self.labels.iter().filter(|l| **l != NONE).max().map_or(0, |l| *l as usize + 1);
        let name = |at: usize| self.names.get(at).cloned().unwrap_or_else(|| at.to_string());
        let names = named((0..clusters).map(name).collect(), LOOKS, "clusters");
        let cluster = |at: usize| Key::Shape(0, colour(at), Filling::of_round(at));
        entries.extend(names.into_iter().enumerate().map(|(at, name)| (cluster(at), name)));
        if self.labels.contains(&NONE) {
            entries.push((Key::Shape(0, NOISE, Filling::Full), "noise".into()));
        }
        if let Some(classes) = self.classes() {
            let key = |shape: usize| Key::Shape(shape, COLOURS[6], Filling::Full);
            let names = by_size(classes).into_iter().map(|class| classes.names[class].clone());
            let names = named(names.collect(), SHAPES, "classes");
            entries.push((Key::Heading, "class".into()));
            entries.extend(names.into_iter().enumerate().map(|(at, name)| (key(at), name)));
            if classes.labels.contains(&None) {
                entries.push((key(NO_SHAPE), "class unknown".into()));
            }
        }
        if !drawn.is_empty() {
            entries.push((Key::Heading, "constraint".into()));
        }
        for kind in [Kind::MustLink, Kind::CannotLink] {
            for (broken, words) in [(false, ""), (true, ", violated")] {
                if drawn.iter().any(|c| c.kind == kind && c.is_violated(self.labels) == broken) {
                    let name = format!("{}{words}", kind.hyphenated());
                    entries.push((Key::Line(pen(kind, broken)), name));
                }
            }
        }
        Legend { entries, beside: true }
    }
}

/// The line of a constraint.
fn pen(kind: Kind, violated: bool) -> Pen {
    let width = if violated { 2.6 } else { 0.9 };
    match kind {
        Kind::MustLink => Pen::new(MUST_LINK, width),
        Kind::CannotLink => Pen::new(CANNOT_LINK, width).dashed("4 3"),
    }
}

/// The number of a cluster among those that look different; the last look is shared if there are more clusters.
fn look(label: u32) -> usize {
    (label as usize).min(LOOKS - 1)
}

/// The first names of at most `most` marks; the last mark stands for all others.
fn named(mut names: Vec<String>, most: usize, what: &str) -> Vec<String> {
    let others = names.len().saturating_sub(most - 1);
    if others > 1 {
        names.truncate(most - 1);
        names.push(format!("{others} other {what}"));
    }
    names
}

/// Ranges of both axes with one unit, a little wider than what they hold, and the height of a plot of this width.
/// Distances between points are then distances between objects.
fn with_one_unit(spans: [(f64, f64); 2], width: f64) -> ([(f64, f64); 2], f64) {
    let [across, upwards] = spans.map(|(low, high)| high - low);
    let (least, most) = (HEIGHTS.0 * width, HEIGHTS.1 * width);
    let height = if across > 0.0 { (width * upwards / across).clamp(least, most) } else { most };
    let unit = 1.06 * (across / width).max(upwards / height);
    let unit = if unit > 0.0 { unit } else { 1.0 / width };
    let around = |(low, high): (f64, f64), pixels: f64| {
        let (middle, half) = (low + (high - low) / 2.0, unit * pixels / 2.0);
        (middle - half, middle + half)
    };
    ([around(spans[0], width), around(spans[1], height)], height)
}

/// The classes, the largest first.
fn by_size(classes: &Classes) -> Vec<usize> {
    let sizes = classes.sizes();
    let mut order: Vec<usize> = (0..classes.k()).collect();
    order.sort_by_key(|&class| std::cmp::Reverse(sizes[class]));
    order
}

/// The shape of each class: the largest classes have their own, and all others share the last.
fn shapes(classes: &Classes) -> Vec<usize> {
    let mut shapes = vec![0; classes.k()];
    let ranked = by_size(classes).into_iter().enumerate();
    ranked.for_each(|(rank, class)| shapes[class] = rank.min(SHAPES - 1));
    shapes
}

/// Sum of squared deviations from the mean.
fn squares_about_mean(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|v| (v - mean) * (v - mean)).sum()
}

/// The data in two dimensions, or in one where the objects do not differ in more.
fn mapped(tag: &str, data: &Data, ctx: &Context) -> Result<Data> {
    let problem = Problem::new(data.clone());
    let to = |components: usize| {
        let config = json!({ "type": tag, "components": components });
        let transform: Box<dyn Transform> = mustlink_config::instantiate(config)
            .map_err(|message| Error::Plugin { tag: tag.into(), message })?;
        transform.fit(&problem, ctx)?.apply(data)
    };
    to(2).or_else(|_| to(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_unit_is_equally_long_on_both_axes() {
        for spans in [
            [(0.0, 8.0), (-1.0, 2.0)],
            [(0.0, 1.0), (0.0, 90.0)],
            [(2.0, 2.0), (0.0, 1.0)],
            [(0.0, 1.0), (5.0, 5.0)],
            [(3.0, 3.0), (5.0, 5.0)],
        ] {
            let (ranges, height) = with_one_unit(spans, 400.0);
            let [across, upwards] = ranges.map(|(low, high)| high - low);
            assert!((across / 400.0 - upwards / height).abs() < 1e-12, "{ranges:?} {height}");
            assert!((120.0..=500.0).contains(&height), "{height}");
            for (range, span) in ranges.iter().zip(spans) {
                assert!(range.0 < span.0 && span.1 < range.1, "{range:?} {span:?}");
            }
        }
    }

    #[test]
    fn a_mark_has_one_meaning() {
        let names: Vec<String> = (0..30).map(|at| at.to_string()).collect();
        assert_eq!(named(names[..LOOKS].to_vec(), LOOKS, "clusters"), names[..LOOKS]);
        let shown = named(names.clone(), LOOKS, "clusters");
        assert_eq!(shown[..LOOKS - 1], names[..LOOKS - 1]);
        assert_eq!(shown[LOOKS - 1..], ["10 other clusters"]);
        // Those that share the last look.
        assert_eq!((0..30).filter(|&label| look(label) == LOOKS - 1).count(), 10);
    }
}
