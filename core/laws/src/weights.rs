//! The law of clusterers that count objects by their weights.

use mustlink_core::clustering::{Clustering, Geometry, NONE};
use mustlink_core::data::Data;
use mustlink_core::error::Error;
use mustlink_core::problem::Problem;

use super::law::Verdict;
use crate::ensure;

/// Weights of 1 change nothing; others do: centres are means in which each object counts by its weight, and
/// an object of weight 0 does not count.
pub(super) fn weights_count(
    problems: [Problem; 3],
    run: impl Fn(&Problem) -> Result<Clustering, Error>,
) -> Verdict {
    let weighted =
        |problem: &Problem, weight: &dyn Fn(usize) -> f64| -> Result<Clustering, String> {
            let weights = (0..problem.n()).map(weight).collect();
            let data = problem.data.clone().with_weights(weights).map_err(|e| e.to_string())?;
            let found = run(&Problem { data: data.clone(), ..problem.clone() })
                .map_err(|e| format!("with weights: {e}"))?;
            centres_are_weighted_means(&data, &found)?;
            Ok(found)
        };
    let mut decided = false;
    for problem in &problems {
        let plain = run(problem).map_err(|e| e.to_string())?;
        let ones = weighted(problem, &|_| 1.0)?;
        ensure!(ones.labels == plain.labels, "weights of 1 give other labels than none");
        let uneven = weighted(problem, &|i| [3.0, 0.5, 0.0, 1.0, 40.0][i * i % 5])?;
        decided |= uneven.labels != plain.labels || uneven.objective != plain.objective;
        for extreme in [1e-30, 1e30] {
            let found = weighted(problem, &|i| if i % 2 == 0 { extreme } else { 1.0 })?;
            let finite = found.objective.is_none_or(f64::is_finite);
            ensure!(finite, "weights of {extreme} give the objective {:?}", found.objective);
        }
    }
    ensure!(decided, "weights change nothing");
    Ok(())
}

fn centres_are_weighted_means(data: &Data, found: &Clustering) -> Verdict {
    let Some(centres) = found.extras.centers.as_ref() else { return Ok(()) };
    if found.extras.geometry != Geometry::SquaredEuclidean {
        return Ok(());
    }
    let weights = (0..data.n()).map(|i| data.weights().map_or(1.0, |w| w[i])).collect::<Vec<_>>();
    for (h, centre) in centres.rows().into_iter().enumerate() {
        let members = || (0..data.n()).filter(|&i| found.labels[i] as usize == h);
        let total: f64 = members().map(|i| weights[i]).sum();
        let mut sum = vec![0.0; data.d()];
        let mut size = vec![0.0; data.d()];
        members().for_each(|i| data.row(i).add_to(&mut sum, weights[i]));
        for i in members() {
            let mut row = vec![0.0; data.d()];
            data.row(i).add_to(&mut row, weights[i]);
            size.iter_mut().zip(row).for_each(|(s, v)| *s += v.abs());
        }
        for (s, &at) in centre.iter().enumerate().filter(|_| total > 0.0) {
            let close = (at * total - sum[s]).abs() <= 1e-9 * size[s].max(1e-300);
            ensure!(
                close,
                "centre {h} is {at} in feature {s}, the weighted mean is {}",
                sum[s] / total
            );
        }
    }
    ensure!(!found.labels.contains(&NONE), "an object has no label");
    Ok(())
}
