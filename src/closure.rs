//! What do constraints entail?

#[doc(hidden)]
pub use mustlink_core::closure::*;

/// ```
/// use mustlink::closure::{Closure, EntailedWeight, Feasibility, OnConflict};
/// use mustlink::{Constraint, Constraints, Kind};
///
/// # fn main() -> mustlink::Result<()> {
/// let given = [Constraint::must(0, 1), Constraint::must(1, 2), Constraint::cannot(2, 3)];
/// let closure = Closure::new(&Constraints::new(4, given)?, 4, OnConflict::Error)?;
/// assert_eq!(closure.relation(0, 3), Some(Kind::CannotLink));
/// assert_eq!(closure.pairs(EntailedWeight::Bottleneck, 100)?.len(), 6);
/// assert!(matches!(closure.feasibility(1), Feasibility::Infeasible(_)));
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_core::closure::{Closure, EntailedWeight, Feasibility, OnConflict};
