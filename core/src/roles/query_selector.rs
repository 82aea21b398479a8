//! The role of query selectors: they choose the pair to ask about next.
//!
//! A selector starts an [`Inquiry`], a state machine that gives its next [`Step`] and takes replies.
//! It has access neither to labels nor to an oracle: a driver passes the messages, so a person, a
//! file and a simulated oracle are the same to it.

use crate::kind::{self, Described};
use serde::{Deserialize, Serialize};

use crate::clustering::Clustering;
use crate::constraints::{Constraints, Kind};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::problem::{Problem, Shape};

/// Number of a query within one inquiry, from 0.
pub type QueryId = u64;
/// Number of a request for a clustering within one inquiry, from 0.
pub type RequestId = u64;

/// The answer to "same cluster?".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Described)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// Same cluster.
    MustLink,
    /// Different clusters.
    CannotLink,
    /// The oracle does not know.
    DontKnow,
}

impl Reply {
    /// The relation that it states, if any.
    pub fn kind(self) -> Option<Kind> {
        match self {
            Reply::MustLink => Some(Kind::MustLink),
            Reply::CannotLink => Some(Kind::CannotLink),
            Reply::DontKnow => None,
        }
    }
}

impl From<Kind> for Reply {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::MustLink => Reply::MustLink,
            Kind::CannotLink => Reply::CannotLink,
        }
    }
}

/// Reason why an inquiry has no more questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Done {
    /// All clusters were found.
    KFound,
    /// No pair is left to ask.
    Exhausted,
    /// Every object was assigned or set aside.
    AllAssigned,
    /// The selector's own target was reached.
    TargetReached,
}

/// Next step of an inquiry.
#[derive(Debug, Clone)]
pub enum Step {
    /// The answer to a pair.
    Ask {
        /// Number of the query.
        id: QueryId,
        /// The object the question is about.
        subject: u32,
        /// The object it is compared with.
        reference: u32,
        /// Purpose of the question: `explore`, `consolidate`, `merge` …
        purpose: &'static str,
    },
    /// A clustering of all objects under the constraints so far.
    NeedClustering {
        /// Number of the request.
        request: RequestId,
        /// The constraints to cluster under.
        constraints: Constraints,
    },
    /// Nothing more.
    Done(Done),
}

/// Event in a selection; the log of these is the record of all questions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// A query was put.
    Asked {
        /// Its number.
        id: QueryId,
        /// The object the question is about.
        subject: u32,
        /// The object it is compared with.
        reference: u32,
        /// Purpose of the question.
        purpose: String,
    },
    /// A reply came.
    Told {
        /// Number of the query.
        id: QueryId,
        /// The reply.
        reply: Reply,
        /// Cost of the answer.
        cost: f64,
    },
    /// A conclusion that cost nothing.
    Inferred {
        /// First object.
        i: u32,
        /// Second object.
        j: u32,
        /// Must-link or cannot-link.
        kind: Kind,
        /// The rule: `last_neighbourhood`, `entailed` …
        rule: String,
    },
    /// An object entered a named neighbourhood (or founded it).
    Joined {
        /// The object.
        object: u32,
        /// Number of the neighbourhood, in order of creation.
        neighbourhood: u32,
        /// The founder of the neighbourhood.
        representative: u32,
    },
    /// A clustering was provided.
    Clustered {
        /// Number of the request.
        request: RequestId,
        /// Hash of the partition, in hex.
        digest: String,
    },
    /// A reply contradicted what was known.
    Conflict {
        /// Number of the query.
        id: QueryId,
    },
    /// A reply was taken back; its query stays counted.
    Retracted {
        /// Number of the query.
        id: QueryId,
    },
    /// From here on another answer to a query counts, because of the answers to others. It is the opposite, "don't
    /// know" if it cannot be decided, or the original one again. Earlier conclusions no longer hold; those that still
    /// follow are repeated.
    Corrected {
        /// Number of the query.
        id: QueryId,
        /// The answer after correction.
        reply: Reply,
    },
    /// The inquiry ended by itself.
    Done {
        /// Reason for the end.
        reason: Done,
    },
}

/// A selection under way.
pub trait Inquiry: Send {
    /// Returns the next step. Idempotent: without a `tell` in between, the same step and id.
    ///
    /// # Errors
    /// Returns the errors that the plugin documents.
    fn step(&mut self) -> Result<Step>;

    /// Takes the reply to query `id`.
    ///
    /// # Errors
    /// An id that is not the open one.
    fn tell(&mut self, id: QueryId, reply: Reply) -> Result<()>;

    /// Takes the clustering for `request`.
    ///
    /// # Errors
    /// An inquiry that never asks for clusterings refuses.
    fn provide(&mut self, request: RequestId, clustering: &Clustering) -> Result<()> {
        let _ = clustering;
        Err(Error::Oracle(format!("clustering {request} was not asked for")))
    }

    /// Events since the last call: inferences, joined neighbourhoods, conflicts.
    fn drain(&mut self) -> Vec<Event> {
        Vec::new()
    }

    /// The current clustering of an inherently active method; valid at any moment.
    fn clustering(&self) -> Option<Clustering> {
        None
    }
}

/// Plain facts about a selector.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SelectorProperties {
    /// It cannot run without k.
    pub needs_k: bool,
    /// It asks for clusterings between questions.
    pub needs_clustering: bool,
    /// It uses the candidates of a clustering, such as those of `auto`; without candidates, its pairs are random.
    pub needs_candidates: bool,
    /// It clusters by itself: `clustering()` gives the result.
    pub self_clustering: bool,
    /// It never asks about pairs that earlier replies entail.
    pub skips_entailed: bool,
    /// It asks about pairs that earlier replies entail, to find wrong replies; each pair needs a new answer.
    pub asks_for_evidence: bool,
    /// It infers memberships, which is sound only if k is the number of classes.
    pub infers: bool,
    /// It accepts sparse data.
    pub accepts_sparse: bool,
    /// It cannot run with its defaults: an option must be set first.
    pub needs_setup: bool,
}

/// Starts inquiries. Tag in configs: `selector = { type = "…" }`.
#[typetag::serde(tag = "type")]
pub trait QuerySelector: super::Plugin {
    /// An inquiry about `problem`. The inquiry owns what it needs (problem and context are cheap clones).
    ///
    /// # Errors
    /// Returns the errors that the plugin documents.
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>>;

    /// Plain facts, computed from the parameters.
    fn properties(&self) -> SelectorProperties {
        SelectorProperties::default()
    }

    /// Bytes needed beyond the data.
    fn memory(&self, shape: &Shape) -> u64 {
        (32 * shape.n) as u64
    }
}
