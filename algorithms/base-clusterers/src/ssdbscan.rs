//! SSDBSCAN: around each constrained object, the densest surroundings that reach nothing it must be apart from.

use std::collections::{BTreeMap, BTreeSet};

use mustlink_core::closure::UnionFind;
use mustlink_core::prelude::*;
use mustlink_core::soft_marks::obeying;
use mustlink_kernels::graph::reachability::{Join, ascending, mutual_reachability};
use mustlink_kernels::noise::{Noise, with_noise};

/// SSDBSCAN: dense regions grow from constrained objects, each at its own density, until they would touch.
///
/// # Method
/// The reachability distance of two objects is the largest of their distance and their distances to their
/// `min_samples`-th nearest objects. Objects joined up to some distance form a dense region; the regions grow with
/// the distance. A region with a constrained object is a cluster just before it would join another region so that two
/// objects in it must be apart. Clusters that contain must-linked objects become one cluster. All other objects are
/// noise. Known classes of some objects are such constraints: two known objects are together or apart.
/// # Input and output
/// n × d, dense or sparse, Euclidean distances, or a matrix of distances. The method finds the number of clusters;
/// neither k nor the weights of constraints are used. Constraints marked soft are enforced like the others, or left out
/// if the others cannot be satisfied with them; both with a warning. Must-links always hold. Cannot-links hold if every
/// pair of constrained objects is together or apart, and may be broken otherwise. Without cannot-links all objects are
/// one cluster. Every object has a label (see `noise`); diagnostics: `noise_objects`.
/// # Errors
/// `BadParam`; `InconsistentConstraints`.
/// # Cost and randomness
/// With up to 16 features about n·log²n time, otherwise O(n²·d); O(n) memory, with more features O(n ·
/// `min_samples`). Not random.
/// # References
/// [LelisSander2009] §III. The paper expands each labelled object along a spanning tree up to the longest edge before
/// another label. The result is these regions, which the method finds in one pass over the tree [Campello2013].
/// Differs: pairs that must be apart replace different labels; edges of equal length count at the same time.
#[options]
pub struct Ssdbscan {
    /// Number of neighbours, including itself, that make an object a core (MinPts).
    #[option(default = 5, min = 1)]
    pub min_samples: usize,
    /// Treatment of objects outside all clusters in ensembles and studies. In files and in Python they are noise, -1.
    pub noise: Noise,
}

#[plugin(
    "ssdbscan",
    cites = ["LelisSander2009", "Campello2013", "March2010"],
    waives = ["must_links_change_something" => "without a cannot-link all objects are one cluster"]
)]
impl BaseClusterer for Ssdbscan {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let joins = mutual_reachability(&problem.data, self.min_samples, ctx)?;
        ctx.check()?;
        obeying("ssdbscan", problem, ctx, |problem| {
            let closure = problem.closure(OnConflict::Error)?;
            Ok(with_noise(&Regions::new(&closure).grown(joins.clone()), self.noise))
        })
    }

    fn properties(&self) -> Properties {
        Properties {
            accepts: vec![DataKind::Dense, DataKind::Csr, DataKind::Distances],
            needs_k: false,
            reads_constraints: true,
            hard_must: true,
            index_keyed: false,
            ..Properties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let neighbours =
            if shape.d <= 16 { 16 * shape.d } else { 24 * self.min_samples.min(shape.n) };
        ((360 + neighbours) * shape.n + 160 * shape.constraints) as u64
    }

    fn operations(&self, shape: &Shape) -> Option<f64> {
        let n = shape.n as f64;
        let searched = if shape.d <= 16 { 16.0 * n.log2().max(1.0).powi(2) } else { 2.0 * n };
        Some(n * searched * shape.d.max(1) as f64)
    }
}

/// Regions that grow; each is named by a node of the tree that their joining makes, objects first.
struct Regions<'a> {
    closure: &'a Closure,
    /// Node that each node became a part of.
    parent: Vec<usize>,
    /// The groups of constrained objects (components of must-links) in each existing region.
    inside: Vec<BTreeSet<u32>>,
    /// For each node, true if it contains objects that must be apart.
    is_over: Vec<bool>,
    is_cluster: Vec<bool>,
}

impl<'a> Regions<'a> {
    fn new(closure: &'a Closure) -> Self {
        let n = closure.n();
        let inside = |i: usize| {
            let p = closure.component(i);
            let is_constrained = closure.members(p).len() > 1 || closure.is_apart(p);
            is_constrained.then_some(p as u32).into_iter().collect()
        };
        Regions {
            closure,
            parent: vec![usize::MAX; n],
            inside: (0..n).map(inside).collect(),
            is_over: vec![false; n],
            is_cluster: vec![false; n],
        }
    }

    /// The cluster of each object when all are joined.
    fn grown(mut self, mut joins: Vec<Join>) -> Vec<Option<usize>> {
        let n = self.closure.n();
        ascending(&mut joins);
        let mut joined = UnionFind::new(n);
        let mut node: Vec<usize> = (0..n).collect();
        for level in joins.chunk_by(|a, b| a.height == b.height) {
            let mut roots: Vec<u32> =
                level.iter().flat_map(|j| [joined.find(j.a), joined.find(j.b)]).collect();
            roots.sort_unstable();
            roots.dedup();
            level.iter().for_each(|j| {
                joined.union(j.a, j.b);
            });
            let mut meeting: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
            for root in roots {
                meeting.entry(joined.find(root)).or_default().push(node[root as usize]);
            }
            for (root, regions) in meeting {
                node[root as usize] = self.join(&regions);
            }
        }
        let whole = self.parent.len() - 1;
        self.is_cluster[whole] |= !self.is_over[whole];
        self.clusters(n)
    }

    /// Regions become one.
    fn join(&mut self, regions: &[usize]) -> usize {
        let mut groups: Vec<BTreeSet<u32>> =
            regions.iter().map(|&r| std::mem::take(&mut self.inside[r])).collect();
        let is_constrained: Vec<bool> = groups.iter().map(|own| !own.is_empty()).collect();
        // All others are added to the largest: each group moves log n times at most.
        let largest = (0..groups.len()).max_by_key(|&at| groups[at].len()).expect("regions meet");
        let mut all = std::mem::take(&mut groups[largest]);
        let mut is_over = regions.iter().any(|&r| self.is_over[r]);
        for own in groups {
            let meets = |p: &u32| self.closure.apart(*p as usize).iter().any(|q| all.contains(q));
            is_over = is_over || own.iter().any(meets);
            all.extend(own);
        }
        let new = self.parent.len();
        for (&r, is_constrained) in regions.iter().zip(is_constrained) {
            self.parent[r] = new;
            self.is_cluster[r] = is_over && is_constrained;
        }
        self.parent.push(usize::MAX);
        self.inside.push(if is_over { BTreeSet::new() } else { all });
        self.is_over.push(is_over);
        self.is_cluster.push(false);
        new
    }

    /// The cluster of each object, those that hold must-linked objects as one.
    fn clusters(&self, n: usize) -> Vec<Option<usize>> {
        // Parents come after their parts.
        let mut of: Vec<Option<usize>> = vec![None; self.parent.len()];
        for at in (0..of.len()).rev() {
            of[at] = match self.parent[at] {
                _ if self.is_cluster[at] => Some(at),
                usize::MAX => None,
                parent => of[parent],
            };
        }
        let mut same = UnionFind::new(of.len());
        for members in (0..self.closure.components()).map(|p| self.closure.members(p)) {
            let first = of[members[0] as usize];
            for &i in &members[1..] {
                if let (Some(a), Some(b)) = (first, of[i as usize]) {
                    same.union(a as u32, b as u32);
                }
            }
        }
        of[..n].iter().map(|c| c.map(|c| same.find(c as u32) as usize)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_laws::fixtures;
    use ndarray::Array2;
    use proptest::prelude::*;

    fn on_a_line(x: &[f64], pairs: &[Constraint]) -> Problem {
        let data = Array2::from_shape_vec((x.len(), 1), x.to_vec()).unwrap();
        let constraints = Constraints::new(x.len(), pairs.iter().copied()).unwrap();
        Problem::new(Data::dense(data).unwrap()).with_constraints(constraints)
    }

    fn single() -> Ssdbscan {
        Ssdbscan { min_samples: 1, noise: Noise::OneCluster }
    }

    fn run(method: &Ssdbscan, problem: &Problem) -> Clustering {
        method.cluster(problem, &Context::new(1)).unwrap()
    }

    /// Two triples, one denser than the other, and a far object.
    const LINE: [f64; 7] = [0.0, 1.0, 2.0, 6.0, 8.0, 10.0, 40.0];

    #[test]
    fn worked_example() {
        // At 1 the first three are joined, at 2 the next three, at 4 both: 0 and 5 would meet. The last comes at 30 to
        // what is over: noise.
        let c = run(&single(), &on_a_line(&LINE, &[Constraint::cannot(0, 5)]));
        assert_eq!(c.labels, [0, 0, 0, 1, 1, 1, 2]);
        assert_eq!(c.extras.noise, [false, false, false, false, false, false, true]);
        assert_eq!(c.extras.diagnostics["noise_objects"], 1.0);
        // Around one object alone: 2 is noise where 1 must be apart from 0 and 3.
        let apart = [Constraint::cannot(0, 1), Constraint::cannot(1, 3)];
        let c = run(&single(), &on_a_line(&LINE, &apart));
        assert_eq!(c.shown(None).labels, [1, 2, NONE, 0, 0, 0, NONE]);
    }

    #[test]
    fn clusters_of_must_linked_objects_are_one() {
        let pairs = [Constraint::cannot(0, 3), Constraint::cannot(3, 6), Constraint::must(0, 6)];
        let c = run(&single(), &on_a_line(&LINE, &pairs));
        assert_eq!((c.labels, c.k), (vec![0, 0, 0, 1, 1, 1, 0], 2));
    }

    #[test]
    fn nothing_apart_is_one_cluster() {
        for pairs in [&[][..], &[Constraint::must(0, 6)]] {
            let c = run(&single(), &on_a_line(&LINE, pairs));
            assert_eq!((c.labels, c.k), (vec![0; 7], 1));
        }
        let alone = run(&single(), &on_a_line(&[3.0], &[]));
        assert_eq!((alone.labels, alone.k), (vec![0], 1));
    }

    #[test]
    fn equal_objects_that_are_apart_stand_alone() {
        let c = run(&single(), &on_a_line(&[1.0; 4], &[Constraint::cannot(0, 2)]));
        assert_eq!(c.shown(None).labels, [0, NONE, 1, NONE]);
        let against = [Constraint::cannot(0, 1), Constraint::must(0, 1)];
        let e = single().cluster(&on_a_line(&LINE, &against), &Context::new(1));
        assert!(matches!(e, Err(Error::InconsistentConstraints(_))));
    }

    #[test]
    fn a_few_classes_are_enough_where_density_parts_them() {
        let (problem, classes) = fixtures::dense(3);
        let known: Vec<usize> = (0..problem.n()).step_by(4).collect();
        let pairs = known.iter().flat_map(|&i| known.iter().map(move |&j| (i, j)));
        let pairs = pairs.filter(|(i, j)| i < j).map(|(i, j)| {
            let kind = if classes[i] == classes[j] { Kind::MustLink } else { Kind::CannotLink };
            Constraint::new(i, j, kind)
        });
        let problem =
            problem.clone().with_constraints(Constraints::new(problem.n(), pairs).unwrap());
        let c = run(&Ssdbscan::default(), &problem);
        let broken = problem.constraints.violations(&c.labels).total();
        assert_eq!(broken, 0);
    }

    /// The expansion of the paper: from each known object along the nearest edges until another class is reached, then
    /// back to the longest edge.
    fn expanded(x: &[f64], class: &[Option<u32>]) -> Vec<Option<u32>> {
        let mut out = vec![None; x.len()];
        for start in (0..x.len()).filter(|&i| class[i].is_some()) {
            let mut reached = vec![(0.0, start)];
            loop {
                let outside = (0..x.len()).filter(|&j| reached.iter().all(|r| r.1 != j));
                let near = |j: usize| {
                    let to = reached.iter().map(|r| (x[r.1] - x[j]).abs());
                    (to.fold(f64::INFINITY, f64::min), j)
                };
                let Some(next) = outside.map(near).min_by(|a, b| a.0.total_cmp(&b.0)) else {
                    reached.push((f64::INFINITY, start));
                    break;
                };
                reached.push(next);
                if class[next.1].is_some_and(|c| Some(c) != class[start]) {
                    break;
                }
            }
            let longest = reached.iter().map(|r| r.0).fold(0.0, f64::max);
            for r in reached.iter().take_while(|r| r.0 < longest) {
                out[r.1] = class[start];
            }
        }
        out
    }

    proptest! {
        #[test]
        fn regions_are_what_the_paper_expands(seed: u64, n in 2usize..14, known in 2usize..6) {
            let mut s = SeedPath::new(seed).stream("case");
            // All distances are different.
            let x: Vec<f64> = (0..n).map(|_| 100.0 * s.unit()).collect();
            let mut class = vec![None; n];
            for _ in 0..known {
                class[s.below(n)] = Some(s.below(3) as u32);
            }
            let mut pairs = Vec::new();
            for i in 0..n {
                for j in i + 1..n {
                    if let (Some(a), Some(b)) = (class[i], class[j]) {
                        let kind = if a == b { Kind::MustLink } else { Kind::CannotLink };
                        pairs.push(Constraint::new(i, j, kind));
                    }
                }
            }
            prop_assume!(pairs.iter().any(|c| c.kind == Kind::CannotLink));
            let found = run(&single(), &on_a_line(&x, &pairs));
            let expected = expanded(&x, &class);
            for i in 0..n {
                let is_noise = found.extras.noise.get(i).copied().unwrap_or(false);
                prop_assert_eq!(is_noise, expected[i].is_none(), "object {} of {:?} {:?}", i, x, class);
                for j in 0..i {
                    if let (Some(a), Some(b)) = (expected[i], expected[j]) {
                        prop_assert_eq!(found.labels[i] == found.labels[j], a == b);
                    }
                }
            }
        }
    }
}
