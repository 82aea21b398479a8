//! What does a selector do about answers that may be wrong?

use mustlink_core::prelude::*;

use crate::parts::worlds::{Verdict, Worlds};

/// How much answers are doubted.
#[options]
pub struct Doubting {
    /// Probability that an answer is wrong.
    #[option(default = 0.1, above = 0.0, below = 0.5)]
    pub noise: f64,
    /// How probable it has to be that answers are right, as far as questions can make it so; at 0 none is asked to
    /// confirm others, and answers are doubted only where they contradict each other by themselves.
    #[option(default = 0.95, min = 0.0, below = 1.0)]
    pub certainty: f64,
    /// Most answers taken to be wrong at once, beside those found out before; where many answers share cycles,
    /// no more than can be chosen in 20 000 ways: 2 of 200, 3 of 50.
    #[option(default = 2, min = 1, max = 3)]
    pub order: usize,
}

/// What is done about wrong answers.
pub struct Doubts {
    /// The answers.
    pub worlds: Worlds,
    certainty: f64,
    /// Answers were corrected since the parts were merged.
    pub merge_anew: bool,
    /// What was concluded and not passed on yet.
    pub events: Vec<Event>,
}

impl Doubts {
    /// No answers yet.
    pub fn new(problem: &Problem, how: Doubting) -> Self {
        let worlds = Worlds::new(problem, how.noise, how.order);
        Doubts { worlds, certainty: how.certainty, merge_anew: false, events: Vec::new() }
    }

    /// What is to be done until the answers that `matter` are certain enough.
    ///
    /// # Errors
    /// Cancellation.
    pub fn judge(&mut self, matter: impl Fn(u32, u32) -> bool, ctx: &Context) -> Result<Verdict> {
        let verdict = self.worlds.judge(&matter, &matter, self.certainty, ctx)?;
        if let Verdict::Corrected(answers) = &verdict {
            self.merge_anew = true;
            let corrected = |&(id, reply): &(QueryId, Reply)| Event::Corrected { id, reply };
            self.events.extend(answers.iter().map(corrected));
        }
        Ok(verdict)
    }
}
