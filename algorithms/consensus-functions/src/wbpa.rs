//! WBPA: a cut of the graph in which every object has an edge to every cluster.

mod complete_graph;
pub(crate) mod distances;

use mustlink_core::prelude::*;
use mustlink_core::soft_marks::obeying;
use ndarray::{Array2, ArrayViewMut1, Axis};

use crate::parts::bipartite::{self, Cut};
use crate::parts::canonical_ensemble::CanonicalEnsemble;
use crate::parts::cutting::{Cutting, Units};
use crate::parts::weights::Weights;

/// WBPA: the graph of objects and all clusters, joined by how probable they are, cut into k parts.
///
/// # Method
/// In each member the probability of a cluster is (D − d + 1)/(k·D + k − Σd), with d the distance of the object to the
/// cluster in the member's own geometry and D the largest. The part of an object is its label. In members without
/// feature weights, the weight of a feature is 1 divided by the number of features. Constraints are treated as in
/// `hbgf`.
/// # Input and output
/// Members with distances, centres or memberships, and a label for every object. At most k clusters, of about the
/// sizes that the members' clusters have; if all members agree, their partition is returned. With `imbalance` they
/// are of about equal size, as published.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `BadParam` with the quantity that members lack.
/// # Cost and randomness
/// O(n Σk_t) edges, 16 bytes each, and the partitioner. Random in the partitioner.
/// # References
/// [AlRazganDomeniconi2006]; used by [DomeniconiAlRazgan2008]. Differs: the default does not use METIS cuts, whose
/// bisection leaves parts without a cluster if weights are nearly alike (use `partitioner = "metis"` and
/// `imbalance = 0.03` for them).
#[options]
pub struct Wbpa {
    /// Options for cutting the graph.
    #[option(flatten)]
    pub cutting: Cutting,
    /// Weight of a cluster in the balance; an object weighs 1.
    #[option(default = 1, min = 0, max = 1)]
    pub cluster_vertex_weight: u32,
    /// Divisor of distances.
    #[option(default = DistanceUnit::Raw)]
    pub distance_unit: DistanceUnit,
    /// Weights of the members.
    pub weights: Weights,
}

/// Divisor of distances before they become probabilities.
#[options]
pub enum DistanceUnit {
    /// No divisor, as printed: on data in [0, 1] all clusters of a member become almost equally probable. The
    /// lightest cut is still clear.
    #[default]
    Raw,
    /// The mean distance of the member.
    Mean,
}

// The method of [AlRazganDomeniconi2006] in its three steps: posteriors, graph, cut.

/// Turns the distances d_il of object i to the k clusters of a member into P(C_l | x_i) =
/// (D_i − d_il + 1) / (k·D_i + k − Σ_l d_il), D_i the largest of them: all positive, and 1 in all.
fn posterior(mut d: ArrayViewMut1<f64>) {
    let largest = d.iter().copied().fold(0.0, f64::max);
    // Σ_l (D_i − d_il + 1), term by term: the printed k·D_i + k − Σ_l d_il cancels where distances
    // are large.
    let total: f64 = d.iter().map(|d| largest - d + 1.0).sum();
    d.mapv_inplace(|d| (largest - d + 1.0) / total);
}

/// P(C_l | x_i) of every object and all clusters of all members, n × Σ_t k_t.
pub(crate) fn posteriors(
    view: &CanonicalEnsemble,
    problem: &Problem,
    unit: DistanceUnit,
    tag: &str,
    ctx: &Context,
) -> Result<Array2<f32>> {
    distances::of_all_clusters(view, tag, ctx, |member| {
        // d_il in the geometry of the member: with feature weights w_l, (Σ_s w_ls (x_is − c_ls)²)^½.
        let Some(mut d) = distances::of_member(member, problem)? else {
            return Ok(distances::memberships(member));
        };
        if unit == DistanceUnit::Mean {
            let mean = d.mean().unwrap_or(0.0);
            d.mapv_inplace(|d| if mean > 0.0 { d / mean } else { d });
        }
        reduce::over(d.axis_iter_mut(Axis(0)), |_, row| posterior(row));
        Ok(d)
    })
}

impl Wbpa {
    /// The consensus of `view` with the part of every cluster; `None` for k = 1 and k = n.
    pub(crate) fn cut(
        &self,
        view: &CanonicalEnsemble,
        problem: &Problem,
        tag: &str,
        ctx: &Context,
    ) -> Result<Option<Cut>> {
        self.cutting.check(view.k)?;
        let p = posteriors(view, problem, self.distance_unit, tag, ctx)?;
        if view.trivial().is_some() {
            return Ok(None);
        }
        if self.distance_unit == DistanceUnit::Raw && nearly_alike(view, &p) {
            ctx.warn(ALIKE);
        }
        // The bipartite graph: a vertex for each object and for each cluster of each member. Object i and
        // cluster C_l are joined by an edge of weight P(C_l | x_i), times the weight of the member.
        let member = view.member_of_clusters();
        let edge = |i: usize, l: usize| view.weights[member[l]] * f64::from(p[[i, l]]);
        // Its k-way cut: the part of an object is its label.
        let units = Units::single(view, &self.cutting, problem, ctx)?;
        complete_graph::cut(view, &units, &self.cutting, self.cluster_vertex_weight, edge, ctx)
            .map(Some)
    }
}

/// Warning for posteriors that do not distinguish clusters.
const ALIKE: &str = "the distances are so small compared with the 1 that is added to them that all clusters are \
                     almost equally probable; distance_unit = \"mean\" divides them by their mean";

/// True if no object finds a cluster of any member more probable than another of it by a twentieth, and some object
/// one more probable at all.
fn nearly_alike(view: &CanonicalEnsemble, p: &Array2<f32>) -> bool {
    /// Below this cuts are found by chance, as iris in a hundredth of its unit shows.
    const TOLD_APART: f32 = 1.05;
    let mut most = 1.0f32;
    for row in p.rows() {
        for t in 0..view.len() {
            let own = view.columns(t).map(|c| row[c]);
            let (low, high) =
                own.fold((f32::INFINITY, 0.0f32), |(low, high), v| (low.min(v), high.max(v)));
            most = most.max(high / low);
        }
    }
    most > 1.0 && most < TOLD_APART
}

#[plugin("wbpa", cites = ["AlRazganDomeniconi2006", "DomeniconiAlRazgan2008", "KarypisKumar1998"], version = 5)]
impl ConsensusFunction for Wbpa {
    fn combine(&self, ensemble: &Ensemble, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        obeying("wbpa", problem, ctx, |problem| self.obey(ensemble, problem, ctx))
    }

    fn needs(&self) -> Needs {
        Needs { distances: true, complete: true, ..self.weights.needs(self.cutting.needs()) }
    }

    fn memory(&self, shape: &Shape, members: usize) -> u64 {
        let clusters = members * shape.k;
        let tables = (12 * shape.n * clusters) as u64;
        tables + bipartite::memory(&self.cutting, shape, clusters, clusters)
    }

    fn operations(&self, shape: &Shape, members: usize) -> f64 {
        let clusters = members * shape.k;
        let cut = bipartite::operations(&self.cutting, shape, clusters, clusters);
        distances::operations(shape, members) + self.weights.operations(shape, members) + cut
    }
}

impl Wbpa {
    /// The outcome under constraints that are all obeyed.
    fn obey(&self, ensemble: &Ensemble, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let view = CanonicalEnsemble::new(ensemble, problem, &self.weights, "wbpa", ctx)?;
        match self.cut(&view, problem, "wbpa", ctx)? {
            Some(cut) => Ok(cut.clustering),
            None => Ok(self.cutting.trivial(&view, problem)?.expect("nothing was cut")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hbgf::Hbgf;
    use crate::parts::e12::{E12_CLASSES, blank, e12};
    use mustlink_laws::fixtures;
    use mustlink_partitioners::Engine;
    use ndarray::{Array1, array};
    use proptest::prelude::*;

    fn probabilities(distances: &[f64]) -> Vec<f64> {
        let mut row = Array1::from(distances.to_vec());
        posterior(row.view_mut());
        row.to_vec()
    }

    /// Members that carry their labels as memberships alone.
    fn one_hot(ensemble: &Ensemble) -> Ensemble {
        let members = ensemble.members().iter().map(|m| {
            let table = Array2::from_shape_fn((m.labels.len(), m.k), |(i, l)| {
                f64::from(m.labels[i] as usize == l)
            });
            let extras = Extras { memberships: Some(table), ..Extras::default() };
            Member { extras, ..m.clone() }
        });
        Ensemble::new(ensemble.n(), members.collect()).unwrap()
    }

    #[test]
    fn with_certain_memberships_it_is_hbgf() {
        let (ensemble, problem) = e12();
        let soft = one_hot(&ensemble);
        let view =
            CanonicalEnsemble::new(&soft, &problem, &Weights::default(), "wbpa", &Context::new(1))
                .unwrap();
        let wbpa = Wbpa::default();
        let units = Units::single(&view, &wbpa.cutting, &problem, &Context::new(1)).unwrap();
        let rows =
            posteriors(&view, &problem, DistanceUnit::Raw, "wbpa", &Context::new(1)).unwrap();
        let ours = bipartite::graph(&view, &units, 1, 1e6, |i, out| {
            let weights = rows.row(i).into_iter().enumerate();
            out.extend(weights.map(|(c, &w)| (c as u32, f64::from(w))));
        });
        let theirs = bipartite::graph(&view, &units, 1, 1e6, |i, out| {
            (0..5).for_each(|t| out.push((view.cluster(i, t).unwrap() as u32, 1.0)));
        });
        assert_eq!(ours.unwrap(), theirs.unwrap());
        for partitioner in [Engine::Multilevel, Engine::Spectral] {
            // With `imbalance`, because otherwise the objects of `hbgf` follow their clusters.
            let cutting = Cutting { partitioner, imbalance: Some(0.03), ..Cutting::default() };
            let a = Wbpa { cutting: cutting.clone(), ..Wbpa::default() }
                .combine(&soft, &problem, &Context::new(1))
                .unwrap();
            let b = Hbgf { cutting, ..Hbgf::default() }
                .combine(&ensemble, &problem, &Context::new(1))
                .unwrap();
            assert_eq!(a.labels, b.labels);
        }
        let cutting = Cutting { imbalance: Some(0.5), ..Cutting::default() };
        let c = Wbpa { cutting, ..Wbpa::default() };
        let c = c.combine(&soft, &problem, &Context::new(1)).unwrap();
        assert_eq!(c.k, 3);
        assert!(
            mustlink_kernels::agreement::contingency::adjusted_rand(&E12_CLASSES, &c.labels) > 0.5
        );
    }

    #[test]
    fn distances_come_from_centres_weights_and_units() {
        // Weights (1, 0): only the first feature is seen; d = |x₁ − c₁|.
        let x = array![[0.0, 9.0], [1.0, -9.0], [4.0, 0.0]];
        let problem = Problem::new(Data::dense(x).unwrap()).with_k(2);
        let member = |extras: Extras| Member { extras, ..Member::from_labels(&[0, 0, 1]) };
        let centers = array![[1.0, 0.0], [4.0, 0.0]];
        let weights = array![[1.0, 0.0], [1.0, 0.0]];
        let weighted =
            Extras { centers: Some(centers.clone()), weights: Some(weights), ..Extras::default() };
        let given = Extras {
            distances: Some(array![[1.0, 4.0], [0.0, 3.0], [3.0, 0.0]]),
            ..Extras::default()
        };
        let rows = |extras: Extras, unit| {
            let ensemble = Ensemble::new(3, vec![member(extras)]).unwrap();
            let view = CanonicalEnsemble::new(
                &ensemble,
                &problem,
                &Weights::default(),
                "wbpa",
                &Context::new(1),
            )
            .unwrap();
            posteriors(&view, &problem, unit, "wbpa", &Context::new(1)).unwrap()
        };
        assert_eq!(rows(weighted, DistanceUnit::Raw), rows(given.clone(), DistanceUnit::Raw));
        // Mean 11/6: in that unit the rows lean less where distances were large.
        let unit = rows(given.clone(), DistanceUnit::Mean);
        assert!((f64::from(unit[[0, 0]]) - 29.0 / 40.0).abs() < 1e-6, "{}", unit[[0, 0]]);
        let plain = Extras { centers: Some(centers), ..Extras::default() };
        let expected = probabilities(&[41.0f64.sqrt(), (97.0f64 / 2.0).sqrt()]);
        assert!((f64::from(rows(plain, DistanceUnit::Raw)[[0, 0]]) - expected[0]).abs() < 1e-6);
    }

    #[test]
    fn distances_far_below_one_are_warned_of() {
        let problem = blank(4, 2);
        let warnings = |unit: f64, distance_unit| {
            let distances = array![[0.0, 1.0], [0.2, 0.9], [1.0, 0.1], [0.8, 0.0]] * unit;
            let extras = Extras { distances: Some(distances), ..Extras::default() };
            let member = Member { extras, ..Member::from_labels(&[0, 0, 1, 1]) };
            let ensemble = Ensemble::new(4, vec![member]).unwrap();
            let ctx = Context::new(1);
            let wbpa = Wbpa { distance_unit, ..Wbpa::default() };
            wbpa.combine(&ensemble, &problem, &ctx).unwrap();
            ctx.warnings().iter().filter(|w| w.contains("equally probable")).count()
        };
        assert_eq!(warnings(1.0, DistanceUnit::Raw), 0);
        assert_eq!(warnings(0.01, DistanceUnit::Raw), 1);
        assert_eq!(warnings(0.01, DistanceUnit::Mean), 0);
    }

    #[test]
    fn members_without_distances_are_named() {
        let (ensemble, problem) = e12();
        let e = Wbpa::default().combine(&ensemble, &problem, &Context::new(1)).unwrap_err();
        assert!(e.to_string().contains("5 of 5 have none"), "{e}");
    }

    #[test]
    fn groups_of_equal_size_are_found_from_centres() {
        let (problem, classes) = fixtures::dense(2);
        let centre = |x: &Array2<f64>, c: u32| {
            let rows: Vec<usize> = (0..45).filter(|&i| classes[i] == c).collect();
            x.select(Axis(0), &rows).mean_axis(Axis(0)).unwrap()
        };
        let x = problem.data.to_dense();
        let views: Vec<_> = (0..3).map(|c| centre(&x, c)).collect();
        let views: Vec<_> = views.iter().map(|c| c.view()).collect();
        let centers = ndarray::stack(Axis(0), &views).unwrap();
        let extras = Extras { centers: Some(centers), ..Extras::default() };
        let member = Member { extras, ..Member::from_labels(&classes) };
        let ensemble = Ensemble::new(45, vec![member; 3]).unwrap();
        let c = Wbpa::default().combine(&ensemble, &problem, &Context::new(1)).unwrap();
        assert_eq!(c.labels, mustlink_core::clustering::canonical(&classes));
        assert!(blank(3, 2).k == Some(2));
    }

    #[test]
    fn printed_vectors() {
        let near = |distances: &[f64], printed: &[f64]| {
            let rows = probabilities(distances);
            assert!(rows.iter().zip(printed).all(|(a, b)| (a - b).abs() < 1e-12), "{rows:?}");
        };
        near(&[1.0, 3.0], &[0.75, 0.25]);
        near(&[2.0, 2.0], &[0.5, 0.5]);
        near(&[4.0, 0.5], &[2.0 / 11.0, 9.0 / 11.0]);
        near(&[0.0, 2.0, 5.0], &[6.0 / 11.0, 4.0 / 11.0, 1.0 / 11.0]);
    }

    proptest! {
        #[test]
        fn probabilities_are_positive_sum_to_one_and_fall_with_distance(
            distances in prop::collection::vec(0.0f64..1e6, 1..12),
        ) {
            let p = probabilities(&distances);
            prop_assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            prop_assert!(p.iter().all(|&p| p > 0.0));
            for (a, pa) in distances.iter().zip(&p) {
                for (b, pb) in distances.iter().zip(&p) {
                    prop_assert!((a < b) <= (pa >= pb));
                    prop_assert!(a != b || pa == pb);
                }
            }
        }
    }
}
