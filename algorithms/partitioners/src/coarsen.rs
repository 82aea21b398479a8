//! Coarsening: a smaller graph with similar cuts.
//!
//! Vertices joined by heavy edges become one. In a bipartite graph (objects and the clusters they
//! are in) that would pair objects with clusters; there, and for vertices that find no partner,
//! vertices with similar neighbourhoods become one. Similarity is seen by sampling: each vertex
//! names the neighbour that wins a weighted race whose lots are the same for all, so that two
//! vertices name the same one as often as their neighbourhoods overlap.

use std::collections::HashMap;

use mustlink_core::random::Stream;
use mustlink_core::{Context, Result, reduce};

use crate::graph::{Apart, CutGraph};

/// Races by which neighbourhoods are compared.
const RACES: usize = 3;
/// At most so many similar vertices become one at a time.
const AT_ONCE: usize = 4;

/// One step of coarsening.
pub(crate) struct Level {
    /// The smaller graph.
    pub graph: CutGraph,
    /// Its vertex for each vertex of the larger one.
    pub map: Vec<u32>,
    /// Forbidden pairs of the smaller one.
    pub apart: Option<Apart>,
}

/// Smaller and smaller graphs, until one has at most `target` vertices or shrinks no more.
pub(crate) fn coarsen(
    graph: &CutGraph,
    target: usize,
    apart: Option<&Apart>,
    stream: &mut Stream,
    ctx: &Context,
) -> Result<Vec<Level>> {
    let cap = (3 * graph.total_size() / (2 * target as u64)).max(1);
    let mut levels: Vec<Level> = Vec::new();
    loop {
        ctx.check()?;
        let (fine, fine_apart) = match levels.last() {
            Some(level) => (&level.graph, level.apart.as_ref()),
            None => (graph, apart),
        };
        if fine.len() <= target {
            break;
        }
        let mut groups = Groups::new(fine, cap, fine_apart);
        if fine.first_side().is_none() {
            heavy_edges(&mut groups, stream);
        }
        if fine.first_side().is_some() || groups.alone() * 10 > fine.len() {
            similar(&mut groups, stream);
        }
        let (map, m) = groups.numbered();
        if m * 20 > fine.len() * 19 {
            break;
        }
        let apart = fine_apart.map(|apart| contract_apart(apart, &map, m));
        let graph = fine.contract(&map, m);
        levels.push(Level { graph, map, apart });
    }
    Ok(levels)
}

/// The forbidden pairs of a contracted graph.
pub(crate) fn contract_apart(apart: &Apart, map: &[u32], m: usize) -> Apart {
    let mut out = vec![Vec::new(); m];
    for (v, list) in apart.iter().enumerate() {
        let c = map[v];
        out[c as usize].extend(list.iter().map(|&u| map[u as usize]).filter(|&d| d != c));
    }
    out.iter_mut().for_each(|list: &mut Vec<u32>| {
        list.sort_unstable();
        list.dedup();
    });
    out
}

/// Vertices that become one: each names the first of its group.
struct Groups<'a> {
    graph: &'a CutGraph,
    apart: Option<&'a Apart>,
    cap: u64,
    leader: Vec<u32>,
    size: Vec<u64>,
    count: Vec<u32>,
}

impl<'a> Groups<'a> {
    fn new(graph: &'a CutGraph, cap: u64, apart: Option<&'a Apart>) -> Self {
        Groups {
            graph,
            apart,
            cap,
            leader: (0..graph.len() as u32).collect(),
            size: graph.sizes().iter().map(|&s| u64::from(s)).collect(),
            count: vec![1; graph.len()],
        }
    }

    fn is_alone(&self, v: usize) -> bool {
        self.leader[v] as usize == v && self.count[v] == 1
    }

    fn alone(&self) -> usize {
        (0..self.leader.len()).filter(|&v| self.is_alone(v)).count()
    }

    /// True if the single vertex `v` may join the group led by `to`.
    fn fits(&self, v: usize, to: usize) -> bool {
        let allowed = self.apart.is_none_or(|apart| {
            // Only a group of one is known by its own list.
            (apart[v].is_empty() && apart[to].is_empty())
                || (self.count[to] == 1 && apart[v].binary_search(&(to as u32)).is_err())
        });
        allowed && self.size[v] + self.size[to] <= self.cap
    }

    fn join(&mut self, v: usize, to: usize) {
        self.leader[v] = to as u32;
        self.size[to] += self.size[v];
        self.count[to] += 1;
    }

    /// Numbers of the groups in order of their leaders, and how many there are.
    fn numbered(&self) -> (Vec<u32>, usize) {
        let mut number = vec![u32::MAX; self.leader.len()];
        let mut m = 0;
        for v in 0..self.leader.len() {
            if self.leader[v] as usize == v {
                number[v] = m;
                m += 1;
            }
        }
        // Vertices of one side are led by a vertex of that side: sides stay in order.
        (self.leader.iter().map(|&l| number[l as usize]).collect(), m as usize)
    }
}

/// Pairs each vertex, in random order, with the free neighbour of its heaviest edge; ties: lower
/// degree, lower number.
fn heavy_edges(groups: &mut Groups, stream: &mut Stream) {
    let graph = groups.graph;
    for v in stream.permutation(graph.len()) {
        let v = v as usize;
        if !groups.is_alone(v) {
            continue;
        }
        let free = graph.edges(v).filter(|&(u, _)| groups.is_alone(u) && groups.fits(v, u));
        let best = free.max_by(|a, b| {
            a.1.cmp(&b.1).then(graph.degree(b.0).cmp(&graph.degree(a.0))).then(b.0.cmp(&a.0))
        });
        if let Some((u, _)) = best {
            groups.join(v.max(u), v.min(u));
        }
    }
}

/// Joins vertices that are still alone to others of the same side with similar neighbourhoods.
fn similar(groups: &mut Groups, stream: &mut Stream) {
    let graph = groups.graph;
    let n = graph.len();
    // −ln u of each neighbour: the race is won by the smallest lot divided by the weight.
    let lots: Vec<Vec<f32>> =
        (0..RACES).map(|_| (0..n).map(|_| -(1.0 - stream.unit()).ln() as f32).collect()).collect();
    let winners: Vec<[u32; RACES]> = reduce::map(n, |v| {
        let mut best = [(f32::INFINITY, u32::MAX); RACES];
        if groups.is_alone(v) {
            for (u, w) in graph.edges(v) {
                let slow = 1.0 / w as f32;
                for (race, lots) in best.iter_mut().zip(&lots) {
                    let time = lots[u] * slow;
                    if time < race.0 {
                        *race = (time, u as u32);
                    }
                }
            }
        }
        best.map(|(_, u)| u)
    });
    let order = stream.permutation(n);
    let side = |v: usize| graph.first_side().is_some_and(|first| v >= first);
    // First those that agree in two races, then those that agree in one.
    for races in [&[0usize, 1][..], &[0, 2], &[1, 2], &[0], &[1], &[2]] {
        let at_once = if races.len() == 2 { AT_ONCE } else { 2 };
        let mut leaders: HashMap<(bool, u32, u32), u32> = HashMap::with_capacity(n / 2);
        for &v in &order {
            let v = v as usize;
            let key = |r: usize| races.get(r).map_or(0, |&r| winners[v][r]);
            if !groups.is_alone(v) || winners[v][0] == u32::MAX {
                continue;
            }
            let entry = leaders.entry((side(v), key(0), key(1))).or_insert(v as u32);
            let to = *entry as usize;
            if to == v {
                continue;
            }
            // The leader is the lowest number of its group, so that sides stay in order.
            let (low, high) = (to.min(v), to.max(v));
            if !groups.fits(v, to) || (groups.count[to] > 1 && high == to) {
                *entry = v as u32;
                continue;
            }
            if high == v {
                groups.join(v, to);
            } else {
                groups.join(to, v);
                *entry = low as u32;
            }
            if groups.count[*entry as usize] as usize >= at_once {
                leaders.remove(&(side(v), key(0), key(1)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;
    use crate::graph::tests::random;
    use mustlink_core::random::SeedPath;

    #[test]
    fn similar_rows_of_a_bipartite_graph_become_one() {
        // 300 objects in 3 classes; each of 20 members puts 9 of 10 objects right.
        let mut s = SeedPath::new(4).stream("rows");
        let rows: Vec<Vec<(u32, f64)>> = (0..300)
            .map(|i| {
                (0..20)
                    .map(|t| {
                        let l = if s.unit() < 0.1 { s.below(3) } else { i % 3 };
                        ((3 * t + l) as u32, 1.0)
                    })
                    .collect()
            })
            .collect();
        let g = GraphBuilder::bipartite(300, 60, |i, row| row.extend(&rows[i]));
        let g = g.build(vec![1; 360], 1.0).unwrap();
        let g = g.with_first_side(300);
        let mut stream = SeedPath::new(1).stream("coarsen");
        let levels = coarsen(&g, 120, None, &mut stream, &Context::new(1)).unwrap();
        let first = &levels[0];
        assert!(first.graph.len() < 200);
        assert!(first.graph.first_side().is_some());
        let mut pure = 0;
        let mut class = vec![None; first.graph.len()];
        for v in 0..300 {
            let c = &mut class[first.map[v] as usize];
            pure += usize::from(*c.get_or_insert(v % 3) == v % 3);
        }
        assert!(pure > 280, "{pure} of 300 objects joined their like");
    }

    #[test]
    fn forbidden_pairs_never_become_one() {
        let g = random(60, 0.3, 5);
        let mut apart = vec![Vec::new(); 60];
        for v in 0..30usize {
            apart[v].push(30 + v as u32);
            apart[30 + v].push(v as u32);
        }
        let mut stream = SeedPath::new(1).stream("coarsen");
        let levels = coarsen(&g, 10, Some(&apart), &mut stream, &Context::new(1)).unwrap();
        let mut at: Vec<u32> = (0..60).collect();
        for level in &levels {
            at.iter_mut().for_each(|v| *v = level.map[*v as usize]);
            for v in 0..30 {
                assert_ne!(at[v], at[30 + v]);
            }
        }
        assert!(!levels.is_empty());
    }
}
