use mustlink_core::prelude::*;
use mustlink_core::selection::ConstraintView;
use mustlink_query_selectors::boundary::{Boundary, Choice};
use proptest::prelude::*;

use crate::support::{cases, erratic, select, truth};

proptest! {
    #[test]
    fn truth_places_every_object(
        case in cases(20),
        recluster_every in 1usize..4,
        typical in any::<bool>(),
    ) {
        let choice = if typical { Choice::Typical } else { Choice::Ambiguous };
        let selector = Boundary { choice, recluster_every, ..Boundary::default() };
        let k = case.k();
        let problem = case.problem.clone().with_k(k);
        let run = select(&selector, &problem, truth(&case.classes), None, case.seed).unwrap();
        let all = run.at(usize::MAX, ConstraintView::Neighbourhood).unwrap();
        prop_assert_eq!(all.violations(&case.classes).total(), 0);
        prop_assert_eq!(all.neighbourhoods().len(), k);
        prop_assert_eq!(all.neighbourhoods().concat().len(), case.eligible().len());
        let clustered = run.events.iter().filter(|e| matches!(e, Event::Clustered { .. })).count();
        let placed = case.eligible().len() - 1;
        prop_assert_eq!(clustered, placed.div_ceil(recluster_every).max(1));
    }

    #[test]
    fn any_oracle_is_survived(case in cases(15), k in 1usize..5, last_inference in any::<bool>()) {
        let problem = case.problem.clone().with_k(k.min(case.eligible().len()));
        let selector = Boundary { last_inference, ..Boundary::default() };
        let run = select(&selector, &problem, erratic(case.seed), None, 1).unwrap();
        prop_assert_eq!(run.counts(usize::MAX).conflicts, 0);
        prop_assert!(run.at(usize::MAX, ConstraintView::Queried).unwrap().neighbourhoods().len() <= k);
    }
}

#[test]
fn without_a_clusterer_it_says_what_it_needs() {
    let problem = crate::support::line(&[0.0, 1.0, 2.0]).with_k(2);
    let error = mustlink_core::selection::run(
        &Boundary::default(),
        &problem,
        &mut crate::support::By(|_, _| Reply::MustLink),
        None,
        &[],
        None,
        &Context::new(1),
    );
    let error = error.unwrap_err().to_string();
    assert!(error.starts_with("boundary asks a clusterer between questions"), "{error}");
}
