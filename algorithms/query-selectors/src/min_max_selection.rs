//! Which objects are farthest from all that is known, even once every class is known?

use mustlink_core::prelude::*;
use mustlink_kernels::distance::points::Distortion;

use crate::explore_consolidate::{ExploreConsolidate, ExploreOrder, First, FirstRule, Then};
use crate::parts::neighbourhoods::{MOST_RETRIES, Member, Tie};

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

impl MinMaxSelection {
    /// The exploration, with what both phases share.
    fn explore(&self) -> ExploreConsolidate {
        ExploreConsolidate {
            k: self.k,
            distortion: self.distortion,
            start: self.start,
            explore_member: self.member,
            explore_order: self.explore_order,
            consolidate_member: self.member,
            last_inference: self.last_inference,
            skip_entailed: self.skip_entailed,
            dont_know_retries: self.dont_know_retries,
            tie: self.tie,
            ..ExploreConsolidate::default()
        }
    }
}

#[plugin("min_max_selection", aliases = ["minmax"], cites = ["Mallapragada2008", "Basu2004"])]
impl QuerySelector for MinMaxSelection {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        self.explore().begin(Then::MinMax, "min_max_selection", problem, ctx)
    }

    fn properties(&self) -> SelectorProperties {
        self.explore().properties()
    }

    fn memory(&self, shape: &Shape) -> u64 {
        self.explore().memory(shape)
    }
}
