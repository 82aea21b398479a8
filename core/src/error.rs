//! What can go wrong, and how is it reported?
//!
//! One closed list of named cases. A message names the place, the value, what is accepted and,
//! where one is known, the next step. Objects are row numbers here; whoever prints to a person
//! passes the person's ids to [`Error::render`].

use std::fmt;

use crate::role::Role;
use crate::witness::Contradictions;
pub use crate::witness::Infeasible;

/// The result of everything in mustlink that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// One complaint about a configuration, with where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// File (or `--set`) the configuration came from.
    pub source: String,
    /// Line and column, both from 1, where known.
    pub position: Option<(usize, usize)>,
    /// Byte range in the source, where known.
    pub span: Option<std::ops::Range<usize>>,
    /// Dotted path of the option: `method[0].clusterer.k`.
    pub path: String,
    /// What is wrong, what is accepted, what to do.
    pub message: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.source.is_empty() {
            write!(f, "{}:", self.source)?;
            if let Some((line, column)) = self.position {
                write!(f, "{line}:{column}:")?;
            }
            write!(f, " ")?;
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "{}", self.message)
    }
}

/// Everything that can go wrong.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// No rows or no columns.
    EmptyData,
    /// k = 0.
    BadK,
    /// k exceeds the number of objects.
    TooManyClusters {
        /// Requested number of clusters.
        k: usize,
        /// Number of objects.
        n: usize,
    },
    /// The method needs k and none was given.
    MissingK {
        /// Tag of the plugin that asks for k.
        plugin: String,
    },
    /// NaN or an infinity in the data.
    NonFinite {
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        col: usize,
    },
    /// Values of a size that methods cannot compute with.
    Magnitude {
        /// Column of the largest, from 0; absent where data have none.
        column: Option<usize>,
        /// The largest in size.
        value: f64,
    },
    /// A sparse matrix whose parts do not fit together.
    MalformedCsr {
        /// Row, from 0.
        row: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A distance or affinity matrix that is not symmetric.
    NotSymmetric {
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        col: usize,
    },
    /// A constraint names an object that does not exist.
    IndexOutOfRange {
        /// The index.
        index: usize,
        /// Number of objects.
        n: usize,
    },
    /// A cannot-link of an object with itself.
    SelfCannotLink {
        /// The object.
        object: usize,
    },
    /// A weight that is negative, NaN or infinite.
    BadWeight {
        /// First object.
        i: usize,
        /// Second object.
        j: usize,
        /// The weight, as text.
        weight: String,
    },
    /// The same pair twice where `duplicates = "error"`.
    DuplicateConstraint {
        /// First object.
        i: usize,
        /// Second object.
        j: usize,
    },
    /// A method was given a constraint marked hard of a kind that it does not promise to hold.
    HardNotSupported {
        /// Tag of the method.
        plugin: String,
        /// Its role.
        role: Role,
        /// "must-link" or "cannot-link".
        kind: &'static str,
        /// First object.
        i: usize,
        /// Second object.
        j: usize,
    },
    /// Cannot-links inside must-link components.
    InconsistentConstraints(Contradictions),
    /// Cannot-links that k clusters cannot satisfy.
    InfeasibleConstraints {
        /// Number of clusters.
        k: usize,
        /// Why.
        witness: Infeasible,
    },
    /// Cannot-links of which a search did not find out in time whether k clusters can satisfy them.
    UndecidedConstraints {
        /// Number of clusters.
        k: usize,
        /// Nodes after which the search ends.
        node_limit: u64,
    },
    /// More pairs than the caller allowed to enumerate.
    ClosureTooLarge {
        /// Pairs in the closure.
        pairs: u64,
        /// The limit.
        limit: u64,
    },
    /// Groups that would be turned into more pairs than is sensible.
    TooManyGroupPairs {
        /// What takes pairs alone.
        what: String,
        /// Pairs of the groups.
        pairs: u64,
        /// The limit.
        limit: u64,
    },
    /// Propagation makes more pairs than the caller allowed.
    TooManyPropagated {
        /// Pairs it makes at least.
        pairs: u64,
        /// The limit.
        limit: u64,
    },
    /// More objects than 32-bit indexes can name.
    TooLarge {
        /// Number of objects.
        n: usize,
    },
    /// An option outside its legal range.
    BadParam {
        /// Name of the option (the framework prefixes the config path).
        name: String,
        /// The value given.
        value: String,
        /// What is accepted.
        legal: String,
    },
    /// Arithmetic that has no answer (a singular matrix, an empty mixture …).
    NumericalFailure {
        /// What was being computed.
        place: String,
    },
    /// A plugin was given a kind of data it does not take.
    UnsupportedData {
        /// Tag of the plugin.
        plugin: String,
        /// Kind given.
        kind: &'static str,
        /// Kinds accepted.
        accepts: String,
    },
    /// A method that counts every object once was given weights of objects.
    UnsupportedWeights {
        /// Tag of the plugin.
        plugin: String,
        /// Tags of the clusterers that take them.
        others: Vec<&'static str>,
    },
    /// The declared memory of a method exceeds the limit.
    Memory {
        /// Bytes the method says it needs.
        needed: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// A plugin slot was left empty and its default is not linked.
    NotLinked {
        /// Role of the slot.
        role: &'static str,
        /// Tag that is missing.
        tag: String,
    },
    /// A plugin broke its contract.
    Contract {
        /// Tag of the plugin.
        plugin: String,
        /// Which promise it broke, and how.
        broken: String,
    },
    /// Complaints about a configuration, all of them.
    Config(Vec<Diagnostic>),
    /// A file that could not be read or written, or whose content is wrong.
    Data {
        /// File, with line where known.
        place: String,
        /// What is wrong.
        message: String,
    },
    /// Wrong use of the command line.
    Usage(String),
    /// A reply that is not one: wrong id, closed oracle, broken pipe.
    Oracle(String),
    /// The run was cancelled.
    Cancelled,
    /// The run went over its time.
    TimedOut {
        /// The limit.
        seconds: f64,
    },
    /// An error of an outside plugin.
    Plugin {
        /// Tag of the plugin.
        tag: String,
        /// Its message.
        message: String,
    },
    /// An error with the config path it happened under.
    At {
        /// Slot path, `clusterer.generator`.
        place: String,
        /// The error.
        source: Box<Error>,
    },
}

impl Error {
    /// `BadParam` in one call.
    pub fn bad_param(name: &str, value: impl fmt::Display, legal: impl Into<String>) -> Self {
        Error::BadParam { name: name.into(), value: value.to_string(), legal: legal.into() }
    }

    /// The same error, with the slot `place` it happened in.
    pub fn at(self, place: &str) -> Self {
        match self {
            Error::At { place: inner, source } => {
                Error::At { place: format!("{place}.{inner}"), source }
            }
            Error::BadParam { name, value, legal } => {
                Error::BadParam { name: format!("{place}.{name}"), value, legal }
            }
            Error::Cancelled | Error::TimedOut { .. } | Error::Config(_) => self,
            other => Error::At { place: place.into(), source: Box::new(other) },
        }
    }

    /// The error without the places around it.
    pub fn root(&self) -> &Error {
        match self {
            Error::At { source, .. } => source.root(),
            other => other,
        }
    }

    /// Exit status of the command line for this error.
    pub fn exit_status(&self) -> u8 {
        match self.root() {
            Error::Config(_)
            | Error::BadParam { .. }
            | Error::Usage(_)
            | Error::MissingK { .. }
            | Error::BadK
            | Error::TooManyClusters { .. }
            | Error::UnsupportedData { .. }
            | Error::UnsupportedWeights { .. }
            | Error::Memory { .. }
            | Error::NotLinked { .. } => 2,
            Error::Contract { .. } | Error::Plugin { .. } => 4,
            Error::Cancelled => 130,
            _ => 3,
        }
    }

    /// The message, with objects named by `id`.
    pub fn render(&self, id: &dyn Fn(usize) -> String) -> String {
        let list = |objects: &[u32], sep: &str| {
            objects.iter().map(|&o| id(o as usize)).collect::<Vec<_>>().join(sep)
        };
        match self {
            Error::EmptyData => "data: no rows or no columns".into(),
            Error::BadK => "k: must be at least 1, got 0".into(),
            Error::TooManyClusters { k, n } => {
                format!("k: must be in 1..={n} (the number of objects), got {k}")
            }
            Error::MissingK { plugin } => {
                format!("{plugin} needs the number of clusters; give --k or the option k")
            }
            Error::NonFinite { row, col } => format!(
                "data: row {}, column {col}: NaN or infinite; fill or drop missing values first",
                id(*row)
            ),
            Error::Magnitude { column, value } => {
                let place = column.map(|c| format!(" column {c}:")).unwrap_or_default();
                format!(
                    "data:{place} the largest value in size is {value:e}, methods take 1e-100 to 1e100; \
                     put min_max first among the transforms"
                )
            }
            Error::MalformedCsr { row, reason } => format!("data: sparse row {row}: {reason}"),
            Error::NotSymmetric { row, col } => {
                format!("data: entry ({row}, {col}) differs from entry ({col}, {row})")
            }
            Error::IndexOutOfRange { index, n } => {
                format!(
                    "constraints: object {index} does not exist, accepted 0..={}",
                    n.saturating_sub(1)
                )
            }
            Error::SelfCannotLink { object } => {
                format!("constraints: cannot-link of object {} with itself", id(*object))
            }
            Error::BadWeight { i, j, weight } => format!(
                "constraints: weight of ({}, {}) must be finite and >= 0, got {weight}",
                id(*i),
                id(*j)
            ),
            Error::DuplicateConstraint { i, j } => {
                format!("constraints: the pair ({}, {}) is given twice", id(*i), id(*j))
            }
            Error::HardNotSupported { plugin, role, kind, i, j } => {
                let instead = match role {
                    Role::ConsensusFunction => " or mark it soft",
                    _ => {
                        ", mark it soft, or give hard_as_soft = WEIGHT where the method has that \
                         option"
                    }
                };
                format!(
                    "constraints: the {0} ({1}, {2}) is marked hard, and {plugin} does not promise \
                     to hold a {0}; use a method that does (`mustlink list {3}`){instead}",
                    kind,
                    id(*i),
                    id(*j),
                    role.plural()
                )
            }
            Error::InconsistentConstraints(Contradictions { shown, count }) => {
                let mut text = String::from("constraints: ");
                for (at, w) in shown.iter().take(Contradictions::SHOWN).enumerate() {
                    if at > 0 {
                        text.push_str("; ");
                    }
                    let of = w.group.as_ref().map(|g| format!(" of the group \"{g}\""));
                    text.push_str(&format!(
                        "cannot-link {}–{}{} contradicts must-links {}",
                        id(w.cannot.0 as usize),
                        id(w.cannot.1 as usize),
                        of.unwrap_or_default(),
                        list(&w.path, "–")
                    ));
                }
                if *count > Contradictions::SHOWN {
                    let more = count - Contradictions::SHOWN;
                    text.push_str(&format!("; and {more} more"));
                }
                text
            }
            Error::InfeasibleConstraints { k, witness } => match witness {
                Infeasible::Clique(objects) => format!(
                    "constraints: {k} clusters cannot hold {} objects that must all be apart: {}",
                    objects.len(),
                    list(objects, ", ")
                ),
                Infeasible::Group { name, members } => format!(
                    "constraints: {k} clusters cannot hold the {} members of the group \"{name}\", which \
                     must all be apart: {}{}; raise k or split the group",
                    members.len(),
                    list(&members[..members.len().min(20)], ", "),
                    if members.len() > 20 { ", …" } else { "" }
                ),
                Infeasible::OddCycle(objects) => format!(
                    "constraints: {k} clusters cannot satisfy the odd cycle of cannot-links {}",
                    list(objects, "–")
                ),
                Infeasible::Exhausted(objects) => format!(
                    "constraints: {k} clusters cannot hold the cannot-links among {} objects, as a \
                     complete search shows: {}",
                    objects.len(),
                    list(objects, ", ")
                ),
                Infeasible::Blocked(objects) => {
                    // A method that finds their number has no k.
                    let among = if *k == 0 { String::new() } else { format!(" among {k}") };
                    let whose = if objects.is_empty() {
                        "some objects, it is not said which".into()
                    } else {
                        list(objects, ", ")
                    };
                    format!("constraints: no admissible cluster{among} for {whose}")
                }
                Infeasible::Surrounded { unit, by } => {
                    let by: Vec<String> =
                        by.iter().map(|&(o, h)| format!("{} in {h}", id(o as usize))).collect();
                    format!(
                        "constraints: no attempt found an admissible cluster among {k} for {}, \
                         apart from {}; more restarts may",
                        list(unit, ", "),
                        by.join(", ")
                    )
                }
            },
            Error::UndecidedConstraints { k, node_limit } => format!(
                "constraints: whether {k} clusters can hold the cannot-links is undecided after \
                 node_limit = {node_limit} nodes; raise node_limit or choose a method that weighs \
                 constraints"
            ),
            Error::ClosureTooLarge { pairs, limit } => format!(
                "constraints: the closure has {pairs} pairs, more than max_closure_pairs = {limit}; \
                 use the component form or raise the limit"
            ),
            Error::TooManyGroupPairs { what, pairs, limit } => format!(
                "constraints: {what} takes groups pair by pair, and {pairs} pairs are more than \
                 {limit}; use a method that takes groups whole (cop_kmeans), or smaller groups"
            ),
            Error::TooManyPropagated { pairs, limit } => format!(
                "constraints: propagation makes at least {pairs} pairs, more than \
                 max_pairs = {limit}; raise the threshold or the limit"
            ),
            Error::TooLarge { n } => {
                format!("data: {n} objects, at most {} are supported", u32::MAX - 1)
            }
            Error::BadParam { name, value, legal } => {
                format!("{name}: must be {legal}, got {value}")
            }
            Error::NumericalFailure { place } => format!("numerical failure in {place}"),
            Error::UnsupportedData { plugin, kind, accepts } => {
                let hint = if *kind == "csr" && accepts.contains("dense") {
                    "; add the transform densify, or choose a method that takes csr"
                } else if *kind == "table" {
                    "; a table has missing values or words: the transforms impute_missing and one_hot \
                     make dense data of it"
                } else {
                    ""
                };
                format!("{plugin} takes {accepts} data, got {kind}{hint}")
            }
            Error::UnsupportedWeights { plugin, others } => format!(
                "weights: {plugin} counts every object once; leave the weights out, or use a method that \
                 takes them ({})",
                others.join(", ")
            ),
            Error::Memory { needed, limit } => format!(
                "memory: the method needs about {}, more than the limit {}; raise --memory-limit or choose an implicit form",
                bytes(*needed),
                bytes(*limit)
            ),
            Error::NotLinked { role, tag } => format!(
                "no {role} \"{tag}\" is linked; add the crate that holds it (use {} as _;)",
                match *role {
                    "base clusterer" => "mustlink_base_clusterers",
                    "ensemble generator" => "mustlink_ensemble_generators",
                    "consensus function" => "mustlink_consensus_functions",
                    "query selector" => "mustlink_query_selectors",
                    "oracle" => "mustlink_oracles",
                    "metric" => "mustlink_metrics",
                    "transform" => "mustlink_transforms",
                    _ => "mustlink",
                }
            ),
            Error::Contract { plugin, broken } => {
                format!("{plugin} broke its contract: {broken}; this is a defect of the plugin")
            }
            Error::Config(diagnostics) => {
                diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
            }
            Error::Data { place, message } => format!("{place}: {message}"),
            Error::Usage(message) => message.clone(),
            Error::Oracle(message) => format!("oracle: {message}"),
            Error::Cancelled => "interrupted".into(),
            Error::TimedOut { seconds } => format!("stopped after the time limit of {seconds} s"),
            Error::Plugin { tag, message } => format!("{tag}: {message}"),
            Error::At { place, source } => format!("{place}: {}", source.render(id)),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(&|i| i.to_string()))
    }
}

impl std::error::Error for Error {}

/// A number of bytes for people.
pub fn bytes(b: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = b as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{b} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}
