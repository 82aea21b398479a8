//! The consensus matrix of an ensemble: the distribution of its values, and the consensus of each object.
//!
//! The consensus index of a pair of objects is the number of members that put both into one cluster, divided by the
//! number of members that label both. Pairs are counted as they are visited, so the matrix is never held.
//!
//! Sources: Monti, Tamayo, Mesirov & Golub 2003, "Consensus clustering", Machine Learning 52 (consensus matrix, its
//! cumulative distribution, item consensus); Wilkerson & Hayes 2010, "ConsensusClusterPlus", Bioinformatics 26;
//! Șenbabaoğlu, Michailidis & Li 2014, "Critical limitations of consensus clustering in class discovery", Scientific
//! Reports 4 (proportion of ambiguously clustered pairs, PAC).
//!
//! The R packages ConsensusClusterPlus and diceR define these quantities over different pairs:
//!
//! | | here | ConsensusClusterPlus | diceR |
//! |---|---|---|---|
//! | an object with itself | left out | left out; early versions count it | only in the distribution |
//! | pairs that no member labels together | left out | at 0 | at 0 |
//! | distribution | at 0, .01, …, 1 | in bins of .01 | at each value |
//! | area | mean of the distribution at .01, …, 1 | the same | mean of the values, nearly |
//! | PAC | above .1 and below .9 | none | between bounds, by default above 0 and below 1 |
//!
//! The PAC of Șenbabaoğlu et al. is the distribution at .9 less that at .1: it also counts pairs at exactly .9. The
//! area exceeds the exact integral of the distribution, 1 less the mean consensus index, by at most .01.

use mustlink_core::prelude::*;

use crate::ensemble::co_association::CoAssociation;

/// Bins of the cumulative distribution above 0.
const BINS: u64 = 100;

/// Pairs that the same number of members label together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counted {
    pairs: u64,
    /// Sum of the numbers of members that put the two objects together, and sum of their squares.
    together: u64,
    squares: u64,
}

impl Counted {
    fn add(&mut self, other: &Counted) {
        self.pairs += other.pairs;
        self.together += other.together;
        self.squares += other.squares;
    }
}

/// The number of pairs at each consensus index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Distribution {
    /// Pairs at 0, above 0 and up to .01, above .01 and up to .02, …, above .99 and up to 1.
    bins: Vec<u64>,
    /// Pairs above .1 and below .9.
    ambiguous: u64,
    /// Pairs by the number of members that label both objects.
    joints: Vec<Counted>,
}

impl Distribution {
    /// The distribution over all pairs of objects. As long as a histogram of the counts; no matrix.
    ///
    /// # Errors
    /// Cancellation.
    pub fn new(co: &CoAssociation, ctx: &Context) -> Result<Self> {
        let members = co.members();
        let size = |a: usize| co.signatures().map_or(1, |s| s.size(a) as u64);
        let parts = co.fold(
            || Distribution::empty(members),
            |sum, a, first, counts, joints| {
                for (at, &count) in counts.iter().enumerate() {
                    let joint = joints.map_or(members as u32, |joints| joints[at]);
                    sum.add(count, joint, size(a) * size(first + at));
                }
            },
            ctx,
        )?;
        let mut all = Distribution::empty(members);
        parts.iter().for_each(|part| all.join(part));
        // Objects that all members label alike are pairs, too.
        if let Some(s) = co.signatures() {
            (0..s.len()).for_each(|a| all.add(s.presence(a), s.presence(a), pairs(size(a))));
        }
        Ok(all)
    }

    fn empty(members: usize) -> Self {
        let (bins, joints) = (vec![0; BINS as usize + 1], vec![Counted::default(); members + 1]);
        Distribution { bins, ambiguous: 0, joints }
    }

    /// Counts some pairs that `count` members put together, of the `joint` that label both objects.
    fn add(&mut self, count: u32, joint: u32, pairs: u64) {
        if joint == 0 {
            return;
        }
        let (count, all) = (u64::from(count), u64::from(joint));
        let (together, squares) = (count * pairs, count * count * pairs);
        self.joints[joint as usize].add(&Counted { pairs, together, squares });
        // Whole numbers, so that a pair exactly at the end of a bin is in this bin.
        self.bins[(BINS * count).div_ceil(all) as usize] += pairs;
        self.ambiguous += if 10 * count > all && 10 * count < 9 * all { pairs } else { 0 };
    }

    fn join(&mut self, other: &Self) {
        self.bins.iter_mut().zip(&other.bins).for_each(|(to, from)| *to += from);
        self.joints.iter_mut().zip(&other.joints).for_each(|(to, from)| to.add(from));
        self.ambiguous += other.ambiguous;
    }

    /// Number of pairs that some member labels together.
    pub fn pairs(&self) -> u64 {
        self.joints.iter().map(|counted| counted.pairs).sum()
    }

    /// A share of all pairs; `None` if there are no pairs.
    fn share(&self, count: f64) -> Option<f64> {
        let pairs = self.pairs();
        (pairs > 0).then(|| count / pairs as f64)
    }

    /// Shares of the pairs whose consensus index is at most 0, .01, .02, …, 1; empty if there are no pairs.
    pub fn cdf(&self) -> Vec<f64> {
        let mut below = 0;
        let up_to = |bin: &u64| {
            below += bin;
            self.share(below as f64)
        };
        self.bins.iter().filter_map(up_to).collect()
    }

    /// Area under the cumulative distribution, as in ConsensusClusterPlus; `None` if there are no pairs.
    pub fn area(&self) -> Option<f64> {
        // A pair is below all ends of bins from its own on.
        let above = |(bin, pairs): (u64, &u64)| (BINS + 1 - bin.max(1)) * pairs;
        let total: u64 = (0..).zip(&self.bins).map(above).sum();
        self.share(total as f64 / BINS as f64)
    }

    /// Proportion of ambiguously clustered pairs (PAC): above .1 and below .9; `None` if there are no pairs.
    pub fn pac(&self) -> Option<f64> {
        self.share(self.ambiguous as f64)
    }

    /// Agreement of the members about pairs: 1 if they are equal, about 0 if they are unrelated. This is Fleiss' kappa
    /// (Fleiss 1971, Psychological Bulletin 76) of the members as raters, of the pairs that at least two of them label.
    /// `None` without such pairs, and if all members put all pairs together, or none.
    pub fn agreement(&self) -> Option<f64> {
        let (mut pairs, mut comparisons, mut together, mut agreeing) = (0, 0, 0, 0.0);
        for (joint, counted) in (0u64..).zip(&self.joints).skip(2) {
            pairs += counted.pairs;
            comparisons += joint * counted.pairs;
            together += counted.together;
            // Ordered pairs of m members of which both put the objects together, or neither does:
            // c (c - 1) + (m - c) (m - c - 1) = m (m - 1) + 2 c² - 2 m c.
            let both = joint * (joint - 1) * counted.pairs + 2 * counted.squares;
            let both = both - 2 * joint * counted.together;
            agreeing += both as f64 / (joint * (joint - 1)) as f64;
        }
        let share = together as f64 / comparisons as f64;
        let by_chance = share * share + (1.0 - share) * (1.0 - share);
        let can_differ = pairs > 0 && together > 0 && together < comparisons;
        can_differ.then(|| (agreeing / pairs as f64 - by_chance) / (1.0 - by_chance))
    }
}

/// Number of pairs of `n` objects.
fn pairs(n: u64) -> u64 {
    n * n.saturating_sub(1) / 2
}

/// Comparisons of objects: how many members label both, and how many of these members put both together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Comparisons {
    together: u64,
    both: u64,
}

impl Comparisons {
    fn add(&mut self, other: Comparisons) {
        self.together += other.together;
        self.both += other.both;
    }

    fn share(self) -> Option<f64> {
        (self.both > 0).then(|| self.together as f64 / self.both as f64)
    }
}

/// How often the members put objects of one cluster together, and objects of different clusters.
///
/// The item consensus of an object is the share of comparisons with the other objects of its cluster in which a member
/// puts both together, among the comparisons in which it labels both. If no label is missing, this is the mean
/// consensus index of the object with these objects, as Monti et al. and ConsensusClusterPlus define it. If labels are
/// missing, their mean counts all pairs the same. Here a pair counts once for each member that labels both objects, so
/// that no pair has to be visited.
#[derive(Debug, Clone)]
pub struct ItemConsensus {
    /// Comparisons of each object with the others of its cluster.
    items: Vec<Comparisons>,
    /// Comparisons of all objects with each other, each pair once.
    all: Comparisons,
}

impl ItemConsensus {
    /// The consensus of the members of `ensemble` about the clusters `labels`. O(n τ) time.
    pub fn new(ensemble: &Ensemble, labels: &[u32]) -> Self {
        let mut order: Vec<u32> = (0..labels.len() as u32).collect();
        order.retain(|&i| labels[i as usize] != NONE);
        order.sort_by_key(|&i| labels[i as usize]);
        let same = |a: &u32, b: &u32| labels[*a as usize] == labels[*b as usize];
        let mut items = vec![Comparisons::default(); labels.len()];
        let mut all = Comparisons::default();
        for member in ensemble.members() {
            // Objects by their labels; empty again after each cluster.
            let mut sizes = vec![0u64; member.k];
            for cluster in order.chunk_by(same) {
                let label = |&i: &u32| Some((i as usize, member.labels[i as usize]));
                let labelled = || cluster.iter().filter_map(label).filter(|(_, l)| *l != NONE);
                labelled().for_each(|(_, l)| sizes[l as usize] += 1);
                let both = (labelled().count() as u64).saturating_sub(1);
                labelled().for_each(|(i, l)| {
                    items[i].add(Comparisons { together: sizes[l as usize] - 1, both });
                });
                labelled().for_each(|(_, l)| sizes[l as usize] = 0);
            }
            member.labels.iter().filter(|l| **l != NONE).for_each(|l| sizes[*l as usize] += 1);
            let together = sizes.iter().map(|&size| pairs(size)).sum();
            all.add(Comparisons { together, both: pairs(sizes.iter().sum()) });
        }
        ItemConsensus { items, all }
    }

    /// Item consensus of each object; `None` if no member labels it together with another object of its cluster.
    pub fn items(&self) -> Vec<Option<f64>> {
        self.items.iter().map(|item| item.share()).collect()
    }

    /// Comparisons of pairs in one cluster.
    fn inside(&self) -> Comparisons {
        let mut twice = Comparisons::default();
        self.items.iter().for_each(|item| twice.add(*item));
        Comparisons { together: twice.together / 2, both: twice.both / 2 }
    }

    /// Consensus index of all pairs in one cluster; `None` without such pairs.
    pub fn within(&self) -> Option<f64> {
        self.inside().share()
    }

    /// Consensus index of all pairs in different clusters; `None` without such pairs.
    pub fn between(&self) -> Option<f64> {
        let (all, inside) = (self.all, self.inside());
        let (together, both) = (all.together - inside.together, all.both - inside.both);
        Comparisons { together, both }.share()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::co_association::Normalise;

    fn of(members: &[&[u32]]) -> Ensemble {
        let made = members.iter().map(|labels| Member::from_labels(labels)).collect();
        Ensemble::new(members[0].len(), made).unwrap()
    }

    /// Four objects; the last member does not label the last one. The consensus indices of the pairs 01, 02, 03, 12, 13
    /// and 23 are 4/5, 1/5, 0/4, 2/5, 1/4 and 3/4.
    fn four() -> Ensemble {
        of(&[&[0, 0, 1, 1], &[0, 0, 1, 1], &[0, 1, 1, 1], &[0, 0, 0, 1], &[0, 0, 1, NONE]])
    }

    fn near(found: Option<f64>, expected: f64) -> bool {
        found.is_some_and(|found| (found - expected).abs() < 1e-12)
    }

    #[test]
    fn worked_distribution() {
        let ctx = Context::new(0);
        let implicit = Distribution::new(&CoAssociation::implicit(&four()), &ctx).unwrap();
        let dense = CoAssociation::dense(&four(), &ctx).unwrap();
        assert_eq!(implicit, Distribution::new(&dense, &ctx).unwrap());
        let cdf = implicit.cdf();
        let at = |step: usize| Some(6.0 * cdf[step]);
        let steps = [(0, 1.0), (19, 1.0), (20, 2.0), (24, 2.0), (25, 3.0), (40, 4.0), (75, 5.0)];
        assert!(steps.iter().all(|&(step, pairs)| near(at(step), pairs)), "{cdf:?}");
        assert_eq!((cdf.len(), cdf[80], cdf[100]), (101, 1.0, 1.0));
        // 100 + 81 + 76 + 61 + 26 + 21 ends of bins; the exact area is 1 - 2.4/6.
        assert!(near(implicit.area(), 365.0 / 600.0), "{:?}", implicit.area());
        assert!(near(implicit.pac(), 5.0 / 6.0), "{:?}", implicit.pac());
        // Of two members, .6, .6, 1, .4, .5 and .5 agree about a pair. 11 of 27 comparisons put a pair together, so
        // that (121 + 256)/729 agree by chance.
        let kappa = (0.6 - 377.0 / 729.0) / (352.0 / 729.0);
        assert!(near(implicit.agreement(), kappa), "{:?}", implicit.agreement());
    }

    #[test]
    fn worked_item_consensus() {
        let found = ItemConsensus::new(&four(), &[0, 0, 1, 1]);
        assert_eq!(found.items(), [0.8, 0.8, 0.75, 0.75].map(Some));
        assert!(near(found.within(), 7.0 / 9.0) && near(found.between(), 4.0 / 18.0));
        // An object alone, and an object without a cluster, have none.
        let found = ItemConsensus::new(&four(), &[0, 1, 1, NONE]);
        assert_eq!(found.items(), [None, Some(0.4), Some(0.4), None]);
        let single = ItemConsensus::new(&four(), &[0, 1, 2, 3]);
        assert!(single.within().is_none() && near(single.between(), 11.0 / 27.0));
    }

    /// Exactly a tenth and nine tenths of ten members are not ambiguous; the paper's difference counts nine tenths.
    #[test]
    fn the_thresholds_themselves_are_clear() {
        let together = |count: usize| -> Ensemble {
            let member = |t: usize| if t < count { [0, 0] } else { [0, 1] };
            let members: Vec<[u32; 2]> = (0..10).map(member).collect();
            of(&members.iter().map(|m| &m[..]).collect::<Vec<_>>())
        };
        for count in 0..=10 {
            let co = CoAssociation::implicit(&together(count));
            let found = Distribution::new(&co, &Context::new(0)).unwrap();
            let expected = if (2..9).contains(&count) { 1.0 } else { 0.0 };
            assert_eq!(found.pac(), Some(expected), "{count}");
            let cdf = found.cdf();
            let in_paper = if (2..10).contains(&count) { 1.0 } else { 0.0 };
            assert_eq!(cdf[90] - cdf[10], in_paper, "{count}");
        }
    }

    #[test]
    fn objects_that_no_member_compares_have_no_numbers() {
        let apart = of(&[&[0, NONE], &[NONE, 0]]);
        let found = Distribution::new(&CoAssociation::implicit(&apart), &Context::new(0)).unwrap();
        assert_eq!((found.pairs(), found.cdf()), (0, Vec::new()));
        assert_eq!((found.area(), found.pac(), found.agreement()), (None, None, None));
        let consensus = ItemConsensus::new(&apart, &[0, 0]);
        assert_eq!((consensus.items(), consensus.within()), (vec![None, None], None));
    }

    /// Fleiss' kappa by its definition: each pair of objects is judged by each pair of members.
    fn kappa(rows: &[Vec<u32>]) -> Option<f64> {
        let (n, mut judged, mut agreeing) = (rows[0].len(), 0.0, 0.0);
        let (mut comparisons, mut together) = (0.0, 0.0);
        for i in 0..n {
            for j in i + 1..n {
                let both = rows.iter().filter(|row| row[i] != NONE && row[j] != NONE);
                let votes: Vec<bool> = both.map(|row| row[i] == row[j]).collect();
                if votes.len() < 2 {
                    continue;
                }
                let (mut same, mut all) = (0.0, 0.0);
                for (at, one) in votes.iter().enumerate() {
                    for other in &votes[at + 1..] {
                        same += f64::from(u8::from(one == other));
                        all += 1.0;
                    }
                }
                judged += 1.0;
                agreeing += same / all;
                comparisons += votes.len() as f64;
                together += votes.iter().filter(|vote| **vote).count() as f64;
            }
        }
        let share: f64 = together / comparisons;
        let chance = share.powi(2) + (1.0 - share).powi(2);
        (judged > 0.0 && chance < 1.0).then(|| (agreeing / judged - chance) / (1.0 - chance))
    }

    /// The second road: a full matrix in floating-point numbers, by the words of the definitions.
    #[test]
    fn they_are_sums_over_the_matrix() {
        for seed in 0..40u64 {
            let mut s = SeedPath::new(seed).stream("members");
            let (n, tau) = (2 + s.below(30), 1 + s.below(40));
            let missing = if seed % 2 == 0 { 0.0 } else { 0.3 };
            let mut label = || if s.unit() < missing { NONE } else { s.below(3) as u32 };
            let rows: Vec<Vec<u32>> = (0..tau).map(|_| (0..n).map(|_| label()).collect()).collect();
            let ensemble = of(&rows.iter().map(|row| &row[..]).collect::<Vec<_>>());
            let labels: Vec<u32> = (0..n as u32).map(|i| i * i % 3).collect();
            let ctx = Context::new(0);
            let co = CoAssociation::dense(&ensemble, &ctx).unwrap();
            let index = |i: usize, j: usize| co.association(i, j, Normalise::CoPresence);
            let all = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
            let values: Vec<f64> = all.filter_map(|(i, j)| index(i, j)).collect();
            let found = Distribution::new(&CoAssociation::implicit(&ensemble), &ctx).unwrap();
            assert_eq!(found.pairs(), values.len() as u64);
            if values.is_empty() {
                continue;
            }
            let share = |counts: &dyn Fn(f64) -> bool| {
                let number = values.iter().filter(|v| counts(**v)).count();
                number as f64 / values.len() as f64
            };
            let cdf: Vec<f64> =
                (0..=100).map(|step| share(&|v| v <= f64::from(step) / 100.0 + 1e-9)).collect();
            assert_eq!(found.cdf(), cdf, "{seed}");
            assert!(near(found.area(), cdf[1..].iter().sum::<f64>() / 100.0), "{seed}");
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let excess = found.area().unwrap() - (1.0 - mean);
            assert!((-1e-9..=0.01 + 1e-9).contains(&excess), "{seed}: {excess}");
            assert_eq!(found.pac(), Some(share(&|v| v > 0.1 && v < 0.9)), "{seed}");
            assert_eq!(found.agreement().is_some(), kappa(&rows).is_some(), "{seed}");
            assert!(kappa(&rows).is_none_or(|kappa| near(found.agreement(), kappa)), "{seed}");
            let sum = |keep: &dyn Fn(usize, usize) -> bool| {
                let (mut together, mut both) = (0.0, 0.0);
                for i in 0..n {
                    for j in (0..n).filter(|&j| j != i && keep(i, j)) {
                        together += f64::from(co.count(i, j));
                        both += f64::from(co.joint(i, j));
                    }
                }
                (both > 0.0).then(|| together / both)
            };
            let consensus = ItemConsensus::new(&ensemble, &labels);
            let same = |i: usize, j: usize| labels[i] == labels[j];
            assert_eq!(consensus.within(), sum(&same), "{seed}");
            assert_eq!(consensus.between(), sum(&|i, j| !same(i, j)), "{seed}");
            for (own, item) in consensus.items().into_iter().enumerate() {
                assert_eq!(item, sum(&|i, j| i == own && same(i, j)), "{seed}: {own}");
            }
            if missing == 0.0 {
                // Without missing labels it is the mean over pairs.
                let others = |i: usize| (0..n).filter(move |&j| j != i);
                let mean = |i: usize| {
                    let some: Vec<f64> =
                        others(i).filter(|&j| same(i, j)).filter_map(|j| index(i, j)).collect();
                    some.iter().sum::<f64>() / some.len() as f64
                };
                let items = consensus.items();
                let all_near = (0..n).all(|i| items[i].is_none() || near(items[i], mean(i)));
                assert!(all_near, "{seed}");
            }
        }
    }
}
