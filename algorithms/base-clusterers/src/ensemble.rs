//! Which partition do many partitions agree on?

use mustlink_core::needs::{check_needs, check_size};
use mustlink_core::prelude::*;

/// An ensemble as one clusterer: a generator makes many partitions, a consensus function one.
///
/// # Method
/// The ensemble is shared with every other plugin of the run that asks for the same one.
/// # Input and output
/// What the generator takes. One label per object.
/// # Errors
/// Those of generator and consensus; `BadParam` naming the members that lack what the consensus needs.
/// # Cost and randomness
/// The sum of both; the ensemble is seeded from the run, not from this place.
/// # References
/// [StrehlGhosh2002].
#[options]
pub struct Ensemble {
    /// Number of clusters; absent: that of the problem.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// What makes the members.
    #[option(slot = "random_init")]
    pub generator: Option<Box<dyn EnsembleGenerator>>,
    /// What combines them.
    #[option(slot = "voting")]
    pub consensus: Option<Box<dyn ConsensusFunction>>,
}

#[plugin("ensemble", cites = ["StrehlGhosh2002"])]
impl BaseClusterer for Ensemble {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let generator = self.generator()?;
        let consensus = self.consensus()?;
        // What is refused for its size is refused before any member is made.
        check_size(problem.n(), &**consensus)?;
        let mut problem = problem.clone();
        problem.k = self.k.or(problem.k);
        let members = if consensus.needs().labels_only {
            ctx.ensemble_labels(&**generator, &problem)
        } else {
            ctx.ensemble(&**generator, &problem)
        };
        let members = members.map_err(|e| e.at("generator"))?;
        check_needs(&members, &**consensus)?;
        consensus
            .combine(&members, &problem, &ctx.child("consensus"))
            .map_err(|e| e.at("consensus"))
    }

    fn properties(&self) -> Properties {
        let generator = self.generator();
        let consensus = self.consensus();
        // A default that is not linked is reported by `cluster`.
        let (Ok(generator), Ok(consensus)) = (generator, consensus) else {
            return Properties::default();
        };
        let facts = generator.properties();
        // The consensus has the last word, so that what it promises holds.
        let promises = consensus.needs().promises();
        Properties {
            accepts: facts.accepts,
            needs_k: self.k.is_none() && (facts.needs_k || consensus.needs().fixed_k),
            reads_constraints: facts.reads_constraints || promises.reads_constraints,
            ..promises
        }
    }

    fn operations(&self, shape: &Shape) -> Option<f64> {
        let consensus = self.consensus().ok()?;
        let (combined, members) = self.combined(shape);
        Some(consensus.operations(&combined, members))
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let generator = self.generator();
        let consensus = self.consensus();
        let (combined, members) = self.combined(shape);
        let shape = Shape { k: self.k.unwrap_or(shape.k), ..*shape };
        let labels_only = consensus.as_ref().is_ok_and(|c| c.needs().labels_only);
        generator.map_or(0, |g| g.memory(&shape, labels_only))
            + consensus.map_or(0, |c| match c.needs().max_n {
                // Refused for its size by name, with what takes more objects.
                Some(most) if shape.n > most => 0,
                _ => c.memory(&combined, members),
            })
    }
}

impl Ensemble {
    /// What the consensus sees of data of this shape, and how many members. These may have more clusters than are
    /// wanted.
    fn combined(&self, shape: &Shape) -> (Shape, usize) {
        let shape = Shape { k: self.k.unwrap_or(shape.k), ..*shape };
        let generator = self.generator();
        let (members, k) = generator.as_ref().map_or((1, shape.k), |g| size(&***g, &shape));
        (Shape { k: shape.k.max(k), ..shape }, members)
    }
}

/// How many members a generator makes, and the most clusters of one.
fn size(generator: &(dyn EnsembleGenerator + 'static), shape: &Shape) -> (usize, usize) {
    generator.size(shape).unwrap_or_else(|| {
        let config = RoleObject::to_value(generator);
        let count = config.get("members").and_then(|m| usize::try_from(m.as_u64()?).ok());
        (count.unwrap_or(100), shape.k)
    })
}
