use mustlink_core::closure::{Closure, OnConflict};
use mustlink_core::clustering::canonical;
use mustlink_core::prelude::*;
use mustlink_core::selection::{ConstraintView, Selection};
use mustlink_query_selectors::Doubting;
use mustlink_query_selectors::cobras::Cobras;
use mustlink_query_selectors::ncobras::Ncobras;
use mustlink_query_selectors::random_pairs::RandomPairs;
use mustlink_query_selectors::repair::Repair;
use proptest::prelude::*;

use crate::support::{Slices, cases, line, questions, questions_for, select, truth};

fn sliced() -> Ncobras {
    let cobras = Cobras { clusterer: Some(Box::new(Slices {})), ..Cobras::default() };
    Ncobras { cobras, ..Ncobras::default() }
}

fn sure(certainty: f64) -> Doubting {
    Doubting { certainty, ..Doubting::default() }
}

fn end(selection: &Selection) -> &Clustering {
    selection.snapshot(usize::MAX).expect("a selector that clusters")
}

/// True answers but for these pairs.
fn lying<'a>(
    classes: &'a [u32],
    lies: &'a [(u32, u32)],
) -> impl Fn(u32, u32) -> Reply + Clone + Send + 'a {
    move |i, j| match truth(classes)(i, j) {
        Reply::MustLink if lies.contains(&(i, j)) => Reply::CannotLink,
        Reply::CannotLink if lies.contains(&(i, j)) => Reply::MustLink,
        reply => reply,
    }
}

#[test]
fn a_wrong_answer_is_found_and_put_right() {
    let x: Vec<f64> = (0..24).map(|i| f64::from(i % 8) + 20.0 * f64::from(i / 8)).collect();
    let problem = line(&x);
    let classes: Vec<u32> = (0..24).map(|i| i / 8).collect();
    // The first question of COBRAS about two of the three groups: believed, they are one for good.
    let cobras = sliced().cobras;
    let first = questions(&select(&cobras, &problem, truth(&classes), Some(30), 1).unwrap());
    let lie = *first
        .iter()
        .find(|&&(i, j)| classes[i as usize] != classes[j as usize])
        .expect("groups that are apart");
    let reply = lying(&classes, std::slice::from_ref(&lie));
    let believed = select(&cobras, &problem, reply.clone(), Some(30), 1).unwrap();
    assert_ne!(end(&believed).labels, classes);
    let doubted = select(&sliced(), &problem, reply, Some(30), 1).unwrap();
    assert_eq!(end(&doubted).labels, classes);
    assert!(!questions_for(&doubted, "confirm").is_empty());
    // What is handed on is true, and counted.
    let counts = doubted.counts(usize::MAX);
    assert!(counts.corrected > 0);
    assert_eq!(counts.conflicts, 0);
    assert_eq!(end(&doubted).extras.diagnostics["corrected"], counts.corrected as f64);
    let handed = doubted.at(usize::MAX, ConstraintView::Queried).unwrap();
    assert_eq!(handed.violations(&classes).total(), 0);
}

#[test]
fn random_pairs_are_repaired() {
    let problem = line(&[0.0; 12]);
    let classes = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2];
    let lies = [(0, 3), (5, 9)];
    let pairs = RandomPairs::default();
    let plain = select(&pairs, &problem, lying(&classes, &lies), Some(66), 1).unwrap();
    assert!(plain.counts(66).conflicts > 0);
    let selector: Option<Box<dyn QuerySelector>> = Some(Box::new(pairs));
    let repair = Repair { selector, doubting: sure(0.0) };
    let mended = select(&repair, &problem, lying(&classes, &lies), Some(66), 1).unwrap();
    assert_eq!(mended.asked(), 66);
    assert_eq!((mended.counts(66).conflicts, mended.counts(66).corrected), (0, 2));
    let handed = mended.at(66, ConstraintView::Queried).unwrap();
    assert_eq!(handed.violations(&classes).total(), 0);
}

proptest! {
    /// Without evidence it is COBRAS, as long as nothing contradicts itself, which it never lets happen.
    #[test]
    fn without_evidence_it_is_cobras(case in cases(20)) {
        let doubting = Ncobras { doubting: sure(0.0), ..Ncobras::default() };
        let one = select(&doubting, &case.problem, truth(&case.classes), Some(30), 1).unwrap();
        let other = select(&doubting.cobras, &case.problem, truth(&case.classes), Some(30), 1).unwrap();
        prop_assert_eq!(&one.events, &other.events);
        prop_assert_eq!(&end(&one).labels, &end(&other).labels);
    }

    /// True answers are never corrected, and end at the target.
    #[test]
    fn truth_gives_the_target(case in cases(16)) {
        let rows = case.problem.data.to_dense();
        let moved = ndarray::Array2::from_shape_fn(rows.dim(), |(i, f)| {
            rows[[i, f]] + 1e-3 * ((i * 7919 + f * 104_729 + 1) as f64).sin()
        });
        let problem = Problem { data: Data::dense(moved).unwrap(), eligible: None, ..case.problem.clone() };
        let run = select(&Ncobras::default(), &problem, truth(&case.classes), None, 1).unwrap();
        prop_assert_eq!(run.counts(usize::MAX).corrected, 0);
        prop_assert_eq!(&end(&run).labels, &canonical(&case.classes));
    }

    /// Whatever is answered, what is handed on contradicts nothing, at any time between two questions of the
    /// selector's own.
    #[test]
    fn what_is_handed_on_is_consistent(case in cases(14), lies in prop::collection::vec((0u32..14, 0u32..14), 0..8)) {
        let reply = lying(&case.classes, &lies);
        let inner: [Box<dyn QuerySelector>; 2] = [Box::new(RandomPairs::default()), Box::new(Cobras::default())];
        // What is given is right, whatever is answered about it.
        let pairs = [(0, 1), (1, 2)].map(|(i, j)| {
            let kind = truth(&case.classes)(i, j).kind().unwrap();
            Constraint::new(i as usize, j as usize, kind)
        });
        let pairs = Constraints::new(case.problem.n(), pairs).unwrap();
        let given = case.problem.clone().with_constraints(pairs);
        for certainty in [0.0, 0.9] {
            for selector in &inner {
                let repair = Repair { selector: Some(selector.clone()), doubting: sure(certainty) };
                for problem in [&case.problem, &given] {
                    let run = select(&repair, problem, reply.clone(), None, 1).unwrap();
                    prop_assert_eq!(run.counts(usize::MAX).conflicts, 0);
                    let handed = run.at(usize::MAX, ConstraintView::Queried).unwrap();
                    let all = handed.union(&problem.constraints, problem.n()).unwrap();
                    prop_assert!(Closure::new(&all, problem.n(), OnConflict::Error).is_ok());
                }
            }
        }
    }
}
