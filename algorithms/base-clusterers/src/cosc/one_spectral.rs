//! Which two-way split of a graph has the smallest balanced cut when breaking a cannot-link costs?
//!
//! For a set S of vertices with volume vol(S) = Σ mass and V the volume of all,
//!
//! F̂(S) = (cut(S) + γ·viol(S)) · V / (vol(S) · vol(V∖S)),
//!
//! where viol(S) is the weight of the cannot-links with both ends on one side. Its exact continuous
//! form F(f) = (R₁(f) − R₂(f)) / S(f), all three convex and homogeneous, has the same minimum
//! ([RangapuramHein2012]); RatioDCA descends on it, each step solving a convex problem through its
//! dual, and the best threshold of the result is never worse than the result.

use mustlink_core::{Context, Result};
use mustlink_kernels::graph::adjacency::Graph;
use rayon::prelude::*;

/// Inner iterations of a first attempt.
const INNER: usize = 100;
/// Inner iterations between two checks of the duality gap.
const LOOK: usize = 20;
/// Relative duality gap at which the inner problem counts as solved.
const GAP: f64 = 1e-6;
/// Successful steps in a row after which the inner iterations are doubled.
const STREAK: usize = 20;
/// Possible gain of a step, relative to the numerator of F, that is not worth taking.
const FLAT: f64 = 1e-3;

/// Vertices from which on starts run in parallel.
const PARALLEL: usize = 100;

/// A two-way problem: a graph, the mass of its vertices, and pairs that are to be parted.
#[derive(Debug, Clone)]
pub struct TwoWay {
    edges: Vec<(u32, u32, f64)>,
    mass: Vec<f64>,
    volume: f64,
    apart: Vec<(u32, u32, f64)>,
    apart_weight: f64,
    degree: usize,
}

/// A split into the set and the rest.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// Whether each vertex is in the set.
    pub inside: Vec<bool>,
    /// F̂ of the set.
    pub value: f64,
}

impl TwoWay {
    /// Positive masses, one per vertex; `apart` holds distinct pairs with positive weights.
    pub fn new(graph: &Graph, mass: Vec<f64>, apart: Vec<(u32, u32, f64)>) -> Self {
        TwoWay {
            edges: graph.edges().collect(),
            volume: mass.iter().sum(),
            mass,
            apart_weight: apart.iter().map(|c| c.2).sum(),
            apart,
            degree: (0..graph.n()).map(|i| graph.neighbours(i).0.len()).max().unwrap_or(0),
        }
    }

    /// Number of vertices.
    pub fn n(&self) -> usize {
        self.mass.len()
    }

    /// The pairs that are to be parted.
    pub fn apart(&self) -> &[(u32, u32, f64)] {
        &self.apart
    }

    /// Weight of the edges between the set and the rest.
    pub fn cut(&self, inside: &[bool]) -> f64 {
        self.edges
            .iter()
            .filter(|e| inside[e.0 as usize] != inside[e.1 as usize])
            .map(|e| e.2)
            .sum()
    }

    /// Number and weight of the cannot-links with both ends on one side.
    pub fn violated(&self, inside: &[bool]) -> (usize, f64) {
        let broken = self.apart.iter().filter(|c| inside[c.0 as usize] == inside[c.1 as usize]);
        broken.fold((0, 0.0), |(count, weight), c| (count + 1, weight + c.2))
    }

    /// F̂ of a set that is neither empty nor everything (infinite for those).
    pub fn set_value(&self, inside: &[bool], gamma: f64) -> f64 {
        let volume: f64 = self.mass.iter().zip(inside).filter(|(_, s)| **s).map(|(b, _)| b).sum();
        let rest: f64 = self.mass.iter().zip(inside).filter(|(_, s)| !**s).map(|(b, _)| b).sum();
        let cost = self.cut(inside) + gamma * self.violated(inside).1;
        if volume > 0.0 && rest > 0.0 {
            cost * self.volume / (volume * rest)
        } else {
            f64::INFINITY
        }
    }

    /// F(f); infinite for a constant f.
    pub fn value(&self, f: &[f64], gamma: f64) -> f64 {
        let s = self.balance_gradient(f);
        let balance = dot(&s, f);
        if spread(f) == 0.0 || balance <= 0.0 {
            return f64::INFINITY;
        }
        ((self.upper(f, gamma) - self.lower(f, gamma)) / balance).max(0.0)
    }

    /// R₁: total variation, and γ times the weight of all cannot-links for the whole range.
    fn upper(&self, f: &[f64], gamma: f64) -> f64 {
        let variation: f64 =
            self.edges.iter().map(|&(i, j, w)| w * (f[i as usize] - f[j as usize]).abs()).sum();
        variation + gamma * self.apart_weight * spread(f)
    }

    /// R₂: γ times what the cannot-links part.
    fn lower(&self, f: &[f64], gamma: f64) -> f64 {
        let parted: f64 =
            self.apart.iter().map(|&(i, j, q)| q * (f[i as usize] - f[j as usize]).abs()).sum();
        gamma * parted
    }

    /// A subgradient of S, the Lovász extension of vol(S)·vol(V∖S)/V; ties in index order.
    fn balance_gradient(&self, f: &[f64]) -> Vec<f64> {
        let order = ascending(f);
        let mut s = vec![0.0; f.len()];
        // Volume from position t on.
        let mut from = 0.0;
        for &i in order.iter().rev() {
            let i = i as usize;
            let beyond = from;
            from += self.mass[i];
            s[i] = self.mass[i] * (self.volume - from - beyond) / self.volume;
        }
        s
    }

    /// The best of the sets {f > t}.
    pub fn threshold(&self, f: &[f64], gamma: f64) -> Side {
        let n = f.len();
        let order = ascending(f);
        let mut rank = vec![0u32; n];
        order.iter().enumerate().for_each(|(t, &i)| rank[i as usize] = t as u32);
        // change[t]: how the cost changes when the set loses the vertex at position t.
        let mut change = vec![0.0; n];
        for &(i, j, w) in &self.edges {
            let (a, b) = (rank[i as usize], rank[j as usize]);
            change[a.min(b) as usize] += w;
            change[a.max(b) as usize] -= w;
        }
        for &(i, j, q) in &self.apart {
            let (a, b) = (rank[i as usize], rank[j as usize]);
            change[a.min(b) as usize] -= gamma * q;
            change[a.max(b) as usize] += gamma * q;
        }
        let (mut cost, mut outside) = (gamma * self.apart_weight, 0.0);
        let mut best = (f64::INFINITY, 0);
        for t in 0..n.saturating_sub(1) {
            let i = order[t] as usize;
            cost += change[t];
            outside += self.mass[i];
            if f[i] < f[order[t + 1] as usize] {
                let value = cost * self.volume / (outside * (self.volume - outside));
                if value < best.0 {
                    best = (value, t + 1);
                }
            }
        }
        let mut inside = vec![false; n];
        if best.1 > 0 {
            order[best.1..].iter().for_each(|&i| inside[i as usize] = true);
        }
        // The running sums carry rounding errors; the value given does not.
        let value = self.set_value(&inside, gamma);
        Side { inside, value }
    }

    /// RatioDCA from `f`: steps down on F until no step gains anything. Gives the last point, of unit
    /// length.
    ///
    /// # Errors
    /// Cancellation.
    pub fn descend(
        &self,
        f: Vec<f64>,
        gamma: f64,
        inner_max: usize,
        ctx: &Context,
    ) -> Result<Vec<f64>> {
        self.steps(f, gamma, inner_max, |_| (), ctx)
    }

    /// [`TwoWay::descend`], which calls `each` with the value at the start and after every step.
    fn steps(
        &self,
        mut f: Vec<f64>,
        gamma: f64,
        inner_max: usize,
        mut each: impl FnMut(f64),
        ctx: &Context,
    ) -> Result<Vec<f64>> {
        scale_to_unit(&mut f);
        let mut value = self.value(&f, gamma);
        each(value);
        let penalty = gamma * self.apart_weight;
        let mut dual = Dual::new(self, penalty);
        let mut iterations = INNER.min(inner_max);
        let mut streak = 0;
        // 0 is the smallest value there is; a constant start leads nowhere.
        'steps: while value > 0.0 && value.is_finite() {
            let s = self.balance_gradient(&f);
            let mut c: Vec<f64> = s.iter().map(|s| value * s).collect();
            for &(i, j, q) in &self.apart {
                let difference = f[i as usize] - f[j as usize];
                // The subgradient 0 where the two are equal.
                let g = if difference == 0.0 { 0.0 } else { gamma * q * difference.signum() };
                c[i as usize] += g;
                c[j as usize] -= g;
            }
            let flat = FLAT * value * dot(&s, &f);
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
            f = next;
            each(value);
            streak += 1;
            if streak == STREAK {
                streak = 0;
                iterations = (2 * iterations).min(inner_max);
            }
        }
        Ok(f)
    }

    /// Descends from every point and leaves each where it ended; returns their best thresholds.
    ///
    /// # Errors
    /// Cancellation.
    pub fn descend_all(
        &self,
        points: &mut [Vec<f64>],
        gamma: f64,
        inner_max: usize,
        ctx: &Context,
    ) -> Result<Vec<Side>> {
        // Small descents are over before another thread is awake.
        let together = if self.n() < PARALLEL { points.len().max(1) } else { 1 };
        points
            .par_iter_mut()
            .with_min_len(together)
            .map(|f| {
                *f = self.descend(std::mem::take(f), gamma, inner_max, ctx)?;
                Ok(self.threshold(f, gamma))
            })
            .collect()
    }
}

/// The dual of the inner problem min R₁(f) − ⟨c, f⟩ over ‖f‖ ≤ 1, solved by FISTA.
///
/// Flows α on the edges, bounded by their weights, and a point v of the simplex; the other point u of
/// the simplex is eliminated. Everything is divided by the penalty K = γ·(weight of all cannot-links),
/// and flows by √(2·degree) more, so that the step is ½. Without penalty there is no simplex and the
/// step is 1.
struct Dual {
    penalty: f64,
    root: f64,
    flow: Vec<f64>,
    ahead: Vec<f64>,
    v: Vec<f64>,
    v_ahead: Vec<f64>,
    momentum: f64,
    residual: Vec<f64>,
    scratch: Vec<f64>,
}

impl Dual {
    fn new(problem: &TwoWay, penalty: f64) -> Self {
        let (n, m) = (problem.n(), problem.edges.len());
        let uniform = vec![1.0 / n as f64; if penalty > 0.0 { n } else { 0 }];
        Dual {
            penalty,
            root: (2.0 * problem.degree.max(1) as f64).sqrt(),
            flow: vec![0.0; m],
            ahead: vec![0.0; m],
            v: uniform.clone(),
            v_ahead: uniform,
            momentum: 1.0,
            residual: vec![0.0; n],
            scratch: Vec::with_capacity(n),
        }
    }

    /// Forgets the momentum, keeps the point: c has changed.
    fn restart(&mut self) {
        self.momentum = 1.0;
        self.ahead.copy_from_slice(&self.flow);
        self.v_ahead.copy_from_slice(&self.v);
    }

    /// What everything is divided by.
    fn unit(&self) -> f64 {
        if self.penalty > 0.0 { self.penalty } else { 1.0 }
    }

    /// The residual c − Bᵀα − K(u − v), in units of K, at `flow` and `v`.
    fn take_residual(&mut self, problem: &TwoWay, c: &[f64], ahead: bool) {
        let (flow, v) = if ahead { (&self.ahead, &self.v_ahead) } else { (&self.flow, &self.v) };
        let unit = 1.0 / self.unit();
        let z = &mut self.residual;
        z.iter_mut().zip(c).for_each(|(z, c)| *z = c * unit);
        z.iter_mut().zip(v).for_each(|(z, v)| *z += v);
        let scale = 1.0 / self.root;
        for (&(i, j, _), a) in problem.edges.iter().zip(flow) {
            let a = a * scale;
            z[i as usize] -= a;
            z[j as usize] += a;
        }
        if self.penalty > 0.0 {
            let level = simplex_level(z, &mut self.scratch);
            // z − max(z − level, 0)
            z.iter_mut().for_each(|z| *z = z.min(level));
        }
    }

    /// Runs up to `iterations` more; gives how much the inner problem can gain at most.
    fn iterate(
        &mut self,
        problem: &TwoWay,
        c: &[f64],
        gamma: f64,
        iterations: usize,
        ctx: &Context,
    ) -> Result<f64> {
        let step = if self.penalty > 0.0 { 0.5 } else { 1.0 };
        let bound = self.root / self.unit();
        for at in 1..=iterations {
            self.take_residual(problem, c, true);
            let momentum = (1.0 + (1.0 + 4.0 * self.momentum * self.momentum).sqrt()) / 2.0;
            let carry = (self.momentum - 1.0) / momentum;
            self.momentum = momentum;
            let scale = step / self.root;
            let r = &self.residual;
            for ((&(i, j, w), flow), ahead) in
                problem.edges.iter().zip(&mut self.flow).zip(&mut self.ahead)
            {
                let limit = w * bound;
                let new = *ahead + scale * (r[i as usize] - r[j as usize]);
                let new = new.max(-limit).min(limit);
                *ahead = new + carry * (new - *flow);
                *flow = new;
            }
            if self.penalty > 0.0 {
                let moved = &mut self.v_ahead;
                moved.iter_mut().zip(r).for_each(|(v, r)| *v -= step * r);
                let level = simplex_level(moved, &mut self.scratch);
                for (v, ahead) in self.v.iter_mut().zip(moved) {
                    let new = (*ahead - level).max(0.0);
                    *ahead = new + carry * (new - *v);
                    *v = new;
                }
            }
            if at % LOOK == 0 {
                ctx.check()?;
                self.take_residual(problem, c, false);
                let gain = self.unit() * norm(&self.residual);
                if gain == 0.0 {
                    return Ok(0.0);
                }
                let f = &self.residual;
                let primal = (problem.upper(f, gamma) - dot(c, f)) / norm(f);
                if primal + gain < GAP * gain {
                    return Ok(gain);
                }
            }
        }
        self.take_residual(problem, c, false);
        Ok(self.unit() * norm(&self.residual))
    }

    /// The primal point of the last residual.
    fn point(&self) -> Vec<f64> {
        self.residual.clone()
    }
}

/// The level t for which max(z − t, 0) sums to 1: the projection on the simplex subtracts it.
fn simplex_level(z: &[f64], active: &mut Vec<f64>) -> f64 {
    let largest = z.iter().fold(f64::NEG_INFINITY, |m, &v| m.max(v));
    // The level lies within 1 below the largest entry: what is lower never counts.
    active.clear();
    active.extend(z.iter().copied().filter(|&v| v > largest - 1.0));
    loop {
        let before = active.len();
        let level = (active.iter().sum::<f64>() - 1.0) / before.max(1) as f64;
        active.retain(|&v| v > level);
        if active.len() == before || active.is_empty() {
            return level;
        }
    }
}

/// Vertices in ascending order of f, ties by index.
fn ascending(f: &[f64]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..f.len() as u32).collect();
    order.sort_by(|&a, &b| f[a as usize].total_cmp(&f[b as usize]));
    order
}

fn spread(f: &[f64]) -> f64 {
    let (low, high) = f
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)));
    high - low
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| a * b).sum()
}

fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
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
    use proptest::prelude::*;

    fn ctx() -> Context {
        Context::new(1)
    }

    /// Where a descent ends, and the values on its way.
    fn descended(two: &TwoWay, f: Vec<f64>, gamma: f64, inner: usize) -> (Vec<f64>, Vec<f64>) {
        let mut values = Vec::new();
        let f = two.steps(f, gamma, inner, |value| values.push(value), &ctx()).unwrap();
        (f, values)
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
        let f = two.descend(f, 0.0, 10_000, &ctx()).unwrap();
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
    fn simplex_projection_by_hand() {
        let mut scratch = Vec::new();
        // (0.5, 1.2, −3): the level 0.35 leaves 0.15 and 0.85.
        assert!((simplex_level(&[0.5, 1.2, -3.0], &mut scratch) - 0.35).abs() < 1e-15);
        assert_eq!(simplex_level(&[7.0, 2.0], &mut scratch), 6.0);
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
                    let f = two.descend(start, gamma, 10_000, &ctx()).unwrap();
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
