//! What do different clusterers say about the same objects?

use mustlink_core::prelude::*;

use crate::members::{Seen, Settings};

/// Some members of a heterogeneous ensemble.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Part {
    /// What makes them.
    #[schemars(extend("x-default" = "kmeans"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusterer: Option<Box<dyn BaseClusterer>>,
    /// How many.
    #[schemars(range(min = 1, max = 65535))]
    pub count: usize,
}

impl Default for Part {
    fn default() -> Self {
        Part { clusterer: None, count: 10 }
    }
}

/// Several clusterers, each run some times on all objects.
///
/// # Method
/// The parts in order, each clusterer `count` times under seed paths of its own.
/// # Input and output
/// What every clusterer takes. As many partitions as the counts add up to.
/// # Errors
/// `BadParam` for a count of 0; a member that fails is made again, `max_failures` times in all, then
/// its error is returned.
/// # Cost and randomness
/// One run for each member, in parallel; random as the clusterers are.
/// # References
/// [StrehlGhosh2002] §4.5.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Heterogeneous {
    /// The parts: `{ clusterer, count }` each.
    #[schemars(length(min = 1))]
    pub parts: Vec<Part>,
    /// How many failed members are made again before giving up.
    #[schemars(range(min = 0))]
    pub max_failures: usize,
    /// Whether members keep their centres, weights and the like, which weighted consensus functions need.
    pub keep_extras: bool,
}

impl Default for Heterogeneous {
    fn default() -> Self {
        Heterogeneous { parts: vec![Part::default()], max_failures: 0, keep_extras: true }
    }
}

register!(EnsembleGenerator, Heterogeneous, "heterogeneous", references: ["StrehlGhosh2002"]);

type Clusterers = Vec<(Box<dyn BaseClusterer>, usize)>;

impl Heterogeneous {
    fn clusterers(&self) -> Result<Clusterers> {
        let part = |p: &Part| {
            if p.count == 0 {
                return Err(Error::bad_param("count", 0, ">= 1"));
            }
            Ok((slot::<Part, dyn BaseClusterer>(&p.clusterer, "clusterer")?.into_owned(), p.count))
        };
        let at = |i: usize, e: Error| e.at(&format!("parts[{i}]"));
        self.parts.iter().enumerate().map(|(i, p)| part(p).map_err(|e| at(i, e))).collect()
    }

    fn settings(&self) -> Settings<'_> {
        Settings {
            members: self.parts.iter().map(|p| p.count).sum(),
            k: None,
            max_failures: self.max_failures,
            keep_extras: self.keep_extras,
        }
    }
}

#[typetag::serde(name = "heterogeneous")]
impl EnsembleGenerator for Heterogeneous {
    fn generate(&self, problem: &Problem, ctx: &Context) -> Result<Ensemble> {
        let parts = self.clusterers()?;
        if parts.is_empty() {
            return Err(Error::bad_param("parts", "an empty list", "at least one part"));
        }
        let of_member: Vec<&dyn BaseClusterer> =
            parts.iter().flat_map(|(c, count)| std::iter::repeat_n(&**c, *count)).collect();
        let seen = Seen::whole(problem);
        let members = self.settings().side_by_side(ctx, |t, ctx| {
            seen.member(of_member[t], problem, t, ctx).map(|m| vec![m])
        })?;
        Ensemble::new(problem.n(), members)
    }

    fn properties(&self) -> GeneratorProperties {
        // What is wrong with the options is reported by `generate`.
        let Ok(parts) = self.clusterers() else { return GeneratorProperties::default() };
        crate::members::properties(parts.iter().map(|(c, _)| &**c))
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let Ok(parts) = self.clusterers() else { return 0 };
        parts.iter().map(|(c, _)| self.settings().memory(&**c, shape)).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_base_clusterers as _;
    use mustlink_core::contract::fixtures;
    use serde_json::json;

    #[test]
    fn parts_come_in_order() {
        let (p, _) = fixtures::dense(1);
        let part = |k: usize, count: usize| {
            let config = json!({ "type": "kmeans", "k": k });
            let clusterer = <dyn BaseClusterer as RoleObject>::from_value(config).unwrap();
            Part { clusterer: Some(clusterer), count }
        };
        let g = Heterogeneous { parts: vec![part(2, 3), part(5, 1)], ..Heterogeneous::default() };
        let e = g.generate(&p, &Context::new(1)).unwrap();
        assert_eq!(e.members().iter().map(|m| m.k).collect::<Vec<_>>(), [2, 2, 2, 5]);
        assert!(!g.properties().needs_k);
        let none = Heterogeneous { parts: vec![part(2, 3), part(5, 0)], ..g };
        let message = none.generate(&p, &Context::new(1)).unwrap_err().to_string();
        assert_eq!(message, "parts[1].count: must be >= 1, got 0");
    }
}
