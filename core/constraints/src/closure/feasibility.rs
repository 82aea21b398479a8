//! The check that k clusters can satisfy the closure.

use std::collections::HashSet;

use super::Closure;
use crate::colours::{Feasibility, colours};
use crate::error::{Error, Result};
use crate::witness::Infeasible;

impl Closure {
    /// Checks whether k clusters can keep all cannot-linked components apart. Exact for k <= 2; otherwise
    /// greedy, and the result may be undecided.
    pub fn feasibility(&self, k: usize) -> Feasibility {
        if k == 0 {
            return Feasibility::Infeasible(Infeasible::Clique(self.first_members(&[0])));
        }
        if let Some(g) = self.cliques.iter().position(|clique| clique.len() > k) {
            return Feasibility::Infeasible(self.crowded(g));
        }
        if self.cliques.is_empty() {
            return colours(k, &self.edges, &|of| self.first_members(of));
        }
        // Groups of which nothing else is said take the first clusters, whatever the others do.
        let (alone, others): (Vec<usize>, Vec<usize>) =
            (0..self.cliques.len()).partition(|&g| self.is_alone(g));
        let with: HashSet<usize> = others.into_iter().collect();
        let edges = self.edges_with(|g| with.contains(&g));
        let mut found = colours(k, &edges, &|of| self.first_members(of));
        if let Feasibility::Feasible(colours) = &mut found {
            let members = alone.iter().flat_map(|&g| self.cliques[g].iter().zip(0..));
            members.for_each(|(&p, h)| colours[p as usize] = h);
        }
        found
    }

    /// Reason why k clusters cannot hold the components of clique `g`.
    fn crowded(&self, g: usize) -> Infeasible {
        let clique = &self.cliques[g];
        let holds = |members: &[u32]| {
            let mut own: Vec<u32> = members.iter().map(|&i| self.component[i as usize]).collect();
            own.sort_unstable();
            own.dedup();
            own == *clique
        };
        let name = self.constraints.groups().iter().find(|group| holds(&group.members));
        let name = name.map(|group| group.name.clone()).unwrap_or_default();
        Infeasible::Group { name, members: self.first_members(clique) }
    }

    fn first_members(&self, components: &[u32]) -> Vec<u32> {
        components.iter().map(|&p| self.members(p as usize)[0]).collect()
    }

    /// The error of [`Closure::feasibility`], for methods that promise to satisfy constraints.
    ///
    /// # Errors
    /// `InfeasibleConstraints` when k clusters provably cannot.
    pub fn require_feasible(&self, k: usize) -> Result<()> {
        match self.feasibility(k) {
            Feasibility::Infeasible(witness) => Err(Error::InfeasibleConstraints { k, witness }),
            _ => Ok(()),
        }
    }
}
