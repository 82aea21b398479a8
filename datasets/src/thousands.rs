//! Numbers with thousands separators, signs or units. They are rejected, with a proposal for writing
//! them.

const MARKS: [char; 7] = ['.', ',', ' ', '\u{a0}', '\u{202f}', '\'', '’'];

/// The thousands separator of a cell: 1.234,5, 1,234.5, 1 234,5 or 1'234. `decimal` is the decimal mark that an
/// option sets.
pub(crate) fn mark(cell: &str, decimal: Option<char>) -> Option<char> {
    MARKS.into_iter().find(|&mark| Some(mark) != decimal && between(cell, mark, decimal))
}

fn between(cell: &str, mark: char, decimal: Option<char>) -> bool {
    // One group after a point or a comma may be decimals.
    let (point, sure) = match mark {
        '.' => (',', decimal == Some(',')),
        ',' => ('.', false),
        _ => (if cell.contains(',') { ',' } else { '.' }, true),
    };
    let (whole, fraction) = cell.split_once(point).unwrap_or((cell, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let mut groups = whole.strip_prefix('-').unwrap_or(whole).split(mark);
    let first = groups.next().is_some_and(|g| digits(g) && g.len() <= 3 && !g.starts_with('0'));
    let rest: Vec<&str> = groups.collect();
    let grouped = !rest.is_empty() && rest.iter().all(|g| digits(g) && g.len() == 3);
    let marked = sure || rest.len() > 1 || cell.contains(point);
    first && grouped && marked && digits(fraction)
}

/// True if the comma of a cell may be a decimal mark or a thousands separator: 1,234, but not 0,123.
pub(crate) fn undecided(cell: &str) -> bool {
    // With decimals behind it the comma can only be between thousands.
    cell.matches(',').count() == 1 && between(&format!("{cell}.0"), ',', None)
}

/// The number in a cell with a currency sign or a per cent sign: 5 of $5 and 5 %.
pub(crate) fn without_sign(cell: &str) -> Option<&str> {
    let signs = ['%', '$', '€', '£', '¥'];
    let bare = cell.trim_matches(|c: char| signs.contains(&c) || c.is_whitespace());
    let number = bare.replacen(',', ".", 1).parse::<f64>().is_ok_and(f64::is_finite);
    (number && cell.contains(signs)).then_some(bare)
}

/// The number of a cell with its unit: 12 and kg of "12 kg". A single letter close behind is more often part of a
/// name, as that of a house.
pub(crate) fn with_unit(cell: &str) -> Option<(&str, &str)> {
    let (number, unit) = cell.split_at(cell.find(|c: char| c.is_alphabetic() || c == '°')?);
    let of_unit = |c: char| c.is_alphabetic() || "°²³/".contains(c);
    let bare = number.trim_end();
    let is_unit = unit.chars().all(of_unit) && unit.chars().count() <= 8;
    let close = bare.len() == number.len() && unit.chars().count() == 1;
    let is_number = bare.replacen(',', ".", 1).parse::<f64>().is_ok_and(f64::is_finite);
    (is_number && is_unit && (!close || "mglsh".contains(unit))).then_some((bare, unit))
}

/// The message about a cell with this thousands separator.
pub(crate) fn told(cell: &str, mark: char) -> String {
    let marks = match mark {
        '.' => "points",
        ',' => "commas",
        '\'' | '’' => "apostrophes",
        _ => "blanks",
    };
    let plain = cell.replace(mark, "");
    format!(
        "{marks} between thousands are not supported: write {cell} as {plain}, in every cell of the column"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_between_thousands_are_known() {
        for (cell, mark_of_it) in [
            ("1.234,5", '.'),
            ("-1.234.567", '.'),
            ("1,234.5", ','),
            ("12,345,678", ','),
            ("1 234,5", ' '),
            ("12\u{a0}345", '\u{a0}'),
            ("1'234.5", '\''),
        ] {
            assert_eq!(mark(cell, None), Some(mark_of_it), "{cell}");
        }
        assert_eq!(mark("1.234", Some(',')), Some('.'));
        assert_eq!(mark("0.123", Some(',')), None);
        for cell in
            ["1,234", "1,5", "1.23,4", "12 34", "1234 567", "a 123", "1,234,5", "", ",", "1 234 "]
        {
            assert_eq!(mark(cell, None), None, "{cell}");
        }
        let bare = ["$5", "5.5 %", "12,5€", "-3%"].map(|cell| without_sign(cell).unwrap());
        assert_eq!(bare, ["5", "5.5", "12,5", "-3"]);
        assert!(["5", "a%", "%", "5%6", ""].iter().all(|cell| without_sign(cell).is_none()));
        let units =
            ["12 kg", "3.5cm", "-2,5 °C", "7g", "20 km/h"].map(|cell| with_unit(cell).unwrap().1);
        assert_eq!(units, ["kg", "cm", "°C", "g", "km/h"]);
        for cell in ["12", "12a", "kg", "Q1", "12 kg net", "1e5", "3 x 4", "", "A 12", "nan"] {
            assert_eq!(with_unit(cell), None, "{cell}");
        }
        let both = ["1,234", "-12,000"].map(undecided);
        let one = ["0,123", "1,5", "1,2345", "1,234,567", "1,234.5", "a,234"].map(undecided);
        assert_eq!((both, one), ([true; 2], [false; 6]));
        assert!(
            told("1'234", '\'').starts_with(
                "apostrophes between thousands are not supported: write 1'234 as 1234"
            )
        );
    }
}
