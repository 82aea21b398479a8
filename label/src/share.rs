//! The questions of one selector, dealt to several annotators.
//!
//! The selector gets the answer "don't know" to each question. So the list of questions is the same for every
//! annotator, whatever they answer: the list that `mustlink select --questions` writes.

use mustlink_core::clustering::Clustering;
use mustlink_core::options::{Found, Options, Range};
use mustlink_core::prelude::typetag;
use mustlink_core::roles::{
    Inquiry, QueryId, QuerySelector, Registered, Reply, RequestId, SelectorProperties, Step,
};
use mustlink_core::{Context, Problem, Result, Shape};
use serde::{Deserialize, Serialize};

/// Number of questions that each annotator is asked alone, for each question that all are asked.
const ALONE: u64 = 3;

/// The questions of `selector` that one of several annotators is asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Share {
    /// The selector that chooses the questions.
    pub selector: Box<dyn QuerySelector>,
    /// Number of annotators.
    pub annotators: u64,
    /// The annotator, counted from 0.
    pub own: u64,
}

impl Options for Share {
    fn look(&self, path: &str, declared: &Range, found: &mut Found) {
        self.selector.look(path, declared, found);
    }
}

// It is not in the catalogue: only a session makes one.
impl Registered for Share {}

#[typetag::serde(name = "share")]
impl QuerySelector for Share {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        let inner = self.selector.start(problem, ctx)?;
        Ok(Box::new(Dealing { inner, annotators: self.annotators, own: self.own, passed: 0 }))
    }

    fn properties(&self) -> SelectorProperties {
        SelectorProperties {
            self_clustering: false,
            skips_entailed: false,
            asks_for_evidence: false,
            infers: false,
            ..self.selector.properties()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        self.selector.memory(shape)
    }
}

struct Dealing {
    inner: Box<dyn Inquiry>,
    annotators: u64,
    own: u64,
    /// Number of questions before the open one, those of other annotators included.
    passed: u64,
}

impl Dealing {
    fn is_own(&self) -> bool {
        let place = self.passed % (1 + ALONE * self.annotators);
        place == 0 || (place - 1) % self.annotators == self.own
    }

    fn pass(&mut self, id: QueryId) -> Result<()> {
        self.passed += 1;
        self.inner.tell(id, Reply::DontKnow)
    }
}

impl Inquiry for Dealing {
    fn step(&mut self) -> Result<Step> {
        loop {
            match self.inner.step()? {
                Step::Ask { id, .. } if !self.is_own() => self.pass(id)?,
                step => return Ok(step),
            }
        }
    }

    fn tell(&mut self, id: QueryId, _: Reply) -> Result<()> {
        self.pass(id)
    }

    fn provide(&mut self, request: RequestId, clustering: &Clustering) -> Result<()> {
        self.inner.provide(request, clustering)
    }
}

#[cfg(test)]
mod tests {
    use mustlink::ndarray::Array2;
    use mustlink_core::{Data, registry};

    use super::*;

    /// The pairs that a selector asks about, if the answers are all `reply`.
    fn asked(selector: &dyn QuerySelector, reply: Reply) -> Vec<(u32, u32)> {
        let problem = Problem::new(Data::dense(Array2::zeros((9, 1))).unwrap());
        let mut inquiry = selector.start(&problem, &Context::new(3)).unwrap();
        let mut pairs = Vec::new();
        while let Step::Ask { id, subject, reference, .. } = inquiry.step().unwrap() {
            pairs.push((subject, reference));
            inquiry.tell(id, reply).unwrap();
        }
        pairs
    }

    #[test]
    fn each_question_is_asked_of_one_annotator_or_of_all() {
        let selector: Box<dyn QuerySelector> = registry::build_default("random_pairs").unwrap();
        let all = asked(&*selector, Reply::DontKnow);
        let share = |own| Share { selector: selector.clone(), annotators: 2, own };
        let anna = asked(&share(0), Reply::MustLink);
        let ben = asked(&share(1), Reply::CannotLink);
        assert_eq!(all.len(), 9 * 8 / 2);
        for (at, pair) in all.iter().enumerate() {
            let asks = match at % 7 {
                0 => [true, true],
                1 | 3 | 5 => [true, false],
                _ => [false, true],
            };
            assert_eq!([anna.contains(pair), ben.contains(pair)], asks, "question {at}");
        }
    }
}
