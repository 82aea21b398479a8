//! The members of a committee and their votes.

use std::borrow::Cow;
use std::sync::Arc;

use mustlink_core::prelude::*;
use mustlink_core::serde_json::json;
use mustlink_kernels::ensemble::co_association::{
    CoAssociation, MAX_MATRIX_BYTES, Representation, is_complete,
};

use crate::parts::asking::Asking;
use crate::parts::checks::known_k;
use crate::parts::neighbourhoods::Neighbourhoods;

/// Options of the committee, shared by all selectors that ask about disputed objects or pairs.
#[options]
pub struct Voting {
    /// Generator that makes the committee. If absent, `subsample`. With 100 000 objects or more, its k-means has one
    /// start, as published, and draws 80 000 objects for each member.
    pub generator: Option<Box<dyn EnsembleGenerator>>,
    /// Number of clusters. If absent, the k of the problem.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Let an object apart from k − 1 clusters join the last one without asking. This is correct only if k is the
    /// number of classes.
    #[option(default = true)]
    pub last_inference: bool,
    /// Storage of co-associations.
    pub representation: Representation,
    /// Largest size of the matrix in bytes; a larger matrix is not stored.
    #[option(default = MAX_MATRIX_BYTES, min = 0)]
    pub max_matrix_bytes: u64,
}

/// Objects from which on members are made by single starts, and draw no more of them: they differ by
/// their samples already, and ten starts of each on most of the objects take minutes.
const MANY: usize = 100_000;

impl Voting {
    /// Generator of the committee for `n` objects.
    fn makers(&self, n: usize) -> Result<Cow<'_, Box<dyn EnsembleGenerator>>> {
        if let Some(generator) = &self.generator {
            return Ok(Cow::Borrowed(generator));
        }
        let mut config = json!({"type": "subsample"});
        if n >= MANY {
            config["clusterer"] = json!({"type": "kmeans", "restarts": 1});
            config["rate"] = (0.8 * MANY as f64 / n as f64).into();
        }
        let failed = |message| Error::Plugin { tag: "subsample".into(), message };
        <dyn EnsembleGenerator as RoleObject>::from_value(config).map(Cow::Owned).map_err(failed)
    }

    /// The number of clusters, and what the members say.
    ///
    /// # Errors
    /// `MissingK`, `BadK`, `BadParam` for k; the errors of the generator.
    pub fn vote(
        &self,
        plugin: &str,
        problem: &Problem,
        groups: &Neighbourhoods,
    ) -> Result<(usize, Arc<Ensemble>)> {
        let k = known_k(self.k, problem, groups.eligible().len())?;
        let k = k.ok_or_else(|| Error::MissingK { plugin: plugin.into() })?;
        // Whatever the members could learn from what is given, they are not to repeat it.
        let seen = Problem { k: Some(k), ..problem.clone() };
        let generator = self.makers(problem.n())?;
        let ensemble = groups.ctx().ensemble_labels(&**generator, &seen);
        Ok((k, ensemble.map_err(|e| e.at("generator"))?))
    }

    /// Number of members that put two objects together, for all pairs.
    ///
    /// # Errors
    /// `BadParam` for members that leave objects out, and for a matrix beyond its limit.
    pub fn count(&self, ensemble: &Ensemble, ctx: &Context) -> Result<CoAssociation> {
        if !is_complete(ensemble) {
            let legal = "one that labels every object (out_of_sample other than leave_out)";
            let given = self.makers(ensemble.n())?.typetag_name();
            return Err(Error::bad_param("generator", given, legal));
        }
        CoAssociation::new(ensemble, self.representation, self.max_matrix_bytes, ctx)
    }

    /// Properties of a selector with this committee.
    pub fn properties(&self, asking: Asking) -> SelectorProperties {
        let generator = self.makers(0);
        SelectorProperties {
            needs_k: self.k.is_none(),
            skips_entailed: asking.skip_entailed,
            infers: self.last_inference,
            accepts_sparse: generator
                .is_ok_and(|g| g.properties().accepts.contains(&DataKind::Csr)),
            ..SelectorProperties::default()
        }
    }

    /// Bytes needed beyond the data.
    pub fn memory(&self, shape: &Shape) -> u64 {
        let generator = self.makers(shape.n);
        let n = shape.n as u64;
        // Counts of up to 65 535 members; what does not fit is held implicitly, in less.
        let matrix = match self.representation {
            Representation::Implicit => 0,
            _ => (n * n.saturating_sub(1)).min(self.max_matrix_bytes),
        };
        generator.map_or(0, |g| g.memory(shape, true)) + matrix + n * (128 + 8 * shape.k as u64)
    }
}
