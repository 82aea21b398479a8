//! MCLA: groups of clusters of different members that mean the same.

use mustlink_core::clustering::compact;
use mustlink_core::prelude::*;
use mustlink_partitioners::{CutGraph, Engine, GraphBuilder, Guide, Task};
use ndarray::Array2;

use crate::parts::canonical_ensemble::CanonicalEnsemble;
use crate::parts::cutting::{SLACK, check_imbalance};
use crate::parts::typical::Typical;

/// MCLA: clusters of all members are grouped into k meta-clusters, which the objects then join.
///
/// # Method
/// The similarity of clusters is that of their sets of objects (Jaccard). Their graph is cut into k parts; the weight
/// of a cluster is its number of objects. One grouping comes from the member that agrees most with the others: each
/// cluster goes with the one it matches in this member. Parts weigh about as much as in this grouping, which is also
/// one of the starts. If all members agree, their partition is returned. With `imbalance` parts are of about equal
/// weight, as published. An object goes to the meta-cluster that has the largest share of its clusters containing the
/// object.
/// # Input and output
/// Any ensemble; all members count the same. At most k clusters: a meta-cluster that wins no object disappears.
/// Memberships are the shares, made to sum to 1; the diagnostics contain the mean confidence.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `BadParam`.
/// # Cost and randomness
/// O(nτ²) to compare clusters and 16 bytes for each pair of them that share an object. Random in the partitioner, and
/// in ties with `tie = "random"`.
/// # References
/// [StrehlGhosh2002]. Differs: weights of parts (`imbalance = 0.03` gives the weights of METIS).
#[options]
pub struct Mcla {
    /// Partitioner that cuts the graph of clusters.
    pub partitioner: Engine,
    /// Tolerance for meta-clusters of about equal weight, as published: none is heavier than 1 + this times its
    /// share; at most k - 1. If absent, weights are within 3 % of those that the members' clusters have.
    #[option(min = 0.0)]
    pub imbalance: Option<f64>,
    /// Number of starts of the partitioner; the best cut is kept. If absent, 10, and fewer on graphs with more than
    /// half a million ends of edges.
    #[option(min = 1)]
    pub trials: Option<usize>,
    /// Factor for edge weights before they are rounded to whole numbers, at least 1. It is lowered if their sum would
    /// exceed 2³¹ - 1.
    #[option(default = 1e6, min = 1.0, max = 1e9)]
    pub weight_scale: f64,
    /// Choice between several meta-clusters with equal shares for an object.
    pub tie: Tie,
}

/// Choice between several equally good meta-clusters for an object.
#[options]
pub enum Tie {
    /// The first one found.
    #[default]
    Lowest,
    /// A random one, as published.
    Random,
}

/// Number of objects in each cluster of all members.
fn sizes(view: &CanonicalEnsemble) -> Vec<u32> {
    let mut out = vec![0; view.clusters()];
    for t in 0..view.len() {
        for &l in view.labels[t].iter().filter(|&&l| l != NONE) {
            out[view.first[t] + l as usize] += 1;
        }
    }
    out
}

/// For every cluster of member `t` the clusters of the other members that share an object with it, ascending, and
/// its Jaccard similarity |a ∩ b| / |a ∪ b| with each.
fn jaccard(view: &CanonicalEnsemble, t: usize, sizes: &[u32]) -> Vec<Vec<(u32, f32)>> {
    let mut objects: Vec<Vec<u32>> = vec![Vec::new(); view.columns(t).len()];
    for (i, &l) in view.labels[t].iter().enumerate().filter(|(_, l)| **l != NONE) {
        objects[l as usize].push(i as u32);
    }
    let widest = (0..view.len()).map(|s| view.columns(s).len()).max().unwrap_or(0);
    // Objects of the cluster at hand in each cluster of another member, and those that have some.
    let (mut both, mut met) = (vec![0u32; widest], Vec::new());
    let mut out = Vec::with_capacity(objects.len());
    for (own, objects) in view.columns(t).zip(&objects) {
        let mut row = Vec::new();
        for s in (0..view.len()).filter(|&s| s != t) {
            for b in objects.iter().map(|&i| view.labels[s][i as usize]).filter(|&b| b != NONE) {
                if both[b as usize] == 0 {
                    met.push(b);
                }
                both[b as usize] += 1;
            }
            met.sort_unstable();
            for b in met.drain(..) {
                let shared = std::mem::take(&mut both[b as usize]);
                let other = view.first[s] + b as usize;
                let either = sizes[own] + sizes[other] - shared;
                row.push((other as u32, (f64::from(shared) / f64::from(either)) as f32));
            }
        }
        row.shrink_to_fit();
        out.push(row);
    }
    out
}

/// The clusters of all members, each as heavy as it has objects, joined by their similarity.
fn meta_graph(view: &CanonicalEnsemble, scale: f64, ctx: &Context) -> Result<CutGraph> {
    let (columns, sizes) = (view.clusters(), sizes(view));
    let rows: Vec<Vec<Vec<(u32, f32)>>> = reduce::map(view.len(), |t| jaccard(view, t, &sizes));
    ctx.check()?;
    let directions: usize = rows.iter().flatten().map(Vec::len).sum();
    let mut builder = GraphBuilder::with_capacity(columns, directions);
    for row in rows.into_iter().flatten() {
        row.into_iter().for_each(|(b, j)| builder.edge(b, f64::from(j)));
        builder.end_vertex();
    }
    builder.build(sizes, scale)
}

/// Ends of edges of that graph at most: an object joins one cluster of each member with those of the others.
fn directions(shape: &Shape, members: usize) -> usize {
    let clusters = members.saturating_mul(shape.k);
    let shared = shape.n.saturating_mul(members).saturating_mul(members);
    clusters.saturating_mul(clusters).min(shared)
}

/// The share of the clusters of each of the `k` meta-clusters that an object is in; `parts` holds the
/// meta-cluster of every cluster.
fn collapse(view: &CanonicalEnsemble, parts: &[u32], k: usize) -> Array2<f64> {
    let mut held = vec![0.0; k];
    parts.iter().for_each(|&p| held[p as usize] += 1.0);
    let mut association: Array2<f64> = Array2::zeros((view.n, k));
    for t in 0..view.len() {
        for (i, &l) in view.labels[t].iter().enumerate().filter(|(_, l)| **l != NONE) {
            association[[i, parts[view.first[t] + l as usize] as usize]] += 1.0;
        }
    }
    for mut row in association.rows_mut() {
        row.iter_mut().zip(&held).for_each(|(a, h)| *a /= f64::max(*h, 1.0));
    }
    association
}

impl Mcla {
    /// The members say how heavy meta-clusters are.
    fn guided(&self) -> bool {
        self.imbalance.is_none() && self.partitioner.is_balanced()
    }
}

#[plugin("mcla", cites = ["StrehlGhosh2002", "KarypisKumar1998"], version = 4)]
impl ConsensusFunction for Mcla {
    fn combine(&self, ensemble: &Ensemble, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let view = CanonicalEnsemble::unweighted(ensemble, problem, "mcla", ctx)?;
        check_imbalance(self.imbalance, view.k)?;
        if let Some(trivial) = view.trivial() {
            return Ok(trivial);
        }
        // The steps of [StrehlGhosh2002] §3.4. Construct the meta-graph: its vertices are the clusters
        // of all members.
        let graph = meta_graph(&view, self.weight_scale, ctx)?;
        // Cluster hyperedges: cut it into k parts, the meta-clusters. With fewer clusters than k in all
        // members together every one is a meta-cluster of its own.
        let (n, k) = (view.n, view.k.min(graph.len()));
        let typical = self.guided().then(|| Typical::new(&view, ctx)).transpose()?;
        let weights = |typical: Typical| {
            let weights = graph.part_sizes(&typical.clusters, view.k);
            let shares = weights.iter().map(|&w| w as f64 / graph.total_size() as f64);
            (shares.collect::<Vec<f64>>(), typical)
        };
        // Members of fewer clusters leave parts without any.
        let known =
            typical.map(weights).filter(|(shares, _)| k == view.k && !shares.contains(&0.0));
        let guide = known.as_ref().map(|(shares, typical)| Guide {
            shares,
            parts: &typical.clusters,
            settled: typical.agreed,
            follow: false,
        });
        let task = Task {
            imbalance: self.imbalance.unwrap_or(SLACK).min((k.max(2) - 1) as f64),
            trials: self.trials,
            guide,
            ..Task::new(&graph, k)
        };
        let partition = self.partitioner.partition(&task, &ctx.child("partitioner"))?;
        // Collapse meta-clusters: each to the mean of the indicators of its clusters.
        let mut association = collapse(&view, &compact(&partition.parts).0, k);
        // Compete for objects: each goes to the meta-cluster it is most associated with.
        let mut stream = ctx.stream("ties");
        let mut labels = vec![0; n];
        let mut confidence = 0.0;
        for (i, mut row) in association.rows_mut().into_iter().enumerate() {
            let most = row.iter().copied().fold(0.0, f64::max);
            let mut best = row.iter().enumerate().filter(|(_, a)| **a == most).map(|(p, _)| p);
            labels[i] = match self.tie {
                Tie::Lowest => best.next().unwrap_or(0) as u32,
                Tie::Random => {
                    let best: Vec<usize> = best.collect();
                    best[stream.below(best.len())] as u32
                }
            };
            let total = row.sum();
            if total > 0.0 {
                row.mapv_inplace(|a| a / total);
                confidence += most / total;
            } else {
                // No member saw it.
                row[labels[i] as usize] = 1.0;
            }
        }
        let extras = Extras { memberships: Some(association), ..Extras::default() };
        let extras = mustlink_core::ensemble::without_empty(extras, &labels, k);
        let (labels, k) = compact(&labels);
        let mut c = Clustering { labels, k, extras, ..Clustering::default() };
        c.objective = Some(partition.cut as f64);
        let diagnostics = &mut c.extras.diagnostics;
        diagnostics.insert("confidence".into(), confidence / n as f64);
        diagnostics.insert("cut".into(), partition.cut as f64);
        diagnostics.insert("heaviest_part".into(), partition.heaviest as f64);
        diagnostics.insert("bound_of_parts".into(), partition.bound as f64);
        Ok(c)
    }

    fn needs(&self) -> Needs {
        let balanced = self.imbalance.is_some() && self.partitioner.is_balanced();
        Needs { labels_only: true, fixed_k: true, balanced, ..Needs::default() }
    }

    fn memory(&self, shape: &Shape, members: usize) -> u64 {
        let clusters = members * shape.k;
        let directions = directions(shape, members);
        let labels = (8 * shape.n * members) as u64;
        let graph = self.partitioner.memory(clusters, directions, shape.k);
        labels + 16 * directions as u64 + graph + (8 * shape.n * shape.k) as u64
    }

    fn operations(&self, shape: &Shape, members: usize) -> f64 {
        let clusters = members * shape.k;
        let directions = directions(shape, members);
        let cut = self.partitioner.operations(clusters, directions, shape.k, self.trials);
        cut + shape.n as f64 * (members as f64).powi(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::e12::{E12_CLASSES, blank, e12};
    use mustlink_kernels::agreement::contingency::adjusted_rand;

    #[test]
    fn printed_similarities() {
        let (ensemble, _) = e12();
        let sets = |t: usize, l: u32| -> Vec<usize> {
            (0..12).filter(|&i| ensemble.members()[t].labels[i] == l).collect()
        };
        // As the members name their clusters: P5 names object 4's cluster by first appearance.
        let one = |t: usize| ensemble.members()[t].labels[5];
        let problem = blank(12, 3);
        let view =
            CanonicalEnsemble::unweighted(&ensemble, &problem, "mcla", &Context::new(1)).unwrap();
        let sizes = sizes(&view);
        let place = |t: usize| {
            let labels = &ensemble.members()[t].labels;
            (0..5).find(|&s| &view.labels[s] == labels).unwrap()
        };
        let table = jaccard(&view, place(0), &sizes);
        let row = &table[one(0) as usize];
        assert!(row.is_sorted_by(|a, b| a.0 < b.0));
        for (t, printed) in [(1, 2.0 / 3.0), (2, 2.0 / 3.0), (4, 0.8)] {
            let other = view.first[place(t)] + one(t) as usize;
            let value = row.iter().find(|e| e.0 as usize == other).unwrap().1;
            assert!((f64::from(value) - printed).abs() < 1e-6, "{value}");
            assert!(!sets(t, one(t)).is_empty());
        }
        assert!(row.iter().all(|e| !view.columns(place(0)).contains(&(e.0 as usize))));
    }

    #[test]
    fn clusters_that_share_no_object_take_no_room() {
        // Most clusters hold one object, as those of members with much noise do.
        let (n, members) = (400, 6);
        let mut s = SeedPath::new(4).stream("members");
        let label = |s: &mut Stream, i: usize| if s.unit() < 0.3 { 0 } else { i as u32 + 1 };
        let member =
            |s: &mut Stream| Member::from_labels(&(0..n).map(|i| label(s, i)).collect::<Vec<_>>());
        let ensemble = Ensemble::new(n, (0..members).map(|_| member(&mut s)).collect()).unwrap();
        let problem = blank(n, 3);
        let ctx = Context::new(1);
        let view = CanonicalEnsemble::unweighted(&ensemble, &problem, "mcla", &ctx).unwrap();
        let sizes = sizes(&view);
        let held: usize =
            (0..members).flat_map(|t| jaccard(&view, t, &sizes)).map(|row| row.len()).sum();
        assert!(view.clusters() > 1000 && held <= n * members * members, "{held}");
        assert_eq!(meta_graph(&view, 1e6, &ctx).unwrap().directions(), held);
    }

    #[test]
    fn worked_example() {
        let (ensemble, problem) = e12();
        let mcla = Mcla { imbalance: Some(0.4), ..Mcla::default() };
        let c = mcla.combine(&ensemble, &problem, &Context::new(1)).unwrap();
        assert!(adjusted_rand(&E12_CLASSES, &c.labels) > 0.7, "{:?}", c.labels);
        let memberships = c.extras.memberships.unwrap();
        assert!(memberships.rows().into_iter().all(|r| (r.sum() - 1.0).abs() < 1e-12));
        assert!(c.extras.diagnostics["confidence"] > 0.5);
    }

    #[test]
    fn meta_clusters_may_be_of_unequal_weight() {
        let labels: Vec<u32> =
            (0..1200).map(|i| u32::from(i >= 1100) + u32::from(i >= 1170)).collect();
        let ensemble = Ensemble::new(1200, vec![Member::from_labels(&labels); 5]).unwrap();
        let of = |mcla: Mcla| mcla.combine(&ensemble, &blank(1200, 3), &Context::new(1)).unwrap();
        assert_eq!(of(Mcla::default()).labels, labels);
        assert!(of(Mcla { imbalance: Some(0.03), ..Mcla::default() }).k < 3);
    }

    #[test]
    fn fewer_clusters_than_k_are_legal() {
        let ensemble = Ensemble::new(4, vec![Member::from_labels(&[0, 0, 1, 1])]).unwrap();
        let c = Mcla::default().combine(&ensemble, &blank(4, 3), &Context::new(1)).unwrap();
        assert_eq!((c.labels, c.k), (vec![0, 0, 1, 1], 2));
    }
}
