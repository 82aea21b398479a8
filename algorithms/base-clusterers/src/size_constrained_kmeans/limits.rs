//! The smallest and the largest size of a cluster.
//!
//! The size of a cluster is the number of its objects, or the sum of their weights. Weights become whole numbers, so
//! that a sum does not depend on the order of its terms, and objects can be added and removed without rounding errors.

use mustlink_core::prelude::*;

/// Bits of the sum of all weights.
const BITS: i32 = 50;

/// Share of a limit by which a sum of weights may miss it: 0.1 + 0.2 is above 0.3 only by rounding.
const ROUNDING: f64 = 1e-9;

/// A number of units, and the size of their objects.
pub(super) type Amount = [i64; 2];

/// The sum of two amounts.
pub(super) fn sum(a: Amount, b: Amount) -> Amount {
    [a[0] + b[0], a[1] + b[1]]
}

/// The first amount without the second.
pub(super) fn less(a: Amount, b: Amount) -> Amount {
    [a[0] - b[0], a[1] - b[1]]
}

/// The size of each object, in whole numbers, and of an object of weight 1.
fn whole(data: &Data) -> (Vec<i64>, f64) {
    let Some(weights) = data.weights() else { return (vec![1; data.n()], 1.0) };
    let total: f64 = weights.iter().sum();
    let one = 2f64.powi(BITS - total.log2().ceil() as i32);
    (weights.iter().map(|w| (w * one).round() as i64).collect(), one)
}

/// Limits of every cluster.
pub(super) struct Limits {
    /// Smallest amount; the number of units is 0 or 1.
    pub(super) low: Amount,
    /// Largest size.
    pub(super) high: i64,
    /// Size that counts as much as a missing unit.
    rate: i64,
    /// The options that set the limits: `min_size = 2, max_size = 5`.
    pub(super) name: String,
    /// Size of each object.
    pub(super) sizes: Vec<i64>,
}

impl Limits {
    /// The limits of `k` clusters, as the options give them.
    ///
    /// # Errors
    /// `BadParam` for limits that the total size of the objects contradicts.
    pub(super) fn new(
        min_size: Option<f64>,
        max_size: Option<f64>,
        units: usize,
        k: usize,
        data: &Data,
    ) -> Result<Self> {
        let (sizes, one) = whole(data);
        let total: i64 = sizes.iter().sum();
        let weighted = data.weights().is_some();
        let slack = if weighted { ROUNDING } else { 0.0 };
        // A value that is too large for a whole number becomes the largest one.
        let low = ((min_size.unwrap_or(0.0) * (1.0 - slack) * one).ceil() as i64).max(0);
        let high = max_size.map_or(total, |most| (most * (1.0 + slack) * one).floor() as i64);
        let high = high.min(total);
        let what = |whole: usize| match weighted {
            false => format!("{whole} ({} objects in {k} clusters)", data.n()),
            true => {
                let total = total as f64 / one;
                format!("{} (a total weight of {total} in {k} clusters)", total / k as f64)
            }
        };
        let all = |size: i64| i128::from(size) * k as i128;
        if let Some(least) = min_size.filter(|_| all(low) > i128::from(total)) {
            let legal = format!("at most {}", what(data.n() / k));
            return Err(Error::bad_param("min_size", least, legal));
        }
        if let Some(most) = max_size.filter(|_| all(high) < i128::from(total)) {
            let legal = format!("at least {}", what(data.n().div_ceil(k)));
            return Err(Error::bad_param("max_size", most, legal));
        }
        if let (Some(least), Some(most)) = (min_size, max_size)
            && most < least
        {
            return Err(Error::bad_param("max_size", most, format!("at least min_size = {least}")));
        }
        let some = i64::from(min_size.is_none() && units >= k);
        let named = [("min_size", min_size), ("max_size", max_size)];
        let named = named.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let name: Vec<String> = named.map(|(name, value)| format!("{name} = {value}")).collect();
        let rate = (total / units as i64).max(1);
        Ok(Limits { low: [some, low], high, rate, name: name.join(", "), sizes })
    }

    /// True if a cluster of size `size` has room for `more`.
    pub(super) fn fits(&self, size: Amount, more: Amount) -> bool {
        size[1] + more[1] <= self.high
    }

    /// Distance of a cluster of this size from its limits; 0 if it is within them.
    pub(super) fn breach(&self, size: Amount) -> i64 {
        let missing = less(self.low, size);
        missing[0].max(0) * self.rate + missing[1].max(0) + (size[1] - self.high).max(0)
    }
}
