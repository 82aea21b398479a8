//! Runs of different clusterers on the same objects.

use mustlink_core::prelude::*;

use crate::parts::member_input::MemberInput;
use crate::parts::members::{in_parallel, most_clusters, most_memory, properties};

/// Some members of a heterogeneous ensemble.
#[options]
pub struct Part {
    /// Clusterer that makes them.
    #[option(slot = "kmeans")]
    pub clusterer: Option<Box<dyn BaseClusterer>>,
    /// Number of members.
    #[option(default = 10, min = 1, max = 65535)]
    pub count: usize,
    /// Weight of each of them in a consensus (selectors count all members alike). Members of weight 0 are not made.
    #[option(default = 1.0, min = 0.0)]
    pub weight: f64,
}

/// Several clusterers, each run several times on all objects.
///
/// # Method
/// Runs the parts in order: each clusterer `count` times, with its own seed paths. A member gets the weight of its
/// part.
/// # Input and output
/// Data that every clusterer accepts. As many partitions as the sum of the counts.
/// # Errors
/// `BadParam` for a count of 0, for a negative weight and if no weight is above 0. A member that fails is made again,
/// `max_failures` times in all; then its error is returned.
/// # Cost and randomness
/// One run for each member, in parallel. Random only in the clusterers.
/// # References
/// [StrehlGhosh2002] §4.5.
#[options]
pub struct Heterogeneous {
    /// The parts, each as `{ clusterer, count, weight }`.
    #[option(default = vec![Part::default()])]
    #[option(nonempty = true)]
    pub parts: Vec<Part>,
    /// Number of failed members that are made again before the run fails.
    #[option(min = 0, inert = "no member of the small problems fails")]
    pub max_failures: usize,
}

impl Heterogeneous {
    /// The clusterer of each part.
    fn clusterers(&self) -> Result<Vec<Box<dyn BaseClusterer>>> {
        let part = |p: &Part| Ok(p.clusterer()?.into_owned());
        let at = |i: usize, e: Error| e.at(&format!("parts[{i}]"));
        self.parts.iter().enumerate().map(|(i, p)| part(p).map_err(|e| at(i, e))).collect()
    }

    fn members(&self) -> usize {
        self.parts.iter().map(|p| p.count).sum()
    }
}

#[plugin("heterogeneous", cites = ["StrehlGhosh2002"], version = 3)]
impl EnsembleGenerator for Heterogeneous {
    fn generate(&self, problem: &Problem, ctx: &Context) -> Result<Ensemble> {
        let clusterers = self.clusterers()?;
        if clusterers.is_empty() {
            return Err(Error::bad_param("parts", "an empty list", "at least one part"));
        }
        if self.parts.iter().all(|p| p.weight == 0.0) {
            return Err(Error::bad_param("parts", "only weights of 0", "some weight > 0"));
        }
        let parts = clusterers.iter().zip(&self.parts);
        let of_member: Vec<(&dyn BaseClusterer, f64)> =
            parts.flat_map(|(c, p)| std::iter::repeat_n((&**c, p.weight), p.count)).collect();
        let seen = MemberInput::whole(problem);
        in_parallel(problem.n(), self.members(), self.max_failures, ctx, |t, ctx| {
            let (clusterer, weight) = of_member[t];
            if weight == 0.0 {
                return Ok(Vec::new());
            }
            let member = seen.member(clusterer, problem, t, ctx)?;
            Ok(vec![Member { weight, ..member }])
        })
    }

    fn properties(&self) -> GeneratorProperties {
        // What is wrong with the options is reported by `generate`.
        let Ok(parts) = self.clusterers() else { return GeneratorProperties::default() };
        properties(parts.iter().map(|c| &**c))
    }

    fn size(&self, shape: &Shape) -> Option<(usize, usize)> {
        let all = self.clusterers().ok()?;
        Some((self.members(), all.iter().map(|c| most_clusters(&**c, shape)).max()?))
    }

    fn memory(&self, shape: &Shape, labels_only: bool) -> u64 {
        let all = self.clusterers();
        all.map_or(0, |all| most_memory(self.members(), &all, shape, labels_only))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::Compose;
    use mustlink_base_clusterers as _;
    use mustlink_laws::fixtures;
    use serde_json::json;

    #[test]
    fn parts_come_in_order() {
        let (p, _) = fixtures::dense(1);
        let part = |k: usize, count: usize| {
            let config = json!({ "type": "kmeans", "k": k });
            let clusterer = <dyn BaseClusterer as RoleObject>::from_value(config).unwrap();
            Part { clusterer: Some(clusterer), count, ..Part::default() }
        };
        let g = Heterogeneous { parts: vec![part(2, 3), part(5, 1)], ..Heterogeneous::default() };
        let e = g.generate(&p, &Context::new(1)).unwrap();
        assert_eq!(e.members().iter().map(|m| m.k).collect::<Vec<_>>(), [2, 2, 2, 5]);
        assert!(!g.properties().needs_k);
        let none = Heterogeneous { parts: vec![part(2, 3), part(5, 0)], ..g };
        let message = none.generate(&p, &Context::new(1)).unwrap_err().to_string();
        assert_eq!(message, "parts[1].count: must be between 1 and 65535, got 0");
    }

    #[test]
    fn members_weigh_what_their_part_does_whatever_lies_around_them() {
        let (p, _) = fixtures::dense(1);
        let part = |count, weight| Part { count, weight, ..Part::default() };
        let parts = vec![part(2, 0.5), part(1, 3.0)];
        let g = Heterogeneous { parts, ..Heterogeneous::default() };
        let weights = |g: &dyn EnsembleGenerator| -> Vec<f64> {
            let e = g.generate(&p, &Context::new(1)).unwrap();
            e.members().iter().map(|m| m.weight).collect()
        };
        assert_eq!(weights(&g), [0.5, 0.5, 3.0]);
        let nested: Box<dyn EnsembleGenerator> = Box::new(g);
        let around = Compose { members: 2, generator: nested, ..Compose::default() };
        assert_eq!(weights(&around), [0.5, 0.5, 3.0, 0.5, 0.5, 3.0]);
        let parts = vec![part(2, 0.0), part(1, 3.0)];
        assert_eq!(weights(&Heterogeneous { parts, ..Heterogeneous::default() }), [3.0]);
        let fails = |weights: [f64; 2]| {
            let parts = weights.map(|w| part(1, w)).to_vec();
            let g = Heterogeneous { parts, ..Heterogeneous::default() };
            g.generate(&p, &Context::new(1)).unwrap_err().to_string()
        };
        assert_eq!(fails([1.0, -2.0]), "parts[1].weight: must be at least 0, got -2");
        assert_eq!(
            fails([f64::NAN, 1.0]),
            "parts[0].weight: must be at least 0, got NaN or an infinity"
        );
        assert_eq!(fails([0.0, 0.0]), "parts: must be some weight > 0, got only weights of 0");
    }
}
