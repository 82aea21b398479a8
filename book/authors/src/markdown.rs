//! Text as parts of a page in Markdown.

/// The text as one cell of a table in Markdown.
pub(crate) fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}
