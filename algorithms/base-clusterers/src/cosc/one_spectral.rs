//! The two-way split of a graph with the smallest balanced cut.
//!
//! The continuous form F of the balanced cut has the same minimum ([RangapuramHein2012]); RatioDCA
//! descends on it, each step solving a convex problem through its dual, and the best threshold of the
//! result is never worse than the result.

use mustlink_core::{Context, Result};
use rayon::prelude::*;

use super::dual::Dual;
use super::two_way::{Side, TwoWay, dot, norm, spread};

/// Inner iterations of a first attempt.
const INNER: usize = 100;
/// Successful steps in a row after which the inner iterations are doubled.
const STREAK: usize = 20;
/// Possible gain of a step, relative to the numerator of F, that is not worth taking.
const FLAT: f64 = 1e-3;

/// Vertices from which on starts run in parallel.
const PARALLEL: usize = 100;

/// Current state of a descent.
pub struct Descent {
    /// The point.
    pub f: Vec<f64>,
    /// The solution of its last inner problem, from which the next one starts, also for another γ.
    dual: Option<Dual>,
}

impl From<Vec<f64>> for Descent {
    fn from(f: Vec<f64>) -> Self {
        Descent { f, dual: None }
    }
}

impl TwoWay {
    /// RatioDCA: steps down on F until no step gains anything. Leaves the last point, of unit length.
    ///
    /// # Errors
    /// Cancellation.
    pub fn descend(
        &self,
        from: &mut Descent,
        gamma: f64,
        inner_max: usize,
        ctx: &Context,
    ) -> Result<()> {
        self.steps(from, gamma, inner_max, |_| (), ctx)
    }

    /// [`TwoWay::descend`], which calls `each` with the value at the start and after every step.
    fn steps(
        &self,
        from: &mut Descent,
        gamma: f64,
        inner_max: usize,
        mut each: impl FnMut(f64),
        ctx: &Context,
    ) -> Result<()> {
        let Descent { f, dual } = from;
        scale_to_unit(f);
        let mut value = self.value(f, gamma);
        each(value);
        let penalty = gamma * self.apart_weight;
        let dual = dual.get_or_insert_with(|| Dual::new(self));
        dual.set_penalty(self, penalty);
        let mut iterations = INNER.min(inner_max);
        let mut streak = 0;
        // 0 is the smallest value there is; a constant start leads nowhere.
        'steps: while value > 0.0 && value.is_finite() {
            let s = self.balance_gradient(f);
            let mut c: Vec<f64> = s.iter().map(|s| value * s).collect();
            for &(i, j, q) in &self.apart {
                let difference = f[i as usize] - f[j as usize];
                // The subgradient 0 where the two are equal.
                let g = if difference == 0.0 { 0.0 } else { gamma * q * difference.signum() };
                c[i as usize] += g;
                c[j as usize] -= g;
            }
            let flat = FLAT * value * dot(&s, f);
            dual.restart();
            let next = loop {
                let gain = dual.iterate(self, &c, gamma, iterations, ctx)?;
                let mut next = dual.point();
                if gain <= flat || spread(&next) == 0.0 {
                    break 'steps;
                }
                scale_to_unit(&mut next);
                let reached = self.value(&next, gamma);
                if reached < value {
                    value = reached;
                    break next;
                }
                if iterations >= inner_max {
                    break 'steps;
                }
                iterations = (2 * iterations).min(inner_max);
            };
            *f = next;
            each(value);
            streak += 1;
            if streak == STREAK {
                streak = 0;
                iterations = (2 * iterations).min(inner_max);
            }
        }
        Ok(())
    }

    /// Descends from every point and leaves each where it ended; returns their best thresholds.
    ///
    /// # Errors
    /// Cancellation.
    pub fn descend_all(
        &self,
        points: &mut [Descent],
        gamma: f64,
        inner_max: usize,
        ctx: &Context,
    ) -> Result<Vec<Side>> {
        // Small descents are over before another thread is awake.
        let together = if self.n() < PARALLEL { points.len().max(1) } else { 1 };
        points
            .par_iter_mut()
            .with_min_len(together)
            .map(|point| {
                self.descend(point, gamma, inner_max, ctx)?;
                Ok(self.threshold(&point.f, gamma))
            })
            .collect()
    }
}

/// F does not change with scale or shift; unit length keeps the numbers in range.
fn scale_to_unit(f: &mut [f64]) {
    let length = norm(f);
    if length > 0.0 {
        f.iter_mut().for_each(|v| *v /= length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::random::{SeedPath, Stream};
    use mustlink_kernels::graph::adjacency::Graph;
    use proptest::prelude::*;

    fn ctx() -> Context {
        Context::new(1)
    }

    /// The end of a descent, and the values on its way.
    fn descended(two: &TwoWay, f: Vec<f64>, gamma: f64, inner: usize) -> (Vec<f64>, Vec<f64>) {
        let mut values = Vec::new();
        let mut at = Descent::from(f);
        two.steps(&mut at, gamma, inner, |value| values.push(value), &ctx()).unwrap();
        (at.f, values)
    }

    fn random(s: &mut Stream, n: usize, links: usize) -> TwoWay {
        let mut edges = Vec::new();
        for i in 0..n {
            for j in i + 1..n {
                if j == i + 1 || s.unit() < 0.4 {
                    edges.push((i as u32, j as u32, 0.05 + s.unit()));
                }
            }
        }
        let graph = Graph::from_edges(n, edges, f64::max);
        let mut apart: Vec<(u32, u32, f64)> = Vec::new();
        while apart.len() < links {
            let (i, j) = (s.below(n) as u32, s.below(n) as u32);
            if i < j && !apart.iter().any(|c| (c.0, c.1) == (i, j)) {
                apart.push((i, j, 1.0));
            }
        }
        let mass = graph.degrees();
        TwoWay::new(&graph, mass, apart)
    }

    /// The smallest F̂ over all sets.
    fn exhaustive(problem: &TwoWay, gamma: f64) -> f64 {
        let n = problem.n();
        (1u32..1 << (n - 1))
            .map(|bits| {
                let inside: Vec<bool> = (0..n).map(|i| bits >> i & 1 == 1).collect();
                problem.set_value(&inside, gamma)
            })
            .fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn worked_example() {
        // Two triangles joined by one edge of 0.5; degrees 2, 2, 2.5 on each side, volume 13.
        let edges = [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5)].map(|(i, j)| (i, j, 1.0));
        let graph = Graph::from_edges(6, edges.into_iter().chain([(2, 3, 0.5)]), f64::max);
        let two = TwoWay::new(&graph, graph.degrees(), Vec::new());
        let f: Vec<f64> = vec![-0.3, 0.9, 0.4, -1.0, 0.2, 0.1];
        let (f, _) = descended(&two, f, 0.0, 10_000);
        let side = two.threshold(&f, 0.0);
        assert_eq!(side.inside[..3], [side.inside[0]; 3]);
        assert_eq!(side.inside[3..], [!side.inside[0]; 3]);
        assert!((side.value - 0.5 * 13.0 / (6.5 * 6.5)).abs() < 1e-12, "{}", side.value);
    }

    #[test]
    fn ends_of_the_scale() {
        let mut s = SeedPath::new(1).stream("t");
        let two = random(&mut s, 6, 2);
        assert_eq!(two.value(&[2.0; 6], 1.0), f64::INFINITY);
        assert_eq!(two.set_value(&[true; 6], 1.0), f64::INFINITY);
        // A constant start stays where it is.
        let (f, values) = descended(&two, vec![1.0; 6], 1.0, 100);
        assert_eq!(values, [f64::INFINITY]);
        assert_eq!(two.threshold(&f, 1.0).value, f64::INFINITY);
    }

    #[test]
    fn six_starts_find_the_best_set_of_small_graphs() {
        let mut s = SeedPath::new(11).stream("graphs");
        let mut found = 0;
        for case in 0..25 {
            let two = random(&mut s, 8, case % 4);
            let gamma = 0.3 * (case % 3) as f64;
            let best = exhaustive(&two, gamma);
            let reached = (0..6)
                .map(|_| {
                    let start = (0..8).map(|_| s.normal()).collect();
                    let (f, _) = descended(&two, start, gamma, 10_000);
                    two.threshold(&f, gamma).value
                })
                .fold(f64::INFINITY, f64::min);
            assert!(reached >= best * (1.0 - 1e-12));
            found += usize::from(reached <= best * (1.0 + 1e-9));
        }
        assert!(found >= 23, "{found} of 25");
    }

    proptest! {
        #[test]
        fn descents_descend_and_thresholds_are_tight(
            seed: u64,
            n in 3usize..12,
            links in 0usize..3,
            gamma in prop_oneof![Just(0.0), 0.01..3.0f64],
        ) {
            let mut s = SeedPath::new(seed).stream("case");
            let two = random(&mut s, n, links);
            let f: Vec<f64> = (0..n).map(|_| s.normal()).collect();
            // F of an indicator is F̂ of the set.
            let inside: Vec<bool> = (0..n).map(|i| i == 0 || (i + 1 < n && s.unit() < 0.5)).collect();
            let indicator: Vec<f64> = inside.iter().map(|&b| f64::from(u8::from(b))).collect();
            let (a, b) = (two.value(&indicator, gamma), two.set_value(&inside, gamma));
            prop_assert!((a - b).abs() <= 1e-9 * b.max(1.0), "{a} {b}");
            // Shift and scale mean nothing.
            let moved: Vec<f64> = f.iter().map(|v| 3.0 * v + 5.0).collect();
            let value = two.value(&f, gamma);
            prop_assert!((two.value(&moved, gamma) - value).abs() <= 1e-9 * value.max(1.0));
            prop_assert!(two.threshold(&f, gamma).value <= value * (1.0 + 1e-9) + 1e-12);
            let (f, values) = descended(&two, f, gamma, 400);
            prop_assert!(values.windows(2).all(|w| w[1] < w[0]), "{values:?}");
            let end = two.threshold(&f, gamma);
            let last = values[values.len() - 1];
            prop_assert!(end.value <= last * (1.0 + 1e-9) + 1e-12, "{} {last}", end.value);
            prop_assert!(end.value >= exhaustive(&two, gamma) * (1.0 - 1e-9));
            prop_assert_eq!(end.value, two.set_value(&end.inside, gamma));
        }
    }
}
