//! Validation: some known classes are held out, and score the result of the others.

use std::sync::Arc;

use mustlink::constraints::Constraints;
use mustlink::run::Transformed;
use mustlink::text::count;
use mustlink::{Context, Error, Group, Problem, Result};
use mustlink_datasets::Classes;
use mustlink_experiments::{MOST_OF_CLASSES, Split, critical_t};
use mustlink_kernels::agreement::annotators::kappa;
use serde::Serialize;

use crate::job::Job;

const FOLDS: usize = 5;
const REPEATS: usize = 5;
const ONE_CLASS: &str = "all known objects have the same class, so nothing can be compared";

fn refused<T>(why: &str) -> Result<T> {
    Err(Error::Usage(format!("--validate: {why}")))
}

/// The method with the known classes of four folds and without any, judged by the fifth.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Validation {
    /// Objects of known class.
    known: usize,
    /// Folds that could be judged, of 5 × 5.
    folds: usize,
    /// Mean agreement with the classes held out: κ of the pairs of one held-out object and one other of
    /// known class, which is the adjusted Rand index of these pairs (Warrens 2008).
    with_labels: f64,
    without_labels: f64,
    /// Mean difference, above 0 where the classes help.
    difference: f64,
    /// Its 95 % interval by the t statistic corrected for folds that share objects (Nadeau and Bengio
    /// 2003).
    interval: (f64, f64),
}

impl Validation {
    /// For people.
    pub fn text(&self) -> String {
        let (low, high) = self.interval;
        let says = match (low > 0.0, high < 0.0) {
            (true, _) => "the known classes help",
            (_, true) => "the known classes harm",
            _ => "not shown to help or to harm",
        };
        format!(
            "{} objects of known class held out in {FOLDS} folds, {REPEATS} times: ARI of the held-out objects {:.3} \
             with the known classes, {:.3} without them; difference {:+.3}, 95 % interval {low:+.3} to {high:+.3}: \
             {says}",
            self.known, self.with_labels, self.without_labels, self.difference
        )
    }

    /// Checks what can be checked before anything runs.
    ///
    /// # Errors
    /// `Usage` with fewer than two objects of known class a fold, or of one class alone, and for a method that
    /// reads no constraints.
    pub fn check(job: &Job) -> Result<()> {
        let sizes = job.set.known.as_ref().map(Classes::sizes).unwrap_or_default();
        let (objects, least) = (sizes.iter().sum::<usize>(), 2 * FOLDS);
        if objects < least {
            return refused(&format!(
                "the class is known for {}, but at least {least} are needed",
                count(objects, "object")
            ));
        }
        if sizes.iter().filter(|size| **size > 0).count() < 2 {
            return refused(ONE_CLASS);
        }
        if let Some(unread) = job.method.unread_by() {
            return refused(&format!(
                "{unread} ignores constraints, so known classes change nothing; give --clusterer pck_means"
            ));
        }
        Ok(())
    }

    /// Clusters `seen` 30 times: under the classes of four folds each, and under none.
    ///
    /// # Errors
    /// `Usage` without known classes, or where no fold can be judged; those of the method.
    pub fn new(job: &Job, seen: &Transformed, ctx: &Context) -> Result<Validation> {
        let Some(known) = &job.set.known else {
            return refused("no classes are known; name their column with --labels");
        };
        let objects: Vec<usize> = (0..job.set.n()).filter(|&i| known.labels[i].is_some()).collect();
        let classes: Vec<Option<u32>> = objects.iter().map(|&i| known.labels[i]).collect();
        let split = Split::Kfold { folds: FOLDS, repeats: REPEATS, stratified: true };
        let mut scores: Vec<(f64, f64)> = Vec::new();
        for repeat in 0..REPEATS {
            // The user did not ask to cluster without the classes, so a warning about it would mislead.
            let ctx = ctx.child("validation").index(repeat).for_trial();
            let cluster = |constraints: Constraints| -> Result<Vec<u32>> {
                let constraints = Arc::new(constraints);
                let under = Problem { constraints, ..seen.problem.clone() };
                Ok(job.method.cluster(&under, job.steps, &ctx)?.1.clustering.labels)
            };
            let is_known = |i: u32| known.labels[i as usize].is_some();
            let given = &seen.problem.constraints;
            // Thousands of known classes are a group, all of it known, whose pairs nobody can list.
            let all_known = |group: &&Group| group.members.iter().all(|&i| is_known(i));
            let groups = given.groups().iter().filter(|group| !all_known(group));
            let pairs = given.listed().iter().copied().chain(groups.flat_map(Group::pairs));
            let others = pairs.filter(|c| !(is_known(c.i) && is_known(c.j)));
            let others = Constraints::new(seen.problem.n(), others)?;
            let without = cluster(others.clone())?;
            let folds = split.tests(objects.len(), Some(&classes), ctx.path(), repeat)?;
            for (fold, test) in folds.into_iter().flatten().enumerate() {
                let mut held = vec![false; job.set.n()];
                objects.iter().zip(&test).for_each(|(&i, &held_out)| held[i] = held_out);
                let told = job.set.known_constraints_of(MOST_OF_CLASSES, |i| !held[i])?;
                let inside = others.within(|i| !held[i]).0;
                let with = cluster(inside.union(&told, job.set.n())?)?;
                let judged =
                    |labels: &[u32]| kappa_of_pairs(labels, &known.labels, &objects, &held);
                scores.extend(judged(&with).zip(judged(&without)));
                ctx.progress((repeat * FOLDS + fold + 1) as u64, Some((REPEATS * FOLDS) as u64));
            }
        }
        let folds = scores.len();
        if folds < 2 {
            return refused(ONE_CLASS);
        }
        let mean =
            |of: &dyn Fn(&(f64, f64)) -> f64| scores.iter().map(of).sum::<f64>() / folds as f64;
        let difference = mean(&|s| s.0 - s.1);
        let variance = scores.iter().map(|s| (s.0 - s.1 - difference).powi(2)).sum::<f64>()
            / (folds - 1) as f64;
        let factor = 1.0 / folds as f64 + 1.0 / (FOLDS - 1) as f64;
        let half =
            critical_t(0.95, folds - 1).unwrap_or(f64::INFINITY) * (variance * factor).sqrt();
        Ok(Validation {
            known: objects.len(),
            folds,
            with_labels: mean(&|s| s.0),
            without_labels: mean(&|s| s.1),
            difference,
            interval: (difference - half, difference + half),
        })
    }
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
