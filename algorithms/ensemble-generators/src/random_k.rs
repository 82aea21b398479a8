//! Runs of one clusterer with different numbers of clusters.

use mustlink_core::prelude::*;

use crate::parts::member_k::{MemberK, Uniform};
use crate::parts::recipe::Recipe;

/// Many runs of one clusterer on all objects, each with its own start and number of clusters.
///
/// # Method
/// Each member draws its number of clusters, by default between 2 and √n, then clusters all objects.
/// # Input and output
/// The input of the clusterer; the k of the problem is not used. `members` partitions.
/// # Errors
/// `BadParam` for `members` and for numbers of clusters outside 1 to n. A member that fails is made again,
/// `max_failures` times in all; then its error is returned.
/// # Cost and randomness
/// `members` runs, in parallel; random in their k and their starts.
/// # References
/// [FredJain2005].
#[options]
pub struct RandomK {
    /// Number of members (τ).
    #[option(default = 100, min = 1, max = 65535)]
    pub members: usize,
    /// Number of clusters of each member: `{ min, max }` (if absent, 2 and √n) or `{ list }`.
    #[option(default = Some(MemberK::Uniform(Uniform::default())))]
    pub k: Option<MemberK>,
    /// Clusterer that makes a member.
    #[option(slot = "kmeans")]
    pub clusterer: Option<Box<dyn BaseClusterer>>,
    /// Number of failed members that are made again before the run fails.
    #[option(min = 0, inert = "no member of the small problems fails")]
    pub max_failures: usize,
}

impl RandomK {
    fn recipe(&self) -> Recipe {
        Recipe {
            members: self.members,
            k: self.k.clone(),
            clusterer: self.clusterer.clone(),
            max_failures: self.max_failures,
        }
    }
}

#[plugin("random_k", cites = ["FredJain2005"], version = 2)]
impl EnsembleGenerator for RandomK {
    fn generate(&self, problem: &Problem, ctx: &Context) -> Result<Ensemble> {
        self.recipe().generate(None, problem, ctx)
    }

    fn properties(&self) -> GeneratorProperties {
        self.recipe().properties(None)
    }

    fn size(&self, shape: &Shape) -> Option<(usize, usize)> {
        Some(self.recipe().size(shape))
    }

    fn memory(&self, shape: &Shape, labels_only: bool) -> u64 {
        self.recipe().memory(None, shape, labels_only)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_base_clusterers as _;
    use mustlink_laws::fixtures;

    use crate::parts::member_k::List;

    #[test]
    fn numbers_of_clusters_vary_between_the_bounds() {
        let (p, _) = fixtures::dense(1);
        let ks = |k| {
            let g = RandomK { members: 40, k: Some(k), ..RandomK::default() };
            let e = g.generate(&p, &Context::new(3)).unwrap();
            let mut ks: Vec<usize> = e.members().iter().map(|m| m.k).collect();
            ks.sort_unstable();
            ks.dedup();
            ks
        };
        // √45 rounded up is 7, and both bounds are reached.
        assert_eq!(ks(MemberK::Uniform(Uniform::default())), [2, 3, 4, 5, 6, 7]);
        assert_eq!(RandomK::default().size(&p.shape()), Some((100, 7)));
        assert_eq!(ks(MemberK::List(List { list: vec![3, 9] })), [3, 9]);
        assert_eq!(ks(MemberK::Uniform(Uniform { min: Some(4), max: Some(4) })), [4]);
        // More than √45 at least: that is the largest, too.
        let nine = Some(MemberK::Uniform(Uniform { min: Some(9), max: None }));
        let g = RandomK { members: 4, k: nine, ..RandomK::default() };
        assert_eq!(g.size(&p.shape()), Some((4, 9)));
    }

    #[test]
    fn a_clusterer_that_names_k_has_the_last_word_and_a_warning_says_so() {
        let (p, _) = fixtures::dense(1);
        let three = serde_json::json!({ "type": "kmeans", "k": 3 });
        let clusterer = Some(<dyn BaseClusterer as RoleObject>::from_value(three).unwrap());
        let g = RandomK { members: 10, clusterer, ..RandomK::default() };
        let ctx = Context::new(3);
        let e = g.generate(&p, &ctx).unwrap();
        assert!(e.members().iter().all(|m| m.k == 3));
        assert_eq!(g.size(&p.shape()), Some((10, 3)));
        let warnings = ctx.warnings();
        assert!(
            warnings.len() == 1
                && warnings[0].contains("every member has 3 clusters, as its clusterer sets")
        );
    }

    #[test]
    fn impossible_numbers_are_named() {
        let (p, _) = fixtures::dense(1);
        let fails = |k| {
            let g = RandomK { members: 2, k: Some(k), ..RandomK::default() };
            g.generate(&p, &Context::new(3)).unwrap_err().root().to_string()
        };
        let five_to_two = Uniform { min: Some(5), max: Some(2) };
        let text = "k: must be 1 <= min <= max <= 45, got 5 to 2";
        assert_eq!(fails(MemberK::Uniform(five_to_two)), text);
        let text = "k.list: must be numbers between 1 and 45, got 0";
        assert_eq!(fails(MemberK::List(List { list: vec![3, 0] })), text);
        let text = "k.list: must be numbers between 1 and 45, got an empty list";
        assert_eq!(fails(MemberK::List(List::default())), text);
    }
}
