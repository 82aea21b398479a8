//! The loop of selectors that place objects one by one.

use mustlink_core::prelude::*;

use crate::parts::checks::not_open;
use crate::parts::neighbourhoods::{Neighbourhoods, Next, Place};

/// A selector that takes up one object after the other and locates it among its neighbourhoods.
pub trait Placing {
    /// The neighbourhoods.
    fn groups(&mut self) -> &mut Neighbourhoods;

    /// Starts to locate the next object, or gives the step there is instead.
    ///
    /// # Errors
    /// What the selector reads may be in error.
    fn take_up(&mut self) -> Result<Option<Step>>;

    /// Object `object` was located.
    fn settled(&mut self, object: u32, place: Place);

    /// Settles objects until a question is needed or [`Placing::take_up`] gives another step.
    ///
    /// # Errors
    /// `Cancelled`, `TimedOut`; those of [`Placing::take_up`].
    fn advance(&mut self) -> Result<Step> {
        loop {
            match self.groups().proceed() {
                Some(Next::Ask(step)) => return Ok(step),
                Some(Next::Settled(object, place)) => self.settled(object, place),
                None => {
                    self.groups().ctx().check()?;
                    if let Some(step) = self.take_up()? {
                        return Ok(step);
                    }
                }
            }
        }
    }

    /// Takes the reply to the open question and goes on.
    ///
    /// # Errors
    /// An id that is not the open one; those of [`Placing::advance`].
    fn answered(&mut self, id: QueryId, reply: Reply) -> Result<Step> {
        if let Some((object, place)) = self.groups().tell(id, reply)? {
            self.settled(object, place);
        }
        self.advance()
    }
}

/// An inquiry without a question.
pub struct EmptyInquiry;

impl Inquiry for EmptyInquiry {
    fn step(&mut self) -> Result<Step> {
        Ok(Step::Done(Done::Exhausted))
    }

    fn tell(&mut self, id: QueryId, _: Reply) -> Result<()> {
        Err(not_open(id))
    }
}
