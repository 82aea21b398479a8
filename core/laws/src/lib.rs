//! Which laws does every plugin of a role keep?
//!
//! One file per role holds its laws: small named checks, chosen by what a plugin declares about
//! itself. They run over the whole registry, one test per role, plugin and law; a crate with
//! plugins of its own runs the same with three lines:
//!
//! ```text
//! use my_plugins as _;
//! fn main() {
//!     mustlink::contract::main_of("my-plugins");
//! }
//! ```
//!
//! [`check_plugin`] tries one plugin as it is configured; [`shrink`](shrink()) makes a failure small.
//!
//! A plugin may waive a law with a written reason in `register!`; a waiver that is no longer
//! needed fails too.

use std::sync::Arc;

use mustlink_core::registry::{Catalogue, Descriptor, Role};
use mustlink_core::roles::{
    BaseClusterer, ConsensusFunction, ConstraintPropagator, EnsembleGenerator, Metric, Oracle,
    QuerySelector, Transform,
};

mod any;
mod asking;
mod base_clusterer;
pub mod campaign;
mod ceilings;
mod choices;
mod consensus_function;
mod constraint_propagator;
mod ensemble_generator;
pub mod feasible;
pub mod fixtures;
pub mod hard;
mod hard_questions;
mod law;
mod looks;
mod magnitudes;
mod metric;
mod numbers;
mod oracle;
mod promises;
mod query_selector;
mod runs;
mod shrink;
pub mod strategies;
mod transform;
mod weights;

pub use law::{Law, Lawful, Verdict, laws_for};
pub use shrink::{Small, shrink};

macro_rules! lawful {
    ($($role:ident in $module:ident $({ $setup:ident })?),* $(,)?) => {$(
        impl Lawful for dyn $role {
            fn laws() -> Vec<Law<Self>> {
                $module::laws()
            }
            fn from_toml(text: &str) -> Result<Box<Self>, String> {
                toml::from_str(text).map_err(|e| e.to_string())
            }
            $(fn needs_setup(&self) -> bool {
                self.properties().$setup
            })?
        }
    )*};
}
lawful!(
    BaseClusterer in base_clusterer { needs_setup },
    EnsembleGenerator in ensemble_generator,
    ConsensusFunction in consensus_function,
    ConstraintPropagator in constraint_propagator,
    QuerySelector in query_selector { needs_setup },
    Oracle in oracle,
    Metric in metric,
    Transform in transform,
);

/// Every law of its role that speaks about `plugin`, as it is configured, with the verdict.
pub fn check_plugin<R: Lawful + ?Sized>(plugin: &R) -> Vec<(&'static str, Verdict)> {
    laws_for(plugin).iter().map(|law| (law.name, law.try_on(plugin))).collect()
}

/// One law for one plugin, ready to run.
pub struct Case {
    /// `role/plugin/law`.
    pub name: String,
    run: Box<dyn Fn() -> Verdict + Send + Sync>,
    /// The smallest problem on which the law is broken.
    small: Box<dyn Fn() -> Option<Small> + Send + Sync>,
}

impl Case {
    /// Runs the check.
    ///
    /// # Errors
    /// What is broken.
    pub fn run(&self) -> Verdict {
        (self.run)()
    }

    /// As [`Case::run`]; what is broken is shown on the smallest problem found.
    ///
    /// # Errors
    /// What is broken, with the problem if the law has one.
    pub fn run_and_show(&self) -> Verdict {
        self.run().map_err(|complaint| match (self.small)() {
            Some(small) if small.problem.is_some() => small.to_string(),
            _ => complaint,
        })
    }
}

fn cases_of<R: Lawful + ?Sized>(descriptor: &'static Descriptor, out: &mut Vec<Case>)
where
    Box<R>: Clone,
{
    let prefix = format!("{}/{}", descriptor.role.plural(), descriptor.tag);
    for (name, check) in any::laws::<R>() {
        out.push(Case {
            name: format!("{prefix}/{name}"),
            run: Box::new(move || waived(descriptor, name, || check(descriptor))),
            small: Box::new(|| None),
        });
    }
    let Ok(plugin) = R::from_value(as_tried(descriptor)) else { return };
    for law in laws_for(&*plugin) {
        let (law, plugin) = (Arc::new(law), plugin.clone());
        let (again, copy) = (law.clone(), plugin.clone());
        out.push(Case {
            name: format!("{prefix}/{}", law.name),
            run: Box::new(move || waived(descriptor, law.name, || law.try_on(&*plugin))),
            small: Box::new(move || shrink(&again, &*copy)),
        });
    }
}

/// The configuration under which the laws are tried: the defaults, with those that the plugin gives
/// (`x-laws`) because its own would take hours.
fn as_tried(descriptor: &Descriptor) -> serde_json::Value {
    let mut config = descriptor.default_config();
    let instead = descriptor.schema_value()["x-laws"].as_object().into_iter().flatten();
    instead.for_each(|(option, value)| config[option] = value.clone());
    config
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
            Role::BaseClusterer => cases_of::<dyn BaseClusterer>(d, &mut out),
            Role::EnsembleGenerator => cases_of::<dyn EnsembleGenerator>(d, &mut out),
            Role::ConsensusFunction => cases_of::<dyn ConsensusFunction>(d, &mut out),
            Role::ConstraintPropagator => cases_of::<dyn ConstraintPropagator>(d, &mut out),
            Role::QuerySelector => cases_of::<dyn QuerySelector>(d, &mut out),
            Role::Oracle => cases_of::<dyn Oracle>(d, &mut out),
            Role::Metric => cases_of::<dyn Metric>(d, &mut out),
            Role::Transform => cases_of::<dyn Transform>(d, &mut out),
        }
    }
    out
}

/// A test harness over [`cases`], with the usual arguments of `cargo test`.
pub fn main() -> ! {
    ceilings::limit_address_space();
    harness(cases())
}

/// The same over the plugins of one package: what a crate with plugins of its own runs.
pub fn main_of(package: &str) -> ! {
    let cases = cases_for(|d| d.package == package);
    assert!(!cases.is_empty(), "no plugin of the package {package} is linked; add `use … as _;`");
    harness(cases)
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

fn harness(mut cases: Vec<Case>) -> ! {
    let (names, mut others) = names(std::env::args().collect());
    match &names[..] {
        [] => {}
        [one] => others.push(one.clone()),
        several => cases.retain(|case| several.iter().any(|name| case.name.contains(name))),
    }
    let arguments = libtest_mimic::Arguments::from_iter(others);
    let trials = cases
        .into_iter()
        .map(|case| {
            let name = case.name.clone();
            libtest_mimic::Trial::test(name, move || case.run_and_show().map_err(Into::into))
        })
        .collect();
    libtest_mimic::run(&arguments, trials).exit()
}

#[cfg(test)]
mod tests {
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
