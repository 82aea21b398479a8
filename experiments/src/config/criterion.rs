//! Claims in an experiment file: a condition, or a number with the printed values and a tolerance.

use std::collections::{BTreeMap, BTreeSet};

use mustlink_core::error::Diagnostic;
use mustlink_core::kind::{self, Described};
use mustlink_core::registry::suggestion;
use serde::{Deserialize, Serialize};

use crate::verdict::{Formula, Names};

/// A claim that the report checks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Described)]
#[serde(deny_unknown_fields)]
pub struct Criterion {
    /// Short name, unique: `4.1-1`.
    pub id: String,
    /// The claim in words.
    pub statement: String,
    /// Reason why the claim may also hold for k-means with random constraints (`mustlink-authors null` checks
    /// this). A claim without a reason should fail there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub null: Option<String>,
    /// Mark as a check of our own, or one that holds by construction. It is not counted as a claim of the paper.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own: bool,
    /// Choices made with the numbers that the claim is judged on, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<String>,
    /// Numbers to show for the claim on the page of verdicts, separated by commas:
    /// `area(ari('gpk')), area(ari('mpck'))`. If absent, those of the comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub show: Option<String>,
    /// Judge the claim only if all its data sets have results, because a count needs all of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all_sets: bool,
    /// Reason why the claim does not hold here, as far as it was measured; otherwise "unknown".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Data sets of the claim. If absent, all, or those with a printed value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub datasets: Option<Vec<String>>,
    /// Condition, such as `area(ari('gpk')) > area(ari('mpck'))`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// Number of data sets on which the condition has to hold. If absent, all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[option(min = 1)]
    pub at_least: Option<usize>,
    /// Number to compare with the printed ones, such as `last(nmi_geo('base'))`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Printed numbers by data set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub printed: Option<BTreeMap<String, f64>>,
    /// Largest difference between our number and the printed one, for all data sets or for each. A claim also holds if
    /// the printed number lies in our interval. 0 requires equality, whatever our interval is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<Tolerance>,
    /// Largest factor by which our number may differ from the printed one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[option(min = 1.0)]
    pub factor: Option<f64>,
}

impl Criterion {
    /// The formulas of `show`, at the commas outside of brackets and names.
    pub fn shows(&self) -> Vec<&str> {
        let text = self.show.as_deref().unwrap_or_default();
        let (mut parts, mut depth, mut from) = (Vec::new(), 0, 0);
        let mut in_name = false;
        for (at, c) in text.char_indices() {
            match c {
                '\'' => in_name = !in_name,
                _ if in_name => {}
                '(' => depth += 1,
                ')' => depth -= 1,
                ',' if depth == 0 => {
                    parts.push(text[from..at].trim());
                    from = at + 1;
                }
                _ => {}
            }
        }
        parts.push(text[from..].trim());
        parts.retain(|p| !p.is_empty());
        parts
    }
}

/// A difference for all data sets, or one for each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Described)]
#[serde(untagged)]
pub enum Tolerance {
    /// The same for all data sets.
    Same(#[option(min = 0.0)] f64),
    /// One for each data set.
    Each(BTreeMap<String, f64>),
}

impl Tolerance {
    /// The tolerance for one data set.
    pub fn on(&self, set: &str) -> Option<f64> {
        match self {
            Tolerance::Same(x) => Some(*x),
            Tolerance::Each(map) => map.get(set).copied(),
        }
    }
}

/// Complaints about criteria that no schema can make.
pub(super) fn complaints(
    criteria: &[Criterion],
    names: &Names,
    mut place: impl FnMut(usize, &str, String) -> Diagnostic,
) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    let mut ids = BTreeSet::new();
    for (at, criterion) in criteria.iter().enumerate() {
        let mut complain = |key: &str, message: String| out.push(place(at, key, message));
        if !ids.insert(&criterion.id) {
            complain("id", format!("\"{}\" comes twice; ids are unique", criterion.id));
        }
        let Criterion { check, value, printed, tolerance, factor, at_least, .. } = criterion;
        let formula = match (check, value) {
            (Some(_), Some(_)) | (None, None) => {
                complain("check", "a criterion has either a check or a value".into());
                continue;
            }
            (Some(check), None) => ("check", check),
            (None, Some(value)) => ("value", value),
        };
        let parsed = Formula::parse(formula.1);
        let checked = parsed.and_then(|f| {
            f.check(names, check.is_some())?;
            Ok(f)
        });
        match checked {
            Err(message) => complain(formula.0, message),
            Ok(f) if f.is_about_sets() && (value.is_some() || at_least.is_some()) => {
                complain(formula.0, "is about all data sets together; use a check alone".into());
            }
            Ok(_) => {}
        }
        for part in criterion.shows() {
            let parsed = Formula::parse(part);
            if let Err(message) = parsed.and_then(|f| f.check(names, false)) {
                complain("show", message);
            }
        }
        match (value, printed) {
            (Some(_), None) => complain("printed", "missing: the numbers to compare with".into()),
            (None, Some(_)) => complain("printed", "goes with value, not with check".into()),
            _ => {}
        }
        match (value, tolerance, factor) {
            (Some(_), Some(_), Some(_)) => {
                complain("factor", "goes instead of tolerance, not with it".into());
            }
            (None, Some(_), _) => complain("tolerance", "goes with value, not with check".into()),
            (None, _, Some(_)) => complain("factor", "goes with value, not with check".into()),
            _ => {}
        }
        let about = match (&criterion.datasets, printed) {
            (Some(list), _) => list.len(),
            (None, Some(printed)) => printed.len(),
            (None, None) => names.datasets.len(),
        };
        if criterion.datasets.as_ref().is_some_and(Vec::is_empty) {
            complain("datasets", "needs at least one data set; leave it out to use all".into());
        } else if let Some(least) = at_least.filter(|least| *least > about) {
            let message = format!(
                "must be between 1 and {about} (the data sets that it is about), got {least}"
            );
            complain("at_least", message);
        }
        let each = match tolerance {
            Some(Tolerance::Each(map)) => map.keys().collect(),
            _ => Vec::new(),
        };
        let named: [(&str, Vec<&String>); 3] = [
            ("datasets", criterion.datasets.iter().flatten().collect()),
            ("printed", printed.iter().flat_map(|p| p.keys()).collect()),
            ("tolerance", each),
        ];
        for (key, ids) in named {
            for id in ids.into_iter().filter(|id| !names.datasets.contains(&id.as_str())) {
                let near = suggestion(id, names.datasets.iter().copied());
                complain(key, format!("no data set \"{id}\"{near}"));
            }
        }
    }
    out
}
