//! Dense regions at one radius: the clusters of DBSCAN, and the order of OPTICS.
//!
//! A core has `min_points` objects within the radius, itself among them. Objects are looked up in a k-d tree. Boxes out
//! of reach are skipped. So are boxes that are within the radius as a whole, and boxes whose cores already share the
//! cluster of the core that searches. A large radius therefore costs no more than a small one. In many features boxes
//! rule out little; the search is then a plain loop over rows that are next to each other in memory.
//!
//! Sources: [Ester1996], [Ankerst1999].

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use mustlink_core::clustering::NONE;
use mustlink_core::data::Data;
use mustlink_core::{Context, Result};

use crate::distance::kd_tree::{KdTree, gaps};
use crate::distance::points::{Distortion, Points, SquaredDistances, squared_distance};
use crate::graph::boruvka;
use crate::graph::knn::Neighbours;
use crate::simd::dispatch::dispatch;

/// Objects that one thread searches for before it looks whether the run is to end.
const CHUNK: usize = 256;
/// Most features with which the nearest objects are sought in a tree.
const LOW: usize = 16;
/// Features below which a plain sum is as fast as lanes.
const FEW: usize = 8;
/// Times that cores are counted into clusters while these are found.
const ROUNDS: usize = 8;

/// Squared distance of each object to the `count`-th nearest, itself counted; to the farthest of fewer.
///
/// # Errors
/// Cancellation.
pub fn core_distances(data: &Data, tree: &KdTree, count: usize, ctx: &Context) -> Result<Vec<f64>> {
    let count = count.min(data.n());
    if count < 2 {
        return Ok(vec![0.0; data.n()]);
    }
    if data.d() <= LOW {
        return boruvka::core_distances(tree, count, ctx);
    }
    let points = Points::new(data, Distortion::SquaredEuclidean)?;
    let near = Neighbours::search(&points, count - 1, ctx)?;
    Ok((0..data.n()).map(|i| near.radius(i)).collect())
}

/// An object in the order of OPTICS.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reached {
    /// The object.
    pub object: u32,
    /// The squared distance at which those before reach it; infinite if none does within the radius.
    pub distance: f64,
}

/// Rows in a k-d tree, and a radius.
pub struct DenseRegions<'a> {
    tree: &'a KdTree,
    /// The squared radius.
    limit: f64,
    /// Below it a squared distance is within the radius, and above the second it is not, however it was rounded.
    sure: (f64, f64),
    /// Nodes all objects of which are within the radius of each other.
    compact: Vec<bool>,
}

/// Room for the searches of one thread.
struct Room {
    gap: Vec<f64>,
    open: Vec<(f64, u32)>,
    distances: Vec<f64>,
}

impl Room {
    fn new(d: usize) -> Self {
        Room { gap: vec![0.0; d], open: Vec::new(), distances: Vec::new() }
    }
}

/// The next step for a node or for the search.
enum Next {
    /// Its halves, or its objects, are looked at.
    Open,
    /// Nothing in it is wanted.
    Pass,
    /// The search is over.
    End,
}

impl<'a> DenseRegions<'a> {
    /// The regions of the rows of a tree, with the squared radius `limit`.
    pub fn new(tree: &'a KdTree, limit: f64) -> Self {
        let slack = 8.0 * (tree.d() + 8) as f64 * f64::EPSILON;
        let sure = (limit * (1.0 - slack), limit * (1.0 + slack));
        let compact = (0..tree.nodes.len()).map(|node| {
            let (low, high) = tree.corners_of(node);
            squared_distance(low, high) <= sure.0
        });
        DenseRegions { tree, limit, sure, compact: compact.collect() }
    }

    /// Which objects have `min_points` objects within the radius, themselves among them.
    ///
    /// # Errors
    /// Cancellation.
    pub fn cores(&self, min_points: usize, ctx: &Context) -> Result<Vec<bool>> {
        let tree = self.tree;
        let mut at_places = vec![false; tree.objects.len()];
        for (node, compact) in tree.nodes.iter().zip(&self.compact) {
            if *compact && node.to - node.from >= min_points {
                at_places[node.from..node.to].fill(true);
            }
        }
        at_places.par_chunks_mut(CHUNK).enumerate().try_for_each(|(chunk, cores)| {
            ctx.check()?;
            let mut room = Room::new(tree.d());
            for (at, core) in cores.iter_mut().enumerate().filter(|(_, core)| !**core) {
                *core = self.has(chunk * CHUNK + at, min_points, &mut room);
            }
            Ok(())
        })?;
        let mut of_objects = vec![false; at_places.len()];
        tree.objects.iter().zip(at_places).for_each(|(&o, core)| of_objects[o as usize] = core);
        Ok(of_objects)
    }

    /// True if the object at a place has so many within the radius.
    fn has(&self, place: usize, min_points: usize, room: &mut Room) -> bool {
        let count = Cell::new(0);
        let row = self.tree.row(place);
        self.search(
            place,
            room,
            |node, _| {
                if !self.reaches_all(row, node) {
                    return Next::Open;
                }
                count.set(count.get() + self.tree.nodes[node].to - self.tree.nodes[node].from);
                if count.get() >= min_points { Next::End } else { Next::Pass }
            },
            |_, _| {
                count.set(count.get() + 1);
                count.get() < min_points
            },
        );
        count.get() >= min_points
    }

    /// The cluster of each object, numbered by their first cores. Cores within the radius of each other share a
    /// cluster; other objects join the first cluster that reaches them.
    ///
    /// # Errors
    /// Cancellation.
    pub fn clusters(&self, is_core: &[bool], ctx: &Context) -> Result<Vec<Option<usize>>> {
        let tree = self.tree;
        let n = tree.objects.len();
        let mut joined = Joined::new(self, is_core);
        // Every eighth chunk in turn, so that what is found in one round of one region saves searches in the next.
        for round in 0..ROUNDS {
            let chunks = (0..n.div_ceil(CHUNK)).into_par_iter().filter(|c| c % ROUNDS == round);
            chunks.try_for_each(|chunk| {
                ctx.check()?;
                let mut room = Room::new(tree.d());
                for place in chunk * CHUNK..((chunk + 1) * CHUNK).min(n) {
                    if is_core[tree.objects[place] as usize] {
                        joined.join_neighbours(place, &mut room);
                    }
                }
                Ok(())
            })?;
            joined.find_whole();
            ctx.progress(round as u64 + 1, Some(ROUNDS as u64));
        }
        let mut roots = vec![NONE; n];
        roots.par_chunks_mut(CHUNK).enumerate().try_for_each(|(chunk, roots)| {
            ctx.check()?;
            let mut room = Room::new(tree.d());
            for (at, root) in roots.iter_mut().enumerate() {
                let place = chunk * CHUNK + at;
                *root = match is_core[tree.objects[place] as usize] {
                    true => joined.sets.find(tree.objects[place]),
                    false => joined.first_within(place, &mut room),
                };
            }
            Ok(())
        })?;
        let mut number = vec![NONE; n];
        let mut clusters = 0;
        for object in 0..n {
            if is_core[object] && joined.sets.find(object as u32) as usize == object {
                number[object] = clusters;
                clusters += 1;
            }
        }
        let mut out = vec![None; n];
        for (&object, &root) in tree.objects.iter().zip(&roots) {
            if root != NONE {
                out[object as usize] = Some(number[root as usize] as usize);
            }
        }
        Ok(out)
    }

    /// The order of OPTICS. The next object is the one that is reached at the least distance (ties: the first object);
    /// if no object is within the radius of an earlier core, it is the first that is left. `cores` are squared core
    /// distances.
    ///
    /// # Errors
    /// Cancellation.
    pub fn order(&self, cores: &[f64], ctx: &Context) -> Result<Vec<Reached>> {
        let n = self.tree.objects.len();
        let mut places = vec![0u32; n];
        self.tree.objects.iter().enumerate().for_each(|(p, &o)| places[o as usize] = p as u32);
        let mut left = Left::new(self.tree);
        let mut distances = vec![f64::INFINITY; n];
        let mut open = BinaryHeap::new();
        let mut room = Room::new(self.tree.d());
        let mut out = Vec::with_capacity(n);
        for first in 0..n as u32 {
            open.push(Reverse((f64::INFINITY.to_bits(), first)));
            // Of numbers that are not negative, bits have the same order.
            while let Some(Reverse((_, object))) = open.pop() {
                let (at, place) = (object as usize, places[object as usize] as usize);
                if !left.take(place) {
                    continue;
                }
                if out.len() % CHUNK == 0 {
                    ctx.check()?;
                    ctx.progress(out.len() as u64, Some(n as u64));
                }
                out.push(Reached { object, distance: distances[at] });
                if cores[at] > self.limit {
                    continue;
                }
                let reach = |place: usize, distance: f64| {
                    let other = self.tree.objects[place];
                    let distance = distance.max(cores[at]);
                    if left.of_place[place] && distance < distances[other as usize] {
                        distances[other as usize] = distance;
                        open.push(Reverse((distance.to_bits(), other)));
                    }
                    true
                };
                let any_left = |node: usize, _: &[f64]| match left.of_node[node] {
                    0 => Next::Pass,
                    _ => Next::Open,
                };
                self.search(place, &mut room, any_left, reach);
            }
        }
        Ok(out)
    }

    /// True if a row is within the radius of all objects of a node.
    fn reaches_all(&self, row: &[f64], node: usize) -> bool {
        let (low, high) = self.tree.corners_of(node);
        let mut square = 0.0;
        for ((x, low), high) in row.iter().zip(low).zip(high) {
            let gap = (x - low).max(high - x);
            square += gap * gap;
            if square > self.sure.0 {
                return false;
            }
        }
        true
    }

    /// Offers `look` the nodes in reach of the object at a place, nearer halves first, and gives `found` the places and
    /// squared distances of the objects within the radius in the nodes that `look` opens. The search ends once `found`
    /// returns false.
    fn search(
        &self,
        place: usize,
        room: &mut Room,
        mut look: impl FnMut(usize, &[f64]) -> Next,
        mut found: impl FnMut(usize, f64) -> bool,
    ) {
        let (tree, d, row) = (self.tree, self.tree.d(), self.tree.row(place));
        let mut open = std::mem::take(&mut room.open);
        open.clear();
        open.push((0.0, 0));
        'search: while let Some((_, node)) = open.pop() {
            match look(node as usize, row) {
                Next::Open => {}
                Next::Pass => continue,
                Next::End => break,
            }
            let node = &tree.nodes[node as usize];
            if let Some((left, right)) = node.halves {
                let mut bound = |half: usize| {
                    let (low, high) = tree.corners_of(half);
                    gaps(row, low, high, &mut room.gap);
                    (room.gap.iter().map(|g| g * g).sum::<f64>(), half as u32)
                };
                let (a, b) = (bound(left), bound(right));
                let (near, far) = if a.0 <= b.0 { (a, b) } else { (b, a) };
                open.extend([far, near].into_iter().filter(|half| half.0 <= self.sure.1));
                continue;
            }
            let rows = tree.rows_of(node);
            room.distances.clear();
            room.distances.resize(node.to - node.from, 0.0);
            if d < FEW {
                let all = rows.chunks_exact(d.max(1)).zip(&mut room.distances);
                all.for_each(|(other, out)| *out = in_turn(row, other));
            } else {
                dispatch(SquaredDistances { row, rows, out: &mut room.distances });
            }
            for (at, &distance) in (node.from..node.to).zip(&room.distances) {
                if self.is_within(distance, row, at) && !found(at, distance) {
                    break 'search;
                }
            }
        }
        room.open = open;
    }

    /// True if an object is within the radius, however its distance was rounded.
    fn is_within(&self, distance: f64, row: &[f64], place: usize) -> bool {
        if row.len() < FEW || distance <= self.sure.0 || distance > self.sure.1 {
            return distance <= self.limit;
        }
        in_turn(row, self.tree.row(place)) <= self.limit
    }
}

/// The squared distance, summed feature by feature.
#[inline(always)]
fn in_turn(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).fold(0.0, |sum, (a, b)| sum + (a - b) * (a - b))
}

/// Which objects are still to be reached.
struct Left {
    of_place: Vec<bool>,
    of_node: Vec<u32>,
    /// The leaf of each place, and the parent of each node.
    leaf: Vec<u32>,
    parent: Vec<u32>,
}

impl Left {
    fn new(tree: &KdTree) -> Self {
        let n = tree.objects.len();
        let mut left = Left {
            of_place: vec![true; n],
            of_node: tree.nodes.iter().map(|node| (node.to - node.from) as u32).collect(),
            leaf: vec![0; n],
            parent: vec![NONE; tree.nodes.len()],
        };
        for (at, node) in tree.nodes.iter().enumerate() {
            match node.halves {
                Some((a, b)) => [a, b].into_iter().for_each(|half| left.parent[half] = at as u32),
                None => left.leaf[node.from..node.to].fill(at as u32),
            }
        }
        left
    }

    /// Takes an object away; false if it was taken before.
    fn take(&mut self, place: usize) -> bool {
        if !std::mem::replace(&mut self.of_place[place], false) {
            return false;
        }
        let mut node = self.leaf[place];
        while node != NONE {
            self.of_node[node as usize] -= 1;
            node = self.parent[node as usize];
        }
        true
    }
}

/// Disjoint sets of objects that several threads join. Each is named by its first object, so the names do not depend on
/// the order in which sets are joined.
struct Sets(Vec<AtomicU32>);

impl Sets {
    fn find(&self, mut at: u32) -> u32 {
        loop {
            let next = self.0[at as usize].load(Ordering::Relaxed);
            if next == at {
                return at;
            }
            let after = self.0[next as usize].load(Ordering::Relaxed);
            // A lost race leaves a longer way, nothing worse.
            let _ = self.0[at as usize].compare_exchange(
                next,
                after,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            at = next;
        }
    }

    fn join(&self, a: u32, b: u32) {
        loop {
            let (a, b) = (self.find(a), self.find(b));
            if a == b {
                return;
            }
            let (first, last) = (a.min(b), a.max(b));
            let parent = &self.0[last as usize];
            // Fails if another thread has joined the second in the meantime.
            let done = parent.compare_exchange(last, first, Ordering::Relaxed, Ordering::Relaxed);
            if done.is_ok() {
                return;
            }
        }
    }
}

/// Clusters of cores that are found so far.
struct Joined<'a> {
    regions: &'a DenseRegions<'a>,
    is_core: &'a [bool],
    sets: Sets,
    /// The first core of each node, by its object.
    core: Vec<u32>,
    /// Nodes all cores of which are in one cluster.
    whole: Vec<bool>,
}

impl<'a> Joined<'a> {
    fn new(regions: &'a DenseRegions<'a>, is_core: &'a [bool]) -> Self {
        let tree = regions.tree;
        let sets = Sets((0..is_core.len() as u32).map(AtomicU32::new).collect());
        let mut core = vec![NONE; tree.nodes.len()];
        for (at, node) in tree.nodes.iter().enumerate().rev() {
            let mut cores =
                tree.objects[node.from..node.to].iter().filter(|&&o| is_core[o as usize]);
            core[at] = match node.halves {
                Some((left, right)) if core[left] == NONE => core[right],
                Some((left, _)) => core[left],
                None => cores.next().copied().unwrap_or(NONE),
            };
            if regions.compact[at] && core[at] != NONE {
                match node.halves {
                    Some((left, right)) if core[left] != NONE && core[right] != NONE => {
                        sets.join(core[left], core[right]);
                    }
                    Some(_) => {}
                    None => cores.for_each(|&o| sets.join(core[at], o)),
                }
            }
        }
        let whole = regions.compact.clone();
        Joined { regions, is_core, sets, core, whole }
    }

    /// Looks again which nodes are of one cluster.
    fn find_whole(&mut self) {
        let tree = self.regions.tree;
        for (at, node) in tree.nodes.iter().enumerate().rev() {
            if self.whole[at] || self.core[at] == NONE {
                continue;
            }
            let root = self.sets.find(self.core[at]);
            let shares = |core: u32| self.sets.find(core) == root;
            let half = |h: usize| self.core[h] == NONE || self.whole[h] && shares(self.core[h]);
            let objects = &tree.objects[node.from..node.to];
            let whole = match node.halves {
                Some((left, right)) => half(left) && half(right),
                None => objects.iter().all(|&o| !self.is_core[o as usize] || shares(o)),
            };
            self.whole[at] = whole;
        }
    }

    /// Joins a core with the cores within the radius that come after it in the tree.
    fn join_neighbours(&self, place: usize, room: &mut Room) {
        let (regions, tree) = (self.regions, self.regions.tree);
        let own = tree.objects[place];
        let look = |node: usize, row: &[f64]| {
            let core = self.core[node];
            if core == NONE || tree.nodes[node].to <= place {
                return Next::Pass;
            }
            if self.whole[node] {
                if self.sets.find(core) == self.sets.find(own) {
                    return Next::Pass;
                }
                if regions.reaches_all(row, node) {
                    self.sets.join(own, core);
                    return Next::Pass;
                }
            }
            Next::Open
        };
        regions.search(place, room, look, |at, _| {
            let other = tree.objects[at];
            if self.is_core[other as usize] {
                self.sets.join(own, other);
            }
            true
        });
    }

    /// The first cluster that has a core within the radius of an object.
    fn first_within(&self, place: usize, room: &mut Room) -> u32 {
        let tree = self.regions.tree;
        let first = Cell::new(NONE);
        let look = |node: usize, _: &[f64]| match self.core[node] {
            NONE => Next::Pass,
            core if self.whole[node] && self.sets.find(core) >= first.get() => Next::Pass,
            _ => Next::Open,
        };
        self.regions.search(place, room, look, |at, _| {
            let other = tree.objects[at];
            if self.is_core[other as usize] {
                first.set(first.get().min(self.sets.find(other)));
            }
            true
        });
        first.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_laws::strategies::grid;
    use ndarray::{Array2, array};
    use proptest::prelude::*;

    fn ctx() -> Context {
        Context::new(1)
    }

    fn plain_cores(x: &Array2<f64>, limit: f64, min_points: usize) -> Vec<bool> {
        let n = x.nrows();
        (0..n).map(|i| (0..n).filter(|&j| square(x, i, j) <= limit).count() >= min_points).collect()
    }

    fn square(x: &Array2<f64>, i: usize, j: usize) -> f64 {
        in_turn(x.row(i).to_slice().unwrap(), x.row(j).to_slice().unwrap())
    }

    /// The published loop.
    fn plain_clusters(x: &Array2<f64>, limit: f64, is_core: &[bool]) -> Vec<Option<usize>> {
        let n = x.nrows();
        let mut out = vec![None; n];
        let mut clusters = 0;
        for first in 0..n {
            if out[first].is_some() || !is_core[first] {
                continue;
            }
            let mut open = vec![first];
            out[first] = Some(clusters);
            while let Some(i) = open.pop() {
                for j in (0..n).filter(|&j| is_core[i] && square(x, i, j) <= limit) {
                    if out[j].is_none() {
                        out[j] = Some(clusters);
                        open.push(j);
                    }
                }
            }
            clusters += 1;
        }
        out
    }

    fn plain_order(x: &Array2<f64>, limit: f64, cores: &[f64]) -> Vec<Reached> {
        let n = x.nrows();
        let mut left: Vec<usize> = (0..n).collect();
        let mut distances = vec![f64::INFINITY; n];
        let mut out = Vec::new();
        while !left.is_empty() {
            let by_distance = |a: &usize, b: &usize| distances[*a].total_cmp(&distances[*b]);
            let next = left.iter().copied().min_by(by_distance).unwrap();
            left.retain(|&j| j != next);
            out.push(Reached { object: next as u32, distance: distances[next] });
            for &j in left.iter().filter(|_| cores[next] <= limit) {
                if square(x, next, j) <= limit {
                    let row = |i: usize| x.row(i).to_slice().unwrap();
                    let distance = squared_distance(row(next), row(j));
                    distances[j] = distances[j].min(distance.max(cores[next]));
                }
            }
        }
        out
    }

    #[test]
    fn worked_example() {
        // Cores with two neighbours within 1.5: 1 and 2; 0 and 3 are at their edges, 4 is noise.
        let x = array![[0.0], [1.0], [2.0], [3.0], [9.0]];
        let data = Data::dense(x.clone()).unwrap();
        let tree = KdTree::new(x.view());
        let cores = core_distances(&data, &tree, 3, &ctx()).unwrap();
        assert_eq!(cores, [4.0, 1.0, 1.0, 4.0, 49.0]);
        let regions = DenseRegions::new(&tree, 2.25);
        let is_core = regions.cores(3, &ctx()).unwrap();
        assert_eq!(is_core, [false, true, true, false, false]);
        let clusters = regions.clusters(&is_core, &ctx()).unwrap();
        assert_eq!(clusters, [Some(0), Some(0), Some(0), Some(0), None]);
        // Object 0 is not a core and reaches nothing; from 1 the others are reached at 1.
        let order = regions.order(&cores, &ctx()).unwrap();
        let (far, near) = (f64::INFINITY, 1.0);
        let found: Vec<(u32, f64)> = order.iter().map(|r| (r.object, r.distance)).collect();
        assert_eq!(found, [(0, far), (1, far), (2, near), (3, near), (4, far)]);
    }

    proptest! {
        #[test]
        fn all_is_as_by_looking_at_all_pairs(
            x in grid(1..=250, 1..=12), min_points in 1usize..9, limit in 0u8..30, noise in 0u8..2,
        ) {
            let x = Array2::from_shape_fn(x.dim(), |(i, f)| {
                x[[i, f]] + f64::from(noise) * ((31 * i + 17 * f) % 101) as f64 / 128.0
            });
            let data = Data::dense(x.clone()).unwrap();
            let tree = KdTree::new(x.view());
            let limit = f64::from(limit);
            let regions = DenseRegions::new(&tree, limit);
            let is_core = regions.cores(min_points, &ctx()).unwrap();
            prop_assert_eq!(&is_core, &plain_cores(&x, limit, min_points));
            let clusters = regions.clusters(&is_core, &ctx()).unwrap();
            prop_assert_eq!(clusters, plain_clusters(&x, limit, &is_core));
            let cores = core_distances(&data, &tree, min_points, &ctx()).unwrap();
            let order = regions.order(&cores, &ctx()).unwrap();
            prop_assert_eq!(order, plain_order(&x, limit, &cores));
        }
    }

    #[test]
    fn many_features_and_any_number_of_threads() {
        let mut s = mustlink_core::random::SeedPath::new(1).stream("x");
        let x = Array2::from_shape_fn((1500, 20), |(i, _)| 6.0 * (i % 7) as f64 + s.normal());
        let data = Data::dense(x.clone()).unwrap();
        let tree = KdTree::new(x.view());
        let cores = core_distances(&data, &tree, 5, &ctx()).unwrap();
        let mut sorted = cores.clone();
        sorted.sort_by(f64::total_cmp);
        let limit = sorted[1300] * (1.0 + 1e-12);
        let regions = DenseRegions::new(&tree, limit);
        let is_core = plain_cores(&x, limit, 5);
        let clusters = plain_clusters(&x, limit, &is_core);
        for threads in [1, 2, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                assert_eq!(regions.cores(5, &ctx()).unwrap(), is_core);
                assert_eq!(regions.clusters(&is_core, &ctx()).unwrap(), clusters);
            });
        }
        let objects = |order: Vec<Reached>| order.iter().map(|r| r.object).collect::<Vec<_>>();
        let order = regions.order(&cores, &ctx()).unwrap();
        assert_eq!(objects(order), objects(plain_order(&x, limit, &cores)));
    }

    /// A radius around everything looks at boxes, not at pairs.
    #[test]
    fn a_large_radius_is_no_dearer() {
        let x = Array2::from_shape_fn((200_000, 2), |(i, f)| ((i * (7919 + 13 * f)) % 9973) as f64);
        let tree = KdTree::new(x.view());
        let regions = DenseRegions::new(&tree, 1e12);
        let is_core = regions.cores(5, &ctx()).unwrap();
        let clusters = regions.clusters(&is_core, &ctx()).unwrap();
        assert!(clusters.iter().all(|c| *c == Some(0)));
    }

    #[test]
    fn every_part_can_be_interrupted() {
        let x = Array2::from_shape_fn((3000, 2), |(i, f)| ((i * (7919 + 13 * f)) % 997) as f64);
        let data = Data::dense(x.clone()).unwrap();
        let tree = KdTree::new(x.view());
        let all = |ctx: &Context| {
            let cores = core_distances(&data, &tree, 5, ctx)?;
            let regions = DenseRegions::new(&tree, 9.0);
            regions.clusters(&regions.cores(5, ctx)?, ctx)?;
            regions.order(&cores, ctx)
        };
        let path = || mustlink_core::random::SeedPath::new(1);
        let counted = Context::builder(path()).count_looks().build();
        all(&counted).unwrap();
        for looks in 0..counted.looks() {
            let ctx = Context::builder(path()).cancel_after(looks).build();
            assert_eq!(all(&ctx).unwrap_err(), mustlink_core::Error::Cancelled, "{looks}");
        }
    }
}
