//! Orders by value, compiled once for all plugins.

use std::cmp::Ordering;

/// The numbers below `values.len()`, the one of the smallest value first, ties by number.
pub fn ascending(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    order
}

/// The numbers below `values.len()`, the one of the largest value first, ties by number.
pub fn descending(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    order
}

/// Sorts values in ascending order.
pub fn sort_values(values: &mut [f64]) {
    values.sort_unstable_by(f64::total_cmp);
}

fn by_value(a: &(f64, u32), b: &(f64, u32)) -> Ordering {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
}

/// Sorts objects by their values, ties by object.
pub fn sort_objects(objects: &mut [(f64, u32)]) {
    objects.sort_unstable_by(by_value);
}

/// The `count` objects with the smallest values, in order, ties by object.
pub fn smallest(mut objects: Vec<(f64, u32)>, count: usize) -> Vec<(f64, u32)> {
    if count < objects.len() {
        objects.select_nth_unstable_by(count, by_value);
        objects.truncate(count);
    }
    sort_objects(&mut objects);
    objects
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_are_in_order_of_their_numbers() {
        let values = [2.0, -1.0, 2.0, 0.0, -1.0];
        assert_eq!(ascending(&values), [1, 4, 3, 0, 2]);
        assert_eq!(descending(&values), [0, 2, 3, 1, 4]);
        let objects: Vec<(f64, u32)> = values.into_iter().zip(0..).collect();
        assert_eq!(smallest(objects.clone(), 3), [(-1.0, 1), (-1.0, 4), (0.0, 3)]);
        assert_eq!(smallest(objects, 9).len(), 5);
    }
}
