//! The loader of configurations: it builds a method from text, and reports mistakes with their lines.
//!
//! A file is read into a tree of [`Node`]s that remember where they stand. The tree is checked
//! against the tables of options of the types and of the plugins named in it, slot by slot, so that every
//! complaint is found in one go and points at its own line. Only then is anything built.

mod accepted;
mod axis;
mod document;
mod from_schema;
mod origin;
mod resolve;
mod set;
pub mod tree;
mod validate;

pub use accepted::{Accepted, Form, Options, classes_offset};
pub use axis::axis_values;
pub use document::{Document, Entry, Node, NodeKind};
pub use from_schema::from_schema;
pub use origin::{Origin, origins};
pub use resolve::{
    build, instantiate, own_names, resolve, resolve_plugin, substitute_k, without_null,
};
pub use set::path_steps;
pub use validate::{Check, axes, complaints, validate};
