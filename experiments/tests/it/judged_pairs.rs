//! Clusters that judged pairs make, and what they say about each verdict.

use mustlink as _;
use mustlink_core::closure::{Closure, OnConflict};
use mustlink_core::{Constraint, Constraints, Context, Result};
use mustlink_datasets::{JudgedPairs, PairOptions, pairs_of_text};
use mustlink_experiments::judged_pairs::{Evidence, PairClusters, chain};
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
    found.overruled().iter().map(|case| chain(case, &judged.objects)).collect()
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
        let cases = found.overruled();
        let weight = cases.iter().fold(0.0, |sum, case| sum + case.constraint.weight);
        prop_assert!((weight - found.objective).abs() < 1e-9);
        prop_assert!(found.bound >= 0.0 && found.bound <= found.objective);
        prop_assert!(cases.iter().all(|case| case.path.len() > 1));
    }
}

#[test]
fn answers_leave_no_weight_to_pairs_without_a_verdict() {
    let judged = read("i,j,probability\na,b,0.44\nc,b,0.13\nc,a,0.55\n");
    let answer = || Constraints::new(3, [Constraint::must(1, 2)]).unwrap();
    let evidence = |unjudged| Evidence::new(&judged, answer(), 0.5, 1.0, unjudged);
    let found = evidence(None).unwrap().cluster(0.5, &Context::new(1)).unwrap();
    assert_eq!((&found.labels[..], found.about_bound()), (&[0, 1, 1][..], "the optimum".into()));
    let refused = evidence(Some(0.4)).err().unwrap().to_string();
    assert_eq!(refused, "unjudged: must be 0.5 if there are answers, got 0.4");
}
