//! Which pair is worth asking about next? One selector per file; what several share is in `parts`.
//!
//! Options of several selectors: which member of a neighbourhood is put in a question ([`Member`]), what
//! decides between equals ([`Tie`]), and who represents a super-instance ([`Medoid`], [`Reference`]).

mod parts;

pub use parts::neighbourhoods::{Member, Tie};
pub use parts::super_instances::{Medoid, Reference};

automod::dir!(pub "src");
