//! The clusterer that makes an ensemble and combines it.

use mustlink_core::needs::{check_needs, check_size};
use mustlink_core::prelude::*;
use mustlink_kernels::agreement::members::warn_of_contradiction;

/// An ensemble as one clusterer: a generator makes many partitions, a consensus function combines them.
///
/// # Method
/// All plugins of a run that ask for the same ensemble share it.
/// # Input and output
/// The input of the generator. One label per object.
/// # Errors
/// The errors of generator and consensus; `BadParam` with the members that lack what the consensus needs.
/// # Cost and randomness
/// The sum of both. The seed of the ensemble depends on the run, not on the place of this clusterer in the
/// configuration.
/// # References
/// [StrehlGhosh2002].
#[options]
pub struct Ensemble {
    /// Number of clusters. If absent, the k of the problem.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Generator that makes the members.
    #[option(slot = "random_init")]
    pub generator: Option<Box<dyn EnsembleGenerator>>,
    /// Consensus function that combines the members.
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
        let made = consensus.combine(&members, &problem, &ctx.child("consensus"));
        let made = made.map_err(|e| e.at("consensus"))?;
        warn_of_contradiction(&members, &made, problem.k, ctx)?;
        Ok(made)
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
    /// Shape of the data that the consensus gets, and the number of members. These may have more clusters than are
    /// wanted.
    fn combined(&self, shape: &Shape) -> (Shape, usize) {
        let shape = Shape { k: self.k.unwrap_or(shape.k), ..*shape };
        let generator = self.generator();
        let (members, k) = generator.as_ref().map_or((1, shape.k), |g| size(&***g, &shape));
        (Shape { k: shape.k.max(k), ..shape }, members)
    }
}

/// Number of members that a generator makes, and the largest number of clusters of one.
fn size(generator: &(dyn EnsembleGenerator + 'static), shape: &Shape) -> (usize, usize) {
    generator.size(shape).unwrap_or_else(|| {
        let config = RoleObject::to_value(generator);
        let count = config.get("members").and_then(|m| usize::try_from(m.as_u64()?).ok());
        (count.unwrap_or(100), shape.k)
    })
}
