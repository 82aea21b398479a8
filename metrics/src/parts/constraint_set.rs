//! Which constraints does a score look at?
//!
//! Those with both ends in the scope. Without any there is no score.

use mustlink_core::Group;
use mustlink_core::prelude::*;

use crate::parts::agreement::{check_scope, in_scope};

/// The constraints of `given` inside the scope, in their order; none where nothing is given.
///
/// # Errors
/// `BadParam` for a scope of another length; `IndexOutOfRange` for a pair that is not of objects.
pub fn inside<'a>(
    input: &MetricInput<'a>,
    given: Option<&'a Constraints>,
) -> Result<Vec<&'a Constraint>> {
    among(input, given.map_or(&[][..], Constraints::pairs))
}

/// Those of `pairs` inside the scope.
///
/// # Errors
/// As [`inside`].
pub fn among<'a>(input: &MetricInput<'a>, pairs: &'a [Constraint]) -> Result<Vec<&'a Constraint>> {
    check_scope(input)?;
    let n = input.labels.len();
    if let Some(c) = pairs.iter().find(|c| c.j as usize >= n) {
        return Err(Error::IndexOutOfRange { index: c.j as usize, n });
    }
    let counts = |c: &&Constraint| in_scope(input, c.i as usize) && in_scope(input, c.j as usize);
    Ok(pairs.iter().filter(counts).collect())
}

/// The groups of `given` inside the scope, those members of each that count.
///
/// # Errors
/// As [`inside`].
pub fn groups_inside(input: &MetricInput, given: Option<&Constraints>) -> Result<Vec<Group>> {
    check_scope(input)?;
    let n = input.labels.len();
    let groups = given.map_or(&[][..], Constraints::groups);
    let beyond = groups.iter().flat_map(|g| &g.members).find(|&&i| i as usize >= n);
    if let Some(&index) = beyond {
        return Err(Error::IndexOutOfRange { index: index as usize, n });
    }
    let counts = |i: &u32| in_scope(input, *i as usize);
    let cut = |g: &Group| Group {
        members: g.members.iter().copied().filter(counts).collect(),
        ..g.clone()
    };
    Ok(groups.iter().map(cut).collect())
}

/// The closure of the given constraints inside the scope, contradictions kept, with their number;
/// `None` without constraints.
///
/// # Errors
/// As [`inside`].
pub fn closure(input: &MetricInput) -> Result<Option<(Closure, usize)>> {
    let given = inside(input, input.constraints)?;
    if given.is_empty() {
        return Ok(None);
    }
    let (n, count) = (input.labels.len(), given.len());
    let constraints = Constraints::new(n, given.into_iter().copied())?;
    Ok(Some((Closure::new(&constraints, n, OnConflict::Keep)?, count)))
}

/// Facts about a score of the constraints themselves.
pub fn facts() -> MetricProperties {
    MetricProperties {
        needs_truth: false,
        needs_constraints: true,
        perfect: None,
        ..MetricProperties::default()
    }
}
