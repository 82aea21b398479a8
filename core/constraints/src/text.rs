//! Words of messages.

/// A number of things: `1 answer`, `2 answers`, `2 queries`.
pub fn count(n: usize, word: &str) -> String {
    match word.strip_suffix('y') {
        _ if n == 1 => format!("1 {word}"),
        Some(stem) => format!("{n} {stem}ies"),
        None => format!("{n} {word}s"),
    }
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
    fn control_characters_steer_no_terminal() {
        assert_eq!(visible("a\u{1b}[2Jb\r\u{7}\u{9b}3m\n\tä\u{202e}z"), "a?[2Jb???3m\n\tä?z");
    }
}
