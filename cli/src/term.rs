//! Output: data to standard output, everything else to standard error.

use std::io::{ErrorKind, IsTerminal, Write};

use comfy_table::{ContentArrangement, LineStyle, Table, TableStyle};
use mustlink::Error;
use mustlink::text::visible;

use crate::failure::Failure;
use crate::options::Format;

/// Writes text for people. Control characters, which file names may contain, are made visible.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    print_data(&visible(text))
}

/// Writes data. If the reader has closed the pipe, the program ends without a message.
pub(crate) fn print_data(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let text = if out.is_terminal() { &visible(text) } else { text };
    let newline = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
    let written = out
        .write_all(text.as_bytes())
        .and_then(|()| out.write_all(newline.as_bytes()))
        .and_then(|()| out.flush());
    written.map_err(|e| match e.kind() {
        ErrorKind::BrokenPipe => Failure::ClosedPipe,
        _ => Error::Data { place: "standard output".into(), message: e.to_string() }.into(),
    })
}

/// Writes a value as JSON.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|e| Error::Data { place: "standard output".into(), message: e.to_string() })?;
    print_data(&text)
}

/// Writes a summary, as JSON or as `text`; to standard error where standard output `is_taken` by data.
pub(crate) fn print_summary(
    summary: &impl serde::Serialize,
    format: Format,
    is_taken: bool,
    text: impl FnOnce() -> String,
) -> Result<(), Failure> {
    let shown = match format {
        Format::Json => serde_json::to_string_pretty(summary)
            .map_err(|e| Error::Data { place: "summary".into(), message: e.to_string() })?,
        Format::Text => visible(&text()),
    };
    if is_taken {
        tell(&shown);
        return Ok(());
    }
    print_data(&shown)
}

/// Writes a line to standard error. A closed standard error is not reported.
pub(crate) fn tell(text: &str) {
    tell_coloured(&visible(text));
}

/// The same for text that may hold colours of our own.
pub(crate) fn tell_coloured(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Whether standard error takes colours (<https://no-color.org>).
pub(crate) fn colour() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    std::io::stderr().is_terminal() && !refused
}

/// A table without lines between columns: wrapped on a terminal, one line per row in a pipe.
pub(crate) fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    let rule = LineStyle::none().fill('─').junction('─');
    table.load_style(TableStyle::new().header_separator(rule)).set_header(header.iter().copied());
    if std::io::stdout().is_terminal() {
        let columns = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
        table.set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(columns.unwrap_or(100));
    } else {
        table.set_content_arrangement(ContentArrangement::Disabled);
    }
    table
}
