//! Questions and answers: a selector chooses pairs, an oracle answers, and the answers become constraints.

#[doc(hidden)]
pub use mustlink_core::selection::*;

/// Asks an oracle about the pairs that a selector chooses.
///
/// ```
/// use mustlink::ndarray::Array2;
/// use mustlink::prelude::*;
/// use mustlink::selection::{self, ConstraintView, Counts, Selection};
///
/// # fn main() -> Result<()> {
/// let problem = Problem::new(Data::dense(Array2::from_shape_fn((20, 1), |(i, _)| i as f64))?);
/// let selector = mustlink::registry::build_default::<dyn QuerySelector>("random_pairs")?;
/// let truth = (0..20).map(|i| Some(i / 10)).collect();
/// let oracle = mustlink::registry::build_default::<dyn Oracle>("truth")?;
/// let mut answers = oracle.open(&Scene::with_labels(truth, Context::new(1)))?;
///
/// let ctx = Context::new(7);
/// let asked: Selection =
///     selection::run(&*selector, &problem, &mut *answers, Some(5), &[], None, &ctx)?;
/// let Counts { must, cannot, .. } = asked.counts(5);
/// assert_eq!(must + cannot, 5);
/// assert_eq!(asked.at(3, ConstraintView::Queried)?.len(), 3);
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_core::selection::run;
#[doc(inline)]
pub use mustlink_core::selection::{ConstraintView, Counts, Selection};

#[doc(inline)]
pub use mustlink_core::selection::Asking;
/// Asks as [`run`] does, with all settings, such as a ledger.
///
/// ```
/// use mustlink::ndarray::Array2;
/// use mustlink::prelude::*;
/// use mustlink::selection::{self, Asking};
///
/// struct Yes;
/// impl Respondent for Yes {
///     fn ask(&mut self, _: &Question) -> Result<Outcome> {
///         Ok(Outcome::Answered(Answer::of(Reply::MustLink)))
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let problem = Problem::new(Data::dense(Array2::from_shape_fn((9, 1), |(i, _)| i as f64))?);
/// let selector = mustlink::registry::build_default::<dyn QuerySelector>("random_pairs")?;
/// let asking = Asking { budget: Some(4), ..Asking::default() };
/// let asked = selection::run_with(&*selector, &problem, &mut Yes, asking, &Context::new(1))?;
/// assert_eq!(asked.asked(), 4);
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_core::selection::run_with;
