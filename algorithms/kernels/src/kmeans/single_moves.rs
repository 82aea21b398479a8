//! Would moving a single object make a partition better?
//!
//! Lloyd's algorithm stops where no object is nearer to another centre. Moving one object also moves
//! two centres, and taking that into account finds better partitions from there: each move lowers the
//! objective, and objects are visited in order until a whole sweep moves none.
//!
//! Source: Hartigan 1975, Clustering Algorithms, ch. 4.

use ndarray::Array2;

use mustlink_core::clustering::{Clustering, IterStat, Status};
use mustlink_core::{Context, Result};

use crate::distance::points::{Distortion, Points, inner_product, row};
use crate::kmeans::lloyd::{Stop, total_distortion};
use crate::kmeans::means::means;

/// A gain below this share of the object's own length is rounding.
const ROUNDING: f64 = 1e-12;

/// Refines a partition into `centres.nrows()` clusters by moves of single objects, from the labels of
/// `clustering`, for at most `stop.max_iterations` sweeps. A cluster never loses its last object.
///
/// # Errors
/// Cancellation.
pub fn refine(
    points: &Points,
    mut clustering: Clustering,
    stop: Stop,
    ctx: &Context,
) -> Result<Clustering> {
    let Some(centres) = clustering.extras.centers.take() else { return Ok(clustering) };
    let mut sums = Sums::new(points, &clustering.labels, centres.nrows());
    let mut labels = std::mem::take(&mut clustering.labels);
    clustering.status = Status::MaxIter;
    for _ in 0..stop.max_iterations {
        ctx.check()?;
        let mut moved = 0;
        let before = sums.objective(points);
        for i in 0..labels.len() {
            if let Some(to) = sums.better(points, i, labels[i] as usize) {
                sums.shift(points, i, labels[i] as usize, to);
                labels[i] = to as u32;
                moved += 1;
            }
        }
        let objective = sums.objective(points);
        clustering.history.push(IterStat { objective, moved, violations: None });
        if moved == 0 || stop.is_over(before, objective) {
            clustering.status = Status::Converged;
            break;
        }
    }
    // Sums that were added to and taken from again and again are not reported.
    let (centres, _) = means(points, &labels, centres);
    clustering.objective = Some(total_distortion(points, &labels, &centres));
    if let (Some(last), Some(objective)) = (clustering.history.last_mut(), clustering.objective) {
        last.objective = objective;
    }
    clustering.labels = labels;
    clustering.extras.centers = Some(centres);
    Ok(clustering)
}

/// Σ x of each cluster, with its squared length and number of objects.
struct Sums {
    vectors: Array2<f64>,
    lengths: Vec<f64>,
    sizes: Vec<f64>,
}

impl Sums {
    fn new(points: &Points, labels: &[u32], k: usize) -> Self {
        let mut vectors = Array2::zeros((k, points.d()));
        let mut sizes = vec![0.0; k];
        for (i, &l) in labels.iter().enumerate() {
            let mut to = vectors.row_mut(l as usize);
            points.data().row(i).add_to(to.as_slice_mut().expect("standard layout"), 1.0);
            sizes[l as usize] += 1.0;
        }
        let lengths = (0..k).map(|h| inner_product(row(&vectors, h), row(&vectors, h))).collect();
        Sums { vectors, lengths, sizes }
    }

    /// The objective but for what no move changes: Σ‖x‖² − Σ‖s‖²/n, or n − Σ‖s‖ under cosine.
    fn objective(&self, points: &Points) -> f64 {
        let gathered = |h: usize| match points.distortion() {
            Distortion::Cosine => self.lengths[h].max(0.0).sqrt(),
            Distortion::SquaredEuclidean if self.sizes[h] > 0.0 => self.lengths[h] / self.sizes[h],
            Distortion::SquaredEuclidean => 0.0,
        };
        let all: f64 = (0..points.n()).map(|i| points.norm(i)).sum();
        all - (0..self.sizes.len()).map(gathered).sum::<f64>()
    }

    /// The cluster to which moving object `i` lowers the objective most, if any does.
    fn better(&self, points: &Points, i: usize, own: usize) -> Option<usize> {
        if self.sizes[own] < 2.0 {
            return None;
        }
        let x = points.data().row(i);
        let norm = points.norm(i);
        let k = self.sizes.len();
        let dot = |h: usize| x.dot(row(&self.vectors, h));
        // What a cluster gathers with n objects whose sum has this squared length.
        let gathered = |length: f64, n: f64| match points.distortion() {
            Distortion::Cosine => length.max(0.0).sqrt(),
            Distortion::SquaredEuclidean if n > 0.0 => length / n,
            Distortion::SquaredEuclidean => 0.0,
        };
        let (length, n) = (self.lengths[own], self.sizes[own]);
        let loss = gathered(length, n) - gathered(length - 2.0 * dot(own) + norm, n - 1.0);
        let mut best = (ROUNDING * norm, None);
        for h in (0..k).filter(|&h| h != own) {
            let (length, n) = (self.lengths[h], self.sizes[h]);
            let gain = gathered(length + 2.0 * dot(h) + norm, n + 1.0) - gathered(length, n);
            if gain - loss > best.0 {
                best = (gain - loss, Some(h));
            }
        }
        best.1
    }

    fn shift(&mut self, points: &Points, i: usize, from: usize, to: usize) {
        let x = points.data().row(i);
        for (h, sign) in [(from, -1.0), (to, 1.0)] {
            let dot = x.dot(row(&self.vectors, h));
            let mut vector = self.vectors.row_mut(h);
            x.add_to(vector.as_slice_mut().expect("standard layout"), sign);
            self.lengths[h] += 2.0 * sign * dot + points.norm(i);
            self.sizes[h] += sign;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kmeans::lloyd::{Empty, ToleranceKind, lloyd};
    use crate::kmeans::seeding::rows_as_centres;
    use mustlink_core::Data;
    use ndarray::array;
    use proptest::prelude::*;

    fn stop() -> Stop {
        Stop::new(100, 0.0, ToleranceKind::Relative)
    }

    #[test]
    fn it_goes_on_where_lloyd_stops() {
        // {0, 5} and {9}: 5 is nearer to 2.5 than to 9, so Lloyd stays at a cost of 12.5; {0} and {5, 9}
        // cost 8. With 4 in place of 5 the costs are 8 and 12.5, and nothing moves.
        let run = |middle: f64| {
            let x = array![[0.0], [middle], [9.0]];
            let points =
                Points::new(&Data::dense(x).unwrap(), Distortion::SquaredEuclidean).unwrap();
            let start = array![[middle / 2.0], [9.0 + middle]];
            let mut c = lloyd(&points, start, stop(), Empty::Keep, &Context::new(1)).unwrap();
            c.labels = vec![0, 0, 1];
            refine(&points, c, stop(), &Context::new(1)).unwrap()
        };
        assert_eq!((run(4.0).labels, run(4.0).objective), (vec![0, 0, 1], Some(8.0)));
        assert_eq!((run(5.0).labels, run(5.0).objective), (vec![0, 1, 1], Some(8.0)));
    }

    proptest! {
        #[test]
        fn the_objective_falls_and_no_single_move_lowers_it(
            values in prop::collection::vec(-6i32..7, 12..60),
            k in 2usize..5,
            cosine: bool,
        ) {
            let n = values.len() / 3;
            prop_assume!(k <= n);
            let x = Array2::from_shape_fn((n, 3), |(i, s)| f64::from(values[3 * i + s]) + 0.1 * s as f64);
            let distortion = if cosine { Distortion::Cosine } else { Distortion::SquaredEuclidean };
            let points = Points::new(&Data::dense(x).unwrap(), distortion).unwrap();
            let ctx = Context::new(1);
            let start = rows_as_centres(&points, &(0..k).collect::<Vec<_>>());
            let before = lloyd(&points, start, stop(), Empty::Reseed, &ctx).unwrap();
            let after = refine(&points, before.clone(), stop(), &ctx).unwrap();
            let cost = |labels: &[u32]| {
                let (centres, _) = means(&points, labels, before.extras.centers.clone().unwrap());
                total_distortion(&points, labels, &centres)
            };
            let best = after.objective.unwrap();
            prop_assert!(best <= before.objective.unwrap() + 1e-9);
            prop_assert!((best - cost(&after.labels)).abs() < 1e-9);
            for i in 0..n {
                let own = after.labels[i];
                if after.labels.iter().filter(|l| **l == own).count() < 2 {
                    continue;
                }
                for h in 0..k as u32 {
                    let mut moved = after.labels.clone();
                    moved[i] = h;
                    prop_assert!(cost(&moved) >= best - 1e-9);
                }
            }
        }
    }
}
