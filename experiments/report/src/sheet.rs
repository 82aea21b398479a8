//! Tables of a report, and how they are written: for the page, for LaTeX, for Markdown.

use std::fmt::Write;

/// A cell of a table.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Cell {
    /// What stands there.
    pub text: String,
    /// The number it is sorted by.
    pub value: Option<f64>,
    pub bold: bool,
    /// Something failed.
    pub bad: bool,
}

impl Cell {
    pub fn text(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), ..Cell::default() }
    }

    pub fn number(value: Option<f64>, show: impl Fn(f64) -> String) -> Cell {
        Cell { text: value.map_or("–".into(), show), value, ..Cell::default() }
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
    /// What the numbers mean.
    pub note: String,
    /// Headings, with the number of the method that a column belongs to.
    pub head: Vec<(String, Option<usize>)>,
    pub lines: Vec<Line>,
    /// Columns from the second on that hold text.
    pub words: Vec<usize>,
}

/// Columns that fit on a page of LaTeX at its own size.
const FITS: usize = 7;
/// Columns from which on the page has letters of the smallest size.
const MANY: usize = 11;

impl Sheet {
    /// For the page: sorted by a click on a heading, the first column in place when the rest moves.
    pub fn html(&self, h: &mut String) {
        let of =
            |method: Option<usize>| method.map_or(String::new(), |m| format!(" data-m=\"{m}\""));
        let _ = write!(
            h,
            "<div class=\"scroll\"><table class=\"sheet{}\"><caption>{}</caption>\n<thead><tr>",
            match self.head.len() {
                columns if columns > MANY => " most",
                columns if columns > FITS => " many",
                _ => "",
            },
            escape(&self.caption)
        );
        for (at, (head, method)) in self.head.iter().enumerate() {
            let class = if self.is_text(at) { " class=\"l\"" } else { "" };
            let _ = write!(
                h,
                "<th scope=\"col\"{class}{}><button type=\"button\">{}</button></th>",
                of(*method),
                breakable(head)
            );
        }
        h.push_str("</tr></thead>\n<tbody>\n");
        for line in &self.lines {
            let _ = write!(h, "<tr{}>", of(line.method));
            for (at, cell) in line.cells.iter().enumerate() {
                let text =
                    if self.is_text(at) { breakable(&cell.text) } else { escape(&cell.text) };
                if at == 0 {
                    let _ = write!(h, "<th scope=\"row\" class=\"l\">{text}</th>");
                    continue;
                }
                let class = match (cell.bad, self.is_text(at)) {
                    (true, _) => " class=\"bad\"",
                    (false, true) => " class=\"l\"",
                    (false, false) => "",
                };
                let value = cell.value.map_or(String::new(), |v| format!(" data-v=\"{v}\""));
                let method = self.head.get(at).and_then(|h| h.1);
                let text = if cell.bold { format!("<b>{text}</b>") } else { text };
                let _ = write!(h, "<td{class}{value}{}>{text}</td>", of(method));
            }
            h.push_str("</tr>\n");
        }
        h.push_str("</tbody></table></div>\n");
        if !self.note.is_empty() {
            let _ = writeln!(h, "<p class=\"dim\">{}</p>", escape(&self.note));
        }
    }

    fn is_text(&self, column: usize) -> bool {
        column == 0 || self.words.contains(&column)
    }

    /// For LaTeX with the package booktabs; wide tables also want graphicx.
    pub fn latex(&self, out: &mut String) {
        let columns: String =
            (0..self.head.len()).map(|at| if self.is_text(at) { 'l' } else { 'r' }).collect();
        let wide = self.head.len() > FITS;
        let row = |cells: &mut dyn Iterator<Item = String>| cells.collect::<Vec<_>>().join(" & ");
        let _ = writeln!(
            out,
            "\\begin{{table}}\n\\centering\n\\caption{{{}}}",
            latex_text(&format!("{}. {}", self.caption, self.note))
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
            let _ = writeln!(out, "{cells} \\\\");
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
        if !self.note.is_empty() {
            let _ = writeln!(out, "\n{}", plain(&self.note));
        }
    }
}

/// Text for HTML.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A name that may continue on the next line after a joint.
fn breakable(text: &str) -> String {
    escape(text).replace('_', "_<wbr>").replace('/', "/<wbr>")
}

/// Text with what means something to LaTeX written out.
fn latex_text(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
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
    for sheet in sheets {
        out.push('\n');
        sheet.latex(&mut out);
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
            note: "100 %".into(),
            head: vec![("data set".into(), None), ("a|b".into(), Some(0)), ("c".into(), Some(1))],
            lines: vec![Line { method: None, cells: vec![Cell::text("iris<"), best, failed] }],
            words: Vec::new(),
        }
    }

    #[test]
    fn the_page_names_rows_and_columns() {
        let mut h = String::new();
        sheet().html(&mut h);
        assert!(h.contains("<caption>ari_x &amp; more</caption>"), "{h}");
        assert!(h.contains("<th scope=\"row\" class=\"l\">iris&lt;</th>"));
        assert!(h.contains("<td data-v=\"0.5\" data-m=\"0\"><b>0.500 ± 0.010</b></td>"));
        assert!(h.contains("<td class=\"bad\" data-m=\"1\">2 failed</td>"));
        assert_eq!(h.matches("scope=\"col\"").count(), 3);
    }

    #[test]
    fn latex_and_markdown_escape_what_is_theirs() {
        let tex = latex([&sheet()]);
        assert!(tex.contains("\\caption{ari\\_x \\& more. 100 \\%}"), "{tex}");
        assert!(tex.contains("\\begin{tabular}{lrr}\n\\toprule\ndata set & a|b & c \\\\"), "{tex}");
        assert!(
            tex.contains("iris$<$ & \\textbf{0.500 $\\pm$ 0.010} & 2 failed \\\\\n\\bottomrule")
        );
        let text = markdown([&sheet(), &sheet()]);
        assert!(text.contains("| data set | a\\|b | c |\n|---|---:|---:|\n"), "{text}");
        assert!(text.contains("| iris< | **0.500 ± 0.010** | 2 failed |\n\n100 %\n\n**ari_x"));
        let wide = Sheet { head: vec![("x".into(), None); 9], ..sheet() };
        assert!(latex([&wide]).contains("\\resizebox{\\textwidth}{!}{%"));
    }
}
