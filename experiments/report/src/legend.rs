//! The legend: colours and shapes of a figure.

use maud::{Markup, html};

use crate::axis::width_of;
use crate::palette::{Filling, Pen, px, sample, shade, shape};

/// Height of a line of a legend.
const LINE: f64 = 18.0;
/// Least pixels of a legend next to the plot.
const BESIDE: f64 = 166.0;
/// Steps of a colour bar.
const STEPS: u32 = 16;

/// Symbol before the name of an entry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Key {
    /// The line and the marker of a series.
    Series(usize),
    /// Fill colour of bars and cells, and its opacity.
    Colour(&'static str, f64),
    /// A line that belongs to no series.
    Line(Pen),
    /// The colours of a heat map from 0 to the name; `by_root`: of the roots of shares.
    Ramp { by_root: bool },
    /// A shape in a colour.
    Shape(usize, &'static str, Filling),
    /// Nothing: the name is of the entries that follow.
    Heading,
}

impl Key {
    /// Distance of the name from the symbol, and the symbol drawn around a height of 0.
    fn drawn(self) -> (f64, Markup) {
        match self {
            Key::Series(at) => (37.0, sample(at, 30.0, 0.0)),
            Key::Colour(colour, opacity) => (
                15.0,
                html! {
                    rect x="0" y="-4" width="10" height="8" fill=(colour)
                        fill-opacity=[(opacity < 1.0).then_some(opacity)] {}
                },
            ),
            Key::Line(pen) => (37.0, pen.path("M0 0H30", None)),
            Key::Ramp { by_root } => {
                let fill = |step: u32| {
                    let share = (f64::from(step) + 0.5) / f64::from(STEPS);
                    shade(if by_root { share.sqrt() } else { share })
                };
                let ramp = html! {
                    text y="4" { "0" }
                    g shape-rendering="crispEdges" {
                        @for step in 0..STEPS {
                            path d={ "M" (12 + 8 * step) "-5h8v10h-8z" } fill=(fill(step)) {}
                        }
                    }
                };
                (f64::from(18 + 8 * STEPS), ramp)
            }
            Key::Shape(at, colour, filling) => {
                (16.0, shape(at, (colour, filling), 1.0, (4.0, 0.0)))
            }
            Key::Heading => (0.0, Markup::default()),
        }
    }
}

/// A legend, above the panels or next to them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Legend {
    pub entries: Vec<(Key, String)>,
    pub beside: bool,
}

impl Legend {
    /// Series by number.
    pub fn of_series<'a>(series: impl IntoIterator<Item = (usize, &'a str)>) -> Legend {
        let entry = |(at, name): (usize, &str)| (Key::Series(at), name.to_string());
        Legend { entries: series.into_iter().map(entry).collect(), beside: false }
    }

    /// Pixels of its widest entry.
    pub fn width(&self) -> f64 {
        let width = |(key, name): &(Key, String)| key.drawn().0 + width_of(name) + 12.0;
        let least = if self.beside { BESIDE } else { 0.0 };
        self.entries.iter().map(width).fold(least, f64::max)
    }

    /// The legend from `left` and `top`, and its height; above the plots it has `room` pixels across.
    pub fn draw(&self, (left, top): (f64, f64), room: f64) -> (Markup, f64) {
        let mut places = Vec::new();
        if self.beside {
            let mut y = -LINE;
            for (at, (key, _)) in self.entries.iter().enumerate() {
                // A line is left free above a heading.
                y += if *key == Key::Heading && at > 0 { 2.0 * LINE } else { LINE };
                places.push((if *key == Key::Heading { 0.0 } else { 4.0 }, y));
            }
        } else {
            let widths = self.entries.iter().map(|(key, n)| key.drawn().0 + width_of(n) + 22.0);
            places = wrapped(widths, room);
        }
        let height = places.last().map_or(0.0, |last| last.1 + LINE);
        let drawn = html! {
            @for ((key, name), (x, y)) in self.entries.iter().zip(places) {
                @let (indent, mark) = key.drawn();
                @let series = if let Key::Series(at) = key { Some(at) } else { None };
                g data-m=[series] transform={ "translate(" (px(left + x)) " " (px(top + y)) ")" } {
                    (mark) text x=(indent) y="4" { (name) }
                }
                "\n"
            }
        };
        (drawn, height)
    }
}

/// Positions of entries with these widths, in lines of at most `room` pixels.
fn wrapped(widths: impl Iterator<Item = f64>, room: f64) -> Vec<(f64, f64)> {
    let (mut x, mut y) = (0.0, 0.0);
    let place = |width: f64| {
        if x > 0.0 && x + width > room {
            (x, y) = (0.0, y + LINE);
        }
        x += width;
        (x - width, y)
    };
    widths.map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_legends_wrap() {
        let names: Vec<String> = (0..9).map(|i| format!("method-number-{i}")).collect();
        let legend = Legend::of_series(names.iter().map(String::as_str).enumerate());
        let (drawn, height) = legend.draw((20.0, 40.0), 600.0);
        assert_eq!(drawn.0.matches("<g data-m").count(), 9);
        assert!(height >= 3.0 * LINE);
        assert!(wrapped([250.0; 9].into_iter(), 600.0).iter().all(|at| at.0 + 250.0 <= 600.0));
    }
}
