//! Objects that are farthest from all that is known, even once every class is known.

use mustlink_core::prelude::*;

use crate::explore_consolidate::{Explore, Exploring};
use crate::parts::asking::{Asking, Member};
use crate::parts::neighbourhoods::{Neighbourhoods, Place};
use crate::parts::placing::{Placing, Selector};

/// The object least similar to its most similar placed object, compared with the nearest neighbourhoods first.
///
/// # Method
/// Explore as in `explore_consolidate`: objects farthest from all placed ones, until there are k neighbourhoods. Then
/// MinMax takes, among the objects not placed yet, the one whose largest similarity to a placed object, exp(−D² /
/// 2σ²), is smallest. It is compared with the neighbourhoods until a must-link, in decreasing order of the largest
/// similarity to one of their members. An object apart from k − 1 of them joins the last one without a question.
/// # Input and output
/// Dense or sparse rows; k from the problem or the option. Without k it explores until the budget ends or every
/// object is placed. Given constraints and "don't know" are handled as in `explore_consolidate`.
/// # Errors
/// `BadParam` for `k` above the number of eligible objects, a `start` that is not eligible and `dont_know_retries`;
/// `UnsupportedData` for distances and affinities.
/// # Cost and randomness
/// O(|E| d) per object placed: each object keeps its distance to the nearest placed one. Random in the start, and in
/// members and ties if the options ask for it.
/// # References
/// [Mallapragada2008], with the Explore of [Basu2004] Fig. 2. Differs: no kernel width σ. The similarity falls with
/// the distance, so distances alone give the same object and the same order for every σ, even if exp(·) underflows to
/// ties. The member put in a question is the nearest one, whose similarity decided the order, in both phases.
#[options]
pub struct MinMaxSelection {
    /// Options for finding one neighbourhood per class.
    #[option(flatten)]
    pub exploring: Exploring,
    /// Member of a neighbourhood that is put in a question.
    #[option(default = Member::Nearest)]
    pub member: Member,
    /// Options for the questions about an object.
    #[option(flatten)]
    pub asking: Asking,
}

#[plugin("min_max_selection", aliases = ["minmax"], cites = ["Mallapragada2008", "Basu2004"], version = 2)]
impl QuerySelector for MinMaxSelection {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        let plugin = "min_max_selection";
        let (exploring, member) = (self.exploring, self.member);
        let groups = Neighbourhoods::new(problem, ctx, plugin, exploring.distortion, self.asking)?;
        Placing::start(groups, |groups| {
            let explore = Explore::start(exploring, member, problem, groups)?;
            Ok(Run { explore, member, infer: exploring.last_inference })
        })
    }

    fn properties(&self) -> SelectorProperties {
        self.exploring.properties(self.asking)
    }

    fn memory(&self, shape: &Shape) -> u64 {
        self.exploring.memory(shape)
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
