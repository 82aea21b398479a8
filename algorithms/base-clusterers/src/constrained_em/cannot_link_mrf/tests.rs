//! Laws of inference: two roads to one answer.

use super::*;
use mustlink_core::Error;
use mustlink_core::closure::UnionFind;
use mustlink_core::random::SeedPath;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn field(nodes: usize, k: usize, max_width: usize, edges: &[(u32, u32)]) -> CannotLinkMrf {
    let near = neighbours(nodes, edges);
    CannotLinkMrf::new(nodes, k, max_width, |p| near[p].as_slice())
}

/// The same with belief propagation in every part.
fn loopy(nodes: usize, k: usize, edges: &[(u32, u32)]) -> CannotLinkMrf {
    let near = neighbours(nodes, edges);
    let mut joined = UnionFind::new(nodes);
    edges.iter().for_each(|&(p, q)| {
        joined.union(p, q);
    });
    let mut parts: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let (free, bound): (Vec<u32>, Vec<u32>) =
        (0..nodes as u32).partition(|&p| near[p as usize].is_empty());
    bound.into_iter().for_each(|p| parts.entry(joined.find(p)).or_default().push(p));
    let part = |nodes: Vec<u32>| {
        let place = |q: &u32| nodes.binary_search(q).expect("of the same part");
        let near = nodes.iter().map(|&p| near[p as usize].iter().map(place).collect()).collect();
        Part::Loopy(Loopy { nodes, near })
    };
    CannotLinkMrf { k, nodes, free, parts: parts.into_values().map(part).collect() }
}

fn neighbours(nodes: usize, edges: &[(u32, u32)]) -> Vec<Vec<u32>> {
    let mut near = vec![BTreeSet::new(); nodes];
    for &(p, q) in edges.iter().filter(|(p, q)| p != q) {
        near[p as usize].insert(q);
        near[q as usize].insert(p);
    }
    near.into_iter().map(|n| n.into_iter().collect()).collect()
}

fn potentials(nodes: usize, k: usize, seed: u64) -> Array2<f64> {
    let mut s = SeedPath::new(seed).stream("theta");
    Array2::from_shape_fn((nodes, k), |_| 1.5 * s.normal())
}

/// All labellings, one by one: log-partition, marginals, the best.
fn slowly(near: &[Vec<u32>], theta: &Array2<f64>) -> (f64, Array2<f64>, f64) {
    let (nodes, k) = theta.dim();
    let (mut total, mut best) = (0.0, f64::NEG_INFINITY);
    let mut marginals = Array2::zeros((nodes, k));
    labellings(k, nodes, |_, labels| {
        let broken = |p: usize| near[p].iter().any(|&q| labels[q as usize] == labels[p]);
        if (0..nodes).any(broken) {
            return;
        }
        let value: f64 = (0..nodes).map(|p| theta[[p, labels[p]]]).sum();
        total += value.exp();
        best = f64::max(best, value);
        (0..nodes).for_each(|p| marginals[[p, labels[p]]] += value.exp());
    });
    (f64::ln(total), marginals / total, best)
}

#[test]
fn by_hand() {
    // Two nodes apart, two labels, θ = (ln 3, 0) for both: only (0, 1) and (1, 0), weight 3 each.
    let theta = Array2::from_shape_fn((2, 2), |(_, h)| if h == 0 { 3f64.ln() } else { 0.0 });
    let f = field(2, 2, 6, &[(0, 1)]);
    let out = f.infer(&theta, &Context::new(1)).unwrap();
    assert!((out.log_partition - 6f64.ln()).abs() < 1e-12);
    assert!(out.marginals.iter().all(|v| (v - 0.5).abs() < 1e-12));
    let free = f.without_edges().infer(&theta, &Context::new(1)).unwrap();
    assert!((free.log_partition - 16f64.ln()).abs() < 1e-12);
    assert!((free.marginals[[1, 0]] - 0.75).abs() < 1e-12);
}

#[test]
fn what_cannot_be_is_named() {
    let triangle = [(1, 2), (2, 4), (1, 4)];
    let theta = potentials(5, 2, 1);
    let named = NoLabels::Impossible(vec![1, 2, 4]);
    assert_eq!(field(5, 2, 6, &triangle).infer(&theta, &Context::new(1)).unwrap_err(), named);
    assert_eq!(field(5, 2, 6, &triangle).best(&theta, &Context::new(1)).unwrap_err(), named);
    assert_eq!(field(5, 2, 0, &triangle).best(&theta, &Context::new(1)).unwrap_err(), named);
}

#[test]
fn far_apart_potentials_do_not_overflow() {
    let mut theta = potentials(4, 3, 1);
    theta.mapv_inplace(|v| 1e5 * v);
    let ring = [(0, 1), (1, 2), (2, 3), (3, 0)];
    for f in [field(4, 3, 0, &ring), field(4, 3, 6, &ring), loopy(4, 3, &ring)] {
        let out = f.infer(&theta, &Context::new(1)).unwrap();
        assert!(out.log_partition.is_finite());
        assert!(out.marginals.iter().all(|v| v.is_finite()));
    }
}

#[test]
fn a_dead_end_of_greed_is_left() {
    // A crown: i on one side must be apart from all on the other but its partner, and pairs are sure of
    // a label each, more than there are.
    let (m, k) = (8, 3);
    let others = |i: u32| (0..m).filter(move |&j| j != i).map(move |j| (i, m + j));
    let crown: Vec<(u32, u32)> = (0..m).flat_map(others).collect();
    let mut theta = Array2::zeros((2 * m as usize, k));
    (0..m as usize).for_each(|i| {
        theta[[i, i % k]] = 9.0 - i as f64;
        theta[[m as usize + i, i % k]] = 9.0 - i as f64;
    });
    let labels = loopy(2 * m as usize, k, &crown).best(&theta, &Context::new(1)).unwrap();
    assert!(crown.iter().all(|&(p, q)| labels[p as usize] != labels[q as usize]));
}

#[test]
fn belief_propagation_hears_cancelling() {
    let edges = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)];
    let f = loopy(4, 3, &edges);
    let ctx = Context::builder(SeedPath::new(1)).cancel_after(5).build();
    let ended = f.infer(&potentials(4, 3, 1), &ctx).unwrap_err();
    assert_eq!(ended, NoLabels::Ended(Error::Cancelled));
}

#[test]
fn every_way_to_solve_a_part_hears_cancelling() {
    let path = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6)];
    let clique = [(0, 1), (0, 2), (1, 2)];
    let nearly = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3)];
    for (f, nodes, k) in [
        (field(7, 3, 6, &path), 7, 3),
        (field(7, 2, 0, &path), 7, 2),
        (field(3, 3, 0, &clique), 3, 3),
        (field(4, 3, 0, &nearly), 4, 3),
    ] {
        assert_eq!(f.approximate(), 0);
        let theta = potentials(nodes, k, 1);
        let ended = || Context::builder(SeedPath::new(1)).cancel_after(0).build();
        let cancelled = NoLabels::Ended(Error::Cancelled);
        assert_eq!(f.infer(&theta, &ended()).unwrap_err(), cancelled);
        assert_eq!(f.without_edges().infer(&theta, &ended()).unwrap_err(), cancelled);
        assert_eq!(f.best(&theta, &ended()).unwrap_err(), cancelled);
    }
    // Between tables as well.
    let counted = Context::builder(SeedPath::new(1)).count_looks().build();
    let tables = field(7, 3, 6, &path);
    assert!(matches!(tables.parts[..], [Part::Tables(_)]));
    tables.infer(&potentials(7, 3, 1), &counted).unwrap();
    assert!(counted.looks() >= 14, "{}", counted.looks());
}

proptest! {
    /// Elimination equals enumeration.
    #[test]
    fn exact(
        seed in 0u64..10_000,
        k in 2usize..4,
        edges in proptest::collection::vec((0u32..7, 0u32..7), 0..9),
    ) {
        let theta = potentials(7, k, seed);
        let f = field(7, k, 6, &edges);
        let (z, marginals, best) = slowly(&neighbours(7, &edges), &theta);
        prop_assert_eq!(f.approximate(), 0);
        match f.infer(&theta, &Context::new(1)) {
            Err(_) => prop_assert!(!z.is_finite()),
            Ok(out) => {
                prop_assert!((out.log_partition - z).abs() < 1e-9);
                prop_assert!((out.marginals - marginals).iter().all(|v| v.abs() < 1e-9));
                let labels = f.best(&theta, &Context::new(1)).unwrap();
                let value: f64 = (0..7).map(|p| theta[[p, labels[p] as usize]]).sum();
                prop_assert!((value - best).abs() < 1e-9, "{value} {best}");
                let near = neighbours(7, &edges);
                for p in 0..7 {
                    prop_assert!(near[p].iter().all(|&q| labels[q as usize] != labels[p]));
                }
            }
        }
    }

    /// Nodes that are all apart: the sums over sets equal enumeration, however far apart the potentials.
    #[test]
    fn all_apart(
        seed in 0u64..10_000,
        k in 1usize..6,
        nodes in 2usize..6,
        scale in prop_oneof![Just(1.0), Just(100.0)],
    ) {
        let ends = |p: u32| (p + 1..nodes as u32).map(move |q| (p, q));
        let edges: Vec<(u32, u32)> = (0..nodes as u32).flat_map(ends).collect();
        let mut theta = potentials(nodes, k, seed);
        theta.mapv_inplace(|v| scale * v);
        let f = field(nodes, k, 0, &edges);
        let shift = theta.fold(0.0f64, |top, &v| top.max(v.abs())) * nodes as f64;
        prop_assert_eq!(f.approximate(), 0);
        let out = f.infer(&theta, &Context::new(1));
        if nodes > k {
            prop_assert!(out.is_err() && f.best(&theta, &Context::new(1)).is_err());
            return Ok(());
        }
        let out = out.unwrap();
        let exact = field(nodes, k, 6, &edges).infer(&theta, &Context::new(1)).unwrap();
        let scaled = 1e-12 * (1.0 + shift);
        prop_assert!((out.log_partition - exact.log_partition).abs() < scaled);
        prop_assert!((&out.marginals - &exact.marginals).iter().all(|v| v.abs() < 1e-9));
        let labels = f.best(&theta, &Context::new(1)).unwrap();
        let value: f64 = (0..nodes).map(|p| theta[[p, labels[p] as usize]]).sum();
        let (z, marginals, best) = slowly(&neighbours(nodes, &edges), &theta);
        prop_assert!((value - best).abs() < scaled, "{value} {best}");
        prop_assert!(labels.iter().collect::<BTreeSet<_>>().len() == nodes);
        if scale == 1.0 {
            prop_assert!((out.log_partition - z).abs() < 1e-9);
            prop_assert!((out.marginals - marginals).iter().all(|v| v.abs() < 1e-9));
        }
    }

    /// Sums over sets of nodes equal enumeration, and elimination where that would overflow.
    #[test]
    fn node_sets(
        seed in 0u64..10_000,
        k in 2usize..5,
        edges in proptest::collection::vec((0u32..6, 0u32..6), 0..12),
    ) {
        // In a row, so that the part is connected.
        let edges: Vec<(u32, u32)> = (0..5).map(|p| (p, p + 1)).chain(edges).collect();
        let near = neighbours(6, &edges);
        let places: Vec<Vec<usize>> =
            near.iter().map(|near| near.iter().map(|&q| q as usize).collect()).collect();
        let sets = NodeSets::new(k, &[0, 1, 2, 3, 4, 5], &places, MAX_STEPS).unwrap();
        for scale in [1.0, 300.0] {
            let theta = potentials(6, k, seed).mapv(|v| scale * v);
            let tables = field(6, k, 6, &edges).infer(&theta, &Context::new(1));
            let Ok(tables) = tables else {
                prop_assert!(sets.marginals(k, &theta).is_err() && sets.best(k, &theta).is_err());
                continue;
            };
            let (log_partition, beliefs) = sets.marginals(k, &theta).unwrap();
            prop_assert!((log_partition - tables.log_partition).abs() < 1e-10 * scale);
            for (p, belief) in beliefs {
                let apart = belief.iter().zip(tables.marginals.row(p as usize));
                prop_assert!(apart.clone().all(|(a, b)| (a - b).abs() < 1e-9));
            }
            let labels = sets.best(k, &theta).unwrap();
            let value: f64 = labels.iter().map(|&(p, h)| theta[[p as usize, h as usize]]).sum();
            let apart = edges.iter().filter(|(p, q)| p != q);
            prop_assert!(apart.clone().all(|&(p, q)| labels[p as usize].1 != labels[q as usize].1));
            if scale == 1.0 {
                let (z, _, best) = slowly(&near, &theta);
                prop_assert!((log_partition - z).abs() < 1e-9);
                prop_assert!((value - best).abs() < 1e-9, "{value} {best}");
            }
        }
    }

    /// On trees belief propagation is exact.
    #[test]
    fn trees(seed in 0u64..10_000, k in 2usize..4, up in proptest::collection::vec(0u32..100, 6)) {
        let edges: Vec<(u32, u32)> =
            up.iter().enumerate().map(|(p, u)| (p as u32 + 1, u % (p as u32 + 1))).collect();
        let theta = potentials(7, k, seed);
        let (z, marginals, _) = slowly(&neighbours(7, &edges), &theta);
        let f = loopy(7, k, &edges);
        prop_assert_eq!(f.approximate(), 7);
        let out = f.infer(&theta, &Context::new(1)).unwrap();
        prop_assert!((out.log_partition - z).abs() < 1e-7, "{} {z}", out.log_partition);
        prop_assert!((out.marginals - marginals).iter().all(|v| v.abs() < 1e-7));
    }

    /// Greedy choice breaks no edge.
    #[test]
    fn greed_is_admissible(
        seed in 0u64..10_000,
        edges in proptest::collection::vec((0u32..9, 0u32..9), 0..14),
    ) {
        let theta = potentials(9, 3, seed);
        let near = neighbours(9, &edges);
        let feasible = field(9, 3, 8, &edges).best(&theta, &Context::new(1)).is_ok();
        match loopy(9, 3, &edges).best(&theta, &Context::new(1)) {
            Err(_) => prop_assert!(!feasible),
            Ok(labels) => for p in 0..9 {
                prop_assert!(near[p].iter().all(|&q| labels[q as usize] != labels[p]));
            },
        }
    }
}
