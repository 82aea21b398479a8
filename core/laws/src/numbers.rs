//! The law that a plugin rejects numbers outside the ranges of its options.

use serde_json::{Map, Value, json};

use super::fixtures;
use super::law::{Law, Lawful, Runs, Verdict};
use crate::ensure;
use mustlink_config::{self as config, Accepted, Form};
use mustlink_core::error::Error;
use mustlink_core::kind::Kind;
use mustlink_core::options::below;
use mustlink_core::registry::Catalogue;
use mustlink_core::run::guarded;

/// A number that an option may not be, with the options around it.
#[derive(Debug, Clone, PartialEq)]
struct Wrong {
    /// Path of the number: `annotators[0].flip_rate`.
    path: String,
    /// The first step of the way.
    option: String,
    shown: String,
    options: toml::Table,
}

/// Puts a value of a part of the options into the options of the whole.
type Around<'a> = &'a dyn Fn(toml::Value) -> toml::Value;

/// Numbers beyond each declared bound, at any depth, and NaN and infinities where a number need not be whole.
/// The contents of slots have laws of their own.
fn collect(accepted: Accepted, path: &str, around: Around<'_>, out: &mut Vec<Wrong>) {
    for form in accepted.forms() {
        for option in form.options().into_iter().flat_map(|options| options.all) {
            let around = |value| {
                let mut table = toml::Table::from_iter([(option.name.to_string(), value)]);
                table.extend(form.word().map(|(tag, word)| (tag.to_string(), word.into())));
                around(toml::Value::Table(table))
            };
            collect(Accepted::from(option), &below(path, option.name), &around, out);
        }
        let Form::Value(accepted) = form else { continue };
        let whole = match accepted.kind {
            Kind::Whole(_) => true,
            Kind::Real => false,
            Kind::List(each) => {
                let around = |value| around(toml::Value::Array(vec![value]));
                collect(Accepted::from(*each), &format!("{path}[0]"), &around, out);
                continue;
            }
            _ => continue,
        };
        let mut wrong = |value: toml::Value| {
            let shown = value.to_string();
            let toml::Value::Table(options) = around(value) else { return };
            let option = path.split(['.', '[']).next().unwrap_or_default().to_string();
            out.push(Wrong { path: path.into(), option, shown, options });
        };
        let range = accepted.declared();
        for (bound, step) in
            [(range.min, -1.0), (range.max, 1.0), (range.above, 0.0), (range.below, 0.0)]
        {
            let Some(bound) = bound else { continue };
            wrong(if whole {
                toml::Value::Integer((bound + step) as i64)
            } else {
                // A thousandth more of the largest numbers is another number still.
                toml::Value::Float(bound + step * (1e-3 * bound.abs()).max(1.0))
            });
        }
        if !whole {
            for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                wrong(toml::Value::Float(value));
            }
        }
    }
}

/// The plugin `p` with some of its options changed: as if built in Rust, no loader looks at it.
fn with<R: Lawful + ?Sized>(p: &R, options: &toml::Table) -> Option<Box<R>> {
    let mut config = config::without_null(&p.to_value());
    // A number that is not finite has no form in JSON: those options come from TOML alone.
    options.keys().for_each(|name| {
        config.as_object_mut().map(|c| c.remove(name));
    });
    let mut table: toml::Table = toml::from_str(&toml::to_string(&config).ok()?).ok()?;
    table.extend(options.clone());
    // A type that cannot hold the value refuses it at once.
    R::from_toml(&toml::to_string(&table).ok()?).ok()
}

/// True if the plugin holds the value as it was given: a negative count may be read as a share.
fn holds<R: Lawful + ?Sized>(p: &R, options: &toml::Table) -> bool {
    fn inside(whole: &Value, part: &Value) -> bool {
        match (whole, part) {
            (Value::Object(whole), Value::Object(part)) => {
                part.iter().all(|(name, v)| whole.get(name).is_some_and(|w| inside(w, v)))
            }
            (Value::Array(whole), Value::Array(part)) => {
                whole.len() == part.len() && whole.iter().zip(part).all(|(w, v)| inside(w, v))
            }
            _ => whole == part,
        }
    }
    let part: Map<String, Value> =
        options.iter().map(|(name, v)| (name.clone(), json!(v))).collect();
    inside(&p.to_value(), &Value::Object(part))
}

fn every_wrong<R: Lawful + ?Sized>(p: &R) -> Result<Vec<Wrong>, String> {
    let catalogue = Catalogue::get().map_err(|e| e.to_string())?;
    let kind = catalogue.find(p.tag()).ok_or("not in the catalogue")?.kind;
    let mut out = Vec::new();
    collect(kind.into(), "", &|options| options, &mut out);
    Ok(out)
}

/// The laws about them, for the plugins that `applies` picks.
pub(super) fn laws<R: Runs + ?Sized>(applies: fn(&R) -> bool) -> [Law<R>; 2] {
    [
        Law::when("illegal_numbers_are_errors", applies, are_errors),
        Law::when("illegal_numbers_are_named_at_once", applies, are_named_at_once),
    ]
}

/// A number outside its range is an error and neither a panic nor a result; all that are not are
/// listed.
fn are_errors<R: Runs + ?Sized>(p: &R) -> Verdict {
    let small = p.smaller()?;
    let p = small.as_deref().unwrap_or(p);
    let mut complaints = Vec::new();
    for wrong in every_wrong(p)? {
        let Some(plugin) = with(p, &wrong.options).filter(|p| holds(&**p, &wrong.options)) else {
            continue;
        };
        let place = format!("{} = {}", wrong.path, wrong.shown);
        match guarded(p.tag(), || plugin.run_small(&fixtures::short_context(1))) {
            Err(Error::Contract { broken, .. }) => complaints.push(format!("{place}: {broken}")),
            Err(_) => {}
            Ok(_) => complaints.push(format!("{place} was accepted")),
        }
    }
    // Any problem shows it.
    fixtures::forget();
    ensure!(complaints.is_empty(), "{}", complaints.join("; "));
    Ok(())
}

/// If several options are out of range, one error reports all of them.
fn are_named_at_once<R: Runs + ?Sized>(p: &R) -> Verdict {
    let small = p.smaller()?;
    let p = small.as_deref().unwrap_or(p);
    let (mut options, mut names) = (toml::Table::new(), Vec::new());
    for wrong in every_wrong(p)? {
        let mut more = options.clone();
        more.extend(wrong.options.clone());
        let known = options.contains_key(&wrong.option);
        if !known && with(p, &more).is_some_and(|p| holds(&*p, &more)) {
            names.push(wrong.path);
            options = more;
        }
    }
    let Some(plugin) = with(p, &options).filter(|_| names.len() > 1) else { return Ok(()) };
    let error = guarded(p.tag(), || plugin.run_small(&fixtures::short_context(1)));
    let text = error.err().map(|e| e.to_string()).unwrap_or_default();
    fixtures::forget();
    let silent: Vec<&String> = names.iter().filter(|name| !text.contains(*name)).collect();
    ensure!(silent.is_empty(), "of {names:?} out of range it does not name {silent:?}: {text}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use mustlink_core::prelude::*;

    use super::*;

    #[options]
    enum Share {
        Number(#[option(above = 0.0)] f64),
    }

    #[options]
    struct Numbers {
        #[option(default = 1, min = 1, max = 9)]
        a: usize,
        #[option(above = 0.0)]
        b: AutoOr<f64>,
        c: Vec<Share>,
    }

    #[test]
    fn wrong_numbers_are_found_at_any_depth() {
        let mut out = Vec::new();
        collect(Numbers::KIND.into(), "", &|options| options, &mut out);
        let found: Vec<String> = out.iter().map(|w| format!("{} = {}", w.path, w.shown)).collect();
        assert_eq!(
            found,
            [
                "a = 0",
                "a = 10",
                "b = 0.0",
                "b = nan",
                "b = inf",
                "b = -inf",
                "c[0] = 0.0",
                "c[0] = nan",
                "c[0] = inf",
                "c[0] = -inf"
            ]
        );
    }
}
