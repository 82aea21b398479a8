//! What is shown of an object?

use serde::Serialize;

/// Longest text of one cell that is shown, in characters.
const LONGEST: usize = 4000;

/// One object as a person sees it. What it holds is text, never markup.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Shown {
    /// Its id.
    pub id: String,
    /// Cells of a table: name of the column and content.
    pub cells: Vec<(String, String)>,
    /// Running text.
    pub text: Option<String>,
}

/// What is known of objects for people.
pub struct Objects<'a> {
    /// The id of one.
    pub id: &'a (dyn Fn(u32) -> String + Sync),
    /// All that is shown of one.
    pub shown: &'a (dyn Fn(u32) -> Shown + Sync),
}

impl Objects<'_> {
    /// Its id, [`visible`].
    pub fn name(&self, object: u32) -> String {
        visible(&(self.id)(object))
    }
}

impl Shown {
    /// The same with every text made [`visible`].
    pub fn visible(self) -> Self {
        let cells = self.cells.into_iter().map(|(n, c)| (visible(&n), visible(&c))).collect();
        Shown { id: visible(&self.id), cells, text: self.text.as_deref().map(visible) }
    }
}

/// Text in which nothing steers a terminal or turns the direction of reading, and which is not longer than
/// can be looked at: how long it was is said.
pub fn visible(text: &str) -> String {
    let steers = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut out: String =
        text.chars().take(LONGEST).map(|c| if steers(c) { '\u{fffd}' } else { c }).collect();
    if text.len() > LONGEST && text.chars().nth(LONGEST).is_some() {
        out += &format!(" … ({} characters in all)", text.chars().count());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_and_nothing_is_endless() {
        assert_eq!(visible("a\u{1b}[2J\u{202e}b\n<b>"), "a\u{fffd}[2J\u{fffd}b\n<b>");
        let long = visible(&"ä".repeat(10_000_000));
        assert!(long.ends_with("… (10000000 characters in all)") && long.len() < 3 * LONGEST);
    }
}
