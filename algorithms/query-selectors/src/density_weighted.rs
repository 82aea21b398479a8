//! Which disputed objects stand for many others?

use mustlink_core::prelude::*;
use mustlink_kernels::co_association::{MAX_MATRIX_BYTES, Representation};
use mustlink_kernels::imputation::MAX_CANDIDATES;
use mustlink_kernels::points::Distortion;

use crate::committee::{Beginning, Committee, Weighting};
use crate::neighbourhoods::Tie;

/// Objects that a committee disputes and that lie among many others.
///
/// # Method
/// As `committee`, but the next object is the one with the largest (1 − margin) · density^β; the
/// density around an object is its mean co-association with the 10 objects most associated with it.
/// # Input and output
/// What the generator takes, dense or sparse rows; k from the problem or the option.
/// # Errors
/// Those of `committee`; `BadParam` for a negative `beta`.
/// # Cost and randomness
/// As `committee`, and one row of counts for each object: O(n²), without a matrix O(n² τ / 32).
/// # References
/// The expansion of [Greene2007] with the information density of [SettlesCraven2008].
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DensityWeighted {
    /// What makes the committee.
    #[schemars(extend("x-default" = "subsample"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generator: Option<Box<dyn EnsembleGenerator>>,
    /// Number of clusters; absent: the problem's.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<usize>,
    /// How much the density counts (β); 0 gives the margin alone.
    #[schemars(range(min = 0.0))]
    pub beta: f64,
    /// How associations enter the margin.
    pub weighting: Weighting,
    /// Share of the members from which on a pair is an imputed must-link (κ_m).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub kappa_must: f64,
    /// How distances to means are taken, where they decide.
    pub distortion: Distortion,
    /// How co-associations are held.
    pub representation: Representation,
    /// Bytes of the matrix above which it is not held.
    #[schemars(range(min = 0))]
    pub max_matrix_bytes: u64,
    /// Comparisons to find neighbourhoods without a matrix, at most.
    #[schemars(range(min = 0))]
    pub max_candidates: u64,
    /// Whether an object apart from k − 1 clusters joins the last one without a question; sound only when k is the number of classes.
    pub last_inference: bool,
    /// Whether what is known already is concluded instead of asked.
    pub skip_entailed: bool,
    /// Other members of a cluster tried after "don't know".
    #[schemars(range(min = 0, max = 5))]
    pub dont_know_retries: u8,
    /// What decides between equal scores.
    pub tie: Tie,
}

impl Default for DensityWeighted {
    fn default() -> Self {
        DensityWeighted {
            generator: None,
            k: None,
            beta: 1.0,
            weighting: Weighting::Size,
            kappa_must: 0.98,
            distortion: Distortion::SquaredEuclidean,
            representation: Representation::default(),
            max_matrix_bytes: MAX_MATRIX_BYTES,
            max_candidates: MAX_CANDIDATES,
            last_inference: true,
            skip_entailed: true,
            dont_know_retries: 1,
            tie: Tie::default(),
        }
    }
}

register!(QuerySelector, DensityWeighted, "density_weighted",
    references: ["Greene2007", "SettlesCraven2008"]);

impl DensityWeighted {
    fn committee(&self) -> Committee {
        Committee {
            generator: self.generator.clone(),
            k: self.k,
            weighting: self.weighting,
            kappa_must: self.kappa_must,
            distortion: self.distortion,
            representation: self.representation,
            max_matrix_bytes: self.max_matrix_bytes,
            max_candidates: self.max_candidates,
            last_inference: self.last_inference,
            skip_entailed: self.skip_entailed,
            dont_know_retries: self.dont_know_retries,
            tie: self.tie,
            ..Committee::default()
        }
    }
}

#[typetag::serde(name = "density_weighted")]
impl QuerySelector for DensityWeighted {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        if !(self.beta >= 0.0 && self.beta.is_finite()) {
            return Err(Error::bad_param("beta", self.beta, ">= 0"));
        }
        let generator = slot::<Self, dyn EnsembleGenerator>(&self.generator, "generator")?;
        let (beginning, beta) = (Beginning::Imputed, Some(self.beta));
        self.committee().begin(&**generator, beginning, beta, "density_weighted", problem, ctx)
    }

    fn properties(&self) -> SelectorProperties {
        self.committee().properties()
    }

    fn memory(&self, shape: &Shape) -> u64 {
        self.committee().memory(shape)
    }
}
