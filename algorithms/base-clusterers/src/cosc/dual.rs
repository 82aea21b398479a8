//! The inner problem of a step of RatioDCA, min R₁(f) − ⟨c, f⟩ over ‖f‖ ≤ 1, solved by its dual.

use mustlink_core::{Context, Result};

use super::two_way::{TwoWay, dot, norm};

/// Iterations between two checks of the duality gap.
const LOOK: usize = 20;
/// Relative duality gap at which the inner problem counts as solved.
const GAP: f64 = 1e-6;

/// The dual of the inner problem, solved by FISTA.
///
/// Flows α on the edges, bounded by their weights, and a point v of the simplex; the other point u of
/// the simplex is eliminated. Everything is divided by the penalty K = γ·(weight of all cannot-links),
/// and flows also by √(2·degree), so that the step is ½. Without a penalty the simplex is absent and the
/// step is 1.
pub(super) struct Dual {
    penalty: f64,
    root: f64,
    /// Number of edges in the row of each vertex.
    row: Vec<u32>,
    edges: Vec<Edge>,
    v: Vec<f64>,
    v_ahead: Vec<f64>,
    momentum: f64,
    /// c − Bᵀα − K(u − v), in units of K.
    residual: Vec<f64>,
    next: Vec<f64>,
    /// Projections of v and of the residual on the simplex.
    of_v: SimplexLevel,
    of_residual: SimplexLevel,
}

/// One edge; what an iteration reads of it lies together.
#[derive(Clone, Copy)]
struct Edge {
    to: u32,
    /// Largest flow.
    limit: f64,
    flow: f64,
    ahead: f64,
}

/// Which of the two points of FISTA.
#[derive(Clone, Copy, PartialEq)]
enum At {
    /// The solution so far.
    Solution,
    /// Ahead of it, where the momentum leads.
    Ahead,
}

impl Dual {
    /// Without penalty, at no flow.
    pub(super) fn new(problem: &TwoWay) -> Self {
        let n = problem.n();
        let root = (2.0 * problem.degree.max(1) as f64).sqrt();
        let mut row = vec![0; n];
        let mut edges = Vec::with_capacity(problem.edges.len());
        for &(i, to, w) in &problem.edges {
            row[i as usize] += 1;
            edges.push(Edge { to, limit: w * root, flow: 0.0, ahead: 0.0 });
        }
        Dual {
            penalty: 0.0,
            root,
            row,
            edges,
            v: Vec::new(),
            v_ahead: Vec::new(),
            momentum: 1.0,
            residual: vec![0.0; n],
            next: vec![0.0; n],
            of_v: SimplexLevel::new(n),
            of_residual: SimplexLevel::new(n),
        }
    }

    /// Goes on with another penalty from the same flows.
    pub(super) fn set_penalty(&mut self, problem: &TwoWay, penalty: f64) {
        let before = self.unit();
        self.penalty = penalty;
        let unit = self.unit();
        for (edge, &(.., w)) in self.edges.iter_mut().zip(&problem.edges) {
            edge.limit = w * self.root / unit;
            let flow = edge.flow * before / unit;
            // Rounding may lead a little beyond.
            edge.flow = flow.max(-edge.limit).min(edge.limit);
        }
        let simplex = if penalty > 0.0 { problem.n() } else { 0 };
        if self.v.len() != simplex {
            self.v = vec![1.0 / problem.n() as f64; simplex];
            self.v_ahead = self.v.clone();
        }
    }

    /// Forgets the momentum, keeps the point: c has changed.
    pub(super) fn restart(&mut self) {
        self.momentum = 1.0;
        self.edges.iter_mut().for_each(|e| e.ahead = e.flow);
        self.v_ahead.copy_from_slice(&self.v);
    }

    /// Divisor of all quantities.
    fn unit(&self) -> f64 {
        if self.penalty > 0.0 { self.penalty } else { 1.0 }
    }

    /// Visits every edge with the difference of the residuals at its ends. `flow` returns the flow of the edge and a
    /// term: the residual for these flows is put into `next`, and the terms are added to `sum` in the order of edges.
    // Inlined into a descent, the sum would be kept in memory, and each edge would wait for it.
    #[inline(never)]
    fn pass(
        &mut self,
        c: &[f64],
        at: At,
        mut sum: f64,
        flow: impl Fn(&mut Edge, f64) -> (f64, f64),
    ) -> f64 {
        let unit = 1.0 / self.unit();
        let v = if at == At::Ahead { &self.v_ahead } else { &self.v };
        let z = self.next.as_mut_slice();
        z.iter_mut().zip(c).for_each(|(z, c)| *z = c * unit);
        z.iter_mut().zip(v).for_each(|(z, v)| *z += v);
        let scale = 1.0 / self.root;
        let mut rest = self.edges.as_mut_slice();
        for (i, (&count, &here)) in self.row.iter().zip(&self.residual).enumerate() {
            let (row, after) = std::mem::take(&mut rest).split_at_mut(count as usize);
            rest = after;
            // All edges of a row change the same entry: it stays in a register.
            let mut own = z[i];
            for edge in row {
                let j = edge.to as usize;
                let (a, term) = flow(edge, here - self.residual[j]);
                let a = a * scale;
                sum += term;
                own -= a;
                z[j] += a;
            }
            z[i] = own;
        }
        if self.penalty > 0.0 {
            let level = self.of_residual.find(z);
            // z − max(z − level, 0)
            z.iter_mut().for_each(|z| *z = z.min(level));
        }
        sum
    }

    /// Puts the residual at a point into `next`.
    fn take_residual(&mut self, c: &[f64], at: At) {
        match at {
            At::Solution => self.pass(c, at, 0.0, |edge, _| (edge.flow, 0.0)),
            At::Ahead => self.pass(c, at, 0.0, |edge, _| (edge.ahead, 0.0)),
        };
    }

    /// One iteration from the residual ahead: moves the point, and finds the new residual ahead.
    fn step(&mut self, c: &[f64]) {
        let step = if self.penalty > 0.0 { 0.5 } else { 1.0 };
        let momentum = (1.0 + (1.0 + 4.0 * self.momentum * self.momentum).sqrt()) / 2.0;
        let carry = (self.momentum - 1.0) / momentum;
        self.momentum = momentum;
        let mut against = 0.0;
        if self.penalty > 0.0 {
            let moved = &mut self.v_ahead;
            moved.iter_mut().zip(&self.residual).for_each(|(v, r)| *v -= step * r);
            let level = self.of_v.find(moved);
            for ((v, ahead), r) in self.v.iter_mut().zip(moved).zip(&self.residual) {
                let new = (*ahead - level).max(0.0);
                against -= self.root * r * (new - *v);
                *ahead = new + carry * (new - *v);
                *v = new;
            }
        }
        let scale = step / self.root;
        let against = self.pass(c, At::Ahead, against, move |edge, difference| {
            let new = edge.ahead + scale * difference;
            // Not `clamp`: one instruction for each side.
            let new = if new > -edge.limit { new } else { -edge.limit };
            let new = if new < edge.limit { new } else { edge.limit };
            let moved = new - edge.flow;
            edge.ahead = new + carry * moved;
            edge.flow = new;
            (edge.ahead, difference * moved)
        });
        std::mem::swap(&mut self.residual, &mut self.next);
        if against < 0.0 {
            // The momentum leads uphill.
            self.restart();
            self.take_residual(c, At::Ahead);
            std::mem::swap(&mut self.residual, &mut self.next);
        }
    }

    /// Runs up to `iterations` more; gives how much the inner problem can gain at most.
    ///
    /// # Errors
    /// Cancellation.
    pub(super) fn iterate(
        &mut self,
        problem: &TwoWay,
        c: &[f64],
        gamma: f64,
        iterations: usize,
        ctx: &Context,
    ) -> Result<f64> {
        self.take_residual(c, At::Ahead);
        std::mem::swap(&mut self.residual, &mut self.next);
        for at in 1..=iterations {
            self.step(c);
            if at % LOOK == 0 {
                ctx.check()?;
                self.take_residual(c, At::Solution);
                let f = &self.next;
                let gain = self.unit() * norm(f);
                if gain == 0.0 {
                    return Ok(0.0);
                }
                let primal = (problem.upper(f, gamma) - dot(c, f)) / norm(f);
                if primal + gain < GAP * gain {
                    return Ok(gain);
                }
            }
        }
        self.take_residual(c, At::Solution);
        Ok(self.unit() * norm(&self.next))
    }

    /// The primal point of the solution so far, after [`Dual::iterate`].
    pub(super) fn point(&self) -> Vec<f64> {
        self.next.clone()
    }
}

/// The level t for which max(z − t, 0) sums to 1, for points z that change little from one to the next. The projection
/// on the simplex subtracts it.
struct SimplexLevel {
    /// The level of the last point, and how far it was from the one before.
    last: f64,
    moved: f64,
    active: Vec<f64>,
}

impl SimplexLevel {
    fn new(n: usize) -> Self {
        SimplexLevel { last: f64::NAN, moved: 0.0, active: Vec::with_capacity(n) }
    }

    /// The level of `z`: the same bits whatever the points before.
    fn find(&mut self, z: &[f64]) -> f64 {
        let level = self.level_from_last(z).unwrap_or_else(|| self.level_from_largest(z));
        self.moved = (level - self.last).abs();
        self.last = level;
        level
    }

    /// The level if it is certain that [`SimplexLevel::level_from_largest`] finds the same entries above it.
    ///
    /// Both drop entries until all that are left lie above (Σ − 1)/count. In exact arithmetic they end with the entries
    /// above the level, if they begin with all of these. Their levels are rounded by at most r = n·ε·(|t| + 1), because
    /// no entry that counts is farther than 1 from t. An entry on the wrong side of a rounded level is then within n·r
    /// of the exact one.
    fn level_from_last(&mut self, z: &[f64]) -> Option<f64> {
        let low = self.last - 3.0 * self.moved - 1e-12 * self.last.abs();
        let level = self.drop_from(z, low);
        let n = z.len() as f64;
        let margin = 4.0 * n * n * f64::EPSILON * (level.abs() + 1.0);
        // No early end: usually, no entry is near.
        let near = z.iter().filter(|v| (**v - level).abs() <= margin).count();
        // All entries may have sunk below.
        let is_certain = !self.active.is_empty() && level >= low + margin && near == 0;
        is_certain.then_some(level)
    }

    fn level_from_largest(&mut self, z: &[f64]) -> f64 {
        let largest = z.iter().fold(f64::NEG_INFINITY, |m, &v| m.max(v));
        // The level lies within 1 below the largest entry, so lower entries never count.
        self.drop_from(z, largest - 1.0)
    }

    /// Takes the entries above `low`, and drops entries until all others are above their level, which it returns.
    fn drop_from(&mut self, z: &[f64], low: f64) -> f64 {
        let active = &mut self.active;
        active.clear();
        active.extend(z.iter().copied().filter(|&v| v > low));
        loop {
            let before = active.len();
            let level = (active.iter().sum::<f64>() - 1.0) / before.max(1) as f64;
            active.retain(|&v| v > level);
            if active.len() == before || active.is_empty() {
                return level;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::random::SeedPath;
    use mustlink_kernels::graph::adjacency::Graph;
    use proptest::prelude::*;

    #[test]
    fn another_penalty_leads_to_the_optimum_a_fresh_start_finds() {
        let mut s = SeedPath::new(5).stream("problem");
        for links in 0..4 {
            let ring = (0..9u32).map(|i| (i, (i + 1) % 9));
            let across = (0..4u32).map(|i| (i, i + 4));
            let edges: Vec<(u32, u32, f64)> =
                ring.chain(across).map(|(i, j)| (i.min(j), i.max(j), 0.1 + s.unit())).collect();
            let graph = Graph::from_edges(9, edges, f64::max);
            let apart: Vec<(u32, u32, f64)> = (0..links).map(|i| (i, i + 3, 1.0)).collect();
            let two = TwoWay::new(&graph, graph.degrees(), apart);
            let c: Vec<f64> = (0..9).map(|_| s.normal()).collect();
            let mean = c.iter().sum::<f64>() / 9.0;
            let c: Vec<f64> = c.iter().map(|v| v - mean).collect();
            let solved = |dual: &mut Dual, gamma: f64| {
                dual.set_penalty(&two, gamma * two.apart_weight);
                dual.restart();
                dual.iterate(&two, &c, gamma, 100_000, &Context::new(1)).unwrap()
            };
            for gamma in [0.0, 0.05, 0.8] {
                let fresh = solved(&mut Dual::new(&two), gamma);
                let mut dual = Dual::new(&two);
                for before in [0.0, 0.3, 1.5] {
                    solved(&mut dual, before);
                    let again = solved(&mut dual, gamma);
                    assert!((again - fresh).abs() <= 1e-4 * (1.0 + fresh), "{again} {fresh}");
                    // No flow beyond its edge: another optimum would be of another graph.
                    assert!(dual.edges.iter().all(|e| e.flow.abs() <= e.limit));
                }
            }
        }
    }

    #[test]
    fn simplex_projection_by_hand() {
        let level = |z: &[f64]| SimplexLevel::new(z.len()).find(z);
        // (0.5, 1.2, −3): the level 0.35 leaves 0.15 and 0.85.
        assert!((level(&[0.5, 1.2, -3.0]) - 0.35).abs() < 1e-15);
        assert_eq!(level(&[7.0, 2.0]), 6.0);
        // All entries sink below the level of the points before.
        let mut sinking = SimplexLevel::new(2);
        let levels = [[0.0, 0.5], [0.0, 0.5], [0.0, 0.5], [-8.0, -8.0]].map(|z| sinking.find(&z));
        assert_eq!(levels, [-0.25, -0.25, -0.25, -8.5]);
    }

    proptest! {
        /// Points that change little, with entries that are equal or lie on the level.
        #[test]
        fn the_point_before_changes_no_bit_of_a_level(
            seed: u64,
            n in 1usize..60,
            step in prop_oneof![Just(0.0), Just(1e-14), Just(1e-9), Just(1e-3), Just(1.0)],
            grid in prop_oneof![Just(0.0), Just(0.5), Just(0.01)],
        ) {
            let mut s = SeedPath::new(seed).stream("case");
            let shift = 10.0 * s.normal();
            let mut z: Vec<f64> = (0..n).map(|_| shift + s.normal() * 3.0 / n as f64).collect();
            let mut warm = SimplexLevel::new(n);
            let mut used = 0;
            for _ in 0..12 {
                let shown: Vec<f64> = match grid {
                    0.0 => z.clone(),
                    _ => z.iter().map(|v| (v / grid).round() * grid).collect(),
                };
                let cold = SimplexLevel::new(n).level_from_largest(&shown);
                used += usize::from(warm.level_from_last(&shown).is_some());
                prop_assert_eq!(warm.find(&shown).to_bits(), cold.to_bits());
                z.iter_mut().for_each(|v| *v += step * s.normal());
                // An entry at the level itself.
                if used % 3 == 2 {
                    z[0] = cold;
                }
            }
        }
    }
}
