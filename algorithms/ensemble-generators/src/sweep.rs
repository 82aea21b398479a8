//! Runs of one clusterer with the values of a list for one of its options.

use mustlink_core::prelude::*;
use serde_json::Value;

use crate::parts::member_input::MemberInput;
use crate::parts::members::{in_parallel, most_clusters, most_memory, properties};

/// One run of a clusterer for each value of one of its options.
///
/// # Method
/// Member t is the clusterer with option `param` set to the t-th value. Each starts on its own, or all from the same
/// start.
/// # Input and output
/// The input of the clusterer. As many partitions as values, in their order.
/// # Errors
/// `BadParam` for an option that the clusterer does not have and for a value that it rejects. A member that fails is
/// made again, `max_failures` times in all; then its error is returned.
/// # Cost and randomness
/// One run for each value, in parallel; random in the starts.
/// # References
/// [DomeniconiAlRazgan2008]: `lac` over `h` = 1, 3, 5, 7, 10.
#[options]
pub struct Sweep {
    /// Clusterer that makes a member.
    #[option(slot = "kmeans")]
    pub clusterer: Option<Box<dyn BaseClusterer>>,
    /// Option that varies; a dot leads into a plugin that the clusterer contains (`clusterer.h`).
    #[option(default = "k".into())]
    pub param: String,
    /// Values of the option, one member each.
    #[option(nonempty = true)]
    #[option(default = (2..=6).map(Value::from).collect())]
    pub values: Vec<Value>,
    /// Let all members draw the same random numbers, so that only the option differs.
    pub same_start: bool,
    /// Number of failed members that are made again before the run fails.
    #[option(min = 0, inert = "no member of the small problems fails")]
    pub max_failures: usize,
}

impl Sweep {
    /// The clusterer once for each value.
    fn clusterers(&self) -> Result<Vec<Box<dyn BaseClusterer>>> {
        let clusterer = self.clusterer()?;
        if self.values.is_empty() {
            return Err(Error::bad_param("values", "an empty list", "at least one value"));
        }
        let config = RoleObject::to_value(&**clusterer);
        let tag = clusterer.typetag_name();
        let with = |value: &Value| {
            let mut config = config.clone();
            let mut at = &mut config;
            let mut steps: Vec<&str> = self.param.split('.').collect();
            let last = steps.pop().unwrap_or_default();
            for step in steps {
                let held = at.get_mut(step).filter(|v| v.is_object());
                at = held.ok_or_else(|| {
                    Error::bad_param("param", &self.param, format!("an option of {tag}"))
                })?;
            }
            at[last] = value.clone();
            <dyn BaseClusterer as RoleObject>::from_value(config).map_err(|message| {
                let legal = format!("a value of option {} of {tag} ({message})", self.param);
                Error::bad_param("values", value, legal)
            })
        };
        self.values.iter().map(with).collect()
    }
}

#[plugin("sweep", cites = ["DomeniconiAlRazgan2008"], version = 2, waives = ["hard_problems_have_an_outcome" => "its settings name a number of clusters that one object does not have"])]
impl EnsembleGenerator for Sweep {
    fn generate(&self, problem: &Problem, ctx: &Context) -> Result<Ensemble> {
        let clusterers = self.clusterers()?;
        in_parallel(problem.n(), clusterers.len(), self.max_failures, ctx, |t, own| {
            // With one start for all, failed members would fail again: they draw their own numbers.
            let first = own.path() == ctx.child("member").index(t).path();
            let shared = ctx.child("member").index(0);
            let ctx = if self.same_start && first { &shared } else { own };
            MemberInput::whole(problem).member(&*clusterers[t], problem, t, ctx).map(|m| vec![m])
        })
    }

    fn properties(&self) -> GeneratorProperties {
        // What is wrong with the options is reported by `generate`.
        let Ok(clusterers) = self.clusterers() else { return GeneratorProperties::default() };
        properties(clusterers.iter().map(|c| &**c))
    }

    fn size(&self, shape: &Shape) -> Option<(usize, usize)> {
        let all = self.clusterers().ok()?;
        Some((all.len(), all.iter().map(|c| most_clusters(&**c, shape)).max()?))
    }

    fn memory(&self, shape: &Shape, labels_only: bool) -> u64 {
        let all = self.clusterers();
        all.map_or(0, |all| most_memory(all.len(), &all, shape, labels_only))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_base_clusterers as _;
    use mustlink_laws::fixtures;
    use serde_json::json;

    #[test]
    fn one_member_for_each_value() {
        let (p, _) = fixtures::dense(1);
        let e = Sweep::default().generate(&p, &Context::new(1)).unwrap();
        assert_eq!(e.members().iter().map(|m| m.k).collect::<Vec<_>>(), [2, 3, 4, 5, 6]);
        assert!(!Sweep::default().properties().needs_k);
    }

    #[test]
    fn one_start_for_all_if_asked() {
        let (p, _) = fixtures::dense(1);
        let labels = |same_start| {
            let kmeans =
                json!({ "type": "kmeans", "init": "random", "restarts": 1, "max_iterations": 1 });
            let clusterer = <dyn BaseClusterer as RoleObject>::from_value(kmeans).unwrap();
            let g = Sweep {
                clusterer: Some(clusterer),
                param: "tolerance".into(),
                values: vec![json!(0.1), json!(0.2), json!(0.3)],
                same_start,
                ..Sweep::default()
            };
            let e = g.generate(&p, &Context::new(1)).unwrap();
            e.members().iter().map(|m| m.labels.clone()).collect::<Vec<_>>()
        };
        let (same, own) = (labels(true), labels(false));
        assert!(same[0] == same[1] && same[1] == same[2]);
        assert!(own[0] != own[1] || own[1] != own[2]);
        assert_eq!(own[0], same[0]);
    }

    #[test]
    fn wrong_options_and_values_are_named() {
        let (p, _) = fixtures::dense(1);
        let fails = |param: &str, value: Value| {
            let g = Sweep { param: param.into(), values: vec![value], ..Sweep::default() };
            g.generate(&p, &Context::new(1)).unwrap_err().to_string()
        };
        assert!(
            fails("h", json!(1))
                .starts_with("values: must be a value of option h of kmeans (unknown field")
        );
        assert!(
            fails("k", json!("x"))
                .starts_with("values: must be a value of option k of kmeans (invalid type")
        );
        assert_eq!(fails("seed.k", json!(1)), "param: must be an option of kmeans, got seed.k");
        assert!(fails("k", json!(0)).contains("k"), "{}", fails("k", json!(0)));
    }
}
