//! The placement of whole must-link components without breaking a constraint.
//!
//! Source: [Wagstaff2001] Table 1, its step 2 by whole components.

use ndarray::{Array2, ArrayView1};

use mustlink_core::closure::{Closure, Feasibility};
use mustlink_core::clustering::{Clustering, NONE};
use mustlink_core::error::Infeasible;
use mustlink_core::lists::Lists;
use mustlink_core::prelude::{__mustlink, options};
use mustlink_core::{Context, Error, Result, reduce};

use crate::constrained::colouring::{Colouring, colour, impossible};
use crate::constrained::icm::random_order;
use crate::distance::points::{Points, row, row_norms};
use crate::distance::rows_by_label::by_label;
use crate::kmeans::lloyd::{Empty, PenaltyTerm};

/// Order in which components are placed, each when the first of its objects is reached.
#[options]
pub enum UnitOrder {
    /// A fresh random order of the objects each sweep.
    #[default]
    Random,
    /// By index.
    Index,
    /// Components with the most cannot-links first; ties by smallest object.
    DegreeDesc,
}

/// The must-link components that constraints touch. All other objects are free.
pub struct MustLinkUnits<'a> {
    closure: &'a Closure,
    /// Components, in order of smallest member.
    components: Vec<usize>,
    /// Components that each component must be apart from, where some are left out of `closure`.
    edges: Option<Lists>,
    /// Place in `components` of each object, else `NONE`.
    places: Vec<u32>,
    held: Vec<bool>,
}

impl<'a> MustLinkUnits<'a> {
    /// The components of `closure` that bind anything.
    pub fn new(closure: &'a Closure) -> Self {
        MustLinkUnits::with_edges(closure, None)
    }

    /// The components of `closure` that are bound by anything other than a lone group, which is a group whose objects
    /// no other constraint touches.
    pub fn beside_lone_groups(closure: &'a Closure) -> Self {
        MustLinkUnits::with_edges(closure, Some(closure.apart_beside_lone_groups()))
    }

    fn with_edges(closure: &'a Closure, edges: Option<Lists>) -> Self {
        let apart = |p: usize| match &edges {
            Some(edges) => !edges[p].is_empty(),
            None => closure.is_apart(p),
        };
        let bound = |p: usize| closure.members(p).len() > 1 || apart(p);
        let components: Vec<usize> = (0..closure.components()).filter(|&p| bound(p)).collect();
        let mut places = vec![NONE; closure.n()];
        for (at, &p) in components.iter().enumerate() {
            closure.members(p).iter().for_each(|&i| places[i as usize] = at as u32);
        }
        let held = places.iter().map(|&p| p != NONE).collect();
        MustLinkUnits { closure, components, edges, places, held }
    }

    /// For every object, true if it belongs to a unit.
    pub fn held(&self) -> &[bool] {
        &self.held
    }

    /// Number of units.
    pub fn len(&self) -> usize {
        self.components.len()
    }

    /// True if nothing is bound.
    pub fn is_empty(&self) -> bool {
        self.components.is_empty()
    }

    /// Objects of unit `u`, ascending.
    pub fn members(&self, u: usize) -> &[u32] {
        self.closure.members(self.components[u])
    }

    /// The units in order, each with the object that is reached first.
    pub fn order(&self, order: UnitOrder, sweep: usize, ctx: &Context) -> Vec<(usize, u32)> {
        let first = |u: usize| (u, self.members(u)[0]);
        match order {
            // Components are numbered by their smallest object.
            UnitOrder::Index => (0..self.len()).map(first).collect(),
            UnitOrder::DegreeDesc => {
                let mut units: Vec<usize> = (0..self.len()).collect();
                let degree = |u: usize| self.edges_of(u).len();
                units.sort_by_key(|&u| std::cmp::Reverse(degree(u)));
                units.into_iter().map(first).collect()
            }
            UnitOrder::Random => {
                let objects: Vec<u32> =
                    (0..self.places.len() as u32).filter(|&i| self.held[i as usize]).collect();
                let mut at_of = vec![NONE; self.places.len()];
                objects.iter().enumerate().for_each(|(at, &i)| at_of[i as usize] = at as u32);
                let mut met = vec![false; self.len()];
                random_order(&at_of, sweep, ctx)
                    .filter_map(|at| {
                        let unit = self.places[objects[at] as usize] as usize;
                        let fresh = !std::mem::replace(&mut met[unit], true);
                        fresh.then_some((unit, objects[at]))
                    })
                    .collect()
            }
        }
    }

    /// Raises the cost of every cluster to infinity that holds something unit `u` must be apart from.
    pub fn forbid(&self, u: usize, labels: &[u32], cost: &mut [f64]) {
        for label in self.neighbours(u).map(|i| labels[i as usize]) {
            // Cluster 0 is a label like any other; NONE is not.
            if label != NONE {
                cost[label as usize] = f64::INFINITY;
            }
        }
    }

    /// For each unit those it must be apart from, ascending.
    pub fn apart(&self) -> Vec<Vec<u32>> {
        // What has a cannot-link is a unit, and units stand in the order of components.
        let of = |u| self.neighbours(u).map(|i| self.places[i as usize]).collect();
        (0..self.len()).map(of).collect()
    }

    /// One object of each unit that must be apart from `u`.
    fn neighbours(&self, u: usize) -> impl Iterator<Item = u32> {
        self.edges_of(u).iter().map(|&q| self.closure.members(q as usize)[0])
    }

    /// Components that unit `u` must be apart from.
    fn edges_of(&self, u: usize) -> &[u32] {
        let p = self.components[u];
        self.edges.as_ref().map_or_else(|| self.closure.apart(p), |edges| &edges[p])
    }

    /// Gives all members of unit `u` the label `h`.
    pub fn put(&self, u: usize, h: u32, labels: &mut [u32]) {
        self.members(u).iter().for_each(|&i| labels[i as usize] = h);
    }

    /// A cluster in `0..k` for each unit so that no cannot-link is broken; `None` if the search for one
    /// ended after `node_limit` nodes in some part that cannot-links connect.
    ///
    /// # Errors
    /// `InfeasibleConstraints` when no placement exists; `Cancelled`, `TimedOut`.
    pub fn any_placement(
        &self,
        k: usize,
        node_limit: u64,
        ctx: &Context,
    ) -> Result<Option<Vec<u32>>> {
        match self.closure.feasibility(k) {
            Feasibility::Infeasible(witness) => Err(Error::InfeasibleConstraints { k, witness }),
            Feasibility::Feasible(colours) => {
                Ok(Some(self.components.iter().map(|&p| colours[p]).collect()))
            }
            Feasibility::Unknown => {
                let apart = self.apart();
                match colour(&apart, k, &|_, _| 0.0, node_limit, ctx)? {
                    Colouring::Found(clusters) => Ok(Some(clusters)),
                    Colouring::Impossible(few) => Err(self.impossible(&few, &apart, k)),
                    Colouring::Undecided => Ok(None),
                }
            }
        }
    }

    /// The error of units that k clusters cannot hold, `apart` being those that each unit must be apart
    /// from.
    pub fn impossible(&self, few: &[u32], apart: &[Vec<u32>], k: usize) -> Error {
        impossible(few, apart, k, |u| self.members(u)[0])
    }

    /// The error of a unit that finds every cluster taken.
    pub fn blocked(&self, u: usize, k: usize, labels: &[u32]) -> Error {
        let by = self.neighbours(u).map(|i| (i, labels[i as usize])).filter(|(_, l)| *l != NONE);
        let witness = Infeasible::Surrounded { unit: self.members(u).to_vec(), by: by.collect() };
        Error::InfeasibleConstraints { k, witness }
    }

    /// Fills empty clusters by the `empty` rule with whole units or free objects: those with the
    /// largest total distortion in a cluster that keeps others, unless `penalty` rises
    /// by more than is gained. Gives the number of objects moved.
    ///
    /// # Errors
    /// `NumericalFailure` under `Empty::Error`.
    pub fn refill(
        &self,
        points: &Points,
        labels: &mut [u32],
        centres: &mut Array2<f64>,
        empty: Empty,
        penalty: &mut impl PenaltyTerm,
    ) -> Result<usize> {
        let k = centres.nrows();
        let (offsets, _) = by_label(labels, k);
        let mut sizes: Vec<usize> = offsets.windows(2).map(|w| w[1] - w[0]).collect();
        let mut moved = 0;
        // The farthest of all, until it is moved.
        let mut known: Option<(f64, Vec<u32>)> = None;
        for h in 0..k {
            if sizes[h] > 0 {
                continue;
            }
            match empty {
                Empty::Keep => continue,
                Empty::Error => {
                    let place = format!("cluster {h} is empty (empty = \"error\")");
                    return Err(Error::NumericalFailure { place });
                }
                Empty::Reseed => {}
            }
            if known.is_none() {
                known = self.farthest(points, labels, centres, &sizes);
            }
            // What the other empty clusters could take is no better.
            let Some((total, unit)) = &known else { break };
            let Some(centre) = points.mean(unit) else { break };
            let norm = centre.iter().map(|v| v * v).sum();
            let weight = |i: u32| points.weight(i as usize);
            let to_centre = |i: u32| weight(i) * points.distance(i as usize, &centre, norm);
            let alone: f64 = unit.iter().map(|&i| to_centre(i)).sum();
            let size: f64 = unit.iter().map(|&i| weight(i) * points.norm(i as usize)).sum();
            // Distances below the rounding error of the data are not distances.
            if total - alone <= 64.0 * f64::EPSILON * (size + 1e-300) {
                break;
            }
            let own = labels[unit[0] as usize] as usize;
            let rise: f64 = unit.iter().map(|&i| penalty.rise(i as usize, h as u32, labels)).sum();
            // Infinities of both signs are no reason to move.
            if rise.is_nan() || rise > total - alone {
                continue;
            }
            for &i in unit {
                penalty.moved(i as usize, own as u32, h as u32);
                labels[i as usize] = h as u32;
            }
            centres.row_mut(h).assign(&ArrayView1::from(&centre));
            let left: Vec<u32> =
                (0..labels.len() as u32).filter(|&i| labels[i as usize] as usize == own).collect();
            if let Some(mean) = points.mean(&left) {
                centres.row_mut(own).assign(&ArrayView1::from(&mean));
            }
            sizes[own] -= unit.len();
            sizes[h] = unit.len();
            moved += unit.len();
            known = None;
        }
        Ok(moved)
    }

    /// The unit or free object of the largest total distortion in a cluster that keeps others, with that
    /// distortion; the first of equals.
    fn farthest(
        &self,
        points: &Points,
        labels: &[u32],
        centres: &Array2<f64>,
        sizes: &[usize],
    ) -> Option<(f64, Vec<u32>)> {
        let norms = row_norms(centres);
        let far = |i: u32| {
            let own = labels[i as usize] as usize;
            points.weight(i as usize) * points.distance(i as usize, row(centres, own), norms[own])
        };
        let mut best: Option<(f64, Vec<u32>)> = None;
        for i in 0..points.n() as u32 {
            let free = [i];
            let unit = match self.places[i as usize] {
                NONE => &free[..],
                u if self.members(u as usize)[0] == i => self.members(u as usize),
                _ => continue,
            };
            let own = labels[i as usize] as usize;
            let total: f64 = unit.iter().map(|&i| far(i)).sum();
            let leaves_others = sizes[own] > unit.len();
            if leaves_others && best.as_ref().is_none_or(|b| total > b.0) {
                best = Some((total, unit.to_vec()));
            }
        }
        best
    }
}

/// The best of several attempts, each of which may find no admissible cluster: smallest objective, ties
/// by the smallest number. The diagnostic `failed_attempts` counts those that did not succeed.
///
/// # Errors
/// When all attempts ended so, the last `InfeasibleConstraints`, else the last `UndecidedConstraints`;
/// any other error of an attempt.
pub fn best_attempt(
    attempts: usize,
    attempt: impl Fn(usize) -> Result<Clustering> + Send + Sync,
) -> Result<Clustering> {
    if attempts == 0 {
        return Err(Error::bad_param("restarts", 0, "at least 1"));
    }
    let mut best: Option<Clustering> = None;
    let (mut blocked, mut undecided, mut failed) = (None, None, 0.0);
    // An attempt that fails for its constraints does not end the others.
    reduce::in_waves(
        attempts,
        |t| Ok(attempt(t)),
        |made| {
            failed += f64::from(u8::from(made.is_err()));
            match made {
                Ok(c) if best.as_ref().is_none_or(|b| c.objective < b.objective) => best = Some(c),
                Ok(_) => {}
                Err(e @ Error::InfeasibleConstraints { .. }) => blocked = Some(e),
                Err(e @ Error::UndecidedConstraints { .. }) => undecided = Some(e),
                Err(e) => return Err(e),
            }
            Ok(())
        },
    )?;
    match best {
        Some(mut best) => {
            best.extras.diagnostics.insert("failed_attempts".into(), failed);
            Ok(best)
        }
        None => Err(blocked.or(undecided).expect("an attempt succeeds or fails")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distance::points::Distortion;
    use mustlink_core::closure::OnConflict;
    use mustlink_core::constraints::{Constraint, Constraints};
    use mustlink_core::data::Data;

    #[test]
    fn empty_clusters_that_nothing_can_fill_take_one_pass() {
        // 200 000 objects at one place, and as many centres: a look at all objects for each takes hours.
        let n = 200_000;
        let data = Data::dense(Array2::ones((n, 2))).unwrap();
        let points = Points::new(&data, Distortion::SquaredEuclidean).unwrap();
        let constraints = Constraints::new(n, [Constraint::must(0, 1)]).unwrap();
        let closure = Closure::new(&constraints, n, OnConflict::Error).unwrap();
        let units = MustLinkUnits::new(&closure);
        let (mut labels, mut centres) = (vec![0u32; n], Array2::ones((n, 2)));
        let begun = std::time::Instant::now();
        let moved = units.refill(&points, &mut labels, &mut centres, Empty::Reseed, &mut ());
        assert_eq!((moved.unwrap(), &labels[..]), (0, &vec![0; n][..]));
        assert!(begun.elapsed().as_secs_f64() < 120.0, "{:?}", begun.elapsed());
    }

    #[test]
    fn empty_clusters_are_filled_by_the_farthest_units_in_turn() {
        // By distance from the mean at 10: the unit {0, 1}, then 5 from what is left.
        let x = ndarray::array![[0.0], [0.5], [11.0], [12.0], [13.0], [23.5]];
        let points = Points::new(&Data::dense(x).unwrap(), Distortion::SquaredEuclidean).unwrap();
        let constraints = Constraints::new(6, [Constraint::must(0, 1)]).unwrap();
        let closure = Closure::new(&constraints, 6, OnConflict::Error).unwrap();
        let units = MustLinkUnits::new(&closure);
        let (mut labels, mut centres) = (vec![2u32; 6], ndarray::array![[0.0], [0.0], [10.0]]);
        let moved = units.refill(&points, &mut labels, &mut centres, Empty::Reseed, &mut ());
        assert_eq!((moved.unwrap(), labels), (3, vec![0, 0, 2, 2, 2, 1]));
        assert_eq!(centres, ndarray::array![[0.25], [23.5], [12.0]]);
    }
}
