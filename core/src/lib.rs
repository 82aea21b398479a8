//! The core of mustlink: types, one trait per role, registry and driver.
//!
//! No method lives here. A method is a small tree of plugins ([`roles`]), run by the
//! framework ([`run`], [`selection`]) on a [`Problem`], and held to the laws of its roles.

mod answers;
mod auto_or;
pub mod clustering;
pub mod context;
pub mod data;
mod driver;
pub mod ensemble;
mod far_origin;
pub mod features;
pub mod knowledge;
pub mod method;
pub mod nearest;
pub mod needs;
pub mod order;
#[doc(hidden)]
pub mod panic;
mod parallel;
pub mod problem;
pub mod random;
mod record;
pub mod reduce;
pub mod registry;
pub mod roles;
pub mod run;
pub mod selection;
mod shared_ensemble;
pub mod soft_marks;

use mustlink_constraints::groups;
pub use mustlink_constraints::{
    closure, constraints, error, kind, lists, options, overruled, role, text, union_find, witness,
};

pub use auto_or::AutoOr;
pub use clustering::{Clustering, Status};
pub use constraints::{Constraint, Constraints, Kind};
pub use context::Context;
pub use data::{Csr, Data, DataKind, Row};
pub use error::{Error, Result};
pub use groups::Group;
pub use problem::{Problem, Shape, Start};

/// Digest of the sources of this crate; empty in a release.
#[doc(hidden)]
pub const SOURCES: &str = mustlink_macros::crate_sources!();

#[doc(hidden)]
pub use inventory;
#[doc(hidden)]
pub use mustlink_macros::crate_sources;
#[doc(hidden)]
pub use {serde, serde_json};

/// Items that the attributes `#[options]` and `#[plugin]` refer to; a crate of plugins needs no other.
#[doc(hidden)]
pub mod __mustlink {
    pub use crate::{error, kind, options, register, registry};
    pub use {serde, typetag};
}

/// Imports of a plugin file: `use mustlink_core::prelude::*;`
pub mod prelude {
    #[doc(hidden)]
    pub use crate::__mustlink;
    pub use crate::auto_or::AutoOr;
    pub use crate::closure::{Closure, OnConflict};
    pub use crate::clustering::{Clustering, Extras, Geometry, IterStat, NONE, Status};
    pub use crate::constraints::{Constraint, Constraints, Kind, Strength};
    pub use crate::context::Context;
    pub use crate::data::{Csr, Data, DataKind, Row};
    pub use crate::ensemble::{Ensemble, Member};
    pub use crate::error::{Error, Result};
    pub use crate::features::Features;
    pub use crate::kind::{self, Described};
    pub use crate::order;
    pub use crate::problem::{Problem, Shape, Start};
    pub use crate::random::{SeedPath, Stream};
    pub use crate::reduce;
    pub use crate::register;
    pub use crate::roles::*;
    pub use mustlink_macros::{options, plugin};
    pub use serde::{Deserialize, Serialize};
    pub use serde_json::Value;
    pub use typetag;
}
