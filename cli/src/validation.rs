//! Validation: some known classes, or some pairs, are held out and score the result of the others.

use std::sync::Arc;

use mustlink::constraints::{Constraint, Constraints, Kind};
use mustlink::run::Transformed;
use mustlink::text::count;
use mustlink::{Context, Error, Group, Problem, Result};
use mustlink_experiments::{MOST_OF_CLASSES, Split, critical_t};
use mustlink_kernels::agreement::annotators::kappa;
use mustlink_kernels::constrained::pair_folds::folds;
use serde::Serialize;

use crate::job::Job;

const FOLDS: usize = 5;
const REPEATS: usize = 5;
const ONE_CLASS: &str = "all known objects have the same class, so nothing can be compared";

fn refused<T>(why: &str) -> Result<T> {
    Err(Error::Usage(format!("--validate: {why}")))
}

/// The method with four folds of the known classes or pairs and without any, judged by the fifth.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Validation {
    held_out: HeldOut,
    /// Objects of known class, or pairs.
    known: usize,
    /// Folds that could be judged, of 5 × 5.
    folds: usize,
    /// Mean agreement with the held-out classes: κ of the pairs of one held-out object and one other of known class,
    /// which is the adjusted Rand index of these pairs (Warrens 2008). For held-out pairs, the mean of the shares of
    /// must-links and of cannot-links that the clusters satisfy, among pairs that do not follow from the others.
    with: f64,
    without: f64,
    /// Mean difference, above 0 where the classes or pairs help.
    difference: f64,
    /// Its 95 % interval by the t statistic corrected for folds that share objects (Nadeau and Bengio
    /// 2003).
    interval: (f64, f64),
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum HeldOut {
    Classes,
    Pairs,
}

impl Validation {
    /// For people.
    pub fn text(&self) -> String {
        let (of_what, measure, given) = match self.held_out {
            HeldOut::Classes => {
                ("objects of known class", "ARI of the held-out objects", "known classes")
            }
            HeldOut::Pairs => ("pairs", "share satisfied, mean of both types,", "other pairs"),
        };
        let what = given.trim_start_matches("other ");
        let (low, high) = self.interval;
        let says = match (low > 0.0, high < 0.0) {
            (true, _) => format!("the {what} help"),
            (_, true) => format!("the {what} harm"),
            _ => "not shown to help or to harm".into(),
        };
        format!(
            "{} {of_what} held out in {FOLDS} folds, {REPEATS} times: {measure} {:.3} with the {given}, {:.3} without \
             them; difference {:+.3}, 95 % interval {low:+.3} to {high:+.3}: {says}",
            self.known, self.with, self.without, self.difference
        )
    }

    /// Checks what can be checked before anything runs.
    ///
    /// # Errors
    /// `Usage` for too few known objects or pairs, or for one class or one type alone, and for a method that reads no
    /// constraints.
    pub fn check(job: &Job) -> Result<()> {
        if let Some(known) = &job.set.known {
            let (sizes, least) = (known.sizes(), 2 * FOLDS);
            let objects = sizes.iter().sum::<usize>();
            if objects < least {
                return refused(&format!(
                    "the class is known for {}, but at least {least} are needed",
                    count(objects, "object")
                ));
            }
            if sizes.iter().filter(|size| **size > 0).count() < 2 {
                return refused(ONE_CLASS);
            }
        } else if job.method.selector.is_none() {
            enough(&job.problem.constraints)?;
        }
        if job.method.clusterer.is_none() {
            return refused(
                "needs a clusterer, because it clusters again; give --clusterer pck_means",
            );
        }
        if let Some(unread) = job.method.unread_by() {
            return refused(&format!(
                "{unread} ignores constraints, so they change nothing; give --clusterer pck_means"
            ));
        }
        Ok(())
    }

    /// Clusters `seen` 30 times: under the classes or pairs of four folds each, and under none. `all`: the given pairs
    /// and the answers.
    ///
    /// # Errors
    /// `Usage` if no fold can be judged; the errors of the method.
    pub fn new(job: &Job, seen: &Transformed, all: &Constraints, ctx: &Context) -> Result<Self> {
        if job.set.known.is_some() {
            return Validation::of_classes(job, seen, ctx);
        }
        enough(all)?;
        let (n, pairs) = (seen.problem.n(), all.listed());
        let groups: Vec<Constraint> = all.groups().iter().flat_map(Group::pairs).collect();
        let mut scores: Vec<(f64, f64)> = Vec::new();
        for repeat in 0..REPEATS {
            let ctx = ctx.child("validation").index(repeat).for_trial();
            let cluster = |kept: &[usize]| {
                let given = kept.iter().map(|&p| pairs[p]).chain(groups.iter().copied());
                labels(job, seen, Constraints::new(n, given)?, &ctx)
            };
            let without = cluster(&[])?;
            let stream = &mut ctx.stream("folds");
            for (at, fold) in
                folds(pairs, &groups, n, seen.problem.k, FOLDS, stream)?.iter().enumerate()
            {
                let with = cluster(&fold.kept)?;
                let tested: Vec<Constraint> = fold.tested.iter().map(|&p| pairs[p]).collect();
                scores.push((share_met(&with, &tested), share_met(&without, &tested)));
                ctx.progress((repeat * FOLDS + at + 1) as u64, Some((REPEATS * FOLDS) as u64));
            }
        }
        Validation::of_scores(HeldOut::Pairs, pairs.len(), &scores)
    }

    /// The validation by held-out classes.
    fn of_classes(job: &Job, seen: &Transformed, ctx: &Context) -> Result<Self> {
        let Some(known) = &job.set.known else { return refused(ONE_CLASS) };
        let objects: Vec<usize> = (0..job.set.n()).filter(|&i| known.labels[i].is_some()).collect();
        let classes: Vec<Option<u32>> = objects.iter().map(|&i| known.labels[i]).collect();
        let split = Split::Kfold { folds: FOLDS, repeats: REPEATS, stratified: true };
        let mut scores: Vec<(f64, f64)> = Vec::new();
        for repeat in 0..REPEATS {
            // The user did not ask to cluster without the classes, so a warning about it would mislead.
            let ctx = ctx.child("validation").index(repeat).for_trial();
            let is_known = |i: u32| known.labels[i as usize].is_some();
            let given = &seen.problem.constraints;
            // Thousands of known classes are a group, all of it known, whose pairs nobody can list.
            let all_known = |group: &&Group| group.members.iter().all(|&i| is_known(i));
            let groups = given.groups().iter().filter(|group| !all_known(group));
            let pairs = given.listed().iter().copied().chain(groups.flat_map(Group::pairs));
            let others = pairs.filter(|c| !(is_known(c.i) && is_known(c.j)));
            let others = Constraints::new(seen.problem.n(), others)?;
            let without = labels(job, seen, others.clone(), &ctx)?;
            let folds = split.tests(objects.len(), Some(&classes), ctx.path(), repeat)?;
            for (fold, test) in folds.into_iter().flatten().enumerate() {
                let mut held = vec![false; job.set.n()];
                objects.iter().zip(&test).for_each(|(&i, &held_out)| held[i] = held_out);
                let told = job.set.known_constraints_of(MOST_OF_CLASSES, |i| !held[i])?;
                let with = labels(job, seen, others.union(&told, job.set.n())?, &ctx)?;
                let judged =
                    |labels: &[u32]| kappa_of_pairs(labels, &known.labels, &objects, &held);
                scores.extend(judged(&with).zip(judged(&without)));
                ctx.progress((repeat * FOLDS + fold + 1) as u64, Some((REPEATS * FOLDS) as u64));
            }
        }
        Validation::of_scores(HeldOut::Classes, objects.len(), &scores)
    }

    /// The comparison of the scores with and without, one pair for each fold.
    fn of_scores(held_out: HeldOut, known: usize, scores: &[(f64, f64)]) -> Result<Self> {
        let folds = scores.len();
        if folds < 2 {
            return refused(match held_out {
                HeldOut::Classes => ONE_CLASS,
                HeldOut::Pairs => "every pair follows from the others, so nothing can be held out",
            });
        }
        let mean =
            |of: &dyn Fn(&(f64, f64)) -> f64| scores.iter().map(of).sum::<f64>() / folds as f64;
        let difference = mean(&|s| s.0 - s.1);
        let variance = scores.iter().map(|s| (s.0 - s.1 - difference).powi(2)).sum::<f64>()
            / (folds - 1) as f64;
        let factor = 1.0 / folds as f64 + 1.0 / (FOLDS - 1) as f64;
        let half =
            critical_t(0.95, folds - 1).unwrap_or(f64::INFINITY) * (variance * factor).sqrt();
        let (with, without) = (mean(&|s| s.0), mean(&|s| s.1));
        let interval = (difference - half, difference + half);
        Ok(Validation { held_out, known, folds, with, without, difference, interval })
    }
}

/// The labels of the method under these constraints.
fn labels(
    job: &Job,
    seen: &Transformed,
    constraints: Constraints,
    ctx: &Context,
) -> Result<Vec<u32>> {
    let under = Problem { constraints: Arc::new(constraints), ..seen.problem.clone() };
    Ok(job.method.cluster(&under, job.steps, ctx)?.1.clustering.labels)
}

/// Refuses constraints of which some fold would have none of one type.
fn enough(constraints: &Constraints) -> Result<()> {
    let listed = |kind| constraints.listed().iter().filter(|c| c.kind == kind).count();
    let (must, cannot) = (listed(Kind::MustLink), listed(Kind::CannotLink));
    if must.min(cannot) >= FOLDS {
        return Ok(());
    }
    refused(&format!(
        "at least {FOLDS} must-links and {FOLDS} cannot-links are needed, but there are {must} and {cannot}"
    ))
}

/// The share of these pairs that clusters satisfy: the mean of the shares of both types if there are both.
fn share_met(labels: &[u32], pairs: &[Constraint]) -> f64 {
    let shares = [Kind::MustLink, Kind::CannotLink].map(|kind| {
        let of_kind = || pairs.iter().filter(|c| c.kind == kind);
        let met = of_kind().filter(|c| !c.is_violated(labels)).count();
        (of_kind().count() > 0).then(|| met as f64 / of_kind().count() as f64)
    });
    let shares: Vec<f64> = shares.into_iter().flatten().collect();
    shares.iter().sum::<f64>() / shares.len().max(1) as f64
}

/// κ of the pairs of one held-out and one other of `objects`: are they together in clusters and classes?
/// `None` where they all are, or none is, in both.
fn kappa_of_pairs(
    labels: &[u32],
    classes: &[Option<u32>],
    objects: &[usize],
    held: &[bool],
) -> Option<f64> {
    let pairs = objects.iter().enumerate().flat_map(move |(at, &i)| {
        let others = objects[..at].iter().filter(move |&&j| held[i] || held[j]);
        others.map(move |&j| (labels[i] == labels[j], classes[i] == classes[j]))
    });
    kappa(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kappa_of_pairs_is_one_for_the_classes_and_none_where_nothing_differs() {
        let classes = [Some(0), Some(0), Some(1), Some(1), None];
        let objects = [0, 1, 2, 3];
        let held = [true, false, false, true, false];
        assert_eq!(kappa_of_pairs(&[5, 5, 2, 2, 2], &classes, &objects, &held), Some(1.0));
        // Pairs 0-1, 0-2, 0-3, 1-3, 2-3: together in clusters 0-2 and 1-3, in classes 0-1 and 2-3.
        let crossed = kappa_of_pairs(&[0, 1, 0, 1, 0], &classes, &objects, &held).unwrap();
        assert!((crossed + 2.0 / 3.0).abs() < 1e-12, "{crossed}");
        assert_eq!(kappa_of_pairs(&[0; 5], &[Some(0); 5], &objects, &held), None);
    }
}
