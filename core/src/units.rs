//! In which units does a method see the data? In those of the user, unless numbers would be lost.
//!
//! Squares of 1e160 overflow, squares of 1e−170 vanish, and of values around 1e12 that differ by 4 a
//! squared norm keeps nothing. Where the range of the data asks for it, and only there, methods see
//! the data around another origin and in a unit that is a power of two, which changes no digit of a
//! value. Options that are declared to be in units of the data keep their meaning
//! (`#[option(units = 1)]`), and what a method gives is brought back. Everything else, the user's
//! numbers and every seed, stays as it is.

use std::sync::Arc;

use ndarray::Array2;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::clustering::{Clustering, Extras, Geometry};
use crate::config;
use crate::data::{Data, DataKind};
use crate::ensemble::{Ensemble, Member};
use crate::error::{Error, Result};
use crate::problem::{Problem, Start};
use crate::registry::Catalogue;
use crate::roles::RoleObject;

/// Values of a larger exponent are scaled: fourth powers of the others are finite, n·d of them too.
const HIGH: i32 = 200;
/// Data whose values differ by less than 2 to this are scaled.
const LOW: i32 = -30;
/// Data that lie further from the origin than 2 to this times their extent are centred: a sum of
/// squares has 53 bits, of which 13 would be left.
const FAR: i32 = 20;
/// What an option becomes that is beyond 2 to this, or below its inverse, in the new unit: anything in
/// the data is small, or large, beside it, as it was.
const BEYOND: i32 = 600;

/// An origin and a unit: a value x of the user is seen as (x − origin) · 2^−exponent.
#[derive(Debug, Clone, PartialEq)]
pub struct Units {
    origin: Option<Arc<[f64]>>,
    exponent: i32,
}

/// x · 2^by, where 2^by itself may be no number.
pub fn times_two_to(x: f64, by: i32) -> f64 {
    let near = |e: i32| f64::from_bits(((1023 + e) as u64) << 52);
    let (mut x, mut by) = (x, by.clamp(-2200, 2200));
    while by != 0 {
        let step = by.clamp(-1022, 1023);
        x *= near(step);
        by -= step;
    }
    x
}

/// The exponent of the largest power of two that is not above `x` > 0.
fn exponent(x: f64) -> i32 {
    match ((x.to_bits() >> 52) & 0x7ff) as i32 {
        // Below the smallest normal number.
        0 => exponent(x * times_two_to(1.0, 100)) - 100,
        biased => biased - 1023,
    }
}

impl Units {
    /// The units in which the plugin `tag` with these `options` is to see `data`; `None` for those of
    /// the user.
    pub fn of(data: &Data, tag: &str, options: &impl Serialize) -> Option<Units> {
        let keeping = Units::needed(data, true);
        let moving = Units::needed(data, false);
        if keeping == moving {
            return keeping;
        }
        if origin_matters(tag, options) { keeping } else { moving }
    }

    fn needed(data: &Data, keep_origin: bool) -> Option<Units> {
        let ranges = data.ranges();
        let reach = ranges.iter().fold(0.0f64, |m, r| m.max(r.0.abs()).max(r.1.abs()));
        if reach == 0.0 {
            return None;
        }
        let keep_origin = keep_origin || data.kind() != DataKind::Dense;
        // Halves, since the difference of two finite numbers may be none.
        let half = ranges.iter().fold(0.0f64, |m, r| m.max(r.1 / 2.0 - r.0 / 2.0));
        let extent = if keep_origin || half == 0.0 { reach } else { half };
        let far = !keep_origin && half > 0.0 && exponent(reach) > exponent(half) + 1 + FAR;
        let size = if far { half } else { reach };
        let scaled = exponent(reach) > HIGH || exponent(extent) < LOW;
        let middle = |r: &(f64, f64)| r.0 / 2.0 + r.1 / 2.0;
        (far || scaled).then(|| Units {
            origin: far.then(|| ranges.iter().map(middle).collect()),
            exponent: if scaled { exponent(size) } else { 0 },
        })
    }

    fn seen(&self, feature: usize, value: f64) -> f64 {
        let origin = self.origin.as_ref().map_or(0.0, |o| o[feature]);
        times_two_to(value - origin, -self.exponent)
    }

    fn shown(&self, feature: usize, value: f64) -> f64 {
        let origin = self.origin.as_ref().map_or(0.0, |o| o[feature]);
        times_two_to(value, self.exponent) + origin
    }

    /// A problem of the user as methods see it.
    ///
    /// # Errors
    /// Those of [`Data`].
    pub fn problem(&self, problem: &Problem) -> Result<Problem> {
        let data = problem.data.mapped(|feature, value| self.seen(feature, value))?;
        let start = problem.start.as_ref().map(|start| match &**start {
            Start::Centroids(at) => {
                let seen = Array2::from_shape_fn(at.dim(), |(h, f)| self.seen(f, at[[h, f]]));
                Arc::new(Start::Centroids(seen))
            }
            Start::Labels(_) => start.clone(),
            Start::Clustering(c) => Arc::new(Start::Clustering(Arc::new(self.seen_clustering(c)))),
        });
        Ok(Problem { data, start, ..problem.clone() })
    }

    /// The plugin `tag` with options that mean the same in these units as `options` in the user's;
    /// `None` where all do. What is said to the user about them is added to `notes`.
    ///
    /// # Errors
    /// `Plugin` when it cannot be built again.
    pub fn plugin<R: RoleObject + ?Sized>(
        &self,
        tag: &str,
        options: &impl Serialize,
        notes: &mut Vec<String>,
    ) -> Result<Option<Box<R>>> {
        if self.exponent == 0 {
            return Ok(None);
        }
        let (mut value, mut changed) = (table(options), false);
        walk_plugin(tag, &mut value, &mut |path, value, marks| {
            if marks.bound {
                notes.push(format!(
                    "{path} = {value} depends on the unit of the data, which is taken as 2^{} here; \
                     choose what does not, or scale the data",
                    self.exponent
                ));
            }
            let (Some(power), Some(x)) = (marks.units, value.as_f64()) else { return };
            let least = times_two_to(1.0, -BEYOND);
            let scaled = times_two_to(x, -self.exponent * power);
            let kept = match x == 0.0 {
                true => x,
                false => scaled.abs().clamp(least, 1.0 / least).copysign(x),
            };
            if kept != scaled {
                let side = if scaled.abs() > 1.0 { "larger" } else { "smaller" };
                notes.push(format!("{path} = {x} is {side} than anything in data of this size"));
            }
            changed |= kept != x;
            *value = Value::from(kept);
        });
        let again = |message| Error::Plugin { tag: tag.into(), message };
        changed.then(|| R::from_value(value).map_err(again)).transpose()
    }

    /// What a method found, in the user's units. `power`: the power of the unit that the objective is
    /// in, where it is one; `lengths`: the diagnostics that are lengths. What is no number in the
    /// user's units is left out, which is added to `notes`.
    pub fn shown_clustering(
        &self,
        mut c: Clustering,
        power: Option<i32>,
        lengths: &[&str],
        notes: &mut Vec<String>,
    ) -> Clustering {
        self.show_extras(&mut c.extras, lengths, notes);
        let Some(objective) = c.objective else { return c };
        if self.exponent == 0 {
            return c;
        }
        let shown = |x: f64| power.and_then(|p| lossless(x, p * self.exponent));
        match (shown(objective), c.history.iter().all(|s| shown(s.objective).is_some())) {
            (Some(objective), true) => {
                c.objective = Some(objective);
                c.history.iter_mut().for_each(|s| {
                    s.objective = shown(s.objective).expect("all are numbers");
                });
            }
            _ => {
                c.objective = None;
                c.history.clear();
                let why = "the objective is left out: it is no number in the units of data \
                           of this size";
                notes.push(why.into());
            }
        }
        c
    }

    fn show_extras(&self, extras: &mut Extras, lengths: &[&str], notes: &mut Vec<String>) {
        if let Some(at) = extras.centers.as_mut().filter(|_| extras.geometry != Geometry::Cosine) {
            at.indexed_iter_mut().for_each(|((_, f), x)| *x = self.shown(f, *x));
        }
        for (name, value) in &mut extras.diagnostics {
            if lengths.contains(&name.as_str()) {
                *value = times_two_to(*value, self.exponent);
            }
        }
        self.change_metrics(extras, -2 * self.exponent, notes);
    }

    fn change_metrics(&self, extras: &mut Extras, by: i32, notes: &mut Vec<String>) {
        let Some(metrics) = extras.metrics.as_mut().filter(|_| by != 0) else { return };
        let largest = metrics.iter().flatten().fold(0.0f64, |m, v| m.max(v.abs()));
        if lossless(largest, by).is_some() {
            metrics.iter_mut().for_each(|m| m.mapv_inplace(|v| times_two_to(v, by)));
            return;
        }
        extras.metrics = None;
        extras.geometry = Geometry::SquaredEuclidean;
        let why = "the metrics are left out: they are no numbers in the units of data of this size";
        notes.push(why.into());
    }

    /// A clustering in the user's units as a method sees it.
    pub fn seen_clustering(&self, c: &Clustering) -> Clustering {
        let mut c = c.clone();
        if let Some(at) =
            c.extras.centers.as_mut().filter(|_| c.extras.geometry != Geometry::Cosine)
        {
            at.indexed_iter_mut().for_each(|((_, f), x)| *x = self.seen(f, *x));
        }
        self.change_metrics(&mut c.extras, 2 * self.exponent, &mut Vec::new());
        c
    }

    /// An ensemble in the user's units. Objectives are left out: nobody knows in which unit they are.
    ///
    /// # Errors
    /// Those of [`Ensemble::new`], which has accepted these members before.
    pub fn shown_ensemble(&self, ensemble: Ensemble) -> Result<Ensemble> {
        let n = ensemble.n();
        let shown = |mut m: Member| {
            self.show_extras(&mut m.extras, &[], &mut Vec::new());
            let objective = m.objective.filter(|_| self.exponent == 0);
            Member { objective, ..m }
        };
        Ensemble::new(n, ensemble.into_members().into_iter().map(shown).collect())
    }
}

/// x · 2^by where that is a number of full precision.
fn lossless(x: f64, by: i32) -> Option<f64> {
    let y = times_two_to(x, by);
    (x == 0.0 || y.is_normal()).then_some(y)
}

/// Options as JSON.
fn table(options: &impl Serialize) -> Value {
    serde_json::to_value(options).expect("plugins serialise to plain tables")
}

/// Whether some option of a plugin, or of one it holds, makes the origin of the data matter.
fn origin_matters(tag: &str, options: &impl Serialize) -> bool {
    let mut matters = false;
    walk_plugin(tag, &mut table(options), &mut |_, value, marks| {
        matters |= marks.origin && is_set(value);
    });
    matters
}

/// What an option, or the value it has, declares about units.
#[derive(Debug, Clone, Copy, Default)]
struct Marks<'a> {
    /// The power of the unit of the data that its number is in.
    units: Option<i32>,
    /// With this value the origin of the data matters, and other options of its table that are in a
    /// unit otherwise are in none: angles have none.
    origin: bool,
    /// With this value the result depends on the unit in a way that no option can make up for.
    bound: bool,
    /// The powers that other options of its table are in with this value.
    others: Option<&'a Map<String, Value>>,
}

impl<'a> Marks<'a> {
    fn and(self, schema: &'a Value) -> Self {
        let units = schema.get("x-units").and_then(Value::as_i64).map(|power| power as i32);
        let is = |key: &str| schema.get(key).and_then(Value::as_bool).unwrap_or(false);
        Marks {
            units: self.units.or(units),
            origin: self.origin || is("x-origin"),
            bound: self.bound || is("x-unit-bound"),
            others: self.others.or(schema.get("x-units-of").and_then(Value::as_object)),
        }
    }

    /// What is declared of a value that stands where `schema` says what it may be.
    fn of(value: &Value, schema: &'a Value, root: &'a Value) -> Self {
        let target = config::deref(schema, root);
        let marks = Marks::default().and(schema).and(target);
        match config::alternatives(target).and_then(|list| config::chosen(value, list, root)) {
            Some(chosen) => {
                let Marks { units, origin, bound, others } = Marks::of(value, chosen, root);
                Marks {
                    units: marks.units.or(units),
                    origin: marks.origin || origin,
                    bound: marks.bound || bound,
                    others: marks.others.or(others),
                }
            }
            None => marks,
        }
    }
}

/// Whether an option has a value at all.
fn is_set(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false))
}

type Visit<'a> = &'a mut dyn FnMut(&str, &mut Value, Marks<'_>);

/// Goes through all options of a plugin and of those it holds.
fn walk_plugin(tag: &str, value: &mut Value, visit: Visit<'_>) {
    let known = Catalogue::get().ok().and_then(|all| all.find(tag));
    if let (Some(plugin), Value::Object(options)) = (known, value) {
        walk_table(options, plugin.schema_value(), plugin.schema_value(), "", visit);
    }
}

fn walk_table(
    options: &mut Map<String, Value>,
    schema: &Value,
    root: &Value,
    path: &str,
    visit: Visit<'_>,
) {
    let Some(declared) = schema.get("properties").and_then(Value::as_object) else { return };
    let of = |name: &String, value: &Value| {
        declared.get(name).map(|option| Marks::of(value, option, root))
    };
    let set = options.iter().filter(|(_, value)| is_set(value));
    let marks: Vec<Marks<'_>> = set.filter_map(|(name, value)| of(name, value)).collect();
    let angles = marks.iter().any(|m| m.origin);
    for (name, value) in options {
        let Some(option) = declared.get(name) else { continue };
        let told = marks.iter().find_map(|m| m.others?.get(name)?.as_i64());
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let marks = Marks { units: told.map(|power| power as i32), ..Marks::default() };
        walk(value, option, root, &path, marks, &mut |path, value, marks| {
            let units = marks.units.filter(|_| !angles);
            visit(path, value, Marks { units, ..marks });
        });
    }
}

fn walk(
    value: &mut Value,
    schema: &Value,
    root: &Value,
    path: &str,
    marks: Marks<'_>,
    visit: Visit<'_>,
) {
    if config::slot_role(schema, root).is_some() {
        let tag = value.get("type").and_then(Value::as_str).map(str::to_string);
        let held = tag.and_then(|tag| Catalogue::get().ok()?.find(&tag));
        if let (Value::Object(options), Some(plugin)) = (value, held) {
            walk_table(options, plugin.schema_value(), plugin.schema_value(), path, visit);
        }
        return;
    }
    let marks = marks.and(schema);
    let schema = config::deref(schema, root);
    let marks = marks.and(schema);
    if let Some(list) = config::alternatives(schema) {
        if let Some(chosen) = config::chosen(value, list, root) {
            walk(value, chosen, root, path, marks, visit);
        }
        return;
    }
    match value {
        Value::Object(options) => walk_table(options, schema, root, path, visit),
        Value::Array(items) => {
            let each = schema.get("items").unwrap_or(&Value::Null);
            for (at, item) in items.iter_mut().enumerate() {
                walk(item, each, root, &format!("{path}[{at}]"), marks, visit);
            }
        }
        value => visit(path, value, marks),
    }
}
