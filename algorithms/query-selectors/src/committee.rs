//! Objects that a committee of clusterings disagrees about.

use mustlink_core::prelude::*;
use mustlink_kernels::distance::points::Distortion;
use mustlink_kernels::ensemble::imputation::{MAX_CANDIDATES, Thresholds, neighbourhoods};

use crate::parts::ascending::least;
use crate::parts::asking::Asking;
use crate::parts::expansion::Expansion;
use crate::parts::mean::Mean;
use crate::parts::neighbourhoods::{Neighbourhoods, Place};
use crate::parts::placing::{Placing, Selector};
use crate::parts::voting::Voting;

pub use crate::parts::expansion::{Weighting, ZeroAssociation};

/// Object that represents an imputed neighbourhood.
#[options]
pub enum Representative {
    /// The object that shares most votes with the others; ties: nearest to their mean.
    #[default]
    MeanCoassociation,
    /// The object nearest to the mean of the others' features.
    FeatureCentroid,
}

/// Members of a new cluster, in addition to its medoid.
#[options]
pub enum InitialMembers {
    /// Objects that the oracle puts there.
    #[default]
    Oracle,
    /// Also every object for which the ensemble imputes a must-link to the medoid (Fig. 4, step 5). Such an object
    /// counts in associations, is asked about after all others, and gives no constraint.
    Imputed,
}

/// Action if the imputed neighbourhoods end before there are k clusters.
#[options]
pub enum Fallback {
    /// Objects outside them are taken, the least associated with any cluster first.
    #[default]
    Singletons,
    /// The existing clusters are used.
    Stop,
}

/// Options for the links that an ensemble imputes, and for the objects that it leaves open.
#[options]
pub struct Imputing {
    /// Smallest share of members joining a pair for an imputed must-link (κ_m).
    #[option(default = 0.98, min = 0.0, max = 1.0)]
    pub kappa_must: f64,
    /// Largest share of members joining a pair for an imputed cannot-link (κ_c); below `kappa_must`. It changes no
    /// question.
    #[option(min = 0.0, max = 1.0)]
    pub kappa_cannot: f64,
    /// Object that represents an imputed neighbourhood.
    pub representative: Representative,
    /// Members of a new cluster, in addition to its medoid.
    pub initial_members: InitialMembers,
    /// Weight of associations in the margin.
    pub weighting: Weighting,
    /// Action if the imputed neighbourhoods do not suffice.
    pub fallback: Fallback,
    /// Position of objects that share no vote with any cluster.
    pub zero_association: ZeroAssociation,
    /// Distance to means, used when votes do not decide. "auto": cosine for sparse rows, otherwise squared Euclidean.
    pub distortion: AutoOr<Distortion>,
    /// Maximum number of comparisons to find neighbourhoods without a matrix.
    #[option(default = MAX_CANDIDATES, min = 0)]
    pub max_candidates: u64,
}

/// Objects that the members of an ensemble disagree about, after one representative per class.
///
/// # Method
/// Pairs that nearly all members put together are imputed must-links. They join objects to sets. Each set, the
/// largest first, offers its medoid to the clusters found so far. The medoid founds a new cluster if it is apart from
/// all, until there are k. Then the method repeatedly takes the object with the smallest margin between its two
/// largest associations with a cluster. This object is compared with the representatives, the most associated first.
/// An object apart from k − 1 clusters joins the last one without a question.
/// # Input and output
/// The input of the generator, dense or sparse rows; k from the problem or the option. Test objects vote and are
/// counted in neighbourhoods, but are never asked about. Imputed links are never exported as constraints.
/// # "Don't know"
/// Another member of the cluster is tried, the one that shares most votes first; then the cluster stays open for the
/// object. A medoid with an open cluster is set aside, and the next best object of its neighbourhood is tried once.
/// During the expansion, an object with a single open cluster joins it; with more it is set aside.
/// # Errors
/// `MissingK`; `BadParam` for thresholds, k, `dont_know_retries`, a matrix or a number of candidates beyond its
/// limit, and for members that leave objects out; `UnsupportedData`.
/// # Cost and randomness
/// The ensemble (shared within a run), then O(n² τ / 64) for counts, or without a matrix O(τ n) and the comparisons
/// needed; each object placed O(n), without a matrix O(τ n). Random in the ensemble.
/// # References
/// [Greene2007] Figs. 3 to 5 (2000 members, spherical k-means). Differs: §3.2 has the object nearest the centroid of
/// the neighbourhood as its representative, and Fig. 4 the object of the largest co-association, the default here
/// (`representative`).
#[options]
pub struct Committee {
    /// Options of the committee.
    #[option(flatten)]
    pub voting: Voting,
    /// Options for the links that the votes impute, and for the objects that they leave open.
    #[option(flatten)]
    pub imputing: Imputing,
    /// Options for the questions about an object.
    #[option(flatten)]
    pub asking: Asking,
}

impl Committee {
    /// Starts an inquiry in which `next` chooses the object that is placed next.
    pub(crate) fn begin(
        &self,
        plugin: &str,
        problem: &Problem,
        ctx: &Context,
        next: impl FnMut(&Expansion, &mut Neighbourhoods) -> Result<Option<u32>> + Send + 'static,
    ) -> Result<Box<dyn Inquiry>> {
        let Imputing { kappa_must, kappa_cannot, distortion, .. } = self.imputing;
        let groups = Neighbourhoods::new(problem, ctx, plugin, distortion, self.asking)?;
        Placing::start(groups, |groups| {
            let (k, ensemble) = self.voting.vote(plugin, problem, groups)?;
            let thresholds = Thresholds::new(kappa_must, kappa_cannot, ensemble.len())?;
            if kappa_must - kappa_cannot < 0.5 {
                ctx.warn(
                    "kappa_must is less than 0.5 above kappa_cannot: imputed links say little",
                );
            }
            let co = self.voting.count(&ensemble, ctx)?;
            // Fig. 3: M' and the sets that it holds together, the largest first.
            let sets = neighbourhoods(&co, &thresholds, self.imputing.max_candidates, ctx)?;
            let mut outside = vec![true; problem.n()];
            sets.iter().flatten().for_each(|&i| outside[i as usize] = false);
            let singletons = groups.eligible().iter().copied();
            Ok(Run {
                options: self.clone(),
                k,
                singletons: singletons.filter(|&i| outside[i as usize]).collect(),
                sets: sets.into_iter(),
                retry: None,
                expanding: false,
                expansion: Expansion::new(
                    co,
                    self.imputing.weighting,
                    self.imputing.zero_association,
                ),
                thresholds,
                next,
            })
        })
    }
}

#[plugin("committee", cites = ["Greene2007"])]
impl QuerySelector for Committee {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        self.begin("committee", problem, ctx, |expansion, groups| {
            Ok(expansion.most_disputed(groups))
        })
    }

    fn properties(&self) -> SelectorProperties {
        self.voting.properties(self.asking)
    }

    fn memory(&self, shape: &Shape) -> u64 {
        self.voting.memory(shape)
    }
}

struct Run<F> {
    options: Committee,
    k: usize,
    /// Imputed neighbourhoods not offered yet.
    sets: std::vec::IntoIter<Vec<u32>>,
    /// Eligible objects outside all of them.
    singletons: Vec<u32>,
    /// The neighbourhood whose medoid is on its way, while another of its objects may be tried.
    retry: Option<Vec<u32>>,
    expanding: bool,
    expansion: Expansion,
    thresholds: Thresholds,
    /// Chooses the object that is placed next.
    next: F,
}

impl<F> Selector for Run<F>
where
    F: FnMut(&Expansion, &mut Neighbourhoods) -> Result<Option<u32>> + Send + 'static,
{
    fn take_up(&mut self, groups: &mut Neighbourhoods) -> Result<Option<Step>> {
        // Equation 3: S follows what was answered.
        self.expansion.follow(groups.members());
        // Fig. 4, initialisation: the medoid of one imputed neighbourhood after the other is offered,
        if !self.expanding && groups.len() < self.k {
            match self.representative(groups) {
                // the first of them without a question,
                Some(m) if groups.is_empty() => self.settled(groups, m, Place::Apart),
                // the others against the representatives there are,
                Some(m) => self.expansion.locate(groups, m, false, "initialise"),
                None => self.expanding = true,
            }
            return Ok(None);
        }
        // until there are k of them. Fig. 5, expansion: the object with the smallest margin w between
        // its two largest entries of T (equation 5; of S: equation 4)
        self.expanding = true;
        let Some(x) = (self.next)(&self.expansion, groups)? else {
            return Ok(Some(Step::Done(Done::AllAssigned)));
        };
        // is asked against the representatives in decreasing order of S until a must-link; after k − 1
        // cannot-links it joins the last cluster. With fewer clusters than k that one may not be found yet.
        let infer = self.options.voting.last_inference && groups.len() >= self.k;
        self.expansion.locate(groups, x, infer, "expand");
        Ok(None)
    }

    fn settled(&mut self, groups: &mut Neighbourhoods, object: u32, place: Place) {
        let missing =
            groups.len() < self.k && self.options.imputing.fallback == Fallback::Singletons;
        match place {
            Place::Joined(_) => {}
            // Fig. 4: apart from all representatives, it is one itself.
            Place::Apart if !self.expanding => self.found(groups, object),
            // Its class hid in neighbourhoods that were offered already.
            Place::Apart if missing => groups.create(object),
            Place::Apart => groups.park(object),
            // Its neighbourhood offers another object, once.
            Place::Parked => return,
        }
        self.retry = None;
    }
}

impl<F> Run<F> {
    /// The next object that may found a cluster.
    fn representative(&mut self, groups: &Neighbourhoods) -> Option<u32> {
        if let Some(set) = self.retry.take()
            && let Some(m) = self.medoid(groups, &set)
        {
            return Some(m);
        }
        while let Some(set) = self.sets.next() {
            if let Some(m) = self.medoid(groups, &set) {
                self.retry = (self.options.asking.dont_know_retries > 0).then_some(set);
                return Some(m);
            }
        }
        if self.options.imputing.fallback == Fallback::Stop {
            return None;
        }
        let free = self.singletons.iter().copied().filter(|&i| !groups.is_settled(i));
        let largest = |i: u32| self.expansion.association(i).into_iter().fold(0.0, f64::max);
        least(free.map(|i| (largest(i), i)))
    }

    /// The eligible, free object that stands for a neighbourhood; all of it counts.
    fn medoid(&self, groups: &Neighbourhoods, set: &[u32]) -> Option<u32> {
        let eligible = groups.eligible();
        let free = |i: &u32| eligible.binary_search(i).is_ok() && !groups.is_settled(*i);
        let candidates: Vec<u32> = set.iter().copied().filter(free).collect();
        let tied: Vec<u32> = match self.options.imputing.representative {
            Representative::FeatureCentroid => candidates,
            Representative::MeanCoassociation => {
                let sums = self.expansion.co_association().sums(&candidates, set);
                let most = *sums.iter().max()?;
                candidates.into_iter().zip(sums).filter(|c| c.1 == most).map(|c| c.0).collect()
            }
        };
        if tied.len() < 2 {
            return tied.first().copied();
        }
        let mean = Mean::of(groups.points(), set);
        least(tied.into_iter().map(|i| (mean.distance(groups.points(), i), i)))
    }

    /// `object` founds a cluster, in which with [`InitialMembers::Imputed`] those count too that the
    /// ensemble imputes a must-link to it for and that count nowhere yet.
    fn found(&mut self, groups: &mut Neighbourhoods, object: u32) {
        groups.create(object);
        if self.options.imputing.initial_members == InitialMembers::Oracle {
            return;
        }
        let expansion = &mut self.expansion;
        expansion.follow(groups.members());
        let co = expansion.co_association();
        let alike = |i: &u32| {
            let (a, b) = (object as usize, *i as usize);
            let imputed = self.thresholds.judge(co.count(a, b), co.joint(a, b));
            let free = !groups.is_settled(*i) && !expansion.is_guest(*i);
            free && imputed == Some(Kind::MustLink)
        };
        let alike: Vec<u32> = (0..co.n() as u32).filter(alike).collect();
        expansion.invite(&alike, groups.len() as u32 - 1);
    }
}
