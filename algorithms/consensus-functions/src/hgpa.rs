//! HGPA: parts of given size that tear as few clusters as possible.

use mustlink_core::clustering::compact;
use mustlink_core::prelude::*;
use mustlink_core::soft_marks::obeying;
use mustlink_partitioners::{Engine, HyperTask, Hypergraph};

use crate::parts::bipartite;
use crate::parts::canonical_ensemble::CanonicalEnsemble;
use crate::parts::cutting::{Cutting, Units};

/// HGPA: the hypergraph whose hyperedges are the clusters of all members, cut into k parts.
///
/// # Method
/// Parts tear as few clusters as possible. They are of about the sizes that the members' clusters have, or with
/// `imbalance` of about equal size, as published. A direct local search runs from several starts. The first start is
/// the partition of the bipartite graph of objects and clusters, the others are random. A move that leaves the number
/// of torn clusters unchanged is accepted if it gathers the torn ones. Must-linked objects are one vertex;
/// cannot-linked objects go to different parts if single moves lead there. Soft marks as in `hbgf`.
/// # Input and output
/// Any ensemble; all members count the same. At most k clusters; if all members agree, their partition is returned.
/// The objective is the number of torn clusters.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `BadParam`.
/// # Cost and randomness
/// O(starts · sweeps · nτk), and up to 2000 objects, where objects of full parts are swapped, O(starts · sweeps ·
/// n²τ); starts in parallel. Random in the starts.
/// # References
/// [StrehlGhosh2002]. Differs: no hMETIS; sizes of parts (`imbalance = 0.05`).
#[options]
pub struct Hgpa {
    /// Tolerance for parts of about equal size, as published: no part is heavier than 1 + this times its share; at
    /// most k - 1. If absent, parts are within 5 % of the sizes that the members' clusters have.
    #[option(min = 0.0)]
    pub imbalance: Option<f64>,
    /// Number of starts; the one that tears fewest clusters is kept.
    #[option(default = 20, min = 1)]
    pub starts: usize,
    /// Keep must-linked objects together.
    #[option(default = true)]
    pub respect_must_link: bool,
    /// Put cannot-linked objects into different parts if the bounds allow it; not guaranteed.
    #[option(default = true)]
    pub respect_cannot_link: bool,
}

#[plugin("hgpa", cites = ["StrehlGhosh2002", "FiducciaMattheyses1982"], version = 4)]
impl ConsensusFunction for Hgpa {
    fn combine(&self, ensemble: &Ensemble, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        obeying("hgpa", problem, ctx, |problem| self.obey(ensemble, problem, ctx))
    }

    fn needs(&self) -> Needs {
        Needs {
            fixed_k: true,
            balanced: self.imbalance.is_some(),
            reads_constraints: self.respect_must_link || self.respect_cannot_link,
            hard_must: self.respect_must_link,
            labels_only: true,
            ..Needs::default()
        }
    }

    fn memory(&self, shape: &Shape, members: usize) -> u64 {
        let entries = shape.n * members;
        let run = 4 * members * shape.k * shape.k + 12 * shape.n;
        let graph = Engine::default().memory(shape.n + members * shape.k, 2 * entries, shape.k);
        (16 * entries + 16 * entries) as u64 + graph + (self.starts.min(64) * run) as u64
    }

    fn operations(&self, shape: &Shape, members: usize) -> f64 {
        let cutting = Cutting { trials: Some(1), ..Cutting::default() };
        let first = bipartite::operations(&cutting, shape, members, members * shape.k);
        first + HyperTask::operations(shape.n, shape.n * members, shape.k, self.starts)
    }
}

impl Hgpa {
    /// The outcome under constraints that are all obeyed.
    fn obey(&self, ensemble: &Ensemble, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let view = CanonicalEnsemble::unweighted(ensemble, problem, "hgpa", ctx)?;
        let cutting = Cutting {
            imbalance: self.imbalance,
            trials: Some(1),
            respect_must_link: self.respect_must_link,
            respect_cannot_link: self.respect_cannot_link,
            ..Cutting::default()
        };
        cutting.check(view.k)?;
        if let Some(trivial) = cutting.trivial(&view, problem)? {
            return Ok(trivial);
        }
        let units = Units::new(&view, &cutting, problem, ctx)?;
        // Vertices are units, or what must-links made of them.
        let vertex = |u: usize| units.merge.as_ref().map_or(u, |m| m[u] as usize);
        let count = (0..units.len()).map(vertex).max().map_or(0, |m| m + 1);
        // Must-links may leave fewer.
        let k = view.k.min(count);
        let mut sizes = vec![0; count];
        units.sizes.iter().enumerate().for_each(|(u, s)| sizes[vertex(u)] += s);
        // [StrehlGhosh2002] §3.3: a hyperedge of weight 1 for each cluster of each member.
        let mut pins: Vec<Vec<u32>> = vec![Vec::new(); view.clusters()];
        for (u, &i) in units.first.iter().enumerate() {
            for (_, c) in view.clusters_of(i as usize) {
                pins[c].push(vertex(u) as u32);
            }
        }
        pins.iter_mut().for_each(|set| {
            set.sort_unstable();
            set.dedup();
        });
        let weights = vec![1; pins.len()];
        let hypergraph = Hypergraph::new(sizes, pins, weights)?;
        // The first start: the parts of the bipartite graph of objects and clusters.
        let graph = bipartite::graph(&view, &units, 0, 1e6, |i, out| {
            out.extend(view.clusters_of(i).map(|(_, c)| (c as u32, 1.0)));
        })?;
        let (parts, _) = cutting.cut(&graph, &units, k, false, ctx)?;
        let mut first = vec![0; count];
        (0..units.len()).for_each(|u| first[vertex(u)] = parts[u]);
        // The cut that tears as few hyperedges as possible.
        let task = HyperTask {
            hypergraph: &hypergraph,
            k,
            imbalance: self.imbalance.unwrap_or(0.05),
            shares: units.typical.as_ref().filter(|_| k == view.k).map(|t| &t.shares[..]),
            starts: self.starts,
            first: Some(&first),
            apart: units.apart.as_ref(),
        };
        let partition = task.run(ctx)?;
        let part = |&u: &u32| partition.parts[vertex(u as usize)];
        let (labels, k) = compact(&units.of.iter().map(part).collect::<Vec<u32>>());
        let mut c = Clustering { labels, k, ..Clustering::default() };
        c.objective = Some(partition.cut as f64);
        c.extras.diagnostics.insert("torn_clusters".into(), partition.cut as f64);
        c.extras.diagnostics.insert("weight_above_bound".into(), partition.excess as f64);
        Ok(c)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::e12::{blank, e12};

    #[test]
    fn worked_example() {
        // Parts of 4, 4, 4 at 5 %: {0..3} leaves the first clusters of P1 and P5 whole, and
        // {8..11} those of P3 only, so that at least 13 of 16 clusters are torn.
        let (ensemble, problem) = e12();
        let published = Hgpa { imbalance: Some(0.05), ..Hgpa::default() };
        let c = published.combine(&ensemble, &problem, &Context::new(1)).unwrap();
        assert_eq!(c.sizes(), [4, 4, 4]);
        let torn = |labels: &[u32]| {
            let mut torn = 0;
            for m in ensemble.members() {
                for l in 0..m.k as u32 {
                    let mut parts = (0..12).filter(|&i| m.labels[i] == l).map(|i| labels[i]);
                    let first = parts.next().unwrap();
                    torn += usize::from(parts.any(|p| p != first));
                }
            }
            torn
        };
        assert_eq!(c.objective, Some(torn(&c.labels) as f64));
        // The least over all partitions into fours, by hand search over contiguous blocks and more:
        // {0..3} {4..7} {8..11}.
        let block: Vec<u32> = (0..12).map(|i| i / 4).collect();
        assert!(torn(&c.labels) <= torn(&block));
    }

    #[test]
    fn equal_members_of_equal_parts_are_returned() {
        let classes: Vec<u32> = (0..24).map(|i| i % 4).collect();
        let ensemble = Ensemble::new(24, vec![Member::from_labels(&classes); 3]).unwrap();
        let c = Hgpa::default().combine(&ensemble, &blank(24, 4), &Context::new(1)).unwrap();
        assert_eq!((c.labels, c.objective), (classes, Some(0.0)));
    }

    #[test]
    fn must_links_are_kept() {
        let (ensemble, problem) = e12();
        let constraints = Constraints::new(12, [Constraint::must(0, 11)]).unwrap();
        let hgpa = Hgpa { respect_must_link: true, imbalance: Some(0.5), ..Hgpa::default() };
        let problem = problem.with_constraints(constraints);
        let c = hgpa.combine(&ensemble, &problem, &Context::new(1)).unwrap();
        assert_eq!(c.labels[0], c.labels[11]);
    }
}
