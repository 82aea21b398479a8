//! Metrics from outside, by name, as a configuration names them.

mod data_and_constraints;
mod invariants;
mod support;
mod vectors;
