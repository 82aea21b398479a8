//! The inner problem of a step of RatioDCA, min R₁(f) − ⟨c, f⟩ over ‖f‖ ≤ 1, solved by its dual.

use std::cell::Cell;

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
    scratch: Vec<f64>,
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
            scratch: Vec::with_capacity(n),
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

    /// Visits every edge with the difference of the residuals at its ends, and puts the residual for
    /// the flows that `flow` returns into `next`.
    fn pass(&mut self, c: &[f64], at: At, flow: impl Fn(&mut Edge, f64) -> f64) {
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
            let mut sum = z[i];
            for edge in row {
                let j = edge.to as usize;
                let a = flow(edge, here - self.residual[j]) * scale;
                sum -= a;
                z[j] += a;
            }
            z[i] = sum;
        }
        if self.penalty > 0.0 {
            let level = simplex_level(z, &mut self.scratch);
            // z − max(z − level, 0)
            z.iter_mut().for_each(|z| *z = z.min(level));
        }
    }

    /// Puts the residual at a point into `next`.
    fn take_residual(&mut self, c: &[f64], at: At) {
        match at {
            At::Solution => self.pass(c, at, |edge, _| edge.flow),
            At::Ahead => self.pass(c, at, |edge, _| edge.ahead),
        }
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
            let level = simplex_level(moved, &mut self.scratch);
            for ((v, ahead), r) in self.v.iter_mut().zip(moved).zip(&self.residual) {
                let new = (*ahead - level).max(0.0);
                against -= self.root * r * (new - *v);
                *ahead = new + carry * (new - *v);
                *v = new;
            }
        }
        let scale = step / self.root;
        let against = Cell::new(against);
        self.pass(c, At::Ahead, |edge, difference| {
            let new = edge.ahead + scale * difference;
            // Not `clamp`: one instruction for each side.
            let new = if new > -edge.limit { new } else { -edge.limit };
            let new = if new < edge.limit { new } else { edge.limit };
            let moved = new - edge.flow;
            against.set(against.get() + difference * moved);
            edge.ahead = new + carry * moved;
            edge.flow = new;
            edge.ahead
        });
        std::mem::swap(&mut self.residual, &mut self.next);
        if against.get() < 0.0 {
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

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::random::SeedPath;
    use mustlink_kernels::graph::adjacency::Graph;

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
        let mut scratch = Vec::new();
        // (0.5, 1.2, −3): the level 0.35 leaves 0.15 and 0.85.
        assert!((simplex_level(&[0.5, 1.2, -3.0], &mut scratch) - 0.35).abs() < 1e-15);
        assert_eq!(simplex_level(&[7.0, 2.0], &mut scratch), 6.0);
    }
}
