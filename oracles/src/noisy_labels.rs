//! The oracle that has some objects in the wrong class.

use std::collections::BTreeSet;

use mustlink_core::prelude::*;

use crate::pair_hash::PairHash;
use crate::wrapping::{classes, classes_reply};

/// Answers from classes of which some are wrong, so that its replies never contradict each other.
///
/// # Method
/// Each object of known class is, with probability `rate`, put once and for all into another class,
/// each of the others alike; both draws are hashes of seed and object. At rate 0 it is `truth`.
/// # Errors
/// `BadParam` for a rate outside [0, 1]; `Usage` without classes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NoisyLabels {
    /// Share of the objects in a wrong class, in [0, 1].
    #[schemars(range(min = 0.0, max = 1.0))]
    pub rate: f64,
}

register!(Oracle, NoisyLabels, "noisy_labels", references: []);

#[typetag::serde(name = "noisy_labels")]
impl Oracle for NoisyLabels {
    fn open(&self, scene: &Scene) -> Result<Box<dyn Respondent>> {
        if !(0.0..=1.0).contains(&self.rate) {
            return Err(Error::bad_param("rate", self.rate, "in 0..=1"));
        }
        let truth = classes(scene, "noisy_labels")?;
        let names: Vec<u32> = truth.iter().flatten().copied().collect::<BTreeSet<_>>().into_iter().collect();
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
        Ok(Box::new(Mistaken { labels: labels.collect() }))
    }
}

struct Mistaken {
    labels: Vec<Option<u32>>,
}

impl Respondent for Mistaken {
    fn ask(&mut self, question: &Question) -> Result<Outcome> {
        classes_reply(&self.labels, question)
    }
}
