//! What does violating constraints cost an object in each cluster, without expanding the closure?
//!
//! Where the constraints of a kind have one weight, members per cluster are counted for each
//! must-link component: the must-link penalty of an object in cluster h is the number of labelled
//! members elsewhere, the cannot-link penalty the number of labelled members of separated
//! components in h. A move costs O(1 + separated components). Other weights, and contradicting
//! cannot-links, use lists of partners. Counts (or sums of multipliers) are multiplied by the weight
//! last, so that the implicit and the expanded form give the same bits.

use std::collections::HashMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use mustlink_core::Result;
use mustlink_core::closure::{Closure, EntailedWeight, MAX_CLOSURE_PAIRS};
use mustlink_core::clustering::NONE;
use mustlink_core::constraints::{Constraint, Kind};

use crate::sweep::Coupling;

/// How far constraints are extended before they cost anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Entail {
    /// Transitivity and entailment.
    #[default]
    Full,
    /// Transitivity; cannot-links only between components of at least two objects.
    NeighbourhoodsOnly,
    /// The given pairs alone.
    Off,
}

/// Which pairs cost something, by component where weights are equal and pair by pair elsewhere.
///
/// This is what no label changes; [`Penalties`] counts labels over it, [`crate::metric_penalties`]
/// sums positions.
pub struct Links {
    /// Component of each object that has any, else `NONE`.
    pub(crate) component: Vec<u32>,
    /// Objects of each component.
    pub(crate) members: Vec<Vec<u32>>,
    /// Components apart from each component.
    pub(crate) apart: Vec<Vec<u32>>,
    /// Partners of each object by explicit pairs.
    pub(crate) partners: HashMap<u32, Vec<(u32, f64, Kind)>>,
    pub(crate) explicit: Vec<Constraint>,
    pub(crate) implicit_must: bool,
    pub(crate) implicit_cannot: bool,
    /// What multiplies counts and explicit weights.
    pub(crate) must: f64,
    pub(crate) cannot: f64,
    constrained: Vec<bool>,
    objects: Vec<u32>,
}

/// Violation costs under the current labels.
#[derive(Clone)]
pub struct Penalties {
    k: usize,
    links: Arc<Links>,
    /// Labelled members of component p in cluster h.
    count: Vec<u32>,
    /// Labelled members of component p.
    labelled: Vec<u32>,
    /// Labelled members of components apart from p, in cluster h.
    apart_count: Vec<u32>,
    scratch: Scratch,
}

/// The one weight of all constraints of a kind, if there is one.
fn constant(closure: &Closure, kind: Kind) -> Option<f64> {
    let mut weights =
        closure.constraints().pairs().iter().filter(|c| c.kind == kind).map(|c| c.weight);
    let first = weights.next().unwrap_or(1.0);
    weights.all(|w| w == first).then_some(first)
}

impl Links {
    /// The pairs of `closure`; `weight` and `weight_cannot` multiply the constraints' own weights.
    ///
    /// # Errors
    /// `ClosureTooLarge` when unequal weights need the closure pair by pair and it is too large.
    pub fn new(closure: &Closure, weight: f64, weight_cannot: f64, entail: Entail) -> Result<Self> {
        let must = constant(closure, Kind::MustLink);
        let cannot = constant(closure, Kind::CannotLink);
        let implicit_must = must.is_some() && entail != Entail::Off;
        // Entailed weights of cannot-links depend on those of must-links too.
        let implicit_cannot = must.is_some() && cannot.is_some() && entail != Entail::Off;
        let large = |i: u32| closure.members(closure.component(i as usize)).len() >= 2;
        let same =
            |c: &Constraint| closure.component(c.i as usize) == closure.component(c.j as usize);
        let mut explicit: Vec<Constraint> = Vec::new();
        if entail == Entail::Off {
            explicit.extend(closure.constraints().pairs());
        } else if implicit_must && implicit_cannot {
            let lone = |c: &Constraint| {
                entail == Entail::NeighbourhoodsOnly && !(large(c.i) && large(c.j))
            };
            let pairs = closure.constraints().pairs().iter();
            explicit.extend(pairs.filter(|c| c.kind == Kind::CannotLink && (same(c) || lone(c))));
        } else {
            let all = closure.pairs(EntailedWeight::Bottleneck, MAX_CLOSURE_PAIRS)?;
            let given: std::collections::HashSet<(u32, u32)> =
                closure.constraints().pairs().iter().map(|c| (c.i, c.j)).collect();
            explicit.extend(all.into_iter().filter(|c| match c.kind {
                Kind::MustLink => !implicit_must,
                Kind::CannotLink => {
                    entail == Entail::Full
                        || (large(c.i) && large(c.j))
                        || given.contains(&(c.i, c.j))
                }
            }));
        }
        // What is summed in this order does not depend on the order in which pairs are given.
        explicit.sort_by_key(|c| (c.i, c.j, c.kind));
        // Equal weights become a count times the weight; unequal ones a sum of multipliers.
        let must_factor = must;
        let cannot_factor = cannot.filter(|_| implicit_cannot || entail == Entail::Off);
        for c in &mut explicit {
            let factor = if c.kind == Kind::MustLink { must_factor } else { cannot_factor };
            if factor.is_some() {
                c.weight = 1.0;
            }
        }
        let mut component = vec![NONE; closure.n()];
        let mut members: Vec<Vec<u32>> = Vec::new();
        let mut apart: Vec<Vec<u32>> = Vec::new();
        let mut place = vec![NONE; closure.components()];
        for p in 0..closure.components() {
            let has_edges = implicit_cannot && !closure.apart(p).is_empty();
            if (implicit_must && closure.members(p).len() >= 2) || has_edges {
                place[p] = apart.len() as u32;
                apart.push(Vec::new());
                members.push(closure.members(p).to_vec());
                closure.members(p).iter().for_each(|&i| component[i as usize] = place[p]);
            }
        }
        if implicit_cannot {
            for p in (0..closure.components()).filter(|&p| place[p] != NONE) {
                let here = closure.members(p).len() >= 2;
                let edges = closure.apart(p).iter().filter(|&&q| {
                    entail == Entail::Full || (here && closure.members(q as usize).len() >= 2)
                });
                apart[place[p] as usize] = edges.map(|&q| place[q as usize]).collect();
            }
        }
        let mut partners: HashMap<u32, Vec<(u32, f64, Kind)>> = HashMap::new();
        for c in &explicit {
            partners.entry(c.i).or_default().push((c.j, c.weight, c.kind));
            partners.entry(c.j).or_default().push((c.i, c.weight, c.kind));
        }
        let constrained: Vec<bool> = (0..closure.n())
            .map(|i| component[i] != NONE || partners.contains_key(&(i as u32)))
            .collect();
        let objects = (0..closure.n() as u32).filter(|&i| constrained[i as usize]).collect();
        Ok(Links {
            component,
            members,
            apart,
            partners,
            explicit,
            implicit_must,
            implicit_cannot,
            must: weight * must_factor.unwrap_or(1.0),
            cannot: weight_cannot * cannot_factor.unwrap_or(1.0),
            constrained,
            objects,
        })
    }

    /// Whether the choice of an object depends on others, for every object.
    pub fn constrained(&self) -> &[bool] {
        &self.constrained
    }

    /// The pairs listed one by one, i < j, in order.
    pub fn explicit(&self) -> &[Constraint] {
        &self.explicit
    }

    /// What a broken must-link and a broken cannot-link of the list cost, times its weight there.
    pub fn factors(&self) -> (f64, f64) {
        (self.must, self.cannot)
    }

    /// The objects whose choice depends on others, ascending.
    pub fn objects(&self) -> &[u32] {
        &self.objects
    }
}

impl Penalties {
    /// Costs of `links` for k clusters, with the objects of `labels` where they are
    /// ([`NONE`] = unlabelled).
    pub fn new(links: &Arc<Links>, k: usize, labels: &[u32]) -> Self {
        let m = links.apart.len();
        let mut made = Penalties {
            k,
            links: links.clone(),
            count: vec![0; m * k],
            labelled: vec![0; m],
            apart_count: vec![0; m * k],
            scratch: Scratch::default(),
        };
        for &i in links.objects() {
            made.moved(i as usize, NONE, labels[i as usize]);
        }
        made
    }

    /// Total cost of the violations under `labels`, and their number (of explicit and entailed pairs).
    pub fn total(&self, labels: &[u32]) -> (f64, usize) {
        let k = self.k;
        let (mut must_pairs, mut cannot_pairs) = (0u64, 0u64);
        for p in 0..self.links.apart.len() {
            let count = &self.count[p * k..(p + 1) * k];
            if self.links.implicit_must {
                let all = u64::from(self.labelled[p]);
                let together: u64 = count.iter().map(|&c| u64::from(c) * u64::from(c)).sum();
                must_pairs += (all * all - together) / 2;
            }
            let apart = &self.apart_count[p * k..(p + 1) * k];
            cannot_pairs +=
                count.iter().zip(apart).map(|(&a, &b)| u64::from(a) * u64::from(b)).sum::<u64>();
        }
        // Every separated pair of components was met from both ends.
        cannot_pairs /= 2;
        let (mut must, mut cannot) = (must_pairs as f64, cannot_pairs as f64);
        let mut number = must_pairs + cannot_pairs;
        for c in self.links.explicit.iter().filter(|c| {
            labels[c.i as usize] != NONE && labels[c.j as usize] != NONE && c.is_violated(labels)
        }) {
            number += 1;
            match c.kind {
                Kind::MustLink => must += c.weight,
                Kind::CannotLink => cannot += c.weight,
            }
        }
        (self.links.must * must + self.links.cannot * cannot, number as usize)
    }
}

impl Coupling for Penalties {
    fn links(&self) -> &Links {
        &self.links
    }

    fn moved(&mut self, i: usize, from: u32, to: u32) {
        let p = self.links.component[i];
        if p == NONE || from == to {
            return;
        }
        let p = p as usize;
        let k = self.k;
        if from != NONE {
            self.count[p * k + from as usize] -= 1;
            self.labelled[p] -= 1;
            for &q in &self.links.apart[p] {
                self.apart_count[q as usize * k + from as usize] -= 1;
            }
        }
        if to != NONE {
            self.count[p * k + to as usize] += 1;
            self.labelled[p] += 1;
            for &q in &self.links.apart[p] {
                self.apart_count[q as usize * k + to as usize] += 1;
            }
        }
    }

    fn add(&mut self, i: usize, labels: &[u32], cost: &mut [f64]) {
        let k = self.k;
        let (must, cannot) = (&mut self.scratch.must, &mut self.scratch.cannot);
        must.clear();
        must.resize(k, 0.0);
        cannot.clear();
        cannot.resize(k, 0.0);
        let mut all_must = 0.0;
        if self.links.component[i] != NONE {
            let p = self.links.component[i] as usize;
            if self.links.implicit_must {
                let own = labels[i];
                let others = self.labelled[p] - u32::from(own != NONE);
                all_must += f64::from(others);
                for (h, m) in must.iter_mut().enumerate() {
                    let here = self.count[p * k + h] - u32::from(own == h as u32);
                    *m += f64::from(here);
                }
            }
            if self.links.implicit_cannot {
                for (h, c) in cannot.iter_mut().enumerate() {
                    *c += f64::from(self.apart_count[p * k + h]);
                }
            }
        }
        if let Some(partners) = self.links.partners.get(&(i as u32)) {
            for &(j, w, kind) in partners {
                let l = labels[j as usize];
                if l != NONE {
                    match kind {
                        Kind::MustLink => {
                            all_must += w;
                            must[l as usize] += w;
                        }
                        Kind::CannotLink => cannot[l as usize] += w,
                    }
                }
            }
        }
        for h in 0..k {
            cost[h] += self.links.must * (all_must - must[h]) + self.links.cannot * cannot[h];
        }
    }
}

/// Working memory of one visit.
#[derive(Clone, Default)]
struct Scratch {
    must: Vec<f64>,
    cannot: Vec<f64>,
}
