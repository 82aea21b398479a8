//! Checks that an ensemble contains the parts that a consensus function needs.

use crate::clustering::NONE;
use crate::ensemble::{Ensemble, Member};
use crate::error::{Error, Result};
use crate::roles::ConsensusFunction;

/// Checks that the members have the quantities that a consensus function needs.
///
/// # Errors
/// `BadParam` with the function, the missing quantity and the members that lack it, or the largest
/// number of objects that the function takes.
pub fn check_needs(ensemble: &Ensemble, consensus: &dyn ConsensusFunction) -> Result<()> {
    let needs = consensus.needs();
    let tag = consensus.typetag_name();
    let lacking = |what: &str, has: &dyn Fn(&Member) -> bool| {
        // Of a member of weight 0 nothing is read.
        let lacks = |m: &Member| m.weight > 0.0 && !has(m);
        let without: Vec<usize> =
            (0..ensemble.len()).filter(|&t| lacks(&ensemble.members()[t])).collect();
        if without.is_empty() {
            return Ok(());
        }
        let shown: Vec<String> = without.iter().take(5).map(ToString::to_string).collect();
        let more = if without.len() > 5 { ", …" } else { "" };
        Err(Error::bad_param(
            "consensus",
            tag,
            format!(
                "used with members that have {what}; members {}{more} have none",
                shown.join(", ")
            ),
        ))
    };
    if needs.memberships {
        lacking("memberships", &|m| m.extras.memberships.is_some())?;
    }
    if needs.distances {
        lacking("distances, centres or memberships", &|m| {
            let e = &m.extras;
            e.distances.is_some() || e.centers.is_some() || e.memberships.is_some()
        })?;
    }
    if needs.feature_weights {
        lacking("feature weights", &|m| m.extras.weights.is_some())?;
    }
    if needs.complete {
        lacking("a label for every object", &|m| !m.labels.contains(&NONE))?;
    }
    check_size(ensemble.n(), consensus)
}

/// Checks that a consensus function accepts n objects, before any members are made.
///
/// # Errors
/// `BadParam` with the largest number of objects it accepts, and the name of a function that accepts more.
pub fn check_size(n: usize, consensus: &dyn ConsensusFunction) -> Result<()> {
    let needs = consensus.needs();
    match needs.max_n {
        Some(limit) if n > limit => {
            let mut legal = format!("used with at most {limit} objects ({n} given)");
            if !needs.instead.is_empty() {
                legal = format!("{legal}; raise max_n, or take {}", needs.instead);
            }
            Err(Error::bad_param("consensus", consensus.typetag_name(), legal))
        }
        _ => Ok(()),
    }
}
