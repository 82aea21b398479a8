//! HBGF: a cut of the graph that joins each object to its clusters.

use mustlink_core::prelude::*;
use mustlink_core::soft_marks::obeying;

use crate::parts::bipartite;
use crate::parts::canonical_ensemble::CanonicalEnsemble;
use crate::parts::cutting::{Cutting, Units};
use crate::parts::weights::Weights;

/// HBGF: the graph of objects and the clusters they are in, cut into k parts.
///
/// # Method
/// An edge joins an object to its cluster in every member; the part of an object is its label. Objects that all
/// members treat alike are one vertex, up to a twentieth of a part.
///
/// Parts are cut to the sizes that the members' clusters have. These are the sizes of the member that agrees most
/// with the others, averaged over the members with the same number of clusters. Its clusters are one of the starts.
/// At the end every object goes to the part of most of its clusters, whatever the sizes are then. If all members
/// agree, their partition is returned. With `imbalance` parts are of about equal size, as published.
///
/// Weights of constraints are not used. Must-linked objects are one vertex. Cannot-linked objects that the cut leaves
/// in one part are separated afterwards, one by one if that is enough. Otherwise a search for a colouring separates
/// all objects that chains of cannot-links connect. Cannot-links that remain broken are counted
/// (`cannot_links_together`); if one is marked hard, an error is returned. Constraints marked soft are enforced too,
/// with a warning. If the others cannot be satisfied with them, all soft ones are left out.
/// # Input and output
/// Any ensemble; a missing label is a missing edge. At most k clusters. The objective is the weight of the cut edges,
/// memberships are shares of edges.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `BadParam`; `InconsistentConstraints`, `InfeasibleConstraints`,
/// `UndecidedConstraints` for cannot-links marked hard.
/// # Cost and randomness
/// O(nτ) edges, 16 bytes each, and the partitioner. Random in the partitioner.
/// # References
/// [FernBrodley2004]. Differs: sizes of parts (`imbalance = 0.03` gives the sizes of METIS).
#[options]
pub struct Hbgf {
    /// Options for cutting the graph.
    #[option(flatten)]
    pub cutting: Cutting,
    /// Weight of a cluster in the balance; an object weighs 1.
    #[option(default = 1, min = 0, max = 1)]
    pub cluster_vertex_weight: u32,
    /// Weights of the members.
    pub weights: Weights,
}

/// The clusters of object `i`, each with the weight of its member.
fn row(view: &CanonicalEnsemble, i: usize, out: &mut Vec<(u32, f64)>) {
    out.extend(view.clusters_of(i).map(|(t, c)| (c as u32, view.weights[t])));
}

#[plugin("hbgf", cites = ["FernBrodley2004", "KarypisKumar1998"], version = 6)]
impl ConsensusFunction for Hbgf {
    fn combine(&self, ensemble: &Ensemble, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        obeying("hbgf", problem, ctx, |problem| self.obey(ensemble, problem, ctx))
    }

    fn needs(&self) -> Needs {
        Needs { labels_only: true, ..self.weights.needs(self.cutting.needs()) }
    }

    fn memory(&self, shape: &Shape, members: usize) -> u64 {
        let labels = (16 * shape.n * members) as u64;
        labels + bipartite::memory(&self.cutting, shape, members, members * shape.k)
    }

    fn operations(&self, shape: &Shape, members: usize) -> f64 {
        let graph = bipartite::operations(&self.cutting, shape, members, members * shape.k);
        graph + self.weights.operations(shape, members)
    }
}

impl Hbgf {
    /// The outcome under constraints that are all obeyed.
    fn obey(&self, ensemble: &Ensemble, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let view = CanonicalEnsemble::new(ensemble, problem, &self.weights, "hbgf", ctx)?;
        let cutting = &self.cutting;
        cutting.check(view.k)?;
        if let Some(trivial) = cutting.trivial(&view, problem)? {
            return Ok(trivial);
        }
        let units = Units::new(&view, cutting, problem, ctx)?;
        // The bipartite graph of [FernBrodley2004]: a vertex for each object and each cluster of each
        // member, an edge between an object and the clusters it is in, and no others. It is cut into k
        // parts of objects and clusters; the part of an object is its label.
        let edges = |i: usize, out: &mut Vec<(u32, f64)>| row(&view, i, out);
        let weight = self.cluster_vertex_weight;
        Ok(bipartite::cut(&view, &units, cutting, weight, true, edges, ctx)?.clustering)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::e12::{blank, e12};
    use mustlink_kernels::agreement::contingency::adjusted_rand;
    use mustlink_partitioners::{Engine, embed};

    fn cut_by(partitioner: Engine) -> Hbgf {
        Hbgf { cutting: Cutting { partitioner, ..Cutting::default() }, ..Hbgf::default() }
    }

    #[test]
    fn singular_values_of_e12() {
        let (ensemble, problem) = e12();
        let view = CanonicalEnsemble::new(
            &ensemble,
            &problem,
            &Weights::default(),
            "hbgf",
            &Context::new(1),
        )
        .unwrap();
        let units = Units::single(&view, &Cutting::default(), &problem, &Context::new(1)).unwrap();
        let graph = bipartite::graph(&view, &units, 1, 1e6, |i, out| row(&view, i, out)).unwrap();
        assert_eq!((graph.len(), graph.directions()), (28, 120));
        let values = embed(&graph, 3, &Context::new(1)).unwrap().values;
        for (value, printed) in values.iter().zip([0.957561, 0.838279, 0.528395]) {
            assert!((value - printed).abs() < 1e-6, "{value} is not {printed}");
        }
        // The default units: like objects are one vertex only where a part has room for them.
        let spectral = cut_by(Engine::Spectral);
        let c = spectral.combine(&ensemble, &problem, &Context::new(1)).unwrap();
        // Object 4 is with neither class for most members.
        let mut labels = c.labels;
        labels[4] = 0;
        assert_eq!(labels, [0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2]);
    }

    /// `n` objects in `k` classes of equal size; each of `members` members puts a share right.
    fn noisy(n: usize, k: usize, members: usize, right: f64, seed: u64) -> (Ensemble, Vec<u32>) {
        let mut s = SeedPath::new(seed).stream("noisy");
        let classes: Vec<u32> = (0..n).map(|i| (i % k) as u32).collect();
        let member = |s: &mut Stream| {
            let labels: Vec<u32> = classes
                .iter()
                .map(|&c| if s.unit() < right { c } else { s.below(k) as u32 })
                .collect();
            Member::from_labels(&labels)
        };
        let members = (0..members).map(|_| member(&mut s)).collect();
        (Ensemble::new(n, members).unwrap(), classes)
    }

    #[test]
    fn what_most_members_say_is_found_by_every_partitioner() {
        let (ensemble, classes) = noisy(300, 4, 15, 0.7, 1);
        let engines = [
            #[cfg(feature = "metis")]
            Engine::Metis,
            Engine::Multilevel,
            Engine::Spectral,
            Engine::GreedyNcut,
        ];
        for partitioner in engines {
            let hbgf = cut_by(partitioner);
            let c = hbgf.combine(&ensemble, &blank(300, 4), &Context::new(1)).unwrap();
            let ari = adjusted_rand(&classes, &c.labels);
            assert!(ari > 0.95, "{}: {ari}", partitioner.name());
        }
    }

    #[test]
    fn constraints_are_respected_unless_told_otherwise() {
        let (ensemble, _) = noisy(60, 3, 9, 0.9, 2);
        // Objects i and i + 1 are of different classes here.
        let pairs = [Constraint::must(0, 1), Constraint::must(1, 5), Constraint::cannot(3, 6)];
        let constraints = Constraints::new(60, pairs).unwrap();
        let problem = blank(60, 3).with_constraints(constraints.clone());
        let engines = [
            #[cfg(feature = "metis")]
            Engine::Metis,
            Engine::Multilevel,
            Engine::Spectral,
        ];
        for partitioner in engines {
            let aware = cut_by(partitioner);
            let mut plain = aware.clone();
            plain.cutting.respect_must_link = false;
            plain.cutting.respect_cannot_link = false;
            let without = plain.combine(&ensemble, &problem, &Context::new(1)).unwrap();
            assert!(constraints.violations(&without.labels).total() >= 2);
            let with = aware.combine(&ensemble, &problem, &Context::new(1)).unwrap();
            assert_eq!(constraints.violations(&with.labels).total(), 0, "{}", partitioner.name());
            assert_eq!(with.extras.diagnostics["cannot_links_together"], 0.0);
        }
    }

    #[test]
    fn what_does_not_fit_is_counted_and_hard_marks_are_kept() {
        let (ensemble, problem) = e12();
        let triangle = |mark: Option<Strength>| {
            let pairs = [(0, 1), (1, 2), (0, 2)].map(|(i, j)| Constraint::cannot(i, j));
            let last = Constraint { strength: mark, ..pairs[2] };
            let given = Constraints::new(12, [pairs[0], pairs[1], last]).unwrap();
            Problem { k: Some(2), ..problem.clone().with_constraints(given) }
        };
        let hbgf = Hbgf::default();
        let run = |problem: &Problem| hbgf.combine(&ensemble, problem, &Context::new(1));
        let c = run(&triangle(None)).unwrap();
        assert_eq!(c.extras.diagnostics["cannot_links_together"], 1.0);
        let c = run(&triangle(Some(Strength::Hard))).unwrap();
        assert_ne!(c.labels[0], c.labels[2]);
        let hard = |pairs: &[Constraint], k| {
            let pairs = pairs.iter().map(|c| Constraint { strength: Some(Strength::Hard), ..*c });
            let given = Constraints::new(12, pairs).unwrap();
            Problem { k: Some(k), ..problem.clone().with_constraints(given) }
        };
        let pairs = triangle(None);
        let pairs = pairs.constraints.pairs();
        for k in [1, 2] {
            let refused = run(&hard(pairs, k)).unwrap_err();
            assert!(matches!(refused, Error::InfeasibleConstraints { .. }), "k = {k}: {refused}");
        }
        let chain = [Constraint::must(0, 1), Constraint::must(1, 2), Constraint::cannot(0, 2)];
        for k in [2, 12] {
            let refused = run(&hard(&chain, k)).unwrap_err();
            assert!(matches!(refused, Error::InconsistentConstraints(_)), "k = {k}: {refused}");
        }
        // Not marked, the must-links count.
        let given = Constraints::new(12, chain).unwrap();
        let c = run(&problem.clone().with_constraints(given)).unwrap();
        assert_eq!((c.labels[0], c.labels[1]), (c.labels[1], c.labels[2]));
    }

    /// Members of 12 000 objects in groups of 11 000, 700 and 300, each with some labels of its own.
    fn unequal(wrong: f64) -> (Ensemble, Vec<u32>) {
        let classes: Vec<u32> =
            (0..12_000u32).map(|i| u32::from(i >= 11_000) + u32::from(i >= 11_700)).collect();
        let mut s = SeedPath::new(5).stream("unequal");
        let mut member = || {
            let noisy = |&c: &u32| if s.unit() < wrong { s.below(3) as u32 } else { c };
            Member::from_labels(&classes.iter().map(noisy).collect::<Vec<u32>>())
        };
        let members = (0..5).map(|_| member()).collect();
        (Ensemble::new(12_000, members).unwrap(), classes)
    }

    #[test]
    fn groups_of_unequal_size_are_found_among_noise() {
        for (wrong, least) in [(0.0, 1.0), (0.001, 0.999), (0.02, 0.99)] {
            let (ensemble, classes) = unequal(wrong);
            let c =
                Hbgf::default().combine(&ensemble, &blank(12_000, 3), &Context::new(1)).unwrap();
            let ari = adjusted_rand(&classes, &c.labels);
            assert!(ari >= least, "{wrong}: {ari}, {:?}", c.sizes());
        }
        // As published, on request.
        let cutting = Cutting { imbalance: Some(0.03), ..Cutting::default() };
        let published = Hbgf { cutting, ..Hbgf::default() };
        assert!(published.needs().balanced && !Hbgf::default().needs().balanced);
        let c = published.combine(&unequal(0.0).0, &blank(12_000, 3), &Context::new(1)).unwrap();
        assert!(c.sizes().iter().all(|&s| s <= 4200), "{:?}", c.sizes());
    }

    /// A sample drawn by vertex consisted of rows of labels that hardly any object has: ARI .87 and .33.
    #[test]
    fn the_sample_of_a_large_graph_counts_objects() {
        let (ensemble, classes) = noisy(60_000, 20, 6, 0.8, 4);
        let cutting = Cutting { imbalance: Some(0.03), ..Cutting::default() };
        for hbgf in [Hbgf::default(), Hbgf { cutting, ..Hbgf::default() }] {
            let c = hbgf.combine(&ensemble, &blank(60_000, 20), &Context::new(1)).unwrap();
            let ari = adjusted_rand(&classes, &c.labels);
            assert!(ari > 0.97, "{ari} with {:?}", hbgf.cutting.imbalance);
        }
    }

    #[test]
    fn soft_marks_give_way_to_the_others() {
        // Whatever their order: 0 and 1 together only if the other two allow it.
        let members = [[0, 0, 0, 0], [0, 0, 0, 0], [0, 1, 1, 1]];
        let members = members.iter().map(|m| Member::from_labels(m)).collect();
        let ensemble = Ensemble::new(4, members).unwrap();
        let soft = Constraint { strength: Some(Strength::Soft), ..Constraint::must(0, 1) };
        let hard = |c: Constraint| Constraint { strength: Some(Strength::Hard), ..c };
        let run = |pairs: Vec<Constraint>| {
            let given = Constraints::new(4, pairs).unwrap();
            let ctx = Context::new(1);
            let problem = blank(4, 2).with_constraints(given);
            let c = Hbgf::default().combine(&ensemble, &problem, &ctx).unwrap();
            (c.labels, ctx.warnings())
        };
        let (labels, said) = run(vec![soft]);
        assert_eq!(labels[0], labels[1]);
        assert_eq!(said, ["hbgf: 1 constraint marked soft is enforced as if hard"]);
        let others = [hard(Constraint::must(1, 2)), hard(Constraint::cannot(0, 2))];
        let (labels, said) = run(vec![soft, others[0], others[1]]);
        assert_eq!((labels[1], labels[0] == labels[2]), (labels[2], false));
        assert!(said[0].starts_with("hbgf: 1 constraint marked soft is left out"), "{said:?}");
    }

    #[test]
    fn a_missing_label_is_a_missing_edge() {
        let (ensemble, classes) = noisy(120, 3, 12, 0.9, 3);
        let mut s = SeedPath::new(3).stream("missing");
        let members = ensemble.members().iter().map(|m| {
            let hide = |&l: &u32| if s.unit() < 0.3 { NONE } else { l };
            let labels: Vec<u32> = m.labels.iter().map(hide).collect();
            Member::from_labels(&labels)
        });
        let ensemble = Ensemble::new(120, members.collect()).unwrap();
        let c = Hbgf::default().combine(&ensemble, &blank(120, 3), &Context::new(1)).unwrap();
        assert!(adjusted_rand(&classes, &c.labels) > 0.9);
    }

    #[test]
    fn wrong_options_are_refused() {
        let (ensemble, problem) = e12();
        let refused = |hbgf: Hbgf, name: &str| {
            let e = hbgf.combine(&ensemble, &problem, &Context::new(1)).unwrap_err().to_string();
            assert!(e.starts_with(name), "{e}");
        };
        let cut = |cutting| Hbgf { cutting, ..Hbgf::default() };
        let default = Cutting::default;
        refused(
            cut(Cutting { imbalance: Some(2.5), ..default() }),
            "imbalance: must be between 0 and 2",
        );
        refused(cut(Cutting { trials: Some(0), ..default() }), "trials: ");
        refused(cut(Cutting { weight_scale: 0.5, ..default() }), "weight_scale: ");
        refused(Hbgf { cluster_vertex_weight: 2, ..Hbgf::default() }, "cluster_vertex_weight: ");
        refused(Hbgf { weights: Weights::Given(vec![1.0]), ..Hbgf::default() }, "weights: ");
    }
}
