//! Options in the units of the data mean the same whatever the magnitude, and what is shown is in
//! those units.

use mustlink_base_clusterers::dbscan::Dbscan;
use mustlink_base_clusterers::hierarchical::{Hierarchical, Linkage};
use mustlink_base_clusterers::optics::Optics;
use mustlink_core::prelude::*;
use mustlink_core::run;
use ndarray::array;

#[test]
fn lengths_keep_their_meaning() {
    let unit = 2f64.powi(300);
    let x = array![[0.0], [1.0], [2.0], [10.0], [11.0], [12.0], [50.0]].mapv(|v| v * unit);
    let problem = Problem::new(Data::dense(x).unwrap());
    let (near, far) = (1.5 * unit, 100.0 * unit);
    for (length, k) in [(near, 3), (far, 1), (1e-3 * unit, 7)] {
        let (radius, max_distance, linkage) = (Some(length), Some(length), Linkage::Single);
        let plugins: [Box<dyn BaseClusterer>; 3] = [
            Box::new(Dbscan { min_points: 2, radius, ..Dbscan::default() }),
            Box::new(Optics { min_points: 2, radius, ..Optics::default() }),
            Box::new(Hierarchical { max_distance, linkage, ..Hierarchical::default() }),
        ];
        for plugin in &plugins {
            let c = run::cluster(&**plugin, &problem, &Context::new(1)).unwrap().clustering;
            assert_eq!(c.k, k, "{plugin:?}");
            if let Some(shown) = c.extras.diagnostics.get("radius") {
                assert!((shown / length - 1.0).abs() < 1e-12, "{shown} for {length}");
            }
        }
    }
}
