//! Ensemble generators: what makes many partitions of the same objects. One file each.
//!
//! Options that several share: how one clusterer makes all members ([`Recipe`], [`MemberK`]) and what becomes
//! of objects that a member did not see ([`OutOfSample`]).

mod parts;

pub use parts::member_input::OutOfSample;
pub use parts::member_k::{List, MemberK, Uniform};
pub use parts::recipe::Recipe;

automod::dir!(pub "src");
