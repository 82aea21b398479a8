//! The language of claims: arithmetic over the rows of an experiment.
//!
//! Formulas are written in the experiment file, checked when it is read and evaluated by the report.
//! `FUNCTIONS` lists what they may call; the manual has the same table.

mod arithmetic;
mod check;
mod evaluate;
mod parse;
#[cfg(test)]
mod tests;
mod value;

pub use check::Names;
pub(crate) use check::instead;
pub use evaluate::{Results, SetResults, shown};
pub use parse::Formula;
pub use value::{CurveValues, EvalError, Sample, areas};
