//! Words of messages.

/// A number of things: `1 answer`, `2 answers`, `2 queries`.
pub fn count(n: usize, word: &str) -> String {
    match word.strip_suffix('y') {
        _ if n == 1 => format!("1 {word}"),
        Some(stem) => format!("{n} {stem}ies"),
        None => format!("{n} {word}s"),
    }
}

/// The form of a word that fits a number of things: `1 cell was`, `2 cells were`.
pub fn form<'a>(n: usize, one: &'a str, many: &'a str) -> &'a str {
    if n == 1 { one } else { many }
}

/// The text with `?` for control characters, which steer a terminal, and for those that turn the direction of
/// writing. Messages and reports quote cells of files and words of other programs.
pub fn visible(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let sign = |c: char| match c {
        '\n' | '\t' => c,
        c if c.is_control() || turns(c) => '?',
        c => c,
    };
    text.chars().map(sign).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_not_many() {
        let said = |n| format!("{} {} left", count(n, "cell"), form(n, "is", "are"));
        assert_eq!([0, 1, 2].map(said), ["0 cells are left", "1 cell is left", "2 cells are left"]);
        assert_eq!([1, 2].map(|n| count(n, "query")), ["1 query", "2 queries"]);
    }

    #[test]
    fn control_characters_steer_no_terminal() {
        assert_eq!(visible("a\u{1b}[2Jb\r\u{7}\u{9b}3m\n\tä\u{202e}z"), "a?[2Jb???3m\n\tä?z");
    }
}
