//! Clusters that verdicts about pairs make, if answers win over them.

use std::collections::BTreeMap;

use mustlink_core::closure::{Closure, OnConflict, UnionFind};
use mustlink_core::clustering::compact;
use mustlink_core::constraints::Violations;
use mustlink_core::{Constraint, Constraints, Context, Group, Kind, Result, overruled};

use crate::constrained::correlation::{Effort, SignedPairs};

/// Solves parts of up to 12 units exactly.
const EFFORT: Effort = Effort { exact_size: 12, restarts: 10 };

/// Log-odds that no verdict can have; the weight of answers is larger.
const CERTAIN: f64 = 1000.0;

/// Difference between log-odds that rounding explains.
const ROUNDING: f64 = 1e-12;

/// Weight of a verdict at the threshold, which is a must-link.
const TIE: f64 = 1e-9;

/// The log-odds that the objects of a pair are the same; the smaller object first.
pub type Odds = (u32, u32, f64);

/// Verdicts, answers, and what joins and separates objects apart from them.
#[derive(Debug, Clone, Copy)]
pub struct JudgedPairs<'a> {
    /// Number of objects.
    pub n: usize,
    /// The verdicts, each pair once.
    pub odds: &'a [Odds],
    /// Answers, which win.
    pub answers: &'a Constraints,
    /// Objects of which a cluster holds at most one.
    pub apart: &'a [Group],
    /// Cost of joining a pair without a verdict.
    pub unjudged: f64,
}

/// Clusters at one threshold.
#[derive(Debug, Clone)]
pub struct Found {
    /// The cluster of each object, in order of their first objects.
    pub labels: Vec<u32>,
    /// Number of clusters.
    pub k: usize,
    /// The overruled verdicts.
    pub violations: Violations,
    /// Their total weight, and the costs of joined pairs without a verdict.
    pub objective: f64,
    /// Weight that every partition overrules. Equal to the objective if no partition is better.
    pub bound: f64,
    /// The weighted verdicts, and the answers and groups with weights that no verdicts reach.
    pub evidence: Constraints,
}

/// Sorts verdicts by their pairs, and adds up those about one pair and `prior`.
pub fn summed(mut verdicts: Vec<Odds>, prior: f64) -> Vec<Odds> {
    verdicts.sort_by_key(|verdict| (verdict.0, verdict.1));
    verdicts.dedup_by(|next, kept| {
        let is_same_pair = (next.0, next.1) == (kept.0, kept.1);
        kept.2 += if is_same_pair { next.2 } else { 0.0 };
        is_same_pair
    });
    verdicts.iter_mut().for_each(|verdict| verdict.2 += prior);
    verdicts
}

impl JudgedPairs<'_> {
    /// The clusters that overrule verdicts of little weight, if a pair is the same from the log-odds `least` on.
    ///
    /// # Errors
    /// `InconsistentConstraints` if answers contradict each other; `TooManyGroupPairs` for large groups; `Cancelled`.
    pub fn clusters(&self, least: f64, ctx: &Context) -> Result<Found> {
        let &JudgedPairs { n, unjudged, .. } = self;
        let verdict = |&(i, j, odds): &Odds| {
            let weight = odds - least;
            let (i, j) = (i as usize, j as usize);
            if weight >= -ROUNDING {
                Constraint::must(i, j).weighing(weight.max(TIE))
            } else {
                Constraint::cannot(i, j).weighing(-weight)
            }
        };
        let verdicts: Vec<Constraint> = self.odds.iter().map(verdict).collect();
        let certain = CERTAIN + verdicts.iter().map(|c| c.weight).sum::<f64>();
        let answers = self.answers.listed().iter().map(|c| c.weighing(certain));
        let listed = Constraints::new(n, verdicts.iter().copied().chain(answers.clone()))?;
        let mut apart = self.apart(&listed, certain);
        let stated = self.answers.groups().iter();
        apart.extend(stated.map(|group| Group { weight: certain, ..group.clone() }));
        let given = Constraints::new(n, answers)?.with_groups(n, apart.iter().cloned())?;
        given.check_group_pairs("apart")?;
        let evidence = if apart.is_empty() { listed } else { listed.with_groups(n, apart)? };
        ctx.check()?;
        let units = Units::new(Closure::new(&given, n, OnConflict::Error)?);
        let net = self.net(&units, &verdicts, &given, certain);
        drop(verdicts);
        let pairs = SignedPairs::new(net.iter().copied(), units.sizes(), unjudged);
        let found = units.of_objects(&pairs.partition(EFFORT, ctx)?);
        let found = overruled::settled(&evidence, &found, unjudged);
        let (labels, k) = compact(&found);
        ctx.check()?;
        let violations = evidence.violations(&labels);
        let mut objective = violations.must_weight + violations.cannot_weight;
        if unjudged > 0.0 {
            // No partition separates what answers join.
            let within_units = overruled::joined_unjudged(&evidence, &units.number);
            let joined = overruled::joined_unjudged(&evidence, &labels) - within_units;
            objective += unjudged * joined as f64;
        }
        ctx.check()?;
        // Small parts have their optimum. In the others, only the bound cannot be avoided.
        let large = pairs.parts().into_iter().filter(|part| part.len() > EFFORT.exact_size);
        let mut is_open = vec![false; units.len()];
        large.flatten().for_each(|unit| is_open[unit as usize] = true);
        let in_large =
            net.into_iter().filter(|&(p, q, _)| is_open[p as usize] && is_open[q as usize]);
        let in_large = in_large.map(|(p, q, weight)| {
            let kind = if weight > 0.0 { Kind::MustLink } else { Kind::CannotLink };
            Constraint::new(p as usize, q as usize, kind).weighing(weight.abs())
        });
        let in_large = Constraints::new(units.len(), in_large)?;
        let closure = Closure::new(&in_large, units.len(), OnConflict::Keep)?;
        let cost = pairs.disagreement(&units.of_units(&labels), |unit| is_open[unit as usize]);
        let avoidable = (cost - overruled::least_violated(&closure, |_| true)).max(0.0);
        ctx.check()?;
        let bound = (objective - avoidable).max(0.0);
        Ok(Found { labels, k, violations, objective, bound, evidence })
    }

    /// The groups of the objects, within the parts that must-links join: others are apart anyway.
    fn apart(&self, listed: &Constraints, weight: f64) -> Vec<Group> {
        if self.apart.is_empty() {
            return Vec::new();
        }
        let mut parts = UnionFind::new(self.n);
        for c in listed.listed().iter().filter(|c| c.kind == Kind::MustLink) {
            parts.union(c.i, c.j);
        }
        let mut members: BTreeMap<(usize, u32), Vec<u32>> = BTreeMap::new();
        for (at, group) in self.apart.iter().enumerate() {
            for &i in &group.members {
                members.entry((at, parts.find(i))).or_default().push(i);
            }
        }
        let several = members.into_iter().filter(|(_, members)| members.len() > 1);
        let name = |at: usize| self.apart[at].name.clone();
        several.map(|((at, _), i)| Group { weight, ..Group::new(name(at), i) }).collect()
    }

    /// The weights between units, each pair once. What is `given` is certain. A pair of units with a verdict costs
    /// something for each of their pairs of objects without one.
    fn net(
        &self,
        units: &Units,
        verdicts: &[Constraint],
        given: &Constraints,
        certain: f64,
    ) -> Vec<(u32, u32, f64)> {
        let ordered = |c: &Constraint| {
            let (p, q) = (units.number[c.i as usize], units.number[c.j as usize]);
            (p.min(q), p.max(q))
        };
        let verdict = |c: &Constraint| {
            let sign = if c.kind == Kind::MustLink { 1.0 } else { -1.0 };
            (ordered(c), sign * c.weight)
        };
        let never = given.pairs().iter().map(|c| (ordered(c), f64::NEG_INFINITY));
        let mut rows: Vec<((u32, u32), f64)> = verdicts.iter().map(verdict).chain(never).collect();
        // All that is left within a unit is what its answers settle.
        rows.retain(|((p, q), _)| p != q);
        rows.sort_by_key(|row| row.0);
        let net = rows.chunk_by(|a, b| a.0 == b.0).map(|rows| {
            let (p, q) = rows[0].0;
            let all = (units.size(p) * units.size(q)) as f64;
            let sum: f64 = rows.iter().map(|row| row.1).sum();
            (p, q, (sum - self.unjudged * (all - rows.len() as f64)).max(-certain))
        });
        net.collect()
    }
}

/// Objects that answers join.
struct Units {
    closure: Closure,
    /// The unit of each object.
    number: Vec<u32>,
}

impl Units {
    fn new(closure: Closure) -> Self {
        let number = (0..closure.n()).map(|i| closure.component(i) as u32).collect();
        Units { closure, number }
    }

    fn len(&self) -> usize {
        self.closure.components()
    }

    fn size(&self, unit: u32) -> usize {
        self.closure.members(unit as usize).len()
    }

    fn sizes(&self) -> Vec<f64> {
        (0..self.len() as u32).map(|unit| self.size(unit) as f64).collect()
    }

    /// Labels of objects from labels of units.
    fn of_objects(&self, labels: &[u32]) -> Vec<u32> {
        self.number.iter().map(|&unit| labels[unit as usize]).collect()
    }

    /// Labels of units from labels of objects.
    fn of_units(&self, labels: &[u32]) -> Vec<u32> {
        let first = |unit: usize| self.closure.members(unit)[0] as usize;
        (0..self.len()).map(|unit| labels[first(unit)]).collect()
    }
}
