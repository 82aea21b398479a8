//! Error rates of several annotators, estimated from their votes alone, and the agreement of two annotators.
//!
//! Source: [Dawid1979], with one rate of error per annotator.

/// The rate of error of everybody before anything is known.
pub const BEFORE: f64 = 0.25;

/// One vote on a pair: the annotator, and whether it was a must-link.
pub type Cast = (usize, bool);

/// A rate kept within [0.01, 0.49].
pub fn clamped(error: f64) -> f64 {
    error.clamp(0.01, 0.49)
}

/// Weight of a vote if the annotator errs at this rate: log((1 − e) / e).
pub fn log_odds(error: f64) -> f64 {
    ((1.0 - error) / error).ln()
}

/// How probable a must-link is after these votes, with `errors` the rate of each annotator.
pub fn posterior(votes: &[Cast], errors: &[f64]) -> f64 {
    let odds = |&(a, vote): &Cast| {
        if vote { log_odds(errors[a]) } else { -log_odds(errors[a]) }
    };
    1.0 / (1.0 + (-votes.iter().map(odds).sum::<f64>()).exp())
}

/// One rate of error per annotator that makes the votes on `pairs` likely, by expectation–maximisation: near
/// those of `before`, or else from the share of must-links of each pair, so that most annotators are correct
/// more often than not.
pub fn error_rates(pairs: &[Vec<Cast>], annotators: usize, before: Option<&[f64]>) -> Vec<f64> {
    let majority = |votes: &[Cast]| {
        let yes = votes.iter().filter(|(_, must)| *must).count();
        if votes.is_empty() { 0.5 } else { yes as f64 / votes.len() as f64 }
    };
    let mut errors = before.map_or_else(|| vec![BEFORE; annotators], <[f64]>::to_vec);
    for step in 0..100 {
        let (mut wrong, mut count) = (vec![0.0; annotators], vec![0.0; annotators]);
        for votes in pairs {
            let p = match (step, before) {
                (0, None) => majority(votes),
                _ => posterior(votes, &errors),
            };
            for &(a, vote) in votes {
                wrong[a] += if vote { 1.0 - p } else { p };
                count[a] += 1.0;
            }
        }
        let mut change: f64 = 0.0;
        for a in 0..annotators {
            let error = if count[a] > 0.0 { clamped(wrong[a] / count[a]) } else { BEFORE };
            change = change.max((error - errors[a]).abs());
            errors[a] = error;
        }
        if change < 1e-4 {
            break;
        }
    }
    errors
}

/// Cohen's κ of two annotators, from their votes on the same pairs. `None` if all votes are alike, or without votes.
pub fn kappa(votes: impl IntoIterator<Item = (bool, bool)>) -> Option<f64> {
    let mut count = [[0f64; 2]; 2];
    for (one, other) in votes {
        count[usize::from(one)][usize::from(other)] += 1.0;
    }
    let [[d, c], [b, a]] = count;
    let below = (a + b) * (b + d) + (a + c) * (c + d);
    (below > 0.0).then(|| 2.0 * (a * d - b * c) / below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kappa_corrects_for_chance() {
        // 20 and 15 votes alike, 5 and 10 not: 0.7 agreed, 0.5 expected by chance.
        let votes =
            [(20, (true, true)), (5, (true, false)), (10, (false, true)), (15, (false, false))];
        let all = votes.iter().flat_map(|&(times, vote)| std::iter::repeat_n(vote, times));
        let found = kappa(all).unwrap();
        assert!((found - 0.4).abs() < 1e-12, "{found}");
        assert_eq!(kappa([(true, true), (false, false)]), Some(1.0));
        assert_eq!(kappa([(true, false), (false, true)]), Some(-1.0));
        assert_eq!((kappa([(true, true); 3]), kappa([])), (None, None));
    }
}
