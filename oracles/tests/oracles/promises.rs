//! Guarantees of the simulated oracles, seen from outside.

use mustlink_core::prelude::*;
use mustlink_oracles::budget::Budget;
use mustlink_oracles::dont_know::DontKnow;
use mustlink_oracles::truth::Truth;
use proptest::prelude::*;

fn scene(labels: &[Option<u32>]) -> Scene {
    Scene::with_labels(labels.to_vec(), Context::new(5))
}

fn known(labels: &[u32]) -> Vec<Option<u32>> {
    labels.iter().map(|&l| Some(l)).collect()
}

fn question(i: u32, j: u32) -> Question {
    Question { id: 0, i, j, subject: j, reference: i, purpose: "test" }
}

/// Outcome of every pair i < j in order.
fn all(oracle: &dyn Oracle, scene: &Scene) -> Vec<Outcome> {
    let mut respondent = oracle.open(scene).unwrap();
    let n = scene.n as u32;
    let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
    pairs.map(|(i, j)| respondent.ask(&question(i, j)).unwrap()).collect()
}

fn reply(outcome: &Outcome) -> Option<Reply> {
    match outcome {
        Outcome::Answered(answer) => Some(answer.reply),
        _ => None,
    }
}

/// Answers at a price; fails for object 0, is cheap for object 9, or lets wait.
#[options]
struct Priced {
    cost: f64,
    pending: bool,
}

impl Registered for Priced {}

#[typetag::serde(name = "priced_for_test")]
impl Oracle for Priced {
    fn open(&self, _: &Scene) -> Result<Box<dyn Respondent>> {
        Ok(Box::new(self.clone()))
    }
    fn properties(&self) -> OracleProperties {
        OracleProperties { layer: Layer::Cost, interactive: true, ..OracleProperties::default() }
    }
    fn limit(&self) -> Option<usize> {
        Some(4)
    }
}

impl Respondent for Priced {
    fn ask(&mut self, question: &Question) -> Result<Outcome> {
        match question.i {
            0 => Err(Error::Oracle("broken pipe".into())),
            _ if self.pending => Ok(Outcome::Pending),
            _ => {
                let cost = self.cost(question);
                Ok(Outcome::Answered(Answer { cost, ..Answer::of(Reply::MustLink) }))
            }
        }
    }
    fn cost(&self, question: &Question) -> f64 {
        if question.j == 9 { self.cost / 100.0 } else { self.cost }
    }
}

#[test]
fn truth_knows_what_it_is_given() {
    let outcomes = all(&Truth {}, &scene(&[Some(4), Some(4), Some(7), None]));
    let replies: Vec<Reply> = outcomes.iter().filter_map(reply).collect();
    use Reply::{CannotLink, DontKnow, MustLink};
    assert_eq!(replies, [MustLink, CannotLink, DontKnow, CannotLink, DontKnow, DontKnow]);
}

#[test]
fn truth_without_classes_says_so() {
    let mut bare = scene(&known(&[0, 1]));
    bare.labels = None;
    let message =
        |oracle: &dyn Oracle, scene: &Scene| oracle.open(scene).err().unwrap().to_string();
    let expected = "the oracle truth needs classes, and none were given; name a class \
                    column, or choose another oracle";
    assert_eq!(message(&Truth {}, &bare), expected);
    assert_eq!(message(&Budget::default(), &bare), format!("source: {expected}"));
    let short = Scene { n: 3, ..scene(&known(&[0, 1])) };
    let expected = "labels: must be one class per object (3), got 2 classes";
    assert_eq!(message(&Truth {}, &short), expected);
}

#[test]
fn questions_about_no_pair_are_errors() {
    let scene = scene(&known(&[0, 1, 1]));
    let oracles: [Box<dyn Oracle>; 3] = [
        Box::new(Truth {}),
        Box::new(Budget { queries: Some(1), ..Budget::default() }),
        Box::new(DontKnow { rate: 1.0, ..DontKnow::default() }),
    ];
    for oracle in oracles {
        let mut respondent = oracle.open(&scene).unwrap();
        for (i, j) in [(0, 3), (9, 1)] {
            let index = i.max(j) as usize;
            let refused = respondent.ask(&question(i, j)).unwrap_err();
            assert_eq!(refused, Error::IndexOutOfRange { index, n: 3 });
        }
        let refused = respondent.ask(&question(2, 2)).unwrap_err().to_string();
        assert_eq!(refused, "oracle: asked whether object 2 belongs with itself");
        // None of these was counted.
        assert!(matches!(respondent.ask(&question(0, 1)).unwrap(), Outcome::Answered(_)));
    }
}

#[test]
fn a_budget_of_queries_is_kept() {
    let scene = scene(&known(&[0, 1, 0, 1]));
    for queries in [0, 1, 4, 6, 7] {
        let budget = Budget { queries: Some(queries), ..Budget::default() };
        assert_eq!(budget.limit(), Some(queries as usize));
        let free = all(&Truth {}, &scene);
        for (at, outcome) in all(&budget, &scene).into_iter().enumerate() {
            let refused = Outcome::Refused(Refusal::BudgetExhausted);
            assert_eq!(outcome, if at < queries as usize { free[at].clone() } else { refused });
        }
    }
}

#[test]
fn a_budget_of_cost_is_never_exceeded() {
    let scene = scene(&known(&[0; 10]));
    let priced = |cost, pending| Some(Box::new(Priced { cost, pending }) as Box<dyn Oracle>);
    let limited = |cost, source| Budget { cost: Some(cost), source, ..Budget::default() };
    let answered = |budget: Budget, pairs: &[(u32, u32)]| {
        let mut r = budget.open(&scene).unwrap();
        pairs
            .iter()
            .map(|&(i, j)| r.ask(&question(i, j)).is_ok_and(|o| reply(&o).is_some()))
            .collect()
    };
    let pairs = [(1, 2), (2, 3), (3, 4), (4, 5), (5, 9)];
    let count = |budget| -> Vec<bool> { answered(budget, &pairs) };
    // 0.1 + 0.1 + 0.1 is a little more than 0.3.
    assert_eq!(count(limited(0.3, priced(0.1, false))), [true, true, true, false, false]);
    // The fourth does not fit; that the fifth would is too late.
    assert_eq!(count(limited(0.35, priced(0.1, false))), [true, true, true, false, false]);
    // The first of two limits ends.
    let both = Budget { queries: Some(2), ..limited(0.3, priced(0.1, false)) };
    assert_eq!(count(both), [true, true, false, false, false]);
    // Errors and answers to come cost nothing.
    let errors = [(0, 1), (0, 2), (0, 3), (1, 2)];
    let after: Vec<bool> = answered(limited(0.1, priced(0.1, false)), &errors);
    assert_eq!(after, [false, false, false, true]);
    let mut waiting = limited(0.1, priced(0.1, true)).open(&scene).unwrap();
    for _ in 0..3 {
        assert_eq!(waiting.ask(&question(1, 2)).unwrap(), Outcome::Pending);
    }
}

#[test]
fn illegal_numbers_are_named() {
    let scene = scene(&known(&[0, 1]));
    let message = |oracle: &dyn Oracle| oracle.open(&scene).err().unwrap().to_string();
    // Text such as JSON holds no number that is not finite: which one it was is not known.
    let given = |x: f64| if x.is_finite() { x.to_string() } else { "NaN or an infinity".into() };
    for cost in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let budget = Budget { cost: Some(cost), ..Budget::default() };
        assert_eq!(message(&budget), format!("cost: must be above 0, got {}", given(cost)));
    }
    for share in [-0.1, 1.5, f64::NAN] {
        let rate = DontKnow { rate: share, ..DontKnow::default() };
        assert_eq!(message(&rate), format!("rate: must be between 0 and 1, got {}", given(share)));
        let by_object = DontKnow { by_object: share, ..DontKnow::default() };
        assert_eq!(
            message(&by_object),
            format!("by_object: must be between 0 and 1, got {}", given(share))
        );
    }
}

#[test]
fn a_budget_that_limits_nothing_warns() {
    let scene = scene(&known(&[0, 1]));
    Budget { queries: Some(1), ..Budget::default() }.open(&scene).unwrap();
    assert!(scene.ctx.warnings().is_empty());
    Budget::default().open(&scene).unwrap();
    assert_eq!(scene.ctx.warnings(), ["a budget without queries or cost limits nothing"]);
    assert_eq!(Budget::default().limit(), None);
}

#[test]
fn the_order_of_wrapping_is_enforced() {
    let scene = scene(&known(&[0, 1]));
    let order = "budget → cost → crowd → dont_know → noise → source";
    let inside = |source: Box<dyn Oracle>| DontKnow { source: Some(source), ..DontKnow::default() };
    let refused = |oracle: &dyn Oracle| oracle.open(&scene).err().unwrap().to_string();
    assert_eq!(
        refused(&inside(Box::<Budget>::default())),
        format!(
            "source: must be an oracle that is further inside than dont_know in {order}, got budget"
        )
    );
    assert!(refused(&inside(Box::<DontKnow>::default())).contains(order));
    let twice = Budget { source: Some(Box::<Budget>::default()), ..Budget::default() };
    assert!(refused(&twice).contains(order));
    let deep = Budget { source: Some(Box::new(inside(Box::<Budget>::default()))), ..twice };
    assert!(refused(&deep).starts_with("source.source: must be"));
    let right = Budget { source: Some(Box::new(inside(Box::new(Truth {})))), ..Budget::default() };
    assert!(right.open(&scene).is_ok());
}

#[test]
fn wrappers_pass_facts_on() {
    let source = Some(Box::new(Priced::default()) as Box<dyn Oracle>);
    let budget = Budget { source, ..Budget::default() };
    let expected =
        OracleProperties { layer: Layer::Budget, interactive: true, ..OracleProperties::default() };
    assert_eq!(budget.properties(), expected);
    assert_eq!(budget.limit(), Some(4));
    assert_eq!(Budget { queries: Some(3), ..budget.clone() }.limit(), Some(3));
    assert_eq!(Budget { queries: Some(5), ..budget }.limit(), Some(4));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn truth_is_an_equivalence(labels in prop::collection::vec(prop::option::of(0u32..4), 3..12)) {
        let n = labels.len() as u32;
        let mut truth = Truth {}.open(&scene(&labels)).unwrap();
        let mut ask = |i, j| reply(&truth.ask(&question(i, j)).unwrap()).unwrap();
        for (a, b, c) in (0..n).flat_map(|a| (0..n).flat_map(move |b| (0..n).map(move |c| (a, b, c)))) {
            if a != b && b != c && a != c {
                prop_assert_eq!(ask(a, b), ask(b, a));
                if ask(a, b) == Reply::MustLink && ask(b, c) != Reply::DontKnow {
                    prop_assert_eq!(ask(a, c), ask(b, c));
                }
            }
        }
    }

    #[test]
    fn doubt_depends_on_the_pair_alone(
        labels in prop::collection::vec(0u32..4, 2..20),
        rate in 0.0..1.0f64,
        by_object in 0.0..0.5f64,
        seed in any::<u64>(),
    ) {
        let scene = Scene::with_labels(known(&labels), Context::new(seed));
        let oracle = DontKnow { rate, by_object, source: None };
        let forward = all(&oracle, &scene);
        let n = labels.len() as u32;
        let pairs: Vec<(u32, u32)> = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).collect();
        let mut respondent = oracle.open(&scene).unwrap();
        for (at, &(i, j)) in pairs.iter().enumerate().rev() {
            prop_assert_eq!(&respondent.ask(&question(j, i)).unwrap(), &forward[at]);
            prop_assert_eq!(&respondent.ask(&question(i, j)).unwrap(), &forward[at]);
        }
        // What is answered is the truth; a larger rate only adds to what is not.
        let truth = all(&Truth {}, &scene);
        let more = all(&DontKnow { rate: 0.5 + rate / 2.0, by_object, source: None }, &scene);
        for (at, outcome) in forward.iter().enumerate() {
            if reply(outcome) == Some(Reply::DontKnow) {
                prop_assert_eq!(reply(&more[at]), Some(Reply::DontKnow));
            } else {
                prop_assert_eq!(outcome, &truth[at]);
            }
        }
    }

    #[test]
    fn no_doubt_is_no_wrapper(labels in prop::collection::vec(0u32..4, 2..20)) {
        let scene = scene(&known(&labels));
        prop_assert_eq!(all(&DontKnow::default(), &scene), all(&Truth {}, &scene));
        let full = all(&DontKnow { rate: 1.0, ..DontKnow::default() }, &scene);
        prop_assert!(full.iter().all(|o| reply(o) == Some(Reply::DontKnow)));
    }
}

#[test]
fn shares_are_met() {
    let labels = known(&[0; 142]);
    let scene = scene(&labels);
    let doubts = |oracle: &DontKnow| {
        all(oracle, &scene).iter().filter(|o| reply(o) == Some(Reply::DontKnow)).count() as f64
    };
    // 10 011 pairs; 4 binomial standard deviations.
    let pairs = 142.0 * 141.0 / 2.0;
    let found = doubts(&DontKnow { rate: 0.3, ..DontKnow::default() });
    assert!((found - 0.3 * pairs).abs() < 4.0 * (pairs * 0.21f64).sqrt(), "{found}");
    // m objects that cannot be told leave C(142 − m, 2) pairs.
    let left = pairs - doubts(&DontKnow { by_object: 0.3, ..DontKnow::default() });
    let told = (0.5 + (0.25 + 2.0 * left).sqrt()).round();
    assert_eq!(told * (told - 1.0) / 2.0, left, "an object is told in all pairs or in none");
    assert!((told - 0.7 * 142.0).abs() < 4.0 * (142.0 * 0.21f64).sqrt(), "{told}");
}
