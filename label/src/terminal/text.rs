//! Text with emphasis, wrapped to a number of columns.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Emphasis, without colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Style {
    #[default]
    Plain,
    Bold,
    /// For differences, and for the place of the cursor.
    Reverse,
    /// For parts that both objects have.
    Underlined,
}

/// One line of the screen.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Line(pub Vec<(Style, String)>);

impl From<&str> for Line {
    fn from(text: &str) -> Self {
        Line(vec![(Style::Plain, text.into())])
    }
}

impl From<String> for Line {
    fn from(text: String) -> Self {
        Line(vec![(Style::Plain, text)])
    }
}

impl Line {
    pub fn of(style: Style, text: impl Into<String>) -> Self {
        Line(vec![(style, text.into())])
    }

    pub fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| text.width()).sum()
    }

    /// The same in lines of at most `width` columns, broken between words where one can.
    pub fn wrapped(&self, width: usize) -> Vec<Line> {
        let width = width.max(2);
        let (mut lines, mut line, mut used) = (Vec::new(), Line::default(), 0);
        for (style, text) in &self.0 {
            for word in text.split_inclusive(' ') {
                let long = word.trim_end().width();
                if used + long > width && used > 0 && long <= width {
                    lines.push(std::mem::take(&mut line));
                    used = 0;
                }
                let mut piece = String::new();
                for c in word.chars() {
                    let wide = c.width().unwrap_or(0);
                    if used + wide > width {
                        if c == ' ' {
                            continue;
                        }
                        line.0.push((*style, std::mem::take(&mut piece)));
                        lines.push(std::mem::take(&mut line));
                        used = 0;
                    }
                    used += wide;
                    piece.push(c);
                }
                line.0.push((*style, piece));
            }
        }
        lines.push(line);
        lines
    }

    /// Filled up with spaces.
    pub fn padded(mut self, width: usize) -> Self {
        let missing = width.saturating_sub(self.width());
        self.0.push((Style::Plain, " ".repeat(missing)));
        self
    }
}

/// Text with line breaks as lines.
pub(crate) fn lines(text: &str) -> Vec<Line> {
    text.replace('\t', "    ").split('\n').map(|l| Line::from(l.trim_end_matches('\r'))).collect()
}

/// Lines in lines of at most `width` columns, as [`Line::wrapped`] breaks them.
pub(crate) fn wrapped(lines: &[Line], width: usize) -> Vec<Line> {
    lines.iter().flat_map(|line| line.wrapped(width)).collect()
}

/// Lines side by side where they fit, else one under the other.
pub(crate) fn beside(left: &[Line], right: &[Line], width: usize) -> Vec<Line> {
    if width < NARROW {
        let mut all = wrapped(left, width);
        all.push(Line::default());
        all.extend(wrapped(right, width));
        return all;
    }
    let half = (width - 3) / 2;
    let (left, right) = (wrapped(left, half), wrapped(right, half));
    let row = |at: usize| {
        let mut line = left.get(at).cloned().unwrap_or_default().padded(half);
        line.0.push((Style::Plain, " │ ".into()));
        line.0.extend(right.get(at).cloned().unwrap_or_default().0);
        line
    };
    (0..left.len().max(right.len())).map(row).collect()
}

/// Columns below which nothing stands side by side.
const NARROW: usize = 60;

/// Shorter words, such as "the" and "of", are in most texts.
const SHORTEST_MARKED: usize = 4;

/// Words and what is between them, with those that `other` has as well underlined.
pub(crate) fn common(text: &str, other: &str) -> Vec<Line> {
    let word = |c: char| c.is_alphanumeric();
    let lower = |w: &str| w.to_lowercase();
    let theirs: std::collections::BTreeSet<String> = other
        .split(|c| !word(c))
        .filter(|w| w.chars().count() >= SHORTEST_MARKED)
        .map(lower)
        .collect();
    let marked = |line: &Line| {
        let text = line.0.iter().map(|(_, t)| t.as_str()).collect::<String>();
        let mut out = Vec::new();
        let mut rest = text.as_str();
        while let Some(first) = rest.chars().next() {
            let inside = word(first);
            let end = rest.find(|c| word(c) != inside).unwrap_or(rest.len());
            let (part, after) = rest.split_at(end);
            let both = inside && theirs.contains(&lower(part));
            out.push((if both { Style::Underlined } else { Style::Plain }, part.to_string()));
            rest = after;
        }
        Line(out)
    };
    lines(text).iter().map(marked).collect()
}

/// Numbers as a curve of one line.
pub(crate) fn curve(values: &[f64], width: usize) -> String {
    let (low, high) = values
        .iter()
        .filter(|v| v.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &v| (l.min(v), h.max(v)));
    let bars: Vec<char> = "▁▂▃▄▅▆▇█".chars().collect();
    let bar = |v: f64| {
        let share = if high > low { (v - low) / (high - low) } else { 0.5 };
        if v.is_finite() { bars[(share * 7.0).round() as usize] } else { ' ' }
    };
    let shown = values.len().min(width.max(1));
    (0..shown).map(|at| bar(values[at * values.len() / shown])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(lines: &[Line]) -> Vec<String> {
        lines.iter().map(|l| l.0.iter().map(|(_, t)| t.as_str()).collect()).collect()
    }

    #[test]
    fn lines_break_between_words_and_wide_characters_take_two_columns() {
        let wrapped = |text: &str, width| plain(&Line::from(text).wrapped(width));
        assert_eq!(wrapped("one two three", 8), ["one two ", "three"]);
        assert_eq!(wrapped("日本語の文", 4), ["日本", "語の", "文"]);
        for text in ["", "a", "  spaces   in it ", "averyverylongwordindeed and more"] {
            for width in 2..20 {
                let all = Line::from(text).wrapped(width);
                assert!(all.iter().all(|l| l.width() <= width), "{text} in {width}");
                let kept: String = plain(&all).concat().replace(' ', "");
                assert_eq!(kept, text.replace(' ', ""));
            }
        }
    }

    #[test]
    fn two_objects_stand_side_by_side_where_they_fit() {
        let (a, b) = (lines("left\nleft"), lines("right"));
        let wide = plain(&beside(&a, &b, 63));
        assert_eq!(wide.len(), 2);
        assert_eq!(wide[0].find('│').map(|at| wide[0][..at].width()), Some(31));
        assert_eq!(plain(&beside(&a, &b, 40)), ["left", "left", "", "right"]);
    }

    #[test]
    fn words_of_both_are_marked_and_numbers_drawn() {
        let marked = common("The tiger, the dog", "the TIGER");
        let both: Vec<&(Style, String)> =
            marked[0].0.iter().filter(|(s, _)| *s == Style::Underlined).collect();
        assert_eq!(both, [&(Style::Underlined, "tiger".to_string())]);
        assert_eq!(curve(&[0.0, 3.5, 7.0, f64::NAN], 10), "▁▅█ ");
        assert_eq!(curve(&[], 10), "");
    }
}
