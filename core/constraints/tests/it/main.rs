//! Closures and groups against plain tables.

mod closure;
mod groups;
