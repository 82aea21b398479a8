//! The smallest number among objects or neighbourhoods, and the following ones.

use std::cmp::Ordering;

use mustlink_core::order;

fn by_value(a: &(f64, u32), b: &(f64, u32)) -> Ordering {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
}

/// The index of the smallest number; ties go to the lowest index.
pub fn least(keyed: impl Iterator<Item = (f64, u32)>) -> Option<u32> {
    keyed.min_by(by_value).map(|(_, i)| i)
}

/// All of them by increasing number, ties by index.
pub fn ascending(keyed: impl Iterator<Item = (f64, u32)>) -> Vec<u32> {
    let mut keyed: Vec<(f64, u32)> = keyed.collect();
    order::sort_objects(&mut keyed);
    keyed.into_iter().map(|(_, i)| i).collect()
}
