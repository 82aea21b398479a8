//! What is said of constraints, features and the number of clusters, before a method runs and after?

use std::collections::BTreeMap;

use mustlink_core::DataKind;
use mustlink_core::clustering::{Clustering, NONE};
use mustlink_core::ensemble::Ensemble;
use mustlink_core::features::Features;
use mustlink_core::method::Method;
use mustlink_core::roles::RoleObject;
use mustlink_core::text::count;
use serde_json::Value;

use crate::single::Single;

/// A warning about objects that are in no member of an ensemble.
pub fn in_no_partition(ensemble: &Ensemble, id: &dyn Fn(usize) -> String) -> Option<String> {
    let nowhere = |&i: &usize| ensemble.members().iter().all(|m| m.labels[i] == NONE);
    let nowhere: Vec<usize> = (0..ensemble.n()).filter(nowhere).collect();
    let first = id(*nowhere.first()?);
    let others = match nowhere.len() {
        1 => format!("object {first} is"),
        many => format!("{many} objects, the first {first}, are"),
    };
    Some(format!("{others} in no partition: nothing but chance puts such an object anywhere"))
}

/// What is said of `given` constraints where nothing of the method reads them.
pub fn unread(method: &Method, given: usize) -> Option<String> {
    let unread = method.unread_by().filter(|_| given > 0)?;
    Some(format!(
        "{unread} reads no constraints: the {given} given ones change nothing; pck_means, \
         mpck_means and cop_kmeans are among those that do"
    ))
}

/// A warning about data whose distances are not what the user may expect, where the method takes them as they
/// are: rows that look like features, more features than objects, or few features that make nearly all
/// distances. A column of words counts as one feature.
///
/// The limits are those of data sets at hand: where at most a quarter of the features have nine tenths of the
/// variance, standard scores raised the ARI of k-means by .18 to .68 on 8 of 10 sets and lowered it once
/// (by .05); on the other 18 sets they changed it by -.12 to +.12.
pub fn scales(single: &Single) -> Option<String> {
    const AS_GIVEN: [&str; 3] = ["deduplicate", "impute_missing", "one_hot"];
    let steps: Vec<_> = single.method.transforms.iter().map(|t| t.typetag_name()).collect();
    if !steps.iter().all(|step| AS_GIVEN.contains(step)) {
        return None;
    }
    // An error of a transform is reported by the run itself.
    let seen = single.seen().ok()?;
    let (data, features) = (&seen.problem.data, &seen.lineage.features);
    let (n, d) = (data.n(), data.d());
    if data.kind() != DataKind::Dense || d < 2 || n < 2 {
        return None;
    }
    let remedy = |last: &str| {
        let quoted = steps.iter().map(|step| format!("\"{step}\",")).collect::<String>();
        format!("--set 'transforms=[{quoted}{last}]'")
    };
    let mut means = vec![0.0; d];
    (0..n).for_each(|i| data.row(i).add_to(&mut means, 1.0 / n as f64));
    let (mut squares, mut of_row_means) = (vec![0.0; d], 0.0);
    let mut row = vec![0.0; d];
    for i in 0..n {
        row.fill(0.0);
        data.row(i).add_to(&mut row, 1.0);
        row.iter_mut().zip(&means).for_each(|(x, mean)| *x -= mean);
        squares.iter_mut().zip(&row).for_each(|(sum, x)| *sum += x * x);
        of_row_means += row.iter().sum::<f64>().powi(2) / d as f64;
    }
    let all: f64 = squares.iter().sum();
    if d >= MANY_FEATURES && of_row_means > 0.7 * all {
        return Some(format!(
            "the {d} columns rise and fall together, as if rows were features and columns objects. If so, \
             transpose the table"
        ));
    }
    if d >= MANY_FEATURES && d > n {
        return Some(format!(
            "{d} features for {n} objects are too many for distances to tell much. Reduce them with {}",
            remedy("\"z_score\",{type=\"pca\",components=20}")
        ));
    }
    if single.method.clusterer.as_ref().is_some_and(|c| c.typetag_name() == "auto") {
        return None;
    }
    let mut shares = BTreeMap::<usize, f64>::new();
    for (at, square) in squares.iter().enumerate() {
        let column = if let Features::Parts(parts) = features { parts[at].0 } else { at };
        *shares.entry(column).or_default() += square / all;
    }
    let mut shares: Vec<(usize, f64)> = shares.into_iter().collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    let (mut sum, mut few) = (0.0, Vec::new());
    for (at, share) in shares.iter().take((shares.len() / 4).max(1)) {
        if sum < 0.9 {
            sum += share;
            few.push(*at);
        }
    }
    let name =
        |at: &usize| single.set.feature_names.get(*at).cloned().unwrap_or(format!("feature {at}"));
    (sum >= 0.9 && few.len() < shares.len()).then(|| {
        format!(
            "{:.0} % of the variance comes from {} of {} features ({}), which decide nearly all distances. Bring all \
             to one scale with {}",
            100.0 * sum,
            few.len(),
            shares.len(),
            few.iter().map(name).collect::<Vec<_>>().join(", "),
            remedy("\"z_score\"")
        )
    })
}

/// From so many features on they are too many to be looked at one by one.
const MANY_FEATURES: usize = 50;

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
            "k = {k} was asked for, and {name} made {}: its option k = {own} comes first",
            count(found, "cluster")
        ));
    }
    Some(if needs && found < k {
        format!("k = {k} was asked for, and {name} leaves {} empty", count(k - found, "cluster"))
    } else if needs {
        format!("k = {k} was asked for, and {name} made {}", count(found, "cluster"))
    } else {
        format!(
            "k = {k} was asked for, and {name}, which finds their number, made {}",
            count(found, "cluster")
        )
    })
}
