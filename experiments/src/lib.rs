//! How are claims about methods made repeatable?
//!
//! An [`Experiment`] is a file: data sets, splits, methods, curve points, metrics. [`plan`] estimates
//! what running it takes; [`run`] does it, cell by cell into a crash-safe journal, and goes on
//! where it stopped; [`report`] makes tables and figures from the journal; [`retry`] runs again
//! what failed; [`merge`] puts results of several machines together and [`diff`] compares two. Equal files and equal seeds give equal rows on any number of threads.
//!
//! Each module uses only those above it:
//!
//! | module | what it holds |
//! |---|---|
//! | `hash` | equal things, files as they were written |
//! | `statistics`, `svg`, `split`, `row` | means and intervals; axes of figures; which objects are held back; what is written down |
//! | `verdict` | the language of claims about results |
//! | `config` | the file and how it is read |
//! | `citation` | whom the methods cite |
//! | `data` | the data sets, opened |
//! | `identity`, `costs` | what results depend on, code included; what methods take |
//! | `grid`, `shard` | cells and the selections they share; parts of a run |
//! | `cell_file`, `journal` | files that survive a run being killed, and show when they were changed |
//! | `standing` | what of an experiment is there already, made by this build or another |
//! | `render`, `parquet_file` | figures as pictures; rows as Parquet |
//! | `run_env`, `cell` | what happens in a selection and in a cell |
//! | `trial`, `plan`, `report` | cells timed; what people see before and after |
//! | `merge`, `diff`, `kept` | several results directories |
//! | `outcome`, `schedule`, `run`, `verify` | what comes of it; tasks, threads, memory, stopping; doing it again |
//! | `slurm` | the same on a cluster |

mod cell;
mod cell_file;
pub mod citation;
mod config;
mod costs;
mod data;
mod diff;
mod grid;
mod hash;
mod identity;
mod journal;
mod kept;
mod merge;
mod outcome;
#[cfg(feature = "parquet")]
mod parquet_file;
mod plan;
mod render;
mod report;
mod row;
mod run;
mod run_env;
mod schedule;
mod shard;
pub mod slurm;
mod split;
mod standing;
pub mod statistics;
pub mod svg;
mod trial;
mod verdict;
mod verify;

// Tests build methods by name.
#[cfg(test)]
use every_plugin as _;

pub use config::{
    Criterion, Curve, DatasetEntry, Exclude, Experiment, ExperimentFile, Format, Head, MethodEntry,
    MethodSpec, Plot, Points, Range, RunSection, Scope, Scoring, Stats, Tolerance,
};
pub use costs::first_generator;
pub use data::{Source, check_heads};
pub use diff::{ColumnDiff, Diff, diff};
pub use kept::{kept_verdicts, verdicts_page};
pub use merge::{Merged, merge};
pub use outcome::{FailedCell, Outcome, ProgressSnapshot, RunOptions, RunProgress, failures};
pub use plan::{Plan, PlannedDataset, Timing, plan, plan_timed};
pub use render::save_figure;
pub use report::{
    Comparison, CurveSummary, Finding, Judgement, PointSummary, Report, Significance, Verdict,
    report,
};
pub use row::{Row, RowStatus};
pub use run::{retry, retry_cell, run};
pub use shard::Shard;
pub use split::Split;
pub use standing::{Keep, Standing};
pub use statistics::{Summary, Unit, critical_t, mean_height};
pub use verify::{Verified, verify};
