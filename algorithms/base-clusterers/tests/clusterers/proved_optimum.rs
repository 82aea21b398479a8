//! An optimum that others have proved is found: glass, with `MUSTLINK_DATA`.

use std::io::Write;

use mustlink_core::prelude::*;
use mustlink_core::roles::BaseClusterer;
use mustlink_datasets::{OpenOptions, open};
use ndarray::Axis;

/// The least sum of squares of glass in six clusters is 72.9647, features scaled to [-1, 1]: proved by SOS-SDP
/// (its README, table of data sets).
#[test]
fn k_means_finds_the_proved_optimum_of_glass() {
    let options = OpenOptions::from_env();
    if options.data_dirs.is_empty() {
        let note = "skipped: glass needs a data directory (MUSTLINK_DATA)\n";
        std::io::stderr().write_all(note.as_bytes()).unwrap();
        return;
    }
    let mut x = open("glass", &options).unwrap().data.to_dense();
    for mut column in x.axis_iter_mut(Axis(1)) {
        let (low, high) =
            column.iter().fold((f64::MAX, f64::MIN), |(l, h), &v| (l.min(v), h.max(v)));
        column.mapv_inplace(|v| 2.0 * (v - low) / (high - low) - 1.0);
    }
    let problem = Problem::new(Data::dense(x).unwrap()).with_k(6);
    let method = serde_json::json!({ "type": "kmeans", "refine": "incremental", "restarts": 1000 });
    let method = <dyn BaseClusterer as RoleObject>::from_value(method).unwrap();
    let found = method.cluster(&problem, &Context::new(1)).unwrap().objective.unwrap();
    assert_eq!(format!("{found:.4}"), "72.9647");
}
