//! A complete search for places of must-link components, after greedy placement failed.

use mustlink_core::clustering::NONE;
use mustlink_core::{Context, Error, Result, reduce};
use mustlink_kernels::constrained::colouring::{
    Colouring, colour, connected_parts, induced, lower_cost,
};
use mustlink_kernels::constrained::must_link_units::MustLinkUnits;
use mustlink_kernels::constrained::penalised_kmeans::distances;
use mustlink_kernels::distance::points::Points;
use ndarray::Array2;

/// Nodes per unit that the search by cost may visit where a placement is known already.
const GUIDED_NODES: u64 = 100;

/// Placements that break nothing.
pub(crate) struct CompleteSearch<'a> {
    units: &'a MustLinkUnits<'a>,
    k: usize,
    /// For each unit those it must be apart from.
    apart: Vec<Vec<u32>>,
    /// The units that cannot-links connect.
    parts: Vec<Vec<u32>>,
    part_of: Vec<usize>,
    /// A cluster for each unit, if the search found them within its limit.
    proper: Option<Vec<u32>>,
    node_limit: u64,
}

impl<'a> CompleteSearch<'a> {
    /// Looks for any placement of `units` in k clusters.
    ///
    /// # Errors
    /// `InfeasibleConstraints` when no placement exists; `Cancelled`, `TimedOut`.
    pub(crate) fn new(
        units: &'a MustLinkUnits<'a>,
        k: usize,
        node_limit: u64,
        ctx: &Context,
    ) -> Result<Self> {
        let apart = units.apart();
        let parts = connected_parts(&apart);
        let mut part_of = vec![0; units.len()];
        for (at, part) in parts.iter().enumerate() {
            part.iter().for_each(|&u| part_of[u as usize] = at);
        }
        let proper = units.any_placement(k, node_limit, ctx)?;
        Ok(CompleteSearch { units, k, apart, parts, part_of, proper, node_limit })
    }

    /// Number of parts.
    pub(crate) fn parts(&self) -> usize {
        self.parts.len()
    }

    /// The part of unit `u`.
    pub(crate) fn part_of(&self, u: usize) -> usize {
        self.part_of[u]
    }

    /// Labels the units of a part so that no constraint is broken and no exchange of two clusters
    /// lowers the total distortion. It begins with the labels `before`; if these are incomplete, with
    /// the first placement that a search by cost finds.
    ///
    /// # Errors
    /// If no placement is known: `UndecidedConstraints` at the node limit, `InfeasibleConstraints`
    /// when none exists. `Cancelled`, `TimedOut`.
    pub(crate) fn place(
        &self,
        part: usize,
        points: &Points,
        centres: &Array2<f64>,
        before: &[u32],
        labels: &mut [u32],
        ctx: &Context,
    ) -> Result<()> {
        let units = &self.parts[part];
        let members = |u: u32| self.units.members(u as usize);
        let edges = induced(&self.apart, units);
        let rows =
            reduce::map(units.len(), |at| total_distances(points, centres, members(units[at])));
        let cost = |at: u32, h: u32| rows[at as usize][h as usize];
        let mut clusters: Vec<u32> =
            units.iter().map(|&u| before[members(u)[0] as usize]).collect();
        if clusters.contains(&NONE) {
            clusters = self.first_placement(units, &edges, &cost, ctx)?;
        }
        lower_cost(&edges, self.k, &cost, &mut clusters, ctx)?;
        units.iter().zip(clusters).for_each(|(&u, h)| self.units.put(u as usize, h, labels));
        Ok(())
    }

    /// Labels the units of all parts, none of which has a label yet.
    ///
    /// # Errors
    /// Returns the errors of [`CompleteSearch::place`].
    pub(crate) fn place_all(
        &self,
        points: &Points,
        centres: &Array2<f64>,
        labels: &mut [u32],
        ctx: &Context,
    ) -> Result<()> {
        let before = vec![NONE; labels.len()];
        (0..self.parts())
            .try_for_each(|part| self.place(part, points, centres, &before, labels, ctx))
    }

    fn first_placement(
        &self,
        units: &[u32],
        edges: &[Vec<u32>],
        cost: &impl Fn(u32, u32) -> f64,
        ctx: &Context,
    ) -> Result<Vec<u32>> {
        let limit = match self.proper {
            Some(_) => self.node_limit.min(GUIDED_NODES * units.len() as u64),
            None => self.node_limit,
        };
        match (colour(edges, self.k, cost, limit, ctx)?, &self.proper) {
            (Colouring::Found(clusters), _) => Ok(clusters),
            (_, Some(proper)) => Ok(units.iter().map(|&u| proper[u as usize]).collect()),
            (Colouring::Impossible(few), None) => {
                let few: Vec<u32> = few.iter().map(|&at| units[at as usize]).collect();
                Err(self.units.impossible(&few, &self.apart, self.k))
            }
            (Colouring::Undecided, None) => {
                Err(Error::UndecidedConstraints { k: self.k, node_limit: self.node_limit })
            }
        }
    }
}

/// Total distortion of `objects` to each centre.
pub(crate) fn total_distances(points: &Points, centres: &Array2<f64>, objects: &[u32]) -> Vec<f64> {
    let k = centres.nrows();
    let each = distances(points, centres, objects, 1.0);
    (0..k).map(|h| each.iter().skip(h).step_by(k).sum()).collect()
}
