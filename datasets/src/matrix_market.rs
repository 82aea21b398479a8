//! The reader of Matrix Market files.
//!
//! `coordinate` files become sparse rows, `array` files dense ones; values are real, integer or
//! pattern (every named entry is 1). A symmetric file names one half, both are filled in.

use mustlink_core::{Csr, Data, Error, Result};
use ndarray::Array2;

use crate::bytes::bad;
use crate::options::within;

const FORMS: &str = "%%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric";

/// Lines of bytes with their numbers from 1.
struct Lines<'a> {
    rest: &'a [u8],
    number: usize,
    /// How the file is called in messages.
    place: &'a str,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        self.number += 1;
        let end = self.rest.iter().position(|&b| b == b'\n');
        let (line, rest) = match end {
            Some(end) => (&self.rest[..end], &self.rest[end + 1..]),
            None => (self.rest, &[][..]),
        };
        self.rest = rest;
        Some(line.trim_ascii())
    }

    /// The next line that is neither blank nor a comment.
    fn content(&mut self) -> Option<&'a [u8]> {
        loop {
            let line = self.next()?;
            if !line.is_empty() && line[0] != b'%' {
                return Some(line);
            }
        }
    }

    /// A complaint about the line that was read last.
    fn bad(&self, message: String) -> Error {
        bad(format!("{}, line {}", self.place, self.number), message)
    }
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().take(60).collect()
}

fn integer(word: &[u8]) -> Option<usize> {
    if word.is_empty() {
        return None;
    }
    word.iter().try_fold(0usize, |v, &b| {
        b.is_ascii_digit().then_some(())?;
        v.checked_mul(10)?.checked_add((b - b'0') as usize)
    })
}

fn number(word: &[u8]) -> Option<f64> {
    // Counts are short integers, for which this is exact and several times faster.
    if word.len() <= 15
        && let Some(v) = integer(word)
    {
        return Some(v as f64);
    }
    std::str::from_utf8(word).ok()?.parse().ok().filter(|v: &f64| v.is_finite())
}

/// The number that a word of the last line is.
fn finite(word: &[u8], lines: &Lines) -> Result<f64> {
    number(word).ok_or_else(|| lines.bad(format!("\"{}\" is not a finite number", text(word))))
}

/// Reads a Matrix Market file.
pub(crate) fn read(content: &[u8], place: &str, limit: Option<u64>) -> Result<Data> {
    let mut lines = Lines { rest: content, number: 0, place };
    let Some(first) = lines.next() else {
        return Err(bad(place, format!("the file is empty; expected {FORMS}")));
    };
    let head = String::from_utf8_lossy(first).to_lowercase();
    let head: Vec<&str> = head.split_whitespace().collect();
    let other = || lines.bad(format!("expected {FORMS}, got \"{}\"", text(first)));
    let ["%%matrixmarket", "matrix", layout, field, symmetry] = head[..] else {
        return Err(other());
    };
    let symmetric = match symmetry {
        "general" => false,
        "symmetric" => true,
        _ => return Err(other()),
    };
    match (layout, field) {
        ("coordinate", "real" | "integer" | "pattern") => {
            coordinate(lines, field == "pattern", symmetric, limit)
        }
        ("array", "real" | "integer") => array(lines, symmetric, limit),
        _ => Err(other()),
    }
}

/// The sizes on the first content line.
fn sizes<const N: usize>(lines: &mut Lines, what: &str) -> Result<[usize; N]> {
    let Some(line) = lines.content() else {
        return Err(bad(lines.place, format!("the file ends before the line of sizes ({what})")));
    };
    let sizes: Option<Vec<usize>> = words(line).map(integer).collect();
    sizes
        .and_then(|s| s.try_into().ok())
        .ok_or_else(|| lines.bad(format!("expected the sizes ({what}), got \"{}\"", text(line))))
}

fn square(lines: &Lines, symmetric: bool, rows: usize, columns: usize) -> Result<()> {
    if symmetric && rows != columns {
        let message = format!("a symmetric matrix must be square, got {rows} × {columns}");
        return Err(lines.bad(message));
    }
    Ok(())
}

fn coordinate(
    mut lines: Lines,
    pattern: bool,
    symmetric: bool,
    limit: Option<u64>,
) -> Result<Data> {
    let [rows, columns, entries] = sizes(&mut lines, "rows columns entries")?;
    square(&lines, symmetric, rows, columns)?;
    if rows >= u32::MAX as usize || columns >= u32::MAX as usize {
        return Err(lines.bad(format!("{rows} × {columns} is too large")));
    }
    // Rows without entries are legal, hundreds of millions of them are a slip that would cost their
    // memory here.
    if rows > 10_000_000 && rows / 100 > entries {
        let message = format!("{rows} rows for {entries} entries; are the sizes right?");
        return Err(lines.bad(message));
    }
    within(limit, (entries as u64).saturating_mul(12), lines.place)?;
    // A line has at least four bytes: a wrong count must not reserve the memory of a right one.
    let expected = entries.min(lines.rest.len() / 4 + 1) * if symmetric { 2 } else { 1 };
    let mut triples: Vec<(u32, u32, f64)> = Vec::with_capacity(expected);
    let mut count = 0;
    while let Some(line) = lines.content() {
        if count == entries {
            let entries = mustlink_core::text::count(entries, "entry");
            return Err(lines.bad(format!("the sizes announce {entries}, but the file has more")));
        }
        count += 1;
        let mut parts = words(line);
        let (i, j, v) = (parts.next(), parts.next(), parts.next());
        let fields = if pattern { "row column" } else { "row column value" };
        let wrong = || lines.bad(format!("expected {fields}, got \"{}\"", text(line)));
        let (Some(i), Some(j)) = (i.and_then(integer), j.and_then(integer)) else {
            return Err(wrong());
        };
        let v = match (pattern, v) {
            (true, None) => 1.0,
            (false, Some(v)) => finite(v, &lines)?,
            _ => return Err(wrong()),
        };
        if parts.next().is_some() {
            return Err(wrong());
        }
        if !(1..=rows).contains(&i) {
            return Err(lines.bad(format!("row {i} is not between 1 and {rows}")));
        }
        if !(1..=columns).contains(&j) {
            return Err(lines.bad(format!("column {j} is not between 1 and {columns}")));
        }
        let (i, j) = (i as u32 - 1, j as u32 - 1);
        triples.push((i, j, v));
        if symmetric && i != j {
            triples.push((j, i, v));
        }
    }
    if count < entries {
        let message = format!("the file ends after {count} of {entries} entries; is it cut off?");
        return Err(lines.bad(message));
    }
    // Counting sort by row keeps the order of the file, which mostly is that of the columns.
    let mut indptr = vec![0usize; rows + 1];
    triples.iter().for_each(|t| indptr[t.0 as usize + 1] += 1);
    (0..rows).for_each(|i| indptr[i + 1] += indptr[i]);
    let mut next = indptr.clone();
    let mut sorted = vec![(0u32, 0.0f64); triples.len()];
    for &(i, j, v) in &triples {
        sorted[next[i as usize]] = (j, v);
        next[i as usize] += 1;
    }
    for i in 0..rows {
        let row = &mut sorted[indptr[i]..indptr[i + 1]];
        if row.windows(2).any(|w| w[0].0 >= w[1].0) {
            row.sort_by_key(|e| e.0);
            if let Some(w) = row.windows(2).find(|w| w[0].0 == w[1].0) {
                let message = format!("the entry ({}, {}) is given twice", i + 1, w[0].0 + 1);
                return Err(bad(lines.place, message));
            }
        }
    }
    let (indices, values) = sorted.into_iter().unzip();
    Data::csr(Csr { indptr, indices, values, columns })
}

/// Column by column; a symmetric file leaves out what lies above the diagonal.
fn array(mut lines: Lines, symmetric: bool, limit: Option<u64>) -> Result<Data> {
    let [rows, columns] = sizes(&mut lines, "rows columns")?;
    square(&lines, symmetric, rows, columns)?;
    // Nothing to read, whatever the other size is.
    if rows == 0 || columns == 0 {
        return Err(Error::EmptyData);
    }
    let entries = if symmetric {
        rows.checked_add(1).and_then(|next| rows.checked_mul(next)).map(|e| e / 2)
    } else {
        rows.checked_mul(columns)
    };
    let enough = |entries: usize| entries <= lines.rest.len();
    let Some(entries) = entries.filter(|&e| enough(e)) else {
        let message =
            format!("the file is too short for {rows} × {columns} values; is it cut off?");
        return Err(lines.bad(message));
    };
    within(limit, (rows as u64).saturating_mul(columns as u64).saturating_mul(8), lines.place)?;
    let mut x = Array2::zeros((rows, columns));
    let (mut i, mut j, mut count) = (0, 0, 0);
    while let Some(line) = lines.content() {
        for word in words(line) {
            if count == entries {
                let message = format!("{rows} × {columns} values were read, but the file has more");
                return Err(lines.bad(message));
            }
            count += 1;
            let v = finite(word, &lines)?;
            x[[i, j]] = v;
            if symmetric {
                x[[j, i]] = v;
            }
            i += 1;
            if i == rows {
                j += 1;
                i = if symmetric { j } else { 0 };
            }
        }
    }
    if count < entries {
        let message = format!("the file ends after {count} of {entries} values; is it cut off?");
        return Err(lines.bad(message));
    }
    Data::dense(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::DataKind;
    use ndarray::array;
    use proptest::prelude::*;

    fn of(text: &str) -> Result<Data> {
        read(text.as_bytes(), "m.mtx", None)
    }

    fn message(text: &str) -> String {
        of(text).unwrap_err().to_string()
    }

    const HEAD: &str = "%%MatrixMarket matrix coordinate real general\n";

    #[test]
    fn forms() {
        let x = of(&format!("{HEAD}% a comment\n\n2 3 3\n2 3 -1e2\r\n1 1 2\n2 1 0.5")).unwrap();
        assert_eq!(x.kind(), DataKind::Csr);
        assert_eq!(x.to_dense(), array![[2.0, 0.0, 0.0], [0.5, 0.0, -100.0]]);
        let x =
            of("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n").unwrap();
        assert_eq!(x.to_dense(), array![[1.0, 1.0], [1.0, 0.0]]);
        let x = of("%%matrixmarket MATRIX array integer general\n2 2\n1\n2\n3\n4\n").unwrap();
        assert_eq!(x.kind(), DataKind::Dense);
        assert_eq!(x.to_dense(), array![[1.0, 3.0], [2.0, 4.0]]);
        let wide = HEAD.replace(' ', "      ");
        let x = of(&format!("{wide}1 1 1\n1 1 2\n")).unwrap();
        assert_eq!(x.to_dense(), array![[2.0]]);
        let x = of("%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n").unwrap();
        assert_eq!(x.to_dense(), array![[1.0, 2.0], [2.0, 3.0]]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(message(""), format!("m.mtx: the file is empty; expected {FORMS}"));
        assert_eq!(message("1 2 3\n"), format!("m.mtx, line 1: expected {FORMS}, got \"1 2 3\""));
        let head = |field: &str| message(&format!("%%MatrixMarket matrix coordinate {field}\n"));
        for other in ["complex general", "real skew-symmetric"] {
            let got = format!("got \"%%MatrixMarket matrix coordinate {other}\"");
            assert_eq!(head(other), format!("m.mtx, line 1: expected {FORMS}, {got}"));
        }
        let rest = |rest: &str| message(&format!("{HEAD}{rest}"));
        assert_eq!(
            rest(""),
            "m.mtx: the file ends before the line of sizes (rows columns entries)"
        );
        assert_eq!(
            rest("2 3\n"),
            "m.mtx, line 2: expected the sizes (rows columns entries), got \"2 3\""
        );
        assert_eq!(rest("2 3 1\n3 1 1\n"), "m.mtx, line 3: row 3 is not between 1 and 2");
        assert_eq!(rest("2 3 1\n1 0 1\n"), "m.mtx, line 3: column 0 is not between 1 and 3");
        assert_eq!(rest("2 3 1\n1 1\n"), "m.mtx, line 3: expected row column value, got \"1 1\"");
        assert_eq!(rest("2 3 1\n1 1 nan\n"), "m.mtx, line 3: \"nan\" is not a finite number");
        assert_eq!(
            rest("2 3 2\n1 1 1\n"),
            "m.mtx, line 3: the file ends after 1 of 2 entries; is it cut off?"
        );
        assert_eq!(
            rest("2 3 1\n1 1 1\n1 2 1\n"),
            "m.mtx, line 4: the sizes announce 1 entry, but the file has more"
        );
        assert_eq!(rest("2 3 2\n1 2 1\n1 2 1\n"), "m.mtx: the entry (1, 2) is given twice");
        assert_eq!(rest("0 3 0\n"), "data: no rows or no columns");
        assert_eq!(rest("99999999999 3 0\n"), "m.mtx, line 2: 99999999999 × 3 is too large");
        assert_eq!(
            rest("4000000000 3 1\n1 1 1\n"),
            "m.mtx, line 2: 4000000000 rows for 1 entries; are the sizes right?"
        );
        assert_eq!(
            message("%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n"),
            "m.mtx, line 2: a symmetric matrix must be square, got 2 × 3"
        );
        assert_eq!(
            message("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n\n\n"),
            "m.mtx, line 7: the file ends after 3 of 4 values; is it cut off?"
        );
        let largest = usize::MAX;
        let array = |sizes: String| message(&format!("%%MatrixMarket matrix array real {sizes}\n"));
        assert_eq!(array(format!("general\n0 {largest}")), "data: no rows or no columns");
        assert_eq!(
            array(format!("symmetric\n{largest} {largest}")),
            format!(
                "m.mtx, line 2: the file is too short for {largest} × {largest} values; is it cut off?"
            )
        );
        assert_eq!(
            message("%%MatrixMarket matrix array real general\n99999 99999999\n1\n"),
            "m.mtx, line 2: the file is too short for 99999 × 99999999 values; is it cut off?"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Any order of the entries gives the same rows.
        #[test]
        fn order_does_not_matter(seed in 0u64..1000, keep in proptest::collection::vec(any::<bool>(), 20)) {
            let mut entries: Vec<(usize, usize, f64)> = (0..20)
                .filter(|&e| keep[e])
                .map(|e| (e / 4 + 1, e % 4 + 1, e as f64 + 0.5))
                .collect();
            let mut expected = Array2::zeros((5, 4));
            entries.iter().for_each(|&(i, j, v)| expected[[i - 1, j - 1]] = v);
            mustlink_core::random::SeedPath::new(seed).stream("order").shuffle(&mut entries);
            let mut text = format!("{HEAD}5 4 {}\n", entries.len());
            entries.iter().for_each(|(i, j, v)| text.push_str(&format!("{i} {j} {v}\n")));
            prop_assert_eq!(of(&text).unwrap().to_dense(), expected);
        }

        /// No text panics.
        #[test]
        fn no_text_panics(text in "[ 0-9a-z%.\n-]{0,60}", headed in any::<bool>()) {
            let _ = of(&if headed { format!("{HEAD}{text}") } else { text });
        }
    }
}
