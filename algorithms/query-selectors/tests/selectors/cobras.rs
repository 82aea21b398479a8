use std::collections::{HashMap, HashSet};

use mustlink_core::clustering::canonical;
use mustlink_core::knowledge::Knowledge;
use mustlink_core::prelude::*;
use mustlink_core::selection::{ConstraintView, Selection};
use mustlink_kernels::distance::points::{Distortion, Points};
use mustlink_query_selectors::cobra::{Cobra, SuperInstances};
use mustlink_query_selectors::cobras::{Cobras, Compare};
use mustlink_query_selectors::ncobras::Ncobras;
use mustlink_query_selectors::repair::Repair;
use proptest::prelude::*;

use crate::support::{Case, Slices, cases, erratic, line, questions, select, truth};

fn sliced(compare: Compare) -> Cobras {
    Cobras { compare, clusterer: Some(Box::new(Slices {})), ..Cobras::default() }
}

/// The case with rows of which no two are equal.
fn distinct(case: Case) -> Case {
    let x = case.problem.data.to_dense();
    let moved = ndarray::Array2::from_shape_fn(x.dim(), |(i, f)| {
        x[[i, f]] + 1e-3 * ((i * 7919 + f * 104_729 + 1) as f64).sin()
    });
    let data = Data::dense(moved).unwrap();
    Case { problem: Problem { data, ..case.problem.clone() }, ..case }
}

/// Procedure of cobra.md §2 taken literally, over clusters as lists of super-instances, for a
/// clusterer that is not random and replies "yes" or "no".
struct Literal<'a, F> {
    problem: &'a Problem,
    compare: Compare,
    reply: F,
    answers: Vec<(u32, u32, Reply)>,
}

/// Members, ascending, representative, and when it came.
#[derive(Clone, PartialEq)]
struct Part(Vec<u32>, u32, usize);

/// The representative of the one that came first.
fn first(cluster: &[Part]) -> u32 {
    cluster.iter().min_by_key(|part| part.2).unwrap().1
}

impl<F: Fn(u32, u32) -> Reply> Literal<'_, F> {
    fn eligible(&self, members: &[u32]) -> Vec<u32> {
        members.iter().copied().filter(|&i| self.problem.is_eligible(i as usize)).collect()
    }

    fn squared(&self, i: u32, j: u32) -> f64 {
        let data = &self.problem.data;
        data.row(i as usize).squared_distance(&data.row(j as usize))
    }

    /// In the order of summing that representatives are compared by.
    fn between(&self, i: u32, j: u32) -> f64 {
        let points = Points::new(&self.problem.data, Distortion::default()).unwrap();
        points.between(i as usize, j as usize)
    }

    fn medoid(&self, members: &[u32]) -> Option<u32> {
        let all = self.eligible(members);
        let sum = |&y: &u32| all.iter().map(|&x| self.squared(x, y)).sum::<f64>();
        let sums: Vec<f64> = all.iter().map(sum).collect();
        let least = sums.iter().copied().fold(f64::INFINITY, f64::min);
        // Sums that differ by rounding alone are ties.
        let at = sums.iter().position(|&s| s <= least * (1.0 + 1e-12))?;
        Some(all[at])
    }

    fn split(&self, whole: &[u32], k: usize) -> Vec<Part> {
        let rows: Vec<usize> = whole.iter().map(|&i| i as usize).collect();
        let labels = if k < whole.len() {
            let part = Problem::new(self.problem.data.subset(&rows)).with_k(k);
            canonical(&Slices {}.cluster(&part, &Context::new(0)).unwrap().labels)
        } else {
            (0..whole.len() as u32).collect()
        };
        let mut parts: Vec<Vec<u32>> = vec![Vec::new(); *labels.iter().max().unwrap() as usize + 1];
        whole.iter().zip(&labels).for_each(|(&i, &l)| parts[l as usize].push(i));
        let mut kept: Vec<Part> = Vec::new();
        let mut lost: Vec<Vec<u32>> = Vec::new();
        for members in parts {
            match self.medoid(&members) {
                Some(representative) => kept.push(Part(members, representative, 0)),
                None => lost.push(members),
            }
        }
        for members in lost {
            let mut mean = vec![0.0; self.problem.d()];
            let row = |i: u32| self.problem.data.row(i as usize);
            members.iter().for_each(|&i| row(i).add_to(&mut mean, 1.0));
            mean.iter_mut().for_each(|v| *v /= members.len() as f64);
            let far = |p: &Part| row(p.1).squared_distance(&Row::Dense(&mean));
            let nearest = (0..kept.len()).min_by(|&a, &b| far(&kept[a]).total_cmp(&far(&kept[b])));
            kept[nearest.unwrap()].0.extend(members);
        }
        kept.iter_mut().for_each(|part| part.0.sort_unstable());
        kept
    }

    /// Relation that follows from the answers so far.
    fn known(&self, i: u32, j: u32) -> Option<Kind> {
        let mut known = Knowledge::new(self.problem.n(), &Constraints::default());
        for &(i, j, reply) in &self.answers {
            known.tell(i, j, reply);
        }
        known.relation(i, j)
    }

    /// Relation that follows from the answers so far, or the reply.
    fn relation(&mut self, i: u32, j: u32) -> Kind {
        if let Some(kind) = self.known(i, j) {
            return kind;
        }
        let (i, j) = (i.min(j), i.max(j));
        let reply = (self.reply)(i, j);
        self.answers.push((i, j, reply));
        if reply == Reply::MustLink { Kind::MustLink } else { Kind::CannotLink }
    }

    fn split_level(&mut self, whole: &[u32]) -> usize {
        let (mut level, mut inside) = (0u32, whole.to_vec());
        loop {
            let halves = self.split(&inside, 2);
            if halves.len() < 2 {
                break;
            }
            match self.relation(halves[0].1, halves[1].1) {
                Kind::CannotLink => level += 1,
                Kind::MustLink => break,
            }
            let can = halves.iter().filter(|half| self.eligible(&half.0).len() >= 2);
            match can.min_by_key(|half| (half.0.len(), half.1)) {
                Some(smaller) => inside = smaller.0.clone(),
                None => break,
            }
        }
        whole.len().min(1 << level.max(1))
    }

    fn merge(&mut self, clusters: &mut Vec<Vec<Part>>) {
        loop {
            let mut pairs: Vec<(f64, u32, u32, usize, usize)> = Vec::new();
            for p in 0..clusters.len() {
                for q in p + 1..clusters.len() {
                    let between = clusters[p].iter().flat_map(|a| {
                        clusters[q].iter().map(move |b| (a.1.min(b.1), a.1.max(b.1)))
                    });
                    let closest = between
                        .map(|(i, j)| (self.between(i, j), i, j))
                        .min_by(|x, y| x.0.total_cmp(&y.0).then((x.1, x.2).cmp(&(y.1, y.2))));
                    let (far, i, j) = closest.unwrap();
                    pairs.push((far, i, j, p, q));
                }
            }
            pairs.sort_by(|x, y| x.0.total_cmp(&y.0).then((x.1, x.2).cmp(&(y.1, y.2))));
            // Known answers first.
            let known = pairs.iter().find(|x| self.known(x.1, x.2) == Some(Kind::MustLink));
            let mut join = known.map(|&(_, _, _, p, q)| (p, q));
            if join.is_none() {
                for (_, i, j, p, q) in pairs {
                    let (i, j) = match self.compare {
                        Compare::Closest => (i, j),
                        Compare::First => (first(&clusters[p]), first(&clusters[q])),
                    };
                    if self.relation(i, j) == Kind::MustLink {
                        join = Some((p, q));
                        break;
                    }
                }
            }
            let Some((p, q)) = join else { return };
            let lost = clusters.remove(q);
            clusters[p].extend(lost);
        }
    }

    fn labels(&self, clusters: &[Vec<Part>]) -> Vec<u32> {
        let mut labels = vec![0; self.problem.n()];
        for (c, cluster) in (0..).zip(clusters) {
            for part in cluster {
                part.0.iter().for_each(|&i| labels[i as usize] = c);
            }
        }
        canonical(&labels)
    }

    fn run(&mut self) -> Vec<u32> {
        let all: Vec<u32> = (0..self.problem.n() as u32).collect();
        let mut valid = vec![0; all.len()];
        let mut came = 0;
        let mut clusters = vec![vec![Part(all.clone(), self.eligible(&all)[0], 0)]];
        let mut marked: HashSet<u32> = HashSet::new();
        loop {
            let can = clusters
                .iter()
                .flatten()
                .filter(|part| self.eligible(&part.0).len() >= 2 && !marked.contains(&part.1));
            let largest = can.max_by_key(|p| (p.0.len(), std::cmp::Reverse(p.1))).cloned();
            let Some(whole) = largest else { return valid };
            let k = self.split_level(&whole.0);
            let parts = self.split(&whole.0, k);
            if parts.len() < 2 {
                marked.insert(whole.1);
                continue;
            }
            clusters.iter_mut().for_each(|c| c.retain(|part| *part != whole));
            clusters.retain(|cluster| !cluster.is_empty());
            for part in parts {
                came += 1;
                clusters.push(vec![Part(part.0, part.1, came)]);
            }
            self.merge(&mut clusters);
            valid = self.labels(&clusters);
        }
    }
}

fn number(clustering: &Clustering, name: &str) -> usize {
    clustering.extras.diagnostics[name] as usize
}

fn at(run: &Selection, p: usize) -> &Clustering {
    run.snapshot(p).expect("cobras clusters")
}

proptest! {
    #[test]
    fn it_asks_what_the_procedure_asks(case in cases(14), first: bool, sense: bool) {
        let case = distinct(case);
        let compare = if first { Compare::First } else { Compare::Closest };
        let nonsense = erratic(case.seed);
        let reply = |i: u32, j: u32| {
            if sense {
                truth(&case.classes)(i, j)
            } else if nonsense(i, j) == Reply::MustLink {
                Reply::MustLink
            } else {
                Reply::CannotLink
            }
        };
        let run = select(&sliced(compare), &case.problem, reply, None, 1).unwrap();
        let mut literal = Literal {
            problem: &case.problem,
            compare,
            reply,
            answers: Vec::new(),
        };
        let end = literal.run();
        let asked: Vec<(u32, u32)> = literal.answers.iter().map(|x| (x.0, x.1)).collect();
        prop_assert_eq!(questions(&run), asked);
        // The procedure breaks answers about objects of a super-instance that cannot be split.
        let queried = run.at(usize::MAX, ConstraintView::Queried).unwrap();
        if queried.violations(&end).total() == 0 {
            prop_assert_eq!(&at(&run, usize::MAX).labels, &end);
        }
    }

    #[test]
    fn without_a_budget_truth_gives_the_target(case in cases(25)) {
        let case = distinct(case);
        let problem = Problem { eligible: None, ..case.problem.clone() };
        for compare in [Compare::Closest, Compare::First] {
            let cobras = Cobras { compare, ..Cobras::default() };
            let run = select(&cobras, &problem, truth(&case.classes), None, case.seed).unwrap();
            let end = at(&run, usize::MAX);
            prop_assert_eq!(&end.labels, &canonical(&case.classes));
            prop_assert_eq!(end.status, Status::Converged);
            prop_assert_eq!(number(end, "super_instances"), problem.n());
        }
    }

    #[test]
    fn an_answer_at_any_time(case in cases(22), budget in 0usize..40) {
        let case = distinct(case);
        let whole = select(&Cobras::default(), &case.problem, truth(&case.classes), None, 1).unwrap();
        let part =
            select(&Cobras::default(), &case.problem, truth(&case.classes), Some(budget), 1).unwrap();
        // A smaller budget asks the same questions first, and stands where the larger one stood.
        prop_assert!(part.asked() <= budget);
        prop_assert!(questions(&whole).starts_with(&questions(&part)));
        prop_assert_eq!(&at(&part, part.asked()).labels, &at(&whole, part.asked()).labels);
    }

    #[test]
    fn every_answer_holds_at_any_time(case in cases(22)) {
        let case = distinct(case);
        let cobras: Box<dyn QuerySelector> = Box::new(Cobras::default());
        let cobra = Cobra { super_instances: SuperInstances::Count(3), ..Cobra::default() };
        let repair = Repair { selector: Some(cobras.clone()), ..Repair::default() };
        let selectors: [Box<dyn QuerySelector>; 4] =
            [cobras, Box::new(cobra), Box::new(Ncobras::default()), Box::new(repair)];
        for selector in selectors {
            let run = select(&*selector, &case.problem, truth(&case.classes), Some(60), 1).unwrap();
            for p in 0..=run.asked() {
                let queried = run.at(p, ConstraintView::Queried).unwrap();
                let broken = queried.violations(&at(&run, p).labels).total();
                prop_assert_eq!(broken, 0, "{} after {} answers", selector.tag(), p);
            }
        }
    }

    #[test]
    fn nobody_knows_is_an_answer(case in cases(16)) {
        for compare in [Compare::Closest, Compare::First] {
            let cobras = Cobras { compare, ..Cobras::default() };
            let run = select(&cobras, &case.problem, erratic(case.seed), None, 1).unwrap();
            let end = at(&run, usize::MAX);
            prop_assert_eq!(end.status, Status::Converged);
            let queried = run.at(usize::MAX, ConstraintView::Queried).unwrap();
            let mut closed: HashMap<(u32, u32), Kind> = HashMap::new();
            for c in queried.pairs() {
                prop_assert_eq!(closed.insert((c.i, c.j), c.kind), None);
            }
        }
    }
}

#[test]
fn what_is_known_is_not_asked() {
    let classes = [0, 0, 1, 1, 0, 2, 2, 1];
    let all = (0..8).flat_map(|j| (0..j).map(move |i| (i, j)));
    let given = all.map(|(i, j)| {
        if classes[i] == classes[j] { Constraint::must(i, j) } else { Constraint::cannot(i, j) }
    });
    let given = Constraints::new(8, given).unwrap();
    let problem = line(&[0.0, 1.0, 2.5, 4.5, 7.0, 7.2, 9.0, 13.0]).with_constraints(given);
    let run = select(&Cobras::default(), &problem, truth(&classes), None, 1).unwrap();
    assert_eq!(run.asked(), 0);
    assert_eq!(at(&run, 0).labels, canonical(&classes));
    assert_eq!(at(&run, 0).status, Status::Converged);
}

#[test]
fn equal_rows_stay_together() {
    let problem = line(&[3.0; 6]);
    let run = select(&Cobras::default(), &problem, truth(&[0, 1, 0, 1, 0, 1]), None, 1).unwrap();
    // K-means has nothing to split: nobody is asked about what the data does not tell apart.
    assert_eq!(run.asked(), 0);
    assert_eq!(at(&run, 0).labels, [0; 6]);
    // Two are told apart by asking.
    let problem = line(&[3.0; 2]);
    let run = select(&Cobras::default(), &problem, truth(&[0, 1]), None, 1).unwrap();
    assert_eq!(questions(&run), [(0, 1)]);
    assert_eq!(at(&run, usize::MAX).labels, [0, 1]);
}

#[test]
fn two_far_groups_take_few_questions() {
    let problem = line(&[0.0, 1.0, 2.0, 3.0, 20.0, 21.0, 22.0, 23.0]);
    let classes = [0, 0, 0, 0, 1, 1, 1, 1];
    let run = select(&sliced(Compare::Closest), &problem, truth(&classes), Some(2), 1).unwrap();
    assert_eq!(questions(&run), [(1, 5), (0, 2)]);
    assert_eq!(at(&run, 0).labels, [0; 8]);
    // The second answer ends the search; split in two, the first one says the rest.
    assert_eq!(at(&run, 2).labels, classes);
    assert_eq!(number(at(&run, 2), "splits"), 1);
}

#[test]
fn halving_may_go_on_for_longer_than_a_number_has_bits() {
    // Of every super-instance k-means parts the largest value alone: the search goes on with all others.
    let values: Vec<f64> = (0..67).map(|e| 4.0f64.powi(e)).collect();
    let classes: Vec<u32> = (0..67).collect();
    let run = select(&Cobras::default(), &line(&values), truth(&classes), None, 1).unwrap();
    assert_eq!(run.asked(), 67 * 66 / 2);
    assert_eq!(at(&run, usize::MAX).labels, classes);
    assert_eq!(number(at(&run, usize::MAX), "splits"), 1);
}

#[test]
fn nobody_to_ask_is_refused() {
    let problem = line(&[0.0, 1.0, 2.0]);
    let none = problem.clone().with_eligible(vec![false; 3]);
    let refused = Cobras::default().start(&none, &Context::new(1)).err().unwrap().to_string();
    assert_eq!(refused, "queryable: must be at least one eligible object, got no object");
    let one = problem.with_eligible(vec![false, true, false]);
    let run = select(&Cobras::default(), &one, truth(&[0, 0, 1]), None, 1).unwrap();
    assert_eq!((run.asked(), at(&run, 0).k), (0, 1));
}
