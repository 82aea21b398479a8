//! Reports, their statistics and their verdicts.

mod report;
mod statistics;
mod verdicts;
