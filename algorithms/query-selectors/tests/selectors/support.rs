//! Respondents and problems for the tests.

use mustlink_core::prelude::*;
use mustlink_core::selection::{self, ConstraintView, Selection};
use mustlink_kernels::distance::points::Distortion;
use mustlink_query_selectors::explore_consolidate::{ExploreOrder, Exploring, First, FirstRule};
use mustlink_query_selectors::{Asking, Member, Tie};
use ndarray::Array2;
use proptest::prelude::*;

/// Answers by a function of the pair.
pub struct By<F>(pub F);

impl<F: FnMut(u32, u32) -> Reply + Send> Respondent for By<F> {
    fn ask(&mut self, q: &Question) -> Result<Outcome> {
        Ok(Outcome::Answered(Answer::of((self.0)(q.i, q.j))))
    }
}

/// Answers by class.
pub fn truth(classes: &[u32]) -> impl Fn(u32, u32) -> Reply + Clone + Send + '_ {
    |i, j| {
        if classes[i as usize] == classes[j as usize] { Reply::MustLink } else { Reply::CannotLink }
    }
}

/// Labels by position, whatever the constraints.
fn provide(constraints: &Constraints, _: u64, n: usize) -> Result<Clustering> {
    assert!(constraints.pairs().iter().all(|c| (c.j as usize) < n));
    Ok(Clustering::from_labels((0..n as u32).map(|i| i % 3).collect()))
}

/// A selection with replies by a function of the pair.
pub fn select(
    selector: &dyn QuerySelector,
    problem: &Problem,
    reply: impl FnMut(u32, u32) -> Reply + Send,
    budget: Option<usize>,
    seed: u64,
) -> Result<Selection> {
    let (n, ctx) = (problem.n(), Context::new(seed));
    let provide = |c: &Constraints, request: u64| provide(c, request, n);
    let points: Vec<usize> = (0..200).collect();
    selection::run(selector, problem, &mut By(reply), budget, &points, Some(&provide), &ctx)
}

/// The questions of a selection: subject and reference.
pub fn questions(selection: &Selection) -> Vec<(u32, u32)> {
    let asked = selection.events.iter().filter_map(|e| match e {
        Event::Asked { subject, reference, .. } => Some((*subject, *reference)),
        _ => None,
    });
    asked.collect()
}

/// Reason why a selection ended, if it ended by itself.
pub fn done(selection: &Selection) -> Option<Done> {
    match selection.events.last() {
        Some(Event::Done { reason }) => Some(*reason),
        _ => None,
    }
}

/// Questions for one purpose.
pub fn questions_for(selection: &Selection, wanted: &str) -> Vec<(u32, u32)> {
    let asked = selection.events.iter().filter_map(|e| match e {
        Event::Asked { subject, reference, purpose, .. } if purpose == wanted => {
            Some((*subject, *reference))
        }
        _ => None,
    });
    asked.collect()
}

/// Cuts the range of the first feature into k equal parts.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Described)]
#[serde(default, deny_unknown_fields)]
pub struct Slices {}

impl mustlink_core::options::Options for Slices {}
impl Registered for Slices {}

#[typetag::serde(name = "slices")]
impl BaseClusterer for Slices {
    fn cluster(&self, problem: &Problem, _: &Context) -> Result<Clustering> {
        let k = problem.require_k(None, "slices")?;
        let x = problem.data.to_dense().column(0).to_vec();
        let low = x.iter().copied().fold(f64::INFINITY, f64::min);
        let high = x.iter().copied().fold(f64::NEG_INFINITY, f64::max) + 1e-9;
        let part = |v: &f64| ((v - low) / (high - low) * k as f64) as u32;
        Ok(Clustering { k, ..Clustering::from_labels(x.iter().map(part).collect()) })
    }
}

/// Data in one dimension.
pub fn line(values: &[f64]) -> Problem {
    let x = Array2::from_shape_vec((values.len(), 1), values.to_vec()).unwrap();
    Problem::new(Data::dense(x).unwrap())
}

/// A random problem: rows with or without ties, classes, eligible objects (at least two).
#[derive(Debug, Clone)]
pub struct Case {
    pub problem: Problem,
    pub classes: Vec<u32>,
    pub seed: u64,
}

impl Case {
    /// The eligible objects.
    pub fn eligible(&self) -> Vec<u32> {
        self.problem.eligible_objects()
    }

    /// Number of classes among the eligible objects.
    pub fn k(&self) -> usize {
        let mut found: Vec<u32> =
            self.eligible().iter().map(|&i| self.classes[i as usize]).collect();
        found.sort_unstable();
        found.dedup();
        found.len()
    }
}

/// Random problems of 3 to `most` objects.
pub fn cases(most: usize) -> impl Strategy<Value = Case> {
    (3..=most, 1usize..4, 1u32..6, any::<bool>(), any::<bool>(), any::<u64>()).prop_flat_map(
        |(n, d, k, ties, all, seed)| {
            let rows = prop::collection::vec(0.0f64..9.0, n * d);
            let classes = prop::collection::vec(0..k, n);
            let mask = prop::collection::vec(prop::bool::weighted(0.7), n);
            (rows, classes, mask).prop_map(move |(mut rows, classes, mut mask)| {
                if ties {
                    rows.iter_mut().for_each(|v| *v = v.floor());
                }
                // The class pulls its objects to one side, as classes do.
                (0..n).for_each(|i| rows[i * d] += 4.0 * f64::from(classes[i]));
                mask[..2].fill(true);
                let x = Array2::from_shape_vec((n, d), rows).unwrap();
                let mut problem = Problem::new(Data::dense(x).unwrap());
                if !all {
                    problem = problem.with_eligible(mask);
                }
                Case { problem, classes, seed }
            })
        },
    )
}

/// A reply that depends on the pair alone, with little sense in it.
pub fn erratic(seed: u64) -> impl Fn(u32, u32) -> Reply + Clone + Send {
    move |i, j| {
        let mut stream = SeedPath::new(seed).index(i as usize).stream(&j.to_string());
        [Reply::MustLink, Reply::CannotLink, Reply::CannotLink, Reply::DontKnow][stream.below(4)]
    }
}

/// Rules for the member of a neighbourhood that is put in a question.
pub fn members() -> impl Strategy<Value = Member> {
    prop_oneof![
        Just(Member::Random),
        Just(Member::First),
        Just(Member::Nearest),
        Just(Member::Medoid)
    ]
}

pub fn distortions() -> impl Strategy<Value = Distortion> {
    prop_oneof![Just(Distortion::Cosine), Just(Distortion::SquaredEuclidean)]
}

pub fn askings() -> impl Strategy<Value = Asking> {
    let ties = prop_oneof![Just(Tie::LowestIndex), Just(Tie::Random)];
    (any::<bool>(), 0u8..3, ties).prop_map(|(skip_entailed, dont_know_retries, tie)| Asking {
        skip_entailed,
        dont_know_retries,
        tie,
    })
}

/// Ways to explore, without k.
pub fn explorings() -> impl Strategy<Value = Exploring> {
    let starts = prop_oneof![
        Just(First::Rule(FirstRule::Random)),
        Just(First::Rule(FirstRule::NearestMean))
    ];
    let orders = prop_oneof![Just(ExploreOrder::NearestCentroid), Just(ExploreOrder::Creation)];
    (distortions(), starts, orders, any::<bool>()).prop_map(
        |(distortion, start, explore_order, last_inference)| Exploring {
            k: None,
            distortion: distortion.into(),
            start,
            explore_order,
            last_inference,
        },
    )
}

/// Whatever is replied, the driver finds no repeated pair and no object that is not eligible; and a
/// smaller budget gives the beginning of a larger one.
pub fn survives_any_oracle(
    selector: &dyn QuerySelector,
    case: &Case,
    k: usize,
    skips_entailed: bool,
) -> std::result::Result<(), TestCaseError> {
    let problem = case.problem.clone().with_k(k.min(case.eligible().len()));
    let reply = erratic(case.seed);
    let whole = select(selector, &problem, reply.clone(), None, case.seed).unwrap();
    if skips_entailed {
        prop_assert_eq!(whole.counts(usize::MAX).conflicts, 0);
    }
    for budget in [0, 1, whole.asked() / 2, whole.asked()] {
        let part = select(selector, &problem, reply.clone(), Some(budget), case.seed).unwrap();
        for view in [ConstraintView::Queried, ConstraintView::Neighbourhood] {
            prop_assert_eq!(part.at(budget, view).unwrap(), whole.at(budget, view).unwrap());
        }
    }
    Ok(())
}
