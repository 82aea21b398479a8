//! Numbers of imputed pairs and of pairs that classes confirm, and the distribution of the counts.
//!
//! Source: [Greene2007] Eqs. 2 and 6, Table 1.

use mustlink_core::{Context, Kind, Result};

use super::thresholds::Thresholds;
use crate::ensemble::co_association::CoAssociation;
use crate::ensemble::signatures::Signatures;

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
    /// Share of the imputed pairs that are correct; `None` without any.
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

/// Pairs of n objects.
pub(super) fn pairs(n: u64) -> u64 {
    n * n.saturating_sub(1) / 2
}

/// How the objects of a group fall into classes: (class, objects), sorted; unknown ones left out.
type ClassCounts = Vec<(u32, u64)>;

/// Groups of objects that all members label alike (or single objects, with a matrix), and their
/// classes.
pub(super) struct SignatureGroups<'a> {
    pub(super) signatures: Option<&'a Signatures>,
    classes: Vec<ClassCounts>,
}

impl<'a> SignatureGroups<'a> {
    pub(super) fn new(co: &'a CoAssociation, classes: Option<&[Option<u32>]>) -> Self {
        let signatures = co.signatures();
        let counts = |objects: &[u32]| {
            let class = |&i: &u32| classes.and_then(|c| c[i as usize]);
            let mut known: Vec<u32> = objects.iter().filter_map(class).collect();
            known.sort_unstable();
            let runs = known.chunk_by(|a, b| a == b);
            runs.map(|r| (r[0], r.len() as u64)).collect::<ClassCounts>()
        };
        let classes = match signatures {
            Some(s) => (0..s.len()).map(|a| counts(s.objects(a))).collect(),
            None => (0..co.n() as u32).map(|i| counts(&[i])).collect(),
        };
        SignatureGroups { signatures, classes }
    }

    fn size(&self, a: usize) -> u64 {
        self.signatures.map_or(1, |s| s.size(a) as u64)
    }

    /// Pairs between two groups: all, those of known class, those of one class.
    fn between(&self, a: usize, b: usize) -> (u64, u64, u64) {
        let known = |a: usize| self.classes[a].iter().map(|m| m.1).sum::<u64>();
        let same = |&(class, count): &(u32, u64)| {
            let other = self.classes[b].binary_search_by_key(&class, |m| m.0);
            other.map_or(0, |at| count * self.classes[b][at].1)
        };
        let alike = self.classes[a].iter().map(same).sum();
        (self.size(a) * self.size(b), known(a) * known(b), alike)
    }

    /// Pairs within a group, in the same three numbers.
    fn within(&self, a: usize) -> (u64, u64, u64) {
        let known = self.classes[a].iter().map(|m| m.1).sum();
        let alike = self.classes[a].iter().map(|m| pairs(m.1)).sum();
        (pairs(self.size(a)), pairs(known), alike)
    }
}

impl Imputed {
    pub(super) fn add(&mut self, kind: Option<Kind>, (all, known, alike): (u64, u64, u64)) {
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
    let groups = SignatureGroups::new(co, classes);
    let members = co.members() as u32;
    let parts = co.fold(
        Imputed::default,
        |sum, a, first, counts, joints| {
            for (at, &count) in counts.iter().enumerate() {
                let joint = joints.map_or(members, |j| j[at]);
                let kind = thresholds.judge(count, joint);
                if kind.is_some() {
                    sum.add(kind, groups.between(a, first + at));
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
    if let Some(s) = groups.signatures {
        for a in (0..s.len()).filter(|&a| s.size(a) > 1) {
            total.add(thresholds.judge(s.presence(a), s.presence(a)), groups.within(a));
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
    /// The same for pairs of one class.
    pub alike: Vec<u64>,
    /// The same for pairs of different classes.
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
    let groups = SignatureGroups::new(co, classes);
    let members = co.members();
    let parts = co.fold(
        || Histogram::new(members),
        |sum, a, first, counts, _| {
            for (at, &count) in counts.iter().enumerate() {
                sum.add(count, groups.between(a, first + at));
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
    if let Some(s) = groups.signatures {
        for a in (0..s.len()).filter(|&a| s.size(a) > 1) {
            total.add(s.presence(a), groups.within(a));
        }
    }
    Ok(total)
}
