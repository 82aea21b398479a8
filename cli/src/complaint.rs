//! Error messages and exit statuses.

use std::io::IsTerminal;

use mustlink::Error;
use mustlink::error::Diagnostic;

use crate::failure::Failure;
use crate::term;

/// Shows a failure on standard error and gives the exit status.
pub(crate) fn tell(failure: &Failure) -> u8 {
    match failure {
        Failure::Error(error) => {
            match error {
                Error::Config(complaints) => complaints.iter().for_each(complain),
                Error::Cancelled => term::tell("interrupted"),
                _ => show(&error.to_string(), None),
            }
            error.exit_status()
        }
        Failure::Message { message, status } => {
            show(message, None);
            *status
        }
        Failure::ClosedPipe => 0,
    }
}

/// The beginnings of a next step at the end of a message.
const STEPS: [&str; 6] =
    ["; did you mean ", "; run \"", "; mustlink ", "; give ", "; name ", "; leave "];

/// Writes an error as clap does, with the line of the file, if there is one, and the next step as a tip.
pub(crate) fn show(message: &str, source: Option<String>) {
    let at = STEPS.iter().filter_map(|step| message.find(step)).min();
    let (wrong, tip) = message.split_at(at.unwrap_or(message.len()));
    term::tell(&format!("error: {wrong}"));
    source.iter().for_each(|lines| term::tell(lines));
    if let Some(tip) = tip.strip_prefix("; ") {
        term::tell(&format!("\n  tip: {tip}"));
    }
}

/// An error in a file; on a terminal with the line of the file.
fn complain(complaint: &Diagnostic) {
    let is_seen = std::io::stderr().is_terminal();
    let text = is_seen.then(|| std::fs::read_to_string(&complaint.source).ok()).flatten();
    show(&complaint.to_string(), text.and_then(|text| excerpt(complaint, &text)));
}

/// The line of `text` that a complaint is about, with a mark below the place.
fn excerpt(complaint: &Diagnostic, text: &str) -> Option<String> {
    let (line, column) = complaint.position?;
    let shown = text.lines().nth(line.checked_sub(1)?)?.replace('\t', " ");
    Some(format!("\n  {shown}\n  {:>column$}", "^"))
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
        let shown = excerpt(&complaint, text).unwrap();
        assert_eq!(shown, "\n  clusterer = \"kmens\"\n              ^");
        let nowhere = Diagnostic { position: None, ..complaint };
        assert!(excerpt(&nowhere, text).is_none());
    }
}
