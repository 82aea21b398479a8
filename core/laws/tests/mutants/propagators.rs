//! Constraints of the nearest neighbours, or distances that constraints shorten, sound but for one
//! flaw.

use std::collections::BTreeMap;

use mustlink_core::prelude::*;
use mustlink_laws::memory;
use ndarray::Array2;
use serde_json::json;

use crate::shared::{Caught, HOLDS, KEEPS, Mutant, checked, clock, flaws, tried};

/// Each constraint also applies, with less weight, to the nearest neighbours of its objects.
#[options]
pub struct FlawedPropagator {
    /// Name of the flaw.
    pub flaw: String,
    /// Weight of what is passed on, as a share of the given.
    #[option(default = 0.5, above = 0.0, max = 1.0)]
    pub share: f64,
    /// Neighbours.
    #[option(default = 2, min = 1)]
    pub rounds: usize,
    /// Gives distances instead: no length between must-linked objects.
    pub distances: bool,
}

const FLAWS: [(&str, &str); 24] = [
    ("forgets a given constraint", "given_constraints_are_kept"),
    ("seeds itself from the clock", "same_seed_same_bits"),
    ("adds up by thread", "same_bits_on_several_blocks"),
    ("shortens one direction", "pairwise_results_are_symmetric"),
    ("gives a distance below zero", "pairwise_results_are_symmetric"),
    ("declares affinities and gives constraints", "declared_results_are_given"),
    ("passes more weight on than was given", "weights_are_legal"),
    ("makes a constraint of none", "nothing_given_nothing_made"),
    ("declares sparse rows and cannot read them", "every_declared_kind_is_taken"),
    ("reads the first half of the constraints", "order_of_constraints_is_irrelevant"),
    ("divides by the range of a feature", "degenerate_data_is_legal"),
    ("panics with less than three objects", "degenerate_data_is_legal"),
    ("panics when all objects are must-linked", "degenerate_data_is_legal"),
    ("divides by the free partners of an object", "degenerate_data_is_legal"),
    ("fails on a far outlier", "degenerate_data_is_legal"),
    ("never looks at the cancel flag", "cancelling_is_heard"),
    ("counts its work in 32 bits", "legal_values_are_harmless"),
    ("looks at the cancel flag before its loop alone", "looks_every_sweep"),
    ("ignores the share", "every_option_changes_something"),
    ("ignores cannot-links", "every_constraint_counts"),
    ("ignores must-links", "every_constraint_counts"),
    ("needs no memory", "memory_covers_the_result"),
    (HOLDS, memory::LAW),
    (KEEPS, memory::LAW),
];

pub fn caught(complaints: &mut Vec<String>) -> Caught {
    let tag = "flawed_propagator";
    let mut mutants = flaws(tag, &FLAWS);
    let pairwise = ["shortens one direction", "gives a distance below zero"];
    for Mutant { config, .. } in &mut mutants {
        if pairwise.iter().any(|flaw| config["flaw"] == *flaw) {
            config["distances"] = true.into();
        }
    }
    let sound = [json!({ "type": tag }), json!({ "type": tag, "distances": true })];
    tried::<dyn ConstraintPropagator>(&sound, &mutants, complaints)
}

impl FlawedPropagator {
    fn has(&self, flaw: &str) -> bool {
        self.flaw == flaw
    }

    fn stumble(&self, given: &Constraints, x: &Array2<f64>, problem: &Problem) -> Result<()> {
        let n = x.nrows();
        let failed = |place: &str| Err(Error::NumericalFailure { place: place.into() });
        let column = |f: usize| (0..n).map(move |i| x[[i, f]]);
        let chain = given.count(Kind::MustLink) + 1;
        let busy = (0..n as u32)
            .any(|i| given.pairs().iter().filter(|c| c.i == i || c.j == i).count() == n - 1);
        match self.flaw.as_str() {
            "divides by the range of a feature" if column(0).all(|v| v == x[[0, 0]]) => {
                failed("the range is 0")
            }
            "panics with less than three objects" => {
                assert!(n > 2, "no third object");
                Ok(())
            }
            "panics when all objects are must-linked" => {
                assert!(n == 2 || chain < n, "one group");
                Ok(())
            }
            "divides by the free partners of an object" if busy => failed("NaN"),
            "fails on a far outlier" if column(0).any(|v| v > 1e8) => failed("NaN"),
            "counts its work in 32 bits" => {
                let work = i32::try_from(self.rounds).ok().and_then(|m| m.checked_mul(4));
                work.expect("attempt to multiply with overflow");
                Ok(())
            }
            "declares sparse rows and cannot read them" => {
                assert!(problem.data.as_array().is_some(), "rows are dense");
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

register!(ConstraintPropagator, FlawedPropagator, "flawed_propagator", references: []);

#[typetag::serde(name = "flawed_propagator")]
impl ConstraintPropagator for FlawedPropagator {
    fn propagate(
        &self,
        constraints: &Constraints,
        _: Option<&Clustering>,
        problem: &Problem,
        ctx: &Context,
    ) -> Result<Propagated> {
        checked(self, &self.flaw)?;
        let looks = !self.has("never looks at the cancel flag");
        if looks {
            ctx.check()?;
        }
        let x = problem.data.to_dense();
        self.stumble(constraints, &x, problem)?;
        let n = x.nrows();
        let distance = |i: usize, j: usize| (&x.row(i) - &x.row(j)).mapv(|v| v * v).sum().sqrt();
        let share = if self.has("ignores the share") { 0.5 } else { self.share };
        let ignored = match self.flaw.as_str() {
            "ignores cannot-links" => Some(Kind::CannotLink),
            "ignores must-links" => Some(Kind::MustLink),
            _ => None,
        };
        let mut given = constraints.pairs().to_vec();
        if self.has("reads the first half of the constraints") {
            given.truncate(given.len().div_ceil(2));
        }
        if self.distances {
            let mut made = Array2::from_shape_fn((n, n), |(i, j)| distance(i, j));
            for c in &given {
                let (i, j) = (c.i as usize, c.j as usize);
                let length = match c.kind {
                    Kind::MustLink => made[[i, j]] * (1.0 - share),
                    Kind::CannotLink => made[[i, j]] * (1.0 + share) + 1.0,
                };
                made[[i, j]] = length;
                made[[j, i]] = length;
                if self.has("shortens one direction") {
                    made[[j, i]] = 0.5 * length + 0.1;
                }
            }
            if self.has("gives a distance below zero") {
                made[[0, 1]] = -1.0;
                made[[1, 0]] = -1.0;
            }
            return Ok(Propagated::Distances(made));
        }
        let mut made: BTreeMap<(u32, u32), Constraint> = BTreeMap::new();
        let mut draw = SeedPath::new(clock()).stream("share");
        let nearest = |i: usize| {
            let mut others: Vec<usize> = (0..n).filter(|&j| j != i).collect();
            others.sort_by(|&a, &b| distance(i, a).total_cmp(&distance(i, b)));
            others
        };
        let passed = given.iter().filter(|c| Some(c.kind) != ignored);
        let neighbours: Vec<_> = passed.map(|c| (*c, nearest(c.j as usize))).collect();
        for round in 0..self.rounds.min(n - 1) {
            if looks && !self.has("looks at the cancel flag before its loop alone") {
                ctx.check()?;
            }
            for (c, near) in &neighbours {
                let other = near[round];
                if other == c.i as usize {
                    continue;
                }
                let share = match self.flaw.as_str() {
                    "seeds itself from the clock" => draw.unit().max(0.01),
                    "adds up by thread" if n > 1000 => 1.0 / rayon::current_num_threads() as f64,
                    "passes more weight on than was given" => 1000.0,
                    _ => share,
                };
                let next = Constraint::new(c.i as usize, other, c.kind).weighing(share * c.weight);
                let old = made.entry((next.i, next.j)).or_insert(next);
                // Of several sources the heaviest counts, of as heavy ones the must-link.
                let heavier = (next.weight, next.kind == Kind::MustLink);
                if heavier > (old.weight, old.kind == Kind::MustLink) {
                    *old = next;
                }
            }
        }
        let hidden = usize::from(self.has("forgets a given constraint"));
        for c in constraints.pairs().iter().filter(|c| Some(c.kind) != ignored).skip(hidden) {
            made.insert((c.i, c.j), *c);
        }
        if self.has("makes a constraint of none") {
            made.entry((0, 1)).or_insert(Constraint::must(0, 1));
        }
        Ok(Propagated::Constraints(Constraints::new(n, made.into_values())?))
    }

    fn properties(&self) -> PropagatorProperties {
        let affinity = self.has("declares affinities and gives constraints");
        let distances = self.distances.then_some(DataKind::Distances);
        PropagatorProperties {
            gives: affinity.then_some(DataKind::Affinity).or(distances),
            ..PropagatorProperties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        match self.flaw.as_str() {
            "needs no memory" => 0,
            _ if self.distances => (8 * shape.n * shape.n) as u64,
            _ => (8 * shape.n * (1 + shape.constraints) * (1 + self.rounds.min(shape.n))) as u64,
        }
    }
}
