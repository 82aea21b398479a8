//! The oracle that has some objects in the wrong class.

use std::collections::BTreeSet;

use mustlink_core::prelude::*;

use crate::parts::pair_hash::PairHash;
use crate::parts::wrapping::{FromClasses, classes};

/// Answers from partly wrong classes, so that its replies never contradict each other.
///
/// # Method
/// Each object of known class is put into another class with probability `rate`, for the whole run; all other classes
/// are equally likely. Both draws are hashes of seed and object. At rate 0 it is the same as `truth`.
/// # Errors
/// `Usage` without classes.
#[options]
pub struct NoisyLabels {
    /// Share of the objects that get a wrong class.
    #[option(default = 0.1, min = 0.0, max = 1.0)]
    pub rate: f64,
}

#[plugin("noisy_labels")]
impl Oracle for NoisyLabels {
    fn open(&self, scene: &Scene) -> Result<Box<dyn Respondent>> {
        let truth = classes(scene, "noisy_labels")?;
        let names: Vec<u32> =
            truth.iter().flatten().copied().collect::<BTreeSet<_>>().into_iter().collect();
        let path = scene.ctx.path();
        let (wrong, other) =
            (PairHash::new(path, "noisy_labels"), PairHash::new(path, "noisy_labels.class"));
        let labels = truth.iter().zip(0..).map(|(&class, i)| {
            let class = class?;
            if names.len() < 2 || wrong.uniform(i, i) >= self.rate {
                return Some(class);
            }
            let others = names.iter().filter(|&&c| c != class);
            let at = (other.uniform(i, i) * (names.len() - 1) as f64) as usize;
            others.copied().nth(at)
        });
        Ok(Box::new(FromClasses(labels.collect())))
    }
}
