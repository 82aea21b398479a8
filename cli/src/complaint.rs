//! How is what went wrong shown, and with which exit status?

use std::io::IsTerminal;

use ariadne::{Config, IndexType, Label, Report, ReportKind, Source};
use mustlink::Error;
use mustlink::error::Diagnostic;
use mustlink::text::visible;

use crate::failure::Failure;
use crate::term;

/// Shows a failure on standard error and gives the exit status.
pub(crate) fn tell(failure: &Failure) -> u8 {
    match failure {
        Failure::Error(error) => {
            match error {
                Error::Config(complaints) => complaints.iter().for_each(complain),
                Error::Cancelled => term::tell("interrupted"),
                _ => term::tell(&format!("error: {error}")),
            }
            error.exit_status()
        }
        Failure::Message { message, status } => {
            term::tell(&format!("error: {message}"));
            *status
        }
        Failure::ClosedPipe => 0,
    }
}

/// One line; on a terminal with the place in the source under it.
fn complain(complaint: &Diagnostic) {
    let text = if std::io::stderr().is_terminal() {
        std::fs::read_to_string(&complaint.source).ok()
    } else {
        None
    };
    match text.and_then(|text| with_source(complaint, &text, term::colour())) {
        Some(shown) => term::tell_coloured(shown.trim_end()),
        None => term::tell(&format!("error: {complaint}")),
    }
}

/// The complaint with its line of the source.
fn with_source(complaint: &Diagnostic, text: &str, colour: bool) -> Option<String> {
    let span = complaint.span.clone()?;
    if span.is_empty() || span.end > text.len() {
        return None;
    }
    let source = complaint.source.as_str();
    let head = if complaint.path.is_empty() { source } else { &complaint.path };
    let (head, message) = (visible(head), visible(&complaint.message));
    // As many bytes as before, so that places stay: a control character of two is left out of it.
    let text: String = text
        .chars()
        .map(|c| if c.is_ascii_control() && !c.is_ascii_whitespace() { '?' } else { c })
        .collect();
    let mut out = Vec::new();
    Report::build(ReportKind::Error, (source, span.clone()))
        .with_config(Config::default().with_color(colour).with_index_type(IndexType::Byte))
        .with_message(head)
        .with_label(Label::new((source, span)).with_message(message))
        .finish()
        .write((source, Source::from(text)), &mut out)
        .ok()?;
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_the_source_is_shown() {
        let text = "k = 3\nclusterer = \"kmens\"\n";
        let complaint = Diagnostic {
            source: "m.toml".into(),
            position: Some((2, 13)),
            span: Some(18..25),
            path: "clusterer".into(),
            message: "no such thing".into(),
        };
        let shown = with_source(&complaint, text, false).unwrap();
        assert!(shown.contains("Error: clusterer\n"), "{shown}");
        assert!(shown.contains("m.toml:2:13"), "{shown}");
        assert!(shown.contains("2 │ clusterer = \"kmens\""), "{shown}");
        assert!(shown.contains("── no such thing"), "{shown}");
        let nowhere = Diagnostic { span: None, ..complaint };
        assert!(with_source(&nowhere, text, false).is_none());
    }
}
