//! Configurations in TOML or JSON: parsing, checking, filling in defaults, and building methods.

#[doc(hidden)]
pub use mustlink_config::*;

/// A configuration as a tree that can be read and changed.
///
/// ```
/// use mustlink::config::{Document, Node};
/// use mustlink::serde_json::json;
///
/// # fn main() -> mustlink::Result<()> {
/// let mut file = Document::parse("method.toml", "clusterer = \"kmeans\"")?;
/// file.root_mut().insert("transforms", Node::synthetic(&json!(["z_score"])));
/// assert_eq!(file.root().to_value(), json!({ "clusterer": "kmeans", "transforms": ["z_score"] }));
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_config::Document;
#[doc(inline)]
pub use mustlink_config::Node;

/// Builds a method, or any other type with options, from a configuration.
///
/// ```
/// use mustlink::config::{self, Document};
/// use mustlink::method::Method;
/// use mustlink::prelude::*;
///
/// # fn main() -> Result<()> {
/// let file = Document::parse("method.toml", "clusterer = { type = \"kmeans\", restarts = 3 }")?;
/// let method: Method = config::build(file.root(), "")?;
/// assert_eq!(method.clusterer.expect("it is there").tag(), "kmeans");
///
/// let slip = Document::parse("method.toml", "clusterer = { type = \"kmeans\", restart = 3 }")?;
/// let message = config::build::<Method>(slip.root(), "").unwrap_err().to_string();
/// assert!(message.contains("did you mean \"restarts\"?"), "{message}");
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_config::build;

/// Fills in the defaults of a configuration.
///
/// ```
/// use mustlink::config::{self, Document};
/// use mustlink::method::Method;
///
/// # fn main() -> mustlink::Result<()> {
/// let file = Document::parse("method.toml", "clusterer = \"pck_means\"")?;
/// let resolved = config::resolve::<Method>(file.root())?;
/// assert_eq!(resolved["clusterer"]["weight"], "auto");
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_config::resolve;
