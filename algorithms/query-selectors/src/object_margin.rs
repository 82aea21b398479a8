//! Which objects lie between two clusters in the eyes of an ensemble?

use mustlink_core::prelude::*;
use mustlink_kernels::co_association::{MAX_MATRIX_BYTES, Representation};
use mustlink_kernels::points::Distortion;

use crate::committee::{Beginning, Committee, Weighting};
use crate::neighbourhoods::Tie;

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
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ObjectMargin {
    /// What makes the committee.
    #[schemars(extend("x-default" = "subsample"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generator: Option<Box<dyn EnsembleGenerator>>,
    /// Number of clusters; absent: the problem's.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<usize>,
    /// How far objects are from one another.
    pub distortion: Distortion,
    /// How co-associations are held.
    pub representation: Representation,
    /// Bytes of the matrix above which it is not held.
    #[schemars(range(min = 0))]
    pub max_matrix_bytes: u64,
    /// Whether an object apart from k − 1 clusters joins the last one without a question; sound only when k is the number of classes.
    pub last_inference: bool,
    /// Whether what is known already is concluded instead of asked.
    pub skip_entailed: bool,
    /// Other members of a cluster tried after "don't know".
    #[schemars(range(min = 0, max = 5))]
    pub dont_know_retries: u8,
    /// What decides between equal margins.
    pub tie: Tie,
}

impl Default for ObjectMargin {
    fn default() -> Self {
        ObjectMargin {
            generator: None,
            k: None,
            distortion: Distortion::SquaredEuclidean,
            representation: Representation::default(),
            max_matrix_bytes: MAX_MATRIX_BYTES,
            last_inference: true,
            skip_entailed: true,
            dont_know_retries: 1,
            tie: Tie::default(),
        }
    }
}

register!(QuerySelector, ObjectMargin, "object_margin", references: ["Greene2007", "Basu2004"]);

impl ObjectMargin {
    fn committee(&self) -> Committee {
        Committee {
            generator: self.generator.clone(),
            k: self.k,
            weighting: Weighting::None,
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

#[typetag::serde(name = "object_margin")]
impl QuerySelector for ObjectMargin {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        let generator = slot::<Self, dyn EnsembleGenerator>(&self.generator, "generator")?;
        let beginning = Beginning::Farthest;
        self.committee().begin(&**generator, beginning, None, "object_margin", problem, ctx)
    }

    fn properties(&self) -> SelectorProperties {
        self.committee().properties()
    }

    fn memory(&self, shape: &Shape) -> u64 {
        self.committee().memory(shape)
    }
}
