//! Registry of plugins: find them by name, list them, and build them.

#[doc(hidden)]
pub use mustlink_core::registry::*;

/// Builds a plugin from its name, with default options.
///
/// ```
/// use mustlink::prelude::*;
/// use mustlink::registry::build_default;
///
/// # fn main() -> Result<()> {
/// let selector = build_default::<dyn QuerySelector>("min_max_selection")?;
/// assert_eq!(selector.tag(), "min_max_selection");
/// assert!(build_default::<dyn QuerySelector>("kmeans").is_err(), "that is a clusterer");
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_core::registry::build_default;

/// The plugins of this program, with their descriptions.
///
/// ```
/// use mustlink::registry::{Catalogue, Descriptor, Role};
///
/// # fn main() -> mustlink::Result<()> {
/// let catalogue = Catalogue::get()?;
/// let kmeans: &Descriptor = catalogue.find("kmeans").expect("it is linked");
/// assert_eq!(kmeans.role, Role::BaseClusterer);
/// assert!(kmeans.summary().ends_with('.'));
/// assert!(catalogue.role(Role::Metric).any(|metric| metric.tag == "ari"));
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_core::registry::Catalogue;
#[doc(inline)]
pub use mustlink_core::registry::{Descriptor, Role};
