//! Clusters that judged pairs make, and what they say about each verdict.

use mustlink as _;
use mustlink_core::closure::{Closure, OnConflict};
use mustlink_core::constraints::Strength;
use mustlink_core::roles::{BaseClusterer, RoleObject};
use mustlink_core::{Clustering, Constraint, Constraints, Context, Problem, Result, run};
use mustlink_datasets::{JudgedPairs, PairOptions, pairs_of_text};
use mustlink_experiments::judged_pairs::{Answers, Evidence, PairClusters, chain};
use proptest::prelude::*;

/// Two groups that one doubtful verdict joins.
const TEXT: &str =
    "i,j,probability\na,b,0.95\nb,c,0.9\na,c,0.9\nc,d,0.6\nd,e,0.95\nb,e,0.1\na,d,0.2\n";

fn read(text: &str) -> JudgedPairs {
    pairs_of_text(text, &PairOptions::default()).unwrap()
}

fn clusters(judged: &JudgedPairs, answers: &[Constraint], threshold: f64) -> Result<PairClusters> {
    let answers = Constraints::new(judged.objects.n(), answers.iter().copied())?;
    Evidence::new(judged, answers, 0.5, 1.0, Some(0.5))?.cluster(threshold, &Context::new(1))
}

fn chains(judged: &JudgedPairs, found: &PairClusters) -> Vec<String> {
    let cases = found.overruled(&Context::new(1)).unwrap();
    cases.iter().map(|case| chain(case, &judged.objects)).collect()
}

#[test]
fn a_wrong_verdict_joins_no_groups() {
    let judged = read(TEXT);
    let found = clusters(&judged, &[], 0.5).unwrap();
    assert_eq!((&found.labels[..], found.k), (&[0, 0, 0, 1, 1][..], 2));
    assert!((found.objective - 1.5f64.ln()).abs() < 1e-9, "{}", found.objective);
    assert_eq!((found.bound, found.about_bound()), (found.objective, "the optimum".into()));
    assert_eq!(chains(&judged, &found), ["c = b != e = d"]);
    assert_eq!(found.questions(1)[0].pair, (2, 3));
    // There may be many chains, each the result of a search.
    let stopped = Context::builder(Context::new(1).path().clone()).cancel_after(0).build();
    assert!(found.overruled(&stopped).is_err());
    // At a higher threshold, or if a wrong join is expensive, it is a verdict for "different".
    let strict = clusters(&judged, &[], 0.7).unwrap();
    assert_eq!((&strict.labels, strict.objective), (&found.labels, 0.0));
    let none = Constraints::default;
    let costly = Evidence::new(&judged, none(), 0.5, 3.0, Some(0.5)).unwrap();
    assert_eq!(costly.cluster(0.5, &Context::new(1)).unwrap().objective, 0.0);
    // A prior that makes "same" likely joins everything.
    let eager = Evidence::new(&judged, none(), 0.95, 1.0, Some(0.5)).unwrap();
    assert_eq!(eager.cluster(0.5, &Context::new(1)).unwrap().k, 1);
}

#[test]
fn answers_win_over_verdicts() {
    let judged = read(TEXT);
    let found = clusters(&judged, &[Constraint::must(2, 3)], 0.5).unwrap();
    assert_eq!(found.k, 1);
    assert_eq!(chains(&judged, &found), ["a = c = d", "b = c = d = e"]);
    assert!(found.questions(99).iter().all(|question| question.pair != (2, 3)));
    let found = clusters(&judged, &[Constraint::cannot(0, 1)], 0.5).unwrap();
    assert!(found.labels[0] != found.labels[1]);
    let both = [Constraint::must(0, 1), Constraint::cannot(0, 1)];
    let refused = clusters(&judged, &both, 0.5).err().unwrap().to_string();
    assert!(refused.contains("cannot-link a–b contradicts must-links a–b"), "{refused}");
}

#[test]
fn pairs_without_a_verdict_may_count_as_different() {
    let mut text = String::from("i,j,probability\nc,d,0.8\n");
    ["a,b", "b,c", "a,c", "d,e", "e,f", "d,f"]
        .iter()
        .for_each(|pair| text += &format!("{pair},0.9\n"));
    let judged = read(&text);
    let at = |unjudged| {
        let evidence = Evidence::new(&judged, Constraints::default(), 0.5, 1.0, unjudged).unwrap();
        evidence.cluster(0.5, &Context::new(1)).unwrap()
    };
    assert_eq!(at(Some(0.5)).k, 1);
    // Joining the groups costs eight pairs without a verdict more than the one verdict weighs.
    let found = at(None);
    assert_eq!((found.k, chains(&judged, &found)), (2, vec![String::new()]));
    assert!((found.objective - 4f64.ln()).abs() < 1e-9 && found.bound == found.objective);
    assert_eq!(found.questions(1)[0].pair, (0, 1));
}

#[test]
fn a_cluster_has_one_record_of_a_source() {
    let text = "id_l,id_r,source_l,source_r,probability\na,b,x,y,0.9\nb,c,y,x,0.8\n";
    let options = PairOptions { apart: Some("source".into()), ..PairOptions::default() };
    let judged = pairs_of_text(text, &options).unwrap();
    let found = clusters(&judged, &[], 0.5).unwrap();
    assert_eq!(found.labels, [0, 0, 1]);
    assert_eq!(chains(&judged, &found), ["b = a != c (both x)"]);
}

#[test]
fn annotators_who_disagree_with_the_others_count_less() {
    let mut text = String::from("i,j,verdict,annotator\n");
    for at in 0..10 {
        for by in ["x", "y"] {
            text += &format!("a{at},b{at},same,{by}\n");
        }
        let wrong = if at < 5 { "different" } else { "same" };
        text += &format!("a{at},b{at},{wrong},z\n");
    }
    text += "c,d,same,x\nc,d,different,z\ne,f,unsure,x\n";
    let judged = read(&text);
    let found = clusters(&judged, &[], 0.5).unwrap();
    // x is right more often than z; nothing is known of e and f.
    assert_eq!((judged.objects.n(), found.k), (24, 13));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Certain verdicts, and the same pairs as answers, give what follows from the pairs as constraints.
    #[test]
    fn certain_verdicts_are_constraints(
        classes in prop::collection::vec(0..3u32, 30),
        pairs in prop::collection::vec((0..30usize, 0..30usize), 1..60),
    ) {
        let pairs: Vec<_> = pairs.into_iter().filter(|(i, j)| i != j).collect();
        prop_assume!(!pairs.is_empty());
        let (mut certain, mut open) = (String::from("i,j,verdict\n"), String::from("i,j,verdict\n"));
        for &(i, j) in &pairs {
            let verdict = if classes[i] == classes[j] { "same" } else { "different" };
            certain += &format!("{i},{j},{verdict}\n");
            open += &format!("{i},{j},unsure\n");
        }
        let judged = read(&certain);
        let ids: Vec<usize> = (0..judged.objects.n()).map(|i| judged.objects.id(i).parse().unwrap()).collect();
        let place = |object: usize| ids.iter().position(|&id| id == object).unwrap();
        let constraint = |&(i, j): &(usize, usize)| match classes[i] == classes[j] {
            true => Constraint::must(place(i), place(j)),
            false => Constraint::cannot(place(i), place(j)),
        };
        let given: Vec<Constraint> = pairs.iter().map(constraint).collect();
        let constraints = Constraints::new(ids.len(), given.iter().copied()).unwrap();
        let closure = Closure::new(&constraints, ids.len(), OnConflict::Error).unwrap();
        let expected: Vec<u32> = (0..ids.len()).map(|i| closure.component(i) as u32).collect();
        let expected = Clustering::from_labels(expected).shown(None).labels;
        let found = clusters(&judged, &[], 0.5).unwrap();
        prop_assert_eq!((&found.labels, found.objective, found.bound), (&expected, 0.0, 0.0));
        let answered = clusters(&read(&open), &given, 0.5).unwrap();
        prop_assert_eq!(&answered.labels, &expected);
    }

    /// Every overruled verdict has a chain, also in large parts, and the bound is below the objective.
    #[test]
    fn overruled_verdicts_have_chains(seed: u64, wrong in 0..4u64) {
        let mut text = String::from("i,j,probability\n");
        let mut state = seed;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for _ in 0..200 {
            let (i, j) = (next(40), next(40));
            if i != j {
                let same = (i % 8 == j % 8) != (next(10) < wrong);
                let p = if same { 51 + next(49) } else { 1 + next(49) };
                text += &format!("{i},{j},{}\n", p as f64 / 100.0);
            }
        }
        let judged = read(&text);
        let found = clusters(&judged, &[], 0.5).unwrap();
        let cases = found.overruled(&Context::new(1)).unwrap();
        let weight = cases.iter().fold(0.0, |sum, case| sum + case.constraint.weight);
        prop_assert!((weight - found.objective).abs() < 1e-9);
        prop_assert!(found.bound >= 0.0 && found.bound <= found.objective);
        prop_assert!(cases.iter().all(|case| case.path.len() > 1));
    }
}

/// A small problem, and what it is made of.
#[derive(Debug, Clone)]
struct Small {
    /// Pairs of objects with probabilities.
    scores: Vec<(usize, usize, f64)>,
    /// Pairs that an answer joins or separates.
    answers: Vec<(usize, usize, bool)>,
    /// The source of each object.
    sources: Vec<u32>,
    threshold: f64,
    unjudged: f64,
}

/// Number of objects of a small problem.
const SMALL: usize = 7;

fn small() -> impl Strategy<Value = Small> {
    let pair = || (0..SMALL, 0..SMALL);
    let score = (pair(), 1..100u32).prop_map(|((i, j), p)| (i, j, f64::from(p) / 100.0));
    let answer = (pair(), any::<bool>()).prop_map(|((i, j), same)| (i, j, same));
    let sources =
        prop_oneof![Just((0..SMALL as u32).collect()), prop::collection::vec(0..5u32, SMALL)];
    let unjudged = prop_oneof![Just(0.5), Just(0.4), 0.05..0.5];
    let numbers = (prop_oneof![Just(0.5), 0.2..0.8], unjudged);
    (prop::collection::vec(score, 1..25), prop::collection::vec(answer, 0..4), sources, numbers)
        .prop_map(|(mut scores, mut answers, sources, (threshold, unjudged))| {
            scores.retain(|(i, j, _)| i != j);
            answers.retain(|(i, j, _)| i != j);
            Small { scores, answers, sources, threshold, unjudged }
        })
}

impl Small {
    /// The pairs as a file, each object with its source.
    fn judged(&self) -> JudgedPairs {
        let mut text = String::from("i,j,source_i,source_j,probability\n");
        for &(i, j, p) in &self.scores {
            text += &format!("{i},{j},s{},s{},{p}\n", self.sources[i], self.sources[j]);
        }
        // An object that nothing is known of is in the file.
        for i in 1..SMALL {
            text += &format!("{},{i},s{},s{},\n", i - 1, self.sources[i - 1], self.sources[i]);
        }
        let options = PairOptions { apart: Some("source".into()), ..PairOptions::default() };
        pairs_of_text(&text, &options).unwrap()
    }

    /// Log-odds for joining a pair; several scores add up.
    fn weight(&self, i: usize, j: usize) -> Option<f64> {
        let logit = |p: f64| (p / (1.0 - p)).ln();
        let own = self.scores.iter().filter(|(a, b, _)| [(i, j), (j, i)].contains(&(*a, *b)));
        let odds: Vec<f64> = own.map(|score| logit(score.2)).collect();
        (!odds.is_empty()).then(|| odds.iter().sum::<f64>() - logit(self.threshold))
    }

    /// True if the clusters hold the answers, and one object of each source.
    fn is_allowed(&self, labels: &[u32]) -> bool {
        let pairs = || (0..SMALL).flat_map(|i| (0..i).map(move |j| (i, j)));
        self.answers.iter().all(|&(i, j, same)| (labels[i] == labels[j]) == same)
            && pairs().all(|(i, j)| labels[i] != labels[j] || self.sources[i] != self.sources[j])
    }

    /// The weight of overruled scores, and the costs of joined pairs without one, except of those that answers join.
    fn cost(&self, labels: &[u32], joined: &[usize]) -> f64 {
        let unjudged = ((1.0 - self.unjudged) / self.unjudged).ln();
        let mut cost = 0.0;
        for i in 0..SMALL {
            for j in 0..i {
                let is_together = labels[i] == labels[j];
                cost += match self.weight(i, j) {
                    Some(weight) if is_together == (weight >= 0.0) => 0.0,
                    Some(weight) => weight.abs(),
                    None if is_together && joined[i] != joined[j] => unjudged,
                    None => 0.0,
                };
            }
        }
        cost
    }

    /// The least cost of all allowed partitions that continue `labels`.
    fn least(&self, labels: &mut Vec<u32>, joined: &[usize]) -> f64 {
        if labels.len() == SMALL {
            let is_allowed = self.is_allowed(labels);
            return if is_allowed { self.cost(labels, joined) } else { f64::INFINITY };
        }
        let mut least = f64::INFINITY;
        for label in 0..=labels.iter().max().map_or(0, |most| most + 1) {
            labels.push(label);
            least = least.min(self.least(labels, joined));
            labels.pop();
        }
        least
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// No partition that holds the answers costs less, by enumeration.
    #[test]
    fn small_problems_are_solved(small in small()) {
        let judged = small.judged();
        let place: Vec<usize> = {
            let ids: Vec<String> = (0..SMALL).map(|i| judged.objects.id(i)).collect();
            (0..SMALL).map(|i| ids.iter().position(|id| *id == i.to_string()).unwrap()).collect()
        };
        let answer = |&(i, j, same): &(usize, usize, bool)| match same {
            true => Constraint::must(place[i], place[j]),
            false => Constraint::cannot(place[i], place[j]),
        };
        let answers = Constraints::new(SMALL, small.answers.iter().map(answer)).unwrap();
        let closure = Closure::new(&answers, SMALL, OnConflict::Keep).unwrap();
        let joined: Vec<usize> = place.iter().map(|&i| closure.component(i)).collect();
        let least = small.least(&mut Vec::new(), &joined);
        let evidence = Evidence::new(&judged, answers, 0.5, 1.0, Some(small.unjudged)).unwrap();
        let found = evidence.cluster(small.threshold, &Context::new(1));
        // Answers may contradict each other, or the sources.
        prop_assert_eq!(found.is_err(), least == f64::INFINITY);
        prop_assume!(least < f64::INFINITY);
        let found = found.unwrap();
        let labels: Vec<u32> = place.iter().map(|&i| found.labels[i]).collect();
        prop_assert!(small.is_allowed(&labels));
        let cost = small.cost(&labels, &joined);
        prop_assert!((cost - least).abs() < 1e-6, "{cost} {least} {labels:?}");
        prop_assert!((found.objective - least).abs() < 1e-6, "{} {least}", found.objective);
        prop_assert_eq!(found.bound, found.objective);
        prop_assert_eq!(found.about_bound(), "the optimum");
    }

    /// A file of pairs gives what the same pairs as constraints give: to the method, and as soft constraints.
    #[test]
    fn pairs_are_constraints(small in small()) {
        let (sources, answers) = ((0..SMALL as u32).collect(), Vec::new());
        let small = Small { sources, answers, threshold: 0.5, ..small };
        let judged = small.judged();
        let evidence = Evidence::new(&judged, Constraints::default(), 0.5, 1.0, Some(0.5)).unwrap();
        let found = evidence.cluster(0.5, &Context::new(1)).unwrap();
        let id = |judged: &JudgedPairs, i: usize| judged.objects.id(i).parse::<usize>().unwrap();
        let pairs = (0..SMALL).flat_map(|i| (0..i).map(move |j| (j, i)));
        let weighted: Vec<(usize, usize, f64)> =
            pairs.filter_map(|(i, j)| Some((i, j, small.weight(id(&judged, i), id(&judged, j))?))).collect();
        // Only a file has pairs at the threshold.
        prop_assume!(weighted.iter().all(|pair| pair.2.abs() > 1e-9));
        let constraint = |weight: f64, i, j| match weight > 0.0 {
            true => Constraint::must(i, j),
            false => Constraint::cannot(i, j),
        };
        let listed = weighted.iter().map(|&(i, j, weight)| constraint(weight, i, j).weighing(weight.abs()));
        let problem = Problem::new(judged.objects.data.clone())
            .with_constraints(Constraints::new(SMALL, listed).unwrap());
        let method = serde_json::json!({ "type": "correlation_clustering" });
        let method = <dyn BaseClusterer as RoleObject>::from_value(method).unwrap();
        let clustering = run::cluster(&*method, &problem, &Context::new(1)).unwrap().clustering;
        prop_assert!((clustering.objective.unwrap() - found.objective).abs() < 1e-9);
        let violated = problem.constraints.violations(&found.labels);
        let violated = violated.must_weight + violated.cannot_weight;
        prop_assert!((violated - found.objective).abs() < 1e-9);
        // The weight w of a soft constraint stands for the probability (1 + w) / 2.
        let silent = Small { scores: Vec::new(), ..small.clone() }.judged();
        let there = |i: usize| (0..SMALL).find(|&at| id(&silent, at) == id(&judged, i)).unwrap();
        let soft = weighted.iter().map(|&(i, j, weight)| {
            let p = 1.0 / (1.0 + (-weight.abs()).exp());
            let strength = Some(Strength::Soft);
            Constraint { strength, ..constraint(weight, there(i), there(j)).weighing(2.0 * p - 1.0) }
        });
        let soft = Constraints::new(SMALL, soft).unwrap();
        let evidence = Evidence::new(&silent, soft, 0.5, 1.0, Some(0.5)).unwrap();
        let as_soft = evidence.cluster(0.5, &Context::new(1)).unwrap();
        prop_assert!((as_soft.objective - found.objective).abs() < 1e-6);
    }
}

#[test]
fn unjudged_pairs_count_by_objects() {
    // Answers join a to b and c to d. The score of a and c speaks for joining all four, and three pairs against it.
    let judged = read("i,j,probability\na,b,0.9\nc,d,0.9\na,c,0.7\n");
    let answers = || Constraints::new(4, [Constraint::must(0, 1), Constraint::must(2, 3)]).unwrap();
    let found = |unjudged| {
        let evidence = Evidence::new(&judged, answers(), 0.5, 1.0, unjudged).unwrap();
        evidence.cluster(0.5, &Context::new(1)).unwrap()
    };
    let weight = (0.7f64 / 0.3).ln();
    let apart = found(None);
    assert_eq!((apart.k, apart.bound), (2, apart.objective));
    assert!((apart.objective - weight).abs() < 1e-9, "{}", apart.objective);
    let together = found(Some(0.45));
    let cost = 3.0 * (0.55f64 / 0.45).ln();
    assert_eq!((together.k, together.bound), (1, together.objective));
    assert!((together.objective - cost).abs() < 1e-9, "{}", together.objective);
}

#[test]
fn a_pair_at_the_threshold_is_the_same() {
    let judged = read("i,j,probability\na,b,0.7\nc,d,0.69\n");
    assert_eq!(clusters(&judged, &[], 0.7).unwrap().labels, [0, 0, 1, 2]);
    // A score on a range reaches it in spite of rounding.
    let options = PairOptions { score_range: Some((-3.0, 7.0)), ..PairOptions::default() };
    let judged = pairs_of_text("i,j,score\na,b,-2.1\n", &options).unwrap();
    assert_eq!(clusters(&judged, &[], 0.09).unwrap().k, 1);
}

#[test]
fn unsure_answers_are_not_asked_again() {
    let judged = read(TEXT);
    let unsure = Answers { unsure: [(2, 3)].into(), ..Answers::default() };
    let evidence = Evidence::new(&judged, unsure, 0.5, 1.0, Some(0.5)).unwrap();
    let found = evidence.cluster(0.5, &Context::new(1)).unwrap();
    let asked = found.questions(99);
    assert!(!asked.is_empty() && asked.iter().all(|question| question.pair != (2, 3)));
}
