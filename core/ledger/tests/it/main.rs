//! Ledgers and the selections that write them against plain lists.

mod inquiry;
mod lines;
mod model;
