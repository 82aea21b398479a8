//! Linear assignment: the one-to-one matching of rows and columns with the largest sum.
//!
//! Shortest augmenting paths with potentials (Kuhn 1955 in the form of Jonker and Volgenant 1987):
//! O(min² · max) for a rows × cols table. Ties go to the column met first, so that equal tables
//! give equal answers.

use mustlink_core::{Error, Result};

/// The one-to-one assignment of largest total value in a row-major table.
///
/// min(rows, cols) pairs are chosen, whatever their signs; the other rows get `None`.
///
/// # Errors
/// `BadParam` when the table has another size; `NumericalFailure` when an entry, or the difference
/// of two, is not finite.
pub fn maximise(values: &[f64], rows: usize, cols: usize) -> Result<Vec<Option<usize>>> {
    check(values, rows, cols)?;
    Ok(solve(|r, c| values[r * cols + c], rows, cols))
}

/// The assignment of largest total value of rows to as many columns or more, with its potentials:
/// value(r, c) + rows\[r\] + columns\[c\] ≤ 0, and = 0 if c is the column of r; columns ≤ 0, and = 0 for a column
/// without a row.
#[derive(Debug, Clone)]
pub struct Potentials {
    /// The column of each row.
    pub column_of: Vec<usize>,
    /// Potentials of the rows.
    pub rows: Vec<f64>,
    /// Potentials of the columns.
    pub columns: Vec<f64>,
}

/// As [`maximise`], with the potentials that prove it.
///
/// # Errors
/// Returns the errors of [`maximise`]; `BadParam` also when there are more rows than columns.
pub fn maximise_with_potentials(values: &[f64], rows: usize, cols: usize) -> Result<Potentials> {
    check(values, rows, cols)?;
    if rows > cols {
        return Err(Error::bad_param("rows", rows, format!("at most {cols}, the columns")));
    }
    Ok(augment(|r, c| values[r * cols + c], rows, cols))
}

/// The one-to-one assignment of largest total count; exact for counts below 2⁵³. If most counts are 0,
/// [`super::sparse_matching::first_of_largest`] is faster.
///
/// # Errors
/// `BadParam` when the table has another size.
pub fn maximise_counts(values: &[u64], rows: usize, cols: usize) -> Result<Vec<Option<usize>>> {
    if values.len() != rows * cols {
        return Err(wrong_size(values.len(), rows, cols));
    }
    Ok(solve(|r, c| values[r * cols + c] as f64, rows, cols))
}

fn check(values: &[f64], rows: usize, cols: usize) -> Result<()> {
    if values.len() != rows * cols {
        return Err(wrong_size(values.len(), rows, cols));
    }
    let (low, high) = values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)));
    if values.iter().any(|v| v.is_nan()) || (!values.is_empty() && !(high - low).is_finite()) {
        return Err(Error::NumericalFailure { place: "linear assignment".into() });
    }
    Ok(())
}

fn wrong_size(entries: usize, rows: usize, cols: usize) -> Error {
    Error::bad_param("values", format!("{entries} entries"), format!("a {rows} x {cols} table"))
}

fn solve(value: impl Fn(usize, usize) -> f64, rows: usize, cols: usize) -> Vec<Option<usize>> {
    if rows > cols {
        let mut row_to_col = vec![None; rows];
        let row_of = augment(|c, r| value(r, c), cols, rows).column_of;
        row_of.into_iter().enumerate().for_each(|(col, row)| row_to_col[row] = Some(col));
        return row_to_col;
    }
    augment(value, rows, cols).column_of.into_iter().map(Some).collect()
}

/// The column of each row; rows <= cols.
fn augment(value: impl Fn(usize, usize) -> f64, rows: usize, cols: usize) -> Potentials {
    // One virtual column `cols` starts every path. The cost is −value; potentials keep all
    // reduced costs >= 0, so that each path can be found as Dijkstra does.
    let mut row_potential = vec![0.0; rows];
    let mut col_potential = vec![0.0; cols + 1];
    let mut row_of = vec![usize::MAX; cols + 1];
    let mut previous = vec![cols; cols];
    let mut slack = vec![f64::INFINITY; cols];
    let mut visited = vec![false; cols + 1];
    for start in 0..rows {
        row_of[cols] = start;
        slack.fill(f64::INFINITY);
        visited.fill(false);
        let mut at = cols;
        while row_of[at] != usize::MAX {
            visited[at] = true;
            let row = row_of[at];
            let mut next: Option<usize> = None;
            let mut step = f64::INFINITY;
            for col in (0..cols).filter(|&c| !visited[c]) {
                let reduced = -value(row, col) - row_potential[row] - col_potential[col];
                if reduced < slack[col] {
                    slack[col] = reduced;
                    previous[col] = at;
                }
                if slack[col] < step || next.is_none() {
                    step = slack[col];
                    next = Some(col);
                }
            }
            for col in 0..=cols {
                if visited[col] {
                    row_potential[row_of[col]] += step;
                    col_potential[col] -= step;
                } else if col < cols {
                    slack[col] -= step;
                }
            }
            at = next.expect("a free column is left while a row waits, as rows <= cols");
        }
        while at != cols {
            let before = previous[at];
            row_of[at] = row_of[before];
            at = before;
        }
    }
    let mut column_of = vec![0; rows];
    for col in (0..cols).filter(|&c| row_of[c] != usize::MAX) {
        column_of[row_of[col]] = col;
    }
    col_potential.truncate(cols);
    Potentials { column_of, rows: row_potential, columns: col_potential }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn total(values: &[f64], cols: usize, assignment: &[Option<usize>]) -> f64 {
        let chosen = assignment.iter().enumerate();
        chosen.filter_map(|(r, c)| c.map(|c| values[r * cols + c])).sum()
    }

    /// Tries every way to give the rows from `row` on columns that are still free, leaving out a
    /// row only where rows outnumber columns.
    fn brute(values: &[f64], rows: usize, cols: usize, row: usize, taken: u32) -> f64 {
        if row == rows {
            return 0.0;
        }
        let mut best = f64::NEG_INFINITY;
        for c in (0..cols).filter(|c| taken & (1 << c) == 0) {
            let rest = brute(values, rows, cols, row + 1, taken | 1 << c);
            best = best.max(values[row * cols + c] + rest);
        }
        let free = cols - taken.count_ones() as usize;
        if rows - row > free {
            best = best.max(brute(values, rows, cols, row + 1, taken));
        }
        best
    }

    #[test]
    fn a_worked_example() {
        // The greedy choice 9 + 4 + 2 loses to 8 + 7 + 3.
        let values = [9.0, 8.0, 3.0, 7.0, 1.0, 2.0, 6.0, 4.0, 3.0];
        assert_eq!(maximise(&values, 3, 3).unwrap(), [Some(1), Some(0), Some(2)]);
    }

    #[test]
    fn ties_and_edges() {
        assert_eq!(maximise(&[0.0; 9], 3, 3).unwrap(), [Some(0), Some(1), Some(2)]);
        assert_eq!(maximise_counts(&[1; 6], 2, 3).unwrap(), [Some(0), Some(1)]);
        assert_eq!(maximise_counts(&[1; 6], 3, 2).unwrap(), [Some(0), Some(1), None]);
        assert_eq!(maximise(&[], 0, 3).unwrap(), []);
        assert_eq!(maximise(&[], 2, 0).unwrap(), [None, None]);
        assert_eq!(maximise(&[-1.0, -2.0], 1, 2).unwrap(), [Some(0)]);
    }

    #[test]
    fn what_has_no_answer_is_refused() {
        let failure = Error::NumericalFailure { place: "linear assignment".into() };
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(maximise(&[0.0, bad], 1, 2), Err(failure.clone()));
        }
        assert_eq!(maximise(&[f64::MAX, -f64::MAX], 1, 2), Err(failure));
        let message = maximise(&[0.0], 1, 2).unwrap_err().to_string();
        assert_eq!(message, "values: must be a 1 x 2 table, got 1 entries");
        assert!(maximise_counts(&[0], 1, 2).is_err());
        let message = maximise_with_potentials(&[0.0; 2], 2, 1).unwrap_err().to_string();
        assert_eq!(message, "rows: must be at most 1, the columns, got 2");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn as_good_as_trying_everything(
            rows in 0usize..7,
            cols in 0usize..7,
            values in prop::collection::vec(-20i32..20, 49),
        ) {
            let values: Vec<f64> = values[..rows * cols].iter().map(|&v| f64::from(v)).collect();
            let found = maximise(&values, rows, cols).unwrap();
            let mut columns: Vec<usize> = found.iter().flatten().copied().collect();
            prop_assert_eq!(columns.len(), rows.min(cols));
            columns.sort_unstable();
            columns.dedup();
            prop_assert_eq!(columns.len(), rows.min(cols), "a column was given twice");
            prop_assert_eq!(total(&values, cols, &found), brute(&values, rows, cols, 0, 0));
        }

        #[test]
        fn potentials_prove_the_assignment(
            rows in 0usize..7,
            more in 0usize..4,
            values in prop::collection::vec(-20.0..20.0, 70),
        ) {
            let cols = rows + more;
            let values = &values[..rows * cols];
            let found = maximise_with_potentials(values, rows, cols).unwrap();
            let alone: Vec<Option<usize>> = found.column_of.iter().copied().map(Some).collect();
            prop_assert_eq!(&alone, &maximise(values, rows, cols).unwrap());
            for (r, c) in (0..rows).flat_map(|r| (0..cols).map(move |c| (r, c))) {
                let reduced = values[r * cols + c] + found.rows[r] + found.columns[c];
                prop_assert!(reduced < 1e-9, "{reduced}");
                prop_assert!(found.column_of[r] != c || reduced > -1e-9, "{reduced}");
            }
            for c in 0..cols {
                prop_assert!(found.columns[c] <= 0.0);
                prop_assert!(found.column_of.contains(&c) || found.columns[c] == 0.0);
            }
        }

        #[test]
        fn counts_and_numbers_agree(
            rows in 1usize..7,
            cols in 1usize..7,
            values in prop::collection::vec(0u64..6, 49),
        ) {
            let counts = &values[..rows * cols];
            let numbers: Vec<f64> = counts.iter().map(|&v| v as f64).collect();
            prop_assert_eq!(
                maximise_counts(counts, rows, cols).unwrap(),
                maximise(&numbers, rows, cols).unwrap()
            );
        }
    }
}
