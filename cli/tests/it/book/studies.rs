//! The tables of the smaller studies of the atlas follow from their rows.

use std::collections::BTreeSet;

use super::atlas::{Means, hold, mean, means};
use super::chances::short;

/// A mean over all sets, `.xyz`; nothing where the study has no such method.
fn cell(all: &Means, method: &str) -> String {
    all.get(method).map_or(String::new(), |of| short(mean(of, None), 3))
}

/// True if every method of the study has a value on every set.
fn whole(all: &Means) -> bool {
    let sets: BTreeSet<&String> = all.values().flat_map(|of| of.keys()).collect();
    all.values().all(|of| of.len() == sets.len())
}

/// A table of the page: its heads, then a line per method, `(text, name in the study)`.
fn table(heads: &[&str], lines: &[(&str, &str)], cells: impl Fn(&str) -> Vec<String>) -> String {
    let mut table = format!("| {} |\n|{}\n", heads.join(" | "), "---|".repeat(heads.len()));
    for (text, method) in lines {
        table += &format!("| {text} | {} |\n", cells(method).join(" | "));
    }
    table
}

/// Holds a table of a study after 100 questions: the mean over its sets, and each set.
fn hold_by_set(title: &str, file: &str, sets: &[&str], lines: &[(&str, &str)]) {
    let all = means(file, "100");
    assert!(whole(&all));
    let heads: Vec<&str> = [title, "mean"].into_iter().chain(sets.iter().copied()).collect();
    let cells = |method: &str| {
        let each = sets.iter().map(|set| short(all[method][*set], 3).replace('-', "−"));
        [cell(&all, method)].into_iter().chain(each).collect()
    };
    hold(&format!("| {title} |"), &table(&heads, lines, cells));
}

#[test]
fn the_table_without_constraints_is_current() {
    let all = means("unconstrained.csv", "0");
    assert!(whole(&all));
    let lines = [
        ("**`auto`**", "auto"),
        ("`z_score`, `l2_rows` and `kmeans`", "z-l2-kmeans"),
        ("`z_score`, `l2_rows` and Ward's linkage", "z-l2-ward"),
        ("`z_score` and `gaussian_mixture`", "z-gmm"),
        ("`min_max` and `kmeans`", "min_max-kmeans"),
        ("`z_score` and `kmeans`", "z-kmeans"),
        ("`z_score` and Ward's linkage", "z-ward"),
        ("`z_score` and `lac`", "z-lac"),
        ("`kmeans` on data as read", "kmeans"),
        ("Ward's linkage on data as read", "ward"),
        ("`z_score` and complete linkage", "z-complete"),
        ("average linkage on data as read", "average"),
        ("`z_score` and average linkage", "z-average"),
    ];
    let cells = |method: &str| {
        let of = &all[method];
        let plain = &all["z-kmeans"];
        let worst = of.iter().map(|(set, ari)| ari - plain[set]).fold(f64::MAX, f64::min);
        let worst = format!("{worst:+.3}").replacen("0.", ".", 1).replace('-', "−");
        vec![cell(&all, method), worst]
    };
    let heads =
        ["no constraints at all", "ARI", "on its worst set, compared with `z_score` and `kmeans`"];
    hold("| no constraints at all |", &table(&heads, &lines, cells));
}

#[test]
fn the_table_of_labels_is_current() {
    let all = means("labels.csv", "105");
    assert!(whole(&all));
    let lines = [
        ("`auto`", "auto"),
        ("the candidate with the best score alone (`ties = 0.0`)", "best-score-alone"),
        ("`auto` with `hold_out = \"objects\"`", "auto-objects"),
        ("the candidate with the best score alone by folds of objects, as in CVCP", "cvcp-folds"),
        ("`z_score`, `itml` and `pck_means`", "z-itml-pck"),
        ("`z_score`, `itml` and Ward's linkage", "z-itml-ward"),
        ("`z_score` and `constrained_em` with a tied covariance", "z-em-tied"),
        ("`z_score` and `cosc`", "z-cosc"),
        ("`z_score` and `pck_means`", "z-pck"),
        ("`z_score` and `seeded_kmeans`", "z-seeded"),
        ("`z_score` and `constrained_kmeans`", "z-constrained"),
        ("`z_score` and `kmeans`", "z-kmeans"),
    ];
    let heads = ["who reads them", "classes of 15 objects", "105 random pairs"];
    let cells = |method: &str| vec![cell(&all, method), cell(&all, &format!("{method}/random"))];
    hold("| who reads them |", &table(&heads, &lines, cells));
}

#[test]
fn the_table_of_more_answers_is_current() {
    let (less, more) = (means("more-answers.csv", "100"), means("more-answers.csv", "200"));
    assert!(whole(&less) && whole(&more));
    let lines = [
        ("`auto`", "auto"),
        ("only the candidate with the best score (`ties = 0.0`)", "best-score-alone"),
        ("`z_score`, `itml` and `pck_means`", "z-itml-pck"),
        ("`z_score`, `itml` and Ward's linkage", "z-itml-ward"),
        ("`z_score` and `constrained_em` with a tied covariance", "z-em-tied"),
        ("`z_score` and `cosc`", "z-cosc"),
        ("`z_score` and `pck_means`", "z-pck"),
        ("`z_score` and `kmeans`", "z-kmeans"),
    ];
    let heads = [
        "answers",
        "100 correct",
        "200 correct",
        "100, one in twenty wrong",
        "200, one in twenty wrong",
    ];
    let cells = |method: &str| {
        let doubtful = format!("{method}/doubtful");
        let of = [(&less, method), (&more, method), (&less, &*doubtful), (&more, &*doubtful)];
        of.map(|(study, method)| cell(study, method)).to_vec()
    };
    hold("| answers |", &table(&heads, &lines, cells));
}

#[test]
fn the_table_of_unknown_numbers_is_current() {
    let studies = ["20", "50", "100"].map(|q| means("unknown-k.csv", q));
    assert!(studies.iter().all(whole));
    let lines = [
        ("`auto`", "auto"),
        ("`z_score` and `cobras`, which asks", "z-cobras"),
        ("`z_score` and `cobra` with 25 super-instances, which asks", "z-cobra"),
        ("`z_score` and `hdbscan`", "z-hdbscan"),
        ("`z_score`, `itml` and `hdbscan`", "z-itml-hdbscan"),
        ("`z_score` and `fosc`", "z-fosc"),
        ("`z_score`, `itml` and `fosc`", "z-itml-fosc"),
        ("k known: `auto`", "auto/known"),
        ("k known: `z_score`, `itml` and `pck_means`", "z-itml-pck/known"),
    ];
    let cells = |method: &str| studies.each_ref().map(|all| cell(all, method)).to_vec();
    hold("| k unknown |", &table(&["k unknown", "20", "50", "100"], &lines, cells));
}

#[test]
fn the_table_of_text_is_current() {
    let studies = ["20", "50", "100"].map(|q| means("text.csv", q));
    assert!(studies.iter().all(whole));
    let sets = ["cstr", "classic3_400", "news-sim3", "bbc", "reuters5"];
    let lines = [
        ("**`auto`**", "auto"),
        ("the candidate with the best score alone (`ties = 0.0`)", "best-score-alone"),
        ("`kmeans` by cosine", "kmeans"),
        ("`tf_idf` and `kmeans` by cosine", "w-kmeans"),
        ("`lsi` and `kmeans`", "lsi-kmeans"),
        ("`lsi`, `l2_rows` and `kmeans`", "lsi-l2-kmeans"),
        ("`lsi`, `l2_rows` and `gaussian_mixture`", "lsi-l2-gmm"),
        ("`pck_means` by cosine", "pck"),
        ("`tf_idf` and `pck_means` by cosine", "w-pck"),
        ("`lsi`, `l2_rows` and `pck_means`", "lsi-l2-pck"),
        ("`lsi`, `l2_rows` and `mpck_means`", "lsi-l2-mpck"),
        ("`lsi`, `l2_rows`, `itml` and `pck_means`", "lsi-l2-itml-pck"),
        ("`tf_idf` and `cosc` by cosine", "w-cosc"),
    ];
    let named = sets.map(|set| format!("{set}, 100"));
    let heads: Vec<&str> =
        ["term vectors", "20", "50", "100"].into_iter().chain(named.iter().map(|s| &**s)).collect();
    let cells = |method: &str| {
        let means = studies.iter().map(|all| cell(all, method));
        means.chain(sets.map(|set| short(studies[2][method][set], 3))).collect()
    };
    hold("| term vectors |", &table(&heads, &lines, cells));
}

#[test]
fn the_table_of_larger_sets_is_current() {
    let sets =
        ["optdigits389", "segmentation", "pendigits389", "spambase", "optdigits", "pendigits"];
    let lines = [
        ("`auto`", "auto"),
        ("`z_score`, `itml` and Ward's linkage", "z-itml-ward"),
        ("`z_score`, `itml` and `pck_means`", "z-itml-pck"),
        ("`z_score` and `cosc`", "z-cosc"),
        ("`z_score` and `pck_means`", "z-pck"),
        ("`z_score` and `constrained_em` with a tied covariance", "z-em-tied"),
        ("`z_score` and `kmeans`", "z-kmeans"),
    ];
    hold_by_set("larger sets", "larger.csv", &sets, &lines);
}

#[test]
fn the_table_of_pixels_is_current() {
    let sets = ["faces_identity", "faces_pose", "faces_eyes", "faces_expression", "usps"];
    let lines = [
        ("`auto`", "auto"),
        ("`itml` and `pck_means`", "itml-pck"),
        ("`z_score`, `itml` and `pck_means`", "z-itml-pck"),
        ("`itml` and Ward's linkage", "itml-ward"),
        ("`z_score`, `itml` and Ward's linkage", "z-itml-ward"),
        ("`constrained_em` with a tied covariance", "em-tied"),
        ("`cosc`", "cosc"),
        ("`pck_means`", "pck"),
        ("`z_score` and `pck_means`", "z-pck"),
        ("`kmeans`", "kmeans"),
    ];
    hold_by_set("pixels", "pixels.csv", &sets, &lines);
}

#[test]
fn the_table_of_other_clusterers_is_current() {
    let studies = ["20", "50", "100"].map(|q| means("clusterers.csv", q));
    assert!(studies.iter().all(whole));
    let lines = [
        ("`z_score`, `itml` and `pccc`", "z-itml-pccc"),
        ("`z_score`, `itml` and `cop_kmeans`", "z-itml-cop"),
        ("`z_score`, `itml` and `lcvqe`", "z-itml-lcvqe"),
        ("`z_score`, `rca` and `pck_means`", "z-rca-pck"),
        ("`z_score` and `gpk_means`", "z-gpk"),
        ("`z_score` and `pccc`", "z-pccc"),
        ("`z_score` and `cop_kmeans`", "z-cop"),
        ("`z_score` and `lcvqe`", "z-lcvqe"),
        ("`z_score` and `clac`", "z-clac"),
        ("`z_score` and `scop_kmeans`", "z-scop"),
        ("`z_score` and `hmrf_kmeans`", "z-hmrf"),
        ("`z_score` and `ss_kernel_kmeans`", "z-ss-kernel"),
        ("`z_score` and `seeded_kmeans`", "z-seeded"),
        ("`z_score` and `constrained_kmeans`", "z-constrained"),
        ("`z_score` and `penta_training`", "z-penta"),
        ("`z_score` and `constrained_spectral`", "z-spectral"),
        ("`z_score`, `itml` and `constrained_spectral`", "z-itml-spectral"),
        ("`z_score` and `fosc`, k unknown", "z-fosc"),
        ("`z_score` and `ssdbscan`, k unknown", "z-ssdbscan"),
        ("`z_score` and `hdbscan`, k unknown", "z-hdbscan"),
        ("`correlation_clustering`, k unknown", "correlation"),
        ("no constraints: `z_score` and `kmeans`", "z-kmeans"),
        ("no constraints: `z_score` and `size_constrained_kmeans`", "z-size"),
        ("no constraints: `z_score` and `mini_batch_kmeans`", "z-mini-batch"),
        ("no constraints: `z_score` and `spectral`", "z-ng"),
        ("no constraints, k unknown: `z_score` and `plscan`", "z-plscan"),
        ("no constraints, k unknown: `z_score` and `dbscan`", "z-dbscan"),
        ("no constraints, k unknown: `z_score` and `optics`", "z-optics"),
    ];
    let cells = |method: &str| studies.each_ref().map(|all| cell(all, method)).to_vec();
    hold("| other clusterers |", &table(&["other clusterers", "20", "50", "100"], &lines, cells));
}

#[test]
fn the_tables_of_ensembles_are_current() {
    let generators = [
        "random_init",
        "random_k",
        "subsample",
        "bootstrap",
        "feature_subspace",
        "random_projection",
        "heterogeneous",
    ];
    let functions = [
        "best_member",
        "connected_triples",
        "cspa",
        "evidence_accumulation",
        "hbgf",
        "hgpa",
        "kcc",
        "lwea",
        "lwgp",
        "mcla",
        "nmf",
        "supra",
        "voting",
        "wbpa",
    ];
    let named: Vec<String> = generators.iter().map(|g| format!("`{g}`")).collect();
    let lines = functions.map(|f| (format!("`{f}`"), f));
    let lines: Vec<(&str, &str)> = lines.iter().map(|(text, f)| (&**text, *f)).collect();
    for (questions, title) in [("0", "no constraints"), ("100", "100 random pairs")] {
        let mut all = means("consensus.csv", questions);
        all.extend(means("consensus-more.csv", questions));
        assert!(whole(&all));
        let heads: Vec<&str> = [title].into_iter().chain(named.iter().map(|g| &**g)).collect();
        let cells = |f: &str| generators.iter().map(|g| cell(&all, &format!("{g}/{f}"))).collect();
        hold(&format!("| {title} |"), &table(&heads, &lines, cells));
    }
    let all = means("consensus.csv", "100");
    let functions = ["best_member", "evidence_accumulation", "hbgf", "voting"];
    let heads = ["members", "`best_member`", "`evidence_accumulation`", "`hbgf`", "`voting`"];
    let lines = [
        ("`kmeans`", "random_init"),
        ("`pck_means`, which reads the pairs", "pck_means"),
        ("`pck_means` after `itml`, which read them", "itml-pck_means"),
    ];
    let cells = |g: &str| functions.iter().map(|f| cell(&all, &format!("{g}/{f}"))).collect();
    hold("| members |", &table(&heads, &lines, cells));
}
