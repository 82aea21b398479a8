//! Voting: the cluster that most members choose, after their labels are matched.

use mustlink_core::clustering::compact;
use mustlink_core::ensemble::without_empty;
use mustlink_core::prelude::*;
use mustlink_kernels::agreement::contingency::adjusted_rand;
use mustlink_kernels::agreement::members::shared;
use ndarray::Array2;

use crate::parts::canonical_ensemble::trivial;
use crate::parts::matching::matched;
use crate::parts::weights::{Scheme, Weights};

/// Voting: labels of every member are matched to a reference, then each object takes the majority.
///
/// # Method
/// The matching maximises the overlap with the reference (linear assignment). Surplus clusters go to the reference
/// cluster with which they overlap most. Memberships are shares of votes. Constraints are soft: any may be broken. By
/// default the weight of a vote is how much better than chance its member satisfies the constraints (`weights`), and
/// the reference is the medoid of the members that satisfy them best.
/// # Input and output
/// Any ensemble; missing labels do not vote. At most as many clusters as the reference. If the reference lacks labels,
/// clusters that share no object with it are added.
/// # Errors
/// `BadParam` when the reference is "labels" and the problem has no start of labels.
/// # Cost and randomness
/// O(τ(n + k² log k)), k³ if all clusters share objects with all others, and O(τ²n) for the medoid. Not random.
/// # References
/// [DudoitFridlyand2003]; [Zhang2022] for weights of members; weights by constraints are this project's own.
#[options]
pub struct Voting {
    /// Reference to which the labels of members are matched.
    pub reference: Reference,
    /// Match all members to the result again until nothing changes (at most 20 times).
    pub iterate: bool,
    /// Let members that have memberships vote with them, not with their labels.
    pub memberships: bool,
    /// Weights of the members; without constraints the default is `uniform`.
    #[option(default = Weights::Scheme(Scheme::Constraints))]
    pub weights: Weights,
}

/// Reference to which the labels of members are matched.
#[options]
pub enum Reference {
    /// The member with the highest mean adjusted Rand index to the others. With `weights = "constraints"`, the member
    /// that satisfies the constraints best; the index then decides between equal members. Members with less than nine
    /// tenths of the labels of another are not taken.
    #[default]
    Medoid,
    /// The first member.
    First,
    /// The labels given as the start of the problem.
    Labels,
}

#[plugin("voting", aliases = ["majority_voting"], cites = ["DudoitFridlyand2003", "Zhang2022"], version = 6)]
impl ConsensusFunction for Voting {
    fn combine(&self, ensemble: &Ensemble, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let n = ensemble.n();
        if let Some(trivial) = problem.k.and_then(|k| trivial(n, k)) {
            return Ok(trivial);
        }
        let members = self.weights.counting(ensemble, problem, ctx)?;
        let mut reference = match self.reference {
            Reference::First => members[0].0.labels.clone(),
            Reference::Medoid => {
                let heard = self.weights.read_constraints() && !problem.constraints.is_empty();
                members[medoid(&members, heard, ctx)?].0.labels.clone()
            }
            Reference::Labels => match problem.start.as_deref() {
                Some(Start::Labels(l)) if l.len() == n => compact(l).0,
                _ => {
                    return Err(Error::bad_param(
                        "reference",
                        "\"labels\" without a start",
                        format!("used with a start of {n} labels"),
                    ));
                }
            },
        };
        let rounds = if self.iterate { 20 } else { 1 };
        let mut memberships = Array2::zeros((0, 0));
        for _ in 0..rounds {
            let (labels, votes) = self.vote(n, &members, &reference, ctx)?;
            memberships = votes;
            let changed = labels != reference;
            reference = labels;
            if !changed {
                break;
            }
        }
        let width = memberships.ncols();
        let extras = Extras { memberships: Some(memberships), ..Extras::default() };
        let extras = without_empty(extras, &reference, width);
        let (labels, k) = compact(&reference);
        Ok(Clustering { labels, k, extras, ..Clustering::default() })
    }

    fn needs(&self) -> Needs {
        Needs {
            labels_only: !self.memberships,
            reads_constraints: self.weights.read_constraints(),
            ..Needs::default()
        }
    }

    fn memory(&self, shape: &Shape, _members: usize) -> u64 {
        // Shares of votes, and the overlap of a member with the reference.
        (100 * shape.n + 8 * shape.n * shape.k + 200 * shape.k) as u64
    }

    fn operations(&self, shape: &Shape, members: usize) -> f64 {
        let (n, tau) = (shape.n as f64, members as f64);
        let medoid = if self.reference == Reference::Medoid { 15.0 * n * tau * tau } else { 0.0 };
        let rounds = if self.iterate { 5.0 } else { 1.0 };
        let k = shape.k as f64;
        let matching = rounds * tau * (n + k * k * (1.0 + k.log2()));
        medoid + matching + self.weights.operations(shape, members)
    }
}

/// The member with the highest mean adjusted Rand index to the others, where constraints are `heard` of
/// those with the largest weight; ties by lowest index. A member counts as often as it weighs, so that what
/// weighs more than another agrees with itself as well.
fn medoid(members: &[(&Member, f64)], heard: bool, ctx: &Context) -> Result<usize> {
    let least = members.iter().map(|(m, _)| m.weight).fold(f64::INFINITY, f64::min);
    let scores = reduce::try_map(members.len(), |t| -> Result<(f64, f64)> {
        ctx.check()?;
        let (own, weight) = members[t];
        let others = members.iter().enumerate().filter(|(s, _)| *s != t);
        let agreement = others.map(|(_, (m, _))| {
            let (a, b) = shared(&own.labels, &m.labels);
            // On fewer than two objects all agree.
            if a.len() > 1 { m.weight * adjusted_rand(&a, &b) } else { 0.0 }
        });
        let agreement = agreement.sum::<f64>() + (own.weight - least);
        Ok((if heard { weight } else { 0.0 }, agreement))
    })?;
    let known = |m: &Member| m.labels.iter().filter(|&&l| l != NONE).count();
    let known: Vec<usize> = members.iter().map(|(m, _)| known(m)).collect();
    let most = known.iter().max().copied().unwrap_or(0);
    let complete = (0..members.len()).filter(|&t| 10 * known[t] >= 9 * most);
    Ok(complete.reduce(|best, t| if scores[t] > scores[best] { t } else { best }).unwrap_or(0))
}

/// Adds the clusters of `member` that share no object with `reference` to it, as further clusters after the first `k`.
/// `targets` are then theirs. Returns the number of clusters.
fn add_unmet(member: &Member, reference: &mut [u32], targets: &mut [usize], mut k: usize) -> usize {
    let mut unmet = vec![true; member.k];
    let labelled = member.labels.iter().zip(&*reference);
    labelled
        .filter(|(l, own)| **l != NONE && **own != NONE)
        .for_each(|(l, _)| unmet[*l as usize] = false);
    let mut added = vec![NONE; member.k];
    for (own, &l) in reference.iter_mut().zip(&member.labels) {
        if l == NONE || !unmet[l as usize] {
            continue;
        }
        if added[l as usize] == NONE {
            added[l as usize] = k as u32;
            targets[l as usize] = k;
            k += 1;
        }
        *own = added[l as usize];
    }
    k
}

impl Voting {
    /// Labels by majority and shares of votes, n × clusters of the reference.
    fn vote(
        &self,
        n: usize,
        members: &[(&Member, f64)],
        reference: &[u32],
        ctx: &Context,
    ) -> Result<(Vec<u32>, Array2<f64>)> {
        let mut k = reference.iter().filter(|&&l| l != NONE).max().map_or(1, |&m| m as usize + 1);
        let (mut complete, mut all_targets) =
            (reference.to_vec(), Vec::with_capacity(members.len()));
        for (member, _) in members {
            ctx.check()?;
            // The names of its clusters that overlap the reference most.
            let mut targets = matched(&member.labels, &complete, (member.k, k), ctx)?;
            if complete.contains(&NONE) {
                k = add_unmet(member, &mut complete, &mut targets, k);
            }
            all_targets.push(targets);
        }
        let mut votes: Array2<f64> = Array2::zeros((n, k));
        for (&(member, weight), targets) in members.iter().zip(&all_targets) {
            // Its votes under those names.
            let soft = member
                .extras
                .memberships
                .as_ref()
                .filter(|table| self.memberships && table.dim() == (n, member.k));
            for (i, &l) in member.labels.iter().enumerate().filter(|(_, l)| **l != NONE) {
                match soft {
                    Some(table) => {
                        let row = table.row(i);
                        row.iter().zip(targets).for_each(|(u, &c)| votes[[i, c]] += weight * u);
                    }
                    None => votes[[i, targets[l as usize]]] += weight,
                }
            }
        }
        // The majority; of several clusters with most votes the reference's, else the first. Sums of fractions are as
        // many in another order of the members, and differ by rounding: at most by this share.
        let rounding = f64::EPSILON * members.iter().map(|(m, _)| m.k).sum::<usize>() as f64;
        let labels = (0..n)
            .map(|i| {
                let row = votes.row(i);
                let most = row.iter().copied().fold(0.0, f64::max);
                let is_most = |v: f64| v >= most - rounding * most;
                let own = reference[i];
                if own != NONE && is_most(row[own as usize]) {
                    return own;
                }
                row.iter().position(|&v| is_most(v)).expect("some count is the largest") as u32
            })
            .collect();
        for mut row in votes.rows_mut() {
            let total = row.sum();
            row.mapv_inplace(|v| if total > 0.0 { v / total } else { 1.0 / k as f64 });
        }
        Ok((labels, votes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The worked example E12: 12 objects, 5 members.
    fn e12() -> (Ensemble, Problem) {
        let members = [
            [0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2],
            [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2],
            [0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2],
            [0, 0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 2],
            [0, 0, 0, 0, 3, 1, 1, 1, 1, 2, 2, 2],
        ];
        // Member 5 keeps its printed label 3 for object 4: clusters are matched, not numbered.
        let members =
            members.iter().map(|m| Member { labels: m.to_vec(), k: 4, ..Member::default() });
        let data = Data::dense(Array2::zeros((12, 1))).unwrap();
        (Ensemble::new(12, members.collect()).unwrap(), Problem::new(data).with_k(3))
    }

    #[test]
    fn worked_example() {
        let (ensemble, problem) = e12();
        let voting = Voting { reference: Reference::First, ..Voting::default() };
        let c = voting.combine(&ensemble, &problem, &Context::new(1)).unwrap();
        assert_eq!(c.labels, [0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2]);
        let votes = c.extras.memberships.unwrap().mapv(|v| (v * 5.0).round() as u32);
        assert_eq!(votes.row(4).to_vec(), [2, 3, 0]);
        assert_eq!(votes.row(8).to_vec(), [0, 3, 2]);
    }

    /// Regression test: clusters that the reference did not cover were merged into its first one.
    #[test]
    fn groups_that_few_members_cover_stay_apart() {
        let label = |t: usize, covers: usize| if t < covers { t as u32 } else { NONE };
        let member = |covers: usize, k| Member {
            labels: (0..40).map(|i| label(i % 4, covers)).collect(),
            k,
            ..Member::default()
        };
        let data = Data::dense(Array2::zeros((40, 1))).unwrap();
        let (partial, whole) = (member(2, 2), member(4, 4));
        let orders = [
            vec![partial.clone(), partial.clone(), whole.clone(), whole.clone()],
            vec![whole.clone(), partial.clone(), partial.clone(), whole.clone()],
        ];
        for members in orders {
            let ensemble = Ensemble::new(40, members).unwrap();
            for reference in [Reference::Medoid, Reference::First] {
                let voting = Voting { reference, ..Voting::default() };
                let problem = Problem::new(data.clone());
                let found = voting.combine(&ensemble, &problem, &Context::new(1)).unwrap();
                assert_eq!(found.labels, (0..40).map(|i| i % 4).collect::<Vec<u32>>());
            }
        }
    }

    #[test]
    fn it_looks_at_the_flag_for_every_member() {
        let (ensemble, problem) = e12();
        let ctx = Context::builder(SeedPath::new(1)).count_looks().build();
        Voting::default().combine(&ensemble, &problem, &ctx).unwrap();
        // Once where it is compared with the others, and once where its labels are matched.
        assert!(ctx.looks() >= 10, "{}", ctx.looks());
    }

    #[test]
    fn the_memory_of_many_clusters_counts_their_votes() {
        let shape = |k| Shape { n: 1000, d: 1, k, entries: 1000, constraints: 0 };
        let voting = Voting::default();
        let more = voting.memory(&shape(1000), 5) - voting.memory(&shape(1), 5);
        // Not a table of all clusters beside all others.
        assert!((7_990_000..8_300_000).contains(&more), "{more}");
    }

    #[test]
    fn members_that_meet_the_constraints_are_heard() {
        let (ensemble, problem) = e12();
        // Met by the second member alone: of the others, 1, 3 and 4 break the cannot-link, 1, 2 and 4 the
        // must-link (members counted from 0).
        let pairs = [Constraint::must(8, 9), Constraint::must(0, 4), Constraint::cannot(9, 10)];
        let given = Constraints::new(12, pairs).unwrap();
        let with = problem.clone().with_constraints(given);
        let of = |voting: Voting, problem: &Problem| {
            voting.combine(&ensemble, problem, &Context::new(1)).unwrap().labels
        };
        let weights = Weights::Scheme(Scheme::Constraints);
        let weights = weights.of(&ensemble, &with, &Context::new(1)).unwrap();
        assert_eq!(
            weights.iter().map(|&w| w > 0.0).collect::<Vec<_>>(),
            [false, true, false, false, false]
        );
        assert_eq!(of(Voting::default(), &with), ensemble.members()[1].labels);
        // Without constraints, or unheard, all vote alike.
        let plain = Voting { weights: Weights::default(), ..Voting::default() };
        assert_eq!(of(Voting::default(), &problem), of(plain.clone(), &problem));
        assert_eq!(of(plain.clone(), &with), of(plain, &problem));
    }

    #[test]
    fn weights_and_memberships_decide() {
        let (ensemble, problem) = e12();
        // Alone, the second member decides object 4, which the first puts elsewhere.
        let weights = Weights::Given(vec![1.0, 9.0, 0.0, 0.0, 0.0]);
        let voting = Voting { reference: Reference::First, weights, ..Voting::default() };
        let c = voting.combine(&ensemble, &problem, &Context::new(1)).unwrap();
        assert_eq!(c.labels[4], c.labels[0]);
        // Two doubtful members for 0 against one certain one for 1.
        let table = |p: f64| {
            Array2::from_shape_fn((3, 2), |(i, l)| match (i, l) {
                (0, 0) => p,
                (0, 1) => 1.0 - p,
                (i, l) => f64::from(u8::from((i == 2) == (l == 1))),
            })
        };
        let member = |labels: &[u32], p| {
            let extras = Extras { memberships: Some(table(p)), ..Extras::default() };
            Member { extras, ..Member::from_labels(labels) }
        };
        let members = vec![
            member(&[0, 0, 1], 0.55),
            member(&[0, 0, 1], 0.55),
            Member { labels: vec![1, 0, 1], ..member(&[0, 0, 1], 0.0) },
        ];
        let ensemble = Ensemble::new(3, members).unwrap();
        let hard = Voting { reference: Reference::First, ..Voting::default() };
        let soft = Voting { memberships: true, ..hard.clone() };
        let problem = Problem::new(Data::dense(Array2::zeros((3, 1))).unwrap()).with_k(2);
        let of = |v: Voting| v.combine(&ensemble, &problem, &Context::new(1)).unwrap().labels;
        assert_eq!(of(hard), [0, 0, 1]);
        assert_eq!(of(soft), [0, 1, 0]);
    }

    #[test]
    fn equal_votes_are_equal_in_any_order_of_the_members() {
        let problem = Problem::new(Data::dense(Array2::zeros((5, 1))).unwrap());
        // The first member has as many votes on the third object as the others together.
        for weights in [[0.7, 0.1, 0.2, 0.4], [0.7, 0.4, 0.2, 0.1]] {
            let others = [0, 0, 1, 1, 1];
            let members = [[0, 0, 0, 1, 1], others, others, others];
            let members = members.iter().map(|l| Member::from_labels(l)).collect();
            let ensemble = Ensemble::new(5, members).unwrap();
            let weights = Weights::Given(weights.to_vec());
            let voting = Voting { reference: Reference::First, weights, ..Voting::default() };
            let c = voting.combine(&ensemble, &problem, &Context::new(1)).unwrap();
            assert_eq!(c.labels, [0, 0, 0, 1, 1]);
        }
    }

    #[test]
    fn members_that_miss_an_object_do_not_vote_on_it() {
        let labels = [[0, 0, NONE, 1], [0, 0, 1, 1], [0, 0, 1, 1]];
        let members =
            labels.iter().map(|l| Member { labels: l.to_vec(), k: 2, ..Member::default() });
        let ensemble = Ensemble::new(4, members.collect()).unwrap();
        let problem = Problem::new(Data::dense(Array2::zeros((4, 1))).unwrap());
        let c = Voting::default().combine(&ensemble, &problem, &Context::new(1)).unwrap();
        assert_eq!(c.labels, [0, 0, 1, 1]);
    }
}
