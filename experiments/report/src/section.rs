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
    fn every_section_is_reached() {
        let named = Section { id: Some("b"), ..Section::new("B & C", html! { p { "2" } }) };
        let sections = [Section::new("A", html! { p { "1" } }), named];
        let page = with_navigation(&sections, &html! { hr; }).into_string();
        let nav = "<a href=\"#section-1\">A</a><a href=\"#section-2\">B &amp; C</a></nav>\n<hr>";
        assert!(page.contains(nav), "{page}");
        assert!(page.contains("<a id=\"section-2\"></a><h2 id=\"b\">B &amp; C</h2>\n<p>2</p>"));
    }
}
