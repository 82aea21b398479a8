//! Pairs that about half of an ensemble puts together.

use std::collections::HashSet;

use mustlink_core::prelude::*;
use mustlink_kernels::ensemble::co_association::{CoAssociation, MAX_MATRIX_BYTES, Representation};

use crate::parts::pair_list::{PairList, along};

/// A random batch of pairs whose co-association lies in a band.
///
/// # Method
/// The pool contains the pairs of eligible objects with `lo` ≤ A ≤ `hi`. From it `fraction` · n pairs are drawn
/// without replacement and asked in the order drawn. If the pool is too small, the ensemble is made again up to
/// `redraws` times and the largest pool is kept. Then, with `widen`, the band grows by one member on both sides until
/// the pool suffices or the band contains all disputed pairs. A warning reports how many pairs are still missing.
/// # Input and output
/// The input of the generator; the paper uses a sweep of `lac` over `h` = 1, 2, …, 10. One batch of pairs; all are
/// asked, even those that earlier replies entail, unless `skip_entailed`.
/// # Errors
/// The errors of the generator; `BadParam` unless 0 ≤ lo ≤ hi ≤ 1 and `fraction` ≥ 0.
/// # Cost and randomness
/// The ensembles, then O(|E| n), without a matrix O(|E| n τ / 32). Random in the ensembles and the draw.
/// # References
/// [DomeniconiAlRazgan2008]: ten members, the band 0.45 to 0.55, a fifth of n pairs.
#[options]
pub struct CoAssociationBand {
    /// Generator that makes the ensemble.
    #[option(slot = "random_k")]
    pub generator: Option<Box<dyn EnsembleGenerator>>,
    /// Smallest co-association.
    #[option(default = 0.45, min = 0.0, max = 1.0)]
    pub lo: f64,
    /// Largest co-association.
    #[option(default = 0.55, min = 0.0, max = 1.0)]
    pub hi: f64,
    /// Number of pairs to ask for each object of the data.
    #[option(default = 0.2, min = 0.0)]
    pub fraction: f64,
    /// Number of times the ensemble is made again if the pool is too small.
    #[option(min = 0)]
    pub redraws: usize,
    /// Widen the band if the pool is too small.
    pub widen: bool,
    /// Storage of co-associations.
    pub representation: Representation,
    /// Largest size of the matrix in bytes; a larger matrix is not stored.
    #[option(default = MAX_MATRIX_BYTES, min = 0)]
    pub max_matrix_bytes: u64,
    /// Skip pairs whose answer follows from earlier replies, instead of asking them.
    pub skip_entailed: bool,
}

/// The counts of a band, both included; empty when `from > to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Band {
    from: u32,
    to: u32,
}

impl Band {
    /// The counts of `members` members whose share lies in [lo, hi], whatever decimals do.
    fn new(lo: f64, hi: f64, members: usize) -> Self {
        let tau = members as f64;
        let from = (lo * tau - 1e-9).ceil().max(0.0) as u32;
        let to = (hi * tau + 1e-9).floor() as u32;
        Band { from, to }
    }

    fn holds(self, count: u32) -> bool {
        (self.from..=self.to).contains(&count)
    }

    /// One count more on both sides, up to 1 ..= members − 1, and none less; `None` if that adds nothing.
    fn wider(self, members: usize) -> Option<Band> {
        let most = (members as u32).saturating_sub(1);
        let from = self.from.saturating_sub(1).max(1).min(self.from);
        let band = Band { from, to: (self.to + 1).min(most).max(self.to) };
        let grown = band.from < self.from || band.to > self.to;
        (grown && band.from <= band.to).then_some(band)
    }
}

/// Number of partners with a larger index that each eligible object has in the band.
fn pool(co: &CoAssociation, eligible: &[u32], band: Band, ctx: &Context) -> Result<Vec<u64>> {
    reduce::try_map(eligible.len(), |at| {
        ctx.check()?;
        Ok(partners(co, eligible, at, band).len() as u64)
    })
}

fn partners(co: &CoAssociation, eligible: &[u32], at: usize, band: Band) -> Vec<u32> {
    let row = co.row(eligible[at] as usize);
    eligible[at + 1..].iter().copied().filter(|&j| band.holds(row[j as usize])).collect()
}

/// `wanted` of the numbers below `all`, drawn without replacement; all of them if there are not more.
fn numbers(all: u64, wanted: u64, draw: &mut Stream) -> Vec<u64> {
    if 2 * wanted >= all {
        let mut every: Vec<u64> = (0..all).collect();
        draw.shuffle(&mut every);
        every.truncate(wanted as usize);
        return every;
    }
    let mut seen = HashSet::new();
    let mut some = Vec::new();
    while (some.len() as u64) < wanted {
        let number = draw.below(all as usize) as u64;
        if seen.insert(number) {
            some.push(number);
        }
    }
    some
}

#[plugin("co_association_band", version = 2, cites = ["DomeniconiAlRazgan2008"], waives = ["asks_eligible_pairs_once" => "a band without a pair asks nothing, which it warns of"])]
impl QuerySelector for CoAssociationBand {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        if self.lo > self.hi {
            let given = format!("{} with hi = {}", self.lo, self.hi);
            return Err(Error::bad_param("lo", given, "0 <= lo <= hi <= 1"));
        }
        let generator = self.generator()?;
        let eligible = problem.eligible_objects();
        let wanted = (self.fraction * problem.n() as f64).round() as u64;
        let count = |ensemble: &Ensemble| {
            let (form, limit) = (self.representation, self.max_matrix_bytes);
            CoAssociation::new(ensemble, form, limit, ctx)
        };
        let ensemble = ctx.ensemble_labels(&**generator, problem).map_err(|e| e.at("generator"))?;
        let mut co = count(&ensemble)?;
        let mut band = Band::new(self.lo, self.hi, co.members());
        if band.from > band.to {
            ctx.warn(format!(
                "no count of {} members lies between {} and {}; the nearest are {} and {}",
                co.members(),
                self.lo,
                self.hi,
                band.to,
                band.from
            ));
        }
        let mut sizes = pool(&co, &eligible, band, ctx)?;
        let total = |sizes: &[u64]| sizes.iter().sum::<u64>();
        let mut redrawn = 0;
        while total(&sizes) < wanted && redrawn < self.redraws {
            let again = ctx.child("redraw").index(redrawn);
            redrawn += 1;
            let ensemble = generator.generate(problem, &again).map_err(|e| e.at("generator"))?;
            let other = count(&ensemble)?;
            let more = pool(&other, &eligible, band, ctx)?;
            if total(&more) > total(&sizes) {
                (co, sizes) = (other, more);
            }
        }
        while self.widen && total(&sizes) < wanted {
            let Some(wider) = band.wider(co.members()) else { break };
            band = wider;
            sizes = pool(&co, &eligible, band, ctx)?;
        }
        let all = total(&sizes);
        if all < wanted || redrawn > 0 || band != Band::new(self.lo, self.hi, co.members()) {
            ctx.warn(format!(
                "{all} pairs that {} to {} of {} members put together, {wanted} wanted, after {redrawn} redraws",
                band.from, band.to, co.members()
            ));
        }
        // Numbers of pairs are drawn, and only their rows looked at again.
        let ends: Vec<u64> = sizes
            .iter()
            .scan(0, |sum, s| {
                *sum += s;
                Some(*sum)
            })
            .collect();
        let ranks = numbers(all, wanted, &mut ctx.stream("band"));
        let pairs = reduce::map(ranks.len(), |nth| {
            let at = ends.partition_point(|&end| end <= ranks[nth]);
            let within = ranks[nth] - (ends[at] - sizes[at]);
            (eligible[at], partners(&co, &eligible, at, band)[within as usize])
        });
        Ok(PairList::start(problem, pairs, self.skip_entailed, "band"))
    }

    fn properties(&self) -> SelectorProperties {
        along(self.generator(), self.skip_entailed)
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let generator = self.generator();
        let n = shape.n as u64;
        let matrix = match self.representation {
            Representation::Implicit => 0,
            _ => (n * n.saturating_sub(1)).min(self.max_matrix_bytes),
        };
        generator.map_or(0, |g| g.memory(shape, true)) + matrix + 24 * n
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_hold_whole_counts() {
        assert_eq!(Band::new(0.45, 0.55, 10), Band { from: 5, to: 5 });
        assert_eq!(Band::new(0.45, 0.55, 9), Band { from: 5, to: 4 });
        assert_eq!(Band::new(0.45, 0.55, 20), Band { from: 9, to: 11 });
        let mut band = Band::new(0.45, 0.55, 10);
        let mut grown = Vec::new();
        while let Some(wider) = band.wider(10) {
            band = wider;
            grown.push((band.from, band.to));
        }
        assert_eq!(grown, [(4, 6), (3, 7), (2, 8), (1, 9)]);
        assert_eq!(Band::new(0.45, 0.55, 9).wider(9), Some(Band { from: 4, to: 5 }));
    }

    #[test]
    fn a_matrix_is_declared_where_one_is_held() {
        let shape = Shape { n: 10_000, d: 2, k: 3, entries: 20_000, constraints: 0 };
        let of = |representation| {
            CoAssociationBand { representation, ..CoAssociationBand::default() }.memory(&shape)
        };
        let (without, with) = (of(Representation::Implicit), of(Representation::Auto));
        assert_eq!(with - without, 10_000 * 9_999);
    }

    #[test]
    fn a_band_that_grows_loses_nothing() {
        assert_eq!(Band::new(0.0, 0.1, 10).wider(10), Some(Band { from: 0, to: 2 }));
        assert_eq!(Band::new(0.9, 1.0, 10).wider(10), Some(Band { from: 8, to: 10 }));
        assert_eq!(Band::new(0.0, 1.0, 10).wider(10), None);
    }
}
