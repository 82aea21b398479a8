//! The strongest chain of must-links between objects; a chain is as strong as its weakest link.
//!
//! The chains of a maximum spanning forest are strongest. Along a tree the values of all its objects are spread in
//! two passes, towards a root and back, so that all pairs of m objects take O(m²).

use std::collections::HashMap;

use crate::union_find::UnionFind;

/// A maximum spanning forest, a tree for each component, with objects as places in their component.
pub(crate) struct WidestPaths {
    /// Index of the tree of each component in the lists below.
    offsets: Vec<usize>,
    /// The objects of a tree, each behind the one that it hangs on.
    order: Vec<u32>,
    /// Parent of the object at this place in `order`, and the strength of the link; the root is its own parent.
    hangs_on: Vec<(u32, f64)>,
}

impl WidestPaths {
    /// That of `links` (weight, i, j) over n objects in these components.
    pub fn new<'a>(
        n: usize,
        mut links: Vec<(f64, u32, u32)>,
        components: impl Iterator<Item = &'a [u32]>,
    ) -> Self {
        links.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let mut joined = UnionFind::new(n);
        let mut forest: HashMap<u32, Vec<(u32, f64)>> = HashMap::new();
        for (w, i, j) in links {
            if joined.union(i, j).is_some() {
                forest.entry(i).or_default().push((j, w));
                forest.entry(j).or_default().push((i, w));
            }
        }
        let mut made = WidestPaths { offsets: vec![0], order: Vec::new(), hangs_on: Vec::new() };
        let mut place = vec![u32::MAX; n];
        for members in components {
            members.iter().zip(0..).for_each(|(&i, at)| place[i as usize] = at);
            let first = made.order.len();
            made.order.push(0);
            made.hangs_on.push((0, f64::INFINITY));
            let mut at = first;
            while at < made.order.len() {
                let (here, above) = (made.order[at], made.hangs_on[at].0);
                let neighbours = forest.get(&members[here as usize]).map_or(&[][..], Vec::as_slice);
                for &(other, weight) in neighbours {
                    let other = place[other as usize];
                    if at == first || other != above {
                        made.order.push(other);
                        made.hangs_on.push((here, weight));
                    }
                }
                at += 1;
            }
            made.offsets.push(made.order.len());
        }
        made
    }

    /// Turns the values of the objects of component p, each ≥ 0, into the largest, over all objects, of the smaller
    /// of the value there and the strength of the chain to it.
    pub fn spread(&self, p: usize, values: &mut [f64]) {
        let tree = self.offsets[p]..self.offsets[p + 1];
        let links = || self.order[tree.clone()].iter().zip(&self.hangs_on[tree.clone()]).skip(1);
        for (&object, &(above, weight)) in links().rev() {
            let by_it = values[object as usize].min(weight);
            values[above as usize] = values[above as usize].max(by_it);
        }
        for (&object, &(above, weight)) in links() {
            let by_it = values[above as usize].min(weight);
            values[object as usize] = values[object as usize].max(by_it);
        }
    }

    /// The strength of the strongest chain from one object of component p to each, infinite to itself.
    pub fn from(&self, p: usize, object: usize) -> Vec<f64> {
        let mut values = vec![0.0; self.offsets[p + 1] - self.offsets[p]];
        values[object] = f64::INFINITY;
        self.spread(p, &mut values);
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weakest_link_of_the_strongest_chain() {
        // 5 –3– 7 –1– 8, and 5 –2– 8 beside it; 9 alone.
        let links = vec![(3.0, 5, 7), (1.0, 7, 8), (2.0, 5, 8)];
        let components: [&[u32]; 2] = [&[5, 7, 8], &[9]];
        let paths = WidestPaths::new(10, links, components.into_iter());
        assert_eq!(paths.from(0, 0), [f64::INFINITY, 3.0, 2.0]);
        assert_eq!(paths.from(0, 1), [3.0, f64::INFINITY, 2.0]);
        assert_eq!(paths.from(1, 0), [f64::INFINITY]);
        let mut values = [0.0, 1.5, 5.0];
        paths.spread(0, &mut values);
        assert_eq!(values, [2.0, 2.0, 5.0]);
    }
}
