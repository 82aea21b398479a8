//! The cells of each task of an array.

use std::collections::BTreeSet;

use crate::plan::{Cost, seconds};

/// Size of a task.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Size {
    /// About so many seconds.
    Seconds(f64),
    /// This number of cells.
    Cells(usize),
}

/// Seconds per task that suit the whole study. A task is short enough for many machines to take part, long enough
/// for its start to be negligible, and well within its time limit, because these are estimates.
pub(super) fn target(costs: &[Cost], time_limit: Option<f64>) -> f64 {
    const TASKS: f64 = 32.0;
    const LEAST: f64 = 30.0;
    const MOST: f64 = 600.0;
    let target = (seconds(costs) / TASKS).clamp(LEAST, MOST);
    time_limit.map_or(target, |limit| target.min(limit / 4.0))
}

/// Packs the cells into tasks, in order; at most `most` tasks where the size is a duration, which is
/// then a longer one.
pub(super) fn pack(costs: &[Cost], size: Size, most: usize) -> Vec<Vec<usize>> {
    let packs = fill(costs, size);
    match size {
        Size::Seconds(seconds) if packs.len() > most => {
            pack(costs, longer(costs, seconds, packs.len(), most), most)
        }
        _ => packs,
    }
}

/// A duration with which fewer tasks will do; where even that does not help, a number of cells.
fn longer(costs: &[Cost], seconds: f64, tasks: usize, most: usize) -> Size {
    let all: f64 = costs.iter().map(|c| c.seconds).sum();
    let unknown = costs.iter().filter(|c| c.unknown).count();
    if unknown >= most || seconds > 10.0 * all.max(1.0) {
        return Size::Cells(costs.len().div_ceil(most.max(1)));
    }
    Size::Seconds(seconds * (1.1 * tasks as f64 / most.max(1) as f64))
}

fn fill(costs: &[Cost], size: Size) -> Vec<Vec<usize>> {
    let mut packs: Vec<Vec<usize>> = Vec::new();
    let (mut seconds, mut known): (f64, BTreeSet<&str>) = (f64::INFINITY, BTreeSet::new());
    for cost in costs {
        let shared = |known: &BTreeSet<&str>| -> f64 {
            let new = cost.shared.iter().filter(|(name, _)| !known.contains(name.as_str()));
            new.map(|(_, s)| s).sum()
        };
        let more = cost.seconds + shared(&known);
        let full = match size {
            Size::Cells(count) => packs.last().is_none_or(|p| p.len() >= count),
            Size::Seconds(target) => cost.unknown || seconds + more > target,
        };
        if full {
            packs.push(Vec::new());
            known.clear();
            seconds = 0.0;
        }
        seconds += if cost.unknown { f64::INFINITY } else { cost.seconds + shared(&known) };
        known.extend(cost.shared.iter().map(|(name, _)| name.as_str()));
        if let Some(last) = packs.last_mut() {
            last.push(cost.cell);
        }
    }
    packs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(cell: usize, seconds: f64, shared: &[(&str, f64)]) -> Cost {
        let shared = shared.iter().map(|(name, s)| (name.to_string(), *s)).collect();
        Cost { cell, seconds, shared, unknown: false }
    }

    #[test]
    fn what_is_shared_counts_once_in_a_task() {
        let costs: Vec<Cost> = (0..6).map(|c| cost(c, 10.0, &[("s", 20.0)])).collect();
        // 20 for what they share and 10 each: four in a task of a minute, and again 20 in the next.
        assert_eq!(pack(&costs, Size::Seconds(60.0), 9), [vec![0, 1, 2, 3], vec![4, 5]]);
        assert_eq!(pack(&costs, Size::Cells(5), 9), [vec![0, 1, 2, 3, 4], vec![5]]);
        assert_eq!(target(&costs, None), 30.0);
        assert_eq!(target(&costs, Some(60.0)), 15.0);
    }

    #[test]
    fn a_cell_longer_than_a_task_has_one_of_its_own() {
        let mut costs: Vec<Cost> = (0..4).map(|c| cost(c, 1.0, &[])).collect();
        costs[1].seconds = 100.0;
        assert_eq!(pack(&costs, Size::Seconds(5.0), 9), [vec![0], vec![1], vec![2, 3]]);
        costs[1] = Cost { unknown: true, ..cost(1, 0.0, &[]) };
        assert_eq!(pack(&costs, Size::Seconds(5.0), 9), [vec![0], vec![1], vec![2, 3]]);
    }

    #[test]
    fn never_more_tasks_than_an_array_takes_and_every_cell_once() {
        for unknown in [false, true] {
            let costs: Vec<Cost> =
                (0..97).map(|c| Cost { unknown, ..cost(c, c as f64, &[("e", 3.0)]) }).collect();
            for most in [1, 2, 7, 96] {
                let packs = pack(&costs, Size::Seconds(1.0), most);
                assert!(packs.len() <= most, "{} of {most}", packs.len());
                assert_eq!(packs.concat(), (0..97).collect::<Vec<_>>());
            }
        }
    }
}
