//! Disjoint sets.

/// Disjoint sets over `0..n`, by size, with path halving: no recursion.
#[derive(Debug, Clone)]
pub struct UnionFind {
    parent: Vec<u32>,
    size: Vec<u32>,
}

impl UnionFind {
    /// n singletons.
    pub fn new(n: usize) -> Self {
        UnionFind { parent: (0..n as u32).collect(), size: vec![1; n] }
    }

    /// The root of `x`'s set.
    pub fn find(&mut self, mut x: u32) -> u32 {
        while self.parent[x as usize] != x {
            let up = self.parent[self.parent[x as usize] as usize];
            self.parent[x as usize] = up;
            x = up;
        }
        x
    }

    /// Unites two sets; gives `(kept root, lost root)`, or `None` if they were one already.
    pub fn union(&mut self, a: u32, b: u32) -> Option<(u32, u32)> {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return None;
        }
        let (keep, lose) =
            if self.size[a as usize] >= self.size[b as usize] { (a, b) } else { (b, a) };
        self.parent[lose as usize] = keep;
        self.size[keep as usize] += self.size[lose as usize];
        Some((keep, lose))
    }

    /// Members of the set of `x`.
    pub fn size(&mut self, x: u32) -> usize {
        let root = self.find(x);
        self.size[root as usize] as usize
    }
}
