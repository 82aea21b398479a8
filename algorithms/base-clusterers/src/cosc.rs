//! Splits of a graph with the smallest balanced cut under the constraints.

mod dual;
mod one_spectral;
mod reduced;
mod split;
mod starts;
mod two_clusters;
mod two_way;

use mustlink_core::clustering::canonical;
use mustlink_core::prelude::*;
use mustlink_core::soft_marks::obeying;
use mustlink_kernels::distance::points::{Distortion, DistortionOption};
use mustlink_kernels::graph::adjacency::Graph;

use crate::parts::neighbour_graph::neighbour_graph;
use reduced::{Reduced, coloured, multi_cut, scaled};
use split::Splitting;
use two_clusters::TwoClusters;

/// Constrained 1-spectral clustering: the balanced cut of a neighbour graph under constraints.
///
/// # Method
/// Must-linked objects become one vertex. Two clusters: cannot-linked components are coloured. Then F(S) = NCut(S) +
/// γ·(broken cannot-links)·(1/vol S + 1/vol S̄) is minimised through its tight continuous form by RatioDCA from
/// several starts, for the smallest γ that breaks nothing. More clusters: parts are split in two again and again.
/// Each time, the split that adds least to the multi-cut is taken among those that satisfy enough cannot-links.
/// # Input and output
/// Dense or sparse rows (turned into a symmetric neighbour graph with locally scaled Gaussian weights), distances
/// (the same), or affinities (the graph itself). One label per object and k clusters; a cluster is empty only if
/// must-links leave fewer than k groups. The objective is the multi-cut Σ cut(S, S̄)/vol(S). Must-links hold, except
/// those that `on_conflict = "drop_weakest"` drops. For two clusters cannot-links hold unless γ is fixed; for more
/// they hold as far as the splits found satisfy them.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`;
/// `InconsistentConstraints`; `InfeasibleConstraints` with an odd cycle for k = 2, a clique for more;
/// `NumericalFailure` for objects without any neighbour in the graph; `BadParam` for negative
/// affinities, and for weights of cannot-links too far apart when γ is searched for two clusters.
/// # Cost and randomness
/// O(n²·d) for the graph; then O(inner iterations · (edges + n)) per start and step. Random: starts
/// and perturbations.
/// # References
/// [RangapuramHein2012], [ODonoghueCandes2015]. Differs: a step that can gain less than 1e-3 of the cut ends a
/// descent. Weights are divided by the largest, so that γ has a scale. The momentum of the inner iterations is reset
/// when it leads uphill. A start keeps its dual point from one γ to the next.
#[options]
pub struct Cosc {
    /// Number of clusters, at most n. If absent, the k of the problem.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Quantity that balances the clusters.
    pub balance: Balance,
    /// Distance between objects in the neighbour graph. "auto": cosine for sparse rows, otherwise squared Euclidean.
    pub distortion: AutoOr<Distortion>,
    /// Number of neighbours of each object in the graph (fewer in small data).
    #[option(default = 10, min = 1)]
    pub knn: usize,
    /// Factor in the weight exp(−scale · distance² / r²) of a neighbour; r is the distance to the farthest one.
    #[option(default = 4.0, above = 0.0)]
    pub scale: f64,
    /// Number of starts of each split. If absent, 10 for two clusters and 2 for more. The first start is an
    /// eigenvector; for two clusters the second obeys the cannot-links; the others are random.
    #[option(min = 1)]
    pub starts: Option<usize>,
    /// Number of repetitions of the recursive splitting, for more than two clusters.
    #[option(default = 5, min = 1)]
    pub outer_runs: usize,
    /// Maximum number of inner iterations of a step. If absent, 10 000 for two clusters and 1000 for more.
    #[option(min = 10)]
    pub inner_max: Option<usize>,
    /// Cost of a broken cannot-link (γ), in units of the largest weight of the graph. "schedule": the cost is raised
    /// until enough cannot-links hold.
    #[option(default = Gamma::Rule(Schedule::Schedule))]
    pub gamma: Gamma,
    /// Start again from perturbed solutions (for two clusters).
    #[option(default = true)]
    pub perturb: bool,
    /// Criterion that chooses the repetition to keep.
    pub prefer: Prefer,
    /// Treatment of cannot-links inside must-link components.
    #[option(default = OnConflict::Error)]
    pub on_conflict: OnConflict,
}

/// Quantity that balances the clusters (b).
#[options]
pub enum Balance {
    /// The sum of the weights at their objects: normalised cut.
    #[default]
    Normalized,
    /// The number of their objects: ratio cut.
    Ratio,
}

/// A number, or the rule that finds one.
#[options]
#[derive(Copy)]
pub enum Gamma {
    /// The cost itself.
    Fixed(#[option(min = 0.0)] f64),
    /// The cost is raised until enough cannot-links hold.
    Rule(Schedule),
}

impl Gamma {
    fn fixed(self) -> Option<f64> {
        match self {
            Gamma::Fixed(gamma) => Some(gamma),
            Gamma::Rule(_) => None,
        }
    }
}

/// The word "schedule".
#[options]
pub enum Schedule {
    /// The cost is raised until enough cannot-links hold.
    Schedule,
}

/// Criterion that chooses one of several results.
#[options]
pub enum Prefer {
    /// The fewest broken cannot-links, then the smallest multi-cut.
    #[default]
    ViolationsThenCut,
    /// The smallest multi-cut.
    Cut,
}

#[plugin("cosc", cites = ["RangapuramHein2012", "ODonoghueCandes2015"])]
impl BaseClusterer for Cosc {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        obeying("cosc", problem, ctx, |problem| self.obey(problem, ctx))
    }

    fn properties(&self) -> Properties {
        Properties {
            accepts: vec![DataKind::Dense, DataKind::Csr, DataKind::Distances, DataKind::Affinity],
            needs_k: self.k.is_none(),
            reads_constraints: true,
            // The weakest of a contradiction may be a must-link.
            hard_must: self.on_conflict != OnConflict::DropWeakest,
            soft_weights: true,
            ..Properties::default()
        }
    }

    fn operations(&self, shape: &Shape) -> Option<f64> {
        /// Operations on an edge in an iteration.
        const PER_EDGE: f64 = 10.0;
        let k = self.k.unwrap_or(shape.k).max(1);
        let (starts, runs) = if k == 2 { (10, 1) } else { (2, self.outer_runs) };
        let descents = (self.starts.unwrap_or(starts) * runs) as f64;
        let edges = self.edges(shape) as f64 * 0.75;
        // Inner iterations from one start in all splits of a level, over all γ: within a factor of two on sets of
        // 150 to 4200 objects.
        let iterations = 100.0 * (shape.n as f64).sqrt();
        // A search tries about ten, most of which end early.
        let gammas = if self.gamma.fixed().is_some() { 0.5 } else { 1.0 };
        Some(gammas * descents * (k as f64).log2() * iterations * PER_EDGE * edges)
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let edges = self.edges(shape);
        let starts = self.starts.unwrap_or(10);
        let copy = self.distortion.copy_bytes(shape);
        (copy + 160 * edges + 200 * shape.n + 100 * shape.constraints + starts * 32 * edges) as u64
    }
}

impl Cosc {
    /// The outcome under constraints that are all obeyed.
    fn obey(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let k = problem.require_k(self.k, "cosc")?;
        let closure = problem.closure(self.on_conflict)?;
        closure.require_feasible(k)?;
        let graph = neighbour_graph(&problem.data, self.distortion, self.knn, self.scale, ctx)?;
        let (graph, largest) = scaled(&graph)?;
        let mass = self.mass(&graph)?;
        let own: Vec<u32> = (0..closure.components() as u32).collect();
        let class = if k == 2 { coloured(&closure) } else { own };
        let reduced = Reduced::new(&graph, &mass, &closure, &class);
        // Fewer groups than clusters: each is one, and some clusters stay empty.
        let filled = k.min(reduced.n());
        let mut gamma = 0.0;
        let side: Vec<u32> = match k {
            _ if reduced.n() == filled => (0..filled as u32).collect(),
            1 => vec![0; reduced.n()],
            2 => {
                let search = TwoClusters {
                    starts: self.starts.unwrap_or(10),
                    inner_max: self.inner_max.unwrap_or(10_000),
                    gamma: self.gamma.fixed(),
                    perturb: self.perturb,
                };
                let best = search.search(&reduced, ctx)?;
                gamma = best.gamma;
                best.inside.iter().map(|&s| u32::from(s)).collect()
            }
            _ => {
                let search = Splitting {
                    outer_runs: self.outer_runs,
                    starts: self.starts.unwrap_or(2),
                    inner_max: self.inner_max.unwrap_or(1000),
                    gamma: self.gamma.fixed(),
                    violations_first: self.prefer == Prefer::ViolationsThenCut,
                };
                search.search(&reduced, k, ctx)?
            }
        };
        let labels: Vec<u32> = reduced.vertex.iter().map(|&v| side[v as usize]).collect();
        let labels = canonical(&labels);
        let unit = if self.balance == Balance::Ratio { largest } else { 1.0 };
        let mut clustering = Clustering {
            k,
            objective: Some(unit * multi_cut(&graph, &mass, &labels, filled)),
            labels,
            ..Clustering::default()
        };
        let diagnostics = &mut clustering.extras.diagnostics;
        diagnostics.insert("edges".into(), graph.edge_count() as f64);
        diagnostics.insert("vertices".into(), reduced.n() as f64);
        diagnostics.insert("gamma".into(), gamma);
        Ok(clustering)
    }
}

impl Cosc {
    /// Largest number of edges of the graph; a graph of affinities has all.
    fn edges(&self, shape: &Shape) -> usize {
        let pairwise = shape.d == shape.n && shape.entries == shape.n * shape.n;
        if pairwise { shape.entries / 2 } else { shape.n * self.knn.min(shape.n) }
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::error::Infeasible;
    use mustlink_laws::fixtures;
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
        let pairs = [
            Constraint::cannot(0, 5),
            Constraint::must(0, 1),
            Constraint::must(1, 2),
            Constraint::must(3, 4),
            Constraint::must(4, 5),
        ];
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

    #[test]
    fn weights_that_no_gamma_fits_are_refused() {
        // Three pairs of cannot-links that must-links do not connect: three weights count.
        let (p, classes) = fixtures::dense(1);
        let pairs = fixtures::true_constraints(&classes, 12, 1);
        let apart = pairs.pairs().iter().filter(|c| c.kind == Kind::CannotLink);
        let apart: Vec<Constraint> = apart.copied().take(5).collect();
        let weighing = |light: f64, heavy: f64| {
            let weight = |at: usize| if at.is_multiple_of(2) { light } else { heavy };
            let given = apart.iter().enumerate().map(|(at, c)| c.weighing(weight(at)));
            linked(&p, &given.collect::<Vec<_>>())
        };
        let once = Cosc { outer_runs: 1, starts: Some(1), ..Cosc::default() };
        for (light, heavy) in [(1e-300, 1e300), (1e-7, 1e7), (1e-15, 1e-15)] {
            let two = weighing(light, heavy).with_k(2);
            let error = run(&once, &two).unwrap_err().to_string();
            assert!(
                error.starts_with("constraints: must be at least 1e-12, and at least 1e-12 of"),
                "{error}"
            );
            // A given γ is taken as it is, and more clusters need none that all can bear.
            let fixed = Cosc { gamma: Gamma::Fixed(1.0), ..once.clone() };
            assert!(run(&fixed, &two).is_ok());
            assert!(run(&once, &weighing(light, heavy).with_k(3)).is_ok());
        }
        for (light, heavy) in [(1e-3, 1e3), (1e300, 1e300)] {
            let c = run(&once, &weighing(light, heavy).with_k(2)).unwrap();
            assert!(apart.iter().all(|a| !a.is_violated(&c.labels)));
        }
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
                pairs
                    .iter()
                    .all(|c| (bits >> c.i & 1 == bits >> c.j & 1) == (c.kind == Kind::MustLink))
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
                Err(e) => panic!("{e}"),
            };
            // Must-links can join everything.
            if c.labels.iter().all(|&l| l == 0) {
                continue;
            }
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
            Err(Error::InconsistentConstraints(w)) => assert_eq!(w.shown[0].path, [0, 1, 2]),
            other => panic!("{other:?}"),
        }
        let dropped = Cosc { on_conflict: OnConflict::DropCl, ..cosc.clone() };
        assert_eq!(
            run(&dropped, &linked(&triangles(), &chain)).unwrap().labels,
            [0, 0, 0, 1, 1, 1]
        );
        // Of a contradiction that a must-link settles no must-link is promised.
        let weakest = Cosc { on_conflict: OnConflict::DropWeakest, ..cosc.clone() };
        let weak = [Constraint::must(0, 5).weighing(0.1), Constraint::cannot(0, 5)];
        let left = linked(&triangles(), &weak);
        let settled = mustlink_core::run::cluster(&weakest, &left, &Context::new(5)).unwrap();
        assert_eq!(settled.clustering.labels, [0, 0, 0, 1, 1, 1]);
        let all: Vec<Constraint> = (1..6).map(|i| Constraint::must(0, i)).collect();
        let joined = linked(&triangles(), &all);
        let together = run(&cosc, &joined).unwrap();
        assert_eq!((together.labels, together.k), (vec![0; 6], 2));
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
        let pairs =
            [Constraint::cannot(0, 6), Constraint::cannot(6, 12), Constraint::cannot(0, 12)];
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
