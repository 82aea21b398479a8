//! Colourings of a graph, and cheap ones among them.
//!
//! Vertices are must-link components, edges the cannot-links between them, colours clusters. A graph is
//! the list of neighbours of each vertex; an edge is listed at both of its ends.
//!
//! Sources: Brélaz 1979 (DSATUR); Kempe chains as in textbooks of graph colouring.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use mustlink_core::clustering::NONE;
use mustlink_core::error::Infeasible;
use mustlink_core::{Context, Error, Result, order};

/// The result of a search for k colours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Colouring {
    /// A colour in `0..k` of each vertex, no two neighbours alike.
    Found(Vec<u32>),
    /// No colouring exists: these vertices, ascending, need more than k colours by themselves. Without any
    /// one of them k colours are enough, unless proving that took too many nodes.
    Impossible(Vec<u32>),
    /// The search ended at its limit.
    Undecided,
}

/// The error of vertices that k colours cannot colour, where `object` is one of each.
pub fn impossible(
    few: &[u32],
    edges: &[Vec<u32>],
    k: usize,
    object: impl Fn(usize) -> u32,
) -> Error {
    let objects = few.iter().map(|&v| object(v as usize)).collect();
    let all_apart =
        few.iter().all(|&v| few.iter().all(|w| v == *w || edges[v as usize].contains(w)));
    let witness =
        if all_apart { Infeasible::Clique(objects) } else { Infeasible::Exhausted(objects) };
    Error::InfeasibleConstraints { k, witness }
}

/// How many vertices are coloured between two looks at the clock.
const NODES_PER_CHECK: u64 = 1024;

/// Smallest gain of an exchange relative to what is exchanged: less is a rounding error.
const SMALLEST_GAIN: f64 = 1e-10;

/// The vertices that edges connect, each part ascending, in order of smallest vertex.
pub fn connected_parts(edges: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let mut met = vec![false; edges.len()];
    let mut parts = Vec::new();
    for start in 0..edges.len() {
        if std::mem::replace(&mut met[start], true) {
            continue;
        }
        let mut part = vec![start as u32];
        let mut at = 0;
        while at < part.len() {
            for &w in &edges[part[at] as usize] {
                if !std::mem::replace(&mut met[w as usize], true) {
                    part.push(w);
                }
            }
            at += 1;
        }
        part.sort_unstable();
        parts.push(part);
    }
    parts
}

/// The graph of some vertices, ascending, which are numbered by their place among them.
pub fn induced(edges: &[Vec<u32>], vertices: &[u32]) -> Vec<Vec<u32>> {
    let place = |v: &u32| vertices.binary_search(v).ok().map(|at| at as u32);
    vertices.iter().map(|&v| edges[v as usize].iter().filter_map(place).collect()).collect()
}

/// Colours a graph with k ≥ 1 colours; `cost` of a vertex in a colour says which are tried first.
///
/// Vertices with fewer than k neighbours wait: whatever the others get, a colour is left for them. The
/// others are coloured by DSATUR with backtracking, one connected part after the other: next comes the
/// vertex whose neighbours have the most colours, and colours that its part does not use yet are
/// interchangeable. At most `limit` vertices are coloured in each part, those taken back included.
///
/// # Errors
/// `Cancelled`, `TimedOut`.
pub fn colour(
    edges: &[Vec<u32>],
    k: usize,
    cost: &impl Fn(u32, u32) -> f64,
    limit: u64,
    ctx: &Context,
) -> Result<Colouring> {
    match decide(edges, k, cost, limit, ctx)? {
        Colouring::Impossible(core) => {
            let few = fewest(&induced(edges, &core), k, limit, ctx)?;
            Ok(Colouring::Impossible(few.into_iter().map(|v| core[v as usize]).collect()))
        }
        found => Ok(found),
    }
}

/// As [`colour`], but what is `Impossible` is a connected part with some vertices that may not be needed:
/// for those who ask often and do not show the answer.
///
/// # Errors
/// `Cancelled`, `TimedOut`.
pub fn decide(
    edges: &[Vec<u32>],
    k: usize,
    cost: &impl Fn(u32, u32) -> f64,
    limit: u64,
    ctx: &Context,
) -> Result<Colouring> {
    let mut colours = vec![NONE; edges.len()];
    let (cores, waiting) = cores(edges, k);
    let mut decided = true;
    for core in cores {
        let inner = induced(edges, &core);
        let own = |v: u32, c: u32| cost(core[v as usize], c);
        match colour_part(&inner, k, &own, &mut limit.clone(), ctx)? {
            Colouring::Found(found) => {
                core.iter().zip(found).for_each(|(&v, c)| colours[v as usize] = c);
            }
            Colouring::Impossible(_) => return Ok(Colouring::Impossible(core)),
            Colouring::Undecided => decided = false,
        }
    }
    if !decided {
        return Ok(Colouring::Undecided);
    }
    for &v in waiting.iter().rev() {
        let taken: Vec<u32> = edges[v as usize].iter().map(|&w| colours[w as usize]).collect();
        let free = (0..k as u32).filter(|c| !taken.contains(c));
        colours[v as usize] = free
            .min_by(|&a, &b| cost(v, a).total_cmp(&cost(v, b)))
            .expect("fewer than k are taken");
    }
    Ok(Colouring::Found(colours))
}

/// True if k ≥ 1 colours are enough for a graph; `None` if the search, as in [`colour`], ended at
/// its limit. It does not find the vertices that prevent a colouring.
///
/// # Errors
/// `Cancelled`, `TimedOut`.
pub fn is_colourable(
    edges: &[Vec<u32>],
    k: usize,
    limit: u64,
    ctx: &Context,
) -> Result<Option<bool>> {
    let mut decided = true;
    for core in cores(edges, k).0 {
        match colour_part(&induced(edges, &core), k, &|_, _| 0.0, &mut limit.clone(), ctx)? {
            Colouring::Found(_) => {}
            Colouring::Impossible(_) => return Ok(Some(false)),
            Colouring::Undecided => decided = false,
        }
    }
    Ok(decided.then_some(true))
}

/// The connected parts of what is left when vertices with fewer than k neighbours left are removed
/// one by one; and those, in order of removal.
fn cores(edges: &[Vec<u32>], k: usize) -> (Vec<Vec<u32>>, Vec<u32>) {
    let mut degree: Vec<usize> = edges.iter().map(Vec::len).collect();
    let mut removed: Vec<u32> =
        (0..edges.len() as u32).filter(|&v| degree[v as usize] < k).collect();
    let mut at = 0;
    while at < removed.len() {
        for &w in &edges[removed[at] as usize] {
            degree[w as usize] -= 1;
            // Those that started below k are in the list already.
            if degree[w as usize] + 1 == k {
                removed.push(w);
            }
        }
        at += 1;
    }
    let mut left = vec![true; edges.len()];
    removed.iter().for_each(|&v| left[v as usize] = false);
    let left: Vec<u32> = (0..edges.len() as u32).filter(|&v| left[v as usize]).collect();
    let parts = connected_parts(&induced(edges, &left)).into_iter();
    (parts.map(|part| part.iter().map(|&v| left[v as usize]).collect()).collect(), removed)
}

/// Vertices of a graph that k colours cannot colour, of which none can be left out; as far as `limit`
/// nodes in all can show.
fn fewest(edges: &[Vec<u32>], k: usize, limit: u64, ctx: &Context) -> Result<Vec<u32>> {
    let mut left = limit;
    let mut kept: Vec<u32> = (0..edges.len() as u32).collect();
    // Halves first, then quarters: few of many vertices are found in few colourings. One by one at the end.
    let mut chunk = kept.len().div_ceil(2);
    loop {
        let mut at = 0;
        'chunks: while at < kept.len() && left > 0 {
            ctx.check()?;
            let first = kept[at];
            let mut fewer = kept.clone();
            fewer.drain(at..(at + chunk).min(kept.len()));
            for core in cores(&induced(edges, &fewer), k).0 {
                let core: Vec<u32> = core.iter().map(|&v| fewer[v as usize]).collect();
                let inner = induced(edges, &core);
                let found = colour_part(&inner, k, &|_, _| 0.0, &mut left, ctx)?;
                if let Colouring::Impossible(_) = found {
                    // All that were found necessary one by one are in there, or it could be coloured.
                    at = core.partition_point(|&v| v < first);
                    kept = core;
                    continue 'chunks;
                }
            }
            at += chunk;
        }
        if chunk <= 1 || left == 0 {
            return Ok(kept);
        }
        chunk = (chunk / 2).min(kept.len().div_ceil(2)).max(1);
    }
}

/// DSATUR with backtracking over a connected graph; `left` is the number of nodes it may still visit.
fn colour_part(
    edges: &[Vec<u32>],
    k: usize,
    cost: &impl Fn(u32, u32) -> f64,
    left: &mut u64,
    ctx: &Context,
) -> Result<Colouring> {
    let mut state = Partial::new(edges, k);
    // Vertices coloured so far, each with the colours to try after that, best last.
    let mut path: Vec<(u32, Vec<u32>)> = Vec::new();
    loop {
        match state.waiting.first() {
            None => return Ok(Colouring::Found(state.colours)),
            Some(&(_, _, v)) => path.push((v, state.choices(v, cost))),
        }
        loop {
            let Some((v, choices)) = path.last_mut() else {
                return Ok(Colouring::Impossible((0..edges.len() as u32).collect()));
            };
            state.take_back(*v);
            if let Some(c) = choices.pop() {
                state.put(*v, c);
                break;
            }
            path.pop();
        }
        if *left == 0 {
            return Ok(Colouring::Undecided);
        }
        *left -= 1;
        if left.is_multiple_of(NODES_PER_CHECK) {
            ctx.check()?;
        }
    }
}

/// A colouring in the making.
struct Partial<'a> {
    edges: &'a [Vec<u32>],
    k: usize,
    colours: Vec<u32>,
    /// Number of vertices of each colour.
    sizes: Vec<u32>,
    /// Number of neighbours of each vertex in each colour, row by row.
    neighbours: Vec<u32>,
    /// Number of colours among the neighbours of each vertex.
    saturation: Vec<u32>,
    /// Vertices without a colour: the most saturated first, then those with the most neighbours.
    waiting: BTreeSet<(Reverse<u32>, Reverse<usize>, u32)>,
}

impl<'a> Partial<'a> {
    fn new(edges: &'a [Vec<u32>], k: usize) -> Self {
        let m = edges.len();
        let mut state = Partial {
            edges,
            k,
            colours: vec![NONE; m],
            sizes: vec![0; k],
            neighbours: vec![0; m * k],
            saturation: vec![0; m],
            waiting: BTreeSet::new(),
        };
        state.waiting = (0..m as u32).map(|v| state.key(v)).collect();
        state
    }

    fn key(&self, v: u32) -> (Reverse<u32>, Reverse<usize>, u32) {
        (Reverse(self.saturation[v as usize]), Reverse(self.edges[v as usize].len()), v)
    }

    /// Colours that no neighbour has, the cheapest last; of the unused colours, only the cheapest.
    fn choices(&self, v: u32, cost: &impl Fn(u32, u32) -> f64) -> Vec<u32> {
        let taken = &self.neighbours[v as usize * self.k..][..self.k];
        let mut free: Vec<(f64, u32)> = (0..self.k as u32)
            .filter(|&c| taken[c as usize] == 0)
            .map(|c| (cost(v, c), c))
            .collect();
        order::sort_objects(&mut free);
        let mut fresh = false;
        free.retain(|&(_, c)| self.sizes[c as usize] > 0 || !std::mem::replace(&mut fresh, true));
        free.into_iter().rev().map(|(_, c)| c).collect()
    }

    fn put(&mut self, v: u32, c: u32) {
        self.waiting.remove(&self.key(v));
        self.colours[v as usize] = c;
        self.sizes[c as usize] += 1;
        for &w in &self.edges[v as usize] {
            let count = &mut self.neighbours[w as usize * self.k + c as usize];
            *count += 1;
            if *count == 1 {
                self.saturate(w, self.saturation[w as usize] + 1);
            }
        }
    }

    /// Undoes `put`, if there is anything to undo.
    fn take_back(&mut self, v: u32) {
        let c = std::mem::replace(&mut self.colours[v as usize], NONE);
        if c == NONE {
            return;
        }
        self.sizes[c as usize] -= 1;
        for &w in &self.edges[v as usize] {
            let count = &mut self.neighbours[w as usize * self.k + c as usize];
            *count -= 1;
            if *count == 0 {
                self.saturate(w, self.saturation[w as usize] - 1);
            }
        }
        self.waiting.insert(self.key(v));
    }

    fn saturate(&mut self, w: u32, saturation: u32) {
        let waits = self.waiting.remove(&self.key(w));
        self.saturation[w as usize] = saturation;
        if waits {
            self.waiting.insert(self.key(w));
        }
    }
}

/// Lowers the total cost of a colouring without ever giving two neighbours one colour: for each two
/// colours, each part that edges connect among their vertices (a Kempe chain; often a single vertex)
/// exchanges them where that costs less; until no exchange does.
///
/// # Errors
/// `Cancelled`, `TimedOut`.
pub fn lower_cost(
    edges: &[Vec<u32>],
    k: usize,
    cost: &impl Fn(u32, u32) -> f64,
    colours: &mut [u32],
    ctx: &Context,
) -> Result<()> {
    let mut by_colour: Vec<Vec<u32>> = vec![Vec::new(); k];
    (0..).zip(colours.iter()).for_each(|(v, &c)| by_colour[c as usize].push(v));
    let mut met = vec![false; edges.len()];
    loop {
        ctx.check()?;
        let mut fell = false;
        for a in 0..k {
            for b in a + 1..k {
                let mut both = [&by_colour[a][..], &by_colour[b][..]].concat();
                both.sort_unstable();
                let pair = (a as u32, b as u32);
                if exchange(edges, pair, &both, cost, colours, &mut met) {
                    fell = true;
                    (by_colour[a], by_colour[b]) =
                        both.iter().partition(|&&v| colours[v as usize] == a as u32);
                }
                both.iter().for_each(|&v| met[v as usize] = false);
            }
        }
        if !fell {
            return Ok(());
        }
    }
}

/// Exchanges the two colours of `pair` in those chains among `both`, all vertices that have them,
/// where it costs less; whether there was one.
fn exchange(
    edges: &[Vec<u32>],
    pair: (u32, u32),
    both: &[u32],
    cost: &impl Fn(u32, u32) -> f64,
    colours: &mut [u32],
    met: &mut [bool],
) -> bool {
    let mut fell = false;
    let mut chain = Vec::new();
    for &start in both {
        if std::mem::replace(&mut met[start as usize], true) {
            continue;
        }
        chain.clear();
        chain.push(start);
        let (mut now, mut then) = (0.0, 0.0);
        let mut at = 0;
        while let Some(&v) = chain.get(at) {
            let own = colours[v as usize];
            let other = if own == pair.0 { pair.1 } else { pair.0 };
            now += cost(v, own);
            then += cost(v, other);
            for &w in &edges[v as usize] {
                if colours[w as usize] == other && !std::mem::replace(&mut met[w as usize], true) {
                    chain.push(w);
                }
            }
            at += 1;
        }
        if now - then > SMALLEST_GAIN * (now.abs() + then.abs()) {
            fell = true;
            for &v in &chain {
                let own = &mut colours[v as usize];
                *own = if *own == pair.0 { pair.1 } else { pair.0 };
            }
        }
    }
    fell
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::random::SeedPath;
    use proptest::prelude::*;

    const LIMIT: u64 = 1_000_000;

    fn graph(m: usize, pairs: impl IntoIterator<Item = (usize, usize)>) -> Vec<Vec<u32>> {
        let mut edges = vec![BTreeSet::new(); m];
        for (a, b) in pairs.into_iter().filter(|(a, b)| a != b) {
            edges[a].insert(b as u32);
            edges[b].insert(a as u32);
        }
        edges.into_iter().map(|e| e.into_iter().collect()).collect()
    }

    fn proper(edges: &[Vec<u32>], k: usize, colours: &[u32]) -> bool {
        let apart =
            |(v, e): (usize, &Vec<u32>)| e.iter().all(|&w| colours[v] != colours[w as usize]);
        colours.iter().all(|&c| (c as usize) < k) && edges.iter().enumerate().all(apart)
    }

    fn search(edges: &[Vec<u32>], k: usize) -> Colouring {
        colour(edges, k, &|_, _| 0.0, LIMIT, &Context::new(1)).unwrap()
    }

    fn enough(edges: &[Vec<u32>], k: usize) -> bool {
        is_colourable(edges, k, LIMIT, &Context::new(1)).unwrap().unwrap()
    }

    fn can(edges: &[Vec<u32>], k: usize) -> bool {
        let m = edges.len();
        (0..k.pow(m as u32)).any(|code| {
            let colours: Vec<u32> = (0..m).map(|v| (code / k.pow(v as u32) % k) as u32).collect();
            proper(edges, k, &colours)
        })
    }

    /// Costs of m vertices in k colours.
    fn costs(seed: u64, m: usize, k: usize) -> Vec<f64> {
        let mut s = SeedPath::new(seed).stream("costs");
        (0..m * k).map(|_| s.below(100) as f64 / 7.0).collect()
    }

    /// A graph with a colouring that is known.
    fn planted(seed: u64, m: usize, k: usize, pairs: usize) -> (Vec<Vec<u32>>, Vec<u32>) {
        let mut s = SeedPath::new(seed).stream("planted");
        let hidden: Vec<u32> = (0..m).map(|_| s.below(k) as u32).collect();
        let drawn: Vec<(usize, usize)> = (0..pairs).map(|_| (s.below(m), s.below(m))).collect();
        let apart = drawn.into_iter().filter(|&(a, b)| hidden[a] != hidden[b]);
        (graph(m, apart), hidden)
    }

    #[test]
    fn an_odd_cycle_takes_three_colours() {
        for m in [3, 5, 7, 501] {
            let cycle = graph(m, (0..m).map(|v| (v, (v + 1) % m)));
            assert_eq!(search(&cycle, 2), Colouring::Impossible((0..m as u32).collect()));
            assert!(matches!(search(&cycle, 3), Colouring::Found(c) if proper(&cycle, 3, &c)));
        }
        // With a tail, which is no part of the reason.
        let tail = graph(8, [(0, 3), (3, 5), (5, 0), (5, 6), (6, 7), (1, 2)]);
        assert_eq!(search(&tail, 2), Colouring::Impossible(vec![0, 3, 5]));
    }

    #[test]
    fn a_clique_takes_as_many_colours_as_it_has_vertices() {
        for m in 2..8 {
            let clique = graph(m + 3, (0..m).flat_map(|a| (0..m).map(move |b| (a, b))));
            assert!(matches!(search(&clique, m), Colouring::Found(c) if proper(&clique, m, &c)));
            let all = (0..m as u32).collect();
            assert_eq!(search(&clique, m - 1), Colouring::Impossible(all));
        }
    }

    #[test]
    fn a_wheel_is_impossible_without_a_clique() {
        // A cycle of five and a hub take four colours, though no four of them are all apart.
        let rim = (0..5).map(|v| (v, (v + 1) % 5));
        let wheel = graph(9, rim.chain((0..5).map(|v| (v, 5))).chain([(5, 6), (6, 7), (7, 8)]));
        assert_eq!(search(&wheel, 3), Colouring::Impossible(vec![0, 1, 2, 3, 4, 5]));
        assert!(matches!(search(&wheel, 4), Colouring::Found(_)));
    }

    #[test]
    fn long_chains_stars_and_ladders_do_not_overflow_the_stack() {
        let m = 20_000;
        let chain = graph(m, (1..m).map(|v| (v - 1, v)));
        let star = graph(m, (1..m).map(|v| (0, v)));
        let circle = graph(m, (0..m).map(|v| (v, (v + 1) % m)));
        for edges in [chain, star, circle] {
            for k in [2, 3] {
                let Colouring::Found(mut colours) = search(&edges, k) else { panic!("k = {k}") };
                assert!(proper(&edges, k, &colours));
                let cost = |v: u32, c: u32| f64::from((v + c) % 3);
                lower_cost(&edges, k, &cost, &mut colours, &Context::new(1)).unwrap();
                assert!(proper(&edges, k, &colours));
            }
        }
        // Three neighbours each: a search as deep as the graph.
        let half = m / 2;
        let rails =
            (0..half).flat_map(|v| [(v, (v + 1) % half), (half + v, half + (v + 1) % half)]);
        let ladder = graph(m, rails.chain((0..half).map(|v| (v, half + v))));
        assert!(matches!(search(&ladder, 3), Colouring::Found(c) if proper(&ladder, 3, &c)));
    }

    #[test]
    fn the_limit_leaves_it_undecided() {
        let (edges, _) = planted(1, 60, 3, 400);
        let found = colour(&edges, 3, &|_, _| 0.0, 3, &Context::new(1)).unwrap();
        assert_eq!(found, Colouring::Undecided);
        assert!(matches!(search(&edges, 3), Colouring::Found(_)));
    }

    #[test]
    fn chains_of_two_colours_exchange_them() {
        // 0–1–2: the ends are cheap in 1, the middle in 0, so all three exchange their colours; no
        // vertex could do so by itself.
        let edges = graph(3, [(0, 1), (1, 2)]);
        let mut colours = vec![0, 1, 0];
        let cost = |v: u32, c: u32| if (v == 1) == (c == 0) { 1.0 } else { 2.0 };
        lower_cost(&edges, 2, &cost, &mut colours, &Context::new(1)).unwrap();
        assert_eq!(colours, [1, 0, 1]);
    }

    proptest! {
        #[test]
        fn the_search_is_exact(m in 1usize..10, k in 1usize..5, pairs in prop::collection::vec((0usize..9, 0usize..9), 0..40), seed: u64) {
            let edges = graph(m, pairs.into_iter().filter(|&(a, b)| a < m && b < m));
            let costs = costs(seed, m, k);
            let cost = |v: u32, c: u32| costs[v as usize * k + c as usize];
            match colour(&edges, k, &cost, LIMIT, &Context::new(1)).unwrap() {
                Colouring::Found(colours) => prop_assert!(proper(&edges, k, &colours)),
                Colouring::Impossible(few) => {
                    prop_assert!(!can(&edges, k));
                    prop_assert!(!enough(&edges, k));
                    prop_assert!(!can(&induced(&edges, &few), k));
                    for at in 0..few.len() {
                        let mut fewer = few.clone();
                        fewer.remove(at);
                        prop_assert!(can(&induced(&edges, &fewer), k), "{} is not needed", few[at]);
                    }
                }
                Colouring::Undecided => prop_assert!(false, "undecided"),
            }
        }

        #[test]
        fn a_planted_colouring_means_one_is_found(seed: u64, m in 2usize..120, k in 1usize..6, pairs in 0usize..500) {
            let (edges, _) = planted(seed, m, k, pairs);
            let costs = costs(seed, m, k);
            let cost = |v: u32, c: u32| costs[v as usize * k + c as usize];
            let found = colour(&edges, k, &cost, LIMIT, &Context::new(1)).unwrap();
            prop_assert!(matches!(found, Colouring::Found(c) if proper(&edges, k, &c)));
        }

        #[test]
        fn exchanges_break_nothing_and_never_cost_more(seed: u64, m in 2usize..60, k in 1usize..6, pairs in 0usize..200) {
            let (edges, mut colours) = planted(seed, m, k, pairs);
            let costs = costs(seed, m, k);
            let cost = |v: u32, c: u32| costs[v as usize * k + c as usize];
            let total = |colours: &[u32]| (0..).zip(colours).map(|(v, &c)| cost(v, c)).sum::<f64>();
            let before = total(&colours);
            lower_cost(&edges, k, &cost, &mut colours, &Context::new(1)).unwrap();
            prop_assert!(proper(&edges, k, &colours));
            prop_assert!(total(&colours) <= before * (1.0 + 1e-12));
            // Nothing is gained by one vertex alone any more.
            for v in 0..m {
                for c in 0..k as u32 {
                    let free = edges[v].iter().all(|&w| colours[w as usize] != c);
                    prop_assert!(!free || cost(v as u32, colours[v]) <= cost(v as u32, c) + 1e-6);
                }
            }
            let settled = colours.clone();
            lower_cost(&edges, k, &cost, &mut colours, &Context::new(1)).unwrap();
            prop_assert_eq!(colours, settled);
        }
    }
}
