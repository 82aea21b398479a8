//! Which centre has the smallest score for each dense row, and by how much?
//!
//! Score of a row x and a centre µ: ‖µ‖²/2 − x·µ (cosine: −x·µ). Centres are packed in panels of two
//! vectors, transposed, with the constant in front, so that each score is one chain of fused
//! multiply-adds; the smallest and the second smallest score of a row are kept in registers and no
//! table of rows × centres is ever stored. Scores are rounded: the caller decides by exact distances
//! wherever two of them are closer than the rounding error.
//!
//! The instruction set is chosen at run time; `MUSTLINK_SIMD = scalar` or `avx2` forces one. It
//! changes speed, never a label.

use ndarray::Array2;
use pulp::{Simd, WithSimd, bytemuck};

/// Rows in one step of the kernel.
const STEP: usize = 4;
/// Vectors in one panel.
const VECTORS: usize = 2;

/// The smallest scores of one row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Smallest {
    /// The smallest score.
    pub score: f64,
    /// Its centre.
    pub centre: u32,
    /// The smallest score of all other centres.
    pub second: f64,
}

/// Centres packed for [`smallest`].
pub(crate) struct Panels {
    k: usize,
    d: usize,
    lanes: usize,
    packed: Vec<f64>,
}

#[derive(Clone, Copy)]
enum Level {
    Scalar,
    #[cfg(target_arch = "x86_64")]
    Avx2(pulp::x86::V3),
    #[cfg(not(target_arch = "x86_64"))]
    Native(pulp::Arch),
}

fn level() -> Level {
    static LEVEL: std::sync::OnceLock<Level> = std::sync::OnceLock::new();
    *LEVEL.get_or_init(|| {
        if std::env::var("MUSTLINK_SIMD").is_ok_and(|v| v == "scalar") {
            return Level::Scalar;
        }
        #[cfg(target_arch = "x86_64")]
        return pulp::x86::V3::try_new().map_or(Level::Scalar, Level::Avx2);
        #[cfg(not(target_arch = "x86_64"))]
        Level::Native(pulp::Arch::new())
    })
}

/// Runs `op` under the instruction set of this machine.
fn dispatch<Op: WithSimd>(op: Op) -> Op::Output {
    match level() {
        Level::Scalar => Simd::vectorize(pulp::Scalar, op),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2(simd) => Simd::vectorize(simd, op),
        #[cfg(not(target_arch = "x86_64"))]
        Level::Native(arch) => arch.dispatch(op),
    }
}

impl Panels {
    /// Packs centres; `constants` is what stands in front of each score.
    pub(crate) fn new(centres: &Array2<f64>, constants: impl Fn(usize) -> f64) -> Self {
        struct Lanes;
        impl WithSimd for Lanes {
            type Output = usize;
            fn with_simd<S: Simd>(self, _: S) -> usize {
                S::F64_LANES
            }
        }
        let (k, d) = centres.dim();
        let lanes = dispatch(Lanes);
        let width = VECTORS * lanes;
        let panels = k.div_ceil(width);
        let mut packed = vec![0.0; panels * width * (d + 1)];
        for p in 0..panels {
            let panel = &mut packed[p * width * (d + 1)..(p + 1) * width * (d + 1)];
            for w in 0..width {
                let h = p * width + w;
                // Lanes beyond the last centre never win.
                panel[w] = if h < k { constants(h) } else { f64::INFINITY };
                if h < k {
                    for s in 0..d {
                        panel[(s + 1) * width + w] = -centres[[h, s]];
                    }
                }
            }
        }
        Panels { k, d, lanes, packed }
    }
}

/// The smallest scores of every row of `x` (rows × d, row-major).
pub(crate) fn smallest(x: &[f64], panels: &Panels, out: &mut [Smallest]) {
    dispatch(Kernel { x, panels, out });
}

struct Kernel<'a> {
    x: &'a [f64],
    panels: &'a Panels,
    out: &'a mut [Smallest],
}

/// Scores kept lane by lane while panels go by.
#[derive(Clone, Copy)]
struct Lane<S: Simd> {
    best: S::f64s,
    panel: S::f64s,
    second: S::f64s,
}

impl WithSimd for Kernel<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Kernel { x, panels, out } = self;
        let (d, lanes) = (panels.d, panels.lanes);
        debug_assert_eq!(lanes, S::F64_LANES);
        let width = VECTORS * lanes;
        let size = width * (d + 1);
        let none = simd.splat_f64s(f64::INFINITY);
        let fresh: Lane<S> = Lane { best: none, panel: simd.splat_f64s(0.0), second: none };
        let rows = out.len();
        let mut kept = vec![[fresh; VECTORS]; rows];
        for (p, packed) in panels.packed.chunks_exact(size).enumerate() {
            let (vectors, _) = S::as_simd_f64s(packed);
            let number = simd.splat_f64s(p as f64);
            let mut r = 0;
            while r + STEP <= rows {
                step::<S, STEP>(
                    simd,
                    &x[r * d..(r + STEP) * d],
                    d,
                    vectors,
                    number,
                    &mut kept[r..r + STEP],
                );
                r += STEP;
            }
            while r < rows {
                step::<S, 1>(simd, &x[r * d..(r + 1) * d], d, vectors, number, &mut kept[r..r + 1]);
                r += 1;
            }
        }
        for (row, to) in kept.iter().zip(out) {
            let mut all =
                Smallest { score: f64::INFINITY, centre: u32::MAX, second: f64::INFINITY };
            for (v, lane) in row.iter().enumerate() {
                let best: &[f64] = bytemuck::cast_slice(std::slice::from_ref(&lane.best));
                let panel: &[f64] = bytemuck::cast_slice(std::slice::from_ref(&lane.panel));
                let second: &[f64] = bytemuck::cast_slice(std::slice::from_ref(&lane.second));
                for l in 0..lanes {
                    let centre = (panel[l] as usize * width + v * lanes + l) as u32;
                    if best[l] < all.score || (best[l] == all.score && centre < all.centre) {
                        all.second = all.second.min(all.score);
                        (all.score, all.centre) = (best[l], centre);
                    } else {
                        all.second = all.second.min(best[l]);
                    }
                    all.second = all.second.min(second[l]);
                }
            }
            debug_assert!((all.centre as usize) < panels.k);
            *to = all;
        }
    }
}

#[inline(always)]
fn step<S: Simd, const R: usize>(
    simd: S,
    x: &[f64],
    d: usize,
    vectors: &[S::f64s],
    number: S::f64s,
    kept: &mut [[Lane<S>; VECTORS]],
) {
    let mut scores = [[vectors[0], vectors[1]]; R];
    let rows: [&[f64]; R] = std::array::from_fn(|r| &x[r * d..(r + 1) * d]);
    for (s, pair) in vectors[VECTORS..].chunks_exact(VECTORS).enumerate() {
        for r in 0..R {
            let value = simd.splat_f64s(rows[r][s]);
            scores[r][0] = simd.mul_add_e_f64s(value, pair[0], scores[r][0]);
            scores[r][1] = simd.mul_add_e_f64s(value, pair[1], scores[r][1]);
        }
    }
    for r in 0..R {
        for v in 0..VECTORS {
            let (lane, score) = (&mut kept[r][v], scores[r][v]);
            let smaller = simd.less_than_f64s(score, lane.best);
            lane.second = simd.min_f64s(lane.second, simd.max_f64s(score, lane.best));
            lane.best = simd.min_f64s(score, lane.best);
            lane.panel = simd.select_f64s(smaller, number, lane.panel);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::random::SeedPath;

    #[test]
    fn smallest_scores_are_those_of_the_plain_loop() {
        let mut s = SeedPath::new(1).stream("panels");
        for (rows, d, k) in [(1, 1, 1), (9, 3, 2), (13, 5, 8), (40, 17, 33), (6, 64, 100)] {
            let x: Vec<f64> = (0..rows * d).map(|_| s.normal()).collect();
            let centres = Array2::from_shape_fn((k, d), |_| s.normal());
            let constant = |h: usize| 0.5 * centres.row(h).dot(&centres.row(h));
            let fresh = Smallest { score: 0.0, centre: 0, second: 0.0 };
            let mut out = vec![fresh; rows];
            smallest(&x, &Panels::new(&centres, constant), &mut out);
            for (r, got) in out.iter().enumerate() {
                let row = ndarray::ArrayView1::from(&x[r * d..(r + 1) * d]);
                let mut plain: Vec<(f64, usize)> =
                    (0..k).map(|h| (constant(h) - row.dot(&centres.row(h)), h)).collect();
                plain.sort_by(|a, b| a.partial_cmp(b).unwrap());
                assert!((got.score - plain[0].0).abs() < 1e-12);
                assert_eq!(got.centre as usize, plain[0].1);
                match plain.get(1) {
                    Some((second, _)) => assert!((got.second - second).abs() < 1e-12),
                    None => assert_eq!(got.second, f64::INFINITY),
                }
            }
        }
    }
}
