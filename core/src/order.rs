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
