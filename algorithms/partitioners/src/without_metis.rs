//! The engine `metis` in a build that lacks the library.

use mustlink_core::{Context, Error, Result};

use crate::task::{Partitioner, Task};

/// Rejects every graph.
pub(crate) struct Metis;

impl Partitioner for Metis {
    fn parts(&self, _: &Task, _: &Context) -> Result<Vec<u32>> {
        let legal = "\"multilevel\" (the default), \"spectral\" or \"greedy_ncut\" in this build. For METIS, \
                     build mustlink with `cargo install --locked --path cli --features metis`";
        Err(Error::bad_param("partitioner", "\"metis\"", legal))
    }
}
