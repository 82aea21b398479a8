//! Ensembles that the methods of one run share.

use std::sync::Arc;

use crate::context::Context;
use crate::ensemble::Ensemble;
use crate::error::{Error, Result};
use crate::far_origin::FarOrigin;
use crate::problem::Problem;
use crate::roles::EnsembleGenerator;
use crate::run::{check_magnitude, unweighted};

impl Context {
    /// As [`Context::ensemble`] for methods that read nothing but the labels: the members are the
    /// same, without their extras.
    pub fn ensemble_labels(
        &self,
        generator: &dyn EnsembleGenerator,
        problem: &Problem,
    ) -> Result<Arc<Ensemble>> {
        self.for_labels().ensemble(generator, problem)
    }

    /// The ensemble of `generator` on `problem`, made once per run and shared.
    ///
    /// Always seeded from the root path of the run's ensembles, so that one config gives one
    /// ensemble wherever it stands. Generators that do not read constraints get none.
    pub fn ensemble(
        &self,
        generator: &dyn EnsembleGenerator,
        problem: &Problem,
    ) -> Result<Arc<Ensemble>> {
        let mut problem = problem.clone();
        let mut hasher = blake3::Hasher::new();
        if generator.properties().reads_constraints {
            hasher.update(&problem.constraints.digest());
        } else {
            // Nothing in the tree looks at what may be asked: folds share the ensemble.
            problem.constraints = Arc::default();
            problem.eligible = None;
        }
        hasher.update(&problem.data.digest());
        hasher.update(format!("{:?}/{:?}", problem.k, problem.eligible_digest()).as_bytes());
        let config = serde_json::to_vec(&generator).map_err(|e| Error::Plugin {
            tag: generator.typetag_name().into(),
            message: e.to_string(),
        })?;
        hasher.update(&config);
        let root = self.ensemble_root();
        hasher.update(root.path().as_bytes());
        let key = |labels_only: bool| {
            *hasher.clone().update(&[u8::from(labels_only)]).finalize().as_bytes()
        };
        // A full ensemble also satisfies a labels-only request.
        let fitting = [false, true].into_iter().take(1 + usize::from(self.labels_only()));
        let (ensemble, warnings) = match self.ensembles().find(fitting.map(key)) {
            Some(kept) => kept,
            None => {
                // Made without holding the lock: nothing waits inside the thread pool. Two makers at
                // once make the same bits.
                let (made, warnings) =
                    root.listening(|root| made(generator, &problem, &root.child("ensemble")));
                let made = made.inspect_err(|_| root.repeat(&warnings))?;
                let kept = (Arc::new(made), Arc::new(warnings));
                self.ensembles().keep(key(self.labels_only()), kept)
            }
        };
        // Whoever takes it hears them: it may be any of those who share it that made it.
        root.repeat(&warnings);
        Ok(ensemble)
    }
}

/// The ensemble that `generator` makes, around the user's origin.
fn made(generator: &dyn EnsembleGenerator, problem: &Problem, ctx: &Context) -> Result<Ensemble> {
    check_magnitude(&problem.data)?;
    // A member on other features would not know of the weights.
    unweighted(generator.typetag_name(), &problem.data)?;
    match FarOrigin::of(&problem.data, generator) {
        Some(origin) => origin.shown_ensemble(generator.generate(&origin.problem(problem)?, ctx)?),
        None => generator.generate(problem, ctx),
    }
}
