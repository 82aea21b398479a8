//! What does a method say of constraints marked soft that it keeps as hard ones?

use mustlink_core::Group;
use mustlink_core::prelude::*;

/// Warns of them, where there are some: "7 constraints", and `what` is done with them.
pub(crate) fn warn_of_soft(constraints: &Constraints, what: &str, ctx: &Context) {
    let soft = |strength| strength == Some(Strength::Soft);
    let listed = constraints.listed().iter().filter(|c| soft(c.strength)).count();
    let grouped = constraints.groups().iter().filter(|g| soft(g.strength));
    let soft = listed as u64 + grouped.map(Group::pair_count).sum::<u64>();
    if soft > 0 {
        ctx.warn(format!("{soft} constraints {what}"));
    }
}
