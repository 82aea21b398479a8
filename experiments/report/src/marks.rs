//! The marks in a panel, in the numbers of its axes.

use maud::{Markup, html};

use crate::palette::{Filling, Pen, colour, px, shape, told};
use crate::scale::Scale;

/// A place in the numbers of both axes.
pub(crate) type At = (f64, f64);

/// Anchor of a text: its start.
pub(crate) const START: &str = "start";
pub(crate) const MIDDLE: &str = "middle";
pub(crate) const END: &str = "end";

/// Size of the letters of a figure.
pub(crate) const SIZE: u8 = 12;

/// A mark in a figure. A `tip` is shown when the user points at it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Mark {
    /// Straight lines from place to place.
    Line { points: Vec<At>, pen: Pen },
    /// A bar across a line, where it ends.
    Stop { at: At, pen: Pen, tip: String },
    /// Between a lower and an upper line, in the colour of a series: x, low, high.
    Band { series: usize, points: Vec<(f64, f64, f64)> },
    /// One of the shapes of a palette.
    Point {
        at: At,
        shape: usize,
        colour: &'static str,
        filling: Filling,
        opacity: f64,
        tip: Option<String>,
    },
    /// A rectangle between two corners.
    Cell { corners: [At; 2], fill: String, opacity: f64, tip: Option<String> },
    /// Many rectangles of one colour.
    Cells { corners: Vec<[At; 2]>, fill: String },
    /// A text, centred upon the height of its place; `size` is that of its letters.
    Text { at: At, text: String, anchor: &'static str, bold: bool, size: u8, tip: Option<String> },
    /// Marks of one group: with a number, they are hidden along with that series.
    Group { series: Option<usize>, marks: Vec<Mark> },
}

impl Mark {
    /// The marker of a series.
    pub fn marker(series: usize, at: At, tip: Option<String>) -> Mark {
        let (colour, filling) = (colour(series), Filling::Full);
        Mark::Point { at, shape: series, colour, filling, opacity: 1.0, tip }
    }

    /// A text in regular weight without a tip. `anchor` is `START`, `MIDDLE` or `END`.
    pub fn text(at: At, text: impl Into<String>, anchor: &'static str) -> Mark {
        Mark::Text { at, text: text.into(), anchor, bold: false, size: SIZE, tip: None }
    }

    /// The mark in pixels.
    pub fn draw(&self, frame: &Frame) -> Markup {
        match self {
            Mark::Line { points, pen } => {
                let places: Vec<String> = points.iter().map(|at| frame.place(*at)).collect();
                pen.path(&format!("M{}", places.join("L")), None)
            }
            Mark::Stop { at, pen, tip } => {
                pen.path(&format!("M{}m0-7v14", frame.place(*at)), Some(tip))
            }
            Mark::Band { series, points } => {
                let corner = |x, y| format!("{},{}", px(frame.x(x)), px(frame.y(y)));
                let up = points.iter().map(|(x, _, high)| corner(*x, *high));
                let back = points.iter().rev().map(|(x, low, _)| corner(*x, *low));
                let outline: Vec<String> = up.chain(back).collect();
                html! {
                    polygon data-m=(series) points=(outline.join(" ")) fill=(colour(*series))
                        opacity="0.14" {}
                }
            }
            Mark::Point { at, shape: number, colour, filling, opacity, tip } => {
                let drawn =
                    shape(*number, (colour, *filling), *opacity, (frame.x(at.0), frame.y(at.1)));
                html! {
                    @if tip.is_some() { g { (drawn) (told(tip.as_deref())) } } @else { (drawn) }
                }
            }
            Mark::Cell { corners, fill, opacity, tip } => {
                let [x, right, y, bottom] = frame.sides(corners);
                let fill = if *opacity > 0.0 { fill.as_str() } else { "none" };
                let is_faint = *opacity > 0.0 && *opacity < 1.0;
                html! {
                    rect x=(px(x)) y=(px(y)) width=(px(right - x)) height=(px(bottom - y)) fill=(fill)
                        fill-opacity=[is_faint.then(|| format!("{opacity:.3}"))]
                        stroke="#e4e4e4" { (told(tip.as_deref())) }
                }
            }
            Mark::Cells { corners, fill } => {
                // Neighbours end at the same tenth of a pixel: no gap lets the paper through.
                let one = |corners: &[At; 2]| {
                    let [x, right, y, bottom] = frame.sides(corners).map(px);
                    format!("M{x} {y}H{right}V{bottom}H{x}z")
                };
                let d: String = corners.iter().map(one).collect();
                html! { path d=(d) fill=(fill) shape-rendering="crispEdges" {} }
            }
            Mark::Text { at, text, anchor, bold, size, tip } => {
                let (x, y) = (frame.x(at.0), frame.y(at.1) + 4.0);
                html! {
                    text x=(px(x)) y=(px(y)) text-anchor=(anchor)
                        font-size=[(*size != SIZE).then_some(size)]
                        font-weight=[bold.then_some("700")] { (text) (told(tip.as_deref())) }
                }
            }
            Mark::Group { series, marks } => html! {
                g data-m=[*series] { @for mark in marks { (mark.draw(frame)) } }
            },
        }
    }
}

/// The rectangle that is drawn in, in pixels from the upper left corner of the figure, and its scales.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Frame {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
    pub across: Scale,
    pub upwards: Scale,
}

impl Frame {
    /// Pixels from the left of the figure.
    pub fn x(&self, v: f64) -> f64 {
        self.left + self.width * self.across.share(v)
    }

    /// Pixels from the top of the figure.
    pub fn y(&self, v: f64) -> f64 {
        self.top + self.height * (1.0 - self.upwards.share(v))
    }

    fn place(&self, (x, y): At) -> String {
        format!("{} {}", px(self.x(x)), px(self.y(y)))
    }

    /// Left, right, top, bottom.
    fn sides(&self, [a, b]: &[At; 2]) -> [f64; 4] {
        let ((x, u), (y, v)) = ((self.x(a.0), self.x(b.0)), (self.y(a.1), self.y(b.1)));
        [x.min(u), x.max(u), y.min(v), y.max(v)]
    }
}
