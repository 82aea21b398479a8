//! The facts about a data set that are known before it is opened.

use serde::Serialize;

/// Source of a data set that has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Part of this program.
    BuiltIn,
    /// The data directory.
    Directory,
}

/// A data set that can be opened by name, as far as is known without opening it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listing {
    /// Its name.
    pub name: String,
    /// The origin of the data set.
    pub origin: Origin,
    /// `dense`, `sparse`, or what the manifest says.
    pub kind: String,
    /// Objects.
    pub n: Option<usize>,
    /// Features.
    pub d: Option<usize>,
    /// Classes.
    pub k: Option<usize>,
    /// Remarks about the data set.
    pub notes: String,
}
