//! Errors of simulated oracles that depend on the pair alone.
//!
//! A pair has one number in [0, 1) per seed and purpose: the hash of both with the smaller and the
//! larger object. Order and number of questions play no part, so that prefixes of a learning curve,
//! parallel runs and resumed runs agree.

use mustlink_core::random::SeedPath;

/// Numbers for pairs, for one seed and purpose.
#[derive(Debug, Clone)]
pub struct PairHash {
    // Has taken in seed path and tag.
    prefix: blake3::Hasher,
}

impl PairHash {
    /// The numbers that `tag` draws at `path`.
    pub fn new(path: &SeedPath, tag: &str) -> Self {
        let mut prefix = blake3::Hasher::new();
        prefix.update(path.child(tag).as_bytes());
        PairHash { prefix }
    }

    /// The number of the pair, in [0, 1) with 53 bits, in either order.
    pub fn uniform(&self, i: u32, j: u32) -> f64 {
        let mut hasher = self.prefix.clone();
        hasher.update(&i.min(j).to_le_bytes());
        hasher.update(&i.max(j).to_le_bytes());
        let hash = hasher.finalize();
        let bits: [u8; 8] = hash.as_bytes()[..8].try_into().expect("8 of 32 bytes");
        (u64::from_le_bytes(bits) >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_per_pair_seed_and_purpose() {
        let of = |seed, tag, i, j| PairHash::new(&SeedPath::new(seed), tag).uniform(i, j);
        let u = of(7, "dont_know", 3, 12);
        assert_eq!(u, of(7, "dont_know", 12, 3));
        for other in [of(8, "dont_know", 3, 12), of(7, "noisy", 3, 12), of(7, "dont_know", 3, 13)] {
            assert_ne!(u, other);
        }
    }

    #[test]
    fn numbers_are_uniform() {
        let hash = PairHash::new(&SeedPath::new(1), "test");
        let mut tenths = [0i32; 10];
        for i in 0..100 {
            for j in 100..200 {
                tenths[(hash.uniform(i, j) * 10.0) as usize] += 1;
            }
        }
        // 10⁴ draws: 4 binomial standard deviations are 120.
        assert!(tenths.iter().all(|count| (count - 1000).abs() < 120), "{tenths:?}");
    }
}
