//! A part of the page with a heading of its own.

use maud::{Markup, html};

/// A section.
#[derive(Debug, Clone)]
pub(crate) struct Section {
    /// A name by which others may link to it.
    pub id: Option<&'static str>,
    pub title: &'static str,
    pub body: Markup,
}

impl Section {
    /// A section without a name.
    pub fn new(title: &'static str, body: Markup) -> Section {
        Section { id: None, title, body }
    }
}

/// A number with six digits: all digits would double the page.
pub(crate) fn six_digits(v: f64) -> f64 {
    format!("{v:.5e}").parse().unwrap_or(v)
}

/// Numbers of a CSV with six digits.
fn rounded(text: &str) -> String {
    let cell = |cell: &str| match cell.parse::<f64>() {
        Ok(v) if cell.contains('.') => six_digits(v).to_string(),
        _ => cell.to_string(),
    };
    let line = |line: &str| line.split(',').map(cell).collect::<Vec<_>>().join(",");
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// A file as text that can be selected, folded; the script of the page also saves it.
pub(crate) fn file(name: &str, about: &str, text: &str) -> Markup {
    html! {
        details class="screen fold file" {
            summary { (name) @if !about.is_empty() { ": " (about) } }
            pre id=(name) { @if name.ends_with(".csv") { (rounded(text)) } @else { (text) } }
        }
        "\n"
    }
}

/// A link to a [`file`] of the page.
pub(crate) fn file_link(name: &str) -> Markup {
    html! { a href={ "#" (name) } { (name) } }
}

/// The way to all sections, then the sections with `between` above them.
pub(crate) fn with_navigation(sections: &[Section], between: &Markup) -> Markup {
    html! {
        nav aria-label="Sections" {
            @for (at, section) in (1..).zip(sections) {
                a href={ "#section-" (at) } { (section.title) }
            }
        }
        "\n"
        (between)
        @for (at, section) in (1..).zip(sections) {
            a id={ "section-" (at) } {}
            h2 id=[section.id] { (section.title) }
            "\n"
            (section.body)
            "\n"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_files_have_six_digits() {
        let text = "name,a\n\"x, y\",0.12345678\n12345678,1e-9\nz,0.5";
        assert_eq!(rounded(text), "name,a\n\"x, y\",0.123457\n12345678,1e-9\nz,0.5");
    }

    #[test]
    fn every_section_is_reached() {
        let named = Section { id: Some("b"), ..Section::new("B & C", html! { p { "2" } }) };
        let sections = [Section::new("A", html! { p { "1" } }), named];
        let page = with_navigation(&sections, &html! { hr; }).into_string();
        let nav = "<a href=\"#section-1\">A</a><a href=\"#section-2\">B &amp; C</a></nav>\n<hr>";
        assert!(page.contains(nav), "{page}");
        assert!(page.contains("<a id=\"section-2\"></a><h2 id=\"b\">B &amp; C</h2>\n<p>2</p>"));
    }
}
