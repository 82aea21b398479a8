//! Warnings about constraints, features and the number of clusters, before and after a method runs.

use std::collections::{BTreeMap, BTreeSet};

use mustlink_core::DataKind;
use mustlink_core::clustering::{Clustering, NONE};
use mustlink_core::ensemble::Ensemble;
use mustlink_core::features::Features;
use mustlink_core::method::Method;
use mustlink_core::roles::RoleObject;
use mustlink_core::text::{count, form};
use serde_json::Value;

use crate::single::Single;

/// A warning about objects that are in no member of an ensemble.
pub fn in_no_partition(ensemble: &Ensemble, id: &dyn Fn(usize) -> String) -> Option<String> {
    let nowhere = |&i: &usize| ensemble.members().iter().all(|m| m.labels[i] == NONE);
    let nowhere: Vec<usize> = (0..ensemble.n()).filter(nowhere).collect();
    let first = id(*nowhere.first()?);
    Some(match nowhere.len() {
        1 => format!("object {first} is in no partition, so its cluster is arbitrary"),
        many => format!(
            "{many} objects, the first {first}, are in no partition, so their clusters are arbitrary"
        ),
    })
}

/// Warning about `given` constraints if no part of the method uses them.
pub fn unread(method: &Method, given: usize) -> Option<String> {
    let unread = method.unread_by().filter(|_| given > 0)?;
    Some(format!(
        "{unread} reads no constraints: {} {} nothing; pck_means, mpck_means and cop_kmeans are among those that do",
        count(given, "given constraint"),
        form(given, "changes", "change")
    ))
}

/// Steps that bring all features to one scale.
const SCALING: [&str; 3] = ["gower", "min_max", "z_score"];

/// Steps that leave the scales and the number of the features as they are, or nearly.
const KEEPING: [&str; 5] = ["deduplicate", "drop_constant", "impute_missing", "l2_rows", "one_hot"];

/// Steps that make few components of many features, of which the largest count most.
const REDUCING: [&str; 2] = ["lsi", "pca"];

/// A warning about data whose distances may mislead the user, if no transform corrects them. The reasons are rows that
/// look like features, more features than objects, a few features that decide nearly all distances, and words that
/// hardly count next to numbers or the reverse. A column of words counts as one feature.
///
/// The limits were measured on 28 data sets: if at most a quarter of the features have nine tenths of the variance,
/// standard scores raised the ARI of k-means by .18 to .68 on 8 of 10 sets and lowered it once
/// (by .05); on the other 18 sets they changed it by -.12 to +.12.
///
/// `transforms` turns a list of transforms, as in a method file, into the caller's words for the remedy.
pub fn scales(single: &Single, transforms: &dyn Fn(&str) -> String) -> Option<String> {
    let tags: Vec<_> = single.method.transforms.iter().map(|t| t.typetag_name()).collect();
    let steps = &tags[..single.method.prefix().len()];
    let is_known =
        |s: &&str| [&SCALING[..], &KEEPING[..], &REDUCING[..]].iter().any(|all| all.contains(s));
    if !steps.iter().all(is_known) || single.set.data.kind() == DataKind::Csr {
        return None;
    }
    let place = |kinds: &[&str]| steps.iter().position(|step| kinds.contains(step));
    let reducing = place(&REDUCING);
    // Components no longer show which feature has which scale, so look at the features before them. If a transform
    // fails here, the run itself reports the error.
    let seen = single.seen_after(reducing.unwrap_or(steps.len())).ok()?;
    let (data, features) = (&seen.problem.data, &seen.lineage.features);
    let (n, d) = (data.n(), data.d());
    if data.kind() != DataKind::Dense || d < 2 || n < 2 {
        return None;
    }
    let remedy = |place_of_new: usize, new: &str| {
        let mut list: Vec<String> = tags.iter().map(|tag| format!("\"{tag}\"")).collect();
        list.insert(place_of_new, new.into());
        transforms(&format!("[{}]", list.join(",")))
    };
    let rows = (0..n).step_by(n.div_ceil(MOST_ROWS));
    let share = 1.0 / rows.len() as f64;
    let mut means = vec![0.0; d];
    rows.clone().for_each(|i| data.row(i).add_to(&mut means, share));
    let (mut squares, mut of_row_means, mut row) = (vec![0.0; d], 0.0, vec![0.0; d]);
    let centred = |i: usize, row: &mut [f64]| {
        row.fill(0.0);
        data.row(i).add_to(row, 1.0);
        row.iter_mut().zip(&means).for_each(|(x, mean)| *x -= mean);
    };
    for i in rows.clone() {
        centred(i, &mut row);
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
    // The column of a feature, and whether it stands for a word there.
    let column = |feature: usize| match features {
        Features::Parts(parts) => (parts[feature].0, parts[feature].1.is_some()),
        Features::Chosen(columns) => (columns[feature], false),
        _ => (feature, false),
    };
    let columns = (0..d).map(column).collect::<BTreeSet<_>>().len();
    let is_scaled = place(&SCALING).is_some();
    if columns >= SOME_FEATURES && columns > n && reducing.is_none() {
        let pca = format!("{{type=\"pca\",components={}}}", (n / 2).min(20));
        let added = if is_scaled { pca } else { format!("\"z_score\",{pca}") };
        return Some(format!(
            "{columns} features are too many for meaningful distances between {n} objects. Reduce them with {}",
            remedy(steps.len(), &added)
        ));
    }
    // A learned metric sets the scales itself, and auto tries several scalings.
    let is_auto = single.method.clusterer.as_ref().is_some_and(|c| c.typetag_name() == "auto");
    if is_scaled || is_auto || steps.len() < tags.len() {
        return None;
    }
    // Principal components have one scale. They are not correlated at all, which measured features never are.
    let top = (0..d).max_by(|&a, &b| squares[a].total_cmp(&squares[b])).unwrap_or(0);
    let mut products = vec![0.0; d];
    for i in rows {
        centred(i, &mut row);
        products.iter_mut().zip(&row).for_each(|(sum, x)| *sum += row[top] * x);
    }
    let alone = |j: usize| products[j].abs() <= 1e-6 * (squares[top] * squares[j]).sqrt();
    if (0..d).all(|j| j == top || alone(j)) {
        return None;
    }
    let mut shares = BTreeMap::<(usize, bool), f64>::new();
    for (feature, square) in squares.iter().enumerate() {
        *shares.entry(column(feature)).or_default() += square / all;
    }
    let mut shares: Vec<((usize, bool), f64)> = shares.into_iter().collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    let name = |column: usize| {
        single.set.feature_names.get(column).cloned().unwrap_or(format!("feature {column}"))
    };
    let names = |columns: &[usize]| {
        columns.iter().map(|&column| name(column)).collect::<Vec<_>>().join(", ")
    };
    let remedy = || remedy(place(&["l2_rows", "lsi", "pca"]).unwrap_or(steps.len()), "\"z_score\"");
    let (mut sum, mut few) = (0.0, Vec::new());
    for ((column, _), share) in shares.iter().take((shares.len() / 4).max(1)) {
        if sum < 0.9 {
            sum += share;
            few.push(*column);
        }
    }
    if sum >= 0.9 && few.len() < shares.len() {
        return Some(format!(
            "{:.0} % of the variance comes from {} of {} features ({}), which decide nearly all distances. Bring all \
             to one scale with {}",
            100.0 * sum,
            few.len(),
            shares.len(),
            names(&few),
            remedy()
        ));
    }
    [(true, "words", "numbers"), (false, "numbers", "words")].iter().find_map(|(word, few, many)| {
        let (weak, others): (Vec<_>, Vec<_>) = shares.iter().partition(|((_, w), _)| w == word);
        let share: f64 = weak.iter().map(|(_, share)| share).sum();
        let columns: Vec<usize> = weak.iter().map(|((column, _), _)| *column).collect();
        (share < 0.01 && !weak.is_empty() && !others.is_empty()).then(|| {
            format!(
                "less than 1 % of the variance comes from the {few} ({}), which hardly count next to the {many}. Bring \
                 all to one scale with {}",
                names(&columns),
                remedy()
            )
        })
    })
}

/// From this number of features on, users cannot check them one by one.
const MANY_FEATURES: usize = 50;

/// From this number of features on, it is a problem if there are fewer objects than features.
const SOME_FEATURES: usize = 10;

/// Largest number of rows that are checked, spread over all rows.
const MOST_ROWS: usize = 10_000;

/// Warning if an oracle that should leave some questions unanswered leaves none, for example at its defaults.
pub fn never_unsure(method: &Method) -> Option<String> {
    let mut oracle = method.oracle.as_ref()?.to_value();
    while !oracle.is_null() {
        let none = |share: &str| oracle[share].as_f64() == Some(0.0);
        if oracle["type"] == "dont_know" && none("rate") && none("by_object") {
            let warning = "the oracle dont_know leaves no question unanswered: its rate and its by_object are 0";
            return Some(warning.into());
        }
        oracle = oracle.get_mut("source").map(Value::take).unwrap_or_default();
    }
    None
}

/// Warning if the result does not have the requested number of clusters; `name` grouped the objects.
pub fn other_k(
    method: &Method,
    name: &str,
    asked: Option<usize>,
    clustering: &Clustering,
) -> Option<String> {
    let filled = clustering.sizes().iter().filter(|&&size| size > 0).count();
    let k = asked.filter(|&k| k != filled)?;
    // A clusterer's own k takes precedence over the k of the problem.
    let own_k = method.clusterer.as_ref().and_then(|c| c.to_value()["k"].as_u64());
    let own_k = own_k.map(|own_k| own_k as usize);
    let needs =
        own_k == Some(k) || method.clusterer.as_ref().is_some_and(|c| c.properties().needs_k);
    let (asked, clusters) =
        (format!("k = {k} was requested, and {name}"), count(filled, "cluster"));
    Some(match own_k.filter(|&own_k| own_k != k) {
        Some(own_k) => format!("{asked} made {clusters}: its option k = {own_k} comes first"),
        None if needs && filled < k => {
            format!("{asked} leaves {} empty", count(k - filled, "cluster"))
        }
        None if needs => format!("{asked} made {clusters}"),
        None => format!(
            "k = {k} was requested, but {name} chooses the number of clusters itself and made {clusters}"
        ),
    })
}
