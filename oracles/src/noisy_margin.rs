//! The oracle that errs where it is hard.

use mustlink_core::prelude::*;

use crate::parts::pair_hash::PairHash;
use crate::parts::wrapping::{flipping, open_source, properties_of};

/// More objects than this have more than half a million pairs; then a sample stands for all.
const ALL_PAIRS: usize = 1000;
const SAMPLE: usize = 500_000;

/// Gives the opposite reply more often for pairs of medium distance than for others.
///
/// # Method
/// A pair at Euclidean distance d gets the opposite reply with probability rate · exp(−(d − m)² / (2 s²)). Here m is
/// the median distance of all pairs and s the median deviation from it; with more than 1000 objects, both are computed
/// from half a million random pairs. A hash of seed and pair selects the pairs.
/// # Errors
/// `UnsupportedData` for affinities; `Usage` without data.
#[options]
pub struct NoisyMargin {
    /// Probability of an error at the median distance.
    #[option(default = 0.1, min = 0.0, max = 0.5)]
    pub rate: f64,
    /// Oracle whose replies are flipped.
    #[option(slot = "truth")]
    pub source: Option<Box<dyn Oracle>>,
}

#[plugin("noisy_margin")]
impl Oracle for NoisyMargin {
    fn open(&self, scene: &Scene) -> Result<Box<dyn Respondent>> {
        let source = open_source(self, &**self.source()?, scene)?;
        if self.rate == 0.0 {
            return Ok(source);
        }
        let data = scene.data.clone().ok_or_else(|| {
            Error::Usage("the oracle noisy_margin needs the data, but none were given".into())
        })?;
        if data.kind() == DataKind::Affinity {
            let accepts = "dense or csr or distances".into();
            let kind = data.kind().name();
            return Err(Error::UnsupportedData { plugin: "noisy_margin".into(), kind, accepts });
        }
        if data.n() != scene.n {
            let legal = format!("one row per object ({})", scene.n);
            return Err(Error::bad_param("data", format!("{} rows", data.n()), legal));
        }
        let mut distances = distances(&data, &scene.ctx)?;
        let middle = median(&mut distances);
        distances.iter_mut().for_each(|d| *d = (*d - middle).abs());
        let spread = median(&mut distances);
        let pairs = PairHash::new(scene.ctx.path(), "noisy_margin");
        let rate = self.rate;
        let of_pair = move |question: &Question, _| {
            let off = distance(&data, question.i as usize, question.j as usize) - middle;
            // Where half of all distances are the median, only those are hard.
            let off = if off == 0.0 { 0.0 } else { off / spread };
            rate * (-0.5 * off * off).exp()
        };
        Ok(flipping(scene.n, pairs, source, of_pair))
    }

    fn properties(&self) -> OracleProperties {
        let inner = properties_of(Layer::Noise, &self.source);
        OracleProperties { noiseless: inner.noiseless && self.rate == 0.0, ..inner }
    }

    fn source(&self) -> Option<&dyn Oracle> {
        self.source.as_deref()
    }
}

fn distance(data: &Data, i: usize, j: usize) -> f64 {
    match data.kind() {
        DataKind::Distances => data.pair(i, j),
        _ => data.row(i).squared_distance(&data.row(j)).sqrt(),
    }
}

/// The distances of all pairs, or of a sample of them.
fn distances(data: &Data, ctx: &Context) -> Result<Vec<f64>> {
    let n = data.n();
    if n <= ALL_PAIRS {
        let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
        return Ok(pairs.map(|(i, j)| distance(data, i, j)).collect());
    }
    let mut draw = ctx.stream("noisy_margin.sample");
    let mut out = Vec::with_capacity(SAMPLE);
    while out.len() < SAMPLE {
        if out.len() % 4096 == 0 {
            ctx.check()?;
        }
        let (i, j) = (draw.below(n), draw.below(n - 1));
        out.push(distance(data, i, if j < i { j } else { j + 1 }));
    }
    Ok(out)
}

/// The middle value, or the mean of the two in the middle; 0 for none.
fn median(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let half = values.len() / 2;
    let even = values.len().is_multiple_of(2);
    let (below, upper, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    let upper = *upper;
    if even {
        0.5 * (below.iter().copied().fold(f64::NEG_INFINITY, f64::max) + upper)
    } else {
        upper
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&mut []), 0.0);
        assert_eq!(median(&mut [3.0]), 3.0);
        assert_eq!(median(&mut [9.0, 1.0, 4.0]), 4.0);
        assert_eq!(median(&mut [9.0, 1.0, 4.0, 2.0]), 3.0);
    }
}
