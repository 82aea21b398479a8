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

/// What the program can do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    List(list::Args),
    Describe(describe::Args),
    Schema(schema::Args),
    Cluster(cluster::Args),
    Predict(predict::Args),
    Select(select::Args),
    Label(label::Args),
    Ledger(ledger::Args),
    Consensus(consensus::Args),
    Impute(impute::Args),
    SelectK(select_k::Args),
    Init(init::Args),
    Score(score::Args),
    Check(check::Args),
    Plan(plan::Args),
    Run(run::Args),
    Work(work::Args),
    Report(report::Args),
    Retry(retry::Args),
    Merge(merge::Args),
    Diff(diff::Args),
    Verify(verify::Args),
    Cite(cite::Args),
    Verdicts(verdicts::Args),
    Config(config::Args),
    Completions(completions::Args),
    Plugin(plugin::Args),
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

    /// Does it, and gives the exit status.
    pub fn run(&self) -> Result<u8, Failure> {
        match self {
            Verb::List(args) => list::run(args),
            Verb::Describe(args) => describe::run(args),
            Verb::Schema(args) => schema::run(args),
            Verb::Cluster(args) => cluster::run(args),
            Verb::Predict(args) => predict::run(args),
            Verb::Select(args) => select::run(args),
            Verb::Label(args) => label::run(args),
            Verb::Ledger(args) => ledger::run(args),
            Verb::Consensus(args) => consensus::run(args),
            Verb::Init(args) => init::run(args),
            Verb::Impute(args) => impute::run(args),
            Verb::SelectK(args) => select_k::run(args),
            Verb::Score(args) => score::run(args),
            Verb::Check(args) => check::run(args),
            Verb::Plan(args) => plan::run(args),
            Verb::Run(args) => run::run(args),
            Verb::Work(args) => work::run(args),
            Verb::Report(args) => report::run(args),
            Verb::Retry(args) => retry::run(args),
            Verb::Merge(args) => merge::run(args),
            Verb::Diff(args) => diff::run(args),
            Verb::Verify(args) => verify::run(args),
            Verb::Cite(args) => cite::run(args),
            Verb::Verdicts(args) => verdicts::run(args),
            Verb::Config(args) => config::run(args),
            Verb::Completions(args) => completions::run(args),
            Verb::Plugin(args) => plugin::run(args),
        }
    }
}
