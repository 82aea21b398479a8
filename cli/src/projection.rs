//! What do clusters, classes and constraints look like in two dimensions?
//!
//! The objects along their first two principal components, or as they are with two features; colours
//! are clusters, shapes are classes, constraints are lines. Beside the SVG a CSV with what is drawn.

use std::fmt::Write;
use std::path::Path;

use mustlink::constraints::{Constraint, Kind};
use mustlink::prelude::*;
use mustlink_datasets::{Classes, Dataset};
use mustlink_experiments::Format;
use mustlink_report::save_figure;
use mustlink_report::svg::{self, COLOURS, Frame, Mark, Marks, escape, number, ticks};
use serde_json::json;

/// Objects drawn at most.
const OBJECTS: usize = 5000;
/// Constraints drawn at most.
const CONSTRAINTS: usize = 300;
/// Columns of the numbers.
const HEAD: [&str; 8] = ["what", "object", "other", "x", "y", "cluster", "class", "violated"];
/// Names in a legend at most.
const NAMED: usize = 12;

const LEFT: f64 = 70.0;
const TOP: f64 = 52.0;
const SIDE: f64 = 480.0;
const BESIDE: f64 = 170.0;
const FRAME: Frame =
    Frame { left: LEFT, top: TOP, right: LEFT + SIDE, bottom: TOP + SIDE, marks: Marks::Outside };

/// What is drawn.
pub(crate) struct Projection<'a> {
    /// What the method saw.
    pub data: &'a Data,
    pub labels: &'a [u32],
    pub constraints: &'a Constraints,
    /// Ids and classes of the objects.
    pub set: &'a Dataset,
}

impl Projection<'_> {
    /// Writes projection.svg and projection.csv into `folder`, and the figure in these formats beside SVG.
    ///
    /// # Errors
    /// `Data` for objects without features; a file that cannot be written.
    pub fn write(&self, folder: &Path, formats: &[Format], ctx: &Context) -> Result<()> {
        let ctx = ctx.child("plot");
        let (places, names) = self.places(&ctx)?;
        let (svg, rows) = self.draw(&places, &names, &ctx);
        let mut out = csv::Writer::from_writer(Vec::new());
        let written = out
            .write_record(HEAD)
            .and_then(|()| rows.iter().try_for_each(|row| out.write_record(row)))
            .map_err(|e| e.to_string())
            .and_then(|()| out.into_inner().map_err(|e| e.to_string()));
        let unwritten = |message| Error::Data { place: "projection.csv".into(), message };
        save_figure(folder, "projection", &svg, &written.map_err(unwritten)?, formats)
    }

    /// Two coordinates of each object, and what they are called.
    fn places(&self, ctx: &Context) -> Result<(Vec<[f64; 2]>, [String; 2])> {
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
        let place = |i: usize| [rows[[i, 0]], if data.d() > 1 { rows[[i, 1]] } else { 0.0 }];
        let names = match (as_they_are, tag) {
            (true, _) => ["first feature", "second feature"],
            (false, "pca") => ["first principal component", "second principal component"],
            (false, _) => ["first singular direction", "second singular direction"],
        };
        Ok(((0..data.n()).map(place).collect(), names.map(str::to_string)))
    }

    fn draw(
        &self,
        places: &[[f64; 2]],
        names: &[String; 2],
        ctx: &Context,
    ) -> (String, Vec<[String; 8]>) {
        let n = places.len();
        let mut shown: Vec<usize> =
            if n > OBJECTS { ctx.stream("objects").sample(n, OBJECTS) } else { (0..n).collect() };
        shown.sort_unstable();
        let pairs = self.constraints.pairs();
        let mut drawn: Vec<usize> = if pairs.len() > CONSTRAINTS {
            ctx.stream("constraints").sample(pairs.len(), CONSTRAINTS)
        } else {
            (0..pairs.len()).collect()
        };
        drawn.sort_unstable();
        let drawn: Vec<&Constraint> = drawn.into_iter().map(|at| &pairs[at]).collect();

        let marks: [Vec<f64>; 2] = [0, 1].map(|axis| {
            let ends = (f64::INFINITY, f64::NEG_INFINITY);
            let values = places.iter().map(|p| p[axis]);
            let (low, high) = values.fold(ends, |(l, h), v| (l.min(v), h.max(v)));
            ticks(low, high, 6)
        });
        let share = |v: f64, marks: &[f64]| (v - marks[0]) / (marks[marks.len() - 1] - marks[0]);
        let x = |p: &[f64; 2]| LEFT + SIDE * share(p[0], &marks[0]);
        let y = |p: &[f64; 2]| TOP + SIDE * (1.0 - share(p[1], &marks[1]));

        let mut about = format!("{} of {n} objects", shown.len());
        if !pairs.is_empty() {
            let _ = write!(about, ", {} of {} constraints", drawn.len(), pairs.len());
        }
        let title = "Objects in two dimensions";
        let description = format!(
            "{about}; colours are clusters{}. Must-links are solid lines, cannot-links dashed; violated \
             ones are thick and red.",
            if self.set.classes.is_some() { ", shapes are classes" } else { "" }
        );
        let width = LEFT + SIDE + BESIDE;
        let mut s = svg::head(title, &description, width, TOP + SIDE + 50.0, LEFT);
        let _ = writeln!(s, "<text x=\"{LEFT}\" y=\"40\">{}</text>", escape(&about));
        let none = String::new;
        let mut rows: Vec<[String; 8]> = Vec::new();
        for c in drawn {
            let (i, j) = (c.i as usize, c.j as usize);
            let broken = c.is_violated(self.labels);
            let dash = if c.kind == Kind::CannotLink { " stroke-dasharray=\"4 3\"" } else { "" };
            let (colour, thick) = if broken { ("#c00000", 2.0) } else { ("#777", 0.8) };
            let _ = writeln!(
                s,
                "<path d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke=\"{colour}\" stroke-width=\"{thick}\"{dash}/>",
                x(&places[i]),
                y(&places[i]),
                x(&places[j]),
                y(&places[j])
            );
            let what = if c.kind == Kind::MustLink { "must_link" } else { "cannot_link" };
            let (a, b) = (self.set.id(i), self.set.id(j));
            rows.push([what.into(), a, b, none(), none(), none(), none(), broken.to_string()]);
        }
        for i in shown {
            let (label, class) = (self.labels[i], self.class(i));
            let at = (x(&places[i]), y(&places[i]));
            let colour = if label == NONE { "#bbb" } else { svg::colour(label as usize) };
            s += &svg::shape(class.map_or(0, |c| c as usize), colour, at.0, at.1);
            s.push('\n');
            let cluster = if label == NONE { none() } else { label.to_string() };
            let class = match (&self.set.classes, class) {
                (Some(classes), Some(c)) => classes.names[c as usize].clone(),
                _ => none(),
            };
            let [a, b] = places[i].map(|v| v.to_string());
            rows.push(["object".into(), self.set.id(i), none(), a, b, cluster, class, none()]);
        }
        let on = |axis: usize, at: &dyn Fn(f64) -> f64| -> Vec<Mark> {
            marks[axis].iter().map(|t| (at(*t), number(*t, &marks[axis]))).collect()
        };
        FRAME.x_marks(&mut s, &on(0, &|t| x(&[t, 0.0])));
        FRAME.y_marks(&mut s, &on(1, &|t| y(&[0.0, t])));
        FRAME.axes(&mut s, &escape(&names[0]), &escape(&names[1]));
        self.legend(&mut s);
        s.push_str("</svg>\n");
        (s, rows)
    }

    fn class(&self, i: usize) -> Option<u32> {
        self.set.classes.as_ref().and_then(|classes| classes.labels[i])
    }

    /// Colours of clusters, shapes of classes.
    fn legend(&self, s: &mut String) {
        let clusters =
            self.labels.iter().filter(|l| **l != NONE).max().map_or(0, |l| *l as usize + 1);
        let left = LEFT + SIDE + 24.0;
        let mut y = TOP + 8.0;
        let text = |s: &mut String, y: f64, indent: f64, text: &str| {
            let (x, y) = (left + indent, y + 4.0);
            let _ = writeln!(s, "<text x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escape(text));
        };
        let mut block =
            |s: &mut String, title: &str, names: &[String], mark: &dyn Fn(usize, f64) -> String| {
                text(s, y, -4.0, title);
                for (at, name) in names.iter().take(NAMED).enumerate() {
                    y += svg::LINE;
                    *s += &mark(at, y);
                    text(s, y, 12.0, name);
                }
                if names.len() > NAMED {
                    y += svg::LINE;
                    text(s, y, 12.0, &format!("and {} more", names.len() - NAMED));
                }
                y += 2.0 * svg::LINE;
            };
        let numbers: Vec<String> = (0..clusters).map(|c| c.to_string()).collect();
        block(s, "cluster", &numbers, &|at, y| svg::shape(0, svg::colour(at), left, y));
        if let Some(Classes { names, .. }) = &self.set.classes {
            let short = |name: &String| {
                if name.chars().count() > 18 {
                    name.chars().take(17).chain(['…']).collect()
                } else {
                    name.clone()
                }
            };
            let names: Vec<String> = names.iter().map(short).collect();
            block(s, "class", &names, &|at, y| svg::shape(at, COLOURS[6], left, y));
        }
    }
}

/// The data in two dimensions, or in one where the objects do not differ in more.
fn mapped(tag: &str, data: &Data, ctx: &Context) -> Result<Data> {
    let problem = Problem::new(data.clone());
    let to = |components: usize| {
        let config = json!({ "type": tag, "components": components });
        let transform: Box<dyn Transform> = mustlink::config::instantiate(config)
            .map_err(|message| Error::Plugin { tag: tag.into(), message })?;
        transform.fit(&problem, ctx)?.apply(data)
    };
    to(2).or_else(|_| to(1))
}
