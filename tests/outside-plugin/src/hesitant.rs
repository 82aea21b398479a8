//! An oracle that cannot answer about some pairs.

use mustlink::prelude::*;

/// Answers from the classes, but answers "don't know" for a fixed share of the pairs.
///
/// # Input and output
/// The classes of the scene. Pairs whose numbers add up to a multiple of `every` are not known, nor are
/// those of an object without a class.
/// # Errors
/// `Usage` without classes; `BadParam` when there is not one per object.
/// # Cost and randomness
/// O(1) per question; nothing random.
#[options]
pub struct Hesitant {
    /// How seldom it hesitates.
    #[option(default = 5, min = 2)]
    pub every: usize,
}

#[plugin("hesitant")]
impl Oracle for Hesitant {
    fn open(&self, scene: &Scene) -> Result<Box<dyn Respondent>> {
        let labels = scene.labels.as_ref().ok_or_else(|| {
            Error::Usage("oracle hesitant needs classes; name their column by --class".into())
        })?;
        if labels.len() != scene.n {
            let legal = format!("one per object ({})", scene.n);
            return Err(Error::bad_param("labels", labels.len(), legal));
        }
        Ok(Box::new(Knowing { labels: labels.to_vec(), every: self.every as u32 }))
    }
}

struct Knowing {
    labels: Vec<Option<u32>>,
    every: u32,
}

impl Respondent for Knowing {
    fn ask(&mut self, question: &Question) -> Result<Outcome> {
        let label = |i: u32| match self.labels.get(i as usize) {
            Some(label) => Ok(*label),
            None => Err(Error::IndexOutOfRange { index: i as usize, n: self.labels.len() }),
        };
        let both = (label(question.i)?, label(question.j)?);
        let reply = match both {
            _ if (question.i + question.j).is_multiple_of(self.every) => Reply::DontKnow,
            (Some(a), Some(b)) if a == b => Reply::MustLink,
            (Some(_), Some(_)) => Reply::CannotLink,
            _ => Reply::DontKnow,
        };
        Ok(Outcome::Answered(Answer::of(reply)))
    }
}
