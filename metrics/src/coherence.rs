//! The coherence of must-links and cannot-links: whether they pull in different directions.

use mustlink_core::prelude::*;

use crate::parts::constraint_set::{facts, inside};
use crate::parts::geometry::{COORDINATES, data};

/// An overlap up to this share of 1 + the length projected on is rounding.
const ROUNDING: f64 = 1e-12;

/// Coherence: share of must-link and cannot-link pairs that do not overlap when projected onto each other.
///
/// A must-link implies that the distance between its ends matters little, a cannot-link that it matters much. If one
/// lies along the other, they disagree. Euclidean; dense or sparse data. Constraints between equal objects have no
/// direction and are left out. Only constraints and data are used, not the clusters. Undefined unless there are both
/// must-links and cannot-links. In an experiment, score `scope = "train"` or `"all"`: constraints never touch test
/// objects.
/// # Errors
/// `TooManyGroupPairs` for groups that imply very many cannot-links.
/// # Cost and randomness
/// O(must-links · cannot-links · d). Above `max_pairs` pairs, that many are drawn uniformly, with replacement. Only
/// this draw is random; `seed` fixes it.
/// # References
/// [Davidson2006].
#[options]
pub struct Coherence {
    /// Largest number of pairs of a must-link and a cannot-link that are all compared.
    #[option(default = 10_000_000, min = 1)]
    pub max_pairs: usize,
    /// Seed of the sample.
    #[option(min = 0)]
    pub seed: u64,
}

/// The ends of a constraint.
struct Vector<'a> {
    from: Row<'a>,
    to: Row<'a>,
    length: f64,
}

impl<'a> Vector<'a> {
    fn new(from: Row<'a>, to: Row<'a>) -> Self {
        Vector { from, to, length: from.squared_distance(&to).sqrt() }
    }

    /// Position of the projection of `x` on this vector, from its first end.
    fn at(&self, x: &Row) -> f64 {
        inner_product_from(&self.from, &self.to, x) / self.length
    }

    /// Length of this vector that the projection of `other` covers (`over`).
    fn overlap(&self, other: &Vector) -> f64 {
        let (a, b) = (self.at(&other.from), self.at(&other.to));
        (a.max(b).min(self.length) - a.min(b).max(0.0)).max(0.0)
    }

    fn is_clear_of(&self, other: &Vector) -> bool {
        self.overlap(other) <= ROUNDING * (1.0 + self.length)
    }
}

/// Σ (x − from)(to − from), by differences: exactly 0 for x = from.
fn inner_product_from(from: &Row, to: &Row, x: &Row) -> f64 {
    if let (Row::Dense(from), Row::Dense(to), Row::Dense(x)) = (from, to, x) {
        return from.iter().zip(*to).zip(*x).map(|((f, t), x)| (x - f) * (t - f)).sum();
    }
    // Where both ends are 0 nothing is added: only their columns matter.
    let (mut from, mut to, mut x) = (Entries::of(from), Entries::of(to), Entries::of(x));
    let mut sum = 0.0;
    loop {
        let column = from.column().min(to.column());
        if column == u32::MAX {
            return sum;
        }
        let f = from.take(column);
        sum += (x.take(column) - f) * (to.take(column) - f);
    }
}

/// The stored entries of a sparse row, read by ascending column.
struct Entries<'a> {
    columns: &'a [u32],
    values: &'a [f64],
}

impl<'a> Entries<'a> {
    fn of(row: &Row<'a>) -> Self {
        match row {
            Row::Sparse(columns, values) => Entries { columns, values },
            Row::Dense(_) => unreachable!("rows of one data set are of one kind"),
        }
    }

    fn column(&self) -> u32 {
        self.columns.first().copied().unwrap_or(u32::MAX)
    }

    /// The value at `column`; entries up to it are behind then.
    fn take(&mut self, column: u32) -> f64 {
        while self.column() < column {
            (self.columns, self.values) = (&self.columns[1..], &self.values[1..]);
        }
        if self.column() > column {
            return 0.0;
        }
        let value = self.values[0];
        (self.columns, self.values) = (&self.columns[1..], &self.values[1..]);
        value
    }
}

#[plugin("coherence", cites = ["Davidson2006"])]
impl Metric for Coherence {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        let data = data(self.typetag_name(), input, &COORDINATES)?;
        if let Some(given) = input.constraints {
            given.check_group_pairs(self.typetag_name())?;
        }
        let given = inside(input, input.constraints)?;
        let vectors = |kind: Kind| -> Vec<Vector> {
            let of_kind = given.iter().filter(|c| c.kind == kind);
            let vector =
                |c: &&Constraint| Vector::new(data.row(c.i as usize), data.row(c.j as usize));
            of_kind.map(vector).filter(|v| v.length > 0.0).collect()
        };
        let (must, cannot) = (vectors(Kind::MustLink), vectors(Kind::CannotLink));
        if must.is_empty() || cannot.is_empty() {
            return Ok(None);
        }
        let is_coherent =
            |m: usize, c: usize| cannot[c].is_clear_of(&must[m]) && must[m].is_clear_of(&cannot[c]);
        let pairs = must.len() * cannot.len();
        let looked_at = pairs.min(self.max_pairs);
        let place = SeedPath::new(self.seed).child("coherence");
        let count = |range: std::ops::Range<usize>| -> Result<usize> {
            input.check()?;
            let mut draws = place.index(range.start).stream("pairs");
            let coherent = range.filter(|&at| {
                let pair = if looked_at == pairs { at } else { draws.below(pairs) };
                is_coherent(pair / cannot.len(), pair % cannot.len())
            });
            Ok(coherent.count())
        };
        let coherent = reduce::reduce(looked_at, count, |a, b| Ok(a? + b?)).unwrap_or(Ok(0))?;
        Ok(Some(coherent as f64 / looked_at as f64))
    }

    fn properties(&self) -> MetricProperties {
        MetricProperties { needs_data: true, ..facts() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overlap(a: [[f64; 2]; 2], b: [[f64; 2]; 2]) -> f64 {
        let [a1, a2] = &a;
        let [b1, b2] = &b;
        let of = |from: &[f64; 2], to: &[f64; 2], other: &Vector| {
            Vector::new(Row::Dense(from), Row::Dense(to)).overlap(other)
        };
        of(b1, b2, &Vector::new(Row::Dense(a1), Row::Dense(a2)))
    }

    #[test]
    fn overlaps_by_hand() {
        let (a, b) = ([[0.0, 0.0], [4.0, 0.0]], [[1.0, 1.0], [3.0, 1.0]]);
        assert_eq!(overlap(a, b), 2.0);
        assert_eq!(overlap(b, a), 2.0);
        assert_eq!(overlap([[0.0, 0.0], [1.0, 0.0]], [[5.0, 1.0], [5.0, 4.0]]), 0.0);
        assert_eq!(overlap([[0.0, 0.0], [1.0, 1.0]], [[0.0, 0.0], [2.0, 0.0]]), 1.0);
    }
}
