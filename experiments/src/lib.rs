//! How are claims about methods made repeatable?
//!
//! An [`Experiment`] is a file: data sets, splits, methods, curve points, metrics. [`plan`] says
//! what running it takes; [`run`] does it, cell by cell into a crash-safe journal, and goes on
//! where it stopped; [`report`] makes tables and figures from the journal; [`retry`] runs again
//! what failed. Equal files and equal seeds give equal rows on any number of threads.
//!
//! | module | what it holds |
//! |---|---|
//! | `config` | the file and how it is read |
//! | `split` | which objects are held back |
//! | `work` | cells, the selections they share, identities |
//! | `cell` | what happens in a selection and in a cell |
//! | `run` | tasks, threads, memory, stopping |
//! | `journal` | files that survive being killed |
//! | `row` | what is written down |
//! | `stats`, `summary` | means and intervals |
//! | `formula`, `verdict` | claims about results, and whether they hold |
//! | `figure`, `report`, `plan` | what people see |

mod cell;
mod config;
mod data;
pub mod figure;
mod formula;
mod journal;
mod plan;
mod report;
mod row;
mod run;
mod split;
mod stats;
mod summary;
mod verdict;
mod work;

pub use config::{
    Curve, DatasetEntry, DatasetSpec, Exclude, Experiment, ExperimentFile, Head, MethodEntry,
    MethodSpec, Points, Range, RunSection, Scope, Scoring, Stats,
};
pub use data::Source;
pub use plan::{Plan, PlannedDataset, plan};
pub use report::{Report, report};
pub use row::{Row, RowStatus};
pub use run::{FailedCell, Outcome, RunOptions, RunProgress, Shard, Standing, retry, run};
pub use split::Split;
pub use stats::{Summary, Unit, critical_t, mean_height};
pub use summary::{CurveSummary, PointSummary};
pub use verdict::{Criterion, Finding, Judgement, Tolerance, Verdict};
