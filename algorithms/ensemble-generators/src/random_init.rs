//! What do many runs of one clusterer say, when only their starts differ?

use mustlink_core::ensemble::compact;
use mustlink_core::prelude::*;
use rayon::prelude::*;

/// Many runs of one clusterer on all objects, each with its own random start.
///
/// # Method
/// Member t runs the clusterer under its own seed path; nothing else differs. An ensemble of τ
/// members is the beginning of every longer one.
/// # Input and output
/// What the clusterer takes. `members` partitions of all objects.
/// # Errors
/// A member that fails is made again `max_failures` times in all, then its error is returned.
/// # Cost and randomness
/// `members` runs, in parallel.
/// # References
/// [StrehlGhosh2002]; [FredJain2005].
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RandomInit {
    /// Number of members (τ).
    #[schemars(range(min = 1, max = 65535))]
    pub members: usize,
    /// Number of clusters of each member; absent: that of the problem.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<usize>,
    /// What makes a member.
    #[schemars(extend("x-default" = "kmeans"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusterer: Option<Box<dyn BaseClusterer>>,
    /// How many failed members are made again before giving up.
    #[schemars(range(min = 0))]
    pub max_failures: usize,
}

impl Default for RandomInit {
    fn default() -> Self {
        RandomInit { members: 100, k: None, clusterer: None, max_failures: 0 }
    }
}

register!(EnsembleGenerator, RandomInit, "random_init",
    references: ["StrehlGhosh2002", "FredJain2005"]);

#[typetag::serde(name = "random_init")]
impl EnsembleGenerator for RandomInit {
    fn generate(&self, problem: &Problem, ctx: &Context) -> Result<Ensemble> {
        if !(1..=65_535).contains(&self.members) {
            return Err(Error::bad_param("members", self.members, "in 1..=65535"));
        }
        let clusterer = slot::<Self, dyn BaseClusterer>(&self.clusterer, "clusterer")?;
        let mut problem = problem.clone();
        problem.k = self.k.or(problem.k);
        let tag = clusterer.typetag_name();
        let attempts = |t: usize| {
            let member = ctx.child("member").index(t);
            (0..=self.max_failures).map(move |attempt| {
                if attempt == 0 { member.clone() } else { member.child("again").index(attempt) }
            })
        };
        let members = (0..self.members)
            .into_par_iter()
            .map(|t| {
                let mut failures = 0;
                let mut last = None;
                for ctx in attempts(t) {
                    match mustlink_core::run::cluster(&**clusterer, &problem, &ctx) {
                        Ok(run) => {
                            let (labels, k) = compact(&run.clustering.labels);
                            let provenance = format!("{tag} member {t}");
                            let c = run.clustering;
                            let extras = mustlink_core::ensemble::without_empty(c.extras, &c.labels, c.k);
                            let member = Member {
                                labels,
                                k,
                                objective: c.objective,
                                extras,
                                in_sample: None,
                                provenance,
                            };
                            return Ok((member, failures));
                        }
                        Err(e) => {
                            ctx.check()?;
                            failures += 1;
                            last = Some(e);
                        }
                    }
                }
                Err(last.expect("at least one attempt").at(&format!("member[{t}]")))
            })
            .collect::<Vec<Result<_>>>();
        let mut made = Vec::with_capacity(self.members);
        let mut failures = 0;
        for member in members {
            let (member, failed) = member?;
            failures += failed;
            made.push(member);
        }
        if failures > self.max_failures {
            return Err(Error::bad_param("max_failures", self.max_failures, format!(">= {failures} for this data")));
        }
        Ensemble::new(problem.n(), made)
    }

    fn properties(&self) -> GeneratorProperties {
        match slot::<Self, dyn BaseClusterer>(&self.clusterer, "clusterer") {
            Ok(clusterer) => {
                let facts = clusterer.properties();
                GeneratorProperties {
                    accepts: facts.accepts,
                    needs_k: self.k.is_none() && facts.needs_k,
                    reads_constraints: facts.reads_constraints,
                }
            }
            Err(_) => GeneratorProperties::default(),
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let clusterer = slot::<Self, dyn BaseClusterer>(&self.clusterer, "clusterer");
        let shape = Shape { k: self.k.unwrap_or(shape.k), ..*shape };
        let threads = rayon::current_num_threads().min(self.members) as u64;
        let kept = self.members * (4 * shape.n + 8 * shape.k * shape.d);
        kept as u64 + threads * clusterer.map_or(0, |c| c.memory(&shape))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_base_clusterers as _;
    use mustlink_core::contract::fixtures;

    #[test]
    fn a_shorter_ensemble_begins_a_longer_one() {
        let (p, _) = fixtures::dense(1);
        let make = |members| {
            RandomInit { members, ..RandomInit::default() }.generate(&p, &Context::new(3)).unwrap()
        };
        let (short, long) = (make(3), make(7));
        assert_eq!(short.members(), &long.members()[..3]);
    }
}
