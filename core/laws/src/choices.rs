//! The law that every option of a plugin changes something.

use std::cell::{OnceCell, RefCell};

use serde_json::Value;

use super::fixtures;
use super::law::{Lawful, Verdict};
use crate::ensure;
use mustlink_config::{self as config, Accepted, Form};
use mustlink_core::context::{Context, EnsembleStore};
use mustlink_core::error::Error;
use mustlink_core::kind::{Kind, Opt};
use mustlink_core::random::SeedPath;
use mustlink_core::registry::Catalogue;
use mustlink_core::run::guarded;

/// Looks at the cancel flag after which a run is cut off; with a value that takes longer an option does
/// change something. Seconds would depend on what else the machine does.
const LOOKS: u64 = 20_000;

/// The name of this law; behind a dot stands the option that a plugin excuses.
pub(crate) const LAW: &str = "every_option_changes_something";

/// Remedy for a legal value with which a plugin panics.
pub(crate) const REMEDY: &str =
    "handle this value, or exclude it: #[option(min = …)], or an error that names it";

/// Description of the broken contract, if this is why a plugin failed.
pub(crate) fn broken(error: &Error) -> Option<&str> {
    match error.root() {
        Error::Contract { broken, .. } => Some(broken),
        _ => None,
    }
}

/// Values that the option may have instead of `now`, the likeliest to change something first.
fn others(accepted: Accepted, now: &Value) -> Vec<Value> {
    let mut out = Vec::new();
    for form in accepted.forms() {
        let accepted = match form {
            Form::Value(accepted) => accepted,
            Form::Word(word) => {
                out.push(word.into());
                continue;
            }
            _ => continue,
        };
        let range = accepted.declared();
        match accepted.kind {
            Kind::Flag => out.extend([Value::from(true), false.into()]),
            Kind::Whole(_) => {
                let least = range.min.unwrap_or(0.0) as i64;
                let now = now.as_i64().unwrap_or(least);
                let most = range.max.filter(|m| *m <= 1000.0).map(|m| m as i64);
                let near = [least, 5, now / 2, now + 1, now - 1, 2 * now + 1, 2, 3, 12];
                out.extend(near.into_iter().chain(most).map(Value::from));
            }
            Kind::Real => {
                let now = now.as_f64().unwrap_or(1.0);
                let bounds = [range.min, range.max].into_iter().flatten();
                let inside = [range.above, range.below].into_iter().flatten();
                let inside = inside.map(|b| b + 1e-3 * (now - b));
                let near = [0.1 * now, 4.0 * now, 0.5, 0.02, 50.0, 1e-6, 1e4];
                out.extend(near.into_iter().chain(bounds).chain(inside).map(Value::from));
            }
            _ => {}
        }
    }
    out
}

fn legal(option: &Opt, table: &'static Kind, now: &Value) -> Vec<Value> {
    let mut out = others(Accepted::from(*option), now);
    let fits = |value: &Value| {
        let options = Value::from_iter([(option.name, value.clone())]);
        value != now && config::complaints(&options, table).is_empty()
    };
    out.retain(fits);
    let mut once: Vec<Value> = Vec::new();
    out.into_iter().for_each(|value| {
        if !once.contains(&value) {
            once.push(value);
        }
    });
    once
}

/// Result of a run, or nothing if it failed.
type Outcome<T> = Result<T, ()>;

/// A configuration, the number of a world, and the outcome there once it is known.
type Base<T> = (Value, usize, OnceCell<Option<Outcome<T>>>);

/// The options of `config` that differ from `plain`: `restarts = 0`.
fn changes(config: &Value, plain: &Value) -> String {
    let options = config.as_object().into_iter().flatten();
    let changed = options.filter(|(name, value)| plain.get(name.as_str()) != Some(*value));
    let changed: Vec<String> = changed.map(|(name, value)| format!("{name} = {value}")).collect();
    if changed.is_empty() { "as it is".into() } else { changed.join(", ") }
}

/// Sets each option to other legal values, by itself and then together with one other option that is not
/// at its default, on each of `worlds` settings. Some result must change. Options that hold
/// plugins, lists and free text are not tried. An option that changes nothing there gives the reason
/// (`#[option(inert = "…")]`). A panic with a legal value is a defect, not a change.
pub(super) fn each_changes_something<R: Lawful + ?Sized, T: PartialEq>(
    p: &R,
    worlds: usize,
    run: impl Fn(&R, usize, &Context) -> Result<T, Error>,
) -> Verdict {
    let catalogue = Catalogue::get().map_err(|e| e.to_string())?;
    let descriptor = catalogue.find(p.tag()).ok_or("not in the catalogue")?;
    // Configurations whose generators are equal share their ensembles, as the methods of a study do.
    let ensembles = EnsembleStore::default();
    let plain = p.to_value();
    let defect = RefCell::new(None);
    let outcome = |config: &Value, world: usize| -> Option<Outcome<T>> {
        let plugin = R::from_value(config.clone()).ok()?;
        let limit = Some(fixtures::PATIENCE);
        let ctx = Context::builder(SeedPath::new(3))
            .ensembles(ensembles.clone(), SeedPath::new(3))
            .time_limit(limit)
            .cancel_after(LOOKS)
            .build();
        match guarded(p.tag(), || run(&plugin, world, &ctx)) {
            // Nobody knows what would have come out.
            Err(e) if matches!(e.root(), Error::TimedOut { .. }) => None,
            made => {
                if let Some(broken) = made.as_ref().err().and_then(|e| broken(e)) {
                    let with = changes(config, &plain);
                    defect.borrow_mut().get_or_insert(format!("{with}: {broken}"));
                }
                Some(made.map_err(drop))
            }
        }
    };
    // Outcomes of a configuration, each computed if a comparison reaches its world.
    let bases = |config: &Value| {
        (0..worlds).map(|world| (config.clone(), world, OnceCell::new())).collect::<Vec<_>>()
    };
    // Some world tells two configurations apart; two errors are one.
    let differ = |one: &Value, bases: &[Base<T>]| {
        bases.iter().any(|(config, world, base)| {
            let base = base.get_or_init(|| outcome(config, *world));
            let other = base.is_some().then(|| outcome(one, *world)).flatten();
            other.is_some() && other != *base
        })
    };
    let with = |config: &Value, name: &str, value: &Value| {
        let mut config = config.clone();
        config[name] = value.clone();
        config
    };
    let mut options = descriptor.options();
    options.sort_by_key(|option| option.name);
    let choices: Vec<(&str, Vec<Value>)> = options
        .into_iter()
        .map(|option| {
            let now = plain.get(option.name).unwrap_or(&Value::Null);
            (option.name, legal(option, descriptor.kind, now))
        })
        .filter(|(_, values)| !values.is_empty())
        .collect();
    let excused = |name: &&str| descriptor.inert().any(|(inert, _)| inert == *name);
    // A reason to be excused is about the plugin as it comes, not as somebody has set it up.
    let as_it_comes = descriptor.default_config() == plain;
    // Then nothing is asked of a plugin whose options are all excused: a program in another language,
    // which would be run with what it says of itself turned around.
    if !as_it_comes && choices.iter().all(|(name, _)| excused(name)) {
        return Ok(());
    }
    let plain_bases = bases(&plain);
    let mut silent: Vec<(&str, &Vec<Value>)> = choices
        .iter()
        .filter(|(name, values)| {
            !values.iter().any(|v| differ(&with(&plain, name, v), &plain_bases))
        })
        .map(|(name, values)| (*name, values))
        .collect();
    // Some options count only beside another.
    for (beside, values) in &choices {
        let several = if values.iter().all(Value::is_string) { values.len() } else { 4 };
        for value in values.iter().take(several) {
            if silent.iter().all(|(name, _)| name == beside) {
                continue;
            }
            let base = with(&plain, beside, value);
            let base_outcomes = bases(&base);
            silent.retain(|(name, values)| {
                let tells = |v: &Value| differ(&with(&base, name, v), &base_outcomes);
                name == beside || !values.iter().take(4).any(tells)
            });
        }
    }
    // No one problem shows it.
    fixtures::forget();
    if let Some(defect) = defect.take() {
        return Err(format!("{defect}; {REMEDY}"));
    }
    let silent: Vec<&str> = silent.iter().map(|(name, _)| *name).collect();
    let wrong: Vec<&str> = silent.iter().copied().filter(|name| !excused(name)).collect();
    ensure!(wrong.is_empty(), "no value changes anything: {}", wrong.join(", "));
    let stale = choices.iter().filter(|_| as_it_comes).map(|(name, _)| *name);
    let stale: Vec<&str> = stale.filter(|n| excused(n) && !silent.contains(n)).collect();
    ensure!(stale.is_empty(), "waived and yet changing something: {}", stale.join(", "));
    Ok(())
}
