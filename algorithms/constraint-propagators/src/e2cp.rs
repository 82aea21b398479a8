//! Constraint propagation along a neighbour graph, with a strength for every pair.

use mustlink_core::constraints::Origin;
use mustlink_core::prelude::*;
use mustlink_kernels::distance::kd_tree::KdTree;
use ndarray::{Array2, Axis, Slice};

/// Form of the result.
#[options]
pub enum Output {
    /// The graph with its affinities raised and lowered.
    #[default]
    Affinity,
    /// Constraints for the pairs with a weight of at least `g`.
    Pairs,
}

/// Exhaustive and efficient constraint propagation: constraints diffuse over a neighbour graph.
///
/// # Method
/// F = (I − αL̄)⁻¹ Z (I − αL̄)⁻¹ with L̄ = D^(−½)·W·D^(−½), W the affinities of the graph and Z +w for must-links, −w
/// for cannot-links; divided by its largest entry, so that |F| is at most 1. The affinity W of each pair, 0 without
/// an edge, becomes 1 − (1 − F)(1 − W) if F ≥ 0 and (1 + F)·W otherwise. With `output = "pairs"`, each pair with |F|
/// ≥ `g` becomes a constraint of that weight and sign instead.
/// # Input and output
/// Dense or sparse objects, or affinities in [0, 1] as the graph. For objects the graph joins the `knn` nearest,
/// weighted exp(−‖x − y‖² / (σ_x·σ_y)) with σ the distance to the farthest of them. The result is n × n affinities
/// with a zero diagonal, or constraints, the given ones first.
/// # Errors
/// `BadParam`; `TooManyPropagated` above `max_pairs`.
/// # Cost and randomness
/// O(constrained objects · (edges · 30 + n²)): F = Y·Z·Yᵀ with one solved column of Y for each constrained object.
/// Affinities take n² memory; constraints take memory for the pairs of at least `g`. Not random.
/// # References
/// [LuIp2010] §3; [ZelnikManorPerona2004] for the local scale. The paper assumes |F| ≤ 1. F of its formula is seldom
/// above 0.1 (α = 0.8), which changes nothing, hence the division. Differs: an edge that only one of two objects has
/// to the other counts whole, not half.
#[options]
pub struct E2cp {
    /// Strength of the diffusion of constraints (α).
    #[option(default = 0.8, above = 0.0, below = 1.0)]
    pub alpha: f64,
    /// Number of neighbours of each object in the graph, at most n − 1.
    #[option(default = 20, min = 1)]
    pub knn: usize,
    /// Form of the result.
    pub output: Output,
    /// Smallest strength of pairs to keep, as a share of the largest. If absent, 0.5 for constraints and no limit for
    /// new edges.
    #[option(above = 0.0, max = 1.0)]
    pub g: Option<f64>,
    /// Add edges between objects that are not neighbours and have F > 0.
    #[option(default = true)]
    pub densify: bool,
    /// Maximum number of pairs to make.
    #[option(default = 50_000_000, min = 1)]
    pub max_pairs: u64,
    /// Maximum number of objects for an affinity matrix, which holds a number for every pair.
    #[option(default = 20_000, min = 1)]
    pub max_objects: usize,
}

/// Smallest share of the largest strength at which a pair becomes a constraint.
const PAIRS_FROM: f64 = 0.5;
/// Rows of F made at once.
const BLOCK: usize = 256;
/// Relative residual at which a column is solved.
const SOLVED: f64 = 1e-10;
/// With more features a tree rules out too little.
const TREE_FEATURES: usize = 15;

#[plugin("e2cp", cites = ["LuIp2010", "ZelnikManorPerona2004"], version = 2)]
impl ConstraintPropagator for E2cp {
    fn propagate(
        &self,
        constraints: &Constraints,
        _: Option<&Clustering>,
        problem: &Problem,
        ctx: &Context,
    ) -> Result<Propagated> {
        if self.output == Output::Affinity {
            problem.require_at_most(self.max_objects)?;
        }
        let graph = self.graph(&problem.data, ctx)?;
        let flow = Flow::new(&graph, constraints, self.alpha, ctx)?;
        match self.output {
            Output::Affinity => self.affinity(&graph, &flow, ctx).map(Propagated::Affinity),
            Output::Pairs => {
                self.pairs(constraints, &flow, graph.len(), ctx).map(Propagated::Constraints)
            }
        }
    }

    fn properties(&self) -> PropagatorProperties {
        PropagatorProperties {
            accepts: vec![DataKind::Dense, DataKind::Csr, DataKind::Affinity],
            gives: (self.output == Output::Affinity).then_some(DataKind::Affinity),
            ..PropagatorProperties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let n = shape.n as u64;
        let ends = (2 * shape.constraints as u64).min(n);
        let made = match self.output {
            // The result, and what it is made of.
            Output::Affinity => 16 * n * n,
            Output::Pairs => 96 * (n * n / 2).min(self.max_pairs),
        };
        // The graph of affinities has all of them.
        let graph = (32 * n * self.knn as u64).max(16 * shape.entries as u64);
        // Solved columns, their rows, and one step of the conjugate gradients of each thread.
        let columns =
            16 * n * ends + 8 * ends * ends + 40 * n * rayon::current_num_threads() as u64;
        columns + graph + made
    }
}

/// Neighbours of each object with their affinities, by index; symmetric, no loops.
type Graph = Vec<Vec<(u32, f64)>>;

impl E2cp {
    fn graph(&self, data: &Data, ctx: &Context) -> Result<Graph> {
        let n = data.n();
        if data.kind() == DataKind::Affinity {
            return (0..n)
                .map(|i| {
                    let edges = (0..n).filter(|&j| j != i).map(|j| (j as u32, data.pair(i, j)));
                    let mut edges: Vec<_> = edges.filter(|e| e.1 != 0.0).collect();
                    edges.shrink_to_fit();
                    match edges.iter().find(|e| !(0.0..=1.0).contains(&e.1)) {
                        None => Ok(edges),
                        Some((_, bad)) => Err(Error::bad_param("affinity", bad, "between 0 and 1")),
                    }
                })
                .collect();
        }
        // Nobody has more neighbours than there are others.
        let knn = self.knn.min(n.saturating_sub(1));
        let tree = (data.kind() == DataKind::Dense && data.d() <= TREE_FEATURES)
            .then(|| KdTree::new(data.matrix().view()));
        let near = reduce::try_map(n, |i| {
            ctx.check()?;
            let row = data.row(i);
            if let (Some(tree), Row::Dense(x)) = (&tree, row) {
                return Ok(tree.nearest(x, knn, Some(i as u32)));
            }
            let others = (0..n).filter(|&j| j != i);
            let all = others.map(|j| (row.squared_distance(&data.row(j)), j as u32)).collect();
            Ok(order::smallest(all, knn))
        })?;
        let mut scale: Vec<f64> =
            near.iter().map(|near| near.last().map_or(0.0, |e| e.0.sqrt())).collect();
        // Where all neighbours are duplicates the smallest scale of the others stands in.
        let least = scale.iter().copied().filter(|s| *s > 0.0).fold(f64::INFINITY, f64::min);
        scale.iter_mut().filter(|s| **s == 0.0).for_each(|s| *s = least);
        let weight = |i: usize, j: usize, d2: f64| (-d2 / (scale[i] * scale[j])).exp();
        let mut graph: Graph = vec![Vec::new(); n];
        for (i, near) in near.iter().enumerate() {
            for &(d2, j) in near {
                let w = weight(i.min(j as usize), i.max(j as usize), d2);
                graph[i].push((j, w));
                graph[j as usize].push((i as u32, w));
            }
        }
        for edges in &mut graph {
            edges.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
            edges.dedup_by_key(|e| e.0);
            edges.retain(|e| e.1 > 0.0);
        }
        Ok(graph)
    }

    fn affinity(&self, graph: &Graph, flow: &Flow, ctx: &Context) -> Result<Array2<f64>> {
        let n = graph.len();
        let mut out = Array2::<f64>::zeros((n, n));
        let least = self.g.unwrap_or(0.0);
        let mut largest = 0.0f64;
        flow.each_row(ctx, |i, row| {
            largest = row.iter().fold(largest, |m, v| m.max(v.abs()));
            // F itself, until the largest entry is known.
            out.row_mut(i).iter_mut().zip(row).skip(i + 1).for_each(|(to, f)| *to = *f);
            Ok(())
        })?;
        // Without constraints all entries are 0.
        let largest = if largest > 0.0 { largest } else { 1.0 };
        for (i, edges) in graph.iter().enumerate() {
            ctx.check()?;
            let mut edges = edges.iter().filter(|e| e.0 as usize > i).peekable();
            for j in i + 1..n {
                let f = out[[i, j]] / largest;
                let value = match edges.next_if(|e| e.0 as usize == j) {
                    Some(&(_, w)) if f >= 0.0 => 1.0 - (1.0 - f) * (1.0 - w),
                    Some(&(_, w)) => (1.0 + f) * w,
                    None if self.densify && f >= least => f,
                    None => 0.0,
                };
                out[[i, j]] = value.clamp(0.0, 1.0);
                out[[j, i]] = out[[i, j]];
            }
        }
        Ok(out)
    }

    fn pairs(
        &self,
        given: &Constraints,
        flow: &Flow,
        n: usize,
        ctx: &Context,
    ) -> Result<Constraints> {
        let mut all = given.pairs().to_vec();
        let most = self.max_pairs;
        let least = self.g.unwrap_or(PAIRS_FROM);
        let mut largest = 0.0f64;
        flow.each_row(ctx, |_, row| {
            largest = row.iter().fold(largest, |m, v| m.max(v.abs()));
            Ok(())
        })?;
        if largest == 0.0 {
            return Ok(given.clone());
        }
        flow.each_row(ctx, |i, row| {
            for (j, f) in row.iter().map(|f| f / largest).enumerate().skip(i + 1) {
                if f.abs() >= least {
                    let kind = if f >= 0.0 { Kind::MustLink } else { Kind::CannotLink };
                    let made = Constraint::new(i, j, kind).weighing(f.abs());
                    all.push(made.from(Origin::Propagated));
                }
            }
            let pairs = (all.len() - given.len()) as u64;
            if pairs > most { Err(Error::TooManyPropagated { pairs, limit: most }) } else { Ok(()) }
        })?;
        Ok(Constraints::new(n, all)?.with_neighbourhoods(given.neighbourhoods().to_vec()))
    }
}

/// F before the division, in two factors: F_ij is the inner product of row i of `left` and row j of `right`.
struct Flow {
    left: Array2<f64>,
    right: Array2<f64>,
}

impl Flow {
    fn new(graph: &Graph, constraints: &Constraints, alpha: f64, ctx: &Context) -> Result<Self> {
        let n = graph.len();
        let pairs = constraints.pairs();
        let mut ends: Vec<u32> = pairs.iter().flat_map(|c| [c.i, c.j]).collect();
        ends.sort_unstable();
        ends.dedup();
        let r = ends.len();
        let place = |i: u32| ends.binary_search(&i).expect("every end is listed");
        let mut z = Array2::zeros((r, r));
        for c in pairs {
            let sign = if c.kind == Kind::MustLink { 1.0 } else { -1.0 };
            let (a, b) = (place(c.i), place(c.j));
            z[[a, b]] += sign * c.weight;
            z[[b, a]] = z[[a, b]];
        }
        let root: Vec<f64> = graph
            .iter()
            .map(|edges| edges.iter().map(|e| e.1).sum::<f64>())
            .map(|degree| if degree > 0.0 { 1.0 / degree.sqrt() } else { 0.0 })
            .collect();
        // I − αL̄, row by row.
        let times = |x: &[f64]| -> Vec<f64> {
            let row = |i: usize| {
                let sum: f64 =
                    graph[i].iter().map(|&(j, w)| w * root[j as usize] * x[j as usize]).sum();
                x[i] - alpha * root[i] * sum
            };
            (0..n).map(row).collect()
        };
        let solve = |&end: &u32| -> Result<Vec<f64>> {
            ctx.check()?;
            let mut unit = vec![0.0; n];
            unit[end as usize] = 1.0;
            conjugate_gradients(times, &unit, ctx)
        };
        let columns = reduce::try_map(ends.len(), |at| solve(&ends[at]))?;
        let right = Array2::from_shape_fn((n, r), |(i, c)| columns[c][i]);
        drop(columns);
        Ok(Flow { left: right.dot(&z), right })
    }

    /// Hands on the rows of F in order, a block of them held at a time.
    fn each_row(
        &self,
        ctx: &Context,
        mut with: impl FnMut(usize, &[f64]) -> Result<()>,
    ) -> Result<()> {
        let n = self.left.nrows();
        for from in (0..n).step_by(BLOCK) {
            ctx.check()?;
            let rows = Slice::from(from..(from + BLOCK).min(n));
            let block = self.left.slice_axis(Axis(0), rows).dot(&self.right.t());
            for (at, row) in block.outer_iter().enumerate() {
                with(from + at, &row.to_vec())?;
            }
        }
        Ok(())
    }
}

/// Solves A·x = b for a symmetric positive definite A.
///
/// # Errors
/// `Cancelled`, `TimedOut`.
fn conjugate_gradients(
    times: impl Fn(&[f64]) -> Vec<f64>,
    b: &[f64],
    ctx: &Context,
) -> Result<Vec<f64>> {
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>();
    let mut x = vec![0.0; b.len()];
    let mut residual = b.to_vec();
    let mut direction = b.to_vec();
    let mut squared = dot(&residual, &residual);
    let enough = SOLVED * SOLVED * squared;
    // n steps would do in exact arithmetic.
    for _ in 0..10 * b.len().max(10) {
        if squared <= enough {
            break;
        }
        // Where all objects are neighbours a step takes n².
        ctx.check()?;
        let image = times(&direction);
        let step = squared / dot(&direction, &image);
        for i in 0..x.len() {
            x[i] += step * direction[i];
            residual[i] -= step * image[i];
        }
        let next = dot(&residual, &residual);
        let turn = next / squared;
        squared = next;
        direction.iter_mut().zip(&residual).for_each(|(d, r)| *d = r + turn * *d);
    }
    Ok(x)
}
