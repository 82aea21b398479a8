//! The loop of selectors that place objects one by one.

use mustlink_core::prelude::*;

use crate::parts::checks::not_open;
use crate::parts::neighbourhoods::{Neighbourhoods, Next, Place};

/// Decisions of a selector that takes one object after the other and locates it among its
/// neighbourhoods.
pub trait Selector: Send + 'static {
    /// Starts to locate the next object, or gives the step there is instead.
    ///
    /// # Errors
    /// Returns an error if the selector reads invalid data.
    fn take_up(&mut self, groups: &mut Neighbourhoods) -> Result<Option<Step>>;

    /// Object `object` was located.
    fn settled(&mut self, groups: &mut Neighbourhoods, object: u32, place: Place);

    /// Takes the clustering that [`Selector::take_up`] wanted.
    ///
    /// # Errors
    /// Returns the errors of the computation.
    fn clustered(&mut self, groups: &Neighbourhoods, clustering: &Clustering) -> Result<()> {
        let _ = (groups, clustering);
        Ok(())
    }
}

/// The inquiry of such a selector.
pub struct Placing<S> {
    selector: S,
    groups: Neighbourhoods,
    step: Step,
}

impl<S: Selector> Placing<S> {
    /// An inquiry among `groups`; it asks nothing if no pair of eligible objects exists.
    ///
    /// # Errors
    /// Returns the errors of `selector`, and of [`Selector::take_up`].
    pub fn start(
        mut groups: Neighbourhoods,
        selector: impl FnOnce(&mut Neighbourhoods) -> Result<S>,
    ) -> Result<Box<dyn Inquiry>> {
        if groups.eligible().len() < 2 {
            return Ok(Box::new(Empty));
        }
        let selector = selector(&mut groups)?;
        let mut inquiry = Placing { selector, groups, step: Step::Done(Done::Exhausted) };
        inquiry.advance()?;
        Ok(Box::new(inquiry))
    }

    /// Settles objects until a question is needed or [`Selector::take_up`] gives another step.
    fn advance(&mut self) -> Result<()> {
        loop {
            match self.groups.proceed() {
                Some(Next::Ask(step)) => {
                    self.step = step;
                    return Ok(());
                }
                Some(Next::Settled(object, place)) => {
                    self.selector.settled(&mut self.groups, object, place);
                }
                None => {
                    self.groups.ctx().check()?;
                    if let Some(step) = self.selector.take_up(&mut self.groups)? {
                        self.step = step;
                        return Ok(());
                    }
                }
            }
        }
    }
}

impl<S: Selector> Inquiry for Placing<S> {
    fn step(&mut self) -> Result<Step> {
        Ok(self.step.clone())
    }

    fn tell(&mut self, id: QueryId, reply: Reply) -> Result<()> {
        if let Some((object, place)) = self.groups.tell(id, reply)? {
            self.selector.settled(&mut self.groups, object, place);
        }
        self.advance()
    }

    fn provide(&mut self, request: RequestId, clustering: &Clustering) -> Result<()> {
        if !matches!(self.step, Step::NeedClustering { request: open, .. } if open == request) {
            return Err(Error::Oracle(format!("clustering {request} was not asked for")));
        }
        self.selector.clustered(&self.groups, clustering)?;
        self.advance()
    }

    fn drain(&mut self) -> Vec<Event> {
        self.groups.drain(matches!(self.step, Step::Done(_)))
    }
}

/// An inquiry without a question.
struct Empty;

impl Inquiry for Empty {
    fn step(&mut self) -> Result<Step> {
        Ok(Step::Done(Done::Exhausted))
    }

    fn tell(&mut self, id: QueryId, _: Reply) -> Result<()> {
        Err(not_open(id))
    }
}
