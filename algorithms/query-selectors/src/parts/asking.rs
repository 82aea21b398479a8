//! The questions about one object.

use mustlink_core::prelude::*;

/// Member of a neighbourhood that is put in a question.
#[options]
pub enum Member {
    /// A uniformly random member.
    #[default]
    Random,
    /// The member that joined first.
    First,
    /// The member nearest to the object asked about.
    Nearest,
    /// The member nearest to the mean of the neighbourhood.
    Medoid,
}

/// Rule that decides between objects with the same score.
#[options]
pub enum Tie {
    /// The lowest index.
    #[default]
    LowestIndex,
    /// A uniform draw.
    Random,
}

/// Options for the questions about an object, shared by all selectors that place objects among neighbourhoods.
#[options]
#[derive(Copy)]
pub struct Asking {
    /// Infer memberships that follow from earlier replies, instead of asking.
    #[option(default = true)]
    pub skip_entailed: bool,
    /// Number of other members of a neighbourhood tried after "don't know".
    #[option(default = 1, min = 0, max = 5)]
    pub dont_know_retries: u8,
    /// Rule that decides between objects with the same score.
    pub tie: Tie,
}
