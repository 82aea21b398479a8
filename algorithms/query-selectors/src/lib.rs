//! Query selectors: they choose the pair to ask about next. One selector per file; `parts` has shared code.
//!
//! Options of several selectors: how objects are asked about ([`Asking`], [`Member`], [`Tie`]), who votes
//! in a committee ([`Voting`]), who represents a super-instance ([`Medoid`], [`Reference`]), and how much
//! answers are doubted ([`Doubting`]).

mod parts;

pub use parts::asking::{Asking, Member, Tie};
pub use parts::doubting::Doubting;
pub use parts::pair_pool::{Limits, Pool};
pub use parts::super_instances::{Medoid, Reference};
pub use parts::voting::Voting;

automod::dir!(pub "src");
