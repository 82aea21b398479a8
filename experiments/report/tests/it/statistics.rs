//! The statistics of the reports compared with SciPy, statsmodels and scikit-posthocs, on cases that
//! `benches/peers/significance.py` stored.

use mustlink_experiments::statistics::Summary;
use mustlink_report::statistics::multiple::{critical_difference, holm};
use mustlink_report::statistics::paired::{Side, paired_t, signed_rank};
use mustlink_report::statistics::several::friedman;
use serde_json::Value;

fn cases(part: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("../statistics.json")).unwrap();
    all[part].as_array().unwrap().clone()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

#[track_caller]
fn close(ours: f64, theirs: &Value, what: &str) {
    let theirs = theirs.as_f64().unwrap();
    assert!((ours - theirs).abs() <= 1e-9 * theirs.abs().max(1.0), "{what}: {ours} and {theirs}");
}

#[track_caller]
fn all_close(ours: &[f64], theirs: &Value, what: &str) {
    assert_eq!(ours.len(), theirs.as_array().unwrap().len(), "{what}");
    ours.iter().zip(theirs.as_array().unwrap()).for_each(|(a, b)| close(*a, b, what));
}

#[test]
fn paired_tests_agree_with_scipy() {
    let (mut exact, mut normal) = (0, 0);
    for case in cases("paired") {
        let d = numbers(&case["differences"]);
        for (side, name) in
            [(Side::Two, "t two-sided"), (Side::Greater, "t greater"), (Side::Less, "t less")]
        {
            let found = paired_t(&d, side, 0.0).unwrap();
            close(found.t, &case["t"], "t");
            close(found.p, &case[name], name);
        }
        let (low, high) = Summary::of(&d, 0.95).unwrap().interval().unwrap();
        all_close(&[low, high], &case["interval"], "interval");
        let found = signed_rank(&d);
        for (name, count) in [("exact", &mut exact), ("normal", &mut normal)] {
            if let Some(p) = case.get(name) {
                assert_eq!(found.exact, name == "exact");
                close(found.p, p, name);
                *count += 1;
            }
        }
    }
    assert!(exact >= 4 && normal == 2, "{exact} and {normal}");
}

#[test]
fn tests_of_several_methods_agree_with_scipy_and_statsmodels() {
    for case in cases("several") {
        let rows: Vec<Vec<f64>> = case["scores"].as_array().unwrap().iter().map(numbers).collect();
        let found = friedman(&rows).unwrap();
        close(found.chi_squared, &case["chi"], "chi squared");
        close(found.p, &case["chi p"], "its p");
        close(found.f, &case["f"], "F");
        close(found.f_p, &case["f p"], "its p");
        all_close(&found.ranks, &case["ranks"], "ranks");
        let p: Vec<f64> = found.against(0)[1..].iter().map(|(_, p)| *p).collect();
        all_close(&p, &case["against first"], "against the first");
        all_close(&holm(&p), &case["holm"], "Holm");
        let (sets, k) = (rows.len(), rows[0].len());
        for (alpha, text) in [(0.05, "0.05"), (0.1, "0.1")] {
            let distance = critical_difference(k, sets, alpha);
            close(distance, &case["nemenyi"][text], "critical difference");
            // Whoever is farther apart than that has a smaller p.
            for i in 0..k {
                for j in 0..i {
                    let apart = (found.ranks[i] - found.ranks[j]).abs() > distance;
                    let p = case["nemenyi p"][i][j].as_f64().unwrap();
                    assert_eq!(apart, p < alpha, "{i} and {j}: p = {p}");
                }
            }
        }
    }
}
