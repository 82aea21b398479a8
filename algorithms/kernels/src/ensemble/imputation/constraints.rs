//! The imputed constraints themselves.

use mustlink_core::constraints::{Origin, Strength};
use mustlink_core::{Constraint, Constraints, Context, Error, Kind, Result};

use super::blocks::must_links_by_blocks;
use super::tally::{SignatureGroups, impute};
use super::thresholds::Thresholds;
use crate::ensemble::co_association::CoAssociation;

/// The imputed constraints themselves, in order of their objects, of origin `Imputed`. They are marked soft, because an
/// ensemble may be wrong. Without a matrix, and for must-links alone, they are found by blocks of members, so that
/// pairs that agree in no block are never visited.
///
/// # Errors
/// `BadParam` when there are more than `max_pairs`; cancellation.
pub fn imputed_constraints(
    co: &CoAssociation,
    thresholds: &Thresholds,
    kinds: &[Kind],
    max_pairs: u64,
    ctx: &Context,
) -> Result<Constraints> {
    let constraint = |(i, j, kind): (u32, u32, Kind)| {
        let c = Constraint::new(i as usize, j as usize, kind).from(Origin::Imputed);
        Constraint { strength: Some(Strength::Soft), ..c }
    };
    let refuse_above = |wanted: u64| {
        if wanted > max_pairs {
            let legal = format!("at least {wanted}, the number of imputed pairs");
            Err(Error::bad_param("max_pairs", max_pairs, legal))
        } else {
            Ok(())
        }
    };
    if let (Some(s), [Kind::MustLink]) = (co.signatures(), kinds)
        && let Some(found) = must_links_by_blocks(s, thresholds, max_pairs, ctx)?
    {
        refuse_above(found.verified)?;
        let within = (0..s.len() as u32).map(|a| (a, a));
        let mut list: Vec<(u32, u32, Kind)> = Vec::with_capacity(found.verified as usize);
        for (a, b) in within.chain(found.groups) {
            let (one, other) = (s.objects(a as usize), s.objects(b as usize));
            for (at, &i) in one.iter().enumerate() {
                let rest = if a == b { &other[at + 1..] } else { other };
                list.extend(rest.iter().map(|&j| (i.min(j), i.max(j), Kind::MustLink)));
            }
        }
        list.sort_unstable();
        return Constraints::new(co.n(), list.into_iter().map(constraint));
    }
    let all = impute(co, thresholds, None, ctx)?;
    let count = |kind| match kind {
        Kind::MustLink => all.must.selected,
        Kind::CannotLink => all.cannot.selected,
    };
    refuse_above(kinds.iter().map(|&k| count(k)).sum())?;
    let members = co.members() as u32;
    let groups = SignatureGroups::new(co, None);
    let expand = |a: usize| match groups.signatures {
        Some(s) => s.objects(a).to_vec(),
        None => vec![a as u32],
    };
    let parts = co.fold(
        Vec::new,
        |list: &mut Vec<(u32, u32, Kind)>, a, first, counts, joints| {
            for (at, &count) in counts.iter().enumerate() {
                let joint = joints.map_or(members, |j| j[at]);
                let Some(kind) = thresholds.judge(count, joint).filter(|k| kinds.contains(k))
                else {
                    continue;
                };
                for &i in &expand(a) {
                    list.extend(expand(first + at).iter().map(|&j| (i.min(j), i.max(j), kind)));
                }
            }
        },
        ctx,
    )?;
    let mut list: Vec<(u32, u32, Kind)> = parts.into_iter().flatten().collect();
    if let Some(s) = groups.signatures {
        for a in (0..s.len()).filter(|&a| s.size(a) > 1) {
            let kind = thresholds.judge(s.presence(a), s.presence(a));
            let Some(kind) = kind.filter(|k| kinds.contains(k)) else { continue };
            let objects = s.objects(a);
            for (at, &i) in objects.iter().enumerate() {
                list.extend(objects[at + 1..].iter().map(|&j| (i, j, kind)));
            }
        }
    }
    list.sort_unstable();
    Constraints::new(co.n(), list.into_iter().map(constraint))
}
