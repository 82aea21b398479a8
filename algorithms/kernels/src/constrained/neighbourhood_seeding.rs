//! Starts of clusters that follow from the constraints.
//!
//! Source: [Basu2004] §4 (centroids of the neighbourhoods), [Greene2007] and the weighted
//! farthest-first rule of [Bilenko2004] where there are more neighbourhoods than clusters;
//! [DomeniconiAlRazgan2008] §3 for starts from chunklets.

use std::collections::BTreeMap;

use ndarray::{Array2, ArrayView1};

use mustlink_core::closure::{Closure, Counted};
use mustlink_core::clustering::NONE;
use mustlink_core::constraints::Kind;
use mustlink_core::prelude::{__mustlink, options};
use mustlink_core::{Context, Result};

use crate::constrained::constraint_groups::constant;
use crate::distance::points::{
    Distortion, Points, inner_product, row, row_norms, squared_distance,
};
use crate::kmeans::seeding::{
    GlobalMoments, Perturb, farthest, farthest_first, rows_as_centres, sample,
};

/// Selection of the neighbourhoods that start clusters when there are more than k.
#[options]
pub enum MoreThanK {
    /// The largest, then repeatedly the one farthest from those chosen, weighted by size.
    #[default]
    WeightedFarthestFirst,
    /// The k largest.
    Largest,
}

/// Start of the remaining clusters when there are fewer than k neighbourhoods.
#[options]
pub enum FewerThanK {
    /// At one object that must be apart from every neighbourhood, then at perturbed global means.
    #[default]
    ClPointThenPerturb,
    /// At perturbed global means.
    Perturb,
    /// At the objects farthest from the centres so far.
    FarthestFirst,
    /// At random objects.
    Random,
}

/// The rules of a start from neighbourhoods.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// More neighbourhoods than clusters.
    pub more: MoreThanK,
    /// Fewer neighbourhoods than clusters.
    pub fewer: FewerThanK,
    /// Formula that perturbs a global mean.
    pub perturb: Perturb,
    /// By how much, > 0.
    pub rho: f64,
}

/// Centres and first labels ([`NONE`] for objects outside the chosen neighbourhoods).
///
/// `neighbourhoods` are sets of objects in order of smallest member, at least one.
///
/// # Errors
/// Cancellation.
pub fn neighbourhood_start(
    points: &Points,
    k: usize,
    closure: &Closure,
    neighbourhoods: &[Vec<u32>],
    rules: Rules,
    ctx: &Context,
) -> Result<(Array2<f64>, Vec<u32>)> {
    let d = points.d();
    // A zero sum under cosine has no direction; such a neighbourhood starts at the zero vector.
    let mean = |set: &[u32]| points.mean(set).unwrap_or_else(|| vec![0.0; d]);
    let means: Vec<Vec<f64>> = neighbourhoods.iter().map(|set| mean(set)).collect();
    let mut by_size: Vec<usize> = (0..neighbourhoods.len()).collect();
    by_size.sort_by_key(|&p| (std::cmp::Reverse(neighbourhoods[p].len()), p));
    let chosen = match rules.more {
        _ if neighbourhoods.len() <= k => (0..neighbourhoods.len()).collect(),
        MoreThanK::Largest => by_size[..k].to_vec(),
        MoreThanK::WeightedFarthestFirst => {
            weighted_farthest_first(points.distortion(), &means, neighbourhoods, &by_size, k, ctx)?
        }
    };
    let mut centres = Array2::zeros((k, d));
    let mut labels = vec![NONE; points.n()];
    for (h, &p) in chosen.iter().enumerate() {
        centres.row_mut(h).assign(&ArrayView1::from(&means[p]));
        neighbourhoods[p].iter().for_each(|&i| labels[i as usize] = h as u32);
    }
    let mut have: Vec<bool> = (0..k).map(|h| h < chosen.len()).collect();
    if chosen.len() < k && rules.fewer == FewerThanK::ClPointThenPerturb {
        let sets: Vec<&[u32]> = chosen.iter().map(|&p| &neighbourhoods[p][..]).collect();
        if let Some(object) = apart_from_all(closure, &sets, &labels) {
            let centre = mean(&[object]);
            let h = chosen.len();
            centres.row_mut(h).assign(&ArrayView1::from(&centre));
            labels[object as usize] = h as u32;
            have[h] = true;
        }
    }
    complete(points, &mut centres, &have, rules, ctx)?;
    Ok((centres, labels))
}

/// Centres from the means of the must-link components that cannot-links touch, in order of smallest
/// object, then from the objects farthest from them; the first of all is random.
///
/// # Errors
/// Cancellation.
pub fn chunklet_start(
    points: &Points,
    k: usize,
    closure: &Closure,
    more: MoreThanK,
    ctx: &Context,
) -> Result<Array2<f64>> {
    let touched = (0..closure.components()).filter(|&p| closure.is_apart(p));
    let sets: Vec<Vec<u32>> = touched.map(|p| closure.members(p).to_vec()).collect();
    if sets.is_empty() {
        return farthest_first(points, k, vec![ctx.stream("start").below(points.n())], ctx);
    }
    let rules =
        Rules { more, fewer: FewerThanK::FarthestFirst, perturb: Perturb::Additive, rho: 0.7 };
    Ok(neighbourhood_start(points, k, closure, &sets, rules, ctx)?.0)
}

/// Fills in the rows of `centres` that are not yet there.
///
/// # Errors
/// Cancellation.
pub fn complete(
    points: &Points,
    centres: &mut Array2<f64>,
    have: &[bool],
    rules: Rules,
    ctx: &Context,
) -> Result<()> {
    let missing: Vec<usize> = (0..have.len()).filter(|&h| !have[h]).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let mut stream = ctx.stream("start");
    match rules.fewer {
        FewerThanK::FarthestFirst => {
            let mut nearest = vec![f64::INFINITY; points.n()];
            let norms = row_norms(centres);
            for h in (0..have.len()).filter(|&h| have[h]) {
                ctx.check()?;
                closer(points, row(centres, h), norms[h], &mut nearest);
            }
            for h in missing {
                ctx.check()?;
                let far = farthest(points, &nearest);
                let centre = rows_as_centres(points, &[far]);
                closer(points, row(&centre, 0), row_norms(&centre)[0], &mut nearest);
                centres.row_mut(h).assign(&centre.row(0));
            }
        }
        FewerThanK::Random => {
            let more = rows_as_centres(points, &sample(points, missing.len(), &mut stream));
            for (at, h) in missing.into_iter().enumerate() {
                centres.row_mut(h).assign(&more.row(at));
            }
        }
        FewerThanK::Perturb | FewerThanK::ClPointThenPerturb => {
            let spread = GlobalMoments::of(points);
            for h in missing {
                let centre = spread.perturbed(points, rules.perturb, rules.rho, &mut stream);
                centres.row_mut(h).assign(&ArrayView1::from(&centre));
            }
        }
    }
    Ok(())
}

/// Lowers each distance to that to `centre`, where that is smaller.
fn closer(points: &Points, centre: &[f64], norm: f64, nearest: &mut [f64]) {
    for (i, d) in nearest.iter_mut().enumerate() {
        *d = d.min(points.distance(i, centre, norm));
    }
}

fn weighted_farthest_first(
    distortion: Distortion,
    means: &[Vec<f64>],
    sets: &[Vec<u32>],
    by_size: &[usize],
    k: usize,
    ctx: &Context,
) -> Result<Vec<usize>> {
    let size = |p: usize| sets[p].len() as f64;
    // Larger is farther, for both geometries.
    let apart = |p: usize, q: usize| match distortion {
        Distortion::SquaredEuclidean => {
            (squared_distance(&means[p], &means[q]) * size(p) * size(q)).sqrt()
        }
        Distortion::Cosine => -inner_product(&means[p], &means[q]) / (size(p) * size(q)).sqrt(),
    };
    let mut chosen = vec![by_size[0]];
    let mut nearest = vec![f64::INFINITY; means.len()];
    let mut taken = vec![false; means.len()];
    while chosen.len() < k {
        ctx.check()?;
        let last = chosen[chosen.len() - 1];
        taken[last] = true;
        let mut best: Option<usize> = None;
        // In order of size and smallest member, so that a strict comparison settles ties.
        for &p in by_size.iter().filter(|p| !taken[**p]) {
            nearest[p] = nearest[p].min(apart(p, last));
            if best.is_none_or(|b| nearest[p] > nearest[b]) {
                best = Some(p);
            }
        }
        chosen.push(best.expect("more neighbourhoods than clusters"));
    }
    Ok(chosen)
}

/// The total weight of the cannot-links of each component, entailed ones included, of which each two
/// components have one, however many of the pairs between them were given: the strongest. Where all weigh
/// the same, they are counted.
fn cannot_weights(closure: &Closure) -> Vec<f64> {
    let size = |p: u32| closure.members(p as usize).len() as f64;
    let mut weight = vec![0.0; closure.components()];
    if constant(closure, Kind::CannotLink).is_some() {
        let Counted { edges, cliques, twice } = closure.counted();
        for (list, weight) in edges.iter().zip(&mut weight) {
            *weight = list.iter().map(|&q| size(q)).sum();
        }
        for clique in cliques {
            let all: f64 = clique.iter().map(|&p| size(p)).sum();
            clique.iter().for_each(|&p| weight[p as usize] += all - size(p));
        }
        for &(p, q) in twice {
            weight[p as usize] -= size(q);
            weight[q as usize] -= size(p);
        }
        return weight;
    }
    let mut edges: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    for c in closure.constraints().pairs().iter().filter(|c| c.kind == Kind::CannotLink) {
        let (p, q) = (closure.component(c.i as usize), closure.component(c.j as usize));
        if p != q {
            let strongest = edges.entry((p.min(q) as u32, p.max(q) as u32)).or_insert(0.0);
            *strongest = c.weight.max(*strongest);
        }
    }
    for ((p, q), w) in edges {
        weight[p as usize] += w * size(q);
        weight[q as usize] += w * size(p);
    }
    weight
}

/// Which components must be apart from some object of `set`.
fn apart_from(closure: &Closure, set: &[u32]) -> Vec<bool> {
    let mut own = vec![false; closure.components()];
    set.iter().for_each(|&i| own[closure.component(i as usize)] = true);
    let Counted { edges, cliques, .. } = closure.counted();
    let met = |list: &[u32]| list.iter().any(|&q| own[q as usize]);
    let mut apart: Vec<bool> = edges.iter().map(met).collect();
    for clique in cliques {
        let inside = clique.iter().filter(|&&p| own[p as usize]).count();
        for &p in clique {
            apart[p as usize] |= inside > usize::from(own[p as usize]);
        }
    }
    apart
}

/// The unlabelled object that must be apart from every set, with the largest total weight of
/// cannot-links (entailed ones included); ties by lowest index.
fn apart_from_all(closure: &Closure, sets: &[&[u32]], labels: &[u32]) -> Option<u32> {
    let weight = cannot_weights(closure);
    // From how many sets each component must be apart.
    let mut met = vec![0; closure.components()];
    for set in sets {
        let apart = apart_from(closure, set);
        met.iter_mut().zip(apart).for_each(|(met, apart)| *met += usize::from(apart));
    }
    let mut best: Option<(f64, u32)> = None;
    for p in (0..closure.components()).filter(|&p| closure.is_apart(p)) {
        let object = closure.members(p)[0];
        let free = closure.members(p).iter().all(|&i| labels[i as usize] == NONE);
        if free && met[p] == sets.len() && best.is_none_or(|(w, _)| weight[p] > w) {
            best = Some((weight[p], object));
        }
    }
    best.map(|(_, object)| object)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::closure::OnConflict;
    use mustlink_core::random::SeedPath;
    use mustlink_core::{Constraints, Error};
    use mustlink_laws::fixtures;

    #[test]
    fn every_centre_that_is_sought_looks_at_the_flag() {
        let (problem, _) = fixtures::dense(1);
        let points = Points::new(&problem.data, Distortion::SquaredEuclidean).unwrap();
        let none = Constraints::default();
        let closure = Closure::new(&none, points.n(), OnConflict::Error).unwrap();
        let rules = Rules {
            more: MoreThanK::WeightedFarthestFirst,
            fewer: FewerThanK::FarthestFirst,
            perturb: Perturb::Additive,
            rho: 0.7,
        };
        let start = |sets: &[Vec<u32>], k, ctx: &Context| {
            neighbourhood_start(&points, k, &closure, sets, rules, ctx)
        };
        let (three, eight) = (vec![vec![0], vec![1], vec![2]], (0..8).map(|i| vec![i]).collect());
        let cases: [(Vec<Vec<u32>>, usize, u64); 2] = [(three, 9, 9), (eight, 5, 4)];
        for (sets, k, looks) in cases {
            let ctx = Context::builder(SeedPath::new(1)).count_looks().build();
            let (centres, _) = start(&sets, k, &ctx).unwrap();
            assert_eq!((centres.nrows(), ctx.looks()), (k, looks));
            let ctx = Context::builder(SeedPath::new(1)).cancel_after(2).build();
            assert_eq!(start(&sets, k, &ctx).unwrap_err(), Error::Cancelled);
        }
    }
}
