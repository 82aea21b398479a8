//! In which units methods see data: those of the user, unless numbers would be lost.

use mustlink_core::units::{Units, times_two_to};
use mustlink_core::{Data, Problem};
use ndarray::{Array2, array};
use serde_json::json;

fn units(x: Array2<f64>) -> Option<Units> {
    // A tag that nothing is registered under has no options that matter.
    Units::of(&Data::dense(x).unwrap(), "nothing", &json!({}))
}

#[test]
fn powers_of_two_that_are_no_numbers_are_multiplied_with() {
    assert_eq!(times_two_to(3.0, 4), 48.0);
    assert_eq!(times_two_to(times_two_to(1.5, -1060), 1060), 1.5);
    assert_eq!(times_two_to(times_two_to(5e-324, 2000), -2000), 5e-324);
    assert_eq!(times_two_to(1.0, 1024), f64::INFINITY);
    assert_eq!(times_two_to(1.0, -2000), 0.0);
}

#[test]
fn everyday_data_are_seen_as_they_are() {
    for scale in [1e-6, 1e-3, 1.0, 1e6, 1e9, 1e30] {
        assert_eq!(units(array![[0.3, -2.0], [1.7, 4.0]].mapv(|v| v * scale)), None, "{scale}");
    }
    // Years, seconds since 1970 over a week, metres of a map.
    for (origin, spread) in [(2020.0, 10.0), (1.7e9, 6e5), (5.4e6, 1e3)] {
        assert_eq!(units(array![[origin], [origin + spread]]), None, "{origin}");
    }
    assert_eq!(units(Array2::zeros((3, 2))), None);
    assert_eq!(units(Array2::from_elem((3, 2), 7e5)), None);
}

#[test]
fn what_would_be_lost_is_brought_near_one() {
    for x in [
        array![[1e300, -1e300], [3e299, 1e308]],
        array![[1e-300, 2e-300], [0.0, 5e-324]],
        array![[1e12, 1e12 + 4.0], [1e12 + 1.0, 1e12 + 2.0]],
    ] {
        let data = Data::dense(x.clone()).unwrap();
        let units = units(x).expect("they are not everyday data");
        let seen = units.problem(&Problem::new(data)).unwrap().data;
        let largest = seen.to_dense().iter().fold(0.0f64, |m, v| m.max(v.abs()));
        assert!((0.25..8.0).contains(&largest), "{largest}");
        assert_eq!(Units::of(&seen, "nothing", &json!({})), None);
    }
}
