//! A search for sets of wrong links that leave no contradiction.

use mustlink_core::prelude::*;

use crate::parts::relations::{Link, Relations};

/// A world: links of which the other kind holds than is taken now, and how many more answers are wrong.
pub struct World {
    /// The links, ascending.
    pub flipped: Vec<usize>,
    /// Negative if answers are correct that are taken to be wrong.
    pub more_wrong: i32,
}

/// The other kind.
pub fn opposite(kind: Kind) -> Kind {
    match kind {
        Kind::MustLink => Kind::CannotLink,
        Kind::CannotLink => Kind::MustLink,
    }
}

/// These links with some of the other kind.
pub fn flipped(links: &[Link], at: &[usize]) -> Vec<Link> {
    let mut links = links.to_vec();
    at.iter().for_each(|&at| links[at].kind = opposite(links[at].kind));
    links
}

/// A search for worlds: each contradiction is dissolved by each of the answers on it.
pub struct Search<'a> {
    links: Vec<Link>,
    nodes: usize,
    block: &'a [usize],
    order: usize,
    /// Links that are not to be flipped (any more).
    fixed: Vec<bool>,
    cost: Vec<i32>,
    flipped: Vec<usize>,
    found: Vec<World>,
}

impl<'a> Search<'a> {
    /// For worlds of a block in which at most `order` of its links, and none that was given, are another kind
    /// than they are taken to be, `cost` answers more being wrong for each.
    pub fn new(
        nodes: usize,
        links: &[Link],
        block: &'a [usize],
        order: usize,
        cost: Vec<i32>,
    ) -> Self {
        Search {
            links: links.to_vec(),
            nodes,
            block,
            order,
            fixed: links.iter().map(|link| link.told.is_none()).collect(),
            cost,
            flipped: Vec::new(),
            found: Vec::new(),
        }
    }

    /// All of them, each once.
    ///
    /// # Errors
    /// Cancellation.
    pub fn worlds(mut self, ctx: &Context) -> Result<Vec<World>> {
        self.go(ctx)?;
        Ok(self.found)
    }

    fn go(&mut self, ctx: &Context) -> Result<()> {
        let choices = match Relations::cycle(self.nodes, &self.links, self.block) {
            Some(cycle) => cycle,
            None => {
                ctx.check()?;
                let more_wrong = self.flipped.iter().map(|&at| self.cost[at]).sum();
                let mut flipped = self.flipped.clone();
                flipped.sort_unstable();
                self.found.push(World { flipped, more_wrong });
                self.block.to_vec()
            }
        };
        if self.flipped.len() == self.order {
            return Ok(());
        }
        let free: Vec<usize> = choices.into_iter().filter(|&at| !self.fixed[at]).collect();
        // Each flips one and leaves those before it as they are: no world comes twice.
        for &at in &free {
            self.fixed[at] = true;
            self.links[at].kind = opposite(self.links[at].kind);
            self.flipped.push(at);
            self.go(ctx)?;
            self.flipped.pop();
            self.links[at].kind = opposite(self.links[at].kind);
        }
        free.iter().for_each(|&at| self.fixed[at] = false);
        Ok(())
    }
}
