//! The table for the terminal.

use std::fmt::Write;

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

use crate::columns::{self, columns, find, legend};
use crate::curves::CurveSummary;
use crate::verdicts::{self, Verdict};
use mustlink_experiments::Experiment;

/// A line per data set and method, then the verdicts, and what else is to be known of the numbers.
pub(crate) fn table(
    experiment: &Experiment,
    curves: &[CurveSummary],
    verdicts: &[Verdict],
    notes: &[&str],
) -> String {
    let columns = columns(experiment, curves, false);
    let mut table = Table::new();
    let rule = LineStyle::none().fill('─').junction('─');
    table
        .load_style(TableStyle::new().header_separator(rule))
        .set_content_arrangement(ContentArrangement::Disabled);
    let mut head = vec!["data set".to_string(), "method".into()];
    // Over two lines, or six numbers and two names fill no terminal.
    head.extend(columns.iter().map(|c| c.head.replacen(' ', "\n", 1)));
    head.push("cells".into());
    table.set_header(head);
    for (at, dataset) in experiment.datasets.iter().enumerate() {
        if at > 0 {
            table.add_row([""]);
        }
        let mut name = dataset.id.clone();
        for method in &experiment.methods {
            let mut line = vec![std::mem::take(&mut name), method.id.clone()];
            let mut cells = 0;
            for column in &columns {
                let curve = find(curves, &dataset.id, &method.id, &column.metric);
                line.push(column.text(curve));
                cells = curve.map_or(cells, columns::cells);
            }
            line.push(cells.to_string());
            table.add_row(line);
        }
    }
    for (at, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 1));
        if at >= 2 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines: Vec<String> = table.lines().map(|l| l.trim_end().to_string()).collect();
    let mut text = format!("{}\n{}\n", lines.join("\n"), legend(experiment, curves.iter()));
    if !verdicts.is_empty() {
        let _ = write!(text, "\n{}", verdicts::text(verdicts));
    }
    for note in notes {
        let _ = writeln!(text, "\n{}", note.trim_start());
    }
    text
}
