//! Which laws does every plugin of a role keep?
//!
//! One file per role holds its laws: small named checks, chosen by what a plugin declares about
//! itself. They run over the whole registry, one test per role, plugin and law; a crate with
//! plugins of its own runs the same with three lines:
//!
//! ```ignore
//! fn main() {
//!     mustlink_core::contract::main();
//! }
//! ```
//!
//! A plugin may waive a law with a written reason in `register!`; a waiver that is no longer
//! needed fails too.

use crate::registry::{Catalogue, Descriptor, Role};
use crate::roles::RoleObject;

mod any;
mod base_clusterer;
mod consensus_function;
mod constraint_propagator;
mod ensemble_generator;
pub mod fixtures;
mod metric;
mod oracle;
mod query_selector;
mod transform;

/// What a broken law says.
pub type Verdict = Result<(), String>;

/// One law of a role.
pub struct Law<R: ?Sized> {
    /// Its name in test names and waivers.
    pub name: &'static str,
    /// Whether it speaks about this plugin.
    pub applies: fn(&R) -> bool,
    /// The check.
    pub check: fn(&R) -> Verdict,
}

/// One law for one plugin, ready to run.
pub struct Case {
    /// `role/plugin/law`.
    pub name: String,
    run: Box<dyn Fn() -> Verdict + Send + Sync>,
}

impl Case {
    /// Runs the check.
    ///
    /// # Errors
    /// What is broken.
    pub fn run(&self) -> Verdict {
        (self.run)()
    }
}

/// Fails with a message unless the condition holds.
#[macro_export]
#[doc(hidden)]
macro_rules! ensure {
    ($holds:expr, $($message:tt)*) => {
        if !$holds {
            return Err(format!($($message)*));
        }
    };
}

fn cases_of<R: RoleObject + ?Sized + 'static>(
    descriptor: &'static Descriptor,
    laws: Vec<Law<R>>,
    out: &mut Vec<Case>,
) where
    Box<R>: Clone,
{
    let prefix = format!("{}/{}", descriptor.role.plural(), descriptor.tag);
    for (name, check) in any::laws::<R>() {
        out.push(Case {
            name: format!("{prefix}/{name}"),
            run: Box::new(move || waived(descriptor, name, || check(descriptor))),
        });
    }
    let Ok(plugin) = R::from_value(descriptor.default_config()) else { return };
    for law in laws {
        if (law.applies)(&plugin) {
            let plugin = plugin.clone();
            out.push(Case {
                name: format!("{prefix}/{}", law.name),
                run: Box::new(move || waived(descriptor, law.name, || (law.check)(&plugin))),
            });
        }
    }
}

fn waived(descriptor: &Descriptor, law: &str, check: impl FnOnce() -> Verdict) -> Verdict {
    let waiver = descriptor.waivers.iter().find(|(name, _)| *name == law);
    match (waiver, check()) {
        (None, verdict) => verdict,
        (Some((_, reason)), _) if reason.trim().is_empty() => {
            Err(format!("waiver of {law} gives no reason"))
        }
        (Some(_), Err(_)) => Ok(()),
        (Some((_, reason)), Ok(())) => {
            Err(format!("the waiver of {law} (\"{reason}\") is no longer needed; remove it"))
        }
    }
}

/// Runs `work` in a pool of `threads` threads.
pub(crate) fn in_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.expect("a small pool can be made").install(work)
}

/// Every law of every plugin linked into this program, in order.
pub fn cases() -> Vec<Case> {
    cases_for(|_| true)
}

/// The laws of the plugins that `wanted` picks.
pub fn cases_for(wanted: impl Fn(&Descriptor) -> bool) -> Vec<Case> {
    let catalogue = Catalogue::get().unwrap_or_else(|e| panic!("{e}"));
    let mut out = Vec::new();
    for d in catalogue.all().iter().copied().filter(|d| wanted(d)) {
        match d.role {
            Role::BaseClusterer => cases_of(d, base_clusterer::laws(), &mut out),
            Role::EnsembleGenerator => cases_of(d, ensemble_generator::laws(), &mut out),
            Role::ConsensusFunction => cases_of(d, consensus_function::laws(), &mut out),
            Role::ConstraintPropagator => cases_of(d, constraint_propagator::laws(), &mut out),
            Role::QuerySelector => cases_of(d, query_selector::laws(), &mut out),
            Role::Oracle => cases_of(d, oracle::laws(), &mut out),
            Role::Metric => cases_of(d, metric::laws(), &mut out),
            Role::Transform => cases_of(d, transform::laws(), &mut out),
        }
    }
    out
}

/// A test harness over [`cases`], with the usual arguments of `cargo test`.
pub fn main() -> ! {
    let arguments = libtest_mimic::Arguments::from_args();
    let trials = cases()
        .into_iter()
        .map(|case| {
            let name = case.name.clone();
            libtest_mimic::Trial::test(name, move || case.run().map_err(Into::into))
        })
        .collect();
    libtest_mimic::run(&arguments, trials).exit()
}
