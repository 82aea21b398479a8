//! The object with the most information for the number of questions that it needs.

use mustlink_core::prelude::*;
use mustlink_core::{reduce, run};
use mustlink_kernels::distance::points::Distortion;

use crate::parts::asking::{Asking, Member};
use crate::parts::checks::{known_k, labels_all};
use crate::parts::neighbourhoods::{Neighbourhoods, Place};
use crate::parts::placing::{Placing, Selector};

pub mod columns;
pub mod random_forest;
mod split;
mod tree;

use columns::Columns;
use random_forest::RandomForest;

/// Number of features per node of the forest, from the number d of all features.
#[options]
pub enum FeaturesRule {
    /// ⌊log2 d⌋ + 1.
    #[default]
    Log2,
    /// ⌊√d⌋.
    Sqrt,
}

/// Number of features that a node of the forest uses: a rule, or a number up to d.
#[options]
#[derive(Copy, Eq)]
pub enum FeaturesPerSplit {
    /// A rule.
    Rule(FeaturesRule),
    /// This number.
    Number(#[option(min = 1)] usize),
}

impl FeaturesPerSplit {
    fn of(self, d: usize) -> Result<usize> {
        match self {
            FeaturesPerSplit::Rule(FeaturesRule::Log2) => Ok(d.ilog2() as usize + 1),
            FeaturesPerSplit::Rule(FeaturesRule::Sqrt) => Ok(d.isqrt()),
            FeaturesPerSplit::Number(count) if (1..=d).contains(&count) => Ok(count),
            FeaturesPerSplit::Number(count) => {
                let legal = format!("log2, sqrt or between 1 and {d} (the features)");
                Err(Error::bad_param("features_per_split", count, legal))
            }
        }
    }
}

/// Normalised point-based uncertainty: the object whose neighbourhood is least certain per expected question.
///
/// # Method
/// The objects are clustered with the constraints so far, and a random forest learns the clusters. Two objects are
/// close when they share the leaves of many trees. The probability p_r that an object belongs to neighbourhood r is
/// its mean closeness to the members, divided by the sum for all neighbourhoods. The next object has the largest −Σ
/// p_r log₂ p_r divided by Σ r p_(r), the expected number of questions when neighbourhoods are tried in decreasing
/// order of p. The questions follow this order until a must-link. An object apart from all neighbourhoods founds a
/// new one. Then the objects are clustered again. As long as there is only one neighbourhood, objects are drawn
/// at random.
/// # Input and output
/// Dense or sparse rows, test objects included in clustering and forest. Clusterings come from `clusterer`, or
/// without it from the clusterer of the run. Only `last_inference` and the clusterer need k. An object that shares no
/// leaf with any neighbourhood has equal probabilities. Given constraints and "don't know" are handled as in
/// `explore_consolidate`.
/// # Errors
/// `BadParam` for `k`, `features_per_split` above the number of features and the other options; `UnsupportedData` for
/// distances and affinities; the errors of the clusterer.
/// # Cost and randomness
/// A clustering, a forest in O(trees n m log n) per level of its trees, with m features per split, and O(trees |E|
/// neighbourhoods) per object placed. Random in the first two objects, the forests, the members put in questions, the
/// clusterer, and in ties if `tie = "random"`.
/// # References
/// [Xiong2014], with the forest of [Breiman2001]. Differs: as long as there is one neighbourhood nothing is
/// clustered, because nothing would be computed from it.
#[options]
pub struct Npu {
    /// Clusterer used between questions. If absent, the clusterer of the run.
    pub clusterer: Option<Box<dyn BaseClusterer>>,
    /// Number of clusters. If absent, the k of the problem, or unknown.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Number of trees in the forest.
    #[option(default = 50, min = 1)]
    pub trees: usize,
    /// Number of features tried at every node of a tree: `log2`, `sqrt` or a number.
    #[option(default = FeaturesPerSplit::Rule(FeaturesRule::Log2))]
    pub features_per_split: FeaturesPerSplit,
    /// Number of objects placed between two clusterings.
    #[option(default = 1, min = 1)]
    pub recluster_every: usize,
    /// Distance between objects, used if `member` compares them. "auto": cosine for sparse rows, otherwise squared
    /// Euclidean.
    pub distortion: AutoOr<Distortion>,
    /// Member of a neighbourhood that is put in a question.
    #[option(default = Member::Random)]
    pub member: Member,
    /// Let an object apart from k − 1 of k neighbourhoods join the last one without a question; the expected number
    /// of questions takes this into account. This is correct only if k is the number of classes.
    pub last_inference: bool,
    /// Options for the questions about an object.
    #[option(flatten)]
    pub asking: Asking,
}

#[plugin("npu", cites = ["Xiong2014", "Breiman2001"])]
impl QuerySelector for Npu {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        let groups = Neighbourhoods::new(problem, ctx, "npu", self.distortion, self.asking)?;
        let per_split = self.features_per_split.of(problem.d())?;
        Placing::start(groups, |groups| {
            let k = known_k(self.k, problem, groups.eligible().len())?;
            Ok(Run {
                options: self.clone(),
                problem: Problem { k, ..problem.clone() },
                per_split,
                columns: None,
                forest: None,
                left: 0,
                requests: 0,
                draw: ctx.stream("start"),
            })
        })
    }

    fn properties(&self) -> SelectorProperties {
        let own = self.clusterer.as_ref().map(|c| c.properties());
        SelectorProperties {
            needs_k: self.k.is_none() && own.as_ref().is_some_and(|own| own.needs_k),
            needs_clustering: own.is_none(),
            skips_entailed: self.asking.skip_entailed,
            infers: self.last_inference,
            accepts_sparse: own.is_none_or(|own| own.accepts.contains(&DataKind::Csr)),
            ..SelectorProperties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let clusterer = self.clusterer.as_ref().map_or(0, |c| c.memory(shape));
        let columns = 16 * shape.entries;
        // Leaves, and the members of each neighbourhood in them.
        let forest = self.trees * shape.n * (4 + 4 * shape.k);
        clusterer + (columns + forest + 160 * shape.n) as u64
    }
}

struct Run {
    options: Npu,
    /// With the number of clusters, if known.
    problem: Problem,
    per_split: usize,
    /// The features by rank, once a forest needs them.
    columns: Option<Columns>,
    /// Forest that measures closeness, learned from the current clustering.
    forest: Option<RandomForest>,
    /// Objects that may still be placed under the current clustering.
    left: usize,
    requests: RequestId,
    /// Draws objects while there is nothing to choose them by.
    draw: Stream,
}

impl Run {
    /// True if the last of the neighbourhoods there are needs no question.
    fn infers(&self, groups: &Neighbourhoods) -> bool {
        self.options.last_inference && self.problem.k.is_some_and(|k| groups.len() >= k)
    }

    /// A clustering under the constraints so far, or the step that asks for one.
    fn cluster(&mut self, groups: &Neighbourhoods) -> Result<Option<Step>> {
        let constraints = groups.constraints(&self.problem)?;
        let Some(clusterer) = &self.options.clusterer else {
            return Ok(Some(Step::NeedClustering { request: self.requests, constraints }));
        };
        let under = self.problem.clone().with_constraints(constraints);
        // As for the run's own clusterer: only the constraints change, not what is drawn.
        let ctx = groups.ctx().child("clusterer");
        let made = run::cluster(&**clusterer, &under, &ctx).map_err(|e| e.at("clusterer"))?;
        self.learn(groups, &made.clustering)?;
        Ok(None)
    }

    /// A forest that distinguishes the clusters.
    fn learn(&mut self, groups: &Neighbourhoods, clustering: &Clustering) -> Result<()> {
        let columns = self.columns.get_or_insert_with(|| Columns::new(&self.problem.data));
        let ctx = groups.ctx().child("forest").index(self.requests as usize);
        let (trees, per_split) = (self.options.trees, self.per_split);
        // Who shares a leaf with nobody placed needs no leaf of its own, unless objects will be
        // placed under this forest.
        let placed = groups.members().concat();
        let wanted = (self.options.recluster_every == 1).then_some(placed.as_slice());
        let labels = &clustering.labels;
        self.forest = Some(RandomForest::grow(columns, labels, trees, per_split, wanted, &ctx)?);
        self.requests += 1;
        self.left = self.options.recluster_every;
        Ok(())
    }

    /// The object to take up, and the neighbourhoods in the order in which they are tried.
    fn most_informative(&self, groups: &mut Neighbourhoods) -> Option<(u32, Vec<u32>)> {
        let free = groups.free();
        let forest = self.forest.as_ref()?;
        let sets = groups.members();
        let (width, infers) = (sets.len(), self.infers(groups));
        let sums = forest.shared_with(&free, sets);
        let sizes: Vec<u64> = sets.iter().map(|set| set.len() as u64).collect();
        let closeness = |at: usize| Closeness { sums: &sums[at * width..][..width], sizes: &sizes };
        let mut scores = vec![None; free.len()];
        reduce::fill(&mut scores, |at| Some(closeness(at).score(infers)));
        let at = groups.best(&scores)?;
        Some((free[at], closeness(at).order()))
    }
}

/// Closeness of an object to the neighbourhoods.
struct Closeness<'a> {
    /// For each the leaves shared with its members, over all trees.
    sums: &'a [u64],
    /// Its number of members.
    sizes: &'a [u64],
}

impl Closeness<'_> {
    /// The neighbourhoods from the most probable on, ties by creation.
    fn order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.sums.len() as u32).collect();
        // Means compared as fractions, s_a / |N_a| > s_b / |N_b|; the sort is stable.
        let scaled =
            |a: u32, b: u32| u128::from(self.sums[a as usize]) * u128::from(self.sizes[b as usize]);
        order.sort_by(|&a, &b| scaled(b, a).cmp(&scaled(a, b)));
        order
    }

    /// The probabilities in decreasing order.
    fn probabilities(&self) -> Vec<f64> {
        let mean = |(&sum, &size): (&u64, &u64)| sum as f64 / size as f64;
        let mut p: Vec<f64> = self.sums.iter().zip(self.sizes).map(mean).collect();
        // Summed in this order, so that which neighbourhood is which changes no bit.
        p.sort_by(|a, b| b.total_cmp(a));
        let total: f64 = p.iter().sum();
        if total > 0.0 {
            p.iter_mut().for_each(|v| *v /= total)
        } else {
            p.fill(1.0 / self.sums.len() as f64)
        }
        p
    }

    fn score(&self, last_is_free: bool) -> f64 {
        let p = self.probabilities();
        entropy(&p) / questions(&p, last_is_free)
    }
}

/// −Σ p log₂ p.
fn entropy(p: &[f64]) -> f64 {
    p.iter().filter(|&&v| v > 0.0).map(|v| -v * v.log2()).sum()
}

/// The number of questions to expect when the neighbourhoods are put one after the other, the
/// probabilities being in decreasing order: Σ r p_r. The last one may cost no question of its own.
fn questions(p: &[f64], last_is_free: bool) -> f64 {
    let asked = |r: usize| if last_is_free && r == p.len() { r - 1 } else { r };
    (1..).zip(p).map(|(r, v)| asked(r) as f64 * v).sum()
}

impl Selector for Run {
    fn take_up(&mut self, groups: &mut Neighbourhoods) -> Result<Option<Step>> {
        let free = groups.free();
        if free.is_empty() {
            return Ok(Some(Step::Done(Done::AllAssigned)));
        }
        if groups.is_empty() {
            groups.create(free[self.draw.below(free.len())]);
            return Ok(None);
        }
        let (x, order) = if groups.len() == 1 {
            (free[self.draw.below(free.len())], vec![0])
        } else {
            if self.left == 0
                && let Some(step) = self.cluster(groups)?
            {
                return Ok(Some(step));
            }
            let Some(found) = self.most_informative(groups) else { return Ok(None) };
            found
        };
        let infer = self.infers(groups);
        groups.locate(x, order, self.options.member, infer, "npu");
        Ok(None)
    }

    fn settled(&mut self, groups: &mut Neighbourhoods, object: u32, place: Place) {
        self.left = self.left.saturating_sub(1);
        if place == Place::Apart {
            // Where the last of k is inferred there are no more than k.
            if self.infers(groups) { groups.park(object) } else { groups.create(object) }
        }
    }

    fn clustered(&mut self, groups: &Neighbourhoods, clustering: &Clustering) -> Result<()> {
        labels_all(clustering, &self.problem)?;
        self.learn(groups, clustering)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 5e-7, "{a} is not {b}");
    }

    #[test]
    fn published_vector() {
        // −.5 log2 .5 − .3 log2 .3 − .2 log2 .2 = .5 + .521090 + .464386;
        // 1·.5 + 2·.3 + 3·.2 = 1.7, with the last for free 1·.5 + 2·.3 + 2·.2 = 1.5.
        let p = [0.5, 0.3, 0.2];
        close(entropy(&p), 1.485475);
        close(questions(&p, false), 1.7);
        close(entropy(&p) / questions(&p, false), 0.873809);
        close(questions(&p, true), 1.5);
        close(entropy(&p) / questions(&p, true), 0.990317);
    }

    #[test]
    fn certain_and_hopeless_objects() {
        close(entropy(&[1.0, 0.0]), 0.0);
        close(questions(&[1.0, 0.0], false), 1.0);
        // Apart from everybody: equal probabilities, log2 l over (l + 1) / 2 questions.
        let nobody = Closeness { sums: &[0, 0, 0, 0], sizes: &[3, 1, 1, 2] };
        assert_eq!(nobody.probabilities(), [0.25; 4]);
        close(nobody.score(false), 2.0 / 2.5);
        assert_eq!(nobody.order(), [0, 1, 2, 3]);
    }

    #[test]
    fn questions_are_expected_in_the_order_in_which_they_are_put() {
        // Means 10/5, 9/3, 5/1 of 10: the last created comes first, and in whatever order they were
        // created the score has the same bits.
        let made = |order: [usize; 3]| {
            let (sums, sizes) = ([10, 9, 5], [5, 3, 1]);
            (order.map(|r| sums[r]), order.map(|r| sizes[r]))
        };
        let (sums, sizes) = made([0, 1, 2]);
        let closeness = Closeness { sums: &sums, sizes: &sizes };
        assert_eq!(closeness.order(), [2, 1, 0]);
        assert_eq!(closeness.probabilities(), [0.5, 0.3, 0.2]);
        close(closeness.score(false), 0.873809);
        for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let (sums, sizes) = made(order);
            let other = Closeness { sums: &sums, sizes: &sizes };
            assert_eq!(other.score(true).to_bits(), closeness.score(true).to_bits());
        }
    }

    #[test]
    fn features_are_those_of_the_rule() {
        let of = |rule| {
            [1, 2, 3, 4, 9, 64].map(|d| FeaturesPerSplit::Rule(rule).of(d).unwrap()).to_vec()
        };
        assert_eq!(of(FeaturesRule::Log2), [1, 2, 2, 3, 4, 7]);
        assert_eq!(of(FeaturesRule::Sqrt), [1, 1, 1, 2, 3, 8]);
        assert_eq!(FeaturesPerSplit::Number(4).of(4).unwrap(), 4);
        let error = FeaturesPerSplit::Number(5).of(4).unwrap_err().to_string();
        assert_eq!(
            error,
            "features_per_split: must be log2, sqrt or between 1 and 4 (the features), got 5"
        );
    }
}
