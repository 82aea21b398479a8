//! The must-links that contradict a cannot-link, the choice of the constraint to drop, and what no choice avoids.

use crate::constraints::{Constraints, Kind};
use crate::witness::Witness;

/// Searches for shortest must-link chains, over lists that are made once.
pub(crate) struct ShortestChains<'a> {
    constraints: &'a Constraints,
    /// Index of the first must-link of each object.
    starts: Vec<usize>,
    /// The must-links of each object as neighbour and place in the list, neighbours in index order.
    links: Vec<(u32, usize)>,
    /// From where, and by which must-link, each object was first reached.
    from: Vec<(u32, usize)>,
    /// The search that reached it last, so that nothing is wiped between searches.
    met: Vec<u32>,
    searches: u32,
    queue: Vec<u32>,
    /// Number of links that searches may still look at.
    looks_left: u64,
}

impl<'a> ShortestChains<'a> {
    /// The must-links of `constraints` over `n` objects.
    pub fn new(constraints: &'a Constraints, n: usize) -> Self {
        let must =
            constraints.listed().iter().enumerate().filter(|(_, c)| c.kind == Kind::MustLink);
        let mut ends: Vec<(u32, u32, usize)> =
            must.flat_map(|(at, c)| [(c.i, c.j, at), (c.j, c.i, at)]).collect();
        ends.sort_unstable();
        let mut starts = vec![0; n + 1];
        ends.iter().for_each(|&(i, ..)| starts[i as usize + 1] += 1);
        (0..n).for_each(|i| starts[i + 1] += starts[i]);
        let links = ends.into_iter().map(|(_, j, at)| (j, at)).collect();
        let (from, met, queue) = (vec![(0, 0); n], vec![0; n], Vec::new());
        let (searches, looks_left) = (0, u64::MAX);
        ShortestChains { constraints, starts, links, from, met, searches, queue, looks_left }
    }

    /// A shortest chain between the ends of the cannot-link at a place among all pairs, of must-links that are
    /// not `gone`. `None` where nothing joins them.
    pub fn witness(&mut self, index: usize, gone: impl Fn(usize) -> bool) -> Option<Witness> {
        let (cannot, group) = self.constraints.pair_at(index);
        let (path, links) = self.chain(cannot.i, cannot.j, gone)?;
        let group = group.map(|group| group.name.clone());
        Some(Witness { index, cannot: (cannot.i, cannot.j), path, links, group })
    }

    /// A shortest chain from `i` to `j` of must-links that are not `gone`, with their places in the list: breadth
    /// first, neighbours in index order. `None` where nothing joins them, and when the looks are spent.
    pub fn chain(
        &mut self,
        i: u32,
        j: u32,
        gone: impl Fn(usize) -> bool,
    ) -> Option<(Vec<u32>, Vec<usize>)> {
        self.searches += 1;
        self.queue.clear();
        self.queue.push(i);
        self.met[i as usize] = self.searches;
        let mut next = 0;
        while self.met[j as usize] != self.searches {
            let x = *self.queue.get(next)?;
            next += 1;
            let links = &self.links[self.starts[x as usize]..self.starts[x as usize + 1]];
            self.looks_left = self.looks_left.checked_sub(links.len() as u64)?;
            for &(y, at) in links {
                if self.met[y as usize] != self.searches && !gone(at) {
                    self.met[y as usize] = self.searches;
                    self.from[y as usize] = (x, at);
                    self.queue.push(y);
                }
            }
        }
        let (mut path, mut links) = (vec![j], Vec::new());
        while path[path.len() - 1] != i {
            let (before, at) = self.from[path[path.len() - 1] as usize];
            path.push(before);
            links.push(at);
        }
        path.reverse();
        links.reverse();
        Some((path, links))
    }
}

/// Most must-links that [`unavoidable`] looks at, about a second's work.
const MOST_LOOKS: u64 = 30_000_000;

/// A lower bound on the weight of the constraints that any partition violates.
///
/// Every partition violates a cannot-link or one of the must-links of a chain between its ends, so the smallest of
/// their weights cannot be avoided. It is taken from all of them, and the search continues with what is left.
/// `conflicts`: places of cannot-links among all pairs. The search ends after [`MOST_LOOKS`], with the bound so far.
pub(crate) fn unavoidable(
    constraints: &Constraints,
    n: usize,
    conflicts: impl Iterator<Item = usize>,
) -> f64 {
    let mut left: Vec<f64> = constraints.pairs().iter().map(|c| c.weight).collect();
    let mut chains = ShortestChains::new(constraints, n);
    chains.looks_left = MOST_LOOKS;
    let mut sum = 0.0;
    for cannot in conflicts {
        while left[cannot] > 0.0 {
            let Some(witness) = chains.witness(cannot, |at| left[at] <= 0.0) else { break };
            let all = || witness.links.iter().copied().chain([cannot]);
            let least = all().map(|at| left[at]).fold(f64::INFINITY, f64::min);
            all().for_each(|at| left[at] -= least);
            sum += least;
        }
    }
    sum
}

/// Marks the pairs to drop so that no contradiction remains. For each remaining contradiction in turn, this is the
/// weakest
/// of the cannot-link and a shortest chain; of equal ones the last. `conflicts`: the cannot-links inside components,
/// ascending. For each pair of the list, true if it is dropped.
pub(crate) fn weakest(constraints: &Constraints, n: usize, conflicts: &[usize]) -> Vec<bool> {
    let pairs = constraints.listed();
    let mut gone = vec![false; pairs.len()];
    let mut chains = ShortestChains::new(constraints, n);
    for &cannot in conflicts {
        // Giving up joins nothing: what is settled stays so, and no other contradiction comes up.
        while !gone[cannot]
            && let Some(witness) = chains.witness(cannot, |at| gone[at])
        {
            let all = witness.links.iter().copied().chain([cannot]);
            let weakest = all
                .min_by(|&a, &b| pairs[a].weight.total_cmp(&pairs[b].weight).then(b.cmp(&a)))
                .expect("a witness has a cannot-link");
            gone[weakest] = true;
        }
    }
    gone
}
