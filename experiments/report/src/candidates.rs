//! The candidates of a method that chooses among methods, and their scores.
//!
//! A row for each candidate with a score, the best first: score, one standard error to each side, and
//! whether it counts in the result.

use std::path::Path;

use mustlink_core::Result;
use mustlink_core::clustering::Tried;
use mustlink_experiments::Format;

use crate::axis::{Axis, Marked};
use crate::chart::{Chart, Panel};
use crate::figure::csv;
use crate::legend::{Key, Legend};
use crate::marks::Mark;
use crate::palette::{COLOURS, Filling, Pen};
use crate::render::save_figure;
use crate::scale::span;

/// Candidates drawn at most.
const MOST: usize = 40;
/// Pixels from row to row, and across the plot.
const SIZE: (f64, f64) = (420.0, 18.0);
const GREY: &str = "#999";

/// Writes candidate-scores.svg and .csv into `folder`, and the figure in these formats in addition to SVG;
/// nothing if no candidate has a score.
///
/// # Errors
/// A file that cannot be written.
pub fn save_candidates(folder: &Path, formats: &[Format], tried: &[Tried]) -> Result<()> {
    let mut order: Vec<(&Tried, f64)> = tried.iter().filter_map(|t| Some((t, t.score?))).collect();
    if order.is_empty() {
        return Ok(());
    }
    order.sort_by(|a, b| b.1.total_cmp(&a.1));
    let one_k = order.iter().all(|(t, _)| t.k == order[0].0.k);
    let name = |t: &Tried| {
        if one_k { t.name.clone() } else { format!("{}, k = {}", t.name, t.k) }
    };
    let shown = &order[..order.len().min(MOST)];
    // Scores are shares: an error bar ends where a share does.
    let bar = |(t, score): &(&Tried, f64)| {
        let error = t.error.unwrap_or(0.0);
        [(score - error).max(score.min(0.0)), (score + error).min(score.max(1.0))]
    };
    let x = Axis::round("share of held-out pairs satisfied", span(shown.iter().flat_map(bar)), 6)
        .of_amounts();
    let y = Axis::names(shown.iter().map(|(t, _)| name(t)), Marked::Upright).downwards();
    let mut marks = Vec::new();
    for (row, candidate) in shown.iter().enumerate() {
        let ((t, score), [low, high]) = (candidate, bar(candidate));
        let (at, used) = (row as f64 + 0.5, t.weight > 0.0);
        let colour = if used { COLOURS[0] } else { GREY };
        if t.error.is_some() {
            let points = vec![(low, at), (high, at)];
            marks.push(Mark::Line { points, pen: Pen::new(colour, 1.5) });
        }
        let filling = if used { Filling::Full } else { Filling::Hollow };
        let tip = Some(format!("{}: {score:.3}; {}", t.name, t.outcome));
        marks.push(Mark::Point { at: (*score, at), shape: 0, colour, filling, opacity: 1.0, tip });
    }
    let description = format!(
        "{} of {} candidates, the best score first; lines are one standard error to each side, filled ones \
         count in the result.",
        shown.len(),
        tried.len()
    );
    let panels = vec![Panel::new(x, y, SIZE.1 * shown.len() as f64, marks)];
    let mut chart = Chart::new("Candidates", &description, SIZE.0, 1, panels);
    chart.note = format!("{} of {} candidates", shown.len(), tried.len());
    let entry = |colour, filling, name: &str| (Key::Shape(0, colour, filling), name.to_string());
    chart.legend = Legend {
        entries: vec![
            entry(COLOURS[0], Filling::Full, "in the result"),
            entry(GREY, Filling::Hollow, "left out"),
        ],
        beside: false,
    };
    let rows = order.iter().map(|(t, score)| {
        vec![
            t.name.clone(),
            t.k.to_string(),
            score.to_string(),
            t.error.map(|e| e.to_string()).unwrap_or_default(),
            t.weight.to_string(),
            t.outcome.clone(),
        ]
    });
    let numbers = csv("name,k,score,error,weight,outcome", rows);
    save_figure(folder, "candidate-scores", &chart.svg(), &numbers, formats)
}
