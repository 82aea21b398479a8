//! The memory of the starts of penalised k-means that are held at the same time.

use mustlink_core::{AutoOr, reduce};

use crate::constrained::penalised_kmeans::{SoftInit, SoftOptions, starts};

/// Starts that are at work at a time, as far as memory is declared: those of few threads.
const AT_WORK: usize = 8;

impl SoftOptions {
    /// Bytes of all starts: of each the `result` is held until all are made, and a few at a time take `working` more;
    /// likewise of those on `constrained` objects alone, with k centres of d features.
    pub fn memory_of_starts(
        &self,
        (constrained, k, d): (usize, usize, usize),
        result: usize,
        working: usize,
    ) -> usize {
        let alone = match (self.rules.init, self.weight) {
            _ if constrained == 0 => 0,
            (Some(SoftInit::ConstrainedObjects), _) | (None, AutoOr::Auto) => starts(constrained),
            _ => 0,
        };
        let plain = match self.rules.init {
            Some(SoftInit::Plain(init)) => init,
            // It is what starts them where there are no neighbourhoods.
            _ => self.shared.init_without_constraints,
        };
        let several = alone == 0 && plain.is_random();
        let asked = self.shared.restarts.unwrap_or(if several { 10 } else { 1 });
        let own = asked.min(reduce::WAVE);
        let alone = (own * alone).min(reduce::WAVE);
        // Labels and centres; distances, counts, centres and their sums.
        let (made, making) = (4 * constrained + 8 * k * d, 24 * (constrained * k + k * d));
        own * result + own.min(AT_WORK) * working + alone * made + alone.min(AT_WORK) * making
    }
}
