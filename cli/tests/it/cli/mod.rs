//! The program as its users see it: arguments in; output, messages and exit status out.

mod answers;
mod auto;
mod bad_input;
mod broken;
mod catalogue;
mod columns;
mod consensus;
mod data_files;
mod experiments;
mod faults;
mod feature_weights;
mod hints;
mod judged_pairs;
mod kill;
mod label;
mod ledger;
mod looks;
mod memory;
mod methods;
mod models;
mod newcomer;
mod noise;
mod nothing_lost;
mod partitions;
mod plugin;
mod reading;
#[cfg(unix)]
mod scripts;
mod slurm;
#[cfg(unix)]
mod strangers;
mod support;
mod verdicts;
