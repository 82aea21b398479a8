//! Propagators against their formulas.

mod e2cp;
mod gaussian;
