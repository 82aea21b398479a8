//! Numbers of members that agree on each of very many pairs of objects.
//!
//! Columns are taken a vector of bits at a time. For every cluster of every member one such vector
//! says which of the columns are in it; a row then adds up the vectors of its own clusters. Sums are
//! held bit by bit, all lowest bits in one vector, all second ones in the next: sixteen vectors are
//! added by fifteen full adders of a few logical instructions each, so that one instruction looks at
//! as many pairs as a vector has bits, whatever the number of clusters. Of very many clusters most have none
//! of the columns; there those that have some are numbered, and have vectors alone.
//!
//! Source: carry-save adders, Warren, Hacker's Delight, §5–1.

use std::ops::Range;

use mustlink_core::{Context, Result};
use pulp::{Simd, WithSimd};

use crate::ensemble::signatures::Lane;
use crate::simd::dispatch::dispatch;
use crate::simd::vectors::lanes;

/// Labels of objects by member.
pub(crate) struct Labels<'a, L> {
    /// Number of objects.
    pub n: usize,
    /// Number of clusters of each member: labels are below it or missing.
    pub clusters: &'a [u32],
    /// True if no label is missing.
    pub complete: bool,
    /// Writes down the labels of consecutive objects in member t.
    pub labels: &'a Writer<'a, L>,
}

/// Writer of the labels of consecutive objects in a member.
pub(crate) type Writer<'a, L> = dyn Fn(usize, Range<usize>, &mut [L]) + Sync + 'a;

/// Takes the counts and the joint counts of one object with consecutive ones, of which it gets the first.
pub(crate) type Visit<'a> = &'a mut dyn FnMut(usize, usize, &[u32], Option<&[u32]>);

/// Bytes of the labels of the rows that share the vectors of their columns.
const STRIPE: usize = 2_500_000;
/// Bytes of the vectors that are held at a time: those of as many members as fit.
const NEAR: usize = 256 * 1024;
/// Bytes of the vectors of sixteen members above which only the clusters of the columns have vectors.
const FAR: usize = 4 * 1024 * 1024;

/// Consecutive rows with `bytes` bytes of labels each, few enough for every thread to get some; how
/// they are cut changes no count.
pub(crate) fn stripes(n: usize, bytes: usize) -> Vec<Range<usize>> {
    let shared = n.div_ceil(4 * rayon::current_num_threads());
    let height = shared.min(STRIPE / bytes).next_multiple_of(16).max(16);
    (0..n).step_by(height).map(|i| i..(i + height).min(n)).collect()
}

impl<L: Lane> Labels<'_, L> {
    /// Visits all pairs (i, j), i in `rows`, j > i: object i, the first of consecutive objects j, the
    /// members that agree on each of them and, unless complete, the members that saw both.
    ///
    /// # Errors
    /// Cancellation.
    pub fn count(&self, rows: Range<usize>, visit: Visit, ctx: &Context) -> Result<()> {
        let tau = self.clusters.len();
        let stride = tau.next_multiple_of(AT_ONCE);
        let mut one = vec![L::default(); rows.len() * stride];
        let mut some = vec![L::default(); rows.len()];
        for t in 0..tau {
            (self.labels)(t, rows.clone(), &mut some);
            some.iter().enumerate().for_each(|(a, &l)| one[a * stride + t] = l);
        }
        let seen = |l: &mut L| *l = if *l == L::MISSING { *l } else { L::default() };
        let mut one_seen = if self.complete { Vec::new() } else { one.clone() };
        one_seen.iter_mut().for_each(seen);
        let alone = vec![1; tau];
        // A missing label is one more cluster, in which no column is.
        let close = |rows: &mut [L], clusters: &[u32]| {
            for row in rows.chunks_exact_mut(stride) {
                for (l, &k) in row.iter_mut().zip(clusters).filter(|(l, _)| **l == L::MISSING) {
                    *l = L::narrow(k);
                }
            }
        };
        if !self.complete {
            close(&mut one, self.clusters);
            close(&mut one_seen, &alone);
        }
        let width = 64 * lanes::<f64>();
        let mut sums = Sums::new(rows.len(), tau);
        let mut joint_sums = Sums::new(if self.complete { 0 } else { rows.len() }, tau);
        let (mut counts, mut joints) = (vec![0u32; width], vec![0u32; width]);
        for first in (rows.start..self.n).step_by(width) {
            ctx.check()?;
            let columns = first..self.n.min(first + width);
            // Of the tile on the diagonal some rows need nothing.
            let above = rows.len().min(columns.end - 1 - rows.start);
            let labels = |t: usize, to: &mut [L]| (self.labels)(t, columns.clone(), to);
            sums.add(&one[..above * stride], self.clusters, columns.len(), &labels);
            if !self.complete {
                let labels = |t: usize, to: &mut [L]| {
                    labels(t, to);
                    to.iter_mut().for_each(seen);
                };
                joint_sums.add(&one_seen[..above * stride], &alone, columns.len(), &labels);
            }
            for (a, i) in rows.clone().enumerate().take(above) {
                let from = first.max(i + 1);
                let span = from - first..columns.len();
                sums.read(a, &mut counts);
                if !self.complete {
                    joint_sums.read(a, &mut joints);
                }
                let seen = (!self.complete).then(|| &joints[span.clone()]);
                visit(i, from, &counts[span], seen);
            }
        }
        Ok(())
    }
}

/// Words that begin where a vector of any width may.
struct Words {
    words: Vec<u64>,
    start: usize,
}

impl Words {
    fn zeros(count: usize) -> Self {
        // A vector has at most eight words, and a vector that lies in two cache lines is slow.
        let words = vec![0; count + 7];
        let start = words.as_ptr().align_offset(64).min(7);
        Words { words, start }
    }

    fn first(&mut self, count: usize) -> &mut [u64] {
        &mut self.words[self.start..self.start + count]
    }
}

/// Agreements of some rows with one tile of columns, bit by bit.
struct Sums {
    /// Words of a vector.
    words: usize,
    /// Vectors of a sum, the lowest bits first.
    depth: usize,
    sums: Words,
    /// A vector of zeros, then one per cluster.
    vectors: Words,
    /// The first vector of each member.
    bases: Vec<u32>,
    numbers: Numbers,
}

/// Numbers from 1 of the clusters that have some of the columns, where most have none; 0 of the others.
#[derive(Default)]
struct Numbers {
    of: Vec<u32>,
    /// The clusters in order of their numbers.
    given: Vec<u32>,
}

impl Numbers {
    /// The numbers of the clusters of `column`, whose member begins at `base`; new ones where they have none.
    fn give<L: Lane>(&mut self, column: &[L], base: u32) -> Vec<u32> {
        let number = |l: &L| {
            if *l == L::MISSING {
                return u32::MISSING;
            }
            let cluster = base + l.raw();
            let number = &mut self.of[cluster as usize];
            if *number == 0 {
                self.given.push(cluster);
                *number = self.given.len() as u32;
            }
            *number
        };
        column.iter().map(number).collect()
    }

    /// The numbers of the clusters of every row, of the members from `from` on that begin at `bases`.
    fn of_rows<L: Lane>(&self, rows: &[L], stride: usize, from: usize, bases: &[u32]) -> Vec<u32> {
        let mut all = Vec::with_capacity(rows.len() / stride * bases.len());
        for row in rows.chunks_exact(stride) {
            let clusters = row[from..from + bases.len()].iter().zip(bases);
            all.extend(clusters.map(|(l, base)| self.of[(base + l.raw()) as usize]));
        }
        all
    }

    /// Takes all numbers back.
    fn clear(&mut self) {
        self.given.drain(..).for_each(|cluster| self.of[cluster as usize] = 0);
    }
}

/// Members added at once.
const AT_ONCE: usize = 16;
/// The first vector of members that share their vectors.
const SHARED: [u32; AT_ONCE] = [0; AT_ONCE];
/// Bits that sixteen members touch at least.
const LOW: usize = 4;

impl Sums {
    fn new(rows: usize, tau: usize) -> Self {
        let words = lanes::<f64>();
        let depth = LOW + 1 + (tau / AT_ONCE).checked_ilog2().unwrap_or(0) as usize;
        let sums = Words::zeros(rows * depth * words);
        let (bases, numbers) = Default::default();
        Sums { words, depth, sums, vectors: Words::zeros(words), bases, numbers }
    }

    /// Counts how the objects of `rows` (their labels, object by object) agree with `columns` others,
    /// whose labels in member t `labels` writes down.
    fn add<L: Lane>(
        &mut self,
        rows: &[L],
        clusters: &[u32],
        columns: usize,
        labels: &dyn Fn(usize, &mut [L]),
    ) {
        let words = self.words;
        let stride = clusters.len().next_multiple_of(AT_ONCE);
        let sums = self.sums.first(rows.len() / stride * self.depth * words);
        sums.fill(0);
        let mut column = vec![L::default(); columns];
        let mut from = 0;
        while from < stride {
            // Places without a member point at the first vector, which stays empty.
            self.bases.clear();
            let mut next = 1usize;
            for some in clusters[from..].chunks(AT_ONCE) {
                // One more than there are clusters: that of missing labels, which stays empty too.
                let more: usize = some.iter().map(|&k| k as usize + 1).sum();
                if next > 1 && (next + more) * words * 8 > NEAR {
                    break;
                }
                for &k in some {
                    self.bases.push(next as u32);
                    next += k as usize + 1;
                }
                self.bases.resize(self.bases.len().next_multiple_of(AT_ONCE), 0);
            }
            let members = from..clusters.len().min(from + self.bases.len());
            if next * words * 8 > FAR {
                // Sixteen members: no more are taken at once where so many vectors are needed.
                let room = (members.len() * columns + 1) * words;
                if self.vectors.words.len() < room + 7 {
                    self.vectors = Words::zeros(room);
                }
                if self.numbers.of.len() < next {
                    self.numbers.of.resize(next, 0);
                }
                let vectors = self.vectors.first(room);
                for (t, &base) in members.zip(&self.bases) {
                    labels(t, &mut column);
                    mark(&self.numbers.give(&column, base), words, 0, vectors);
                }
                let own = self.numbers.of_rows(rows, stride, from, &self.bases);
                let (rows, bases, depth) = (&own[..], &SHARED[..], self.depth);
                dispatch(Add { rows, stride: AT_ONCE, from: 0, bases, vectors, depth, sums });
                vectors.fill(0);
                self.numbers.clear();
                from += AT_ONCE;
                continue;
            }
            if self.vectors.words.len() < next * words + 7 {
                self.vectors = Words::zeros(next * words);
            }
            let vectors = self.vectors.first(next * words);
            for (t, &base) in members.clone().zip(&self.bases) {
                labels(t, &mut column);
                mark(&column, words, base, vectors);
            }
            let (bases, depth) = (&self.bases[..], self.depth);
            dispatch(Add { rows, stride, from, bases, vectors, depth, sums });
            // Of very many clusters most have none of the columns.
            if next * words < members.len() * columns {
                vectors.fill(0);
            } else {
                for (t, &base) in members.clone().zip(&self.bases) {
                    labels(t, &mut column);
                    for l in column.iter().filter(|&&l| l != L::MISSING) {
                        let at = (base + l.raw()) as usize * words;
                        vectors[at..at + words].fill(0);
                    }
                }
            }
            from += self.bases.len();
        }
    }

    /// The agreements of row `a`, one number per column.
    fn read(&self, a: usize, out: &mut [u32]) {
        let size = self.depth * self.words;
        let bits = &self.sums.words[self.sums.start + a * size..][..size];
        dispatch(Read { bits, words: self.words, out });
    }
}

/// Converts the bits of sums to numbers.
struct Read<'a> {
    bits: &'a [u64],
    words: usize,
    out: &'a mut [u32],
}

impl WithSimd for Read<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (half, out) in self.out.chunks_exact_mut(32).enumerate() {
            let mut sums = [0u32; 32];
            for (place, bits) in self.bits.chunks_exact(self.words).enumerate() {
                let bits = (bits[half / 2] >> (32 * (half % 2))) as u32;
                for c in 0..32 {
                    sums[c] |= if bits & (1 << c) == 0 { 0 } else { 1 << place };
                }
            }
            out.copy_from_slice(&sums);
        }
    }
}

/// Marks in the vectors of a member, which begin at `base`, which columns have which label.
fn mark<L: Lane>(column: &[L], words: usize, base: u32, vectors: &mut [u64]) {
    let place = words.trailing_zeros();
    for (at, labels) in column.chunks(64).enumerate() {
        let mut bit = 1;
        for &l in labels {
            if l != L::MISSING {
                vectors[((base + l.raw()) as usize) << place | at] |= bit;
            }
            bit <<= 1;
        }
    }
}

/// Adds to the sums of every row the vectors of its clusters in some members.
struct Add<'a, L> {
    rows: &'a [L],
    stride: usize,
    from: usize,
    bases: &'a [u32],
    vectors: &'a [u64],
    depth: usize,
    sums: &'a mut [u64],
}

impl<L: Lane> WithSimd for Add<'_, L> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let vectors = S::as_simd_u64s(self.vectors).0;
        let sums = S::as_mut_simd_u64s(self.sums).0;
        for (row, sums) in
            self.rows.chunks_exact(self.stride).zip(sums.chunks_exact_mut(self.depth))
        {
            let (labels, _) = row[self.from..self.from + self.bases.len()].as_chunks::<AT_ONCE>();
            let (bases, _) = self.bases.as_chunks::<AT_ONCE>();
            let (low, high) = sums.split_at_mut(LOW);
            let mut bits = [low[0], low[1], low[2], low[3]];
            for (labels, bases) in labels.iter().zip(bases) {
                let mut seen = [bits[0]; AT_ONCE];
                for t in 0..AT_ONCE {
                    seen[t] = vectors[(bases[t] + labels[t].raw()) as usize];
                }
                let mut carry = add(simd, &seen, &mut bits);
                for sum in &mut *high {
                    (*sum, carry) = (simd.xor_u64s(*sum, carry), simd.and_u64s(*sum, carry));
                }
            }
            low.copy_from_slice(&bits);
        }
    }
}

/// Adds sixteen bits to the lowest bits of each sum; gives what is carried.
#[inline(always)]
fn add<S: Simd>(simd: S, bits: &[S::u64s; AT_ONCE], low: &mut [S::u64s; LOW]) -> S::u64s {
    let zero = simd.splat_u64s(0);
    let (mut two, mut four, mut eight) = ([zero; 8], [zero; 4], [zero; 2]);
    let mut carry = [zero];
    halve(simd, bits, &mut low[0], &mut two);
    halve(simd, &two, &mut low[1], &mut four);
    halve(simd, &four, &mut low[2], &mut eight);
    halve(simd, &eight, &mut low[3], &mut carry);
    carry[0]
}

/// Adds bits of one place to a sum, two at a time; what is carried goes to the next place.
// A closure here would be compiled without the instructions of `simd`.
#[inline(always)]
fn halve<S: Simd>(simd: S, bits: &[S::u64s], sum: &mut S::u64s, carries: &mut [S::u64s]) {
    let mut total = *sum;
    for (pair, carry) in bits.chunks_exact(2).zip(carries) {
        let odd = simd.xor_u64s(pair[0], pair[1]);
        let both = simd.and_u64s(pair[0], pair[1]);
        *carry = simd.or_u64s(both, simd.and_u64s(total, odd));
        total = simd.xor_u64s(total, odd);
    }
    *sum = total;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With a vector for every cluster a thread held some hundred megabytes.
    #[test]
    fn clusters_without_a_column_have_no_vector() {
        let (n, tau, k) = (40, 20usize, 300_000u32);
        let stride = tau.next_multiple_of(AT_ONCE);
        let clusters = vec![k; tau];
        let mut sums = Sums::new(n, tau);
        let mut counts = vec![0; 64 * lanes::<f64>()];
        // The second time nothing is left of the first.
        for some in [5, 3] {
            let label = |t: usize, i: usize| match (t + i) % 7 {
                0 => u32::MISSING,
                _ => (i % some * (t + 1) * 1000) as u32,
            };
            let labels = |t: usize, to: &mut [u32]| {
                to.iter_mut().enumerate().for_each(|(i, to)| *to = label(t, i));
            };
            let mut rows = vec![0; n * stride];
            for (i, row) in rows.chunks_exact_mut(stride).enumerate() {
                for (t, to) in row.iter_mut().take(tau).enumerate() {
                    *to = label(t, i).min(k);
                }
            }
            sums.add(&rows, &clusters, n, &labels);
            for i in 0..n {
                sums.read(i, &mut counts);
                for (j, &count) in counts.iter().enumerate().take(n) {
                    let agree = |&t: &usize| label(t, i) == label(t, j) && label(t, i) < k;
                    assert_eq!(count as usize, (0..tau).filter(agree).count(), "{i}, {j}");
                }
            }
        }
        assert!(8 * sums.vectors.words.len() < FAR);
    }
}
