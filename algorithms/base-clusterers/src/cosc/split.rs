//! Repeated splits in two until there are k parts.

use mustlink_core::prelude::*;

use super::one_spectral::Descent;
use super::reduced::Reduced;
use super::starts::{eigenvector, random};
use super::two_way::Side;

/// Search for more than two clusters.
pub(super) struct Splitting {
    /// Repetitions.
    pub(super) outer_runs: usize,
    /// Starts of each split.
    pub(super) starts: usize,
    /// Largest number of inner iterations of a step.
    pub(super) inner_max: usize,
    /// Cost of a broken cannot-link; absent: raised until enough of them hold.
    pub(super) gamma: Option<f64>,
    /// Keep the repetition that breaks the fewest cannot-links, not the one of smallest cut.
    pub(super) violations_first: bool,
}

/// A way to split a part.
#[derive(Clone)]
struct Split {
    sides: [Vec<u32>; 2],
    costs: [f64; 2],
    /// Cannot-links it satisfies.
    gained: usize,
}

/// A part of the vertices and, once sought, the ways to split it.
struct Part {
    vertices: Vec<u32>,
    cost: f64,
    splits: Option<Vec<Split>>,
}

/// A result of recursive splitting.
struct Partition {
    parts: Vec<Vec<u32>>,
    satisfied: usize,
    cost: f64,
}

impl Splitting {
    /// Splits parts in two until there are k, several times; gives the part of each vertex.
    pub(super) fn search(&self, reduced: &Reduced, k: usize, ctx: &Context) -> Result<Vec<u32>> {
        let one = |run| self.recursive(reduced, k, &ctx.index(run));
        let mut best: Option<Partition> = None;
        reduce::in_waves(self.outer_runs, one, |run| {
            let better = best.as_ref().is_none_or(|b| {
                if self.violations_first && run.satisfied != b.satisfied {
                    run.satisfied > b.satisfied
                } else {
                    run.cost < b.cost
                }
            });
            if better {
                best = Some(run);
            }
            Ok(())
        })?;
        let mut part = vec![0; reduced.n()];
        for (at, vertices) in best.into_iter().flat_map(|b| b.parts).enumerate() {
            vertices.iter().for_each(|&v| part[v as usize] = at as u32);
        }
        Ok(part)
    }

    fn recursive(&self, reduced: &Reduced, k: usize, ctx: &Context) -> Result<Partition> {
        let all: Vec<u32> = (0..reduced.n() as u32).collect();
        let links = reduced.apart.len();
        let mut parts = vec![Part { vertices: all, cost: 0.0, splits: None }];
        let mut satisfied = 0;
        let mut sought = 0;
        while parts.len() < k {
            for part in parts.iter_mut().filter(|p| p.splits.is_none()) {
                let among = self.clusters_of(part, reduced, k);
                part.splits = Some(self.splits(part, reduced, among, &ctx.index(sought))?);
                sought += 1;
            }
            let total: f64 = parts.iter().map(|p| p.cost).sum();
            let goal = parts.len() + 1;
            // (part, split, cannot-links gained, multi-cut afterwards, whether it gains enough)
            let mut candidates = Vec::new();
            for (p, part) in parts.iter().enumerate() {
                let among = self.clusters_of(part, reduced, k);
                let needed = 2 * (among - 1) * links / (k * (k - 1));
                for (s, split) in part.splits.iter().flatten().enumerate() {
                    let after = total - part.cost + split.costs[0] + split.costs[1];
                    candidates.push((p, s, split.gained, after, split.gained >= needed));
                }
            }
            let (p, s) = chosen(
                &candidates,
                |gained| {
                    // Satisfied in all: (2k − l)(l − 1)|CL| / (k(k − 1)) is what is expected by now.
                    goal < k
                        && (satisfied + gained) * k * (k - 1) >= (2 * k - goal) * (goal - 1) * links
                },
                goal == k,
            );
            let part = parts.swap_remove(p);
            let split = part.splits.into_iter().flatten().nth(s);
            if let Some(Split { sides, costs, gained }) = split {
                satisfied += gained;
                for (vertices, cost) in sides.into_iter().zip(costs) {
                    parts.push(Part { vertices, cost, splits: None });
                }
            }
        }
        Ok(Partition {
            cost: parts.iter().map(|p| p.cost).sum(),
            satisfied,
            parts: parts.into_iter().map(|p| p.vertices).collect(),
        })
    }

    /// Number of clusters that a part may be expected to hold (k_m).
    fn clusters_of(&self, part: &Part, reduced: &Reduced, k: usize) -> usize {
        (part.vertices.len() * k / reduced.n()).max(2)
    }

    /// The ways to split a part: one that is connected, by its best cut; otherwise one connected
    /// component against the rest, or a component split, with the rest where it costs less.
    fn splits(
        &self,
        part: &Part,
        reduced: &Reduced,
        among: usize,
        ctx: &Context,
    ) -> Result<Vec<Split>> {
        let vertices = &part.vertices;
        if vertices.len() < 2 {
            return Ok(Vec::new());
        }
        let made = |a: Vec<u32>, b: Vec<u32>| Split {
            costs: [reduced.cost(&a), reduced.cost(&b)],
            gained: reduced.parted(&a, &b),
            sides: [a, b],
        };
        let (component, count) = reduced.graph.induced(vertices).components();
        if count == 1 {
            let [a, b] = self.bisect(vertices, reduced, among, ctx)?;
            return Ok(vec![made(a, b)]);
        }
        let mut found = Vec::new();
        for c in 0..count as u32 {
            let [own, rest] = two_sides(vertices, |at| component[at] == c);
            if own.len() > 1 {
                let [a, b] = self.bisect(&own, reduced, among, &ctx.index(c as usize))?;
                let joined = |x: &[u32]| {
                    let mut x = [x, &rest].concat();
                    x.sort_unstable();
                    x
                };
                let first = made(joined(&a), b.clone());
                let second = made(a.clone(), joined(&b));
                let cost = |s: &Split| s.costs[0] + s.costs[1];
                found.push(if cost(&second) < cost(&first) { second } else { first });
            }
            found.push(made(own, rest));
        }
        Ok(found)
    }

    /// The best cut of a connected part, with γ raised until it may break no more than its share.
    fn bisect(
        &self,
        vertices: &[u32],
        reduced: &Reduced,
        among: usize,
        ctx: &Context,
    ) -> Result<[Vec<u32>; 2]> {
        if let [a, b] = vertices {
            return Ok([vec![*a], vec![*b]]);
        }
        let (two, graph) = reduced.two_way(vertices);
        let inner_max = self.inner_max;
        let mass: Vec<f64> = vertices.iter().map(|&v| reduced.mass[v as usize]).collect();
        let mut points = vec![Descent::from(eigenvector(&graph, &mass, ctx)?)];
        for t in 1..self.starts {
            ctx.check()?;
            points.push(random(two.n(), &mut ctx.index(t).stream("start")).into());
        }
        let allowed = (among - 2) * two.apart().len() / among;
        let (mut gamma, mut raise) = match self.gamma {
            Some(gamma) => (gamma, None),
            None => (0.0, Some(0.1)),
        };
        // The smallest cut from the first admissible γ on; until then, the fewest broken.
        let mut best: Option<(bool, usize, f64, Vec<bool>)> = None;
        let mut before = f64::NAN;
        for _ in 0..5 {
            let mut lowest: Option<Side> = None;
            for side in two.descend_all(&mut points, gamma, inner_max, ctx)? {
                if lowest.as_ref().is_none_or(|l| side.value < l.value) {
                    lowest = Some(side);
                }
            }
            let Some(side) = lowest.filter(|s| s.value.is_finite()) else { break };
            let (cut, broken) = (two.set_value(&side.inside, 0.0), two.violated(&side.inside).0);
            let admitted = best.as_ref().is_some_and(|b| b.0) || broken <= allowed;
            let better = best.as_ref().is_none_or(|b| match (admitted, b.0) {
                (true, true) => cut < b.2,
                (true, false) => true,
                _ => (broken, cut) < (b.1, b.2),
            });
            if better {
                best = Some((admitted, broken, cut, side.inside));
            }
            let Some(step) = raise.as_mut().filter(|_| broken > 0) else { break };
            if cut == before {
                *step *= 2.0;
            }
            before = cut;
            gamma += *step;
        }
        Ok(match best {
            Some((.., inside)) => two_sides(vertices, |at| inside[at]),
            // Weights too far apart for arithmetic: any split is as good.
            None => two_sides(vertices, |at| at == 0),
        })
    }
}

/// The vertices at places that are inside, and the others, in order.
fn two_sides(vertices: &[u32], inside: impl Fn(usize) -> bool) -> [Vec<u32>; 2] {
    let (a, b): (Vec<usize>, Vec<usize>) = (0..vertices.len()).partition(|&at| inside(at));
    [a, b].map(|side| side.into_iter().map(|at| vertices[at]).collect())
}

/// The candidate to take, of (part, split, gained, multi-cut afterwards, whether it gains enough).
///
/// Among candidates that gain enough: for the last split the largest gain; before, the smallest
/// multi-cut of those with the largest gain or at least the expected one. If no candidate gains enough, the largest
/// gain. Ties: the smaller multi-cut, then the first.
fn chosen(
    candidates: &[(usize, usize, usize, f64, bool)],
    keeps_up: impl Fn(usize) -> bool,
    last: bool,
) -> (usize, usize) {
    let any = candidates.iter().any(|c| c.4);
    let enough = |c: &&(usize, usize, usize, f64, bool)| c.4 || !any;
    let most = candidates.iter().filter(enough).map(|c| c.2).max().unwrap_or(0);
    let best = candidates
        .iter()
        .filter(enough)
        .filter(|c| c.2 == most || (any && !last && keeps_up(c.2)))
        .min_by(|a, b| a.3.total_cmp(&b.3));
    best.map_or((0, 0), |c| (c.0, c.1))
}
