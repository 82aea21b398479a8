//! The laws: conformance tests that every plugin of a role must pass.
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

use mustlink_core::roles::{
    BaseClusterer, ConsensusFunction, ConstraintPropagator, EnsembleGenerator, Metric, Oracle,
    QuerySelector, Transform,
};

mod any;
mod asking;
mod base_clusterer;
mod bibliography;
pub mod campaign;
mod cases;
mod ceilings;
mod choices;
mod consensus_function;
mod constraint_propagator;
mod ensemble_generator;
pub mod feasible;
pub mod fixtures;
pub mod hard;
mod hard_questions;
mod harness;
mod law;
mod looks;
mod magnitudes;
pub mod memory;
mod metric;
mod numbers;
mod oracle;
mod promises;
mod query_selector;
mod runs;
mod shown;
mod shrink;
pub mod strategies;
mod transform;
mod watchdog;
mod weights;

pub use cases::{Case, cases, cases_for};
pub use harness::{main, main_of};
#[doc(hidden)]
pub use law::beside_others;
pub use law::{Law, Lawful, Verdict, laws_for};
pub use peak_alloc::PeakAlloc;
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
