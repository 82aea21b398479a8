//! The consensus of partitions compared with ConsensusClusterPlus, and with the PAC of diceR, on cases that
//! `benches/peers/consensus_cluster_plus.R` stored.
//!
//! Equal without any change: the consensus index of each pair, the cumulative distribution at .01, .02, …, 1, its
//! area, the change of the area, the classes, diceR's PAC between .1 and .9 and, for partitions of all objects, the
//! consensus of clusters. Two definitions differ, and their numbers are made of ours here:
//!
//! - ConsensusClusterPlus puts pairs that no partition labels together at 0; here they are left out. With T pairs, of
//!   which P are labelled together, its distribution F' is (F P + T - P) / T. Classes then differ, too.
//! - The PAC of Șenbabaoğlu et al. is the distribution at .9 less that at .1, so it also counts pairs at exactly .9.

use mustlink_core::clustering::canonical;
use mustlink_core::prelude::*;
use mustlink_experiments::partition_support::{Reading, Support, supported_k};
use mustlink_kernels::ensemble::co_association::{CoAssociation, Normalise};
use serde_json::Value;
// The functions that are found by name are in crates that only the facade links.
use mustlink as _;

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    list(value).iter().map(|v| v.as_f64().unwrap()).collect()
}

fn labels(value: &Value) -> Vec<u32> {
    list(value).iter().map(|v| v.as_u64().map_or(NONE, |label| label as u32)).collect()
}

/// The partitions that were stored for each number of clusters, in one ensemble.
fn ensemble_of(numbers_of_clusters: &[Value]) -> Ensemble {
    let members = numbers_of_clusters.iter().flat_map(|one| list(&one["members"]));
    let members: Vec<Member> = members.map(|row| Member::from_labels(&labels(row))).collect();
    Ensemble::new(members[0].labels.len(), members).unwrap()
}

#[track_caller]
fn close(ours: Option<f64>, theirs: f64, what: &str) {
    let is_close = ours.is_some_and(|ours| (ours - theirs).abs() <= 1e-12);
    assert!(is_close, "{what}: {ours:?} and {theirs}");
}

/// Consensus index of all pairs, in the order in which they are stored; `None` if no partition labels both objects.
fn indices(support: &Support) -> Vec<Option<f64>> {
    let co = CoAssociation::implicit(&support.ensemble);
    let pairs = (0..co.n()).flat_map(|j| (j + 1..co.n()).map(move |i| (i, j)));
    pairs.map(|(i, j)| co.association(i, j, Normalise::CoPresence)).collect()
}

#[test]
fn distributions_areas_and_classes_are_those_of_consensus_cluster_plus() {
    let all: Value = serde_json::from_str(include_str!("../consensus_cluster_plus.json")).unwrap();
    // Each difference of definition occurs in some case.
    let (mut never, mut at_the_bound, mut clusters) = (0, 0, 0);
    for case in list(&all["cases"]) {
        let (name, theirs) = (&case["name"], list(&case["numbers"]));
        let ensemble = ensemble_of(theirs);
        let found = supported_k(&ensemble, (2, None), 1000, &Context::new(0)).unwrap();
        assert_eq!((found.reading, found.found.len()), (Reading::EachNumber, theirs.len()));
        for (ours, theirs) in found.found.iter().zip(theirs) {
            let place = |what: &str| format!("{name}, {} clusters, {what}", ours.k);
            assert_eq!(theirs["k"].as_u64(), Some(ours.k as u64));
            let own = indices(ours);
            let index = numbers(&theirs["index"]);
            assert_eq!(own.len(), index.len());
            for (own, &index) in own.iter().zip(&index) {
                close(Some(own.unwrap_or(0.0)), index, &place("consensus index"));
            }
            let (total, known) = (own.len() as f64, own.iter().flatten().count() as f64);
            never += own.len() - known as usize;
            let with_never = |value: f64| (value * known + total - known) / total;
            let cdf = numbers(&theirs["cdf"]);
            // Its first bin ends at .01 and holds 0, too.
            assert_eq!((ours.cdf.len(), cdf.len()), (101, 100));
            for (own, theirs) in ours.cdf[1..].iter().zip(cdf) {
                close(Some(with_never(*own)), theirs, &place("distribution"));
            }
            let area = theirs["area"].as_f64().unwrap();
            close(ours.area.map(with_never), area, &place("area"));
            let pac_dicer = theirs["pac_dicer"].as_f64().unwrap();
            close(ours.pac.map(|pac| pac * known / total), pac_dicer, &place("PAC of diceR"));
            let at_nine = own.iter().flatten().filter(|&&v| (v - 0.9).abs() < 1e-12).count();
            at_the_bound += at_nine;
            let pac = ours.pac.map(|pac| (pac * known + at_nine as f64) / total);
            close(pac, theirs["pac"].as_f64().unwrap(), &place("PAC"));
            if known == total {
                close(ours.change, theirs["change"].as_f64().unwrap(), &place("change"));
                assert_eq!(canonical(&ours.labels), canonical(&labels(&theirs["classes"])));
            }
            if ours.ensemble.members().iter().all(|m| !m.labels.contains(&NONE)) {
                clusters += 1;
                close(ours.within, within(theirs), &place("clusters"));
            }
        }
    }
    assert!(never > 0 && at_the_bound > 0 && clusters == 3, "{never}, {at_the_bound}, {clusters}");
}

/// The stored consensus of each cluster, weighted by its pairs; a cluster of one object has none.
fn within(theirs: &Value) -> f64 {
    let classes = labels(&theirs["classes"]);
    let (mut sum, mut all) = (0.0, 0.0);
    for (label, consensus) in (0..).zip(list(&theirs["clusters"])) {
        let size = classes.iter().filter(|&&class| class == label).count() as f64;
        let pairs = size * (size - 1.0) / 2.0;
        assert_eq!(consensus.is_null(), pairs == 0.0);
        sum += pairs * consensus.as_f64().unwrap_or(0.0);
        all += pairs;
    }
    sum / all
}
