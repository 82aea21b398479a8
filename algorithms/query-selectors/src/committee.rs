//! Which objects does a committee of clusterings disagree about?

use std::borrow::Cow;

use mustlink_core::prelude::*;
use mustlink_core::serde_json::json;
use mustlink_kernels::distance::points::Distortion;
use mustlink_kernels::ensemble::co_association::{CoAssociation, MAX_MATRIX_BYTES, Representation};
use mustlink_kernels::ensemble::imputation::{MAX_CANDIDATES, Thresholds, neighbourhoods};

use crate::parts::checks::known_k;
use crate::parts::farthest::Farthest;
use crate::parts::mean::Mean;
use crate::parts::neighbourhoods::{MOST_RETRIES, Neighbourhoods, Place, Rules, Tie};
use crate::parts::placing::{EmptyInquiry, Placing};
use crate::parts::votes::Votes;

/// Which object of an imputed neighbourhood stands for it.
#[options]
pub enum Representative {
    /// The one that shares most votes with the others; ties: nearest to their mean.
    #[default]
    MeanCoassociation,
    /// The one nearest to the mean of the others' features.
    FeatureCentroid,
}

/// How the association with a cluster enters the margin.
#[options]
pub enum Weighting {
    /// Times the share of the cluster in all placed objects (T, equation 5).
    #[default]
    Size,
    /// As it is (S, equation 4).
    None,
}

/// Who belongs to a cluster when it is founded, besides its medoid.
#[options]
pub enum InitialMembers {
    /// Whom the oracle puts there.
    #[default]
    Oracle,
    /// Also every object that the ensemble imputes a must-link to the medoid for (Fig. 4, step 5): it
    /// counts in associations, is asked about after all others, and gives no constraint.
    Imputed,
}

/// What follows when the imputed neighbourhoods end before there are k clusters.
#[options]
pub enum Fallback {
    /// Objects outside them, the least associated with any cluster first.
    #[default]
    Singletons,
    /// The clusters there are have to do.
    Stop,
}

/// When objects come that share no vote with any cluster.
#[options]
pub enum ZeroAssociation {
    /// Before all others: their margin is 0.
    #[default]
    First,
    /// After all others.
    Last,
}

/// Objects that the members of an ensemble disagree about, after one representative per class.
///
/// # Method
/// Pairs that nearly all members put together are imputed must-links; the sets they hold together,
/// the largest first, each offer their medoid to the clusters found so far, and found a new one when
/// apart from all, until there are k. Then, again and again, the object with the smallest margin
/// between its two largest associations with a cluster is asked against the representatives, the
/// most associated first. An object apart from k − 1 clusters joins the last one for free.
/// # Input and output
/// What the generator takes, dense or sparse rows; k from the problem or the option. Test objects
/// vote and are counted in neighbourhoods, but are never asked about. Imputed links are never
/// exported as constraints.
/// # "Don't know"
/// Another member of the cluster is tried, the one that shares most votes first; then the cluster
/// stays open for the object. A medoid with an open cluster is set aside and the next best object
/// of its neighbourhood tried once; an object of the expansion with a single open cluster joins it,
/// with more it is set aside.
/// # Errors
/// `MissingK`; `BadParam` for thresholds, k, `dont_know_retries`, a matrix or a number of candidates
/// beyond its limit, and for members that leave objects out; `UnsupportedData`.
/// # Cost and randomness
/// The ensemble (shared within a run), then O(n² τ / 64) for counts, or without a matrix O(τ n) and
/// the comparisons needed; each object placed O(n), without a matrix O(τ n). Random in the ensemble.
/// # References
/// [Greene2007] Figs. 3 to 5 (2000 members, spherical k-means).
#[options]
pub struct Committee {
    /// What makes the committee; absent: `subsample`. From 100 000 objects on its k-means then has one
    /// start, as published, and draws 80 000 objects for each member.
    pub generator: Option<Box<dyn EnsembleGenerator>>,
    /// Number of clusters; absent: the problem's.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Share of the members from which on a pair is an imputed must-link (κ_m).
    #[option(default = 0.98, min = 0.0, max = 1.0)]
    pub kappa_must: f64,
    /// Share of the members up to which a pair is an imputed cannot-link (κ_c); reported only.
    #[option(min = 0.0, max = 1.0)]
    pub kappa_cannot: f64,
    /// Which object of an imputed neighbourhood stands for it.
    pub representative: Representative,
    /// Who belongs to a cluster when it is founded, besides its medoid.
    pub initial_members: InitialMembers,
    /// How associations enter the margin.
    pub weighting: Weighting,
    /// What follows when the imputed neighbourhoods do not suffice.
    pub fallback: Fallback,
    /// When objects come that share no vote with any cluster.
    pub zero_association: ZeroAssociation,
    /// How distances to means are taken, where they decide.
    #[option(default = Distortion::SquaredEuclidean)]
    pub distortion: Distortion,
    /// How co-associations are held.
    pub representation: Representation,
    /// Bytes of the matrix above which it is not held.
    #[option(default = MAX_MATRIX_BYTES)]
    pub max_matrix_bytes: u64,
    /// Comparisons to find neighbourhoods without a matrix, at most.
    #[option(default = MAX_CANDIDATES)]
    pub max_candidates: u64,
    /// Whether an object apart from k − 1 clusters joins the last one without a question; sound only when k is the number of classes.
    #[option(default = true)]
    pub last_inference: bool,
    /// Whether what is known already is concluded instead of asked.
    #[option(default = true)]
    pub skip_entailed: bool,
    /// Other members of a cluster tried after "don't know".
    #[option(default = 1, max = MOST_RETRIES)]
    pub dont_know_retries: u8,
    /// What decides between equal margins.
    pub tie: Tie,
}

impl Committee {
    /// What makes the committee of `n` objects.
    fn makers(&self, n: usize) -> Result<Cow<'_, Box<dyn EnsembleGenerator>>> {
        if let Some(generator) = &self.generator {
            return Ok(Cow::Borrowed(generator));
        }
        let mut config = json!({"type": "subsample"});
        if n >= MANY {
            config["clusterer"] = json!({"type": "kmeans", "restarts": 1});
            config["rate"] = (0.8 * MANY as f64 / n as f64).into();
        }
        let failed = |message| Error::Plugin { tag: "subsample".into(), message };
        <dyn EnsembleGenerator as RoleObject>::from_value(config).map(Cow::Owned).map_err(failed)
    }

    /// Starts an inquiry of this kind: `beginning` says how the first object of each cluster is
    /// found, `beta` how much the density around an object counts beside its margin.
    pub(crate) fn begin(
        &self,
        beginning: Beginning,
        beta: Option<f64>,
        plugin: &str,
        problem: &Problem,
        ctx: &Context,
    ) -> Result<Box<dyn Inquiry>> {
        let rules = Rules {
            skip_entailed: self.skip_entailed,
            dont_know_retries: self.dont_know_retries,
            tie: self.tie,
        };
        let groups = Neighbourhoods::new(problem, ctx, plugin, self.distortion, rules)?;
        let eligible = groups.eligible().len();
        if eligible < 2 {
            return Ok(Box::new(EmptyInquiry));
        }
        let k = known_k(self.k, problem, eligible)?;
        let k = k.ok_or_else(|| Error::MissingK { plugin: plugin.into() })?;
        let mut seen = problem.clone();
        seen.k = Some(k);
        // Whatever the members could learn from what is given, they are not to repeat it.
        let generator = self.makers(problem.n())?;
        let generator = &**generator;
        let ensemble = ctx.ensemble_labels(generator, &seen).map_err(|e| e.at("generator"))?;
        let ctx = ctx.clone();
        let thresholds = Thresholds::new(self.kappa_must, self.kappa_cannot, ensemble.len())?;
        if self.kappa_must - self.kappa_cannot < 0.5 {
            ctx.warn("kappa_must is less than 0.5 above kappa_cannot: imputed links say little");
        }
        if !mustlink_kernels::ensemble::co_association::is_complete(&ensemble) {
            let legal = "one that labels every object (out_of_sample other than leave_out)";
            return Err(Error::bad_param("generator", generator.typetag_name(), legal));
        }
        let co = CoAssociation::new(&ensemble, self.representation, self.max_matrix_bytes, &ctx)?;
        let sets = match beginning {
            Beginning::Imputed => neighbourhoods(&co, &thresholds, self.max_candidates, &ctx)?,
            Beginning::Farthest => Vec::new(),
        };
        let density = match beta {
            None => Vec::new(),
            Some(beta) => densities(&co, groups.eligible(), beta),
        };
        let mut run = Run {
            options: self.clone(),
            beginning,
            density,
            k,
            sets: sets.into_iter(),
            used: vec![false; problem.n()],
            retry: None,
            expanding: false,
            votes: Votes::new(co),
            thresholds,
            farthest: Farthest::new(&groups),
            step: Step::Done(Done::Exhausted),
            ctx,
            groups,
        };
        run.step = run.advance()?;
        Ok(Box::new(run))
    }
}

/// How the first object of each cluster is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beginning {
    /// As medoids of imputed neighbourhoods.
    Imputed,
    /// As the object farthest from all placed ones.
    Farthest,
}

/// Neighbours whose co-associations make the density around an object.
const NEIGHBOURS: usize = 10;

/// (Mean co-association with the 10 objects most associated with it)^β, of each object of `of`.
fn densities(co: &CoAssociation, of: &[u32], beta: f64) -> Vec<f64> {
    let density = |i: u32| {
        let mut row = co.row(i as usize);
        row.swap_remove(i as usize);
        row.sort_unstable_by(|a, b| b.cmp(a));
        row.truncate(NEIGHBOURS);
        let sum: u32 = row.iter().sum();
        let mean = f64::from(sum) / (row.len().max(1) * co.members()) as f64;
        mean.powf(beta)
    };
    of.iter().map(|&i| density(i)).collect()
}

/// Objects from which on members are made by single starts, and draw no more of them: they differ by
/// their samples already, and ten starts of each on most of the objects take minutes.
const MANY: usize = 100_000;

#[plugin("committee", cites = ["Greene2007"])]
impl QuerySelector for Committee {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        self.begin(Beginning::Imputed, None, "committee", problem, ctx)
    }

    fn properties(&self) -> SelectorProperties {
        let generator = self.makers(0);
        SelectorProperties {
            needs_k: self.k.is_none(),
            skips_entailed: self.skip_entailed,
            infers: self.last_inference,
            accepts_sparse: generator
                .is_ok_and(|g| g.properties().accepts.contains(&DataKind::Csr)),
            ..SelectorProperties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let generator = self.makers(shape.n);
        let n = shape.n as u64;
        // Counts of up to 65 535 members; what does not fit is held implicitly, in less.
        let matrix = match self.representation {
            Representation::Implicit => 0,
            _ => (n * n.saturating_sub(1)).min(self.max_matrix_bytes),
        };
        generator.map_or(0, |g| g.memory(shape, true)) + matrix + n * (128 + 8 * shape.k as u64)
    }
}

struct Run {
    options: Committee,
    beginning: Beginning,
    /// For each eligible object the density around it, where it counts.
    density: Vec<f64>,
    k: usize,
    /// Imputed neighbourhoods not offered yet.
    sets: std::vec::IntoIter<Vec<u32>>,
    /// Objects in neighbourhoods that were offered.
    used: Vec<bool>,
    /// The neighbourhood whose medoid is on its way, while another of its objects may be tried.
    retry: Option<Vec<u32>>,
    expanding: bool,
    votes: Votes,
    thresholds: Thresholds,
    /// Where no neighbourhoods are imputed.
    farthest: Farthest,
    step: Step,
    ctx: Context,
    groups: Neighbourhoods,
}

impl Run {
    fn create(&mut self, object: u32) {
        self.groups.create(object);
        self.votes.create(object);
        self.placed(object);
        let imputed = self.options.initial_members == InitialMembers::Imputed;
        if imputed && self.beginning == Beginning::Imputed && !self.expanding {
            let like = self.alike(object);
            self.votes.lend(&like, self.groups.len() as u32 - 1);
        }
    }

    /// Objects nobody has placed for which the ensemble imputes a must-link to this one.
    fn alike(&self, object: u32) -> Vec<u32> {
        let co = self.votes.co_association();
        let free = |i: &u32| !self.groups.is_settled(*i) && !self.votes.is_lent(*i);
        let must = |i: &u32| {
            let (a, b) = (object as usize, *i as usize);
            self.thresholds.judge(co.count(a, b), co.joint(a, b)) == Some(Kind::MustLink)
        };
        (0..co.n() as u32).filter(|i| *i != object && free(i) && must(i)).collect()
    }

    fn placed(&mut self, object: u32) {
        if self.beginning == Beginning::Farthest && !self.expanding {
            self.farthest.placed(&self.groups, object);
        }
    }

    fn locate(&mut self, x: u32, infer: bool, purpose: &'static str) {
        let order = self.votes.order(x);
        let retries = self.options.dont_know_retries;
        let references = self.votes.references(x, &order, self.groups.members(), retries);
        self.groups.locate_by(x, order, references, infer, purpose);
    }

    /// The next object that may found a cluster.
    fn next_candidate(&mut self) -> Option<u32> {
        if self.beginning == Beginning::Farthest {
            let eligible = self.groups.eligible();
            return match self.groups.is_empty() {
                true => Some(eligible[self.ctx.stream("start").below(eligible.len())]),
                false => self.farthest.next(&mut self.groups),
            };
        }
        if let Some(set) = self.retry.take()
            && let Some(x) = self.medoid(&set)
        {
            return Some(x);
        }
        while let Some(set) = self.sets.next() {
            set.iter().for_each(|&i| self.used[i as usize] = true);
            if let Some(x) = self.medoid(&set) {
                if self.options.dont_know_retries > 0 {
                    self.retry = Some(set);
                }
                return Some(x);
            }
        }
        if self.options.fallback == Fallback::Stop {
            return None;
        }
        let outside = |&i: &u32| !self.used[i as usize] && !self.groups.is_settled(i);
        let outside: Vec<u32> = self.groups.eligible().iter().copied().filter(outside).collect();
        let largest = |i: u32| self.votes.association(i).into_iter().fold(0.0, f64::max);
        let keyed = outside.into_iter().map(|i| (largest(i), i));
        keyed.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))).map(|(_, i)| i)
    }

    /// The eligible, free object that stands for a neighbourhood; all of it counts.
    fn medoid(&self, set: &[u32]) -> Option<u32> {
        let groups = &self.groups;
        let eligible = groups.eligible();
        let free = |i: &u32| eligible.binary_search(i).is_ok() && !groups.is_settled(*i);
        let candidates: Vec<u32> = set.iter().copied().filter(free).collect();
        let tied: Vec<u32> = match self.options.representative {
            Representative::FeatureCentroid => candidates,
            Representative::MeanCoassociation => {
                let sums = self.votes.co_association().sums(&candidates, set);
                let most = *sums.iter().max()?;
                candidates.into_iter().zip(sums).filter(|c| c.1 == most).map(|c| c.0).collect()
            }
        };
        if tied.len() < 2 {
            return tied.first().copied();
        }
        let mean = Mean::of(groups.points(), set);
        let keyed = tied.into_iter().map(|i| (mean.distance(groups.points(), i), i));
        keyed.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))).map(|(_, i)| i)
    }

    /// The free object with the smallest margin.
    fn most_disputed(&mut self) -> Option<u32> {
        let free = self.groups.free();
        let waits = free.iter().any(|&i| !self.votes.is_lent(i));
        let comes = |votes: &Votes, i: u32| !waits || !votes.is_lent(i);
        let last = self.options.zero_association == ZeroAssociation::Last;
        let by_size = self.options.weighting == Weighting::Size;
        if !self.density.is_empty() {
            let eligible = self.groups.eligible();
            let score = |(&i, density): (&u32, &f64)| {
                let doubt = 1.0 - self.votes.margin(i, by_size).value();
                let late = last && self.votes.has_no_association(i);
                let score = if late { -1.0 } else { doubt * density };
                let free = !self.groups.is_settled(i) && comes(&self.votes, i);
                free.then_some(score)
            };
            let scores: Vec<Option<f64>> = eligible.iter().zip(&self.density).map(score).collect();
            return self.groups.best(&scores).map(|at| self.groups.eligible()[at]);
        }
        let mut best: Vec<u32> = Vec::new();
        let mut least = None;
        for i in free.into_iter().filter(|&i| comes(&self.votes, i)) {
            let late = last && self.votes.has_no_association(i);
            let margin = self.votes.margin(i, by_size);
            let order = least.map_or(std::cmp::Ordering::Less, |(l, m): (bool, _)| {
                late.cmp(&l).then(margin.order(m))
            });
            if order.is_lt() {
                best.clear();
                least = Some((late, margin));
            }
            if order.is_le() {
                best.push(i);
            }
        }
        let scores: Vec<Option<f64>> = best.iter().map(|_| Some(0.0)).collect();
        self.groups.best(&scores).map(|at| best[at])
    }
}

impl Placing for Run {
    fn groups(&mut self) -> &mut Neighbourhoods {
        &mut self.groups
    }

    fn take_up(&mut self) -> Result<Option<Step>> {
        while !self.expanding && self.groups.len() < self.k {
            match self.next_candidate() {
                Some(x) if self.groups.is_empty() => {
                    self.create(x);
                    self.retry = None;
                }
                Some(x) => {
                    self.locate(x, false, "initialise");
                    return Ok(None);
                }
                None => self.expanding = true,
            }
        }
        self.expanding = true;
        let Some(x) = self.most_disputed() else { return Ok(Some(Step::Done(Done::AllAssigned))) };
        // With fewer clusters than k the last one may be a cluster not found yet.
        let infer = self.options.last_inference && self.groups.len() >= self.k;
        self.locate(x, infer, "expand");
        Ok(None)
    }

    fn settled(&mut self, object: u32, place: Place) {
        match place {
            Place::Joined(p) => {
                self.votes.join(object, p);
                self.placed(object);
            }
            Place::Apart if !self.expanding => self.create(object),
            // Its class hid in neighbourhoods that were offered already.
            Place::Apart
                if self.groups.len() < self.k && self.options.fallback == Fallback::Singletons =>
            {
                self.create(object);
            }
            Place::Apart => self.groups.park(object),
            // Its neighbourhood offers another object, once.
            Place::Parked => return,
        }
        self.retry = None;
    }
}

impl Inquiry for Run {
    fn step(&mut self) -> Result<Step> {
        Ok(self.step.clone())
    }

    fn tell(&mut self, id: QueryId, reply: Reply) -> Result<()> {
        self.step = self.answered(id, reply)?;
        Ok(())
    }

    fn drain(&mut self) -> Vec<Event> {
        self.groups.drain(matches!(self.step, Step::Done(_)))
    }
}
