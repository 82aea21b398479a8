//! Disjoint sets.

/// Disjoint sets over `0..n`, by size, with path halving: no recursion.
#[derive(Debug, Clone, Default)]
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sets_are_those_of_labels(pairs in prop::collection::vec((0u32..9, 0u32..9), 0..20)) {
            let mut sets = UnionFind::new(9);
            let mut labels: Vec<u32> = (0..9).collect();
            for (a, b) in pairs {
                let (of_a, of_b) = (labels[a as usize], labels[b as usize]);
                let (root_a, root_b) = (sets.find(a), sets.find(b));
                match sets.union(a, b) {
                    None => prop_assert_eq!(of_a, of_b),
                    Some((kept, lost)) => {
                        prop_assert_ne!(of_a, of_b);
                        prop_assert!([(root_a, root_b), (root_b, root_a)].contains(&(kept, lost)));
                        prop_assert_eq!((sets.find(a), sets.find(b)), (kept, kept));
                    }
                }
                labels.iter_mut().filter(|l| **l == of_b).for_each(|l| *l = of_a);
                for x in 0..9u32 {
                    let own = labels[x as usize];
                    prop_assert_eq!(sets.size(x), labels.iter().filter(|l| **l == own).count());
                }
            }
        }
    }
}
