//! The distortion that "auto" chose is the one that is named.

use mustlink as _;
use mustlink_core::method::Method;
use mustlink_core::prelude::*;
use mustlink_core::registry::{Catalogue, build_default};
use mustlink_core::role::Role;
use mustlink_datasets::{Classes, Dataset};
use mustlink_experiments::{Asked, Clustered, Single};
use ndarray::Array2;
use serde_json::{Value, json};

/// Two directions; two of the rows are much longer than the others.
fn rows() -> Array2<f64> {
    Array2::from_shape_fn((40, 4), |(i, s)| {
        let length = if i < 2 { 40.0 } else { 1.0 + 0.05 * i as f64 };
        match s {
            0 | 1 if s == i % 2 => length,
            0 | 1 => 0.0,
            _ => 0.1 * ((7 * i + 3 * s) % 5) as f64,
        }
    })
}

fn sparse(x: &Array2<f64>) -> Data {
    let mut csr = Csr { indptr: vec![0], indices: vec![], values: vec![], columns: x.ncols() };
    for row in x.rows() {
        for (s, &v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            csr.indices.push(s as u32);
            csr.values.push(v);
        }
        csr.indptr.push(csr.indices.len());
    }
    Data::csr(csr).unwrap()
}

/// The clustering of a method, and the pairs that it asked.
fn found(data: &Data, config: &Value) -> (Clustered, Vec<(u32, u32)>) {
    let classes = Classes::from_values((0..data.n()).map(|i| Some(["a", "b"][i % 2])));
    let set = Dataset { classes: Some(classes), ..Dataset::new("set", data.clone()) };
    let method: Method = serde_json::from_value(config.clone()).unwrap();
    let ctx = Single::context_of(&set, 1).build();
    let single = Single::new(set, method, Some(2), Constraints::default(), ctx).unwrap();
    let seen = single.seen().unwrap();
    let (oracle, ctx) = (build_default("truth").unwrap(), single.context().child("oracle"));
    let asked = Asked { oracle, ctx, budget: Some(6), ledger: None };
    let selection = single.select(&seen.problem, asked).unwrap();
    let pair = |event: &Event| match event {
        Event::Asked { subject, reference, .. } => Some((*subject, *reference)),
        _ => None,
    };
    let asked = selection.iter().flat_map(|s| &s.events).filter_map(pair).collect();
    (single.cluster(&seen, selection.as_ref()).unwrap(), asked)
}

/// The plugins of a role with this default, as configurations.
fn with_default(role: Role) -> Vec<Value> {
    let all = Catalogue::get().unwrap().role(role).map(|d| d.default_config());
    all.filter(|config| config["distortion"] == "auto").collect()
}

fn default_config(tag: &str) -> Value {
    Catalogue::get().unwrap().find(tag).unwrap().default_config()
}

#[test]
fn what_auto_chose_is_named() {
    let dense = Data::dense(rows()).unwrap();
    let (clusterers, selectors) =
        (with_default(Role::BaseClusterer), with_default(Role::QuerySelector));
    assert!(clusterers.len() >= 12 && selectors.len() >= 5, "{clusterers:?} {selectors:?}");
    let names = ["cosine", "squared_euclidean"];
    for (data, name) in [(sparse(&rows()), names[0]), (dense, names[1])] {
        let other = names.into_iter().find(|other| *other != name).unwrap();
        let mut differ = 0;
        for clusterer in &clusterers {
            let (auto, _) = found(&data, &json!({ "clusterer": clusterer }));
            let mut config = auto.named(&json!({ "clusterer": clusterer }));
            assert_eq!(config["clusterer"]["distortion"], name, "{clusterer}");
            let labels = |config: &Value| found(&data, config).0.run.clustering.labels;
            let own = auto.run.clustering.labels;
            assert_eq!(labels(&config), own, "{clusterer}");
            config["clusterer"]["distortion"] = other.into();
            differ += usize::from(labels(&config) != own);
        }
        assert!(2 * differ > clusterers.len(), "only {differ} of {}", clusterers.len());
        for selector in &selectors {
            let config = json!({ "selector": selector, "clusterer": default_config("pck_means") });
            let (auto, asked) = found(&data, &config);
            let config = auto.named(&config);
            assert_eq!(config["selector"]["distortion"], name, "{selector}");
            assert_eq!(found(&data, &config).1, asked, "{selector}");
        }
    }
}

#[test]
fn what_held_plugins_chose_is_named() {
    let kmeans = default_config("kmeans");
    let mut config = json!({ "clusterer": default_config("ensemble") });
    let generator = |config: &mut Value, tag: &str| {
        let mut generator = default_config(tag);
        generator["members"] = 4.into();
        generator["clusterer"] = kmeans.clone();
        config["clusterer"]["generator"] = generator;
    };
    // Mixtures of sparse rows are dense.
    for (tag, name) in [("subsample", "cosine"), ("random_projection", "squared_euclidean")] {
        generator(&mut config, tag);
        let (auto, _) = found(&sparse(&rows()), &config);
        let named = auto.named(&config);
        assert_eq!(named["clusterer"]["generator"]["clusterer"]["distortion"], name, "{tag}");
        let (same, _) = found(&sparse(&rows()), &named);
        assert_eq!(same.run.clustering.labels, auto.run.clustering.labels, "{tag}");
    }
}
