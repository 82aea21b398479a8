//! Labels of HDBSCAN compared with `sklearn.cluster.HDBSCAN` (1.9). Letters are in order of first appearance, and `.`
//! is noise. scikit-learn cuts equal edges one after the other, in the order of the objects: `?` marks objects for
//! which 40 orders of the objects did not all give the same label.

use mustlink_base_clusterers::fosc::{Fosc, Hierarchy};
use mustlink_base_clusterers::hdbscan::Hdbscan;
use mustlink_base_clusterers::{ClusterSelection, Extraction};
use mustlink_core::clustering::canonical;
use mustlink_core::prelude::*;
use mustlink_core::run;
use mustlink_kernels::noise::Noise;
use mustlink_laws::fixtures;
use ndarray::Array2;
use proptest::prelude::*;

/// A data set, and for `min_cluster_size`, `min_samples`, whether leaves are taken, and ε̂ the labels.
type Cases = (&'static str, &'static [(usize, usize, bool, f64, &'static str)]);

const CASES: [Cases; 5] = [
    (
        "iris",
        &[
            (
                5,
                5,
                false,
                0.0,
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\
                bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
            ),
            (
                5,
                5,
                true,
                0.0,
                "ab.ba..a.b..b....a.?.....baaabb...b..b.aa......baa.cc.cd..c..d...c.d.d....?cc.d.\
                d.de..c.dd.dd.dddd.d.e.ff......ff..ff...f..ef.eef.........eff.efff?f.e",
            ),
            (
                15,
                5,
                true,
                0.0,
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.bb.bb..b..b...bbb.bcbc.bbb?b.\
                b.bc..b.bb.bb.bbbb.b.c.cc......cc..cc...c..cc.ccc.........ccc.cccccc.c",
            ),
            (
                4,
                3,
                true,
                0.0,
                "ab.ba..a.b.?b....a.......baaabb...b..bbaa.b..b.baaccc.c..dc.d?.e.c...fg?.ecc..e.\
                ffh...c.hf.ehdhhhcdh.i.jj.......ki..j...ki.gk.ggj...j....jg?k.ikkj.j.g",
            ),
            (
                4,
                3,
                true,
                0.4,
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaabbbbbbbcb.cb.b.bbb.bdbdbbbbbb.\
                bbbdb.b.bbbbbcbbbbcb.dddd.....dddd.dd...dd.dddddd...dd..dddddddddddddd",
            ),
        ],
    ),
    (
        "plane",
        &[
            (
                5,
                5,
                false,
                0.0,
                "abcbabc.abc.abcbabcbabc.abc.abc.abcbabc.abccabcaabcbabccabcbabc?abccabc?abc.abcc\
                abcbabc.abc.abccabc.abc.abc.abccabc.abcc",
            ),
            (
                5,
                2,
                false,
                0.0,
                "abcbabccabc.abcbabcbabc.abc.abc.abccabccabccabcaabcbabccabcbabccabccabccabc.abcc\
                abcbabc.abccabccabccabc.abccabccabc.abcc",
            ),
            (
                4,
                1,
                false,
                0.0,
                "abcbabccabc.abcbabcbabc.abc.abc.abccabccabccabcaabcbabccabcbabccabccabccabc.abcc\
                abcbabc.abccabccabccabc.abccabccabc.abcc",
            ),
            (
                8,
                4,
                false,
                0.0,
                "abcbabc.abc.abcbabcbabc.abc.abc.abcbabc.abccabcaabcbabccabcbabc?abccabc?abc.abcc\
                abcbabc.abccabccabc.abc.abc.abc.abc.abcc",
            ),
            (
                3,
                6,
                false,
                0.0,
                "abcbabc.abc.abcbabcbabc.abc.abc.abc?abc.abccabcaabcbabccabcbabc.abccabc.abc.abcc\
                abcbabc.abc?abccabc.abc.abc.abccabc.abcc",
            ),
            (
                3,
                3,
                true,
                0.7,
                "abcbabc?abcdabcbabcbabcdabc.abc.abc?abc.abccabcaabcbabccabcbabc?abccabccabc.abcc\
                abcbabcdabccabccabccabc.abc.abc.abc.abcc",
            ),
        ],
    ),
    (
        "space",
        &[
            (
                5,
                5,
                false,
                0.0,
                "abccabc.abc.abc.abccabc.abc.abc.abcbabcaabc.abcbabcaabcbabc.abc.abcbabcbabc.abc?\
                abcbabcbabcbabc.abc.abcbabc.abc.abcbabc.abcbabcaabc.abcbabc.abc.abc.abc.abc.abc.",
            ),
            (
                5,
                2,
                false,
                0.0,
                "abccabcdabcbabcbabccabcbabcaabcdabcbabcaabcaabcbabcaabcbabcdabc.abcbabcbabcaabca\
                abcbabcbabcbabcdabc.abcbabcdabcbabcbabcbabcbabcaabcaabcbabc.abc.abc.abc.abcbabc.",
            ),
            (
                4,
                1,
                false,
                0.0,
                "abccabcdabcbabcbabccabcbabcaabcdabcbabcaabcaabcbabcaabcbabcdabc.abcbabcbabceabce\
                abcbabcbabcbabcdabc.abcbabcdabcbabcbabcbabcbabceabceabcbabc.abc.abc.abc.abcbabc.",
            ),
            (
                8,
                4,
                false,
                0.0,
                "abccabc.abc.abc.abccabc.abc.abc.abcbabcaabcaabcbabcaabcbabc.abc.abcbabcbabc.abca\
                abcbabcbabcbabc.abc.abcbabc.abc.abcbabc.abcbabcaabcaabcbabc.abc.abc.abc.abc.abc.",
            ),
            (
                5,
                5,
                true,
                0.0,
                "a...a...a...a.b.acb.adb.adb.a.b.a?b.a.baac..acb.a..aacb.a.b.a.b.a.b.ade.acb.a.b?\
                a.e.a?e.ac.ca.b.a.b.ac..a...ac..ace.adb.ad..acbaa.b.a...a...a.e.a...ac..a...acb.",
            ),
            (
                3,
                3,
                true,
                0.7,
                "a.bbacbda.b.aeb.afbbagb.agb.agbdahb.aeb?aebaafb.a.baafbiacbda?b.aeb.agb.ahb?a.b?\
                agb.agb.aebfaebdaib.afb.acbdafb.afb.agbkagb.ahb?a.b?afbkaib.a.b.a.b.aeb.a.bkaeb.",
            ),
        ],
    ),
    (
        "many features",
        &[
            (
                5,
                5,
                false,
                0.0,
                "abc.abc.abc.abccabc.abc.abc.abc.abc.abc.abccabcaabc?abc.abc.abc.abc.abc.abc.abcc\
                abc.abc.abc.abc.abca",
            ),
            (
                5,
                2,
                false,
                0.0,
                "abc.abc.abc.abcbabc.abc.abc.abc.abcaabcbabccabcaabcbabc.abc.abc.abc.abccabc.abcc\
                abc.abcaabc.abc.abca",
            ),
            (
                4,
                1,
                false,
                0.0,
                "abc.abc.abc.abcbabcdabcdabc.abc.abcaabcbabccabcaabcbabc.abc.abc.abcdabccabc.abcc\
                abc.abcaabcdabc.abca",
            ),
            (
                8,
                4,
                false,
                0.0,
                "abc.abc.abc.abccabc.abc.abc.abc.abc.abc.abccabcaabc?abc.abc.abc.abc.abc.abc.abcc\
                abc.abc.abc.abc.abca",
            ),
            (
                5,
                5,
                true,
                0.0,
                "abc.abc.abc.abccabc.abc.abc.abc.abc.abc.abccabcaabc?abc.abc.abc.abc.abc.abc.abcc\
                abc.abc.abc.abc.abca",
            ),
        ],
    ),
    (
        "grid",
        &[
            (
                5,
                5,
                false,
                0.0,
                "abc.adc.a.cbabc?adc.adc?a.?.a.c.adc.adc.abc?abc?abcca.ccadc.adc?abc?a.c?abc?abc.\
                adc.adc.a.caadc.ad?.adcaadcda.c.abcbad??abc.adcdabc.adcbadc.adc?a.c.ad",
            ),
            (
                8,
                4,
                false,
                0.0,
                "abc.adc.a.cbabcbadc.adc?a.c.a?c.adc.adc.abc?abc?abcca.ccadc.adc?abc?a?c?abc?abc.\
                adc.adc.a.caadc.adc.adcaadcdadc.abcbadc?abc.adcdabc.adcbadc.adc?a?c.ad",
            ),
            (
                3,
                3,
                true,
                0.7,
                "abc?adc.aecbabcbadcfadc?a.c.aecfadchadc.abc?abc?abccaeccadcfadc?abc?a.c?abc?abc.\
                adc?adc.aicaadchadciadcaadcdadc?abcbadc?abc.adcdabc.adcbaichadc?a?chad",
            ),
        ],
    ),
];

/// Four groups about different centres, as wide as 1, 2, ½ and 6, of sums of three numbers of Knuth's
/// congruential generator.
fn drawn(n: usize, d: usize, seed: u64) -> Array2<f64> {
    let mut state = seed;
    let mut draw = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / 2_147_483_648.0
    };
    let mut x = Array2::zeros((n, d));
    for ((i, f), to) in x.indexed_iter_mut() {
        let w = draw() + draw() + draw() - 1.5;
        let centre = if f % 3 == i % 4 { 5.0 } else { 0.0 };
        *to = centre + [1.0, 2.0, 0.5, 6.0][i % 4] * w;
    }
    x
}

fn data(name: &str) -> Data {
    let x = match name {
        "plane" => drawn(120, 2, 1),
        "space" => drawn(160, 3, 2),
        "many features" => drawn(100, 20, 3),
        "grid" => drawn(150, 2, 4).mapv(|v| (2.0 * v).round() / 2.0),
        _ => return mustlink_datasets::open(name, &Default::default()).unwrap().data,
    };
    Data::dense(x).unwrap()
}

fn cluster(method: &dyn BaseClusterer, problem: &Problem) -> Clustering {
    run::cluster(method, problem, &Context::new(1)).unwrap().clustering
}

#[test]
fn labels_are_those_of_scikit_learn() {
    for (name, cases) in CASES {
        let problem = Problem::new(data(name));
        for &(min_cluster_size, min_samples, leaf, epsilon, expected) in cases {
            let selection =
                if leaf { ClusterSelection::Leaf } else { ClusterSelection::ExcessOfMass };
            let noise = Noise::OneCluster;
            let extraction =
                Extraction { min_cluster_size, selection, epsilon, noise, ..Extraction::default() };
            let hdbscan =
                Hdbscan { min_samples: Some(min_samples), extraction: extraction.clone() };
            let c = cluster(&hdbscan, &problem);
            let sure = || expected.bytes().enumerate().filter(|(_, label)| *label != b'?');
            let ours: Vec<u32> = sure().map(|(i, _)| c.labels[i]).collect();
            let theirs: Vec<u32> = sure().map(|(_, label)| u32::from(label)).collect();
            let place =
                format!("{name}, {min_cluster_size}, {min_samples}, {selection:?}, {epsilon}");
            assert_eq!(canonical(&ours), canonical(&theirs), "{place}");
            // One of the clusters, by the same objects, is the noise of both.
            let noise = expected.bytes().filter(|label| *label == b'.').count() as f64;
            let unsure = expected.len() - ours.len();
            let most = noise + unsure as f64;
            assert!((noise..=most).contains(&c.extras.diagnostics["noise_objects"]), "{place}");
            let fosc =
                Fosc { hierarchy: Hierarchy::Density, min_samples: Some(min_samples), extraction };
            assert_eq!(cluster(&fosc, &problem), c, "{place}");
        }
    }
}

proptest! {
    /// The order of the objects is nothing, however many distances are equal.
    #[test]
    fn the_order_of_objects_is_nothing(seed in 0u64..1000, round: bool, pairs in 0usize..30) {
        let x = drawn(90, 2, seed);
        let x = if round { x.mapv(|v| v.round()) } else { x };
        let classes: Vec<u32> = (0..90).map(|i| i % 4).collect();
        let given = fixtures::true_constraints(&classes, pairs, seed);
        let problem = Problem::new(Data::dense(x).unwrap()).with_constraints(given);
        let mut order: Vec<usize> = (0..90).collect();
        SeedPath::new(seed).stream("order").shuffle(&mut order);
        for hierarchy in [Hierarchy::Density, Hierarchy::Single] {
            let method = Fosc { hierarchy, ..Fosc::default() };
            let (one, other) = (cluster(&method, &problem), cluster(&method, &problem.subset(&order)));
            let moved: Vec<u32> = order.iter().map(|&i| one.labels[i]).collect();
            prop_assert_eq!(canonical(&moved), canonical(&other.labels));
        }
    }

    /// The diagnostic matches the labels, and no weight of stability keeps more constraints.
    #[test]
    fn satisfaction_is_that_of_the_labels(seed in 0u64..1000, pairs in 1usize..60) {
        let classes: Vec<u32> = (0..120).map(|i| i % 4).collect();
        let given = fixtures::with_groups(&fixtures::true_constraints(&classes, pairs, seed), &classes);
        let problem = Problem::new(Data::dense(drawn(120, 3, seed)).unwrap()).with_constraints(given);
        let of = |stability_weight: f64| {
            let extraction = Extraction { stability_weight, ..Extraction::default() };
            let c = cluster(&Hdbscan { extraction, ..Hdbscan::default() }, &problem);
            let broken = problem.constraints.violations(&c.labels).total() as f64;
            let kept = 1.0 - broken / problem.constraints.len() as f64;
            let said = |name: &str| c.extras.diagnostics[name];
            assert!((kept - said("satisfaction")).abs() < 1e-12);
            (kept, said("stability"))
        };
        let [constraints, both, stability] = [0.0, 0.5, 1.0].map(of);
        prop_assert!(constraints.0 >= both.0 - 1e-12 && both.0 >= stability.0 - 1e-12);
        prop_assert!(constraints.1 <= both.1 * (1.0 + 1e-12) && both.1 <= stability.1 * (1.0 + 1e-12));
    }
}
