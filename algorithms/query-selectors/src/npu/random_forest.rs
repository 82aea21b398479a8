//! Random forests: objects that fall into the same leaves.

use mustlink_core::{Context, Error, Result, reduce};

use super::columns::Columns;
use super::split::MOST;
use super::tree::{Tree, grow};

/// The leaves of a random forest.
///
/// Trees are those of [Breiman2001]: grown on a bootstrap sample to pure leaves, the best Gini split
/// of a few random features at every node, thresholds in the middle between two values.
pub struct RandomForest {
    trees: Vec<Tree>,
}

impl RandomForest {
    /// Grows `trees` trees that distinguish the `labels` of the objects, with `per_split` features
    /// (1 ..= d) tried at every node. Tree t draws from the stream `tree` at `ctx.index(t)`.
    ///
    /// With `wanted` only what is near these objects is grown: a node into which none of them falls
    /// stays one leaf. Which objects share a leaf with a wanted one follows the same law.
    ///
    /// O(trees · n · per_split · depth · log n) at most; trees grow in parallel.
    ///
    /// # Errors
    /// `Cancelled`, `TimedOut`; `TooLarge` from 2²⁶ objects or labels on.
    pub fn grow(
        columns: &Columns,
        labels: &[u32],
        trees: usize,
        per_split: usize,
        wanted: Option<&[u32]>,
        ctx: &Context,
    ) -> Result<Self> {
        let n = columns.n();
        let classes = labels.iter().max().map_or(0, |&l| l as usize + 1);
        if n.max(classes) >= MOST {
            return Err(Error::TooLarge { n });
        }
        let wanted = wanted.map(|objects| {
            let mut wanted = vec![false; n];
            objects.iter().for_each(|&i| wanted[i as usize] = true);
            wanted
        });
        let one = |t: usize| {
            ctx.check()?;
            let mut stream = ctx.index(t).stream("tree");
            Ok(grow(columns, labels, classes, per_split, wanted.as_deref(), &mut stream))
        };
        Ok(RandomForest { trees: reduce::try_map(trees, one)? })
    }

    /// Number of trees.
    pub fn trees(&self) -> usize {
        self.trees.len()
    }

    /// In how many trees objects `i` and `j` fall into one leaf. One of them is wanted.
    pub fn shared_leaves(&self, i: usize, j: usize) -> usize {
        self.trees.iter().filter(|tree| tree.leaves[i] == tree.leaves[j]).count()
    }

    /// For each of `objects` (rows) and each of `sets` (columns) the sum of
    /// [`RandomForest::shared_leaves`] over the members of the set, objects.len() × sets.len().
    ///
    /// Objects or members are wanted. The members of every leaf are counted first: O(trees · (objects · sets +
    /// members)).
    pub fn shared_with(&self, objects: &[u32], sets: &[Vec<u32>]) -> Vec<u64> {
        let width = sets.len();
        let members = |tree: &Tree| {
            let mut counts = vec![0u32; tree.count * width];
            for (r, set) in sets.iter().enumerate() {
                set.iter().for_each(|&j| counts[tree.leaves[j as usize] as usize * width + r] += 1);
            }
            counts
        };
        let members = reduce::map(self.trees.len(), |t| members(&self.trees[t]));
        let mut sums = vec![0u64; objects.len() * width];
        if width == 0 {
            return sums;
        }
        let blocks = sums.chunks_mut(reduce::BLOCK * width).zip(objects.chunks(reduce::BLOCK));
        reduce::over(blocks, |_, (sums, objects)| {
            for (tree, members) in self.trees.iter().zip(&members) {
                for (&i, sums) in objects.iter().zip(sums.chunks_exact_mut(width)) {
                    let leaf = tree.leaves[i as usize] as usize * width;
                    let counts = &members[leaf..leaf + width];
                    sums.iter_mut().zip(counts).for_each(|(sum, &count)| *sum += u64::from(count));
                }
            }
        });
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::data::Data;
    use mustlink_core::random::Stream;
    use mustlink_laws::fixtures;
    use ndarray::{Array2, array};
    use proptest::prelude::*;

    /// A tree by its definition: nodes with thresholds, every cut of every feature tried from scratch
    /// and compared as fractions of integers.
    enum Slow {
        Leaf(u32),
        Node { feature: usize, threshold: f64, below: Box<Slow>, above: Box<Slow> },
    }

    struct SlowGrower<'a> {
        x: &'a Array2<f64>,
        labels: &'a [u32],
        per_split: usize,
        features: Vec<usize>,
        leaves: u32,
        stream: Stream,
    }

    impl SlowGrower<'_> {
        /// From the objects drawn and the wanted ones that fall into the node.
        fn grow(&mut self, objects: &[usize], wanted: &[usize]) -> Slow {
            if !wanted.is_empty()
                && let Some((feature, threshold)) = self.split(objects)
            {
                let x = self.x;
                let part = |all: &[usize]| -> (Vec<usize>, Vec<usize>) {
                    all.iter().partition(|&&i| x[[i, feature]] <= threshold)
                };
                let ((low, high), (near, far)) = (part(objects), part(wanted));
                let below = Box::new(self.grow(&low, &near));
                let above = Box::new(self.grow(&high, &far));
                return Slow::Node { feature, threshold, below, above };
            }
            self.leaves += 1;
            Slow::Leaf(self.leaves - 1)
        }

        fn split(&mut self, objects: &[usize]) -> Option<(usize, f64)> {
            if objects.iter().all(|&i| self.labels[i] == self.labels[objects[0]]) {
                return None;
            }
            // Gini impurities weighted by size fall as Σ L²/|L| + Σ R²/|R| rises: (numerator,
            // denominator), feature, threshold.
            let mut best: Option<((u128, u128), usize, f64)> = None;
            let d = self.features.len();
            for at in 0..d {
                if at >= self.per_split && best.is_some() {
                    break;
                }
                self.features.swap(at, at + self.stream.below(d - at));
                let feature = self.features[at];
                let mut values: Vec<f64> = objects.iter().map(|&i| self.x[[i, feature]]).collect();
                values.sort_by(f64::total_cmp);
                values.dedup();
                for pair in values.windows(2) {
                    let threshold = (pair[0] + pair[1]) / 2.0;
                    let side = |left: bool| -> (u128, u128) {
                        let on: Vec<u32> = objects
                            .iter()
                            .filter(|&&i| (self.x[[i, feature]] <= threshold) == left)
                            .map(|&i| self.labels[i])
                            .collect();
                        let same = |l: u32| on.iter().filter(|&&m| m == l).count() as u128;
                        (on.iter().map(|&l| same(l)).sum(), on.len() as u128)
                    };
                    let ((a, p), (b, q)) = (side(true), side(false));
                    let new = (a * q + b * p, p * q);
                    if best.is_none_or(|(old, ..)| new.0 * old.1 > old.0 * new.1) {
                        best = Some((new, feature, threshold));
                    }
                }
            }
            best.map(|(_, feature, threshold)| (feature, threshold))
        }
    }

    impl Slow {
        fn leaf(&self, x: &Array2<f64>, i: usize) -> u32 {
            match self {
                Slow::Leaf(leaf) => *leaf,
                Slow::Node { feature, threshold, below, above } => {
                    let side = if x[[i, *feature]] <= *threshold { below } else { above };
                    side.leaf(x, i)
                }
            }
        }
    }

    /// The leaf of every object in a tree grown slowly, with duplicates of what is drawn twice.
    fn slow_leaves(
        x: &Array2<f64>,
        labels: &[u32],
        per_split: usize,
        wanted: &[usize],
        mut stream: Stream,
    ) -> Vec<u32> {
        let (n, d) = x.dim();
        let drawn: Vec<usize> = (0..n).map(|_| stream.below(n)).collect();
        let features = (0..d).collect();
        let mut grower = SlowGrower { x, labels, per_split, features, leaves: 0, stream };
        let tree = grower.grow(&drawn, wanted);
        (0..n).map(|i| tree.leaf(x, i)).collect()
    }

    fn forest(
        data: &Data,
        labels: &[u32],
        trees: usize,
        per_split: usize,
        seed: u64,
    ) -> RandomForest {
        let columns = Columns::new(data);
        RandomForest::grow(&columns, labels, trees, per_split, None, &Context::new(seed)).unwrap()
    }

    #[test]
    fn a_worked_forest() {
        // The threshold lies between the highest object drawn of 0, 1, 2 and the lowest of 8, 9, 10:
        // from (0 + 8) / 2 = 4 to (2 + 10) / 2 = 6. It parts the groups, and nothing within them,
        // unless all six draws are of one group: then the tree is a single leaf.
        let data = Data::dense(array![[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]]).unwrap();
        let trees = 400;
        let f = forest(&data, &[0, 0, 0, 1, 1, 1], trees, 1, 7);
        let one_group = |t: &usize| {
            let mut stream = Context::new(7).index(*t).stream("tree");
            let high = (0..6).filter(|_| stream.below(6) >= 3).count();
            high == 0 || high == 6
        };
        let undivided = (0..trees).filter(one_group).count();
        assert!(0 < undivided && undivided < trees);
        for i in 0..6 {
            for j in 0..6 {
                let expected = if (i < 3) == (j < 3) { trees } else { undivided };
                assert_eq!(f.shared_leaves(i, j), expected, "{i} and {j}");
            }
        }
    }

    #[test]
    fn one_class_is_one_leaf() {
        let (problem, _) = fixtures::dense(1);
        let f = forest(&problem.data, &[0; 45], 3, 2, 1);
        assert!(f.trees.iter().all(|tree| tree.count == 1));
        assert_eq!(f.shared_leaves(0, 44), 3);
    }

    #[test]
    fn equal_rows_share_every_leaf() {
        let data = Data::dense(Array2::from_elem((6, 3), 1.5)).unwrap();
        let f = forest(&data, &[0, 1, 2, 0, 1, 2], 4, 1, 1);
        assert!((0..6).all(|j| f.shared_leaves(0, j) == 4));
        let one = forest(&data.subset(&[0]), &[0], 4, 1, 1);
        assert_eq!(one.shared_leaves(0, 0), 4);
    }

    proptest! {
        #[test]
        fn leaves_are_those_of_the_slow_tree(
            n in 2usize..40,
            d in 1usize..5,
            classes in 1u32..5,
            per_split in 1usize..5,
            ties: bool,
            seed: u64,
        ) {
            let mut s = Context::new(seed).stream("data");
            let x = Array2::from_shape_fn((n, d), |_| {
                let v = 6.0 * s.unit() - 3.0;
                // Quarters, with many zeros.
                if ties { (4.0 * v).trunc() / 4.0 * (s.below(2) as f64) } else { v }
            });
            let labels: Vec<u32> = (0..n).map(|_| s.below(classes as usize) as u32).collect();
            let dense = Data::dense(x.clone()).unwrap();
            let sparse = Data::csr(fixtures::to_csr(&x)).unwrap();
            let (ctx, per_split) = (Context::new(seed), per_split.min(d));
            let size = 1 + s.below(n);
            let wanted = s.sample(n, size);
            let few: Vec<u32> = wanted.iter().map(|&i| i as u32).collect();
            for data in [dense, sparse] {
                let columns = Columns::new(&data);
                let grow = |wanted| {
                    RandomForest::grow(&columns, &labels, 3, per_split, wanted, &ctx).unwrap()
                };
                let (all, some) = (grow(None), grow(Some(few.as_slice())));
                for t in 0..3 {
                    let slow = |wanted: &[usize]| {
                        let stream = ctx.index(t).stream("tree");
                        slow_leaves(&x, &labels, per_split, wanted, stream)
                    };
                    let everything: Vec<usize> = (0..n).collect();
                    prop_assert_eq!(&all.trees[t].leaves, &slow(&everything));
                    prop_assert_eq!(&some.trees[t].leaves, &slow(&wanted));
                }
            }
        }

        #[test]
        fn sums_are_those_of_pairs(seed: u64, per_split in 1usize..4, k in 1usize..5) {
            let (problem, classes) = fixtures::dense(seed % 1000);
            let f = forest(&problem.data, &classes, 7, per_split, seed);
            let mut s = Context::new(seed).stream("sets");
            let sets: Vec<Vec<u32>> = (0..k)
                .map(|_| {
                    let size = 1 + s.below(6);
                    s.sample(45, size).iter().map(|&i| i as u32).collect()
                })
                .collect();
            let objects: Vec<u32> = s.sample(45, 20).iter().map(|&i| i as u32).collect();
            let sums = f.shared_with(&objects, &sets);
            for (a, &i) in objects.iter().enumerate() {
                for (r, set) in sets.iter().enumerate() {
                    let pairs = set.iter().map(|&j| f.shared_leaves(i as usize, j as usize) as u64);
                    prop_assert_eq!(sums[a * k + r], pairs.sum::<u64>());
                }
            }
        }

        #[test]
        fn names_of_labels_do_not_matter(seed: u64) {
            let (problem, classes) = fixtures::dense(seed % 1000);
            let renamed: Vec<u32> = classes.iter().map(|c| [7, 2, 4][*c as usize]).collect();
            let (a, b) =
                (forest(&problem.data, &classes, 4, 2, seed), forest(&problem.data, &renamed, 4, 2, seed));
            prop_assert!(a.trees.iter().zip(&b.trees).all(|(a, b)| a.leaves == b.leaves));
        }
    }

    #[test]
    fn any_number_of_threads_grows_the_same_trees() {
        let (problem, classes) = fixtures::several_blocks(1);
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| forest(&problem.data, &classes, 6, 2, 3))
        };
        let (one, three) = (with(1), with(3));
        assert!(one.trees.iter().zip(&three.trees).all(|(a, b)| a.leaves == b.leaves));
    }
}
