//! A search for constraints that a plugin with hard constraints breaks or wrongly rejects.
//!
//! Random sets of constraints on few objects, so few that trying all labels shows if k clusters can satisfy them,
//! without the closure, the colouring or the search that methods share. The results of plugins are compared with
//! this, and the objects that a rejection names are checked against the given constraints.

use std::collections::BTreeMap;

use mustlink_core::clustering::Clustering;
use mustlink_core::constraints::{Constraint, Constraints, Group, Kind, Strength};
use mustlink_core::context::Context;
use mustlink_core::data::Data;
use mustlink_core::ensemble::{Ensemble, Member};
use mustlink_core::error::Error;
use mustlink_core::problem::Problem;
use mustlink_core::random::{SeedPath, Stream};
use mustlink_core::registry::{Catalogue, Role, build_default};
use mustlink_core::roles::{BaseClusterer, ConsensusFunction, Properties};
use mustlink_core::run;
use mustlink_core::witness::{Infeasible, Witness};
use ndarray::Array2;

/// Results of one method on the sets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Sets that can be satisfied and were.
    pub met: u64,
    /// Sets that cannot be satisfied, refused with a witness that was checked.
    pub refused: u64,
    /// Refused as undecided, or for a reason other than constraints that cannot be satisfied.
    pub undecided: u64,
}

/// Kinds of constraints that a method promises to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Promise {
    /// Every constraint.
    All,
    /// Every constraint that is marked hard.
    Marked,
    /// Every must-link.
    MustLinks,
}

impl Promise {
    fn of(facts: &Properties) -> Option<Self> {
        match facts {
            Properties { hard_must: true, hard_cannot: true, .. } => Some(Promise::All),
            Properties { hard_if_marked: true, .. } => Some(Promise::Marked),
            Properties { hard_must: true, .. } => Some(Promise::MustLinks),
            _ => None,
        }
    }
}

/// A method that promises some constraints.
pub struct Method {
    plugin: Plugin,
    promise: Promise,
}

enum Plugin {
    Clusterer(Box<dyn BaseClusterer>),
    Consensus(Box<dyn ConsensusFunction>),
}

impl Method {
    /// A clusterer, if it promises anything.
    pub fn clusterer(plugin: Box<dyn BaseClusterer>) -> Option<Self> {
        let facts = plugin.properties();
        let promise = Promise::of(&facts).filter(|_| !facts.needs_setup)?;
        Some(Method { plugin: Plugin::Clusterer(plugin), promise })
    }

    /// Its tag.
    pub fn tag(&self) -> &'static str {
        match &self.plugin {
            Plugin::Clusterer(plugin) => plugin.typetag_name(),
            Plugin::Consensus(plugin) => plugin.typetag_name(),
        }
    }

    fn run(&self, set: &Set, seed: u64) -> Result<Clustering, Error> {
        let ctx = Context::new(seed);
        let run = match &self.plugin {
            Plugin::Clusterer(plugin) => run::cluster(&**plugin, &set.problem, &ctx)?,
            Plugin::Consensus(plugin) => {
                run::combine(&**plugin, &set.ensemble, &set.problem, &ctx)?
            }
        };
        Ok(run.clustering)
    }
}

/// All plugins that promise hard constraints as they stand, but those named in `but`.
///
/// # Errors
/// A catalogue that cannot be read.
pub fn methods(but: &[&str]) -> Result<Vec<Method>, Error> {
    let mut found = Vec::new();
    for d in Catalogue::get()?.role(Role::BaseClusterer).filter(|d| !but.contains(&d.tag)) {
        found.extend(Method::clusterer(build_default(d.tag)?));
    }
    for d in Catalogue::get()?.role(Role::ConsensusFunction).filter(|d| !but.contains(&d.tag)) {
        let plugin: Box<dyn ConsensusFunction> = build_default(d.tag)?;
        // Labels are all that the members of these sets have.
        let needs = plugin.needs();
        if let (Some(promise), true) = (Promise::of(&needs.promises()), needs.labels_only) {
            found.push(Method { plugin: Plugin::Consensus(plugin), promise });
        }
    }
    Ok(found)
}

/// A few objects with constraints, and what is true of them.
struct Set {
    problem: Problem,
    ensemble: Ensemble,
    /// The given constraints, one by one.
    given: Vec<Constraint>,
    groups: Vec<Group>,
    k: usize,
    /// True if k clusters can hold the constraints.
    feasible: bool,
}

impl Set {
    /// The set of this number, as far as the promise goes: always the same.
    fn new(number: u64, promise: Promise) -> Result<Self, Error> {
        let mut s = SeedPath::new(number).stream("campaign");
        let n = 2 + s.below(8);
        let k = 1 + s.below(n.min(4));
        let d = 1 + s.below(2);
        let x = Array2::from_shape_fn((n, d), |_| s.below(7) as f64);
        // Half of the sets agree with some labels, so that many of them can be met.
        let hidden: Option<Vec<usize>> =
            (s.below(2) == 0).then(|| (0..n).map(|_| s.below(k)).collect());
        let pairs = s.below(2 * n);
        let given: Vec<Constraint> =
            (0..pairs).filter_map(|_| pair(n, hidden.as_deref(), &mut s)).collect();
        let groups: Vec<Group> =
            (0..s.below(3)).map(|at| group(at, n, hidden.as_deref(), &mut s)).collect();
        let (given, groups) = promised(given, groups, promise);
        let listed = Constraints::new(n, given.iter().copied())?;
        let constraints = listed.with_groups(n, groups.iter().cloned())?;
        let members = (0..3).map(|_| {
            let labels: Vec<u32> = (0..n).map(|_| s.below(k) as u32).collect();
            Member::from_labels(&labels)
        });
        let ensemble = Ensemble::new(n, members.collect())?;
        let problem = Problem::new(Data::dense(x)?).with_k(k).with_constraints(constraints);
        let mut set = Set { problem, ensemble, given, groups, k, feasible: false };
        set.feasible = set.can_be_met(&mut Vec::new());
        Ok(set)
    }

    /// True if labels that begin so can go on without a broken constraint.
    fn can_be_met(&self, labels: &mut Vec<u32>) -> bool {
        if labels.len() == self.problem.n() {
            return true;
        }
        // A cluster that nobody is in is like any other.
        let most = labels.iter().max().map_or(0, |&l| l + 1).min(self.k as u32 - 1);
        (0..=most).any(|label| {
            labels.push(label);
            let found = self.broken(labels).is_none() && self.can_be_met(labels);
            labels.pop();
            found
        })
    }

    /// A pair among the objects labelled so far that is placed otherwise than was given.
    fn broken(&self, labels: &[u32]) -> Option<(u32, u32)> {
        let known = |i: u32| labels.get(i as usize).copied();
        let together = |i: u32, j: u32| known(i).zip(known(j)).map(|(a, b)| a == b);
        let listed = self
            .given
            .iter()
            .find(|c| together(c.i, c.j).is_some_and(|same| same != (c.kind == Kind::MustLink)));
        let listed = listed.map(|c| (c.i, c.j));
        listed.or_else(|| {
            let pairs = self.groups.iter().flat_map(|g| {
                g.members.iter().flat_map(|&i| g.members.iter().map(move |&j| (i, j)))
            });
            pairs.filter(|(i, j)| i < j).find(|&(i, j)| together(i, j) == Some(true))
        })
    }

    /// True if a must-link was given between two objects.
    fn must(&self, i: u32, j: u32) -> bool {
        let is = |c: &Constraint| c.kind == Kind::MustLink && (c.i, c.j) == (i.min(j), i.max(j));
        i == j || self.given.iter().any(is)
    }

    /// True if two objects were given to be apart.
    fn cannot(&self, i: u32, j: u32) -> bool {
        let is = |c: &Constraint| c.kind == Kind::CannotLink && (c.i, c.j) == (i.min(j), i.max(j));
        let grouped = |g: &Group| g.members.contains(&i) && g.members.contains(&j);
        i != j && (self.given.iter().any(is) || self.groups.iter().any(grouped))
    }

    /// The objects that must-links join with each.
    fn joined(&self) -> Vec<u32> {
        let mut name: Vec<u32> = (0..self.problem.n() as u32).collect();
        for _ in 0..name.len() {
            for c in self.given.iter().filter(|c| c.kind == Kind::MustLink) {
                let least = name[c.i as usize].min(name[c.j as usize]);
                (name[c.i as usize], name[c.j as usize]) = (least, least);
            }
        }
        name
    }

    /// True if anything in one set of joined objects was given to be apart from anything in another.
    fn apart(&self, joined: &[u32], i: u32, j: u32) -> bool {
        let of = |i: u32| {
            let all = 0..joined.len() as u32;
            all.filter(move |&o| joined[o as usize] == joined[i as usize])
        };
        of(i).any(|a| of(j).any(|b| self.cannot(a, b)))
    }

    /// Error in the reported chain of a contradiction, if any.
    fn wrong_chain(&self, w: &Witness) -> Option<String> {
        let (first, last) = (w.path.first().copied(), w.path.last().copied());
        let ends = [(first, last), (last, first)].contains(&(Some(w.cannot.0), Some(w.cannot.1)));
        let links = w.path.windows(2).all(|pair| self.must(pair[0], pair[1]));
        let right = ends && links && self.cannot(w.cannot.0, w.cannot.1);
        (!right).then(|| format!("the chain {w:?} is not among the constraints"))
    }

    /// Error in the objects reported as impossible for k clusters, if any.
    fn wrong_reason(&self, witness: &Infeasible) -> Option<String> {
        let joined = self.joined();
        let all_apart = |objects: &[u32]| {
            let pairs = objects.iter().enumerate();
            objects.len() > self.k
                && pairs
                    .clone()
                    .all(|(at, &i)| objects[at + 1..].iter().all(|&j| self.apart(&joined, i, j)))
        };
        let right = match witness {
            Infeasible::Clique(objects) => all_apart(objects),
            Infeasible::Group { members, .. } => all_apart(members),
            Infeasible::OddCycle(walk) => {
                let steps = || walk.windows(2).map(|pair| (pair[0], pair[1]));
                let closed = walk
                    .first()
                    .zip(walk.last())
                    .is_some_and(|(a, b)| joined[*a as usize] == joined[*b as usize]);
                let same = |i: u32, j: u32| joined[i as usize] == joined[j as usize];
                let odd = steps().filter(|&(i, j)| !same(i, j)).count() % 2 == 1;
                let known = steps().all(|(i, j)| same(i, j) || self.apart(&joined, i, j));
                // The walk may leave its last step, back to where it began, unsaid.
                let back = !closed && walk.len() % 2 == 1;
                let back = back
                    && walk
                        .first()
                        .zip(walk.last())
                        .is_some_and(|(&a, &b)| self.apart(&joined, a, b));
                self.k == 2 && known && ((closed && odd) || back)
            }
            // That a search came to its end is checked by trying all labels.
            Infeasible::Exhausted(_) => !self.feasible,
            // No method limits sizes by default.
            Infeasible::Limits { .. } | Infeasible::Blocked(_) | Infeasible::Surrounded { .. } => {
                false
            }
        };
        (!right).then(|| format!("{witness:?} does not show that {} clusters are too few", self.k))
    }

    /// Result of a method on the set: a fault, in words, or a count.
    fn try_on(&self, method: &Method, counts: &mut Counts) -> Result<(), String> {
        let fault = |what: String| {
            let Set { given, groups, k, problem, .. } = self;
            let n = problem.n();
            Err(format!("{}: {what}; n = {n}, k = {k}, {given:?}, {groups:?}", method.tag()))
        };
        match method.run(self, 1) {
            Ok(found) => match self.broken(&found.labels) {
                Some((i, j)) => fault(format!("({i}, {j}) is broken")),
                None if found.labels.iter().any(|&l| l as usize >= self.k) => {
                    fault(format!("{:?} are more than k clusters", found.labels))
                }
                None => {
                    counts.met += 1;
                    Ok(())
                }
            },
            Err(error) => match error.root() {
                Error::InconsistentConstraints(all) => {
                    let wrong = all.shown.iter().find_map(|w| self.wrong_chain(w));
                    let wrong = wrong.or_else(|| all.shown.is_empty().then(|| "no chain".into()));
                    counts.refused += 1;
                    wrong.map_or(Ok(()), fault)
                }
                Error::InfeasibleConstraints { witness, .. } if !self.feasible => {
                    counts.refused += 1;
                    self.wrong_reason(witness).map_or(Ok(()), fault)
                }
                Error::InfeasibleConstraints { .. } => {
                    fault(format!("refuses what can be met: {error}"))
                }
                Error::Contract { .. } => fault(error.to_string()),
                _ => {
                    counts.undecided += 1;
                    Ok(())
                }
            },
        }
    }
}

/// Constraints that remain under the promises of a method.
fn promised(
    mut given: Vec<Constraint>,
    mut groups: Vec<Group>,
    promise: Promise,
) -> (Vec<Constraint>, Vec<Group>) {
    match promise {
        Promise::All => {}
        Promise::Marked => {
            given.iter_mut().for_each(|c| c.strength = Some(Strength::Hard));
            groups.iter_mut().for_each(|g| g.strength = Some(Strength::Hard));
        }
        Promise::MustLinks => {
            given.retain(|c| c.kind == Kind::MustLink);
            groups.clear();
        }
    }
    (given, groups)
}

/// A pair that says what hidden labels do, or anything.
fn pair(n: usize, hidden: Option<&[usize]>, s: &mut Stream) -> Option<Constraint> {
    let (i, j, coin) = (s.below(n), s.below(n), s.below(2) == 0);
    let must = hidden.map_or(coin, |labels| labels[i] == labels[j]);
    let kind = if must { Kind::MustLink } else { Kind::CannotLink };
    (i != j).then(|| Constraint::new(i, j, kind))
}

/// Objects that must all be apart, which the hidden labels put apart.
fn group(at: usize, n: usize, hidden: Option<&[usize]>, s: &mut Stream) -> Group {
    let mut members: Vec<u32> = Vec::new();
    for _ in 0..2 + s.below(4) {
        let i = s.below(n);
        let free = |&m: &u32| hidden.is_none_or(|labels| labels[m as usize] != labels[i]);
        if members.iter().all(free) {
            members.push(i as u32);
        }
    }
    Group::new(format!("g{at}"), members)
}

/// Results on the sets with these numbers, by method.
///
/// # Errors
/// The first fault, with the number of its set.
pub fn run(
    methods: &[Method],
    numbers: std::ops::Range<u64>,
) -> Result<BTreeMap<&'static str, Counts>, String> {
    let mut all: BTreeMap<&'static str, Counts> = BTreeMap::new();
    for number in numbers {
        for promise in [Promise::All, Promise::Marked, Promise::MustLinks] {
            let set = Set::new(number, promise).map_err(|e| format!("set {number}: {e}"))?;
            for method in methods.iter().filter(|method| method.promise == promise) {
                let counts = all.entry(method.tag()).or_default();
                set.try_on(method, counts).map_err(|fault| format!("set {number}: {fault}"))?;
            }
        }
    }
    Ok(all)
}
