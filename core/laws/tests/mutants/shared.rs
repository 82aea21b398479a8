//! Shared code of the mutants of all roles.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};

use mustlink_core::options;
use mustlink_core::prelude::*;
use mustlink_laws::{Lawful, beside_others, laws_for};
use serde_json::{Value, json};

/// A plugin with one flaw.
pub struct Mutant {
    /// Its configuration, whose `flaw` says in words what is wrong.
    pub config: Value,
    /// A law that should catch it.
    pub law: &'static str,
}

/// The plugin `tag` with each of these flaws, and the law that should catch it.
pub fn flaws(tag: &str, of: &[(&str, &'static str)]) -> Vec<Mutant> {
    let mutant = |&(flaw, law): &(&str, &'static str)| {
        let config = json!({ "type": tag, "flaw": flaw });
        Mutant { config, law }
    };
    OF_ANY_ROLE.iter().chain(of).map(mutant).collect()
}

/// The check of ranges that `#[plugin]` puts before the required method; two flaws are left out or
/// half done there, and two hold memory.
pub fn checked(plugin: &impl options::Options, flaw: &str) -> Result<()> {
    if flaw == HOLDS {
        drop(std::hint::black_box(vec![0u8; 1 << 24]));
    }
    if flaw == KEEPS {
        std::hint::black_box(vec![0u8; 1 << 16].leak());
    }
    match (flaw, options::check(plugin)) {
        (UNCHECKED, _) => Ok(()),
        (ONE_AT_A_TIME, Err(Error::Config(mut wrong))) => {
            wrong.truncate(1);
            Err(Error::Config(wrong))
        }
        (_, result) => result,
    }
}

pub const UNCHECKED: &str = "takes numbers of any size, NaN and infinities";
pub const ONE_AT_A_TIME: &str = "names one wrong number at a time";

pub const HOLDS: &str = "holds numbers of all pairs that it does not declare";
pub const KEEPS: &str = "never gives back what it allocates";

/// The flaws that a plugin of any role can have, and the law of each.
pub const OF_ANY_ROLE: [(&str, &str); 2] = [
    (UNCHECKED, "illegal_numbers_are_errors"),
    (ONE_AT_A_TIME, "illegal_numbers_are_named_at_once"),
];

/// A number that is another one at each call, as a clock gives it.
pub fn clock() -> u64 {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    CALLS.fetch_add(1, Ordering::Relaxed)
}

/// Words of flaws that show themselves otherwise in each run.
const LUCKY: [&str; 3] = ["clock", "hash map", "thread"];

/// The law that ends what takes long: what else it finds by then depends on how fast the machine is.
const TIMED: &str = "legal_values_are_harmless";

/// Law → the flaws it catches.
pub type Caught = BTreeMap<&'static str, BTreeSet<String>>;

/// Verdicts of the laws of a role on the sound plugins and the mutants.
pub fn tried<R: Lawful + ?Sized>(
    sound: &[Value],
    mutants: &[Mutant],
    complaints: &mut Vec<String>,
) -> Caught {
    let broken = |config: &Value| {
        // Roles are tried at the same time, and what is built here would count as memory of another plugin.
        let (plugin, laws) = beside_others(|| {
            let plugin = R::from_value(config.clone()).unwrap_or_else(|e| panic!("{config}: {e}"));
            let laws = laws_for(&*plugin);
            (plugin, laws)
        });
        let tried = laws.iter().map(|law| (law.name, law.try_on(&*plugin)));
        tried.filter_map(|(law, verdict)| Some((law, verdict.err()?))).collect::<Vec<_>>()
    };
    for config in sound {
        for (law, complaint) in broken(config) {
            complaints.push(format!("{config} is sound, but {law}: {complaint}"));
        }
    }
    let mut caught: Caught = R::laws().iter().map(|law| (law.name, BTreeSet::new())).collect();
    for Mutant { config, law } in mutants {
        let found = broken(config);
        if !found.iter().any(|(name, _)| name == law) {
            complaints.push(format!("{config}: not caught by {law}, but by {found:?}"));
        }
        for (name, _) in found {
            let flaw = config["flaw"].as_str().unwrap_or_default();
            // What else catches these depends on luck, on time, or on the number of threads.
            let lucky = name == TIMED || LUCKY.iter().any(|word| flaw.contains(word));
            if lucky && name != *law {
                continue;
            }
            caught.entry(name).or_default().insert(flaw.to_string());
        }
    }
    caught
}
