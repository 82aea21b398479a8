//! Experiments: repeatable claims about methods.
//!
//! An [`Experiment`] is a file: data sets, splits, methods, curve points, metrics. [`plan`] estimates
//! what running it takes; [`run`] does it, cell by cell into a crash-safe journal, and continues
//! where it stopped; [`results`] reads the rows that exist, of which the crate `mustlink-report` makes tables
//! and figures; [`retry`] runs again what failed; [`merge`] puts results of several machines together
//! and [`diff`] compares two. Equal files and equal seeds give equal rows on any number of threads.
//!
//! Each module uses only those above it:
//!
//! | module | what it holds |
//! |---|---|
//! | `hash`, `folder`, `threads` | hashes; files that are whole or absent; work that has threads to itself |
//! | `statistics`, `split`, `row` | means and intervals; which objects are held back; what is written down |
//! | `verdict` | the language of claims about results |
//! | `marked` | options that name files |
//! | `config` | the file and how it is read; a method and what it takes |
//! | `data` | the data sets, opened |
//! | `identity` | what results depend on |
//! | `grid`, `shard` | cells and the selections they share; parts of a run |
//! | `cell_file`, `journal` | files that survive a run being killed, and show when they were changed |
//! | `standing` | the part of an experiment that exists already, made by this build or another |
//! | `results` | the rows of a results directory |
//! | `run_env`, `cell` | what happens in a selection and in a cell |
//! | `plan` | what a run will take |
//! | `merge`, `diff` | several results directories |
//! | `outcome`, `best`, `schedule`, `run`, `verify` | what comes of it; tasks, threads, memory, stopping; doing it again |
//! | `slurm` | the same on a cluster |
//! | `single`, `notices`, `number_of_clusters` | outside a study: one method on one data set, and notes about it; criteria for k |
//! | `partition_support` | outside a study: the number of clusters that existing partitions support |
//! | `judged_pairs`, `continued` | outside a study: clusters of objects of which only judged pairs are known; clusters that keep their numbers |

mod best;
mod cell;
mod cell_file;
mod config;
#[doc(hidden)]
pub mod continued;
mod data;
mod diff;
mod folder;
mod grid;
mod hash;
mod identity;
mod journal;
#[doc(hidden)]
pub mod judged_pairs;
mod marked;
mod member_weights;
mod merge;
#[doc(hidden)]
pub mod notices;
mod number_of_clusters;
mod outcome;
#[doc(hidden)]
pub mod partition_support;
mod plan;
pub mod results;
pub mod row;
mod run;
mod run_env;
mod schedule;
mod shard;
mod single;
pub mod slurm;
mod split;
mod standing;
pub mod statistics;
mod threads;
pub mod verdict;
mod verify;

// Tests build methods by name.
#[cfg(test)]
use mustlink as _;

pub use best::Best;
pub use config::{
    Criterion, Curve, DatasetEntry, Exclude, Experiment, ExperimentFile, Format, Head, MethodEntry,
    MethodSpec, Plot, Points, Range, RunSection, Scope, Scoring, Stats, Tolerance, estimate,
    first_generator, from_here,
};
pub use data::{Facts, MOST_OF_CLASSES, Source, check_heads};
pub use diff::{ColumnDiff, Diff, diff};
pub use folder::{io, remove, write_whole};
#[doc(hidden)]
pub use identity::programs;
pub use merge::{Merged, merge};
pub use number_of_clusters::{Criteria, Selected, Tries, select_k};
pub use outcome::{FailedCell, Outcome, ProgressSnapshot, RunOptions, RunProgress, failures};
pub use plan::{Plan, PlannedDataset, duration, plan};
pub use row::{Row, RowStatus};
pub use run::{retry, retry_cell, run};
pub use shard::Shard;
#[doc(hidden)]
pub use single::{Asked, Clustered, LABEL, LedgerDriver, Single};
pub use split::Split;
pub use standing::{Keep, Standing};
pub use statistics::{Summary, Unit, critical_t, mean_height};
#[doc(hidden)]
pub use threads::thread_pool;
pub use verify::{Verified, verify};
