//! What is asked of one method on one data set?

use std::path::{Path, PathBuf};

use clap_complete::ArgValueCompleter;
use mustlink::registry::Role;

use crate::files::{ColumnArgs, Named};
use crate::options::{self, DataDir};
use crate::{complete, term};

/// What `cluster` and `select` have in common.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct JobArgs {
    /// Data set: a built-in name, a name in the data directory, a path (.csv, .tsv, .txt, .mtx,
    /// also with .gz; .npy), or - for a CSV on standard input
    #[arg(long, value_name = "DATA", add = ArgValueCompleter::new(complete::data))]
    pub data: String,
    /// What clusters where nothing is named is one method, not a choice among many.
    #[arg(skip)]
    pub one_method: bool,
    /// Somebody answers meanwhile: nothing moves on the screen.
    #[arg(skip)]
    pub answered_by_hand: bool,
    /// Time limit of a method that tries others.
    #[arg(skip)]
    pub time: Option<TimeLimit>,
    /// On Ctrl-C a method may end with its best result so far.
    #[arg(skip)]
    pub keep_best: bool,
    /// Method file. Absent: auto where anything constrains, which tries many methods; pck_means with
    /// weight = "auto" if one method is needed (--weights, --object-weights, a selector that asks by
    /// clusters); otherwise kmeans
    #[arg(long, value_name = "FILE")]
    pub method: Option<PathBuf>,
    /// Clusterer, in place of that of the method: a name or { type = "…", … }; none: that of a selector
    /// which clusters by itself, as cobras does
    #[arg(long, value_name = "NAME", add = complete::plugins(Role::BaseClusterer))]
    pub clusterer: Option<String>,
    /// Query selector, in place of that of the method: a name or { type = "…", … }
    #[arg(long, value_name = "NAME", add = complete::plugins(Role::QuerySelector))]
    pub selector: Option<String>,
    /// Who answers, in place of that of the method: a name or { type = "…", … }; absent: the classes
    #[arg(long, value_name = "NAME", add = complete::plugins(Role::Oracle))]
    pub oracle: Option<String>,
    /// Set an option of the method: clusterer.restarts=20 (may be repeated)
    #[arg(long = "set", value_name = "A.B=VALUE")]
    pub sets: Vec<String>,
    /// Number of clusters. Absent: that of the method file, else the number of classes where they
    /// are known and the method needs k; "mustlink select-k" compares numbers
    #[arg(long, value_name = "K", value_parser = options::count, allow_negative_numbers = true)]
    pub k: Option<usize>,
    /// CSV of constraints i,j,type,weight; objects by row number from 0, or by id with --id
    #[arg(long, value_name = "FILE")]
    pub constraints: Option<String>,
    #[command(flatten)]
    pub columns: ColumnArgs,
    /// Column of a CSV with the name of a group for some objects, whose members must all be apart: the photo
    /// that they are in, the recording in which they speak; empty cells are in no group
    #[arg(long, value_name = "COLUMN")]
    pub apart: Option<String>,
    /// Column of a CSV that says how often each object counts: 0, 1, 2.5 …; for methods that take weights
    #[arg(long, value_name = "COLUMN")]
    pub object_weights: Option<String>,
    /// Most questions asked. Absent: until the selector is done
    #[arg(long, value_name = "Q", value_parser = options::count, allow_negative_numbers = true)]
    pub budget: Option<usize>,
    /// File that keeps every question and answer as they come; given again, the selection goes on
    /// where it stopped and asks nothing twice
    #[arg(long, value_name = "FILE")]
    pub ledger: Option<PathBuf>,
    /// Ask although the clusterer reads no constraints, so that the answers change nothing
    #[arg(long)]
    pub selection_only: bool,
    /// Seed of every random number. Absent: that of the method file, else 0
    #[arg(long, value_name = "S", value_parser = options::seed, allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Threads (default: one per core); changes no result
    #[arg(long, value_name = "N", value_parser = options::threads)]
    pub threads: Option<usize>,
    /// Refuse data and methods that take more memory than this (default: 80 % of what the machine, its
    /// control groups and ulimit -v allow)
    #[arg(long, value_name = "4GiB", value_parser = options::bytes)]
    pub memory_limit: Option<u64>,
    #[command(flatten)]
    pub data_dir: DataDir,
    /// No notes, warnings and progress
    #[arg(long, short)]
    pub quiet: bool,
}

/// How long a method that tries others may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum TimeLimit {
    /// As long as all of them take.
    None,
    Seconds(f64),
}

impl std::str::FromStr for TimeLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse::<f64>()) {
            ("none", _) => Ok(TimeLimit::None),
            (_, Ok(seconds)) if seconds >= 0.0 && seconds.is_finite() => {
                Ok(TimeLimit::Seconds(seconds))
            }
            _ => Err(format!("must be a number of seconds of at least 0, or none, got {text}")),
        }
    }
}

impl JobArgs {
    /// The files it reads, by option; the ledger is written too, and by nothing else.
    pub fn inputs(&self) -> [Named<'_>; 4] {
        [
            ("--data", Some(self.data.as_str())),
            ("--method", self.method.as_deref().and_then(Path::to_str)),
            ("--constraints", self.constraints.as_deref()),
            ("--ledger", self.ledger.as_deref().and_then(Path::to_str)),
        ]
    }

    /// The first of these options that is given, for verbs that do not read all of them.
    pub fn given(&self, options: &[&'static str]) -> Option<&'static str> {
        let is_given = |option: &str| match option {
            "--method" => self.method.is_some(),
            "--clusterer" => self.clusterer.is_some(),
            "--selector" => self.selector.is_some(),
            "--oracle" => self.oracle.is_some(),
            "--set" => !self.sets.is_empty(),
            "--k" => self.k.is_some(),
            "--constraints" => self.constraints.is_some(),
            "--apart" => self.apart.is_some(),
            "--object-weights" => self.object_weights.is_some(),
            "--budget" => self.budget.is_some(),
            "--ledger" => self.ledger.is_some(),
            other => unreachable!("{other} is no option that a verb refuses"),
        };
        options.iter().copied().find(|option| is_given(option))
    }

    /// Where relative paths in options start: at the method file.
    pub fn base(&self) -> &Path {
        self.method.as_deref().and_then(Path::parent).unwrap_or(Path::new(""))
    }

    /// Notes what the program chose by itself.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            term::tell(&format!("note: {text}"));
        }
    }

    pub fn warn(&self, text: &str) {
        if !self.quiet {
            term::tell(&format!("warning: {text}"));
        }
    }
}
