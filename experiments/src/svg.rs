//! SVG of figures: a head, two axes with round marks, colours.
//!
//! Plain SVG, written here: text stays text, and the numbers drawn are those of the CSV beside the
//! figure. A plotting library draws dashes as hundreds of strokes and places a legend only on top of
//! the curves.

use std::fmt::Write;

/// Okabe and Ito's colours, told apart with any colour vision; yellow left out on white.
pub const COLOURS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#333333"];

/// Where the numbers of the vertical axis are marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marks {
    /// By light lines across the plot.
    Across,
    /// By short strokes outside it.
    Outside,
}

/// The rectangle that is drawn in, in pixels from the upper left corner of the figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame {
    /// Left edge: the vertical axis.
    pub left: f64,
    /// Upper edge.
    pub top: f64,
    /// Right edge.
    pub right: f64,
    /// Lower edge: the horizontal axis.
    pub bottom: f64,
    /// How numbers of the vertical axis are marked.
    pub marks: Marks,
}

/// A position in pixels and what is written there.
pub type Mark = (f64, String);

impl Frame {
    /// The marks of the horizontal axis.
    pub fn x_marks(&self, s: &mut String, marks: &[Mark]) {
        let bottom = self.bottom;
        for (at, text) in marks {
            let _ = writeln!(
                s,
                "<path d=\"M{at:.1} {bottom}v5\" stroke=\"#555\"/><text x=\"{at:.1}\" y=\"{:.1}\" \
                 text-anchor=\"middle\">{text}</text>",
                bottom + 19.0
            );
        }
    }

    /// The marks of the vertical axis.
    pub fn y_marks(&self, s: &mut String, marks: &[Mark]) {
        let (stroke, colour) = match self.marks {
            Marks::Across => (format!("H{:.1}", self.right), "#e4e4e4"),
            Marks::Outside => ("h-5".into(), "#555"),
        };
        let left = self.left;
        for (at, text) in marks {
            let _ = writeln!(
                s,
                "<path d=\"M{left} {at:.1}{stroke}\" stroke=\"{colour}\"/><text x=\"{:.1}\" y=\"{:.1}\" \
                 text-anchor=\"end\">{text}</text>",
                left - 8.0,
                at + 4.0
            );
        }
    }

    /// Both axes with their names, which are text already escaped.
    pub fn axes(&self, s: &mut String, x_name: &str, y_name: &str) {
        let Frame { left, top, right, bottom, .. } = *self;
        // Two ways of writing one line: finished figures are compared byte by byte.
        let (line, below) = match self.marks {
            Marks::Across => (format!("H{right:.1}"), 39.0),
            Marks::Outside => (format!("h{}", right - left), 40.0),
        };
        let _ = writeln!(
            s,
            "<path d=\"M{left} {top}V{bottom}{line}\" fill=\"none\" stroke=\"#555\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{x_name}</text>\n\
             <text transform=\"translate(17 {:.1}) rotate(-90)\" text-anchor=\"middle\">{y_name}</text>",
            (left + right) / 2.0,
            bottom + below,
            (top + bottom) / 2.0
        );
    }
}

/// The head of a figure of `width` × `height` pixels with its title above `left`; `</svg>` ends it.
pub fn head(title: &str, width: f64, height: f64, left: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\" font-family=\"system-ui, sans-serif\" font-size=\"12\" \
         fill=\"#222\">\n<title>{t}</title>\n<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n\
         <text x=\"{left}\" y=\"22\" font-size=\"15\" font-weight=\"600\">{t}</text>\n",
        t = escape(title)
    )
}

/// About `wanted` round numbers that enclose both ends.
pub fn ticks(low: f64, high: f64, wanted: usize) -> Vec<f64> {
    let span = if high > low { high - low } else { low.abs().max(1.0) * 0.1 };
    let raw = span / wanted as f64;
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|f| f * power)
        .find(|s| *s >= raw * 0.999)
        .unwrap_or(power * 10.0);
    let first = (low / step + 1e-9).floor() as i64;
    let last = (high / step - 1e-9).ceil().max(first as f64 + 1.0) as i64;
    (first..=last).map(|i| i as f64 * step).collect()
}

/// A tick with as many decimals as the distance to its neighbour needs.
pub fn number(v: f64, all: &[f64]) -> String {
    let step = all.windows(2).map(|w| w[1] - w[0]).fold(f64::INFINITY, f64::min);
    let decimals = (0..6).find(|&d| {
        let scaled = step * 10f64.powi(d);
        (scaled - scaled.round()).abs() < 1e-6 && scaled.round() >= 1.0
    });
    let text = format!("{v:.*}", decimals.unwrap_or(0) as usize);
    if text.starts_with('-') && v == 0.0 { text[1..].into() } else { text }
}

/// Text for XML and HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_stand_across_the_plot_or_outside_it() {
        let frame = |marks| Frame { left: 70.0, top: 40.0, right: 170.5, bottom: 90.0, marks };
        let drawn = |marks| {
            let mut s = String::new();
            frame(marks).y_marks(&mut s, &[(50.25, "0.5".into())]);
            frame(marks).axes(&mut s, "x", "y");
            s
        };
        let across = drawn(Marks::Across);
        assert!(across.contains("<path d=\"M70 50.2H170.5\" stroke=\"#e4e4e4\"/>"), "{across}");
        assert!(across.contains("<path d=\"M70 40V90H170.5\"") && across.contains("y=\"129.0\""));
        let outside = drawn(Marks::Outside);
        assert!(outside.contains("<path d=\"M70 50.2h-5\" stroke=\"#555\"/>"), "{outside}");
        assert!(outside.contains("<path d=\"M70 40V90h100.5\"") && outside.contains("y=\"130.0\""));
        assert!(head("a & b", 10.0, 20.0, 3.0).contains("<title>a &amp; b</title>"));
    }

    #[test]
    fn ticks_are_round_and_enclose() {
        assert_eq!(ticks(0.0, 100.0, 10).len(), 11);
        let t = ticks(0.613, 0.944, 6);
        assert!(t[0] <= 0.613 && *t.last().unwrap() >= 0.944 && t.len() <= 9, "{t:?}");
        assert_eq!(number(0.65, &[0.6, 0.65]), "0.65");
        assert_eq!(number(20.0, &[0.0, 20.0]), "20");
        assert!(ticks(0.5, 0.5, 6).len() >= 2);
    }
}
