//! The oracle that errs.

use mustlink_core::prelude::*;

use crate::parts::pair_hash::PairHash;
use crate::parts::wrapping::{flipping, open_source, properties_of};

/// Gives the opposite of some replies and passes the others on.
///
/// # Method
/// A pair gets the opposite reply when its number in [0, 1), a hash of seed and pair, is below the rate of the reply
/// that it would get. A "don't know" stays unchanged. At rate 0 the source is unchanged.
/// # Errors
/// `BadParam` for a source that is not allowed inside.
#[options]
pub struct Noisy {
    /// Share of the replies that are flipped.
    #[option(default = 0.1, min = 0.0, max = 1.0)]
    pub flip_rate: f64,
    /// Share of the must-links that are flipped. If absent, `flip_rate`.
    #[option(min = 0.0, max = 1.0)]
    pub flip_must: Option<f64>,
    /// Share of the cannot-links that are flipped. If absent, `flip_rate`.
    #[option(min = 0.0, max = 1.0)]
    pub flip_cannot: Option<f64>,
    /// Oracle whose replies are flipped.
    #[option(slot = "truth")]
    pub source: Option<Box<dyn Oracle>>,
}

impl Noisy {
    /// Rates for must-links and for cannot-links.
    fn rates(&self) -> (f64, f64) {
        (self.flip_must.unwrap_or(self.flip_rate), self.flip_cannot.unwrap_or(self.flip_rate))
    }
}

#[plugin("noisy")]
impl Oracle for Noisy {
    fn open(&self, scene: &Scene) -> Result<Box<dyn Respondent>> {
        let (must, cannot) = self.rates();
        let source = open_source(self, &**self.source()?, scene)?;
        let pairs = PairHash::new(scene.ctx.path(), "noisy");
        Ok(flipping(scene.n, pairs, source, move |_, reply| match reply {
            Reply::MustLink => must,
            _ => cannot,
        }))
    }

    fn properties(&self) -> OracleProperties {
        let inner = properties_of(Layer::Noise, &self.source);
        OracleProperties { noiseless: inner.noiseless && self.rates() == (0.0, 0.0), ..inner }
    }

    fn source(&self) -> Option<&dyn Oracle> {
        self.source.as_deref()
    }
}
