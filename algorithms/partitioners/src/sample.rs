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
use crate::multilevel::within;
use crate::spectral::Spectral;
use crate::task::{Partitioner, Task};

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
    let (Some(objects), None) = (graph.first_side(), task.apart) else { return plain() };
    let clusters = graph.len() - objects;
    let wanted = AT_LEAST.max(PER_PART * task.k);
    let large = objects >= LARGE * wanted && clusters <= wanted;
    let dense = objects >= AT_LEAST && graph.directions() > objects * clusters;
    if !large && !dense {
        return plain();
    }
    let sampled = by_sample(engine, task, wanted.min(objects), dense, ctx)?;
    if large {
        return Ok(sampled);
    }
    let whole = plain()?;
    let bounds = task.bounds();
    let value = |parts: &[u32]| (bounds.excess(&graph.part_sizes(parts, task.k)), graph.cut(parts));
    Ok(if value(&sampled) < value(&whole) { sampled } else { whole })
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
    task: &Task,
    count: usize,
    dense: bool,
    ctx: &Context,
) -> Result<Vec<u32>> {
    let (graph, k) = (task.graph, task.k);
    let objects = graph.first_side().unwrap_or(graph.len());
    let mut chosen: Vec<u32> =
        ctx.stream("sample").sample(objects, count).into_iter().map(|v| v as u32).collect();
    chosen.sort_unstable();
    chosen.extend(objects as u32..graph.len() as u32);
    let mut small: CutGraph = within(graph, &chosen).with_first_side(count);
    if dense {
        small = beyond_mean(&small, count)?;
    }
    let engine = if dense { &Spectral } else { engine };
    // Starts that together take about half as long as those of the whole graph would, unless told.
    let small_task = Task { graph: &small, ..*task };
    let half = task.starts() * graph.directions() / (2 * small.directions().max(1));
    let trials = task.trials.unwrap_or(small_task.starts().min(half.max(1)));
    let of_sample = engine.parts(&Task { trials: Some(trials), ..small_task }, ctx)?;
    // Only the clusters keep the parts of the sample; its objects follow them as all others do.
    let clusters = &of_sample[count..];
    let towards: Vec<Vec<f64>> = (0..objects)
        .into_par_iter()
        .map(|v| {
            let mut to = vec![0.0; k];
            graph.edges(v).for_each(|(u, w)| to[clusters[u - objects] as usize] += f64::from(w));
            to
        })
        .collect();
    // What all objects have in common (a part with more clusters draws everybody) says nothing about
    // where one of them belongs when parts are of equal size.
    let mut common = vec![0.0; k];
    for to in &towards {
        common.iter_mut().zip(to).for_each(|(c, t)| *c += t / objects as f64);
    }
    let wish = |v: usize, p: usize| towards[v][p] - common[p];
    // Those with most to lose go first, where there is room.
    let lead = |v: usize| {
        let mut sorted: Vec<f64> = (0..k).map(|p| wish(v, p)).collect();
        sorted.sort_unstable_by(|a, b| b.total_cmp(a));
        sorted[0] - sorted[1]
    };
    let leads: Vec<f64> = (0..objects).into_par_iter().map(lead).collect();
    let mut order: Vec<usize> = (0..objects).collect();
    order.sort_by(|&a, &b| leads[b].total_cmp(&leads[a]).then(a.cmp(&b)));
    let bounds = task.bounds();
    let mut parts = vec![0; objects];
    parts.extend_from_slice(clusters);
    let mut sizes = vec![0u64; k];
    for (at, &p) in clusters.iter().enumerate() {
        sizes[p as usize] += u64::from(graph.size(objects + at));
    }
    for v in order {
        let size = u64::from(graph.size(v));
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
