//! A set of constraints on the objects of a data set.
//! A constraint states that two objects belong together (must-link) or apart (cannot-link). A
//! [`Constraints`] is canonical: i < j, one entry per pair and kind, no trivial or inert entries,
//! in the order given. It also holds the neighbourhoods a selector names, singletons included.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use crate::kind::{self, Described};
use serde::{Deserialize, Serialize};

pub use crate::constraint::{Constraint, Kind, Origin, Strength};
use crate::error::{Error, Result};
use crate::groups::{self, pairs_among};
pub use crate::groups::{Group, MAX_GROUP_PAIRS};
use crate::union_find::UnionFind;
pub use crate::witness::Witness;

/// Treatment of the same pair and kind given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Described)]
#[serde(rename_all = "snake_case")]
pub enum Duplicates {
    /// Keep the larger weight: repeating a statement adds nothing.
    #[default]
    Max,
    /// Add the weights.
    Sum,
    /// Keep the first.
    First,
    /// Return an error.
    Error,
}

/// Violated constraints of one labelling.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Violations {
    /// Must-links with ends in different clusters.
    pub must: u64,
    /// Their total weight.
    pub must_weight: f64,
    /// Cannot-links with ends in one cluster.
    pub cannot: u64,
    /// Their total weight.
    pub cannot_weight: f64,
}

impl Violations {
    /// Violated constraints of both kinds.
    pub fn total(&self) -> u64 {
        self.must + self.cannot
    }
}

/// Knowledge about pairs, in canonical form.
///
/// ```
/// use mustlink_core::{Constraint, Constraints, Kind};
///
/// # fn main() -> mustlink_core::Result<()> {
/// let given = [Constraint::must(3, 1), Constraint::must(1, 3), Constraint::cannot(0, 2).weighing(0.5)];
/// let constraints = Constraints::new(4, given)?;
/// // The same statement twice counts once.
/// assert_eq!((constraints.count(Kind::MustLink), constraints.count(Kind::CannotLink)), (1, 1));
///
/// let broken = constraints.violations(&[0, 0, 0, 1]);
/// assert_eq!((broken.must, broken.cannot, broken.cannot_weight), (1, 1, 0.5));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Constraints {
    listed: Vec<Constraint>,
    groups: Vec<Group>,
    /// All pairs, those of groups after the listed ones, made at the first request; shared by clones.
    pairs: Arc<OnceLock<Vec<Constraint>>>,
    neighbourhoods: Vec<Vec<u32>>,
    summed: usize,
}

/// Equal if their content is equal; the number of statements that were added up does not matter.
impl PartialEq for Constraints {
    fn eq(&self, other: &Self) -> bool {
        (&self.listed, &self.groups, &self.neighbourhoods)
            == (&other.listed, &other.groups, &other.neighbourhoods)
    }
}

impl Constraints {
    /// Canonical constraints over `n` objects; repeated statements keep the larger weight.
    ///
    /// # Errors
    /// `IndexOutOfRange`, `SelfCannotLink`, `BadWeight`.
    pub fn new(n: usize, given: impl IntoIterator<Item = Constraint>) -> Result<Self> {
        Constraints::with_duplicates(n, given, Duplicates::Max)
    }

    /// Canonical constraints over `n` objects.
    ///
    /// # Errors
    /// `IndexOutOfRange`, `SelfCannotLink`, `BadWeight`; `DuplicateConstraint` where asked for.
    pub fn with_duplicates(
        n: usize,
        given: impl IntoIterator<Item = Constraint>,
        duplicates: Duplicates,
    ) -> Result<Self> {
        Constraints::canonical(n, &mut given.into_iter(), duplicates)
    }

    /// As [`Constraints::with_duplicates`], for any iterator.
    fn canonical(
        n: usize,
        given: &mut dyn Iterator<Item = Constraint>,
        duplicates: Duplicates,
    ) -> Result<Self> {
        let expected = given.size_hint().0;
        let mut seen: HashMap<(u32, u32, Kind), usize> = HashMap::with_capacity(expected);
        let mut pairs: Vec<Constraint> = Vec::with_capacity(expected);
        let mut summed = 0;
        for mut c in given {
            if c.i > c.j {
                std::mem::swap(&mut c.i, &mut c.j);
            }
            if c.j as usize >= n {
                return Err(Error::IndexOutOfRange { index: c.j as usize, n });
            }
            if !c.weight.is_finite() || c.weight < 0.0 {
                let (i, j) = (c.i as usize, c.j as usize);
                return Err(Error::BadWeight { i, j, weight: c.weight.to_string() });
            }
            if c.i == c.j {
                if c.kind == Kind::CannotLink {
                    return Err(Error::SelfCannotLink { object: c.i as usize });
                }
                continue;
            }
            if c.weight == 0.0 {
                continue;
            }
            match seen.entry((c.i, c.j, c.kind)) {
                std::collections::hash_map::Entry::Vacant(slot) => {
                    slot.insert(pairs.len());
                    pairs.push(c);
                }
                std::collections::hash_map::Entry::Occupied(slot) => {
                    let known = &mut pairs[*slot.get()];
                    match duplicates {
                        Duplicates::Max => known.weight = known.weight.max(c.weight),
                        Duplicates::Sum => {
                            known.weight += c.weight;
                            summed += 1;
                            if known.weight.is_infinite() {
                                let (i, j) = (c.i as usize, c.j as usize);
                                let weight = "a sum that is not finite".into();
                                return Err(Error::BadWeight { i, j, weight });
                            }
                        }
                        Duplicates::First => {}
                        Duplicates::Error => {
                            return Err(Error::DuplicateConstraint {
                                i: c.i as usize,
                                j: c.j as usize,
                            });
                        }
                    }
                    known.strength = Strength::stronger(known.strength, c.strength);
                }
            }
        }
        Ok(Constraints { listed: pairs, summed, ..Constraints::default() })
    }

    /// The same with these named neighbourhoods; each set is sorted.
    pub fn with_neighbourhoods(mut self, mut named: Vec<Vec<u32>>) -> Self {
        named.iter_mut().for_each(|n| {
            n.sort_unstable();
            n.dedup();
        });
        self.neighbourhoods = named;
        self
    }

    /// The same constraints with these groups whose members must all be apart, over `n` objects.
    ///
    /// A group becomes pairs if one of its pairs is also in another group, or is listed with a larger weight or a
    /// more binding
    /// mark. A pair of a group is not listed separately.
    ///
    /// # Errors
    /// `IndexOutOfRange`, `BadWeight`; `TooManyGroupPairs` where a large group would become pairs.
    pub fn with_groups(self, n: usize, more: impl IntoIterator<Item = Group>) -> Result<Self> {
        self.grouped(n, more.into_iter().collect())
    }

    /// As [`Constraints::with_groups`].
    fn grouped(self, n: usize, more: Vec<Group>) -> Result<Self> {
        let summed = self.summed;
        let all = self.groups.into_iter().chain(more).collect();
        let (listed, groups) = groups::canonical(n, self.listed, all)?;
        let listed = Constraints::new(n, listed)?.listed;
        let neighbourhoods = self.neighbourhoods;
        Ok(Constraints { listed, groups, neighbourhoods, summed, ..Default::default() })
    }

    /// An error if the groups have too many pairs to list for `what`, which accepts only pairs.
    ///
    /// # Errors
    /// `TooManyGroupPairs` for more than [`MAX_GROUP_PAIRS`].
    pub fn check_group_pairs(&self, what: &str) -> Result<()> {
        groups::within_limit(what, self.grouped_pairs())
    }

    /// The same with the pairs of groups listed one by one, because `what` accepts only pairs.
    ///
    /// # Errors
    /// Returns the errors of [`Constraints::check_group_pairs`].
    pub fn in_pairs(&self, what: &str) -> Result<Self> {
        self.check_group_pairs(what)?;
        let (listed, neighbourhoods) = (self.pairs().to_vec(), self.neighbourhoods.clone());
        Ok(Constraints { listed, neighbourhoods, summed: self.summed, ..Default::default() })
    }

    /// The pairs in canonical order, those of groups after the others. The first call lists the pairs of groups; if
    /// there may be many, use [`Constraints::listed`] and [`Constraints::groups`] instead.
    pub fn pairs(&self) -> &[Constraint] {
        if self.groups.is_empty() {
            return &self.listed;
        }
        let grouped = || self.groups.iter().flat_map(Group::pairs);
        self.pairs.get_or_init(|| self.listed.iter().copied().chain(grouped()).collect())
    }

    /// Bytes of the listed pairs and of the members of groups.
    pub fn bytes(&self) -> u64 {
        let members = self.groups.iter().map(|group| size_of_val(&group.members[..]));
        (size_of_val(&self.listed[..]) + members.sum::<usize>()) as u64
    }

    /// The pairs that are listed one by one.
    pub fn listed(&self) -> &[Constraint] {
        &self.listed
    }

    /// The groups whose members must all be apart; no two of them, and no listed cannot-link, share a pair.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Number of pairs of all groups.
    pub fn grouped_pairs(&self) -> u64 {
        self.groups.iter().map(Group::pair_count).sum()
    }

    /// The pair at a place in [`Constraints::pairs`], and the group it is of.
    pub(crate) fn pair_at(&self, at: usize) -> (Constraint, Option<&Group>) {
        if let Some(c) = self.listed.get(at) {
            return (*c, None);
        }
        let mut left = at - self.listed.len();
        for group in &self.groups {
            let own = group.pair_count() as usize;
            if left < own {
                return (group.at_rank(left), Some(group));
            }
            left -= own;
        }
        unreachable!("a place among the pairs")
    }

    /// The neighbourhoods a selector named, singletons included, members sorted.
    pub fn neighbourhoods(&self) -> &[Vec<u32>] {
        &self.neighbourhoods
    }

    /// Statements whose weight was added to that of an earlier one about the same pair.
    pub fn summed(&self) -> usize {
        self.summed
    }

    /// Number of pairs of these kinds marked soft, with those of groups.
    pub fn soft_pairs(&self, kinds: &[Kind]) -> u64 {
        let is_soft = |kind: Kind, strength: Option<Strength>| {
            kinds.contains(&kind) && strength == Some(Strength::Soft)
        };
        let listed = self.listed.iter().filter(|c| is_soft(c.kind, c.strength)).count() as u64;
        let grouped = self.groups.iter().filter(|g| is_soft(Kind::CannotLink, g.strength));
        listed + grouped.map(Group::pair_count).sum::<u64>()
    }

    /// The constraints; those of these kinds that are marked soft lose the mark (`kept`) or are removed.
    pub fn soft_settled(&self, kinds: &[Kind], kept: bool) -> Self {
        let settled = |kind: Kind, strength: Option<Strength>| match strength {
            Some(Strength::Soft) if kinds.contains(&kind) => kept.then_some(None),
            other => Some(other),
        };
        let pair =
            |c: &Constraint| Some(Constraint { strength: settled(c.kind, c.strength)?, ..*c });
        let group = |g: &Group| {
            Some(Group { strength: settled(Kind::CannotLink, g.strength)?, ..g.clone() })
        };
        let listed = self.listed.iter().filter_map(pair).collect();
        let groups = self.groups.iter().filter_map(group).collect();
        let neighbourhoods = self.neighbourhoods.clone();
        Constraints { listed, groups, neighbourhoods, summed: self.summed, ..Default::default() }
    }

    /// The constraints from which others follow: all except those marked soft, which may be wrong.
    pub fn facts(&self) -> Cow<'_, Self> {
        let all = [Kind::MustLink, Kind::CannotLink];
        match self.soft_pairs(&all) {
            0 => Cow::Borrowed(self),
            _ => Cow::Owned(self.soft_settled(&all, false)),
        }
    }

    /// True if any is marked hard.
    pub fn any_hard(&self) -> bool {
        let hard = Some(Strength::Hard);
        self.listed.iter().any(|c| c.strength == hard)
            || self.groups.iter().any(|group| group.strength == hard)
    }

    /// The pair at a position of [`Constraints::pairs`], without listing the pairs of groups.
    pub fn pair(&self, at: usize) -> Constraint {
        self.pair_at(at).0
    }

    /// The objects in any constraint, ascending.
    pub fn objects(&self) -> Vec<usize> {
        let listed = self.listed.iter().flat_map(|c| [c.i, c.j]);
        let grouped = self.groups.iter().flat_map(|group| group.members.iter().copied());
        let mut objects: Vec<usize> = listed.chain(grouped).map(|i| i as usize).collect();
        objects.sort_unstable();
        objects.dedup();
        objects
    }

    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.listed.len() + self.grouped_pairs() as usize
    }

    /// No pair and no named neighbourhood.
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty() && self.groups.is_empty() && self.neighbourhoods.is_empty()
    }

    /// Number of pairs of one kind.
    pub fn count(&self, kind: Kind) -> usize {
        let grouped = if kind == Kind::CannotLink { self.grouped_pairs() } else { 0 };
        self.listed.iter().filter(|c| c.kind == kind).count() + grouped as usize
    }

    /// Number and weight of the constraints that `labels` violate.
    pub fn violations(&self, labels: &[u32]) -> Violations {
        let mut v = Violations::default();
        for c in self.listed.iter().filter(|c| c.is_violated(labels)) {
            match c.kind {
                Kind::MustLink => {
                    v.must += 1;
                    v.must_weight += c.weight;
                }
                Kind::CannotLink => {
                    v.cannot += 1;
                    v.cannot_weight += c.weight;
                }
            }
        }
        for group in &self.groups {
            let broken = group.violated(labels);
            v.cannot += broken;
            v.cannot_weight += broken as f64 * group.weight;
        }
        v
    }

    /// The pairs that `labels` violate: listed pairs first, then pairs of groups.
    pub fn violated<'a>(&'a self, labels: &'a [u32]) -> impl Iterator<Item = Constraint> + 'a {
        let listed = self.listed.iter().copied().filter(|c| c.is_violated(labels));
        listed.chain(self.groups.iter().flat_map(|group| group.violated_pairs(labels)))
    }

    /// These and `more`; a pair in both keeps the larger weight. Neighbourhoods that share an
    /// object are united.
    ///
    /// # Errors
    /// Returns the errors of [`Constraints::new`].
    pub fn union(&self, more: &Constraints, n: usize) -> Result<Self> {
        let both = self.listed.iter().chain(&more.listed).copied();
        let groups = self.groups.iter().chain(&more.groups).cloned();
        let out = Constraints::new(n, both)?.with_groups(n, groups)?;
        let mut named = self.neighbourhoods.clone();
        named.extend(more.neighbourhoods.iter().cloned());
        if self.neighbourhoods.is_empty() || more.neighbourhoods.is_empty() {
            return Ok(out.with_neighbourhoods(named));
        }
        let mut uf = UnionFind::new(n);
        for set in &named {
            set.windows(2).for_each(|w| {
                uf.union(w[0], w[1]);
            });
        }
        let mut by_root: HashMap<u32, usize> = HashMap::new();
        let mut united: Vec<Vec<u32>> = Vec::new();
        for set in named {
            let Some(&first) = set.first() else { continue };
            let at = *by_root.entry(uf.find(first)).or_insert_with(|| {
                united.push(Vec::new());
                united.len() - 1
            });
            united[at].extend(set);
        }
        Ok(out.with_neighbourhoods(united))
    }

    /// The constraints inside `rows`, renumbered by position in it.
    pub fn subset(&self, rows: &[usize], n: usize) -> Self {
        let mut place = vec![None; n];
        rows.iter().enumerate().for_each(|(new, &old)| place[old] = Some(new as u32));
        self.renumbered(rows.len(), &place).expect("distinct rows keep pairs distinct").0
    }

    /// The constraints after rows were renumbered by `map` (`None` = the row is gone), with the
    /// number of pairs that lost an end.
    ///
    /// # Errors
    /// `InconsistentConstraints` (old indexes) when the ends of a cannot-link became one row.
    pub fn renumbered(&self, n: usize, map: &[Option<u32>]) -> Result<(Self, usize)> {
        let mut dropped = 0;
        let mut moved = Vec::with_capacity(self.listed.len());
        for c in &self.listed {
            match (map[c.i as usize], map[c.j as usize]) {
                (Some(i), Some(j)) if i == j && c.kind == Kind::CannotLink => {
                    return Err(one_row(c, None));
                }
                (Some(i), Some(j)) => moved.push(Constraint { i, j, ..*c }),
                _ => dropped += 1,
            }
        }
        let mut groups = Vec::with_capacity(self.groups.len());
        for group in &self.groups {
            let left = group.members.iter().filter(|&&i| map[i as usize].is_some()).count();
            let moved = group.renumbered(map);
            if moved.members.len() < left {
                let now = |c: &Constraint| (map[c.i as usize], map[c.j as usize]);
                let merged = group.pairs().find(|c| now(c).0.is_some() && now(c).0 == now(c).1);
                let pair = merged.expect("two members are one row now");
                return Err(one_row(&pair, Some(group.name.clone())));
            }
            dropped += (group.pair_count() - pairs_among(left)) as usize;
            groups.push(moved);
        }
        let named = self
            .neighbourhoods
            .iter()
            .map(|set| set.iter().filter_map(|&o| map[o as usize]).collect::<Vec<_>>())
            .filter(|set| !set.is_empty())
            .collect();
        let moved = Constraints::new(n, moved)?.with_groups(n, groups)?;
        Ok((moved.with_neighbourhoods(named), dropped))
    }

    /// The constraints whose objects are all `inside`, and how many are not.
    pub fn within(&self, inside: impl Fn(usize) -> bool) -> (Self, usize) {
        let mut out = self.clone();
        out.pairs = Arc::default();
        out.listed.retain(|c| inside(c.i as usize) && inside(c.j as usize));
        out.groups.iter_mut().for_each(|g| g.members.retain(|&o| inside(o as usize)));
        out.groups.retain(|g| g.members.len() > 1);
        out.neighbourhoods.iter_mut().for_each(|set| set.retain(|&o| inside(o as usize)));
        out.neighbourhoods.retain(|set| !set.is_empty());
        let left_out = self.len() - out.len();
        (out, left_out)
    }

    /// A hash of the content.
    pub fn digest(&self) -> [u8; 32] {
        let mut h = blake3::Hasher::new();
        for c in &self.listed {
            h.update(&c.i.to_le_bytes());
            h.update(&c.j.to_le_bytes());
            h.update(&[c.kind as u8, c.strength.map_or(2, |s| s as u8)]);
            h.update(&c.weight.to_le_bytes());
        }
        for set in &self.neighbourhoods {
            h.update(&(set.len() as u64).to_le_bytes());
            set.iter().for_each(|o| {
                h.update(&o.to_le_bytes());
            });
        }
        for group in &self.groups {
            h.update(b"group");
            h.update(&(group.members.len() as u64).to_le_bytes());
            h.update(&group.weight.to_le_bytes());
            h.update(&[group.strength.map_or(2, |s| s as u8)]);
            group.members.iter().for_each(|o| {
                h.update(&o.to_le_bytes());
            });
        }
        *h.finalize().as_bytes()
    }
}

/// The error of a cannot-link whose ends became one row.
fn one_row(c: &Constraint, group: Option<String>) -> Error {
    let (cannot, path, links) = ((c.i, c.j), vec![c.i, c.j], Vec::new());
    let witness = Witness { index: 0, cannot, path, links, group };
    Error::InconsistentConstraints(vec![witness].into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_form() {
        let c = Constraints::new(
            5,
            [
                Constraint { i: 3, j: 1, ..Constraint::must(1, 3) },
                Constraint::must(1, 3).weighing(4.0),
                Constraint::cannot(1, 3),
                Constraint::must(2, 2),
                Constraint::cannot(0, 4).weighing(0.0),
            ],
        )
        .unwrap();
        assert_eq!(c.pairs(), [Constraint::must(1, 3).weighing(4.0), Constraint::cannot(1, 3)]);
    }

    #[test]
    fn bad_constraints_are_named() {
        let new = |c| Constraints::new(3, [c]).unwrap_err();
        assert_eq!(new(Constraint::must(0, 3)), Error::IndexOutOfRange { index: 3, n: 3 });
        assert_eq!(new(Constraint::cannot(1, 1)), Error::SelfCannotLink { object: 1 });
        let bad = new(Constraint::cannot(0, 1).weighing(-1.0));
        assert_eq!(bad, Error::BadWeight { i: 0, j: 1, weight: "-1".into() });
        let twice = [Constraint::must(0, 1), Constraint::must(1, 0)];
        let refused = Constraints::with_duplicates(3, twice, Duplicates::Error);
        assert_eq!(refused.unwrap_err(), Error::DuplicateConstraint { i: 0, j: 1 });
        let sum = Constraints::with_duplicates(3, twice, Duplicates::Sum).unwrap();
        assert_eq!(sum.pairs()[0].weight, 2.0);
        let sum =
            Constraints::with_duplicates(3, twice.map(|c| c.weighing(1e308)), Duplicates::Sum);
        let said = sum.unwrap_err().to_string();
        assert!(said.contains("got a sum that is not finite"), "{said}");
    }

    /// They were about other objects: 2³² + 2 about object 2.
    #[cfg(target_pointer_width = "64")]
    #[test]
    fn objects_beyond_all_numbers_are_none() {
        for c in [Constraint::must(0, (1 << 32) + 2), Constraint::cannot(1 << 32, (1 << 32) + 2)] {
            let refused = Constraints::new(3, [c]).unwrap_err();
            assert_eq!(refused, Error::IndexOutOfRange { index: u32::MAX as usize, n: 3 });
        }
    }

    #[test]
    fn merged_rows_cannot_be_apart() {
        let c = Constraints::new(3, [Constraint::cannot(0, 2), Constraint::must(0, 1)]).unwrap();
        assert!(c.renumbered(2, &[Some(0), Some(1), Some(0)]).is_err());
        let (moved, dropped) = c.renumbered(2, &[Some(0), Some(1), None]).unwrap();
        assert_eq!((moved.len(), dropped), (1, 1));
    }
}
