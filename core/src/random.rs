//! Streams of random numbers: one for each purpose, all from one seed.
//!
//! A run has one seed. Every use of randomness names its path (run seed, data set, repeat, fold,
//! then the slots of the config tree and indexes) and its purpose; the BLAKE3 hash of those parts
//! keys a ChaCha8 stream of its own. No two purposes share a stream, so a draw added in one place
//! changes nothing elsewhere, and restarts or members may run in any order on any thread.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The name of a place in a run, from which streams are drawn.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SeedPath {
    parts: Vec<u8>,
}

impl SeedPath {
    /// The root of a run.
    pub fn new(seed: u64) -> Self {
        let mut path = SeedPath { parts: Vec::with_capacity(64) };
        path.push(&seed.to_le_bytes());
        path
    }

    /// The seed of the run.
    pub fn seed(&self) -> u64 {
        u64::from_le_bytes(self.parts[8..16].try_into().expect("the first part has eight bytes"))
    }

    fn push(&mut self, part: &[u8]) {
        self.parts.extend_from_slice(&(part.len() as u64).to_le_bytes());
        self.parts.extend_from_slice(part);
    }

    /// The path one named step further down.
    pub fn child(&self, name: &str) -> Self {
        let mut path = self.clone();
        path.push(name.as_bytes());
        path
    }

    /// The path one numbered step further down.
    pub fn index(&self, t: usize) -> Self {
        let mut path = self.clone();
        path.push(&(t as u64).to_le_bytes());
        path
    }

    /// The stream for one purpose at this place.
    pub fn stream(&self, purpose: &str) -> Stream {
        let end = self.child(purpose);
        Stream { rng: ChaCha8Rng::from_seed(*blake3::hash(&end.parts).as_bytes()) }
    }

    /// The path as bytes: equal paths, equal bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.parts
    }
}

/// A stream of random numbers for one purpose. The mapping from bits to values is fixed for good.
#[derive(Debug, Clone)]
pub struct Stream {
    rng: ChaCha8Rng,
}

impl Stream {
    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.rng.next_u64()
    }

    /// Uniform in `0..m`, without bias. `m` must be positive.
    pub fn below(&mut self, m: usize) -> usize {
        assert!(m > 0, "below(0) has no answer");
        let m = m as u64;
        // Reject the incomplete last multiple of m.
        let zone = u64::MAX - (u64::MAX % m + 1) % m;
        loop {
            let x = self.next_u64();
            if x <= zone {
                return (x % m) as usize;
            }
        }
    }

    /// Uniform in [0, 1), 53 bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Standard normal: Box–Muller from two uniforms, the second value is not kept.
    pub fn normal(&mut self) -> f64 {
        let u = 1.0 - self.unit();
        let v = self.unit();
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }

    /// Fisher–Yates from the last index down.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }

    /// A random order of `0..n`.
    pub fn permutation(&mut self, n: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..n as u32).collect();
        self.shuffle(&mut order);
        order
    }

    /// `m` distinct values of `0..n`, in the order drawn (partial Fisher–Yates).
    pub fn sample(&mut self, n: usize, m: usize) -> Vec<usize> {
        let mut items: Vec<usize> = (0..n).collect();
        for i in 0..m.min(n) {
            let j = i + self.below(n - i);
            items.swap(i, j);
        }
        items.truncate(m);
        items
    }

    /// An index with probability proportional to its weight: the inverse of the running sum in
    /// index order. Zero weights are never chosen; total weight 0 gives a uniform choice.
    pub fn weighted(&mut self, weights: &[f64]) -> usize {
        let total: f64 = weights.iter().sum();
        if total <= 0.0 || !total.is_finite() {
            return self.below(weights.len());
        }
        let target = self.unit() * total;
        let mut sum = 0.0;
        let mut last = 0;
        for (i, &w) in weights.iter().enumerate() {
            if w > 0.0 {
                sum += w;
                last = i;
                if target < sum {
                    return i;
                }
            }
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_fixed_for_good() {
        let mut s = SeedPath::new(7).child("clusterer").index(3).stream("start");
        let first: Vec<usize> = (0..5).map(|_| s.below(1000)).collect();
        let mut again = SeedPath::new(7).child("clusterer").index(3).stream("start");
        assert_eq!(first, (0..5).map(|_| again.below(1000)).collect::<Vec<_>>());
        let mut other = SeedPath::new(7).child("clusterer").index(4).stream("start");
        assert_ne!(first, (0..5).map(|_| other.below(1000)).collect::<Vec<_>>());
    }

    #[test]
    fn parts_are_length_prefixed() {
        let a = SeedPath::new(1).child("ab").child("c");
        let b = SeedPath::new(1).child("a").child("bc");
        assert_ne!(a, b);
    }

    #[test]
    fn weighted_never_takes_zero_weight() {
        let mut s = SeedPath::new(1).stream("w");
        for _ in 0..200 {
            assert_eq!(s.weighted(&[0.0, 2.0, 0.0]), 1);
        }
        let mut seen = [false; 3];
        for _ in 0..200 {
            seen[s.weighted(&[0.0, 0.0, 0.0])] = true;
        }
        assert_eq!(seen, [true; 3]);
    }
}
