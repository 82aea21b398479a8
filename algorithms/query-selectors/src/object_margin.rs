//! Objects between two clusters, judged by an ensemble.

use mustlink_core::prelude::*;
use mustlink_kernels::distance::points::Distortion;

use crate::parts::asking::Asking;
use crate::parts::expansion::{Expansion, Weighting, ZeroAssociation};
use crate::parts::farthest::Farthest;
use crate::parts::neighbourhoods::{Neighbourhoods, Place};
use crate::parts::placing::{Placing, Selector};
use crate::parts::voting::Voting;

/// Objects with the smallest margin of co-association, after one far object per class.
///
/// # Method
/// Objects farthest from all placed ones are asked about until there are k clusters, as in `explore_consolidate`. Then
/// the method repeatedly takes the object with the smallest margin between its two largest mean co-associations with a
/// cluster. It is compared with the clusters as in `committee`.
/// # Input and output
/// The input of the generator, dense or sparse rows; k from the problem or the option.
/// # Errors
/// Returns the errors of `committee`.
/// # Cost and randomness
/// The ensemble and its counts; each object placed O(n). Random in the ensemble and the first object.
/// # References
/// The expansion of [Greene2007] without its sizes, after the exploration of [Basu2004].
#[options]
pub struct ObjectMargin {
    /// Options of the committee.
    #[option(flatten)]
    pub voting: Voting,
    /// Distance between objects. "auto": cosine for sparse rows, otherwise squared Euclidean.
    pub distortion: AutoOr<Distortion>,
    /// Options for the questions about an object.
    #[option(flatten)]
    pub asking: Asking,
}

#[plugin("object_margin", cites = ["Greene2007", "Basu2004"])]
impl QuerySelector for ObjectMargin {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        let plugin = "object_margin";
        let groups = Neighbourhoods::new(problem, ctx, plugin, self.distortion, self.asking)?;
        Placing::start(groups, |groups| {
            let (k, ensemble) = self.voting.vote(plugin, problem, groups)?;
            let co = self.voting.count(&ensemble, ctx)?;
            Ok(Run {
                k,
                infer: self.voting.last_inference,
                farthest: Farthest::new(groups),
                expansion: Expansion::new(co, Weighting::None, ZeroAssociation::default()),
            })
        })
    }

    fn properties(&self) -> SelectorProperties {
        self.voting.properties(self.asking)
    }

    fn memory(&self, shape: &Shape) -> u64 {
        self.voting.memory(shape)
    }
}

struct Run {
    k: usize,
    infer: bool,
    farthest: Farthest,
    expansion: Expansion,
}

impl Selector for Run {
    fn take_up(&mut self, groups: &mut Neighbourhoods) -> Result<Option<Step>> {
        self.expansion.follow(groups.members());
        let eligible = groups.eligible();
        // The exploration of [Basu2004].
        if groups.is_empty() {
            let first = eligible[groups.ctx().stream("start").below(eligible.len())];
            self.settled(groups, first, Place::Apart);
            return Ok(None);
        }
        if groups.len() < self.k
            && let Some(x) = self.farthest.next(groups)
        {
            self.expansion.locate(groups, x, false, "initialise");
            return Ok(None);
        }
        // The expansion of [Greene2007].
        let Some(x) = self.expansion.most_disputed(groups) else {
            return Ok(Some(Step::Done(Done::AllAssigned)));
        };
        self.expansion.locate(groups, x, self.infer, "expand");
        Ok(None)
    }

    fn settled(&mut self, groups: &mut Neighbourhoods, object: u32, place: Place) {
        let exploring = groups.len() < self.k;
        match place {
            Place::Apart if exploring => groups.create(object),
            Place::Apart => return groups.park(object),
            Place::Joined(_) => {}
            Place::Parked => return,
        }
        if exploring {
            self.farthest.placed(groups, object);
        }
    }
}
