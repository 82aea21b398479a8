//! Which candidates are too expensive to try?

use super::trial::Trial;

/// Operations of one second of processor time, roughly, on the machines of 2020 and later.
const PER_SECOND: f64 = 2e9;
/// Candidates that are tried however expensive they are.
const AT_LEAST: usize = 4;

/// How many of the first of `costs`, in operations and ascending, take at most `seconds` together.
pub fn affordable(costs: &[f64], seconds: f64) -> usize {
    let mut left = seconds * PER_SECOND;
    let fits = |cost: &&f64| {
        left -= **cost;
        left >= 0.0
    };
    costs.iter().take_while(fits).count().max(AT_LEAST.min(costs.len()))
}

/// Leaves out the most expensive candidates, for all numbers of clusters, so that the others take at most `seconds`
/// together. Returns a warning that names them, if there are any.
pub fn leave_out(trials: &mut [Trial<'_>], seconds: f64) -> Option<String> {
    let candidates = trials.iter().map(|t| t.place + 1).max().unwrap_or(0);
    let mut costs: Vec<(f64, usize)> = (0..candidates).map(|c| (0.0, c)).collect();
    for t in trials.iter().filter(|t| t.left_out.is_none()) {
        costs[t.place].0 += t.operations;
    }
    costs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let sorted: Vec<f64> = costs.iter().map(|c| c.0).collect();
    let expensive = &costs[affordable(&sorted, seconds)..];
    let mut names = Vec::new();
    for &(cost, place) in expensive {
        let why = format!("estimated to take {:.0} s of processor time", cost / PER_SECOND);
        for t in trials.iter_mut().filter(|t| t.place == place && t.left_out.is_none()) {
            t.left_out = Some(why.clone());
            names.push(t.name);
        }
    }
    names.dedup();
    let all: f64 = expensive.iter().map(|c| c.0).sum::<f64>() / PER_SECOND;
    let methods = if names.len() == 1 { "method was" } else { "methods were" };
    (!names.is_empty()).then(|| {
        format!(
            "{} {methods} not tried because of the estimated processor time, {all:.0} s: {}",
            names.len(),
            names.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_expensive_do_not_fit() {
        let costs = [1.0, 2.0, 3.0, 4.0, 20.0, 30.0].map(|seconds| seconds * PER_SECOND);
        assert_eq!(affordable(&costs, 100.0), 6);
        assert_eq!(affordable(&costs, 59.0), 5);
        assert_eq!(affordable(&costs, 12.0), 4);
        // Some are tried in any case.
        assert_eq!(affordable(&costs, 0.0), 4);
        assert_eq!(affordable(&costs[..2], 0.0), 2);
        assert_eq!(affordable(&[], 0.0), 0);
    }
}
