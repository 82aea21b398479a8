//! SVG of figures: a head, two axes with round marks, colours.
//!
//! Plain SVG, written here: text stays text, and the numbers drawn are those of the CSV beside the
//! figure. A plotting library draws dashes as hundreds of strokes and places a legend only on top of
//! the curves.

use std::fmt::Write;

/// Okabe and Ito's colours, told apart with any colour vision; yellow left out on white.
pub const COLOURS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#333333"];

const DASHES: [&str; 5] = ["", "7 4", "2 3", "9 3 2 3", "12 5"];

/// The colour of series number `at`.
pub fn colour(at: usize) -> &'static str {
    COLOURS[at % COLOURS.len()]
}

/// The attributes of the line of series number `at`: colour, width, dashes.
pub fn stroke(at: usize) -> String {
    let dash = DASHES[at % DASHES.len()];
    let dash =
        if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dash}\"") };
    format!("fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{dash}", colour(at))
}

/// The marker of series number `at`, centred at x and y.
pub fn marker(at: usize, x: f64, y: f64) -> String {
    shape(at, colour(at), x, y)
}

/// One of six shapes of a colour, centred at x and y.
pub fn shape(at: usize, colour: &str, x: f64, y: f64) -> String {
    let path = |d: &str| {
        format!("<path transform=\"translate({x:.1} {y:.1})\" d=\"{d}\" fill=\"{colour}\"/>")
    };
    match at % 6 {
        0 => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.6\" fill=\"{colour}\"/>"),
        1 => path("M-3.4-3.4H3.4V3.4H-3.4Z"),
        2 => path("M0-4.6L4.3 3H-4.3Z"),
        3 => path("M0-4.8L4.8 0L0 4.8L-4.8 0Z"),
        4 => path("M0 4.6L4.3-3H-4.3Z"),
        _ => path("M-1.2-4.4H1.2V-1.2H4.4V1.2H1.2V4.4H-1.2V1.2H-4.4V-1.2H-1.2Z"),
    }
}

/// Which entries of a legend stand in which line, with their distance from the left: `names` in lines
/// of at most `room` pixels.
pub fn legend_lines(names: &[&str], room: f64) -> Vec<Vec<(f64, usize)>> {
    let mut lines: Vec<Vec<(f64, usize)>> = Vec::new();
    let mut at = 0.0;
    for (number, name) in names.iter().enumerate() {
        // Wider than most fonts: an estimate that errs must err here.
        let width = 37.0 + width_of(name) + 22.0;
        if lines.is_empty() || at + width > room {
            lines.push(Vec::new());
            at = 0.0;
        }
        if let Some(line) = lines.last_mut() {
            line.push((at, number));
        }
        at += width;
    }
    lines
}

/// About how many pixels a text takes, rather too many.
pub fn width_of(text: &str) -> f64 {
    7.4 * text.chars().count() as f64
}

/// Height of a line of a legend.
pub const LINE: f64 = 18.0;

/// A legend whose first line is centred at `top`: `series` are the numbers that decide colours, dashes
/// and markers, with the names. Gives its height.
pub fn legend(s: &mut String, series: &[(usize, &str)], left: f64, top: f64, room: f64) -> f64 {
    let names: Vec<&str> = series.iter().map(|(_, name)| *name).collect();
    let lines = legend_lines(&names, room);
    for (row, line) in lines.iter().enumerate() {
        for &(offset, at) in line {
            let (number, name) = series[at];
            let _ = writeln!(
                s,
                "<g data-m=\"{number}\" transform=\"translate({:.1} {:.1})\"><path d=\"M0 0H30\" {}/>{}\
                 <text x=\"37\" y=\"4\">{}</text></g>",
                left + offset,
                top + row as f64 * LINE,
                stroke(number),
                marker(number, 15.0, 0.0),
                escape(name)
            );
        }
    }
    lines.len() as f64 * LINE
}

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

/// The head of a figure of `width` × `height` pixels with its title above `left` and a description for
/// those who cannot see it; `</svg>` ends it.
pub fn head(title: &str, description: &str, width: f64, height: f64, left: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\" \
         font-family=\"system-ui, sans-serif\" font-size=\"12\" fill=\"#222\">\n<title>{t}</title>\n\
         <desc>{}</desc>\n<rect width=\"{width:.0}\" height=\"{height:.0}\" fill=\"#fff\"/>\n\
         <text x=\"{left}\" y=\"22\" font-size=\"15\" font-weight=\"600\">{t}</text>\n",
        escape(description),
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
        let head = head("a & b", "c < d", 10.0, 20.0, 3.0);
        assert!(head.contains("<title>a &amp; b</title>\n<desc>c &lt; d</desc>"), "{head}");
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

    #[test]
    fn long_legends_wrap() {
        let names: Vec<String> = (0..9).map(|i| format!("method-number-{i}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let lines = legend_lines(&names, 600.0);
        assert_eq!(lines.iter().map(Vec::len).sum::<usize>(), 9);
        assert!(lines.len() >= 3);
    }

    #[test]
    fn the_first_thirty_series_differ_in_more_than_colour() {
        let looks: Vec<(String, usize)> = (0..30).map(|at| (stroke(at), at % 6)).collect();
        for (at, look) in looks.iter().enumerate() {
            assert!(!looks[..at].contains(look), "{at}");
            // Neighbours differ without colour, too.
            assert!(at == 0 || DASHES[at % DASHES.len()] != DASHES[(at - 1) % DASHES.len()]);
        }
    }

    /// Red, green and blue as light, not as stored.
    fn linear(colour: &str) -> [f64; 3] {
        let part = |at: usize| u8::from_str_radix(&colour[at..at + 2], 16).unwrap();
        [1, 3, 5].map(|at| match f64::from(part(at)) / 255.0 {
            v if v <= 0.04045 => v / 12.92,
            v => ((v + 0.055) / 1.055).powf(2.4),
        })
    }

    fn times(m: &[[f64; 3]; 3], v: [f64; 3]) -> [f64; 3] {
        [0, 1, 2].map(|i| (0..3).map(|j| m[i][j] * v[j]).sum::<f64>().max(0.0))
    }

    /// CIE L*a*b* under D65.
    fn lab(rgb: [f64; 3]) -> [f64; 3] {
        let xyz = times(
            &[
                [0.4124564, 0.3575761, 0.1804375],
                [0.2126729, 0.7151522, 0.0721750],
                [0.0193339, 0.1191920, 0.9503041],
            ],
            rgb,
        );
        let f = |v: f64| if v > 0.008856 { v.cbrt() } else { 7.787 * v + 16.0 / 116.0 };
        let (x, y, z) = (f(xyz[0] / 0.95047), f(xyz[1]), f(xyz[2] / 1.08883));
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    #[test]
    fn colours_differ_for_all_kinds_of_colour_vision() {
        // Machado, Oliveira and Fernandes (2009), severity 1: no red, no green, no blue cones.
        let visions = [
            [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            [
                [0.152286, 1.052583, -0.204868],
                [0.114503, 0.786281, 0.099216],
                [-0.003882, -0.048116, 1.051998],
            ],
            [
                [0.367322, 0.860646, -0.227968],
                [0.280085, 0.672501, 0.047413],
                [-0.011820, 0.042940, 0.968881],
            ],
            [
                [1.255528, -0.076749, -0.178779],
                [-0.078411, 0.930809, 0.147602],
                [0.004733, 0.691367, 0.303900],
            ],
        ];
        for vision in &visions {
            let seen: Vec<[f64; 3]> =
                COLOURS.iter().map(|c| lab(times(vision, linear(c)))).collect();
            for i in 0..seen.len() {
                for j in 0..i {
                    let far: f64 = (0..3).map(|c| (seen[i][c] - seen[j][c]).powi(2)).sum();
                    // A difference of 2.3 is just seen side by side.
                    assert!(far.sqrt() > 10.0, "{} and {}: {}", COLOURS[i], COLOURS[j], far.sqrt());
                }
                // And from white paper.
                assert!(seen[i][0] < 80.0, "{} is too light", COLOURS[i]);
            }
        }
    }
}
