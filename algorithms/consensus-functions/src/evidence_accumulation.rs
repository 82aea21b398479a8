//! Evidence accumulation: hierarchical clustering of co-associations.

mod leaves;
mod linkage;
mod links;
mod memberships;
#[cfg(test)]
mod under_constraints;

use mustlink_core::clustering::compact;
use mustlink_core::needs::check_needs;
use mustlink_core::prelude::*;
use mustlink_kernels::constrained::must_link_units::MustLinkUnits;
use mustlink_kernels::constrained::parting::part;
use mustlink_kernels::ensemble::co_association::Normalise;

use crate::parts::canonical_ensemble::CanonicalEnsemble;
use crate::parts::pairwise;
use crate::parts::weights::Weights;

use leaves::Leaves;
use linkage::{Bound, longest, unlike, with_table, without_table};
use links::{Admission, Links};
use memberships::Memberships;

pub(crate) use leaves::Alike;
pub use linkage::Linkage;
pub use links::{Constrain, Part};

/// Evidence accumulation: hierarchical clustering of the co-associations of all pairs.
///
/// # Method
/// The distance of two objects is 1 minus the share of members that put them together. With memberships, it is 1 minus
/// the mean inner product of their memberships over the members. Among equally near pairs of clusters, the pair with
/// the smallest object numbers merges first. Objects that all members label alike are joined from the start.
///
/// Constraints are obeyed, except those marked soft, which are evidence (`constrain`). A constraint of weight w that is
/// evidence turns the co-association A of its two objects into (A + w)/(1 + w) or A/(1 + w), and may be broken.
/// Constraints to obey are used without their weights: must-linked objects are one from the start. Cannot-links
/// separate clusters during merging or afterwards (`part`). During merging, clusters that hold a cannot-link, given or
/// entailed, never merge. With `cut = "k"`, two clusters also do not merge if this would leave cannot-links that k
/// clusters cannot hold; so merging always reaches k if that is possible at all. Afterwards, objects that share a
/// cluster with an object they must be apart from change clusters; must-linked objects move together. Only these
/// objects, and objects that chains of cannot-links connect with them, may move.
/// # Input and output
/// Any ensemble; with `association = "memberships"` one in which all members have memberships. The result has k
/// clusters, or the number given by the threshold or the longest lifetime. It has fewer than k if must-links leave
/// fewer. It has more than these numbers if cannot-links prevent merging. The last partition then lives up to
/// distance 1, at which objects that no member puts together would merge. The diagnostics contain the height of the
/// first merge not made, and the lifetime of the partition.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters` with `cut = "k"`; `BadParam`, also above `max_n` unless the linkage is
/// `single` without constraints to obey, which does not need a table. `InconsistentConstraints`,
/// `InfeasibleConstraints`, `UndecidedConstraints` for constraints to obey: `constrain = "weigh"` uses them as evidence
/// instead.
/// # Cost and randomness
/// With g different rows of labels: O(g²τ) time; O(n) memory for `single`, 4 g² bytes otherwise. With memberships in
/// K clusters of all members: O(n²K) time, 8 n K bytes more. Objects with constraints are rows of their own. Each
/// merge of two clusters that a chain of cannot-links connects takes a graph colouring of that chain's objects. Not
/// random.
/// # References
/// [FredJain2005]; [DavidsonRavi2005] §3 for merging under constraints. Differs: the colouring avoids dead ends.
#[options]
pub struct EvidenceAccumulation {
    /// Definition of the similarity of two clusters.
    #[option(default = Linkage::Average)]
    pub linkage: Linkage,
    /// Rule that cuts the hierarchy.
    pub cut: CutAt,
    /// Co-association above which objects stay joined (with `cut = "threshold"`).
    #[option(default = 0.5, min = 0.0, below = 1.0)]
    pub t: f64,
    /// Use of constraints.
    pub constrain: Constrain,
    /// Weights of the members.
    pub weights: Weights,
    /// Quantity that puts two objects together.
    pub association: Association,
    /// Divisor of co-associations.
    #[option(default = Normalise::Members)]
    pub normalise: Normalise,
    /// Largest number of objects that is accepted, except with `linkage = "single"`.
    #[option(default = 20_000, min = 1)]
    pub max_n: usize,
    /// Time at which obeyed cannot-links separate clusters. If absent, afterwards with average linkage, otherwise
    /// during merging.
    pub part: Option<Part>,
    /// Maximum number of nodes in each search for k clusters that hold the cannot-links.
    #[option(default = 1_000_000, min = 1, inert = "a limit that small problems do not reach")]
    pub node_limit: u64,
}

/// Quantity that puts two objects together.
#[options]
pub enum Association {
    /// Labels: two objects are together in a member or not.
    #[default]
    Labels,
    /// Memberships: a member counts with their inner product.
    Memberships,
}

/// Rule that cuts the hierarchy.
#[options]
pub enum CutAt {
    /// At k clusters.
    #[default]
    K,
    /// At the height where co-associations fall to `t`.
    Threshold,
    /// In the longest interval between two merges.
    Lifetime,
}

const TAG: &str = "evidence_accumulation";
const WITHOUT_K: &str = "consensus = \"voting\", which needs neither k nor a table of pairs";

#[plugin(
    "evidence_accumulation",
    aliases = ["eac"],
    cites = ["FredJain2005", "DavidsonRavi2005"],
    version = 4
)]
impl ConsensusFunction for EvidenceAccumulation {
    fn combine(&self, ensemble: &Ensemble, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        self.accumulate(TAG, |_| Ok(None), ensemble, problem, ctx)
    }

    fn needs(&self) -> Needs {
        Needs {
            fixed_k: self.cut == CutAt::K,
            max_n: (self.linkage != Linkage::Single).then_some(self.max_n),
            instead: self.instead(),
            memberships: self.association == Association::Memberships,
            labels_only: self.association == Association::Labels,
            reads_constraints: self.constrain != Constrain::Ignore
                || self.weights.read_constraints(),
            hard_must: self.constrain == Constrain::Obey,
            hard_cannot: self.constrain == Constrain::Obey,
            hard_if_marked: self.constrain != Constrain::Ignore,
            ..Needs::default()
        }
    }

    fn memory(&self, shape: &Shape, members: usize) -> u64 {
        let labels = (12 * shape.n * members + 64 * shape.n) as u64;
        let table = match self.linkage {
            // What is marked hard is obeyed by weighing too.
            Linkage::Single if shape.constraints == 0 || self.constrain == Constrain::Ignore => 0,
            _ => 4 * (shape.n * shape.n) as u64,
        };
        let memberships = match self.association {
            Association::Labels => 0,
            Association::Memberships => (8 * shape.n * members * shape.k) as u64,
        };
        labels + table + memberships
    }

    fn operations(&self, shape: &Shape, members: usize) -> f64 {
        /// Operations for a pair of clusters during merging.
        const MERGING: f64 = 30.0;
        let n = shape.n as f64;
        let pairs = match self.association {
            Association::Labels => pairwise::label_pairs(shape.n, members, &self.weights),
            Association::Memberships => 0.25 * n * n * (members * shape.k) as f64,
        };
        pairs + MERGING * n * n + self.weights.operations(shape, members)
    }
}

/// End of the last partition if constraints keep it from becoming one cluster.
fn ends(heights: &[f64], n: usize) -> Option<f64> {
    (heights.len() + 1 < n).then_some(1.0)
}

impl EvidenceAccumulation {
    /// The outcome for the plugin `tag`, for which clusters of one member may be `alike`.
    pub(crate) fn accumulate(
        &self,
        tag: &str,
        alike: impl FnOnce(&CanonicalEnsemble) -> Result<Option<Alike>>,
        ensemble: &Ensemble,
        problem: &Problem,
        ctx: &Context,
    ) -> Result<Clustering> {
        let n = ensemble.n();
        let links = Links::new(self.constrain, problem)?;
        if self.linkage != Linkage::Single || links.obeyed.is_some() {
            pairwise::limit(n, self.max_n, self.instead())?;
        }
        let wanted = match self.cut {
            CutAt::K => problem.clone(),
            // k is not asked for; any legal one lets the ensemble be read.
            _ => Problem { k: Some(1), ..problem.clone() },
        };
        if self.association == Association::Memberships {
            check_needs(ensemble, self)?;
        }
        let view = CanonicalEnsemble::new(ensemble, &wanted, &self.weights, tag, ctx)?;
        if self.cut == CutAt::K
            && links.obeyed.is_none()
            && let Some(trivial) = view.trivial()
        {
            return Ok(trivial);
        }
        let alike = alike(&view)?;
        let (leaves, bound) = self.leaves(&view, alike.as_ref(), &links, ctx)?;
        let joins = bound.as_ref().map(Bound::joins);
        let hierarchy = match self.linkage {
            Linkage::Single if bound.is_none() => without_table(&leaves, ctx)?,
            linkage => with_table(&leaves, linkage, bound, ctx)?,
        };
        let heights = hierarchy.heights(n);
        let alike = n - leaves.len();
        let merges = match self.cut {
            // Under constraints merging ended there.
            CutAt::K if joins.is_some() => heights.len(),
            CutAt::K => n - view.k,
            // Joined where the co-association is above t.
            CutAt::Threshold => {
                alike + hierarchy.merges.iter().take_while(|m| m.2 > self.t).count()
            }
            CutAt::Lifetime => {
                longest(&heights, joins.map_or(0, |joins| alike + joins), ends(&heights, n))
            }
        };
        let labels: Vec<u32> = if merges >= alike {
            let of_leaf = hierarchy.after(merges - alike);
            leaves.of.iter().map(|&u| of_leaf[u as usize]).collect()
        } else {
            unlike(&leaves.of, merges)
        };
        let (mut labels, mut k) = compact(&labels);
        if let Some(closure) = links.obeyed.as_ref().filter(|_| self.parts_afterwards()) {
            // A cluster may become empty, or one that must-links left none for be needed.
            part(&mut labels, closure, view.k, self.node_limit, leaves.unlike(), ctx)?;
            (labels, k) = compact(&labels);
        }
        let mut c = Clustering { labels, k, ..Clustering::default() };
        let next = heights.get(merges).copied();
        let last = if merges > 0 { heights[merges - 1] } else { 0.0 };
        let diagnostics = &mut c.extras.diagnostics;
        diagnostics.extend(next.map(|next| ("next_height".into(), next)));
        if let Some(next) = next.or(ends(&heights, n).filter(|_| self.cut != CutAt::K)) {
            diagnostics.insert("lifetime".into(), next - last);
        }
        Ok(c)
    }

    /// A suggestion that accepts more objects.
    fn instead(&self) -> &'static str {
        if self.cut == CutAt::K { pairwise::INSTEAD } else { WITHOUT_K }
    }

    fn parts_afterwards(&self) -> bool {
        let by_linkage = match self.linkage {
            Linkage::Average => Part::Afterwards,
            Linkage::Single | Linkage::Complete => Part::WhileMerging,
        };
        self.cut == CutAt::K && *self.part.as_ref().unwrap_or(&by_linkage) == Part::Afterwards
    }

    /// The leaves, and the requirements of obeyed constraints on their hierarchy.
    fn leaves<'a>(
        &self,
        view: &'a CanonicalEnsemble<'a>,
        alike: Option<&'a Alike>,
        links: &Links,
        ctx: &'a Context,
    ) -> Result<(Leaves<'a>, Option<Bound<'a>>)> {
        let n = view.n;
        let memberships = match self.association {
            Association::Labels => None,
            Association::Memberships => Some(Memberships::new(view, TAG)?),
        };
        let mut leaves = Leaves::new(view, memberships, self.normalise, &links.bound(n));
        leaves.alike = alike;
        let mut bound = None;
        if let Some(closure) = &links.obeyed {
            let mut asked = self.bound(closure, &leaves, view.k, ctx)?;
            if leaves.len() - asked.joins() < asked.until && leaves.len() < n {
                // More clusters than there are different objects: some of the like ones stay apart.
                leaves = Leaves::new(view, None, self.normalise, &vec![true; n]);
                leaves.alike = alike;
                asked = self.bound(closure, &leaves, view.k, ctx)?;
            }
            bound = Some(asked);
        }
        leaves.hear(&links.evidence);
        Ok((leaves, bound))
    }

    /// The requirements of obeyed constraints on the hierarchy.
    fn bound<'a>(
        &self,
        closure: &Closure,
        leaves: &Leaves,
        k: usize,
        ctx: &'a Context,
    ) -> Result<Bound<'a>> {
        let k = (self.cut == CutAt::K).then_some(k);
        if let Some(k) = k {
            let found = MustLinkUnits::new(closure).any_placement(k, self.node_limit, ctx)?;
            if found.is_none() {
                let node_limit = self.node_limit;
                return Err(Error::UndecidedConstraints { k, node_limit });
            }
        }
        // What is parted afterwards may merge as if nothing were apart.
        let while_merging = !self.parts_afterwards();
        let linked = (0..closure.components()).map(|p| closure.members(p)).filter(|m| m.len() > 1);
        let leaf = |&i: &u32| leaves.of[i as usize];
        let joined = linked.map(|members| members.iter().map(leaf).collect()).collect();
        let admission =
            while_merging.then(|| Admission::new(closure, leaves, k, self.node_limit, ctx));
        Ok(Bound { joined, admission, until: k.unwrap_or(1) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::e12::{blank, e12};
    use ndarray::Array2;
    use proptest::prelude::*;

    fn groups(c: &Clustering) -> Vec<usize> {
        // Sizes of the clusters, which are intervals of objects in E12.
        assert!(c.labels.windows(2).all(|w| w[0] <= w[1]), "{:?}", c.labels);
        c.sizes()
    }

    fn run(ea: &EvidenceAccumulation, k: usize) -> Clustering {
        let (ensemble, _) = e12();
        ea.combine(&ensemble, &blank(12, k), &Context::new(1)).unwrap()
    }

    #[test]
    fn too_many_objects_are_told_a_fast_function() {
        let (ensemble, problem) = e12();
        let with_k = "consensus = \"voting\" if every partition has k clusters, otherwise \"mcla\"";
        for (cut, instead) in
            [(CutAt::K, with_k), (CutAt::Threshold, WITHOUT_K), (CutAt::Lifetime, WITHOUT_K)]
        {
            let ea = EvidenceAccumulation { cut, max_n: 3, ..Default::default() };
            let refused = ea.combine(&ensemble, &problem, &Context::new(1)).unwrap_err();
            for said in [refused, check_needs(&ensemble, &ea).unwrap_err()] {
                let said = said.to_string();
                assert!(said.contains(instead) && !said.contains("single"), "{said}");
            }
        }
    }

    #[test]
    fn printed_partitions_of_e12() {
        let single = EvidenceAccumulation { linkage: Linkage::Single, ..Default::default() };
        let half = EvidenceAccumulation { cut: CutAt::Threshold, ..single.clone() };
        assert_eq!(groups(&run(&half, 3)), [5, 7]);
        assert_eq!(groups(&run(&single, 3)), [5, 4, 3]);
        let average = EvidenceAccumulation::default();
        assert_eq!(groups(&run(&average, 3)), [5, 4, 3]);
        assert_eq!(groups(&run(&average, 4)), [4, 1, 4, 3]);
        // The longest interval is from 0.333333 to 0.55: four clusters.
        let lifetime = EvidenceAccumulation { cut: CutAt::Lifetime, ..average };
        let c = run(&lifetime, 3);
        assert_eq!(c.k, 3);
        assert!((c.extras.diagnostics["lifetime"] - (0.783333 - 0.55)).abs() < 1e-6);
    }

    #[test]
    fn printed_merge_heights() {
        let (ensemble, problem) = e12();
        let view = CanonicalEnsemble::new(
            &ensemble,
            &problem,
            &Weights::default(),
            "ea",
            &Context::new(1),
        )
        .unwrap();
        let leaves = Leaves::new(&view, None, Normalise::Members, &[false; 12]);
        assert_eq!(leaves.len(), 8);
        let h = with_table(&leaves, Linkage::Average, None, &Context::new(1)).unwrap().heights(12);
        let printed = [0.0, 0.0, 0.0, 0.0, 0.2, 0.2, 0.2, 0.333333, 0.55, 0.783333, 0.942857];
        assert!(h.iter().zip(printed).all(|(a, b)| (a - b).abs() < 1e-6), "{h:?}");
    }

    #[test]
    fn single_linkage_at_a_threshold_is_the_components_of_the_graph() {
        let (ensemble, problem) = e12();
        let count = |i: usize, j: usize| {
            ensemble.members().iter().filter(|m| m.labels[i] == m.labels[j]).count()
        };
        for t in [0.0, 0.2, 0.4, 0.6, 0.8] {
            let ea = EvidenceAccumulation {
                linkage: Linkage::Single,
                cut: CutAt::Threshold,
                t,
                ..Default::default()
            };
            let c = ea.combine(&ensemble, &problem, &Context::new(1)).unwrap();
            let mut uf = mustlink_core::closure::UnionFind::new(12);
            for i in 0..12 {
                for j in 0..i {
                    if count(i, j) as f64 / 5.0 > t {
                        uf.union(i as u32, j as u32);
                    }
                }
            }
            let slow: Vec<u32> = (0..12).map(|i| uf.find(i)).collect();
            assert_eq!(c.labels, mustlink_core::clustering::canonical(&slow), "t = {t}");
        }
    }

    /// Members whose memberships are these rows; labels by the largest.
    fn soft(members: &[&[[f64; 2]]]) -> Ensemble {
        let member = |rows: &&[[f64; 2]]| {
            let labels: Vec<u32> = rows.iter().map(|u| u32::from(u[1] > u[0])).collect();
            let memberships = Array2::from_shape_fn((rows.len(), 2), |(i, l)| rows[i][l]);
            let extras = Extras { memberships: Some(memberships), ..Extras::default() };
            Member { labels, k: 2, extras, ..Member::default() }
        };
        Ensemble::new(members[0].len(), members.iter().map(member).collect()).unwrap()
    }

    #[test]
    fn memberships_by_hand() {
        let ensemble = soft(&[
            &[[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]],
            &[[1.0, 0.0], [0.75, 0.25], [0.25, 0.75]],
        ]);
        // A₀₁ = (.5 + .75)/2 = .625, A₁₂ = (.5 + .375)/2 = .4375, A₀₂ = (0 + .25)/2 = .125.
        let average =
            EvidenceAccumulation { association: Association::Memberships, ..Default::default() };
        let of = |ea: &EvidenceAccumulation| {
            ea.combine(&ensemble, &blank(3, 2), &Context::new(1)).unwrap()
        };
        let c = of(&average);
        assert_eq!(c.labels, [0, 0, 1]);
        assert_eq!(c.extras.diagnostics["next_height"], 1.0 - (0.4375 + 0.125) / 2.0);
        assert_eq!(c.extras.diagnostics["lifetime"], 0.71875 - 0.375);
        // Joined above a threshold, not at it.
        let cut = |t| of(&EvidenceAccumulation { cut: CutAt::Threshold, t, ..average.clone() }).k;
        assert_eq!((cut(0.62), cut(0.625)), (2, 3));
        // By labels the first two are one, whatever the doubt.
        let by_labels = of(&EvidenceAccumulation::default());
        assert_eq!(by_labels.extras.diagnostics["next_height"], 1.0);
    }

    /// (3 · .52) · .61 + (3 · .48) · .39 and (3 · .61) · .52 + (3 · .39) · .48 differ in their last bit: seen from one
    /// side the like objects 1 and 2 were as near to 3 as they joined, seen from the other they were not.
    #[test]
    fn how_near_two_objects_are_has_no_direction() {
        let rows = [[0.51, 0.49], [0.52, 0.48], [0.52, 0.48], [0.61, 0.39]];
        let mut members = soft(&[&rows, &rows]).members().to_vec();
        members[1].weight = 3.0;
        let ensemble = Ensemble::new(4, members).unwrap();
        let ea = EvidenceAccumulation {
            linkage: Linkage::Single,
            association: Association::Memberships,
            ..Default::default()
        };
        let (ctx, problem) = (Context::new(1), blank(4, 2));
        let c = ea.combine(&ensemble, &problem, &ctx).unwrap();
        assert_eq!(c.labels, [0, 1, 1, 1]);
        let view = CanonicalEnsemble::new(&ensemble, &problem, &ea.weights, TAG, &ctx).unwrap();
        let memberships = Memberships::new(&view, TAG).unwrap();
        let table = memberships.products(0..4);
        for (i, row) in table.iter().enumerate() {
            assert_eq!(row, &memberships.products(i..i + 1)[0]);
            row.iter().enumerate().for_each(|(j, near)| assert_eq!(*near, table[j][i]));
        }
    }

    #[test]
    fn members_that_lack_memberships_are_named() {
        let (ensemble, problem) = e12();
        let ea =
            EvidenceAccumulation { association: Association::Memberships, ..Default::default() };
        assert!(ea.needs().memberships && !ea.needs().labels_only);
        let refused = ea.combine(&ensemble, &problem, &Context::new(1)).unwrap_err().to_string();
        assert!(refused.contains("have memberships; members 0, 1, 2, 3, 4 have none"), "{refused}");
        let bad = |u: f64| {
            let ensemble = soft(&[&[[1.0, 0.0], [u, 0.5], [0.0, 1.0]]]);
            ea.combine(&ensemble, &blank(3, 2), &Context::new(1)).unwrap_err().to_string()
        };
        assert!(
            bad(-0.5).ends_with("a member has -0.5, got evidence_accumulation"),
            "{}",
            bad(-0.5)
        );
        assert!(bad(f64::NAN).contains("a member has NaN"));
        let mut members = soft(&[&[[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]]).members().to_vec();
        members[0].extras.memberships = Some(Array2::zeros((2, 2)));
        let short = Ensemble::new(3, members).unwrap();
        let refused = ea.combine(&short, &blank(3, 2), &Context::new(1)).unwrap_err().to_string();
        assert!(refused.contains("a member has 2 × 2 for 3 objects in 2"), "{refused}");
    }

    #[test]
    fn memberships_give_the_same_bits_on_any_number_of_threads() {
        let mut s = SeedPath::new(1).stream("memberships");
        let members: Vec<Vec<[f64; 2]>> = (0..5)
            .map(|_| {
                let row = |_| {
                    let u = s.unit();
                    [u, 1.0 - u]
                };
                (0..150).map(row).collect()
            })
            .collect();
        let ensemble = soft(&members.iter().map(|m| &m[..]).collect::<Vec<_>>());
        for linkage in [Linkage::Single, Linkage::Average] {
            let ea = EvidenceAccumulation {
                linkage,
                association: Association::Memberships,
                ..Default::default()
            };
            let of = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let problem = blank(150, 4);
                pool.install(|| ea.combine(&ensemble, &problem, &Context::new(1)).unwrap())
            };
            assert!(of(1) == of(2) && of(2) == of(7));
        }
    }

    /// Merge after merge over a full table of objects, by the words of the rule.
    fn naive(ensemble: &Ensemble, linkage: Linkage, k: usize) -> Vec<u32> {
        let n = ensemble.n();
        let count = |i: usize, j: usize| {
            let both = |m: &&Member| m.labels[i] == m.labels[j] && m.labels[i] != NONE;
            ensemble.members().iter().filter(both).count() as f64
        };
        let mut clusters: Vec<Vec<usize>> = (0..n).map(|i| vec![i]).collect();
        while clusters.len() > k {
            let mut best: Option<(f64, usize, usize)> = None;
            for a in 0..clusters.len() {
                for b in a + 1..clusters.len() {
                    let pairs =
                        clusters[a].iter().flat_map(|&i| clusters[b].iter().map(move |&j| (i, j)));
                    let all: Vec<f64> = pairs.map(|(i, j)| count(i, j)).collect();
                    let s = match linkage {
                        Linkage::Single => all.iter().copied().fold(0.0, f64::max),
                        Linkage::Complete => all.iter().copied().fold(f64::INFINITY, f64::min),
                        Linkage::Average => all.iter().sum::<f64>() / all.len() as f64,
                    };
                    if best.is_none_or(|(t, ..)| s > t) {
                        best = Some((s, a, b));
                    }
                }
            }
            let (_, a, b) = best.unwrap();
            let moved = clusters.remove(b);
            clusters[a].extend(moved);
            clusters[a].sort_unstable();
        }
        let mut labels = vec![0; n];
        clusters.iter().enumerate().for_each(|(c, set)| {
            set.iter().for_each(|&i| labels[i] = c as u32);
        });
        mustlink_core::clustering::canonical(&labels)
    }

    proptest! {
        #[test]
        fn certain_memberships_are_labels(
            seed: u64, n in 3usize..80, tau in 1usize..6, missing: bool, weighted: bool,
            co_presence: bool,
        ) {
            let mut s = SeedPath::new(seed).stream("members");
            let members = (0..tau).map(|_| {
                let labels: Vec<u32> = (0..n).map(|_| {
                    if missing && s.unit() < 0.2 { NONE } else { s.below(3) as u32 }
                }).collect();
                let member = Member::from_labels(&labels);
                // What a member says of an object it misses does not count.
                let certain = |(i, l): (usize, usize)| match member.labels[i] {
                    NONE => 0.5,
                    own => f64::from(u8::from(own as usize == l)),
                };
                let memberships = Array2::from_shape_fn((n, member.k), certain);
                let extras = Extras { memberships: Some(memberships), ..Extras::default() };
                let weight = if weighted { (1 + s.below(3)) as f64 } else { 1.0 };
                Member { extras, weight, ..member }
            }).collect();
            let ensemble = Ensemble::new(n, members).unwrap();
            let normalise = if co_presence { Normalise::CoPresence } else { Normalise::Members };
            for linkage in [Linkage::Single, Linkage::Average, Linkage::Complete] {
                for cut in [CutAt::K, CutAt::Threshold, CutAt::Lifetime] {
                    let hard = EvidenceAccumulation { linkage, cut, normalise, ..Default::default() };
                    let association = Association::Memberships;
                    let soft = EvidenceAccumulation { association, ..hard.clone() };
                    let of = |ea: &EvidenceAccumulation| {
                        ea.combine(&ensemble, &blank(n, 3), &Context::new(1)).unwrap()
                    };
                    prop_assert_eq!(of(&soft), of(&hard), "{:?} {:?}", linkage, cut);
                }
            }
        }

        #[test]
        fn ties_included_it_is_the_naive_hierarchy(
            seed: u64, n in 3usize..14, tau in 1usize..6, k in 1usize..14, missing: bool,
        ) {
            prop_assume!(k <= n);
            let mut s = SeedPath::new(seed).stream("members");
            let members = (0..tau).map(|_| {
                let labels: Vec<u32> = (0..n).map(|_| {
                    if missing && s.unit() < 0.2 { NONE } else { s.below(3) as u32 }
                }).collect();
                Member::from_labels(&labels)
            }).collect();
            let ensemble = Ensemble::new(n, members).unwrap();
            for linkage in [Linkage::Single, Linkage::Average, Linkage::Complete] {
                let ea = EvidenceAccumulation { linkage, ..Default::default() };
                let c = ea.combine(&ensemble, &blank(n, k), &Context::new(1)).unwrap();
                prop_assert_eq!(&c.labels, &naive(&ensemble, linkage, k), "{:?}", linkage);
            }
        }
    }
}
