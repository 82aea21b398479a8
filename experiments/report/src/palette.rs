//! Colours, dashes and markers of series, by number.

use maud::{Markup, html};

/// Okabe and Ito's colours, which any colour vision can distinguish; yellow left out on white.
pub(crate) const COLOURS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#333333"];
/// Colour of axes, and of lines that do not belong to a series.
pub(crate) const GREY: &str = "#555";
/// Colour of must-links in every figure: that of the answer "same" on the label page.
pub const MUST_LINK: &str = "#0b5fa5";
/// Colour of cannot-links in every figure: that of the answer "different" on the label page.
pub const CANNOT_LINK: &str = "#a83214";

const DASHES: [&str; 5] = ["", "7 4", "2 3", "9 3 2 3", "12 5"];

/// The colour of series number `at`.
pub(crate) fn colour(at: usize) -> &'static str {
    COLOURS[at % COLOURS.len()]
}

/// The colour of a share in a heat map, from white for 0 to a dark blue for 1.
pub(crate) fn shade(share: f64) -> String {
    let [r, g, b] = [8.0, 48.0, 107.0].map(|end| (255.0 + (end - 255.0) * share).round() as u8);
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Style of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pen {
    pub colour: &'static str,
    pub width: f64,
    /// Lengths of strokes and gaps; nothing for a whole line.
    pub dash: &'static str,
    pub opacity: f64,
}

impl Pen {
    /// A whole line.
    pub const fn new(colour: &'static str, width: f64) -> Pen {
        Pen { colour, width, dash: "", opacity: 1.0 }
    }

    /// The line of series number `at`.
    pub fn series(at: usize) -> Pen {
        Pen { dash: DASHES[at % DASHES.len()], ..Pen::new(colour(at), 2.0) }
    }

    /// The same line with strokes and gaps of these lengths in pixels, as in SVG.
    pub fn dashed(self, dash: &'static str) -> Pen {
        Pen { dash, ..self }
    }

    /// A path in the letters of SVG.
    pub fn path(self, d: &str, tip: Option<&str>) -> Markup {
        html! {
            path d=(d) fill="none" stroke=(self.colour) stroke-width=(self.width)
                stroke-dasharray=[Some(self.dash).filter(|d| !d.is_empty())]
                opacity=[Some(self.opacity).filter(|o| *o < 1.0)] {
                (told(tip))
            }
        }
    }
}

/// Text shown when the pointer is on a mark.
pub(crate) fn told(tip: Option<&str>) -> Markup {
    html! { @if let Some(tip) = tip { title { (tip) } } }
}

/// Style of a filling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Filling {
    Full,
    /// With paper, within a line of the colour.
    Hollow,
    /// Within a dark line.
    Ringed,
}

impl Filling {
    /// Filling that distinguishes number `at` from earlier ones of the same colour.
    pub fn of_round(at: usize) -> Filling {
        [Filling::Full, Filling::Hollow, Filling::Ringed][at / COLOURS.len() % 3]
    }
}

/// Colours with fillings that differ.
pub(crate) const LOOKS: usize = 3 * COLOURS.len();

/// Shapes that differ.
pub(crate) const SHAPES: usize = 6;
/// The shape of what is in no series: a cross.
pub(crate) const NO_SHAPE: usize = usize::MAX;

/// One of the shapes in a colour, centred at x and y.
pub(crate) fn shape(
    at: usize,
    (colour, filling): (&str, Filling),
    opacity: f64,
    (x, y): (f64, f64),
) -> Markup {
    let faint = Some(opacity).filter(|o| *o < 1.0);
    let (fill, line) = match filling {
        Filling::Full => (colour, None),
        Filling::Hollow => ("#fff", Some(colour)),
        Filling::Ringed => (colour, Some(COLOURS[6])),
    };
    let width = line.map(|_| "1.6");
    // Relative to the centre, which is shorter than a transformation of each.
    let d = match at % SHAPES {
        _ if at == NO_SHAPE => {
            "m-3.8-2.4l1.4-1.4l2.4 2.4l2.4-2.4l1.4 1.4l-2.4 2.4l2.4 2.4l-1.4 1.4l-2.4-2.4l-2.4 2.4l-1.4-1.4l2.4-2.4z"
        }
        0 => {
            return html! {
                circle cx=(px(x)) cy=(px(y)) r="3.6" fill=(fill) fill-opacity=[faint]
                    stroke=[line] stroke-width=[width] {}
            };
        }
        1 => "m-3.4-3.4h6.8v6.8h-6.8z",
        2 => "m0-4.6l4.3 7.6h-8.6z",
        3 => "m0-4.8l4.8 4.8l-4.8 4.8l-4.8-4.8z",
        4 => "m0 4.6l4.3-7.6h-8.6z",
        _ => "m-1.2-4.4h2.4v3.2h3.2v2.4h-3.2v3.2h-2.4v-3.2h-3.2v-2.4h3.2z",
    };
    let d = format!("M{} {}{d}", px(x), px(y));
    html! {
        path d=(d) fill=(fill) fill-opacity=[faint] stroke=[line] stroke-width=[width] {}
    }
}

/// The line and the marker of series number `at` on `width` pixels around a height of `y`.
pub(crate) fn sample(at: usize, width: f64, y: f64) -> Markup {
    html! {
        (Pen::series(at).path(&format!("M0 {y}H{width}"), None))
        (shape(at, (colour(at), Filling::Full), 1.0, (width / 2.0, y)))
    }
}

/// A length in pixels, to a tenth.
pub(crate) fn px(v: f64) -> String {
    let text = format!("{v:.1}");
    text.strip_suffix(".0").unwrap_or(&text).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_thirty_series_differ_in_more_than_colour() {
        let looks: Vec<(Pen, usize)> = (0..30).map(|at| (Pen::series(at), at % 6)).collect();
        for (at, look) in looks.iter().enumerate() {
            assert!(!looks[..at].contains(look), "{at}");
            // Neighbours differ without colour, too.
            assert!(at == 0 || DASHES[at % DASHES.len()] != DASHES[(at - 1) % DASHES.len()]);
        }
    }

    #[test]
    fn the_looks_of_clusters_differ() {
        let looks: Vec<_> = (0..LOOKS).map(|at| (colour(at), Filling::of_round(at))).collect();
        let drawn = |at: usize| shape(0, looks[at], 1.0, (0.0, 0.0)).into_string();
        for at in 0..looks.len() {
            assert!((0..at).all(|before| drawn(before) != drawn(at)), "{at}");
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
        let f = |v: f64| {
            if v > 0.008856 { v.cbrt() } else { 7.787 * v + 16.0 / 116.0 }
        };
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
