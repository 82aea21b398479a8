//! The candidates that are too expensive to try.

use mustlink_core::roles::{Attempt, OPERATIONS_PER_SECOND};

use super::trial::Trial;

/// Candidates that are tried however expensive they are.
const AT_LEAST: usize = 4;

/// Number of the first `costs` (in operations, ascending) that take at most `seconds` together.
pub fn affordable(costs: &[f64], seconds: f64) -> usize {
    let mut left = seconds * OPERATIONS_PER_SECOND;
    let fits = |cost: &&f64| {
        left -= **cost;
        left >= 0.0
    };
    costs.iter().take_while(fits).count().max(AT_LEAST.min(costs.len()))
}

/// Leaves out the trials of the attempts that are too expensive. Returns a warning that names these, if there are any.
pub fn leave_out(trials: &mut [Trial<'_>], attempts: &[Attempt]) -> Option<String> {
    let (mut names, mut seconds) = (Vec::new(), 0.0);
    for attempt in attempts.iter().filter(|a| a.left_out) {
        let cost = attempt.operations / OPERATIONS_PER_SECOND;
        let is_own = |t: &&mut Trial<'_>| t.name == attempt.name && t.left_out.is_none();
        let mut own = trials.iter_mut().filter(is_own).peekable();
        if own.peek().is_some() {
            names.push(attempt.name.as_str());
            seconds += cost;
        }
        own.for_each(|t| {
            t.left_out = Some(format!("estimated to take {cost:.0} s of processor time"));
        });
    }
    let methods = if names.len() == 1 { "method was" } else { "methods were" };
    (!names.is_empty()).then(|| {
        format!(
            "{} {methods} not tried because of the estimated processor time, {seconds:.0} s: {}",
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
        let costs = [1.0, 2.0, 3.0, 4.0, 20.0, 30.0].map(|seconds| seconds * OPERATIONS_PER_SECOND);
        assert_eq!(affordable(&costs, 100.0), 6);
        assert_eq!(affordable(&costs, 59.0), 5);
        assert_eq!(affordable(&costs, 12.0), 4);
        // Some are tried in any case.
        assert_eq!(affordable(&costs, 0.0), 4);
        assert_eq!(affordable(&costs[..2], 0.0), 2);
        assert_eq!(affordable(&[], 0.0), 0);
    }
}
