//! The best one-to-one matching of rows and columns if few pairs have a value.
//!
//! Shortest augmenting paths with potentials, as for a whole table, over the pairs that are worth something; nothing
//! is held for the others. For the total alone a row that gains nothing by a partner stays alone, and a path ends at
//! the first free column or at the first row that may as well be alone, so that most are short. Where the partners
//! themselves are wanted, they are those of the whole table: a row reaches all columns by pairs worth nothing, the
//! nearest of which is the first in an order by potential.
//!
//! Source: Kuhn 1955, with the paths of Edmonds and Karp 1972 and Tomizawa 1971.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use mustlink_core::{Context, Result};

/// A row, a column, and what the two are worth together.
pub type Worth = (u32, u32, u64);

/// No partner.
const ALONE: usize = usize::MAX;
/// Not reached yet.
const FAR: i64 = i64::MAX;

/// The largest total worth of one-to-one matchings of `rows` and `columns`, of which these pairs are worth
/// something; they are sorted by row, each once, and all of them together are worth less than 2⁶².
pub fn largest_total(pairs: &[Worth], rows: usize, columns: usize) -> u64 {
    let mut matching = Matching::new(pairs, rows, columns);
    for row in 0..rows {
        matching.add(row);
    }
    // What no partner could add to is the sum of the potentials.
    let least =
        matching.row_potential.iter().sum::<i64>() + matching.col_potential.iter().sum::<i64>();
    least.unsigned_abs()
}

/// The assignment that [`maximise_counts`] finds in the table with these entries, sorted by row, each once, and 0
/// elsewhere: min(rows, columns) pairs, and of equally good columns the first.
///
/// # Errors
/// Cancellation.
///
/// [`maximise_counts`]: super::linear_assignment::maximise_counts
pub fn first_of_largest(
    pairs: &[Worth],
    rows: usize,
    columns: usize,
    ctx: &Context,
) -> Result<Vec<Option<usize>>> {
    if rows <= columns {
        return Ok(assigned(pairs, rows, columns, ctx)?.into_iter().map(Some).collect());
    }
    let mut turned: Vec<Worth> = pairs.iter().map(|&(r, c, worth)| (c, r, worth)).collect();
    turned.sort_unstable();
    let mut column_of = vec![None; rows];
    let row_of = assigned(&turned, columns, rows, ctx)?;
    row_of.into_iter().enumerate().for_each(|(column, row)| column_of[row] = Some(column));
    Ok(column_of)
}

/// The first pair of each row.
fn offsets(pairs: &[Worth], rows: usize) -> Vec<usize> {
    (0..=rows).map(|r| pairs.partition_point(|p| (p.0 as usize) < r)).collect()
}

/// A row on the way of a path, the column whose partner it is, and how far that is.
struct Step {
    column: usize,
    row: usize,
    way: i64,
}

/// The column of each row; rows <= columns.
fn assigned(pairs: &[Worth], rows: usize, columns: usize, ctx: &Context) -> Result<Vec<usize>> {
    let first = offsets(pairs, rows);
    let mut row_potential = vec![0i64; rows];
    let mut col_potential = vec![0i64; columns];
    let mut row_of = vec![ALONE; columns];
    // Columns by what a pair worth nothing costs there, then by number.
    let mut order: BTreeSet<(i64, usize)> = (0..columns).map(|c| (0, c)).collect();
    // Of the search for one path: how far each column is, and which step was the first to come so near.
    let mut reached = vec![(FAR, 0usize); columns];
    let mut done = vec![false; columns];
    let mut touched: Vec<usize> = Vec::new();
    for start in 0..rows {
        ctx.check()?;
        let mut steps: Vec<Step> = Vec::new();
        let mut open = BinaryHeap::new();
        let mut others = order.iter().peekable();
        // How far a column of potential 0 is by a pair worth nothing, and by which step.
        let mut level = (FAR, 0);
        let (mut column, mut row, mut way) = (ALONE, start, 0);
        let end = loop {
            let at = steps.len();
            steps.push(Step { column, row, way });
            if way - row_potential[row] < level.0 {
                level = (way - row_potential[row], at);
            }
            for &(_, c, worth) in &pairs[first[row]..first[row + 1]] {
                let c = c as usize;
                let far = way - worth as i64 - row_potential[row] - col_potential[c];
                if !done[c] && far < reached[c].0 {
                    if reached[c].0 == FAR {
                        touched.push(c);
                    }
                    reached[c] = (far, at);
                    open.push(Reverse((far, c)));
                }
            }
            while open.peek().is_some_and(|&Reverse((far, c))| done[c] || far > reached[c].0) {
                open.pop();
            }
            while others.peek().is_some_and(|&&(_, c)| done[c]) {
                others.next();
            }
            let by_worth = open.peek().map(|&Reverse(nearest)| nearest);
            let by_nothing = others.peek().map(|&&(cost, c)| (level.0 + cost, c));
            let nearest = by_worth.into_iter().chain(by_nothing).min();
            let (far, c) = nearest.expect("a free column is left while a row waits");
            let by_level = level.0 - col_potential[c] == far;
            let by = match reached[c] {
                (known, by) if known == far && by_level => by.min(level.1),
                (known, by) if known == far => by,
                _ => level.1,
            };
            if reached[c].0 == FAR {
                touched.push(c);
            }
            reached[c] = (far, by);
            done[c] = true;
            if row_of[c] == ALONE {
                break c;
            }
            (column, row, way) = (c, row_of[c], far);
        };
        let length = reached[end].0;
        for &Step { column, row, way } in &steps {
            row_potential[row] += length - way;
            if column != ALONE && way < length {
                order.remove(&(-col_potential[column], column));
                col_potential[column] -= length - way;
                order.insert((-col_potential[column], column));
            }
        }
        let mut column = end;
        while column != ALONE {
            let step = &steps[reached[column].1];
            row_of[column] = step.row;
            column = step.column;
        }
        for c in touched.drain(..) {
            reached[c] = (FAR, 0);
            done[c] = false;
        }
    }
    let mut column_of = vec![0; rows];
    for c in (0..columns).filter(|&c| row_of[c] != ALONE) {
        column_of[row_of[c]] = c;
    }
    Ok(column_of)
}

/// A matching of some rows that costs least, a pair costing as much as it is worth below 0.
///
/// For every pair cost − row_potential − col_potential >= 0, and = 0 for those that are matched. Potentials are <= 0,
/// and = 0 for what is alone among the columns and the rows that were added.
struct Matching<'a> {
    pairs: &'a [Worth],
    /// The first pair of each row.
    first: Vec<usize>,
    row_potential: Vec<i64>,
    col_potential: Vec<i64>,
    column_of: Vec<usize>,
    row_of: Vec<usize>,
    /// State of the search for one path: the distance of each column, the row before it, and if its row was visited.
    distance: Vec<i64>,
    previous: Vec<usize>,
    done: Vec<bool>,
}

/// The end of a path.
enum End {
    Free(usize),
    /// This row is alone from now on.
    Alone(usize),
}

impl<'a> Matching<'a> {
    fn new(pairs: &'a [Worth], rows: usize, columns: usize) -> Self {
        Matching {
            pairs,
            first: offsets(pairs, rows),
            row_potential: vec![0; rows],
            col_potential: vec![0; columns],
            column_of: vec![ALONE; rows],
            row_of: vec![ALONE; columns],
            distance: vec![FAR; columns],
            previous: vec![0; columns],
            done: vec![false; columns],
        }
    }

    /// The pairs of a row.
    fn of(&self, row: usize) -> &'a [Worth] {
        &self.pairs[self.first[row]..self.first[row + 1]]
    }

    /// Adds a row, and changes partners along the shortest path from it.
    fn add(&mut self, start: usize) {
        let cost = |&(_, c, worth): &Worth| -(worth as i64) - self.col_potential[c as usize];
        self.row_potential[start] = self.of(start).iter().map(cost).min().unwrap_or(0).min(0);
        let mut open = BinaryHeap::new();
        let mut reached: Vec<usize> = Vec::new();
        let mut looked_at: Vec<(usize, i64)> = Vec::new();
        let (mut row, mut way) = (start, 0);
        let mut alone = (FAR, start);
        let (length, end) = loop {
            looked_at.push((row, way));
            if way - self.row_potential[row] < alone.0 {
                alone = (way - self.row_potential[row], row);
            }
            for &(_, column, worth) in self.of(row) {
                let c = column as usize;
                let far = way - worth as i64 - self.row_potential[row] - self.col_potential[c];
                if !self.done[c] && far < self.distance[c] {
                    if self.distance[c] == FAR {
                        reached.push(c);
                    }
                    self.distance[c] = far;
                    self.previous[c] = row;
                    // Of columns that are equally far a free one comes first: it ends the path.
                    open.push(Reverse((far, self.row_of[c] != ALONE, c)));
                }
            }
            while open.peek().is_some_and(|&Reverse((_, _, c))| self.done[c]) {
                open.pop();
            }
            match open.pop() {
                Some(Reverse((far, _, c))) if far < alone.0 => {
                    self.done[c] = true;
                    if self.row_of[c] == ALONE {
                        break (far, End::Free(c));
                    }
                    (row, way) = (self.row_of[c], far);
                }
                _ => break (alone.0, End::Alone(alone.1)),
            }
        };
        looked_at.iter().for_each(|&(row, way)| self.row_potential[row] += length - way);
        for &c in &reached {
            if self.done[c] {
                self.col_potential[c] -= length - self.distance[c];
            }
            self.distance[c] = FAR;
            self.done[c] = false;
        }
        self.change_partners(start, end);
    }

    fn change_partners(&mut self, start: usize, end: End) {
        let mut column = match end {
            End::Free(column) => column,
            End::Alone(row) if row == start => return,
            End::Alone(row) => std::mem::replace(&mut self.column_of[row], ALONE),
        };
        loop {
            let row = self.previous[column];
            let before = std::mem::replace(&mut self.column_of[row], column);
            self.row_of[column] = row;
            if row == start {
                return;
            }
            column = before;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::linear_assignment::maximise_counts;
    use proptest::prelude::*;

    #[test]
    fn worked_examples() {
        assert_eq!(largest_total(&[], 0, 0), 0);
        assert_eq!(largest_total(&[], 3, 2), 0);
        // The greedy choice 9 + 1 loses to 8 + 7.
        assert_eq!(largest_total(&[(0, 0, 9), (0, 1, 8), (1, 0, 7), (1, 1, 1)], 2, 2), 15);
        // The second row takes the column of the first, which stays alone.
        assert_eq!(largest_total(&[(0, 0, 2), (1, 0, 5)], 2, 1), 5);
    }

    #[test]
    fn many_groups_that_share_members_take_no_table() {
        // A ring of 200 000 rows and columns: the table would have 4·10¹⁰ cells.
        let n = 200_000u32;
        let pair = |r: u32, c: u32| (r, c % n, u64::from(1 + (r * 7 + c * 3) % 5));
        let pairs: Vec<Worth> = (0..n).flat_map(|r| [pair(r, r), pair(r, r + 1)]).collect();
        // Each row with the column after its own, which is worth 4 everywhere; its own is worth 1.
        assert_eq!(largest_total(&pairs, n as usize, n as usize), 4 * u64::from(n));
    }

    #[test]
    fn every_path_looks_at_the_flag() {
        let seed = mustlink_core::random::SeedPath::new(1);
        for (rows, columns) in [(4, 6), (6, 4)] {
            let ctx = Context::builder(seed.clone()).count_looks().build();
            let found = first_of_largest(&[(0, 0, 1)], rows, columns, &ctx).unwrap();
            assert_eq!((found.iter().flatten().count(), ctx.looks()), (4, 4));
            let ctx = Context::builder(seed.clone()).cancel_after(2).build();
            let ended = first_of_largest(&[(0, 0, 1)], rows, columns, &ctx);
            assert_eq!(ended, Err(mustlink_core::Error::Cancelled));
        }
    }

    #[test]
    fn partners_of_many_groups_take_no_table() {
        // Each row with the column after its own, and the last with the first: of 10¹⁰ pairs.
        let n = 100_000;
        let pairs: Vec<Worth> = (0..n).map(|r| (r, (r + 1) % n, 1)).collect();
        let found = first_of_largest(&pairs, n as usize, n as usize, &Context::new(1)).unwrap();
        let after = |r: usize| Some((r + 1) % n as usize);
        assert!(found.iter().enumerate().all(|(r, c)| *c == after(r)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn as_in_the_whole_table(
            rows in 1usize..9,
            columns in 1usize..9,
            values in prop::collection::vec(0u64..6, 64),
            gaps in prop::collection::vec(any::<bool>(), 64),
        ) {
            let table: Vec<u64> =
                (0..rows * columns).map(|at| if gaps[at] { 0 } else { values[at] }).collect();
            let filled = table.iter().enumerate().filter(|(_, worth)| **worth > 0);
            let pairs: Vec<Worth> = filled
                .map(|(at, &worth)| ((at / columns) as u32, (at % columns) as u32, worth))
                .collect();
            let chosen = maximise_counts(&table, rows, columns).unwrap();
            let total: u64 = chosen
                .iter()
                .enumerate()
                .filter_map(|(r, c)| c.map(|c| table[r * columns + c]))
                .sum();
            prop_assert_eq!(largest_total(&pairs, rows, columns), total);
            let found = first_of_largest(&pairs, rows, columns, &Context::new(1)).unwrap();
            prop_assert_eq!(found, chosen);
        }
    }
}
