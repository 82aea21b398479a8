//! The oracle that errs.

use mustlink_core::prelude::*;

use crate::pair_hash::PairHash;
use crate::wrapping::{objects, open_source, properties_of};

/// Turns some replies into their opposite and passes the others on.
///
/// # Method
/// A pair is turned when its number in [0, 1), a hash of seed and pair, is below the rate of the
/// reply it would get. A "don't know" stays one. At rate 0 the source is left as it is.
/// # Errors
/// `BadParam` for a rate outside [0, 1], or a source that may not stand inside.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Noisy {
    /// Share of the replies that are turned, in [0, 1].
    #[schemars(range(min = 0.0, max = 1.0))]
    pub flip_rate: f64,
    /// Share of the must-links that are turned; absent: `flip_rate`.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub flip_must: Option<f64>,
    /// Share of the cannot-links that are turned; absent: `flip_rate`.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub flip_cannot: Option<f64>,
    /// Whose replies are turned.
    #[schemars(extend("x-default" = "truth"))]
    pub source: Option<Box<dyn Oracle>>,
}

register!(Oracle, Noisy, "noisy", references: []);

impl Noisy {
    fn rates(&self) -> (f64, f64) {
        (self.flip_must.unwrap_or(self.flip_rate), self.flip_cannot.unwrap_or(self.flip_rate))
    }
}

#[typetag::serde(name = "noisy")]
impl Oracle for Noisy {
    fn open(&self, scene: &Scene) -> Result<Box<dyn Respondent>> {
        let rates = [
            ("flip_rate", Some(self.flip_rate)),
            ("flip_must", self.flip_must),
            ("flip_cannot", self.flip_cannot),
        ];
        for (name, rate) in rates.into_iter().filter_map(|(name, rate)| Some((name, rate?))) {
            if !(0.0..=1.0).contains(&rate) {
                return Err(Error::bad_param(name, rate, "in 0..=1"));
            }
        }
        let (must, cannot) = self.rates();
        Ok(Box::new(Erring {
            n: scene.n,
            must,
            cannot,
            pairs: PairHash::new(scene.ctx.path(), "noisy"),
            source: open_source(self, &self.source, scene)?,
        }))
    }

    fn properties(&self) -> OracleProperties {
        let inner = properties_of(Layer::Noise, &self.source);
        OracleProperties { noiseless: inner.noiseless && self.rates() == (0.0, 0.0), ..inner }
    }

    fn source(&self) -> Option<&dyn Oracle> {
        self.source.as_deref()
    }
}

struct Erring {
    n: usize,
    must: f64,
    cannot: f64,
    pairs: PairHash,
    source: Box<dyn Respondent>,
}

impl Respondent for Erring {
    fn ask(&mut self, question: &Question) -> Result<Outcome> {
        objects(question, self.n)?;
        let mut outcome = self.source.ask(question)?;
        if let Outcome::Answered(answer) = &mut outcome {
            let (rate, opposite) = match answer.reply {
                Reply::MustLink => (self.must, Reply::CannotLink),
                Reply::CannotLink => (self.cannot, Reply::MustLink),
                Reply::DontKnow => return Ok(outcome),
            };
            if self.pairs.uniform(question.i, question.j) < rate {
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
