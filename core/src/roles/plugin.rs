//! What every plugin is, whatever its role.

/// What every plugin is: printable, clonable, shareable between threads.
pub trait Plugin: std::fmt::Debug + dyn_clone::DynClone + Send + Sync {}
impl<T: std::fmt::Debug + Clone + Send + Sync> Plugin for T {}
