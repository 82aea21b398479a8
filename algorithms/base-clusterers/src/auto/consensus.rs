//! The consensus of the best candidates under the constraints.

use mustlink_core::needs::check_size;
use mustlink_core::prelude::*;
use mustlink_kernels::constrained::parting::part;
use serde_json::json;

/// Objects with a constraint, or rows of labels beyond the sample, that a consensus distinguishes at most: its table
/// grows with their square.
pub const MOST_DIFFERENT: usize = 4096;
/// Nodes of a search for clusters that hold what must be apart.
const NODE_LIMIT: u64 = 1_000_000;

/// Checks that a consensus function given by the user accepts partitions of n objects that have only labels.
///
/// # Errors
/// `BadParam` if it needs more of its members, or accepts only fewer objects.
pub fn takes_partitions(own: &dyn ConsensusFunction, n: usize) -> Result<()> {
    let needs = own.needs();
    if needs.memberships || needs.distances || needs.feature_weights {
        let legal = "one that reads labels alone: candidates have no distances, memberships or weights in common";
        return Err(Error::bad_param("consensus", own.typetag_name(), legal));
    }
    check_size(n, own)
}

/// Bytes of combining `members` partitions of data of this shape, which were tried on `sample` objects.
pub fn memory(
    own: Option<&dyn ConsensusFunction>,
    shape: &Shape,
    sample: usize,
    members: usize,
) -> u64 {
    match own {
        // Refused by name where it takes fewer objects.
        Some(own) if own.needs().max_n.is_some_and(|most| shape.n > most) => 0,
        Some(own) => own.memory(shape, members),
        None => {
            // Beyond the sample those that members or constraints tell apart.
            let most = if shape.n > sample { 2 * MOST_DIFFERENT } else { sample };
            let rows = shape.n.min(most) as u64;
            4 * rows * rows
        }
    }
}

/// Objects that were one by `rows` and have one label stay one.
pub fn together(rows: &[u32], labels: &[u32]) -> Vec<u32> {
    let width = labels.iter().max().map_or(1, |&l| l + 1);
    let keys: Vec<u64> = rows
        .iter()
        .zip(labels)
        .map(|(&r, &l)| u64::from(r) * u64::from(width) + u64::from(l))
        .collect();
    let mut sorted = keys.clone();
    sorted.sort_unstable();
    sorted.dedup();
    keys.iter().map(|key| sorted.binary_search(key).expect("one of them") as u32).collect()
}

/// The consensus of `members` in k clusters by evidence accumulation: constraints are evidence; where at most the
/// share `trust` of what is `told` is broken then, all are obeyed. What `problem` marks hard holds. Where too many
/// objects have a constraint for its table, members are combined without constraints, and objects then change
/// clusters to obey.
///
/// # Errors
/// `InconsistentConstraints`, `InfeasibleConstraints`, `UndecidedConstraints` of those marked hard; cancellation.
pub fn consensus(
    ensemble: &Ensemble,
    k: usize,
    problem: &Problem,
    told: &Constraints,
    trust: f64,
    ctx: &Context,
) -> Result<Clustering> {
    let problem = &problem.clone().with_k(k);
    let hard = problem.constraints.any_hard();
    // Objects with a constraint are rows of their own in the table.
    let many = told.objects().len() > MOST_DIFFERENT;
    let stands = |one: &Member| {
        // Only what is in one of the k clusters can change to another.
        if many { one.labels.iter().all(|&l| (l as usize) < k) } else { !hard }
    };
    let weighed = match ensemble.members() {
        [one] if stands(one) => {
            let labels = one.labels.clone();
            Clustering { k: one.k.max(k), labels, ..Clustering::default() }
        }
        _ => combine(ensemble, if many { "ignore" } else { "weigh" }, problem, ctx)?,
    };
    let obey = |labels: &[u32], constraints: &Constraints| {
        let constraints = hard_ones_heaviest(constraints, problem.n())?;
        let closure = Closure::new(&constraints, problem.n(), OnConflict::DropWeakest)?;
        if many {
            return parted(ensemble, labels, k, &closure, ctx);
        }
        let told = problem.clone().with_constraints(closure.constraints().clone());
        combine(ensemble, "obey", &told, ctx)
    };
    let broken = told.violations(&weighed.labels).total() as f64;
    if !told.pairs().is_empty() && broken <= trust * told.len() as f64 {
        // Those marked hard are among these, with their marks.
        match obey(&weighed.labels, &told.union(&problem.constraints, problem.n())?) {
            Err(e @ (Error::Cancelled | Error::TimedOut { .. })) => return Err(e),
            // No k clusters hold all of them.
            Err(_) => {}
            obeyed => return obeyed,
        }
    }
    if many && hard {
        let marked = problem.constraints.pairs().iter().copied();
        let marked = marked.filter(|c| c.strength == Some(Strength::Hard));
        return obey(&weighed.labels, &Constraints::new(problem.n(), marked)?);
    }
    Ok(weighed)
}

/// The same, in which those marked hard weigh more than all others: of what contradicts them it is never they
/// that are given up. Nothing else looks at their weights, for they are obeyed.
fn hard_ones_heaviest(constraints: &Constraints, n: usize) -> Result<Constraints> {
    let most = constraints.pairs().iter().map(|c| c.weight).fold(1.0, f64::max);
    let above = (2.0 * most).min(f64::MAX);
    let weighed = |c: &Constraint| match c.strength {
        Some(Strength::Hard) => c.weighing(above),
        _ => *c,
    };
    Constraints::new(n, constraints.pairs().iter().map(weighed))
}

/// Evidence accumulation of the ensemble.
fn combine(
    ensemble: &Ensemble,
    constrain: &str,
    problem: &Problem,
    ctx: &Context,
) -> Result<Clustering> {
    let consensus = <dyn ConsensusFunction as RoleObject>::from_value(json!({
        "type": "evidence_accumulation", "constrain": constrain, "max_n": problem.n(),
    }))
    .map_err(|message| Error::Plugin { tag: "evidence_accumulation".into(), message })?;
    consensus.combine(ensemble, problem, ctx)
}

/// `labels`, of which those objects change that `closure` asks to, by what members say they have in common with
/// the objects of other clusters.
fn parted(
    ensemble: &Ensemble,
    labels: &[u32],
    k: usize,
    closure: &Closure,
    ctx: &Context,
) -> Result<Clustering> {
    // For each member how many objects of each of its clusters lie in each cluster of the labels.
    let shared = |m: &Member| {
        let given = || m.labels.iter().zip(labels).filter(|(own, _)| **own != NONE);
        let own = given().map(|(&own, _)| own as usize + 1).max().unwrap_or(0);
        let mut counts = vec![vec![0.0; k]; own];
        given().for_each(|(&own, &l)| counts[own as usize][l as usize] += 1.0);
        counts
    };
    let members = ensemble.members();
    let shared: Vec<Vec<Vec<f64>>> = members.iter().map(shared).collect();
    let all: f64 = members.iter().map(|m| m.weight).sum();
    let unlike = |i: usize, _: &[u32], sizes: &[f64]| {
        let mut together = vec![0.0; k];
        for (m, shared) in members.iter().zip(&shared) {
            // Nothing where the member left the object out.
            let row = shared.get(m.labels[i] as usize).into_iter().flatten();
            together.iter_mut().zip(row).for_each(|(sum, count)| *sum += m.weight * count);
        }
        let share = |h: usize| if sizes[h] > 0.0 { together[h] / (all * sizes[h]) } else { 0.0 };
        (0..k).map(|h| 1.0 - share(h)).collect()
    };
    let mut labels = labels.to_vec();
    part(&mut labels, closure, k, NODE_LIMIT, unlike, ctx)?;
    Ok(Clustering { k, labels, ..Clustering::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    /// A member that leaves objects out or has more clusters, alone and with another.
    #[test]
    fn what_members_leave_out_is_placed() {
        let n = 4200;
        let labels: Vec<u32> = (0..n as u32).map(|i| if i < 3 { NONE } else { i % 3 }).collect();
        let pairs = (0..n).step_by(3).map(|i| Constraint::cannot(i, i + 1));
        let told = Constraints::new(n, pairs).unwrap();
        let data = Data::dense(Array2::zeros((n, 1))).unwrap();
        let problem = Problem::new(data).with_constraints(told.clone());
        let noisy = Member::from_labels(&labels);
        let other = Member::from_labels(&(0..n as u32).map(|i| i % 2).collect::<Vec<_>>());
        for members in [vec![noisy.clone()], vec![noisy, other]] {
            let ensemble = Ensemble::new(n, members).unwrap();
            let made = consensus(&ensemble, 2, &problem, &told, 1.0, &Context::new(1)).unwrap();
            assert_eq!(told.violations(&made.labels).total(), 0);
            assert!(made.labels.iter().all(|&l| l < 2));
        }
    }

    /// Candidates get the heavier one of two constraints that contradict each other.
    #[test]
    fn what_is_marked_hard_stands_against_what_is_heavier() {
        let n = 60;
        let labels: Vec<u32> = (0..n as u32).map(|i| i % 2).collect();
        let ensemble = Ensemble::new(n, vec![Member::from_labels(&labels)]).unwrap();
        let hard = |c: Constraint| Constraint { strength: Some(Strength::Hard), ..c };
        let apart = || (4..n - 1).map(|i| Constraint::cannot(i, i + 1));
        for [marked, heavy] in [
            [Constraint::cannot(0, 2), Constraint::must(0, 2)],
            [Constraint::must(0, 1), Constraint::cannot(0, 1)],
        ] {
            let pairs = apart().chain([hard(marked), heavy.weighing(5.0)]);
            let given = Constraints::new(n, pairs).unwrap();
            let told = crate::auto::told::told(&given, n, Some(2)).unwrap();
            assert_eq!(told.count(marked.kind), given.count(marked.kind) - 1);
            let data = Data::dense(Array2::zeros((n, 1))).unwrap();
            let problem = Problem::new(data).with_constraints(given);
            let made = consensus(&ensemble, 2, &problem, &told, 1.0, &Context::new(1)).unwrap();
            assert!(!marked.is_violated(&made.labels), "{marked:?}: {:?}", made.labels);
        }
    }

    /// More objects with a constraint than a table holds: groups of two in two clusters, some objects of which
    /// the members put wrongly.
    #[test]
    fn many_constraints_hold() {
        let n = 4200;
        let class = |i: usize| (i % 2) as u32;
        let wrong = |i: usize, by: usize| i.is_multiple_of(by);
        let member = |by: usize| {
            let label = |i| if wrong(i, by) { 1 - class(i) } else { class(i) };
            Member::from_labels(&(0..n).map(label).collect::<Vec<u32>>())
        };
        let ensemble = Ensemble::new(n, vec![member(100), member(150), member(300)]).unwrap();
        let data = Data::dense(Array2::zeros((n, 1))).unwrap();
        let pairs = (0..n).step_by(2).map(|i| Constraint::cannot(i, i + 1));
        let told = Constraints::new(n, pairs.clone()).unwrap();
        let hard = pairs.map(|c| Constraint { strength: Some(Strength::Hard), ..c });
        let hard = Constraints::new(n, hard).unwrap();
        for (given, trust) in [(&told, 0.03), (&hard, 0.0)] {
            let problem = Problem::new(data.clone()).with_constraints(given.clone());
            let made = consensus(&ensemble, 2, &problem, &told, trust, &Context::new(1)).unwrap();
            assert_eq!(told.violations(&made.labels).total(), 0);
            let right = (0..n).filter(|&i| made.labels[i] == made.labels[0] ^ class(i)).count();
            // Of twenty objects all members are wrong: they go with their partners, one way or the other.
            assert!(right <= 40 || right >= n - 40, "{right}");
        }
        let problem = Problem::new(data).with_constraints(told.clone());
        let made = consensus(&ensemble, 2, &problem, &told, 0.0, &Context::new(1)).unwrap();
        assert!(told.violations(&made.labels).total() > 0);
    }
}
