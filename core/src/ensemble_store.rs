//! The ensembles of a run, kept so that each is made once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::ensemble::Ensemble;

/// Hash of all that determines an ensemble.
pub(crate) type EnsembleKey = [u8; 32];

/// Ensembles of a run, each made once. Cheap to clone.
#[derive(Clone, Default)]
pub struct EnsembleStore(Arc<Mutex<HashMap<EnsembleKey, Arc<Ensemble>>>>);

impl EnsembleStore {
    /// The first ensemble that is kept under one of `keys`.
    pub(crate) fn find(
        &self,
        keys: impl IntoIterator<Item = EnsembleKey>,
    ) -> Option<Arc<Ensemble>> {
        let kept = self.0.lock().expect("no panic while holding it");
        keys.into_iter().find_map(|key| kept.get(&key).cloned())
    }

    /// Keeps `made` under `key`, or gives what another thread put there first.
    pub(crate) fn keep(&self, key: EnsembleKey, made: Arc<Ensemble>) -> Arc<Ensemble> {
        let mut kept = self.0.lock().expect("no panic while holding it");
        kept.entry(key).or_insert(made).clone()
    }
}
