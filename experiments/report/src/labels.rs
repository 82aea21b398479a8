//! The labels of an experiment file in place of ids: on the page, in its figures, and in the tables for a paper. Files
//! of numbers keep the ids.

use mustlink_experiments::results::CellRows;
use mustlink_experiments::verdict::Results;
use mustlink_experiments::{Facts, Plot};

use crate::curves::CurveSummary;
use crate::moved::Move;
use crate::significance::Significance;
use crate::supervision::Supervision;

/// Puts labels in all that is shown.
pub(crate) fn apply(
    plot: &Plot,
    curves: &mut [CurveSummary],
    results: &mut Results,
    significance: &mut [Significance],
    supervision: &mut Supervision,
    moved: &mut [Move],
    (cells, data): (&mut [CellRows], &mut [Facts]),
) {
    let mut names: Vec<&mut String> = Vec::new();
    for curve in curves {
        names.extend([&mut curve.dataset, &mut curve.method, &mut curve.metric]);
    }
    for set in &mut results.sets {
        let labelled = |((mut column, mut method), curve)| {
            plot.label(&mut column);
            plot.label(&mut method);
            ((column, method), curve)
        };
        set.curves = std::mem::take(&mut set.curves).into_iter().map(labelled).collect();
        names.push(&mut set.id);
    }
    for found in significance {
        names.push(&mut found.metric);
        names.extend(found.sets.iter_mut().chain(&mut found.left_out).chain(&mut found.control));
        names.extend(found.methods.iter_mut().map(|m| &mut m.method));
    }
    for benefit in &mut supervision.benefits {
        names.extend([&mut benefit.dataset, &mut benefit.method, &mut benefit.metric]);
        names.push(&mut benefit.twin);
    }
    names.extend(&mut supervision.unread);
    for change in moved {
        names.extend([&mut change.dataset, &mut change.method, &mut change.metric]);
    }
    for cell in cells {
        names.extend([&mut cell.dataset, &mut cell.method]);
        for row in &mut cell.rows {
            names.extend([&mut row.dataset, &mut row.method]);
        }
    }
    names.extend(data.iter_mut().map(|facts| &mut facts.dataset));
    names.into_iter().for_each(|name| plot.label(name));
}
