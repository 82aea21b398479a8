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
    /// How many times fewer inputs it gets than the quickest reader.
    pub cost: u64,
    /// Words of its format.
    pub words: &'static [&'static str],
    /// Makes the function that reads inputs.
    pub prepare: fn() -> Harness,
}

const fn target(
    name: &'static str,
    cost: u64,
    words: &'static [&'static str],
    prepare: fn() -> Harness,
) -> Target {
    Target { name, cost, words, prepare }
}

/// All readers, in the order of the manual.
pub const TARGETS: [Target; 23] = [
    // Experiment files (`Experiment::parse`).
    target("experiment", 8, config::WORDS, config::experiment),
    // Method files (`Document::parse`, `validate`, `build`).
    target("method", 4, config::WORDS, config::method),
    // `--set path=value` (`Document::set`).
    target("set", 2, config::WORDS, config::set),
    // Keys of `label` (`Keys::read`).
    target("keys", 1, config::WORDS, config::keys),
    // Steps of saved models (`Transform::restore`, `apply`).
    target("model", 2, config::WORDS, config::model),
    // CSV tables (`datasets::open`).
    target("table", 2, datasets::WORDS, datasets::table),
    // CSV.gz, damaged and repacked.
    target("packed", 4, datasets::WORDS, datasets::packed),
    // Matrix Market with labels and terms.
    target("matrix", 2, datasets::MATRIX, datasets::matrix),
    // NumPy files (`NpyRows`, `npy::integers`).
    target("npy", 2, datasets::NPY, datasets::npy),
    // Manifests of data directories.
    target("manifest", 40, datasets::WORDS, datasets::manifest),
    // Constraints, groups among them (`read_constraints`).
    target("constraints", 2, datasets::WORDS, datasets::constraints),
    // Answered questions (`read_answers`).
    target("answers", 2, datasets::WORDS, datasets::answers),
    // Pairs to be asked (the selector `fixed_list`).
    target("listed", 2, datasets::WORDS, datasets::listed),
    // Partitions (`read_partitions`).
    target("partitions", 2, datasets::WORDS, datasets::partitions),
    // Labels (`read_labels`).
    target("labels", 2, datasets::WORDS, datasets::labels),
    // Ledgers, read, opened and gone on with (`answers`, `Ledger`).
    target("ledger", 4, ledger::WORDS, ledger::ledger),
    // Configuration, journal and cells of a run (`results::finished`).
    target("results", 8, results::WORDS, results::results),
    // Tables of the report before (`report`).
    target("report", 100, report::WORDS, report::report_before),
    // Lists of what the tasks of a Slurm array do (`slurm::task`).
    target("array", 2, results::WORDS, results::array),
    // Replies of the oracle `subprocess`.
    target("oracle", 200, programs::WORDS, programs::oracle),
    // Replies of external clusterers and selectors, and what they say of themselves.
    target("external", 400, programs::WORDS, programs::external),
    // Labels in replies (`exchange::labels`).
    target("reply", 1, programs::WORDS, programs::labels),
    // HTTP requests to the page of `label`.
    target("request", 40, page::WORDS, page::request),
];

/// The target of this name.
pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|t| t.name == name)
}
