//! The problem that a method solves: data, constraints and k, but never the true classes.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};

use ndarray::Array2;

use crate::closure::{Closure, Feasibility, OnConflict};
use crate::clustering::Clustering;
use crate::constraints::{Constraint, Constraints};
use crate::data::Data;
use crate::error::{Error, Result};
use crate::witness::Contradictions;

/// With more contradictions than this, chains of the first few do not help.
const MOST_WITH_CHAINS: usize = 1000;

/// A start handed to methods with `init = "given"`.
#[derive(Debug, Clone, PartialEq)]
pub enum Start {
    /// Centroids, k × d.
    Centroids(Array2<f64>),
    /// One label per object.
    Labels(Vec<u32>),
    /// An earlier clustering: its centres, and as far as a method reads them its labels (`NONE` where
    /// unknown) and its metrics.
    Clustering(Arc<Clustering>),
}

/// A clustering problem. Cheap to clone. Ground truth is not part of it: only oracles and metrics use it.
///
/// ```
/// use mustlink_core::{Constraint, Constraints, Data, Problem};
/// use ndarray::array;
///
/// # fn main() -> mustlink_core::Result<()> {
/// let data = Data::dense(array![[0.0, 1.0], [0.1, 0.9], [5.0, 5.0]])?;
/// let known = Constraints::new(3, [Constraint::must(0, 1), Constraint::cannot(1, 2)])?;
/// let problem = Problem::new(data).with_k(2).with_constraints(known);
/// assert_eq!((problem.n(), problem.d(), problem.k), (3, 2, Some(2)));
///
/// // Rows 1 and 2 alone, with the constraint between them.
/// let part = problem.subset(&[1, 2]);
/// assert_eq!((part.n(), part.constraints.len()), (2, 1));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Problem {
    /// The objects.
    pub data: Data,
    /// Constraints on pairs.
    pub constraints: Arc<Constraints>,
    /// Number of clusters, if given.
    pub k: Option<usize>,
    /// Objects that may appear in queries, as medoids or representatives; absent means all.
    pub eligible: Option<Arc<[bool]>>,
    /// Start for methods with `init = "given"`.
    pub start: Option<Arc<Start>>,
    /// Last result of [`Problem::closure`].
    #[doc(hidden)]
    pub closed: Closed,
}

/// The closure of some constraints, kept for later calls; shared by clones.
#[derive(Debug, Clone, Default)]
pub struct Closed(Arc<Mutex<Option<OfThese>>>);
type OfThese = (Arc<Constraints>, Arc<Closure>);

impl Problem {
    /// A problem with data alone.
    pub fn new(data: Data) -> Self {
        let (constraints, closed) = Default::default();
        Problem { data, constraints, k: None, eligible: None, start: None, closed }
    }

    /// The same with k clusters.
    pub fn with_k(mut self, k: usize) -> Self {
        self.k = Some(k);
        self
    }

    /// The same with these constraints.
    pub fn with_constraints(mut self, constraints: Constraints) -> Self {
        self.constraints = Arc::new(constraints);
        self.closed = Closed::default();
        self
    }

    /// The same with these eligible objects.
    pub fn with_eligible(mut self, eligible: Vec<bool>) -> Self {
        self.eligible = Some(eligible.into());
        self
    }

    /// The same with this start.
    pub fn with_start(mut self, start: Start) -> Self {
        self.start = Some(Arc::new(start));
        self
    }

    /// The same problem, in which only objects of `known` may be asked about.
    pub fn asking_about(mut self, known: &[bool]) -> Self {
        let both = |i: usize| known[i] && self.is_eligible(i);
        self.eligible = Some((0..self.n()).map(both).collect());
        self
    }

    /// Number of objects.
    pub fn n(&self) -> usize {
        self.data.n()
    }

    /// Number of features.
    pub fn d(&self) -> usize {
        self.data.d()
    }

    /// True if object `i` may appear in a query.
    pub fn is_eligible(&self, i: usize) -> bool {
        self.eligible.as_ref().is_none_or(|e| e[i])
    }

    /// The reason why no selector may ask about this pair, if there is one.
    pub(crate) fn illegal(&self, subject: u32, reference: u32) -> Option<String> {
        let n = self.n();
        if subject == reference || subject as usize >= n || reference as usize >= n {
            return Some(format!("asked the pair ({subject}, {reference}) of {n} objects"));
        }
        let left_out = |end: &u32| !self.is_eligible(*end as usize);
        let end = [subject, reference].into_iter().find(left_out)?;
        Some(format!("asked about object {end}, which is not eligible"))
    }

    /// The eligible objects in order.
    pub fn eligible_objects(&self) -> Vec<u32> {
        (0..self.n() as u32).filter(|&i| self.is_eligible(i as usize)).collect()
    }

    /// Checks that all indices in constraints and eligible objects refer to existing objects, and that no weight is
    /// too large for methods.
    ///
    /// # Errors
    /// `IndexOutOfRange` for a constraint on an object that does not exist; `BadWeight` above
    /// [`Constraint::MAX_WEIGHT`]; `BadParam` if the number of eligibility values is not n.
    pub fn check(&self) -> Result<()> {
        let (n, all) = (self.n(), &self.constraints);
        let listed = all.listed().iter().flat_map(|c| [c.i, c.j]);
        let grouped = all.groups().iter().flat_map(|group| group.members.iter().copied());
        let named = all.neighbourhoods().iter().flatten().copied();
        let largest = listed.chain(grouped).chain(named).max().map(|o| o as usize);
        if let Some(index) = largest.filter(|&o| o >= n) {
            return Err(Error::IndexOutOfRange { index, n });
        }
        let grouped = all.groups().iter().filter_map(|group| group.pairs().next());
        let mut pairs = all.listed().iter().copied().chain(grouped);
        if let Some(c) = pairs.find(|c| c.weight > Constraint::MAX_WEIGHT) {
            let (i, j, weight) = (c.i as usize, c.j as usize, format!("{:e}", c.weight));
            return Err(Error::BadWeight { i, j, weight });
        }
        match &self.eligible {
            Some(each) if each.len() != n => {
                let legal = format!("one for each of {n} objects");
                Err(Error::bad_param("eligible", each.len(), legal))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn eligible_digest(&self) -> Option<String> {
        self.eligible.as_ref().map(|e| {
            blake3::hash(&e.iter().map(|&b| u8::from(b)).collect::<Vec<_>>()).to_hex().to_string()
        })
    }

    /// The number of clusters for a plugin with its own `k` option: that, or the problem's.
    ///
    /// # Errors
    /// `MissingK`, `BadK`, `TooManyClusters`.
    pub fn require_k(&self, own: Option<usize>, plugin: &str) -> Result<usize> {
        let k = own.or(self.k).ok_or_else(|| Error::MissingK { plugin: plugin.into() })?;
        match k {
            0 => Err(Error::BadK),
            k if k > self.n() => Err(Error::TooManyClusters { k, n: self.n() }),
            k => Ok(k),
        }
    }

    /// An error if there are more objects than `max_objects`, an option of plugins that store a number for every
    /// pair.
    ///
    /// # Errors
    /// `BadParam`.
    pub fn require_at_most(&self, max_objects: usize) -> Result<()> {
        let n = self.n();
        if n <= max_objects {
            return Ok(());
        }
        let legal = format!("at least the number of objects, {n}");
        Err(Error::bad_param("max_objects", max_objects, legal))
    }

    /// The problem restricted to `rows`, with the constraints whose two ends are among them.
    pub fn subset(&self, rows: &[usize]) -> Self {
        Problem {
            data: self.data.subset(rows),
            constraints: Arc::new(self.constraints.subset(rows, self.n())),
            k: self.k,
            eligible: self.eligible.as_ref().map(|e| rows.iter().map(|&r| e[r]).collect()),
            start: None,
            closed: Closed::default(),
        }
    }

    /// Closure of the constraints, computed at the first call.
    ///
    /// # Errors
    /// `InconsistentConstraints` under `OnConflict::Error`.
    pub fn closure(&self, on_conflict: OnConflict) -> Result<Arc<Closure>> {
        let lock = || self.closed.0.lock().unwrap_or_else(|e| e.into_inner());
        let of_these =
            |(of, made): &OfThese| Arc::ptr_eq(of, &self.constraints) && made.n() == self.n();
        let there = lock().as_ref().filter(|&kept| of_these(kept)).map(|kept| kept.1.clone());
        let made = match there {
            Some(made) => made,
            None => {
                let made = Closure::new(&self.constraints, self.n(), OnConflict::Keep)?;
                let made = Arc::new(made);
                *lock() = Some((self.constraints.clone(), made.clone()));
                made
            }
        };
        if made.conflicts().is_empty() || on_conflict == OnConflict::Keep {
            return Ok(made);
        }
        Closure::new(&self.constraints, self.n(), on_conflict).map(Arc::new)
    }

    /// Reason why no clustering can satisfy the constraints, if a fast check finds one: `InconsistentConstraints` or
    /// `InfeasibleConstraints`. Used for warnings before methods that accept such constraints.
    ///
    /// # Errors
    /// No known errors, because contradictions are kept.
    pub fn contradiction(&self) -> Result<Option<Error>> {
        if self.constraints.is_empty() {
            return Ok(None);
        }
        let closure = self.closure(OnConflict::Keep)?;
        let count = closure.conflicts().len();
        if count > MOST_WITH_CHAINS {
            let all = Contradictions { shown: Vec::new(), count };
            return Ok(Some(Error::InconsistentConstraints(all)));
        }
        if count > 0 {
            let all = closure.contradicting(closure.conflicts());
            return Ok(Some(Error::InconsistentConstraints(all)));
        }
        let Some(k) = self.k else { return Ok(None) };
        // Looking for cliques in large sets may take longer than clustering. A group of more members than
        // there are clusters is seen at once.
        let too_large = || closure.cliques().iter().any(|clique| clique.len() > k);
        if k > 2 && self.constraints.len() > 10_000 && !too_large() {
            return Ok(None);
        }
        Ok(match closure.feasibility(k) {
            Feasibility::Infeasible(witness) => Some(Error::InfeasibleConstraints { k, witness }),
            _ => None,
        })
    }

    /// The same with the pairs of groups listed one by one, because `what` accepts only pairs.
    ///
    /// # Errors
    /// `TooManyGroupPairs`.
    pub fn in_pairs(&self, what: &str) -> Result<Cow<'_, Problem>> {
        if self.constraints.groups().is_empty() {
            return Ok(Cow::Borrowed(self));
        }
        let constraints = self.constraints.in_pairs(what)?;
        Ok(Cow::Owned(self.clone().with_constraints(constraints)))
    }

    /// Sizes for memory estimates.
    pub fn shape(&self) -> Shape {
        Shape {
            n: self.n(),
            d: self.d(),
            k: self.k.unwrap_or(1),
            entries: self.data.entries(),
            constraints: self.constraints.len(),
        }
    }
}

/// Sizes of a problem, from which plugins estimate memory and operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Objects.
    pub n: usize,
    /// Features.
    pub d: usize,
    /// Clusters.
    pub k: usize,
    /// Stored entries of the data.
    pub entries: usize,
    /// Constraints.
    pub constraints: usize,
}

impl Shape {
    /// Number of operations to assign every object to the nearest of `k` centres; kernels do four at once.
    pub fn sweep(&self, k: usize) -> f64 {
        0.25 * self.entries as f64 * k as f64
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;
    use crate::constraints::Group;

    fn said(n: usize, k: Option<usize>, given: Vec<Constraint>) -> Option<String> {
        let data = Data::dense(Array2::zeros((n, 1))).unwrap();
        let given = Constraints::new(n, given).unwrap();
        let problem = Problem { k, ..Problem::new(data).with_constraints(given) };
        problem.contradiction().unwrap().map(|error| error.to_string())
    }

    #[test]
    fn what_speaks_of_other_objects_is_refused() {
        let problem = Problem::new(Data::dense(Array2::zeros((3, 1))).unwrap());
        assert_eq!(problem.clone().with_eligible(vec![true; 3]).check(), Ok(()));
        let said = problem.clone().with_eligible(vec![true; 2]).check().unwrap_err().to_string();
        assert_eq!(said, "eligible: must be one for each of 3 objects, got 2");
        let named = Constraints::default().with_neighbourhoods(vec![vec![0, 5]]);
        let listed = Constraints::new(9, [Constraint::cannot(1, 5)]).unwrap();
        for of_others in [named, listed] {
            let refused = problem.clone().with_constraints(of_others).check();
            assert_eq!(refused, Err(Error::IndexOutOfRange { index: 5, n: 3 }));
        }
    }

    /// The sum of such weights is infinite, which was a defect of the method.
    #[test]
    fn weights_too_large_for_methods_are_refused() {
        let check = |constraints: Constraints| {
            let problem = Problem::new(Data::dense(Array2::zeros((3, 1))).unwrap());
            problem.with_constraints(constraints).check().map_err(|e| e.to_string())
        };
        let listed = |w: f64| Constraints::new(3, [Constraint::must(0, 1).weighing(w)]).unwrap();
        let grouped = |weight: f64| {
            let group = Group { weight, ..Group::new("g", vec![0, 1]) };
            Constraints::default().with_groups(3, [group]).unwrap()
        };
        assert_eq!((check(listed(1e100)), check(grouped(1e100))), (Ok(()), Ok(())));
        let said =
            "constraints: weight of (0, 1) must be between 0 and 1e100, got 1e308".to_string();
        assert_eq!(check(listed(1e308)), Err(said.clone()));
        assert_eq!(check(grouped(1e308)), Err(said));
    }

    #[test]
    fn contradictions_are_told_with_chains_while_they_are_few() {
        let chain = |n: usize| (1..n).map(|i| Constraint::must(i - 1, i));
        let apart = |n: usize| (2..n).map(|i| Constraint::cannot(0, i));
        assert_eq!(said(4, Some(2), chain(4).collect()), None);
        assert_eq!(
            said(3, None, chain(3).chain(apart(3)).collect()).unwrap(),
            "constraints: cannot-link 0–2 contradicts must-links 0–1–2"
        );
        let many = 2 + MOST_WITH_CHAINS + 1;
        assert_eq!(
            said(many, None, chain(many).chain(apart(many)).collect()).unwrap(),
            "constraints: 1001 cannot-links contradict must-links"
        );
    }

    #[test]
    fn too_few_clusters_are_told_where_there_is_k() {
        let all_apart =
            || vec![Constraint::cannot(0, 1), Constraint::cannot(1, 2), Constraint::cannot(0, 2)];
        assert_eq!(said(3, None, all_apart()), None);
        assert_eq!(said(3, Some(3), all_apart()), None);
        let told = said(3, Some(2), all_apart()).unwrap();
        assert!(told.starts_with("constraints: 2 clusters cannot satisfy the odd cycle"), "{told}");
    }
}
