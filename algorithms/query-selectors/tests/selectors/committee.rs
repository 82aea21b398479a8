//! The committee: the trace on twelve objects, and what holds for every ensemble.

use mustlink_core::prelude::*;
use mustlink_core::selection::ConstraintView;
use mustlink_kernels::ensemble::co_association::Representation;
use mustlink_query_selectors::Voting;
use mustlink_query_selectors::committee::{
    Committee, Fallback, Imputing, InitialMembers, Weighting,
};
use mustlink_query_selectors::density_weighted::DensityWeighted;
use mustlink_query_selectors::object_margin::ObjectMargin;
use ndarray::Array2;
use proptest::prelude::*;

use crate::support::{By, questions, questions_for, select, truth};

/// A generator whose members are given.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Described)]
#[serde(default)]
pub struct GivenMembers {
    labels: Vec<Vec<u32>>,
}

impl mustlink_core::options::Options for GivenMembers {}
impl Registered for GivenMembers {}

#[typetag::serde(name = "given_members")]
impl EnsembleGenerator for GivenMembers {
    fn generate(&self, problem: &Problem, _: &Context) -> Result<Ensemble> {
        let members = self.labels.iter().map(|l| Member::from_labels(l)).collect();
        Ensemble::new(problem.n(), members)
    }
    fn properties(&self) -> GeneratorProperties {
        let accepts = vec![DataKind::Dense, DataKind::Csr];
        GeneratorProperties { accepts, needs_k: false, reads_constraints: false }
    }
}

/// Those members, as a generator in a slot.
pub fn given(labels: &[&[u32]]) -> Option<Box<dyn EnsembleGenerator>> {
    Some(Box::new(GivenMembers { labels: labels.iter().map(|l| l.to_vec()).collect() }))
}

/// A committee of those that `generator` makes.
fn of(generator: Option<Box<dyn EnsembleGenerator>>) -> Committee {
    Committee { voting: Voting { generator, ..Voting::default() }, ..Committee::default() }
}

const CLASSES: [u32; 12] = [0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2];

pub const E12: [&[u32]; 5] = [
    &[0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2],
    &[0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2],
    &[0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2],
    &[0, 0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 2],
    &[0, 0, 0, 0, 3, 1, 1, 1, 1, 2, 2, 2],
];

/// Twelve equal objects: only the votes decide.
pub fn twelve() -> Problem {
    Problem::new(Data::dense(Array2::ones((12, 1))).unwrap()).with_k(3)
}

fn committee(representation: Representation) -> Committee {
    Committee {
        voting: Voting { generator: given(&E12), representation, ..Voting::default() },
        imputing: Imputing { kappa_must: 0.8, ..Imputing::default() },
        ..Committee::default()
    }
}

#[test]
fn trace_on_twelve_objects() {
    for form in [Representation::Dense, Representation::Implicit] {
        let s = select(&committee(form), &twelve(), truth(&CLASSES), None, 1).unwrap();
        let begun = [(5, 0), (10, 0), (10, 5)];
        assert_eq!(questions_for(&s, "initialise"), begun);
        let first = [(4, 0), (8, 5), (9, 10), (7, 5), (11, 10), (3, 0), (6, 5), (1, 0), (2, 0)];
        assert_eq!(questions_for(&s, "expand"), first);
        assert_eq!(s.asked(), 12);
        let inferred = s.events.iter().filter(|e| matches!(e, Event::Inferred { .. })).count();
        assert_eq!(inferred, 0);
        let named = s.at(12, ConstraintView::Neighbourhood).unwrap();
        assert_eq!(
            named.neighbourhoods(),
            [vec![0, 1, 2, 3, 4], vec![5, 6, 7, 8], vec![9, 10, 11]]
        );
    }
}

/// Objects 1 to 3, 6 and 7, 11 are imputed must-links of the medoids: they are asked about last, and say
/// nothing until then.
#[test]
fn imputed_members_count_and_wait() {
    let mut c = committee(Representation::Auto);
    c.imputing.initial_members = InitialMembers::Imputed;
    let s = select(&c, &twelve(), truth(&CLASSES), None, 1).unwrap();
    // With those that wait counted, 10 is nearer to the cluster of 5.
    assert_eq!(questions_for(&s, "initialise"), [(5, 0), (10, 5), (10, 0)]);
    let asked: Vec<u32> = questions_for(&s, "expand").iter().map(|q| q.0).collect();
    let together = |i: u32, j: u32| E12.iter().filter(|m| m[i as usize] == m[j as usize]).count();
    let alike = |i: &u32| [0, 5, 10].iter().any(|&r| together(*i, r) >= 4);
    let first = asked.iter().take_while(|i| !alike(i)).count();
    assert!(0 < first && first < asked.len());
    assert!(asked[first..].iter().all(alike));
    let begun = s.at(3, ConstraintView::Closure).unwrap();
    assert_eq!((begun.count(Kind::MustLink), begun.count(Kind::CannotLink)), (0, 3));
}

#[test]
fn test_objects_vote_but_are_not_asked() {
    let p = twelve().with_eligible((0..12).map(|i| ![1, 5, 11].contains(&i)).collect());
    let s = select(&committee(Representation::Auto), &p, truth(&CLASSES), None, 1).unwrap();
    let expected = [(6, 0), (10, 0), (10, 6), (4, 0), (8, 6), (9, 10), (7, 6), (3, 0), (2, 0)];
    assert_eq!(questions(&s), expected);
}

#[test]
fn a_budget_of_three_leaves_three_singletons() {
    let s =
        select(&committee(Representation::Auto), &twelve(), truth(&CLASSES), Some(3), 1).unwrap();
    let c = s.at(3, ConstraintView::Neighbourhood).unwrap();
    assert_eq!((c.count(Kind::CannotLink), c.count(Kind::MustLink)), (3, 0));
    assert_eq!(c.neighbourhoods(), [vec![0], vec![5], vec![10]]);
}

#[test]
fn too_few_neighbourhoods_fall_back_to_singletons_or_stop() {
    // All members agree on two sets; the third class hides in them.
    let labels: [u32; 8] = [0, 0, 0, 0, 1, 1, 1, 1];
    let classes = [0, 0, 0, 2, 1, 1, 1, 1];
    let p = Problem::new(Data::dense(Array2::ones((8, 1))).unwrap()).with_k(3);
    let c = |fallback| Committee {
        imputing: Imputing { fallback, ..Imputing::default() },
        ..of(given(&[&labels]))
    };
    let stop = select(&c(Fallback::Stop), &p, truth(&classes), None, 1).unwrap();
    // Two clusters, so nothing is inferred, and the odd one is set aside.
    assert_eq!(
        stop.at(usize::MAX, ConstraintView::Neighbourhood).unwrap().neighbourhoods().len(),
        2
    );
    assert!(questions(&stop).contains(&(3, 0)) && questions(&stop).contains(&(3, 4)));
    let lone: [u32; 8] = [0, 0, 0, 2, 1, 1, 1, 1];
    let c = of(given(&[&lone]));
    let s = select(&c, &p, truth(&classes), None, 1).unwrap();
    assert_eq!(questions_for(&s, "initialise"), [(0, 4), (3, 4), (3, 0)]);
}

#[test]
fn what_cannot_be_is_refused() {
    let start =
        |c: &Committee, p: &Problem| c.start(p, &Context::new(1)).err().unwrap().to_string();
    let p = twelve();
    let mut bad = committee(Representation::Auto);
    bad.imputing.kappa_cannot = 0.9;
    assert!(start(&bad, &p).starts_with("kappa_must: must be 0 <= kappa_cannot < kappa_must <= 1"));
    let mut small = committee(Representation::Dense);
    small.voting.max_matrix_bytes = 3;
    assert!(start(&small, &p).starts_with("max_matrix_bytes: must be at least 66"));
    let without = Problem { k: None, ..twelve() };
    assert!(start(&committee(Representation::Auto), &without).contains("committee"));
    let gaps: Vec<u32> = (0..12).map(|i| if i == 3 { NONE } else { 0 }).collect();
    let c = of(given(&[&gaps]));
    assert!(start(&c, &p).starts_with("generator: must be one that labels every object"));
}

/// Problems with a random ensemble that knows a little.
fn committees() -> impl Strategy<Value = (Problem, Vec<u32>, Vec<Vec<u32>>, u64)> {
    (4usize..26, 2u32..4, 1usize..7, any::<u64>()).prop_flat_map(|(n, k, tau, seed)| {
        let classes = prop::collection::vec(0..k, n);
        let noise = prop::collection::vec(prop::collection::vec(0u32..8, n), tau);
        let mask = prop::collection::vec(prop::bool::weighted(0.8), n);
        (classes, noise, mask).prop_map(move |(mut classes, noise, mut mask)| {
            (0..k).for_each(|c| classes[c as usize] = c);
            mask[..k as usize].fill(true);
            let vote = |row: &Vec<u32>| -> Vec<u32> {
                row.iter().zip(&classes).map(|(&r, &c)| if r < 5 { c } else { r % k }).collect()
            };
            let labels = noise.iter().map(vote).collect();
            let x = Array2::from_shape_fn((n, 1), |(i, _)| f64::from(classes[i]) + i as f64 / 99.0);
            let p = Problem::new(Data::dense(x).unwrap()).with_k(k as usize).with_eligible(mask);
            (p, classes, labels, seed)
        })
    })
}

proptest! {
    #[test]
    fn with_and_without_a_matrix_the_same_is_asked((p, classes, labels, seed) in committees()) {
        let labels: Vec<&[u32]> = labels.iter().map(|l| &l[..]).collect();
        let asked = |representation, weighting| {
            let c = Committee {
                voting: Voting { generator: given(&labels), representation, ..Voting::default() },
                imputing: Imputing { weighting, kappa_must: 0.8, ..Imputing::default() },
                ..Committee::default()
            };
            select(&c, &p, truth(&classes), None, seed).unwrap()
        };
        for weighting in [Weighting::Size, Weighting::None] {
            let dense = asked(Representation::Dense, weighting);
            prop_assert_eq!(&dense.events, &asked(Representation::Implicit, weighting).events);
            // Every class is found, every eligible object placed, with at most k − 1 questions each.
            let k = p.k.unwrap();
            let named = dense.at(usize::MAX, ConstraintView::Neighbourhood).unwrap();
            let placed: usize = named.neighbourhoods().iter().map(Vec::len).sum();
            let eligible = p.eligible_objects();
            prop_assert_eq!(placed, eligible.len());
            prop_assert_eq!(named.neighbourhoods().len(), k);
            for &i in &eligible {
                let about = questions_for(&dense, "expand").iter().filter(|q| q.0 == i).count();
                prop_assert!(about < k);
            }
            let begun = questions_for(&dense, "initialise").len();
            // Where the beginning found all classes, the expansion places all others.
            let mut subjects: Vec<u32> =
                questions_for(&dense, "expand").iter().map(|q| q.0).collect();
            subjects.dedup();
            if subjects.len() <= eligible.len() - k {
                prop_assert!(dense.asked() <= (eligible.len() - k) * (k - 1) + begun);
            }
        }
    }

    #[test]
    fn it_ends_whatever_is_replied((p, _, labels, seed) in committees()) {
        let labels: Vec<&[u32]> = labels.iter().map(|l| &l[..]).collect();
        let selectors: [Box<dyn QuerySelector>; 3] = [
            Box::new(of(given(&labels))),
            Box::new(ObjectMargin { voting: of(given(&labels)).voting, ..ObjectMargin::default() }),
            Box::new(DensityWeighted { committee: of(given(&labels)), ..DensityWeighted::default() }),
        ];
        for s in selectors {
            let replies = crate::support::erratic(seed);
            let done = select(&*s, &p, replies, None, seed).unwrap();
            let mut pairs: Vec<_> =
                questions(&done).into_iter().map(|(i, j)| (i.min(j), i.max(j))).collect();
            let all = pairs.len();
            pairs.sort_unstable();
            pairs.dedup();
            prop_assert_eq!(pairs.len(), all);
        }
    }
}

#[test]
fn the_same_ensemble_is_asked_once_whoever_asks() {
    // `By` is a respondent; the driver owns the rest.
    let mut by = By(truth(&CLASSES));
    let ctx = Context::new(3);
    let c = committee(Representation::Auto);
    let points = [0, 3];
    let s = mustlink_core::selection::run(&c, &twelve(), &mut by, Some(3), &points, None, &ctx);
    assert_eq!(s.unwrap().asked(), 3);
}

#[test]
fn the_estimate_counts_no_centres_that_nobody_keeps() {
    // 2225 documents of 9635 terms: the centres of 2000 members would be 771 MB.
    let subsample: Box<dyn EnsembleGenerator> =
        Box::new(mustlink_ensemble_generators::subsample::Subsample {
            recipe: mustlink_ensemble_generators::Recipe { members: 2000, ..Default::default() },
            ..Default::default()
        });
    let shape = Shape { n: 2225, d: 9635, k: 5, entries: 286_774, constraints: 0 };
    let labels = 2000 * 2225 * 4;
    assert!(subsample.memory(&shape, false) > labels + 2000 * 5 * 9635 * 8);
    let committee = of(Some(subsample));
    let estimate = committee.memory(&shape);
    assert!((labels..100_000_000).contains(&estimate), "{estimate}");
}

#[test]
fn densities_hear_the_flag_at_every_object() {
    let asked = |selector: &dyn QuerySelector| {
        let seed = SeedPath::new(3);
        let ctx = Context::builder(seed).count_looks().build();
        let mut by = By(truth(&CLASSES));
        let s = mustlink_core::selection::run(selector, &twelve(), &mut by, None, &[], None, &ctx);
        (questions(&s.unwrap()), ctx.looks())
    };
    let c = committee(Representation::Auto);
    // A density that does not count: the margin alone.
    let d = DensityWeighted { committee: c.clone(), beta: 0.0 };
    let ((course, few), (same, many)) = (asked(&c), asked(&d));
    assert_eq!(course, same);
    assert!(many >= few + 12, "{few} and {many} looks");
}
