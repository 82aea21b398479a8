//! Lists of numbers, one for each of many things most of which have none.

use std::ops::Index;

/// A list for each of `0..len()`: one after the other in memory, and where each begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lists {
    starts: Vec<usize>,
    items: Vec<u32>,
}

impl Lists {
    /// The items of each of `0..n`, in the order in which they are given.
    pub(crate) fn new(n: usize, given: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut starts = vec![0; n + 1];
        given.clone().for_each(|(x, _)| starts[x as usize + 1] += 1);
        (0..n).for_each(|x| starts[x + 1] += starts[x]);
        // Where the next item of each goes: at the end, that is where the list after it begins.
        let mut items = vec![0; starts[n]];
        for (x, item) in given {
            items[starts[x as usize]] = item;
            starts[x as usize] += 1;
        }
        starts.rotate_right(1);
        starts[0] = 0;
        Lists { starts, items }
    }

    /// The same, each list ascending and without repeats.
    pub(crate) fn distinct(n: usize, given: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut lists = Lists::new(n, given);
        let (mut begin, mut kept) = (0, 0);
        for x in 0..n {
            let end = lists.starts[x + 1];
            lists.items[begin..end].sort_unstable();
            let first = kept;
            for at in begin..end {
                if kept == first || lists.items[kept - 1] != lists.items[at] {
                    lists.items[kept] = lists.items[at];
                    kept += 1;
                }
            }
            begin = end;
            lists.starts[x + 1] = kept;
        }
        lists.items.truncate(kept);
        lists
    }

    /// For each of `0..n` the sets it is in, ascending.
    pub fn sets_of<'a>(n: usize, sets: impl Iterator<Item = &'a [u32]> + Clone) -> Self {
        let members = |(set, number): (&'a [u32], u32)| set.iter().map(move |&x| (x, number));
        Lists::new(n, sets.zip(0..).flat_map(members))
    }

    /// Number of lists.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// True if it contains no lists.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The lists in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> + Clone {
        (0..self.len()).map(|x| &self[x])
    }

    /// Every item with whose it is.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + Clone {
        self.iter().zip(0..).flat_map(|(list, x)| list.iter().map(move |&item| (x, item)))
    }

    /// The list of `x`; empty if it has none.
    pub fn of(&self, x: usize) -> &[u32] {
        match self.starts.get(x..x + 2) {
            Some(ends) => &self.items[ends[0]..ends[1]],
            None => &[],
        }
    }
}

impl Index<usize> for Lists {
    type Output = [u32];

    fn index(&self, x: usize) -> &[u32] {
        &self.items[self.starts[x]..self.starts[x + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_hold_what_was_given() {
        let given = [(3, 7), (0, 2), (3, 5), (3, 7), (0, 1)];
        let lists = Lists::new(4, given.into_iter());
        let all: Vec<&[u32]> = lists.iter().collect();
        assert_eq!(all, [&[2, 1][..], &[], &[], &[7, 5, 7]]);
        let distinct = Lists::distinct(4, given.into_iter());
        let all: Vec<&[u32]> = distinct.iter().collect();
        assert_eq!(all, [&[1, 2][..], &[], &[], &[5, 7]]);
        assert_eq!(Lists::distinct(4, distinct.pairs()), distinct);
        assert_eq!((Lists::default().len(), Lists::default().of(3)), (0, &[][..]));
        assert_eq!(Lists::new(0, [].into_iter()).len(), 0);
    }
}
