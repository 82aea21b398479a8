//! How is a graph of very many objects and few clusters cut?
//!
//! A sample of the objects shows as well as all of them which clusters belong together; the others
//! then follow their edges.
//!
//! Where every object has an edge to every cluster (WBPA), most of the weight is what all objects have
//! in common. It changes nothing about the cut of parts of equal size, but a multilevel scheme loses
//! its way in it once there are many more objects than clusters. There the clusters get their parts
//! from the eigenvectors of what each object of the sample has beyond the mean, and all objects follow
//! them. On graphs that are not large the engine cuts the graph itself too, and the lower cut counts.

use mustlink_core::{Context, Result};
use rayon::prelude::*;

use crate::graph::{CutGraph, GraphBuilder};
use crate::refine::Bounds;
use crate::sides::{Held, Sides};
use crate::spectral::Spectral;
use crate::task::{Cut, Partitioner, Task};

/// Objects of a sample: at least so many, and for each part so many.
const AT_LEAST: usize = 4000;
const PER_PART: usize = 200;
/// From so many times the sample on: the cut of the whole graph takes twice as long and is no lower on
/// the whole (`cargo run --release -p mustlink-partitioners --example cuts`).
const LARGE: usize = 2;

/// Parts of all vertices by a balanced engine.
///
/// # Errors
/// Those of the engine.
pub(crate) fn parts(engine: &dyn Partitioner, task: &Task, ctx: &Context) -> Result<Vec<u32>> {
    let plain = || engine.parts(task, ctx);
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
    let bounds = task.bounds();
    let value = |parts: &[u32]| (bounds.excess(&graph.part_sizes(parts, task.k)), graph.cut(parts));
    Ok(if value(&sampled) < value(&whole) { sampled } else { whole })
}

/// Parts of all vertices of a graph that need not be held, where a sample decides alone; `None` where
/// the graph is to be cut whole.
///
/// # Errors
/// Those of the engine.
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

/// The graph of some objects, ascending, and all clusters.
fn part_of(sides: &dyn Sides, chosen: &[u32]) -> Result<CutGraph> {
    let (count, columns) = (chosen.len(), sides.clusters());
    let (mut offsets, mut neighbours, mut weights) = (vec![0], Vec::new(), Vec::new());
    let mut back: Vec<Vec<(u32, u32)>> = vec![Vec::new(); columns];
    let mut row = Vec::new();
    for (at, &v) in chosen.iter().enumerate() {
        row.clear();
        sides.row(v as usize, &mut row);
        for &(c, w) in &row {
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
    let sizes = sides.sizes();
    let clusters = &sizes[sides.objects()..];
    let sizes = chosen.iter().map(|&v| sizes[v as usize]).chain(clusters.iter().copied()).collect();
    Ok(CutGraph::new(offsets, neighbours, weights, sizes)?.with_first_side(count))
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
    let (objects, k, count) = (sides.objects(), cut.k, size.wanted);
    let mut chosen: Vec<u32> =
        ctx.stream("sample").sample(objects, count).into_iter().map(|v| v as u32).collect();
    chosen.sort_unstable();
    let mut small = part_of(sides, &chosen)?;
    if size.dense {
        small = beyond_mean(&small, count)?;
    }
    let engine = if size.dense { &Spectral } else { engine };
    // Starts that together take about half as long as those of the whole graph would, unless told.
    let (all, some) = (sides.directions(), small.directions());
    let half = cut.starts(all) * all / (2 * some.max(1));
    let trials = Some(cut.trials.unwrap_or(cut.starts(some).min(half.max(1))));
    let task = Task { imbalance: cut.imbalance, trials, ..Task::new(&small, k) };
    let of_sample = engine.parts(&task, ctx)?;
    // Only the clusters keep the parts of the sample; its objects follow them as all others do.
    let clusters = &of_sample[count..];
    // For every object its k sums, one after the other.
    let mut towards = vec![0.0; objects * k];
    towards.par_chunks_mut(k).enumerate().for_each_init(Vec::new, |row, (v, to)| {
        row.clear();
        sides.row(v, row);
        row.iter().for_each(|&(c, w)| to[clusters[c as usize] as usize] += f64::from(w));
    });
    // What all objects have in common (a part with more clusters draws everybody) says nothing about
    // where one of them belongs when parts are of equal size.
    let mut common = vec![0.0; k];
    for to in towards.chunks_exact(k) {
        common.iter_mut().zip(to).for_each(|(c, t)| *c += t / objects as f64);
    }
    let wish = |v: usize, p: usize| towards[v * k + p] - common[p];
    // Those with most to lose go first, where there is room.
    let lead = |v: usize| {
        let mut sorted: Vec<f64> = (0..k).map(|p| wish(v, p)).collect();
        sorted.sort_unstable_by(|a, b| b.total_cmp(a));
        sorted[0] - sorted[1]
    };
    let leads: Vec<f64> = (0..objects).into_par_iter().map(lead).collect();
    let mut order: Vec<usize> = (0..objects).collect();
    order.sort_by(|&a, &b| leads[b].total_cmp(&leads[a]).then(a.cmp(&b)));
    let weights = sides.sizes();
    let bounds = Bounds::even(weights, k, cut.imbalance);
    let mut parts = vec![0; objects];
    parts.extend_from_slice(clusters);
    let mut sizes = vec![0u64; k];
    for (at, &p) in clusters.iter().enumerate() {
        sizes[p as usize] += u64::from(weights[objects + at]);
    }
    for v in order {
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
