//! The entailed pairs, one by one, with their weights.

use std::collections::HashMap;

use crate::kind::{self, Described};
use serde::{Deserialize, Serialize};

use super::Closure;
use crate::constraints::{Constraint, Kind, Origin};
use crate::error::{Error, Result};
use crate::options::{Found, Options, Range, below};
use crate::widest_paths::WidestPaths;

/// Weights of entailed pairs.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, Described)]
#[serde(rename_all = "snake_case")]
pub enum EntailedWeight {
    /// The weakest constraint on the strongest chain that entails the pair.
    #[default]
    Bottleneck,
    /// One weight for every entailed pair.
    Uniform(#[option(min = 0.0)] f64),
}

impl Options for EntailedWeight {
    fn look(&self, path: &str, _: &Range, found: &mut Found) {
        if let EntailedWeight::Uniform(weight) = self {
            weight.look(&below(path, "uniform"), &Range { min: Some(0.0), ..Range::ANY }, found);
        }
    }
}

impl Closure {
    /// Every pair of the closure, i < j, must-links first, each kind in order of (i, j). A given
    /// pair keeps its own weight; conflicting cannot-links stay.
    ///
    /// # Errors
    /// `ClosureTooLarge` above `limit` pairs.
    pub fn pairs(&self, weight: EntailedWeight, limit: u64) -> Result<Vec<Constraint>> {
        let (must, cannot) = self.pair_counts();
        if must + cannot > limit {
            return Err(Error::ClosureTooLarge { pairs: must + cannot, limit });
        }
        let given: HashMap<(u32, u32, Kind), Constraint> =
            self.constraints.pairs().iter().map(|c| ((c.i, c.j, c.kind), *c)).collect();
        let entailed = |i: u32, j: u32, kind: Kind, weight: f64| {
            let (i, j) = (i.min(j), i.max(j));
            given.get(&(i, j, kind)).copied().unwrap_or_else(|| Constraint {
                weight,
                origin: Origin::Entailed,
                ..Constraint::new(i as usize, j as usize, kind)
            })
        };
        let chains = self.chains();
        let told = |bottleneck: f64| match weight {
            EntailedWeight::Bottleneck => bottleneck,
            EntailedWeight::Uniform(weight) => weight,
        };
        let mut out = Vec::with_capacity((must + cannot) as usize + self.conflicts.len());
        let mut apart = Vec::with_capacity(cannot as usize + self.conflicts.len());
        for p in 0..self.components() {
            let set = self.members(p);
            let others: Vec<u32> =
                self.apart(p).iter().copied().filter(|&q| q as usize > p).collect();
            if set.len() == 1 && others.is_empty() {
                continue;
            }
            for (at, &i) in set.iter().enumerate() {
                let along = chains.along.from(p, at);
                let pairs = set.iter().zip(&along).skip(at + 1);
                out.extend(pairs.map(|(&j, &w)| entailed(i, j, Kind::MustLink, told(w))));
                for &q in &others {
                    let set = self.members(q as usize);
                    let weights = chains.across(p, q as usize, &along, set.len());
                    let pairs = set.iter().zip(weights);
                    apart.extend(pairs.map(|(&j, w)| entailed(i, j, Kind::CannotLink, told(w))));
                }
            }
        }
        out.sort_by_key(|c| (c.i, c.j));
        let start = out.len();
        out.append(&mut apart);
        out.extend(self.contradictions());
        out[start..].sort_by_key(|c| (c.i, c.j));
        Ok(out)
    }

    /// The chains that entail pairs.
    fn chains(&self) -> Chains {
        let mut place = vec![0; self.n];
        for p in 0..self.components() {
            self.members(p).iter().zip(0..).for_each(|(&i, at)| place[i as usize] = at);
        }
        let mut links = Vec::new();
        let mut across: HashMap<(u32, u32), Vec<Across>> = HashMap::new();
        for c in self.constraints.pairs() {
            let (p, q) = (self.component[c.i as usize], self.component[c.j as usize]);
            let (a, b) = (place[c.i as usize], place[c.j as usize]);
            match c.kind {
                Kind::MustLink => links.push((c.weight, c.i, c.j)),
                Kind::CannotLink if p < q => {
                    across.entry((p, q)).or_default().push((a, b, c.weight));
                }
                Kind::CannotLink if q < p => {
                    across.entry((q, p)).or_default().push((b, a, c.weight));
                }
                Kind::CannotLink => {}
            }
        }
        let sets = (0..self.components()).map(|p| self.members(p));
        Chains { along: WidestPaths::new(self.n, links, sets), across }
    }
}

/// A cannot-link (a, b, weight) between two components, a in the smaller one, objects as places in these.
type Across = (u32, u32, f64);

/// Chains that entail pairs.
struct Chains {
    along: WidestPaths,
    /// The cannot-links by the two components.
    across: HashMap<(u32, u32), Vec<Across>>,
}

impl Chains {
    /// The weights of the cannot-links between an object of component p and all `m` of q > p: the largest over
    /// the given ones (a, b) of the smallest of its weight and the chains to a and to b. `along`: the chains from
    /// the object.
    fn across(&self, p: usize, q: usize, along: &[f64], m: usize) -> Vec<f64> {
        let mut values = vec![0.0f64; m];
        for &(a, b, weight) in self.across.get(&(p as u32, q as u32)).into_iter().flatten() {
            let value = &mut values[b as usize];
            *value = value.max(weight.min(along[a as usize]));
        }
        self.along.spread(q, &mut values);
        values
    }
}
