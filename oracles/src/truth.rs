//! The oracle that knows the classes.

use std::sync::Arc;

use mustlink_core::prelude::*;

use crate::wrapping::objects;

/// Answers from the classes: must-link exactly where two objects are of one class.
///
/// # Input and output
/// The classes of the scene. An object of unknown class makes every pair with it "don't know".
/// # Errors
/// `Usage` without classes, `BadParam` when there is not one per object.
/// # References
/// [Basu2004] §4; [Greene2007] §4.2: a natural classification as the oracle.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Truth {}

register!(Oracle, Truth, "truth", references: ["Basu2004", "Greene2007"]);

#[typetag::serde(name = "truth")]
impl Oracle for Truth {
    fn open(&self, scene: &Scene) -> Result<Box<dyn Respondent>> {
        let labels = scene.labels.clone().ok_or_else(|| {
            Error::Usage(
                "the oracle truth answers from classes and there are none; name a class column, \
                 or choose another oracle"
                    .into(),
            )
        })?;
        if labels.len() != scene.n {
            return Err(Error::bad_param(
                "labels",
                format!("{} classes", labels.len()),
                format!("one class per object ({})", scene.n),
            ));
        }
        Ok(Box::new(Knowing { labels }))
    }
}

struct Knowing {
    labels: Arc<[Option<u32>]>,
}

impl Respondent for Knowing {
    fn ask(&mut self, question: &Question) -> Result<Outcome> {
        let (i, j) = objects(question, self.labels.len())?;
        let reply = match (self.labels[i], self.labels[j]) {
            (Some(a), Some(b)) if a == b => Reply::MustLink,
            (Some(_), Some(_)) => Reply::CannotLink,
            _ => Reply::DontKnow,
        };
        Ok(Outcome::Answered(Answer::of(reply)))
    }
}
