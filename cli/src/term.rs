//! Output: data to standard output, everything else to standard error.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{ErrorKind, IsTerminal, Write};

use anstream::ColorChoice;
use clap::builder::Styles;
use comfy_table::{ContentArrangement, LineStyle, Table, TableStyle};
use mustlink::Error;
use mustlink::text::{count, visible};

use crate::failure::Failure;
use crate::options::Format;

/// The styles of clap.
static STYLES: Styles = Styles::styled();

/// Sets whether styles are written, by `--color` in the command line, also for errors in the command line itself.
pub(crate) fn set_colours(args: &[OsString]) {
    let words: Vec<_> = args.iter().map(|word| word.to_string_lossy()).collect();
    let line = words.join(" ").replace("--color=", "--color ");
    let choice = line.split("--color ").nth(1).and_then(|rest| rest.split(' ').next());
    match choice {
        Some("always") => ColorChoice::Always.write_global(),
        Some("never") => ColorChoice::Never.write_global(),
        _ => ColorChoice::Auto.write_global(),
    }
}

/// Writes text for people. Control characters, which file names may contain, are made visible.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    print_data(&visible(text))
}

/// Writes data. If the reader has closed the pipe, the program ends without a message.
pub(crate) fn print_data(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let text = if out.is_terminal() { &visible(text) } else { text };
    put(&mut out, text)
}

/// Writes text for people with styles of our own, which only a terminal gets.
pub(crate) fn print_styled(text: &str) -> Result<(), Failure> {
    put(&mut anstream::stdout().lock(), text)
}

fn put(out: &mut impl Write, text: &str) -> Result<(), Failure> {
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

fn json(value: &impl serde::Serialize) -> Result<String, Failure> {
    let wrong =
        |e: serde_json::Error| Error::Data { place: "summary".into(), message: e.to_string() };
    Ok(serde_json::to_string_pretty(value).map_err(wrong)?)
}

/// Writes a value as JSON.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    print_data(&json(value)?)
}

/// Writes a summary, as JSON or as `text` with styles; to standard error if standard output `is_taken` by data.
pub(crate) fn print_summary(
    summary: &impl serde::Serialize,
    format: Format,
    is_taken: bool,
    text: impl FnOnce() -> String,
) -> Result<(), Failure> {
    match (format, is_taken) {
        (Format::Json, false) => return print_json(summary),
        (Format::Json, true) => tell(&json(summary)?),
        (Format::Text, false) => return print_styled(&text()),
        (Format::Text, true) => tell_styled(text().trim_end()),
    }
    Ok(())
}

/// A summary in blocks, usually what was read, what was done and what was found, and the command of the next step.
pub(crate) fn summary(blocks: &[Vec<(&str, String)>], next: Option<String>) -> String {
    let (bold, valid) = (STYLES.get_literal(), STYLES.get_valid());
    let names = blocks.iter().flatten().map(|(name, _)| name.chars().count());
    let wide = names.max().unwrap_or(0).max(12);
    let mut text = String::new();
    for block in blocks.iter().filter(|block| !block.is_empty()) {
        text += if text.is_empty() { "" } else { "\n" };
        for (name, value) in block {
            let (name, value) = (visible(name), wrapped(&visible(value), wide + 1));
            let _ = writeln!(text, "{bold}{name:<wide$}{bold:#} {value}");
        }
    }
    if let Some(next) = next {
        // A command that is pasted stays on one line.
        let next = visible(&next);
        let _ = writeln!(text, "\n{bold}{:<wide$}{bold:#} {valid}{next}{valid:#}", "next");
    }
    text
}

/// The counts above 0, with their words.
pub(crate) fn counted(all: &[(usize, &str)]) -> String {
    all.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!(", {n} {what}")).collect()
}

/// The number of groups of these sizes, and the first sizes: `3 (32, 25 and 18 objects)`.
pub(crate) fn listed(sizes: &[usize]) -> String {
    let joined = |part: &[usize]| part.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let k = sizes.len();
    match sizes {
        [] => "0".into(),
        [one] => format!("1 ({})", count(*one, "object")),
        [others @ .., last] if k <= 20 => {
            format!("{k} ({} and {})", joined(others), count(*last, "object"))
        }
        _ => format!("{k} ({}, … objects)", joined(&sizes[..20])),
    }
}

/// `text` broken between words to the width of the terminal; lines after the first are indented.
fn wrapped(text: &str, indent: usize) -> String {
    let most = usize::from(width()).saturating_sub(indent).max(20);
    let (mut out, mut column) = (String::new(), 0);
    for (at, word) in text.split(' ').enumerate() {
        let length = word.chars().count();
        if at > 0 && column + 1 + length > most {
            let _ = write!(out, "\n{:indent$}", "");
            column = length;
        } else {
            out += if at > 0 { " " } else { "" };
            column += length + usize::from(at > 0);
        }
        out += word;
    }
    out
}

/// Columns of the terminal; 80 without a terminal.
pub(crate) fn width() -> u16 {
    let given = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let measured = || terminal_size::terminal_size().map(|(width, _)| width.0);
    given.or_else(measured).unwrap_or(80)
}

/// Writes a line to standard error. A closed standard error is not reported.
pub(crate) fn tell(text: &str) {
    tell_styled(&marked(&visible(text)));
}

/// The same for text that may hold styles of our own.
pub(crate) fn tell_styled(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// `text` with the word that it begins with in the style of clap.
fn marked(text: &str) -> String {
    let marks = [
        ("error:", STYLES.get_error()),
        ("warning:", STYLES.get_invalid()),
        ("note:", STYLES.get_literal()),
        ("\n  tip:", STYLES.get_valid()),
    ];
    match marks.iter().find_map(|(mark, style)| Some((mark, style, text.strip_prefix(*mark)?))) {
        Some((mark, style, rest)) => format!("{style}{mark}{style:#}{rest}"),
        None => text.into(),
    }
}

/// A table without lines between columns: wrapped on a terminal, one line per row in a pipe.
pub(crate) fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    let rule = LineStyle::none().fill('─').junction('─');
    table.load_style(TableStyle::new().header_separator(rule)).set_header(header.iter().copied());
    if std::io::stdout().is_terminal() {
        table.set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(width());
    } else {
        table.set_content_arrangement(ContentArrangement::Disabled);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_has_the_style_of_clap() {
        let red = STYLES.get_error();
        assert_eq!(marked("error: no such file"), format!("{red}error:{red:#} no such file"));
        assert_eq!(marked("no error: all is well"), "no error: all is well");
    }

    #[test]
    fn sizes_of_groups() {
        assert_eq!(listed(&[]), "0");
        assert_eq!(listed(&[1]), "1 (1 object)");
        assert_eq!(listed(&[2, 1]), "2 (2 and 1 object)");
        assert_eq!(listed(&[32, 25, 18]), "3 (32, 25 and 18 objects)");
        let many = listed(&[7; 21]);
        assert!(many.starts_with("21 (7, 7, ") && many.ends_with(" 7, … objects)"), "{many}");
        assert_eq!(many.matches('7').count(), 20);
    }
}
