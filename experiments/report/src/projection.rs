//! What do clusters, classes and constraints look like in two dimensions?
//!
//! The objects along their first two principal components, or as they are with two features; colours
//! are clusters, shapes are classes, constraints are lines. Beside the SVG a CSV with what is drawn.

use std::path::Path;

use mustlink_core::prelude::*;
use mustlink_datasets::{Classes, Dataset};
use mustlink_experiments::Format;
use serde_json::json;

use crate::axis::{Axis, Marked, clipped};
use crate::chart::{Chart, Panel};
use crate::figure::csv;
use crate::legend::{Key, Legend};
use crate::marks::{At, Mark};
use crate::palette::{COLOURS, Filling, NO_SHAPE, Pen, SHAPES, colour};
use crate::render::save_figure;
use crate::scale::span;

/// Objects drawn at most.
const OBJECTS: usize = 5000;
/// Constraints drawn at most.
const CONSTRAINTS: usize = 300;
/// Columns of the numbers.
const HEAD: &str = "what,object,other,x,y,cluster,class,violated";
/// Names in a legend at most.
const NAMED: usize = 12;

/// Letters of the name of a class at most.
const LETTERS: usize = 18;
/// Pixels of each side of the plot.
const SIDE: f64 = 480.0;
/// Violated constraints.
const RED: &str = "#c00000";

/// Content of the figure.
#[derive(Debug, Clone, Copy)]
pub struct Projection<'a> {
    /// Data that the method got.
    pub data: &'a Data,
    /// The cluster of each object.
    pub labels: &'a [u32],
    /// Constraints that were given or asked.
    pub constraints: &'a Constraints,
    /// Name of each object.
    pub ids: &'a [String],
    /// Classes of the objects.
    pub set: &'a Dataset,
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
                    format!("{name}, {share:.0} % of the variance")
                };
                [name(0, "first principal component"), name(1, "second principal component")]
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
        for c in drawn.into_iter().map(|at| self.constraints.pair(at)) {
            let (i, j) = (c.i as usize, c.j as usize);
            let broken = c.is_violated(self.labels);
            let pen = if broken { Pen::new(RED, 2.0) } else { Pen::new("#777", 0.8) };
            let (pen, what) = match c.kind {
                Kind::MustLink => (pen, "must_link"),
                Kind::CannotLink => (pen.dashed("4 3"), "cannot_link"),
            };
            marks.push(Mark::Line { points: vec![places[i], places[j]], pen });
            let (a, b) = (self.ids[i].clone(), self.ids[j].clone());
            rows.push(vec![what.into(), a, b, none(), none(), none(), none(), broken.to_string()]);
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
                colour: if label == NONE { "#bbb" } else { colour(label as usize) },
                filling: Filling::of_round(if label == NONE { 0 } else { label as usize }),
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
        let axis = |at: usize, pick: fn(&At) -> f64| {
            Axis::round(&names[at], span(places.iter().map(pick)), 6).marked(Marked::Outside)
        };
        let description = format!(
            "{note}; colours and fillings are clusters{}. Must-links are solid lines, cannot-links dashed; violated \
             ones are thick and red.",
            if self.classes().is_some() { ", shapes are classes" } else { "" }
        );
        let (x, y) = (axis(0, |p| p.0), axis(1, |p| p.1));
        let panels = vec![Panel::new(x, y, SIDE, marks)];
        let title = "Objects in two dimensions";
        let chart = Chart::new(title, &description, SIDE, 1, panels);
        (Chart { note, legend: self.legend(), ..chart }, rows)
    }

    fn class(&self, i: usize) -> Option<u32> {
        self.classes().and_then(|classes| classes.labels[i])
    }

    /// All classes, or those that are known to the method.
    fn classes(&self) -> Option<&Classes> {
        self.set.classes.as_ref().or(self.set.known.as_ref())
    }

    /// Colours of clusters, shapes of classes.
    fn legend(&self) -> Legend {
        let mut entries = Vec::new();
        let mut block = |title: &str, names: Vec<String>, key: fn(usize) -> Key| {
            entries.push((Key::Heading, title.to_string()));
            let more = names.len().saturating_sub(NAMED);
            let named = names.into_iter().take(NAMED).enumerate();
            entries.extend(named.map(|(at, name)| (key(at), name)));
            if more > 0 {
                entries.push((Key::Words, format!("and {more} more")));
            }
        };
        let clusters =
            self.labels.iter().filter(|l| **l != NONE).max().map_or(0, |l| *l as usize + 1);
        let numbers = (0..clusters).map(|c| c.to_string()).collect();
        block("cluster", numbers, |at| Key::Shape(0, colour(at), Filling::of_round(at)));
        if let Some(classes) = self.classes() {
            let shapes = shapes(classes);
            let others = classes.k().saturating_sub(SHAPES - 1);
            let mut names: Vec<String> = (0..classes.k().min(SHAPES))
                .filter_map(|shape| shapes.iter().position(|s| *s == shape))
                .map(|class| clipped(&classes.names[class], LETTERS))
                .collect();
            if others > 1 {
                names[SHAPES - 1] = format!("{others} other classes");
            }
            block("class", names, |at| Key::Shape(at, COLOURS[6], Filling::Full));
            if classes.labels.contains(&None) {
                let key = Key::Shape(NO_SHAPE, COLOURS[6], Filling::Full);
                entries.push((key, "class unknown".into()));
            }
        }
        Legend { entries, beside: true }
    }
}

/// The shape of each class: the largest classes have their own, and all others share the last.
fn shapes(classes: &Classes) -> Vec<usize> {
    let sizes = classes.sizes();
    let mut order: Vec<usize> = (0..classes.k()).collect();
    order.sort_by_key(|&class| std::cmp::Reverse(sizes[class]));
    let mut shapes = vec![0; classes.k()];
    order.iter().enumerate().for_each(|(rank, &class)| shapes[class] = rank.min(SHAPES - 1));
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
