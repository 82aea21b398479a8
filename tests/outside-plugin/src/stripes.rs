//! Slices of about equal size along one feature.

use mustlink::prelude::*;

/// Slices of about equal size along one feature.
///
/// # Method
/// Objects in order of the feature (ties by number) are cut into k runs.
/// # Input and output
/// Dense data. One label per object in `0..k`.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `BadParam` for a feature that does not exist.
/// # Cost and randomness
/// O(n log n); nothing random.
#[options]
pub struct Stripes {
    /// Number of the feature, from 0.
    #[option(min = 0)]
    pub feature: usize,
}

#[plugin("stripes")]
impl BaseClusterer for Stripes {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        ctx.check()?;
        let (n, k) = (problem.n(), problem.require_k(None, "stripes")?);
        if self.feature >= problem.d() {
            let legal = format!("below the number of features ({})", problem.d());
            return Err(Error::bad_param("feature", self.feature, legal));
        }
        let value = |i: usize| match problem.data.row(i) {
            Row::Dense(x) => x[self.feature],
            Row::Sparse(..) => 0.0,
        };
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&a, &b| value(a).total_cmp(&value(b)));
        let mut labels = vec![0; n];
        for (rank, &i) in order.iter().enumerate() {
            labels[i] = (rank * k / n) as u32;
        }
        Ok(Clustering { labels, k, ..Clustering::default() })
    }
}
