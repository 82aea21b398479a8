//! Shared ensembles, and the memory that generators declare.

mod memory;
mod shared;
