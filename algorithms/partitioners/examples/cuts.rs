//! Cuts of our multilevel scheme compared with cuts of METIS.
//!
//! `cargo run --release -p mustlink-partitioners --example cuts`. Prints for graphs of several kinds the
//! cut of both within the same bound, and the seconds they take; then, for the default engine, that of
//! all objects and their clusters next to the cut from a sample of the objects.
#![allow(clippy::print_stdout)]

use std::time::Instant;

use mustlink_core::Context;
use mustlink_core::random::{SeedPath, Stream};
use mustlink_partitioners::{CutGraph, Engine, GraphBuilder, Task};

/// Objects and the clusters of members that put a share of them right.
fn members(n: usize, k: usize, members: usize, right: f64, s: &mut Stream) -> CutGraph {
    let labels: Vec<Vec<usize>> = (0..n)
        .map(|i| {
            let mut label = || if s.unit() < right { i % k } else { s.below(k) };
            (0..members).map(|_| label()).collect()
        })
        .collect();
    let graph = GraphBuilder::bipartite(n, k * members, |i, row| {
        row.extend(labels[i].iter().enumerate().map(|(t, l)| ((k * t + l) as u32, 1.0)));
    });
    graph.build(vec![1; n + k * members], 1.0).expect("small enough")
}

/// All pairs of objects by the share of members that put them together.
fn co_association(n: usize, k: usize, members: usize, right: f64, s: &mut Stream) -> CutGraph {
    let labels: Vec<Vec<usize>> = (0..members)
        .map(|_| (0..n).map(|i| if s.unit() < right { i % k } else { s.below(k) }).collect())
        .collect();
    let mut builder = GraphBuilder::default();
    for i in 0..n {
        for j in (0..n).filter(|&j| j != i) {
            let count = labels.iter().filter(|l| l[i] == l[j]).count();
            builder.edge(j as u32, count as f64);
        }
        builder.end_vertex();
    }
    builder.build(vec![1; n], 1e6).expect("small enough")
}

/// A square grid.
fn grid(side: usize) -> CutGraph {
    let mut builder = GraphBuilder::default();
    for v in 0..side * side {
        let (row, column) = (v / side, v % side);
        let near = [
            (row > 0).then(|| v - side),
            (column > 0).then(|| v - 1),
            (column + 1 < side).then_some(v + 1),
            (row + 1 < side).then_some(v + side),
        ];
        near.into_iter().flatten().for_each(|u| builder.edge(u as u32, 1.0));
        builder.end_vertex();
    }
    builder.build(vec![1; side * side], 1.0).expect("small enough")
}

fn main() {
    let mut s = SeedPath::new(1).stream("cuts");
    let graphs = [
        ("members 3000 x 20, half right", members(3_000, 10, 20, 0.5, &mut s), 10),
        ("members 3000 x 20, a quarter right", members(3_000, 10, 20, 0.25, &mut s), 10),
        ("members 10 000 x 200, half right", members(10_000, 10, 200, 0.5, &mut s), 10),
        ("co-association 1000 x 50, half right", co_association(1_000, 5, 50, 0.5, &mut s), 5),
        (
            "co-association 1000 x 50, a quarter right",
            co_association(1_000, 5, 50, 0.25, &mut s),
            5,
        ),
        ("grid 60 x 60, 4 parts", grid(60), 4),
        ("grid 200 x 200, 10 parts", grid(200), 10),
    ];
    table("metis", "multilevel");
    for (name, graph, k) in graphs {
        compare(name, cut(Engine::Metis, &graph, k), cut(Engine::Multilevel, &graph, k));
    }
    println!();
    table("all objects", "sample");
    for (n, k, count, right) in [
        (10_000, 10, 200, 0.5),
        (10_000, 10, 200, 0.2),
        (10_000, 10, 200, 0.13),
        (10_000, 10, 20, 0.5),
        (10_000, 10, 20, 0.3),
        (10_000, 10, 20, 0.2),
        (12_000, 20, 10, 0.4),
        (16_000, 10, 20, 0.25),
        (30_000, 10, 20, 0.3),
    ] {
        let graph = members(n, k, count, right, &mut s);
        let all = cut(Engine::default(), &graph, k);
        let sample = cut(Engine::default(), &graph.with_first_side(n), k);
        compare(&format!("members {n} x {count}, {right} right"), all, sample);
    }
}

fn table(first: &str, second: &str) {
    println!("{:<44} {first:>12} {second:>12} {:>7}   seconds", "graph", "ratio");
}

/// The cut and the seconds it takes, means over some seeds.
fn cut(engine: Engine, graph: &CutGraph, k: usize) -> (u64, f64) {
    const SEEDS: u64 = 5;
    let start = Instant::now();
    let run = |seed| {
        let p = engine.partition(&Task::new(graph, k), &Context::new(seed)).expect("runs");
        assert!(p.heaviest <= p.bound, "{}: {} > {}", engine.name(), p.heaviest, p.bound);
        p.cut
    };
    let sum: u64 = (0..SEEDS).map(run).sum();
    (sum / SEEDS, start.elapsed().as_secs_f64() / SEEDS as f64)
}

fn compare(name: &str, first: (u64, f64), second: (u64, f64)) {
    let ratio = second.0 as f64 / first.0 as f64;
    println!(
        "{name:<44} {:>12} {:>12} {ratio:>7.3}   {:.2} {:.2}",
        first.0, second.0, first.1, second.1
    );
}
