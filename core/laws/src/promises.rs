//! Promises about constraints, for clusterers and consensus functions.

use super::law::Verdict;
use crate::ensure;
use mustlink_core::clustering::Clustering;
use mustlink_core::constraints::{Constraint, Constraints, Strength};
use mustlink_core::error::Error;
use mustlink_core::problem::Problem;
use mustlink_core::random::SeedPath;
use mustlink_core::roles::Properties;

/// Anything is promised.
pub(super) fn any(promises: &Properties) -> bool {
    promises.hard_must || promises.hard_cannot || promises.hard_if_marked
}

/// A problem whose constraints clusters can hold is solved without breaking a promise, or refused as
/// infeasible; marked hard, too, where marks are promised. `run` itself refuses what breaks one.
pub(super) fn hold(
    promises: &Properties,
    problem: &Problem,
    run: impl Fn(&Problem) -> Result<Clustering, Error>,
) -> Verdict {
    let hard = problem
        .constraints
        .pairs()
        .iter()
        .filter(|c| promises.hard_if_marked || promises.hard(c.kind));
    let hard = hard.map(|c| Constraint { strength: Some(Strength::Hard), ..*c });
    let hard = Constraints::new(problem.n(), hard).map_err(|e| e.to_string())?;
    for asked in [problem.clone(), problem.clone().with_constraints(hard)] {
        match run(&asked).map_err(|e| e.root().clone()) {
            Ok(c) => {
                let pairs = asked.constraints.pairs().iter();
                let broken =
                    pairs.filter(|c| promises.promise(c)).find(|x| x.is_violated(&c.labels));
                ensure!(broken.is_none(), "it breaks {broken:?}");
            }
            Err(Error::InfeasibleConstraints { .. }) => {}
            Err(e) => return Err(e.to_string()),
        }
    }
    Ok(())
}

/// The objects of a problem under constraints that contradict each other.
pub(super) fn contradictory(problem: Problem) -> Problem {
    let pairs = [Constraint::must(0, 1), Constraint::must(1, 2), Constraint::cannot(0, 2)];
    let constraints = Constraints::new(problem.n(), pairs).expect("in range");
    problem.with_constraints(constraints)
}

/// Constraints marked soft with which the others could not be satisfied, because of a contradiction or of too few
/// clusters, are broken.
pub(super) fn soft_marks_refuse_nothing(
    problem: &Problem,
    run: impl Fn(&Problem) -> Result<Clustering, Error>,
) -> Verdict {
    let soft = |c: Constraint| Constraint { strength: Some(Strength::Soft), ..c };
    let others = [Constraint::must(1, 2), Constraint::cannot(0, 2)];
    let chain = [others[0], others[1], soft(Constraint::must(0, 1))];
    let k = problem.k.unwrap_or(2) as u32;
    let all_apart = (0..=k).flat_map(|i| (0..i).map(move |j| (j as usize, i as usize)));
    let clique = all_apart.map(|(i, j)| soft(Constraint::cannot(i, j))).collect();
    for pairs in [chain.to_vec(), clique] {
        let given = Constraints::new(problem.n(), pairs).map_err(|e| e.to_string())?;
        // `run` itself refuses what breaks a promise about the others.
        run(&problem.clone().with_constraints(given)).map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// Objects of a cluster that must-links hold together.
const HELD: usize = 5;

/// A method that enforces must-links marked soft warns about it: they always hold, however little they weigh. Each of
/// them takes an object out of its cluster, in which unmarked must-links hold others together.
pub(super) fn enforced_soft_marks_cause_a_warning(
    problem: &Problem,
    run: impl Fn(&Problem) -> Result<(Clustering, Vec<String>), Error>,
) -> Verdict {
    let n = problem.n();
    let (found, _) = run(problem).map_err(|e| e.to_string())?;
    let members = |h: u32| (0..n).filter(|&i| found.labels[i] == h).collect::<Vec<usize>>();
    let clusters: Vec<Vec<usize>> =
        (0..found.k as u32).map(members).filter(|members| members.len() > HELD).collect();
    if clusters.len() < 2 {
        return Ok(());
    }
    let chain = |members: &Vec<usize>| {
        members[..HELD].windows(2).map(|w| Constraint::must(w[0], w[1])).collect::<Vec<_>>()
    };
    let others: Vec<Constraint> = clusters.iter().flat_map(chain).collect();
    let mut is_reported = false;
    for (at, members) in clusters.iter().enumerate() {
        let other = &clusters[(at + clusters.len() - 1) % clusters.len()];
        let (i, j) = (members[members.len() - 1], other[0]);
        let link = Constraint::must(i, j).weighing(1e-6);
        let soft = Constraint { strength: Some(Strength::Soft), ..link };
        let given = Constraints::new(n, others.iter().copied().chain([soft]));
        let given = given.map_err(|e| e.to_string())?;
        let (made, warnings) =
            run(&problem.clone().with_constraints(given)).map_err(|e| e.to_string())?;
        if made.labels[i] != made.labels[j] {
            return Ok(());
        }
        is_reported |= warnings.iter().any(|warning| warning.contains("marked soft"));
    }
    ensure!(
        is_reported,
        "must-links marked soft hold, however little they weigh, and no warning says so; run the method in \
         soft_marks::obeying"
    );
    Ok(())
}

/// The chain of must-links that a cannot-link contradicts is named.
pub(super) fn contradictions_are_named<T>(
    problem: &Problem,
    run: impl Fn(&Problem) -> Result<T, Error>,
) -> Verdict {
    match run(&contradictory(problem.clone())) {
        Err(Error::InconsistentConstraints(w)) => {
            let path = &w.shown[0].path;
            ensure!(path == &[0, 1, 2], "the chain is {path:?}");
            Ok(())
        }
        other => Err(format!("a contradiction gave {:?}", other.map(drop))),
    }
}

/// Another order of the constraints gives the same labels.
pub(super) fn order_is_nothing(
    problem: &Problem,
    labels: impl Fn(&Problem) -> Option<Vec<u32>>,
) -> Verdict {
    let mut pairs: Vec<Constraint> = problem.constraints.pairs().to_vec();
    SeedPath::new(4).stream("order").shuffle(&mut pairs);
    let shuffled = Constraints::new(problem.n(), pairs).map_err(|e| e.to_string())?;
    let same = labels(problem) == labels(&problem.clone().with_constraints(shuffled));
    ensure!(same, "another order of the constraints gives other labels");
    Ok(())
}
