//! What does a selector do about answers that may be wrong?

use mustlink_core::prelude::*;

use crate::parts::worlds::{Verdict, Worlds};

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
    /// No answers yet, each wrong with probability `noise`; the rest as [`Worlds::new`] and [`Worlds::judge`].
    pub fn new(problem: &Problem, noise: f64, order: usize, certainty: f64) -> Self {
        let worlds = Worlds::new(problem, noise, order);
        Doubts { worlds, certainty, merge_anew: false, events: Vec::new() }
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
