//! The objects and pairs that scores of agreement count.
//!
//! The objects of the scope whose class is known. Everything else about agreement is arithmetic on
//! the contingency table of those objects.

use mustlink_core::prelude::*;
use mustlink_kernels::agreement::contingency::{Contingency, PairCounts};

/// Rounding beyond the end of a range that is taken back; a larger excess is a defect and stays.
const ROUNDING: f64 = 1e-12;

/// `value`, moved to the end of the range it passed by rounding alone.
pub fn within(value: f64, min: f64, max: f64) -> f64 {
    if value < min && value >= min - ROUNDING {
        min
    } else if value > max && value <= max + ROUNDING {
        max
    } else {
        value
    }
}

/// One flag per object, or no flags.
///
/// # Errors
/// `BadParam` naming `scope`.
pub fn check_scope(input: &MetricInput) -> Result<()> {
    let n = input.labels.len();
    match input.scope {
        Some(scope) if scope.len() != n => Err(Error::bad_param(
            "scope",
            format!("{} flags", scope.len()),
            format!("one flag per object ({n})"),
        )),
        _ => Ok(()),
    }
}

/// True if object `i` is in the scope.
pub fn in_scope(input: &MetricInput, i: usize) -> bool {
    input.scope.is_none_or(|scope| scope[i])
}

/// The class of each object that counts, `None` for the others.
fn classes<'a>(
    tag: &str,
    input: &MetricInput<'a>,
) -> Result<impl Fn(usize) -> Option<u32> + use<'a>> {
    check_scope(input)?;
    let n = input.labels.len();
    let truth = input.truth.ok_or_else(|| {
        Error::Usage(format!("{tag} needs classes, but none were given; name a class column"))
    })?;
    if truth.len() != n {
        return Err(Error::bad_param(
            "truth",
            format!("{} classes", truth.len()),
            format!("one class per object ({n})"),
        ));
    }
    let input = *input;
    Ok(move |i: usize| truth[i].filter(|_| in_scope(&input, i)))
}

/// The contingency table of the objects that count; `None` when none does.
///
/// # Errors
/// `Usage` without classes, `BadParam` where lengths differ.
pub fn table(tag: &str, input: &MetricInput) -> Result<Option<Contingency>> {
    let class = classes(tag, input)?;
    let objects = input.labels.iter().enumerate();
    let table = Contingency::new(objects.filter_map(|(i, &l)| class(i).map(|c| (c, l))));
    Ok((table.n() > 0).then_some(table))
}

/// A score that is a function of the table; `None` when no object counts.
///
/// # Errors
/// Returns the errors of [`table`].
pub fn score(
    tag: &str,
    input: &MetricInput,
    of: impl FnOnce(&Contingency) -> f64,
) -> Result<Option<f64>> {
    Ok(table(tag, input)?.map(|table| of(&table)))
}

/// Pairs of objects that count, without the excluded ones; `None` when no pair is left.
///
/// # Errors
/// Returns the errors of [`table`]; `BadParam` or `IndexOutOfRange` for excluded pairs that are not i < j, sorted,
/// unique and objects.
pub fn pairs(tag: &str, input: &MetricInput) -> Result<Option<PairCounts>> {
    let class = classes(tag, input)?;
    let Some(table) = table(tag, input)? else { return Ok(None) };
    let mut counts = table.pair_counts();
    let n = input.labels.len();
    let mut last = None;
    for &(i, j) in input.exclude.unwrap_or_default() {
        if i >= j || last.is_some_and(|last| last >= (i, j)) {
            let legal = "pairs i < j in ascending order, each once";
            return Err(Error::bad_param("exclude", format!("({i}, {j})"), legal));
        }
        last = Some((i, j));
        let (i, j) = (i as usize, j as usize);
        if j >= n {
            return Err(Error::IndexOutOfRange { index: j, n });
        }
        if let (Some(a), Some(b)) = (class(i), class(j)) {
            *counts.of(a == b, input.labels[i] == input.labels[j]) -= 1;
        }
    }
    Ok((counts.total() > 0).then_some(counts))
}

#[cfg(test)]
mod tests {
    use super::*;

    const Y: [Option<u32>; 6] = [Some(0), Some(0), Some(0), Some(1), Some(1), Some(1)];
    const C: [u32; 6] = [0, 0, 1, 1, 2, 2];

    fn counts(exclude: &[(u32, u32)], scope: Option<&[bool]>) -> Result<Option<[u64; 4]>> {
        let exclude = Some(exclude);
        let input =
            MetricInput { labels: &C, truth: Some(&Y), exclude, scope, ..MetricInput::default() };
        Ok(pairs("rand", &input)?
            .map(|p| [p.true_positives, p.false_positives, p.false_negatives, p.true_negatives]))
    }

    #[test]
    fn excluded_pairs_leave_every_count() {
        assert_eq!(counts(&[], None).unwrap(), Some([2, 1, 4, 8]));
        assert_eq!(counts(&[(0, 1)], None).unwrap(), Some([1, 1, 4, 8]));
        assert_eq!(counts(&[(0, 2)], None).unwrap(), Some([2, 1, 3, 8]));
        assert_eq!(counts(&[(0, 1), (2, 3)], None).unwrap(), Some([1, 0, 4, 8]));
        // A pair outside the scope is not there to be removed.
        let scope = [false, true, true, true, true, true];
        assert_eq!(counts(&[(0, 1)], Some(&scope)).unwrap(), Some([1, 1, 3, 5]));
        let two = [true, true, false, false, false, false];
        assert_eq!(counts(&[(0, 1)], Some(&two)).unwrap(), None);
    }

    #[test]
    fn bad_exclusions_are_named() {
        let message = |exclude: &[(u32, u32)]| counts(exclude, None).unwrap_err().to_string();
        let legal = "exclude: must be pairs i < j in ascending order, each once, got";
        assert_eq!(message(&[(1, 0)]), format!("{legal} (1, 0)"));
        assert_eq!(message(&[(0, 1), (0, 1)]), format!("{legal} (0, 1)"));
        let out = counts(&[(0, 6)], None).unwrap_err();
        assert_eq!(out, Error::IndexOutOfRange { index: 6, n: 6 });
    }

    #[test]
    fn lengths_must_fit() {
        let message = |input: MetricInput| table("ari", &input).unwrap_err().to_string();
        let input = MetricInput { labels: &C, ..MetricInput::default() };
        let none = "ari needs classes, but none were given; name a class column";
        assert_eq!(message(input), none);
        let short = MetricInput { truth: Some(&Y[..5]), ..input };
        assert_eq!(message(short), "truth: must be one class per object (6), got 5 classes");
        let scope = MetricInput { truth: Some(&Y), scope: Some(&[true; 7]), ..input };
        assert_eq!(message(scope), "scope: must be one flag per object (6), got 7 flags");
    }

    #[test]
    fn only_rounding_is_taken_back() {
        assert_eq!(within(1.0 + 1e-13, 0.0, 1.0), 1.0);
        assert_eq!(within(-1e-13, 0.0, 1.0), 0.0);
        assert_eq!(within(1.0 + 1e-9, 0.0, 1.0), 1.0 + 1e-9);
        assert_eq!(within(0.5, 0.0, 1.0), 0.5);
    }
}
