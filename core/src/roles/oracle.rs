//! The role of oracles: they answer whether two objects belong to the same cluster.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::error::{Error, Result};

use super::query_selector::{QueryId, Reply};

/// Information for an oracle. Only oracles and metrics see labels.
#[derive(Clone)]
pub struct Scene {
    /// Name of the data set, where known.
    pub name: Option<String>,
    /// Number of objects.
    pub n: usize,
    /// Class of each object, where known; `None` inside = unknown.
    pub labels: Option<Arc<[Option<u32>]>>,
    /// Id of each object.
    pub ids: Option<Arc<[String]>>,
    /// Text shown to people, per object.
    pub display: Option<Arc<[String]>>,
    /// The objects themselves, for oracles that look at distances or show features.
    pub data: Option<crate::data::Data>,
    /// The data as they were read, before the transforms of a method. Ledgers compare them with a stored hash to find
    /// out whether recorded answers are about the same rows.
    pub read: Option<crate::data::Data>,
    /// The run around the oracle; its path seeds noise.
    pub ctx: Context,
}

impl Scene {
    /// A scene with classes and a context.
    pub fn with_labels(labels: Vec<Option<u32>>, ctx: Context) -> Self {
        Scene {
            name: None,
            n: labels.len(),
            labels: Some(labels.into()),
            ids: None,
            display: None,
            data: None,
            read: None,
            ctx,
        }
    }

    /// True if a cell of a column of classes means an unknown class. In lower case, "none" is a class.
    pub fn is_unknown(cell: &str) -> bool {
        let missing = ["na", "n/a", "nan", "-nan", "+nan", "null"];
        matches!(cell, "" | "?" | "-1" | "-1.0" | "None")
            || missing.iter().any(|word| cell.eq_ignore_ascii_case(word))
    }

    /// A text that is the same for all cells with one label: equal numbers, such as 1 and 1.0, are one label. Digits
    /// with a zero in front, as in the postal code 01234, are text and not a number.
    pub fn label_key(cell: &str) -> Cow<'_, str> {
        let unsigned = cell.strip_prefix(['+', '-']).unwrap_or(cell);
        let (whole, decimals) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        let is_code = whole.len() > 1 && whole.starts_with('0');
        if whole.is_empty() || is_code || !digits(whole) || !digits(decimals) {
            return cell.into();
        }
        let sign = if cell.starts_with('-') { "-" } else { "" };
        format!("{sign}{whole}.{}", decimals.trim_end_matches('0')).into()
    }
}

/// A question: do two objects belong to the same cluster?
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Number of the query.
    pub id: QueryId,
    /// Smaller index.
    pub i: u32,
    /// Larger index.
    pub j: u32,
    /// The object the question is about.
    pub subject: u32,
    /// The object it is compared with.
    pub reference: u32,
    /// Purpose of the question.
    pub purpose: &'static str,
}

impl Question {
    /// Its two objects, as indexes into n.
    ///
    /// # Errors
    /// `IndexOutOfRange`; `Oracle` for an object paired with itself.
    pub fn objects(&self, n: usize) -> Result<(usize, usize)> {
        let (i, j) = (self.i as usize, self.j as usize);
        if let Some(&index) = [i, j].iter().find(|&&o| o >= n) {
            return Err(Error::IndexOutOfRange { index, n });
        }
        if i == j {
            return Err(Error::Oracle(format!("asked whether object {i} belongs with itself")));
        }
        Ok((i, j))
    }
}

/// An answer to one question, with its cost and, if known, who gave it and when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The reply.
    pub reply: Reply,
    /// Annotator that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotator: Option<String>,
    /// Confidence, in [0.5, 1].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Time to answer, if a person answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_ms: Option<u64>,
    /// The time at which a person gave it, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// Note of the annotator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The votes it was made from, where several were asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<Vote>,
    /// Cost of the answer.
    pub cost: f64,
}

/// The vote of one of several annotators.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vote {
    /// Name of the annotator.
    pub annotator: String,
    /// The reply.
    pub reply: Reply,
}

impl Answer {
    /// A plain reply at cost 1.
    pub fn of(reply: Reply) -> Self {
        Answer {
            reply,
            cost: 1.0,
            annotator: None,
            confidence: None,
            elapsed_ms: None,
            at: None,
            note: None,
            votes: Vec::new(),
        }
    }
}

/// Reason why an oracle refuses further answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The budget is spent.
    BudgetExhausted,
    /// It was closed.
    Closed,
    /// It may not answer about this pair.
    OutOfScope,
}

/// Result of a question.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// An answer.
    Answered(Answer),
    /// Not yet; a later process may go on.
    Pending,
    /// No more answers; ends a run cleanly.
    Refused(Refusal),
}

/// An oracle at work.
pub trait Respondent: Send {
    /// Answers one question. The reply to (i, j) is the reply to (j, i).
    ///
    /// # Errors
    /// Broken pipes and malformed replies; the question stays open.
    fn ask(&mut self, question: &Question) -> Result<Outcome>;

    /// The most an answer to this question can cost now: budgets look at it before they ask.
    fn cost(&self, question: &Question) -> f64 {
        let _ = question;
        1.0
    }

    /// Takes note of an answer that an earlier process got from this oracle and that is paid for:
    /// budgets count it, prices and estimates that depend on the past see it.
    fn recall(&mut self, question: &Question, answer: &Answer) {
        let _ = (question, answer);
    }
}

/// The layer of an oracle that wraps others or is wrapped, outermost first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// Limits the number of questions.
    Budget,
    /// Prices questions.
    Cost,
    /// Asks several annotators.
    Crowd,
    /// Sometimes does not know.
    DontKnow,
    /// Sometimes errs.
    Noise,
    /// Knows.
    Source,
}

/// Plain facts about an oracle.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OracleProperties {
    /// Its layer, if oracles wrap each other.
    pub layer: Layer,
    /// With one seed, the same question gets the same reply in every run.
    pub deterministic: bool,
    /// Replies agree with one partition.
    pub noiseless: bool,
    /// A person answers.
    pub interactive: bool,
    /// It needs the classes.
    pub needs_labels: bool,
}

impl Default for OracleProperties {
    fn default() -> Self {
        OracleProperties {
            layer: Layer::Source,
            deterministic: true,
            noiseless: true,
            interactive: false,
            needs_labels: true,
        }
    }
}

/// Opens respondents. Tag in configs: `oracle = { type = "…" }`.
#[typetag::serde(tag = "type")]
pub trait Oracle: super::Plugin {
    /// A respondent for one run.
    ///
    /// # Errors
    /// Missing labels, a wrong order of wrapping, as the plugin documents.
    fn open(&self, scene: &Scene) -> Result<Box<dyn Respondent>>;

    /// Plain facts, computed from the parameters.
    fn properties(&self) -> OracleProperties {
        OracleProperties::default()
    }

    /// The oracle this one wraps, if it is a wrapper.
    fn source(&self) -> Option<&dyn Oracle> {
        None
    }

    /// The number of questions this oracle and those it wraps allow, if limited.
    fn limit(&self) -> Option<usize> {
        self.source().and_then(Oracle::limit)
    }
}
