//! Runs of one clusterer on objects drawn with replacement.

use mustlink_core::prelude::*;

use crate::parts::member_input::{MemberInput, OutOfSample, Space};
use crate::parts::recipe::{Recipe, by_recipe};
use crate::parts::view::{View, subset};

/// Many runs of one clusterer, each on n objects drawn with replacement; the others are classified.
///
/// # Method
/// Each member draws n objects with replacement; an object drawn twice has twice the weight. About a third of the
/// objects are left out and join the nearest cluster in the member's own geometry.
/// # Input and output
/// The input of the clusterer. `members` partitions of all objects, or with `out_of_sample = "leave_out"` of those
/// each member drew.
/// # Errors
/// `BadParam` for `members` and `k`. A member that fails is made again, `max_failures` times in all; then its error
/// is returned.
/// # Cost and randomness
/// `members` runs, in parallel; random in samples and starts.
/// # References
/// [DudoitFridlyand2003].
#[options]
pub struct Bootstrap {
    /// Options shared by generators that run one clusterer.
    #[option(flatten)]
    pub recipe: Recipe,
    /// Treatment of objects that a member did not draw.
    pub out_of_sample: OutOfSample,
}

by_recipe!(Bootstrap, "bootstrap", cites = ["DudoitFridlyand2003"], version = 2);

impl View for Bootstrap {
    fn draw(&self, problem: &Problem, _: usize, ctx: &Context) -> Result<MemberInput> {
        let n = problem.n();
        let mut draw = ctx.stream("sample");
        let mut rows: Vec<usize> = (0..n).map(|_| draw.below(n)).collect();
        rows.sort_unstable();
        Ok(MemberInput {
            problem: subset(problem, &rows),
            note: format!("{n} objects drawn with replacement"),
            rows: Some(rows),
            space: Space::Whole,
            out_of_sample: self.out_of_sample,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_base_clusterers as _;
    use mustlink_laws::fixtures;

    #[test]
    fn about_a_third_is_left_out() {
        let (p, _) = fixtures::dense(1);
        let g = Bootstrap {
            recipe: Recipe { members: 20, ..Recipe::default() },
            out_of_sample: OutOfSample::LeaveOut,
        };
        let e = g.generate(&p, &Context::new(3)).unwrap();
        let missing = |m: &Member| m.labels.iter().filter(|l| **l == NONE).count();
        let all: usize = e.members().iter().map(missing).sum();
        // 45 · 20 · e⁻¹ ≈ 331.
        assert!((260..400).contains(&all), "{all}");
    }

    /// A constraint is bound to one copy of an object, and of this copy the label is taken.
    #[test]
    fn members_keep_the_constraints_of_objects_drawn_twice() {
        let (p, classes) = fixtures::dense(1);
        let constraints = fixtures::true_constraints(&classes, 60, 1);
        let clusterer = <dyn BaseClusterer as RoleObject>::from_value(
            serde_json::json!({ "type": "cop_kmeans" }),
        );
        let g = Bootstrap {
            recipe: Recipe {
                members: 10,
                clusterer: Some(clusterer.unwrap()),
                ..Recipe::default()
            },
            out_of_sample: OutOfSample::LeaveOut,
        };
        let e = g.generate(&p.with_constraints(constraints.clone()), &Context::new(3)).unwrap();
        for m in e.members() {
            let drawn = |c: &&Constraint| [c.i, c.j].iter().all(|&o| m.labels[o as usize] != NONE);
            let broken = constraints.pairs().iter().filter(drawn);
            assert!(broken.clone().count() > 5);
            assert_eq!(broken.filter(|c| c.is_violated(&m.labels)).count(), 0);
        }
    }

    #[test]
    fn every_object_gets_a_label() {
        let (p, classes) = fixtures::dense(1);
        let g = Bootstrap {
            recipe: Recipe { members: 6, ..Recipe::default() },
            ..Bootstrap::default()
        };
        for m in g.generate(&p, &Context::new(3)).unwrap().members() {
            assert!(m.labels.iter().all(|&l| (l as usize) < m.k));
            assert_eq!(mustlink_core::clustering::canonical(&classes), m.labels);
        }
    }
}
