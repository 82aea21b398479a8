//! Questions about objects that are neighbours in the list.

use mustlink::prelude::*;

/// Each eligible object against the next one, in order.
///
/// # Input and output
/// Any data: objects are not looked at. One question less than there are eligible objects.
/// # Cost and randomness
/// O(1) per question; nothing random.
#[options]
pub struct Chain {}

#[plugin("chain")]
impl QuerySelector for Chain {
    fn start(&self, problem: &Problem, _: &Context) -> Result<Box<dyn Inquiry>> {
        Ok(Box::new(Run { objects: problem.eligible_objects(), at: 0 }))
    }

    fn properties(&self) -> SelectorProperties {
        SelectorProperties { accepts_sparse: true, ..SelectorProperties::default() }
    }
}

struct Run {
    objects: Vec<u32>,
    at: usize,
}

impl Inquiry for Run {
    fn step(&mut self) -> Result<Step> {
        Ok(match self.objects.get(self.at..self.at + 2) {
            Some(&[reference, subject]) => {
                Step::Ask { id: self.at as QueryId, subject, reference, purpose: "chain" }
            }
            _ => Step::Done(Done::Exhausted),
        })
    }

    fn tell(&mut self, id: QueryId, _: Reply) -> Result<()> {
        if id != self.at as QueryId || self.at + 1 >= self.objects.len() {
            return Err(Error::Oracle(format!("query {id} is not the open one")));
        }
        self.at += 1;
        Ok(())
    }
}
