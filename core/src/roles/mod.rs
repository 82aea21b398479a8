//! The roles of plugins: one trait per role, with one required method each.

mod base_clusterer;
mod consensus_function;
mod constraint_propagator;
mod ensemble_generator;
mod metric;
mod oracle;
mod plugin;
mod query_selector;
mod transform;

pub use base_clusterer::{Attempt, BaseClusterer, OPERATIONS_PER_SECOND, Properties};
pub use consensus_function::{ConsensusFunction, Needs};
pub use constraint_propagator::{ConstraintPropagator, Propagated, PropagatorProperties};
pub use ensemble_generator::{EnsembleGenerator, GeneratorProperties};
pub use metric::{Metric, MetricInput, MetricProperties};
pub use oracle::{
    Answer, Layer, Oracle, OracleProperties, Outcome, Question, Refusal, Respondent, Scene, Vote,
};
pub use plugin::{Plugin, Registered};
pub use query_selector::{
    Done, Event, Inquiry, QueryId, QuerySelector, Reply, RequestId, SelectorProperties, Step,
};
pub use transform::{
    CostOfSteps, Fitted, SavedStep, Transform, TransformProperties, cost_of_steps, kept, restored,
};

use crate::kind::{Described, Kind};
use crate::options::Options;
use crate::role::Role;

/// A role as a trait object that can be built from configuration.
pub trait RoleObject: Send + Sync + Options {
    /// Which role this is.
    const ROLE: Role;
    /// Builds a plugin from its configuration, `type` included.
    ///
    /// # Errors
    /// The message of the deserialiser.
    fn from_value(value: serde_json::Value) -> Result<Box<Self>, String>;
    /// The configuration that builds this plugin, every option written out.
    fn to_value(&self) -> serde_json::Value;
    /// The tag of this plugin.
    fn tag(&self) -> &'static str;
}

macro_rules! role_objects {
    ($($role:ident),*) => {$(
        impl RoleObject for dyn $role {
            const ROLE: Role = Role::$role;
            fn from_value(value: serde_json::Value) -> Result<Box<Self>, String> {
                serde_json::from_value(value).map_err(|e| e.to_string().trim().to_string())
            }
            fn to_value(&self) -> serde_json::Value {
                serde_json::to_value(self).expect("plugins serialise to plain tables")
            }
            fn tag(&self) -> &'static str {
                self.typetag_name()
            }
        }
        dyn_clone::clone_trait_object!($role);
        impl Described for Box<dyn $role> {
            const KIND: &'static Kind = &Kind::Slot(Role::$role);
        }
    )*};
}
role_objects!(
    BaseClusterer,
    EnsembleGenerator,
    ConsensusFunction,
    ConstraintPropagator,
    QuerySelector,
    Oracle,
    Metric,
    Transform
);
