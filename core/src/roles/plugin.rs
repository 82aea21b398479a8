//! Properties of every plugin, independent of its role.

use crate::options::Options;

/// A type that the catalogue knows: [`register!`](crate::register) implements it, and so does `#[plugin]`.
///
/// The compiler names the attribute if it is missing:
///
/// ```compile_fail,E0277
/// use mustlink_core::prelude::*;
///
/// /// Scores nothing.
/// #[options]
/// pub struct Nothing {}
///
/// impl Metric for Nothing {
///     fn score(&self, _: &MetricInput) -> Result<Option<f64>> {
///         Ok(None)
///     }
/// }
/// # fn main() {}
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not registered as a plugin: `#[plugin(\"its_tag\")]` is missing",
    label = "put `#[plugin(\"its_tag\")]` above this `impl`",
    note = "the attribute also writes `typetag_name` and `typetag_deserialize`; do not write them by hand"
)]
pub trait Registered {}

/// Properties of every plugin: printable, clonable, shareable between threads, with options that have
/// declared ranges, and registered.
pub trait Plugin:
    std::fmt::Debug + dyn_clone::DynClone + Send + Sync + Options + Registered
{
}
impl<T: std::fmt::Debug + Clone + Send + Sync + Options + Registered> Plugin for T {}
