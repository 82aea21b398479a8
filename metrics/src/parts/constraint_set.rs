//! The constraints that a score counts.
//!
//! These are the constraints with both ends in the scope. Without such constraints the score is undefined.

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

/// The constraints of `pairs` inside the scope.
///
/// # Errors
/// Returns the errors of [`inside`].
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
/// Returns the errors of [`inside`].
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

/// The given constraints inside the scope, groups whole: their pairs may be too many to be listed.
///
/// # Errors
/// Returns the errors of [`inside`].
pub fn whole(input: &MetricInput) -> Result<Constraints> {
    let n = input.labels.len();
    let listed = among(input, input.constraints.map_or(&[][..], Constraints::listed))?;
    let groups = groups_inside(input, input.constraints)?;
    Constraints::new(n, listed.into_iter().copied())?.with_groups(n, groups)
}

/// The closure of the given constraints inside the scope, contradictions kept, with their number;
/// `None` without constraints.
///
/// # Errors
/// Returns the errors of [`inside`]; `ClosureTooLarge` for very many contradictions.
pub fn closure(input: &MetricInput) -> Result<Option<(Closure, usize)>> {
    let given = whole(input)?;
    let count = given.len();
    if count == 0 {
        return Ok(None);
    }
    Ok(Some((Closure::new(&given, input.labels.len(), OnConflict::Keep)?, count)))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_and_groups_count_inside_the_scope() {
        let pairs = [Constraint::must(0, 1), Constraint::cannot(1, 2)];
        let given = Constraints::new(4, pairs).unwrap();
        let given = given.with_groups(4, [Group::new("photo", vec![3, 0, 2])]).unwrap();
        let scope = [true, true, false, true];
        let input = MetricInput {
            labels: &[0, 0, 1, 1],
            constraints: Some(&given),
            scope: Some(&scope),
            ..MetricInput::default()
        };
        let inside_scope = among(&input, given.listed()).unwrap();
        assert_eq!(inside_scope, [&Constraint::must(0, 1)]);
        let groups = groups_inside(&input, input.constraints).unwrap();
        assert_eq!(groups, [Group::new("photo", vec![0, 3])]);
        let few = MetricInput { labels: &[0, 0, 1], scope: None, ..input };
        let beyond = groups_inside(&few, few.constraints).unwrap_err();
        assert_eq!(beyond, Error::IndexOutOfRange { index: 3, n: 3 });
    }
}
