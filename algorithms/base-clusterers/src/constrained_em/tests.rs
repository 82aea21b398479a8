//! The mixture as a whole.

use super::*;
use crate::kmeans::KMeans;
use crate::pck_means::PckMeans;
use mustlink_core::clustering::canonical;
use mustlink_core::run;
use mustlink_kernels::kmeans::seeding::Init;
use mustlink_laws::fixtures;
use ndarray::{Axis, array};
use proptest::prelude::*;

/// From labels given with the problem.
fn from_labels() -> Option<Box<dyn BaseClusterer>> {
    Some(Box::new(KMeans { init: Init::Given, max_iterations: 1, ..KMeans::default() }))
}

fn problem(x: Array2<f64>, k: usize, constraints: &[Constraint]) -> Problem {
    let n = x.nrows();
    Problem::new(Data::dense(x).unwrap())
        .with_k(k)
        .with_constraints(Constraints::new(n, constraints.iter().copied()).unwrap())
}

fn run_of(em: &ConstrainedEm, p: &Problem) -> Clustering {
    run::cluster(em, p, &Context::new(3)).unwrap().clustering
}

#[test]
fn worked_example() {
    // Two groups on a line; 4.9 leans to the left one. Linked to 9, it goes right, and apart
    // from 9, the object at 5.1 goes left.
    let x = array![[0.0], [1.0], [2.0], [4.9], [5.1], [8.0], [9.0], [10.0]];
    let em = ConstrainedEm { covariance: Covariance::Spherical, ..ConstrainedEm::default() };
    let must = run_of(&em, &problem(x.clone(), 2, &[Constraint::must(3, 6)]));
    assert_eq!(must.labels[3], must.labels[6]);
    let apart = [Constraint::cannot(4, 6), Constraint::cannot(3, 0)];
    let cannot = run_of(&em, &problem(x, 2, &apart));
    assert_eq!(canonical(&cannot.labels), [0, 0, 0, 1, 0, 1, 1, 1]);
}

#[test]
fn a_start_of_more_clusters_is_named() {
    let x = array![[0.0], [1.0], [5.0], [6.0], [9.0], [10.0]];
    let p = problem(x, 2, &[Constraint::must(0, 1)]);
    let of = |k| {
        let start: Box<dyn BaseClusterer> = Box::new(KMeans { k: Some(k), ..KMeans::default() });
        let em = ConstrainedEm { start: Some(start), ..ConstrainedEm::default() };
        em.cluster(&p, &Context::new(3)).map(|c| c.k)
    };
    let named = "start: must be a clusterer that makes at most k = 2 clusters, \
                 got kmeans, which made 3";
    assert_eq!(of(3).unwrap_err().to_string(), named);
    assert_eq!((of(2), of(1)), (Ok(2), Ok(2)));
    // Names that are too large for so few clusters are no more of them.
    assert_eq!(among(2, vec![7, 7, 3], "any"), Ok(vec![0, 0, 1]));
}

#[test]
fn equal_starts_run_once() {
    let (p, classes) = fixtures::dense(5);
    let p = p.with_constraints(fixtures::true_constraints(&classes, 20, 1));
    let given: Vec<u32> = classes.iter().map(|c| c % 3).collect();
    let p = p.with_k(3).with_start(Start::Labels(given));
    let looks = |restarts: usize| {
        let em = ConstrainedEm { start: from_labels(), restarts, ..ConstrainedEm::default() };
        let counted = Context::builder(SeedPath::new(1)).count_looks().build();
        (em.cluster(&p, &counted).unwrap(), counted.looks())
    };
    let ((one, looks_of_one), (many, looks_of_many)) = (looks(1), looks(70));
    assert_eq!(one, many);
    // Two waves: each runs the first of its starts.
    assert!(looks_of_many < 3 * looks_of_one + 70 * 20, "{looks_of_many} {looks_of_one}");
    let failed = Err(Error::Cancelled);
    let starts = [Ok(vec![0, 1]), failed, Ok(vec![1, 0]), Ok(vec![0, 1])];
    assert_eq!(twins(&starts), [0, 1, 2, 0]);
}

#[test]
fn one_component_has_a_closed_form() {
    // Mean 1, variance 2/3: −log N = ½ ln(2π · 2/3) + ½ on the mean.
    let p = problem(array![[0.0], [1.0], [2.0]], 1, &[Constraint::must(0, 2)]);
    for covariance in [Covariance::Full, Covariance::Diag, Covariance::Spherical, Covariance::Tied]
    {
        let c = run_of(&ConstrainedEm { covariance, ..ConstrainedEm::default() }, &p);
        let expected = 0.5 * (std::f64::consts::TAU * 2.0 / 3.0).ln() + 0.5;
        assert!((c.objective.unwrap() - expected).abs() < 1e-12, "{covariance:?}");
        assert_eq!(c.extras.centers, Some(array![[1.0]]));
    }
}

#[test]
fn contradictions_and_too_few_clusters_are_named() {
    let x = Array2::from_shape_fn((5, 1), |(i, _)| i as f64);
    let triangle = [(0, 1), (1, 2), (0, 2)].map(|(i, j)| Constraint::cannot(i, j));
    let em = ConstrainedEm::default();
    let refused = em.cluster(&problem(x.clone(), 2, &triangle), &Context::new(1)).unwrap_err();
    assert!(matches!(
        refused,
        Error::InfeasibleConstraints { k: 2, witness: Infeasible::OddCycle(_) }
    ));
    let chain = [Constraint::must(0, 1), Constraint::must(1, 2), Constraint::cannot(0, 2)];
    let refused = em.cluster(&problem(x.clone(), 2, &chain), &Context::new(1)).unwrap_err();
    assert!(matches!(refused, Error::InconsistentConstraints(_)));
    let flat = problem(Array2::from_shape_fn((5, 2), |(i, j)| (i * (1 - j)) as f64), 2, &[]);
    let singular = ConstrainedEm { reg_covar: 0.0, ..em };
    let refused = singular.cluster(&flat, &Context::new(1)).unwrap_err();
    assert!(matches!(refused, Error::NumericalFailure { .. }), "{refused}");
}

#[test]
fn density_zero_is_named() {
    let p = problem(array![[0.0], [1.0], [5.0]], 2, &[Constraint::must(1, 2)]);
    let em = ConstrainedEm::default();
    let model = Model::new(&em, &p, 2, &Context::new(1)).unwrap();
    let mut densities = Array2::zeros((3, 2));
    densities.row_mut(2).fill(f64::NEG_INFINITY);
    let refused = model.potentials(&densities, &Array1::zeros(2)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "numerical failure in constrained_em: the density of object 1 or of those linked to it is 0"
    );
}

#[test]
fn hard_and_soft_marks_are_both_kept() {
    let (p, _) = fixtures::dense(1);
    let hard = Constraint { strength: Some(Strength::Hard), ..Constraint::must(0, 1) };
    let soft = Constraint { strength: Some(Strength::Soft), ..Constraint::cannot(0, 2) };
    let p = p.with_constraints(Constraints::new(45, [hard, soft]).unwrap());
    let start: Option<Box<dyn BaseClusterer>> = Some(Box::new(PckMeans::default()));
    let ctx = Context::new(1);
    let c = ConstrainedEm { start, ..ConstrainedEm::default() }.cluster(&p, &ctx).unwrap();
    assert_eq!(p.constraints.violations(&c.labels).total(), 0);
    let warning = "constrained_em: 1 constraint marked soft is enforced as if hard";
    assert_eq!(ctx.warnings(), [warning]);
}

/// Mean negative log-likelihood of a mixture of objects alone, the slow road.
fn plain_likelihood(x: &Array2<f64>, c: &Clustering, mixing: &[f64]) -> f64 {
    let means = c.extras.centers.as_ref().unwrap();
    let weights = c.extras.weights.as_ref().unwrap();
    let log = |i: usize| {
        let parts = (0..c.k).map(|h| {
            let normal = (0..x.ncols()).map(|s| {
                let z = x[[i, s]] - means[[h, s]];
                let w = weights[[h, s]];
                (w / std::f64::consts::TAU).sqrt() * (-0.5 * w * z * z).exp()
            });
            mixing[h] * normal.product::<f64>()
        });
        parts.sum::<f64>().ln()
    };
    -(0..x.nrows()).map(log).sum::<f64>() / x.nrows() as f64
}

fn draw(seed: u64, pairs: usize, per: usize) -> Problem {
    let (x, classes) = fixtures::groups(per, 2, 1.6, seed);
    let constraints = fixtures::true_constraints(&classes, pairs, seed);
    Problem::new(Data::dense(x).unwrap()).with_k(3).with_constraints(constraints)
}

fn options() -> impl Strategy<Value = ConstrainedEm> {
    let covariance = prop_oneof![
        Just(Covariance::Full),
        Just(Covariance::Diag),
        Just(Covariance::Spherical),
        Just(Covariance::Tied)
    ];
    let assumption = prop_oneof![Just(Assumption::ChunkletIid), Just(Assumption::PointIid)];
    let mixing = prop_oneof![Just(Mixing::IgnorePartition), Just(Mixing::Gradient)];
    (covariance, assumption, mixing).prop_map(|(covariance, assumption, mixing)| ConstrainedEm {
        covariance,
        assumption,
        mixing,
        restarts: 1,
        max_iterations: 12,
        tolerance: 0.0,
        ..ConstrainedEm::default()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// The likelihood never falls while nothing is approximated, and every constraint holds.
    #[test]
    fn likelihood_never_falls(em in options(), seed in 0u64..500, pairs in 0usize..18) {
        let p = draw(seed, pairs, 10);
        let c = run_of(&em, &p);
        prop_assert_eq!(p.constraints.violations(&c.labels).total(), 0);
        prop_assert_eq!(c.extras.diagnostics["approximate_chunklets"], 0.0);
        for w in c.history.windows(2) {
            prop_assert!(w[1].objective <= w[0].objective + 1e-9, "{:?}", c.history);
        }
    }

    /// Entangled cannot-links are approximated, and still hold.
    #[test]
    fn approximate_labels_hold(seed in 0u64..500, pairs in 20usize..60) {
        let p = draw(seed, pairs, 8);
        let em = ConstrainedEm { max_width: 0, restarts: 1, max_iterations: 5, ..ConstrainedEm::default() };
        let c = run_of(&em, &p);
        prop_assert_eq!(p.constraints.violations(&c.labels).total(), 0);
    }

    /// Without constraints it is the mixture of Gaussians, whatever is assumed of chunklets.
    #[test]
    fn without_constraints_it_is_standard(em in options(), seed in 0u64..500) {
        let p = draw(seed, 0, 10);
        let em = ConstrainedEm { covariance: Covariance::Diag, max_iterations: 200, tolerance: 1e-12, ..em };
        let c = run_of(&em, &p);
        let memberships = c.extras.memberships.as_ref().unwrap();
        let mixing = memberships.mean_axis(Axis(0)).unwrap().to_vec();
        let slow = plain_likelihood(&p.data.to_dense(), &c, &mixing);
        prop_assert!((slow - c.objective.unwrap()).abs() < 1e-4, "{slow} {:?}", c.objective);
        let plain = ConstrainedEm { assumption: Assumption::ChunkletIid, mixing: Mixing::IgnorePartition, ..em };
        let same = run_of(&plain, &p);
        prop_assert!((same.objective.unwrap() - c.objective.unwrap()).abs() < 1e-3);
    }

    /// Copies of an object, linked, pull a mean as that many objects do.
    #[test]
    fn copies_count(seed in 0u64..500, copies in 2usize..5) {
        let (x, _) = fixtures::groups(6, 2, 0.6, seed);
        let mut rows = x.clone();
        for _ in 1..copies {
            rows.push_row(x.row(0)).unwrap();
        }
        let links: Vec<Constraint> = (18..17 + copies).map(|j| Constraint::must(0, j)).collect();
        let labels: Vec<u32> = (0..17 + copies).map(|i| if i < 18 { i as u32 % 3 } else { 0 }).collect();
        let p = problem(rows.clone(), 3, &links).with_start(Start::Labels(labels));
        let em = ConstrainedEm { start: from_labels(), restarts: 1, max_iterations: 1, ..ConstrainedEm::default() };
        let c = run_of(&em, &p);
        let first = KMeans { init: Init::Given, max_iterations: 1, ..KMeans::default() }
            .cluster(&p, &Context::new(1)).unwrap().labels;
        let own: Vec<usize> = (0..rows.nrows()).filter(|&i| first[i] == first[0]).collect();
        let expected = rows.select(Axis(0), &own).mean_axis(Axis(0)).unwrap();
        let mean = c.extras.centers.unwrap().row(first[0] as usize).to_owned();
        prop_assert!((mean - expected).iter().all(|v| v.abs() < 1e-9));
    }
}

/// scikit-learn 1.9: `GaussianMixture(3, covariance_type=…, tol=1e-12, reg_covar=0)` with the
/// responsibilities `i % 3` to begin with; −`score(X)`.
#[test]
fn equals_scikit_learn() {
    let x = Array2::from_shape_fn((30, 2), |(i, j)| {
        ((i % 3) * 4) as f64 + ((7 * i * i + 3 * i * j + 5 * j) % 23) as f64 / 8.0
    });
    let labels = (0..30).map(|i| i % 3).collect();
    let p = problem(x, 3, &[]).with_start(Start::Labels(labels));
    for (covariance, expected) in [
        (Covariance::Full, 3.2761666659),
        (Covariance::Diag, 3.3762049288),
        (Covariance::Spherical, 3.3978083102),
        (Covariance::Tied, 3.3862044105),
    ] {
        let (start, tolerance) = (from_labels(), 1e-12);
        let em = ConstrainedEm { covariance, start, tolerance, ..ConstrainedEm::default() };
        let found = run_of(&em, &p).objective.unwrap();
        assert!((found - expected).abs() < 1e-8, "{covariance:?}: {found} {expected}");
    }
}
