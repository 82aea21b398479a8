//! Which split of a graph has the smallest balanced cut among those that keep the constraints?

use std::collections::BTreeMap;

use mustlink_core::closure::{Closure, Feasibility, OnConflict};
use mustlink_core::clustering::canonical;
use mustlink_core::constraints::Strength;
use mustlink_core::prelude::*;
use mustlink_kernels::eigen::laplacian;
use mustlink_kernels::graph::Graph;
use mustlink_kernels::knn_graph::Neighbours;
use mustlink_kernels::one_spectral::{Side, TwoWay};
use mustlink_kernels::points::{Distortion, Points};
use rayon::prelude::*;

/// Constrained 1-spectral clustering: the balanced cut of a neighbour graph under constraints.
///
/// # Method
/// Must-linked objects become one vertex. Two clusters: cannot-linked components are coloured, and
/// F(S) = NCut(S) + γ·(broken cannot-links)·(1/vol S + 1/vol S̄) is minimised through its tight
/// continuous form by RatioDCA from several starts, for the smallest γ that breaks nothing. More
/// clusters: parts are split in two again and again, each time the split that adds least to the
/// multi-cut among those that satisfy enough cannot-links.
/// # Input and output
/// Dense or sparse rows (a symmetric neighbour graph of locally scaled Gaussian weights is made),
/// distances (the same), or affinities (the graph itself). One label per object, k clusters, none
/// empty. The objective is the multi-cut Σ cut(S, S̄)/vol(S). Must-links always hold; cannot-links
/// hold for two clusters unless γ is fixed, and as far as the splits found satisfy them for more.
/// # Errors
/// `MissingK`, `BadK`; `TooManyClusters` also when must-links leave fewer than k groups;
/// `InconsistentConstraints`; `InfeasibleConstraints` with an odd cycle for k = 2, a clique for more;
/// `NumericalFailure` for objects without any neighbour in the graph; `BadParam` for negative
/// affinities.
/// # Cost and randomness
/// O(n²·d) for the graph; then O(inner iterations · (edges + n)) per start and step. Random: starts
/// and perturbations.
/// # References
/// [RangapuramHein2012]. Differs: a step that can gain less than 1e-3 of the cut ends a descent, and
/// weights are divided by the largest, so that γ has a scale.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cosc {
    /// Number of clusters, at most n; absent: that of the problem.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<usize>,
    /// What clusters are balanced by.
    pub balance: Balance,
    /// How far objects are apart, for the neighbour graph.
    pub distortion: Distortion,
    /// Neighbours of an object in the graph; all others where there are fewer.
    #[schemars(range(min = 1))]
    pub knn: usize,
    /// Factor in the weight exp(−scale · distance² / r²) of a neighbour, r the distance to the last.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub scale: f64,
    /// Starts of each split; absent: 10 for two clusters, 2 for more. The first is an eigenvector,
    /// for two clusters the second obeys the cannot-links, the others are random.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starts: Option<usize>,
    /// Repetitions of the recursive splitting, for more than two clusters.
    #[schemars(range(min = 1))]
    pub outer_runs: usize,
    /// Largest number of inner iterations of a step; absent: 10 000 for two clusters, 1000 for more.
    #[schemars(range(min = 10))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inner_max: Option<usize>,
    /// Cost of a broken cannot-link (γ), in units of the largest weight of the graph, or "schedule":
    /// raised until enough of them hold.
    pub gamma: Gamma,
    /// Start again from perturbed solutions, for two clusters.
    pub perturb: bool,
    /// Which of the repetitions is kept.
    pub prefer: Prefer,
    /// What to do with cannot-links inside must-link components.
    pub on_conflict: OnConflict,
}

/// What clusters are balanced by (b).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Balance {
    /// The sum of the weights at their objects: normalised cut.
    #[default]
    Normalized,
    /// The number of their objects: ratio cut.
    Ratio,
}

/// A number, or the rule that finds one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Gamma {
    /// The cost itself.
    Fixed(#[schemars(range(min = 0.0))] f64),
    /// Raised until enough cannot-links hold.
    Rule(Schedule),
}

/// The word "schedule".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// Raised until enough cannot-links hold.
    Schedule,
}

/// Which of several results is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Prefer {
    /// The fewest broken cannot-links, then the smallest multi-cut.
    #[default]
    ViolationsThenCut,
    /// The smallest multi-cut.
    Cut,
}

impl Default for Cosc {
    fn default() -> Self {
        Cosc {
            k: None,
            balance: Balance::default(),
            distortion: Distortion::default(),
            knn: 10,
            scale: 4.0,
            starts: None,
            outer_runs: 5,
            inner_max: None,
            gamma: Gamma::Rule(Schedule::Schedule),
            perturb: true,
            prefer: Prefer::default(),
            on_conflict: OnConflict::Error,
        }
    }
}

register!(BaseClusterer, Cosc, "cosc", references: ["RangapuramHein2012"]);

#[typetag::serde(name = "cosc")]
impl BaseClusterer for Cosc {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let k = problem.require_k(self.k, "cosc")?;
        self.check()?;
        let n = problem.n();
        let closure = Closure::new(&problem.constraints, n, self.on_conflict)?;
        closure.require_feasible(k)?;
        let soft = problem.constraints.pairs().iter();
        let soft = soft.filter(|c| c.strength == Some(Strength::Soft)).count();
        if soft > 0 {
            ctx.warn(format!("{soft} constraints marked soft are treated as hard"));
        }
        let (graph, largest) = scaled(&self.graph(&problem.data, ctx)?)?;
        let mass = self.mass(&graph)?;
        let own: Vec<u32> = (0..closure.components() as u32).collect();
        let class = if k == 2 { coloured(&closure) } else { own };
        let reduced = Reduced::new(&graph, &mass, &closure, &class);
        if reduced.n() < k {
            return Err(Error::TooManyClusters { k, n: reduced.n() });
        }
        let mut gamma = 0.0;
        let side: Vec<u32> = if reduced.n() == k {
            (0..k as u32).collect()
        } else {
            match k {
                1 => vec![0; reduced.n()],
                2 => {
                    let best = self.two_clusters(&reduced, ctx)?;
                    gamma = best.gamma;
                    best.inside.iter().map(|&s| u32::from(s)).collect()
                }
                _ => self.more_clusters(&reduced, k, ctx)?,
            }
        };
        let labels: Vec<u32> = reduced.vertex.iter().map(|&v| side[v as usize]).collect();
        let labels = canonical(&labels);
        let unit = if self.balance == Balance::Ratio { largest } else { 1.0 };
        let mut clustering = Clustering {
            k,
            objective: Some(unit * multi_cut(&graph, &mass, &labels, k)),
            labels,
            ..Clustering::default()
        };
        let diagnostics = &mut clustering.extras.diagnostics;
        diagnostics.insert("edges".into(), graph.edge_count() as f64);
        diagnostics.insert("vertices".into(), reduced.n() as f64);
        diagnostics.insert("gamma".into(), gamma);
        Ok(clustering)
    }

    fn properties(&self) -> Properties {
        Properties {
            accepts: vec![
                DataKind::Dense,
                DataKind::Csr,
                DataKind::Distances,
                DataKind::Affinity,
            ],
            needs_k: self.k.is_none(),
            reads_constraints: true,
            hard_must: true,
            soft_weights: true,
            ..Properties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let edges = shape.n * self.knn.min(shape.n);
        let starts = self.starts.unwrap_or(10);
        let copy = if self.distortion == Distortion::Cosine { 12 * shape.entries } else { 0 };
        (copy + 160 * edges + 200 * shape.n + 100 * shape.constraints + starts * 16 * edges) as u64
    }
}

/// The graph with weights divided by the largest, and that.
fn scaled(graph: &Graph) -> Result<(Graph, f64)> {
    if graph.edges().any(|e| !e.2.is_finite()) {
        let place = "cosc: the weights of the graph are not finite".into();
        return Err(Error::NumericalFailure { place });
    }
    let largest = graph.edges().map(|e| e.2).fold(0.0, f64::max);
    let edges = graph.edges().map(|(i, j, w)| (i, j, w / largest));
    Ok((Graph::from_edges(graph.n(), edges, f64::max), largest))
}

/// The cuts of the parts of a partition, each over its mass, all added.
fn multi_cut(graph: &Graph, mass: &[f64], labels: &[u32], k: usize) -> f64 {
    let (mut cut, mut volume) = (vec![0.0; k], vec![0.0; k]);
    for (i, j, w) in graph.edges() {
        let (a, b) = (labels[i as usize] as usize, labels[j as usize] as usize);
        if a != b {
            cut[a] += w;
            cut[b] += w;
        }
    }
    labels.iter().zip(mass).for_each(|(&l, b)| volume[l as usize] += b);
    cut.iter().zip(&volume).map(|(c, v)| c / v).sum()
}

/// For two clusters: which components become one vertex. Components of one colour of a connected set
/// of cannot-links are together in every split that keeps those.
fn coloured(closure: &Closure) -> Vec<u32> {
    let Feasibility::Feasible(colour) = closure.feasibility(2) else {
        return (0..closure.components() as u32).collect();
    };
    let mut class = vec![NONE; closure.components()];
    let mut count = 0;
    for start in 0..class.len() {
        if class[start] != NONE {
            continue;
        }
        let mut names = [NONE; 2];
        let mut open = vec![start as u32];
        while let Some(p) = open.pop() {
            let p = p as usize;
            if class[p] != NONE {
                continue;
            }
            let name = &mut names[colour[p] as usize];
            if *name == NONE {
                *name = count;
                count += 1;
            }
            class[p] = *name;
            open.extend(closure.apart(p));
        }
    }
    class
}

/// The problem on what must stay together.
struct Reduced {
    graph: Graph,
    mass: Vec<f64>,
    apart: Vec<(u32, u32, f64)>,
    /// Vertex of each object.
    vertex: Vec<u32>,
}

impl Reduced {
    fn new(graph: &Graph, mass: &[f64], closure: &Closure, class: &[u32]) -> Self {
        let count = class.iter().max().map_or(0, |&c| c as usize + 1);
        let vertex: Vec<u32> = (0..closure.n()).map(|i| class[closure.component(i)]).collect();
        let mut total = vec![0.0; count];
        vertex.iter().zip(mass).for_each(|(&v, b)| total[v as usize] += b);
        // Repeated cannot-links between two vertices say nothing new: the largest weight counts.
        let mut apart: BTreeMap<(u32, u32), f64> = BTreeMap::new();
        for c in closure.constraints().pairs().iter().filter(|c| c.kind == Kind::CannotLink) {
            let (a, b) = (vertex[c.i as usize], vertex[c.j as usize]);
            if a != b {
                let weight = apart.entry((a.min(b), a.max(b))).or_insert(0.0);
                *weight = weight.max(c.weight);
            }
        }
        Reduced {
            graph: graph.contracted(&vertex, count),
            mass: total,
            apart: apart.into_iter().map(|((a, b), w)| (a, b, w)).collect(),
            vertex,
        }
    }

    fn n(&self) -> usize {
        self.mass.len()
    }

    /// The problem of splitting some of the vertices in two, and its graph.
    fn two_way(&self, vertices: &[u32]) -> (TwoWay, Graph) {
        let graph = self.graph.induced(vertices);
        let mut place = vec![NONE; self.n()];
        vertices.iter().enumerate().for_each(|(at, &v)| place[v as usize] = at as u32);
        let apart = self.apart.iter().filter_map(|&(a, b, w)| {
            let (a, b) = (place[a as usize], place[b as usize]);
            (a != NONE && b != NONE).then_some((a, b, w))
        });
        let mass = vertices.iter().map(|&v| self.mass[v as usize]).collect();
        (TwoWay::new(&graph, mass, apart.collect()), graph)
    }

    /// Cut of a set from everything else, over its mass.
    fn cost(&self, inside: &[u32]) -> f64 {
        let mut member = vec![false; self.n()];
        inside.iter().for_each(|&v| member[v as usize] = true);
        let mut cut = 0.0;
        for &v in inside {
            let (targets, weights) = self.graph.neighbours(v as usize);
            for (&t, w) in targets.iter().zip(weights) {
                if !member[t as usize] {
                    cut += w;
                }
            }
        }
        cut / inside.iter().map(|&v| self.mass[v as usize]).sum::<f64>()
    }

    /// Cannot-links with one end in each of two sets.
    fn parted(&self, a: &[u32], b: &[u32]) -> usize {
        let mut side = vec![0u8; self.n()];
        a.iter().for_each(|&v| side[v as usize] = 1);
        b.iter().for_each(|&v| side[v as usize] = 2);
        // 1 · 2: one end on each side.
        self.apart.iter().filter(|c| side[c.0 as usize] * side[c.1 as usize] == 2).count()
    }
}

/// A split of all vertices in two.
struct Best {
    /// What is compared: smaller is better.
    score: f64,
    inside: Vec<bool>,
    f: Vec<f64>,
    gamma: f64,
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

impl Cosc {
    fn check(&self) -> Result<()> {
        let positive = |name: &str, value: usize, least: usize| {
            if value >= least {
                Ok(())
            } else {
                Err(Error::bad_param(name, value, format!(">= {least}")))
            }
        };
        positive("knn", self.knn, 1)?;
        positive("starts", self.starts.unwrap_or(1), 1)?;
        positive("outer_runs", self.outer_runs, 1)?;
        positive("inner_max", self.inner_max.unwrap_or(10), 10)?;
        if !(self.scale > 0.0 && self.scale.is_finite()) {
            return Err(Error::bad_param("scale", self.scale, "finite and > 0"));
        }
        match self.gamma {
            Gamma::Fixed(gamma) if !(gamma >= 0.0 && gamma.is_finite()) => {
                Err(Error::bad_param("gamma", gamma, "finite and >= 0, or \"schedule\""))
            }
            _ => Ok(()),
        }
    }

    fn graph(&self, data: &Data, ctx: &Context) -> Result<Graph> {
        let neighbours = match data.kind() {
            DataKind::Affinity => return Graph::from_affinity(data),
            DataKind::Distances => Neighbours::among(data, self.knn, ctx)?,
            DataKind::Dense | DataKind::Csr => {
                Neighbours::search(&Points::new(data, self.distortion)?, self.knn, ctx)?
            }
        };
        Ok(neighbours.local_graph(data.n(), self.scale))
    }

    /// The mass of each object (b).
    fn mass(&self, graph: &Graph) -> Result<Vec<f64>> {
        let degrees = graph.degrees();
        if self.balance == Balance::Ratio || graph.n() == 1 {
            return Ok(vec![1.0; graph.n()]);
        }
        match degrees.iter().position(|&d| d == 0.0) {
            Some(i) => Err(Error::NumericalFailure {
                place: format!(
                    "cosc: object {i} has no neighbour in the graph; \
                     use balance = \"ratio\" or a smaller scale"
                ),
            }),
            None => Ok(degrees),
        }
    }

    /// The second eigenvector of the graph, mapped back to vertices; a random point where it cannot
    /// be had: it is only a start.
    fn eigenvector(graph: &Graph, mass: &[f64], ctx: &Context) -> Result<Vec<f64>> {
        let mut stream = ctx.stream("eigenvector");
        match laplacian(graph, mass, 2, &mut stream, ctx) {
            Ok(pairs) if pairs.values.len() == 2 => {
                let mut f = pairs.vector(1);
                f.iter_mut().zip(mass).for_each(|(v, b)| *v /= b.sqrt());
                Ok(f)
            }
            Ok(_) | Err(Error::NumericalFailure { .. }) => Ok(random(graph.n(), &mut stream)),
            Err(e) => Err(e),
        }
    }

    fn two_clusters(&self, reduced: &Reduced, ctx: &Context) -> Result<Best> {
        let all: Vec<u32> = (0..reduced.n() as u32).collect();
        let (two, graph) = reduced.two_way(&all);
        let inner_max = self.inner_max.unwrap_or(10_000);
        let eigenvector = Cosc::eigenvector(&graph, &reduced.mass, ctx)?;
        let feasible = keeping(&two, &eigenvector);
        let mut points: Vec<Vec<f64>> = vec![eigenvector];
        for t in 1..self.starts.unwrap_or(10) {
            let mut stream = ctx.index(t).stream("start");
            points.push(if t == 1 && !two.apart().is_empty() {
                obeying(&two, &graph, &reduced.mass, random(two.n(), &mut stream), ctx)?
            } else {
                random(two.n(), &mut stream)
            });
        }
        if let Gamma::Fixed(gamma) = self.gamma {
            let mut best = None;
            stage(&two, &mut points, gamma, inner_max, &mut best, |side, _| Some(side.value), ctx)?;
            return self.perturbed(&two, best, inner_max, |side, _| Some(side.value), ctx);
        }
        // Among sets that break nothing the cut decides.
        let score = |side: &Side, two: &TwoWay| {
            (two.violated(&side.inside).0 == 0).then(|| two.set_value(&side.inside, 0.0))
        };
        let mut best: Option<Best> = None;
        if !two.apart().is_empty() {
            // A set that breaks nothing is always among the starts, so one is always found.
            let f: Vec<f64> = feasible.iter().map(|&s| f64::from(u8::from(s))).collect();
            let value = two.set_value(&feasible, 0.0);
            best = Some(Best { score: value, inside: feasible, f: f.clone(), gamma: 0.0 });
            points.push(f);
        }
        if !stage(&two, &mut points, 0.0, inner_max, &mut best, score, ctx)? {
            // From here on every set below the cut of a set that breaks nothing breaks nothing.
            let lightest = two.apart().iter().map(|c| c.2).fold(f64::INFINITY, f64::min);
            let known = best.as_ref().map_or(f64::INFINITY, |b| b.score);
            let cap = 2.0 * known * reduced.mass.iter().sum::<f64>() / 4.0 / lightest;
            let (mut low, mut high) = (0.0, cap.min(0.2));
            while !stage(&two, &mut points, high, inner_max, &mut best, score, ctx)? && high < cap {
                (low, high) = (high, (2.0 * high).min(cap));
            }
            while (high - low) / high >= 0.01 {
                let middle = f64::midpoint(low, high);
                if stage(&two, &mut points, middle, inner_max, &mut best, score, ctx)? {
                    high = middle;
                } else {
                    low = middle;
                }
            }
        }
        self.perturbed(&two, best, inner_max, score, ctx)
    }

    /// Starts again near the best solution, as long as that helps now and then.
    fn perturbed(
        &self,
        two: &TwoWay,
        best: Option<Best>,
        inner_max: usize,
        score: impl Fn(&Side, &TwoWay) -> Option<f64> + Sync,
        ctx: &Context,
    ) -> Result<Best> {
        let Some(mut best) = best else {
            return Err(Error::NumericalFailure { place: "cosc: no start leads to a split".into() });
        };
        if !self.perturb {
            return Ok(best);
        }
        let mut failures = 0;
        for t in 0..10 {
            let mut stream = ctx.index(t).stream("perturb");
            let low = best.f.iter().fold(f64::INFINITY, |m, &v| m.min(v));
            let high = best.f.iter().fold(f64::NEG_INFINITY, |m, &v| m.max(v));
            let by = (0.001 + 0.01 * t as f64) * (high - low);
            let f = best.f.iter().map(|v| v + by * stream.normal()).collect();
            let d = two.descend(f, best.gamma, inner_max, ctx)?;
            let side = two.threshold(&d.f, best.gamma);
            match score(&side, two).filter(|s| *s < best.score * (1.0 - 1e-12)) {
                Some(score) => {
                    best = Best { score, inside: side.inside, f: d.f, gamma: best.gamma };
                }
                None => failures += 1,
            }
            if failures == 5 {
                break;
            }
        }
        Ok(best)
    }

    /// Splits parts in two until there are k, several times; gives the part of each vertex.
    fn more_clusters(&self, reduced: &Reduced, k: usize, ctx: &Context) -> Result<Vec<u32>> {
        let runs: Vec<Result<Partition>> = (0..self.outer_runs)
            .into_par_iter()
            .map(|run| self.recursive(reduced, k, &ctx.index(run)))
            .collect();
        let mut best: Option<Partition> = None;
        for run in runs {
            let run = run?;
            let better = best.as_ref().is_none_or(|b| match self.prefer {
                Prefer::ViolationsThenCut if run.satisfied != b.satisfied => {
                    run.satisfied > b.satisfied
                }
                _ => run.cost < b.cost,
            });
            if better {
                best = Some(run);
            }
        }
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
            let (p, s) = chosen(&candidates, |gained| {
                // Satisfied in all: (2k − l)(l − 1)|CL| / (k(k − 1)) is what is expected by now.
                goal < k
                    && (satisfied + gained) * k * (k - 1) >= (2 * k - goal) * (goal - 1) * links
            }, goal == k);
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

    /// How many clusters a part may be expected to hold (k_m).
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
            let of = |inside: bool| -> Vec<u32> {
                let kept = vertices.iter().zip(&component).filter(|(_, x)| (**x == c) == inside);
                kept.map(|(&v, _)| v).collect()
            };
            let (own, rest) = (of(true), of(false));
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
        let apart_of = |inside: &[bool]| {
            let of = |side: bool| -> Vec<u32> {
                let kept = vertices.iter().zip(inside).filter(|(_, s)| **s == side);
                kept.map(|(&v, _)| v).collect()
            };
            [of(true), of(false)]
        };
        if let [a, b] = vertices {
            return Ok([vec![*a], vec![*b]]);
        }
        let (two, graph) = reduced.two_way(vertices);
        let inner_max = self.inner_max.unwrap_or(1000);
        let mass: Vec<f64> = vertices.iter().map(|&v| reduced.mass[v as usize]).collect();
        let mut points = vec![Cosc::eigenvector(&graph, &mass, ctx)?];
        for t in 1..self.starts.unwrap_or(2) {
            points.push(random(two.n(), &mut ctx.index(t).stream("start")));
        }
        let allowed = (among - 2) * two.apart().len() / among;
        let (mut gamma, mut raise) = match self.gamma {
            Gamma::Fixed(gamma) => (gamma, None),
            Gamma::Rule(_) => (0.0, Some(0.1)),
        };
        // The smallest cut from the first admissible γ on; until then, the fewest broken.
        let mut best: Option<(bool, usize, f64, Vec<bool>)> = None;
        let mut before = f64::NAN;
        for _ in 0..5 {
            let mut lowest: Option<Side> = None;
            for side in descend_all(&two, &mut points, gamma, inner_max, ctx)? {
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
            Some((.., inside)) => apart_of(&inside),
            // Weights too far apart for arithmetic: any split is as good.
            None => apart_of(&(0..vertices.len()).map(|i| i == 0).collect::<Vec<_>>()),
        })
    }
}

/// A result of recursive splitting.
struct Partition {
    parts: Vec<Vec<u32>>,
    satisfied: usize,
    cost: f64,
}

/// The candidate to take, of (part, split, gained, multi-cut afterwards, whether it gains enough).
///
/// Of those that gain enough: for the last split the one that gains most; before, the smallest
/// multi-cut of those that gain most or keep up with what is expected. If none gains enough, the one
/// that gains most. Ties: the smaller multi-cut, then the first.
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

fn random(n: usize, stream: &mut Stream) -> Vec<f64> {
    (0..n).map(|_| stream.normal()).collect()
}

/// Vertices from which on starts run in parallel.
const PARALLEL: usize = 100;

/// Descends from every point and leaves each where it ended; gives their best thresholds.
fn descend_all(
    two: &TwoWay,
    points: &mut [Vec<f64>],
    gamma: f64,
    inner_max: usize,
    ctx: &Context,
) -> Result<Vec<Side>> {
    // Small descents are over before another thread is awake.
    let together = if two.n() < PARALLEL { points.len().max(1) } else { 1 };
    points
        .par_iter_mut()
        .with_min_len(together)
        .map(|f| {
            let d = two.descend(std::mem::take(f), gamma, inner_max, ctx)?;
            let side = two.threshold(&d.f, gamma);
            *f = d.f;
            Ok(side)
        })
        .collect()
}

/// One value of γ: continues every start and keeps the best set seen, where it has a score. Says
/// whether the set of smallest F̂ has one.
fn stage(
    two: &TwoWay,
    points: &mut [Vec<f64>],
    gamma: f64,
    inner_max: usize,
    best: &mut Option<Best>,
    score: impl Fn(&Side, &TwoWay) -> Option<f64>,
    ctx: &Context,
) -> Result<bool> {
    let sides = descend_all(two, points, gamma, inner_max, ctx)?;
    let mut lowest = (f64::INFINITY, false);
    for (side, f) in sides.into_iter().zip(points.iter()) {
        let score = score(&side, two).filter(|s| s.is_finite());
        if side.value < lowest.0 || (side.value == lowest.0 && score.is_some()) {
            lowest = (side.value, score.is_some());
        }
        if let Some(score) = score.filter(|s| best.as_ref().is_none_or(|b| *s < b.score)) {
            *best = Some(Best { score, inside: side.inside, f: f.clone(), gamma });
        }
    }
    Ok(lowest.1)
}

/// A set that parts every cannot-link (no vertex has two): of a pair the end with the larger value,
/// of the other vertices those with positive values.
fn keeping(two: &TwoWay, f: &[f64]) -> Vec<bool> {
    let mut inside: Vec<bool> = f.iter().map(|&v| v > 0.0).collect();
    for &(i, j, _) in two.apart() {
        let (i, j) = (i as usize, j as usize);
        inside[i] = f[i] > f[j];
        inside[j] = !inside[i];
    }
    inside
}

/// Steps of the power iteration of [`obeying`].
const POWER: usize = 300;

/// The vector of smallest Rayleigh quotient among those with opposite values at the ends of every
/// cannot-link (no vertex has two) and mean 0, by projected power iteration.
fn obeying(
    two: &TwoWay,
    graph: &Graph,
    mass: &[f64],
    start: Vec<f64>,
    ctx: &Context,
) -> Result<Vec<f64>> {
    let root: Vec<f64> = mass.iter().map(|b| b.sqrt()).collect();
    let degrees = graph.degrees();
    let bound = degrees.iter().zip(mass).map(|(d, b)| 2.0 * d / b).fold(0.0, f64::max);
    // Over w = √b·v: v_i + v_j = 0 for each pair, and ⟨√b, w⟩ = 0. Pairs are disjoint, so these
    // directions are orthogonal once the last is made so.
    let part = |w: &mut [f64]| {
        for &(i, j, _) in two.apart() {
            let (i, j) = (i as usize, j as usize);
            let (a, b) = (1.0 / root[i], 1.0 / root[j]);
            let along = (a * w[i] + b * w[j]) / (a * a + b * b);
            w[i] -= a * along;
            w[j] -= b * along;
        }
    };
    let mut mean = root.clone();
    part(&mut mean);
    let length: f64 = mean.iter().map(|v| v * v).sum();
    let project = |w: &mut [f64]| {
        part(w);
        if length > 0.0 {
            let along = w.iter().zip(&mean).map(|(a, b)| a * b).sum::<f64>() / length;
            w.iter_mut().zip(&mean).for_each(|(w, m)| *w -= along * m);
        }
    };
    let mut w = start.clone();
    project(&mut w);
    for _ in 0..POWER {
        ctx.check()?;
        // w ← (bound − L) w
        let mut next: Vec<f64> = (0..w.len())
            .map(|i| {
                let (targets, weights) = graph.neighbours(i);
                let sum = targets.iter().zip(weights).map(|(&j, e)| e * w[j as usize] / root[j as usize]);
                (bound - degrees[i] / mass[i]) * w[i] + sum.sum::<f64>() / root[i]
            })
            .collect();
        project(&mut next);
        let length = next.iter().map(|v| v * v).sum::<f64>().sqrt();
        if !(length > 0.0 && length.is_finite()) {
            // The conditions leave nothing: a random start does as well.
            return Ok(start);
        }
        next.iter_mut().for_each(|v| *v /= length);
        w = next;
    }
    w.iter_mut().zip(&root).for_each(|(w, r)| *w /= r);
    Ok(w)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::contract::fixtures;
    use mustlink_core::error::Infeasible;
    use mustlink_core::random::SeedPath;
    use ndarray::{Array2, array};
    use proptest::prelude::*;

    fn affinity(n: usize, edges: &[(usize, usize, f64)]) -> Problem {
        let mut w = Array2::zeros((n, n));
        for &(i, j, weight) in edges {
            w[[i, j]] = weight;
            w[[j, i]] = weight;
        }
        Problem::new(Data::affinity(w).unwrap())
    }

    fn linked(problem: &Problem, pairs: &[Constraint]) -> Problem {
        let constraints = Constraints::new(problem.n(), pairs.iter().copied()).unwrap();
        problem.clone().with_constraints(constraints)
    }

    fn run(cosc: &Cosc, problem: &Problem) -> Result<Clustering> {
        cosc.cluster(problem, &Context::new(5))
    }

    /// Two triangles joined by an edge of 0.5.
    fn triangles() -> Problem {
        let edges = [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5)].map(|(i, j)| (i, j, 1.0));
        affinity(6, &[&edges[..], &[(2, 3, 0.5)]].concat()).with_k(2)
    }

    #[test]
    fn worked_example() {
        // Volumes 6.5 and 6.5, cut 0.5 on both sides.
        let c = run(&Cosc::default(), &triangles()).unwrap();
        assert_eq!(c.labels, [0, 0, 0, 1, 1, 1]);
        assert!((c.objective.unwrap() - 2.0 * 0.5 / 6.5).abs() < 1e-12);
        // 0 and 1 apart, 1 with 3: of what is left, 0 and 2 against the rest is the smallest cut:
        // 1 + 1 + 0.5 over volumes 4.5 and 8.5 (0 alone: 2 over 2 and 11, 1.18 against 0.85).
        let pairs = [Constraint::cannot(0, 1), Constraint::must(1, 3)];
        let c = run(&Cosc::default(), &linked(&triangles(), &pairs)).unwrap();
        assert_eq!(c.labels, [0, 1, 0, 1, 1, 1]);
        assert!((c.objective.unwrap() - (2.5 / 4.5 + 2.5 / 8.5)).abs() < 1e-12);
        // Every pair apart leaves nothing to choose.
        let pairs = [Constraint::cannot(0, 5), Constraint::must(0, 1), Constraint::must(1, 2),
            Constraint::must(3, 4), Constraint::must(4, 5)];
        let c = run(&Cosc::default(), &linked(&triangles(), &pairs)).unwrap();
        assert_eq!(c.labels, [0, 0, 0, 1, 1, 1]);
    }

    #[test]
    fn three_groups_of_rows() {
        let (problem, classes) = fixtures::dense(3);
        let c = run(&Cosc::default(), &problem).unwrap();
        assert_eq!(c.sizes().iter().filter(|&&s| s > 0).count(), 3);
        let wrong = fixtures::true_constraints(&classes, 300, 1).violations(&c.labels).total();
        assert!(wrong < 15, "{wrong} of 300 pairs wrong");
        // Distances give the same graph.
        let distances = fixtures::pairwise(&problem, DataKind::Distances);
        assert_eq!(run(&Cosc::default(), &distances).unwrap().labels, c.labels);
    }

    fn random_graph(s: &mut Stream, n: usize) -> Vec<(usize, usize, f64)> {
        let mut edges = Vec::new();
        for i in 0..n {
            for j in i + 1..n {
                if j == i + 1 || s.unit() < 0.4 {
                    edges.push((i, j, 0.05 + s.unit()));
                }
            }
        }
        edges
    }

    /// Constraints some labelling with two clusters satisfies.
    fn satisfiable(s: &mut Stream, n: usize, count: usize) -> Vec<Constraint> {
        let truth: Vec<bool> = (0..n).map(|i| i == 0 || (i > 1 && s.unit() < 0.5)).collect();
        (0..count)
            .filter_map(|_| {
                let (i, j) = (s.below(n), s.below(n));
                let kind = if truth[i] == truth[j] { Kind::MustLink } else { Kind::CannotLink };
                (i != j).then(|| Constraint::new(i, j, kind))
            })
            .collect()
    }

    /// The multi-cut from the matrix, by the definition.
    fn slow_cut(problem: &Problem, labels: &[u32], k: usize, ratio: bool) -> f64 {
        let n = problem.n();
        let w = |i: usize, j: usize| if i == j { 0.0 } else { problem.data.pair(i, j) };
        (0..k as u32)
            .map(|h| {
                let (mut cut, mut volume) = (0.0, 0.0);
                for i in (0..n).filter(|&i| labels[i] == h) {
                    volume += if ratio { 1.0 } else { (0..n).map(|j| w(i, j)).sum() };
                    cut += (0..n).filter(|&j| labels[j] != h).map(|j| w(i, j)).sum::<f64>();
                }
                cut / volume
            })
            .sum()
    }

    /// The smallest multi-cut of two clusters that keeps every constraint.
    fn exhaustive(problem: &Problem, edges: &[(usize, usize, f64)], ratio: bool) -> f64 {
        let n = problem.n();
        let mut mass = vec![if ratio { 1.0 } else { 0.0 }; n];
        if !ratio {
            edges.iter().for_each(|&(i, j, w)| {
                mass[i] += w;
                mass[j] += w;
            });
        }
        let all: f64 = mass.iter().sum();
        let pairs = problem.constraints.pairs();
        (1u32..1 << (n - 1))
            .filter(|bits| {
                pairs.iter().all(|c| {
                    (bits >> c.i & 1 == bits >> c.j & 1) == (c.kind == Kind::MustLink)
                })
            })
            .map(|bits| {
                let parted = edges.iter().filter(|e| bits >> e.0 & 1 != bits >> e.1 & 1);
                let cut: f64 = parted.map(|e| e.2).sum();
                let inside: f64 = (0..n).filter(|i| bits >> i & 1 == 1).map(|i| mass[i]).sum();
                cut / inside + cut / (all - inside)
            })
            .fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn exhaustive_search_confirms_two_clusters() {
        let mut s = SeedPath::new(17).stream("graphs");
        let (mut found, cases) = (0, 60);
        for case in 0..cases {
            let n = 4 + case % 9;
            let pairs = satisfiable(&mut s, n, case % 6);
            let edges = random_graph(&mut s, n);
            let problem = linked(&affinity(n, &edges).with_k(2), &pairs);
            let ratio = case % 4 == 3;
            let balance = if ratio { Balance::Ratio } else { Balance::Normalized };
            let c = match run(&Cosc { balance, ..Cosc::default() }, &problem) {
                Ok(c) => c,
                // Must-links can join everything.
                Err(Error::TooManyClusters { .. }) => continue,
                Err(e) => panic!("{e}"),
            };
            assert_eq!(problem.constraints.violations(&c.labels).total(), 0, "case {case}");
            let reached = c.objective.unwrap();
            assert!((reached - slow_cut(&problem, &c.labels, 2, ratio)).abs() < 1e-9 * reached);
            let best = exhaustive(&problem, &edges, ratio);
            assert!(reached >= best * (1.0 - 1e-9), "case {case}: {reached} {best}");
            assert!(reached <= best * 1.2, "case {case}: {reached} {best}");
            found += usize::from(reached <= best * (1.0 + 1e-9));
        }
        assert!(found >= cases - 2, "{found} of {cases}");
    }

    #[test]
    fn what_cannot_be_is_named() {
        let cosc = Cosc::default();
        let apart = |pairs: &[(usize, usize)]| -> Vec<Constraint> {
            pairs.iter().map(|&(i, j)| Constraint::cannot(i, j)).collect()
        };
        let cycle = linked(&triangles(), &apart(&[(0, 1), (1, 2), (2, 0)]));
        match run(&cosc, &cycle) {
            Err(Error::InfeasibleConstraints { k: 2, witness: Infeasible::OddCycle(w) }) => {
                assert_eq!(w.len() % 2, 1);
            }
            other => panic!("{other:?}"),
        }
        let clique = [(0, 1), (1, 2), (2, 0), (3, 0), (3, 1), (3, 2)];
        let clique = linked(&triangles(), &apart(&clique)).with_k(3);
        match run(&cosc, &clique) {
            Err(Error::InfeasibleConstraints { k: 3, witness: Infeasible::Clique(w) }) => {
                assert_eq!(w, [0, 1, 2, 3]);
            }
            other => panic!("{other:?}"),
        }
        let chain = [Constraint::must(0, 1), Constraint::must(1, 2), Constraint::cannot(0, 2)];
        match run(&cosc, &linked(&triangles(), &chain)) {
            Err(Error::InconsistentConstraints(w)) => assert_eq!(w[0].path, [0, 1, 2]),
            other => panic!("{other:?}"),
        }
        let dropped = Cosc { on_conflict: OnConflict::DropCl, ..cosc.clone() };
        assert_eq!(run(&dropped, &linked(&triangles(), &chain)).unwrap().labels, [0, 0, 0, 1, 1, 1]);
        let all: Vec<Constraint> = (1..6).map(|i| Constraint::must(0, i)).collect();
        let joined = linked(&triangles(), &all);
        assert_eq!(run(&cosc, &joined), Err(Error::TooManyClusters { k: 2, n: 1 }));
        let one = linked(&triangles(), &apart(&[(0, 1)])).with_k(1);
        assert!(matches!(run(&cosc, &one), Err(Error::InfeasibleConstraints { k: 1, .. })));
        let isolated = affinity(3, &[(0, 1, 1.0)]).with_k(2);
        assert!(matches!(run(&cosc, &isolated), Err(Error::NumericalFailure { .. })));
        let ratio = Cosc { balance: Balance::Ratio, ..cosc.clone() };
        assert_eq!(run(&ratio, &isolated).unwrap().labels, [0, 0, 1]);
        let negative = affinity(3, &[(0, 1, 1.0), (1, 2, -0.5)]).with_k(2);
        assert!(matches!(run(&cosc, &negative), Err(Error::BadParam { .. })));
        for bad in [
            Cosc { knn: 0, ..cosc.clone() },
            Cosc { scale: f64::NAN, ..cosc.clone() },
            Cosc { gamma: Gamma::Fixed(-1.0), ..cosc.clone() },
            Cosc { inner_max: Some(9), ..cosc.clone() },
        ] {
            assert!(matches!(run(&bad, &triangles()), Err(Error::BadParam { .. })), "{bad:?}");
        }
    }

    #[test]
    fn connected_components_are_found() {
        // Three pairs of triangles without an edge between them.
        let mut edges = Vec::new();
        for g in 0..3 {
            for (i, j) in [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5)] {
                edges.push((6 * g + i, 6 * g + j, 1.0));
            }
            edges.push((6 * g + 2, 6 * g + 3, 0.5));
        }
        let problem = affinity(18, &edges);
        let of = |k: usize| run(&Cosc::default(), &problem.clone().with_k(k)).unwrap();
        assert_eq!(of(2).objective, Some(0.0));
        let three: Vec<u32> = (0..18).map(|i| i / 6).collect();
        assert_eq!((of(3).labels, of(3).objective), (three, Some(0.0)));
        let six: Vec<u32> = (0..18).map(|i| i / 3).collect();
        assert_eq!(of(6).labels, six);
        assert_eq!(of(18).labels, (0..18).collect::<Vec<u32>>());
        // Cannot-links across components cost nothing.
        let pairs = [Constraint::cannot(0, 6), Constraint::cannot(6, 12), Constraint::cannot(0, 12)];
        let c = run(&Cosc::default(), &linked(&problem, &pairs).with_k(3)).unwrap();
        assert_eq!(c.objective, Some(0.0));
    }

    #[test]
    fn a_heavy_price_is_a_schedule_and_no_price_is_no_constraint() {
        let pairs = [Constraint::cannot(0, 1), Constraint::cannot(2, 4)];
        let problem = linked(&triangles(), &pairs);
        let free = Cosc { gamma: Gamma::Fixed(0.0), ..Cosc::default() };
        assert_eq!(run(&free, &problem).unwrap().labels, [0, 0, 0, 1, 1, 1]);
        let heavy = Cosc { gamma: Gamma::Fixed(50.0), ..Cosc::default() };
        assert_eq!(
            run(&heavy, &problem).unwrap().labels,
            run(&Cosc::default(), &problem).unwrap().labels
        );
        // Weights scale the price: a light cannot-link is broken where a heavy one is kept.
        let light = linked(&triangles(), &[Constraint::cannot(0, 1).weighing(1e-3)]);
        let priced = Cosc { gamma: Gamma::Fixed(10.0), ..Cosc::default() };
        assert_eq!(run(&priced, &light).unwrap().labels, [0, 0, 0, 1, 1, 1]);
        let full = linked(&triangles(), &[Constraint::cannot(0, 1)]);
        assert_ne!(run(&priced, &full).unwrap().labels, [0, 0, 0, 1, 1, 1]);
    }

    #[test]
    fn scaled_weights_change_the_ratio_cut_alone() {
        let mut s = SeedPath::new(23).stream("graphs");
        for case in 0..10 {
            let edges = random_graph(&mut s, 10);
            let times: Vec<_> = edges.iter().map(|&(i, j, w)| (i, j, 8.0 * w)).collect();
            let pairs = satisfiable(&mut s, 10, case % 4);
            let of = |edges: &[(usize, usize, f64)], balance: Balance| {
                let problem = linked(&affinity(10, edges).with_k(2), &pairs);
                run(&Cosc { balance, ..Cosc::default() }, &problem).unwrap()
            };
            assert_eq!(of(&edges, Balance::Normalized), of(&times, Balance::Normalized));
            let (a, b) = (of(&edges, Balance::Ratio), of(&times, Balance::Ratio));
            assert_eq!(a.labels, b.labels);
            assert_eq!(8.0 * a.objective.unwrap(), b.objective.unwrap());
        }
    }

    #[test]
    fn names_of_vertices_mean_nothing() {
        // Where all starts together find the smallest cut, whatever the order of ties within each.
        let mut s = SeedPath::new(29).stream("graphs");
        for case in 0..12 {
            let n = 9;
            let edges = random_graph(&mut s, n);
            let pairs = satisfiable(&mut s, n, case % 4);
            let p = s.permutation(n);
            let to = |i: usize| p[i] as usize;
            let renamed: Vec<_> = edges.iter().map(|&(i, j, w)| (to(i), to(j), w)).collect();
            let moved: Vec<_> = pairs
                .iter()
                .map(|c| Constraint::new(to(c.i as usize), to(c.j as usize), c.kind))
                .collect();
            let of = |edges: &[(usize, usize, f64)], pairs: &[Constraint]| {
                run(&Cosc::default(), &linked(&affinity(n, edges).with_k(2), pairs)).unwrap()
            };
            let (a, b) = (of(&edges, &pairs), of(&renamed, &moved));
            assert!((a.objective.unwrap() - b.objective.unwrap()).abs() < 1e-9, "case {case}");
            let back: Vec<u32> = (0..n).map(|i| b.labels[to(i)]).collect();
            assert_eq!(canonical(&back), a.labels, "case {case}");
        }
    }

    #[test]
    fn duplicates_are_legal() {
        let x = array![[0.0], [0.0], [0.0], [1.0], [1.0], [5.0], [5.0], [6.0]];
        let problem = Problem::new(Data::dense(x).unwrap()).with_k(2);
        let c = run(&Cosc { knn: 2, ..Cosc::default() }, &problem).unwrap();
        assert_eq!(c.labels, [0, 0, 0, 0, 0, 1, 1, 1]);
        let constant = Problem::new(Data::dense(Array2::ones((9, 2))).unwrap());
        for k in 1..=9 {
            let c = run(&Cosc::default(), &constant.clone().with_k(k)).unwrap();
            assert!(c.sizes().iter().all(|&s| s > 0), "k {k}: {:?}", c.sizes());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn promises_hold(seed: u64, n in 6usize..14, k in 2usize..5, count in 0usize..12) {
            let mut s = SeedPath::new(seed).stream("case");
            let edges = random_graph(&mut s, n);
            let truth: Vec<usize> = (0..n).map(|i| if i < k { i } else { s.below(k) }).collect();
            let pairs: Vec<Constraint> = (0..count)
                .filter_map(|_| {
                    let (i, j) = (s.below(n), s.below(n));
                    let same = truth[i] == truth[j];
                    let kind = if same { Kind::MustLink } else { Kind::CannotLink };
                    (i != j).then(|| Constraint::new(i, j, kind))
                })
                .collect();
            let problem = linked(&affinity(n, &edges).with_k(k), &pairs);
            let cosc = Cosc { outer_runs: 2, starts: Some(3), ..Cosc::default() };
            let c = run(&cosc, &problem).unwrap();
            prop_assert!(c.sizes().iter().all(|&s| s > 0));
            let broken = problem.constraints.violations(&c.labels);
            prop_assert_eq!(broken.must, 0);
            prop_assert!(k > 2 || broken.cannot == 0);
            let slow = slow_cut(&problem, &c.labels, k, false);
            prop_assert!((c.objective.unwrap() - slow).abs() < 1e-9 * slow.max(1.0));
        }
    }
}
