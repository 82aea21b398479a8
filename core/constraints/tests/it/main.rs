//! Closures and groups against plain tables, and what a partition overrules.

mod closure;
mod groups;
mod overruled;
