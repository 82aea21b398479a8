//! What every plugin is, whatever its role.

use crate::options::Options;

/// What every plugin is: printable, clonable, shareable between threads, with options that have
/// declared ranges.
pub trait Plugin: std::fmt::Debug + dyn_clone::DynClone + Send + Sync + Options {}
impl<T: std::fmt::Debug + Clone + Send + Sync + Options> Plugin for T {}
