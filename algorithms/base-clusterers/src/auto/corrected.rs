//! The score that the best of many candidates can be expected to have on new pairs.
//!
//! The best of 38 noisy scores is too high: it is the best partly by luck.

use mustlink_core::prelude::*;

use super::choice::{Score, balanced, best, smoothing};

/// Bootstrap samples.
const SAMPLES: usize = 200;

/// The score to expect of the candidate that scores best, with its standard error.
///
/// In each bootstrap sample of the pairs the best candidate is chosen again and scored by the pairs that were not
/// drawn [Tsamardinos2018]. Each outcome then counts half a pair more, as in the error of a score: of few pairs, the
/// best candidate satisfies all too often. `met` has, for each candidate, the share in which each pair was satisfied,
/// if tested. `None` if nothing can be scored.
pub fn corrected(
    pairs: &[Constraint],
    met: &[Vec<Option<f64>>],
    stream: &mut Stream,
) -> Option<Score> {
    let kinds = [Kind::MustLink, Kind::CannotLink]
        .map(|kind| (0..pairs.len()).filter(|&p| pairs[p].kind == kind).collect::<Vec<_>>());
    let score = |rows: &[usize], met: &[Option<f64>]| {
        let pairs: Vec<Constraint> = rows.iter().map(|&p| pairs[p]).collect();
        let met: Vec<Option<f64>> = rows.iter().map(|&p| met[p]).collect();
        balanced(&pairs, &met)
    };
    let (mut values, mut variance) = (Vec::new(), 0.0);
    for _ in 0..SAMPLES {
        let mut drawn = Vec::new();
        let mut is_drawn = vec![false; pairs.len()];
        for kind in &kinds {
            drawn.extend(kind.iter().map(|_| kind[stream.below(kind.len())]));
        }
        drawn.iter().for_each(|&p| is_drawn[p] = true);
        let others: Vec<usize> = (0..pairs.len()).filter(|&p| !is_drawn[p]).collect();
        let scores: Vec<Option<Score>> = met.iter().map(|met| score(&drawn, met)).collect();
        let Some(chosen) = best(&scores).and_then(|b| scores.iter().position(|s| *s == Some(b)))
        else {
            continue;
        };
        let Some(outside) = score(&others, &met[chosen]) else { continue };
        values.push(outside.value);
        // The score is that of fewer pairs than there are.
        variance += outside.error * outside.error * others.len() as f64 / pairs.len() as f64;
    }
    let count = values.len() as f64;
    let all: Vec<Option<Score>> = met.iter().map(|met| balanced(pairs, met)).collect();
    let chosen = best(&all).and_then(|b| all.iter().position(|s| *s == Some(b)));
    let smoothing = chosen.map_or(0.0, |c| smoothing(pairs, &met[c]));
    let value = values.iter().sum::<f64>() / count + smoothing;
    (count > 0.0).then(|| Score { value, error: (variance / count).sqrt() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream() -> Stream {
        SeedPath::new(5).stream("corrected")
    }

    /// `must` must-links and `cannot` cannot-links between objects that occur once.
    fn pairs(must: usize, cannot: usize) -> Vec<Constraint> {
        let pair = |p: usize| if p < must { Constraint::must } else { Constraint::cannot };
        (0..must + cannot).map(|p| pair(p)(2 * p, 2 * p + 1)).collect()
    }

    /// Candidates that satisfy each pair by the toss of a coin are worth .5, however lucky the best of them was.
    #[test]
    fn luck_is_taken_off() {
        let pairs = pairs(10, 10);
        let mut s = stream();
        let (mut shown, mut best_scores) = (0.0, 0.0);
        let draws = 30;
        for _ in 0..draws {
            let mut toss = |_| Some(f64::from(u8::from(s.unit() < 0.5)));
            let met: Vec<Vec<Option<f64>>> =
                (0..38).map(|_| (0..20).map(&mut toss).collect()).collect();
            let scores: Vec<_> = met.iter().map(|met| balanced(&pairs, met)).collect();
            best_scores += best(&scores).unwrap().value / f64::from(draws);
            shown += corrected(&pairs, &met, &mut stream()).unwrap().value / f64::from(draws);
        }
        assert!(best_scores > 0.7 && (shown - 0.5).abs() < 0.06, "{best_scores} {shown}");
    }

    #[test]
    fn a_single_candidate_was_not_chosen_by_luck() {
        let pairs = pairs(40, 40);
        let met: Vec<Option<f64>> = (0..80).map(|p| Some(f64::from(u8::from(p % 4 > 0)))).collect();
        let shown = corrected(&pairs, std::slice::from_ref(&met), &mut stream()).unwrap();
        let own = balanced(&pairs, &met).unwrap();
        assert!((shown.value - own.value).abs() < 0.02, "{shown:?} {own:?}");
        assert!((shown.error / own.error - 1.0).abs() < 0.1, "{shown:?} {own:?}");
    }

    #[test]
    fn few_pairs_are_not_certain() {
        let shown = corrected(&pairs(2, 2), &[vec![Some(1.0); 4]], &mut stream()).unwrap();
        assert!((shown.value - 2.5 / 3.0).abs() < 1e-12, "{shown:?}");
    }

    #[test]
    fn nothing_to_score_by_gives_no_score() {
        assert_eq!(corrected(&[], &[vec![]], &mut stream()), None);
        assert_eq!(corrected(&pairs(2, 2), &[vec![None; 4]], &mut stream()), None);
        // One pair is always drawn: none is left to score by.
        assert_eq!(corrected(&pairs(1, 0), &[vec![Some(1.0)]], &mut stream()), None);
    }
}
