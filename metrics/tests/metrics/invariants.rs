//! Invariants of all partitions, tested on random labelings.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::support::{metric, score};
use mustlink_core::prelude::*;
use mustlink_core::registry::{Catalogue, Role};
use mustlink_laws::strategies::labelings;
use proptest::prelude::*;

/// The metrics that read nothing but labels and classes: those of the catalogue at their defaults,
/// and what else an option makes of one.
static ALL: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let reads_more = |p: MetricProperties| {
        p.needs_data
            || p.needs_constraints
            || p.needs_heldout
            || p.needs_unconstrained
            || p.needs_ensemble
    };
    let metrics = Catalogue::get().unwrap().role(Role::Metric).map(|d| d.tag);
    let mut all: Vec<&str> = metrics.filter(|tag| !reads_more(metric(tag).properties())).collect();
    assert!(all.len() > 20, "only {all:?}");
    all.extend(["ami average=geometric", "ami average=min", "ami average=max"]);
    all
});

fn near(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-12 * (1.0 + a.abs()),
        (a, b) => a == b,
    }
}

fn defined(config: &str, y: &[u32], c: &[u32]) -> f64 {
    score(config, y, c).unwrap_or_else(|| panic!("{config} of {y:?}, {c:?} is not defined"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn names_order_and_roles([y, c, shuffle] in labelings(1..=40, 7)) {
        let renamed: Vec<u32> = c.iter().map(|&l| 4_000_000_000 - 77_777 * l).collect();
        let mut order: Vec<usize> = (0..y.len()).collect();
        order.sort_by_key(|&i| shuffle[i]);
        let moved = |labels: &[u32]| order.iter().map(|&i| labels[i]).collect::<Vec<_>>();
        let (moved_y, moved_c) = (moved(&y), moved(&c));
        for &config in ALL.iter() {
            let value = score(config, &y, &c);
            prop_assert_eq!(value, score(config, &y, &renamed), "{} by names", config);
            prop_assert!(near(value, score(config, &moved_y, &moved_c)), "{} by order", config);
            if metric(config).properties().symmetric {
                prop_assert!(near(value, score(config, &c, &y)), "{} by roles", config);
            }
        }
        for (one, other) in [("pair_precision", "pair_recall"), ("homogeneity", "completeness")] {
            prop_assert!(near(score(one, &y, &c), score(other, &c, &y)), "{} and {}", one, other);
        }
    }

    #[test]
    fn ranges_and_best_values([y, c, _] in labelings(1..=200, 12)) {
        for &config in ALL.iter() {
            let p = metric(config).properties();
            if let Some(value) = score(config, &y, &c) {
                prop_assert!(value >= p.min && value <= p.max, "{config}: {value}");
            }
            let best = score(config, &y, &y);
            prop_assert!(best.is_none() || p.perfect.is_none() || best == p.perfect, "{}", config);
        }
        let n = y.len() as f64;
        prop_assert!(defined("vi", &y, &c) <= 2.0 * n.ln() + 1e-12);
        let groups = |labels: &[u32]| labels.iter().collect::<HashSet<_>>().len() as f64;
        prop_assert!(defined("mi", &y, &c) <= groups(&y).min(groups(&c)).ln() + 1e-12);
    }

    #[test]
    fn families_are_ordered([y, c, _] in labelings(1..=60, 8)) {
        let of = |config| defined(config, &y, &c);
        prop_assert!(near(Some(of("v_measure")), Some(of("nmi_arith"))));
        let scores = ["nmi_min", "nmi_geo", "nmi_arith", "nmi_max", "nmi_joint"].map(of);
        prop_assert!(scores.windows(2).all(|w| w[0] >= w[1] - 1e-12), "{:?}", scores);
        let adjusted =
            ["ami average=min", "ami average=geometric", "ami", "ami average=max"].map(|f| of(f).abs());
        prop_assert!(adjusted.windows(2).all(|w| w[0] >= w[1] - 1e-9), "{:?}", adjusted);
    }

    #[test]
    fn vi_is_a_metric([a, b, c] in labelings(1..=40, 6)) {
        let vi = |x: &[u32], y: &[u32]| defined("vi", x, y);
        prop_assert!(vi(&a, &c) <= vi(&a, &b) + vi(&b, &c) + 1e-12);
        let same = mustlink_core::clustering::canonical(&a) == mustlink_core::clustering::canonical(&b);
        prop_assert_eq!(vi(&a, &b) == 0.0, same);
    }

    #[test]
    fn pair_scores_fit_together([y, c, _] in labelings(1..=40, 7)) {
        let n = y.len();
        prop_assume!(n >= 2);
        let [mut tp, mut fp, mut fn_, mut tn] = [0.0; 4];
        for j in 0..n {
            for i in 0..j {
                match (y[i] == y[j], c[i] == c[j]) {
                    (true, true) => tp += 1.0,
                    (false, true) => fp += 1.0,
                    (true, false) => fn_ += 1.0,
                    (false, false) => tn += 1.0,
                }
            }
        }
        let total = (n * (n - 1) / 2) as f64;
        prop_assert_eq!(tp + fp + fn_ + tn, total);
        let rand = defined("rand", &y, &c);
        prop_assert!((rand - (1.0 - fp / total - fn_ / total)).abs() < 1e-12);
        // Eq. 2.15, against the form in pair counts that is computed.
        let (same_class, same_cluster) = (tp + fn_, tp + fp);
        let expected = same_class * same_cluster / total;
        let room = 0.5 * (same_class + same_cluster) - expected;
        if room > 1e-9 {
            let ari = (tp - expected) / room;
            prop_assert!((ari - defined("ari", &y, &c)).abs() < 1e-9);
        }
        let [p, r] = ["pair_precision", "pair_recall"].map(|f| score(f, &y, &c));
        if let (Some(p), Some(r)) = (p, r) {
            let f = if p + r == 0.0 { 0.0 } else { 2.0 * p * r / (p + r) };
            prop_assert!((f - defined("pair_f", &y, &c)).abs() < 1e-12);
        }
    }

    #[test]
    fn refining_keeps_purity([y, c, split] in labelings(1..=40, 5)) {
        let finer: Vec<u32> = c.iter().zip(&split).map(|(a, b)| a * 100 + b).collect();
        for config in ["purity", "homogeneity"] {
            let (coarse, fine) = (defined(config, &y, &c), defined(config, &y, &finer));
            prop_assert!(fine >= coarse - 1e-12, "{} {} {}", config, coarse, fine);
        }
    }

    #[test]
    fn error_rates([y, c, _] in labelings(1..=30, 6)) {
        let n = y.len();
        let (one, many) = (defined("error_rate", &y, &c), defined("error_rate_majority", &y, &c));
        prop_assert!(one >= many);
        prop_assert!((one * n as f64 - (one * n as f64).round()).abs() < 1e-9);
        prop_assert!(near(Some(1.0 - defined("purity", &y, &c)), Some(many)));
        prop_assert_eq!(((1.0 - one) * n as f64).round() as usize, best_matching(&y, &c, 0, 0));
    }

    #[test]
    fn two_clusters_with_different_majorities(
        y in prop::collection::vec(0u32..2, 2..30),
        c in prop::collection::vec(0u32..2, 30),
    ) {
        let c = &c[..y.len()];
        let of = |class, cluster| {
            y.iter().zip(c).filter(|&(&y, &c)| y == class && c == cluster).count()
        };
        let majority = |cluster| (of(0, cluster) != of(1, cluster)).then(|| of(1, cluster) > of(0, cluster));
        if let (Some(a), Some(b)) = (majority(0), majority(1)) && a != b {
            prop_assert_eq!(score("error_rate", &y, c), score("error_rate_majority", &y, c));
        }
    }

    #[test]
    fn the_scope_is_all_there_is(
        [y, c, other] in labelings(1..=40, 6),
        bits in prop::collection::vec((any::<bool>(), any::<bool>()), 40),
    ) {
        let n = y.len();
        let bits = &bits[..n];
        let truth: Vec<Option<u32>> = y.iter().zip(bits).map(|(&l, b)| b.0.then_some(l)).collect();
        let scope: Vec<bool> = bits.iter().map(|b| b.1).collect();
        let counts: Vec<usize> = (0..n).filter(|&i| bits[i].0 && bits[i].1).collect();
        let picked = |labels: &[u32]| counts.iter().map(|&i| labels[i]).collect::<Vec<_>>();
        // Objects that do not count have other labels: no difference.
        let changed: Vec<u32> =
            (0..n).map(|i| if counts.contains(&i) { c[i] } else { other[i] + 50 }).collect();
        for config in ALL.iter().copied().filter(|&config| config != "k_found") {
            let input = MetricInput {
                labels: &c,
                truth: Some(&truth),
                scope: Some(&scope),
                ..MetricInput::default()
            };
            let value = metric(config).score(&input).unwrap();
            prop_assert_eq!(value, score(config, &picked(&y), &picked(&c)), "{}", config);
            let moved = MetricInput { labels: &changed, ..input };
            prop_assert_eq!(value, metric(config).score(&moved).unwrap(), "{}", config);
        }
    }

    #[test]
    fn excluded_pairs_are_not_counted(
        [y, c, _] in labelings(1..=12, 4),
        excluded in prop::collection::vec(any::<bool>(), 66),
        scope in prop::collection::vec(any::<bool>(), 12),
    ) {
        let n = y.len();
        let all: Vec<(u32, u32)> =
            (0..n as u32).flat_map(|i| (i + 1..n as u32).map(move |j| (i, j))).collect();
        let exclude: Vec<(u32, u32)> =
            all.iter().zip(&excluded).filter(|(_, e)| **e).map(|(&pair, _)| pair).collect();
        let [mut tp, mut fp, mut fn_, mut tn] = [0.0; 4];
        for &(i, j) in all.iter().filter(|pair| !exclude.contains(pair)) {
            let (i, j) = (i as usize, j as usize);
            if scope[i] && scope[j] {
                match (y[i] == y[j], c[i] == c[j]) {
                    (true, true) => tp += 1.0,
                    (false, true) => fp += 1.0,
                    (true, false) => fn_ += 1.0,
                    (false, false) => tn += 1.0,
                }
            }
        }
        let truth: Vec<Option<u32>> = y.iter().map(|&l| Some(l)).collect();
        let input = MetricInput {
            labels: &c,
            truth: Some(&truth),
            scope: Some(&scope[..n]),
            exclude: Some(&exclude),
            ..MetricInput::default()
        };
        let total: f64 = tp + fp + fn_ + tn;
        let nothing = tp + fp + fn_ == 0.0;
        let share = |above: f64, below: f64| match below {
            _ if total == 0.0 => None,
            0.0 if nothing => Some(1.0),
            0.0 => None,
            below => Some(above / below),
        };
        let expected = [
            ("rand", share(tp + tn, total)),
            ("pair_precision", share(tp, tp + fp)),
            ("pair_recall", share(tp, tp + fn_)),
            ("pair_f", share(2.0 * tp, 2.0 * tp + fp + fn_)),
            ("jaccard_pairs", share(tp, tp + fp + fn_)),
        ];
        for (config, value) in expected {
            prop_assert_eq!(metric(config).score(&input).unwrap(), value, "{}", config);
        }
    }
}

/// Most objects in the class given to their cluster, over all one-to-one ways to give classes.
fn best_matching(y: &[u32], c: &[u32], cluster: u32, taken: u32) -> usize {
    if cluster > 6 {
        return 0;
    }
    let rest = best_matching(y, c, cluster + 1, taken);
    (0..6u32).filter(|class| taken & (1 << class) == 0).fold(rest, |best, class| {
        let hits = y.iter().zip(c).filter(|&(&a, &b)| a == class && b == cluster).count();
        if hits == 0 {
            return best;
        }
        best.max(hits + best_matching(y, c, cluster + 1, taken | 1 << class))
    })
}

#[test]
fn unrelated_labelings_score_zero_on_average() {
    let mut stream = SeedPath::new(11).stream("labelings");
    let draws = 400;
    let mut scores = [Vec::new(), Vec::new()];
    for _ in 0..draws {
        let mut labels = |k| (0..50).map(|_| stream.below(k) as u32).collect::<Vec<_>>();
        let (y, c) = (labels(3), labels(6));
        for (config, out) in ["ari", "ami"].into_iter().zip(&mut scores) {
            out.push(defined(config, &y, &c));
        }
    }
    for values in scores {
        let mean = values.iter().sum::<f64>() / draws as f64;
        let spread = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (draws - 1) as f64;
        let error = (spread / draws as f64).sqrt();
        assert!(mean.abs() < 4.0 * error, "{mean} ± {error}");
    }
}
