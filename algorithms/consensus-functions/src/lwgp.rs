//! Locally weighted graph partitioning: the graph of objects and clusters, its edges weighed by reliability.

use mustlink_core::prelude::*;
use mustlink_core::soft_marks::obeying;

use crate::parts::bipartite;
use crate::parts::canonical_ensemble::CanonicalEnsemble;
use crate::parts::cutting::{Cutting, Units};
use crate::parts::reliability;
use crate::parts::weights::Weights;

/// LWGP: the graph of objects and their clusters, in which reliable clusters have heavier edges, cut into k parts.
///
/// # Method
/// H(C), the uncertainty of a cluster, is the sum over all M members of the entropy (in bits) of their labels within
/// C. Its index is exp(−H / (θ·M)), which is 1 if no member divides the cluster. An edge of this weight joins each
/// object to its cluster in every member; the part of an object is its label. Objects that all members treat alike
/// are one vertex, up to a twentieth of a part. Sizes of parts and constraints as in `hbgf`.
/// # Input and output
/// Any ensemble; a missing label is a missing edge. At most k clusters. The objective is the weight of the cut edges,
/// memberships are shares of the weight of edges.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `BadParam`; `InconsistentConstraints`, `InfeasibleConstraints`,
/// `UndecidedConstraints` for cannot-links marked hard.
/// # Cost and randomness
/// With M members O(n·M²) time for the index, n·M edges, 16 bytes each, and the partitioner. Random in the
/// partitioner.
/// # References
/// [HuangWangLai2018], ensemble-driven cluster index and LWGP; θ = 0.4 is their value. Differs: sizes of parts
/// (`partitioner = "spectral"` is nearest to their transfer cut); weights of members count.
#[options]
pub struct Lwgp {
    /// Weight of uncertain clusters (θ); with a large number all clusters count the same.
    #[option(default = 0.4, above = 0.0)]
    pub theta: f64,
    /// Options for cutting the graph.
    #[option(flatten)]
    pub cutting: Cutting,
    /// Weights of the members.
    pub weights: Weights,
}

/// The clusters of object `i`, each with the weight of its edge.
fn row(view: &CanonicalEnsemble, reliable: &[f64], i: usize, out: &mut Vec<(u32, f64)>) {
    out.extend(view.clusters_of(i).map(|(t, c)| (c as u32, view.weights[t] * reliable[c])));
}

#[plugin("lwgp", cites = ["HuangWangLai2018", "FernBrodley2004", "KarypisKumar1998"])]
impl ConsensusFunction for Lwgp {
    fn combine(&self, ensemble: &Ensemble, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        obeying("lwgp", problem, ctx, |problem| self.obey(ensemble, problem, ctx))
    }

    fn needs(&self) -> Needs {
        Needs { labels_only: true, ..self.weights.needs(self.cutting.needs()) }
    }

    fn memory(&self, shape: &Shape, members: usize) -> u64 {
        let labels = (24 * shape.n * members) as u64;
        labels + bipartite::memory(&self.cutting, shape, members, members * shape.k)
    }

    fn operations(&self, shape: &Shape, members: usize) -> f64 {
        let graph = bipartite::operations(&self.cutting, shape, members, members * shape.k);
        let index = reliability::operations(shape.n, members);
        graph + index + self.weights.operations(shape, members)
    }
}

impl Lwgp {
    /// The outcome under constraints that are all obeyed.
    fn obey(&self, ensemble: &Ensemble, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let view = CanonicalEnsemble::new(ensemble, problem, &self.weights, "lwgp", ctx)?;
        let cutting = &self.cutting;
        cutting.check(view.k)?;
        if let Some(trivial) = cutting.trivial(&view, problem)? {
            return Ok(trivial);
        }
        let reliable = reliability::of_clusters(&view, self.theta, ctx)?;
        let units = Units::new(&view, cutting, problem, ctx)?;
        // A vertex for each object and each cluster, an edge of the cluster's index between an object and the
        // clusters it is in, and no others.
        let edges = |i: usize, out: &mut Vec<(u32, f64)>| row(&view, &reliable, i, out);
        Ok(bipartite::cut(&view, &units, cutting, 1, true, edges, ctx)?.clustering)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hbgf::Hbgf;
    use crate::parts::e12::{blank, e12};
    use mustlink_kernels::agreement::contingency::adjusted_rand;

    fn run(method: &dyn ConsensusFunction, ensemble: &Ensemble, problem: &Problem) -> Clustering {
        method.combine(ensemble, problem, &Context::new(1)).unwrap()
    }

    #[test]
    fn worked_example() {
        // A: {0, 1, 2, 3} {4, 5}; B: {0, 1, 2} {3, 4, 5}; θ·M = 1. The index of {0, 1, 2, 3} is exp(−0.811278) =
        // .444290, of {3, 4, 5} exp(−0.918296) = .399199, of the others 1: object 3 has an edge of .444290 to the side
        // of 0, 1, 2 and one of .399199 to the other, which is cut.
        let members = vec![
            Member::from_labels(&[0, 0, 0, 0, 1, 1]),
            Member::from_labels(&[0, 0, 0, 1, 1, 1]),
        ];
        let ensemble = Ensemble::new(6, members).unwrap();
        let c = run(&Lwgp { theta: 0.5, ..Lwgp::default() }, &ensemble, &blank(6, 2));
        assert_eq!(c.labels, [0, 0, 0, 0, 1, 1]);
        // Edges are weighed in millionths.
        assert!((c.objective.unwrap() - 399_199.0).abs() < 1.5, "{:?}", c.objective);
        let memberships = c.extras.memberships.unwrap();
        assert!((memberships[[3, 0]] - 0.444290 / (0.444290 + 0.399199)).abs() < 1e-6);
    }

    #[test]
    fn if_all_clusters_count_the_same_it_is_hbgf() {
        let (ensemble, problem) = e12();
        let c = run(&Lwgp { theta: 1e300, ..Lwgp::default() }, &ensemble, &problem);
        assert_eq!(c, run(&Hbgf::default(), &ensemble, &problem));
    }

    #[test]
    fn members_of_chance_count_less() {
        // Three members know the classes half the time, alike; eight are chance. A cluster of chance has the largest
        // entropy in all others.
        let mut s = SeedPath::new(3).stream("members");
        let n = 200;
        let classes: Vec<u32> = (0..n).map(|i| (i % 4) as u32).collect();
        let mut members = Vec::new();
        for t in 0..11 {
            let right = if t < 3 { 0.9 } else { 0.0 };
            let label = |&c: &u32| if s.unit() < right { c } else { s.below(4) as u32 };
            members.push(Member::from_labels(&classes.iter().map(label).collect::<Vec<_>>()));
        }
        let ensemble = Ensemble::new(n, members).unwrap();
        let ari = |method: &dyn ConsensusFunction| {
            adjusted_rand(&classes, &run(method, &ensemble, &blank(n, 4)).labels)
        };
        let (local, plain) = (ari(&Lwgp::default()), ari(&Hbgf::default()));
        assert!(local > 0.8 && local >= plain, "{local} {plain}");
    }

    #[test]
    fn constraints_are_obeyed() {
        let (ensemble, problem) = e12();
        let pairs = [Constraint::must(0, 11), Constraint::cannot(0, 1)];
        let problem = problem.with_constraints(Constraints::new(12, pairs).unwrap());
        let c = run(&Lwgp::default(), &ensemble, &problem);
        assert_eq!(c.labels[0], c.labels[11]);
        assert_ne!(c.labels[0], c.labels[1]);
    }
}
