//! Constraints that k clusters can satisfy, but not by placing one object after the other.

use super::hard;
use mustlink_core::constraints::{Constraint, Constraints};
use mustlink_core::problem::Problem;
use mustlink_core::random::SeedPath;

/// Seeds of the problems: always the same.
const SEEDS: std::ops::Range<u64> = 0..2;

/// A graph of cannot-links on some vertices, with a number of clusters that can hold them.
struct Graph {
    name: &'static str,
    vertices: usize,
    k: usize,
    edges: Vec<(usize, usize)>,
}

/// Problems without structure in the data whose constraints can all be kept, with their names. The
/// vertices of each graph are objects, or groups joined by must-links, in random order.
pub fn sets() -> Vec<(String, Problem)> {
    let graphs = SEEDS.flat_map(|seed| graphs(seed).into_iter().map(move |graph| (seed, graph)));
    graphs
        .map(|(seed, graph)| (format!("{} (seed {seed})", graph.name), graph.problem(seed)))
        .collect()
}

fn graphs(seed: u64) -> Vec<Graph> {
    let cycle = |m: usize| (0..m).map(move |i| (i, (i + 1) % m)).collect();
    // i on one side is apart from all on the other but its partner.
    let crown = |m: usize| {
        let others = move |i: usize| (0..m).filter(move |&j| j != i).map(move |j| (i, m + j));
        (0..m).flat_map(others).collect()
    };
    // Cliques of k, each of which shares all but one with the next: one colouring, but for names.
    let strip = |m: usize, k: usize| {
        (0..m).flat_map(move |i| (i + 1..m.min(i + k)).map(move |j| (i, j))).collect()
    };
    let planted = |m: usize, k: usize| {
        let mut s = SeedPath::new(seed).stream("planted");
        let classes: Vec<usize> = (0..m).map(|_| s.below(k)).collect();
        let pairs = (0..k * m).map(|_| (s.below(m), s.below(m)));
        pairs.filter(|&(i, j)| classes[i] != classes[j]).collect()
    };
    let graph = |name, vertices, k, edges| Graph { name, vertices, k, edges };
    vec![
        graph("an odd cycle", 21, 3, cycle(21)),
        graph("an even cycle", 40, 2, cycle(40)),
        graph("a chain", 30, 2, (1..30).map(|i| (i - 1, i)).collect()),
        graph("a star", 20, 2, (1..20).map(|i| (0, i)).collect()),
        graph("a crown, two clusters", 20, 2, crown(10)),
        graph("a crown, three clusters", 40, 3, crown(20)),
        graph("a strip of cliques", 24, 4, strip(24, 4)),
        graph("a planted partition, three clusters", 30, 3, planted(30, 3)),
        graph("a planted partition, six clusters", 40, 6, planted(40, 6)),
    ]
}

impl Graph {
    fn problem(self, seed: u64) -> Problem {
        let Graph { name, vertices, k, edges } = self;
        let mut s = SeedPath::new(seed).stream(name);
        // One or two objects for each vertex, and some that are free.
        let (joined, free) = (s.below(vertices / 4) + 3, s.below(6));
        let n = vertices + joined + free;
        let object = s.permutation(n);
        let at = |i: usize| object[i] as usize;
        let cannot = edges.into_iter().map(|(i, j)| Constraint::cannot(at(i), at(j)));
        let must = (0..joined).map(|i| Constraint::must(at(i), at(vertices + i)));
        let pairs: Vec<Constraint> = cannot.chain(must).collect();
        let constraints = Constraints::new(n, pairs).expect("in range");
        hard::noise(n, 3, k, seed).0.with_constraints(constraints)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::closure::{Closure, Feasibility, OnConflict};

    #[test]
    fn every_set_can_be_met() {
        for (name, problem) in sets() {
            let closure =
                Closure::new(&problem.constraints, problem.n(), OnConflict::Error).unwrap();
            let k = problem.k.unwrap();
            let found = closure.feasibility(k);
            assert!(!matches!(found, Feasibility::Infeasible(_)), "{name}");
            assert!((20..=60).contains(&problem.n()), "{name}: {} objects", problem.n());
        }
    }
}
