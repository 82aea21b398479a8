//! Answers about pairs that follow from sorted objects.

use std::collections::BTreeSet;

use mustlink_core::roles::Reply;

use crate::chain::{Link, Statements};

/// Most objects that are sorted at once.
pub(crate) const MOST: usize = 8;

/// One statement about a pair of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statement {
    /// First object.
    pub i: u32,
    /// Second object.
    pub j: u32,
    /// The answer about them.
    pub reply: Reply,
}

/// Two objects, the smaller first.
pub(crate) fn pair(i: u32, j: u32) -> (u32, u32) {
    (i.min(j), i.max(j))
}

/// The fewest statements from which everything follows that a sorting says: each object belongs with the
/// first of its group, and the first ones of any two groups are apart.
pub(crate) fn statements(groups: &[Vec<u32>]) -> Vec<Statement> {
    let groups: Vec<&Vec<u32>> = groups.iter().filter(|g| !g.is_empty()).collect();
    let mut out = Vec::new();
    for group in &groups {
        let same = |&j: &u32| Statement { i: group[0], j, reply: Reply::MustLink };
        out.extend(group[1..].iter().map(same));
    }
    for (at, a) in groups.iter().enumerate() {
        let apart = |b: &&Vec<u32>| Statement { i: a[0], j: b[0], reply: Reply::CannotLink };
        out.extend(groups[at + 1..].iter().map(apart));
    }
    out
}

/// Those statements that are new, in their order. Known ones are left out. If a pair is unsure at first, its
/// last statement counts.
///
/// # Errors
/// The place of the first statement that contradicts known ones, with the shortest chain that shows it. A link
/// of the chain without an answer was given, or comes before that place.
pub(crate) fn fresh(
    known: &mut Statements,
    said: &[Statement],
) -> Result<Vec<Statement>, (usize, Vec<Link>)> {
    let mut new: Vec<Statement> = Vec::new();
    for (at, statement) in said.iter().enumerate() {
        let Statement { i, j, reply } = *statement;
        match (known.relation(i, j), reply.kind()) {
            (Some(is), Some(kind)) if is != kind => {
                return Err((at, known.chain(i, j, is).unwrap_or_default()));
            }
            (Some(_), _) => {}
            (None, kind) => {
                kind.into_iter().for_each(|kind| known.add(i, j, kind, None));
                new.push(*statement);
            }
        }
    }
    let mut pairs = BTreeSet::new();
    new.reverse();
    new.retain(|s| pairs.insert(pair(s.i, s.j)));
    new.reverse();
    Ok(new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::{Constraints, Kind};

    #[test]
    fn a_sorting_says_all_of_its_pairs_in_few_statements() {
        let groups = [vec![4, 7, 1], vec![2], vec![], vec![9, 3]];
        let said = statements(&groups);
        assert_eq!(said.len(), 3 + 3);
        let mut known = Statements::new(10, &Constraints::default());
        assert_eq!(fresh(&mut known, &said).unwrap().len(), 6);
        for (a, group) in groups.iter().enumerate() {
            for (b, other) in groups.iter().enumerate() {
                for (&i, &j) in group.iter().flat_map(|i| other.iter().map(move |j| (i, j))) {
                    let is = known.why(i, j).map(|(kind, _)| kind == Kind::MustLink);
                    assert!(i == j || is == Some(a == b), "{i} and {j}");
                }
            }
        }
    }

    #[test]
    fn what_contradicts_is_found_at_its_place() {
        let given = Constraints::new(4, [mustlink_core::Constraint::must(0, 1)]).unwrap();
        let say = |i, j, reply| Statement { i, j, reply };
        let said = [
            say(1, 0, Reply::MustLink),
            say(2, 3, Reply::DontKnow),
            say(1, 2, Reply::CannotLink),
            say(2, 0, Reply::MustLink),
        ];
        let fresh = |said| fresh(&mut Statements::new(4, &given), said);
        assert_eq!(fresh(&said[..3]), Ok(said[1..3].to_vec()));
        // Unsure at first, then sure: what is said last.
        let twice = [said[1], say(3, 2, Reply::MustLink), said[1]];
        assert_eq!(fresh(&twice), Ok(twice[1..2].to_vec()));
        let (at, chain) = fresh(&said).unwrap_err();
        assert_eq!((at, chain.len()), (3, 2));
    }
}
