//! Tables of a report, and how they are written: for the page, for LaTeX, for Markdown.

use std::fmt::Write;

use maud::{Markup, html};

use crate::section::six_digits;

/// A cell of a table.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Cell {
    /// Text of the cell.
    pub text: String,
    /// The number it is sorted by.
    pub value: Option<f64>,
    pub bold: bool,
    /// Something failed.
    pub bad: bool,
}

impl Cell {
    /// A cell with text, which is not sorted as a number.
    pub fn text(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), ..Cell::default() }
    }

    /// A cell with a number, written by `show`; a dash if the number is missing.
    pub fn number(value: Option<f64>, show: impl Fn(f64) -> String) -> Cell {
        Cell { text: value.map_or("–".into(), show), value, ..Cell::default() }
    }
}

/// A difference with three decimals; one that would be 0.000 with its first digit.
pub(crate) fn difference(v: f64) -> String {
    match v.abs() {
        size if size >= 0.0005 || v == 0.0 => format!("{v:.3}"),
        size if size >= 1e-6 => format!("{v:.*}", (-size.log10().floor()) as usize),
        _ => format!("{v:.0e}"),
    }
}

/// A row, with the number of the method it belongs to.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Line {
    pub method: Option<usize>,
    pub cells: Vec<Cell>,
}

/// A table. The first column names the rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Sheet {
    pub caption: String,
    /// Text before a standalone table.
    pub lead: &'static str,
    /// Explanations, a sentence or two each. The page shows those of several tables once.
    pub how: Vec<String>,
    /// Findings and warnings about these numbers.
    pub note: String,
    /// Headings, with the number of the method that a column belongs to.
    pub head: Vec<(String, Option<usize>)>,
    pub lines: Vec<Line>,
    /// Columns from the second on that hold text.
    pub words: Vec<usize>,
}

/// Columns that fit on a page of LaTeX at its own size.
const FITS: usize = 7;
/// Points of a line of LaTeX's article.
const LINE: f64 = 345.0;
/// Columns of means with intervals that fit in half of the page.
const HALF: usize = 5;
/// Columns from which on the page has letters of the smallest size.
const MANY: usize = 11;

impl Sheet {
    /// For the page: sorted by a click on a heading, the first column in place when the rest moves.
    pub fn html(&self) -> Markup {
        let (size, room) = match self.head.len() {
            columns if columns > MANY => ("sheet most", "table all"),
            columns if columns > FITS => ("sheet many", "table all"),
            _ => ("sheet", "table"),
        };
        html! {
            div class=(room) {
            div class="scroll" {
                table class=(size) {
                    caption { (self.caption) }
                    "\n"
                    thead {
                        tr {
                            @for (at, (head, method)) in self.head.iter().enumerate() {
                                th scope="col" class=[self.is_text(at).then_some("l")] data-m=[*method] {
                                    button type="button" { (breakable(head)) }
                                }
                            }
                        }
                    }
                    "\n"
                    tbody { @for line in &self.lines { (self.row(line)) "\n" } }
                }
            }
            @if !self.note.is_empty() { p class="dim" { (self.note) } }
            }
            "\n"
        }
    }

    /// True if means with their intervals take more than half of the page.
    pub fn is_wide(&self) -> bool {
        self.head.len() > HALF
    }

    fn row(&self, line: &Line) -> Markup {
        html! {
            tr data-m=[line.method] {
                @for (at, cell) in line.cells.iter().enumerate() {
                    @let words = self.is_text(at);
                    @let text = if words { breakable(&cell.text) } else { html! { (cell.text) } };
                    @if at == 0 {
                        th scope="row" class="l" { (text) }
                    } @else {
                        @let class = if cell.bad { Some("bad") } else { words.then_some("l") };
                        @let method = self.head.get(at).and_then(|h| h.1);
                        td class=[class] data-v=[cell.value.map(six_digits)] data-m=[method] {
                            @if cell.bold { b { (text) } } @else { (text) }
                        }
                    }
                }
            }
        }
    }

    fn is_text(&self, column: usize) -> bool {
        column == 0 || self.words.contains(&column)
    }

    /// For LaTeX with the package booktabs; wide tables also want graphicx.
    pub fn latex(&self, label: &str, out: &mut String) {
        let columns: String =
            (0..self.head.len()).map(|at| if self.is_text(at) { 'l' } else { 'r' }).collect();
        let texts = |at: usize| {
            let cells = self.lines.iter().filter_map(move |line| line.cells.get(at));
            cells.map(|c| c.text.chars().count()).chain([self.head[at].0.chars().count()])
        };
        // Points of a line of ten-point letters, with the space between columns.
        let points = |at: usize| 5.5 * texts(at).max().unwrap_or(0) as f64 + 12.0;
        let wide = (0..self.head.len()).map(points).sum::<f64>() > LINE;
        let row = |cells: &mut dyn Iterator<Item = String>| cells.collect::<Vec<_>>().join(" & ");
        let _ = writeln!(
            out,
            "\\begin{{table}}\n\\centering\n\\caption{{{}}}\n\\label{{{label}}}",
            latex_text(&format!(
                "{}. {}",
                capital(&format!("{}{}", self.lead, self.caption)),
                capital(&self.text())
            ))
        );
        if wide {
            out.push_str("\\resizebox{\\textwidth}{!}{%\n");
        }
        let head = row(&mut self.head.iter().map(|(text, _)| latex_text(text)));
        let _ = writeln!(out, "\\begin{{tabular}}{{{columns}}}\n\\toprule\n{head} \\\\\n\\midrule");
        for line in &self.lines {
            let cells = row(&mut line.cells.iter().map(|c| {
                if c.bold {
                    format!("\\textbf{{{}}}", latex_text(&c.text))
                } else {
                    latex_text(&c.text)
                }
            }));
            // What begins like an option of the \\ or \midrule before is none.
            let guard = if cells.starts_with(['[', '*']) { "{}" } else { "" };
            let _ = writeln!(out, "{guard}{cells} \\\\");
        }
        out.push_str("\\bottomrule\n\\end{tabular}");
        out.push_str(if wide { "}\n" } else { "\n" });
        out.push_str("\\end{table}\n");
    }

    /// For Markdown with tables.
    pub fn markdown(&self, out: &mut String) {
        let plain = |text: &str| text.replace('|', "\\|").replace('\n', " ");
        let _ = writeln!(out, "**{}**\n", plain(&self.caption));
        let heads: Vec<String> = self.head.iter().map(|(text, _)| plain(text)).collect();
        let rule: Vec<&str> =
            (0..heads.len()).map(|at| if self.is_text(at) { "---" } else { "---:" }).collect();
        let _ = writeln!(out, "| {} |\n|{}|", heads.join(" | "), rule.join("|"));
        for line in &self.lines {
            let cells = line
                .cells
                .iter()
                .map(|c| if c.bold { format!("**{}**", plain(&c.text)) } else { plain(&c.text) });
            let _ = writeln!(out, "| {} |", cells.collect::<Vec<_>>().join(" | "));
        }
        let text = self.text();
        if !text.is_empty() {
            let _ = writeln!(out, "\n{}", plain(&text));
        }
    }

    /// Text of a standalone table.
    fn text(&self) -> String {
        let texts = self.how.iter().map(String::as_str).chain([self.note.trim()]);
        texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

/// Explanations of these tables, each once, in a fold.
pub(crate) fn explanations<'a>(sheets: impl IntoIterator<Item = &'a Sheet>) -> Markup {
    let mut all: Vec<&str> = Vec::new();
    for how in sheets.into_iter().flat_map(|s| &s.how) {
        if !all.contains(&how.as_str()) {
            all.push(how);
        }
    }
    html! {
        @if !all.is_empty() {
            details class="how" {
                summary { "How to read these tables" }
                ul { @for how in all { li { (how) } } }
            }
            "\n"
        }
    }
}

/// The first three of some names, and the number of the others; quotes keep a name with a comma together.
pub(crate) fn few<S: AsRef<str>>(names: &[S]) -> String {
    let shown = if names.len() > 4 { 3 } else { names.len() };
    let quoted = |name: &S| match name.as_ref() {
        name if name.contains(',') => format!("“{name}”"),
        name => name.to_string(),
    };
    let first = names[..shown].iter().map(quoted).collect::<Vec<_>>().join(", ");
    match names.len() - shown {
        0 => first,
        others => format!("{first} and {others} others"),
    }
}

/// A name that may continue on the next line after a joint.
pub(crate) fn breakable(text: &str) -> Markup {
    html! {
        @for part in text.split_inclusive(['_', '/']) {
            (part) @if part.ends_with(['_', '/']) { wbr; }
        }
    }
}

/// A sentence as it begins.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Text with what means something to LaTeX written out.
fn latex_text(text: &str) -> String {
    let mut out = String::new();
    let mut letters = text.chars().peekable();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        let number = letters.peek().is_some_and(char::is_ascii_digit) && !before.is_alphanumeric();
        before = letter;
        match letter {
            '-' if number => out.push_str("$-$"),
            '|' => out.push_str("\\textbar{}"),
            '…' => out.push_str("\\dots{}"),
            '→' => out.push_str("$\\to$"),
            '·' => out.push_str("$\\cdot$"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', letter]),
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '±' => out.push_str("$\\pm$"),
            '–' => out.push_str("--"),
            '−' => out.push_str("$-$"),
            '×' => out.push_str("$\\times$"),
            '↑' => out.push_str("$\\uparrow$"),
            '↓' => out.push_str("$\\downarrow$"),
            'χ' => out.push_str("$\\chi$"),
            '²' => out.push_str("$^2$"),
            '<' => out.push_str("$<$"),
            '>' => out.push_str("$>$"),
            '≥' => out.push_str("$\\ge$"),
            '≤' => out.push_str("$\\le$"),
            other => out.push(other),
        }
    }
    out
}

/// All tables for LaTeX: one file to `\input`, or to copy from.
pub(crate) fn latex<'a>(sheets: impl IntoIterator<Item = &'a Sheet>) -> String {
    let mut out = String::from("% \\usepackage{booktabs,graphicx}\n");
    let mut labels = std::collections::BTreeSet::new();
    for sheet in sheets {
        out.push('\n');
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' };
        let words: String = sheet.caption.chars().map(plain).collect();
        let mut label = format!("tab:{}", words.split_whitespace().collect::<Vec<_>>().join("-"));
        while !labels.insert(label.clone()) {
            label.push_str("-2");
        }
        sheet.latex(&label, &mut out);
    }
    out
}

/// All tables for Markdown.
pub(crate) fn markdown<'a>(sheets: impl IntoIterator<Item = &'a Sheet>) -> String {
    let mut out = String::new();
    for sheet in sheets {
        if !out.is_empty() {
            out.push('\n');
        }
        sheet.markdown(&mut out);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet() -> Sheet {
        let best = Cell { bold: true, value: Some(0.5), ..Cell::text("0.500 ± 0.010") };
        let failed = Cell { bad: true, ..Cell::text("2 failed") };
        Sheet {
            caption: "ari_x & more".into(),
            lead: "",
            how: vec!["Per cent.".into()],
            note: "100 %".into(),
            head: vec![("data set".into(), None), ("a|b".into(), Some(0)), ("c".into(), Some(1))],
            lines: vec![Line { method: None, cells: vec![Cell::text("iris<"), best, failed] }],
            words: Vec::new(),
        }
    }

    #[test]
    fn a_difference_is_never_shown_as_none() {
        let shown = [0.25, -0.0006, 0.0004, -0.0000213, 3e-8, 0.0].map(difference);
        assert_eq!(shown, ["0.250", "-0.001", "0.0004", "-0.00002", "3e-8", "0.000"]);
    }

    #[test]
    fn the_page_names_rows_and_columns() {
        let h = sheet().html().into_string();
        assert!(h.contains("<caption>ari_x &amp; more</caption>"), "{h}");
        assert!(h.contains("<th scope=\"row\" class=\"l\">iris&lt;</th>"));
        assert!(h.contains("<td data-v=\"0.5\" data-m=\"0\"><b>0.500 ± 0.010</b></td>"));
        assert!(h.contains("<td class=\"bad\" data-m=\"1\">2 failed</td>"));
        assert_eq!(h.matches("scope=\"col\"").count(), 3);
    }

    #[test]
    fn explanations_are_given_once() {
        let told = explanations([&sheet(), &sheet()]).into_string();
        assert_eq!(told.matches("<li>Per cent.</li>").count(), 1, "{told}");
        assert!(!sheet().html().into_string().contains("Per cent."));
        assert_eq!(few(&["a", "b", "c", "d"]), "a, b, c, d");
        assert_eq!(few(&["a, b", "c"]), "“a, b”, c");
        assert_eq!(few(&["a", "b", "c", "d", "e"]), "a, b, c and 2 others");
    }

    #[test]
    fn latex_and_markdown_escape_what_is_theirs() {
        let tex = latex([&sheet()]);
        assert!(
            tex.contains("\\caption{Ari\\_x \\& more. Per cent. 100 \\%}\n\\label{tab:ari-x-more}"),
            "{tex}"
        );
        assert!(
            tex.contains("\\begin{tabular}{lrr}\n\\toprule\ndata set & a\\textbar{}b & c \\\\"),
            "{tex}"
        );
        assert!(
            tex.contains("iris$<$ & \\textbf{0.500 $\\pm$ 0.010} & 2 failed \\\\\n\\bottomrule")
        );
        let text = markdown([&sheet(), &sheet()]);
        assert!(text.contains("| data set | a\\|b | c |\n|---|---:|---:|\n"), "{text}");
        assert!(
            text.contains("| iris< | **0.500 ± 0.010** | 2 failed |\n\nPer cent. 100 %\n\n**ari_x")
        );
        assert_eq!(latex_text("-0.095 ± 1, k-means (-1)"), "$-$0.095 $\\pm$ 1, k-means ($-$1)");
        assert!(latex([&sheet(), &sheet()]).contains("\\label{tab:ari-x-more-2}"));
        let mut odd = sheet();
        odd.lines[0].cells[0] = Cell::text("[new] iris");
        assert!(latex([&odd]).contains("\\midrule\n{}[new] iris & "));
        let led = Sheet { lead: "Scores: ", ..sheet() };
        assert!(latex([&led]).contains("\\caption{Scores: ari\\_x"));
        // Few columns with long names are wide, too.
        let long = |at: usize| (format!("pck_means + explore_consolidate {at}"), None);
        let wide = Sheet { head: (0..3).map(long).collect(), ..sheet() };
        assert!(latex([&wide]).contains("\\resizebox{\\textwidth}{!}{%"));
    }
}
