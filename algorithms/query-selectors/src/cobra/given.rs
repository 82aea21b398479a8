//! The relations between representatives that follow from constraints given in advance.

use std::collections::{BTreeSet, HashMap};

use mustlink_core::knowledge::Knowledge;
use mustlink_core::prelude::*;

use crate::parts::super_instances::Groups;

/// Knowledge about representatives from the given constraints, by position.
pub struct Given {
    /// Knowledge about pairs.
    pub knowledge: Knowledge,
    /// Cannot-links.
    pub apart: Vec<(u32, u32)>,
    /// Super-instances with two members that are held apart.
    pub impure: usize,
}

impl Given {
    /// Knowledge about the representatives of `groups` from the constraints of `problem`.
    pub fn of(problem: &Problem, groups: &Groups, ctx: &Context) -> Self {
        let count = groups.representatives.len();
        let knowledge = Knowledge::new(count, &Constraints::default());
        let mut given = Given { knowledge, apart: Vec::new(), impure: 0 };
        if problem.constraints.is_empty() {
            return given;
        }
        let mut objects = Knowledge::new(problem.n(), &problem.constraints);
        // The first representative of each must-link component.
        let mut first: HashMap<u32, u32> = HashMap::new();
        for (a, &r) in (0..).zip(&groups.representatives) {
            let one = *first.entry(objects.component(r)).or_insert(a);
            given.knowledge.must(one, a);
        }
        // Cannot-links that must-links contradict say nothing.
        let facts = problem.constraints.facts();
        let apart = facts.pairs().iter().filter(|c| c.kind == Kind::CannotLink);
        let apart = apart.map(|c| (objects.component(c.i), objects.component(c.j)));
        let apart: Vec<(u32, u32)> = apart.filter(|(p, q)| p != q).collect();
        for (p, q) in &apart {
            if let (Some(&a), Some(&b)) = (first.get(p), first.get(q)) {
                given.knowledge.cannot(a, b);
                given.apart.push((a, b));
            }
        }
        // In which super-instances does each component that is apart from another occur?
        let mut spread: HashMap<u32, BTreeSet<u32>> =
            apart.iter().flat_map(|&(p, q)| [p, q]).map(|p| (p, BTreeSet::new())).collect();
        for (i, &s) in (0..).zip(&groups.of) {
            if let Some(found) = spread.get_mut(&objects.component(i)) {
                found.insert(s);
            }
        }
        let both = |(p, q): &(u32, u32)| spread[p].intersection(&spread[q]).copied();
        given.impure = apart.iter().flat_map(both).collect::<BTreeSet<u32>>().len();
        if given.impure > 0 {
            ctx.warn(format!("{} super-instances hold a given cannot-link", given.impure));
        }
        given
    }
}
