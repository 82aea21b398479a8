//! Which objects and clusters belong together when every object leans towards every cluster?

use mustlink_core::prelude::*;
use mustlink_partitioners::Engine;

use crate::bipartite::{self, Cut};
use crate::cutting::{Cutting, Units};
use crate::members::{CanonicalEnsemble, Weights};
use crate::soft::{self, DistanceUnit};

/// WBPA: the graph of objects and all clusters, joined by how probable they are, cut into k parts.
///
/// # Method
/// In each member the probability of a cluster is (D − d + 1)/(k·D + k − Σd), d the distance of the
/// object to the cluster in the member's own geometry and D the largest. The part of an object is
/// its label. A feature without a weight counts 1/d, d the number of features.
/// # Input and output
/// Members with distances, centres or memberships, and a label for every object. At most k clusters; of
/// about equal size unless `partitioner` is `spectral` or `greedy_ncut`.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `BadParam` naming what members lack.
/// # Cost and randomness
/// O(n Σk_t) edges, 16 bytes each, and the partitioner. Random in the partitioner.
/// # References
/// [AlRazganDomeniconi2006]; used by [DomeniconiAlRazgan2008].
#[options]
pub struct Wbpa {
    /// What cuts the graph.
    pub partitioner: Engine,
    /// No part is heavier than 1 + this times its share; at most k - 1.
    #[option(default = 0.03, min = 0.0)]
    pub imbalance: f64,
    /// Starts of the partitioner, of which the best cut is kept; absent: 10, fewer on graphs of more
    /// than half a million ends of edges.
    #[option(min = 1)]
    pub trials: Option<usize>,
    /// Edge weights are multiplied by this and rounded to whole numbers >= 1; lowered where their sum
    /// would pass 2³¹ - 1.
    #[option(default = 1e6, min = 1.0, max = 1e9)]
    pub weight_scale: f64,
    /// Weight of a cluster in the balance; an object weighs 1.
    #[option(default = 1, max = 1)]
    pub cluster_vertex_weight: u32,
    /// What distances are divided by.
    #[option(default = DistanceUnit::Raw)]
    pub distance_unit: DistanceUnit,
    /// How much each member counts.
    pub weights: Weights,
    /// Objects joined by must-links stay together.
    pub respect_must_link: bool,
    /// Objects kept apart by cannot-links go to different parts where the bounds allow it.
    pub respect_cannot_link: bool,
}

impl Wbpa {
    pub(crate) fn cutting(&self) -> Cutting {
        Cutting {
            partitioner: self.partitioner,
            imbalance: self.imbalance,
            trials: self.trials,
            weight_scale: self.weight_scale,
            respect_must_link: self.respect_must_link,
            respect_cannot_link: self.respect_cannot_link,
        }
    }

    /// The consensus of `view` with the part of every cluster; `None` for k = 1 and k = n.
    pub(crate) fn cut(
        &self,
        view: &CanonicalEnsemble,
        problem: &Problem,
        tag: &str,
        ctx: &Context,
    ) -> Result<Option<Cut>> {
        let cutting = self.cutting();
        cutting.check(view.k)?;
        let rows = soft::rows(view, problem, self.distance_unit, tag, ctx)?;
        if view.trivial().is_some() {
            return Ok(None);
        }
        let units = Units::single(view, &cutting, problem)?;
        let mut of = vec![0; view.clusters()];
        (0..view.len()).for_each(|t| of[view.first[t]..view.first[t + 1]].fill(t));
        let weight = |i: usize, c: usize| view.weights[of[c]] * f64::from(rows[[i, c]]);
        bipartite::cut_table(view, &units, &cutting, self.cluster_vertex_weight, weight, ctx)
            .map(Some)
    }
}

#[plugin("wbpa", cites = ["AlRazganDomeniconi2006", "DomeniconiAlRazgan2008", "KarypisKumar1998"])]
impl ConsensusFunction for Wbpa {
    fn combine(&self, ensemble: &Ensemble, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let view = CanonicalEnsemble::new(ensemble, problem, &self.weights, "wbpa")?;
        let cut = self.cut(&view, problem, "wbpa", ctx)?;
        match cut {
            Some(cut) => Ok(cut.clustering),
            None => Ok(self.cutting().trivial(&view, problem)?.expect("nothing was cut")),
        }
    }

    fn needs(&self) -> Needs {
        Needs {
            distances: true,
            complete: true,
            fixed_k: true,
            balanced: self.partitioner.is_balanced(),
            reads_constraints: self.respect_must_link || self.respect_cannot_link,
            ..Needs::default()
        }
    }

    fn memory(&self, shape: &Shape, members: usize) -> u64 {
        let clusters = members * shape.k;
        let tables = (12 * shape.n * clusters) as u64;
        tables + bipartite::memory(&self.cutting(), shape, clusters, clusters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hbgf::Hbgf;
    use crate::members::tests::{E12_CLASSES, blank, e12};
    use mustlink_laws::fixtures;
    use ndarray::{Array2, array};

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
        let view = CanonicalEnsemble::new(&soft, &problem, &Weights::default(), "wbpa").unwrap();
        let wbpa = Wbpa::default();
        let units = Units::single(&view, &wbpa.cutting(), &problem).unwrap();
        let rows =
            soft::rows(&view, &problem, DistanceUnit::Raw, "wbpa", &Context::new(1)).unwrap();
        let ours = bipartite::graph(&view, &units, 1, 1e6, |i, out| {
            let weights = rows.row(i).into_iter().enumerate();
            out.extend(weights.map(|(c, &w)| (c as u32, f64::from(w))));
        });
        let theirs = bipartite::graph(&view, &units, 1, 1e6, |i, out| {
            (0..5).for_each(|t| out.push((view.cluster(i, t).unwrap() as u32, 1.0)));
        });
        assert_eq!(ours.unwrap(), theirs.unwrap());
        for partitioner in [Engine::Multilevel, Engine::Spectral] {
            let a = Wbpa { partitioner, ..Wbpa::default() }
                .combine(&soft, &problem, &Context::new(1))
                .unwrap();
            let b = Hbgf { partitioner, ..Hbgf::default() }
                .combine(&ensemble, &problem, &Context::new(1))
                .unwrap();
            assert_eq!(a.labels, b.labels);
        }
        let c = Wbpa { imbalance: 0.5, ..Wbpa::default() };
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
            let view =
                CanonicalEnsemble::new(&ensemble, &problem, &Weights::default(), "wbpa").unwrap();
            soft::rows(&view, &problem, unit, "wbpa", &Context::new(1)).unwrap()
        };
        assert_eq!(rows(weighted, DistanceUnit::Raw), rows(given.clone(), DistanceUnit::Raw));
        // Mean 11/6: in that unit the rows lean less where distances were large.
        let unit = rows(given.clone(), DistanceUnit::Mean);
        assert!((f64::from(unit[[0, 0]]) - 29.0 / 40.0).abs() < 1e-6, "{}", unit[[0, 0]]);
        let plain = Extras { centers: Some(centers), ..Extras::default() };
        let expected = soft::probabilities(&[41.0f64.sqrt(), (97.0f64 / 2.0).sqrt()]);
        assert!((f64::from(rows(plain, DistanceUnit::Raw)[[0, 0]]) - expected[0]).abs() < 1e-6);
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
            x.select(ndarray::Axis(0), &rows).mean_axis(ndarray::Axis(0)).unwrap()
        };
        let x = problem.data.to_dense();
        let views: Vec<_> = (0..3).map(|c| centre(&x, c)).collect();
        let views: Vec<_> = views.iter().map(|c| c.view()).collect();
        let centers = ndarray::stack(ndarray::Axis(0), &views).unwrap();
        let extras = Extras { centers: Some(centers), ..Extras::default() };
        let member = Member { extras, ..Member::from_labels(&classes) };
        let ensemble = Ensemble::new(45, vec![member; 3]).unwrap();
        let c = Wbpa::default().combine(&ensemble, &problem, &Context::new(1)).unwrap();
        assert_eq!(c.labels, mustlink_core::clustering::canonical(&classes));
        assert!(blank(3, 2).k == Some(2));
    }
}
