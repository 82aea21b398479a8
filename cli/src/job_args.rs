//! The arguments about one method on one data set.

use std::path::{Path, PathBuf};

use clap_complete::ArgValueCompleter;
use mustlink::registry::Role;
use mustlink::{DataKind, Error};
use serde_json::Value;

use crate::files::{ColumnArgs, Named};
use crate::options::{self, DataDir};
use crate::{complete, data_file, term};

/// The arguments that `cluster` and `select` share.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct JobArgs {
    /// Data set: a built-in name, a path, or - for standard input
    ///
    /// Paths end in .csv, .tsv, .txt or .mtx, also with .gz, or in .npy, .parquet, .xlsx or .ods. The data directory
    /// adds names. Options are also read from NAME.toml next to NAME.csv, or from data.toml in its folder.
    #[arg(
        long, value_name = "DATA", add = ArgValueCompleter::new(complete::data),
        required_unless_present_any = PAIRS, default_value = "", hide_default_value = true
    )]
    pub data: String,
    /// Matrix of the distances of all pairs, instead of --data
    ///
    /// A .csv or .npy file with as many columns as rows. Names of columns become ids. For methods that accept
    /// distances, such as hierarchical, hdbscan and spectral.
    #[arg(id = PAIRS[0], long = "distances", value_name = "FILE", conflicts_with_all = ["data", PAIRS[1]])]
    pub distances: Option<String>,
    /// Matrix of the affinities of all pairs, instead of --data
    ///
    /// As --distances; a .mtx file holds a graph of neighbours. For methods that accept affinities, such as
    /// spectral and cosc.
    #[arg(id = PAIRS[1], long = "affinities", value_name = "FILE", conflicts_with = "data")]
    pub affinities: Option<String>,
    /// Transforms of the data set, for a method without transforms.
    #[arg(skip)]
    pub transforms: Option<Value>,
    /// The file next to the data that gave some of the options.
    #[arg(skip)]
    pub described_by: Option<String>,
    /// The default is one method, not a choice among many.
    #[arg(skip)]
    pub one_method: bool,
    /// A person answers questions, so nothing else may move on the screen.
    #[arg(skip)]
    pub answered_by_hand: bool,
    /// Time limit of a method that tries others.
    #[arg(skip)]
    pub time: Option<TimeLimit>,
    /// On Ctrl-C a method may end with its best result so far.
    #[arg(skip)]
    pub keep_best: bool,
    /// Method file [default: auto if there are constraints, otherwise kmeans]
    ///
    /// pck_means with weight = "auto" runs instead of auto if one method is needed: with --weights,
    /// --object-weights, or a selector that clusters between questions.
    #[arg(long, value_name = "FILE")]
    pub method: Option<PathBuf>,
    /// Clusterer: a name, or { type = "…", … }
    ///
    /// Replaces the clusterer of the method. none: the clusters of a selector that makes its own, such as
    /// cobras.
    #[arg(long, value_name = "NAME", add = complete::plugins(Role::BaseClusterer))]
    pub clusterer: Option<String>,
    /// Query selector: a name, or { type = "…", … }
    ///
    /// Replaces the selector of the method.
    #[arg(long, value_name = "NAME", add = complete::plugins(Role::QuerySelector))]
    pub selector: Option<String>,
    /// Annotator: a name, or { type = "…", … } [default: the classes]
    ///
    /// Replaces the oracle of the method.
    #[arg(long, value_name = "NAME", add = complete::plugins(Role::Oracle))]
    pub oracle: Option<String>,
    /// Set an option of the method: clusterer.restarts=20 (repeatable)
    #[arg(long = "set", value_name = "A.B=VALUE")]
    pub sets: Vec<String>,
    /// Number of clusters [default: see --help]
    ///
    /// The default is the number in the method file, otherwise the number of classes if these are known and
    /// the method needs k. "mustlink select-k" compares numbers.
    #[arg(long, value_name = "K", value_parser = options::count, allow_negative_numbers = true)]
    pub k: Option<usize>,
    /// CSV of constraints: i,j,type,weight
    ///
    /// Objects are row numbers from 0, or ids with --id.
    #[arg(long, value_name = "FILE")]
    pub constraints: Option<String>,
    #[command(flatten)]
    pub columns: ColumnArgs,
    /// Column of texts to cluster by their words
    ///
    /// Other columns are left out, except ids and classes. The transforms are count_words, tf_idf and l2_rows,
    /// unless you set others.
    #[arg(long, value_name = "COLUMN")]
    pub text: Option<String>,
    /// Column of groups whose members should be in different clusters
    ///
    /// For example the photo that faces are in, or the recording in which people speak. Empty cells are in no
    /// group. Each pair of a group is a cannot-link: cop_kmeans keeps all, auto may break some, with a warning.
    #[arg(long, value_name = "COLUMN")]
    pub apart: Option<String>,
    /// Column with the number of times that each object counts
    ///
    /// For example 0, 1 or 2.5. For methods that support weights.
    #[arg(long, value_name = "COLUMN")]
    pub object_weights: Option<String>,
    /// Largest number of questions [default: until the selector is done]
    #[arg(long, value_name = "Q", value_parser = options::count, allow_negative_numbers = true)]
    pub budget: Option<usize>,
    /// File that keeps every question and answer
    ///
    /// With the same file, the selection continues and repeats no question.
    #[arg(long, value_name = "FILE")]
    pub ledger: Option<PathBuf>,
    /// Ask questions even if the clusterer ignores the answers
    #[arg(long)]
    pub selection_only: bool,
    /// Seed of all random numbers [default: that of the method file, or 0]
    #[arg(long, value_name = "S", value_parser = options::seed, allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Number of threads [default: one per core]; never changes a result
    #[arg(long, value_name = "N", value_parser = options::threads)]
    pub threads: Option<usize>,
    /// Reject data and methods that take more memory [default: 80 %]
    ///
    /// The default is 80 % of what the machine, its control groups and ulimit -v allow.
    #[arg(long, value_name = "4GiB", value_parser = options::bytes)]
    pub memory_limit: Option<u64>,
    #[command(flatten)]
    pub data_dir: DataDir,
    /// No notes, warnings or progress
    #[arg(long, short)]
    pub quiet: bool,
}

/// Options that replace `--data`. Their names differ from the output of `predict --distances`.
pub(crate) const PAIRS: [&str; 2] = ["distance_matrix", "affinity_matrix"];

/// The argument `--data` of a command in which the option `other` can replace it, too.
pub(crate) fn replaceable(data: clap::Arg, other: &'static str) -> clap::Arg {
    data.required_unless_present(other)
}

/// How long a method that tries others may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum TimeLimit {
    /// No limit.
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

/// The part of a method or study that `--set` replaces: `clusterer` for clusterer=x and for clusterer.type=x.
fn part_of(set: &str) -> &str {
    let path = set.split_once('=').map_or(set, |(path, _)| path).trim();
    path.strip_suffix(".type").unwrap_or(path)
}

/// Refuses `--set` of a part that another option gives. For each option: its name, its part, and whether it is given.
pub(crate) fn check_set_once(
    options: &[(&str, &str, bool)],
    sets: &[String],
) -> mustlink::Result<()> {
    for set in sets {
        let part = part_of(set);
        if let Some((option, ..)) = options.iter().find(|(_, of, given)| *given && *of == part) {
            let message =
                format!("{option} and --set {set} both set {part}; leave one of them out");
            return Err(Error::Usage(message));
        }
    }
    Ok(())
}

impl JobArgs {
    /// Refuses `--set` of what another option gives.
    pub fn check_set_once(&self) -> mustlink::Result<()> {
        let options = [
            ("--clusterer", "clusterer", self.clusterer.is_some()),
            ("--selector", "selector", self.selector.is_some()),
            ("--oracle", "oracle", self.oracle.is_some()),
            ("--k", "k", self.k.is_some()),
            ("--seed", "seed", self.seed.is_some()),
            ("--time", "clusterer.time_budget_seconds", self.time.is_some()),
        ];
        check_set_once(&options, &self.sets)
    }

    /// The same arguments, with the options from the file next to the data, which is named in a note, and with the
    /// matrix of pairs as data.
    pub fn completed(&self) -> mustlink::Result<JobArgs> {
        let data = self.distances.as_ref().or(self.affinities.as_ref()).unwrap_or(&self.data);
        let others = [&self.text, &self.apart, &self.object_weights].into_iter().flatten();
        let in_use: Vec<&str> = others.map(String::as_str).collect();
        // The text is the only feature, and has transforms of its own.
        let unused = if self.text.is_some() { "features transforms" } else { "" };
        let completed = data_file::completed(&self.columns, data, &in_use, unused)?;
        completed.note.iter().for_each(|note| self.note(note));
        Ok(JobArgs {
            data: data.clone(),
            columns: completed.columns,
            transforms: completed.transforms,
            described_by: completed.file,
            ..self.clone()
        })
    }

    /// The kind of the data, if they are about pairs.
    pub fn kind_of_pairs(&self) -> Option<DataKind> {
        let distances = self.distances.as_ref().map(|_| DataKind::Distances);
        distances.or(self.affinities.as_ref().map(|_| DataKind::Affinity))
    }

    /// The files it reads, by option; the ledger is written too, and by nothing else.
    pub fn inputs(&self) -> [Named<'_>; 6] {
        [
            ("--data", Some(self.data.as_str())),
            ("--distances", self.distances.as_deref()),
            ("--affinities", self.affinities.as_deref()),
            ("--method", self.method.as_deref().and_then(Path::to_str)),
            ("--constraints", self.constraints.as_deref()),
            ("--ledger", self.ledger.as_deref().and_then(Path::to_str)),
        ]
    }

    /// The first of these options that is given, for verbs that do not read all of them.
    pub fn given(&self, options: &'static str) -> Option<&'static str> {
        let is_given = |option: &&str| match *option {
            "--clusterer" => self.clusterer.is_some(),
            "--selector" => self.selector.is_some(),
            "--oracle" => self.oracle.is_some(),
            "--k" => self.k.is_some(),
            "--constraints" => self.constraints.is_some(),
            "--labels" => self.columns.labels.is_some(),
            "--apart" => self.apart.is_some(),
            "--object-weights" => self.object_weights.is_some(),
            "--budget" => self.budget.is_some(),
            "--ledger" => self.ledger.is_some(),
            other => unreachable!("{other} is not an option that a command rejects"),
        };
        let is_set = |option: &&str| {
            self.sets.iter().any(|set| option.strip_prefix("--") == Some(part_of(set)))
        };
        options.split(' ').find(|option| is_given(option) || is_set(option))
    }

    /// The start of relative paths in options: the folder of the method file.
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
