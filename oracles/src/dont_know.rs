//! The oracle that sometimes does not know.

use mustlink_core::prelude::*;

use crate::parts::pair_hash::PairHash;
use crate::parts::wrapping::{open_source, properties_of};

/// Leaves some pairs unanswered and passes the others on.
///
/// # Method
/// A pair is unanswered when its number in [0, 1) is below `rate`, or when the number of one of its objects is below
/// `by_object`. The numbers are hashes of the seed and the pair or object. With both at 0 the source is unchanged. An
/// unanswered question costs as much as its answer would.
/// # Errors
/// `BadParam` for a source that is not allowed inside.
/// # References
/// [Basu2004] §4, footnote 2: pairs with "don't know" are ignored and not asked again.
#[options]
pub struct DontKnow {
    /// Share of the pairs that are not answered.
    #[option(min = 0.0, max = 1.0)]
    pub rate: f64,
    /// Share of the objects that cannot be recognised in any pair.
    #[option(min = 0.0, max = 1.0)]
    pub by_object: f64,
    /// Oracle that answers the other pairs.
    #[option(slot = "truth")]
    pub source: Option<Box<dyn Oracle>>,
}

#[plugin("dont_know", cites = ["Basu2004"])]
impl Oracle for DontKnow {
    fn open(&self, scene: &Scene) -> Result<Box<dyn Respondent>> {
        let path = scene.ctx.path();
        Ok(Box::new(Doubting {
            n: scene.n,
            rate: self.rate,
            by_object: self.by_object,
            pairs: PairHash::new(path, "dont_know"),
            objects: PairHash::new(path, "dont_know.by_object"),
            source: open_source(self, &**self.source()?, scene)?,
        }))
    }

    fn properties(&self) -> OracleProperties {
        properties_of(Layer::DontKnow, &self.source)
    }

    fn source(&self) -> Option<&dyn Oracle> {
        self.source.as_deref()
    }
}

struct Doubting {
    n: usize,
    rate: f64,
    by_object: f64,
    pairs: PairHash,
    objects: PairHash,
    source: Box<dyn Respondent>,
}

impl Respondent for Doubting {
    fn ask(&mut self, question: &Question) -> Result<Outcome> {
        question.objects(self.n)?;
        let (i, j) = (question.i, question.j);
        let unknowable = |o: u32| self.objects.uniform(o, o) < self.by_object;
        if unknowable(i) || unknowable(j) || self.pairs.uniform(i, j) < self.rate {
            let cost = self.source.cost(question);
            return Ok(Outcome::Answered(Answer { cost, ..Answer::of(Reply::DontKnow) }));
        }
        self.source.ask(question)
    }

    fn cost(&self, question: &Question) -> f64 {
        self.source.cost(question)
    }

    fn recall(&mut self, question: &Question, answer: &Answer) {
        self.source.recall(question, answer);
    }
}
