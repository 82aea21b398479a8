//! Which objects lie between two clusters in the eyes of an ensemble?

use mustlink_core::prelude::*;
use mustlink_kernels::distance::points::Distortion;
use mustlink_kernels::ensemble::co_association::{MAX_MATRIX_BYTES, Representation};

use crate::committee::Committee;
use crate::parts::expansion::{Expansion, Weighting, ZeroAssociation};
use crate::parts::farthest::Farthest;
use crate::parts::neighbourhoods::{MOST_RETRIES, Neighbourhoods, Place, Tie};
use crate::parts::placing::{Placing, Selector};

/// Objects with the smallest margin of co-association, after one far object per class.
///
/// # Method
/// Objects farthest from all placed ones are asked until there are k clusters, as in
/// `explore_consolidate`; then, again and again, the object with the smallest margin between its two
/// largest mean co-associations with a cluster, asked as in `committee`.
/// # Input and output
/// What the generator takes, dense or sparse rows; k from the problem or the option.
/// # Errors
/// Those of `committee`.
/// # Cost and randomness
/// The ensemble and its counts; each object placed O(n). Random in the ensemble and the first object.
/// # References
/// The expansion of [Greene2007] without its sizes, after the exploration of [Basu2004].
#[options]
pub struct ObjectMargin {
    /// What makes the committee; absent: that of `committee`.
    pub generator: Option<Box<dyn EnsembleGenerator>>,
    /// Number of clusters; absent: the problem's.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// How far objects are from one another.
    #[option(default = Distortion::SquaredEuclidean)]
    pub distortion: Distortion,
    /// How co-associations are held.
    pub representation: Representation,
    /// Bytes of the matrix above which it is not held.
    #[option(default = MAX_MATRIX_BYTES)]
    pub max_matrix_bytes: u64,
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

impl ObjectMargin {
    fn committee(&self) -> Committee {
        Committee {
            generator: self.generator.clone(),
            k: self.k,
            distortion: self.distortion,
            representation: self.representation,
            max_matrix_bytes: self.max_matrix_bytes,
            last_inference: self.last_inference,
            skip_entailed: self.skip_entailed,
            dont_know_retries: self.dont_know_retries,
            tie: self.tie,
            ..Committee::default()
        }
    }
}

#[plugin("object_margin", cites = ["Greene2007", "Basu2004"])]
impl QuerySelector for ObjectMargin {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        let committee = self.committee();
        let plugin = "object_margin";
        Placing::start(committee.groups(plugin, problem, ctx)?, |groups| {
            let (k, co, _) = committee.convene(plugin, problem, groups)?;
            Ok(Run {
                k,
                infer: self.last_inference,
                farthest: Farthest::new(groups),
                expansion: Expansion::new(co, Weighting::None, ZeroAssociation::default()),
            })
        })
    }

    fn properties(&self) -> SelectorProperties {
        self.committee().properties()
    }

    fn memory(&self, shape: &Shape) -> u64 {
        self.committee().memory(shape)
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
