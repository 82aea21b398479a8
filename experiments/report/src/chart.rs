//! A figure as SVG: panels with axes and marks under a title and a legend.
//!
//! A figure describes what is drawn, in its own numbers; here it becomes pixels. Plain SVG, written by
//! ourselves: text stays text, and the numbers drawn are those of the CSV next to the figure. A plotting
//! library draws dashes as hundreds of strokes and places a legend only on top of the curves.

use maud::{Markup, html};
use mustlink_core::text::visible;

use crate::axis::{Axis, Marked, width_of};
use crate::legend::Legend;
use crate::marks::{Frame, Mark};
use crate::palette::{GREY, px};

/// Free pixels right of a plot, for the last number below it.
const RIGHT: f64 = 24.0;

/// One plot with its axes.
#[derive(Debug, Clone)]
pub(crate) struct Panel {
    /// Nothing where the figure has the title.
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    /// Height of the plot in pixels.
    pub height: f64,
    /// Marks to draw, from the lowest to the uppermost.
    pub marks: Vec<Mark>,
    /// The series that all of it is of: hidden along with it.
    pub series: Option<usize>,
}

/// A figure.
#[derive(Debug, Clone)]
pub(crate) struct Chart {
    pub title: String,
    /// Text for screen readers.
    pub description: String,
    /// A line below the title.
    pub note: String,
    pub legend: Legend,
    /// Width of each plot in pixels.
    pub width: f64,
    /// Panels side by side at most.
    pub columns: usize,
    pub panels: Vec<Panel>,
}

impl Chart {
    /// A figure without a legend.
    pub fn new(
        title: &str,
        description: &str,
        width: f64,
        columns: usize,
        panels: Vec<Panel>,
    ) -> Chart {
        let (title, description) = (title.into(), description.into());
        let (note, legend) = (String::new(), Legend::default());
        Chart { title, description, note, legend, width, columns, panels }
    }

    /// The figure.
    pub fn svg(&self) -> String {
        // Plots stand exactly below one another.
        let margin = self.panels.iter().map(|p| p.y.room_left()).fold(0.0, f64::max);
        let longest = self.panels.iter().map(|p| width_of(&p.title)).fold(0.0, f64::max);
        // A panel is as wide as its title; then fewer stand side by side.
        let pitch = margin + (self.width + RIGHT).max(longest + 12.0);
        let fit = (margin + self.width + RIGHT) * self.columns as f64 / pitch;
        let columns = self.panels.len().clamp(1, self.columns.min(fit as usize).max(1));
        // Names of rows leave no doubt where a figure begins; numbers do, beside a lone plot.
        let left =
            if columns == 1 && self.panels.iter().all(|p| p.y.is_drawn()) { margin } else { 20.0 };
        let panels = pitch * columns as f64;
        // Letters of the title are of 15 pixels.
        let title = left + width_of(&self.title) * 1.25 + 20.0;
        let note = left + width_of(&self.note);
        let legend = self.legend.width();
        let drawn = if self.legend.beside { panels + legend } else { panels.max(left + legend) };
        let width = drawn.max(title).max(note);

        let mut top = if self.note.is_empty() { 34.0 } else { 52.0 };
        let place = if self.legend.beside { panels } else { left };
        let (legend, height) = self.legend.draw((place, top + 8.0), width - left);
        let end = if height > 0.0 { top + height + 8.0 } else { top };
        if !self.legend.beside {
            top = end;
        }
        let (frames, bottom) = self.frames(columns, (margin, pitch), top);
        let (w, h) = (width.round(), bottom.max(end).round());
        let drawn = html! {
            svg xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (w) " " (h) } width=(w)
                height=(h) role="img" font-family="system-ui, sans-serif" font-size="12" fill="#222" {
                "\n" title { (self.title) }
                "\n" desc { (self.description) }
                "\n" rect width=(w) height=(h) fill="#fff" {}
                "\n" text x=(px(left)) y="22" font-size="15" font-weight="600" { (self.title) }
                "\n"
                @if !self.note.is_empty() { text x=(px(left)) y="40" { (self.note) } "\n" }
                (legend)
                @for (panel, frame) in self.panels.iter().zip(&frames) {
                    @let drawn = panel.draw(frame, margin);
                    @if panel.series.is_some() { g data-m=[panel.series] { (drawn) } } @else { (drawn) }
                }
            }
            "\n"
        };
        // XML has no control characters.
        visible(&drawn.into_string())
    }

    /// Frames of the plots, row by row from `top`, and the end of the last row; a plot is `margin` from
    /// the left of its panel, and `pitch` from the next plot.
    fn frames(
        &self,
        columns: usize,
        (margin, pitch): (f64, f64),
        mut top: f64,
    ) -> (Vec<Frame>, f64) {
        let mut frames = Vec::new();
        for row in self.panels.chunks(columns) {
            let most = |of: &dyn Fn(&Panel) -> f64| row.iter().map(of).fold(0.0, f64::max);
            top += most(&|p| if p.title.is_empty() { 0.0 } else { 26.0 });
            frames.extend(row.iter().enumerate().map(|(at, panel)| Frame {
                left: pitch * at as f64 + margin,
                top,
                width: self.width,
                height: panel.height,
                across: panel.x.scale,
                upwards: panel.y.scale,
            }));
            top += most(&|p| p.height + p.x.room_below());
        }
        (frames, top)
    }
}

impl Panel {
    /// A plot without a title; `height` is in pixels.
    pub fn new(x: Axis, y: Axis, height: f64, marks: Vec<Mark>) -> Panel {
        Panel { title: String::new(), x, y, height, marks, series: None }
    }

    /// The same plot with a title.
    pub fn titled(self, title: &str) -> Panel {
        Panel { title: title.into(), ..self }
    }

    fn draw(&self, frame: &Frame, margin: f64) -> Markup {
        let (left, right) = (px(frame.left), px(frame.left + frame.width));
        let (top, bottom) = (frame.top, frame.top + frame.height);
        let across = format!("M{} {}", px(frame.left - 4.0), px(bottom - 8.0));
        let upwards = format!("M{} {}", px(frame.left + 8.0), px(bottom + 4.0));
        let breaks =
            [(self.y.broken, across, "l8-4m0-4l-8 4"), (self.x.broken, upwards, "l4-8m4 0l-4 8")];
        let ends = html! {
            @if self.x.is_drawn() {
                path d={ "M" (left) " " (px(top)) "V" (px(bottom)) "H" (right) } fill="none"
                    stroke=(GREY) {}
                "\n"
                @for (_, start, strokes) in breaks.iter().filter(|b| b.0) {
                    path d={ (start) (strokes) } fill="none" stroke=(GREY) {}
                    "\n"
                }
            }
        };
        let fills = self.y.marked != Marked::Across;
        let name = |y: f64, text: &str| {
            html! { text x=(px(frame.left - 8.0)) y=(px(y + 4.0)) text-anchor="end" { (text) } }
        };
        html! {
            @if !self.title.is_empty() {
                text x=(left) y=(px(top - 8.0)) font-weight="600" { (self.title) }
                "\n"
            }
            @for (at, text) in &self.y.ticks {
                @let y = frame.y(*at);
                @match self.y.marked {
                    Marked::Across => path d={ "M" (left) " " (px(y)) "H" (right) } stroke="#e4e4e4" {},
                    Marked::Outside => path d={ "M" (left) " " (px(y)) "h-5" } stroke=(GREY) {},
                    Marked::Bare | Marked::Upright | Marked::Above => {}
                }
                @if !matches!(self.y.marked, Marked::Bare | Marked::Above) { (name(y, text)) "\n" }
            }
            @for (at, text) in &self.x.ticks {
                @let x = px(frame.x(*at));
                @if self.x.is_drawn() {
                    path d={ "M" (x) " " (px(bottom)) "v5" } stroke=(GREY) {}
                    text x=(x) y=(px(bottom + 19.0)) text-anchor="middle" { (text) }
                } @else {
                    @let place = format!("{} {}", px(frame.x(*at) + 4.0), px(bottom + 8.0));
                    text transform={ "translate(" (place) ") rotate(-90)" } text-anchor="end" { (text) }
                }
                "\n"
            }
            // What fills a plot must not cover its ends.
            @if !fills { (ends) }
            @for mark in &self.marks { (mark.draw(frame)) "\n" }
            @if fills { (ends) }
            // Names of rows stay in place when a page moves the rest sideways: they lie above it.
            @if self.y.marked == Marked::Above {
                g class="rows" {
                    @for (at, text) in &self.y.ticks {
                        text x=(left) y=(px(frame.y(at - 0.5) + 14.0)) font-weight="600" { (text) }
                        "\n"
                    }
                }
            } @else if self.y.marked == Marked::Bare && !self.y.ticks.is_empty() {
                g class="rows" {
                    rect x=(px(frame.left - margin)) y=(px(top)) width=(px(margin - 4.0))
                        height=(px(frame.height)) fill="#fff" {}
                    @for (at, text) in &self.y.ticks { (name(frame.y(*at), text)) "\n" }
                }
            }
            @if !self.x.name.is_empty() {
                @let x = px(frame.left + frame.width / 2.0);
                text x=(x) y=(px(bottom + 39.0)) text-anchor="middle" { (self.x.name) }
                "\n"
            }
            @if !self.y.name.is_empty() {
                @let place = format!("{} {}", px(frame.left - margin + 17.0), px((top + bottom) / 2.0));
                text transform={ "translate(" (place) ") rotate(-90)" } text-anchor="middle" {
                    (self.y.name)
                }
                "\n"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(marked: Marked) -> String {
        let axis = |name: &str| Axis::round(name, (0.0, 1.0), 2).marked(marked);
        let marks = vec![Mark::marker(0, (0.5, 1.0), Some("half < one".into()))];
        let panel = Panel::new(axis("x"), axis("y"), 80.0, marks).titled("p & q");
        Chart::new("a & b", "c < d", 100.0, 1, vec![panel]).svg()
    }

    #[test]
    fn marks_stand_across_the_plot_or_outside_it() {
        let across = drawn(Marked::Across);
        // Numbers of three letters and the name take 60.2 pixels, both titles 60.
        assert!(across.contains("<path d=\"M60.2 100H160.2\" stroke=\"#e4e4e4\">"), "{across}");
        assert!(across.contains("<path d=\"M60.2 60V140H160.2\" fill=\"none\" stroke=\"#555\">"));
        let outside = drawn(Marked::Outside);
        assert!(outside.contains("<path d=\"M60.2 100h-5\" stroke=\"#555\">"), "{outside}");
        assert!(!outside.contains("#e4e4e4"));
        assert!(outside.contains("<path d=\"M110.2 140v5\" stroke=\"#555\">"), "{outside}");
    }

    #[test]
    fn titles_of_panels_have_room() {
        let title = "pck_means + explore_consolidate, a long name of a method";
        let panel = |at: usize| {
            let axis = |name: &str| Axis::round(name, (0.0, 1.0), 2);
            let panel = Panel::new(axis("x"), axis("y"), 80.0, Vec::new()).titled(title);
            Panel { series: Some(at), ..panel }
        };
        let svg = Chart::new("t", "d", 100.0, 4, (0..4).map(panel).collect()).svg();
        let number = |text: &str, key: &str| -> f64 {
            text.split(key).nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
        };
        let width = number(&svg, " width=\"");
        let starts: Vec<f64> = (0..4)
            .map(|at| number(svg.split(&format!("<g data-m=\"{at}\">")).nth(1).unwrap(), "x=\""))
            .collect();
        assert!(starts.iter().all(|x| x + width_of(title) < width), "{starts:?} {width}");
        // As wide as before, so that fewer stand side by side.
        assert!(width < 700.0 && starts[0] != starts[1] || starts[1] == starts[2], "{starts:?}");
    }

    #[test]
    fn control_characters_of_names_are_not_drawn() {
        let svg = Chart::new("a\u{1b}[31m\u{0}b", "d", 100.0, 1, Vec::new()).svg();
        assert!(svg.contains("<title>a?[31m?b</title>") && !svg.contains('\u{1b}'), "{svg}");
    }

    #[test]
    fn a_figure_is_told_and_its_texts_are_escaped() {
        let svg = drawn(Marked::Across);
        assert!(svg.contains("<title>a &amp; b</title>\n<desc>c &lt; d</desc>"), "{svg}");
        assert!(svg.contains(">p &amp; q</text>") && svg.contains("<title>half &lt; one</title>"));
        assert!(svg.contains("<circle cx=\"110.2\" cy=\"60\" r=\"3.6\""), "{svg}");
    }
}
