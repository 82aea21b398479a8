//! Which pairs does an ensemble as good as decide by itself?
//!
//! Pairs that nearly all members put together are imputed must-links, pairs that nearly none does
//! imputed cannot-links. Thresholds are integers, so a pair that sits exactly on one is never
//! misplaced by rounding. The pairs themselves are usually too many to list: they are counted,
//! scored against classes, and united to neighbourhoods as they go by. They are knowledge about the
//! ensemble, not supervision.

use std::ops::Range;

use mustlink_core::closure::UnionFind;
use mustlink_core::{Constraint, Constraints, Context, Error, Kind, Result};
use rayon::prelude::*;

use crate::co_association::{CoAssociation, Normalise};
use crate::signatures::{Signatures, with_rows};

/// Pairs that are compared to find neighbourhoods without a matrix, at most, by default.
pub const MAX_CANDIDATES: u64 = 200_000_000;

/// When a pair counts as decided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    kappa_must: f64,
    kappa_cannot: f64,
    normalise: Normalise,
    min_presence: u32,
    members: u32,
}

impl Thresholds {
    /// Must-link from a co-association of `kappa_must` on, cannot-link up to `kappa_cannot`, of
    /// `members` members.
    ///
    /// # Errors
    /// `BadParam` unless 0 ≤ kappa_cannot < kappa_must ≤ 1.
    pub fn new(kappa_must: f64, kappa_cannot: f64, members: usize) -> Result<Self> {
        if !(0.0 <= kappa_cannot && kappa_cannot < kappa_must && kappa_must <= 1.0) {
            return Err(Error::bad_param(
                "kappa_must",
                format!("{kappa_must} with kappa_cannot = {kappa_cannot}"),
                "0 <= kappa_cannot < kappa_must <= 1",
            ));
        }
        Ok(Thresholds {
            kappa_must,
            kappa_cannot,
            normalise: Normalise::Members,
            min_presence: 1,
            members: members as u32,
        })
    }

    /// The same, of the members that saw both, at least `min_presence`.
    pub fn normalised(mut self, normalise: Normalise, min_presence: usize) -> Self {
        self.normalise = normalise;
        self.min_presence = min_presence.max(1) as u32;
        self
    }

    /// Fewest members that make a must-link when `of` are asked. The allowance undoes decimals like
    /// 0.29, of which 100 are less than 29.
    pub fn must(&self, of: u32) -> u32 {
        (self.kappa_must * f64::from(of) - 1e-9).ceil().max(1.0) as u32
    }

    /// Most members that leave a cannot-link when `of` are asked.
    pub fn cannot(&self, of: u32) -> u32 {
        (self.kappa_cannot * f64::from(of) + 1e-9).floor() as u32
    }

    /// What is imputed for a pair that `count` members put together and `joint` saw, if anything.
    pub fn judge(&self, count: u32, joint: u32) -> Option<Kind> {
        let of = match self.normalise {
            Normalise::Members => self.members,
            Normalise::CoPresence if joint < self.min_presence => return None,
            Normalise::CoPresence => joint,
        };
        if count >= self.must(of) {
            Some(Kind::MustLink)
        } else if count <= self.cannot(of) {
            Some(Kind::CannotLink)
        } else {
            None
        }
    }
}

/// Imputed constraints of one kind, scored against classes where these are known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Pairs imputed.
    pub selected: u64,
    /// Those between objects of known class.
    pub judged: u64,
    /// Those that the classes confirm.
    pub correct: u64,
    /// Pairs that the classes hold.
    pub wanted: u64,
}

impl Tally {
    /// Share of the imputed pairs that are right; `None` without any.
    pub fn precision(&self) -> Option<f64> {
        (self.judged > 0).then(|| self.correct as f64 / self.judged as f64)
    }

    /// Share of the pairs of this kind that are imputed; `None` without any.
    pub fn recall(&self) -> Option<f64> {
        (self.wanted > 0).then(|| self.correct as f64 / self.wanted as f64)
    }

    fn plus(self, other: Tally) -> Tally {
        Tally {
            selected: self.selected + other.selected,
            judged: self.judged + other.judged,
            correct: self.correct + other.correct,
            wanted: self.wanted + other.wanted,
        }
    }
}

/// Imputed constraints of both kinds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Imputed {
    /// Must-links.
    pub must: Tally,
    /// Cannot-links.
    pub cannot: Tally,
}

fn pairs(n: u64) -> u64 {
    n * n.saturating_sub(1) / 2
}

/// How the objects of a unit fall into classes: (class, objects), sorted; unknown ones left out.
type Mix = Vec<(u32, u64)>;

struct Units<'a> {
    signatures: Option<&'a Signatures>,
    mixes: Vec<Mix>,
}

impl<'a> Units<'a> {
    fn new(co: &'a CoAssociation, classes: Option<&[Option<u32>]>) -> Self {
        let signatures = co.signatures();
        let mix = |objects: &[u32]| {
            let class = |&i: &u32| classes.and_then(|c| c[i as usize]);
            let mut known: Vec<u32> = objects.iter().filter_map(class).collect();
            known.sort_unstable();
            let runs = known.chunk_by(|a, b| a == b);
            runs.map(|r| (r[0], r.len() as u64)).collect::<Mix>()
        };
        let mixes = match signatures {
            Some(s) => (0..s.len()).map(|a| mix(s.objects(a))).collect(),
            None => (0..co.n() as u32).map(|i| mix(&[i])).collect(),
        };
        Units { signatures, mixes }
    }

    fn size(&self, a: usize) -> u64 {
        self.signatures.map_or(1, |s| s.size(a) as u64)
    }

    /// Pairs between two units: all, those of known class, those of one class.
    fn between(&self, a: usize, b: usize) -> (u64, u64, u64) {
        let known = |a: usize| self.mixes[a].iter().map(|m| m.1).sum::<u64>();
        let same = |&(class, count): &(u32, u64)| {
            let other = self.mixes[b].binary_search_by_key(&class, |m| m.0);
            other.map_or(0, |at| count * self.mixes[b][at].1)
        };
        let alike = self.mixes[a].iter().map(same).sum();
        (self.size(a) * self.size(b), known(a) * known(b), alike)
    }

    /// Pairs within a unit, in the same three numbers.
    fn within(&self, a: usize) -> (u64, u64, u64) {
        let known = self.mixes[a].iter().map(|m| m.1).sum();
        let alike = self.mixes[a].iter().map(|m| pairs(m.1)).sum();
        (pairs(self.size(a)), pairs(known), alike)
    }
}

impl Imputed {
    fn add(&mut self, kind: Option<Kind>, (all, known, alike): (u64, u64, u64)) {
        let (to, correct) = match kind {
            Some(Kind::MustLink) => (&mut self.must, alike),
            Some(Kind::CannotLink) => (&mut self.cannot, known - alike),
            None => return,
        };
        to.selected += all;
        to.judged += known;
        to.correct += correct;
    }
}

/// Counts the imputed constraints, and how many of them `classes` confirm. O(n² τ / 32) without a
/// matrix, O(n²) with one.
///
/// # Errors
/// Cancellation.
pub fn impute(
    co: &CoAssociation,
    thresholds: &Thresholds,
    classes: Option<&[Option<u32>]>,
    ctx: &Context,
) -> Result<Imputed> {
    let units = Units::new(co, classes);
    let members = co.members() as u32;
    let parts = co.fold(
        Imputed::default,
        |sum, a, first, counts, joints| {
            for (at, &count) in counts.iter().enumerate() {
                let joint = joints.map_or(members, |j| j[at]);
                let kind = thresholds.judge(count, joint);
                if kind.is_some() {
                    sum.add(kind, units.between(a, first + at));
                }
            }
        },
        ctx,
    )?;
    let mut total = Imputed::default();
    for part in parts {
        total.must = total.must.plus(part.must);
        total.cannot = total.cannot.plus(part.cannot);
    }
    if let Some(s) = units.signatures {
        for a in (0..s.len()).filter(|&a| s.size(a) > 1) {
            total.add(thresholds.judge(s.presence(a), s.presence(a)), units.within(a));
        }
    }
    if let Some(classes) = classes {
        let mut known: Vec<u32> = classes.iter().flatten().copied().collect();
        known.sort_unstable();
        let same = known.chunk_by(|a, b| a == b).map(|r| pairs(r.len() as u64)).sum();
        total.must.wanted = same;
        total.cannot.wanted = pairs(known.len() as u64) - same;
    }
    Ok(total)
}

/// How many pairs have each count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Pairs that so many members put together, from none to all of them.
    pub pairs: Vec<u64>,
    /// Those of objects of one class.
    pub alike: Vec<u64>,
    /// Those of objects of different classes.
    pub apart: Vec<u64>,
}

impl Histogram {
    fn new(members: usize) -> Self {
        let none = vec![0; members + 1];
        Histogram { pairs: none.clone(), alike: none.clone(), apart: none }
    }

    fn add(&mut self, count: u32, (all, known, alike): (u64, u64, u64)) {
        let at = count as usize;
        self.pairs[at] += all;
        self.alike[at] += alike;
        self.apart[at] += known - alike;
    }
}

/// How many pairs of objects each number of members puts together, and how many of these the classes
/// do. As long as [`impute`].
///
/// # Errors
/// Cancellation.
pub fn histogram(
    co: &CoAssociation,
    classes: Option<&[Option<u32>]>,
    ctx: &Context,
) -> Result<Histogram> {
    let units = Units::new(co, classes);
    let members = co.members();
    let parts = co.fold(
        || Histogram::new(members),
        |sum, a, first, counts, _| {
            for (at, &count) in counts.iter().enumerate() {
                sum.add(count, units.between(a, first + at));
            }
        },
        ctx,
    )?;
    let mut total = Histogram::new(members);
    for part in parts {
        let add = |to: &mut [u64], from: &[u64]| {
            to.iter_mut().zip(from).for_each(|(t, f)| *t += f);
        };
        add(&mut total.pairs, &part.pairs);
        add(&mut total.alike, &part.alike);
        add(&mut total.apart, &part.apart);
    }
    if let Some(s) = units.signatures {
        for a in (0..s.len()).filter(|&a| s.size(a) > 1) {
            total.add(s.presence(a), units.within(a));
        }
    }
    Ok(total)
}

/// The imputed constraints themselves, in order of their objects, of origin `Imputed`. Must-links
/// alone are found by blocks of members where there is no matrix, without a look at pairs that agree
/// in no block.
///
/// # Errors
/// `BadParam` when there are more than `max_pairs`; cancellation.
pub fn imputed_constraints(
    co: &CoAssociation,
    thresholds: &Thresholds,
    kinds: &[Kind],
    max_pairs: u64,
    ctx: &Context,
) -> Result<Constraints> {
    let constraint = |(i, j, kind): (u32, u32, Kind)| {
        let c = Constraint::new(i as usize, j as usize, kind);
        c.from(mustlink_core::constraints::Origin::Imputed)
    };
    let refuse_above = |wanted: u64| match wanted > max_pairs {
        true => {
            let legal = format!(">= {wanted}, the number of imputed pairs");
            Err(Error::bad_param("max_pairs", max_pairs, legal))
        }
        false => Ok(()),
    };
    if let (Some(s), [Kind::MustLink]) = (co.signatures(), kinds)
        && let Some(found) = must_links_by_blocks(s, thresholds, max_pairs, ctx)?
    {
        refuse_above(found.verified)?;
        let within = (0..s.len() as u32).map(|a| (a, a));
        let mut list: Vec<(u32, u32, Kind)> = Vec::with_capacity(found.verified as usize);
        for (a, b) in within.chain(found.groups) {
            let (one, other) = (s.objects(a as usize), s.objects(b as usize));
            for (at, &i) in one.iter().enumerate() {
                let rest = if a == b { &other[at + 1..] } else { other };
                list.extend(rest.iter().map(|&j| (i.min(j), i.max(j), Kind::MustLink)));
            }
        }
        list.sort_unstable();
        return Constraints::new(co.n(), list.into_iter().map(constraint));
    }
    let all = impute(co, thresholds, None, ctx)?;
    let count = |kind| match kind {
        Kind::MustLink => all.must.selected,
        Kind::CannotLink => all.cannot.selected,
    };
    refuse_above(kinds.iter().map(|&k| count(k)).sum())?;
    let members = co.members() as u32;
    let units = Units::new(co, None);
    let expand = |a: usize| match units.signatures {
        Some(s) => s.objects(a).to_vec(),
        None => vec![a as u32],
    };
    let parts = co.fold(
        Vec::new,
        |list: &mut Vec<(u32, u32, Kind)>, a, first, counts, joints| {
            for (at, &count) in counts.iter().enumerate() {
                let joint = joints.map_or(members, |j| j[at]);
                let Some(kind) = thresholds.judge(count, joint).filter(|k| kinds.contains(k))
                else {
                    continue;
                };
                for &i in &expand(a) {
                    list.extend(expand(first + at).iter().map(|&j| (i.min(j), i.max(j), kind)));
                }
            }
        },
        ctx,
    )?;
    let mut list: Vec<(u32, u32, Kind)> = parts.into_iter().flatten().collect();
    if let Some(s) = units.signatures {
        for a in (0..s.len()).filter(|&a| s.size(a) > 1) {
            let kind = thresholds.judge(s.presence(a), s.presence(a));
            let Some(kind) = kind.filter(|k| kinds.contains(k)) else { continue };
            let objects = s.objects(a);
            for (at, &i) in objects.iter().enumerate() {
                list.extend(objects[at + 1..].iter().map(|&j| (i, j, kind)));
            }
        }
    }
    list.sort_unstable();
    Constraints::new(co.n(), list.into_iter().map(constraint))
}

/// Sets of at least two objects that imputed must-links hold together: the largest first, ties by
/// the smallest object; objects sorted.
///
/// Without a matrix, pairs are found by blocks of members: a pair that at most r members part agrees
/// in all members of one of r + 1 blocks, so only objects with equal labels in a block are compared,
/// and of these none that already belong together.
///
/// # Errors
/// `BadParam` beyond `max_candidates` comparisons, and for missing labels without a matrix; cancellation.
pub fn neighbourhoods(
    co: &CoAssociation,
    thresholds: &Thresholds,
    max_candidates: u64,
    ctx: &Context,
) -> Result<Vec<Vec<u32>>> {
    let mut uf = UnionFind::new(co.n());
    match co.signatures() {
        Some(s) => by_blocks(s, thresholds, max_candidates, &mut uf, ctx)?,
        None => {
            let members = co.members() as u32;
            // Each stripe keeps a forest of its own, so that only its edges are left to unite.
            type Forest = (Option<UnionFind>, Vec<(u32, u32)>);
            let forests = co.fold(
                || (None, Vec::new()),
                |(uf, edges): &mut Forest, a, first, counts, joints| {
                    let uf = uf.get_or_insert_with(|| UnionFind::new(co.n()));
                    for (at, &count) in counts.iter().enumerate() {
                        let joint = joints.map_or(members, |j| j[at]);
                        let b = (first + at) as u32;
                        if thresholds.judge(count, joint) == Some(Kind::MustLink)
                            && uf.union(a as u32, b).is_some()
                        {
                            edges.push((a as u32, b));
                        }
                    }
                },
                ctx,
            )?;
            for (a, b) in forests.into_iter().flat_map(|f| f.1) {
                uf.union(a, b);
            }
        }
    }
    let mut sets: Vec<Vec<u32>> = vec![Vec::new(); co.n()];
    for i in 0..co.n() as u32 {
        sets[uf.find(i) as usize].push(i);
    }
    sets.retain(|s| s.len() > 1);
    sets.sort_by_key(|s| (std::cmp::Reverse(s.len()), s[0]));
    Ok(sets)
}

/// The blocks of members of which one at least is without a dissent on any pair of imputed
/// must-links: contiguous, of nearly equal length, one more than the members that may part a pair.
fn blocks(s: &Signatures, thresholds: &Thresholds) -> Vec<Range<usize>> {
    let tau = s.members();
    let theta = thresholds.must(tau as u32) as usize;
    let blocks = (tau - theta.min(tau) + 1).min(tau);
    let start = |b: usize| (b * tau).div_ceil(blocks);
    (0..blocks).map(|b| start(b)..start(b + 1)).collect()
}

/// Groups that agree in all members of a block, where there are several.
fn buckets(s: &Signatures, block: &Range<usize>) -> Vec<Vec<u32>> {
    let tau = s.members();
    let mut order: Vec<u32> = (0..s.len() as u32).collect();
    with_rows!(&s.rows, rows => {
        let key = |a: u32| &rows[a as usize * tau..][block.clone()];
        order.sort_unstable_by(|&a, &b| key(a).cmp(key(b)).then(a.cmp(&b)));
        order.chunk_by(|&a, &b| key(a) == key(b)).filter(|c| c.len() > 1).map(<[u32]>::to_vec).collect()
    })
}

/// Whether two groups agree in all members of a block.
fn agree(s: &Signatures, a: u32, b: u32, block: &Range<usize>) -> bool {
    let tau = s.members();
    with_rows!(&s.rows, rows => {
        let key = |a: u32| &rows[a as usize * tau..][block.clone()];
        key(a) == key(b)
    })
}

/// Imputed must-links found by blocks of members.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    /// Pairs of groups that they join, not beyond the number asked for.
    groups: Vec<(u32, u32)>,
    /// Pairs of objects that agree in all members of some block, those within groups among them.
    candidates: u64,
    /// Those of them that are imputed must-links.
    verified: u64,
}

/// All imputed must-links: each pair that agrees in all members of a block is verified once, in the
/// first such block. `None` where that would not be much less than a look at every pair.
fn must_links_by_blocks(
    s: &Signatures,
    thresholds: &Thresholds,
    max_pairs: u64,
    ctx: &Context,
) -> Result<Option<Found>> {
    if !s.is_complete() {
        return Ok(None);
    }
    let tau = s.members() as u32;
    let within = (0..s.len()).map(|a| pairs(s.size(a) as u64)).sum();
    let mut found = Found { groups: Vec::new(), candidates: within, verified: within };
    let blocks = blocks(s, thresholds);
    // Without a dissent allowed there is one block, and the groups are its buckets.
    if blocks.len() == 1 {
        return Ok(Some(found));
    }
    let mut effort = 0;
    for (at, block) in blocks.iter().enumerate() {
        ctx.check()?;
        let buckets = buckets(s, block);
        // A look back at thirty blocks takes about as long as a pair takes to be verified.
        let each = 1 + at as u64 / 30;
        effort += each * buckets.iter().map(|b| pairs(b.len() as u64)).sum::<u64>();
        if effort > pairs(s.len() as u64) / 4 {
            return Ok(None);
        }
        let room = max_pairs.saturating_sub(found.verified);
        let parts: Vec<Found> = buckets
            .par_iter()
            .map(|bucket| {
                let mut part = Found::default();
                for (nth, &b) in bucket.iter().enumerate() {
                    for &a in &bucket[..nth] {
                        if blocks[..at].iter().any(|earlier| agree(s, a, b, earlier)) {
                            continue;
                        }
                        let (a, b) = (a.min(b), a.max(b));
                        let objects = (s.size(a as usize) * s.size(b as usize)) as u64;
                        part.candidates += objects;
                        let count = s.count(a as usize, b as usize);
                        if thresholds.judge(count, tau) == Some(Kind::MustLink) {
                            part.verified += objects;
                            if part.groups.len() as u64 <= room {
                                part.groups.push((a, b));
                            }
                        }
                    }
                }
                part
            })
            .collect();
        for part in parts {
            found.candidates += part.candidates;
            found.verified += part.verified;
            found.groups.extend(part.groups);
        }
    }
    Ok(Some(found))
}

fn by_blocks(
    s: &Signatures,
    thresholds: &Thresholds,
    max_candidates: u64,
    uf: &mut UnionFind,
    ctx: &Context,
) -> Result<()> {
    if !s.is_complete() {
        return Err(Error::bad_param(
            "representation",
            "implicit",
            "dense where members leave objects out",
        ));
    }
    let tau = s.members();
    let theta = thresholds.must(tau as u32) as usize;
    for a in 0..s.len() {
        s.objects(a).windows(2).for_each(|w| {
            uf.union(w[0], w[1]);
        });
    }
    let blocks = blocks(s, thresholds);
    if blocks.len() == 1 {
        return Ok(());
    }
    let representative = |a: u32| s.objects(a as usize)[0];
    let mut candidates = 0u64;
    for (at, block) in blocks.iter().enumerate() {
        ctx.check()?;
        ctx.progress(at as u64, Some(blocks.len() as u64));
        for bucket in buckets(s, block) {
            // Groups of the bucket seen so far, by the set they belong to.
            let mut sets: Vec<Vec<u32>> = Vec::new();
            for &a in &bucket {
                for set in &sets {
                    if uf.find(representative(a)) == uf.find(representative(set[0])) {
                        continue;
                    }
                    for &b in set {
                        candidates += 1;
                        if s.count(a as usize, b as usize) as usize >= theta {
                            uf.union(representative(a), representative(b));
                            break;
                        }
                    }
                }
                if candidates > max_candidates {
                    return Err(Error::bad_param(
                        "max_candidates",
                        max_candidates,
                        "larger here, or kappa_must larger, or fewer members",
                    ));
                }
                let root = uf.find(representative(a));
                let mut own = vec![a];
                sets.retain_mut(|set| {
                    let same = uf.find(representative(set[0])) == root;
                    if same {
                        own.append(set);
                    }
                    !same
                });
                sets.push(own);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::co_association::tests::ensembles;
    use crate::signatures::tests::e12;
    use mustlink_core::ensemble::Ensemble;
    use proptest::prelude::*;

    fn context() -> Context {
        Context::new(1)
    }

    fn forms(e: &Ensemble) -> [CoAssociation; 2] {
        [CoAssociation::dense(e, &context()).unwrap(), CoAssociation::implicit(e)]
    }

    fn classes() -> Vec<Option<u32>> {
        [0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2].map(Some).to_vec()
    }

    #[test]
    fn e12_imputed() {
        for (must, cannot, expected) in [
            (0.98, 0.0, (5, 5, 19, 32, 32, 47)),
            (0.80, 0.0, (13, 13, 19, 32, 32, 47)),
            (0.80, 0.20, (13, 13, 19, 40, 40, 47)),
        ] {
            let t = Thresholds::new(must, cannot, 5).unwrap();
            for co in forms(&e12()) {
                let i = impute(&co, &t, Some(&classes()), &context()).unwrap();
                let (m, c) = (i.must, i.cannot);
                let found = (m.selected, m.correct, m.wanted, c.selected, c.correct, c.wanted);
                assert_eq!(found, expected);
                assert_eq!((m.precision(), m.recall()), (Some(1.0), Some(m.correct as f64 / 19.0)));
                let all = [Kind::MustLink, Kind::CannotLink];
                let listed = imputed_constraints(&co, &t, &all, 100, &context()).unwrap();
                assert_eq!(listed.count(Kind::MustLink) as u64, m.selected);
                assert_eq!(listed.count(Kind::CannotLink) as u64, c.selected);
                assert!(imputed_constraints(&co, &t, &all, 10, &context()).is_err());
            }
        }
    }

    #[test]
    fn e12_histogram() {
        for co in forms(&e12()) {
            let h = histogram(&co, Some(&classes()), &context()).unwrap();
            // 5 must-links, 13 from four members on, 32 pairs that nobody puts together.
            assert_eq!((h.pairs[5], h.pairs[4] + h.pairs[5], h.pairs[0]), (5, 13, 32));
            assert_eq!((h.pairs.iter().sum::<u64>(), h.alike.iter().sum::<u64>()), (66, 19));
            let apart: Vec<u64> = h.pairs.iter().zip(&h.alike).map(|(p, a)| p - a).collect();
            assert_eq!(h.apart, apart);
        }
    }

    #[test]
    fn e12_neighbourhoods() {
        let t = Thresholds::new(0.8, 0.0, 5).unwrap();
        for co in forms(&e12()) {
            let sets = neighbourhoods(&co, &t, MAX_CANDIDATES, &context()).unwrap();
            assert_eq!(sets, [vec![0, 1, 2, 3], vec![5, 6, 7, 8], vec![9, 10, 11]]);
        }
        let one = Thresholds::new(1.0, 0.0, 5).unwrap();
        for co in forms(&e12()) {
            let sets = neighbourhoods(&co, &one, MAX_CANDIDATES, &context()).unwrap();
            assert_eq!(sets, [vec![0, 1, 2], vec![5, 6], vec![10, 11]]);
        }
        let few = neighbourhoods(&CoAssociation::implicit(&e12()), &t, 2, &context());
        assert!(few.unwrap_err().to_string().starts_with("max_candidates: must be larger here"));
    }

    #[test]
    fn e12_block_filter() {
        let e = e12();
        let s = Signatures::new(&e);
        let t = Thresholds::new(0.8, 0.0, 5).unwrap();
        // Members 1 to 3 and 4 to 5: one may dissent.
        assert_eq!(blocks(&s, &t), [0..3, 3..5]);
        let found = must_links_by_blocks(&s, &t, u64::MAX, &context()).unwrap().unwrap();
        assert_eq!((found.candidates, found.verified), (13, 13));
        // The same pairs, all of them, in the first block they agree in.
        let co = CoAssociation::dense(&e, &context()).unwrap();
        let listed = |co: &CoAssociation, kinds: &[Kind]| {
            imputed_constraints(co, &t, kinds, u64::MAX, &context()).unwrap()
        };
        let by_blocks = listed(&CoAssociation::implicit(&e), &[Kind::MustLink]);
        assert_eq!(by_blocks, listed(&co, &[Kind::MustLink]));
        assert_eq!(by_blocks.len(), 13);
    }

    #[test]
    fn thresholds_survive_decimals() {
        let must = |kappa, of| Thresholds::new(kappa, 0.0, of).unwrap().must(of as u32);
        assert_eq!((must(0.98, 2000), must(0.29, 100), must(0.45, 10)), (1960, 29, 5));
        assert_eq!(Thresholds::new(1.0, 0.55, 10).unwrap().cannot(10), 5);
        for (must, cannot) in [(0.2, 0.2), (0.5, -0.1), (1.1, 0.0), (f64::NAN, 0.0)] {
            assert!(Thresholds::new(must, cannot, 10).is_err());
        }
        let text = Thresholds::new(0.1, 0.3, 5).unwrap_err().to_string();
        let legal = "0 <= kappa_cannot < kappa_must <= 1";
        assert_eq!(text, format!("kappa_must: must be {legal}, got 0.1 with kappa_cannot = 0.3"));
    }

    #[test]
    fn pairs_nobody_saw_are_never_imputed() {
        use mustlink_core::ensemble::{MISSING, Member};
        let m = |l: &[u32]| Member::from_labels(l);
        let e = Ensemble::new(3, vec![m(&[0, MISSING, 0]), m(&[MISSING, 0, MISSING])]).unwrap();
        let t = Thresholds::new(1.0, 0.0, 2).unwrap().normalised(Normalise::CoPresence, 1);
        for co in forms(&e) {
            let i = impute(&co, &t, None, &context()).unwrap();
            assert_eq!((i.must.selected, i.cannot.selected), (1, 0));
        }
    }

    proptest! {
        #[test]
        fn without_a_matrix_the_same_is_imputed(
            e in ensembles(false),
            must in 0usize..9,
            cannot in 0.0f64..0.5,
        ) {
            let must = [0.5001, 0.6, 0.7, 0.75, 0.8, 0.9, 0.98, 0.999, 1.0][must];
            let t = Thresholds::new(must, cannot, e.len()).unwrap();
            let classes: Vec<Option<u32>> =
                (0..e.n() as u32).map(|i| (i % 7 != 3).then_some(i * i % 4)).collect();
            let [dense, implicit] = forms(&e);
            let at = |co| impute(co, &t, Some(&classes), &context()).unwrap();
            prop_assert_eq!(at(&dense), at(&implicit));
            let sets = |co| neighbourhoods(co, &t, MAX_CANDIDATES, &context()).unwrap();
            prop_assert_eq!(sets(&dense), sets(&implicit));
            let listed = |co| {
                imputed_constraints(co, &t, &[Kind::MustLink, Kind::CannotLink], u64::MAX, &context())
            };
            prop_assert_eq!(listed(&dense).unwrap(), listed(&implicit).unwrap());
            let must_links = |co, most| {
                imputed_constraints(co, &t, &[Kind::MustLink], most, &context())
                    .map_err(|e| e.to_string())
            };
            prop_assert_eq!(must_links(&dense, u64::MAX), must_links(&implicit, u64::MAX));
            prop_assert_eq!(must_links(&dense, 3), must_links(&implicit, 3));
            // Slowly: pair by pair.
            let mut slow = Imputed::default();
            for i in 0..e.n() {
                for j in 0..i {
                    let known = u64::from(classes[i].is_some() && classes[j].is_some());
                    let alike = u64::from(known == 1 && classes[i] == classes[j]);
                    slow.add(t.judge(dense.count(i, j), e.len() as u32), (1, known, alike));
                    slow.must.wanted += alike;
                    slow.cannot.wanted += known - alike;
                }
            }
            prop_assert_eq!(at(&dense), slow);
            // A stricter threshold imputes no more, and its neighbourhoods refine these.
            let strict = Thresholds::new(1.0, 0.0, e.len()).unwrap();
            let fewer = impute(&dense, &strict, None, &context()).unwrap();
            prop_assert!(fewer.must.selected <= slow.must.selected);
            prop_assert!(fewer.cannot.selected <= slow.cannot.selected);
            let wide = sets(&dense);
            for set in neighbourhoods(&dense, &strict, MAX_CANDIDATES, &context()).unwrap() {
                prop_assert!(wide.iter().any(|w| set.iter().all(|i| w.contains(i))));
            }
        }
    }
}
