//! The sample of objects on which candidates are tried, and the clusters of all other objects.

use std::collections::VecDeque;
use std::mem::replace;

use mustlink_core::prelude::*;
use mustlink_kernels::kmeans::nearest::centres::Centres;

use super::trial::Trial;

/// Objects that represent all.
pub struct Sample {
    /// The problem of these alone.
    pub problem: Problem,
    /// Their places among all objects, ascending; absent: they are all.
    rows: Option<Vec<usize>>,
}

impl Sample {
    /// All objects of `problem` where there are at most `most`; else as many, those with a constraint first.
    pub fn new(problem: &Problem, most: usize, stream: &mut Stream) -> Self {
        let n = problem.n();
        if n <= most {
            return Sample { problem: problem.clone(), rows: None };
        }
        let mut taken = linked(&problem.constraints, n, most, stream);
        let others: Vec<usize> = (0..n).filter(|&i| !taken[i]).collect();
        let missing = most - (n - others.len());
        stream.sample(others.len(), missing).into_iter().for_each(|at| taken[others[at]] = true);
        let rows: Vec<usize> = (0..n).filter(|&i| taken[i]).collect();
        Sample { problem: problem.subset(&rows), rows: Some(rows) }
    }

    /// True if no object is left out.
    pub fn is_all(&self) -> bool {
        self.rows.is_none()
    }

    /// The labels of all objects, of which the sample has `labels`: others join the nearest centre where
    /// the sample does, else the nearest object of the sample, both as the candidate sees them.
    ///
    /// # Errors
    /// Returns the errors of the candidate's transforms.
    pub fn on_all(&self, trial: &Trial<'_>, labels: Vec<u32>, all: &Problem) -> Result<Vec<u32>> {
        let (Some(rows), Some(rule)) = (&self.rows, &trial.rule) else { return Ok(labels) };
        let (known, data) = (&rule.apply(&self.problem.data)?, rule.apply(&all.data)?);
        let k = labels.iter().max().map_or(1, |&l| l as usize + 1);
        let extras = Extras::default();
        let centres = Centres::of(known, &labels, k, &extras)?;
        let mut nearest = vec![0; labels.len()];
        centres.assign(known, &mut nearest)?;
        let elsewhere = nearest.iter().zip(&labels).filter(|(a, b)| a != b).count();
        let mut out = vec![0; all.n()];
        // Sparse rows have no nearest object without n · sample · d dense values.
        if 100 * elsewhere <= 2 * labels.len() || known.kind() != DataKind::Dense {
            centres.assign(&data, &mut out)?;
        } else {
            let each: Vec<u32> = (0..labels.len() as u32).collect();
            Centres::of(known, &each, each.len(), &extras)?.assign(&data, &mut out)?;
            out.iter_mut().for_each(|at| *at = labels[*at as usize]);
        }
        rows.iter().zip(&labels).for_each(|(&i, &l)| out[i] = l);
        Ok(out)
    }
}

/// Which objects have a constraint, where these are at most `most`; else as many of them, in the order in which
/// constraints lead from one to the next, so that few constraints lead out of them.
fn linked(constraints: &Constraints, n: usize, most: usize, stream: &mut Stream) -> Vec<bool> {
    let sets = constraints.neighbourhoods();
    let mut around: Vec<Vec<u32>> = vec![Vec::new(); n];
    for c in constraints.pairs() {
        around[c.i as usize].push(c.j);
        around[c.j as usize].push(c.i);
    }
    for pair in sets.iter().flat_map(|set| set.windows(2)) {
        around[pair[0] as usize].push(pair[1]);
        around[pair[1] as usize].push(pair[0]);
    }
    let mut roots = constraints.objects();
    roots.extend(sets.iter().flatten().map(|&i| i as usize));
    roots.sort_unstable();
    roots.dedup();
    let mut taken = vec![false; n];
    if roots.len() <= most {
        roots.into_iter().for_each(|i| taken[i] = true);
        return taken;
    }
    stream.shuffle(&mut roots);
    let mut left = most;
    let mut queue = VecDeque::new();
    for root in roots {
        queue.push_back(root as u32);
        while let Some(i) = queue.pop_front() {
            if left == 0 {
                return taken;
            }
            if !replace(&mut taken[i as usize], true) {
                left -= 1;
                queue.extend(&around[i as usize]);
            }
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    #[test]
    fn the_constrained_are_in_it() {
        let data = Data::dense(Array2::from_shape_fn((500, 1), |(i, _)| i as f64)).unwrap();
        let pairs = [Constraint::must(3, 499), Constraint::cannot(77, 78)];
        let problem = Problem::new(data).with_constraints(Constraints::new(500, pairs).unwrap());
        let sample = Sample::new(&problem, 50, &mut SeedPath::new(1).stream("sample"));
        assert_eq!((sample.problem.n(), sample.problem.constraints.len()), (50, 2));
        let rows = sample.rows.unwrap();
        assert!([3, 77, 78, 499].iter().all(|i| rows.contains(i)));
        assert!(rows.windows(2).all(|w| w[0] < w[1]));
        assert!(Sample::new(&problem, 500, &mut SeedPath::new(1).stream("sample")).is_all());
    }

    #[test]
    fn of_more_constrained_than_fit_whole_chains_are_taken() {
        let data = Data::dense(Array2::from_shape_fn((500, 1), |(i, _)| i as f64)).unwrap();
        // Groups of ten: 45 pairs each.
        let group =
            |g: usize| (10 * g..10 * g + 10).flat_map(move |i| (10 * g..i).map(move |j| (i, j)));
        let pairs = (0..40).flat_map(group).map(|(i, j)| Constraint::cannot(i, j));
        let problem = Problem::new(data).with_constraints(Constraints::new(500, pairs).unwrap());
        let sample = Sample::new(&problem, 50, &mut SeedPath::new(1).stream("sample"));
        assert_eq!((sample.problem.n(), sample.problem.constraints.len()), (50, 5 * 45));
        let sample = Sample::new(&problem, 450, &mut SeedPath::new(1).stream("sample"));
        assert_eq!((sample.problem.n(), sample.problem.constraints.len()), (450, 40 * 45));
    }
}
