//! The errors of the library.
//!
//! One closed list of named cases. A message contains the place, the value, the accepted values and,
//! if one is known, the next step. Objects are row numbers here; to print an error with the ids of the
//! user, pass them to [`Error::render`].

use std::fmt;

use crate::role::Role;
use crate::witness::Contradictions;
pub use crate::witness::Infeasible;

mod features;
mod messages;

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
    /// Message with the fault, the accepted values, and the remedy.
    pub message: String,
}

impl Diagnostic {
    /// A complaint about the option at `path`, of which no line in `source` is known.
    pub fn new(
        source: impl Into<String>,
        path: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        let (source, path, message) = (source.into(), path.into(), message.into());
        Diagnostic { source, position: None, span: None, path, message }
    }

    /// The same with the slot `place` in front of the path. In a file the path is whole already.
    fn at(self, place: &str) -> Self {
        if !self.source.is_empty() {
            return self;
        }
        let path = match self.path.as_str() {
            "" => place.into(),
            path => format!("{place}.{path}"),
        };
        Diagnostic { path, ..self }
    }
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
    /// Values of a feature that a step can do nothing with.
    Feature {
        /// Feature, from 0.
        feature: usize,
        /// Message with the fault and the remedy.
        message: String,
    },
    /// An error about a feature, in words that call it what a person does.
    Named {
        /// The whole message.
        message: String,
        /// The error.
        source: Box<Error>,
    },
    /// A sparse matrix whose parts do not fit together.
    MalformedCsr {
        /// Row, from 0.
        row: usize,
        /// Description of the fault.
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
    /// A weight that is negative, NaN or above 1e100.
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
    /// Constraints that k clusters cannot satisfy.
    InfeasibleConstraints {
        /// Number of clusters.
        k: usize,
        /// Proof that it is infeasible.
        witness: Infeasible,
    },
    /// Constraints of which a search did not find out in time whether k clusters can satisfy them.
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
        /// Name of the component that takes only pairs.
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
        /// Description of the accepted values.
        legal: String,
    },
    /// Arithmetic that has no answer (a singular matrix, an empty mixture …).
    NumericalFailure {
        /// Name of the computation.
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
        /// Role of the slot, if it is known.
        role: Option<Role>,
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
        /// Description of the fault.
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
        Error::of_param(name, &value, legal.into())
    }

    fn of_param(name: &str, value: &dyn fmt::Display, legal: String) -> Self {
        Error::BadParam { name: name.into(), value: value.to_string(), legal }
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
            Error::Config(all) => Error::Config(all.into_iter().map(|d| d.at(place)).collect()),
            Error::Cancelled | Error::TimedOut { .. } => self,
            // It begins with that word.
            Error::Oracle(_) if place == "oracle" => self,
            other => Error::At { place: place.into(), source: Box::new(other) },
        }
    }

    /// The error without the places around it.
    pub fn root(&self) -> &Error {
        match self {
            Error::At { source, .. } | Error::Named { source, .. } => source.root(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_told_in_the_unit_below_them() {
        let told = [0, 1023, 1024, 1536, 1 << 20, 3 << 40, u64::MAX].map(bytes);
        let expected =
            ["0 B", "1023 B", "1.0 KiB", "1.5 KiB", "1.0 MiB", "3.0 TiB", "16777216.0 TiB"];
        assert_eq!(told, expected);
    }

    #[test]
    fn places_are_in_front_of_each_complaint_of_a_plugin() {
        let wrong = |source, path| Diagnostic::new(source, path, "must be at least 1, got 0");
        let all = vec![wrong("", "k"), wrong("", ""), wrong("m.toml", "start.k")];
        assert_eq!(
            Error::Config(all).at("start").at("selector").to_string(),
            "selector.start.k: must be at least 1, got 0\n\
             selector.start: must be at least 1, got 0\n\
             m.toml: start.k: must be at least 1, got 0"
        );
    }

    #[test]
    fn a_missing_plugin_names_the_crate_of_its_role() {
        let said = |role| Error::NotLinked { role, tag: "e2cp".into() }.to_string();
        assert_eq!(
            said(Some(Role::ConstraintPropagator)),
            "no constraint propagator \"e2cp\" is linked; add the crate that holds it (use \
             mustlink_constraint_propagators as _;)"
        );
        assert!(
            said(None).starts_with("no plugin \"e2cp\"") && said(None).contains("use mustlink as")
        );
    }

    #[test]
    fn exit_statuses_tell_whose_fault_it_is() {
        let broken = Error::Contract { plugin: "kmeans".into(), broken: "no labels".into() };
        for (error, status) in [
            (Error::BadK, 2),
            (Error::bad_param("k", "0", ">= 1"), 2),
            (Error::NumericalFailure { place: "the means".into() }, 3),
            (broken, 4),
            (Error::Cancelled, 130),
        ] {
            assert_eq!(error.exit_status(), status, "{error}");
            // Places around an error do not change it.
            assert_eq!(error.at("clusterer").at("method").exit_status(), status);
        }
    }
}
