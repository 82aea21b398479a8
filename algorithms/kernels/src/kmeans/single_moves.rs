//! Moves of single objects that improve a partition.
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

/// A gain below this share of an object's length times its distance is rounding.
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
    let mut gathered = Gathered::new(points, &clustering.labels, centres.nrows());
    let start = std::mem::take(&mut clustering.labels);
    let mut labels = start.clone();
    let before = clustering.objective;
    let before = before.unwrap_or_else(|| total_distortion(points, &labels, &centres));
    let (mut objective, length) = (before, clustering.history.len());
    let status = std::mem::replace(&mut clustering.status, Status::MaxIter);
    for _ in 0..stop.max_iterations {
        ctx.check()?;
        let (mut moved, mut gained) = (0, 0.0);
        for i in 0..labels.len() {
            if let Some((to, gain)) = gathered.better(points, i, labels[i] as usize) {
                gathered.shift(points, i, labels[i] as usize, to);
                labels[i] = to as u32;
                moved += 1;
                gained += gain;
            }
        }
        let last = objective;
        objective -= gained;
        clustering.history.push(IterStat { objective, moved, violations: None });
        if moved == 0 || stop.is_over(last, objective) {
            clustering.status = Status::Converged;
            break;
        }
    }
    // What was added to and taken from again and again is not reported.
    let (refined, _) = means(points, &labels, centres.clone());
    let objective = total_distortion(points, &labels, &refined);
    if objective > before {
        // Gains that were rounding after all.
        clustering.history.truncate(length);
        clustering.extras.centers = Some(centres);
        return Ok(Clustering { labels: start, status, ..clustering });
    }
    if let Some(last) = clustering.history.last_mut() {
        last.objective = objective;
    }
    clustering.objective = Some(objective);
    clustering.labels = labels;
    clustering.extras.centers = Some(refined);
    Ok(clustering)
}

/// The sums of each cluster: its mean, or Σ x under cosine, with the squared length of that and the
/// number of objects.
///
/// Means, because the differences of ‖Σ x‖² far from the origin are rounding.
struct Gathered {
    vectors: Array2<f64>,
    lengths: Vec<f64>,
    sizes: Vec<f64>,
}

impl Gathered {
    fn new(points: &Points, labels: &[u32], k: usize) -> Self {
        let mut vectors = Array2::zeros((k, points.d()));
        let mut sizes = vec![0.0; k];
        for (i, &l) in labels.iter().enumerate() {
            let mut to = vectors.row_mut(l as usize);
            points.data().row(i).add_to(to.as_slice_mut().expect("standard layout"), 1.0);
            sizes[l as usize] += 1.0;
        }
        if points.distortion() == Distortion::SquaredEuclidean {
            let filled = vectors.rows_mut().into_iter().zip(&sizes).filter(|(_, n)| **n > 0.0);
            filled.for_each(|(mut sum, n)| sum /= *n);
        }
        let lengths = (0..k).map(|h| inner_product(row(&vectors, h), row(&vectors, h))).collect();
        Gathered { vectors, lengths, sizes }
    }

    /// Gain of the objective when cluster `h` loses object `i` (`sign` −1), or its loss when it gets it (1).
    fn change(&self, points: &Points, i: usize, h: usize, sign: f64) -> f64 {
        let (length, n) = (self.lengths[h], self.sizes[h]);
        match points.distortion() {
            Distortion::SquaredEuclidean => {
                n / (n + sign) * points.distance(i, row(&self.vectors, h), length)
            }
            Distortion::Cosine => {
                let dot = points.data().row(i).dot(row(&self.vectors, h));
                let after = (length + 2.0 * sign * dot + points.norm(i)).max(0.0).sqrt();
                -sign * (after - length.max(0.0).sqrt())
            }
        }
    }

    /// The cluster to which moving object `i` lowers the objective most, and by how much, if any does.
    fn better(&self, points: &Points, i: usize, own: usize) -> Option<(usize, f64)> {
        if self.sizes[own] < 2.0 {
            return None;
        }
        let k = self.sizes.len();
        let left = self.change(points, i, own, -1.0);
        let norm = points.norm(i);
        let least = match points.distortion() {
            Distortion::SquaredEuclidean => left + (norm * left).sqrt(),
            Distortion::Cosine => norm,
        };
        let mut best = (ROUNDING * least, None);
        for h in (0..k).filter(|&h| h != own) {
            let gain = left - self.change(points, i, h, 1.0);
            if gain > best.0 {
                best = (gain, Some((h, gain)));
            }
        }
        best.1
    }

    fn shift(&mut self, points: &Points, i: usize, from: usize, to: usize) {
        let x = points.data().row(i);
        for (h, sign) in [(from, -1.0), (to, 1.0)] {
            let n = self.sizes[h] + sign;
            let mut vector = self.vectors.row_mut(h);
            let vector = vector.as_slice_mut().expect("standard layout");
            match points.distortion() {
                Distortion::Cosine => x.add_to(vector, sign),
                // An empty cluster has no mean yet.
                Distortion::SquaredEuclidean if self.sizes[h] == 0.0 => x.add_to(vector, 1.0),
                Distortion::SquaredEuclidean => {
                    vector.iter_mut().for_each(|m| *m *= self.sizes[h] / n);
                    x.add_to(vector, sign / n);
                }
            }
            self.lengths[h] = inner_product(vector, vector);
            self.sizes[h] = n;
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

    #[test]
    fn a_shift_of_the_origin_makes_no_moves() {
        // As many objects as it takes for sums of squares to hold no gain any more.
        let x = Array2::from_shape_fn((30_000, 2), |(i, s)| ((i * (7 + s)) % 1009) as f64 / 1009.0);
        let refined = |shift: f64| {
            let data = Data::dense(x.mapv(|v| v + shift)).unwrap();
            let points = Points::new(&data, Distortion::SquaredEuclidean).unwrap();
            let ctx = Context::new(1);
            let start = rows_as_centres(&points, &[0, 400, 800]);
            let before = lloyd(&points, start, stop(), Empty::Keep, &ctx).unwrap();
            let after = refine(&points, before.clone(), stop(), &ctx).unwrap();
            assert!(after.objective.unwrap() <= before.objective.unwrap());
            after
        };
        let (here, there) = (refined(0.0), refined(1e5));
        assert_eq!(there.status, Status::Converged);
        let apart = (here.objective.unwrap() / there.objective.unwrap() - 1.0).abs();
        assert!(apart < 1e-3, "{apart}");
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
