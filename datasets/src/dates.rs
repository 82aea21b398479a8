//! Cells that are dates or times.

/// True if a cell is a date such as 2024-01-31, 31.1.2024 or 1/31/2024, with or without a time behind it, or a
/// time alone.
pub(crate) fn is_date(cell: &str) -> bool {
    match cell.split_once([' ', 'T']) {
        Some((day, time)) if is_day(day) => is_time(time.trim_start()),
        _ => is_day(cell) || is_time(cell),
    }
}

fn is_day(text: &str) -> bool {
    let year = |part: &str| part.len() == 4 && part.bytes().all(|b| b.is_ascii_digit());
    let small =
        |part: &str| part.len() <= 2 && part.parse::<u8>().is_ok_and(|n| (1..=31).contains(&n));
    ['-', '.', '/'].into_iter().any(|sign| {
        let parts: Vec<&str> = text.split(sign).collect();
        match parts[..] {
            [one, middle, other] => {
                small(middle) && (year(one) && small(other) || small(one) && year(other))
            }
            _ => false,
        }
    })
}

fn is_time(text: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let Some((hour, rest)) = text.split_once(':') else { return false };
    let more = rest.get(2..).unwrap_or_default();
    let ends = !more.starts_with(|c: char| c.is_ascii_digit());
    hour.len() <= 2 && digits(hour) && rest.get(..2).is_some_and(digits) && ends
}

#[cfg(test)]
mod tests {
    use super::is_date;

    #[test]
    fn dates_are_told_from_numbers_and_words() {
        for cell in [
            "2024-01-31",
            "31.1.2024",
            "1/31/2024",
            "2024-01-31T12:30:00+01:00",
            "31.01.2024 9:05",
            "12:30",
        ] {
            assert!(is_date(cell), "{cell}");
        }
        for cell in [
            "",
            "1.5",
            "1.234.567",
            "2024",
            "1-2",
            "red",
            "a:30",
            "1:2",
            "2024-13-45",
            "31.1.2024 x",
        ] {
            assert!(!is_date(cell), "{cell}");
        }
    }
}
