//! Groups of objects that must all be apart, without a list of their pairs.
//!
//! A group of g members means the same as g · (g − 1) / 2 cannot-links. It is stored as its members; groups of
//! one set of constraints share no pair with each other, nor with the pairs listed next to them.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::constraint::{Constraint, Kind, Origin, Strength};
use crate::error::{Error, Result};
use crate::lists::Lists;

/// Most pairs that groups are turned into for a method that takes pairs alone.
pub const MAX_GROUP_PAIRS: u64 = 20_000_000;

/// Objects that are all in different clusters: people in one photo, voices that overlap.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// Name of the group; used only in messages.
    pub name: String,
    /// Its objects, ascending, each once.
    pub members: Vec<u32>,
    /// Weight of each of its pairs, finite, > 0; 1 unless given.
    pub weight: f64,
    /// Mark of its pairs as hard or soft; if absent, the method decides.
    pub strength: Option<Strength>,
    /// Origin of the group.
    pub origin: Origin,
}

impl Group {
    /// A group of weight 1 without strength.
    pub fn new(name: impl Into<String>, mut members: Vec<u32>) -> Self {
        members.sort_unstable();
        members.dedup();
        let (strength, origin) = (None, Origin::Given);
        Group { name: name.into(), members, weight: 1.0, strength, origin }
    }

    /// The groups of a column: the objects of each name, in order of its first object.
    pub fn of_column<'a>(names: impl IntoIterator<Item = Option<&'a str>>) -> Vec<Self> {
        let mut groups: Vec<Group> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (i, name) in names.into_iter().enumerate() {
            let Some(name) = name else { continue };
            let at = *places.entry(name).or_insert(groups.len());
            if at == groups.len() {
                groups.push(Group::new(name, Vec::new()));
            }
            groups[at].members.push(i as u32);
        }
        groups.retain(|group| group.members.len() > 1);
        groups
    }

    /// Number of its pairs.
    pub fn pair_count(&self) -> u64 {
        pairs_among(self.members.len())
    }

    /// Its pairs in order of (i, j).
    pub fn pairs(&self) -> impl Iterator<Item = Constraint> + '_ {
        let &Group { weight, strength, origin, .. } = self;
        let kind = Kind::CannotLink;
        self.members.iter().enumerate().flat_map(move |(at, &i)| {
            let others = self.members[at + 1..].iter();
            others.map(move |&j| Constraint { i, j, kind, weight, strength, origin })
        })
    }

    /// The pair of its members at two places, `a` < `b`.
    pub(crate) fn pair(&self, a: usize, b: usize) -> Constraint {
        let &Group { weight, strength, origin, .. } = self;
        let (i, j) = (self.members[a], self.members[b]);
        Constraint { i, j, kind: Kind::CannotLink, weight, strength, origin }
    }

    /// The place of that pair among [`Group::pairs`].
    pub(crate) fn rank(&self, a: usize, b: usize) -> usize {
        a * (2 * self.members.len() - a - 1) / 2 + b - a - 1
    }

    /// The pair at that place.
    pub(crate) fn at_rank(&self, rank: usize) -> Constraint {
        // Counted from the end, the rows of the pairs have 1, 2, 3, … of them: row r begins at r (r + 1) / 2.
        let left = self.pair_count() as usize - 1 - rank;
        let root = (2 * left).isqrt();
        let row = if root * (root + 1) / 2 > left { root - 1 } else { root };
        let a = self.members.len() - 2 - row;
        self.pair(a, self.members.len() - 1 - (left - row * (row + 1) / 2))
    }

    /// Number of its pairs that `labels` put into one cluster.
    pub fn violated(&self, labels: &[u32]) -> u64 {
        let mut own: Vec<u32> = self.members.iter().map(|&i| labels[i as usize]).collect();
        own.sort_unstable();
        own.chunk_by(|a, b| a == b).map(|same| pairs_among(same.len())).sum()
    }

    /// The pairs of the group that `labels` put into one cluster, found without visiting all pairs. An object without
    /// a label (`u32::MAX`) is apart from all others.
    pub fn violated_pairs(&self, labels: &[u32]) -> impl Iterator<Item = Constraint> {
        let mut own: Vec<(u32, u32)> =
            self.members.iter().map(|&i| (labels[i as usize], i)).collect();
        own.retain(|(label, _)| *label != u32::MAX);
        own.sort_unstable();
        let of_cluster = |same: &[(u32, u32)]| {
            let &Group { weight, strength, origin, .. } = self;
            let members = same.iter().map(|(_, i)| *i).collect();
            Group { name: String::new(), members, weight, strength, origin }
        };
        let clusters: Vec<Group> = own.chunk_by(|a, b| a.0 == b.0).map(of_cluster).collect();
        // One pair at a time, as there may be too many for memory.
        let pairs = |of: Group| (0..of.pair_count() as usize).map(move |rank| of.at_rank(rank));
        clusters.into_iter().flat_map(pairs)
    }

    /// The group after its objects were renumbered; `None` = the object is gone.
    pub(crate) fn renumbered(&self, map: &[Option<u32>]) -> Self {
        let members = self.members.iter().filter_map(|&i| map[i as usize]).collect();
        Group { members: Group::new("", members).members, ..self.clone() }
    }

    fn check(&self, n: usize) -> Result<()> {
        if let Some(&index) = self.members.iter().find(|&&i| i as usize >= n) {
            return Err(Error::IndexOutOfRange { index: index as usize, n });
        }
        if self.weight.is_finite() && self.weight >= 0.0 {
            return Ok(());
        }
        let of = |at: usize| self.members.get(at).map_or(0, |&i| i as usize);
        Err(Error::BadWeight { i: of(0), j: of(1), weight: self.weight.to_string() })
    }

    /// Its pairs, where they are not too many to be listed.
    fn listed(&self) -> Result<impl Iterator<Item = Constraint> + '_> {
        let what = format!("the group \"{}\", which shares pairs with others,", self.name);
        within_limit(&what, self.pair_count())?;
        Ok(self.pairs())
    }
}

/// Refuses to list too many pairs of groups.
pub(crate) fn within_limit(what: &str, pairs: u64) -> Result<()> {
    if pairs <= MAX_GROUP_PAIRS {
        return Ok(());
    }
    Err(Error::TooManyGroupPairs { what: what.into(), pairs, limit: MAX_GROUP_PAIRS })
}

pub(crate) fn pairs_among(members: usize) -> u64 {
    let members = members as u64;
    members * members.saturating_sub(1) / 2
}

/// True if two ascending lists share anything.
pub fn share(a: &[u32], b: &[u32]) -> bool {
    common(a, b).is_some()
}

/// The first that two ascending lists share.
fn common(a: &[u32], b: &[u32]) -> Option<u32> {
    let (few, many) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    few.iter().copied().find(|x| many.binary_search(x).is_ok())
}

/// The first of the sets that these members are in, as `of` says, that holds two of them; `set` gives the
/// members of a set, ascending.
///
/// The members that are in most sets are looked up in the sets of the other members, so a long list of sets around
/// one object is not searched for each of them.
pub(crate) fn shares_two<'a>(
    members: &[u32],
    of: impl Fn(u32) -> &'a [u32],
    set: impl Fn(u32) -> &'a [u32],
) -> Option<u32> {
    let often = members.iter().copied().max_by_key(|&x| of(x).len())?;
    let others = members.iter().filter(|&&x| x != often);
    let mut met: Vec<u32> = others.flat_map(|&x| of(x)).copied().collect();
    met.sort_unstable();
    let two = |same: &&[u32]| same.len() > 1 || set(same[0]).binary_search(&often).is_ok();
    met.chunk_by(|a, b| a == b).find(two).map(|same| same[0])
}

/// Groups no two of which share a pair, and the pairs of the others.
fn parted(n: usize, groups: Vec<Group>) -> Result<(Vec<Group>, Vec<Constraint>)> {
    let (mut kept, mut listed): (Vec<Group>, Vec<Constraint>) = Default::default();
    let mut of: Vec<Vec<u32>> = vec![Vec::new(); if groups.is_empty() { 0 } else { n }];
    for mut group in groups {
        group.members.sort_unstable();
        group.members.dedup();
        group.check(n)?;
        if group.members.len() < 2 || group.weight == 0.0 {
            continue;
        }
        let shared = shares_two(&group.members, |i| &of[i as usize], |g| &kept[g as usize].members);
        if let Some(known) = shared.map(|g| &mut kept[g as usize]) {
            if known.members == group.members && known.strength == group.strength {
                known.weight = known.weight.max(group.weight);
            } else {
                listed.extend(group.listed()?);
            }
            continue;
        }
        group.members.iter().for_each(|&i| of[i as usize].push(kept.len() as u32));
        kept.push(group);
    }
    Ok((kept, listed))
}

/// Canonical groups, and the pairs to list in addition: `pairs`, those of groups that share pairs, and
/// those of groups that contain a pair with another weight or mark.
pub(crate) fn canonical(
    n: usize,
    mut pairs: Vec<Constraint>,
    groups: Vec<Group>,
) -> Result<(Vec<Constraint>, Vec<Group>)> {
    let (kept, more) = parted(n, groups)?;
    pairs.extend(more);
    let held = if kept.is_empty() { 0 } else { n };
    let of = Lists::sets_of(held, kept.iter().map(|g| &g.members[..]));
    // No two groups share a pair: the first that is met is the only one.
    let around = |c: &Constraint| {
        let there = common(of.of(c.i as usize), of.of(c.j as usize));
        there.filter(|_| c.kind == Kind::CannotLink && c.i != c.j).map(|set| set as usize)
    };
    let mut otherwise = vec![false; kept.len()];
    for c in &pairs {
        if let Some(at) = around(c) {
            let Group { weight, strength, .. } = kept[at];
            let says_it =
                c.weight <= weight && Strength::stronger(c.strength, strength) == strength;
            otherwise[at] |= !says_it;
        }
    }
    pairs.retain(|c| around(c).is_none_or(|at| otherwise[at]));
    let mut whole = Vec::with_capacity(kept.len());
    for (group, otherwise) in kept.into_iter().zip(otherwise) {
        if otherwise {
            pairs.extend(group.listed()?);
        } else {
            whole.push(group);
        }
    }
    Ok((pairs, whole))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn two_shared_members_are_found(
            sets in prop::collection::vec(prop::collection::btree_set(0u32..8, 0..6), 1..8),
        ) {
            let sets: Vec<Vec<u32>> = sets.into_iter().map(|set| set.into_iter().collect()).collect();
            let (last, before) = sets.split_last().unwrap();
            let of = Lists::sets_of(8, before.iter().map(Vec::as_slice));
            let found = shares_two(last, |x| of.of(x as usize), |g| &before[g as usize]);
            let shared = |set: &Vec<u32>| set.iter().filter(|x| last.contains(x)).count();
            let expected = before.iter().position(|set| shared(set) > 1);
            prop_assert_eq!(found, expected.map(|g| g as u32));
        }
    }

    #[test]
    fn names_in_a_column_are_groups_where_two_objects_have_them() {
        let column = [Some("b"), None, Some("a"), Some("b"), Some("c"), Some("a"), Some("b")];
        let groups = Group::of_column(column);
        let told: Vec<(&str, &[u32])> =
            groups.iter().map(|g| (g.name.as_str(), &g.members[..])).collect();
        assert_eq!(told, [("b", &[0, 3, 6][..]), ("a", &[2, 5])]);
    }

    #[test]
    fn pairs_are_found_by_their_places() {
        for m in 0..50 {
            let group = Group::new("", (0..m).collect());
            for (rank, pair) in group.pairs().enumerate() {
                assert_eq!(group.at_rank(rank), pair);
                assert_eq!(group.rank(pair.i as usize, pair.j as usize), rank);
            }
        }
        let many = Group::new("", (0..100_000).collect());
        for (a, b) in
            [(0, 1), (0, 99_999), (1, 2), (61_803, 61_804), (99_997, 99_999), (99_998, 99_999)]
        {
            assert_eq!(many.at_rank(many.rank(a, b)), many.pair(a, b));
        }
    }

    #[test]
    fn one_object_in_very_many_groups_is_no_burden() {
        // Whoever goes through the groups of object 0 for each of them meets 5 · 10⁹.
        let n = 100_000;
        let groups = (1..n as u32).map(|i| Group::new(format!("g{i}"), vec![0, i]));
        let given =
            groups.chain([Group::new("again", vec![0, 7]), Group::new("more", vec![0, 8, 9])]);
        let (listed, groups) = canonical(n, Vec::new(), given.collect()).unwrap();
        // Of the last, the pair that no group says is the one that is listed.
        assert_eq!((listed.len(), groups.len()), (1, n - 1));
    }
}
