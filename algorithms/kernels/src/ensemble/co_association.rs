//! Co-association: the number of members that put two objects into one cluster.
//!
//! [`CoAssociation`] answers in integers, never in accumulated floating point: c_ij members put i
//! and j together, p_ij saw both. Two forms give the same numbers. The *dense* form holds the upper
//! triangle packed in the narrowest integers that can hold the number of members; the *implicit*
//! form holds the labels of each [group of like objects](crate::ensemble::signatures) and compares rows
//! on demand. [`CoAssociation::new`] takes the dense one where it fits a limit.
//!
//! Whatever looks at all pairs (histograms, imputed constraints) streams over them with
//! [`CoAssociation::fold`], which needs no matrix.
//!
//! Sources: [FredJain2005] (the matrix); [Greene2007] Fig. 3.
#![allow(clippy::unnecessary_cast)] // cells have one of three widths, the widest is u32

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use mustlink_core::clustering::NONE;
use mustlink_core::ensemble::Ensemble;
use mustlink_core::prelude::{__mustlink, options};
use mustlink_core::{Context, Error, Result, reduce};

use crate::ensemble::bit_counts::{Labels, Visit, stripes};
use crate::ensemble::signatures::{Lane, Signatures, Width, with_rows};

/// The matrix that is held by default at most: 2 GiB.
pub const MAX_MATRIX_BYTES: u64 = 2 << 30;

/// Storage of co-associations.
#[options]
pub enum Representation {
    /// Dense if the matrix fits into `max_matrix_bytes`, otherwise implicit.
    #[default]
    Auto,
    /// Packed counts of all pairs; an error if they do not fit.
    Dense,
    /// Labels of each group of like objects; no matrix.
    Implicit,
}

/// Divisor of a count.
#[options]
pub enum Normalise {
    /// All members.
    #[default]
    Members,
    /// The members that saw both objects; pairs that no member saw are unknown.
    CoPresence,
}

/// An upper triangle without the diagonal, row by row.
#[derive(Debug, Clone)]
enum Triangle {
    Byte(Vec<u8>),
    Short(Vec<u16>),
    Word(Vec<u32>),
}

macro_rules! with_cells {
    ($triangle:expr, $name:ident => $body:expr) => {
        match $triangle {
            Triangle::Byte($name) => $body,
            Triangle::Short($name) => $body,
            Triangle::Word($name) => $body,
        }
    };
}

#[derive(Debug, Clone)]
struct Dense {
    n: usize,
    members: usize,
    counts: Triangle,
    /// Members that saw both, unless all saw all.
    joints: Option<Triangle>,
    /// Members that saw each object, unless all saw all.
    presence: Option<Vec<u32>>,
}

#[derive(Debug, Clone)]
enum Form {
    Dense(Dense),
    Implicit(Signatures),
}

/// For every pair of objects the number of members that put them together.
#[derive(Debug, Clone)]
pub struct CoAssociation {
    form: Form,
}

/// The place of the pairs (i, i + 1), (i, i + 2) … in the packed triangle.
fn row_start(n: usize, i: usize) -> usize {
    i * n - i * (i + 1) / 2
}

fn at(n: usize, i: usize, j: usize) -> usize {
    let (i, j) = (i.min(j), i.max(j));
    row_start(n, i) + j - i - 1
}

impl CoAssociation {
    /// The co-associations of `ensemble` in the given form.
    ///
    /// # Errors
    /// `BadParam` naming the bytes needed when `Dense` exceeds `max_matrix_bytes`; cancellation.
    pub fn new(
        ensemble: &Ensemble,
        representation: Representation,
        max_matrix_bytes: u64,
        ctx: &Context,
    ) -> Result<Self> {
        let complete = is_complete(ensemble);
        let needed = matrix_bytes(ensemble.n(), ensemble.len(), complete);
        let fits = needed <= max_matrix_bytes;
        match representation {
            Representation::Dense if !fits => Err(Error::bad_param(
                "max_matrix_bytes",
                max_matrix_bytes,
                format!(
                    "at least {needed} for {} objects, or representation = \"implicit\"",
                    ensemble.n()
                ),
            )),
            Representation::Auto | Representation::Dense if fits => {
                let form = Form::Dense(Dense::new(ensemble, complete, ctx)?);
                Ok(CoAssociation { form })
            }
            _ => Ok(CoAssociation { form: Form::Implicit(Signatures::new(ensemble)) }),
        }
    }

    /// The packed matrix, whatever its size.
    ///
    /// # Errors
    /// Cancellation.
    pub fn dense(ensemble: &Ensemble, ctx: &Context) -> Result<Self> {
        CoAssociation::new(ensemble, Representation::Dense, u64::MAX, ctx)
    }

    /// The implicit form: no matrix.
    pub fn implicit(ensemble: &Ensemble) -> Self {
        CoAssociation { form: Form::Implicit(Signatures::new(ensemble)) }
    }

    /// Number of objects.
    pub fn n(&self) -> usize {
        match &self.form {
            Form::Dense(d) => d.n,
            Form::Implicit(s) => s.n(),
        }
    }

    /// Number of members (τ).
    pub fn members(&self) -> usize {
        match &self.form {
            Form::Dense(d) => d.members,
            Form::Implicit(s) => s.members(),
        }
    }

    /// True if every member saw every object.
    pub fn is_complete(&self) -> bool {
        match &self.form {
            Form::Dense(d) => d.joints.is_none(),
            Form::Implicit(s) => s.is_complete(),
        }
    }

    /// The groups of like objects, in the implicit form.
    pub fn signatures(&self) -> Option<&Signatures> {
        match &self.form {
            Form::Dense(_) => None,
            Form::Implicit(s) => Some(s),
        }
    }

    /// Members that put `i` and `j` together; of an object with itself, the members that saw it.
    pub fn count(&self, i: usize, j: usize) -> u32 {
        match &self.form {
            Form::Dense(d) if i == j => d.presence(i),
            Form::Dense(d) => d.counts.get(at(d.n, i, j)),
            Form::Implicit(s) => s.count(s.group_of(i), s.group_of(j)),
        }
    }

    /// Members that saw both `i` and `j`.
    pub fn joint(&self, i: usize, j: usize) -> u32 {
        match &self.form {
            Form::Dense(d) if i == j => d.presence(i),
            Form::Dense(d) => {
                d.joints.as_ref().map_or(d.members as u32, |joints| joints.get(at(d.n, i, j)))
            }
            Form::Implicit(s) => s.joint(s.group_of(i), s.group_of(j)),
        }
    }

    /// A_ij in [0, 1]; `None` for a pair no member saw, when divided by those that did.
    pub fn association(&self, i: usize, j: usize, normalise: Normalise) -> Option<f64> {
        let seen = match normalise {
            Normalise::Members => self.members() as u32,
            Normalise::CoPresence => self.joint(i, j),
        };
        (seen > 0).then(|| f64::from(self.count(i, j)) / f64::from(seen))
    }

    /// The counts of `i` with every object, itself included. Dense O(n), implicit O(g τ + n).
    pub fn row(&self, i: usize) -> Vec<u32> {
        let n = self.n();
        match &self.form {
            Form::Dense(d) => {
                let mut out: Vec<u32> = (0..i).map(|j| d.counts.get(at(n, j, i))).collect();
                out.push(d.presence(i));
                let start = row_start(n, i);
                with_cells!(&d.counts, cells => {
                    out.extend(cells[start..start + n - i - 1].iter().map(|&c| c as u32));
                });
                out
            }
            Form::Implicit(s) => {
                let by_group = s.row(s.group_of(i));
                (0..n).map(|j| by_group[s.group_of(j)]).collect()
            }
        }
    }

    /// For each object of `of` the sum of its counts with all of `objects` (with itself, if listed:
    /// the members that saw it). Dense O(|of| |objects|), implicit O(τ (|of| + |objects|)).
    pub fn sums(&self, of: &[u32], objects: &[u32]) -> Vec<u64> {
        match &self.form {
            Form::Dense(_) => {
                let count = |i: u32, j: u32| u64::from(self.count(i as usize, j as usize));
                reduce::map(of.len(), |at| objects.iter().map(|&j| count(of[at], j)).sum())
            }
            Form::Implicit(s) => {
                let groups: Vec<u32> = of.iter().map(|&i| s.group_of(i as usize) as u32).collect();
                s.sums(&groups, objects)
            }
        }
    }

    /// Goes through all pairs of units: objects in the dense form, groups of like objects in the
    /// implicit one ([`CoAssociation::signatures`]). `visit` gets, for unit `i`, the counts (and,
    /// unless complete, the joint counts) with consecutive units from `first` > i on; each pair
    /// comes once. Every thread folds into its own value, and these come back in a fixed order.
    ///
    /// # Errors
    /// Cancellation.
    pub fn fold<T: Send>(
        &self,
        init: impl Fn() -> T + Sync,
        visit: impl Fn(&mut T, usize, usize, &[u32], Option<&[u32]>) + Sync,
        ctx: &Context,
    ) -> Result<Vec<T>> {
        let (units, bytes, clusters) = match &self.form {
            Form::Dense(d) => (d.n, 1, Vec::new()),
            Form::Implicit(s) => (s.len(), s.row_bytes(), s.clusters()),
        };
        let stripes = stripes(units, bytes);
        let done = AtomicU64::new(0);
        reduce::try_map(stripes.len(), |at| {
            ctx.check()?;
            let mut value = init();
            let mut visit = |i: usize, first: usize, counts: &[u32], joints: Option<&[u32]>| {
                visit(&mut value, i, first, counts, joints);
            };
            self.visit(stripes[at].clone(), &clusters, &mut visit, ctx)?;
            let done = 1 + done.fetch_add(1, Ordering::Relaxed);
            ctx.progress(done, Some(stripes.len() as u64));
            Ok(value)
        })
    }

    /// Visits the pairs of the units `rows` with those after them.
    fn visit(
        &self,
        rows: Range<usize>,
        clusters: &[u32],
        visit: Visit,
        ctx: &Context,
    ) -> Result<()> {
        match &self.form {
            Form::Dense(d) => {
                let (mut counts, mut joints) = (Vec::new(), Vec::new());
                for i in rows {
                    let cells = row_start(d.n, i)..row_start(d.n, i) + d.n - i - 1;
                    d.counts.widen(cells.clone(), &mut counts);
                    let seen = d.joints.as_ref().map(|j| {
                        j.widen(cells, &mut joints);
                        &joints[..]
                    });
                    visit(i, i + 1, &counts, seen);
                }
            }
            Form::Implicit(s) => {
                let (tau, n, complete) = (s.members(), s.len(), s.is_complete());
                with_rows!(&s.rows, labels => {
                    let labels = |t, groups: Range<usize>, to: &mut [_]| {
                        to.iter_mut().zip(groups).for_each(|(to, a)| *to = labels[a * tau + t]);
                    };
                    Labels { n, clusters, complete, labels: &labels }.count(rows, visit, ctx)?;
                });
            }
        }
        Ok(())
    }
}

/// True if every member saw every object.
pub fn is_complete(ensemble: &Ensemble) -> bool {
    let complete = |labels: &[u32]| !labels.contains(&NONE);
    ensemble.members().iter().all(|m| complete(&m.labels))
}

/// Bytes of the packed matrix of `n` objects and `members` members; twice as many when labels may be
/// missing.
pub fn matrix_bytes(n: usize, members: usize, complete: bool) -> u64 {
    let cell = match members {
        0..=255 => 1,
        256..=65_535 => 2,
        _ => 4,
    };
    let n = n as u64;
    n * n.saturating_sub(1) / 2 * cell * if complete { 1 } else { 2 }
}

impl Triangle {
    fn get(&self, at: usize) -> u32 {
        with_cells!(self, cells => cells[at] as u32)
    }

    fn widen(&self, range: Range<usize>, out: &mut Vec<u32>) {
        out.clear();
        with_cells!(self, cells => out.extend(cells[range].iter().map(|&c| c as u32)));
    }
}

/// A cell of a triangle.
trait Cell: Copy + Default + Send + Sync {
    fn of(count: u32) -> Self;
    fn wrap(cells: Vec<Self>) -> Triangle;
}

macro_rules! cell {
    ($($int:ty => $form:ident),*) => {$(
        impl Cell for $int {
            fn of(count: u32) -> Self {
                // The width was chosen by the number of members, which no count exceeds.
                count as $int
            }
            fn wrap(cells: Vec<Self>) -> Triangle {
                Triangle::$form(cells)
            }
        }
    )*};
}
cell!(u8 => Byte, u16 => Short, u32 => Word);

impl Dense {
    fn new(ensemble: &Ensemble, complete: bool, ctx: &Context) -> Result<Self> {
        match ensemble.len() {
            0..=255 => Dense::cells::<u8>(ensemble, complete, ctx),
            256..=65_535 => Dense::cells::<u16>(ensemble, complete, ctx),
            _ => Dense::cells::<u32>(ensemble, complete, ctx),
        }
    }

    fn cells<C: Cell>(ensemble: &Ensemble, complete: bool, ctx: &Context) -> Result<Self> {
        match Width::of(ensemble) {
            Width::Byte => Dense::fill::<C, u8>(ensemble, complete, ctx),
            Width::Short => Dense::fill::<C, u16>(ensemble, complete, ctx),
            Width::Word => Dense::fill::<C, u32>(ensemble, complete, ctx),
        }
    }

    fn fill<C: Cell, L: Lane>(ensemble: &Ensemble, complete: bool, ctx: &Context) -> Result<Self> {
        let (n, tau) = (ensemble.n(), ensemble.len());
        let labels: Vec<&[u32]> = ensemble.members().iter().map(|m| &m.labels[..]).collect();
        let clusters: Vec<u32> = ensemble.members().iter().map(|m| m.k as u32).collect();
        let narrow = |t: usize, objects: Range<usize>, to: &mut [L]| {
            to.iter_mut().zip(&labels[t][objects]).for_each(|(to, &l)| *to = L::narrow(l));
        };
        let pairs = Labels { n, clusters: &clusters, complete, labels: &narrow };
        let size = n * (n - 1) / 2;
        let mut counts = vec![C::default(); size];
        let mut joints = vec![C::default(); if complete { 0 } else { size }];
        // The rows of a stripe lie together in the triangle: stripes share no cell.
        let mut work = Vec::new();
        let (mut counts_left, mut joints_left) = (&mut counts[..], &mut joints[..]);
        for rows in stripes(n, tau * size_of::<L>()) {
            let cells = row_start(n, rows.end) - row_start(n, rows.start);
            let (own_counts, rest) = counts_left.split_at_mut(cells);
            counts_left = rest;
            let (own_joints, rest) = joints_left.split_at_mut(if complete { 0 } else { cells });
            joints_left = rest;
            work.push((rows, own_counts, own_joints));
        }
        let total = work.len() as u64;
        let done = AtomicU64::new(0);
        let filled = reduce::over(work.into_iter(), |_, (rows, own_counts, own_joints)| {
            let start = row_start(n, rows.start);
            let put = |cells: &mut [C], i: usize, first: usize, values: &[u32]| {
                let from = at(n, i, first) - start;
                let cells = &mut cells[from..from + values.len()];
                cells.iter_mut().zip(values).for_each(|(c, &v)| *c = C::of(v));
            };
            let mut visit = |i: usize, first: usize, counts: &[u32], joints: Option<&[u32]>| {
                put(own_counts, i, first, counts);
                if let Some(joints) = joints {
                    put(own_joints, i, first, joints);
                }
            };
            pairs.count(rows, &mut visit, ctx)?;
            let done = 1 + done.fetch_add(1, Ordering::Relaxed);
            ctx.progress(done, Some(total));
            Ok(())
        });
        filled.into_iter().collect::<Result<()>>()?;
        let seen = |i: usize| labels.iter().filter(move |l| l[i] != NONE);
        let presence: Option<Vec<u32>> =
            (!complete).then(|| reduce::map(n, |i| seen(i).count() as u32));
        let joints = (!complete).then(|| C::wrap(joints));
        Ok(Dense { n, members: tau, counts: C::wrap(counts), joints, presence })
    }

    fn presence(&self, i: usize) -> u32 {
        self.presence.as_ref().map_or(self.members as u32, |p| p[i])
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::ensemble::signatures::tests::e12;
    use mustlink_core::ensemble::Member;
    use mustlink_laws::strategies;
    use proptest::prelude::*;

    fn context() -> Context {
        Context::new(1)
    }

    #[test]
    fn e12_counts() {
        let rows = [
            (0, [5, 5, 5, 4, 2, 0, 0, 0, 0, 0, 0, 0]),
            (3, [4, 4, 4, 5, 3, 1, 1, 1, 0, 0, 0, 0]),
            (4, [2, 2, 2, 3, 5, 2, 2, 2, 1, 0, 0, 0]),
            (7, [0, 0, 0, 1, 2, 4, 4, 5, 4, 2, 1, 1]),
            (8, [0, 0, 0, 0, 1, 3, 3, 4, 5, 3, 2, 2]),
            (9, [0, 0, 0, 0, 0, 1, 1, 2, 3, 5, 4, 4]),
        ];
        for c in
            [CoAssociation::dense(&e12(), &context()).unwrap(), CoAssociation::implicit(&e12())]
        {
            for (i, expected) in &rows {
                assert_eq!(c.row(*i), expected);
            }
            assert_eq!(c.association(0, 4, Normalise::Members), Some(0.4));
        }
    }

    #[test]
    fn the_form_follows_the_limit() {
        let form = |r, limit| CoAssociation::new(&e12(), r, limit, &context());
        assert!(form(Representation::Auto, 66).unwrap().signatures().is_none());
        assert!(form(Representation::Auto, 65).unwrap().signatures().is_some());
        assert!(form(Representation::Implicit, 66).unwrap().signatures().is_some());
        let refused = form(Representation::Dense, 65).unwrap_err().to_string();
        let text = "max_matrix_bytes: must be at least 66 for 12 objects, or representation = \"implicit\", got 65";
        assert_eq!(refused, text);
    }

    #[test]
    fn wide_labels_and_many_members_are_counted_alike() {
        // 300 and 70 000 clusters leave bytes and shorts behind, 300 members more than one block; 600
        // objects more than one tile.
        for k in [3u32, 300, 70_000] {
            let member = |t: u32| {
                let label = |i: u32| (i * (t % 7 + 1)) % 3 + if i == 20 { k } else { 0 };
                let mut m = Member::from_labels(&(0..600).map(label).collect::<Vec<_>>());
                // What counts is the largest label; only compacting would hide it.
                m.labels.iter_mut().filter(|l| **l == 1).for_each(|l| *l = k - 1);
                m.k = m.k.max(k as usize);
                m
            };
            let e = Ensemble::new(600, (0..300).map(member).collect()).unwrap();
            let (dense, implicit) =
                (CoAssociation::dense(&e, &context()).unwrap(), CoAssociation::implicit(&e));
            for i in (0..600).step_by(37) {
                for j in 0..600 {
                    let slow = e.members().iter().filter(|m| m.labels[i] == m.labels[j]).count();
                    assert_eq!(dense.count(i, j) as usize, slow);
                    assert_eq!(implicit.count(i, j) as usize, slow);
                }
            }
        }
    }

    fn slow(e: &Ensemble, i: usize, j: usize) -> (u32, u32) {
        e.members().iter().fold((0, 0), |(c, p), m| {
            let (a, b) = (m.labels[i], m.labels[j]);
            let both = a != NONE && b != NONE;
            (c + u32::from(both && a == b), p + u32::from(both))
        })
    }

    /// Ensembles of 1 to 8 members with few clusters, some labels missing where `missing`.
    pub(crate) fn ensembles(missing: bool) -> impl Strategy<Value = Ensemble> {
        (1usize..90).prop_flat_map(move |n| strategies::ensemble(n, 1..=8, 4, missing))
    }

    proptest! {
        #[test]
        fn both_forms_count_what_is_there(e in prop::bool::ANY.prop_flat_map(ensembles)) {
            let forms =
                [CoAssociation::dense(&e, &context()).unwrap(), CoAssociation::implicit(&e)];
            let some: Vec<u32> = (0..e.n() as u32).filter(|i| i % 3 != 1).collect();
            for c in forms {
                prop_assert_eq!(c.is_complete(), is_complete(&e));
                for i in 0..e.n() {
                    let row = c.row(i);
                    for j in 0..e.n() {
                        let (count, joint) = slow(&e, i, j);
                        prop_assert_eq!((c.count(i, j), c.joint(i, j), row[j]), (count, joint, count));
                    }
                }
                let all: Vec<u32> = (0..e.n() as u32).collect();
                let sums = c.sums(&all, &some);
                for i in 0..e.n() {
                    let slow: u64 = some.iter().map(|&j| u64::from(c.count(i, j as usize))).sum();
                    prop_assert_eq!(sums[i], slow);
                }
                // Streaming over units weighs pairs of groups by their sizes.
                let size = |a: usize| c.signatures().map_or(1, |s| s.size(a) as u64);
                let totals = c.fold(|| (0, 0), |to, a, first, counts, joints| {
                    for (b, &count) in (first..).zip(counts) {
                        to.0 += size(a) * size(b) * u64::from(count);
                        let joint = joints.map_or(e.len() as u32, |j| j[b - first]);
                        to.1 += size(a) * size(b) * u64::from(joint);
                    }
                }, &context()).unwrap();
                let inside = |a: usize, s: &Signatures| {
                    let m = s.size(a) as u64;
                    m * (m - 1) / 2 * u64::from(s.presence(a))
                };
                let within: u64 =
                    c.signatures().map_or(0, |s| (0..s.len()).map(|a| inside(a, s)).sum());
                let (mut counts, mut joints) = (0u64, 0u64);
                for i in 0..e.n() {
                    for j in 0..i {
                        counts += u64::from(slow(&e, i, j).0);
                        joints += u64::from(slow(&e, i, j).1);
                    }
                }
                let streamed = totals.iter().fold((within, within), |s, t| (s.0 + t.0, s.1 + t.1));
                prop_assert_eq!(streamed, (counts, joints));
            }
        }

        #[test]
        fn counts_are_those_of_a_co_association(e in ensembles(false)) {
            let c = CoAssociation::dense(&e, &context()).unwrap();
            let tau = e.len() as i64;
            let n = e.n();
            let count = |i: usize, j: usize| i64::from(c.count(i, j));
            let mut total = 0;
            for i in 0..n {
                for j in 0..i {
                    prop_assert!((0..=tau).contains(&count(i, j)) && count(i, j) == count(j, i));
                    total += count(i, j);
                }
            }
            for i in 0..n.min(12) {
                for j in 0..n.min(12) {
                    for l in 0..n.min(12) {
                        prop_assert!(count(i, j) + count(j, l) - tau <= count(i, l));
                    }
                }
            }
            let pairs = |m: &Member| -> i64 {
                let mut sizes = vec![0i64; m.k];
                m.labels.iter().for_each(|&l| sizes[l as usize] += 1);
                sizes.iter().map(|s| s * (s - 1) / 2).sum()
            };
            prop_assert_eq!(total, e.members().iter().map(pairs).sum::<i64>());
            // Positive semidefinite: xᵀAx is a sum of squares.
            let x: Vec<i64> = (0..n as i64).map(|i| (i * 37) % 11 - 5).collect();
            let quadratic: i64 =
                (0..n).map(|i| (0..n).map(|j| x[i] * x[j] * count(i, j)).sum::<i64>()).sum();
            prop_assert!(quadratic >= 0);
        }

        #[test]
        fn threads_and_names_change_nothing(e in ensembles(true), shift in 1u32..5) {
            let at = |threads: usize, e: &Ensemble| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| {
                    let c = CoAssociation::dense(e, &context()).unwrap();
                    (0..e.n()).map(|i| c.row(i)).collect::<Vec<_>>()
                })
            };
            let rename = |m: &Member| {
                let named = |&l: &u32| if l == NONE { l } else { (l + shift) % m.k as u32 };
                Member { labels: m.labels.iter().map(named).collect(), ..m.clone() }
            };
            let mut renamed: Vec<Member> = e.members().iter().map(rename).collect();
            renamed.reverse();
            let renamed = Ensemble::new(e.n(), renamed).unwrap();
            prop_assert_eq!(at(1, &e), at(3, &renamed));
        }
    }
}
