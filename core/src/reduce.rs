//! Parallel loops and sums over objects, the same bit for bit with any number of threads.
//!
//! Rows are summed in fixed blocks of 1024, each in index order; block sums are added in a fixed
//! binary tree over block numbers. Threads only decide who computes a block. Sums over the features of
//! two rows are taken in eight lanes, whatever vectors the processor has.

use crate::parallel::{self, Places};

pub use crate::parallel::{BLOCK, map, over, rows, try_map};

/// Number of blocks over `n` rows.
pub fn blocks(n: usize) -> usize {
    n.div_ceil(BLOCK)
}

/// The rows of block `b` of `n` rows.
pub fn block(b: usize, n: usize) -> std::ops::Range<usize> {
    b * BLOCK..((b + 1) * BLOCK).min(n)
}

/// Maps blocks in parallel and folds their results in the fixed tree; `None` for no rows.
pub fn reduce<T: Send>(
    n: usize,
    map: impl Fn(std::ops::Range<usize>) -> T + Sync,
    combine: impl Fn(T, T) -> T + Sync,
) -> Option<T> {
    if n <= BLOCK {
        return (n > 0).then(|| map(0..n));
    }
    let results = Places::empty(blocks(n));
    let part = |b| results.put(b, map(block(b, n)));
    let join = |a, b| results.put(a, combine(results.take(a), results.take(b)));
    parallel::tree(0, blocks(n), &part, &join);
    Some(results.take(0))
}

/// Sum of `value(i)` over `0..n`, the same bits for any number of threads.
pub fn sum(n: usize, value: impl Fn(usize) -> f64 + Sync) -> f64 {
    reduce(n, |rows| rows.map(&value).sum::<f64>(), |a, b| a + b).unwrap_or(0.0)
}

/// Results that [`in_waves`] holds at a time.
pub const WAVE: usize = 64;

/// Makes `count` results in parallel and hands them over in order; however many there are, only a few
/// are held at a time. Nothing is begun once one has failed.
///
/// # Errors
/// The first error in order of those begun; what `take` returns.
pub fn in_waves<T: Send, E: Send>(
    count: usize,
    make: impl Fn(usize) -> Result<T, E> + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    for first in (0..count).step_by(WAVE) {
        let wave = WAVE.min(count - first);
        for result in map(wave, |i| make(first + i)) {
            take(result?)?;
        }
    }
    Ok(())
}

/// Fills `out[i] = value(i)` in parallel by blocks.
pub fn fill<T: Send>(out: &mut [T], value: impl Fn(usize) -> T + Sync) {
    if out.len() <= BLOCK {
        return out.iter_mut().enumerate().for_each(|(i, o)| *o = value(i));
    }
    over(out.chunks_mut(BLOCK), |b, chunk| {
        chunk.iter_mut().enumerate().for_each(|(at, o)| *o = value(b * BLOCK + at));
    });
}

/// Σ x·y, in eight fixed lanes.
#[inline(always)]
pub fn inner_product(x: &[f64], y: &[f64]) -> f64 {
    in_lanes(x, y, |a, b| a * b)
}

/// Σ (x − y)², in eight fixed lanes.
#[inline(always)]
pub fn squared_distance(x: &[f64], y: &[f64]) -> f64 {
    in_lanes(x, y, |a, b| (a - b) * (a - b))
}

#[inline(always)]
fn in_lanes(x: &[f64], y: &[f64], term: impl Fn(f64, f64) -> f64) -> f64 {
    let mut lanes = [0.0f64; 8];
    let (xs, ys) = (x.chunks_exact(8), y.chunks_exact(8));
    let (rest_x, rest_y) = (xs.remainder(), ys.remainder());
    for (a, b) in xs.zip(ys) {
        for l in 0..8 {
            lanes[l] += term(a[l], b[l]);
        }
    }
    for (l, (a, b)) in rest_x.iter().zip(rest_y).enumerate() {
        lanes[l] += term(*a, *b);
    }
    sum_lanes(lanes)
}

/// The sum of eight lanes.
#[inline(always)]
pub fn sum_lanes(l: [f64; 8]) -> f64 {
    ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        let f = |i: usize| (i as f64 * 0.37).sin() * 1e3_f64.powi((i % 7) as i32 - 3);
        let at = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| sum(10_007, f)).to_bits()
        };
        assert_eq!(at(1), at(2));
        assert_eq!(at(1), at(7));
    }

    #[test]
    fn loops_keep_the_order_of_their_parts() {
        for n in [0, 1, 5, 1023, 1024, 1025, 5000] {
            let squares: Vec<usize> = (0..n).map(|i| i * i).collect();
            assert_eq!(map(n, |i| i * i), squares);
            assert_eq!(
                over(squares.iter(), |i, square| (i, square)).last(),
                squares.iter().enumerate().next_back().as_ref()
            );
            for width in [1, 3, 7] {
                let mut table = vec![0; n];
                rows(&mut table, width, |i, row| row.fill(i));
                assert!(table.iter().enumerate().all(|(at, row)| at / width == *row));
            }
            let blocks = reduce(n, |rows| rows.collect(), |a: Vec<usize>, b| [a, b].concat());
            assert_eq!(blocks.unwrap_or_default(), (0..n).collect::<Vec<_>>());
            for bad in [0, n / 2, n] {
                let made = try_map(n, |i| if i == bad { Err(i) } else { Ok(i) });
                assert_eq!(made, if bad < n { Err(bad) } else { Ok((0..n).collect()) });
            }
        }
    }
}
