//! The readers that are attacked.

mod config;
mod datasets;
mod harness;
mod ledger;
mod page;
mod programs;
mod report;
mod results;

pub use harness::Harness;

/// A reader that is attacked.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name, and that of its folders of files.
    pub name: &'static str,
    /// The input that is read, and the function that reads it.
    pub reads: &'static str,
    /// Inputs that it gets while the quickest one gets so many times more.
    pub dear: u64,
    /// Words of its format.
    pub words: &'static [&'static str],
    /// Makes what reads.
    pub prepare: fn() -> Harness,
}

/// All of them, in the order of the manual.
pub const TARGETS: [Target; 23] = [
    Target {
        name: "experiment",
        reads: "experiment files (`Experiment::parse`)",
        dear: 8,
        words: config::WORDS,
        prepare: config::experiment,
    },
    Target {
        name: "method",
        reads: "method files (`Document::parse`, `validate`, `build`)",
        dear: 4,
        words: config::WORDS,
        prepare: config::method,
    },
    Target {
        name: "set",
        reads: "`--set path=value` (`Document::set`)",
        dear: 2,
        words: config::WORDS,
        prepare: config::set,
    },
    Target {
        name: "keys",
        reads: "keys of `label` (`Keys::read`)",
        dear: 1,
        words: config::WORDS,
        prepare: config::keys,
    },
    Target {
        name: "model",
        reads: "steps of saved models (`Transform::restore`, `apply`)",
        dear: 2,
        words: config::WORDS,
        prepare: config::model,
    },
    Target {
        name: "table",
        reads: "CSV tables (`datasets::open`)",
        dear: 2,
        words: datasets::WORDS,
        prepare: datasets::table,
    },
    Target {
        name: "packed",
        reads: "CSV.gz, damaged and repacked",
        dear: 4,
        words: datasets::WORDS,
        prepare: datasets::packed,
    },
    Target {
        name: "matrix",
        reads: "Matrix Market with labels and terms",
        dear: 2,
        words: datasets::MATRIX,
        prepare: datasets::matrix,
    },
    Target {
        name: "npy",
        reads: "NumPy files (`NpyRows`, `npy::integers`)",
        dear: 2,
        words: datasets::NPY,
        prepare: datasets::npy,
    },
    Target {
        name: "manifest",
        reads: "manifests of data directories",
        dear: 40,
        words: datasets::WORDS,
        prepare: datasets::manifest,
    },
    Target {
        name: "constraints",
        reads: "constraints, groups among them (`read_constraints`)",
        dear: 2,
        words: datasets::WORDS,
        prepare: datasets::constraints,
    },
    Target {
        name: "answers",
        reads: "answered questions (`read_answers`)",
        dear: 2,
        words: datasets::WORDS,
        prepare: datasets::answers,
    },
    Target {
        name: "listed",
        reads: "pairs to be asked (the selector `fixed_list`)",
        dear: 2,
        words: datasets::WORDS,
        prepare: datasets::listed,
    },
    Target {
        name: "partitions",
        reads: "partitions (`read_partitions`)",
        dear: 2,
        words: datasets::WORDS,
        prepare: datasets::partitions,
    },
    Target {
        name: "labels",
        reads: "labels (`read_labels`)",
        dear: 2,
        words: datasets::WORDS,
        prepare: datasets::labels,
    },
    Target {
        name: "ledger",
        reads: "ledgers, read, opened and gone on with (`answers`, `Ledger`)",
        dear: 4,
        words: ledger::WORDS,
        prepare: ledger::ledger,
    },
    Target {
        name: "results",
        reads: "configuration, journal and cells of a run (`results::finished`)",
        dear: 8,
        words: results::WORDS,
        prepare: results::results,
    },
    Target {
        name: "report",
        reads: "tables of the report before (`report`)",
        dear: 100,
        words: report::WORDS,
        prepare: report::report_before,
    },
    Target {
        name: "array",
        reads: "lists of what the tasks of a Slurm array do (`slurm::task`)",
        dear: 2,
        words: results::WORDS,
        prepare: results::array,
    },
    Target {
        name: "oracle",
        reads: "replies of the oracle `subprocess`",
        dear: 200,
        words: programs::WORDS,
        prepare: programs::oracle,
    },
    Target {
        name: "external",
        reads: "replies of external clusterers and selectors, and what they say of themselves",
        dear: 400,
        words: programs::WORDS,
        prepare: programs::external,
    },
    Target {
        name: "reply",
        reads: "labels in replies (`exchange::labels`)",
        dear: 1,
        words: programs::WORDS,
        prepare: programs::labels,
    },
    Target {
        name: "request",
        reads: "HTTP requests to the page of `label`",
        dear: 40,
        words: page::WORDS,
        prepare: page::request,
    },
];

/// The target of this name.
pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|t| t.name == name)
}
