//! The balanced cut of a two-way split if broken cannot-links have a cost.
//!
//! For a set S of vertices with volume vol(S) = Σ mass and V the volume of all,
//!
//! F̂(S) = (cut(S) + γ·viol(S)) · V / (vol(S) · vol(V∖S)),
//!
//! where viol(S) is the weight of the cannot-links with both ends on one side. Its exact continuous
//! form is F(f) = (R₁(f) − R₂(f)) / S(f), all three convex and homogeneous ([RangapuramHein2012]).

use mustlink_kernels::graph::adjacency::Graph;

/// A two-way problem: a graph, the mass of its vertices, and pairs that are to be parted.
#[derive(Debug, Clone)]
pub struct TwoWay {
    /// In rows of the first end, which is the lower one.
    pub(super) edges: Vec<(u32, u32, f64)>,
    mass: Vec<f64>,
    volume: f64,
    pub(super) apart: Vec<(u32, u32, f64)>,
    pub(super) apart_weight: f64,
    /// Largest number of neighbours.
    pub(super) degree: usize,
}

/// A split into the set and the rest.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// For each vertex, true if it is in the set.
    pub inside: Vec<bool>,
    /// F̂ of the set.
    pub value: f64,
}

impl TwoWay {
    /// Positive masses, one per vertex; `apart` holds distinct pairs with positive weights.
    pub fn new(graph: &Graph, mass: Vec<f64>, apart: Vec<(u32, u32, f64)>) -> Self {
        TwoWay {
            edges: graph.edges().collect(),
            volume: mass.iter().sum(),
            mass,
            apart_weight: apart.iter().map(|c| c.2).sum(),
            apart,
            degree: (0..graph.n()).map(|i| graph.neighbours(i).0.len()).max().unwrap_or(0),
        }
    }

    /// Number of vertices.
    pub fn n(&self) -> usize {
        self.mass.len()
    }

    /// The pairs that are to be parted.
    pub fn apart(&self) -> &[(u32, u32, f64)] {
        &self.apart
    }

    /// Weight of the edges between the set and the rest.
    pub fn cut(&self, inside: &[bool]) -> f64 {
        self.edges
            .iter()
            .filter(|e| inside[e.0 as usize] != inside[e.1 as usize])
            .map(|e| e.2)
            .sum()
    }

    /// Number and weight of the cannot-links with both ends on one side.
    pub fn violated(&self, inside: &[bool]) -> (usize, f64) {
        let broken = self.apart.iter().filter(|c| inside[c.0 as usize] == inside[c.1 as usize]);
        broken.fold((0, 0.0), |(count, weight), c| (count + 1, weight + c.2))
    }

    /// F̂ of a set that is neither empty nor everything (infinite for those).
    pub fn set_value(&self, inside: &[bool], gamma: f64) -> f64 {
        let volume: f64 = self.mass.iter().zip(inside).filter(|(_, s)| **s).map(|(b, _)| b).sum();
        let rest: f64 = self.mass.iter().zip(inside).filter(|(_, s)| !**s).map(|(b, _)| b).sum();
        let cost = self.cut(inside) + gamma * self.violated(inside).1;
        if volume > 0.0 && rest > 0.0 {
            cost * self.volume / (volume * rest)
        } else {
            f64::INFINITY
        }
    }

    /// F(f); infinite for a constant f.
    pub fn value(&self, f: &[f64], gamma: f64) -> f64 {
        let s = self.balance_gradient(f);
        let balance = dot(&s, f);
        if spread(f) == 0.0 || balance <= 0.0 {
            return f64::INFINITY;
        }
        ((self.upper(f, gamma) - self.lower(f, gamma)) / balance).max(0.0)
    }

    /// R₁: total variation, and γ times the weight of all cannot-links for the whole range.
    pub(super) fn upper(&self, f: &[f64], gamma: f64) -> f64 {
        let variation: f64 =
            self.edges.iter().map(|&(i, j, w)| w * (f[i as usize] - f[j as usize]).abs()).sum();
        variation + gamma * self.apart_weight * spread(f)
    }

    /// R₂: γ times what the cannot-links part.
    fn lower(&self, f: &[f64], gamma: f64) -> f64 {
        let parted: f64 =
            self.apart.iter().map(|&(i, j, q)| q * (f[i as usize] - f[j as usize]).abs()).sum();
        gamma * parted
    }

    /// A subgradient of S, the Lovász extension of vol(S)·vol(V∖S)/V; ties in index order.
    pub(super) fn balance_gradient(&self, f: &[f64]) -> Vec<f64> {
        let order = ascending(f);
        let mut s = vec![0.0; f.len()];
        // Volume from position t on.
        let mut from = 0.0;
        for &i in order.iter().rev() {
            let i = i as usize;
            let beyond = from;
            from += self.mass[i];
            s[i] = self.mass[i] * (self.volume - from - beyond) / self.volume;
        }
        s
    }

    /// The best of the sets {f > t}.
    pub fn threshold(&self, f: &[f64], gamma: f64) -> Side {
        let n = f.len();
        let order = ascending(f);
        let mut rank = vec![0u32; n];
        order.iter().enumerate().for_each(|(t, &i)| rank[i as usize] = t as u32);
        // change[t]: how the cost changes when the set loses the vertex at position t.
        let mut change = vec![0.0; n];
        for &(i, j, w) in &self.edges {
            let (a, b) = (rank[i as usize], rank[j as usize]);
            change[a.min(b) as usize] += w;
            change[a.max(b) as usize] -= w;
        }
        for &(i, j, q) in &self.apart {
            let (a, b) = (rank[i as usize], rank[j as usize]);
            change[a.min(b) as usize] -= gamma * q;
            change[a.max(b) as usize] += gamma * q;
        }
        let (mut cost, mut outside) = (gamma * self.apart_weight, 0.0);
        let mut best = (f64::INFINITY, 0);
        for t in 0..n.saturating_sub(1) {
            let i = order[t] as usize;
            cost += change[t];
            outside += self.mass[i];
            if f[i] < f[order[t + 1] as usize] {
                let value = cost * self.volume / (outside * (self.volume - outside));
                if value < best.0 {
                    best = (value, t + 1);
                }
            }
        }
        let mut inside = vec![false; n];
        if best.1 > 0 {
            order[best.1..].iter().for_each(|&i| inside[i as usize] = true);
        }
        // The running sums carry rounding errors; the value given does not.
        let value = self.set_value(&inside, gamma);
        Side { inside, value }
    }
}

/// Vertices in ascending order of f, ties by index.
fn ascending(f: &[f64]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..f.len() as u32).collect();
    order.sort_by(|&a, &b| f[a as usize].total_cmp(&f[b as usize]));
    order
}

pub(super) fn spread(f: &[f64]) -> f64 {
    let (low, high) = f
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)));
    high - low
}

pub(super) fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| a * b).sum()
}

pub(super) fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}
