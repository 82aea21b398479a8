//! How are questions about an object asked?

use mustlink_core::prelude::*;

/// Which member of a neighbourhood is put in a question.
#[options]
pub enum Member {
    /// A uniformly random one.
    #[default]
    Random,
    /// The one that joined first.
    First,
    /// The one nearest to the object asked about.
    Nearest,
    /// The one nearest to the mean of the neighbourhood.
    Medoid,
}

/// What decides between objects that score the same.
#[options]
pub enum Tie {
    /// The lowest index.
    #[default]
    LowestIndex,
    /// A uniform draw.
    Random,
}

/// How questions about an object are asked: options of all selectors that place objects among
/// neighbourhoods.
#[options]
#[derive(Copy)]
pub struct Asking {
    /// Whether what is known already is concluded instead of asked.
    #[option(default = true)]
    pub skip_entailed: bool,
    /// Other members of a neighbourhood tried after "don't know".
    #[option(default = 1, min = 0, max = 5)]
    pub dont_know_retries: u8,
    /// What decides between objects that score the same.
    pub tie: Tie,
}
