//! The order in which oracles may wrap each other.
//!
//! A budget counts questions, whatever happens to them further inside, and a "don't know" must not
//! be flipped by noise. So the order is fixed, and another one is an error that prints it. Wrappers
//! hand their scene on unchanged: putting one around an oracle moves no seed.

use std::sync::Arc;

use mustlink_core::prelude::*;

use crate::parts::pair_hash::PairHash;

/// The order, outermost first.
const ORDER: &str = "budget → cost → crowd → dont_know → noise → source";

/// Opens `source`, the oracle that the wrapper `outer` holds.
///
/// # Errors
/// `BadParam` naming `source` when it may not stand inside `outer`; what the source returns.
pub fn open_source(
    outer: &dyn Oracle,
    source: &dyn Oracle,
    scene: &Scene,
) -> Result<Box<dyn Respondent>> {
    if source.properties().layer <= outer.properties().layer {
        return Err(Error::bad_param(
            "source",
            source.typetag_name(),
            format!("an oracle that is further inside than {} in {ORDER}", outer.typetag_name()),
        ));
    }
    source.open(scene).map_err(|e| e.at("source"))
}

/// The facts of a wrapper in `layer`: those of its source, `truth` where the slot is empty.
pub fn properties_of(layer: Layer, source: &Option<Box<dyn Oracle>>) -> OracleProperties {
    let inner = source.as_ref().map(|source| source.properties()).unwrap_or_default();
    OracleProperties { layer, ..inner }
}

/// A respondent that gives the opposite reply for some pairs of `n` objects: those whose number in
/// [0, 1) lies below `rate(question, reply)`. A "don't know" stays one.
pub fn flipping(
    n: usize,
    pairs: PairHash,
    source: Box<dyn Respondent>,
    rate: impl Fn(&Question, Reply) -> f64 + Send + 'static,
) -> Box<dyn Respondent> {
    Box::new(Flipping { n, pairs, source, rate })
}

struct Flipping<F> {
    n: usize,
    pairs: PairHash,
    source: Box<dyn Respondent>,
    rate: F,
}

impl<F: Fn(&Question, Reply) -> f64 + Send> Respondent for Flipping<F> {
    fn ask(&mut self, question: &Question) -> Result<Outcome> {
        question.objects(self.n)?;
        let mut outcome = self.source.ask(question)?;
        if let Outcome::Answered(answer) = &mut outcome {
            let opposite = match answer.reply {
                Reply::MustLink => Reply::CannotLink,
                Reply::CannotLink => Reply::MustLink,
                Reply::DontKnow => return Ok(outcome),
            };
            if self.pairs.uniform(question.i, question.j) < (self.rate)(question, answer.reply) {
                answer.reply = opposite;
            }
        }
        Ok(outcome)
    }

    fn cost(&self, question: &Question) -> f64 {
        self.source.cost(question)
    }

    fn recall(&mut self, question: &Question, answer: &Answer) {
        self.source.recall(question, answer);
    }
}

/// The objects of a question, the smaller first, however it was put.
pub fn pair(question: &Question) -> (u32, u32) {
    (question.i.min(question.j), question.i.max(question.j))
}

/// The classes of the scene, for the oracle called `tag`.
///
/// # Errors
/// `Usage` without classes, `BadParam` when there is not one per object.
pub fn classes(scene: &Scene, tag: &str) -> Result<Arc<[Option<u32>]>> {
    let labels = scene.labels.clone().ok_or_else(|| {
        Error::Usage(format!(
            "the oracle {tag} needs classes, and none were given; name a class column, or \
             choose another oracle"
        ))
    })?;
    if labels.len() != scene.n {
        return Err(Error::bad_param(
            "labels",
            format!("{} classes", labels.len()),
            format!("one class per object ({})", scene.n),
        ));
    }
    Ok(labels)
}

/// Answers what follows from the class of each object; "don't know" where one is unknown.
pub struct FromClasses(pub Arc<[Option<u32>]>);

impl Respondent for FromClasses {
    fn ask(&mut self, question: &Question) -> Result<Outcome> {
        let (i, j) = question.objects(self.0.len())?;
        let reply = match (self.0[i], self.0[j]) {
            (Some(a), Some(b)) if a == b => Reply::MustLink,
            (Some(_), Some(_)) => Reply::CannotLink,
            _ => Reply::DontKnow,
        };
        Ok(Outcome::Answered(Answer::of(reply)))
    }
}
