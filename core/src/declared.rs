//! What declares the options of a type?

use serde_json::Value;

/// A type whose options are declared by a JSON Schema; `register!` implements it.
pub trait Declared {
    /// The schema, computed once.
    fn schema() -> &'static Value;
}
