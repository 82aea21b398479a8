//! Which objects are farthest from all that is known, even once every class is known?

use mustlink_core::prelude::*;
use mustlink_kernels::distance::points::Distortion;

use crate::explore_consolidate::{Explore, ExploreOrder, First, FirstRule};
use crate::parts::checks::known_k;
use crate::parts::neighbourhoods::{MOST_RETRIES, Member, Neighbourhoods, Place, Rules, Tie};
use crate::parts::placing::{Placing, Selector};

/// Always the object least similar to its most similar placed object, asked from the nearest neighbourhood on.
///
/// # Method
/// Explore as in `explore_consolidate`: objects farthest from all placed ones, until there are k
/// neighbourhoods. Then MinMax: of the objects not placed yet the one whose largest similarity to a
/// placed object, exp(−D² / 2σ²), is smallest is asked against the neighbourhoods in decreasing
/// order of the largest similarity to one of their members, until a must-link; an object apart from
/// k − 1 of them joins the last one for free.
/// # Input and output
/// Dense or sparse rows; k from the problem or the option. Without k it explores until the budget
/// ends or every object is placed. Given constraints and "don't know" as in `explore_consolidate`.
/// # Errors
/// `BadParam` for `k` above the number of eligible objects, a `start` that is not eligible and
/// `dont_know_retries`; `UnsupportedData` for distances and affinities.
/// # Cost and randomness
/// O(|E| d) per object placed: each object keeps its distance to the nearest placed one. Random in
/// the start and, if asked for, in members and ties.
/// # References
/// [Mallapragada2008], with the Explore of [Basu2004] Fig. 2. Differs: no kernel width σ. The similarity
/// falls with the distance, so distances alone give the same object and the same order for every σ,
/// also where exp(·) underflows to ties. The member put in a question is the nearest one, whose
/// similarity decided the order, in both phases.
#[options]
pub struct MinMaxSelection {
    /// Number of clusters; absent: the problem's, or unknown.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// How objects are compared.
    #[option(default = Distortion::SquaredEuclidean)]
    pub distortion: Distortion,
    /// The first object: `random`, `nearest_mean` or a row number.
    #[option(default = First::Rule(FirstRule::Random))]
    pub start: First,
    /// The order in which the neighbourhoods are asked while exploring.
    pub explore_order: ExploreOrder,
    /// Which member of a neighbourhood is put in a question.
    #[option(default = Member::Nearest)]
    pub member: Member,
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

#[plugin("min_max_selection", aliases = ["minmax"], cites = ["Mallapragada2008", "Basu2004"])]
impl QuerySelector for MinMaxSelection {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        let rules = Rules {
            skip_entailed: self.skip_entailed,
            dont_know_retries: self.dont_know_retries,
            tie: self.tie,
        };
        let plugin = "min_max_selection";
        let groups = Neighbourhoods::new(problem, ctx, plugin, self.distortion, rules)?;
        Placing::start(groups, |groups| {
            let k = known_k(self.k, problem, groups.eligible().len())?;
            let (order, member) = (self.explore_order, self.member);
            let explore = Explore::start(self.start, k, order, member, problem, groups)?;
            Ok(Run { explore, member, infer: self.last_inference })
        })
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

struct Run {
    explore: Explore,
    member: Member,
    infer: bool,
}

impl Selector for Run {
    fn take_up(&mut self, groups: &mut Neighbourhoods) -> Result<Option<Step>> {
        if self.explore.goes_on(groups) {
            return Ok(self.explore.take_up(groups));
        }
        // MinMax: of the objects outside the skeleton the one least similar to its most similar
        // object of the skeleton, which is the one farthest from its nearest,
        let Some(x) = self.explore.farthest.next(groups) else {
            return Ok(Some(Step::Done(Done::AllAssigned)));
        };
        // asked from the neighbourhood of the most similar object on.
        let order = groups.by_nearest_member(x);
        groups.locate(x, order, self.member, self.infer, "min_max");
        Ok(None)
    }

    fn settled(&mut self, groups: &mut Neighbourhoods, object: u32, place: Place) {
        match place {
            _ if self.explore.goes_on(groups) => self.explore.settled(groups, object, place),
            Place::Joined(_) => self.explore.farthest.placed(groups, object),
            Place::Apart => groups.park(object),
            Place::Parked => {}
        }
    }
}
