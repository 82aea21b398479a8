//! The object that is farthest from all that have a neighbourhood.

use mustlink_core::reduce::{BLOCK, over};

use crate::parts::neighbourhoods::Neighbourhoods;

/// The distance of each eligible object to the nearest placed one, kept up to date as objects are
/// placed: O(|E| d) each, no pair of objects is compared twice.
pub struct Farthest {
    nearest: Vec<f64>,
}

impl Farthest {
    /// Nothing is placed.
    pub fn new(groups: &Neighbourhoods) -> Self {
        Farthest { nearest: vec![f64::INFINITY; groups.eligible().len()] }
    }

    /// `object` entered a neighbourhood.
    pub fn placed(&mut self, groups: &Neighbourhoods, object: u32) {
        let points = groups.points();
        let blocks = self.nearest.chunks_mut(BLOCK).zip(groups.eligible().chunks(BLOCK));
        over(blocks, |_, (nearest, eligible)| {
            for (nearest, &i) in nearest.iter_mut().zip(eligible) {
                // What is settled is never taken up again.
                if !groups.is_settled(i) {
                    *nearest = nearest.min(points.between(i as usize, object as usize));
                }
            }
        });
    }

    /// The object that is neither placed nor set aside and lies farthest from the placed ones, ties
    /// by the selector's rule.
    pub fn next(&self, groups: &mut Neighbourhoods) -> Option<u32> {
        let scores: Vec<Option<f64>> = groups
            .eligible()
            .iter()
            .zip(&self.nearest)
            .map(|(&i, &far)| (!groups.is_settled(i)).then_some(far))
            .collect();
        let at = groups.best(&scores)?;
        Some(groups.eligible()[at])
    }
}
