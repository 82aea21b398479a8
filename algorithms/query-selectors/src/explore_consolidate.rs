//! Explore & Consolidate: find one neighbourhood per class by farthest objects, then fill them.

use mustlink_core::prelude::*;
use mustlink_kernels::distance::points::Distortion;

use crate::parts::ascending::least;
use crate::parts::asking::{Asking, Member};
use crate::parts::checks::known_k;
use crate::parts::farthest::Farthest;
use crate::parts::mean::Mean;
use crate::parts::neighbourhoods::{Neighbourhoods, Place};
use crate::parts::placing::{Placing, Selector};

/// The order in which the neighbourhoods are tried while exploring.
#[options]
pub enum ExploreOrder {
    /// Nearest mean first: fewer questions for an object near its class, and fewer cannot-links learned.
    NearestCentroid,
    /// In the order in which they were found, as in the published listing.
    #[default]
    Creation,
}

/// Rule that finds the first object.
#[options]
pub enum FirstRule {
    /// A uniformly random eligible object.
    Random,
    /// The eligible object nearest to the mean of all eligible ones.
    NearestMean,
}

/// The first object: a rule, or its row number.
#[options]
#[derive(Copy, Eq)]
pub enum First {
    /// A rule.
    Rule(FirstRule),
    /// This object, by row number from 0; it must be eligible.
    Object(#[option(min = 0)] usize),
}

/// Options of all selectors that explore, that is, find one neighbourhood per class.
#[options]
#[derive(Copy)]
pub struct Exploring {
    /// Number of clusters. If absent, the k of the problem, or unknown.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Distance between objects. "auto": cosine for sparse rows, otherwise squared Euclidean.
    pub distortion: AutoOr<Distortion>,
    /// The first object: `random`, `nearest_mean` or a row number.
    #[option(default = First::Rule(FirstRule::Random))]
    pub start: First,
    /// The order in which the neighbourhoods are tried while exploring.
    pub explore_order: ExploreOrder,
    /// Let an object apart from k − 1 neighbourhoods join the last one without asking. This is correct only if k is
    /// the number of classes.
    #[option(default = true)]
    pub last_inference: bool,
}

/// Farthest objects until every class has a neighbourhood, then random objects until all are placed.
///
/// # Method
/// Explore takes the eligible object farthest from all neighbourhoods and compares it with each of them; if it is apart
/// from all, it founds the next one. Once there are k neighbourhoods, Consolidate takes random objects. It compares
/// each with the neighbourhoods, nearest mean first, until a must-link. An object apart from k − 1 of them joins the
/// last one without a question.
/// # Input and output
/// Dense or sparse rows; k from the problem or the option. Without k it explores until the budget ends or every
/// object is placed. Neighbourhoods are reported from the first reply on. Given constraints are known from the start:
/// pairs that they entail are not asked, but they do not found neighbourhoods.
/// # "Don't know"
/// Another member of the neighbourhood is tried; then the neighbourhood stays open for the object. While exploring,
/// an object with an open neighbourhood and no must-link is set aside for good. While consolidating, an object with a
/// single open neighbourhood and cannot-links to the others joins it without a question. An object apart from all k
/// neighbourhoods (a wrong k, or `last_inference = false`) is set aside too.
/// # Errors
/// `BadParam` for `k` above the number of eligible objects, a `start` that is not eligible and `dont_know_retries`;
/// `UnsupportedData` for distances and affinities.
/// # Cost and randomness
/// O(|E| d) per object placed while exploring, O(k d) while consolidating. Random in the start, the members put in
/// questions, the objects of Consolidate, and in ties if `tie = "random"`.
/// # References
/// [Basu2004] Figs. 2 and 3. Differs: the means follow their neighbourhoods during Consolidate;
/// `recompute_centroids = false` is the rule of the paper.
#[options]
pub struct ExploreConsolidate {
    /// Options for finding one neighbourhood per class.
    #[option(flatten)]
    pub exploring: Exploring,
    /// Member of a neighbourhood that is put in a question while exploring.
    #[option(default = Member::Random)]
    pub explore_member: Member,
    /// Member of a neighbourhood that is put in a question while consolidating.
    #[option(default = Member::Random)]
    pub consolidate_member: Member,
    /// Update the means of neighbourhoods while consolidating.
    #[option(default = true)]
    pub recompute_centroids: bool,
    /// Options for the questions about an object.
    #[option(flatten)]
    pub asking: Asking,
}

#[plugin("explore_consolidate", cites = ["Basu2004"], version = 2)]
impl QuerySelector for ExploreConsolidate {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        let plugin = "explore_consolidate";
        let (exploring, asking) = (self.exploring, self.asking);
        let groups = Neighbourhoods::new(problem, ctx, plugin, exploring.distortion, asking)?;
        Placing::start(groups, |groups| {
            let explore = Explore::start(exploring, self.explore_member, problem, groups)?;
            let draw = ctx.stream("consolidate");
            Ok(Run { options: self.clone(), explore, consolidate: None, draw })
        })
    }

    fn properties(&self) -> SelectorProperties {
        self.exploring.properties(self.asking)
    }

    fn memory(&self, shape: &Shape) -> u64 {
        self.exploring.memory(shape)
    }
}

impl Exploring {
    pub(crate) fn properties(&self, asking: Asking) -> SelectorProperties {
        SelectorProperties {
            skips_entailed: asking.skip_entailed,
            infers: self.last_inference,
            accepts_sparse: true,
            ..SelectorProperties::default()
        }
    }

    pub(crate) fn memory(&self, shape: &Shape) -> u64 {
        (128 * shape.n + 24 * shape.k * shape.d) as u64
    }
}

/// Explore, Fig. 2 of [Basu2004]: one neighbourhood per class.
pub(crate) struct Explore {
    /// `None`: unknown.
    k: Option<usize>,
    exploring: Exploring,
    member: Member,
    /// The neighbourhoods as those see them who are in none.
    pub(crate) farthest: Farthest,
}

impl Explore {
    /// Founds the first neighbourhood.
    pub fn start(
        exploring: Exploring,
        member: Member,
        problem: &Problem,
        groups: &mut Neighbourhoods,
    ) -> Result<Self> {
        let k = known_k(exploring.k, problem, groups.eligible().len())?;
        let first = exploring.start.of(problem, groups)?;
        let mut explore = Explore { k, exploring, member, farthest: Farthest::new(groups) };
        explore.settled(groups, first, Place::Apart);
        Ok(explore)
    }

    /// True if there may be classes without a neighbourhood: λ < k.
    pub fn goes_on(&self, groups: &Neighbourhoods) -> bool {
        self.k.is_none_or(|k| groups.len() < k)
    }

    /// Asks the object farthest from all neighbourhoods against each of them.
    pub fn take_up(&self, groups: &mut Neighbourhoods) -> Option<Step> {
        let Some(x) = self.farthest.next(groups) else {
            let Some(k) = self.k else { return Some(Step::Done(Done::AllAssigned)) };
            let found = groups.len();
            groups.ctx().warn(format!(
                "explore found {found} of {k} neighbourhoods among the eligible objects"
            ));
            return Some(Step::Done(Done::Exhausted));
        };
        let order = match self.exploring.explore_order {
            ExploreOrder::NearestCentroid => groups.by_distance(x, groups.means()),
            ExploreOrder::Creation => (0..groups.len() as u32).collect(),
        };
        // No (λ)-inference here: apart from all λ < k, an object starts a new one.
        groups.locate(x, order, self.member, false, "explore");
        None
    }

    /// With a must-link `x` has joined a neighbourhood; apart from all λ it founds the next one.
    pub fn settled(&mut self, groups: &mut Neighbourhoods, x: u32, place: Place) {
        match place {
            Place::Parked => return,
            Place::Apart => groups.create(x),
            Place::Joined(_) => {}
        }
        self.farthest.placed(groups, x);
    }
}

impl First {
    fn of(self, problem: &Problem, groups: &Neighbourhoods) -> Result<u32> {
        let eligible = groups.eligible();
        match self {
            First::Rule(FirstRule::Random) => {
                Ok(eligible[groups.ctx().stream("start").below(eligible.len())])
            }
            First::Rule(FirstRule::NearestMean) => {
                let mean = Mean::of(groups.points(), eligible);
                let keyed = eligible.iter().map(|&i| (mean.distance(groups.points(), i), i));
                Ok(least(keyed).expect("there are eligible objects"))
            }
            First::Object(i) if i < problem.n() && problem.is_eligible(i) => Ok(i as u32),
            First::Object(i) => Err(Error::bad_param("start", i, "an eligible object")),
        }
    }
}

struct Run {
    options: ExploreConsolidate,
    explore: Explore,
    /// Once there are k neighbourhoods.
    consolidate: Option<Consolidate>,
    /// Draws the objects of Consolidate.
    draw: Stream,
}

struct Consolidate {
    /// Eligible objects not drawn yet.
    pool: Vec<u32>,
    /// The means at the start of the phase, unless they follow.
    frozen: Option<Vec<Mean>>,
}

impl Selector for Run {
    fn take_up(&mut self, groups: &mut Neighbourhoods) -> Result<Option<Step>> {
        if self.explore.goes_on(groups) {
            return Ok(self.explore.take_up(groups));
        }
        // Fig. 3: the means are estimated, once or with every object that joins,
        let follow = self.options.recompute_centroids;
        let Consolidate { pool, frozen } = self.consolidate.get_or_insert_with(|| Consolidate {
            pool: groups.free(),
            frozen: (!follow).then(|| groups.means().to_vec()),
        });
        if pool.is_empty() {
            return Ok(Some(Step::Done(Done::AllAssigned)));
        }
        // a random object is taken that is in no neighbourhood,
        let x = pool.swap_remove(self.draw.below(pool.len()));
        // the neighbourhoods are sorted by the distance of their means to it,
        let order = groups.by_distance(x, frozen.as_deref().unwrap_or(groups.means()));
        // and asked in this order until a must-link; the last one needs no question.
        let (member, infer) =
            (self.options.consolidate_member, self.options.exploring.last_inference);
        groups.locate(x, order, member, infer, "consolidate");
        Ok(None)
    }

    fn settled(&mut self, groups: &mut Neighbourhoods, object: u32, place: Place) {
        if self.explore.goes_on(groups) {
            self.explore.settled(groups, object, place);
        } else if place == Place::Apart {
            groups.park(object);
        }
    }
}
