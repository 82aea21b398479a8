//! Runs of one clusterer on random subsets of the objects.

use mustlink_core::prelude::*;

use crate::parts::member_input::{MemberInput, OutOfSample, Space};
use crate::parts::recipe::{Recipe, by_recipe};
use crate::parts::view::{View, subset};

/// Many runs of one clusterer, each on a random share of the objects; the others are classified.
///
/// # Method
/// Each member draws `rate` of the objects without replacement and clusters them; every other object joins the
/// nearest cluster in the member's own geometry.
/// # Input and output
/// The input of the clusterer; at most 16 MiB of dense rows are copied for a member. `members` partitions of all
/// objects, or with `out_of_sample = "leave_out"` of those each member drew. A member gets the constraints with both
/// ends in its sample.
/// # Errors
/// `BadParam` for `members`, `rate` and `k`. A member that fails is made again, `max_failures` times in all; then its
/// error is returned.
/// # Cost and randomness
/// `members` runs, in parallel, and O(k d) for each object left out; random in samples and starts.
/// # References
/// [Greene2007] Fig. 3: 2000 members, rate 0.8, spherical k-means from random starts.
#[options]
pub struct Subsample {
    /// Options shared by generators that run one clusterer.
    #[option(flatten)]
    pub recipe: Recipe,
    /// Share of the objects that a member gets; never fewer than k objects.
    #[option(default = 0.8, above = 0.0, max = 1.0)]
    pub rate: f64,
    /// Treatment of objects that a member did not get.
    pub out_of_sample: OutOfSample,
}

by_recipe!(Subsample, "subsample", cites = ["Greene2007"], version = 2);

impl View for Subsample {
    fn draw(&self, problem: &Problem, k: usize, ctx: &Context) -> Result<MemberInput> {
        let n = problem.n();
        let m = ((self.rate * n as f64).round() as usize).clamp(k.clamp(1, n), n);
        let mut rows = ctx.stream("sample").sample(n, m);
        rows.sort_unstable();
        Ok(MemberInput {
            problem: subset(problem, &rows),
            note: format!("{m} of {n} objects"),
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

    use mustlink_laws::fixtures::to_csr;
    use ndarray::{Array2, array};

    fn make(g: &Subsample, p: &Problem) -> Ensemble {
        g.generate(p, &Context::new(5)).unwrap()
    }

    #[test]
    fn objects_left_out_are_classified_by_the_member() {
        // Two groups far apart: whoever is left out, the partition is the same.
        let x = Array2::from_shape_fn((20, 2), |(i, s)| (i / 10 * 50 + i * (s + 1) % 7) as f64);
        let p = Problem::new(Data::dense(x).unwrap()).with_k(2);
        let g = Subsample {
            recipe: Recipe { members: 10, ..Recipe::default() },
            rate: 0.5,
            ..Subsample::default()
        };
        for m in make(&g, &p).members() {
            assert_eq!(m.in_sample.as_ref().unwrap().iter().filter(|s| **s).count(), 10);
            assert_eq!(m.labels, [vec![0; 10], vec![1; 10]].concat());
            assert_eq!(m.extras.centers.as_ref().unwrap().dim(), (2, 2));
        }
        let out = Subsample { out_of_sample: OutOfSample::LeaveOut, ..g.clone() };
        let near = Subsample { out_of_sample: OutOfSample::NearestObject, ..g };
        assert_eq!(make(&near, &p).members()[3].labels, [vec![0; 10], vec![1; 10]].concat());
        for (t, m) in make(&out, &p).members().iter().enumerate() {
            for i in 0..20 {
                let seen = m.in_sample.as_ref().unwrap()[i];
                assert_eq!(m.labels[i] == NONE, !seen, "member {t} object {i}");
            }
        }
    }

    #[test]
    fn the_search_for_nearest_objects_looks_at_the_flag() {
        let (p, _) = fixtures::dense(2);
        let looks = |out_of_sample| {
            let recipe = Recipe { members: 4, ..Recipe::default() };
            let ctx = Context::builder(SeedPath::new(5)).count_looks().build();
            Subsample { recipe, rate: 0.5, out_of_sample }.generate(&p, &ctx).unwrap();
            ctx.looks()
        };
        assert!(looks(OutOfSample::NearestObject) >= looks(OutOfSample::LeaveOut) + 4);
    }

    #[test]
    fn cosine_members_classify_by_cosine() {
        // By angle the last object belongs to the first group, by distance to the second.
        let x = array![
            [1.0, 0.1],
            [2.0, 0.1],
            [3.0, 0.2],
            [0.1, 1.0],
            [0.2, 2.0],
            [0.1, 1.5],
            [0.01, 0.0]
        ];
        let p = Problem::new(Data::dense(x).unwrap()).with_k(2);
        let cosine = serde_json::json!({ "type": "kmeans", "distortion": "cosine" });
        let clusterer = <dyn BaseClusterer as RoleObject>::from_value(cosine).unwrap();
        let g = Subsample {
            recipe: Recipe { members: 30, clusterer: Some(clusterer), ..Recipe::default() },
            ..Subsample::default()
        };
        for m in make(&g, &p).members() {
            assert_eq!(m.labels, [0, 0, 0, 1, 1, 1, 0], "{:?}", m.in_sample);
        }
    }

    #[test]
    fn sparse_and_dense_rows_give_the_same_members() {
        let (p, _) = fixtures::dense(2);
        let sparse = Data::csr(to_csr(&p.data.to_dense())).unwrap();
        let g = Subsample {
            recipe: Recipe { members: 8, ..Recipe::default() },
            ..Subsample::default()
        };
        let (a, b) = (make(&g, &p), make(&g, &Problem { data: sparse, ..p.clone() }));
        for (a, b) in a.members().iter().zip(b.members()) {
            assert_eq!(a.labels, b.labels);
        }
    }

    #[test]
    fn constraints_outside_the_sample_are_dropped_and_counted() {
        let (p, classes) = fixtures::dense(2);
        let p = p.with_constraints(fixtures::true_constraints(&classes, 30, 1));
        let pck = <dyn BaseClusterer as RoleObject>::from_value(
            serde_json::json!({ "type": "pck_means" }),
        );
        let g = Subsample {
            recipe: Recipe { members: 3, clusterer: Some(pck.unwrap()), ..Recipe::default() },
            ..Subsample::default()
        };
        assert!(g.properties().reads_constraints);
        let said = make(&g, &p).members()[0].provenance.clone();
        assert!(
            said.contains("36 of 45 objects") && said.contains("constraints dropped"),
            "{said}"
        );
    }

    #[test]
    fn a_sample_holds_at_least_k_objects() {
        let (p, _) = fixtures::dense(2);
        let g = Subsample {
            recipe: Recipe { members: 2, ..Recipe::default() },
            rate: 0.01,
            ..Subsample::default()
        };
        let e = make(&g, &p);
        let seen = |m: &Member| m.in_sample.as_ref().unwrap().iter().filter(|s| **s).count();
        assert_eq!(e.members().iter().map(seen).collect::<Vec<_>>(), [3, 3]);
        // Those of a clusterer that names k itself, too.
        let five = serde_json::json!({ "type": "kmeans", "k": 5 });
        let clusterer = Some(<dyn BaseClusterer as RoleObject>::from_value(five).unwrap());
        let recipe = Recipe { members: 2, clusterer, ..Recipe::default() };
        let e = make(&Subsample { recipe, ..g.clone() }, &p);
        assert_eq!(e.members().iter().map(seen).collect::<Vec<_>>(), [5, 5]);
        let none = Subsample { rate: 0.0, ..g }.generate(&p, &Context::new(1)).unwrap_err();
        assert_eq!(none.root().to_string(), "rate: must be above 0 and at most 1, got 0");
    }
}
