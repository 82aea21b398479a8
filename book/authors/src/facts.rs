//! Sentences about the facts that a plugin declares.

use mustlink::options;
use mustlink::registry::Role;
use mustlink_cli::describe::plain;
use serde_json::Value;

/// Each fact with its sentences: if it is true or has a value (`{}`), and if it is false or has no value. A fact
/// without the second sentence is not mentioned then. The key of a role limits a line to that role.
const SENTENCES: &str = "\
accepts | Accepts {}.
accepts_sparse | Accepts sparse data. | Does not accept sparse data.
needs_k | Needs k. | Can run without k.
fixed_k | Needs k. | Can run without k.
needs_setup | Cannot run until an option without a usable default is given.
needs_truth | Needs the classes. | Does not need the classes.
needs_labels | Needs the classes. | Does not need the classes.
needs_data | Needs the objects.
needs_constraints | Needs constraints.
needs_heldout | Needs constraints that the clusterer was not given.
needs_unconstrained | Needs the partition made without constraints, which takes one more run of the clusterer.
needs_ensemble | Needs an ensemble.
needs_candidates | Uses the candidates of a clustering, such as those of `auto`. Without any, its pairs are random.
propagator needs_clustering | Needs a clustering of the same data.
selector needs_clustering | Asks for clusterings between questions.
labels_only | Uses only the labels of the members.
complete | Does not accept missing labels.
memberships | Needs the memberships of every member.
distances | Needs the distances of every member, or its centres or memberships, which give them.
feature_weights | Needs the feature weights of every member.
balanced | Makes parts of about equal size, so the result may contradict even members that agree.
max_n | Accepts at most {} objects.
instead | For more objects, use {}.
reads_constraints | Uses constraints. | Does not use constraints.
reads_groups | Uses whole groups whose members must be apart.
soft_weights | Uses the weights of constraints.
object_weights | Uses the weights of objects.
hard_must | Every must-link holds in the result.
hard_cannot | Every cannot-link holds in the result.
hard_if_marked | Constraints marked hard hold in the result; others may be violated.
hard_as_soft | May violate constraints marked hard, because an option sets what they cost.
gives_centers | Returns centres.
learns_weights | May learn how much each feature counts.
index_keyed | The result may depend on the order of the rows.
self_clustering | Clusters the data itself.
skips_entailed | Never asks about pairs whose answer follows from earlier replies. | May ask about pairs whose answer follows from earlier replies.
asks_for_evidence | Asks about pairs whose answer follows from earlier replies, to find wrong replies.
infers | Infers memberships, which is sound only if k is the number of classes.
layer | Layer, if oracles wrap each other: `{}`.
interactive | A person answers.
deterministic | The same question gets the same reply in every run with the same seed.
noiseless | Replies agree with one partition. | Replies need not agree with one partition.
gives | Replaces the data with {}. | The result is constraints.
changes_rows | Drops or merges rows.
any_magnitude | Accepts values of any size.
min | Smallest value: {}.
max | Largest value: {}.
perfect | Value of a perfect clustering: {}.
higher_is_better | Larger is better. | Smaller is better.
ranked |  | Neither end is better.
symmetric | Exchanging clusters and classes does not change the value.";

/// The facts in sentences, in the order of the list above. Facts that it lacks follow with their names.
pub(crate) fn sentences(role: Role, facts: &Value) -> Vec<String> {
    let mut left = facts.as_object().cloned().unwrap_or_default();
    if facts["ranked"].as_bool() == Some(false) {
        left.remove("higher_is_better");
    }
    let mut out = Vec::new();
    for line in SENTENCES.lines() {
        let mut parts = line.split(" | ");
        let name = parts.next().unwrap_or_default();
        let (of_role, name) = name.split_once(' ').unwrap_or((role.key(), name));
        if of_role != role.key() {
            continue;
        }
        let sentence = match left.remove(name) {
            None => None,
            Some(Value::Bool(true)) => parts.next().map(String::from),
            Some(Value::Bool(false) | Value::Null) => parts.nth(1).map(String::from),
            Some(value) => {
                let value = words(&value);
                let sentence = parts.next().filter(|_| !value.is_empty());
                sentence.map(|sentence| sentence.replace("{}", &value))
            }
        };
        out.extend(sentence.filter(|sentence| !sentence.is_empty()));
    }
    out.extend(left.iter().map(|(name, fact)| format!("`{name}`: {}.", plain(fact))));
    out
}

/// A value in words.
fn words(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(words).collect();
            match items.as_slice() {
                [others @ .., last] if !others.is_empty() => {
                    format!("{} and {last}", others.join(", "))
                }
                _ => items.concat(),
            }
        }
        Value::String(word) => match word.as_str() {
            "dense" => "dense data".into(),
            "csr" => "sparse data".into(),
            "affinity" => "affinities".into(),
            "table" => "tables with missing values or words".into(),
            other => other.into(),
        },
        other => other.as_f64().map_or_else(|| other.to_string(), options::plain),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink::registry::Catalogue;
    use serde_json::json;

    #[test]
    fn facts_are_written_in_sentences() {
        let facts = json!({
            "accepts": ["dense", "csr", "table"], "gives_centers": true, "hard_must": false, "new": [1],
            "needs_k": false,
        });
        let expected = [
            "Accepts dense data, sparse data and tables with missing values or words.",
            "Can run without k.",
            "Returns centres.",
            "`new`: 1.",
        ];
        assert_eq!(sentences(Role::BaseClusterer, &facts), expected);
        let facts = json!({ "instead": "", "max_n": 20000, "reads_constraints": false });
        let expected = ["Accepts at most 20000 objects.", "Does not use constraints."];
        assert_eq!(sentences(Role::ConsensusFunction, &facts), expected);
        let facts =
            json!({ "higher_is_better": true, "max": "infinity", "min": -0.5, "ranked": false });
        let expected =
            ["Smallest value: -0.5.", "Largest value: infinity.", "Neither end is better."];
        assert_eq!(sentences(Role::Metric, &facts), expected);
        let facts = json!({ "needs_clustering": true });
        assert_eq!(
            [Role::QuerySelector, Role::ConstraintPropagator]
                .map(|r| sentences(r, &facts).concat()),
            ["Asks for clusterings between questions.", "Needs a clustering of the same data."]
        );
    }

    #[test]
    fn every_fact_of_the_catalogue_has_a_sentence() {
        for d in Catalogue::get().unwrap().all() {
            let named = sentences(d.role, &d.facts()).into_iter().find(|s| s.starts_with('`'));
            assert_eq!(named, None, "{}", d.tag);
        }
    }
}
