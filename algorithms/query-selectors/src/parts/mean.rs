//! The mean of some objects.

use mustlink_kernels::distance::points::{Distortion, Points, inner_product, normalise};

/// The mean of some objects, of unit length under cosine (zero where they sum to zero).
#[derive(Debug, Clone, Default)]
pub struct Mean {
    sum: Vec<f64>,
    vector: Vec<f64>,
    norm: f64,
    count: usize,
}

impl Mean {
    /// The mean of `objects`.
    pub fn of(points: &Points, objects: &[u32]) -> Self {
        let mut mean = Mean::default();
        objects.iter().for_each(|&i| mean.include(points, i));
        mean.update(points);
        mean
    }

    /// Distortion between object `i` and this mean.
    pub fn distance(&self, points: &Points, i: u32) -> f64 {
        points.distance(i as usize, &self.vector, self.norm)
    }

    /// Adds object `i` to the sum; [`Mean::update`] makes it count.
    pub fn include(&mut self, points: &Points, i: u32) {
        self.sum.resize(points.d(), 0.0);
        points.data().row(i as usize).add_to(&mut self.sum, 1.0);
        self.count += 1;
    }

    /// The mean of all that was added.
    pub fn update(&mut self, points: &Points) {
        self.vector.clone_from(&self.sum);
        match points.distortion() {
            Distortion::SquaredEuclidean => {
                self.vector.iter_mut().for_each(|v| *v /= self.count as f64);
            }
            Distortion::Cosine => {
                normalise(&mut self.vector);
            }
        }
        self.norm = inner_product(&self.vector, &self.vector);
    }
}
