//! An axis of a figure: its scale, its name, and the labels next to it.

use crate::scale::{Scale, decades, number, power, ticks};

/// About how many pixels a text of 12 pixels takes, rather too many: an estimate that errs must err here.
pub(crate) fn width_of(text: &str) -> f64 {
    let wide = |c: char| c.is_uppercase() || "mw@%_".contains(c);
    text.chars().map(|c| if wide(c) { 9.4 } else { 7.4 }).sum()
}

/// Form of the marks at labelled places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marked {
    /// By light lines across the plot where the axis is the vertical one, else as `Outside`.
    Across,
    /// By short strokes outside it.
    Outside,
    /// Not at all.
    Bare,
    /// Not at all, and texts stand upright below.
    Upright,
    /// Not at all, and each text is at the top of its row, above the marks of the row.
    Above,
}

/// An axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    pub name: String,
    pub scale: Scale,
    /// Places and what is written there.
    pub ticks: Vec<(f64, String)>,
    pub marked: Marked,
    /// True if a mark at its start shows that it does not begin at 0.
    pub broken: bool,
}

impl Axis {
    /// An axis that is not drawn: its scale alone.
    pub fn hidden(low: f64, high: f64) -> Axis {
        Axis { scale: Scale::linear(low, high), ..Axis::names([], Marked::Bare) }
    }

    /// An axis with numbers at its marks.
    pub fn numbers(name: &str, scale: Scale, at: &[f64]) -> Axis {
        let text = |t: &f64| {
            if scale.logarithmic { power(*t) } else { number(*t, at) }
        };
        let ticks = at.iter().map(|t| (*t, text(t))).collect();
        Axis { name: name.into(), scale, ticks, marked: Marked::Across, broken: false }
    }

    /// From a round number to a round number.
    pub fn round(name: &str, (low, high): (f64, f64), wanted: usize) -> Axis {
        let at = ticks(low, high, wanted);
        Axis::numbers(name, Scale::linear(at[0], at[at.len() - 1]), &at)
    }

    /// From `low` to `high`, with the round numbers between them.
    pub fn exact(name: &str, (low, high): (f64, f64), wanted: usize) -> Axis {
        let mut at = ticks(low, high, wanted);
        at.retain(|t| (low..=high).contains(t));
        Axis::numbers(name, Scale::linear(low, high), &at)
    }

    /// From a power of ten to a power of ten.
    pub fn decades(name: &str, (low, high): (f64, f64)) -> Axis {
        let at = decades(low, high);
        Axis::numbers(name, Scale::logarithmic(at[0], at[at.len() - 1]), &at)
    }

    /// A place of length 1 for each name.
    pub fn names(names: impl IntoIterator<Item = String>, marked: Marked) -> Axis {
        let ticks = names.into_iter().enumerate().map(|(at, name)| (at as f64 + 0.5, name));
        let ticks: Vec<(f64, String)> = ticks.collect();
        let scale = Scale::linear(0.0, ticks.len() as f64);
        Axis { name: String::new(), scale, ticks, marked, broken: false }
    }

    /// The same for numbers whose 0 means something: an axis without it is shown as broken.
    pub fn of_amounts(self) -> Axis {
        Axis { broken: self.scale.low > 0.0 || self.scale.high < 0.0, ..self }
    }

    /// The same, marked in another way.
    pub fn marked(self, marked: Marked) -> Axis {
        Axis { marked, ..self }
    }

    /// The same backwards: rows are counted from above.
    pub fn downwards(self) -> Axis {
        let Scale { low, high, .. } = self.scale;
        Axis { scale: Scale { low: high, high: low, ..self.scale }, ..self }
    }

    /// As many of its numbers, evenly, as stand side by side.
    pub fn at_most(mut self, most: usize) -> Axis {
        let every = self.ticks.len().div_ceil(most);
        self.ticks = self.ticks.into_iter().step_by(every).collect();
        self
    }

    /// True if a line is drawn along it.
    pub fn is_drawn(&self) -> bool {
        matches!(self.marked, Marked::Across | Marked::Outside)
    }

    fn longest(&self) -> f64 {
        self.ticks.iter().map(|(_, text)| width_of(text)).fold(0.0, f64::max)
    }

    /// Pixels it takes left of the plot.
    pub fn room_left(&self) -> f64 {
        let longest = if self.marked == Marked::Above { 0.0 } else { self.longest() };
        longest + if self.name.is_empty() { 20.0 } else { 38.0 }
    }

    /// Pixels it takes below the plot.
    pub fn room_below(&self) -> f64 {
        match self.marked {
            Marked::Across | Marked::Outside => 48.0,
            Marked::Bare | Marked::Above => 16.0,
            Marked::Upright => 16.0 + self.longest(),
        }
    }
}
