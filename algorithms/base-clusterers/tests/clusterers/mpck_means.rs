//! Costs beyond the range of numbers.

use mustlink_base_clusterers::mpck_means::MpckMeans;
use mustlink_base_clusterers::pck_means::PckMeans;
use mustlink_core::prelude::*;
use mustlink_core::run;
use ndarray::Array2;

#[test]
fn weights_beyond_the_range_of_numbers_are_no_defect() {
    let x = Array2::from_shape_fn((12, 2), |(i, f)| (i * [7, 5][f] % [13, 11][f]) as f64);
    let pairs = (0..12).flat_map(|i| (i + 1..12).map(move |j| (i, j)));
    let pairs = pairs.filter(|(i, j)| (3 * i + j) % 3 == 0).map(|(i, j)| {
        let pair = if (i + j) % 2 == 1 { Constraint::must(i, j) } else { Constraint::cannot(i, j) };
        pair.weighing(1e100)
    });
    let pairs = Constraints::new(12, pairs).unwrap();
    let problem = Problem::new(Data::dense(x).unwrap()).with_k(3).with_constraints(pairs);
    let weight = AutoOr::Value(1e300);
    let methods: [Box<dyn BaseClusterer>; 2] = [
        Box::new(MpckMeans { weight, ..MpckMeans::default() }),
        Box::new(PckMeans { weight, ..PckMeans::default() }),
    ];
    for method in methods {
        let refused = run::cluster(&*method, &problem, &Context::new(0)).unwrap_err();
        assert!(matches!(refused, Error::NumericalFailure { .. }), "{refused}");
    }
}
