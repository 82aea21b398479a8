//! Closure of constraints: the pairs that they imply, contradictions, and whether k clusters are enough.

#[doc(hidden)]
pub use mustlink_core::closure::*;

/// All pairs that constraints imply. Must-links are transitive, and a cannot-link separates all objects that
/// must-links join to its two ends.
///
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
pub use mustlink_core::closure::Closure;
#[doc(inline)]
pub use mustlink_core::closure::{EntailedWeight, Feasibility, OnConflict};
