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
    /// The widest paths of `links` (weight, i, j) over n objects in these components.
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

    /// The links of component p, each of which cuts the component in two. `pairs` are pairs of places in it with
    /// their weights.
    pub fn cuts(&self, p: usize, pairs: &[(u32, u32, f64)]) -> Vec<Cut> {
        let tree = self.offsets[p]..self.offsets[p + 1];
        let links = || self.order[tree.clone()].iter().zip(&self.hangs_on[tree.clone()]).skip(1);
        let mut sizes = vec![1; tree.len()];
        for (&object, &(upper, _)) in links().rev() {
            sizes[upper as usize] += sizes[object as usize];
        }
        let meeting = Meeting::new(links().map(|(&object, &(upper, _))| (object, upper)), &sizes);
        let mut sums = vec![0.0; tree.len()];
        for &(a, b, weight) in pairs {
            sums[a as usize] += weight;
            sums[b as usize] += weight;
            // A pair does not cross the links above the object at which its two ways to the root meet.
            sums[meeting.of(a, b) as usize] -= 2.0 * weight;
        }
        let mut all = Vec::with_capacity(tree.len() - 1);
        for (&object, &(upper, _)) in links().rev() {
            let (size, sum) = (sizes[object as usize], sums[object as usize]);
            sums[upper as usize] += sum;
            all.push(Cut { link: (object, upper), size, sum });
        }
        all
    }
}

/// Meeting points of the ways from two objects of a tree to its root. The tree is divided into paths: each object
/// continues the path above it if no sibling has more objects below. So a way has O(log m) paths, also in a long chain.
struct Meeting {
    /// The object above each.
    above: Vec<u32>,
    /// The upper end of the path of each object.
    top: Vec<u32>,
    depth: Vec<u32>,
}

impl Meeting {
    /// `links`: each object with the one above it, from the root down. `sizes`: number of objects below each, including
    /// itself.
    fn new(links: impl Iterator<Item = (u32, u32)> + Clone, sizes: &[usize]) -> Self {
        let mut continued: Vec<u32> = vec![0; sizes.len()];
        for (object, upper) in links.clone() {
            let best = &mut continued[upper as usize];
            // The root continues nothing.
            if *best == 0 || sizes[object as usize] > sizes[*best as usize] {
                *best = object;
            }
        }
        let (mut above, mut depth) = (vec![0; sizes.len()], vec![0; sizes.len()]);
        let mut top: Vec<u32> = (0..sizes.len() as u32).collect();
        for (object, upper) in links {
            let (at, up) = (object as usize, upper as usize);
            (above[at], depth[at]) = (upper, depth[up] + 1);
            if continued[up] == object {
                top[at] = top[up];
            }
        }
        Meeting { above, top, depth }
    }

    fn of(&self, a: u32, b: u32) -> u32 {
        let (mut a, mut b) = (a as usize, b as usize);
        while self.top[a] != self.top[b] {
            let tops = [self.top[a] as usize, self.top[b] as usize];
            if self.depth[tops[0]] >= self.depth[tops[1]] {
                a = self.above[tops[0]] as usize;
            } else {
                b = self.above[tops[1]] as usize;
            }
        }
        let upper = if self.depth[a] <= self.depth[b] { a } else { b };
        upper as u32
    }
}

/// The two sides that a link of a tree joins.
pub(crate) struct Cut {
    /// The link, as places in the component.
    pub link: (u32, u32),
    /// Number of objects on the first side.
    pub size: usize,
    /// Total weight of the pairs with an end on either side.
    pub sum: f64,
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

    #[test]
    fn a_link_separates_what_hangs_on_it_from_the_rest() {
        // The tree 5 –3– 7 –2– 8, and the pair 5, 8 against it.
        let members: [&[u32]; 1] = [&[5, 7, 8]];
        let links = vec![(3.0, 5, 7), (2.0, 7, 8)];
        let pairs = [(0, 1, 3.0), (1, 2, 2.0), (0, 2, -0.5)];
        let cuts = WidestPaths::new(9, links, members.into_iter()).cuts(0, &pairs);
        let cuts: Vec<_> = cuts.iter().map(|cut| (cut.link, cut.size, cut.sum)).collect();
        assert_eq!(cuts, [((2, 1), 1, 1.5), ((1, 0), 2, 2.5)]);
    }

    #[test]
    fn pairs_across_a_link_have_one_end_below_it() {
        // A chain, a star, and two trees between them.
        let above: [fn(u32) -> u32; 4] = [|i| i - 1, |_| 0, |i| i / 2, |i| i.saturating_sub(3)];
        let members: Vec<u32> = (0..20).collect();
        let all =
            || members.iter().flat_map(|&j| (0..j).map(move |i| (i, j, f64::from(7 * i + j))));
        let pairs: Vec<(u32, u32, f64)> = all().collect();
        for above in above {
            let links = (1..20).map(|i| (1.0, above(i), i)).collect();
            let cuts = WidestPaths::new(20, links, [&members[..]].into_iter()).cuts(0, &pairs);
            assert_eq!(cuts.len(), 19);
            for Cut { link, size, sum } in cuts {
                let is_below = |object: u32| {
                    std::iter::successors(Some(object), |&i| (i > 0).then(|| above(i)))
                        .any(|i| i == link.0)
                };
                let across = pairs.iter().filter(|(i, j, _)| is_below(*i) != is_below(*j));
                assert_eq!(link.1, above(link.0));
                assert_eq!(size, members.iter().filter(|&&i| is_below(i)).count());
                assert_eq!(sum, across.map(|pair| pair.2).sum::<f64>());
            }
        }
    }
}
