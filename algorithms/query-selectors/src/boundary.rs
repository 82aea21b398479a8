//! Boundary: ask where the objects between two clusters of the current clustering belong.

use mustlink_core::prelude::*;
use mustlink_kernels::distance::points::{Distortion, Points};

use crate::parts::asking::{Asking, Member};
use crate::parts::checks::{known_k, labels_all};
use crate::parts::mean::Mean;
use crate::parts::neighbourhoods::{Neighbourhoods, Place};
use crate::parts::placing::{Placing, Selector};

/// Object that is asked about next.
#[options]
pub enum Choice {
    /// The object whose second-nearest centre is the least farther away than its nearest.
    #[default]
    Ambiguous,
    /// The object whose nearest centre is the nearest compared with the second-nearest.
    Typical,
}

/// Objects between the two nearest centres of the current clustering, placed one after the other.
///
/// # Method
/// The objects are clustered with the constraints so far. The next object is the eligible one with the smallest
/// ratio between the distances to its two nearest centres (second-nearest : nearest, so 1 on the boundary). It is
/// compared with the neighbourhoods, nearest mean first, until a must-link. If it is apart from all of them and there
/// are fewer than k, it founds a new one. If it is apart from k − 1 of k, it joins the last one without a question.
/// Then the objects are clustered again. The first object founds the first neighbourhood without a question.
/// # Input and output
/// Dense or sparse rows; needs a clusterer to ask for clusterings. Distances to clusters come from the clustering if
/// it has any. Otherwise they are distances to its centres in their geometry, if they fit the data, or squared
/// Euclidean distances to the cluster means. With one cluster the lowest index is taken. "Don't know", given
/// constraints and k are handled as in `explore_consolidate`.
/// # Errors
/// `BadParam` for `k`, `recluster_every` and `dont_know_retries`; `UnsupportedData` for distances and affinities.
/// # Cost and randomness
/// A clustering and O(|E| k d) per object; random in the members put in questions, and in ties if `tie = "random"`.
/// # References
/// An uncertainty variant of the second phase of [Basu2004].
#[options]
pub struct Boundary {
    /// Number of clusters. If absent, the k of the problem, or unknown.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Object that is asked about next.
    pub choice: Choice,
    /// Distance from objects to neighbourhoods. "auto": cosine for sparse rows, otherwise squared Euclidean.
    pub distortion: AutoOr<Distortion>,
    /// Member of a neighbourhood that is put in a question.
    #[option(default = Member::Random)]
    pub member: Member,
    /// Number of objects placed between two clusterings.
    #[option(default = 1, min = 1)]
    pub recluster_every: usize,
    /// Let an object apart from k − 1 neighbourhoods join the last one without asking. This is correct only if k is
    /// the number of classes.
    #[option(default = true)]
    pub last_inference: bool,
    /// Options for the questions about an object.
    #[option(flatten)]
    pub asking: Asking,
}

#[plugin("boundary", cites = ["Basu2004"])]
impl QuerySelector for Boundary {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        let groups = Neighbourhoods::new(problem, ctx, "boundary", self.distortion, self.asking)?;
        Placing::start(groups, |groups| {
            Ok(Run {
                options: self.clone(),
                k: known_k(self.k, problem, groups.eligible().len())?,
                problem: problem.clone(),
                certainty: Vec::new(),
                left: 0,
                requests: 0,
            })
        })
    }

    fn properties(&self) -> SelectorProperties {
        SelectorProperties {
            needs_clustering: true,
            skips_entailed: self.asking.skip_entailed,
            infers: self.last_inference,
            accepts_sparse: true,
            ..SelectorProperties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        (128 * shape.n + 32 * shape.k * shape.d) as u64
    }
}

struct Run {
    options: Boundary,
    problem: Problem,
    /// `None`: unknown.
    k: Option<usize>,
    /// For each eligible object nearest ÷ second-nearest distance in the current clustering.
    certainty: Vec<f64>,
    /// Objects that may still be placed under the current clustering.
    left: usize,
    requests: RequestId,
}

impl Selector for Run {
    fn take_up(&mut self, groups: &mut Neighbourhoods) -> Result<Option<Step>> {
        if groups.free().is_empty() {
            return Ok(Some(Step::Done(Done::AllAssigned)));
        }
        if self.left == 0 {
            let constraints = groups.constraints(&self.problem)?;
            return Ok(Some(Step::NeedClustering { request: self.requests, constraints }));
        }
        let sign = match self.options.choice {
            Choice::Ambiguous => 1.0,
            Choice::Typical => -1.0,
        };
        let scores: Vec<Option<f64>> = groups
            .eligible()
            .iter()
            .zip(&self.certainty)
            .map(|(&i, ratio)| (!groups.is_settled(i)).then_some(sign * ratio))
            .collect();
        let Some(at) = groups.best(&scores) else { return Ok(None) };
        let x = groups.eligible()[at];
        if groups.is_empty() {
            groups.create(x);
            return Ok(None);
        }
        let order = groups.by_distance(x, groups.means());
        let infer = self.options.last_inference && self.k.is_some_and(|k| groups.len() >= k);
        groups.locate(x, order, self.options.member, infer, "boundary");
        Ok(None)
    }

    fn settled(&mut self, groups: &mut Neighbourhoods, object: u32, place: Place) {
        self.left = self.left.saturating_sub(1);
        if place == Place::Apart {
            if self.k.is_none_or(|k| groups.len() < k) {
                groups.create(object);
            } else {
                groups.park(object);
            }
        }
    }

    fn clustered(&mut self, groups: &Neighbourhoods, clustering: &Clustering) -> Result<()> {
        let distances = Distances::new(clustering, &self.problem)?;
        let eligible = groups.eligible();
        self.certainty = vec![1.0; eligible.len()];
        reduce::fill(&mut self.certainty, |e| distances.ratio(eligible[e] as usize));
        self.requests += 1;
        self.left = self.options.recluster_every;
        Ok(())
    }
}

/// Distances of objects to the clusters of a clustering.
struct Distances<'a> {
    clustering: &'a Clustering,
    data: &'a Data,
    by: By,
}

enum By {
    /// The clustering's own n × k distances.
    Own,
    /// The clustering's centres in their geometry.
    Centres,
    /// Means of the clusters that have members.
    Means(Points, Vec<Mean>),
}

impl<'a> Distances<'a> {
    fn new(clustering: &'a Clustering, problem: &'a Problem) -> Result<Self> {
        let (n, d, k) = (problem.n(), problem.d(), clustering.k);
        labels_all(clustering, problem)?;
        let extras = &clustering.extras;
        let data = &problem.data;
        let fits = extras.centers.as_ref().is_some_and(|c| c.dim() == (k, d))
            && match extras.geometry {
                Geometry::SquaredEuclidean | Geometry::Cosine => true,
                Geometry::Weighted => extras.weights.as_ref().is_some_and(|w| w.dim() == (k, d)),
                Geometry::Mahalanobis => extras.metrics.as_ref().is_some_and(|m| {
                    (m.len() == 1 || m.len() == k) && m.iter().all(|a| a.dim() == (d, d))
                }),
            };
        let by = if extras.distances.as_ref().is_some_and(|m| m.dim() == (n, k)) {
            By::Own
        } else if fits {
            By::Centres
        } else {
            let points = Points::new(data, Distortion::SquaredEuclidean)?;
            let mut members: Vec<Vec<u32>> = vec![Vec::new(); k];
            (0..).zip(&clustering.labels).for_each(|(i, &l)| members[l as usize].push(i));
            members.retain(|m| !m.is_empty());
            let means = members.iter().map(|m| Mean::of(&points, m)).collect();
            By::Means(points, means)
        };
        Ok(Distances { clustering, data, by })
    }

    /// Distance of object `i` to cluster `h`; its square where the geometry is Euclidean-like,
    /// which orders ratios alike.
    fn distance(&self, i: usize, h: usize) -> f64 {
        let extras = &self.clustering.extras;
        match &self.by {
            By::Own => extras.distances.as_ref().map_or(0.0, |m| m[[i, h]]),
            By::Means(points, means) => means[h].distance(points, i as u32),
            By::Centres => {
                let centres = extras.centers.as_ref().expect("checked to be there");
                let centre = centres.row(h).to_vec();
                let row = self.data.row(i);
                match extras.geometry {
                    Geometry::SquaredEuclidean => row.squared_distance(&Row::Dense(&centre)),
                    Geometry::Cosine => {
                        let norm = self.data.norm2(i).sqrt();
                        if norm == 0.0 { 1.0 } else { (1.0 - row.dot(&centre) / norm).max(0.0) }
                    }
                    Geometry::Weighted | Geometry::Mahalanobis => {
                        let mut difference: Vec<f64> = centre.iter().map(|v| -v).collect();
                        row.add_to(&mut difference, 1.0);
                        if let (Geometry::Weighted, Some(w)) = (extras.geometry, &extras.weights) {
                            let weighted = w.row(h);
                            return difference.iter().zip(weighted).map(|(v, w)| w * v * v).sum();
                        }
                        let metrics = extras.metrics.as_ref().expect("checked to be there");
                        let metric = &metrics[h.min(metrics.len() - 1)];
                        let image = |r: usize| Row::Dense(&difference).dot(&metric.row(r).to_vec());
                        difference.iter().enumerate().map(|(r, v)| v * image(r)).sum()
                    }
                }
            }
        }
    }

    /// Nearest ÷ second-nearest distance, in [0, 1]; 1 with a single cluster or both at 0.
    fn ratio(&self, i: usize) -> f64 {
        let clusters = match &self.by {
            By::Means(_, means) => means.len(),
            _ => self.clustering.k,
        };
        let (mut first, mut second) = (f64::INFINITY, f64::INFINITY);
        for h in 0..clusters {
            let distance = self.distance(i, h);
            if distance < first {
                (first, second) = (distance, first);
            } else {
                second = second.min(distance);
            }
        }
        if clusters < 2 || second <= 0.0 { 1.0 } else { first / second }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, array};

    fn line() -> Problem {
        let x = array![[0.0], [1.0], [2.0], [8.0], [9.0], [10.0], [4.9]];
        Problem::new(Data::dense(x).unwrap()).with_k(2)
    }

    fn two_clusters() -> Clustering {
        Clustering::from_labels(vec![0, 0, 0, 1, 1, 1, 0])
    }

    fn ratios(clustering: &Clustering) -> Vec<f64> {
        let problem = line();
        let distances = Distances::new(clustering, &problem).unwrap();
        (0..7).map(|i| distances.ratio(i)).collect()
    }

    #[test]
    fn every_source_of_distances_agrees() {
        let by_means = ratios(&two_clusters());
        let expected = (4.9 - 9.0f64).powi(2);
        let near = (4.9 - 1.975f64).powi(2);
        assert!((by_means[6] - near / expected).abs() < 1e-12);
        let mut given = two_clusters();
        given.extras.centers = Some(array![[1.975], [9.0]]);
        let by_centres = ratios(&given);
        given.extras.geometry = Geometry::Weighted;
        given.extras.weights = Some(Array2::ones((2, 1)));
        let by_weights = ratios(&given);
        given.extras.geometry = Geometry::Mahalanobis;
        given.extras.metrics = Some(vec![Array2::eye(1)]);
        let by_metric = ratios(&given);
        let x = line().data.to_dense();
        let squared = |i: usize, c: f64| (x[[i, 0]] - c).powi(2);
        let centre = [1.975, 9.0];
        given.extras.distances =
            Some(Array2::from_shape_fn((7, 2), |(i, h)| squared(i, centre[h])));
        let by_own = ratios(&given);
        for other in [by_centres, by_weights, by_metric, by_own] {
            by_means.iter().zip(&other).for_each(|(a, b)| assert!((a - b).abs() < 1e-12));
        }
    }

    #[test]
    fn centres_of_another_space_are_not_used() {
        let mut elsewhere = two_clusters();
        elsewhere.extras.centers = Some(array![[1.0, 2.0], [3.0, 4.0]]);
        assert_eq!(ratios(&elsewhere), ratios(&two_clusters()));
    }

    #[test]
    fn one_cluster_has_no_boundary() {
        assert_eq!(ratios(&Clustering::from_labels(vec![0; 7])), [1.0; 7]);
    }

    #[test]
    fn the_object_in_between_comes_first() {
        for (choice, founder) in [(Choice::Ambiguous, 6), (Choice::Typical, 4)] {
            let boundary = Boundary { choice, ..Boundary::default() };
            let mut inquiry = boundary.start(&line(), &Context::new(1)).unwrap();
            let Step::NeedClustering { request: 0, constraints } = inquiry.step().unwrap() else {
                panic!("a clustering comes first")
            };
            assert!(constraints.is_empty());
            assert!(inquiry.provide(1, &two_clusters()).is_err());
            inquiry.provide(0, &two_clusters()).unwrap();
            let step = inquiry.step().unwrap();
            let Step::Ask { id: 0, subject, reference, .. } = step else { panic!("{step:?}") };
            assert_eq!(reference, founder);
            inquiry.tell(0, Reply::CannotLink).unwrap();
            let Step::NeedClustering { request: 1, constraints } = inquiry.step().unwrap() else {
                panic!("placed objects call for a new clustering")
            };
            assert_eq!(constraints.pairs().len(), 1);
            assert_eq!(constraints.neighbourhoods(), [vec![founder], vec![subject]]);
        }
    }
}
