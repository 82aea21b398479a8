//! The laws of every plugin, whatever its role.

use serde_json::Value;

use super::law::{Lawful, MEASURED, Verdict, as_tried, laws_for};
use super::{bibliography, ceilings, choices};
use crate::ensure;
use mustlink_config as config;
use mustlink_core::registry::{Descriptor, suggestion};
use mustlink_core::roles::RoleObject;

type Check = fn(&'static Descriptor) -> Verdict;

/// The law about waivers, which cannot be waived.
pub(super) const WAIVERS: &str = "waivers_are_of_use";

pub(super) fn laws<R: Lawful + ?Sized>() -> Vec<(&'static str, Check)> {
    vec![
        ("default_parses_back", default_parses_back::<R>),
        ("unknown_option_is_refused", unknown_option_is_refused::<R>),
        ("names_agree", names_agree),
        ("everything_is_described", everything_is_described),
        ("numbers_have_ranges", numbers_have_ranges),
        ("counts_have_ceilings", counts_have_ceilings),
        ("citations_are_known", citations_are_known),
        (WAIVERS, waivers_are_of_use::<R>),
    ]
}

/// Each waived law exists, speaks about the plugin and is waived once.
fn waivers_are_of_use<R: Lawful + ?Sized>(d: &'static Descriptor) -> Verdict {
    let of_any = laws::<R>().into_iter().map(|(name, _)| name);
    let names: Vec<&str> = of_any.clone().chain(R::laws().iter().map(|law| law.name)).collect();
    let plugin = R::from_value(as_tried(d)).ok().filter(|p| !p.needs_setup());
    let tried = plugin.map(|p| laws_for(&*p).iter().map(|law| law.name).collect::<Vec<_>>());
    for (at, (law, _)) in d.waivers.iter().enumerate() {
        let of_an_option = law.strip_prefix(choices::LAW).is_some_and(|rest| rest.starts_with('.'));
        ensure!(
            !of_an_option,
            "waives {law}: an option is excused where it is declared: #[option(inert = \"reason\")]"
        );
        ensure!(
            names.contains(law),
            "waives \"{law}\", which is not a law of {}{}",
            d.role.plural(),
            suggestion(law, names.iter().copied())
        );
        ensure!(*law != WAIVERS, "waives {WAIVERS}, which cannot be waived; remove the waiver");
        let again = d.waivers[..at].iter().any(|(other, _)| other == law);
        ensure!(!again, "waives {law} twice; remove one of the waivers");
        let applies =
            tried.as_ref().is_none_or(|t| t.contains(law)) || of_any.clone().any(|n| n == *law);
        ensure!(
            applies || *law == MEASURED,
            "waives {law}, which does not apply to this plugin; remove the waiver"
        );
    }
    Ok(())
}

/// Each cited work has an entry, and each condition of a citation can hold.
fn citations_are_known(d: &'static Descriptor) -> Verdict {
    let known = bibliography::keys(d.package);
    for key in d.references {
        ensure!(
            known.iter().any(|k| k == key),
            "cites \"{key}\", which has no entry{}; add @article{{{key}, …}} to {}",
            suggestion(key, known.iter().map(String::as_str)),
            bibliography::place(d.package)
        );
    }
    for (key, option, value) in d.cited_if {
        let options = serde_json::json!({ *option: *value });
        let wrong = config::complaints(&options, d.kind);
        ensure!(
            wrong.is_empty(),
            "cites \"{key}\" if {option} = \"{value}\", which is never the case: {}",
            wrong.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
        );
    }
    Ok(())
}

/// The default configuration builds the plugin, which writes the same configuration, in JSON and TOML.
fn default_parses_back<R: RoleObject + ?Sized>(d: &'static Descriptor) -> Verdict {
    let config = d.default_config();
    let plugin = R::from_value(config.clone())?;
    ensure!(plugin.tag() == d.tag, "registered as {}, built as {}", d.tag, plugin.tag());
    ensure!(plugin.to_value() == config, "{config} came back as {}", plugin.to_value());
    let without_null = mustlink_config::without_null(&config);
    let text = toml::to_string(&without_null).map_err(|e| e.to_string())?;
    let back: Value = toml::from_str(&text).map_err(|e| e.to_string())?;
    let again = R::from_value(back)?;
    ensure!(again.to_value() == config, "TOML came back as {}", again.to_value());
    // Otherwise no law of the role would be tried.
    R::from_value(as_tried(d)).map_err(|e| format!("with the options of laws = …: {e}"))?;
    Ok(())
}

fn unknown_option_is_refused<R: RoleObject + ?Sized>(d: &'static Descriptor) -> Verdict {
    let mut config = d.default_config();
    config["no_such_option"] = 1.into();
    ensure!(R::from_value(config).is_err(), "an unknown option was accepted");
    Ok(())
}

/// Tag = type name when case and `_` are ignored, and the file is named like the tag (or holds a family).
fn names_agree(d: &'static Descriptor) -> Verdict {
    let flat = |s: &str| s.to_lowercase().replace('_', "");
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    let words = d.tag.split('_').filter(|word| word.is_char_boundary(1));
    ensure!(
        flat(d.tag) == flat(d.type_name),
        "tag {} of type {}; rename the type to {}",
        d.tag,
        d.type_name,
        words.map(capital).collect::<String>()
    );
    ensure!(
        d.tag.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'),
        "tag {} is not snake_case",
        d.tag
    );
    Ok(())
}

fn everything_is_described(d: &'static Descriptor) -> Verdict {
    ensure!(!d.summary().is_empty(), "the type has no documentation");
    ensure!(d.summary().len() <= 160, "the first paragraph is longer than 160 characters");
    for option in d.options() {
        ensure!(!option.doc.trim().is_empty(), "option {} is not described", option.name);
    }
    Ok(())
}

fn numbers_have_ranges(d: &'static Descriptor) -> Verdict {
    let open = ceilings::numbers(d.kind.into(), ceilings::without_floor);
    ensure!(open.is_empty(), "no smallest value: {}; add #[option(min = …)]", open.join(", "));
    Ok(())
}

fn counts_have_ceilings(d: &'static Descriptor) -> Verdict {
    let open = ceilings::numbers(d.kind.into(), ceilings::without_ceiling);
    ensure!(open.is_empty(), "no largest value: {}; add #[option(max = …)]", open.join(", "));
    Ok(())
}
