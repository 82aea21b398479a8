//! COP-KMeans with an object of weight m is COP-KMeans with m objects that must-links hold together.

use mustlink_base_clusterers::cop_kmeans::{CopKMeans, Unit};
use mustlink_core::prelude::*;
use mustlink_kernels::constrained::must_link_units::UnitOrder;
use mustlink_kernels::constrained::penalised_kmeans::ConstrainedInit;
use mustlink_kernels::kmeans::seeding::Init;
use mustlink_laws::fixtures;

#[test]
fn a_weight_is_so_many_objects_that_stay_together() {
    for seed in 0..12 {
        let (x, _) = fixtures::groups(5, 3, 1.5, seed);
        let mut stream = SeedPath::new(seed).stream("weights");
        let weights: Vec<usize> = (0..x.nrows()).map(|_| 1 + stream.below(3)).collect();
        let first: Vec<usize> =
            weights.iter().scan(0, |at, w| Some(std::mem::replace(at, *at + w))).collect();
        let copies: Vec<usize> =
            weights.iter().enumerate().flat_map(|(i, &w)| vec![i; w]).collect();
        let apart = [(0, 1), (2, 8), (3, 12)];
        let pairs = apart.map(|(i, j)| Constraint::cannot(i, j));
        let own = Constraints::new(x.nrows(), pairs).unwrap();
        let pairs = apart.map(|(i, j)| Constraint::cannot(first[i], first[j]));
        let tied = (1..copies.len())
            .filter(|&c| copies[c] == copies[c - 1])
            .map(|c| Constraint::must(c - 1, c));
        let of_copies = Constraints::new(copies.len(), pairs.into_iter().chain(tied)).unwrap();
        let start = Start::Centroids(x.select(ndarray::Axis(0), &[0, 5, 10]));
        let counts = weights.iter().map(|&w| w as f64).collect();
        let once = Data::dense(x.clone()).unwrap().with_weights(counts).unwrap();
        let often = Data::dense(x.select(ndarray::Axis(0), &copies)).unwrap();
        let run_on = |data: Data, constraints: Constraints| {
            let p = Problem::new(data).with_k(3).with_constraints(constraints);
            let init = ConstrainedInit::Plain(Init::Given);
            let (unit, order) = (Unit::Component, UnitOrder::Index);
            let method = CopKMeans { init, unit, order, ..CopKMeans::default() };
            method.cluster(&p.with_start(start.clone()), &Context::new(1)).unwrap()
        };
        let (a, b) = (run_on(once, own), run_on(often, of_copies));
        let labels: Vec<u32> = first.iter().map(|&at| b.labels[at]).collect();
        assert_eq!(a.labels, labels, "{seed}");
        let (a, b) = (a.objective.unwrap(), b.objective.unwrap());
        assert!((a - b).abs() <= 1e-9 * b, "{a} {b}");
    }
}
