//! Explore & Consolidate: find one neighbourhood per class by farthest objects, then fill them.

use mustlink_core::prelude::*;
use mustlink_kernels::distance::points::Distortion;

use crate::parts::checks::known_k;
use crate::parts::farthest::Farthest;
use crate::parts::mean::Mean;
use crate::parts::neighbourhoods::{MOST_RETRIES, Member, Neighbourhoods, Place, Rules, Tie};
use crate::parts::placing::Placing;

/// The order in which the neighbourhoods are asked while exploring.
#[options]
pub enum ExploreOrder {
    /// Nearest mean first.
    #[default]
    NearestCentroid,
    /// As they were found.
    Creation,
}

/// How the first object is found.
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
    /// By a rule.
    Rule(FirstRule),
    /// This object, by row number from 0; it must be eligible.
    Object(usize),
}

/// Farthest objects until every class has a neighbourhood, then random objects until all are placed.
///
/// # Method
/// Explore takes the eligible object farthest from all neighbourhoods and asks it against each of
/// them; apart from all, it founds the next one. Once there are k, Consolidate takes random objects
/// and asks the neighbourhoods from the nearest mean on until a must-link; an object apart from
/// k − 1 of them joins the last one for free.
/// # Input and output
/// Dense or sparse rows; k from the problem or the option. Without k it explores until the budget
/// ends or every object is placed. Neighbourhoods are named from the first reply on. Given
/// constraints are known from the start: what they entail is not asked, but they found no
/// neighbourhood.
/// # "Don't know"
/// Another member of the neighbourhood is tried; then the neighbourhood stays open for the object.
/// While exploring, an object with an open neighbourhood and no must-link is set aside for good;
/// while consolidating, one with a single open neighbourhood and cannot-links to the others joins
/// it for free. An object apart from all k neighbourhoods (a wrong k, or `last_inference = false`)
/// is set aside too.
/// # Errors
/// `BadParam` for `k` above the number of eligible objects, a `start` that is not eligible and
/// `dont_know_retries`; `UnsupportedData` for distances and affinities.
/// # Cost and randomness
/// O(|E| d) per object placed while exploring, O(k d) while consolidating. Random in the start, the
/// members put in questions, the objects of Consolidate and, if asked for, ties.
/// # References
/// [Basu2004] Figs. 2 and 3. Differs: the means follow their neighbourhoods during Consolidate
/// (`recompute_centroids = false` is the paper's).
#[options]
pub struct ExploreConsolidate {
    /// Number of clusters; absent: the problem's, or unknown.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// How objects are compared.
    #[option(default = Distortion::SquaredEuclidean)]
    pub distortion: Distortion,
    /// The first object: `random`, `nearest_mean` or a row number.
    #[option(default = First::Rule(FirstRule::Random))]
    pub start: First,
    /// Which member of a neighbourhood is put in a question while exploring.
    #[option(default = Member::Random)]
    pub explore_member: Member,
    /// The order in which the neighbourhoods are asked while exploring.
    pub explore_order: ExploreOrder,
    /// Which member of a neighbourhood is put in a question while consolidating.
    #[option(default = Member::Random)]
    pub consolidate_member: Member,
    /// Whether the means follow their neighbourhoods while consolidating.
    #[option(default = true)]
    pub recompute_centroids: bool,
    /// Whether an object apart from k − 1 neighbourhoods joins the last one without a question; sound only when k is the number of classes.
    #[option(default = true)]
    pub last_inference: bool,
    /// Whether what is known already is concluded instead of asked.
    #[option(default = true)]
    pub skip_entailed: bool,
    /// Other members of a neighbourhood tried after "don't know".
    #[option(default = 1, max = MOST_RETRIES)]
    pub dont_know_retries: u8,
    /// What decides between equally far objects.
    #[option(default = Tie::LowestIndex)]
    pub tie: Tie,
}

#[plugin("explore_consolidate", cites = ["Basu2004"])]
impl QuerySelector for ExploreConsolidate {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        self.begin(Then::Consolidate, "explore_consolidate", problem, ctx)
    }

    fn properties(&self) -> SelectorProperties {
        SelectorProperties {
            skips_entailed: self.skip_entailed,
            infers: self.last_inference,
            accepts_sparse: true,
            ..SelectorProperties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        (128 * shape.n + 24 * shape.k * shape.d) as u64
    }
}

impl ExploreConsolidate {
    /// Starts an inquiry that goes on as `then` says once every class has a neighbourhood.
    pub(crate) fn begin(
        &self,
        then: Then,
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
        let mut run = Run {
            options: self.clone(),
            k: None,
            then,
            phase: Phase::Explore,
            farthest: Farthest::new(&groups),
            step: Step::Done(Done::Exhausted),
            draw: ctx.stream("consolidate"),
            ctx: ctx.clone(),
            groups,
        };
        let eligible = run.groups.eligible().len();
        if eligible >= 2 {
            run.k = known_k(self.k, problem, eligible)?;
            let first = self.first(problem, &run.groups, ctx)?;
            run.groups.create(first);
            run.farthest.placed(&run.groups, first);
            run.step = run.advance()?;
        }
        Ok(Box::new(run))
    }

    fn first(&self, problem: &Problem, groups: &Neighbourhoods, ctx: &Context) -> Result<u32> {
        let eligible = groups.eligible();
        match self.start {
            First::Rule(FirstRule::Random) => {
                Ok(eligible[ctx.stream("start").below(eligible.len())])
            }
            First::Rule(FirstRule::NearestMean) => {
                let mean = Mean::of(groups.points(), eligible);
                let keyed = eligible.iter().map(|&i| (mean.distance(groups.points(), i), i));
                let nearest = keyed.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                Ok(nearest.expect("there are eligible objects").1)
            }
            First::Object(i) if i < problem.n() && problem.is_eligible(i) => Ok(i as u32),
            First::Object(i) => Err(Error::bad_param("start", i, "an eligible object")),
        }
    }
}

/// What follows once every class has a neighbourhood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// Random objects, asked against the neighbourhoods from the nearest mean on.
    Consolidate,
    /// Farthest objects as before, asked from the nearest member on.
    MinMax,
}

enum Phase {
    Explore,
    Consolidate {
        /// Eligible objects not drawn yet.
        pool: Vec<u32>,
        /// The means at the start of the phase, unless they follow.
        frozen: Option<Vec<Mean>>,
    },
    MinMax,
}

struct Run {
    options: ExploreConsolidate,
    /// `None`: unknown.
    k: Option<usize>,
    then: Then,
    phase: Phase,
    farthest: Farthest,
    step: Step,
    draw: Stream,
    ctx: Context,
    groups: Neighbourhoods,
}

impl Placing for Run {
    fn groups(&mut self) -> &mut Neighbourhoods {
        &mut self.groups
    }

    fn take_up(&mut self) -> Result<Option<Step>> {
        if matches!(self.phase, Phase::Explore) && self.k.is_some_and(|k| self.groups.len() >= k) {
            self.phase = match self.then {
                Then::MinMax => Phase::MinMax,
                Then::Consolidate => {
                    let follow = self.options.recompute_centroids;
                    let frozen = (!follow).then(|| self.groups.means().to_vec());
                    Phase::Consolidate { pool: self.groups.free(), frozen }
                }
            };
        }
        let infer = self.options.last_inference;
        let member = self.options.consolidate_member;
        match &mut self.phase {
            Phase::Explore => {
                let groups = &mut self.groups;
                let Some(x) = self.farthest.next(groups) else {
                    if let Some(k) = self.k {
                        let found = groups.len();
                        self.ctx.warn(format!(
                            "explore found {found} of {k} neighbourhoods among the eligible objects"
                        ));
                        return Ok(Some(Step::Done(Done::Exhausted)));
                    }
                    return Ok(Some(Step::Done(Done::AllAssigned)));
                };
                let order = match self.options.explore_order {
                    ExploreOrder::NearestCentroid => groups.by_distance(x, groups.means()),
                    ExploreOrder::Creation => (0..groups.len() as u32).collect(),
                };
                // No (λ)-inference here: apart from all λ < k, an object starts a new one.
                groups.locate(x, order, self.options.explore_member, false, "explore");
            }
            Phase::Consolidate { pool, frozen } => {
                if pool.is_empty() {
                    return Ok(Some(Step::Done(Done::AllAssigned)));
                }
                let x = pool.swap_remove(self.draw.below(pool.len()));
                let means = frozen.as_deref().unwrap_or(self.groups.means());
                let order = self.groups.by_distance(x, means);
                self.groups.locate(x, order, member, infer, "consolidate");
            }
            Phase::MinMax => {
                let Some(x) = self.farthest.next(&mut self.groups) else {
                    return Ok(Some(Step::Done(Done::AllAssigned)));
                };
                let order = self.groups.by_nearest_member(x);
                self.groups.locate(x, order, member, infer, "min_max");
            }
        }
        Ok(None)
    }

    fn settled(&mut self, object: u32, place: Place) {
        let exploring = matches!(self.phase, Phase::Explore);
        match place {
            Place::Parked => return,
            Place::Apart if !exploring => return self.groups.park(object),
            Place::Apart => self.groups.create(object),
            Place::Joined(_) => {}
        }
        if !matches!(self.phase, Phase::Consolidate { .. }) {
            self.farthest.placed(&self.groups, object);
        }
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
