//! What is said of constraints, features and the number of clusters, before a method runs and after?

use mustlink_core::clustering::Clustering;
use mustlink_core::method::Method;
use mustlink_core::roles::{BaseClusterer, RoleObject};
use mustlink_core::{Data, DataKind};
use serde_json::Value;

/// What is said of `given` constraints where nothing of the method reads them.
pub fn unread(method: &Method, given: usize) -> Option<String> {
    let unread = method.unread_by().filter(|_| given > 0)?;
    Some(format!(
        "{unread} reads no constraints: the {given} given ones change nothing; pck_means, \
         mpck_means and cop_kmeans are among those that do"
    ))
}

/// What is said where one of several features has nearly all of the variance and nothing changes that: the
/// distances are those of this feature alone.
pub fn one_feature(method: &Method, data: &Data, names: &[String]) -> Option<String> {
    let tries_scales = |c: &dyn BaseClusterer| c.typetag_name() == "auto";
    let scaled =
        !method.transforms.is_empty() || method.clusterer.as_deref().is_some_and(tries_scales);
    if scaled || data.kind() != DataKind::Dense || data.d() < 2 {
        return None;
    }
    let (n, d) = (data.n() as f64, data.d());
    let mut means = vec![0.0; d];
    (0..data.n()).for_each(|i| data.row(i).add_to(&mut means, 1.0 / n));
    let mut squares = vec![0.0; d];
    let mut row = vec![0.0; d];
    for i in 0..data.n() {
        row.fill(0.0);
        data.row(i).add_to(&mut row, 1.0);
        for (sum, (x, mean)) in squares.iter_mut().zip(row.iter().zip(&means)) {
            *sum += (x - mean) * (x - mean);
        }
    }
    let all: f64 = squares.iter().sum();
    let at = (0..d).max_by(|&a, &b| squares[a].total_cmp(&squares[b]))?;
    let share = squares[at] / all;
    (share > 0.99).then(|| {
        let name = names.get(at).cloned().unwrap_or_else(|| format!("feature {at}"));
        format!(
            "{name} has {:.1} % of the variance: distances are its alone; --set 'transforms=[\"z_score\"]' \
             brings all features to one scale",
            100.0 * share
        )
    })
}

/// What is said where an oracle that is to leave some questions unanswered leaves none, as where it is only named.
pub fn never_unsure(method: &Method) -> Option<String> {
    let mut oracle = method.oracle.as_ref()?.to_value();
    while !oracle.is_null() {
        let none = |share: &str| oracle[share].as_f64() == Some(0.0);
        if oracle["type"] == "dont_know" && none("rate") && none("by_object") {
            let said = "the oracle dont_know leaves no question unanswered: its rate and its by_object are 0";
            return Some(said.into());
        }
        oracle = oracle.get_mut("source").map(Value::take).unwrap_or_default();
    }
    None
}

/// What is said where the result has not as many clusters as were asked for; `name` grouped the objects.
pub fn other_k(
    method: &Method,
    name: &str,
    asked: Option<usize>,
    clustering: &Clustering,
) -> Option<String> {
    let found = clustering.sizes().iter().filter(|&&size| size > 0).count();
    let k = asked.filter(|&k| k != found)?;
    // The k of a clusterer is asked for before that of the problem, and then it needs no other.
    let own = method.clusterer.as_ref().and_then(|c| c.to_value()["k"].as_u64());
    let own = own.map(|own| own as usize);
    let needs = own == Some(k) || method.clusterer.as_ref().is_some_and(|c| c.properties().needs_k);
    if let Some(own) = own.filter(|&own| own != k) {
        return Some(format!(
            "k = {k} was asked for, and {name} made {found} clusters: its option k = {own} comes first"
        ));
    }
    Some(if needs && found < k {
        format!("k = {k} was asked for, and {name} leaves {} clusters empty", k - found)
    } else if needs {
        format!("k = {k} was asked for, and {name} made {found} clusters")
    } else {
        format!(
            "k = {k} was asked for, and {name}, which finds their number, made {found} clusters"
        )
    })
}
