//! Shards: parts of a run that know nothing of each other.

use std::collections::BTreeMap;

use crate::grid::Grid;

/// One of several parts of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which part, from 1.
    pub number: usize,
    /// Total number of shards.
    pub of: usize,
}

impl std::str::FromStr for Shard {
    type Err = String;

    /// Reads `2/5`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("must be i/N with 1 <= i <= N, for example 2/5, got {text}");
        let (number, of) = text.split_once('/').ok_or_else(wrong)?;
        let parse = |s: &str| s.trim().parse::<usize>().map_err(|_| wrong());
        let shard = Shard { number: parse(number)?, of: parse(of)? };
        if shard.number >= 1 && shard.number <= shard.of { Ok(shard) } else { Err(wrong()) }
    }
}

/// The cells of a shard, all of them without one. All methods of one fold go together, because they
/// share selections.
pub(crate) fn cells_of_shard(grid: &Grid, shard: Option<Shard>) -> Vec<usize> {
    let mut folds: BTreeMap<(usize, usize, usize), usize> = BTreeMap::new();
    for c in &grid.cells {
        let next = folds.len();
        folds.entry((c.dataset, c.repeat, c.fold)).or_insert(next);
    }
    (0..grid.cells.len())
        .filter(|&at| {
            let c = &grid.cells[at];
            shard.is_none_or(|s| folds[&(c.dataset, c.repeat, c.fold)] % s.of == s.number - 1)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_read_from_its_number_and_their_count() {
        assert_eq!("2/5".parse(), Ok(Shard { number: 2, of: 5 }));
        for wrong in ["0/5", "6/5", "2", "a/b", "1/0"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
