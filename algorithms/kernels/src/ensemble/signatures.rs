//! Groups of objects that all members of an ensemble label alike.
//!
//! The labels an object has in all members are its signature. Objects with one signature form a
//! group; how members label two objects depends on their groups alone. Labels are kept once per
//! group, object by object, in the narrowest integers that hold them, so that the number of members
//! that agree on two groups is one pass over two short rows.

use mustlink_core::clustering::NONE;
use mustlink_core::ensemble::Ensemble;
use mustlink_core::reduce;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use crate::simd::dispatch::dispatch;

/// An integer that holds labels; its largest value stands for a missing one.
pub(crate) trait Lane: Copy + Ord + Send + Sync + Default + 'static {
    /// A missing label.
    const MISSING: Self;
    /// The label in this width.
    fn narrow(label: u32) -> Self;
    /// The label again.
    fn widen(self) -> u32;
    /// The number as it is stored.
    fn raw(self) -> u32;
}

macro_rules! lane {
    ($($int:ty),*) => {$(
        impl Lane for $int {
            const MISSING: Self = <$int>::MAX;
            fn narrow(label: u32) -> Self {
                // `NONE` is all ones in every width.
                label as $int
            }
            fn raw(self) -> u32 {
                u32::from(self)
            }
            fn widen(self) -> u32 {
                if self == <$int>::MAX { NONE } else { u32::from(self) }
            }
        }
    )*};
}
lane!(u8, u16, u32);

/// Which width the labels of an ensemble need; one value of each is kept free for missing labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    /// Up to 255 clusters.
    Byte,
    /// Up to 65 535 clusters.
    Short,
    /// More.
    Word,
}

impl Width {
    pub(crate) fn of(ensemble: &Ensemble) -> Width {
        let k = ensemble.members().iter().map(|m| m.k).max().unwrap_or(0);
        match k {
            0..=255 => Width::Byte,
            256..=65_535 => Width::Short,
            _ => Width::Word,
        }
    }

    fn bytes(self) -> usize {
        match self {
            Width::Byte => 1,
            Width::Short => 2,
            Width::Word => 4,
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) enum Rows {
    Byte(Vec<u8>),
    Short(Vec<u16>),
    Word(Vec<u32>),
}

/// Runs the same code on rows of any width.
macro_rules! with_rows {
    ($rows:expr, $name:ident => $body:expr) => {
        match $rows {
            $crate::ensemble::signatures::Rows::Byte($name) => $body,
            $crate::ensemble::signatures::Rows::Short($name) => $body,
            $crate::ensemble::signatures::Rows::Word($name) => $body,
        }
    };
}
pub(crate) use with_rows;

/// Objects grouped by their labels in all members.
#[derive(Debug, Clone)]
pub struct Signatures {
    members: usize,
    group_of: Vec<u32>,
    offsets: Vec<usize>,
    objects: Vec<u32>,
    pub(crate) rows: Rows,
    /// Members that saw each group, unless all saw all.
    presence: Option<Vec<u32>>,
    /// The first cluster of each member if the clusters of all members are numbered consecutively.
    first_cluster: Vec<u32>,
}

impl Signatures {
    /// Groups the objects of `ensemble`. O(τ n log n) comparisons at worst, O(τ n) in practice.
    pub fn new(ensemble: &Ensemble) -> Self {
        match Width::of(ensemble) {
            Width::Byte => Signatures::with::<u8>(ensemble, Rows::Byte),
            Width::Short => Signatures::with::<u16>(ensemble, Rows::Short),
            Width::Word => Signatures::with::<u32>(ensemble, Rows::Word),
        }
    }

    /// Bytes held for `n` objects in as many groups, at worst.
    pub fn bytes(n: usize, members: usize, k: usize) -> u64 {
        let width = match k {
            0..=255 => Width::Byte,
            256..=65_535 => Width::Short,
            _ => Width::Word,
        };
        // While groups are formed the rows of all objects are held beside those of the groups.
        (2 * width.bytes() * members * n + 40 * n) as u64
    }

    fn with<L: Lane>(ensemble: &Ensemble, wrap: impl Fn(Vec<L>) -> Rows) -> Self {
        let (n, tau) = (ensemble.n(), ensemble.len());
        let members = ensemble.members();
        let mut all = vec![L::default(); n * tau];
        reduce::over(all.chunks_mut(64 * tau), |block, rows| {
            for (t, member) in members.iter().enumerate() {
                for (at, row) in rows.chunks_exact_mut(tau).enumerate() {
                    row[t] = L::narrow(member.labels[64 * block + at]);
                }
            }
        });
        let row = |i: u32| &all[i as usize * tau..(i as usize + 1) * tau];
        // Hashes distinguish nearly all rows; rows of equal hashes are compared.
        let hash = |i: u32| {
            row(i).iter().fold(0u64, |h, l| {
                (h.rotate_left(5) ^ u64::from(l.raw())).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            })
        };
        let mut hashed: Vec<(u64, u32)> = reduce::map(n, |i| (hash(i as u32), i as u32));
        hashed.par_sort_unstable_by(|&(h, a), &(g, b)| {
            h.cmp(&g).then_with(|| row(a).cmp(row(b))).then(a.cmp(&b))
        });
        let order: Vec<u32> = hashed.into_iter().map(|(_, i)| i).collect();
        let mut first = vec![0u32; n];
        for at in 0..n {
            let i = order[at];
            let same = at > 0 && row(i) == row(order[at - 1]);
            first[i as usize] = if same { first[order[at - 1] as usize] } else { i };
        }
        // Groups are numbered by their smallest object.
        let mut group_of = vec![0u32; n];
        let mut sizes = Vec::new();
        let mut representatives = Vec::new();
        for i in 0..n {
            if first[i] as usize == i {
                group_of[i] = sizes.len() as u32;
                sizes.push(0usize);
                representatives.push(i as u32);
            } else {
                group_of[i] = group_of[first[i] as usize];
            }
            sizes[group_of[i] as usize] += 1;
        }
        let g = sizes.len();
        let mut offsets = vec![0usize; g + 1];
        for a in 0..g {
            offsets[a + 1] = offsets[a] + sizes[a];
        }
        let mut next = offsets.clone();
        let mut objects = vec![0u32; n];
        for i in 0..n {
            let a = group_of[i] as usize;
            objects[next[a]] = i as u32;
            next[a] += 1;
        }
        let rows = if g == n {
            all
        } else {
            let mut rows = Vec::with_capacity(g * tau);
            representatives.iter().for_each(|&i| rows.extend_from_slice(row(i)));
            rows
        };
        let seen = |a: usize| rows[a * tau..][..tau].iter().filter(|&&l| l != L::MISSING).count();
        let seen = reduce::map(g, |a| seen(a) as u32);
        let complete = seen.iter().all(|&s| s as usize == tau);
        let mut first_cluster = vec![0u32; tau + 1];
        for (t, m) in members.iter().enumerate() {
            first_cluster[t + 1] = first_cluster[t] + m.k as u32;
        }
        Signatures {
            members: tau,
            group_of,
            offsets,
            objects,
            rows: wrap(rows),
            presence: (!complete).then_some(seen),
            first_cluster,
        }
    }

    /// Number of objects.
    pub fn n(&self) -> usize {
        self.group_of.len()
    }

    /// Number of members (τ).
    pub fn members(&self) -> usize {
        self.members
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Never true: there is at least one object.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True if every member saw every object.
    pub fn is_complete(&self) -> bool {
        self.presence.is_none()
    }

    /// The group of object `i`. Groups are numbered by their smallest object.
    pub fn group_of(&self, i: usize) -> usize {
        self.group_of[i] as usize
    }

    /// The objects of group `a`, in order.
    pub fn objects(&self, a: usize) -> &[u32] {
        &self.objects[self.offsets[a]..self.offsets[a + 1]]
    }

    /// Number of objects of group `a`.
    pub fn size(&self, a: usize) -> usize {
        self.offsets[a + 1] - self.offsets[a]
    }

    /// Members that saw group `a`.
    pub fn presence(&self, a: usize) -> u32 {
        self.presence.as_ref().map_or(self.members as u32, |p| p[a])
    }

    /// Members that put objects of groups `a` and `b` into one cluster.
    pub fn count(&self, a: usize, b: usize) -> u32 {
        let mut out = [0];
        self.counts_with(a, b, &mut out);
        out[0]
    }

    /// Members that saw both groups.
    pub fn joint(&self, a: usize, b: usize) -> u32 {
        let Some(presence) = &self.presence else { return self.members as u32 };
        let tau = self.members;
        let unseen = with_rows!(&self.rows, rows => {
            both_missing(&rows[a * tau..][..tau], &rows[b * tau..][..tau])
        });
        // |a ∩ b| = |a| + |b| − |a ∪ b|.
        presence[a] + presence[b] + unseen - tau as u32
    }

    /// Bytes of the labels of a group.
    pub(crate) fn row_bytes(&self) -> usize {
        fn each<L>(_: &[L]) -> usize {
            size_of::<L>()
        }
        self.members * with_rows!(&self.rows, rows => each(rows))
    }

    /// Number of clusters of each member.
    pub(crate) fn clusters(&self) -> Vec<u32> {
        self.first_cluster.windows(2).map(|w| w[1] - w[0]).collect()
    }

    /// Label of group `a` in member `t`, or `NONE`.
    pub fn label(&self, a: usize, t: usize) -> u32 {
        with_rows!(&self.rows, rows => rows[a * self.members + t].widen())
    }

    /// For each of the groups `first..first + out.len()` the members that put it together with `a`.
    fn counts_with(&self, a: usize, first: usize, out: &mut [u32]) {
        struct Equal<'a, L> {
            one: &'a [L],
            rows: &'a [L],
            out: &'a mut [u32],
            complete: bool,
        }
        impl<L: Lane> WithSimd for Equal<'_, L> {
            type Output = ();
            #[inline(always)]
            fn with_simd<S: Simd>(self, _: S) {
                for (o, row) in self.out.iter_mut().zip(self.rows.chunks_exact(self.one.len())) {
                    *o = equal(self.one, row);
                    if !self.complete {
                        *o -= both_missing(self.one, row);
                    }
                }
            }
        }
        let tau = self.members;
        let complete = self.is_complete();
        with_rows!(&self.rows, rows => dispatch(Equal {
            one: &rows[a * tau..][..tau],
            rows: &rows[first * tau..],
            out,
            complete,
        }));
    }

    /// For every group the members that put it together with group `a`. O(g τ), in parallel.
    pub fn row(&self, a: usize) -> Vec<u32> {
        let mut out = vec![0; self.len()];
        reduce::over(out.chunks_mut(reduce::BLOCK), |b, out| {
            self.counts_with(a, b * reduce::BLOCK, out);
        });
        out
    }

    /// For each group of `of` the sum of counts with all objects in `objects` (an object listed
    /// twice counts twice). O(τ (|of| + |objects|)): label histograms, never pairs.
    pub fn sums(&self, of: &[u32], objects: &[u32]) -> Vec<u64> {
        let tau = self.members;
        let mut histogram = vec![0u32; self.first_cluster[tau] as usize];
        with_rows!(&self.rows, rows => {
            let clusters = |a: usize| {
                rows[a * tau..][..tau]
                    .iter()
                    .zip(&self.first_cluster)
                    .filter(|(l, _)| !is_missing(**l))
                    .map(|(l, first)| (first + l.widen()) as usize)
            };
            for &j in objects {
                clusters(self.group_of(j as usize)).for_each(|c| histogram[c] += 1);
            }
            reduce::map(of.len(), |at| {
                clusters(of[at] as usize).map(|c| u64::from(histogram[c])).sum()
            })
        })
    }
}

fn is_missing<L: Lane>(label: L) -> bool {
    label == L::MISSING
}

/// Positions at which two rows are equal.
#[inline(always)]
fn equal<L: Lane>(a: &[L], b: &[L]) -> u32 {
    const WIDTH: usize = 32;
    let mut total = 0;
    for (a, b) in a.chunks(255 * WIDTH).zip(b.chunks(255 * WIDTH)) {
        let (whole_a, whole_b) = (a.chunks_exact(WIDTH), b.chunks_exact(WIDTH));
        let rest = whole_a.remainder().iter().zip(whole_b.remainder());
        let mut lanes = [0u8; WIDTH];
        for (a, b) in whole_a.zip(whole_b) {
            for l in 0..WIDTH {
                lanes[l] += u8::from(a[l] == b[l]);
            }
        }
        total += lanes.iter().map(|&l| u32::from(l)).sum::<u32>();
        total += rest.filter(|(a, b)| a == b).count() as u32;
    }
    total
}

/// Positions at which both rows miss a label.
#[inline(always)]
fn both_missing<L: Lane>(a: &[L], b: &[L]) -> u32 {
    a.iter().zip(b).filter(|(a, b)| is_missing(**a) && is_missing(**b)).count() as u32
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use mustlink_core::ensemble::Member;

    /// The ensemble of twelve objects and five members that runs through the tests.
    pub(crate) fn e12() -> Ensemble {
        let members = [
            [0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2],
            [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2],
            [0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2],
            [0, 0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 2],
            [0, 0, 0, 0, 3, 1, 1, 1, 1, 2, 2, 2],
        ];
        Ensemble::new(12, members.iter().map(|m| Member::from_labels(m)).collect()).unwrap()
    }

    #[test]
    fn e12_groups() {
        let s = Signatures::new(&e12());
        let groups: Vec<&[u32]> = (0..s.len()).map(|a| s.objects(a)).collect();
        let expected: [&[u32]; 8] = [&[0, 1, 2], &[3], &[4], &[5, 6], &[7], &[8], &[9], &[10, 11]];
        assert_eq!(groups, expected);
        assert_eq!((s.count(0, 2), s.count(1, 2), s.size(0), s.group_of(6)), (2, 3, 3, 3));
        // Σ over {0,1,2,3} of the counts of objects 0 and 3: 5+5+5+4 and 4+4+4+5.
        assert_eq!(s.sums(&[0, 1], &[0, 1, 2, 3]), [19, 17]);
    }

    #[test]
    fn missing_labels_agree_with_nothing() {
        let m = |l: &[u32]| Member::from_labels(l);
        let e = Ensemble::new(3, vec![m(&[0, 0, 1]), m(&[NONE, NONE, 0]), m(&[0, NONE, 0])]);
        let s = Signatures::new(&e.unwrap());
        assert_eq!((s.count(0, 1), s.joint(0, 1)), (1, 1));
        assert_eq!((s.count(0, 2), s.joint(0, 2)), (1, 2));
        assert_eq!((s.count(0, 0), s.presence(0), s.presence(1)), (2, 2, 1));
        assert_eq!(s.sums(&[0], &[0, 1, 2]), [2 + 1 + 1]);
    }
}
