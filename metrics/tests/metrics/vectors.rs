//! The numbers every implementation must reproduce, and the conventions for degenerate partitions.

use crate::support::score;

/// (classes, clusters) of one case.
type Case = (&'static [u32], &'static [u32]);

const T1: Case = (&[0, 0, 0, 1, 1, 1], &[0, 0, 1, 1, 2, 2]);
const T2: Case = (&[0, 0, 1, 1, 2, 2], &[2, 2, 0, 0, 1, 1]);
const T3: Case = (&[0, 0, 1, 1], &[0, 0, 0, 0]);
const T4: Case = (&[0, 0, 1, 1], &[0, 1, 2, 3]);
const T5: Case = (&[0, 0, 0, 0], &[0, 0, 0, 0]);
const T6: Case = (&[0, 0, 1, 1], &[0, 1, 0, 1]);
const T7: Case = (&[0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2], &[0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 0]);
const T8: Case = (&[0, 1, 2, 3], &[3, 2, 1, 0]);
const LN2: f64 = std::f64::consts::LN_2;

fn check(case: Case, expected: &[(&str, Option<f64>)]) {
    for &(config, value) in expected {
        let found = score(config, case.0, case.1);
        let near = match (found, value) {
            (Some(a), Some(b)) => (a - b).abs() <= 1e-9,
            (a, b) => a == b,
        };
        assert!(near, "{config} of {case:?}: {found:?}, expected {value:?}");
    }
}

/// Every agreement score at its best value, apart from `mi` and the numbers of groups.
const PERFECT: [(&str, Option<f64>); 24] = [
    ("nmi_arith", Some(1.0)),
    ("nmi_geo", Some(1.0)),
    ("nmi_min", Some(1.0)),
    ("nmi_max", Some(1.0)),
    ("nmi_joint", Some(1.0)),
    ("ami", Some(1.0)),
    ("ami average=geometric", Some(1.0)),
    ("ami average=min", Some(1.0)),
    ("ami average=max", Some(1.0)),
    ("ari", Some(1.0)),
    ("rand", Some(1.0)),
    ("pair_precision", Some(1.0)),
    ("pair_recall", Some(1.0)),
    ("pair_f", Some(1.0)),
    ("jaccard_pairs", Some(1.0)),
    ("error_rate", Some(0.0)),
    ("error_rate_majority", Some(0.0)),
    ("purity", Some(1.0)),
    ("homogeneity", Some(1.0)),
    ("completeness", Some(1.0)),
    ("v_measure", Some(1.0)),
    ("vi", Some(0.0)),
    ("vi bits=true", Some(0.0)),
    ("k_error", Some(0.0)),
];

/// Below no pair, or no entropy: no score.
const UNDEFINED: f64 = f64::NAN;
/// Said elsewhere, or nowhere.
const UNSAID: f64 = f64::INFINITY;

/// The scores of T1, T3, T4, T6 and T7. In T4 `ami average=min` is 0/0; adding a small constant below
/// the line would give 2/3.
const SCORES: [(&str, [f64; 5]); 26] = [
    ("mi", [0.462098120373, 0.0, LN2, 0.0, UNSAID]),
    ("nmi_arith", [0.515803742979, 0.0, 2.0 / 3.0, 0.0, 0.484876487526]),
    ("nmi_geo", [0.529540578058, 0.0, std::f64::consts::FRAC_1_SQRT_2, 0.0, 0.484876487526]),
    ("nmi_min", [2.0 / 3.0, 0.0, 1.0, 0.0, 0.484876487526]),
    ("nmi_max", [0.420619835714, 0.0, 0.5, 0.0, 0.484876487526]),
    ("nmi_joint", [0.347530685743, 0.0, 0.5, 0.0, 0.320024396383]),
    ("ami", [0.298792458171, 0.0, 0.0, -0.5, 0.343078864859]),
    ("ami average=geometric", [0.310455503198, 0.0, 0.0, -0.5, 0.343078864859]),
    ("ami average=min", [0.444444444444, 0.0, 0.0, -0.5, 0.343078864859]),
    ("ami average=max", [0.225042283198, 0.0, 0.0, -0.5, 0.343078864859]),
    ("ari", [8.0 / 33.0, 0.0, 0.0, -0.5, 0.334826427772]),
    ("rand", [2.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0, 1.0 / 3.0, 8.0 / 11.0]),
    ("pair_precision", [2.0 / 3.0, 1.0 / 3.0, UNDEFINED, 0.0, 10.0 / 19.0]),
    ("pair_recall", [1.0 / 3.0, 1.0, 0.0, 0.0, 10.0 / 19.0]),
    ("pair_f", [4.0 / 9.0, 0.5, 0.0, 0.0, 10.0 / 19.0]),
    ("jaccard_pairs", [2.0 / 7.0, 1.0 / 3.0, 0.0, 0.0, 10.0 / 28.0]),
    ("error_rate", [1.0 / 3.0, 0.5, 0.5, 0.5, 0.25]),
    ("error_rate_majority", [1.0 / 6.0, 0.5, 0.0, UNSAID, 0.25]),
    ("purity", [5.0 / 6.0, 0.5, 1.0, 0.5, 0.75]),
    ("homogeneity", [2.0 / 3.0, 0.0, 1.0, 0.0, UNSAID]),
    ("completeness", [0.420619835714, 1.0, 0.5, 0.0, UNSAID]),
    ("v_measure", [0.515803742979, 0.0, 2.0 / 3.0, 0.0, UNSAID]),
    ("vi", [0.867563228481, LN2, LN2, 1.386294361120, 1.110149200175]),
    ("vi bits=true", [1.251629167388, 1.0, 1.0, 2.0, UNSAID]),
    ("k_found", [3.0, 1.0, UNSAID, UNSAID, UNSAID]),
    ("k_error", [1.0, -1.0, 2.0, UNSAID, 0.0]),
];

fn check_column(case: Case, column: usize) {
    for (config, scores) in SCORES {
        let value = scores[column];
        if value != UNSAID {
            check(case, &[(config, (!value.is_nan()).then_some(value))]);
        }
    }
}

#[test]
fn three_clusters_of_two_classes() {
    check_column(T1, 0);
}

#[test]
fn equal_partitions_are_perfect() {
    for case in [T2, T5, T8] {
        check(case, &PERFECT);
    }
    check(T2, &[("mi", Some(3f64.ln())), ("k_found", Some(3.0))]);
    check(T5, &[("mi", Some(0.0)), ("k_found", Some(1.0))]);
    check(T8, &[("mi", Some(4f64.ln())), ("k_found", Some(4.0))]);
}

#[test]
fn one_cluster_shares_no_information() {
    check_column(T3, 1);
}

#[test]
fn singletons_are_pure_and_share_no_pair() {
    check_column(T4, 2);
    // The classes are singletons, the clusters are not.
    let swapped = (T4.1, T4.0);
    check(swapped, &[("pair_precision", Some(0.0)), ("pair_recall", None), ("pair_f", Some(0.0))]);
}

#[test]
fn unrelated_partitions_score_below_chance() {
    check_column(T6, 3);
}

#[test]
fn twelve_objects_in_three_classes() {
    check_column(T7, 4);
}

#[test]
fn nothing_and_one_object() {
    for (config, perfect) in PERFECT {
        check((&[], &[]), &[(config, None)]);
        let needs_a_pair =
            config == "rand" || config == "jaccard_pairs" || config.starts_with("pair_");
        check((&[3], &[5]), &[(config, if needs_a_pair { None } else { perfect })]);
    }
    check((&[], &[]), &[("mi", None), ("k_found", None)]);
    check((&[3], &[5]), &[("mi", Some(0.0)), ("k_found", Some(1.0))]);
}

#[test]
fn v_measure_leans_with_beta() {
    let (h, c) = (2.0 / 3.0, 0.420619835714);
    let at = |beta: f64| (1.0 + beta) * h * c / (beta * h + c);
    check(
        T1,
        &[
            ("v_measure beta=0", Some(h)),
            ("v_measure beta=0.5", Some(at(0.5))),
            ("v_measure beta=2", Some(at(2.0))),
            ("v_measure beta=1e12", Some(c)),
        ],
    );
    for (beta, given) in
        [(-1.0, "-1"), (f64::NAN, "NaN or an infinity"), (f64::INFINITY, "NaN or an infinity")]
    {
        use mustlink_core::prelude::*;
        let input = MetricInput { labels: &[0], truth: Some(&[None]), ..MetricInput::default() };
        let refused = mustlink_metrics::v_measure::VMeasure { beta }.score(&input).unwrap_err();
        assert_eq!(refused.to_string(), format!("beta: must be at least 0, got {given}"));
    }
}
