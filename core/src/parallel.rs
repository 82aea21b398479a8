//! Parallel loops that are compiled once: work is called through a pointer, once for each part of it.
//!
//! Results have the order of the parts, with any number of threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

/// Rows per block.
pub const BLOCK: usize = 1024;

/// Parts for each thread, so that threads with short parts can take over others.
const PARTS: usize = 64;

/// Does parts `0..count` of some work.
pub(crate) fn each(count: usize, part: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(part);
}

/// Does parts `lo..hi` of some work, and joins their results in a fixed binary tree: `join(a, b)` adds the result at
/// `b` to the one at `a`.
pub(crate) fn tree(
    lo: usize,
    hi: usize,
    part: &(dyn Fn(usize) + Sync),
    join: &(dyn Fn(usize, usize) + Sync),
) {
    if hi - lo == 1 {
        return part(lo);
    }
    // Split at a power of two, so that the tree over parts 0..m is a subtree of any longer one.
    let mid = lo + ((hi - lo).next_power_of_two() / 2);
    rayon::join(|| tree(lo, mid, part, join), || tree(mid, hi, part, join));
    join(lo, mid);
}

/// Values that threads put in and take out, each at a place of its own.
pub(crate) struct Places<T>(Vec<Mutex<Option<T>>>);

impl<T> Places<T> {
    pub(crate) fn empty(count: usize) -> Self {
        Places((0..count).map(|_| Mutex::new(None)).collect())
    }

    pub(crate) fn put(&self, at: usize, value: T) {
        *self.0[at].lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
    }

    pub(crate) fn take(&self, at: usize) -> T {
        let value = self.0[at].lock().unwrap_or_else(PoisonError::into_inner).take();
        value.expect("a value is put in before it is taken out")
    }
}

/// Rows in a part of `count` rows.
fn rows_in_a_part(count: usize) -> usize {
    count.div_ceil(PARTS * rayon::current_num_threads()).clamp(1, BLOCK)
}

/// The values at `0..count`.
pub fn map<T: Send>(count: usize, value: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let size = rows_in_a_part(count);
    let parts = Places::empty(count.div_ceil(size));
    each(parts.0.len(), &|p| {
        parts.put(p, (p * size..count.min((p + 1) * size)).map(&value).collect::<Vec<T>>());
    });
    let mut all = Vec::with_capacity(count);
    (0..parts.0.len()).for_each(|p| all.append(&mut parts.take(p)));
    all
}

/// The values at `0..count`. Once one has failed, few others are begun.
///
/// # Errors
/// The first error in order of the values that were begun.
pub fn try_map<T: Send, E: Send>(
    count: usize,
    value: impl Fn(usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let size = rows_in_a_part(count);
    let parts = Places::empty(count.div_ceil(size));
    let failed = AtomicBool::new(false);
    each(parts.0.len(), &|p| {
        let mut made = Vec::new();
        for i in p * size..count.min((p + 1) * size) {
            // The values that are left out take no memory: a limit of time may come long before the last of them.
            if failed.load(Ordering::Relaxed) {
                break;
            }
            made.push(value(i).inspect_err(|_| failed.store(true, Ordering::Relaxed)));
        }
        parts.put(p, made);
    });
    (0..parts.0.len()).flat_map(|p| parts.take(p)).collect()
}

/// The results of `work` for each part, which is called with the number of the part.
pub fn over<P: Send, T: Send>(
    parts: impl Iterator<Item = P>,
    work: impl Fn(usize, P) -> T + Sync,
) -> Vec<T> {
    let parts = Places(parts.map(|part| Mutex::new(Some(part))).collect());
    let results = Places::empty(parts.0.len());
    each(parts.0.len(), &|p| results.put(p, work(p, parts.take(p))));
    (0..parts.0.len()).map(|p| results.take(p)).collect()
}

/// Calls `work` with each row of a table and its number.
pub fn rows<T: Send>(table: &mut [T], width: usize, work: impl Fn(usize, &mut [T]) + Sync) {
    let width = width.max(1);
    let size = rows_in_a_part(table.len().div_ceil(width));
    over(table.chunks_mut(size * width), |p, part| {
        part.chunks_mut(width).enumerate().for_each(|(i, row)| work(p * size + i, row));
    });
}
