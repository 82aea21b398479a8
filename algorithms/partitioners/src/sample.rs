//! The cut of a graph of very many objects and few clusters, by a sample.
//!
//! A sample of the objects shows as well as all of them which clusters belong together; the others
//! then follow their edges.
//!
//! Where every object has an edge to every cluster (WBPA), most of the weight is what all objects have
//! in common. It changes nothing about the cut of parts of equal size, but a multilevel scheme loses
//! its way in it once there are many more objects than clusters. There the clusters get their parts
//! from the eigenvectors of what each object of the sample has beyond the mean, and all objects follow
//! them. On graphs that are not large the engine cuts the graph itself too, and the lower cut counts.

use mustlink_core::random::Stream;
use mustlink_core::{Context, Result, order, reduce};
use rayon::prelude::*;

use crate::graph::{CutGraph, GraphBuilder};
use crate::refine::refine;
use crate::sides::{Held, Sides};
use crate::spectral::Spectral;
use crate::task::Bounds;
use crate::task::{Cut, Guide, Partitioner, Task};

/// Objects of a sample: at least so many, and for each part so many.
const AT_LEAST: usize = 4000;
const PER_PART: usize = 200;
/// A graph with at least this many times the objects of the sample is not cut as a whole: that takes twice as long, and
/// the cut is not lower on average (`cargo run --release -p mustlink-partitioners --example cuts`).
const LARGE: usize = 2;

/// Parts of all vertices by a balanced engine.
///
/// # Errors
/// Returns the errors of the engine.
pub(crate) fn parts(engine: &dyn Partitioner, task: &Task, ctx: &Context) -> Result<Vec<u32>> {
    let plain = || best_parts(engine, task, ctx);
    let graph = task.graph;
    // Forbidden pairs are parted afterwards.
    let Some(objects) = graph.first_side() else { return plain() };
    let held = Held { graph, objects };
    let size = Size::of(&held, task.k);
    if !size.large && !size.dense {
        return plain();
    }
    let sampled = by_sample(engine, &held, task.cut(), &size, ctx)?;
    if size.large {
        return Ok(sampled);
    }
    let whole = plain()?;
    Ok(if task.value(&sampled) < task.value(&whole) { sampled } else { whole })
}

/// The parts that the engine finds, or the parts that follow from the known ones if these are not worse.
fn best_parts(engine: &dyn Partitioner, task: &Task, ctx: &Context) -> Result<Vec<u32>> {
    let found = engine.parts(task, ctx)?;
    let Some(guide) = task.guide else { return Ok(found) };
    let mut known = guide.parts.to_vec();
    refine(task.graph, &mut known, &task.bounds(), task.apart, ctx)?;
    Ok(if task.value(&known) <= task.value(&found) { known } else { found })
}

/// Parts of all vertices of a graph that need not be held, where a sample decides alone; `None` where
/// the graph is to be cut whole.
///
/// # Errors
/// Returns the errors of the engine.
pub(crate) fn parts_of_sides(
    engine: &dyn Partitioner,
    sides: &dyn Sides,
    cut: Cut,
    ctx: &Context,
) -> Result<Option<Vec<u32>>> {
    let size = Size::of(sides, cut.k);
    if size.large { by_sample(engine, sides, cut, &size, ctx).map(Some) } else { Ok(None) }
}

/// How a graph compares with its sample.
struct Size {
    /// Objects of the sample.
    wanted: usize,
    /// Far more objects than the sample has.
    large: bool,
    /// Nearly every object has an edge to every cluster.
    dense: bool,
}

impl Size {
    fn of(sides: &dyn Sides, k: usize) -> Self {
        let (objects, clusters) = (sides.objects(), sides.clusters());
        let wanted = AT_LEAST.max(PER_PART * k);
        Size {
            wanted: wanted.min(objects),
            large: objects >= LARGE * wanted && clusters <= wanted,
            dense: objects >= AT_LEAST && sides.directions() > objects * clusters,
        }
    }
}

/// The graph of some objects, each a vertex of weight 1, and all clusters. `chosen` holds the vertex that each object
/// is part of, ascending; a vertex of many objects may occur several times.
fn part_of(sides: &dyn Sides, chosen: &[u32]) -> Result<CutGraph> {
    let (count, columns) = (chosen.len(), sides.clusters());
    let (mut offsets, mut neighbours, mut weights) = (vec![0], Vec::new(), Vec::new());
    let mut back: Vec<Vec<(u32, u32)>> = vec![Vec::new(); columns];
    let mut row = Vec::new();
    let sizes = sides.sizes();
    for (at, &v) in chosen.iter().enumerate() {
        row.clear();
        sides.row(v as usize, &mut row);
        let size = sizes[v as usize].max(1);
        for &(c, w) in &row {
            let w = ((w + size / 2) / size).max(1);
            neighbours.push(count as u32 + c);
            weights.push(w);
            back[c as usize].push((at as u32, w));
        }
        offsets.push(neighbours.len());
    }
    for column in back {
        neighbours.extend(column.iter().map(|(v, _)| v));
        weights.extend(column.iter().map(|(_, w)| w));
        offsets.push(neighbours.len());
    }
    let clusters = &sizes[sides.objects()..];
    let sizes = std::iter::repeat_n(1, count).chain(clusters.iter().copied()).collect();
    Ok(CutGraph::new(offsets, neighbours, weights, sizes)?.with_first_side(count))
}

/// The vertices of `count` objects drawn at random, ascending. A vertex may be drawn once for each object that it
/// stands for. If vertices were drawn instead, objects that resemble many others would be too rare in the sample.
fn drawn(sides: &dyn Sides, count: usize, stream: &mut Stream) -> Vec<u32> {
    let sizes = &sides.sizes()[..sides.objects()];
    let total: usize = sizes.iter().map(|&s| s as usize).sum();
    let mut objects = stream.sample(total, count.min(total));
    objects.sort_unstable();
    let (mut vertex, mut end) = (0, sizes[0] as usize);
    let holder = |object: usize| {
        while object >= end {
            vertex += 1;
            end += sizes[vertex] as usize;
        }
        vertex as u32
    };
    objects.into_iter().map(holder).collect()
}

/// A bipartite graph without the mean weight that its objects have for each cluster.
fn beyond_mean(graph: &CutGraph, objects: usize) -> Result<CutGraph> {
    let clusters = graph.len() - objects;
    let mean = |c: usize| {
        let sum: u64 = graph.edges(c).map(|(_, w)| u64::from(w)).sum();
        sum as f64 / objects as f64
    };
    let means: Vec<f64> = (objects..graph.len()).map(mean).collect();
    let builder = GraphBuilder::bipartite(objects, clusters, |i, row| {
        row.extend(graph.edges(i).map(|(u, w)| {
            let c = u - objects;
            (c as u32, f64::from(w) - f64::from(graph.size(i)) * means[c])
        }));
    });
    Ok(builder.build(graph.sizes().to_vec(), 1.0)?.with_first_side(objects))
}

/// Parts of all vertices from those of a sample.
fn by_sample(
    engine: &dyn Partitioner,
    sides: &dyn Sides,
    cut: Cut,
    size: &Size,
    ctx: &Context,
) -> Result<Vec<u32>> {
    let (objects, k) = (sides.objects(), cut.k);
    let chosen = drawn(sides, size.wanted, &mut ctx.stream("sample"));
    let count = chosen.len();
    let mut small = part_of(sides, &chosen)?;
    if size.dense {
        small = beyond_mean(&small, count)?;
    }
    // Starts that together take about half as long as those of the whole graph would, unless told.
    let (all, some) = (sides.directions(), small.directions());
    let half = cut.starts(all) * all / (2 * some.max(1));
    let trials = Some(cut.trials.unwrap_or(cut.starts(some).min(half.max(1))));
    let known: Option<Vec<u32>> = cut.guide.map(|guide| {
        let of_chosen = chosen.iter().map(|&v| guide.parts[v as usize]);
        of_chosen.chain(guide.parts[objects..].iter().copied()).collect()
    });
    let guide = cut.guide.zip(known.as_ref()).map(|(guide, parts)| Guide { parts, ..guide });
    let task = Task { imbalance: cut.imbalance, trials, guide, ..Task::new(&small, k) };
    let mut of_sample = match size.dense {
        true => Spectral.parts(&task, ctx)?,
        false => best_parts(engine, &task, ctx)?,
    };
    if let (true, Some(guide)) = (size.dense, cut.guide) {
        by_weight(&small, &mut of_sample, guide.shares);
    }
    // Only the clusters keep the parts of the sample; its objects follow them as all others do.
    let clusters = &of_sample[count..];
    let mut parts = vec![0; objects];
    parts.extend_from_slice(clusters);
    if cut.guide.is_some_and(|guide| guide.follow) {
        follow(sides, &mut parts, k);
        return Ok(parts);
    }
    // The k sums of every vertex, one vertex after the other, as for one of the objects that it stands for.
    let weights = sides.sizes();
    let mut towards = vec![0.0; objects * k];
    towards.par_chunks_mut(k).enumerate().for_each_init(Vec::new, |row, (v, to)| {
        row.clear();
        sides.row(v, row);
        row.iter().for_each(|&(c, w)| to[clusters[c as usize] as usize] += f64::from(w));
        to.iter_mut().for_each(|t| *t /= f64::from(weights[v].max(1)));
    });
    // What all objects have in common (a part with more clusters draws everybody) says nothing about
    // where one of them belongs when parts are of equal size.
    let total: f64 = weights[..objects].iter().map(|&s| f64::from(s)).sum();
    let mut common = vec![0.0; k];
    for (to, &s) in towards.chunks_exact(k).zip(weights) {
        common.iter_mut().zip(to).for_each(|(c, t)| *c += t * f64::from(s) / total);
    }
    let wish = |v: usize, p: usize| towards[v * k + p] - common[p];
    // Those with most to lose go first, where there is room.
    let lead = |v: usize| {
        let mut sorted: Vec<f64> = (0..k).map(|p| wish(v, p)).collect();
        sorted.sort_unstable_by(|a, b| b.total_cmp(a));
        sorted[0] - sorted[1]
    };
    let leads = reduce::map(objects, lead);
    let bounds = Bounds::new(weights, &cut);
    let mut sizes = vec![0u64; k];
    for (at, &p) in clusters.iter().enumerate() {
        sizes[p as usize] += u64::from(weights[objects + at]);
    }
    for v in order::descending(&leads) {
        let size = u64::from(weights[v]);
        let mut best: Option<usize> = None;
        for p in (0..k).filter(|&p| sizes[p] + size <= bounds.0[p]) {
            if best.is_none_or(|b| wish(v, p) > wish(v, b)) {
                best = Some(p);
            }
        }
        let p = best.unwrap_or_else(|| (0..k).min_by_key(|&p| sizes[p]).unwrap_or(0));
        parts[v] = p as u32;
        sizes[p] += size;
    }
    // Every object is where its edges want it. Moving clusters as well would only use up the slack of
    // the bounds: a part that may be a little heavier draws clusters that belong to no class of it.
    Ok(parts)
}

/// Renumbers the parts so that heavier ones have larger shares.
fn by_weight(graph: &CutGraph, parts: &mut [u32], shares: &[f64]) {
    let sizes = graph.part_sizes(parts, shares.len());
    let mut heaviest: Vec<usize> = (0..shares.len()).collect();
    heaviest.sort_by_key(|&p| std::cmp::Reverse(sizes[p]));
    let largest = order::descending(shares);
    let mut name = vec![0; shares.len()];
    heaviest.into_iter().zip(largest).for_each(|(p, to)| name[p] = to as u32);
    parts.iter_mut().for_each(|p| *p = name[*p as usize]);
}

/// Moves every object to the part to which most of the weight of its edges leads; in a tie with its own part it stays.
/// `parts` contains the parts of objects and clusters.
pub(crate) fn follow(sides: &dyn Sides, parts: &mut [u32], k: usize) {
    let (own, clusters) = parts.split_at_mut(sides.objects());
    let buffers = || (Vec::new(), vec![0u64; k]);
    own.par_iter_mut().enumerate().for_each_init(buffers, |(row, towards), (v, own)| {
        row.clear();
        sides.row(v, row);
        towards.fill(0);
        row.iter().for_each(|&(c, w)| towards[clusters[c as usize] as usize] += u64::from(w));
        let most = towards.iter().copied().max().unwrap_or(0);
        if towards[*own as usize] < most {
            *own = towards.iter().position(|&t| t == most).unwrap_or(0) as u32;
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;
    use mustlink_core::random::SeedPath;

    #[test]
    fn a_vertex_of_many_objects_is_drawn_as_many_of_them() {
        // One vertex of 9000 objects and 9000 of one.
        let mut sizes = vec![1; 9000];
        sizes.push(9000);
        let graph = GraphBuilder::bipartite(9001, 2, |i, row| row.push((i as u32 / 9000, 1.0)));
        let graph = graph.build([&sizes[..], &[0, 0]].concat(), 1.0).unwrap();
        let sides = Held { graph: &graph, objects: 9001 };
        let mut stream = SeedPath::new(1).stream("sample");
        let chosen = drawn(&sides, 4000, &mut stream);
        let large = chosen.iter().filter(|&&v| v == 9000).count();
        assert!(chosen.is_sorted() && (1800..2200).contains(&large), "{large} of {}", chosen.len());
        let small = part_of(&sides, &chosen).unwrap();
        assert_eq!((small.first_side(), small.total_size()), (Some(4000), 4000));
        assert!((0..4000).all(|v| small.edges(v).map(|(_, w)| w).eq([1])));
    }
}
