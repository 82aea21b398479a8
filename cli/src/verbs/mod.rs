//! One module per verb.

pub(crate) mod check;
pub(crate) mod cite;
pub(crate) mod cluster;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod consensus;
pub mod describe;
pub(crate) mod diff;
pub(crate) mod impute;
pub(crate) mod init;
pub(crate) mod label;
pub(crate) mod ledger;
pub(crate) mod list;
pub(crate) mod merge;
pub(crate) mod plan;
pub(crate) mod plugin;
pub(crate) mod predict;
pub(crate) mod report;
pub(crate) mod retry;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod score;
pub(crate) mod select;
pub(crate) mod select_k;
pub(crate) mod verdicts;
pub(crate) mod verify;
pub(crate) mod work;

use clap::Subcommand;

use crate::failure::Failure;

/// The commands, each with its module.
macro_rules! verbs {
    ($($verb:ident: $module:ident),*) => {
        /// The commands of the program.
        #[derive(Debug, Subcommand)]
        #[expect(clippy::large_enum_variant, reason = "a run has one value")]
        pub(crate) enum Verb {
            $($verb($module::Args),)*
        }

        impl Verb {
            /// Does it, and gives the exit status.
            pub fn run(&self) -> Result<u8, Failure> {
                match self {
                    $(Verb::$verb(args) => $module::run(args),)*
                }
            }
        }
    };
}

verbs! {
    List: list, Describe: describe, Schema: schema,
    Cluster: cluster, Predict: predict, Select: select, Label: label, Ledger: ledger,
    Consensus: consensus, Impute: impute, SelectK: select_k,
    Init: init, Score: score, Check: check, Plan: plan, Run: run, Work: work, Report: report,
    Retry: retry, Merge: merge, Diff: diff, Verify: verify, Cite: cite, Verdicts: verdicts,
    Config: config, Completions: completions, Plugin: plugin
}

impl Verb {
    /// True for a command that runs methods and so may start programs named in files. The others only read files.
    pub fn starts_programs(&self) -> bool {
        match self {
            Verb::Cluster(_) | Verb::Select(_) | Verb::Label(_) | Verb::Consensus(_) => true,
            Verb::Impute(_) | Verb::SelectK(_) => true,
            Verb::Run(_) | Verb::Work(_) | Verb::Retry(_) | Verb::Verify(_) => true,
            Verb::Plugin(args) => args.is_test(),
            _ => false,
        }
    }
}
