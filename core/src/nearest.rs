//! The nearest neighbours of an object.

use crate::data::Data;
use crate::order;

/// Number of nearest objects of each of two that are searched for objects near both.
const NEAR: usize = 64;

/// The `count` objects nearest to `object`, the nearest first, of those that `admitted` lets in; ties by index.
/// O(n·d).
pub fn nearest(data: &Data, object: u32, count: usize, admitted: impl Fn(u32) -> bool) -> Vec<u32> {
    let row = data.row(object as usize);
    let others = (0..data.n() as u32).filter(|&o| o != object && admitted(o));
    let all = others.map(|o| (data.row(o as usize).squared_distance(&row), o)).collect();
    order::smallest(all, count).into_iter().map(|(_, o)| o).collect()
}

/// Up to `most` objects around two: themselves, and in turn the nearest ones to either that are not `known` to
/// belong with one chosen before.
pub fn around(
    data: &Data,
    pair: (u32, u32),
    most: usize,
    mut known: impl FnMut(u32, u32) -> bool,
) -> Vec<u32> {
    let mut chosen = vec![pair.0, pair.1];
    let near = |o| nearest(data, o, NEAR, |other| other != pair.0 && other != pair.1);
    for (a, b) in near(pair.0).into_iter().zip(near(pair.1)) {
        for o in [a, b] {
            let doubled = chosen.iter().any(|&c| c == o || known(c, o));
            if chosen.len() < most && !doubled {
                chosen.push(o);
            }
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn the_nearest_of_both_in_turn() {
        let data = Data::dense(array![[0.0], [1.0], [2.0], [10.0], [11.0], [13.0]]).unwrap();
        assert_eq!(nearest(&data, 0, 3, |o| o != 2), [1, 3, 4]);
        assert_eq!(around(&data, (0, 3), 5, |_, _| false), [0, 3, 1, 4, 2]);
        assert_eq!(around(&data, (0, 3), 5, |a, b| (a, b) == (0, 1)), [0, 3, 4, 2, 5]);
    }
}
