//! The test harness that runs laws, with the usual arguments of `cargo test`.
//!
//! It reports where a plugin panicked, lists waived laws with their reasons, and ends the process if a law
//! runs without end.

use std::collections::HashMap;
use std::io::Write as _;
use std::sync::{Mutex, PoisonError};

use libtest_mimic::{Arguments, Completion, Trial};
use mustlink_core::registry::Catalogue;

use super::cases::{Case, cases, cases_for};
use super::law::is_counted;
use super::{ceilings, watchdog};

/// Place of each panic, by its message.
static PANICS: Mutex<Option<HashMap<String, String>>> = Mutex::new(None);

/// A test harness over all laws of all plugins, with the usual arguments of `cargo test`.
pub fn main() -> ! {
    ceilings::limit_address_space();
    run(cases)
}

/// The same over the plugins of one package: what a crate with plugins of its own runs.
pub fn main_of(package: &str) -> ! {
    run(|| {
        let cases = cases_for(|d| d.package == package);
        let linked = !cases.is_empty();
        assert!(linked, "no plugin of the package {package} is linked; add `use … as _;`");
        if let Some(note) = note_about_memory(cases.iter().map(|case| &*case.name)) {
            let _ = writeln!(std::io::stderr(), "note: {note}");
        }
        cases
    })
}

/// Note for a crate whose test program does not count memory, if a plugin of it declares memory.
fn note_about_memory<'a>(mut cases: impl Iterator<Item = &'a str>) -> Option<&'static str> {
    let declares = |name: &str| !name.starts_with("metrics/") && !name.starts_with("oracles/");
    (cases.any(declares) && !is_counted()).then_some(
        "the law memory_is_declared is left out, because memory is not counted. Add to tests/laws.rs:
    #[global_allocator]
    static MEMORY: mustlink::contract::PeakAlloc = mustlink::contract::PeakAlloc;",
    )
}

fn run(cases: impl FnOnce() -> Vec<Case>) -> ! {
    if let Err(mistake) = Catalogue::get() {
        // A mistake of the crate of plugins: a backtrace would hide the message.
        let _ = writeln!(std::io::stderr(), "error: {mistake}");
        std::process::exit(101);
    }
    watchdog::begin();
    let mut cases = cases();
    let (names, mut others) = names(std::env::args().collect());
    match &names[..] {
        [] => {}
        [one] => others.push(one.clone()),
        several => cases.retain(|case| several.iter().any(|name| case.name.contains(name))),
    }
    std::panic::set_hook(Box::new(|panic| {
        let message = mustlink_core::panic::message(panic.payload()).to_string();
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let mut panics = PANICS.lock().unwrap_or_else(PoisonError::into_inner);
        panics.get_or_insert_default().insert(message, place);
    }));
    let trials = cases.into_iter().map(|case| {
        let name = case.name.clone();
        Trial::ignorable_test(name, move || {
            let verdict = watchdog::watched(&case.name, &case.place, || case.run_and_show());
            match (verdict, case.waiver) {
                (Err(complaint), _) => {
                    Err(format!("{}\n  in {}", with_places(&complaint), case.place).into())
                }
                (Ok(()), Some(reason)) => Ok(Completion::ignored_with(format!("waived: {reason}"))),
                (Ok(()), None) => Ok(Completion::Completed),
            }
        })
    });
    libtest_mimic::run(&Arguments::from_iter(others), trials.collect()).exit()
}

/// The complaint, with file and line behind each "panicked".
fn with_places(complaint: &str) -> String {
    let panics = PANICS.lock().unwrap_or_else(PoisonError::into_inner);
    let known = panics.iter().flatten().find_map(|(message, place)| {
        let said = format!("panicked: {message}");
        complaint.contains(&said).then(|| (said, format!("panicked at {place}: {message}")))
    });
    known.map_or_else(|| complaint.into(), |(said, with)| complaint.replacen(&said, &with, 1))
}

/// Takes the names out of the arguments of `cargo test`, which knows one at most; several pick the laws
/// that fit any of them.
fn names(arguments: Vec<String>) -> (Vec<String>, Vec<String>) {
    const WITH_VALUE: [&str; 5] = ["--test-threads", "--color", "--format", "--logfile", "--skip"];
    let (mut names, mut others, mut value) = (Vec::new(), Vec::new(), false);
    for (at, argument) in arguments.into_iter().enumerate() {
        let name = at > 0 && !value && !argument.starts_with('-');
        value = WITH_VALUE.contains(&argument.as_str());
        if name { &mut names } else { &mut others }.push(argument);
    }
    (names, others)
}

#[cfg(test)]
mod tests {
    /// This program does not count memory.
    #[test]
    fn a_law_that_is_left_out_is_reported() {
        let note = |name| super::note_about_memory([name].into_iter());
        let words = "memory_is_declared is left out";
        assert!(note("base-clusterers/kmeans/any_unit").is_some_and(|note| note.contains(words)));
        assert_eq!(note("metrics/ari/score_is_in_range"), None);
        assert_eq!(note("oracles/truth/names_agree"), None);
    }

    #[test]
    fn several_names_may_be_given() {
        let words = |text: &str| text.split(' ').map(str::to_string).collect::<Vec<_>>();
        let (names, others) =
            super::names(words("laws --skip slow kmeans -q ari --test-threads 2"));
        assert_eq!(names, words("kmeans ari"));
        assert_eq!(others, words("laws --skip slow -q --test-threads 2"));
        assert_eq!(super::names(words("laws")).0, Vec::<String>::new());
    }
}
